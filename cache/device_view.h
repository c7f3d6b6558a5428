/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the state of dynamic resources that plugins read: ResourceClaims, ResourceSlices,
 * DeviceClasses and DeviceTaintRules.
 * owner: written by the scheduling thread between cycles only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cache/node_view.h"
#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/map.h"
#include "engine/model/device.h"
#include "engine/model/release.h"
#include "engine/model/signature.h"

#define BT_NO_CLAIM UINT32_MAX

/* DeviceTaintRules by the shape of their selectors: driver, pool and device are each set or not. */
#define BT_TAINT_RULE_SHAPES 8u
#define BT_NO_TAINT_RULE     UINT32_MAX

/* Features of dynamic resources, by gates. */
struct bt_device_features {
	bool admin_access, prioritized_list, partitionable, taints, taint_rules, binding_conditions,
		consumable_capacity, extended_resources, list_attributes, optional_operations,
		compatibility_groups, fractional_ranges, derived_attributes, node_allocatable;
	bool lists_match;		  /* constraints treat lists as sets */
	bool group_claims;		  /* PodGroups have claims */
	const struct bt_release *release; /* NULL: the default one */
};

/* What is allocated of a device, independently of the slices that list it. */
struct bt_device_use {
	uint32_t driver, pool, device;
	uint32_t shown_n;	      /* devices in slices with this driver, pool and name */
	bool allocated;		      /* to a claim, exclusively */
	uint32_t pending_n;	      /* claims of decided pods that will get it */
	uint32_t share_n;	      /* claims that have, or will get, a share of it */
	bool consumes;		      /* a share consumes capacity, even if 0 */
	struct bt_consumed *consumed; /* by all shares together */
	uint32_t consumed_n, consumed_cap;
};

/* The newest generation of a pool, limited to what a node can reach. */
struct bt_device_pool {
	uint32_t driver, pool;
	bool incomplete, invalid; /* nothing can be allocated from it */
	const uint32_t *slices;	  /* slices with devices for the node, by name */
	const uint32_t *others;	  /* slices with devices for other nodes that consume the same counters */
	const struct bt_counter *counters;
	uint32_t slice_n, other_n, counter_n;
};

/* Pools by driver and name; those with binding conditions come last. */
struct bt_device_pools {
	const struct bt_device_pool *items;
	uint32_t n;
};

/* The pending allocation of a claim for a decided pod. */
struct bt_device_choice {
	uint32_t claim_ix; /* BT_NO_CLAIM: the claim to be created for the pod's extended resources */
	struct bt_allocation allocation;
	bool shared;	/* another pod of the same cycle allocates the claim, and its
		      * choice counts the devices */
	bool withdrawn; /* that pod has allocated it since: nothing is pending any more */
};

/* A claim in a PodGroup's spec. Pods with an equal entry share it. */
struct bt_group_claim {
	enum bt_pod_claim_kind kind;
	uint32_t name;	    /* in the PodGroup's spec */
	uint32_t stated;    /* resourceClaimName, or BT_NAME_NONE */
	uint32_t template_; /* resourceClaimTemplateName, or BT_NAME_NONE */
	uint32_t claim;	    /* the ResourceClaim's name; BT_NAME_NONE: none */
};

/* The claims of a PodGroup. */
struct bt_claiming_group {
	uint32_t namespace_, name, uid;
	bool live;
	const struct bt_group_claim *claims; /* in the order of the spec */
	uint32_t claim_n;
};

enum bt_device_answer { BT_DEVICE_NO = 0, BT_DEVICE_YES, BT_DEVICE_BAD_EXPRESSION, BT_DEVICE_FAILED };

