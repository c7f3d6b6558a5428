/* SPDX-License-Identifier: Apache-2.0
 * engine/base/team.c between two writes of the ledger: the scheduling thread announces a job by a number that grows,
 * does its own share, takes over the shares of workers that have not come, waits for those that have, and only then
 * writes the ledger again. A worker that comes late finds its share taken; it may be several jobs behind. Workers park
 * when there is nothing to do; the scheduling thread looks until they are done.
 *
 * Broken on purpose: NO_RECHECK, NO_WAIT, DONE_FIRST, JOB_LATER, WAKE_FIRST, END_WITHOUT_WAKE, FOREIGN_SHARD,
 * CLAIM_IN_TWO_STEPS, CLAIM_OLD_JOB, WAKE_WITHOUT_EPOCH.
 */
#ifndef WORKERS
#define WORKERS 2 /* beside the scheduling thread, whose shard is the last one */
#endif
#ifndef JOBS
#define JOBS 2 /* at most; it may end earlier */
#endif
#define SHARDS (WORKERS + 1)
#define TEAM 0 /* the park of the workers */
#define PARK_N 1
#include "park.pml"

byte job_n, claimed[WORKERS], done_n[WORKERS];
bool ends;
byte context;	    /* of the job: which ledger it is about */
byte reading;	    /* who looks at the ledger and the snapshot's columns */
bool ledger_is_written;
byte ledger;	    /* what is in it: it changes with each job */
byte column[SHARDS]; /* of which ledger a shard's part of the columns is */
byte owner[SHARDS]; /* who is writing there */
byte ended_n, ran_n;

/* Brings the part of the columns in a shard up to date. */
inline catch_up(who, part)
{
	reading++;
	assert(!ledger_is_written);
	assert(context == ledger);
	assert(owner[part] == 0);
	owner[part] = who + 1;
	column[part] = context;
	assert(owner[part] == who + 1);
	owner[part] = 0;
	reading--
}

#ifdef CLAIM_OLD_JOB
#define IS_FREE(last, job) ((last) != (job))
#else
#define IS_FREE(last, job) ((last) < (job))
#endif

/* Whether this thread has the share of a worker in a job; compare and swap. */
inline claim(worker_ix, job, out_claimed)
{
	last = claimed[worker_ix];
	if
	:: IS_FREE(last, job) ->
#ifdef CLAIM_IN_TWO_STEPS
		claimed[worker_ix] = job;
		out_claimed = true
#else
		d_step {
			if
			:: claimed[worker_ix] == last -> claimed[worker_ix] = job; out_claimed = true
			:: else -> out_claimed = false
			fi
		}
#endif
	:: else -> out_claimed = false
	fi;
	last = 0
}

proctype worker(byte me)
{
	byte seen, last;
	bool mine;

	do
	:: job_n != seen ->
		seen = job_n;
		if
		:: ends -> break
		:: else
		fi;
		claim(me, seen, mine);
		if
		:: mine ->
			mine = false;
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
			assert(seen == job_n); /* the next job waits for this share */
			done_n[me] = seen
#endif
		:: else
		fi
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
inline announce()
{
#ifdef WAKE_FIRST
	park_wake(TEAM);
#endif
#ifdef JOB_LATER
	job_n++;
	context = ledger;
#else
	context = ledger;
	job_n++;
#endif
#ifndef WAKE_FIRST
#ifdef END_WITHOUT_WAKE
	if
	:: !ends -> park_wake(TEAM)
	:: else
	fi
#else
	park_wake(TEAM)
#endif
#endif
}

/* bt_team_run */
inline run_job()
{
	announce();
	catch_up(WORKERS, SHARDS - 1);
	taken_over = 0;
	for (s : 0 .. WORKERS - 1) {
		claim(s, job_n, mine);
		if
		:: mine -> catch_up(WORKERS, s); taken_over = taken_over | (1 << s)
		:: else
		fi
	}
#ifndef NO_WAIT
	for (s : 0 .. WORKERS - 1) {
		(taken_over & (1 << s)) || done_n[s] == job_n
	}
	for (s : 0 .. SHARDS - 1) {
		assert(column[s] == ledger)
	}
#endif
	mine = false;
	s = 0
}

proctype scheduler()
{
	byte s, last, taken_over;
	bool mine;

	do
	:: job_n < JOBS ->
		ledger_is_written = true;
		assert(reading == 0);
		ledger++;
		ledger_is_written = false;
		run_job();
		ran_n++
	:: true -> break
	od;
	ends = true;
	announce();
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

/* A job that was announced is done, whether or not workers come. */
ltl jobs_are_done { [] (job_n == 2 -> <> (ran_n == 2 || ends)) }
/* After the word to end, all end: no wake-up is lost. */
ltl the_end_comes { [] (ends -> <> (ended_n == WORKERS)) }
