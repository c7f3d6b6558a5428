/* SPDX-License-Identifier: Apache-2.0
 * Random clusters with gangs, in two engines; one evaluates every node in every cycle. After each group
 * cycle, either enough of the group's pods hold nodes or none of this attempt does. If none does, nodes and
 * other pods' nominations are unchanged. No node that got a pod exceeds its allocatable (I1). The engines'
 * state equals that of a new engine with the same objects (I4): usage, and by counters and columns the
 * verdict and score of every node for every waiting pod.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "engine/flow/cycle/group_cycle.h"
#include "random_topology.h"
#include "seed.h"

#define HISTORIES 60
#define STEPS	  200
#define ENGINES	  2
#define NODES_MAX 10
#define GROUPS	  3
#define SPACE	  "default"

struct group {
	bool known;
	struct bt_pod_group_object object;
};

/* An added pod; it may have been deleted. */
struct record {
	struct bt_pod_object object;
	uint32_t pod_ix;
	uint32_t group; /* GROUPS: none */
};

struct history {
	struct topology_source source;
	struct bt_config config;
	struct bt_engine *engines[ENGINES];
	int64_t now_ns;
	struct bt_node_object nodes[NODES_MAX];
	int64_t milli_cpu[NODES_MAX];
	uint32_t node_n;
	struct group groups[GROUPS];
	struct record records[STEPS];
	uint32_t record_n;
	uint64_t whole, refused, preempted, compared;
	bool as_one; /* groups are queued as a whole, have a priority, and preempt as a whole (1.37) */
	/* By engine: state before a group's cycle. */
	struct bt_node_use before[ENGINES][NODES_MAX];
	uint32_t nominated[ENGINES][STEPS]; /* by record; or BT_NO_NODE */
};

static uint32_t below(struct history *h, uint32_t n)
{
	return topology_below(&h->source, n);
}

/* ---- objects ---- */

static struct bt_resource_list amounts(struct history *h, int64_t milli_cpu, const char *pods)
{
	struct bt_named_quantity *items = bt_arena_zalloc(&h->source.arena, 2 * sizeof(*items));
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64 "m", milli_cpu);
	items[0].name = bt_str("cpu");
	items[1].name = bt_str("pods");
	assert_int_equal(bt_quantity_parse(bt_str(text), &items[0].quantity), BT_OK);
	assert_int_equal(bt_quantity_parse(bt_str(pods), &items[1].quantity), BT_OK);
	return (struct bt_resource_list){items, 2, true};
}

static void apply_node(struct history *h, uint32_t n)
{
	struct bt_node_object *node = &h->nodes[n];
	uint32_t node_ix;

	*node = (struct bt_node_object){.meta = {.name = topology_numbered(&h->source, "n", n)}};
	node->meta.labels = topology_labels(&h->source, topology_keys, TOPOLOGY_KEYS, 85);
	h->milli_cpu[n] = 1000 * (1 + (int64_t)below(h, 4));
	node->allocatable = amounts(h, h->milli_cpu[n], "6");
	node->unschedulable = below(h, 12) == 0;
	for (uint32_t e = 0; e < ENGINES; e++) {
		assert_int_equal(bt_engine_apply_node(h->engines[e], node, &node_ix), BT_OK);
		assert_int_equal(node_ix, n);
	}
}

static void show_group(struct bt_engine *engine, const struct bt_pod_group_object *group)
{
	const struct bt_object object = {.kind = BT_KIND_POD_GROUP, .pod_group = *group};

	bt_engine_apply_object(engine, &object);
}

static void apply_group(struct history *h, uint32_t g)
{
	struct group *group = &h->groups[g];
	bool goes = group->known && below(h, 3);

	if (!goes) {
		group->object = (struct bt_pod_group_object){
			.meta = {.name = topology_numbered(&h->source, "g", g), .namespace_ = bt_str(SPACE)},
			.gang = below(h, 6) > 0,
			.min_count = 1 + (int32_t)below(h, 4),
			.together = below(h, 2) == 0,
			.priority = (int32_t)g};
	}
	group->known = !goes;
	for (uint32_t e = 0; e < ENGINES; e++) {
		if (goes) {
			assert_int_equal(bt_engine_delete_object(h->engines[e], BT_KIND_POD_GROUP,
						 bt_str(SPACE), group->object.meta.name),
				BT_OK);
		} else {
			show_group(h->engines[e], &group->object);
		}
	}
}

