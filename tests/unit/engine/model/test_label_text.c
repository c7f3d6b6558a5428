/* SPDX-License-Identifier: Apache-2.0
 * Errors of label keys and values, in upstream's words and order.
 */
#include "object_fixture.h"

#include "engine/model/label_text.h"

#define TEN   "0123456789"
#define SIXTY TEN TEN TEN TEN TEN TEN

static void assert_faults(const struct bt_str *got, uint32_t n, const char *const *wanted)
{
	for (uint32_t i = 0; i < n; i++) {
		assert_non_null(wanted[i]);
		if (got[i].len < strlen(wanted[i]) || memcmp(got[i].ptr, wanted[i], strlen(wanted[i])) != 0) {
			fail_msg("\"%.*s\" does not begin with \"%s\"", BT_STR_ARG(got[i]), wanted[i]);
		}
	}
	assert_null(wanted[n]);
}

static void keys_have_a_prefix_and_a_name(void **state)
{
	static const struct {
		const char *key, *faults[4];
	} rows[] = {
		{"app", {0}},
		{"A-b_c.9", {0}},
		{"example.com/app", {0}},
		{"a-b.c/x", {0}},
		{SIXTY "123", {0}},
		{SIXTY "1234", {"name part must be no more than 63 bytes"}},
		{"", {"name part must be non-empty", "name part must consist"}},
		{"-a", {"name part must consist"}},
		{"a.", {"name part must consist"}},
		{"a b", {"name part must consist"}},
		{"/a", {"prefix part must be non-empty"}},
		{"example.com/", {"name part must be non-empty", "name part must consist"}},
		{"Example.com/a", {"prefix part a lowercase RFC 1123 subdomain"}},
		{"a..b/a", {"prefix part a lowercase RFC 1123 subdomain"}},
		{"a-.b/a", {"prefix part a lowercase RFC 1123 subdomain"}},
		{"a_b/a", {"prefix part a lowercase RFC 1123 subdomain"}},
		{"a/b/c", {"a valid label key must consist"}},
		{"/", {"prefix part must be non-empty", "name part must be non-empty",
			      "name part must consist"}},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bt_str texts[4];

		assert_faults(texts, bt_label_key_faults(bt_str(rows[i].key), texts), rows[i].faults);
	}
}

static void a_prefix_may_have_253_bytes(void **state)
{
	(void)state;
	for (size_t length = 253; length <= 254; length++) {
		char key[300];
		struct bt_str texts[4];

		memset(key, 'a', length);
		snprintf(key + length, sizeof(key) - length, "/b");
		assert_int_equal(bt_label_key_faults(bt_str(key), texts), length > 253);
	}
}

static void values_may_be_empty(void **state)
{
	static const struct {
		const char *value, *faults[4];
	} rows[] = {
		{"", {0}},
		{"a", {0}},
		{"1.x_Y-z", {0}},
		{SIXTY "123", {0}},
		{SIXTY "1234", {"must be no more than 63 bytes"}},
		{"a/b", {"a valid label must be an empty string or consist"}},
		{"_", {"a valid label must be an empty string or consist"}},
		{SIXTY "123-", {"must be no more than 63 bytes",
				       "a valid label must be an empty string or consist"}},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bt_str texts[4];

		assert_faults(texts, bt_label_value_faults(bt_str(rows[i].value), texts), rows[i].faults);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_have_a_prefix_and_a_name),
		cmocka_unit_test(a_prefix_may_have_253_bytes),
		cmocka_unit_test(values_may_be_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
