/* SPDX-License-Identifier: Apache-2.0
 * Watch events for the pipeline: those that do not fit wait here, in order.
 * Context: one thread at a time, which never waits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/flow/pipeline/pipeline.h"

/* Zeroes except for the first two fields. Owns: bt_backpressure_queue_fini. */
struct bt_backpressure_queue {
	struct bt_pipeline *pipeline;
	uint32_t source;
	/* private: */
	struct bt_watch_event **waiting; /* a ring of cap */
	uint32_t first, n, cap;
	bool closed; /* the pipeline accepts no more */
};

/* Feeds a watch event, or queues it. */
void bt_backpressure_queue_put(struct bt_backpressure_queue *queue, struct bt_watch_event *watch_event);

/* Feeds as many queued events as fit. */
void bt_backpressure_queue_drain(struct bt_backpressure_queue *queue);

void bt_backpressure_queue_fini(struct bt_backpressure_queue *queue);
