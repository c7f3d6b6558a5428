/* SPDX-License-Identifier: Apache-2.0
 * Placements per second on one thread: pop, filter and score every node, assume. The argument is the number
 * of nodes; a run places 20 pods a node, then everything is forgotten off the clock and waits again.
 * first_touch: each signature is met for the first time.
 */
#include <stdio.h>

#include "engine/base/arena.h"
#include "engine/base/rng.h"
#include "engine/flow/engine.h"
#include "suites.h"
#include "tools/generate/build.h"

#define PODS_PER_NODE 20
#define BATCH	      100
#define ZONE_N	      5
#define MACHINE_N     4
#define SEED	      1

enum shapes {
	SHAPES_FEW, /* 36 request vectors */
	SHAPES_OWN  /* each signature its own */
};

struct workload {
	struct bt_config config;
	struct bt_engine *engine;
	struct bt_arena arena;
	uint32_t node_n, signature_n;
	enum shapes shapes;
	bool plain; /* no selectors, tolerations or preferences */
	uint32_t pod_n, left;
	uint64_t placed_n, refused_n;
};

static void ignore(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	(void)context;
	(void)engine;
	(void)pod_ix;
	(void)node_ix;
}

static void add_taint(
	struct bt_arena *arena, struct bt_node_object *node, const char *key, const char *effect)
{
	struct bt_taint_object *taints = bt_arena_zalloc(arena, (node->taint_n + 1) * sizeof(*taints));

	if (node->taint_n) {
		memcpy(taints, node->taints, node->taint_n * sizeof(*taints));
	}
	taints[node->taint_n++] = (struct bt_taint_object){bt_str(key), bt_str("yes"), bt_str(effect)};
	node->taints = taints;
}

static void add_node(struct workload *w, uint32_t ix, struct bt_arena *arena)
{
	static const int64_t cores[MACHINE_N] = {16, 32, 64, 96}, gib[MACHINE_N] = {64, 256, 256, 768};
	struct bt_node_object node = {.meta.name = bt_build_text(arena, "node-%06u", ix)};
	struct bt_rng rng = {.state = ix};
	uint32_t machine = bt_rng_below(&rng, MACHINE_N), node_ix;

	bt_build_pair(arena, &node.meta.labels, bt_str("kubernetes.io/hostname"), node.meta.name);
	bt_build_pair(arena, &node.meta.labels, bt_str("topology.kubernetes.io/zone"),
		bt_build_text(arena, "zone-%u", ix % ZONE_N));
	bt_build_pair(arena, &node.meta.labels, bt_str("node.kubernetes.io/instance-type"),
		bt_build_text(arena, "machine-%u", machine));
	bt_build_pair(
		arena, &node.meta.labels, bt_str("disk"), bt_str(bt_rng_below(&rng, 2) ? "ssd" : "hdd"));
	bt_build_quantity(arena, &node.allocatable, "cpu", bt_build_count(cores[machine]));
	bt_build_quantity(arena, &node.allocatable, "memory", bt_build_mib(gib[machine] * 1024));
	bt_build_quantity(arena, &node.allocatable, "pods", bt_build_count(110));
	if (!w->plain && bt_rng_below(&rng, 10) == 0) {
		add_taint(arena, &node, "dedicated", "NoSchedule");
	}
	if (!w->plain && bt_rng_below(&rng, 10) == 0) {
		add_taint(arena, &node, "spot", "PreferNoSchedule");
	}
	bt_engine_apply_node(w->engine, &node, &node_ix);
}

static void add_selectors(struct bt_arena *arena, struct bt_pod_spec_object *spec, uint32_t signature)
{
	if (signature % 4 == 0) {
		bt_build_pair(arena, &spec->node_selector, bt_str("topology.kubernetes.io/zone"),
			bt_build_text(arena, "zone-%u", signature / 4 % ZONE_N));
	} else if (signature % 4 == 1) {
		bt_build_pair(arena, &spec->node_selector, bt_str("disk"),
			bt_str(signature / 4 % 2 ? "ssd" : "hdd"));
	} else if (signature % 4 == 2) {
		struct bt_requirement_object *machines = bt_build_requirement(arena,
			&bt_build_required_term(arena, &spec->affinity.node_affinity)->match_expressions,
			"node.kubernetes.io/instance-type", "In");

		bt_build_item(arena, &machines->values,
			bt_build_text(arena, "machine-%u", signature / 4 % MACHINE_N));
		bt_build_item(arena, &machines->values,
			bt_build_text(arena, "machine-%u", signature / 16 % MACHINE_N));
	}
}

