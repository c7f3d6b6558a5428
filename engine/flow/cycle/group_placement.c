/* SPDX-License-Identifier: Apache-2.0
 * Placements of a PodGroup: generation, trials, choice.
 */
#include "engine/flow/cycle/group_placement.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"

void bt_placements_fini(struct bt_placements *p)
{
	bt_mem_free(p->items);
	bt_mem_free(p->pods);
	bt_mem_free(p->signatures);
	bt_mem_free(p->nodes);
	bt_mem_free(p->part_of);
	bt_mem_free(p->scores);
	*p = (struct bt_placements){.n = 0};
}

/* ---- generation ---- */

void bt_placements_add_pod(struct bt_placements *p, const struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);
	const struct bt_snapshot *snapshot = engine->cache->view.snapshot;

	BT_REQUIRE(pod->node_ix != BT_NO_NODE);
	p->pods = bt_mem_grow(p->pods, p->pod_n, &p->pod_cap, sizeof(*p->pods));
	uint32_t leaf =
		p->pod_n ? p->pods[p->pod_n - 1].leaf + (p->last_group != pod->signature->pod_group) : 0;
	p->last_group = pod->signature->pod_group;
	p->pods[p->pod_n++] = (struct bt_group_pod){.namespace_ = pod->signature->namespace_,
		.name = pod->name,
		.leaf = leaf,
		.node_ix = bt_bitmap_test(snapshot->live, pod->node_ix) ? pod->node_ix : BT_NO_NODE,
		.node = snapshot->nodes[pod->node_ix].name};
}

static int by_leaf_and_name(const void *a, const void *b, void *context)
{
	const struct bt_group_pod *x = a, *y = b;
	const struct bt_intern *intern = context;

	if (x->leaf != y->leaf) {
		return x->leaf < y->leaf ? -1 : 1;
	}
	return bt_str_cmp(bt_intern_str(intern, x->name), bt_intern_str(intern, y->name));
}

/* Are all pods in one domain? */
static bool agree(const struct bt_placements *p, const uint32_t *domains)
{
	for (size_t i = 0; i < p->pod_n; i++) {
		const uint32_t node_ix = p->pods[i].node_ix;

		if (node_ix == BT_NO_NODE || domains[node_ix] == BT_NAME_NONE ||
			domains[node_ix] != domains[p->pods[0].node_ix]) {
			return false;
		}
	}
	return true;
}

/* Sorts the pods where the result depends on their order; upstream takes them from a map. */
static void sort_pods(struct bt_placements *p, const struct bt_engine *engine, const uint32_t *domains)
{
	if (!agree(p, domains)) {
		qsort_r(p->pods, p->pod_n, sizeof(*p->pods), by_leaf_and_name,
			engine->cache->dictionary->intern);
	}
}

static int by_text(const void *a, const void *b)
{
	const struct bt_placement *x = a, *y = b;

	return bt_str_cmp(x->text, y->text);
}

static uint32_t add_placement(struct bt_placements *p, const struct bt_engine *engine, uint32_t domain)
{
	size_t n = p->n;

	p->items = bt_mem_grow(p->items, n, &p->cap, sizeof(*p->items));
	p->items[n] = (struct bt_placement){.domain = domain, .text = bt_engine_name(engine, domain)};
	return p->n++;
}

/* Counts the nodes of each domain; places: index in items plus one, by domain. */
static void count_nodes(struct bt_placements *p, struct bt_engine *engine, const struct bt_division *division,
	const uint32_t *domains, struct bt_map *places)
{
	const uint32_t *nodes = bt_node_list_live(&engine->nodes);

	for (uint32_t i = 0; i < bt_node_list_n(&engine->nodes); i++) {
		uint32_t domain = domains[nodes[i]], ix;

		if (domain == BT_NAME_NONE || (division->only != BT_NAME_NONE && domain != division->only)) {
			continue;
		}
		if (!bt_map_get(places, domain, &ix)) {
			ix = add_placement(p, engine, domain);
			bt_map_put(places, domain, ix);
		}
		p->items[ix].own.n++;
	}
}

