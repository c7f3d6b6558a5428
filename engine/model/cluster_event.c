/* SPDX-License-Identifier: Apache-2.0
 * Which aspects of pods and nodes an update has changed.
 */
#include "engine/model/cluster_event.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/wrap.h"

const char *bt_cluster_event_resource_name(
	const struct bt_release *release, enum bt_cluster_event_resource resource)
{
	static const char *const names[] = {
		[BT_CLUSTER_EVENT_ASSIGNED_POD] = "AssignedPod",
		[BT_CLUSTER_EVENT_TARGET_POD] = "TargetPod",
		[BT_CLUSTER_EVENT_NODE] = "Node",
		[BT_CLUSTER_EVENT_PERSISTENT_VOLUME] = "PersistentVolume",
		[BT_CLUSTER_EVENT_PERSISTENT_VOLUME_CLAIM] = "PersistentVolumeClaim",
		[BT_CLUSTER_EVENT_CSI_NODE] = "storage.k8s.io/CSINode",
		[BT_CLUSTER_EVENT_CSI_DRIVER] = "storage.k8s.io/CSIDriver",
		[BT_CLUSTER_EVENT_CSI_STORAGE_CAPACITY] = "storage.k8s.io/CSIStorageCapacity",
		[BT_CLUSTER_EVENT_STORAGE_CLASS] = "storage.k8s.io/StorageClass",
		[BT_CLUSTER_EVENT_VOLUME_ATTACHMENT] = "storage.k8s.io/VolumeAttachment",
		[BT_CLUSTER_EVENT_RESOURCE_CLAIM] = "resource.k8s.io/ResourceClaim",
		[BT_CLUSTER_EVENT_RESOURCE_SLICE] = "resource.k8s.io/ResourceSlice",
		[BT_CLUSTER_EVENT_DEVICE_CLASS] = "resource.k8s.io/DeviceClass",
		[BT_CLUSTER_EVENT_POD_GROUP] = "scheduling.k8s.io/PodGroup",
		[BT_CLUSTER_EVENT_COMPOSITE_POD_GROUP] = "scheduling.k8s.io/CompositePodGroup",
		[BT_CLUSTER_EVENT_WORKLOAD] = "scheduling.k8s.io/Workload",
		[BT_CLUSTER_EVENT_WILDCARD] = "*",
		[BT_CLUSTER_EVENT_POD] = "Pod",
	};

	return resource == BT_CLUSTER_EVENT_UNSCHEDULED_POD
		       ? bt_release_text(release, BT_TEXT_UNSCHEDULED_POD)
		       : names[resource];
}

const char *bt_cluster_event_action_name(uint32_t action)
{
	BT_REQUIRE(action != 0);
	static const char *const names[] = {"Add", "Delete", "UpdateNodeAllocatable", "UpdateNodeLabel",
		"UpdateNodeTaint", "UpdateNodeCondition", "UpdateNodeAnnotation", "UpdateNodeDeclaredFeature",
		"UpdateNodePreemptionPolicy", "UpdatePodLabel", "UpdatePodScaleDown", "UpdatePodScaleUp",
		"UpdatePodToleration", "UpdatePodSchedulingGatesEliminated",
		"UpdatePodGeneratedResourceClaim"};

	return action == BT_UPDATE ? "Update" : names[__builtin_ctz(action)];
}

void bt_cluster_event_label_text(
	const struct bt_release *release, uint32_t label, char out_text[BT_CLUSTER_EVENT_LABEL_BYTES])
{
	BT_REQUIRE(label < BT_CLUSTER_EVENT_LABELS);
	uint32_t action = label % BT_CLUSTER_EVENT_ACTION_N;

	snprintf(out_text, BT_CLUSTER_EVENT_LABEL_BYTES, "%s%s",
		bt_cluster_event_resource_name(
			release, (enum bt_cluster_event_resource)(label / BT_CLUSTER_EVENT_ACTION_N)),
		bt_cluster_event_action_name(
			action == BT_CLUSTER_EVENT_ACTION_N - 1 ? BT_UPDATE : 1u << action));
}

static bool labels_equal(struct bt_labels a, struct bt_labels b)
{
	return a.n == b.n &&
	       (a.items == b.items || a.n == 0 || memcmp(a.items, b.items, a.n * sizeof(*a.items)) == 0);
}

