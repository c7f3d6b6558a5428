/* SPDX-License-Identifier: Apache-2.0
 * The undo log of transactions, for transaction.c and transaction_commit.c.
 */
#pragma once

#include "cache/node_change.h"
#include "engine/flow/cycle/engine.h"
#include "engine/flow/cycle/transaction.h"

#define BT_NO_RECORD UINT32_MAX

enum bt_tried {
	BT_TRIED_ADDED = 1, /* a pod is known; it may be on a node */
	BT_TRIED_PLACED,    /* a pod is assumed */
	BT_TRIED_EVICTED,   /* a pod is withdrawn */
	BT_TRIED_RESTORED,  /* a withdrawn pod is reinstated */
	BT_TRIED_NODE	    /* a node has another description, or none */
};

/* A change with what its inverse needs. */
struct bt_transaction_record {
	enum bt_tried kind;
	uint32_t pod_ix;
	uint32_t before; /* added, evicted, restored: the pod's record in newest before, or BT_NO_RECORD */
	struct bt_port_list ports; /* evicted, restored: of the node, before; kept for the next record here */
	union {
		struct {
			uint32_t nominated_ix, behind; /* the pod's nomination before, and its place there */
			uint64_t cycle_n;	       /* of the decision */
		} placed;
		uint32_t newest; /* evicted: of bt_ledger_withdraw */
		struct {
			struct bt_node_change change;
			bool kept; /* a commit goes on with the new description */
		} node;
	};
};

/* What rolling back sets again besides the records' changes. */
struct bt_transaction_level {
	size_t record_n;
	struct bt_engine_counts counts, decided; /* the engine's; of bt_schedule_pod_count */
	uint64_t left_n, copy_n;
	uint32_t next_start, last_pod_ix;
	bool has_order; /* of the nodes */
	bool restricts;
};

/* A pod of the ledger (asserted). */
const struct bt_pod *bt_transaction_pod(const struct bt_engine *engine, uint32_t pod_ix);

/* The pod's newest record that adds (BT_TRIED_ADDED) or evicts it, or BT_NO_RECORD. */
uint32_t bt_transaction_newest(const struct bt_engine *engine, enum bt_tried kind, uint32_t pod_ix);

/* A level ends: so does its restriction. */
void bt_transaction_end_restriction(struct bt_engine *engine, const struct bt_transaction_level *level);
