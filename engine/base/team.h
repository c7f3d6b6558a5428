/* SPDX-License-Identifier: Apache-2.0
 * A team of pinned threads that share a piece of work and meet again: the worker threads of stage 5. The
 * calling thread is worker 0. Between two pieces of work the others spin for a moment and then park.
 *
 * Memory order: what the caller wrote before bt_team_run is seen by every worker (the job's number is stored
 * with release and loaded with acquire); what workers wrote is seen by the caller when bt_team_run returns
 * (the same for each worker's done number).
 */
#pragma once

#include <stdint.h>

#include "engine/base/status.h"

#define BT_TEAM_MAX 64

struct bt_team;

struct bt_team_options {
	uint32_t worker_n; /* with the calling thread; 1 to BT_TEAM_MAX */
	const int *cpus;   /* by worker from 1 on, worker_n - 1 of them: where they are pinned, -1: anywhere;
			      NULL: nowhere */
	uint32_t spin_n;   /* how often a worker looks for work before it parks; 0: a usual number, 1 on one
			      processor */
};

/*
 * Returns: the team; NULL with a status when a thread cannot be started.
 * Owns   : bt_team_destroy, by the thread that runs it.
 */
struct bt_team *bt_team_create(const struct bt_team_options *options, enum bt_status *out_status);
void bt_team_destroy(struct bt_team *team);

uint32_t bt_team_size(const struct bt_team *team);

/*
 * Runs job(context, worker) once for each worker and returns when all have ended. Jobs must not wait for each
 * other.
 * Context: the thread that created the team, one run at a time. Allocates nothing; wakes parked workers by a
 * system call.
 */
void bt_team_run(struct bt_team *team, void (*job)(void *context, uint32_t worker), void *context);

/* How often workers were found parked. */
uint64_t bt_team_wake_n(const struct bt_team *team);
