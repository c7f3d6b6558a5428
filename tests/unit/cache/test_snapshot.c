/* SPDX-License-Identifier: Apache-2.0
 * Nodes as columns.
 */
#include "object_fixture.h"

static const struct bt_snapshot *snapshot_of(struct fixture *f)
{
	return f->cache->view.snapshot;
}

static void a_node_is_its_columns(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1, labels: {disk: ssd}",
		"unschedulable: true, taints: [{key: k, effect: NoSchedule}]",
		"allocatable: {cpu: 3500m, memory: 1Gi, pods: '7', nvidia.com/gpu: '2', storage: 1Ti}");
	const struct bt_snapshot *s = snapshot_of(f);
	int gpu = bt_resource_find(f->cache->dictionary, bt_str("nvidia.com/gpu"));

	assert_true(bt_bitmap_test(s->live, node));
	assert_int_equal(s->node_n, 1);
	assert_int_equal(s->alloc[BT_CPU][node], 3500);
	assert_int_equal(s->alloc[BT_MEMORY][node], INT64_C(1) << 30);
	assert_int_equal(s->alloc[gpu][node], 2);
	assert_int_equal(s->alloc_pods[node], 7);
	assert_true(s->nodes[node].unschedulable);
	assert_int_equal(s->taint_sets[s->nodes[node].taint_set].n, 1);
	assert_int_equal(
		bt_labels_get(s->nodes[node].labels, fixture_name(f, "disk")), fixture_name(f, "ssd"));
}

static void a_new_description_replaces_the_old_one(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1, labels: {a: b}", "taints: [{key: k, effect: NoSchedule}]",
		"allocatable: {cpu: '4', example.com/x: '5', pods: '7'}, images: [{names: [img], sizeBytes: "
		"5}]");
	uint64_t version = snapshot_of(f)->version;

	assert_int_equal(fixture_node(f, "name: n1", "", "allocatable: {cpu: '2'}"), node);
	const struct bt_snapshot *s = snapshot_of(f);
	assert_true(s->version > version);
	assert_int_equal(s->node_n, 1);
	assert_int_equal(s->alloc[BT_CPU][node], 2000);
	assert_int_equal(s->alloc_pods[node], 0);
	assert_int_equal(s->alloc[bt_resource_find(f->cache->dictionary, bt_str("example.com/x"))][node], 0);
	assert_int_equal(s->nodes[node].labels.n, 0);
	assert_int_equal(s->nodes[node].taint_set, 0);
	assert_int_equal(s->nodes[node].image_n, 0);
	assert_int_equal(s->images[0].node_n, 0);
}

static void a_removed_node_reads_as_zero_and_keeps_its_slot(void **state)
{
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1, labels: {a: b}", "", "allocatable: {cpu: '4', pods: '7'}");
	uint32_t other = fixture_node(f, "name: n2", "", "");
	const struct bt_snapshot *s = snapshot_of(f);

	assert_int_equal(bt_ingest_node_delete(f->cache, bt_str("n1")), BT_OK);
	assert_false(bt_bitmap_test(s->live, node));
	assert_int_equal(s->node_n, 1);
	assert_int_equal(s->alloc[BT_CPU][node], 0);
	assert_int_equal(s->alloc_pods[node], 0);
	assert_int_equal(bt_snapshot_find(f->cache->snapshot, fixture_name(f, "n1")), BT_NO_NODE);
	assert_int_equal(bt_snapshot_find(f->cache->snapshot, fixture_name(f, "n2")), other);
	assert_int_equal(bt_ingest_node_delete(f->cache, bt_str("n1")), BT_NOT_FOUND);
	assert_int_equal(bt_ingest_node_delete(f->cache, bt_str("never")), BT_NOT_FOUND);
	assert_int_equal(fixture_node(f, "name: n1", "", ""), node);
}

static void a_name_has_its_slot_before_its_node(void **state)
{
	struct fixture *f = *state;
	uint32_t slot = bt_snapshot_slot(f->cache->snapshot, fixture_name(f, "later"));

	assert_int_equal(bt_snapshot_find(f->cache->snapshot, fixture_name(f, "later")), BT_NO_NODE);
	assert_int_equal(snapshot_of(f)->node_n, 0);
	assert_int_equal(fixture_node(f, "name: later", "", ""), slot);
}

static void nodes_with_equal_taints_share_a_set(void **state)
{
	struct fixture *f = *state;
	uint32_t a = fixture_node(f, "name: a", "taints: [{key: k, effect: NoSchedule}]", "");
	uint32_t b = fixture_node(f, "name: b", "taints: [{key: k, effect: NoSchedule}]", "");
	uint32_t c = fixture_node(f, "name: c", "taints: [{key: k, effect: NoExecute}]", "");
	const struct bt_node *nodes = snapshot_of(f)->nodes;

	assert_int_equal(nodes[a].taint_set, nodes[b].taint_set);
	assert_int_not_equal(nodes[a].taint_set, nodes[c].taint_set);
	assert_int_not_equal(nodes[a].taint_set, 0);
}

static void label_columns_follow_the_nodes(void **state)
{
	struct fixture *f = *state;
	uint32_t a = fixture_node(f, "name: a, labels: {zone: x}", "", ""),
		 b = fixture_node(f, "name: b", "", "");
	uint32_t key = fixture_name(f, "zone");
	const uint32_t *column = bt_snapshot_label_column(f->cache->snapshot, key);

	assert_int_equal(column[a], fixture_name(f, "x"));
	assert_int_equal(column[b], BT_NAME_NONE);
	fixture_node(f, "name: b, labels: {zone: z}", "", "");
	column = bt_snapshot_label_column(f->cache->snapshot, key);
	assert_int_equal(column[b], fixture_name(f, "z"));
	bt_ingest_node_delete(f->cache, bt_str("a"));
	assert_int_equal(bt_snapshot_label_column(f->cache->snapshot, key)[a], BT_NAME_NONE);
}

