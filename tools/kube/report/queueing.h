/* SPDX-License-Identifier: Apache-2.0
 * Statistics of the queue: waiting times, attempts, preemptions, and the places of pending pods. Times are
 * virtual.
 */
#pragma once

#include "engine/flow/cycle/engine.h"
#include "tools/cli/emit.h"

/* Pods by number of attempts: placed, deleted before that, or pending. */
struct bt_report_attempts {
	uint64_t pod_n, sum, most;
	uint64_t buckets[4]; /* 1, 2, 3 to 5, more */
};

/* A pod by its interned namespace and name, since it may be deleted. All names are pinned. */
struct bt_report_victim {
	uint32_t namespace_, name;
};

enum bt_preemption_end {
	BT_PREEMPTION_WAITS = 0, /* the pod is still nominated to the node */
	BT_PREEMPTION_PLACED,	 /* it is on that node */
	BT_PREEMPTION_UNUSED	 /* neither on the node nor nominated to it any more */
};

struct bt_report_preemption {
	struct bt_report_victim pod;
	uint32_t node; /* a name: the node may be deleted, too */
	size_t first_victim;
	uint32_t victim_n;
	int64_t at_ns, end_ns; /* end_ns: when it was placed */
	enum bt_preemption_end end;
};

struct bt_queueing_facts {
	int64_t begin_ns;
	struct bt_report_attempts attempts;
	uint64_t unwaited_n; /* pods that were placed at their arrival time */
	int64_t *waits;	     /* of the others; sorted here */
	size_t wait_n;
	const struct bt_report_preemption *preemptions;
	const struct bt_report_victim *victims;
	size_t preemption_n;
	uint64_t preemptor_n, evicted_n;
	bool all; /* show all rows */
};

/* Adds the sections "queue", "waiting" and "preemptions". */
void bt_report_queueing(
	struct bt_emit *emit, struct bt_engine *engine, const struct bt_queueing_facts *facts);
