/* SPDX-License-Identifier: Apache-2.0
 * A column updated from the journal equals one that evaluates every node again.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "seed.h"

#include "cache/node_view.h"
#include "engine/base/bitmap.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "engine/score/column.h"
#include "engine/score/parallel_prepare.h"

#define NODE_N	  200
#define JOURNAL_N 64

/* A cluster of one number per node. */
struct world {
	struct bt_snapshot snapshot;
	struct bt_usage usage;
	struct bt_view view;
	struct bt_node_use uses[NODE_N];
	uint32_t journal[JOURNAL_N];
};

static struct world *world_create(void)
{
	struct world *w = bt_mem_zalloc(1, sizeof(*w));

	w->snapshot = (struct bt_snapshot){.slot_n = NODE_N, .node_n = NODE_N};
	w->usage = (struct bt_usage){.nodes = w->uses, .journal = w->journal, .journal_mask = JOURNAL_N - 1};
	w->view = (struct bt_view){.snapshot = &w->snapshot, .usage = &w->usage};
	return w;
}

static void change(struct world *w, uint32_t node, int64_t pod_n)
{
	w->uses[node].pod_n = pod_n;
	w->journal[w->usage.journal_end++ & w->usage.journal_mask] = node;
}

/* Refuses nodes whose number of pods is a multiple of 7; scores grow with the number of pods. */
static void filter(const void *term, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	(void)term;
	for (uint32_t i = 0; i < n; i++) {
		pass[i] = view->usage->nodes[first + i].pod_n % 7 != 0;
	}
}

static void score(const void *term, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	(void)term;
	for (uint32_t i = 0; i < n; i++) {
		raw[i] = view->usage->nodes[first + i].pod_n;
	}
}

static const struct bt_plugin plugin = {.name = "Test", .filter = filter, .score = score};

static struct bt_column column_of(void)
{
	struct bt_column column = {
		.parts[0] = {.plugin = &plugin, .weight = 3, .filter = true, .score = true},
		.part_n = 1,
	};

	bt_column_init(&column, NODE_N, NODE_N);
	return column;
}

static void assert_right(const struct world *w, const struct bt_column *column)
{
	for (uint32_t i = 0; i < NODE_N; i++) {
		assert_int_equal(column->value[i], w->uses[i].pod_n % 7 == 0 ? 0 : 1 + 3 * w->uses[i].pod_n);
	}
}

static void a_column_follows_the_journal_however_far_behind(void **state)
{
	struct bt_rng rng = {seed_or(5)};
	struct world *w = world_create();
	struct bt_column column = column_of();

	(void)state;
	for (int round = 0; round < 500; round++) {
		/* Sometimes more than the journal holds. */
		for (uint32_t n = bt_rng_below(&rng, round % 5 ? 6 : 3 * JOURNAL_N); n; n--) {
			change(w, bt_rng_below(&rng, NODE_N), bt_rng_below(&rng, 101));
		}
		bt_column_catch_up(&column, &w->view, NULL);
		assert_right(w, &column);
	}
	assert_false(column.out_of_range);
	bt_column_fini(&column);
	bt_mem_free(w);
}

static void nodes_outside_a_mask_wait_for_one_that_has_them(void **state)
{
	struct bt_rng rng = {seed_or(6)};
	uint64_t masks[3][(NODE_N + 63) / 64];
	struct world *w = world_create();
	struct bt_column column = column_of();

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < (NODE_N + 63) / 64; i++) {
			masks[k][i] = bt_rng_next(&rng) &
				      (i < NODE_N / 64 ? UINT64_MAX : ((uint64_t)1 << NODE_N % 64) - 1);
		}
	}
	for (int round = 0; round < 3000; round++) {
		const uint64_t *mask = bt_rng_below(&rng, 9) ? masks[bt_rng_below(&rng, 3)] : NULL;

		for (uint32_t n = bt_rng_below(&rng, round % 9 ? 30 : 3 * JOURNAL_N); n; n--) {
			change(w, bt_rng_below(&rng, NODE_N), bt_rng_below(&rng, 101));
		}
		for (uint32_t again = bt_rng_below(&rng, 3) + 1; again; again--) {
			change(w, bt_rng_below(&rng, NODE_N), bt_rng_below(&rng, 101));
			bt_column_catch_up(&column, &w->view, mask);
			for (uint32_t i = 0; i < NODE_N; i++) {
				if (!mask || bt_bitmap_test(mask, i)) {
					assert_int_equal(column.value[i],
						w->uses[i].pod_n % 7 == 0 ? 0 : 1 + 3 * w->uses[i].pod_n);
				}
			}
		}
	}
	bt_column_fini(&column);
	bt_mem_free(w);
}

/* A consumer of the flips, as classes are. */
struct follower {
	bool refused[NODE_N];
	uint64_t at;
	uint64_t followed, recounted;
};

