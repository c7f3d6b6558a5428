/* SPDX-License-Identifier: Apache-2.0
 * SPSC rings. The counters are free-running 32-bit values in a ck_ring initialized with twice the capacity,
 * so that its mask distinguishes full from empty. CK's calls move one pointer; these move n entries with the
 * same protocol: entries, fence, counter.
 */
#include "engine/base/ring.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/testpoint.h"
#include "engine/base/thread.h"

enum {
	SPIN_TURNS = 200 /* a few microseconds: about the cost of a sleep and wake-up */
};

/* How often to spin before sleeping. On one processor spinning is useless. */
static uint32_t choose_spin_turns(void)
{
	return bt_thread_usable_cpu_n() > 1 ? SPIN_TURNS : 0;
}

void bt_ring_init(struct bt_ring *ring, uint32_t capacity, size_t entry_bytes, const char *name)
{
	BT_REQUIRE(capacity >= BT_RING_MIN_CAPACITY && capacity <= BT_RING_MAX_CAPACITY);
	BT_REQUIRE((capacity & (capacity - 1)) == 0 && entry_bytes > 0);
	*ring = (struct bt_ring){.slots = bt_mem_column(capacity, entry_bytes),
		.name = name,
		.entry_bytes = entry_bytes,
		.capacity = capacity};
	ck_ring_init(&ring->ck, 2 * capacity);
	BT_SYNC_ATOMIC(&ring->ck.c_head, sizeof(ring->ck.c_head));
	BT_SYNC_ATOMIC(&ring->ck.p_tail, sizeof(ring->ck.p_tail));
	bt_eventcount_init(&ring->space);
	bt_eventcount_init(&ring->own_items);
	ring->items = &ring->own_items;
}

void bt_ring_fini(struct bt_ring *ring)
{
	bt_mem_free(ring->slots);
	ring->slots = NULL;
}

void bt_ring_wake_by(struct bt_ring *ring, struct bt_eventcount *park)
{
	ring->items = park;
}

/* The entry sizes in use, so that the compiler knows the length of the copy. */
static inline void copy_bytes(char *to, const char *from, size_t bytes)
{
	switch (bytes) {
	case 8:
		memcpy(to, from, 8);
		break;
	case 16:
		memcpy(to, from, 16);
		break;
	case 24:
		memcpy(to, from, 24);
		break;
	case 32:
		memcpy(to, from, 32);
		break;
	default:
		memcpy(to, from, bytes);
	}
}

/* Entries [begin, begin + n) of the ring are in at most two pieces; returns the length of the first. */
static uint32_t first_piece(const struct bt_ring *ring, uint32_t begin, uint32_t n)
{
	uint32_t to_end = ring->capacity - (begin & (ring->capacity - 1));

	return n < to_end ? n : to_end;
}

static char *slot(const struct bt_ring *ring, uint32_t counter)
{
	return ring->slots + (counter & (ring->capacity - 1)) * ring->entry_bytes;
}

static void copy_in(struct bt_ring *ring, uint32_t tail, const char *entries, uint32_t n)
{
	uint32_t first_n = first_piece(ring, tail, n);

	copy_bytes(slot(ring, tail), entries, first_n * ring->entry_bytes);
	if (first_n < n) {
		copy_bytes(ring->slots, entries + first_n * ring->entry_bytes,
			(n - first_n) * ring->entry_bytes);
	}
}

static void copy_out(const struct bt_ring *ring, uint32_t head, char *out_entries, uint32_t n)
{
	uint32_t first_n = first_piece(ring, head, n);

	copy_bytes(out_entries, slot(ring, head), first_n * ring->entry_bytes);
	if (first_n < n) {
		copy_bytes(out_entries + first_n * ring->entry_bytes, ring->slots,
			(n - first_n) * ring->entry_bytes);
	}
}

/* Reads the consumer's counter. EDGE ring.head acquire: slots are rewritten only after they were copied
 * out. */
static void refresh_head(struct bt_ring *ring)
{
	ring->seen_head = ck_pr_load_uint(&ring->ck.c_head);
	ck_pr_fence_acquire();
	BT_SYNC_ACQUIRE(&ring->ck.c_head);
}

