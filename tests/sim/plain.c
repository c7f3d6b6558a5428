/* SPDX-License-Identifier: Apache-2.0
 * The simulation's plain values, and the API objects built from them.
 */
#include "plain.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/base/rng.h"
#include "tools/offline/generate/build.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define PICK(rng, of)	((of)[bt_rng_below(rng, (uint32_t)COUNT_OF(of))])
#define WIDGET		"example.com/widget"
#define ZONE_KEY	"topology.kubernetes.io/zone"
#define HOST_KEY	"kubernetes.io/hostname"

static bool chance(struct bt_rng *rng, uint32_t one_in)
{
	return bt_rng_below(rng, one_in) == 0;
}

struct sim_node_spec sim_node_spec_of(uint32_t shape)
{
	static const int64_t cpus[] = {500, 1000, 2000, 4000}, memories[] = {1024, 4096, 4096},
			     pods[] = {2, 4, 10, 110}, widgets[] = {0, 0, 2};
	struct bt_rng rng = {shape};

	return (struct sim_node_spec){
		.milli_cpu = PICK(&rng, cpus),
		.mem_mib = PICK(&rng, memories),
		.pods = PICK(&rng, pods),
		.widgets = PICK(&rng, widgets),
		.zone = bt_rng_below(&rng, 4),
		.dedicated = chance(&rng, 6),
		.unschedulable = chance(&rng, 15),
	};
}

static void add_rule(struct sim_pod_spec *spec, struct bt_rng *rng)
{
	enum sim_scope scope = chance(rng, 2) ? SIM_HOST : SIM_ZONE;

	switch (bt_rng_below(rng, 14)) {
	case 0:
		spec->zone = 1 + bt_rng_below(rng, 3);
		break;
	case 1:
		spec->port = 8080 + bt_rng_below(rng, 2);
		break;
	case 2:
		spec->apart = scope;
		break;
	case 3:
		spec->together = scope;
		break;
	case 4:
		spec->spread = scope;
		break;
	case 5:
		spec->likes = scope;
		break;
	case 6:
		spec->widgets = 1;
		break;
	case 7:
		spec->claim = bt_rng_below(rng, SIM_CLAIMS / 2);
		break;
	case 8:
		spec->gated = true;
		break;
	case 9:
		spec->foreign = chance(rng, 2);
		break;
	case 10:
		spec->apart = scope;
		spec->spread = SIM_ZONE;
		break;
	default:
		break;
	}
}

struct sim_pod_spec sim_pod_spec_of(uint32_t shape, uint32_t slot)
{
	static const int64_t cpus[] = {0, 100, 250, 250, 900}, memories[] = {0, 64, 256, 256, 900};
	static const int32_t priorities[] = {0, 0, 0, 0, -5, 100, 1000};
	struct bt_rng rng = {shape % SIM_PLAIN_SHAPES};
	struct sim_pod_spec spec = {
		.milli_cpu = PICK(&rng, cpus),
		.mem_mib = PICK(&rng, memories),
		.priority = PICK(&rng, priorities),
		.app = bt_rng_below(&rng, 3),
		.claim = SIM_NONE,
		.device_claim = SIM_NONE,
		.tolerates = chance(&rng, 4),
		.never_preempts = chance(&rng, 12),
		.finalized = chance(&rng, 10),
	};

	spec.label = spec.app;
	add_rule(&spec, &rng);
	if (shape >= SIM_PLAIN_SHAPES) {
		spec.grouped = chance(&rng, 2);
		if (!spec.grouped && chance(&rng, 2)) {
			spec.device_claim =
				2 * bt_rng_below(&rng, SIM_DEVICE_CLAIMS / 2) + sim_namespace_of(slot);
		}
	}
	if (spec.claim != SIM_NONE) {
		spec.claim = spec.claim * 2 + sim_namespace_of(slot);
	}
	return spec;
}

/* ---- names ---- */

/* Names used after every step are built once. */
#define NAMES	   SIM_PODS
#define NAME_BYTES 16

static struct bt_str name_of(
	struct bt_arena *arena, char names[NAMES][NAME_BYTES], const char *stem, uint32_t number)
{
	if (number >= NAMES) {
		return bt_build_text(arena, "%s-%" PRIu32, stem, number);
	}
	if (!names[number][0]) {
		snprintf(names[number], NAME_BYTES, "%s-%" PRIu32, stem, number);
	}
	return bt_str(names[number]);
}

struct bt_str sim_node_name(struct bt_arena *arena, uint32_t ix)
{
	static char names[NAMES][NAME_BYTES];

