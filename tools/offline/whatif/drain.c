/* SPDX-License-Identifier: Apache-2.0
 * Taking nodes away.
 */
#include "tools/offline/whatif/drain.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/transaction.h"

/* ---- roles ---- */

static enum bt_drain_role role_of(const struct bt_pod_object *pod)
{
	enum bt_drain_role role = BT_DRAIN_ENDS;

	for (uint32_t i = 0; i < pod->meta.owner_n; i++) {
		const struct bt_owner_object *owner = &pod->meta.owners[i];

		if (bt_str_is(owner->kind, "DaemonSet") || bt_str_is(owner->kind, "Node")) {
			return BT_DRAIN_STAYS;
		}
		role = BT_DRAIN_MOVES;
	}
	return role;
}

void bt_drain_roles_note(void *context, uint32_t pod_ix, const struct bt_pod_object *pod)
{
	struct bt_drain_roles *roles = context;

	while (roles->n <= pod_ix) {
		roles->items = bt_mem_grow(roles->items, roles->n, &roles->cap, sizeof(*roles->items));
		roles->items[roles->n++] = BT_DRAIN_ENDS;
	}
	enum bt_drain_role role = role_of(pod);

	roles->items[pod_ix] =
		(uint8_t)(role == BT_DRAIN_ENDS && roles->recreates_all ? BT_DRAIN_MOVES : role);
}

void bt_drain_roles_fini(struct bt_drain_roles *roles)
{
	bt_mem_free(roles->items);
}

/* ---- budgets ---- */

/* Counts an eviction against the budgets. Source: pkg/registry/core/pod/rest/eviction.go refuses one of a pod
 * with a budget that allows no disruption, v1.37.2. */
static void charge(
	const struct bt_cache *cache, const struct bt_pod *pod, int32_t *allowed, struct bt_drain *out)
{
	const struct bt_intern *intern = cache->dictionary->intern;
	const struct bt_budget *over = NULL;

	for (size_t b = 0; b < cache->budgets.n; b++) {
		const struct bt_budget *budget = &cache->budgets.items[b];

		if (!bt_budget_counts(budget, intern, pod->signature, pod->name)) {
			continue;
		}
		if (allowed[b] <= 0) {
			over = budget;
		} else {
			allowed[b]--;
		}
	}
	if (!over) {
		return;
	}
	out->forbidden_n++;
	if (!out->budget) {
		struct bt_buf text = {0};

		bt_buf_printf(&text, "%.*s/%.*s", BT_STR_ARG(bt_intern_str(intern, over->namespace_)),
			BT_STR_ARG(bt_intern_str(intern, over->name)));
		out->budget = text.ptr;
	}
}

static void charge_all(const struct bt_cache *cache, struct bt_drain *out)
{
	int32_t *allowed;

	if (cache->budgets.n == 0) {
		return;
	}
	allowed = bt_mem_zalloc(cache->budgets.n, sizeof(*allowed));
	for (size_t b = 0; b < cache->budgets.n; b++) {
		allowed[b] = cache->budgets.items[b].allowed;
	}
	for (size_t i = 0; i < out->move_n; i++) {
		charge(cache, bt_ledger_pod(cache->ledger, out->moves[i].pod_ix), allowed, out);
	}
	bt_mem_free(allowed);
}

/* ---- moving ---- */

struct ordered {
	struct bt_drain_move move;
	int32_t priority;
	int64_t creation_ns;
};

static int by_importance(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->priority != y->priority) {
		return x->priority > y->priority ? -1 : 1;
	}
	if (x->creation_ns != y->creation_ns) {
		return x->creation_ns < y->creation_ns ? -1 : 1;
	}
	return x->move.pod_ix < y->move.pod_ix ? -1 : x->move.pod_ix > y->move.pod_ix;
}

static void list_pods(const struct bt_cache *cache, const struct bt_drain_roles *roles,
	const uint32_t *node_ixs, size_t node_n, struct bt_drain *out)
{
	struct ordered *pods = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < node_n; i++) {
		uint32_t pod_ix = bt_ledger_first_on(cache->ledger, node_ixs[i]);

		for (; pod_ix != BT_NO_POD; pod_ix = bt_ledger_next(cache->ledger, pod_ix)) {
			enum bt_drain_role role =
				pod_ix < roles->n ? (enum bt_drain_role)roles->items[pod_ix] : BT_DRAIN_MOVES;

			if (role == BT_DRAIN_STAYS) {
				continue;
			}
			pods = bt_mem_grow(pods, n, &cap, sizeof(*pods));
			const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
			pods[n++] = (struct ordered){
				{pod_ix, node_ixs[i], BT_NO_NODE, role}, pod->priority, pod->creation_ns};
		}
	}
	if (n) {
		qsort(pods, n, sizeof(*pods), by_importance);
	}
	for (size_t i = 0; i < n; i++) {
		out->moves = bt_mem_grow(out->moves, out->move_n, &out->move_cap, sizeof(*out->moves));
		out->moves[out->move_n++] = pods[i].move;
	}
	bt_mem_free(pods);
	out->displaced_n = n;
}

static void note_reason(struct bt_engine *engine, uint32_t copy_ix, uint32_t pod_ix, struct bt_drain *out)
{
	struct bt_refusal_rows rows;

	if (out->reason) {
		return;
	}
	bt_refusal_rows_collect(engine, copy_ix, &rows);
	const char *text = rows.n ? rows.items[0].text : "";
	out->reason = bt_mem_copy(text, strlen(text));
	out->example = pod_ix;
	bt_refusal_rows_fini(&rows);
}

static void move_pod(struct bt_engine *engine, struct bt_drain_move *move, struct bt_drain *out)
{
	if (move->role == BT_DRAIN_ENDS) {
		out->ended_n++;
		return;
	}
	uint32_t copy_ix = bt_transaction_add_copy(engine, move->pod_ix);
	if (bt_transaction_place(engine, copy_ix, &move->to_ix) == BT_PLACED) {
		out->placed_n++;
		return;
	}
	move->to_ix = BT_NO_NODE;
	out->unplaced_n++;
	note_reason(engine, copy_ix, move->pod_ix, out);
}

void bt_drain_nodes(struct bt_loaded_cluster *cluster, const struct bt_drain_roles *roles,
	const uint32_t *node_ixs, size_t node_n, struct bt_drain *out)
{
	struct bt_engine *engine = cluster->engine;
	const struct bt_cache *cache = bt_engine_cache(engine);

	*out = (struct bt_drain){0};
	list_pods(cache, roles, node_ixs, node_n, out);
	charge_all(cache, out);
	bt_transaction_begin(engine);
	for (size_t i = 0; i < node_n; i++) {
		bt_transaction_close_node(engine, node_ixs[i], true);
	}
	for (size_t i = 0; i < out->move_n; i++) {
		bt_transaction_evict(engine, out->moves[i].pod_ix);
	}
	for (size_t i = 0; i < out->move_n; i++) {
		move_pod(engine, &out->moves[i], out);
	}
	bt_transaction_roll_back(engine);
	BT_INVARIANT(out->placed_n + out->unplaced_n + out->ended_n == out->displaced_n);
}

void bt_drain_fini(struct bt_drain *drain)
{
	bt_mem_free(drain->moves);
	bt_mem_free(drain->budget);
	bt_mem_free(drain->reason);
}
