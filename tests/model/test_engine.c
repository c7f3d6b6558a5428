/* SPDX-License-Identifier: Apache-2.0
 * Runs random histories of a cluster through the engine in three ways (by columns, without them, and with
 * memory for almost no plans) and through the reference: every reason, score, message and decision must agree
 * after each step. BT_SEED=n repeats one history.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/flow/cycle/engine.h"
#include "engine_fixture.h"
#include "random_objects.h"
#include "reference.h"
#include "tools/offline/generate/build.h"
#include "tools/kube/config/config_decode.h"

#define ENGINE_N   3
#define PODS_MAX   512
#define FIRST_SEED 20260101

enum { BY_COLUMNS = 0, BY_EVALUATION, FORGETFUL };

/* WAITING: anywhere in the queue; other tests check its order. */
enum place { UNKNOWN = 0, WAITING, GATED, ASSUMED, SCHEDULED, GONE };

struct known_pod {
	struct bt_pod_object *object;
	enum place place;
	uint32_t ix; /* in every engine */
};

enum binding { BIND_NOW = 0, BIND_FAILS, BIND_LATER };

struct shape_of_history {
	uint32_t names; /* names of the nodes */
	uint32_t steps;
	uint32_t profile;
	bool out_of_range;
};

struct history {
	struct shape_of_history shape;
	uint64_t seed;
	struct random_source source;
	struct bt_config config;
	struct bt_engine *engines[ENGINE_N];
	struct ref_settings settings;
	struct ref_cluster cluster;
	struct known_pod pods[PODS_MAX];
	struct ref_pod counted[PODS_MAX]; /* as the reference sees it */
	uint32_t pod_n;
	enum binding binding;
	struct ref_verdict verdict;
	struct bt_explanation explanation;
	struct bt_buf log, want, got;
	uint64_t placed, refused, failed, tied;
};

static void note(struct history *h, const char *format, ...) BT_PRINTF(2, 3);

static void note(struct history *h, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	bt_buf_vprintf(&h->log, format, args);
	va_end(args);
	bt_buf_char(&h->log, '\n');
}

static void give_up(struct history *h, const char *what)
{
	printf("history of BT_SEED=%" PRIu64 "%s, profile %" PRIu32 ", %" PRIu32 " node names:\n%s%s\n",
		h->seed, h->shape.out_of_range ? ", odd" : "", h->shape.profile, h->shape.names, h->log.ptr,
		what);
	printf("want:\n%s\ngot:\n%s\n", h->want.ptr ? h->want.ptr : "", h->got.ptr ? h->got.ptr : "");
	fflush(stdout);
	fail_msg("BT_SEED=%" PRIu64 ": %s", h->seed, what);
}

static void expect(struct history *h, bool good, const char *what)
{
	if (!good) {
		give_up(h, what);
	}
}

/* ---- profiles ---- */

static const char most_allocated[] =
	"pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, "
	"resources: [{name: cpu, weight: 3}, {name: memory, weight: 1}, {name: example.com/widget, weight: "
	"5}]}}}]";
static const char falling_shape[] =
	"pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio, "
	"resources: [{name: cpu, weight: 3}, {name: memory, weight: 2}], requestedToCapacityRatio: {shape: "
	"[{utilization: 0, score: 10}, {utilization: 40, score: 8}, {utilization: 100, score: 0}]}}}}]";
/* The reference does not preempt. */
#define NO_PREEMPTION "postFilter: {disabled: [{name: DefaultPreemption}]}"

static const char other_weights[] =
	"plugins: {score: {enabled: [{name: TaintToleration, weight: 1}, {name: NodeAffinity, weight: 7}, "
	"{name: ImageLocality, weight: 20}]}, " NO_PREEMPTION "}";
static const char *const profiles[] = {
	"schedulerName: default-scheduler", most_allocated, falling_shape, other_weights};

#define PROFILE_N (sizeof(profiles) / sizeof(profiles[0]))

static struct ref_settings settings_of(uint32_t profile)
{
	struct ref_settings s = ref_defaults();

