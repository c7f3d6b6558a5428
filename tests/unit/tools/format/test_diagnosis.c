/* SPDX-License-Identifier: Apache-2.0
 * A diagnosis as one line: place, problem, and remedy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/format/diagnosis.h"

static void assert_text(struct bt_diagnosis diagnosis, const char *want)
{
	struct bt_buf text = {0};

	bt_diagnosis_text(&diagnosis, &text);
	bt_buf_char(&text, '\0');
	assert_string_equal(text.ptr, want);
	bt_buf_fini(&text);
}

static void all_parts_stand_in_order(void **state)
{
	(void)state;
	assert_text((struct bt_diagnosis){.file = "a.yaml",
			    .line = 3,
			    .column = 7,
			    .object = "Pod default/p",
			    .path = "spec.priority",
			    .message = "not a number",
			    .remedy = "write one"},
		"a.yaml:3:7: Pod default/p: spec.priority: not a number; write one");
}

static void unknown_values_are_left_out(void **state)
{
	(void)state;
	assert_text((struct bt_diagnosis){.message = "empty"}, "empty");
	assert_text((struct bt_diagnosis){.file = "a", .message = "empty"}, "a: empty");
	assert_text((struct bt_diagnosis){.file = "a", .column = 7, .message = "empty"}, "a: empty");
	assert_text((struct bt_diagnosis){.file = "a", .line = 2, .message = "empty"}, "a:2: empty");
	assert_text((struct bt_diagnosis){.line = 2, .object = "", .path = "x", .message = "no"}, "x: no");
}

static void control_characters_of_the_input_are_escaped(void **state)
{
	(void)state;
	assert_text((struct bt_diagnosis){.file = "a\nb", .message = "\x1b[2J"}, "a\\nb: \\x1b[2J");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_parts_stand_in_order),
		cmocka_unit_test(unknown_values_are_left_out),
		cmocka_unit_test(control_characters_of_the_input_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
