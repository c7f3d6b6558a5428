/* SPDX-License-Identifier: Apache-2.0
 * Releases what is no longer referenced (I7): names of pods, slots of nodes, and signatures with their cached
 * results.
 */
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine_int.h"

/* Limits of the strings that plans point to and of counters; PER_LIVE is added for each signature. Beyond
 * them all plans are rebuilt. */
#define TEXTS_MAX    16384
#define COUNTERS_MAX 65536
#define PER_LIVE     16 /* more of each per signature */

/* Pods that move to other indices per event, and pods that are examined for that. */
#define MOVED_MAX    8
#define EXAMINED_MAX 32

/* Are there as many unreferenced signatures, beyond those that are cached, as others? Retiring them drops
 * results that the others must recompute, which is amortized over the creation of that many. */
static bool is_due(const struct bt_engine *engine, uint32_t keep_n)
{
	const struct bt_signatures *signatures = engine->cache->signatures;
	uint32_t listed_n = bt_signatures_listed(signatures), count = bt_signatures_count(signatures);
	uint32_t others_n = count > listed_n && !engine->options.keeps_none ? count - listed_n : 0;

	return listed_n > keep_n && listed_n - keep_n > (keep_n > others_n ? keep_n : others_n);
}

/* Services that come and go leave counters behind, claims leave strings, even if no signature goes. Is their
 * limit reached, and have as many pods come since the last time as there are signatures whose plans are to be
 * rebuilt? */
static bool is_full(const struct bt_engine *engine)
{
	const struct bt_cache *cache = engine->cache;
	size_t count = bt_signatures_count(cache->signatures), more_n = PER_LIVE * count;

	return engine->reclaim.added_n > count &&
	       (bt_texts_count(cache->dictionary->texts) > TEXTS_MAX + more_n ||
		       bt_counters_count(cache->counters) > COUNTERS_MAX + more_n);
}

/* Drops plans, counters, label columns and verdicts, which are rebuilt on demand. Other data by signature
 * index also stores the signature's serial number, or is empty without pods. */
static void retire_signatures(struct bt_engine *engine, uint32_t keep_n, bool full)
{
	struct bt_cache *cache = engine->cache;
	const uint32_t *ixs;
	uint32_t n = bt_signatures_retire(cache->signatures, keep_n, &ixs);

	if (n == 0 && !full) {
		return;
	}
	bt_profile_runtimes_forget_plans(&engine->runtimes);
	bt_counters_forget(cache->counters, ixs, n);
	bt_snapshot_forget_columns(cache->snapshot);
	bt_texts_release(cache->dictionary->texts);
	bt_post_filter_forget_kinds(&engine->post);
	bt_signatures_free_retired(cache->signatures);
	engine->reclaim.signature_end_n += n;
	engine->reclaim.added_n = 0;
}

/* Does a cycle or a kept event still refer to deleted objects? */
static bool is_referenced(const struct bt_engine *engine)
{
	return bt_queue_is_busy(engine->queue) || bt_eviction_is_on(&engine->eviction) ||
	       bt_group_cycle_is_on(&engine->group_cycle);
}

/* Drops caches by node slot, which are rebuilt on demand. */
static void forget_slots(struct bt_engine *engine)
{
	bt_profile_runtimes_forget_plans(&engine->runtimes);
	bt_post_filter_forget_slots(&engine->post);
	bt_schedule_pod_forget(&engine->schedule);
	bt_node_list_forget(&engine->nodes);
	bt_counters_trim_nodes(engine->cache->counters, engine->cache->view.snapshot->slot_n);
	bt_devices_forget_nodes(engine->cache->devices);
}

void bt_engine_vacate_slots(struct bt_engine *engine)
{
	const struct bt_snapshot *snapshot = engine->cache->view.snapshot;

	if (is_referenced(engine)) {
		return;
	}
	bt_cache_vacate_slots(engine->cache);
	if (snapshot->slot_n > engine->reclaim.most_slots) {
		engine->reclaim.most_slots = snapshot->slot_n;
	} else if (snapshot->slot_n < engine->reclaim.most_slots / 2) {
		forget_slots(engine);
		engine->reclaim.most_slots = snapshot->slot_n;
	}
}