	return ix == SIM_NONE ? (struct bt_str){0} : name_of(arena, names, "node", ix);
}

struct bt_str sim_pod_name(struct bt_arena *arena, uint32_t slot)
{
	static char names[NAMES][NAME_BYTES];

	return name_of(arena, names, "pod", slot);
}

struct bt_str sim_namespace(struct bt_arena *arena, uint32_t slot)
{
	static char names[NAMES][NAME_BYTES];

	return name_of(arena, names, "space", sim_namespace_of(slot));
}

uint32_t sim_number_of(struct bt_str name)
{
	uint32_t number = 0, unit = 1;

	for (size_t i = name.len; i > 0 && name.ptr[i - 1] != '-'; i--) {
		number += (uint32_t)(name.ptr[i - 1] - '0') * unit;
		unit *= 10;
	}
	return number;
}

/* ---- objects ---- */

static void describe(struct bt_arena *arena, struct bt_meta_object *meta, const struct sim_object *object)
{
	meta->uid = bt_build_text(arena, "uid-%" PRIu32, object->uid);
	meta->resource_version = bt_build_text(arena, "%" PRIu64, object->version);
}

static struct bt_object *new_object(struct bt_arena *arena, enum bt_kind kind, const char *stem, uint32_t ix,
	const struct sim_object *object)
{
	struct bt_object *out = bt_arena_zalloc(arena, sizeof(*out));

	out->kind = kind;
	describe(arena, &out->meta, object);
	out->meta.name = bt_build_text(arena, "%s-%" PRIu32, stem, ix);
	return out;
}

static struct bt_str app_name(struct bt_arena *arena, uint32_t app)
{
	return bt_build_text(arena, "app-%" PRIu32, app);
}

static struct bt_str zone_name(struct bt_arena *arena, uint32_t zone)
{
	return bt_build_text(arena, "zone-%" PRIu32, zone);
}

static void add_taint(
	struct bt_arena *arena, struct bt_node_object *node, const char *key, const char *effect)
{
	if (node->taint_n == 0) {
		node->taints = bt_arena_zalloc(arena, 2 * sizeof(*node->taints));
	}
	node->taints[node->taint_n++] =
		(struct bt_taint_object){.key = bt_str(key), .effect = bt_str(effect)};
}

const struct bt_object *sim_node_object(struct bt_arena *arena, uint32_t ix, const struct sim_object *object)
{
	const struct sim_node_spec *spec = &object->node;
	struct bt_object *out = new_object(arena, BT_KIND_NODE, "node", ix, object);
	struct bt_node_object *node = &out->node;

	bt_build_pair(arena, &node->meta.labels, bt_str(HOST_KEY), node->meta.name);
	if (spec->zone) {
		bt_build_pair(arena, &node->meta.labels, bt_str(ZONE_KEY), zone_name(arena, spec->zone));
	}
	bt_build_quantity(arena, &node->allocatable, "cpu", bt_build_milli(spec->milli_cpu));
	bt_build_quantity(arena, &node->allocatable, "memory", bt_build_mib(spec->mem_mib));
	bt_build_quantity(arena, &node->allocatable, "pods", bt_build_count(spec->pods));
	if (spec->widgets) {
		bt_build_quantity(arena, &node->allocatable, WIDGET, bt_build_count(spec->widgets));
	}
	if (spec->dedicated) {
		add_taint(arena, node, "dedicated", "NoSchedule");
	}
	if (spec->broken) {
		add_taint(arena, node, "node.kubernetes.io/not-ready", "NoExecute");
	}
	node->unschedulable = spec->unschedulable;
	return out;
}

static const char *key_of(enum sim_scope scope)
{
	return scope == SIM_HOST ? HOST_KEY : ZONE_KEY;
}

/* Pods of the same application. */
static struct bt_label_selector_object like(struct bt_arena *arena, uint32_t app)
{
	struct bt_label_selector_object selector = {.set = true};

	bt_build_pair(arena, &selector.match_labels, bt_str("app"), app_name(arena, app));
	return selector;
}

static void add_term(
	struct bt_arena *arena, struct bt_pod_affinity_object *affinity, uint32_t app, enum sim_scope scope)
{
	affinity->set = true;
	affinity->required = bt_arena_zalloc(arena, sizeof(*affinity->required));
	affinity->required_n = 1;
	affinity->required[0] = (struct bt_pod_term_object){
		.label_selector = like(arena, app), .topology_key = bt_str(key_of(scope))};
}

