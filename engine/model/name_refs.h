/* SPDX-License-Identifier: Apache-2.0
 * Names that an owner holds for its lifetime, and releases together.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/model/intern.h"

/* All zeroes except the dictionary. Context: one thread at a time. */
struct bt_name_refs {
	struct bt_intern *intern;
	bool pins;     /* the names are never freed, and are not listed */
	bool unlisted; /* they are not listed: the caller that adds them releases them */
	/* private: */
	uint32_t *items;
	size_t n, cap;
};

/* Names added to it are never freed. */
static inline struct bt_name_refs bt_name_refs_pinned(struct bt_intern *intern)
{
	return (struct bt_name_refs){.intern = intern, .pins = true};
}

/* Holds the string and returns its number. May allocate. */
uint32_t bt_name_refs_add(struct bt_name_refs *held, struct bt_str s);

/* The same for a name that is held already. */
void bt_name_refs_add_name(struct bt_name_refs *held, uint32_t name);

/* Moves all names of the other to this one; the other is empty afterwards. Requires: both use the same
 * dictionary, and list names. */
void bt_name_refs_move(struct bt_name_refs *held, struct bt_name_refs *from);

/* Releases all names. Afterwards held is empty. */
void bt_name_refs_release(struct bt_name_refs *held);