void bt_engine_release_names(struct bt_engine *engine)
{
	if (!is_referenced(engine)) {
		bt_devices_release_names(engine->cache->devices);
	}
}

/* Shrinks the tables by pod index, in the ledger and elsewhere. */
static void trim_pods(struct bt_engine *engine)
{
	uint32_t pod_end = bt_ledger_trim_pods(engine->cache->ledger);

	bt_counters_trim_pods(engine->cache->counters, pod_end);
	bt_queue_trim(engine->queue, pod_end);
}

/* Do only ledger, queue and counters refer to the pod by its index? Bindings, PodGroups and the pod's claims
 * also could. */
static bool may_move(const struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(engine->cache->ledger, pod_ix);
	enum bt_wait where = bt_queue_info(engine->queue, pod_ix).where;

	return !pod->detached && pod->state != BT_POD_ASSUMED && where != BT_WAIT_BINDING &&
	       pod->nominated_ix == BT_NO_NODE && !bt_engine_is_member(engine, pod_ix) &&
	       pod->signature->claim_n == 0 && pod->signature->extended_n == 0;
}

static void move_pod(struct bt_engine *engine, uint32_t pod_ix)
{
	BT_INVARIANT(bt_volumes_assumed(engine->cache->volumes, pod_ix, NULL, 0) == 0);
	bt_queue_move_pod(engine->queue, pod_ix, bt_ledger_move_pod(engine->cache->ledger, pod_ix));
	engine->reclaim.pod_move_n++;
}

/* Moves a few pods from the highest indices to the lowest. After a pass in which n pods had to stay, the
 * next one waits for n events. */
static void move_some(struct bt_engine *engine)
{
	struct bt_moving *moving = &engine->reclaim.moving;

	for (uint32_t i = 0, moved_n = 0; i < EXAMINED_MAX && moved_n < MOVED_MAX; i++) {
		uint32_t pod_ix =
			bt_ledger_last_pod(engine->cache->ledger, moving->end ? moving->end : BT_NO_POD);

		if (pod_ix == BT_NO_POD) {
			*moving = (struct bt_moving){.pause_n = moving->stay_n};
			return;
		}
		moving->end = pod_ix;
		if (may_move(engine, pod_ix)) {
			move_pod(engine, pod_ix);
			moved_n++;
		} else {
			moving->stay_n++;
		}
	}
}

void bt_engine_move_pods(struct bt_engine *engine)
{
	struct bt_moving *moving = &engine->reclaim.moving;

	if (!engine->options.moves_pods || is_referenced(engine)) {
		return;
	}
	if (!bt_ledger_is_sparse(engine->cache->ledger)) {
		*moving = (struct bt_moving){0};
	} else if (moving->pause_n) {
		moving->pause_n--;
	} else {
		move_some(engine);
		trim_pods(engine);
	}
}

void bt_engine_reclaim(struct bt_engine *engine)
{
	const struct bt_engine_options *options = &engine->options;
	uint32_t keep_n = options->keeps_none	     ? 0
			  : options->signatures_kept ? options->signatures_kept
						     : BT_ENGINE_SIGNATURES_KEPT;

	if (is_referenced(engine)) {
		return;
	}
	bt_ledger_free_removed(engine->cache->ledger);
	bt_devices_release_names(engine->cache->devices);
	bt_kept_events_end(&engine->kept_events);
	trim_pods(engine);
	bool full = is_full(engine);
	if (full || is_due(engine, keep_n)) {
		retire_signatures(engine, keep_n, full);
	}
}

void bt_engine_reclaim_for_pod(struct bt_engine *engine)
{
	engine->reclaim.added_n++;
	bt_engine_reclaim(engine);
}

void bt_reclaim_count(const struct bt_reclaim *reclaim, struct bt_engine_counts *counts)
{
	counts->pod_move_n = reclaim->pod_move_n;
	counts->signature_end_n = reclaim->signature_end_n;
}
