/* SPDX-License-Identifier: Apache-2.0
 * Selectors of nodes, and edits as kubectl label and kubectl taint make them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/offline/whatif/node_edit.h"

static struct bt_str_pair two_labels[] = {{BT_STR("pool"), BT_STR("a")}, {BT_STR("zone"), BT_STR("z")}};
static const struct bt_str_map labels = {two_labels, 2, true};

static bool selects(const char *selector)
{
	return bt_node_selected(bt_str(selector), bt_str("n1"), &labels);
}

static void a_selector_is_a_name_or_requirements_of_labels(void **state)
{
	(void)state;
	assert_true(selects("n1"));
	assert_false(selects("n2"));
	assert_true(selects("pool=a"));
	assert_true(selects("pool==a"));
	assert_false(selects("pool=b"));
	assert_true(selects("pool!=b"));
	assert_false(selects("pool!=a"));
	assert_true(selects("rack!=a")); /* a missing label differs */
	assert_false(selects("rack="));
	assert_true(selects("!rack"));
	assert_false(selects("!pool"));
	assert_true(selects("pool=a,zone=z,!rack"));
	assert_false(selects("pool=a,zone=y"));
	assert_false(selects("pool=a,n1"));
}

static struct bt_arena arena;

static bool edit(struct bt_node_object *node, const char *text)
{
	struct bt_buf why = {0};
	bool valid = bt_node_edit(node, bt_str(text), &arena, &why);

	assert_int_equal(valid, why.len == 0);
	bt_buf_fini(&why);
	return valid;
}

static const char *label_of(const struct bt_node_object *node, const char *key)
{
	for (uint32_t i = 0; i < node->meta.labels.n; i++) {
		if (bt_str_is(node->meta.labels.items[i].key, key)) {
			return bt_arena_copy(&arena, node->meta.labels.items[i].value.ptr,
				node->meta.labels.items[i].value.len);
		}
	}
	return NULL;
}

static void labels_are_set_overwritten_and_removed(void **state)
{
	struct bt_node_object node = {.meta.labels = labels};

	(void)state;
	assert_true(edit(&node, "label/pool=b"));
	assert_true(edit(&node, "label/example.com/rack=7"));
	assert_true(edit(&node, "label/zone-"));
	assert_string_equal(label_of(&node, "pool"), "b");
	assert_string_equal(label_of(&node, "example.com/rack"), "7");
	assert_null(label_of(&node, "zone"));
	assert_int_equal(node.meta.labels.n, 2);
	assert_string_equal(two_labels[0].value.ptr, "a"); /* the input is not changed */
	bt_arena_fini(&arena);
}

static void a_taint_replaces_that_of_its_key_and_effect(void **state)
{
	struct bt_node_object node = {.taint_n = 0};

	(void)state;
	assert_true(edit(&node, "taint/k=v:NoSchedule"));
	assert_true(edit(&node, "taint/k:NoExecute"));
	assert_true(edit(&node, "taint/k=w:NoSchedule"));
	assert_int_equal(node.taint_n, 2);
	assert_true(bt_str_is(node.taints[1].value, "w"));
	assert_true(edit(&node, "taint/k:NoExecute-"));
	assert_int_equal(node.taint_n, 1);
	assert_true(bt_str_is(node.taints[0].effect, "NoSchedule"));
	assert_true(edit(&node, "taint/k=x:PreferNoSchedule"));
	assert_true(edit(&node, "taint/k-"));
	assert_int_equal(node.taint_n, 0);
	bt_arena_fini(&arena);
}

static void allocatable_and_cordon_are_set(void **state)
{
	struct bt_node_object node = {.unschedulable = false};

	(void)state;
	assert_true(edit(&node, "allocatable/cpu=7500m"));
	assert_true(edit(&node, "allocatable/example.com/gpu=2"));
	assert_true(edit(&node, "allocatable/cpu=8"));
	assert_int_equal(node.allocatable.n, 2);
	assert_int_equal(bt_quantity_milli(node.allocatable.items[1].quantity), 8000);
	assert_true(edit(&node, "allocatable/cpu-"));
	assert_int_equal(node.allocatable.n, 1);
	assert_true(edit(&node, "unschedulable=true"));
	assert_true(node.unschedulable);
	assert_true(edit(&node, "unschedulable=false"));
	assert_false(node.unschedulable);
	bt_arena_fini(&arena);
}

static void anything_else_is_refused_with_a_remedy(void **state)
{
	static const char *const texts[] = {"", "label/", "label/pool", "label/=b", "label/a b=c",
		"label/pool=b c", "taint/k", "taint/k=v", "taint/k=v:Nothing", "taint/:NoSchedule",
		"taint/k=v w:NoSchedule", "allocatable/cpu", "allocatable/cpu=much", "allocatable/cpu=-1",
		"allocatable/=1", "unschedulable", "unschedulable=yes", "capacity/cpu=1"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct bt_node_object node = {.meta.labels = labels};

		assert_false(edit(&node, texts[i]));
		assert_int_equal(node.meta.labels.n, 2);
		assert_int_equal(node.taint_n + node.allocatable.n, 0);
	}
	bt_arena_fini(&arena);
}

static void a_renewed_node_is_healthy_and_has_its_own_name(void **state)
{
	struct bt_str_pair pair[] = {{BT_STR("kubernetes.io/hostname"), BT_STR("n1")}};
	struct bt_taint_object taints[] = {
		{.key = BT_STR("node.kubernetes.io/not-ready"), .effect = BT_STR("NoExecute")},
		{.key = BT_STR("dedicated"), .effect = BT_STR("NoSchedule")}};
	struct bt_node_object node = {.meta = {.name = BT_STR("n1"), .labels = {pair, 1, true}},
		.unschedulable = true,
		.taints = taints,
		.taint_n = 2};

	(void)state;
	bt_node_renew(&node, bt_str("n1-1"), &arena);
	assert_true(bt_str_is(node.meta.name, "n1-1"));
	assert_string_equal(label_of(&node, "kubernetes.io/hostname"), "n1-1");
	assert_false(node.unschedulable);
	assert_int_equal(node.taint_n, 1);
	assert_true(bt_str_is(node.taints[0].key, "dedicated"));
	bt_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_selector_is_a_name_or_requirements_of_labels),
		cmocka_unit_test(labels_are_set_overwritten_and_removed),
		cmocka_unit_test(a_taint_replaces_that_of_its_key_and_effect),
		cmocka_unit_test(allocatable_and_cordon_are_set),
		cmocka_unit_test(anything_else_is_refused_with_a_remedy),
		cmocka_unit_test(a_renewed_node_is_healthy_and_has_its_own_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
