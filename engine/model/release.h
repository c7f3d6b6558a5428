/* SPDX-License-Identifier: Apache-2.0
 * The supported Kubernetes releases, and their differences. The tables are release.def and gate.def; no other
 * code knows a version. Scheduling code tests a rule by its name, never a version.
 *
 * releases.md describes how to add and how to remove a release.
 * Context: any thread; the tables are constant.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"
#include "engine/model/gate.h"

/* The default minor version: as a number, and as "1.37" for constant texts. */
#define BT_RELEASE_DEFAULT	  37
#define BT_RELEASE_TEXT_OF(minor) "1." #minor
#define BT_RELEASE_TEXT(minor)	  BT_RELEASE_TEXT_OF(minor)
#define BT_RELEASE_DEFAULT_TEXT	  BT_RELEASE_TEXT(BT_RELEASE_DEFAULT)
/* The release of journals without one: they predate support for a second release. */
#define BT_RELEASE_UNRECORDED_TEXT BT_RELEASE_TEXT(36)

/* The newest release, and the one before it. */
#define BT_RELEASE_NEWEST   37
#define BT_RELEASE_COMPARED 36

/* How many minor versions the emulated version and the control plane may lag behind. Source:
 * apiserver/pkg/util/compatibility, v0.36.3. */
#define BT_RELEASE_SKEW 3u

struct bt_release {
	/* Of an emulation (bt_release_emulate): the binary's release. NULL: itself. */
	const struct bt_release *binary;
	/* Of a mixture (bt_release_mix): the parts from the other release. NULL: not a mixture. */
	const struct bt_release *other;
	uint64_t other_rules; /* by enum bt_rule */
	bool other_texts;
	uint64_t other_plugins; /* by row of release.def's default plugins, the first one of a name */
	uint32_t minor;		/* 36 */
	const char *name;	/* "1.36" */
	const char *before;	/* "1.35" */
	const char *minor_text; /* "36" */
	const char *number;	/* "1.36.3" */
	const char *version;	/* "v1.36.3" */
	uint32_t compatible;	/* 35: the oldest compatible minor of the control plane */
};

/* The default release. */
const struct bt_release *bt_release_default(void);

/* The known releases, oldest first; NULL after the last. */
const struct bt_release *bt_release_at(uint32_t ix);

/* The release of a minor version such as "1.36" or "v1.36"; NULL: not known. */
const struct bt_release *bt_release_find(struct bt_str name);

/* Appends the names of the known releases, such as "1.36 or 1.37". */
void bt_release_list(struct bt_buf *out);

