/* SPDX-License-Identifier: Apache-2.0
 * Running a simulation.
 */
#include "tools/offline/simulate/run.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/cli/interrupt.h"
#include "tools/offline/simulate/run_int.h"

#define NS_PER_S INT64_C(1000000000)
#define TURNS	 64   /* per step */
#define EVENTS	 1024 /* per step */

/* ---- deleted pods ---- */

/* The grace period of a pod. */
static int64_t pod_grace_ns(const struct bt_simulate_run *run, uint32_t pod_ix)
{
	uint32_t grace_s = BT_GRACE_S;

	bt_map_get(run->graces, (uint64_t)pod_ix + 1, &grace_s);
	return grace_s * NS_PER_S;
}

void bt_simulate_run_expect_ends(struct bt_simulate_run *run, const struct bt_intake *intake)
{
	BT_REQUIRE(run->graces);
	for (size_t i = 0; i < intake->leaver_n; i++) {
		const struct bt_leaver *leaver = &intake->leavers[i];
		int64_t end_ns = bt_later(run->now_ns, pod_grace_ns(run, leaver->pod_ix));

		bt_terminations_add(&run->ends, leaver->pod_ix,
			leaver->deletion_ns > run->now_ns ? leaver->deletion_ns : end_ns);
	}
}

/* The pod terminates for its grace period. */
static void terminate(struct bt_simulate_run *run, uint32_t pod_ix)
{
	if (run->taint_evictions) {
		bt_taint_evictions_drop(run->taint_evictions, pod_ix);
	}
	bt_engine_evict(run->engine, pod_ix);
	bt_terminations_add(&run->ends, pod_ix, bt_later(run->now_ns, pod_grace_ns(run, pod_ix)));
}

static void evict(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	struct bt_simulate_run *run = context;

	(void)engine;
	if (run->evicting) {
		run->evicting(run->context, pod_ix, for_ix);
	}
	terminate(run, pod_ix);
	run->tally.evicted_n++;
	bt_decision_log_evict(&run->decisions, pod_ix);
	if (run->api) {
		bt_api_log_evict(run->api, pod_ix);
	}
}

/* Evicts pods whose nodes' taints they do not tolerate any longer. */
static void evict_by_taints(struct bt_simulate_run *run)
{
	uint32_t pod_ix;

	while (run->taint_evictions &&
		(pod_ix = bt_taint_evictions_take(run->taint_evictions, run->now_ns)) != BT_NO_POD) {
		if (run->api) {
			bt_api_log_taint_evicted(run->api, pod_ix);
		}
		terminate(run, pod_ix);
		run->taint_evicted_n++;
	}
}

struct bt_evictor bt_simulate_run_evictor(struct bt_simulate_run *run)
{
	return (struct bt_evictor){evict, run};
}

static void grow(uint32_t **table, size_t *n, size_t ix)
{
	while (ix >= *n) {
		size_t old = *n;

		*table = bt_mem_grow(*table, old, n, sizeof(**table));
		memset(*table + old, 0, (*n - old) * sizeof(**table));
	}
}

/* A pod of the trace was added. */
static void arrive(struct bt_simulate_run *run, uint64_t number, uint32_t pod_ix)
{
	grow(&run->visitors, &run->visitor_n, number);
	grow(&run->numbers, &run->number_n, pod_ix);
	run->visitors[number] = pod_ix + 1;
	run->numbers[pod_ix] = (uint32_t)number + 1;
}

/* The pod with this number in the trace, if it exists. */
static uint32_t visitor(const struct bt_simulate_run *run, uint64_t number)
{
	return number < run->visitor_n && run->visitors[number] ? run->visitors[number] - 1 : BT_NO_POD;
}

/* A pod will be deleted. */
static void part_with(struct bt_simulate_run *run, uint32_t pod_ix)
{
	if (bt_simulate_run_pod(run, pod_ix)->state == BT_POD_QUEUED) {
		bt_simulate_tally_leave(&run->tally, pod_ix);
	} else {
		bt_simulate_run_use(run, pod_ix, -1);
	}
	if (run->api) {
		bt_api_log_forget(run->api, pod_ix);
	}
	bt_decision_log_delete(&run->decisions, pod_ix);
	bt_terminations_drop(&run->ends, pod_ix);
	if (run->taint_evictions) {
		bt_taint_evictions_drop(run->taint_evictions, pod_ix);
	}
	if (pod_ix < run->number_n && run->numbers[pod_ix]) {
		run->visitors[run->numbers[pod_ix] - 1] = 0;
		run->numbers[pod_ix] = 0;
	}
}

