/* SPDX-License-Identifier: Apache-2.0
 * Stages 6 and 8: who is where, and what that uses.
 */
#include "cache/ledger.h"

#include "engine/base/check.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/wrap.h"

#define FIRST_SLOTS 64
#define JOURNAL_N   (1u << 16)
#define WRAP_NEAR   (INT64_C(1) << 61)

struct bt_ledger {
	struct bt_usage usage;
	size_t slot_cap;
	int64_t *used[BT_RESOURCE_MAX];
	int64_t *nonzero_milli_cpu, *nonzero_memory, *pod_n;
	struct bt_port_list *ports;
	uint32_t *journal;
	struct bt_pod *pods;
	size_t pod_end, pod_cap;
	uint32_t *vacant; /* indices to be used again */
	size_t vacant_n, vacant_cap;
	struct bt_map keys; /* namespace and name -> index */
	struct bt_ledger_counts counts;
	struct bt_counters *counters; /* NULL: nobody asks by topology */
	struct bt_volumes *volumes;   /* NULL: nobody asks for volumes */
};

struct bt_ledger *bt_ledger_create(void)
{
	struct bt_ledger *l = bt_mem_zalloc(1, sizeof(*l));

	l->journal = bt_mem_zalloc(JOURNAL_N, sizeof(*l->journal));
	l->usage.journal = l->journal;
	l->usage.journal_mask = JOURNAL_N - 1;
	bt_ledger_reserve(l, FIRST_SLOTS);
	return l;
}

void bt_ledger_destroy(struct bt_ledger *l)
{
	if (!l) {
		return;
	}
	for (int r = 0; r < BT_RESOURCE_MAX; r++) {
		bt_mem_free(l->used[r]);
	}
	for (size_t i = 0; i < l->slot_cap; i++) {
		bt_mem_free(l->ports[i].items);
	}
	bt_mem_free(l->nonzero_milli_cpu);
	bt_mem_free(l->nonzero_memory);
	bt_mem_free(l->pod_n);
	bt_mem_free(l->ports);
	bt_mem_free(l->journal);
	bt_mem_free(l->pods);
	bt_mem_free(l->vacant);
	bt_map_fini(&l->keys);
	bt_mem_free(l);
}

const struct bt_usage *bt_ledger_usage(const struct bt_ledger *l)
{
	return &l->usage;
}

void bt_ledger_count_in(struct bt_ledger *l, struct bt_counters *counters)
{
	BT_REQUIRE(l->counts.assumed + l->counts.scheduled == 0);
	l->counters = counters;
}

void bt_ledger_mount_in(struct bt_ledger *l, struct bt_volumes *volumes)
{
	BT_REQUIRE(l->counts.assumed + l->counts.scheduled == 0);
	l->volumes = volumes;
}

void bt_ledger_set_terminating(struct bt_ledger *l, uint32_t pod_ix, bool terminating)
{
	struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE(pod_ix < l->pod_end && pod->state != BT_POD_VACANT);
	if (pod->terminating == terminating) {
		return;
	}
	bool counted = l->counters && pod->state != BT_POD_QUEUED;
	if (counted) {
		bt_counters_leave(l->counters, pod->signature, pod_ix);
	}
	pod->terminating = terminating;
	if (counted) {
		bt_counters_enter(l->counters, pod->signature, pod_ix, pod->node_ix, terminating);
	}
}

static int64_t *widen(int64_t *column, size_t old_n, size_t new_n)
{
	int64_t *wide = bt_mem_column(new_n, sizeof(*wide));

	if (column) {
		memcpy(wide, column, old_n * sizeof(*wide));
		bt_mem_free(column);
	}
	return wide;
}

