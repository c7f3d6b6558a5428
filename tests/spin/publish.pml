/* SPDX-License-Identifier: Apache-2.0
 * Publish, adopt, reclaim (cache/publish.c, bt_snapshot_adopt, engine/base/rcu.c) on one node that changes without
 * end. The publisher makes a version visible, defers the end of the old one, and sends the delta on; the scheduling
 * thread adopts it and defers the end of the description that its columns pointed into before. Readers: a worker
 * (QSBR) that reads through the columns, and a visitor (memb) that reads through the version. liburcu's thread reclaims
 * after a grace period of both. Readers may take as long as they like, stall for ever, come and go.
 *
 * A version and the description that it was published with have the same number.
 *
 * The flavours meet in the thread that reclaims only, so readers can be looked at one by one: NO_WORKER, NO_VISITOR.
 *
 * Broken on purpose: DELTA_FIRST, FREED_BY_PUBLISHER, NO_QSBR_GRACE, NO_MEMB_GRACE, GRACE_SERVES_LATER, QUIESCENT_INSIDE,
 * NO_THROTTLE, THROTTLE_ONLINE.
 */
#ifndef LIMIT
#define LIMIT 0 /* pending reclaims beyond which the publisher waits */
#endif
/* Numbers in use: the live one, those before it whose deltas are in the ring or in hand, and what is pending: LIMIT,
 * one version more, and the descriptions of deltas that are adopted while the publisher waits. */
#define NUMBERS (LIMIT + 4)
#define NONE NUMBERS
#define BIT(n) (1 << (n))

byte live, columns; /* numbers: what visitors find, what the scheduling thread's columns point into */
byte versions = 1, descs = 1; /* sets: memory in use */
byte deferred_versions, deferred_descs;
byte pending_n;
chan deltas = [1] of { byte, byte }; /* the new description, the old one */

#define WORKER 1
#define PUBLISHER 2
byte online;	   /* QSBR readers that may hold something */
byte need_quiet;   /* those of them that the grace period still waits for */
bool visits, need_visit;

/* bt_rcu_quiescent and bt_rcu_offline */
inline quiescent(reader)
{
	need_quiet = need_quiet & ~reader
}

inline offline(reader)
{
	d_step {
		online = online & ~reader;
		need_quiet = need_quiet & ~reader
	}
}

/* bt_rcu_defer, while there are readers */
inline defer(deferred, number)
{
	d_step {
		assert(!(deferred & BIT(number)));
		deferred = deferred | BIT(number);
		pending_n++
	}
}

/* A number whose version and description are free. There is always one: memory is bounded. */
inline allocate(out_number)
{
	d_step {
		out_number = 0;
		do
		:: out_number < NUMBERS && ((versions | descs) & BIT(out_number)) -> out_number++
		:: else -> break
		od;
		assert(out_number < NUMBERS);
		versions = versions | BIT(out_number);
		descs = descs | BIT(out_number)
	}
}

/* bt_rcu_throttle: parks, and who parks is offline. */
inline throttle()
{
	if
	:: pending_n <= LIMIT
	:: else ->
#ifndef THROTTLE_ONLINE
		offline(PUBLISHER);
#endif
		pending_n <= LIMIT;
		online = online | PUBLISHER
	fi
}

active proctype publisher()
{
	byte fresh, old;

	online = online | PUBLISHER;
	do
	:: quiescent(PUBLISHER);
#ifndef NO_THROTTLE
		throttle();
#endif
		allocate(fresh);
		old = live;
#ifdef DELTA_FIRST
		offline(PUBLISHER);
		deltas!fresh,old;
		online = online | PUBLISHER;
#endif
commit:		live = fresh;
		defer(deferred_versions, old);
#ifdef FREED_BY_PUBLISHER
		defer(deferred_descs, old);
#endif
#ifndef DELTA_FIRST
		offline(PUBLISHER); /* a full ring makes it park */
		deltas!fresh,old;
		online = online | PUBLISHER;
#endif
		d_step { fresh = 0; old = 0 }
	od
}

