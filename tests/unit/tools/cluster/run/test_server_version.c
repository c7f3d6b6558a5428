/* SPDX-License-Identifier: Apache-2.0
 * Parsing of a server's version, and the release that follows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/cluster/run/server_version.h"

static void the_minor_version_whose_api_a_server_has_is_read(void **state)
{
	static const struct {
		const char *json;
		int minor; /* -1: no valid version */
	} cases[] = {
		{"{\"major\": \"1\", \"minor\": \"36\", \"gitVersion\": \"v1.36.9\"}", 36},
		{"{\"major\": \"1\", \"minor\": \"36+\", \"gitVersion\": \"v1.36.3-gke.1\", \"x\": [1]}", 36},
		{"{\"major\": \"1\", \"minor\": \"33\", \"gitVersion\": \"v1.33.0\"}", 33},
		{"{\"major\": \"1\", \"minor\": \"40\", \"gitVersion\": \"v1.40.1\"}", 40},
		{"{\"major\": \"1\", \"minor\": \"37\", \"emulationMajor\": \"1\", \"emulationMinor\": "
		 "\"36\"}",
			36},
		{"{\"major\": \"2\", \"minor\": \"36\", \"gitVersion\": \"v2.36.0\"}", -1},
		{"{\"major\": \"1\", \"minor\": \"\"}", -1},
		{"{\"major\": \"1\", \"minor\": \"next\"}", -1},
		{"{\"major\": 1, \"minor\": 33}", -1},
		{"<html>", -1},
		{"", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bt_server_version version = {.minor = -1};

		assert_int_equal(
			bt_server_version_read(bt_str(cases[i].json), &version), cases[i].minor >= 0);
		assert_int_equal(version.minor, cases[i].minor);
	}
}

static void a_long_version_is_cut(void **state)
{
	struct bt_server_version version;

	(void)state;
	assert_true(bt_server_version_read(
		bt_str("{\"major\":\"1\",\"minor\":\"36\",\"gitVersion\":"
		       "\"v1.36.3-0123456789012345678901234567890123456789012345678901234567890123456789\"}"),
		&version));
	assert_int_equal(strlen(version.git), sizeof(version.git) - 1);
}

static const char *release_of(int minor)
{
	const struct bt_release *release =
		bt_server_version_release(&(struct bt_server_version){.minor = minor});

	return release ? release->name : "none";
}

static void a_server_has_its_release_or_the_newest_one_before_it(void **state)
{
	const struct bt_release *release;
	int last = 0;

	(void)state;
	for (uint32_t i = 0; (release = bt_release_at(i)); i++) {
		last = (int)release->minor;
		assert_string_equal(release_of(last), release->name);
	}
	assert_string_equal(release_of(last + 1), release_of(last));
	assert_string_equal(release_of(last + 9), release_of(last));
	assert_string_equal(release_of((int)bt_release_at(0)->minor - 1), "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_minor_version_whose_api_a_server_has_is_read),
		cmocka_unit_test(a_long_version_is_cut),
		cmocka_unit_test(a_server_has_its_release_or_the_newest_one_before_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