/* Reads the producer's counter. EDGE ring.tail acquire: entries before the tail are complete. */
static void refresh_tail(struct bt_ring *ring)
{
	ring->seen_tail = ck_pr_load_uint(&ring->ck.p_tail);
	ck_pr_fence_acquire();
	BT_SYNC_ACQUIRE(&ring->ck.p_tail);
}

/* How many of n entries fit; rereads the consumer's counter only if its cached value is not enough. */
static uint32_t room(struct bt_ring *ring, uint32_t n)
{
	uint32_t tail = ring->ck.p_tail;

	if (ring->capacity - (tail - ring->seen_head) < n) {
		refresh_head(ring);
	}
	BT_INVARIANT(tail - ring->seen_head <= ring->capacity);
	uint32_t free_n = ring->capacity - (tail - ring->seen_head);

	return n < free_n ? n : free_n;
}

/* The cached head may be old, so reread it before raising the mark. */
static void raise_high_water(struct bt_ring *ring, uint32_t tail)
{
	BT_INVARIANT(tail - ring->seen_head <= ring->capacity);
	if (BT_LIKELY(tail - ring->seen_head <= bt_load_relaxed(&ring->high_water))) {
		return;
	}
	refresh_head(ring);
	if (tail - ring->seen_head > bt_load_relaxed(&ring->high_water)) {
		bt_store_relaxed(&ring->high_water, tail - ring->seen_head);
	}
}

uint32_t bt_ring_try_push_n(struct bt_ring *ring, const void *entries, uint32_t n)
{
	uint32_t tail = ring->ck.p_tail;

	BT_REQUIRE(!bt_load_relaxed(&ring->closed));
	n = room(ring, n);
	if (!n) {
		return 0;
	}
	BT_TESTPOINT("ring.push.before_copy");
	copy_in(ring, tail, entries, n);
	BT_TESTPOINT("ring.push.before_publish");
	raise_high_water(ring, tail + n);
	BT_SYNC_RELEASE(&ring->ck.p_tail);
	ck_pr_fence_release();
	ck_pr_store_uint(
		&ring->ck.p_tail, tail + n); /* EDGE ring.tail release: entries are complete before the
						tail */
	BT_TESTPOINT("ring.push.after_publish");
	bt_eventcount_wake(ring->items);
	return n;
}

bool bt_ring_try_push(struct bt_ring *ring, const void *entry)
{
	return bt_ring_try_push_n(ring, entry, 1) == 1;
}

/* Wakes a waiting producer once half of the ring is free, not for every entry. EDGE park.armed: the head is
 * stored before the check. */
static void wake_producer(struct bt_ring *ring, uint32_t head)
{
	bt_fence_light();
	if (BT_UNLIKELY(bt_load_relaxed(&ring->space.armed)) &&
		ring->seen_tail - head <= ring->capacity / 2) {
		bt_eventcount_wake_armed(&ring->space);
	}
}

uint32_t bt_ring_try_pop_n(struct bt_ring *ring, void *out_entries, uint32_t n)
{
	uint32_t head = ring->ck.c_head;

	if (ring->seen_tail - head < n) {
		refresh_tail(ring);
	}
	BT_INVARIANT(ring->seen_tail - head <= ring->capacity);
	if (n > ring->seen_tail - head) {
		n = ring->seen_tail - head;
	}
	if (!n) {
		return 0;
	}
	BT_TESTPOINT("ring.pop.before_copy");
	copy_out(ring, head, out_entries, n);
	BT_TESTPOINT("ring.pop.before_free");
	BT_SYNC_RELEASE(&ring->ck.c_head);
	ck_pr_fence_release();
	ck_pr_store_uint(
		&ring->ck.c_head, head + n); /* EDGE ring.head release: copied out before slots are free */
	BT_TESTPOINT("ring.pop.after_free");
	wake_producer(ring, head + n);
	return n;
}

bool bt_ring_try_pop(struct bt_ring *ring, void *out_entry)
{
	return bt_ring_try_pop_n(ring, out_entry, 1) == 1;
}

