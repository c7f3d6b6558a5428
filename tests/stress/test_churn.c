/* SPDX-License-Identifier: Apache-2.0
 * Memory is bounded by the live objects (I7): pods are added, decided and deleted, each with a unique
 * signature: labels, sizes, affinity, spread constraints, tolerations, images, priority, gates, and claims
 * that are added and deleted with them; nodes keep getting new labels, images and taints. Memory use, and
 * every table, is as large at the end as early on. Arguments: pods in total, and at a time; by hand, for an
 * hour: test_stress_churn 10000000 1000, which prints the process's memory at each tenth.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/rcu.h"
#include "engine/flow/pipeline/pipeline.h"
#include "tools/offline/generate/build.h"

enum { NODES = 40, KEPT = 60, NODE_EVERY = 4 };

static uint32_t pod_n = 8000, alive_n = 300;

/* ---- objects ---- */

static void make_node(struct bt_arena *arena, uint32_t number, struct bt_node_object *out)
{
	struct bt_image_object *image = bt_arena_zalloc(arena, sizeof(*image));

	*out = (struct bt_node_object){.meta.name = bt_build_text(arena, "node-%" PRIu32, number % NODES)};
	bt_build_pair(arena, &out->meta.labels, bt_str("topology.kubernetes.io/zone"),
		bt_build_text(arena, "zone-%" PRIu32, number % 3));
	bt_build_pair(arena, &out->meta.labels, bt_str("kubernetes.io/hostname"), out->meta.name);
	bt_build_pair(arena, &out->meta.labels, bt_build_text(arena, "key-%" PRIu32, number),
		bt_build_text(arena, "value-%" PRIu32, number));
	image->names =
		bt_build_list(arena, bt_build_text(arena, "registry.example.com/app:%" PRIu32, number));
	image->size_bytes = 50000000;
	out->images = image;
	out->image_n = 1;
	out->taints = bt_arena_zalloc(arena, sizeof(*out->taints));
	out->taints[0] = (struct bt_taint_object){
		.key = bt_build_text(arena, "taint-%" PRIu32, number), .effect = bt_str("PreferNoSchedule")};
	out->taint_n = 1;
	bt_build_quantity(arena, &out->allocatable, "cpu", bt_build_milli(1000000));
	bt_build_quantity(arena, &out->allocatable, "memory", bt_build_mib(4000000));
	bt_build_quantity(arena, &out->allocatable, "pods", bt_build_count(100000));
}

static struct bt_label_selector_object only(struct bt_arena *arena, uint32_t number)
{
	struct bt_label_selector_object selector = {.set = true};

	bt_build_pair(
		arena, &selector.match_labels, bt_str("app"), bt_build_text(arena, "app-%" PRIu32, number));
	return selector;
}

static void add_affinity(struct bt_arena *arena, struct bt_affinity_object *affinity, uint32_t number)
{
	struct bt_pod_affinity_object *apart = &affinity->pod_anti_affinity, *near = &affinity->pod_affinity;
	struct bt_requirement_object *unlike = bt_build_requirement(arena,
		&bt_build_required_term(arena, &affinity->node_affinity)->match_expressions,
		bt_build_text(arena, "not-%" PRIu32, number).ptr, "DoesNotExist");

	(void)unlike;
	apart->set = near->set = true;
	apart->required = bt_arena_zalloc(arena, sizeof(*apart->required));
	apart->required_n = 1;
	apart->required[0] = (struct bt_pod_term_object){.label_selector = only(arena, number),
		.topology_key = number % 2 ? bt_str("kubernetes.io/hostname")
					   : bt_build_text(arena, "key-%" PRIu32, number)};
	near->preferred = bt_arena_zalloc(arena, sizeof(*near->preferred));
	near->preferred_n = 1;
	near->preferred[0].weight = 1 + (int32_t)(number % 100);
	near->preferred[0].term = (struct bt_pod_term_object){.label_selector = only(arena, number - 1),
		.topology_key = bt_str("topology.kubernetes.io/zone")};
}

