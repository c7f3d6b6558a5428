/* SPDX-License-Identifier: Apache-2.0
 * Running a simulation.
 */
#include "tools/simulate/run.h"

#include <string.h>

#include "tools/cli/interrupt.h"
#include "tools/simulate/run_int.h"

#define NS_PER_S INT64_C(1000000000)

/* ---- pods that go ---- */

int64_t bt_run_grace_ns(const struct bt_run *run, uint32_t pod_ix)
{
	uint32_t grace_s = BT_GRACE_S;

	bt_map_get(run->graces, (uint64_t)pod_ix + 1, &grace_s);
	return grace_s * NS_PER_S;
}

static void evict(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	struct bt_run *run = context;

	(void)for_ix;
	bt_engine_evict(engine, pod_ix);
	bt_ends_add(&run->ends, pod_ix, bt_later(run->now_ns, bt_run_grace_ns(run, pod_ix)));
	run->tally.evicted_n++;
	bt_decision_log_evict(&run->decisions, pod_ix);
	if (run->api) {
		bt_api_log_evict(run->api, pod_ix);
	}
}

struct bt_evictor bt_run_evictor(struct bt_run *run)
{
	return (struct bt_evictor){evict, run};
}

/* A pod is gone. */
static void leave(struct bt_run *run, uint32_t pod_ix)
{
	if (bt_run_pod(run, pod_ix)->state == BT_POD_QUEUED) {
		bt_tally_leave(&run->tally, pod_ix);
	} else {
		bt_run_use(run, pod_ix, -1);
	}
	if (run->api) {
		bt_api_log_forget(run->api, pod_ix);
	}
	bt_decision_log_delete(&run->decisions, pod_ix);
	bt_ends_drop(&run->ends, pod_ix);
	bt_replay_left(&run->replay, pod_ix);
	bt_recording_remove(run->recording, run->engine, pod_ix);
	bt_engine_remove_pod(run->engine, pod_ix);
}

/* Those whose end has come. */
static void end_pods(struct bt_run *run)
{
	uint32_t pod_ix;

	while ((pod_ix = bt_ends_take(&run->ends, run->now_ns)) != BT_NO_POD) {
		leave(run, pod_ix);
	}
}

/* Time goes on to now_ns: what was used until then is counted. */
static void pass_time(struct bt_run *run, int64_t now_ns)
{
	double lasted_s = (double)(now_ns - run->now_ns) / NS_PER_S;

	for (int i = 0; i <= BT_RESOURCE_MAX; i++) {
		struct bt_run_use *u = &run->uses[i];

		u->peak = u->now > u->peak ? u->now : u->peak;
		u->second_sum += u->now * lasted_s;
	}
	run->now_ns = now_ns;
	bt_recording_time(run->recording, now_ns, BT_TIME_SET);
}

/* ---- decisions ---- */

static bool stops(const struct bt_run *run)
{
	return bt_interrupt_pending() || (run->decisions.output && bt_output_failed(run->decisions.output)) ||
	       (run->api && bt_output_failed(run->api->output));
}

/* A pod that was promised a node has its next turns before all others: when those that leave have gone. */
static void see_through(struct bt_run *run, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_run_pod(run, pod_ix);

	while (!stops(run) && pod->state == BT_POD_QUEUED && pod->nominated_ix != BT_NO_NODE &&
		bt_ends_next(&run->ends) <= run->until_ns) {
		pass_time(run, bt_ends_next(&run->ends));
		end_pods(run);
		if (bt_ends_count(&run->ends) == 0 && bt_engine_take(run->engine, pod_ix) == BT_OK) {
			bt_recording_taken(run->recording, pod_ix);
			bt_turn_take(&run->turn, pod_ix);
		}
	}
}

/* Decides as long as there is a pod that can be decided now. */
static void decide_all(struct bt_run *run)
{
	uint32_t pod_ix;

	for (;;) {
		end_pods(run);
		if (stops(run) || (pod_ix = bt_engine_pop(run->engine)) == BT_NO_POD) {
			break;
		}
		bt_turn_take(&run->turn, pod_ix);
		if (run->one_by_one && bt_ends_count(&run->ends)) {
			see_through(run, pod_ix);
		}
		bt_progress_update(run->progress, run->progress->done + 1);
	}
}

/* ---- time ---- */

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Notes whether the cluster is another one than when this was called before. */
static void note_change(struct bt_run *run)
{
	const struct bt_cache *cache = bt_engine_cache(run->engine);
	const struct bt_state now = {cache->view.usage->journal_end, cache->view.snapshot->version,
		bt_ledger_change_n(cache->ledger), cache->view.storage->version,
		cache->view.devices->version};

	if (memcmp(&now, &run->state, sizeof(now)) != 0) {
		run->state = now;
		run->changed_ns = run->now_ns;
	}
}

