/* SPDX-License-Identifier: Apache-2.0
 * A bounded queue from one producer thread to one consumer thread, lock-free: entries of one size are copied
 * in and out in order. Full means that the producer waits; nothing is ever dropped. The counters are
 * Concurrency Kit's ck_ring; every entry of the capacity can be used. An inbox lets one thread consume from
 * several producers, a ring for each.
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

/* private to ring.c; each block has cache lines of its own */
struct bt_ring {
	/* atomic: c_head is the consumer's, EDGE ring.head; p_tail the producer's, EDGE ring.tail */
	alignas(BT_CACHELINE) struct ck_ring ck;
	/* init: */
	char *slots;
	const char *name;
	struct bt_eventcount
		*items; /* where the consumer waits; own_items, or a park that several rings share */
	size_t entry_bytes;
	uint32_t capacity;
	uint32_t spin_turns; /* looks before sleeping */

	/* owner: the producer; anyone reads the atomics, relaxed */
	alignas(BT_CACHELINE) uint32_t seen_head; /* c_head when the producer last looked */
	_Atomic uint32_t high_water;
	_Atomic uint64_t full_n, producer_parks;

	/* owner: the consumer; anyone reads the atomics, relaxed */
	alignas(BT_CACHELINE) uint32_t seen_tail; /* p_tail when the consumer last looked */
	_Atomic uint64_t consumer_parks;

	alignas(BT_CACHELINE) _Atomic uint32_t closed; /* atomic: EDGE ring.closed, set by the producer */
	_Atomic uint32_t abandoned;		       /* atomic: set by the consumer */

	struct bt_eventcount space, own_items;
};

/* Since init. Read by any thread, each number by itself. */
struct bt_ring_stats {
	uint32_t high_water;	 /* the most entries that were ever in it */
	uint64_t full_n;	 /* how often a push that may wait found no room for all of its entries */
	uint64_t producer_parks; /* and how often the producer slept for it */
	uint64_t consumer_parks; /* how often the consumer slept for want of entries */
};

/*
 * Makes an empty ring.
 * Context : before any other thread sees it; allocates capacity x entry_bytes.
 * Requires: capacity a power of two from 4 to 2^30, entry_bytes > 0; name lives as long as the ring.
 * Owns    : free with bt_ring_fini, after both threads have left it.
 */
void bt_ring_init(struct bt_ring *ring, uint32_t capacity, size_t entry_bytes, const char *name);
void bt_ring_fini(struct bt_ring *ring);

/* Lets the consumer wait by this park, which other rings and events may share. Context: before start. */
void bt_ring_wake_by(struct bt_ring *ring, struct bt_eventcount *park);

/*
 * Copies in as many of n entries as there is room for, and wakes a consumer that waits.
 * Context : the producer; wait-free but for the waking.
 * Requires: the ring is not closed.
 * Returns : how many went in.
 */
uint32_t bt_ring_try_push_n(struct bt_ring *ring, const void *entries, uint32_t n);
bool bt_ring_try_push(struct bt_ring *ring, const void *entry);

/*
 * Copies out up to n entries, oldest first; once half of the ring is free, wakes a producer that waits.
 * Context: the consumer; wait-free but for the waking. Returns: how many came out.
 */
uint32_t bt_ring_try_pop_n(struct bt_ring *ring, void *out_entries, uint32_t n);
bool bt_ring_try_pop(struct bt_ring *ring, void *out_entry);

/*
 * Copies in n entries, waiting for room: a short turn of looking, then asleep.
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
 * Returns: how many came out: 0 when timeout_ns passed or the ring is drained.
 */
uint32_t bt_ring_pop_n(struct bt_ring *ring, void *out_entries, uint32_t n, int64_t timeout_ns);
bool bt_ring_pop(struct bt_ring *ring, void *out_entry, int64_t timeout_ns);

/* The producer's last word: nothing comes after it. Wakes the consumer. */
void bt_ring_close(struct bt_ring *ring);

/* Whether it was closed and everything has come out. Context: the consumer; true stays true. */
bool bt_ring_is_drained(const struct bt_ring *ring);

/* The consumer's last word: pushes do not wait any more, but put in what still fits. Wakes the producer. */
void bt_ring_abandon(struct bt_ring *ring);
bool bt_ring_is_abandoned(const struct bt_ring *ring);

/* How many entries are in it. Exact for producer and consumer as far as themselves go; a moment old for
 * anyone else. */
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
	uint32_t next_ix; /* where the next look begins, so that every ring has its turn */
};

/* Context: before start; the rings are initialised, and their consumer is the inbox from now on. The array
 * stays the caller's and lives as long as the inbox; there is nothing to free. */
void bt_inbox_init(struct bt_inbox *inbox, struct bt_ring **rings, uint32_t ring_n);

/*
 * Copies out up to n entries of the next ring that has any, waiting for it; *out_ring_ix says which ring.
 * Returns: how many; 0 when timeout_ns (0: do not wait) passed or every ring is drained.
 */
uint32_t bt_inbox_pop_n(
	struct bt_inbox *inbox, void *out_entries, uint32_t n, int64_t timeout_ns, uint32_t *out_ring_ix);

/* Whether every ring is drained. Context: the consumer. */
bool bt_inbox_is_drained(const struct bt_inbox *inbox);
