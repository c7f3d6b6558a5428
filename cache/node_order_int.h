/* SPDX-License-Identifier: Apache-2.0
 * The order in which kube-scheduler visits nodes when it samples: one node of each zone in turn.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/base/index_allocator.h"
#include "engine/base/map.h"

/* A zone keeps its place as long as it has a node. */
struct bt_zone {
	uint64_t key;
	uint64_t place; /* when it last became non-empty */
	uint32_t node_n;
};

struct bt_zone_member {
	uint32_t zone_ix;
	uint64_t place; /* when the node entered the zone; 0: not there */
};

struct bt_node_order {
	struct bt_zone *zones;
	size_t zone_n, zone_cap;
	struct bt_map zone_ixs;
	struct bt_index_allocator vacant; /* zones without nodes */
	struct bt_zone_member *members;	  /* by node slot */
	size_t member_n;
	uint64_t next_place;
	uint32_t *list; /* valid unless stale */
	uint32_t node_n;
	int stale;
};

void bt_node_order_fini(struct bt_node_order *order);

/* Enters a node, or moves it when its zone has changed. */
void bt_node_order_put(struct bt_node_order *order, uint32_t slot, uint64_t zone_key);

/* Gives up room for slots from slot_n on, none of which is in. */
void bt_node_order_trim(struct bt_node_order *order, size_t slot_n);

void bt_node_order_remove(struct bt_node_order *order, uint32_t slot);

/* A node has another slot, and keeps its place. After some moves, before the slots are others':
 * bt_node_order_follow. */
void bt_node_order_move(struct bt_node_order *order, uint32_t from, uint32_t to);

/* The list names nodes by the slots to which they were moved. */
void bt_node_order_follow(struct bt_node_order *order);

/* All nodes that are in, in order; built when something has changed since. */
const uint32_t *bt_node_order_list(struct bt_node_order *order);
