/* SPDX-License-Identifier: Apache-2.0
 * A server of another version is told from one of the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/cluster/run/server_version.h"

static const struct bt_release release = {.minor = 36, .version = "v1.36.3"};

static void another_minor_version_is_noticed(void **state)
{
	static const struct {
		const char *json;
		bool other;
	} cases[] = {
		{"{\"major\": \"1\", \"minor\": \"36\", \"gitVersion\": \"v1.36.9\"}", false},
		{"{\"major\": \"1\", \"minor\": \"36+\", \"gitVersion\": \"v1.36.3-gke.1\", \"x\": [1]}",
			false},
		{"{\"major\": \"1\", \"minor\": \"33\", \"gitVersion\": \"v1.33.0\"}", true},
		{"{\"major\": \"1\", \"minor\": \"40\", \"gitVersion\": \"v1.40.1\"}", true},
		{"{\"major\": \"1\", \"minor\": \"36\", \"emulationMajor\": \"1\", \"emulationMinor\": "
		 "\"33\"}",
			true},
		{"{\"major\": \"1\", \"minor\": \"37\", \"emulationMinor\": \"36\"}", false},
		{"{\"major\": \"2\", \"minor\": \"36\", \"gitVersion\": \"v2.36.0\"}", true},
		{"{\"major\": \"1\", \"minor\": \"\"}", false},
		{"{\"major\": \"1\", \"minor\": \"next\"}", false},
		{"{\"major\": 1, \"minor\": 33}", false},
		{"<html>", false},
		{"", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(bt_server_version_look(&release, bt_str(cases[i].json)), cases[i].other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_minor_version_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
