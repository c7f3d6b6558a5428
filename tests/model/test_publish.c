/* SPDX-License-Identifier: Apache-2.0
 * After random histories of batches, the published nodes and the scheduling thread's columns equal plain
 * arrays. A version with a reader stays unchanged, whatever is published meanwhile. Names of nodes end,
 * and their slots are reused.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "seed.h"

#include "cache/ingest.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"

#define BATCHES	  10000
#define BATCH_MAX 40
#define NAMES	  700 /* enough for two levels of chunks */
#define SPINS	  5   /* versions with a reader at the same time */
#define PODS	  60

/* State of the nodes: a number for each description, 0 for none. */
struct cluster {
	uint64_t version;
	uint32_t node_n;
	int64_t stamps[NAMES]; /* by the name's number */
};

struct look {
	bool on;
	struct bt_published published;
	struct cluster cluster; /* at the start of the read */
};

struct history {
	struct bt_rng rng;
	struct bt_cache *cache;
	struct cluster now;
	uint32_t names[NAMES]; /* by number */
	uint32_t on[NAMES];    /* pods that refer to the name */
	uint32_t pods[PODS], pod_nodes[PODS], pod_n;
	uint64_t named_n, vacated_n;
	int64_t stamp;
	struct look looks[SPINS];
};

static uint32_t below(struct history *h, uint32_t n)
{
	return bt_rng_below(&h->rng, n);
}

static void describe(struct history *h, uint32_t number, struct bt_delta *out_delta)
{
	struct bt_named_quantity amounts[] = {{.name = bt_str("cpu")}, {.name = bt_str("pods")}};
	char name[16], value[16];

	h->stamp++;
	snprintf(name, sizeof(name), "n%u", number);
	snprintf(value, sizeof(value), "v%u", below(h, 9));
	for (uint32_t i = 0; i < 2; i++) {
		amounts[i].quantity.nano = h->stamp;
		amounts[i].quantity.nano *= 1000000000;
	}
	struct bt_str_pair label = {bt_str("l"), bt_str(value)};
	struct bt_taint_object taint = {
		.key = bt_str("k"), .value = bt_str(value), .effect = bt_str("NoSchedule")};
	const struct bt_node_object node = {
		.meta = {.name = bt_str(name), .labels = {.items = &label, .n = 1}},
		.allocatable = {.items = amounts, .n = 1 + below(h, 2), .set = true},
		.taints = &taint,
		.taint_n = below(h, 2),
	};
	bt_ingest_describe_node(h->cache->worker, &node, out_delta);
}

/* The number behind a description. */
static int64_t stamp_of(const struct bt_node_desc *desc)
{
	return desc ? bt_amounts_get(desc->alloc, BT_CPU) / 1000 : 0;
}

static void change_node(struct history *h, struct bt_delta *delta)
{
	uint32_t number = below(h, below(h, 2) ? NAMES : 20);
	int64_t before = h->now.stamps[number];
	char name[16];

	if (below(h, 3)) {
		describe(h, number, delta);
		bt_publisher_take(h->cache->publisher, delta);
		assert_true(delta->node.taken);
		h->now.stamps[number] = h->stamp;
		h->now.node_n += !before;
	} else {
		snprintf(name, sizeof(name), "n%u", number);
		bt_ingest_describe_removal(h->cache->worker, BT_KIND_NODE, bt_str(""), bt_str(name), delta);
		bt_publisher_take(h->cache->publisher, delta);
		assert_int_equal(delta->node.taken, before != 0);
		h->now.stamps[number] = 0;
		h->now.node_n -= before != 0;
	}
	assert_int_equal(stamp_of(delta->node.old), before);
}

static void name_nodes(struct history *h, struct bt_delta *delta)
{
	char on[16] = "", nominated[16] = "", own[24];
	uint32_t number = below(h, NAMES);
	bool bound = below(h, 2);

	snprintf(bound ? on : nominated, sizeof(on), "n%u", number);
	snprintf(own, sizeof(own), "p%" PRIu64, h->named_n++);
	const struct bt_pod_object pod = {.meta = {.name = bt_str(own), .namespace_ = bt_str("default")},
		.spec.node_name = bt_str(on),
		.nominated_node_name = bt_str(nominated)};
	bt_ingest_describe_pod(h->cache->worker, &pod, delta);
	bt_publisher_take(h->cache->publisher, delta);
}

/* A new pod replaces the oldest one. */
static void enter_pod(struct history *h, const struct bt_delta *delta)
{
	struct bt_ledger *ledger = h->cache->ledger;
	const struct bt_pod *pod = &delta->pod.pod;
	uint32_t at = h->pod_n % PODS, name = pod->node_ix == BT_NO_NODE ? pod->status_node : delta->pod.node;

	if (h->pod_n++ >= PODS) {
		bt_ledger_remove(ledger, h->pods[at]);
		bt_ledger_free_removed(ledger);
		h->on[h->pod_nodes[at]]--;
	}
	assert_int_equal(bt_ledger_add(ledger, pod, &h->pods[at]), BT_OK);
	for (h->pod_nodes[at] = 0; h->names[h->pod_nodes[at]] != name;) {
		h->pod_nodes[at]++;
	}
	h->on[h->pod_nodes[at]]++;
}

/* Frees slots without references, many at a time. */
static void vacate(struct history *h)
{
	const struct bt_usage *usage = h->cache->view.usage;
	uint64_t left_n = bt_usage_left_n(usage);
	bool crowded = bt_snapshot_is_crowded(h->cache->snapshot, left_n);

	bt_cache_vacate_slots(h->cache);
	assert_false(bt_snapshot_is_crowded(h->cache->snapshot, left_n));
	h->vacated_n += crowded;
}

