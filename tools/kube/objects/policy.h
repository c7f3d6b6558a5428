/* SPDX-License-Identifier: Apache-2.0
 * The cluster's objects by which the API server changes others that are being created: StorageClasses,
 * RuntimeClasses and LimitRanges. Context: one thread at a time; allocates.
 */
#pragma once

#include <stddef.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/model/object.h"

/* All zeroes is an empty table. Its fields are private. */
struct bt_policies {
	struct bt_object *items; /* in order of arrival */
	size_t n, cap;
	struct bt_arena arena;
};

void bt_policies_fini(struct bt_policies *policies);

/*
 * Adds a StorageClass, RuntimeClass or LimitRange, or replaces the one of its name. Others are ignored.
 * Requires: bt_defaults_scheme and bt_defaults_namespace have been applied.
 * Owns    : a copy.
 */
void bt_policies_add(struct bt_policies *policies, const struct bt_object *object);

/*
 * Sets a pod's overhead, node selector and tolerations by its RuntimeClass. A table without any RuntimeClass
 * changes nothing.
 * Returns : false with a reason in out_reason when the API server refuses the pod.
 * Owns    : what it adds belongs to the arena, or to the table.
 */
bool bt_policies_set_runtime(const struct bt_policies *policies, struct bt_pod_object *pod,
	struct bt_arena *arena, struct bt_buf *out_reason);

/* Gives a claim without a class the default StorageClass, if there is one. Owns: the table has the name. */
void bt_policies_set_class(const struct bt_policies *policies, struct bt_claim_object *claim);

/* Gives a pod's containers the requests and limits that LimitRanges of its namespace default. Owns: the arena
 * has what it adds. */
void bt_policies_set_limits(
	const struct bt_policies *policies, struct bt_pod_object *pod, struct bt_arena *arena);

/* Where an object violates a LimitRange. */
struct bt_limit_violation {
	const char *path;      /* static */
	struct bt_str limiter; /* the LimitRange's name */
};

/*
 * Checks a pod, or a claim, against the minima, maxima and ratios of the LimitRanges of its namespace.
 * Returns : whether they allow it; else with the texts of the API server in out_reason.
 */
bool bt_policies_allow_pod(const struct bt_policies *policies, const struct bt_pod_object *pod,
	struct bt_arena *arena, struct bt_limit_violation *out, struct bt_buf *out_reason);
bool bt_policies_allow_claim(const struct bt_policies *policies, const struct bt_claim_object *claim,
	struct bt_limit_violation *out, struct bt_buf *out_reason);
