/* SPDX-License-Identifier: Apache-2.0
 * Two engines play one history; one evaluates every node for every pod. The other, which decides by classes
 * of nodes for spread constraints and pod affinity, makes the same decisions (I9, I10).
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
#include "random_topology.h"
#include "seed.h"

#define HISTORIES 24
#define STEPS	  600
#define TEMPLATES 8
#define ENGINES	  2

struct history {
	struct topology_source source;
	struct bt_config config;
	struct bt_engine *engines[ENGINES];
	uint32_t node_n;    /* maximum number of nodes */
	bool roomy;	    /* many nodes with room for many small pods */
	uint32_t next;	    /* for pods' names */
	uint64_t templates; /* seed of the pod templates */
	uint64_t placed, refused;
};

static uint32_t below(struct history *h, uint32_t n)
{
	return topology_below(&h->source, n);
}

static void change_node(struct history *h)
{
	struct bt_node_object node = {
		.meta = {.name = topology_numbered(&h->source, "n", below(h, h->node_n))}};
	struct bt_named_quantity *items = bt_arena_zalloc(&h->source.arena, 3 * sizeof(*items));
	struct bt_taint_object *taint = bt_arena_zalloc(&h->source.arena, sizeof(*taint));
	static const char *const effects[] = {"NoSchedule", "PreferNoSchedule"};
	uint32_t node_ix;

	/* Most hosts have unique names; the other keys have few values. */
	node.meta.labels = topology_labels(&h->source, topology_keys, TOPOLOGY_KEYS, 85);
	for (uint32_t i = 0; i < node.meta.labels.n; i++) {
		if (bt_str_is(node.meta.labels.items[i].key, "kubernetes.io/hostname") &&
			below(h, h->roomy ? 100 : 10)) {
			node.meta.labels.items[i].value = node.meta.name;
		}
	}
	items[0] = (struct bt_named_quantity){bt_str("cpu"), {0}};
	items[1] = (struct bt_named_quantity){bt_str("memory"), {0}};
	items[2] = (struct bt_named_quantity){bt_str("pods"), {0}};
	assert_int_equal(bt_quantity_parse(bt_str(below(h, 2) ? "4" : "8"), &items[0].quantity), BT_OK);
	assert_int_equal(bt_quantity_parse(bt_str("8Gi"), &items[1].quantity), BT_OK);
	assert_int_equal(bt_quantity_parse(bt_str(h->roomy	 ? "6"
						   : below(h, 3) ? "2"
								 : "1"),
				 &items[2].quantity),
		BT_OK);
	node.allocatable = (struct bt_resource_list){items, 3, true};
	*taint = (struct bt_taint_object){
		.key = bt_str("t"), .value = bt_str("v"), .effect = bt_str(effects[below(h, 2)])};
	node.taints = taint;
	node.taint_n = below(h, 6) == 0;
	for (uint32_t e = 0; e < ENGINES; e++) {
		assert_int_equal(bt_engine_apply_node(h->engines[e], &node, &node_ix), BT_OK);
	}
}

static void change_surroundings(struct history *h)
{
	struct bt_object space = {
		.kind = BT_KIND_NAMESPACE, .namespace_.meta = {.name = topology_pick(&h->source)}};
	struct bt_object service = {.kind = BT_KIND_SERVICE,
		.service.meta = {.name = topology_pick(&h->source), .namespace_ = topology_pick(&h->source)}};
	bool drop = below(h, 4) == 0;

	space.namespace_.meta.labels = topology_labels(&h->source, topology_names, TOPOLOGY_NAMES, 50);
	service.service.selector = topology_labels(&h->source, topology_names, TOPOLOGY_NAMES, 40);
	for (uint32_t e = 0; e < ENGINES; e++) {
		bt_engine_apply_object(h->engines[e], &space);
		bt_engine_apply_object(h->engines[e], &service);
		if (drop) {
			(void)!bt_engine_delete_object(
				h->engines[e], BT_KIND_SERVICE, service.meta.namespace_, service.meta.name);
		}
	}
}

/* Affinity, spread constraints, or only those from services. */
static void add_one_wish(struct history *h, struct bt_pod_object *pod)
{
	struct bt_affinity_object *affinity = &pod->spec.affinity;

	switch (below(h, 5)) {
	case 0:
		topology_affinity(&h->source, &affinity->pod_anti_affinity);
		break;
	case 1:
		topology_affinity(&h->source, &affinity->pod_affinity);
		affinity->pod_affinity.required_n = 0;
		break;
	case 2:
	case 3:
		topology_spread(&h->source, &pod->spec);
		break;
	default:
		break;
	}
}

