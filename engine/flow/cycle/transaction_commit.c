/* SPDX-License-Identifier: Apache-2.0
 * The commit of a transaction: what remains of it is carried out as events and decisions (I4).
 */
#include "engine/flow/cycle/transaction_int.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"

/* A change that the commit carries out. It refers to objects by name, as indices and slots may move. */
struct net_change {
	struct bt_delta delta;	   /* of a pod or a node that is new, changed or deleted */
	bool is_placement;	   /* a decision instead of the delta */
	uint32_t namespace_, name; /* of the pod; held */
	uint32_t node;		   /* a name; held */
	uint64_t cycle_n;
};

/* The delta of an added pod. */
static struct bt_delta delta_of_pod(const struct bt_engine *engine, uint32_t pod_ix)
{
	struct bt_intern *intern = engine->cache->dictionary->intern;
	struct bt_pod pod = *bt_transaction_pod(engine, pod_ix);
	bool on_node = pod.state == BT_POD_SCHEDULED;
	uint32_t node = on_node ? engine->cache->view.snapshot->nodes[pod.node_ix].name : BT_NAME_NONE;

	pod.signature = pod.signature->assumed_of ? pod.signature->assumed_of : pod.signature;
	pod.node_ix = pod.status_ix = BT_NO_NODE;
	bt_signature_hold(pod.signature);
	bt_intern_hold_again(intern, pod.name);
	bt_intern_hold_again(intern, pod.uid);
	bt_intern_hold_again(intern, pod.gates);
	bt_intern_hold_again(intern, pod.status_node);
	bt_intern_hold_again(intern, node);
	return (struct bt_delta){.kind = BT_KIND_POD,
		.status = BT_OK,
		.namespace_ = pod.signature->namespace_,
		.name = pod.name,
		.holder = intern,
		.pod = {.pod = pod, .node = node}};
}

static struct bt_delta delta_of_removal(
	const struct bt_engine *engine, enum bt_kind kind, uint32_t namespace_, uint32_t name)
{
	struct bt_intern *intern = engine->cache->dictionary->intern;
	struct bt_delta delta;

	bt_ingest_describe_removal(engine->cache->worker, kind, bt_intern_str(intern, namespace_),
		bt_intern_str(intern, name), &delta);
	return delta;
}

static struct bt_delta delta_of_node(const struct bt_engine *engine, const struct bt_node_change *change)
{
	struct bt_intern *intern = engine->cache->dictionary->intern;

	if (!change->new) {
		return delta_of_removal(engine, BT_KIND_NODE, BT_NAME_EMPTY, change->old->name);
	}
	bt_intern_hold_again(intern, change->new->name);
	return (struct bt_delta){.kind = BT_KIND_NODE,
		.namespace_ = BT_NAME_EMPTY,
		.name = change->new->name,
		.holder = intern,
		.node = {.desc = change->new, .slot = BT_NO_NODE}};
}

static struct net_change placement_of(
	const struct bt_engine *engine, const struct bt_transaction_record *record)
{
	struct bt_intern *intern = engine->cache->dictionary->intern;
	const struct bt_pod *pod = bt_transaction_pod(engine, record->pod_ix);
	struct net_change change = {.is_placement = true,
		.namespace_ = pod->signature->namespace_,
		.name = pod->name,
		.node = engine->cache->view.snapshot->nodes[pod->node_ix].name,
		.cycle_n = record->placed.cycle_n};

	bt_intern_hold_again(intern, change.namespace_);
	bt_intern_hold_again(intern, change.name);
	bt_intern_hold_again(intern, change.node);
	return change;
}

/* The net change of a record at the transaction's end: for a pod that is evicted then, its deletion, unless
 * it was also added. Returns: whether there is one. */
