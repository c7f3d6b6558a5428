/* SPDX-License-Identifier: Apache-2.0
 * Counters that many threads raise without meeting: each has a block on cache lines of its own, readers add
 *the blocks up. For people and reports, never an input of a decision. Whoever owns a set names its counters
 *in a table:
 *
 *	enum { PODS_TAKEN, RING_WAITS, COUNTER_N };
 *	static const struct bt_counter counters[COUNTER_N] = {
 *		[PODS_TAKEN] = {"pods_taken", "pods", "Pods that the scheduling thread has taken from its
 *inbox."}, …
 */
#pragma once

#include <stdalign.h>
#include <stdint.h>

#include "engine/base/atomic.h"
#include "engine/base/buf.h"
#include "engine/base/compiler.h"

struct bt_counter {
	const char *name; /* lower case and _, as metrics are written */
	const char *unit;
	const char *help; /* a sentence */
};

struct bt_stats_set;

/* The counters of one thread. The fields are private. */
struct bt_stats {
	struct bt_stats_set *set;			   /* init: */
	struct bt_stats *next, **link;			   /* lock(the set's): */
	char *name;					   /* init: */
	alignas(BT_CACHELINE) _Atomic uint64_t counters[]; /* owner: the thread; read by anyone, relaxed */
};

/* A set with the counters of the table, which must outlive it.
 * Owns: bt_stats_destroy, after all threads left. */
struct bt_stats_set *bt_stats_create(const struct bt_counter *counters, uint32_t counter_n);
void bt_stats_destroy(struct bt_stats_set *set);

/* The calling thread's counters, at zero; the name is for reports. Context: allocates, takes a lock.
 * Owns: bt_stats_leave, which keeps what was counted in the set and sets *stats to NULL; NULL is fine. */
struct bt_stats *bt_stats_join(struct bt_stats_set *set, const char *name);
void bt_stats_leave(struct bt_stats **stats);

/* Raises a counter by n. Context: the thread that joined; no locked instruction. */
BT_INLINE void bt_count(struct bt_stats *stats, uint32_t counter_ix, uint64_t n)
{
	bt_add_owned(&stats->counters[counter_ix], n);
}

/* Writes the sums of all threads that are or were there into out_values, one for each counter of the table.
 * Context: any thread; takes a lock that counting does not need. */
void bt_stats_read(struct bt_stats_set *set, uint64_t *out_values);

/* Calls visit for each thread that is there, and for those that left together under the name "ended".
 * Context: any thread; visit must not join or leave the set. */
void bt_stats_visit(struct bt_stats_set *set,
	void (*visit)(void *context, const char *thread, const uint64_t *values), void *context);

/* Appends a line for each counter: name, sum, unit and sentence, between tabs. */
void bt_stats_rows(struct bt_stats_set *set, struct bt_buf *out_text);
