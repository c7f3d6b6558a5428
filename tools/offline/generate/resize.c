/* SPDX-License-Identifier: Apache-2.0
 * Profile resize: bound pods whose spec has been raised while the kubelet still grants them half of it. A pod
 * counts for its spec, unless the kubelet reports the resize as infeasible.
 */
#include "tools/offline/generate/build.h"
#include "tools/offline/generate/generate_int.h"

#define RESIZED_PER_MILLE 200

enum { IN_PROGRESS = 0, DEFERRED, INFEASIBLE, STATE_N };

static const struct bt_condition_object conditions[STATE_N] = {
	{.type = BT_STR("PodResizeInProgress"), .status = BT_STR("True")},
	{.type = BT_STR("PodResizePending"), .status = BT_STR("True"), .reason = BT_STR("Deferred")},
	{.type = BT_STR("PodResizePending"), .status = BT_STR("True"), .reason = BT_STR("Infeasible")}};

/* Of CPU in whole thousandths and of memory in whole MiB; other resources cannot be resized. */
static struct bt_quantity half_of(const struct bt_named_quantity *wanted)
{
	if (bt_str_is(wanted->name, "cpu")) {
		return bt_build_milli((int64_t)(wanted->quantity.nano / 2000000));
	}
	if (bt_str_is(wanted->name, "memory")) {
		return bt_build_mib((int64_t)(wanted->quantity.nano / 2000000000 / 1048576));
	}
	return wanted->quantity;
}

void bt_gen_resize(const struct bt_gen *gen, struct bt_pod_object *pod, uint64_t ix, struct bt_arena *scratch)
{
	uint32_t at = bt_rng_scale(bt_rng_at(gen->options.seed ^ 0x726573697a65, ix), 1000),
		 state = at % STATE_N;
	const struct bt_resource_list *wanted = &pod->spec.containers[0].resources.requests;
	struct bt_container_status_object *status;

	if (!bt_gen_has(gen, BT_PROFILE_RESIZE)) {
		return;
	}
	pod->container_status_n = pod->condition_n = 0;
	if (at >= RESIZED_PER_MILLE || !pod->spec.node_name.len) {
		return;
	}
	status = bt_arena_zalloc(scratch, sizeof(*status));
	status->name = pod->spec.containers[0].name;
	status->resources.set = true;
	for (uint32_t i = 0; i < wanted->n; i++) {
		struct bt_quantity half = half_of(&wanted->items[i]);

		bt_build_quantity(scratch, &status->resources.requests, wanted->items[i].name.ptr, half);
		bt_build_quantity(scratch, &status->allocated, wanted->items[i].name.ptr,
			state == IN_PROGRESS ? wanted->items[i].quantity : half);
	}
	pod->container_statuses = status;
	pod->container_status_n = 1;
	pod->conditions = bt_arena_zalloc(scratch, sizeof(*pod->conditions));
	pod->conditions[0] = conditions[state];
	pod->condition_n = 1;
}
