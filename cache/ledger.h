/* SPDX-License-Identifier: Apache-2.0
 * Stages 6 and 8: who is where. The ledger knows every pod in one of the modeler's three sets (queued,
 * assumed, scheduled) and keeps, per node, what scheduled and assumed pods use (I1, I2, I4). Context: the
 * scheduling thread is the only writer; readers see usage through cache/view.h between writes.
 *
 *   (unknown) --bt_ledger_add--> queued --bt_ledger_assume--> assumed --bt_ledger_confirm--> scheduled
 *       |                          ^                             |                               |
 *       |                          +------bt_ledger_forget-------+                               |
 *       +--------bt_ledger_add (the pod names a node)------------------------------------------> |
 *   any of them --bt_ledger_remove--> (unknown)
 *
 * Each assumption ends exactly once: by confirm, forget or remove.
 */
#pragma once

#include "cache/counters.h"
#include "cache/volumes.h"

#define BT_NO_POD UINT32_MAX

enum bt_pod_state {
	BT_POD_VACANT = 0, /* the index is free */
	BT_POD_QUEUED,
	BT_POD_ASSUMED,
	BT_POD_SCHEDULED
};

struct bt_pod {
	const struct bt_signature *signature;
	uint32_t name, uid; /* names; uid is BT_NAME_NONE when unknown */
	uint32_t node_ix;   /* of an assumed or scheduled pod, else BT_NO_NODE */
	int32_t priority;
	enum bt_pod_state state;
	uint32_t gates; /* a name: the scheduling gates joined by blanks; BT_NAME_NONE when there are none */
	int64_t creation_ns;
	bool terminating; /* it is being deleted: spreading does not count it */
};

/* How many pods are in each set, and how often the ledger did what. */
struct bt_ledger_counts {
	uint64_t queued, assumed, scheduled;
	uint64_t assume_n, confirm_n, forget_n, remove_n;
};

struct bt_ledger;

struct bt_ledger *bt_ledger_create(void);
void bt_ledger_destroy(struct bt_ledger *ledger);

const struct bt_usage *bt_ledger_usage(const struct bt_ledger *ledger);

/*
 * From now on pods that come and go are counted there as well.
 * Requires: the ledger has no pods on nodes yet; counters outlive the ledger.
 */
void bt_ledger_count_in(struct bt_ledger *ledger, struct bt_counters *counters);

/* The same for their volumes. Requires: as bt_ledger_count_in. */
void bt_ledger_mount_in(struct bt_ledger *ledger, struct bt_volumes *volumes);

/* Says whether a pod is being deleted. */
void bt_ledger_set_terminating(struct bt_ledger *ledger, uint32_t pod_ix, bool terminating);

/* Makes room for nodes up to slot_n - 1. Call before any of them is used. */
void bt_ledger_reserve(struct bt_ledger *ledger, uint32_t slot_n);

/*
 * Enters a pod: queued, or scheduled when pod->node_ix is a node. pod->state is set here.
 * Returns: BT_OK with the pod's index; BT_EXISTS when a pod of that namespace and name is there (out_ix says
 * which one).
 */
enum bt_status bt_ledger_add(struct bt_ledger *ledger, const struct bt_pod *pod, uint32_t *out_ix);

/* Takes a pod out, whatever set it is in. */
void bt_ledger_remove(struct bt_ledger *ledger, uint32_t pod_ix);

/* A queued pod has been decided for a node: it counts there from now on. */
void bt_ledger_assume(struct bt_ledger *ledger, uint32_t pod_ix, uint32_t node_ix);

/* The source shows the binding of an assumed pod. */
void bt_ledger_confirm(struct bt_ledger *ledger, uint32_t pod_ix);

/* The binding of an assumed pod failed: it is queued again and counts nowhere. */
void bt_ledger_forget(struct bt_ledger *ledger, uint32_t pod_ix);

/* The pod of a namespace and name, or BT_NO_POD. */
uint32_t bt_ledger_find(const struct bt_ledger *ledger, uint32_t namespace_, uint32_t name);

const struct bt_pod *bt_ledger_pod(const struct bt_ledger *ledger, uint32_t pod_ix);

/* One more than the highest pod index in use. */
uint32_t bt_ledger_pod_end(const struct bt_ledger *ledger);

struct bt_ledger_counts bt_ledger_counts(const struct bt_ledger *ledger);
