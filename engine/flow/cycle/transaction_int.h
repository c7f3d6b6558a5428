/* SPDX-License-Identifier: Apache-2.0
 * The undo log of transactions, for transaction*.c.
 */
#pragma once

#include "cache/node_change.h"
#include "engine/flow/cycle/engine.h"
#include "engine/flow/cycle/transaction.h"

#define BT_NO_RECORD UINT32_MAX

enum bt_record_kind {
	BT_RECORD_ADDED = 1, /* a pod was added; it may be on a node */
	BT_RECORD_PLACED,    /* a pod was assumed */
	BT_RECORD_EVICTED,   /* a pod was withdrawn from its node */
	BT_RECORD_RESTORED,  /* a withdrawn pod was reinstated */
	BT_RECORD_NODE,	     /* a node was added, changed or removed */
	BT_RECORD_GROUP,     /* a PodGroup or CompositePodGroup was added */
	BT_RECORD_NOMINATED  /* a nomination was made or cleared */
};

/* A change, and what undoing it needs. */
struct bt_transaction_record {
	enum bt_record_kind kind;
	uint32_t pod_ix;
	uint32_t before;	   /* added, evicted, restored: the former entry in newest, or BT_NO_RECORD */
	struct bt_port_list ports; /* evicted, restored: the node's former ports; memory is reused */
	union {
		struct {
			uint32_t nominated_ix,
				behind;	  /* the former nomination, and the pod before it there */
			uint64_t cycle_n; /* of the decision */
		} placed;
		struct {
			uint32_t nominated_ix, behind; /* as of placed */
			uint32_t status_node;	       /* held */
			uint32_t status_ix;
		} nominated;
		uint32_t newest; /* evicted: of bt_ledger_withdraw */
		struct {
			struct bt_node_change change;
			bool kept; /* a commit uses the new description */
		} node;
		struct {
			uint32_t namespace_, name; /* the group holds them */
			bool composite;
		} group;
	};
};

/* What a rollback restores besides the changes of the records. */
struct bt_transaction_level {
	size_t record_n;
	struct bt_engine_counts counts, decided; /* of the engine; of bt_schedule_pod_count */
	uint64_t left_n, copy_n;
	uint32_t next_start, last_pod_ix;
	bool has_order; /* of the nodes */
	bool restricts;
};

/* Appends a record; a vacant one keeps the memory of its ports. Requires: a transaction is open. */
struct bt_transaction_record *bt_transaction_record(
	struct bt_engine *engine, enum bt_record_kind kind, uint32_t pod_ix);

/* A pod of the ledger (asserted). */
const struct bt_pod *bt_transaction_pod(const struct bt_engine *engine, uint32_t pod_ix);

/* The pod's newest record that adds (BT_RECORD_ADDED) or evicts it, or BT_NO_RECORD. */
uint32_t bt_transaction_newest(const struct bt_engine *engine, enum bt_record_kind kind, uint32_t pod_ix);

/* Room for the preemption of the pod that was just refused (asserted), once. */
struct bt_preemption *bt_transaction_take_refused(struct bt_engine *engine, uint32_t pod_ix);

/* Undoes BT_RECORD_NOMINATED. */
void bt_transaction_undo_nomination(struct bt_engine *engine, const struct bt_transaction_record *record);

/* Ends the level's restriction of nodes. */
void bt_transaction_end_restriction(struct bt_engine *engine, const struct bt_transaction_level *level);
