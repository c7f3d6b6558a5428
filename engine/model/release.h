/* SPDX-License-Identifier: Apache-2.0
 * Kubernetes releases: which there are, and in what they differ. The tables are release.def and gate.def;
 * nothing else knows a version. Code that decides asks for a rule by its name, never for a version.
 *
 * releases.md says how a release is added, and how one is removed.
 * Context: any thread; the tables are constant.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"
#include "engine/model/gate.h"

/* The minor version that counts where none is asked for: a number, and as "1.37" for texts that are
 * constants. */
#define BT_RELEASE_DEFAULT	  37
#define BT_RELEASE_TEXT_OF(minor) "1." #minor
#define BT_RELEASE_TEXT(minor)	  BT_RELEASE_TEXT_OF(minor)
#define BT_RELEASE_DEFAULT_TEXT	  BT_RELEASE_TEXT(BT_RELEASE_DEFAULT)
/* What journals are of that say none: they are older than the second release was. */
#define BT_RELEASE_UNSAID_TEXT BT_RELEASE_TEXT(36)

/* The newest release, and the one before it: an upgrade. */
#define BT_RELEASE_NEWEST   37
#define BT_RELEASE_COMPARED 36

/* How many minor versions the emulated one, and the control plane, may be behind. Source:
 * apiserver/pkg/util/compatibility, v0.36.3. */
#define BT_RELEASE_SKEW 3u

struct bt_release {
	/* Of an emulation, made by bt_release_emulate: the release whose code runs. NULL: its own. */
	const struct bt_release *binary;
	/* Of a mixture, made by bt_release_mix: what is the other release's. NULL: it is none. */
	const struct bt_release *other;
	uint64_t other_rules; /* by enum bt_rule */
	bool other_texts, other_plugins;
	uint32_t minor;		/* 36 */
	const char *name;	/* "1.36" */
	const char *before;	/* "1.35" */
	const char *minor_text; /* "36" */
	const char *number;	/* "1.36.3" */
	const char *version;	/* "v1.36.3" */
	uint32_t compatible;	/* 35: the oldest minor of the control plane to get on with */
};

/* The release that counts where none is asked for. */
const struct bt_release *bt_release_default(void);

/* Those that are known, oldest first; NULL behind the last. */
const struct bt_release *bt_release_at(uint32_t ix);

/* The release of a minor version such as "1.36" or "v1.36"; NULL: not known. */
const struct bt_release *bt_release_find(struct bt_str name);

/* Appends the names of those that are known, such as "1.36 or 1.37". */
void bt_release_list(struct bt_buf *out);

