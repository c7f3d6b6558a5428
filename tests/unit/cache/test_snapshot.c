/* SPDX-License-Identifier: Apache-2.0
 * Nodes as columns.
 */
#include "object_fixture.h"

#include "engine/base/mem.h"
#include "engine/base/rcu.h"

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
	assert_int_equal(s->rooms[node].alloc[BT_CPU], 3500);
	assert_int_equal(s->rooms[node].alloc[BT_MEMORY], INT64_C(1) << 30);
	assert_int_equal(s->scalars[gpu][node], 2);
	assert_int_equal(s->rooms[node].pods, 7);
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
	assert_int_equal(s->rooms[node].alloc[BT_CPU], 2000);
	assert_int_equal(s->rooms[node].pods, 0);
	assert_int_equal(
		s->scalars[bt_resource_find(f->cache->dictionary, bt_str("example.com/x"))][node], 0);
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

	assert_int_equal(cache_remove_node(f->cache, bt_str("n1")), BT_OK);
	assert_false(bt_bitmap_test(s->live, node));
	assert_int_equal(s->node_n, 1);
	assert_int_equal(s->rooms[node].alloc[BT_CPU], 0);
	assert_int_equal(s->rooms[node].pods, 0);
	assert_int_equal(bt_snapshot_find(f->cache->snapshot, fixture_name(f, "n1")), BT_NO_NODE);
	assert_int_equal(bt_snapshot_find(f->cache->snapshot, fixture_name(f, "n2")), other);
	assert_int_equal(cache_remove_node(f->cache, bt_str("n1")), BT_NOT_FOUND);
	assert_int_equal(cache_remove_node(f->cache, bt_str("never")), BT_NOT_FOUND);
	assert_int_equal(fixture_node(f, "name: n1", "", ""), node);
}

static void a_name_has_its_slot_before_its_node(void **state)
{
	struct fixture *f = *state;
	uint32_t slot = bt_ledger_pod(f->cache->ledger, fixture_pod(f, "nodeName: later"))->node_ix;

	assert_int_equal(bt_snapshot_find(f->cache->snapshot, fixture_name(f, "later")), BT_NO_NODE);
	assert_int_equal(snapshot_of(f)->node_n, 0);
	assert_int_equal(fixture_node(f, "name: later", "", ""), slot);
}

static uint32_t enter_pod(struct fixture *f, const char *metadata, const char *spec, const char *status)
{
	uint32_t ix = BT_NO_POD;

	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text, "{apiVersion: v1, kind: Pod, metadata: {%s}, spec: {%s}, status: {%s}}",
		metadata, spec, status);
	assert_int_equal(cache_enter_pod(f->cache, &fixture_read(f, f->text.ptr)->pod, &ix), BT_OK);
	return ix;
}

static void the_nodes_that_pods_name_get_slots(void **state)
{
	struct fixture *f = *state;
	const struct bt_ledger *ledger = f->cache->ledger;
	const struct bt_pod *on =
		bt_ledger_pod(ledger, enter_pod(f, "name: a", "nodeName: n1", "nominatedNodeName: n2"));
	assert_int_equal(on->node_ix, 0);
	assert_int_equal(on->status_ix, BT_NO_NODE); /* the nomination does not count any more */
	const struct bt_pod *nominated =
		bt_ledger_pod(ledger, enter_pod(f, "name: b", "", "nominatedNodeName: n3"));
	assert_int_equal(nominated->node_ix, BT_NO_NODE);
	assert_int_equal(nominated->status_ix, 1);
	const struct bt_pod *waits = bt_ledger_pod(ledger, enter_pod(f, "name: c", "", ""));
	assert_int_equal(waits->node_ix, BT_NO_NODE);
	assert_int_equal(waits->status_ix, BT_NO_NODE);
	assert_int_equal(fixture_node(f, "name: n4", "", ""), 2);
	assert_int_equal(fixture_node(f, "name: n3", "", ""), 1);
}

#define CROWD 70
#define MANY  600

static void come_and_go(struct fixture *f, const char *what, int n)
{
	char name[32], meta[64];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s-%d", what, i);
		snprintf(meta, sizeof(meta), "name: %s, labels: {a: b}", name);
		fixture_node(f, meta, "taints: [{key: k, effect: NoSchedule}]",
			"allocatable: {cpu: '4', pods: '7'}, images: [{names: [i], sizeBytes: 9}]");
		assert_int_equal(cache_remove_node(f->cache, bt_str(name)), BT_OK);
	}
}

/* Nodes that stay, so that others do not move. */
static void stay(struct fixture *f, int n)
{
	char name[32];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "name: stays-%d", i);
		fixture_node(f, name, "", "allocatable: {cpu: '4', pods: '7'}");
	}
}

