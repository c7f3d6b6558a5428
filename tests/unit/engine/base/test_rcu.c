/* SPDX-License-Identifier: Apache-2.0
 * Deferred reclamation: only after readers of both kinds have ended, in order, bounded;
 * stalled readers are reported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/mem.h"
#include "engine/base/eventcount.h"
#include "engine/base/rcu.h"

enum {
	MILLISECOND_NS = 1000000,
	A_MOMENT_NS = 80 * MILLISECOND_NS /* far more than reclamation takes if no reader delays it */
};

struct object {
	struct bt_rcu_head head;
	uint64_t number;
};

static struct {
	_Atomic uint64_t reclaimed_n, next_number, out_of_order_n;
	_Atomic uint32_t stall_n;
	char stalled[BT_RCU_NAME_BYTES];
	int64_t held_ns;
	struct bt_eventcount stall_park;
} seen;

static void reclaim(struct bt_rcu_head *head)
{
	struct object *object = (struct object *)head;

	if (object->number != bt_load_relaxed(&seen.next_number)) {
		bt_add(&seen.out_of_order_n, 1);
	}
	bt_store_relaxed(&seen.next_number, object->number + 1);
	bt_add(&seen.reclaimed_n, 1);
	bt_mem_free(object);
}

static void defer_one(uint64_t number, size_t bytes)
{
	struct object *object = bt_mem_zalloc(1, sizeof(*object));

	object->number = number;
	bt_rcu_defer(&object->head, reclaim, bytes);
}

static void note_stall(void *context, const char *reader, int64_t held_ns)
{
	(void)context;
	memcpy(seen.stalled, reader, strlen(reader) + 1);
	seen.held_ns = held_ns;
	bt_add(&seen.stall_n, 1);
	bt_eventcount_wake(&seen.stall_park);
}

/* Every test starts and ends with nothing pending. */
static int begin(void **state)
{
	const struct bt_rcu_options defaults = {.backlog_n = 0};

	(void)state;
	bt_rcu_configure(&defaults);
	bt_store_relaxed(&seen.reclaimed_n, 0);
	bt_store_relaxed(&seen.next_number, 0);
	bt_store_relaxed(&seen.out_of_order_n, 0);
	bt_store_relaxed(&seen.stall_n, 0);
	bt_eventcount_init(&seen.stall_park);
	return 0;
}

static int end(void **state)
{
	(void)state;
	bt_rcu_shutdown();
	return bt_rcu_stats_read().pending_n != 0 || bt_rcu_stats_read().pending_bytes != 0;
}

static void run_elsewhere(void *(*run)(void *context), void *context)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run, context), 0);
	pthread_join(thread, NULL);
}

/* Defers with a limit of 0, and waits for a moment; *out_reclaimed: whether it was reclaimed by then. */
static void *defer_and_wait_a_moment(void *out_reclaimed)
{
	const struct bt_rcu_options nothing = {.backlog_bytes = 1};

	bt_rcu_configure(&nothing);
	defer_one(0, 100);
	*(bool *)out_reclaimed = bt_rcu_throttle(A_MOMENT_NS);
	return NULL;
}

static bool is_reclaimed_meanwhile(void)
{
	bool reclaimed;

	run_elsewhere(defer_and_wait_a_moment, &reclaimed);
	assert_int_equal(reclaimed, bt_load_relaxed(&seen.reclaimed_n) > 0);
	return reclaimed;
}

static void memory_of_a_registered_reader_is_not_reclaimed(void **state)
{
	(void)state;
	assert_false(bt_rcu_is_registered());
	bt_rcu_register("reader");
	assert_true(bt_rcu_is_registered() && bt_rcu_is_reading() && bt_rcu_has_readers());
	assert_false(is_reclaimed_meanwhile());
	bt_rcu_quiescent();
	bt_rcu_drain();
	assert_true(bt_load_relaxed(&seen.reclaimed_n) == 1);
	bt_rcu_unregister();
	assert_false(bt_rcu_is_registered());
}

