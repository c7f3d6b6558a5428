/* SPDX-License-Identifier: Apache-2.0
 * Transactions: an undo log of changes of cache and engine (I1, I4, I9).
 */
#include "engine/flow/cycle/transaction.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"
#include "engine/flow/cycle/transaction_int.h"

void bt_transactions_fini(struct bt_transactions *t)
{
	for (size_t i = 0; i < t->record_cap; i++) {
		bt_mem_free(t->records[i].ports.items);
	}
	bt_mem_free(t->records);
	bt_mem_free(t->levels);
	bt_map_fini(&t->newest);
	bt_preemption_fini(&t->preemption);
	bt_mem_free((void *)(uintptr_t)t->part.nodes);
	bt_mem_free((void *)(uintptr_t)t->part.order);
	bt_mem_free((void *)(uintptr_t)t->part.part_of);
}

uint32_t bt_transaction_depth(const struct bt_engine *engine)
{
	return (uint32_t)engine->transactions.level_n;
}

const struct bt_pod *bt_transaction_pod(const struct bt_engine *engine, uint32_t pod_ix)
{
	BT_REQUIRE(bt_ledger_has(engine->cache->ledger, pod_ix));
	return bt_ledger_pod(engine->cache->ledger, pod_ix);
}

/* ---- records ---- */

struct bt_transaction_record *bt_transaction_record(
	struct bt_engine *engine, enum bt_record_kind kind, uint32_t pod_ix)
{
	struct bt_transactions *t = &engine->transactions;

	BT_REQUIRE(t->level_n > 0);
	if (t->record_n == t->record_cap) {
		size_t old = t->record_cap;

		t->records = bt_mem_grow(t->records, old, &t->record_cap, sizeof(*t->records));
		memset(t->records + old, 0, (t->record_cap - old) * sizeof(*t->records));
	}
	struct bt_transaction_record *record = &t->records[t->record_n++];
	t->refused_ix = BT_NO_POD;
	record->kind = kind;
	record->pod_ix = pod_ix;
	record->before = BT_NO_RECORD;
	record->ports.n = 0;
	return record;
}

static uint64_t newest_key(enum bt_record_kind kind, uint32_t pod_ix)
{
	return bt_pair_key(kind, pod_ix);
}

uint32_t bt_transaction_newest(const struct bt_engine *engine, enum bt_record_kind kind, uint32_t pod_ix)
{
	uint32_t at = BT_NO_RECORD;

	bt_map_get(&engine->transactions.newest, newest_key(kind, pod_ix), &at);
	return at;
}

static void set_newest(struct bt_engine *engine, enum bt_record_kind kind, uint32_t pod_ix, uint32_t at)
{
	if (at == BT_NO_RECORD) {
		bt_map_remove(&engine->transactions.newest, newest_key(kind, pod_ix));
	} else {
		bt_map_put(&engine->transactions.newest, newest_key(kind, pod_ix), at);
	}
}

/* Makes the record the pod's newest of the kind; none: the pod no longer has one. */
static void list_newest(
	struct bt_engine *engine, struct bt_transaction_record *record, enum bt_record_kind kind, bool none)
{
	record->before = bt_transaction_newest(engine, kind, record->pod_ix);
	set_newest(engine, kind, record->pod_ix,
		none ? BT_NO_RECORD : (uint32_t)(record - engine->transactions.records));
}

/* ---- levels ---- */

void bt_transaction_begin(struct bt_engine *engine)
{
	struct bt_transactions *t = &engine->transactions;

	BT_REQUIRE(!bt_post_filter_is_due(&engine->post) && !bt_group_cycle_is_on(&engine->group_cycle));
	BT_REQUIRE(!bt_ledger_is_frozen(engine->cache->ledger));
	t->levels = bt_mem_grow(t->levels, t->level_n, &t->level_cap, sizeof(*t->levels));
	struct bt_transaction_level *level = &t->levels[t->level_n++];
	t->refused_ix = BT_NO_POD;
	*level = (struct bt_transaction_level){
		.record_n = t->record_n,
		.counts = engine->counts,
		.left_n = bt_usage_left_n(engine->cache->view.usage),
		.copy_n = t->copy_n,
		.next_start = bt_node_list_mark(&engine->nodes),
		.last_pod_ix = bt_nominated_pods_last(&engine->nominated),
		.has_order = bt_snapshot_has_order(engine->cache->snapshot),
	};
	bt_schedule_pod_count(&engine->schedule, &level->decided);
}

