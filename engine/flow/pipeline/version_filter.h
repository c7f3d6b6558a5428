/* SPDX-License-Identifier: Apache-2.0
 * Stage 8: which events are stale. Of each object that has a UID or a resource version the last one that
 * was seen is remembered, and of the last few that were deleted, too; what arrives late, twice or in the
 * wrong order is recognised by that. Objects that have neither are always fresh.
 * Context: the scheduling thread; bt_object_version_of: any thread.
 */
#pragma once

#include <stdbool.h>

#include "engine/base/map.h"
#include "engine/model/object.h"

/* What an event shows of an object's identity. Hashes; 0: not known. */
struct bt_object_version {
	uint64_t key;	  /* of kind, namespace and name */
	uint64_t version; /* metadata.resourceVersion, when it is a number */
	uint32_t check;	  /* a second hash of the same as key */
	uint32_t uid;
};

struct bt_object_version bt_object_version_of(const struct bt_object *object);

struct bt_fresh_entry {
	uint64_t key, version;
	uint32_t check, uid;
	uint32_t tomb; /* of what is gone: its place there */
	bool gone;
};

/* All zeroes but tombstone_max is an empty one. owner: private to version_filter.c. Owns:
 * bt_version_filter_fini. */
struct bt_version_filter {
	struct bt_map ixs;
	struct bt_fresh_entry *entries;
	uint32_t *tombs; /* entries of what is gone, the oldest at tomb_first */
	size_t entry_n, entry_cap;
	uint32_t tombstone_max, tomb_first, tomb_n;
};

enum bt_version_verdict {
	BT_VERSION_NEW = 0,
	BT_VERSION_REPLACED, /* new, and another object: its deletion has not been seen */
	BT_VERSION_STALE
};

void bt_version_filter_fini(struct bt_version_filter *version_filter);

/* Has fetched what is known under that name, which will be asked for soon. */
static inline void bt_version_filter_prefetch(
	const struct bt_version_filter *version_filter, const struct bt_object_version *seen)
{
	bt_map_prefetch(&version_filter->ixs, seen->key);
}

/* An object is shown. May allocate. */
enum bt_version_verdict bt_version_filter_apply(
	struct bt_version_filter *version_filter, const struct bt_object_version *seen);

/* An object is shown to have gone. Stale, too, when it is an older one than what has that name now. */
enum bt_version_verdict bt_version_filter_delete(
	struct bt_version_filter *version_filter, const struct bt_object_version *seen);
