/* SPDX-License-Identifier: Apache-2.0
 * The table of Workloads: lookup and removal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "engine/flow/cycle/pod_workloads.h"

struct trial {
	struct bt_intern *intern;
	struct bt_pod_workloads workloads;
	uint32_t space, names[3];
};

static void begin(struct trial *t)
{
	static const char *const names[] = {"a", "b", "c"};

	*t = (struct trial){.intern = bt_intern_create()};
	t->space = bt_intern_hold(t->intern, bt_str("default"));
	for (int i = 0; i < 3; i++) {
		t->names[i] = bt_intern_hold(t->intern, bt_str(names[i]));
	}
}

static void end(struct trial *t)
{
	bt_pod_workloads_fini(&t->workloads, t->intern);
	bt_intern_destroy(t->intern);
}

static bool apply(struct trial *t, uint32_t name, int32_t min_count)
{
	struct bt_workload_group_object group = {
		.name = bt_str("workers"), .gang = true, .min_count = min_count};
	const struct bt_pod_workload_object object = {.groups = &group, .group_n = 1};

	return bt_pod_workloads_apply(&t->workloads, t->intern, t->space, name, &object);
}

static int32_t min_count_of(const struct trial *t, uint32_t name)
{
	const struct bt_pod_workload *workload = bt_pod_workloads_find(&t->workloads, t->space, name);

	assert_non_null(workload);
	return bt_pod_workload_policy_of(workload, bt_intern_find(t->intern, bt_str("workers")))->min_count;
}

static void a_workload_is_found_by_namespace_and_name_until_it_goes(void **state)
{
	struct trial t;

	(void)state;
	begin(&t);
	assert_false(apply(&t, t.names[0], 1));
	assert_false(apply(&t, t.names[1], 2));
	assert_false(apply(&t, t.names[2], 3));
	assert_null(bt_pod_workloads_find(&t.workloads, t.names[0], t.names[0]));
	assert_int_equal(bt_pod_workloads_remove(&t.workloads, t.intern, t.space, t.names[0]), BT_OK);
	assert_null(bt_pod_workloads_find(&t.workloads, t.space, t.names[0]));
	assert_int_equal(min_count_of(&t, t.names[1]), 2);
	assert_int_equal(min_count_of(&t, t.names[2]), 3);
	assert_int_equal(bt_pod_workloads_remove(&t.workloads, t.intern, t.space, t.names[0]), BT_NOT_FOUND);
	end(&t);
}

static void a_changed_workload_counts_as_it_is_now(void **state)
{
	struct trial t;

	(void)state;
	begin(&t);
	assert_false(apply(&t, t.names[0], 1));
	assert_true(apply(&t, t.names[0], 5));
	assert_int_equal(min_count_of(&t, t.names[0]), 5);
	assert_null(bt_pod_workload_policy_of(
		bt_pod_workloads_find(&t.workloads, t.space, t.names[0]), t.names[1]));
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_workload_is_found_by_namespace_and_name_until_it_goes),
		cmocka_unit_test(a_changed_workload_counts_as_it_is_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