static void label_columns_grow_with_the_slots(void **state)
{
	struct fixture *f = *state;
	char metadata[64];

	for (int i = 0; i < 200; i++) {
		snprintf(metadata, sizeof(metadata), "name: n%d, labels: {num: v%d}", i, i);
		uint32_t node = fixture_node(f, metadata, "", "");
		const uint32_t *column = bt_snapshot_label_column(f->cache->snapshot, fixture_name(f, "num"));

		snprintf(metadata, sizeof(metadata), "v%d", i);
		assert_int_equal(column[node], fixture_name(f, metadata));
		assert_int_equal(column[0], fixture_name(f, "v0"));
	}
}

static void images_are_counted_by_node(void **state)
{
	struct fixture *f = *state;

	fixture_node(f, "name: a", "", "images: [{names: [img, alias, img], sizeBytes: 5}]");
	fixture_node(f, "name: b", "", "images: [{names: [img], sizeBytes: 9}]");
	const struct bt_image *image = &snapshot_of(f)->images[0];
	assert_int_equal(image->name, fixture_name(f, "img"));
	assert_int_equal(image->node_n, 2);
	assert_int_equal(image->size_bytes, 5); /* as the first node said */
	bt_ingest_node_delete(f->cache, bt_str("a"));
	assert_int_equal(snapshot_of(f)->images[0].node_n, 1);
}

static void assert_order(struct fixture *f, const char *want)
{
	const uint32_t *order = bt_snapshot_order(f->cache->snapshot);
	struct bt_buf got = {0};

	for (uint32_t i = 0; i < snapshot_of(f)->node_n; i++) {
		struct bt_str name =
			bt_intern_str(f->cache->dictionary->intern, snapshot_of(f)->nodes[order[i]].name);

		bt_buf_printf(&got, "%s%.*s", i ? " " : "", BT_STR_ARG(name));
	}
	assert_string_equal(got.ptr ? got.ptr : "", want);
	bt_buf_fini(&got);
}

static void zones_take_turns(void **state)
{
	struct fixture *f = *state;

	fixture_node(f, "name: a1, labels: {topology.kubernetes.io/zone: A}", "", "");
	fixture_node(f, "name: a2, labels: {topology.kubernetes.io/zone: A}", "", "");
	fixture_node(f, "name: b1, labels: {topology.kubernetes.io/zone: B}", "", "");
	fixture_node(f, "name: x", "", "");
	fixture_node(f, "name: a3, labels: {failure-domain.beta.kubernetes.io/zone: A}", "", "");
	assert_order(f, "a1 b1 x a2 a3");
	/* A zone that has become empty comes last when it is there again. */
	bt_ingest_node_delete(f->cache, bt_str("b1"));
	assert_order(f, "a1 x a2 a3");
	fixture_node(f, "name: b1, labels: {topology.kubernetes.io/zone: B}", "", "");
	assert_order(f, "a1 x b1 a2 a3");
	/* One that changes its zone keeps its place until a node comes or goes. */
	fixture_node(f, "name: a1, labels: {topology.kubernetes.io/zone: B}", "", "");
	assert_order(f, "a1 x b1 a2 a3");
	fixture_node(f, "name: z1", "", "");
	assert_order(f, "a2 x b1 a3 z1 a1");
}

static void one_name_in_two_regions_is_two_zones(void **state)
{
	struct fixture *f = *state;

	fixture_node(f,
		"name: a1, labels: {topology.kubernetes.io/zone: A, topology.kubernetes.io/region: r}", "",
		"");
	fixture_node(f,
		"name: a2, labels: {topology.kubernetes.io/zone: A, topology.kubernetes.io/region: r}", "",
		"");
	fixture_node(f,
		"name: s1, labels: {topology.kubernetes.io/zone: A, topology.kubernetes.io/region: s}", "",
		"");
	assert_order(f, "a1 s1 a2");
}

static void too_many_resource_names_are_said_and_the_node_is_there(void **state)
{
	struct fixture *f = *state;
	struct bt_buf status = {0};
	uint32_t node;

	bt_buf_text(&status,
		"{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: '1'");
	for (int i = 0; i < BT_RESOURCE_MAX; i++) {
		bt_buf_printf(&status, ", example.com/r%d: '1'", i);
	}
	bt_buf_text(&status, "}}}");
	assert_int_equal(bt_ingest_node(f->cache, &fixture_read(f, status.ptr)->node, &node), BT_FULL);
	assert_true(bt_bitmap_test(snapshot_of(f)->live, node));
	assert_int_equal(snapshot_of(f)->alloc[BT_CPU][node], 1000);
	bt_buf_fini(&status);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_node_is_its_columns),
		FIXTURE_TEST(a_new_description_replaces_the_old_one),
		FIXTURE_TEST(a_removed_node_reads_as_zero_and_keeps_its_slot),
		FIXTURE_TEST(a_name_has_its_slot_before_its_node),
		FIXTURE_TEST(nodes_with_equal_taints_share_a_set),
		FIXTURE_TEST(label_columns_follow_the_nodes),
		FIXTURE_TEST(label_columns_grow_with_the_slots),
		FIXTURE_TEST(images_are_counted_by_node),
		FIXTURE_TEST(zones_take_turns),
		FIXTURE_TEST(one_name_in_two_regions_is_two_zones),
		FIXTURE_TEST(too_many_resource_names_are_said_and_the_node_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
