/* SPDX-License-Identifier: Apache-2.0
 * Nodes change, come and go, in events and in transactions that are rolled back: an engine that keeps its
 * plans decides as one that drops them and all counters before each decision (I9), whichever way columns are
 * updated.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/hash.h"
#include "engine/base/team.h"
#include "engine/flow/cycle/engine_int.h"
#include "engine/flow/cycle/source.h"
#include "engine/score/column.h"
#include "engine_fixture.h"
#include "seed.h"
#include "tools/offline/generate/build.h"
#include "tools/offline/generate/generate.h"

#define SEEDS	(BT_VALGRIND ? 1 : 12)
#define STEPS	(BT_VALGRIND ? 60 : 500)
#define PODS	1200
#define NAMES	16   /* nodes that come and go, besides those of the cluster */
#define NEW	1000 /* most of those in transactions have no slot yet */
#define ENGINES 2
#define HELD	3 /* placed pods that stay before the oldest leaves: the cluster does not fill up */

#define IMAGES 4 /* of pods, that nodes which come may have */
#define LOOKS  4 /* of a node; the first is a new one each time */

#define EVERYDAY (BT_PROFILE_EVERYDAY & ~(uint32_t)BT_PROFILE_IMAGES)

enum { KEEPS = 0, ANEW };

struct kind {
	const char *name;
	uint32_t profiles, node_n, signature_n;
	double bound;
	uint32_t calm; /* nodes and pods change before one of so many decisions: short journals, so batches */
};

/* Their slots end below, at and above words of bitmaps, and where there is no room for more slots. */
static const struct kind kinds[] = {
	{"everyday", EVERYDAY, 60, 12, 0.3, 1},
	{"one signature", EVERYDAY, 126, 1, 0.3, 1},
	{"images", BT_PROFILE_EVERYDAY, 70, 12, 0.3, 1},
	{"images of many", BT_PROFILE_BASIC | BT_PROFILE_IMAGES, 638, 2, 0.1, 1},
	{"images of few", BT_PROFILE_BASIC | BT_PROFILE_IMAGES, 20, 4, 0.1, 1},
	{"batches", BT_PROFILE_BASIC | BT_PROFILE_FIT, 638, 4, 0.1, 4},
	{"few", EVERYDAY | BT_PROFILE_PORTS, 9, 5, 0.3, 1},
	{"topology", EVERYDAY | BT_PROFILE_SPREAD | BT_PROFILE_INTERPOD, 120, 12, 0.2, 1},
	{"full", EVERYDAY | BT_PROFILE_PREEMPTION, 64, 12, 0.9, 1},
};

struct history {
	const struct kind *kind;
	struct bt_rng rng, choices;
	struct bt_arena arena;
	struct bt_engine *engines[ENGINES];
	uint32_t placed[2 * STEPS];
	uint32_t placed_n, pod_n;
	uint32_t came, went, changed, tried, decisions;
};

static uint32_t below(struct history *h, uint32_t n)
{
	return bt_rng_below(&h->rng, n);
}

static const struct bt_snapshot *snapshot_of(const struct history *h)
{
	return bt_engine_cache(h->engines[KEEPS])->view.snapshot;
}

static bool take(void *context, const struct bt_object *object)
{
	struct history *h = context;
	enum bt_entry entry;
	uint32_t ix;

	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_apply(h->engines[e], object, &entry, &ix);
	}
	return true;
}

static void add_taint(struct history *h, struct bt_node_object *node)
{
	struct bt_taint_object *taint = bt_arena_zalloc(&h->arena, sizeof(*taint));
	static const char *const effects[] = {"NoSchedule", "PreferNoSchedule"};

	taint->key = bt_build_text(&h->arena, "taint-%" PRIu32, below(h, 3));
	taint->effect = bt_str(effects[below(h, 2)]);
	node->taints = taint;
	node->taint_n = 1;
}

/* The name of a node that is live, or of one of n that may come. */
static struct bt_str any_name(struct history *h, uint32_t n)
{
	const struct bt_snapshot *snapshot = snapshot_of(h);
	uint32_t name = snapshot->nodes[below(h, snapshot->slot_n)].name;