static void add_preferences(struct bt_arena *arena, struct bt_pod_spec_object *spec, uint32_t signature)
{
	static const char *const keys[2] = {"topology.kubernetes.io/zone", "disk"};
	struct bt_preferred_node_term_object *terms = bt_arena_zalloc(arena, 2 * sizeof(*terms));
	struct bt_str values[2] = {bt_build_text(arena, "zone-%u", signature / 8 % ZONE_N),
		bt_str(signature / 8 % 2 ? "ssd" : "hdd")};

	for (uint32_t i = 0; i < 2; i++) {
		struct bt_requirement_object *requirement =
			bt_build_requirement(arena, &terms[i].preference.match_expressions, keys[i], "In");

		bt_build_item(arena, &requirement->values, values[i]);
		terms[i].weight = i ? 20 : 50;
	}
	spec->affinity.node_affinity.set = true;
	spec->affinity.node_affinity.preferred = terms;
	spec->affinity.node_affinity.preferred_n = 2;
	spec->affinity.node_affinity.preferred_set = true;
}

/* The pod of a signature, without its name. */
static struct bt_pod_object make_pod(const struct workload *w, uint32_t signature, struct bt_arena *arena)
{
	struct bt_pod_object pod = {.meta.namespace_ = bt_str("default")};
	struct bt_container_object *container = bt_arena_zalloc(arena, sizeof(*container));
	int few = (int)(signature * 7 % 36);
	int64_t milli = 100 + (w->shapes == SHAPES_OWN ? (int64_t)signature : 150 * (few % 6));
	int64_t mib = w->shapes == SHAPES_OWN ? 128 + (int64_t)(signature * 7 % 1000) * 4 : 128 << few / 6;

	bt_build_pair(arena, &pod.meta.labels, bt_str("app"), bt_build_text(arena, "app-%u", signature));
	container->name = container->image = bt_str("main");
	bt_build_quantity(arena, &container->resources.requests, "cpu", bt_build_milli(milli));
	bt_build_quantity(arena, &container->resources.requests, "memory", bt_build_mib(mib));
	pod.spec.scheduler_name = bt_str("default-scheduler");
	pod.spec.containers = container;
	pod.spec.container_n = 1;
	if (w->plain) {
		return pod;
	}
	pod.spec.has_priority = true;
	pod.spec.priority = (int32_t)(signature % 3) * 1000;
	add_selectors(arena, &pod.spec, signature);
	if (signature % 2) {
		add_preferences(arena, &pod.spec, signature);
	}
	if (signature % 3 == 0) {
		pod.spec.tolerations = bt_arena_zalloc(arena, sizeof(*pod.spec.tolerations));
		pod.spec.tolerations[0] = (struct bt_toleration_object){
			.key = bt_str("dedicated"), .operator_ = bt_str("Exists")};
		pod.spec.toleration_n = 1;
	}
	return pod;
}

/* Adds the pods: one signature after the other when there are few, at random when there are many. */
static void add_pods(struct workload *w)
{
	struct bt_pod_object *pods = bt_arena_zalloc(&w->arena, w->signature_n * sizeof(*pods));
	struct bt_rng rng = {.state = SEED};

	for (uint32_t s = 0; s < w->signature_n; s++) {
		pods[s] = make_pod(w, s, &w->arena);
	}
	for (uint32_t i = 0; i < w->pod_n; i++) {
		struct bt_pod_object *pod =
			&pods[i < w->signature_n || w->plain ? i % w->signature_n
							     : bt_rng_below(&rng, w->signature_n)];
		enum bt_entry entry;
		uint32_t pod_ix;
		char name[32];

		pod->meta.name = (struct bt_str){name, (size_t)snprintf(name, sizeof(name), "pod-%u", i)};
		pod->meta.creation_ns = 1000 + i;
		bt_engine_add_pod(w->engine, pod, &entry, &pod_ix);
	}
	w->left = w->pod_n;
}

