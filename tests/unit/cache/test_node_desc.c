/* SPDX-License-Identifier: Apache-2.0
 * Descriptions of nodes.
 */
#include "object_fixture.h"

#include "cache/node_desc.h"

/* A node as YAML: metadata besides its name, spec, status. */
struct words {
	const char *metadata, *spec, *status;
};

static struct bt_node_desc *describe(struct fixture *f, struct words words)
{
	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text,
		"{apiVersion: v1, kind: Node, metadata: {name: n1, %s}, spec: {%s}, status: {%s}}",
		words.metadata, words.spec, words.status);
	return bt_node_desc_create(f->cache->dictionary, &fixture_read(f, f->text.ptr)->node);
}

/* Are two nodes equal for decisions? out_actions: the actions of the change's event. */
static bool alike(struct fixture *f, struct words old, struct words new, uint32_t *out_actions)
{
	struct bt_node_desc *a = describe(f, old), *b = describe(f, new);
	struct bt_node_facts before, after;
	uint32_t actions[BT_CLUSTER_EVENT_ACTIONS], n;
	bool same = bt_node_desc_alike_but_images(a, b);

	assert_int_equal(bt_node_desc_alike_but_images(b, a), same);
	bt_node_facts_of(a, &f->arena, &before);
	bt_node_facts_of(b, &f->arena, &after);
	bt_node_desc_destroy(a);
	bt_node_desc_destroy(b);
	n = bt_node_facts_changes(bt_release_default(), &before, &after, actions);
	*out_actions = 0;
	for (uint32_t i = 0; i < n; i++) {
		*out_actions |= actions[i];
	}
	return same;
}

static void a_description_has_the_values_of_the_object(void **state)
{
	struct fixture *f = *state;
	struct bt_node_desc *d = describe(
		f, (struct words){"labels: {b: '2', a: '1', topology.kubernetes.io/zone: z}",
			   "unschedulable: true, taints: [{key: k2, effect: NoExecute}, {key: k1, value: v, "
			   "effect: "
			   "NoSchedule}]",
			   "allocatable: {memory: 1Gi, cpu: 1500m, pods: '7', storage: 1Ti, example.com/x: "
			   "'0'}, "
			   "images: [{names: [b, a, b], sizeBytes: 5}, {names: [a, c], sizeBytes: 9}]"});
	int x = bt_resource_find(f->cache->dictionary, bt_str("example.com/x"));

	assert_int_equal(d->name, fixture_name(f, "n1"));
	assert_true(d->unschedulable);
	assert_false(d->too_many_names);
	assert_int_equal(d->labels.n, 3);
	assert_int_equal(bt_labels_get(d->labels, fixture_name(f, "b")), fixture_name(f, "2"));
	assert_int_equal(d->taint_n, 2);
	assert_int_equal(d->taints[0].key, fixture_name(f, "k2"));
	assert_int_equal(d->taints[1].effect, BT_NAME_NO_SCHEDULE);
	assert_int_equal(d->alloc.n, 3);
	assert_int_equal(bt_amounts_get(d->alloc, BT_CPU), 1500);
	assert_int_equal(bt_amounts_get(d->alloc, BT_MEMORY), INT64_C(1) << 30);
	assert_int_equal(d->alloc.items[2].slot, x);
	assert_int_equal(d->alloc_pods, 7);
	assert_int_equal(d->zone_key, fixture_name(f, "z"));
	bt_node_desc_destroy(d);
}

static void new_resources_that_do_not_all_fit_are_left_out(void **state)
{
	struct fixture *f = *state;
	struct bt_buf list = {0};

	fixture_crowd(f, BT_RESOURCE_MAX - 9);
	bt_buf_text(&list, "allocatable: {cpu: '2'");
	for (uint32_t i = 0; i < 10; i++) {
		bt_buf_printf(&list, ", example.com/r%" PRIu32 ": '1'", i);
	}
	bt_buf_text(&list, "}");
	struct bt_node_desc *d = describe(f, (struct words){"", "", list.ptr});
	assert_true(d->too_many_names);
	assert_int_equal(d->alloc.n, 1);
	assert_int_equal(bt_amounts_get(d->alloc, BT_CPU), 2000);
	assert_int_equal(bt_resource_count(f->cache->dictionary), BT_RESOURCE_MAX - 9);
	bt_node_desc_destroy(d);
	bt_buf_fini(&list);
}

