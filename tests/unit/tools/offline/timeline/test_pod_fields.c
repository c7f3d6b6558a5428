/* SPDX-License-Identifier: Apache-2.0
 * A pod as paths and values: what is reported as changed when a field is set, or a newer pod is shown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "tools/offline/timeline/pod_fields.h"

static void note(void *context, struct bt_str path, struct bt_str before, struct bt_str after)
{
	bt_buf_printf(context, "%.*s:%.*s>%.*s;", BT_STR_ARG(path), BT_STR_ARG(before), BT_STR_ARG(after));
}

static void expect_changes(struct bt_buf *seen, const char *wanted)
{
	assert_string_equal(seen->len ? seen->ptr : "", wanted);
	bt_buf_clear(seen);
}

static void setting_a_field_reports_both_values(void **state)
{
	struct bt_pod_fields fields = {.n = 0};
	struct bt_buf seen = {0};
	const struct bt_pod_field_observer observer = {note, &seen};

	(void)state;
	bt_pod_fields_set(&fields, bt_str("spec.nodeName"), bt_str("a"), &observer);
	expect_changes(&seen, "spec.nodeName:>a;");
	bt_pod_fields_set(&fields, bt_str("spec.nodeName"), bt_str("a"), &observer);
	expect_changes(&seen, "");
	bt_pod_fields_set(&fields, bt_str("spec.nodeName"), bt_str("b"), &observer);
	expect_changes(&seen, "spec.nodeName:a>b;");
	assert_true(bt_str_is(bt_pod_fields_get(&fields, bt_str("spec.nodeName")), "b"));
	bt_pod_fields_set(&fields, bt_str("spec.nodeName"), bt_str(""), &observer);
	expect_changes(&seen, "spec.nodeName:b>;");
	assert_int_equal(bt_pod_fields_get(&fields, bt_str("spec.nodeName")).len, 0);
	bt_pod_fields_fini(&fields);
	bt_buf_fini(&seen);
}

static void a_newer_pod_reports_what_came_changed_and_went(void **state)
{
	struct bt_condition_object scheduled = {.type = bt_str("PodScheduled"), .status = bt_str("False")};
	struct bt_str gates[] = {bt_str("g")};
	struct bt_pod_object pod = {.meta = {.name = bt_str("p"), .namespace_ = bt_str("n")}};
	struct bt_pod_fields fields = {.n = 0};
	struct bt_buf seen = {0};
	const struct bt_pod_field_observer observer = {note, &seen};

	(void)state;
	pod.spec.scheduling_gates = (struct bt_str_list){.items = gates, .n = 1};
	bt_pod_fields_show(&fields, &pod, NULL);
	bt_pod_fields_show(&fields, &pod, &observer);
	expect_changes(&seen, "");
	pod.spec.scheduling_gates.n = 0;
	pod.conditions = &scheduled;
	pod.condition_n = 1;
	bt_pod_fields_show(&fields, &pod, &observer);
	expect_changes(&seen,
		"status.conditions[PodScheduled].status:>False;"
		"status.conditions[PodScheduled].type:>PodScheduled;spec.schedulingGates[g].name:g>;");
	scheduled.status = bt_str("True");
	bt_pod_fields_show(&fields, &pod, &observer);
	expect_changes(&seen, "status.conditions[PodScheduled].status:False>True;");
	bt_pod_fields_fini(&fields);
	bt_buf_fini(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(setting_a_field_reports_both_values),
		cmocka_unit_test(a_newer_pod_reports_what_came_changed_and_went),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
