/* SPDX-License-Identifier: Apache-2.0
 * What nodes were worth to pods, until it is known where those went.
 */
#include "tools/scheduler/rival.h"

#include "engine/base/atomic.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "tools/log/log.h"

struct worth {
	uint64_t node; /* hash of its name */
	int64_t total;
};

struct record {
	uint64_t uid; /* hash of it; 0: nothing */
	struct worth *items;
	size_t n, cap;
	int64_t best;
};

struct bt_rival {
	struct bt_lock lock; /* for records and next */
	struct record records[BT_RIVAL_PODS];
	uint32_t next;
	struct bt_explanation explanation;	     /* owner: the scheduling thread */
	_Atomic uint64_t counts[BT_RIVAL_VERDICT_N]; /* atomic: the writer's thread counts; relaxed */
};

struct bt_rival *bt_rival_create(void)
{
	struct bt_rival *rival = bt_mem_zalloc(1, sizeof(*rival));

	bt_lock_init(&rival->lock);
	return rival;
}

void bt_rival_destroy(struct bt_rival *rival)
{
	if (rival) {
		for (uint32_t i = 0; i < BT_RIVAL_PODS; i++) {
			bt_mem_free(rival->records[i].items);
		}
		bt_explanation_fini(&rival->explanation);
		bt_lock_fini(&rival->lock);
		bt_mem_free(rival);
	}
}

static uint64_t hash_of(struct bt_str text)
{
	return bt_hash_bytes(text.ptr, text.len) | 1;
}

/* Requires: the lock. */
static struct record *record_of(struct bt_rival *rival, uint64_t uid)
{
	for (uint32_t i = 0; i < BT_RIVAL_PODS; i++) {
		if (rival->records[i].uid == uid) {
			return &rival->records[i];
		}
	}
	return NULL;
}

void bt_rival_look(struct bt_rival *rival, struct bt_engine *engine, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_intern *intern = cache->dictionary->intern;
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	const struct bt_evaluation *evaluation = &rival->explanation.evaluation;

	if (pod->uid == BT_NAME_NONE) {
		return;
	}
	bt_engine_explain(engine, pod_ix, &rival->explanation);
	uint64_t uid = hash_of(bt_intern_str(intern, pod->uid));
	bt_lock_acquire(&rival->lock);
	struct record *record = record_of(rival, uid);
	if (!record) {
		record = &rival->records[rival->next++ % BT_RIVAL_PODS];
	}
	record->uid = uid;
	record->n = 0;
	record->best = INT64_MIN;
	if (!rival->explanation.gated && !rival->explanation.refused) {
		for (uint32_t i = 0; i < evaluation->feasible_n; i++) {
			uint32_t name = cache->view.snapshot->nodes[evaluation->feasible[i]].name;

			record->items = bt_mem_grow(record->items, i, &record->cap, sizeof(*record->items));
			record->items[i] =
				(struct worth){hash_of(bt_intern_str(intern, name)), evaluation->totals[i]};
			record->n = i + 1;
			record->best =
				record->items[i].total > record->best ? record->items[i].total : record->best;
		}
	}
	bt_lock_release(&rival->lock);
}

const char *bt_rival_verdict_text(enum bt_rival_verdict verdict)
{
	static const char *const texts[BT_RIVAL_VERDICT_N] = {"same", "tied", "lower", "refused", "unknown"};

	return texts[verdict];
}

/* The worth of a node, and of the best one. Returns: what they say of that node. */
static enum bt_rival_verdict look_up(
	struct bt_rival *rival, uint64_t uid, uint64_t node, int64_t *out_theirs, int64_t *out_best)
{
	enum bt_rival_verdict verdict = BT_RIVAL_UNKNOWN;

	bt_lock_acquire(&rival->lock);
	struct record *record = record_of(rival, uid);
	if (record) {
		verdict = BT_RIVAL_REFUSED;
		*out_best = record->n ? record->best : 0;
		for (size_t i = 0; i < record->n; i++) {
			if (record->items[i].node == node) {
				*out_theirs = record->items[i].total;
				verdict = *out_theirs == record->best ? BT_RIVAL_TIED : BT_RIVAL_LOWER;
			}
		}
		record->uid = 0; /* the pod is where it is */
	}
	bt_lock_release(&rival->lock);
	return verdict;
}

enum bt_rival_verdict bt_rival_judge(struct bt_rival *rival, const struct bt_writer_judgement *judgement)
{
	int64_t theirs = 0, best = 0;
	enum bt_rival_verdict verdict =
		look_up(rival, hash_of(judgement->pod.uid), hash_of(judgement->theirs), &theirs, &best);

	if (judgement->ours.len && bt_str_eq(judgement->ours, judgement->theirs)) {
		verdict = BT_RIVAL_SAME;
	}
	if (judgement->undecided) { /* what was known of it may be of another time */
		verdict = BT_RIVAL_UNKNOWN;
	} else if (verdict >= BT_RIVAL_LOWER) {
		bt_log(BT_LOG_INFO, 0, "The other scheduler decided otherwise",
			bt_log_fields(bt_log_pod(judgement->pod.namespace_, judgement->pod.name),
				bt_log_str("ours", judgement->ours), bt_log_str("theirs", judgement->theirs),
				bt_log_str("theirsIs", bt_str(bt_rival_verdict_text(verdict))),
				bt_log_int("scoreOfTheirs", theirs), bt_log_int("bestScore", best)));
	}
	bt_add_relaxed(&rival->counts[verdict], 1u);
	return verdict;
}

uint64_t bt_rival_count(const struct bt_rival *rival, enum bt_rival_verdict verdict)
{
	return bt_load_relaxed(&rival->counts[verdict]);
}