void bt_ledger_reserve(struct bt_ledger *l, uint32_t slot_n)
{
	size_t old = l->slot_cap, cap = old ? old : FIRST_SLOTS;

	while (cap < slot_n) {
		cap *= 2;
	}
	if (cap == old) {
		return;
	}
	for (int r = 0; r < BT_RESOURCE_MAX; r++) {
		if (l->used[r]) {
			l->used[r] = widen(l->used[r], old, cap);
			l->usage.used[r] = l->used[r];
		}
	}
	l->nonzero_milli_cpu = widen(l->nonzero_milli_cpu, old, cap);
	l->nonzero_memory = widen(l->nonzero_memory, old, cap);
	l->pod_n = widen(l->pod_n, old, cap);
	l->ports = bt_mem_realloc(l->ports, cap, sizeof(*l->ports));
	memset(l->ports + old, 0, (cap - old) * sizeof(*l->ports));
	l->slot_cap = cap;
	l->usage.nonzero_milli_cpu = l->nonzero_milli_cpu;
	l->usage.nonzero_memory = l->nonzero_memory;
	l->usage.pod_n = l->pod_n;
	l->usage.ports = l->ports;
}

static void take_ports(struct bt_port_list *list, const struct bt_signature *signature)
{
	for (uint32_t i = 0; i < signature->port_n; i++) {
		if (list->n == list->cap) {
			list->cap = list->cap ? list->cap * 2 : 4;
			list->items = bt_mem_realloc(list->items, list->cap, sizeof(*list->items));
		}
		list->items[list->n++] = signature->ports[i];
	}
}

static bool same_port(const struct bt_host_port *a, const struct bt_host_port *b)
{
	return a->ip == b->ip && a->protocol == b->protocol && a->port == b->port;
}

static void return_ports(struct bt_port_list *list, const struct bt_signature *signature)
{
	for (uint32_t i = 0; i < signature->port_n; i++) {
		uint32_t at = 0;

		while (at < list->n && !same_port(&list->items[at], &signature->ports[i])) {
			at++;
		}
		BT_INVARIANT(at < list->n);
		list->items[at] = list->items[--list->n];
	}
}

/*
 * Amounts wrap at the ends of int64_t, as upstream's do.
 * Returns : whether taking may have made room: the amount is below zero, or what is used is so large that
 *           what is free may wrap around.
 */
static bool shift(int64_t *cell, int64_t amount, bool take)
{
	*cell = take ? bt_wrap_add(*cell, amount) : bt_wrap_sub(*cell, amount);
	return amount < 0 || *cell < 0 || *cell >= WRAP_NEAR;
}

static void count(struct bt_ledger *l, uint32_t pod_ix, uint32_t node_ix, bool take)
{
	const struct bt_pod *pod = &l->pods[pod_ix];

	if (!l->counters) {
		return;
	}
	if (take) {
		bt_counters_enter(l->counters, pod->signature, pod_ix, node_ix, pod->terminating);
	} else {
		bt_counters_leave(l->counters, pod->signature, pod_ix);
	}
}

static void charge(struct bt_ledger *l, uint32_t pod_ix, uint32_t node_ix, bool take)
{
	const struct bt_signature *signature = l->pods[pod_ix].signature;
	const struct bt_requests *requests = &signature->requests;
	bool released = !take;

	BT_REQUIRE(node_ix < l->slot_cap);
	for (uint32_t i = 0; i < requests->used.n; i++) {
		uint32_t r = requests->used.items[i].slot;

		if (BT_UNLIKELY(!l->used[r])) {
			l->used[r] = bt_mem_column(l->slot_cap, sizeof(*l->used[r]));
			l->usage.used[r] = l->used[r];
		}
		released |= shift(&l->used[r][node_ix], requests->used.items[i].amount, take);
	}
	shift(&l->nonzero_milli_cpu[node_ix], requests->nonzero_milli_cpu, take);
	shift(&l->nonzero_memory[node_ix], requests->nonzero_memory, take);
	shift(&l->pod_n[node_ix], 1, take);
	if (take) {
		take_ports(&l->ports[node_ix], signature);
	} else {
		return_ports(&l->ports[node_ix], signature);
	}
	l->usage.release_n += released;
	if (l->volumes && signature->volume_n && take) {
		bt_volumes_enter(l->volumes, signature, node_ix);
	} else if (l->volumes && signature->volume_n) {
		bt_volumes_leave(l->volumes, signature, node_ix);
	}
	count(l, pod_ix, node_ix, take);
	l->journal[l->usage.journal_end++ & l->usage.journal_mask] = node_ix;
}

static uint64_t key_of(uint32_t namespace_, uint32_t name)
{
	return (uint64_t)namespace_ << 32 | name;
}

