/* SPDX-License-Identifier: Apache-2.0
 * createNodes, createResourceDriver: nodes, and the objects that represent their devices and drivers.
 * Source: PrepareNodes, the strategies of runners.go, resourceSlice of dra.go, v1.36.3.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/offline/bench/run_int.h"

/* ---- nodes ---- */

static void set_label(
	struct bt_arena *arena, struct bt_str_map *labels, struct bt_str key, struct bt_str value)
{
	struct bt_str_pair *items = bt_arena_alloc(arena, (labels->n + 1) * sizeof(*items), 16);

	if (labels->n) {
		memcpy(items, labels->items, labels->n * sizeof(*items));
	}
	labels->items = items;
	labels->set = true;
	for (uint32_t i = 0; i < labels->n; i++) {
		if (bt_str_eq(items[i].key, key)) {
			items[i].value = value;
			return;
		}
	}
	items[labels->n++] = (struct bt_str_pair){key, value};
}

/* Sets allocatable resources, in a separate array. */
static void set_allocatable(
	struct bt_arena *arena, struct bt_node_object *node, const struct bt_resource_list *add)
{
	struct bt_resource_list *list = &node->allocatable;
	struct bt_named_quantity *items = bt_arena_alloc(arena, (list->n + add->n) * sizeof(*items), 16);

	if (list->n) {
		memcpy(items, list->items, list->n * sizeof(*items));
	}
	list->items = items;
	list->set = true;
	for (uint32_t a = 0; a < add->n; a++) {
		uint32_t i = 0;

		while (i < list->n && !bt_str_eq(items[i].name, add->items[a].name)) {
			i++;
		}
		items[i] = add->items[a];
		list->n += i == list->n;
	}
}

/* A node's driver objects. */
static void add_csi_node(
	struct bt_bench_run *run, const struct bt_bench_op_nodes *strategy, struct bt_str name)
{
	struct bt_arena *arena = &run->world.arena;
	struct bt_object object = {.kind = BT_KIND_CSI_NODE,
		.api_version = BT_STR("storage.k8s.io/v1"),
		.kind_name = BT_STR("CSINode")};
	struct bt_csi_node_driver_object *drivers =
		bt_arena_zalloc(arena, (strategy->driver_n + 1) * sizeof(*drivers));
	struct bt_buf migrated = {0};

	for (uint32_t i = 0; i < strategy->driver_n; i++) {
		const struct bt_bench_op_driver *driver = &strategy->drivers[i];

		drivers[i] =
			(struct bt_csi_node_driver_object){driver->name, driver->count, driver->has_count};
	}
	for (uint32_t i = 0; i < strategy->migrated.n; i++) {
		bt_buf_printf(&migrated, "%s%.*s", i ? "," : "", BT_STR_ARG(strategy->migrated.items[i]));
	}
	object.csi_node.meta.name = name;
	object.csi_node.drivers = drivers;
	object.csi_node.driver_n = strategy->driver_n;
	set_label(arena, &object.csi_node.meta.annotations,
		bt_str("storage.alpha.kubernetes.io/migrated-plugins"),
		bt_world_text(&run->world, "%s", migrated.ptr ? migrated.ptr : ""));
	bt_buf_fini(&migrated);
	bt_world_apply(&run->world, &object);
}

static void prepare(
	struct bt_bench_run *run, const struct bt_bench_op *op, uint64_t i, struct bt_node_object *node)
{
	const struct bt_bench_op_nodes *strategy = &op->nodes;
	struct bt_arena *arena = &run->world.arena;

	set_label(arena, &node->meta.labels, bt_str("kubernetes.io/hostname"), node->meta.name);
	if (strategy->sets_allocatable) {
		set_allocatable(arena, node, &strategy->allocatable);
	} else if (strategy->sets_label) {
		set_label(arena, &node->meta.labels, strategy->label_key,
			strategy->label_values.items[i % strategy->label_values.n]);
	} else if (strategy->sets_unique_label) {
		set_label(arena, &node->meta.labels, strategy->unique_label_key,
			bt_world_name(&run->world, bt_str("")));
	}
}

static int by_bytes(const void *a, const void *b)
{
	return bt_str_cmp(*(const struct bt_str *)a, *(const struct bt_str *)b);
}

/* Feature1, Feature2 … as upstream's own program for NodeDeclaredFeatures writes them into each node. */
static struct bt_str_list declared_features(struct bt_bench_run *run)
{
	const struct bt_param *param =
		bt_workload_param(run->plan->workload, (struct bt_str)BT_STR("numNodeDeclaredFeatures"));
	struct bt_str_list list = {.set = false};

	if (param && param->number >= 1 && param->number <= 10000 &&
		run->plan->gates.on[BT_GATE_NODE_DECLARED_FEATURES]) {
		list.n = (uint32_t)param->number;
		list.items = bt_arena_zalloc(&run->world.arena, list.n * sizeof(*list.items));
		list.set = true;
		for (uint32_t i = 0; i < list.n; i++) {
			list.items[i] = bt_world_text(&run->world, "Feature%u", i + 1);
		}
		qsort(list.items, list.n, sizeof(*list.items), by_bytes);
	}
	return list;
}