/*
 * When pods that have waited for too long are let back, if that is by limit_ns; else INT64_MAX. Only those
 * are thought of that were refused before something changed, unless the user says how long to go on.
 */
static int64_t next_flush(struct bt_run *run, int64_t limit_ns)
{
	int64_t by_ns = run->until_ns == INT64_MAX ? run->changed_ns : INT64_MAX;

	/* Looking at every pod is worth it only when the one that waits the longest may be due. */
	if (limit_ns == INT64_MAX || limit_ns - run->refused_ns <= BT_QUEUE_MAX_UNSCHEDULABLE) {
		return INT64_MAX;
	}
	run->refused_ns = earlier(run->now_ns, bt_queue_oldest(bt_engine_queue(run->engine), INT64_MAX));
	int64_t flush = bt_engine_next_flush_ns(run->engine, by_ns);
	return flush <= limit_ns ? flush : INT64_MAX;
}

/* The next moment, or INT64_MAX. */
static int64_t next_moment(struct bt_run *run)
{
	int64_t next = earlier(bt_ends_next(&run->ends), bt_replay_next(&run->replay));

	next = earlier(next, bt_engine_next_backoff_ns(run->engine));
	next = earlier(next, next_flush(run, earlier(next, run->until_ns)));
	return next <= run->until_ns ? next : INT64_MAX;
}

static void arrive(struct bt_run *run)
{
	const struct bt_pod_object *object;
	enum bt_entry entry;
	uint32_t pod_ix;

	while ((object = bt_replay_arrival(&run->replay, run->now_ns))) {
		bt_recording_pod(run->recording, object);
		if (bt_engine_add_pod(run->engine, object, &entry, &pod_ix) == BT_OK && pod_ix != BT_NO_POD) {
			bt_replay_entered(&run->replay, pod_ix);
		}
	}
}

/* What time brings by itself, then who leaves, then who comes. */
static void happen(struct bt_run *run)
{
	uint32_t pod_ix;

	bt_recording_time(run->recording, run->now_ns, BT_TIME_TICK);
	bt_engine_tick(run->engine);
	while ((pod_ix = bt_replay_departure(&run->replay, run->now_ns)) != BT_NO_POD) {
		run->deleted_n++;
		run->deleted_waiting_n += bt_run_pod(run, pod_ix)->state == BT_POD_QUEUED;
		leave(run, pod_ix);
	}
	end_pods(run);
	arrive(run);
}

/* Nobody has to wait longer for what has been written than for what comes next. */
static bool wait_until(struct bt_run *run, int64_t moment_ns)
{
	if (run->speed > 0 && run->decisions.output) {
		bt_output_flush(run->decisions.output);
	}
	if (run->speed > 0 && run->api) {
		bt_output_flush(run->api->output);
	}
	return bt_pace_wait(&run->pace, moment_ns);
}

static void idle(void *context)
{
	const struct bt_run *run = context;

	bt_progress_look(run->progress);
}

static void begin(struct bt_run *run)
{
	run->tally.engine = run->decisions.engine = run->engine;
	run->turn = bt_run_turns(run);
	if (run->trace) {
		bt_replay_init(&run->replay, run->trace);
		if (bt_replay_next(&run->replay) != INT64_MAX) {
			run->now_ns = earlier(bt_replay_next(&run->replay), run->until_ns);
		}
	}
	run->begin_ns = run->changed_ns = run->refused_ns = run->now_ns;
	bt_recording_time(run->recording, run->now_ns, BT_TIME_START);
	bt_engine_start(run->engine);
	bt_pace_begin(&run->pace, run->speed, run->begin_ns);
	run->pace.idle = idle;
	run->pace.context = run;
}

void bt_run(struct bt_run *run)
{
	int64_t moment;

	begin(run);
	decide_all(run);
	note_change(run);
	while (!stops(run) && (moment = next_moment(run)) != INT64_MAX && wait_until(run, moment)) {
		pass_time(run, moment);
		happen(run);
		decide_all(run);
		note_change(run);
	}
	if (run->until_ns != INT64_MAX && !stops(run) && wait_until(run, run->until_ns)) {
		pass_time(run, run->until_ns);
	}
	pass_time(run, run->now_ns);
	bt_tally_end(&run->tally);
}

void bt_run_fini(struct bt_run *run)
{
	bt_decision_log_fini(&run->decisions);
	bt_turn_fini(&run->turn);
	bt_tally_fini(&run->tally);
	bt_replay_fini(&run->replay);
	bt_ends_fini(&run->ends);
}