static void add_preference(
	struct bt_arena *arena, struct bt_pod_affinity_object *affinity, uint32_t app, enum sim_scope scope)
{
	affinity->set = true;
	affinity->preferred = bt_arena_zalloc(arena, sizeof(*affinity->preferred));
	affinity->preferred_n = 1;
	affinity->preferred[0].weight = 10;
	affinity->preferred[0].term = (struct bt_pod_term_object){
		.label_selector = like(arena, app), .topology_key = bt_str(key_of(scope))};
}

static void add_spread(struct bt_arena *arena, struct bt_pod_object *pod, uint32_t app, enum sim_scope scope,
	const char *when)
{
	pod->spec.spread = bt_arena_zalloc(arena, sizeof(*pod->spec.spread));
	pod->spec.spread_n = 1;
	pod->spec.spread[0] = (struct bt_spread_constraint_object){
		.max_skew = 1,
		.topology_key = bt_str(key_of(scope)),
		.when_unsatisfiable = bt_str(when),
		.label_selector = like(arena, app),
	};
}

static void add_rules(struct bt_arena *arena, struct bt_pod_object *pod, const struct sim_pod_spec *spec)
{
	struct bt_affinity_object *affinity = &pod->spec.affinity;

	if (spec->zone) {
		bt_build_pair(
			arena, &pod->spec.node_selector, bt_str(ZONE_KEY), zone_name(arena, spec->zone));
	}
	if (spec->apart) {
		add_term(arena, &affinity->pod_anti_affinity, spec->app, spec->apart);
	}
	if (spec->together) {
		add_term(arena, &affinity->pod_affinity, spec->app, spec->together);
	}
	if (spec->likes) {
		add_preference(arena, &affinity->pod_affinity, spec->app, spec->likes);
		add_spread(arena, pod, spec->app, spec->likes, "ScheduleAnyway");
	}
	if (spec->spread) {
		add_spread(arena, pod, spec->app, spec->spread, "DoNotSchedule");
	}
	if (spec->tolerates) {
		pod->spec.tolerations = bt_arena_zalloc(arena, sizeof(*pod->spec.tolerations));
		pod->spec.tolerations[0] = (struct bt_toleration_object){
			.key = bt_str("dedicated"), .operator_ = bt_str("Exists")};
		pod->spec.toleration_n = 1;
	}
}

static void add_container(struct bt_arena *arena, struct bt_pod_object *pod, const struct sim_pod_spec *spec)
{
	struct bt_container_object *container = bt_arena_zalloc(arena, sizeof(*container));
	struct bt_resource_list *requests = &container->resources.requests;

	container->name = bt_str("main");
	container->image = bt_str("app:1");
	container->resources.set = true;
	if (spec->milli_cpu) {
		bt_build_quantity(arena, requests, "cpu", bt_build_milli(spec->milli_cpu));
	}
	if (spec->mem_mib) {
		bt_build_quantity(arena, requests, "memory", bt_build_mib(spec->mem_mib));
	}
	if (spec->widgets) {
		bt_build_quantity(arena, requests, WIDGET, bt_build_count(spec->widgets));
	}
	if (spec->port) {
		container->ports = bt_arena_zalloc(arena, sizeof(*container->ports));
		container->ports[0] = (struct bt_port_object){
			.host_port = (int32_t)spec->port, .container_port = 80, .protocol = bt_str("TCP")};
		container->port_n = 1;
	}
	pod->spec.containers = container;
	pod->spec.container_n = 1;
}

static void add_claim(struct bt_arena *arena, struct bt_pod_object *pod, uint32_t claim)
{
	pod->spec.volumes = bt_arena_zalloc(arena, sizeof(*pod->spec.volumes));
	pod->spec.volumes[0] = (struct bt_volume_object){.name = bt_str("data"),
		.type = BT_VOLUME_CLAIM,
		.source = bt_build_text(arena, "claim-%" PRIu32, claim)};
	pod->spec.volume_n = 1;
}

static void add_state(struct bt_arena *arena, struct bt_pod_object *pod, const struct sim_pod *state)
{
	pod->meta.creation_ns = state->creation_ns;
	pod->meta.deletion_ns = state->deletion_ns;
	pod->spec.node_name = sim_node_name(arena, state->node);
	pod->nominated_node_name = sim_node_name(arena, state->nominated);
	pod->phase = bt_str(state->ended ? "Succeeded" : "Pending");
	if (state->preempted) {
		pod->conditions = bt_arena_zalloc(arena, sizeof(*pod->conditions));
		pod->conditions[0] = (struct bt_condition_object){.type = bt_str("DisruptionTarget"),
			.status = bt_str("True"),
			.reason = bt_str("PreemptionByScheduler")};
		pod->condition_n = 1;
	}
}

