/* SPDX-License-Identifier: Apache-2.0
 * The answer to a question, as plain values, and as bytes that go from a process to another one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"

/* What a question does to a pod. */
enum bt_fate {
	BT_FATE_PLACED = 0,    /* displaced, and its successor is on another node */
	BT_FATE_UNPLACED,      /* displaced, and its successor fits nowhere */
	BT_FATE_NOT_RECREATED, /* displaced, and no controller recreates it */
	BT_FATE_LOST,	       /* the same, with its node */
	BT_FATE_NOW_FITS,      /* was pending */
	BT_FATE_ADDED,	       /* new, and on a node */
	BT_FATE_ADDED_PENDING, /* new, and fits nowhere */
	BT_FATE_DELETED,
	BT_FATE_PREEMPTED,	    /* evicted for a pod of higher priority; its successor has a place */
	BT_FATE_PREEMPTED_UNPLACED, /* the same, and it fits nowhere */
	BT_FATE_PREEMPTED_ENDED,    /* the same, and no controller recreates it */
	BT_FATE_N
};

struct bt_answer_pod {
	struct bt_str name;	/* namespace/name */
	struct bt_str from, to; /* nodes; empty: none */
	uint64_t fate;		/* enum bt_fate */
	struct bt_str reason;	/* why it fits nowhere; empty: it fits, or was not explained */
};

/* A budget that forbids evictions, or that preemptions violate. */
struct bt_answer_budget {
	struct bt_str name;   /* namespace/name */
	uint64_t pod_n;	      /* evictions that it forbids */
	uint64_t preempted_n; /* pods whose preemption violates it */
};

/* A pod that is evicted for one of higher priority. */
struct bt_answer_preemption {
	struct bt_str pod, by; /* namespace/name */
	struct bt_str node;
	struct bt_str budget; /* the first one that this violates; empty: none */
};

struct bt_answer_use {
	struct bt_str resource;
	double before, after; /* percent of the allocatable that is requested */
};

/* Zero-initialized, it is empty. Strings and arrays belong to whoever made it. */
struct bt_whatif_answer {
	uint64_t node_n;	       /* nodes that the question takes away */
	uint64_t displaced_n;	       /* pods that leave a node and move or end */
	uint64_t fates[BT_FATE_N];     /* pods by fate */
	uint64_t forbidden_n;	       /* displaced pods whose eviction a budget forbids */
	uint64_t violated_n;	       /* preempted pods whose eviction violates a budget */
	uint64_t pending_n;	       /* pods that were pending and still are */
	struct bt_str example, reason; /* a pod that fits nowhere, and why; empty: none */
	struct bt_answer_pod *pods;
	struct bt_answer_budget *budgets;
	struct bt_answer_preemption *preemptions; /* in order */
	struct bt_answer_use *uses;
	uint64_t pod_n, budget_n, preemption_n, use_n;
};

/* Is some pod worse off, an eviction forbidden, or a budget violated? */
bool bt_answer_is_bad(const struct bt_whatif_answer *answer);

/* What becomes of a pod, for people; static. */
const char *bt_fate_text(enum bt_fate fate);

/* Appends an answer. */
void bt_answer_write(const struct bt_whatif_answer *answer, struct bt_buf *out);

/* Reads what bt_answer_write has written. Owns: strings belong to bytes, arrays to arena. */
void bt_answer_read(struct bt_str bytes, struct bt_arena *arena, struct bt_whatif_answer *out_answer);
