/* SPDX-License-Identifier: Apache-2.0
 * Columns updated together have the values of columns updated one by one.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cache/node_view.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "engine/score/column_batch.h"
#include "plugins/resource_ranges.h"

#define NODE_N	  400 /* a column counts as stable up to six changes */
#define JOURNAL_N 64
#define COLUMN_N  (BT_COLUMN_BATCH_MAX + 6)

/* A pod's requests; some request the third resource. */
struct want {
	int64_t request[3];
	struct bt_amount wanted[3];
	uint32_t wanted_n;
};

struct world {
	struct bt_snapshot snapshot;
	struct bt_usage usage;
	struct bt_view view;
	struct bt_node_room rooms[NODE_N];
	struct bt_node_use on[NODE_N];
	uint32_t journal[JOURNAL_N];
	struct want wants[COLUMN_N];
	struct bt_column columns[COLUMN_N];
	struct bt_column_batch column_batch;
	struct bt_rng rng;
};

static void filter(const void *term, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct want *want = term;

	for (uint32_t i = 0; i < n; i++) {
		pass[i] = view->usage->nodes[first + i].pod_n < view->snapshot->rooms[first + i].pods;
		for (uint32_t k = 0; k < want->wanted_n; k++) {
			const struct bt_amount *wanted = &want->wanted[k];

			pass[i] &=
				wanted->amount <= bt_node_alloc(view->snapshot, wanted->slot, first + i) -
							  bt_node_used(view->usage, wanted->slot, first + i);
		}
	}
}

/* LeastAllocated. */
static void score(const void *term, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	const struct want *want = term;

	for (uint32_t i = 0; i < n; i++) {
		int64_t sum = 0;

		for (uint32_t r = 0; r < 2; r++) {
			int64_t alloc = bt_node_alloc(view->snapshot, r, first + i),
				left = alloc - bt_node_used(view->usage, r, first + i) - want->request[r];

			sum += left > 0 ? left * 100 / alloc : 0;
		}
		raw[i] = sum / 2;
	}
}

static bool describe(const void *term, bool filters, bool scores, int64_t weight, struct bt_resource_sum *sum)
{
	const struct want *want = term;

	*sum = (struct bt_resource_sum){.fits = filters,
		.wanted = want->wanted,
		.wanted_n = want->wanted_n,
		.fills = scores,
		.fill_requests = {want->request[0], want->request[1]},
		.fill_weights = {1, 1},
		.fill_weight = (int32_t)weight};
	return bt_resource_sum_score(sum, BT_CPU, BT_MEMORY);
}

static const struct bt_plugin plugin = {
	.name = "Test", .filter = filter, .score = score, .describe = describe};

static void column_init(struct world *w, uint32_t c)
{
	w->columns[c] = (struct bt_column){.parts[0] = {&plugin, &w->wants[c], 2, true, true},
		.part_n = 1,
		.column_batch = &w->column_batch};
	bt_column_init(&w->columns[c], NODE_N, NODE_N);
}

static struct world *world_create(uint64_t seed)
{
	struct world *w = bt_mem_zalloc(1, sizeof(*w));

	print_message("BT_SEED=%" PRIu64 "\n", seed);
	w->rng = (struct bt_rng){seed};
	w->snapshot = (struct bt_snapshot){.slot_n = NODE_N, .node_n = NODE_N, .rooms = w->rooms};
	w->usage = (struct bt_usage){.nodes = w->on, .journal = w->journal, .journal_mask = JOURNAL_N - 1};
	w->view = (struct bt_view){.snapshot = &w->snapshot, .usage = &w->usage};
	for (uint32_t i = 0; i < NODE_N; i++) {
		for (uint32_t r = 0; r < 3; r++) {
			w->rooms[i].alloc[r] = 2000 + bt_rng_below(&w->rng, 6000);
		}
		w->rooms[i].pods = 12;
	}
	for (uint32_t c = 0; c < COLUMN_N; c++) {
		struct want *want = &w->wants[c];

		for (uint32_t r = 0; r < 3; r++) {
			want->request[r] = r == 2 && c % 3 ? 0 : (int64_t)bt_rng_below(&w->rng, 900);
			if (want->request[r]) {
				want->wanted[want->wanted_n++] = (struct bt_amount){r, want->request[r]};
			}
		}
		column_init(w, c);
	}
	return w;
}

