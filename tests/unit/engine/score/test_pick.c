/* SPDX-License-Identifier: Apache-2.0
 * Picking by columns, with fake plugins, returns the node that evaluating every node returns,
 * or reports that it cannot: after any change, and for any relation of the groups of nodes.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "seed.h"

#include "cache/device_view.h"
#include "cache/node_view.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "engine/score/evaluate.h"
#include "engine/score/scan.h"

#define NODE_N	    150
#define LEAST_N	    120 /* as nodes come and go: on both sides of a word of a bitmap */
#define SIGNATURE_N 4
#define KIND_N	    30 /* more than there are masks */
#define FEW_KINDS   6
#define JOURNAL_N   1024
#define CHANGES_N   64
#define ROOM	    6 /* pods of a node */

/* What makes scores leave 0..100: a node with excessive amounts, or excessive sums, whose changes count as
 * releases. */
enum out_of_range { ODD_NOTHING = 0, ODD_AMOUNTS, ODD_SUMS };

/* The state that the plugins read: their settings. */
struct world {
	struct bt_rng rng;
	struct bt_snapshot snapshot;
	struct bt_usage usage;
	struct bt_device_store devices; /* empty */
	struct bt_view view;
	uint64_t live[(NODE_N + 63) / 64];
	struct bt_node nodes[NODE_N];
	struct bt_node_use on[NODE_N]; /* used cpu stands for sums, which may be excessive */
	struct bt_node_room rooms[NODE_N];
	uint32_t journal[JOURNAL_N], changes[CHANGES_N];
	uint32_t kind_n;			 /* nodes exist, now or later, of kinds below this */
	uint32_t kind[NODE_N];			 /* what the description amounts to */
	int64_t flat[SIGNATURE_N][KIND_N];	 /* a score that is not normalised */
	int64_t likes[SIGNATURE_N][KIND_N];	 /* raw score of the kind; below 0: refused */
	int64_t dislikes[SIGNATURE_N][KIND_N];	 /* raw, reversed */
	int64_t uses[SIGNATURE_N][NODE_N][ROOM]; /* scores by usage */
	struct bt_signature signatures[SIGNATURE_N];
	struct bt_profile profile;
};

static uint32_t below(struct world *w, uint32_t n)
{
	return bt_rng_below(&w->rng, n);
}

struct term {
	const struct world *w;
	uint32_t signature;
};

static void compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out)
{
	struct term *term = bt_arena_zalloc(env->arena, sizeof(*term));

	*term = (struct term){settings, signature->ix};
	out->term = term;
}

static uint64_t asked_n; /* nodes for which flat_score was called */

static void flat_score(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct term *t = opaque;

	(void)view;
	asked_n += n;
	for (uint32_t i = 0; i < n; i++) {
		raw[i] = t->w->flat[t->signature][t->w->kind[first + i]];
	}
}

static void likes_filter(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct term *t = opaque;

	(void)view;
	for (uint32_t i = 0; i < n; i++) {
		pass[i] = t->w->likes[t->signature][t->w->kind[first + i]] >= 0;
	}
}

static void likes_score(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct term *t = opaque;

	(void)view;
	for (uint32_t i = 0; i < n; i++) {
		int64_t like = t->w->likes[t->signature][t->w->kind[first + i]];

		raw[i] = like < 0 ? 0 : like;
	}
}

static void dislikes_score(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct term *t = opaque;

	(void)view;
	for (uint32_t i = 0; i < n; i++) {
		raw[i] = t->w->dislikes[t->signature][t->w->kind[first + i]];
	}
}

/* The view may be a copy with several nodes side by side: allocatable identifies a node. */
static uint32_t node_of(const struct bt_view *view, uint32_t at)
{
	return (uint32_t)(view->snapshot->rooms[at].alloc[BT_CPU] % 1000);
}

static void use_filter(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	(void)opaque;
	for (uint32_t i = 0; i < n; i++) {
		pass[i] = view->usage->nodes[first + i].pod_n < ROOM;
	}
}

static void use_score(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct term *t = opaque;

	for (uint32_t i = 0; i < n; i++) {
		const struct bt_node_use *use = &view->usage->nodes[first + i];

		if (use->used[BT_CPU]) {
			raw[i] = 101;
			continue;
		}
		raw[i] = use->pod_n < ROOM ? t->w->uses[t->signature][node_of(view, first + i)][use->pod_n]
					   : 0;
	}
}

