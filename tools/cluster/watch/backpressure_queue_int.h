/* SPDX-License-Identifier: Apache-2.0
 * Watch events on their way to the pipeline: what has no room there waits here, in order.
 * Context: one thread at a time, which never waits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/flow/pipeline/pipeline.h"

/* Zeroes but for the first two. Owns: bt_backpressure_queue_fini. */
struct bt_backpressure_queue {
	struct bt_pipeline *pipeline;
	uint32_t source;
	/* private: */
	struct bt_watch_event **waiting; /* a circle of cap */
	uint32_t first, n, cap;
	bool closed; /* the pipeline takes nothing in any more */
};

/* Feeds a watch event, or has it wait. */
void bt_backpressure_queue_put(struct bt_backpressure_queue *queue, struct bt_watch_event *watch_event);

/* Feeds those that wait, as many as there is room for. */
void bt_backpressure_queue_drain(struct bt_backpressure_queue *queue);

void bt_backpressure_queue_fini(struct bt_backpressure_queue *queue);
