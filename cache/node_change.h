/* SPDX-License-Identifier: Apache-2.0
 * Reversible changes of nodes. The scheduling thread's columns and ledger use a description that is not
 * published, until the former one is restored. Plans follow a node that changes, comes or goes.
 * Context: the scheduling thread, between cycles.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bt_cache;
struct bt_node_desc;

/* A node's place in the order of nodes. Private. */
struct bt_node_place {
	uint64_t zone_place, place; /* place 0: the node was not listed */
	uint32_t *list;		    /* the order before the node was added or removed, if it was valid */
	int stale;
};

/* An image that the node alone has, with a size that another one reported before. */
struct bt_image_size {
	uint32_t name;
	int64_t bytes;
};

/* What a revert restores besides the description. Private. */
struct bt_snapshot_mark {
	struct bt_node_place place;
	uint32_t kept_n, slot_n;
	bool entered; /* the change took the slot */
	struct bt_image_size *sizes;
	size_t size_n, size_cap;
};

struct bt_node_change {
	uint32_t slot;
	const struct bt_node_desc *old, *new; /* NULL: the node is not live */
	struct bt_snapshot_mark mark;	      /* private */
};

/*
 * Changes a node until the revert. new: its description; NULL: it is removed, and its pods stay on its slot.
 * Requires: new has that name; one of the old and the new description is not NULL.
 * Owns: the caller owns new, which must live until bt_node_change_revert.
 */
void bt_node_change_make(struct bt_cache *cache, uint32_t name, const struct bt_node_desc *new,
	struct bt_node_change *out_change);

/* Restores a node, its slot and its place among the nodes. Requires: changes are reverted in LIFO order.
 * Owns: the caller may free new by bt_node_desc_defer. */
void bt_node_change_revert(struct bt_cache *cache, struct bt_node_change *change);