static void use_key(const void *opaque, struct bt_buf *out_key)
{
	const struct term *t = opaque;

	bt_buf_add(out_key, &t->signature, sizeof(t->signature));
}

static void flat_key(const void *opaque, struct bt_buf *out_key)
{
	const struct term *t = opaque;

	bt_buf_add(out_key, t->w->flat[t->signature], sizeof(t->w->flat[0]));
}

static void likes_key(const void *opaque, struct bt_buf *out_key)
{
	const struct term *t = opaque;

	bt_buf_add(out_key, t->w->likes[t->signature], sizeof(t->w->likes[0]));
}

static void dislikes_key(const void *opaque, struct bt_buf *out_key)
{
	const struct term *t = opaque;

	bt_buf_add(out_key, t->w->dislikes[t->signature], sizeof(t->w->dislikes[0]));
}

static const struct bt_plugin flat = {.name = "Flat",
	.score_depends = BT_DEPENDS_ON_DESCRIPTION,
	.compile = compile,
	.score = flat_score,
	.key = flat_key};
static const struct bt_plugin likes = {.name = "Likes",
	.filter_depends = BT_DEPENDS_ON_DESCRIPTION,
	.score_depends = BT_DEPENDS_ON_DESCRIPTION,
	.normalize = BT_NORMALIZE_DEFAULT,
	.compile = compile,
	.filter = likes_filter,
	.score = likes_score,
	.key = likes_key};
static const struct bt_plugin dislikes = {.name = "Dislikes",
	.score_depends = BT_DEPENDS_ON_DESCRIPTION,
	.normalize = BT_NORMALIZE_REVERSED,
	.compile = compile,
	.score = dislikes_score,
	.key = dislikes_key};
static const struct bt_plugin use = {.name = "Use",
	.filter_depends = BT_DEPENDS_ON_USAGE,
	.score_depends = BT_DEPENDS_ON_USAGE,
	.compile = compile,
	.filter = use_filter,
	.score = use_score,
	.key = use_key};

static void add_use(struct world *w, const struct bt_plugin *plugin, int64_t weight)
{
	struct bt_profile *p = &w->profile;
	uint32_t u = p->use_n++;

	p->uses[u] = (struct bt_plugin_use){.plugin = plugin,
		.settings = w,
		.weight = weight,
		.filter = plugin->filter != NULL,
		.score = true};
	p->score[p->score_n++] = u;
	if (plugin->filter) {
		p->filter[p->filter_n++] = u;
	}
}

/* Few different scores make ties; high ones let usage dominate. */
static int64_t any_score(struct world *w, bool out_of_range)
{
	static const int64_t some[] = {0, 50, 99, 100};

	if (out_of_range && below(w, 40) == 0) {
		return 101;
	}
	return below(w, 3) ? some[below(w, 4)] : (int64_t)below(w, 101);
}

/* Often a signature equals the one before it for some plugins, or for all. */
static void be_like_another(struct world *w, uint32_t s)
{
	uint32_t in = s ? below(w, 8) : 0;

	if (in & 1) {
		memcpy(w->flat[s], w->flat[s - 1], sizeof(w->flat[s]));
	}
	if (in & 2) {
		memcpy(w->likes[s], w->likes[s - 1], sizeof(w->likes[s]));
	}
	if (in & 4) {
		memcpy(w->dislikes[s], w->dislikes[s - 1], sizeof(w->dislikes[s]));
	}
}

static void fill(struct world *w, enum out_of_range out_of_range)
{
	static const int64_t some[] = {-1, 0, 1, 50, 70, 100};

	for (uint32_t s = 0; s < SIGNATURE_N; s++) {
		w->signatures[s].ix = s;
		bool agree = below(w, 3) == 0;

		for (uint32_t k = 0; k < KIND_N; k++) {
			bool uniform = agree && k < FEW_KINDS;

			w->flat[s][k] = 50 * below(w, 3);
			w->likes[s][k] = uniform ? 1 : some[below(w, 6)];
			w->dislikes[s][k] = uniform || below(w, 3) ? 0 : below(w, 3);
		}
		be_like_another(w, s);
		for (uint32_t i = 0; i < NODE_N; i++) {
			for (uint32_t p = 0; p < ROOM; p++) {
				w->uses[s][i][p] = any_score(w, out_of_range == ODD_AMOUNTS && i == 7);
			}
		}
	}
	for (uint32_t i = 0; i < NODE_N; i++) {
		bt_bitmap_set(w->live, i);
		w->kind[i] = below(w, FEW_KINDS);
		w->rooms[i].alloc[BT_CPU] = i;
		w->on[i].pod_n = below(w, ROOM + 1);
	}
	w->rooms[7].alloc[BT_CPU] = out_of_range == ODD_AMOUNTS ? (INT64_C(1) << 46) / 1000 * 1000 + 1007 : 7;
}

