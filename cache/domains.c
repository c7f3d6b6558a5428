/* SPDX-License-Identifier: Apache-2.0
 * Domains of a topology key.
 */
#include "cache/domains_int.h"

#include "cache/topology_view.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"

#define SMALL_DOMAIN 32 /* nodes, on average */

static void widen(struct bt_domains *d, uint32_t n)
{
	uint32_t cap = d->cap ? d->cap : 16;

	while (cap < n) {
		cap *= 2;
	}
	if (cap == d->cap) {
		return;
	}
	d->value = bt_mem_realloc(d->value, cap, sizeof(*d->value));
	d->node_n = bt_mem_realloc(d->node_n, cap, sizeof(*d->node_n));
	if (d->first) {
		d->first = bt_mem_realloc(d->first, cap, sizeof(*d->first));
	}
	d->cap = cap;
}

/* The number of the domain with a value, which is new if no node has it. */
static uint32_t number(struct bt_domains *d, uint32_t value)
{
	uint32_t ix;

	if (bt_map_get(&d->ixs, value, &ix)) {
		return ix;
	}
	if (!bt_index_allocator_take(&d->vacant, &ix)) {
		ix = d->n++;
		widen(d, d->n);
	}
	bt_map_put(&d->ixs, value, ix);
	d->value[ix] = value;
	d->node_n[ix] = 0;
	if (d->first) {
		d->first[ix] = BT_NO_NODE;
	}
	return ix;
}

static void link_node(struct bt_domains *d, uint32_t slot, uint32_t ix)
{
	uint32_t next = d->first[ix];

	BT_INVARIANT(slot < d->room && ix < d->n && (next == BT_NO_NODE || next < d->room));
	d->next[slot] = next;
	d->previous[slot] = BT_NO_NODE;
	if (next != BT_NO_NODE) {
		d->previous[next] = slot;
	}
	d->first[ix] = slot;
}

static void unlink_node(struct bt_domains *d, uint32_t slot, uint32_t ix)
{
	uint32_t next = d->next[slot], previous = d->previous[slot];

	BT_INVARIANT(slot < d->room && ix < d->n);
	if (next != BT_NO_NODE) {
		d->previous[next] = previous;
	}
	if (previous != BT_NO_NODE) {
		d->next[previous] = next;
	} else {
		BT_INVARIANT(d->first[ix] == slot);
		d->first[ix] = next;
	}
}

/* Puts the nodes of each domain on a list, in ascending order. */
static void list_nodes(struct bt_domains *d)
{
	d->first = bt_mem_realloc(NULL, d->cap, sizeof(*d->first));
	d->next = bt_mem_column(d->room, sizeof(*d->next));
	d->previous = bt_mem_column(d->room, sizeof(*d->previous));
	for (uint32_t i = 0; i < d->n; i++) {
		d->first[i] = BT_NO_NODE;
	}
	for (uint32_t slot = d->room; slot-- > 0;) {
		if (d->of[slot] != BT_NO_DOMAIN) {
			link_node(d, slot, d->of[slot]);
		}
	}
}

/* The value by which a node has its domain; BT_NAME_NONE: it is in none. */
static uint32_t value_of(
	const struct bt_domains *d, const struct bt_snapshot *snapshot, uint32_t slot, uint32_t label)
{
	if (!bt_slot_is_live(snapshot, slot)) {
		return BT_NAME_NONE;
	}
	return label == BT_NAME_NONE && d->lacking ? BT_NAME_EMPTY : label;
}

void bt_domains_init(struct bt_domains *d, const struct bt_snapshot *snapshot, uint32_t key, bool lacking,
	const uint32_t *values)
{
	uint32_t room = snapshot->slot_n > snapshot->slot_room ? snapshot->slot_n : snapshot->slot_room;

	BT_REQUIRE((key == BT_NAME_NONE) == (values == NULL));
	*d = (struct bt_domains){.key = key, .lacking = lacking, .room = room};
	d->of = bt_mem_column(room, sizeof(*d->of));
	if (key == BT_NAME_NONE) {
		for (; d->n < room; d->n++) {
			d->of[d->n] = d->n;
		}
		return;
	}
	widen(d, 1);
	for (uint32_t slot = 0; slot < room; slot++) {
		uint32_t label = slot < snapshot->slot_n ? values[slot] : BT_NAME_NONE;
		uint32_t value = value_of(d, snapshot, slot, label);

		d->of[slot] = value == BT_NAME_NONE ? BT_NO_DOMAIN : number(d, value);
		if (value != BT_NAME_NONE) {
			d->node_n[d->of[slot]]++;
		}
	}
	if ((uint64_t)d->n * SMALL_DOMAIN >= snapshot->node_n) {
		list_nodes(d);
	}
	BT_INVARIANT(d->n <= snapshot->slot_n && d->n <= d->cap);
}

void bt_domains_fini(struct bt_domains *d)
{
	bt_mem_free(d->of);
	bt_mem_free(d->value);
	bt_mem_free(d->node_n);
	bt_mem_free(d->first);
	bt_mem_free(d->next);
	bt_mem_free(d->previous);
	bt_map_fini(&d->ixs);
	bt_index_allocator_fini(&d->vacant);
	*d = (struct bt_domains){.n = 0};
}

static void leave_domain(struct bt_domains *d, uint32_t slot, uint32_t ix)
{
	BT_INVARIANT(d->node_n[ix] > 0);
	if (d->first) {
		unlink_node(d, slot, ix);
	}
	if (--d->node_n[ix] == 0) {
		bt_map_remove(&d->ixs, d->value[ix]);
		bt_index_allocator_give(&d->vacant, ix);
	}
}

void bt_domains_follow(struct bt_domains *d, const struct bt_snapshot *snapshot, uint32_t slot)
{
	BT_REQUIRE_HOT(slot < d->room);
	d->was = d->of[slot];
	if (d->key == BT_NAME_NONE) {
		return;
	}
	bool live = bt_slot_is_live(snapshot, slot);
	uint32_t label = live ? bt_labels_get(snapshot->nodes[slot].labels, d->key) : BT_NAME_NONE;
	uint32_t value = value_of(d, snapshot, slot, label);

	if (d->was != BT_NO_DOMAIN) {
		if (value == d->value[d->was]) {
			return;
		}
		leave_domain(d, slot, d->was);
	}
	d->of[slot] = value == BT_NAME_NONE ? BT_NO_DOMAIN : number(d, value);
	if (value != BT_NAME_NONE) {
		d->node_n[d->of[slot]]++;
		if (d->first) {
			link_node(d, slot, d->of[slot]);
		}
	}
	BT_INVARIANT(d->n <= d->room && d->n <= d->cap);
}
