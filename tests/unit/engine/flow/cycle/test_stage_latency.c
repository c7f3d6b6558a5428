/* SPDX-License-Identifier: Apache-2.0
 * Latencies of stages: recorded only when enabled, and summed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "engine/flow/cycle/stage_latency.h"

static uint64_t count_of(const struct bt_stage_latency *stages, enum bt_stage stage)
{
	return bt_histogram_count(&stages->histograms[stage]);
}

static void without_stages_no_clock_is_read(void **state)
{
	(void)state;
	assert_int_equal(bt_stage_latency_now(NULL), 0);
	assert_int_equal(bt_stage_latency_end(NULL, BT_STAGE_DECIDE, 0), 0);
	bt_stage_latency_note(NULL, BT_STAGE_DECIDE, 1);
}

static void a_duration_is_noted_for_its_stage_alone(void **state)
{
	struct bt_stage_latency *stages = bt_stage_latency_create();

	(void)state;
	bt_stage_latency_note(stages, BT_STAGE_DECIDE, 1000);
	assert_int_equal(count_of(stages, BT_STAGE_DECIDE), 1);
	assert_int_equal(count_of(stages, BT_STAGE_BIND), 0);
	bt_mem_free(stages);
}

static void the_end_of_a_stage_is_the_beginning_of_the_next(void **state)
{
	struct bt_stage_latency *stages = bt_stage_latency_create();
	int64_t begin_ns = bt_stage_latency_now(stages);

	(void)state;
	int64_t end_ns = bt_stage_latency_end(stages, BT_STAGE_BIND, begin_ns);
	assert_true(begin_ns > 0 && end_ns >= begin_ns);
	assert_int_equal(count_of(stages, BT_STAGE_BIND), 1);
	bt_mem_free(stages);
}

static void earlier_measurements_are_subtracted(void **state)
{
	struct bt_stage_latency *all = bt_stage_latency_create(), *first = bt_stage_latency_create();

	(void)state;
	bt_stage_latency_note(first, BT_STAGE_DECIDE, 10);
	bt_stage_latency_note(all, BT_STAGE_DECIDE, 20);
	bt_stage_latency_note(all, BT_STAGE_BIND, 20);
	bt_stage_latency_merge(all, first);
	assert_int_equal(count_of(all, BT_STAGE_DECIDE), 2);
	bt_stage_latency_subtract(all, first);
	assert_int_equal(count_of(all, BT_STAGE_DECIDE), 1);
	assert_int_equal(count_of(all, BT_STAGE_BIND), 1);
	bt_mem_free(all);
	bt_mem_free(first);
}

static void each_stage_has_a_word_of_its_own_and_a_text(void **state)
{
	(void)state;
	for (int i = 0; i < BT_STAGE_N; i++) {
		assert_true(strlen(bt_stage_text((enum bt_stage)i)) > 0);
		for (int j = 0; j < i; j++) {
			assert_string_not_equal(
				bt_stage_name((enum bt_stage)i), bt_stage_name((enum bt_stage)j));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_stages_no_clock_is_read),
		cmocka_unit_test(a_duration_is_noted_for_its_stage_alone),
		cmocka_unit_test(the_end_of_a_stage_is_the_beginning_of_the_next),
		cmocka_unit_test(earlier_measurements_are_subtracted),
		cmocka_unit_test(each_stage_has_a_word_of_its_own_and_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
