/* SPDX-License-Identifier: Apache-2.0
 * Strings to small integers and back. Everything that is compared on the way of a pod is compared as such an
 * integer. owner: the ingesting thread adds; readers may look up names that were there when their snapshot
 * was published.
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

/* The number of the string, given now if it has none. Context: owner; may allocate. */
uint32_t bt_intern_add(struct bt_intern *intern, struct bt_str s);

/* The number of the string, or BT_NAME_NONE when it was never added. */
uint32_t bt_intern_find(const struct bt_intern *intern, struct bt_str s);

/* The string of a number; empty for BT_NAME_NONE. Owns: the table, for its whole life. */
struct bt_str bt_intern_str(const struct bt_intern *intern, uint32_t name);

/* How many names there are. */
uint32_t bt_intern_count(const struct bt_intern *intern);
