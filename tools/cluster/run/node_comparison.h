/* SPDX-License-Identifier: Apache-2.0
 * The API's and the scheduler's data of each node, as a sum of hashes and a count, in one round of a
 * comparer.
 * Context: one thread at a time; allocates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/map.h"

/* The items of a node on one side. The order in which they are added does not matter. */
struct bt_compared_side {
	uint64_t sum, n;
};

struct bt_compared {
	uint64_t key;	       /* a hash of the node's name; private */
	size_t name, name_end; /* private */
	struct bt_compared_side api, ours;
};

/* Zero-initialized, it is empty. Owns: bt_node_comparison_fini, which leaves it empty. */
struct bt_node_comparison {
	struct bt_compared *items; /* in the order of their first bt_node_comparison_of */
	size_t n;
	size_t cap;	      /* private */
	struct bt_map by_key; /* private: index in items */
	struct bt_buf names;  /* private */
};

void bt_node_comparison_fini(struct bt_node_comparison *comparison);

/* The node of that name, added if it is new. Valid until the next call. */
struct bt_compared *bt_node_comparison_of(struct bt_node_comparison *comparison, struct bt_str node);

/* The node's name. Valid until the next bt_node_comparison_of. */
struct bt_str bt_node_comparison_name(
	const struct bt_node_comparison *comparison, const struct bt_compared *node);

/* Adds an item with that hash to a side. */
static inline void bt_compared_add(struct bt_compared_side *side, uint64_t hash)
{
	side->sum += hash;
	side->n++;
}

/* Do the sides differ? */
bool bt_compared_differs(const struct bt_compared *node);

/* Had the node the same sides in an earlier round? A difference counts only then: an event may have been in
 * flight. */
bool bt_node_comparison_had(const struct bt_node_comparison *before, const struct bt_compared *node);
