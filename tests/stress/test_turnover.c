/* SPDX-License-Identifier: Apache-2.0
 * Names are freed with their objects (I7): nodes with ever new names are added and deleted, as by a
 * cluster autoscaler, and with each of them devices, and a namespace with a Service, controllers, a
 * budget, a PodGroup, a claim, and pods that these select, which are decided. Memory use and the nodes'
 * slots are at the end as early on; in one thread, and with all threads of the pipeline. Arguments: nodes
 * in total, and at a time.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "engine/base/rcu.h"
#include "engine/base/thread.h"
#include "engine/flow/pipeline/pipeline.h"
#include "node.h"
#include "tools/offline/generate/build.h"

enum { KEPT = 60, PODS = 3 };

static uint32_t turn_n = 4000, alive_n = 60;

/* ---- objects ---- */

static void put(struct bt_arena *arena, struct bt_meta_object *meta, const char *what, uint32_t number)
{
	meta->name = bt_build_text(arena, "%s-%" PRIu32, what, number);
	meta->namespace_ = bt_build_text(arena, "space-%" PRIu32, number);
}

static void put_label(struct bt_arena *arena, struct bt_str_map *map, const char *what, uint32_t number)
{
	bt_build_pair(arena, map, bt_build_text(arena, "%s-key-%" PRIu32, what, number),
		bt_build_text(arena, "%s-value-%" PRIu32, what, number));
}

static void make_workload(struct bt_arena *arena, uint32_t number, struct bt_workload_object *out)
{
	put(arena, &out->meta, "workload", number);
	out->selector.set = true;
	put_label(arena, &out->selector.match_labels, "app", number);
}

/* One of the pods of a turn: unbound, bound to the turn's node, or nominated to it. */
static void make_pod(struct bt_arena *arena, uint32_t number, uint32_t which, struct bt_pod_object *out)
{
	struct bt_container_object *container = bt_arena_zalloc(arena, sizeof(*container));
	struct bt_owner_object *owner = bt_arena_zalloc(arena, sizeof(*owner));

	put(arena, &out->meta, which == 0 ? "waits" : which == 1 ? "on" : "nominated", number);
	out->meta.uid = bt_build_text(arena, "uid-%" PRIu32 "-%" PRIu32, number, which);
	put_label(arena, &out->meta.labels, "app", number);
	*owner = (struct bt_owner_object){.api_version = bt_str("apps/v1"),
		.kind = bt_str("ReplicaSet"),
		.name = bt_build_text(arena, "workload-%" PRIu32, number),
		.controller = true};
	out->meta.owners = owner;
	out->meta.owner_n = 1;
	container->name = bt_str("main");
	container->resources.set = true;
	bt_build_quantity(arena, &container->resources.requests, "cpu", bt_build_milli(100));
	out->spec.scheduler_name = bt_str("default-scheduler");
	out->spec.containers = container;
	out->spec.container_n = 1;
	if (which == 0) {
		out->spec.pod_group = bt_build_text(arena, "group-%" PRIu32, number);
	} else if (which == 1) {
		out->spec.node_name = bt_build_text(arena, "node-%" PRIu32, number);
	} else {
		out->nominated_node_name = bt_build_text(arena, "node-%" PRIu32, number);
		bt_build_pair(arena, &out->spec.node_selector, bt_str("fits"),
			bt_build_text(arena, "%" PRIu32, number));
	}
}

/* The node's slice, with one device. */
static void make_slice(struct bt_arena *arena, uint32_t number, struct bt_resource_slice_object *out)
{
	out->meta.name = bt_build_text(arena, "slice-%" PRIu32, number);
	out->driver = bt_str("gpu.example.com");
	out->pool = out->node_name = bt_build_text(arena, "node-%" PRIu32, number);
	out->has_node_name = true;
	out->generation = out->slice_count = 1;
	out->devices = bt_arena_zalloc(arena, sizeof(*out->devices));
	out->devices[0].name = bt_build_text(arena, "device-%" PRIu32, number);
	out->devices[0].allow_multiple = true;
	out->devices[0].capacities = bt_arena_zalloc(arena, sizeof(*out->devices[0].capacities));
	out->devices[0].capacities[0].name = bt_build_text(arena, "capacity-%" PRIu32, number);
	out->devices[0].capacities[0].value = bt_build_count(4);
	out->devices[0].capacity_n = 1;
	out->device_n = 1;
}

