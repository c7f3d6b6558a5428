/* SPDX-License-Identifier: Apache-2.0
 * The objects that a reflector has seen of one kind: name, UID and resource version of each. So objects that
 * a list no longer contains are reported as deleted, and unchanged ones are not reported again. Some sixty
 * bytes an object: names are interned, UIDs and versions are numbers.
 *
 * Context: one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/model/intern.h"
#include "engine/model/object.h"

struct bt_store;

/* names: where namespaces and names are interned; outlives it. Owns: bt_store_destroy. */
struct bt_store *bt_store_create(struct bt_intern *names);
void bt_store_destroy(struct bt_store *known);

uint32_t bt_store_n(const struct bt_store *known);

enum bt_store_change {
	BT_STORE_CHANGED = 0, /* new, or another version than before */
	BT_STORE_SAME,	      /* the known version of the known object */
	BT_STORE_OLD	      /* an earlier version than the known one */
};

/* The longest name of an object, or of its namespace. */
#define BT_STORE_NAME_BYTES 1024u

/* Enters a shown object and marks it as listed. Requires: a name, and none too long. */
enum bt_store_change bt_store_show(struct bt_store *known, const struct bt_meta_object *meta);

/* Removes a deleted object. Returns: false when it is not known, or the known one is newer. */
bool bt_store_remove(struct bt_store *known, const struct bt_meta_object *meta);

/* Begins a list: objects that it does not show before the sweep are deleted. */
void bt_store_begin_list(struct bt_store *known);

/* A deleted object. Views, until the next call of any of these. */
struct bt_store_object {
	struct bt_str namespace_, name;
	struct bt_str uid, version; /* version: empty when it is not a number */
	char uid_text[40], version_text[24];
};

/* The next object that the list has not shown, from *cursor on, which starts at 0. Returns: false when there
 * are no more. */
bool bt_store_next_gone(struct bt_store *known, uint32_t *cursor, struct bt_store_object *out);

/* Removes the object that bt_store_next_gone has returned. */
void bt_store_forget(struct bt_store *known, uint32_t cursor);
