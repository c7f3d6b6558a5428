/* SPDX-License-Identifier: Apache-2.0
 * Gathers nodes' numbers into consecutive arrays, column by column.
 */
#include "engine/score/gather.h"

#include "engine/base/check.h"
#include "cache/node_view.h"

#define RARE bt_resource_bit(BT_FIRST_RARE)

static void gather_add(struct bt_gather *gather, const int64_t *from, const int64_t **out_column)
{
	if (!from) {
		return;
	}
	if (gather->column_n < BT_GATHER_COLUMNS) {
		gather->from[gather->column_n] = from;
		*out_column = gather->columns[gather->column_n];
	}
	gather->column_n++;
}

bool bt_gather_begin(struct bt_gather *gather, const struct bt_view *view, uint64_t slots)
{
	const struct bt_snapshot *snapshot = view->snapshot;
	const struct bt_usage *usage = view->usage;

	gather->column_n = 0;
	gather->snapshot = (struct bt_snapshot){
		.dictionary = snapshot->dictionary, .version = snapshot->version, .slot_n = BT_GATHER_NODES};
	gather->snapshot.rooms = snapshot->rooms ? gather->rooms : NULL;
	gather->usage = (struct bt_usage){
		.nodes = usage->nodes ? gather->uses : NULL, .ports = usage->ports ? gather->ports : NULL};
	gather->rooms_from = snapshot->rooms;
	gather->uses_from = usage->nodes;
	gather->ports_from = usage->ports;
	if (slots & RARE && (snapshot->rare || (usage->rare && usage->rare->count))) {
		return false;
	}
	for (slots &= BT_SCALARS; slots; slots &= slots - 1) {
		uint32_t slot = (uint32_t)__builtin_ctzll(slots);

		gather_add(gather, snapshot->scalars[slot], &gather->snapshot.scalars[slot]);
		gather_add(gather, usage->scalars[slot], &gather->usage.scalars[slot]);
	}
	gather->view = (struct bt_view){
		.snapshot = &gather->snapshot,
		.usage = &gather->usage,
		.counting = view->counting,
		.storage = view->storage,
	};
	return gather->column_n <= BT_GATHER_COLUMNS;
}

void bt_gather_nodes(struct bt_gather *gather, const uint32_t *nodes, uint32_t n)
{
	BT_INVARIANT(n <= BT_GATHER_NODES && gather->column_n <= BT_GATHER_COLUMNS);
	for (uint32_t k = 0; k < gather->column_n; k++) {
		const int64_t *from = gather->from[k];
		int64_t *to = gather->columns[k];

		for (uint32_t i = 0; i < n; i++) {
			to[i] = from[nodes[i]];
		}
	}
	for (uint32_t i = 0; gather->rooms_from && i < n; i++) {
		gather->rooms[i] = gather->rooms_from[nodes[i]];
	}
	for (uint32_t i = 0; gather->uses_from && i < n; i++) {
		gather->uses[i] = gather->uses_from[nodes[i]];
	}
	for (uint32_t i = 0; gather->ports_from && i < n; i++) {
		gather->ports[i] = gather->ports_from[nodes[i]];
	}
}
