/* SPDX-License-Identifier: Apache-2.0
 * The pods that a controller claims, as in upstream's ControllerRefManager: those whose controller it is, by
 * kind, name and UID, and whose labels its selector matches; and those without a controller that it selects,
 * which it adopts. Pods of one owner with the same labels are kept together as a group.
 *
 *   observe (every pod) --> take (each controller, once) --> queries
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/map.h"
#include "engine/model/intern.h"
#include "engine/model/label.h"
#include "engine/model/object.h"

/* Details of single pods. */
enum bt_claim_detail {
	BT_CLAIM_INDEX = 1,	/* a pod that is active or has succeeded has this completion index */
	BT_CLAIM_LEAVING_INDEX, /* a terminating pod has it */
	BT_CLAIM_NODE,		/* a pod that has not ended is on this node, or requires it by name */
	BT_CLAIM_ENDED,		/* a pod of this name has ended, and is not being deleted */
};

struct bt_owned_pods;
struct bt_pod_detail;

/* A zero-initialized one is empty. Its fields are private. */
struct bt_claims {
	struct bt_arena arena;
	struct bt_intern *intern;
	struct bt_owned_pods *groups;
	size_t group_n, group_cap;
	struct bt_pod_detail *details;
	size_t detail_n, detail_cap;
	struct bt_map by_identity, by_owner; /* group; the first of an owner's + 1, the others follow it */
};

/* The pods of one controller. */
struct bt_claimed {
	uint32_t active; /* neither ended nor being deleted */
	uint32_t succeeded;
	uint32_t leaving;      /* being deleted, and not ended */
	struct bt_map details; /* private */
};

void bt_claims_fini(struct bt_claims *claims);

/*
 * Records a pod.
 * Context : one thread at a time; allocates.
 */
void bt_claims_observe(struct bt_claims *claims, const struct bt_pod_object *pod);

/*
 * The pods of a controller. A pod is adopted once: by the first that selects it. A controller without a
 * selector has the pods whose owner reference names it, and adopts none. A missing UID, of the controller or
 * in an owner reference, matches any.
 * Context : one thread at a time; allocates.
 * Owns    : bt_claimed_fini.
 */
struct bt_claimed bt_claims_take(
	struct bt_claims *claims, struct bt_str kind, const struct bt_workload_object *controller);
void bt_claimed_fini(struct bt_claimed *claimed);

/* Does one of the pods have the detail? */
bool bt_claimed_has(const struct bt_claimed *claimed, enum bt_claim_detail what, struct bt_str text);

/* The owner that is the object's controller, or NULL. */
const struct bt_owner_object *bt_claim_controller_of(const struct bt_meta_object *meta);

/* Is a UID in an owner reference the controller's? A missing one matches. */
bool bt_claim_same_uid(struct bt_str uid, struct bt_str named);

/* Does its selector match the object's labels? One without a selector selects nothing. */
bool bt_claims_selects(struct bt_claims *claims, const struct bt_workload_object *controller,
	const struct bt_meta_object *object);