static void a_node_may_have_any_number_of_resources(void **state)
{
	struct fixture *f = *state;
	struct bt_buf list = {0};
	enum { N = 200 };

	/* Their slots are not in the node's order. */
	for (int i = N; i > 0; i -= 3) {
		char name[32];

		snprintf(name, sizeof(name), "example.com/r%d", i);
		bt_resource_slot(f->cache->dictionary, bt_str(name));
	}
	bt_buf_text(&list, "allocatable: {cpu: '2'");
	for (int i = 1; i <= N; i++) {
		bt_buf_printf(&list, ", example.com/r%d: '%d'", i, i);
	}
	bt_buf_text(&list, ", pods: '7'}");
	struct bt_node_desc *d = describe(f, (struct words){"", "", list.ptr});
	assert_false(d->too_many_names);
	assert_int_equal(d->alloc.n, N + 1);
	assert_int_equal(d->alloc_pods, 7);
	for (uint32_t i = 1; i <= N; i++) {
		struct bt_str name = bt_resource_name(f->cache->dictionary, d->alloc.items[i].slot);

		assert_true(d->alloc.items[i - 1].slot < d->alloc.items[i].slot);
		assert_int_equal(
			d->alloc.items[i].amount, strtol(name.ptr + strlen("example.com/r"), NULL, 10));
	}
	bt_node_desc_destroy(d);
	bt_buf_fini(&list);
}

static void an_image_has_the_size_of_its_first_entry(void **state)
{
	struct fixture *f = *state;
	struct bt_node_desc *d = describe(
		f, (struct words){"", "",
			   "images: [{names: [b, a, b], sizeBytes: 5}, {names: [a, c], sizeBytes: 9}]"});

	assert_int_equal(d->image_n, 3);
	for (uint32_t i = 0; i < d->image_n; i++) {
		assert_true(i == 0 || d->images[i - 1] < d->images[i]);
		assert_int_equal(d->image_bytes[i], d->images[i] == fixture_name(f, "c") ? 9 : 5);
	}
	bt_node_desc_destroy(d);
}

static void an_empty_node_has_a_description(void **state)
{
	struct bt_node_desc *d = describe(*state, (struct words){"", "", ""});

	assert_int_equal(d->labels.n + d->taint_n + d->image_n + d->alloc.n, 0);
	assert_int_equal(d->alloc_pods, 0);
	assert_int_equal(d->zone_key, 0);
	assert_true(bt_node_desc_alike_but_images(d, d));
	bt_node_desc_destroy(d);
}

struct row {
	struct words old, new;
	uint32_t actions; /* of the event */
};

static void a_heartbeat_is_alike_for_decisions_and_an_event_for_hints(void **state)
{
	static const struct row rows[] = {
		{{"", "", "conditions: [{type: Ready, status: 'True'}]"},
			{"", "", "conditions: [{type: Ready, status: 'False'}]"}, BT_UPDATE_NODE_CONDITION},
		{{"annotations: {a: b}", "", ""}, {"annotations: {a: c}", "", ""}, BT_UPDATE_NODE_ANNOTATION},
		{{"", "taints: [{key: k, effect: NoExecute, timeAdded: '2026-01-01T00:00:00Z'}]", ""},
			{"", "taints: [{key: k, effect: NoExecute, timeAdded: '2026-01-01T00:00:01Z'}]", ""},
			BT_UPDATE_NODE_TAINT},
		{{"", "", "declaredFeatures: [NobodyKnowsThis]"}, {"", "", ""},
			BT_UPDATE_NODE_DECLARED_FEATURE},
		/* Resources that the scheduler ignores, and less than a thousandth. */
		{{"", "", "allocatable: {storage: 1Gi}"}, {"", "", "allocatable: {storage: 2Gi}"},
			BT_UPDATE_NODE_ALLOCATABLE},
		{{"", "", "allocatable: {cpu: 999999u}"}, {"", "", "allocatable: {cpu: 1}"},
			BT_UPDATE_NODE_ALLOCATABLE},
		{{"labels: {a: b, c: d}", "", ""}, {"labels: {c: d, a: b}", "", ""}, 0},
		/* Images are compared one by one. */
		{{"", "", "images: [{names: [a, b], sizeBytes: 5}]"}, {"", "", ""}, 0},
		{{"resourceVersion: '1'", "", ""}, {"resourceVersion: '2'", "", ""}, 0},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint32_t actions;

		print_message("row %zu\n", i);
		assert_true(alike(*state, rows[i].old, rows[i].new, &actions));
		assert_int_equal(actions, rows[i].actions);
	}
}

