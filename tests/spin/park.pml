/* SPDX-License-Identifier: Apache-2.0
 * engine/base/eventcount.c, as the other models use it. Who waits: prepare, look again, wait or leave it. Who has changed
 * something: wake. There is no time limit, so a lost wake-up is a wait for ever. Memory is sequentially consistent
 * here; what the code does for that (the asymmetric fence) is the business of tests/litmus.
 *
 * All that a waiter asks of the epoch is whether it has risen since its prepare: that is kept, for each waiter,
 * instead of the epoch itself (the same answers, and finitely many states).
 *
 * The includer defines PARK_N. A waiter is a bit.
 */
bool armed[PARK_N];
byte keyed[PARK_N];  /* who holds a key */
byte stale[PARK_N];  /* whose key the epoch is beyond */
byte asleep[PARK_N]; /* in the kernel, until woken */

/* bt_eventcount_prepare */
inline park_prepare(place, waiter)
{
	d_step {
		keyed[place] = keyed[place] | waiter;
		stale[place] = stale[place] & ~waiter
	}
	armed[place] = true
}

/* Not waiting after all: the code needs no call; the model forgets the key. */
inline park_leave(place, waiter)
{
	d_step {
		keyed[place] = keyed[place] & ~waiter;
		stale[place] = stale[place] & ~waiter
	}
}

/* bt_eventcount_wait: the kernel compares and goes to sleep in one step. */
inline park_wait(place, waiter)
{
	asleep[place] = asleep[place] | (waiter & ~stale[place]);
	!(asleep[place] & waiter);
	park_leave(place, waiter)
}

/* bt_eventcount_wake: one look when nobody waits. The one that clears armed raises the epoch and calls the kernel. */
inline park_wake(place)
{
	if
	:: !armed[place]
	:: else ->
		if
		:: d_step { armed[place] -> armed[place] = false };
#ifndef WAKE_WITHOUT_EPOCH
			stale[place] = keyed[place];
#endif
			asleep[place] = 0
		:: else
		fi
	fi
}
