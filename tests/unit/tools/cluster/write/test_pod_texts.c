/* SPDX-License-Identifier: Apache-2.0
 * Packing a pod's texts into bytes, and unpacking them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/cluster/write/pod_texts.h"

static void assert_str(struct bt_str got, const char *want)
{
	assert_int_equal(got.len, strlen(want));
	assert_memory_equal(got.ptr, want, got.len);
}

static void written_values_are_read_back(void **state)
{
	const struct bt_pod_condition conditions[] = {
		{bt_str("PodScheduled"), bt_str("False"), bt_str("Unschedulable"), bt_str("no node"), 17, 3},
		{.type = bt_str("Ready")}};
	const struct bt_api_pod pod = {.scheduler_name = bt_str("default-scheduler"),
		.nominated_node_name = bt_str("n1"),
		.conditions = conditions,
		.condition_n = 2};
	struct bt_api_pod read = {.name = bt_str("stays")};
	struct bt_arena arena = {0};
	struct bt_buf bytes = {0};

	(void)state;
	bt_pod_texts_write(&pod, &bytes);
	bt_pod_texts_read(bt_buf_view(&bytes), &arena, &read);
	memset(bytes.ptr, 'x', bytes.len); /* the texts are copies */
	assert_str(read.name, "stays");
	assert_str(read.scheduler_name, "default-scheduler");
	assert_str(read.nominated_node_name, "n1");
	assert_int_equal(read.condition_n, 2);
	assert_str(read.conditions[0].type, "PodScheduled");
	assert_str(read.conditions[0].status, "False");
	assert_str(read.conditions[0].reason, "Unschedulable");
	assert_str(read.conditions[0].message, "no node");
	assert_int_equal(read.conditions[0].transition_s, 17);
	assert_int_equal(read.conditions[0].observed_generation, 3);
	assert_str(read.conditions[1].type, "Ready");
	assert_str(read.conditions[1].message, "");
	bt_arena_fini(&arena);
	bt_buf_fini(&bytes);
}

static void writing_replaces_what_was_there(void **state)
{
	const struct bt_api_pod first = {.scheduler_name = bt_str("first")},
				second = {.scheduler_name = bt_str("second")};
	struct bt_buf bytes = {0}, again = {0};

	(void)state;
	bt_pod_texts_write(&first, &bytes);
	bt_pod_texts_write(&second, &bytes);
	bt_pod_texts_write(&second, &again);
	assert_int_equal(bytes.len, again.len);
	assert_memory_equal(bytes.ptr, again.ptr, bytes.len);
	bt_buf_fini(&bytes);
	bt_buf_fini(&again);
}

static void a_pod_without_texts_is_read_as_one(void **state)
{
	const struct bt_api_pod pod = {.condition_n = 0};
	struct bt_api_pod read = {.condition_n = 7};
	struct bt_arena arena = {0};
	struct bt_buf bytes = {0};

	(void)state;
	bt_pod_texts_write(&pod, &bytes);
	bt_pod_texts_read(bt_buf_view(&bytes), &arena, &read);
	assert_int_equal(read.condition_n, 0);
	assert_int_equal(read.scheduler_name.len, 0);
	bt_arena_fini(&arena);
	bt_buf_fini(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_values_are_read_back),
		cmocka_unit_test(writing_replaces_what_was_there),
		cmocka_unit_test(a_pod_without_texts_is_read_as_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
