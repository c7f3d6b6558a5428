/* SPDX-License-Identifier: Apache-2.0
 * Numbers and names of the decoded fields of protobuf messages. Source: generated.proto of
 * k8s.io/api/core/v1 and k8s.io/apimachinery, v0.36.3.
 */
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/format/proto_int.h"
#include "tools/format/wire.h"

#define MESSAGE(message, ...)                                                                                \
	static const struct bt_proto_number message##_numbers[] = {__VA_ARGS__};                             \
	static const struct bt_proto_message message = {                                                     \
		message##_numbers, sizeof(message##_numbers) / sizeof(message##_numbers[0])}

/* metav1.Time, of which a string or a number of nanoseconds is made. */
static const struct bt_proto_message proto_time = {NULL, 0};

/* Metadata. */
MESSAGE(owner, {1, "kind", NULL}, {3, "name", NULL}, {4, "uid", NULL}, {5, "apiVersion", NULL},
	{6, "controller", NULL});
MESSAGE(meta, {1, "name", NULL}, {2, "generateName", NULL}, {3, "namespace", NULL}, {5, "uid", NULL},
	{6, "resourceVersion", NULL}, {7, "generation", NULL}, {8, "creationTimestamp", &proto_time},
	{9, "deletionTimestamp", &proto_time}, {10, "deletionGracePeriodSeconds", NULL}, {11, "labels", NULL},
	{12, "annotations", NULL}, {13, "ownerReferences", &owner}, {14, "finalizers", NULL});

/* Selectors and affinity. */
MESSAGE(requirement, {1, "key", NULL}, {2, "operator", NULL}, {3, "values", NULL});
MESSAGE(label_selector, {1, "matchLabels", NULL}, {2, "matchExpressions", &requirement});
MESSAGE(node_term, {1, "matchExpressions", &requirement}, {2, "matchFields", &requirement});
MESSAGE(node_selector, {1, "nodeSelectorTerms", &node_term});
MESSAGE(preferred_node_term, {1, "weight", NULL}, {2, "preference", &node_term});
MESSAGE(node_affinity, {1, "requiredDuringSchedulingIgnoredDuringExecution", &node_selector},
	{2, "preferredDuringSchedulingIgnoredDuringExecution", &preferred_node_term});
MESSAGE(pod_term, {1, "labelSelector", &label_selector}, {2, "namespaces", NULL}, {3, "topologyKey", NULL},
	{4, "namespaceSelector", &label_selector}, {5, "matchLabelKeys", NULL},
	{6, "mismatchLabelKeys", NULL});
MESSAGE(weighted_pod_term, {1, "weight", NULL}, {2, "podAffinityTerm", &pod_term});
MESSAGE(pod_affinity, {1, "requiredDuringSchedulingIgnoredDuringExecution", &pod_term},
	{2, "preferredDuringSchedulingIgnoredDuringExecution", &weighted_pod_term});
MESSAGE(affinity, {1, "nodeAffinity", &node_affinity}, {2, "podAffinity", &pod_affinity},
	{3, "podAntiAffinity", &pod_affinity});
MESSAGE(toleration, {1, "key", NULL}, {2, "operator", NULL}, {3, "value", NULL}, {4, "effect", NULL},
	{5, "tolerationSeconds", NULL});
MESSAGE(taint, {1, "key", NULL}, {2, "value", NULL}, {3, "effect", NULL}, {4, "timeAdded", &proto_time});
MESSAGE(spread, {1, "maxSkew", NULL}, {2, "topologyKey", NULL}, {3, "whenUnsatisfiable", NULL},
	{4, "labelSelector", &label_selector}, {5, "minDomains", NULL}, {6, "nodeAffinityPolicy", NULL},
	{7, "nodeTaintsPolicy", NULL}, {8, "matchLabelKeys", NULL});

/* Containers. */
MESSAGE(named, {1, "name", NULL});
MESSAGE(requirements, {1, "limits", NULL}, {2, "requests", NULL}, {3, "claims", &named});
MESSAGE(port, {2, "hostPort", NULL}, {3, "containerPort", NULL}, {4, "protocol", NULL}, {5, "hostIP", NULL});
MESSAGE(container, {1, "name", NULL}, {2, "image", NULL}, {6, "ports", &port},
	{8, "resources", &requirements}, {9, "volumeMounts", NULL}, {24, "restartPolicy", NULL},
	{25, "restartPolicyRules", NULL});
MESSAGE(container_status, {1, "name", NULL}, {10, "allocatedResources", NULL},
	{11, "resources", &requirements});

/* Volumes. */
MESSAGE(gce, {1, "pdName", NULL}, {4, "readOnly", NULL});
MESSAGE(ebs, {1, "volumeID", NULL}, {4, "readOnly", NULL});
MESSAGE(iscsi, {1, "targetPortal", NULL}, {2, "iqn", NULL}, {6, "readOnly", NULL});
MESSAGE(claim, {1, "claimName", NULL}, {2, "readOnly", NULL});
MESSAGE(rbd, {1, "monitors", NULL}, {2, "image", NULL}, {4, "pool", NULL}, {8, "readOnly", NULL});
MESSAGE(volume_id, {1, "volumeID", NULL}, {3, "readOnly", NULL}); /* cinder and portworx */
MESSAGE(azure_file, {3, "readOnly", NULL});
MESSAGE(azure_disk, {2, "diskURI", NULL}, {5, "readOnly", NULL}, {6, "kind", NULL});
MESSAGE(csi, {1, "driver", NULL}, {2, "readOnly", NULL});
MESSAGE(image_source, {1, "reference", NULL});
static const struct bt_proto_message nothing = {NULL, 0};
MESSAGE(source, {3, "gcePersistentDisk", &gce}, {4, "awsElasticBlockStore", &ebs}, {8, "iscsi", &iscsi},
	{10, "persistentVolumeClaim", &claim}, {11, "rbd", &rbd}, {13, "cinder", &volume_id},
	{18, "azureFile", &azure_file}, {20, "vsphereVolume", &nothing}, {22, "azureDisk", &azure_disk},
	{24, "portworxVolume", &volume_id}, {28, "csi", &csi}, {29, "ephemeral", &nothing},
	{30, "image", &image_source});
MESSAGE(volume, {1, "name", NULL}, {2, NULL, &source});

/* Pod. */
MESSAGE(pod_claim, {1, "name", NULL}, {3, "resourceClaimName", NULL}, {4, "resourceClaimTemplateName", NULL});
MESSAGE(group, {1, "podGroupName", NULL});
MESSAGE(workload_reference, {1, "name", NULL}, {2, "podGroup", NULL}, {3, "podGroupReplicaKey", NULL});
MESSAGE(pod_spec, {1, "volumes", &volume}, {2, "containers", &container}, {3, "restartPolicy", NULL},
	{4, "terminationGracePeriodSeconds", NULL}, {5, "activeDeadlineSeconds", NULL},
	{7, "nodeSelector", NULL}, {10, "nodeName", NULL}, {11, "hostNetwork", NULL},
	{18, "affinity", &affinity}, {19, "schedulerName", NULL}, {20, "initContainers", &container},
	{22, "tolerations", &toleration}, {24, "priorityClassName", NULL}, {25, "priority", NULL},
	{29, "runtimeClassName", NULL}, {31, "preemptionPolicy", NULL}, {32, "overhead", NULL},
	{33, "topologySpreadConstraints", &spread}, {34, "ephemeralContainers", NULL},
	{37, "hostUsers", NULL}, {38, "schedulingGates", &named}, {39, "resourceClaims", &pod_claim},
	{40, "resources", &requirements}, {42, "workloadRef", &workload_reference},
	{43, "schedulingGroup", &group});
MESSAGE(pod_condition, {1, "type", NULL}, {2, "status", NULL}, {4, "lastTransitionTime", &proto_time},
	{5, "reason", NULL}, {6, "message", NULL}, {7, "observedGeneration", NULL});
MESSAGE(claim_status, {1, "name", NULL}, {2, "resourceClaimName", NULL});
MESSAGE(extended_mapping, {1, "containerName", NULL}, {2, "resourceName", NULL}, {3, "requestName", NULL});
MESSAGE(extended_status, {1, "requestMappings", &extended_mapping}, {2, "resourceClaimName", NULL});
MESSAGE(mapped, {1, "name", NULL}, {2, "quantity", NULL});
MESSAGE(claim_overhead, {1, "name", NULL}, {2, "perPod", NULL}, {3, "perContainer", NULL});
MESSAGE(node_claim, {1, "resourceClaimName", NULL}, {2, "containers", NULL}, {3, "resources", NULL},
	{4, "mapping", &mapped}, {5, "overhead", &claim_overhead});
MESSAGE(pod_status, {1, "phase", NULL}, {2, "conditions", &pod_condition}, {7, "startTime", &proto_time},
	{8, "containerStatuses", &container_status}, {10, "initContainerStatuses", &container_status},
	{11, "nominatedNodeName", NULL}, {15, "resourceClaimStatuses", &claim_status},
	{18, "extendedResourceClaimStatus", &extended_status}, {19, "allocatedResources", NULL},
	{20, "resources", &requirements}, {21, "nodeAllocatableResourceClaimStatuses", &node_claim});
static const struct bt_proto_number pod_numbers[] = {
	{1, "metadata", &meta}, {2, "spec", &pod_spec}, {3, "status", &pod_status}};
const struct bt_proto_message bt_proto_pod = {pod_numbers, 3};

/* Node. */
MESSAGE(node_policy, {1, "disableResizePreemption", NULL});
MESSAGE(node_spec, {4, "unschedulable", NULL}, {5, "taints", &taint},
	{8, "podPreemptionPolicy", &node_policy});
MESSAGE(node_condition, {1, "type", NULL}, {2, "status", NULL}, {4, "lastTransitionTime", &proto_time},
	{5, "reason", NULL}, {6, "message", NULL});
MESSAGE(image, {1, "names", NULL}, {2, "sizeBytes", NULL});
MESSAGE(node_status, {1, "capacity", NULL}, {2, "allocatable", NULL}, {4, "conditions", &node_condition},
	{8, "images", &image}, {14, "declaredFeatures", NULL});
static const struct bt_proto_number node_numbers[] = {
	{1, "metadata", &meta}, {2, "spec", &node_spec}, {3, "status", &node_status}};
const struct bt_proto_message bt_proto_node = {node_numbers, 3};

/* Identities. */
MESSAGE(meta_identity, {1, "name", NULL}, {3, "namespace", NULL}, {5, "uid", NULL},
	{6, "resourceVersion", NULL});
MESSAGE(pod_spec_identity, {10, "nodeName", NULL});
static const struct bt_proto_number pod_identity_numbers[] = {
	{1, "metadata", &meta_identity}, {2, "spec", &pod_spec_identity}};
const struct bt_proto_message bt_proto_pod_identity = {pod_identity_numbers, 2};
static const struct bt_proto_number node_identity_numbers[] = {{1, "metadata", &meta_identity}};
const struct bt_proto_message bt_proto_node_identity = {node_identity_numbers, 1};

/* ---- ready to be read ---- */

static const struct bt_field *field_of(const struct bt_schema *schema, const char *name)
{
	for (uint32_t i = 0; i < schema->field_n; i++) {
		if (bt_str_is(schema->fields[i].name, name)) {
			return &schema->fields[i];
		}
	}
	return NULL;
}

static enum bt_proto_action action_of(const struct bt_field *field, bool is_time)
{
	switch (field->type) {
	case BT_FIELD_STR:
		return is_time ? BT_PROTO_TIME_TEXT : BT_PROTO_STR;
	case BT_FIELD_BOOL:
		return BT_PROTO_BOOL;
	case BT_FIELD_I32:
		return BT_PROTO_I32;
	case BT_FIELD_I64:
		return BT_PROTO_I64;
	case BT_FIELD_TIME:
		return BT_PROTO_TIME;
	case BT_FIELD_QUANTITY:
		return BT_PROTO_QUANTITY;
	case BT_FIELD_RESOURCES:
		return BT_PROTO_RESOURCES;
	case BT_FIELD_STR_LIST:
		return BT_PROTO_STR_LIST;
	case BT_FIELD_STR_MAP:
		return BT_PROTO_STR_MAP;
	case BT_FIELD_NAMES:
		return BT_PROTO_NAMES;
	case BT_FIELD_OBJECT:
		return BT_PROTO_OBJECT;
	case BT_FIELD_ARRAY:
		return BT_PROTO_ARRAY;
	case BT_FIELD_CUSTOM:
		return bt_str_is(field->name, "volumeMounts")	       ? BT_PROTO_MOUNTS
		       : bt_str_is(field->name, "ephemeralContainers") ? BT_PROTO_EPHEMERAL
								       : BT_PROTO_RULES;
	default:
		return BT_PROTO_SKIP;
	}
}

static bool is_number(enum bt_proto_action action)
{
	return action == BT_PROTO_BOOL || action == BT_PROTO_I32 || action == BT_PROTO_I64;
}

static struct bt_proto_field make_field(const struct bt_proto_number *number, const struct bt_schema *schema)
{
	if (!number->name) {
		return (struct bt_proto_field){.action = BT_PROTO_OBJECT,
			.wire = BT_WIRE_BYTES,
			.plan = bt_proto_plan_create(number->message, schema),
			.name = "volumeSource"};
	}
	const struct bt_field *field = field_of(schema, number->name);
	BT_REQUIRE(field);
	enum bt_proto_action action = action_of(field, number->message == &proto_time);
	BT_REQUIRE(action != BT_PROTO_SKIP);
	bool nested = action == BT_PROTO_OBJECT || action == BT_PROTO_ARRAY || action == BT_PROTO_NAMES;
	return (struct bt_proto_field){.action = (uint8_t)action,
		.wire = is_number(action) ? BT_WIRE_VARINT : BT_WIRE_BYTES,
		.offset = field->offset,
		.count = field->count,
		.flag = field->flag,
		.tag = field->tag,
		.tag_value = field->tag_value,
		.bytes = action == BT_PROTO_ARRAY ? field->schema->bytes : 0,
		.plan = nested ? bt_proto_plan_create(number->message, field->schema) : NULL,
		.name = number->name};
}

struct bt_proto_plan *bt_proto_plan_create(
	const struct bt_proto_message *message, const struct bt_schema *schema)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < message->n; i++) {
		n = message->numbers[i].number >= n ? message->numbers[i].number + 1 : n;
	}
	BT_REQUIRE(n <= 64);
	struct bt_proto_plan *plan = bt_mem_zalloc(1, sizeof(*plan) + n * sizeof(plan->fields[0]));
	plan->n = n;
	for (uint32_t i = 0; i < message->n; i++) {
		plan->fields[message->numbers[i].number] = make_field(&message->numbers[i], schema);
	}
	return plan;
}

void bt_proto_plan_destroy(struct bt_proto_plan *plan)
{
	for (uint32_t i = 0; plan && i < plan->n; i++) {
		bt_proto_plan_destroy(plan->fields[i].plan);
	}
	bt_mem_free(plan);
}