static struct world *world_create(uint64_t seed, enum out_of_range out_of_range)
{
	struct world *w = bt_mem_zalloc(1, sizeof(*w));

	w->rng.state = seed;
	w->kind_n = FEW_KINDS;
	w->snapshot = (struct bt_snapshot){.version = 1,
		.layout_version = 1,
		.changes = w->changes,
		.changes_mask = CHANGES_N - 1,
		.slot_n = NODE_N,
		.slot_room = NODE_N,
		.node_n = NODE_N,
		.live = w->live,
		.nodes = w->nodes,
		.rooms = w->rooms};
	w->usage = (struct bt_usage){.nodes = w->on, .journal = w->journal, .journal_mask = JOURNAL_N - 1};
	w->view = (struct bt_view){.snapshot = &w->snapshot, .usage = &w->usage, .devices = &w->devices};
	add_use(w, &flat, 2);
	add_use(w, &likes, 2);
	add_use(w, &dislikes, 3);
	add_use(w, &use, 1 + (int64_t)below(w, 2));
	fill(w, out_of_range);
	return w;
}

static void note(struct world *w, uint32_t node, bool release)
{
	w->usage.release_n += release;
	w->journal[w->usage.journal_end++ & w->usage.journal_mask] = node;
}

static void change(struct world *w, enum out_of_range out_of_range)
{
	uint32_t node = below(w, NODE_N);
	bool release = below(w, 30) == 0;

	if (out_of_range == ODD_SUMS && below(w, 100) == 0) {
		w->on[node].used[BT_CPU] = !w->on[node].used[BT_CPU];
		note(w, node, true);
		return;
	}
	if (release ? w->on[node].pod_n == 0 : w->on[node].pod_n == ROOM) {
		return;
	}
	w->on[node].pod_n += release ? -1 : 1;
	note(w, node, release);
}

/* Changes a node's description; it keeps its slot. */
static void describe(struct world *w, uint32_t node)
{
	w->changes[w->snapshot.changes_end++ & w->snapshot.changes_mask] = node;
	w->snapshot.version++;
	note(w, node, true);
}

/* Nodes change in place, sometimes many at once; one gets excessive amounts. */
static void change_descriptions(struct world *w, enum out_of_range out_of_range, int round)
{
	for (uint32_t n = round % 50 ? below(w, 3) : below(w, 2 * CHANGES_N); n; n--) {
		uint32_t node = below(w, NODE_N);

		w->kind[node] = below(w, below(w, 3) ? FEW_KINDS : w->kind_n);
		describe(w, node);
	}
	if (out_of_range == ODD_AMOUNTS && round == 300) {
		w->rooms[7].alloc[BT_CPU] = (INT64_C(1) << 46) / 1000 * 1000 + 1007;
		for (uint32_t i = 0; i < SIGNATURE_N * ROOM; i++) {
			w->uses[i / ROOM][7][i % ROOM] = any_score(w, true);
		}
		describe(w, 7);
	}
}

static void note_slot(struct world *w, uint32_t slot)
{
	w->changes[w->snapshot.changes_end++ & w->snapshot.changes_mask] = slot;
	w->snapshot.version++;
}

/* The slot's node goes, or a node comes. */
static void turn(struct world *w, uint32_t node)
{
	bool comes = !bt_bitmap_test(w->live, node);

	w->live[node / 64] ^= (uint64_t)1 << node % 64;
	w->snapshot.node_n = comes ? w->snapshot.node_n + 1 : w->snapshot.node_n - 1;
	w->snapshot.live_version++;
	w->rooms[node].alloc[BT_CPU] = comes ? node : 0;
	w->kind[node] = comes ? below(w, below(w, 3) ? FEW_KINDS : w->kind_n) : w->kind[node];
	describe(w, node);
}

static void add_slot(struct world *w)
{
	if (w->snapshot.slot_n < NODE_N) {
		note_slot(w, w->snapshot.slot_n++);
	}
}

