/* SPDX-License-Identifier: Apache-2.0
 * The generator's pod specs. Requests are scaled so that all pods together request a set share of the
 * cluster.
 */
#include <stdio.h>

#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/offline/generate/build.h"
#include "tools/offline/generate/generate_int.h"

#define GPU_SHARE      0.70
#define CPU_MILLI_MAX  4000.0
#define MEMORY_MIB_MAX 16384.0
#define SCALE_ROUNDS   12
/* The first signatures, which most pods have, are unconstrained, so that no zone or pool is overloaded. */
#define FREE_FIRST_N 8

#define HOST_KEY     "kubernetes.io/hostname"
#define DISK_KEY     "example.com/disk"
#define INSTANCE_KEY "node.kubernetes.io/instance-type"

const struct bt_str bt_gen_namespaces[BT_GEN_NAMESPACE_N] = {
	BT_STR("default"), BT_STR("web"), BT_STR("data"), BT_STR("batch"), BT_STR("platform")};

const struct bt_gen_class bt_gen_classes[BT_GEN_CLASS_N] = {
	{"best-effort", -100}, {"batch", 100}, {"service", 1000}, {"urgent", 100000}};

static const struct shape {
	double cpu_milli, memory_mib;
} shapes[] = {
	{50, 64},
	{100, 128},
	{100, 256},
	{100, 512},
	{150, 256},
	{200, 256},
	{200, 512},
	{200, 1024},
	{250, 512},
	{250, 1024},
	{300, 768},
	{400, 1024},
	{500, 512},
	{500, 1024},
	{500, 2048},
	{500, 4096},
	{600, 1536},
	{750, 1024},
	{750, 3072},
	{1000, 1024},
	{1000, 2048},
	{1000, 4096},
	{1000, 8192},
	{1250, 4096},
	{1500, 3072},
	{1500, 6144},
	{2000, 2048},
	{2000, 4096},
	{2000, 8192},
	{2000, 12288},
	{2500, 8192},
	{3000, 6144},
	{4000, 4096},
	{4000, 8192},
	{4000, 16384},
};

#define SHAPE_N (sizeof(shapes) / sizeof(shapes[0]))

static struct bt_pod_spec_object *spec_of(struct bt_gen_signature *signature)
{
	return &signature->object.pod.spec;
}

static double capped(double value, double scale, double cap)
{
	return value * scale < cap ? value * scale : cap;
}

/* The factor by which the shapes' sizes are multiplied so that the expected pod has the wanted size, caps
 * considered. */
static double find_scale(const struct bt_gen *gen, const uint8_t *shape_of, bool memory, double wanted)
{
	double scale = 1;

	for (int round = 0; round < SCALE_ROUNDS; round++) {
		double sum = 0;

		for (uint32_t s = 0; s < gen->options.signature_n; s++) {
			const struct shape *shape = &shapes[shape_of[s]];

			sum += gen->signatures[s].weight *
			       (memory ? capped(shape->memory_mib, scale, MEMORY_MIB_MAX)
				       : capped(shape->cpu_milli, scale, CPU_MILLI_MAX));
		}
		scale *= wanted / sum;
		scale = scale < 0.02 ? 0.02 : scale > 1000 ? 1000 : scale;
	}
	return scale;
}

static int64_t round_to(double value, int64_t step)
{
	int64_t rounded = (int64_t)(value / (double)step + 0.5) * step;

	return rounded < step ? step : rounded;
}

