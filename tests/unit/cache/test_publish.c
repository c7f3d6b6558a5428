/* SPDX-License-Identifier: Apache-2.0
 * Versions of the nodes: visibility, reuse of slots, and results of deltas.
 */
#include "object_fixture.h"

#include "cache/publish.h"

/* Describes a node; pods distinguishes descriptions. */
static struct bt_delta describe(struct fixture *f, const char *name, int64_t pods)
{
	struct bt_named_quantity amount = {.name = bt_str("pods")};
	const struct bt_node_object node = {
		.meta.name = bt_str(name), .allocatable = {.items = &amount, .n = 1, .set = true}};
	struct bt_delta delta;

	amount.quantity.nano = pods;
	amount.quantity.nano *= 1000000000;
	bt_ingest_describe_node(f->cache->worker, &node, &delta);
	return delta;
}

static struct bt_delta removal(struct fixture *f, const char *name)
{
	struct bt_delta delta;

	bt_ingest_describe_removal(f->cache->worker, BT_KIND_NODE, bt_str(""), bt_str(name), &delta);
	return delta;
}

/* The publisher applies a delta; returns it afterwards. */
static struct bt_delta take(struct fixture *f, struct bt_delta delta)
{
	bt_publisher_take(f->cache->publisher, &delta);
	return delta;
}

static void publish(struct fixture *f)
{
	bt_publisher_publish(f->cache->publisher);
}

static struct bt_published look(struct fixture *f)
{
	struct bt_published published;

	bt_published_begin(f->cache->publisher, &published);
	return published;
}

/* The pods of a live node; -1: no such node. */
static int64_t pods_of(struct fixture *f, const struct bt_published *published, const char *name)
{
	uint32_t slot = bt_published_find(published, fixture_name(f, name));

	return slot == BT_NO_NODE ? -1 : bt_published_node(published, slot)->alloc_pods;
}

static void nothing_is_seen_before_it_is_published(void **state)
{
	struct fixture *f = *state;
	struct bt_delta delta = take(f, describe(f, "n1", 1));
	struct bt_published before = look(f);
	const uint32_t slot = 0;

	assert_int_equal(before.version, 0);
	assert_int_equal(before.node_n, 0);
	assert_int_equal(pods_of(f, &before, "n1"), -1);
	publish(f);
	/* A reader sees one version until its end. */
	assert_int_equal(pods_of(f, &before, "n1"), -1);
	assert_null(bt_published_node(&before, slot));
	bt_published_end(&before);
	struct bt_published after = look(f);
	assert_int_equal(after.version, 1);
	assert_int_equal(after.node_n, 1);
	assert_int_equal(pods_of(f, &after, "n1"), 1);
	assert_ptr_equal(bt_published_node(&after, slot), delta.node.desc);
	bt_published_end(&after);
}

static void a_delta_brings_back_what_it_replaces(void **state)
{
	struct fixture *f = *state;
	struct bt_delta first = take(f, describe(f, "n1", 1));
	struct bt_delta second = take(f, describe(f, "n1", 2));

	publish(f);
	struct bt_delta third = take(f, describe(f, "n1", 3)), gone = take(f, removal(f, "n1"));
	struct bt_delta again = take(f, removal(f, "n1")), back = take(f, describe(f, "n1", 4));
	publish(f);
	assert_null(first.node.old);
	assert_ptr_equal(second.node.old, first.node.desc);
	assert_ptr_equal(third.node.old, second.node.desc);
	assert_ptr_equal(gone.node.old, third.node.desc);
	assert_null(gone.node.desc);
	assert_true(gone.node.taken);
	assert_false(again.node.taken);
	assert_null(back.node.old);
	struct bt_published published = look(f);
	assert_int_equal(published.node_n, 1);
	assert_int_equal(pods_of(f, &published, "n1"), 4);
	bt_published_end(&published);
	struct bt_delta *all[] = {&first, &second, &third, &gone, &again, &back};
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		bt_delta_drop(all[i]);
	}
}

static void a_node_that_is_gone_is_not_found_and_keeps_its_slot(void **state)
{
	struct fixture *f = *state;
	const uint32_t slot = 0;

	take(f, describe(f, "n1", 1));
	take(f, describe(f, "n2", 2));
	publish(f);
	struct bt_delta gone = take(f, removal(f, "n1"));
	publish(f);
	bt_delta_drop(&gone);
	struct bt_published published = look(f);
	uint32_t at = 0;
	assert_int_equal(published.node_n, 1);
	assert_int_equal(published.slot_n, 2);
	assert_int_equal(pods_of(f, &published, "n1"), -1);
	assert_null(bt_published_node(&published, slot));
	assert_int_equal(bt_published_next(&published, &at)->alloc_pods, 2);
	assert_int_equal(at, 1);
	at++;
	assert_null(bt_published_next(&published, &at));
	bt_published_end(&published);
	take(f, describe(f, "n1", 3));
	publish(f);
	published = look(f);
	assert_int_equal(published.slot_n, 2);
	assert_int_equal(bt_published_find(&published, fixture_name(f, "n1")), slot);
	bt_published_end(&published);
}

/* Names that fill the first table. */
#define FULL 128

/* Nodes with new names, from first to end, one at a time. */
static void pass(struct fixture *f, int first, int end)
{
	char name[16];

	for (int i = first; i < end; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		take(f, describe(f, name, i));
		publish(f);
		struct bt_delta gone = take(f, removal(f, name));
		publish(f);
		bt_delta_drop(&gone);
	}
}

