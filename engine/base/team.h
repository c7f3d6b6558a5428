/* SPDX-License-Identifier: Apache-2.0
 * A team of pinned threads that share a piece of work and meet again: the worker threads of stage 5. The
 * calling thread is worker 0. Between two pieces of work the others spin for a moment and then park.
 *
 * Memory order: what the caller wrote before bt_team_run is seen by every worker (the job's number is stored
 * with release and loaded with acquire); what workers wrote is seen by the caller when bt_team_run returns
 * (the same for each worker's done number).
 *
 * Workers are readers of RCU (rcu.h), online while they run a job only.
 */
#pragma once

#include <stdint.h>

#include "engine/base/topo.h"

#define BT_TEAM_MAX BT_TOPO_WORKERS_MAX

struct bt_team;

struct bt_team_options {
	uint32_t worker_n; /* with the calling thread; 1 to BT_TEAM_MAX */
	/* Where they go, and whose memory is near them; NULL: anywhere. Both outlive the team. */
	const struct bt_topo *topo;
	const struct bt_topo_plan *plan;
	uint32_t spin_n; /* how often a worker looks for work before it parks; 0: a usual number */
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
 * Context: one thread at a time, a reader of RCU if shares read. Allocates nothing; wakes parked workers by a
 * system call.
 */
void bt_team_run(struct bt_team *team, void (*job)(void *context, uint32_t worker), void *context);

/* Do the workers sit beside different memory nodes? */
bool bt_team_spans_nodes(const struct bt_team *team);

/* Puts the pages that lie wholly in these bytes beside a worker. What the system refuses stays where it is.
 * Context: any thread; a system call where there is something to choose. */
void bt_team_bind_memory(const struct bt_team *team, uint32_t worker, void *ptr, size_t bytes);

/* How many shares the caller has taken over. Context: the thread that runs the team. */
uint64_t bt_team_taken_over_n(const struct bt_team *team);
