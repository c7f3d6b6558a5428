/* SPDX-License-Identifier: Apache-2.0
 * The registry of plugins: in-tree ones, and those added at run time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plugins/registry.h"

static void an_added_plugin_is_found_after_in_tree_plugins(void **state)
{
	static const struct bt_plugin first = {.name = "First", .points = BT_AT(FILTER)};

	(void)state;
	assert_int_equal(bt_plugin_n(), BT_PLUGIN_IN_TREE);
	assert_int_equal(bt_plugin_find(bt_str("First")), BT_PLUGIN_NONE);
	assert_int_equal(bt_plugin_add(&first), BT_OK);
	assert_int_equal(bt_plugin_n(), BT_PLUGIN_IN_TREE + 1);
	assert_int_equal(bt_plugin_find(bt_str("First")), BT_PLUGIN_IN_TREE);
	assert_ptr_equal(bt_plugin_at(BT_PLUGIN_IN_TREE), &first);
	assert_true(bt_plugin_serves(BT_PLUGIN_IN_TREE, BT_POINT_FILTER, bt_release_default()));
}

static void a_name_that_is_taken_is_refused(void **state)
{
	static const struct bt_plugin in_tree = {.name = "NodeResourcesFit"}, added = {.name = "First"};
	uint32_t n = bt_plugin_n();

	(void)state;
	assert_int_equal(bt_plugin_add(&in_tree), BT_EXISTS);
	assert_int_equal(bt_plugin_add(&added), BT_EXISTS);
	assert_int_equal(bt_plugin_n(), n);
}

static void a_few_plugins_can_be_added(void **state)
{
	static const char *const names[] = {"A", "B", "C", "D", "E", "F", "G", "H"};
	static struct bt_plugin plugins[BT_PLUGIN_ADDED_MAX];
	uint32_t i = 0;

	(void)state;
	for (; bt_plugin_n() < BT_PLUGIN_MAX; i++) {
		plugins[i].name = names[i];
		assert_int_equal(bt_plugin_add(&plugins[i]), BT_OK);
	}
	plugins[i].name = names[i];
	assert_int_equal(bt_plugin_add(&plugins[i]), BT_RANGE);
	assert_int_equal(bt_plugin_find(bt_str(names[i])), BT_PLUGIN_NONE);
}

/* A profile with all of them can be built. */
static void a_profile_can_enable_every_plugin_that_evaluates_nodes(void **state)
{
	uint32_t judge_n = 0;

	(void)state;
	for (uint32_t id = 0; id < BT_PLUGIN_IN_TREE; id++) {
		judge_n += bt_plugin_at(id)->compile != NULL;
	}
	assert_in_range(judge_n + BT_PLUGIN_ADDED_MAX, 1, BT_PROFILE_USES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_added_plugin_is_found_after_in_tree_plugins),
		cmocka_unit_test(a_name_that_is_taken_is_refused),
		cmocka_unit_test(a_few_plugins_can_be_added),
		cmocka_unit_test(a_profile_can_enable_every_plugin_that_evaluates_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
