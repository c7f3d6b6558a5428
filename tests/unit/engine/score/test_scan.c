/* SPDX-License-Identifier: Apache-2.0
 * The scan: every version against a plain loop, and the probability of every tied slot.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "seed.h"

#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "engine/score/scan.h"

#define SLOTS_MAX (BT_SCAN_STEP * 9)

typedef size_t scan_fn(const uint16_t *a, const uint16_t *b, size_t padded_n, size_t start);

static const char *const names[] = {"portable", "avx2", "avx512"};

static size_t plainly(const uint16_t *a, const uint16_t *b, size_t n, size_t start)
{
	size_t best = BT_SCAN_NONE;
	uint32_t highest = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = (start + i) % n;
		uint32_t total = a[at] && b[at] ? (uint32_t)a[at] + b[at] : 0;

		if (total > highest) {
			highest = total;
			best = at;
		}
	}
	return best;
}

struct columns {
	uint16_t *a, *b;
	size_t n;
};

/* Numbers below a limit: a small one makes many ties. */
static void fill(struct columns *c, struct bt_rng *rng, uint32_t limit)
{
	c->n = BT_SCAN_STEP * (1 + bt_rng_below(rng, SLOTS_MAX / BT_SCAN_STEP));
	for (size_t i = 0; i < c->n; i++) {
		c->a[i] = (uint16_t)(bt_rng_below(rng, 3) ? bt_rng_below(rng, limit) : 0);
		c->b[i] = (uint16_t)(bt_rng_below(rng, 4) ? bt_rng_below(rng, limit) : 0);
	}
}

static void check_version(scan_fn *scan)
{
	struct bt_rng rng = {seed_or(3)};
	struct columns c = {.a = bt_mem_column(SLOTS_MAX, 2), .b = bt_mem_column(SLOTS_MAX, 2)};
	static const uint32_t limits[] = {1, 2, 3, 1000, 32766};

	for (int round = 0; round < 200; round++) {
		fill(&c, &rng, limits[round % 5]);
		for (size_t start = 0; start < c.n;
			start += 1 + (c.n > BT_SCAN_STEP ? bt_rng_below(&rng, 9) : 0)) {
			assert_int_equal(scan(c.a, c.b, c.n, start), plainly(c.a, c.b, c.n, start));
		}
	}
	bt_mem_free(c.a);
	bt_mem_free(c.b);
}

static void every_version_finds_the_best(void **state)
{
	(void)state;
	check_version(bt_scan_best);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct bt_scan_version *version = bt_scan_version(names[i]);

		if (version) {
			check_version(version->best);
		} else {
			print_message("this processor does not run the version for %s\n", names[i]);
		}
	}
}

static void the_chosen_version_is_the_last_that_runs(void **state)
{
	const struct bt_scan_version *last = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct bt_scan_version *version = bt_scan_version(names[i]);

		assert_true(i || version);
		assert_true(!version || strcmp(version->name, names[i]) == 0);
		last = version ? version : last;
	}
	assert_ptr_equal(bt_scan_chosen(), last);
	assert_null(bt_scan_version("avx1024"));
}

/* ---- classes ---- */

typedef size_t scan_classes_fn(const struct bt_scan_classes *nodes, size_t start);
typedef size_t find_fn(const uint16_t *column, size_t padded_n, size_t start, uint16_t wanted);

static void check_classes(scan_classes_fn *scan, find_fn *find)
{
	static const uint32_t limits[] = {2, 3, 1000, 32766},
			      class_ns[] = {1, 2, 16, 17, 32, 33, 64, 65, 300};
	struct bt_rng rng = {seed_or(4)};
	struct columns c = {.a = bt_mem_column(SLOTS_MAX, 2), .b = bt_mem_column(SLOTS_MAX, 2)};
	uint16_t *of = bt_mem_column(SLOTS_MAX, 2), *totals = bt_mem_column(SLOTS_MAX, 2), static_score[320];

	for (int round = 0; round < 500; round++) {
		uint32_t class_n = class_ns[bt_rng_below(&rng, 9)], limit = limits[bt_rng_below(&rng, 4)];

		fill(&c, &rng, limit);
		memset(static_score, 0, sizeof(static_score));
		for (uint32_t k = 0; k < class_n; k++) {
			static_score[k] = (uint16_t)(bt_rng_below(&rng, 3) ? bt_rng_below(&rng, limit) : 0);
		}
		for (size_t i = 0; i < c.n; i++) {
			of[i] = (uint16_t)bt_rng_below(&rng, class_n);
			c.b[i] = static_score[of[i]];
		}
		const struct bt_scan_classes nodes = {c.a, of, static_score, class_n, c.n, totals};
		for (uint32_t n = 0; n < 20; n++) {
			size_t start = bt_rng_below(&rng, (uint32_t)c.n);
			uint16_t wanted = of[bt_rng_below(&rng, (uint32_t)c.n)];
			size_t at = find(of, c.n, start, wanted);

			assert_int_equal(scan(&nodes, start), plainly(c.a, c.b, c.n, start));
			for (size_t i = start; i != at; i = i + 1 == c.n ? 0 : i + 1) {
				assert_int_not_equal(of[i], wanted);
			}
			assert_int_equal(of[at], wanted);
			assert_int_equal(find(of, c.n, start, 301), BT_SCAN_NONE);
		}
	}
	bt_mem_free(c.a);
	bt_mem_free(c.b);
	bt_mem_free(of);
	bt_mem_free(totals);
}

