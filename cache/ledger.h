/* SPDX-License-Identifier: Apache-2.0
 * Stages 6 and 8: who is where. The ledger knows every pod in one of the modeler's three sets (queued,
 * assumed, scheduled) and keeps, per node, what scheduled and assumed pods use (I1, I2, I4). Context: the
 * scheduling thread is the only writer; readers see usage through cache/node_view.h between writes.
 *
 *   (unknown) --bt_ledger_add--> queued --bt_ledger_assume--> assumed --bt_ledger_confirm--> scheduled
 *       |                          ^                             |                               |
 *       |                          +------bt_ledger_forget-------+                               |
 *       +--------bt_ledger_add (the pod names a node)------------------------------------------> |
 *   any of them --bt_ledger_remove--> (unknown)
 *
 * Each assumption ends exactly once: by confirm, forget or remove.
 *
 * Unless a function says otherwise: pod_ix is a pod's that is there, node_ix a slot below what
 * bt_ledger_reserve made room for (asserted). Changes may allocate and do not block; what only reads does
 * neither. Nothing fails but bt_ledger_add. Pointers that are returned hold until the next change.
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
	uint32_t name, uid; /* names; uid is BT_NAME_NONE when unknown. Held, as signature, gates and
			       status_node are, as long as the pod is there */
	uint32_t node_ix;   /* of an assumed or scheduled pod, else BT_NO_NODE */
	int32_t priority;
	enum bt_pod_state state;
	uint32_t gates; /* a name: the scheduling gates joined by blanks; BT_NAME_NONE when there are none */
	int64_t creation_ns;
	int64_t start_ns;      /* when it began to run; 0 when it has not */
	uint32_t status_node;  /* status.nominatedNodeName, a name; BT_NAME_NONE when there is none */
	uint32_t status_ix;    /* its slot, else BT_NO_NODE */
	bool detached;	       /* its object is deleted, but a cycle or a binding still refers to it */
	uint32_t nominated_ix; /* the node that a queued pod is nominated to, else BT_NO_NODE; set by
				  bt_ledger_nominate */
	uint32_t level;	       /* private: of its priority */
	bool shown;	       /* its object has named its node; not yet when a binding alone has */
	bool terminating;      /* it is being deleted: spreading does not count it */
	bool preempted;	       /* it is being deleted because a scheduler preempted it */
	bool never_preempts;   /* its preemptionPolicy is Never */
	bool ended;	       /* it has succeeded or failed, and is about to be removed for that */
	bool lifted;	       /* private: by bt_ledger_lift */
};

/* How many pods are in each set, and how often the ledger did what. */
struct bt_ledger_counts {
	uint64_t queued, assumed, scheduled;
	uint64_t assume_n, confirm_n, forget_n, remove_n;
};

struct bt_ledger;

/* Owns: the caller, until bt_ledger_destroy, which ends before what the ledger counts in; NULL is fine. */
struct bt_ledger *bt_ledger_create(void);
void bt_ledger_destroy(struct bt_ledger *ledger);

/* The thread that may change the ledger. Owns: the ledger. */
struct bt_owner *bt_ledger_owner(struct bt_ledger *ledger);

/* What is used on each node. Owns: the ledger, as long as it is there; always as it is now. */
const struct bt_usage *bt_ledger_usage(const struct bt_ledger *ledger);

/*
 * From now on the ledger holds the names and UIDs of its pods there, and their signatures. Requires: it has
 * no pods yet; what those that come have is held by the caller meanwhile.
 */
void bt_ledger_hold_in(struct bt_ledger *ledger, struct bt_intern *intern);

/* Releases the names and signatures of removed pods, which stay valid until this call. Requires: nothing
 * refers to them any more. */
void bt_ledger_let_go(struct bt_ledger *ledger);

/*
 * From now on pods that come and go are counted there as well.
 * Requires: the ledger has no pods on nodes yet; counters outlive the ledger.
 */
void bt_ledger_count_in(struct bt_ledger *ledger, struct bt_counters *counters);

/* The same for their volumes. Requires: as bt_ledger_count_in. */
void bt_ledger_mount_in(struct bt_ledger *ledger, struct bt_volumes *volumes);

/*
 * From now on the usage has the pods one by one. cycle_ix: where the index of the pod whose cycle it is
 * stands, as long as the ledger is used. Requires: no trial is on.
 */
void bt_ledger_show_pods(struct bt_ledger *ledger, const uint32_t *cycle_ix);

/* Says whether a pod is being deleted. */
void bt_ledger_set_terminating(struct bt_ledger *ledger, uint32_t pod_ix, bool terminating);

/* A pod is being deleted because a scheduler preempted it: terminating, too. */
void bt_ledger_set_preempted(struct bt_ledger *ledger, uint32_t pod_ix);

/* A pod has succeeded or failed. bt_ledger_remove or bt_ledger_detach follows. */
void bt_ledger_set_ended(struct bt_ledger *ledger, uint32_t pod_ix);

