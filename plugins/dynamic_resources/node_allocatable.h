/* SPDX-License-Identifier: Apache-2.0
 * Devices that serve as resources of their node, or take of them (gate DRANodeAllocatableResources): what a
 * pod requests on a node together with its claims. Source: nodeallocatabledynamicresources.go, v1.37.2 and
 * v1.36.3. Context: the scheduling thread. Owns: results live in the store's scratch.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cache/view.h"
#include "engine/model/device.h"
#include "engine/model/signature.h"
#include "plugins/plugin.h"

/* A claim with what it has, or would get on the node; allocation NULL: nothing. */
struct bt_mapped_claim {
	uint32_t name; /* BT_NAME_NONE: the claim to be created for extended resources */
	const struct bt_allocation *allocation;
};

enum bt_mapping_outcome {
	BT_MAPS_NOTHING = 0, /* no device of theirs has to do with the node's resources */
	BT_MAPPED,	     /* claims and demand are set */
	BT_MAPPING_REFUSED,  /* text: the reason, for every pod and for preemption */
	BT_MAPPING_FAILED    /* text: why the cycle fails */
};

struct bt_mapping {
	const struct bt_node_claim *claims; /* by the names of the claims */
	uint32_t claim_n;
	struct bt_amounts demand; /* what the node must have for the pod */
	const char *text;
};

enum bt_mapping_outcome bt_map_claims(const struct bt_view *view, const struct bt_signature *signature,
	uint32_t node_ix, const struct bt_mapped_claim *claims, uint32_t claim_n, struct bt_mapping *out);

/* Has the node room for the demand? It depends on what is on the node now. */
bool bt_mapping_fits(const struct bt_view *view, uint32_t node_ix, struct bt_amounts demand);

/* The same in words: a reason of that kind for each resource, whose slot it has as arg. */
void bt_mapping_reject(const struct bt_view *view, uint32_t node_ix, struct bt_amounts demand, uint32_t kind,
	struct bt_rejection *out);

/* Why a pod cannot share an allocated claim on the node, or NULL: it can. */
const char *bt_mapped_claim_refused(const struct bt_view *view, const struct bt_signature *signature,
	uint32_t node_ix, const struct bt_resource_claim *claim);

/* The same of a claim that is being allocated for another pod of its group. Source:
 * validateNodeAllocatableDRAClaimSharing, v1.37.2; 1.36 checks pods on the node, where there are none yet. */
const char *bt_pending_claim_refused(const struct bt_view *view, const struct bt_resource_claim *claim,
	const struct bt_allocation *pending);
