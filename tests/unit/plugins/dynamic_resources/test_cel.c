/* SPDX-License-Identifier: Apache-2.0
 * Selectors: errors, limits, and guarantees to callers. test_cel_cases.c compares results with upstream's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "case_file.h"
#include "engine/base/mem.h"

#define GPU "device.attributes['gpu.example.com']"

struct fixture {
	struct case_file file;
	struct bt_cel_scratch scratch;
	struct bt_buf text; /* the last error */
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct cel_case ignored;

	case_file_open(&f->file, BT_SOURCE_DIR "/tests/unit/plugins/dynamic_resources/cases.txt");
	case_file_next(&f->file, &ignored);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	case_file_close(&f->file);
	bt_cel_scratch_fini(&f->scratch);
	bt_buf_fini(&f->text);
	free(f);
	return 0;
}

static const struct bt_cel_device *device(struct fixture *f, const char *name)
{
	const struct bt_cel_device *found = case_file_device(&f->file, bt_str(name));

	assert_non_null(found);
	return found;
}

static struct bt_cel *compile(struct fixture *f, const char *expression)
{
	bt_buf_clear(&f->text);
	return bt_cel_compile(bt_str(expression), BT_CEL_CONSUMABLE_CAPACITY, &f->text);
}

/* Compiles and matches against the device gpu. */
static enum bt_cel_result match(struct fixture *f, const char *expression)
{
	struct bt_cel *cel = compile(f, expression);

	if (!cel) {
		print_error("%s: %s\n", expression, f->text.ptr);
		fail();
	}
	enum bt_cel_result result = bt_cel_match(cel, device(f, "gpu"), &f->scratch, &f->text);
	bt_cel_destroy(cel);
	return result;
}

static void assert_refused(struct fixture *f, const char *expression, const char *why)
{
	struct bt_cel *cel = compile(f, expression);

	assert_null(cel);
	if (!strstr(f->text.ptr, why)) {
		print_error("%s: %s\n", expression, f->text.ptr);
	}
	assert_non_null(strstr(f->text.ptr, why));
}

static void assert_fails(struct fixture *f, const char *expression, const char *text)
{
	assert_int_equal(match(f, expression), BT_CEL_ERROR);
	assert_string_equal(f->text.ptr, text);
}

static void functions_that_are_missing_are_named(void **state)
{
	static const char *const expressions[][2] = {
		{"url('http://x').getHost() == 'x'", "function 'url' is not supported"},
		{"ip('10.0.0.1').family() == 4", "function 'ip' is not supported"},
		{"ip.isCanonical('10.0.0.1')", "function 'ip.isCanonical' is not supported"},
		{"cidr('10.0.0.0/8').containsIP('10.0.0.1')", "function 'cidr' is not supported"},
		{"duration('1s') == duration('1s')", "function 'duration' is not supported"},
		{"timestamp('2024-01-01T00:00:00Z').getFullYear() == 2024",
			"function 'timestamp' is not supported"},
		{"'%d'.format([1]) == '1'", "function 'format' is not supported"},
		{"format.named('dns1123Label').hasValue()", "function 'format.named' is not supported"},
		{"[1].transformMap(i, x, x) == {0: 1}", "function 'transformMap' is not supported"},
	};

	for (size_t i = 0; i < sizeof(expressions) / sizeof(*expressions); i++) {
		assert_refused(*state, expressions[i][0], expressions[i][1]);
	}
}

static void the_gate_of_multiple_allocations_makes_the_field(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(match(f, "device.allowMultipleAllocations"), BT_CEL_FALSE);
	assert_null(bt_cel_compile(bt_str("device.allowMultipleAllocations"), 0, &f->text));
	assert_non_null(strstr(f->text.ptr, "undefined field 'allowMultipleAllocations'"));
}

static void a_device_that_is_invalid_fails_every_match(void **state)
{
	struct fixture *f = *state;
	struct bt_cel_device invalid = *device(f, "gpu");
	struct bt_cel *cel = compile(f, "true");

	invalid.invalid = bt_str("attribute x: unsupported attribute value");
	assert_int_equal(bt_cel_match(cel, &invalid, &f->scratch, &f->text), BT_CEL_ERROR);
	assert_string_equal(f->text.ptr, "attribute x: unsupported attribute value");
	bt_cel_destroy(cel);
}

