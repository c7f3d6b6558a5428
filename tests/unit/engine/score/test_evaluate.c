/* SPDX-License-Identifier: Apache-2.0
 * Evaluating every node calls plugins for runs of nodes: the result equals that of node-by-node evaluation,
 * for any plugins that refuse or fail, and any nominated pods.
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
#include "engine/base/rng.h"
#include "engine/score/evaluate.h"

#define SLOT_N	 300
#define PLUGIN_N 4
#define ROUNDS	 3000

/* A fake plugin: the nodes that it refuses, those that it refuses only with nominated pods, and
 * those on which it fails. */
struct term {
	struct world *w;
	uint8_t refuses[SLOT_N], refuses_nominated[SLOT_N], fails[SLOT_N];
	uint64_t asked_n;
};

struct world {
	struct bt_rng rng;
	struct bt_view view;
	struct bt_plugin plugins[PLUGIN_N];
	struct bt_profile profile;
	struct bt_plan plan;
	struct term terms[PLUGIN_N];
	uint8_t nominated[SLOT_N];
	uint32_t put_ix; /* the node with its nominated pods added, or BT_NO_NODE */
	struct bt_nominations_ahead nominations;
	uint32_t nodes[SLOT_N];
	uint32_t node_n;
};

static bool one_in(struct world *w, uint32_t n)
{
	return bt_rng_below(&w->rng, n) == 0;
}

static void filter(const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	/* The counter belongs to the test, not to the plugin. */
	struct term *term = (struct term *)(uintptr_t)opaque;

	(void)view;
	term->asked_n += n;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t ix = first + i;

		assert_true(ix < SLOT_N);
		pass[i] = !term->refuses[ix] && !term->fails[ix] &&
			  !(term->w->put_ix == ix && term->refuses_nominated[ix]);
	}
}

static const char *failure(const void *opaque, const struct bt_view *view, uint32_t node_ix)
{
	const struct term *term = opaque;

	(void)view;
	return term->fails[node_ix] ? "it broke" : NULL;
}

static bool put(void *context, uint32_t node_ix)
{
	struct world *w = context;

	assert_int_equal(w->put_ix, BT_NO_NODE);
	w->put_ix = w->nominated[node_ix] ? node_ix : BT_NO_NODE;
	return w->nominated[node_ix];
}

static void take(void *context, uint32_t node_ix)
{
	struct world *w = context;

	assert_int_equal(w->put_ix, node_ix);
	w->put_ix = BT_NO_NODE;
}

/* A profile with plugins of which some fail, and nodes with gaps between them. */
static void make_world(struct world *w)
{
	uint32_t refusing = 1 + bt_rng_below(&w->rng, 60), failing = one_in(w, 3) ? 200 : 1000000;
	uint32_t gaps = 1 + bt_rng_below(&w->rng, 100);

	w->nominations = (struct bt_nominations_ahead){put, take, w};
	w->put_ix = BT_NO_NODE;
	w->profile = (struct bt_profile){.use_n = PLUGIN_N, .filter_n = PLUGIN_N};
	w->plan = (struct bt_plan){.profile = &w->profile};
	for (uint32_t u = 0; u < PLUGIN_N; u++) {
		struct term *term = &w->terms[u];

		*term = (struct term){.w = w};
		w->plugins[u] = (struct bt_plugin){
			.name = "Made", .filter = filter, .failure = one_in(w, 2) ? failure : NULL};
		w->profile.uses[u] = (struct bt_plugin_use){.plugin = &w->plugins[u], .filter = true};
		w->profile.filter[u] = PLUGIN_N - 1 - u;
		w->plan.compiled[u] = (struct bt_compiled){.term = term, .filter_skip = one_in(w, 5)};
		w->plan.filter_error[u] = one_in(w, 40) ? "it was wrong before" : NULL;
		for (uint32_t i = 0; i < SLOT_N; i++) {
			term->refuses[i] = one_in(w, refusing);
			term->refuses_nominated[i] = one_in(w, 3);
			term->fails[i] = w->plugins[u].failure && one_in(w, failing);
		}
	}
	w->node_n = 0;
	for (uint32_t i = 0; i < SLOT_N; i++) {
		w->nominated[i] = one_in(w, 10);
		if (!one_in(w, gaps)) {
			w->nodes[w->node_n++] = i;
		}
	}
}