/* A class that claims name, and that backs a resource of its own. */
static void make_class(struct bt_arena *arena, uint32_t number, struct bt_device_class_object *out)
{
	out->meta.name = bt_build_text(arena, "class-%" PRIu32, number);
	out->has_extended_resource = true;
	out->extended_resource = bt_build_text(arena, "example.com/serves-%" PRIu32, number);
}

/* A claim with a share of the device. */
static void make_claim(struct bt_arena *arena, uint32_t number, struct bt_resource_claim_object *out)
{
	struct bt_device_selector_object *selector = bt_arena_zalloc(arena, sizeof(*selector));

	put(arena, &out->meta, "claim", number);
	out->meta.uid = bt_build_text(arena, "claim-uid-%" PRIu32, number);
	*selector = (struct bt_device_selector_object){.has_cel = true,
		.expression = bt_build_text(arena, "device.driver == 'driver-%" PRIu32 "'", number)};
	out->requests = bt_arena_zalloc(arena, 2 * sizeof(*out->requests));
	out->request_n = 2;
	out->requests[1].name = bt_build_text(arena, "either-%" PRIu32, number);
	out->requests[1].first_available = bt_arena_zalloc(arena, sizeof(struct bt_device_subrequest_object));
	out->requests[1].first_available_n = 1;
	out->requests[1].first_available[0].name = bt_build_text(arena, "or-%" PRIu32, number);
	out->requests[1].first_available[0].class_name = bt_build_text(arena, "class-%" PRIu32, number);
	out->requests[0].name = bt_build_text(arena, "request-%" PRIu32, number);
	out->requests[0].has_exactly = true;
	out->requests[0].exactly.class_name = bt_build_text(arena, "class-%" PRIu32, number);
	out->requests[0].exactly.selectors = selector;
	out->requests[0].exactly.selector_n = 1;
	out->results = bt_arena_zalloc(arena, sizeof(*out->results));
	out->result_n = 1;
	out->results[0].request = out->requests[0].name;
	out->results[0].driver = bt_str("gpu.example.com");
	out->results[0].pool = bt_build_text(arena, "node-%" PRIu32, number);
	out->results[0].device = bt_build_text(arena, "device-%" PRIu32, number);
	out->results[0].has_share_id = true;
	out->results[0].share_id = bt_build_text(arena, "share-%" PRIu32, number);
	out->results[0].consumed.items = bt_arena_zalloc(arena, sizeof(*out->results[0].consumed.items));
	out->results[0].consumed.items[0].name = bt_build_text(arena, "capacity-%" PRIu32, number);
	out->results[0].consumed.items[0].quantity = bt_build_count(1);
	out->results[0].consumed.n = 1;
	out->allocated = true;
}

/* The objects of a turn, in some order. */
static const enum bt_kind kinds[] = {BT_KIND_NAMESPACE, BT_KIND_POD_GROUP, BT_KIND_NODE, BT_KIND_SERVICE,
	BT_KIND_POD, BT_KIND_REPLICA_SET, BT_KIND_POD, BT_KIND_REPLICATION_CONTROLLER, BT_KIND_POD,
	BT_KIND_STATEFUL_SET, BT_KIND_POD_DISRUPTION_BUDGET, BT_KIND_RESOURCE_SLICE, BT_KIND_RESOURCE_CLAIM,
	BT_KIND_DEVICE_CLASS};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* The nth object of a turn: the pods' nodes are added and deleted before them, or after. */