/* Scheduling rules that hold in some releases only. */
enum bt_rule {
	/* Plugins registered for added nodes get updates of node taints, too. Source: the event handler of
	 * nodes, pkg/scheduler/scheduler.go buildQueueingHintMap. */
	BT_RULE_TAINT_UPDATE_CONCERNS_WATCHERS_OF_NEW_NODES,
	/* NodeResourcesBalancedAllocation scores a node's balance with the pod, not the pod's gain.
	 * Source: balancedResourceScorer, plugins/noderesources/balanced_allocation.go. */
	BT_RULE_BALANCE_IS_SCORED_AS_IT_IS,
	/* ImageLocality also sums the images of image volumes; and each of them raises the upper limit of the
	 * sum, as a container does. Source: sumImageScores, calculatePriority, plugins/imagelocality. */
	BT_RULE_IMAGE_VOLUMES_SCORE,
	BT_RULE_IMAGE_VOLUMES_RAISE_TOP,
	/* Under the gate VolumeLimitScaling every driver with a CSIDriver must be on the node, not only one
	 * whose CSIDriver sets preventPodSchedulingIfMissing. Source: checkCSIDriverOnNode,
	 * plugins/nodevolumelimits. */
	BT_RULE_EVERY_DRIVER_INSISTS,
	/* A Portworx volume counts as its CSI driver's only on a node whose CSINode lists the plugin as
	 * migrated by the kubelet. Later, on every node with a CSINode, as other plugins always did. Source:
	 * isCSIMigrationOn, plugins/nodevolumelimits/utils.go. */
	BT_RULE_NODES_MIGRATE_PORTWORX,
	/* A namespace selector of an incoming pod's term that matches an empty label set selects every
	 * namespace. Source: mergeAffinityTermNamespacesIfNotEmpty, plugins/interpodaffinity. */
	BT_RULE_UNLABELLED_SELECTOR_TAKES_ALL_NAMESPACES,
	/* A victim is charged to every matching budget, even after one that it exceeds. Source:
	 * filterPodsWithPDBViolation, plugins/defaultpreemption. */
	BT_RULE_VICTIM_CHARGES_EVERY_BUDGET,
	/* For victims that have not started the clock is read once each, in their order on the node; before,
	 * at each comparison. Source: NewVictim, MoreImportantVictim, framework/preemption. */
	BT_RULE_VICTIMS_AGE_ONCE,
	/* A pod that is added to the queue gated counts on its nominated node, as an active one does. Source:
	 * PriorityQueue.addPod, backend/queue. */
	BT_RULE_GATED_NOMINATIONS_COUNT,
	/* A pod under resize counts the largest of three sums over its containers, by state: requested,
	 * allocated, actuated. Before, it counts the sum of each container's largest. Source:
	 * AggregateContainerRequests, component-helpers, resource/helpers.go. */
	BT_RULE_RESIZE_SUMS_BY_STATE,
	/* Preemption that finds a node reports that. Source: Evaluator.Preempt, framework/preemption. */
	BT_RULE_PREEMPTION_REPORTS_SUCCESS,
	/* Bugs of the device search. Of two alternatives of mode All the second one uses the devices found
	 * for the first; after its first device any alternative continues with the first one; a device that
	 * is rejected for a taint or a constraint, and a released shared one, keep the counters that they
	 * consumed; shares do not count as consuming them. Source: Allocator, structured/internal of
	 * k8s.io/dynamic-resource-allocation. */
	BT_RULE_ALL_RESTARTS_ALTERNATIVES,
	BT_RULE_REFUSED_DEVICES_KEEP_COUNTERS,
	BT_RULE_SHARES_TAKE_NO_COUNTERS,
	/* A request may get one shared device several times. Source: allocateOne, as above. */
	BT_RULE_REQUEST_REPEATS_DEVICES,
	/* Differences of the search up to 1.36: pools of one name share their counters, whatever their
	 * drivers; shares without capacity do not count as shares; a request for all devices omits those
	 * without free capacity; of several devices of one request distinctAttribute records the last one;
	 * rounded amounts of capacity are written in binary, and those below zero or beyond 64 bits count. */
	BT_RULE_POOLS_OF_ONE_NAME_SHARE_COUNTERS,
	BT_RULE_COUNTERS_REACH_EVERY_NODE, /* a slice with counters belongs to its pool on every node */
	BT_RULE_SHARES_WITHOUT_CAPACITY_ARE_FORGOTTEN,
	BT_RULE_ALL_LEAVES_OUT_WHAT_IS_FULL,
	BT_RULE_DISTINCT_REMEMBERS_A_DEVICE_A_REQUEST,
	/* With the gate DRAListTypeAttributes, constraints compare lists as sets. Source: AllocatorFeatures,
	 * dynamicresources.go. */
	BT_RULE_LISTS_MATCH_AS_SETS,
	/* With the gate DRANodeAllocatableResources a device declares its node resources in
	 * nodeAllocatableResourceMappings; a claim counts for pods on the node whose containers name it.
	 * Source: nodeallocatabledynamicresources.go. */
	BT_RULE_DEVICES_MAP_ALONE,
	/* Without the gate DRADerivedAttributes a request that has any fails. Source: validateDeviceRequest,
	 * structured/internal of k8s.io/dynamic-resource-allocation. */
	BT_RULE_DERIVED_ATTRIBUTES_FAIL,
	/* NodeDeclaredFeatures names the features that a node lacks; later its reason is generic. Source:
	 * Filter, plugins/nodedeclaredfeatures. */
	BT_RULE_MISSING_FEATURES_ARE_NAMED,
	/* bindMountOptions of a volume mount need the node's feature VolumeBindMountOptions. Source:
	 * component-helpers/nodedeclaredfeatures/features. */
	BT_RULE_MOUNT_OPTIONS_ARE_A_FEATURE,
	/* Without the gate DRADeviceCompatibilityGroups slices whose devices have groups are ignored.
	 * Source: GatherPools, structured/internal of k8s.io/dynamic-resource-allocation. */
	BT_RULE_GROUPS_HIDE_SLICES,
	/* A claim with devices that skip node operations is usable where the node declares
	 * DRAOptionalNodeOperations, whatever the gate of that name. Source: Filter, dynamicresources.go. */
	BT_RULE_SKIPPED_OPERATIONS_NEED_NODE_FEATURE,
	/* Selectors read lists as attributes, whatever the gate DRAListTypeAttributes; lists have includes(),
	 * at first only for as many values as an attribute may have. Source: cel/compile.go, as above. */
	BT_RULE_SELECTORS_READ_LISTS,
	BT_RULE_SHORT_LISTS_INCLUDE,
	BT_RULE_LISTS_INCLUDE,
	BT_RULE_ROUNDED_CAPACITY_IS_BINARY,
	BT_RULE_ODD_CAPACITY_COUNTS,
	/* A DeviceTaintRule without a selector taints every device, later none. Source: applyPatches,
	 * resourceslice/tracker of k8s.io/dynamic-resource-allocation. */
	BT_RULE_TAINT_RULES_WITHOUT_SELECTOR_TAKE_ALL,
	/* Error texts name the device of a failed selector, and the request that makes the total number of
	 * devices too large. */
	BT_RULE_SELECTOR_ERRORS_NAME_DEVICES,
	BT_RULE_REQUESTS_ARE_COUNTED_ONE_BY_ONE,
	/* DynamicResources refuses a node where its search times out; later it fails. */
	BT_RULE_TIMED_OUT_SEARCH_REFUSES,
	/* Its Score fails when only some of the pod's claims have been allocated before. */
	BT_RULE_ALLOCATED_CLAIMS_BREAK_SCORES,
	/* Pod events distinguish assigned pods, unscheduled pods and the waiting pod itself, and plugins
	 * register for each. Before, they registered for pods of any kind. Source: AssignedPod,
	 * UnscheduledPod and TargetPod, kube-scheduler/framework/types.go. */
	BT_RULE_POD_EVENTS_BY_KIND,
	/* A pod's scale-up is a separate event. Source: extractPodScaleUp,
	 * pkg/scheduler/framework/events.go. */
	BT_RULE_SCALE_UP_IS_AN_EVENT,
	/* DeferredPodScheduling exists, and a change of a node's podPreemptionPolicy is a separate event.
	 * Source: extractNodePreemptionPolicyChange, pkg/scheduler/framework/events.go. */
	BT_RULE_RESIZES_MAY_PREEMPT,
	/* The flush of leftover unschedulable pods runs PreEnqueue for gated ones, too, and restarts their
	 * timeout. Source: flushUnschedulableEntitiesLeftover, scheduling_queue.go. */
	BT_RULE_FLUSH_RUNS_PRE_ENQUEUE,
	/* Hints of InterPodAffinity check whether a pod matches any required anti-affinity term, not all of
	 * them. Source: isSchedulableAfterAssignedPodChange, interpodaffinity/plugin.go. */
	BT_RULE_ANTI_AFFINITY_HINTS_TAKE_ANY_TERM,
	/* DynamicResources fails at Reserve when a claim was deleted after Filter; earlier releases fail at
	 * PreBind. Source: SignalClaimPendingAllocation, dynamicresources/dra_manager.go. */
	BT_RULE_RESERVE_LOOKS_CLAIMS_UP,
	/* A pod that shares what a claim is getting in its group's cycle goes where that can be reached;
	 * earlier anywhere, and fails at PreBind. Source: PreFilter, dynamicresources.go. */
	BT_RULE_SHARED_CLAIMS_KEEP_TO_NODES,
	/* DynamicResources requeues pods when an allocated ResourceClaim is deleted.
	 * Source: EventsToRegister, dynamicresources.go. */
	BT_RULE_DELETED_CLAIMS_CONCERN_PODS,
	/* Hints of InterPodAffinity and PodTopologySpread consider nominated pods, too. Source:
	 * isSchedulableAfterPodChange, plugins/interpodaffinity; involvedInTopologySpreading,
	 * plugins/podtopologyspread. */
	BT_RULE_HINTS_SEE_NOMINATED_PODS,
	/* A refusal or failed binding clears the nomination that the pod's status had when its cycle began. A
	 * later one stays: from other writers, or, with NominatedNodeNameForExpectation, from the binding
	 * cycle when PreBind does work. Source: handleSchedulingFailure, bindingCycle. */
	BT_RULE_CYCLE_CLEARS_KNOWN_NOMINATION,
	/* InterPodAffinity's hints consider other pods' terms on the waiting pod, too: its labels change, or
	 * a pod whose anti-affinity it matches is deleted. Source: as above. */
	BT_RULE_AFFINITY_HINTS_LOOK_BOTH_WAYS,
	/* Extension points of a profile: those about placements of groups; podGroupPostFilter. Source:
	 * Plugins, kube-scheduler/config/v1/types.go. */
	BT_RULE_PLACEMENT_POINTS,
	/* Metrics count placements, and measure their duration. */
	BT_RULE_PLACEMENTS_ARE_COUNTED,
	BT_RULE_POD_GROUP_POST_FILTER,
	/* NodeName, NodeUnschedulable and TaintToleration are PreFilter plugins as well; their PreFilter has
	 * no hints that keep pods waiting. */
	BT_RULE_NODE_CHECKS_PRE_FILTER,
	/* NodeResourcesFit's shape is checked whatever the type of its strategy. Source:
	 * ValidateNodeResourcesFitArgs, apis/config/validation. */
	BT_RULE_SHAPE_IS_CHECKED_FOR_ANY_TYPE,
	/* A pod names a group of a Workload, not a PodGroup. It is decided by itself, and waits at Permit
	 * until enough pods of its group are assumed. Source: plugins/gangscheduling, v1.35.4. */
	BT_RULE_PODS_NAME_WORKLOADS,
	/* A PodGroup is one entry in the queue, with its own priority, times and backoff; its pods have one
	 * priority and preemption policy, its cycle continues while PlacementFeasible allows, and preemption
	 * is for all its pods together. Source: scheduling_queue.go, schedule_one_podgroup.go. */
	BT_RULE_GROUPS_ARE_QUEUED,
	/* Preemption by a PodGroup with the gate WorkloadAwarePreemption: a victim is reprieved when the
	 * whole group can be placed again beside it. The age of a victim group is that of its first pod
	 * found, and the group is charged to no more budgets once one of its pods exceeds one; other releases
	 * use the pods' own priorities. Source: PodGroupEvaluator, framework/preemption. */
	BT_RULE_GROUPS_PREEMPT_BY_PLACING,
	/* With the gate GenericWorkload, preemption by a single pod, too, treats victims of a PodGroup as
	 * such: with the group's priority, and evicted together where its disruption mode requires it.
	 * Source: GetVictimsOnNode, framework/preemption. */
	BT_RULE_PODS_PREEMPT_GROUPS,
	/* Metrics of the queue count entities, too: single pods, and groups. Source: QueuedEntities,
	 * pkg/scheduler/metrics. */
	BT_RULE_QUEUE_COUNTS_ENTITIES,
	/* An allocation has one copy of each device configuration, whatever its requests, without request
	 * names if it applies to all. Source: Allocator, structured/internal of
	 * k8s.io/dynamic-resource-allocation. */
	BT_RULE_CONFIGS_STAND_ONCE,
	BT_RULE_N
};