static void slots_of_deleted_nodes_are_reused(void **state)
{
	struct fixture *f = *state;
	const struct bt_snapshot *s = snapshot_of(f);

	come_and_go(f, "old", 3);
	come_and_go(f, "more", CROWD);
	stay(f, 3 + CROWD - 1);
	assert_int_equal(fixture_node(f, "name: last", "", ""), 2 * (3 + CROWD) - 1);
	bt_cache_vacate_slots(f->cache);
	assert_int_equal(s->slot_n, 2 * (3 + CROWD));
	assert_int_equal(s->nodes[0].name, BT_NAME_NONE);
	uint64_t version = s->version;
	uint32_t slot = fixture_node(f, "name: fresh", "", "");
	assert_int_equal(slot, 0);
	assert_true(s->version > version);
	assert_int_equal(s->nodes[slot].name, fixture_name(f, "fresh"));
	assert_int_equal(s->nodes[slot].taint_set, 0);
	assert_int_equal(s->nodes[slot].image_n, 0);
	assert_int_equal(s->rooms[slot].alloc[BT_CPU], 0);
	assert_int_equal(s->rooms[slot].pods, 0);
	assert_int_equal(
		bt_snapshot_label_column(f->cache->snapshot, fixture_name(f, "a"))[slot], BT_NAME_NONE);
	assert_int_equal(bt_snapshot_find(f->cache->snapshot, fixture_name(f, "old-0")), BT_NO_NODE);
	assert_int_equal(bt_snapshot_order(f->cache->snapshot)[3 + CROWD], slot);
	/* One of the deleted ones is back. */
	assert_int_equal(fixture_node(f, "name: old-2", "", ""), 1);
	assert_int_equal(s->slot_n, 2 * (3 + CROWD));
}

static void slots_behind_the_last_node_are_there_no_more(void **state)
{
	struct fixture *f = *state;
	const struct bt_snapshot *s = snapshot_of(f);

	stay(f, MANY);
	come_and_go(f, "gone", MANY);
	fixture_node(f, "name: last", "", "allocatable: {cpu: '5', pods: '8'}");
	bt_cache_vacate_slots(f->cache);
	assert_int_equal(s->slot_n, 2 * MANY + 1);
	assert_int_equal(cache_remove_node(f->cache, bt_str("last")), BT_OK);
	come_and_go(f, "more", MANY / 2);
	uint64_t version = s->version;
	bt_cache_vacate_slots(f->cache);
	assert_int_equal(s->slot_n, MANY);
	assert_true(s->version > version);
	assert_int_equal(s->rooms[0].alloc[BT_CPU], 4000);
	assert_int_equal(s->rooms[0].pods, 7);
	assert_int_equal(s->nodes[0].name, fixture_name(f, "stays-0"));
	/* They are created again, empty. */
	for (uint32_t i = MANY; i < 2 * MANY; i++) {
		char meta[32];

		snprintf(meta, sizeof(meta), "name: new-%" PRIu32, i);
		assert_int_equal(fixture_node(f, meta, "", ""), i);
		assert_int_equal(s->rooms[i].alloc[BT_CPU], 0);
		assert_int_equal(s->rooms[i].pods, 0);
		assert_int_equal(bt_ledger_usage(f->cache->ledger)->nodes[i].pod_n, 0);
	}
	assert_int_equal(bt_snapshot_order(f->cache->snapshot)[2 * MANY - 1], 2 * MANY - 1);
}

static void few_slots_among_many_are_left_as_they_are(void **state)
{
	struct fixture *f = *state;

	stay(f, 100);
	come_and_go(f, "gone", 12);
	bt_cache_vacate_slots(f->cache);
	assert_int_not_equal(snapshot_of(f)->nodes[100].name, BT_NAME_NONE);
	come_and_go(f, "more", 3);
	bt_cache_vacate_slots(f->cache);
	assert_int_equal(snapshot_of(f)->nodes[100].name, BT_NAME_NONE);
}

static void names_end_with_their_slots(void **state)
{
	struct fixture *f = *state;
	const struct bt_intern *intern = f->cache->dictionary->intern;

	come_and_go(f, "gone", CROWD);
	assert_int_not_equal(bt_intern_find(intern, bt_str("gone-5")), BT_NAME_NONE);
	bt_cache_vacate_slots(f->cache);
	bt_rcu_drain();
	assert_int_equal(bt_intern_find(intern, bt_str("gone-5")), BT_NAME_NONE);
}

