/* SPDX-License-Identifier: Apache-2.0
 * Copies of API objects that outlive the decoder, or that may be changed without changing the original.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/model/object.h"

enum bt_copy_depth {
	BT_COPY_ALL,	/* strings too: the copy needs the arena only */
	BT_COPY_ARRAYS, /* strings stay shared with the original */
};

/* Context: any thread; allocates. Owns: the copies belong to the arena. */
struct bt_str bt_copy_str(struct bt_arena *arena, struct bt_str text);
struct bt_meta_object bt_copy_meta(
	struct bt_arena *arena, enum bt_copy_depth depth, const struct bt_meta_object *from);
struct bt_pod_spec_object bt_copy_pod_spec(
	struct bt_arena *arena, enum bt_copy_depth depth, const struct bt_pod_spec_object *from);
struct bt_pod_claim_object *bt_copy_pod_claims(
	struct bt_arena *arena, enum bt_copy_depth depth, struct bt_pod_claim_object *from, uint32_t n);
struct bt_claim_object bt_copy_claim(
	struct bt_arena *arena, enum bt_copy_depth depth, const struct bt_claim_object *from);
struct bt_workload_object bt_copy_workload(
	struct bt_arena *arena, enum bt_copy_depth depth, const struct bt_workload_object *from);
