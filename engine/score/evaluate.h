/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: full evaluation, node by node and plugin by plugin: which plugin refuses which node and why, and
 * all scores. For verdicts and explanations, and for decisions that columns cannot make. Context: the
 * scheduling thread; allocates in the evaluation's own buffers, which are kept between calls.
 */
#pragma once

#include "engine/score/plan.h"

struct bt_evaluation;

/* Callbacks of an evaluation besides plugins, for extenders. */
struct bt_evaluation_hooks {
	/* After Filter, if nodes fit: may refuse some of them (bt_evaluation_refuse), or fail. */
	void (*filtered)(void *context, struct bt_evaluation *evaluation);
	/* After Score, if several nodes fit: may add to totals. */
	void (*scored)(void *context, struct bt_evaluation *evaluation);
	void *context;
};

/* A hook's refusal of an unknown node. */
struct bt_hook_unknown {
	size_t name; /* offset in hook_text, as refusal's text */
	size_t text;
};

/* A hook's refusal of a node. */
struct bt_hook_refusal {
	bool unresolvable;
	bool has_text; /* it has a reason */
	size_t text;   /* the reason's offset in hook_text */
};

/* The result of one evaluation. Zero-initialized, it is empty. Owns: bt_evaluation_fini. */
struct bt_evaluation {
	/* The filtered nodes, in order, and the use that refused each: BT_PASSED if none did. */
	uint32_t *visited;
	uint32_t *refused_by;
	/* The feasible nodes, in the same order, with their scores. */
	uint32_t *feasible;
	/* Side by side: each cycle writes and reads both, and the compiler makes one access of two. */
	uint32_t visited_n, feasible_n;
	/* [k * feasible_n + i]: normalized and weighted; k: index in profile->score, i: in feasible */
	int64_t *scores;
	int64_t *totals;
	const char *error; /* the cycle failed: upstream's text; otherwise NULL */
	struct bt_buf text;
	const struct bt_nominations_ahead *nominations; /* set by the caller; NULL: none */
	const struct bt_evaluation_hooks *hooks;	/* set by the caller; NULL: none */
	/* The hooks' refusals: by the original index in feasible, the index of the refusal plus one, or 0. */
	uint32_t *hooked;
	struct bt_hook_refusal *hook_refusals;
	size_t hook_refusal_n, hook_refusal_cap, hooked_cap;
	struct bt_hook_unknown *hook_unknowns;
	size_t hook_unknown_n, hook_unknown_cap;
	bool looks_empty; /* set by hooks: nodes are scored as if they had no pods and images */
	struct bt_buf hook_text;
	size_t visited_cap, score_cap;
};

#define BT_PASSED UINT32_MAX
#define BT_HOOKED                                                                                            \
	0x40000000u /* from here on in refused_by: a hook refused the node; plus the index of the refusal */

void bt_evaluation_fini(struct bt_evaluation *evaluation);

/*
 * Prepares the plugins that depend on counters for a cycle that begins now.
 * Returns: whether none of them affects it; then bt_plan_pick may decide.
 */
bool bt_prepare(struct bt_plan *plan, const struct bt_view *view);

/*
 * The first use that refuses a node, or BT_PASSED. Sets out_error when a filter fails, otherwise leaves it
 * unchanged. nominations may be NULL.
 * Requires: no refusal of PreFilter in the plan.
 */
uint32_t bt_filter_node(const struct bt_plan *plan, const struct bt_view *view,
	const struct bt_nominations_ahead *nominations, uint32_t node_ix, const char **out_error);

/* Upstream's text for an error of bt_filter_node; valid as long as out_text and the plan. */
const char *bt_filter_error_text(
	const struct bt_plan *plan, uint32_t by, const char *error, struct bt_buf *out_text);

/* Why a use refused a node. Requires: bt_filter_node returned that use under the same usage and
 * nominations. */
void bt_reject_node(const struct bt_plan *plan, const struct bt_view *view,
	const struct bt_nominations_ahead *nominations, uint32_t node_ix, uint32_t by,
	struct bt_rejection *out_rejection);

/*
 * Why the visited-th node of an evaluation was refused. If a hook refused it, there are no reasons, and
 * out_text is the hook's text, or NULL if it gave none. Requires: it was refused, under the same usage and
 * nominations.
 */
void bt_evaluation_reject(const struct bt_plan *plan, const struct bt_view *view,
	const struct bt_evaluation *evaluation, uint32_t visited, struct bt_rejection *out_rejection,
	const char **out_text);

/* For hooks: refuses the node at that index in feasible; reason may be NULL. The last of several refusals
 * counts. */
void bt_evaluation_refuse(
	struct bt_evaluation *evaluation, uint32_t place, bool unresolvable, const struct bt_str *reason);

/* For hooks: the same for the visited-th node, which a plugin has refused: replaces its reasons. */
void bt_evaluation_refuse_again(
	struct bt_evaluation *evaluation, uint32_t visited, bool unresolvable, struct bt_str reason);

/* For hooks: the same for an unknown node: adds its reason, once per name. */
void bt_evaluation_refuse_unknown(struct bt_evaluation *evaluation, struct bt_str name, struct bt_str reason);

/* For hooks: the cycle fails with this error. */
void bt_evaluation_fail(struct bt_evaluation *evaluation, struct bt_str error);

/*
 * Filters nodes in the given order until it finds one feasible node beyond limit (upstream's sampling;
 * UINT32_MAX: all nodes), then scores the feasible ones up to limit. Nodes are live, and bt_prepare was
 * called since the last write. Requires: no refusal and no error of PreFilter in the plan
 * (bt_evaluate_filters asserts it).
 */
void bt_evaluate(const struct bt_plan *plan, const struct bt_view *view, const uint32_t *nodes,
	uint32_t node_n, uint32_t limit, struct bt_evaluation *out);

/* The same without scores. */
void bt_evaluate_filters(const struct bt_plan *plan, const struct bt_view *view, const uint32_t *nodes,
	uint32_t node_n, uint32_t limit, struct bt_evaluation *out);

/* The index in feasible of the best node: among equals the first node slot at or after start, cyclically. */
uint32_t bt_evaluation_best(const struct bt_evaluation *evaluation, uint32_t start);
