/* SPDX-License-Identifier: Apache-2.0
 * Sets of plugins, as the bits of a word. The bit number is the plugin's id in sets that outlive a cycle
 * (engine/flow/cycle/hints.h), or its place in a profile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/check.h"

typedef uint64_t bt_plugin_set;

/* Exclusive upper bound of the numbers. */
#define BT_PLUGIN_SET_ROOM 64

#define BT_PLUGIN_SET_ALL UINT64_MAX

/* Requires: number < BT_PLUGIN_SET_ROOM. */
static inline bt_plugin_set bt_plugin_set_of(uint32_t number)
{
	BT_REQUIRE_HOT(number < BT_PLUGIN_SET_ROOM);
	return UINT64_C(1) << number;
}

/* Requires: number < BT_PLUGIN_SET_ROOM. */
static inline bool bt_plugin_set_has(bt_plugin_set set, uint32_t number)
{
	BT_REQUIRE_HOT(number < BT_PLUGIN_SET_ROOM);
	return set >> number & 1;
}

/* The lowest number. Requires: the set is not empty. */
static inline uint32_t bt_plugin_set_first(bt_plugin_set set)
{
	BT_REQUIRE_HOT(set);
	return (uint32_t)__builtin_ctzll(set);
}

/* The set without its first number, for loops: empty, if there are no more. */
static inline bt_plugin_set bt_plugin_set_rest(bt_plugin_set set)
{
	return set & (set - 1);
}