/* The last slot is taken back after its node was removed. */
static void take_slot_back(struct world *w)
{
	uint32_t last = w->snapshot.slot_n - 1;

	if (last == LEAST_N) {
		return;
	}
	if (bt_bitmap_test(w->live, last)) {
		turn(w, last);
	}
	w->snapshot.slot_n--;
	note_slot(w, last);
}

/* Nodes come and go, and so do slots at the end. */
static void come_and_go(struct world *w)
{
	for (uint32_t n = below(w, 4); n; n--) {
		uint32_t node = below(w, 2) ? w->snapshot.slot_n - 1 : below(w, w->snapshot.slot_n);

		switch (below(w, 3)) {
		case 0:
			turn(w, node);
			break;
		case 1:
			add_slot(w);
			break;
		default:
			take_slot_back(w);
		}
	}
}

struct outcome {
	uint64_t picked, refused, declined;
};

static void compare(struct world *w, struct bt_planner *planner, struct bt_evaluation *e, struct outcome *out)
{
	struct bt_plan *plan = bt_planner_plan(planner, &w->signatures[below(w, SIGNATURE_N)]);
	uint32_t nodes[NODE_N], n = 0, picked, start = below(w, w->snapshot.slot_n);

	for (uint32_t i = 0; i < w->snapshot.slot_n; i++) {
		nodes[n] = i;
		n += bt_bitmap_test(w->live, i);
	}
	assert_int_equal(n, w->snapshot.node_n);
	bt_evaluate(plan, &w->view, nodes, n, UINT32_MAX, e);
	if (!bt_plan_pick(plan, &w->view, start, &picked)) {
		out->declined++;
		return;
	}
	assert_null(e->error);
	if (e->feasible_n == 0) {
		assert_int_equal(picked, BT_NO_NODE);
		out->refused++;
		return;
	}
	assert_int_equal(picked, e->feasible[bt_evaluation_best(e, start)]);
	out->picked++;
}

static struct outcome play(uint64_t seed, enum out_of_range out_of_range)
{
	struct world *w = world_create(seed, out_of_range);
	const struct bt_planner_env env = {.view = &w->view, .memory_bytes = SIZE_MAX};
	struct bt_planner *planner = bt_planner_create(&w->profile, &env);
	struct bt_evaluation evaluation = {0};
	struct outcome outcome = {0};

	for (int round = 0; round < 800; round++) {
		for (uint32_t n = below(w, round % 40 ? 4 : 100); n; n--) {
			change(w, out_of_range);
		}
		compare(w, planner, &evaluation, &outcome);
	}
	bt_evaluation_fini(&evaluation);
	bt_planner_destroy(planner);
	bt_mem_free(w);
	return outcome;
}

static struct outcome play_in_place(uint64_t seed, enum out_of_range out_of_range)
{
	struct world *w = world_create(seed, ODD_NOTHING);
	const struct bt_planner_env env = {.view = &w->view, .memory_bytes = SIZE_MAX};
	struct bt_planner *planner = bt_planner_create(&w->profile, &env);
	struct bt_evaluation evaluation = {0};
	struct outcome outcome = {0};

	w->kind_n = below(w, 2) ? FEW_KINDS : KIND_N;
	for (int round = 0; round < 600; round++) {
		for (uint32_t n = below(w, 4); n; n--) {
			change(w, out_of_range);
		}
		change_descriptions(w, out_of_range, round);
		compare(w, planner, &evaluation, &outcome);
	}
	bt_evaluation_fini(&evaluation);
	bt_planner_destroy(planner);
	bt_mem_free(w);
	return outcome;
}

static struct outcome play_coming_and_going(uint64_t seed, enum out_of_range out_of_range)
{
	struct world *w = world_create(seed, ODD_NOTHING);
	const struct bt_planner_env env = {.view = &w->view, .memory_bytes = SIZE_MAX};
	struct bt_planner *planner = bt_planner_create(&w->profile, &env);
	struct bt_evaluation evaluation = {0};
	struct outcome outcome = {0};
	uint32_t calm = 1 + 40 * below(w, 2);

	w->kind_n = below(w, 2) ? FEW_KINDS : KIND_N;
	for (int round = 0; round < 600; round++) {
		for (uint32_t n = below(w, 3); n; n--) {
			change(w, out_of_range);
		}
		if (below(w, calm) == 0) {
			come_and_go(w);
		}
		compare(w, planner, &evaluation, &outcome);
	}
	bt_evaluation_fini(&evaluation);
	bt_planner_destroy(planner);
	bt_mem_free(w);
	return outcome;
}