/* Draws a shape for each signature and sets what its container requests. */
static void size_requests(struct bt_gen *gen)
{
	uint8_t *shape_of = bt_mem_zalloc(gen->options.signature_n, 1);
	double cpu = 0, memory = 0, pod_n = gen->options.pod_n ? (double)gen->options.pod_n : 1;

	for (uint32_t s = 0; s < gen->options.signature_n; s++) {
		shape_of[s] = (uint8_t)bt_rng_scale(bt_rng_at(gen->options.seed ^ 0x7368617065, s), SHAPE_N);
	}
	for (uint32_t n = 0; n < gen->options.node_n; n++) {
		cpu += (double)gen->nodes[n].total.cpu_milli;
		memory += (double)gen->nodes[n].total.memory_mib;
		gen->gpus_left += GPU_SHARE * (double)gen->nodes[n].total.gpus;
		gen->devices_left += GPU_SHARE * (double)gen->nodes[n].devices;
	}
	double load = gen->options.load, memory_load = load * BT_GENERATE_MEMORY_LOAD / BT_GENERATE_LOAD;
	double cpu_scale = find_scale(gen, shape_of, false, load * cpu / pod_n);
	double memory_scale = find_scale(gen, shape_of, true, memory_load * memory / pod_n);

	for (uint32_t s = 0; s < gen->options.signature_n; s++) {
		const struct shape *shape = &shapes[shape_of[s]];
		double milli = capped(shape->cpu_milli, cpu_scale, CPU_MILLI_MAX);
		double mib = capped(shape->memory_mib, memory_scale, MEMORY_MIB_MAX);

		gen->signatures[s].request.cpu_milli = round_to(milli, milli < 200    ? 5
								       : milli < 1000 ? 10
										      : 50);
		gen->signatures[s].request.memory_mib = round_to(mib, mib < 1024 ? 4 : 64);
	}
	bt_mem_free(shape_of);
}

/* Makes all requests distinct: one MiB is enough. */
static void make_distinct(struct bt_gen *gen)
{
	size_t slot_n = 16;

	while (slot_n < 4 * (size_t)gen->options.signature_n) {
		slot_n *= 2;
	}
	uint64_t *slots = bt_mem_zalloc(slot_n, sizeof(*slots));

	for (uint32_t s = 0; s < gen->options.signature_n; s++) {
		struct bt_gen_amount *request = &gen->signatures[s].request;
		uint64_t key = (uint64_t)request->cpu_milli << 32 | (uint64_t)request->memory_mib;
		size_t slot = bt_hash_u64(key) % slot_n;

		while (slots[slot] != 0) {
			if (slots[slot] == key) {
				key = (uint64_t)request->cpu_milli << 32 | (uint64_t)++request->memory_mib;
				slot = bt_hash_u64(key) % slot_n;
				continue;
			}
			slot = (slot + 1) % slot_n;
		}
		slots[slot] = key;
	}
	bt_mem_free(slots);
}

static void add_amount(
	struct bt_arena *arena, struct bt_requirements_object *resources, int64_t milli, int64_t mib)
{
	resources->set = true;
	bt_build_quantity(arena, &resources->requests, "cpu", bt_build_milli(milli));
	bt_build_quantity(arena, &resources->requests, "memory", bt_build_mib(mib));
}

static void add_init_container(
	struct bt_gen *gen, struct bt_gen_signature *signature, bool sidecar, int64_t milli, int64_t mib)
{
	struct bt_pod_spec_object *spec = spec_of(signature);
	struct bt_container_object *container = &spec->init_containers[spec->init_container_n++];

	*container = (struct bt_container_object){
		.name = bt_str(sidecar ? "sidecar" : "init"), .image = bt_str("registry.example/helper:v1")};
	if (sidecar) {
		container->restart_policy = bt_str("Always");
	}
	add_amount(&gen->arena, &container->resources, milli, mib);
}

/* Requests GPUs, unless that exceeds the cluster's remaining ones. */
static void add_gpus(struct bt_gen *gen, struct bt_gen_signature *signature, int64_t gpus)
{
	struct bt_requirements_object *main = &spec_of(signature)->containers[0].resources;
	double wanted = signature->weight * (double)gen->options.pod_n * (double)gpus;

	if (wanted > gen->gpus_left) {
		return;
	}
	gen->gpus_left -= wanted;
	signature->request.gpus = gpus;
	bt_build_quantity(&gen->arena, &main->requests, "nvidia.com/gpu", bt_build_count(gpus));
	bt_build_quantity(&gen->arena, &main->limits, "nvidia.com/gpu", bt_build_count(gpus));
}

