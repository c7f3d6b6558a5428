/* SPDX-License-Identifier: Apache-2.0
 * Strings to small integers and back. All strings that scheduling compares are compared as such integers.
 * Numbers only distinguish equal from different: a string's number depends on the order of insertion, so no
 * decision may depend on the order of numbers.
 *
 *   (unknown) --bt_intern_hold--> held, by n --bt_intern_release--> (unknown), when n was 1
 *       |                             |
 *       +------bt_intern_add----------+--bt_intern_add, bt_intern_pin--> pinned, permanently
 *
 * Context: any thread. Lookups of known strings are lock-free; adding and removing takes the lock of a shard.
 */
#pragma once

#include <stdint.h>

#include "engine/base/str.h"

/* Names with fixed numbers. 0 is no name; the empty string is a name. */
enum bt_name {
	BT_NAME_NONE = 0,
	BT_NAME_EMPTY,
	BT_NAME_NO_SCHEDULE,
	BT_NAME_PREFER_NO_SCHEDULE,
	BT_NAME_NO_EXECUTE,
	BT_NAME_UNSCHEDULABLE_TAINT, /* node.kubernetes.io/unschedulable */
	BT_NAME_DEFAULT_SCHEDULER,
	BT_NAME_ANY_IP, /* 0.0.0.0 */
	BT_NAME_TCP,
	BT_NAME_ZONE,	  /* topology.kubernetes.io/zone */
	BT_NAME_REGION,	  /* topology.kubernetes.io/region */
	BT_NAME_HOSTNAME, /* kubernetes.io/hostname */
	BT_NAME_BETA_ZONE,
	BT_NAME_BETA_REGION,
	BT_NAME_FIXED_N
};

struct bt_intern;

struct bt_intern *bt_intern_create(void);
void bt_intern_destroy(struct bt_intern *intern);

/* The number of the string, assigned now if it has none. It is never freed. May allocate. */
uint32_t bt_intern_add(struct bt_intern *intern, struct bt_str s);

/* The same, but the string stays only until all its holders have called bt_intern_release. */
uint32_t bt_intern_hold(struct bt_intern *intern, struct bt_str s);

/* Adds a holder to a name that the caller holds. BT_NAME_NONE is ignored. */
static inline void bt_intern_hold_again(struct bt_intern *intern, uint32_t name);

/* Drops a holder. Without holders, and unless it is pinned, the name's number and record may be reused for
 * another string. BT_NAME_NONE is ignored. */
static inline void bt_intern_release(struct bt_intern *intern, uint32_t name);

/* Keeps a name that the caller holds forever; the caller must still release it. */
void bt_intern_pin(struct bt_intern *intern, uint32_t name);

/* Prefetch the cache lines that bt_intern_hold of a string, or a hold or release of a name, will change soon,
 * because other threads wrote them last. */
void bt_intern_prefetch(const struct bt_intern *intern, struct bt_str s);
void bt_intern_prefetch_name(const struct bt_intern *intern, uint32_t name);

/* The same for a name whose last holder may leave soon. Reads its record, which
 * bt_intern_prefetch has fetched. Requires: it is held. */
void bt_intern_prefetch_release(const struct bt_intern *intern, uint32_t name);

/* The number of the string, or BT_NAME_NONE when it is unknown. The number is valid while the string is
 * held. */
uint32_t bt_intern_find(const struct bt_intern *intern, struct bt_str s);

/* The string of a number that is held; empty for BT_NAME_NONE. It is NUL-terminated. Owns: the table; valid
 * while the name is held. */
struct bt_str bt_intern_str(const struct bt_intern *intern, uint32_t name);

/* The number of known strings. */
uint32_t bt_intern_count(const struct bt_intern *intern);

/* For tests: dictionaries created from now on assign numbers in another order, as a different thread timing
 * would; 0: the default order. */
void bt_intern_shuffle(uint32_t seed);

/* Private: the same for names that are not BT_NAME_NONE. */
void bt_intern_hold_known(struct bt_intern *intern, uint32_t name);
void bt_intern_release_known(struct bt_intern *intern, uint32_t name);

static inline void bt_intern_hold_again(struct bt_intern *intern, uint32_t name)
{
	if (name != BT_NAME_NONE) {
		bt_intern_hold_known(intern, name);
	}
}

static inline void bt_intern_release(struct bt_intern *intern, uint32_t name)
{
	if (name != BT_NAME_NONE) {
		bt_intern_release_known(intern, name);
	}
}
