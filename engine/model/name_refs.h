/* SPDX-License-Identifier: Apache-2.0
 * Names that an owner holds as long as it is there, and lets go together.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/model/intern.h"

/* Zeroes but for the dictionary. Context: one thread at a time. */
struct bt_held {
	struct bt_intern *intern;
	bool pins;     /* the names stay for ever, and are not listed */
	bool unlisted; /* they are not listed: whoever adds them releases them himself */
	/* private: */
	uint32_t *items;
	size_t n, cap;
};

/* What is added to it stays for ever. */
static inline struct bt_held bt_held_for_ever(struct bt_intern *intern)
{
	return (struct bt_held){.intern = intern, .pins = true};
}

/* The number of the string, which is held from now on. May allocate. */
uint32_t bt_held_add(struct bt_held *held, struct bt_str s);

/* The same of a name that somebody holds already. */
void bt_held_add_name(struct bt_held *held, uint32_t name);

/* The names that another holds are held by this one from now on, and the other is as it began. Requires: both
 * are of one dictionary, and listed. */
void bt_held_move(struct bt_held *held, struct bt_held *from);

/* Lets all names go. Afterwards held is as it began. */
void bt_held_release(struct bt_held *held);
