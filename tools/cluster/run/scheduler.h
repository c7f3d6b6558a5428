/* SPDX-License-Identifier: Apache-2.0
 * A scheduler on a cluster: starts and stops the parts in order.
 *
 *   watch --> pipeline --> writer        the lease controls whether pipeline and writer may act
 *               ^  |
 *    comparer --+  +--> attempt metrics --> serve
 *
 * Context: the main thread; the parts have their own threads.
 */
#pragma once

#include "engine/flow/config/config.h"
#include "tools/cluster/run/access.h"

struct bt_scheduler;

/*
 * Creates all parts; connects to no server yet. flags, config and access outlive it. undecided: no scheduling
 * and no election before bt_scheduler_decide.
 * Returns: NULL with the reason in out_error.
 * Owns: bt_scheduler_destroy.
 */
struct bt_scheduler *bt_scheduler_create(const struct bt_run_flags *flags, const struct bt_config *config,
	struct bt_run_access *access, bool undecided, struct bt_buf *out_error);

/* The release of its configuration takes effect. */
void bt_scheduler_decide(struct bt_scheduler *scheduler);

/* Starts lists, watches, election and endpoints. Returns: BT_OK; BT_IO with the reason in out_error, and some
 * parts have started. Owns: bt_scheduler_stop, in any case. */
enum bt_status bt_scheduler_start(struct bt_scheduler *scheduler, struct bt_buf *out_error);

/* Periodic work: compares, reports stalled threads. Returns: false when the lease is lost. */
bool bt_scheduler_tick(struct bt_scheduler *scheduler);

/*
 * Stops in order: scheduling, then writes in flight, then the lease is released. Each step waits at most
 * limit_ns.
 * Returns: whether everything completed in time; false also when a write was cut off.
 */
bool bt_scheduler_stop(struct bt_scheduler *scheduler, int64_t limit_ns);

/* Requires: bt_scheduler_stop has returned true; otherwise the process exits without this. */
void bt_scheduler_destroy(struct bt_scheduler *scheduler);
