/* SPDX-License-Identifier: Apache-2.0
 * The API server of histories.
 */
#include "tools/offline/verdict/api_int.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/source.h"
#include "engine/flow/cycle/prebind_writes.h"
#include "tools/format/object_reader.h"
#include "tools/kube/objects/defaults.h"

/* ---- storing ---- */

struct bt_str bt_api_keep(struct bt_api *api, struct bt_str text)
{
	return (struct bt_str){bt_arena_copy(&api->cluster.arena, text.ptr, text.len), text.len};
}

struct bt_api_object *bt_api_find(
	struct bt_api *api, struct bt_str kind, struct bt_str namespace_, struct bt_str name)
{
	for (size_t i = api->object_n; i-- > 0;) {
		struct bt_api_object *object = &api->objects[i];

		if (!object->gone && bt_str_eq(object->name, name) && bt_str_eq(object->kind, kind) &&
			bt_str_eq(object->namespace_, namespace_)) {
			return object;
		}
	}
	return NULL;
}

struct bt_api_object *bt_api_pod(struct bt_api *api, uint32_t pod_ix)
{
	for (size_t i = api->object_n; i-- > 0;) {
		if (!api->objects[i].gone && api->objects[i].pod_ix == pod_ix) {
			return &api->objects[i];
		}
	}
	return NULL;
}

void bt_api_note_refusal(struct bt_api *api, uint32_t pod_ix, struct bt_str why)
{
	struct bt_api_object *stored = bt_api_pod(api, pod_ix);

	if (stored && !bt_str_eq(api->refusal_before, why)) {
		stored->refusal = bt_api_keep(api, why);
	}
}

bool bt_api_repeats_refusal(struct bt_api *api, uint32_t pod_ix, struct bt_str why)
{
	struct bt_api_object *stored = bt_api_pod(api, pod_ix);

	if (!stored || bt_str_eq(stored->refusal, why)) {
		return stored;
	}
	stored->refusal = bt_api_keep(api, why);
	return false;
}

static enum bt_status decode_in(struct bt_api *api, struct bt_arena *arena, struct bt_str doc,
	struct bt_object *out, struct bt_buf *out_error)
{
	struct bt_decode decode = {.json = api->json, .arena = arena};

	*out = (struct bt_object){0};
	bt_json_begin(api->json, doc, arena);
	if (!bt_object_decode(&decode, out)) {
		bt_buf_printf(out_error, "%s%s%s", decode.error.path, decode.error.path[0] ? ": " : "",
			decode.error.message);
		return BT_INVALID;
	}
	return BT_OK;
}

static enum bt_status decode(
	struct bt_api *api, struct bt_str doc, struct bt_object *out, struct bt_buf *out_error)
{
	return decode_in(api, &api->scratch, doc, out, out_error);
}

const struct bt_resource_claim_object *bt_api_claim(struct bt_api *api, const struct bt_api_object *stored)
{
	struct bt_object *object;

	if (stored->claim) {
		return stored->claim;
	}
	object = bt_arena_zalloc(&api->cluster.arena, sizeof(*object));
	enum bt_status rc = decode_in(api, &api->cluster.arena, stored->doc, object, &api->text);
	BT_REQUIRE(rc == BT_OK);
	bt_defaults_scheme(object, &api->cluster.arena);
	return &object->resource_claim;
}

/* A claim has the resource version of its last write, so that the engine can detect stale events. */
static void overlay_claim(
	struct bt_api *api, const struct bt_api_object *stored, struct bt_resource_claim_object *claim)
{
	char version[24];

	if (stored->claim) {
		*claim = *stored->claim;
	}
	snprintf(version, sizeof(version), "%llu", (unsigned long long)stored->version);
	claim->meta.resource_version =
		(struct bt_str){bt_arena_copy(&api->scratch, version, strlen(version)), strlen(version)};
}

/* Adds the condition of a preempted pod. */
static void add_disruption(struct bt_api *api, struct bt_pod_object *pod)
{
	struct bt_condition_object *conditions =
		bt_arena_zalloc(&api->scratch, (pod->condition_n + 1) * sizeof(*conditions));

	conditions[0] = (struct bt_condition_object){.type = BT_STR("DisruptionTarget"),
		.status = BT_STR("True"),
		.reason = BT_STR("PreemptionByScheduler")};
	for (uint32_t i = 0; i < pod->condition_n; i++) {
		conditions[i + 1] = pod->conditions[i];
	}
	pod->conditions = conditions;
	pod->condition_n++;
}

