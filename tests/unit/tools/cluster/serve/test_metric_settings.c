/* SPDX-License-Identifier: Apache-2.0
 * Metrics and label values that flags disable; and errors in these flags.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/cluster/serve/metric_settings.h"

struct serve_test {
	struct bt_metric_settings settings;
	struct bt_arena arena;
	struct bt_buf error;
};

static void end(struct serve_test *test)
{
	bt_arena_fini(&test->arena);
	bt_buf_fini(&test->error);
}

static bool allow(struct serve_test *test, const char *text)
{
	return bt_metric_settings_allow(&test->settings, &test->arena, bt_str(text), &test->error);
}

static bool disable(struct serve_test *test, const char *text)
{
	return bt_metric_settings_disable(&test->settings, &test->arena, bt_str(text), &test->error);
}

static bool allows(const struct serve_test *test, const char *metric, const char *label, const char *value)
{
	return bt_metric_allows(&test->settings, metric, label, bt_str(value));
}

static void with_one_equals_sign_commas_separate_values(void **state)
{
	struct serve_test test = {.settings = {.allowance_n = 0}};

	(void)state;
	assert_true(allow(&test, "a,x=v1,v2"));
	assert_int_equal(test.settings.allowance_n, 1);
	assert_true(allows(&test, "a", "x", "v1"));
	assert_true(allows(&test, "a", "x", "v2"));
	assert_false(allows(&test, "a", "x", "v"));
	assert_false(allows(&test, "a", "x", ""));
	assert_true(allows(&test, "a", "y", "anything"));
	assert_true(allows(&test, "b", "x", "anything"));
	assert_true(bt_metric_is_allowanced(&test.settings, "a"));
	assert_false(bt_metric_is_allowanced(&test.settings, "b"));
	end(&test);
}

static void several_are_comma_separated_values_in_quotes(void **state)
{
	struct serve_test test = {.settings = {.allowance_n = 0}};

	(void)state;
	assert_true(allow(&test, "\"a,x=v1,v2\",\"a,y=\"\"w\"\"\",\"b,x=\""));
	assert_int_equal(test.settings.allowance_n, 3);
	assert_true(allows(&test, "a", "x", "v2"));
	assert_true(allows(&test, "a", "y", "\"w\""));
	assert_false(allows(&test, "a", "y", "w"));
	assert_true(allows(&test, "b", "x", ""));
	assert_false(allows(&test, "b", "x", "v"));
	end(&test);
}

static void a_repeated_key_has_only_its_new_values(void **state)
{
	struct serve_test test = {.settings = {.allowance_n = 0}};

	(void)state;
	assert_true(allow(&test, "a,x=v1"));
	assert_true(allow(&test, "b,x=v3"));
	assert_true(allow(&test, "a,x=v2"));
	assert_int_equal(test.settings.allowance_n, 2);
	assert_false(allows(&test, "a", "x", "v1"));
	assert_true(allows(&test, "a", "x", "v2"));
	assert_true(allows(&test, "b", "x", "v3"));
	end(&test);
}

static void errors_of_labels_are_reported(void **state)
{
	static const char *const cases[][2] = {
		{"", " must be formatted as key=value"},
		{"a,x", "a,x must be formatted as key=value"},
		{"a=v", "must have keys with format `metricName,labelName`"},
		{",x=v", "got \",x\""},
		{"a,=v", "got \"a,\""},
		{"a,x,y=v", "got \"a,x,y\""},
		{"-a,x=v", "got \"-a,x\""},
		{"a,:x=v", "got \"a,:x\""},
		{"a,x=v,a,y=w", "a must be formatted as key=value"},
		{"\"a,x=v\",\"a,y=w", "missing \" in quoted-field"},
		{"\"a,x=v\"z,\"a,y=w\"", "extraneous or missing"},
		{"a=\"v,a=w", "bare \" in non-quoted field"},
	};
	struct serve_test test = {.settings = {.allowance_n = 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bt_buf_clear(&test.error);
		if (allow(&test, cases[i][0]) || !strstr(test.error.ptr, cases[i][1])) {
			fail_msg("%s: %s", cases[i][0], test.error.len ? test.error.ptr : "no error");
		}
	}
	end(&test);
}

static void names_of_disabled_metrics_count_once(void **state)
{
	struct serve_test test = {.settings = {.allowance_n = 0}};

	(void)state;
	assert_true(disable(&test, "a,b:c_2"));
	assert_true(disable(&test, "a"));
	assert_true(disable(&test, ""));
	assert_int_equal(test.settings.disabled.n, 2);
	assert_true(bt_metric_is_disabled(&test.settings, "a"));
	assert_true(bt_metric_is_disabled(&test.settings, "b:c_2"));
	assert_false(bt_metric_is_disabled(&test.settings, "b"));
	end(&test);
}

static void unknown_names_cannot_be_disabled(void **state)
{
	static const char *const cases[] = {"a,,b", "2a", "a.b", "a, b", "a,"};
	struct serve_test test = {.settings = {.allowance_n = 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bt_buf_clear(&test.error);
		if (disable(&test, cases[i]) ||
			!strstr(test.error.ptr, "must be fully qualified metric names matching")) {
			fail_msg("%s: %s", cases[i], test.error.len ? test.error.ptr : "no error");
		}
	}
	end(&test);
}

/* Result of reading a manifest with that text. */
static bool read_manifest(struct serve_test *test, const char *text)
{
	char path[] = "/tmp/berth-manifest-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	bt_buf_clear(&test->error);
	bool good = bt_metric_settings_allow_file(&test->settings, &test->arena, path, &test->error);

	unlink(path);
	return good;
}

