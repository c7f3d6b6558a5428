/* SPDX-License-Identifier: Apache-2.0
 * Engines for benchmarks of placements.
 */
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "tools/offline/generate/build.h"

#define BATCH	 100
#define FIRST_NS 1000
#define SEED	 1

#define NAME_BYTES 16 /* pod-4294967295 */

static void ignore(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	(void)context;
	(void)engine;
	(void)pod_ix;
	(void)node_ix;
}

/* Increases at each call, so that requeued pods keep their order. */
static int64_t tick(void *context)
{
	return ++*(int64_t *)context;
}

static void add_taint(
	struct bt_arena *arena, struct bt_node_object *node, const char *key, const char *effect)
{
	struct bt_taint_object *taints = bt_arena_zalloc(arena, (node->taint_n + 1) * sizeof(*taints));

	if (node->taint_n) {
		memcpy(taints, node->taints, node->taint_n * sizeof(*taints));
	}
	taints[node->taint_n++] = (struct bt_taint_object){
		.key = bt_str(key), .value = bt_str("yes"), .effect = bt_str(effect)};
	node->taints = taints;
}

static void add_image(struct bt_arena *arena, struct bt_node_object *node, const char *name)
{
	node->images = bt_arena_zalloc(arena, sizeof(*node->images));
	node->image_n = 1;
	node->images[0].size_bytes = INT64_C(500) * 1024 * 1024;
	bt_build_item(arena, &node->images[0].names, bt_str(name));
}

/* label: the value of a label that nodes have only then; NULL: none. */
static void apply_node(
	struct workload *w, uint32_t ix, struct bt_arena *arena, const char *label, bool cordoned)
{
	static const int64_t cores[WORKLOAD_MACHINES] = {16, 32, 64, 96},
			     gib[WORKLOAD_MACHINES] = {64, 256, 256, 768};
	struct bt_node_object node = {
		.meta.name = bt_build_text(arena, "node-%06u", ix), .unschedulable = cordoned};
	struct bt_rng rng = {.state = ix};
	uint32_t machine = bt_rng_below(&rng, WORKLOAD_MACHINES), node_ix;

	bt_build_pair(arena, &node.meta.labels, bt_str("kubernetes.io/hostname"), node.meta.name);
	bt_build_pair(arena, &node.meta.labels, bt_str("topology.kubernetes.io/zone"),
		bt_build_text(arena, "zone-%u", ix % WORKLOAD_ZONES));
	bt_build_pair(arena, &node.meta.labels, bt_str("node.kubernetes.io/instance-type"),
		bt_build_text(arena, "machine-%u", machine));
	bt_build_pair(
		arena, &node.meta.labels, bt_str("disk"), bt_str(bt_rng_below(&rng, 2) ? "ssd" : "hdd"));
	bt_build_quantity(
		arena, &node.allocatable, "cpu", bt_build_count(w->cores ? w->cores : cores[machine]));
	bt_build_quantity(arena, &node.allocatable, "memory", bt_build_mib(gib[machine] * 1024));
	bt_build_quantity(arena, &node.allocatable, "pods", bt_build_count(110));
	if (w->rack_nodes) {
		bt_build_pair(arena, &node.meta.labels, bt_str("rack"),
			bt_build_text(arena, "rack-%u", ix / w->rack_nodes));
	}
	for (uint32_t bit = 0; bit < w->bits; bit++) {
		bt_build_pair(arena, &node.meta.labels, bt_build_text(arena, "bit-%u", bit),
			bt_str(ix >> bit & 1 ? "1" : "0"));
	}
	if (label) {
		bt_build_pair(arena, &node.meta.labels, bt_str("example.com/label"), bt_str(label));
	}
	if (w->tainted && bt_rng_below(&rng, 10) == 0) {
		add_taint(arena, &node, "dedicated", "NoSchedule");
	}
	if (w->tainted && bt_rng_below(&rng, 10) == 0) {
		add_taint(arena, &node, "spot", "PreferNoSchedule");
	}
	if (w->image && ix % 2) {
		add_image(arena, &node, w->image);
	}
	bt_engine_apply_node(w->engine, &node, &node_ix);
}

/* The benchmark's own object must decode. */
static void give_up(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)context;
	fprintf(stderr, "%s: %s\n", diagnosis->path, diagnosis->message);
	abort();
}

void bt_workload_begin(struct workload *w)
{
	struct bt_engine_options options = {.seed = SEED,
		.binder.bind = ignore,
		.no_backoff = true,
		.team = w->team,
		.clock = {.now_ns = tick, .context = &w->now_ns}};
	struct bt_config_errors errors = {0};
	struct bt_arena scratch = {0};
	struct bt_gates gates;
	struct bt_buf why = {0};

	w->now_ns = FIRST_NS;
	bt_gates_init(&gates, bt_release_default());
	BT_REQUIRE(!w->gates || bt_gates_parse(&gates, bt_str(w->gates), &why) == BT_OK);
	bt_buf_fini(&why);
	bt_config_init_default(&w->config, &gates);
	w->engine = bt_engine_create(&w->config, &options, &errors);
	w->reader = bt_object_reader_create(give_up, NULL);
	for (uint32_t i = 0; i < w->node_n; i++) {
		apply_node(w, i, &scratch, NULL, false);
		bt_arena_reset(&scratch);
	}
	bt_arena_fini(&scratch);
	bt_config_errors_fini(&errors);
}

