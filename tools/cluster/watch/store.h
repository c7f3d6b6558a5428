/* SPDX-License-Identifier: Apache-2.0
 * What a reader has seen of one kind: of each object its name, UID and resource version.
 * So what a list does not show any more can be told as gone, and what has not changed need not be told again.
 * Some sixty bytes an object: names are interned, UIDs and versions are numbers.
 *
 * Context: one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/model/intern.h"
#include "engine/model/object.h"

struct bt_listed;

/* names: where namespaces and names are interned; outlives it. Owns: bt_listed_destroy. */
struct bt_listed *bt_listed_create(struct bt_intern *names);
void bt_listed_destroy(struct bt_listed *known);

uint32_t bt_listed_n(const struct bt_listed *known);

enum bt_listed_news {
	BT_LISTED_CHANGED = 0, /* new, or another one than before */
	BT_LISTED_SAME,	       /* the same version of the same object */
	BT_LISTED_OLD	       /* an earlier version than the one that is known */
};

/* The longest name of an object, or of its namespace. */
#define BT_LISTED_NAME_BYTES 1024u

/* An object is shown. It counts as listed. Requires: a name, and none too long. */
enum bt_listed_news bt_listed_show(struct bt_listed *known, const struct bt_meta_object *meta);

/* An object has gone. Returns: false when it is not known, or what is known is younger. */
bool bt_listed_remove(struct bt_listed *known, const struct bt_meta_object *meta);

/* A list begins: what it does not show until it is swept has gone. */
void bt_listed_begin_list(struct bt_listed *known);

/* An object that has gone. Views, until the next call of any of these. */
struct bt_listed_object {
	struct bt_str namespace_, name;
	struct bt_str uid, version; /* version: empty when it is no number */
	char uid_text[40], version_text[24];
};

/* The next object that the list has not shown, from *cursor on, which begins at 0. Returns: false when there
 * is none any more. */
bool bt_listed_next_gone(struct bt_listed *known, uint32_t *cursor, struct bt_listed_object *out);

/* Removes what bt_listed_next_gone has given. */
void bt_listed_forget(struct bt_listed *known, uint32_t cursor);