static void every_other_field_that_decisions_read_changes_the_signature(void **state)
{
	static const struct row rows[] = {
		{{"labels: {a: b}", "", ""}, {"labels: {a: c}", "", ""}, BT_UPDATE_NODE_LABEL},
		{{"labels: {a: b}", "", ""}, {"", "", ""}, BT_UPDATE_NODE_LABEL},
		{{"", "unschedulable: true", ""}, {"", "", ""}, BT_UPDATE_NODE_TAINT},
		{{"", "", ""}, {"", "unschedulable: true", ""}, 0},
		{{"", "taints: [{key: k, effect: NoExecute}]", ""},
			{"", "taints: [{key: k, effect: NoSchedule}]", ""}, BT_UPDATE_NODE_TAINT},
		{{"", "taints: [{key: k, effect: NoExecute}, {key: l, effect: NoExecute}]", ""},
			{"", "taints: [{key: l, effect: NoExecute}, {key: k, effect: NoExecute}]", ""},
			BT_UPDATE_NODE_TAINT},
		{{"", "", "allocatable: {cpu: '1'}"}, {"", "", "allocatable: {cpu: '2'}"},
			BT_UPDATE_NODE_ALLOCATABLE},
		{{"", "", "allocatable: {pods: '1'}"}, {"", "", "allocatable: {pods: '2'}"},
			BT_UPDATE_NODE_ALLOCATABLE},
		{{"", "", "allocatable: {cpu: '1', example.com/x: '1'}"}, {"", "", "allocatable: {cpu: '1'}"},
			BT_UPDATE_NODE_ALLOCATABLE},
		{{"", "", "declaredFeatures: [RestartAllContainersOnContainerExits]"}, {"", "", ""},
			BT_UPDATE_NODE_DECLARED_FEATURE},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint32_t actions;

		print_message("row %zu\n", i);
		assert_false(alike(*state, rows[i].old, rows[i].new, &actions));
		assert_int_equal(actions, rows[i].actions);
	}
}

static uint32_t declared(const char *first, const char *second)
{
	struct bt_str names[] = {bt_str(first), bt_str(second)};

	return bt_features_declared(&(struct bt_str_list){.items = names, .n = 2});
}

/* Upstream's merge has passed them already. */
static void features_behind_a_later_name_are_not_seen(void **state)
{
	static const char restarts[] = "RestartAllContainersOnContainerExits",
			  *volumes = "VolumeBindMountOptions";

	(void)state;
	assert_int_equal(declared(restarts, volumes),
		BT_FEATURE_RESTART_ALL_CONTAINERS | BT_FEATURE_VOLUME_BIND_MOUNT_OPTIONS);
	assert_int_equal(declared(volumes, restarts), BT_FEATURE_VOLUME_BIND_MOUNT_OPTIONS);
	assert_int_equal(declared("NobodyKnowsThis", volumes), BT_FEATURE_VOLUME_BIND_MOUNT_OPTIONS);
	assert_int_equal(declared("Zebra", volumes), 0);
}

static void facts_outlive_the_description(void **state)
{
	struct fixture *f = *state;
	struct bt_node_desc *d =
		describe(f, (struct words){"labels: {a: b}", "taints: [{key: k, effect: NoExecute}]",
				    "allocatable: {cpu: '2', example.com/x: '0', pods: '3'}"});
	/* A name keeps its meaning while it is held. */
	uint32_t a = fixture_name(f, "a"), b = fixture_name(f, "b"), k = fixture_name(f, "k");
	struct bt_node_facts facts;

	bt_node_facts_of(d, &f->arena, &facts);
	bt_node_desc_destroy(d);
	assert_int_equal(facts.name, fixture_name(f, "n1"));
	assert_int_equal(bt_labels_get(facts.labels, a), b);
	assert_int_equal(facts.taint_n, 1);
	assert_int_equal(facts.taints[0].key, k);
	assert_int_equal(facts.alloc.n, 1); /* zeroes are left out */
	assert_int_equal(bt_amounts_get(facts.alloc, BT_CPU), 2000);
	assert_int_equal(facts.alloc_pods, 3);
}

static void names_go_with_the_last_description_that_has_them(void **state)
{
	struct fixture *f = *state;
	const struct bt_intern *intern = f->cache->dictionary->intern;
	const struct words words = {"labels: {a-key: a-value, b-key: shared}",
		"taints: [{key: t-key, value: shared, effect: NoExecute}]",
		"images: [{names: ['i:1', 'i:2', 'i:1'], sizeBytes: 5}]"};
	static const char *const names[] = {
		"n1", "a-key", "a-value", "b-key", "shared", "t-key", "i:1", "i:2"};
	struct bt_node_desc *one = describe(f, words), *two = describe(f, words);

	bt_node_desc_destroy(one);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		assert_int_not_equal(bt_intern_find(intern, bt_str(names[i])), BT_NAME_NONE);
	}
	bt_node_desc_defer(two);
	bt_rcu_drain();
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		assert_int_equal(bt_intern_find(intern, bt_str(names[i])), BT_NAME_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_description_has_the_values_of_the_object),
		FIXTURE_TEST(an_image_has_the_size_of_its_first_entry),
		FIXTURE_TEST(an_empty_node_has_a_description),
		FIXTURE_TEST(a_heartbeat_is_alike_for_decisions_and_an_event_for_hints),
		FIXTURE_TEST(every_other_field_that_decisions_read_changes_the_signature),
		FIXTURE_TEST(features_behind_a_later_name_are_not_seen),
		FIXTURE_TEST(facts_outlive_the_description),
		FIXTURE_TEST(names_go_with_the_last_description_that_has_them),
		FIXTURE_TEST(new_resources_that_do_not_all_fit_are_left_out),
		FIXTURE_TEST(a_node_may_have_any_number_of_resources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
