/* SPDX-License-Identifier: Apache-2.0
 * From options to places.
 */
#include "tools/offline/simulate/places.h"

#include "engine/base/cpu_quota.h"
#include "engine/base/thread.h"
#include "tools/cli/command.h"
#include "tools/cli/message.h"

static int plan(struct bt_places *places, const struct bt_topo_request *request, struct bt_buf *why)
{
	if (bt_topo_discover(&places->topo, why) != BT_OK) {
		return BT_EXIT_INPUT;
	}
	return bt_topo_plan(places->topo, request, &places->plan, why) == BT_OK ? BT_EXIT_OK : BT_EXIT_USAGE;
}

int bt_places_find(struct bt_places *places, const struct bt_invocation *invocation)
{
	places->thread_n = (uint32_t)bt_invocation_number(invocation, "threads");
	places->worker_n = (uint32_t)bt_invocation_number(invocation, "workers");
	const struct bt_topo_request request = {
		.worker_n = places->worker_n,
		.ingestion_n = places->thread_n ? places->thread_n : 1,
		.binder_n = places->thread_n ? places->thread_n : 1,
		.cpus = bt_invocation_text(invocation, "cpus"),
	};
	struct bt_buf why = {0};

	if (places->thread_n == 0 && places->worker_n == 1 && !request.cpus) {
		return BT_EXIT_OK;
	}
	int status = plan(places, &request, &why);
	if (status != BT_EXIT_OK) {
		bt_message("berth simulate: %s\n", why.ptr ? why.ptr : "");
	}
	places->worker_n = places->plan.worker_n;
	bt_buf_fini(&why);
	return status;
}

uint32_t bt_places_helper_n(const struct bt_invocation *invocation)
{
	uint32_t cpu_n = bt_thread_usable_cpu_n(), quota_n = bt_cpu_quota_n("");

	if (bt_invocation_text(invocation, "cpus")) {
		return 0;
	}
	return (quota_n && quota_n < cpu_n ? quota_n : cpu_n) - 1;
}

void bt_places_fini(struct bt_places *places)
{
	bt_topo_plan_fini(&places->plan);
	bt_topo_destroy(places->topo);
}