/* Changes made to a pod since it was written. */
static void overlay(struct bt_api *api, const struct bt_api_object *stored, struct bt_pod_object *pod)
{
	if (stored->node.len) {
		pod->spec.node_name = stored->node;
	}
	if (stored->nominated_set) {
		pod->nominated_node_name = stored->nominated;
	}
	if (stored->start_set) {
		pod->start_ns = stored->start_ns;
	}
	if (stored->disrupted) {
		add_disruption(api, pod);
	}
	if (stored->extended_mapping_n) {
		pod->extended_claim = stored->extended_claim;
		pod->extended_mappings = stored->extended_mappings;
		pod->extended_mapping_n = stored->extended_mapping_n;
	}
	if (stored->node_claims_set) {
		pod->node_claims = stored->node_claims;
		pod->node_claim_n = stored->node_claim_n;
	}
}

void bt_api_build(struct bt_api *api, const struct bt_api_object *stored, struct bt_object *out)
{
	struct bt_object status;

	bt_arena_reset(&api->scratch);
	enum bt_status rc = decode(api, stored->doc, out, &api->text);
	BT_REQUIRE(rc == BT_OK);
	if (out->kind == BT_KIND_POD && stored->status_doc.ptr != stored->doc.ptr) {
		rc = decode(api, stored->status_doc, &status, &api->text);
		BT_REQUIRE(rc == BT_OK);
		status.pod.meta = out->pod.meta;
		status.pod.spec = out->pod.spec;
		out->pod = status.pod;
	}
	if (out->kind == BT_KIND_RESOURCE_CLAIM) {
		overlay_claim(api, stored, &out->resource_claim);
	}
	out->meta.uid = stored->uid;
	out->meta.creation_ns = stored->creation_ns;
	out->meta.deletion_ns = stored->deletion_ns;
	if (out->kind == BT_KIND_POD) {
		overlay(api, stored, &out->pod);
	}
	bt_defaults_scheme(out, &api->scratch);
}

/* ---- showing ---- */

static void show_pod(struct bt_api *api, struct bt_api_object *stored, const struct bt_object *object)
{
	struct bt_engine *engine = api->cluster.engine;
	enum bt_entry entry;

	if (stored->pod_ix == BT_NO_POD) {
		bt_engine_add_pod(engine, &object->pod, &entry, &stored->pod_ix);
	} else if (bt_ingest_pod_has_ended(&object->pod) ||
		   bt_engine_is_other_schedulers(engine, &object->pod)) {
		bt_engine_update_pod(engine, stored->pod_ix, &object->pod);
		stored->pod_ix = BT_NO_POD;
	} else {
		bt_engine_update_pod(engine, stored->pod_ix, &object->pod);
	}
}

void bt_api_show(struct bt_api *api, struct bt_api_object *stored)
{
	struct bt_object object;
	enum bt_entry entry;
	uint32_t ix;

	stored->version = ++api->version;
	bt_api_build(api, stored, &object);
	if (object.kind == BT_KIND_POD) {
		show_pod(api, stored, &object);
	} else {
		bt_engine_apply(api->cluster.engine, &object, &entry, &ix);
	}
}

static void show_removal(struct bt_api *api, enum bt_kind kind, const struct bt_api_object *stored)
{
	if (kind == BT_KIND_NODE) {
		bt_engine_remove_node(api->cluster.engine, stored->name);
	} else if (kind != BT_KIND_POD) {
		bt_engine_delete_object(api->cluster.engine, kind, stored->namespace_, stored->name);
	} else if (stored->pod_ix != BT_NO_POD) {
		bt_engine_remove_pod(api->cluster.engine, stored->pod_ix);
	}
}

/* ---- writing ---- */

/* A bound pod gets the start time that its kubelet would give it: whole seconds, all different. */
static void start(struct bt_api *api, struct bt_api_object *stored, const struct bt_object *object)
{
	if (!stored->start_set && object->pod.start_ns == 0) {
		stored->start_set = true;
		stored->start_ns = BT_API_EPOCH_NS + (int64_t)++api->start_n * BT_QUEUE_SECOND;
	}
}

