/* SPDX-License-Identifier: Apache-2.0
 * Drives the generator: the objects, their order, and differences between pods of one signature.
 */
#include "tools/offline/generate/generate.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/offline/generate/build.h"
#include "tools/offline/generate/generate_int.h"

#define BUDGET_N_MAX	200
#define PODS_A_SECOND	1000
#define NAME_BYTES	64
#define ENDED_PER_MILLE 50
#define GOING_PER_MILLE 30
#define NS		INT64_C(1000000000)

struct bt_generate_options bt_generate_defaults(void)
{
	return (struct bt_generate_options){.pod_n = 100000,
		.seed = 1,
		.node_n = 5000,
		.zone_n = 5,
		.signature_n = 1000,
		.load = BT_GENERATE_LOAD,
		.profiles = BT_PROFILE_EVERYDAY};
}

static bool take_namespaces(struct bt_gen *gen, bt_generate_take *take, void *context)
{
	for (uint32_t i = 0; i < BT_GEN_NAMESPACE_N; i++) {
		struct bt_object object = bt_gen_object(&gen->arena, BT_KIND_NAMESPACE, i);

		object.meta.name = bt_gen_namespaces[i];
		bt_build_pair(&gen->arena, &object.meta.labels, bt_str("kubernetes.io/metadata.name"),
			bt_gen_namespaces[i]);
		if (!take(context, &object)) {
			return false;
		}
	}
	return true;
}

static bool take_classes(struct bt_gen *gen, bt_generate_take *take, void *context)
{
	if (!bt_gen_has(gen, BT_PROFILE_PRIORITY) && !bt_gen_has(gen, BT_PROFILE_PREEMPTION)) {
		return true;
	}
	for (uint32_t i = 0; i < BT_GEN_CLASS_N; i++) {
		struct bt_object object = bt_gen_object(&gen->arena, BT_KIND_PRIORITY_CLASS, i);

		object.meta.name = bt_str(bt_gen_classes[i].name);
		object.priority_class.value = bt_gen_classes[i].value;
		object.priority_class.preemption_policy = bt_str("PreemptLowerPriority");
		if (!take(context, &object)) {
			return false;
		}
	}
	return true;
}

static bool take_nodes(struct bt_gen *gen, bt_generate_take *take, void *context)
{
	struct bt_arena scratch = {0};
	bool go_on = true;

	for (uint32_t ix = 0; go_on && ix < gen->options.node_n; ix++) {
		struct bt_object object;

		bt_arena_reset(&scratch);
		bt_gen_node_object(gen, ix, &scratch, &object);
		go_on = take(context, &object) && bt_gen_take_slice(gen, ix, &scratch, take, context);
	}
	bt_arena_fini(&scratch);
	return go_on;
}

static bool take_budgets(struct bt_gen *gen, bt_generate_take *take, void *context)
{
	if (!bt_gen_has(gen, BT_PROFILE_PREEMPTION)) {
		return true;
	}
	for (uint32_t s = 0; s < gen->options.signature_n && s < BUDGET_N_MAX; s += 3) {
		struct bt_object object = bt_gen_object(&gen->arena, BT_KIND_POD_DISRUPTION_BUDGET, s);

		object.meta.name = gen->signatures[s].name;
		object.meta.namespace_ = gen->signatures[s].object.meta.namespace_;
		object.pdb.selector.set = true;
		bt_build_pair(&gen->arena, &object.pdb.selector.match_labels, bt_str("app"),
			gen->signatures[s].name);
		object.pdb.disruptions_allowed = (int32_t)(s % 4);
		if (!take(context, &object)) {
			return false;
		}
	}
	return true;
}

/* Writes the number with at least that many digits and returns how many bytes it took. */
static size_t put_number(char *out, uint64_t number, size_t digit_min)
{
	size_t n = 1;

	for (uint64_t rest = number / 10; rest > 0 || n < digit_min; rest /= 10) {
		n++;
	}
	for (size_t at = n; at > 0; at--) {
		out[at - 1] = (char)('0' + number % 10);
		number /= 10;
	}
	return n;
}

/* Writes signature-number; the name is valid until the next pod's. */
static struct bt_str pod_name(char out_name[NAME_BYTES], struct bt_str signature, uint64_t ix)
{
	memcpy(out_name, signature.ptr, signature.len);
	out_name[signature.len] = '-';
	return (struct bt_str){out_name, signature.len + 1 + put_number(out_name + signature.len + 1, ix, 1)};
}

