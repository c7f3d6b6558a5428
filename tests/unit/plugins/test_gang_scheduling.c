/* SPDX-License-Identifier: Apache-2.0
 * GangScheduling: PreEnqueue and Permit for a PodGroup.
 */
#include "plugin_fixture.h"

extern const struct bt_plugin bt_plugin_gang_scheduling;

#define RING "schedulingGroup: {podGroupName: ring}"

static void expect_gate(struct fixture *f, struct bt_group_state group, const char *want)
{
	const struct bt_pod_env env = {
		.view = &f->cache->view, .signature = fixture_signature(f, RING), .group = &group};
	struct bt_buf why = {0};

	assert_int_equal(bt_plugin_gang_scheduling.pre_enqueue(&env, &why), want != NULL);
	assert_int_equal(bt_plugin_gang_scheduling.pre_enqueue(&env, NULL), want != NULL);
	assert_string_equal(why.len ? why.ptr : "", want ? want : "");
	bt_buf_fini(&why);
}

static void a_pod_waits_for_its_group_and_for_enough_members(void **state)
{
	expect_gate(*state, (struct bt_group_state){.counted = true, .member_n = 4},
		"waiting for pods's pod group \"ring\" to appear in scheduling queue");
	expect_gate(*state,
		(struct bt_group_state){
			.known = true, .gang = true, .counted = true, .min_count = 3, .member_n = 2},
		"waiting for minCount pods from a gang to appear in scheduling queue");
	expect_gate(*state,
		(struct bt_group_state){
			.known = true, .gang = true, .counted = true, .min_count = 3, .member_n = 3},
		NULL);
	expect_gate(*state, (struct bt_group_state){.known = true, .counted = true, .min_count = 3}, NULL);
}

static void a_gang_without_counted_members_is_never_admitted(void **state)
{
	expect_gate(*state, (struct bt_group_state){.known = true, .gang = true},
		"pod group state not found for pod group default/ring");
}

static void a_pod_of_a_tree_waits_for_the_whole_tree(void **state)
{
	struct fixture *f = *state;
	struct bt_group_state group = {.known = true, .gang = true, .counted = true, .min_count = 3};

	group.tree = bt_intern_hold(f->cache->dictionary->intern, bt_str("train"));
	expect_gate(f, group, "waiting for composite pod group \"train\" tree to meet quorum");
	group.tree_is_complete = true; /* even without this group */
	expect_gate(f, group, NULL);
}

static enum bt_permit permit(struct fixture *f, struct bt_group_state group, struct bt_buf *out_why)
{
	const struct bt_pod_env env = {
		.view = &f->cache->view, .signature = fixture_signature(f, RING), .group = &group};

	return bt_plugin_gang_scheduling.permit(&env, out_why);
}

static void permit_waits_until_enough_members_have_a_node(void **state)
{
	struct bt_group_state group = {
		.known = true, .gang = true, .counted = true, .min_count = 2, .scheduled_n = 1};
	struct bt_buf why = {0};

	assert_int_equal(permit(*state, group, &why), BT_PERMIT_WAIT);
	group.scheduled_n = 2;
	assert_int_equal(permit(*state, group, &why), BT_PERMIT_OK);
	assert_int_equal(why.len, 0);
	group.known = false;
	assert_int_equal(permit(*state, group, NULL), BT_PERMIT_FAILS);
	assert_int_equal(permit(*state, group, &why), BT_PERMIT_FAILS);
	assert_string_equal(why.ptr,
		"failed to get podGroup default/ring: podgroup.scheduling.k8s.io \"ring\" not found");
	bt_buf_fini(&why);
}

/* A group from a Workload. */
static struct bt_group_state of_workload(struct fixture *f)
{
	struct bt_intern *intern = f->cache->dictionary->intern;

	return (struct bt_group_state){.counted = true,
		.gang = true,
		.min_count = 2,
		.workload = bt_intern_hold(intern, bt_str("train")),
		.workload_group = bt_intern_hold(intern, bt_str("workers"))};
}

static void a_pod_of_a_workload_waits_for_it_for_its_group_and_for_enough_members(void **state)
{
	struct bt_group_state group = of_workload(*state);

	expect_gate(*state, group, "waiting for pods's workload \"train\" to appear in scheduling queue");
	group.known = true;
	expect_gate(*state, group, "pod group \"workers\" doesn't exist for a workload \"train\"");
	group.listed = true;
	expect_gate(*state, group, "waiting for minCount pods from a gang to appear in scheduling queue");
	group.member_n = 2;
	expect_gate(*state, group, NULL);
}

static void permit_reports_deleted_objects_of_a_workload(void **state)
{
	struct bt_group_state group = of_workload(*state);
	struct bt_buf why = {0};

	assert_int_equal(permit(*state, group, &why), BT_PERMIT_FAILS);
	assert_string_equal(why.ptr,
		"failed to get workload default/train: workload.scheduling.k8s.io \"train\" not found");
	bt_buf_clear(&why);
	group.known = true;
	assert_int_equal(permit(*state, group, &why), BT_PERMIT_FAILS);
	assert_string_equal(why.ptr, "pod group \"workers\" doesn't exist for a workload \"train\"");
	group.listed = true;
	assert_int_equal(permit(*state, group, NULL), BT_PERMIT_WAIT);
	bt_buf_fini(&why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_pod_waits_for_its_group_and_for_enough_members),
		FIXTURE_TEST(a_gang_without_counted_members_is_never_admitted),
		FIXTURE_TEST(a_pod_of_a_tree_waits_for_the_whole_tree),
		FIXTURE_TEST(permit_waits_until_enough_members_have_a_node),
		FIXTURE_TEST(a_pod_of_a_workload_waits_for_it_for_its_group_and_for_enough_members),
		FIXTURE_TEST(permit_reports_deleted_objects_of_a_workload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