static int64_t whole_second(const struct bt_api *api)
{
	return api->now_ns - api->now_ns % BT_QUEUE_SECOND;
}

enum bt_status bt_api_create(struct bt_api *api, struct bt_str doc, struct bt_buf *out_error)
{
	struct bt_object object;
	enum bt_status status = decode(api, doc, &object, out_error);

	if (status != BT_OK) {
		return status;
	}
	if (bt_api_find(api, object.kind_name, object.meta.namespace_, object.meta.name)) {
		bt_buf_printf(out_error, "%.*s \"%.*s\" already exists", BT_STR_ARG(object.kind_name),
			BT_STR_ARG(object.meta.name));
		return BT_EXISTS;
	}
	api->uid_n++;
	bt_buf_clear(&api->text);
	bt_buf_printf(&api->text, "uid-%06u", api->uid_n);
	api->objects = bt_mem_grow(api->objects, api->object_n, &api->object_cap, sizeof(*api->objects));
	struct bt_api_object *stored = &api->objects[api->object_n++];
	*stored = (struct bt_api_object){
		.kind = bt_api_keep(api, object.kind_name),
		.namespace_ = bt_api_keep(api, object.meta.namespace_),
		.name = bt_api_keep(api, object.meta.name),
		.uid = bt_api_keep(api, object.meta.uid.len ? object.meta.uid : bt_buf_view(&api->text)),
		.doc = doc,
		.status_doc = doc,
		.creation_ns = object.meta.creation_ns ? object.meta.creation_ns : whole_second(api),
		.deletion_ns = object.meta.deletion_ns,
		.pod_ix = BT_NO_POD,
	};
	if (object.kind == BT_KIND_POD && object.pod.spec.node_name.len) {
		stored->node = bt_api_keep(api, object.pod.spec.node_name);
		start(api, stored, &object);
	}
	bt_api_show(api, stored);
	return BT_OK;
}

struct status_only {
	struct bt_str status;
};

/* Does a document have no status? */
static bool has_no_status(struct bt_api *api, struct bt_str doc)
{
	static const struct bt_field fields[] = {
		{.name = BT_STR("status"),
			.type = BT_FIELD_RAW,
			.offset = offsetof(struct status_only, status)},
	};
	static const struct bt_schema schema = BT_SCHEMA(fields, struct status_only);
	struct bt_decode decode = {.json = api->json, .arena = &api->scratch};
	struct status_only only = {0};

	bt_json_begin(api->json, doc, &api->scratch);
	return !bt_schema_decode(&decode, &schema, &only) || only.status.len == 0 ||
	       bt_str_is(only.status, "{}") || bt_str_is(only.status, "null");
}

/* Reads the nomination that the scheduler has written into the status. */
static void fetch_nomination(struct bt_api *api, struct bt_api_object *stored)
{
	const struct bt_cache *cache = bt_engine_cache(api->cluster.engine);

	if (stored->pod_ix != BT_NO_POD) {
		uint32_t name = bt_ledger_pod(cache->ledger, stored->pod_ix)->status_node;

		stored->nominated_set = true;
		stored->nominated = name == BT_NAME_NONE ? (struct bt_str){0}
							 : bt_intern_str(cache->dictionary->intern, name);
	}
}

static void update_pod(
	struct bt_api *api, struct bt_api_object *stored, const struct bt_object *object, bool keep_status)
{
	struct bt_object whole;

	if (keep_status) {
		fetch_nomination(api, stored);
	} else {
		stored->nominated_set = stored->start_set = stored->disrupted = false;
		stored->refusal = (struct bt_str){0};
		stored->extended_mapping_n = 0;
		stored->node_claims_set = false;
	}
	if (object->pod.spec.node_name.len && stored->node.len == 0) {
		stored->node = bt_api_keep(api, object->pod.spec.node_name);
	}
	if (stored->node.len) {
		bt_api_build(api, stored, &whole);
		start(api, stored, &whole);
	}
}

enum bt_status bt_api_update(struct bt_api *api, struct bt_str doc, struct bt_buf *out_error)
{
	struct bt_object object;
	enum bt_status status = decode(api, doc, &object, out_error);

