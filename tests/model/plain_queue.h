/* SPDX-License-Identifier: Apache-2.0
 * The scheduling queue as a readable model: a table of pods, scanned in full by every operation. No heaps,
 * lines, groups or shared logs. Source: backend/queue, v1.36.3.
 */
#pragma once

#include "queue/queue.h"

#define PLAIN_PODS 48
#define PLAIN_LOG  64 /* more than log_limit */

struct plain_logged {
	struct bt_cluster_event event;
	uint32_t only; /* the only pod concerned, or BT_QUEUE_EMPTY */
};

struct plain_pod {
	enum bt_wait where;
	struct bt_queue_kind kind;
	int gate;
	bt_plugin_set unschedulable_plugins, pending;
	uint32_t attempts, refusals, errors;
	int64_t entered_ns, timestamp_ns, expiry_ns; /* INT64_MIN: no backoff */
	int64_t first_ns;			     /* INT64_MAX: it was never active */
	int64_t flush_ns;			     /* time of the last flush; INT64_MIN: never */
	uint64_t order;
	bool flushed, patient;
	/* In flight: events since the pod was popped. */
	struct plain_logged log[PLAIN_LOG];
	uint32_t log_n;
	bool missed;
};

/* Empty when zero-initialised, except for options. options.log_limit: 1 to PLAIN_LOG. */
struct plain_queue {
	struct bt_queue_options options;
	struct plain_pod pods[PLAIN_PODS];
	uint64_t orders, moved_n, flushed_n, backoff_n, overflow_n;
};

/* Like the functions of the same name in queue/queue.h. */
enum bt_wait plain_add(
	struct plain_queue *q, uint32_t pod_ix, struct bt_queue_kind kind, int64_t timestamp_ns);
uint32_t plain_pop(struct plain_queue *q);
enum bt_status plain_take(struct plain_queue *q, uint32_t pod_ix);
void plain_done(struct plain_queue *q, uint32_t pod_ix);
enum bt_wait plain_refuse(struct plain_queue *q, uint32_t pod_ix, bt_plugin_set unschedulable_plugins,
	bt_plugin_set pending, int64_t now_ns);
enum bt_status plain_remove(struct plain_queue *q, uint32_t pod_ix);
enum bt_wait plain_update(struct plain_queue *q, uint32_t pod_ix, struct bt_queue_kind kind,
	const struct bt_cluster_event *events, uint32_t n, int64_t now_ns);
void plain_move(
	struct plain_queue *q, const struct bt_cluster_event *event, int32_t max_priority, int64_t now_ns);
void plain_back_off(struct plain_queue *q, uint32_t pod_ix);
void plain_activate(struct plain_queue *q, uint32_t pod_ix, int64_t now_ns);
void plain_try_again(struct plain_queue *q, uint32_t pod_ix, int64_t now_ns);
void plain_flush_backoff(struct plain_queue *q, int64_t now_ns);
void plain_flush_unschedulable(struct plain_queue *q, int64_t now_ns);
uint32_t plain_list(const struct plain_queue *q, enum bt_wait where, uint32_t *pods);

/* A pod was popped out of order: it is in flight now. */
void plain_begin(struct plain_queue *q, uint32_t pod_ix);

/* Is it gated so that no event can requeue it? */
bool plain_is_stuck(const struct plain_queue *q, uint32_t pod_ix);

/* Does pod a come before pod b? Both are active, or in backoff. */
bool plain_before(const struct plain_queue *q, uint32_t a, uint32_t b);