	if (profile == 1) {
		s.strategy = REF_MOST;
		s.resources[0].weight = 3;
		s.resources[2] = (struct ref_resource){"example.com/widget", 5};
		s.resource_n = 3;
	} else if (profile == 2) {
		s.strategy = REF_RATIO;
		s.resources[0].weight = 3;
		s.resources[1].weight = 2;
		s.shape_n = 3;
		s.shape[0].score = 100;
		s.shape[1].utilization = 40;
		s.shape[1].score = 80;
		s.shape[2].utilization = 100;
	} else if (profile == 3) {
		s.weights[REF_TAINTS] = 1;
		s.weights[REF_AFFINITY] = 7;
		s.weights[REF_IMAGES] = 20;
		s.compare_numbers = true;
	}
	return s;
}

static void load_config(struct history *h)
{
	struct bt_gates gates;
	struct bt_buf text = {0}, error = {0};
	const char *profile = profiles[h->shape.profile];

	bt_gates_init(&gates, bt_release_default());
	gates.on[BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS] = h->settings.compare_numbers;
	bt_config_init(&h->config, &gates);
	bt_buf_printf(&text,
		"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- "
		"%s\n%s\n",
		profile, strstr(profile, "plugins:") ? "" : "  plugins: {" NO_PREEMPTION "}");
	if (bt_config_load(&h->config, "profile", bt_buf_view(&text), &error) != BT_OK) {
		fail_msg("%s", error.ptr);
	}
	bt_buf_fini(&text);
	bt_buf_fini(&error);
}

/* ---- setup ---- */

static void bind_pod(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	const struct history *h = context;

	(void)node_ix;
	if (h->binding == BIND_NOW) {
		bt_engine_bound(engine, pod_ix);
	} else if (h->binding == BIND_FAILS) {
		bt_engine_bind_failed(engine, pod_ix);
	}
}

static struct history *begin(uint64_t seed, struct shape_of_history shape)
{
	struct history *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	h->seed = seed;
	h->shape = shape;
	h->source = (struct random_source){.rng = {seed}, .out_of_range = shape.out_of_range};
	h->settings = settings_of(shape.profile);
	h->cluster.pods = h->counted;
	load_config(h);
	for (int e = 0; e < ENGINE_N; e++) {
		struct bt_engine_options options = {
			.seed = seed,
			.binder = {bind_pod, h},
			.no_backoff = true,
			.evaluate_always = e == BY_EVALUATION,
			.always_prefetch = e != BY_EVALUATION,
			.plan_memory_bytes = e == FORGETFUL ? 1 : 0,
			.keeps_none = e == FORGETFUL,
		};

		h->engines[e] = fixture_engine(&h->config, &options);
	}
	return h;
}

static void end(struct history *h)
{
	for (int e = 0; e < ENGINE_N; e++) {
		bt_engine_destroy(h->engines[e]);
	}
	bt_explanation_fini(&h->explanation);
	bt_config_fini(&h->config);
	bt_arena_fini(&h->source.arena);
	bt_buf_fini(&h->log);
	bt_buf_fini(&h->want);
	bt_buf_fini(&h->got);
	free(h);
}

/* ---- events ---- */

static void enter_queue(struct history *h, uint32_t pod, enum place place)
{
	h->pods[pod].place = place;
	h->counted[pod].node = (struct bt_str){0};
}

static uint32_t node_ix_of(const struct history *h, struct bt_str name)
{
	uint32_t i = 0;

	while (i < h->cluster.node_n && !bt_str_eq(h->cluster.nodes[i]->meta.name, name)) {
		i++;
	}
	return i;
}

/* The number in a name of random_node's. */
static uint32_t name_ix(struct bt_str name)
{
	return (uint32_t)strtoul(name.ptr + strlen("node-"), NULL, 10);
}

static void apply_node(struct history *h)
{
	const struct bt_node_object *node = random_node(&h->source, random_below(&h->source, h->shape.names));
	uint32_t ix = node_ix_of(h, node->meta.name), slot;

	h->cluster.nodes[ix] = node;
	h->cluster.node_n += ix == h->cluster.node_n;
	note(h, "apply %.*s", BT_STR_ARG(node->meta.name));
	for (int e = 0; e < ENGINE_N; e++) {
		expect(h, bt_engine_apply_node(h->engines[e], node, &slot) == BT_OK, "a node is not taken");
	}
}