enum bt_status bt_ledger_add(struct bt_ledger *l, const struct bt_pod *pod, uint32_t *out_ix)
{
	uint64_t key = key_of(pod->signature->namespace_, pod->name);
	uint32_t ix;

	if (bt_map_get(&l->keys, key, &ix)) {
		*out_ix = ix;
		return BT_EXISTS;
	}
	if (l->vacant_n) {
		ix = l->vacant[--l->vacant_n];
	} else {
		l->pods = bt_mem_grow(l->pods, l->pod_end, &l->pod_cap, sizeof(*l->pods));
		ix = (uint32_t)l->pod_end++;
	}
	l->pods[ix] = *pod;
	bt_map_put(&l->keys, key, ix);
	if (pod->node_ix == BT_NO_NODE) {
		l->pods[ix].state = BT_POD_QUEUED;
		l->counts.queued++;
	} else {
		l->pods[ix].state = BT_POD_SCHEDULED;
		l->counts.scheduled++;
		charge(l, ix, pod->node_ix, true);
	}
	*out_ix = ix;
	return BT_OK;
}

void bt_ledger_remove(struct bt_ledger *l, uint32_t pod_ix)
{
	struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE(pod_ix < l->pod_end && pod->state != BT_POD_VACANT);
	switch (pod->state) {
	case BT_POD_VACANT:
		break;
	case BT_POD_QUEUED:
		l->counts.queued--;
		break;
	case BT_POD_ASSUMED:
		l->counts.assumed--;
		charge(l, pod_ix, pod->node_ix, false);
		break;
	case BT_POD_SCHEDULED:
		l->counts.scheduled--;
		charge(l, pod_ix, pod->node_ix, false);
		break;
	}
	bt_map_remove(&l->keys, key_of(pod->signature->namespace_, pod->name));
	pod->state = BT_POD_VACANT;
	l->vacant = bt_mem_grow(l->vacant, l->vacant_n, &l->vacant_cap, sizeof(*l->vacant));
	l->vacant[l->vacant_n++] = pod_ix;
	l->counts.remove_n++;
}

void bt_ledger_assume(struct bt_ledger *l, uint32_t pod_ix, uint32_t node_ix)
{
	struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE(pod_ix < l->pod_end && pod->state == BT_POD_QUEUED);
	charge(l, pod_ix, node_ix, true);
	pod->node_ix = node_ix;
	pod->state = BT_POD_ASSUMED;
	l->counts.queued--;
	l->counts.assumed++;
	l->counts.assume_n++;
}

void bt_ledger_confirm(struct bt_ledger *l, uint32_t pod_ix)
{
	struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE(pod_ix < l->pod_end && pod->state == BT_POD_ASSUMED);
	pod->state = BT_POD_SCHEDULED;
	l->counts.assumed--;
	l->counts.scheduled++;
	l->counts.confirm_n++;
}

void bt_ledger_forget(struct bt_ledger *l, uint32_t pod_ix)
{
	struct bt_pod *pod = &l->pods[pod_ix];

	BT_REQUIRE(pod_ix < l->pod_end && pod->state == BT_POD_ASSUMED);
	charge(l, pod_ix, pod->node_ix, false);
	pod->node_ix = BT_NO_NODE;
	pod->state = BT_POD_QUEUED;
	l->counts.assumed--;
	l->counts.queued++;
	l->counts.forget_n++;
}

uint32_t bt_ledger_find(const struct bt_ledger *l, uint32_t namespace_, uint32_t name)
{
	uint32_t ix;

	return name && bt_map_get(&l->keys, key_of(namespace_, name), &ix) ? ix : BT_NO_POD;
}

const struct bt_pod *bt_ledger_pod(const struct bt_ledger *l, uint32_t pod_ix)
{
	BT_INVARIANT(pod_ix < l->pod_end);
	return &l->pods[pod_ix];
}

uint32_t bt_ledger_pod_end(const struct bt_ledger *l)
{
	return (uint32_t)l->pod_end;
}

struct bt_ledger_counts bt_ledger_counts(const struct bt_ledger *l)
{
	return l->counts;
}