static void a_slot_stays_with_the_pods_that_name_it(void **state)
{
	struct fixture *f = *state;
	struct bt_ledger *ledger = f->cache->ledger;
	uint32_t on = enter_pod(f, "name: a", "nodeName: before", "");
	uint32_t nominee = enter_pod(f, "name: b", "", "nominatedNodeName: told");
	uint32_t nominated = enter_pod(f, "name: c", "", "");
	uint32_t left = fixture_node(f, "name: left", "", "");

	bt_ledger_nominate(ledger, nominated, left);
	cache_remove_node(f->cache, bt_str("left"));
	come_and_go(f, "gone", CROWD);
	bt_cache_vacate_slots(f->cache);
	const struct bt_snapshot *s = snapshot_of(f);
	assert_int_equal(s->nodes[bt_ledger_pod(ledger, on)->node_ix].name, fixture_name(f, "before"));
	assert_int_equal(s->nodes[bt_ledger_pod(ledger, nominee)->status_ix].name, fixture_name(f, "told"));
	assert_int_equal(s->nodes[left].name, fixture_name(f, "left"));
	/* Without them they are deleted. */
	bt_ledger_remove(ledger, on);
	bt_ledger_set_status_node(ledger, nominee, BT_NAME_NONE, BT_NO_NODE);
	bt_ledger_nominate(ledger, nominated, BT_NO_NODE);
	come_and_go(f, "also", CROWD);
	bt_cache_vacate_slots(f->cache);
	for (uint32_t slot = 0; slot < s->slot_n; slot++) {
		assert_int_equal(s->nodes[slot].name, BT_NAME_NONE);
	}
}

static void slots_are_bounded_by_what_is_there(void **state)
{
	struct fixture *f = *state;
	char name[32];

	/* Each lives while a hundred others are added. */
	for (int i = 0; i < 5000; i++) {
		bt_cache_vacate_slots(f->cache);
		snprintf(name, sizeof(name), "name: n%d", i);
		fixture_node(f, name, "", "");
		if (i >= 100) {
			snprintf(name, sizeof(name), "n%d", i - 100);
			cache_remove_node(f->cache, bt_str(name));
		}
	}
	assert_int_equal(snapshot_of(f)->node_n, 100);
	assert_in_range(snapshot_of(f)->slot_n, 100, 120);
}

static void add_in_zone(struct fixture *f, uint32_t number, uint32_t zone)
{
	char meta[96];

	snprintf(meta, sizeof(meta),
		"name: n%" PRIu32 ", labels: {topology.kubernetes.io/zone: z%" PRIu32 "}", number, zone);
	fixture_node(f, meta, "", "images: [{names: [i], sizeBytes: 9}]");
}

/* The names of the live nodes in order. */
static void list_order(struct fixture *f, uint32_t *out_names)
{
	const uint32_t *order = bt_snapshot_order(f->cache->snapshot);

	for (uint32_t i = 0; i < snapshot_of(f)->node_n; i++) {
		out_names[i] = snapshot_of(f)->nodes[order[i]].name;
	}
}

static void nodes_that_are_moved_keep_their_place_in_the_order(void **state)
{
	struct fixture *f = *state;
	struct bt_snapshot_writer *w = f->cache->snapshot;
	uint32_t before[20], after[20], images = fixture_name(f, "i");
	char name[16];

	for (uint32_t i = 0; i < 20; i++) {
		add_in_zone(f, i, i % 3);
	}
	for (uint32_t i = 0; i < 13; i++) {
		snprintf(name, sizeof(name), "n%" PRIu32, i);
		assert_int_equal(cache_remove_node(f->cache, bt_str(name)), BT_OK);
	}
	list_order(f, before);
	/* As upstream, a changed zone counts only after some node is added or removed. */
	add_in_zone(f, 19, 2);
	assert_non_null(bt_snapshot_image_nodes(w, images));
	bt_cache_vacate_slots(f->cache);
	assert_int_equal(bt_snapshot_move_n(w), 7);
	assert_int_equal(snapshot_of(f)->slot_n, 7);
	list_order(f, after);
	assert_memory_equal(before, after, 7 * sizeof(*before));
	/* The same nodes have the image. */
	assert_int_equal(bt_snapshot_image_nodes(w, images)[0], 0x7f);
	add_in_zone(f, 20, 0);
	list_order(f, after);
	assert_memory_not_equal(before, after, 7 * sizeof(*before));
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
	/* In place: readers' column changes. */
	fixture_node(f, "name: b, labels: {zone: z}", "", "");
	assert_int_equal(column[b], fixture_name(f, "z"));
	assert_ptr_equal(bt_snapshot_label_column(f->cache->snapshot, key), column);
	cache_remove_node(f->cache, bt_str("a"));
	assert_int_equal(bt_snapshot_label_column(f->cache->snapshot, key)[a], BT_NAME_NONE);
}