static void follow(struct follower *f, const struct bt_column *column)
{
	if (column->flips.end - f->at > BT_COLUMN_FLIPS) {
		for (uint32_t i = 0; i < NODE_N; i++) {
			f->refused[i] = column->value[i] == 0;
		}
		f->at = column->flips.end;
		f->recounted++;
	}
	for (; f->at != column->flips.end; f->at++) {
		uint32_t node = column->flips.items[f->at % BT_COLUMN_FLIPS];

		f->refused[node] = column->value[node] == 0;
		f->followed++;
	}
}

static void flips_list_nodes_whose_verdict_changed(void **state)
{
	struct bt_rng rng = {seed_or(7)};
	struct world *w = world_create();
	struct bt_column column = column_of();
	struct follower f = {0};

	(void)state;
	for (int round = 0; round < 2000; round++) {
		/* Single nodes; enough to evaluate whole words; and more than the journal holds. */
		for (uint32_t n = bt_rng_below(&rng, round % 7 ? 60 : 3 * JOURNAL_N); n; n--) {
			change(w, bt_rng_below(&rng, round % 2 ? NODE_N : 64), bt_rng_below(&rng, 20));
		}
		bt_column_catch_up(&column, &w->view, NULL);
		if (bt_rng_below(&rng, 4) == 0) {
			continue;
		}
		follow(&f, &column);
		for (uint32_t i = 0; i < NODE_N; i++) {
			assert_int_equal(f.refused[i], column.value[i] == 0);
		}
	}
	assert_true(f.followed > 0 && f.recounted > 0);
	bt_column_fini(&column);
	bt_mem_free(w);
}

/* Updates it in shards, where possible; else at once. */
static bool catch_up_in_shards(
	struct bt_column *column, const struct bt_view *view, const uint64_t *mask, uint32_t shard_n)
{
	struct bt_column_found found[4];
	struct bt_column_round round;

	if (!bt_column_round_begin(&round, column, view, mask)) {
		bt_column_catch_up(column, view, mask);
		return false;
	}
	/* The last first: the order must not matter. */
	for (uint32_t i = shard_n; i-- > 0;) {
		struct bt_shard shard = bt_shard_of(NODE_N, BT_SHARD_STEP, i, shard_n);

		bt_column_round_shard(&round, shard.first, shard.end, &found[i]);
	}
	bt_column_round_end(&round, found, shard_n);
	return true;
}

static void shards_of_a_column_make_what_one_thread_makes(void **state)
{
	struct bt_rng rng = {seed_or(8)};
	struct world *w = world_create();
	struct bt_column column = column_of();
	struct follower f = {0};
	uint32_t shared_n = 0;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		uint64_t mask[(NODE_N + 63) / 64];

		for (uint32_t n = bt_rng_below(&rng, round % 7 ? 60 : 3 * JOURNAL_N); n; n--) {
			change(w, bt_rng_below(&rng, round % 2 ? NODE_N : 64), bt_rng_below(&rng, 20));
		}
		for (size_t i = 0; i < sizeof(mask) / sizeof(mask[0]); i++) {
			mask[i] = i < NODE_N / 64 ? bt_rng_next(&rng) : 1;
		}
		bool all = bt_rng_below(&rng, 3) > 0;
		shared_n +=
			catch_up_in_shards(&column, &w->view, all ? NULL : mask, 1 + bt_rng_below(&rng, 4));
		for (uint32_t i = 0; i < NODE_N; i++) {
			if (all || bt_bitmap_test(mask, i)) {
				assert_int_equal(column.value[i],
					w->uses[i].pod_n % 7 == 0 ? 0 : 1 + 3 * w->uses[i].pod_n);
			}
		}
		bt_column_change_mask(&column, mask);
		if (all && bt_rng_below(&rng, 4)) {
			follow(&f, &column);
			for (uint32_t i = 0; i < NODE_N; i++) {
				assert_int_equal(f.refused[i], column.value[i] == 0);
			}
		}
	}
	assert_true(shared_n > 1000 && f.followed > 0 && f.recounted > 0);
	bt_column_fini(&column);
	bt_mem_free(w);
}

static void shards_cover_every_slot_once(void **state)
{
	(void)state;
	for (uint32_t slot_n = 0; slot_n < 700; slot_n += 13) {
		for (uint32_t worker_n = 1; worker_n <= 9; worker_n++) {
			uint32_t next = 0;

			for (uint32_t i = 0; i < worker_n; i++) {
				struct bt_shard shard = bt_shard_of(slot_n, BT_SHARD_STEP, i, worker_n);

				assert_int_equal(shard.first, next);
				assert_true(shard.first % BT_SHARD_STEP == 0 || shard.first == slot_n);
				next = shard.end;
			}
			assert_int_equal(next, slot_n);
		}
	}
}

