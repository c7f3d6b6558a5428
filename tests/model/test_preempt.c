/* SPDX-License-Identifier: Apache-2.0
 * Two engines play one history of preemptions; one evaluates every node in every cycle. The
 * other, which caches refusals, chooses the same nodes and victims (I9), and dry runs leave no
 * traces, also for volumes (I4).
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/flow/cycle/engine.h"
#include "engine_fixture.h"
#include "random_cluster.h"
#include "seed.h"

#define HISTORIES 100
#define STEPS	  300
#define ENGINES	  2

struct history {
	struct cluster_source source;
	struct bt_config config;
	struct bt_engine *engines[ENGINES];
	uint64_t placed, preempted, cleared_nominations, dry_runs[ENGINES];
};

static uint32_t below(struct history *h, uint32_t n)
{
	return topology_below(&h->source.topology, n);
}

static void apply_node(struct history *h, uint32_t n)
{
	struct bt_node_object node = cluster_node(&h->source, n);
	uint32_t node_ix;

	for (uint32_t e = 0; e < ENGINES; e++) {
		assert_int_equal(bt_engine_apply_node(h->engines[e], &node, &node_ix), BT_OK);
	}
}

static void apply_budget(struct history *h)
{
	struct bt_object budget = cluster_budget(&h->source);

	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_apply_object(h->engines[e], &budget);
	}
}

static void apply_storage(struct history *h)
{
	struct bt_object object = cluster_storage(&h->source);

	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_apply_object(h->engines[e], &object);
	}
}

static void add_pod(struct history *h)
{
	struct bt_pod_object pod = cluster_pod(&h->source);
	enum bt_entry entry;
	uint32_t pod_ix;

	if (h->source.plain ? pod.spec.priority == 0 : below(h, 2)) {
		pod.spec.node_name = topology_numbered(&h->source.topology, "n", below(h, h->source.node_n));
	} else if (below(h, 10) == 0) {
		pod.nominated_node_name =
			topology_numbered(&h->source.topology, "n", below(h, h->source.node_n));
	}
	for (uint32_t e = 0; e < ENGINES; e++) {
		assert_int_equal(bt_engine_add_pod(h->engines[e], &pod, &entry, &pod_ix), BT_OK);
	}
}

/* Victims are deleted at once, or stay until the history removes them. */
static void carry_out(struct history *h, const struct bt_decision decisions[ENGINES])
{
	uint32_t victims[ENGINES][64], n = decisions[0].victim_n;
	bool at_once = below(h, 2);

	assert_true(n < 64);
	for (uint32_t e = 0; e < ENGINES; e++) {
		for (uint32_t i = 0; i < n; i++) {
			victims[e][i] = decisions[e].victims[i].pod_ix;
		}
	}
	for (uint32_t e = 0; e < ENGINES; e++) {
		for (uint32_t i = 0; i < n; i++) {
			(at_once ? bt_engine_remove_pod : bt_engine_evict)(h->engines[e], victims[e][i]);
		}
	}
	h->preempted += n > 0;
}

static void decide(struct history *h)
{
	struct bt_decision decisions[ENGINES];

	/* With cached refusals the refusing plugins may be unknown, so that more events than needed requeue
	 * a pod: the order differs. */
	uint32_t pod_ix = bt_engine_pop(h->engines[1]);

	if (pod_ix == BT_NO_POD) {
		return;
	}
	assert_int_equal(bt_engine_take(h->engines[0], pod_ix), BT_OK);
	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_decide(h->engines[e], pod_ix, &decisions[e]);
	}
	assert_int_equal(decisions[0].pod_ix, decisions[1].pod_ix);
	assert_int_equal(decisions[0].outcome, decisions[1].outcome);
	assert_int_equal(decisions[0].node_ix, decisions[1].node_ix);
	assert_int_equal(decisions[0].nominated_ix, decisions[1].nominated_ix);
	assert_int_equal(decisions[0].unschedulable_plugins, decisions[1].unschedulable_plugins);
	assert_int_equal(decisions[0].victim_n, decisions[1].victim_n);
	for (uint32_t i = 0; i < decisions[0].victim_n; i++) {
		assert_int_equal(decisions[0].victims[i].pod_ix, decisions[1].victims[i].pod_ix);
	}
	h->placed += decisions[0].outcome == BT_PLACED;
	carry_out(h, decisions);
}

static void remove_pod(struct history *h)
{
	struct bt_ledger *ledger = bt_engine_cache(h->engines[0])->ledger;

	if (bt_ledger_pod_end(ledger) == 0) {
		return;
	}
	uint32_t pod_ix = below(h, bt_ledger_pod_end(ledger));
	for (uint32_t e = 0; e < ENGINES; e++) {
		if (bt_ledger_has(bt_engine_cache(h->engines[e])->ledger, pod_ix)) {
			bt_engine_remove_pod(h->engines[e], pod_ix);
		}
	}
}

