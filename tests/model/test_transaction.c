/* SPDX-License-Identifier: Apache-2.0
 * Two engines with one history. One of them also plays random transactions, nested, and rolls them back:
 * lists, numbers and decisions of both stay equal (I4, I9). Before each decision a transaction foresees it,
 * with its victims. A committed transaction has the same effect as
 * its changes one by one in the other engine, on the same nodes.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/flow/cycle/engine_int.h"
#include "engine_fixture.h"
#include "random_cluster.h"
#include "seed.h"

#define HISTORIES 400
#define STEPS	  250
#define ENGINES	  2
#define DEPTH	  3
#define MOST	  1024

enum { PLAIN = 0, TRYING };

struct counts {
	uint64_t placed, preempted, transactions, nested, tried_places, refused_places, evictions, restored,
		copies, added, changed, added_nodes, removed_nodes, committed, preempted_in, same_victims,
		cleared;
};

struct history {
	struct cluster_source source;
	struct bt_rng tries; /* of transactions, so that both engines have the same history without them */
	struct bt_config config;
	struct bt_engine *engines[ENGINES];
	struct counts counts;
};

static uint32_t below(struct history *h, uint32_t n)
{
	return topology_below(&h->source.topology, n);
}

static uint32_t tries_below(struct history *h, uint32_t n)
{
	return bt_rng_below(&h->tries, n);
}

static struct bt_ledger *ledger_of(const struct history *h, uint32_t e)
{
	return bt_engine_cache(h->engines[e])->ledger;
}

static const struct bt_snapshot *snapshot_of(const struct history *h, uint32_t e)
{
	return bt_engine_cache(h->engines[e])->view.snapshot;
}

/* ---- events for both engines ---- */

/* With a zone, or none. */
static struct bt_node_object describe_node(struct history *h, uint32_t n)
{
	struct bt_node_object node = cluster_node(&h->source, n);
	struct bt_str_map *labels = &node.meta.labels;
	struct bt_str_pair *items =
		bt_arena_zalloc(&h->source.topology.arena, (labels->n + 1) * sizeof(*items));

	for (uint32_t i = 0; i < labels->n; i++) {
		items[i] = labels->items[i];
	}
	items[labels->n] = (struct bt_str_pair){
		bt_str("topology.kubernetes.io/zone"), topology_pick(&h->source.topology)};
	labels->items = items;
	labels->n += below(h, 4) > 0;
	return node;
}

static void apply_node(struct history *h, uint32_t n)
{
	struct bt_node_object node = describe_node(h, n);
	uint32_t node_ix;

	for (uint32_t e = 0; e < ENGINES; e++) {
		assert_int_equal(bt_engine_apply_node(h->engines[e], &node, &node_ix), BT_OK);
	}
}

static void remove_node(struct history *h)
{
	struct bt_str name = topology_numbered(&h->source.topology, "n", below(h, h->source.node_n));

	assert_int_equal(bt_engine_remove_node(h->engines[PLAIN], name),
		bt_engine_remove_node(h->engines[TRYING], name));
}

static void apply_object(struct history *h, struct bt_object object)
{
	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_apply_object(h->engines[e], &object);
	}
}

static void add_pod(struct history *h)
{
	struct bt_pod_object pod = cluster_pod(&h->source);
	uint32_t pod_ixs[ENGINES];
	enum bt_entry entry;

	if (h->source.plain ? pod.spec.priority == 0 : below(h, 2)) {
		pod.spec.node_name = topology_numbered(&h->source.topology, "n", below(h, h->source.node_n));
	} else if (below(h, 10) == 0) {
		pod.nominated_node_name =
			topology_numbered(&h->source.topology, "n", below(h, h->source.node_n));
	}
	for (uint32_t e = 0; e < ENGINES; e++) {
		assert_int_equal(bt_engine_add_pod(h->engines[e], &pod, &entry, &pod_ixs[e]), BT_OK);
	}
	assert_int_equal(pod_ixs[PLAIN], pod_ixs[TRYING]);
}

