/* SPDX-License-Identifier: Apache-2.0
 * The decisions are the same for any number of workers, any batch size, and any timing (I9), with each
 * version of the scan, and for each way to update columns: five kinds of clusters are placed in every way,
 * and all decisions must be equal. BT_SEED=n makes other clusters.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/testpoint.h"
#include "engine/base/rng.h"
#include "engine/base/team.h"
#include "engine/base/thread.h"
#include "engine/flow/cycle/source.h"
#include "engine/score/column.h"
#include "engine/score/scan.h"
#include "engine_fixture.h"
#include "tools/offline/generate/build.h"
#include "tools/offline/generate/generate.h"

#define FIRST_SEED   20261121
#define SIGNATURE_N  150
#define CYCLES_MAX   (BT_VALGRIND ? 200u : 1500u) /* valgrind is slow */
#define ANSWER_EVERY 7 /* this many bindings are open before the oldest is answered */

/* Random clusters of one kind. */
struct kind {
	const char *name;
	uint32_t profiles;
	uint32_t node_n, pod_n;
	bool churn;    /* between cycles bindings fail, pods and nodes are removed, nodes change */
	bool distinct; /* no two signatures request the same */
	bool full;     /* pods are refused, or preempt others */
};

static const struct kind kinds[] = {
	{"spread", BT_PROFILE_EVERYDAY | BT_PROFILE_SPREAD, 330, 1500, false, false, false},
	{"affinity", BT_PROFILE_EVERYDAY | BT_PROFILE_INTERPOD, 330, 1500, false, false, false},
	{"preemption", BT_PROFILE_EVERYDAY | BT_PROFILE_PREEMPTION, 70, 7700, false, false, true},
	{"mixed", BT_PROFILE_MIXED, 330, 1500, false, true, false},
	{"churn", BT_PROFILE_EVERYDAY | BT_PROFILE_PORTS | BT_PROFILE_SPREAD, 330, 1500, true, true, false},
};

#define KIND_N (sizeof(kinds) / sizeof(kinds[0]))

/* Replaces the cost model: returns a constant, or, with a generator, random choices. */
struct chooser {
	const char *name;
	enum bt_catch_up choice;
	bool draws;
	struct bt_rng rng;
	uint32_t asked_n;
};

/* A way to run the placements; decisions must not depend on it. */
struct way {
	uint32_t worker_n, batch, spin_n;
	uint64_t delays;		    /* seed of delays at testpoints; 0: none */
	const struct bt_scan_version *scan; /* NULL: the processor's best */
	struct chooser *chooser;	    /* NULL: the cost model */
	const char *name;		    /* of the previous two */
};

struct outcome {
	uint32_t pod_ix, node_ix;
	enum bt_outcome outcome;
};

struct placing {
	const struct kind *kind;
	struct way way;
	struct bt_engine *engine;
	struct bt_rng rng;
	struct outcome *outcomes;
	uint32_t cycle_n;
	uint32_t open[ANSWER_EVERY]; /* pods with open bindings, oldest first */
	uint32_t open_n;
};

static uint64_t given_seed(void)
{
	const char *text = getenv("BT_SEED");

	return text ? strtoull(text, NULL, 10) : FIRST_SEED;
}

static void answer_oldest(struct placing *p)
{
	uint32_t pod_ix = p->open[0];

	memmove(p->open, p->open + 1, --p->open_n * sizeof(p->open[0]));
	if (bt_rng_below(&p->rng, 10) == 0) {
		bt_engine_bind_failed(p->engine, pod_ix);
	} else {
		bt_engine_bound(p->engine, pod_ix);
	}
}

static void bind_pod(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	struct placing *p = context;

	(void)node_ix;
	if (!p->kind->churn) {
		bt_engine_bound(engine, pod_ix);
		return;
	}
	if (p->open_n == ANSWER_EVERY) {
		answer_oldest(p);
	}
	p->open[p->open_n++] = pod_ix;
}

/* Deletes a victim at once. */
static void evict(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	(void)context;
	(void)for_ix;
	bt_engine_remove_pod(engine, pod_ix);
}

static bool take(void *context, const struct bt_object *object)
{
	struct placing *p = context;
	enum bt_entry entry;
	uint32_t ix;

	bt_engine_apply(p->engine, object, &entry, &ix);
	return true;
}