static void restore_numbers(struct bt_engine *engine, const struct bt_transaction_level *level)
{
	engine->counts = level->counts;
	bt_schedule_pod_set_counts(&engine->schedule, &level->decided);
	engine->transactions.copy_n = level->copy_n;
	bt_node_list_rewind(&engine->nodes, level->next_start);
	bt_nominated_pods_set(&engine->nominated, level->last_pod_ix);
	if (!level->has_order) {
		bt_snapshot_forget_order(engine->cache->snapshot);
		bt_node_list_forget_order(&engine->nodes);
	}
	if (engine->transactions.level_n == 0) {
		bt_snapshot_discount(
			engine->cache->snapshot, bt_usage_left_n(engine->cache->view.usage) - level->left_n);
	}
}

void bt_transaction_end_restriction(struct bt_engine *engine, const struct bt_transaction_level *level)
{
	if (level->restricts) {
		bt_node_list_restrict(&engine->nodes, NULL);
	}
}

/* Frees what removed pods referred to, which open transactions could still need. */
static void end_outermost(struct bt_engine *engine)
{
	if (engine->transactions.level_n == 0) {
		BT_INVARIANT(engine->transactions.newest.count == 0);
		bt_engine_reclaim(engine);
	}
}

/* ---- undo ---- */

static void undo_placed(struct bt_engine *engine, const struct bt_transaction_record *record)
{
	bt_volumes_take_back(engine->cache->volumes, record->pod_ix);
	bt_devices_revert(engine->cache->devices, record->pod_ix);
	bt_reserved_forget(engine->cache, record->pod_ix);
	if (record->placed.nominated_ix != BT_NO_NODE) {
		bt_ledger_nominate_behind(engine->cache->ledger, record->pod_ix, record->placed.nominated_ix,
			record->placed.behind);
	}
}

static void undo_eviction(struct bt_engine *engine, const struct bt_transaction_record *record, bool restored)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	uint32_t pod_ix = record->pod_ix, node_ix = bt_ledger_pod(ledger, pod_ix)->node_ix;

	if (restored) {
		bt_ledger_withdraw(ledger, pod_ix);
	} else {
		bt_ledger_reinstate(ledger, pod_ix, record->newest);
	}
	if (BT_UNLIKELY(bt_ledger_pod(ledger, pod_ix)->signature->port_n)) {
		bt_ledger_restore_ports(ledger, node_ix, &record->ports);
	}
	set_newest(engine, BT_RECORD_EVICTED, pod_ix, record->before);
}

/* Restores the node's ports: another pod of the node may use the same port. */
static void undo_added(struct bt_engine *engine, const struct bt_transaction_record *record)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	const struct bt_pod *pod = bt_ledger_pod(ledger, record->pod_ix);
	uint32_t node_ix = pod->signature->port_n ? pod->node_ix : BT_NO_NODE;

	set_newest(engine, BT_RECORD_ADDED, record->pod_ix, BT_NO_RECORD);
	bt_engine_leave_group(engine, record->pod_ix);
	bt_ledger_remove(ledger, record->pod_ix);
	if (BT_UNLIKELY(node_ix != BT_NO_NODE)) {
		bt_ledger_restore_ports(ledger, node_ix, &record->ports);
	}
}

/* Its pods have been removed. */
static void undo_group(struct bt_engine *engine, const struct bt_transaction_record *record)
{
	enum bt_status status =
		record->group.composite
			? bt_pod_groups_remove_composite(
				  &engine->groups, record->group.namespace_, record->group.name)
			: bt_pod_groups_remove(&engine->groups, record->group.namespace_, record->group.name);

	BT_INVARIANT(status == BT_OK);
}

