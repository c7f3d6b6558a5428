/* SPDX-License-Identifier: Apache-2.0
 * Private state of cache/devices, shared by devices.c, device_pools.c and device_taints.c.
 */
#pragma once

#include "cache/devices.h"
#include "engine/base/index_allocator.h"

/* Cached results of CEL selectors for a slice's devices. */
struct bt_slice_memo {
	uint8_t *answers; /* answers[device * expression_n + expression]: 0 unknown, else 1 + the answer */
	/* Indexed as answers: 0 unknown, else 1 + an index in struct bt_derived_values. NULL: none. */
	uint32_t *derived;
	uint32_t expression_n;
	uint64_t epoch;		/* of the expressions' indices */
	uint64_t derived_epoch; /* of struct bt_derived_values */
};

/* Cached values of derived attributes. */
struct bt_derived_values {
	const struct bt_attribute **items; /* in arena */
	uint32_t n;
	size_t cap;
	struct bt_arena arena;
	struct bt_name_refs names; /* references to the texts */
	uint64_t epoch;		   /* grows when the cache is dropped */
};

/* Slices sorted by a key, and where each key begins. */
struct bt_slice_index {
	uint32_t *items;
	size_t n, cap;
	struct bt_map first; /* key -> place of its first one */
};

struct bt_node_pools {
	struct bt_device_pools is;
	bool known;
};

struct bt_pool_index {
	uint64_t indexed;	      /* the version of the slices in local, pooled and shared */
	uint64_t slices, snapshot;    /* the versions that nodes was built from */
	struct bt_slice_index local;  /* slices of one node, by its name */
	struct bt_slice_index pooled; /* all, by driver and pool */
	uint32_t *shared;	      /* slices that may serve any node */
	size_t shared_n;
	struct bt_node_pools *nodes; /* by node slot */
	size_t node_cap;
	struct bt_arena arena; /* pools */
	uint32_t *relevant;    /* scratch */
	size_t relevant_cap;
};

struct bt_pending {
	uint32_t pod_ix;
	struct bt_arena arena;
	struct bt_name_refs names; /* references of choices */
	struct bt_device_choice *choices;
	uint32_t n;
	uint64_t scope; /* see bt_devices_share */
};

/* DeviceTaintRules (their number is in the view), chained by equal selector. A vacant
 * entry selects no device. */
struct bt_taint_rules {
	struct bt_device_taint_rule *items;
	uint32_t *next; /* by rule: the next one of equal selector, or BT_NO_TAINT_RULE */
	struct bt_name_refs *names;
	size_t cap;
	struct bt_index_allocator vacant;
	struct bt_map ixs;			    /* name -> index */
	struct bt_map firsts[BT_TAINT_RULE_SHAPES]; /* hash of the selector -> index */
};

struct bt_devices {
	struct bt_device_store view;
	struct bt_dictionary *dictionary;
	const struct bt_snapshot *snapshot;
	const struct bt_device_judge *judge;
	void *judging;
	struct bt_arena scratch;
	/* Objects and, by the same index, their memory and references to names. */
	struct bt_resource_claim *claims;
	struct bt_resource_slice *slices;
	struct bt_device_class *classes;
	struct bt_device_use *uses;
	struct bt_arena *claim_arenas, *slice_arenas, *class_arenas;
	struct bt_name_refs *claim_names, *slice_names, *class_names; /* that they have */
	struct bt_name_refs gone;     /* names of deleted objects, held until bt_devices_release_names */
	struct bt_arena *gone_arenas; /* of deleted claims and slices */
	size_t gone_arena_n, gone_arena_cap;
	struct bt_name_refs expression_names; /* references to cached expressions */
	struct bt_index_allocator vacant_uses, vacant_classes;
	uint32_t *class_serves; /* by class: number of extended resources that it backs */
	struct bt_slice_memo *memos;
	size_t claim_cap, slice_cap, class_cap, use_cap, class_n;
	uint32_t *claim_pending_n; /* by claim: number of pending choices; above 0 the claim is pending */
	uint32_t *free_claims, *free_slices;
	size_t free_claim_n, free_claim_cap, free_slice_n, free_slice_cap;
	struct bt_map use_ixs;	   /* hash of driver, pool and device -> index */
	struct bt_map shares;	   /* hash of device and share -> index of the device */
	struct bt_map expressions; /* name -> number, below EXPRESSION_MAX */
	uint32_t expression_n;
	uint64_t expression_epoch;
	struct bt_derived_values derived;
	struct bt_pending *pending;
	size_t pending_cap;
	struct bt_map pending_ixs; /* pod index plus one -> index */
	uint64_t slice_version, share_serial, special_serial;
	struct bt_pool_index pools;
	struct bt_taint_rules taint_rules;
	struct bt_claiming_group *groups; /* and, by the same index, their memory and references to names */
	struct bt_arena *group_arenas;
	struct bt_name_refs *group_names;
	size_t group_cap;
	struct bt_index_allocator vacant_groups;
};

/* ---- device_groups.c ---- */

void bt_claiming_groups_fini(struct bt_devices *devices);

/* ---- device_taints.c ---- */

void bt_taint_rules_apply(struct bt_devices *devices, const struct bt_device_taint_rule_object *object);

/* Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_taint_rules_remove(struct bt_devices *devices, uint32_t name);

void bt_taint_rules_fini(struct bt_devices *devices);

/* Do rules without a selector select every device? Otherwise they select none. */
bool bt_taint_rules_bare_take_all(const struct bt_devices *devices);

/* The rule of that name, or NULL. */
const struct bt_device_taint_rule *bt_taint_rules_find(const struct bt_devices *devices, uint32_t name);

/* Does adding, changing or deleting a rule change taints of devices? old, new: NULL, or a rule.
 * Source: syncSlice, resourceslice/tracker of k8s.io/dynamic-resource-allocation, v0.37.2. */
bool bt_taint_rules_differ(const struct bt_devices *devices, const struct bt_device_taint_rule *old,
	const struct bt_device_taint_rule *new);

const struct bt_taint *bt_taint_rules_next(void *context, const struct bt_resource_slice *slice,
	const struct bt_device *device, uint32_t *cursor);

/* Has the claim of the watch event replaced one of the same name, whose deletion was missed? */
static inline bool bt_claim_is_other(
	const struct bt_resource_claim *claim, const struct bt_resource_claim *shown)
{
	return claim->uid != shown->uid && claim->uid > BT_NAME_EMPTY && shown->uid > BT_NAME_EMPTY;
}

/* Does the claim keep its allocation, because the watch event is, or may be, older? */
static inline bool bt_claim_is_kept(
	const struct bt_resource_claim *claim, const struct bt_resource_claim *shown)
{
	bool older = claim->written && shown->version && shown->version < claim->written;

	return (older || (claim->kept_for && !shown->allocated)) && !bt_claim_is_other(claim, shown);
}

/* The pools that a live node can reach. */
const struct bt_device_pools *bt_devices_pools(struct bt_devices *devices, uint32_t node_ix);

/* The slices of a driver's pool in the order of their indices, of any generation. Valid until a slice
 * changes. */
const uint32_t *bt_devices_slices(
	struct bt_devices *devices, uint32_t driver, uint32_t pool, uint32_t *out_n);

void bt_pool_index_fini(struct bt_pool_index *index);
