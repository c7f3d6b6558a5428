/* SPDX-License-Identifier: Apache-2.0
 * Stages 6 and 8: the pods and their nodes. The ledger has every pod in one of the modeler's three sets
 * (queued, assumed, scheduled) and tracks, per node, the usage of scheduled and assumed pods (I1, I2, I4).
 * Context: the scheduling thread is the only writer; readers see usage through cache/node_view.h between
 * writes.
 *
 *   (unknown) --bt_ledger_add--> queued --bt_ledger_assume--> assumed --bt_ledger_confirm--> scheduled
 *       |                          ^                             |                               |
 *       |                          +------bt_ledger_forget-------+                               |
 *       +--------bt_ledger_add (the pod names a node)------------------------------------------> |
 *   any of them --bt_ledger_remove--> (unknown)
 *
 * Each assumption ends exactly once: by confirm, forget or remove.
 *
 * Unless stated otherwise: pod_ix is an existing pod's, node_ix a slot below the limit of bt_ledger_reserve
 * (asserted). Writers may allocate and do not block; readers do neither. Only bt_ledger_add can fail.
 * Returned pointers are valid until the next change.
 */
#pragma once

#include "cache/counters.h"
#include "cache/volumes.h"
#include "engine/base/owner.h"

#define BT_NO_POD UINT32_MAX

enum bt_pod_state {
	BT_POD_VACANT = 0, /* the index is free */
	BT_POD_QUEUED,
	BT_POD_ASSUMED,
	BT_POD_SCHEDULED
};

struct bt_pod {
	const struct bt_signature *signature;
	uint32_t name, uid; /* names; uid: BT_NAME_NONE: unknown. Held like signature, gates and status_node,
			     * 			       for the pod's lifetime */
	uint32_t node_ix;   /* for an assumed or scheduled pod, else BT_NO_NODE */
	int32_t priority;
	enum bt_pod_state state;
	uint32_t gates; /* a name: the scheduling gates joined by blanks; BT_NAME_NONE: none */
	int64_t creation_ns;
	int64_t start_ns;      /* start time; 0: not started */
	uint32_t status_node;  /* status.nominatedNodeName, a name; BT_NAME_NONE: none */
	uint32_t status_ix;    /* its slot, else BT_NO_NODE */
	bool detached;	       /* its object is deleted, but a cycle or a binding still uses it */
	uint32_t nominated_ix; /* the node that a queued pod is nominated to, else BT_NO_NODE; set by
				  bt_ledger_nominate */
	uint32_t level;	       /* private: the level of its priority */
	bool shown;	       /* its object names its node; false while only a binding does */
	bool terminating;      /* it is terminating: spreading ignores it */
	bool preempted;	       /* it is terminating because of preemption */
	bool never_preempts;   /* its preemptionPolicy is Never */
	bool ended;	       /* it has succeeded or failed, and will be removed */
	bool lifted;	       /* private: by bt_ledger_lift or bt_ledger_withdraw */
};

/* The number of pods per set, and of operations. */
struct bt_ledger_counts {
	uint64_t queued, assumed, scheduled;
	uint64_t assume_n, confirm_n, forget_n, remove_n;
};

struct bt_ledger;

/* Owns: the caller; bt_ledger_destroy, before the counters and volumes that it updates; NULL is ignored. */
struct bt_ledger *bt_ledger_create(void);
void bt_ledger_destroy(struct bt_ledger *ledger);

/* The thread that may change the ledger. Owns: the ledger. */
struct bt_owner *bt_ledger_owner(struct bt_ledger *ledger);

/* The usage of each node, always current. Owns: the ledger, for its lifetime. */
const struct bt_usage *bt_ledger_usage(const struct bt_ledger *ledger);

/*
 * Makes the ledger hold its pods' names, UIDs and signatures in intern. Requires: it has no pods yet; the
 * caller holds them during bt_ledger_add.
 */
void bt_ledger_hold_in(struct bt_ledger *ledger, struct bt_intern *intern);

/* Releases the names and signatures of removed pods, which stay valid until this call. Requires: no
 * references remain. */
void bt_ledger_free_removed(struct bt_ledger *ledger);

/*
 * Makes the ledger update these counters for added and removed pods.
 * Requires: the ledger has no pods on nodes yet; counters outlive the ledger.
 */
