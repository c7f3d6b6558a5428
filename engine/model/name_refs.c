/* SPDX-License-Identifier: Apache-2.0
 * Names that an owner holds.
 */
#include "engine/model/name_refs.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"

static void list(struct bt_name_refs *held, uint32_t name)
{
	BT_INVARIANT(name >= BT_NAME_FIXED_N);
	if (held->unlisted) {
		return;
	}
	held->items = bt_mem_grow(held->items, held->n, &held->cap, sizeof(*held->items));
	held->items[held->n++] = name;
}

uint32_t bt_name_refs_add(struct bt_name_refs *held, struct bt_str s)
{
	BT_REQUIRE_HOT(held->intern);
	if (held->pins) {
		return bt_intern_add(held->intern, s);
	}
	uint32_t name = bt_intern_hold(held->intern, s);

	/* Names with fixed numbers are not released. */
	if (name >= BT_NAME_FIXED_N) {
		list(held, name);
	}
	return name;
}

void bt_name_refs_add_name(struct bt_name_refs *held, uint32_t name)
{
	if (held->pins) {
		bt_intern_pin(held->intern, name);
	} else if (name >= BT_NAME_FIXED_N) {
		bt_intern_hold_again(held->intern, name);
		list(held, name);
	}
}

void bt_name_refs_move(struct bt_name_refs *held, struct bt_name_refs *from)
{
	BT_INVARIANT(held->intern == from->intern || from->n == 0);
	for (size_t i = 0; i < from->n; i++) {
		list(held, from->items[i]);
	}
	from->n = 0;
	bt_name_refs_release(from);
}

void bt_name_refs_release(struct bt_name_refs *held)
{
	if (!held->items) {
		return;
	}
	while (held->n) {
		bt_intern_release(held->intern, held->items[--held->n]);
	}
	bt_mem_free(held->items);
	held->items = NULL;
	held->cap = 0;
}