static void remove_pod(struct history *h)
{
	if (bt_ledger_pod_end(ledger_of(h, PLAIN)) == 0) {
		return;
	}
	uint32_t pod_ix = below(h, bt_ledger_pod_end(ledger_of(h, PLAIN)));
	for (uint32_t e = 0; e < ENGINES; e++) {
		if (bt_ledger_has(ledger_of(h, e), pod_ix)) {
			bt_engine_remove_pod(h->engines[e], pod_ix);
		}
	}
}

/* Victims are deleted at once, or stay until the history removes them. */
static void carry_out(struct history *h, const struct bt_decision decisions[ENGINES])
{
	uint32_t victims[64], n = decisions[0].victim_n;
	bool at_once = below(h, 2);

	assert_true(n < 64);
	for (uint32_t i = 0; i < n; i++) {
		victims[i] = decisions[0].victims[i].pod_ix;
	}
	for (uint32_t e = 0; e < ENGINES; e++) {
		for (uint32_t i = 0; i < n; i++) {
			(at_once ? bt_engine_remove_pod : bt_engine_evict)(h->engines[e], victims[i]);
		}
	}
	h->counts.preempted += n > 0;
}

static void assert_same_message(struct history *h, uint32_t pod_ix)
{
	struct bt_buf texts[ENGINES] = {0};

	for (uint32_t e = 0; e < ENGINES; e++) {
		struct bt_explanation explanation = {0};

		bt_engine_explain(h->engines[e], pod_ix, &explanation);
		if (explanation.evaluation.feasible_n == 0) {
			bt_engine_message(h->engines[e], &explanation, &texts[e]);
		}
		for (uint32_t i = 0; i < explanation.evaluation.feasible_n && !explanation.error; i++) {
			bt_buf_printf(&texts[e], "%u: %" PRId64 "\n", explanation.evaluation.feasible[i],
				explanation.evaluation.totals[i]);
		}
		bt_explanation_fini(&explanation);
	}
	assert_string_equal(
		texts[PLAIN].ptr ? texts[PLAIN].ptr : "", texts[TRYING].ptr ? texts[TRYING].ptr : "");
	bt_buf_fini(&texts[PLAIN]);
	bt_buf_fini(&texts[TRYING]);
}

/* What a transaction would do for a pod that is about to be decided. */
struct foreseen {
	enum bt_outcome outcome; /* without victims */
	uint32_t node_ix, nominated_ix, victims[64], victim_n;
};

static struct foreseen foresee(struct history *h, uint32_t pod_ix)
{
	struct bt_engine *engine = h->engines[TRYING];
	struct bt_transaction_preemption preemption = {.victim_n = 0};
	struct foreseen foreseen;
	uint32_t node_ix;

	bt_transaction_begin(engine);
	foreseen.outcome = bt_transaction_place(engine, pod_ix, &foreseen.node_ix);
	if (foreseen.outcome == BT_REFUSED) {
		enum bt_outcome outcome = bt_transaction_preempt(engine, pod_ix, &node_ix, &preemption);

		assert_true(outcome != BT_PLACED || node_ix == preemption.nominated_ix);
	}
	foreseen.nominated_ix = preemption.victim_n ? preemption.nominated_ix : BT_NO_NODE;
	foreseen.victim_n = preemption.victim_n;
	assert_true(preemption.victim_n < 64);
	for (uint32_t i = 0; i < preemption.victim_n; i++) {
		foreseen.victims[i] = preemption.victims[i].pod_ix;
		assert_true(bt_transaction_has_evicted(engine, foreseen.victims[i]));
	}
	bt_transaction_roll_back(engine);
	return foreseen;
}

static void assert_foreseen(
	struct history *h, const struct foreseen *foreseen, const struct bt_decision *decision)
{
	if (decision->outcome == BT_SKIPPED) {
		return;
	}
	assert_int_equal(foreseen->outcome, decision->outcome);
	assert_int_equal(foreseen->node_ix, decision->node_ix);
	if (decision->outcome != BT_REFUSED) {
		return;
	}
	assert_int_equal(foreseen->victim_n, decision->victim_n);
	for (uint32_t i = 0; i < decision->victim_n; i++) {
		assert_int_equal(foreseen->victims[i], decision->victims[i].pod_ix);
	}
	if (decision->victim_n) {
		assert_int_equal(foreseen->nominated_ix, decision->nominated_ix);
	}
	h->counts.same_victims += decision->victim_n > 0;
	h->counts.cleared += decision->cleared_nominations_n > 0;
}

