/* SPDX-License-Identifier: Apache-2.0
 * Kubernetes API objects as plain C values: the fields of each kind that can change a scheduling decision, as
 * in the API, before interning. Decoders in tools/ fill these; cache/ingest interns them.
 *
 * Owns: nothing. Strings and arrays belong to the decoder's input and arena, with the same lifetime.
 * Where the API distinguishes absent from empty, there is a `set` or `has_…` flag. An absent array has n = 0.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/str.h"
#include "engine/model/kind.h"
#include "engine/model/quantity.h"

/* A resource version, a decimal number in etcd; 0 when it is not a number. */
static inline uint64_t bt_resource_version(struct bt_str text)
{
	uint64_t value = 0;

	if (text.len > 19) {
		return 0;
	}
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9') {
			return 0;
		}
		value = value * 10 + (uint64_t)(text.ptr[i] - '0');
	}
	return value;
}

struct bt_str_list {
	struct bt_str *items;
	uint32_t n;
	bool set;
};

struct bt_str_pair {
	struct bt_str key, value;
};

struct bt_str_map {
	struct bt_str_pair *items; /* in input order; keys are unique */
	uint32_t n;
	bool set;
};

struct bt_named_quantity {
	struct bt_str name;
	struct bt_quantity quantity;
};

struct bt_resource_list {
	struct bt_named_quantity *items;
	uint32_t n;
	bool set;
};

struct bt_owner_object {
	struct bt_str api_version, kind, name, uid;
	bool controller;
};

struct bt_meta_object {
	struct bt_str name, namespace_, uid, generate_name, resource_version;
	int64_t creation_ns; /* since the Unix epoch; 0 when absent */
	int64_t deletion_ns; /* deletionTimestamp; 0 when absent */
	int64_t deletion_grace_s;
	int64_t generation;
	struct bt_str_map labels, annotations;
	struct bt_owner_object *owners;
	uint32_t owner_n;
	struct bt_str_list finalizers;
};

/* One expression of a node selector or a label selector; operator_ is the API's string, validated later. */
struct bt_requirement_object {
	struct bt_str key, operator_;
	struct bt_str_list values;
};

struct bt_requirement_object_list {
	struct bt_requirement_object *items;
	uint32_t n;
};

struct bt_label_selector_object {
	bool set; /* a nil selector matches nothing, an empty one everything */
	struct bt_str_map match_labels;
	struct bt_requirement_object_list match_expressions;
};

struct bt_node_term_object {
	struct bt_requirement_object_list match_expressions, match_fields;
};

struct bt_node_selector_object {
	bool set;
	struct bt_node_term_object *terms;
	uint32_t term_n;
};

struct bt_preferred_node_term_object {
	int32_t weight;
	struct bt_node_term_object preference;
};

struct bt_node_affinity_object {
	bool set;
	struct bt_node_selector_object required;
	struct bt_preferred_node_term_object *preferred;
	uint32_t preferred_n;
	bool preferred_set;
};

struct bt_pod_term_object {
	struct bt_label_selector_object label_selector;
	struct bt_str_list namespaces;
	struct bt_str topology_key;
	struct bt_label_selector_object namespace_selector;
	struct bt_str_list match_label_keys, mismatch_label_keys;
};

struct bt_weighted_pod_term_object {
	int32_t weight;
	struct bt_pod_term_object term;
};

struct bt_pod_affinity_object {
	bool set;
	struct bt_pod_term_object *required;
	uint32_t required_n;
	struct bt_weighted_pod_term_object *preferred;
	uint32_t preferred_n;
};

struct bt_affinity_object {
	struct bt_node_affinity_object node_affinity;
	struct bt_pod_affinity_object pod_affinity, pod_anti_affinity;
};

struct bt_toleration_object {
	struct bt_str key, operator_, value, effect;
	int64_t toleration_seconds;
	bool has_toleration_seconds;
};

struct bt_taint_object {
	struct bt_str key, value, effect;
	int64_t added_ns; /* timeAdded; 0 when absent */
};

