/* SPDX-License-Identifier: Apache-2.0
 * NodeUnschedulable. Looks at spec.unschedulable alone, not at the taint that goes with it.
 * Source: plugins/nodeunschedulable, v1.36.3.
 */
#include "plugins/node_unschedulable/node_unschedulable.h"

static void compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	static const struct bt_taint cordon = {
		BT_NAME_UNSCHEDULABLE_TAINT, BT_NAME_EMPTY, BT_NAME_NO_SCHEDULE};
	const bool *compare_numbers = settings;

	for (uint32_t i = 0; i < signature->toleration_n; i++) {
		if (bt_tolerates(
			    env->dictionary->intern, &signature->tolerations[i], &cordon, *compare_numbers)) {
			out_compiled->filter_skip = true;
		}
	}
}

static void filter(const void *term, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	(void)term;
	for (uint32_t i = 0; i < n; i++) {
		pass[i] = !view->snapshot->nodes[first + i].unschedulable;
	}
}

static void reject(
	const void *term, const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out_rejection)
{
	(void)term;
	(void)view;
	(void)node_ix;
	bt_reject_with(out_rejection, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, 0);
}

static void reason_text(
	const struct bt_dictionary *dictionary, const struct bt_reason *reason, struct bt_buf *out_text)
{
	(void)dictionary;
	(void)reason;
	bt_buf_text(out_text, "node(s) were unschedulable");
}

const struct bt_plugin bt_plugin_node_unschedulable = {
	.name = "NodeUnschedulable",
	.filter_depends = BT_DEPENDS_ON_DESCRIPTION,
	.compile = compile,
	.filter = filter,
	.reject = reject,
	.reason = reason_text,
};