/* Changes one field of a node: its images, as kubelets often report them, its allocatable resources,
 * its taints, or its labels. */
static void change_node(struct history *h)
{
	if (h->cluster.node_n == 0) {
		return;
	}
	uint32_t ix = random_below(&h->source, h->cluster.node_n), slot, what = random_below(&h->source, 4);
	struct bt_node_object *node = bt_arena_zalloc(&h->source.arena, sizeof(*node));

	*node = *h->cluster.nodes[ix];
	const struct bt_node_object *like =
		random_node(&h->source, what == 3 ? name_ix(node->meta.name) : random_below(&h->source, 2));
	if (what == 0) {
		node->images = like->images;
		node->image_n = like->image_n;
	} else if (what == 1) {
		node->allocatable = like->allocatable;
	} else if (what == 2) {
		node->taints = like->taints;
		node->taint_n = like->taint_n;
		node->unschedulable = like->unschedulable;
	} else {
		node->meta.labels = like->meta.labels;
	}
	h->cluster.nodes[ix] = node;
	note(h, "change %" PRIu32 " of %.*s", what, BT_STR_ARG(node->meta.name));
	for (int e = 0; e < ENGINE_N; e++) {
		expect(h, bt_engine_apply_node(h->engines[e], node, &slot) == BT_OK, "a node is not taken");
	}
}

static void delete_node(struct history *h)
{
	if (h->cluster.node_n == 0) {
		return;
	}
	uint32_t ix = random_below(&h->source, h->cluster.node_n);
	struct bt_str name = h->cluster.nodes[ix]->meta.name;

	note(h, "delete %.*s", BT_STR_ARG(name));
	for (int e = 0; e < ENGINE_N; e++) {
		expect(h, bt_engine_remove_node(h->engines[e], name) == BT_OK, "a node is not known");
	}
	h->cluster.nodes[ix] = h->cluster.nodes[--h->cluster.node_n];
}

/* A new pod; mostly similar to an earlier one, so that plans are used again. */
static struct bt_pod_object *new_pod(struct history *h)
{
	struct bt_pod_object *pod = random_pod(&h->source, h->pod_n);

	if (h->pod_n && random_chance(&h->source, 75)) {
		const struct bt_pod_object *model = h->pods[random_below(&h->source, h->pod_n)].object;

		pod->spec = model->spec;
		pod->spec.node_name = (struct bt_str){0};
		pod->meta.namespace_ = model->meta.namespace_;
		/* Pods that differ only in this. */
		if (random_chance(&h->source, 15)) {
			random_port(&h->source, pod);
		}
	}
	return pod;
}

static bool has_ports(const struct bt_pod_object *pod)
{
	for (uint32_t i = 0; i < pod->spec.container_n + pod->spec.init_container_n; i++) {
		const struct bt_container_object *container =
			i < pod->spec.container_n ? &pod->spec.containers[i]
						  : &pod->spec.init_containers[i - pod->spec.container_n];

		if (container->port_n) {
			return true;
		}
	}
	return false;
}

static void add_pod(struct history *h, bool bound)
{
	struct bt_pod_object *object = new_pod(h);
	struct known_pod *pod = &h->pods[h->pod_n];
	enum bt_entry entry, wanted = BT_ENTERED_QUEUE;

	/* Of two pods on a node with the same port, the first removal frees the port, as upstream. */
	bound = bound && !has_ports(object);
	if (bound) {
		object->spec.node_name = bt_build_text(
			&h->source.arena, "node-%" PRIu32, random_below(&h->source, h->shape.names));
		wanted = BT_ENTERED_SCHEDULED;
	} else if (object->spec.scheduling_gates.n) {
		wanted = BT_ENTERED_GATED;
	}
	note(h, "add %.*s%s%.*s", BT_STR_ARG(object->meta.name), bound ? " on " : "",
		BT_STR_ARG(object->spec.node_name));
	for (int e = 0; e < ENGINE_N; e++) {
		uint32_t ix;

		expect(h, bt_engine_add_pod(h->engines[e], object, &entry, &ix) == BT_OK && entry == wanted,
			"a pod is not taken as it is");
		expect(h, e == 0 || ix == pod->ix, "a pod's index depends on the engine");
		pod->ix = ix;
	}
	pod->object = object;
	h->counted[h->pod_n].object = object;
	enter_queue(h, h->pod_n, wanted == BT_ENTERED_GATED ? GATED : WAITING);
	if (bound) {
		pod->place = SCHEDULED;
		h->counted[h->pod_n].node = object->spec.node_name;
	}
	h->pod_n++;
}

