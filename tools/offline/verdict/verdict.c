/* SPDX-License-Identifier: Apache-2.0
 * Verdicts as JSON.
 */
#include "tools/offline/verdict/verdict.h"

#include <stdlib.h>

#include "engine/base/mem.h"
#include "tools/cli/json_write.h"

struct verdict_output {
	struct bt_json_writer json;
	struct bt_engine *engine;
	const struct bt_cache *cache;
	struct bt_explanation explanation;
	struct bt_buf text;
};

static const char *const code_names[] = {
	[BT_SUCCESS] = "Success",
	[BT_UNSCHEDULABLE] = "Unschedulable",
	[BT_UNSCHEDULABLE_AND_UNRESOLVABLE] = "UnschedulableAndUnresolvable",
	[BT_ERROR] = "Error",
};

static struct bt_str node_name(const struct verdict_output *w, uint32_t node_ix)
{
	return bt_intern_str(w->cache->dictionary->intern, w->cache->view.snapshot->nodes[node_ix].name);
}

static void write_text_refusal(struct verdict_output *w, const char *key, const struct bt_refusal *refusal)
{
	bt_json_write_key(&w->json, key);
	bt_json_write_begin_object(&w->json);
	bt_json_write_key(&w->json, "plugin");
	bt_json_write_text(&w->json, refusal->plugin);
	bt_json_write_key(&w->json, "code");
	bt_json_write_text(&w->json, code_names[refusal->rejection.code]);
	bt_json_write_key(&w->json, "reasons");
	bt_json_write_begin_array(&w->json);
	bt_json_write_text(&w->json, refusal->text);
	bt_json_write_end(&w->json);
	bt_json_write_end(&w->json);
}

static void write_rejection(struct verdict_output *w, uint32_t visited)
{
	struct bt_refusal refusal;

	bt_explanation_refusal(w->engine, &w->explanation, visited, &refusal);
	bt_json_write_key_str(&w->json, node_name(w, w->explanation.evaluation.visited[visited]));
	bt_json_write_begin_object(&w->json);
	bt_json_write_key(&w->json, "plugin");
	bt_json_write_text(&w->json, refusal.plugin);
	bt_json_write_key(&w->json, "code");
	bt_json_write_text(&w->json, code_names[refusal.rejection.code]);
	bt_json_write_key(&w->json, "reasons");
	bt_json_write_begin_array(&w->json);
	for (uint32_t i = 0; i < bt_refusal_reason_n(&refusal); i++) {
		bt_buf_clear(&w->text);
		bt_refusal_reason(w->engine, &refusal, i, &w->text);
		bt_json_write_str(&w->json, bt_buf_view(&w->text));
	}
	bt_json_write_end(&w->json);
	bt_json_write_end(&w->json);
}

static void write_rejected(struct verdict_output *w)
{
	const struct bt_evaluation *evaluation = &w->explanation.evaluation;
	bool any = false;

	for (uint32_t i = 0; i < evaluation->visited_n; i++) {
		if (evaluation->refused_by[i] == BT_PASSED) {
			continue;
		}
		if (!any) {
			bt_json_write_key(&w->json, "rejected");
			bt_json_write_begin_object(&w->json);
			any = true;
		}
		write_rejection(w, i);
	}
	if (any) {
		bt_json_write_end(&w->json);
	}
}

static void write_score(struct verdict_output *w, uint32_t i)
{
	const struct bt_evaluation *evaluation = &w->explanation.evaluation;
	const struct bt_profile *profile = w->explanation.plan->profile;

	bt_json_write_key_str(&w->json, node_name(w, evaluation->feasible[i]));
	bt_json_write_begin_object(&w->json);
	bt_json_write_key(&w->json, "total");
	bt_json_write_int(&w->json, evaluation->totals[i]);
	bt_json_write_key(&w->json, "plugins");
	bt_json_write_begin_object(&w->json);
	for (uint32_t k = 0; k < profile->score_n; k++) {
		bt_json_write_key(&w->json, profile->uses[profile->score[k]].plugin->name);
		bt_json_write_int(&w->json, evaluation->scores[(size_t)k * evaluation->feasible_n + i]);
	}
	bt_json_write_end(&w->json);
	bt_json_write_end(&w->json);
}

static int by_text(const void *a, const void *b)
{
	return bt_str_cmp(*(const struct bt_str *)a, *(const struct bt_str *)b);
}

static void write_names(struct verdict_output *w, const char *key, struct bt_str *names, uint32_t n)
{
	if (n) {
		qsort(names, n, sizeof(*names), by_text);
	}
	bt_json_write_key(&w->json, key);
	bt_json_write_begin_array(&w->json);
	for (uint32_t i = 0; i < n; i++) {
		bt_json_write_str(&w->json, names[i]);
	}
	bt_json_write_end(&w->json);
}

static void write_scores(struct verdict_output *w)
{
	const struct bt_evaluation *evaluation = &w->explanation.evaluation;
	struct bt_str *best = bt_mem_zalloc(evaluation->feasible_n, sizeof(*best));
	int64_t highest = INT64_MIN;
	uint32_t n = 0;

	bt_json_write_key(&w->json, "scores");
	bt_json_write_begin_object(&w->json);
	for (uint32_t i = 0; i < evaluation->feasible_n; i++) {
		write_score(w, i);
		highest = evaluation->totals[i] > highest ? evaluation->totals[i] : highest;
	}
	bt_json_write_end(&w->json);
	for (uint32_t i = 0; i < evaluation->feasible_n; i++) {
		if (evaluation->totals[i] == highest) {
			best[n++] = node_name(w, evaluation->feasible[i]);
		}
	}
	write_names(w, "best", best, n);
	bt_mem_free(best);
}

