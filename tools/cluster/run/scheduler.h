/* SPDX-License-Identifier: Apache-2.0
 * A scheduler on a cluster: the parts put together, started and ended in order.
 *
 *   watch --> pipeline --> writer        the lease says whether the pipeline decides and the writer writes
 *               ^  |
 *    comparer --+  +--> attempt metrics --> serve
 *
 * Context: the main thread; the parts have threads of their own.
 */
#pragma once

#include "engine/flow/config/config.h"
#include "tools/cluster/run/access.h"

struct bt_scheduler;

/*
 * Makes all parts; nothing speaks to the server yet. flags, config and access outlive it. undecided: nobody
 * is decided, and nobody led, before bt_scheduler_decide.
 * Returns: NULL with the reason in out_error. Owns: bt_scheduler_destroy.
 */
struct bt_scheduler *bt_scheduler_create(const struct bt_run_flags *flags, const struct bt_config *config,
	struct bt_run_access *access, bool undecided, struct bt_buf *out_error);

/* It decides by the release of its configuration. */
void bt_scheduler_decide(struct bt_scheduler *scheduler);

/* Starts to list, to watch, to lead and to serve. Returns: BT_OK; BT_IO with the reason in out_error, and
 * some parts have begun. Owns: bt_scheduler_stop, in any case. */
enum bt_status bt_scheduler_start(struct bt_scheduler *scheduler, struct bt_buf *out_error);

/* Does what is due now and then: compares, reports what is stuck. Returns: whether it goes on; false when the
 * lease is lost. */
bool bt_scheduler_look(struct bt_scheduler *scheduler);

/*
 * Ends in order: decides nobody any more, lets what is on its way come to an end, gives the lease back. Each
 * waits at most limit_ns. Returns: whether everything came to its end in time;
 * false also when a write was cut off.
 */
bool bt_scheduler_stop(struct bt_scheduler *scheduler, int64_t limit_ns);

/* After bt_scheduler_stop has returned true; otherwise the process ends without this. */
void bt_scheduler_destroy(struct bt_scheduler *scheduler);