/* The effective request of a resource, in thousandths; false when there is none. */
static bool milli_of(const struct bt_requests *requests, uint32_t slot, int64_t *out)
{
	for (uint32_t i = 0; i < requests->own_milli.n; i++) {
		if (requests->own_milli.items[i].slot == slot) {
			*out = requests->own_milli.items[i].amount;
			return true;
		}
	}
	for (uint32_t i = 0; i < requests->own.n; i++) {
		if (requests->own.items[i].slot == slot) {
			int64_t amount = requests->own.items[i].amount;

			*out = slot == BT_CPU ? amount : bt_wrap_mul(amount, 1000);
			return true;
		}
	}
	return false;
}

/* Is a request smaller than before, or absent now? */
static bool scaled_down(const struct bt_requests *old, const struct bt_requests *new)
{
	for (uint32_t i = 0; i < old->own.n; i++) {
		uint32_t slot = old->own.items[i].slot;
		int64_t before = 0, after;

		milli_of(old, slot, &before);
		if (!milli_of(new, slot, &after) || before > after) {
			return true;
		}
	}
	return false;
}

/* The pod's status lists claims generated for it that it did not list before. */
static bool has_new_claims(const struct bt_signature *old, const struct bt_signature *new)
{
	for (uint32_t i = 0; i < old->claim_n && i < new->claim_n; i++) {
		if (old->claims[i].kind != new->claims[i].kind ||
			old->claims[i].claim != new->claims[i].claim) {
			return true;
		}
	}
	return false;
}

uint32_t bt_pod_changes(const struct bt_release *release, const struct bt_cluster_event_pod *old,
	const struct bt_cluster_event_pod *new, uint32_t out_actions[BT_CLUSTER_EVENT_ACTIONS])
{
	BT_REQUIRE_HOT(old->signature && new->signature);
	const struct bt_signature *was = old->signature, *is = new->signature;
	const uint32_t actions[] = {
		was != is && !labels_equal(was->labels, is->labels) ? BT_UPDATE_POD_LABEL : 0,
		was != is && scaled_down(&was->requests, &is->requests) ? BT_UPDATE_POD_SCALE_DOWN : 0,
		was != is && bt_release_has(release, BT_RULE_SCALE_UP_IS_AN_EVENT) &&
				scaled_down(&is->requests, &was->requests)
			? BT_UPDATE_POD_SCALE_UP
			: 0,
		old->gated && !new->gated ? BT_UPDATE_POD_GATES_ELIMINATED : 0,
		was->toleration_n != is->toleration_n ? BT_UPDATE_POD_TOLERATION : 0,
		was != is && (has_new_claims(was, is) || was->extended_status != is->extended_status)
			? BT_UPDATE_POD_GENERATED_CLAIM
			: 0,
	};
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (actions[i]) {
			out_actions[n++] = actions[i];
		}
	}
	if (n == 0) {
		out_actions[n++] = BT_UPDATE;
	}
	return n;
}

bool bt_node_facts_taints_equal(const struct bt_node_facts *a, const struct bt_node_facts *b)
{
	return a->taint_n == b->taint_n && a->taint_times == b->taint_times &&
	       (a->taint_n == 0 || memcmp(a->taints, b->taints, a->taint_n * sizeof(*a->taints)) == 0);
}

uint32_t bt_node_facts_changes(const struct bt_release *release, const struct bt_node_facts *old,
	const struct bt_node_facts *new, uint32_t out_actions[BT_CLUSTER_EVENT_ACTIONS])
{
	const uint32_t actions[] = {
		old->unschedulable && !new->unschedulable ? BT_UPDATE_NODE_TAINT : 0,
		old->allocatable != new->allocatable ? BT_UPDATE_NODE_ALLOCATABLE : 0,
		labels_equal(old->labels, new->labels) ? 0 : BT_UPDATE_NODE_LABEL,
		bt_node_facts_taints_equal(old, new) ? 0 : BT_UPDATE_NODE_TAINT,
		old->conditions != new->conditions ? BT_UPDATE_NODE_CONDITION : 0,
		old->annotations != new->annotations ? BT_UPDATE_NODE_ANNOTATION : 0,
		bt_release_has(release, BT_RULE_RESIZES_MAY_PREEMPT) && old->policy != new->policy
			? BT_UPDATE_NODE_PREEMPTION_POLICY
			: 0,
		old->declared != new->declared ? BT_UPDATE_NODE_DECLARED_FEATURE : 0,
	};
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (actions[i]) {
			out_actions[n++] = actions[i];
		}
	}
	return n;
}