	if (name == BT_NAME_NONE || below(h, 2)) {
		return bt_build_text(&h->arena, "new-%" PRIu32, below(h, n));
	}
	struct bt_str text = bt_intern_str(snapshot->dictionary->intern, name);
	return bt_build_text(&h->arena, "%.*s", (int)text.len, text.ptr);
}

/* Some of the images that pods have. */
static void add_images(struct history *h, struct bt_node_object *node)
{
	node->images = bt_arena_zalloc(&h->arena, IMAGES * sizeof(*node->images));
	for (uint32_t i = 0; i < IMAGES; i++) {
		struct bt_image_object *image = &node->images[node->image_n];

		if (below(h, 2)) {
			image->size_bytes = (20 + (int64_t)below(h, 1500)) * 1000 * 1000;
			bt_build_item(&h->arena, &image->names,
				bt_build_text(&h->arena, "registry.example/app-%" PRIu32 ":v1", i));
			node->image_n++;
		}
	}
}

/* A node of that name, like those of the generator or not. It has one of a few looks, so that often nothing
 * or its images alone have changed. */
static struct bt_node_object describe(struct history *h, struct bt_str name)
{
	const struct bt_rng keep = h->rng;
	uint32_t look = below(h, LOOKS);

	if (look) {
		h->rng.state = bt_hash_bytes(name.ptr, name.len) + look;
	}
	struct bt_node_object node = {.meta.name = name, .unschedulable = below(h, 6) == 0};

	/* Some hosts have more than one node. */
	bt_build_pair(&h->arena, &node.meta.labels, bt_str("kubernetes.io/hostname"),
		below(h, 3) ? name : any_name(h, NAMES));
	if (below(h, 8)) {
		bt_build_pair(&h->arena, &node.meta.labels, bt_str("topology.kubernetes.io/zone"),
			bt_build_text(&h->arena, "zone-%" PRIu32, below(h, 4)));
	}
	bt_build_pair(&h->arena, &node.meta.labels, bt_str("disktype"), bt_str(below(h, 2) ? "ssd" : "hdd"));
	bt_build_quantity(&h->arena, &node.allocatable, "cpu", bt_build_count(2 << below(h, 6)));
	bt_build_quantity(&h->arena, &node.allocatable, "memory", bt_build_mib(4096 << below(h, 5)));
	bt_build_quantity(&h->arena, &node.allocatable, "pods", bt_build_count(below(h, 8) ? 110 : 0));
	if (below(h, 4) == 0) {
		add_taint(h, &node);
	}
	h->rng = look ? (struct bt_rng){keep.state + 1} : h->rng;
	if (h->kind->profiles & BT_PROFILE_IMAGES) {
		add_images(h, &node);
	}
	return node;
}

static void apply_node(struct history *h)
{
	const struct bt_node_object node = describe(h, any_name(h, NAMES));
	uint32_t ixs[ENGINES], before = snapshot_of(h)->node_n;

	for (uint32_t e = 0; e < ENGINES; e++) {
		assert_int_equal(bt_engine_apply_node(h->engines[e], &node, &ixs[e]), BT_OK);
	}
	assert_int_equal(ixs[KEEPS], ixs[ANEW]);
	h->came += snapshot_of(h)->node_n != before;
	h->changed += snapshot_of(h)->node_n == before;
}

static void remove_node(struct history *h)
{
	struct bt_str name = any_name(h, NAMES);

	enum bt_status status = bt_engine_remove_node(h->engines[KEEPS], name);
	assert_int_equal(bt_engine_remove_node(h->engines[ANEW], name), status);
	h->went += status == BT_OK;
}

