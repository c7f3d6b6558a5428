/* SPDX-License-Identifier: Apache-2.0
 * The answer of a question from its state at the end.
 */
#include <string.h>

#include "cache/node_view.h"
#include "engine/base/mem.h"
#include "tools/kube/report/refusals.h"
#include "tools/offline/whatif/question_int.h"

static const struct bt_cache *cache_of(const struct bt_run *run)
{
	return bt_engine_cache(run->engine);
}

static struct bt_str text_of(const struct bt_run *run, uint32_t name)
{
	return bt_intern_str(cache_of(run)->dictionary->intern, name);
}

/* ---- utilization ---- */

static bool counts(const struct bt_run *run, uint32_t node_ix)
{
	return bt_bitmap_test(cache_of(run)->view.snapshot->live, node_ix) &&
	       !bt_bitmap_test(run->away, node_ix);
}

/* The percentage that is requested; -1: no node has any. */
static double percentage(const struct bt_run *run, struct bt_cells alloc, struct bt_cells used)
{
	double all = 0, use = 0;

	for (uint32_t i = 0; i < cache_of(run)->view.snapshot->slot_n; i++) {
		if (counts(run, i)) {
			all += (double)bt_cell(alloc, i);
			use += (double)bt_cell(used, i);
		}
	}
	return all > 0 ? use / all * 100 : -1;
}

void bt_run_measure(const struct bt_run *run, struct bt_run_sums *out_sums)
{
	const struct bt_view *view = &cache_of(run)->view;
	uint32_t count = (uint32_t)bt_resource_count(cache_of(run)->dictionary);
	uint32_t n = count < BT_FIRST_RARE ? count : BT_FIRST_RARE;

	out_sums->n = (size_t)n + 1;
	out_sums->uses = bt_mem_zalloc(out_sums->n, sizeof(*out_sums->uses));
	for (uint32_t slot = 0; slot < n; slot++) {
		out_sums->uses[slot] =
			(struct bt_answer_use){.resource = bt_resource_name(cache_of(run)->dictionary, slot),
				.before = percentage(run, bt_alloc_cells(view->snapshot, slot),
					bt_used_cells(view->usage, slot))};
	}
	out_sums->uses[n] = (struct bt_answer_use){.resource = BT_STR("pods"),
		.before = percentage(run, bt_room_cells(view->snapshot), bt_pod_cells(view->usage))};
}

void bt_run_sums_fini(struct bt_run_sums *sums)
{
	bt_mem_free(sums->uses);
	*sums = (struct bt_run_sums){0};
}

/* A resource that nodes have only before or only after is 0 % on the other side. */
static void answer_uses(const struct bt_run *run, struct bt_arena *arena, struct bt_whatif_answer *out)
{
	struct bt_run_sums after;

	bt_run_measure(run, &after);
	out->uses = bt_arena_zalloc(arena, after.n * sizeof(*out->uses));
	for (size_t i = 0; i < after.n; i++) {
		/* A question may add resources; "pods" stays the last one. */
		size_t at = i + 1 == after.n ? run->before.n - 1 : i < run->before.n - 1 ? i : SIZE_MAX;
		double before = at == SIZE_MAX ? -1 : run->before.uses[at].before, now = after.uses[i].before;

		if (before >= 0 || now >= 0) {
			out->uses[out->use_n++] = (struct bt_answer_use){
				after.uses[i].resource, before > 0 ? before : 0, now > 0 ? now : 0};
		}
	}
	bt_run_sums_fini(&after);
}

/* ---- pods ---- */

static struct bt_str copy_str(struct bt_arena *arena, struct bt_str text)
{
	return (struct bt_str){bt_arena_copy(arena, text.len ? text.ptr : "", text.len), text.len};
}

static struct bt_str name_of_node(const struct bt_run *run, struct bt_arena *arena, uint32_t node_ix)
{
	return node_ix == BT_NO_NODE
		       ? (struct bt_str){0}
		       : copy_str(arena, text_of(run, cache_of(run)->view.snapshot->nodes[node_ix].name));
}

/* Without the dots that a question has added. */
static struct bt_str name_of_pod(const struct bt_run *run, struct bt_arena *arena, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(cache_of(run)->ledger, pod_ix);
	struct bt_str name = text_of(run, pod->name);
	struct bt_buf text = {0};

	while (name.len > 0 && name.ptr[name.len - 1] == '.') {
		name.len--;
	}
	bt_buf_printf(
		&text, "%.*s/%.*s", BT_STR_ARG(text_of(run, pod->signature->namespace_)), BT_STR_ARG(name));
	struct bt_str copy = copy_str(arena, bt_buf_view(&text));
	bt_buf_fini(&text);
	return copy;
}

static enum bt_fate fate_of(const struct bt_run_pod *pod)
{
	const bool placed = pod->state == BT_RUN_PLACED;

	if (pod->fate != BT_FATE_N) {
		return pod->fate;
	}
	if (pod->is_new) {
		return placed			    ? BT_FATE_ADDED
		       : pod->state == BT_RUN_WAITS ? BT_FATE_ADDED_PENDING
						    : BT_FATE_DELETED;
	}
	if (pod->displaced_n) {
		return placed ? BT_FATE_PLACED : BT_FATE_UNPLACED;
	}
	if (pod->preempted_n && !pod->was_pending) {
		return placed ? BT_FATE_PREEMPTED : BT_FATE_PREEMPTED_UNPLACED;
	}
	return pod->was_pending && placed ? BT_FATE_NOW_FITS : BT_FATE_N;
}

static bool is_refused(enum bt_fate fate)
{
	return fate == BT_FATE_UNPLACED || fate == BT_FATE_ADDED_PENDING ||
	       fate == BT_FATE_PREEMPTED_UNPLACED;
}

