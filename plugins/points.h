/* SPDX-License-Identifier: Apache-2.0
 * The extension points, and what plugins say at those where no node is judged: PreEnqueue, PostFilter,
 * Reserve, PreBind, Permit. Plugins own no state there either: they are shown the pod and what the engine
 * keeps of it, and say what is to become of it; the engine does it, and takes it back (Unreserve). Context of
 * all functions: the scheduling thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cache/view.h"
#include "engine/base/buf.h"
#include "engine/model/release.h"

struct bt_device_choice;
struct bt_volume_binding;

/* In the order in which a pod meets them; the last three belong to pod groups. */
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

/* What a pod may have that concerns a plugin at these points. */
enum bt_trait {
	BT_TRAIT_GATES = 1 << 0,    /* scheduling gates */
	BT_TRAIT_CLAIMS = 1 << 1,   /* ResourceClaims; from Filter on also extended resources */
	BT_TRAIT_VOLUMES = 1 << 2,  /* volumes */
	BT_TRAIT_GROUP = 1 << 3,    /* a PodGroup */
	BT_TRAIT_PREEMPTS = 1 << 4, /* a preemption of its own that is being carried out */
	BT_TRAIT_ANY = 1 << 5	    /* every pod has it */
};

/* A PodGroup. */
struct bt_group_state {
	bool known;   /* its object is there */
	bool gang;    /* min_count of its pods are to be placed together; else its policy is basic */
	bool counted; /* somebody counts its members */
	int32_t min_count;
	uint32_t topology_key; /* a label key that its pods are to have one value of; or BT_NAME_NONE */
	uint64_t member_n;
	uint64_t scheduled_n; /* in a cycle: members that are on nodes, those of this cycle included */
	uint32_t tree;	      /* the name of the CompositePodGroup that is its tree's root; or BT_NAME_NONE */
	bool tree_is_complete; /* enough of the groups below that have as many members as they need */
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
	const struct bt_group_state *group; /* NULL: it is in none */
};

/*
 * PreEnqueue: may the pod not be tried yet? Then the reason is appended to out_why, unless that is NULL; a
 * plugin that appends none does not show in explanations.
 */
typedef bool bt_plugin_pre_enqueue_fn(const struct bt_pod_env *env, struct bt_buf *out_why);

enum bt_permit { BT_PERMIT_OK = 0, BT_PERMIT_WAIT, BT_PERMIT_FAILS };

/* Permit, asked of each member in the cycle of a PodGroup. Of a failure out_why says why, unless it is NULL.
 */
typedef enum bt_permit bt_plugin_permit_fn(const struct bt_pod_env *env, struct bt_buf *out_why);

/*
 * PlacementFeasible, asked of a PodGroup before the first and after each of its pods, where groups wait as
 * one: may what has nodes do, with what is left to be tried? Else it appends what is lacking.
 */
enum bt_feasible { BT_FEASIBLE = 0, BT_FEASIBLE_LATER, BT_INFEASIBLE };
typedef enum bt_feasible bt_plugin_placement_feasible_fn(
	const struct bt_group_state *group, uint64_t remaining_n, struct bt_buf *out_why);

/* ---- placements: sets of nodes of which a PodGroup is to use one ---- */

/* A pod of the group that is on a node. */
struct bt_group_pod {
	uint32_t namespace_, name;
	uint32_t node_ix; /* BT_NO_NODE: its node has gone */
	uint32_t node;	  /* the name of that */
};

struct bt_placement_generate_env {
	const struct bt_view *view;
	const struct bt_group_state *group;
	const struct bt_group_pod *pods; /* that are on nodes */
	uint32_t pod_n;
	const uint32_t *domains; /* by node slot the value of the group's topology key, or BT_NAME_NONE;
				    NULL: it has none */
};

/* How nodes are divided. */
struct bt_division {
	bool divides;  /* by domains; else all nodes are one placement */
	uint32_t only; /* the domain that alone counts, or BT_NAME_NONE: each is a placement */
};

/* PlacementGenerate: returns whether nodes can be divided; else it appends why not. */
typedef bool bt_plugin_placement_generate_fn(const struct bt_placement_generate_env *env,
	struct bt_division *out_division, struct bt_buf *out_why);

struct bt_placement_score_env {
	const struct bt_view *view; /* none of the pods below is on its node */
	const void *settings;
	const struct bt_group_state *group; /* scheduled_n: members that are on nodes */
	const uint32_t *nodes;		    /* of the placement */
	uint32_t node_n;
	const struct bt_signature *const *pods; /* of the group, that would get nodes of it */
	uint32_t pod_n;
};

/* PlacementScore, of a placement in which the group fits. */
typedef int64_t bt_plugin_placement_score_fn(const struct bt_placement_score_env *env);

