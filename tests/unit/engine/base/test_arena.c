/* SPDX-License-Identifier: Apache-2.0
 * Arena: blocks are separate, aligned, zeroed where the contract says so, and reused after a reset.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/arena.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "seed.h"

static void an_unused_arena_can_be_reset_and_freed(void **state)
{
	struct bt_arena arena = {0};

	(void)state;
	bt_arena_reset(&arena);
	bt_arena_fini(&arena);
	bt_arena_fini(&arena);
	assert_null(arena.first);
}

static void every_alignment_is_kept(void **state)
{
	struct bt_arena arena = {0};

	(void)state;
	for (size_t align = 1; align <= 16; align *= 2) {
		for (size_t size = 0; size < 40; size++) {
			bt_arena_alloc(&arena, 1, 1);
			assert_int_equal((uintptr_t)bt_arena_alloc(&arena, size, align) % align, 0);
		}
	}
	bt_arena_fini(&arena);
}

static void zalloc_gives_zeroes_in_reused_memory(void **state)
{
	struct bt_arena arena = {0};
	static const char zeroes[4096];

	(void)state;
	memset(bt_arena_alloc(&arena, sizeof(zeroes), 16), 0xff, sizeof(zeroes));
	bt_arena_reset(&arena);
	assert_memory_equal(bt_arena_zalloc(&arena, sizeof(zeroes)), zeroes, sizeof(zeroes));
	bt_arena_fini(&arena);
}

static void reset_reuses_blocks_instead_of_asking_for_more(void **state)
{
	struct bt_arena arena = {0};
	char *first = bt_arena_alloc(&arena, 64, 16);

	(void)state;
	for (int i = 0; i < 10000; i++) {
		bt_arena_alloc(&arena, 64, 16);
	}
	size_t before = bt_mem_in_use_bytes();
	for (int round = 0; round < 20; round++) {
		bt_arena_reset(&arena);
		assert_ptr_equal(bt_arena_alloc(&arena, 64, 16), first);
		for (int i = 0; i < 10000; i++) {
			bt_arena_alloc(&arena, 64, 16);
		}
	}
	assert_int_equal(bt_mem_in_use_bytes(), before);
	bt_arena_fini(&arena);
}

static void a_small_arena_takes_little_and_grows(void **state)
{
	struct bt_arena arena = {0};
	(void)state;
	bt_arena_start(&arena, 512);
	assert_int_equal(arena.end - arena.next, 512);
	char *first = bt_arena_copy(&arena, "first", 5);
	for (int i = 0; i < 200; i++) {
		bt_arena_zalloc(&arena, 100);
	}
	assert_string_equal(first, "first");
	bt_arena_fini(&arena);
	assert_null(arena.first);
}

static void an_object_larger_than_any_block_fits(void **state)
{
	struct bt_arena arena = {0};
	size_t size = 9u << 20;
	char *small = bt_arena_alloc(&arena, 8, 8), *large = bt_arena_alloc(&arena, size, 16);

	(void)state;
	memset(large, 1, size);
	memset(small, 2, 8);
	assert_int_equal(large[0] + large[size - 1], 2);
	bt_arena_reset(&arena);
	memset(bt_arena_alloc(&arena, size, 16), 3, size);
	bt_arena_fini(&arena);
}

static void copy_ends_with_nul_and_takes_nothing(void **state)
{
	struct bt_arena arena = {0};

	(void)state;
	assert_string_equal(bt_arena_copy(&arena, "abcdef", 3), "abc");
	assert_string_equal(bt_arena_copy(&arena, NULL, 0), "");
	bt_arena_fini(&arena);
}

/* Each object is filled with its own byte; at the end all still hold it. */
static void random_objects_never_overlap(void **state)
{
	enum { OBJECT_N = 3000 };
	static struct {
		unsigned char *ptr;
		size_t size;
	} objects[OBJECT_N];
	struct bt_rng rng = {.state = seed_of_test()};
	struct bt_arena arena = {0};

	(void)state;
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < OBJECT_N; i++) {
			size_t size = bt_rng_below(&rng, bt_rng_below(&rng, 50) == 0 ? 100000 : 200);

			objects[i].size = size;
			objects[i].ptr = bt_arena_alloc(&arena, size, (size_t)1 << bt_rng_below(&rng, 5));
			memset(objects[i].ptr, i & 0xff, size);
		}
		for (int i = 0; i < OBJECT_N; i++) {
			for (size_t at = 0; at < objects[i].size; at++) {
				assert_int_equal(objects[i].ptr[at], i & 0xff);
			}
		}
		bt_arena_reset(&arena);
	}
	bt_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unused_arena_can_be_reset_and_freed),
		cmocka_unit_test(every_alignment_is_kept),
		cmocka_unit_test(zalloc_gives_zeroes_in_reused_memory),
		cmocka_unit_test(reset_reuses_blocks_instead_of_asking_for_more),
		cmocka_unit_test(a_small_arena_takes_little_and_grows),
		cmocka_unit_test(an_object_larger_than_any_block_fits),
		cmocka_unit_test(copy_ends_with_nul_and_takes_nothing),
		cmocka_unit_test(random_objects_never_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