struct bt_spread_constraint_object {
	int32_t max_skew;
	int32_t min_domains;
	bool has_min_domains;
	struct bt_str topology_key, when_unsatisfiable, node_affinity_policy, node_taints_policy;
	struct bt_label_selector_object label_selector;
	struct bt_str_list match_label_keys;
};

struct bt_port_object {
	int32_t host_port, container_port;
	struct bt_str protocol, host_ip;
};

struct bt_requirements_object {
	bool set;
	struct bt_resource_list requests, limits;
	struct bt_str_list claims; /* names of the pod's resourceClaims */
};

struct bt_container_object {
	struct bt_str name, image, restart_policy;
	struct bt_requirements_object resources;
	struct bt_port_object *ports;
	uint32_t port_n;
	bool restarts_all;  /* some restartPolicyRules entry has the action RestartAllContainers */
	bool binds_options; /* some of its volumeMounts has bindMountOptions */
};

enum bt_volume_type {
	BT_VOLUME_OTHER = 0, /* not relevant to the scheduler */
	BT_VOLUME_CLAIM,
	BT_VOLUME_EPHEMERAL,
	BT_VOLUME_IMAGE,
	BT_VOLUME_GCE_PD,
	BT_VOLUME_AWS_EBS,
	BT_VOLUME_ISCSI,
	BT_VOLUME_RBD,
	BT_VOLUME_AZURE_DISK,
	BT_VOLUME_CINDER,
	BT_VOLUME_PORTWORX,
	BT_VOLUME_AZURE_FILE, /* of a pod */
	BT_VOLUME_VSPHERE,    /* of a pod */
	BT_VOLUME_CSI_INLINE  /* of a PersistentVolume: csi */
};

/* A volume of a pod, or the source of a PersistentVolume. */
struct bt_volume_object {
	struct bt_str name;
	enum bt_volume_type type;
	struct bt_str source; /* claim name, image reference, pdName, volumeID, iqn, rbd image, diskURI, csi
				 driver */
	struct bt_str pool;   /* rbd */
	struct bt_str portal; /* iscsi: targetPortal, required by the API server */
	struct bt_str handle; /* csi, of a PersistentVolume: volumeHandle */
	struct bt_str kind;   /* azureDisk */
	struct bt_str claim_template; /* ephemeral: the JSON text of volumeClaimTemplate */
	struct bt_str_list monitors;
	bool read_only;
};

struct bt_pod_claim_object {
	struct bt_str name, claim_name, template_name;
};

struct bt_container_status_object {
	struct bt_str name;
	struct bt_resource_list allocated;	 /* allocatedResources */
	struct bt_requirements_object resources; /* actuated */
};

struct bt_condition_object {
	struct bt_str type, status, reason, message;
	struct bt_str transition; /* lastTransitionTime, verbatim */
	int64_t observed_generation;
};

/* Which group of a Workload a pod belongs to (workloadRef). */
struct bt_workload_reference {
	struct bt_str name, pod_group, replica_key;
};

struct bt_pod_spec_object {
	struct bt_str node_name, scheduler_name, priority_class_name, preemption_policy, restart_policy,
		runtime_class_name, pod_group; /* schedulingGroup.podGroupName */
	struct bt_workload_reference workload_ref;
	int32_t priority;
	bool has_priority, host_network, host_users, has_host_users;
	int64_t active_deadline_s;
	bool has_active_deadline;
	int64_t termination_grace_s;
	bool has_termination_grace;
	struct bt_str_map node_selector;
	struct bt_affinity_object affinity;
	struct bt_toleration_object *tolerations;
	uint32_t toleration_n;
	struct bt_spread_constraint_object *spread;
	uint32_t spread_n;
	struct bt_container_object *containers, *init_containers;
	uint32_t container_n, init_container_n;
	bool ephemeral_binds_options; /* as binds_options, of an ephemeral container */
	struct bt_resource_list overhead;
	struct bt_requirements_object resources; /* pod-level */
	struct bt_str_list scheduling_gates;	 /* names */
	struct bt_volume_object *volumes;
	uint32_t volume_n;
	struct bt_pod_claim_object *claims;
	uint32_t claim_n;
	/* Not in the API: why the decoder could not read the whole pod; empty: it could. On a node the pod
	 * counts with the fields that were read; a pending one is not scheduled. */
	struct bt_str incomplete;
};

