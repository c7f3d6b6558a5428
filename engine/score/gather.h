/* SPDX-License-Identifier: Apache-2.0
 * Gathers scattered nodes: copies what plugins that depend on usage read of them into a view in which the
 * nodes are 0, 1, 2 and so on. Evaluating a range costs a fraction of evaluating node by node.
 */
#pragma once

#include "cache/node_view.h"
#include "cache/view.h"

#define BT_GATHER_NODES	  64
#define BT_GATHER_COLUMNS 32

struct bt_gather {
	struct bt_view view; /* of the gathered nodes */
	struct bt_snapshot snapshot;
	struct bt_usage usage;
	const struct bt_node_room *rooms_from;
	const struct bt_node_use *uses_from;
	const int64_t *from[BT_GATHER_COLUMNS];
	const struct bt_port_list *ports_from;
	uint32_t column_n;
	struct bt_node_room rooms[BT_GATHER_NODES];
	struct bt_node_use uses[BT_GATHER_NODES];
	int64_t columns[BT_GATHER_COLUMNS][BT_GATHER_NODES];
	struct bt_port_list ports[BT_GATHER_NODES];
};

/* slots: the resource slots that are read, as bits. Returns: false when these are more columns than fit, or
 * rare resources, which have no column. */
bool bt_gather_begin(struct bt_gather *gather, const struct bt_view *view, uint64_t slots);

/* Copies the nodes. Requires: n <= BT_GATHER_NODES. */
void bt_gather_nodes(struct bt_gather *gather, const uint32_t *nodes, uint32_t n);