static void describe_pod(struct history *h, struct record *record)
{
	struct bt_container_object *container = bt_arena_zalloc(&h->source.arena, sizeof(*container));
	struct bt_pod_object *pod = &record->object;

	*pod = (struct bt_pod_object){.meta = {.name = topology_numbered(&h->source, "p", h->record_n),
					      .namespace_ = bt_str(SPACE)}};
	pod->meta.labels = topology_labels(&h->source, topology_names, TOPOLOGY_NAMES, 50);
	pod->spec.scheduler_name = bt_str("default-scheduler");
	pod->spec.priority = (int32_t)below(h, 3);
	pod->spec.has_priority = true;
	pod->spec.preemption_policy = bt_str(below(h, 3) ? "Never" : "PreemptLowerPriority");
	pod->start_ns = 1 + (int64_t)h->record_n;
	container->resources.set = true;
	container->resources.requests = amounts(h, 500 * (1 + (int64_t)below(h, 3)), "0");
	container->resources.requests.n = 1;
	pod->spec.containers = container;
	pod->spec.container_n = 1;
	if (below(h, 5) == 0) {
		topology_affinity(&h->source, &pod->spec.affinity.pod_anti_affinity);
	}
	if (below(h, 6) == 0) {
		topology_affinity(&h->source, &pod->spec.affinity.pod_affinity);
	}
	if (below(h, 6) == 0) {
		topology_spread(&h->source, &pod->spec);
	}
	record->group = below(h, 4) ? below(h, GROUPS) : GROUPS;
	if (record->group < GROUPS) {
		pod->spec.pod_group = topology_numbered(&h->source, "g", record->group);
	}
	if (h->as_one && record->group < GROUPS && below(h, 40)) {
		pod->spec.priority = (int32_t)record->group;
		pod->spec.preemption_policy = bt_str("PreemptLowerPriority");
	}
	if (below(h, record->group < GROUPS ? 12 : 2) == 0) {
		pod->spec.node_name = topology_numbered(&h->source, "n", below(h, h->node_n));
	}
}

static void add_pod(struct history *h)
{
	struct record *record = &h->records[h->record_n];
	enum bt_entry entry;

	describe_pod(h, record);
	h->record_n++;
	for (uint32_t e = 0; e < ENGINES; e++) {
		assert_int_equal(
			bt_engine_add_pod(h->engines[e], &record->object, &entry, &record->pod_ix), BT_OK);
	}
}

/* The engine's pod; of an index without a pod, checks that it is vacant. */
static const struct bt_pod *pod_of(const struct bt_engine *engine, uint32_t pod_ix)
{
	static const struct bt_pod vacant = {.state = BT_POD_VACANT};
	const struct bt_ledger *ledger = bt_engine_cache((struct bt_engine *)(uintptr_t)engine)->ledger;

	return bt_ledger_has(ledger, pod_ix) ? bt_ledger_pod(ledger, pod_ix) : &vacant;
}

static bool is_there(const struct history *h, const struct record *record)
{
	return bt_engine_find_pod(h->engines[0], bt_str(SPACE), record->object.meta.name) == record->pod_ix;
}

static void remove_pod(struct history *h)
{
	const struct record *record = h->record_n ? &h->records[below(h, h->record_n)] : NULL;

	for (uint32_t e = 0; record && is_there(h, record) && e < ENGINES; e++) {
		if (e + 1 < ENGINES) {
			bt_engine_remove_pod(h->engines[ENGINES - 1 - e], record->pod_ix);
		} else {
			bt_engine_remove_pod(h->engines[0], record->pod_ix);
		}
	}
}

/* ---- cycles ---- */

static uint32_t holders(const struct history *h, uint32_t g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->record_n; i++) {
		n += h->records[i].group == g && is_there(h, &h->records[i]) &&
		     pod_of(h->engines[0], h->records[i].pod_ix)->state == BT_POD_SCHEDULED;
	}
	return n;
}

static void check_room(const struct history *h, uint32_t node_ix)
{
	const struct bt_usage *usage = bt_engine_cache(h->engines[0])->view.usage;

	assert_true(bt_node_used(usage, BT_CPU, node_ix) <= h->milli_cpu[node_ix]);
	assert_true(usage->nodes[node_ix].pod_n <= 6);
}

