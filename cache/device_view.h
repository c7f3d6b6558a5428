/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: what plugins may read of dynamic resources: ResourceClaims, ResourceSlices, DeviceClasses and
 * DeviceTaintRules.
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

/* DeviceTaintRules are looked up by what their selectors name: driver, pool and device, each or any. */
#define BT_TAINT_RULE_SHAPES 8u
#define BT_NO_TAINT_RULE     UINT32_MAX

/* What of dynamic resources is on, by gates. */
struct bt_device_features {
	bool admin_access, prioritized_list, partitionable, taints, taint_rules, binding_conditions,
		consumable_capacity, extended_resources, list_attributes, optional_operations,
		compatibility_groups, fractional_ranges, derived_attributes, node_allocatable;
	bool lists_match;		  /* constraints take lists as sets */
	bool group_claims;		  /* PodGroups have claims */
	const struct bt_release *release; /* NULL: the default one */
};

/* What is allocated of a device, whichever slices show it. */
struct bt_device_use {
	uint32_t driver, pool, device;
	uint32_t shown_n;	      /* devices of slices that it is */
	bool allocated;		      /* a claim has it */
	uint32_t pending_n;	      /* so many claims of decided pods get it */
	uint32_t share_n;	      /* claims that have or get a share of it */
	bool consumes;		      /* a share takes of its capacity, be it nothing */
	struct bt_consumed *consumed; /* by all shares together */
	uint32_t consumed_n, consumed_cap;
};

/* The newest generation of a pool, as far as a node can reach it. */
struct bt_device_pool {
	uint32_t driver, pool;
	bool incomplete, invalid; /* nothing can be allocated from it */
	const uint32_t *slices;	  /* with devices for the node, by name */
	const uint32_t *others;	  /* with devices that the node cannot reach, but that take of the counters */
	const struct bt_counter *counters;
	uint32_t slice_n, other_n, counter_n;
};

/* Pools by driver and name; those with binding conditions come last. */
struct bt_device_pools {
	const struct bt_device_pool *items;
	uint32_t n;
};

/* What a claim of a decided pod gets. */
struct bt_device_choice {
	uint32_t claim_ix; /* BT_NO_CLAIM: the claim that is made for the pod's extended resources */
	struct bt_allocation allocation;
	bool shared; /* another pod of the same cycle gets the claim allocated, and its devices count there */
	bool lapsed; /* such a pod has got it allocated since then: nothing is pending any more */
};

/* A claim that the pods of a PodGroup share when they name it in the same way. */
struct bt_group_claim {
	enum bt_pod_claim_kind kind;
	uint32_t name;	    /* in the PodGroup's spec */
	uint32_t stated;    /* resourceClaimName, or BT_NAME_NONE */
	uint32_t template_; /* resourceClaimTemplateName, or BT_NAME_NONE */
	uint32_t claim;	    /* the ResourceClaim's name; BT_NAME_NONE: there is none */
};

/* A PodGroup, as far as claims go. */
struct bt_claiming_group {
	uint32_t namespace_, name, uid;
	bool live;
	const struct bt_group_claim *claims; /* in the order of the spec */
	uint32_t claim_n;
};

enum bt_device_answer { BT_DEVICE_NO = 0, BT_DEVICE_YES, BT_DEVICE_BAD_EXPRESSION, BT_DEVICE_FAILED };

/* Evaluates selectors of devices. init: const, static. */
struct bt_device_judge {
	/* A judge with memory of its own. Owns: destroy. Requires: the release outlives it. */
	void *(*create)(const struct bt_device_features *features);
	void (*destroy)(void *judge);
	/* Says of failures why in out_error. */
	enum bt_device_answer (*ask)(void *judge, struct bt_intern *intern, uint32_t expression,
		uint32_t driver, const struct bt_device *device, struct bt_buf *out_error);
	/* What an expression of a derived attribute says of a device. Returns: BT_DEVICE_YES, with out_value
	 * set but for its name; or a failure. Owns: lists live in arena; held holds the texts. */
	enum bt_device_answer (*derive)(void *judge, struct bt_name_refs *held, struct bt_arena *arena,
		uint32_t expression, uint32_t driver, const struct bt_device *device,
		struct bt_attribute *out_value, struct bt_buf *out_error);
};