struct bt_pod_object *sim_pod_object(struct bt_arena *arena, uint32_t slot, const struct sim_object *object)
{
	const struct sim_pod_spec *spec = &object->pod.spec;
	struct bt_pod_object *pod = bt_arena_zalloc(arena, sizeof(*pod));

	describe(arena, &pod->meta, object);
	pod->meta.name = sim_pod_name(arena, slot);
	pod->meta.namespace_ = sim_namespace(arena, slot);
	bt_build_pair(arena, &pod->meta.labels, bt_str("app"), app_name(arena, spec->label));
	pod->spec.scheduler_name = bt_str(spec->foreign ? "other-scheduler" : "default-scheduler");
	pod->spec.has_priority = true;
	pod->spec.priority = spec->priority;
	pod->spec.preemption_policy = bt_str(spec->never_preempts ? "Never" : "PreemptLowerPriority");
	add_container(arena, pod, spec);
	add_rules(arena, pod, spec);
	if (spec->gated) {
		bt_build_item(arena, &pod->spec.scheduling_gates, bt_str("example.com/wait"));
	}
	if (spec->claim != SIM_NONE) {
		add_claim(arena, pod, spec->claim);
	}
	if (spec->device_claim != SIM_NONE) {
		pod->spec.claims = bt_arena_zalloc(arena, sizeof(*pod->spec.claims));
		pod->spec.claims[0] = (struct bt_pod_claim_object){.name = bt_str("device"),
			.claim_name = bt_build_text(arena, "device-%" PRIu32, spec->device_claim)};
		pod->spec.claim_n = 1;
	}
	if (spec->grouped) {
		pod->spec.pod_group = bt_build_text(arena, "group-%" PRIu32, sim_namespace_of(slot));
	}
	add_state(arena, pod, &object->pod);
	return pod;
}

const struct bt_object *sim_claim_object(struct bt_arena *arena, uint32_t ix, const struct sim_object *object)
{
	struct bt_object *out = new_object(arena, BT_KIND_PERSISTENT_VOLUME_CLAIM, "claim", ix, object);
	struct bt_claim_object *claim = &out->claim;

	claim->meta.namespace_ = sim_namespace(arena, ix);
	claim->storage_class = bt_str("slow");
	claim->has_storage_class = true;
	claim->access_modes =
		bt_build_list(arena, bt_str(object->claim.once ? "ReadWriteOncePod" : "ReadWriteOnce"));
	claim->phase = bt_str(object->claim.bound ? "Bound" : "Pending");
	bt_build_quantity(arena, &claim->requests, "storage", bt_build_mib(1024));
	if (object->claim.bound) {
		claim->volume_name = bt_build_text(arena, "volume-%" PRIu32, ix);
		bt_build_pair(arena, &claim->meta.annotations, bt_str("pv.kubernetes.io/bind-completed"),
			bt_str("yes"));
	}
	return out;
}

const struct bt_object *sim_volume_object(
	struct bt_arena *arena, uint32_t ix, const struct sim_object *object)
{
	struct bt_object *out = new_object(arena, BT_KIND_PERSISTENT_VOLUME, "volume", ix, object);
	struct bt_persistent_volume_object *volume = &out->persistent_volume;

	volume->storage_class = bt_str("slow");
	volume->access_modes = bt_build_list(arena, bt_str("ReadWriteOnce"));
	bt_build_quantity(arena, &volume->capacity, "storage", bt_build_mib(1024));
	if (object->volume.zone) {
		struct bt_node_affinity_object affinity = {0};
		struct bt_node_term_object *term = bt_build_required_term(arena, &affinity);
		struct bt_requirement_object *in =
			bt_build_requirement(arena, &term->match_expressions, ZONE_KEY, "In");

		bt_build_item(arena, &in->values, zone_name(arena, object->volume.zone));
		volume->affinity = affinity.required;
	}
	return out;
}

const struct bt_object *sim_budget_object(
	struct bt_arena *arena, uint32_t ix, const struct sim_object *object)
{
	struct bt_object *out = new_object(arena, BT_KIND_POD_DISRUPTION_BUDGET, "budget", ix, object);
	struct bt_pdb_object *budget = &out->pdb;

	budget->meta.namespace_ = sim_namespace(arena, ix);
	budget->selector = like(arena, object->budget.app);
	budget->disruptions_allowed = object->budget.allowed;
	return out;
}

