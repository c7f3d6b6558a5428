/* SPDX-License-Identifier: Apache-2.0
 * Carries out preemption: victims are deleted, and pods of lower priority lose their nominations.
 */
#include "engine/flow/cycle/eviction.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"

void bt_eviction_init(struct bt_eviction *eviction, bool async)
{
	*eviction = (struct bt_eviction){.async = async, .last_ix = BT_NO_POD};
}

void bt_eviction_fini(struct bt_eviction *eviction)
{
	bt_mem_free(eviction->leaving);
	bt_mem_free(eviction->cleared);
	bt_mem_free(eviction->postponed);
	bt_map_fini(&eviction->places);
}

/* ---- victims to delete ---- */

static struct bt_leaving *leaving_of(const struct bt_eviction *eviction, uint32_t pod_ix)
{
	uint32_t place;

	return bt_map_get(&eviction->places, pod_ix + UINT64_C(1), &place) ? &eviction->leaving[place] : NULL;
}

/* Indexes the complete list by pod. */
static void note_places(struct bt_eviction *eviction)
{
	for (size_t i = 0; i < eviction->leaving_n; i++) {
		BT_INVARIANT(!leaving_of(eviction, eviction->leaving[i].pod_ix));
		bt_map_put(&eviction->places, eviction->leaving[i].pod_ix + UINT64_C(1), (uint32_t)i);
	}
}

static void clear(struct bt_eviction *eviction)
{
	for (size_t i = 0; i < eviction->leaving_n; i++) {
		bt_map_remove(&eviction->places, eviction->leaving[i].pod_ix + UINT64_C(1));
	}
	BT_INVARIANT(eviction->places.count == 0);
	eviction->leaving_n = 0;
}

static void add_leaving(struct bt_eviction *eviction, struct bt_leaving leaving)
{
	eviction->leaving = bt_mem_grow(
		eviction->leaving, eviction->leaving_n, &eviction->leaving_cap, sizeof(*eviction->leaving));
	eviction->leaving[eviction->leaving_n++] = leaving;
}

/* Translates victims, which are pods of frozen nodes, to their present indices. Those to delete are listed in
 * the victims' order. */
static void find_victims_of_now(
	struct bt_eviction *eviction, struct bt_ledger *ledger, struct bt_preemption *preemption)
{
	size_t next = 0;

	for (uint32_t i = 0; i < preemption->victim_n; i++) {
		uint32_t then_ix = preemption->victims[i].pod_ix, now_ix = bt_ledger_now(ledger, then_ix);
		struct bt_leaving *leaving = NULL;

		if (next < eviction->leaving_n && eviction->leaving[next].pod_ix == then_ix) {
			leaving = &eviction->leaving[next++];
		}
		if (now_ix != BT_NO_POD) {
			preemption->victims[i].pod_ix = now_ix;
		} else {
			bt_ledger_keep(ledger, then_ix);
		}
		if (leaving && now_ix != BT_NO_POD) {
			leaving->pod_ix = now_ix;
		} else if (leaving) {
			leaving->gone = true;
			leaving->ended = bt_ledger_pod(ledger, then_ix)->ended;
		}
	}
	BT_INVARIANT(next == eviction->leaving_n);
}

void bt_eviction_list(
	struct bt_eviction *eviction, struct bt_ledger *ledger, struct bt_preemption *preemption)
{
	clear(eviction);
	for (uint32_t i = 0; i < preemption->victim_n; i++) {
		uint32_t pod_ix = preemption->victims[i].pod_ix;
		const struct bt_pod *pod = bt_ledger_pod(ledger, pod_ix);
		BT_INVARIANT(pod->state == BT_POD_ASSUMED || pod->state == BT_POD_SCHEDULED);

		if (!pod->terminating) {
			add_leaving(eviction, (struct bt_leaving){.pod_ix = pod_ix, .uid = pod->uid});
		}
	}
	find_victims_of_now(eviction, ledger, preemption);
	note_places(eviction);
}

void bt_eviction_drop(struct bt_eviction *eviction, struct bt_ledger *ledger)
{
	for (size_t i = 0; i < eviction->leaving_n; i++) {
		if (eviction->leaving[i].gone && !eviction->leaving[i].in_hand) {
			bt_ledger_remove(ledger, eviction->leaving[i].pod_ix);
		}
	}
	clear(eviction);
}

const struct bt_leaving *bt_eviction_take(struct bt_eviction *eviction, size_t *out_n)
{
	*out_n = eviction->leaving_n;
	clear(eviction);
	return eviction->leaving;
}