static void decide(struct history *h)
{
	struct bt_decision d[ENGINES];
	uint32_t pod_ix = bt_engine_pop(h->engines[PLAIN]);

	assert_int_equal(pod_ix, bt_engine_pop(h->engines[TRYING]));
	if (pod_ix == BT_NO_POD) {
		return;
	}
	assert_same_message(h, pod_ix);
	struct foreseen foreseen = foresee(h, pod_ix);
	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_decide(h->engines[e], pod_ix, &d[e]);
	}
	assert_int_equal(d[0].outcome, d[1].outcome);
	assert_int_equal(d[0].node_ix, d[1].node_ix);
	assert_int_equal(d[0].nominated_ix, d[1].nominated_ix);
	assert_int_equal(d[0].unschedulable_plugins, d[1].unschedulable_plugins);
	assert_int_equal(d[0].preempt, d[1].preempt);
	assert_int_equal(d[0].victim_n, d[1].victim_n);
	for (uint32_t i = 0; i < d[0].victim_n; i++) {
		assert_int_equal(d[0].victims[i].pod_ix, d[1].victims[i].pod_ix);
	}
	assert_foreseen(h, &foreseen, &d[TRYING]);
	h->counts.placed += d[0].outcome == BT_PLACED;
	carry_out(h, d);
}

/* ---- both engines are in the same state ---- */

static void assert_same_list(const struct history *h, uint32_t node_ix, bool nominated)
{
	uint32_t pods[ENGINES];

	for (uint32_t e = 0; e < ENGINES; e++) {
		pods[e] = nominated ? bt_ledger_first_nominated(ledger_of(h, e), node_ix)
				    : bt_ledger_first_on(ledger_of(h, e), node_ix);
	}
	for (;;) {
		assert_int_equal(pods[PLAIN], pods[TRYING]);
		if (pods[PLAIN] == BT_NO_POD) {
			return;
		}
		for (uint32_t e = 0; e < ENGINES; e++) {
			pods[e] = bt_ledger_next(ledger_of(h, e), pods[e]);
		}
	}
}

static bool has_port(const struct bt_port_list *ports, const struct bt_host_port *port)
{
	bool has = false;

	for (uint32_t i = 0; i < ports->n; i++) {
		has |= ports->items[i].port == port->port && ports->items[i].protocol == port->protocol;
	}
	return has;
}

static void assert_same_node(const struct history *h, uint32_t node_ix)
{
	const struct bt_usage *a = bt_engine_cache(h->engines[PLAIN])->view.usage,
			      *b = bt_engine_cache(h->engines[TRYING])->view.usage;
	const struct bt_node *of_a = &snapshot_of(h, PLAIN)->nodes[node_ix],
			     *of_b = &snapshot_of(h, TRYING)->nodes[node_ix];

	assert_int_equal(bt_bitmap_test(snapshot_of(h, PLAIN)->live, node_ix),
		bt_bitmap_test(snapshot_of(h, TRYING)->live, node_ix));
	assert_int_equal(of_a->unschedulable, of_b->unschedulable);
	assert_int_equal(of_a->labels.n, of_b->labels.n);
	assert_memory_equal(a->nodes[node_ix].used, b->nodes[node_ix].used, sizeof(a->nodes[node_ix].used));
	assert_int_equal(a->nodes[node_ix].nonzero_milli_cpu, b->nodes[node_ix].nonzero_milli_cpu);
	assert_int_equal(a->nodes[node_ix].nonzero_memory, b->nodes[node_ix].nonzero_memory);
	assert_int_equal(a->nodes[node_ix].pod_n, b->nodes[node_ix].pod_n);
	assert_int_equal(a->nodes[node_ix].status_n, b->nodes[node_ix].status_n);
	assert_int_equal(a->ports[node_ix].n, b->ports[node_ix].n);
	for (uint32_t i = 0; i < a->ports[node_ix].n; i++) {
		assert_true(has_port(&b->ports[node_ix], &a->ports[node_ix].items[i]));
	}
	assert_same_list(h, node_ix, false);
	assert_same_list(h, node_ix, true);
}

