/* SPDX-License-Identifier: Apache-2.0
 * PodGroups in transactions: added, and placed together.
 */
#include "engine/flow/cycle/transaction_int.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"

enum bt_status bt_transaction_add_group(struct bt_engine *engine, const struct bt_object *object)
{
	struct bt_pod_groups *groups = &engine->groups;
	struct bt_intern *intern = engine->cache->dictionary->intern;
	bool composite = object->kind == BT_KIND_COMPOSITE_POD_GROUP;
	uint32_t namespace_ = bt_intern_hold(intern, object->pod_group.meta.namespace_),
		 name = bt_intern_hold(intern, object->pod_group.meta.name);
	const struct bt_pod_group *group = composite ? bt_pod_groups_find_composite(groups, namespace_, name)
						     : bt_pod_groups_find(groups, namespace_, name);
	enum bt_status status = group && group->known ? BT_EXISTS : BT_OK;

	BT_REQUIRE(bt_transaction_depth(engine) > 0 && bt_pod_groups_tracked(groups));
	if (status == BT_OK) {
		bt_pod_groups_apply_object(groups, composite, namespace_, name, &object->pod_group);
		struct bt_transaction_record *record =
			bt_transaction_record(engine, BT_RECORD_GROUP, BT_NO_POD);
		record->group.namespace_ = namespace_;
		record->group.name = name;
		record->group.composite = composite;
	}
	bt_intern_release(intern, namespace_);
	bt_intern_release(intern, name);
	return status;
}

enum bt_outcome bt_transaction_place_group(
	struct bt_engine *engine, const uint32_t *pod_ixs, uint32_t n, struct bt_buf *out_text)
{
	const struct bt_ledger *ledger = engine->cache->ledger;

	BT_REQUIRE(bt_transaction_depth(engine) > 0);
	for (uint32_t i = 0; i < n; i++) {
		BT_REQUIRE(bt_ledger_pod(ledger, pod_ixs[i])->nominated_ix == BT_NO_NODE);
	}
	uint64_t cycle_n = ++engine->counts.cycle_n;
	uint32_t *held = bt_mem_zalloc(n, sizeof(*held)), held_n = 0;
	enum bt_group_fit fit = bt_engine_try_group(engine, pod_ixs, n, held, &held_n, out_text);
	for (uint32_t i = 0; i < held_n; i++) {
		struct bt_transaction_record *record =
			bt_transaction_record(engine, BT_RECORD_PLACED, held[i]);

		record->placed.nominated_ix = BT_NO_NODE;
		record->placed.behind = BT_NO_POD;
		record->placed.cycle_n = cycle_n;
	}
	bt_mem_free(held);
	return fit == BT_GROUP_FITS ? BT_PLACED : fit == BT_GROUP_UNFIT ? BT_REFUSED : BT_FAILED;
}
