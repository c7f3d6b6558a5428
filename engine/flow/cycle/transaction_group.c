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

/* ---- nominations of pods that are placed together ---- */

/* A nomination as it was before: the node, and the pod before it there. */
struct group_nomination {
	uint32_t pod_ix, node_ix, behind;
	bool ended;    /* the pod has a node */
	bool restored; /* it is on the node's list again */
};

struct group_nominations {
	struct group_nomination *items;
	uint32_t n;
};

static struct group_nominations save_nominations(
	const struct bt_ledger *ledger, const uint32_t *pod_ixs, uint32_t n)
{
	struct group_nominations saved = {bt_mem_zalloc(n, sizeof(*saved.items)), 0};

	for (uint32_t i = 0; i < n; i++) {
		uint32_t node_ix = bt_ledger_pod(ledger, pod_ixs[i])->nominated_ix;

		if (node_ix != BT_NO_NODE) {
			saved.items[saved.n++] = (struct group_nomination){
				.pod_ix = pod_ixs[i],
				.node_ix = node_ix,
				.behind = bt_ledger_previous(ledger, pod_ixs[i]),
			};
		}
	}
	return saved;
}

static struct group_nomination *nomination_of(const struct group_nominations *saved, uint32_t pod_ix)
{
	for (uint32_t i = 0; i < saved->n; i++) {
		if (saved->items[i].pod_ix == pod_ix) {
			return &saved->items[i];
		}
	}
	return NULL;
}

/* The pod that is before the nomination while others have ended. */
static uint32_t behind_now(const struct group_nominations *saved, const struct group_nomination *nomination)
{
	uint32_t behind = nomination->behind;
	const struct group_nomination *before = nomination_of(saved, behind);

	for (; before && before->ended; before = nomination_of(saved, behind)) {
		behind = before->behind;
	}
	return behind;
}

/* Restores nominations that have not ended, in their former order: the attempts ended them, or put them at
 * the end of their node's list. */
static void restore_nominations(struct bt_ledger *ledger, const struct group_nominations *saved)
{
	for (uint32_t i = 0; i < saved->n; i++) {
		if (bt_ledger_pod(ledger, saved->items[i].pod_ix)->nominated_ix != BT_NO_NODE) {
			bt_ledger_nominate(ledger, saved->items[i].pod_ix, BT_NO_NODE);
		}
	}
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = 0; i < saved->n; i++) {
			struct group_nomination *nomination = &saved->items[i];
			uint32_t behind = behind_now(saved, nomination);
			const struct group_nomination *before = nomination_of(saved, behind);

			if (!nomination->ended && !nomination->restored && (!before || before->restored)) {
				bt_ledger_nominate_behind(
					ledger, nomination->pod_ix, nomination->node_ix, behind);
				nomination->restored = more = true;
			}
		}
	}
}

/* Records a pod that got a node, and how its nomination is restored. */
static void record_held(
	struct bt_engine *engine, uint32_t pod_ix, uint64_t cycle_n, const struct group_nominations *saved)
{
	struct bt_transaction_record *record = bt_transaction_record(engine, BT_RECORD_PLACED, pod_ix);
	struct group_nomination *nomination = nomination_of(saved, pod_ix);

	record->placed.nominated_ix = nomination ? nomination->node_ix : BT_NO_NODE;
	record->placed.behind = nomination ? behind_now(saved, nomination) : BT_NO_POD;
	record->placed.cycle_n = cycle_n;
	if (nomination) {
		nomination->ended = true;
	}
}

enum bt_outcome bt_transaction_place_group(
	struct bt_engine *engine, const uint32_t *pod_ixs, uint32_t n, struct bt_buf *out_text)
{
	struct bt_ledger *ledger = engine->cache->ledger;

	BT_REQUIRE(bt_transaction_depth(engine) > 0);
	struct group_nominations saved = save_nominations(ledger, pod_ixs, n);
	uint64_t cycle_n = ++engine->counts.cycle_n;
	uint32_t *held = bt_mem_zalloc(n, sizeof(*held)), held_n = 0;
	enum bt_group_fit fit = bt_engine_try_group(engine, pod_ixs, n, held, &held_n, out_text);
	for (uint32_t i = 0; i < held_n; i++) {
		record_held(engine, held[i], cycle_n, &saved);
	}
	restore_nominations(ledger, &saved);
	bt_mem_free(saved.items);
	bt_mem_free(held);
	return fit == BT_GROUP_FITS ? BT_PLACED : fit == BT_GROUP_UNFIT ? BT_REFUSED : BT_FAILED;
}
