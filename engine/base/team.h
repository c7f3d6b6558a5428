/* SPDX-License-Identifier: Apache-2.0
 * A fork-join team of pinned threads: the worker threads of stage 5. The calling thread is worker 0. Between
 * jobs the others spin briefly and then sleep.
 *
 * Memory order: every worker sees the caller's writes before bt_team_run (the job's number is stored with
 * release and loaded with acquire); the caller sees the workers' writes when bt_team_run returns (the same
 * for each worker's done number).
 *
 * Workers are readers of RCU (rcu.h), online only while they run a job.
 */
#pragma once

#include <stdint.h>

#include "engine/base/topo.h"

#define BT_TEAM_MAX BT_TOPO_WORKERS_MAX

struct bt_team;

struct bt_team_options {
	uint32_t worker_n; /* with the calling thread; 1 to BT_TEAM_MAX */
	/* CPU and memory placement; NULL: none. Both outlive the team. */
	const struct bt_topo *topo;
	const struct bt_topo_plan *plan;
	uint32_t spin_n; /* spins before a worker sleeps; 0: a default */
};

/*
 * Returns: the team; NULL with a status when a thread cannot be started.
 * Owns   : bt_team_destroy, by the thread that runs it.
 */
struct bt_team *bt_team_create(const struct bt_team_options *options, enum bt_status *out_status);
void bt_team_destroy(struct bt_team *team);

uint32_t bt_team_size(const struct bt_team *team);

/*
 * Runs job(context, worker) once for each worker and returns when all have finished. Jobs must not wait for
 * each other.
 * Context: one thread at a time, a reader of RCU if shares read. Allocates nothing; wakes parked workers by a
 * system call.
 */
void bt_team_run(struct bt_team *team, void (*job)(void *context, uint32_t worker), void *context);

/* Are the workers on different memory nodes? */
bool bt_team_spans_nodes(const struct bt_team *team);

/* Moves the whole pages within these bytes to a worker's memory node. Pages that the system refuses to move
 * stay.
 * Context: any thread; a system call if there are several nodes. */
void bt_team_bind_memory(const struct bt_team *team, uint32_t worker, void *ptr, size_t bytes);

/* The number of shares that the caller has run for other workers. Context: the thread that runs the team. */
uint64_t bt_team_taken_over_n(const struct bt_team *team);
