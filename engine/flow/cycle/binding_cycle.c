/* SPDX-License-Identifier: Apache-2.0
 * A placed pod: Reserve and assume, PreBind, the binder and its answer (I2, I4). Source: schedulingCycle from
 * assume on, bindingCycle, handleBindingCycleError, v1.36.3.
 */
#include "engine/flow/cycle/engine_int.h"

#include "engine/base/check.h"
#include "engine/base/probe.h"

/* How a binding failed. */
struct failure {
	bool pre_bind; /* in PreBind, before any write */
	bool repeats;  /* as bt_binding_answer */
	bool refused;  /* at Permit, while the pod waited there, by these plugins */
	bt_plugin_set plugins;
};

/* Forgets the assumption; the pod is retried later. */
static void unassume(struct bt_engine *engine, uint32_t pod_ix, struct failure how)
{
	struct bt_cluster_event_pod gone = bt_engine_event_pod(engine, pod_ix);
	const struct bt_decision failed = {.pod_ix = pod_ix,
		.outcome = how.refused ? BT_REFUSED : BT_FAILED,
		.nominated_ix = BT_NO_NODE,
		.preempt = how.refused ? BT_PREEMPT_NOWHERE : (enum bt_preempt_outcome)0,
		.unschedulable_plugins = how.plugins,
		.repeats = how.repeats};
	const struct bt_hooks *pre_bind = &bt_engine_runtime_of(engine, pod_ix)->profile.pre_bind;
	uint32_t nominated_ix = bt_late_nominations_by_binding(
		&engine->late, engine->cache, pre_bind, how.pre_bind || how.refused, pod_ix);

	BT_PROBE2(forgot, pod_ix, bt_ledger_pod(engine->cache->ledger, pod_ix)->node_ix);
	bt_volumes_revert(engine->cache->volumes, pod_ix);
	bt_engine_revert_devices(engine, pod_ix);
	if (bt_ledger_pod(engine->cache->ledger, pod_ix)->state == BT_POD_ASSUMED) {
		bt_reserved_forget(engine->cache, pod_ix);
	}
	if (!how.refused) {
		bt_engine_requeue_for_pod(engine, BT_DELETE, &gone);
	}
	/* Upstream's binding cycles are concurrent: one of a group that fails at once still fails after the
	 * group's cycle has requeued the other members. */
	bt_scheduling_clock_ahead(&engine->clock, bt_group_cycle_is_on(&engine->group_cycle));
	bt_engine_set_aside(engine, &failed);
	bt_scheduling_clock_ahead(&engine->clock, 0);
	if (nominated_ix != BT_NO_NODE && bt_queue_info(engine->queue, pod_ix).where != BT_WAIT_NOWHERE) {
		bt_engine_status_node(engine, pod_ix, nominated_ix);
		bt_ledger_nominate(engine->cache->ledger, pod_ix, how.repeats ? BT_NO_NODE : nominated_ix);
	}
	if (how.refused) {
		/* Only now, so that it does not move the pod itself. */
		bt_engine_requeue_others(engine, &gone, pod_ix);
	}
}

static BT_NOINLINE bool prebinds(struct bt_engine *engine, uint32_t pod_ix)
{
	struct bt_group_state group;
	struct bt_pod_env env = bt_engine_pod_env(engine, pod_ix, &group);

	return bt_reserved_prebinds(
		&engine->reserved, &bt_engine_runtime_of(engine, pod_ix)->profile.pre_bind, pod_ix, &env);
}

/* Reserve or PreBind has failed. Upstream then calls Unreserve of all plugins, also of those that have
 * reserved nothing in this cycle. Source: RunReservePluginsUnreserve, Unreserve of DynamicResources,
 * v1.36.3. */
static BT_NOINLINE void unreserve(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_unreserver *unreserver = &engine->options.unreserver;

	if (unreserver->unreserve && bt_ledger_pod(engine->cache->ledger, pod_ix)->signature->claim_n) {
		unreserver->unreserve(unreserver->context, engine, pod_ix);
	}
}

bool bt_engine_bind(struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	BT_REQUIRE_HOT(bt_ledger_pod(engine->cache->ledger, pod_ix)->state == BT_POD_ASSUMED);
	BT_REQUIRE_HOT(bt_ledger_pod(engine->cache->ledger, pod_ix)->node_ix == node_ix);
	if (BT_UNLIKELY(engine->cache->view.devices->pending_n) && !prebinds(engine, pod_ix)) {
		unreserve(engine, pod_ix);
		unassume(engine, pod_ix, (struct failure){.pre_bind = true});
		return false;
	}
	engine->counts.placed_n++;
	BT_PROBE2(bind, pod_ix, node_ix);
	if (engine->options.binder.bind) {
		engine->options.binder.bind(engine->options.binder.context, engine, pod_ix, node_ix);
	} else {
		bt_engine_bound(engine, pod_ix);
	}
	return true;
}

