/* SPDX-License-Identifier: Apache-2.0
 * Changes of nodes that are taken back.
 */
#include "object_fixture.h"

#include "cache/node_change.h"

static const struct bt_node_desc *describe(struct fixture *f, const char *yaml)
{
	return bt_node_desc_create(f->cache->dictionary, &fixture_read(f, yaml)->node);
}

static void assert_order(struct fixture *f, const uint32_t *want, uint32_t n)
{
	assert_int_equal(f->cache->view.snapshot->node_n, n);
	assert_memory_equal(bt_snapshot_order(f->cache->snapshot), want, n * sizeof(*want));
}

static void a_change_in_place_keeps_layout_and_zone_order(void **state)
{
	struct fixture *f = *state;
	uint32_t first = fixture_node(f, "name: n1, labels: {topology.kubernetes.io/zone: a}", "",
			 "allocatable: {cpu: '4'}"),
		 second = fixture_node(f, "name: n2, labels: {topology.kubernetes.io/zone: b}", "",
			 "allocatable: {cpu: '4'}"),
		 third = fixture_node(f, "name: n3, labels: {topology.kubernetes.io/zone: a}", "",
			 "allocatable: {cpu: '4'}");
	const struct bt_snapshot *snapshot = f->cache->view.snapshot;
	const struct bt_node_desc *desc = describe(f, "{apiVersion: v1, kind: Node, metadata: {name: n1, "
						      "labels: {topology.kubernetes.io/zone: b}}, status: "
						      "{allocatable: {cpu: '2'}}}");
	uint64_t layout = snapshot->layout_version, changes = snapshot->changes_end;
	struct bt_node_change change;

	assert_order(f, (uint32_t[]){first, second, third}, 3);
	bt_node_change_make(f->cache, fixture_name(f, "n1"), desc, &change);
	assert_int_equal(change.slot, first);
	assert_int_equal(snapshot->rooms[first].alloc[BT_CPU], 2000);
	bt_node_change_revert(f->cache, &change);
	bt_node_desc_defer(desc);
	assert_int_equal(snapshot->rooms[first].alloc[BT_CPU], 4000);
	assert_int_equal(snapshot->layout_version, layout);
	assert_int_equal(snapshot->changes_end, changes + 2);
	/* Rebuilt, too. */
	bt_snapshot_forget_order(f->cache->snapshot);
	assert_order(f, (uint32_t[]){first, second, third}, 3);
}

static void a_node_that_was_gone_has_its_place_and_slot_again(void **state)
{
	struct fixture *f = *state;
	uint32_t first = fixture_node(f, "name: n1, labels: {topology.kubernetes.io/zone: a}", "",
			 "allocatable: {cpu: '4'}"),
		 second = fixture_node(f, "name: n2, labels: {topology.kubernetes.io/zone: b}", "",
			 "allocatable: {cpu: '4'}");
	struct bt_node_change removed, added, again;
	const struct bt_node_desc *desc = describe(f, "{apiVersion: v1, kind: Node, metadata: {name: n4}}");

	assert_order(f, (uint32_t[]){first, second}, 2);
	bt_node_change_make(f->cache, fixture_name(f, "n1"), NULL, &removed);
	bt_node_change_make(f->cache, fixture_name(f, "n4"), desc, &added);
	assert_int_equal(added.slot, 2);
	assert_order(f, (uint32_t[]){second, added.slot}, 2);
	bt_node_change_make(f->cache, fixture_name(f, "n4"), NULL, &again);
	assert_order(f, (uint32_t[]){second}, 1);
	bt_node_change_revert(f->cache, &again);
	assert_order(f, (uint32_t[]){second, added.slot}, 2);
	bt_node_change_revert(f->cache, &added);
	bt_node_desc_defer(desc);
	assert_int_equal(f->cache->view.snapshot->slot_n, 2);
	bt_node_change_revert(f->cache, &removed);
	assert_order(f, (uint32_t[]){first, second}, 2);
	bt_snapshot_forget_order(f->cache->snapshot);
	assert_order(f, (uint32_t[]){first, second}, 2);
	assert_int_equal(fixture_node(f, "name: n5", "", "allocatable: {cpu: '4'}"), 2);
}

/* Another node had reported the size of an image before it went. */
static void an_image_has_its_size_again(void **state)
{
	struct fixture *f = *state;
	static const char image[] = "images: [{names: ['app:1'], sizeBytes: %u}]";
	char text[3][64];

	for (uint32_t i = 0; i < 3; i++) {
		snprintf(text[i], sizeof(text[i]), image, 100 + i);
	}
	fixture_node(f, "name: n1", "", text[0]);
	fixture_node(f, "name: n2", "", text[1]);
	const struct bt_snapshot *snapshot = f->cache->view.snapshot;
	const struct bt_node_desc *desc =
		describe(f, "{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {images: [{names: "
			    "['app:1'], sizeBytes: 102}]}}");
	struct bt_node_change first, resized, second;

	assert_int_equal(snapshot->images[0].size_bytes, 100);
	bt_node_change_make(f->cache, fixture_name(f, "n1"), NULL, &first);
	bt_node_change_make(f->cache, fixture_name(f, "n2"), desc, &resized);
	assert_int_equal(snapshot->images[0].size_bytes, 102);
	bt_node_change_make(f->cache, fixture_name(f, "n2"), NULL, &second);
	bt_node_change_revert(f->cache, &second);
	assert_int_equal(snapshot->images[0].size_bytes, 102);
	bt_node_change_revert(f->cache, &resized);
	bt_node_desc_defer(desc);
	assert_int_equal(snapshot->images[0].size_bytes, 100);
	bt_node_change_revert(f->cache, &first);
	assert_int_equal(snapshot->images[0].size_bytes, 100);
	assert_int_equal(snapshot->images[0].node_n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_change_in_place_keeps_layout_and_zone_order),
		FIXTURE_TEST(a_node_that_was_gone_has_its_place_and_slot_again),
		FIXTURE_TEST(an_image_has_its_size_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
