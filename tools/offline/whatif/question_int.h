/* SPDX-License-Identifier: Apache-2.0
 * The state of a question while it is answered, for question.c and outcome.c.
 */
#pragma once

#include "tools/offline/whatif/budget_use.h"
#include "tools/offline/whatif/importance.h"
#include "tools/offline/whatif/question.h"

enum bt_run_state { BT_RUN_WAITS, BT_RUN_PLACED, BT_RUN_GONE };

/* A pod that the question touches: displaced, pending before, new, or deleted. */
struct bt_run_pod {
	uint32_t first_ix;	 /* of the cluster's pod, or of the new one: it has the name */
	uint32_t now_ix;	 /* of its newest successor */
	uint32_t from_ix, to_ix; /* slots; from_ix BT_NO_NODE: it had none; to_ix: once placed */
	enum bt_run_state state;
	enum bt_fate fate; /* BT_FATE_N: it follows from the state */
	uint32_t displaced_n, preempted_n;
	uint32_t vain_n; /* round_n when it preempted and had no place in the end */
	bool is_new, was_pending;
	struct bt_pod_note note;
	int32_t priority;
	int64_t creation_ns; /* INT64_MAX: a preempted pod's successor */
};

/* A pod is evicted for another one. */
struct bt_run_preemption {
	uint32_t pod, by; /* in pods */
	uint32_t node_ix; /* slot */
	size_t budget;	  /* that this violates; SIZE_MAX: none */
};

/* Sorts pods by how a controller that scales down chooses them. */
struct bt_run_victim {
	uint32_t ix, node_ix, beside_n; /* pods of the workload on its node */
	bool waits;
	int32_t deletion_cost;
	int64_t creation_ns, ordinal;
};

/* Sums by resource over the live nodes that are not drained. */
struct bt_run_sums {
	struct bt_answer_use *uses; /* name and percentage (in before) */
	size_t n;
};

struct bt_run {
	struct bt_engine *engine;
	const struct bt_inventory *inventory;
	const struct bt_question *question;
	struct bt_run_pod *pods;
	size_t pod_n, pod_cap;
	struct bt_map by_ix; /* pod index plus one -> its place in pods */
	struct bt_importance *order;
	struct bt_run_victim *victims;
	struct bt_run_preemption *preemptions;
	size_t order_n, order_cap, victim_cap, preemption_n, preemption_cap;
	struct bt_map refused; /* signature, priority and policy -> the stamp when a pod was refused */
	uint32_t change_n;     /* changes that may help refused pods */
	uint32_t settled_n;    /* placements, which may help pods with affinity */
	uint32_t round_n;      /* of placing */
	uint64_t *away;	       /* bitmap: drained nodes */
	size_t away_n;
	struct bt_budget_use budgets;
	struct bt_run_sums before;
	uint64_t node_n, displaced_n, forbidden_n, violated_n;
};

/* Measures the use of resources now. Owns: bt_run_sums_fini. */
void bt_run_measure(const struct bt_run *run, struct bt_run_sums *out_sums);
void bt_run_sums_fini(struct bt_run_sums *sums);

/* Writes the answer. Context: the transaction is open. Owns: the answer belongs to arena. */
void bt_run_answer(struct bt_run *run, struct bt_arena *arena, struct bt_whatif_answer *out_answer);