struct bt_extended_mapping_object {
	struct bt_str container, resource, request;
};

/* Overhead of devices for a node resource. */
struct bt_node_overhead_object {
	struct bt_str name;
	bool has_per_pod, has_per_container;
	struct bt_quantity per_pod, per_container;
};

/* An entry of status.nodeAllocatableResourceClaimStatuses: what a claim adds to the pod's requests. */
struct bt_node_claim_object {
	struct bt_str claim;
	struct bt_str_list containers;
	struct bt_resource_list resources; /* of 1.36 alone */
	struct bt_named_quantity *mapping;
	struct bt_node_overhead_object *overheads;
	uint32_t mapping_n, overhead_n;
};

struct bt_pod_object {
	struct bt_meta_object meta;
	struct bt_pod_spec_object spec;
	struct bt_str phase, nominated_node_name;
	int64_t start_ns;
	struct bt_condition_object *conditions;
	uint32_t condition_n;
	struct bt_container_status_object *container_statuses, *init_container_statuses;
	uint32_t container_status_n, init_container_status_n;
	struct bt_resource_list allocated;	 /* status.allocatedResources, pod-level */
	struct bt_requirements_object resources; /* status.resources, pod-level */
	/* status.resourceClaimStatuses: the name in the spec and the generated claim. */
	struct bt_pod_claim_object *claim_statuses;
	uint32_t claim_status_n;
	/* status.extendedResourceClaimStatus: the claim generated for extended resources, and the mapping of
	 * its requests to the containers'. */
	struct bt_str extended_claim;
	struct bt_extended_mapping_object *extended_mappings;
	uint32_t extended_mapping_n;
	struct bt_node_claim_object *node_claims; /* status.nodeAllocatableResourceClaimStatuses */
	uint32_t node_claim_n;
};

struct bt_image_object {
	struct bt_str_list names;
	int64_t size_bytes;
};

struct bt_node_object {
	struct bt_meta_object meta;
	bool unschedulable;
	struct bt_taint_object *taints;
	uint32_t taint_n;
	struct bt_resource_list allocatable, capacity;
	struct bt_image_object *images;
	uint32_t image_n;
	struct bt_condition_object *conditions;
	uint32_t condition_n;
	struct bt_str_list declared_features;
	bool has_preemption_policy;		 /* spec.podPreemptionPolicy is present */
	struct bt_str_list no_resize_preemption; /* its disableResizePreemption: the owners that disable it */
};

struct bt_namespace_object {
	struct bt_meta_object meta;
};

struct bt_priority_class_object {
	struct bt_meta_object meta;
	int32_t value;
	bool global_default;
	struct bt_str preemption_policy;
};

/* The overhead and the nodes of a container runtime. */
struct bt_runtime_class_object {
	struct bt_meta_object meta;
	bool has_overhead, has_scheduling;
	struct bt_resource_list overhead; /* overhead.podFixed */
	struct bt_str_map node_selector;  /* scheduling.nodeSelector */
	struct bt_toleration_object *tolerations;
	uint32_t toleration_n;
};

/* The limits of a LimitRange for one type of object: Container, Pod or PersistentVolumeClaim. */
struct bt_limit_object {
	struct bt_str type;
	struct bt_resource_list min, max, default_limits, default_requests, max_ratio;
};

struct bt_limit_range_object {
	struct bt_meta_object meta;
	struct bt_limit_object *limits;
	uint32_t limit_n;
};

struct bt_quota_object {
	struct bt_meta_object meta;
	struct bt_resource_list hard, used;	       /* spec.hard, status.used */
	struct bt_str_list scopes;		       /* spec.scopes */
	struct bt_requirement_object_list scope_terms; /* spec.scopeSelector: key is scopeName */
};

struct bt_service_object {
	struct bt_meta_object meta;
	struct bt_str_map selector;
};