/* "12 Insufficient cpu (0.3 cpu short on node-7), 2 node(s) were unschedulable". */
static struct bt_str explain(const struct bt_run *run, struct bt_arena *arena, uint32_t pod_ix)
{
	struct bt_refusal_rows rows;
	struct bt_buf text = {0};

	bt_refusal_rows_collect(run->engine, pod_ix, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		const struct bt_refusal_row *row = &rows.items[i];

		bt_buf_text(&text, i ? ", " : "");
		if (row->node_n) {
			bt_buf_printf(&text, "%llu ", (unsigned long long)row->node_n);
		}
		bt_buf_text(&text, row->text);
		if (row->lack_text && row->nearest_ix != BT_NO_NODE) {
			bt_buf_printf(&text, " (%s short on %.*s)", row->lack_text,
				BT_STR_ARG(text_of(
					run, cache_of(run)->view.snapshot->nodes[row->nearest_ix].name)));
		}
	}
	bt_refusal_rows_fini(&rows);
	struct bt_str copy = copy_str(arena, bt_buf_view(&text));
	bt_buf_fini(&text);
	return copy;
}

/* Explains a pod as far as the question asks for that: equal pods once. */
static struct bt_str reason_of(const struct bt_run *run, struct bt_arena *arena, const struct bt_run_pod *pod,
	struct bt_map *explained, const struct bt_whatif_answer *out)
{
	const struct bt_pod *now = bt_ledger_pod(cache_of(run)->ledger, pod->now_ix);
	uint64_t key = now->signature->serial;
	uint32_t at;

	if (bt_map_get(explained, key, &at)) {
		return out->pods[at].reason;
	}
	if (!run->question->explains_all && explained->count) {
		return (struct bt_str){0};
	}
	bt_map_put(explained, key, (uint32_t)out->pod_n);
	return explain(run, arena, pod->now_ix);
}

static void answer_pods(const struct bt_run *run, struct bt_arena *arena, struct bt_whatif_answer *out)
{
	struct bt_map explained = {0};

	out->pods = bt_arena_zalloc(arena, (run->pod_n + 1) * sizeof(*out->pods));
	for (size_t i = 0; i < run->pod_n; i++) {
		const struct bt_run_pod *pod = &run->pods[i];
		enum bt_fate fate = fate_of(pod);

		out->pending_n += pod->was_pending && pod->state == BT_RUN_WAITS && fate == BT_FATE_N;
		if (fate == BT_FATE_N) {
			continue;
		}
		struct bt_answer_pod row = {.name = name_of_pod(run, arena, pod->first_ix),
			.from = name_of_node(run, arena, pod->from_ix),
			.to = name_of_node(run, arena, pod->state == BT_RUN_PLACED ? pod->to_ix : BT_NO_NODE),
			.fate = fate};

		if (is_refused(fate)) {
			row.reason = reason_of(run, arena, pod, &explained, out);
			if (!out->example.len) {
				out->example = row.name;
				out->reason = row.reason;
			}
		}
		out->fates[fate]++;
		out->pods[out->pod_n++] = row;
	}
	bt_map_fini(&explained);
}

/* ---- budgets ---- */

static struct bt_str name_of_budget(const struct bt_run *run, struct bt_arena *arena, size_t b)
{
	const struct bt_budget *budget = &cache_of(run)->budgets.items[b];
	struct bt_buf text = {0};

	bt_buf_printf(&text, "%.*s/%.*s", BT_STR_ARG(text_of(run, budget->namespace_)),
		BT_STR_ARG(text_of(run, budget->name)));
	struct bt_str copy = copy_str(arena, bt_buf_view(&text));
	bt_buf_fini(&text);
	return copy;
}

static void answer_budgets(const struct bt_run *run, struct bt_arena *arena, struct bt_whatif_answer *out)
{
	const struct bt_budget_use *use = &run->budgets;

	out->budgets = bt_arena_zalloc(arena, (use->n + 1) * sizeof(*out->budgets));
	for (size_t b = 0; b < use->n; b++) {
		if (use->forbidden[b] || use->violated[b]) {
			out->budgets[out->budget_n++] = (struct bt_answer_budget){
				name_of_budget(run, arena, b), use->forbidden[b], use->violated[b]};
		}
	}
}

static void answer_preemptions(const struct bt_run *run, struct bt_arena *arena, struct bt_whatif_answer *out)
{
	out->preemptions = bt_arena_zalloc(arena, (run->preemption_n + 1) * sizeof(*out->preemptions));
	for (size_t i = 0; i < run->preemption_n; i++) {
		const struct bt_run_preemption *preemption = &run->preemptions[i];

		out->preemptions[out->preemption_n++] = (struct bt_answer_preemption){
			.pod = name_of_pod(run, arena, run->pods[preemption->pod].first_ix),
			.by = name_of_pod(run, arena, run->pods[preemption->by].first_ix),
			.node = name_of_node(run, arena, preemption->node_ix),
			.budget = preemption->budget == SIZE_MAX
					  ? (struct bt_str){0}
					  : name_of_budget(run, arena, preemption->budget)};
	}
}

void bt_run_answer(struct bt_run *run, struct bt_arena *arena, struct bt_whatif_answer *out)
{
	*out = (struct bt_whatif_answer){.node_n = run->node_n,
		.displaced_n = run->displaced_n,
		.forbidden_n = run->forbidden_n,
		.violated_n = run->violated_n};
	answer_uses(run, arena, out);
	answer_budgets(run, arena, out);
	answer_preemptions(run, arena, out);
	answer_pods(run, arena, out);
}