static void world_destroy(struct world *w)
{
	for (uint32_t c = 0; c < COLUMN_N; c++) {
		bt_column_fini(&w->columns[c]);
	}
	assert_int_equal(w->column_batch.n, 0);
	bt_mem_free(w);
}

static uint64_t seed_of(uint64_t fallback)
{
	const char *given = getenv("BT_SEED");

	return given ? strtoull(given, NULL, 10) : fallback;
}

/* Adds a pod to a node, or removes all. */
static void change(struct world *w, uint32_t node)
{
	struct bt_node_use *on = &w->on[node];
	bool leave = on->pod_n > 12;

	for (uint32_t r = 0; r < 3; r++) {
		on->used[r] = leave ? 0 : on->used[r] + (int64_t)bt_rng_below(&w->rng, 600);
	}
	/* Scores use requests, as usage does. */
	on->nonzero_milli_cpu = on->used[BT_CPU];
	on->nonzero_memory = on->used[BT_MEMORY];
	on->pod_n = leave ? 0 : on->pod_n + 1;
	w->journal[w->usage.journal_end++ & w->usage.journal_mask] = node;
}

static void evaluate_column(struct world *w, uint32_t c)
{
	struct bt_column *column = &w->columns[c];
	uint32_t n = w->snapshot.slot_n, best = 0, start = bt_rng_below(&w->rng, n);
	uint8_t pass;
	int64_t raw;

	bt_column_catch_up(column, &w->view, NULL);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = (start + k) % n;

		filter(&w->wants[c], &w->view, i, 1, &pass);
		score(&w->wants[c], &w->view, i, 1, &raw);
		assert_int_equal(column->value[i], pass ? 1 + 2 * raw : 0);
		best = k == 0 || column->value[i] > column->value[best] ? i : best;
	}
	for (uint32_t i = n; i < NODE_N; i++) {
		assert_int_equal(column->value[i], 0);
	}
	if (column->indexed) {
		assert_int_equal(bt_index_highest(&column->index), column->value[best]);
		assert_true(!column->value[best] ||
			    bt_index_first(&column->index, column->value[best], NULL, start) == best);
	}
}

/* Makes a change, then reads some of the first columns. Values may be prepared in between, and be those
 * of a node that changes again. */
static void take_turns(struct world *w, uint32_t column_n, uint32_t round_n)
{
	for (uint32_t round = 0; round < round_n; round++) {
		uint32_t node = bt_rng_below(&w->rng, NODE_N);

		change(w, node);
		for (uint32_t n = bt_rng_below(&w->rng, 3); n; n--) {
			bt_column_batch_ready(&w->column_batch, &w->view);
		}
		if (bt_rng_below(&w->rng, 3) == 0) {
			change(w, bt_rng_below(&w->rng, 2) ? node : bt_rng_below(&w->rng, NODE_N));
		}
		for (uint32_t n = 1 + bt_rng_below(&w->rng, column_n); n; n--) {
			evaluate_column(w, bt_rng_below(&w->rng, column_n));
		}
	}
}

/* Makes all of them stable. */
static void stable(struct world *w, uint32_t column_n)
{
	for (uint32_t i = 0; i < 40 * column_n; i++) {
		evaluate_column(w, i % column_n);
	}
}

static void columns_column_batch_have_the_values_that_they_would_have_alone(void **state)
{
	struct world *w = world_create(seed_of(21));

	(void)state;
	for (uint32_t column_n = 1; column_n <= 9; column_n += 2) {
		stable(w, column_n);
		assert_int_equal(w->column_batch.n, bt_range_vectors() ? column_n : 0);
		take_turns(w, column_n, 300);
	}
	world_destroy(w);
}

static void more_columns_than_there_is_room_for_follow_by_themselves(void **state)
{
	struct world *w = world_create(seed_of(22));

	(void)state;
	stable(w, COLUMN_N);
	assert_int_equal(w->column_batch.n, bt_range_vectors() ? BT_COLUMN_BATCH_MAX : 0);
	take_turns(w, COLUMN_N, 60);
	world_destroy(w);
}