static void few_changes_are_caught_up_with_and_calm_columns_are_indexed(void **state)
{
	(void)state;
	/* More changes than nodes: evaluates all. */
	assert_int_equal(bt_column_choose(6401, 6400, 1000), BT_CATCH_UP_ALL);
	assert_int_equal(bt_column_choose(6400, 6400, 1000), BT_CATCH_UP_JOURNAL);
	/* Up to one in 64, sixteen times in a row: an index. */
	assert_int_equal(bt_column_choose(101, 6400, 1000), BT_CATCH_UP_JOURNAL);
	assert_int_equal(bt_column_choose(100, 6400, 15), BT_CATCH_UP_JOURNAL);
	assert_int_equal(bt_column_choose(100, 6400, 16), BT_CATCH_UP_AND_INDEX);
	assert_int_equal(bt_column_choose(0, 0, 0), BT_CATCH_UP_JOURNAL);
	assert_int_equal(bt_column_choose(UINT64_MAX, UINT32_MAX, UINT32_MAX), BT_CATCH_UP_ALL);
}

static void handing_over_pays_for_much_work_and_several_workers(void **state)
{
	(void)state;
	assert_true(bt_parallel_prepare_gain_ns(1000000, 2) > 0);
	assert_true(bt_parallel_prepare_gain_ns(1000000, 4) > bt_parallel_prepare_gain_ns(1000000, 2));
	assert_true(bt_parallel_prepare_gain_ns(1000, 8) < 0);
	assert_true(bt_parallel_prepare_gain_ns(1000000000, 1) < 0);
}

static void only_nodes_in_the_journal_are_evaluated_again(void **state)
{
	struct world *w = world_create();
	struct bt_column column = column_of();

	(void)state;
	change(w, 3, 10);
	bt_column_catch_up(&column, &w->view, NULL);
	w->uses[5].pod_n = 50; /* without a journal entry: no column reads it */
	change(w, 3, 20);
	bt_column_catch_up(&column, &w->view, NULL);
	assert_int_equal(column.value[3], 61);
	assert_int_equal(column.value[5], 0);
	bt_column_fini(&column);
	bt_mem_free(w);
}

/* The best slot of an index equals that of a scan. */
static void assert_index_shows(const struct bt_column *column, uint32_t start)
{
	uint32_t best = start;

	for (uint32_t i = 0; i < NODE_N; i++) {
		best = column->value[(start + i) % NODE_N] > column->value[best] ? (start + i) % NODE_N
										 : best;
	}
	assert_int_equal(bt_index_highest(&column->index), column->value[best]);
	assert_int_equal(bt_index_first(&column->index, column->value[best], NULL, start), best);
}

static void a_calm_column_keeps_its_index_right_change_by_change(void **state)
{
	struct bt_rng rng = {seed_or(9)};
	struct world *w = world_create();
	struct bt_column column = column_of();
	uint32_t indexed_n = 0, dropped_n = 0;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		bool before = column.indexed;

		/* Sometimes more changes than an index tolerates. */
		for (uint32_t n = bt_rng_below(&rng, 100) ? bt_rng_below(&rng, NODE_N / 64 + 1) : 10; n;
			n--) {
			change(w, bt_rng_below(&rng, NODE_N), bt_rng_below(&rng, 101));
		}
		bt_column_catch_up(&column, &w->view, NULL);
		assert_right(w, &column);
		dropped_n += before && !column.indexed;
		if (column.indexed) {
			indexed_n++;
			assert_index_shows(&column, bt_rng_below(&rng, NODE_N));
		}
	}
	assert_true(indexed_n > 1000 && dropped_n > 10);
	/* A score out of range ends it, also when the column is updated step by step. */
	while (!column.indexed) {
		bt_column_catch_up(&column, &w->view, NULL);
	}
	change(w, 3, 101);
	bt_column_catch_up(&column, &w->view, NULL);
	assert_true(column.out_of_range && !column.indexed);
	bt_column_fini(&column);
	bt_mem_free(w);
}

static void scores_out_of_range_make_the_column_odd(void **state)
{
	struct world *w = world_create();
	struct bt_column column = column_of();

	(void)state;
	change(w, 3, 100);
	bt_column_catch_up(&column, &w->view, NULL);
	assert_false(column.out_of_range);
	change(w, 3, 101);
	bt_column_catch_up(&column, &w->view, NULL);
	assert_true(column.out_of_range);
	bt_column_fini(&column);
	bt_mem_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shards_of_a_column_make_what_one_thread_makes),
		cmocka_unit_test(shards_cover_every_slot_once),
		cmocka_unit_test(few_changes_are_caught_up_with_and_calm_columns_are_indexed),
		cmocka_unit_test(handing_over_pays_for_much_work_and_several_workers),
		cmocka_unit_test(a_column_follows_the_journal_however_far_behind),
		cmocka_unit_test(nodes_outside_a_mask_wait_for_one_that_has_them),
		cmocka_unit_test(flips_list_nodes_whose_verdict_changed),
		cmocka_unit_test(only_nodes_in_the_journal_are_evaluated_again),
		cmocka_unit_test(a_calm_column_keeps_its_index_right_change_by_change),
		cmocka_unit_test(scores_out_of_range_make_the_column_odd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