/* Profile fit. What the pod needs in all: sidecar + max(container, init container) + overhead. */
static void add_fit(struct bt_gen *gen, struct bt_gen_signature *signature, struct bt_rng *rng)
{
	struct bt_pod_spec_object *spec = spec_of(signature);
	struct bt_requirements_object *main = &spec->containers[0].resources;
	struct bt_gen_amount *request = &signature->request;
	int64_t milli = request->cpu_milli, mib = request->memory_mib;

	spec->init_containers = bt_arena_zalloc(&gen->arena, 2 * sizeof(*spec->init_containers));
	if (bt_gen_chance(rng, 50)) {
		add_init_container(gen, signature, true, 50, 64);
		request->cpu_milli += 50;
		request->memory_mib += 64;
	}
	if (bt_gen_chance(rng, 120)) {
		int64_t factor = bt_gen_chance(rng, 200) ? 2 : 1;

		add_init_container(gen, signature, false, milli * factor, mib / 2 + 1);
		request->cpu_milli += milli * (factor - 1);
	}
	if (bt_gen_chance(rng, 100)) {
		request->storage_mib = 256 * (1 + (int64_t)bt_rng_below(rng, 8));
		bt_build_quantity(&gen->arena, &main->requests, "ephemeral-storage",
			bt_build_mib(request->storage_mib));
	}
	if (bt_gen_chance(rng, 150)) {
		bt_build_quantity(&gen->arena, &main->limits, "cpu", bt_build_milli(2 * milli));
		bt_build_quantity(&gen->arena, &main->limits, "memory", bt_build_mib(mib));
	}
	if (bt_gen_chance(rng, 20)) {
		bt_build_quantity(&gen->arena, &spec->overhead, "cpu", bt_build_milli(50));
		bt_build_quantity(&gen->arena, &spec->overhead, "memory", bt_build_mib(64));
		request->cpu_milli += 50;
		request->memory_mib += 64;
	}
	if (bt_gen_chance(rng, 15)) {
		add_gpus(gen, signature, 1 + (int64_t)bt_rng_below(rng, 2));
	}
}

static void add_required(struct bt_gen *gen, struct bt_gen_signature *signature, struct bt_rng *rng)
{
	struct bt_node_affinity_object *affinity = &spec_of(signature)->affinity.node_affinity;
	struct bt_requirement_object_list *list =
		&bt_build_required_term(&gen->arena, affinity)->match_expressions;
	struct bt_requirement_object *requirement;

	if (bt_gen_chance(rng, 400)) {
		requirement = bt_build_requirement(&gen->arena, list, INSTANCE_KEY, "In");
		signature->machines = 0;
		for (uint32_t i = 0; i < 3; i++) {
			uint32_t machine = (bt_rng_below(rng, 2) + i * 2) % bt_gen_machine_n();

			signature->machines |= (uint32_t)1 << machine;
			bt_build_item(
				&gen->arena, &requirement->values, bt_str(bt_gen_machine_name(machine)));
		}
	} else if (bt_gen_chance(rng, 700)) {
		requirement = bt_build_requirement(&gen->arena, list, BT_GEN_ZONE_KEY, "NotIn");
		signature->not_zone = bt_rng_below(rng, gen->options.zone_n);
		bt_build_item(&gen->arena, &requirement->values,
			bt_gen_zone_name(&gen->arena, (uint32_t)signature->not_zone));
	} else {
		requirement = bt_build_requirement(&gen->arena, list, "example.com/cpus", "Gt");
		bt_build_item(&gen->arena, &requirement->values, bt_str("15"));
		signature->machines &= ~(uint32_t)1;
	}
}

