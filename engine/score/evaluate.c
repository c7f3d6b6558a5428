/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: full evaluation.
 */
#include "engine/score/evaluate.h"

#include "cache/node_view.h"
#include "cache/topology_view.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/score/normalize.h"

void bt_evaluation_fini(struct bt_evaluation *e)
{
	bt_mem_free(e->visited);
	bt_mem_free(e->refused_by);
	bt_mem_free(e->feasible);
	bt_mem_free(e->scores);
	bt_mem_free(e->totals);
	bt_mem_free(e->hooked);
	bt_mem_free(e->hook_refusals);
	bt_mem_free(e->hook_unknowns);
	bt_buf_fini(&e->hook_text);
	bt_buf_fini(&e->text);
	*e = (struct bt_evaluation){0};
}

static void reserve(struct bt_evaluation *e, uint32_t node_n)
{
	if (node_n <= e->visited_cap) {
		return;
	}
	e->visited_cap = node_n;
	e->visited = bt_mem_realloc(e->visited, node_n, sizeof(*e->visited));
	e->refused_by = bt_mem_realloc(e->refused_by, node_n, sizeof(*e->refused_by));
	e->feasible = bt_mem_realloc(e->feasible, node_n, sizeof(*e->feasible));
	e->totals = bt_mem_realloc(e->totals, node_n, sizeof(*e->totals));
}

/* Runs their prepare and PreFilter. */
static BT_NOINLINE bool prepare(struct bt_plan *plan, const struct bt_view *view)
{
	bool idle = true, reads_state = plan->reads_state;

	for (uint32_t u = 0; u < plan->profile->use_n; u++) {
		const struct bt_plugin_use *use = &plan->profile->uses[u];
		struct bt_compiled *compiled = &plan->compiled[u];

		if (compiled->aside) {
			continue;
		}
		if (use->plugin->prepare) {
			use->plugin->prepare(
				compiled->state, view, &compiled->filter_skip, &compiled->score_skip);
		} else if (use->plugin->pre_filter && compiled->state) {
			compiled->refused = false;
			compiled->pre_filter_error = compiled->score_failure = NULL;
			use->plugin->pre_filter(compiled->state, view, compiled);
		} else {
			continue;
		}
		idle &= (compiled->filter_skip || !use->filter) && (compiled->score_skip || !use->score);
	}
	if (reads_state) {
		bt_plan_settle(plan, view);
	}
	/* Preparing may have added terms to counters, which sets a new version. A pod with claims or volumes
	 * is prepared in every cycle. */
	plan->idle_version = idle && !reads_state ? view->counting->version : 0;
	return idle;
}

bool bt_prepare(struct bt_plan *plan, const struct bt_view *view)
{
	bool idle = plan->idle_version && plan->idle_version == view->counting->version;

	return idle || (!plan->reads_state && (plan->refusal || plan->pre_filter_error)) ||
	       prepare(plan, view);
}

/* The first use that refuses the node in its present state, or BT_PASSED. An error is the profile's or the
 * filter's own. */
static uint32_t filter_once(
	const struct bt_plan *plan, const struct bt_view *view, uint32_t node_ix, const char **out_error)
{
	for (uint32_t i = 0; i < plan->profile->filter_n; i++) {
		uint32_t u = plan->profile->filter[i];
		const struct bt_plugin *plugin = plan->profile->uses[u].plugin;
		uint8_t pass = 1;

		if (plan->filter_error[u]) {
			if (plugin->filter_first) {
				plugin->filter_first(plan->compiled[u].term, view, node_ix, 1, &pass);
			}
			*out_error = pass ? plan->filter_error[u] : NULL;
			return u;
		}
		if (!plugin->filter || plan->compiled[u].filter_skip) {
			continue;
		}
		plugin->filter(plan->compiled[u].term, view, node_ix, 1, &pass);
		if (!pass) {
			*out_error = plugin->failure ? plugin->failure(plan->compiled[u].term, view, node_ix)
						     : NULL;
			return u;
		}
	}
	return BT_PASSED;
}

uint32_t bt_filter_node(const struct bt_plan *plan, const struct bt_view *view,
	const struct bt_nominations_ahead *nominations, uint32_t node_ix, const char **out_error)
{
	BT_REQUIRE_HOT(!plan->refusal);
	if (nominations && nominations->put(nominations->context, node_ix)) {
		uint32_t by = filter_once(plan, view, node_ix, out_error);

		nominations->take(nominations->context, node_ix);
		if (by != BT_PASSED) {
			return by;
		}
	}
	return filter_once(plan, view, node_ix, out_error);
}