void bt_workload_end(struct workload *w)
{
	bt_engine_destroy(w->engine);
	bt_object_reader_destroy(w->reader);
	bt_config_fini(&w->config);
	bt_buf_fini(&w->text);
	bt_mem_free(w->pods);
}

const struct bt_object *bt_workload_read(struct workload *w, const char *format, ...)
{
	va_list args;

	bt_buf_clear(&w->text);
	va_start(args, format);
	bt_buf_vprintf(&w->text, format, args);
	va_end(args);
	bt_object_reader_begin_text(w->reader, "benchmark", bt_buf_view(&w->text), BT_FORMAT_YAML);
	return bt_object_reader_next(w->reader);
}

void bt_workload_relabel(struct workload *w, uint32_t node_ix, const char *value)
{
	struct bt_arena scratch = {0};

	apply_node(w, node_ix, &scratch, value, false);
	bt_arena_fini(&scratch);
}

void bt_workload_cordon(struct workload *w, uint32_t node_ix)
{
	struct bt_arena scratch = {0};

	apply_node(w, node_ix, &scratch, NULL, true);
	bt_arena_fini(&scratch);
}

void bt_workload_remove_node(struct workload *w, uint32_t node_ix)
{
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "node-%06u", node_ix);
	bt_engine_remove_node(w->engine, bt_str(name));
}

struct bt_pod_object bt_workload_plain_pod(struct bt_arena *arena, int64_t milli, int64_t mib)
{
	struct bt_container_object *container = bt_arena_zalloc(arena, sizeof(*container));

	container->name = container->image = bt_str("main");
	bt_build_quantity(arena, &container->resources.requests, "cpu", bt_build_milli(milli));
	bt_build_quantity(arena, &container->resources.requests, "memory", bt_build_mib(mib));
	return (struct bt_pod_object){.meta.namespace_ = bt_str("default"),
		.spec.scheduler_name = bt_str("default-scheduler"),
		.spec.containers = container,
		.spec.container_n = 1};
}

/* pod-NUMBER. Built without snprintf, which takes longer than interning the name, because it is measured. */
static struct bt_str name_of(uint32_t number, char name[NAME_BYTES])
{
	char *begin = name + NAME_BYTES;

	do {
		*--begin = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	begin -= 4;
	memcpy(begin, "pod-", 4);
	return (struct bt_str){begin, (size_t)(name + NAME_BYTES - begin)};
}

uint32_t bt_workload_add(struct workload *w, struct bt_pod_object *pod, uint32_t number)
{
	enum bt_entry entry;
	uint32_t pod_ix;
	char name[NAME_BYTES];

	pod->meta.name = name_of(number, name);
	pod->meta.creation_ns = FIRST_NS + number;
	bt_engine_add_pod(w->engine, pod, &entry, &pod_ix);
	while (number >= w->pod_end) {
		w->pods = bt_mem_grow(w->pods, w->pod_end, &w->pod_cap, sizeof(*w->pods));
		w->pods[w->pod_end++] = BT_NO_POD;
	}
	w->pods[number] = pod_ix;
	w->pod_n += entry == BT_ENTERED_QUEUE;
	w->left = w->pod_n;
	return pod_ix;
}

BT_NOINLINE void bt_workload_place(struct workload *w, uint32_t n)
{
	struct bt_decision decision;

	for (uint32_t i = 0; i < n; i++) {
		bt_engine_decide(w->engine, bt_engine_pop(w->engine), &decision);
		w->refused_n += decision.outcome != BT_PLACED;
	}
	w->placed_n += n;
	w->left -= n;
}

void bt_workload_again(struct workload *w)
{
	const struct bt_ledger *ledger = bt_engine_cache(w->engine)->ledger;

	for (uint32_t i = 0; i < w->pod_end; i++) {
		if (bt_ledger_pod(ledger, w->pods[i])->state == BT_POD_ASSUMED) {
			bt_engine_bind_failed(w->engine, w->pods[i]);
		}
	}
	w->left = w->pod_n;
}

void bt_workload_measure(struct bt_bench *bench, struct workload *w)
{
	bt_workload_place(w, w->pod_n);
	bt_workload_again(w);
	w->placed_n = 0;
	while (bt_bench_keep_running_batch(bench, BATCH)) {
		if (w->left < BATCH) {
			bt_bench_pause(bench);
			bt_workload_again(w);
			bt_bench_resume(bench);
		}
		bt_workload_place(w, BATCH);
	}
	bt_bench_items(bench, (int64_t)w->placed_n);
	bt_bench_counter(bench, "refused", (double)w->refused_n);
	bt_bench_counter(bench, "by_evaluation", (double)bt_engine_counts(w->engine).by_evaluation_n);
}