/* A pod in one of the places, searched from a random one; pod_n: none. */
static uint32_t find_pod(struct history *h, enum place from, enum place to)
{
	uint32_t first = h->pod_n ? random_below(&h->source, h->pod_n) : 0;

	for (uint32_t i = 0; i < h->pod_n; i++) {
		uint32_t pod = (first + i) % h->pod_n;

		if (h->pods[pod].place >= from && h->pods[pod].place <= to) {
			return pod;
		}
	}
	return h->pod_n;
}

static void remove_pod(struct history *h)
{
	uint32_t pod = find_pod(h, random_chance(&h->source, 80) ? ASSUMED : WAITING, SCHEDULED);

	if (pod == h->pod_n) {
		return;
	}
	note(h, "remove pod-%" PRIu32, pod);
	for (int e = 0; e < ENGINE_N; e++) {
		bt_engine_remove_pod(h->engines[e], h->pods[pod].ix);
	}
	if (h->pods[pod].place >= ASSUMED) {
	}
	h->pods[pod].place = GONE;
	h->counted[pod].node = (struct bt_str){0};
}

static void fail_binding(struct history *h, uint32_t pod)
{
	enter_queue(h, pod, WAITING);
}

/* Ends an open binding. */
static void answer_binding(struct history *h)
{
	uint32_t pod = find_pod(h, ASSUMED, ASSUMED);
	bool fails = random_chance(&h->source, 40);

	if (pod == h->pod_n) {
		return;
	}
	note(h, "%s pod-%" PRIu32, fails ? "forget" : "confirm", pod);
	for (int e = 0; e < ENGINE_N; e++) {
		if (fails) {
			bt_engine_bind_failed(h->engines[e], h->pods[pod].ix);
		} else {
			bt_engine_bound(h->engines[e], h->pods[pod].ix);
		}
	}
	h->pods[pod].place = SCHEDULED;
	if (fails) {
		fail_binding(h, pod);
	}
}