void bt_reject_node(const struct bt_plan *plan, const struct bt_view *view,
	const struct bt_nominations_ahead *nominations, uint32_t node_ix, uint32_t by,
	struct bt_rejection *out_rejection)
{
	const struct bt_plugin *plugin = plan->profile->uses[by].plugin;
	const void *term = plan->compiled[by].term;

	BT_REQUIRE(by != BT_PASSED);
	if (nominations && nominations->put(nominations->context, node_ix)) {
		uint8_t pass;

		/* If the plugin passes with the nominated pods, it has refused the node without them. */
		plugin->filter(term, view, node_ix, 1, &pass);
		if (!pass) {
			bt_plugin_reject(plugin, term, view, node_ix, out_rejection);
		}
		nominations->take(nominations->context, node_ix);
		if (!pass) {
			return;
		}
	}
	bt_plugin_reject(plugin, term, view, node_ix, out_rejection);
}

void bt_evaluation_reject(const struct bt_plan *plan, const struct bt_view *view,
	const struct bt_evaluation *e, uint32_t visited, struct bt_rejection *out_rejection,
	const char **out_text)
{
	BT_REQUIRE_HOT(visited < e->visited_n);
	uint32_t by = e->refused_by[visited];

	*out_text = NULL;
	if (by < BT_HOOKED) {
		bt_reject_node(plan, view, e->nominations, e->visited[visited], by, out_rejection);
		return;
	}
	BT_REQUIRE(by != BT_PASSED);
	const struct bt_hook_refusal *refusal = &e->hook_refusals[by - BT_HOOKED];
	out_rejection->n = 0;
	out_rejection->code = refusal->unresolvable ? BT_UNSCHEDULABLE_AND_UNRESOLVABLE : BT_UNSCHEDULABLE;
	*out_text = refusal->has_text ? e->hook_text.ptr + refusal->text : NULL;
}

static size_t add_hook_text(struct bt_evaluation *e, struct bt_str text)
{
	size_t at = e->hook_text.len;

	bt_buf_str(&e->hook_text, text);
	bt_buf_char(&e->hook_text, '\0');
	return at;
}

/* Returns: the number of refusals. */
static uint32_t add_hook_refusal(struct bt_evaluation *e, bool unresolvable, const struct bt_str *reason)
{
	e->hook_refusals = bt_mem_grow(
		e->hook_refusals, e->hook_refusal_n, &e->hook_refusal_cap, sizeof(*e->hook_refusals));
	e->hook_refusals[e->hook_refusal_n++] =
		(struct bt_hook_refusal){unresolvable, reason != NULL, e->hook_text.len};
	if (reason) {
		add_hook_text(e, *reason);
	}
	return (uint32_t)e->hook_refusal_n;
}

void bt_evaluation_refuse(
	struct bt_evaluation *e, uint32_t place, bool unresolvable, const struct bt_str *reason)
{
	BT_REQUIRE(place < e->feasible_n);
	e->hooked[place] = add_hook_refusal(e, unresolvable, reason);
}

void bt_evaluation_refuse_again(
	struct bt_evaluation *e, uint32_t visited, bool unresolvable, struct bt_str reason)
{
	BT_REQUIRE(visited < e->visited_n && e->refused_by[visited] != BT_PASSED);
	e->refused_by[visited] = BT_HOOKED + add_hook_refusal(e, unresolvable, &reason) - 1;
}

void bt_evaluation_refuse_unknown(struct bt_evaluation *e, struct bt_str name, struct bt_str reason)
{
	struct bt_hook_unknown *unknown = NULL;

	for (size_t i = 0; i < e->hook_unknown_n; i++) {
		if (bt_str_is(name, e->hook_text.ptr + e->hook_unknowns[i].name)) {
			unknown = &e->hook_unknowns[i];
		}
	}
	if (!unknown) {
		e->hook_unknowns = bt_mem_grow(
			e->hook_unknowns, e->hook_unknown_n, &e->hook_unknown_cap, sizeof(*e->hook_unknowns));
		unknown = &e->hook_unknowns[e->hook_unknown_n++];
		unknown->name = add_hook_text(e, name);
	}
	unknown->text = add_hook_text(e, reason);
}

