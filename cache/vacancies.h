/* SPDX-License-Identifier: Apache-2.0
 * Indices of an array that were given back, to be given anew, so that the array is as long as what it holds
 * at most, however often that changes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/mem.h"

struct bt_vacancies {
	uint32_t *items;
	size_t n, cap;
};

static inline void bt_vacancies_fini(struct bt_vacancies *vacant)
{
	bt_mem_free(vacant->items);
	*vacant = (struct bt_vacancies){0};
}

static inline void bt_vacancies_give(struct bt_vacancies *vacant, uint32_t ix)
{
	vacant->items = bt_mem_grow(vacant->items, vacant->n, &vacant->cap, sizeof(*vacant->items));
	vacant->items[vacant->n++] = ix;
}

/* Returns false when there is none. */
static inline bool bt_vacancies_take(struct bt_vacancies *vacant, uint32_t *out_ix)
{
	if (vacant->n == 0) {
		return false;
	}
	*out_ix = vacant->items[--vacant->n];
	return true;
}