static void begin(struct workload *w, uint32_t pod_n)
{
	struct bt_engine_options options = {.seed = SEED, .binder.bind = ignore};
	struct bt_config_errors errors = {0};
	struct bt_arena scratch = {0};

	w->pod_n = pod_n;
	bt_config_init_default(&w->config, NULL);
	w->engine = bt_engine_create(&w->config, &options, &errors);
	for (uint32_t i = 0; i < w->node_n; i++) {
		add_node(w, i, &scratch);
		bt_arena_reset(&scratch);
	}
	bt_arena_fini(&scratch);
	bt_config_errors_fini(&errors);
	add_pods(w);
}

static void end(struct workload *w)
{
	bt_engine_destroy(w->engine);
	bt_config_fini(&w->config);
	bt_arena_fini(&w->arena);
}

static void place(struct workload *w, uint32_t n)
{
	struct bt_decision decision;

	for (uint32_t i = 0; i < n; i++) {
		bt_engine_decide(w->engine, bt_engine_pop(w->engine), &decision);
		w->refused_n += decision.outcome != BT_PLACED;
	}
	w->placed_n += n;
	w->left -= n;
}

/* All placed pods wait again, with what they used given back. */
static void again(struct workload *w)
{
	const struct bt_ledger *ledger = bt_engine_cache(w->engine)->ledger;

	for (uint32_t i = 0; i < w->pod_n; i++) {
		if (bt_ledger_pod(ledger, i)->state == BT_POD_ASSUMED) {
			bt_engine_bind_failed(w->engine, i);
		}
	}
	w->left = w->pod_n;
}

static void measure(struct bt_bench *bench, struct workload *w)
{
	w->node_n = (uint32_t)bt_bench_arg(bench);
	begin(w, w->node_n * PODS_PER_NODE);
	place(w, w->pod_n);
	again(w);
	w->placed_n = 0;
	while (bt_bench_keep_running_batch(bench, BATCH)) {
		if (w->left < BATCH) {
			bt_bench_pause(bench);
			again(w);
			bt_bench_resume(bench);
		}
		place(w, BATCH);
	}
	bt_bench_items(bench, (int64_t)w->placed_n);
	bt_bench_counter(bench, "refused", (double)w->refused_n);
	end(w);
}

static void one_signature(struct bt_bench *bench)
{
	struct workload w = {.signature_n = 1, .plain = true};

	measure(bench, &w);
}

static void ten_signatures(struct bt_bench *bench)
{
	struct workload w = {.signature_n = 10, .plain = true};

	measure(bench, &w);
}

static void mixed(struct bt_bench *bench)
{
	struct workload w = {.signature_n = 1000};

	measure(bench, &w);
}

static void mixed_shapes(struct bt_bench *bench)
{
	struct workload w = {.signature_n = 1000, .shapes = SHAPES_OWN};

	measure(bench, &w);
}

/* A thousand pods of a thousand signatures in an engine that has seen none of them. Items are signatures. */
static void first_touch(struct bt_bench *bench)
{
	while (bt_bench_keep_running(bench)) {
		struct workload w = {.signature_n = 1000};

		bt_bench_pause(bench);
		w.node_n = (uint32_t)bt_bench_arg(bench);
		begin(&w, w.signature_n);
		bt_bench_resume(bench);
		place(&w, w.pod_n);
		bt_bench_pause(bench);
		end(&w);
		bt_bench_resume(bench);
	}
	bt_bench_items(bench, bt_bench_iterations(bench) * 1000);
}

static const struct bt_bench_case cases[] = {
	{.name = "one_signature", .run = one_signature, .args = {1000, 5000, 20000, 100000}, .arg_n = 4},
	{.name = "ten_signatures", .run = ten_signatures, .args = {1000, 5000, 20000, 100000}, .arg_n = 4},
	{.name = "mixed_1000", .run = mixed, .args = {1000, 5000, 20000}, .arg_n = 3},
	{.name = "mixed_1000_shapes", .run = mixed_shapes, .args = {1000, 5000, 20000}, .arg_n = 3},
	{.name = "first_touch", .run = first_touch, .args = {1000, 5000}, .arg_n = 2},
};

const struct bt_bench_suite bt_bench_placement = {
	.name = "placement", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
