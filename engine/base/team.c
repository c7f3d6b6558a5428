/* SPDX-License-Identifier: Apache-2.0
 * A job is an increasing number. Each worker's share is claimed once, usually by the worker, or by the caller
 * when the worker has not started yet: the caller never waits for a preempted thread that has not claimed its
 * share.
 */
#include "engine/base/team.h"

#include <stdalign.h>
#include <stdio.h>

#include "engine/base/atomic.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/eventcount.h"
#include "engine/base/testpoint.h"
#include "engine/base/rcu.h"
#include "engine/base/thread.h"

#define SPIN_N	     4000 /* some ten microseconds: about a parked worker's wake-up time */
#define YIELD_BEHIND 1000

struct worker {
	alignas(BT_CACHELINE) _Atomic uint64_t claimed; /* atomic: EDGE team.claimed; the last job with a
							   claimed share */
	_Atomic uint64_t done; /* atomic: EDGE team.done; the last job with a finished share */
	struct bt_team *team;
	struct bt_thread *thread;
	uint32_t ix, numa_ix;
};

struct bt_team {
	alignas(BT_CACHELINE) _Atomic uint64_t job_n; /* atomic: EDGE team.job; incremented for every job */
	_Atomic uint32_t ends;			      /* atomic: set before the last job_n */
	void (*job)(void *context, uint32_t worker);  /* read after claiming a share */
	void *context;
	uint64_t taken_over_n;
	uint32_t worker_n, spin_n;
	const struct bt_topo *topo;
	bool spans_nodes;
	struct bt_eventcount park;
	struct worker workers[];
};

/* Waits for a job after the one seen last. */
static uint64_t next_job(struct bt_team *team, uint64_t seen)
{
	uint64_t now;
	uint32_t spun = 0;

	while ((now = bt_load_acquire(&team->job_n)) == seen) {
		if (spun++ < team->spin_n) {
			bt_cpu_relax();
			continue;
		}
		uint32_t key = bt_eventcount_prepare(&team->park);

		if (bt_load_acquire(&team->job_n) == seen) {
			bt_eventcount_wait(&team->park, key, BT_EVENTCOUNT_FOREVER);
		}
		spun = 0;
	}
	BT_INVARIANT(now > seen);
	return now;
}

/* Claims a worker's share of a job unless it is claimed. */
static bool claim(struct worker *worker, uint64_t job)
{
	uint64_t last = bt_load_relaxed(&worker->claimed);

	return last < job && bt_cas(&worker->claimed, &last, job);
}

static void work(void *context)
{
	struct worker *worker = context;
	struct bt_team *team = worker->team;
	uint64_t seen = 0;

	bt_rcu_register(bt_thread_name());
	bt_rcu_offline();
	if (team->topo) {
		bt_topo_use_memory(team->topo, worker->numa_ix);
	}
	for (;;) {
		seen = next_job(team, seen);
		BT_TESTPOINT("team.worker.has_job");
		if (bt_load_acquire(&team->ends)) {
			break;
		}
		if (!claim(worker, seen)) {
			continue;
		}
		BT_TESTPOINT("team.worker.has_claimed");
		bt_rcu_online();
		team->job(team->context, worker->ix);
		bt_rcu_offline();
		BT_TESTPOINT("team.worker.before_done");
		bt_store_release(&worker->done, seen);
	}
	bt_rcu_unregister();
}

static const struct bt_topo_place *place_of(const struct bt_team_options *options, uint32_t ix)
{
	if (!options->plan) {
		return NULL;
	}
	return ix == 0 ? bt_topo_plan_find(options->plan, BT_ROLE_SCHEDULING, 0)
		       : bt_topo_plan_find(options->plan, BT_ROLE_WORKER, ix);
}

static enum bt_status start(struct bt_team *team, uint32_t ix, const struct bt_topo_place *place)
{
	struct worker *worker = &team->workers[ix];
	char name[BT_THREAD_NAME_BYTES];
	struct bt_thread_options options = {.name = name};

