/* SPDX-License-Identifier: Apache-2.0
 * Running a simulation in virtual time. The clock stands still while pods can be decided and then moves to
 * the next moment at which something happens: a backoff ends, a pod that is being deleted is gone, a trace's
 * pod comes or leaves, and pods that have waited for more than five minutes are let back. The last of these
 * alone keeps no simulation running: it counts when another moment is still to come and something has changed
 * since those pods were refused, or when the time to stop at was given. Without such a time it ends when
 * there is no moment left.
 */
#pragma once

#include "tools/cli/progress.h"
#include "engine/flow/turn.h"
#include "tools/simulate/api_log.h"
#include "tools/simulate/decision_log.h"
#include "tools/simulate/ends.h"
#include "tools/simulate/moment.h"
#include "tools/simulate/recording.h"
#include "tools/simulate/replay.h"
#include "tools/simulate/tally.h"

/* A pod that is to be explained just before it is decided. */
struct bt_run_watch {
	struct bt_str pod; /* namespace/name */
	bool seen;
};

/* How much of a resource a trace's pods used in the course of time, in the resource's unit. */
struct bt_run_use {
	double now, peak, second_sum; /* second_sum: use times the seconds that it lasted */
};

/* What a run is made of, and what it has counted. The engine's clock is bt_clock_virtual(&now_ns), its
 * evictor bt_run_evictor. Owns: bt_run_fini. */
struct bt_run {
	struct bt_engine *engine;
	int64_t now_ns;		      /* virtual time */
	const struct bt_trace *trace; /* pods that come and go, or NULL */
	const struct bt_map *graces;  /* by pod_ix plus one: grace periods other than BT_GRACE_S */
	int64_t until_ns;	      /* where to stop; INT64_MAX: when nothing happens any more */
	double speed;		      /* virtual seconds in one; 0: as fast as can be */
	bool one_by_one;	      /* nobody is decided between a preemption and its pod's next turn */
	struct bt_decision_log decisions;
	struct bt_api_log *api; /* what an API server would see, or NULL */
	struct bt_recording *recording;
	struct bt_progress *progress;
	struct bt_run_watch *watches;
	size_t watch_n;
	void (*explain)(void *context, uint32_t pod_ix); /* called for watched pods */
	void *context;
	/* What has happened. */
	int64_t begin_ns;
	struct bt_run_tally tally;
	struct bt_ends ends;			     /* pods that are being deleted */
	struct bt_run_use uses[BT_RESOURCE_MAX + 1]; /* by slot; the last one counts pods */
	uint64_t deleted_n, deleted_waiting_n; /* pods that left; of them, those that had never been placed */
	/* private: */
	struct bt_turn turn;
	struct bt_replay replay;
	struct bt_pace pace;
	struct bt_state {
		uint64_t journal_end, version, change_n, storage, devices;
	} state;
	int64_t changed_ns; /* when the cluster has changed the last time */
	int64_t refused_ns; /* no pod waits for an event since before that */
};

/* Carries preemption out: a victim is being deleted for its grace period, and then gone. */
struct bt_evictor bt_run_evictor(struct bt_run *run);

/* How long a pod takes to end. */
int64_t bt_run_grace_ns(const struct bt_run *run, uint32_t pod_ix);

/* Runs from now_ns on, to the end, until the user interrupts, or until a log cannot be written. */
void bt_run(struct bt_run *run);

void bt_run_fini(struct bt_run *run);
