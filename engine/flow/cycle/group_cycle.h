/* SPDX-License-Identifier: Apache-2.0
 * Stages 4 to 7 for the pods of a PodGroup, which are decided together (gate GenericWorkload). When one of
 * them has been popped, the others that wait are pulled out of the queue too. Each is decided as if the ones
 * before it were on their nodes; the group gets its nodes when, of a gang, minCount pods have one, and
 * otherwise nobody does (all or nothing, I1, I4). Source: scheduleOnePodGroup, v1.36.3.
 */
#pragma once

#include "engine/flow/cycle/engine.h"
#include "engine/flow/cycle/group_placement.h"
#include "engine/flow/cycle/group_preempt.h"
#include "engine/flow/cycle/pod_groups.h"
#include "engine/flow/cycle/profile_runtime.h"

/* Why a member is not placed, or that it is. */
enum bt_group_reason {
	BT_GROUP_OWN = 0,	/* its own decision */
	BT_GROUP_WAITS,		/* it fits, but too few other members do */
	BT_GROUP_PREEMPTS,	/* the group fits once the victims of some members are deleted */
	BT_GROUP_FAILED,	/* another member's cycle ended in an error */
	BT_GROUP_GONE,		/* Permit fails: the PodGroup was deleted */
	BT_GROUP_ALL_PREEMPT,	/* the group fits once its own victims are deleted */
	BT_GROUP_PREEMPT_FAILS, /* the group's preemption ended in an error */
	BT_GROUP_MIXED,		/* the members name different schedulers; no member is scheduled */
	/* Where groups wait as one (BT_RULE_GROUPS_ARE_QUEUED): */
	BT_GROUP_REJECTED,  /* it fits, but the group does not */
	BT_GROUP_NOT_TRIED, /* the group did not fit, whatever its own result */
	BT_GROUP_TEXT	    /* the result of the group as a whole */
};

struct bt_group_member {
	/*
	 * As bt_engine_decide returns it. Of a member that preempts, victims and node_ix are set even when
	 * the group does not fit. The victims of a group that preempts as a whole are those of the first
	 * decided member (by_group).
	 */
	struct bt_decision decision;
	enum bt_group_reason reason;
	uint32_t nominated; /* its status.nominatedNodeName before, a name */
	/* Private. */
	struct bt_decision out;
	bool assumed, preempts, leaves;
	bool beside_others; /* other members counted on nodes when it was rejected */
	int32_t priority;
	int64_t first_ns;
	uint64_t order;
	uint32_t rank;
	bool post_filtered; /* PostFilter of a plugin that releases claims has run for it */
	struct bt_claim_release group_release;
	size_t victims_from, leaving_from, cleared_nominations_from;
	uint32_t victim_n, leaving_n;
	uint32_t leaf;	/* in a tree: the node of its PodGroup */
	uint32_t place; /* and its index among the pods popped with it */
};

struct bt_group_node;

/* The outcome of the group as a whole. */
enum bt_group_outcome {
	BT_GROUP_UNSCHEDULABLE = 0,
	BT_GROUP_SCHEDULED,	      /* the pods that can be placed are */
	BT_GROUP_WAITS_ON_PREEMPTION, /* unschedulable until its victims are deleted */
	BT_GROUP_ERROR
};

/* The members in the order in which they were decided. Those after the first error were not decided. */
struct bt_group_decision {
	const struct bt_group_member *members;
	uint32_t member_n;
	uint32_t culprit; /* index of the member that failed, where others are BT_GROUP_FAILED */
	enum bt_group_outcome outcome;
};

/* Callbacks of an observer. All NULL: there is none. */
struct bt_group_watch {
	/*
	 * A member has just been decided, without effects yet: bt_engine_explain may be called. Its node
	 * may be changed to another feasible one.
	 */
	void (*decided)(void *context, struct bt_engine *engine, struct bt_decision *decision);
	/* A trial, without the potential victims or in a placement, has chosen a node for a member. Returns
	 * the node to take: this one, or another feasible one. NULL: this one. */
	uint32_t (*tried)(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix);
	/* The members are decided by rising rank, those of one rank in the group's own order. NULL: all in
	 * that order. */
	uint32_t (*rank)(void *context, uint32_t pod_ix);
	void *context;
	bool first_placement; /* of equally good placements the first one is chosen */
	/* The group is decided, and nothing will be carried out but releases of claims: after the call its
	 * pods wait as they did before, and the caller of the cycle gets no members. NULL: the decision is
	 * carried out. */
	void (*judged)(void *context, struct bt_engine *engine, const struct bt_group_decision *group);
};

