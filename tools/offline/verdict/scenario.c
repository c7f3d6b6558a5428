/* SPDX-License-Identifier: Apache-2.0
 * Scenarios: parsing them and building their clusters.
 */
#include "tools/offline/verdict/scenario.h"

#include <stdlib.h>

#include "engine/base/mem.h"
#include "engine/flow/cycle/source.h"
#include "tools/format/object_reader.h"
#include "tools/kube/config/config_decode.h"
#include "tools/kube/objects/defaults.h"

static const struct bt_field scenario_fields[] = {
	{.name = BT_STR("config"), .type = BT_FIELD_RAW, .offset = offsetof(struct bt_scenario, config)},
	{.name = BT_STR("featureGates"), .type = BT_FIELD_STR, .offset = offsetof(struct bt_scenario, gates)},
	{.name = BT_STR("id"), .type = BT_FIELD_STR, .offset = offsetof(struct bt_scenario, id)},
	{.name = BT_STR("note"), .type = BT_FIELD_STR, .offset = offsetof(struct bt_scenario, note)},
	{.name = BT_STR("objects"), .type = BT_FIELD_RAW, .offset = offsetof(struct bt_scenario, objects)},
	{.name = BT_STR("pending"),
		.type = BT_FIELD_STR_LIST,
		.offset = offsetof(struct bt_scenario, pending)},
};

static const struct bt_schema scenario_schema = BT_SCHEMA(scenario_fields, struct bt_scenario);

static void scenario_explain(const struct bt_decode_error *error, struct bt_buf *out_error)
{
	/* The remedy for bad syntax mentions kubectl, which writes no scenarios. */
	const char *remedy = error->syntax ? NULL : error->remedy;

	bt_buf_printf(out_error, "%s%s%s%s%s", error->path, error->path[0] ? ": " : "", error->message,
		remedy ? "; " : "", remedy ? remedy : "");
}

bool bt_scenario_read(struct bt_json *json, struct bt_arena *arena, struct bt_scenario *out_scenario,
	struct bt_buf *out_error)
{
	struct bt_decode decode = {.json = json, .arena = arena, .strict = true};

	*out_scenario = (struct bt_scenario){.release = bt_release_default()};
	if (!bt_schema_decode(&decode, &scenario_schema, out_scenario)) {
		scenario_explain(&decode.error, out_error);
		return false;
	}
	if (out_scenario->objects.len == 0 || !out_scenario->pending.set) {
		bt_buf_text(out_error, "a scenario needs \"objects\" and \"pending\"");
		return false;
	}
	return true;
}

static enum bt_status scenario_enter(
	struct bt_scenario_cluster *cluster, struct bt_object *object, struct bt_buf *out_error)
{
	enum bt_entry entry;
	uint32_t ix;
	enum bt_status status = BT_OK;

	bt_defaults_scheme(object, &cluster->arena);
	if (object->kind == BT_KIND_POD) {
		/* A scenario contains what reached the scheduler; its watch excludes ended pods, so
		 * this one counts. */
		object->pod.phase = (struct bt_str){0};
	}
	status = bt_engine_apply(cluster->engine, object, &entry, &ix);
	if (status == BT_OK && object->kind == BT_KIND_POD && entry == BT_ENTERED_FOREIGN) {
		bt_buf_printf(out_error, "no profile is named \"%.*s\"",
			BT_STR_ARG(object->pod.spec.scheduler_name));
		return BT_NOT_FOUND;
	}
	if (status != BT_OK) {
		char name[256];

		bt_object_name(object, name, sizeof(name));
		bt_buf_printf(out_error, "%s: %s", name, bt_status_name(status));
	}
	return status;
}

/* The objects of a scenario, and their order. */
struct entrants {
	struct bt_object *objects;
	struct bt_object **order;
	size_t n, cap;
};

/* Nodes first, and each kind in the order of an API server's list. */
static int by_key(const void *a, const void *b)
{
	const struct bt_object *x = *(const struct bt_object *const *)a;
	const struct bt_object *y = *(const struct bt_object *const *)b;
	int later = (x->kind != BT_KIND_NODE) - (y->kind != BT_KIND_NODE);
	int order = later ? later : bt_str_cmp(x->meta.namespace_, y->meta.namespace_);

	order = order ? order : bt_str_cmp(x->meta.name, y->meta.name);
	return order ? order : (x > y) - (x < y);
}

