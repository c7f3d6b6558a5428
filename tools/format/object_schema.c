/* SPDX-License-Identifier: Apache-2.0
 * The tables that map JSON members to members of engine/model/object.h. Each table is sorted by
 * name, because that is the order in which kubectl writes.
 */
#include "tools/format/object_schema_int.h"

static const struct bt_field owner_fields[] = {
	FIELD("apiVersion", STR, bt_owner_object, api_version),
	FIELD("controller", BOOL, bt_owner_object, controller),
	FIELD("kind", STR, bt_owner_object, kind),
	FIELD("name", STR, bt_owner_object, name),
	FIELD("uid", STR, bt_owner_object, uid),
};
SCHEMA(owner, owner_fields, bt_owner_object);

static const struct bt_field meta_fields[] = {
	FIELD("annotations", STR_MAP, bt_meta_object, annotations),
	FIELD("creationTimestamp", TIME, bt_meta_object, creation_ns),
	FIELD("deletionGracePeriodSeconds", I64, bt_meta_object, deletion_grace_s),
	FIELD("deletionTimestamp", TIME, bt_meta_object, deletion_ns),
	FIELD("finalizers", STR_LIST, bt_meta_object, finalizers),
	FIELD("generateName", STR, bt_meta_object, generate_name),
	FIELD("generation", I64, bt_meta_object, generation),
	FIELD("labels", STR_MAP, bt_meta_object, labels),
	FIELD("name", STR, bt_meta_object, name),
	FIELD("namespace", STR, bt_meta_object, namespace_),
	ARRAY("ownerReferences", bt_meta_object, owners, owner_n, owner),
	FIELD("resourceVersion", STR, bt_meta_object, resource_version),
	FIELD("uid", STR, bt_meta_object, uid),
};
const struct bt_schema bt_meta_schema = BT_SCHEMA(meta_fields, struct bt_meta_object);

/* Selectors and affinity. */
static const struct bt_field requirement_fields[] = {
	FIELD("key", STR, bt_requirement_object, key),
	FIELD("operator", STR, bt_requirement_object, operator_),
	FIELD("values", STR_LIST, bt_requirement_object, values),
};
SCHEMA(requirement, requirement_fields, bt_requirement_object);

static const struct bt_field label_selector_fields[] = {
	ARRAY("matchExpressions", bt_label_selector_object, match_expressions.items, match_expressions.n,
		requirement),
	FIELD("matchLabels", STR_MAP, bt_label_selector_object, match_labels),
};
SCHEMA(label_selector, label_selector_fields, bt_label_selector_object);

static const struct bt_field node_term_fields[] = {
	ARRAY("matchExpressions", bt_node_term_object, match_expressions.items, match_expressions.n,
		requirement),
	ARRAY("matchFields", bt_node_term_object, match_fields.items, match_fields.n, requirement),
};
SCHEMA(node_term, node_term_fields, bt_node_term_object);

static const struct bt_field node_selector_fields[] = {
	ARRAY("nodeSelectorTerms", bt_node_selector_object, terms, term_n, node_term),
};
const struct bt_schema bt_node_selector_schema =
	BT_SCHEMA(node_selector_fields, struct bt_node_selector_object);

static const struct bt_field preferred_node_term_fields[] = {
	OBJECT("preference", bt_preferred_node_term_object, preference, node_term),
	FIELD("weight", I32, bt_preferred_node_term_object, weight),
};
SCHEMA(preferred_node_term, preferred_node_term_fields, bt_preferred_node_term_object);

static const struct bt_field node_affinity_fields[] = {
	ARRAY_HAS("preferredDuringSchedulingIgnoredDuringExecution", bt_node_affinity_object, preferred,
		preferred_n, preferred_node_term, preferred_set),
	OBJECT_HAS("requiredDuringSchedulingIgnoredDuringExecution", bt_node_affinity_object, required,
		bt_node_selector_schema, required.set),
};
SCHEMA(node_affinity, node_affinity_fields, bt_node_affinity_object);

static const struct bt_field pod_term_fields[] = {
	OBJECT_HAS("labelSelector", bt_pod_term_object, label_selector, label_selector, label_selector.set),
	FIELD("matchLabelKeys", STR_LIST, bt_pod_term_object, match_label_keys),
	FIELD("mismatchLabelKeys", STR_LIST, bt_pod_term_object, mismatch_label_keys),
	OBJECT_HAS("namespaceSelector", bt_pod_term_object, namespace_selector, label_selector,
		namespace_selector.set),
	FIELD("namespaces", STR_LIST, bt_pod_term_object, namespaces),
	FIELD("topologyKey", STR, bt_pod_term_object, topology_key),
};
SCHEMA(pod_term, pod_term_fields, bt_pod_term_object);

static const struct bt_field weighted_pod_term_fields[] = {
	OBJECT("podAffinityTerm", bt_weighted_pod_term_object, term, pod_term),
	FIELD("weight", I32, bt_weighted_pod_term_object, weight),
};
SCHEMA(weighted_pod_term, weighted_pod_term_fields, bt_weighted_pod_term_object);

static const struct bt_field pod_affinity_fields[] = {
	ARRAY("preferredDuringSchedulingIgnoredDuringExecution", bt_pod_affinity_object, preferred,
		preferred_n, weighted_pod_term),
	ARRAY("requiredDuringSchedulingIgnoredDuringExecution", bt_pod_affinity_object, required, required_n,
		pod_term),
};
SCHEMA(pod_affinity, pod_affinity_fields, bt_pod_affinity_object);

static const struct bt_field affinity_fields[] = {
	OBJECT_HAS("nodeAffinity", bt_affinity_object, node_affinity, node_affinity, node_affinity.set),
	OBJECT_HAS("podAffinity", bt_affinity_object, pod_affinity, pod_affinity, pod_affinity.set),
	OBJECT_HAS("podAntiAffinity", bt_affinity_object, pod_anti_affinity, pod_affinity,
		pod_anti_affinity.set),
};
SCHEMA(affinity, affinity_fields, bt_affinity_object);