static void assert_same_queues(const struct history *h)
{
	static uint32_t pods[ENGINES][MOST];

	for (int where = BT_WAIT_ACTIVE; where < BT_WAIT_N; where++) {
		uint32_t n[ENGINES];

		for (uint32_t e = 0; e < ENGINES; e++) {
			n[e] = bt_queue_list(
				bt_engine_queue(h->engines[e]), (enum bt_wait)where, pods[e], MOST);
		}
		assert_int_equal(n[PLAIN], n[TRYING]);
		assert_memory_equal(pods[PLAIN], pods[TRYING], n[PLAIN] * sizeof(uint32_t));
		for (uint32_t i = 0; i < n[PLAIN]; i++) {
			struct bt_queue_info a = bt_queue_info(h->engines[PLAIN]->queue, pods[PLAIN][i]),
					     b = bt_queue_info(h->engines[TRYING]->queue, pods[PLAIN][i]);

			assert_int_equal(a.where, b.where);
			assert_int_equal(a.gate, b.gate);
			assert_int_equal(a.unschedulable_plugins, b.unschedulable_plugins);
			assert_int_equal(a.pending, b.pending);
			assert_int_equal(a.attempts, b.attempts);
			assert_int_equal(a.timestamp_ns, b.timestamp_ns);
			assert_int_equal(a.order, b.order);
		}
	}
}

static void assert_same_state(const struct history *h)
{
	const struct bt_engine *a = h->engines[PLAIN], *b = h->engines[TRYING];
	struct bt_ledger_counts of_a = bt_ledger_counts(a->cache->ledger),
				of_b = bt_ledger_counts(b->cache->ledger);

	assert_int_equal(a->counts.cycle_n, b->counts.cycle_n);
	assert_int_equal(a->counts.placed_n, b->counts.placed_n);
	assert_int_equal(bt_node_list_mark(&a->nodes), bt_node_list_mark(&b->nodes));
	assert_int_equal(of_a.queued, of_b.queued);
	assert_int_equal(of_a.assumed, of_b.assumed);
	assert_int_equal(of_a.scheduled, of_b.scheduled);
	assert_int_equal(
		bt_ledger_lowest_priority(a->cache->ledger), bt_ledger_lowest_priority(b->cache->ledger));
	assert_int_equal(snapshot_of(h, PLAIN)->slot_n, snapshot_of(h, TRYING)->slot_n);
	assert_int_equal(snapshot_of(h, PLAIN)->node_n, snapshot_of(h, TRYING)->node_n);
	assert_memory_equal(bt_snapshot_order(a->cache->snapshot), bt_snapshot_order(b->cache->snapshot),
		snapshot_of(h, PLAIN)->node_n * sizeof(uint32_t));
	for (uint32_t i = 0; i < snapshot_of(h, PLAIN)->slot_n; i++) {
		assert_same_node(h, i);
	}
	assert_same_queues(h);
}

/* Inside a transaction: a node's usage is the sum of the requests of its pods that are not evicted. */
static void assert_adds_up(const struct history *h)
{
	const struct bt_cache *cache = bt_engine_cache(h->engines[TRYING]);

	for (uint32_t node_ix = 0; node_ix < cache->view.snapshot->slot_n; node_ix++) {
		int64_t cpu = 0, pod_n = 0;

		for (uint32_t i = bt_ledger_first_on(cache->ledger, node_ix); i != BT_NO_POD;
			i = bt_ledger_next(cache->ledger, i)) {
			const struct bt_signature *signature = bt_ledger_pod(cache->ledger, i)->signature;

			if (!bt_transaction_has_evicted(h->engines[TRYING], i)) {
				cpu += signature->requests.used.n ? signature->requests.used.items[0].amount
								  : 0;
				pod_n++;
			}
		}
		assert_int_equal(bt_node_used(cache->view.usage, BT_CPU, node_ix), cpu);
		assert_int_equal(cache->view.usage->nodes[node_ix].pod_n, pod_n);
	}
}

