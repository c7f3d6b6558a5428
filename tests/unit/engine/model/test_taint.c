/* SPDX-License-Identifier: Apache-2.0
 * Which toleration tolerates which taint.
 */
#include "object_fixture.h"

struct row {
	const char *key, *operator_, *value, *effect; /* of the toleration */
	const char *taint_key, *taint_value, *taint_effect;
	bool tolerates, with_gate;
};

static const struct row rows[] = {
	{"k", "Equal", "v", "NoSchedule", "k", "v", "NoSchedule", true, true},
	{"k", "", "v", "NoSchedule", "k", "v", "NoSchedule", true, true},
	{"k", "Equal", "v", "", "k", "v", "NoExecute", true, true},
	{"k", "Equal", "v", "NoSchedule", "k", "v", "NoExecute", false, false},
	{"k", "Equal", "w", "", "k", "v", "NoSchedule", false, false},
	{"j", "Exists", "", "", "k", "v", "NoSchedule", false, false},
	{"k", "Exists", "", "", "k", "v", "NoSchedule", true, true},
	{"", "Exists", "", "", "k", "v", "NoSchedule", true, true},
	{"", "Exists", "", "NoExecute", "k", "v", "NoSchedule", false, false},
	{"", "Equal", "v", "", "k", "v", "NoSchedule", true,
		true}, /* an empty key with Equal compares values */
	{"", "Equal", "w", "", "k", "v", "NoSchedule", false, false},
	{"k", "equal", "v", "", "k", "v", "NoSchedule", false, false},
	{"k", "Lt", "5", "", "k", "3", "NoSchedule", false, true},
	{"k", "Lt", "5", "", "k", "5", "NoSchedule", false, false},
	{"k", "Gt", "5", "", "k", "9", "NoSchedule", false, true},
	{"k", "Gt", "5", "", "k", "5", "NoSchedule", false, false},
	{"k", "Gt", "-5", "", "k", "-4", "NoSchedule", false, true},
	{"k", "Gt", "05", "", "k", "9", "NoSchedule", false, false},
	{"k", "Gt", "5", "", "k", "09", "NoSchedule", false, false},
	{"k", "Gt", "+5", "", "k", "9", "NoSchedule", false, false},
	{"k", "Lt", "5", "", "k", "", "NoSchedule", false, false},
	{"k", "Lt", "5", "", "k", "x", "NoSchedule", false, false},
	{"k", "Lt", "9223372036854775807", "", "k", "9223372036854775808", "NoSchedule", false, false},
	{"k", "Lt", "9223372036854775807", "", "k", "9223372036854775806", "NoSchedule", false, true},
	{"k", "Gt", "-9223372036854775808", "", "k", "0", "NoSchedule", false, true},
	{"j", "Gt", "5", "", "k", "9", "NoSchedule", false, false},
};

static void tolerations_tolerate_as_upstream_does(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	struct bt_name_refs held = bt_name_refs_pinned(intern);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct row *row = &rows[i];
		struct bt_toleration toleration =
			bt_toleration_intern(&held, &(struct bt_toleration_object){.key = bt_str(row->key),
							    .operator_ = bt_str(row->operator_),
							    .value = bt_str(row->value),
							    .effect = bt_str(row->effect)});
		struct bt_taint taint =
			bt_taint_intern(&held, &(struct bt_taint_object){.key = bt_str(row->taint_key),
						       .value = bt_str(row->taint_value),
						       .effect = bt_str(row->taint_effect)});

		if (bt_tolerates(intern, &toleration, &taint, false) != row->tolerates ||
			bt_tolerates(intern, &toleration, &taint, true) != row->with_gate) {
			fail_msg("row %zu: %s %s \"%s\" against \"%s\"", i, row->key, row->operator_,
				row->value, row->taint_value);
		}
	}
	bt_intern_destroy(intern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(tolerations_tolerate_as_upstream_does)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