static void a_manifest_is_a_mapping_from_labels_to_values(void **state)
{
	struct serve_test test = {.settings = {.allowance_n = 0}};

	(void)state;
	assert_true(read_manifest(&test, "\"a,x\": \"v1,v2\"\nb,y: \"\"\n"));
	assert_int_equal(test.settings.allowance_n, 2);
	assert_true(allows(&test, "a", "x", "v2"));
	assert_false(allows(&test, "a", "x", "v3"));
	assert_true(allows(&test, "b", "y", ""));
	assert_false(allows(&test, "b", "y", "v"));
	assert_true(read_manifest(&test, ""));
	assert_int_equal(test.settings.allowance_n, 2);
	end(&test);
}

static void errors_of_manifests_are_reported(void **state)
{
	static const char *const cases[][2] = {
		{"- a\n", "failed to parse allow list manifest: it is no mapping"},
		{"allowListMapping:\n  a,x: v\n", "the value of allowListMapping is no text"},
		{"a: v\n", "must have keys with format"},
		{"a,x: [\n", "failed to parse allow list manifest: /tmp/berth-manifest-"},
	};
	struct serve_test test = {.settings = {.allowance_n = 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (read_manifest(&test, cases[i][0]) || !strstr(test.error.ptr, cases[i][1])) {
			fail_msg("%s: %s", cases[i][0], test.error.len ? test.error.ptr : "no error");
		}
	}
	bt_buf_clear(&test.error);
	assert_false(bt_metric_settings_allow_file(&test.settings, &test.arena, "/nonsense", &test.error));
	assert_non_null(strstr(
		test.error.ptr, "failed to read allow list manifest: /nonsense: No such file or directory"));
	end(&test);
}

static void only_the_version_before_may_be_named(void **state)
{
	const struct bt_release release = {.name = "1.36", .before = "1.35"};
	struct bt_buf error = {0};

	(void)state;
	assert_true(bt_metric_settings_show_hidden(&release, bt_str(""), &error));
	assert_true(bt_metric_settings_show_hidden(&release, bt_str("1.35"), &error));
	assert_false(bt_metric_settings_show_hidden(&release, bt_str("1.36"), &error));
	assert_string_equal(error.ptr, "must be omitted or have the value '1.35'; only the previous minor "
				       "version is allowed");
	bt_buf_fini(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_one_equals_sign_commas_separate_values),
		cmocka_unit_test(several_are_comma_separated_values_in_quotes),
		cmocka_unit_test(a_repeated_key_has_only_its_new_values),
		cmocka_unit_test(errors_of_labels_are_reported),
		cmocka_unit_test(names_of_disabled_metrics_count_once),
		cmocka_unit_test(unknown_names_cannot_be_disabled),
		cmocka_unit_test(a_manifest_is_a_mapping_from_labels_to_values),
		cmocka_unit_test(errors_of_manifests_are_reported),
		cmocka_unit_test(only_the_version_before_may_be_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