/* ---- transactions ---- */

enum step_kind { PLACE, EVICT, ADD, CHANGE };

/* The changes of a committed transaction, which the other engine repeats. */
struct steps {
	struct {
		enum step_kind kind;
		uint32_t pod_ix, node_ix, next_start;
		uint64_t cycle_n;
		struct bt_pod_object *pod;
		struct bt_node_object *node;
	} items[MOST];
	uint32_t n;
	bool simple; /* the transaction makes no other changes */
};

static struct steps steps;

static void record_step(enum step_kind kind, uint32_t pod_ix, uint32_t node_ix)
{
	assert_true(steps.n < MOST);
	steps.items[steps.n].kind = kind;
	steps.items[steps.n].pod_ix = pod_ix;
	steps.items[steps.n++].node_ix = node_ix;
}

/* A pod in that state, on a node or not, or BT_NO_POD. */
static uint32_t any_pod(struct history *h, bool on_node, bool evicted)
{
	const struct bt_ledger *ledger = ledger_of(h, TRYING);
	uint32_t end = bt_ledger_pod_end(ledger), first = end ? tries_below(h, end) : 0;

	for (uint32_t i = 0; i < end; i++) {
		uint32_t pod_ix = (first + i) % end;
		const struct bt_pod *pod = bt_ledger_pod(ledger, pod_ix);

		if (bt_ledger_has(ledger, pod_ix) && !pod->detached &&
			on_node == (pod->node_ix != BT_NO_NODE) &&
			evicted == bt_transaction_has_evicted(h->engines[TRYING], pod_ix)) {
			return pod_ix;
		}
	}
	return BT_NO_POD;
}

static uint32_t any_node(struct history *h)
{
	const struct bt_snapshot *snapshot = snapshot_of(h, TRYING);
	uint32_t n = snapshot->slot_n, first = n ? tries_below(h, n) : 0;

	for (uint32_t i = 0; i < n; i++) {
		if (bt_bitmap_test(snapshot->live, (first + i) % n)) {
			return (first + i) % n;
		}
	}
	return BT_NO_NODE;
}

static void try_place(struct history *h, uint32_t pod_ix)
{
	uint32_t node_ix, next_start = bt_node_list_mark(&h->engines[TRYING]->nodes);

	if (pod_ix == BT_NO_POD) {
		return;
	}
	enum bt_outcome outcome = bt_transaction_place(h->engines[TRYING], pod_ix, &node_ix);
	assert_int_equal(outcome == BT_PLACED, node_ix != BT_NO_NODE);
	if (outcome == BT_PLACED) {
		assert_int_equal(bt_ledger_pod(ledger_of(h, TRYING), pod_ix)->node_ix, node_ix);
		record_step(PLACE, pod_ix, node_ix);
		steps.items[steps.n - 1].next_start = next_start;
		steps.items[steps.n - 1].cycle_n = h->engines[TRYING]->counts.cycle_n;
	}
	h->counts.tried_places += outcome == BT_PLACED;
	h->counts.refused_places += outcome == BT_REFUSED;
	if (outcome == BT_REFUSED && !steps.simple && tries_below(h, 2)) {
		struct bt_transaction_preemption preemption;

		outcome = bt_transaction_preempt(h->engines[TRYING], pod_ix, &node_ix, &preemption);
		assert_int_equal(outcome == BT_PLACED, node_ix != BT_NO_NODE);
		assert_true(outcome != BT_PLACED || preemption.victim_n > 0);
		h->counts.preempted_in += preemption.victim_n > 0;
	}
}

/* Transactions take their objects from the other random numbers. */
static void swap_numbers(struct history *h)
{
	struct bt_rng rng = h->source.topology.rng;

	h->source.topology.rng = h->tries;
	h->tries = rng;
}

