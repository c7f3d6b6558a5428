/* SPDX-License-Identifier: Apache-2.0
 * Names: one number per string, for ever.
 */
#include "object_fixture.h"

static void a_string_has_one_number(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	uint32_t a = bt_intern_add(intern, bt_str("alpha")), b = bt_intern_add(intern, bt_str("beta"));

	(void)state;
	assert_int_not_equal(a, b);
	assert_int_equal(bt_intern_add(intern, bt_str("alpha")), a);
	assert_int_equal(bt_intern_find(intern, bt_str("beta")), b);
	assert_str(bt_intern_str(intern, a), "alpha");
	bt_intern_destroy(intern);
}

static void unknown_strings_are_not_found(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	uint32_t before = bt_intern_count(intern);

	(void)state;
	assert_int_equal(bt_intern_find(intern, bt_str("never")), BT_NAME_NONE);
	assert_int_equal(bt_intern_count(intern), before);
	assert_int_equal(bt_intern_str(intern, BT_NAME_NONE).len, 0);
	bt_intern_destroy(intern);
}

static void fixed_names_have_their_numbers(void **state)
{
	struct bt_intern *intern = bt_intern_create();

	(void)state;
	assert_int_equal(bt_intern_find(intern, bt_str("")), BT_NAME_EMPTY);
	assert_int_equal(bt_intern_find(intern, bt_str("NoSchedule")), BT_NAME_NO_SCHEDULE);
	assert_int_equal(bt_intern_find(intern, bt_str("PreferNoSchedule")), BT_NAME_PREFER_NO_SCHEDULE);
	assert_int_equal(bt_intern_find(intern, bt_str("NoExecute")), BT_NAME_NO_EXECUTE);
	assert_int_equal(bt_intern_find(intern, bt_str("node.kubernetes.io/unschedulable")),
		BT_NAME_UNSCHEDULABLE_TAINT);
	assert_int_equal(bt_intern_find(intern, bt_str("default-scheduler")), BT_NAME_DEFAULT_SCHEDULER);
	assert_int_equal(bt_intern_find(intern, bt_str("0.0.0.0")), BT_NAME_ANY_IP);
	assert_int_equal(bt_intern_find(intern, bt_str("topology.kubernetes.io/zone")), BT_NAME_ZONE);
	assert_int_equal(bt_intern_find(intern, bt_str("kubernetes.io/hostname")), BT_NAME_HOSTNAME);
	bt_intern_destroy(intern);
}

static void many_strings_stay_apart_and_in_place(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	const char *first = bt_intern_str(intern, bt_intern_add(intern, bt_str("name-0"))).ptr;
	uint32_t numbers[5000];
	char text[32];

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "name-%" PRIu32, i);
		numbers[i] = bt_intern_add(intern, bt_str(text));
	}
	for (uint32_t i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "name-%" PRIu32, i);
		assert_int_equal(bt_intern_find(intern, bt_str(text)), numbers[i]);
		assert_str(bt_intern_str(intern, numbers[i]), text);
	}
	assert_ptr_equal(bt_intern_str(intern, numbers[0]).ptr, first);
	bt_intern_destroy(intern);
}

static void bytes_of_any_kind_are_names(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	struct bt_str nul = {"a\0b", 3}, shorter = {"a", 1};

	(void)state;
	assert_int_not_equal(bt_intern_add(intern, nul), bt_intern_add(intern, shorter));
	assert_int_equal(bt_intern_str(intern, bt_intern_find(intern, nul)).len, 3);
	bt_intern_destroy(intern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_string_has_one_number),
		cmocka_unit_test(unknown_strings_are_not_found),
		cmocka_unit_test(fixed_names_have_their_numbers),
		cmocka_unit_test(many_strings_stay_apart_and_in_place),
		cmocka_unit_test(bytes_of_any_kind_are_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