/* Pods come from few templates, so that cached signatures are used again. */
static void fill_pod(struct history *h, struct bt_pod_object *pod)
{
	struct bt_container_object *container = bt_arena_zalloc(&h->source.arena, sizeof(*container));
	struct bt_named_quantity *request = bt_arena_zalloc(&h->source.arena, sizeof(*request));
	uint64_t template = below(h, TEMPLATES), state = h->source.rng.state;

	h->source.rng.state = bt_rng_at(h->templates, template);
	pod->meta.namespace_ = topology_pick(&h->source);
	pod->meta.labels = topology_labels(&h->source, topology_names, TOPOLOGY_NAMES, 50);
	pod->spec.scheduler_name = bt_str("default-scheduler");
	request->name = bt_str("cpu");
	assert_int_equal(bt_quantity_parse(bt_str(below(h, 2) ? "100m" : "1"), &request->quantity), BT_OK);
	container->resources.set = true;
	container->resources.requests = (struct bt_resource_list){request, 1, true};
	pod->spec.containers = container;
	pod->spec.container_n = 1;
	if (h->roomy) {
		add_one_wish(h, pod);
		h->source.rng.state = state;
		return;
	}
	if (below(h, 2)) {
		topology_affinity(&h->source, &pod->spec.affinity.pod_affinity);
		topology_affinity(&h->source, &pod->spec.affinity.pod_anti_affinity);
	}
	/* Required affinity rarely fits; without it there are more placements to compare. */
	if (below(h, 4)) {
		pod->spec.affinity.pod_affinity.required_n = 0;
	}
	if (below(h, 2)) {
		topology_spread(&h->source, &pod->spec);
	}
	h->source.rng.state = state;
}

static void add_pod(struct history *h, bool waits)
{
	struct bt_pod_object pod = {.meta = {.name = topology_numbered(&h->source, "p", h->next++)}};
	enum bt_entry entry;
	uint32_t pod_ix;

	fill_pod(h, &pod);
	if (!waits) {
		pod.spec.node_name = topology_numbered(&h->source, "n", below(h, h->node_n));
	}
	for (uint32_t e = 0; e < ENGINES; e++) {
		assert_int_equal(bt_engine_add_pod(h->engines[e], &pod, &entry, &pod_ix), BT_OK);
	}
}

static void decide(struct history *h)
{
	struct bt_decision decisions[ENGINES];

	for (uint32_t e = 0; e < ENGINES; e++) {
		uint32_t pod_ix = bt_engine_pop(h->engines[e]);

		if (pod_ix == BT_NO_POD) {
			return;
		}
		bt_engine_decide(h->engines[e], pod_ix, &decisions[e]);
	}
	assert_int_equal(decisions[0].pod_ix, decisions[1].pod_ix);
	assert_int_equal(decisions[0].outcome, decisions[1].outcome);
	assert_int_equal(decisions[0].node_ix, decisions[1].node_ix);
	h->placed += decisions[0].outcome == BT_PLACED;
	h->refused += decisions[0].outcome == BT_REFUSED;
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

static void run(struct history *h)
{
	bt_config_init_default(&h->config, NULL);
	for (uint32_t e = 0; e < ENGINES; e++) {
		const struct bt_engine_options options = {.seed = 7,
			.no_backoff = true,
			.evaluate_always = e == 1,
			.keeps_none = e == 0 && (h->source.rng.state & 1)};

		h->engines[e] = fixture_engine(&h->config, &options);
	}
	/* From a few nodes, each its own class, to so many that classes pay off; sometimes only zones and
	 * racks distinguish nodes. */
	h->node_n = h->roomy ? 150 + below(h, 250) : 3 + below(h, 4) * below(h, 60);
	h->templates = bt_rng_next(&h->source.rng);
	for (uint32_t i = 0; i < h->node_n; i++) {
		change_node(h);
	}
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t what = below(h, 100);

		if (what < 45) {
			add_pod(h, true);
			decide(h);
		} else if (what < 60) {
			add_pod(h, false);
		} else if (what < (h->roomy ? 70 : 90)) {
			remove_pod(h);
		} else if (what < (h->roomy ? 98 : 96)) {
			if (h->roomy) {
				add_pod(h, true);
			}
			decide(h);
		} else if (what < 99 || below(h, 3)) {
			change_surroundings(h);
		} else {
			change_node(h);
		}
	}
	for (uint32_t e = 0; e < ENGINES; e++) {
		struct bt_engine_counts counts = bt_engine_counts(h->engines[e]);

		assert_true(e == 0 || counts.by_columns_n == 0);
		bt_engine_destroy(h->engines[e]);
	}
	bt_config_fini(&h->config);
	bt_arena_fini(&h->source.arena);
}

static void play(uint32_t history_n, bool roomy)
{
	uint64_t seed = seed_or(20260103), placed = 0, refused = 0;

	for (uint64_t i = 0; i < history_n; i++) {
		struct history h = {.source.rng = {bt_rng_at(seed, i)}, .roomy = roomy};

		run(&h);
		placed += h.placed;
		refused += h.refused;
	}
	printf("%" PRIu64 " placed, %" PRIu64 " refused\n", placed, refused);
	assert_true(placed > 0 && (refused > 0 || roomy));
}

static void classes_decide_as_evaluating_every_node_does(void **state)
{
	(void)state;
	play(HISTORIES, false);
}

static void classes_decide_as_evaluating_does_on_many_nodes(void **state)
{
	(void)state;
	play(HISTORIES / 2, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_decide_as_evaluating_every_node_does),
		cmocka_unit_test(classes_decide_as_evaluating_does_on_many_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
