/* SPDX-License-Identifier: Apache-2.0
 * The objects of a kind that could not be decoded completely, and why: for metrics, /debug/unread and alerts.
 * An object is listed until it is decoded completely, or deleted.
 * Context: one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/map.h"
#include "engine/model/object.h"
#include "tools/format/proto.h"

/* A view, until the next call. */
struct bt_unread_object {
	struct bt_str namespace_, name, uid, why;
	enum bt_proto_extent extent; /* not whole */
};

/* Private. All zeroes: empty. */
struct bt_unread {
	struct bt_unread_entry *entries;
	size_t n, cap;
	struct bt_map by_key;
	uint64_t replaced_n;
};

void bt_unread_fini(struct bt_unread *unread);

/* Records how far an object was decoded. Returns: whether it was incomplete and was not recorded yet. */
bool bt_unread_note(struct bt_unread *unread, const struct bt_meta_object *meta, enum bt_proto_extent extent,
	struct bt_str why);

/* How many objects have been decoded to that extent. */
uint64_t bt_unread_n(const struct bt_unread *unread, enum bt_proto_extent extent);

void bt_unread_each(const struct bt_unread *unread,
	void (*call)(void *context, const struct bt_unread_object *object), void *context);
