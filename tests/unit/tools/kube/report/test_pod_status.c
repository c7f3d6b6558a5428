/* SPDX-License-Identifier: Apache-2.0
 * A pod's conditions and nomination, stored as by the API server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/kube/report/pod_status.h"

static void assert_str(struct bt_str got, const char *want)
{
	assert_int_equal(got.len, strlen(want));
	assert_memory_equal(got.ptr, want, got.len);
}

static struct bt_api_status patch_of(const char *type, const char *message)
{
	return (struct bt_api_status){.has_condition = true,
		.condition = {.type = bt_str(type), .message = bt_str(message)},
		.nomination = BT_NOMINATION_LEAVE};
}

static void a_patch_replaces_the_condition_of_its_type_alone(void **state)
{
	struct bt_pod_status status = {0};
	const struct bt_api_status first = patch_of("PodScheduled", "no"), other = patch_of("Ready", "yes"),
				   second = patch_of("PodScheduled", "still not");

	(void)state;
	bt_pod_status_patch(&status, &first);
	bt_pod_status_patch(&status, &other);
	bt_pod_status_patch(&status, &second);
	assert_int_equal(status.n, 2);
	assert_str(status.conditions[0].message, "still not");
	assert_str(status.conditions[1].message, "yes");
	bt_pod_status_fini(&status);
}

static void a_nomination_is_left_set_or_cleared(void **state)
{
	struct bt_pod_status status = {0};
	struct bt_api_status patch = {.nomination = BT_NOMINATION_SET, .nominated_node_name = bt_str("n1")};

	(void)state;
	bt_pod_status_patch(&status, &patch);
	assert_str(status.nominated_node_name, "n1");
	patch = (struct bt_api_status){.nomination = BT_NOMINATION_LEAVE};
	bt_pod_status_patch(&status, &patch);
	assert_str(status.nominated_node_name, "n1");
	patch = (struct bt_api_status){.nomination = BT_NOMINATION_CLEAR};
	bt_pod_status_patch(&status, &patch);
	assert_str(status.nominated_node_name, "");
	bt_pod_status_fini(&status);
}

static void an_object_s_status_takes_the_place_of_what_was_known(void **state)
{
	struct bt_condition_object conditions[] = {
		{.type = bt_str("Ready"), .transition = bt_str("1970-01-01T00:01:00Z")},
		{.type = bt_str("Other"), .transition = bt_str("yesterday")}};
	const struct bt_pod_object pod = {
		.conditions = conditions, .condition_n = 2, .nominated_node_name = bt_str("n2")};
	struct bt_pod_status status = {0};
	const struct bt_api_status before = patch_of("PodScheduled", "no");

	(void)state;
	bt_pod_status_patch(&status, &before);
	bt_pod_status_take(&status, &pod);
	assert_int_equal(status.n, 2);
	assert_str(status.conditions[0].type, "Ready");
	assert_int_equal(status.conditions[0].transition_s, 60);
	assert_int_equal(status.conditions[1].transition_s, 0);
	assert_str(status.nominated_node_name, "n2");
	bt_pod_status_fini(&status);
}

static void a_copy_does_not_need_the_pod_s_texts(void **state)
{
	char message[] = "no node", node[] = "n3";
	const struct bt_pod_condition condition = {
		.type = bt_str("PodScheduled"), .message = bt_str(message)};
	const struct bt_api_pod pod = {
		.conditions = &condition, .condition_n = 1, .nominated_node_name = bt_str(node)};
	struct bt_pod_status status = {0};

	(void)state;
	bt_pod_status_copy(&status, &pod);
	memset(message, 'x', sizeof(message) - 1);
	memset(node, 'x', sizeof(node) - 1);
	assert_str(status.conditions[0].message, "no node");
	assert_str(status.nominated_node_name, "n3");
	bt_pod_status_fini(&status);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_patch_replaces_the_condition_of_its_type_alone),
		cmocka_unit_test(a_nomination_is_left_set_or_cleared),
		cmocka_unit_test(an_object_s_status_takes_the_place_of_what_was_known),
		cmocka_unit_test(a_copy_does_not_need_the_pod_s_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