/* The state of a group's cycle; zero-initialized. Private. */
struct bt_group_cycle {
	struct bt_group_member *members;
	size_t member_n, member_cap;
	bool on;
	bool is_trial;			       /* nothing will be carried out (bt_group_watch.judged) */
	uint64_t number;		       /* how many there have been */
	struct bt_group_preemption preemption; /* by the group as a whole */
	bool preempts;			       /* it preempts, and its victims are to be deleted */
	enum bt_group_outcome outcome;
	struct bt_victim *victims;
	size_t victim_n, victim_cap;
	struct bt_leaving *leaving;
	size_t leaving_n, leaving_cap;
	uint32_t *cleared_nominations;
	size_t cleared_nominations_n, cleared_nominations_cap;
	struct bt_buf permit_error; /* what Permit failed with */
	/* Where groups are queued as units: the group's message, and its length before PodGroupPostFilter. */
	struct bt_buf text;
	size_t plain_len;
	bt_plugin_set met; /* bt_group_notes.met */
	struct bt_placements placements;
	/* The groups of a tree, root first, and those of a trial. */
	struct bt_group_node *nodes, *tried;
	size_t node_n, node_cap, tried_n, tried_cap;
	uint32_t failed_n; /* number of composites above the PodGroup that failed */
};

/* Is a group decided now? */
static inline bool bt_group_cycle_is_on(const struct bt_group_cycle *cycle)
{
	return cycle->on;
}

/* Which one, or 0. */
static inline uint64_t bt_group_cycle_number(const struct bt_group_cycle *cycle)
{
	return cycle->on ? cycle->number : 0;
}

/* Is the pod in the cycle of its group now? The other members do not clear its nomination. */
static inline bool bt_group_cycle_has(const struct bt_group_cycle *cycle, uint32_t pod_ix)
{
	for (size_t i = 0; cycle->on && i < cycle->member_n; i++) {
		if (cycle->members[i].decision.pod_ix == pod_ix) {
			return true;
		}
	}
	return false;
}

void bt_group_cycle_fini(struct bt_group_cycle *cycle);

/* Is the pod decided together with others? Once popped, it is passed to bt_engine_decide_group. */
bool bt_engine_in_group(const struct bt_engine *engine, uint32_t pod_ix);

/* Is it a member of a known group, even if its pods are decided one by one? */
bool bt_engine_is_member(const struct bt_engine *engine, uint32_t pod_ix);

/* The name of the group that a pod is decided with: its PodGroup, or the root of the PodGroup's tree.
 * Requires: bt_engine_in_group. */
uint32_t bt_engine_whole_group(const struct bt_engine *engine, uint32_t pod_ix);

/*
 * The whole cycle of a popped pod's group: members are placed and passed to the binder, or requeued. There
 * are no members if the popped pod has left its group or the queue since. Valid until the next cycle.
 * Requires: no cycle is under way.
 */
void bt_engine_decide_group(struct bt_engine *engine, uint32_t pod_ix, const struct bt_group_watch *watch,
	struct bt_group_decision *out);

/*
 * Why a member is not placed, in upstream's words. own: its own rejection (bt_engine_message, when it was
 * decided); failure: that of the member that failed. Requires: it is not placed.
 */
void bt_engine_group_message(const struct bt_engine *engine, const struct bt_group_decision *group,
	uint32_t member, struct bt_str own, struct bt_str failure, struct bt_buf *out_text);

/* A PodGroup of a tree that was decided. */
struct bt_group_leaf {
	uint32_t namespace_, name; /* names */
	enum bt_group_outcome outcome;
	uint32_t scheduled_n, unschedulable_n; /* of its decided pods */
};

/* The number of PodGroups of a tree, and one of them with its message, as below. 0: no tree was decided. */
uint32_t bt_engine_group_leaf_n(const struct bt_engine *engine);
struct bt_group_leaf bt_engine_group_leaf(const struct bt_engine *engine,
	const struct bt_group_decision *group, uint32_t leaf, struct bt_str failure, struct bt_buf *out_text);

/* The message of the group as a whole, in upstream's words; failure: as above. */
void bt_engine_group_summary(const struct bt_engine *engine, const struct bt_group_decision *group,
	struct bt_str failure, struct bt_buf *out_text);

/* ---- for the engine's other files ---- */

/* Adds a pod in flight to the members. */
void bt_group_cycle_add(struct bt_group_cycle *cycle, const struct bt_engine *engine, uint32_t pod_ix);

/* Sorts the members by the observer's rank, if it has one. */
void bt_group_cycle_rank(struct bt_group_cycle *cycle, const struct bt_group_watch *watch);

/* A member with a node is counted there; it is no longer counted. */
void bt_group_member_reserve(struct bt_engine *engine, struct bt_group_member *member);
void bt_group_member_unreserve(struct bt_engine *engine, struct bt_group_member *member);

/* Are pods of the pod's PodGroup on nodes, apart from those that this cycle has put there? Source:
 * PodGroupStates, ScheduledPodsCount, v1.36.3. */
