/* SPDX-License-Identifier: Apache-2.0
 * Records of kinds of pods for which no node is resolvable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/flow/cycle/known_unresolvable.h"

#define KINDS_MAX 65536u

static void a_new_record_is_of_no_state(void **state)
{
	struct bt_known_unresolvables known = {0};
	const struct bt_engine_versions empty = {0};

	(void)state;
	struct bt_known_unresolvable *record = bt_known_unresolvables_of(&known, 7);
	assert_memory_not_equal(&record->when, &empty, sizeof(empty));
	assert_int_equal(record->unschedulable_plugins, 0);
	bt_known_unresolvables_fini(&known);
}

static void each_kind_has_a_record_of_its_own(void **state)
{
	struct bt_known_unresolvables known = {0};

	(void)state;
	bt_known_unresolvables_of(&known, 7)->unschedulable_plugins = 1;
	bt_known_unresolvables_of(&known, 8)->unschedulable_plugins = 2;
	assert_int_equal(bt_known_unresolvables_of(&known, 7)->unschedulable_plugins, 1);
	assert_int_equal(bt_known_unresolvables_of(&known, 8)->unschedulable_plugins, 2);
	bt_known_unresolvables_fini(&known);
}

static void forgotten_kinds_are_new_again(void **state)
{
	struct bt_known_unresolvables known = {0};

	(void)state;
	bt_known_unresolvables_of(&known, 7)->unschedulable_plugins = 1;
	bt_known_unresolvables_forget(&known);
	assert_int_equal(bt_known_unresolvables_of(&known, 7)->unschedulable_plugins, 0);
	bt_known_unresolvables_fini(&known);
}

static void a_full_table_forgets_all_kinds(void **state)
{
	struct bt_known_unresolvables known = {0};

	(void)state;
	for (uint64_t kind = 1; kind <= KINDS_MAX; kind++) {
		bt_known_unresolvables_of(&known, kind)->unschedulable_plugins = 1;
	}
	assert_int_equal(bt_known_unresolvables_of(&known, 1)->unschedulable_plugins, 1);
	bt_known_unresolvables_of(&known, KINDS_MAX + 1);
	assert_int_equal(bt_known_unresolvables_of(&known, 1)->unschedulable_plugins, 0);
	bt_known_unresolvables_fini(&known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_record_is_of_no_state),
		cmocka_unit_test(each_kind_has_a_record_of_its_own),
		cmocka_unit_test(forgotten_kinds_are_new_again),
		cmocka_unit_test(a_full_table_forgets_all_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