static const struct bt_field toleration_fields[] = {
	FIELD("effect", STR, bt_toleration_object, effect),
	FIELD("key", STR, bt_toleration_object, key),
	FIELD("operator", STR, bt_toleration_object, operator_),
	FIELD_HAS("tolerationSeconds", I64, bt_toleration_object, toleration_seconds, has_toleration_seconds),
	FIELD("value", STR, bt_toleration_object, value),
};
const struct bt_schema bt_toleration_schema = BT_SCHEMA(toleration_fields, struct bt_toleration_object);

static const struct bt_field taint_fields[] = {
	FIELD("effect", STR, bt_taint_object, effect),
	FIELD("key", STR, bt_taint_object, key),
	FIELD("timeAdded", TIME, bt_taint_object, added_ns),
	FIELD("value", STR, bt_taint_object, value),
};
const struct bt_schema bt_taint_schema = BT_SCHEMA(taint_fields, struct bt_taint_object);

static const struct bt_field spread_fields[] = {
	OBJECT_HAS("labelSelector", bt_spread_constraint_object, label_selector, label_selector,
		label_selector.set),
	FIELD("matchLabelKeys", STR_LIST, bt_spread_constraint_object, match_label_keys),
	FIELD("maxSkew", I32, bt_spread_constraint_object, max_skew),
	FIELD_HAS("minDomains", I32, bt_spread_constraint_object, min_domains, has_min_domains),
	FIELD("nodeAffinityPolicy", STR, bt_spread_constraint_object, node_affinity_policy),
	FIELD("nodeTaintsPolicy", STR, bt_spread_constraint_object, node_taints_policy),
	FIELD("topologyKey", STR, bt_spread_constraint_object, topology_key),
	FIELD("whenUnsatisfiable", STR, bt_spread_constraint_object, when_unsatisfiable),
};
SCHEMA(spread, spread_fields, bt_spread_constraint_object);

/* Containers and volumes. */
static const struct bt_field name_fields[] = {
	{.name = BT_STR("name"), .type = BT_FIELD_STR, .offset = 0},
};
static const struct bt_schema name_only = BT_SCHEMA(name_fields, struct bt_str);

static const struct bt_field requirements_fields[] = {
	NAMES("claims", bt_requirements_object, claims, name_only),
	FIELD("limits", RESOURCES, bt_requirements_object, limits),
	FIELD("requests", RESOURCES, bt_requirements_object, requests),
};
SCHEMA(requirements, requirements_fields, bt_requirements_object);

static const struct bt_field port_fields[] = {
	FIELD("containerPort", I32, bt_port_object, container_port),
	FIELD("hostIP", STR, bt_port_object, host_ip),
	FIELD("hostPort", I32, bt_port_object, host_port),
	FIELD("protocol", STR, bt_port_object, protocol),
};
SCHEMA(port, port_fields, bt_port_object);

/* Into a bool: whether one of the rules restarts all containers. */
static bool read_restart_rules(struct bt_decode *decode, void *field)
{
	static const struct bt_field rule_fields[] = {
		{.name = BT_STR("action"), .type = BT_FIELD_STR, .offset = 0}};
	static const struct bt_schema rule = BT_SCHEMA(rule_fields, struct bt_str);

	if (!bt_json_enter_array(decode->json)) {
		return false;
	}
	while (bt_json_next_element(decode->json)) {
		struct bt_str action = {0};

		if (!bt_schema_decode(decode, &rule, &action)) {
			return false;
		}
		*(bool *)field |= bt_str_is(action, "RestartAllContainers");
	}
	return bt_json_error(decode->json)->status == BT_OK;
}

/* Into a bool: whether one of the mounts has options. */
static bool read_volume_mounts(struct bt_decode *decode, void *field)
{
	static const struct bt_field mount_fields[] = {
		{.name = BT_STR("bindMountOptions"), .type = BT_FIELD_STR_LIST, .offset = 0}};
	static const struct bt_schema mount = BT_SCHEMA(mount_fields, struct bt_str_list);

	if (!bt_json_enter_array(decode->json)) {
		return false;
	}
	while (bt_json_next_element(decode->json)) {
		struct bt_str_list options = {.n = 0};

		if (!bt_schema_decode(decode, &mount, &options)) {
			return false;
		}
		*(bool *)field |= options.n > 0;
	}
	return bt_json_error(decode->json)->status == BT_OK;
}

static const struct bt_field container_fields[] = {
	FIELD("image", STR, bt_container_object, image),
	FIELD("name", STR, bt_container_object, name),
	ARRAY("ports", bt_container_object, ports, port_n, port),
	OBJECT_HAS("resources", bt_container_object, resources, requirements, resources.set),
	FIELD("restartPolicy", STR, bt_container_object, restart_policy),
	{.name = BT_STR("restartPolicyRules"),
		.type = BT_FIELD_CUSTOM,
		.offset = offsetof(struct bt_container_object, restarts_all),
		.read = read_restart_rules,
		.word = "[{\"action\":\"RestartAllContainers\"}]"},
	{.name = BT_STR("volumeMounts"),
		.type = BT_FIELD_CUSTOM,
		.offset = offsetof(struct bt_container_object, binds_options),
		.read = read_volume_mounts,
		.word = "[{\"bindMountOptions\":[\"noexec\"]}]"},
};
SCHEMA(container, container_fields, bt_container_object);

/* Into a bool: whether an ephemeral container has a mount with options. */
static bool read_ephemeral_containers(struct bt_decode *decode, void *field)
{
	static const struct bt_field fields[] = {{.name = BT_STR("volumeMounts"),
		.type = BT_FIELD_CUSTOM,
		.offset = 0,
		.read = read_volume_mounts}};
	static const struct bt_schema ephemeral = BT_SCHEMA(fields, bool);

	if (!bt_json_enter_array(decode->json)) {
		return false;
	}
	while (bt_json_next_element(decode->json)) {
		bool binds_options = false;

		if (!bt_schema_decode(decode, &ephemeral, &binds_options)) {
			return false;
		}
		*(bool *)field |= binds_options;
	}
	return bt_json_error(decode->json)->status == BT_OK;
}

