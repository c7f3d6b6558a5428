/* SPDX-License-Identifier: Apache-2.0
 * Log lines about pods that wait, with kube-scheduler's texts, keys and levels: where a pod goes and because
 * of which event, which events do not help it, and what queueing hints have said. Pods of one kind get one
 * hint: a line about an event that does not help names one of them. Source: backend/queue, v1.36.3.
 */
#pragma once

#include "engine/flow/pipeline/pipeline.h"

/* Says what happens in the queue of *pipeline, which is read then and outlives this. */
struct bt_queue_observer bt_queue_log_observer(struct bt_pipeline **pipeline);