/* Rules of decision that hold in some releases only. */
enum bt_rule {
	/* A plugin that new nodes concern is asked about updates of a node's taints, too. Source: the event
	 * handler of nodes, pkg/scheduler/scheduler.go buildQueueingHintMap. */
	BT_RULE_TAINT_UPDATE_CONCERNS_WATCHERS_OF_NEW_NODES,
	/* NodeResourcesBalancedAllocation scores a node's balance with the pod, not what the pod gains.
	 * Source: balancedResourceScorer, plugins/noderesources/balanced_allocation.go. */
	BT_RULE_BALANCE_IS_SCORED_AS_IT_IS,
	/* ImageLocality adds up the images of image volumes, too; and each of them raises the sum that scores
	 * highest, as a container does. Source: sumImageScores, calculatePriority, plugins/imagelocality. */
	BT_RULE_IMAGE_VOLUMES_SCORE,
	BT_RULE_IMAGE_VOLUMES_RAISE_TOP,
	/* Under the gate VolumeLimitScaling every driver with a CSIDriver has to be on the node, not only one
	 * whose CSIDriver says preventPodSchedulingIfMissing. Source: checkCSIDriverOnNode,
	 * plugins/nodevolumelimits. */
	BT_RULE_EVERY_DRIVER_INSISTS,
	/* A Portworx volume counts as its CSI driver's only on a node whose CSINode says that the kubelet has
	 * migrated the plugin. Since, on every node with a CSINode, as others always did. Source:
	 * isCSIMigrationOn, plugins/nodevolumelimits/utils.go. */
	BT_RULE_NODES_MIGRATE_PORTWORX,
	/* A namespace selector of an incoming pod's term, when it is content with no labels at all, takes
	 * every namespace. Source: mergeAffinityTermNamespacesIfNotEmpty, plugins/interpodaffinity. */
	BT_RULE_UNLABELLED_SELECTOR_TAKES_ALL_NAMESPACES,
	/* A victim is charged to every budget that counts it, even behind one that it overdraws. Source:
	 * filterPodsWithPDBViolation, plugins/defaultpreemption. */
	BT_RULE_VICTIM_CHARGES_EVERY_BUDGET,
	/* Victims that have not started count as started at a moment that is taken once for each, in their
	 * order on the node; before, anew whenever two are compared. Source: NewVictim, MoreImportantVictim,
	 * framework/preemption. */
	BT_RULE_VICTIMS_AGE_ONCE,
	/* A pod that comes into the queue gated counts on the node that its status nominates, as one that
	 * comes active does. Source: PriorityQueue.addPod, backend/queue. */
	BT_RULE_GATED_NOMINATIONS_COUNT,
	/* A pod under resize counts the largest of three sums over its containers, by state: asked for,
	 * allocated, in force. Before, it counts the sum of each container's largest. Source:
	 * AggregateContainerRequests, component-helpers, resource/helpers.go. */
	BT_RULE_RESIZE_SUMS_BY_STATE,
	/* Preemption that finds a node says so. Source: Evaluator.Preempt, framework/preemption. */
	BT_RULE_PREEMPTION_TELLS_SUCCESS,
	/* What a search for devices does wrong. Of two alternatives of mode All the second one is looked at
	 * by what was found for the first one; whichever is tried goes on with the first one after its first
	 * device; a device that is refused for a taint or a constraint, and a shared one that is given back,
	 * keep what they took of counters; shares do not count as taking of them. Source: Allocator,
	 * structured/internal of k8s.io/dynamic-resource-allocation. */
	BT_RULE_ALL_RESTARTS_ALTERNATIVES,
	BT_RULE_REFUSED_DEVICES_KEEP_COUNTERS,
	BT_RULE_SHARES_TAKE_NO_COUNTERS,
	/* A request may get one shared device several times. Source: allocateOne, as above. */
	BT_RULE_REQUEST_REPEATS_DEVICES,
	/* What it did otherwise up to 1.36: pools of one name share their counters, whatever their drivers;
	 * shares that have no capacity do not count as shares; a request for all devices leaves out those
	 * that have no capacity left; of several devices of one request distinctAttribute remembers the last
	 * one; amounts of capacity that are rounded are written in binary, and those below zero or beyond 64
	 * bits count. */
	BT_RULE_POOLS_OF_ONE_NAME_SHARE_COUNTERS,
	BT_RULE_COUNTERS_REACH_EVERY_NODE, /* a slice with counters belongs to its pool on every node */
	BT_RULE_SHARES_WITHOUT_CAPACITY_ARE_FORGOTTEN,
	BT_RULE_ALL_LEAVES_OUT_WHAT_IS_FULL,
	BT_RULE_DISTINCT_REMEMBERS_A_DEVICE_A_REQUEST,
	/* With the gate DRAListTypeAttributes constraints compare lists as sets. Source: AllocatorFeatures,
	 * dynamicresources.go. */
	BT_RULE_LISTS_MATCH_AS_SETS,
	/* Without the gate DRADerivedAttributes a request that has any fails. Source: validateDeviceRequest,
	 * structured/internal of k8s.io/dynamic-resource-allocation. */
	BT_RULE_DERIVED_ATTRIBUTES_FAIL,
	/* NodeDeclaredFeatures says which features a node lacks; later that it lacks some. Source: Filter,
	 * plugins/nodedeclaredfeatures. */
	BT_RULE_MISSING_FEATURES_ARE_NAMED,
	/* bindMountOptions of a volume mount need the node's feature VolumeBindMountOptions. Source:
	 * component-helpers/nodedeclaredfeatures/features. */
	BT_RULE_MOUNT_OPTIONS_ARE_A_FEATURE,
	/* Without the gate DRADeviceCompatibilityGroups slices whose devices have groups are overlooked.
	 * Source: GatherPools, structured/internal of k8s.io/dynamic-resource-allocation. */
	BT_RULE_GROUPS_HIDE_SLICES,
	/* A claim with devices that skip operations of nodes is had where the node declares
	 * DRAOptionalNodeOperations, whatever the gate of that name. Source: Filter, dynamicresources.go. */
	BT_RULE_SKIPPED_OPERATIONS_ASK_NODES,
	/* Selectors read lists as attributes, whatever the gate DRAListTypeAttributes; lists have includes(),
	 * first of at most so many values as an attribute may have. Source: cel/compile.go, as above. */
	BT_RULE_SELECTORS_READ_LISTS,
	BT_RULE_SHORT_LISTS_INCLUDE,
	BT_RULE_LISTS_INCLUDE,
	BT_RULE_ROUNDED_CAPACITY_IS_BINARY,
	BT_RULE_ODD_CAPACITY_COUNTS,
	/* A DeviceTaintRule without a selector taints every device, later none. Source: applyPatches,
	 * resourceslice/tracker of k8s.io/dynamic-resource-allocation. */
	BT_RULE_TAINT_RULES_WITHOUT_SELECTOR_TAKE_ALL,
	/* What it says: of a selector that fails the device; of requests that together want too many devices
	 * the one that does. */
	BT_RULE_SELECTOR_ERRORS_NAME_DEVICES,
	BT_RULE_REQUESTS_ARE_COUNTED_ONE_BY_ONE,
	/* DynamicResources refuses a node where its search times out; later it fails. */
	BT_RULE_TIMED_OUT_SEARCH_REFUSES,
	/* Its Score fails when only some of the pod's claims have been allocated before. */
	BT_RULE_ALLOCATED_CLAIMS_BREAK_SCORES,
	/* An event about a pod says whether it is on a node, waits, or is the one that is asked about, and
	 * plugins register these kinds each. Before, they registered pods of any kind. Source: AssignedPod,
	 * UnscheduledPod and TargetPod, kube-scheduler/framework/types.go. */
	BT_RULE_POD_EVENTS_BY_KIND,
	/* That a pod requests more is an event of its own. Source: extractPodScaleUp,
	 * pkg/scheduler/framework/events.go. */
	BT_RULE_SCALE_UP_IS_AN_EVENT,
	/* DeferredPodScheduling is there, and that a node's podPreemptionPolicy changes is an event of its
	 * own. Source: extractNodePreemptionPolicyChange, pkg/scheduler/framework/events.go. */
	BT_RULE_RESIZES_MAY_PREEMPT,
	/* The flush of pods that have waited for too long asks PreEnqueue about gated ones, too, and the next
	 * one is as long after it. Source: flushUnschedulableEntitiesLeftover, scheduling_queue.go. */
	BT_RULE_FLUSH_ASKS_GATES,
	/* Hints of InterPodAffinity ask whether a pod matches any required anti-affinity term, not all of
	 * them. Source: isSchedulableAfterAssignedPodChange, interpodaffinity/plugin.go. */
	BT_RULE_ANTI_AFFINITY_HINTS_TAKE_ANY_TERM,
	/* DynamicResources fails at Reserve when a claim was deleted after Filter; earlier releases fail at
	 * PreBind. Source: SignalClaimPendingAllocation, dynamicresources/dra_manager.go. */
	BT_RULE_RESERVE_LOOKS_CLAIMS_UP,
	/* DynamicResources asks for pods to be tried again when an allocated ResourceClaim is deleted.
	 * Source: EventsToRegister, dynamicresources.go. */
	BT_RULE_DELETED_CLAIMS_CONCERN_PODS,
	/* Hints of InterPodAffinity and PodTopologySpread look at pods that are only nominated, too. Source:
	 * isSchedulableAfterPodChange, plugins/interpodaffinity; involvedInTopologySpreading,
	 * plugins/podtopologyspread. */
	BT_RULE_HINTS_SEE_NOMINATED_PODS,
	/* A refusal or failed binding clears the nomination that the pod's status had when its cycle began.
	 * One that it got since stays: from others, or, with NominatedNodeNameForExpectation, from the
	 * binding cycle when PreBind has something to do. Source: handleSchedulingFailure, bindingCycle. */
	BT_RULE_CYCLE_CLEARS_WHAT_IT_KNEW,
	/* InterPodAffinity's hints look at what other pods want of the waiting one, too: its labels change,
	 * or a pod whose anti-affinity it matches goes. Source: as above. */
	BT_RULE_AFFINITY_HINTS_LOOK_BOTH_WAYS,
	/* Extension points of a profile: those about placements of groups; podGroupPostFilter. Source:
	 * Plugins, kube-scheduler/config/v1/types.go. */
	BT_RULE_PLACEMENT_POINTS,
	/* Metrics have how many placements there were, and how long they took. */
	BT_RULE_PLACEMENTS_ARE_COUNTED,
	BT_RULE_POD_GROUP_POST_FILTER,
	/* NodeName, NodeUnschedulable and TaintToleration are PreFilter plugins as well; there they keep back
	 * nothing that waits in the queue. */
	BT_RULE_NODE_CHECKS_PRE_FILTER,
	/* NodeResourcesFit's shape is checked whatever the type of its strategy. Source:
	 * ValidateNodeResourcesFitArgs, apis/config/validation. */
	BT_RULE_SHAPE_IS_CHECKED_FOR_ANY_TYPE,
	/* A pod names its Workload, not a PodGroup: berth does not decide that (workloadRef, v1.35). */
	BT_RULE_PODS_NAME_WORKLOADS,
	/* A PodGroup waits in the queue as one, with its own priority, times and backoff; its pods have one
	 * priority and preemption policy, it is decided as far as PlacementFeasible lets it, and its pods are
	 * preempted for together. Source: scheduling_queue.go, schedule_one_podgroup.go. */
	BT_RULE_GROUPS_ARE_QUEUED,
	/* A PodGroup preempts by the gate WorkloadAwarePreemption: a victim is reprieved when the whole group
	 * can be placed anew beside it. A group that is a victim is as old as the first of its pods that is
	 * found, and is charged to budgets no more once one of them overdraws one; the others have the pods'
	 * own priorities. Source: PodGroupEvaluator, framework/preemption. */
	BT_RULE_GROUPS_PREEMPT_BY_PLACING,
	/* With the gate GenericWorkload a pod that preempts, too, takes the pods of a PodGroup for what they
	 * are: of the group's priority, and going together where its disruption mode says so. Source:
	 * GetVictimsOnNode, framework/preemption. */
	BT_RULE_PODS_PREEMPT_GROUPS,
	/* Metrics of the queue count entities, too: pods alone, and groups. Source: QueuedEntities,
	 * pkg/scheduler/metrics. */
	BT_RULE_QUEUE_COUNTS_ENTITIES,
	/* Of a configuration of devices an allocation has one copy, whatever requests it is of, and no names
	 * of requests where it is of all. Source: Allocator, structured/internal of
	 * k8s.io/dynamic-resource-allocation. */
	BT_RULE_CONFIGS_STAND_ONCE,
	BT_RULE_N
};

