/* SPDX-License-Identifier: Apache-2.0
 * Kinds of pods that no node can help.
 */
#include "engine/flow/cycle/known_unresolvable.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"

/* Maximum number of recorded signatures. One more clears the table; each is then evaluated again. */
#define KINDS_MAX 65536

void bt_known_unresolvables_fini(struct bt_known_unresolvables *known)
{
	bt_map_fini(&known->ixs);
	bt_mem_free(known->items);
}

void bt_known_unresolvables_forget(struct bt_known_unresolvables *known)
{
	bt_map_fini(&known->ixs);
	known->n = 0;
}

struct bt_known_unresolvable *bt_known_unresolvables_of(struct bt_known_unresolvables *known, uint64_t kind)
{
	BT_REQUIRE_HOT(kind != 0);
	uint32_t ix;

	if (!bt_map_get(&known->ixs, kind, &ix)) {
		if (known->n == KINDS_MAX) {
			bt_known_unresolvables_forget(known);
		}
		known->items = bt_mem_grow(known->items, known->n, &known->cap, sizeof(*known->items));
		ix = (uint32_t)known->n++;
		known->items[ix] = (struct bt_known_unresolvable){.when.snapshot = UINT64_MAX};
		bt_map_put(&known->ixs, kind, ix);
	}
	BT_INVARIANT(ix < known->n && known->n <= KINDS_MAX);
	return &known->items[ix];
}
