/* SPDX-License-Identifier: Apache-2.0
 * The API server's changes to a created object: the scheme's defaults, and the admission that affects
 * scheduling. Fields that bt_object lacks are ignored.
 */
#pragma once

#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"
#include "engine/model/object.h"

/*
 * Applies the scheme's defaults, which every reader of the API sees: requests from limits, pod-level
 * requests, quantities rounded up to thousandths, scheduler name, host ports, allocatable from capacity,
 * replicas, and so on. A second call changes nothing.
 * Context : any thread; may allocate from the arena.
 * Owns    : the arena, all additions; data that the object points to is not changed, except array elements.
 */
void bt_defaults_scheme(struct bt_object *object, struct bt_arena *arena);

/* The same for a pod that is not part of a bt_object. */
void bt_defaults_pod(struct bt_pod_object *pod, struct bt_arena *arena);

/* The amount of that name in a list, or NULL. Context: any thread. */
struct bt_named_quantity *bt_resource_list_find(const struct bt_resource_list *list, struct bt_str name);

/* A pod's total requests, or limits, of its containers: init containers run one after the other, sidecars
 * keep running. Pod-level amounts and overhead are left out. Owns: the arena. */
struct bt_resource_list bt_pod_total(
	const struct bt_pod_spec_object *spec, bool limits, struct bt_arena *arena);

/* Gives an object of a namespaced kind the namespace "default" when it names none, as kubectl does. */
void bt_defaults_namespace(struct bt_object *object);

/* Merges matchLabelKeys and mismatchLabelKeys into the selectors beside them: for pods that are being created
 * only. */
void bt_defaults_match_label_keys(struct bt_pod_object *pod, struct bt_arena *arena);

/* The PriorityClasses of the input. All zeroes is an empty table, which still knows the two system classes.
 */
struct bt_priority_table {
	struct bt_priority_class_object
		*items; /* private: name, value, global_default and preemption_policy are set */
	size_t n, cap;
	struct bt_arena arena;
};

void bt_priority_table_fini(struct bt_priority_table *table);

/* Adds a class, or replaces one of the same name. Owns: a copy. */
void bt_priority_table_add(
	struct bt_priority_table *table, const struct bt_priority_class_object *priority_class);

struct bt_priority {
	struct bt_str class_name; /* the global default's name when no class was given; may be empty */
	struct bt_str preemption_policy;
	int32_t value;
};

/*
 * Looks up the priority for a priorityClassName. Pods read before their class are resolved by a call after
 * the last object.
 * Context : any thread that does not race with bt_priority_table_add; no allocation.
 * Returns : BT_OK; BT_NOT_FOUND when there is no such class, for which the API server rejects the pod.
 * Owns    : the strings belong to the table.
 */
enum bt_status bt_priority_resolve(
	const struct bt_priority_table *table, struct bt_str class_name, struct bt_priority *out_priority);

/*
 * Runs the admission that matters to the scheduler on a pod: Priority if spec.priority is absent, and the two
 * tolerations of DefaultTolerationSeconds unless the pod has equivalent ones.
 * Returns : BT_OK; BT_NOT_FOUND as bt_priority_resolve, after adding the tolerations and leaving the priority
 *           absent.
 * Owns    : what it adds belongs to the arena, or to the table.
 */
enum bt_status bt_defaults_admission(
	struct bt_pod_object *pod, const struct bt_priority_table *table, struct bt_arena *arena);