void bt_evaluation_fail(struct bt_evaluation *e, struct bt_str error)
{
	bt_buf_clear(&e->text);
	bt_buf_str(&e->text, error);
	e->error = e->text.ptr ? e->text.ptr : "";
}

/* Calls the hooks, which may refuse feasible nodes. */
static void run_hooks(struct bt_evaluation *e)
{
	uint32_t place = 0, n = 0;

	e->hook_refusal_n = e->hook_unknown_n = 0;
	bt_buf_clear(&e->hook_text);
	if (e->visited_cap > e->hooked_cap) {
		e->hooked_cap = e->visited_cap;
		e->hooked = bt_mem_realloc(e->hooked, e->hooked_cap, sizeof(*e->hooked));
	}
	memset(e->hooked, 0, e->feasible_n * sizeof(*e->hooked));
	e->hooks->filtered(e->hooks->context, e);
	for (uint32_t i = 0; i < e->visited_n && !e->error; i++) {
		if (e->refused_by[i] != BT_PASSED) {
			continue;
		}
		if (e->hooked[place]) {
			e->refused_by[i] = BT_HOOKED + e->hooked[place] - 1;
		} else {
			e->feasible[n++] = e->visited[i];
		}
		place++;
	}
	BT_INVARIANT(e->error || (place == e->feasible_n && n <= place));
	e->feasible_n = n;
}

const char *bt_filter_error_text(
	const struct bt_plan *plan, uint32_t by, const char *error, struct bt_buf *out_text)
{
	BT_REQUIRE_HOT(by < plan->profile->use_n);
	if (error == plan->filter_error[by]) {
		return error;
	}
	bt_buf_clear(out_text);
	bt_buf_printf(
		out_text, "running \"%s\" filter plugin: %s", plan->profile->uses[by].plugin->name, error);
	return out_text->ptr;
}

/* Node slots that are filtered in one call. */
#define RUN 64u

/* Calls one plugin for the nodes of a run whose bits are set. Returns: those that pass. */
static uint64_t filter_some(
	const struct bt_plan *plan, const struct bt_view *view, uint32_t u, uint32_t first, uint64_t nodes)
{
	const struct bt_plugin *plugin = plan->profile->uses[u].plugin;
	uint64_t passed = 0;
	uint8_t pass[RUN];

	for (uint64_t left = nodes; left;) {
		uint32_t at = (uint32_t)__builtin_ctzll(left), n;
		uint64_t gaps = ~(left >> at);

		n = gaps ? (uint32_t)__builtin_ctzll(gaps) : RUN;
		BT_INVARIANT(at + n <= RUN);
		plugin->filter(plan->compiled[u].term, view, first + at, n, pass);
		for (uint32_t i = 0; i < n; i++) {
			passed |= (uint64_t)(pass[i] != 0) << (at + i);
		}
		left &= n == RUN ? 0 : ~((((uint64_t)1 << n) - 1) << at);
	}
	return passed;
}

/*
 * bt_filter_node for n consecutive node slots without errors: each plugin filters the nodes that have passed
 * the earlier ones. Sets out_by[i] for the node first + i. Returns: false when some node may fail; then they
 * must be filtered one by one, because the first failure counts.
 */
static bool filter_run(const struct bt_plan *plan, const struct bt_view *view,
	const struct bt_nominations_ahead *nominations, uint32_t first, uint32_t n, uint32_t *out_by)
{
	BT_INVARIANT(n > 0 && n <= RUN);
	uint64_t left = n == RUN ? UINT64_MAX : ((uint64_t)1 << n) - 1;
	const char *error = NULL;

	for (uint32_t i = 0; i < n; i++) {
		out_by[i] = BT_PASSED;
		if (nominations && nominations->put(nominations->context, first + i)) {
			nominations->take(nominations->context, first + i);
			out_by[i] = bt_filter_node(plan, view, nominations, first + i, &error);
			left &= ~((uint64_t)1 << i);
		}
		if (error) {
			return false;
		}
	}
	for (uint32_t k = 0; k < plan->profile->filter_n && left; k++) {
		uint32_t u = plan->profile->filter[k];
		const struct bt_plugin *plugin = plan->profile->uses[u].plugin;

		if (plan->filter_error[u]) {
			return false;
		}
		if (!plugin->filter || plan->compiled[u].filter_skip) {
			continue;
		}
		uint64_t passed = filter_some(plan, view, u, first, left);
		for (uint64_t refused = left & ~passed; refused; refused &= refused - 1) {
			uint32_t i = (uint32_t)__builtin_ctzll(refused);

			out_by[i] = u;
			if (plugin->failure && plugin->failure(plan->compiled[u].term, view, first + i)) {
				return false;
			}
		}
		left = passed;
	}
	return true;
}

