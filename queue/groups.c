/* SPDX-License-Identifier: Apache-2.0
 * Pods waiting for an event, in groups with the same hints: 100,000 replicas that fit nowhere are evaluated
 * once per event.
 */
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "queue/queue_int.h"

static bool same(const struct bt_waiting_group *group, const struct bt_slot *slot)
{
	return group->kind == slot->kind && group->unschedulable_plugins == slot->unschedulable_plugins &&
	       group->pending == slot->pending && group->gate == slot->gate;
}

/* Groups with equal keys are chained. Never 0. */
static uint64_t groups_key_of(const struct bt_slot *slot)
{
	const uint64_t words[] = {
		(uint64_t)slot->kind << 32 | (uint8_t)slot->gate, slot->unschedulable_plugins, slot->pending};

	return bt_hash_bytes(words, sizeof(words)) | 1;
}

static void count_plugins(struct bt_queue *queue, const struct bt_waiting_group *group, bool add)
{
	for (bt_plugin_set rest = group->unschedulable_plugins | group->pending; rest;
		rest = bt_plugin_set_rest(rest)) {
		uint64_t *group_n = &queue->plugin_groups[bt_plugin_set_first(rest)];

		BT_INVARIANT(add || *group_n > 0);
		*group_n += add ? 1 : (uint64_t)-1;
	}
}

static uint32_t make(struct bt_queue *queue, const struct bt_slot *slot)
{
	uint32_t ix = queue->free_group;

	if (ix != BT_NO_GROUP) {
		queue->free_group = queue->groups[ix].chain;
	} else {
		queue->groups =
			bt_mem_grow(queue->groups, queue->group_n, &queue->group_cap, sizeof(*queue->groups));
		ix = (uint32_t)queue->group_n++;
	}
	queue->groups[ix] = (struct bt_waiting_group){.kind = slot->kind,
		.unschedulable_plugins = slot->unschedulable_plugins,
		.pending = slot->pending,
		.gate = slot->gate,
		.first = BT_NO_SLOT,
		.last = BT_NO_SLOT};
	count_plugins(queue, &queue->groups[ix], true);
	return ix;
}

/* The slot's group, created if missing. */
static uint32_t group_of(struct bt_queue *queue, const struct bt_slot *slot)
{
	uint64_t key = groups_key_of(slot);
	uint32_t first = BT_NO_GROUP, ix;

	bt_map_get(&queue->group_ixs, key, &first);
	for (ix = first; ix != BT_NO_GROUP; ix = queue->groups[ix].chain) {
		if (same(&queue->groups[ix], slot)) {
			return ix;
		}
	}
	ix = make(queue, slot);
	queue->groups[ix].chain = first;
	bt_map_put(&queue->group_ixs, key, ix);
	return ix;
}

void bt_groups_enter(struct bt_queue *queue, uint32_t slot_ix)
{
	struct bt_slot *slot = &queue->slots[slot_ix];
	uint32_t ix = group_of(queue, slot);
	struct bt_waiting_group *group = &queue->groups[ix];
	BT_INVARIANT(slot->group == BT_NO_GROUP && same(group, slot));
	BT_INVARIANT((group->n == 0) == (group->last == BT_NO_SLOT));
	slot->group = ix;
	slot->prev = group->last;
	slot->next = BT_NO_SLOT;
	if (group->last == BT_NO_SLOT) {
		group->first = slot_ix;
	} else {
		queue->slots[group->last].next = slot_ix;
	}
	group->last = slot_ix;
	group->n++;
}

/* Removes an empty group. */
static void unmake(struct bt_queue *queue, uint32_t ix, const struct bt_slot *like)
{
	BT_INVARIANT(queue->groups[ix].n == 0 && queue->groups[ix].first == BT_NO_SLOT);
	struct bt_waiting_group *group = &queue->groups[ix];
	uint64_t key = groups_key_of(like);
	uint32_t first = BT_NO_GROUP;

	bt_map_get(&queue->group_ixs, key, &first);
	if (first != ix) {
		while (queue->groups[first].chain != ix) {
			first = queue->groups[first].chain;
		}
		queue->groups[first].chain = group->chain;
	} else if (group->chain != BT_NO_GROUP) {
		bt_map_put(&queue->group_ixs, key, group->chain);
	} else {
		bt_map_remove(&queue->group_ixs, key);
	}
	count_plugins(queue, group, false);
	group->chain = queue->free_group;
	queue->free_group = ix;
}

void bt_groups_leave(struct bt_queue *queue, uint32_t slot_ix)
{
	BT_INVARIANT(queue->slots[slot_ix].group < queue->group_n);
	struct bt_slot *slot = &queue->slots[slot_ix];
	struct bt_waiting_group *group = &queue->groups[slot->group];

	BT_INVARIANT(group->n > 0 && same(group, slot));
	BT_INVARIANT(slot->prev == BT_NO_SLOT || queue->slots[slot->prev].next == slot_ix);
	BT_INVARIANT(slot->next == BT_NO_SLOT || queue->slots[slot->next].prev == slot_ix);
	if (slot->prev == BT_NO_SLOT) {
		group->first = slot->next;
	} else {
		queue->slots[slot->prev].next = slot->next;
	}
	if (slot->next == BT_NO_SLOT) {
		group->last = slot->prev;
	} else {
		queue->slots[slot->next].prev = slot->prev;
	}
	if (--group->n == 0) {
		unmake(queue, slot->group, slot);
	}
	slot->group = BT_NO_GROUP;
}
