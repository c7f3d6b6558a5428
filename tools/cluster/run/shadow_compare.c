/* SPDX-License-Identifier: Apache-2.0
 * Scores of all nodes for a pod, and for the pod of the last cycle.
 */
#include "tools/cluster/run/shadow_compare.h"

#include <string.h>

#include "engine/base/atomic.h"
#include "engine/base/clock.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "tools/kube/log/log.h"

struct static_score {
	uint64_t node; /* hash of its name */
	int64_t total;
};

struct shadow_compare_record {
	uint64_t uid; /* hash of it; 0: empty */
	struct static_score *items;
	size_t n, cap;
	int64_t best;
	uint32_t best_n, best_name; /* name of the first best node, while it exists */
};

/* More better nodes can only be explained by sampling. */
#define BETTER_MAX  16
#define PENDING_MAX 256
#define PENDING_NS  INT64_C(2000000000)
#define REPORT_NS   (60 * INT64_C(1000000000))

/* A verdict of a lower score, until it is known whether it was crossed. */
struct pending {
	struct bt_buf texts; /* namespace, name, ours, theirs, each followed by a NUL */
	int32_t priority;
	uint64_t order;
	uint64_t better[BETTER_MAX]; /* hashes of the names of better nodes */
	uint32_t better_n;
	int64_t until_ns, total, best;
};

/* owner: the scheduling thread, unless noted */
struct bt_shadow_compare {
	struct shadow_compare_record in_cycle,
		now; /* of the last cycle; of a pod that was just shown on a node */
	struct bt_explanation explanation;
	struct bt_lock lock;
	struct pending pending_verdicts[PENDING_MAX];	      /* lock(lock): the oldest first */
	uint32_t pending_n;				      /* lock(lock): */
	_Atomic uint64_t counts[BT_SHADOW_COMPARE_VERDICT_N]; /* atomic: relaxed */
	int64_t reported_ns; /* owner: the thread of bt_shadow_compare_report; 0: not yet */
};

struct bt_shadow_compare *bt_shadow_compare_create(void)
{
	struct bt_shadow_compare *shadow = bt_mem_zalloc(1, sizeof(*shadow));

	bt_lock_init(&shadow->lock);
	return shadow;
}

void bt_shadow_compare_destroy(struct bt_shadow_compare *shadow)
{
	if (shadow) {
		for (uint32_t i = 0; i < shadow->pending_n; i++) {
			bt_buf_fini(&shadow->pending_verdicts[i].texts);
		}
		bt_mem_free(shadow->in_cycle.items);
		bt_mem_free(shadow->now.items);
		bt_explanation_fini(&shadow->explanation);
		bt_lock_fini(&shadow->lock);
		bt_mem_free(shadow);
	}
}

static struct bt_str shadow_compare_text_of(struct bt_engine *engine, uint32_t name)
{
	return bt_intern_str(bt_engine_cache(engine)->dictionary->intern, name);
}

static uint64_t hash_of(struct bt_str text)
{
	return bt_hash_str(text) | 1;
}

static uint64_t uid_of(struct bt_engine *engine, uint32_t pod_ix)
{
	return hash_of(
		shadow_compare_text_of(engine, bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix)->uid));
}

static void shadow_compare_add(
	struct bt_engine *engine, struct shadow_compare_record *record, uint32_t name, int64_t total)
{
	record->items = bt_mem_grow(record->items, record->n, &record->cap, sizeof(*record->items));
	record->items[record->n++] =
		(struct static_score){hash_of(shadow_compare_text_of(engine, name)), total};
	if (record->n == 1 || total > record->best) {
		record->best = total;
		record->best_n = 0;
		record->best_name = name;
	}
	record->best_n += total == record->best;
}

static void shadow_compare_note(struct bt_shadow_compare *shadow, struct bt_engine *engine, uint32_t pod_ix,
	struct shadow_compare_record *record)
{
	const struct bt_snapshot *snapshot = bt_engine_cache(engine)->view.snapshot;
	const struct bt_evaluation *evaluation = &shadow->explanation.evaluation;

	bt_engine_explain(engine, pod_ix, &shadow->explanation);
	record->uid = uid_of(engine, pod_ix);
	record->n = 0;
	if (!shadow->explanation.gated && !shadow->explanation.refused) {
		for (uint32_t i = 0; i < evaluation->feasible_n; i++) {
			shadow_compare_add(engine, record, snapshot->nodes[evaluation->feasible[i]].name,
				evaluation->totals[i]);
		}
	}
}

void bt_shadow_compare_score(struct bt_shadow_compare *shadow, struct bt_engine *engine, uint32_t pod_ix)
{
	shadow_compare_note(shadow, engine, pod_ix, &shadow->in_cycle);
}

