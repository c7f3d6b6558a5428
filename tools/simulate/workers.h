/* SPDX-License-Identifier: Apache-2.0
 * The workers of a run, where the machine has room for them.
 */
#pragma once

#include "engine/base/team.h"
#include "tools/cli/invocation.h"

struct bt_workers {
	struct bt_topo *topo;
	struct bt_topo_plan plan;
	struct bt_team *team; /* NULL: the scheduling thread alone */
};

/*
 * Starts what --workers and --cpus ask for. The calling thread is the first worker and stays where it is.
 * Returns: an exit code; what is wrong and the remedy are on standard error. Owns: bt_workers_fini.
 */
int bt_workers_start(struct bt_workers *workers, const struct bt_invocation *invocation);
void bt_workers_fini(struct bt_workers *workers);
