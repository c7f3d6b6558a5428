/* SPDX-License-Identifier: Apache-2.0
 * Preemption in a transaction.
 */
#include "engine/flow/cycle/transaction.h"

#include "engine/flow/cycle/engine_int.h"
#include "engine/flow/cycle/transaction_int.h"

/* Sets a pod's nomination, in its status too; BT_NO_NODE clears it. */
static void nominate(struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	const struct bt_pod *pod = bt_transaction_pod(engine, pod_ix);
	struct bt_transaction_record *record = bt_transaction_record(engine, BT_RECORD_NOMINATED, pod_ix);

	record->nominated.nominated_ix = pod->nominated_ix;
	record->nominated.behind =
		pod->nominated_ix == BT_NO_NODE ? BT_NO_POD : bt_ledger_previous(ledger, pod_ix);
	record->nominated.status_node = pod->status_node;
	record->nominated.status_ix = pod->status_ix;
	bt_intern_hold_again(engine->cache->dictionary->intern, pod->status_node);
	bt_ledger_nominate(ledger, pod_ix, node_ix);
	bt_ledger_set_status_node(ledger, pod_ix,
		node_ix == BT_NO_NODE ? BT_NAME_NONE : engine->cache->view.snapshot->nodes[node_ix].name,
		node_ix);
}

void bt_transaction_undo_nomination(struct bt_engine *engine, const struct bt_transaction_record *record)
{
	struct bt_ledger *ledger = engine->cache->ledger;

	bt_ledger_set_status_node(
		ledger, record->pod_ix, record->nominated.status_node, record->nominated.status_ix);
	bt_intern_release(engine->cache->dictionary->intern, record->nominated.status_node);
	bt_ledger_nominate(ledger, record->pod_ix, BT_NO_NODE);
	if (record->nominated.nominated_ix != BT_NO_NODE) {
		bt_ledger_nominate_behind(
			ledger, record->pod_ix, record->nominated.nominated_ix, record->nominated.behind);
	}
}

/* Source: GetLowerPriorityNominatedPods, clearNominatedNodeName, v1.37.2. */
static void clear_lower_nominations(struct bt_engine *engine, uint32_t node_ix, int32_t priority)
{
	const struct bt_ledger *ledger = engine->cache->ledger;

	for (uint32_t next, i = bt_ledger_first_nominated(ledger, node_ix); i != BT_NO_POD; i = next) {
		next = bt_ledger_next(ledger, i);
		if (bt_ledger_pod(ledger, i)->priority < priority &&
			bt_queue_info(engine->queue, i).where != BT_WAIT_NOWHERE) {
			nominate(engine, i, BT_NO_NODE);
		}
	}
}

enum bt_outcome bt_transaction_preempt(struct bt_engine *engine, uint32_t pod_ix, uint32_t *out_node_ix,
	struct bt_transaction_preemption *out_preemption)
{
	struct bt_preemption *preemption = bt_transaction_take_refused(engine, pod_ix);

	*out_node_ix = BT_NO_NODE;
	*out_preemption = (struct bt_transaction_preemption){.victim_n = 0};
	if (bt_engine_try_post_filter(engine, pod_ix, preemption) != BT_PREEMPT_FOUND) {
		return BT_REFUSED;
	}
	*out_preemption = (struct bt_transaction_preemption){.victims = preemption->victims,
		.victim_n = preemption->victim_n,
		.violation_n = preemption->violation_n,
		.nominated_ix = preemption->node_ix};
	clear_lower_nominations(engine, preemption->node_ix, bt_transaction_pod(engine, pod_ix)->priority);
	for (uint32_t i = 0; i < preemption->victim_n; i++) {
		bt_transaction_evict(engine, preemption->victims[i].pod_ix);
	}
	nominate(engine, pod_ix, preemption->node_ix);
	enum bt_outcome outcome = bt_transaction_place(engine, pod_ix, out_node_ix);
	if (outcome != BT_PLACED) {
		nominate(engine, pod_ix, BT_NO_NODE);
	}
	return outcome;
}
