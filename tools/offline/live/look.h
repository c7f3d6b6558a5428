/* SPDX-License-Identifier: Apache-2.0
 * Sources of the live view's numbers: an engine, a pipeline, the process. Each adds its part.
 */
#pragma once

#include "engine/flow/pipeline/pipeline.h"
#include "tools/offline/live/view.h"

/* The engine's queue, sets and cycles. Context: the scheduling thread. */
void bt_live_of_engine(struct bt_live_numbers *numbers, struct bt_engine *engine);

/* Percentiles of stage latencies. Context: any thread. */
void bt_live_of_stages(struct bt_live_numbers *numbers, const struct bt_stage_latency *stages);

/* The pipeline: its engine, conflicts, rings and threads, and measured stages. Call after bt_live_of_process;
 * it adds data to its threads. Context: any thread but the pipeline's; waits for the scheduling thread. */
void bt_live_of_pipeline(struct bt_live_numbers *numbers, struct bt_pipeline *pipeline);

/* Deferred reclaim, and the process's threads with the time that they have had. Context: any thread. */
void bt_live_of_process(struct bt_live_numbers *numbers);
