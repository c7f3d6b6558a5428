/* SPDX-License-Identifier: Apache-2.0
 * Statistics of the queue.
 */
#include "tools/kube/report/queueing.h"

#include <stdlib.h>

#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/hints.h"
#include "tools/kube/report/rows_int.h"

#define PREEMPTIONS_MAX 20 /* rows */
#define VICTIMS_MAX	3  /* names in a row */
#define PLACES_MAX	64

static double seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

static void add_int(struct bt_emit *emit, const char *key, uint64_t value, const char *label)
{
	bt_emit_int(emit, key, (int64_t)value);
	bt_emit_label(emit, label);
}

/* Shown to people only when nonzero. */
static void add_rare(struct bt_emit *emit, const char *key, uint64_t value, const char *label)
{
	add_int(emit, key, value, label);
	if (value == 0) {
		bt_emit_hide(emit);
	}
}

/* ---- waits and attempts ---- */

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The wait that percent of 100 pods do not exceed: the smallest such one. The waits are sorted
 * already. */
static int64_t wait_at(const struct bt_queueing_facts *facts, uint64_t percent)
{
	uint64_t all = facts->unwaited_n + facts->wait_n, rank = (all * percent + 99) / 100;

	return rank <= facts->unwaited_n ? 0 : facts->waits[rank - facts->unwaited_n - 1];
}

static void add_wait(struct bt_emit *emit, const struct bt_queueing_facts *facts, const char *key,
	uint64_t percent, const char *label)
{
	bt_emit_real(emit, key, seconds(wait_at(facts, percent)), 3);
	bt_emit_label(emit, label);
	bt_emit_unit(emit, "s");
	if (facts->wait_n == 0) {
		bt_emit_hide(emit);
	}
}

static void report_attempts(struct bt_emit *emit, const struct bt_report_attempts *a)
{
	static const char *const keys[] = {"attempts_1", "attempts_2", "attempts_3_to_5", "attempts_over_5"};
	static const char *const labels[] = {
		"  pods tried once", "  twice", "  3 to 5 times", "  more than 5 times"};

	bt_emit_real(emit, "attempts_mean", a->pod_n ? (double)a->sum / (double)a->pod_n : 0, 3);
	bt_emit_label(emit, "attempts per pod: mean");
	add_int(emit, "attempts_max", a->most, "  max");
	for (int i = 0; i < 4; i++) {
		add_rare(emit, keys[i], a->buckets[i], labels[i]);
	}
}

static void report_queue(
	struct bt_emit *emit, const struct bt_engine *engine, const struct bt_queueing_facts *facts)
{
	const struct bt_queue_counts counts = bt_engine_counts(engine).queue;

	if (facts->wait_n) {
		qsort(facts->waits, facts->wait_n, sizeof(*facts->waits), by_length);
	}
	bt_emit_begin_object(emit, "queue");
	add_wait(emit, facts, "wait_p50_s", 50, "wait until placed, p50");
	add_wait(emit, facts, "wait_p90_s", 90, "  p90");
	add_wait(emit, facts, "wait_p99_s", 99, "  p99");
	add_wait(emit, facts, "wait_max_s", 100, "  longest");
	report_attempts(emit, &facts->attempts);
	add_rare(emit, "woken", counts.moved_n, "requeued by an event");
	add_rare(emit, "backoffs", counts.backoff_n, "backoffs");
	add_rare(emit, "flushed", counts.flushed_n, "requeued by the 5-minute flush");
	bt_emit_end(emit);
}

/* ---- pending pods ---- */

/* Pods in one place, kept there by the same plugins. */
struct queue_place {
	uint32_t example, profile;
	bt_plugin_set plugins;
	enum bt_wait where;
	uint64_t pod_n;
};

struct places {
	struct queue_place *items;
	size_t n, cap;
};

static bool is_same_place(const struct queue_place *a, const struct queue_place *b)
{
	return a->profile == b->profile && a->plugins == b->plugins && a->where == b->where;
}