#define SOURCE(json, member) FIELD(json, STR, bt_volume_object, member)
#define READ_ONLY	     FIELD("readOnly", BOOL, bt_volume_object, read_only)
static const struct bt_field claim_source_fields[] = {SOURCE("claimName", source), READ_ONLY};
SCHEMA(claim_source, claim_source_fields, bt_volume_object);
static const struct bt_field ephemeral_source_fields[] = {
	FIELD("volumeClaimTemplate", RAW, bt_volume_object, claim_template)};
SCHEMA(ephemeral_source, ephemeral_source_fields, bt_volume_object);
static const struct bt_field image_source_fields[] = {SOURCE("reference", source)};
SCHEMA(image_source, image_source_fields, bt_volume_object);
static const struct bt_field gce_source_fields[] = {SOURCE("pdName", source), READ_ONLY};
SCHEMA(gce_source, gce_source_fields, bt_volume_object);
static const struct bt_field volume_id_fields[] = {READ_ONLY, SOURCE("volumeID", source)};
SCHEMA(volume_id_source, volume_id_fields, bt_volume_object);
static const struct bt_field iscsi_source_fields[] = {
	SOURCE("iqn", source), READ_ONLY, SOURCE("targetPortal", portal)};
SCHEMA(iscsi_source, iscsi_source_fields, bt_volume_object);
static const struct bt_field rbd_source_fields[] = {
	SOURCE("image", source),
	FIELD("monitors", STR_LIST, bt_volume_object, monitors),
	SOURCE("pool", pool),
	READ_ONLY,
};
SCHEMA(rbd_source, rbd_source_fields, bt_volume_object);
static const struct bt_field azure_source_fields[] = {
	SOURCE("diskURI", source), SOURCE("kind", kind), READ_ONLY};
SCHEMA(azure_source, azure_source_fields, bt_volume_object);
/* Only its presence matters. */
static const struct bt_field no_source_fields[] = {READ_ONLY};
SCHEMA(no_source, no_source_fields, bt_volume_object);
static const struct bt_field csi_source_fields[] = {SOURCE("driver", source), READ_ONLY};
SCHEMA(csi_source, csi_source_fields, bt_volume_object);

#define VOLUME(json, kind, table)                                                                            \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_OBJECT, .schema = &(table),                           \
		.tag = BT_MEMBER(struct bt_volume_object, type), .tag_value = BT_VOLUME_##kind               \
	}
static const struct bt_field volume_fields[] = {
	VOLUME("awsElasticBlockStore", AWS_EBS, volume_id_source),
	VOLUME("azureDisk", AZURE_DISK, azure_source),
	VOLUME("azureFile", AZURE_FILE, no_source),
	VOLUME("cinder", CINDER, volume_id_source),
	VOLUME("csi", CSI_INLINE, csi_source),
	VOLUME("ephemeral", EPHEMERAL, ephemeral_source),
	VOLUME("gcePersistentDisk", GCE_PD, gce_source),
	VOLUME("image", IMAGE, image_source),
	VOLUME("iscsi", ISCSI, iscsi_source),
	FIELD("name", STR, bt_volume_object, name),
	VOLUME("persistentVolumeClaim", CLAIM, claim_source),
	VOLUME("portworxVolume", PORTWORX, volume_id_source),
	VOLUME("rbd", RBD, rbd_source),
	VOLUME("vsphereVolume", VSPHERE, no_source),
};
SCHEMA(volume, volume_fields, bt_volume_object);

static const struct bt_field pod_claim_fields[] = {
	FIELD("name", STR, bt_pod_claim_object, name),
	FIELD("resourceClaimName", STR, bt_pod_claim_object, claim_name),
	FIELD("resourceClaimTemplateName", STR, bt_pod_claim_object, template_name),
};
SCHEMA(pod_claim, pod_claim_fields, bt_pod_claim_object);

static const struct bt_field extended_mapping_fields[] = {
	FIELD("containerName", STR, bt_extended_mapping_object, container),
	FIELD("requestName", STR, bt_extended_mapping_object, request),
	FIELD("resourceName", STR, bt_extended_mapping_object, resource),
};
SCHEMA(extended_mapping, extended_mapping_fields, bt_extended_mapping_object);

static const struct bt_field extended_status_fields[] = {
	ARRAY("requestMappings", bt_pod_object, extended_mappings, extended_mapping_n, extended_mapping),
	FIELD("resourceClaimName", STR, bt_pod_object, extended_claim),
};
SCHEMA(extended_status, extended_status_fields, bt_pod_object);

static const struct bt_field scheduling_group_fields[] = {
	FIELD("podGroupName", STR, bt_pod_spec_object, pod_group),
};
SCHEMA(scheduling_group, scheduling_group_fields, bt_pod_spec_object);

static const struct bt_field workload_reference_fields[] = {
	FIELD("name", STR, bt_workload_reference, name),
	FIELD("podGroup", STR, bt_workload_reference, pod_group),
	FIELD("podGroupReplicaKey", STR, bt_workload_reference, replica_key),
};
SCHEMA(workload_reference, workload_reference_fields, bt_workload_reference);

