/* SPDX-License-Identifier: Apache-2.0
 * Running a simulation in virtual time. The clock stands still while pods can be scheduled and then advances
 * to the next event: a backoff ends, a terminating pod is deleted, a trace's pod is added or deleted, or pods
 * unschedulable for more than five minutes are flushed. The flush alone does not keep a simulation running:
 * it counts only if another event is pending and the cluster has changed since those pods were refused, or if
 * a stop time was given. Neither does a backoff, unless the cluster has changed since the pod was refused.
 * Without a stop time it ends when no event is left.
 *
 * A run drives a pipeline. Its steps run on the scheduling thread, and are the same with and without threads:
 * time advances only when the next event, or the end of events, is known.
 *
 *   LOADS --bt_simulate_run_begin--> DECIDES --no active pod--> RESTS --next event--> PARTS: deletions
 *                                       ^                         |                     |
 *                                       |                         +--no event--> OVER   |
 *                                       +------------------ COMES: additions <----------+
 */
#pragma once

#include "engine/base/atomic.h"
#include "engine/base/eventcount.h"
#include "engine/flow/pipeline/pipeline.h"
#include "tools/cli/emit.h"
#include "tools/offline/simulate/api_log.h"
#include "tools/offline/simulate/decision_log.h"
#include "tools/offline/simulate/taint_evictions.h"
#include "tools/offline/simulate/terminations.h"
#include "tools/offline/simulate/intake.h"
#include "tools/offline/simulate/virtual_time.h"
#include "tools/offline/simulate/tally.h"

/* A pod to explain at each of its attempts. owner: the loading thread, then the scheduling thread. */
struct bt_simulate_run_watch {
	struct bt_str pod; /* namespace/name */
	bool seen;	   /* it has been explained */
	uint32_t attempt_n;
	bt_emit_row *first;  /* of the last attempt's rows */
	const char *ignored; /* why it is ignored; NULL: it is not, or it is missing */
};

/* A trace's usage of a resource over time, in the resource's unit. */
struct bt_simulate_run_use {
	double now, peak, second_sum; /* second_sum: integral of the usage in seconds */
};

enum bt_simulate_run_state {
	BT_RUN_LOADS = 0,
	BT_RUN_DECIDES,
	BT_RUN_IDLE,
	BT_RUN_PARTS,
	BT_RUN_COMES,
	BT_RUN_OVER
};

/* A run's parts and counts. The pipeline's step driver is bt_run_step_driver, its evictor
 * bt_simulate_run_evictor, its sink bt_simulate_run_sink. owner: the scheduling thread, once it runs.
 * Owns: bt_simulate_run_fini. */
struct bt_simulate_run {
	struct bt_pipeline *pipeline;
	struct bt_engine *engine;    /* the pipeline's */
	int64_t now_ns;		     /* virtual time */
	const struct bt_map *graces; /* by pod_ix plus one: grace periods other than BT_GRACE_S */
	struct bt_intake *intake;    /* called for objects fed before the beginning */
	bool comes_and_goes;	     /* events may follow; the last one is BT_WATCH_EVENT_SYNCED */
	int64_t until_ns;	     /* stop time; INT64_MAX: when no event is left */
	double speed;		     /* virtual seconds per second; 0: unlimited */
	bool one_by_one;	     /* no pod is scheduled between a preemption and the preemptor's next
					cycle */
	struct bt_decision_log decisions;
	struct bt_api_log *api;			    /* log of API calls, or NULL */
	struct bt_taint_evictions *taint_evictions; /* NULL: the run ignores NoExecute taints */
	struct bt_simulate_run_watch *watches;
	size_t watch_n;
	void (*explain)(void *context, struct bt_simulate_run_watch *watch,
		uint32_t pod_ix); /* called before a watched pod's cycle */
	/* ... and after it, with its node, or none; or NULL */
	void (*explained)(
		void *context, struct bt_simulate_run_watch *watch, const struct bt_decision *decision);
	/* Called before a pod is evicted for another one; or NULL. */
	void (*evicting)(void *context, uint32_t pod_ix, uint32_t for_ix);
	void *context;
	/* What has happened. */
	int64_t begin_ns;
	struct bt_simulate_tally tally;
	struct bt_terminations ends;			    /* terminating pods */
	struct bt_simulate_run_use uses[BT_FIRST_RARE + 1]; /* by slot; the last one counts pods */
	uint64_t deleted_n, deleted_waiting_n;		    /* deleted pods; of them, those never placed */
	uint64_t taint_evicted_n;			    /* pods evicted by NoExecute taints */
	/* atomic: anyone reads, relaxed */
	_Atomic uint64_t turn_n;   /* finished cycles */
	_Atomic int64_t seen_ns;   /* virtual time since the beginning */
	_Atomic uint32_t over;	   /* atomic: EDGE run.over */
	struct bt_eventcount park; /* for waiting on over */
	/* private: */
	enum bt_simulate_run_state state;
	bool ended;	    /* no more events */
	bool is_last;	    /* at next_ns the run ends without an event */
	int64_t next_ns;    /* while resting: the next time; 0: unknown */
	uint32_t *visitors; /* by number in the trace: the pod's index plus one */
	uint32_t *numbers;  /* by pod_ix: that number, plus one; or 0 */
	size_t visitor_n, number_n;
	struct bt_pace pace;
	struct bt_state {
		uint64_t journal_end, version, change_n, storage, devices;
	} rest;
	int64_t changed_ns; /* time of the cluster's last change */
	uint64_t bound_n;   /* pods bound at the last next_wait_end */
	int64_t bound_ns;   /* time since which it is that many; 0: not read yet */
	int64_t refused_ns; /* the earliest refusal among unschedulable pods, at least */
};

void bt_simulate_run_init(struct bt_simulate_run *run);
void bt_simulate_run_fini(struct bt_simulate_run *run);

/* The watch of the pod with that name, or NULL. */
struct bt_simulate_run_watch *bt_simulate_run_find_watch(
	struct bt_simulate_run *run, struct bt_str namespace_, struct bt_str name);

struct bt_pipeline_step_driver bt_run_step_driver(struct bt_simulate_run *run);
struct bt_pipeline_sink bt_simulate_run_sink(struct bt_simulate_run *run);

/* Executes preemption: a victim terminates for its grace period, and is then deleted. */
struct bt_evictor bt_simulate_run_evictor(struct bt_simulate_run *run);

/* Schedules the deletion of pods that were terminating before the beginning: at their deletionTimestamp, or,
 * if that has passed, after another grace period. Set now_ns and graces before. */
void bt_simulate_run_expect_ends(struct bt_simulate_run *run, const struct bt_intake *intake);

/* Begins at now_ns, after all initial objects have been applied. Context: the scheduling thread, or another
 * one while it is idle. */
void bt_simulate_run_begin(struct bt_simulate_run *run);

/* Continues a run that is over: objects were changed in between. Context: as bt_simulate_run_begin. */
void bt_simulate_run_resume(struct bt_simulate_run *run);

/* Deletes a pod, as a trace's event does. Context: as bt_simulate_run_begin. */
void bt_simulate_run_delete(struct bt_simulate_run *run, uint32_t pod_ix);

/* Is it over, also by the user or a failed log write? Context: any thread. */
bool bt_simulate_run_is_over(const struct bt_simulate_run *run);

/* Real time until the next event; 0: due, or unknown. Context: a step's. */
int64_t bt_simulate_run_sleep_ns(const struct bt_simulate_run *run);