/* Makes room for nodes up to slot_n - 1. Call before any of them is used. */
void bt_ledger_reserve(struct bt_ledger *ledger, uint32_t slot_n);

/* Is a pod on the node, or nominated to it, or is it some pod's status_ix? */
bool bt_ledger_keeps(const struct bt_ledger *ledger, uint32_t node_ix);

/* A slot is another node's from now on. Requires: the ledger does not keep it. */
void bt_ledger_vacate(struct bt_ledger *ledger, uint32_t node_ix);

/*
 * What was on a node, or nominated to it, is so by another slot from now on; pods keep their order. Nothing
 * was released, and columns are not updated: they have to be made anew. Requires: to is vacant and lower; no
 * trial is on.
 */
void bt_ledger_move_node(struct bt_ledger *ledger, uint32_t from, uint32_t to);

/*
 * Enters a pod: queued, or scheduled when pod->node_ix is a node. pod->state is set here.
 * Requires: pod->node_ix and pod->status_ix are slots or BT_NO_NODE.
 * Owns   : the ledger copies pod, and holds its names and signature until it is removed and
 *          bt_ledger_let_go is called.
 * Returns: BT_OK with the pod's index; BT_EXISTS when a pod of that namespace and name is there (out_ix says
 * which one).
 */
enum bt_status bt_ledger_add(struct bt_ledger *ledger, const struct bt_pod *pod, uint32_t *out_ix);

/*
 * Says anew what a pod is, as its object is now; also when somebody else has bound it, or has confirmed where
 * it is assumed: then pod->node_ix is its node. A scheduled pod stays on its node. pod->state is not looked
 * at; the nomination stays unless the pod has a node now.
 */
void bt_ledger_replace(struct bt_ledger *ledger, uint32_t pod_ix, const struct bt_pod *pod);

/* The object of a pod that is in its cycle or being bound has gone: from now on another may have its name.
 * An assumed or scheduled pod counts on its node no longer. bt_ledger_remove ends it. */
void bt_ledger_detach(struct bt_ledger *ledger, uint32_t pod_ix);

/* Sets status.nominatedNodeName: the name of the node with that slot, or BT_NAME_NONE and BT_NO_NODE.
 * Owns: the ledger holds the name; what it was is held until bt_ledger_let_go. */
void bt_ledger_set_status_node(struct bt_ledger *ledger, uint32_t pod_ix, uint32_t name, uint32_t node_ix);

/* Takes a pod out, whatever set it is in. */
void bt_ledger_remove(struct bt_ledger *ledger, uint32_t pod_ix);

/* A queued pod has been decided for a node: it counts there from now on, and its nomination ends.
 * Requires: the pod is queued; no trial is on. */
void bt_ledger_assume(struct bt_ledger *ledger, uint32_t pod_ix, uint32_t node_ix);

/* Fetches into the cache what assuming a pod of the signature on a node will change. */
void bt_ledger_fetch(const struct bt_ledger *ledger, const struct bt_signature *signature, uint32_t node_ix);

/* The same for a pod that will be removed. */
void bt_ledger_fetch_pod(const struct bt_ledger *ledger, uint32_t pod_ix);

/* The same for what depends on what was fetched. node_ix may be any number. */
void bt_ledger_fetch_links(const struct bt_ledger *ledger, uint32_t node_ix);

/* The source shows the binding of an assumed pod. Requires: the pod is assumed. */
void bt_ledger_confirm(struct bt_ledger *ledger, uint32_t pod_ix);

/* The binding of an assumed pod failed: it is queued again and counts nowhere.
 * Requires: the pod is assumed; no trial is on. */
void bt_ledger_forget(struct bt_ledger *ledger, uint32_t pod_ix);

/*
 * Nominates a queued pod to a node; BT_NO_NODE takes the nomination back. It ends when the pod is assumed or
 * removed. Requires: the pod is queued.
 */
void bt_ledger_nominate(struct bt_ledger *ledger, uint32_t pod_ix, uint32_t node_ix);

/*
 * The pods on a node, and those nominated to it: the first of them, and the one after another of the
 * same list; BT_NO_POD at the end. Those on a node come last first, where the last one takes the place of one
 * that goes; the others in no order.
 */
uint32_t bt_ledger_first_on(const struct bt_ledger *ledger, uint32_t node_ix);
uint32_t bt_ledger_first_nominated(const struct bt_ledger *ledger, uint32_t node_ix);
uint32_t bt_ledger_next(const struct bt_ledger *ledger, uint32_t pod_ix);

/* Might a pod other than this one, of the same or a higher priority, be nominated to some node? */
bool bt_ledger_may_yield(const struct bt_ledger *ledger, uint32_t pod_ix);

/* The lowest priority of the pods on nodes; INT32_MAX when there are none. */
int32_t bt_ledger_lowest_priority(const struct bt_ledger *ledger);

/* Grows whenever a nomination is made or taken back, and when a pod begins to be deleted. */
uint64_t bt_ledger_change_n(const struct bt_ledger *ledger);