static const struct bt_field pod_spec_fields[] = {
	FIELD_HAS("activeDeadlineSeconds", I64, bt_pod_spec_object, active_deadline_s, has_active_deadline),
	OBJECT("affinity", bt_pod_spec_object, affinity, affinity),
	ARRAY("containers", bt_pod_spec_object, containers, container_n, container),
	{.name = BT_STR("ephemeralContainers"),
		.type = BT_FIELD_CUSTOM,
		.offset = offsetof(struct bt_pod_spec_object, ephemeral_binds_options),
		.read = read_ephemeral_containers,
		.word = "[{\"volumeMounts\":[{\"bindMountOptions\":[\"noexec\"]}]}]"},
	FIELD("hostNetwork", BOOL, bt_pod_spec_object, host_network),
	FIELD_HAS("hostUsers", BOOL, bt_pod_spec_object, host_users, has_host_users),
	FIELD("incomplete", STR, bt_pod_spec_object, incomplete), /* in journals alone */
	ARRAY("initContainers", bt_pod_spec_object, init_containers, init_container_n, container),
	FIELD("nodeName", STR, bt_pod_spec_object, node_name),
	FIELD("nodeSelector", STR_MAP, bt_pod_spec_object, node_selector),
	FIELD("overhead", RESOURCES, bt_pod_spec_object, overhead),
	FIELD("preemptionPolicy", STR, bt_pod_spec_object, preemption_policy),
	FIELD_HAS("priority", I32, bt_pod_spec_object, priority, has_priority),
	FIELD("priorityClassName", STR, bt_pod_spec_object, priority_class_name),
	ARRAY("resourceClaims", bt_pod_spec_object, claims, claim_n, pod_claim),
	OBJECT_HAS("resources", bt_pod_spec_object, resources, requirements, resources.set),
	FIELD("restartPolicy", STR, bt_pod_spec_object, restart_policy),
	FIELD("runtimeClassName", STR, bt_pod_spec_object, runtime_class_name),
	FIELD("schedulerName", STR, bt_pod_spec_object, scheduler_name),
	NAMES("schedulingGates", bt_pod_spec_object, scheduling_gates, name_only),
	INLINE("schedulingGroup", scheduling_group),
	FIELD_HAS("terminationGracePeriodSeconds", I64, bt_pod_spec_object, termination_grace_s,
		has_termination_grace),
	ARRAY("tolerations", bt_pod_spec_object, tolerations, toleration_n, bt_toleration_schema),
	ARRAY("topologySpreadConstraints", bt_pod_spec_object, spread, spread_n, spread),
	ARRAY("volumes", bt_pod_spec_object, volumes, volume_n, volume),
	OBJECT("workloadRef", bt_pod_spec_object, workload_ref, workload_reference),
};
static const struct bt_schema pod_spec = BT_SCHEMA(pod_spec_fields, struct bt_pod_spec_object);

/* Pod. */
static const struct bt_field condition_fields[] = {
	FIELD("lastTransitionTime", STR, bt_condition_object, transition),
	FIELD("message", STR, bt_condition_object, message),
	FIELD("observedGeneration", I64, bt_condition_object, observed_generation),
	FIELD("reason", STR, bt_condition_object, reason),
	FIELD("status", STR, bt_condition_object, status),
	FIELD("type", STR, bt_condition_object, type),
};
const struct bt_schema bt_condition_schema = BT_SCHEMA(condition_fields, struct bt_condition_object);

static const struct bt_field container_status_fields[] = {
	FIELD("allocatedResources", RESOURCES, bt_container_status_object, allocated),
	FIELD("name", STR, bt_container_status_object, name),
	OBJECT_HAS("resources", bt_container_status_object, resources, requirements, resources.set),
};
SCHEMA(container_status, container_status_fields, bt_container_status_object);

static const struct bt_field mapped_fields[] = {
	FIELD("name", STR, bt_named_quantity, name),
	FIELD("quantity", QUANTITY, bt_named_quantity, quantity),
};
SCHEMA(mapped, mapped_fields, bt_named_quantity);
static const struct bt_field overhead_fields[] = {
	FIELD("name", STR, bt_node_overhead_object, name),
	FIELD_HAS("perContainer", QUANTITY, bt_node_overhead_object, per_container, has_per_container),
	FIELD_HAS("perPod", QUANTITY, bt_node_overhead_object, per_pod, has_per_pod),
};
SCHEMA(overhead, overhead_fields, bt_node_overhead_object);
static const struct bt_field node_claim_fields[] = {
	FIELD("containers", STR_LIST, bt_node_claim_object, containers),
	ARRAY("mapping", bt_node_claim_object, mapping, mapping_n, mapped),
	ARRAY("overhead", bt_node_claim_object, overheads, overhead_n, overhead),
	FIELD("resourceClaimName", STR, bt_node_claim_object, claim),
	FIELD("resources", RESOURCES, bt_node_claim_object, resources),
};
SCHEMA(node_claim, node_claim_fields, bt_node_claim_object);

static const struct bt_field pod_status_fields[] = {
	FIELD("allocatedResources", RESOURCES, bt_pod_object, allocated),
	ARRAY("conditions", bt_pod_object, conditions, condition_n, bt_condition_schema),
	ARRAY("containerStatuses", bt_pod_object, container_statuses, container_status_n, container_status),
	INLINE("extendedResourceClaimStatus", extended_status),
	ARRAY("initContainerStatuses", bt_pod_object, init_container_statuses, init_container_status_n,
		container_status),
	ARRAY("nodeAllocatableResourceClaimStatuses", bt_pod_object, node_claims, node_claim_n, node_claim),
	FIELD("nominatedNodeName", STR, bt_pod_object, nominated_node_name),
	FIELD("phase", STR, bt_pod_object, phase),
	ARRAY("resourceClaimStatuses", bt_pod_object, claim_statuses, claim_status_n, pod_claim),
	OBJECT_HAS("resources", bt_pod_object, resources, requirements, resources.set),
	FIELD("startTime", TIME, bt_pod_object, start_ns),
};
SCHEMA(pod_status, pod_status_fields, bt_pod_object);

static const struct bt_field pod_fields[] = {
	HEADER,
	META(bt_pod_object),
	OBJECT("spec", bt_pod_object, spec, pod_spec),
	INLINE("status", pod_status),
};

/* Node. */
static const struct bt_field preemption_policy_fields[] = {
	FIELD("disableResizePreemption", STR_LIST, bt_node_object, no_resize_preemption),
};
SCHEMA(preemption_policy, preemption_policy_fields, bt_node_object);

static const struct bt_field node_spec_fields[] = {
	{.name = BT_STR("podPreemptionPolicy"),
		.type = BT_FIELD_OBJECT,
		.schema = &preemption_policy,
		.flag = BT_MEMBER(struct bt_node_object, has_preemption_policy)},
	ARRAY("taints", bt_node_object, taints, taint_n, bt_taint_schema),
	FIELD("unschedulable", BOOL, bt_node_object, unschedulable),
};
SCHEMA(node_spec, node_spec_fields, bt_node_object);

static const struct bt_field image_fields[] = {
	FIELD("names", STR_LIST, bt_image_object, names),
	FIELD("sizeBytes", I64, bt_image_object, size_bytes),
};
SCHEMA(image, image_fields, bt_image_object);