void bt_eviction_put(struct bt_eviction *eviction, const struct bt_leaving *leaving, size_t n)
{
	clear(eviction);
	for (size_t i = 0; i < n; i++) {
		add_leaving(eviction, leaving[i]);
	}
	note_places(eviction);
}

bool bt_eviction_note_ended(struct bt_eviction *eviction, uint32_t pod_ix, bool ended)
{
	struct bt_leaving *leaving = leaving_of(eviction, pod_ix);

	if (leaving) {
		leaving->ended = ended;
	}
	return leaving;
}

bool bt_eviction_note_gone(struct bt_eviction *eviction, uint32_t pod_ix, bool in_hand)
{
	struct bt_leaving *leaving = leaving_of(eviction, pod_ix);

	if (leaving) {
		leaving->gone = true;
		leaving->in_hand = in_hand;
	}
	return leaving;
}

bool bt_eviction_note_answered(struct bt_eviction *eviction, uint32_t pod_ix)
{
	struct bt_leaving *leaving = leaving_of(eviction, pod_ix);

	if (leaving) {
		leaving->in_hand = false;
	}
	return leaving;
}

/* ---- carrying it out ---- */

/* The preempting group; NULL when it was deleted, or when a pod preempts. */
static const struct bt_pod_group *preempting_group(
	const struct bt_eviction *eviction, const struct bt_pod_groups *groups)
{
	return eviction->of_composite
		       ? bt_pod_groups_find_composite(groups, eviction->namespace_, eviction->group)
		       : bt_pod_groups_find(groups, eviction->namespace_, eviction->group);
}

/* Is the preemption the pod's, or its group's? */
static bool is_for(const struct bt_eviction *eviction, const struct bt_pod_groups *groups,
	const struct bt_ledger *ledger, uint32_t pod_ix)
{
	if (eviction->group == BT_NAME_NONE) {
		return eviction->pod_ix == pod_ix;
	}
	const struct bt_signature *signature = bt_ledger_pod(ledger, pod_ix)->signature;
	const struct bt_pod_group *group =
		bt_pod_groups_find(groups, signature->namespace_, signature->pod_group);
	const struct bt_pod_group *root = bt_pod_groups_root(groups, group);
	return group && (root ? root : group) == preempting_group(eviction, groups);
}

/* Is there a victim to evict? last_ix: BT_NO_POD: the last one is not yet reached. */
static bool has_victim(const struct bt_ledger *ledger, uint32_t last_ix, uint32_t last_uid)
{
	if (last_ix == BT_NO_POD) {
		return true;
	}
	if (!bt_ledger_has(ledger, last_ix)) {
		return false;
	}
	const struct bt_pod *last = bt_ledger_pod(ledger, last_ix);
	return last->uid == last_uid && !last->terminating && !last->detached;
}

static size_t find_postponed(const struct bt_eviction *eviction, uint32_t pod_ix)
{
	size_t i = 0;

	while (i < eviction->postponed_n && eviction->postponed[i].pod_ix != pod_ix) {
		i++;
	}
	return i;
}

void bt_eviction_postpone(struct bt_eviction *eviction)
{
	if (!eviction->on) {
		return;
	}
	BT_INVARIANT(find_postponed(eviction, eviction->pod_ix) == eviction->postponed_n);
	eviction->postponed = bt_mem_grow(eviction->postponed, eviction->postponed_n,
		&eviction->postponed_cap, sizeof(*eviction->postponed));
	eviction->postponed[eviction->postponed_n++] =
		(struct bt_preempting){eviction->pod_ix, eviction->last_ix, eviction->last_uid};
	eviction->on = false;
}

static void drop_postponed(struct bt_eviction *eviction, uint32_t pod_ix)
{
	size_t i = find_postponed(eviction, pod_ix);

	if (i < eviction->postponed_n) {
		eviction->postponed[i] = eviction->postponed[--eviction->postponed_n];
	}
}

bool bt_eviction_is_for(const struct bt_eviction *eviction, const struct bt_pod_groups *groups,
	const struct bt_ledger *ledger, uint32_t pod_ix)
{
	size_t i = find_postponed(eviction, pod_ix);

	if (i < eviction->postponed_n) {
		return has_victim(ledger, eviction->postponed[i].last_ix, eviction->postponed[i].last_uid);
	}
	return eviction->on && is_for(eviction, groups, ledger, pod_ix) &&
	       has_victim(ledger, eviction->last_ix, eviction->last_uid);
}

