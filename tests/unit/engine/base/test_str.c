/* SPDX-License-Identifier: Apache-2.0
 * Views of bytes: comparing, searching and slicing, also of empty and NULL views.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <cmocka.h>

#include "engine/base/str.h"

static const struct bt_str nothing = {NULL, 0};

static void equality_looks_at_length_and_bytes(void **state)
{
	(void)state;
	assert_true(bt_str_eq(bt_str("abc"), bt_str("abc")));
	assert_false(bt_str_eq(bt_str("abc"), bt_str("abd")));
	assert_false(bt_str_eq(bt_str("abc"), bt_str("ab")));
	assert_false(bt_str_eq((struct bt_str){"a\0b", 3}, (struct bt_str){"a\0c", 3}));
	assert_true(bt_str_is(bt_str("abc"), "abc"));
	assert_false(bt_str_is(bt_str("ab"), "abc"));
}

static void the_null_view_equals_the_empty_text(void **state)
{
	(void)state;
	assert_true(bt_str_eq(nothing, bt_str("")));
	assert_true(bt_str_eq(bt_str(NULL), nothing));
	assert_int_equal(bt_str_cmp(nothing, bt_str("")), 0);
	assert_true(bt_str_cmp(nothing, bt_str("a")) < 0);
	assert_true(bt_str_starts(bt_str("a"), ""));
}

static void order_is_by_byte_and_a_prefix_comes_first(void **state)
{
	static const char *const ascending[] = {"", "A", "a", "a-", "aa", "b", "\x7f", "\x80", "\xff"};
	int n = sizeof(ascending) / sizeof(ascending[0]);

	(void)state;
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++) {
			int order = bt_str_cmp(bt_str(ascending[i]), bt_str(ascending[j]));

			assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
		}
	}
}

static void starts_and_ends_need_the_whole_affix(void **state)
{
	(void)state;
	assert_true(bt_str_starts(bt_str("hugepages-2Mi"), "hugepages-"));
	assert_false(bt_str_starts(bt_str("huge"), "hugepages-"));
	/* The view ends before the text does. */
	assert_false(bt_str_starts((struct bt_str){"hugepages-2Mi", 4}, "hugepages-"));
	assert_true(bt_str_ends(bt_str("a/b"), "/b"));
	assert_false(bt_str_ends(bt_str("b"), "/b"));
	assert_true(bt_str_ends(bt_str("b"), "b"));
}

static void find_returns_the_next_hit_or_the_length(void **state)
{
	struct bt_str s = bt_str("a.b.c");

	(void)state;
	assert_int_equal(bt_str_find(s, '.', 0), 1);
	assert_int_equal(bt_str_find(s, '.', 1), 1);
	assert_int_equal(bt_str_find(s, '.', 2), 3);
	assert_int_equal(bt_str_find(s, '.', 4), 5);
	assert_int_equal(bt_str_find(s, 'x', 0), 5);
	assert_int_equal(bt_str_find(s, 'a', 99), 5);
	assert_int_equal(bt_str_find(nothing, 'a', 0), 0);
	/* The view ends before the text does. */
	assert_int_equal(bt_str_find((struct bt_str){"ab.", 2}, '.', 0), 2);
}

static void sub_cuts_a_view(void **state)
{
	(void)state;
	assert_true(bt_str_is(bt_str_sub(bt_str("abcdef"), 2, 4), "cd"));
	assert_int_equal(bt_str_sub(bt_str("abcdef"), 6, 6).len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equality_looks_at_length_and_bytes),
		cmocka_unit_test(the_null_view_equals_the_empty_text),
		cmocka_unit_test(order_is_by_byte_and_a_prefix_comes_first),
		cmocka_unit_test(starts_and_ends_need_the_whole_affix),
		cmocka_unit_test(find_returns_the_next_hit_or_the_length),
		cmocka_unit_test(sub_cuts_a_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
