/* SPDX-License-Identifier: Apache-2.0
 * Plugins through libberth: a registered one and one from a file decide together. plugin FILE.so
 */
#include <berth.h>
#include <berth_plugin.h>
#include <stdio.h>
#include <string.h>

static int failed;

static void expect(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "FAILED: %s: %s\n", what, berth_error(NULL));
		failed = 1;
	}
}

/* Refuses the node named in a label of the pod. */
static enum berth_plugin_verdict filter(const struct berth_plugin_call *call,
	const struct berth_plugin_pod *pod, const struct berth_plugin_node *node,
	struct berth_plugin_why *why)
{
	const char *not_on = call->host->pod_label(pod, "not-on");

	if (!not_on || strcmp(not_on, call->host->node_name(node)) != 0) {
		return BERTH_PLUGIN_SUCCESS;
	}
	call->host->add_reason(why, "node(s) were not wanted");
	return BERTH_PLUGIN_UNSCHEDULABLE_AND_UNRESOLVABLE;
}

static const struct berth_plugin not_on = {
	.size = sizeof(struct berth_plugin), .abi = BERTH_PLUGIN_ABI, .name = "NotOn", .filter = filter};

static const char config[] = "apiVersion: kubescheduler.config.k8s.io/v1\n"
			     "kind: KubeSchedulerConfiguration\n"
			     "profiles:\n"
			     "- plugins: {multiPoint: {enabled: [{name: NotOn}, {name: RackPower}]}}\n"
			     "  pluginConfig: [{name: RackPower, args: {budgetWatts: 100}}]\n";

static void add_node(struct berth *berth, const char *name)
{
	const struct berth_amount amounts[] = {{"cpu", 4000}, {"pods", 10}};
	struct berth_node node;

	BERTH_INIT(&node);
	node.name = name;
	node.allocatable = amounts;
	node.allocatable_n = 2;
	expect(berth_apply_node(berth, &node) == BERTH_OK, "a node");
}

/* The node of a pod, or its message. */
static const char *place(struct berth *berth, const char *name, const char *refused, const char *watts)
{
	const struct berth_pair labels[] = {{"not-on", refused}, {"example.com/watts", watts}};
	const struct berth_decision *decision;
	struct berth_pod pod;

	BERTH_INIT(&pod);
	pod.name = name;
	pod.labels = labels;
	pod.label_n = 2;
	expect(berth_apply_pod(berth, &pod) == BERTH_OK, "a pod");
	expect(berth_next_decision(berth, 0, &decision) == BERTH_OK, "a decision");
	return decision->outcome == BERTH_PLACED ? decision->pod.node : decision->message;
}

static void misuse(void)
{
	expect(berth_plugin_add(NULL) == BERTH_INVALID, "NULL");
	expect(berth_plugin_load(NULL) == BERTH_INVALID, "NULL");
	expect(berth_plugin_load("/nowhere.so") == BERTH_BAD_INPUT, "a file that is missing");
	expect(strstr(berth_error(NULL), "/nowhere.so: No such file") != NULL, "its error");
	expect(berth_plugin_add(&not_on) == BERTH_BAD_INPUT, "a name that is taken");
	expect(strstr(berth_error(NULL), "a plugin of that name is there already") != NULL, "its error");
}

int main(int argc, char **argv)
{
	struct berth_options options;
	struct berth *berth = NULL;

	if (argc != 2) {
		return 2;
	}
	BERTH_INIT(&options);
	options.config = config;
	expect(berth_create(&options, &berth) == BERTH_BAD_INPUT, "plugins that are not there");
	expect(berth_plugin_add(&not_on) == BERTH_OK, "a descriptor");
	expect(berth_plugin_load(argv[1]) == BERTH_OK, "a file");
	expect(berth_plugin_load(argv[1]) == BERTH_OK, "the file again");
	misuse();
	expect(berth_create(&options, &berth) == BERTH_OK, "a handle");
	if (failed) {
		return 1;
	}
	add_node(berth, "a");
	add_node(berth, "b");
	expect(strcmp(place(berth, "p1", "a", "60"), "b") == 0, "the other node");
	expect(strcmp(place(berth, "p2", "c", "60"), "a") == 0, "the node with power");
	expect(strstr(place(berth, "p3", "a", "60"),
		       "0/2 nodes are available: 1 Insufficient power, 1 node(s) were not wanted.") != NULL,
		"both reasons");
	expect(berth_destroy(berth) == BERTH_OK, "the end");
	return failed;
}
