/* SPDX-License-Identifier: Apache-2.0
 * Profiles start and stop while signals of earlier ones are still delivered: each is complete, and a
 * destroyed one is never written to (EDGE sampler.state, EDGE sampler.taken).
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sampler_int.h"
#include "stress.h"

#define HEAD_WORDS 5
#define SIGNALS	   3 /* threads that signal themselves */
#define PROFILERS  2

static int64_t end_ns;
static _Atomic uint64_t sample_n; /* atomic: of all profiles */

static void signal_itself(void *context, uint32_t ix)
{
	(void)context, (void)ix;
	while (stress_goes_on(end_ns)) {
		raise(SIGPROF);
	}
}

/* Parses a profile to its end. */
static void check_profile(const struct bt_buf *profile)
{
	const uint64_t *word = (const uint64_t *)(const void *)profile->ptr + HEAD_WORDS;
	const uint64_t *end = word - HEAD_WORDS + profile->len / sizeof(*word);

	for (; word + 3 < end && word[0]; word += 2 + word[1]) {
		STRESS_CHECK(word[0] == 1 && word[1] >= 1 && word[1] <= BT_SAMPLER_FRAMES);
		for (uint64_t i = 0; i < word[1]; i++) {
			STRESS_CHECK(word[2 + i] != 0);
		}
		bt_add_relaxed(&sample_n, 1);
	}
	STRESS_CHECK(word + 3 < end && word[0] == 0 && word[1] == 1 && word[2] == 0);
}

static void profile(void *context, uint32_t ix)
{
	struct bt_buf out = {0}, why = {0};

	(void)context, (void)ix;
	while (stress_goes_on(end_ns)) {
		bt_buf_clear(&out);
		bt_buf_clear(&why);
		enum bt_status status = bt_sampler_begin(&why);

		STRESS_CHECK(status == BT_OK || status == BT_CONFLICT);
		if (status == BT_OK) {
			raise(SIGPROF);
			bt_sampler_end(&out);
			check_profile(&out);
		}
	}
	bt_buf_fini(&out);
	bt_buf_fini(&why);
}

static void profiles_are_complete_whenever_signals_arrive(void **state)
{
	struct stress_team team = {.member_n = 0};
	struct bt_buf out = {0};

	(void)state;
	assert_int_equal(bt_sampler_begin(&out), BT_OK); /* from now on signals do not end the process */
	bt_sampler_end(&out);
	bt_buf_fini(&out);
	end_ns = stress_end_ns();
	for (int i = 0; i < SIGNALS; i++) {
		stress_add(&team, signal_itself, NULL);
	}
	for (int i = 0; i < PROFILERS; i++) {
		stress_add(&team, profile, NULL);
	}
	stress_run(&team);
	printf("%llu samples\n", (unsigned long long)bt_load_relaxed(&sample_n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profiles_are_complete_whenever_signals_arrive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
