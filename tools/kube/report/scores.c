/* SPDX-License-Identifier: Apache-2.0
 * The scores of a pod's feasible nodes.
 */
#include "tools/kube/report/scores.h"

#include <stdlib.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"

/* A node's row while it is sorted. */
struct sorted {
	struct bt_score_row row;
	struct bt_str name;
};

static int best_first(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (x->row.total != y->row.total) {
		return x->row.total > y->row.total ? -1 : 1;
	}
	return bt_str_cmp(x->name, y->name);
}

static void copy_rows(
	struct bt_engine *engine, const struct bt_evaluation *evaluation, struct bt_score_rows *out)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const uint32_t n = evaluation->feasible_n;
	struct sorted *rows = bt_mem_zalloc(n, sizeof(*rows));

	for (uint32_t i = 0; i < n; i++) {
		const struct bt_node *node = &cache->view.snapshot->nodes[evaluation->feasible[i]];
		int64_t *scores = out->scores + (size_t)i * out->plugin_n;

		for (uint32_t k = 0; k < out->plugin_n; k++) {
			scores[k] = evaluation->scores[(size_t)k * n + i];
		}
		rows[i].row = (struct bt_score_row){evaluation->feasible[i], evaluation->totals[i], scores};
		rows[i].name = bt_intern_str(cache->dictionary->intern, node->name);
	}
	qsort(rows, n, sizeof(*rows), best_first);
	for (uint32_t i = 0; i < n; i++) {
		out->items[i] = rows[i].row;
	}
	bt_mem_free(rows);
}

void bt_score_rows_of(
	struct bt_engine *engine, const struct bt_explanation *explanation, struct bt_score_rows *out)
{
	const struct bt_evaluation *evaluation = &explanation->evaluation;
	const struct bt_profile *profile;

	*out = (struct bt_score_rows){0};
	if (!explanation->plan || explanation->error || evaluation->feasible_n == 0) {
		return;
	}
	profile = explanation->plan->profile;
	out->n = evaluation->feasible_n;
	out->plugin_n = profile->score_n;
	out->plugins = bt_mem_zalloc(out->plugin_n + 1, sizeof(*out->plugins));
	for (uint32_t k = 0; k < out->plugin_n; k++) {
		out->plugins[k] = profile->uses[profile->score[k]].plugin->name;
	}
	out->items = bt_mem_zalloc(out->n, sizeof(*out->items));
	out->scores = bt_mem_zalloc(out->n * out->plugin_n + 1, sizeof(*out->scores));
	copy_rows(engine, evaluation, out);
}

void bt_score_rows_fini(struct bt_score_rows *rows)
{
	bt_mem_free(rows->items);
	bt_mem_free(rows->plugins);
	bt_mem_free(rows->scores);
	*rows = (struct bt_score_rows){0};
}

const struct bt_score_row *bt_score_rows_find(const struct bt_score_rows *rows, uint32_t node_ix)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (rows->items[i].node_ix == node_ix) {
			return &rows->items[i];
		}
	}
	return NULL;
}

size_t bt_score_rows_tied(const struct bt_score_rows *rows)
{
	size_t n = 0;

	while (n < rows->n && rows->items[n].total == rows->items[0].total) {
		n++;
	}
	return n;
}

void bt_score_rows_difference(const struct bt_score_rows *rows, const struct bt_score_row *a,
	const struct bt_score_row *b, struct bt_buf *out)
{
	bool any = false;

	for (uint32_t k = 0; k < rows->plugin_n; k++) {
		int64_t more = a->scores[k] - b->scores[k];

		if (more != 0) {
			bt_buf_printf(out, "%s%s %+lld", any ? ", " : "", rows->plugins[k], (long long)more);
			any = true;
		}
	}
}