static void no_grace_period_waits_for_an_offline_reader(void **state)
{
	(void)state;
	bt_rcu_register("reader");
	bt_rcu_offline();
	assert_false(bt_rcu_is_reading());
	bt_rcu_drain();
	bool reclaimed;
	run_elsewhere(defer_and_wait_a_moment, &reclaimed);
	bt_rcu_drain();
	assert_true(bt_load_relaxed(&seen.reclaimed_n) == 1);
	bt_rcu_online();
	assert_true(bt_rcu_is_reading());
	bt_rcu_unregister();
}

static void memory_of_a_visitor_is_not_reclaimed_until_its_outermost_end(void **state)
{
	(void)state;
	bt_rcu_visit_begin();
	bt_rcu_visit_begin();
	assert_true(bt_rcu_is_reading());
	bt_rcu_visit_end();
	assert_true(bt_rcu_is_reading());
	assert_false(is_reclaimed_meanwhile());
	bt_rcu_visit_end();
	assert_false(bt_rcu_is_reading());
	bt_rcu_drain();
	assert_true(bt_load_relaxed(&seen.reclaimed_n) == 1);
}

static void draining_reclaims_everything_in_order(void **state)
{
	struct bt_rcu_stats before = bt_rcu_stats_read();

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		defer_one(i, 10);
	}
	bt_rcu_drain();
	assert_true(bt_load_relaxed(&seen.reclaimed_n) == 1000);
	assert_true(bt_load_relaxed(&seen.out_of_order_n) == 0);
	struct bt_rcu_stats after = bt_rcu_stats_read();
	assert_true(after.reclaimed_n - before.reclaimed_n == 1000);
	assert_true(after.grace_n > before.grace_n && after.grace_n - before.grace_n < 1000);
	assert_true(after.high_n > 0 && after.high_bytes >= 10);
	assert_true(after.pending_n == 0 && after.pending_bytes == 0);
}

static void a_reader_that_drains_does_not_wait_for_itself(void **state)
{
	(void)state;
	bt_rcu_register("writer");
	defer_one(0, 1);
	bt_rcu_drain();
	assert_true(bt_load_relaxed(&seen.reclaimed_n) == 1);
	assert_true(bt_rcu_is_reading());
	bt_rcu_unregister();
}

static void reclaim_and_defer_another(struct bt_rcu_head *head)
{
	uint64_t number = ((struct object *)head)->number;

	reclaim(head);
	if (number < 9) {
		struct object *object = bt_mem_zalloc(1, sizeof(*object));

		object->number = number + 1;
		bt_rcu_defer(&object->head, reclaim_and_defer_another, 1);
	}
}

static void draining_includes_what_reclaiming_defers(void **state)
{
	struct object *object = bt_mem_zalloc(1, sizeof(*object));

	(void)state;
	bt_rcu_defer(&object->head, reclaim_and_defer_another, 1);
	bt_rcu_drain();
	assert_true(bt_load_relaxed(&seen.reclaimed_n) == 10);
}

/* From here to its end the thread is a reader. */
static void visit_once(void)
{
	bt_rcu_visit_begin();
	bt_rcu_visit_end();
}

static void *write_with_throttle(void *context)
{
	(void)context;
	visit_once();
	for (uint64_t i = 0; i < 200; i++) {
		assert_true(bt_rcu_throttle(BT_EVENTCOUNT_FOREVER));
		defer_one(i, 50);
	}
	return NULL;
}

static void a_throttled_writer_never_gets_beyond_the_limit(void **state)
{
	/* High-water marks are per process, so this runs first, and the lower limit before the other. */
	const struct bt_rcu_options by_bytes = {.backlog_bytes = 700};
	const struct bt_rcu_options by_count = {.backlog_n = 20};

	(void)state;
	bt_rcu_configure(&by_bytes);
	run_elsewhere(write_with_throttle, NULL);
	bt_rcu_drain();
	assert_true(bt_rcu_stats_read().high_bytes <= 750);
	assert_true(bt_rcu_stats_read().high_n <= 15);
	begin(state);
	bt_rcu_configure(&by_count);
	run_elsewhere(write_with_throttle, NULL);
	bt_rcu_drain();
	assert_true(bt_rcu_stats_read().high_n <= 21);
	assert_true(bt_rcu_stats_read().throttle_n > 0);
	assert_true(bt_load_relaxed(&seen.out_of_order_n) == 0);
}