void bt_simulate_run_delete(struct bt_simulate_run *run, uint32_t pod_ix)
{
	part_with(run, pod_ix);
	bt_pipeline_remove_pod(run->pipeline, pod_ix);
}

/* Evicts and deletes the pods whose time has come. */
static void end_pods(struct bt_simulate_run *run)
{
	uint32_t pod_ix;

	evict_by_taints(run);
	while ((pod_ix = bt_terminations_take(&run->ends, run->now_ns)) != BT_NO_POD) {
		bt_simulate_run_delete(run, pod_ix);
	}
}

static void count_use(struct bt_simulate_run_use *use, double lasted_s)
{
	use->peak = use->now > use->peak ? use->now : use->peak;
	use->second_sum += use->now * lasted_s;
}

/* Advances time to now_ns: integrates the usage until then. */
static void pass_time(struct bt_simulate_run *run, int64_t now_ns)
{
	double lasted_s = (double)(now_ns - run->now_ns) / NS_PER_S;
	int resource_n = bt_resource_count(bt_engine_cache(run->engine)->dictionary);

	for (int i = 0; i < resource_n && i < BT_FIRST_RARE; i++) {
		count_use(&run->uses[i], lasted_s);
	}
	count_use(&run->uses[BT_FIRST_RARE], lasted_s);
	run->now_ns = now_ns;
	bt_store_relaxed(&run->seen_ns, now_ns - run->begin_ns);
	bt_pipeline_set_time(run->pipeline, now_ns, BT_TIME_SET);
}

/* ---- decisions ---- */

static bool stops(const struct bt_simulate_run *run)
{
	return bt_interrupt_pending() || (run->decisions.output && bt_output_failed(run->decisions.output)) ||
	       (run->api && run->api->output && bt_output_failed(run->api->output));
}

/* A nominated pod's next cycles come before all others, after its victims are deleted. */
static void see_through(struct bt_simulate_run *run, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_simulate_run_pod(run, pod_ix);

	while (!stops(run) && pod->state == BT_POD_QUEUED && pod->nominated_ix != BT_NO_NODE &&
		bt_terminations_next(&run->ends) <= run->until_ns) {
		pass_time(run, bt_terminations_next(&run->ends));
		end_pods(run);
		if (bt_terminations_count(&run->ends) == 0) {
			bt_pipeline_schedule_pod(run->pipeline, pod_ix);
		}
	}
}

/* ---- time ---- */

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Records whether the cluster has changed since the last call. */
static void note_change(struct bt_simulate_run *run)
{
	const struct bt_cache *cache = bt_engine_cache(run->engine);
	const struct bt_state now = {cache->view.usage->journal_end, cache->view.snapshot->version,
		bt_ledger_change_n(cache->ledger), cache->view.storage->version,
		cache->view.devices->version};

	if (memcmp(&now, &run->rest, sizeof(now)) != 0) {
		run->rest = now;
		run->changed_ns = run->now_ns;
	}
}

/*
 * The next flush that requeues a pod, if it is not after limit_ns; else INT64_MAX. Without a stop time only
 * pods refused before the last change count.
 */
static int64_t next_flush(struct bt_simulate_run *run, int64_t limit_ns)
{
	int64_t by_ns = run->until_ns == INT64_MAX ? run->changed_ns : INT64_MAX;

	/* Scans all pods only when the longest waiting one may be due. */
	if (limit_ns == INT64_MAX || limit_ns - run->refused_ns <= BT_QUEUE_MAX_UNSCHEDULABLE) {
		return INT64_MAX;
	}
	run->refused_ns = earlier(run->now_ns, bt_queue_oldest(bt_engine_queue(run->engine), INT64_MAX));
	int64_t flush = bt_engine_next_flush_ns(run->engine, by_ns);
	return flush <= limit_ns ? flush : INT64_MAX;
}