_Static_assert(BT_RULE_N <= 64, "bt_release.other_rules has a bit for each rule");

bool bt_release_has(const struct bt_release *release, enum bt_rule rule);

/* A rule's name as in release.def, for display. */
const char *bt_rule_name(enum bt_rule rule);

/* A copy of a release with some points of another: rules by their bits, texts, default plugins by the bits of
 * their numbers (bt_release_plugin_differs). Used to find which difference changes a decision. */
struct bt_release bt_release_mix(const struct bt_release *release, const struct bt_release *other,
	uint64_t other_rules, bool other_texts, uint64_t other_plugins);

/* The binary's release: the emulating one, or release itself. */
const struct bt_release *bt_release_binary(const struct bt_release *release);

/* A release that emulates another one, as with kube-scheduler's --emulated-version: rules, texts and default
 * plugins are its own, stages and defaults of feature gates are the emulated release's. compatible: the minor
 * version of --min-compatibility-version; 0: the default. */
struct bt_release bt_release_emulate(
	const struct bt_release *binary, const struct bt_release *emulated, uint32_t compatible);

/* The oldest minor version that a binary of the release can emulate. */
uint32_t bt_release_floor(const struct bt_release *binary);

/* Texts of events and conditions that differ between releases. */
enum bt_release_text {
	BT_TEXT_NO_CLAIMS_TO_DEALLOCATE, /* DynamicResources.PostFilter, for a pod without claims to
					    release */
	BT_TEXT_CLAIMS_KEPT,		 /* the same, for a pod that keeps its claims */
	BT_TEXT_POD_OF_CLAIM,		 /* PreEnqueue's word for a pod whose claim belongs to another pod */
	BT_TEXT_GROUP_CONDITION,	 /* the type of a PodGroup's scheduled condition */
	BT_TEXT_GROUP_VERSION,		 /* the PodGroup API version that the scheduler reads */
	BT_TEXT_UNSCHEDULED_POD,	 /* a pod without a node, in labels of cluster events */
	BT_TEXT_N
};

