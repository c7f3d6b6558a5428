/* SPDX-License-Identifier: Apache-2.0
 * Memory: zeroed, aligned, growing, counted; and a message and exit when a size cannot be allocated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/base/compiler.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"

static void zalloc_gives_zeroes(void **state)
{
	static const char zeroes[1000];

	(void)state;
	for (int i = 0; i < 10; i++) {
		char *dirty = bt_mem_realloc(NULL, 1000, 1);

		memset(dirty, 0xff, 1000);
		bt_mem_free(dirty);
		char *clean = bt_mem_zalloc(10, 100);
		assert_memory_equal(clean, zeroes, 1000);
		bt_mem_free(clean);
	}
}

static void no_bytes_are_still_an_address(void **state)
{
	void *none = bt_mem_zalloc(0, 8);

	(void)state;
	assert_non_null(none);
	none = bt_mem_realloc(none, 0, 8);
	assert_non_null(none);
	bt_mem_free(none);
	bt_mem_free(NULL);
}

static void columns_start_on_a_cache_line_and_are_zeroed(void **state)
{
	(void)state;
	for (size_t n = 0; n < 200; n += 7) {
		void *dirty = bt_mem_column(n, sizeof(uint32_t));

		memset(dirty, 0xff, n * sizeof(uint32_t));
		bt_mem_free(dirty);
		uint32_t *column = bt_mem_column(n, sizeof(*column));
		assert_int_equal((uintptr_t)column % BT_CACHELINE, 0);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(column[i], 0);
		}
		bt_mem_free(column);
	}
}

static void realloc_keeps_what_was_there(void **state)
{
	char *text = bt_mem_copy("berth", 5);

	(void)state;
	assert_string_equal(text, "berth");
	text = bt_mem_realloc(text, 100000, 1);
	assert_string_equal(text, "berth");
	bt_mem_free(text);
	text = bt_mem_copy(NULL, 0);
	assert_string_equal(text, "");
	bt_mem_free(text);
}

static void grow_doubles_only_when_full(void **state)
{
	size_t cap = 0, moves = 0;
	uint64_t *array = NULL;

	(void)state;
	for (size_t n = 0; n < 10000; n++) {
		size_t before = cap;

		array = bt_mem_grow(array, n, &cap, sizeof(*array));
		moves += cap != before;
		assert_true(cap > n);
		array[n] = n;
	}
	for (size_t n = 0; n < 10000; n++) {
		assert_int_equal(array[n], n);
	}
	assert_int_equal(moves, 12);
	bt_mem_free(array);
}

static void allocated_bytes_are_counted(void **state)
{
	size_t before = bt_mem_in_use_bytes();

	(void)state;
	if (before == 0) {
		skip(); /* the sanitizer's allocator does not count */
	}
	void *held = bt_mem_zalloc(1 << 20, 4);
	assert_true(bt_mem_in_use_bytes() >= before + (4 << 20));
	bt_mem_free(held);
	assert_true(bt_mem_in_use_bytes() <= before);
}

static void a_memory_node_has_an_arena_of_its_own(void **state)
{
	bt_mem_arena_ix one = bt_mem_node_arena(0), two = bt_mem_node_arena(1);

	(void)state;
	if (!one) {
		skip(); /* with a sanitizer there is one arena */
	}
	assert_int_not_equal(one, two);
	assert_int_equal(bt_mem_node_arena(0), one);
	assert_int_equal(bt_mem_node_arena(BT_MEM_NODES), 0);
	assert_int_equal(bt_mem_arena_in_use_bytes(0), 0);
}

/* Allocates from the arena of node 2, and leaves the block to the joining thread. */
static void hold(void *context)
{
	bt_mem_use_arena(0);
	bt_mem_use_arena(bt_mem_node_arena(2));
	*(void **)context = bt_mem_zalloc(1 << 20, 1);
}

static void a_thread_allocates_from_the_arena_that_it_uses(void **state)
{
	struct bt_thread_options options = {.name = "holder"};
	struct bt_thread *thread;
	void *held = NULL;
	size_t before = bt_mem_arena_in_use_bytes(bt_mem_node_arena(2));

	(void)state;
	assert_int_equal(bt_thread_start(&options, hold, &held, &thread, NULL), BT_OK);
	bt_thread_join(&thread);
	if (bt_mem_node_arena(2)) {
		assert_true(bt_mem_arena_in_use_bytes(bt_mem_node_arena(2)) >= before + (1 << 20));
	}
	bt_mem_free(held); /* by another thread than the one that allocated it */
	assert_true(bt_mem_arena_in_use_bytes(bt_mem_node_arena(2)) < before + (1 << 20));
}

