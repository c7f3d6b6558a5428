/* SPDX-License-Identifier: Apache-2.0
 * A bounded queue from one producer thread to one consumer thread, lock-free: entries of one size are copied
 * in and out in order. When full, the producer blocks; entries are never dropped. The counters are
 * Concurrency Kit's ck_ring; the whole capacity is usable. With an inbox, one thread consumes from several
 * producers, one ring each.
 */
#pragma once

#include <ck_ring.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/atomic.h"
#include "engine/base/compiler.h"
#include "engine/base/eventcount.h"

#define BT_RING_MIN_CAPACITY 4u
#define BT_RING_MAX_CAPACITY (1u << 30)

/* private to ring.c; each block has its own cache lines */
struct bt_ring {
	/* atomic: c_head is the consumer's, EDGE ring.head; p_tail the producer's, EDGE ring.tail */
	alignas(BT_CACHELINE) struct ck_ring ck;
	/* init: */
	char *slots;
	const char *name;
	struct bt_eventcount
		*items; /* where the consumer waits; own_items, or an event count shared by several rings */
	size_t entry_bytes;
	uint32_t capacity;
	uint32_t spin_turns; /* spins before sleeping */

	/* owner: the producer; anyone reads the atomics, relaxed */
	alignas(BT_CACHELINE) uint32_t seen_head; /* the producer's cached c_head */
	_Atomic uint32_t high_water;
	_Atomic uint64_t full_n, producer_parks;

	/* owner: the consumer; anyone reads the atomics, relaxed */
	alignas(BT_CACHELINE) uint32_t seen_tail; /* p_tail when the consumer last read it */
	_Atomic uint64_t consumer_parks;

	alignas(BT_CACHELINE) _Atomic uint32_t closed; /* atomic: EDGE ring.closed, set by the producer */
	_Atomic uint32_t abandoned;		       /* atomic: set by the consumer */

	struct bt_eventcount space, own_items;
};

/* Since init. Readable by any thread, not as a consistent set. */
struct bt_ring_stats {
	uint32_t high_water;	 /* the peak number of entries */
	uint64_t full_n;	 /* how often a blocking push found too little room */
	uint64_t producer_parks; /* how often the producer slept for room */
	uint64_t consumer_parks; /* how often the consumer slept on an empty ring */
};

/*
 * Makes an empty ring.
 * Context : before it is shared; allocates capacity x entry_bytes.
 * Requires: capacity a power of two from 4 to 2^30, entry_bytes > 0; name lives as long as the ring.
 * Owns    : free with bt_ring_fini, after both threads have left it.
 */
void bt_ring_init(struct bt_ring *ring, uint32_t capacity, size_t entry_bytes, const char *name);
void bt_ring_fini(struct bt_ring *ring);

/*
 * Makes the consumer wait on this event count, which other rings and events may share. Context: before start.
 */
void bt_ring_wake_by(struct bt_ring *ring, struct bt_eventcount *park);

/*
 * Copies in as many of n entries as fit, and wakes a waiting consumer.
 * Context : the producer; wait-free but for the waking.
 * Requires: the ring is not closed.
 * Returns : the number of entries copied in.
 */
uint32_t bt_ring_try_push_n(struct bt_ring *ring, const void *entries, uint32_t n);
bool bt_ring_try_push(struct bt_ring *ring, const void *entry);

/*
 * Copies out up to n entries, oldest first; once half of the ring is free, wakes a waiting producer.
 * Context: the consumer; wait-free except for the wake-up. Returns: the number copied out.
 */
uint32_t bt_ring_try_pop_n(struct bt_ring *ring, void *out_entries, uint32_t n);
bool bt_ring_try_pop(struct bt_ring *ring, void *out_entry);

/*
 * Copies in n entries, waiting for room: spins briefly, then sleeps.
 * Context: the producer, as for bt_eventcount_wait.
 * Returns: how many went in: fewer than n when timeout_ns (BT_EVENTCOUNT_FOREVER: none) passed, or the
 * consumer
 *	    abandoned the ring.
 */
uint32_t bt_ring_push_n(struct bt_ring *ring, const void *entries, uint32_t n, int64_t timeout_ns);
bool bt_ring_push(struct bt_ring *ring, const void *entry, int64_t timeout_ns);

/*
 * Copies out up to n entries, waiting for the first of them.
 * Context: the consumer, as for bt_eventcount_wait.
 * Returns: the number copied out: 0 when timeout_ns passed or the ring is drained.
 */
uint32_t bt_ring_pop_n(struct bt_ring *ring, void *out_entries, uint32_t n, int64_t timeout_ns);
bool bt_ring_pop(struct bt_ring *ring, void *out_entry, int64_t timeout_ns);

/* Called by the producer after its last entry. Wakes the consumer. */
void bt_ring_close(struct bt_ring *ring);

/* Is it closed and empty? Context: the consumer; never becomes false again. */
bool bt_ring_is_drained(const struct bt_ring *ring);

/* Called by the consumer when it stops: pushes no longer wait, but copy in what fits. Wakes the producer. */
void bt_ring_abandon(struct bt_ring *ring);
bool bt_ring_is_abandoned(const struct bt_ring *ring);

/* The number of entries. Exact for the caller's own side if it is producer or consumer; else slightly out of
 * date. */
uint32_t bt_ring_count(const struct bt_ring *ring);

static inline uint32_t bt_ring_capacity(const struct bt_ring *ring)
{
	return ring->capacity;
}

static inline const char *bt_ring_name(const struct bt_ring *ring)
{
	return ring->name;
}

struct bt_ring_stats bt_ring_stats_read(const struct bt_ring *ring);

/* One consumer of several rings. owner: the consumer */
struct bt_inbox {
	struct bt_eventcount park;
	struct bt_ring **rings; /* init: the caller's array */
	uint32_t ring_n;
	uint32_t spin_turns;
	uint32_t next_ix; /* where the next scan starts (round-robin) */
};

/* Context: before start; the rings are initialized, and the inbox becomes their consumer. The caller owns the
 * array, which must outlive the inbox; needs no cleanup. */
void bt_inbox_init(struct bt_inbox *inbox, struct bt_ring **rings, uint32_t ring_n);

/*
 * Copies out up to n entries of the next nonempty ring, waiting for one; *out_ring_ix: that ring.
 * Returns: how many; 0 when timeout_ns (0: do not wait) passed or every ring is drained.
 */
uint32_t bt_inbox_pop_n(
	struct bt_inbox *inbox, void *out_entries, uint32_t n, int64_t timeout_ns, uint32_t *out_ring_ix);

/* Whether every ring is drained. Context: the consumer. */
bool bt_inbox_is_drained(const struct bt_inbox *inbox);