struct bt_claim_object {
	struct bt_meta_object meta;
	struct bt_str volume_name, storage_class, volume_mode, attributes_class, phase;
	struct bt_str_list access_modes;
	struct bt_resource_list requests;
	struct bt_label_selector_object selector;
	bool has_storage_class; /* spec.storageClassName is present, be it empty */
};

/* ReplicaSet, ReplicationController, StatefulSet, Deployment, Job, DaemonSet and CronJob: the fields that
 * their controllers need. */
struct bt_workload_object {
	struct bt_meta_object meta;
	int32_t replicas, parallelism, completions, start_ordinal;
	int32_t succeeded; /* a Job's status: pods that have succeeded, including deleted ones */
	bool finished;	   /* a Job's status: complete or failed, or soon to be */
	bool has_replicas, has_parallelism, has_completions, indexed, suspend;
	bool paused;		   /* a Deployment */
	bool replaces_failed_only; /* a Job's podReplacementPolicy: terminating pods are not replaced */
	struct bt_str managed_by;  /* a Job's controller; empty: the built-in one */
	struct bt_str completed_indexes, failed_indexes; /* a Job's status, "1,3-5" */
	struct bt_label_selector_object selector;
	struct bt_meta_object template_meta;
	struct bt_pod_spec_object template_spec;
	struct bt_claim_object *claim_templates; /* a StatefulSet's volumeClaimTemplates */
	uint32_t claim_template_n;
};

struct bt_pdb_object {
	struct bt_meta_object meta;
	struct bt_label_selector_object selector;
	int32_t disruptions_allowed;
	struct bt_str_list disrupted_pods;
};

struct bt_persistent_volume_object {
	struct bt_meta_object meta;
	struct bt_volume_object source;
	struct bt_resource_list capacity;
	struct bt_str_list access_modes;
	struct bt_str storage_class, volume_mode, attributes_class, phase;
	bool has_claim;
	struct bt_str claim_namespace, claim_name, claim_uid;
	struct bt_node_selector_object affinity; /* nodeAffinity.required */
};

struct bt_storage_class_object {
	struct bt_meta_object meta;
	struct bt_str provisioner, binding_mode;
	struct bt_requirement_object_list
		*topologies; /* allowedTopologies; key and values of each requirement */
	uint32_t topology_n;
};

struct bt_csi_node_driver_object {
	struct bt_str name;
	int32_t count; /* allocatable */
	bool has_count;
};

struct bt_csi_node_object {
	struct bt_meta_object meta;
	struct bt_csi_node_driver_object *drivers;
	uint32_t driver_n;
};

struct bt_csi_driver_object {
	struct bt_meta_object meta;
	bool storage_capacity, prevent_if_missing;
};

struct bt_storage_capacity_object {
	struct bt_meta_object meta;
	struct bt_str storage_class;
	struct bt_label_selector_object topology;
	struct bt_quantity capacity, maximum_size;
	bool has_capacity, has_maximum_size;
};

struct bt_attachment_object {
	struct bt_meta_object meta;
	struct bt_str attacher, node_name, volume_name; /* volume_name: source.persistentVolumeName */
};

/* Dynamic resources (resource.k8s.io). */
struct bt_device_selector_object {
	bool has_cel;
	struct bt_str expression; /* CEL */
};

struct bt_device_class_object {
	struct bt_meta_object meta;
	struct bt_device_selector_object *selectors;
	uint32_t selector_n;
	bool has_extended_resource;
	struct bt_str extended_resource; /* extendedResourceName */
};

enum bt_attribute_type {
	BT_ATTRIBUTE_NONE = 0, /* of unknown type */
	BT_ATTRIBUTE_INT,
	BT_ATTRIBUTE_BOOL,
	BT_ATTRIBUTE_STRING,
	BT_ATTRIBUTE_VERSION,
	BT_ATTRIBUTE_INTS, /* lists, maybe empty, in the order of the types above */
	BT_ATTRIBUTE_BOOLS,
	BT_ATTRIBUTE_STRINGS,
	BT_ATTRIBUTE_VERSIONS
};