static void nodes_that_change_come_and_go_keep_the_layout(void **state)
{
	struct fixture *f = *state;
	const struct bt_snapshot *snapshot = bt_snapshot_view(f->cache->snapshot);
	uint32_t a = fixture_node(f, "name: a, labels: {zone: x}", "", "");
	uint64_t layout = snapshot->layout_version, version = snapshot->version, end = snapshot->changes_end;
	uint64_t journal_end = f->cache->view.usage->journal_end;

	fixture_node(f, "name: a, labels: {zone: w}", "", "");
	assert_int_equal(snapshot->layout_version, layout);
	assert_int_equal(snapshot->version, version + 1);
	assert_int_equal(snapshot->changes_end, end + 1);
	assert_int_equal(snapshot->changes[end & snapshot->changes_mask], a);
	assert_int_equal(f->cache->view.usage->journal_end, journal_end + 1);
	uint64_t live = snapshot->live_version;
	uint32_t b = fixture_node(f, "name: b", "", "");
	/* Once for the slot, once for the node. */
	assert_int_equal(snapshot->changes_end, end + 3);
	assert_int_equal(snapshot->changes[(end + 2) & snapshot->changes_mask], b);
	assert_int_equal(snapshot->live_version, live + 1);
	assert_int_equal(f->cache->view.usage->journal_end, journal_end + 2);
	cache_remove_node(f->cache, bt_str("a"));
	assert_int_equal(snapshot->changes_end, end + 4);
	assert_int_equal(snapshot->changes[(end + 3) & snapshot->changes_mask], a);
	assert_int_equal(snapshot->live_version, live + 2);
	assert_int_equal(f->cache->view.usage->journal_end, journal_end + 3);
	assert_int_equal(snapshot->layout_version, layout);
}

static void a_new_layout_has_room_for_more_slots(void **state)
{
	struct fixture *f = *state;
	const struct bt_snapshot *snapshot = bt_snapshot_view(f->cache->snapshot);
	uint64_t layout = 0, layouts = 0;
	char text[64];

	for (uint32_t i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), "name: n%u", i);
		fixture_node(f, text, "", "");
		assert_true(snapshot->slot_n <= snapshot->slot_room);
		assert_true(snapshot->slot_room <= snapshot->slot_n + snapshot->slot_n / 32 + 128);
		layouts += snapshot->layout_version != layout;
		layout = snapshot->layout_version;
	}
	assert_in_range(layouts, 5, 40);
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

static const struct bt_image *image_named(struct fixture *f, const char *name)
{
	const struct bt_snapshot *snapshot = snapshot_of(f);

	for (uint32_t i = 0; i < snapshot->image_n; i++) {
		if (snapshot->images[i].name == fixture_name(f, name)) {
			return &snapshot->images[i];
		}
	}
	fail_msg("no image %s", name);
	return NULL;
}

static void images_are_counted_by_node(void **state)
{
	struct fixture *f = *state;

	fixture_node(f, "name: a", "", "images: [{names: [img, alias, img], sizeBytes: 5}]");
	fixture_node(f, "name: b", "", "images: [{names: [img], sizeBytes: 9}]");
	const struct bt_image *image = image_named(f, "img");
	assert_int_equal(image->node_n, 2);
	assert_int_equal(image->size_bytes, 5); /* from the first node */
	cache_remove_node(f->cache, bt_str("a"));
	assert_int_equal(image_named(f, "img")->node_n, 1);
}

static void a_heartbeat_leaves_the_version(void **state)
{
	struct fixture *f = *state;
	static const char *const spec = "taints: [{key: k, effect: NoExecute}]";
	uint32_t node = fixture_node(f, "name: n1, labels: {a: b}", spec,
		"images: [{names: [i], sizeBytes: 5}], conditions: [{type: Ready, status: 'True'}]");
	const struct bt_node_desc *old = bt_snapshot_desc(f->cache->snapshot, node);
	uint64_t version = snapshot_of(f)->version;

	fixture_node(f, "name: n1, labels: {a: b}", spec,
		"images: [{names: [i], sizeBytes: 5}], conditions: [{type: Ready, status: 'False'}]");
	assert_int_equal(snapshot_of(f)->version, version);
	/* The data is the new description's: the old one was freed. */
	const struct bt_node_desc *new = bt_snapshot_desc(f->cache->snapshot, node);
	assert_ptr_not_equal(new, old);
	assert_ptr_equal(snapshot_of(f)->nodes[node].labels.items, new->labels.items);
	assert_ptr_equal(snapshot_of(f)->nodes[node].images, new->images);
	assert_int_equal(snapshot_of(f)->images[0].node_n, 1);
	cache_remove_node(f->cache, bt_str("n1"));
	assert_true(snapshot_of(f)->version > version);
	assert_null(bt_snapshot_desc(f->cache->snapshot, node));
	fixture_node(f, "name: n1, labels: {a: b}", spec, "");
	assert_int_equal(snapshot_of(f)->node_n, 1);
}

