/* SPDX-License-Identifier: Apache-2.0
 * Suggestions: the nearest of several names, whatever the case, and none where all are too far.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/suggest.h"

static const char *nearest(const char *typed, const char *const *names)
{
	struct bt_suggestion best = {NULL, BT_SUGGEST_MAX};

	for (; *names; names++) {
		bt_suggest(typed, *names, &best);
	}
	return best.name;
}

static void the_nearest_name_is_suggested(void **state)
{
	static const char *const names[] = {"simulate", "generate", "capacity", "topology", NULL};

	(void)state;
	assert_string_equal(nearest("simulat", names), "simulate");
	assert_string_equal(nearest("simulaet", names), "simulate");
	assert_string_equal(nearest("genrate", names), "generate");
	assert_string_equal(nearest("xtopology", names), "topology");
}

static void case_does_not_matter(void **state)
{
	static const char *const names[] = {"NodeName", "NodePorts", NULL};

	(void)state;
	assert_string_equal(nearest("NODENAME", names), "NodeName");
	assert_string_equal(nearest("nodeport", names), "NodePorts");
}

static void the_beginning_of_a_name_is_enough(void **state)
{
	static const char *const names[] = {"ab", "capacity", NULL};

	(void)state;
	assert_string_equal(nearest("CAP", names), "capacity");
	assert_null(nearest("c", (const char *const[]){"capacity", NULL}));
}

static void names_that_differ_in_more_than_a_third_are_not_near(void **state)
{
	(void)state;
	/* Nine letters: up to four edits. */
	assert_string_equal(nearest("1234xxxxx", (const char *const[]){"12345xxxx", NULL}), "12345xxxx");
	assert_string_equal(nearest("abcdeXXXX", (const char *const[]){"abcdefghi", NULL}), "abcdefghi");
	assert_null(nearest("abcdXXXXX", (const char *const[]){"abcdefghi", NULL}));
}

static void of_equally_near_names_the_first_is_suggested(void **state)
{
	(void)state;
	assert_string_equal(nearest("zone-x", (const char *const[]){"zone-a", "zone-b", NULL}), "zone-a");
}

static void very_long_names_are_not_near(void **state)
{
	char name[BT_SUGGEST_MAX + 2], typed[BT_SUGGEST_MAX + 2];

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memcpy(typed, name, sizeof(name));
	typed[0] = 'b'; /* else it begins as typed */
	assert_null(nearest(typed, (const char *const[]){name, NULL}));
	name[BT_SUGGEST_MAX] = typed[BT_SUGGEST_MAX] = '\0';
	assert_string_equal(nearest(typed, (const char *const[]){name, NULL}), name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_name_is_suggested),
		cmocka_unit_test(case_does_not_matter),
		cmocka_unit_test(the_beginning_of_a_name_is_enough),
		cmocka_unit_test(names_that_differ_in_more_than_a_third_are_not_near),
		cmocka_unit_test(of_equally_near_names_the_first_is_suggested),
		cmocka_unit_test(very_long_names_are_not_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
