/* SPDX-License-Identifier: Apache-2.0
 * The generator's nodes: machine types, zones, taints, images; and placement of bound pods.
 */
#include <stdio.h>

#include "engine/base/mem.h"
#include "tools/offline/generate/build.h"
#include "tools/offline/generate/generate_int.h"

#define NODE_PODS      110
#define PLACE_TRIES    64
#define IMAGES_A_NODE  24
#define RESERVED_MILLI 90 /* reserved for kubelet and system */
#define RESERVED_MIB   1024
#define RACK_NODES     16
#define GPU_MACHINE    7 /* of machines */

static const struct machine {
	const char *name, *arch;
	int64_t cpus, memory_gib, gpus;
	uint32_t weight;
} machines[] = {
	{"m.2xlarge", "amd64", 8, 32, 0, 20},
	{"m.4xlarge", "amd64", 16, 64, 0, 30},
	{"m.8xlarge", "amd64", 32, 128, 0, 20},
	{"m.16xlarge", "amd64", 64, 256, 0, 8},
	{"c.8xlarge", "amd64", 32, 64, 0, 10},
	{"r.4xlarge", "amd64", 16, 128, 0, 6},
	{"a.8xlarge", "arm64", 32, 128, 0, 6},
	{"g.12xlarge", "amd64", 48, 192, 8, 4},
};

#define MACHINE_N (sizeof(machines) / sizeof(machines[0]))

uint32_t bt_gen_machine_n(void)
{
	return MACHINE_N;
}

const char *bt_gen_machine_name(uint32_t machine)
{
	return machines[machine].name;
}

struct bt_str bt_gen_zone_name(struct bt_arena *arena, uint32_t zone)
{
	return bt_build_text(arena, "zone-%u", zone + 1);
}

static uint8_t draw_machine(struct bt_rng *rng, bool with_gpus)
{
	uint32_t total = 0;

	for (size_t m = 0; m < MACHINE_N; m++) {
		total += machines[m].gpus && !with_gpus ? 0 : machines[m].weight;
	}
	uint32_t at = bt_rng_below(rng, total);

	for (uint8_t m = 0; m < MACHINE_N; m++) {
		if (at < machines[m].weight) {
			return m;
		}
		at -= machines[m].weight;
	}
	return 0;
}

/* One rack in four; always the first of a zone, so that there are some. */
static bool is_gpu_rack(const struct bt_gen *gen, uint32_t zone, uint32_t rack)
{
	return bt_gen_has(gen, BT_PROFILE_RACKS) &&
	       (rack == 0 || bt_rng_at(gen->options.seed ^ 0x7261636b, (uint64_t)zone << 32 | rack) % 4 == 0);
}

void bt_gen_nodes_init(struct bt_gen *gen)
{
	bool with_gpus = bt_gen_has(gen, BT_PROFILE_FIT) || bt_gen_has(gen, BT_PROFILE_DEVICES);

	gen->nodes = bt_mem_zalloc(gen->options.node_n, sizeof(*gen->nodes));
	for (uint32_t ix = 0; ix < gen->options.node_n; ix++) {
		struct bt_rng rng = {bt_rng_at(gen->options.seed ^ 0x6e6f6465, ix)};
		uint8_t machine = draw_machine(&rng, with_gpus);
		bool tainted = bt_gen_has(gen, BT_PROFILE_TAINTS);
		uint32_t zone = ix % gen->options.zone_n, rack = ix / gen->options.zone_n / RACK_NODES;
		bool gpu_rack = is_gpu_rack(gen, zone, rack);

		machine = gpu_rack ? GPU_MACHINE : machine;

		gen->nodes[ix] = (struct bt_gen_node){
			.total = {.cpu_milli = machines[machine].cpus * 1000 - RESERVED_MILLI,
				.memory_mib = machines[machine].memory_gib * 1024 - RESERVED_MIB,
				.storage_mib = 200 * 1024,
				.gpus = machines[machine].gpus},
			.pods_free = NODE_PODS,
			.zone = zone,
			.rack = rack,
			.gpu_rack = gpu_rack,
			.machine = machine,
			.ssd = bt_gen_chance(&rng, 600),
			.batch = bt_gen_chance(&rng, 80) && tainted,
			.soft_taint = bt_gen_chance(&rng, 30) && tainted,
			.unschedulable = bt_gen_chance(&rng, 5) && tainted,
		};
		if (bt_gen_has(gen, BT_PROFILE_DEVICES) && (!bt_gen_has(gen, BT_PROFILE_FIT) || ix % 2)) {
			gen->nodes[ix].devices = (uint32_t)machines[machine].gpus;
			gen->nodes[ix].total.gpus = 0;
		}
		gen->nodes[ix].free = gen->nodes[ix].total;
	}
}