static void check_group(struct history *h, uint32_t g, const struct bt_group_decision *decision)
{
	const struct group *group = &h->groups[g];
	uint32_t placed = 0;

	for (uint32_t i = 0; i < decision->member_n; i++) {
		const struct bt_decision *member = &decision->members[i].decision;
		const struct bt_pod *pod = pod_of(h->engines[0], member->pod_ix);

		if (member->outcome == BT_PLACED) {
			assert_int_equal(pod->state, BT_POD_SCHEDULED);
			check_room(h, pod->node_ix);
			placed++;
		} else {
			assert_int_equal(pod->state, BT_POD_QUEUED);
			assert_int_equal(pod->node_ix, BT_NO_NODE);
		}
	}
	if (placed && group->object.gang) {
		assert_true(group->known);
		assert_true((int64_t)holders(h, g) >= group->object.min_count);
		h->whole++;
	}
	h->refused += placed == 0;
}

/* Victims are deleted at once; several members may have chosen the same one. */
static void carry_out(struct history *h, const struct bt_group_decision *decision)
{
	uint32_t victims[STEPS], n = 0;

	for (uint32_t i = 0; i < decision->member_n; i++) {
		for (uint32_t v = 0; v < decision->members[i].decision.victim_n; v++) {
			assert_true(n < STEPS);
			victims[n++] = decision->members[i].decision.victims[v].pod_ix;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		bool there = bt_ledger_has(bt_engine_cache(h->engines[0])->ledger, victims[i]);

		for (uint32_t e = 0; there && e < ENGINES; e++) {
			bt_engine_remove_pod(h->engines[e], victims[i]);
		}
		h->preempted += there;
	}
}

static void note_before(struct history *h)
{
	for (uint32_t e = 0; e < ENGINES; e++) {
		const struct bt_usage *usage = bt_engine_cache(h->engines[e])->view.usage;

		memcpy(h->before[e], usage->nodes, h->node_n * sizeof(h->before[e][0]));
		for (uint32_t i = 0; i < h->record_n; i++) {
			h->nominated[e][i] = pod_of(h->engines[e], h->records[i].pod_ix)->nominated_ix;
		}
	}
}

/* No pod got a node: the attempt must be undone. */
static void check_undone(const struct history *h, uint32_t g)
{
	for (uint32_t e = 0; e < ENGINES; e++) {
		const struct bt_usage *usage = bt_engine_cache(h->engines[e])->view.usage;

		for (uint32_t n = 0; n < h->node_n; n++) {
			assert_int_equal(usage->nodes[n].used[BT_CPU], h->before[e][n].used[BT_CPU]);
			assert_int_equal(usage->nodes[n].pod_n, h->before[e][n].pod_n);
		}
		for (uint32_t i = 0; i < h->record_n; i++) {
			if (h->records[i].group != g && is_there(h, &h->records[i])) {
				assert_int_equal(pod_of(h->engines[e], h->records[i].pod_ix)->nominated_ix,
					h->nominated[e][i]);
			}
		}
	}
}

static void decide_group(struct history *h, uint32_t pod_ix)
{
	struct bt_group_decision decisions[ENGINES];
	uint64_t refused = h->refused;
	uint32_t g = 0;

	while (h->records[g].pod_ix != pod_ix || !is_there(h, &h->records[g])) {
		g++;
	}
	note_before(h);
	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_decide_group(h->engines[e], pod_ix, NULL, &decisions[e]);
	}
	assert_int_equal(decisions[0].member_n, decisions[1].member_n);
	for (uint32_t i = 0; i < decisions[0].member_n; i++) {
		const struct bt_group_member *x = &decisions[0].members[i], *y = &decisions[1].members[i];

		assert_int_equal(x->decision.pod_ix, y->decision.pod_ix);
		assert_int_equal(x->decision.outcome, y->decision.outcome);
		assert_int_equal(x->decision.node_ix, y->decision.node_ix);
		assert_int_equal(x->decision.nominated_ix, y->decision.nominated_ix);
		assert_int_equal(x->decision.victim_n, y->decision.victim_n);
		assert_int_equal(x->reason, y->reason);
	}
	check_group(h, h->records[g].group, &decisions[0]);
	if (h->as_one && h->refused > refused) {
		check_undone(h, h->records[g].group);
	}
	carry_out(h, &decisions[0]);
}

static void decide_one(struct history *h, uint32_t pod_ix)
{
	struct bt_decision decisions[ENGINES];
	struct bt_group_member alone = {0};

	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_decide(h->engines[e], pod_ix, &decisions[e]);
	}
	assert_int_equal(decisions[0].outcome, decisions[1].outcome);
	assert_int_equal(decisions[0].node_ix, decisions[1].node_ix);
	alone.decision = decisions[0];
	carry_out(h, &(struct bt_group_decision){.members = &alone, .member_n = 1});
}

