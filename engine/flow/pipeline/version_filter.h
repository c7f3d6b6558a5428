/* SPDX-License-Identifier: Apache-2.0
 * Stage 8: detects stale events. For each object that has a UID or a resource version the filter stores the
 * last version seen, also for a bounded number of deleted objects; late, repeated and reordered events are
 * recognised by it. Objects without either are never stale.
 * Context: the scheduling thread; bt_object_version_of: any thread.
 */
#pragma once

#include <stdbool.h>

#include "engine/base/map.h"
#include "engine/model/object.h"

/* An object's identity in an event. Hashes; 0: unknown. */
struct bt_object_version {
	uint64_t key;	  /* of kind, namespace and name */
	uint64_t version; /* metadata.resourceVersion, when it is a number */
	uint32_t check;	  /* a second hash of key's input */
	uint32_t uid;
};

struct bt_object_version bt_object_version_of(const struct bt_object *object);

struct bt_fresh_entry {
	uint64_t key, version;
	uint32_t check, uid;
	uint32_t tomb; /* of a deleted object: its index in tombs */
	bool gone;
};

/* Zero-initialized, except for tombstone_max, it is empty. owner: private to version_filter.c. Owns:
 * bt_version_filter_fini. */
struct bt_version_filter {
	struct bt_map ixs;
	struct bt_fresh_entry *entries;
	uint32_t *tombs; /* entries of deleted objects, the oldest at tomb_first */
	size_t entry_n, entry_cap;
	uint32_t tombstone_max, tomb_first, tomb_n;
};

enum bt_version_verdict {
	BT_VERSION_NEW = 0,
	BT_VERSION_REPLACED, /* new, and another object: its predecessor's deletion was not seen */
	BT_VERSION_STALE
};

void bt_version_filter_fini(struct bt_version_filter *version_filter);

/* Prefetches the entry of that name. */
static inline void bt_version_filter_prefetch(
	const struct bt_version_filter *version_filter, const struct bt_object_version *seen)
{
	bt_map_prefetch(&version_filter->ixs, seen->key);
}

/* Records that the source shows an object. May allocate. */
enum bt_version_verdict bt_version_filter_apply(
	struct bt_version_filter *version_filter, const struct bt_object_version *seen);

/* Records that the source shows that an object was deleted. Stale if the name's present object is newer. */
enum bt_version_verdict bt_version_filter_delete(
	struct bt_version_filter *version_filter, const struct bt_object_version *seen);