static void add_labels(
	const struct bt_gen *gen, uint32_t ix, struct bt_arena *arena, struct bt_node_object *node)
{
	const struct bt_gen_node *fact = &gen->nodes[ix];
	struct bt_str_map *labels = &node->meta.labels;

	bt_build_pair(arena, labels, bt_str("kubernetes.io/hostname"), node->meta.name);
	bt_build_pair(arena, labels, bt_str("kubernetes.io/os"), bt_str("linux"));
	bt_build_pair(arena, labels, bt_str("kubernetes.io/arch"), bt_str(machines[fact->machine].arch));
	bt_build_pair(arena, labels, bt_str("topology.kubernetes.io/region"), bt_str("region-1"));
	bt_build_pair(arena, labels, bt_str(BT_GEN_ZONE_KEY), bt_gen_zone_name(arena, fact->zone));
	bt_build_pair(arena, labels, bt_str("node.kubernetes.io/instance-type"),
		bt_str(machines[fact->machine].name));
	if (bt_gen_has(gen, BT_PROFILE_RACKS) || bt_gen_has(gen, BT_PROFILE_TOPOLOGY)) {
		bt_build_pair(arena, labels, bt_str(BT_GEN_RACK_KEY),
			bt_build_text(arena, "zone-%u-rack-%u", fact->zone + 1, fact->rack + 1));
	}
	bt_build_pair(arena, labels, bt_str("example.com/disk"), bt_str(fact->ssd ? "ssd" : "hdd"));
	bt_build_pair(arena, labels, bt_str("example.com/cpus"),
		bt_build_text(arena, "%lld", (long long)machines[fact->machine].cpus));
}

static void add_taint(struct bt_node_object *node, const char *key, const char *value, const char *effect)
{
	node->taints[node->taint_n++] = (struct bt_taint_object){
		.key = bt_str(key), .value = bt_str(value), .effect = bt_str(effect)};
}

static void add_taints(const struct bt_gen_node *fact, struct bt_arena *arena, struct bt_node_object *node)
{
	node->taints = bt_arena_zalloc(arena, 4 * sizeof(*node->taints));
	if (fact->gpu_rack) {
		add_taint(node, "nvidia.com/gpu", "present", "NoSchedule");
	}
	if (fact->batch) {
		add_taint(node, "dedicated", "batch", "NoSchedule");
	}
	if (fact->soft_taint) {
		add_taint(node, "example.com/maintenance", "soon", "PreferNoSchedule");
	}
	if (fact->unschedulable) {
		add_taint(node, "node.kubernetes.io/unschedulable", "", "NoSchedule");
	}
	node->unschedulable = fact->unschedulable;
}

static void add_resources(const struct bt_gen_node *fact, struct bt_arena *arena, struct bt_node_object *node)
{
	const struct machine *machine = &machines[fact->machine];

	bt_build_quantity(arena, &node->capacity, "cpu", bt_build_count(machine->cpus));
	bt_build_quantity(arena, &node->capacity, "memory", bt_build_mib(machine->memory_gib * 1024));
	bt_build_quantity(arena, &node->capacity, "ephemeral-storage", bt_build_mib(fact->total.storage_mib));
	bt_build_quantity(arena, &node->capacity, "pods", bt_build_count(NODE_PODS));
	bt_build_quantity(arena, &node->allocatable, "cpu", bt_build_milli(fact->total.cpu_milli));
	bt_build_quantity(arena, &node->allocatable, "memory", bt_build_mib(fact->total.memory_mib));
	bt_build_quantity(
		arena, &node->allocatable, "ephemeral-storage", bt_build_mib(fact->total.storage_mib));
	bt_build_quantity(arena, &node->allocatable, "pods", bt_build_count(NODE_PODS));
	if (fact->total.gpus > 0) {
		bt_build_quantity(arena, &node->capacity, "nvidia.com/gpu", bt_build_count(machine->gpus));
		bt_build_quantity(arena, &node->allocatable, "nvidia.com/gpu", bt_build_count(machine->gpus));
	}
}

/* A run of the catalogue from a random place, so that popular images are on many nodes and none is twice on
 * one. */