static void try_add(struct history *h)
{
	struct bt_pod_object *pod = bt_arena_zalloc(&h->source.topology.arena, sizeof(*pod));
	uint32_t pod_ix, next = h->source.next;

	swap_numbers(h);
	h->source.next += MOST;
	*pod = cluster_pod(&h->source);
	h->source.next = steps.simple ? h->source.next : next;
	if (below(h, 4) == 0) {
		pod->spec.node_name = topology_numbered(&h->source.topology, "n", below(h, h->source.node_n));
	}
	swap_numbers(h);
	if (bt_transaction_add_pod(h->engines[TRYING], pod, &pod_ix) != BT_OK) {
		return;
	}
	record_step(ADD, pod_ix, BT_NO_NODE);
	steps.items[steps.n - 1].pod = pod;
	h->counts.added++;
	if (!pod->spec.node_name.len) {
		try_place(h, pod_ix);
	}
}

static void try_change(struct history *h)
{
	uint32_t node_ix = any_node(h);

	if (node_ix == BT_NO_NODE) {
		return;
	}
	struct bt_node_object *node = bt_arena_zalloc(&h->source.topology.arena, sizeof(*node));
	struct bt_intern *intern = h->engines[TRYING]->cache->dictionary->intern;
	struct bt_str name = bt_intern_str(intern, snapshot_of(h, TRYING)->nodes[node_ix].name);

	swap_numbers(h);
	*node = describe_node(h, 0);
	swap_numbers(h);
	node->meta.name =
		(struct bt_str){bt_arena_copy(&h->source.topology.arena, name.ptr, name.len), name.len};
	assert_int_equal(bt_transaction_apply_node(h->engines[TRYING], node, &node_ix), BT_OK);
	record_step(CHANGE, BT_NO_POD, node_ix);
	steps.items[steps.n - 1].node = node;
	h->counts.changed++;
}

static void try_new_node(struct history *h)
{
	uint32_t node_ix;

	swap_numbers(h);
	struct bt_node_object node = describe_node(h, below(h, h->source.node_n + 3));
	swap_numbers(h);
	uint32_t before = snapshot_of(h, TRYING)->node_n;
	assert_int_equal(bt_transaction_apply_node(h->engines[TRYING], &node, &node_ix), BT_OK);
	h->counts.added_nodes += snapshot_of(h, TRYING)->node_n > before;
}

static void try_evict(struct history *h)
{
	uint32_t pod_ix = any_pod(h, true, false);

	if (pod_ix == BT_NO_POD) {
		return;
	}
	bt_transaction_evict(h->engines[TRYING], pod_ix);
	record_step(EVICT, pod_ix, BT_NO_NODE);
	h->counts.evictions++;
	if (!steps.simple && tries_below(h, 2)) {
		try_place(h, bt_transaction_add_copy(h->engines[TRYING], pod_ix));
		h->counts.copies++;
	}
}

static void try_restore(struct history *h)
{
	uint32_t pod_ix = any_pod(h, true, true);

	if (pod_ix != BT_NO_POD) {
		bt_transaction_restore(h->engines[TRYING], pod_ix);
		h->counts.restored++;
	}
}

static void try_once(struct history *h)
{
	uint32_t what = tries_below(h, 100), node_ix;

	if (what < 35) {
		try_place(h, any_pod(h, false, false));
	} else if (what < 50) {
		try_evict(h);
	} else if (what < 65) {
		try_add(h);
	} else if (what < 75) {
		try_change(h);
	} else if (steps.simple) {
		return;
	} else if (what < 82) {
		try_restore(h);
	} else if (what < 92 && (node_ix = any_node(h)) != BT_NO_NODE) {
		bt_transaction_close_node(h->engines[TRYING], node_ix, tries_below(h, 3));
	} else if (what < 97) {
		try_new_node(h);
	} else if ((node_ix = any_node(h)) != BT_NO_NODE) {
		bt_transaction_remove_node(h->engines[TRYING], node_ix);
		h->counts.removed_nodes++;
	}
}

/* Opens a transaction, does something in it and in inner ones, and rolls it back, or leaves it to the outer
 * one. */
