/* SPDX-License-Identifier: Apache-2.0
 * NodeName. A pod whose spec names a node is never queued, so a queued pod passes everywhere; a pod with a
 * deferred resize passes on its own node only. Dry runs of preemption differ when another scheduler binds the
 * pod in mid-cycle (judges_node_name). Source: plugins/nodename, v1.36.3, v1.37.2.
 */
#include "plugins/node_name/node_name.h"

#include "cache/node_view.h"

static void node_name_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	(void)settings;
	(void)env;
	out_compiled->filter_skip = signature->resize_node == BT_NAME_NONE;
	out_compiled->narrows = !out_compiled->filter_skip;
	out_compiled->names = &signature->resize_node;
	out_compiled->name_n = 1;
	out_compiled->term = &signature->resize_node;
}

static void node_name_filter(
	const void *term, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const uint32_t *own = term;

	for (uint32_t i = 0; i < n; i++) {
		pass[i] = view->snapshot->nodes[first + i].name == *own;
	}
}

static void node_name_key(const void *term, struct bt_buf *out_key)
{
	bt_buf_add(out_key, term, sizeof(uint32_t));
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
	.filter_depends = BT_DEPENDS_ON_DESCRIPTION,
	.compile = node_name_compile,
	.filter = node_name_filter,
	.judges_node_name = true,
	.refusal = BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
	.key = node_name_key,
	.reasons = reasons,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