static void run_batch(struct history *h)
{
	static struct bt_delta deltas[BATCH_MAX];
	uint32_t n = below(h, 4) ? 1 + below(h, 3) : 1 + below(h, BATCH_MAX);
	bool changed = false;

	for (uint32_t i = 0; i < n; i++) {
		if (below(h, 6)) {
			change_node(h, &deltas[i]);
			changed |= deltas[i].node.taken;
		} else {
			name_nodes(h, &deltas[i]);
		}
	}
	bt_publisher_publish(h->cache->publisher);
	h->now.version += changed;
	for (uint32_t i = 0; i < n; i++) {
		vacate(h);
		bt_ingest_adopt(h->cache, &deltas[i]);
		if (deltas[i].kind == BT_KIND_POD) {
			enter_pod(h, &deltas[i]);
		}
		bt_delta_drop(&deltas[i]);
	}
}

/* ---- checks ---- */

static void check_published(
	struct history *h, const struct bt_published *published, const struct cluster *want)
{
	assert_int_equal(published->version, want->version);
	assert_int_equal(published->node_n, want->node_n);
	for (uint32_t i = 0; i < NAMES; i++) {
		uint32_t slot = bt_published_find(published, h->names[i]);

		assert_int_equal(slot != BT_NO_NODE, want->stamps[i] != 0);
		if (slot != BT_NO_NODE) {
			const struct bt_node_desc *desc = bt_published_node(published, slot);

			assert_int_equal(desc->name, h->names[i]);
			assert_int_equal(stamp_of(desc), want->stamps[i]);
		}
	}
	uint32_t seen_n = 0;
	for (uint32_t slot = 0; bt_published_next(published, &slot); slot++) {
		seen_n++;
	}
	assert_int_equal(seen_n, want->node_n);
}

static void check_columns(struct history *h)
{
	const struct bt_snapshot *snapshot = h->cache->view.snapshot;
	static uint32_t slots[NAMES];

	assert_int_equal(snapshot->node_n, h->now.node_n);
	/* A name has at most one slot, and a slot one name. */
	memset(slots, 0xff, sizeof(slots));
	for (uint32_t slot = 0; slot < snapshot->slot_n; slot++) {
		for (uint32_t i = 0; i < NAMES; i++) {
			if (snapshot->nodes[slot].name == h->names[i]) {
				assert_int_equal(slots[i], BT_NO_NODE);
				slots[i] = slot;
			}
		}
	}
	for (uint32_t i = 0; i < PODS && i < h->pod_n; i++) {
		const struct bt_pod *pod = bt_ledger_pod(h->cache->ledger, h->pods[i]);

		assert_int_equal(
			pod->node_ix == BT_NO_NODE ? pod->status_ix : pod->node_ix, slots[h->pod_nodes[i]]);
	}
	for (uint32_t i = 0; i < NAMES; i++) {
		uint32_t slot = slots[i];

		assert_true(slot != BT_NO_NODE || (!h->now.stamps[i] && !h->on[i]));
		if (slot == BT_NO_NODE) {
			continue;
		}
		const struct bt_node_desc *desc = bt_snapshot_desc(h->cache->snapshot, slot);
		const struct bt_node *node = &snapshot->nodes[slot];
		const struct bt_taint_set *set = &snapshot->taint_sets[node->taint_set];
		assert_int_equal(node->name, h->names[i]);
		assert_int_equal(bt_bitmap_test(snapshot->live, slot), h->now.stamps[i] != 0);
		assert_int_equal(bt_node_alloc(snapshot, BT_CPU, slot), h->now.stamps[i] * 1000);
		assert_int_equal(snapshot->rooms[slot].pods, desc ? desc->alloc_pods : 0);
		assert_int_equal(stamp_of(desc), h->now.stamps[i]);
		assert_int_equal(set->n, desc ? desc->taint_n : 0);
		assert_true(set->n == 0 || set->items[0].value == desc->taints[0].value);
		assert_ptr_equal(node->labels.items, desc ? desc->labels.items : NULL);
	}
}

static void begin_look(struct history *h, struct look *look)
{
	bt_published_begin(h->cache->publisher, &look->published);
	look->cluster = h->now;
	look->on = true;
}

static void end_look(struct history *h, struct look *look)
{
	if (look->on) {
		check_published(h, &look->published, &look->cluster);
		bt_published_end(&look->published);
		look->on = false;
	}
}

static void versions_match_arrays_and_live_while_they_are_read(void **state)
{
	struct history *h = bt_mem_zalloc(1, sizeof(*h));
	char name[16];

	(void)state;
	h->rng.state = seed_or(20260101);
	h->cache = bt_cache_create();
	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		h->names[i] = bt_intern_add(h->cache->dictionary->intern, bt_str(name));
	}
	for (uint32_t batch = 0; batch < BATCHES; batch++) {
		struct look *look = &h->looks[below(h, SPINS)];

		/* Sometimes there is no reader: then all replaced versions are freed. */
		for (uint32_t i = 0; batch % 100 == 99 && i < SPINS; i++) {
			end_look(h, &h->looks[i]);
		}
		if (batch % 10 == 0) {
			end_look(h, look);
			begin_look(h, look);
			check_published(h, &look->published, &h->now);
			check_columns(h);
		}
		run_batch(h);
	}
	for (uint32_t i = 0; i < SPINS; i++) {
		end_look(h, &h->looks[i]);
	}
	check_columns(h);
	print_message("%" PRIu64 " times slots were vacated\n", h->vacated_n);
	assert_true(h->vacated_n > 10);
	bt_rcu_drain();
	bt_cache_destroy(h->cache);
	bt_mem_free(h);
	bt_rcu_shutdown();
	assert_int_equal(bt_rcu_stats_read().pending_n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_match_arrays_and_live_while_they_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