/* Records a node's result. Returns: false when no more nodes are needed. */
static bool note_filtered(struct bt_evaluation *e, uint32_t node_ix, uint32_t by, uint32_t limit)
{
	/* The feasible node beyond the limit is not used, and not counted as visited. */
	if (by == BT_PASSED && e->feasible_n == limit) {
		return false;
	}
	BT_INVARIANT(e->visited_n < e->visited_cap && e->feasible_n <= e->visited_n);
	e->visited[e->visited_n] = node_ix;
	e->refused_by[e->visited_n++] = by;
	if (by == BT_PASSED) {
		e->feasible[e->feasible_n++] = node_ix;
	}
	return true;
}

/* The length of the run of consecutive slots at the beginning. */
static uint32_t run_length(const uint32_t *nodes, uint32_t node_n)
{
	uint32_t n = 1;

	while (n < node_n && n < RUN && nodes[n] == nodes[0] + n) {
		n++;
	}
	BT_INVARIANT(n <= RUN && n <= node_n);
	return n;
}

static void filter_nodes(const struct bt_plan *plan, const struct bt_view *view, const uint32_t *nodes,
	uint32_t node_n, uint32_t limit, struct bt_evaluation *e)
{
	uint32_t by[RUN], n;

	for (uint32_t i = 0; i < node_n; i += n) {
		/* A sample filters no node that it may not need. */
		n = limit == UINT32_MAX ? run_length(nodes + i, node_n - i) : 1;
		bool done = n > 1 && filter_run(plan, view, e->nominations, nodes[i], n, by);

		for (uint32_t k = 0; k < n; k++) {
			if (!done) {
				by[k] = bt_filter_node(plan, view, e->nominations, nodes[i + k], &e->error);
			}
			if (e->error) {
				e->error = bt_filter_error_text(plan, by[k], e->error, &e->text);
				return;
			}
			if (!note_filtered(e, nodes[i + k], by[k], limit)) {
				return;
			}
		}
	}
}

/* The nodes without pods and images. Source: HTTPExtender.Filter makes node infos from the nodes that an
 * extender has returned, v1.36.3; PreScore and NormalizeScore use the snapshot. */
static struct bt_view emptied(const struct bt_view *view)
{
	static const struct bt_usage nothing = {.is_empty = true};
	struct bt_view empty = *view;

	empty.usage = &nothing;
	return empty;
}

/* One plugin's scores of the feasible nodes. */
static void score_all(const struct bt_plugin *plugin, const struct bt_compiled *compiled,
	const struct bt_view *view, const struct bt_evaluation *e, int64_t *scores)
{
	BT_INVARIANT(plugin->score);
	if (plugin->pre_score) {
		plugin->pre_score(compiled->state, view, e->feasible, NULL, e->feasible_n);
	}
	const struct bt_view seen = e->looks_empty ? emptied(view) : *view;

	for (uint32_t i = 0; i < e->feasible_n; i++) {
		plugin->score(compiled->term, &seen, e->feasible[i], 1, &scores[i]);
	}
	bt_normalize_scores(plugin, compiled->term, view, e->feasible, e->feasible_n, scores);
}

static void fail_range(struct bt_evaluation *e, const struct bt_plugin *plugin, int64_t score)
{
	bt_buf_clear(&e->text);
	bt_buf_printf(&e->text,
		"applying score defaultWeights on Score plugins: plugin \"%s\" returns an invalid score "
		"%lld, it should in "
		"the range of [0, 100] after normalizing",
		plugin->name, (long long)score);
	e->error = e->text.ptr;
}