/* Evaluates expressions over devices. init: const, static. */
struct bt_device_judge {
	/* Creates an evaluator with its own memory. Owns: destroy. Requires: the release outlives it. */
	void *(*create)(const struct bt_device_features *features);
	void (*destroy)(void *judge);
	/* Matches a selector. out_error: the reason of a failure. */
	enum bt_device_answer (*match)(void *judge, struct bt_intern *intern, uint32_t expression,
		uint32_t driver, const struct bt_device *device, struct bt_buf *out_error);
	/* Evaluates the expression of a derived attribute. Returns: BT_DEVICE_YES, with out_value
	 * set except for its name; or a failure. Owns: lists live in arena; held holds the texts. */
	enum bt_device_answer (*derive)(void *judge, struct bt_name_refs *held, struct bt_arena *arena,
		uint32_t expression, uint32_t driver, const struct bt_device *device,
		struct bt_attribute *out_value, struct bt_buf *out_error);
};

/* What a store looks up; context is the store's. Tables are initialized by position, so that the compiler
 * reports a missing function. */
struct bt_device_calls {
	/* The pools that a live node can reach. Valid until a slice or a node changes. */
	const struct bt_device_pools *(*pools)(void *context, uint32_t node_ix);

	/* The live slices of a driver's pool, of any generation, by index. Valid until a slice changes. */
	const uint32_t *(*slices_of)(void *context, uint32_t driver, uint32_t pool, uint32_t *out_n);

	/* The taint of the next DeviceTaintRule that selects a device of a slice. cursor: starts as
	 * BT_NO_TAINT_RULE. Returns: NULL at the end. */
	const struct bt_taint *(*next_taint)(void *context, const struct bt_resource_slice *slice,
		const struct bt_device *device, uint32_t *cursor);

	/* The allocation that an earlier pod of this cycle's scope gives the claim, to be shared; or NULL. */
	const struct bt_allocation *(*sharing)(void *context, uint32_t claim_ix);

	/* Does an expression match a driver's device? The device may come from an older slice.
	 * single: evaluate it as a device that allows only one allocation. out_error: the reason of a
	 * failure, in upstream's words. */
	enum bt_device_answer (*match)(void *context, uint32_t expression, uint32_t driver,
		const struct bt_device *device, bool single, struct bt_buf *out_error);

	/* The value of a derived attribute's expression for a driver's device. Returns: BT_DEVICE_YES and
	 * out_value, which is valid until the next cycle begins; or a failure, with out_error. */
	enum bt_device_answer (*derive)(void *context, uint32_t expression, uint32_t driver,
		const struct bt_device *device, const struct bt_attribute **out_value,
		struct bt_buf *out_error);
};

/* Claims, slices and classes of devices. Deleted objects have live unset. */
struct bt_device_store {
	uint64_t version; /* grows with every change, also of allocations */
	struct bt_device_features features;
	const struct bt_resource_claim *claims;
	const struct bt_resource_slice *slices;
	const struct bt_device_class *classes;
	const struct bt_device_use *uses;
	const struct bt_device_taint_rule *taint_rules;
	const struct bt_claiming_group *groups;
	uint32_t claim_n, slice_n, use_n, taint_rule_n, group_n; /* including vacant entries */
	struct bt_map group_ixs; /* namespace and name of a PodGroup -> index; empty without the gate */
	uint64_t scope;		 /* of the cycle's pod; see bt_devices_share */
	/* Names to indices; resource_classes: of extended resources to classes. */
	struct bt_map claim_ixs, slice_ixs, class_ixs, resource_classes;
	uint32_t special_n;	    /* live claims created for extended resources */
	uint32_t pending_n;	    /* decided pods with pending choices */
	uint32_t pod_name, pod_uid; /* of the cycle's pod */
	int64_t now_ns;		    /* start of the cycle; INT64_MAX: unknown */
	/* The plugin's memory for one cycle. marks: by use; all zero between searches. */
	struct bt_arena *scratch;
	uint32_t *marks;
	void *context;
	const struct bt_device_calls *calls;
};

/* Identifies a pod among a claim's consumers: by its UID, or without one, as in hand-written files, by its
 * name, which is unique among the claim's consumers. */
