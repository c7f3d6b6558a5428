/* SPDX-License-Identifier: Apache-2.0
 * DeferredPodScheduling: a pod with a deferred resize fits only on its own node, and not where the node
 * disables preemption for resizes. Upstream's Permit of the plugin is never reached: a pod on a node cannot
 * be assumed there again. Source: plugins/deferredpodscheduling, v1.37.2.
 */
#include "plugins/plugin.h"

#include "cache/node_view.h"

enum deferred_pod_scheduling_reason { OTHER_NODE = 0, FORBIDDEN };

static const char *const reasons[] = {
	"pod assigned to different node", "node had resize preemption disabled"};

static void deferred_pod_scheduling_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	(void)settings;
	(void)env;
	out_compiled->filter_skip = signature->resize_node == BT_NAME_NONE;
	out_compiled->term = &signature->resize_node;
}

static void deferred_pod_scheduling_filter(
	const void *term, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const uint32_t *own = term;

	for (uint32_t i = 0; i < n; i++) {
		const struct bt_node *node = &view->snapshot->nodes[first + i];

		pass[i] = node->name == *own && !node->keeps_resizes_waiting;
	}
}

static void deferred_pod_scheduling_reject(
	const void *term, const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out_rejection)
{
	const uint32_t *own = term;

	bt_reject_with(out_rejection, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		view->snapshot->nodes[node_ix].name == *own ? FORBIDDEN : OTHER_NODE);
}

static void deferred_pod_scheduling_key(const void *term, struct bt_buf *out_key)
{
	bt_buf_add(out_key, term, sizeof(uint32_t));
}

/* ---- queueing hints ---- */

/* The pod's own node allows it now; before, it did not, or was missing. */
static bool after_node_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct bt_node_facts *old = event->node.old, *new = event->node.new;

	return new->name == env->signature->resize_node && !new->keeps_resizes_waiting &&
	       (!old || old->keeps_resizes_waiting);
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_NODE, BT_UPDATE_NODE_PREEMPTION_POLICY, after_node_change, 0},
	{BT_CLUSTER_EVENT_NODE, BT_ADD, after_node_change, 0},
};

const struct bt_plugin bt_plugin_deferred_pod_scheduling = {
	.name = "DeferredPodScheduling",
	.more_points = BT_AT(PRE_FILTER) | BT_AT(FILTER) | BT_AT(PERMIT),
	.more_by = BT_RULE_RESIZES_MAY_PREEMPT,
	.filter_depends = BT_DEPENDS_ON_DESCRIPTION,
	.compile = deferred_pod_scheduling_compile,
	.filter = deferred_pod_scheduling_filter,
	.reject = deferred_pod_scheduling_reject,
	.key = deferred_pod_scheduling_key,
	.reasons = reasons,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
