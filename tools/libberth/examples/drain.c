/* SPDX-License-Identifier: Apache-2.0
 * Which nodes can be drained, one after the other, with all their pods placed elsewhere? drain FILE
 *   cc drain.c $(pkg-config --cflags --libs berth) -o drain
 *
 * The cluster is loaded once; each node is one transaction that is rolled back.
 */
#include <berth.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 512

struct names {
	char (*items)[NAME_BYTES];
	int n;
};

struct pods_of {
	const char *node;
	struct names names, spaces;
};

static void add(struct names *names, const char *name)
{
	names->items = realloc(names->items, (size_t)(names->n + 1) * sizeof(*names->items));
	snprintf(names->items[names->n++], NAME_BYTES, "%s", name);
}

static bool note_node(void *context, const struct berth_node_state *node)
{
	add(context, node->name);
	return true;
}

static bool note_pod(void *context, const struct berth_pod_ref *pod, enum berth_pod_state state)
{
	struct pods_of *pods = context;

	if (state == BERTH_POD_ON_NODE && strcmp(pod->node, pods->node) == 0) {
		add(&pods->names, pod->name);
		add(&pods->spaces, pod->pod_namespace);
	}
	return true;
}

/* Evicts the node's pods, and places one like each of them elsewhere. Returns: how many fit nowhere. */
static int drain(struct berth *berth, struct pods_of *pods)
{
	int unplaced = 0;

	for (int i = 0; i < pods->names.n; i++) {
		berth_evict_pod(berth, pods->spaces.items[i], pods->names.items[i]);
	}
	for (int i = 0; i < pods->names.n; i++) {
		char *why = NULL;
		uint32_t placed = 0;

		/* An evicted pod still serves as a template. */
		berth_schedule_pods_by_template(
			berth, pods->spaces.items[i], pods->names.items[i], 1, &placed, &why);
		if (!placed) {
			printf("  %s/%s: %s\n", pods->spaces.items[i], pods->names.items[i], why ? why : "");
			unplaced++;
		}
		berth_free(why);
	}
	return unplaced;
}

int main(int argc, char **argv)
{
	struct names nodes = {NULL, 0};
	struct berth *berth;
	int drainable = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: drain FILE\n");
		return 2;
	}
	if (berth_create(NULL, &berth) != BERTH_OK) {
		fprintf(stderr, "drain: %s\n", berth_error(NULL));
		return 1;
	}
	if (berth_apply_file(berth, argv[1], BERTH_EXPAND, NULL) != BERTH_OK) {
		fprintf(stderr, "drain: %s\n", berth_error(berth));
	}
	berth_run(berth, 0, NULL);
	berth_each_node(berth, note_node, &nodes);
	for (int i = 0; i < nodes.n; i++) {
		struct pods_of pods = {nodes.items[i], {NULL, 0}, {NULL, 0}};

		berth_each_pod(berth, note_pod, &pods);
		berth_transaction_begin(berth);
		berth_cordon_node(berth, pods.node);
		printf("%s, %d pods:\n", pods.node, pods.names.n);
		drainable += drain(berth, &pods) == 0;
		/* Or berth_transaction_commit, and the pods move. */
		berth_transaction_rollback(berth);
		free(pods.names.items);
		free(pods.spaces.items);
	}
	printf("%d of %d nodes can be drained\n", drainable, nodes.n);
	free(nodes.items);
	berth_destroy(berth);
	return 0;
}