static inline uint32_t bt_consumer_uid(uint32_t pod_name, uint32_t pod_uid)
{
	return pod_uid ? pod_uid : pod_name;
}

static inline const struct bt_resource_claim *bt_device_store_claim(
	const struct bt_device_store *store, uint32_t namespace_, uint32_t name)
{
	uint32_t ix;

	return bt_map_get(&store->claim_ixs, bt_pair_key(namespace_, name), &ix) && store->claims[ix].live
		       ? &store->claims[ix]
		       : NULL;
}

/* The PodGroup of a pod, or NULL: the pod has none, the object does not exist, or the gate for claims of
 * PodGroups is off. */
static inline const struct bt_claiming_group *bt_device_store_group(
	const struct bt_device_store *store, const struct bt_signature *signature)
{
	uint32_t ix;

	return signature->pod_group != BT_NAME_NONE &&
			       bt_map_get(&store->group_ixs,
				       bt_pair_key(signature->namespace_, signature->pod_group), &ix)
		       ? &store->groups[ix]
		       : NULL;
}

/* The consumer for which a pod's claim is reserved: its PodGroup, if it has an equal entry; else the pod, by
 * bt_consumer_uid. Source: BindTo, resourceclaim of k8s.io/dynamic-resource-allocation, v0.36.3. */
static inline struct bt_claim_consumer bt_device_store_consumer(const struct bt_device_store *store,
	const struct bt_signature *signature, const struct bt_pod_claim *named, uint32_t pod_uid)
{
	const struct bt_claiming_group *group = bt_device_store_group(store, signature);
	uint32_t stated = named->kind == BT_POD_CLAIM_NAMED ? named->claim : BT_NAME_NONE;

	for (uint32_t i = 0; group && i < group->claim_n; i++) {
		const struct bt_group_claim *claim = &group->claims[i];

		if (claim->name == named->name && claim->stated == stated &&
			claim->template_ == named->template_) {
			return (struct bt_claim_consumer){group->uid, group->name};
		}
	}
	return (struct bt_claim_consumer){pod_uid, BT_NAME_NONE};
}

/* Is a claim reserved for a pod, or for its PodGroup, which the pod identifies only by name? pod_uid:
 * bt_consumer_uid. Source: IsReservedForPod, as above. */
static inline bool bt_device_store_reserved(const struct bt_device_store *store,
	const struct bt_resource_claim *claim, const struct bt_signature *signature, uint32_t pod_uid)
{
	bool by_group = store->features.group_claims && signature->pod_group != BT_NAME_NONE;

	for (uint32_t i = 0; i < claim->reserved_n; i++) {
		if (claim->reserved_for[i].uid == pod_uid ||
			(by_group && claim->reserved_for[i].pod_group == signature->pod_group)) {
			return true;
		}
	}
	return false;
}

static inline const struct bt_device_class *bt_device_store_class(
	const struct bt_device_store *store, uint32_t name)
{
	uint32_t ix;

	return bt_map_get(&store->class_ixs, name, &ix) && store->classes[ix].live ? &store->classes[ix]
										   : NULL;
}

/* The class that backs an extended resource, or NULL. */
static inline const struct bt_device_class *bt_device_store_resource(
	const struct bt_device_store *store, uint32_t resource)
{
	uint32_t ix;

	return bt_map_get(&store->resource_classes, resource, &ix) ? &store->classes[ix] : NULL;
}

/* Does the node selection of a slice or device include the node? Source: NodeMatches, v1.36.3. */
static inline bool bt_device_reaches(const struct bt_snapshot *snapshot, uint32_t node_ix, uint32_t node_name,
	bool all_nodes, const struct bt_node_selector *selector)
{
	const struct bt_node *node = &snapshot->nodes[node_ix];

	if (node_name) {
		return node_name == node->name;
	}
	return all_nodes || (selector && bt_node_selector_matches(snapshot->dictionary->intern, selector,
						 node->labels, node->name));
}