static void expressions_beyond_the_length_are_refused(void **state)
{
	struct fixture *f = *state;
	struct bt_buf text = {0};

	while (text.len < BT_CEL_EXPRESSION_MAX) {
		bt_buf_char(&text, ' ');
	}
	memcpy(text.ptr, "true", 4);
	struct bt_cel *cel = bt_cel_compile(bt_buf_view(&text), 0, &f->text);
	assert_non_null(cel);
	bt_cel_destroy(cel);
	bt_buf_char(&text, ' ');
	assert_null(bt_cel_compile(bt_buf_view(&text), 0, &f->text));
	assert_non_null(strstr(f->text.ptr, "exceeds limit of 10240"));
	bt_buf_fini(&text);
}

/* open repeated n times, middle, close repeated n times */
static enum bt_cel_result match_nested(
	struct fixture *f, const char *open, int n, const char *middle, const char *close)
{
	struct bt_buf text = {0};

	for (int i = 0; i < n; i++) {
		bt_buf_text(&text, open);
	}
	bt_buf_text(&text, middle);
	for (int i = 0; i < n; i++) {
		bt_buf_text(&text, close);
	}
	bt_buf_clear(&f->text);
	struct bt_cel *cel = bt_cel_compile(bt_buf_view(&text), 0, &f->text);
	bt_buf_fini(&text);
	if (!cel) {
		return BT_CEL_ERROR;
	}
	enum bt_cel_result result = bt_cel_match(cel, device(f, "gpu"), &f->scratch, &f->text);
	bt_cel_destroy(cel);
	return result;
}

static void nesting_ends_where_upstreams_does(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(match_nested(f, "(", 249, "true", ")"), BT_CEL_TRUE);
	assert_int_equal(match_nested(f, "(", 250, "true", ")"), BT_CEL_ERROR);
	assert_non_null(strstr(f->text.ptr, "-1:0: expression recursion limit exceeded: 250"));
	assert_int_equal(match_nested(f, "", 249, "'a' == 'a'", ".trim()"), BT_CEL_TRUE);
	assert_int_equal(match_nested(f, "", 250, "'a' == 'a'", ".trim()"), BT_CEL_ERROR);
	assert_non_null(strstr(f->text.ptr, "-1:0: max recursion depth exceeded"));
	assert_int_equal(match_nested(f, "[1].all(x, ", 249, "true", ")"), BT_CEL_TRUE);
	assert_int_equal(match_nested(f, "[1].all(x, ", 250, "true", ")"), BT_CEL_ERROR);
	assert_int_equal(match_nested(f, "1 + (", 124, "1 > 0", ")"), BT_CEL_ERROR);
	assert_non_null(strstr(f->text.ptr, "no matching overload"));
	assert_int_equal(match_nested(f, "1 + (", 125, "1 > 0", ")"), BT_CEL_ERROR);
	assert_non_null(strstr(f->text.ptr, "expression recursion limit exceeded: 250"));
	/* Signs do not nest, nor do terms of && and ||. */
	assert_int_equal(match_nested(f, "!", 4000, "true", ""), BT_CEL_TRUE);
	assert_int_equal(match_nested(f, "false||", 1400, "true", ""), BT_CEL_TRUE);
}

static void a_match_that_costs_too_much_ends(void **state)
{
	/* 100 * 100 * 100 rounds of at least 3. */
	assert_fails(*state, "cel.bind(r, lists.range(100), r.all(x, r.all(y, r.all(z, x + y + z >= 0))))",
		"operation cancelled: actual cost limit exceeded");
	/* No operator absorbs the error. */
	assert_fails(*state,
		"cel.bind(r, lists.range(100), r.all(x, r.all(y, r.all(z, x + y + z >= 0)))) || true",
		"operation cancelled: actual cost limit exceeded");
}