/* Which of the first three nodes have the image. */
static uint32_t having(struct fixture *f, const char *name)
{
	const uint64_t *nodes = bt_snapshot_image_nodes(f->cache->snapshot, fixture_name(f, name));

	return nodes ? (uint32_t)*nodes & 7 : 0;
}

static void the_nodes_of_an_image_are_known_and_kept_up_to_date(void **state)
{
	struct fixture *f = *state;

	assert_null(bt_snapshot_image_nodes(f->cache->snapshot, fixture_name(f, "img")));
	fixture_node(f, "name: a", "", "images: [{names: [img, alias], sizeBytes: 5}]");
	fixture_node(f, "name: b", "", "images: [{names: [other], sizeBytes: 9}]");
	fixture_node(f, "name: c", "", "images: [{names: [a1, img, z1], sizeBytes: 9}]");
	assert_int_equal(having(f, "img"), 5);
	assert_int_equal(having(f, "other"), 2);
	assert_int_equal(having(f, "none"), 0);
	fixture_node(f, "name: b", "", "images: [{names: [img], sizeBytes: 9}]");
	fixture_node(f, "name: a", "", "images: []");
	assert_int_equal(having(f, "img"), 6);
	assert_null(bt_snapshot_image_nodes(f->cache->snapshot, fixture_name(f, "other")));
	bt_snapshot_forget_columns(f->cache->snapshot);
	assert_int_equal(having(f, "img"), 6);
	for (int i = 0; i < 200; i++) {
		char name[32];

		snprintf(name, sizeof(name), "name: more-%d", i);
		fixture_node(f, name, "", "images: [{names: [img], sizeBytes: 9}]");
	}
	assert_int_equal(having(f, "img"), 6);
	assert_int_equal(bt_bitmap_count(bt_snapshot_image_nodes(f->cache->snapshot, fixture_name(f, "img")),
				 snapshot_of(f)->slot_n),
		202);
}

#define CATALOGUE 20 /* images, of which node i has every one whose number divides i */

static void assert_bitmaps(struct fixture *f, uint32_t node_n, uint32_t first)
{
	for (uint32_t k = 0; k < CATALOGUE; k++) {
		char name[32];

		snprintf(name, sizeof(name), "image-%u", (first + k) % CATALOGUE + 1);
		const uint64_t *nodes = bt_snapshot_image_nodes(f->cache->snapshot, fixture_name(f, name));
		for (uint32_t i = 0; i < node_n; i++) {
			assert_int_equal(bt_bitmap_test(nodes, i), i % ((first + k) % CATALOGUE + 1) == 0);
		}
	}
}

/* The first images have a walk over the nodes each, the others one together. */
static void the_nodes_of_many_images_are_found_in_any_order(void **state)
{
	struct fixture *f = *state;
	struct bt_buf images = {0};

	for (uint32_t i = 0; i < 100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "name: n%u", i);
		bt_buf_clear(&images);
		bt_buf_text(&images, "images: [");
		for (uint32_t k = 1; k <= CATALOGUE; k++) {
			if (i % k == 0) {
				bt_buf_printf(&images, "{names: [image-%u], sizeBytes: 5},", (unsigned)k);
			}
		}
		bt_buf_text(&images, "]");
		bt_buf_char(&images, '\0');
		assert_int_equal(fixture_node(f, name, "", images.ptr), i);
	}
	bt_buf_fini(&images);
	for (uint32_t first = 0; first < CATALOGUE; first += 7) {
		assert_bitmaps(f, 100, first);
		bt_snapshot_forget_columns(f->cache->snapshot);
	}
	/* A bitmap that was there before the others stays up to date. */
	assert_bitmaps(f, 100, 0);
	fixture_node(f, "name: n1", "", "images: [{names: [image-1, image-20], sizeBytes: 5}]");
	const uint64_t *nodes = bt_snapshot_image_nodes(f->cache->snapshot, fixture_name(f, "image-20"));
	assert_true(bt_bitmap_test(nodes, 1));
	assert_int_equal(bt_bitmap_count(nodes, 100), 6);
}

static void nodes_that_are_unschedulable_are_counted(void **state)
{
	struct fixture *f = *state;

	fixture_node(f, "name: a", "unschedulable: true", "");
	fixture_node(f, "name: b", "unschedulable: true", "");
	fixture_node(f, "name: c", "", "");
	assert_int_equal(snapshot_of(f)->unschedulable_n, 2);
	fixture_node(f, "name: a", "", "");
	assert_int_equal(snapshot_of(f)->unschedulable_n, 1);
	cache_remove_node(f->cache, bt_str("b"));
	assert_int_equal(snapshot_of(f)->unschedulable_n, 0);
}