static void add_spread(struct bt_arena *arena, struct bt_pod_spec_object *spec, uint32_t number)
{
	spec->spread = bt_arena_zalloc(arena, 2 * sizeof(*spec->spread));
	spec->spread_n = 2;
	spec->spread[0] = (struct bt_spread_constraint_object){.max_skew = 1,
		.topology_key = bt_str("topology.kubernetes.io/zone"),
		.when_unsatisfiable = bt_str("DoNotSchedule"),
		.label_selector = only(arena, number)};
	spec->spread[1] = (struct bt_spread_constraint_object){.max_skew = 1,
		.topology_key = bt_build_text(arena, "key-%" PRIu32, number),
		.when_unsatisfiable = bt_str("ScheduleAnyway"),
		.label_selector = only(arena, number + 1)};
}

/* A bound claim, an unused claim, and a generated claim that does not exist. */
static void add_claims(struct bt_arena *arena, struct bt_pod_object *pod, uint32_t number)
{
	struct bt_pod_spec_object *spec = &pod->spec;

	spec->volumes = bt_arena_zalloc(arena, 2 * sizeof(*spec->volumes));
	spec->volume_n = number % 2 ? 1 : 2;
	spec->volumes[0] = (struct bt_volume_object){.name = bt_str("data"),
		.type = BT_VOLUME_CLAIM,
		.source = bt_build_text(arena, "data-%" PRIu32, number)};
	spec->volumes[1] = (struct bt_volume_object){.name = bt_str("scratch"), .type = BT_VOLUME_EPHEMERAL};
	if (number % 5 == 0) {
		spec->claims = bt_arena_zalloc(arena, sizeof(*spec->claims));
		spec->claims[0] = (struct bt_pod_claim_object){.name = bt_str("device"),
			.claim_name = bt_build_text(arena, "device-%" PRIu32, number)};
		spec->claim_n = 1;
	}
}

/* The objects of a pod with claims. Returns their number, at most 3. */
static uint32_t make_claims(struct bt_arena *arena, uint32_t number, struct bt_object *out)
{
	uint32_t n = 2;

	if (number % 7) {
		return 0;
	}
	out[0] = (struct bt_object){.kind = BT_KIND_PERSISTENT_VOLUME_CLAIM};
	struct bt_claim_object *claim = &out[0].claim;
	claim->meta.name = bt_build_text(arena, "data-%" PRIu32, number);
	claim->meta.namespace_ = bt_str("default");
	claim->meta.uid = bt_build_text(arena, "claim-uid-%" PRIu32, number);
	claim->access_modes = bt_build_list(arena, bt_str("ReadWriteOnce"));
	claim->phase = bt_str("Bound");
	claim->volume_name = bt_build_text(arena, "volume-%" PRIu32, number);
	bt_build_pair(
		arena, &claim->meta.annotations, bt_str("pv.kubernetes.io/bind-completed"), bt_str("yes"));
	out[1] = (struct bt_object){.kind = BT_KIND_PERSISTENT_VOLUME};
	struct bt_persistent_volume_object *volume = &out[1].persistent_volume;
	volume->meta.name = claim->volume_name;
	bt_build_pair(
		arena, &volume->meta.labels, bt_build_text(arena, "volume-key-%" PRIu32, number), bt_str(""));
	volume->access_modes = claim->access_modes;
	volume->claim_namespace = claim->meta.namespace_;
	volume->claim_name = claim->meta.name;
	volume->claim_uid = claim->meta.uid;
	if (number % 5 == 0) {
		out[n] = (struct bt_object){.kind = BT_KIND_RESOURCE_CLAIM};
		struct bt_resource_claim_object *device = &out[n++].resource_claim;
		device->meta.name = bt_build_text(arena, "device-%" PRIu32, number);
		device->meta.namespace_ = bt_str("default");
		device->meta.uid = bt_build_text(arena, "device-uid-%" PRIu32, number);
	}
	return n;
}