/* Brings the scores of all placements to 0..100. Returns NULL, or what it fails with. */
typedef const char *bt_plugin_placement_normalize_fn(int64_t *scores, uint32_t n);

/* ---- PostFilter ---- */

/* What PostFilter does to claims. */
enum bt_claims_release {
	BT_CLAIMS_NONE = 0,   /* the pod has no claims */
	BT_CLAIMS_KEPT,	      /* nothing can be released */
	BT_CLAIMS_DEALLOCATE, /* this claim's allocation goes */
	BT_CLAIMS_DELETE      /* this claim for extended resources goes */
};

/* What it does to which claim, which may have gone when that is carried out: the last three are set for the
 * last two. */
struct bt_claim_release {
	enum bt_claims_release what;
	uint32_t claim_ix, name, uid;
};

/* A pod that might have to go. */
struct bt_victim {
	uint32_t pod_ix;
	int32_t priority;
	int64_t start_ns; /* 0: it has not started, which counts as now */
	uint32_t place; /* on its node, from 1 on, when that now is taken in their order; 0: anew whenever it
			     is compared */
	uint32_t violation_n; /* pods whose going would violate a disruption budget */
	bool grouped;	      /* it is a pod of a PodGroup, or such pods that go together */
	bool composite;	      /* such pods of a CompositePodGroup */
	uint32_t pod_n;	      /* how many these are; 0: a pod alone, and no PodGroup counts */
	uint32_t first_part;  /* private to who tries it */
};

/* What preempting on a node costs; the lowest is chosen, member by member in this order
 * (bt_preemption_cheaper). */
struct bt_preemption_cost {
	uint32_t violation_n, victim_n;
	int32_t highest;      /* priority of the most important victim */
	int64_t priority_sum; /* each raised by 2^31, so that none is negative */
	int64_t start_ns;     /* the earliest start among the victims of highest priority */
};

/* How a plugin preempts: the engine tries nodes out, one after the other, and leaves them as they were. */
struct bt_preemption_policy {
	/* How many candidates are enough when so many nodes come into question. */
	uint32_t (*candidate_n)(const void *settings, uint32_t node_n);
	/* Sorts by importance, the most important first. */
	void (*sort)(struct bt_victim *victims, uint32_t n);
	/* Of sorted victims, one at least. */
	struct bt_preemption_cost (*cost_of)(
		const struct bt_victim *victims, uint32_t n, uint32_t violation_n);
};

enum bt_preempt_outcome {
	BT_PREEMPT_FOUND = 0,  /* a node and its victims */
	BT_PREEMPT_NOWHERE,    /* no node would fit the pod; the nomination that it may have is void */
	BT_PREEMPT_INELIGIBLE, /* the pod may not preempt now; its nomination stays */
	BT_PREEMPT_FAILED      /* an error; the nomination stays */
};

struct bt_compiled;

struct bt_post_filter_env {
	const void *settings;
	const struct bt_release *release; /* of Kubernetes, whose texts count */
	const struct bt_view *view;
	const struct bt_compiled *compiled; /* what it was asked by in this cycle; NULL: it was not */
	/* Looks by the plugin's policy for a node and victims. Appends what upstream says. */
	enum bt_preempt_outcome (*preempt)(void *context, struct bt_buf *out_text);
	void *context;
};

/* What comes of it. */
struct bt_post_filter_result {
	bool nominates; /* outcome counts; else the plugin has nothing to say about nominations */
	enum bt_preempt_outcome outcome;
	struct bt_claim_release release;
};

/* PostFilter: looks for a way to make the pod fit; appends what upstream says. */
typedef void bt_plugin_post_filter_fn(const struct bt_post_filter_env *env,
	struct bt_post_filter_result *out_result, struct bt_buf *out_text);

/* ---- Reserve and PreBind ---- */

/* What Reserve is to assume: the engine does, and takes it back where the pod is not bound. Valid until the
 * plugin is asked again. */
struct bt_reservation {
	const struct bt_volume_binding *bindings;
	const struct bt_device_choice *choices;
	uint32_t binding_n, choice_n;
};

struct bt_plugin_use;

/* Reserve, of a node that has passed Filter in this cycle. */
typedef void bt_plugin_reserve_fn(const struct bt_plugin_use *use, const struct bt_compiled *compiled,
	const struct bt_view *view, uint32_t node_ix, struct bt_reservation *out_reservation);

/* PreBind: does what the assumed pod's claims get stand in the way of its binding? Then it appends why. */
typedef bool bt_plugin_pre_bind_fn(const struct bt_pod_env *env, const struct bt_device_choice *choices,
	uint32_t choice_n, struct bt_buf *out_why);

/* Does a node cost less than another? False for equals. */
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