static void an_image_keeps_the_size_of_the_first_node_while_one_has_it(void **state)
{
	struct fixture *f = *state;

	fixture_node(f, "name: a", "", "images: [{names: [img], sizeBytes: 5}]");
	fixture_node(f, "name: b", "", "images: [{names: [img], sizeBytes: 9}]");
	fixture_node(f, "name: a", "", "images: [{names: [img], sizeBytes: 7}]");
	assert_int_equal(snapshot_of(f)->images[0].size_bytes, 5);
	cache_remove_node(f->cache, bt_str("b"));
	assert_int_equal(snapshot_of(f)->images[0].size_bytes, 5);
	fixture_node(f, "name: a", "", "images: [{names: [img], sizeBytes: 8}]");
	assert_int_equal(snapshot_of(f)->images[0].size_bytes, 8);
}

static uint64_t stamp_of(struct fixture *f, const char *image)
{
	return snapshot_of(f)->image_stamps[fixture_name(f, image) % BT_IMAGE_STAMPS];
}

static void a_change_of_images_leaves_the_version_and_stamps_those_that_changed(void **state)
{
	struct fixture *f = *state;

	fixture_node(f, "name: a", "", "images: [{names: [i, j, k], sizeBytes: 5}]");
	uint32_t b = fixture_node(f, "name: b", "", "images: [{names: [j, k], sizeBytes: 5}]");
	const struct bt_snapshot *s = snapshot_of(f);
	uint64_t version = s->version, i = stamp_of(f, "i"), j = stamp_of(f, "j"), k = stamp_of(f, "k");
	/* k is unchanged, and j's other size does not count: it is not the first. */
	fixture_node(f, "name: b", "",
		"images: [{names: [i, k], sizeBytes: 5}, {names: [j], sizeBytes: 6}, {names: [l], "
		"sizeBytes: 7}]");
	assert_int_equal(s->version, version);
	assert_int_equal(s->nodes[b].image_n, 4);
	assert_true(stamp_of(f, "i") > i && stamp_of(f, "l") > i);
	assert_int_equal(stamp_of(f, "j"), j);
	assert_int_equal(stamp_of(f, "k"), k);
	assert_in_range(stamp_of(f, "l"), 1, s->image_version);
	/* The size from the only node does. */
	uint64_t l = stamp_of(f, "l");
	fixture_node(
		f, "name: b", "", "images: [{names: [i, k, j], sizeBytes: 5}, {names: [l], sizeBytes: 8}]");
	assert_true(stamp_of(f, "l") > l);
	assert_int_equal(s->images[3].size_bytes, 8);
	fixture_node(f, "name: b", "", "images: [{names: [i, j, l], sizeBytes: 8}]");
	assert_true(stamp_of(f, "k") > k);
	assert_int_equal(stamp_of(f, "j"), j);
	assert_int_equal(s->version, version);
}

static void taints_zones_and_images_without_nodes_are_freed(void **state)
{
	struct fixture *f = *state;
	char spec[96], status[96], metadata[96];

	fixture_node(f, "name: stays", "taints: [{key: k, effect: NoExecute}]",
		"images: [{names: [common], sizeBytes: 3}]");
	for (int i = 0; i < 50; i++) {
		snprintf(metadata, sizeof(metadata), "name: n1, labels: {topology.kubernetes.io/zone: z%d}",
			i);
		snprintf(spec, sizeof(spec), "taints: [{key: k%d, effect: NoExecute}]", i);
		snprintf(status, sizeof(status), "images: [{names: [common, i%d], sizeBytes: %d}]", i, i);
		fixture_node(f, metadata, spec, status);
	}
	const struct bt_snapshot *s = snapshot_of(f);
	assert_in_range(s->taint_set_n, 3, 4);
	assert_in_range(s->image_n, 2, 3);
	/* The newest one and the one that was there all the time are intact. */
	const struct bt_taint_set *set = &s->taint_sets[s->nodes[1].taint_set];
	assert_int_equal(set->n, 1);
	assert_int_equal(set->items[0].key, fixture_name(f, "k49"));
	set = &s->taint_sets[s->nodes[0].taint_set];
	assert_int_equal(set->items[0].key, fixture_name(f, "k"));
	uint32_t found_n = 0;
	for (uint32_t i = 0; i < s->image_n; i++) {
		const struct bt_image *image = &s->images[i];

		found_n += image->node_n != 0;
		if (image->name == fixture_name(f, "common")) {
			assert_int_equal(image->node_n, 2);
			assert_int_equal(image->size_bytes, 3);
		} else if (image->name == fixture_name(f, "i49")) {
			assert_int_equal(image->node_n, 1);
			assert_int_equal(image->size_bytes, 49);
		}
	}
	assert_int_equal(found_n, 2);
}

/* One of NODES nodes gets one of VALUES labels, zones, taints and images each, or is deleted. */
#define NODES  100
#define VALUES 64