static void decide(struct history *h)
{
	/* With cached refusals the refusing plugins of a pod may be unknown, so the order may differ. */
	uint32_t pod_ix = bt_engine_pop(h->engines[1]);

	if (pod_ix == BT_NO_POD) {
		return;
	}
	assert_int_equal(bt_engine_take(h->engines[0], pod_ix), BT_OK);
	if (bt_engine_in_group(h->engines[0], pod_ix)) {
		decide_group(h, pod_ix);
	} else {
		decide_one(h, pod_ix);
	}
}

static void pass_time(struct history *h)
{
	h->now_ns += (1 + (int64_t)below(h, 12)) * BT_QUEUE_SECOND;
	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_tick(h->engines[e]);
	}
}

/* ---- against a new engine ---- */

static struct bt_engine *make_engine(struct history *h, bool evaluate_always)
{
	const struct bt_engine_options options = {.seed = 7,
		.clock = bt_clock_virtual(&h->now_ns),
		.strict_order = true,
		.evaluate_always = evaluate_always};
	struct bt_config_errors errors = {0};
	struct bt_engine *engine = bt_engine_create(&h->config, &options, &errors);

	assert_non_null(engine);
	bt_config_errors_fini(&errors);
	return engine;
}

/* A new engine with the current objects. */
static struct bt_engine *rebuild(struct history *h, uint32_t pod_ixs[STEPS])
{
	const struct bt_snapshot *snapshot = bt_engine_cache(h->engines[0])->view.snapshot;
	const struct bt_intern *intern = bt_engine_cache(h->engines[0])->dictionary->intern;
	struct bt_engine *engine = make_engine(h, false);
	enum bt_entry entry;
	uint32_t node_ix;

	for (uint32_t i = 0; i < h->node_n; i++) {
		assert_int_equal(bt_engine_apply_node(engine, &h->nodes[i], &node_ix), BT_OK);
	}
	for (uint32_t g = 0; g < GROUPS; g++) {
		if (h->groups[g].known) {
			show_group(engine, &h->groups[g].object);
		}
	}
	for (uint32_t i = 0; i < h->record_n; i++) {
		const struct bt_pod *pod = pod_of(h->engines[0], h->records[i].pod_ix);
		struct bt_pod_object object = h->records[i].object;

		pod_ixs[i] = BT_NO_POD;
		if (!is_there(h, &h->records[i])) {
			continue;
		}
		if (pod->state == BT_POD_SCHEDULED) {
			object.spec.node_name = bt_intern_str(intern, snapshot->nodes[pod->node_ix].name);
		}
		if (pod->nominated_ix != BT_NO_NODE) {
			object.nominated_node_name =
				bt_intern_str(intern, snapshot->nodes[pod->nominated_ix].name);
		}
		assert_int_equal(bt_engine_add_pod(engine, &object, &entry, &pod_ixs[i]), BT_OK);
		if (object.spec.node_name.len == 0) {
			bt_ledger_nominate(bt_engine_cache(engine)->ledger, pod_ixs[i],
				bt_snapshot_find(bt_engine_cache(engine)->snapshot,
					bt_intern_find(bt_engine_cache(engine)->dictionary->intern,
						object.nominated_node_name)));
		}
	}
	return engine;
}

static void compare_usage(const struct bt_engine *x, const struct bt_engine *y, uint32_t node_n)
{
	const struct bt_usage *a = bt_engine_cache((struct bt_engine *)(uintptr_t)x)->view.usage,
			      *b = bt_engine_cache((struct bt_engine *)(uintptr_t)y)->view.usage;

	for (uint32_t n = 0; n < node_n; n++) {
		const struct bt_node_use *on = &a->nodes[n], *other = &b->nodes[n];

		assert_int_equal(on->used[BT_CPU], other->used[BT_CPU]);
		assert_int_equal(on->nonzero_milli_cpu, other->nonzero_milli_cpu);
		assert_int_equal(on->nonzero_memory, other->nonzero_memory);
		assert_int_equal(on->pod_n, other->pod_n);
	}
}

static void compare_verdicts(const struct bt_explanation *x, const struct bt_explanation *y)
{
	assert_int_equal(x->gated, y->gated);
	assert_int_equal(x->refused, y->refused);
	assert_int_equal(x->evaluation.visited_n, y->evaluation.visited_n);
	assert_int_equal(x->evaluation.feasible_n, y->evaluation.feasible_n);
	for (uint32_t i = 0; i < x->evaluation.visited_n; i++) {
		assert_int_equal(x->evaluation.refused_by[i], y->evaluation.refused_by[i]);
	}
	for (uint32_t i = 0; x->evaluation.feasible_n > 1 && i < x->evaluation.feasible_n; i++) {
		assert_int_equal(x->evaluation.feasible[i], y->evaluation.feasible[i]);
		assert_int_equal(x->evaluation.totals[i], y->evaluation.totals[i]);
	}
}