static void memory_of_a_match_is_bounded(void **state)
{
	assert_fails(
		*state, "lists.range(100000000).size() == 1", "operation cancelled: memory limit exceeded");
	assert_fails(*state, "lists.range(9223372036854775807).size() == 1",
		"operation cancelled: memory limit exceeded");
	struct bt_buf text = {0};
	bt_buf_text(&text, "cel.bind(a0, [1, 2], ");
	for (int i = 1; i < 60; i++) {
		bt_buf_printf(&text, "cel.bind(a%d, a%d + a%d, ", i, i - 1, i - 1);
	}
	bt_buf_text(&text, "a59.size() > 0");
	for (int i = 0; i < 60; i++) {
		bt_buf_char(&text, ')');
	}
	assert_fails(*state, text.ptr, "operation cancelled: memory limit exceeded");
	bt_buf_fini(&text);
}

/* Patterns compiled during evaluation count, too. */
static void memory_of_patterns_is_bounded(void **state)
{
	assert_fails(*state, "lists.range(1000).all(x, 'a'.matches('(?i)a{900}' + string(x)) || true)",
		"operation cancelled: memory limit exceeded");
	/* So do patterns that turn out to be too large. */
	struct bt_buf text = {0};
	bt_buf_text(&text, "lists.range(1000).all(x, 'a'.matches('");
	for (int i = 0; i < 25; i++) {
		bt_buf_text(&text, "a{999}");
	}
	bt_buf_text(&text, "' + string(x)) || true)");
	assert_fails(*state, text.ptr, "operation cancelled: memory limit exceeded");
	bt_buf_fini(&text);
}

/* Nested lists that share one list: comparing them takes 2^40 steps without a limit. */
static void steps_of_a_match_are_bounded(void **state)
{
	struct bt_buf text = {0};

	for (int i = 0; i < 40; i++) {
		bt_buf_printf(&text, i ? "cel.bind(b%d, [b%d, b%d], " : "cel.bind(b%d, dyn([%d, %d]), ", i,
			i - !!i, i - !!i);
	}
	bt_buf_text(&text, "b39 == b39");
	for (int i = 0; i < 40; i++) {
		bt_buf_char(&text, ')');
	}
	assert_fails(*state, text.ptr, "operation cancelled: actual cost limit exceeded");
	bt_buf_fini(&text);
}

static void copies_by_macros_are_bounded(void **state)
{
	/* Each optMap evaluates its target twice, and upstream copies it: 2^200 nodes. */
	struct fixture *f = *state;

	assert_int_equal(match_nested(f, "", 200, "optional.of(1)", ".optMap(x, x)"), BT_CEL_ERROR);
}

static void matching_again_allocates_nothing(void **state)
{
	struct fixture *f = *state;
	struct bt_cel *cel = compile(f, GPU
		".model.lowerAscii().startsWith('a100') && " GPU ".ver.isGreaterThan(semver('12.0.0')) && "
		"device.capacity['gpu.example.com'].memory.compareTo(quantity('20Gi')) > 0 && "
		"[1, 2, 3].exists(x, x == " GPU ".index) && (" GPU ".absent == 1 || " GPU ".ok)");

	assert_non_null(cel);
	assert_int_equal(bt_cel_match(cel, device(f, "gpu"), &f->scratch, &f->text), BT_CEL_TRUE);
	size_t before = bt_mem_in_use_bytes();
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(bt_cel_match(cel, device(f, "gpu"), &f->scratch, &f->text), BT_CEL_TRUE);
	}
	assert_int_equal(bt_mem_in_use_bytes(), before);
	bt_cel_destroy(cel);
}

static void an_expression_needs_its_text_no_longer(void **state)
{
	struct fixture *f = *state;
	char expression[] = GPU ".model == 'A100-SXM4'";
	struct bt_cel *cel = compile(f, expression);

	memset(expression, '#', sizeof(expression) - 1);
	assert_int_equal(bt_cel_match(cel, device(f, "gpu"), &f->scratch, &f->text), BT_CEL_TRUE);
	bt_cel_destroy(cel);
}

