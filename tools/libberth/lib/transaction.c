/* SPDX-License-Identifier: Apache-2.0
 * Transactions of a handle without threads.
 */
#include "engine/flow/cycle/transaction.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/mem.h"
#include "tools/libberth/lib/lib_int.h"

#define NAME_BYTES 512

enum bt_status bt_lib_try_object(struct bt_lib *lib, const struct bt_object *object, struct bt_taken *out)
{
	const struct bt_cache *cache = bt_engine_cache(lib->engine);
	uint32_t name = bt_intern_find(cache->dictionary->intern, object->meta.name);

	*out = (struct bt_taken){.ix = BT_NO_POD};
	if (object->kind == BT_KIND_NODE && bt_transaction_restricts(lib->engine) &&
		bt_snapshot_find(cache->snapshot, name) == BT_NO_NODE) {
		return BT_UNSUPPORTED;
	}
	switch (object->kind) {
	case BT_KIND_NODE:
		return bt_transaction_apply_node(lib->engine, &object->node, &out->ix);
	case BT_KIND_POD:
		return bt_transaction_add_pod(lib->engine, &object->pod, &out->ix);
	default:
		return BT_UNSUPPORTED;
	}
}

/* ---- calls ---- */

enum berth_status bt_lib_transaction_enter(struct berth *berth, bool changes, struct bt_lib **out)
{
	enum berth_status status = bt_lib_enter(berth, out);

	if (status != BERTH_OK) {
		return status;
	}
	status = bt_lib_check_stopped(*out);
	if (status == BERTH_OK && (*out)->threads) {
		status = bt_lib_fail(
			berth, BERTH_UNSUPPORTED, "the handle has threads; transactions need one without");
	} else if (status == BERTH_OK && changes && !bt_lib_in_transaction(*out)) {
		status = bt_lib_fail(
			berth, BERTH_INVALID, "no transaction is open; berth_transaction_begin opens one");
	}
	if (status != BERTH_OK) {
		bt_lib_leave(*out);
	}
	return status;
}

enum berth_status berth_transaction_begin(struct berth *berth)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_transaction_enter(berth, false, &lib);

	if (status == BERTH_OK) {
		bt_transaction_begin(lib->engine);
		bt_lib_leave(lib);
	}
	return status;
}

void bt_lib_end_preemptions(struct bt_lib *lib, uint32_t depth)
{
	while (lib->preemption_n && lib->preemptions[lib->preemption_n - 1].depth > depth) {
		bt_mem_free(lib->preemptions[--lib->preemption_n].pod_ixs);
	}
}

enum berth_status berth_transaction_rollback(struct berth *berth)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_transaction_enter(berth, true, &lib);

	if (status == BERTH_OK) {
		bt_transaction_roll_back(lib->engine);
		lib->copy_n = 0;
		bt_lib_end_preemptions(lib, bt_transaction_depth(lib->engine));
		bt_lib_leave(lib);
	}
	return status;
}

static void note_decided(void *context, const struct bt_decision *decision, const struct bt_queue_info *info)
{
	bt_lib_cycle_ended(context, decision, info, BT_NO_NODE, (struct bt_str){.len = 0});
}

enum berth_status berth_transaction_commit(struct berth *berth)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_transaction_enter(berth, true, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	const struct bt_commit_observer observer = {note_decided, lib};
	if (bt_transaction_depth(lib->engine) == 1) {
		bt_lib_begin_cycle(lib);
	}
	bt_transaction_commit(lib->engine, &observer);
	lib->copy_n = 0;
	bt_lib_end_preemptions(lib, bt_transaction_depth(lib->engine));
	bt_eventcount_wake(&lib->park);
	bt_lib_leave(lib);
	return BERTH_OK;
}

/* ---- pods ---- */

static const struct bt_pod *pod_of(const struct bt_lib *lib, uint32_t pod_ix)
{
	return bt_ledger_pod(bt_engine_cache(lib->engine)->ledger, pod_ix);
}

uint32_t bt_lib_find_any(struct bt_lib *lib, const char *pod_namespace, const char *name)
{
	const char *namespace_ = pod_namespace ? pod_namespace : "default";
	uint32_t pod_ix =
		name ? bt_engine_find_pod(lib->engine, bt_str(namespace_), bt_str(name)) : BT_NO_POD;

	if (!name) {
		bt_lib_fail(lib->handle, BERTH_INVALID, "name is NULL");
	} else if (pod_ix == BT_NO_POD) {
		bt_lib_fail(lib->handle, BERTH_NOT_FOUND, "there is no pod %s/%s", namespace_, name);
	}
	return pod_ix;
}