static void queueing_count(struct places *places, struct bt_map *ixs, const struct queue_place *place)
{
	const uint64_t words[] = {place->plugins, (uint64_t)place->profile << 32 | place->where};
	uint64_t key = bt_hash_bytes(words, sizeof(words)) | 1;
	uint32_t ix;

	while (bt_map_get(ixs, key, &ix) && !is_same_place(&places->items[ix], place)) {
		key += 2;
	}
	if (!bt_map_get(ixs, key, &ix)) {
		ix = (uint32_t)places->n;
		places->items = bt_mem_grow(places->items, places->n, &places->cap, sizeof(*places->items));
		places->items[places->n++] = *place;
		bt_map_put(ixs, key, ix);
	}
	places->items[ix].pod_n++;
}

static void collect(struct bt_engine *engine, struct places *out)
{
	const struct bt_ledger *ledger = bt_engine_cache(engine)->ledger;
	struct bt_map ixs = {0};

	for (uint32_t i = 0; i < bt_ledger_pod_end(ledger); i++) {
		const struct bt_pod *pod = bt_ledger_pod(ledger, i);
		const struct bt_queue_info info = bt_queue_info(bt_engine_queue(engine), i);
		struct queue_place place = {
			.example = i, .profile = pod->signature->scheduler_name, .where = info.where};

		if (pod->state != BT_POD_QUEUED || info.where == BT_WAIT_NOWHERE) {
			continue;
		}
		if (info.where == BT_WAIT_GATED) {
			place.plugins = bt_plugin_set_of((uint32_t)info.gate);
		} else if (info.where != BT_WAIT_ACTIVE) {
			place.plugins = info.unschedulable_plugins | info.pending;
		}
		queueing_count(out, &ixs, &place);
	}
	bt_map_fini(&ixs);
}

static int by_place(const void *a, const void *b)
{
	const struct queue_place *x = a, *y = b;

	if (x->where != y->where) {
		return x->where < y->where ? -1 : 1;
	}
	if (x->pod_n != y->pod_n) {
		return x->pod_n > y->pod_n ? -1 : 1;
	}
	return x->example < y->example ? -1 : x->example > y->example;
}

static void name_plugins(const struct queue_place *place, struct bt_buf *out)
{
	bt_buf_clear(out);
	for (bt_plugin_set rest = place->plugins; rest; rest = bt_plugin_set_rest(rest)) {
		bt_buf_printf(out, "%s%s", out->len ? ", " : "", bt_hints_name(bt_plugin_set_first(rest)));
	}
}

static void report_waiting(struct bt_emit *emit, struct bt_engine *engine, bool all)
{
	static const char *const names[BT_WAIT_N] = {[BT_WAIT_ACTIVE] = "active",
		[BT_WAIT_BACKOFF] = "backoff",
		[BT_WAIT_UNSCHEDULABLE] = "unschedulable",
		[BT_WAIT_GATED] = "gated",
		[BT_WAIT_IN_FLIGHT] = "in its cycle",
		[BT_WAIT_BINDING] = "being bound",
		[BT_WAIT_INCOMPLETE] = "PodGroup missing",
		[BT_WAIT_PENDING] = "PodGroup in its cycle"};
	struct places places = {0};
	struct bt_buf plugins = {0};

	collect(engine, &places);
	if (places.n == 0) {
		return;
	}
	qsort(places.items, places.n, sizeof(*places.items), by_place);
	bt_emit_begin_array(emit, "waiting");
	bt_emit_label(emit, "Pending pods by queue and plugin");
	size_t shown = bt_rows_shown(places.n, PLACES_MAX, all);
	for (size_t i = 0; i < shown; i++) {
		name_plugins(&places.items[i], &plugins);
		bt_emit_begin_object(emit, NULL);
		bt_emit_text(emit, "place", names[places.items[i].where]);
		bt_emit_str(emit, "plugins", bt_buf_view(&plugins));
		bt_emit_int(emit, "pods", (int64_t)places.items[i].pod_n);
		bt_emit_end(emit);
	}
	bt_emit_end(emit);
	bt_rows_more(emit, "more_waiting", "more queues and plugins, not shown (--all shows them)", places.n,
		shown);
	bt_mem_free(places.items);
	bt_buf_fini(&plugins);
}

/* ---- preemption ---- */

