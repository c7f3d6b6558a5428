/* SPDX-License-Identifier: Apache-2.0
 * Hash table: compared with a plain array, through growth and removal in crowded runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <cmocka.h>

#include "engine/base/map.h"
#include "engine/base/rng.h"
#include "seed.h"

static void an_empty_map_finds_and_removes_nothing(void **state)
{
	struct bt_map map = {0};
	uint32_t value = 77;

	(void)state;
	assert_false(bt_map_get(&map, 1, &value));
	bt_map_remove(&map, 1);
	bt_map_put(&map, 1, 5);
	assert_false(bt_map_get(&map, 2, &value));
	assert_int_equal(value, 77);
	bt_map_fini(&map);
	assert_false(bt_map_get(&map, 1, &value));
}

static void put_replaces_and_counts_once(void **state)
{
	struct bt_map map = {0};
	uint32_t value = 0;

	(void)state;
	bt_map_put(&map, UINT64_MAX, 1);
	bt_map_put(&map, UINT64_MAX, 2);
	assert_int_equal(map.count, 1);
	assert_true(bt_map_get(&map, UINT64_MAX, &value));
	assert_int_equal(value, 2);
	bt_map_remove(&map, UINT64_MAX);
	bt_map_remove(&map, UINT64_MAX);
	assert_int_equal(map.count, 0);
	bt_map_fini(&map);
}

/* Few keys in few slots: runs touch each other and wrap around the end, where removal is easy to get wrong.
 */
static void random_histories_agree_with_an_array(void **state)
{
	enum { KEY_N = 60 };
	struct bt_rng rng = {.state = seed_of_test()};

	(void)state;
	for (int history = 0; history < 200; history++) {
		bool present[KEY_N + 1] = {0};
		uint32_t want[KEY_N + 1] = {0};
		struct bt_map map = {0};
		uint64_t spread = history % 2 ? 1 : 0x100000001u;

		for (int step = 0; step < 300; step++) {
			uint32_t key = 1 + bt_rng_below(&rng, KEY_N), value = 0;

			if (bt_rng_below(&rng, 100) < 45) {
				want[key] = (uint32_t)bt_rng_next(&rng);
				present[key] = true;
				bt_map_put(&map, key * spread, want[key]);
			} else {
				present[key] = false;
				bt_map_remove(&map, key * spread);
			}
			size_t count = 0;
			for (key = 1; key <= KEY_N; key++) {
				count += present[key];
				assert_int_equal(bt_map_get(&map, key * spread, &value), present[key]);
				assert_true(!present[key] || value == want[key]);
			}
			assert_int_equal(map.count, count);
		}
		bt_map_fini(&map);
	}
}

static void many_keys_survive_growth(void **state)
{
	struct bt_map map = {0};
	uint32_t value = 0;

	(void)state;
	for (uint32_t i = 1; i <= 100000; i++) {
		bt_map_put(&map, i, i * 3);
	}
	for (uint32_t i = 1; i <= 100000; i++) {
		assert_true(bt_map_get(&map, i, &value) && value == i * 3);
	}
	assert_false(bt_map_get(&map, 100001, &value));
	bt_map_fini(&map);
}

static void a_map_that_has_become_empty_is_small_and_keeps_what_is_left(void **state)
{
	struct bt_map map = {0};
	uint32_t value = 0;

	(void)state;
	for (uint32_t i = 1; i <= 100000; i++) {
		bt_map_put(&map, i, i * 3);
	}
	for (uint32_t i = 1; i <= 100000; i++) {
		if (i % 1000) {
			bt_map_remove(&map, i);
		}
	}
	assert_in_range(map.slot_n, 200, 4096);
	for (uint32_t i = 1; i <= 100000; i++) {
		assert_int_equal(bt_map_get(&map, i, &value), i % 1000 == 0);
		assert_true(i % 1000 || value == i * 3);
	}
	bt_map_fini(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_finds_and_removes_nothing),
		cmocka_unit_test(put_replaces_and_counts_once),
		cmocka_unit_test(random_histories_agree_with_an_array),
		cmocka_unit_test(many_keys_survive_growth),
		cmocka_unit_test(a_map_that_has_become_empty_is_small_and_keeps_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