void bt_ledger_count_in(struct bt_ledger *ledger, struct bt_counters *counters);

/* The same for their volumes. Requires: as bt_ledger_count_in. */
void bt_ledger_mount_in(struct bt_ledger *ledger, struct bt_volumes *volumes);

/*
 * Adds single pods to the usage. cycle_ix: points to the index of the cycle's pod, valid as long as the
 * ledger. Requires: no active trial.
 */
void bt_ledger_show_pods(struct bt_ledger *ledger, const uint32_t *cycle_ix);

/* Sets whether a pod is terminating. */
void bt_ledger_set_terminating(struct bt_ledger *ledger, uint32_t pod_ix, bool terminating);

/* Marks a pod as preempted, and so terminating. */
void bt_ledger_set_preempted(struct bt_ledger *ledger, uint32_t pod_ix);

/* Marks a pod as succeeded or failed. bt_ledger_remove or bt_ledger_detach follows. */
void bt_ledger_set_ended(struct bt_ledger *ledger, uint32_t pod_ix);

/* Reserves capacity for nodes up to slot_n - 1. Call before any of them is used. */
void bt_ledger_reserve(struct bt_ledger *ledger, uint32_t slot_n);

/* Is a pod on the node, or nominated to it, or is it some pod's status_ix? */
bool bt_ledger_keeps(const struct bt_ledger *ledger, uint32_t node_ix);

/* Vacates a slot for another node. Requires: bt_ledger_keeps is false. */
void bt_ledger_vacate(struct bt_ledger *ledger, uint32_t node_ix);

/* A live node has a new description: adds it to the usage's journal, as a change that may have made room. Its
 * pods stay. */
void bt_ledger_redescribe(struct bt_ledger *ledger, uint32_t node_ix);

/*
 * Moves the pods and nominations of a node to another slot, in the same order. It does not count as a
 * release, and columns must be rebuilt. Requires: to is vacant and lower; no active trial.
 */
void bt_ledger_move_node(struct bt_ledger *ledger, uint32_t from, uint32_t to);

/*
 * Adds a pod: queued, or scheduled when pod->node_ix is a node. Sets pod->state.
 * Requires: pod->node_ix and pod->status_ix are slots or BT_NO_NODE.
 * Owns   : the ledger copies pod, and holds its names and signature until it is removed and
 *          bt_ledger_free_removed is called.
 * Returns: BT_OK with the pod's index; BT_EXISTS when there is a pod of that namespace and name (its index in
 * out_ix).
 */
enum bt_status bt_ledger_add(struct bt_ledger *ledger, const struct bt_pod *pod, uint32_t *out_ix);

/*
 * Updates a pod from its current object; also when another scheduler has bound it, or when its assumed node
 * is confirmed: then pod->node_ix is its node. A scheduled pod stays on its node. pod->state is ignored; the
 * nomination stays unless the pod has a node now.
 */
void bt_ledger_replace(struct bt_ledger *ledger, uint32_t pod_ix, const struct bt_pod *pod);

/* The object of a pod in its cycle or binding was deleted: another pod may use its name. An assumed or
 * scheduled pod no longer counts on its node. bt_ledger_remove must follow. */
void bt_ledger_detach(struct bt_ledger *ledger, uint32_t pod_ix);

/* Sets status.nominatedNodeName: the name of the node with that slot, or BT_NAME_NONE and BT_NO_NODE.
 * Owns: the ledger holds the name; the old one until bt_ledger_free_removed. */
void bt_ledger_set_status_node(struct bt_ledger *ledger, uint32_t pod_ix, uint32_t name, uint32_t node_ix);

/* Removes a pod from any set. */
void bt_ledger_remove(struct bt_ledger *ledger, uint32_t pod_ix);

/* Assumes a queued pod on a node: it counts there, and its nomination ends.
 * Requires: the pod is queued; no trial is on. */
void bt_ledger_assume(struct bt_ledger *ledger, uint32_t pod_ix, uint32_t node_ix);

/* Prefetches the cache lines that assuming a pod of the signature on a node changes. */
void bt_ledger_fetch(const struct bt_ledger *ledger, const struct bt_signature *signature, uint32_t node_ix);