static void reserve_nodes(struct bt_placements *p, const struct bt_engine *engine)
{
	uint32_t slot_n = engine->cache->view.snapshot->slot_n;
	size_t node_n = 3 * (size_t)bt_node_list_n(&engine->nodes);

	if (p->node_cap < node_n) {
		p->nodes = bt_mem_realloc(p->nodes, node_n, sizeof(*p->nodes));
		p->node_cap = node_n;
	}
	if (p->slot_cap < slot_n) {
		p->part_of = bt_mem_realloc(p->part_of, slot_n, sizeof(*p->part_of));
		p->slot_cap = slot_n;
	}
	if (slot_n) {
		memset(p->part_of, 0xff, slot_n * sizeof(*p->part_of));
	}
}

/* Adds a node to its part's list, which begins at from and has n nodes so far. */
static void list_nodes(struct bt_placements *p, struct bt_engine *engine, struct bt_map *places,
	const uint32_t *domains, bool in_order)
{
	const uint32_t *nodes =
		in_order ? bt_node_list_order(&engine->nodes) : bt_node_list_live(&engine->nodes);

	for (uint32_t i = 0; i < bt_node_list_n(&engine->nodes); i++) {
		uint32_t ix;

		if (domains[nodes[i]] == BT_NAME_NONE || !bt_map_get(places, domains[nodes[i]], &ix)) {
			continue;
		}
		struct bt_placement *placement = &p->items[ix];
		uint32_t n = placement->own.n;
		uint32_t *at = &p->nodes[placement->from + placement->n++];

		at[0] = nodes[i];
		if (in_order) {
			at[n] = nodes[i];
		} else {
			p->part_of[nodes[i]] = ix;
		}
	}
}

static void divide(struct bt_placements *p, struct bt_engine *engine, const struct bt_division *division,
	const uint32_t *domains)
{
	struct bt_map places = {0};
	size_t at = 0;

	count_nodes(p, engine, division, domains, &places);
	if (p->n > 1) {
		qsort(p->items, p->n, sizeof(*p->items), by_text);
	}
	reserve_nodes(p, engine);
	for (uint32_t i = 0; i < p->n; i++) {
		struct bt_placement *placement = &p->items[i];

		bt_map_put(&places, placement->domain, i);
		placement->own.nodes = p->nodes + at;
		placement->own.order = p->nodes + at + placement->own.n;
		placement->own.part_of = p->part_of;
		placement->own.ix = i;
		placement->own.number = bt_node_list_number(&engine->nodes);
		placement->from = at;
		at += 3 * (size_t)placement->own.n;
	}
	list_nodes(p, engine, &places, domains, false);
	list_nodes(p, engine, &places, domains, true);
	for (uint32_t i = 0; i < p->n; i++) {
		struct bt_placement *placement = &p->items[i];
		bool all = placement->own.n == engine->cache->view.snapshot->node_n;

		BT_INVARIANT(placement->n == 2 * (size_t)placement->own.n);
		placement->part = all ? NULL : &placement->own;
	}
	bt_map_fini(&places);
}

enum bt_placement_fit bt_placements_generate(struct bt_placements *p, struct bt_engine *engine,
	const struct bt_profile_runtime *runtime, const struct bt_group_state *group, struct bt_buf *out_text)
{
	const struct bt_hooks *hooks = &runtime->profile.placement_generate;
	struct bt_placement_generate_env env = {
		.view = &engine->cache->view, .group = group, .pods = p->pods, .pod_n = (uint32_t)p->pod_n};
	struct bt_division division = {.divides = false};

	p->n = 0;
	bt_node_list_follow(&engine->nodes, engine->cache->view.snapshot);
	bt_node_list_follow_order(&engine->nodes, engine->cache->snapshot);
	if (group->topology_key != BT_NAME_NONE) {
		env.domains = bt_snapshot_label_column(engine->cache->snapshot, group->topology_key);
		sort_pods(p, engine, env.domains);
	}
	if (hooks->n && !hooks->items[0].plugin->placement_generate(&env, &division, out_text)) {
		return BT_PLACEMENT_FAILS;
	}
	if (!division.divides) {
		add_placement(p, engine, BT_NAME_NONE);
		p->items[0].part = bt_node_list_part(&engine->nodes);
		return BT_PLACEMENT_FITS;
	}
	divide(p, engine, &division, env.domains);
	if (p->n == 0) {
		bt_buf_text(out_text, "no feasible placements found");
	}
	return p->n ? BT_PLACEMENT_FITS : BT_PLACEMENT_UNFIT;
}