static void the_same_expression_answers_for_any_device(void **state)
{
	struct fixture *f = *state;
	struct bt_cel *cel = compile(f, GPU ".?index.orValue(7) < 3");

	assert_int_equal(bt_cel_match(cel, device(f, "gpu"), &f->scratch, &f->text), BT_CEL_FALSE);
	assert_int_equal(bt_cel_match(cel, device(f, "multi"), &f->scratch, &f->text), BT_CEL_TRUE);
	assert_int_equal(bt_cel_match(cel, device(f, "bare"), &f->scratch, &f->text), BT_CEL_FALSE);
	bt_cel_destroy(cel);
}

static void names_without_a_domain_are_the_drivers(void **state)
{
	struct bt_str domain;
	struct bt_str name;

	(void)state;
	bt_cel_split_name(bt_str("model"), bt_str("gpu.example.com"), &domain, &name);
	assert_true(bt_str_is(domain, "gpu.example.com") && bt_str_is(name, "model"));
	bt_cel_split_name(bt_str("other.org/model"), bt_str("gpu.example.com"), &domain, &name);
	assert_true(bt_str_is(domain, "other.org") && bt_str_is(name, "model"));
	bt_cel_split_name(bt_str("a/b/c"), bt_str("d"), &domain, &name);
	assert_true(bt_str_is(domain, "a") && bt_str_is(name, "b/c"));
}

static void versions_are_ordered_as_they_are_listed(void **state)
{
	static const char *const texts[] = {"0.0.0", "1.0.0-0", "1.0.0-2", "1.0.0-11", "1.0.0-alpha",
		"1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0",
		"1.0.1", "1.10.0", "2.0.0"};
	const int n = sizeof(texts) / sizeof(*texts);

	(void)state;
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < n; k++) {
			struct bt_cel_semver a;
			struct bt_cel_semver b;

			assert_true(bt_cel_semver_parse(bt_str(texts[i]), &a, NULL));
			assert_true(bt_cel_semver_parse(bt_str(texts[k]), &b, NULL));
			int order = bt_cel_semver_cmp(&a, &b);
			assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
		}
	}
}

static void versions_are_read_strictly(void **state)
{
	static const char *const wrong[] = {"", "1", "1.2", "v1.2.3", "1.2.3 ", "01.2.3", "1.2.03", "1.2.x",
		"1.2.3-", "1.2.3-a..b", "1.2.3-01", "1.2.3+", "1.2.3+a_b", "1.2.18446744073709551616",
		"-1.2.3", ".1.2"};
	struct bt_cel_semver version;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct fixture *f = *state;

		bt_buf_clear(&f->text);
		assert_false(bt_cel_semver_parse(bt_str(wrong[i]), &version, &f->text));
		assert_true(f->text.len > 0);
	}
	assert_true(bt_cel_semver_parse(bt_str("1.2.3-rc.1+b5.x"), &version, NULL));
	assert_int_equal(version.major, 1);
	assert_int_equal(version.minor, 2);
	assert_int_equal(version.patch, 3);
	assert_true(bt_str_is(version.pre, "rc.1") && bt_str_is(version.build, "b5.x"));
}

static void errors_are_shown_in_the_order_of_the_source(void **state)
{
	struct fixture *f = *state;

	assert_refused(f, "b == 1 &&\n\ta == 'ü' + 1",
		"compilation failed: ERROR: <input>:1:1: undeclared reference to 'b' (in container '')\n"
		" | b == 1 &&\n"
		" | ^\n"
		"ERROR: <input>:2:2: undeclared reference to 'a' (in container '')\n"
		" |  a == 'ü' + 1\n"
		" | .^\n"
		"ERROR: <input>:2:11: found no matching overload for '_+_' applied to '(string, int)'\n"
		" |  a == 'ü' + 1\n"
		" | .......．..^");
}

