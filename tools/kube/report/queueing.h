/* SPDX-License-Identifier: Apache-2.0
 * How pods got through the queue: how long they waited, how often they were tried, who preempted whom, and
 * where those are that still wait. Times are virtual.
 */
#pragma once

#include "engine/flow/cycle/engine.h"
#include "tools/cli/emit.h"

/* Pods by how often they were tried: placed, gone before that, or still waiting. */
struct bt_report_attempts {
	uint64_t pod_n, sum, most;
	uint64_t buckets[4]; /* 1, 2, 3 to 5, more */
};

/* A pod as its interned namespace and name: it may have gone. All names are pinned. */
struct bt_report_victim {
	uint32_t namespace_, name;
};

enum bt_preemption_end {
	BT_PREEMPTION_WAITS = 0, /* the pod is still nominated to the node */
	BT_PREEMPTION_PLACED,	 /* it is on that node */
	BT_PREEMPTION_VAIN	 /* neither on the node nor nominated to it any more */
};

struct bt_report_preemption {
	struct bt_report_victim pod;
	uint32_t node; /* a name: the node may have gone as well */
	size_t first_victim;
	uint32_t victim_n;
	int64_t at_ns, end_ns; /* end_ns: when it was placed */
	enum bt_preemption_end end;
};

struct bt_queueing_facts {
	int64_t begin_ns;
	struct bt_report_attempts attempts;
	uint64_t unwaited_n; /* pods that were placed at the time at which they came */
	int64_t *waits;	     /* of the others; they are sorted here */
	size_t wait_n;
	const struct bt_report_preemption *preemptions;
	const struct bt_report_victim *victims;
	size_t preemption_n;
	uint64_t preemptor_n, evicted_n;
	bool all; /* rows, however many there are */
};

/* Adds the sections "queue", "waiting" and "preemptions". */
void bt_report_queueing(
	struct bt_emit *emit, struct bt_engine *engine, const struct bt_queueing_facts *facts);
