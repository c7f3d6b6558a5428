/* SPDX-License-Identifier: Apache-2.0
 * Samples of busy threads, by processor time.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/atomic.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "sampler_int.h"

#define SAMPLES	   20
#define HEAD_WORDS 5

/* A function in its own section: the linker provides its start and end. */
#define ALONE(name)                                                                                          \
	extern const char __start_##name[], __stop_##name[];                                                 \
	__attribute__((section(#name))) BT_NOINLINE

#define IS_IN(address, name) ((address) >= (uintptr_t)__start_##name && (address) < (uintptr_t)__stop_##name)

static _Atomic uint32_t stop;	  /* atomic: stops busy threads */
static _Atomic uint32_t spinning; /* atomic: a busy thread is in its frames */

BT_NOINLINE static bool goes_on(void)
{
	return !bt_load_acquire(&stop);
}

/* Samples must contain its address and its caller's: it calls another function, so it has a frame. */
ALONE(code_of_spin) static uint64_t spin(void)
{
	uint64_t n = 0;

	bt_store_release(&spinning, 1);
	while (goes_on()) {
		for (uint64_t i = 0; i < 1000; i++) {
			n ^= bt_load_relaxed(&stop) + i;
		}
	}
	return n;
}

ALONE(code_of_be_busy) static void be_busy(void *context)
{
	*(uint64_t *)context = spin() + 1; /* not the last call, so that its frame stays */
}

static void *be_busy_unknown(void *context)
{
	be_busy(context);
	return NULL;
}

/* Waits until that many samples have been taken, which takes processor time. */
static void wait_for(uint64_t n)
{
	uint64_t lost_n;

	while (bt_sampler_n(&lost_n) < n) {
		bt_thread_yield();
	}
}

/* Waits until a busy thread is in its frames: earlier samples show none. */
static void wait_until_spinning(void)
{
	while (!bt_load_acquire(&spinning)) {
		bt_thread_yield();
	}
}

struct seen {
	uint64_t samples, spinning, called; /* called: with a caller above it */
};

static bool any_is_in_be_busy(const uint64_t *addresses, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		if (IS_IN(addresses[i], code_of_be_busy)) {
			return true;
		}
	}
	return false;
}

/* Parses a profile to its end, including the text of the mappings after it. */
static struct seen take_profile(void)
{
	struct bt_buf profile = {0};
	struct seen seen = {0};

	bt_sampler_end(&profile);
	bt_buf_char(&profile, 0);
	const uint64_t *words = (const uint64_t *)(const void *)profile.ptr, *word = words + HEAD_WORDS;
	const uint64_t *end = words + profile.len / sizeof(*words);

	assert_true(profile.len > HEAD_WORDS * sizeof(*words));
	assert_int_equal(words[0], 0);
	assert_int_equal(words[1], 3);
	assert_int_equal(words[2], 0);
	assert_int_equal(words[3], 1000000 / BT_SAMPLER_HERTZ);
	assert_int_equal(words[4], 0);
	for (; word + 3 < end && word[0]; word += 2 + word[1]) {
		assert_in_range(word[1], 1, BT_SAMPLER_FRAMES);
		bool spins = IS_IN(word[2], code_of_spin);

		seen.samples += word[0];
		seen.spinning += spins;
		seen.called += spins && any_is_in_be_busy(word + 3, word[1] - 1);
	}
	assert_int_equal(word[0], 0);
	assert_int_equal(word[1], 1);
	assert_int_equal(word[2], 0);
	assert_non_null(strstr((const char *)(word + 3), " r-xp "));
	bt_buf_fini(&profile);
	return seen;
}

static int setup(void **state)
{
	(void)state;
	bt_store_release(&stop, 0);
	bt_store_release(&spinning, 0);
	return 0;
}

static void begin(void)
{
	struct bt_buf why = {0};

	if (bt_sampler_begin(&why) != BT_OK) {
		fail_msg("%s", why.ptr);
	}
}

static void a_busy_thread_is_seen_with_its_callers(void **state)
{
	const struct bt_thread_options options = {.name = "busy"};
	struct bt_thread *thread;
	uint64_t n = 0;

	(void)state;
	assert_int_equal(bt_thread_start(&options, be_busy, &n, &thread, NULL), BT_OK);
	wait_until_spinning();
	begin();
	wait_for(SAMPLES);
	struct seen seen = take_profile();

	bt_store_release(&stop, 1);
	bt_thread_join(&thread);
	assert_true(seen.samples >= SAMPLES);
	assert_true(seen.spinning > 0);
	assert_int_equal(seen.called, seen.spinning);
}

static void a_later_thread_is_sampled_too(void **state)
{
	const struct bt_thread_options options = {.name = "busy"};
	struct bt_thread *thread;
	uint64_t n = 0, seen_n = 0;

	(void)state;
	begin();
	assert_int_equal(bt_thread_start(&options, be_busy, &n, &thread, NULL), BT_OK);
	bt_sampler_add_threads();
	wait_for(SAMPLES * 5);
	seen_n = take_profile().spinning;
	bt_store_release(&stop, 1);
	bt_thread_join(&thread);
	assert_true(seen_n > 0);
}

/* The stack of an unknown thread is not read. */
static void a_thread_of_a_library_is_seen_without_its_callers(void **state)
{
	pthread_t thread;
	uint64_t n = 0;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, be_busy_unknown, &n), 0);
	wait_until_spinning();
	begin();
	wait_for(SAMPLES);
	struct seen seen = take_profile();

	bt_store_release(&stop, 1);
	pthread_join(thread, NULL);
	assert_true(seen.spinning > 0);
	assert_int_equal(seen.called, 0);
}

static void the_main_thread_is_seen(void **state)
{
	uint64_t lost_n;

	(void)state;
	begin();
	wait_for(SAMPLES); /* by this thread alone */
	assert_true(bt_sampler_n(&lost_n) >= SAMPLES);
	assert_int_equal(lost_n, 0);
	assert_true(take_profile().samples >= SAMPLES);
}

static void one_at_a_time(void **state)
{
	struct bt_buf why = {0};

	(void)state;
	begin();
	assert_int_equal(bt_sampler_begin(&why), BT_CONFLICT);
	assert_string_equal(why.ptr, "cpu profiling already in use");
	take_profile();
	begin();
	take_profile();
	bt_buf_fini(&why);
}

static void a_late_signal_does_nothing(void **state)
{
	(void)state;
	begin();
	take_profile();
	assert_int_equal(raise(SIGPROF), 0);
	begin();
	assert_int_equal(raise(SIGPROF), 0);
	assert_true(take_profile().samples >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_busy_thread_is_seen_with_its_callers, setup),
		cmocka_unit_test_setup(a_later_thread_is_sampled_too, setup),
		cmocka_unit_test_setup(a_thread_of_a_library_is_seen_without_its_callers, setup),
		cmocka_unit_test_setup(the_main_thread_is_seen, setup),
		cmocka_unit_test_setup(one_at_a_time, setup),
		cmocka_unit_test_setup(a_late_signal_does_nothing, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
