/* SPDX-License-Identifier: Apache-2.0
 * Devices in interned names: device classes, slices of pools with their devices, claims with requests and
 * allocations. Source: api resource/v1, v1.36.3.
 */
#pragma once

#include "engine/model/selector.h"
#include "engine/model/taint.h"

/* A billionth of a unit, as in struct bt_quantity: exact; sums of millions fit. */
__extension__ typedef __int128 bt_nano;

struct bt_attribute {
	uint32_t name; /* as written */
	enum bt_attribute_type type;
	uint32_t text; /* of a string or version */
	uint32_t n;    /* of a list */
	union {
		int64_t number;	      /* of an int; 0 or 1 of a bool */
		const int64_t *items; /* of a list: numbers, 0 and 1, or names */
	};
};

struct bt_request_policy {
	bool there, has_default, has_values, has_range, has_min, has_max, has_step;
	struct bt_quantity default_, min, max, step;
	const struct bt_quantity *values;
	uint32_t value_n;
};

struct bt_capacity {
	uint32_t name;
	struct bt_quantity value;
	struct bt_request_policy policy;
};

/* The amount that a counter has, or that a device consumes. */
struct bt_counter {
	uint32_t set, name;
	bt_nano value;
};

/* Which devices may consume the same counter set: those that share a group; without groups, others without
 * groups. */
struct bt_counter_groups {
	uint32_t set;
	const uint32_t *names;
	uint32_t n;
};

/* A node resource that a device provides, and its overhead. */
struct bt_node_resource {
	uint32_t name; /* the resource's */
	bool maps, has_capacity_multiplier, has_device_multiplier, has_per_pod, has_per_container;
	uint32_t capacity; /* by what an allocation takes of this capacity; BT_NAME_NONE: by devices */
	struct bt_quantity capacity_multiplier, device_multiplier, per_pod, per_container;
};

struct bt_device {
	uint32_t name;
	uint32_t use_ix;       /* its usage: an index in struct bt_device_store.uses */
	uint32_t slice_ix, ix; /* its slice, and its index there */
	const struct bt_attribute *attributes;
	const struct bt_capacity *capacities;
	const struct bt_counter *counters;
	const struct bt_taint *taints;
	const struct bt_counter_groups *groups; /* one for each counter set that it consumes */
	uint32_t attribute_n, capacity_n, counter_n, taint_n, group_n;
	bool consumes; /* it lists a counter set, even with zero amounts */
	bool has_node_name, all_nodes, has_selector, binds_to_node, allow_multiple;
	bool has_binding_conditions; /* the list is present, possibly empty */
	uint32_t node_name;	     /* BT_NAME_NONE: empty or absent */
	struct bt_node_selector selector;
	const uint32_t *binding_conditions, *failure_conditions;
	uint32_t binding_condition_n, failure_condition_n;
	/* nodeAllocatableResources, and nodeAllocatableResourceMappings of 1.36. */
	const struct bt_node_resource *node_resources, *node_mappings;
	uint32_t node_resource_n, node_mapping_n;
};

struct bt_resource_slice {
	uint32_t name, driver, pool;
	bool live;
	int64_t generation, slice_count;
	uint32_t node_name; /* BT_NAME_NONE: empty or absent */
	bool has_node_name, all_nodes, has_selector, per_device, has_per_device;
	struct bt_node_selector selector;
	struct bt_device *devices;
	uint32_t device_n;
	const struct bt_counter *counters; /* of its counter sets */
	const uint32_t *counter_sets;	   /* their names, in order */
	uint32_t counter_n, counter_set_n;
	const uint32_t *skipped; /* node operations that its devices skip */
	uint32_t skipped_n;
	bool has_groups; /* some device has a group */
};

/* Expressions that must all match. BT_NAME_NONE: a selector of an unknown kind. */
struct bt_device_selectors {
	const uint32_t *expressions;
	uint32_t n;
};

struct bt_device_class {
	uint32_t name;
	bool live;
	int64_t creation_ns;
	struct bt_device_selectors selectors;
	uint32_t extended_resource; /* BT_NAME_NONE: it has none */
};

/* A taint for the devices that it selects, in addition to the taints in their slices. */
struct bt_device_taint_rule {
	uint32_t name;
	bool nothing;		       /* it selects no device */
	uint32_t driver, pool, device; /* BT_NAME_NONE: any */
	struct bt_taint taint;
	int64_t added_ns; /* timeAdded; 0: none */
};

enum bt_allocation_mode { BT_ALLOCATE_OTHER = 0, BT_ALLOCATE_EXACT_COUNT, BT_ALLOCATE_ALL };

struct bt_requested_capacity {
	uint32_t name;
	struct bt_quantity quantity;
};

/* An attribute that a request computes for each device, used by constraints only. */
struct bt_derived_attribute {
	uint32_t name, expression;
};

/* Requests for devices. */
struct bt_device_subrequest {
	uint32_t name; /* of an alternative */
	uint32_t path; /* of an alternative: its request's name, a slash and its own */
	uint32_t class_, mode_text;
	enum bt_allocation_mode mode;
	int64_t count;
	struct bt_device_selectors selectors;
	bool admin, has_admin, has_capacity;
	const struct bt_toleration *tolerations;
	const struct bt_requested_capacity *capacities;
	const struct bt_derived_attribute *derived; /* the last one of a name counts */
	uint32_t toleration_n, capacity_n, derived_n;
};