typedef struct outcome player(uint64_t seed, enum out_of_range out_of_range);

static void play_all_by(player *play_one, enum out_of_range out_of_range, uint64_t otherwise)
{
	uint64_t seed = seed_or(otherwise);
	struct outcome sum = {0};

	for (uint64_t i = 0; i < 60; i++) {
		struct outcome one = play_one(bt_rng_at(seed, i), out_of_range);

		sum.picked += one.picked;
		sum.refused += one.refused;
		sum.declined += one.declined;
	}
	print_message("%" PRIu64 " picked, %" PRIu64 " refused, %" PRIu64 " declined\n", sum.picked,
		sum.refused, sum.declined);
	assert_true(sum.picked && (sum.declined > 0) == (out_of_range != ODD_NOTHING));
}

static void play_all(enum out_of_range out_of_range, uint64_t otherwise)
{
	play_all_by(play, out_of_range, otherwise);
}

static void columns_pick_what_evaluation_picks_while_nodes_change_in_place(void **state)
{
	(void)state;
	play_all_by(play_in_place, ODD_NOTHING, 7);
	play_all_by(play_in_place, ODD_AMOUNTS, 8);
}

static void columns_pick_what_evaluation_picks_while_nodes_come_and_go(void **state)
{
	(void)state;
	play_all_by(play_coming_and_going, ODD_NOTHING, 10);
}

static void nodes_that_come_and_go_are_described_alone(void **state)
{
	struct world *w = world_create(11, ODD_NOTHING);
	const struct bt_planner_env env = {.view = &w->view, .memory_bytes = SIZE_MAX};
	struct bt_planner *planner = bt_planner_create(&w->profile, &env);
	struct bt_plan *plans[SIGNATURE_N];

	(void)state;
	take_slot_back(w);
	for (uint32_t s = 0; s < SIGNATURE_N; s++) {
		plans[s] = bt_planner_plan(planner, &w->signatures[s]);
	}
	for (uint32_t what = 0; what < 4; what++) {
		asked_n = 0;
		if (what == 0) {
			add_slot(w);
		} else if (what == 3) {
			take_slot_back(w);
		} else {
			turn(w, w->snapshot.slot_n - 1);
		}
		for (uint32_t s = 0; s < SIGNATURE_N; s++) {
			assert_ptr_equal(bt_planner_plan(planner, &w->signatures[s]), plans[s]);
			assert_int_equal(asked_n, what == 1 ? s + 1 : 0);
		}
	}
	bt_planner_destroy(planner);
	bt_mem_free(w);
}

/* A changed description updates only its own node, and needs no new plan. */
static void a_node_that_changes_in_place_is_described_alone(void **state)
{
	struct world *w = world_create(9, ODD_NOTHING);
	const struct bt_planner_env env = {.view = &w->view, .memory_bytes = SIZE_MAX};
	struct bt_planner *planner = bt_planner_create(&w->profile, &env);
	struct bt_plan *plans[SIGNATURE_N];

	(void)state;
	for (uint32_t s = 0; s < SIGNATURE_N; s++) {
		plans[s] = bt_planner_plan(planner, &w->signatures[s]);
	}
	asked_n = 0;
	w->kind[3] = (w->kind[3] + 1) % FEW_KINDS;
	describe(w, 3);
	for (uint32_t s = 0; s < SIGNATURE_N; s++) {
		assert_null(bt_planner_find(planner, &w->signatures[s]));
		assert_ptr_equal(bt_planner_plan(planner, &w->signatures[s]), plans[s]);
		assert_ptr_equal(bt_planner_find(planner, &w->signatures[s]), plans[s]);
		assert_int_equal(asked_n, s + 1);
	}
	bt_planner_destroy(planner);
	bt_mem_free(w);
}

static bool is_bound(const void *term)
{
	(void)term;
	return true;
}

static void follow_nothing(void *context)
{
	(void)context;
}