struct bt_attribute_object {
	struct bt_str name; /* with or without a domain */
	enum bt_attribute_type type;
	int64_t number;
	bool truth;
	struct bt_str text; /* of a string or version */
	int64_t *numbers;
	bool *truths;
	uint32_t number_n, truth_n;
	struct bt_str_list texts; /* of strings or versions */
};

/* The requests that a capacity allows. */
struct bt_request_policy_object {
	bool set, has_default, has_values, has_range, has_min, has_max, has_step;
	struct bt_quantity default_;
	struct bt_quantity *values;
	uint32_t value_n;
	struct bt_quantity min, max, step;
};

struct bt_device_capacity_object {
	struct bt_str name;
	struct bt_quantity value;
	struct bt_request_policy_object policy;
};

/* Counters of one set: the pool's, or a device's consumption of them. */
struct bt_counter_set_object {
	struct bt_str name;
	struct bt_named_quantity *counters;
	uint32_t counter_n;
	struct bt_str_list groups; /* compatibilityGroups, of a device */
};

/* A node resource that a device provides, and its overhead: an entry of
 * nodeAllocatableResources, or of nodeAllocatableResourceMappings, which has one multiplier. */
struct bt_node_resource_object {
	struct bt_str name;
	bool has_mapping, has_capacity_multiplier, has_device_multiplier, has_per_pod, has_per_container;
	struct bt_str capacity_key;
	struct bt_quantity capacity_multiplier, device_multiplier, per_pod, per_container;
};

struct bt_device_object {
	struct bt_str name;
	struct bt_attribute_object *attributes;
	uint32_t attribute_n;
	struct bt_device_capacity_object *capacities;
	uint32_t capacity_n;
	struct bt_counter_set_object *consumes;
	uint32_t consume_n;
	struct bt_str node_name;
	bool has_node_name, all_nodes, binds_to_node, allow_multiple;
	struct bt_node_selector_object node_selector;
	struct bt_taint_object *taints;
	uint32_t taint_n;
	struct bt_str_list binding_conditions, binding_failure_conditions;
	struct bt_node_resource_object *node_resources, *node_mappings; /* the latter of 1.36 alone */
	uint32_t node_resource_n, node_mapping_n;
};

struct bt_resource_slice_object {
	struct bt_meta_object meta;
	struct bt_str driver, pool, node_name;
	int64_t generation, slice_count;
	bool has_node_name, all_nodes, per_device, has_per_device;
	struct bt_node_selector_object node_selector;
	struct bt_device_object *devices;
	uint32_t device_n;
	struct bt_counter_set_object *counter_sets;
	uint32_t counter_set_n;
	struct bt_str_list skipped; /* skipNodeOperations */
};

/* A DeviceTaintRule: a taint for every device that its selector matches. */
struct bt_device_taint_rule_object {
	struct bt_meta_object meta;
	bool has_selector, has_driver, has_pool, has_device; /* absent matches any, empty none */
	struct bt_str driver, pool, device;
	struct bt_taint_object taint;
};

/* An attribute that a request derives from others. */
struct bt_derived_attribute_object {
	struct bt_str name, expression; /* CEL */
};

/* A request for devices: exactly, or one of the alternatives of firstAvailable. */
struct bt_device_subrequest_object {
	struct bt_str name; /* of an alternative */
	struct bt_str class_name, allocation_mode;
	struct bt_device_selector_object *selectors;
	uint32_t selector_n;
	int64_t count;
	bool admin_access, has_admin_access, has_capacity;
	struct bt_toleration_object *tolerations;
	uint32_t toleration_n;
	struct bt_resource_list capacity; /* capacity.requests */
	struct bt_derived_attribute_object *derived;
	uint32_t derived_n;
};

struct bt_device_request_object {
	struct bt_str name;
	bool has_exactly;
	struct bt_device_subrequest_object exactly;
	struct bt_device_subrequest_object *first_available;
	uint32_t first_available_n;
};

struct bt_device_constraint_object {
	struct bt_str_list requests;
	bool has_match, has_distinct;
	struct bt_str match_attribute, distinct_attribute;
};

