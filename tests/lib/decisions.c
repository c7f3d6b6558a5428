/* SPDX-License-Identifier: Apache-2.0
 * Writes libberth's decisions for a file in the format of berth simulate's log of decisions: decisions FILE
 * SEED. Evicted pods are removed after their default grace period of 30 s, in virtual time.
 */
#include <berth.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)
#define BEGIN	 (4000000000 * NS_PER_S) /* later than any object, and a whole second, as in berth simulate */
#define ENDS_MAX 100000

struct end {
	int64_t at_ns;
	char pod_namespace[64], name[256];
};

static struct end ends[ENDS_MAX]; /* in the order of their times, because all take equally long */
static size_t end_n, end_begin;

static void print_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\') {
			putchar('\\');
		}
		putchar(*text);
	}
	putchar('"');
}

static void print_pod(const struct berth_pod_ref *pod)
{
	printf("\"%s/%s\"", pod->pod_namespace, pod->name);
}

static void print_refusal(const struct berth_decision *decision)
{
	printf("null");
	if (decision->nominated[0]) {
		printf(",\"nominated\":\"%s\"", decision->nominated);
	}
	for (uint32_t i = 0; i < decision->evicted_n; i++) {
		printf("%s", i ? "," : ",\"evicted\":[");
		print_pod(&decision->evicted[i]);
	}
	printf("%s,\"message\":", decision->evicted_n ? "]" : "");
	print_text(decision->message);
}

static void decide_all(struct berth *berth)
{
	const struct berth_decision *decision;

	while (berth_next_decision(berth, 0, &decision) == BERTH_OK) {
		printf("{\"pod\":");
		print_pod(&decision->pod);
		printf(",\"node\":");
		if (decision->outcome == BERTH_PLACED) {
			print_text(decision->pod.node);
		} else {
			print_refusal(decision);
		}
		printf("}\n");
	}
}

static bool note_end(void *context, const struct berth_pod_ref *pod)
{
	int64_t *now_ns = context;
	struct end *end = &ends[end_n++];

	if (end_n >= ENDS_MAX) {
		abort();
	}
	end->at_ns = *now_ns + 30 * NS_PER_S;
	snprintf(end->pod_namespace, sizeof(end->pod_namespace), "%s", pod->pod_namespace);
	snprintf(end->name, sizeof(end->name), "%s", pod->name);
	return true;
}

static void end_pods(struct berth *berth, int64_t now_ns)
{
	for (; end_begin < end_n && ends[end_begin].at_ns <= now_ns; end_begin++) {
		const struct end *end = &ends[end_begin];

		if (berth_delete(berth, "Pod", end->pod_namespace, end->name) == BERTH_OK) {
			printf("{\"pod\":\"%s/%s\",\"delete\":true}\n", end->pod_namespace, end->name);
		}
	}
}

int main(int argc, char **argv)
{
	struct berth_options options;
	struct berth *berth;
	int64_t now_ns = 0, next_ns;

	BERTH_INIT(&options);
	options.clock = BERTH_CLOCK_VIRTUAL;
	options.seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	options.evict = note_end;
	options.context = &now_ns;
	if (berth_create(&options, &berth) != BERTH_OK ||
		berth_apply_file(berth, argv[1], BERTH_EXPAND, NULL) != BERTH_OK) {
		fprintf(stderr, "decisions: %s\n", berth_error(berth));
		return 1;
	}
	for (next_ns = BEGIN; next_ns != INT64_MAX;) {
		now_ns = next_ns;
		berth_set_time(berth, now_ns);
		end_pods(berth, now_ns);
		decide_all(berth);
		berth_get_time(berth, NULL, &next_ns);
		if (end_begin < end_n && ends[end_begin].at_ns < next_ns) {
			next_ns = ends[end_begin].at_ns;
		}
	}
	berth_destroy(berth);
	return 0;
}