static void add_preferred(struct bt_gen *gen, struct bt_gen_signature *signature, struct bt_rng *rng)
{
	struct bt_node_affinity_object *affinity = &spec_of(signature)->affinity.node_affinity;
	uint32_t n = 1 + bt_rng_below(rng, 2);

	affinity->set = true;
	affinity->preferred_set = true;
	affinity->preferred = bt_arena_zalloc(&gen->arena, n * sizeof(*affinity->preferred));
	for (uint32_t i = 0; i < n; i++) {
		struct bt_preferred_node_term_object *term = &affinity->preferred[affinity->preferred_n++];
		bool by_zone = bt_gen_chance(rng, 600);
		struct bt_requirement_object *requirement = bt_build_requirement(&gen->arena,
			&term->preference.match_expressions, by_zone ? BT_GEN_ZONE_KEY : DISK_KEY, "In");

		term->weight = 1 + (int32_t)bt_rng_below(rng, 100);
		bt_build_item(&gen->arena, &requirement->values,
			by_zone ? bt_gen_zone_name(&gen->arena, bt_rng_below(rng, gen->options.zone_n))
				: bt_str("ssd"));
	}
}

/* Profile affinity. */
static void add_affinity(
	struct bt_gen *gen, struct bt_gen_signature *signature, bool free, struct bt_rng *rng)
{
	struct bt_pod_spec_object *spec = spec_of(signature);

	if (bt_gen_chance(rng, 100) && !free) {
		signature->zone = bt_rng_below(rng, gen->options.zone_n);
		bt_build_pair(&gen->arena, &spec->node_selector, bt_str(BT_GEN_ZONE_KEY),
			bt_gen_zone_name(&gen->arena, (uint32_t)signature->zone));
	} else if (bt_gen_chance(rng, 80) && !free) {
		signature->ssd = true;
		bt_build_pair(&gen->arena, &spec->node_selector, bt_str(DISK_KEY), bt_str("ssd"));
	} else if (bt_gen_chance(rng, 100) && !free && gen->options.zone_n > 1) {
		add_required(gen, signature, rng);
	}
	if (bt_gen_chance(rng, 150)) {
		add_preferred(gen, signature, rng);
	}
}

/* Profile taints. */
static void add_tolerations(struct bt_gen *gen, struct bt_gen_signature *signature, struct bt_rng *rng)
{
	struct bt_pod_spec_object *spec = spec_of(signature);

	spec->tolerations = bt_arena_zalloc(&gen->arena, 2 * sizeof(*spec->tolerations));
	if (bt_gen_chance(rng, 120)) {
		bool exists = bt_gen_chance(rng, 500);

		signature->tolerates_batch = true;
		spec->tolerations[spec->toleration_n++] =
			(struct bt_toleration_object){.key = BT_STR("dedicated"),
				.operator_ = bt_str(exists ? "Exists" : "Equal"),
				.value = bt_str(exists ? "" : "batch"),
				.effect = BT_STR("NoSchedule")};
	}
	if (bt_gen_chance(rng, 50)) {
		spec->tolerations[spec->toleration_n++] = (struct bt_toleration_object){
			.key = BT_STR("example.com/maintenance"), .operator_ = BT_STR("Exists")};
	}
}

/* Profile ports. */
static void add_port(struct bt_gen *gen, struct bt_gen_signature *signature, struct bt_rng *rng)
{
	struct bt_container_object *container = &spec_of(signature)->containers[0];
	uint32_t port = bt_rng_below(rng, BT_GEN_PORT_N);

	if (!bt_gen_chance(rng, 30)) {
		return;
	}
	signature->ports = (uint64_t)1 << port;
	container->ports = bt_arena_zalloc(&gen->arena, sizeof(*container->ports));
	container->ports[0] = (struct bt_port_object){.host_port = BT_GEN_PORT_FIRST + (int32_t)port,
		.container_port = 8080,
		.protocol = bt_str(bt_gen_chance(rng, 150) ? "UDP" : "TCP"),
		.host_ip = bt_str(bt_gen_chance(rng, 250) ? "10.0.0.1" : "")};
	container->port_n = 1;
}

static struct bt_label_selector_object select_app(struct bt_gen *gen, struct bt_str app)
{
	struct bt_label_selector_object selector = {.set = true};

	bt_build_pair(&gen->arena, &selector.match_labels, bt_str("app"), app);
	return selector;
}

