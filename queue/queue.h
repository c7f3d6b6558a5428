/* SPDX-License-Identifier: Apache-2.0
 * Stage 4: the pods that wait, in the order of PrioritySort: higher priority first, then who has waited
 * longer, then who came first. Gated pods and pods that fitted nowhere are set aside until an event lets them
 * back.
 * Context: the scheduling thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/status.h"

#define BT_QUEUE_EMPTY UINT32_MAX

/* Where a pod waits. */
enum bt_wait {
	BT_WAIT_ACTIVE = 0,    /* to be decided */
	BT_WAIT_UNSCHEDULABLE, /* fitted nowhere */
	BT_WAIT_GATED	       /* has scheduling gates */
};

struct bt_queue_counts {
	uint64_t active, unschedulable, gated;
};

struct bt_queue;

struct bt_queue *bt_queue_create(void);
void bt_queue_destroy(struct bt_queue *queue);

/* Enters a pod that does not wait yet. timestamp_ns: since when it waits, for the order. */
void bt_queue_push(
	struct bt_queue *queue, uint32_t pod_ix, int32_t priority, int64_t timestamp_ns, enum bt_wait where);

/* Takes the next pod out of the active queue, or BT_QUEUE_EMPTY. */
uint32_t bt_queue_pop(struct bt_queue *queue);

/* Takes a pod out, wherever it waits. Returns BT_NOT_FOUND when it does not wait. */
enum bt_status bt_queue_remove(struct bt_queue *queue, uint32_t pod_ix);

/* Lets all unschedulable pods back into the active queue, with their old places in the order. */
void bt_queue_move_all(struct bt_queue *queue);

struct bt_queue_counts bt_queue_counts(const struct bt_queue *queue);
