/* SPDX-License-Identifier: Apache-2.0
 * Profiles gangs and topology: signatures whose pods form PodGroups, or groups of Workloads, that need all
 * their pods placed, or none; all of them in one rack or zone.
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

/* The group of a Workload that is the whole gang. Source: Workload of scheduling.k8s.io/v1alpha1, v1.35.4. */
#define WORKERS "workers"

/* A Workload of one group, or a PodGroup. Neither priority nor topology is a Workload's. */
static struct bt_object gang_of(const struct bt_gen *gen, const struct bt_gen_signature *signature,
	struct bt_arena *scratch, uint64_t number, int32_t min_count)
{
	enum bt_kind kind = gen->options.workloads ? BT_KIND_WORKLOAD : BT_KIND_POD_GROUP;
	uint64_t id = ((uint64_t)(signature - gen->signatures) << 32) + number + 1;
	struct bt_object gang = bt_gen_object(scratch, kind, id);

	if (gen->options.workloads) {
		struct bt_workload_group_object *workers = bt_arena_zalloc(scratch, sizeof(*workers));

		*workers = (struct bt_workload_group_object){bt_str(WORKERS), true, min_count};
		gang.pod_workload.groups = workers;
		gang.pod_workload.group_n = 1;
	} else {
		gang.pod_group.gang = true;
		gang.pod_group.min_count = min_count;
		describe_group(gen, signature, scratch, &gang.pod_group);
	}
	return gang;
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

	const struct bt_str name = bt_build_text(
		scratch, "%.*s-gang-%llu", BT_STR_ARG(signature->name), (unsigned long long)number + 1);
	if (gen->options.workloads) {
		pod->pod.spec.workload_ref =
			(struct bt_workload_reference){.name = name, .pod_group = bt_str(WORKERS)};
	} else {
		pod->pod.spec.pod_group = name;
	}
	if (!first) {
		return true;
	}
	struct bt_object gang = gang_of(gen, signature, scratch, number,
		(int32_t)(left < signature->gang_size ? left : signature->gang_size));

	gang.meta.name = name;
	gang.meta.namespace_ = pod->meta.namespace_;
	gang.meta.creation_ns = pod->meta.creation_ns;
	return take(context, &gang);
}