/* The reservation has failed: what was chosen is no longer available. */
static BT_NOINLINE void fail_placed(
	struct bt_engine *engine, struct bt_decision *decision, enum bt_reserve reserved)
{
	BT_INVARIANT((reserved == BT_PRE_BIND_FAILS) ==
		     (bt_ledger_pod(engine->cache->ledger, decision->pod_ix)->state == BT_POD_ASSUMED));
	unreserve(engine, decision->pod_ix);
	decision->outcome = BT_FAILED;
	decision->node_ix = BT_NO_NODE;
	if (reserved == BT_PRE_BIND_FAILS) {
		bt_queue_done(engine->queue, decision->pod_ix);
		unassume(engine, decision->pod_ix,
			(struct failure){.pre_bind = true, .repeats = decision->repeats});
	} else {
		bt_engine_set_aside(engine, decision);
	}
}

/* A resize fits on the pod's node. Upstream fails at this point, because a pod that is on a node cannot be
 * assumed, and retries the pod. Source: assumeAndReserve, cacheImpl.AssumePod, v1.37.2. */
static BT_NOINLINE void fail_resize(struct bt_engine *engine, struct bt_decision *decision)
{
	bt_reserved_fail_resize(
		&engine->reserved, decision->plan, bt_ledger_pod(engine->cache->ledger, decision->pod_ix));
	decision->outcome = BT_FAILED;
	decision->node_ix = BT_NO_NODE;
	bt_engine_set_aside(engine, decision);
}

void bt_engine_end_wait(struct bt_engine *engine, uint32_t pod_ix, bt_plugin_set plugins, bool repeats)
{
	BT_REQUIRE(bt_queue_info(engine->queue, pod_ix).where == BT_WAIT_IN_FLIGHT);
	unreserve(engine, pod_ix);
	unassume(engine, pod_ix, (struct failure){.refused = true, .plugins = plugins, .repeats = repeats});
}

void bt_engine_unpermit(struct bt_engine *engine, struct bt_decision *decision)
{
	uint32_t pod_ix = decision->pod_ix;

	BT_REQUIRE(bt_ledger_pod(engine->cache->ledger, pod_ix)->state == BT_POD_ASSUMED);
	unreserve(engine, pod_ix);
	bt_volumes_revert(engine->cache->volumes, pod_ix);
	bt_engine_revert_devices(engine, pod_ix);
	bt_ledger_forget(engine->cache->ledger, pod_ix);
	decision->outcome = BT_FAILED;
	decision->node_ix = BT_NO_NODE;
	bt_engine_set_aside(engine, decision);
}

void bt_engine_place(struct bt_engine *engine, struct bt_decision *decision)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	uint32_t pod_ix = decision->pod_ix;

	if (BT_UNLIKELY(decision->plan && decision->plan->signature->resize_node != BT_NAME_NONE)) {
		fail_resize(engine, decision);
		return;
	}
	if (bt_ledger_pod(ledger, pod_ix)->state != BT_POD_QUEUED) {
		/* Another scheduler has bound it. */
		bt_queue_remove(engine->queue, pod_ix);
		return;
	}
	enum bt_reserve reserved =
		bt_reserved_assume(&engine->reserved, decision->plan, pod_ix, decision->node_ix);
	if (BT_UNLIKELY(reserved != BT_RESERVED)) {
		fail_placed(engine, decision, reserved);
		return;
	}
	if (BT_UNLIKELY(decision->permit_is_imposed)) {
		if (decision->waits) {
			bt_waiting_pods_add(&engine->waiting,
				&(struct bt_waiting_pod){.pod_ix = pod_ix, .until_ns = INT64_MAX});
			return;
		}
	} else if (BT_UNLIKELY(bt_pod_groups_alone(&engine->groups)) && !bt_engine_permit(engine, decision)) {
		return;
	}
	bt_queue_done(engine->queue, pod_ix);
	if (!bt_engine_bind(engine, pod_ix, decision->node_ix)) {
		decision->outcome = BT_FAILED;
		decision->node_ix = BT_NO_NODE;
	}
}

/* ---- the binder's answers ---- */

/* Marks the pod's ResourceClaims as allocated and reserved for it. Those that were so before cause no
 * event. */