/* ---- scores ---- */

void bt_placements_add_signature(struct bt_placements *p, const struct bt_signature *signature)
{
	p->signatures = bt_mem_grow(
		p->signatures, p->signature_n, &p->signature_cap, sizeof(const struct bt_signature *));
	p->signatures[p->signature_n++] = signature;
}

/* Source: RunPlacementScorePlugins, v1.37.2. */
static void score(struct bt_placements *p, const struct bt_placement_request *request, uint32_t ix)
{
	const struct bt_hooks *hooks = &request->runtime->profile.placement_score;
	const struct bt_node_part *part = p->items[ix].part;
	struct bt_placement_score_env env = {.view = &request->engine->cache->view,
		.group = request->group,
		.nodes = bt_node_list_live(&request->engine->nodes),
		.node_n = bt_node_list_n(&request->engine->nodes),
		.pods = p->signatures,
		.pod_n = (uint32_t)p->signature_n};

	BT_INVARIANT(bt_node_list_part(&request->engine->nodes) == part);
	for (uint32_t i = 0; i < hooks->n; i++) {
		env.settings = hooks->items[i].settings;
		p->scores[i * p->n + ix] = hooks->items[i].plugin->placement_score(&env);
	}
}

/* Sums the plugins' scores of the placements that fit. Returns: false when a plugin fails. */
static bool sum_up(struct bt_placements *p, const struct bt_placement_request *request, uint32_t fit_n,
	struct bt_buf *out_text)
{
	const struct bt_hooks *hooks = &request->runtime->profile.placement_score;

	for (uint32_t i = 0; i < hooks->n; i++) {
		const struct bt_hook *hook = &hooks->items[i];
		int64_t *scores = &p->scores[i * p->n];
		uint32_t n = 0;

		for (uint32_t k = 0; k < p->n; k++) {
			if (p->items[k].fits) {
				scores[n++] = scores[k];
			}
		}
		BT_INVARIANT(n == fit_n);
		const char *why = hook->plugin->placement_normalize
					  ? hook->plugin->placement_normalize(scores, n)
					  : NULL;
		if (why) {
			bt_buf_printf(out_text,
				"running NormalizePlacementScore on PlacementScore plugins: plugin \"%s\" "
				"failed "
				"with: %s",
				hook->plugin->name, why);
			return false;
		}
		for (uint32_t k = p->n; k-- > 0;) {
			if (p->items[k].fits) {
				p->items[k].score += scores[--n] * hook->weight;
			}
		}
	}
	return true;
}

/* The best placement, among equals the first at or after start. Requires: one fits. */
static uint32_t best_of(const struct bt_placements *p, uint32_t start)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t k = (start + i) % p->n;

		if (p->items[k].fits && (best == UINT32_MAX || p->items[k].score > p->items[best].score)) {
			best = k;
		}
	}
	BT_INVARIANT(best < p->n);
	return best;
}

/* ---- trials ---- */

static uint16_t profile_of(const struct bt_placement_request *request)
{
	return bt_profile_runtimes_ix(&request->engine->runtimes, request->runtime);
}

/* Source: RecordGeneratedPlacements, v1.37.2. */
static void note_placements(const struct bt_placements *p, const struct bt_placement_request *request)
{
	const uint16_t labels[4] = {profile_of(request)};

	for (uint32_t i = 0; request->measured && request->engine->metrics && i < p->n; i++) {
		bt_cycle_metrics_note(request->engine->metrics, BT_CYCLE_METRIC_PLACEMENTS, labels, 0);
	}
}

static enum bt_placement_fit decide(
	struct bt_placements *p, const struct bt_placement_request *request, uint32_t ix, bool trial)
{
	p->signature_n = 0;
	bt_node_list_restrict(&request->engine->nodes, p->items[ix].part);
	return request->decide(request->context, &p->items[ix], trial);
}

