/* SPDX-License-Identifier: Apache-2.0
 * Placements per second on one thread: pop, filter and score every node, assume. The argument is the number
 * of nodes; a run places 20 pods per node, then all pods are forgotten off the clock and requeued.
 * first_touch: each signature is new. Pods that depend on other pods are in topology.c, preemption is in
 * preemption.c.
 */
#include "placement.h"

#include "engine/base/arena.h"
#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "tools/offline/generate/build.h"
#include "workload.h"

#define PODS_PER_NODE 20
#define PODS_MAX      1000000 /* fewer a node where there are very many nodes */
#define SEED	      1

/* Of node_churn: windows without and with changes, by turns. */
#define WINDOWS	    20
#define WINDOW_NS   50000000
#define CHANGE_NS   10000000
#define CHURN_BATCH 20

enum shapes {
	SHAPES_FEW, /* 36 request vectors */
	SHAPES_OWN  /* each signature its own */
};

/* A workload with this many signatures. */
struct signatures {
	struct workload w;
	struct bt_arena arena;
	uint32_t n;
	enum shapes shapes;
	bool plain; /* no selectors, tolerations or preferences */
};

static void add_selectors(struct bt_arena *arena, struct bt_pod_spec_object *spec, uint32_t signature)
{
	if (signature % 4 == 0) {
		bt_build_pair(arena, &spec->node_selector, bt_str("topology.kubernetes.io/zone"),
			bt_build_text(arena, "zone-%u", signature / 4 % WORKLOAD_ZONES));
	} else if (signature % 4 == 1) {
		bt_build_pair(arena, &spec->node_selector, bt_str("disk"),
			bt_str(signature / 4 % 2 ? "ssd" : "hdd"));
	} else if (signature % 4 == 2) {
		struct bt_requirement_object *machines = bt_build_requirement(arena,
			&bt_build_required_term(arena, &spec->affinity.node_affinity)->match_expressions,
			"node.kubernetes.io/instance-type", "In");

		bt_build_item(arena, &machines->values,
			bt_build_text(arena, "machine-%u", signature / 4 % WORKLOAD_MACHINES));
		bt_build_item(arena, &machines->values,
			bt_build_text(arena, "machine-%u", signature / 16 % WORKLOAD_MACHINES));
	}
}

