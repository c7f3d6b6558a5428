/* SPDX-License-Identifier: Apache-2.0
 * The extension points, and the functions at those that evaluate no node: PreEnqueue, PostFilter, Reserve,
 * PreBind, Permit. Plugins own no state there either: they receive the pod and the engine's state of it, and
 * return a decision; the engine carries it out, and reverts it (Unreserve). Context of all functions: the
 * scheduling thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cache/view.h"
#include "engine/base/buf.h"
#include "engine/model/release.h"

struct bt_device_choice;
struct bt_volume_binding;

/* In the order of the cycle; the last three belong to pod groups. */
enum bt_point {
	BT_POINT_PRE_ENQUEUE = 0,
	BT_POINT_QUEUE_SORT,
	BT_POINT_PRE_FILTER,
	BT_POINT_FILTER,
	BT_POINT_POST_FILTER,
	BT_POINT_PRE_SCORE,
	BT_POINT_SCORE,
	BT_POINT_RESERVE,
	BT_POINT_PERMIT,
	BT_POINT_PRE_BIND,
	BT_POINT_BIND,
	BT_POINT_POST_BIND,
	BT_POINT_PLACEMENT_GENERATE,
	BT_POINT_PLACEMENT_SCORE,
	BT_POINT_POD_GROUP_POST_FILTER,
	BT_POINT_N
};

#define BT_AT(point) (1u << BT_POINT_##point)

/* Properties of a pod that select the plugins called at these points. */
enum bt_trait {
	BT_TRAIT_GATES = 1 << 0,    /* scheduling gates */
	BT_TRAIT_CLAIMS = 1 << 1,   /* ResourceClaims; from Filter on, extended resources too */
	BT_TRAIT_VOLUMES = 1 << 2,  /* volumes */
	BT_TRAIT_GROUP = 1 << 3,    /* a PodGroup */
	BT_TRAIT_PREEMPTS = 1 << 4, /* a preemption by it is in progress */
	BT_TRAIT_ANY = 1 << 5	    /* every pod has it */
};

/* A PodGroup. */
struct bt_group_state {
	bool known;   /* its object exists */
	bool gang;    /* min_count of its pods must be placed together; else its policy is basic */
	bool counted; /* its members are counted */
	int32_t min_count;
	uint32_t topology_key; /* a label key: all its pods need the same value; or BT_NAME_NONE */
	uint64_t member_n;
	uint64_t scheduled_n; /* in a cycle: members that are on nodes, those of this cycle included */
	/* Of a group of a Workload, the object that known is about: its name, the group's name, and whether
	 * the Workload lists the group; otherwise BT_NAME_NONE. */
	uint32_t workload, workload_group;
	bool listed;
	uint32_t tree; /* the name of the CompositePodGroup at the root of its tree; or BT_NAME_NONE */
	bool tree_is_complete; /* enough groups below the root have enough members */
};

/* The pod in question. */
struct bt_pod_env {
	const struct bt_view *view;
	const void *settings; /* the plugin's, in the pod's profile */
	const struct bt_signature *signature;
	uint32_t name, uid;
	int32_t priority;
	uint32_t gates;	 /* the names of its scheduling gates joined by blanks, as a name */
	uint32_t traits; /* enum bt_trait bits */
	const struct bt_group_state *group; /* NULL: no group */
};

/*
 * PreEnqueue: returns whether the pod is gated. Then it appends the reason to out_why, unless that is NULL;
 * without a reason the plugin is not listed in explanations.
 */
typedef bool bt_plugin_pre_enqueue_fn(const struct bt_pod_env *env, struct bt_buf *out_why);

enum bt_permit { BT_PERMIT_OK = 0, BT_PERMIT_WAIT, BT_PERMIT_FAILS };

/*
 * Permit, called for each member in the cycle of a PodGroup, and for a pod that names a Workload. On failure
 * it appends the reason to out_why, unless that is NULL.
 */
typedef enum bt_permit bt_plugin_permit_fn(const struct bt_pod_env *env, struct bt_buf *out_why);

/*
 * PlacementFeasible, called for a PodGroup before the first and after each of its pods, where groups are
 * queued as one: can the placed pods, with those left to try, be enough? If not, it appends what is missing.
 */
