/* SPDX-License-Identifier: Apache-2.0
 * engine/base/team.c between two writes of the ledger: the scheduling thread announces a job by a number that grows,
 * does its own part, waits until every worker has written that number down as done, and only then writes the ledger
 * again. Workers park when there is nothing to do; the scheduling thread looks until they are done. Jobs without end,
 * or the end at any time.
 *
 * Broken on purpose: NO_RECHECK, NO_WAIT, DONE_FIRST, JOB_LATER, WAKE_FIRST, END_WITHOUT_WAKE, FOREIGN_SHARD,
 * WAKE_WITHOUT_EPOCH.
 */
#ifndef WORKERS
#define WORKERS 2 /* beside the scheduling thread, whose shard is the last one */
#endif
#define SHARDS (WORKERS + 1)
#define TEAM 0 /* the park of the workers */
#define PARK_N 1
#include "park.pml"

/* The job's number is one bit here, as nobody may ever be more than one behind. */
bit job_n, done_n[WORKERS];
mtype = { NOTHING, SHARE, END };
mtype job = NOTHING;
bit context;	    /* of the job: which ledger it is about */
byte reading;	    /* who looks at the ledger and the snapshot's columns */
bool ledger_is_written;
bit ledger;	    /* what is in it: it changes with each job */
bit column[SHARDS]; /* of which ledger a shard's part of the columns is */
byte owner[SHARDS]; /* who is writing there */
byte ended_n;
bit ran;	    /* flips with each job that was done */

/* Brings the part of the columns in a shard up to date. */
inline catch_up(who, part)
{
	reading++;
	assert(!ledger_is_written);
	assert(owner[part] == 0);
	owner[part] = who + 1;
	column[part] = ledger;
	assert(owner[part] == who + 1);
	owner[part] = 0;
	reading--
}

proctype worker(byte me)
{
	bit seen;

	do
	:: job_n != seen ->
		seen = 1 - seen;
		if
		:: job == END -> break
		:: else
		fi;
		assert(context == ledger);
#ifdef DONE_FIRST
		done_n[me] = seen;
		catch_up(me, me)
#else
#ifdef FOREIGN_SHARD
		if
		:: true -> catch_up(me, 0)
		:: true -> catch_up(me, me)
		fi;
#else
		catch_up(me, me);
#endif
		assert(seen == job_n); /* no job was missed: the next one waits for this one */
		done_n[me] = seen
#endif
	:: else ->
		park_prepare(TEAM, (1 << me));
		if
#ifndef NO_RECHECK
		:: job_n != seen -> park_leave(TEAM, (1 << me))
#endif
		:: else -> park_wait(TEAM, (1 << me))
		fi
	od;
	ended_n++
}

/* announce */
inline announce(what)
{
#ifdef WAKE_FIRST
	park_wake(TEAM);
#endif
#ifdef JOB_LATER
	job_n = 1 - job_n;
	job = what;
	context = ledger;
#else
	job = what;
	context = ledger;
	job_n = 1 - job_n;
#endif
#ifndef WAKE_FIRST
#ifdef END_WITHOUT_WAKE
	if
	:: what != END -> park_wake(TEAM)
	:: else
	fi
#else
	park_wake(TEAM)
#endif
#endif
}

inline all_are_up_to_date()
{
	d_step {
		for (s : 0 .. SHARDS - 1) {
			assert(column[s] == ledger)
		}
		s = 0
	}
}

proctype scheduler()
{
	byte s;

	do
	:: true ->
		ledger_is_written = true;
		assert(reading == 0);
		ledger = 1 - ledger;
		ledger_is_written = false;
		announce(SHARE);
		catch_up(WORKERS, SHARDS - 1);
#ifndef NO_WAIT
		for (s : 0 .. WORKERS - 1) {
			done_n[s] == job_n
		}
		s = 0;
		all_are_up_to_date();
#endif
		ran = 1 - ran
	:: true -> break
	od;
	announce(END);
	ended_n == WORKERS /* join */
}

init
{
	byte i;

	atomic {
		for (i : 0 .. WORKERS - 1) {
			run worker(i)
		}
		run scheduler()
	}
}

#define ends (job == END)

/* A job that was announced is done: no wake-up is lost. */
ltl jobs_are_done { [] ((job_n == 1 -> <> (ran == 1 || ends)) && (job_n == 0 -> <> (ran == 0 || ends))) }
/* After the word to end, all end. */
ltl the_end_comes { [] (ends -> <> (ended_n == WORKERS)) }
