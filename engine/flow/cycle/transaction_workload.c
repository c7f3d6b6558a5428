/* SPDX-License-Identifier: Apache-2.0
 * Places pods of a workload together in a transaction. Each attempt is a transaction inside the open one,
 * which is rolled back unless it succeeds.
 */
#include "engine/flow/cycle/transaction.h"

#include "engine/base/check.h"
#include "engine/flow/cycle/engine_int.h"
#include "engine/flow/cycle/group_attempt.h"
#include "engine/flow/cycle/transaction_int.h"

/* An attempt of a PodGroup. */
struct workload_attempt {
	struct bt_group_attempt group; /* engine, runtime, group, placements and scheduled_n alone */
	const uint32_t *pod_ixs;
	uint32_t n;
	uint32_t *node_ixs; /* of the last attempt */
	struct bt_buf *text;
	bool unschedulable; /* the text is to say that the group is unschedulable */
};

static const struct bt_pod_group *pod_group_of(const struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_signature *signature = bt_transaction_pod(engine, pod_ix)->signature;

	return bt_pod_groups_find(&engine->groups, signature->namespace_, signature->pod_group);
}

enum bt_workload_kind bt_transaction_workload_kind(
	const struct bt_engine *engine, const uint32_t *pod_ixs, uint32_t n)
{
	BT_REQUIRE(n > 0);
	bool grouped = bt_engine_in_group(engine, pod_ixs[0]);
	const struct bt_pod_group *group = grouped ? pod_group_of(engine, pod_ixs[0]) : NULL;

	for (uint32_t i = 1; i < n; i++) {
		bool also = bt_engine_in_group(engine, pod_ixs[i]);

		if (also != grouped || (also && pod_group_of(engine, pod_ixs[i]) != group) ||
			(also && bt_engine_runtime_of(engine, pod_ixs[i]) !=
					 bt_engine_runtime_of(engine, pod_ixs[0]))) {
			return BT_WORKLOAD_MIXED;
		}
	}
	if (!grouped) {
		return BT_WORKLOAD_PODS;
	}
	if (!group || !group->known) {
		return BT_WORKLOAD_UNKNOWN;
	}
	return bt_pod_groups_whole(&engine->groups) && group->parent == BT_NO_POD_GROUP
		       ? BT_WORKLOAD_GROUP
		       : BT_WORKLOAD_UNSUPPORTED;
}

/* Why a pod gets no node beside those that have one. */
static void write_refusal(struct bt_engine *engine, uint32_t pod_ix, struct bt_buf *text)
{
	struct bt_explanation explanation = {0};

	bt_engine_explain(engine, pod_ix, &explanation);
	bt_engine_message(engine, &explanation, text);
	bt_explanation_fini(&explanation);
}

/* All pods, or none. */
static enum bt_outcome place_all(struct bt_engine *engine, const uint32_t *pod_ixs, uint32_t n,
	uint32_t *out_node_ixs, struct bt_buf *out_text)
{
	enum bt_outcome outcome = BT_PLACED;
	uint32_t tried_n = 0;

	bt_transaction_begin(engine);
	while (tried_n < n && outcome == BT_PLACED) {
		outcome = bt_transaction_place(engine, pod_ixs[tried_n], &out_node_ixs[tried_n]);
		tried_n++;
	}
	if (outcome == BT_PLACED) {
		bt_transaction_commit(engine, NULL);
		return BT_PLACED;
	}
	if (out_text) {
		write_refusal(engine, pod_ixs[tried_n - 1], out_text);
	}
	bt_transaction_roll_back(engine);
	return outcome == BT_FAILED ? BT_FAILED : BT_REFUSED;
}

/* PlacementFeasible, once placed_n of the pods have nodes, and others are still to be tried. */
static enum bt_feasible feasible(const struct workload_attempt *w, uint64_t placed_n, uint64_t remaining_n)
{
	const struct bt_group_state state =
		bt_pod_group_state(w->group.group, w->group.scheduled_n + placed_n);

	return bt_group_attempt_feasible(&w->group, &state, remaining_n, w->text);
}

static uint32_t to_be_tried(const struct workload_attempt *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		n += !bt_transaction_pod(w->group.engine, w->pod_ixs[i])->terminating;
	}
	return n;
}

/* Source: podGroupSchedulingDefaultAlgorithm, v1.37.2. */
static enum bt_outcome place_members(struct workload_attempt *w)
{
	uint32_t remaining_n = to_be_tried(w), placed_n = 0;
	enum bt_feasible verdict = feasible(w, 0, remaining_n);

	for (uint32_t i = 0; i < w->n; i++) {
		w->node_ixs[i] = BT_NO_NODE;
	}
	w->unschedulable = true;
	for (uint32_t i = 0; i < w->n && verdict != BT_INFEASIBLE; i++) {
		enum bt_outcome outcome =
			bt_transaction_place(w->group.engine, w->pod_ixs[i], &w->node_ixs[i]);

		if (outcome == BT_SKIPPED) {
			continue;
		}
		if (outcome == BT_FAILED) {
			return BT_FAILED;
		}
		BT_INVARIANT(remaining_n > 0);
		remaining_n--;
		placed_n += outcome == BT_PLACED;
		verdict = feasible(w, placed_n, remaining_n);
		w->unschedulable = verdict != BT_INFEASIBLE;
	}
	return verdict == BT_FEASIBLE && placed_n > 0 ? BT_PLACED : BT_REFUSED;
}

