/* SPDX-License-Identifier: Apache-2.0
 * The table of Workloads.
 */
#include "engine/flow/cycle/pod_workloads.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"

/* Names are never 0, so the key is not either. */
static uint64_t pod_workloads_key_of(uint32_t namespace_, uint32_t name)
{
	return (uint64_t)namespace_ << 32 | name;
}

static void forget_policies(struct bt_pod_workload *workload, struct bt_intern *intern)
{
	for (uint32_t i = 0; i < workload->policy_n; i++) {
		bt_intern_release(intern, workload->policies[i].name);
	}
	bt_mem_free(workload->policies);
	workload->policies = NULL;
	workload->policy_n = 0;
}

void bt_pod_workloads_fini(struct bt_pod_workloads *workloads, struct bt_intern *intern)
{
	for (size_t i = 0; i < workloads->n; i++) {
		forget_policies(&workloads->items[i], intern);
	}
	bt_mem_free(workloads->items);
	bt_map_fini(&workloads->ixs);
	*workloads = (struct bt_pod_workloads){.n = 0};
}

static struct bt_pod_workload *pod_workloads_find(
	const struct bt_pod_workloads *workloads, uint32_t namespace_, uint32_t name)
{
	uint32_t ix;

	return bt_map_get(&workloads->ixs, pod_workloads_key_of(namespace_, name), &ix)
		       ? &workloads->items[ix]
		       : NULL;
}

bool bt_pod_workloads_apply(struct bt_pod_workloads *workloads, struct bt_intern *intern, uint32_t namespace_,
	uint32_t name, const struct bt_pod_workload_object *object)
{
	struct bt_pod_workload *workload = pod_workloads_find(workloads, namespace_, name);
	bool known = workload;

	BT_REQUIRE(namespace_ != BT_NAME_NONE && name != BT_NAME_NONE);
	if (known) {
		forget_policies(workload, intern);
	} else {
		workloads->items = bt_mem_grow(
			workloads->items, workloads->n, &workloads->cap, sizeof(*workloads->items));
		bt_map_put(&workloads->ixs, pod_workloads_key_of(namespace_, name), (uint32_t)workloads->n);
		workload = &workloads->items[workloads->n++];
		*workload = (struct bt_pod_workload){.namespace_ = namespace_, .name = name};
		bt_intern_hold_again(intern, namespace_);
		bt_intern_hold_again(intern, name);
	}
	workload->policies = bt_mem_zalloc(object->group_n, sizeof(*workload->policies));
	workload->policy_n = object->group_n;
	for (uint32_t i = 0; i < object->group_n; i++) {
		workload->policies[i] = (struct bt_pod_workload_policy){
			.name = bt_intern_hold(intern, object->groups[i].name),
			.gang = object->groups[i].gang,
			.min_count = object->groups[i].min_count};
	}
	return known;
}

enum bt_status bt_pod_workloads_remove(
	struct bt_pod_workloads *workloads, struct bt_intern *intern, uint32_t namespace_, uint32_t name)
{
	struct bt_pod_workload *workload = pod_workloads_find(workloads, namespace_, name);

	if (!workload) {
		return BT_NOT_FOUND;
	}
	BT_INVARIANT(workloads->n > 0 && workload->namespace_ == namespace_ && workload->name == name);
	forget_policies(workload, intern);
	bt_map_remove(&workloads->ixs, pod_workloads_key_of(namespace_, name));
	const struct bt_pod_workload *last = &workloads->items[--workloads->n];
	if (workload != last) {
		*workload = *last;
		bt_map_put(&workloads->ixs, pod_workloads_key_of(workload->namespace_, workload->name),
			(uint32_t)(workload - workloads->items));
	}
	bt_intern_release(intern, namespace_);
	bt_intern_release(intern, name);
	return BT_OK;
}

const struct bt_pod_workload *bt_pod_workloads_find(
	const struct bt_pod_workloads *workloads, uint32_t namespace_, uint32_t name)
{
	return pod_workloads_find(workloads, namespace_, name);
}

const struct bt_pod_workload_policy *bt_pod_workload_policy_of(
	const struct bt_pod_workload *workload, uint32_t group)
{
	for (uint32_t i = 0; i < workload->policy_n; i++) {
		if (workload->policies[i].name == group) {
			return &workload->policies[i];
		}
	}
	return NULL;
}