/* Is the nominated pod still waiting, so that its nomination counts? */
static bool waits(const struct bt_engine *engine, uint32_t pod_ix)
{
	return !bt_group_cycle_has(&engine->group_cycle, pod_ix) &&
	       bt_queue_info(engine->queue, pod_ix).where != BT_WAIT_NOWHERE;
}

/* Clears the nominations of lower pods to the node, if the pod is nominated. */
static void take_nominations_back(struct bt_engine *engine, struct bt_decision *decision)
{
	struct bt_ledger *ledger = engine->cache->ledger;
	int32_t priority = bt_ledger_pod(ledger, decision->pod_ix)->priority;

	if (decision->nominated_ix == BT_NO_NODE) {
		return;
	}
	for (uint32_t next, i = bt_ledger_first_nominated(ledger, decision->nominated_ix); i != BT_NO_POD;
		i = next) {
		next = bt_ledger_next(ledger, i);
		if (bt_ledger_pod(ledger, i)->priority < priority && waits(engine, i)) {
			bt_ledger_nominate(ledger, i, BT_NO_NODE);
			bt_engine_status_node(engine, i, BT_NO_NODE);
			engine->eviction.cleared =
				bt_mem_grow(engine->eviction.cleared, decision->cleared_nominations_n,
					&engine->eviction.cleared_cap, sizeof(*engine->eviction.cleared));
			engine->eviction.cleared[decision->cleared_nominations_n++] = i;
		}
	}
	decision->cleared_nominations = engine->eviction.cleared;
}

/* Is a pod of a lower priority nominated to the node in its status? */
static bool nominated_lower(const struct bt_engine *engine, uint32_t node_ix, int32_t priority)
{
	const struct bt_ledger *ledger = engine->cache->ledger;

	for (uint32_t i = bt_ledger_first_nominated(ledger, node_ix); i != BT_NO_POD;
		i = bt_ledger_next(ledger, i)) {
		const struct bt_pod *pod = bt_ledger_pod(ledger, i);

		if (pod->priority < priority && pod->status_node != BT_NAME_NONE && waits(engine, i)) {
			return true;
		}
	}
	return false;
}

/* evicts_at_once: no nomination is to be cleared before. */
static bool begin(struct bt_engine *engine, uint32_t pod_ix, bool evicts_at_once)
{
	struct bt_eviction *eviction = &engine->eviction;

	drop_postponed(eviction, pod_ix);
	if (eviction->leaving_n == 0 && eviction->async) {
		return false;
	}
	eviction->on = engine->options.evictor.evict != NULL;
	eviction->failed = false;
	eviction->pod_ix = pod_ix;
	eviction->namespace_ = eviction->group = BT_NAME_NONE;
	eviction->of_composite = false;
	eviction->last_ix = BT_NO_POD;
	eviction->last_uid = 0;
	if (eviction->leaving_n == 1 && evicts_at_once) {
		/* The only victim is also the last. */
		eviction->last_ix = eviction->leaving[0].pod_ix;
		eviction->last_uid = eviction->leaving[0].uid;
	}
	return true;
}

bool bt_engine_preempting_begin(struct bt_engine *engine, const struct bt_decision *decision)
{
	int32_t priority = bt_ledger_pod(engine->cache->ledger, decision->pod_ix)->priority;

	return begin(engine, decision->pod_ix,
		decision->nominated_ix == BT_NO_NODE ||
			!nominated_lower(engine, decision->nominated_ix, priority));
}

bool bt_engine_group_preempting_begin(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_signature *signature = bt_ledger_pod(engine->cache->ledger, pod_ix)->signature;
	bool begun = begin(engine, pod_ix, true);

	BT_REQUIRE(signature->pod_group != BT_NAME_NONE);
	const struct bt_pod_group *root = bt_pod_groups_root(&engine->groups,
		bt_pod_groups_find(&engine->groups, signature->namespace_, signature->pod_group));
	engine->eviction.namespace_ = signature->namespace_;
	engine->eviction.group = root ? root->name : signature->pod_group;
	engine->eviction.of_composite = root && root->composite;
	return begun;
}

/* Does the victim still exist? Another pod that is decided with the preemptor may have evicted it. */
static bool is_there(const struct bt_ledger *ledger, const struct bt_leaving *victim)
{
	return !victim->gone && bt_ledger_has(ledger, victim->pod_ix) &&
	       bt_ledger_pod(ledger, victim->pod_ix)->uid == victim->uid;
}