bool bt_group_runs(const struct bt_engine *engine, const struct bt_pod *pod);

/* Restores the nomination of a member's status after the member was reverted. */
void bt_group_nominate_again(struct bt_engine *engine, uint32_t pod_ix);

/* Resets a member. Returns: whether it is to be tried. Requires: it is not reserved. */
bool bt_group_member_begin_again(struct bt_group_member *member);

/* Chooses the node for a member, which the observer may replace. watch: or NULL. trial: without lasting
 * effects. */
static inline void bt_group_show_decided(struct bt_engine *engine, const struct bt_group_watch *watch,
	bool trial, struct bt_decision *decision)
{
	if (!watch || decision->outcome == BT_SKIPPED) {
		return;
	}
	if (!trial && watch->decided) {
		watch->decided(watch->context, engine, decision);
	} else if (trial && watch->tried && decision->outcome == BT_PLACED) {
		bt_engine_take_node(engine, decision,
			watch->tried(watch->context, engine, decision->pod_ix, decision->node_ix));
	}
}

/* The time, if metrics are enabled; and records a cycle that began and decided then. */
int64_t bt_group_cycle_clock(const struct bt_engine *engine);
void bt_group_cycle_note(struct bt_engine *engine, const struct bt_profile_runtime *runtime,
	enum bt_group_outcome outcome, int64_t begin_ns, int64_t decided_ns);

/*
 * The unschedulable plugins of a member that no plugin has rejected, where only events requeue the group
 * (else none). A member that fits waits for the others, and so does one that might fit without them or
 * with fewer of them placed; if no member was tried, they also wait for a placement of the group. Upstream
 * requeues all of them after a time. Source: determineSchedulingHintForInFlightPod and
 * GangScheduling.EventsToRegister, v1.36.3.
 */
bt_plugin_set bt_group_blame(
	const struct bt_engine *engine, const struct bt_profile_runtime *runtime, bool tried);

/* The member that acts for the group: the first that is not being deleted; or NULL. */
struct bt_group_member *bt_group_first_decided(struct bt_group_cycle *cycle);

/* Was the pod, since it was popped, bound by another scheduler, deleted, or taken out of its group? */
bool bt_group_member_is_gone(const struct bt_engine *engine, uint32_t pod_ix);

/* A node for a pod of a trial, which then holds it (bt_group_release). watch: or NULL. */
enum bt_outcome bt_group_try(struct bt_engine *engine, const struct bt_group_watch *watch, uint32_t pod_ix,
	struct bt_group_preemption *out);

/* Appends the message that pods of a group name two schedulers. Source: frameworkForPodGroup, v1.36.3;
 * validatePodGroup, v1.37.2. */
void bt_group_write_schedulers(
	const struct bt_engine *engine, uint32_t scheduler, uint32_t other, struct bt_buf *out_text);

/* The group preempts: its victims are listed. Synchronous preemption evicts them now, asynchronous preemption
 * when the cycle ends. Requires: a member was decided. */
void bt_group_cycle_preempt(struct bt_engine *engine, struct bt_group_cycle *cycle);

/* PodGroupPostFilter of a rejected group: appends its message to the cycle's text. request: how the group
 * would preempt; the missing fields are filled in. */
enum bt_preempt_outcome bt_engine_group_post_filter(
	struct bt_group_cycle *cycle, struct bt_group_preempt_request *request);

/* Ends a cycle that is not carried out. Requires: the members' results are settled. */
typedef void bt_group_judge(struct bt_engine *engine, const struct bt_group_watch *watch, uint32_t culprit);

/* The whole cycle of a group that is queued as a unit; judge ends a trial. Source: scheduleOnePodGroup,
 * v1.37.2. */
void bt_engine_attempt_group(struct bt_engine *engine, struct bt_group_cycle *cycle, uint32_t pod_ix,
	const struct bt_group_watch *watch, bt_group_judge *judge, uint32_t *out_culprit);

/*
 * A node for each pod of a group in the present state, without a cycle: as bt_engine_attempt_group decides
 * them in that order, without PodGroupPostFilter. Those with a node stay held (bt_group_release); out_held,
 * with room for n, gets them in the order in which they were placed.
 * Returns: BT_GROUP_FITS: the group is scheduled, though pods that it does not need may have no node; else
 *          none is held, and out_text gets the reason.
 * Requires: the pods wait in the ledger, and are of one known group or tree; n > 0; no cycle is under way.
 */
enum bt_group_fit bt_engine_try_group(struct bt_engine *engine, const uint32_t *pod_ixs, uint32_t n,
	uint32_t *out_held, uint32_t *out_held_n, struct bt_buf *out_text);

void bt_engine_join_group(struct bt_engine *engine, uint32_t pod_ix);
void bt_engine_leave_group(struct bt_engine *engine, uint32_t pod_ix);
