/* SPDX-License-Identifier: Apache-2.0
 * Cluster events as the scheduling queue sees them: which kind of object changed, which aspect of it, and the
 * parts of the old and the new object that are needed to decide whether a waiting pod may fit now. Source:
 * framework ClusterEvent and PodSchedulingPropertiesChange, NodeSchedulingPropertiesChange, v1.36.3.
 *
 * Owns: nothing. Objects that an event points to live as long as the queue keeps the event (see
 *       queue/queue.h).
 */
#pragma once

#include "engine/base/check.h"
#include "engine/model/release.h"
#include "engine/model/signature.h"
#include "engine/model/taint.h"

/* What changed. Pods with a node, pods without, and the waiting pod itself are different resources; only
 * releases with BT_RULE_POD_EVENTS_BY_KIND distinguish the last one. */
enum bt_cluster_event_resource {
	BT_CLUSTER_EVENT_ASSIGNED_POD = 0,
	BT_CLUSTER_EVENT_UNSCHEDULED_POD,
	BT_CLUSTER_EVENT_TARGET_POD,
	BT_CLUSTER_EVENT_NODE,
	BT_CLUSTER_EVENT_PERSISTENT_VOLUME,
	BT_CLUSTER_EVENT_PERSISTENT_VOLUME_CLAIM,
	BT_CLUSTER_EVENT_CSI_NODE,
	BT_CLUSTER_EVENT_CSI_DRIVER,
	BT_CLUSTER_EVENT_CSI_STORAGE_CAPACITY,
	BT_CLUSTER_EVENT_STORAGE_CLASS,
	BT_CLUSTER_EVENT_VOLUME_ATTACHMENT,
	BT_CLUSTER_EVENT_RESOURCE_CLAIM,
	BT_CLUSTER_EVENT_RESOURCE_SLICE,
	BT_CLUSTER_EVENT_DEVICE_CLASS,
	BT_CLUSTER_EVENT_POD_GROUP,
	BT_CLUSTER_EVENT_COMPOSITE_POD_GROUP,
	BT_CLUSTER_EVENT_WORKLOAD,
	BT_CLUSTER_EVENT_WILDCARD, /* UnschedulableTimeout and ForceActivate: matches every pod */
	BT_CLUSTER_EVENT_POD	   /* in registrations only: pods of any kind */
};

/* What happened to it, one bit per event; registrations combine bits. The order matters to
 * bt_cluster_event_matches. */
enum bt_cluster_event_action {
	BT_ADD = 1 << 0,
	BT_DELETE = 1 << 1,
	BT_UPDATE_NODE_ALLOCATABLE = 1 << 2,
	BT_UPDATE_NODE_LABEL = 1 << 3,
	BT_UPDATE_NODE_TAINT = 1 << 4, /* or unschedulable changed from true to false */
	BT_UPDATE_NODE_CONDITION = 1 << 5,
	BT_UPDATE_NODE_ANNOTATION = 1 << 6,
	BT_UPDATE_NODE_DECLARED_FEATURE = 1 << 7,
	BT_UPDATE_NODE_PREEMPTION_POLICY = 1 << 8, /* BT_RULE_RESIZES_MAY_PREEMPT */
	BT_UPDATE_POD_LABEL = 1 << 9,
	BT_UPDATE_POD_SCALE_DOWN = 1 << 10,
	BT_UPDATE_POD_SCALE_UP = 1 << 11, /* BT_RULE_SCALE_UP_IS_AN_EVENT */
	BT_UPDATE_POD_TOLERATION = 1 << 12,
	BT_UPDATE_POD_GATES_ELIMINATED = 1 << 13,
	BT_UPDATE_POD_GENERATED_CLAIM = 1 << 14,
	BT_UPDATE = (1 << 15) - (1 << 2) /* other updates, of none of the aspects above */
};

/* A pod before or after the event. */
struct bt_cluster_event_pod {
	const struct bt_signature *signature; /* NULL: no such object (the old one of an addition, …) */
	uint32_t name, uid;		      /* names */
	uint32_t node;			      /* the name of its node, or BT_NAME_NONE */
	bool nominated;			      /* status.nominatedNodeName is set */
	bool gated;			      /* it has scheduling gates */
	int32_t priority;
};

/* A node before or after the event. */
struct bt_node_facts {
	uint32_t name;
	struct bt_labels labels;
	const struct bt_taint *taints; /* in the order of the spec */
	uint32_t taint_n;
	bool unschedulable;
	bool keeps_resizes_waiting; /* it disables preemption for resizes */
	uint32_t features;	    /* enum bt_feature bits */
	struct bt_amounts alloc;    /* nonzero allocatable, by ascending slot */
	int64_t alloc_pods;
	/* Hashes of API fields: equal objects have equal hashes. taint_times: timeAdded of the taints. */
	uint64_t conditions, annotations, declared, allocatable, taint_times, policy;
};

