/* SPDX-License-Identifier: Apache-2.0
 * Profile gangs: signatures whose pods come in PodGroups that want all their pods placed, or none.
 */
#include "tools/offline/generate/build.h"
#include "tools/offline/generate/generate_int.h"

/* What is trained in clusters: many small jobs, few large ones. */
static const uint32_t sizes[] = {2, 4, 4, 8, 8, 16, 64};

#define SIZE_N (sizeof(sizes) / sizeof(sizes[0]))

void bt_gen_add_gang(struct bt_gen *gen, struct bt_gen_signature *signature, struct bt_rng *rng)
{
	uint32_t size = sizes[bt_rng_below(rng, SIZE_N)];

	(void)gen;
	if (bt_gen_chance(rng, 300)) {
		signature->gang_size = size;
		signature->pending_only = true;
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
	return take(context, &group);
}