static void make_pod(struct bt_arena *arena, uint32_t number, struct bt_pod_object *out)
{
	struct bt_pod_spec_object *spec = &out->spec;
	struct bt_container_object *container = bt_arena_zalloc(arena, sizeof(*container));

	*out = (struct bt_pod_object){.meta = {.name = bt_build_text(arena, "pod-%" PRIu32, number),
					      .namespace_ = bt_str("default"),
					      .uid = bt_build_text(arena, "uid-%" PRIu32, number)}};
	bt_build_pair(arena, &out->meta.labels, bt_str("app"), bt_build_text(arena, "app-%" PRIu32, number));
	bt_build_pair(arena, &out->meta.labels, bt_build_text(arena, "mine-%" PRIu32, number), bt_str(""));
	container->name = bt_str("main");
	container->image = bt_build_text(arena, "registry.example.com/app:%" PRIu32, number / NODE_EVERY);
	container->resources.set = true;
	bt_build_quantity(arena, &container->resources.requests, "cpu", bt_build_milli(1 + number % 997));
	bt_build_quantity(arena, &container->resources.requests, "memory", bt_build_mib(1 + number % 1009));
	spec->scheduler_name = bt_str("default-scheduler");
	spec->containers = container;
	spec->container_n = 1;
	spec->has_priority = true;
	spec->priority = (int32_t)number;
	spec->tolerations = bt_arena_zalloc(arena, sizeof(*spec->tolerations));
	spec->tolerations[0] = (struct bt_toleration_object){
		.key = bt_build_text(arena, "taint-%" PRIu32, number), .operator_ = bt_str("Exists")};
	spec->toleration_n = 1;
	if (number % 3 == 0) {
		add_affinity(arena, &spec->affinity, number);
	} else if (number % 3 == 1) {
		add_spread(arena, spec, number);
	}
	if (number % 7 == 0) {
		add_claims(arena, out, number);
	}
	if (number % 17 == 0) {
		bt_build_item(arena, &spec->scheduling_gates, bt_build_text(arena, "gate-%" PRIu32, number));
	} else if (number % 13 == 0) {
		/* It fits no node. */
		bt_build_pair(
			arena, &spec->node_selector, bt_str("app"), bt_build_text(arena, "%" PRIu32, number));
	}
}

/* ---- memory in use ---- */

/* The maximum in a span of pods: signatures are freed in batches. */
struct peak {
	size_t bytes, names, signatures, signature_end, counters, columns, texts, pods;
};

static void raise(size_t *peak, size_t now)
{
	*peak = now > *peak ? now : *peak;
}

static void look(struct bt_engine *engine, struct peak *peak)
{
	const struct bt_cache *cache = bt_engine_cache(engine);

	bt_rcu_drain();
	raise(&peak->bytes, bt_mem_in_use_bytes());
	raise(&peak->names, bt_intern_count(cache->dictionary->intern));
	raise(&peak->signatures, bt_signatures_count(cache->signatures));
	raise(&peak->signature_end, bt_signatures_end(cache->signatures));
	raise(&peak->counters, bt_counters_count(cache->counters));
	raise(&peak->columns, bt_snapshot_column_count(cache->snapshot));
	raise(&peak->texts, bt_texts_count(cache->dictionary->texts));
	raise(&peak->pods, bt_ledger_pod_end(cache->ledger));
}

static void show(const char *when, const struct peak *peak)
{
	print_message("%s: %zu KiB, %zu names, %zu signatures of %zu, %zu counters, %zu columns, %zu texts, "
		      "%zu pods\n",
		when, peak->bytes / 1024, peak->names, peak->signatures, peak->signature_end, peak->counters,
		peak->columns, peak->texts, peak->pods);
}

/* The process's resident memory. */
static size_t resident_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[256];

	while (file && !kib && fgets(line, sizeof(line), file)) {
		(void)sscanf(line, "VmRSS: %lu", &kib);
	}
	if (file) {
		fclose(file);
	}
	return kib;
}

struct spans {
	struct peak early, late;
	size_t resident_kib[11]; /* after each tenth */
};