/* A device of an allocation, or in a claim's status.devices. */
struct bt_device_result_object {
	struct bt_str request, driver, pool, device, share_id;
	bool admin_access, has_share_id;
	struct bt_resource_list consumed; /* consumedCapacity */
	struct bt_str_list binding_conditions, binding_failure_conditions, skipped;
	struct bt_condition_object *conditions; /* of status.devices */
	uint32_t condition_n;
};

/* A consumer for which a ResourceClaim is reserved. */
struct bt_claim_consumer_object {
	struct bt_str api_group, resource, name, uid;
};

struct bt_resource_claim_object {
	struct bt_meta_object meta;
	struct bt_device_request_object *requests;
	uint32_t request_n;
	bool has_requests;
	struct bt_device_constraint_object *constraints;
	uint32_t constraint_n;
	bool allocated; /* status.allocation is present */
	struct bt_device_result_object *results;
	uint32_t result_n;
	struct bt_node_selector_object node_selector; /* of the allocation */
	int64_t allocation_ns;			      /* allocationTimestamp; 0: none */
	struct bt_claim_consumer_object *reserved_for;
	uint32_t reserved_for_n;
	struct bt_device_result_object *devices; /* status.devices */
	uint32_t device_n;
};

/* A PodGroup: how its pods are scheduled together; or a CompositePodGroup: the same for its child groups. */
struct bt_pod_group_object {
	struct bt_meta_object meta;
	struct bt_str parent; /* parentCompositePodGroupName */
	struct bt_condition_object *conditions;
	uint32_t condition_n;
	bool gang;	   /* schedulingPolicy.gang is present */
	int32_t min_count; /* or minGroupCount */
	int32_t priority;
	bool has_priority;
	struct bt_str priority_class_name, preemption_policy;
	bool together;	      /* disruptionMode: its pods are disrupted together or not at all */
	bool has_constraints; /* schedulingConstraints is present */
	/* The label keys of its topologies. Only the first one is used. Source: getTopologyKey,
	 * plugins/topologyaware, v1.37.2. */
	struct bt_str_list topology_keys;
	struct bt_pod_claim_object *claims, *claim_statuses; /* ResourceClaims that its pods share */
	uint32_t claim_n, claim_status_n;
};

/* A group of pods in a Workload. */
struct bt_workload_group_object {
	struct bt_str name;
	bool gang;	   /* policy.gang is there */
	int32_t min_count; /* of that */
};

/* A Workload of scheduling.k8s.io: how the pods that name it are scheduled together. */
struct bt_pod_workload_object {
	struct bt_meta_object meta;
	struct bt_workload_group_object *groups;
	uint32_t group_n;
};

/* A kind with only its metadata. */
struct bt_other_object {
	struct bt_meta_object meta;
};

struct bt_object {
	enum bt_kind kind;
	struct bt_str api_version, kind_name;
	union {
		struct bt_meta_object meta; /* the first member of every kind */
		struct bt_node_object node;
		struct bt_pod_object pod;
		struct bt_namespace_object namespace_;
		struct bt_priority_class_object priority_class;
		struct bt_runtime_class_object runtime_class;
		struct bt_limit_range_object limit_range;
		struct bt_quota_object quota;
		struct bt_service_object service;
		struct bt_workload_object workload;
		struct bt_pdb_object pdb;
		struct bt_persistent_volume_object persistent_volume;
		struct bt_claim_object claim;
		struct bt_storage_class_object storage_class;
		struct bt_csi_node_object csi_node;
		struct bt_csi_driver_object csi_driver;
		struct bt_storage_capacity_object storage_capacity;
		struct bt_attachment_object attachment;
		struct bt_resource_claim_object resource_claim;
		struct bt_resource_slice_object resource_slice;
		struct bt_device_class_object device_class;
		struct bt_device_taint_rule_object device_taint_rule;
		struct bt_pod_group_object pod_group;
		struct bt_pod_workload_object pod_workload;
		struct bt_other_object other;
	};
};