const char *bt_shadow_compare_verdict_text(enum bt_shadow_compare_verdict verdict)
{
	static const char *const texts[BT_SHADOW_COMPARE_VERDICT_N] = {
		"same", "tied", "crossed", "lower", "refused"};

	return texts[verdict];
}

/* Returns: the record's verdict of a node, with its score in out_total. */
static enum bt_shadow_compare_verdict look_up(
	const struct shadow_compare_record *record, struct bt_str node, int64_t *out_total)
{
	uint64_t hash = hash_of(node);

	for (size_t i = 0; i < record->n; i++) {
		if (record->items[i].node == hash) {
			*out_total = record->items[i].total;
			return *out_total < record->best ? BT_SHADOW_COMPARE_LOWER
			       : record->best_n == 1	 ? BT_SHADOW_COMPARE_SAME
							 : BT_SHADOW_COMPARE_TIED;
		}
	}
	return BT_SHADOW_COMPARE_REFUSED;
}

/* ---- open verdicts ---- */

static void log_verdict(const struct pending *pending, enum bt_shadow_compare_verdict verdict)
{
	const char *space = pending->texts.ptr, *name = space + strlen(space) + 1;
	const char *ours = name + strlen(name) + 1, *theirs = ours + strlen(ours) + 1;

	bt_log(BT_LOG_INFO, 0, "The other scheduler decided otherwise",
		bt_log_fields(bt_log_pod(bt_str(space), bt_str(name)), bt_log_str("ours", bt_str(ours)),
			bt_log_str("theirs", bt_str(theirs)),
			bt_log_str("theirsIs", bt_str(bt_shadow_compare_verdict_text(verdict))),
			bt_log_int("scoreOfTheirs", pending->total), bt_log_int("bestScore", pending->best)));
}

static void shadow_compare_count(struct bt_shadow_compare *shadow, enum bt_shadow_compare_verdict verdict)
{
	bt_add_relaxed(&shadow->counts[verdict], 1u);
}

/* Counts and logs the verdict. Owns: frees the pending. */
static void report_verdict(
	struct bt_shadow_compare *shadow, struct pending *pending, enum bt_shadow_compare_verdict verdict)
{
	shadow_compare_count(shadow, verdict);
	if (verdict >= BT_SHADOW_COMPARE_LOWER) {
		log_verdict(pending, verdict);
	}
	bt_buf_fini(&pending->texts);
}

/* Under the lock. Owns: the caller frees it. */
static struct pending take_out(struct bt_shadow_compare *shadow, uint32_t ix)
{
	struct pending pending = shadow->pending_verdicts[ix];

	shadow->pending_n--;
	memmove(&shadow->pending_verdicts[ix], &shadow->pending_verdicts[ix + 1],
		(shadow->pending_n - ix) * sizeof(pending));
	return pending;
}

/* Takes the first that is old enough, or any when there are too many. */
static bool take_oldest(struct bt_shadow_compare *shadow, int64_t now_ns, struct pending *out)
{
	bt_lock_acquire(&shadow->lock);
	bool any = shadow->pending_n &&
		   (shadow->pending_verdicts[0].until_ns <= now_ns || shadow->pending_n == PENDING_MAX);

	if (any) {
		*out = take_out(shadow, 0);
	}
	bt_lock_release(&shadow->lock);
	return any;
}

void bt_shadow_compare_tick(struct bt_shadow_compare *shadow, int64_t now_ns)
{
	struct pending pending;

	while (take_oldest(shadow, now_ns, &pending)) {
		report_verdict(shadow, &pending, BT_SHADOW_COMPARE_LOWER);
	}
}

static void shadow_compare_keep(struct bt_shadow_compare *shadow, const struct pending *pending)
{
	bt_lock_acquire(&shadow->lock);
	shadow->pending_verdicts[shadow->pending_n++] = *pending;
	bt_lock_release(&shadow->lock);
}

/* A pod was shown on a node: pods that were scheduled after it may have known that. Under the lock. Returns:
 * whether no better node is left. */
static bool is_crossed(struct pending *pending, uint64_t node, int32_t priority, uint64_t order)
{
	if (priority < pending->priority || (priority == pending->priority && order > pending->order)) {
		return false;
	}
	for (uint32_t i = 0; i < pending->better_n; i++) {
		if (pending->better[i] == node) {
			pending->better[i] = pending->better[--pending->better_n];
			return !pending->better_n;
		}
	}
	return false;
}

