/* SPDX-License-Identifier: Apache-2.0
 * Running a simulation in virtual time. The clock stands still while pods can be decided and then moves to
 * the next moment at which something happens: a backoff ends, a pod that is being deleted is gone, a trace's
 * pod comes or leaves, and pods that have waited for more than five minutes are let back. The last of these
 * alone keeps no simulation running: it counts when another moment is still to come and something has changed
 * since those pods were refused, or when the time to stop at was given. Nor does a backoff, unless something
 * has changed since the pod was refused. Without such a time it ends when
 * there is no moment left.
 *
 * A run conducts a pipeline. Its steps belong to the scheduling thread, and are the same whether there are
 * threads or not: time moves only when it is known which event comes next, or that none does.
 *
 *   LOADS --bt_simulate_run_begin--> DECIDES --no pod is left--> RESTS --the next moment--> PARTS --who
 *   leaves has
 * left ^                          |                                     |
 *                              +--who comes has come-- COMES <----------------------------------+
 *                                                         |  RESTS --no moment is left--> OVER
 */
#pragma once

#include "engine/base/atomic.h"
#include "engine/base/eventcount.h"
#include "engine/flow/pipeline/pipeline.h"
#include "tools/cli/emit.h"
#include "tools/offline/simulate/api_log.h"
#include "tools/offline/simulate/decision_log.h"
#include "tools/offline/simulate/terminations.h"
#include "tools/offline/simulate/intake.h"
#include "tools/offline/simulate/virtual_time.h"
#include "tools/offline/simulate/tally.h"

/* A pod that is to be explained at each of its attempts. owner: who takes objects in, then the scheduling
 * thread. */
struct bt_simulate_run_watch {
	struct bt_str pod; /* namespace/name */
	bool seen;	   /* it has been explained */
	uint32_t attempt_n;
	bt_emit_row *first;  /* of the last attempt's rows */
	const char *ignored; /* why it takes no part; NULL: it does, or it is not there */
};

/* How much of a resource a trace's pods used in the course of time, in the resource's unit. */
struct bt_simulate_run_use {
	double now, peak, second_sum; /* second_sum: use times the seconds that it lasted */
};

enum bt_simulate_run_state {
	BT_RUN_LOADS = 0,
	BT_RUN_DECIDES,
	BT_RUN_RESTS,
	BT_RUN_PARTS,
	BT_RUN_COMES,
	BT_RUN_OVER
};

/* What a run is made of, and what it has counted. The pipeline's step driver is bt_run_step_driver, its
 * evictor bt_simulate_run_evictor, its sink bt_simulate_run_sink. owner: the scheduling thread, once it runs.
 * Owns: bt_simulate_run_fini. */
struct bt_simulate_run {
	struct bt_pipeline *pipeline;
	struct bt_engine *engine;    /* the pipeline's */
	int64_t now_ns;		     /* virtual time */
	const struct bt_map *graces; /* by pod_ix plus one: grace periods other than BT_GRACE_S */
	struct bt_intake *intake;    /* hears of what is fed before the beginning */
	bool comes_and_goes;	     /* events may follow; the last one is BT_WATCH_EVENT_SYNCED */
	int64_t until_ns;	     /* where to stop; INT64_MAX: when nothing happens any more */
	double speed;		     /* virtual seconds in one; 0: as fast as can be */
	bool one_by_one;	     /* nobody is decided between a preemption and its pod's next turn */
	struct bt_decision_log decisions;
	struct bt_api_log *api; /* what an API server would see, or NULL */
	struct bt_simulate_run_watch *watches;
	size_t watch_n;
	void (*explain)(void *context, struct bt_simulate_run_watch *watch,
		uint32_t pod_ix); /* a watched pod is decided next */
	/* ... and has been; the pod is to have that node, or none */
	void (*explained)(
		void *context, struct bt_simulate_run_watch *watch, const struct bt_decision *decision);
	void *context;
	/* What has happened. */
	int64_t begin_ns;
	struct bt_simulate_tally tally;
	struct bt_terminations ends;			    /* pods that are being deleted */
	struct bt_simulate_run_use uses[BT_FIRST_RARE + 1]; /* by slot; the last one counts pods */
	uint64_t deleted_n, deleted_waiting_n; /* pods that left; of them, those that had never been placed */
	/* atomic: anyone reads, relaxed */
	_Atomic uint64_t turn_n;   /* pods whose turn has come, and is over */
	_Atomic int64_t seen_ns;   /* virtual time since the beginning */
	_Atomic uint32_t over;	   /* atomic: EDGE run.over */
	struct bt_eventcount park; /* where somebody waits for that */
	/* private: */
	enum bt_simulate_run_state state;
	bool ended;	    /* no event comes any more */
	bool is_last;	    /* nothing happens at next_ns but that the run ends */
	int64_t next_ns;    /* while it rests: until when; 0: not known yet */
	uint32_t *visitors; /* by number in the trace: the pod's index plus one */
	uint32_t *numbers;  /* by pod_ix: that number, plus one; or 0 */
	size_t visitor_n, number_n;
	struct bt_pace pace;
	struct bt_state {
		uint64_t journal_end, version, change_n, storage, devices;
	} rest;
	int64_t changed_ns; /* when the cluster has changed the last time */
	int64_t refused_ns; /* no pod waits for an event since before that */
};

void bt_simulate_run_init(struct bt_simulate_run *run);
void bt_simulate_run_fini(struct bt_simulate_run *run);

/* The watch of the pod with that name, or NULL. */
struct bt_simulate_run_watch *bt_simulate_run_find_watch(
	struct bt_simulate_run *run, struct bt_str namespace_, struct bt_str name);

struct bt_pipeline_step_driver bt_run_step_driver(struct bt_simulate_run *run);
struct bt_pipeline_sink bt_simulate_run_sink(struct bt_simulate_run *run);

/* Carries preemption out: a victim is being deleted for its grace period, and then gone. */
struct bt_evictor bt_simulate_run_evictor(struct bt_simulate_run *run);

/* Pods that were being deleted before the beginning are gone when their deletionTimestamp says so, or, if
 * that has passed, after another grace period. now_ns and graces are set before. */
void bt_simulate_run_expect_ends(struct bt_simulate_run *run, const struct bt_intake *intake);

/* Begins at now_ns, after everything that was there before has been taken in. Context: the scheduling thread,
 * or another one while it does nothing. */
void bt_simulate_run_begin(struct bt_simulate_run *run);

/* Has it come to its end, because of the user, or because a log cannot be written? Context: any thread. */
bool bt_simulate_run_is_over(const struct bt_simulate_run *run);

/* How long the next moment is off in real time; 0: it has come, or nobody knows it. Context: a step's. */
int64_t bt_simulate_run_nap_ns(const struct bt_simulate_run *run);