_Static_assert(BT_RULE_N <= 64, "bt_release.other_rules has a bit for each rule");

bool bt_release_has(const struct bt_release *release, enum bt_rule rule);

/* A rule's name as it stands in release.def, for people. */
const char *bt_rule_name(enum bt_rule rule);

/* A release that is another one's in some points: rules by their bits, texts, default plugins. To tell which
 * difference makes which decision differ. */
struct bt_release bt_release_mix(const struct bt_release *release, const struct bt_release *other,
	uint64_t other_rules, bool other_texts, bool other_plugins);

/* The release whose code runs: the one that emulates, or release itself. */
const struct bt_release *bt_release_binary(const struct bt_release *release);

/* A release that emulates another one, as kube-scheduler does by --emulated-version: the rules, texts and
 * default plugins are its own, feature gates have the stages and defaults of the emulated one. compatible:
 * the minor version of --min-compatibility-version; 0: the usual one. */
struct bt_release bt_release_emulate(
	const struct bt_release *binary, const struct bt_release *emulated, uint32_t compatible);

/* The oldest minor version that a binary of the release emulates. */
uint32_t bt_release_floor(const struct bt_release *binary);

/* Texts of events and conditions that releases write differently. */
enum bt_release_text {
	BT_TEXT_NO_CLAIMS_TO_DEALLOCATE, /* DynamicResources.PostFilter, of a pod without claims to give up */
	BT_TEXT_CLAIMS_KEPT,		 /* the same, of a pod whose claims stay */
	BT_TEXT_POD_OF_CLAIM,	 /* of PreEnqueue, of a pod whose claim is another's: what it calls pods */
	BT_TEXT_GROUP_CONDITION, /* the condition of a PodGroup that says whether it is scheduled */
	BT_TEXT_GROUP_VERSION,	 /* the API version of the PodGroups that the scheduler reads */
	BT_TEXT_UNSCHEDULED_POD, /* a pod without a node, in labels of cluster events */
	BT_TEXT_N
};

/* Requires: the release has such a text. */
const char *bt_release_text(const struct bt_release *release, enum bt_release_text text);

/* What a metric of kube-scheduler says of itself in the release that runs. NULL: what it says in 1.36. */
const char *bt_release_metric_help(const struct bt_release *release, const char *metric);

/* The labels of a metric of kube-scheduler that is not the same in all releases. Returns: NULL when the
 * release that runs does not have it; "" when it has and there is nothing to say of its labels. */
const char *bt_release_metric_labels(const struct bt_release *release, const char *metric);

/* A metric that two releases have not alike. Labels: NULL, it is not there. Help: what it says of itself;
 * NULL: as in 1.36 (bt_release_metric_help). */
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
	int32_t weight;	   /* 0: none given */
	enum bt_gate gate; /* it is in the list while this gate is on; BT_GATE_N: always */
};

/* The entry behind one of the release's list, in its order; the first one behind NULL. Returns: NULL at the
 * end. */
const struct bt_default_plugin *bt_release_next_plugin(
	const struct bt_release *release, const struct bt_default_plugin *behind);
