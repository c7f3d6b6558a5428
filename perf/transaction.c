/* SPDX-License-Identifier: Apache-2.0
 * Transactions that are rolled back, over a cluster with two pods per node. revert: 200 copies of one pod are
 * placed and taken back; items are pods. fits: one pod, one decision. verdicts: one pod, the verdict of every
 * node with its scores. drain: a node is closed, its pods are evicted and placed elsewhere; items are nodes.
 */
#include "engine/flow/cycle/transaction.h"

#include "engine/base/check.h"
#include "workload.h"

#define COPIES	    200
#define PER_NODE    2
#define DRAINED_MAX 64

/* A cluster with bound pods, and the index of a pending one. */
static uint32_t begin(struct bt_bench *bench, struct workload *w)
{
	struct bt_arena arena = {0};
	char node[32];

	*w = (struct workload){.node_n = (uint32_t)bt_bench_arg(bench)};
	bt_workload_begin(w);
	struct bt_pod_object pod = bt_workload_plain_pod(&arena, 500, 512);
	for (uint32_t i = 0; i < PER_NODE * w->node_n; i++) {
		snprintf(node, sizeof(node), "node-%06u", i % w->node_n);
		pod.spec.node_name = bt_str(node);
		bt_workload_add(w, &pod, i);
	}
	pod.spec.node_name = bt_str("");
	uint32_t pod_ix = bt_workload_add(w, &pod, PER_NODE * w->node_n);
	bt_arena_fini(&arena);
	return pod_ix;
}

static void place(struct bt_engine *engine, uint32_t pod_ix)
{
	uint32_t node_ix;
	enum bt_outcome outcome = bt_transaction_place(engine, pod_ix, &node_ix);

	BT_REQUIRE(outcome == BT_PLACED);
}

static void revert(struct bt_bench *bench)
{
	struct workload w;
	uint32_t pod_ix = begin(bench, &w);

	while (bt_bench_keep_running(bench)) {
		bt_transaction_begin(w.engine);
		for (uint32_t i = 0; i < COPIES; i++) {
			place(w.engine, bt_transaction_add_copy(w.engine, pod_ix));
		}
		bt_transaction_roll_back(w.engine);
	}
	bt_bench_items(bench, COPIES * bt_bench_iterations(bench));
	bt_workload_end(&w);
}

static void fits(struct bt_bench *bench)
{
	struct workload w;
	uint32_t pod_ix = begin(bench, &w);

	while (bt_bench_keep_running(bench)) {
		bt_transaction_begin(w.engine);
		place(w.engine, pod_ix);
		bt_transaction_roll_back(w.engine);
	}
	bt_workload_end(&w);
}

static void verdicts(struct bt_bench *bench)
{
	struct workload w;
	struct bt_explanation explanation = {0};
	uint32_t pod_ix = begin(bench, &w);

	while (bt_bench_keep_running(bench)) {
		bt_engine_explain(w.engine, pod_ix, &explanation);
		BT_REQUIRE(explanation.evaluation.feasible_n == w.node_n);
	}
	bt_explanation_fini(&explanation);
	bt_workload_end(&w);
}

static void drain_one(struct bt_engine *engine, uint32_t node_ix)
{
	const struct bt_ledger *ledger = bt_engine_cache(engine)->ledger;
	uint32_t pods[DRAINED_MAX], n = 0;

	bt_transaction_begin(engine);
	bt_transaction_close_node(engine, node_ix, true);
	for (uint32_t i = bt_ledger_first_on(ledger, node_ix); i != BT_NO_POD;
		i = bt_ledger_next(ledger, i)) {
		BT_REQUIRE(n < DRAINED_MAX);
		pods[n++] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		bt_transaction_evict(engine, pods[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		place(engine, bt_transaction_add_copy(engine, pods[i]));
	}
	bt_transaction_roll_back(engine);
}

static void drain(struct bt_bench *bench)
{
	struct workload w;
	uint32_t node_ix = 0;

	begin(bench, &w);
	while (bt_bench_keep_running(bench)) {
		drain_one(w.engine, node_ix++ % w.node_n);
	}
	bt_bench_items(bench, bt_bench_iterations(bench));
	bt_workload_end(&w);
}

static const struct bt_bench_case cases[] = {
	{.name = "revert", .run = revert, .args = {1000, 5000}, .arg_n = 2},
	{.name = "fits", .run = fits, .args = {1000, 5000}, .arg_n = 2},
	{.name = "verdicts", .run = verdicts, .args = {1000, 5000}, .arg_n = 2},
	{.name = "drain", .run = drain, .args = {1000, 5000}, .arg_n = 2},
};

const struct bt_bench_suite bt_bench_transaction = {
	.name = "transaction", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
