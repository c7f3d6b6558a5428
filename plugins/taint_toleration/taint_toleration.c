/* SPDX-License-Identifier: Apache-2.0
 * TaintToleration. Results are computed once per signature and taint set, and looked up per node.
 * Source: plugins/tainttoleration and component-helpers corev1, v1.36.3.
 */
#include "plugins/taint_toleration/taint_toleration.h"
#include "engine/base/check.h"

#include "cache/node_view.h"

struct taint_toleration_term {
	const struct bt_intern *intern;
	const struct bt_toleration *tolerations;
	uint32_t toleration_n;
	bool compare_numbers;
	/* By taint set, set_n of them, with room for set_cap. */
	uint32_t set_n, set_cap;
	uint8_t *passes;
	int32_t *intolerable; /* number of untolerated PreferNoSchedule taints */
};

static bool tolerated(const struct taint_toleration_term *term, const struct bt_taint *taint)
{
	for (uint32_t i = 0; i < term->toleration_n; i++) {
		if (bt_tolerates(term->intern, &term->tolerations[i], taint, term->compare_numbers)) {
			return true;
		}
	}
	return false;
}

static bool set_passes(const struct taint_toleration_term *term, const struct bt_taint_set *set)
{
	for (uint32_t i = 0; i < set->n; i++) {
		const struct bt_taint *taint = &set->items[i];
		bool hard = taint->effect == BT_NAME_NO_SCHEDULE || taint->effect == BT_NAME_NO_EXECUTE;

		if (hard && !tolerated(term, taint)) {
			return false;
		}
	}
	return true;
}

/*
 * Upstream uses only tolerations with effect "" or PreferNoSchedule here; others never match a
 * PreferNoSchedule taint.
 */
static int32_t set_score(const struct taint_toleration_term *term, const struct bt_taint_set *set)
{
	int32_t n = 0;

	for (uint32_t i = 0; i < set->n; i++) {
		n += set->items[i].effect == BT_NAME_PREFER_NO_SCHEDULE && !tolerated(term, &set->items[i]);
	}
	BT_INVARIANT(n >= 0 && (uint32_t)n <= set->n);
	return n;
}

/* Sets that nodes get after compile fit as long as they are no more than this. */
#define SPARE_SETS 16

static bool taint_sets(const void *opaque, const struct bt_snapshot *snapshot)
{
	/* A plan owns its term; readers get it as const. */
	struct taint_toleration_term *term = (struct taint_toleration_term *)(uintptr_t)opaque;

	if (snapshot->taint_set_n > term->set_cap) {
		return false;
	}
	term->set_n = snapshot->taint_set_n;
	for (uint32_t i = 0; i < term->set_n; i++) {
		term->passes[i] = set_passes(term, &snapshot->taint_sets[i]);
		term->intolerable[i] = set_score(term, &snapshot->taint_sets[i]);
	}
	return true;
}

static void taint_toleration_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	const struct bt_snapshot *snapshot = env->snapshot;
	struct taint_toleration_term *term = bt_arena_zalloc(env->arena, sizeof(*term));
	const uint32_t cap = snapshot->taint_set_n + SPARE_SETS;

	*term = (struct taint_toleration_term){
		.intern = env->dictionary->intern,
		.tolerations = signature->tolerations,
		.toleration_n = signature->toleration_n,
		.compare_numbers = *(const bool *)settings,
		.set_cap = cap,
		.passes = bt_arena_zalloc(env->arena, cap),
		.intolerable = bt_arena_zalloc(env->arena, cap * sizeof(*term->intolerable)),
	};
	bool fits = taint_sets(term, snapshot);
	BT_INVARIANT(fits);
	(void)fits;
	out_compiled->term = term;
}

static void taint_toleration_filter(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct bt_node *nodes = view->snapshot->nodes + first;
	const struct taint_toleration_term *term = opaque;

	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n);
	for (uint32_t i = 0; i < n; i++) {
		BT_INVARIANT(nodes[i].taint_set < term->set_n);
		pass[i] = term->passes[nodes[i].taint_set];
	}
}

static void taint_toleration_score(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct bt_node *nodes = view->snapshot->nodes + first;
	const struct taint_toleration_term *term = opaque;

	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n);
	for (uint32_t i = 0; i < n; i++) {
		BT_INVARIANT(nodes[i].taint_set < term->set_n);
		raw[i] = term->intolerable[nodes[i].taint_set];
	}
}

static void key(const void *opaque, struct bt_buf *out_key)
{
	const struct taint_toleration_term *term = opaque;

	bt_buf_add(out_key, term->passes, term->set_n * sizeof(*term->passes));
	bt_buf_add(out_key, term->intolerable, term->set_n * sizeof(*term->intolerable));
}

static const char *const reasons[] = {"node(s) had untolerated taint(s)"};

/* ---- queueing hints ---- */

static bool node_passes(const struct bt_hint_env *env, const struct bt_node_facts *node)
{
	const struct taint_toleration_term term = {
		.intern = env->view->snapshot->dictionary->intern,
		.tolerations = env->signature->tolerations,
		.toleration_n = env->signature->toleration_n,
		.compare_numbers = *(const bool *)env->settings,
	};
	const struct bt_taint_set set = {node->taints, node->taint_n};

	return set_passes(&term, &set);
}

static bool after_node_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	BT_REQUIRE_HOT(event->node.new);
	return node_passes(env, event->node.new) && (!event->node.old || !node_passes(env, event->node.old));
}

static bool after_toleration_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	(void)event;
	return env->own;
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

const struct bt_plugin bt_plugin_taint_toleration = {
	.name = "TaintToleration",
	.ignores_resizes = true,
	.points = BT_AT(FILTER) | BT_AT(PRE_SCORE) | BT_AT(SCORE),
	.more_points = BT_AT(PRE_FILTER),
	.more_by = BT_RULE_NODE_CHECKS_PRE_FILTER,
	.settings = settings_of,
	.filter_depends = BT_DEPENDS_ON_DESCRIPTION,
	.score_depends = BT_DEPENDS_ON_DESCRIPTION,
	.normalize = BT_NORMALIZE_REVERSED,
	.no_pre_score_error = "failed to read \"PreScoreTaintToleration\" from cycleState: not found",
	.compile = taint_toleration_compile,
	.taint_sets = taint_sets,
	.filter = taint_toleration_filter,
	.refusal = BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
	.score = taint_toleration_score,
	.key = key,
	.reasons = reasons,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
