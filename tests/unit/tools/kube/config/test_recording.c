/* SPDX-License-Identifier: Apache-2.0
 * The configuration in a journal's header: release, gates and plugins, and errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/flow/config/config.h"
#include "tools/kube/config/recording.h"

#define EMPTY "{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"kind\":\"KubeSchedulerConfiguration\"}"

static void expect_refused(enum bt_status wanted, const char *text, const char *reason)
{
	struct bt_buf error = {0};
	struct bt_config config;

	assert_int_equal(bt_recording_config(bt_str(text), &config, &error), wanted);
	bt_buf_char(&error, 0);
	if (!strstr(error.ptr, reason)) {
		fail_msg("\"%s\" is refused because of \"%s\"", text, error.ptr);
	}
	bt_buf_fini(&error);
}

static void release_and_gates_are_those_of_the_header(void **state)
{
	struct bt_buf error = {0};
	struct bt_config config;

	(void)state;
	assert_int_equal(
		bt_recording_config(bt_str("kubernetes=1.35,AllAlpha=false\n" EMPTY), &config, &error),
		BT_OK);
	assert_string_equal(config.gates.release->name, "1.35");
	assert_int_equal(error.len, 0);
	bt_config_fini(&config);
	bt_buf_fini(&error);
}

static void a_header_without_a_release_is_of_the_last_that_wrote_none(void **state)
{
	struct bt_buf error = {0};
	struct bt_config config;

	(void)state;
	assert_int_equal(bt_recording_config(bt_str("\n" EMPTY), &config, &error), BT_OK);
	assert_string_equal(config.gates.release->name, BT_RELEASE_UNRECORDED_TEXT);
	bt_config_fini(&config);
	bt_buf_fini(&error);
}

static void unknown_inputs_are_rejected_with_a_remedy(void **state)
{
	(void)state;
	expect_refused(BT_NOT_FOUND, "kubernetes=1.99\n" EMPTY, "replay it with the berth that wrote it");
	expect_refused(BT_INVALID, "kubernetes=1.36,NoSuchGate=true\n" EMPTY, "feature gates");
	expect_refused(BT_INVALID, "kubernetes=1.36", "feature gates");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(release_and_gates_are_those_of_the_header),
		cmocka_unit_test(a_header_without_a_release_is_of_the_last_that_wrote_none),
		cmocka_unit_test(unknown_inputs_are_rejected_with_a_remedy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