	snprintf(name, sizeof(name), "worker-%u", ix % 100);
	if (place) {
		options = bt_topo_thread_options(place);
	}
	return bt_thread_start(&options, work, worker, &worker->thread, NULL);
}

struct bt_team *bt_team_create(const struct bt_team_options *options, enum bt_status *out_status)
{
	uint32_t n = options->worker_n;

	BT_REQUIRE(n >= 1 && n <= BT_TEAM_MAX);
	struct bt_team *team = bt_mem_column(1, sizeof(*team) + n * sizeof(team->workers[0]));
	team->worker_n = 1;
	team->spin_n = options->spin_n ? options->spin_n : bt_thread_usable_cpu_n() < n ? 1 : SPIN_N;
	team->topo = options->topo;
	bt_eventcount_init(&team->park);
	*out_status = BT_OK;
	for (uint32_t i = 0; i < n && *out_status == BT_OK; i++) {
		const struct bt_topo_place *place = place_of(options, i);
		struct worker *worker = &team->workers[i];

		worker->team = team;
		worker->ix = i;
		worker->numa_ix = place && place->has_cpu ? place->numa_ix : 0;
		team->spans_nodes |= worker->numa_ix != team->workers[0].numa_ix;
		if (i > 0) {
			*out_status = start(team, i, place);
			team->worker_n += *out_status == BT_OK;
		}
	}
	if (*out_status != BT_OK) {
		bt_team_destroy(team);
		return NULL;
	}
	return team;
}

static void announce(struct bt_team *team, void (*job)(void *context, uint32_t worker), void *context)
{
	team->job = job;
	team->context = context;
	BT_TESTPOINT("team.run.before_announce");
	bt_store_release(&team->job_n, bt_load_relaxed(&team->job_n) + 1);
	bt_eventcount_wake(&team->park);
}

void bt_team_destroy(struct bt_team *team)
{
	if (!team) {
		return;
	}
	bt_store_release(&team->ends, 1);
	announce(team, NULL, NULL);
	for (uint32_t i = 1; i < team->worker_n; i++) {
		bt_thread_join(&team->workers[i].thread);
	}
	bt_mem_free(team);
}

uint32_t bt_team_size(const struct bt_team *team)
{
	return team->worker_n;
}

/* Waits until a worker has finished its share. */
static void await(const struct bt_team *team, const struct worker *worker, uint64_t job)
{
	for (uint32_t spun = 0; bt_load_acquire(&worker->done) != job; spun++) {
		if (spun < YIELD_BEHIND && team->spin_n > 1) {
			bt_cpu_relax();
		} else {
			bt_thread_yield();
		}
	}
}

void bt_team_run(struct bt_team *team, void (*job)(void *context, uint32_t worker), void *context)
{
	bool taken_over[BT_TEAM_MAX];

	announce(team, job, context);
	uint64_t number = bt_load_relaxed(&team->job_n);
	BT_INVARIANT(number > 0);
	job(context, 0);
	for (uint32_t i = 1; i < team->worker_n; i++) {
		BT_TESTPOINT("team.run.before_claim");
		taken_over[i] = claim(&team->workers[i], number);
		if (taken_over[i]) {
			job(context, i);
			team->taken_over_n++;
		}
	}
	for (uint32_t i = 1; i < team->worker_n; i++) {
		if (!taken_over[i]) {
			await(team, &team->workers[i], number);
		}
	}
}

bool bt_team_spans_nodes(const struct bt_team *team)
{
	return team->spans_nodes;
}

void bt_team_bind_memory(const struct bt_team *team, uint32_t worker, void *ptr, size_t bytes)
{
	BT_REQUIRE(worker < team->worker_n);
	if (team->topo) {
		bt_topo_bind_range(team->topo, ptr, bytes, team->workers[worker].numa_ix);
	}
}

uint64_t bt_team_taken_over_n(const struct bt_team *team)
{
	return team->taken_over_n;
}
