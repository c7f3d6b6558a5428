/* SPDX-License-Identifier: Apache-2.0
 * Templates of workload files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tools/offline/bench/template.h"

/* Checks a template's expansion for an index and a count. */
static void check(const char *text, int64_t index, int64_t count, const char *wanted)
{
	struct bt_template template_;
	struct bt_template_error error;
	struct bt_buf out = {0};

	if (bt_template_parse(bt_str(text), &template_, &error) != BT_OK) {
		fail_msg("%s: %s", text, error.message);
	}
	if (bt_template_expand(&template_, index, count, &out, &error) != BT_OK) {
		fail_msg("%s: %s", text, error.message);
	}
	bt_buf_text(&out, "");
	assert_string_equal(out.ptr ? out.ptr : "", wanted);
	bt_template_fini(&template_);
	bt_buf_fini(&out);
}

/* A template is rejected on this line, with this in the message. */
static void refuse(const char *text, size_t line, const char *message)
{
	struct bt_template template_;
	struct bt_template_error error = {0};

	assert_int_not_equal(bt_template_parse(bt_str(text), &template_, &error), BT_OK);
	assert_int_equal(error.line, line);
	if (!strstr(error.message, message)) {
		fail_msg("%s: \"%s\" does not say \"%s\"", text, error.message, message);
	}
}

static void text_without_actions_stays(void **state)
{
	(void)state;
	check("", 0, 1, "");
	check("a: {b: 1}\n", 7, 9, "a: {b: 1}\n");
	check("{ {.Index} }", 7, 9, "{ {.Index} }");
}

static void fields_are_numbers(void **state)
{
	(void)state;
	check("pod-{{.Index}} of {{ .Count }}.", 7, 12, "pod-7 of 12.");
	check("{{.Index}}{{.Index}}", 3, 4, "33");
}

static void functions_calculate_as_upstream(void **state)
{
	(void)state;
	check("{{DivideInt .Index 5}}", 14, 20, "2");
	check("{{DivideInt 30000 .Count}}Mi", 0, 7, "4285Mi");
	check("{{Mod .Index 12}}", 30, 40, "6");
	check("{{AddInt .Index 1 2 3}}", 4, 5, "10");
	check("{{AddInt}}", 4, 5, "0");
	check("{{SubtractInt .Index 10}}", 4, 5, "-6");
	check("{{MultiplyInt .Index 2 3}}", 4, 5, "24");
	check("{{DivideInt -7 2}}", 0, 1, "-3");
	check("{{Mod -7 3}}", 0, 1, "-1");
	check("{{DivideFloat 1 4}}", 0, 1, "0.25");
	check("{{AddFloat 0.1 0.2}}", 0, 1, "0.30000000000000004");
	check("{{MultiplyFloat 2 3}}", 0, 1, "6");
	check("{{SubtractFloat 1 0.5}}", 0, 1, "0.5");
	check("{{DivideFloat 1 100000}}", 0, 1, "1e-05");
	check("{{MultiplyFloat 1e10 1e11}}", 0, 1, "1e+21");
	check("{{MultiplyFloat 1e10 1e10}}", 0, 1, "100000000000000000000");
	check("{{AddInt \"12\" `3`}}", 0, 1, "15");
}

static void arguments_may_be_calculated(void **state)
{
	(void)state;
	check("{{AddInt 1 (MultiplyInt 2 (Mod .Index 3))}}", 5, 6, "5");
	check("{{.Index | AddInt 1}}", 5, 6, "6");
	check("{{.Index | DivideInt 20 | AddInt 1}}", 5, 6, "5");
	check("{{(.Index)}}", 5, 6, "5");
}

static void dashes_trim_and_comments_vanish(void **state)
{
	(void)state;
	check("a  {{- .Index }} b", 5, 6, "a5 b");
	check("a {{ .Index -}}  \n b", 5, 6, "a 5b");
	check("a {{- .Index -}} b", 5, 6, "a5b");
	check("a{{/* nothing */}}b", 5, 6, "ab");
	check("a{{- /* nothing */ -}} b", 5, 6, "ab");
}

static void it_is_known_whether_objects_differ(void **state)
{
	static const struct {
		const char *text;
		bool varies;
	} rows[] = {{"plain", false}, {"{{AddInt 1 2}}", false}, {"{{.Index}}", true},
		{"{{AddInt 1 (Mod .Index 2)}}", true}, {"{{.Count}}", true}};
	struct bt_template template_;
	struct bt_template_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(bt_template_parse(bt_str(rows[i].text), &template_, &error), BT_OK);
		assert_int_equal(template_.varies, rows[i].varies);
		bt_template_fini(&template_);
	}
}

static void errors_have_their_line(void **state)
{
	(void)state;
	refuse("a\nb: {{.Index", 2, "{{ has no }}");
	refuse("\n\n{{.Name}}", 3, "no field .Name");
	refuse("{{}}", 1, "empty");
	refuse("{{ }}", 1, "empty");
	refuse("{{.Index 5}}", 1, "used as a function");
	refuse("{{Plus 1 2}}", 1, "no function \"Plus\"");
	refuse("{{if .Index}}x{{end}}", 1, "\"if\" is not supported");
	refuse("{{range .Index}}", 1, "\"range\" is not supported");
	refuse("{{$x := 1}}", 1, "variables");
	refuse("{{DivideInt 1}}", 1, "takes two arguments, not 1");
	refuse("{{Mod 1 2 3}}", 1, "takes two arguments, not 3");
	refuse("{{AddInt 1 x}}", 1, "not understood");
	refuse("{{AddInt 1 2abc}}", 1, "\"2abc\" is not a number");
	refuse("{{AddInt \"seven\"}}", 1, "\"seven\" is not a number");
	refuse("{{AddInt \"7}}", 1, "a string has no end");
	refuse("{{AddInt (1}}", 1, "a parenthesis has no end");
	refuse("{{AddInt 1)}}", 1, "a parenthesis closes");
	refuse("{{.Index | }}", 1, "empty");
	refuse("{{.Index | .Count}}", 1, "used as a function");
	refuse("{{((((((((((((((((((1))))))))))))))))))}}", 1, "nested");
	refuse("{{AddInt 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1}}", 1, "more than 15 arguments");
}

static void dividing_by_nothing_is_an_error_when_it_happens(void **state)
{
	struct bt_template template_;
	struct bt_template_error error;
	struct bt_buf out = {0};

	(void)state;
	assert_int_equal(bt_template_parse(bt_str("x\n{{Mod 5 .Index}}"), &template_, &error), BT_OK);
	assert_int_equal(bt_template_expand(&template_, 3, 4, &out, &error), BT_OK);
	assert_int_equal(bt_template_expand(&template_, 0, 4, &out, &error), BT_INVALID);
	assert_int_equal(error.line, 2);
	assert_string_equal(error.message, "division by zero");
	bt_template_fini(&template_);
	bt_buf_fini(&out);
}

/* Random pieces of templates are accepted or rejected; nothing else. */
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_without_actions_stays),
		cmocka_unit_test(fields_are_numbers),
		cmocka_unit_test(functions_calculate_as_upstream),
		cmocka_unit_test(arguments_may_be_calculated),
		cmocka_unit_test(dashes_trim_and_comments_vanish),
		cmocka_unit_test(it_is_known_whether_objects_differ),
		cmocka_unit_test(errors_have_their_line),
		cmocka_unit_test(dividing_by_nothing_is_an_error_when_it_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