/* Is a pod in backoff that was refused before the last change? Scans all pods. */
static bool backs_off_from_the_past(const struct bt_simulate_run *run)
{
	const struct bt_ledger *ledger = bt_engine_cache(run->engine)->ledger;
	const struct bt_queue *queue = bt_engine_queue(run->engine);

	for (uint32_t i = 0; i < bt_ledger_pod_end(ledger); i++) {
		if (bt_ledger_pod(ledger, i)->state == BT_POD_QUEUED) {
			const struct bt_queue_info info = bt_queue_info(queue, i);

			if (info.where == BT_WAIT_BACKOFF && info.timestamp_ns <= run->changed_ns) {
				return true;
			}
		}
	}
	return false;
}

/*
 * The end of the next backoff, or INT64_MAX if it does not count: a pod that failed with an error, or for
 * lack of nodes, would be retried forever. It counts if more events are pending, with a stop time, or if the
 * cluster has changed since the pod was refused.
 */
static int64_t next_backoff(const struct bt_simulate_run *run, bool has_future_event)
{
	int64_t next = bt_engine_next_backoff_ns(run->engine);
	bool counts = has_future_event || run->until_ns != INT64_MAX || next == INT64_MAX;

	return counts || backs_off_from_the_past(run) ? next : INT64_MAX;
}

/*
 * The end of the next wait at Permit. A gang that does not fit would wait forever: without pending events and
 * without a stop time, only waits count that began within one wait's duration after a pod was bound.
 */
static int64_t next_wait_end(struct bt_simulate_run *run, bool has_future_event)
{
	int64_t next = bt_engine_next_wait_end_ns(run->engine, INT64_MAX);

	if (next == INT64_MAX || has_future_event || run->until_ns != INT64_MAX) {
		return next;
	}
	uint64_t bound_n = bt_engine_counts(run->engine).placed_n;

	if (!run->bound_ns || bound_n != run->bound_n) {
		run->bound_n = bound_n;
		run->bound_ns = run->now_ns;
	}
	return bt_engine_next_wait_end_ns(run->engine, bt_later(run->bound_ns, BT_QUEUE_MAX_UNSCHEDULABLE));
}

/* ---- events ---- */

/* The next event. Returns: NULL: unknown, or, with run->ended, no more events. */
static const struct bt_watch_event *next_event(struct bt_simulate_run *run)
{
	const struct bt_watch_event *next = run->ended ? NULL : bt_pipeline_next_event(run->pipeline);
	struct bt_watch_event *watch_event;
	struct bt_taken taken;

	if (next && next->kind == BT_WATCH_EVENT_SYNCED) {
		(void)bt_pipeline_take_event(
			run->pipeline, &watch_event, &taken); /* an event without effect */
		bt_pipeline_end_event(run->pipeline, watch_event);
		run->ended = true;
		return NULL;
	}
	return next;
}

/* Deletes a pod, if it still exists. */
static void let_go(struct bt_simulate_run *run, uint64_t number)
{
	uint32_t pod_ix = visitor(run, number);
	struct bt_watch_event *watch_event;
	struct bt_taken taken;

	if (pod_ix == BT_NO_POD) {
		bt_pipeline_drop_event(run->pipeline);
		return;
	}
	run->deleted_n++;
	run->deleted_waiting_n += bt_simulate_run_pod(run, pod_ix)->state == BT_POD_QUEUED;
	part_with(run, pod_ix);
	(void)bt_pipeline_take_event(run->pipeline, &watch_event, &taken); /* it exists */
	bt_pipeline_end_event(run->pipeline, watch_event);
}

/* Adds a pod, unless its name is used. */
static void admit_event(struct bt_simulate_run *run, const struct bt_watch_event *next)
{
	const struct bt_meta_object *meta = &next->object.meta;
	uint64_t number = next->tag - 1;
	struct bt_watch_event *watch_event;
	struct bt_taken taken;

	if (bt_engine_find_pod(run->engine, meta->namespace_, meta->name) != BT_NO_POD) {
		bt_pipeline_drop_event(run->pipeline);
		return;
	}
	if (bt_pipeline_take_event(run->pipeline, &watch_event, &taken) == BT_OK && taken.ix != BT_NO_POD) {
		if (run->taint_evictions) {
			bt_taint_evictions_pod(run->taint_evictions, taken.ix, &watch_event->object.pod);
		}
		arrive(run, number, taken.ix);
	}
	bt_pipeline_end_event(run->pipeline, watch_event);
}

