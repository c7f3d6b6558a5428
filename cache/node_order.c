/* SPDX-License-Identifier: Apache-2.0
 * Zones, round-robin.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/node_order_int.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"

/* A node with what it is sorted by. */
struct node_order_visit {
	uint64_t round, zone_place, place;
	uint32_t slot;
};

void bt_node_order_fini(struct bt_node_order *order)
{
	bt_mem_free(order->zones);
	bt_mem_free(order->members);
	bt_mem_free(order->list);
	bt_map_fini(&order->zone_ixs);
	bt_index_allocator_fini(&order->vacant);
	*order = (struct bt_node_order){0};
}

void bt_node_order_trim(struct bt_node_order *order, size_t slot_n)
{
	if (slot_n < order->member_n) {
		order->members = bt_mem_realloc(order->members, slot_n, sizeof(*order->members));
		order->member_n = slot_n;
	}
}

/* Nodes without a zone have key 0, which the map does not allow. */
static uint64_t map_key(uint64_t zone_key)
{
	return zone_key + 1;
}

static uint32_t zone_ix(struct bt_node_order *order, uint64_t key)
{
	uint32_t ix;

	if (bt_map_get(&order->zone_ixs, map_key(key), &ix)) {
		return ix;
	}
	if (!bt_index_allocator_take(&order->vacant, &ix)) {
		order->zones =
			bt_mem_grow(order->zones, order->zone_n, &order->zone_cap, sizeof(*order->zones));
		ix = (uint32_t)order->zone_n++;
	}
	order->zones[ix] = (struct bt_zone){.key = key};
	bt_map_put(&order->zone_ixs, map_key(key), ix);
	BT_INVARIANT(order->zones[ix].key == key);
	return ix;
}

static void make_room(struct bt_node_order *order, uint32_t slot)
{
	size_t old = order->member_n, n = old ? old : 64;

	while (n <= slot) {
		n *= 2;
	}
	if (n != old) {
		order->members = bt_mem_realloc(order->members, n, sizeof(*order->members));
		memset(order->members + old, 0, (n - old) * sizeof(*order->members));
		order->member_n = n;
	}
}

void bt_node_order_put(struct bt_node_order *order, uint32_t slot, uint64_t zone_key)
{
	make_room(order, slot);
	uint32_t ix = zone_ix(order, zone_key);
	struct bt_zone_member *member = &order->members[slot];
	if (member->place && member->zone_ix == ix) {
		return;
	}
	/* Upstream rebuilds the list when a node is added or removed, not when one only changes its zone. */
	int stale = order->stale || !member->place;
	bt_node_order_remove(order, slot);
	if (order->zones[ix].node_n++ == 0) {
		order->zones[ix].place = ++order->next_place;
	}
	*member = (struct bt_zone_member){ix, ++order->next_place};
	BT_INVARIANT(order->zones[ix].node_n > 0 && order->zones[ix].place);
	order->node_n++;
	order->stale = stale;
}

void bt_node_order_remove(struct bt_node_order *order, uint32_t slot)
{
	if (slot >= order->member_n || !order->members[slot].place) {
		return;
	}
	uint32_t ix = order->members[slot].zone_ix;
	BT_INVARIANT(ix < order->zone_n && order->zones[ix].node_n > 0 && order->node_n > 0);

	if (--order->zones[ix].node_n == 0) {
		bt_map_remove(&order->zone_ixs, map_key(order->zones[ix].key));
		bt_index_allocator_give(&order->vacant, ix);
	}
	order->members[slot].place = 0;
	order->node_n--;
	order->stale = 1;
}

void bt_node_order_move(struct bt_node_order *order, uint32_t from, uint32_t to)
{
	if (from >= order->member_n || !order->members[from].place) {
		return;
	}
	BT_REQUIRE(to < from && !order->members[to].place);
	order->members[to] = order->members[from];
	/* Records the new slot for the list: rebuilding it would apply zone changes too early. */
	order->members[from] = (struct bt_zone_member){.zone_ix = to};
}

void bt_node_order_follow(struct bt_node_order *order)
{
	for (uint32_t i = 0; !order->stale && i < order->node_n; i++) {
		const struct bt_zone_member *member = &order->members[order->list[i]];

		BT_INVARIANT(member->place || order->members[member->zone_ix].place);
		order->list[i] = member->place ? order->list[i] : member->zone_ix;
	}
}

void bt_node_order_save(
	struct bt_node_order *order, uint32_t slot, bool added_or_removed, struct bt_node_place *out_place)
{
	*out_place = (struct bt_node_place){.stale = order->stale};
	if (slot < order->member_n && order->members[slot].place) {
		const struct bt_zone_member *member = &order->members[slot];

		out_place->place = member->place;
		out_place->zone_place = order->zones[member->zone_ix].place;
	}
	/* A valid list may not follow from the zones: it does not follow their changes. */
	if (added_or_removed && !order->stale) {
		out_place->list = order->list;
		order->list = NULL;
		order->stale = 1;
	}
}

void bt_node_order_restore(struct bt_node_order *order, uint32_t slot, struct bt_node_place *place)
{
	if (place->place) {
		BT_REQUIRE(slot < order->member_n && order->members[slot].place);
		order->members[slot].place = place->place;
		order->zones[order->members[slot].zone_ix].place = place->zone_place;
	}
	if (place->list) {
		bt_mem_free(order->list);
		order->list = place->list;
		place->list = NULL;
	}
	order->stale = place->stale;
}

static int by_place(const void *a, const void *b)
{
	const struct node_order_visit *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

static int by_round(const void *a, const void *b)
{
	const struct node_order_visit *x = a, *y = b;

	if (x->round != y->round) {
		return x->round < y->round ? -1 : 1;
	}
	return x->zone_place < y->zone_place ? -1 : x->zone_place > y->zone_place;
}

static void build(struct bt_node_order *order)
{
	struct node_order_visit *visits = bt_mem_zalloc(order->node_n, sizeof(*visits));
	uint64_t *rounds = bt_mem_zalloc(order->zone_n, sizeof(*rounds));
	uint32_t n = 0;

	for (uint32_t slot = 0; slot < order->member_n; slot++) {
		if (order->members[slot].place) {
			visits[n++] =
				(struct node_order_visit){.place = order->members[slot].place, .slot = slot};
		}
	}
	BT_INVARIANT(n == order->node_n);
	qsort(visits, n, sizeof(*visits), by_place);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t zone = order->members[visits[i].slot].zone_ix;

		visits[i].round = rounds[zone]++;
		visits[i].zone_place = order->zones[zone].place;
	}
	qsort(visits, n, sizeof(*visits), by_round);
	order->list = bt_mem_realloc(order->list, n, sizeof(*order->list));
	for (uint32_t i = 0; i < n; i++) {
		order->list[i] = visits[i].slot;
	}
	bt_mem_free(visits);
	bt_mem_free(rounds);
	order->stale = 0;
}

const uint32_t *bt_node_order_list(struct bt_node_order *order)
{
	if (order->stale) {
		build(order);
	}
	return order->list;
}