/* Profile spread. */
static void add_spread(struct bt_gen *gen, struct bt_gen_signature *signature, struct bt_rng *rng)
{
	struct bt_pod_spec_object *spec = spec_of(signature);
	bool by_zone = bt_gen_chance(rng, 700), hard = by_zone && bt_gen_chance(rng, 500);

	if (!bt_gen_chance(rng, 200)) {
		return;
	}
	signature->pending_only = signature->pending_only || hard;
	spec->spread = bt_arena_zalloc(&gen->arena, sizeof(*spec->spread));
	spec->spread[0] = (struct bt_spread_constraint_object){
		.max_skew = 1 + (int32_t)bt_rng_below(rng, 4),
		.topology_key = bt_str(by_zone ? BT_GEN_ZONE_KEY : HOST_KEY),
		.when_unsatisfiable = bt_str(hard ? "DoNotSchedule" : "ScheduleAnyway"),
		.label_selector = select_app(gen, signature->name),
	};
	spec->spread_n = 1;
}

/* Profile interpod. */
static void add_interpod(struct bt_gen *gen, struct bt_gen_signature *signature, struct bt_rng *rng)
{
	struct bt_affinity_object *affinity = &spec_of(signature)->affinity;
	bool anti = bt_gen_chance(rng, 600), required = bt_gen_chance(rng, 300);
	struct bt_pod_affinity_object *part = anti ? &affinity->pod_anti_affinity : &affinity->pod_affinity;
	struct bt_pod_term_object term = {.label_selector = select_app(gen, signature->name),
		.topology_key = bt_str(anti ? HOST_KEY : BT_GEN_ZONE_KEY)};

	if (!bt_gen_chance(rng, 120)) {
		return;
	}
	part->set = true;
	if (required) {
		signature->pending_only = true;
		part->required = bt_arena_zalloc(&gen->arena, sizeof(*part->required));
		part->required[0] = term;
		part->required_n = 1;
		return;
	}
	part->preferred = bt_arena_zalloc(&gen->arena, sizeof(*part->preferred));
	part->preferred[0] = (struct bt_weighted_pod_term_object){
		.weight = 1 + (int32_t)bt_rng_below(rng, 100), .term = term};
	part->preferred_n = 1;
}

/* Profile volumes: the disks that VolumeRestrictions checks. */
static void add_volume(struct bt_gen *gen, struct bt_gen_signature *signature, struct bt_rng *rng)
{
	static const enum bt_volume_type types[] = {
		BT_VOLUME_GCE_PD, BT_VOLUME_AWS_EBS, BT_VOLUME_ISCSI, BT_VOLUME_RBD};
	struct bt_pod_spec_object *spec = spec_of(signature);
	struct bt_volume_object volume = {.name = BT_STR("data"),
		.type = types[bt_rng_below(rng, 4)],
		.source = bt_build_text(&gen->arena, "disk-%.*s", BT_STR_ARG(signature->name)),
		.read_only = bt_gen_chance(rng, 500)};

	if (!bt_gen_chance(rng, 60)) {
		return;
	}
	if (volume.type == BT_VOLUME_ISCSI) {
		volume.portal = bt_str("10.1.0.2:3260");
	}
	if (volume.type == BT_VOLUME_RBD) {
		volume.pool = bt_str("rbd");
		volume.monitors = bt_build_list(&gen->arena, bt_str("10.1.0.1:6789"));
	}
	/* Exclusive volumes: no two pods on a node may share one. */
	signature->pending_only = true;
	spec->volumes = bt_arena_zalloc(&gen->arena, sizeof(*spec->volumes));
	spec->volumes[0] = volume;
	spec->volume_n = 1;
}

static void set_class(struct bt_gen_signature *signature, const struct bt_gen_class *class)
{
	spec_of(signature)->priority_class_name = bt_str(class->name);
	spec_of(signature)->priority = class->value;
}

/* Profiles priority and preemption; the latter keeps urgent pods pending and the others at low priority. */
static void add_priority(
	struct bt_gen *gen, struct bt_gen_signature *signature, bool free, struct bt_rng *rng)
{
	bool urgent = bt_gen_chance(rng, 250) && !free;

