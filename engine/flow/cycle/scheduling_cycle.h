/* SPDX-License-Identifier: Apache-2.0
 * A pod's cycle, or that of a PodGroup's pods: they are decided, and what came of each is told, with the text
 * of what was against it. Context: the scheduling thread.
 */
#pragma once

#include "engine/flow/cycle/group_cycle.h"
#include "engine/flow/cycle/messages.h"

struct bt_scheduling_cycle_note;

/* Zeroes but for what the caller sets. Owns: bt_scheduling_cycle_fini. */
struct bt_scheduling_cycle {
	struct bt_engine *engine;
	bool texts; /* make messages */
	/* A pod's cycle begins. May be NULL. */
	void (*begins)(void *context, uint32_t pod_ix);
	/* A pod is decided, and that is not carried out yet: another scheduler's decision may be imposed
	 * (bt_engine_impose). message: as of ended. Not called for pods of a group. May be NULL. */
	void (*steer)(void *context, struct bt_decision *decision, struct bt_str message);
	/*
	 * The cycle has ended, and its decision is carried out. info: of its pod, and nominated its
	 * status.nominatedNodeName, both as they were before. message: empty when the pod is placed, or
	 * without texts; valid during the call.
	 */
	void (*ended)(void *context, const struct bt_decision *decision, const struct bt_queue_info *info,
		uint32_t nominated, struct bt_str message);
	void *context;
	/* private: */
	struct bt_messages messages;
	struct bt_scheduling_cycle_note *notes; /* what was against the pods of a group, in group_text */
	size_t note_n, note_cap;
	struct bt_buf group_text;
};

/* Decides a popped pod, and its group with it. */
void bt_schedule_one(struct bt_scheduling_cycle *cycle, uint32_t pod_ix);

void bt_scheduling_cycle_fini(struct bt_scheduling_cycle *cycle);
