/* SPDX-License-Identifier: Apache-2.0
 * Vacant indices: the lowest comes first. Compared with a plain array, which grows and shrinks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <cmocka.h>

#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "engine/base/index_allocator.h"
#include "seed.h"

#define ELEMENTS 70000u /* three levels */

static void none_is_taken_where_none_was_given(void **state)
{
	struct bt_index_allocator vacant = {0};
	uint32_t ix = 7;

	(void)state;
	assert_false(bt_index_allocator_take(&vacant, &ix));
	assert_int_equal(bt_index_allocator_cut(&vacant, 5), 5);
	assert_int_equal(bt_index_allocator_end(&vacant, 5), 5);
	bt_index_allocator_give(&vacant, 3);
	assert_true(bt_index_allocator_take(&vacant, &ix));
	assert_int_equal(ix, 3);
	assert_false(bt_index_allocator_take(&vacant, &ix));
	bt_index_allocator_fini(&vacant);
}

static void the_highest_index_is_taken_last(void **state)
{
	struct bt_index_allocator vacant = {0};
	uint32_t ix;

	(void)state;
	bt_index_allocator_give(&vacant, 0);
	bt_index_allocator_give(
		&vacant, UINT32_MAX / 64); /* upper levels are allocated for the indices in use */
	bt_index_allocator_give(&vacant, 64);
	assert_true(bt_index_allocator_take(&vacant, &ix) && ix == 0);
	assert_true(bt_index_allocator_take(&vacant, &ix) && ix == 64);
	assert_true(bt_index_allocator_take(&vacant, &ix) && ix == UINT32_MAX / 64);
	bt_index_allocator_fini(&vacant);
}

/* The array of elements, as the owner of the allocator keeps it. */
struct array {
	struct bt_index_allocator vacant;
	bool used[ELEMENTS];
	uint32_t end, used_n;
};

static void add(struct array *a)
{
	uint32_t ix, lowest = 0;

	while (lowest < a->end && a->used[lowest]) {
		lowest++;
	}
	assert_int_equal(a->vacant.n, a->end - a->used_n);
	if (a->vacant.n) {
		assert_int_equal(bt_index_allocator_first(&a->vacant), lowest);
	}
	if (!bt_index_allocator_take(&a->vacant, &ix)) {
		ix = a->end++;
	}
	assert_int_equal(ix, lowest);
	a->used[ix] = true;
	a->used_n++;
}

static void drop(struct array *a, uint32_t ix)
{
	if (a->used[ix]) {
		a->used[ix] = false;
		a->used_n--;
		bt_index_allocator_give(&a->vacant, ix);
	}
}

/* The end of the array without vacant elements at its end. */
static uint32_t end_of(const struct array *a, uint32_t end)
{
	while (end > 0 && !a->used[end - 1]) {
		end--;
	}
	return end;
}

static void cut(struct array *a)
{
	uint32_t end = end_of(a, a->end);

	a->end = (uint32_t)bt_index_allocator_cut(&a->vacant, a->end);
	assert_int_equal(a->end, end);
	assert_int_equal(a->vacant.n, end - a->used_n);
}

static void the_lowest_comes_first_while_the_array_grows_and_shrinks(void **state)
{
	static struct array a;
	struct bt_rng rng = {.state = seed_of_test()};

	(void)state;
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		a.used[i] = true;
	}
	a.used_n = a.end = ELEMENTS;
	for (uint32_t round = 0; round < 60; round++) {
		/* Mostly from the end, so that it is empty from time to time. */
		uint32_t n = bt_rng_below(&rng, 3000), from = bt_rng_below(&rng, a.end + 1);

		for (uint32_t i = 0; i < n && a.end > from; i++) {
			drop(&a, from + bt_rng_below(&rng, a.end - from));
		}
		for (uint32_t i = from; round % 3 == 0 && i < a.end; i++) {
			drop(&a, i);
		}
		for (uint32_t i = 0; i < 20; i++) {
			uint32_t end = bt_rng_below(&rng, a.end + 1);

			assert_int_equal(bt_index_allocator_end(&a.vacant, end), end_of(&a, end));
			assert_int_equal(
				bt_index_allocator_end(&a.vacant, end & ~63u), end_of(&a, end & ~63u));
		}
		assert_int_equal(bt_index_allocator_end(&a.vacant, a.end), end_of(&a, a.end));
		if (bt_rng_below(&rng, 2)) {
			cut(&a);
		}
		for (uint32_t i = bt_rng_below(&rng, 100); i-- > 0 && a.end < ELEMENTS;) {
			add(&a);
		}
	}
	bt_index_allocator_fini(&a.vacant);
}

static void the_room_of_what_has_become_short_is_less(void **state)
{
	(void)state;
	assert_int_equal(bt_index_allocator_room(0, 200), 200);
	assert_int_equal(bt_index_allocator_room(0, 1000), 128);
	assert_int_equal(bt_index_allocator_room(251, 1000), 1000);
	assert_int_equal(bt_index_allocator_room(250, 1000), 500);
}

static void an_array_that_has_become_short_keeps_what_is_left(void **state)
{
	size_t cap = 1000;
	uint32_t *array = bt_mem_zalloc(cap, sizeof(*array));

	(void)state;
	for (uint32_t i = 0; i < cap; i++) {
		array[i] = i;
	}
	array = bt_index_allocator_shrink(array, 251, &cap, sizeof(*array));
	assert_int_equal(cap, 1000);
	array = bt_index_allocator_shrink(array, 250, &cap, sizeof(*array));
	assert_int_equal(cap, 500);
	for (uint32_t i = 0; i < 250; i++) {
		assert_int_equal(array[i], i);
	}
	bt_mem_free(array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_is_taken_where_none_was_given),
		cmocka_unit_test(the_highest_index_is_taken_last),
		cmocka_unit_test(the_lowest_comes_first_while_the_array_grows_and_shrinks),
		cmocka_unit_test(the_room_of_what_has_become_short_is_less),
		cmocka_unit_test(an_array_that_has_become_short_keeps_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
