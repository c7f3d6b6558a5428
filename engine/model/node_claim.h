/* SPDX-License-Identifier: Apache-2.0
 * Node resources that a pod's ResourceClaims consume: devices may count as node resources, and have
 * overheads. Amounts are exact until one final rounding up. Source: component-helpers resource, v0.37.2 and
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

/* A container uses a claim of its pod. Both are names; claim: the one in the pod's spec. */
struct bt_container_claim {
	uint32_t container, claim;
};

struct bt_container_limits {
	uint32_t container; /* a name */
	struct bt_exacts limits;
};

/* The pod's requests from its spec, without claims. */
struct bt_pod_sums {
	struct bt_exacts containers, defaulted; /* of all containers; with the defaults for scores */
	struct bt_exacts limits;		/* of all containers: huge pages */
	struct bt_exacts level, level_limits;	/* pod-level, for the resources that support it */
	struct bt_exacts overhead;
	const struct bt_container_claim *refs; /* init containers first */
	const struct bt_container_limits *limited;
	uint32_t ref_n, limited_n;
};

/* Overhead of a claim's devices for a node resource. */
struct bt_node_overhead {
	uint32_t slot;
	bool has_per_pod, has_per_container;
	struct bt_quantity per_pod, per_container;
};

/* An entry of status.nodeAllocatableResourceClaimStatuses. */
struct bt_node_claim {
	uint32_t claim; /* a name */
	const uint32_t
		*containers; /* names; repeated for each request of the claim that the container uses */
	uint32_t container_n, overhead_n;
	struct bt_exacts mapping;
	const struct bt_node_overhead *overheads;
};

/* The quantity of a slot, or NULL. */
const struct bt_quantity *bt_exacts_get(struct bt_exacts exacts, uint32_t slot);

/* A pod's sums, and the claims in its status. Context: the owner of held. Owns: they live in arena. */
const struct bt_pod_sums *bt_pod_sums_make(struct bt_dictionary *dictionary, struct bt_name_refs *held,
	struct bt_arena *arena, const struct bt_pod_object *pod);
const struct bt_node_claim *bt_node_claims_make(struct bt_dictionary *dictionary, struct bt_name_refs *held,
	struct bt_arena *arena, const struct bt_pod_object *pod);

/* The claim as an API object: the mapping, also as resources, and the overheads, both sorted by resource name
 * as upstream writes them. Texts are copied. Context: the thread that may read the dictionary's names. Owns:
 * it lives in arena. */
struct bt_node_claim_object bt_node_claim_object_of(
	const struct bt_dictionary *dictionary, struct bt_arena *arena, const struct bt_node_claim *claim);

/* The pod's demand with its claims. Owns: it lives in arena. */
struct bt_claims_demand {
	struct bt_exacts containers; /* without pod-level requests and overhead */
	struct bt_exacts limits;     /* of huge pages */
	struct bt_amounts used, used_milli;
	int64_t nonzero_milli_cpu, nonzero_memory;
};
struct bt_claims_demand bt_claims_demand(const struct bt_dictionary *dictionary, struct bt_arena *arena,
	const struct bt_pod_sums *sums, const struct bt_node_claim *claims, uint32_t claim_n);

/* The amount that claims add to the limits of a container. */
struct bt_quantity bt_claims_of_container(
	const struct bt_node_claim *claims, uint32_t claim_n, uint32_t container, uint32_t slot);
