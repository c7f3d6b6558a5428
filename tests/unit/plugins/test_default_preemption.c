/* SPDX-License-Identifier: Apache-2.0
 * Parts of preemption: importance of pods, the number of candidates, and the order of nodes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "plugins/default_preemption/default_preemption.h"
#include "seed.h"

static void a_tenth_of_the_nodes_but_at_least_a_hundred_are_enough(void **state)
{
	const struct bt_preemption_settings settings = {10, 100};

	(void)state;
	assert_int_equal(bt_preemption_candidate_n(&settings, 1), 1);
	assert_int_equal(bt_preemption_candidate_n(&settings, 50), 50);
	assert_int_equal(bt_preemption_candidate_n(&settings, 400), 100);
	assert_int_equal(bt_preemption_candidate_n(&settings, 5000), 500);
}

static void no_candidate_is_enough_when_both_limits_round_to_none(void **state)
{
	const struct bt_preemption_settings settings = {10, 0};

	(void)state;
	assert_int_equal(bt_preemption_candidate_n(&settings, 9), 0);
	assert_int_equal(bt_preemption_candidate_n(&settings, 10), 1);
}

static void priority_then_age_make_a_pod_important(void **state)
{
	struct bt_victim victims[] = {{.pod_ix = 0, .priority = 5, .start_ns = 0},
		{.pod_ix = 1, .priority = 5, .start_ns = 20}, {.pod_ix = 2, .priority = 9, .start_ns = 30},
		{.pod_ix = 3, .priority = 5, .start_ns = 10}, {.pod_ix = 4, .priority = -1, .start_ns = 1}};
	const uint32_t wanted[] = {2, 3, 1, 0, 4};

	(void)state;
	bt_victims_sort(victims, 5);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(victims[i].pod_ix, wanted[i]);
	}
}

static void equals_keep_their_order_unless_they_have_not_started(void **state)
{
	struct bt_victim victims[] = {{.pod_ix = 0, .priority = 5, .start_ns = 0},
		{.pod_ix = 1, .priority = 5, .start_ns = 10}, {.pod_ix = 2, .priority = 5, .start_ns = 10},
		{.pod_ix = 3, .priority = 5, .start_ns = 0}, {.pod_ix = 4, .priority = 5, .start_ns = 0}};
	const uint32_t wanted[] = {1, 2, 4, 3, 0};

	(void)state;
	bt_victims_sort(victims, 5);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(victims[i].pod_ix, wanted[i]);
	}
}

static void with_places_those_that_have_not_started_keep_their_order_too(void **state)
{
	struct bt_victim victims[] = {{.pod_ix = 0, .priority = 5, .start_ns = 0, .place = 1},
		{.pod_ix = 1, .priority = 5, .start_ns = 10, .place = 2},
		{.pod_ix = 2, .priority = 5, .start_ns = 10, .place = 3},
		{.pod_ix = 3, .priority = 5, .start_ns = 0, .place = 4},
		{.pod_ix = 4, .priority = 5, .start_ns = 0, .place = 5}};
	const uint32_t wanted[] = {1, 2, 0, 3, 4};

	(void)state;
	bt_victims_sort(victims, 5);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(victims[i].pod_ix, wanted[i]);
	}
}

/* The order in which Go 1.26's sort.Slice leaves equal elements. */
static const uint32_t not_started_20[] = {
	6, 0, 4, 16, 12, 3, 17, 1, 9, 15, 14, 7, 5, 13, 8, 18, 2, 11, 19, 10};
static const uint32_t as_old_60[] = {52, 48, 56, 32, 4, 24, 28, 8, 16, 36, 0, 20, 12, 40, 44, 7, 15, 43, 47,
	19, 11, 39, 51, 23, 55, 35, 3, 27, 59, 31, 30, 6, 26, 58, 34, 2, 22, 54, 38, 50, 18, 10, 42, 46, 14,
	45, 17, 13, 41, 49, 21, 9, 29, 53, 37, 5, 25, 57, 33, 1};
static const uint32_t not_started_60[] = {20, 52, 56, 8, 12, 36, 0, 4, 28, 24, 32, 44, 16, 40, 48, 59, 51, 43,
	23, 7, 39, 27, 19, 31, 3, 15, 55, 35, 47, 11, 58, 6, 10, 38, 14, 2, 18, 34, 22, 26, 50, 42, 30, 54,
	46, 9, 13, 17, 53, 21, 5, 29, 49, 33, 37, 41, 57, 1, 45, 25};

struct ties {
	uint32_t n, kinds; /* kinds: of priorities */
	int64_t start_ns;
	const uint32_t *wanted;
};

static const struct ties ties[] = {
	{20, 1, 0, not_started_20}, {60, 4, 1, as_old_60}, {60, 4, 0, not_started_60}};

