/* SPDX-License-Identifier: Apache-2.0
 * Answers survive the way through bytes; what counts as a bad one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/offline/whatif/answer.h"

static void an_answer_is_read_as_it_was_written(void **state)
{
	struct bt_answer_pod pods[] = {{BT_STR("d/a"), BT_STR("n1"), BT_STR("n2"), BT_FATE_PLACED, {0}},
		{BT_STR("d/b"), BT_STR("n1"), {0}, BT_FATE_UNPLACED, BT_STR("3 Insufficient cpu")}};
	struct bt_answer_budget budgets[] = {{BT_STR("d/keep"), 7, 2}};
	struct bt_answer_preemption preemptions[] = {
		{BT_STR("d/low"), BT_STR("d/a"), BT_STR("n2"), BT_STR("d/keep")}};
	struct bt_answer_use uses[] = {{BT_STR("cpu"), 12.5, 99.25}, {BT_STR("pods"), 0, 1e-9}};
	struct bt_whatif_answer answer = {.node_n = 1,
		.displaced_n = 2,
		.forbidden_n = 7,
		.violated_n = 2,
		.pending_n = UINT64_MAX,
		.example = pods[1].name,
		.reason = pods[1].reason,
		.pods = pods,
		.pod_n = 2,
		.budgets = budgets,
		.budget_n = 1,
		.preemptions = preemptions,
		.preemption_n = 1,
		.uses = uses,
		.use_n = 2};
	struct bt_buf bytes = {0}, again = {0};
	struct bt_arena arena = {0};
	struct bt_whatif_answer read;

	(void)state;
	for (uint64_t i = 0; i < BT_FATE_N; i++) {
		answer.fates[i] = i + 1;
	}
	bt_answer_write(&answer, &bytes);
	bt_answer_read(bt_buf_view(&bytes), &arena, &read);
	assert_int_equal(read.node_n, 1);
	assert_int_equal(read.pending_n, UINT64_MAX);
	assert_memory_equal(read.fates, answer.fates, sizeof(answer.fates));
	assert_true(bt_str_is(read.example, "d/b"));
	assert_int_equal(read.pod_n, 2);
	assert_true(bt_str_is(read.pods[0].to, "n2"));
	assert_int_equal(read.pods[1].fate, BT_FATE_UNPLACED);
	assert_true(bt_str_is(read.pods[1].reason, "3 Insufficient cpu"));
	assert_int_equal(read.budgets[0].pod_n, 7);
	assert_int_equal(read.budgets[0].preempted_n, 2);
	assert_int_equal(read.violated_n, 2);
	assert_int_equal(read.preemption_n, 1);
	assert_true(
		bt_str_is(read.preemptions[0].by, "d/a") && bt_str_is(read.preemptions[0].budget, "d/keep"));
	assert_true(read.uses[0].after == 99.25 && read.uses[1].after == 1e-9);
	bt_answer_write(&read, &again);
	assert_int_equal(again.len, bytes.len);
	assert_memory_equal(again.ptr, bytes.ptr, bytes.len);
	bt_buf_fini(&bytes);
	bt_buf_fini(&again);
	bt_arena_fini(&arena);
}

static void pods_without_a_place_and_forbidden_evictions_are_bad(void **state)
{
	static const bool bad[BT_FATE_N] = {[BT_FATE_UNPLACED] = true,
		[BT_FATE_NOT_RECREATED] = true,
		[BT_FATE_LOST] = true,
		[BT_FATE_ADDED_PENDING] = true,
		[BT_FATE_PREEMPTED_UNPLACED] = true,
		[BT_FATE_PREEMPTED_ENDED] = true};
	struct bt_whatif_answer forbidden = {.forbidden_n = 1}, violated = {.violated_n = 1};

	(void)state;
	for (int fate = 0; fate < BT_FATE_N; fate++) {
		struct bt_whatif_answer answer = {.node_n = 1};

		answer.fates[fate] = 1;
		assert_int_equal(bt_answer_is_bad(&answer), bad[fate]);
		assert_true(strlen(bt_fate_text((enum bt_fate)fate)) > 0);
	}
	assert_true(bt_answer_is_bad(&forbidden) && bt_answer_is_bad(&violated));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_read_as_it_was_written),
		cmocka_unit_test(pods_without_a_place_and_forbidden_evictions_are_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