static void undo(struct bt_engine *engine, struct bt_transaction_record *record)
{
	switch (record->kind) {
	case BT_RECORD_ADDED:
		undo_added(engine, record);
		break;
	case BT_RECORD_PLACED:
		undo_placed(engine, record);
		break;
	case BT_RECORD_EVICTED:
	case BT_RECORD_RESTORED:
		undo_eviction(engine, record, record->kind == BT_RECORD_RESTORED);
		break;
	case BT_RECORD_NODE:
		bt_node_change_revert(engine->cache, &record->node.change);
		if (!record->node.kept) {
			bt_node_desc_defer(record->node.change.new);
		}
		break;
	case BT_RECORD_GROUP:
		undo_group(engine, record);
		break;
	case BT_RECORD_NOMINATED:
		bt_transaction_undo_nomination(engine, record);
		break;
	}
}

static void undo_to(struct bt_engine *engine, size_t record_n)
{
	struct bt_transactions *t = &engine->transactions;

	BT_INVARIANT(record_n <= t->record_n);
	while (t->record_n > record_n) {
		undo(engine, &t->records[--t->record_n]);
	}
}

void bt_transaction_roll_back(struct bt_engine *engine)
{
	struct bt_transactions *t = &engine->transactions;

	BT_REQUIRE(t->level_n > 0);
	const struct bt_transaction_level *level = &t->levels[--t->level_n];
	t->refused_ix = BT_NO_POD;
	bt_transaction_end_restriction(engine, level);
	undo_to(engine, level->record_n);
	restore_numbers(engine, level);
	end_outermost(engine);
}

/* ---- pods ---- */

bool bt_transaction_restrict(struct bt_engine *engine, const uint32_t *node_ixs, uint32_t n)
{
	struct bt_transactions *t = &engine->transactions;
	struct bt_node_list *list = &engine->nodes;
	const struct bt_snapshot *snapshot = engine->cache->view.snapshot;

	BT_REQUIRE(t->level_n > 0);
	struct bt_transaction_level *level = &t->levels[t->level_n - 1];
	if (!level->restricts && bt_node_list_part(list)) {
		return false;
	}
	bt_node_list_restrict(list, NULL);
	level->restricts = n > 0;
	if (n == 0) {
		return true;
	}
	bt_node_list_follow(list, snapshot);
	bt_node_list_follow_order(list, engine->cache->snapshot);
	uint32_t *part_of = bt_mem_zalloc(snapshot->slot_n, sizeof(*part_of));
	uint32_t *nodes = bt_mem_zalloc(n, sizeof(*nodes)),
		 *order = bt_mem_zalloc(2 * (size_t)n, sizeof(*order));
	uint32_t node_n = 0, order_n = 0;
	for (uint32_t i = 0; i < n; i++) {
		BT_REQUIRE(node_ixs[i] < snapshot->slot_n && bt_bitmap_test(snapshot->live, node_ixs[i]));
		part_of[node_ixs[i]] = 1;
	}
	for (uint32_t i = 0; i < bt_node_list_n(list); i++) {
		uint32_t node_ix = bt_node_list_live(list)[i], ordered_ix = bt_node_list_order(list)[i];

		if (part_of[node_ix]) {
			nodes[node_n++] = node_ix;
		}
		if (part_of[ordered_ix]) {
			order[order_n++] = ordered_ix;
		}
	}
	BT_INVARIANT(node_n == order_n && node_n <= n);
	memcpy(order + node_n, order, node_n * sizeof(*order));
	bt_mem_free((void *)(uintptr_t)t->part.nodes);
	bt_mem_free((void *)(uintptr_t)t->part.order);
	bt_mem_free((void *)(uintptr_t)t->part.part_of);
	t->part = (struct bt_node_part){.nodes = nodes,
		.order = order,
		.n = node_n,
		.ix = 1,
		.part_of = part_of,
		.number = bt_node_list_number(list)};
	bt_node_list_restrict(list, &t->part);
	return true;
}

bool bt_transaction_restricts(const struct bt_engine *engine)
{
	return bt_node_list_part(&engine->nodes) != NULL;
}

enum bt_outcome bt_transaction_place(struct bt_engine *engine, uint32_t pod_ix, uint32_t *out_node_ix)
{
	const struct bt_ledger *ledger = engine->cache->ledger;
	const struct bt_pod *pod = bt_transaction_pod(engine, pod_ix);
	uint32_t nominated_ix = pod->nominated_ix, behind = BT_NO_POD;
	enum bt_outcome outcome = BT_SKIPPED;
	struct bt_plan *plan;