#define DRIVER "gpu.example.com"
#define CLASS  "gpu"

const struct bt_object *sim_slice_object(struct bt_arena *arena, uint32_t ix, const struct sim_object *object)
{
	struct bt_object *out = new_object(arena, BT_KIND_RESOURCE_SLICE, "slice", ix, object);
	struct bt_resource_slice_object *slice = &out->resource_slice;

	slice->driver = bt_str(DRIVER);
	slice->pool = slice->node_name = sim_node_name(arena, ix);
	slice->has_node_name = true;
	slice->generation = (int64_t)object->version;
	slice->slice_count = 1;
	slice->device_n = object->slice.device_n;
	slice->devices = bt_arena_zalloc(arena, (slice->device_n + 1) * sizeof(*slice->devices));
	for (uint32_t i = 0; i < slice->device_n; i++) {
		slice->devices[i].name = bt_build_text(arena, "dev-%" PRIu32, i);
	}
	return out;
}

static void add_allocation(struct bt_arena *arena, struct bt_resource_claim_object *claim,
	const struct sim_device_claim_spec *spec)
{
	struct bt_node_affinity_object affinity = {.set = true};
	struct bt_node_term_object *term = bt_build_required_term(arena, &affinity);
	struct bt_requirement_object *in =
		bt_build_requirement(arena, &term->match_fields, "metadata.name", "In");

	bt_build_item(arena, &in->values, sim_node_name(arena, spec->node));
	claim->allocated = true;
	claim->results = bt_arena_zalloc(arena, sizeof(*claim->results));
	claim->results[0] = (struct bt_device_result_object){.request = bt_str("main"),
		.driver = bt_str(DRIVER),
		.pool = sim_node_name(arena, spec->node),
		.device = bt_build_text(arena, "dev-%" PRIu32, spec->device)};
	claim->result_n = 1;
	claim->node_selector = affinity.required;
}

const struct bt_object *sim_device_claim_object(
	struct bt_arena *arena, uint32_t ix, const struct sim_object *object)
{
	const struct sim_device_claim_spec *spec = &object->device_claim;
	struct bt_object *out = new_object(arena, BT_KIND_RESOURCE_CLAIM, "device", ix, object);
	struct bt_resource_claim_object *claim = &out->resource_claim;

	claim->meta.namespace_ = sim_namespace(arena, ix);
	claim->requests = bt_arena_zalloc(arena, sizeof(*claim->requests));
	claim->requests[0] = (struct bt_device_request_object){.name = bt_str("main"),
		.has_exactly = true,
		.exactly = {
			.class_name = bt_str(CLASS), .allocation_mode = bt_str("ExactCount"), .count = 1}};
	claim->request_n = 1;
	claim->has_requests = true;
	if (spec->node != SIM_NONE) {
		add_allocation(arena, claim, spec);
	}
	struct bt_claim_consumer_object *users = bt_arena_zalloc(arena, spec->user_n * sizeof(*users));
	for (uint32_t i = 0; i < spec->user_n; i++) {
		users[i] = (struct bt_claim_consumer_object){.resource = bt_str("pods"),
			.uid = bt_build_text(arena, "uid-%" PRIu32, spec->users[i])};
	}
	claim->reserved_for = users;
	claim->reserved_for_n = spec->user_n;
	return out;
}

const struct bt_object *sim_device_class_object(struct bt_arena *arena)
{
	struct bt_object *out = bt_arena_zalloc(arena, sizeof(*out));

	out->kind = BT_KIND_DEVICE_CLASS;
	out->device_class.meta.name = bt_str(CLASS);
	return out;
}

const struct bt_object *sim_group_object(struct bt_arena *arena, uint32_t ix, const struct sim_object *object)
{
	struct bt_object *out = new_object(arena, BT_KIND_POD_GROUP, "group", ix, object);
	struct bt_pod_group_object *group = &out->pod_group;

	group->meta.namespace_ = sim_namespace(arena, ix);
	group->gang = object->group.min_count > 0;
	group->min_count = (int32_t)object->group.min_count;
	group->has_priority = true;
	group->priority = sim_group_priority(ix);
	return out;
}

const struct bt_object *sim_class_object(struct bt_arena *arena)
{
	struct bt_object *out = bt_arena_zalloc(arena, sizeof(*out));

	out->kind = BT_KIND_STORAGE_CLASS;
	out->storage_class.meta.name = bt_str("slow");
	out->storage_class.provisioner = bt_str("example.com/disk");
	out->storage_class.binding_mode = bt_str("Immediate");
	return out;
}