	if (status != BT_OK) {
		return status;
	}
	struct bt_api_object *stored =
		bt_api_find(api, object.kind_name, object.meta.namespace_, object.meta.name);
	if (!stored) {
		return BT_NOT_FOUND;
	}
	bool keep_status = has_no_status(api, doc);
	stored->doc = doc;
	stored->claim = NULL;
	if (!keep_status || object.kind != BT_KIND_POD) {
		stored->status_doc = doc;
	}
	if (stored->deletion_ns == 0) {
		stored->deletion_ns = object.meta.deletion_ns;
	}
	if (object.kind == BT_KIND_POD) {
		update_pod(api, stored, &object, keep_status);
	}
	bt_api_show(api, stored);
	return BT_OK;
}

static void remove_stored(struct bt_api *api, struct bt_api_object *stored)
{
	struct bt_object object;

	bt_api_build(api, stored, &object);
	stored->gone = true;
	show_removal(api, object.kind, stored);
}

enum bt_status bt_api_delete(
	struct bt_api *api, struct bt_str kind, struct bt_str namespace_, struct bt_str name)
{
	struct bt_api_object *stored = bt_api_find(api, kind, namespace_, name);

	if (!stored) {
		return BT_NOT_FOUND;
	}
	remove_stored(api, stored);
	return BT_OK;
}

/* ---- the scheduler's own writes ---- */

#define BIND_FAILS "running Bind plugin \"DefaultBinder\": "

static bool can_bind(struct bt_api *api, const struct bt_api_object *stored, struct bt_str name)
{
	struct bt_object object;

	if (api->fail_bind) {
		bt_buf_printf(&api->bind_error, BIND_FAILS "pod %.*s: no binding now", BT_STR_ARG(name));
		return false;
	}
	if (!stored) {
		bt_buf_printf(&api->bind_error, BIND_FAILS "pods \"%.*s\" not found", BT_STR_ARG(name));
		return false;
	}
	bt_api_build(api, stored, &object);
	if (object.meta.deletion_ns) {
		bt_buf_printf(&api->bind_error,
			BIND_FAILS "pod %.*s is being deleted, cannot be assigned to a host",
			BT_STR_ARG(name));
	} else if (object.pod.spec.node_name.len) {
		bt_buf_printf(&api->bind_error, BIND_FAILS "pod %.*s is already assigned to node \"%.*s\"",
			BT_STR_ARG(name), BT_STR_ARG(object.pod.spec.node_name));
	} else if (object.pod.spec.scheduling_gates.n) {
		bt_buf_printf(&api->bind_error, BIND_FAILS "pod %.*s has non-empty .spec.schedulingGates",
			BT_STR_ARG(name));
	}
	return api->bind_error.len == 0;
}

static void note_bind_error(struct bt_api *api, uint32_t pod_ix)
{
	api->bind_errors = bt_mem_grow(
		api->bind_errors, api->bind_error_n, &api->bind_error_cap, sizeof(*api->bind_errors));
	api->bind_errors[api->bind_error_n++] =
		(struct bt_api_bind_error){pod_ix, bt_api_keep(api, bt_buf_view(&api->bind_error))};
}

/* The API call. */
static bool bind_pod(struct bt_api *api, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(api->cluster.engine);
	const struct bt_intern *intern = cache->dictionary->intern;
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	struct bt_str name = bt_intern_str(intern, pod->name);
	/* The name may belong to another pod now. */
	struct bt_api_object *stored = bt_api_find(
		api, (struct bt_str)BT_STR("Pod"), bt_intern_str(intern, pod->signature->namespace_), name);
	struct bt_object object;

	if (!can_bind(api, stored, name)) {
		bt_api_write_node_claims(api, stored, pod->signature, false);
		return false;
	}
	bt_api_write_node_claims(api, stored, pod->signature, true);
	stored->node = bt_intern_str(intern, cache->view.snapshot->nodes[pod->node_ix].name);
	stored->nominated = (struct bt_str){0};
	stored->nominated_set = true;
	bt_api_build(api, stored, &object);
	start(api, stored, &object);
	bt_api_show(api, stored);
	return true;
}