static void a_plan_ends_with_the_domain_counts_of_its_terms(void **state)
{
	struct world *w = world_create(7, ODD_NOTHING);
	const struct bt_planner_env env = {.view = &w->view, .memory_bytes = SIZE_MAX};
	struct bt_counting counting = {.domains_version = 1, .follow = follow_nothing};
	struct bt_plugin bound = flat;

	(void)state;
	bound.bound = is_bound;
	w->profile.uses[0].plugin = &bound;
	w->view.counting = &counting;
	struct bt_planner *planner = bt_planner_create(&w->profile, &env);
	const struct bt_plan *plan = bt_planner_plan(planner, &w->signatures[0]);
	describe(w, 3);
	assert_ptr_equal(bt_planner_plan(planner, &w->signatures[0]), plan);
	describe(w, 3);
	counting.domains_version++;
	assert_ptr_not_equal(bt_planner_plan(planner, &w->signatures[0]), plan);
	bt_planner_destroy(planner);
	bt_mem_free(w);
}

static uint32_t affected; /* the node whose images have changed */

static bool follow_images(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, void *state, uint64_t *nodes)
{
	(void)settings;
	(void)env;
	(void)signature;
	(void)state;
	bt_bitmap_set(nodes, affected);
	return true;
}

/* Columns without indexes, which are scanned. */
static enum bt_catch_up by_journal(void *context, uint64_t behind, uint32_t slot_n, uint32_t stable_rounds)
{
	(void)context;
	(void)stable_rounds;
	return behind > slot_n ? BT_CATCH_UP_ALL : BT_CATCH_UP_JOURNAL;
}

/* Finds the best total of each block, as workers do. */
static void know_blocks(const struct world *w, struct bt_plan *plan)
{
	size_t block_n = bt_scan_padded(NODE_N) / BT_SCAN_STEP;

	plan->block_best =
		plan->block_best ? plan->block_best : bt_mem_column(block_n, sizeof(*plan->block_best));
	bt_scan_blocks(plan->usage->value, plan->base, 0, block_n, plan->block_best);
	plan->blocks_known = true;
	plan->blocks_at = w->usage.journal_end;
}

/* Without an entry in the usage's journal, and without a new description. */
static void picks_follow_scores_that_images_change(void **state)
{
	struct world *w = world_create(seed_or(8), ODD_NOTHING);
	const struct bt_planner_env env = {.view = &w->view, .memory_bytes = SIZE_MAX};
	struct bt_plugin images = flat;
	struct bt_evaluation evaluation = {0};
	struct outcome outcome = {0};

	(void)state;
	images.counts_nodes = is_bound;
	images.follow_images = follow_images;
	w->profile.uses[0].plugin = &images;
	for (uint32_t s = 0; s < SIGNATURE_N; s++) {
		for (uint32_t k = 1; k < KIND_N; k++) {
			w->likes[s][k] = w->likes[s][0] = 1;
			w->dislikes[s][k] = w->dislikes[s][0];
		}
	}
	struct bt_planner *planner = bt_planner_create(&w->profile, &env);
	bt_column_choose_by(by_journal, NULL);
	for (uint32_t round = 0; round < 2000; round++) {
		for (uint32_t s = 0; s < SIGNATURE_N; s++) {
			struct bt_plan *plan = bt_planner_plan(planner, &w->signatures[s]);
			uint32_t picked;

			if (bt_plan_pick(plan, &w->view, 0, &picked) && plan->base_filled) {
				know_blocks(w, plan);
			}
		}
		affected = below(w, NODE_N);
		w->kind[affected] = below(w, FEW_KINDS);
		w->snapshot.live_version++;
		w->snapshot.image_version++;
		compare(w, planner, &evaluation, &outcome);
		change(w, ODD_NOTHING);
	}
	bt_column_choose_by(NULL, NULL);
	assert_true(outcome.picked > 1000);
	bt_evaluation_fini(&evaluation);
	bt_planner_destroy(planner);
	bt_mem_free(w);
}

static void columns_pick_what_evaluation_picks(void **state)
{
	(void)state;
	play_all(ODD_NOTHING, 1);
}

static void columns_decline_when_amounts_take_a_score_out_of_range(void **state)
{
	(void)state;
	play_all(ODD_AMOUNTS, 2);
}

static void columns_decline_when_sums_take_a_score_out_of_range(void **state)
{
	(void)state;
	play_all(ODD_SUMS, 3);
}

