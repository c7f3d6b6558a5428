/* SPDX-License-Identifier: Apache-2.0
 * Times when deleted pods end: their order, compared with a plain model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "seed.h"

#include "cache/ledger.h"
#include "engine/base/rng.h"
#include "tools/offline/simulate/terminations.h"

#define PODS  50
#define STEPS 20000

static void terminations_are_ordered_by_time_and_then_by_insertion(void **state)
{
	struct bt_terminations ends = {0};

	(void)state;
	assert_true(bt_terminations_next(&ends) == INT64_MAX);
	assert_int_equal(bt_terminations_take(&ends, INT64_MAX), BT_NO_POD);
	bt_terminations_add(&ends, 7, 20);
	bt_terminations_add(&ends, 3, 10);
	bt_terminations_add(&ends, 9, 10);
	assert_int_equal(bt_terminations_count(&ends), 3);
	assert_int_equal(bt_terminations_next(&ends), 10);
	assert_int_equal(bt_terminations_take(&ends, 9), BT_NO_POD);
	assert_int_equal(bt_terminations_take(&ends, 10), 3);
	assert_int_equal(bt_terminations_take(&ends, 10), 9);
	assert_int_equal(bt_terminations_take(&ends, 19), BT_NO_POD);
	assert_int_equal(bt_terminations_take(&ends, 21), 7);
	assert_int_equal(bt_terminations_count(&ends), 0);
	bt_terminations_fini(&ends);
}

static void a_deleted_pod_is_not_terminated(void **state)
{
	struct bt_terminations ends = {0};

	(void)state;
	bt_terminations_drop(&ends, 5);
	bt_terminations_add(&ends, 5, 10);
	bt_terminations_add(&ends, 6, 30);
	bt_terminations_drop(&ends, 5);
	assert_int_equal(bt_terminations_next(&ends), 30);
	/* Its index is in use again. */
	bt_terminations_add(&ends, 5, 40);
	assert_int_equal(bt_terminations_count(&ends), 2);
	assert_int_equal(bt_terminations_take(&ends, 30), 6);
	assert_int_equal(bt_terminations_take(&ends, 39), BT_NO_POD);
	assert_int_equal(bt_terminations_take(&ends, 40), 5);
	bt_terminations_fini(&ends);
}

static void an_end_that_is_set_twice_counts_once(void **state)
{
	struct bt_terminations ends = {0};

	(void)state;
	bt_terminations_add(&ends, 1, 10);
	bt_terminations_add(&ends, 1, 50);
	assert_int_equal(bt_terminations_count(&ends), 1);
	assert_int_equal(bt_terminations_next(&ends), 50);
	bt_terminations_add(&ends, 1, 20);
	assert_int_equal(bt_terminations_take(&ends, 100), 1);
	assert_int_equal(bt_terminations_take(&ends, 100), BT_NO_POD);
	bt_terminations_fini(&ends);
}

/* The pod that ends first, of equals the one added first; or BT_NO_POD. */
static uint32_t first_of(const int64_t *at, const uint64_t *order)
{
	uint32_t first = BT_NO_POD;

	for (uint32_t i = 0; i < PODS; i++) {
		if (at[i] >= 0 && (first == BT_NO_POD || at[i] < at[first] ||
					  (at[i] == at[first] && order[i] < order[first]))) {
			first = i;
		}
	}
	return first;
}

static void random_terminations_match_a_sorted_list(void **state)
{
	uint64_t seed = seed_or(1);
	struct bt_terminations ends = {0};
	uint64_t order[PODS] = {0};
	int64_t at[PODS];

	(void)state;
	for (int i = 0; i < PODS; i++) {
		at[i] = -1;
	}
	for (uint64_t step = 1; step <= STEPS; step++) {
		uint64_t random = bt_rng_at(seed, step);
		uint32_t pod = (uint32_t)(random >> 8) % PODS;

		if (random % 4 < 2) {
			at[pod] = (int64_t)(random >> 32) % 64;
			order[pod] = step;
			bt_terminations_add(&ends, pod, at[pod]);
		} else if (random % 4 == 2) {
			at[pod] = -1;
			bt_terminations_drop(&ends, pod);
		} else {
			uint32_t first = first_of(at, order);
			int64_t now = (int64_t)(random >> 32) % 64;

			assert_true(
				bt_terminations_next(&ends) == (first == BT_NO_POD ? INT64_MAX : at[first]));
			first = first != BT_NO_POD && at[first] <= now ? first : BT_NO_POD;
			assert_int_equal(bt_terminations_take(&ends, now), first);
			if (first != BT_NO_POD) {
				at[first] = -1;
			}
		}
	}
	bt_terminations_fini(&ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terminations_are_ordered_by_time_and_then_by_insertion),
		cmocka_unit_test(a_deleted_pod_is_not_terminated),
		cmocka_unit_test(an_end_that_is_set_twice_counts_once),
		cmocka_unit_test(random_terminations_match_a_sorted_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
