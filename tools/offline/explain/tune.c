/* SPDX-License-Identifier: Apache-2.0
 * Finds the smallest change of an amount with which a pod is placed, by halving.
 */
#include "tools/offline/explain/search_int.h"

#include "engine/base/check.h"

/* The largest request, in whole steps, below the present one. */
static void tune_request(
	struct bt_explain_search *s, struct bt_explain_edit *edits, size_t n, size_t ix, uint32_t node_ix)
{
	struct bt_explain_edit *edit = &edits[ix];
	const struct bt_named_quantity *request = bt_explain_request_of(&s->subject->pod, edit);
	int64_t present = bt_explain_amount_of(request), step = bt_explain_step(request->name);
	int64_t good = edit->amount, low = good / step, high = (present - 1) / step + 1;

	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;

		edit->amount = middle * step;
		if (bt_explain_search_try(s, edits, n, node_ix)) {
			good = edit->amount;
			low = middle;
		} else {
			high = middle;
		}
	}
	edit->amount = good;
	edit->lowered = (double)(present - good) / (double)present;
}

/* The smallest maxSkew, or none when no limit is high enough, as on a node without the label. */
static void tune_spread(
	struct bt_explain_search *s, struct bt_explain_edit *edits, size_t n, size_t ix, uint32_t node_ix)
{
	struct bt_explain_edit *edit = &edits[ix];
	int64_t low = s->subject->pod.spec.spread[edit->item].max_skew;
	int64_t high = (int64_t)bt_ledger_pod_end(bt_engine_cache(s->trial.engine)->ledger) + low + 1;

	edit->amount = high < INT32_MAX ? high : INT32_MAX;
	high = edit->amount;
	if (!bt_explain_search_try(s, edits, n, node_ix)) {
		edit->amount = 0;
		return;
	}
	while (high - low > 1) {
		edit->amount = low + (high - low) / 2;
		if (bt_explain_search_try(s, edits, n, node_ix)) {
			high = edit->amount;
		} else {
			low = edit->amount;
		}
	}
	edit->amount = high;
}

void bt_explain_tune(struct bt_explain_search *s, struct bt_explain_edit *edits, size_t n, uint32_t node_ix)
{
	for (size_t i = 0; i < n; i++) {
		if (edits[i].kind == BT_EXPLAIN_REQUEST) {
			tune_request(s, edits, n, i, node_ix);
		} else if (edits[i].kind == BT_EXPLAIN_SPREAD) {
			tune_spread(s, edits, n, i, node_ix);
		}
	}
}