static void descriptions_that_mean_the_same_are_looked_at_once(void **state)
{
	struct world *w = world_create(4, ODD_NOTHING);
	const struct bt_planner_env env = {.view = &w->view, .memory_bytes = SIZE_MAX};
	struct bt_planner *planner = bt_planner_create(&w->profile, &env);

	(void)state;
	for (uint32_t s = 1; s < SIGNATURE_N; s++) {
		memcpy(w->flat[s], w->flat[0], sizeof(w->flat[s]));
		memcpy(w->likes[s], w->likes[0], sizeof(w->likes[s]));
		memcpy(w->dislikes[s], w->dislikes[0], sizeof(w->dislikes[s]));
	}
	w->flat[SIGNATURE_N - 1][0] = w->flat[0][0] ? 0 : 50;
	asked_n = 0;
	for (uint32_t s = 0; s < SIGNATURE_N; s++) {
		bt_planner_plan(planner, &w->signatures[s]);
		assert_int_equal(asked_n, s < SIGNATURE_N - 1 ? NODE_N : 2 * NODE_N);
	}
	/* Descriptions of nodes have changed. */
	w->snapshot.layout_version++;
	bt_planner_plan(planner, &w->signatures[1]);
	assert_int_equal(asked_n, 3 * NODE_N);
	bt_planner_destroy(planner);
	bt_mem_free(w);
}

static void shared_groups_count_towards_the_limit_of_memory(void **state)
{
	struct world *w = world_create(5, ODD_NOTHING);
	const struct bt_planner_env env = {.view = &w->view, .memory_bytes = 1};
	struct bt_planner *planner = bt_planner_create(&w->profile, &env);

	(void)state;
	memcpy(w->flat[1], w->flat[0], sizeof(w->flat[1]));
	memcpy(w->likes[1], w->likes[0], sizeof(w->likes[1]));
	memcpy(w->dislikes[1], w->dislikes[0], sizeof(w->dislikes[1]));
	asked_n = 0;
	bt_planner_plan(planner, &w->signatures[0]);
	bt_planner_plan(planner, &w->signatures[1]);
	assert_int_equal(asked_n, 2 * NODE_N);
	assert_int_equal(bt_planner_drop_n(planner), 1);
	bt_planner_destroy(planner);
	bt_mem_free(w);
}

static void own_normalize(
	const void *opaque, const struct bt_view *view, const uint32_t *nodes, uint32_t n, int64_t *scores)
{
	(void)opaque;
	(void)view;
	(void)nodes;
	for (uint32_t i = 0; i < n; i++) {
		scores[i] = scores[i] > 0 ? 0 : BT_MAX_NODE_SCORE;
	}
}

/* Every node is evaluated; columns are not used. */
static void expect_no_columns(const struct bt_plugin *plugin)
{
	struct world *w = world_create(6, ODD_NOTHING);
	const struct bt_planner_env env = {.view = &w->view, .memory_bytes = SIZE_MAX};
	struct bt_evaluation evaluation = {0};
	struct outcome outcome = {0};

	w->profile.uses[1].plugin = plugin;
	struct bt_planner *planner = bt_planner_create(&w->profile, &env);
	for (int round = 0; round < 50; round++) {
		compare(w, planner, &evaluation, &outcome);
	}
	assert_int_equal(outcome.declined, 50);
	bt_evaluation_fini(&evaluation);
	bt_planner_destroy(planner);
	bt_mem_free(w);
}

static void a_plugin_with_its_own_normalization_is_called_for_every_node(void **state)
{
	struct bt_plugin own = likes;

	(void)state;
	own.normalize = BT_NORMALIZE_OWN;
	own.normalize_own = own_normalize;
	expect_no_columns(&own);
}

static void a_plugin_without_declared_dependencies_is_called_for_every_node(void **state)
{
	const struct bt_plugin silent = {
		.name = "silent", .compile = compile, .filter = likes_filter, .score = likes_score};
	const struct bt_plugin filters = {.name = "filters",
		.score_depends = BT_DEPENDS_ON_DESCRIPTION,
		.compile = compile,
		.filter = likes_filter,
		.score = likes_score};

	(void)state;
	expect_no_columns(&silent);
	expect_no_columns(&filters);
}

/* Starts a planner with the plugin in a child, which aborts. */
static void expect_abort(const struct bt_plugin *plugin)
{
	struct world *w = world_create(6, ODD_NOTHING);
	const struct bt_planner_env env = {.view = &w->view, .memory_bytes = SIZE_MAX};
	int status = 0;

	w->profile.uses[1].plugin = plugin;
	fflush(NULL);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		signal(SIGABRT, SIG_DFL);
		bt_planner_create(&w->profile, &env);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	bt_mem_free(w);
}

