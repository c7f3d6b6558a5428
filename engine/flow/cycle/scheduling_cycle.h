/* SPDX-License-Identifier: Apache-2.0
 * A scheduling cycle of a pod, or of a PodGroup's pods: the engine decides, and the caller receives each
 * decision with the message of a refusal. Context: the scheduling thread.
 */
#pragma once

#include "engine/flow/cycle/group_cycle.h"
#include "engine/flow/cycle/messages.h"

/* The result of a PodGroup's cycle. */
struct bt_group_end {
	uint32_t namespace_, name; /* names */
	enum bt_group_outcome outcome;
	uint32_t scheduled_n, unschedulable_n; /* of the pods that were decided */
	struct bt_str message;		       /* valid during the call */
};

struct bt_scheduling_cycle_note;

/* Zero-initialized except for what the caller sets. Owns: bt_scheduling_cycle_fini. */
struct bt_scheduling_cycle {
	struct bt_engine *engine;
	bool texts; /* make messages */
	/* A pod's cycle begins; may be NULL. */
	void (*begins)(void *context, uint32_t pod_ix);
	/* The engine has made a decision and not executed it: the callee may replace it by another
	 * scheduler's (bt_engine_impose). message: as of ended. A PodGroup's pods are passed one after the
	 * other, when all are decided; then nothing is executed (bt_group_watch.judged), and ended is not
	 * called: the caller carries out what it wants to. May be NULL. */
	void (*steer)(void *context, struct bt_decision *decision, struct bt_str message);
	/* A node was chosen for a PodGroup's pod. Returns that node, or another one of the best. May be
	 * NULL. */
	uint32_t (*choose)(void *context, uint32_t pod_ix, uint32_t node_ix);
	/* The order of a PodGroup's pods, as bt_group_watch.rank; or NULL. */
	uint32_t (*rank)(void *context, uint32_t pod_ix);
	/*
	 * The cycle has ended, and its decision is carried out. info: the pod's state in the queue, and
	 * nominated its status.nominatedNodeName, both as before the cycle. message: empty when the pod is
	 * placed, or without texts; valid during the call.
	 */
	void (*ended)(void *context, const struct bt_decision *decision, const struct bt_queue_info *info,
		uint32_t nominated, struct bt_str message);
	/* The same for a PodGroup, after its pods. May be NULL. */
	void (*group_ended)(void *context, const struct bt_group_end *end);
	void *context;
	/* private: */
	struct bt_messages messages;
	struct bt_scheduling_cycle_note *notes; /* refusals of the group's pods, in group_text */
	size_t note_n, note_cap;
	struct bt_buf group_text;
};

/* Runs the cycle of a popped pod, or of its whole group. */
void bt_schedule_one(struct bt_scheduling_cycle *cycle, uint32_t pod_ix);

void bt_scheduling_cycle_fini(struct bt_scheduling_cycle *cycle);