static enum bt_status decode_objects(
	struct bt_json *json, struct bt_arena *arena, struct entrants *out, struct bt_buf *out_error)
{
	if (!bt_json_enter_array(json)) {
		bt_buf_text(out_error, "objects: not an array");
		return BT_INVALID;
	}
	while (bt_json_next_element(json)) {
		struct bt_decode decode = {.json = json, .arena = arena};

		out->objects = bt_mem_grow(out->objects, out->n, &out->cap, sizeof(*out->objects));
		out->objects[out->n] = (struct bt_object){0};
		if (!bt_object_decode(&decode, &out->objects[out->n++])) {
			bt_buf_text(out_error, "objects: ");
			scenario_explain(&decode.error, out_error);
			return BT_INVALID;
		}
	}
	return BT_OK;
}

/* Adds the objects in the order of the scheduler's first lists, whatever their order in the scenario. */
static enum bt_status read_objects(
	struct bt_scenario_cluster *cluster, struct bt_str text, struct bt_buf *out_error)
{
	struct bt_json *json = bt_json_create();
	struct entrants entrants = {0};

	bt_json_begin(json, text, &cluster->arena);
	enum bt_status status = decode_objects(json, &cluster->arena, &entrants, out_error);
	bt_json_destroy(json);
	entrants.order = bt_mem_zalloc(entrants.n, sizeof(*entrants.order));
	for (size_t i = 0; i < entrants.n; i++) {
		entrants.order[i] = &entrants.objects[i];
	}
	if (entrants.n) {
		qsort(entrants.order, entrants.n, sizeof(*entrants.order), by_key);
	}
	for (size_t i = 0; i < entrants.n && status == BT_OK; i++) {
		status = scenario_enter(cluster, entrants.order[i], out_error);
	}
	bt_mem_free(entrants.order);
	bt_mem_free(entrants.objects);
	return status;
}

enum bt_status bt_scenario_engine(const struct bt_release *release, struct bt_str config,
	struct bt_str gates_text, const struct bt_engine_options *options,
	struct bt_scenario_cluster *out_cluster, struct bt_buf *out_error)
{
	struct bt_config_errors errors = {0};
	struct bt_gates gates;

	*out_cluster = (struct bt_scenario_cluster){0};
	bt_gates_init(&gates, release);
	enum bt_status status = bt_gates_parse(&gates, gates_text, out_error);
	if (status != BT_OK) {
		return status;
	}
	if (config.len && !bt_str_is(config, "null")) {
		bt_config_init(&out_cluster->config, &gates);
		status = bt_config_load(&out_cluster->config, "config", config, out_error);
	} else {
		bt_config_init_default(&out_cluster->config, &gates);
	}
	if (status != BT_OK) {
		return status;
	}
	out_cluster->engine = bt_engine_create(&out_cluster->config, options, &errors);
	if (!out_cluster->engine) {
		bt_config_errors_text(&errors, out_error);
	}
	bt_config_errors_fini(&errors);
	return out_cluster->engine ? BT_OK : BT_INVALID;
}

enum bt_status bt_scenario_open(const struct bt_scenario *scenario, uint64_t seed,
	struct bt_scenario_cluster *out_cluster, struct bt_buf *out_error)
{
	const struct bt_engine_options options = {.seed = seed, .clock = bt_clock_real()};
	enum bt_status status = bt_scenario_engine(
		scenario->release, scenario->config, scenario->gates, &options, out_cluster, out_error);

	if (status == BT_OK) {
		status = read_objects(out_cluster, scenario->objects, out_error);
	}
	if (status != BT_OK) {
		bt_scenario_close(out_cluster);
	}
	return status;
}

void bt_scenario_close(struct bt_scenario_cluster *cluster)
{
	bt_engine_destroy(cluster->engine);
	bt_config_fini(&cluster->config);
	bt_arena_fini(&cluster->arena);
	*cluster = (struct bt_scenario_cluster){0};
}

uint32_t bt_scenario_find(struct bt_scenario_cluster *cluster, struct bt_str key)
{
	size_t slash = bt_str_find(key, '/', 0);

	if (slash == key.len) {
		return BT_NO_POD;
	}
	return bt_engine_find_pod(
		cluster->engine, bt_str_sub(key, 0, slash), bt_str_sub(key, slash + 1, key.len));
}