static void flap(struct fixture *f, uint32_t i)
{
	const uint32_t of = i * 7919 / NODES % VALUES;
	char name[16], zone[16], turn[16], values[3][16], image_name[16];

	snprintf(name, sizeof(name), "n%u", i % NODES);
	snprintf(zone, sizeof(zone), "zone-%u", of % 9);
	snprintf(turn, sizeof(turn), "turn-%u", of);
	/* A few values make many sets. */
	for (uint32_t t = 0, rest = i; t < COUNT_OF(values); t++, rest /= VALUES) {
		snprintf(values[t], sizeof(values[t]), "value-%u", rest % VALUES);
	}
	snprintf(image_name, sizeof(image_name), "image-%u", (i + 2 * of) % VALUES);
	if (i % 17 == 5) {
		cache_remove_node(f->cache, bt_str(name));
		return;
	}
	struct bt_str names[] = {bt_str(image_name)};
	struct bt_str_pair labels[] = {
		{bt_str("topology.kubernetes.io/zone"), bt_str(zone)}, {bt_str("turn"), bt_str(turn)}};
	struct bt_taint_object taints[3];
	for (uint32_t t = 0; t < COUNT_OF(taints); t++) {
		taints[t] = (struct bt_taint_object){.key = bt_str(values[t]),
			.value = bt_str(values[2 - t]),
			.effect = bt_str("NoSchedule")};
	}
	struct bt_image_object image = {.names = {.items = names, .n = 1}, .size_bytes = 5};
	const struct bt_node_object node = {
		.meta = {.name = bt_str(name), .labels = {.items = labels, .n = 2}},
		.taints = taints,
		.taint_n = of % 4,
		.images = &image,
		.image_n = of % 3 != 0,
	};
	uint32_t slot;
	assert_int_equal(cache_show_node(f->cache, &node, &slot), BT_OK);
	bt_snapshot_label_column(f->cache->snapshot, fixture_name(f, "turn"));
	bt_snapshot_order(f->cache->snapshot);
}