/* ---- steps ---- */

/* Applies the initial objects. */
static bool load(struct bt_simulate_run *run)
{
	struct bt_watch_event *watch_event;
	struct bt_taken taken;
	int n = 0;

	for (; n < EVENTS && bt_pipeline_next_event(run->pipeline); n++) {
		enum bt_status status = bt_pipeline_take_event(run->pipeline, &watch_event, &taken);

		bt_intake_note(run->intake, &watch_event->object, status, &taken);
		bt_pipeline_end_event(run->pipeline, watch_event);
	}
	return n > 0;
}

static bool finish(struct bt_simulate_run *run)
{
	pass_time(run, run->now_ns);
	bt_simulate_tally_end(&run->tally);
	run->state = BT_RUN_OVER;
	bt_store_release(&run->over, 1u); /* EDGE run.over release: publishes the counts to waiting threads */
	bt_eventcount_wake(&run->park);
	return true;
}

/* Decides while there are active pods. */
static bool decide(struct bt_simulate_run *run)
{
	uint32_t pod_ix;

	for (int n = 0; n < TURNS; n++) {
		end_pods(run);
		if (stops(run)) {
			return finish(run);
		}
		enum bt_pipeline_cycle turn = bt_pipeline_schedule_one(run->pipeline, &pod_ix);
		if (turn == BT_SCHEDULING_CYCLE_LATER) {
			return n > 0;
		}
		if (turn == BT_SCHEDULING_CYCLE_NONE) {
			note_change(run);
			run->state = BT_RUN_IDLE;
			run->next_ns = 0;
			return true;
		}
		if (run->one_by_one && bt_terminations_count(&run->ends)) {
			see_through(run, pod_ix);
		}
		bt_add_owned(&run->turn_n, 1u);
	}
	return true;
}

/* The next event's time, or INT64_MAX. */
static int64_t next_moment(struct bt_simulate_run *run, const struct bt_watch_event *event)
{
	int64_t next = earlier(bt_terminations_next(&run->ends), event ? event->at_ns : INT64_MAX);

	next = earlier(
		next, run->taint_evictions ? bt_taint_evictions_next(run->taint_evictions) : INT64_MAX);
	next = earlier(
		earlier(next, next_wait_end(run, next != INT64_MAX)), next_backoff(run, next != INT64_MAX));
	next = earlier(next, next_flush(run, earlier(next, run->until_ns)));
	return next <= run->until_ns ? next : INT64_MAX;
}

/* Flushes output before sleeping, for its readers. */
static void show_logs(struct bt_simulate_run *run)
{
	if (run->decisions.output) {
		bt_output_flush(run->decisions.output);
	}
	if (run->api && run->api->output) {
		bt_output_flush(run->api->output);
	}
}

/* No pod can be scheduled until the next time, which is reached when no earlier event is possible. */
static bool rest(struct bt_simulate_run *run)
{
	const struct bt_watch_event *event = next_event(run);

	if (stops(run)) {
		return finish(run);
	}
	if (!event && !run->ended) {
		return false;
	}
	if (run->next_ns == 0) {
		run->next_ns = next_moment(run, event);
		run->is_last = run->next_ns == INT64_MAX;
		run->next_ns = run->is_last ? run->until_ns : run->next_ns;
	}
	if (run->next_ns == INT64_MAX) {
		return finish(run);
	}
	if (bt_simulate_run_sleep_ns(run) > 0) {
		show_logs(run);
		return false;
	}
	pass_time(run, run->next_ns);
	if (run->is_last) {
		return finish(run);
	}
	/* First timers, then deletions, then additions. */
	bt_pipeline_set_time(run->pipeline, run->now_ns, BT_TIME_TICK);
	run->state = BT_RUN_PARTS;
	return true;
}

/* Takes the events of one kind that are due. Returns: false when it is unknown whether there are
 * more. */