/* bt_placement_request.decide; placement: NULL if the group has none. */
static enum bt_placement_fit attempt(void *context, const struct bt_placement *placement, bool trial)
{
	struct workload_attempt *w = context;
	struct bt_engine *engine = w->group.engine;

	bt_transaction_begin(engine);
	enum bt_outcome outcome = place_members(w);
	for (uint32_t i = 0; placement && trial && i < w->n; i++) {
		if (w->node_ixs[i] != BT_NO_NODE) {
			bt_placements_add_signature(
				w->group.placements, bt_transaction_pod(engine, w->pod_ixs[i])->signature);
		}
	}
	if (trial || outcome != BT_PLACED) {
		bt_transaction_roll_back(engine);
	} else {
		bt_transaction_commit(engine, NULL);
	}
	if (outcome == BT_FAILED) {
		return BT_PLACEMENT_FAILS;
	}
	return outcome == BT_PLACED ? BT_PLACEMENT_FITS : BT_PLACEMENT_UNFIT;
}

/* Source: podGroupSchedulingPlacementAlgorithm, v1.37.2. */
static enum bt_placement_fit attempt_in_placements(struct workload_attempt *w)
{
	struct bt_group_attempt *a = &w->group;
	struct bt_node_list *list = &a->engine->nodes;
	const struct bt_group_state state = bt_pod_group_state(a->group, a->scheduled_n);
	const struct bt_placement_request request = {
		.engine = a->engine, .runtime = a->runtime, .group = &state, .decide = attempt, .context = w};

	bt_node_list_follow(list, a->engine->cache->view.snapshot);
	if (bt_node_list_n(list) == 0) {
		bt_buf_text(w->text, "no nodes available to schedule pods");
		return BT_PLACEMENT_UNFIT;
	}
	bt_node_list_follow_order(list, a->engine->cache->snapshot);
	bt_placements_begin(a->placements);
	bt_group_attempt_add_pods(a, a->group);
	enum bt_placement_fit fit =
		bt_placements_generate(a->placements, a->engine, a->runtime, &state, w->text);
	if (fit != BT_PLACEMENT_FITS) {
		return fit;
	}
	struct bt_buf why = {0};
	const struct bt_placement_choice choice = bt_placements_try(a->placements, &request, &why);
	if (choice.undecided) {
		bt_buf_clear(w->text);
		bt_buf_str(w->text, bt_buf_view(&why));
	} else if (choice.fit == BT_PLACEMENT_UNFIT) {
		bt_group_write_no_placement(a->placements, w->unschedulable, w->text);
	}
	bt_buf_fini(&why);
	return choice.fit;
}

static enum bt_outcome place_group(struct bt_engine *engine, struct workload_attempt *w)
{
	struct bt_placements placements = {.n = 0};
	enum bt_placement_fit fit;

	w->group.scheduled_n = bt_group_attempt_scheduled_in(&w->group, w->group.group);
	w->group.placements = &placements;
	if (bt_pod_groups_have_placements(&engine->groups)) {
		fit = attempt_in_placements(w);
	} else {
		fit = attempt(w, NULL, false);
		if (fit == BT_PLACEMENT_UNFIT) {
			bt_group_write_unschedulable(w->text);
		}
	}
	bt_placements_fini(&placements);
	if (fit == BT_PLACEMENT_FAILS && w->text->len == 0) {
		bt_buf_text(w->text, "failed to schedule other pod from a pod group");
	}
	return fit == BT_PLACEMENT_FITS ? BT_PLACED : fit == BT_PLACEMENT_FAILS ? BT_FAILED : BT_REFUSED;
}

enum bt_outcome bt_transaction_place_workload(struct bt_engine *engine, const uint32_t *pod_ixs, uint32_t n,
	uint32_t *out_node_ixs, struct bt_buf *out_text)
{
	struct bt_buf text = {0};
	struct workload_attempt w = {.group = {.engine = engine},
		.pod_ixs = pod_ixs,
		.n = n,
		.node_ixs = out_node_ixs,
		.text = &text};
	enum bt_workload_kind kind = bt_transaction_workload_kind(engine, pod_ixs, n);
	enum bt_outcome outcome;

	BT_REQUIRE(bt_transaction_depth(engine) > 0);
	BT_REQUIRE(kind == BT_WORKLOAD_PODS || kind == BT_WORKLOAD_GROUP);
	for (uint32_t i = 0; i < n; i++) {
		out_node_ixs[i] = BT_NO_NODE;
	}
	if (kind == BT_WORKLOAD_PODS) {
		outcome = place_all(engine, pod_ixs, n, out_node_ixs, out_text ? &text : NULL);
	} else {
		w.group.runtime = bt_engine_runtime_of(engine, pod_ixs[0]);
		w.group.group = pod_group_of(engine, pod_ixs[0]);
		outcome = place_group(engine, &w);
	}
	for (uint32_t i = 0; outcome != BT_PLACED && i < n; i++) {
		out_node_ixs[i] = BT_NO_NODE;
	}
	if (outcome != BT_PLACED && out_text) {
		bt_buf_str(out_text, bt_buf_view(&text));
	}
	bt_buf_fini(&text);
	return outcome;
}