static void try_all(struct history *h, uint32_t depth)
{
	uint32_t n = tries_below(h, 12), cycle_n = (uint32_t)h->engines[TRYING]->counts.cycle_n;

	bt_transaction_begin(h->engines[TRYING]);
	assert_int_equal(bt_transaction_depth(h->engines[TRYING]), depth);
	for (uint32_t i = 0; i < n; i++) {
		if (depth < DEPTH && tries_below(h, 6) == 0) {
			try_all(h, depth + 1);
		} else {
			try_once(h);
		}
		assert_adds_up(h);
	}
	if (depth > 1 && tries_below(h, 2)) {
		bt_transaction_commit(h->engines[TRYING], NULL);
	} else {
		bt_transaction_roll_back(h->engines[TRYING]);
		assert_int_equal(h->engines[TRYING]->counts.cycle_n, cycle_n);
	}
	h->counts.nested += depth > 1;
}

static void try_and_roll_back(struct history *h)
{
	steps.n = 0;
	steps.simple = false;
	try_all(h, 1);
	h->counts.transactions++;
	assert_same_state(h);
}

static bool is_evicted(uint32_t pod_ix)
{
	for (uint32_t i = 0; i < steps.n; i++) {
		if (steps.items[i].kind == EVICT && steps.items[i].pod_ix == pod_ix) {
			return true;
		}
	}
	return false;
}

static bool is_added(uint32_t pod_ix)
{
	for (uint32_t i = 0; i < steps.n; i++) {
		if (steps.items[i].kind == ADD && steps.items[i].pod_ix == pod_ix) {
			return true;
		}
	}
	return false;
}

/* Does the same as a scheduler would, in the order of the transaction. */
static void do_one(struct history *h, uint32_t i)
{
	struct bt_engine *engine = h->engines[PLAIN];
	uint32_t pod_ix = steps.items[i].pod_ix, node_ix;
	struct bt_decision decision;
	enum bt_entry entry;

	switch (steps.items[i].kind) {
	case PLACE:
		engine->counts.cycle_n = steps.items[i].cycle_n - 1;
		bt_node_list_rewind(&engine->nodes, steps.items[i].next_start);
		assert_int_equal(bt_engine_take_any(engine, pod_ix), BT_OK);
		bt_engine_decide(engine, pod_ix, &decision);
		assert_int_equal(decision.outcome, BT_PLACED);
		assert_int_equal(decision.node_ix, steps.items[i].node_ix);
		break;
	case EVICT:
		bt_engine_delete_pod(engine, pod_ix);
		break;
	case ADD:
		assert_int_equal(bt_engine_add_pod(engine, steps.items[i].pod, &entry, &node_ix), BT_OK);
		assert_int_equal(node_ix, pod_ix);
		break;
	case CHANGE:
		assert_int_equal(bt_engine_apply_node(engine, steps.items[i].node, &node_ix), BT_OK);
		break;
	}
}

/* A transaction without changes that depend on each other in a way that doing them one by one does not allow:
 * no pod is evicted that it has placed or added. */
static void try_and_commit(struct history *h)
{
	struct bt_engine *engine = h->engines[TRYING];
	uint32_t n = tries_below(h, 8);

	/* Vacating the slots of deleted nodes in between changes which of equal nodes is taken. */
	if (snapshot_of(h, PLAIN)->slot_n != snapshot_of(h, PLAIN)->node_n) {
		return;
	}
	steps.n = 0;
	steps.simple = true;
	bt_transaction_begin(engine);
	for (uint32_t i = 0; i < n; i++) {
		try_once(h);
	}
	bool reuses = false;
	for (uint32_t i = 0; i < steps.n; i++) {
		/* An evicted pod keeps its index until the commit; a deleted one does not. */
		reuses |= steps.items[i].kind == ADD;
	}
	bool evicts = false, conflicts = false;
	for (uint32_t i = 0; i < steps.n; i++) {
		evicts |= steps.items[i].kind == EVICT;
		conflicts |= (steps.items[i].kind == PLACE || is_added(steps.items[i].pod_ix)) &&
			     is_evicted(steps.items[i].pod_ix);
	}
	if (conflicts || (evicts && reuses)) {
		bt_transaction_roll_back(engine);
		assert_same_state(h);
		return;
	}
	uint64_t cycle_n = engine->counts.cycle_n;
	bt_transaction_commit(engine, NULL);
	for (uint32_t i = 0; i < steps.n; i++) {
		do_one(h, i);
	}
	h->engines[PLAIN]->counts.cycle_n = cycle_n;
	bt_node_list_rewind(&h->engines[PLAIN]->nodes, bt_node_list_mark(&engine->nodes));
	h->counts.committed++;
	assert_same_state(h);
}