/* The same with metrics. Source: ObservePlacementEvaluation, v1.37.2. */
static enum bt_placement_fit decide_measured(
	struct bt_placements *p, const struct bt_placement_request *request, uint32_t ix, bool trial)
{
	int64_t begin_ns = request->engine->metrics ? bt_clock_monotonic_ns() : 0;
	enum bt_placement_fit fit = decide(p, request, ix, trial);
	const uint16_t labels[4] = {fit == BT_PLACEMENT_FITS, profile_of(request)};

	if (request->measured && request->engine->metrics && fit != BT_PLACEMENT_FAILS) {
		bt_cycle_metrics_note(request->engine->metrics, BT_CYCLE_METRIC_PLACEMENT, labels,
			bt_clock_monotonic_ns() - begin_ns);
	}
	return fit;
}

/* Tries all placements, until one fails. Records the state at the start of each. */
static struct bt_placement_choice try_all(struct bt_placements *p, const struct bt_placement_request *request,
	struct bt_turn *turns, uint32_t start, struct bt_buf *out_text)
{
	struct bt_placement_choice choice = {.fit = BT_PLACEMENT_UNFIT};
	uint32_t fit_n = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		turns[i] = bt_engine_turn(request->engine);
		enum bt_placement_fit fit = decide_measured(p, request, i, true);

		if (fit == BT_PLACEMENT_FAILS) {
			return (struct bt_placement_choice){.fit = fit, .ix = i};
		}
		p->items[i].fits = fit == BT_PLACEMENT_FITS;
		p->items[i].score = 0;
		fit_n += p->items[i].fits;
		if (p->items[i].fits) {
			score(p, request, i);
		}
	}
	if (fit_n > 1 && !sum_up(p, request, fit_n, out_text)) {
		return (struct bt_placement_choice){.fit = BT_PLACEMENT_FAILS, .undecided = true};
	}
	if (fit_n) {
		choice = (struct bt_placement_choice){.fit = BT_PLACEMENT_FITS, .ix = best_of(p, start)};
	}
	return choice;
}

static void reserve_scores(struct bt_placements *p, const struct bt_placement_request *request)
{
	size_t n = p->n * (size_t)request->runtime->profile.placement_score.n;

	if (p->score_cap < n) {
		p->scores = bt_mem_realloc(p->scores, n, sizeof(*p->scores));
		p->score_cap = n;
	}
}

struct bt_placement_choice bt_placements_try(
	struct bt_placements *p, const struct bt_placement_request *request, struct bt_buf *out_text)
{
	struct bt_engine *engine = request->engine;
	const struct bt_node_part *before = bt_node_list_part(&engine->nodes);
	uint32_t start = request->first
				 ? 0
				 : (uint32_t)(bt_rng_at(engine->options.seed, engine->counts.cycle_n) % p->n);
	struct bt_placement_choice choice = {.ix = 0};

	BT_REQUIRE(p->n > 0);
	note_placements(p, request);
	if (p->n == 1 && !request->trials) {
		choice.fit = decide_measured(p, request, 0, false);
		bt_node_list_restrict(&engine->nodes, before);
		return choice;
	}
	struct bt_turn *turns = bt_mem_zalloc(p->n, sizeof(*turns));

	reserve_scores(p, request);
	choice = try_all(p, request, turns, start, out_text);
	if (!request->trials && !choice.undecided) {
		struct bt_turn end = bt_engine_turn(engine);

		bt_engine_set_turn(engine, turns[choice.ix]);
		choice.fit = decide(p, request, choice.ix, false);
		bt_engine_set_turn(engine, end);
	}
	bt_mem_free(turns);
	bt_node_list_restrict(&engine->nodes, before);
	return choice;
}

void bt_placements_write_none(const struct bt_placements *p, struct bt_str first, struct bt_buf *out_text)
{
	bt_buf_printf(out_text, "0/%u placements are available, first placement status: %.*s", p->n,
		BT_STR_ARG(first));
}