static void load(struct placing *p, uint64_t seed)
{
	struct bt_generate_options options = bt_generate_defaults();

	options.node_n = p->kind->node_n;
	options.pod_n = p->kind->pod_n;
	options.signature_n = SIGNATURE_N;
	options.profiles = p->kind->profiles;
	options.distinct_requests = p->kind->distinct;
	options.seed = seed;
	options.bound = p->kind->full ? 0.92 : 0.2;
	bt_generate(&options, take, p);
}

/* Changes a node's zone, size or unschedulable flag; it keeps its slot. */
static void change_node(struct placing *p)
{
	const struct bt_snapshot *snapshot = bt_engine_cache(p->engine)->view.snapshot;
	uint32_t slot = bt_rng_below(&p->rng, snapshot->slot_n);
	struct bt_node_object node = {.unschedulable = bt_rng_below(&p->rng, 4) == 0};
	struct bt_arena arena = {0};

	if (!bt_bitmap_test(snapshot->live, slot)) {
		return;
	}
	node.meta.name = bt_intern_str(snapshot->dictionary->intern, snapshot->nodes[slot].name);
	bt_build_pair(&arena, &node.meta.labels, bt_str("kubernetes.io/hostname"), node.meta.name);
	bt_build_pair(&arena, &node.meta.labels, bt_str("topology.kubernetes.io/zone"),
		bt_build_text(&arena, "zone-%" PRIu32, bt_rng_below(&p->rng, 4)));
	bt_build_quantity(&arena, &node.allocatable, "cpu", bt_build_count(4 << bt_rng_below(&p->rng, 5)));
	bt_build_quantity(&arena, &node.allocatable, "memory", bt_build_mib(65536));
	bt_build_quantity(&arena, &node.allocatable, "pods", bt_build_count(110));
	if (bt_engine_apply_node(p->engine, &node, &slot) != BT_OK) {
		fail_msg("a node is not taken");
	}
	bt_arena_fini(&arena);
}

/* Makes a change between two cycles; it depends on the cycle's number alone, so every run makes the same. */
static void disturb(struct placing *p)
{
	const struct bt_view *view = &bt_engine_cache(p->engine)->view;

	if (!p->kind->churn || p->cycle_n % 5) {
		return;
	}
	if (p->cycle_n % 155 == 0) {
		uint32_t node_ix = bt_rng_below(&p->rng, view->snapshot->slot_n);

		bt_engine_remove_node(p->engine, bt_intern_str(view->snapshot->dictionary->intern,
							 view->snapshot->nodes[node_ix].name));
	} else if (p->cycle_n % 15 == 0) {
		change_node(p);
	} else if (p->cycle_n > 10) {
		const struct outcome *before = &p->outcomes[bt_rng_below(&p->rng, p->cycle_n)];
		const struct bt_pod *pod = bt_ledger_pod(bt_engine_cache(p->engine)->ledger, before->pod_ix);

		if (pod->state == BT_POD_SCHEDULED && !pod->detached) {
			bt_engine_remove_pod(p->engine, before->pod_ix);
		}
	}
}

static enum bt_catch_up choose(void *context, uint64_t behind, uint32_t slot_n, uint32_t stable_rounds)
{
	struct chooser *chooser = context;

	(void)behind;
	(void)slot_n;
	(void)stable_rounds;
	chooser->asked_n++;
	return chooser->draws ? (enum bt_catch_up)bt_rng_below(&chooser->rng, BT_CATCH_UP_AND_INDEX + 1)
			      : chooser->choice;
}

static void place_all(struct placing *p)
{
	uint32_t pod_ix;

	while (p->cycle_n < (p->kind->full ? CYCLES_MAX / 4 : CYCLES_MAX)) {
		struct bt_decision decision;

		pod_ix = bt_engine_pop(p->engine);
		if (pod_ix == BT_NO_POD && p->open_n) {
			answer_oldest(p);
			continue;
		}
		if (pod_ix == BT_NO_POD) {
			break;
		}
		bt_engine_decide(p->engine, pod_ix, &decision);
		p->outcomes[p->cycle_n++] = (struct outcome){pod_ix, decision.node_ix, decision.outcome};
		disturb(p);
	}
}

