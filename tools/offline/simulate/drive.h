/* SPDX-License-Identifier: Apache-2.0
 * Has a run run: by this thread, step by step, or by the pipeline's threads while this one looks on and
 * another one feeds the trace.
 */
#pragma once

#include "tools/cli/progress.h"
#include "tools/offline/simulate/replay.h"
#include "tools/offline/simulate/run.h"

struct bt_drive {
	struct bt_simulate_run *run;
	struct bt_trace_player
		*replay; /* where events come from that are not there at the beginning; or NULL */
	struct bt_progress *progress;
	bool threads; /* the pipeline has been started */
};

/* Runs from the run's now_ns on to its end. No thread of the pipeline runs any more afterwards. */
void bt_drive(const struct bt_drive *drive);
