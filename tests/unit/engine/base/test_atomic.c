/* SPDX-License-Identifier: Apache-2.0
 * Atomics: each operation has its documented result, and additions by several threads are not lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>

#include "engine/base/atomic.h"

static void stores_are_loaded(void **state)
{
	_Atomic uint64_t word = 0;
	int object;
	int *_Atomic pointer = NULL;

	(void)state;
	bt_store_relaxed(&word, UINT64_MAX);
	assert_true(bt_load_relaxed(&word) == UINT64_MAX);
	bt_store_release(&word, 7);
	assert_true(bt_load_acquire(&word) == 7);
	bt_store_release(&pointer, &object);
	assert_ptr_equal(bt_load_acquire(&pointer), &object);
}

static void additions_give_the_value_before(void **state)
{
	_Atomic uint32_t word = 5;

	(void)state;
	assert_int_equal(bt_add(&word, 2), 5);
	assert_int_equal(bt_add_relaxed(&word, 3), 7);
	assert_int_equal(bt_sub(&word, 1), 10);
	assert_int_equal(bt_sub_relaxed(&word, 4), 9);
	bt_add_owned(&word, 10);
	assert_int_equal(bt_load_relaxed(&word), 15);
	assert_int_equal(bt_exchange(&word, 1), 15);
	assert_int_equal(bt_load_relaxed(&word), 1);
}

static void a_swap_happens_only_from_the_expected_value(void **state)
{
	_Atomic uint32_t word = 5;
	uint32_t expected = 4;

	(void)state;
	assert_false(bt_cas(&word, &expected, 9));
	assert_int_equal(expected, 5);
	assert_int_equal(bt_load_relaxed(&word), 5);
	assert_true(bt_cas(&word, &expected, 9));
	assert_int_equal(bt_load_relaxed(&word), 9);
}

enum { ADDER_N = 4, ADD_N = 20000 };

struct shared {
	_Atomic uint64_t added, taken;
	_Atomic uint32_t swapped;
};

static void *add(void *context)
{
	struct shared *shared = context;

	for (int i = 0; i < ADD_N; i++) {
		bt_add(&shared->added, 3);
		bt_sub_relaxed(&shared->taken, 2);
		uint32_t seen = bt_load_relaxed(&shared->swapped);
		while (!bt_cas(&shared->swapped, &seen, seen + 1)) {
			bt_cpu_relax();
		}
	}
	return NULL;
}

static void no_addition_is_lost_between_threads(void **state)
{
	struct shared shared = {.taken = 2ull * ADDER_N * ADD_N};
	pthread_t threads[ADDER_N];

	(void)state;
	for (int i = 0; i < ADDER_N; i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, add, &shared), 0);
	}
	for (int i = 0; i < ADDER_N; i++) {
		pthread_join(threads[i], NULL);
	}
	assert_true(bt_load_relaxed(&shared.added) == 3ull * ADDER_N * ADD_N);
	assert_true(bt_load_relaxed(&shared.taken) == 0);
	assert_int_equal(bt_load_relaxed(&shared.swapped), ADDER_N * ADD_N);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stores_are_loaded),
		cmocka_unit_test(additions_give_the_value_before),
		cmocka_unit_test(a_swap_happens_only_from_the_expected_value),
		cmocka_unit_test(no_addition_is_lost_between_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