uint32_t bt_lib_find_pending(struct bt_lib *lib, const char *pod_namespace, const char *name)
{
	uint32_t pod_ix = bt_lib_find_any(lib, pod_namespace, name);

	if (pod_ix != BT_NO_POD && pod_of(lib, pod_ix)->state != BT_POD_QUEUED) {
		bt_lib_fail(lib->handle, BERTH_NOT_FOUND, "pod %s is not pending", name);
		return BT_NO_POD;
	}
	return pod_ix;
}

enum berth_status bt_lib_not_found(const char *name)
{
	return name ? BERTH_NOT_FOUND : BERTH_INVALID;
}

struct bt_str bt_lib_node_name(const struct bt_lib *lib, uint32_t node_ix)
{
	const struct bt_cache *cache = bt_engine_cache(lib->engine);

	return node_ix == BT_NO_NODE
		       ? (struct bt_str){.len = 0}
		       : bt_intern_str(cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name);
}

enum berth_status berth_can_schedule_pod(
	struct berth *berth, const char *pod_namespace, const char *name, const char **out_node)
{
	static _Thread_local char node[NAME_BYTES];
	struct bt_lib *lib;
	enum berth_status status = bt_lib_transaction_enter(berth, false, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	uint32_t pod_ix = bt_lib_find_pending(lib, pod_namespace, name), node_ix;
	if (pod_ix == BT_NO_POD) {
		bt_lib_leave(lib);
		return bt_lib_not_found(name);
	}
	bt_transaction_begin(lib->engine);
	(void)bt_transaction_place(lib->engine, pod_ix, &node_ix);
	snprintf(node, sizeof(node), "%.*s", BT_STR_ARG(bt_lib_node_name(lib, node_ix)));
	bt_transaction_roll_back(lib->engine);
	if (out_node) {
		*out_node = node;
	}
	bt_lib_leave(lib);
	return BERTH_OK;
}

enum berth_status berth_schedule_pods(
	struct berth *berth, struct berth_pod_ref *pods, uint32_t n, uint32_t *out_n)
{
	struct bt_lib *lib;
	uint32_t placed_n = 0, node_ix;
	enum berth_status status = bt_lib_transaction_enter(berth, true, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	if (!pods && n) {
		status = bt_lib_fail(berth, BERTH_INVALID, "pods is NULL");
	}
	for (uint32_t i = 0; i < n && status == BERTH_OK; i++) {
		if (bt_lib_find_pending(lib, pods[i].pod_namespace, pods[i].name) == BT_NO_POD) {
			status = bt_lib_not_found(pods[i].name);
		}
	}
	bt_arena_reset(&lib->compact);
	for (uint32_t i = 0; i < n && status == BERTH_OK; i++) {
		uint32_t pod_ix = bt_lib_find_pending(lib, pods[i].pod_namespace, pods[i].name);

		pods[i].node = "";
		if (pod_ix != BT_NO_POD && bt_transaction_place(lib->engine, pod_ix, &node_ix) == BT_PLACED) {
			pods[i].node = bt_lib_keep(&lib->compact, bt_lib_node_name(lib, node_ix));
			placed_n++;
		}
	}
	if (out_n && status == BERTH_OK) {
		*out_n = placed_n;
	}
	bt_lib_leave(lib);
	return status;
}

enum berth_status berth_schedule_pods_by_template(struct berth *berth, const char *pod_namespace,
	const char *name, uint32_t max, uint32_t *out_n, char **out_message)
{
	struct bt_lib *lib;
	uint32_t placed_n = 0, node_ix = BT_NO_NODE;
	enum berth_status status = bt_lib_transaction_enter(berth, true, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	uint32_t pod_ix = bt_lib_find_any(lib, pod_namespace, name), copy_ix = BT_NO_POD;
	if (pod_ix != BT_NO_POD &&
		!bt_engine_handles(lib->engine, pod_of(lib, pod_ix)->signature->scheduler_name)) {
		bt_lib_fail(berth, BERTH_NOT_FOUND, "pod %s is of another scheduler", name);
		pod_ix = BT_NO_POD;
	}
	if (pod_ix == BT_NO_POD) {
		bt_lib_leave(lib);
		return bt_lib_not_found(name);
	}
	lib->copy_n = 0;
	do {
		/* One by one, so that the copy that fits nowhere does not stay. */
		bt_transaction_begin(lib->engine);
		copy_ix = bt_transaction_add_copy(lib->engine, pod_ix);
		if (bt_transaction_place(lib->engine, copy_ix, &node_ix) == BT_PLACED) {
			placed_n++;
			lib->copies =
				bt_mem_grow(lib->copies, lib->copy_n, &lib->copy_cap, sizeof(*lib->copies));
			lib->copies[lib->copy_n++] = copy_ix;
			bt_transaction_commit(lib->engine, NULL);
		}
	} while (node_ix != BT_NO_NODE && (max == 0 || placed_n < max));
	if (out_message) {
		*out_message = bt_lib_message(lib->engine, node_ix == BT_NO_NODE ? copy_ix : BT_NO_POD);
	}
	if (node_ix == BT_NO_NODE) {
		bt_transaction_roll_back(lib->engine);
	}
	if (out_n) {
		*out_n = placed_n;
	}
	bt_lib_leave(lib);
	return BERTH_OK;
}

/* Evicts or restores a pod. */
static enum berth_status set_present(
	struct berth *berth, const char *pod_namespace, const char *name, bool present)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_transaction_enter(berth, true, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	uint32_t pod_ix = bt_lib_find_any(lib, pod_namespace, name);
	if (pod_ix == BT_NO_POD) {
		status = bt_lib_not_found(name);
	} else if (pod_of(lib, pod_ix)->node_ix == BT_NO_NODE ||
		   bt_transaction_has_evicted(lib->engine, pod_ix) != present) {
		status = bt_lib_fail(berth, BERTH_NOT_FOUND, "pod %s is %s", name,
			present ? "not evicted" : "not on a node");
	} else if (present) {
		bt_transaction_restore(lib->engine, pod_ix);
	} else {
		bt_transaction_evict(lib->engine, pod_ix);
	}
	bt_lib_leave(lib);
	return status;
}

enum berth_status berth_evict_pod(struct berth *berth, const char *pod_namespace, const char *name)
{
	return set_present(berth, pod_namespace, name, false);
}

enum berth_status berth_restore_pod(struct berth *berth, const char *pod_namespace, const char *name)
{
	return set_present(berth, pod_namespace, name, true);
}

/* ---- nodes ---- */

/* The slot of a live node, or BT_NO_NODE with the error set. */
static uint32_t find_node(struct bt_lib *lib, const char *name)
{
	const struct bt_cache *cache = bt_engine_cache(lib->engine);
	uint32_t node_ix = name ? bt_snapshot_find(cache->snapshot,
					  bt_intern_find(cache->dictionary->intern, bt_str(name)))
				: BT_NO_NODE;

	if (node_ix == BT_NO_NODE) {
		bt_lib_fail(lib->handle, bt_lib_not_found(name), "there is no node %s", name ? name : "NULL");
	}
	return node_ix;
}

/* Finds a live node for a function that changes it. Returns: BERTH_OK, and bt_lib_leave is due. */
static enum berth_status enter_node(
	struct berth *berth, const char *name, struct bt_lib **out_lib, uint32_t *out_node_ix)
{
	enum berth_status status = bt_lib_transaction_enter(berth, true, out_lib);

	if (status != BERTH_OK) {
		return status;
	}
	*out_node_ix = find_node(*out_lib, name);
	if (*out_node_ix == BT_NO_NODE) {
		bt_lib_leave(*out_lib);
		return bt_lib_not_found(name);
	}
	return BERTH_OK;
}

static enum berth_status set_closed(struct berth *berth, const char *name, bool closed)
{
	struct bt_lib *lib;
	uint32_t node_ix;
	enum berth_status status = enter_node(berth, name, &lib, &node_ix);

	if (status != BERTH_OK) {
		return status;
	}
	if (bt_engine_cache(lib->engine)->view.snapshot->nodes[node_ix].unschedulable != closed) {
		bt_transaction_close_node(lib->engine, node_ix, closed);
	}
	bt_lib_leave(lib);
	return BERTH_OK;
}

enum berth_status berth_cordon_node(struct berth *berth, const char *name)
{
	return set_closed(berth, name, true);
}

enum berth_status berth_uncordon_node(struct berth *berth, const char *name)
{
	return set_closed(berth, name, false);
}

enum berth_status berth_remove_node(struct berth *berth, const char *name)
{
	struct bt_lib *lib;
	uint32_t node_ix;
	enum berth_status status = enter_node(berth, name, &lib, &node_ix);

	if (status != BERTH_OK) {
		return status;
	}
	if (bt_transaction_restricts(lib->engine)) {
		status = bt_lib_fail(lib->handle, BERTH_INVALID,
			"placements are restricted to some nodes; lift that (berth_restrict_nodes with n 0) "
			"first");
	} else {
		bt_transaction_remove_node(lib->engine, node_ix);
	}
	bt_lib_leave(lib);
	return status;
}

enum berth_status berth_restrict_nodes(struct berth *berth, const char *const *nodes, uint32_t n)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_transaction_enter(berth, true, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	uint32_t *node_ixs = bt_mem_zalloc(n ? n : 1, sizeof(*node_ixs));
	if (n && !nodes) {
		status = bt_lib_fail(berth, BERTH_INVALID, "nodes is NULL");
	}
	for (uint32_t i = 0; i < n && status == BERTH_OK; i++) {
		node_ixs[i] = find_node(lib, nodes[i]);
		status = node_ixs[i] == BT_NO_NODE ? bt_lib_not_found(nodes[i]) : BERTH_OK;
	}
	if (status == BERTH_OK && !bt_transaction_restrict(lib->engine, node_ixs, n)) {
		status =
			bt_lib_fail(berth, BERTH_INVALID, "an outer transaction restricts the nodes already");
	}
	bt_mem_free(node_ixs);
	bt_lib_leave(lib);
	return status;
}

/* ---- visits ---- */

static const struct berth_usage *usage_of(struct bt_lib *lib, uint32_t node_ix, uint32_t *out_n)
{
	const struct bt_cache *cache = bt_engine_cache(lib->engine);
	const struct bt_node_desc *desc = bt_snapshot_desc(cache->snapshot, node_ix);
	struct berth_usage *usage =
		bt_arena_alloc(&lib->compact, (desc->alloc.n + 1) * sizeof(*usage), sizeof(void *));

	usage[0] = (struct berth_usage){"pods", desc->alloc_pods, cache->view.usage->nodes[node_ix].pod_n};
	for (uint32_t i = 0; i < desc->alloc.n; i++) {
		const struct bt_amount *amount = &desc->alloc.items[i];

		usage[i + 1] = (struct berth_usage){
			bt_lib_keep(&lib->compact, bt_resource_name(cache->dictionary, amount->slot)),
			amount->amount, bt_node_used(cache->view.usage, amount->slot, node_ix)};
	}
	*out_n = desc->alloc.n + 1;
	return usage;
}

enum berth_status berth_each_node(
	struct berth *berth, bool (*visit)(void *context, const struct berth_node_state *node), void *context)
{
	struct bt_lib *lib;
	struct bt_lib_frame frame;
	enum berth_status status = bt_lib_transaction_enter(berth, false, &lib);
	bool goes_on = true;

	if (status == BERTH_OK && !visit) {
		bt_lib_leave(lib);
		return bt_lib_fail(berth, BERTH_INVALID, "visit is NULL");
	}
	if (status != BERTH_OK) {
		return status;
	}
	const struct bt_snapshot *snapshot = bt_engine_cache(lib->engine)->view.snapshot;
	bt_lib_callback_begin(lib, &frame);
	for (uint32_t i = 0; i < snapshot->slot_n && goes_on; i++) {
		if (bt_bitmap_test(snapshot->live, i)) {
			bt_arena_reset(&lib->compact);
			struct berth_node_state node = {
				.name = bt_lib_keep(&lib->compact, bt_lib_node_name(lib, i)),
				.unschedulable = snapshot->nodes[i].unschedulable,
				.user = bt_lib_node_user(lib, bt_lib_node_name(lib, i))};

			node.usage = usage_of(lib, i, &node.usage_n);
			goes_on = visit(context, &node);
		}
	}
	bt_lib_callback_end(&frame);
	bt_lib_leave(lib);
	return BERTH_OK;
}

enum berth_status berth_each_pod(struct berth *berth,
	bool (*visit)(void *context, const struct berth_pod_ref *pod, enum berth_pod_state state),
	void *context)
{
	struct bt_lib *lib;
	struct bt_lib_frame frame;
	enum berth_status status = bt_lib_transaction_enter(berth, false, &lib);
	bool goes_on = true;

	if (status == BERTH_OK && !visit) {
		bt_lib_leave(lib);
		return bt_lib_fail(berth, BERTH_INVALID, "visit is NULL");
	}
	if (status != BERTH_OK) {
		return status;
	}
	const struct bt_ledger *ledger = bt_engine_cache(lib->engine)->ledger;
	bt_lib_callback_begin(lib, &frame);
	for (uint32_t i = 0; i < bt_ledger_pod_end(ledger) && goes_on; i++) {
		if (bt_ledger_has(ledger, i) && !pod_of(lib, i)->detached &&
			!bt_transaction_has_evicted(lib->engine, i)) {
			bt_arena_reset(&lib->compact);
			const struct berth_pod_ref pod =
				bt_lib_refer(lib, &lib->compact, i, pod_of(lib, i)->node_ix);

			goes_on = visit(context, &pod, bt_lib_state_of(lib->engine, i));
		}
	}
	bt_lib_callback_end(&frame);
	bt_lib_leave(lib);
	return BERTH_OK;
}
