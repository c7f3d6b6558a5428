/* SPDX-License-Identifier: Apache-2.0
 * What nodes are worth to a pod, and to the one whose turn was the last.
 */
#include "tools/scheduler/rival.h"

#include "engine/base/atomic.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
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
	uint32_t best_n, best_name; /* the name of the first one, as long as the node is there */
};

/* owner: the scheduling thread, but for what is atomic */
struct bt_rival {
	struct record turn, now; /* of the last turn; of a pod that has just been shown on a node */
	struct bt_explanation explanation;
	_Atomic uint64_t counts[BT_RIVAL_VERDICT_N]; /* atomic: relaxed */
};

struct bt_rival *bt_rival_create(void)
{
	return bt_mem_zalloc(1, sizeof(struct bt_rival));
}

void bt_rival_destroy(struct bt_rival *rival)
{
	if (rival) {
		bt_mem_free(rival->turn.items);
		bt_mem_free(rival->now.items);
		bt_explanation_fini(&rival->explanation);
		bt_mem_free(rival);
	}
}

static struct bt_str text_of(struct bt_engine *engine, uint32_t name)
{
	return bt_intern_str(bt_engine_cache(engine)->dictionary->intern, name);
}

static uint64_t hash_of(struct bt_str text)
{
	return bt_hash_bytes(text.len ? text.ptr : "", text.len) | 1;
}

static uint64_t uid_of(struct bt_engine *engine, uint32_t pod_ix)
{
	return hash_of(text_of(engine, bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix)->uid));
}

static void add(struct bt_engine *engine, struct record *record, uint32_t name, int64_t total)
{
	record->items = bt_mem_grow(record->items, record->n, &record->cap, sizeof(*record->items));
	record->items[record->n++] = (struct worth){hash_of(text_of(engine, name)), total};
	if (record->n == 1 || total > record->best) {
		record->best = total;
		record->best_n = 0;
		record->best_name = name;
	}
	record->best_n += total == record->best;
}

static void note(struct bt_rival *rival, struct bt_engine *engine, uint32_t pod_ix, struct record *record)
{
	const struct bt_snapshot *snapshot = bt_engine_cache(engine)->view.snapshot;
	const struct bt_evaluation *evaluation = &rival->explanation.evaluation;

	bt_engine_explain(engine, pod_ix, &rival->explanation);
	record->uid = uid_of(engine, pod_ix);
	record->n = 0;
	if (!rival->explanation.gated && !rival->explanation.refused) {
		for (uint32_t i = 0; i < evaluation->feasible_n; i++) {
			add(engine, record, snapshot->nodes[evaluation->feasible[i]].name,
				evaluation->totals[i]);
		}
	}
}

void bt_rival_look(struct bt_rival *rival, struct bt_engine *engine, uint32_t pod_ix)
{
	note(rival, engine, pod_ix, &rival->turn);
}

const char *bt_rival_verdict_text(enum bt_rival_verdict verdict)
{
	static const char *const texts[BT_RIVAL_VERDICT_N] = {"same", "tied", "lower", "refused"};

	return texts[verdict];
}

/* Returns: what the record says of a node, whose score is in out_total. */
static enum bt_rival_verdict look_up(const struct record *record, struct bt_str node, int64_t *out_total)
{
	uint64_t hash = hash_of(node);

	for (size_t i = 0; i < record->n; i++) {
		if (record->items[i].node == hash) {
			*out_total = record->items[i].total;
			return *out_total < record->best ? BT_RIVAL_LOWER
			       : record->best_n == 1	 ? BT_RIVAL_SAME
							 : BT_RIVAL_TIED;
		}
	}
	return BT_RIVAL_REFUSED;
}

static void say(struct bt_engine *engine, const struct bt_pod *pod, struct bt_str ours, struct bt_str theirs,
	enum bt_rival_verdict verdict, int64_t total, int64_t best)
{
	bt_log(BT_LOG_INFO, 0, "The other scheduler decided otherwise",
		bt_log_fields(
			bt_log_pod(text_of(engine, pod->signature->namespace_), text_of(engine, pod->name)),
			bt_log_str("ours", ours), bt_log_str("theirs", theirs),
			bt_log_str("theirsIs", bt_str(bt_rival_verdict_text(verdict))),
			bt_log_int("scoreOfTheirs", total), bt_log_int("bestScore", best)));
}

enum bt_rival_verdict bt_rival_judge(
	struct bt_rival *rival, struct bt_engine *engine, uint32_t pod_ix, struct bt_str node)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	bool chosen = pod->state == BT_POD_ASSUMED;
	const struct record *record = &rival->turn;
	int64_t total = 0;

	if (!chosen || record->uid != uid_of(engine, pod_ix)) {
		record = &rival->now;
		note(rival, engine, pod_ix, &rival->now);
	}
	uint32_t name = chosen	    ? cache->view.snapshot->nodes[pod->node_ix].name
			: record->n ? record->best_name
				    : BT_NAME_NONE;
	struct bt_str ours = text_of(engine, name);
	enum bt_rival_verdict verdict =
		chosen && bt_str_eq(ours, node) ? BT_RIVAL_SAME : look_up(record, node, &total);

	if (verdict >= BT_RIVAL_LOWER) {
		say(engine, pod, ours, node, verdict, total, record->n ? record->best : 0);
	}
	bt_add_relaxed(&rival->counts[verdict], 1u);
	return verdict;
}

uint64_t bt_rival_count(const struct bt_rival *rival, enum bt_rival_verdict verdict)
{
	return bt_load_relaxed(&rival->counts[verdict]);
}
