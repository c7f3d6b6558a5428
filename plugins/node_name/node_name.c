/* SPDX-License-Identifier: Apache-2.0
 * NodeName. A pod whose spec names a node is not queued but scheduled there, so a queued pod passes
 * everywhere. Dry runs of preemption find otherwise when another scheduler binds the pod in mid-cycle
 * (judges_node_name). Source: plugins/nodename, v1.36.3.
 */
#include "plugins/node_name/node_name.h"

static void node_name_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	(void)settings;
	(void)env;
	(void)signature;
	out_compiled->filter_skip = true;
}

static const char *const reasons[] = {"node(s) didn't match the requested node name"};

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_NODE, BT_ADD, NULL, 0},
};

const struct bt_plugin bt_plugin_node_name = {
	.name = "NodeName",
	.points = BT_AT(FILTER),
	.more_points = BT_AT(PRE_FILTER),
	.more_by = BT_RULE_NODE_CHECKS_PRE_FILTER,
	.compile = node_name_compile,
	.judges_node_name = true,
	.refusal = BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
	.reasons = reasons,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
