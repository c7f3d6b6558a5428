/* SPDX-License-Identifier: Apache-2.0
 * A plugin for berth: a node feeds pods up to a power budget. The label "example.com/watts" is a pod's
 * consumption, or a node's budget; the argument budgetWatts is the default for nodes. Filter keeps the sum
 * over the pods on a node within the budget, Score prefers nodes with much left.
 *
 *   cc -shared -fPIC $(pkg-config --cflags berth) -o rack_power.so rack_power.c
 *
 *   berth simulate --plugin ./rack_power.so --config config.yaml cluster.yaml
 *
 * with, in a profile of config.yaml, plugins: {multiPoint: {enabled: [{name: RackPower}]}}.
 */
#include <berth_plugin.h>

#include <stdlib.h>
#include <string.h>

#define LABEL "example.com/watts"

struct rack_power {
	int64_t budget; /* of nodes without the label */
};

static bool rack_power_create(
	const struct berth_plugin_host *host, const char *args, void **out_self, struct berth_plugin_why *why)
{
	const char *given = args ? strstr(args, "\"budgetWatts\":") : NULL;
	int64_t budget = given ? strtoll(strchr(given, ':') + 1, NULL, 10) : 0;

	if (args && (!given || budget <= 0)) {
		host->add_reason(why, "budgetWatts: give it a number above 0, or leave out the arguments");
		return false;
	}
	struct rack_power *self = malloc(sizeof(*self));
	if (!self) {
		host->add_reason(why, "out of memory");
		return false;
	}
	self->budget = budget;
	*out_self = self;
	return true;
}

static int64_t watts(const char *label)
{
	return label ? strtoll(label, NULL, 10) : 0;
}

struct sum {
	const struct berth_plugin_host *host;
	int64_t watts;
};

static void add_pod(void *context, const struct berth_plugin_pod *pod)
{
	struct sum *sum = context;

	sum->watts += watts(sum->host->pod_label(pod, LABEL));
}

/* The node's remaining power, and in out_budget its budget. */
static int64_t left_on(
	const struct berth_plugin_call *call, const struct berth_plugin_node *node, int64_t *out_budget)
{
	const struct rack_power *self = call->self;
	const char *label = call->host->node_label(node, LABEL);
	struct sum sum = {call->host, 0};

	call->host->node_pods(node, add_pod, &sum);
	*out_budget = label ? watts(label) : self->budget;
	return *out_budget - sum.watts;
}

static enum berth_plugin_verdict rack_power_filter(const struct berth_plugin_call *call,
	const struct berth_plugin_pod *pod, const struct berth_plugin_node *node,
	struct berth_plugin_why *why)
{
	int64_t budget, left = left_on(call, node, &budget),
			wanted = watts(call->host->pod_label(pod, LABEL));

	if (wanted <= left || wanted == 0) {
		return BERTH_PLUGIN_SUCCESS;
	}
	call->host->add_reason(why, "Insufficient power");
	return wanted > budget ? BERTH_PLUGIN_UNSCHEDULABLE_AND_UNRESOLVABLE : BERTH_PLUGIN_UNSCHEDULABLE;
}

static int64_t rack_power_score(const struct berth_plugin_call *call, const struct berth_plugin_pod *pod,
	const struct berth_plugin_node *node)
{
	int64_t budget, left = left_on(call, node, &budget);

	(void)pod;
	return budget > 0 && left > 0 ? left * 100 / budget : 0;
}

/* A deleted pod, a new node, or a node with another budget may help. */
static const struct berth_plugin_registration events[] = {
	{BERTH_PLUGIN_ASSIGNED_POD, BERTH_PLUGIN_DELETE | BERTH_PLUGIN_UPDATE_POD_LABEL},
	{BERTH_PLUGIN_UNSCHEDULED_POD, BERTH_PLUGIN_UPDATE_POD_LABEL},
	{BERTH_PLUGIN_NODE, BERTH_PLUGIN_ADD | BERTH_PLUGIN_UPDATE_NODE_LABEL},
};

static const struct berth_plugin rack_power = {
	.size = sizeof(struct berth_plugin),
	.abi = BERTH_PLUGIN_ABI,
	.name = "RackPower",
	.version = "1.0",
	.depends = BERTH_PLUGIN_DEPENDS_ON_NODE_AND_PODS,
	.pod_fields = BERTH_PLUGIN_POD_LABELS,
	.create = rack_power_create,
	.destroy = free,
	.filter = rack_power_filter,
	.score = rack_power_score,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};

const struct berth_plugin *BERTH_PLUGIN_ENTRY(const struct berth_plugin_host *host);

BERTH_PLUGIN_EXPORT const struct berth_plugin *BERTH_PLUGIN_ENTRY(const struct berth_plugin_host *host)
{
	(void)host;
	return &rack_power;
}
