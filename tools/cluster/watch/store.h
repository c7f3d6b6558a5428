/* SPDX-License-Identifier: Apache-2.0
 * What a reader has seen of one kind: of each object its name, UID and resource version.
 * So what a list does not show any more can be reported as gone, and what has not changed need not be
 * reported again. Some sixty bytes an object: names are interned, UIDs and versions are numbers.
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
	BT_STORE_CHANGED = 0, /* new, or another one than before */
	BT_STORE_SAME,	      /* the same version of the same object */
	BT_STORE_OLD	      /* an earlier version than the one that is known */
};

/* The longest name of an object, or of its namespace. */
#define BT_STORE_NAME_BYTES 1024u

/* An object is shown. It counts as listed. Requires: a name, and none too long. */
enum bt_store_change bt_store_show(struct bt_store *known, const struct bt_meta_object *meta);

/* An object has gone. Returns: false when it is not known, or what is known is younger. */
bool bt_store_remove(struct bt_store *known, const struct bt_meta_object *meta);

/* A list begins: what it does not show until it is swept has gone. */
void bt_store_begin_list(struct bt_store *known);

/* An object that has gone. Views, until the next call of any of these. */
struct bt_store_object {
	struct bt_str namespace_, name;
	struct bt_str uid, version; /* version: empty when it is no number */
	char uid_text[40], version_text[24];
};

/* The next object that the list has not shown, from *cursor on, which begins at 0. Returns: false when there
 * is none any more. */
bool bt_store_next_gone(struct bt_store *known, uint32_t *cursor, struct bt_store_object *out);

/* Removes what bt_store_next_gone has given. */
void bt_store_forget(struct bt_store *known, uint32_t cursor);