static void bind_nothing(void *state, const struct bt_view *view, bool *out_filter_skip, bool *out_score_skip)
{
	(void)state;
	(void)view;
	*out_filter_skip = *out_score_skip = true;
}

static void a_plugin_that_lacks_what_it_declares_is_refused(void **state)
{
	struct bt_plugin counts = likes, binds = likes, normalizes = likes;

	(void)state;
	counts.filter_depends = BT_DEPENDS_ON_COUNTERS;
	binds.prepare = bind_nothing;
	normalizes.normalize = BT_NORMALIZE_OWN;
	expect_abort(&counts);
	expect_abort(&binds);
	expect_abort(&normalizes);
}

/* Pods of all signatures have the same usage, and share a column. */
static void shared_key(const void *opaque, struct bt_buf *out_key)
{
	(void)opaque;
	bt_buf_add(out_key, "", 1);
}

/* All nodes are equal for the first signature, and none is feasible for the second. */
static struct world *plain_world_create(uint64_t seed, struct bt_plugin *shared_use)
{
	struct world *w = world_create(seed, ODD_NOTHING);

	*shared_use = use;
	shared_use->key = shared_key;
	w->profile.uses[w->profile.use_n - 1].plugin = shared_use;
	for (uint32_t k = 0; k < KIND_N; k++) {
		w->flat[0][k] = w->likes[0][k] = w->dislikes[0][k] = 1;
		w->likes[1][k] = -1;
	}
	memcpy(w->uses[1], w->uses[0], sizeof(w->uses[0]));
	return w;
}

static void a_plan_foresees_what_it_picks_once_it_has_picked(void **state)
{
	uint64_t seed = seed_or(4);
	struct bt_plugin shared_use;
	struct world *w = plain_world_create(seed, &shared_use);
	const struct bt_planner_env env = {.view = &w->view, .memory_bytes = SIZE_MAX};
	struct bt_planner *planner = bt_planner_create(&w->profile, &env);
	struct bt_plan *plan = bt_planner_plan(planner, &w->signatures[0]);
	uint32_t foreseen_n = 0, picked;

	(void)state;
	assert_int_equal(bt_plan_predict(plan, &w->view, 0, 0), BT_NO_NODE);
	for (int round = 0; round < 300; round++) {
		uint32_t start = below(w, NODE_N);

		change(w, ODD_NOTHING);
		assert_true(bt_plan_pick(plan, &w->view, start, &picked));
		uint32_t foreseen = bt_plan_predict(plan, &w->view, start, 0);
		assert_true(foreseen == picked || foreseen == BT_NO_NODE);
		foreseen_n += foreseen != BT_NO_NODE;
	}
	assert_true(foreseen_n > 200);
	/* Its column is indexed by now, but the order of its groups has not been computed. */
	struct bt_plan *other = bt_planner_plan(planner, &w->signatures[1]);
	assert_ptr_equal(other->usage, plan->usage);
	assert_int_equal(bt_plan_predict(other, &w->view, 0, 0), BT_NO_NODE);
	bt_planner_destroy(planner);
	bt_mem_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_foresees_what_it_picks_once_it_has_picked),
		cmocka_unit_test(columns_pick_what_evaluation_picks),
		cmocka_unit_test(a_plan_ends_with_the_domain_counts_of_its_terms),
		cmocka_unit_test(picks_follow_scores_that_images_change),
		cmocka_unit_test(columns_pick_what_evaluation_picks_while_nodes_change_in_place),
		cmocka_unit_test(a_node_that_changes_in_place_is_described_alone),
		cmocka_unit_test(columns_pick_what_evaluation_picks_while_nodes_come_and_go),
		cmocka_unit_test(nodes_that_come_and_go_are_described_alone),
		cmocka_unit_test(columns_decline_when_amounts_take_a_score_out_of_range),
		cmocka_unit_test(columns_decline_when_sums_take_a_score_out_of_range),
		cmocka_unit_test(descriptions_that_mean_the_same_are_looked_at_once),
		cmocka_unit_test(a_plugin_with_its_own_normalization_is_called_for_every_node),
		cmocka_unit_test(a_plugin_without_declared_dependencies_is_called_for_every_node),
		cmocka_unit_test(a_plugin_that_lacks_what_it_declares_is_refused),
		cmocka_unit_test(shared_groups_count_towards_the_limit_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