static bool net_change_of(struct bt_engine *engine, size_t at, struct net_change *out)
{
	const struct bt_transactions *t = &engine->transactions;
	const struct bt_transaction_record *record = &t->records[at];
	bool is_new = bt_transaction_newest(engine, BT_RECORD_ADDED, record->pod_ix) != BT_NO_RECORD;

	*out = (struct net_change){.cycle_n = 0};
	switch (record->kind) {
	case BT_RECORD_ADDED:
		if (bt_transaction_has_evicted(engine, record->pod_ix)) {
			return false;
		}
		out->delta = delta_of_pod(engine, record->pod_ix);
		return true;
	case BT_RECORD_PLACED:
		if (bt_transaction_has_evicted(engine, record->pod_ix)) {
			return false;
		}
		*out = placement_of(engine, record);
		return true;
	case BT_RECORD_EVICTED:
		if (is_new || bt_transaction_newest(engine, BT_RECORD_EVICTED, record->pod_ix) != at) {
			return false;
		}
		out->delta = delta_of_removal(engine, BT_KIND_POD,
			bt_transaction_pod(engine, record->pod_ix)->signature->namespace_,
			bt_transaction_pod(engine, record->pod_ix)->name);
		return true;
	case BT_RECORD_RESTORED:
	case BT_RECORD_NOMINATED:
		return false;
	case BT_RECORD_NODE:
		out->delta = delta_of_node(engine, &record->node.change);
		return true;
	case BT_RECORD_GROUP:
		BT_REQUIRE(record->kind != BT_RECORD_GROUP); /* a group is only tried */
		return false;
	}
	return false;
}

/* Decides a pod again, for that node whatever the result is, and carries out the decision. */
static void carry_out_placement(
	struct bt_engine *engine, const struct net_change *change, const struct bt_commit_observer *observer)
{
	uint32_t pod_ix = bt_ledger_find(engine->cache->ledger, change->namespace_, change->name);
	const struct bt_imposed imposed = {.outcome = BT_PLACED,
		.node_ix = bt_snapshot_find(engine->cache->snapshot, change->node),
		.fits = true};
	struct bt_decision decision;

	BT_INVARIANT(pod_ix != BT_NO_POD && imposed.node_ix != BT_NO_NODE);
	if (bt_queue_is_group(engine->queue, pod_ix) || bt_queue_take_any(engine->queue, pod_ix) != BT_OK) {
		return;
	}
	const struct bt_queue_info info = bt_queue_info(engine->queue, pod_ix);
	engine->counts.cycle_n = change->cycle_n - 1;
	bt_engine_begin(engine, pod_ix, &decision);
	bt_engine_run_post_filter(engine, &decision);
	if (decision.outcome != BT_PLACED || decision.node_ix != imposed.node_ix) {
		bt_engine_impose(engine, &decision, &imposed);
	}
	bt_engine_end(engine, &decision);
	if (observer) {
		observer->decided(observer->context, &decision, &info);
	}
}

static void carry_out(
	struct bt_engine *engine, struct net_change *change, const struct bt_commit_observer *observer)
{
	struct bt_intern *intern = engine->cache->dictionary->intern;
	struct bt_taken taken;

	if (change->is_placement) {
		carry_out_placement(engine, change, observer);
		bt_intern_release(intern, change->namespace_);
		bt_intern_release(intern, change->name);
		bt_intern_release(intern, change->node);
		return;
	}
	bt_ingest_publish(engine->cache, &change->delta);
	(void)bt_engine_take_delta(engine, &change->delta, &taken);
}

static void commit_outermost(struct bt_engine *engine, const struct bt_commit_observer *observer)
{
	struct bt_transactions *t = &engine->transactions;
	struct net_change *changes = bt_mem_zalloc(t->record_n, sizeof(*changes));
	const uint64_t cycle_n = engine->counts.cycle_n;
	const uint32_t next_start = bt_node_list_mark(&engine->nodes);
	size_t n = 0;

	for (size_t i = 0; i < t->record_n; i++) {
		n += net_change_of(engine, i, &changes[n]);
		if (t->records[i].kind == BT_RECORD_NODE) {
			t->records[i].node.kept = true;
		}
	}
	bt_transaction_roll_back(engine);
	for (size_t i = 0; i < n; i++) {
		carry_out(engine, &changes[i], observer);
	}
	engine->counts.cycle_n = cycle_n;
	bt_node_list_rewind(&engine->nodes, next_start);
	bt_mem_free(changes);
}

void bt_transaction_commit(struct bt_engine *engine, const struct bt_commit_observer *observer)
{
	struct bt_transactions *t = &engine->transactions;

	BT_REQUIRE(t->level_n > 0);
	if (t->level_n == 1) {
		commit_outermost(engine, observer);
	} else {
		bt_transaction_end_restriction(engine, &t->levels[--t->level_n]);
	}
}