/* The same for a pod that will be removed. */
void bt_ledger_fetch_pod(const struct bt_ledger *ledger, uint32_t pod_ix);

/* The same for lines whose addresses were prefetched. node_ix may be any number. */
void bt_ledger_fetch_links(const struct bt_ledger *ledger, uint32_t node_ix);

/* The watch confirms the binding of an assumed pod. Requires: the pod is assumed. */
void bt_ledger_confirm(struct bt_ledger *ledger, uint32_t pod_ix);

/* The binding of an assumed pod failed: it is queued again and counts on no node.
 * Requires: the pod is assumed; no trial is on. */
void bt_ledger_forget(struct bt_ledger *ledger, uint32_t pod_ix);

/*
 * Nominates a queued pod to a node; BT_NO_NODE clears the nomination. It ends when the pod is assumed or
 * removed. Requires: the pod is queued.
 */
void bt_ledger_nominate(struct bt_ledger *ledger, uint32_t pod_ix, uint32_t node_ix);

/*
 * The pods on a node, and those nominated to it: the first, and the next of the same list; BT_NO_POD at the
 * end. Pods on a node are listed newest first, and the newest takes the place of a removed one; nominated
 * ones are unordered.
 */
uint32_t bt_ledger_first_on(const struct bt_ledger *ledger, uint32_t node_ix);
uint32_t bt_ledger_first_nominated(const struct bt_ledger *ledger, uint32_t node_ix);
uint32_t bt_ledger_next(const struct bt_ledger *ledger, uint32_t pod_ix);

/* The previous one of the same list; BT_NO_POD: it is the first. */
uint32_t bt_ledger_previous(const struct bt_ledger *ledger, uint32_t pod_ix);

/* Nominates a pod as before its nomination ended: behind the pod that was bt_ledger_previous then.
 * Requires: the pod has no nomination; before_ix is BT_NO_POD or nominated to the node. */
void bt_ledger_nominate_behind(
	struct bt_ledger *ledger, uint32_t pod_ix, uint32_t node_ix, uint32_t before_ix);

/* May another pod of the same or a higher priority be nominated to some node? */
bool bt_ledger_may_yield(const struct bt_ledger *ledger, uint32_t pod_ix);

/* The lowest priority of the pods on nodes; INT32_MAX without pods. */
int32_t bt_ledger_lowest_priority(const struct bt_ledger *ledger);

/* Incremented when a nomination is set or cleared, and when a pod becomes terminating. */
uint64_t bt_ledger_change_n(const struct bt_ledger *ledger);

/*
 * Trials: as if a pod used a node (add) or did not use its own (!add), whatever set it is in. They run
 * between a begin and an end for one node, nested up to BT_TRIAL_DEPTH; each is reverted by its opposite
 * before the end. Then usage and counters are unchanged, so columns need no update. Usage (single pods, too)
 * and counters include trials; sets, lists and the journal do not. As in upstream's trials, a host port is
 * free as soon as one of the pods that hold it is removed; ports of other nodes do not change.
 */
#define BT_TRIAL_DEPTH 2
void bt_ledger_try_begin(struct bt_ledger *ledger, uint32_t node_ix);
void bt_ledger_try(struct bt_ledger *ledger, uint32_t pod_ix, uint32_t node_ix, bool add);
void bt_ledger_try_end(struct bt_ledger *ledger, uint32_t node_ix);

/* The same with another signature for the pod. Requires: bt_counters_know, as bt_counters_try asserts. */
void bt_ledger_try_as(struct bt_ledger *ledger, uint32_t pod_ix, const struct bt_signature *signature,
	uint32_t node_ix, bool add);

/* A trial without upstream's quirks: a pod is absent from its node (absent), or back. */
void bt_ledger_try_absent(struct bt_ledger *ledger, uint32_t pod_ix, bool absent);

/*
 * Lifts a pod off its node, as if deleted, and puts it back: usage (single pods, too), counters, volumes,
 * ports and the journal change, so that columns follow; its set and the list of its node do not. Any number
 * of pods may be lifted at the same time. In between pods may be assumed and forgotten, in LIFO order, and
 * tried. Afterwards bt_ledger_lift_end restores the nodes' ports. Requires: the pod is on a node; nodes are
 * not frozen; no active trial.
 */