static const struct bt_field node_status_fields[] = {
	FIELD("allocatable", RESOURCES, bt_node_object, allocatable),
	FIELD("capacity", RESOURCES, bt_node_object, capacity),
	ARRAY("conditions", bt_node_object, conditions, condition_n, bt_condition_schema),
	FIELD("declaredFeatures", STR_LIST, bt_node_object, declared_features),
	ARRAY("images", bt_node_object, images, image_n, image),
};
SCHEMA(node_status, node_status_fields, bt_node_object);

static const struct bt_field node_fields[] = {
	HEADER,
	META(bt_node_object),
	INLINE("spec", node_spec),
	INLINE("status", node_status),
};

/* Small kinds. */
static const struct bt_field other_fields[] = {HEADER, META(bt_other_object)};

static const struct bt_field priority_class_fields[] = {
	HEADER,
	FIELD("globalDefault", BOOL, bt_priority_class_object, global_default),
	META(bt_priority_class_object),
	FIELD("preemptionPolicy", STR, bt_priority_class_object, preemption_policy),
	FIELD("value", I32, bt_priority_class_object, value),
};

static const struct bt_field runtime_overhead_fields[] = {
	FIELD("podFixed", RESOURCES, bt_runtime_class_object, overhead)};
SCHEMA(runtime_overhead, runtime_overhead_fields, bt_runtime_class_object);
static const struct bt_field runtime_scheduling_fields[] = {
	FIELD("nodeSelector", STR_MAP, bt_runtime_class_object, node_selector),
	ARRAY("tolerations", bt_runtime_class_object, tolerations, toleration_n, bt_toleration_schema),
};
SCHEMA(runtime_scheduling, runtime_scheduling_fields, bt_runtime_class_object);
static const struct bt_field runtime_class_fields[] = {
	HEADER,
	META(bt_runtime_class_object),
	{.name = BT_STR("overhead"),
		.type = BT_FIELD_OBJECT,
		.schema = &runtime_overhead,
		.flag = BT_MEMBER(struct bt_runtime_class_object, has_overhead)},
	{.name = BT_STR("scheduling"),
		.type = BT_FIELD_OBJECT,
		.schema = &runtime_scheduling,
		.flag = BT_MEMBER(struct bt_runtime_class_object, has_scheduling)},
};

static const struct bt_field limit_fields[] = {
	FIELD("default", RESOURCES, bt_limit_object, default_limits),
	FIELD("defaultRequest", RESOURCES, bt_limit_object, default_requests),
	FIELD("max", RESOURCES, bt_limit_object, max),
	FIELD("maxLimitRequestRatio", RESOURCES, bt_limit_object, max_ratio),
	FIELD("min", RESOURCES, bt_limit_object, min),
	FIELD("type", STR, bt_limit_object, type),
};
SCHEMA(limit, limit_fields, bt_limit_object);
static const struct bt_field limit_range_spec_fields[] = {
	ARRAY("limits", bt_limit_range_object, limits, limit_n, limit)};
SCHEMA(limit_range_spec, limit_range_spec_fields, bt_limit_range_object);
static const struct bt_field limit_range_fields[] = {
	HEADER, META(bt_limit_range_object), INLINE("spec", limit_range_spec)};

static const struct bt_field scope_term_fields[] = {
	FIELD("operator", STR, bt_requirement_object, operator_),
	FIELD("scopeName", STR, bt_requirement_object, key),
	FIELD("values", STR_LIST, bt_requirement_object, values),
};
SCHEMA(scope_term, scope_term_fields, bt_requirement_object);
static const struct bt_field scope_selector_fields[] = {
	ARRAY("matchExpressions", bt_quota_object, scope_terms.items, scope_terms.n, scope_term)};
SCHEMA(scope_selector, scope_selector_fields, bt_quota_object);
static const struct bt_field quota_spec_fields[] = {
	FIELD("hard", RESOURCES, bt_quota_object, hard),
	INLINE("scopeSelector", scope_selector),
	FIELD("scopes", STR_LIST, bt_quota_object, scopes),
};
SCHEMA(quota_spec, quota_spec_fields, bt_quota_object);
static const struct bt_field quota_status_fields[] = {FIELD("used", RESOURCES, bt_quota_object, used)};
SCHEMA(quota_status, quota_status_fields, bt_quota_object);
static const struct bt_field quota_fields[] = {
	HEADER, META(bt_quota_object), INLINE("spec", quota_spec), INLINE("status", quota_status)};

static const struct bt_field service_spec_fields[] = {
	FIELD("selector", STR_MAP, bt_service_object, selector)};
SCHEMA(service_spec, service_spec_fields, bt_service_object);
static const struct bt_field service_fields[] = {
	HEADER, META(bt_service_object), INLINE("spec", service_spec)};

static const struct bt_field gang_fields[] = {FIELD("minCount", I32, bt_pod_group_object, min_count)};
SCHEMA(gang, gang_fields, bt_pod_group_object);
static const struct bt_field scheduling_policy_fields[] = {
	{.name = BT_STR("gang"),
		.type = BT_FIELD_OBJECT,
		.schema = &gang,
		.flag = BT_MEMBER(struct bt_pod_group_object, gang)},
};
SCHEMA(scheduling_policy, scheduling_policy_fields, bt_pod_group_object);

static const struct bt_schema all_together = {.bytes = sizeof(struct bt_pod_group_object)};
static const struct bt_field disruption_fields[] = {
	{.name = BT_STR("all"),
		.type = BT_FIELD_OBJECT,
		.schema = &all_together,
		.flag = BT_MEMBER(struct bt_pod_group_object, together)},
};
SCHEMA(disruption, disruption_fields, bt_pod_group_object);

/* v1alpha2 has a string, later versions an object. */
static bool read_disruption_mode(struct bt_decode *decode, void *field)
{
	struct bt_pod_group_object modes = {.gang = false};
	struct bt_str word;

	if (bt_json_peek(decode->json) == BT_JSON_OBJECT) {
		bool read = bt_schema_decode(decode, &disruption, &modes);

		*(bool *)field = modes.together;
		return read;
	}
	if (!bt_decode_string(decode, &word)) {
		return false;
	}
	*(bool *)field = bt_str_is(word, "PodGroup");
	return true;
}