/* ---- comparison for a pod ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void add_reasons(struct bt_buf *out, char (*reasons)[REF_TEXT_MAX], uint32_t n)
{
	qsort(reasons, n, sizeof(*reasons), by_text);
	for (uint32_t i = 0; i < n; i++) {
		bt_buf_printf(out, " %s;", reasons[i]);
	}
}

static void write_wanted(struct history *h)
{
	struct ref_verdict *v = &h->verdict;

	bt_buf_clear(&h->want);
	if (v->refusal) {
		bt_buf_printf(&h->want, "refused: %s\n", v->refusal);
	}
	for (uint32_t i = 0; i < v->node_n && !v->refusal; i++) {
		struct ref_node_verdict *node = &v->nodes[i];

		bt_buf_printf(&h->want, "%.*s:", BT_STR_ARG(h->cluster.nodes[i]->meta.name));
		if (!node->evaluated) {
			bt_buf_text(&h->want, " left out");
		} else if (!node->passes) {
			bt_buf_printf(&h->want, " %s %s", node->plugin,
				node->unresolvable ? "for good" : "for now");
			add_reasons(&h->want, node->reasons, node->reason_n);
		} else {
			bt_buf_text(&h->want, " feasible");
			for (int k = 0; k < REF_SCORE_N && !v->failed; k++) {
				bt_buf_printf(&h->want, " %s %" PRId64, ref_score_name((enum ref_score)k),
					node->scores[k]);
			}
			bt_buf_printf(&h->want, " total %" PRId64, v->failed ? 0 : node->total);
		}
		bt_buf_char(&h->want, '\n');
	}
	bt_buf_text(&h->want, v->failed ? "failed\n" : "");
	if (v->feasible_n == 0) {
		ref_message(v, &h->want);
	}
}

static void write_refusal(struct history *h, struct bt_engine *engine, uint32_t visited)
{
	const struct bt_explanation *x = &h->explanation;
	const struct bt_plugin *plugin = x->plan->profile->uses[x->evaluation.refused_by[visited]].plugin;
	char reasons[REF_REASONS_MAX][REF_TEXT_MAX];
	struct bt_refusal refusal;
	struct bt_buf text = {0};

	bt_explanation_refusal(engine, x, visited, &refusal);
	bt_buf_printf(&h->got, " %s %s", refusal.plugin,
		refusal.rejection.code == BT_UNSCHEDULABLE_AND_UNRESOLVABLE ? "for good" : "for now");
	for (uint32_t i = 0; i < refusal.rejection.n; i++) {
		bt_buf_clear(&text);
		bt_plugin_reason(
			plugin, bt_engine_cache(engine)->dictionary, &refusal.rejection.reasons[i], &text);
		snprintf(reasons[i], REF_TEXT_MAX, "%s", text.ptr);
	}
	add_reasons(&h->got, reasons, refusal.rejection.n);
	bt_buf_fini(&text);
}

static int64_t score_of(const struct bt_explanation *x, const char *plugin, uint32_t feasible)
{
	const struct bt_profile *profile = x->plan->profile;

	for (uint32_t k = 0; k < profile->score_n; k++) {
		if (strcmp(profile->uses[profile->score[k]].plugin->name, plugin) == 0) {
			return x->evaluation.scores[(size_t)k * x->evaluation.feasible_n + feasible];
		}
	}
	return 0;
}

static void write_node(struct history *h, struct bt_engine *engine, uint32_t slot)
{
	const struct bt_evaluation *e = &h->explanation.evaluation;
	uint32_t visited = 0, feasible = 0;

	while (visited < e->visited_n && e->visited[visited] != slot) {
		visited++;
	}
	while (feasible < e->feasible_n && e->feasible[feasible] != slot) {
		feasible++;
	}
	if (visited == e->visited_n) {
		bt_buf_text(&h->got, " left out");
	} else if (e->refused_by[visited] != BT_PASSED) {
		write_refusal(h, engine, visited);
	} else {
		bt_buf_text(&h->got, " feasible");
		for (int k = 0; k < REF_SCORE_N && !h->explanation.error; k++) {
			const char *name = ref_score_name((enum ref_score)k);

			bt_buf_printf(
				&h->got, " %s %" PRId64, name, score_of(&h->explanation, name, feasible));
		}
		bt_buf_printf(&h->got, " total %" PRId64, h->explanation.error ? 0 : e->totals[feasible]);
	}
	bt_buf_char(&h->got, '\n');
}

static uint32_t slot_of(struct bt_engine *engine, struct bt_str name)
{
	const struct bt_cache *cache = bt_engine_cache(engine);

	return bt_snapshot_find(cache->snapshot, bt_intern_find(cache->dictionary->intern, name));
}

static void write_given(struct history *h, struct bt_engine *engine, uint32_t pod_ix)
{
	struct bt_explanation *x = &h->explanation;

	bt_engine_explain(engine, pod_ix, x);
	bt_buf_clear(&h->got);
	if (x->refused) {
		bt_buf_printf(&h->got, "refused: %s\n", x->refusal.text);
	}
	for (uint32_t i = 0; i < h->cluster.node_n && !x->refused; i++) {
		struct bt_str name = h->cluster.nodes[i]->meta.name;

		bt_buf_printf(&h->got, "%.*s:", BT_STR_ARG(name));
		write_node(h, engine, slot_of(engine, name));
	}
	bt_buf_text(&h->got, x->evaluation.feasible_n && x->error ? "failed\n" : "");
	if (x->evaluation.feasible_n == 0) {
		bt_engine_message(engine, x, &h->got);
	}
}

/* ---- decisions ---- */

