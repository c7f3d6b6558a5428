/* SPDX-License-Identifier: Apache-2.0
 * A run's internals, shared by its files.
 */
#pragma once

#include "tools/offline/simulate/run.h"

static inline const struct bt_pod *bt_simulate_run_pod(const struct bt_simulate_run *run, uint32_t pod_ix)
{
	return bt_ledger_pod(bt_engine_cache(run->engine)->ledger, pod_ix);
}

/* A pod is on its node now, or was since since_ns (0: unknown): NoExecute taints may evict it. */
void bt_simulate_run_watch_taints(struct bt_simulate_run *run, uint32_t pod_ix, int64_t since_ns);

/* Adds a pod's resources to the usage, or with -1 subtracts them. */
void bt_simulate_run_use(struct bt_simulate_run *run, uint32_t pod_ix, double sign);
