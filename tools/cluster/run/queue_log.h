/* SPDX-License-Identifier: Apache-2.0
 * Log lines about the queue, with kube-scheduler's texts, keys and levels: moves of pods with the event,
 * events that do not help them, and results of queueing hints. Pods with the same signature share a hint: a
 * line about an event that does not help names one of them. Source: backend/queue, v1.36.3.
 */
#pragma once

#include "engine/flow/pipeline/pipeline.h"

/* Logs changes of the queue of *pipeline, which is read at each call and outlives this. */
struct bt_queue_observer bt_queue_log_observer(struct bt_pipeline **pipeline);