/* Binds the pod when chance and a node allow it. Returns whether node_name was written. */
static bool bind(struct bt_gen *gen, struct bt_gen_signature *signature, uint64_t ix,
	struct bt_str *out_node_name, char out_name[NAME_BYTES])
{
	struct bt_rng rng = {bt_rng_at(gen->options.seed ^ 0x626f756e64, ix)};
	double at = (double)(bt_rng_next(&rng) >> 11) / (double)(UINT64_C(1) << 53);

	if (signature->pending_only || at >= gen->bound_chance) {
		return false;
	}
	uint32_t node = bt_gen_place(gen, signature, &rng);

	if (node == UINT32_MAX) {
		return false;
	}
	memcpy(out_name, "node-", 5);
	*out_node_name = (struct bt_str){out_name, 5 + put_number(out_name + 5, (uint64_t)node + 1, 5)};
	return true;
}

/* Profile churn: some bound pods have ended, some are being deleted. */
static void age(const struct bt_gen *gen, struct bt_pod_object *pod, uint64_t ix)
{
	uint32_t at = bt_rng_scale(bt_rng_at(gen->options.seed ^ 0x636875726e, ix), 1000);

	if (at < ENDED_PER_MILLE) {
		pod->phase = bt_str(at % 2 ? "Succeeded" : "Failed");
	} else if (at < ENDED_PER_MILLE + GOING_PER_MILLE) {
		pod->meta.deletion_ns = pod->meta.creation_ns + 3600 * NS;
		pod->meta.deletion_grace_s = 30;
	}
}

/* Objects that the pod needs come before it. */
static bool take_pod(struct bt_gen *gen, struct bt_gen_signature *signature, uint64_t ix,
	bt_generate_take *take, void *context)
{
	struct bt_arena scratch = {0};

	bt_gen_resize(gen, &signature->object.pod, ix, &scratch);
	bool go_on = bt_gen_join_gang(gen, signature, &scratch, take, context) &&
		     bt_gen_take_claim(gen, signature, ix, &scratch, take, context) &&
		     take(context, &signature->object);

	bt_arena_fini(&scratch);
	return go_on;
}

static bool take_pods(struct bt_gen *gen, bt_generate_take *take, void *context)
{
	char name[NAME_BYTES], node_name[NAME_BYTES], uid[BT_GEN_UID_BYTES];

	bt_gen_count_members(gen);
	for (uint64_t ix = 0; ix < gen->options.pod_n; ix++) {
		struct bt_gen_signature *signature = bt_gen_signature_of(gen, ix);
		struct bt_pod_object *pod = &signature->object.pod;

		pod->meta.name = pod_name(name, signature->name, ix + 1);
		bt_gen_uid(uid, BT_KIND_POD, ix + 1);
		pod->meta.uid = (struct bt_str){uid, BT_GEN_UID_BYTES};
		pod->meta.creation_ns = (BT_GEN_EPOCH_S + (int64_t)(ix / PODS_A_SECOND)) * NS;
		pod->meta.deletion_ns = 0;
		pod->meta.deletion_grace_s = 0;
		pod->spec.node_name = (struct bt_str){0};
		pod->start_ns = 0;
		pod->phase = bt_str("Pending");
		if (gen->options.bound > 0 && bind(gen, signature, ix, &pod->spec.node_name, node_name)) {
			pod->phase = bt_str("Running");
			pod->start_ns = pod->meta.creation_ns + NS;
			if (bt_gen_has(gen, BT_PROFILE_CHURN)) {
				age(gen, pod, ix);
			}
		}
		if (!take_pod(gen, signature, ix, take, context)) {
			return false;
		}
	}
	return true;
}

bool bt_generate(const struct bt_generate_options *options, bt_generate_take *take, void *context)
{
	struct bt_gen gen = {.options = *options};

	BT_REQUIRE(options->zone_n >= 1 && options->signature_n >= 1 &&
		   options->node_n <= BT_GENERATE_NODES_MAX && options->pod_n <= BT_GENERATE_PODS_MAX);
	bt_gen_nodes_init(&gen);
	bt_gen_signatures_init(&gen);
	bool complete = take_namespaces(&gen, take, context) && take_classes(&gen, take, context) &&
			bt_gen_take_device_classes(&gen, take, context) && take_nodes(&gen, take, context) &&
			take_budgets(&gen, take, context) && take_pods(&gen, take, context);

	bt_mem_free(gen.nodes);
	bt_mem_free(gen.signatures);
	bt_mem_free(gen.draw);
	bt_arena_fini(&gen.arena);
	return complete;
}
