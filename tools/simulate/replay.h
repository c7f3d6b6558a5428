/* SPDX-License-Identifier: Apache-2.0
 * A trace as moments: which pods leave and which come at each. Context: one thread.
 */
#pragma once

#include "tools/trace/openb.h"

struct bt_departure;

/* Owns: bt_replay_fini. All zeroes is a trace without pods. */
struct bt_replay {
	/* private: */
	const struct bt_trace *trace;
	struct bt_departure *departures; /* in order of time */
	uint32_t *pod_ixs;		 /* by pod of the trace: in the engine, or BT_NO_POD */
	size_t come, gone;		 /* how many have */
	uint32_t *trace_pods;		 /* by pod_ix: the pod of the trace, plus one */
	size_t trace_pod_n;
};

/* trace must outlive the replay. */
void bt_replay_init(struct bt_replay *replay, const struct bt_trace *trace);
void bt_replay_fini(struct bt_replay *replay);

/* The next moment, or INT64_MAX. */
int64_t bt_replay_next(const struct bt_replay *replay);

/* The next pod of those that leave at now_ns and are still there; BT_NO_POD when all have left. What leaves
 * at a moment makes room for what comes at it. */
uint32_t bt_replay_departure(struct bt_replay *replay, int64_t now_ns);

/* The next object of those that come at now_ns, or NULL. The one given before has come by then. */
const struct bt_pod_object *bt_replay_arrival(struct bt_replay *replay, int64_t now_ns);

/* The object that was given last is this pod of the engine now. */
void bt_replay_entered(struct bt_replay *replay, uint32_t pod_ix);

/* The pod has gone. */
void bt_replay_left(struct bt_replay *replay, uint32_t pod_ix);
