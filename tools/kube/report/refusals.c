/* SPDX-License-Identifier: Apache-2.0
 * Why a pod fits nowhere.
 */
#include "tools/kube/report/refusals.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/group_cycle.h"
#include "tools/kube/report/utilization.h"

static struct bt_refusal_row *add_row(struct bt_refusal_rows *rows, const char *plugin, struct bt_str text,
	uint64_t node_n, uint32_t first_ix)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct bt_refusal_row *row = &rows->items[i];

		if (strcmp(row->plugin, plugin) == 0 && bt_str_is(text, row->text)) {
			row->node_n += node_n;
			return row;
		}
	}
	rows->items = bt_mem_grow(rows->items, rows->n, &rows->cap, sizeof(*rows->items));
	rows->items[rows->n] = (struct bt_refusal_row){.plugin = plugin,
		.text = bt_mem_copy(text.ptr, text.len),
		.node_n = node_n,
		.nearest_ix = BT_NO_NODE,
		.first_ix = first_ix};
	return &rows->items[rows->n++];
}

static int by_nodes(const void *a, const void *b)
{
	const struct bt_refusal_row *x = a, *y = b;

	if (x->node_n != y->node_n) {
		return x->node_n > y->node_n ? -1 : 1;
	}
	return strcmp(x->text, y->text);
}

/* The largest share of a request that is missing. Returns: false when a reason has no numbers. */
static bool lacks(const struct bt_refusal *refusal, double *out_share)
{
	*out_share = 0;
	for (uint32_t r = 0; refusal->judge && r < refusal->rejection.n; r++) {
		const struct bt_reason *reason = &refusal->rejection.reasons[r];
		double short_of = (double)reason->wanted - (double)reason->available;

		if (!reason->has_numbers || reason->wanted <= 0) {
			return false;
		}
		double share = short_of / (double)reason->wanted;
		*out_share = share > *out_share ? share : *out_share;
	}
	return refusal->judge && refusal->rejection.n > 0;
}

struct bt_str bt_reason_resource(const struct bt_dictionary *dictionary, const struct bt_reason *reason)
{
	BT_REQUIRE(reason->has_numbers);
	return reason->arg == (uint32_t)BT_SLOT_PODS ? bt_str("pods")
						     : bt_resource_name(dictionary, reason->arg);
}

static void write_lack(struct bt_engine *engine, const struct bt_refusal *refusal, struct bt_buf *text)
{
	const struct bt_dictionary *dictionary = bt_engine_cache(engine)->dictionary;

	bt_buf_clear(text);
	for (uint32_t r = 0; r < refusal->rejection.n; r++) {
		const struct bt_reason *reason = &refusal->rejection.reasons[r];

		bt_buf_text(text, r ? ", " : "");
		const struct bt_str resource = bt_reason_resource(dictionary, reason);

		bt_amount_text(resource, (double)reason->wanted - (double)reason->available, text);
		bt_buf_printf(text, " %.*s", BT_STR_ARG(resource));
	}
}

/* Keeps the node among the nearest of all, in order. */
static void rank(struct bt_refusal_rows *rows, uint32_t node_ix, double share)
{
	uint32_t at = rows->nearest_n;

	if (at == BT_REFUSAL_NEAREST && share >= rows->nearest[at - 1].lacks) {
		return;
	}
	at -= at == BT_REFUSAL_NEAREST;
	for (; at > 0 && rows->nearest[at - 1].lacks > share; at--) {
		rows->nearest[at] = rows->nearest[at - 1];
	}
	rows->nearest[at] = (struct bt_refusal_near){node_ix, share};
	rows->nearest_n += rows->nearest_n < BT_REFUSAL_NEAREST;
}

static void note_nearest(struct bt_engine *engine, struct bt_refusal_rows *rows, struct bt_refusal_row *row,
	const struct bt_refusal *refusal, uint32_t node_ix, struct bt_buf *text)
{
	double share;

	if (!lacks(refusal, &share)) {
		return;
	}
	rank(rows, node_ix, share);
	if (row->lack_text && share >= row->lacks) {
		return;
	}
	write_lack(engine, refusal, text);
	bt_mem_free(row->lack_text);
	row->lack_text = bt_mem_copy(text->ptr, text->len);
	row->lacks = share;
	row->nearest_ix = node_ix;
}

static void add_fitting(
	struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix, struct bt_refusal_rows *rows)
{
	if (bt_engine_in_group(engine, pod_ix)) {
		add_row(rows, "GangScheduling",
			bt_str("waiting for minCount pods from a gang to be scheduled"), 1, node_ix);
	} else {
		add_row(rows, "", bt_str("fits now"), 1, node_ix);
	}
}

static void add_nodes(
	struct bt_engine *engine, const struct bt_explanation *explanation, struct bt_refusal_rows *rows)
{
	const struct bt_evaluation *evaluation = &explanation->evaluation;
	struct bt_refusal refusal;
	struct bt_buf text = {0};

	for (uint32_t i = 0; i < evaluation->visited_n; i++) {
		if (evaluation->refused_by[i] == BT_PASSED) {
			add_fitting(engine, explanation->pod_ix, evaluation->visited[i], rows);
			continue;
		}
		bt_explanation_refusal(engine, explanation, i, &refusal);
		bt_buf_clear(&text);
		for (uint32_t r = 0; r < bt_refusal_reason_n(&refusal); r++) {
			bt_buf_text(&text, r ? ", " : "");
			bt_refusal_reason(engine, &refusal, r, &text);
		}
		uint32_t node_ix = evaluation->visited[i];
		struct bt_refusal_row *row = add_row(rows, refusal.plugin, bt_buf_view(&text), 1, node_ix);

		note_nearest(engine, rows, row, &refusal, node_ix, &text);
	}
	bt_buf_fini(&text);
}

void bt_refusal_rows_of(
	struct bt_engine *engine, const struct bt_explanation *explanation, struct bt_refusal_rows *out)
{
	uint64_t node_n = bt_engine_cache(engine)->view.snapshot->node_n;
	uint32_t visited_n = explanation->evaluation.visited_n;

	*out = (struct bt_refusal_rows){0};
	if (explanation->refused || explanation->gated) {
		add_row(out, explanation->refusal.plugin, bt_str(explanation->refusal.text), node_n,
			BT_NO_NODE);
	} else if (explanation->error) {
		add_row(out, "", bt_str(explanation->error), node_n, BT_NO_NODE);
	} else {
		add_nodes(engine, explanation, out);
		if (visited_n < node_n) {
			add_row(out,
				explanation->plan->profile->uses[explanation->plan->narrowed_by].plugin->name,
				bt_str("the pod names other nodes"), node_n - visited_n, BT_NO_NODE);
		}
	}
	if (out->n) {
		qsort(out->items, out->n, sizeof(*out->items), by_nodes);
	}
}

void bt_refusal_rows_collect(struct bt_engine *engine, uint32_t pod_ix, struct bt_refusal_rows *out)
{
	struct bt_explanation explanation = {.filters_only = true};

	bt_engine_explain(engine, pod_ix, &explanation);
	bt_refusal_rows_of(engine, &explanation, out);
	bt_explanation_fini(&explanation);
}

void bt_refusal_rows_add(
	struct bt_refusal_rows *rows, const char *plugin, struct bt_str text, uint64_t node_n)
{
	(void)add_row(rows, plugin, text, node_n, BT_NO_NODE);
}

void bt_refusal_rows_fini(struct bt_refusal_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		bt_mem_free(rows->items[i].text);
		bt_mem_free(rows->items[i].lack_text);
	}
	bt_mem_free(rows->items);
}