/* A node's usage equals the requests of the pods on it. */
static void check_node(const struct bt_cache *cache, uint32_t node_ix)
{
	const struct bt_usage *usage = cache->view.usage;
	const struct bt_storage *storage = cache->view.storage;
	int64_t cpu = 0, pod_n = 0;
	uint32_t port_n = 0, mount_n = 0, i = bt_ledger_first_on(cache->ledger, node_ix);

	for (; i != BT_NO_POD; i = bt_ledger_next(cache->ledger, i)) {
		const struct bt_signature *signature = bt_ledger_pod(cache->ledger, i)->signature;

		assert_int_equal(bt_ledger_pod(cache->ledger, i)->node_ix, node_ix);
		cpu += signature->requests.used.n ? signature->requests.used.items[0].amount : 0;
		port_n += signature->port_n;
		mount_n += signature->volume_n > 0;
		pod_n++;
	}
	assert_int_equal(bt_node_used(usage, BT_CPU, node_ix), cpu);
	assert_int_equal(usage->nodes[node_ix].pod_n, pod_n);
	/* A port that several pods use is there once, and free as soon as one of them is removed. */
	assert_true(usage->ports[node_ix].n <= port_n);
	assert_int_equal(node_ix < storage->user_slot_n ? storage->users[node_ix].n : 0, mount_n);
	assert_int_equal(storage->trial_n, 0);
}

/* Removes a pod that waits for its nominated node. */
static void remove_nominated_pod(struct history *h)
{
	const struct bt_ledger *ledger = bt_engine_cache(h->engines[0])->ledger;
	uint32_t nominated[STEPS], n = 0;

	for (uint32_t i = 0; i < bt_ledger_pod_end(ledger); i++) {
		const struct bt_pod *pod = bt_ledger_pod(ledger, i);

		if (pod->state == BT_POD_QUEUED && pod->nominated_ix != BT_NO_NODE) {
			nominated[n++] = i;
		}
	}
	uint32_t gone = n ? nominated[below(h, n)] : BT_NO_POD;
	for (uint32_t e = 0; n && e < ENGINES; e++) {
		bt_engine_remove_pod(h->engines[e], gone);
	}
	h->cleared_nominations += n > 0;
}

static void step(struct history *h)
{
	uint32_t what = below(h, 100);

	if (what < 40) {
		add_pod(h);
	} else if (what < 80) {
		decide(h);
	} else if (what < (h->source.plain ? 90 : 94)) {
		remove_pod(h);
	} else if (h->source.plain) {
		remove_nominated_pod(h);
	} else if (what < 96) {
		apply_budget(h);
	} else if (what < 98) {
		apply_storage(h);
	} else {
		apply_node(h, below(h, h->source.node_n));
	}
}

static void run(struct history *h)
{
	bt_config_init_default(&h->config, NULL);
	for (uint32_t e = 0; e < ENGINES; e++) {
		const struct bt_engine_options options = {.seed = 7,
			.no_backoff = true,
			.evaluate_always = e == 1,
			.keeps_none = e == 0 && (h->source.topology.rng.state & 1)};

		h->engines[e] = fixture_engine(&h->config, &options);
	}
	h->source.plain = below(h, 2);
	h->source.node_n = 2 + below(h, 12);
	for (uint32_t i = 0; i < h->source.node_n; i++) {
		apply_node(h, i);
	}
	for (uint32_t i = 0; i < 40 && !h->source.plain; i++) {
		apply_storage(h);
	}
	for (uint32_t i = 0; i < STEPS; i++) {
		step(h);
	}
	for (uint32_t e = 0; e < ENGINES; e++) {
		const struct bt_cache *cache = bt_engine_cache(h->engines[e]);

		for (uint32_t i = 0; i < cache->view.snapshot->slot_n; i++) {
			check_node(cache, i);
		}
		h->dry_runs[e] = bt_engine_counts(h->engines[e]).dry_run_n;
		bt_engine_destroy(h->engines[e]);
	}
	bt_config_fini(&h->config);
	bt_arena_fini(&h->source.topology.arena);
}

static void notes_preempt_as_looking_at_every_node_does(void **state)
{
	uint64_t seed = seed_or(20260104), placed = 0, preempted = 0;
	uint64_t dry_runs[ENGINES] = {0}, cleared_nominations = 0;

	(void)state;
	for (uint64_t i = 0; i < HISTORIES; i++) {
		struct history h = {.source.topology.rng = {bt_rng_at(seed, i)}};

		run(&h);
		placed += h.placed;
		preempted += h.preempted;
		cleared_nominations += h.cleared_nominations;
		dry_runs[0] += h.dry_runs[0];
		dry_runs[1] += h.dry_runs[1];
	}
	printf("%" PRIu64 " placed, %" PRIu64 " preempted, %" PRIu64 " and %" PRIu64 " nodes tried\n", placed,
		preempted, dry_runs[0], dry_runs[1]);
	assert_true(placed > 0 && preempted > 0 && cleared_nominations > 0 && dry_runs[0] < dry_runs[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(notes_preempt_as_looking_at_every_node_does)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
