/* SPDX-License-Identifier: Apache-2.0
 * Namespaces and their labels.
 */
#include "object_fixture.h"

#include "cache/namespaces.h"

static struct bt_intern *intern_of(struct fixture *f)
{
	return f->cache->dictionary->intern;
}

static bool show(struct fixture *f, struct bt_namespaces *namespaces, const char *name, const char *labels)
{
	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text, "{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {%s}}}", name,
		labels);
	return bt_namespaces_apply(namespaces, intern_of(f), &fixture_read(f, f->text.ptr)->namespace_);
}

static uint32_t label_n(struct fixture *f, const struct bt_namespaces *namespaces, const char *name)
{
	return bt_namespaces_labels(namespaces, fixture_name(f, name)).n;
}

static void labels_are_found_by_name(void **state)
{
	struct fixture *f = *state;
	struct bt_namespaces namespaces = {0};

	assert_int_equal(label_n(f, &namespaces, "a"), 0);
	assert_true(show(f, &namespaces, "a", "team: blue"));
	assert_true(show(f, &namespaces, "b", ""));
	struct bt_labels labels = bt_namespaces_labels(&namespaces, fixture_name(f, "a"));
	assert_int_equal(labels.n, 1);
	assert_name(f, labels.items[0].key, "team");
	assert_name(f, labels.items[0].value, "blue");
	assert_int_equal(label_n(f, &namespaces, "b"), 0);
	assert_int_equal(label_n(f, &namespaces, "c"), 0);
	bt_namespaces_fini(&namespaces);
}

static void only_other_labels_are_a_change(void **state)
{
	struct fixture *f = *state;
	struct bt_namespaces namespaces = {0};

	assert_true(show(f, &namespaces, "a", "team: blue, zone: x"));
	assert_false(show(f, &namespaces, "a", "zone: x, team: blue"));
	assert_true(show(f, &namespaces, "a", "team: red, zone: x"));
	assert_true(show(f, &namespaces, "a", "team: red"));
	assert_true(show(f, &namespaces, "a", ""));
	assert_false(show(f, &namespaces, "a", ""));
	assert_true(show(f, &namespaces, "a", "team: red"));
	assert_int_equal(namespaces.n, 1);
	bt_namespaces_fini(&namespaces);
}

static void labels_that_were_replaced_keep_no_names(void **state)
{
	struct fixture *f = *state;
	struct bt_namespaces namespaces = {0};

	show(f, &namespaces, "a", "old-key: old-value");
	show(f, &namespaces, "a", "new-key: new-value");
	assert_int_equal(bt_intern_find(intern_of(f), bt_str("old-key")), BT_NAME_NONE);
	assert_int_equal(bt_intern_find(intern_of(f), bt_str("old-value")), BT_NAME_NONE);
	assert_int_not_equal(bt_intern_find(intern_of(f), bt_str("new-key")), BT_NAME_NONE);
	bt_namespaces_fini(&namespaces);
	assert_int_equal(bt_intern_find(intern_of(f), bt_str("new-key")), BT_NAME_NONE);
}

static void a_removed_namespace_has_no_labels_and_its_index_is_used_again(void **state)
{
	struct fixture *f = *state;
	struct bt_namespaces namespaces = {0};

	show(f, &namespaces, "a", "team: blue");
	show(f, &namespaces, "b", "team: red");
	assert_int_equal(bt_namespaces_remove(&namespaces, fixture_name(f, "c")), BT_NOT_FOUND);
	assert_int_equal(bt_namespaces_remove(&namespaces, BT_NAME_NONE), BT_NOT_FOUND);
	assert_int_equal(bt_namespaces_remove(&namespaces, fixture_name(f, "a")), BT_OK);
	assert_int_equal(bt_namespaces_remove(&namespaces, fixture_name(f, "a")), BT_NOT_FOUND);
	assert_int_equal(label_n(f, &namespaces, "a"), 0);
	assert_int_equal(label_n(f, &namespaces, "b"), 1);
	assert_false(namespaces.items[0].live);
	assert_true(show(f, &namespaces, "c", "team: green, zone: x"));
	assert_int_equal(namespaces.n, 2);
	assert_int_equal(label_n(f, &namespaces, "c"), 2);
	assert_int_equal(label_n(f, &namespaces, "a"), 0);
	bt_namespaces_fini(&namespaces);
}

static void a_namespace_recreated_without_labels_is_a_change(void **state)
{
	struct fixture *f = *state;
	struct bt_namespaces namespaces = {0};

	show(f, &namespaces, "a", "");
	bt_namespaces_remove(&namespaces, fixture_name(f, "a"));
	assert_true(show(f, &namespaces, "a", ""));
	bt_namespaces_fini(&namespaces);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(labels_are_found_by_name),
		FIXTURE_TEST(only_other_labels_are_a_change),
		FIXTURE_TEST(labels_that_were_replaced_keep_no_names),
		FIXTURE_TEST(a_removed_namespace_has_no_labels_and_its_index_is_used_again),
		FIXTURE_TEST(a_namespace_recreated_without_labels_is_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
