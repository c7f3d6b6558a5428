/* SPDX-License-Identifier: Apache-2.0
 * Questions about pending pods in a transaction or without one, and pods that are placed or evicted together.
 */
#include <string.h>

#include "engine/base/mem.h"
#include "engine/flow/cycle/transaction.h"
#include "tools/libberth/lib/lib_int.h"

/* ---- which nodes fit ---- */

/* Lists the names of all nodes again after one has come, gone or moved. */
static void list_names(struct bt_lib *lib)
{
	const struct bt_snapshot *snapshot = bt_engine_cache(lib->engine)->view.snapshot;
	struct bt_lib_node_names *nodes = &lib->nodes;

	if (nodes->version == snapshot->live_version && nodes->n == snapshot->slot_n && nodes->names) {
		return;
	}
	if (!nodes->names || nodes->cap < snapshot->slot_n) {
		nodes->cap = snapshot->slot_n ? snapshot->slot_n : 1;
		nodes->names = bt_mem_realloc((void *)nodes->names, nodes->cap, sizeof(*nodes->names));
		nodes->ixs = bt_mem_realloc(nodes->ixs, nodes->cap, sizeof(*nodes->ixs));
	}
	for (uint32_t i = 0; i < snapshot->slot_n; i++) {
		nodes->names[i] = bt_bitmap_test(snapshot->live, i) ? bt_lib_node_name(lib, i).ptr : NULL;
	}
	nodes->n = snapshot->slot_n;
	nodes->version = snapshot->live_version;
}

enum berth_status berth_feasible_nodes(
	struct berth *berth, const char *pod_namespace, const char *name, struct berth_node_set *out)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_transaction_enter(berth, false, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	if (!out || out->size < sizeof(*out)) {
		status = bt_lib_fail(berth, BERTH_INVALID,
			out ? "out's size is wrong: use BERTH_INIT on it first" : "out is NULL");
		bt_lib_leave(lib);
		return status;
	}
	uint32_t pod_ix = bt_lib_find_pending(lib, pod_namespace, name);
	if (pod_ix == BT_NO_POD) {
		bt_lib_leave(lib);
		return bt_lib_not_found(name);
	}
	list_names(lib);
	*out = (struct berth_node_set){.size = out->size,
		.names = lib->nodes.names,
		.name_n = lib->nodes.n,
		.version = lib->nodes.version,
		.nodes = lib->nodes.ixs,
		.n = bt_engine_feasible(lib->engine, pod_ix, lib->nodes.ixs)};
	bt_lib_leave(lib);
	return BERTH_OK;
}

/* ---- preemption ---- */

enum berth_status berth_find_victims(struct berth *berth, const char *pod_namespace, const char *name,
	const char **out_node, const struct berth_pod_ref **out_victims, uint32_t *out_n)
{
	struct bt_explanation explanation = {0};
	struct bt_lib *lib;
	enum berth_status status = bt_lib_transaction_enter(berth, false, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	uint32_t pod_ix = bt_lib_find_pending(lib, pod_namespace, name);
	if (pod_ix == BT_NO_POD || !out_victims || !out_n) {
		status = pod_ix == BT_NO_POD
				 ? bt_lib_not_found(name)
				 : bt_lib_fail(berth, BERTH_INVALID, "out_victims or out_n is NULL");
		bt_lib_leave(lib);
		return status;
	}
	bt_engine_explain(lib->engine, pod_ix, &explanation);
	const struct bt_preemption *preemption = &explanation.preemption;
	uint32_t n = explanation.preempts ? preemption->victim_n : 0;
	bt_arena_reset(&lib->compact);
	struct berth_pod_ref *victims =
		bt_arena_alloc(&lib->compact, (n + (size_t)1) * sizeof(*victims), sizeof(void *));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t victim_ix = preemption->victims[i].pod_ix;

		victims[i] = bt_lib_refer(lib, &lib->compact, victim_ix,
			bt_ledger_pod(bt_engine_cache(lib->engine)->ledger, victim_ix)->node_ix);
	}
	if (out_node) {
		*out_node = bt_lib_keep(&lib->compact,
			bt_lib_node_name(lib, explanation.preempts ? preemption->node_ix : BT_NO_NODE));
	}
	*out_victims = victims;
	*out_n = n;
	bt_explanation_fini(&explanation);
	bt_lib_leave(lib);
	return BERTH_OK;
}

void bt_lib_workload_fini(struct bt_lib *lib)
{
	bt_lib_end_preemptions(lib, 0);
	bt_mem_free(lib->preemptions);
	bt_mem_free(lib->copies);
	bt_mem_free((void *)lib->nodes.names);
	bt_mem_free(lib->nodes.ixs);
	if (lib->proto) {
		bt_proto_destroy(lib->proto);
	}
}