/* Early is the second tenth, late the last one. */
static void sample(struct spans *spans, struct bt_engine *engine, uint32_t number)
{
	uint32_t tenth = (uint32_t)((uint64_t)number * 10 / pod_n);

	if (!spans->resident_kib[tenth]) {
		spans->resident_kib[tenth] = resident_kib();
		print_message("%9" PRIu32 " pods: %zu KiB resident\n", number, spans->resident_kib[tenth]);
	}
	if (number % 8 == 0 && (tenth == 1 || tenth == 9)) {
		look(engine, tenth == 1 ? &spans->early : &spans->late);
	}
}

/* A tolerance of a few per cent, and of a doubling where tables double. */
static void check(const struct spans *spans)
{
	const struct peak *early = &spans->early, *late = &spans->late;

	show("early", early);
	show("late ", late);
	assert_in_range(late->bytes, 0, early->bytes + early->bytes / 20 + 65536);
	assert_in_range(late->names, 0, early->names + early->names / 20 + 20);
	assert_in_range(late->signatures, 0, early->signatures + early->signatures / 20 + 10);
	assert_in_range(late->signature_end, 0, early->signature_end + early->signature_end / 20 + 10);
	assert_in_range(late->counters, 0, early->counters + early->counters / 20 + 20);
	assert_in_range(late->columns, 0, early->columns + early->columns / 20 + 10);
	assert_in_range(late->texts, 0, early->texts + early->texts / 20 + 10);
	assert_in_range(late->pods, 0, early->pods + 10);
}

/* ---- the engine ---- */

static void evict(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	(void)context;
	(void)engine;
	(void)pod_ix;
	(void)for_ix;
}

static void decide_all(struct bt_engine *engine, uint64_t *placed_n)
{
	struct bt_decision decision;
	uint32_t pod_ix;

	while ((pod_ix = bt_engine_pop(engine)) != BT_NO_POD) {
		bt_engine_decide(engine, pod_ix, &decision);
		*placed_n += decision.outcome == BT_PLACED;
	}
}

static void in_the_engine_memory_follows_what_is_there(void **state)
{
	const struct bt_engine_options options = {.signatures_kept = KEPT, .evictor = {evict, NULL}};
	struct bt_config_errors errors = {0};
	struct bt_config config;
	struct spans spans = {0};
	struct bt_arena arena = {0};
	uint64_t placed_n = 0;
	char gone[32];

	(void)state;
	bt_config_init_default(&config, NULL);
	struct bt_engine *engine = bt_engine_create(&config, &options, &errors);
	for (uint32_t i = 0; i < pod_n; i++) {
		struct bt_pod_object pod;
		struct bt_node_object node;
		struct bt_object claims[3];
		enum bt_entry entry;
		uint32_t ix, n = 0;

		bt_arena_reset(&arena);
		if (i >= alive_n) {
			snprintf(gone, sizeof(gone), "pod-%" PRIu32, i - alive_n);
			bt_engine_remove_pod(
				engine, bt_engine_find_pod(engine, bt_str("default"), bt_str(gone)));
			n = make_claims(&arena, i - alive_n, claims);
		}
		for (uint32_t c = 0; c < n; c++) {
			assert_int_equal(bt_engine_delete_object(engine, claims[c].kind,
						 claims[c].meta.namespace_, claims[c].meta.name),
				BT_OK);
		}
		n = make_claims(&arena, i, claims);
		for (uint32_t c = 0; c < n; c++) {
			bt_engine_apply_object(engine, &claims[c]);
		}
		if (i % NODE_EVERY == 0) {
			make_node(&arena, i / NODE_EVERY, &node);
			assert_int_equal(bt_engine_apply_node(engine, &node, &ix), BT_OK);
		}
		make_pod(&arena, i, &pod);
		assert_int_equal(bt_engine_add_pod(engine, &pod, &entry, &ix), BT_OK);
		decide_all(engine, &placed_n);
		sample(&spans, engine, i);
	}
	print_message("%" PRIu64 " of %" PRIu32 " placed, %" PRIu64 " signatures given up\n", placed_n, pod_n,
		bt_engine_counts(engine).signature_end_n);
	assert_true(placed_n > pod_n / 2);
	check(&spans);
	bt_engine_destroy(engine);
	bt_config_errors_fini(&errors);
	bt_config_fini(&config);
	bt_arena_fini(&arena);
}