/* ---- histories ---- */

static void step(struct history *h)
{
	uint32_t what = below(h, 100);

	if (what < 38) {
		add_pod(h);
	} else if (what < 76) {
		decide(h);
	} else if (what < 86) {
		remove_pod(h);
	} else if (what < 90) {
		apply_object(h, cluster_budget(&h->source));
	} else if (what < 93) {
		apply_object(h, cluster_storage(&h->source));
	} else if (what < 98) {
		apply_node(h, below(h, h->source.node_n));
	} else {
		remove_node(h);
	}
}

static void run(struct history *h)
{
	bt_config_init_default(&h->config, NULL);
	for (uint32_t e = 0; e < ENGINES; e++) {
		const struct bt_engine_options options = {.seed = 7,
			.no_backoff = true,
			.plan_memory_bytes = h->source.topology.rng.state % 4 == 0 ? 1 : 0,
			.sampling = h->source.topology.rng.state % 3 == 0 ? BT_SAMPLING_UPSTREAM
									  : (enum bt_node_sampling)0,
			.evaluate_always = h->source.topology.rng.state % 5 == 0};

		h->engines[e] = fixture_engine(&h->config, &options);
	}
	h->source.plain = below(h, 3) == 0;
	/* A sample of upstream's has at least 100 nodes. */
	h->source.node_n = 2 + below(h, 12) + (below(h, 12) ? 0 : 200);
	for (uint32_t i = 0; i < h->source.node_n; i++) {
		apply_node(h, i);
	}
	for (uint32_t i = 0; i < 40 && !h->source.plain; i++) {
		apply_object(h, cluster_storage(&h->source));
	}
	for (uint32_t i = 0; i < STEPS; i++) {
		step(h);
		if (tries_below(h, 3) == 0) {
			try_and_roll_back(h);
		} else if (tries_below(h, 10) == 0) {
			try_and_commit(h);
		}
	}
	assert_same_state(h);
	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_destroy(h->engines[e]);
	}
	bt_config_fini(&h->config);
	bt_arena_fini(&h->source.topology.arena);
}

static void a_transaction_that_is_rolled_back_leaves_no_trace(void **state)
{
	uint64_t seed = seed_or(20261101);
	struct counts sum = {0};

	(void)state;
	for (uint64_t i = 0; i < HISTORIES; i++) {
		struct history h = {
			.source.topology.rng = {bt_rng_at(seed, i)}, .tries = {bt_rng_at(~seed, i)}};

		h.counts = sum;
		run(&h);
		sum = h.counts;
	}
	printf("%" PRIu64 " placed, %" PRIu64 " preempted; %" PRIu64 " transactions, %" PRIu64
	       " nested: %" PRIu64 " placed, %" PRIu64 " refused, %" PRIu64 " evicted, %" PRIu64
	       " restored, %" PRIu64 " copies, %" PRIu64 " added, %" PRIu64 " nodes changed, %" PRIu64
	       " added, %" PRIu64 " removed; %" PRIu64 " committed; %" PRIu64 " preempted, %" PRIu64
	       " preemptions foreseen, %" PRIu64 " with nominations cleared\n",
		sum.placed, sum.preempted, sum.transactions, sum.nested, sum.tried_places, sum.refused_places,
		sum.evictions, sum.restored, sum.copies, sum.added, sum.changed, sum.added_nodes,
		sum.removed_nodes, sum.committed, sum.preempted_in, sum.same_victims, sum.cleared);
	assert_true(sum.placed && sum.preempted && sum.nested && sum.tried_places && sum.refused_places &&
		    sum.evictions && sum.restored && sum.copies && sum.added && sum.changed &&
		    sum.added_nodes && sum.removed_nodes && sum.committed && sum.preempted_in &&
		    sum.same_victims && sum.cleared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_transaction_that_is_rolled_back_leaves_no_trace)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