/* What changed in an object of another kind, as bits. */
enum bt_object_change {
	BT_CHANGED_ZONE_LABELS = 1 << 0,      /* PersistentVolume: its zone or region labels */
	BT_CHANGED_TOPOLOGIES = 1 << 1,	      /* StorageClass: allowedTopologies */
	BT_CHANGED_MIGRATION = 1 << 2,	      /* CSINode: the annotation of migrated plugins */
	BT_CHANGED_LIMIT_GREW = 1 << 3,	      /* CSINode: a driver's count */
	BT_CHANGED_CAPACITY_GREW = 1 << 4,    /* CSIStorageCapacity: its limit */
	BT_CHANGED_CAPACITY_IGNORED = 1 << 5, /* CSIDriver: storageCapacity changed from true to false */
	BT_CHANGED_WAITS = 1 << 6, /* StorageClass: it has WaitForFirstConsumer (a state, not a change) */
	BT_CHANGED_ALLOCATION_LOST = 1 << 7, /* ResourceClaim: it was allocated, and was deallocated or
					       deleted */
	BT_CHANGED_CLAIM_STATUS = 1 << 8,    /* ResourceClaim: its status */
	BT_CHANGED_EXTENDED_NAME = 1 << 9,   /* DeviceClass: extendedResourceName */
	BT_CHANGED_DEVICE_TAINTS = 1 << 10,  /* DeviceTaintRule: the taints of existing devices */
	BT_CHANGED_MIN_COUNT_FELL = 1 << 11  /* PodGroup: a gang's minCount is lower than before */
};

/* An object of a kind other than pod and node. */
struct bt_cluster_event_object {
	uint32_t namespace_, name, uid; /* names; BT_NAME_NONE: none */
	uint32_t other;	  /* VolumeAttachment: the attacher; DeviceClass: extendedResourceName */
	uint32_t changes; /* enum bt_object_change bits */
};

struct bt_cluster_event {
	enum bt_cluster_event_resource resource;
	uint32_t action; /* one of enum bt_cluster_event_action */
	union {
		struct {
			struct bt_cluster_event_pod old, new;
		} pod; /* resource is one of the pod kinds */
		struct {
			const struct bt_node_facts *old, *new; /* NULL: none */
		} node;
		struct bt_cluster_event_object object;
	};
};

/* Is an event's action one of the registered ones, or more specific than one of them? */
static inline bool bt_cluster_event_action_matches(uint32_t actions, uint32_t action)
{
	return (actions & action) && action <= actions;
}

/* Does an event match a registration? Source: framework.MatchClusterEvents, v1.36.3. */
static inline bool bt_cluster_event_matches(
	enum bt_cluster_event_resource registered, uint32_t actions, const struct bt_cluster_event *event)
{
	bool same = registered == event->resource ||
		    (registered == BT_CLUSTER_EVENT_POD && event->resource <= BT_CLUSTER_EVENT_TARGET_POD);

	return same && bt_cluster_event_action_matches(actions, event->action);
}

/* The parts of an event's label in the release's spelling, such as "AssignedPod" and "Delete". */
const char *bt_cluster_event_resource_name(
	const struct bt_release *release, enum bt_cluster_event_resource resource);
const char *bt_cluster_event_action_name(uint32_t action);

/* Events by number: a resource and an action. */
#define BT_CLUSTER_EVENT_ACTION_N 16 /* the bits of enum bt_cluster_event_action, and BT_UPDATE */
#define BT_CLUSTER_EVENT_LABELS	  (BT_CLUSTER_EVENT_WILDCARD * BT_CLUSTER_EVENT_ACTION_N)

static inline uint32_t bt_cluster_event_action_ix(uint32_t action)
{
	return action == BT_UPDATE ? BT_CLUSTER_EVENT_ACTION_N - 1 : (uint32_t)__builtin_ctz(action);
}

/* Requires: resource < BT_CLUSTER_EVENT_WILDCARD. */
static inline uint32_t bt_cluster_event_label(enum bt_cluster_event_resource resource, uint32_t action)
{
	BT_REQUIRE_HOT(resource < BT_CLUSTER_EVENT_WILDCARD);
	return (uint32_t)resource * BT_CLUSTER_EVENT_ACTION_N + bt_cluster_event_action_ix(action);
}

#define BT_CLUSTER_EVENT_LABEL_BYTES 80

/* A label's text as in the release's metrics, such as "AssignedPodDelete". */
void bt_cluster_event_label_text(
	const struct bt_release *release, uint32_t label, char out_text[BT_CLUSTER_EVENT_LABEL_BYTES]);

/* The most actions of one update. */
#define BT_CLUSTER_EVENT_ACTIONS 8

/*
 * The actions of a pod's update, each a separate event, in upstream's order; BT_UPDATE when no relevant
 * aspect has changed. Returns their number. Pure.
 * Requires: both pods exist. Source: PodSchedulingPropertiesChange, v1.36.3, v1.37.2.
 */
uint32_t bt_pod_changes(const struct bt_release *release, const struct bt_cluster_event_pod *old,
	const struct bt_cluster_event_pod *new, uint32_t out_actions[BT_CLUSTER_EVENT_ACTIONS]);

/* The same for a node; there may be no action. Source: NodeSchedulingPropertiesChange, v1.36.3, v1.37.2. */
uint32_t bt_node_facts_changes(const struct bt_release *release, const struct bt_node_facts *old,
	const struct bt_node_facts *new, uint32_t out_actions[BT_CLUSTER_EVENT_ACTIONS]);

bool bt_node_facts_taints_equal(const struct bt_node_facts *a, const struct bt_node_facts *b);

/* Is the pod on a node, or nominated to one? Other pods use no resources. */
static inline bool bt_cluster_event_pod_placed(const struct bt_cluster_event_pod *pod)
{
	return pod->node != BT_NAME_NONE || pod->nominated;
}

/* The same; nominated: nominated pods count, too. */
static inline bool bt_cluster_event_pod_counts(const struct bt_cluster_event_pod *pod, bool nominated)
{
	return pod->node != BT_NAME_NONE || (nominated && pod->nominated);
}
