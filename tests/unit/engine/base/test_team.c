/* SPDX-License-Identifier: Apache-2.0
 * A team: every share is done once, writes are visible to all, and no thread waits for
 * one that does not arrive.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/testpoint.h"
#include "engine/base/rcu.h"
#include "engine/base/team.h"

#define JOB_N 3000

struct job {
	uint64_t number;	    /* the caller writes it before a run */
	uint64_t seen[BT_TEAM_MAX]; /* each written by its share */
	uint32_t done_n[BT_TEAM_MAX];
};

static void note(void *context, uint32_t worker)
{
	struct job *job = context;

	job->seen[worker] = job->number;
	job->done_n[worker]++;
}

static struct bt_team *team_of(uint32_t worker_n, uint32_t spin_n)
{
	const struct bt_team_options options = {.worker_n = worker_n, .spin_n = spin_n};
	enum bt_status status;
	struct bt_team *team = bt_team_create(&options, &status);

	assert_non_null(team);
	assert_int_equal(status, BT_OK);
	assert_int_equal(bt_team_size(team), worker_n);
	return team;
}

static void run_jobs(uint32_t worker_n, uint32_t spin_n, uint64_t job_n)
{
	struct bt_team *team = team_of(worker_n, spin_n);
	struct job job = {0};

	for (uint64_t n = 1; n <= job_n; n++) {
		job.number = n;
		bt_team_run(team, note, &job);
		for (uint32_t i = 0; i < worker_n; i++) {
			assert_int_equal(job.seen[i], n);
			assert_int_equal(job.done_n[i], n);
		}
	}
	bt_team_destroy(team);
}

static void every_share_is_done_once_and_seen(void **state)
{
	(void)state;
	for (uint32_t worker_n = 1; worker_n <= 8; worker_n *= 2) {
		run_jobs(worker_n, 0, JOB_N);
	}
}

static void workers_that_park_at_once_miss_no_job(void **state)
{
	(void)state;
	run_jobs(3, 1, JOB_N);
}

static void delays_at_race_points_change_nothing(void **state)
{
	(void)state;
	if (!bt_testpoint_is_built()) {
		skip();
	}
	for (uint64_t seed = 1; seed <= 5; seed++) {
		bt_testpoint_delay(seed);
		run_jobs(4, seed % 2 ? 1 : 100, 200);
		bt_testpoint_off();
	}
}

static void the_caller_does_the_share_of_an_absent_worker(void **state)
{
	struct job job = {0};

	(void)state;
	if (!bt_testpoint_is_built()) {
		skip();
	}
	struct bt_team *team = team_of(2, 1);
	bt_testpoint_hold("team.worker.has_job", 0);
	for (job.number = 1; job.number <= 100; job.number++) {
		bt_team_run(team, note, &job);
		assert_int_equal(job.seen[1], job.number);
	}
	assert_true(bt_team_taken_over_n(team) >= 99);
	bt_testpoint_release();
	bt_testpoint_off();
	bt_team_run(team, note, &job);
	assert_int_equal(job.done_n[1], 101);
	bt_team_destroy(team);
}

static void a_team_that_never_worked_ends(void **state)
{
	(void)state;
	bt_team_destroy(team_of(5, 0));
	bt_team_destroy(NULL);
}

static void note_reading(void *context, uint32_t worker)
{
	bool *reading = context;

	reading[worker] = bt_rcu_is_reading();
}

static void workers_read_during_a_job_and_block_no_grace_period_after_it(void **state)
{
	struct bt_team *team = team_of(3, 0);
	bool reading[3] = {false};

	(void)state;
	bt_rcu_register("caller");
	bt_team_run(team, note_reading, reading);
	assert_true(reading[0] && reading[1] && reading[2]);
	bt_rcu_unregister();
	bt_rcu_drain();
	bt_team_destroy(team);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_share_is_done_once_and_seen),
		cmocka_unit_test(workers_that_park_at_once_miss_no_job),
		cmocka_unit_test(delays_at_race_points_change_nothing),
		cmocka_unit_test(the_caller_does_the_share_of_an_absent_worker),
		cmocka_unit_test(a_team_that_never_worked_ends),
		cmocka_unit_test(workers_read_during_a_job_and_block_no_grace_period_after_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
