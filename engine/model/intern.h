/* SPDX-License-Identifier: Apache-2.0
 * Strings to small integers and back. Everything that is compared on the way of a pod is compared as such an
 * integer. Numbers say nothing but "the same" and "another": which string gets which one depends on who comes
 * first, so no decision may depend on their order.
 *
 *   (unknown) --bt_intern_hold--> held, by n --bt_intern_release--> (unknown), when n was 1
 *       |                             |
 *       +------bt_intern_add----------+--bt_intern_add, bt_intern_pin--> pinned, for ever
 *
 * Context: every function is any thread's at any time. Known strings are found without a lock; strings that
 * come or go take the lock of a part of the table.
 */
#pragma once

#include <stdint.h>

#include "engine/base/str.h"

/* Names with fixed numbers. 0 is no name at all; the empty string is a name. */
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

/* The number of the string, given now if it has none. It stays for ever. May allocate. */
uint32_t bt_intern_add(struct bt_intern *intern, struct bt_str s);

/* The same, but the string stays only until all its holders have called bt_intern_release. */
uint32_t bt_intern_hold(struct bt_intern *intern, struct bt_str s);

/* One more holder of a name that the caller holds. BT_NAME_NONE needs none. */
static inline void bt_intern_hold_again(struct bt_intern *intern, uint32_t name);

/* One holder fewer. When the name has no holder and is not pinned, its number and text may become
 * another string's. BT_NAME_NONE is let pass. */
static inline void bt_intern_release(struct bt_intern *intern, uint32_t name);

/* A name that the caller holds stays for ever; it is still to be released. */
void bt_intern_pin(struct bt_intern *intern, uint32_t name);

/* Have fetched what bt_intern_hold of a string, or another holder or one fewer of a name, will change soon:
 * lines that other threads have changed last. */
void bt_intern_prefetch(const struct bt_intern *intern, struct bt_str s);
void bt_intern_prefetch_name(const struct bt_intern *intern, uint32_t name);

/* The same for a name whose last holder may go soon. Reads its record, which
 * bt_intern_prefetch has fetched. Requires: it is held. */
void bt_intern_prefetch_release(const struct bt_intern *intern, uint32_t name);

/* The number of the string, or BT_NAME_NONE when nobody knows it. It means the string as long as somebody
 * holds that. */
uint32_t bt_intern_find(const struct bt_intern *intern, struct bt_str s);

/* The string of a number that is held; empty for BT_NAME_NONE. A NUL stands behind it. Owns: the
 * table, as long as the name is held. */
struct bt_str bt_intern_str(const struct bt_intern *intern, uint32_t name);

/* How many strings are known. */
uint32_t bt_intern_count(const struct bt_intern *intern);

/* For tests: dictionaries that are made from now on give their numbers in another order, as another timing of
 * threads would; 0: in the usual one. */
void bt_intern_shuffle(uint32_t seed);

/* Private: the same of names that are not BT_NAME_NONE. */
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