/* A pod on a node that may not exist, so that there is a slot without a node; or one for this node only. */
static void add_pod(struct history *h)
{
	struct bt_pod_object pod = {.meta.namespace_ = bt_str("default"),
		.meta.name = bt_build_text(&h->arena, "pod-%" PRIu32, h->pod_n++),
		.spec.scheduler_name = bt_str("default-scheduler")};
	struct bt_str node_name = bt_build_text(&h->arena, "new-%" PRIu32, below(h, NAMES));
	enum bt_entry entry;
	uint32_t pod_ix;

	if (below(h, 2)) {
		pod.spec.node_name = node_name;
	} else {
		struct bt_node_term_object *term =
			bt_build_required_term(&h->arena, &pod.spec.affinity.node_affinity);

		bt_build_item(&h->arena,
			&bt_build_requirement(&h->arena, &term->match_fields, "metadata.name", "In")->values,
			node_name);
	}
	for (uint32_t e = 0; e < ENGINES; e++) {
		assert_int_equal(bt_engine_add_pod(h->engines[e], &pod, &entry, &pod_ix), BT_OK);
	}
	if (entry == BT_ENTERED_SCHEDULED && below(h, 3)) {
		h->placed[h->placed_n++] = pod_ix;
	}
}

/* The oldest of the pods that were placed leaves. */
static void remove_pod(struct history *h)
{
	uint32_t i = below(h, h->placed_n), pod_ix = h->placed[i];

	h->placed[i] = h->placed[--h->placed_n];
	for (uint32_t e = 0; e < ENGINES; e++) {
		if (bt_ledger_has(bt_engine_cache(h->engines[e])->ledger, pod_ix)) {
			bt_engine_remove_pod(h->engines[e], pod_ix);
		}
	}
}

static void disturb(struct history *h)
{
	uint32_t what = below(h, 16);

	if (what < 3) {
		apply_node(h);
	} else if (what < 5) {
		remove_node(h);
	} else if (what < 6) {
		add_pod(h);
	} else if (what < 9 && h->placed_n > HELD) {
		remove_pod(h);
	}
}

/* ---- transactions, of the engine that keeps its plans ---- */

static void try_node(struct history *h)
{
	struct bt_engine *engine = h->engines[KEEPS];
	uint32_t node_ix = below(h, snapshot_of(h)->slot_n), what = below(h, 3);

	if (what == 0 || !bt_bitmap_test(snapshot_of(h)->live, node_ix)) {
		const struct bt_node_object node = describe(h, any_name(h, NEW));

		assert_int_equal(bt_transaction_apply_node(engine, &node, &node_ix), BT_OK);
	} else if (what == 1) {
		bt_transaction_close_node(engine, node_ix, below(h, 2));
	} else {
		bt_transaction_remove_node(engine, node_ix);
	}
}

/* Places a copy of a pod that waits, if there is one. */
static void try_pod(struct history *h)
{
	const struct bt_ledger *ledger = bt_engine_cache(h->engines[KEEPS])->ledger;
	uint32_t end = bt_ledger_pod_end(ledger), first = below(h, end), node_ix;

	for (uint32_t i = 0; i < end; i++) {
		uint32_t pod_ix = (first + i) % end;

		if (bt_ledger_has(ledger, pod_ix) && bt_ledger_pod(ledger, pod_ix)->node_ix == BT_NO_NODE) {
			bt_transaction_place(h->engines[KEEPS],
				bt_transaction_add_copy(h->engines[KEEPS], pod_ix), &node_ix);
			return;
		}
	}
}

static void try_changes(struct history *h, uint32_t depth)
{
	bt_transaction_begin(h->engines[KEEPS]);
	for (uint32_t n = 1 + below(h, 6); n; n--) {
		if (below(h, 2)) {
			try_node(h);
		} else {
			try_pod(h);
		}
	}
	if (depth && below(h, 2)) {
		try_changes(h, depth - 1);
		try_pod(h);
	}
	bt_transaction_roll_back(h->engines[KEEPS]);
	h->tried++;
}

/* ---- decisions ---- */