static void cross(struct bt_shadow_compare *shadow, uint64_t node, int32_t priority, uint64_t order)
{
	bt_lock_acquire(&shadow->lock);
	for (uint32_t i = 0; i < shadow->pending_n;) {
		if (is_crossed(&shadow->pending_verdicts[i], node, priority, order)) {
			struct pending pending = take_out(shadow, i);

			report_verdict(shadow, &pending, BT_SHADOW_COMPARE_CROSSED);
		} else {
			i++;
		}
	}
	bt_lock_release(&shadow->lock);
}

/* ---- judging ---- */

static void describe(struct bt_engine *engine, const struct bt_pod *pod, struct bt_str ours,
	struct bt_str theirs, struct bt_buf *out)
{
	const struct bt_str parts[] = {shadow_compare_text_of(engine, pod->signature->namespace_),
		shadow_compare_text_of(engine, pod->name), ours, theirs};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		bt_buf_str(out, parts[i]);
		bt_buf_char(out, 0);
	}
}

/* Records the better nodes. Returns: false: too many. */
static bool note_better(const struct shadow_compare_record *record, struct pending *pending)
{
	for (size_t i = 0; i < record->n; i++) {
		if (record->items[i].total > pending->total) {
			if (pending->better_n == BETTER_MAX) {
				return false;
			}
			pending->better[pending->better_n++] = record->items[i].node;
		}
	}
	return true;
}

void bt_shadow_compare_judge(
	struct bt_shadow_compare *shadow, struct bt_engine *engine, uint32_t pod_ix, struct bt_str node)
{
	const struct bt_cache *cache = bt_engine_cache(engine);
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	const struct bt_queue_info info = bt_queue_info(bt_engine_queue(engine), pod_ix);
	bool chosen = pod->state == BT_POD_ASSUMED;
	const struct shadow_compare_record *record = &shadow->in_cycle;

	bt_shadow_compare_tick(shadow, bt_clock_monotonic_ns());
	cross(shadow, hash_of(node), pod->priority, info.order);
	if (!chosen || record->uid != uid_of(engine, pod_ix)) {
		record = &shadow->now;
		shadow_compare_note(shadow, engine, pod_ix, &shadow->now);
	}
	uint32_t name = chosen	    ? cache->view.snapshot->nodes[pod->node_ix].name
			: record->n ? record->best_name
				    : BT_NAME_NONE;
	struct bt_str ours = shadow_compare_text_of(engine, name);
	struct pending pending = {.priority = pod->priority,
		.order = info.order,
		.until_ns = bt_clock_monotonic_ns() + PENDING_NS,
		.best = record->n ? record->best : 0};
	enum bt_shadow_compare_verdict verdict = chosen && bt_str_eq(ours, node)
							 ? BT_SHADOW_COMPARE_SAME
							 : look_up(record, node, &pending.total);

	if (verdict < BT_SHADOW_COMPARE_LOWER) {
		shadow_compare_count(shadow, verdict);
		return;
	}
	describe(engine, pod, ours, node, &pending.texts);
	if (verdict == BT_SHADOW_COMPARE_LOWER && note_better(record, &pending)) {
		shadow_compare_keep(shadow, &pending);
	} else {
		report_verdict(shadow, &pending, verdict);
	}
}

static void log_counts(const struct bt_shadow_compare *shadow, const char *words)
{
	struct bt_log_field fields[BT_SHADOW_COMPARE_VERDICT_N + 2];
	int64_t all = 0;

	for (int v = 0; v < BT_SHADOW_COMPARE_VERDICT_N; v++) {
		enum bt_shadow_compare_verdict verdict = (enum bt_shadow_compare_verdict)v;
		int64_t n = (int64_t)bt_shadow_compare_count(shadow, verdict);

		fields[v + 1] = bt_log_int(bt_shadow_compare_verdict_text(verdict), n);
		all += n;
	}
	fields[0] = bt_log_int("pods", all);
	fields[BT_SHADOW_COMPARE_VERDICT_N + 1] = (struct bt_log_field){.key = NULL};
	bt_log(BT_LOG_INFO, 0, words, fields);
}

void bt_shadow_compare_report(struct bt_shadow_compare *shadow, int64_t now_ns)
{
	if (!shadow->reported_ns) {
		shadow->reported_ns = now_ns;
	}
	if (now_ns - shadow->reported_ns >= REPORT_NS) {
		shadow->reported_ns = now_ns;
		log_counts(shadow, "Nodes that the other scheduler chose, compared so far");
	}
}

void bt_shadow_compare_report_end(struct bt_shadow_compare *shadow)
{
	bt_shadow_compare_tick(shadow, INT64_MAX);
	log_counts(shadow, "Nodes that the other scheduler chose, compared in all");
}

uint64_t bt_shadow_compare_count(
	const struct bt_shadow_compare *shadow, enum bt_shadow_compare_verdict verdict)
{
	return bt_load_relaxed(&shadow->counts[verdict]);
}