/* The number of the engine's pod, or pod_n. */
static uint32_t pod_of(const struct history *h, uint32_t pod_ix)
{
	uint32_t pod = 0;

	while (pod < h->pod_n && (h->pods[pod].ix != pod_ix || h->pods[pod].place == GONE)) {
		pod++;
	}
	return pod;
}

static enum bt_outcome wanted_outcome(const struct ref_verdict *v)
{
	if (v->refusal || v->feasible_n == 0) {
		return BT_REFUSED;
	}
	return v->failed && v->feasible_n > 1 ? BT_FAILED : BT_PLACED;
}

/* The rule of engine/flow/cycle/engine.h: of equal nodes the first slot at or after a position
 * derived from seed and cycle. */
static uint32_t wanted_slot(struct history *h, struct bt_engine *engine)
{
	uint32_t slot_n = bt_engine_cache(engine)->view.snapshot->slot_n;
	uint32_t start = bt_rng_scale(bt_rng_at(h->seed, bt_engine_counts(engine).cycle_n), slot_n);
	uint32_t nearest = UINT32_MAX, found = BT_NO_NODE, tied = 0;

	for (uint32_t i = 0; i < h->cluster.node_n; i++) {
		const struct ref_node_verdict *node = &h->verdict.nodes[i];
		uint32_t slot = slot_of(engine, h->cluster.nodes[i]->meta.name);

		if (!node->passes || (h->verdict.feasible_n > 1 && node->total != h->verdict.best)) {
			continue;
		}
		tied++;
		if ((slot + slot_n - start) % slot_n < nearest) {
			nearest = (slot + slot_n - start) % slot_n;
			found = slot;
		}
	}
	h->tied += tied > 1;
	return found;
}

static void settle(struct history *h, uint32_t pod, const struct bt_decision *decision)
{
	struct bt_engine *engine = h->engines[0];
	const struct bt_cache *cache = bt_engine_cache(engine);

	if (decision->outcome != BT_PLACED) {
		h->refused += decision->outcome == BT_REFUSED;
		h->failed += decision->outcome == BT_FAILED;
		enter_queue(h, pod, WAITING);
		return;
	}
	uint32_t name = cache->view.snapshot->nodes[decision->node_ix].name;
	struct bt_str text = bt_intern_str(cache->dictionary->intern, name);
	h->placed++;
	h->counted[pod].node = (struct bt_str){bt_arena_copy(&h->source.arena, text.ptr, text.len), text.len};
	h->pods[pod].place = h->binding == BIND_LATER ? ASSUMED : SCHEDULED;
	note(h, "  on %.*s, binding %d", BT_STR_ARG(text), (int)h->binding);
	if (h->binding == BIND_FAILS) {
		fail_binding(h, pod);
	}
}

static void decide(struct history *h)
{
	struct bt_decision decisions[ENGINE_N];
	uint32_t choice = random_below(&h->source, 10), wanted_ix = bt_engine_pop(h->engines[0]);
	uint32_t pod = pod_of(h, wanted_ix);

	h->binding = choice == 0 ? BIND_FAILS : choice == 1 ? BIND_LATER : BIND_NOW;
	for (int e = 1; e < ENGINE_N; e++) {
		expect(h, bt_engine_pop(h->engines[e]) == wanted_ix, "another pod's turn has come");
	}
	if (wanted_ix == BT_NO_POD) {
		return;
	}
	expect(h, pod < h->pod_n && h->pods[pod].place == WAITING, "a pod is decided that does not wait");
	note(h, "decide pod-%" PRIu32, pod);
	h->cluster.pod_n = h->pod_n;
	ref_judge(&h->cluster, &h->settings, h->pods[pod].object, &h->verdict);
	write_wanted(h);
	write_given(h, h->engines[BY_EVALUATION], wanted_ix);
	expect(h, bt_str_eq(bt_buf_view(&h->want), bt_buf_view(&h->got)), "the explanations differ");
	for (int e = 0; e < ENGINE_N; e++) {
		bt_engine_decide(h->engines[e], wanted_ix, &decisions[e]);
		expect(h, decisions[e].outcome == wanted_outcome(&h->verdict), "the outcome is another");
		expect(h, decisions[e].unschedulable_plugins == decisions[0].unschedulable_plugins,
			"other plugins refused it");
		expect(h,
			decisions[e].outcome != BT_PLACED ||
				decisions[e].node_ix == wanted_slot(h, h->engines[e]),
			e == BY_EVALUATION ? "evaluation takes another node" : "columns take another node");
	}
	settle(h, pod, &decisions[0]);
}

