/* SPDX-License-Identifier: Apache-2.0
 * Profiles gangs and topology: signatures whose pods come in PodGroups that want all their pods placed, or
 * none; all of them in one rack or zone.
 */
#include "tools/offline/generate/build.h"
#include "tools/offline/generate/generate_int.h"

/* Sizes of training jobs in clusters: many small ones, few large ones. */
static const uint32_t sizes[] = {2, 4, 4, 8, 8, 16, 64};

#define SIZE_N (sizeof(sizes) / sizeof(sizes[0]))

/* Profile topology: most require one rack, some one zone. */
static const char *draw_domain(const struct bt_gen *gen, bool free, struct bt_rng *rng)
{
	if (!bt_gen_has(gen, BT_PROFILE_TOPOLOGY)) {
		return NULL;
	}
	return bt_gen_chance(rng, 300) && !free ? BT_GEN_ZONE_KEY : BT_GEN_RACK_KEY;
}

/* With profile preemption groups may be on nodes already, to be preempted as a whole. */
void bt_gen_add_gang(struct bt_gen *gen, struct bt_gen_signature *signature, bool free, struct bt_rng *rng)
{
	uint32_t size = sizes[bt_rng_below(rng, SIZE_N)];
	bool drawn = bt_gen_chance(rng, 300) && !free;

	if (drawn || gen->options.gang_size) {
		signature->gang_size = gen->options.gang_size ? gen->options.gang_size : size;
		signature->gang_domain = draw_domain(gen, free, rng);
		signature->pending_only |= !bt_gen_has(gen, BT_PROFILE_PREEMPTION);
	}
}

static void describe_group(const struct bt_gen *gen, const struct bt_gen_signature *signature,
	struct bt_arena *scratch, struct bt_pod_group_object *group)
{
	const struct bt_pod_spec_object *spec = &signature->object.pod.spec;

	group->priority_class_name = spec->priority_class_name;
	group->priority = spec->priority;
	group->has_priority = spec->priority_class_name.len > 0;
	group->together = bt_gen_has(gen, BT_PROFILE_PREEMPTION);
	if (signature->gang_domain) {
		group->has_constraints = true;
		group->topology_keys = bt_build_list(scratch, bt_str(signature->gang_domain));
	}
}

bool bt_gen_join_gang(struct bt_gen *gen, struct bt_gen_signature *signature, struct bt_arena *scratch,
	bt_generate_take *take, void *context)
{
	struct bt_object *pod = &signature->object;

	if (!signature->gang_size) {
		return true;
	}
	uint64_t number = signature->made_n / signature->gang_size;
	uint64_t left = signature->member_n - number * signature->gang_size;
	bool first = signature->made_n++ % signature->gang_size == 0;

	pod->pod.spec.pod_group = bt_build_text(
		scratch, "%.*s-gang-%llu", BT_STR_ARG(signature->name), (unsigned long long)number + 1);
	if (!first) {
		return true;
	}
	struct bt_object group = bt_gen_object(
		scratch, BT_KIND_POD_GROUP, ((uint64_t)(signature - gen->signatures) << 32) + number + 1);

	group.meta.name = pod->pod.spec.pod_group;
	group.meta.namespace_ = pod->meta.namespace_;
	group.meta.creation_ns = pod->meta.creation_ns;
	group.pod_group.gang = true;
	group.pod_group.min_count = (int32_t)(left < signature->gang_size ? left : signature->gang_size);
	describe_group(gen, signature, scratch, &group.pod_group);
	return take(context, &group);
}
