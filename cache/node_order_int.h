/* SPDX-License-Identifier: Apache-2.0
 * The order in which kube-scheduler visits nodes when it samples: round-robin over zones.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/node_change.h"
#include "engine/base/index_allocator.h"
#include "engine/base/map.h"

/* A zone keeps its place while it has a node. */
struct bt_zone {
	uint64_t key;
	uint64_t place; /* when it last became non-empty */
	uint32_t node_n;
};

struct bt_zone_member {
	uint32_t zone_ix;
	uint64_t place; /* when the node entered the zone; 0: none */
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

/*
 * Saves a node's place before the node is added, removed, or moved to another zone; and restores it after the
 * node is as before, in LIFO order. added_or_removed: the list is saved, too.
 * Owns: the place owns the list until it is restored.
 */
void bt_node_order_save(
	struct bt_node_order *order, uint32_t slot, bool added_or_removed, struct bt_node_place *out_place);
void bt_node_order_restore(struct bt_node_order *order, uint32_t slot, struct bt_node_place *place);

/* Frees capacity for slots from slot_n on. Requires: none is in. */
void bt_node_order_trim(struct bt_node_order *order, size_t slot_n);

void bt_node_order_remove(struct bt_node_order *order, uint32_t slot);

/* Changes the slot of a node, which keeps its place. After some moves, before the slots are reused, call
 * bt_node_order_follow. */
void bt_node_order_move(struct bt_node_order *order, uint32_t from, uint32_t to);

/* Replaces moved slots in the list. */
void bt_node_order_follow(struct bt_node_order *order);

/* All nodes in order; rebuilt after changes. */
const uint32_t *bt_node_order_list(struct bt_node_order *order);
