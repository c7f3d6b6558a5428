/* SPDX-License-Identifier: Apache-2.0
 * Running a simulation: pods are decided until none is left that could be, in virtual time when a trace
 * brings times.
 */
#pragma once

#include "engine/flow/group_cycle.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/simulate/api_log.h"
#include "tools/trace/openb.h"

/* A pod that is to be explained just before it is decided. */
struct bt_run_watch {
	struct bt_str pod; /* namespace/name */
	bool seen;
};

/* How much of a resource a trace's pods used in the course of time, in the resource's unit. */
struct bt_run_use {
	double now, peak, second_sum; /* second_sum: use times the seconds that it lasted */
};

/* The text of a signature's last refusal, and the cluster's state that it is about. */
struct bt_run_message {
	struct bt_buf text;
	uint64_t journal_end, version, change_n, storage, devices;
	int32_t priority;
	bool never_preempts;
};

/* What was against a pod of a group, in the group's text. */
struct bt_run_note {
	uint32_t pod_ix;
	size_t from, len;
};

struct bt_run {
	struct bt_engine *engine;
	struct bt_output *decisions; /* the decision log, or NULL */
	struct bt_api_log *api;	     /* what an API server would see, or NULL */
	struct bt_progress *progress;
	struct bt_run_watch *watches;
	size_t watch_n;
	void (*explain)(void *context, uint32_t pod_ix); /* called for watched pods */
	void *context;
	int64_t now_ns; /* virtual time */
	int64_t trace_begin_s, trace_end_s;
	struct bt_run_use uses[BT_RESOURCE_MAX + 1]; /* by slot; the last one counts pods */
	uint64_t evicted_n;			     /* pods that were preempted */
	/* Lets a preempted pod end in virtual time; NULL: preempted pods are gone at once. */
	void (*terminate)(void *context, uint32_t pod_ix);
	void *terminate_context;
	uint64_t deleted_n, deleted_waiting_n; /* pods that left; of them, those that had never been placed */
	/* private: */
	struct bt_buf line, key, group_text;
	struct bt_run_note *notes;
	size_t note_n, note_cap;
	struct bt_explanation explanation;
	struct bt_run_message *messages; /* by signature */
	size_t message_n;
	uint32_t *victims;
	size_t victim_cap;
};

/* Decides pods until the active queue is empty, the user interrupts, or the log cannot be written. */
void bt_run_queue(struct bt_run *run);

/* Plays a trace: pods come and go, and after each moment the queue is run. until_s: where to stop; INT64_MAX:
 * at the end. */
void bt_run_trace(struct bt_run *run, const struct bt_trace *trace, int64_t until_s);

void bt_run_fini(struct bt_run *run);