enum bt_feasible { BT_FEASIBLE = 0, BT_FEASIBLE_LATER, BT_INFEASIBLE };
typedef enum bt_feasible bt_plugin_placement_feasible_fn(
	const struct bt_group_state *group, uint64_t remaining_n, struct bt_buf *out_why);

/* ---- placements: sets of nodes; a PodGroup uses one ---- */

/* A pod of the group that is on a node. */
struct bt_group_pod {
	uint32_t namespace_, name;
	uint32_t node_ix; /* BT_NO_NODE: its node was deleted */
	uint32_t node;	  /* the node's name */
	uint32_t leaf;	  /* its PodGroup, counted in the order in which those of a tree are decided */
};

struct bt_placement_generate_env {
	const struct bt_view *view;
	const struct bt_group_state *group;
	const struct bt_group_pod *pods; /* that are on nodes; by leaf and name if their domains differ */
	uint32_t pod_n;
	const uint32_t *domains; /* by node slot: value of the group's topology key, or BT_NAME_NONE; NULL: no
				    key */
};

/* How nodes are divided into placements. */
struct bt_division {
	bool divides;  /* into domains; else all nodes are one placement */
	uint32_t only; /* the only domain to use; BT_NAME_NONE: each domain is a placement */
};

/* PlacementGenerate: returns whether nodes can be divided; if not, it appends the reason. */
typedef bool bt_plugin_placement_generate_fn(const struct bt_placement_generate_env *env,
	struct bt_division *out_division, struct bt_buf *out_why);

struct bt_placement_score_env {
	const struct bt_view *view; /* without the pods below */
	const void *settings;
	const struct bt_group_state *group; /* scheduled_n: members that are on nodes */
	const uint32_t *nodes;		    /* of the placement */
	uint32_t node_n;
	const struct bt_signature *const *pods; /* pods of the group that would get its nodes */
	uint32_t pod_n;
};

/* PlacementScore of a placement in which the group fits. */
typedef int64_t bt_plugin_placement_score_fn(const struct bt_placement_score_env *env);

/* Normalizes the scores of all placements to 0..100. Returns NULL, or the error text. */
typedef const char *bt_plugin_placement_normalize_fn(int64_t *scores, uint32_t n);

/* ---- PostFilter ---- */

/* PostFilter's action on claims. */
enum bt_claims_release {
	BT_CLAIMS_NONE = 0,   /* the pod has no claims */
	BT_CLAIMS_KEPT,	      /* nothing can be released */
	BT_CLAIMS_DEALLOCATE, /* this claim's allocation goes */
	BT_CLAIMS_DELETE,     /* this claim for extended resources goes */
	BT_CLAIMS_UNRESERVE   /* this claim is reserved for the pod's PodGroup no more */
};

/* The action and its claim, which may be deleted by the time it is carried out. claim_ix, name and uid are
 * set for the last three actions; consumer is the UID of the PodGroup whose reservation goes, too. */
struct bt_claim_release {
	enum bt_claims_release what;
	uint32_t claim_ix, name, uid, consumer;
};

/* A potential victim. */
struct bt_victim {
	uint32_t pod_ix;
	int32_t priority;
	int64_t start_ns; /* 0: it has not started, which counts as now */
	uint32_t place; /* on its node, from 1 on, where the clock is read once per pod in that order; 0: read
			     at each comparison */
	uint32_t violation_n; /* pods whose eviction would violate a disruption budget */
	bool grouped;	      /* a pod of a PodGroup, or such pods that are evicted together */
	bool composite;	      /* pods of a CompositePodGroup that are evicted together */
	uint32_t pod_n;	      /* their number; 0: a single pod; PodGroups are ignored */
	uint32_t first_part;  /* private to the trial's code */
};

/* The cost of preemption on a node; the lowest is chosen, member by member in this order
 * (bt_preemption_cheaper). */
struct bt_preemption_cost {
	uint32_t violation_n, victim_n;
	int32_t highest;      /* priority of the most important victim */
	int64_t priority_sum; /* each plus 2^31, so that none is negative */
	int64_t start_ns;     /* the earliest start among the victims of highest priority */
};

