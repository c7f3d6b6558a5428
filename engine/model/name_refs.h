/* SPDX-License-Identifier: Apache-2.0
 * Names that an owner holds as long as it is there, and lets go together.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/model/intern.h"

/* Zeroes but for the dictionary. Context: one thread at a time. */
struct bt_name_refs {
	struct bt_intern *intern;
	bool pins;     /* the names stay for ever, and are not listed */
	bool unlisted; /* they are not listed: the caller that adds them releases them */
	/* private: */
	uint32_t *items;
	size_t n, cap;
};

/* What is added to it stays for ever. */
static inline struct bt_name_refs bt_name_refs_keep(struct bt_intern *intern)
{
	return (struct bt_name_refs){.intern = intern, .pins = true};
}

/* The number of the string, which is held from now on. May allocate. */
uint32_t bt_name_refs_add(struct bt_name_refs *held, struct bt_str s);

/* The same for a name that somebody holds already. */
void bt_name_refs_add_name(struct bt_name_refs *held, uint32_t name);

/* The names that another holds are held by this one from now on, and the other is as it began. Requires: both
 * are of one dictionary, and listed. */
void bt_name_refs_move(struct bt_name_refs *held, struct bt_name_refs *from);

/* Lets all names go. Afterwards held is as it began. */
void bt_name_refs_release(struct bt_name_refs *held);