static void decide(struct history *h)
{
	struct bt_decision d[ENGINES];
	uint32_t pod_ix = bt_engine_pop(h->engines[KEEPS]);

	assert_int_equal(bt_engine_pop(h->engines[ANEW]), pod_ix);
	if (pod_ix == BT_NO_POD) {
		return;
	}
	bt_profile_runtimes_forget_plans(&h->engines[ANEW]->runtimes);
	bt_counters_forget(bt_engine_cache(h->engines[ANEW])->counters, NULL, 0);
	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_decide(h->engines[e], pod_ix, &d[e]);
	}
	assert_int_equal(d[KEEPS].outcome, d[ANEW].outcome);
	assert_int_equal(d[KEEPS].node_ix, d[ANEW].node_ix);
	assert_int_equal(d[KEEPS].nominated_ix, d[ANEW].nominated_ix);
	assert_int_equal(d[KEEPS].unschedulable_plugins, d[ANEW].unschedulable_plugins);
	assert_int_equal(d[KEEPS].victim_n, d[ANEW].victim_n);
	for (uint32_t i = 0; i < d[KEEPS].victim_n; i++) {
		assert_int_equal(d[KEEPS].victims[i].pod_ix, d[ANEW].victims[i].pod_ix);
	}
	if (d[KEEPS].outcome == BT_PLACED) {
		h->placed[h->placed_n++] = pod_ix;
	}
	h->decisions++;
}

static void evict(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	(void)context;
	(void)for_ix;
	bt_engine_remove_pod(engine, pod_ix);
}

static void bind_pod(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	(void)context;
	(void)node_ix;
	bt_engine_bound(engine, pod_ix);
}

/* Updates of columns in a random way, so that indexes and batches come and go, too. */
static enum bt_catch_up choose(void *context, uint64_t behind, uint32_t slot_n, uint32_t stable_rounds)
{
	struct history *h = context;
	uint32_t drawn = bt_rng_below(&h->choices, 16);

	(void)stable_rounds;
	if (behind > slot_n || drawn == 0) {
		return BT_CATCH_UP_ALL;
	}
	return drawn < 4 ? BT_CATCH_UP_JOURNAL : BT_CATCH_UP_AND_INDEX;
}

static void play(const struct kind *kind, uint64_t seed, bool by_cost)
{
	struct history h = {.kind = kind, .rng = {seed}, .choices = {seed + 1}};
	const struct bt_team_options team_options = {.worker_n = 2};
	enum bt_status status;
	struct bt_team *team = bt_team_create(&team_options, &status);
	struct bt_engine_options options = {.seed = seed,
		.binder = {bind_pod, NULL},
		.evictor = {evict, NULL},
		.no_backoff = true,
		.groups_by_events = true,
		.batch = 7,
		.always_share = true};
	struct bt_generate_options cluster = bt_generate_defaults();
	struct bt_config config;

	bt_config_init_default(&config, NULL);
	for (uint32_t e = 0; e < ENGINES; e++) {
		options.team = e == KEEPS && seed % 2 ? team : NULL;
		h.engines[e] = fixture_engine(&config, &options);
	}
	cluster.node_n = kind->node_n;
	cluster.pod_n = PODS;
	cluster.signature_n = kind->signature_n;
	cluster.profiles = kind->profiles;
	cluster.seed = seed;
	cluster.bound = kind->bound;
	bt_generate(&cluster, take, &h);
	bt_column_choose_by(by_cost ? NULL : choose, &h);
	for (uint32_t step = 0; step < STEPS; step++) {
		decide(&h);
		if (below(&h, kind->calm) == 0) {
			disturb(&h);
		}
		if (below(&h, 4 * kind->calm) == 0) {
			try_changes(&h, 2);
		}
	}
	bt_column_choose_by(NULL, NULL);
	assert_true(h.came > 0 && h.went > 0 && h.changed > 0 && h.tried > 10 && h.decisions > STEPS / 10);
	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_destroy(h.engines[e]);
	}
	bt_team_destroy(team);
	bt_arena_fini(&h.arena);
	bt_config_fini(&config);
}

static void plans_that_are_kept_decide_as_new_ones(void **state)
{
	uint64_t seed = seed_or(20261128);

	(void)state;
	for (uint32_t i = 0; i < SEEDS; i++) {
		for (uint32_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			play(&kinds[k], seed + i, i % 3 == 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_that_are_kept_decide_as_new_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