static void add_preferences(struct bt_arena *arena, struct bt_pod_spec_object *spec, uint32_t signature)
{
	static const char *const keys[2] = {"topology.kubernetes.io/zone", "disk"};
	struct bt_preferred_node_term_object *terms = bt_arena_zalloc(arena, 2 * sizeof(*terms));
	struct bt_str values[2] = {bt_build_text(arena, "zone-%u", signature / 8 % WORKLOAD_ZONES),
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
static struct bt_pod_object make_pod(const struct signatures *s, uint32_t signature, struct bt_arena *arena)
{
	struct bt_pod_object pod = {.meta.namespace_ = bt_str("default")};
	struct bt_container_object *container = bt_arena_zalloc(arena, sizeof(*container));
	int few = (int)(signature * 7 % 36);
	int64_t milli = 100 + (s->shapes == SHAPES_OWN ? (int64_t)signature : 150 * (few % 6));
	int64_t mib = s->shapes == SHAPES_OWN ? 128 + (int64_t)(signature * 7 % 1000) * 4 : 128 << few / 6;

	bt_build_pair(arena, &pod.meta.labels, bt_str("app"), bt_build_text(arena, "app-%u", signature));
	container->name = container->image = bt_str("main");
	bt_build_quantity(arena, &container->resources.requests, "cpu", bt_build_milli(milli));
	bt_build_quantity(arena, &container->resources.requests, "memory", bt_build_mib(mib));
	pod.spec.scheduler_name = bt_str("default-scheduler");
	pod.spec.containers = container;
	pod.spec.container_n = 1;
	if (s->plain) {
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
static void add_pods(struct signatures *s, uint32_t pod_n)
{
	struct bt_pod_object *pods = bt_arena_zalloc(&s->arena, s->n * sizeof(*pods));
	struct bt_rng rng = {.state = SEED};

	for (uint32_t i = 0; i < s->n; i++) {
		pods[i] = make_pod(s, i, &s->arena);
	}
	for (uint32_t i = 0; i < pod_n; i++) {
		bt_workload_add(&s->w, &pods[i < s->n || s->plain ? i % s->n : bt_rng_below(&rng, s->n)], i);
	}
}

static void begin(struct signatures *s, uint32_t pod_n)
{
	s->w.tainted = !s->plain;
	bt_workload_begin(&s->w);
	add_pods(s, pod_n < PODS_MAX ? pod_n : PODS_MAX);
}

static void end(struct signatures *s)
{
	bt_workload_end(&s->w);
	bt_arena_fini(&s->arena);
}

static void measure(struct bt_bench *bench, struct signatures *s)
{
	s->w.node_n = (uint32_t)bt_bench_arg(bench);
	begin(s, s->w.node_n * PODS_PER_NODE);
	bt_workload_measure(bench, &s->w);
	end(s);
}

static void one_signature(struct bt_bench *bench)
{
	struct signatures s = {.n = 1, .plain = true};

	measure(bench, &s);
}

static void ten_signatures(struct bt_bench *bench)
{
	struct signatures s = {.n = 10, .plain = true};

	measure(bench, &s);
}

static void mixed(struct bt_bench *bench)
{
	struct signatures s = {.n = 1000};

	measure(bench, &s);
}

/* One of 100 changes of nodes a second: a label, a cordon, a node that goes, and each taken back. */
static void change_node(struct workload *w, uint32_t n)
{
	uint32_t node_ix = n / 6 % w->node_n;

	switch (n % 6) {
	case 0:
		bt_workload_relabel(w, node_ix, "changed");
		break;
	case 2:
		bt_workload_cordon(w, node_ix);
		break;
	case 4:
		bt_workload_remove_node(w, node_ix);
		break;
	default:
		bt_workload_relabel(w, node_ix, NULL);
	}
}

/* Places pods for WINDOW_NS of this thread's time; *changes: the number of changes so far, or NULL. Returns
 * placements per second. */
static double place_for_a_while(struct workload *w, uint32_t *changes)
{
	int64_t begin_ns = bt_clock_thread_cpu_ns(), now_ns = begin_ns, again_ns = 0, due_ns = begin_ns;
	uint64_t placed_n = w->placed_n;

	while (now_ns - begin_ns - again_ns < WINDOW_NS) {
		if (w->left < CHURN_BATCH) {
			bt_workload_again(w);
			again_ns += bt_clock_thread_cpu_ns() - now_ns;
		}
		if (changes && now_ns >= due_ns) {
			change_node(w, (*changes)++);
			due_ns += CHANGE_NS;
		}
		bt_workload_place(w, CHURN_BATCH);
		now_ns = bt_clock_thread_cpu_ns();
	}
	return (double)(w->placed_n - placed_n) * 1e9 / (double)(now_ns - begin_ns - again_ns);
}

static void churn(struct bt_bench *bench)
{
	struct signatures s = {.n = 1000, .w.node_n = (uint32_t)bt_bench_arg(bench)};
	double quiet = 0, changing = 0;
	uint32_t changes = 0;

	begin(&s, s.w.node_n * PODS_PER_NODE);
	bt_workload_place(&s.w, s.w.pod_n);
	while (bt_bench_keep_running(bench)) {
		for (uint32_t i = 0; i < WINDOWS; i++) {
			quiet += place_for_a_while(&s.w, NULL) / WINDOWS;
			changing += place_for_a_while(&s.w, &changes) / WINDOWS;
		}
	}
	bt_bench_counter(bench, "quiet_per_s", quiet / (double)bt_bench_iterations(bench));
	bt_bench_counter(bench, "changing_per_s", changing / (double)bt_bench_iterations(bench));
	bt_bench_counter(bench, "kept_percent", 100 * changing / quiet);
	bt_bench_counter(bench, "changes", changes);
	end(&s);
}

static void mixed_shapes(struct bt_bench *bench)
{
	struct signatures s = {.n = 1000, .shapes = SHAPES_OWN};

	measure(bench, &s);
}

/* A thousand pods of a thousand signatures in an engine that has seen none of them. Items are signatures. */
static void first_touch(struct bt_bench *bench)
{
	while (bt_bench_keep_running(bench)) {
		struct signatures s = {.n = 1000};

		bt_bench_pause(bench);
		s.w.node_n = (uint32_t)bt_bench_arg(bench);
		begin(&s, s.n);
		bt_bench_resume(bench);
		bt_workload_place(&s.w, s.w.pod_n);
		bt_bench_pause(bench);
		end(&s);
		bt_bench_resume(bench);
	}
	bt_bench_items(bench, bt_bench_iterations(bench) * 1000);
}

void bt_bench_place(struct bt_bench *bench, const struct bt_bench_placing *placing)
{
	struct signatures s = {.n = placing->signature_n,
		.plain = placing->plain,
		.shapes = placing->own ? SHAPES_OWN : SHAPES_FEW};

	s.w.node_n = placing->node_n;
	s.w.team = placing->team;
	begin(&s, s.w.node_n * PODS_PER_NODE);
	bt_workload_measure(bench, &s.w);
	end(&s);
}

static const struct bt_bench_case cases[] = {
	{.name = "one_signature",
		.run = one_signature,
		.args = {1000, 5000, 20000, 100000, 1000000},
		.arg_n = 5},
	{.name = "ten_signatures",
		.run = ten_signatures,
		.args = {1000, 5000, 20000, 100000, 1000000},
		.arg_n = 5},
	{.name = "mixed_1000", .run = mixed, .args = {1000, 5000, 20000, 100000}, .arg_n = 4},
	{.name = "node_churn", .run = churn, .args = {1000, 5000}, .arg_n = 2, .iterations = 1},
	{.name = "mixed_1000_shapes", .run = mixed_shapes, .args = {1000, 5000, 20000}, .arg_n = 3},
	{.name = "affinity_spread",
		.run = bt_bench_affinity_spread,
		.args = {1000, 5000, 20000, 100000},
		.arg_n = 4},
	{.name = "anti_affinity", .run = bt_bench_anti_affinity, .args = {1000, 5000, 20000}, .arg_n = 3},
	{.name = "preferred_affinity",
		.run = bt_bench_preferred_affinity,
		.args = {1000, 5000, 20000},
		.arg_n = 3},
	{.name = "hard_spread", .run = bt_bench_hard_spread, .args = {1000, 5000, 20000}, .arg_n = 3},
	{.name = "soft_spread", .run = bt_bench_soft_spread, .args = {1000, 5000, 20000}, .arg_n = 3},
	{.name = "default_spread", .run = bt_bench_default_spread, .args = {1000, 5000, 20000}, .arg_n = 3},
	{.name = "preemption", .run = bt_bench_preemption, .args = {1000, 5000, 20000, 100000}, .arg_n = 4},
	{.name = "first_touch", .run = first_touch, .args = {1000, 5000}, .arg_n = 2},
	{.name = "behind_infeasible",
		.run = bt_bench_behind_infeasible,
		.args = {1000, 100000},
		.arg_n = 2,
		.iterations = 3},
	{.name = "behind_infeasible_kinds",
		.run = bt_bench_behind_infeasible_kinds,
		.args = {1000, 100000},
		.arg_n = 2,
		.iterations = 3},
	{.name = "all_infeasible",
		.run = bt_bench_all_infeasible,
		.args = {1000, 100000},
		.arg_n = 2,
		.iterations = 3},
	{.name = "all_infeasible_kinds",
		.run = bt_bench_all_infeasible_kinds,
		.args = {1000, 100000},
		.arg_n = 2,
		.iterations = 3},
};

const struct bt_bench_suite bt_bench_placement = {
	.name = "placement", .cases = cases, .case_n = sizeof(cases) / sizeof(cases[0])};
