/* SPDX-License-Identifier: Apache-2.0
 * A ring of fixed-size entries, for one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "engine/base/mem.h"

struct bt_ring {
	char *entries;
	uint32_t mask, bytes, head, tail;
};

static inline void bt_ring_init(struct bt_ring *ring, uint32_t capacity, uint32_t entry_bytes)
{
	*ring = (struct bt_ring){bt_mem_zalloc(capacity, entry_bytes), capacity - 1, entry_bytes, 0, 0};
}

static inline void bt_ring_fini(struct bt_ring *ring)
{
	bt_mem_free(ring->entries);
}

static inline uint32_t bt_ring_count(const struct bt_ring *ring)
{
	return ring->tail - ring->head;
}

static inline bool bt_ring_try_push(struct bt_ring *ring, const void *entry)
{
	if (bt_ring_count(ring) > ring->mask) {
		return false;
	}
	memcpy(ring->entries + (size_t)(ring->tail++ & ring->mask) * ring->bytes, entry, ring->bytes);
	return true;
}

static inline bool bt_ring_try_pop(struct bt_ring *ring, void *out_entry)
{
	if (ring->head == ring->tail) {
		return false;
	}
	memcpy(out_entry, ring->entries + (size_t)(ring->head++ & ring->mask) * ring->bytes, ring->bytes);
	return true;
}