static void make_object(struct bt_arena *arena, uint32_t number, uint32_t nth, struct bt_object *out)
{
	uint32_t at = number % 2 ? KINDS - 1 - nth : nth;

	*out = (struct bt_object){.kind = kinds[at]};
	switch (kinds[at]) {
	case BT_KIND_NODE:
		stress_make_node(arena, number, &out->node);
		break;
	case BT_KIND_POD:
		make_pod(arena, number, at / 2 - 2, &out->pod);
		break;
	case BT_KIND_NAMESPACE:
		out->meta.name = bt_build_text(arena, "space-%" PRIu32, number);
		put_label(arena, &out->meta.labels, "space", number);
		break;
	case BT_KIND_SERVICE:
		put(arena, &out->meta, "service", number);
		out->service.selector.set = true;
		put_label(arena, &out->service.selector, "app", number);
		break;
	case BT_KIND_POD_DISRUPTION_BUDGET:
		put(arena, &out->meta, "budget", number);
		out->pdb.selector.set = true;
		put_label(arena, &out->pdb.selector.match_labels, "app", number);
		out->pdb.disrupted_pods = bt_build_list(arena, bt_build_text(arena, "hit-%" PRIu32, number));
		break;
	case BT_KIND_POD_GROUP:
		put(arena, &out->meta, "group", number);
		break;
	case BT_KIND_DEVICE_CLASS:
		make_class(arena, number, &out->device_class);
		break;
	case BT_KIND_RESOURCE_SLICE:
		make_slice(arena, number, &out->resource_slice);
		break;
	case BT_KIND_RESOURCE_CLAIM:
		make_claim(arena, number, &out->resource_claim);
		break;
	default:
		make_workload(arena, number, &out->workload);
		break;
	}
}

/* ---- memory in use ---- */

struct peak {
	size_t bytes, names, slots, published, pods, signatures, devices;
};

static void raise(size_t *peak, size_t now)
{
	*peak = now > *peak ? now : *peak;
}

static void look(void *context, struct bt_engine *engine)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	struct bt_published published;
	struct peak *peak = context;

	bt_published_begin(cache->publisher, &published);
	raise(&peak->published, published.slot_n);
	bt_published_end(&published);
	raise(&peak->names, bt_intern_count(cache->dictionary->intern));
	raise(&peak->slots, cache->view.snapshot->slot_n);
	raise(&peak->pods, bt_ledger_pod_end(cache->ledger));
	raise(&peak->signatures, bt_signatures_count(cache->signatures));
	raise(&peak->devices, cache->view.devices->use_n);
}

static void show(const char *when, const struct peak *peak)
{
	print_message(
		"%s: %zu KiB, %zu names, %zu slots, %zu published, %zu pods, %zu signatures, %zu devices\n",
		when, peak->bytes / 1024, peak->names, peak->slots, peak->published, peak->pods,
		peak->signatures, peak->devices);
}

/* A tolerance of a few per cent, and of a doubling where tables double. */
static void check(const struct peak *early, const struct peak *late)
{
	show("early", early);
	show("late ", late);
	assert_in_range(late->bytes, 0, early->bytes + early->bytes / 20 + 65536);
	assert_in_range(late->names, 0, early->names + early->names / 20 + 50);
	assert_in_range(late->pods, 0, early->pods + 10);
	assert_in_range(late->devices, 0, (size_t)alive_n + 10);
	/* An eighth may belong to deleted nodes, and to those that pods refer to. */
	assert_in_range(late->slots, 1, 2 * (size_t)alive_n + 20);
}

/* ---- in one thread ---- */

static void feed(struct bt_pipeline *pipeline, enum bt_watch_event_kind kind, uint32_t number)
{
	for (uint32_t i = 0; i < KINDS; i++) {
		struct bt_watch_event *watch_event = bt_pipeline_get_event(pipeline, 0, kind);

		make_object(&watch_event->arena, number, i, &watch_event->object);
		assert_int_equal(bt_pipeline_feed(pipeline, 0, &watch_event, BT_FOREVER), BT_OK);
	}
}

static struct bt_pipeline *make_pipeline(const struct bt_config *config)
{
	struct bt_pipeline_options options = {
		.limits = bt_limits_default(), .engine = {.signatures_kept = KEPT, .moves_pods = true}};
	struct bt_config_errors errors = {0};

	options.limits.sources = 1;
	options.limits.ingest_threads = 2;
	/* Small caches fill up early on. */
	options.limits.spent = options.limits.tombstones = 16;
	struct bt_pipeline *pipeline = bt_pipeline_create(config, &options, &errors);
	assert_non_null(pipeline);
	bt_config_errors_fini(&errors);
	return pipeline;
}