/*
 * Trials: what would be if a pod used a node (add) or did not use the one that it is on (!add), whatever set
 * it is in. They happen between a begin and an end for their node, up to BT_TRIAL_DEPTH deep; before the end
 * each is undone by its opposite. Then usage and counters are what they were, so columns need no update.
 * Usage (its pods one by one, too) and counters show trials; sets, lists and the journal do not. As in
 * upstream's trials, a host port is free as soon as one of the pods that hold it is removed.
 */
#define BT_TRIAL_DEPTH 2
void bt_ledger_try_begin(struct bt_ledger *ledger, uint32_t node_ix);
void bt_ledger_try(struct bt_ledger *ledger, uint32_t pod_ix, uint32_t node_ix, bool add);
void bt_ledger_try_end(struct bt_ledger *ledger, uint32_t node_ix);

/* The same for a pod as if that were its signature. Requires: bt_counters_know, as bt_counters_try
 * asserts. */
void bt_ledger_try_like(struct bt_ledger *ledger, uint32_t pod_ix, const struct bt_signature *signature,
	uint32_t node_ix, bool add);

/* A trial of no upstream's: a pod is not on its node (absent), or is again. */
void bt_ledger_try_absent(struct bt_ledger *ledger, uint32_t pod_ix, bool absent);

/*
 * Lifts a pod off its node, as if it had gone, and puts it back: usage (its pods one by one, too), counters,
 * volumes, ports and the journal say so, so that columns follow; its set and the list of its node do not. Any
 * number of pods may be lifted at a time. In between pods may be assumed and forgotten, the last one first,
 * and tried. Afterwards bt_ledger_lift_end gives nodes the ports that they had. Requires: the pod is on a
 * node; nodes are not frozen; no trial is on.
 */
void bt_ledger_lift(struct bt_ledger *ledger, uint32_t pod_ix);
void bt_ledger_put_back(struct bt_ledger *ledger, uint32_t pod_ix);
void bt_ledger_lift_end(struct bt_ledger *ledger);

/* A pod was taken back that was assumed beside one with the same port: what is held by pods of the node is
 * taken again.
 */
void bt_ledger_hold_ports(struct bt_ledger *ledger, uint32_t node_ix);

/*
 * Between a freeze and a thaw nodes have the pods that they had: usage, lists, counters and volumes stay as
 * they are, for trials, too. A pod of theirs that changes or goes is set apart as it was, detached and with
 * an index of its own, and the lists have that. Sets, names and nominations are those of now. At the thaw
 * nodes catch up in the order of what has happened, so that lists are in upstream's order.
 * Requires: in between no pod moves, or is set terminating but by bt_ledger_replace or
 * bt_ledger_set_preempted.
 */
void bt_ledger_freeze(struct bt_ledger *ledger);
void bt_ledger_thaw(struct bt_ledger *ledger);
bool bt_ledger_is_frozen(const struct bt_ledger *ledger);

/* What a pod of a frozen node's list is now: itself, the pod that it was set apart from, or BT_NO_POD: it has
 * gone. */
uint32_t bt_ledger_now(const struct bt_ledger *ledger, uint32_t pod_ix);

/* A pod that was set apart stays after the thaw, detached and on no node, until bt_ledger_remove. */
void bt_ledger_keep(struct bt_ledger *ledger, uint32_t pod_ix);

/* The pod of a namespace and name, or BT_NO_POD. */
uint32_t bt_ledger_find(const struct bt_ledger *ledger, uint32_t namespace_, uint32_t name);

const struct bt_pod *bt_ledger_pod(const struct bt_ledger *ledger, uint32_t pod_ix);

/* Is there a pod with that index now? It may have been some pod's before. */
bool bt_ledger_has(const struct bt_ledger *ledger, uint32_t pod_ix);

/* Are so many indices vacant that pods should get others, or were so many, and indices are not dense yet? */
bool bt_ledger_is_sparse(struct bt_ledger *ledger);

/* The pod with the highest index below end that has a lower one vacant, or BT_NO_POD. */
uint32_t bt_ledger_last_pod(const struct bt_ledger *ledger, uint32_t end);

/*
 * Gives a pod the lowest vacant index. It keeps its place in the list of its node; nothing else changes.
 * Requires: bt_ledger_last_pod has said it; it is not assumed, nominated or detached; no trial is on.
 * Returns: the index.
 */
uint32_t bt_ledger_move_pod(struct bt_ledger *ledger, uint32_t pod_ix);

/* Gives up room for pods behind the last one, and says how many indices are left. Which index a pod gets does
 * not depend on it: the lowest that is free. */
uint32_t bt_ledger_trim_pods(struct bt_ledger *ledger);

/* Gives up room for nodes from slot_n on. Requires: they are vacated; no trial is on. */
void bt_ledger_trim_nodes(struct bt_ledger *ledger, uint32_t slot_n);

/* One more than the highest pod index in use. */
uint32_t bt_ledger_pod_end(const struct bt_ledger *ledger);

struct bt_ledger_counts bt_ledger_counts(const struct bt_ledger *ledger);