static void *defer_alone(void *context)
{
	(void)context;
	defer_one(0, 10);
	assert_true(bt_load_relaxed(&seen.reclaimed_n) == 1);
	assert_true(bt_rcu_stats_read().pending_n == 0);
	return NULL;
}

static void without_any_reader_it_is_reclaimed_at_once(void **state)
{
	/* This thread has not been a reader yet. */
	(void)state;
	assert_false(bt_rcu_has_readers());
	run_elsewhere(defer_alone, NULL);
	assert_true(bt_load_relaxed(&seen.reclaimed_n) == 1);
}

static void *wait_for_stall(void *context)
{
	uint32_t wanted = *(const uint32_t *)context;

	while (bt_load_acquire(&seen.stall_n) < wanted) {
		uint32_t key = bt_eventcount_prepare(&seen.stall_park);

		if (bt_load_acquire(&seen.stall_n) < wanted) {
			bt_eventcount_wait(&seen.stall_park, key, BT_EVENTCOUNT_FOREVER);
		}
	}
	return NULL;
}

static void await_stall(uint32_t number)
{
	run_elsewhere(wait_for_stall, &number);
	assert_int_equal(bt_load_acquire(&seen.stall_n), number);
}

static void a_stalled_reader_is_reported_once_by_name(void **state)
{
	const struct bt_rcu_options options = {.stall_ns = 2 * MILLISECOND_NS, .stalled = note_stall};
	uint64_t stall_n = bt_rcu_stats_read().stall_n;

	(void)state;
	bt_rcu_configure(&options);
	bt_rcu_register("a reader with a name that is much longer than fits");
	defer_one(0, 1);
	await_stall(1);
	assert_string_equal(seen.stalled, "a reader with a name that is mu");
	assert_true(seen.held_ns >= 2 * MILLISECOND_NS);
	bool reclaimed;
	run_elsewhere(defer_and_wait_a_moment, &reclaimed);
	assert_false(reclaimed);
	assert_int_equal(bt_load_acquire(&seen.stall_n), 1);
	bt_rcu_configure(&options);
	bt_rcu_drain();
	assert_true(bt_load_relaxed(&seen.reclaimed_n) == 2);

	defer_one(1, 1);
	await_stall(2);
	assert_true(bt_rcu_stats_read().stall_n == stall_n + 2);
	bt_rcu_unregister();
}

static void *visit_too_long(void *context)
{
	uint32_t stall_n = *(const uint32_t *)context;

	pthread_setname_np(pthread_self(), "dawdler");
	bt_rcu_visit_begin();
	defer_one(0, 1);
	while (bt_load_acquire(&seen.stall_n) < stall_n) {
		bt_cpu_relax();
	}
	bt_rcu_visit_end();
	return NULL;
}

static void a_stalled_visitor_is_reported_by_the_name_of_its_thread(void **state)
{
	const struct bt_rcu_options options = {.stall_ns = 2 * MILLISECOND_NS, .stalled = note_stall};
	uint32_t one = 1;

	(void)state;
	bt_rcu_configure(&options);
	bt_rcu_register("innocent");
	bt_rcu_offline();
	run_elsewhere(visit_too_long, &one);
	assert_string_equal(seen.stalled, "dawdler");
	bt_rcu_online();
	bt_rcu_unregister();
}

struct sleeper {
	struct bt_eventcount park;
	_Atomic uint32_t may_go;
};

