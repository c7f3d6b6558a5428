/* SPDX-License-Identifier: Apache-2.0
 * Threads: named, pinned, joined; errors of the system are reported and counted. Locks exclude.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/base/atomic.h"
#include "engine/base/rcu.h"
#include "engine/base/thread.h"

struct seen {
	char own_name[32], kernel_name[32];
	uint32_t cpu_n, cpu;
};

/* The kernel's name of the calling thread. */
static void read_comm(char *out, size_t bytes)
{
	FILE *file = fopen("/proc/thread-self/comm", "r");

	assert_non_null(file);
	assert_non_null(fgets(out, (int)bytes, file));
	out[strcspn(out, "\n")] = '\0';
	fclose(file);
}

/* The CPUs of the calling thread's affinity mask, as "0-3". */
static void read_allowed(char *out, size_t bytes)
{
	FILE *file = fopen("/proc/thread-self/status", "r");
	char line[4096];

	assert_non_null(file);
	out[0] = '\0';
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "Cpus_allowed_list:\t", 19) == 0) {
			snprintf(out, bytes, "%.*s", (int)strcspn(line + 19, "\n"), line + 19);
		}
	}
	fclose(file);
}

static uint32_t first_allowed(void)
{
	char allowed[4096];
	uint32_t cpu;

	read_allowed(allowed, sizeof(allowed));
	assert_int_equal(sscanf(allowed, "%u", &cpu), 1);
	return cpu;
}

static void look(void *context)
{
	struct seen *seen = context;

	snprintf(seen->own_name, sizeof(seen->own_name), "%s", bt_thread_name());
	read_comm(seen->kernel_name, sizeof(seen->kernel_name));
	seen->cpu_n = bt_thread_usable_cpu_n();
	seen->cpu = first_allowed();
}

static struct seen start_and_look(struct bt_thread_options options)
{
	struct bt_buf why = {0};
	struct bt_thread *thread = NULL;
	struct seen seen = {.cpu_n = 0};

	assert_int_equal(bt_thread_start(&options, look, &seen, &thread, &why), BT_OK);
	bt_thread_join(&thread);
	assert_null(thread);
	assert_int_equal(why.len, 0);
	return seen;
}

static void a_thread_has_the_name_it_was_given(void **state)
{
	struct seen seen = start_and_look((struct bt_thread_options){.name = "worker-3"});

	(void)state;
	assert_string_equal(seen.own_name, "worker-3");
	assert_string_equal(seen.kernel_name, "worker-3");
	assert_int_equal(seen.cpu_n, bt_thread_usable_cpu_n());
	assert_string_equal(bt_thread_name(), "main");
}

static void a_long_name_is_cut_to_what_the_kernel_keeps(void **state)
{
	struct seen seen = start_and_look((struct bt_thread_options){.name = "0123456789abcdefgh"});

	(void)state;
	assert_string_equal(seen.own_name, "0123456789abcde");
	assert_string_equal(seen.kernel_name, "0123456789abcde");
}

static void a_pinned_thread_has_one_cpu(void **state)
{
	uint32_t cpu = first_allowed();
	struct seen seen = start_and_look((struct bt_thread_options){
		.name = "pinned", .pinned = true, .cpu = cpu, .stack_bytes = 1 << 18});

	(void)state;
	assert_int_equal(seen.cpu_n, 1);
	assert_int_equal(seen.cpu, cpu);
}

static void a_refused_cpu_is_reported_and_the_thread_runs(void **state)
{
	(void)state;
	for (uint32_t cpu = 60000; cpu; cpu = cpu == 60000 ? UINT32_MAX : 0) {
		struct bt_thread_options options = {.name = "far", .pinned = true, .cpu = cpu};
		struct bt_buf why = {0};
		struct bt_thread *thread = NULL;
		struct seen seen = {.cpu_n = 0};

		assert_int_equal(bt_thread_start(&options, look, &seen, &thread, &why), BT_OK);
		bt_thread_join(&thread);
		assert_int_equal(seen.cpu_n, bt_thread_usable_cpu_n());
		assert_non_null(strstr(
			why.ptr, cpu == 60000 ? "CPU 60000 was refused" : "CPU 4294967295 was refused"));
		assert_non_null(strstr(why.ptr, "taskset"));
		bt_buf_fini(&why);
	}
}

