/* SPDX-License-Identifier: Apache-2.0
 * One publisher, a scheduling thread that adopts, and readers: every version that a reader sees is complete
 * and unchanged while it is read, and replaced objects are reclaimed afterwards and not before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cache/ingest.h"
#include "engine/base/mem.h"
#include "engine/base/eventcount.h"
#include "engine/base/testpoint.h"
#include "engine/base/ring.h"
#include "engine/base/rng.h"
#include "seed.h"
#include "stress.h"

enum {
	NODES = 300,
	LABELS = 3,
	BATCH_MAX = 12,
	VERSIONS_MAX = 1 << 20, /* the publisher stops after these */
	RING_ENTRIES = 64,
	BACKLOG_N = 5000
};

static struct {
	struct bt_cache *cache;
	struct bt_ring inbox; /* of struct bt_delta */
	/* The checksum of each version; the test's own EDGE is the later publication of that version. */
	_Atomic uint64_t *sums;
	_Atomic uint64_t looked_n, adopted_n;
	_Atomic uint32_t over;
	uint32_t names[NODES];
	uint64_t seed, batches_max;
	int64_t end_ns;
} world;

/* Covers all of a description, so that freed or changed bytes are detected. */
static uint64_t digest(const struct bt_node_desc *desc)
{
	uint64_t sum = desc->name * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)desc->alloc_pods;

	for (uint32_t i = 0; i < desc->labels.n; i++) {
		sum = sum * 31 + desc->labels.items[i].value;
	}
	return sum;
}

/* ---- the publisher ---- */

static void describe(struct bt_rng *rng, uint32_t node, struct bt_delta *out_delta)
{
	struct bt_named_quantity amount = {.name = bt_str("pods")};
	struct bt_str_pair labels[LABELS];
	char name[16], values[LABELS][16];
	static const char *const keys[LABELS] = {"a", "b", "c"};

	snprintf(name, sizeof(name), "n%u", node);
	for (uint32_t i = 0; i < LABELS; i++) {
		snprintf(values[i], sizeof(values[i]), "v%u", bt_rng_below(rng, 5));
		labels[i] = (struct bt_str_pair){bt_str(keys[i]), bt_str(values[i])};
	}
	amount.quantity.nano = bt_rng_below(rng, 1000) + 1;
	amount.quantity.nano *= 1000000000;
	const struct bt_node_object object = {
		.meta = {.name = bt_str(name), .labels = {.items = labels, .n = LABELS}},
		.allocatable = {.items = &amount, .n = 1, .set = true},
	};
	bt_ingest_describe_node(world.cache->worker, &object, out_delta);
}

/* Makes a change of a node, and updates the expected checksum. */
static void change(struct bt_rng *rng, struct bt_delta *delta, uint64_t *sum)
{
	uint32_t node = bt_rng_below(rng, NODES);
	char name[16];

	if (bt_rng_below(rng, 4)) {
		describe(rng, node, delta);
	} else {
		snprintf(name, sizeof(name), "n%u", node);
		bt_ingest_describe_removal(
			world.cache->worker, BT_KIND_NODE, bt_str(""), bt_str(name), delta);
	}
	bt_publisher_take(world.cache->publisher, delta);
	*sum += delta->node.desc ? digest(delta->node.desc) : 0;
	*sum -= delta->node.old ? digest(delta->node.old) : 0;
}

static void publish(void *context, uint32_t ix)
{
	struct bt_rng rng = {world.seed + ix};
	struct bt_delta deltas[BATCH_MAX];
	uint64_t sum = 0, version = 0;

	(void)context;
	for (uint64_t batch = 0; batch < world.batches_max && stress_goes_on(world.end_ns); batch++) {
		uint32_t n = 1 + bt_rng_below(&rng, BATCH_MAX);
		bool changed = false;

		for (uint32_t i = 0; i < n; i++) {
			change(&rng, &deltas[i], &sum);
			changed |= deltas[i].node.taken;
		}
		version += changed;
		bt_store_relaxed(&world.sums[version], sum);
		bt_publisher_publish(world.cache->publisher);
		STRESS_CHECK(bt_rcu_stats_read().pending_n <= 2 * BACKLOG_N);
		for (uint32_t i = 0; i < n; i++) {
			STRESS_CHECK(bt_ring_push(&world.inbox, &deltas[i], BT_EVENTCOUNT_FOREVER));
		}
	}
	bt_ring_close(&world.inbox);
	bt_store_release(&world.over, 1);
}

/* ---- the scheduling thread ---- */

/* Reads the descriptions that the columns point to. */
static void read_columns(void)
{
	const struct bt_snapshot *snapshot = world.cache->view.snapshot;

	for (uint32_t slot = 0; slot < snapshot->slot_n; slot++) {
		const struct bt_node_desc *desc = bt_snapshot_desc(world.cache->snapshot, slot);
		struct bt_labels labels = snapshot->nodes[slot].labels;

		STRESS_CHECK(!desc == !bt_bitmap_test(snapshot->live, slot));
		STRESS_CHECK(labels.n == (desc ? LABELS : 0));
		STRESS_CHECK(!desc ||
			     memcmp(labels.items, desc->labels.items, LABELS * sizeof(*labels.items)) == 0);
		STRESS_CHECK(snapshot->rooms[slot].pods == (desc ? desc->alloc_pods : 0));
	}
}