static void every_version_looks_up_classes(void **state)
{
	(void)state;
	check_classes(bt_scan_best_of_classes, bt_scan_find);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct bt_scan_version *version = bt_scan_version(names[i]);

		if (version) {
			check_classes(version->best_of_classes, version->find);
		}
	}
}

static void nothing_is_found_when_all_are_out(void **state)
{
	static uint16_t a[BT_SCAN_STEP], b[BT_SCAN_STEP];

	(void)state;
	for (size_t i = 0; i < BT_SCAN_STEP; i++) {
		a[i] = i % 2 ? 9 : 0;
		b[i] = i % 2 ? 0 : 9;
	}
	assert_int_equal(bt_scan_best(a, b, BT_SCAN_STEP, 5), BT_SCAN_NONE);
}

static void every_tied_slot_wins_from_some_start(void **state)
{
	static uint16_t a[BT_SCAN_STEP * 4], b[BT_SCAN_STEP * 4];
	static const size_t tied[] = {0, 1, 63, 64, 100, 200, 255};
	size_t n = BT_SCAN_STEP * 4, wins[7] = {0};

	(void)state;
	for (size_t i = 0; i < n; i++) {
		a[i] = b[i] = 1;
	}
	for (size_t i = 0; i < 7; i++) {
		a[tied[i]] = 2;
	}
	for (size_t start = 0; start < n; start++) {
		size_t best = bt_scan_best(a, b, n, start);

		for (size_t i = 0; i < 7; i++) {
			wins[i] += best == tied[i];
		}
	}
	/* Each is chosen for starts from behind the one before it up to itself. */
	for (size_t i = 1; i < 7; i++) {
		assert_int_equal(wins[i], tied[i] - tied[i - 1]);
	}
	assert_int_equal(wins[0], n - tied[6]);
}

typedef void blocks_fn(const uint16_t *a, const uint16_t *b, size_t first, size_t end, uint16_t *out_best);

/* Each block's highest total, and the pick by them. Only requested blocks are written. */
static void check_blocks(blocks_fn *find)
{
	struct bt_rng rng = {seed_or(4)};
	struct columns c = {.a = bt_mem_column(SLOTS_MAX, 2), .b = bt_mem_column(SLOTS_MAX, 2)};
	static const uint32_t limits[] = {1, 2, 3, 1000, 32766};
	uint16_t best[SLOTS_MAX / BT_SCAN_STEP];

	for (int round = 0; round < 500; round++) {
		fill(&c, &rng, limits[round % 5]);
		size_t block_n = c.n / BT_SCAN_STEP, middle = bt_rng_below(&rng, (uint32_t)block_n + 1);

		memset(best, 0xff, sizeof(best));
		find(c.a, c.b, middle, block_n, best);
		assert_true(middle == 0 || best[middle - 1] == UINT16_MAX);
		find(c.a, c.b, 0, middle, best);
		for (size_t i = 0; i < block_n; i++) {
			const uint16_t *a = c.a + i * BT_SCAN_STEP, *b = c.b + i * BT_SCAN_STEP;
			size_t at = plainly(a, b, BT_SCAN_STEP, 0);

			assert_int_equal(best[i], at == BT_SCAN_NONE ? 0 : a[at] + b[at]);
		}
		for (size_t start = 0; start < c.n; start += 1 + bt_rng_below(&rng, 9)) {
			assert_int_equal(bt_scan_best_by_blocks(c.a, c.b, best, block_n, start),
				plainly(c.a, c.b, c.n, start));
		}
	}
	bt_mem_free(c.a);
	bt_mem_free(c.b);
}

static void every_versions_blocks_have_the_best_totals_and_lead_to_the_same_node(void **state)
{
	(void)state;
	check_blocks(bt_scan_blocks);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct bt_scan_version *version = bt_scan_version(names[i]);

		if (version) {
			check_blocks(version->blocks);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_versions_blocks_have_the_best_totals_and_lead_to_the_same_node),
		cmocka_unit_test(every_version_finds_the_best),
		cmocka_unit_test(every_version_looks_up_classes),
		cmocka_unit_test(the_chosen_version_is_the_last_that_runs),
		cmocka_unit_test(nothing_is_found_when_all_are_out),
		cmocka_unit_test(every_tied_slot_wins_from_some_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