static void a_program_that_cannot_be_started_has_a_reason(void **state)
{
	struct bt_thread_options nameless = {.name = ""}, unnamed = {.name = NULL},
				 tiny = {.name = "t", .stack_bytes = 1};
	struct bt_buf why = {0};
	struct bt_thread *thread = NULL;

	(void)state;
	assert_int_equal(bt_thread_start(&nameless, look, NULL, &thread, &why), BT_INVALID);
	assert_non_null(strstr(why.ptr, "no name"));
	assert_int_equal(bt_thread_start(&unnamed, look, NULL, &thread, NULL), BT_INVALID);
	bt_buf_clear(&why);
	assert_int_equal(bt_thread_start(&tiny, look, NULL, &thread, &why), BT_INVALID);
	assert_non_null(strstr(why.ptr, "stack"));
	assert_null(thread);
	bt_thread_join(&thread);
	bt_buf_fini(&why);
}

/* A stack larger than the address space: thread creation fails, not the attribute. */
static void a_thread_that_the_system_refuses_is_an_error_with_its_reason(void **state)
{
	struct bt_thread_options vast = {.name = "vast", .stack_bytes = (size_t)1 << 60};
	struct bt_buf why = {0};
	struct bt_thread *thread = NULL;

	(void)state;
	assert_int_equal(bt_thread_start(&vast, look, NULL, &thread, &why), BT_IO);
	assert_null(thread);
	assert_non_null(strstr(why.ptr, "thread vast: could not be started"));
	bt_buf_fini(&why);
}

static void look_at_rcu(void *context)
{
	*(bool *)context = bt_rcu_is_registered() && bt_rcu_is_reading();
}

static void a_reader_is_registered_while_it_runs(void **state)
{
	(void)state;
	for (int wished = 0; wished < 2; wished++) {
		struct bt_thread_options options = {.name = "reader", .reads_rcu = wished};
		struct bt_thread *thread;
		bool registered = !wished;

		assert_int_equal(bt_thread_start(&options, look_at_rcu, &registered, &thread, NULL), BT_OK);
		bt_thread_join(&thread);
		assert_int_equal(registered, wished);
	}
}

struct tally {
	struct bt_lock lock;
	uint64_t n; /* lock(lock): */
};

static void count_up(void *context)
{
	struct tally *tally = context;

	for (int i = 0; i < 20000; i++) {
		bt_lock_acquire(&tally->lock);
		tally->n++;
		bt_lock_release(&tally->lock);
		if (i % 1000 == 0) {
			bt_thread_yield();
		}
		bt_cpu_relax();
	}
}

static void a_lock_lets_in_one_at_a_time(void **state)
{
	struct bt_thread *threads[4];
	struct bt_thread_options options = {.name = "tally"};
	struct tally tally = {.n = 0};

	(void)state;
	bt_lock_init(&tally.lock);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(bt_thread_start(&options, count_up, &tally, &threads[i], NULL), BT_OK);
	}
	for (int i = 0; i < 4; i++) {
		bt_thread_join(&threads[i]);
	}
	assert_int_equal(tally.n, 80000);
	bt_lock_fini(&tally.lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_has_the_name_it_was_given),
		cmocka_unit_test(a_long_name_is_cut_to_what_the_kernel_keeps),
		cmocka_unit_test(a_pinned_thread_has_one_cpu),
		cmocka_unit_test(a_refused_cpu_is_reported_and_the_thread_runs),
		cmocka_unit_test(a_program_that_cannot_be_started_has_a_reason),
		cmocka_unit_test(a_thread_that_the_system_refuses_is_an_error_with_its_reason),
		cmocka_unit_test(a_reader_is_registered_while_it_runs),
		cmocka_unit_test(a_lock_lets_in_one_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
