/* SPDX-License-Identifier: Apache-2.0
 * What the ResourceClaims of a pod take of its node's resources: devices may serve as such, and take of them
 * besides. Amounts are exact until they are rounded up, once. Source: component-helpers resource, v0.37.2 and
 * v0.36.3; dynamicresources/nodeallocatabledynamicresources.go, v1.37.2 and v1.36.3.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/model/request.h"

struct bt_exact {
	uint32_t slot;
	struct bt_quantity quantity;
};

/* Quantities by slot, each slot once, in no order. */
struct bt_exacts {
	const struct bt_exact *items;
	uint32_t n;
};

/* A container names a claim of its pod: names, of the claim that in the pod's spec. */
struct bt_container_claim {
	uint32_t container, claim;
};

struct bt_container_limits {
	uint32_t container; /* a name */
	struct bt_exacts limits;
};

/* What a pod asks for besides what claims give it, by its spec alone. */
struct bt_pod_sums {
	struct bt_exacts containers, defaulted; /* of all containers; with the defaults for scores */
	struct bt_exacts limits;		/* of all containers: huge pages */
	struct bt_exacts level, level_limits;	/* the pod's own, of what it may have some */
	struct bt_exacts overhead;
	const struct bt_container_claim *refs; /* init containers first */
	const struct bt_container_limits *limited;
	uint32_t ref_n, limited_n;
};

/* What the devices of a claim take of a resource besides what they serve as. */
struct bt_node_overhead {
	uint32_t slot;
	bool has_per_pod, has_per_container;
	struct bt_quantity per_pod, per_container;
};

/* An entry of status.nodeAllocatableResourceClaimStatuses. */
struct bt_node_claim {
	uint32_t claim; /* a name */
	const uint32_t
		*containers; /* names; one that asks for several requests of the claim stands there often */
	uint32_t container_n, overhead_n;
	struct bt_exacts mapping;
	const struct bt_node_overhead *overheads;
};

/* The quantity of a slot, or NULL. */
const struct bt_quantity *bt_exacts_get(struct bt_exacts exacts, uint32_t slot);

/* A pod's sums, and what its status says of claims. Context: the owner of held. Owns: they live in arena. */
const struct bt_pod_sums *bt_pod_sums_make(struct bt_dictionary *dictionary, struct bt_name_refs *held,
	struct bt_arena *arena, const struct bt_pod_object *pod);
const struct bt_node_claim *bt_node_claims_make(struct bt_dictionary *dictionary, struct bt_name_refs *held,
	struct bt_arena *arena, const struct bt_pod_object *pod);

/* What the pod asks for with its claims: of all containers, and as a whole. Owns: it lives in arena. */
struct bt_claims_demand {
	struct bt_exacts containers; /* without what the pod asks for as a whole, and its overhead */
	struct bt_exacts limits;     /* of huge pages */
	struct bt_amounts used, used_milli;
	int64_t nonzero_milli_cpu, nonzero_memory;
};
struct bt_claims_demand bt_claims_demand(const struct bt_dictionary *dictionary, struct bt_arena *arena,
	const struct bt_pod_sums *sums, const struct bt_node_claim *claims, uint32_t claim_n);

/* What claims add to the limits of a container. */
struct bt_quantity bt_claims_of_container(
	const struct bt_node_claim *claims, uint32_t claim_n, uint32_t container, uint32_t slot);