/* Evicts the pods in a transaction of their own. Returns: BERTH_OK; else with the error set, and nothing has
 * changed. */
static enum berth_status evict_all(
	struct bt_lib *lib, const struct berth_pod_ref *pods, uint32_t n, uint32_t *out_pod_ixs)
{
	enum berth_status status = BERTH_OK;

	bt_transaction_begin(lib->engine);
	for (uint32_t i = 0; i < n && status == BERTH_OK; i++) {
		uint32_t pod_ix = bt_lib_find_any(lib, pods[i].pod_namespace, pods[i].name);

		if (pod_ix == BT_NO_POD) {
			status = bt_lib_not_found(pods[i].name);
		} else if (bt_ledger_pod(bt_engine_cache(lib->engine)->ledger, pod_ix)->node_ix ==
				   BT_NO_NODE ||
			   bt_transaction_has_evicted(lib->engine, pod_ix)) {
			status = bt_lib_fail(lib->handle, BERTH_NOT_FOUND,
				"pod %s is not on a node; no pod was evicted", pods[i].name);
		} else {
			out_pod_ixs[i] = pod_ix;
			bt_transaction_evict(lib->engine, pod_ix);
		}
	}
	if (status == BERTH_OK) {
		bt_transaction_commit(lib->engine, NULL);
	} else {
		bt_transaction_roll_back(lib->engine);
	}
	return status;
}

enum berth_status berth_preempt_pods(
	struct berth *berth, const struct berth_pod_ref *pods, uint32_t n, uint64_t *out_preemption)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_transaction_enter(berth, true, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	if ((!pods && n) || !out_preemption) {
		status = bt_lib_fail(
			berth, BERTH_INVALID, "%s is NULL", out_preemption ? "pods" : "out_preemption");
		bt_lib_leave(lib);
		return status;
	}
	uint32_t *pod_ixs = bt_mem_zalloc(n ? n : 1, sizeof(*pod_ixs));
	status = evict_all(lib, pods, n, pod_ixs);
	if (status != BERTH_OK) {
		bt_mem_free(pod_ixs);
		bt_lib_leave(lib);
		return status;
	}
	lib->preemptions = bt_mem_grow(
		lib->preemptions, lib->preemption_n, &lib->preemption_cap, sizeof(*lib->preemptions));
	lib->preemptions[lib->preemption_n++] = (struct bt_lib_preemption){.number = ++lib->preemption_number,
		.depth = bt_transaction_depth(lib->engine),
		.n = n,
		.pod_ixs = pod_ixs};
	*out_preemption = lib->preemption_number;
	bt_lib_leave(lib);
	return BERTH_OK;
}

/* The index of a preemption of the innermost transaction all of whose pods are still evicted, or SIZE_MAX. */
static size_t find_preemption(const struct bt_lib *lib, uint64_t number)
{
	for (size_t i = lib->preemption_n; i-- > 0;) {
		const struct bt_lib_preemption *preemption = &lib->preemptions[i];

		if (preemption->number != number) {
			continue;
		}
		for (uint32_t k = 0; k < preemption->n; k++) {
			if (!bt_transaction_has_evicted(lib->engine, preemption->pod_ixs[k])) {
				return SIZE_MAX;
			}
		}
		return preemption->depth == bt_transaction_depth(lib->engine) ? i : SIZE_MAX;
	}
	return SIZE_MAX;
}

enum berth_status berth_unpreempt(struct berth *berth, uint64_t preemption)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_transaction_enter(berth, true, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	size_t at = find_preemption(lib, preemption);
	if (at == SIZE_MAX) {
		status = bt_lib_fail(berth, BERTH_NOT_FOUND,
			"there is no such preemption in the innermost transaction, or its pods are back");
		bt_lib_leave(lib);
		return status;
	}
	const struct bt_lib_preemption found = lib->preemptions[at];
	for (uint32_t i = found.n; i-- > 0;) {
		bt_transaction_restore(lib->engine, found.pod_ixs[i]);
	}
	bt_mem_free(found.pod_ixs);
	memmove(&lib->preemptions[at], &lib->preemptions[at + 1],
		(lib->preemption_n - at - 1) * sizeof(*lib->preemptions));
	lib->preemption_n--;
	bt_lib_leave(lib);
	return BERTH_OK;
}

/* ---- pods that are placed together ---- */

