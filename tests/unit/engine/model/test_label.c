/* SPDX-License-Identifier: Apache-2.0
 * Labels as sorted pairs of names.
 */
#include "object_fixture.h"

#include "engine/model/label.h"

/* Keys in this order get descending numbers. */
static struct bt_labels intern(struct fixture *f, struct bt_name_refs *held)
{
	struct bt_str_pair pairs[] = {
		{bt_str("c"), bt_str("3")}, {bt_str("b"), bt_str("2")}, {bt_str("a"), bt_str("")}};
	const struct bt_str_map map = {.items = pairs, .n = 3};

	fixture_name(f, "a");
	fixture_name(f, "b");
	fixture_name(f, "c");
	held->intern = f->cache->dictionary->intern;
	return bt_labels_intern(held, &f->arena, &map);
}

static void labels_are_sorted_by_the_number_of_their_key(void **state)
{
	struct fixture *f = *state;
	struct bt_name_refs held = {0};
	struct bt_labels labels = intern(f, &held);

	assert_int_equal(labels.n, 3);
	assert_true(labels.items[0].key < labels.items[1].key && labels.items[1].key < labels.items[2].key);
	assert_name(f, labels.items[0].key, "a");
	bt_name_refs_release(&held);
}

static void a_key_finds_its_value(void **state)
{
	struct fixture *f = *state;
	struct bt_name_refs held = {0};
	struct bt_labels labels = intern(f, &held);

	assert_name(f, bt_labels_get(labels, fixture_name(f, "a")), "");
	assert_name(f, bt_labels_get(labels, fixture_name(f, "b")), "2");
	assert_name(f, bt_labels_get(labels, fixture_name(f, "c")), "3");
	bt_name_refs_release(&held);
}

static void a_key_that_is_not_there_has_no_value(void **state)
{
	struct fixture *f = *state;
	struct bt_name_refs held = {0};
	struct bt_labels labels = intern(f, &held);

	assert_int_equal(bt_labels_get(labels, fixture_name(f, "d")), BT_NAME_NONE);
	assert_int_equal(bt_labels_get((struct bt_labels){0}, fixture_name(f, "a")), BT_NAME_NONE);
	bt_name_refs_release(&held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(labels_are_sorted_by_the_number_of_their_key),
		FIXTURE_TEST(a_key_finds_its_value),
		FIXTURE_TEST(a_key_that_is_not_there_has_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
