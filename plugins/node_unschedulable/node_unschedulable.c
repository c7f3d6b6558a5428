/* SPDX-License-Identifier: Apache-2.0
 * NodeUnschedulable. Reads spec.unschedulable only, not the taint that goes with it.
 * Source: plugins/nodeunschedulable, v1.36.3.
 */
#include "plugins/node_unschedulable/node_unschedulable.h"

#include <string.h>

#include "cache/node_view.h"

static bool tolerates_cordon(
	const struct bt_intern *intern, const struct bt_signature *signature, bool compare_numbers)
{
	static const struct bt_taint cordon = {
		BT_NAME_UNSCHEDULABLE_TAINT, BT_NAME_EMPTY, BT_NAME_NO_SCHEDULE};

	for (uint32_t i = 0; i < signature->toleration_n; i++) {
		if (bt_tolerates(intern, &signature->tolerations[i], &cordon, compare_numbers)) {
			return true;
		}
	}
	return false;
}

static void node_unschedulable_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	out_compiled->filter_skip =
		tolerates_cordon(env->dictionary->intern, signature, *(const bool *)settings);
}

static void node_unschedulable_filter(
	const void *term, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	(void)term;
	memset(pass, 1, n);
	for (uint32_t i = 0; view->snapshot->unschedulable_n && i < n; i++) {
		pass[i] = !view->snapshot->nodes[first + i].unschedulable;
	}
}

/* All pods that do not skip Filter are equivalent. */
static void key(const void *term, struct bt_buf *out_key)
{
	(void)term;
	(void)out_key;
}

static const char *const reasons[] = {"node(s) were unschedulable"};

/* ---- queueing hints ---- */

static bool after_node_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct bt_node_facts *old = event->node.old;

	(void)env;
	return !event->node.new->unschedulable && (!old || old->unschedulable);
}

static bool after_toleration_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	return env->own && tolerates_cordon(env->view->snapshot->dictionary->intern, event->pod.new.signature,
				   *(const bool *)env->settings);
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_NODE, BT_ADD | BT_UPDATE_NODE_TAINT, after_node_change, 0},
	{BT_CLUSTER_EVENT_TARGET_POD, BT_UPDATE_POD_TOLERATION, after_toleration_change, 0},
};

static const void *settings_of(const struct bt_settings_env *env, const void *args)
{
	(void)args;
	return bt_gate_setting(env, BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS);
}

const struct bt_plugin bt_plugin_node_unschedulable = {
	.name = "NodeUnschedulable",
	.ignores_resizes = true,
	.points = BT_AT(FILTER),
	.more_points = BT_AT(PRE_FILTER),
	.more_by = BT_RULE_NODE_CHECKS_PRE_FILTER,
	.settings = settings_of,
	.filter_depends = BT_DEPENDS_ON_DESCRIPTION,
	.compile = node_unschedulable_compile,
	.filter = node_unschedulable_filter,
	.refusal = BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
	.key = key,
	.reasons = reasons,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