static enum berth_status workload_fail(struct bt_lib *lib, enum bt_workload_kind kind)
{
	switch (kind) {
	case BT_WORKLOAD_MIXED:
		return bt_lib_fail(lib->handle, BERTH_INVALID,
			"the pods are not of one PodGroup, or one tree of groups, and one scheduler; pass "
			"the pods "
			"of one");
	case BT_WORKLOAD_UNKNOWN:
		return bt_lib_fail(lib->handle, BERTH_NOT_FOUND,
			"the pods' PodGroup, or a CompositePodGroup above it, does not exist; apply it "
			"before the "
			"transaction");
	case BT_WORKLOAD_UNSUPPORTED:
		return bt_lib_fail(lib->handle, BERTH_UNSUPPORTED,
			"pods of PodGroups are not placed by a call in this release, where they wait one by "
			"one; "
			"berth_run decides them");
	default:
		return BERTH_OK;
	}
}

/* The pods' indices. Returns: BERTH_OK; else with the error set. */
static enum berth_status find_all(
	struct bt_lib *lib, const struct berth_pod_ref *pods, uint32_t n, uint32_t *out_pod_ixs)
{
	enum berth_status status = BERTH_OK;
	struct bt_map seen = {0};

	for (uint32_t i = 0; i < n && status == BERTH_OK; i++) {
		uint32_t already;

		out_pod_ixs[i] = bt_lib_find_pending(lib, pods[i].pod_namespace, pods[i].name);
		if (out_pod_ixs[i] == BT_NO_POD) {
			status = bt_lib_not_found(pods[i].name);
		} else if (bt_map_get(&seen, (uint64_t)out_pod_ixs[i] + 1, &already)) {
			status = bt_lib_fail(
				lib->handle, BERTH_INVALID, "pod %s is listed twice", pods[i].name);
		} else {
			bt_map_put(&seen, (uint64_t)out_pod_ixs[i] + 1, i);
		}
	}
	bt_map_fini(&seen);
	return status;
}

static uint32_t place(struct bt_lib *lib, struct berth_pod_ref *pods, const uint32_t *pod_ixs, uint32_t n,
	struct bt_buf *text)
{
	uint32_t *node_ixs = bt_mem_zalloc(n, sizeof(*node_ixs)), placed_n = 0;

	(void)bt_transaction_place_workload(lib->engine, pod_ixs, n, node_ixs, text);
	bt_arena_reset(&lib->compact);
	for (uint32_t i = 0; i < n; i++) {
		pods[i].node = bt_lib_keep(&lib->compact, bt_lib_node_name(lib, node_ixs[i]));
		placed_n += node_ixs[i] != BT_NO_NODE;
	}
	bt_mem_free(node_ixs);
	return placed_n;
}

enum berth_status berth_schedule_workload(
	struct berth *berth, struct berth_pod_ref *pods, uint32_t n, uint32_t *out_n, char **out_message)
{
	struct bt_lib *lib;
	struct bt_buf text = {0};
	enum berth_status status = bt_lib_transaction_enter(berth, true, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	if (!pods || n == 0) {
		status = bt_lib_fail(berth, BERTH_INVALID, pods ? "there are no pods" : "pods is NULL");
		bt_lib_leave(lib);
		return status;
	}
	uint32_t *pod_ixs = bt_mem_zalloc(n, sizeof(*pod_ixs));
	status = find_all(lib, pods, n, pod_ixs);
	if (status == BERTH_OK) {
		status = workload_fail(lib, bt_transaction_workload_kind(lib->engine, pod_ixs, n));
	}
	if (status == BERTH_OK) {
		uint32_t placed_n = place(lib, pods, pod_ixs, n, out_message ? &text : NULL);

		if (out_n) {
			*out_n = placed_n;
		}
	}
	if (status == BERTH_OK && out_message) {
		bt_buf_reserve(&text, 1);
		text.ptr[text.len] = '\0';
		*out_message = text.ptr;
	} else {
		bt_buf_fini(&text);
	}
	bt_mem_free(pod_ixs);
	bt_lib_leave(lib);
	return status;
}

enum berth_status berth_template_pods(
	struct berth *berth, const struct berth_pod_ref **out_pods, uint32_t *out_n)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_transaction_enter(berth, false, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	if (!out_pods || !out_n) {
		status = bt_lib_fail(berth, BERTH_INVALID, "out_pods or out_n is NULL");
		bt_lib_leave(lib);
		return status;
	}
	bt_arena_reset(&lib->compact);
	struct berth_pod_ref *pods =
		bt_arena_alloc(&lib->compact, (lib->copy_n + 1) * sizeof(*pods), sizeof(void *));
	for (size_t i = 0; i < lib->copy_n; i++) {
		uint32_t pod_ix = lib->copies[i];

		pods[i] = bt_lib_refer(lib, &lib->compact, pod_ix,
			bt_ledger_pod(bt_engine_cache(lib->engine)->ledger, pod_ix)->node_ix);
	}
	*out_pods = pods;
	*out_n = (uint32_t)lib->copy_n;
	bt_lib_leave(lib);
	return BERTH_OK;
}