	*out_node_ix = BT_NO_NODE;
	BT_REQUIRE(engine->transactions.level_n > 0 && pod->state == BT_POD_QUEUED && !pod->detached);
	BT_REQUIRE(bt_engine_runtime_of(engine, pod_ix));
	if (pod->terminating) {
		return outcome;
	}
	engine->counts.cycle_n++;
	uint32_t node_ix = bt_engine_try_pod(engine, pod_ix, &plan, &outcome);
	engine->transactions.refused_ix = outcome == BT_REFUSED ? pod_ix : BT_NO_POD;
	if (node_ix == BT_NO_NODE) {
		return outcome;
	}
	if (nominated_ix != BT_NO_NODE) {
		behind = bt_ledger_previous(ledger, pod_ix);
	}
	bt_group_hold(engine, plan, pod_ix, node_ix);
	struct bt_transaction_record *record = bt_transaction_record(engine, BT_RECORD_PLACED, pod_ix);
	record->placed.nominated_ix = nominated_ix;
	record->placed.behind = behind;
	record->placed.cycle_n = engine->counts.cycle_n;
	*out_node_ix = node_ix;
	return BT_PLACED;
}

struct bt_preemption *bt_transaction_take_refused(struct bt_engine *engine, uint32_t pod_ix)
{
	struct bt_transactions *t = &engine->transactions;

	BT_REQUIRE(t->level_n > 0 && t->refused_ix == pod_ix);
	t->refused_ix = BT_NO_POD;
	return &t->preemption;
}

/* Adds a pod whose node indices are set, and records the addition. */
static enum bt_status add_to_ledger(struct bt_engine *engine, const struct bt_pod *pod, uint32_t *out_pod_ix)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	struct bt_transaction_record *record = bt_transaction_record(engine, BT_RECORD_ADDED, BT_NO_POD);

	if (BT_UNLIKELY(pod->signature->port_n) && pod->node_ix != BT_NO_NODE) {
		bt_ledger_save_ports(ledger, pod->node_ix, &record->ports);
	}
	enum bt_status status = bt_ledger_add(ledger, pod, &record->pod_ix);
	if (status != BT_OK) {
		engine->transactions.record_n--;
		return status;
	}
	list_newest(engine, record, BT_RECORD_ADDED, false);
	bt_engine_join_group(engine, record->pod_ix);
	*out_pod_ix = record->pod_ix;
	return BT_OK;
}

static enum bt_status add_described(struct bt_engine *engine, struct bt_delta *delta, uint32_t *out_pod_ix)
{
	struct bt_pod *pod = &delta->pod.pod;

	if (delta->pod.ended) {
		return BT_NOT_FOUND;
	}
	pod->node_ix = bt_snapshot_find(engine->cache->snapshot, delta->pod.node);
	if (delta->pod.node == BT_NAME_NONE
			? !bt_profile_runtimes_find(&engine->runtimes, pod->signature->scheduler_name)
			: pod->node_ix == BT_NO_NODE) {
		return BT_NOT_FOUND;
	}
	pod->status_ix = pod->node_ix == BT_NO_NODE
				 ? bt_snapshot_find(engine->cache->snapshot, pod->status_node)
				 : BT_NO_NODE;
	enum bt_status status = add_to_ledger(engine, pod, out_pod_ix);
	return status == BT_OK ? delta->status : status;
}

enum bt_status bt_transaction_add_pod(
	struct bt_engine *engine, const struct bt_pod_object *object, uint32_t *out_pod_ix)
{
	struct bt_delta delta;

	BT_REQUIRE(engine->transactions.level_n > 0);
	*out_pod_ix = BT_NO_POD;
	bt_ingest_describe_pod(engine->cache->worker, object, &delta);
	enum bt_status status = add_described(engine, &delta, out_pod_ix);
	bt_delta_drop(&delta);
	return status;
}

/* A name for a copy, which no pod of the namespace has. Owns: the caller, a reference. */
static uint32_t copy_name(struct bt_engine *engine, const struct bt_pod *like)
{
	struct bt_intern *intern = engine->cache->dictionary->intern;
	struct bt_str stem = bt_intern_str(intern, like->name);
	struct bt_buf text = {0};
	uint32_t name = BT_NAME_NONE;

	do {
		bt_intern_release(intern, name);
		bt_buf_clear(&text);
		bt_buf_str(&text, stem);
		bt_buf_printf(&text, "-%llu", (unsigned long long)++engine->transactions.copy_n);
		name = bt_intern_hold(intern, bt_buf_view(&text));
	} while (bt_ledger_find(engine->cache->ledger, like->signature->namespace_, name) != BT_NO_POD);
	bt_buf_fini(&text);
	return name;
}

