/* SPDX-License-Identifier: Apache-2.0
 * engine/base/ring.c without its parks (inbox.pml has those): what one producer puts in comes out once, in order, for
 * any number of entries, in batches, with counters of the other side that are looked at only when the old look is not
 * enough; a closed ring is drained only when all has come out.
 *
 * Broken on purpose: TAIL_FIRST, HEAD_FIRST, STALE_ROOM, DRAINED_FIRST.
 */
#ifndef SLOTS
#define SLOTS 4
#endif
#define LAP (2 * SLOTS) /* counters run freely in the code; here they wrap at two laps of the ring */
#define BATCH 2

byte slot[SLOTS]; /* 0: empty; else 1 + the counter that it was put in under */
byte head, tail;
bool closed, drained;

#define DISTANCE(from, to) ((to + LAP - from) % LAP)

/* bt_ring_try_push_n: as many of n as there is room for. */
proctype producer()
{
	byte seen_head, n, i;

	do
	:: select(n : 1 .. BATCH);
		if
		:: SLOTS - DISTANCE(seen_head, tail) < n -> seen_head = head
		:: else
		fi;
#ifndef STALE_ROOM
		if
		:: SLOTS - DISTANCE(seen_head, tail) < n -> n = SLOTS - DISTANCE(seen_head, tail)
		:: else
		fi;
#endif
#ifdef TAIL_FIRST
		tail = (tail + n) % LAP;
		for (i : 0 .. n - 1) {
			slot[(tail + LAP - n + i) % SLOTS] = (tail + LAP - n + i) % LAP + 1
		}
#else
		i = 0;
		do
		:: i < n ->
			assert(slot[(tail + i) % SLOTS] == 0);
			slot[(tail + i) % SLOTS] = (tail + i) % LAP + 1;
			i++
		:: else -> break
		od;
		tail = (tail + n) % LAP;
#endif
		i = 0
	:: true -> break
	od;
	closed = true
}

/* bt_ring_try_pop_n and bt_ring_is_drained */
proctype consumer()
{
	byte seen_tail, n, i;
	bool shut;

	do
	:: drained -> break
	:: else ->
		select(n : 1 .. BATCH);
		if
		:: DISTANCE(head, seen_tail) < n -> seen_tail = tail
		:: else
		fi;
		if
		:: DISTANCE(head, seen_tail) < n -> n = DISTANCE(head, seen_tail)
		:: else
		fi;
#ifdef HEAD_FIRST
		head = (head + n) % LAP;
		i = 0;
		do
		:: i < n ->
			assert(slot[(head + LAP - n + i) % SLOTS] == (head + LAP - n + i) % LAP + 1);
			slot[(head + LAP - n + i) % SLOTS] = 0;
			i++
		:: else -> break
		od;
#else
		i = 0;
		do
		:: i < n ->
			assert(slot[(head + i) % SLOTS] == (head + i) % LAP + 1);
			slot[(head + i) % SLOTS] = 0;
			i++
		:: else -> break
		od;
		head = (head + n) % LAP;
#endif
		i = 0;
		if
		:: n > 0
		:: else ->
#ifdef DRAINED_FIRST
			shut = (head == tail);
			shut = shut && closed;
#else
			shut = closed;
			shut = shut && head == tail;
#endif
			drained = shut;
			shut = false
		fi
	od;
	assert(closed && head == tail)
}

init
{
	atomic {
		run producer();
		run consumer()
	}
}

#define left (head != tail)
#define first_lap (head < SLOTS)

/* What was put in comes out: the consumer goes round and round as long as there is something. */
ltl comes_out { [] (left -> <> (!left || first_lap)) && [] (left -> <> (!left || !first_lap)) }
ltl closed_is_drained { [] (closed -> <> drained) }
