/* SPDX-License-Identifier: Apache-2.0
 * An engine with workers on a simulated machine of two sockets: the pages of every array by node slot are
 * requested beside the workers that read them, shard by shard. The test intercepts and records the requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/mem.h"
#include "engine/base/team.h"
#include "engine/flow/cycle/source.h"
#include "engine_fixture.h"
#include "tools/offline/generate/generate.h"

#define PAGE	4096u
#define WORKERS 4u
#define NODES	20000u
#define MANY	140000u /* so many that a bitmap of them has pages for both halves */
#define PODS	1000u
#define CALLS	100000

struct call {
	const char *begin, *end;
	uint32_t numa_ix;
};

static struct call *calls;
static size_t call_n;

enum bt_status __wrap_bt_topo_bind_range(
	const struct bt_topo *topo, void *ptr, size_t bytes, uint32_t numa_ix);

enum bt_status __wrap_bt_topo_bind_range(
	const struct bt_topo *topo, void *ptr, size_t bytes, uint32_t numa_ix)
{
	assert_non_null(topo);
	assert_true(call_n < CALLS);
	calls[call_n++] = (struct call){ptr, (const char *)ptr + bytes, numa_ix};
	return BT_OK;
}

/* The node last requested for a page; -1: none. */
static int asked_node(const char *page)
{
	for (size_t i = call_n; i-- > 0;) {
		if (calls[i].begin <= page && page + PAGE <= calls[i].end) {
			return (int)calls[i].numa_ix;
		}
	}
	return -1;
}

static void check_array(const void *array, size_t each_bytes)
{
	const char *begin = array, *end = begin + NODES * each_bytes;
	const char *page = (const char *)(((uintptr_t)begin + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	uint32_t on[2] = {0}, last = 0;

	assert_non_null(array);
	for (; page + PAGE <= end; page += PAGE) {
		int node = asked_node(page);

		assert_true(node == 0 || node == 1);
		assert_true((uint32_t)node >= last); /* first one half, then the other */
		last = (uint32_t)node;
		on[node]++;
	}
	assert_true(on[0] > 5 && on[1] > 5);
}

/* Counts arrays by their series of requests, from the first half's workers to the second's; ignores
 * arrays with few pages. */
static uint32_t count_arrays(void)
{
	uint32_t array_n = 0;

	for (size_t i = 1; i < call_n; i++) {
		const struct call *last = &calls[i - 1];

		array_n += calls[i].begin == last->end && calls[i].numa_ix > last->numa_ix;
	}
	return array_n;
}

static void bind_pod(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	(void)context;
	(void)node_ix;
	bt_engine_bound(engine, pod_ix);
}

static bool take(void *context, const struct bt_object *object)
{
	enum bt_entry entry;
	uint32_t ix;

	bt_engine_apply(context, object, &entry, &ix);
	return true;
}

/* Decides pods of this many signatures. Returns the engine. */
static struct bt_engine *decide(struct bt_team *team, uint32_t node_n, uint32_t signature_n)
{
	struct bt_generate_options generate = bt_generate_defaults();
	struct bt_config config;
	struct bt_decision decision;
	uint32_t pod_ix;

	bt_config_init_default(&config, NULL);
	struct bt_engine_options options = {.seed = 1,
		.binder = {bind_pod, NULL},
		.no_backoff = true,
		.team = team,
		.batch = 64,
		.always_share = true};
	struct bt_engine *engine = fixture_engine(&config, &options);
	generate.node_n = node_n;
	generate.pod_n = PODS;
	generate.signature_n = signature_n;
	generate.profiles = BT_PROFILE_EVERYDAY;
	generate.bound = 0.5;
	bt_generate(&generate, take, engine);
	while ((pod_ix = bt_engine_pop(engine)) != BT_NO_POD) {
		bt_engine_decide(engine, pod_ix, &decision);
	}
	assert_true(bt_engine_counts(engine).warm.shared_n > 0);
	bt_config_fini(&config);
	return engine;
}

struct machine {
	struct bt_topo *topo;
	struct bt_topo_plan plan;
	struct bt_team *team;
};

static void begin(struct machine *m)
{
	enum bt_status status;

	calls = bt_mem_zalloc(CALLS, sizeof(*calls));
	call_n = 0;
	setenv("HWLOC_SYNTHETIC", "pack:2 [numa] core:2 pu:1", 1);
	assert_int_equal(bt_topo_discover(&m->topo, NULL), BT_OK);
	assert_int_equal(
		bt_topo_plan(m->topo, &(struct bt_topo_request){.worker_n = WORKERS}, &m->plan, NULL), BT_OK);
	const struct bt_team_options options = {
		.worker_n = WORKERS, .topo = m->topo, .plan = &m->plan, .spin_n = 1};
	m->team = bt_team_create(&options, &status);
	assert_non_null(m->team);
}

static void end(struct machine *m)
{
	bt_team_destroy(m->team);
	bt_topo_plan_fini(&m->plan);
	bt_topo_destroy(m->topo);
	unsetenv("HWLOC_SYNTHETIC");
	bt_mem_free(calls);
}

static void every_array_that_workers_read_lies_beside_them(void **state)
{
	struct machine m;

	(void)state;
	begin(&m);
	struct bt_engine *engine = decide(m.team, NODES, 100);
	const struct bt_view *view = &bt_engine_cache(engine)->view;

	assert_int_equal(view->snapshot->slot_n, NODES);
	check_array(view->usage->nodes, sizeof(*view->usage->nodes));
	check_array(view->snapshot->rooms, sizeof(*view->snapshot->rooms));
	/* These, the values of each column, and the bases of each plan. */
	struct bt_parallel_prepare_counts counts = bt_engine_counts(engine).warm;
	printf("%zu calls for %u arrays; %lu columns, %lu plans\n", call_n, count_arrays(),
		(unsigned long)counts.column_n, (unsigned long)counts.plan_n);
	assert_true(counts.column_n > 5 && counts.plan_n > 5 && count_arrays() > 2 + 2 * 5 + 2 * 5);
	bt_engine_destroy(engine);
	end(&m);
}

/* Pods of one kind are decided by a column that is indexed: a bitmap for each of some two hundred values. */
static void the_bitmaps_of_an_index_lie_beside_the_workers_of_their_slots(void **state)
{
	struct machine m;

	(void)state;
	begin(&m);
	struct bt_engine *engine = decide(m.team, MANY, 1);
	printf("%zu calls for %u arrays\n", call_n, count_arrays());
	assert_in_range(count_arrays(), 200, 1000);
	bt_engine_destroy(engine);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_array_that_workers_read_lies_beside_them),
		cmocka_unit_test(the_bitmaps_of_an_index_lie_beside_the_workers_of_their_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