/* Requires: the release has such a text. */
const char *bt_release_text(const struct bt_release *release, enum bt_release_text text);

/* The help text of a metric of kube-scheduler in the binary's release. NULL: as in 1.36. */
const char *bt_release_metric_help(const struct bt_release *release, const char *metric);

/* The labels of a metric of kube-scheduler that differs between releases. Returns: NULL when the binary's
 * release lacks it; "" when it has the metric with unchanged labels. */
const char *bt_release_metric_labels(const struct bt_release *release, const char *metric);

/* A metric that differs between two releases. Labels: NULL: absent. Help: the help text; NULL: as in 1.36
 * (bt_release_metric_help). */
struct bt_metric_change {
	const char *metric;
	const char *from_labels, *to_labels;
	const char *from_help, *to_help;
};

/* The changes between two releases, one for each metric. Returns: false when there is none at ix. */
bool bt_release_metric_change(const struct bt_release *from, const struct bt_release *to, uint32_t ix,
	struct bt_metric_change *out_change);

/* An entry of the default MultiPoint list. */
struct bt_default_plugin {
	uint32_t first, last; /* minor versions */
	struct bt_str name;
	int32_t weight;	   /* 0: none */
	enum bt_gate gate; /* in the list while this gate is on; BT_GATE_N: always */
};

/* The entry after one in the release's list, or the first for NULL. Returns: NULL at the end. */
const struct bt_default_plugin *bt_release_next_plugin(
	const struct bt_release *release, const struct bt_default_plugin *behind);

/* Do the releases differ in the place, weight or gate of the default plugin of a number below
 * BT_RELEASE_PLUGINS? */
bool bt_release_plugin_differs(const struct bt_release *a, const struct bt_release *b, uint32_t number);

/* Its name. Requires: two releases differ in it. */
struct bt_str bt_release_plugin_name(uint32_t number);

#define BT_RELEASE_PLUGINS 64
