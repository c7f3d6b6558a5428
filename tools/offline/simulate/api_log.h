/* SPDX-License-Identifier: Apache-2.0
 * The log of a simulation's API calls: events, status patches, bindings and deletions, one JSON document per
 * line, in virtual time. Tracks each pod's status.
 */
#pragma once

#include "engine/flow/cycle/cycle_api_calls.h"
#include "engine/flow/cycle/engine.h"
#include "tools/cli/output.h"
#include "tools/offline/simulate/evicted.h"

/* Stands for the scheduler's host name, so that the same input gives the same log everywhere. */
#define BT_API_LOG_HOST "berth"

struct bt_api_log_pod;

/* Sees each call as it is logged. Each member may be NULL. Context: the log's thread. */
struct bt_api_log_observer {
	/* by: the pod in whose cycle the call is made. */
	void (*called)(void *context, const struct bt_api_pod *by, const struct bt_api_call *call);
	void (*waits)(void *context, uint32_t pod_ix, uint32_t node_ix); /* at Permit, assumed on the node */
	void (*deleted)(void *context, uint32_t pod_ix);
	void *context;
};

/* Zero-initialized except for the first six fields. Owns: bt_api_log_fini. */
struct bt_api_log {
	struct bt_output *output; /* NULL: nothing is written */
	struct bt_api_log_observer observer;
	struct bt_engine *engine;
	const int64_t *now_ns; /* virtual time, since 1970 */
	bool preempts_in_turn;
	bool nominates_waiting; /* gate NominatedNodeNameForExpectation */
	/* private: */
	struct bt_api_log_pod *pods; /* by pod_ix */
	size_t pod_n;
	uint64_t call_n;
	struct bt_api_calls calls;
	struct bt_api_pod *cast; /* pods in the calls of a cycle, and their indices */
	uint32_t *cast_ixs;
	uint32_t cast_n;
	struct bt_api_victim *victims;
	const struct bt_api_pod **cleared_nominations;
	struct bt_evicted evicted, rejected;
	struct bt_api_pod group; /* that preempts */
	size_t cast_cap, cast_ix_cap, victim_cap, cleared_nominations_cap;
	struct bt_buf line;
};

/* Logs pods that wait with scheduling gates. Call once, before the first decision. */
void bt_api_log_begin(struct bt_api_log *log);

/* Records the status of a pod of the input. */
void bt_api_log_entered(struct bt_api_log *log, uint32_t pod_ix, const struct bt_pod_object *pod);

/* Logs a terminating pending pod, whose cycle is skipped. */
void bt_api_log_deleting(struct bt_api_log *log, const struct bt_pod_object *pod);

/*
 * A decision that has been carried out. nominated: a name, status.nominatedNodeName before it; message: why
 * it was not placed. BT_GATED is not logged: kube-scheduler would not have popped the pod.
 */
void bt_api_log_decision(struct bt_api_log *log, const struct bt_decision *decision, uint32_t nominated,
	struct bt_str message);

/* Logs the eviction of a pod for the next decision. */
void bt_api_log_evict(struct bt_api_log *log, uint32_t pod_ix);

/* The next decision's preemption rejects a pod that waits at Permit. */
void bt_api_log_reject(struct bt_api_log *log, uint32_t pod_ix);

/* Logs that a pod waits at Permit, assumed on that node. */
void bt_api_log_waits(struct bt_api_log *log, uint32_t pod_ix, uint32_t node_ix);

/* A NoExecute taint evicts the pod from its node. */
void bt_api_log_taint_evicted(struct bt_api_log *log, uint32_t pod_ix);

/* The pod was deleted; its index may be reused. */
void bt_api_log_forget(struct bt_api_log *log, uint32_t pod_ix);

void bt_api_log_fini(struct bt_api_log *log);
