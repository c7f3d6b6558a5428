/* SPDX-License-Identifier: Apache-2.0
 * Where the threads of a simulation run: from the options --threads, --workers and --cpus to places on this
 * machine.
 * Context: one thread.
 */
#pragma once

#include "engine/flow/pipeline/limits.h"
#include "engine/base/topo.h"
#include "tools/cli/entry.h"

/* All zeroes: everything runs in one thread. Owns: bt_places_fini. */
struct bt_places {
	struct bt_topo *topo; /* NULL: nobody cares where threads run */
	struct bt_topo_plan plan;
	uint32_t thread_n, worker_n; /* of ingestion, and as many of binding; of workers */
};

/* Returns: enum bt_exit; what is wrong has been said. */
int bt_places_find(struct bt_places *places, const struct bt_invocation *invocation);

/* How many threads besides the one that reads may help it: the CPUs that are left over. None with --cpus,
 * which is a list for threads that stay. */
uint32_t bt_places_helper_n(const struct bt_invocation *invocation);

void bt_places_fini(struct bt_places *places);