static void adopt(void *context, uint32_t ix)
{
	struct bt_delta delta;

	(void)context;
	(void)ix;
	bt_rcu_register("scheduling");
	for (uint64_t n = 1; bt_ring_pop(&world.inbox, &delta, BT_EVENTCOUNT_FOREVER); n++) {
		bt_ingest_adopt(world.cache, &delta);
		bt_delta_drop(&delta);
		bt_add_owned(&world.adopted_n, 1);
		if (n % 50 == 0) {
			read_columns();
		}
		bt_rcu_quiescent();
	}
	read_columns();
	bt_rcu_unregister();
}

/* ---- visitors ---- */

static uint64_t add_up(const struct bt_published *published)
{
	const struct bt_node_desc *desc;
	uint32_t node_n = 0;
	uint64_t sum = 0;

	for (uint32_t slot = 0; (desc = bt_published_next(published, &slot)); slot++) {
		STRESS_CHECK(bt_published_find(published, desc->name) == slot);
		sum += digest(desc);
		node_n++;
	}
	STRESS_CHECK(node_n == published->node_n);
	return sum;
}

static void visit(void *context, uint32_t ix)
{
	struct bt_rng rng = {world.seed + ix};
	uint64_t last = 0;

	(void)context;
	do {
		struct bt_published published;

		bt_published_begin(world.cache->publisher, &published);
		STRESS_CHECK(published.version >= last);
		last = published.version;
		uint64_t want = bt_load_relaxed(&world.sums[last]);
		STRESS_CHECK(add_up(&published) == want);
		BT_TESTPOINT("publish.test.looking");
		for (uint32_t i = 0; i < 20; i++) {
			uint32_t name = world.names[bt_rng_below(&rng, NODES)];
			uint32_t slot = bt_published_find(&published, name);

			STRESS_CHECK(slot == BT_NO_NODE || bt_published_node(&published, slot)->name == name);
		}
		STRESS_CHECK(add_up(&published) == want);
		bt_published_end(&published);
		bt_add_relaxed(&world.looked_n, 1);
	} while (!bt_load_acquire(&world.over));
}

/* ---- */

static void run_world(void *context)
{
	const struct bt_rcu_options options = {.backlog_n = BACKLOG_N};
	struct stress_team team = {.member_n = 0};
	char name[16];

	world.seed = *(const uint64_t *)context;
	world.end_ns = world.batches_max == VERSIONS_MAX ? stress_end_ns() : INT64_MAX;
	world.cache = bt_cache_create();
	world.sums = bt_mem_zalloc(VERSIONS_MAX + 1, sizeof(*world.sums));
	bt_store_relaxed(&world.over, 0);
	bt_store_relaxed(&world.looked_n, 0);
	bt_store_relaxed(&world.adopted_n, 0);
	for (uint32_t i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		world.names[i] = bt_intern_add(world.cache->dictionary->intern, bt_str(name));
	}
	bt_rcu_configure(&options);
	bt_ring_init(&world.inbox, RING_ENTRIES, sizeof(struct bt_delta), "inbox");
	stress_add(&team, publish, NULL);
	stress_add(&team, adopt, NULL);
	stress_add(&team, visit, NULL);
	stress_add(&team, visit, NULL);
	stress_add(&team, visit, NULL);
	stress_run(&team);
	printf("%" PRIu64 " versions, %" PRIu64 " adopted, %" PRIu64 " looks\n",
		bt_publisher_counts(world.cache->publisher).version_n, bt_load_relaxed(&world.adopted_n),
		bt_load_relaxed(&world.looked_n));
	bt_rcu_drain();
	STRESS_CHECK(bt_rcu_stats_read().pending_n == 0);
	bt_ring_fini(&world.inbox);
	bt_cache_destroy(world.cache);
	bt_mem_free(world.sums);
	bt_rcu_shutdown();
}

/* EDGE snap.live. */
static void every_version_is_complete_while_it_is_read(void **state)
{
	uint64_t seed = seed_of_test();

	(void)state;
	world.batches_max = VERSIONS_MAX;
	run_world(&seed);
}

static void also_when_threads_are_delayed_anywhere(void **state)
{
	uint64_t seed = seed_of_test() + 1;

	(void)state;
	world.batches_max = VERSIONS_MAX;
	bt_testpoint_delay(seed);
	run_world(&seed);
	bt_testpoint_off();
}

static void also_when_one_is_held_at_any_point(void **state)
{
	uint64_t seed = seed_of_test() + 2;

	(void)state;
	if (!bt_testpoint_is_built()) {
		skip();
	}
	world.batches_max = 100;
	stress_hold_at_each("publish.", 2, run_world, &seed, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_version_is_complete_while_it_is_read),
		cmocka_unit_test(also_when_threads_are_delayed_anywhere),
		cmocka_unit_test(also_when_one_is_held_at_any_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