/* ---- the pipeline ---- */

static void feed(struct bt_pipeline *pipeline, struct bt_watch_event *watch_event)
{
	assert_int_equal(bt_pipeline_feed(pipeline, 0, &watch_event, BT_FOREVER), BT_OK);
}

static void feed_pod(struct bt_pipeline *pipeline, uint32_t number)
{
	struct bt_watch_event *watch_event = bt_pipeline_get_event(pipeline, 0, BT_WATCH_EVENT_APPLY);

	watch_event->object.kind = BT_KIND_POD;
	make_pod(&watch_event->arena, number, &watch_event->object.pod);
	feed(pipeline, watch_event);
}

static void feed_node(struct bt_pipeline *pipeline, uint32_t number)
{
	struct bt_watch_event *watch_event = bt_pipeline_get_event(pipeline, 0, BT_WATCH_EVENT_APPLY);

	watch_event->object.kind = BT_KIND_NODE;
	make_node(&watch_event->arena, number, &watch_event->object.node);
	feed(pipeline, watch_event);
}

/* Adds or deletes the claims of a pod. */
static void feed_claims(struct bt_pipeline *pipeline, enum bt_watch_event_kind kind, uint32_t number)
{
	struct bt_arena none = {0};
	struct bt_object claims[3];
	uint32_t n = make_claims(&none, number, claims);

	bt_arena_fini(&none);
	for (uint32_t c = 0; c < n; c++) {
		struct bt_watch_event *watch_event = bt_pipeline_get_event(pipeline, 0, kind);

		make_claims(&watch_event->arena, number, claims);
		watch_event->object = claims[c];
		feed(pipeline, watch_event);
	}
}

static void feed_end(struct bt_pipeline *pipeline, uint32_t number)
{
	struct bt_watch_event *watch_event = bt_pipeline_get_event(pipeline, 0, BT_WATCH_EVENT_DELETE);

	watch_event->object = (struct bt_object){.kind = BT_KIND_POD};
	watch_event->object.meta.namespace_ = bt_str("default");
	watch_event->object.meta.name = bt_build_text(&watch_event->arena, "pod-%" PRIu32, number);
	watch_event->object.meta.uid = bt_build_text(&watch_event->arena, "uid-%" PRIu32, number);
	feed(pipeline, watch_event);
}

static void through_the_pipeline_as_well(void **state)
{
	struct bt_pipeline_options options = {
		.limits = bt_limits_default(), .engine = {.signatures_kept = KEPT}, .messages = true};
	struct bt_config_errors errors = {0};
	struct bt_config config;
	struct spans spans = {0};

	(void)state;
	bt_config_init_default(&config, NULL);
	options.limits.sources = 1;
	options.limits.ingest_threads = 2;
	/* Small caches fill up early on. */
	options.limits.spent = options.limits.tombstones = 16;
	struct bt_pipeline *pipeline = bt_pipeline_create(&config, &options, &errors);
	assert_non_null(pipeline);
	for (uint32_t i = 0; i < pod_n; i++) {
		if (i >= alive_n) {
			feed_end(pipeline, i - alive_n);
			feed_claims(pipeline, BT_WATCH_EVENT_DELETE, i - alive_n);
		}
		if (i % NODE_EVERY == 0) {
			feed_node(pipeline, i / NODE_EVERY);
		}
		feed_claims(pipeline, BT_WATCH_EVENT_APPLY, i);
		feed_pod(pipeline, i);
		bt_pipeline_settle(pipeline);
		sample(&spans, bt_pipeline_engine(pipeline), i);
	}
	check(&spans);
	bt_pipeline_destroy(pipeline);
	bt_config_errors_fini(&errors);
	bt_config_fini(&config);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_the_engine_memory_follows_what_is_there),
		cmocka_unit_test(through_the_pipeline_as_well),
	};

	if (argc == 3) {
		pod_n = (uint32_t)strtoul(argv[1], NULL, 10);
		alive_n = (uint32_t)strtoul(argv[2], NULL, 10);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