static void add_images(
	const struct bt_gen *gen, uint32_t ix, struct bt_arena *arena, struct bt_node_object *node)
{
	struct bt_rng rng = {bt_rng_at(gen->options.seed ^ 0x696d6167, ix)};
	uint32_t first = bt_rng_below(&rng, BT_GEN_IMAGE_N);

	node->images = bt_arena_zalloc(arena, IMAGES_A_NODE * sizeof(*node->images));
	for (uint32_t i = 0; i < IMAGES_A_NODE; i++) {
		uint32_t image = (first + i * 7) % BT_GEN_IMAGE_N;
		struct bt_image_object *entry = &node->images[node->image_n++];
		uint64_t digest = bt_rng_at(0x736861, image);

		*entry =
			(struct bt_image_object){.size_bytes = (20 + (int64_t)(digest % 1500)) * 1000 * 1000};
		bt_build_item(arena, &entry->names,
			bt_build_text(arena, "registry.example/app-%u@sha256:%016llx%016llx%016llx%016llx",
				image, (unsigned long long)digest,
				(unsigned long long)bt_hash_u64(digest + 1),
				(unsigned long long)bt_hash_u64(digest + 2),
				(unsigned long long)bt_hash_u64(digest + 3)));
		bt_build_item(
			arena, &entry->names, bt_build_text(arena, "registry.example/app-%u:v1", image));
	}
}

void bt_gen_node_object(
	const struct bt_gen *gen, uint32_t ix, struct bt_arena *scratch, struct bt_object *out_object)
{
	char uid[BT_GEN_UID_BYTES];

	bt_gen_uid(uid, BT_KIND_NODE, ix);
	*out_object = (struct bt_object){
		.kind = BT_KIND_NODE, .api_version = BT_STR("v1"), .kind_name = BT_STR("Node")};
	struct bt_node_object *node = &out_object->node;

	node->meta.name = bt_build_text(scratch, "node-%05u", ix + 1);
	node->meta.uid = (struct bt_str){bt_arena_copy(scratch, uid, BT_GEN_UID_BYTES), BT_GEN_UID_BYTES};
	node->meta.creation_ns = BT_GEN_EPOCH_S * 1000000000;
	add_labels(gen, ix, scratch, node);
	add_taints(&gen->nodes[ix], scratch, node);
	add_resources(&gen->nodes[ix], scratch, node);
	if (bt_gen_has(gen, BT_PROFILE_IMAGES)) {
		add_images(gen, ix, scratch, node);
	}
	node->conditions = bt_arena_zalloc(scratch, sizeof(*node->conditions));
	node->conditions[0] = (struct bt_condition_object){
		.type = BT_STR("Ready"), .status = BT_STR("True"), .reason = BT_STR("KubeletReady")};
	node->condition_n = 1;
}

static bool fits(const struct bt_gen_node *node, const struct bt_gen_signature *signature)
{
	const struct bt_gen_amount *request = &signature->request;

	if (node->unschedulable || (node->batch && !signature->tolerates_batch) ||
		(node->gpu_rack && !signature->tolerates_gpu) || (signature->ssd && !node->ssd) ||
		!(signature->machines >> node->machine & 1)) {
		return false;
	}
	if ((signature->zone >= 0 && signature->zone != node->zone) || signature->not_zone == node->zone ||
		(signature->ports & node->ports_used)) {
		return false;
	}
	return node->pods_free > 0 && request->cpu_milli <= node->free.cpu_milli &&
	       request->memory_mib <= node->free.memory_mib &&
	       request->storage_mib <= node->free.storage_mib && request->gpus <= node->free.gpus;
}

uint32_t bt_gen_place(struct bt_gen *gen, const struct bt_gen_signature *signature, struct bt_rng *rng)
{
	for (int i = 0; i < PLACE_TRIES && gen->options.node_n > 0; i++) {
		uint32_t ix = bt_rng_below(rng, gen->options.node_n);
		struct bt_gen_node *node = &gen->nodes[ix];

		if (!fits(node, signature)) {
			continue;
		}
		node->free.cpu_milli -= signature->request.cpu_milli;
		node->free.memory_mib -= signature->request.memory_mib;
		node->free.storage_mib -= signature->request.storage_mib;
		node->free.gpus -= signature->request.gpus;
		node->ports_used |= signature->ports;
		node->pods_free--;
		return ix;
	}
	return UINT32_MAX;
}
