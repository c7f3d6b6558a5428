/* SPDX-License-Identifier: Apache-2.0
 * The types of nodes that can be bought: Nodes as templates, with a price and, if it is limited, their number
 * in annotations.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/model/object.h"
#include "tools/offline/simulate/loaded_cluster.h"

#define BT_PRICE_ANNOTATION "berth.dev/price" /* of a node, in any unit: per hour, say */
#define BT_TYPE_LABEL	    "node.kubernetes.io/instance-type"
#define BT_LIMIT_ANNOTATION "berth.dev/limit" /* how many can be bought; without it any number */

struct bt_node_type {
	struct bt_node_object node;
	struct bt_str name; /* its label node.kubernetes.io/instance-type, or else its own */
	double price;	    /* > 0 */
	uint32_t limit;	    /* UINT32_MAX: none */
};

/* Zero-initialized, it is empty. Owns: bt_node_types_fini. */
struct bt_node_types {
	struct bt_node_type *items; /* the cheapest first */
	size_t n, cap;
	struct bt_arena arena;
	struct bt_buf trouble; /* why a file is refused */
};

/* Adds the types of a file. Returns: BT_EXIT_OK; BT_EXIT_INPUT with a message on standard error. */
int bt_node_types_read(struct bt_node_types *types, struct bt_loaded_cluster *cluster, const char *path);

/* The amount of a resource that a node of the type has, in the unit of its slot; 0: it has none. */
double bt_node_type_amount(const struct bt_node_type *type, struct bt_str resource, uint32_t slot);

/* Adds a new node of the type in the open transaction, named TYPE-new-N, where N is above *number and becomes
 * that. Returns: its slot. */
uint32_t bt_node_type_add(const struct bt_node_type *type, struct bt_engine *engine, uint32_t *number);

/* The type of that name, or NULL. */
const struct bt_node_type *bt_node_types_find(const struct bt_node_types *types, struct bt_str name);

void bt_node_types_fini(struct bt_node_types *types);
