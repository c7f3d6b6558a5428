/* SPDX-License-Identifier: Apache-2.0
 * What the engine says about the pod at one time.
 */
#include "tools/offline/explain/record.h"

#include "cache/node_view.h"

#define ROWS_MAX 20 /* nodes with scores for people */

void bt_explain_record_make(struct bt_engine *engine, uint32_t pod_ix, struct bt_explain_record *out)
{
	struct bt_explanation explanation = {0};

	bt_explain_record_fini(out);
	bt_engine_explain(engine, pod_ix, &explanation);
	*out = (struct bt_explain_record){.made = true,
		.gated = explanation.gated,
		.failed = explanation.error != NULL,
		.node_ix = BT_NO_NODE};
	bt_score_rows_of(engine, &explanation, &out->scores);
	bt_refusal_rows_of(engine, &explanation, &out->refusals);
	if (explanation.gated) {
		bt_buf_text(&out->message, explanation.refusal.text ? explanation.refusal.text : "");
	} else if (out->scores.n == 0) {
		bt_engine_message(engine, &explanation, &out->message);
	}
	bt_explanation_fini(&explanation);
}

static struct bt_str name_of_node(struct bt_engine *engine, uint32_t node_ix)
{
	const struct bt_cache *cache = bt_engine_cache(engine);

	return node_ix == BT_NO_NODE
		       ? (struct bt_str){0}
		       : bt_intern_str(cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name);
}

void bt_explain_record_end(
	struct bt_engine *engine, const struct bt_decision *decision, struct bt_explain_record *record)
{
	record->node_ix = decision->outcome == BT_PLACED ? decision->node_ix : BT_NO_NODE;
	bt_buf_clear(&record->after);
	if (decision->outcome == BT_REFUSED && decision->victim_n) {
		bt_buf_printf(&record->after, "preempts %u %s on node %.*s", decision->victim_n,
			decision->victim_n == 1 ? "pod" : "pods",
			BT_STR_ARG(name_of_node(engine, decision->nominated_ix)));
	}
}

void bt_explain_record_fini(struct bt_explain_record *record)
{
	bt_score_rows_fini(&record->scores);
	bt_refusal_rows_fini(&record->refusals);
	bt_buf_fini(&record->message);
	bt_buf_fini(&record->after);
	*record = (struct bt_explain_record){0};
}

static void add_score(struct bt_emit *emit, struct bt_engine *engine, const struct bt_explain_record *record,
	const struct bt_score_row *row)
{
	const struct bt_score_rows *scores = &record->scores;

	bt_emit_begin_object(emit, NULL);
	bt_emit_text(emit, "mark", row->node_ix == record->node_ix ? "chosen" : "");
	bt_emit_label(emit, "");
	bt_emit_str(emit, "node", name_of_node(engine, row->node_ix));
	bt_emit_int(emit, "total", row->total);
	bt_emit_begin_object(emit, "scores");
	bt_emit_label(emit, ""); /* the plugins' names head the columns */
	for (uint32_t k = 0; k < scores->plugin_n; k++) {
		bt_emit_int(emit, scores->plugins[k], row->scores[k]);
	}
	bt_emit_end(emit);
	bt_emit_end(emit);
}

void bt_explain_record_scores(
	struct bt_emit *emit, struct bt_engine *engine, const struct bt_explain_record *record, bool all)
{
	const struct bt_score_row *chosen = bt_score_rows_find(&record->scores, record->node_ix);
	size_t shown = 0;

	if (chosen) {
		add_score(emit, engine, record, chosen);
		shown++;
	}
	for (size_t i = 0; i < record->scores.n && (all || shown < ROWS_MAX); i++) {
		if (&record->scores.items[i] != chosen) {
			add_score(emit, engine, record, &record->scores.items[i]);
			shown++;
		}
	}
}

void bt_explain_record_refusals(struct bt_emit *emit, struct bt_engine *engine,
	const struct bt_refusal_rows *refusals, const char *(*lacks)(const void *context, struct bt_str node),
	const void *context)
{
	for (size_t i = 0; i < refusals->n; i++) {
		const struct bt_refusal_row *row = &refusals->items[i];
		struct bt_str node =
			name_of_node(engine, row->nearest_ix == BT_NO_NODE ? row->first_ix : row->nearest_ix);
		const char *lack = lacks(context, node);

		bt_emit_begin_object(emit, NULL);
		bt_emit_int(emit, "nodes", (int64_t)row->node_n);
		bt_emit_text(emit, "plugin", row->plugin);
		bt_emit_text(emit, "reason", row->text);
		bt_emit_str(emit, "example", node);
		bt_emit_label(emit, "nearest of them");
		bt_emit_text(emit, "lacks", lack ? lack : row->lack_text ? row->lack_text : "");
		bt_emit_label(emit, "where the pod lacks");
		bt_emit_end(emit);
	}
}
