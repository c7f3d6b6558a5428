/* SPDX-License-Identifier: Apache-2.0
 * Resource names: their classes, their slots, and what happens when there are too many.
 */
#include "object_fixture.h"

static void names_have_their_class(void **state)
{
	static const struct {
		const char *name;
		bool scalar, extended;
	} rows[] = {
		{"cpu", false, false},
		{"memory", false, false},
		{"storage", false, false},
		{"gpu", false, false},
		{"nvidia.com/gpu", true, true},
		{"example.com/a_B.c-d", true, true},
		{"hugepages-2Mi", true, false},
		{"attachable-volumes-aws-ebs", true, false},
		{"kubernetes.io/batch-cpu", true, false},
		{"x.kubernetes.io/y", true, false},
		{"requests.nvidia.com/gpu", false, false},
		{"nvidia.com/", false, false},
		{"/gpu", false, false},
		{"Nvidia.com/gpu", false, false},
		{"nvidia.com/gpu/1", false, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(bt_resource_is_scalar(bt_str(rows[i].name)), rows[i].scalar);
		assert_int_equal(bt_resource_is_extended(bt_str(rows[i].name)), rows[i].extended);
	}
}

static void the_first_resources_have_fixed_slots(void **state)
{
	struct bt_dictionary *dictionary = bt_dictionary_create();

	(void)state;
	assert_int_equal(bt_resource_slot(dictionary, bt_str("cpu")), BT_CPU);
	assert_int_equal(bt_resource_slot(dictionary, bt_str("memory")), BT_MEMORY);
	assert_int_equal(bt_resource_slot(dictionary, bt_str("ephemeral-storage")), BT_EPHEMERAL_STORAGE);
	assert_int_equal(bt_resource_slot(dictionary, bt_str("pods")), BT_SLOT_PODS);
	assert_int_equal(bt_resource_slot(dictionary, bt_str("storage")), BT_SLOT_IGNORED);
	assert_int_equal(bt_resource_find(dictionary, bt_str("nvidia.com/gpu")), -1);
	int slot = bt_resource_slot(dictionary, bt_str("nvidia.com/gpu"));
	assert_int_equal(slot, BT_FIRST_SCALAR);
	assert_int_equal(bt_resource_slot(dictionary, bt_str("nvidia.com/gpu")), slot);
	assert_int_equal(bt_resource_find(dictionary, bt_str("nvidia.com/gpu")), slot);
	assert_str(bt_resource_name(dictionary, (uint32_t)slot), "nvidia.com/gpu");
	bt_dictionary_destroy(dictionary);
}

static void a_full_table_refuses_new_names_and_keeps_old_ones(void **state)
{
	struct bt_dictionary *dictionary = bt_dictionary_create();
	char name[32];

	(void)state;
	for (int i = BT_FIRST_SCALAR; i < BT_RESOURCE_MAX; i++) {
		snprintf(name, sizeof(name), "example.com/r%d", i);
		assert_int_equal(bt_resource_slot(dictionary, bt_str(name)), i);
	}
	assert_int_equal(bt_resource_slot(dictionary, bt_str("example.com/more")), BT_SLOT_FULL);
	assert_int_equal(bt_resource_slot(dictionary, bt_str("example.com/r10")), 10);
	assert_int_equal(bt_resource_slot(dictionary, bt_str("cpu")), BT_CPU);
	bt_dictionary_destroy(dictionary);
}

static void amounts_round_up_in_the_unit_of_their_slot(void **state)
{
	struct bt_quantity quantity;

	(void)state;
	assert_int_equal(bt_quantity_parse(bt_str("100500u"), &quantity), BT_OK);
	assert_int_equal(bt_resource_amount(BT_CPU, quantity), 101);
	assert_int_equal(bt_quantity_parse(bt_str("1500m"), &quantity), BT_OK);
	assert_int_equal(bt_resource_amount(BT_MEMORY, quantity), 2);
	assert_int_equal(bt_resource_amount(BT_FIRST_SCALAR, quantity), 2);
}

static void absent_amounts_read_as_zero(void **state)
{
	const struct bt_amount items[] = {{BT_CPU, 5}, {BT_FIRST_SCALAR, 7}};
	struct bt_amounts amounts = {items, 2};

	(void)state;
	assert_int_equal(bt_amounts_get(amounts, BT_CPU), 5);
	assert_int_equal(bt_amounts_get(amounts, BT_FIRST_SCALAR), 7);
	assert_int_equal(bt_amounts_get(amounts, BT_MEMORY), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_have_their_class),
		cmocka_unit_test(the_first_resources_have_fixed_slots),
		cmocka_unit_test(a_full_table_refuses_new_names_and_keeps_old_ones),
		cmocka_unit_test(amounts_round_up_in_the_unit_of_their_slot),
		cmocka_unit_test(absent_amounts_read_as_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