static const struct bt_field topology_constraint_fields[] = {
	{.name = BT_STR("key"), .type = BT_FIELD_STR, .offset = 0},
};
static const struct bt_schema topology_constraint = BT_SCHEMA(topology_constraint_fields, struct bt_str);
static const struct bt_field constraints_fields[] = {
	NAMES("topology", bt_pod_group_object, topology_keys, topology_constraint)};
SCHEMA(constraints, constraints_fields, bt_pod_group_object);

static const struct bt_field pod_group_spec_fields[] = {
	{.name = BT_STR("disruptionMode"),
		.type = BT_FIELD_CUSTOM,
		.offset = offsetof(struct bt_pod_group_object, together),
		.read = read_disruption_mode,
		.word = "{\"all\":{}}"},
	FIELD("parentCompositePodGroupName", STR, bt_pod_group_object, parent),
	FIELD("preemptionPolicy", STR, bt_pod_group_object, preemption_policy),
	FIELD_HAS("priority", I32, bt_pod_group_object, priority, has_priority),
	FIELD("priorityClassName", STR, bt_pod_group_object, priority_class_name),
	ARRAY("resourceClaims", bt_pod_group_object, claims, claim_n, pod_claim),
	{.name = BT_STR("schedulingConstraints"),
		.type = BT_FIELD_OBJECT,
		.schema = &constraints,
		.flag = BT_MEMBER(struct bt_pod_group_object, has_constraints)},
	INLINE("schedulingPolicy", scheduling_policy),
};
SCHEMA(pod_group_spec, pod_group_spec_fields, bt_pod_group_object);
static const struct bt_field pod_group_status_fields[] = {
	ARRAY("conditions", bt_pod_group_object, conditions, condition_n, bt_condition_schema),
	ARRAY("resourceClaimStatuses", bt_pod_group_object, claim_statuses, claim_status_n, pod_claim)};
SCHEMA(pod_group_status, pod_group_status_fields, bt_pod_group_object);
static const struct bt_field pod_group_fields[] = {HEADER, META(bt_pod_group_object),
	INLINE("spec", pod_group_spec), INLINE("status", pod_group_status)};

static const struct bt_field workload_gang_fields[] = {
	FIELD("minCount", I32, bt_workload_group_object, min_count)};
SCHEMA(workload_gang, workload_gang_fields, bt_workload_group_object);
static const struct bt_field workload_policy_fields[] = {
	{.name = BT_STR("gang"),
		.type = BT_FIELD_OBJECT,
		.schema = &workload_gang,
		.flag = BT_MEMBER(struct bt_workload_group_object, gang)},
};
SCHEMA(workload_policy, workload_policy_fields, bt_workload_group_object);
static const struct bt_field workload_group_fields[] = {
	FIELD("name", STR, bt_workload_group_object, name), INLINE("policy", workload_policy)};
SCHEMA(workload_group, workload_group_fields, bt_workload_group_object);
static const struct bt_field pod_workload_spec_fields[] = {
	ARRAY("podGroups", bt_pod_workload_object, groups, group_n, workload_group)};
SCHEMA(pod_workload_spec, pod_workload_spec_fields, bt_pod_workload_object);
static const struct bt_field pod_workload_fields[] = {
	HEADER, META(bt_pod_workload_object), INLINE("spec", pod_workload_spec)};

static const struct bt_field group_gang_fields[] = {
	FIELD("minGroupCount", I32, bt_pod_group_object, min_count)};
SCHEMA(group_gang, group_gang_fields, bt_pod_group_object);
static const struct bt_field composite_policy_fields[] = {
	{.name = BT_STR("gang"),
		.type = BT_FIELD_OBJECT,
		.schema = &group_gang,
		.flag = BT_MEMBER(struct bt_pod_group_object, gang)},
};
SCHEMA(composite_policy, composite_policy_fields, bt_pod_group_object);
static const struct bt_field composite_spec_fields[] = {
	INLINE("disruptionMode", disruption),
	FIELD("parentCompositePodGroupName", STR, bt_pod_group_object, parent),
	FIELD("preemptionPolicy", STR, bt_pod_group_object, preemption_policy),
	FIELD_HAS("priority", I32, bt_pod_group_object, priority, has_priority),
	FIELD("priorityClassName", STR, bt_pod_group_object, priority_class_name),
	INLINE("schedulingConstraints", constraints),
	INLINE("schedulingPolicy", composite_policy),
};
SCHEMA(composite_spec, composite_spec_fields, bt_pod_group_object);
static const struct bt_field composite_pod_group_fields[] = {
	HEADER, META(bt_pod_group_object), INLINE("spec", composite_spec)};

static const struct bt_field pdb_spec_fields[] = {
	OBJECT_HAS("selector", bt_pdb_object, selector, label_selector, selector.set),
};
SCHEMA(pdb_spec, pdb_spec_fields, bt_pdb_object);
static const struct bt_field pdb_status_fields[] = {
	FIELD("disruptedPods", KEYS, bt_pdb_object, disrupted_pods),
	FIELD("disruptionsAllowed", I32, bt_pdb_object, disruptions_allowed),
};
SCHEMA(pdb_status, pdb_status_fields, bt_pdb_object);
static const struct bt_field pdb_fields[] = {
	HEADER,
	META(bt_pdb_object),
	INLINE("spec", pdb_spec),
	INLINE("status", pdb_status),
};

/* Storage. */
#define PV_SOURCE(json, kind, table)                                                                         \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_OBJECT,                                               \
		.offset = offsetof(struct bt_persistent_volume_object, source), .schema = &(table),          \
		.tag = BT_MEMBER(struct bt_persistent_volume_object, source.type),                           \
		.tag_value = BT_VOLUME_##kind                                                                \
	}
static const struct bt_field csi_volume_fields[] = {SOURCE("driver", source), SOURCE("volumeHandle", handle)};
SCHEMA(csi_volume, csi_volume_fields, bt_volume_object);
static const struct bt_field claim_ref_fields[] = {
	FIELD("name", STR, bt_persistent_volume_object, claim_name),
	FIELD("namespace", STR, bt_persistent_volume_object, claim_namespace),
	FIELD("uid", STR, bt_persistent_volume_object, claim_uid),
};
SCHEMA(claim_ref, claim_ref_fields, bt_persistent_volume_object);
static const struct bt_field volume_affinity_fields[] = {
	OBJECT_HAS("required", bt_persistent_volume_object, affinity, bt_node_selector_schema, affinity.set)};