static void step(struct history *h)
{
	uint32_t choice = random_below(&h->source, 100);

	if (choice < 6) {
		apply_node(h);
	} else if (choice < 8) {
		delete_node(h);
	} else if (choice < 40) {
		add_pod(h, choice < 12);
	} else if (choice < 50) {
		remove_pod(h);
	} else if (choice < 54) {
		answer_binding(h);
	} else if (choice < 66) {
		change_node(h);
	} else {
		decide(h);
	}
}

static void check_ends(struct history *h)
{
	for (int e = 0; e < ENGINE_N; e++) {
		struct bt_ledger_counts sets = bt_engine_counts(h->engines[e]).sets;

		/* Removed pods have ended their assumptions, too; so the sum has only an upper bound. */
		expect(h, sets.confirm_n + sets.forget_n + sets.assumed <= sets.assume_n,
			"an assumption ended twice");
	}
	expect(h, bt_engine_counts(h->engines[BY_EVALUATION]).by_columns_n == 0,
		"columns decided although columns are off");
}

struct totals {
	uint64_t histories, placed, refused, failed, tied, by_columns;
};

static void run_history(uint64_t seed, struct shape_of_history shape, struct totals *totals)
{
	struct history *h = begin(seed, shape);

	for (uint32_t i = 0; i < shape.names / 2; i++) {
		apply_node(h);
	}
	for (uint32_t i = 0; i < shape.steps && h->pod_n < PODS_MAX; i++) {
		step(h);
	}
	check_ends(h);
	totals->histories++;
	totals->placed += h->placed;
	totals->refused += h->refused;
	totals->failed += h->failed;
	totals->tied += h->tied;
	totals->by_columns += bt_engine_counts(h->engines[BY_COLUMNS]).by_columns_n;
	end(h);
}

static void run_histories(uint32_t n, struct shape_of_history shape)
{
	const char *given = getenv("BT_SEED");
	uint64_t first = given ? strtoull(given, NULL, 10) : FIRST_SEED;
	struct totals totals = {0};

	for (uint64_t seed = first; seed < first + (given ? 1 : n); seed++) {
		/* The whole history follows from its seed. */
		shape.profile = (uint32_t)(seed % PROFILE_N);
		run_history(seed, shape, &totals);
	}
	print_message("BT_SEED=%" PRIu64 "...: %" PRIu64 " histories, %" PRIu64 " placed (%" PRIu64
		      " out of several equals, "
		      "%" PRIu64 " cycles by columns), %" PRIu64 " refused, %" PRIu64 " failed\n",
		first, totals.histories, totals.placed, totals.tied, totals.by_columns, totals.refused,
		totals.failed);
	assert_true(given || (totals.placed && totals.refused && totals.tied && totals.by_columns));
}

static void engine_and_reference_agree_on_small_clusters(void **state)
{
	(void)state;
	run_histories(160, (struct shape_of_history){.names = 12, .steps = 300});
}

static void engine_and_reference_agree_when_nodes_fill_up(void **state)
{
	(void)state;
	run_histories(80, (struct shape_of_history){.names = 3, .steps = 400});
}

static void engine_and_reference_agree_across_blocks_of_columns(void **state)
{
	(void)state;
	run_histories(8, (struct shape_of_history){.names = 150, .steps = 400});
}

static void engine_and_reference_agree_on_odd_amounts(void **state)
{
	(void)state;
	run_histories(160, (struct shape_of_history){.names = 8, .steps = 300, .out_of_range = true});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_and_reference_agree_on_small_clusters),
		cmocka_unit_test(engine_and_reference_agree_when_nodes_fill_up),
		cmocka_unit_test(engine_and_reference_agree_across_blocks_of_columns),
		cmocka_unit_test(engine_and_reference_agree_on_odd_amounts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
