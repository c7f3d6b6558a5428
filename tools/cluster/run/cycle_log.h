/* SPDX-License-Identifier: Apache-2.0
 * Log lines about scheduling cycles, with kube-scheduler's texts, keys and levels. Below level 2 nothing is
 * stored and no text is built. Source: schedule_one.go and framework/preemption, v1.36.3.
 * Context: the scheduling thread.
 */
#pragma once

#include "engine/flow/cycle/scheduling_cycle.h"
#include "tools/kube/log/log.h"

struct bt_cycle_log;

/* binds: bindings are written by this scheduler (no shadow mode). Owns: bt_cycle_log_destroy. */
struct bt_cycle_log *bt_cycle_log_create(bool binds);
void bt_cycle_log_destroy(struct bt_cycle_log *log);

/* A pod's name, as a field of a line. */
struct bt_log_field bt_cycle_log_pod(struct bt_engine *engine, const char *key, uint32_t pod_ix);

/* A cycle begins: bt_pipeline_sink.cycle_begins. */
void bt_cycle_log_begins(const struct bt_cycle_log *log, struct bt_engine *engine, uint32_t pod_ix);

/* A cycle has ended: bt_pipeline_sink.cycle_ended. */
void bt_cycle_log_ended(struct bt_cycle_log *log, struct bt_engine *engine,
	const struct bt_decision *decision, struct bt_str message);

/* A PodGroup's cycle has ended: bt_pipeline_sink.group_ended. */
void bt_cycle_log_group_ended(
	struct bt_cycle_log *log, struct bt_engine *engine, const struct bt_group_end *end);

/* A pod begins to wait at Permit: bt_pipeline_sink.waits. */
void bt_cycle_log_waits(struct bt_engine *engine, uint32_t pod_ix);

/* A binding has ended: bt_pipeline_sink.bound. */
void bt_cycle_log_bound(struct bt_cycle_log *log, struct bt_engine *engine, uint32_t pod_ix, bool yes,
	const struct bt_queue_info *info);