static void compare_with_new(struct history *h)
{
	struct bt_explanation old = {0}, new = {0};
	uint32_t pod_ixs[STEPS];
	struct bt_engine *engine = rebuild(h, pod_ixs);

	for (uint32_t e = 0; e < ENGINES; e++) {
		compare_usage(h->engines[e], engine, h->node_n);
		for (uint32_t i = 0; i < h->record_n; i++) {
			uint32_t pod_ix = h->records[i].pod_ix;

			if (pod_ixs[i] != BT_NO_POD &&
				pod_of(h->engines[e], pod_ix)->state == BT_POD_QUEUED) {
				bt_engine_explain(h->engines[e], pod_ix, &old);
				bt_engine_explain(engine, pod_ixs[i], &new);
				compare_verdicts(&old, &new);
				h->compared++;
			}
		}
	}
	const struct bt_engine_counts counts = bt_engine_counts(h->engines[0]),
				      others = bt_engine_counts(engine);
	assert_int_equal(counts.sets.queued, others.sets.queued);
	assert_int_equal(counts.sets.scheduled, others.sets.scheduled);
	assert_int_equal(counts.sets.assumed, 0);
	assert_int_equal(counts.queue.in_flight, 0);
	bt_explanation_fini(&old);
	bt_explanation_fini(&new);
	bt_engine_destroy(engine);
}

static void step(struct history *h)
{
	uint32_t what = below(h, 100);

	if (what < 42) {
		add_pod(h);
	} else if (what < 78) {
		decide(h);
	} else if (what < 84) {
		remove_pod(h);
	} else if (what < 88) {
		apply_group(h, below(h, GROUPS));
	} else if (what < 91) {
		apply_node(h, below(h, h->node_n));
	} else if (what < 97) {
		pass_time(h);
	} else {
		compare_with_new(h);
	}
}

static void run(struct history *h)
{
	struct bt_gates gates;
	struct bt_buf why = {0};

	bt_gates_init(&gates, bt_release_find(bt_str(h->as_one ? "1.37" : "1.36")));
	assert_int_equal(bt_gates_parse(&gates,
				 bt_str(h->as_one ? "GenericWorkload=true"
						  : "GenericWorkload=true,GangScheduling=true"),
				 &why),
		BT_OK);
	bt_config_init_default(&h->config, &gates);
	h->now_ns = 1000 * BT_QUEUE_SECOND;
	for (uint32_t e = 0; e < ENGINES; e++) {
		h->engines[e] = make_engine(h, e == 1);
	}
	h->node_n = 1 + below(h, NODES_MAX);
	for (uint32_t i = 0; i < h->node_n; i++) {
		apply_node(h, i);
	}
	for (uint32_t i = 0; i < STEPS; i++) {
		step(h);
	}
	compare_with_new(h);
	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_destroy(h->engines[e]);
	}
	bt_config_fini(&h->config);
	bt_arena_fini(&h->source.arena);
	bt_buf_fini(&why);
}

static void play(bool as_one)
{
	uint64_t seed = seed_or(20260105), whole = 0, refused = 0, preempted = 0;
	uint64_t compared = 0;
	struct history *h = bt_mem_zalloc(1, sizeof(*h));

	for (uint64_t i = 0; i < HISTORIES; i++) {
		*h = (struct history){.source.rng = {bt_rng_at(seed, i)}, .as_one = as_one};
		run(h);
		whole += h->whole;
		refused += h->refused;
		preempted += h->preempted;
		compared += h->compared;
	}
	bt_mem_free(h);
	printf("%" PRIu64 " times enough, %" PRIu64 " times nobody, %" PRIu64 " preempted, %" PRIu64
	       " verdicts compared\n",
		whole, refused, preempted, compared);
	assert_true(whole > 0 && refused > 0 && preempted > 0 && compared > 0);
}

static void gangs_hold_enough_nodes_or_none(void **state)
{
	(void)state;
	play(false);
}

static void gangs_that_wait_as_one_hold_enough_nodes_or_none(void **state)
{
	(void)state;
	play(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(gangs_hold_enough_nodes_or_none),
		cmocka_unit_test(gangs_that_wait_as_one_hold_enough_nodes_or_none)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