uint32_t bt_transaction_add_copy(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_pod like = *bt_transaction_pod(engine, pod_ix);
	const struct bt_signature *base = like.signature->assumed_of;
	struct bt_pod copy = {.signature = base ? base : like.signature,
		.name = copy_name(engine, &like),
		.node_ix = BT_NO_NODE,
		.status_ix = BT_NO_NODE,
		.priority = like.priority,
		.never_preempts = like.never_preempts};
	uint32_t copy_ix;

	enum bt_status status = add_to_ledger(engine, &copy, &copy_ix);
	BT_INVARIANT(status == BT_OK);
	bt_intern_release(engine->cache->dictionary->intern, copy.name);
	return copy_ix;
}

/* Records a change of the pod's presence on its node. Returns: the record. */
static struct bt_transaction_record *record_presence(
	struct bt_engine *engine, enum bt_record_kind kind, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_transaction_pod(engine, pod_ix);
	struct bt_transaction_record *record = bt_transaction_record(engine, kind, pod_ix);

	if (BT_UNLIKELY(pod->signature->port_n)) {
		bt_ledger_save_ports(engine->cache->ledger, pod->node_ix, &record->ports);
	}
	list_newest(engine, record, BT_RECORD_EVICTED, kind == BT_RECORD_RESTORED);
	return record;
}

void bt_transaction_evict(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_transaction_pod(engine, pod_ix);

	BT_REQUIRE(pod->node_ix != BT_NO_NODE && !pod->lifted && !pod->detached);
	struct bt_transaction_record *record = record_presence(engine, BT_RECORD_EVICTED, pod_ix);
	record->newest = bt_ledger_withdraw(engine->cache->ledger, pod_ix);
}

void bt_transaction_restore(struct bt_engine *engine, uint32_t pod_ix)
{
	BT_REQUIRE(bt_transaction_has_evicted(engine, pod_ix));
	record_presence(engine, BT_RECORD_RESTORED, pod_ix);
	bt_ledger_reinstate(engine->cache->ledger, pod_ix, pod_ix);
}

bool bt_transaction_has_evicted(const struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_transaction_newest(engine, BT_RECORD_EVICTED, pod_ix) != BT_NO_RECORD;
}

/* ---- nodes ---- */

static uint32_t change_node(struct bt_engine *engine, uint32_t name, const struct bt_node_desc *desc)
{
	struct bt_transaction_record *record = bt_transaction_record(engine, BT_RECORD_NODE, BT_NO_POD);

	record->node.kept = false;
	bt_node_change_make(engine->cache, name, desc, &record->node.change);
	BT_REQUIRE((record->node.change.old && desc) || !bt_transaction_restricts(engine));
	return record->node.change.slot;
}

enum bt_status bt_transaction_apply_node(
	struct bt_engine *engine, const struct bt_node_object *object, uint32_t *out_node_ix)
{
	const struct bt_node_desc *desc = bt_node_desc_create(engine->cache->dictionary, object);

	*out_node_ix = change_node(engine, desc->name, desc);
	return desc->too_many_names ? BT_FULL : BT_OK;
}

static const struct bt_node_desc *live_desc(const struct bt_engine *engine, uint32_t node_ix)
{
	const struct bt_node_desc *desc = bt_snapshot_desc(engine->cache->snapshot, node_ix);

	BT_REQUIRE(desc);
	return desc;
}

void bt_transaction_close_node(struct bt_engine *engine, uint32_t node_ix, bool closed)
{
	struct bt_node_desc *desc = bt_node_desc_copy(live_desc(engine, node_ix));

	desc->unschedulable = closed;
	change_node(engine, desc->name, desc);
}

void bt_transaction_remove_node(struct bt_engine *engine, uint32_t node_ix)
{
	change_node(engine, live_desc(engine, node_ix)->name, NULL);
}