/* Reads its own columns without RCU: nobody else ends what they point into. */
active proctype scheduler()
{
	byte fresh, old;

	do
	:: if
		:: deltas?fresh,old ->
			assert(columns == old);
			columns = fresh; /* bt_snapshot_adopt */
#ifndef FREED_BY_PUBLISHER
			defer(deferred_descs, old);
#endif
			d_step { fresh = 0; old = 0 }
		:: empty(deltas)
		fi;
cycle:		assert(descs & BIT(columns))
	od
}

#ifndef NO_WORKER
active proctype worker()
{
	byte desc;

	do
	:: true -> /* parked, or not started: offline */
		online = online | WORKER;
		do
		:: desc = columns;
			if
			:: true
			:: true -> stall: false
			fi;
#ifdef QUIESCENT_INSIDE
			quiescent(WORKER);
#endif
			assert(descs & BIT(desc));
			desc = 0;
			quiescent(WORKER)
		:: break
		od;
		offline(WORKER)
	od
}
#endif

#ifndef NO_VISITOR
active proctype visitor()
{
	byte version;

	do
	:: true ->
		visits = true;
		version = live;
		assert(versions & BIT(version));
		if
		:: true
		:: true -> stall: false
		fi;
		assert(versions & BIT(version));
		assert(descs & BIT(version));
		version = 0;
		d_step {
			visits = false;
			need_visit = false
		}
	od
}
#endif

/* Calls the reclaim functions of what is in hand and was served by a grace period of QSBR. */
inline reclaim()
{
	d_step {
		versions = versions & ~(old_versions & served_versions);
		descs = descs & ~(old_descs & served_descs);
		ended = old_versions & served_versions;
		do
		:: ended -> pending_n = pending_n - (ended & 1); ended = ended >> 1
		:: else -> break
		od;
		ended = old_descs & served_descs;
		do
		:: ended -> pending_n = pending_n - (ended & 1); ended = ended >> 1
		:: else -> break
		od;
		ended = old_versions & served_versions;
		old_versions = old_versions & ~ended;
		served_versions = served_versions & ~ended;
		ended = old_descs & served_descs;
		old_descs = old_descs & ~ended;
		served_descs = served_descs & ~ended;
		ended = 0
	}
}

/* call_rcu of memb takes all that is deferred and waits for visitors; then its callbacks wait for registered readers,
 * unless a grace period has done so that began after the call of bt_rcu_defer (wait_for_registered). */
active proctype reclaimer()
{
	byte old_versions, old_descs;	    /* in hand */
	byte served_versions, served_descs; /* deferred before the last grace period of QSBR began */
	byte ended;

	do
	:: d_step {
			deferred_versions || deferred_descs ->
			old_versions = deferred_versions;
			old_descs = deferred_descs;
			deferred_versions = 0;
			deferred_descs = 0
		};
#ifndef NO_MEMB_GRACE
		need_visit = visits;
		!need_visit;
#endif
		reclaim();
		if
		:: !old_versions && !old_descs
		:: else ->
			d_step {
				served_versions = old_versions | deferred_versions;
				served_descs = old_descs | deferred_descs;
#ifndef NO_QSBR_GRACE
				need_quiet = online
#endif
			};
			need_quiet == 0;
#ifdef GRACE_SERVES_LATER
			served_versions = old_versions | deferred_versions;
			served_descs = old_descs | deferred_descs;
#endif
			reclaim()
		fi
	od
}

/* A short stall is no more than a late next step. */
#ifdef NO_WORKER
#ifdef NO_VISITOR
#define stalled false
#else
#define stalled (visitor@stall)
#endif
#else
#ifdef NO_VISITOR
#define stalled (worker@stall)
#else
#define stalled (worker@stall || visitor@stall)
#endif
#endif

/* As long as readers that stall come back, publishing goes on, and with it reclaiming. */
ltl goes_on { ([] !stalled) -> [] <> publisher@commit }
/* A reader that stalls for ever never stops the scheduling thread. */
ltl cycles_go_on { [] <> scheduler@cycle }