static void the_plugins_in_use_follow_the_objects(void **state)
{
	struct peak early = {0}, late = {0};
	struct bt_config config;
	struct bt_gates gates;

	(void)state;
	bt_gates_init(&gates, bt_release_find(bt_str("1.36"))); /* groups are complete there */
	bt_config_init_default(&config, &gates);
	config.gates.on[BT_GATE_GENERIC_WORKLOAD] = true;
	config.gates.on[BT_GATE_DRA_EXTENDED_RESOURCE] = true;
	config.gates.on[BT_GATE_DRA_CONSUMABLE_CAPACITY] = true;
	config.gates.on[BT_GATE_DRA_PRIORITIZED_LIST] = true;
	struct bt_pipeline *pipeline = make_pipeline(&config);
	for (uint32_t i = 0; i < turn_n; i++) {
		uint32_t tenth = (uint32_t)((uint64_t)i * 10 / turn_n);

		if (i >= alive_n) {
			feed(pipeline, BT_WATCH_EVENT_DELETE, i - alive_n);
		}
		feed(pipeline, BT_WATCH_EVENT_APPLY, i);
		bt_pipeline_settle(pipeline);
		if (tenth == 2 || tenth == 9) {
			struct peak *peak = tenth == 2 ? &early : &late;

			bt_rcu_drain();
			raise(&peak->bytes, bt_mem_in_use_bytes());
			look(peak, bt_pipeline_engine(pipeline));
		}
	}
	struct bt_engine_counts counts = bt_engine_counts(bt_pipeline_engine(pipeline));
	print_message("%" PRIu64 " cycles, %" PRIu64 " placed\n", counts.cycle_n, counts.placed_n);
	assert_true(counts.placed_n >= turn_n / 2);
	check(&early, &late);
	bt_pipeline_destroy(pipeline);
	bt_config_fini(&config);
}

/* ---- with threads ---- */

static void wait_for(struct bt_pipeline *pipeline, uint64_t event_n)
{
	for (;;) {
		struct bt_pipeline_counts counts = bt_pipeline_counts(pipeline);

		if (counts.applied_n + counts.deleted_n + counts.stale_n >= event_n) {
			return;
		}
		bt_thread_yield();
	}
}

static void nor_with_threads_do_slots_and_names_grow(void **state)
{
	struct peak early = {0}, late = {0};
	struct bt_buf why = {0};
	struct bt_config config;
	struct bt_gates gates;
	uint64_t event_n = 0;

	(void)state;
	bt_gates_init(&gates, bt_release_find(bt_str("1.36"))); /* groups are complete there */
	bt_config_init_default(&config, &gates);
	config.gates.on[BT_GATE_GENERIC_WORKLOAD] = true;
	config.gates.on[BT_GATE_DRA_EXTENDED_RESOURCE] = true;
	config.gates.on[BT_GATE_DRA_CONSUMABLE_CAPACITY] = true;
	config.gates.on[BT_GATE_DRA_PRIORITIZED_LIST] = true;
	struct bt_pipeline *pipeline = make_pipeline(&config);
	assert_int_equal(bt_pipeline_start(pipeline, &why), BT_OK);
	for (uint32_t i = 0; i < turn_n; i++) {
		uint32_t tenth = (uint32_t)((uint64_t)i * 10 / turn_n);

		if (i >= alive_n) {
			feed(pipeline, BT_WATCH_EVENT_DELETE, i - alive_n);
			event_n += KINDS;
		}
		feed(pipeline, BT_WATCH_EVENT_APPLY, i);
		event_n += KINDS;
		/* Many turns overlap at a time; sometimes none does. */
		if (i % 16 == 0 && (tenth == 2 || tenth == 9)) {
			wait_for(pipeline, event_n);
			bt_pipeline_call(pipeline, look, tenth == 2 ? &early : &late);
		}
	}
	assert_true(bt_pipeline_stop(pipeline, BT_END_DRAIN, BT_FOREVER));
	early.bytes = late.bytes = 0;
	check(&early, &late);
	bt_pipeline_destroy(pipeline);
	bt_config_fini(&config);
	bt_buf_fini(&why);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_plugins_in_use_follow_the_objects),
		cmocka_unit_test(nor_with_threads_do_slots_and_names_grow),
	};

	if (argc == 3) {
		turn_n = (uint32_t)strtoul(argv[1], NULL, 10);
		alive_n = (uint32_t)strtoul(argv[2], NULL, 10);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