/* Claims, slices and classes of devices. Deleted objects have live unset. */
struct bt_device_store {
	uint64_t version; /* grows with every change, of allocations too */
	struct bt_device_features features;
	const struct bt_resource_claim *claims;
	const struct bt_resource_slice *slices;
	const struct bt_device_class *classes;
	const struct bt_device_use *uses;
	const struct bt_device_taint_rule *taint_rules;
	const struct bt_claiming_group *groups;
	uint32_t claim_n, slice_n, use_n, taint_rule_n, group_n; /* vacant ones included */
	struct bt_map group_ixs; /* namespace and name of a PodGroup -> index; empty without the gate */
	uint64_t scope;		 /* of the cycle's pod: bt_devices_share */
	/* Names to indices; resource_classes: of extended resources to classes. */
	struct bt_map claim_ixs, slice_ixs, class_ixs, resource_classes;
	uint32_t special_n;	    /* live claims that were made for extended resources */
	uint32_t pending_n;	    /* decided pods that get devices, until their bindings are over */
	uint32_t pod_name, pod_uid; /* of the pod whose cycle it is */
	int64_t now_ns;		    /* when it began; INT64_MAX: unknown */
	/* Of the plugin, for one cycle; marks: by use, all zero between questions. */
	struct bt_arena *scratch;
	uint32_t *marks;
	void *context;

	/* The pools that a live node can reach. Valid until a slice or a node changes. */
	const struct bt_device_pools *(*pools)(void *context, uint32_t node_ix);

	/* The taint of the next DeviceTaintRule that covers a slice's device; cursor: BT_NO_TAINT_RULE at
	 * first. Returns: NULL at the end. */
	const struct bt_taint *(*next_taint)(void *context, const struct bt_resource_slice *slice,
		const struct bt_device *device, uint32_t *cursor);

	/* The allocation that a claim is getting by an earlier pod of this cycle's scope, which others share;
	 * or NULL. */
	const struct bt_allocation *(*sharing)(void *context, uint32_t claim_ix);

	/* Does an expression match a driver's device, of which a slice may show another by now? single: it is
	 * shown as one that is not shared. Of failures out_error says why, in upstream's words. */
	enum bt_device_answer (*match)(void *context, uint32_t expression, uint32_t driver,
		const struct bt_device *device, bool single, struct bt_buf *out_error);

	/* The value of a derived attribute's expression for a driver's device: BT_DEVICE_YES and out_value,
	 * which is valid until the next cycle begins; or a failure, of which out_error says why. */
	enum bt_device_answer (*derive)(void *context, uint32_t expression, uint32_t driver,
		const struct bt_device *device, const struct bt_attribute **out_value,
		struct bt_buf *out_error);
};

/* What stands for a pod among a claim's consumers: its UID; of one that has none, as in hand-written files,
 * its name, which is no other pod's beside the claim. */
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

/* The PodGroup of a pod, or NULL: it is in none, or its object is not there, or PodGroups have no claims. */
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

/* Whom a claim that a pod names is to be reserved for: its PodGroup, which names it in the same way, or the
 * pod, by bt_consumer_uid. Source: BindTo, resourceclaim of k8s.io/dynamic-resource-allocation, v0.36.3. */
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

/* Is a claim reserved for a pod, or for its PodGroup, of which the pod knows the name alone? pod_uid:
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

/* The class whose devices serve for an extended resource, or NULL. */
static inline const struct bt_device_class *bt_device_store_resource(
	const struct bt_device_store *store, uint32_t resource)
{
	uint32_t ix;

	return bt_map_get(&store->resource_classes, resource, &ix) ? &store->classes[ix] : NULL;
}

/* Can a node be reached, by a slice's or a device's words? Source: NodeMatches, v1.36.3. */
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