static void *sleep_registered(void *context)
{
	struct sleeper *sleeper = context;

	bt_rcu_register("sleeper");
	while (!bt_load_acquire(&sleeper->may_go)) {
		uint32_t key = bt_eventcount_prepare(&sleeper->park);

		if (!bt_load_acquire(&sleeper->may_go)) {
			bt_eventcount_wait(&sleeper->park, key, BT_EVENTCOUNT_FOREVER);
		}
		assert_true(bt_rcu_is_reading());
	}
	bt_rcu_unregister();
	return NULL;
}

static void a_reader_that_is_parked_holds_up_nothing(void **state)
{
	struct sleeper sleeper = {.may_go = 0};
	pthread_t thread;

	(void)state;
	bt_eventcount_init(&sleeper.park);
	assert_int_equal(pthread_create(&thread, NULL, sleep_registered, &sleeper), 0);
	while (!bt_load_relaxed(&sleeper.park.armed)) {
		bt_cpu_relax();
	}
	defer_one(0, 1);
	bt_rcu_drain();
	assert_true(bt_load_relaxed(&seen.reclaimed_n) == 1);
	bt_store_release(&sleeper.may_go, 1);
	bt_eventcount_wake(&sleeper.park);
	pthread_join(thread, NULL);
}

static void after_a_shutdown_it_starts_again(void **state)
{
	(void)state;
	bt_rcu_shutdown();
	for (uint64_t i = 0; i < 3; i++) {
		defer_one(i, 1);
		bt_rcu_shutdown();
		assert_true(bt_load_relaxed(&seen.reclaimed_n) == i + 1);
	}
	bt_rcu_shutdown();
}

static uint32_t count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	uint32_t n = 0;

	assert_non_null(tasks);
	while (readdir(tasks)) {
		n++;
	}
	closedir(tasks);
	return n;
}

static void a_shutdown_leaves_no_thread_behind(void **state)
{
	uint32_t before_n = count_threads();

	(void)state;
	visit_once();
	defer_one(0, 1);
	assert_int_equal(count_threads(), before_n + 2);
	bt_rcu_shutdown();
	/* The kernel removes a thread some time after the join. */
	while (count_threads() != before_n) {
		bt_cpu_relax();
	}
}

static void a_child_of_fork_reclaims_by_itself(void **state)
{
	int status;

	(void)state;
	visit_once();
	defer_one(0, 1);
	bt_rcu_shutdown();
	fflush(NULL);
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		defer_one(1, 1);
		bt_rcu_shutdown();
		_exit(bt_load_relaxed(&seen.reclaimed_n) == 2 && !bt_rcu_stats_read().pending_n ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void a_published_pointer_is_got(void **state)
{
	struct object object, *_Atomic published = NULL;

	(void)state;
	assert_null(bt_rcu_get(&published));
	bt_rcu_publish(&published, &object);
	assert_ptr_equal(bt_rcu_get(&published), &object);
}

#define RCU_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RCU_TEST(a_throttled_writer_never_gets_beyond_the_limit),
		RCU_TEST(without_any_reader_it_is_reclaimed_at_once),
		RCU_TEST(memory_of_a_registered_reader_is_not_reclaimed),
		RCU_TEST(no_grace_period_waits_for_an_offline_reader),
		RCU_TEST(memory_of_a_visitor_is_not_reclaimed_until_its_outermost_end),
		RCU_TEST(draining_reclaims_everything_in_order),
		RCU_TEST(a_reader_that_drains_does_not_wait_for_itself),
		RCU_TEST(draining_includes_what_reclaiming_defers),
		RCU_TEST(a_stalled_reader_is_reported_once_by_name),
		RCU_TEST(a_stalled_visitor_is_reported_by_the_name_of_its_thread),
		RCU_TEST(a_reader_that_is_parked_holds_up_nothing),
		RCU_TEST(after_a_shutdown_it_starts_again),
		RCU_TEST(a_shutdown_leaves_no_thread_behind),
		RCU_TEST(a_child_of_fork_reclaims_by_itself),
		RCU_TEST(a_published_pointer_is_got),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
