/* SPDX-License-Identifier: Apache-2.0
 * Answers many independent questions by worker processes that share the caller's memory by copy-on-write. The
 * answers come back in the order of the questions, so the result does not depend on the number of processes.
 *
 *   fork --> answer(k), answer(k + jobs), ... in worker k --pipe--> take(0), take(1), ... in the caller
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "tools/cli/progress.h"

/* The most processes. */
#define BT_SWEEP_JOBS_MAX 1024

struct bt_sweep {
	const char *command; /* for messages: "whatif" */
	uint64_t question_n;
	uint32_t job_n; /* processes; 0: bt_sweep_default_jobs; 1: the caller answers */
	/*
	 * Appends a question's answer. It must depend on the question only, not on earlier ones: a worker
	 * answers some of them, in ascending order. Context: a worker process, or the caller.
	 */
	void (*answer)(void *context, uint64_t question_ix, struct bt_buf *out);
	/* Gets an answer, in the order of the questions; valid during the call. Context: the caller. */
	void (*take)(void *context, uint64_t question_ix, struct bt_str answer);
	void *context;
	struct bt_progress *progress; /* begun by the caller; counts answers. NULL: none */
};

/*
 * Answers all questions. Reports errors on standard error. Answers that were taken before an error or an
 * interrupt are complete ones, of the first questions.
 * Context : the process has one thread; blocks.
 * Requires: job_n is at most BT_SWEEP_JOBS_MAX.
 * Returns : BT_EXIT_OK; BT_EXIT_INTERRUPTED; BT_EXIT_IO: a worker could not be started, or has died.
 * Owns    : no process is left, whatever it returns.
 */
int bt_sweep_run(const struct bt_sweep *sweep);

/* The CPUs that this process may use, by its affinity and its control group's quota; at least 1. */
uint32_t bt_sweep_default_jobs(void);
