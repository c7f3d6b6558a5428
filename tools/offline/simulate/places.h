/* SPDX-License-Identifier: Apache-2.0
 * The placement of a simulation's threads: from the options --threads, --workers and --cpus to places on this
 * machine.
 * Context: one thread.
 */
#pragma once

#include "engine/flow/pipeline/limits.h"
#include "engine/base/topo.h"
#include "tools/cli/entry.h"

/* Zero-initialized: everything runs in one thread. Owns: bt_places_fini. */
struct bt_places {
	struct bt_topo *topo; /* NULL: no placement */
	struct bt_topo_plan plan;
	uint32_t thread_n, worker_n; /* ingestion threads, and as many binders; workers */
};

/* Returns: enum bt_exit; reports errors. */
int bt_places_find(struct bt_places *places, const struct bt_invocation *invocation);

/* The number of helper threads for reading: the remaining CPUs. None with --cpus, which is for permanent
 * threads. */
uint32_t bt_places_helper_n(const struct bt_invocation *invocation);

void bt_places_fini(struct bt_places *places);