bool bt_bench_run_create_nodes(struct bt_bench_run *run, const struct bt_bench_op *op, uint32_t op_ix)
{
	const struct bt_spec *spec = op->node_template.len ? bt_bench_run_file(run, op->node_template)
							   : bt_specs_base_node(run->specs);
	const struct bt_str_list features = declared_features(run);
	struct bt_str prefix = bt_world_text(&run->world, "node-%u-", op_ix);
	struct bt_spec_object made;

	if (!spec) {
		return false;
	}
	bool varies = bt_specs_varies(run->specs, spec);
	for (int64_t i = 0; i < op->count; i++) {
		const struct bt_spec_request request = {.spec = spec,
			.index = i,
			.count = op->count,
			.kind = BT_KIND_NODE,
			.arena = &run->world.arena};

		if (!bt_bench_run_goes_on(run) ||
			((i == 0 || varies) && !bt_bench_run_object(run, &request, &made))) {
			return false;
		}
		struct bt_object node = made.object;
		if (node.meta.name.len == 0) {
			node.meta.name = bt_world_name(
				&run->world, op->node_template.len ? node.meta.generate_name : prefix);
		} else if (!bt_bench_run_name_is_free(run, op, &node)) {
			return false;
		}
		prepare(run, op, (uint64_t)i, &node.node);
		if (features.set) {
			node.node.declared_features = features;
		}
		bt_world_add_node(&run->world, &node);
		if (op->nodes.sets_allocatable) {
			add_csi_node(run, &op->nodes, node.meta.name);
		}
	}
	return true;
}

/* ---- devices ---- */

#define ATTRIBUTE_N 4

static void describe_device(struct bt_bench_run *run, struct bt_device_object *device, uint32_t i)
{
	struct bt_arena *arena = &run->world.arena;
	struct bt_attribute_object *attributes = bt_arena_zalloc(arena, ATTRIBUTE_N * sizeof(*attributes));
	struct bt_device_capacity_object *memory = bt_arena_zalloc(arena, sizeof(*memory));

	attributes[0] = (struct bt_attribute_object){
		.name = BT_STR("model"), .type = BT_ATTRIBUTE_STRING, .text = BT_STR("A100")};
	attributes[1] = (struct bt_attribute_object){
		.name = BT_STR("family"), .type = BT_ATTRIBUTE_STRING, .text = BT_STR("GPU")};
	attributes[2] = (struct bt_attribute_object){
		.name = BT_STR("driverVersion"), .type = BT_ATTRIBUTE_VERSION, .text = BT_STR("1.2.3")};
	attributes[3] = (struct bt_attribute_object){
		.name = BT_STR("dra.example.com/numa"), .type = BT_ATTRIBUTE_INT, .number = i};
	memory->name = bt_str("memory");
	(void)bt_quantity_parse(bt_str("1Gi"), &memory->value);
	*device = (struct bt_device_object){
		.name = bt_world_text(&run->world, "instance-%u", i),
		.attributes = attributes,
		.attribute_n = ATTRIBUTE_N,
		.capacities = memory,
		.capacity_n = 1,
	};
}

/* A pool for each node with a matching name, with the given number of devices. */
bool bt_bench_run_create_driver(struct bt_bench_run *run, const struct bt_bench_op *op)
{
	struct bt_device_object *devices =
		bt_arena_zalloc(&run->world.arena, ((size_t)op->count + 1) * sizeof(*devices));
	struct bt_buf pattern = {0}, name = {0};

	for (uint32_t i = 0; i < op->count; i++) {
		describe_device(run, &devices[i], i);
	}
	bt_buf_str(&pattern, op->node_pattern);
	for (size_t i = 0; i < run->world.node_n; i++) {
		struct bt_str node = run->world.nodes[i];
		struct bt_object object = {.kind = BT_KIND_RESOURCE_SLICE,
			.api_version = BT_STR("resource.k8s.io/v1"),
			.kind_name = BT_STR("ResourceSlice")};

		bt_buf_clear(&name);
		bt_buf_str(&name, node);
		if (fnmatch(pattern.ptr, name.ptr, FNM_PATHNAME) != 0) {
			continue;
		}
		object.resource_slice = (struct bt_resource_slice_object){
			.meta.name = node,
			.driver = op->driver,
			.pool = node,
			.node_name = node,
			.has_node_name = true,
			.slice_count = 1,
			.devices = devices,
			.device_n = (uint32_t)op->count,
		};
		bt_world_apply(&run->world, &object);
	}
	bt_buf_fini(&pattern);
	bt_buf_fini(&name);
	while (bt_bench_run_pump(run)) {
	}
	return run->result->end == BT_BENCH_RUN_DONE;
}
