/* SPDX-License-Identifier: Apache-2.0
 * The pipeline's limits in one place (I7): what a ring, pool or table holds at most, how much a step does,
 * how many threads there are, and how long something may take. What happens at a limit is said beside it.
 */
#pragma once

#include <stdint.h>

#include "engine/base/status.h"

#define BT_LIMITS_RUN 128u

struct bt_limits {
	/* Rings. A capacity is rounded up to a power of two, at least 4. A full ring makes its producer wait.
	 */
	uint32_t sources;	/* source threads; fixed when the pipeline is made */
	uint32_t feed;		/* watch events between a source and each ingestion thread */
	uint32_t delta;		/* watch events between an ingestion thread and the publisher, a source */
	uint32_t inbox;		/* watch events between publisher and scheduling thread */
	uint32_t bind_requests; /* requests between scheduling thread and each binder thread */
	uint32_t spent;		/* watch events that a source may use again; full: they are freed */
	uint32_t decisions;	/* that wait to be polled; 0: nobody polls. Full: no pod is popped */
	/* Tables. */
	uint32_t bindings;   /* asked of the binder and not answered. Reached: no pod is popped */
	uint32_t tombstones; /* deleted objects that are remembered against late events; the oldest is
				forgotten */
	/* What a step does at most. */
	uint32_t batch;	 /* cycles */
	uint32_t events; /* watch events */
	uint32_t run; /* watch events in a row that go to the same ingestion thread; at most BT_LIMITS_RUN */
	/* Threads. */
	uint32_t ingest_threads, bind_threads;
	uint32_t workers; /* that score nodes, the scheduling thread included */
	/* Times. */
	int64_t bind_timeout_ns; /* a binding that takes longer is overdue: it is counted, the assumption
				    stays */
	int64_t assume_ttl_ns;	 /* after that, and after each such time, the binder is asked what is true */
	int64_t stall_ns;	 /* a thread that has work and does nothing for so long is reported */
};

/* Limits for a cluster of thousands of nodes. */
struct bt_limits bt_limits_default(void);

/*
 * Makes limits usable: rounds capacities up.
 * Returns: BT_OK; BT_RANGE when one is zero that may not be, or too large, with its name in out_name
 * (static).
 */
enum bt_status bt_limits_settle(struct bt_limits *limits, const char **out_name);