	if (bt_gen_has(gen, BT_PROFILE_PRIORITY) && bt_gen_chance(rng, 400)) {
		set_class(signature, &bt_gen_classes[bt_rng_below(rng, BT_GEN_CLASS_N)]);
	}
	if (bt_gen_has(gen, BT_PROFILE_PREEMPTION)) {
		set_class(signature, &bt_gen_classes[urgent ? BT_GEN_CLASS_N - 1 : bt_rng_below(rng, 2)]);
		signature->pending_only = signature->pending_only || urgent;
	}
}

static void tolerate(
	struct bt_gen *gen, struct bt_pod_spec_object *spec, struct bt_toleration_object toleration)
{
	struct bt_toleration_object *more =
		bt_arena_zalloc(&gen->arena, (spec->toleration_n + 1) * sizeof(*more));

	for (uint32_t i = 0; i < spec->toleration_n; i++) {
		more[i] = spec->tolerations[i];
	}
	more[spec->toleration_n++] = toleration;
	spec->tolerations = more;
}

/* Profile racks: pods with GPUs request a whole machine's or half of them, and prefer one rack for all
 * pods of the application. */
static void add_rack_gpus(struct bt_gen *gen, struct bt_gen_signature *signature, struct bt_rng *rng)
{
	struct bt_pod_affinity_object *part = &spec_of(signature)->affinity.pod_affinity;
	int64_t gpus = bt_gen_chance(rng, 500) ? 8 : 4;

	if (!bt_gen_chance(rng, 150) || signature->request.gpus || signature->machines != UINT32_MAX) {
		return;
	}
	add_gpus(gen, signature, gpus);
	if (!signature->request.gpus) {
		return;
	}
	signature->tolerates_gpu = true;
	tolerate(gen, spec_of(signature),
		(struct bt_toleration_object){.key = BT_STR("nvidia.com/gpu"),
			.operator_ = BT_STR("Exists"),
			.effect = BT_STR("NoSchedule")});
	if (!part->set) {
		part->set = true;
		part->preferred = bt_arena_zalloc(&gen->arena, sizeof(*part->preferred));
		part->preferred[0] = (struct bt_weighted_pod_term_object){.weight = 100,
			.term = {.label_selector = select_app(gen, signature->name),
				.topology_key = BT_STR(BT_GEN_RACK_KEY)}};
		part->preferred_n = 1;
	}
}

static void add_features(struct bt_gen *gen, uint32_t ix, struct bt_rng *rng)
{
	struct bt_gen_signature *signature = &gen->signatures[ix];
	bool free = ix < FREE_FIRST_N;

	if (bt_gen_has(gen, BT_PROFILE_FIT)) {
		add_fit(gen, signature, rng);
	}
	if (bt_gen_has(gen, BT_PROFILE_AFFINITY)) {
		add_affinity(gen, signature, free, rng);
	}
	if (bt_gen_has(gen, BT_PROFILE_TAINTS)) {
		add_tolerations(gen, signature, rng);
	}
	if (bt_gen_has(gen, BT_PROFILE_PORTS) && !free) {
		add_port(gen, signature, rng);
	}
	if (bt_gen_has(gen, BT_PROFILE_GATES) && bt_gen_chance(rng, 20)) {
		spec_of(signature)->scheduling_gates =
			bt_build_list(&gen->arena, bt_str("example.com/quota"));
		signature->pending_only = true;
	}
	if (bt_gen_has(gen, BT_PROFILE_SPREAD)) {
		add_spread(gen, signature, rng);
	}
	if (bt_gen_has(gen, BT_PROFILE_INTERPOD) && !free) {
		add_interpod(gen, signature, rng);
	}
	if (bt_gen_has(gen, BT_PROFILE_VOLUMES) && !free) {
		add_volume(gen, signature, rng);
	}
	add_priority(gen, signature, free, rng);
	if (bt_gen_has(gen, BT_PROFILE_RACKS) && !free) {
		add_rack_gpus(gen, signature, rng);
	}
	if (bt_gen_has(gen, BT_PROFILE_DEVICES) && !free) {
		bt_gen_add_devices(gen, signature, rng);
	}
	if (bt_gen_has(gen, BT_PROFILE_GANGS)) {
		bt_gen_add_gang(gen, signature, free, rng);
	}
}

