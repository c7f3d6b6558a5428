/* SPDX-License-Identifier: Apache-2.0
 * Which pods belong to a PodGroup, and what is left of the cycles of groups.
 */
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"

static const struct bt_signature *member_signature(const struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_ledger_pod(engine->cache->ledger, pod_ix)->signature;
}

bool bt_engine_in_group(const struct bt_engine *engine, uint32_t pod_ix)
{
	return bt_pod_groups_tracked(&engine->groups) &&
	       member_signature(engine, pod_ix)->pod_group != BT_NAME_NONE;
}

void bt_engine_join_group(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_signature *signature = member_signature(engine, pod_ix);

	if (bt_engine_in_group(engine, pod_ix)) {
		bt_pod_groups_join(&engine->groups, signature->namespace_, signature->pod_group, pod_ix);
	}
}

void bt_engine_leave_group(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_signature *signature = member_signature(engine, pod_ix);

	if (bt_engine_in_group(engine, pod_ix)) {
		bt_pod_groups_leave(&engine->groups, signature->namespace_, signature->pod_group, pod_ix);
	}
}

void bt_group_cycle_fini(struct bt_group_cycle *cycle)
{
	bt_mem_free(cycle->members);
	bt_mem_free(cycle->victims);
	bt_mem_free(cycle->leaving);
	bt_mem_free(cycle->cleared_nominations);
	bt_buf_fini(&cycle->permit_error);
	bt_group_preemption_fini(&cycle->preemption);
	*cycle = (struct bt_group_cycle){.members = NULL};
}