static int64_t deadline_of(int64_t timeout_ns)
{
	int64_t now_ns = timeout_ns > 0 && timeout_ns != BT_EVENTCOUNT_FOREVER ? bt_clock_monotonic_ns() : 0;

	return timeout_ns < INT64_MAX - now_ns ? now_ns + timeout_ns : BT_EVENTCOUNT_FOREVER;
}

static int64_t left_of(int64_t deadline_ns)
{
	return deadline_ns == BT_EVENTCOUNT_FOREVER ? BT_EVENTCOUNT_FOREVER
						    : deadline_ns - bt_clock_monotonic_ns();
}

static bool has_room(struct bt_ring *ring)
{
	return room(ring, 1) || bt_load_acquire(&ring->abandoned);
}

/* Returns when there is room, or never will be; false on timeout. */
static bool wait_for_room(struct bt_ring *ring, int64_t deadline_ns)
{
	for (uint32_t turn = ring->spin_turns; turn; turn--) {
		bt_cpu_relax();
		if (has_room(ring)) {
			return true;
		}
	}
	for (bool in_time = true; in_time;) {
		uint32_t key = bt_eventcount_prepare(&ring->space);

		if (has_room(ring)) {
			return true;
		}
		bt_add_owned(&ring->producer_parks, 1);
		in_time = bt_eventcount_wait(&ring->space, key, left_of(deadline_ns));
	}
	return has_room(ring);
}

uint32_t bt_ring_push_n(struct bt_ring *ring, const void *entries, uint32_t n, int64_t timeout_ns)
{
	uint32_t done_n = bt_ring_try_push_n(ring, entries, n);

	if (BT_LIKELY(done_n == n) || timeout_ns <= 0) {
		return done_n;
	}
	int64_t deadline_ns = deadline_of(timeout_ns);

	bt_add_owned(&ring->full_n, 1);
	while (done_n < n && wait_for_room(ring, deadline_ns)) {
		uint32_t more_n = bt_ring_try_push_n(
			ring, (const char *)entries + done_n * ring->entry_bytes, n - done_n);

		if (!more_n) {
			break; /* abandoned */
		}
		done_n += more_n;
	}
	BT_INVARIANT(done_n <= n);
	return done_n;
}

bool bt_ring_push(struct bt_ring *ring, const void *entry, int64_t timeout_ns)
{
	return bt_ring_push_n(ring, entry, 1, timeout_ns) == 1;
}

static bool has_entries(struct bt_ring *ring)
{
	if (ring->seen_tail == ring->ck.c_head) {
		refresh_tail(ring);
	}
	return ring->seen_tail != ring->ck.c_head;
}

static bool has_entries_or_end(struct bt_ring *ring)
{
	return has_entries(ring) || bt_ring_is_drained(ring);
}

/* Returns when there is an entry, or never will be; false on timeout. */
static bool wait_for_entry(struct bt_ring *ring, int64_t deadline_ns)
{
	for (uint32_t turn = ring->spin_turns; turn; turn--) {
		bt_cpu_relax();
		if (has_entries_or_end(ring)) {
			return true;
		}
	}
	for (bool in_time = true; in_time;) {
		uint32_t key = bt_eventcount_prepare(ring->items);

		if (has_entries_or_end(ring)) {
			return true;
		}
		bt_add_owned(&ring->consumer_parks, 1);
		in_time = bt_eventcount_wait(ring->items, key, left_of(deadline_ns));
	}
	return has_entries_or_end(ring);
}

uint32_t bt_ring_pop_n(struct bt_ring *ring, void *out_entries, uint32_t n, int64_t timeout_ns)
{
	uint32_t done_n = bt_ring_try_pop_n(ring, out_entries, n);

	if (!done_n && n && timeout_ns > 0 && wait_for_entry(ring, deadline_of(timeout_ns))) {
		done_n = bt_ring_try_pop_n(ring, out_entries, n);
	}
	BT_INVARIANT(done_n <= n);
	return done_n;
}

bool bt_ring_pop(struct bt_ring *ring, void *out_entry, int64_t timeout_ns)
{
	return bt_ring_pop_n(ring, out_entry, 1, timeout_ns) == 1;
}

