/* SPDX-License-Identifier: Apache-2.0
 * Labels as pairs of interned names, sorted by key.
 */
#pragma once

#include <stdint.h>

#include "engine/model/intern.h"

struct bt_label {
	uint32_t key, value;
};

struct bt_labels {
	const struct bt_label *items; /* ascending keys, each once */
	uint32_t n;
};

/* The value of a key, or BT_NAME_NONE. */
static inline uint32_t bt_labels_get(struct bt_labels labels, uint32_t key)
{
	uint32_t low = 0, n = labels.n;

	while (n) {
		uint32_t half = n / 2;

		if (labels.items[low + half].key < key) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low < labels.n && labels.items[low].key == key ? labels.items[low].value : BT_NAME_NONE;
}