void bt_ledger_lift(struct bt_ledger *ledger, uint32_t pod_ix);
void bt_ledger_put_back(struct bt_ledger *ledger, uint32_t pod_ix);
void bt_ledger_lift_end(struct bt_ledger *ledger);

/*
 * Withdraws a pod from its node, as if deleted, and reinstates it. Other than a lifted one it is in no list,
 * so that preemption, too, does not see it; its set and index stay. newest: the first pod of the list before,
 * which has taken its place, and gives it back; or the pod itself, which then comes as a new one. A caller
 * that wants the former state back reinstates it with newest in LIFO order with other changes, and then
 * restores the node's ports. Requires: the pod is on a node; nodes are not frozen; no active trial.
 * Returns: newest.
 */
uint32_t bt_ledger_withdraw(struct bt_ledger *ledger, uint32_t pod_ix);
void bt_ledger_reinstate(struct bt_ledger *ledger, uint32_t pod_ix, uint32_t newest);

/* Copies a node's ports; and sets them again. Owns: the caller owns the copy's items, which the next copy
 * reuses. */
void bt_ledger_save_ports(const struct bt_ledger *ledger, uint32_t node_ix, struct bt_port_list *out_ports);
void bt_ledger_restore_ports(struct bt_ledger *ledger, uint32_t node_ix, const struct bt_port_list *ports);

/* Call after forgetting a pod that was assumed beside one with the same port: takes the ports of the node's
 * pods again.
 */
void bt_ledger_hold_ports(struct bt_ledger *ledger, uint32_t node_ix);

/*
 * Between a freeze and a thaw nodes keep their pods: usage, lists, counters and volumes do not change, also
 * for trials. A node's pod that changes or is deleted is set apart: its old version gets a new index,
 * detached, and the lists contain that. Sets, names and nominations are current. The thaw applies changes in
 * their order, so that lists are in upstream's order.
 * Requires: in between no pod moves, and only bt_ledger_replace and bt_ledger_set_preempted set pods
 * terminating.
 */
void bt_ledger_freeze(struct bt_ledger *ledger);
void bt_ledger_thaw(struct bt_ledger *ledger);
bool bt_ledger_is_frozen(const struct bt_ledger *ledger);

/* The current pod for one of a frozen node's list: itself, the pod that it was set apart from, or BT_NO_POD:
 * deleted. */
uint32_t bt_ledger_now(const struct bt_ledger *ledger, uint32_t pod_ix);

/* A pod that was set apart stays after the thaw, detached and on no node, until bt_ledger_remove. */
void bt_ledger_keep(struct bt_ledger *ledger, uint32_t pod_ix);

/* The pod of a namespace and name, or BT_NO_POD. */
uint32_t bt_ledger_find(const struct bt_ledger *ledger, uint32_t namespace_, uint32_t name);

const struct bt_pod *bt_ledger_pod(const struct bt_ledger *ledger, uint32_t pod_ix);

/* Is there a pod with that index? Indices are reused. */
bool bt_ledger_has(const struct bt_ledger *ledger, uint32_t pod_ix);

/* Should pods move to lower indices? True from when many indices are vacant until indices are dense. */
bool bt_ledger_is_sparse(struct bt_ledger *ledger);

/* The pod with the highest index below end, if a lower index is vacant, else BT_NO_POD. */
uint32_t bt_ledger_last_pod(const struct bt_ledger *ledger, uint32_t end);

/*
 * Moves a pod to the lowest vacant index. It keeps its place in the list of its node; nothing else changes.
 * Requires: it is from bt_ledger_last_pod; it is not assumed, nominated or detached; no trial is on.
 * Returns: the index.
 */
uint32_t bt_ledger_move_pod(struct bt_ledger *ledger, uint32_t pod_ix);

/* Frees capacity after the last pod, and returns the number of indices. New pods get the lowest free index in
 * any case. */
uint32_t bt_ledger_trim_pods(struct bt_ledger *ledger);

/* Frees capacity for nodes from slot_n on. Requires: they are vacated; no active trial. */
void bt_ledger_trim_nodes(struct bt_ledger *ledger, uint32_t slot_n);

/* One more than the highest pod index in use. */
uint32_t bt_ledger_pod_end(const struct bt_ledger *ledger);

struct bt_ledger_counts bt_ledger_counts(const struct bt_ledger *ledger);