struct bt_device_request {
	uint32_t name;
	bool has_exactly;
	struct bt_device_subrequest exactly;
	const struct bt_device_subrequest *alternatives; /* firstAvailable */
	uint32_t alternative_n;
};

enum bt_device_constraint_kind { BT_CONSTRAINT_NONE = 0, BT_CONSTRAINT_MATCH, BT_CONSTRAINT_DISTINCT };

struct bt_device_constraint {
	enum bt_device_constraint_kind kind;
	uint32_t attribute, domain, local; /* its full name, and its parts; domain BT_NAME_NONE: no '/' */
	const uint32_t *requests;
	uint32_t request_n;
};

struct bt_consumed {
	uint32_t name;
	bt_nano value;
};

/* A device allocated to a claim. */
struct bt_device_result {
	uint32_t request, driver, pool, device;
	uint32_t share; /* a name: the share's ID; BT_NAME_NONE: the device is not shared */
	bool admin;
	const struct bt_consumed *consumed;
	const uint32_t *binding_conditions, *failure_conditions;
	const uint32_t *skipped; /* from its slice */
	uint32_t consumed_n, binding_condition_n, failure_condition_n, skipped_n;
};

struct bt_allocation {
	const struct bt_device_result *results;
	uint32_t result_n;
	bool has_selector;
	struct bt_node_selector selector; /* the nodes that can access its devices */
	uint32_t selector_error;	  /* a name: why it cannot be parsed, or BT_NAME_NONE */
	int64_t since_ns;		  /* allocationTimestamp; 0: none */
};

/* A condition of an allocated device, in its claim's status.devices. */
struct bt_device_condition {
	uint32_t driver, pool, device, type;
	bool is_true;
};

struct bt_claim_owner {
	uint32_t name, uid;
	bool controller;
};

/* The consumer for which a claim is reserved: a pod, or a PodGroup for all its pods. Without padding:
 * lists are compared bytewise. */
struct bt_claim_consumer {
	uint32_t uid;
	uint32_t pod_group; /* the name of the PodGroup; BT_NAME_NONE: it is none */
};

struct bt_resource_claim {
	uint32_t namespace_, name, uid;
	bool live, deleting;
	bool special;	      /* annotated as generated for extended resources */
	uint32_t owner_uid;   /* of the controlling owner; BT_NAME_NONE: none */
	uint32_t owner_group; /* its name, if that is a PodGroup; else BT_NAME_NONE */
	const struct bt_claim_owner *owners;
	const struct bt_device_request *requests;
	const struct bt_device_constraint *constraints;
	uint32_t owner_n, request_n, constraint_n;
	bool has_requests; /* the list is present, possibly empty */
	bool allocated;
	struct bt_allocation allocation;	/* when allocated */
	struct bt_claim_consumer *reserved_for; /* with room up to the next power of two */
	uint32_t reserved_n;
	const struct bt_device_condition *conditions;
	uint32_t condition_n;
	uint64_t version; /* its last observed resource version; 0: unknown */
	/* Its status is a binder's write with that resource version: older events do not change it; 0: it is
	 * from the watch. */
	uint64_t written;
	bool pending; /* allocated to an assumed pod, not yet written */
	/* The pod's index plus one while a binder that does not return the written claim has allocated the
	 * claim for it, and the watch has not delivered the allocation yet; else 0. Until then the watch may
	 * deliver older versions; shown_free: it has delivered the claim without allocation. */
	uint32_t kept_for;
	bool shown_free;
	bool shown; /* delivered as allocated since it is pending */
};

/*
 * The functions below fill all but live, use_ix, slice_ix, written, pending, kept_for, shown_free and shown,
 * from an
 * object with the API's defaults. Context: the owner of held. Owns: arrays live in arena.
 */
void bt_resource_slice_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_resource_slice_object *object, struct bt_resource_slice *out);
void bt_device_class_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_device_class_object *object, struct bt_device_class *out);
/* bare_takes_all: without a selector it selects every device. */
void bt_device_taint_rule_compile(struct bt_name_refs *held, const struct bt_device_taint_rule_object *object,
	bool bare_takes_all, struct bt_device_taint_rule *out);
void bt_resource_claim_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_resource_claim_object *object, struct bt_resource_claim *out);

/* The type of an attribute's values; of a list: its elements' type. */
static inline enum bt_attribute_type bt_attribute_element(enum bt_attribute_type type)
{
	return type < BT_ATTRIBUTE_INTS ? type : type - BT_ATTRIBUTE_INTS + BT_ATTRIBUTE_INT;
}

static inline bool bt_device_taint_rule_covers(const struct bt_device_taint_rule *rule,
	const struct bt_resource_slice *slice, const struct bt_device *device)
{
	return !rule->nothing && (!rule->driver || rule->driver == slice->driver) &&
	       (!rule->pool || rule->pool == slice->pool) && (!rule->device || rule->device == device->name);
}

/* The attribute of a driver's device with a full name, or NULL. */
const struct bt_attribute *bt_device_attribute(
	const struct bt_device *device, uint32_t driver, const struct bt_device_constraint *constraint);
