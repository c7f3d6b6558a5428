/* SPDX-License-Identifier: Apache-2.0
 * The bound of covering problems: known minima, and random ones against their vertices.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "engine/base/rng.h"
#include "seed.h"
#include "tools/offline/recommend/bound.h"

static void assert_near(double a, double b, double most)
{
	if (!(fabs(a - b) <= most)) {
		fail_msg("%.9g is not %.9g", a, b);
	}
}

static void the_cheapest_unit_covers_a_single_need(void **state)
{
	const double prices[] = {3, 5}, amounts[] = {2, 4}, need = 10;

	(void)state;
	assert_near(bt_covering_bound(prices, 2, amounts, &need, 1), 12.5, 1e-9);
	assert_near(bt_covering_bound(prices, 2, amounts, &need, 0), 0, 1e-9);
}

static void several_needs_are_covered_together(void **state)
{
	/* cpu and memory: two types that each are rich in one. 4 x0 + x1 >= 10, x0 + 4 x1 >= 10: both 2. */
	const double prices[] = {1, 1}, amounts[] = {4, 1, 1, 4}, needs[] = {10, 10};

	(void)state;
	assert_near(bt_covering_bound(prices, 2, amounts, needs, 2), 4, 1e-9);
}

static void a_need_that_nothing_covers_has_no_price(void **state)
{
	const double prices[] = {1, 1}, amounts[] = {1, 1, 0, 0}, needs[] = {1, 1};

	(void)state;
	assert_true(isinf(bt_covering_bound(prices, 2, amounts, needs, 2)));
}

static void needs_of_zero_cost_nothing(void **state)
{
	const double prices[] = {1}, amounts[] = {0, 2}, needs[] = {0, 4};

	(void)state;
	assert_near(bt_covering_bound(prices, 1, amounts, needs, 2), 2, 1e-9);
}

/* The minimum of two types under two needs lies where two lines cross: x0 = 0, x1 = 0, and the needs'. */
static double least_of_two(const double *p, const double *a, const double *need)
{
	const double lines[4][3] = {{1, 0, 0}, {0, 1, 0}, {a[0], a[1], need[0]}, {a[2], a[3], need[1]}};
	double least = INFINITY;

	for (int i = 0; i < 4; i++) {
		for (int k = i + 1; k < 4; k++) {
			const double det = lines[i][0] * lines[k][1] - lines[i][1] * lines[k][0];
			const double x = (lines[i][2] * lines[k][1] - lines[i][1] * lines[k][2]) / det;
			const double y = (lines[i][0] * lines[k][2] - lines[i][2] * lines[k][0]) / det;

			if (det != 0 && x > -1e-9 && y > -1e-9 && a[0] * x + a[1] * y > need[0] - 1e-6 &&
				a[2] * x + a[3] * y > need[1] - 1e-6 && p[0] * x + p[1] * y < least) {
				least = p[0] * x + p[1] * y;
			}
		}
	}
	return least;
}

static void random_problems_have_the_minimum_of_their_vertices(void **state)
{
	struct bt_rng rng = {seed_of_test()};

	(void)state;
	for (int n = 0; n < 2000; n++) {
		double prices[2], amounts[4], needs[2];

		for (int i = 0; i < 2; i++) {
			prices[i] = 1 + bt_rng_below(&rng, 20);
			needs[i] = 1 + bt_rng_below(&rng, 1000);
		}
		for (int i = 0; i < 4; i++) {
			amounts[i] = 1 + bt_rng_below(&rng, 64);
		}
		assert_near(bt_covering_bound(prices, 2, amounts, needs, 2),
			least_of_two(prices, amounts, needs), 1e-4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cheapest_unit_covers_a_single_need),
		cmocka_unit_test(several_needs_are_covered_together),
		cmocka_unit_test(a_need_that_nothing_covers_has_no_price),
		cmocka_unit_test(needs_of_zero_cost_nothing),
		cmocka_unit_test(random_problems_have_the_minimum_of_their_vertices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