/* Makes an impossible allocation in a child; returns its exit status and output. */
static int ask_for_too_much(size_t n, size_t size, char *out_text, size_t text_size)
{
	int ends[2], status = 0;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		bt_mem_zalloc(n, size);
		_Exit(0);
	}
	close(ends[1]);
	size_t got = 0;
	for (ssize_t more = 1; more > 0 && got + 1 < text_size; got += (size_t)(more > 0 ? more : 0)) {
		more = read(ends[0], out_text + got, text_size - 1 - got);
	}
	out_text[got] = '\0';
	close(ends[0]);
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_size_that_overflows_ends_with_a_message(void **state)
{
	char text[512];

	(void)state;
	assert_int_equal(ask_for_too_much(SIZE_MAX / 2 + 1, 2, text, sizeof(text)), 70);
	assert_non_null(strstr(text, "berth: out of memory ("));
	assert_non_null(strstr(text, "(16.0 EiB needed for ask_for_too_much)"));
	assert_int_equal(ask_for_too_much(1, SIZE_MAX - 8, text, sizeof(text)), 70);
	assert_non_null(strstr(text, "less input"));
}

static bool refuse_notes(void *context, enum bt_mem_use use, size_t bytes)
{
	assert_int_equal(bytes, 12);
	++*(int *)context;
	return use == BT_MEM_NOTES;
}

static void tests_can_refuse_memory(void **state)
{
	int asked_n = 0;

	(void)state;
	bt_mem_set_refuser(refuse_notes, &asked_n);
	assert_false(bt_mem_may_use(BT_MEM_NOTES, 12));
	assert_true(bt_mem_may_use(BT_MEM_PLAN, 12));
	bt_mem_set_refuser(NULL, NULL);
	assert_true(bt_mem_may_use(BT_MEM_NOTES, 12));
	assert_int_equal(asked_n, 2);
}

static void memory_beyond_the_limit_is_refused(void **state)
{
	size_t held = bt_mem_in_use_bytes(), room = (size_t)1 << 20, n = 0;
	void *kept[64];

	(void)state;
	if (held == 0) {
		skip(); /* the sanitizer's allocator does not count */
	}
	bt_mem_set_limit(held + room);
	assert_false(bt_mem_may_use(BT_MEM_OBJECT, SIZE_MAX));
	assert_false(bt_mem_may_use(BT_MEM_OBJECT, 2 * room));
	while (n < 64 && bt_mem_may_use(BT_MEM_OBJECT, room / 16)) {
		kept[n++] = bt_mem_zalloc(room / 16, 1);
	}
	assert_in_range(n, 12, 18);
	assert_false(bt_mem_may_use(BT_MEM_OBJECT, room / 16));
	while (n > 0) {
		bt_mem_free(kept[--n]);
	}
	assert_true(bt_mem_may_use(BT_MEM_OBJECT, room / 16));
	bt_mem_set_limit(0);
	assert_true(bt_mem_may_use(BT_MEM_OBJECT, SIZE_MAX));
}

static void pages_that_are_given_back_are_zeroes_and_count_no_more(void **state)
{
	enum { BYTES = 64 * BT_MEM_PAGE };
	size_t before = bt_mem_in_use_bytes();
	unsigned char *pages = bt_mem_reserve(BYTES);

	(void)state;
	assert_int_equal((uintptr_t)pages % BT_MEM_PAGE, 0);
	bt_mem_take_pages(BYTES);
	for (size_t i = 0; i < BYTES; i++) {
		assert_int_equal(pages[i], 0);
		pages[i] = 7;
	}
	assert_true(before == 0 || bt_mem_in_use_bytes() >= before + BYTES);
	if (sysconf(_SC_PAGESIZE) == BT_MEM_PAGE) {
		assert_true(bt_mem_give_pages(pages + BT_MEM_PAGE, 2 * BT_MEM_PAGE));
		for (size_t i = 0; i < BYTES; i++) {
			bool given = i >= BT_MEM_PAGE && i < 3 * BT_MEM_PAGE;

			assert_int_equal(pages[i], given ? 0 : 7);
		}
		bt_mem_unreserve(pages, BYTES, BYTES - 2 * BT_MEM_PAGE);
	} else {
		assert_false(bt_mem_give_pages(pages, BYTES));
		bt_mem_unreserve(pages, BYTES, BYTES);
	}
	assert_true(before == 0 || bt_mem_in_use_bytes() <= before + BT_MEM_PAGE);
	bt_mem_unreserve(NULL, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zalloc_gives_zeroes),
		cmocka_unit_test(no_bytes_are_still_an_address),
		cmocka_unit_test(columns_start_on_a_cache_line_and_are_zeroed),
		cmocka_unit_test(realloc_keeps_what_was_there),
		cmocka_unit_test(pages_that_are_given_back_are_zeroes_and_count_no_more),
		cmocka_unit_test(grow_doubles_only_when_full),
		cmocka_unit_test(allocated_bytes_are_counted),
		cmocka_unit_test(a_memory_node_has_an_arena_of_its_own),
		cmocka_unit_test(a_thread_allocates_from_the_arena_that_it_uses),
		cmocka_unit_test(a_size_that_overflows_ends_with_a_message),
		cmocka_unit_test(tests_can_refuse_memory),
		cmocka_unit_test(memory_beyond_the_limit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