/* sign: -1 at the start of a write, 1 at its end. */
static void count_serving(struct bt_api *api, int sign)
{
	if (api->timed) {
		api->serving_ns += sign * bt_clock_monotonic_ns();
		api->serving_cpu_ns += sign * bt_clock_thread_cpu_ns();
	}
}

static void bind(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	struct bt_api *api = context;

	(void)engine;
	(void)node_ix;
	count_serving(api, -1);
	bt_buf_clear(&api->bind_error);
	bt_api_bind_pod(api, pod_ix, bind_pod);
	if (api->bind_error.len) {
		note_bind_error(api, pod_ix);
	}
	count_serving(api, 1);
}

struct bt_str bt_api_bind_error(const struct bt_api *api, uint32_t pod_ix)
{
	for (size_t i = 0; i < api->bind_error_n; i++) {
		if (api->bind_errors[i].pod_ix == pod_ix) {
			return api->bind_errors[i].text;
		}
	}
	return (struct bt_str){.len = 0};
}

/* A pod with finalizers stays, terminating; any other is deleted immediately. */
static void evict_pod(struct bt_api *api, struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_intern *intern = cache->dictionary->intern;
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	/* The engine may have an earlier pod of that name. */
	struct bt_api_object *stored = bt_api_find(api, (struct bt_str)BT_STR("Pod"),
		bt_intern_str(intern, pod->signature->namespace_), bt_intern_str(intern, pod->name));
	struct bt_object object;

	if (!stored) {
		return;
	}
	if (!stored->disrupted) {
		stored->disrupted = true;
		bt_api_show(api, stored);
	}
	bt_api_build(api, stored, &object);
	bt_buf_clear(&api->text);
	bt_buf_printf(&api->text, "%.*s/%.*s", BT_STR_ARG(stored->namespace_), BT_STR_ARG(stored->name));
	api->evicted = bt_mem_grow(api->evicted, api->evicted_n, &api->evicted_cap, sizeof(*api->evicted));
	api->evicted[api->evicted_n++] = bt_api_keep(api, bt_buf_view(&api->text));
	if (object.meta.finalizers.n == 0) {
		remove_stored(api, stored);
	} else if (stored->deletion_ns == 0) {
		stored->deletion_ns = whole_second(api);
		bt_api_show(api, stored);
	}
}

static void evict(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	struct bt_api *api = context;

	(void)for_ix;
	count_serving(api, -1);
	evict_pod(api, engine, pod_ix);
	count_serving(api, 1);
}

/* ---- time ---- */

void bt_api_advance(struct bt_api *api, int64_t ns)
{
	int64_t until = api->now_ns + ns;

	for (int64_t second = whole_second(api) + BT_QUEUE_SECOND; second <= until;
		second += BT_QUEUE_SECOND) {
		api->now_ns = second;
		bt_engine_tick(api->cluster.engine);
	}
	api->now_ns = until;
}

enum bt_status bt_api_open(struct bt_api *api, const struct bt_api_options *how, struct bt_buf *out_error)
{
	const struct bt_engine_options options = {
		.clock = bt_clock_virtual(&api->now_ns),
		.binder = {bind, api},
		.evictor = {evict, api},
		.releaser = {bt_api_release_claim, api},
		.unreserver = {bt_api_unreserve_pod, api},
		.permit = how->permit,
		.strict_order = true,
		.flush_skips_gated = true,
		.evaluate_always = !how->by_columns,
		.texts = !how->by_columns,
	};

	*api = (struct bt_api){.now_ns = BT_API_EPOCH_NS, .json = bt_json_create()};
	return bt_scenario_engine(how->release, how->config, how->gates, &options, &api->cluster, out_error);
}

void bt_api_close(struct bt_api *api)
{
	bt_scenario_close(&api->cluster);
	bt_json_destroy(api->json);
	bt_arena_fini(&api->scratch);
	bt_mem_free(api->objects);
	bt_mem_free(api->evicted);
	bt_mem_free(api->bind_errors);
	bt_mem_free(api->seen);
	for (size_t i = 0; i < api->writes_n; i++) {
		bt_prebind_writes_destroy(api->writes[i]);
	}
	bt_mem_free(api->writes);
	bt_buf_fini(&api->text);
	bt_buf_fini(&api->bind_error);
}