SCHEMA(volume_affinity, volume_affinity_fields, bt_persistent_volume_object);
static const struct bt_field pv_spec_fields[] = {
	FIELD("accessModes", STR_LIST, bt_persistent_volume_object, access_modes),
	PV_SOURCE("awsElasticBlockStore", AWS_EBS, volume_id_source),
	PV_SOURCE("azureDisk", AZURE_DISK, azure_source),
	FIELD("capacity", RESOURCES, bt_persistent_volume_object, capacity),
	PV_SOURCE("cinder", CINDER, volume_id_source),
	{.name = BT_STR("claimRef"),
		.type = BT_FIELD_OBJECT,
		.offset = 0,
		.schema = &claim_ref,
		.flag = BT_MEMBER(struct bt_persistent_volume_object, has_claim)},
	PV_SOURCE("csi", CSI_INLINE, csi_volume),
	PV_SOURCE("gcePersistentDisk", GCE_PD, gce_source),
	INLINE("nodeAffinity", volume_affinity),
	PV_SOURCE("portworxVolume", PORTWORX, volume_id_source),
	FIELD("storageClassName", STR, bt_persistent_volume_object, storage_class),
	FIELD("volumeAttributesClassName", STR, bt_persistent_volume_object, attributes_class),
	FIELD("volumeMode", STR, bt_persistent_volume_object, volume_mode),
};
SCHEMA(pv_spec, pv_spec_fields, bt_persistent_volume_object);
static const struct bt_field pv_status_fields[] = {FIELD("phase", STR, bt_persistent_volume_object, phase)};
SCHEMA(pv_status, pv_status_fields, bt_persistent_volume_object);
static const struct bt_field pv_fields[] = {
	HEADER, META(bt_persistent_volume_object), INLINE("spec", pv_spec), INLINE("status", pv_status)};

static const struct bt_field claim_resources_fields[] = {
	FIELD("requests", RESOURCES, bt_claim_object, requests)};
SCHEMA(claim_resources, claim_resources_fields, bt_claim_object);
static const struct bt_field claim_spec_fields[] = {
	FIELD("accessModes", STR_LIST, bt_claim_object, access_modes),
	INLINE("resources", claim_resources),
	OBJECT_HAS("selector", bt_claim_object, selector, label_selector, selector.set),
	FIELD_HAS("storageClassName", STR, bt_claim_object, storage_class, has_storage_class),
	FIELD("volumeAttributesClassName", STR, bt_claim_object, attributes_class),
	FIELD("volumeMode", STR, bt_claim_object, volume_mode),
	FIELD("volumeName", STR, bt_claim_object, volume_name),
};
SCHEMA(claim_spec, claim_spec_fields, bt_claim_object);
static const struct bt_field claim_status_fields[] = {FIELD("phase", STR, bt_claim_object, phase)};
SCHEMA(claim_status, claim_status_fields, bt_claim_object);
static const struct bt_field claim_fields[] = {
	HEADER, META(bt_claim_object), INLINE("spec", claim_spec), INLINE("status", claim_status)};
const struct bt_schema bt_claim_template_schema = BT_SCHEMA(claim_fields, struct bt_claim_object);

static const struct bt_field topology_requirement_fields[] = {
	FIELD("key", STR, bt_requirement_object, key),
	FIELD("values", STR_LIST, bt_requirement_object, values),
};
SCHEMA(topology_requirement, topology_requirement_fields, bt_requirement_object);
static const struct bt_field topology_term_fields[] = {
	ARRAY("matchLabelExpressions", bt_requirement_object_list, items, n, topology_requirement)};
SCHEMA(topology_term, topology_term_fields, bt_requirement_object_list);
static const struct bt_field storage_class_fields[] = {
	HEADER,
	ARRAY("allowedTopologies", bt_storage_class_object, topologies, topology_n, topology_term),
	META(bt_storage_class_object),
	FIELD("provisioner", STR, bt_storage_class_object, provisioner),
	FIELD("volumeBindingMode", STR, bt_storage_class_object, binding_mode),
};

static const struct bt_field csi_allocatable_fields[] = {
	FIELD_HAS("count", I32, bt_csi_node_driver_object, count, has_count)};
SCHEMA(csi_allocatable, csi_allocatable_fields, bt_csi_node_driver_object);
static const struct bt_field csi_node_driver_fields[] = {
	INLINE("allocatable", csi_allocatable),
	FIELD("name", STR, bt_csi_node_driver_object, name),
};
SCHEMA(csi_node_driver, csi_node_driver_fields, bt_csi_node_driver_object);
static const struct bt_field csi_node_spec_fields[] = {
	ARRAY("drivers", bt_csi_node_object, drivers, driver_n, csi_node_driver)};
SCHEMA(csi_node_spec, csi_node_spec_fields, bt_csi_node_object);
static const struct bt_field csi_node_fields[] = {
	HEADER, META(bt_csi_node_object), INLINE("spec", csi_node_spec)};

static const struct bt_field csi_driver_spec_fields[] = {
	FIELD("preventPodSchedulingIfMissing", BOOL, bt_csi_driver_object, prevent_if_missing),
	FIELD("storageCapacity", BOOL, bt_csi_driver_object, storage_capacity),
};
SCHEMA(csi_driver_spec, csi_driver_spec_fields, bt_csi_driver_object);
static const struct bt_field csi_driver_fields[] = {
	HEADER, META(bt_csi_driver_object), INLINE("spec", csi_driver_spec)};

static const struct bt_field storage_capacity_fields[] = {
	HEADER,
	FIELD_HAS("capacity", QUANTITY, bt_storage_capacity_object, capacity, has_capacity),
	FIELD_HAS("maximumVolumeSize", QUANTITY, bt_storage_capacity_object, maximum_size, has_maximum_size),
	META(bt_storage_capacity_object),
	OBJECT_HAS("nodeTopology", bt_storage_capacity_object, topology, label_selector, topology.set),
	FIELD("storageClassName", STR, bt_storage_capacity_object, storage_class),
};

