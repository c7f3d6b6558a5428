/* SPDX-License-Identifier: Apache-2.0
 * The order in which nodes are visited: one of each zone in turn. Source: nodeTree, v1.36.3.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cache/node_order_int.h"

static void assert_order(struct bt_node_order *order, const uint32_t *want, uint32_t n)
{
	const uint32_t *got = bt_node_order_list(order);

	assert_int_equal(order->node_n, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(got[i], want[i]);
	}
}

/* Slots 0, 1, 2 in zone 10; 3 in zone 20; 4 in no zone. */
static struct bt_node_order three_zones(void)
{
	struct bt_node_order order = {0};

	bt_node_order_put(&order, 0, 10);
	bt_node_order_put(&order, 1, 10);
	bt_node_order_put(&order, 2, 10);
	bt_node_order_put(&order, 3, 20);
	bt_node_order_put(&order, 4, 0);
	return order;
}

static void zones_take_turns_until_they_are_empty(void **state)
{
	struct bt_node_order order = three_zones();

	(void)state;
	assert_order(&order, (uint32_t[]){0, 3, 4, 1, 2}, 5);
	bt_node_order_fini(&order);
}

static void a_zone_that_was_empty_is_last(void **state)
{
	struct bt_node_order order = three_zones();

	(void)state;
	bt_node_order_remove(&order, 3);
	assert_order(&order, (uint32_t[]){0, 4, 1, 2}, 4);
	bt_node_order_put(&order, 3, 20);
	assert_order(&order, (uint32_t[]){0, 4, 3, 1, 2}, 5);
	bt_node_order_fini(&order);
}

/* As upstream, whose list is rebuilt when a node is added or removed. */
static void a_changed_zone_counts_once_a_node_is_added_or_removed(void **state)
{
	struct bt_node_order order = three_zones();

	(void)state;
	assert_order(&order, (uint32_t[]){0, 3, 4, 1, 2}, 5);
	bt_node_order_put(&order, 1, 20);
	assert_order(&order, (uint32_t[]){0, 3, 4, 1, 2}, 5);
	bt_node_order_remove(&order, 4);
	assert_order(&order, (uint32_t[]){0, 3, 2, 1}, 4);
	bt_node_order_fini(&order);
}

static void a_node_that_is_there_keeps_its_place(void **state)
{
	struct bt_node_order order = three_zones();

	(void)state;
	bt_node_order_put(&order, 0, 10);
	bt_node_order_remove(&order, 99);
	assert_order(&order, (uint32_t[]){0, 3, 4, 1, 2}, 5);
	bt_node_order_fini(&order);
}

static void a_node_that_gets_another_slot_keeps_its_place(void **state)
{
	struct bt_node_order order = three_zones();

	(void)state;
	bt_node_order_remove(&order, 1);
	assert_order(&order, (uint32_t[]){0, 3, 4, 2}, 4);
	bt_node_order_move(&order, 3, 1);
	bt_node_order_follow(&order);
	assert_order(&order, (uint32_t[]){0, 1, 4, 2}, 4);
	bt_node_order_put(&order, 5, 30);
	assert_order(&order, (uint32_t[]){0, 1, 4, 5, 2}, 5);
	bt_node_order_fini(&order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zones_take_turns_until_they_are_empty),
		cmocka_unit_test(a_zone_that_was_empty_is_last),
		cmocka_unit_test(a_changed_zone_counts_once_a_node_is_added_or_removed),
		cmocka_unit_test(a_node_that_is_there_keeps_its_place),
		cmocka_unit_test(a_node_that_gets_another_slot_keeps_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