static void build_signature(struct bt_gen *gen, uint32_t ix)
{
	struct bt_gen_signature *signature = &gen->signatures[ix];
	struct bt_rng rng = {bt_rng_at(gen->options.seed ^ 0x7369676e, ix)};
	struct bt_pod_object *pod = &signature->object.pod;
	struct bt_container_object *container = bt_arena_zalloc(&gen->arena, sizeof(*container));

	signature->object = (struct bt_object){
		.kind = BT_KIND_POD, .api_version = BT_STR("v1"), .kind_name = BT_STR("Pod")};
	signature->name = bt_build_text(&gen->arena, "app-%u", ix);
	signature->machines = UINT32_MAX;
	signature->zone = -1;
	signature->not_zone = -1;
	pod->meta.namespace_ = bt_gen_namespaces[bt_rng_below(&rng, BT_GEN_NAMESPACE_N)];
	bt_build_pair(&gen->arena, &pod->meta.labels, bt_str("app"), signature->name);
	pod->spec.scheduler_name = bt_str("default-scheduler");
	pod->spec.restart_policy = bt_str("Always");
	pod->spec.preemption_policy = bt_str("PreemptLowerPriority");
	pod->spec.has_priority = true;
	pod->spec.containers = container;
	pod->spec.container_n = 1;
	container->name = bt_str("main");
	container->image = bt_build_text(&gen->arena, "registry.example/app-%u:v1", ix % BT_GEN_IMAGE_N);
	add_amount(&gen->arena, &container->resources, signature->request.cpu_milli,
		signature->request.memory_mib);
	add_features(gen, ix, &rng);
}

/* A table with each signature repeated by weight, so that drawing is one lookup. */
static void build_draw(struct bt_gen *gen)
{
	uint32_t signature_n = gen->options.signature_n;
	double sum = 0, at = 0;
	uint32_t next = 0;

	gen->draw_n = 1 << 16;
	while (gen->draw_n < 16 * signature_n) {
		gen->draw_n *= 2;
	}
	gen->draw = bt_mem_zalloc(gen->draw_n, sizeof(*gen->draw));
	for (uint32_t s = 0; s < signature_n; s++) {
		gen->signatures[s].weight = 1.0 / (s + 8.0);
		sum += gen->signatures[s].weight;
	}
	for (uint32_t s = 0; s < signature_n; s++) {
		gen->signatures[s].weight /= sum;
		at += gen->signatures[s].weight;
		while (next < gen->draw_n && next < at * gen->draw_n) {
			gen->draw[next++] = s;
		}
	}
}

void bt_gen_signatures_init(struct bt_gen *gen)
{
	double bindable = 0;

	gen->signatures = bt_mem_zalloc(gen->options.signature_n, sizeof(*gen->signatures));
	build_draw(gen);
	size_requests(gen);
	if (gen->options.distinct_requests) {
		make_distinct(gen);
	}
	for (uint32_t s = 0; s < gen->options.signature_n; s++) {
		build_signature(gen, s);
		bindable += gen->signatures[s].pending_only ? 0 : gen->signatures[s].weight;
	}
	gen->bound_chance = bindable > 0 ? gen->options.bound / bindable : 0;
}

struct bt_gen_signature *bt_gen_signature_of(const struct bt_gen *gen, uint64_t ix)
{
	uint64_t bits = bt_rng_at(gen->options.seed ^ 0x706f64, ix);

	return &gen->signatures[gen->draw[bt_rng_scale(bits, gen->draw_n)]];
}

/* The last gang of a signature has as many pods as are left for it. */
void bt_gen_count_members(struct bt_gen *gen)
{
	for (uint64_t ix = 0; bt_gen_has(gen, BT_PROFILE_GANGS) && ix < gen->options.pod_n; ix++) {
		bt_gen_signature_of(gen, ix)->member_n++;
	}
}