static void write_narrowed(struct verdict_output *w)
{
	const struct bt_plan *plan = w->explanation.plan;
	struct bt_str *names = bt_mem_zalloc(plan->candidate_n, sizeof(*names));

	for (uint32_t i = 0; i < plan->candidate_n; i++) {
		names[i] = node_name(w, plan->candidates[i]);
	}
	write_names(w, "narrowed", names, plan->candidate_n);
	bt_mem_free(names);
}

/* Preemption's victims, except pods that are being deleted already. */
static void write_preemption(struct verdict_output *w)
{
	const struct bt_preemption *preemption = &w->explanation.preemption;
	const struct bt_intern *intern = w->cache->dictionary->intern;
	struct bt_str *names = bt_mem_zalloc(preemption->victim_n, sizeof(*names));
	struct bt_arena arena = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < preemption->victim_n; i++) {
		const struct bt_pod *pod = bt_ledger_pod(w->cache->ledger, preemption->victims[i].pod_ix);

		if (pod->terminating) {
			continue;
		}
		bt_buf_clear(&w->text);
		bt_buf_printf(&w->text, "%.*s/%.*s",
			BT_STR_ARG(bt_intern_str(intern, pod->signature->namespace_)),
			BT_STR_ARG(bt_intern_str(intern, pod->name)));
		names[n++] = (struct bt_str){bt_arena_copy(&arena, w->text.ptr, w->text.len), w->text.len};
	}
	bt_json_write_key(&w->json, "preemptions");
	bt_json_write_begin_array(&w->json);
	bt_json_write_begin_object(&w->json);
	bt_json_write_key(&w->json, "node");
	bt_json_write_str(&w->json, node_name(w, preemption->node_ix));
	write_names(w, "victims", names, n);
	bt_json_write_end(&w->json);
	bt_json_write_end(&w->json);
	bt_arena_fini(&arena);
	bt_mem_free(names);
}

static void write_pod(struct verdict_output *w, uint32_t pod_ix)
{
	struct bt_explanation *explanation = &w->explanation;

	explanation->candidates_only = true; /* as in the oracle's verdicts */
	bt_engine_explain(w->engine, pod_ix, explanation);
	if (explanation->gated) {
		write_text_refusal(w, "gated", &explanation->refusal);
		return;
	}
	if (explanation->refused) {
		write_text_refusal(w, "preFilter", &explanation->refusal);
	} else if (explanation->narrowed) {
		write_narrowed(w);
	}
	write_rejected(w);
	if (explanation->error) {
		bt_json_write_key(&w->json, "error");
		bt_json_write_text(&w->json, explanation->error);
	} else if (explanation->evaluation.feasible_n) {
		write_scores(w);
	} else {
		bt_buf_clear(&w->text);
		bt_engine_message(w->engine, explanation, &w->text);
		bt_json_write_key(&w->json, "message");
		bt_json_write_str(&w->json, bt_buf_view(&w->text));
		if (explanation->preempts) {
			write_preemption(w);
		}
	}
}

static void verdict_begin(struct bt_json_writer *json, const struct bt_scenario *scenario)
{
	bt_json_write_begin_object(json);
	bt_json_write_key(json, "id");
	bt_json_write_str(json, scenario->id);
	bt_json_write_key(json, "pods");
	bt_json_write_begin_array(json);
}

static void begin_pod(struct bt_json_writer *json, struct bt_str name)
{
	bt_json_write_begin_object(json);
	bt_json_write_key(json, "pod");
	bt_json_write_str(json, name);
}

static void verdict_end(struct bt_json_writer *json)
{
	bt_json_write_end(json);
	bt_json_write_end(json);
	bt_buf_char(json->out, '\n');
}

void bt_verdict_write(
	const struct bt_scenario *scenario, struct bt_scenario_cluster *cluster, struct bt_buf *out_line)
{
	struct verdict_output w = {.json = {.out = out_line},
		.engine = cluster->engine,
		.cache = bt_engine_cache(cluster->engine)};

	verdict_begin(&w.json, scenario);
	for (uint32_t i = 0; i < scenario->pending.n; i++) {
		uint32_t pod_ix = bt_scenario_find(cluster, scenario->pending.items[i]);

		begin_pod(&w.json, scenario->pending.items[i]);
		if (pod_ix == BT_NO_POD) {
			bt_json_write_key(&w.json, "error");
			bt_json_write_text(&w.json, "this pending pod is not among the objects");
		} else {
			write_pod(&w, pod_ix);
		}
		bt_json_write_end(&w.json);
	}
	verdict_end(&w.json);
	bt_explanation_fini(&w.explanation);
	bt_buf_fini(&w.text);
}

void bt_verdict_write_error(const struct bt_scenario *scenario, struct bt_str error, struct bt_buf *out_line)
{
	struct bt_json_writer json = {.out = out_line};

	verdict_begin(&json, scenario);
	for (uint32_t i = 0; i < scenario->pending.n; i++) {
		begin_pod(&json, scenario->pending.items[i]);
		bt_json_write_key(&json, "error");
		bt_json_write_str(&json, error);
		bt_json_write_end(&json);
	}
	verdict_end(&json);
}