static bool take_events(struct bt_simulate_run *run, enum bt_watch_event_kind kind)
{
	const struct bt_watch_event *event;

	while ((event = next_event(run)) && event->kind == kind && event->at_ns <= run->now_ns) {
		if (kind == BT_WATCH_EVENT_DELETE) {
			let_go(run, event->tag - 1);
		} else {
			admit_event(run, event);
		}
	}
	return event || run->ended;
}

static bool part(struct bt_simulate_run *run)
{
	if (!take_events(run, BT_WATCH_EVENT_DELETE)) {
		return false;
	}
	end_pods(run);
	run->state = BT_RUN_COMES;
	return true;
}

static bool come(struct bt_simulate_run *run)
{
	if (!take_events(run, BT_WATCH_EVENT_APPLY)) {
		return false;
	}
	run->state = BT_RUN_DECIDES;
	return true;
}

/* Late events. */
static bool empty(struct bt_simulate_run *run)
{
	bool any = false;

	while (next_event(run)) {
		bt_pipeline_drop_event(run->pipeline);
		any = true;
	}
	return any;
}

static bool step(void *context, struct bt_pipeline *pipeline)
{
	struct bt_simulate_run *run = context;

	(void)pipeline;
	switch (run->state) {
	case BT_RUN_LOADS:
		return load(run);
	case BT_RUN_DECIDES:
		return decide(run);
	case BT_RUN_IDLE:
		return rest(run);
	case BT_RUN_PARTS:
		return part(run);
	case BT_RUN_COMES:
		return come(run);
	case BT_RUN_OVER:
		break;
	}
	return empty(run);
}

/* ---- interface ---- */

static int64_t sleep_ns(void *context)
{
	const struct bt_simulate_run *run = context;

	return run->state == BT_RUN_IDLE && run->next_ns > 0 ? bt_simulate_run_sleep_ns(run) : INT64_MAX;
}

static bool is_over(void *context)
{
	return bt_simulate_run_is_over(context);
}

struct bt_pipeline_step_driver bt_run_step_driver(struct bt_simulate_run *run)
{
	return (struct bt_pipeline_step_driver){step, sleep_ns, is_over, run};
}

/* NoExecute taints may evict pods that the input has bound. */
static void watch_bound_pods(struct bt_simulate_run *run)
{
	const struct bt_ledger *ledger = bt_engine_cache(run->engine)->ledger;

	for (uint32_t i = 0; run->taint_evictions && i < bt_ledger_pod_end(ledger); i++) {
		const struct bt_pod *pod = bt_ledger_pod(ledger, i);

		if (pod->state == BT_POD_SCHEDULED && !bt_terminations_has(&run->ends, i)) {
			bt_simulate_run_watch_taints(run, i, pod->start_ns);
		}
	}
}

void bt_simulate_run_begin(struct bt_simulate_run *run)
{
	run->tally.engine = run->decisions.engine = run->engine;
	run->ended = !run->comes_and_goes;
	run->begin_ns = run->changed_ns = run->refused_ns = run->now_ns;
	bt_pipeline_set_time(run->pipeline, run->now_ns, BT_TIME_START);
	bt_pace_begin(&run->pace, run->speed, run->begin_ns);
	watch_bound_pods(run);
	run->state = BT_RUN_DECIDES;
}

void bt_simulate_run_resume(struct bt_simulate_run *run)
{
	BT_REQUIRE(run->state == BT_RUN_OVER);
	run->state = BT_RUN_DECIDES;
	run->next_ns = 0;
	bt_store_release(&run->over, 0u); /* EDGE run.over release: no other thread waits for it here */
}

bool bt_simulate_run_is_over(const struct bt_simulate_run *run)
{
	return bt_load_acquire(&run->over); /* EDGE run.over acquire */
}

int64_t bt_simulate_run_sleep_ns(const struct bt_simulate_run *run)
{
	return run->next_ns > 0 && run->next_ns < INT64_MAX ? bt_pace_left(&run->pace, run->next_ns) : 0;
}

void bt_simulate_run_init(struct bt_simulate_run *run)
{
	bt_eventcount_init(&run->park);
}

void bt_simulate_run_fini(struct bt_simulate_run *run)
{
	bt_decision_log_fini(&run->decisions);
	bt_simulate_tally_fini(&run->tally);
	bt_mem_free(run->visitors);
	bt_mem_free(run->numbers);
	bt_terminations_fini(&run->ends);
}