static void evict_all(struct bt_engine *engine, uint32_t for_ix)
{
	for (size_t i = 0; engine->eviction.on && !engine->eviction.failed && i < engine->eviction.leaving_n;
		i++) {
		const struct bt_leaving victim = engine->eviction.leaving[i];

		if (i + 1 == engine->eviction.leaving_n) {
			engine->eviction.last_ix = victim.pod_ix;
			engine->eviction.last_uid = victim.uid;
		}
		const bool there = is_there(engine->cache->ledger, &victim);
		/* A victim that has ended still has an object to delete; one that was deleted has not. */
		if (there && bt_waiting_pods_has(&engine->waiting, victim.pod_ix)) {
			bt_waiting_pods_preempt(&engine->waiting, victim.pod_ix);
		} else if (there || victim.ended) {
			engine->options.evictor.evict(
				engine->options.evictor.context, engine, victim.pod_ix, for_ix);
		}
	}
}

static void try_group_again(struct bt_engine *engine, const struct bt_pod_group *group, int64_t now_ns)
{
	for (size_t i = 0; i < group->member_n; i++) {
		if (bt_ledger_pod(engine->cache->ledger, group->members[i])->state == BT_POD_QUEUED) {
			bt_queue_try_again(engine->queue, group->members[i], now_ns);
		}
	}
}

/* Requeues the preemptor, or all pods of its group or of that group's tree. */
static void try_again(struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_signature *signature = bt_ledger_pod(engine->cache->ledger, pod_ix)->signature;
	const struct bt_pod_group *group =
		bt_pod_groups_preempt(&engine->groups)
			? bt_pod_groups_find(&engine->groups, signature->namespace_, signature->pod_group)
			: NULL;
	int64_t now_ns = bt_scheduling_clock_now(&engine->clock);

	if (!group) {
		bt_queue_try_again(engine->queue, pod_ix, now_ns);
		return;
	}
	const struct bt_pod_group *root = bt_pod_groups_root(&engine->groups, group);
	size_t leaf_n;
	const uint32_t *leaves =
		bt_pod_groups_leaves(&engine->groups, root ? root->number : group->number, &leaf_n);

	for (size_t i = 0; i < leaf_n; i++) {
		try_group_again(engine, bt_pod_groups_at(&engine->groups, leaves[i]), now_ns);
	}
}

/* Source: prepareCandidateAsync and prepareCandidate, v1.36.3. */
void bt_engine_carry_out(
	struct bt_engine *engine, struct bt_decision *decision, void (*then)(struct bt_engine *engine))
{
	if (engine->eviction.group != BT_NAME_NONE) {
		/* Upstream clears the nominations to a node called "cluster". */
		evict_all(engine, decision->pod_ix);
	} else if (engine->eviction.async) {
		take_nominations_back(engine, decision);
		evict_all(engine, decision->pod_ix);
	} else {
		evict_all(engine, decision->pod_ix);
		if (!engine->eviction.failed) {
			take_nominations_back(engine, decision);
		}
	}
	bt_eviction_drop(&engine->eviction, engine->cache->ledger);
	engine->eviction.on = false;
	if (then) {
		then(engine);
	}
	if (engine->eviction.failed) {
		try_again(engine, decision->pod_ix);
	}
}

/* Source: prepareCandidateAsync, v1.36.3, which activates the pod at once, so that it repeats requests to an
 * API server that refuses them as fast as it can. */
void bt_engine_evict_failed(struct bt_engine *engine, uint32_t for_ix)
{
	BT_REQUIRE(bt_ledger_has(engine->cache->ledger, for_ix));
	engine->eviction.failed_n++;
	if (engine->eviction.on && engine->eviction.pod_ix == for_ix) {
		/* PreEnqueue rejects it until the preemption is over. */
		engine->eviction.failed = true;
	} else {
		try_again(engine, for_ix);
	}
}

struct bt_group_ref bt_engine_preempting_group(const struct bt_engine *engine)
{
	const struct bt_eviction *eviction = &engine->eviction;

	return eviction->on && eviction->group != BT_NAME_NONE ? bt_engine_group_of(engine, eviction->pod_ix)
							       : (struct bt_group_ref){.name = {.len = 0}};
}

uint32_t bt_eviction_preemptor(const struct bt_eviction *eviction)
{
	BT_REQUIRE(eviction->pod_ix != BT_NO_POD);
	return eviction->pod_ix;
}

void bt_eviction_count(const struct bt_eviction *eviction, struct bt_engine_counts *counts)
{
	counts->evict_failed_n = eviction->failed_n;
}
