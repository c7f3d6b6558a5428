/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the full answer, node by node and plugin by plugin: who refuses which node and why, who scores it
 * how. What verdicts and explanations show, and what decides where columns cannot. Context: the scheduling
 * thread; allocates in the evaluation's own buffers, which are kept between calls.
 */
#pragma once

#include "engine/score/plan.h"

struct bt_evaluation;

/* What is done with an evaluation besides asking the plugins; extenders are behind it. */
struct bt_evaluation_hooks {
	/* After Filter, when nodes fit: may refuse some of them (bt_evaluation_refuse), or fail. */
	void (*filtered)(void *context, struct bt_evaluation *evaluation);
	/* After Score, when several nodes fit: may add to totals. */
	void (*scored)(void *context, struct bt_evaluation *evaluation);
	void *context;
};

/* Why a hook refused a node that nobody knows. */
struct bt_hook_unknown {
	size_t name; /* where it begins in hook_text, as refusal's text */
	size_t text;
};

/* Why a hook refused a node. */
struct bt_hook_refusal {
	bool unresolvable;
	bool says;   /* it has given a reason */
	size_t text; /* the reason: where it begins in hook_text */
};

/* One evaluation's result. All zeroes is an empty one. Owns: bt_evaluation_fini. */
struct bt_evaluation {
	/* The nodes that were filtered, in that order, and which use refused each: BT_PASSED when none did.
	 */
	uint32_t *visited;
	uint32_t *refused_by;
	uint32_t visited_n;
	/* The feasible ones, in that order, with their scores. */
	uint32_t *feasible;
	uint32_t feasible_n;
	int64_t *scores; /* scores[k * feasible_n + i]: normalised and weighted, k-th of profile->score, i-th
			    feasible node */
	int64_t *totals;
	const char *error; /* the cycle failed: upstream's text; else NULL */
	struct bt_buf text;
	const struct bt_yields_to *nominations;	 /* set by the caller; NULL: none matter */
	const struct bt_evaluation_hooks *hooks; /* set by the caller; NULL: there are none */
	/* What the hooks refused: by place in feasible as it was before, the index of the refusal and one, or
	 * 0.
	 */
	uint32_t *hooked;
	struct bt_hook_refusal *hook_refusals;
	size_t hook_refusal_n, hook_refusal_cap, hooked_cap;
	struct bt_hook_unknown *hook_unknowns;
	size_t hook_unknown_n, hook_unknown_cap;
	bool looks_empty; /* set by hooks: nodes are scored as if nothing were on them, and no image */
	struct bt_buf hook_text;
	size_t visited_cap, score_cap;
};

#define BT_PASSED UINT32_MAX
#define BT_HOOKED                                                                                            \
	0x40000000u /* in refused_by, and above: a hook refused the node; plus the index of the refusal */

void bt_evaluation_fini(struct bt_evaluation *evaluation);

/*
 * Asks the plugins that depend on counters about a cycle that begins now.
 * Returns: whether none of them has anything to say in it; then bt_plan_pick may decide.
 */
bool bt_prepare(struct bt_plan *plan, const struct bt_view *view);

/*
 * The first use that refuses a node, or BT_PASSED. Sets out_error when a filter fails, and leaves it alone
 * otherwise. nominations may be NULL.
 * Requires: no refusal of PreFilter in the plan.
 */
uint32_t bt_filter_node(const struct bt_plan *plan, const struct bt_view *view,
	const struct bt_yields_to *nominations, uint32_t node_ix, const char **out_error);

/* The words of upstream's for an error of bt_filter_node; valid as long as out_text and the plan. */
const char *bt_filter_error_text(
	const struct bt_plan *plan, uint32_t by, const char *error, struct bt_buf *out_text);

/* Why a use refused a node. Requires: bt_filter_node said so under the same usage and nominations. */
void bt_reject_node(const struct bt_plan *plan, const struct bt_view *view,
	const struct bt_yields_to *nominations, uint32_t node_ix, uint32_t by,
	struct bt_rejection *out_rejection);

/*
 * Why the visited-th node of an evaluation was refused, or by a hook: then without reasons, and the hook's
 * reason in out_text, which is NULL when it gave none. Requires: it was, under the same usage and
 * nominations.
 */
void bt_evaluation_reject(const struct bt_plan *plan, const struct bt_view *view,
	const struct bt_evaluation *evaluation, uint32_t visited, struct bt_rejection *out_rejection,
	const char **out_text);

/* For hooks: the node at that place in feasible does not fit after all; reason is NULL when there is none. Of
 * several refusals the last one counts. */
void bt_evaluation_refuse(
	struct bt_evaluation *evaluation, uint32_t place, bool unresolvable, const struct bt_str *reason);

/* For hooks: the same for the visited-th node, which a plugin has refused: instead of its reasons. */
void bt_evaluation_refuse_again(
	struct bt_evaluation *evaluation, uint32_t visited, bool unresolvable, struct bt_str reason);

/* For hooks: the same for a node that there is not: its reason is counted, once a name. */
void bt_evaluation_refuse_unknown(struct bt_evaluation *evaluation, struct bt_str name, struct bt_str reason);

/* For hooks: the cycle fails with this error. */
void bt_evaluation_fail(struct bt_evaluation *evaluation, struct bt_str error);

/*
 * Filters nodes in the given order until limit feasible ones are found beyond which one more would be
 * (upstream's sampling; UINT32_MAX: all nodes), then scores the feasible ones. Nodes are live, and bt_prepare
 * was called since the last write. Requires: no refusal and no error of PreFilter in the plan
 * (bt_evaluate_filters asserts it).
 */
void bt_evaluate(const struct bt_plan *plan, const struct bt_view *view, const uint32_t *nodes,
	uint32_t node_n, uint32_t limit, struct bt_evaluation *out);

/* The same without scores: who is filtered, and who fits. */
void bt_evaluate_filters(const struct bt_plan *plan, const struct bt_view *view, const uint32_t *nodes,
	uint32_t node_n, uint32_t limit, struct bt_evaluation *out);

/* The place in feasible of the best node: among equals the first node slot at or after start, cyclically. */
uint32_t bt_evaluation_best(const struct bt_evaluation *evaluation, uint32_t start);