static void add_name(struct bt_engine *engine, const struct bt_report_victim *pod, struct bt_buf *out)
{
	const struct bt_intern *intern = bt_engine_cache(engine)->dictionary->intern;

	bt_buf_printf(out, "%.*s/%.*s", BT_STR_ARG(bt_intern_str(intern, pod->namespace_)),
		BT_STR_ARG(bt_intern_str(intern, pod->name)));
}

static void report_preemption(struct bt_emit *emit, struct bt_engine *engine,
	const struct bt_queueing_facts *facts, const struct bt_report_preemption *preemption)
{
	static const char *const ends[] = {
		"waits", "placed", "preemptor not scheduled on its nominated node"};
	const struct bt_cache *cache = bt_engine_cache(engine);
	uint32_t shown = (uint32_t)bt_rows_shown(preemption->victim_n, VICTIMS_MAX, facts->all);
	struct bt_buf text = {0};

	bt_emit_begin_object(emit, NULL);
	add_name(engine, &preemption->pod, &text);
	bt_emit_str(emit, "pod", bt_buf_view(&text));
	bt_emit_str(emit, "node", bt_intern_str(cache->dictionary->intern, preemption->node));
	bt_buf_clear(&text);
	for (uint32_t i = 0; i < shown; i++) {
		bt_buf_text(&text, i ? ", " : "");
		add_name(engine, &facts->victims[preemption->first_victim + i], &text);
	}
	if (preemption->victim_n > shown) {
		bt_buf_printf(&text, " and %u more", preemption->victim_n - shown);
	}
	bt_emit_int(emit, "victims", preemption->victim_n);
	bt_emit_str(emit, "victim_names", bt_buf_view(&text));
	bt_emit_label(emit, "victim names");
	bt_emit_real(emit, "at_s", seconds(preemption->at_ns - facts->begin_ns), 0);
	bt_emit_label(emit, "at s");
	bt_emit_text(emit, "outcome", ends[preemption->end]);
	if (preemption->end == BT_PREEMPTION_PLACED) {
		bt_emit_real(emit, "placed_s", seconds(preemption->end_ns - facts->begin_ns), 0);
	} else {
		bt_emit_null(emit, "placed_s");
	}
	bt_emit_label(emit, "placed at s");
	bt_emit_end(emit);
	bt_buf_fini(&text);
}

static void report_preemptions(
	struct bt_emit *emit, struct bt_engine *engine, const struct bt_queueing_facts *facts)
{
	uint64_t ends[BT_PREEMPTION_UNUSED + 1] = {0};

	for (size_t i = 0; i < facts->preemption_n; i++) {
		ends[facts->preemptions[i].end]++;
	}
	bt_emit_begin_object(emit, "preemption");
	if (facts->preemption_n == 0) {
		bt_emit_hide(emit);
	}
	add_int(emit, "preemptors", facts->preemptor_n, "pods that preempted others");
	add_int(emit, "victims", facts->evicted_n, "preempted victims");
	add_int(emit, "placed", ends[BT_PREEMPTION_PLACED],
		"preemptions after which the pod was placed there");
	add_int(emit, "in_vain", ends[BT_PREEMPTION_UNUSED],
		"  preemptor not scheduled on its nominated node");
	add_int(emit, "waiting", ends[BT_PREEMPTION_WAITS], "  not over yet");
	bt_emit_end(emit);
	if (facts->preemption_n == 0) {
		return;
	}
	bt_emit_begin_array(emit, "preemptions");
	bt_emit_label(emit, "preemptions, in virtual time");
	size_t shown = bt_rows_shown(facts->preemption_n, PREEMPTIONS_MAX, facts->all);
	for (size_t i = 0; i < shown; i++) {
		report_preemption(emit, engine, facts, &facts->preemptions[i]);
	}
	bt_emit_end(emit);
	bt_rows_more(emit, "more_preemptions", "more preemptions, not shown (--all shows them)",
		facts->preemption_n, shown);
}

void bt_report_queueing(struct bt_emit *emit, struct bt_engine *engine, const struct bt_queueing_facts *facts)
{
	report_queue(emit, engine, facts);
	report_waiting(emit, engine, facts->all);
	report_preemptions(emit, engine, facts);
}