/* Returns CYCLES_MAX outcomes, zeroes at the end. */
static struct outcome *run(
	const struct kind *kind, struct way way, uint64_t seed, struct bt_engine_counts *out_counts)
{
	struct placing p = {.kind = kind, .way = way, .rng = {seed}};
	const struct bt_team_options team_options = {.worker_n = way.worker_n, .spin_n = way.spin_n};
	struct bt_config config;
	struct bt_gates gates;
	enum bt_status status;

	bt_gates_init(&gates, bt_release_default());
	bt_config_init_default(&config, &gates);
	struct bt_team *team = way.worker_n ? bt_team_create(&team_options, &status) : NULL;
	struct bt_engine_options options = {.seed = seed,
		.binder = {bind_pod, &p},
		.evictor = {evict, &p},
		.no_backoff = true,
		.groups_by_events = true,
		.team = team,
		.batch = way.batch,
		.always_share = true};

	p.outcomes = bt_mem_zalloc(CYCLES_MAX, sizeof(*p.outcomes));
	p.engine = fixture_engine(&config, &options);
	load(&p, seed);
	bt_scan_use(way.scan);
	bt_column_choose_by(way.chooser ? choose : NULL, way.chooser);
	if (way.delays) {
		bt_testpoint_delay(way.delays);
	}
	place_all(&p);
	if (way.delays) {
		bt_testpoint_off();
	}
	*out_counts = bt_engine_counts(p.engine);
	bt_scan_use(NULL);
	bt_column_choose_by(NULL, NULL);
	bt_engine_destroy(p.engine);
	bt_team_destroy(team);
	bt_config_fini(&config);
	return p.outcomes;
}

static void check(const struct kind *kind, struct way way, uint64_t seed, const struct outcome *wanted)
{
	struct bt_engine_counts counts;
	struct outcome *got = run(kind, way, seed, &counts);

	for (uint32_t i = 0; i < CYCLES_MAX; i++) {
		if (memcmp(&wanted[i], &got[i], sizeof(*got)) != 0) {
			fail_msg(
				"BT_SEED=%" PRIu64
				" %s, %s, %u workers, batch %u, %u spins: cycle %u is pod %u outcome %d node "
				"%u, alone it was pod %u outcome %d node %u",
				seed, kind->name, way.name ? way.name : "as ever", way.worker_n, way.batch,
				way.spin_n, i, got[i].pod_ix, (int)got[i].outcome, got[i].node_ix,
				wanted[i].pod_ix, (int)wanted[i].outcome, wanted[i].node_ix);
		}
	}
	/* In full clusters a long batch has more pods than fit: no plan exists at its start. */
	assert_true(way.worker_n < 2 || (kind->full && way.batch > 64) ||
		    (counts.warm.shared_n > 0 && counts.warm.column_n > 0));
	bt_mem_free(got);
}

/* Slow builds: two teams, and only on the last kind. */
static bool quick;

/* EDGE team.job, EDGE team.claimed, EDGE team.done. */
static void workers_batches_and_timing_change_no_decision(void **state)
{
	static const uint32_t workers[] = {1, 2, 4, 8}, batches[] = {1, 7, 64, 1024}, spins[] = {1, 2000, 50};
	uint64_t seed = given_seed();
	uint32_t nth = 0;

	(void)state;
	print_message("BT_SEED=%" PRIu64 "\n", seed);
	for (uint32_t k = quick ? KIND_N - 1 : 0; k < KIND_N; k++) {
		struct bt_engine_counts counts;
		struct outcome *alone = run(&kinds[k], (struct way){0}, seed + k, &counts);

		assert_int_equal(counts.warm.batch_n, 0);
		assert_true(kinds[k].full || counts.placed_n > CYCLES_MAX / 3);
		assert_true(!kinds[k].full || (counts.refused_n > 20 && counts.preemption_n > 0));
		/* Preemption is slow: two teams, two batches. */
		uint32_t step = quick ? 8 : kinds[k].full ? 4 : 1;
		for (uint32_t i = kinds[k].full ? 5 : quick ? 6 : 0; i < 16; i += step, nth++) {
			const struct way way = {.worker_n = workers[i / 4],
				.batch = batches[i % 4],
				.spin_n = spins[nth % 3],
				.delays = nth % 3 == 2 ? seed + nth : 0};

			check(&kinds[k], way, seed + k, alone);
		}
		bt_mem_free(alone);
	}
}