static void a_column_without_users_is_dropped_and_may_be_built_again(void **state)
{
	struct world *w = world_create(seed_of(23));

	(void)state;
	stable(w, 5);
	/* A column that others wait for leaves, too. */
	for (uint32_t round = 0; round < 40; round++) {
		change(w, bt_rng_below(&w->rng, NODE_N));
		evaluate_column(w, 1);
		evaluate_column(w, 3);
	}
	assert_int_equal(w->column_batch.n, bt_range_vectors() ? 2 : 0);
	stable(w, 5);
	assert_int_equal(w->column_batch.n, bt_range_vectors() ? 5 : 0);
	take_turns(w, 5, 100);
	world_destroy(w);
}

static void columns_that_are_too_far_behind_go_their_own_ways(void **state)
{
	struct world *w = world_create(seed_of(24));

	(void)state;
	for (uint32_t much = 7; much < 3 * JOURNAL_N; much += 20) {
		stable(w, 6);
		assert_int_equal(w->column_batch.n, bt_range_vectors() ? 6 : 0);
		for (uint32_t n = much; n; n--) {
			change(w, bt_rng_below(&w->rng, NODE_N));
		}
		evaluate_column(w, 2);
		assert_int_equal(w->column_batch.n, 0);
		take_turns(w, 6, 20);
	}
	world_destroy(w);
}

/* Vectors do not handle amounts that are too large, or zero. */
static void nodes_with_unusual_amounts_are_evaluated_one_by_one(void **state)
{
	struct world *w = world_create(seed_of(25));

	(void)state;
	for (uint32_t i = 0; i < NODE_N; i += 3) {
		w->rooms[i].alloc[i % 2] = BT_RANGE_EXACT_BELOW + i;
	}
	stable(w, 6);
	take_turns(w, 6, 300);
	world_destroy(w);
}

static void a_column_may_end_while_it_is_column_batch(void **state)
{
	struct world *w = world_create(seed_of(26));

	(void)state;
	stable(w, 7);
	for (uint32_t round = 0; round < 20; round++) {
		uint32_t c = bt_rng_below(&w->rng, 7);

		/* Prepares the others' next update. */
		change(w, bt_rng_below(&w->rng, NODE_N));
		if (round % 2) {
			bt_column_batch_ready(&w->column_batch, &w->view);
		}
		bt_column_fini(&w->columns[c]);
		assert_true(w->column_batch.n <= 6);
		for (uint32_t k = 0; k < 7; k++) {
			if (k != c) {
				evaluate_column(w, k);
			}
		}
		column_init(w, c);
		take_turns(w, 7, 5);
		stable(w, 7);
	}
	world_destroy(w);
}

/* The last slot is taken back, or one is added. Never more than a batch can follow. */
static void change_slots(struct world *w)
{
	if (w->snapshot.slot_n == NODE_N || bt_rng_below(&w->rng, 2)) {
		change(w, --w->snapshot.slot_n);
	} else {
		change(w, w->snapshot.slot_n++);
	}
}

static void slots_that_are_taken_back_have_no_value(void **state)
{
	struct world *w = world_create(seed_of(27));

	(void)state;
	for (uint32_t round = 0; round < 300; round++) {
		if (round % 30 == 0) {
			stable(w, 6);
		}
		for (uint32_t n = bt_rng_below(&w->rng, 4); n; n--) {
			change_slots(w);
		}
		take_turns(w, 6, 1);
		/* Alone, and far behind. */
		for (uint32_t n = bt_rng_below(&w->rng, 20) ? 0 : 2 * JOURNAL_N; n; n--) {
			change(w, bt_rng_below(&w->rng, w->snapshot.slot_n));
		}
		if (bt_rng_below(&w->rng, 8) == 0) {
			change_slots(w);
			bt_column_batch_leave(&w->columns[bt_rng_below(&w->rng, 6)]);
		}
	}
	world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_column_batch_have_the_values_that_they_would_have_alone),
		cmocka_unit_test(more_columns_than_there_is_room_for_follow_by_themselves),
		cmocka_unit_test(a_column_without_users_is_dropped_and_may_be_built_again),
		cmocka_unit_test(columns_that_are_too_far_behind_go_their_own_ways),
		cmocka_unit_test(nodes_with_unusual_amounts_are_evaluated_one_by_one),
		cmocka_unit_test(a_column_may_end_while_it_is_column_batch),
		cmocka_unit_test(slots_that_are_taken_back_have_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
