/* SPDX-License-Identifier: Apache-2.0
 * Reversible changes of nodes.
 */
#include "cache/node_change.h"

#include "cache/ingest.h"
#include "engine/base/check.h"

/* Adopts a description that is not published. */
static void node_change_adopt(
	struct bt_cache *cache, uint32_t slot, const struct bt_node_desc *old, const struct bt_node_desc *new)
{
	const struct bt_node_delta delta = {.desc = new, .old = old, .slot = slot, .taken = true};

	bt_cache_adopt_node(cache, &delta);
}

void bt_node_change_make(struct bt_cache *cache, uint32_t name, const struct bt_node_desc *new,
	struct bt_node_change *out_change)
{
	uint32_t known = bt_snapshot_find(cache->snapshot, name);
	const struct bt_node_desc *old =
		known == BT_NO_NODE ? NULL : bt_snapshot_desc(cache->snapshot, known);

	BT_REQUIRE((old || new) && (!new || new->name == name));
	*out_change = (struct bt_node_change){.old = old, .new = new};
	bt_snapshot_mark(cache->snapshot, name, !old || !new, &out_change->mark);
	out_change->slot = bt_snapshot_enter(cache->snapshot, name);
	bt_ledger_reserve(cache->ledger, cache->view.snapshot->slot_n);
	node_change_adopt(cache, out_change->slot, old, new);
}

void bt_node_change_revert(struct bt_cache *cache, struct bt_node_change *change)
{
	node_change_adopt(cache, change->slot, change->new, change->old);
	if (change->mark.entered) {
		bt_cache_leave_slot(cache, change->slot);
	}
	bt_snapshot_revert(cache->snapshot, change->slot, &change->mark);
}
