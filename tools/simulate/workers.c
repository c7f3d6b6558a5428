/* SPDX-License-Identifier: Apache-2.0
 * From options to a team.
 */
#include "tools/simulate/workers.h"

#include <stdio.h>

#include "tools/cli/command.h"

static int place(struct bt_workers *workers, const struct bt_topo_request *request, struct bt_buf *why)
{
	if (bt_topo_discover(&workers->topo, why) != BT_OK) {
		return BT_EXIT_INPUT;
	}
	return bt_topo_plan(workers->topo, request, &workers->plan, why) == BT_OK ? BT_EXIT_OK
										  : BT_EXIT_USAGE;
}

static int start(struct bt_workers *workers, struct bt_buf *why)
{
	const struct bt_team_options options = {
		.worker_n = workers->plan.worker_n,
		.topo = workers->topo,
		.plan = &workers->plan,
	};
	enum bt_status status;

	if (options.worker_n < 2) {
		return BT_EXIT_OK;
	}
	if (options.worker_n > BT_TEAM_MAX) {
		bt_buf_printf(why, "there can be at most %d workers; ask for fewer", BT_TEAM_MAX);
		return BT_EXIT_USAGE;
	}
	workers->team = bt_team_create(&options, &status);
	if (!workers->team) {
		bt_buf_printf(why, "the system gives no thread for a worker; ask for fewer");
		return BT_EXIT_IO;
	}
	return BT_EXIT_OK;
}

int bt_workers_start(struct bt_workers *workers, const struct bt_invocation *invocation)
{
	const struct bt_topo_request request = {
		.worker_n = (uint32_t)bt_invocation_number(invocation, "workers"),
		.ingestion_n = 1,
		.binder_n = 1,
		.cpus = bt_invocation_text(invocation, "cpus"),
	};
	struct bt_buf why = {0};

	if (request.worker_n == 1 && !request.cpus) {
		return BT_EXIT_OK;
	}
	int status = place(workers, &request, &why);
	if (status == BT_EXIT_OK) {
		status = start(workers, &why);
	}
	if (status != BT_EXIT_OK) {
		fprintf(stderr, "berth simulate: %s\n", why.ptr ? why.ptr : "");
	}
	bt_buf_fini(&why);
	return status;
}

void bt_workers_fini(struct bt_workers *workers)
{
	bt_team_destroy(workers->team);
	bt_topo_plan_fini(&workers->plan);
	bt_topo_destroy(workers->topo);
}
