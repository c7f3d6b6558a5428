/* SPDX-License-Identifier: Apache-2.0
 * Small helpers to make API objects in an arena. Context: one thread; allocates from the arena.
 */
#pragma once

#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/compiler.h"
#include "engine/base/str.h"
#include "engine/model/object.h"

/* Formatted text of less than 256 bytes; longer text is truncated. */
struct bt_str bt_build_text(struct bt_arena *arena, const char *format, ...) BT_PRINTF(2, 3);

/* A list of one string. */
struct bt_str_list bt_build_list(struct bt_arena *arena, struct bt_str item);

/* Adds to an array that grows in the arena by doubling; for objects with few members. */
void bt_build_pair(struct bt_arena *arena, struct bt_str_map *map, struct bt_str key, struct bt_str value);
void bt_build_item(struct bt_arena *arena, struct bt_str_list *list, struct bt_str item);
void bt_build_quantity(
	struct bt_arena *arena, struct bt_resource_list *list, const char *name, struct bt_quantity quantity);
struct bt_requirement_object *bt_build_requirement(struct bt_arena *arena,
	struct bt_requirement_object_list *list, const char *key, const char *operator_);

/* Makes the required node affinity one term, if it is none yet, and returns that term. */
struct bt_node_term_object *bt_build_required_term(
	struct bt_arena *arena, struct bt_node_affinity_object *affinity);

/* Quantities of thousandths, such as CPU; of MiB; and of whole things. */
static inline struct bt_quantity bt_build_milli(int64_t milli)
{
	return bt_quantity_of_milli(milli, BT_DECIMAL_SI);
}

static inline struct bt_quantity bt_build_mib(int64_t mib)
{
	return bt_quantity_of_int64(mib * 1048576, BT_BINARY_SI);
}

static inline struct bt_quantity bt_build_count(int64_t count)
{
	struct bt_quantity quantity = {.format = BT_DECIMAL_SI};

	quantity.nano = count;
	quantity.nano *= 1000000000;
	return quantity;
}