void bt_ring_close(struct bt_ring *ring)
{
	bt_store_release(&ring->closed, 1); /* EDGE ring.closed release: the last tail was stored before */
	BT_TESTPOINT("ring.close.before_wake");
	bt_eventcount_wake(ring->items);
}

bool bt_ring_is_drained(const struct bt_ring *ring)
{
	/* EDGE ring.closed acquire: the tail read next is final. */
	return bt_load_acquire(&ring->closed) && ck_ring_size(&ring->ck) == 0;
}

void bt_ring_abandon(struct bt_ring *ring)
{
	bt_store_release(&ring->abandoned, 1);
	bt_eventcount_wake(&ring->space);
}

bool bt_ring_is_abandoned(const struct bt_ring *ring)
{
	return bt_load_acquire(&ring->abandoned);
}

uint32_t bt_ring_count(const struct bt_ring *ring)
{
	/* The tail is read after the head: another thread may see more entries than were ever in the ring. */
	uint32_t count = ck_ring_size(&ring->ck);

	return count < ring->capacity ? count : ring->capacity;
}

struct bt_ring_stats bt_ring_stats_read(const struct bt_ring *ring)
{
	return (struct bt_ring_stats){.high_water = bt_load_relaxed(&ring->high_water),
		.full_n = bt_load_relaxed(&ring->full_n),
		.producer_parks = bt_load_relaxed(&ring->producer_parks),
		.consumer_parks = bt_load_relaxed(&ring->consumer_parks)};
}

void bt_inbox_init(struct bt_inbox *inbox, struct bt_ring **rings, uint32_t ring_n)
{
	BT_REQUIRE(ring_n == 0 || rings);
	*inbox = (struct bt_inbox){.rings = rings, .ring_n = ring_n, .spin_turns = choose_spin_turns()};
	bt_eventcount_init(&inbox->park);
	for (uint32_t i = 0; i < ring_n; i++) {
		bt_ring_wake_by(rings[i], &inbox->park);
	}
}

bool bt_inbox_is_drained(const struct bt_inbox *inbox)
{
	for (uint32_t i = 0; i < inbox->ring_n; i++) {
		if (!bt_ring_is_drained(inbox->rings[i])) {
			return false;
		}
	}
	return true;
}

/* Up to n entries of the first ring at or after next_ix that has any. */
static uint32_t take_turn(struct bt_inbox *inbox, void *out_entries, uint32_t n, uint32_t *out_ring_ix)
{
	for (uint32_t i = 0; i < inbox->ring_n; i++) {
		uint32_t ix = (inbox->next_ix + i) % inbox->ring_n;
		uint32_t got_n = bt_ring_try_pop_n(inbox->rings[ix], out_entries, n);

		if (got_n) {
			BT_INVARIANT(ix < inbox->ring_n && got_n <= n);
			inbox->next_ix = (ix + 1) % inbox->ring_n;
			*out_ring_ix = ix;
			return got_n;
		}
	}
	return 0;
}

uint32_t bt_inbox_pop_n(
	struct bt_inbox *inbox, void *out_entries, uint32_t n, int64_t timeout_ns, uint32_t *out_ring_ix)
{
	uint32_t got_n = take_turn(inbox, out_entries, n, out_ring_ix);
	int64_t deadline_ns = got_n ? 0 : deadline_of(timeout_ns);

	for (uint32_t turn = timeout_ns > 0 ? inbox->spin_turns : 0; turn && !got_n; turn--) {
		bt_cpu_relax();
		got_n = take_turn(inbox, out_entries, n, out_ring_ix);
	}
	for (bool in_time = timeout_ns > 0; !got_n && in_time;) {
		uint32_t key = bt_eventcount_prepare(&inbox->park);

		got_n = take_turn(inbox, out_entries, n, out_ring_ix);
		if (got_n || bt_inbox_is_drained(inbox)) {
			break;
		}
		in_time = bt_eventcount_wait(&inbox->park, key, left_of(deadline_ns));
		got_n = take_turn(inbox, out_entries, n, out_ring_ix);
	}
	return got_n;
}
