/* SPDX-License-Identifier: Apache-2.0
 * The pipeline's limits in one place (I7): capacities of rings, pools and tables, work per step, threads, and
 * timeouts. Each field's comment states the behaviour at the limit.
 */
#pragma once

#include <stdint.h>

#include "engine/base/status.h"

#define BT_LIMITS_RUN 128u

struct bt_limits {
	/* Rings. Capacities are rounded up to a power of two, at least 4. A full ring blocks its producer. */
	uint32_t sources;	/* source threads; fixed at creation */
	uint32_t feed;		/* watch events between a source and each ingestion thread */
	uint32_t delta;		/* watch events between an ingestion thread and the publisher, per source */
	uint32_t inbox;		/* watch events between publisher and scheduling thread */
	uint32_t bind_requests; /* requests between scheduling thread and each binder thread */
	uint32_t spent;		/* processed watch events for a source to reuse; full: they are freed */
	uint32_t decisions;	/* kept for polling; 0: not kept. Full: no pod is popped */
	/* Tables. */
	uint32_t bindings;   /* requested and not answered. Full: no pod is popped */
	uint32_t tombstones; /* deleted objects, remembered to detect stale events; full: drops the oldest */
	/* Work per step, at most. */
	uint32_t batch;	 /* cycles */
	uint32_t events; /* watch events */
	uint32_t run;	 /* consecutive watch events to the same ingestion thread; at most BT_LIMITS_RUN */
	/* Threads. */
	uint32_t ingest_threads, bind_threads;
	uint32_t workers; /* that score nodes, including the scheduling thread */
	/* Times. */
	int64_t bind_timeout_ns; /* then a binding counts as overdue; the assumption stays */
	int64_t assume_ttl_ns;	 /* then, and at this interval, the outcome of a binding is checked */
	int64_t stall_ns;	 /* a thread that has work and makes no progress for so long is reported */
};

/* Limits for a cluster of thousands of nodes. */
struct bt_limits bt_limits_default(void);

/*
 * Validates limits and rounds capacities up.
 * Returns: BT_OK; BT_RANGE when one is zero that may not be, or too large, with its name in out_name
 *          (static).
 */
enum bt_status bt_limits_settle(struct bt_limits *limits, const char **out_name);
