/* SPDX-License-Identifier: Apache-2.0
 * Drives a run: in this thread, step by step, or by the pipeline's threads while this one monitors and
 * another one feeds the trace.
 */
#pragma once

#include "tools/cli/progress.h"
#include "tools/offline/simulate/replay.h"
#include "tools/offline/simulate/run.h"

struct bt_drive {
	struct bt_simulate_run *run;
	struct bt_trace_player *replay; /* source of later events; or NULL */
	struct bt_progress *progress;
	bool threads; /* the pipeline has been started */
	bool resumes; /* the run was over already; without threads */
};

/* Runs from the run's now_ns to its end. The pipeline's threads have ended afterwards. */
void bt_drive(const struct bt_drive *drive);
