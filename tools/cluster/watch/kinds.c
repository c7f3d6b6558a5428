/* SPDX-License-Identifier: Apache-2.0
 * The kinds that are watched.
 */
#include "tools/cluster/watch/kinds.h"

#include <assert.h>
#include <stddef.h>

#define CORE(id, word, plural)                                                                               \
	{                                                                                                    \
		.kind = BT_KIND_##id, .name = (word), .resource = (plural), .group = "", .versions = {       \
			{"v1", "/api/v1/" plural}                                                            \
		}                                                                                            \
	}
#define GROUP(id, word, plural, of, version, ...)                                                            \
	{                                                                                                    \
		.kind = BT_KIND_##id, .name = (word), .resource = (plural), .group = (of),                   \
		.versions = {{of "/" version, "/apis/" of "/" version "/" plural}}, __VA_ARGS__              \
	}
#define DEVICE(id, word, plural, words)                                                                      \
	{                                                                                                    \
		.kind = BT_KIND_##id, .name = (word), .resource = (plural), .group = "resource.k8s.io",      \
		.optional = true, .without = (words), .versions = {                                          \
			{"resource.k8s.io/v1", "/apis/resource.k8s.io/v1/" plural},                          \
			{"resource.k8s.io/v1beta2", "/apis/resource.k8s.io/v1beta2/" plural}                 \
		}                                                                                            \
	}

/* A kind, and the gate without which nobody asks for it. */
struct gated {
	struct bt_watch_kind kind;
	enum bt_gate gate; /* BT_GATE_N: always */
};

static const struct gated kinds[] = {
	{CORE(NODE, "Node", "nodes"), BT_GATE_N},
	{{.kind = BT_KIND_POD,
		 .name = "Pod",
		 .resource = "pods",
		 .group = "",
		 .selector = BT_WATCH_ALIVE,
		 .versions = {{"v1", "/api/v1/pods"}}},
		BT_GATE_N},
	{CORE(NAMESPACE, "Namespace", "namespaces"), BT_GATE_N},
	{CORE(SERVICE, "Service", "services"), BT_GATE_N},
	{CORE(REPLICATION_CONTROLLER, "ReplicationController", "replicationcontrollers"), BT_GATE_N},
	{GROUP(REPLICA_SET, "ReplicaSet", "replicasets", "apps", "v1", .optional = false), BT_GATE_N},
	{GROUP(STATEFUL_SET, "StatefulSet", "statefulsets", "apps", "v1", .optional = false), BT_GATE_N},
	{GROUP(POD_DISRUPTION_BUDGET, "PodDisruptionBudget", "poddisruptionbudgets", "policy", "v1",
		 .optional = false),
		BT_GATE_N},
	{CORE(PERSISTENT_VOLUME, "PersistentVolume", "persistentvolumes"), BT_GATE_N},
	{CORE(PERSISTENT_VOLUME_CLAIM, "PersistentVolumeClaim", "persistentvolumeclaims"), BT_GATE_N},
	{GROUP(STORAGE_CLASS, "StorageClass", "storageclasses", "storage.k8s.io", "v1", .optional = false),
		BT_GATE_N},
	{GROUP(CSI_NODE, "CSINode", "csinodes", "storage.k8s.io", "v1", .optional = false), BT_GATE_N},
	{GROUP(CSI_DRIVER, "CSIDriver", "csidrivers", "storage.k8s.io", "v1", .optional = false), BT_GATE_N},
	{GROUP(CSI_STORAGE_CAPACITY, "CSIStorageCapacity", "csistoragecapacities", "storage.k8s.io", "v1",
		 .optional = true,
		 .without = "Volumes of drivers that publish capacities are provisioned nowhere"),
		BT_GATE_N},
	{GROUP(VOLUME_ATTACHMENT, "VolumeAttachment", "volumeattachments", "storage.k8s.io", "v1",
		 .optional = false),
		BT_GATE_N},
	{DEVICE(RESOURCE_CLAIM, "ResourceClaim", "resourceclaims", "Pods that name ResourceClaims wait"),
		BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{DEVICE(RESOURCE_SLICE, "ResourceSlice", "resourceslices", "No device can be allocated"),
		BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{DEVICE(DEVICE_CLASS, "DeviceClass", "deviceclasses",
		 "No device of a class can be allocated, and no extended resource by devices"),
		BT_GATE_DYNAMIC_RESOURCE_ALLOCATION},
	{GROUP(POD_GROUP, "PodGroup", "podgroups", "scheduling.k8s.io", "v1alpha2", .optional = true,
		 .without = "Pods that name a PodGroup wait"),
		BT_GATE_GENERIC_WORKLOAD},
};

static_assert(sizeof(kinds) / sizeof(kinds[0]) <= BT_WATCH_KINDS_MAX, "every kind has a place");

uint32_t bt_watch_kinds(const struct bt_gates *gates, const struct bt_watch_kind *out[BT_WATCH_KINDS_MAX])
{
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].gate == BT_GATE_N || gates->on[kinds[i].gate]) {
			out[n++] = &kinds[i].kind;
		}
	}
	return n;
}
