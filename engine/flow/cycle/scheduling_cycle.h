/* SPDX-License-Identifier: Apache-2.0
 * A pod's turn, or that of a PodGroup's pods: they are decided, and what came of each is told, with the text
 * of what was against it. Context: the scheduling thread.
 */
#pragma once

#include "engine/flow/cycle/group_cycle.h"
#include "engine/flow/cycle/messages.h"

struct bt_scheduling_cycle_note;

/* Zeroes but for what the caller sets. Owns: bt_scheduling_cycle_fini. */
struct bt_scheduling_cycle {
	struct bt_engine *engine;
	bool texts; /* say why pods are not placed */
	/* A pod is about to be decided; or NULL. */
	void (*look)(void *context, uint32_t pod_ix);
	/* A pod is decided, and that is not carried out yet: another scheduler's decision may be imposed
	 * (bt_engine_impose). message: as of told. Not called for pods of a group. NULL: nobody wants to. */
	void (*steer)(void *context, struct bt_decision *decision, struct bt_str message);
	/*
	 * A decision has been carried out. info: of its pod, and nominated its status.nominatedNodeName, both
	 * as they were before. message: empty when the pod is placed, or texts are not wanted; valid during
	 * the call.
	 */
	void (*told)(void *context, const struct bt_decision *decision, const struct bt_queue_info *info,
		uint32_t nominated, struct bt_str message);
	void *context;
	/* private: */
	struct bt_messages messages;
	struct bt_scheduling_cycle_note *notes; /* what was against the pods of a group, in group_text */
	size_t note_n, note_cap;
	struct bt_buf group_text;
};

/* Has a popped pod decided, and its group with it. */
void bt_schedule_one(struct bt_scheduling_cycle *turn, uint32_t pod_ix);

void bt_scheduling_cycle_fini(struct bt_scheduling_cycle *turn);