/* With one thread: all columns that are updated call the chooser. */
static void no_version_of_the_scan_and_no_way_to_catch_up_changes_a_decision(void **state)
{
	struct chooser choosers[] = {{.name = "always all", .choice = BT_CATCH_UP_ALL},
		{.name = "never indexed", .choice = BT_CATCH_UP_JOURNAL},
		{.name = "always indexed", .choice = BT_CATCH_UP_AND_INDEX},
		{.name = "at random", .draws = true, .rng = {1}}};
	/* Without an index every decision scans. */
	struct chooser scanned = {.choice = BT_CATCH_UP_JOURNAL};
	static const char *const scans[] = {"portable", "avx2", "avx512"};
	uint64_t seed = given_seed();

	(void)state;
	for (uint32_t k = quick ? KIND_N - 1 : 0; k < KIND_N; k++) {
		struct bt_engine_counts counts;
		struct outcome *alone = run(&kinds[k], (struct way){0}, seed + k, &counts);

		for (size_t i = 0; i < sizeof(choosers) / sizeof(choosers[0]); i++) {
			const struct way way = {.chooser = &choosers[i], .name = choosers[i].name};

			choosers[i].asked_n = 0;
			check(&kinds[k], way, seed + k, alone);
			assert_true(choosers[i].asked_n > CYCLES_MAX / 50);
		}
		for (size_t i = 0; i < sizeof(scans) / sizeof(scans[0]); i++) {
			const struct way way = {
				.scan = bt_scan_version(scans[i]), .chooser = &scanned, .name = scans[i]};

			if (way.scan) {
				check(&kinds[k], way, seed + k, alone);
			}
		}
		bt_mem_free(alone);
	}
}

#define HELD_NS INT64_C(2000000)

/* Releases a held thread after a while. None is held if the run has ended before. */
static void release_held(void *context)
{
	bool *held = context;

	*held = bt_testpoint_await_held(INT64_MAX / 2);
	if (*held) {
		for (int64_t end = bt_clock_monotonic_ns() + HELD_NS; bt_clock_monotonic_ns() < end;) {
			bt_thread_yield();
		}
	}
	bt_testpoint_release();
}

/* One run in which the thread that reaches the point, after skip_n others, is held. Returns: whether a thread
 * reached it. */
static bool run_with_held(const char *point, uint64_t skip_n, uint64_t seed, const struct outcome *wanted)
{
	const struct way way = {.worker_n = 3, .batch = 7, .spin_n = 1};
	const struct bt_thread_options options = {.name = "releaser"};
	struct bt_thread *thread;
	bool held = false;

	bt_testpoint_hold(point, skip_n);
	assert_int_equal(bt_thread_start(&options, release_held, &held, &thread, NULL), BT_OK);
	check(&kinds[0], way, seed, wanted);
	bt_testpoint_release();
	bt_thread_join(&thread);
	bt_testpoint_off();
	return held;
}

/* Whether a worker takes a share before the announcing thread has done all of the job is up to the kernel, so
 * each point is tried until a thread reaches it. */
static void a_worker_held_at_any_race_point_changes_no_decision(void **state)
{
	static const char *const points[] = {"team.run.before_announce", "team.run.before_claim",
		"team.worker.has_job", "team.worker.has_claimed", "team.worker.before_done"};
	struct bt_engine_counts counts;
	uint64_t seed = given_seed();

	(void)state;
	if (!bt_testpoint_is_built()) {
		skip();
	}
	print_message("BT_SEED=%" PRIu64 "\n", seed);
	struct outcome *alone = run(&kinds[0], (struct way){0}, seed, &counts);
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		while (!run_with_held(points[i], i, seed, alone)) {
		}
	}
	bt_mem_free(alone);
}

int main(int argc, char **argv)
{
	quick = argc > 1 && strcmp(argv[1], "quick") == 0;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(workers_batches_and_timing_change_no_decision),
		cmocka_unit_test(no_version_of_the_scan_and_no_way_to_catch_up_changes_a_decision),
		cmocka_unit_test(a_worker_held_at_any_race_point_changes_no_decision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