/* A plugin's preemption policy: the engine dry-runs preemption on nodes, one after the other. */
struct bt_preemption_policy {
	/* How many candidates are enough for node_n potential nodes. */
	uint32_t (*candidate_n)(const void *settings, uint32_t node_n);
	/* Sorts by importance, the most important first. */
	void (*sort)(struct bt_victim *victims, uint32_t n);
	/* Cost of sorted victims, at least one. */
	struct bt_preemption_cost (*cost_of)(
		const struct bt_victim *victims, uint32_t n, uint32_t violation_n);
};

enum bt_preempt_outcome {
	BT_PREEMPT_FOUND = 0,  /* a node and its victims */
	BT_PREEMPT_NOWHERE,    /* the pod would fit on no node; its nomination, if any, is cleared */
	BT_PREEMPT_INELIGIBLE, /* the pod may not preempt now; its nomination stays */
	BT_PREEMPT_FAILED      /* an error; the nomination stays */
};

struct bt_compiled;

struct bt_post_filter_env {
	const void *settings;
	const struct bt_release *release; /* the Kubernetes release whose texts are used */
	const struct bt_view *view;
	const struct bt_compiled *compiled; /* the plugin's compiled state in this cycle; NULL: none */
	bool group_runs; /* pods of the pod's PodGroup are on nodes, besides this cycle's */
	/* Finds a node and victims by the plugin's policy. Appends upstream's message. */
	enum bt_preempt_outcome (*preempt)(void *context, struct bt_buf *out_text);
	void *context;
};

/* The result. */
struct bt_post_filter_result {
	bool nominates; /* outcome applies; else the plugin leaves nominations alone */
	bool ends;	/* later plugins are skipped, and the message is this plugin's alone */
	enum bt_preempt_outcome outcome;
	struct bt_claim_release release;
	/* At PodGroupPostFilter: which claim the whole group would have deallocated, or none. */
	struct bt_claim_release group_release;
};

/* PostFilter: tries to make the pod fit; appends upstream's message. */
typedef void bt_plugin_post_filter_fn(const struct bt_post_filter_env *env,
	struct bt_post_filter_result *out_result, struct bt_buf *out_text);

/* PodGroupPostFilter, after claims of pods: which claim is reserved for the group without need. signature:
 * of a pod of the group, of which none is on a node. Appends its message. Returns: false: it fails. */
typedef bool bt_plugin_group_unreserve_fn(const struct bt_view *view, const struct bt_signature *signature,
	uint32_t pod_uid, struct bt_claim_release *out_release, struct bt_buf *out_text);

/* ---- Reserve and PreBind ---- */

/* Reserve's result: the engine assumes it, and reverts it when the pod is not bound. Valid until the plugin's
 * next call. */
struct bt_reservation {
	const struct bt_volume_binding *bindings;
	const struct bt_device_choice *choices;
	const struct bt_node_claim *node_claims; /* what claims take of the node's resources */
	uint32_t binding_n, choice_n, node_claim_n;
};

struct bt_plugin_use;

/* Reserve for a node that has passed Filter in this cycle. */
typedef void bt_plugin_reserve_fn(const struct bt_plugin_use *use, const struct bt_compiled *compiled,
	const struct bt_view *view, uint32_t node_ix, struct bt_reservation *out_reservation);

/*
 * PreBind: returns whether the devices allocated to the assumed pod's claims prevent its binding; if so, it
 * appends the reason.
 */
typedef bool bt_plugin_pre_bind_fn(const struct bt_pod_env *env, const struct bt_device_choice *choices,
	uint32_t choice_n, struct bt_buf *out_why);

/* Is preempting on one node cheaper than on the other? False for equal costs. */
static inline bool bt_preemption_cheaper(
	const struct bt_preemption_cost *a, const struct bt_preemption_cost *b)
{
	if (a->violation_n != b->violation_n) {
		return a->violation_n < b->violation_n;
	}
	if (a->highest != b->highest) {
		return a->highest < b->highest;
	}
	if (a->priority_sum != b->priority_sum) {
		return a->priority_sum < b->priority_sum;
	}
	if (a->victim_n != b->victim_n) {
		return a->victim_n < b->victim_n;
	}
	return a->start_ns > b->start_ns;
}