static void freed_names_are_reused_as_slots(void **state)
{
	struct fixture *f = *state;

	take(f, describe(f, "stays", 7));
	pass(f, 0, FULL);
	struct bt_published published = look(f);
	assert_in_range(published.slot_n, 2, FULL + 1);
	bt_published_end(&published);
	pass(f, FULL, 10000);
	publish(f);
	published = look(f);
	assert_in_range(published.slot_n, 2, FULL + 2);
	assert_int_equal(published.node_n, 1);
	assert_int_equal(pods_of(f, &published, "stays"), 7);
	assert_int_equal(pods_of(f, &published, "n5"), -1);
	bt_published_end(&published);
}

static void a_reader_finds_a_node_whose_slot_was_reused(void **state)
{
	struct fixture *f = *state;
	char name[16];

	take(f, describe(f, "old", 42));
	publish(f);
	struct bt_published before = look(f);
	uint32_t slot = bt_published_find(&before, fixture_name(f, "old"));
	struct bt_delta gone = take(f, removal(f, "old"));
	publish(f);
	int i = 0;
	bool found = false;
	for (; i < 3 * FULL && !found; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		take(f, describe(f, name, i));
		publish(f);
		struct bt_published now = look(f);
		found = bt_published_find(&now, fixture_name(f, name)) == slot;
		bt_published_end(&now);
	}
	assert_true(found);
	assert_int_equal(pods_of(f, &before, "old"), 42);
	assert_int_equal(pods_of(f, &before, name), -1);
	/* It is back, at another slot. */
	take(f, describe(f, "old", 43));
	publish(f);
	assert_int_equal(pods_of(f, &before, "old"), 42);
	bt_published_end(&before);
	struct bt_published after = look(f);
	assert_int_equal(pods_of(f, &after, "old"), 43);
	assert_int_equal(pods_of(f, &after, name), i - 1);
	bt_published_end(&after);
	bt_delta_drop(&gone);
}

static void removing_an_unknown_node_has_no_effect(void **state)
{
	struct fixture *f = *state;
	struct bt_delta delta = take(f, removal(f, "n1"));

	assert_false(delta.node.taken);
	assert_null(delta.node.old);
}

static void publishing_nothing_makes_no_version(void **state)
{
	struct fixture *f = *state;

	publish(f);
	take(f, removal(f, "n1"));
	publish(f);
	assert_int_equal(bt_publisher_counts(f->cache->publisher).version_n, 0);
	take(f, describe(f, "n1", 1));
	publish(f);
	publish(f);
	assert_int_equal(bt_publisher_counts(f->cache->publisher).version_n, 1);
}

/* Enough for more than two levels of chunks, and several tables of names. */
#define MANY 5000

static void many_nodes_are_found_by_slot_and_by_name(void **state)
{
	struct fixture *f = *state;
	char name[16];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		take(f, describe(f, name, i));
		if (i % 7 == 0) {
			publish(f);
		}
	}
	publish(f);
	struct bt_published published = look(f);
	assert_int_equal(published.node_n, MANY);
	assert_int_equal(published.slot_n, MANY);
	uint32_t seen_n = 0;
	for (uint32_t slot = 0; bt_published_next(&published, &slot); slot++) {
		assert_int_equal(bt_published_node(&published, slot)->alloc_pods, slot);
		seen_n++;
	}
	assert_int_equal(seen_n, MANY);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(pods_of(f, &published, name), i);
	}
	assert_int_equal(pods_of(f, &published, "nobody"), -1);
	assert_int_equal(bt_published_find(&published, BT_NAME_NONE), BT_NO_NODE);
	assert_null(bt_published_node(&published, MANY));
	assert_null(bt_published_node(&published, UINT32_MAX));
	bt_published_end(&published);
}

static void a_change_copies_one_path_and_a_batch_each_chunk_once(void **state)
{
	struct fixture *f = *state;
	struct bt_delta deltas[64];
	char name[16];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		take(f, describe(f, name, i));
	}
	publish(f);
	uint64_t before = bt_publisher_counts(f->cache->publisher).copied_bytes;
	struct bt_delta delta = take(f, describe(f, "n4321", 1));
	publish(f);
	uint64_t one = bt_publisher_counts(f->cache->publisher).copied_bytes - before;
	assert_in_range(one, 1, 2048);
	bt_delta_drop(&delta);
	for (int i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "n%d", 4288 + i);
		deltas[i] = take(f, describe(f, name, 2));
	}
	publish(f);
	assert_int_equal(bt_publisher_counts(f->cache->publisher).copied_bytes - before, 2 * one);
	for (int i = 0; i < 64; i++) {
		bt_delta_drop(&deltas[i]);
	}
}

static void a_delta_that_is_not_published_is_freed_whole(void **state)
{
	/* For the leak checker. */
	struct bt_delta delta = describe(*state, "n1", 1), gone = removal(*state, "n1");

	bt_delta_drop(&delta);
	bt_delta_drop(&gone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(nothing_is_seen_before_it_is_published),
		FIXTURE_TEST(a_delta_brings_back_what_it_replaces),
		FIXTURE_TEST(a_node_that_is_gone_is_not_found_and_keeps_its_slot),
		FIXTURE_TEST(freed_names_are_reused_as_slots),
		FIXTURE_TEST(a_reader_finds_a_node_whose_slot_was_reused),
		FIXTURE_TEST(removing_an_unknown_node_has_no_effect),
		FIXTURE_TEST(publishing_nothing_makes_no_version),
		FIXTURE_TEST(many_nodes_are_found_by_slot_and_by_name),
		FIXTURE_TEST(a_change_copies_one_path_and_a_batch_each_chunk_once),
		FIXTURE_TEST(a_delta_that_is_not_published_is_freed_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