/* The plugins that upstream's loop over nodes would report, node by node. */
static void check_nodes(
	struct world *w, const struct bt_evaluation *e, const struct bt_nominations_ahead *nominations)
{
	uint32_t feasible_n = 0;
	const char *error = NULL;

	for (uint32_t i = 0; i < w->node_n && !error; i++) {
		uint32_t by = bt_filter_node(&w->plan, &w->view, nominations, w->nodes[i], &error);

		if (error) {
			assert_int_equal(e->visited_n, i);
			break;
		}
		assert_true(i < e->visited_n);
		assert_int_equal(e->visited[i], w->nodes[i]);
		assert_int_equal(e->refused_by[i], by);
		feasible_n += by == BT_PASSED;
		if (by == BT_PASSED && !e->error) {
			assert_int_equal(e->feasible[feasible_n - 1], w->nodes[i]);
		}
	}
	assert_int_equal(e->error != NULL, error != NULL);
	assert_int_equal(e->feasible_n, error ? 0 : feasible_n);
	assert_int_equal(e->visited_n, error ? e->visited_n : w->node_n);
}

static void runs_of_nodes_are_judged_like_single_ones(void **state)
{
	static struct world w;
	struct bt_evaluation e = {0};
	uint32_t failed_n = 0, nominated_n = 0;

	(void)state;
	w.rng.state = seed_or(7);
	for (int round = 0; round < ROUNDS; round++) {
		const struct bt_nominations_ahead *nominations = round % 2 ? &w.nominations : NULL;

		make_world(&w);
		e.nominations = nominations;
		bt_evaluate(&w.plan, &w.view, w.nodes, w.node_n, UINT32_MAX, &e);
		assert_int_equal(w.put_ix, BT_NO_NODE);
		check_nodes(&w, &e, nominations);
		failed_n += e.error != NULL;
		nominated_n += nominations != NULL;
	}
	assert_true(failed_n > ROUNDS / 20 && failed_n < ROUNDS);
	assert_int_equal(nominated_n, ROUNDS / 2);
	bt_evaluation_fini(&e);
}

static void a_plugin_is_not_called_for_nodes_that_others_refused(void **state)
{
	static struct world w;
	struct bt_evaluation e = {0};

	(void)state;
	w.rng.state = seed_or(7);
	for (int round = 0; round < 200; round++) {
		uint64_t asked[PLUGIN_N] = {0};

		make_world(&w);
		for (uint32_t u = 0; u < PLUGIN_N; u++) {
			memset(w.terms[u].fails, 0, sizeof(w.terms[u].fails));
			w.plan.filter_error[u] = NULL;
			w.plan.compiled[u].filter_skip = false;
		}
		bt_evaluate(&w.plan, &w.view, w.nodes, w.node_n, UINT32_MAX, &e);
		for (uint32_t i = 0; i < e.visited_n; i++) {
			for (uint32_t k = 0; k < PLUGIN_N; k++) {
				asked[w.profile.filter[k]]++;
				if (e.refused_by[i] == w.profile.filter[k]) {
					break;
				}
			}
		}
		for (uint32_t u = 0; u < PLUGIN_N; u++) {
			assert_int_equal(w.terms[u].asked_n, asked[u]);
		}
	}
	bt_evaluation_fini(&e);
}

static void a_sample_evaluates_no_node_beyond_its_size(void **state)
{
	static struct world w;
	struct bt_evaluation e = {0};

	(void)state;
	w.rng.state = seed_or(7);
	make_world(&w);
	for (uint32_t u = 0; u < PLUGIN_N; u++) {
		memset(w.terms[u].refuses, 0, SLOT_N);
		memset(w.terms[u].fails, 0, SLOT_N);
		w.plan.filter_error[u] = NULL;
		w.plan.compiled[u].filter_skip = false;
	}
	bt_evaluate(&w.plan, &w.view, w.nodes, w.node_n, 10, &e);
	assert_int_equal(e.feasible_n, 10);
	assert_int_equal(e.visited_n, 10);
	assert_int_equal(w.terms[0].asked_n, 11);
	bt_evaluation_fini(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_of_nodes_are_judged_like_single_ones),
		cmocka_unit_test(a_plugin_is_not_called_for_nodes_that_others_refused),
		cmocka_unit_test(a_sample_evaluates_no_node_beyond_its_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
