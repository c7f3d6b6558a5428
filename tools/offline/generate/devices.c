/* SPDX-License-Identifier: Apache-2.0
 * Profile devices: GPUs that a DRA driver publishes, and pods with a ResourceClaim each, as the controller
 * makes them of a template.
 */
#include "tools/offline/generate/build.h"
#include "tools/offline/generate/generate_int.h"

#define DRIVER "gpu.example.com"

/* Of a node all devices are of one model. */
static const struct model {
	const char *name;
	int64_t memory_gib;
} models[] = {{"a40", 48}, {"a100", 80}, {"h100", 80}};

#define MODEL_N (sizeof(models) / sizeof(models[0]))

static struct bt_device_selector_object *select_by(struct bt_arena *arena, struct bt_str expression)
{
	struct bt_device_selector_object *selector = bt_arena_zalloc(arena, sizeof(*selector));

	*selector = (struct bt_device_selector_object){.has_cel = true, .expression = expression};
	return selector;
}

bool bt_gen_take_device_classes(struct bt_gen *gen, bt_generate_take *take, void *context)
{
	if (!bt_gen_has(gen, BT_PROFILE_DEVICES)) {
		return true;
	}
	struct bt_object object = bt_gen_object(&gen->arena, BT_KIND_DEVICE_CLASS, 0);

	object.meta.name = bt_str(DRIVER);
	object.device_class.selectors = select_by(&gen->arena, bt_str("device.driver == \"" DRIVER "\""));
	object.device_class.selector_n = 1;
	return take(context, &object);
}

static void build_device(
	struct bt_arena *arena, const struct model *model, uint32_t ix, struct bt_device_object *out)
{
	struct bt_attribute_object *attributes = bt_arena_zalloc(arena, 3 * sizeof(*attributes));
	struct bt_device_capacity_object *memory = bt_arena_zalloc(arena, sizeof(*memory));

	attributes[0] =
		(struct bt_attribute_object){.name = BT_STR("index"), .type = BT_ATTRIBUTE_INT, .number = ix};
	attributes[1] = (struct bt_attribute_object){
		.name = BT_STR("model"), .type = BT_ATTRIBUTE_STRING, .text = bt_str(model->name)};
	attributes[2] = (struct bt_attribute_object){
		.name = BT_STR("numa"), .type = BT_ATTRIBUTE_INT, .number = ix / 4};
	*memory = (struct bt_device_capacity_object){
		.name = BT_STR("memory"), .value = bt_build_mib(model->memory_gib * 1024)};
	*out = (struct bt_device_object){.name = bt_build_text(arena, "gpu-%u", ix),
		.attributes = attributes,
		.attribute_n = 3,
		.capacities = memory,
		.capacity_n = 1};
}

bool bt_gen_take_slice(
	struct bt_gen *gen, uint32_t node_ix, struct bt_arena *scratch, bt_generate_take *take, void *context)
{
	const struct bt_gen_node *node = &gen->nodes[node_ix];
	const struct model *model = &models[bt_rng_at(gen->options.seed ^ 0x6d6f64656c, node_ix) % MODEL_N];

	if (!node->devices) {
		return true;
	}
	struct bt_object object = bt_gen_object(scratch, BT_KIND_RESOURCE_SLICE, node_ix);
	struct bt_resource_slice_object *slice = &object.resource_slice;

	slice->node_name = bt_build_text(scratch, "node-%05u", node_ix + 1);
	slice->has_node_name = true;
	slice->meta.name = bt_build_text(scratch, "node-%05u-" DRIVER, node_ix + 1);
	slice->driver = bt_str(DRIVER);
	slice->pool = slice->node_name;
	slice->generation = 1;
	slice->slice_count = 1;
	slice->devices = bt_arena_zalloc(scratch, node->devices * sizeof(*slice->devices));
	for (; slice->device_n < node->devices; slice->device_n++) {
		build_device(scratch, model, slice->device_n, &slice->devices[slice->device_n]);
	}
	return take(context, &object);
}

/* Gives each pod of the signature a claim, unless that exceeds the cluster's remaining devices. */
void bt_gen_add_devices(struct bt_gen *gen, struct bt_gen_signature *signature, struct bt_rng *rng)
{
	struct bt_pod_spec_object *spec = &signature->object.pod.spec;
	uint32_t devices = (uint32_t)1 << bt_rng_below(rng, 3);
	double wanted = signature->weight * (double)gen->options.pod_n * devices;

	if (!bt_gen_chance(rng, 100) || wanted > gen->devices_left) {
		return;
	}
	gen->devices_left -= wanted;
	signature->devices = devices;
	signature->pending_only = true;
	spec->claims = bt_arena_zalloc(&gen->arena, sizeof(*spec->claims));
	spec->claims[0].name = bt_str("gpus");
	spec->claim_n = 1;
	bt_build_item(&gen->arena, &spec->containers[0].resources.claims, bt_str("gpus"));
}

bool bt_gen_take_claim(struct bt_gen *gen, struct bt_gen_signature *signature, uint64_t ix,
	struct bt_arena *scratch, bt_generate_take *take, void *context)
{
	const struct bt_meta_object *pod = &signature->object.meta;
	bool by_model = bt_rng_scale(bt_rng_at(gen->options.seed ^ 0x636c61696d, ix), 10) < 3;

	if (!signature->devices) {
		return true;
	}
	struct bt_object object = bt_gen_object(scratch, BT_KIND_RESOURCE_CLAIM, ix + 1);
	struct bt_device_request_object *request = bt_arena_zalloc(scratch, sizeof(*request));

	object.meta.name = bt_build_text(scratch, "%.*s-gpus", BT_STR_ARG(pod->name));
	object.meta.namespace_ = pod->namespace_;
	object.meta.creation_ns = pod->creation_ns;
	*request = (struct bt_device_request_object){.name = BT_STR("gpus"),
		.has_exactly = true,
		.exactly = {.class_name = BT_STR(DRIVER),
			.allocation_mode = BT_STR("ExactCount"),
			.count = signature->devices}};
	if (by_model) {
		request->exactly.selectors =
			select_by(scratch, bt_str("device.attributes[\"" DRIVER "\"].model == \"h100\""));
		request->exactly.selector_n = 1;
	}
	object.resource_claim.requests = request;
	object.resource_claim.request_n = 1;
	object.resource_claim.has_requests = true;
	signature->object.pod.spec.claims[0].claim_name = object.meta.name;
	return take(context, &object);
}