static void memory_stays_when_nodes_flap(void **state)
{
	struct fixture *f = *state;
	uint32_t i = 0;

	for (; i < 20000; i++) {
		flap(f, i);
	}
	size_t before = bt_mem_in_use_bytes();
	for (; i < 100000; i++) {
		flap(f, i);
	}
	size_t after = bt_mem_in_use_bytes();
	if (after > before + 64 * 1024) {
		fail_msg("%zu bytes were in use, and are %zu", before, after);
	}
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
	/* A zone that was empty comes last when it is back. */
	cache_remove_node(f->cache, bt_str("b1"));
	assert_order(f, "a1 x a2 a3");
	fixture_node(f, "name: b1, labels: {topology.kubernetes.io/zone: B}", "", "");
	assert_order(f, "a1 x b1 a2 a3");
	/* A node that changes its zone keeps its place until a node is added or removed. */
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

static void too_many_resource_names_are_reported_and_the_node_is_added(void **state)
{
	struct fixture *f = *state;
	struct bt_buf status = {0};
	uint32_t node;

	fixture_crowd(f, BT_RESOURCE_MAX - 1);
	bt_buf_text(&status,
		"{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: '1'");
	for (int i = 0; i < 2; i++) {
		bt_buf_printf(&status, ", example.com/r%d: '1'", i);
	}
	bt_buf_text(&status, "}}}");
	assert_int_equal(cache_show_node(f->cache, &fixture_read(f, status.ptr)->node, &node), BT_FULL);
	assert_true(bt_bitmap_test(snapshot_of(f)->live, node));
	assert_int_equal(snapshot_of(f)->rooms[node].alloc[BT_CPU], 1000);
	bt_buf_fini(&status);
}

static int64_t allocatable(struct fixture *f, const char *name, uint32_t node)
{
	int slot = bt_resource_find(f->cache->dictionary, bt_str(name));

	assert_true(slot >= 0);
	return bt_node_alloc(snapshot_of(f), (uint32_t)slot, node);
}

static void rare_resources_follow_their_nodes(void **state)
{
	struct fixture *f = *state;
	char metadata[32], status[128];

	fixture_crowd(f, BT_FIRST_RARE - 1);
	uint32_t plain = fixture_node(f, "name: plain", "", "allocatable: {cpu: '1', e.com/last: '3'}");
	assert_null(snapshot_of(f)->rare);
	/* Many, so that the columns grow. */
	for (uint32_t i = 0; i < 200; i++) {
		snprintf(metadata, sizeof(metadata), "name: n%" PRIu32, i);
		snprintf(status, sizeof(status),
			"allocatable: {e.com/own-%" PRIu32 ": '%" PRIu32 "', cpu: '2', e.com/all: '7'}", i,
			i + 1);
		uint32_t node = fixture_node(f, metadata, "", status);
		snprintf(status, sizeof(status), "e.com/own-%" PRIu32, i);
		assert_int_equal(allocatable(f, status, node), i + 1);
		assert_int_equal(allocatable(f, status, plain), 0);
	}
	uint32_t third = bt_snapshot_find(f->cache->snapshot, fixture_name(f, "n3"));
	assert_int_equal(allocatable(f, "e.com/last", plain), 3);
	assert_int_equal(allocatable(f, "e.com/own-3", third), 4);
	assert_int_equal(allocatable(f, "e.com/own-4", third), 0);
	assert_int_equal(allocatable(f, "e.com/all", third), 7);
	assert_int_equal(allocatable(f, "cpu", third), 2000);
	/* The node loses one of them, gets another one, and is deleted. */
	fixture_node(f, "name: n3", "", "allocatable: {e.com/all: '8', e.com/own-4: '1'}");
	assert_int_equal(allocatable(f, "e.com/own-3", third), 0);
	assert_int_equal(allocatable(f, "e.com/own-4", third), 1);
	assert_int_equal(allocatable(f, "e.com/all", third), 8);
	fixture_node(f, "name: n3", "", "allocatable: {cpu: '1'}");
	assert_int_equal(allocatable(f, "e.com/all", third), 0);
	fixture_node(f, "name: n3", "", "allocatable: {e.com/all: '8'}");
	assert_int_equal(cache_remove_node(f->cache, bt_str("n3")), BT_OK);
	assert_int_equal(allocatable(f, "e.com/all", third), 0);
}

static void rare_resources_outlive_the_description_that_a_heartbeat_replaces(void **state)
{
	struct fixture *f = *state;
	static const char status[] = "allocatable: {cpu: '1', e.com/a: '2', e.com/b: '3'}";

	fixture_crowd(f, BT_FIRST_RARE);
	uint32_t node = fixture_node(f, "name: n1, annotations: {beat: '1'}", "", status);
	const struct bt_amount *before = snapshot_of(f)->rare[node].amounts.items;
	uint64_t version = snapshot_of(f)->version;
	fixture_node(f, "name: n1, annotations: {beat: '2'}", "", status);
	bt_rcu_drain();
	assert_int_equal(snapshot_of(f)->version, version);
	assert_ptr_not_equal(snapshot_of(f)->rare[node].amounts.items, before);
	assert_int_equal(allocatable(f, "e.com/a", node), 2);
	assert_int_equal(allocatable(f, "e.com/b", node), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_node_is_its_columns),
		FIXTURE_TEST(rare_resources_follow_their_nodes),
		FIXTURE_TEST(rare_resources_outlive_the_description_that_a_heartbeat_replaces),
		FIXTURE_TEST(a_new_description_replaces_the_old_one),
		FIXTURE_TEST(a_removed_node_reads_as_zero_and_keeps_its_slot),
		FIXTURE_TEST(a_name_has_its_slot_before_its_node),
		FIXTURE_TEST(the_nodes_that_pods_name_get_slots),
		FIXTURE_TEST(slots_of_deleted_nodes_are_reused),
		FIXTURE_TEST(slots_behind_the_last_node_are_there_no_more),
		FIXTURE_TEST(few_slots_among_many_are_left_as_they_are),
		FIXTURE_TEST(names_end_with_their_slots),
		FIXTURE_TEST(a_slot_stays_with_the_pods_that_name_it),
		FIXTURE_TEST(slots_are_bounded_by_what_is_there),
		FIXTURE_TEST(nodes_that_are_moved_keep_their_place_in_the_order),
		FIXTURE_TEST(nodes_with_equal_taints_share_a_set),
		FIXTURE_TEST(label_columns_follow_the_nodes),
		FIXTURE_TEST(nodes_that_change_come_and_go_keep_the_layout),
		FIXTURE_TEST(a_new_layout_has_room_for_more_slots),
		FIXTURE_TEST(label_columns_grow_with_the_slots),
		FIXTURE_TEST(the_nodes_of_an_image_are_known_and_kept_up_to_date),
		FIXTURE_TEST(the_nodes_of_many_images_are_found_in_any_order),
		FIXTURE_TEST(nodes_that_are_unschedulable_are_counted),
		FIXTURE_TEST(images_are_counted_by_node),
		FIXTURE_TEST(a_heartbeat_leaves_the_version),
		FIXTURE_TEST(an_image_keeps_the_size_of_the_first_node_while_one_has_it),
		FIXTURE_TEST(a_change_of_images_leaves_the_version_and_stamps_those_that_changed),
		FIXTURE_TEST(taints_zones_and_images_without_nodes_are_freed),
		FIXTURE_TEST(memory_stays_when_nodes_flap),
		FIXTURE_TEST(zones_take_turns),
		FIXTURE_TEST(one_name_in_two_regions_is_two_zones),
		FIXTURE_TEST(too_many_resource_names_are_reported_and_the_node_is_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