static void many_equals_end_as_upstreams_sort_leaves_them(void **state)
{
	struct bt_victim victims[60];

	(void)state;
	for (size_t t = 0; t < sizeof(ties) / sizeof(ties[0]); t++) {
		for (uint32_t i = 0; i < ties[t].n; i++) {
			victims[i] = (struct bt_victim){.pod_ix = i,
				.priority = -(int32_t)(i * 7 % ties[t].kinds),
				.start_ns = ties[t].start_ns};
		}
		bt_victims_sort(victims, ties[t].n);
		for (uint32_t i = 0; i < ties[t].n; i++) {
			assert_int_equal(victims[i].pod_ix, ties[t].wanted[i]);
		}
	}
}

static bool in_order(const struct bt_victim *victims, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		const struct bt_victim *x = &victims[i - 1], *y = &victims[i];

		if (x->priority < y->priority || (x->priority == y->priority && x->start_ns > y->start_ns)) {
			return false;
		}
	}
	return true;
}

/* Sorted, reversed, nearly sorted and random lists of every length. */
static void any_number_of_victims_is_sorted(void **state)
{
	struct bt_victim victims[300];
	struct bt_rng rng = {seed_of_test()};

	(void)state;
	for (uint32_t n = 0; n <= 300; n++) {
		for (uint32_t shape = 0; shape < 4; shape++) {
			uint64_t sum = 0;

			for (uint32_t i = 0; i < n; i++) {
				bool odd = bt_rng_below(&rng, 20) == 0;
				uint32_t key = shape == 0   ? i
					       : shape == 1 ? n - i
							    : bt_rng_below(&rng, shape == 2 ? 1000 : 3);

				victims[i] = (struct bt_victim){.pod_ix = i,
					.priority = (int32_t)(key % 3),
					.start_ns = 1 + (shape < 2 && odd ? bt_rng_below(&rng, n) : key)};
			}
			bt_victims_sort(victims, n);
			assert_true(in_order(victims, n));
			for (uint32_t i = 0; i < n; i++) {
				sum += victims[i].pod_ix;
			}
			assert_int_equal(sum, (uint64_t)n * (n ? n - 1 : 0) / 2);
		}
	}
}

static void the_cost_depends_on_the_first_victim_and_the_oldest_of_the_highest(void **state)
{
	const struct bt_victim victims[] = {{.priority = 3, .start_ns = 50}, {.priority = 9, .start_ns = 40},
		{.priority = 9, .start_ns = 30}, {.priority = 1, .start_ns = 10}};
	struct bt_preemption_cost cost = bt_preemption_cost_of(victims, 4, 2);

	(void)state;
	assert_int_equal(cost.highest, 3);
	assert_int_equal(cost.start_ns, 30);
	assert_int_equal(cost.violation_n, 2);
	assert_int_equal(cost.victim_n, 4);
}

static struct bt_preemption_cost cost(uint32_t violation_n, int32_t a, int32_t b, int64_t start_ns)
{
	const struct bt_victim victims[] = {
		{.priority = a, .start_ns = start_ns}, {.priority = b, .start_ns = start_ns + 1}};

	return bt_preemption_cost_of(victims, b == INT32_MIN ? 1 : 2, violation_n);
}

static void assert_cheaper(struct bt_preemption_cost a, struct bt_preemption_cost b)
{
	assert_true(bt_preemption_cheaper(&a, &b));
	assert_false(bt_preemption_cheaper(&b, &a));
}

static void nodes_are_compared_rule_by_rule(void **state)
{
	(void)state;
	assert_cheaper(cost(0, 100, 100, 1), cost(1, 1, INT32_MIN, 9));		/* violated budgets
										 * before all else */
	assert_cheaper(cost(0, 50, 50, 1), cost(0, 100, INT32_MIN, 9));		/* the highest priority */
	assert_cheaper(cost(0, 100, INT32_MIN, 1), cost(0, 100, 10, 9));	/* the sum of priorities */
	assert_cheaper(cost(0, 100, INT32_MIN, 9), cost(0, 100, INT32_MIN, 1)); /* the younger */
	assert_cheaper(cost(0, 100, INT32_MIN, 0), cost(0, 100, INT32_MIN, 9)); /* one that has not started */
	struct bt_preemption_cost a = cost(0, 7, 7, 7), b = cost(0, 7, 7, 7);
	assert_false(bt_preemption_cheaper(&a, &b));
}

static void negative_priorities_still_cost_something(void **state)
{
	(void)state;
	/* Two pods of the second-lowest priority cost more than one. */
	assert_cheaper(cost(0, -2147483647, INT32_MIN, 1), cost(0, -2147483647, -2147483647, 9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tenth_of_the_nodes_but_at_least_a_hundred_are_enough),
		cmocka_unit_test(no_candidate_is_enough_when_both_limits_round_to_none),
		cmocka_unit_test(priority_then_age_make_a_pod_important),
		cmocka_unit_test(equals_keep_their_order_unless_they_have_not_started),
		cmocka_unit_test(with_places_those_that_have_not_started_keep_their_order_too),
		cmocka_unit_test(many_equals_end_as_upstreams_sort_leaves_them),
		cmocka_unit_test(any_number_of_victims_is_sorted),
		cmocka_unit_test(the_cost_depends_on_the_first_victim_and_the_oldest_of_the_highest),
		cmocka_unit_test(nodes_are_compared_rule_by_rule),
		cmocka_unit_test(negative_priorities_still_cost_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