static void patterns_prefer_as_perl_does(void **state)
{
	static const char *const true_ones[] = {
		"'abcd'.find('a|ab|abc') == 'a'",
		"'abcd'.find('(a|ab)(c|bcd)') == 'abcd'",
		"'aaa'.find('a*?') == '' && 'aaa'.find('a+?') == 'a' && 'aaa'.find('a{2}') == 'aa'",
		"'xaaay'.find('a*') == '' && 'xaaay'.find('a+') == 'aaa' && 'xaaay'.find('(?U)a+') == 'a'",
		"'ab12'.find('[[:alpha:]]+') == 'ab' && 'ab12'.find('\\\\d+$') == '12' && "
		"'a.b'.find('\\\\Q.\\\\E') == '.'",
		"'one two'.findAll('\\\\b\\\\w') == ['o', 't'] && 'a\\nb'.findAll('(?m)^.$') == ['a', 'b']",
		"'aab'.find('(?:a*)*b') == 'aab' && ''.find('(?:|a)*') == '' && 'grüße'.find('r.*e') == "
		"'rüße'",
		"'KSks\\u212a\\u017f'.findAll('(?i)k') == ['K', 'k', '\\u212a']",
		"'aXb'.find('[^a-z]') == 'X' && 'a-b'.find('[a\\\\-]+') == 'a-' && ']'.matches('^[]]$')",
		"'\\x01\\x7f'.matches('^\\\\x01\\\\x{7f}$') && '\\007'.matches('^\\\\a$') && "
		"'a{'.matches('^a{$')",
	};

	for (size_t i = 0; i < sizeof(true_ones) / sizeof(*true_ones); i++) {
		if (match(*state, true_ones[i]) != BT_CEL_TRUE) {
			fail_msg("%s", true_ones[i]);
		}
	}
}

/* A backtracking matcher would take 2^30 steps; this takes thousands. */
static void patterns_take_linear_time(void **state)
{
	struct bt_buf text = {0};

	bt_buf_text(&text, "!'");
	for (int i = 0; i < 2000; i++) {
		bt_buf_char(&text, 'a');
	}
	bt_buf_text(&text, "'.matches('^(a?){30}(a*)*(a|a)*b$')");
	assert_int_equal(match(*state, text.ptr), BT_CEL_TRUE);
	bt_buf_fini(&text);
}

static void patterns_that_grow_too_large_are_refused(void **state)
{
	assert_refused(*state, "device.driver.matches('((a{30}){30}b{40}){2}')", "invalid matches argument");
	assert_fails(*state, "device.driver.matches('a{600}{600}' + '')",
		"error parsing regexp: invalid nested repetition operator: `{600}{600}`");
}

static void patterns_know_unicode(void **state)
{
	assert_int_equal(match(*state, "'1 gr\u00fcn'.findAll(r'\\pL+') == ['gr\u00fcn'] && "
				       "'a\\u03b1'.find(r'[\\p{Greek}]') == '\\u03b1' && "
				       "'\\u00dcBER'.matches('(?i)^\\u00fcber$')"),
		BT_CEL_TRUE);
}