static const struct bt_field attachment_source_fields[] = {
	FIELD("persistentVolumeName", STR, bt_attachment_object, volume_name)};
SCHEMA(attachment_source, attachment_source_fields, bt_attachment_object);
static const struct bt_field attachment_spec_fields[] = {
	FIELD("attacher", STR, bt_attachment_object, attacher),
	FIELD("nodeName", STR, bt_attachment_object, node_name),
	INLINE("source", attachment_source),
};
SCHEMA(attachment_spec, attachment_spec_fields, bt_attachment_object);
static const struct bt_field attachment_fields[] = {
	HEADER, META(bt_attachment_object), INLINE("spec", attachment_spec)};

/* Workloads. */
static const struct bt_field template_fields[] = {
	OBJECT("metadata", bt_workload_object, template_meta, bt_meta_schema),
	OBJECT("spec", bt_workload_object, template_spec, pod_spec),
};
SCHEMA(pod_template, template_fields, bt_workload_object);

static const struct bt_field ordinals_fields[] = {FIELD("start", I32, bt_workload_object, start_ordinal)};
SCHEMA(ordinals, ordinals_fields, bt_workload_object);

#define REPLICAS FIELD_HAS("replicas", I32, bt_workload_object, replicas, has_replicas)
#define SELECTOR OBJECT_HAS("selector", bt_workload_object, selector, label_selector, selector.set)
static const struct bt_field workload_spec_fields[] = {
	INLINE("ordinals", ordinals),
	FIELD("paused", TRUE, bt_workload_object, paused),
	REPLICAS,
	SELECTOR,
	INLINE("template", pod_template),
	ARRAY("volumeClaimTemplates", bt_workload_object, claim_templates, claim_template_n,
		bt_claim_template_schema),
};
SCHEMA(workload_spec, workload_spec_fields, bt_workload_object);

/* A replication controller's selector is a plain map. */
static const struct bt_field rc_spec_fields[] = {
	REPLICAS,
	FIELD_HAS("selector", STR_MAP, bt_workload_object, selector.match_labels, selector.set),
	INLINE("template", pod_template),
};
SCHEMA(rc_spec, rc_spec_fields, bt_workload_object);

static const struct bt_field job_spec_fields[] = {
	{.name = BT_STR("completionMode"),
		.type = BT_FIELD_IS,
		.offset = offsetof(struct bt_workload_object, indexed),
		.word = "Indexed"},
	FIELD_HAS("completions", I32, bt_workload_object, completions, has_completions),
	FIELD("managedBy", STR, bt_workload_object, managed_by),
	FIELD_HAS("parallelism", I32, bt_workload_object, parallelism, has_parallelism),
	{.name = BT_STR("podReplacementPolicy"),
		.type = BT_FIELD_IS,
		.offset = offsetof(struct bt_workload_object, replaces_failed_only),
		.word = "Failed"},
	SELECTOR,
	FIELD("suspend", TRUE, bt_workload_object, suspend),
	INLINE("template", pod_template),
};
SCHEMA(job_spec, job_spec_fields, bt_workload_object);

/* Into a bool: whether a Job's conditions show that it has ended, or will end. */
static bool read_job_conditions(struct bt_decode *decode, void *field)
{
	if (!bt_json_enter_array(decode->json)) {
		return false;
	}
	while (bt_json_next_element(decode->json)) {
		struct bt_condition_object item = {0};

		if (!bt_schema_decode(decode, &bt_condition_schema, &item)) {
			return false;
		}
		*(bool *)field |= bt_str_is(item.status, "True") &&
				  (bt_str_is(item.type, "Complete") || bt_str_is(item.type, "Failed") ||
					  bt_str_is(item.type, "SuccessCriteriaMet") ||
					  bt_str_is(item.type, "FailureTarget"));
	}
	return bt_json_error(decode->json)->status == BT_OK;
}

static const struct bt_field job_status_fields[] = {
	FIELD("completedIndexes", STR, bt_workload_object, completed_indexes),
	{.name = BT_STR("conditions"),
		.type = BT_FIELD_CUSTOM,
		.offset = offsetof(struct bt_workload_object, finished),
		.read = read_job_conditions,
		.word = "[{\"type\":\"Complete\",\"status\":\"True\"}]"},
	FIELD("failedIndexes", STR, bt_workload_object, failed_indexes),
	FIELD("succeeded", I32, bt_workload_object, succeeded),
};
SCHEMA(job_status, job_status_fields, bt_workload_object);

static const struct bt_field job_template_fields[] = {INLINE("spec", job_spec)};
SCHEMA(job_template, job_template_fields, bt_workload_object);
static const struct bt_field cron_spec_fields[] = {
	INLINE("jobTemplate", job_template),
	FIELD("suspend", TRUE, bt_workload_object, suspend),
};
SCHEMA(cron_spec, cron_spec_fields, bt_workload_object);

static const struct bt_field workload_fields[] = {
	HEADER, META(bt_workload_object), INLINE("spec", workload_spec)};
static const struct bt_field rc_fields[] = {HEADER, META(bt_workload_object), INLINE("spec", rc_spec)};
static const struct bt_field job_fields[] = {
	HEADER, META(bt_workload_object), INLINE("spec", job_spec), INLINE("status", job_status)};
static const struct bt_field cron_fields[] = {HEADER, META(bt_workload_object), INLINE("spec", cron_spec)};

static const struct bt_kind_schema kinds[BT_KIND_N] = {
	[BT_KIND_OTHER] = {BT_KIND_OTHER, BT_SCHEMA(other_fields, struct bt_other_object)},
#define BT_KIND(id, word, where, scope, store, event, watch, holder, fields)                                 \
	[BT_KIND_##id] = {BT_KIND_##id, BT_SCHEMA(fields, struct holder)},
#include "engine/model/kind.def"
#undef BT_KIND
};

const struct bt_kind_schema *bt_kind_schema(struct bt_str api_version, struct bt_str kind)
{
	return &kinds[bt_kind_of(api_version, kind)];
}

const struct bt_kind_schema *bt_kind_schema_of(enum bt_kind id)
{
	return &kinds[id];
}
