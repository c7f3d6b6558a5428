/* SPDX-License-Identifier: Apache-2.0
 * Workloads: what each of them demands of its groups of pods. Where pods name Workloads
 * (BT_RULE_PODS_NAME_WORKLOADS) a group of pods is one group of a Workload in one replica. Source:
 * scheduling/v1alpha1, podGroupPolicy of plugins/gangscheduling, v1.35.4.
 *
 * A Workload is known by its namespace and name, names of the dictionary, as long as its object exists.
 * Writer: pod_workloads.c. Thread: the scheduling thread.
 */
#pragma once

#include "engine/base/map.h"
#include "engine/base/status.h"
#include "engine/model/intern.h"
#include "engine/model/object.h"

/* The policy of one of a Workload's groups. */
struct bt_pod_workload_policy {
	uint32_t name; /* of the group; a name, held */
	bool gang;     /* min_count of its pods are to be placed together; else its policy is basic */
	int32_t min_count;
};

struct bt_pod_workload {
	uint32_t namespace_, name; /* held */
	struct bt_pod_workload_policy *policies;
	uint32_t policy_n;
};

/* All of them. All zeroes is an empty table. Private. */
struct bt_pod_workloads {
	struct bt_pod_workload *items;
	size_t n, cap;
	struct bt_map ixs; /* by namespace and name */
};

void bt_pod_workloads_fini(struct bt_pod_workloads *workloads, struct bt_intern *intern);

/* Applies a Workload's object. Returns: whether it existed before. Requires: both are names. */
bool bt_pod_workloads_apply(struct bt_pod_workloads *workloads, struct bt_intern *intern, uint32_t namespace_,
	uint32_t name, const struct bt_pod_workload_object *object);

/* Removes its object. Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_pod_workloads_remove(
	struct bt_pod_workloads *workloads, struct bt_intern *intern, uint32_t namespace_, uint32_t name);

/* The Workload, or NULL; and its group of that name, or NULL. Valid until the table changes. */
const struct bt_pod_workload *bt_pod_workloads_find(
	const struct bt_pod_workloads *workloads, uint32_t namespace_, uint32_t name);
const struct bt_pod_workload_policy *bt_pod_workload_policy_of(
	const struct bt_pod_workload *workload, uint32_t group);