/* Weighs the normalized scores and adds them up. Reports a score out of range for the first such node. */
static void weigh(const struct bt_plan *plan, struct bt_evaluation *e)
{
	BT_INVARIANT(e->feasible_n > 0);
	uint32_t n = e->feasible_n;

	for (uint32_t i = 0; i < n; i++) {
		e->totals[i] = 0;
		for (uint32_t k = 0; k < plan->profile->score_n; k++) {
			const struct bt_plugin_use *use = &plan->profile->uses[plan->profile->score[k]];
			int64_t *score = &e->scores[(size_t)k * n + i];

			if (*score < 0 || *score > BT_MAX_NODE_SCORE) {
				fail_range(e, use->plugin, *score);
				return;
			}
			*score = bt_wrap_mul(*score, use->weight);
			e->totals[i] = bt_wrap_add(e->totals[i], *score);
		}
	}
}

/* The error of a Score plugin in this cycle, or NULL. */
static const char *score_failure(const struct bt_plan *plan, const struct bt_view *view)
{
	for (uint32_t k = 0; k < plan->profile->score_n; k++) {
		uint32_t u = plan->profile->score[k];

		if (!plan->compiled[u].score_skip && plan->compiled[u].score_failure) {
			return bt_keep_text(view, "running Score plugins: plugin \"%s\" failed with: %s",
				plan->profile->uses[u].plugin->name, plan->compiled[u].score_failure);
		}
	}
	return NULL;
}

static void score_nodes(const struct bt_plan *plan, const struct bt_view *view, struct bt_evaluation *e)
{
	uint32_t n = e->feasible_n;
	size_t need = (size_t)n * plan->profile->score_n;

	e->error = plan->score_error ? plan->score_error : score_failure(plan, view);
	if (e->error) {
		return;
	}
	if (need > e->score_cap) {
		e->score_cap = need;
		e->scores = bt_mem_realloc(e->scores, need, sizeof(*e->scores));
	}
	for (uint32_t k = 0; k < plan->profile->score_n; k++) {
		uint32_t u = plan->profile->score[k];
		const struct bt_plugin_use *use = &plan->profile->uses[u];
		int64_t *scores = e->scores + (size_t)k * n;

		memset(scores, 0, n * sizeof(*scores));
		if (!plan->compiled[u].score_skip && use->plugin->score) {
			score_all(use->plugin, &plan->compiled[u], view, e, scores);
		}
	}
	weigh(plan, e);
}

void bt_evaluate_filters(const struct bt_plan *plan, const struct bt_view *view, const uint32_t *nodes,
	uint32_t node_n, uint32_t limit, struct bt_evaluation *out)
{
	BT_REQUIRE(!plan->refusal && !plan->pre_filter_error);
	reserve(out, node_n);
	out->visited_n = 0;
	out->feasible_n = 0;
	out->hook_unknown_n = 0;
	out->looks_empty = false;
	out->error = NULL;
	filter_nodes(plan, view, nodes, node_n, limit, out);
	if (!out->error && out->hooks && out->feasible_n) {
		run_hooks(out);
	}
	if (out->error) {
		/* A filter that fails on one node fails the cycle, whatever the other nodes. */
		out->feasible_n = 0;
	}
	BT_INVARIANT(out->feasible_n <= out->visited_n && out->visited_n <= node_n);
}

void bt_evaluate(const struct bt_plan *plan, const struct bt_view *view, const uint32_t *nodes,
	uint32_t node_n, uint32_t limit, struct bt_evaluation *out)
{
	bt_evaluate_filters(plan, view, nodes, node_n, limit, out);
	if (out->feasible_n == 0) {
		return;
	}
	if (plan->profile->score_n == 0 && !out->hooks) {
		for (uint32_t i = 0; i < out->feasible_n; i++) {
			out->totals[i] = 1;
		}
		return;
	}
	score_nodes(plan, view, out);
	/* A single node is chosen without scores. */
	if (!out->error && out->hooks && out->feasible_n > 1) {
		out->hooks->scored(out->hooks->context, out);
	}
}

uint32_t bt_evaluation_best(const struct bt_evaluation *e, uint32_t start)
{
	uint32_t best = 0;

	BT_REQUIRE(e->feasible_n > 0);
	for (uint32_t i = 1; i < e->feasible_n; i++) {
		/* Slots are ordered from start on, cyclically: unsigned subtraction wraps accordingly. */
		bool nearer = e->feasible[i] - start < e->feasible[best] - start;

		if (e->totals[i] > e->totals[best] || (e->totals[i] == e->totals[best] && nearer)) {
			best = i;
		}
	}
	BT_INVARIANT(best < e->feasible_n);
	return best;
}
