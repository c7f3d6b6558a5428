/* SPDX-License-Identifier: Apache-2.0
 * Stage 4's door: producers, each with a ring of its own, and one consumer that waits for all of them by one park
 * (struct bt_inbox in engine/base/ring.c). A full ring makes its producer wait (back-pressure). A producer pushes
 * without end, or has nothing more to say, or closes, at any time; with ABANDON the consumer may leave at any time.
 * A ring is the number of its entries here; ring.pml looks at the entries.
 *
 * Broken on purpose: NO_RECHECK, WAKE_FIRST, WAKE_WITHOUT_EPOCH, OVERFLOW, DRAINED_FIRST, NO_SPACE_WAKE,
 * NO_CLOSE_WAKE, FIRST_RING_FIRST; with ABANDON: NO_ABANDON_WAKE.
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#define INBOX PRODUCERS /* the consumer's park; a producer's has the number of its ring */
#define PARK_N (PRODUCERS + 1)
#include "park.pml"

byte count[PRODUCERS];
bool closed[PRODUCERS];
byte gone_n; /* producers that wait for nothing any more */
bool drained, abandoned;
byte taken_from = PRODUCERS; /* in the consumer's present turn */

#define HAS_ROOM(r) (count[r] < SLOTS || abandoned)

/* wait_for_room */
inline wait_for_room(r)
{
	do
	:: HAS_ROOM(r) -> break
	:: else ->
		park_prepare(r, 1);
		if
#ifndef NO_RECHECK
		:: HAS_ROOM(r) -> park_leave(r, 1)
#endif
		:: else -> park_wait(r, 1)
		fi
	od
}

proctype producer(byte r)
{
	do
	:: true ->
#ifndef OVERFLOW
		wait_for_room(r);
#endif
		if
		:: abandoned -> break
		:: else
		fi;
#ifdef WAKE_FIRST
		park_wake(INBOX);
#endif
		atomic {
			assert(count[r] < SLOTS);
			count[r]++
		}
#ifndef WAKE_FIRST
		park_wake(INBOX)
#endif
	:: true -> break
	:: true -> goto gone /* silent, but not closed */
	od;
	closed[r] = true;
#ifndef NO_CLOSE_WAKE
	park_wake(INBOX);
#endif
gone:	gone_n++
}

/* take_turn: one entry of the first ring at or after next that has any. */
inline take_turn()
{
	taken_from = PRODUCERS;
	for (i : 0 .. PRODUCERS - 1) {
#ifdef FIRST_RING_FIRST
		r = i;
#else
		r = (next + i) % PRODUCERS;
#endif
		if
		:: count[r] > 0 ->
			count[r]--;
			taken_from = r;
#ifndef NO_SPACE_WAKE
			/* wake_producer: once half of the ring is free */
			if
			:: count[r] <= SLOTS / 2 -> park_wake(r)
			:: else
			fi;
#endif
			next = (r + 1) % PRODUCERS;
			break
		:: else
		fi
	}
	r = 0;
	i = 0
}

/* bt_inbox_is_drained: a ring is, when it was closed and was looked at after that and was empty. */
inline look_for_end()
{
	end = true;
	for (i : 0 .. PRODUCERS - 1) {
#ifdef DRAINED_FIRST
		end = end && count[i] == 0;
		end = end && closed[i];
#else
		end = end && closed[i];
		end = end && count[i] == 0;
#endif
	}
	i = 0
}

#define TAKEN (taken_from != PRODUCERS)

/* bt_inbox_pop_n, for ever */
proctype consumer()
{
	byte r, i, next;
	bool end;

	do
	:: take_turn();
		if
		:: TAKEN
		:: else ->
			park_prepare(INBOX, 1);
#ifndef NO_RECHECK
			take_turn();
#endif
			if
			:: TAKEN -> park_leave(INBOX, 1)
			:: else ->
				look_for_end();
				if
				:: end -> park_leave(INBOX, 1); break
				:: else -> park_wait(INBOX, 1)
				fi
			fi
		fi
#ifdef ABANDON
	:: abandoned = true;
		for (i : 0 .. PRODUCERS - 1) {
#ifdef NO_ABANDON_WAKE
			skip
#else
			park_wake(i)
#endif
		}
		goto gone
#endif
	od;
	for (i : 0 .. PRODUCERS - 1) {
		assert(closed[i] && count[i] == 0)
	}
	drained = true;
gone:	skip
}

#define NOTHING_LEFT (count[0] == 0 && count[PRODUCERS - 1] == 0)
#define ALL_CLOSED (closed[0] && closed[PRODUCERS - 1])

/* When nobody can move: nobody waits but the consumer, for entries of rings that are empty and not all closed. */
active proctype standstill()
{
	timeout ->
	assert(gone_n == PRODUCERS);
	assert(abandoned || drained || (NOTHING_LEFT && !ALL_CLOSED && asleep[INBOX]))
}

init
{
	byte i;

	atomic {
		for (i : 0 .. PRODUCERS - 1) {
			run producer(i)
		}
		run consumer()
	}
}

#define first_left (count[0] > 0)
#define from_first (taken_from == 0)
#define last_left (count[PRODUCERS - 1] > 0)
#define from_last (taken_from == PRODUCERS - 1)

/* No ring waits for ever, however busy the others are. */
ltl every_ring_has_its_turn { [] ((first_left -> <> from_first) && (last_left -> <> from_last)) }
