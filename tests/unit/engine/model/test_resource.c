/* SPDX-License-Identifier: Apache-2.0
 * Resource names: classes, slots, and the limit of slots.
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

/* Names up to a number of slots. */
static void fill(struct bt_dictionary *dictionary, int end)
{
	char name[32];

	for (int i = BT_FIRST_SCALAR; i < end; i++) {
		snprintf(name, sizeof(name), "example.com/r%d", i);
		assert_int_equal(bt_resource_slot(dictionary, bt_str(name)), i);
	}
}

static void a_full_table_refuses_new_names_and_keeps_old_ones(void **state)
{
	struct bt_dictionary *dictionary = bt_dictionary_create();

	(void)state;
	fill(dictionary, BT_RESOURCE_MAX);
	for (int i = BT_FIRST_SCALAR; i < BT_RESOURCE_MAX; i++) {
		struct bt_str name = bt_resource_name(dictionary, (uint32_t)i);

		assert_int_equal(bt_resource_find(dictionary, name), i);
	}
	assert_int_equal(bt_resource_slot(dictionary, bt_str("example.com/more")), BT_SLOT_FULL);
	assert_int_equal(bt_resource_slot(dictionary, bt_str("example.com/r10")), 10);
	assert_int_equal(bt_resource_slot(dictionary, bt_str("cpu")), BT_CPU);
	bt_dictionary_destroy(dictionary);
}

static void names_are_given_together_or_not_at_all(void **state)
{
	struct bt_dictionary *dictionary = bt_dictionary_create();
	const struct bt_str names[] = {bt_str("example.com/a"), bt_str("example.com/b")};

	(void)state;
	fill(dictionary, BT_RESOURCE_MAX - 1);
	assert_false(bt_resource_add_all(dictionary, names, 2, BT_RESOURCE_MAX));
	assert_int_equal(bt_resource_count(dictionary), BT_RESOURCE_MAX - 1);
	assert_true(bt_resource_add_all(dictionary, names, 1, BT_RESOURCE_MAX));
	assert_int_equal(bt_resource_find(dictionary, names[0]), BT_RESOURCE_MAX - 1);
	assert_int_equal(bt_resource_find(dictionary, names[1]), -1);
	bt_dictionary_destroy(dictionary);
}

static void rare_resources_share_a_bit(void **state)
{
	(void)state;
	assert_int_equal(bt_resource_bit(BT_MEMORY), 1 << BT_MEMORY);
	assert_true(bt_resource_bit(BT_FIRST_RARE - 1) == UINT64_C(1) << 62);
	assert_true(bt_resource_bit(BT_FIRST_RARE) == UINT64_C(1) << 63);
	assert_true(bt_resource_bit(BT_RESOURCE_MAX - 1) == UINT64_C(1) << 63);
}

static void a_crowd_takes_the_first_slots(void **state)
{
	(void)state;
	bt_resource_prefill(BT_FIRST_RARE);
	struct bt_dictionary *dictionary = bt_dictionary_create();
	bt_resource_prefill(0);
	struct bt_dictionary *other = bt_dictionary_create();
	assert_int_equal(bt_resource_slot(dictionary, bt_str("nvidia.com/gpu")), BT_FIRST_RARE);
	assert_int_equal(bt_resource_slot(dictionary, bt_str("memory")), BT_MEMORY);
	assert_int_equal(bt_resource_slot(other, bt_str("nvidia.com/gpu")), BT_FIRST_SCALAR);
	bt_dictionary_destroy(dictionary);
	bt_dictionary_destroy(other);
}

static void long_lists_are_searched(void **state)
{
	struct bt_amount items[100];

	(void)state;
	for (uint32_t n = 0; n <= 100; n++) {
		const struct bt_amounts amounts = {items, n};

		for (uint32_t slot = 0; slot < 210; slot++) {
			bool there = slot % 2 && slot / 2 < n;

			assert_int_equal(bt_amounts_search(amounts, slot), there ? 1000 + slot : 0);
		}
		if (n < 100) {
			items[n] = (struct bt_amount){2 * n + 1, 1000 + 2 * n + 1};
		}
	}
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
		cmocka_unit_test(names_are_given_together_or_not_at_all),
		cmocka_unit_test(rare_resources_share_a_bit),
		cmocka_unit_test(a_crowd_takes_the_first_slots),
		cmocka_unit_test(long_lists_are_searched),
		cmocka_unit_test(amounts_round_up_in_the_unit_of_their_slot),
		cmocka_unit_test(absent_amounts_read_as_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