static void keep_devices(struct bt_engine *engine, uint32_t pod_ix, const struct bt_pod *pod)
{
	const struct bt_signature *signature = pod->signature;
	const struct bt_device_store *store = engine->cache->view.devices;
	uint32_t claim_ix;

	for (uint32_t i = 0; bt_engine_may_requeue(engine) && i < signature->claim_n; i++) {
		if (bt_map_get(&store->claim_ixs,
			    bt_pair_key(signature->namespace_, signature->claims[i].claim), &claim_ix) &&
			!(store->claims[claim_ix].allocated &&
				bt_device_store_reserved(store, &store->claims[claim_ix], signature,
					bt_consumer_uid(pod->name, pod->uid)))) {
			bt_engine_requeue_for_claim(engine, claim_ix, BT_CHANGED_CLAIM_STATUS);
		}
	}
	bt_devices_keep(engine->cache->devices, pod_ix, signature, pod->name, pod->uid);
}

/* Has the pod devices, or does it name claims? After an update it may name none any more. */
static bool has_devices(const struct bt_engine *engine, uint32_t pod_ix, const struct bt_pod *pod)
{
	uint32_t n = pod->signature->claim_n + pod->signature->extended_n;

	if (n == 0 && engine->cache->view.devices->pending_n) {
		(void)bt_devices_pending(engine->cache->devices, pod_ix, &n);
	}
	return n > 0;
}

/* Applies what the binder has written to the pod's ResourceClaims, whatever the result of the binding. */
static void take_written(struct bt_engine *engine, uint32_t pod_ix, const struct bt_pod *pod,
	const struct bt_binding_answer *answer)
{
	for (uint32_t i = 0; i < answer->claim_n; i++) {
		uint32_t changes;
		uint32_t claim_ix = bt_devices_written(engine->cache->devices, pod_ix, pod->signature,
			pod->name, pod->uid, &answer->claims[i], &changes);

		if (!bt_engine_may_requeue(engine)) {
			continue;
		}
		if (claim_ix == BT_NO_CLAIM && !answer->claims[i].special) {
			bt_engine_requeue_for_devices(engine, pod->signature);
		} else if (changes) {
			bt_engine_requeue_for_claim(engine, claim_ix, changes);
		}
	}
}

/* Ends the binding of a pod that was deleted meanwhile. */
static void end_detached(struct bt_engine *engine, uint32_t pod_ix, const struct bt_pod *pod,
	const struct bt_binding_answer *answer)
{
	bt_volumes_revert(engine->cache->volumes, pod_ix);
	if (answer->claim_n == 0 && pod->signature->claim_n && !pod->signature->extended_n) {
		/* Its claims stay allocated until the source shows that they are free. */
		keep_devices(engine, pod_ix, pod);
		bt_engine_unkeep_claims(engine, pod_ix);
	}
	bt_engine_revert_devices(engine, pod_ix);
	bt_engine_remove_detached(engine, pod_ix);
}

static void end_bound(struct bt_engine *engine, uint32_t pod_ix, const struct bt_binding_answer *answer)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);

	BT_PROBE2(bound, pod_ix, pod->node_ix);
	bt_queue_remove(engine->queue, pod_ix);
	if (pod->detached) {
		end_detached(engine, pod_ix, pod, answer);
		return;
	}
	bt_volumes_keep(engine->cache->volumes, pod_ix);
	if (answer->claim_n) {
		bt_engine_revert_devices(engine, pod_ix); /* the claims that were not written */
	} else if (has_devices(engine, pod_ix, pod)) {
		keep_devices(engine, pod_ix, pod);
	}
	if (pod->state == BT_POD_ASSUMED) {
		bt_ledger_confirm(engine->cache->ledger, pod_ix);
		if (bt_engine_may_requeue(engine)) {
			const struct bt_cluster_event_pod shown = bt_engine_event_pod(engine, pod_ix);

			bt_engine_requeue_for_pod(engine, BT_ADD, &shown);
		}
	}
}

void bt_engine_answer(struct bt_engine *engine, uint32_t pod_ix, const struct bt_binding_answer *answer)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);

	bt_engine_before_change(engine, BT_CHANGE_OF_NODES | bt_engine_change_of_nominations(pod->signature));
	take_written(engine, pod_ix, pod, answer);
	if (answer->bound) {
		end_bound(engine, pod_ix, answer);
	} else if (pod->state == BT_POD_SCHEDULED) {
		/* The binding exists after all, or another scheduler made it: the source shows what the pod's
		 * claims got. */
		bt_engine_revert_devices(engine, pod_ix);
		end_bound(engine, pod_ix, answer);
	} else {
		unassume(engine, pod_ix, (struct failure){.repeats = answer->repeats});
	}
}

void bt_engine_bound(struct bt_engine *engine, uint32_t pod_ix)
{
	bt_engine_answer(engine, pod_ix, &(struct bt_binding_answer){.bound = true});
}

void bt_engine_bind_failed(struct bt_engine *engine, uint32_t pod_ix)
{
	bt_engine_answer(engine, pod_ix, &(struct bt_binding_answer){.bound = false});
}
