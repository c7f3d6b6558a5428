/* SPDX-License-Identifier: Apache-2.0
 * Nodes' sums on two sides: equal whatever the order, and the same in two rounds or not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tools/cluster/run/node_comparison.h"

#define NODES 1000

static void a_node_keeps_its_place_and_its_name(void **state)
{
	struct bt_node_comparison comparison = {.n = 0};
	char name[16];

	(void)state;
	for (uint32_t i = 0; i < 2 * NODES; i++) {
		snprintf(name, sizeof(name), "n%u", i % NODES);
		bt_compared_add(&bt_node_comparison_of(&comparison, bt_str(name))->api, i);
	}
	assert_int_equal(comparison.n, NODES);
	for (uint32_t i = 0; i < NODES; i++) {
		const struct bt_compared *node = &comparison.items[i];

		snprintf(name, sizeof(name), "n%u", i);
		assert_true(bt_str_is(bt_node_comparison_name(&comparison, node), name));
		assert_int_equal(node->api.n, 2);
		assert_int_equal(node->api.sum, 2 * i + NODES);
		assert_int_equal(node->ours.n, 0);
	}
	bt_node_comparison_fini(&comparison);
	assert_int_equal(comparison.n, 0);
	assert_null(comparison.items);
}

static void sides_agree_in_any_order(void **state)
{
	struct bt_compared node = {.key = 1};

	(void)state;
	assert_false(bt_compared_differs(&node));
	bt_compared_add(&node.api, 5);
	assert_true(bt_compared_differs(&node));
	bt_compared_add(&node.api, UINT64_MAX);
	bt_compared_add(&node.ours, UINT64_MAX);
	bt_compared_add(&node.ours, 5);
	assert_false(bt_compared_differs(&node));
}

static void an_item_with_hash_zero_counts(void **state)
{
	struct bt_compared node = {.key = 1};

	(void)state;
	bt_compared_add(&node.ours, 0);
	assert_true(bt_compared_differs(&node));
}

static void only_equal_sides_are_those_of_the_round_before(void **state)
{
	struct bt_node_comparison before = {.n = 0}, now = {.n = 0};
	struct bt_compared *node;

	(void)state;
	bt_compared_add(&bt_node_comparison_of(&before, bt_str("n1"))->api, 7);
	node = bt_node_comparison_of(&now, bt_str("n1"));
	assert_false(bt_node_comparison_had(&before, node));
	bt_compared_add(&node->api, 7);
	assert_true(bt_node_comparison_had(&before, node));
	bt_compared_add(&node->ours, 0);
	assert_false(bt_node_comparison_had(&before, node));
	assert_false(bt_node_comparison_had(&before, bt_node_comparison_of(&now, bt_str("n2"))));
	bt_node_comparison_fini(&before);
	bt_node_comparison_fini(&now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_keeps_its_place_and_its_name),
		cmocka_unit_test(sides_agree_in_any_order),
		cmocka_unit_test(an_item_with_hash_zero_counts),
		cmocka_unit_test(only_equal_sides_are_those_of_the_round_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