/* The texts are Go 1.26's. */
static void faults_of_patterns_are_reported_as_go_does(void **state)
{
	static const char *const faults[][2] = {
		{"\\C", "invalid escape sequence: `\\C`"},
		{"[\\C]", "invalid escape sequence: `\\C`"},
		{"\\8", "invalid escape sequence: `\\8`"},
		{"[a-\\d]", "invalid escape sequence: `\\d`"},
		{"\\x{110000}", "invalid escape sequence: `\\x{110000`"},
		{"\\xg", "invalid escape sequence: `\\xg`"},
		{"a\\", "trailing backslash at end of expression: ``"},
		{"(?P<>a)", "invalid named capture: `(?P<>`"},
		{"(?P<n", "invalid named capture: `(?P<n`"},
		{"(?<n", "invalid named capture: `(?<n`"},
		{"(?<x y>a)", "invalid named capture: `(?<x y>`"},
		{"(?z)", "invalid or unsupported Perl syntax: `(?z`"},
		{"(?P=n)", "invalid or unsupported Perl syntax: `(?P`"},
		{"(?=a)", "invalid or unsupported Perl syntax: `(?=`"},
		{"(?i", "invalid or unsupported Perl syntax: `(?i`"},
		{"x**", "invalid nested repetition operator: `**`"},
		{"a{600}{600}", "invalid nested repetition operator: `{600}{600}`"},
		{"x*?*", "invalid nested repetition operator: `*?*`"},
		{"a{2,1}", "invalid repeat count: `{2,1}`"},
		{"a{1001}", "invalid repeat count: `{1001}`"},
		{"(a{30}){100}", "invalid repeat count: `{100}`"},
		{"[[:foo:]]", "invalid character class range: `[:foo:]`"},
		{"[z-a]", "invalid character class range: `z-a`"},
		{"\\pX", "invalid character class range: `\\pX`"},
		{"\\p{Foo}", "invalid character class range: `\\p{Foo}`"},
		{"a|*", "missing argument to repetition operator: `*`"},
		{"(?<n>*)", "missing argument to repetition operator: `*`"},
		{"a)", "unexpected ): `a)`"},
		{"(?<n>a)(", "missing closing ): `(?<n>a)(`"},
		{"(?P<n>a)(", "missing closing ): `(?P<n>a)(`"},
		{"[]", "missing closing ]: `[]`"},
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		struct bt_buf expression = {0}, expected = {0};

		bt_buf_printf(&expression, "'x'.matches(r\"%s\" + '')", faults[i][0]);
		bt_buf_printf(&expected, "error parsing regexp: %s", faults[i][1]);
		assert_fails(*state, expression.ptr, expected.ptr);
		bt_buf_fini(&expression);
		bt_buf_fini(&expected);
	}
}

static void names_of_groups_are_written_in_both_ways(void **state)
{
	assert_int_equal(
		match(*state, "'xx'.matches(r'^(?P<n>x)(?<n>x)$') && '(?<n>'.matches(r'^\\(\\?<n>$') && "
			      "'<'.matches(r'^[(?<n>]$') && '(?<n>'.matches(r'^\\Q(?<n>\\E$') && "
			      "'(?<n>x'.find(r'[[:punct:]]+[]n(?<>]+x') == '(?<n>x'"),
		BT_CEL_TRUE);
}

/* Each of 65,536 matches scans all of the remaining text. */
static void work_of_patterns_is_bounded(void **state)
{
	struct bt_buf text = {0};

	bt_buf_text(&text, "cel.bind(b0, 'aaaaaaaaaaaaaaaa', ");
	for (int i = 1; i <= 12; i++) {
		bt_buf_printf(&text, "cel.bind(b%d, b%d + b%d, ", i, i - 1, i - 1);
	}
	bt_buf_text(&text, "b12.findAll('a*b|a').size() == 65536");
	for (int i = 0; i <= 12; i++) {
		bt_buf_char(&text, ')');
	}
	assert_fails(*state, text.ptr, "operation cancelled: actual cost limit exceeded");
	bt_buf_fini(&text);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(functions_that_are_missing_are_named),
		TEST(patterns_know_unicode),
		TEST(faults_of_patterns_are_reported_as_go_does),
		TEST(names_of_groups_are_written_in_both_ways),
		TEST(work_of_patterns_is_bounded),
		TEST(the_gate_of_multiple_allocations_makes_the_field),
		TEST(a_device_that_is_invalid_fails_every_match),
		TEST(expressions_beyond_the_length_are_refused),
		TEST(nesting_ends_where_upstreams_does),
		TEST(a_match_that_costs_too_much_ends),
		TEST(memory_of_a_match_is_bounded),
		TEST(memory_of_patterns_is_bounded),
		TEST(steps_of_a_match_are_bounded),
		TEST(copies_by_macros_are_bounded),
		TEST(matching_again_allocates_nothing),
		TEST(an_expression_needs_its_text_no_longer),
		TEST(the_same_expression_answers_for_any_device),
		TEST(names_without_a_domain_are_the_drivers),
		TEST(versions_are_ordered_as_they_are_listed),
		TEST(versions_are_read_strictly),
		TEST(errors_are_shown_in_the_order_of_the_source),
		TEST(patterns_prefer_as_perl_does),
		TEST(patterns_take_linear_time),
		TEST(patterns_that_grow_too_large_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
