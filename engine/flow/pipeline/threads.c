/* SPDX-License-Identifier: Apache-2.0
 * The pipeline's threads: each repeats one step, sleeps while that has no work, and ends on request.
 *
 * Shutdown follows the data: a draining thread ends when its predecessors have ended and its input is empty.
 * A producer that waits for room behind an ending thread returns, because its ring is abandoned.
 */
#include <stdio.h>

#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/testpoint.h"
#include "engine/flow/pipeline/pipeline_int.h"

#define SPINS	     64		       /* polls for work before a thread sleeps */
#define SLEEP_NS     INT64_C(50000000) /* the longest sleep, so that a change without a wake-up is noticed */
#define END_SLEEP_NS INT64_C(1000000)

/* ---- the threads ---- */

static bool publish_step(struct bt_pipeline *p, uint32_t ix)
{
	(void)ix;
	return bt_pipeline_publish_step(p);
}

static bool schedule_step(struct bt_pipeline *p, uint32_t ix)
{
	(void)ix;
	return bt_pipeline_schedule_step(p);
}

static enum bt_pipeline_thread_state state_of(const struct bt_stage_thread *stage)
{
	return (enum bt_pipeline_thread_state)bt_load_acquire(&stage->state); /* EDGE stage.ended acquire */
}

static struct bt_stage_thread *publisher(const struct bt_pipeline *p)
{
	return &p->stage_threads[p->limits.ingest_threads];
}

static struct bt_stage_thread *scheduler(const struct bt_pipeline *p)
{
	return publisher(p) + 1;
}

static bool ingest_over(struct bt_pipeline *p, uint32_t ix)
{
	for (uint32_t i = 0; i < p->limits.sources; i++) {
		if (bt_ring_count(&p->sources[i].feeds[ix])) {
			return false;
		}
	}
	return true;
}

static bool publish_over(struct bt_pipeline *p, uint32_t ix)
{
	(void)ix;
	for (uint32_t j = 0; j < p->limits.ingest_threads; j++) {
		if (state_of(&p->stage_threads[j]) != BT_THREAD_ENDED) {
			return false;
		}
	}
	for (uint32_t i = 0; i < p->limits.sources; i++) {
		struct bt_source_queues *queues = &p->sources[i];

		if (bt_ring_count(&queues->deltas[bt_pipeline_ingest_of(p, queues->published_n)])) {
			return false;
		}
	}
	return true;
}

static bool schedule_over(struct bt_pipeline *p, uint32_t ix)
{
	const struct bt_pipeline_step_driver *step_driver = &p->options.step_driver;

	(void)ix;
	return state_of(publisher(p)) == BT_THREAD_ENDED && bt_ring_count(&p->inbox) == 0 &&
	       p->bind_requests.outgoing.first == BT_NO_BIND_REQUEST &&
	       bt_load_relaxed(&p->bind_requests.open_n) == 0 && bt_pipeline_decisions_have_room(p) &&
	       (!step_driver->step ||
		       (p->ahead_first == p->ahead_n && step_driver->is_over(step_driver->context)));
}

static bool bind_over(struct bt_pipeline *p, uint32_t ix)
{
	return state_of(scheduler(p)) == BT_THREAD_ENDED && bt_ring_count(&p->binders[ix].bind_requests) == 0;
}

static void name(struct bt_stage_thread *stage, const char *what, uint32_t ix, uint32_t n)
{
	if (n > 1) {
		snprintf(stage->name, sizeof(stage->name), "%s-%u", what, ix % 1000);
	} else {
		snprintf(stage->name, sizeof(stage->name), "%s", what);
	}
}

void bt_stage_threads_init(struct bt_pipeline *p)
{
	const struct bt_limits *limits = &p->limits;
	struct bt_stage_thread *stage;

	p->stage_thread_n = limits->ingest_threads + limits->bind_threads + 2;
	stage = p->stage_threads = bt_mem_column(p->stage_thread_n, sizeof(*p->stage_threads));
	for (uint32_t j = 0; j < limits->ingest_threads; j++, stage++) {
		*stage = (struct bt_stage_thread){
			.step = bt_pipeline_ingest_step, .over = ingest_over, .ix = j};
		stage->park = bt_pipeline_park(p, &p->ingests[j].park);
		name(stage, "ingest", j, limits->ingest_threads);
	}
	*stage = (struct bt_stage_thread){
		.step = publish_step, .over = publish_over, .park = bt_pipeline_park(p, &p->publish_park)};
	name(stage++, "publish", 0, 1);
	*stage = (struct bt_stage_thread){
		.step = schedule_step, .over = schedule_over, .park = &p->schedule_park};
	name(stage++, "schedule", 0, 1);
	for (uint32_t j = 0; j < limits->bind_threads; j++, stage++) {
		*stage = (struct bt_stage_thread){.step = bt_pipeline_bind_step, .over = bind_over, .ix = j};
		stage->park = bt_pipeline_park(p, &p->binders[j].park);
		name(stage, "bind", j, limits->bind_threads);
	}
	for (uint32_t i = 0; i < p->stage_thread_n; i++) {
		p->stage_threads[i].pipeline = p;
		p->stage_threads[i].stages = p->options.stages ? bt_stage_latency_create() : NULL;
	}
}

void bt_stage_threads_fini(struct bt_pipeline *p)
{
	for (uint32_t i = 0; p->stage_threads && i < p->stage_thread_n; i++) {
		bt_mem_free(p->stage_threads[i].stages);
	}
	bt_mem_free(p->stage_threads);
}

/* ---- thread main ---- */

static bool is_abandoned(const struct bt_pipeline *p)
{
	return bt_load_acquire(&p->ending) == BT_ENDING_ABANDON;
}

/* Should a thread whose step had no work end? */
static bool is_over(struct bt_stage_thread *stage)
{
	struct bt_pipeline *p = stage->pipeline;

	return is_abandoned(p) || (bt_load_acquire(&p->ending) && stage->over(p, stage->ix));
}

static bool work(struct bt_stage_thread *stage)
{
	bt_store_relaxed(&stage->began_ns, bt_clock_monotonic_ns());
	if (!stage->step(stage->pipeline, stage->ix)) {
		return false;
	}
	bt_add_owned(&stage->step_n, 1u);
	return true;
}

/* How long the thread may sleep. */
static int64_t sleep_of(const struct bt_stage_thread *stage)
{
	const struct bt_pipeline *p = stage->pipeline;

	if (stage != scheduler(p)) {
		return SLEEP_NS;
	}
	if (p->options.step_driver.step) {
		int64_t sleep_ns = p->options.step_driver.sleep_ns(p->options.step_driver.context);

		return sleep_ns < SLEEP_NS ? sleep_ns : SLEEP_NS;
	}
	int64_t next_ns = bt_pipeline_next_ns(p);
	if (next_ns > p->now_ns + SLEEP_NS) {
		return SLEEP_NS;
	}
	return next_ns > p->now_ns ? next_ns - p->now_ns : 1;
}

static void wait(struct bt_stage_thread *stage)
{
	uint32_t key;

	for (int i = 0; i < SPINS; i++) {
		if (stage->step(stage->pipeline, stage->ix)) {
			bt_add_owned(&stage->step_n, 1u);
			return;
		}
		bt_cpu_relax();
	}
	bt_store_relaxed(&stage->state, BT_THREAD_WAITS);
	key = bt_eventcount_prepare(stage->park);
	if (!work(stage) && !is_over(stage)) {
		bt_eventcount_wait(stage->park, key, sleep_of(stage));
	}
	bt_store_relaxed(&stage->state, BT_THREAD_WORKS);
}

static void wake_all(struct bt_pipeline *p)
{
	for (uint32_t i = 0; i < p->stage_thread_n; i++) {
		bt_eventcount_wake(p->stage_threads[i].park);
	}
	bt_eventcount_wake(&p->end_park);
}

/* Claims or releases the state that only this thread writes while it runs. */
static void each_owner(struct bt_stage_thread *stage, void (*act)(struct bt_owner *owner))
{
	struct bt_pipeline *p = stage->pipeline;

	if (stage == publisher(p)) {
		act(bt_publisher_owner(bt_engine_cache(p->engine)->publisher));
	} else if (stage == scheduler(p)) {
		bt_engine_each_owner(p->engine, act);
	}
}

/* Ends a thread: producers that wait for room in front of it return. */
static void leave(struct bt_stage_thread *stage)
{
	struct bt_pipeline *p = stage->pipeline;

	for (uint32_t i = 0; stage->step == bt_pipeline_ingest_step && i < p->limits.sources; i++) {
		bt_ring_abandon(&p->sources[i].feeds[stage->ix]);
	}
	if (stage == scheduler(p)) {
		bt_pipeline_receive(p);
		bt_ring_close(&p->decisions);
	}
	each_owner(stage, bt_owner_hand_over);
	/* EDGE stage.ended release: publishes the thread's writes. */
	bt_store_release(&stage->state, BT_THREAD_ENDED);
	wake_all(p);
}

static void run(void *context)
{
	struct bt_stage_thread *stage = context;

	each_owner(stage, bt_owner_claim);
	for (;;) {
		BT_TESTPOINT("threads.run");
		if (is_abandoned(stage->pipeline)) {
			break;
		}
		if (work(stage)) {
			continue;
		}
		if (is_over(stage)) {
			break;
		}
		wait(stage);
	}
	leave(stage);
}

/* ---- all steps on one thread ---- */

static bool all_ended(const struct bt_pipeline *p)
{
	for (uint32_t i = 0; i < p->stage_thread_n; i++) {
		enum bt_pipeline_thread_state state = state_of(&p->stage_threads[i]);

		if (state != BT_THREAD_NONE && state != BT_THREAD_ENDED) {
			return false;
		}
	}
	return true;
}

static void set_states(struct bt_pipeline *p, enum bt_pipeline_thread_state state)
{
	for (uint32_t i = 0; i < p->stage_thread_n; i++) {
		if (state_of(&p->stage_threads[i]) != BT_THREAD_ENDED) {
			bt_store_relaxed(&p->stage_threads[i].state, state);
		}
	}
}

/* Runs one step of each stage. Returns: whether any did work or has ended. */
static bool work_all(struct bt_pipeline *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->stage_thread_n; i++) {
		struct bt_stage_thread *stage = &p->stage_threads[i];

		if (state_of(stage) == BT_THREAD_ENDED) {
			continue;
		}
		if (!is_abandoned(p) && work(stage)) {
			any = true;
		} else if (is_over(stage)) {
			leave(stage);
			any = true;
		}
	}
	return any;
}

static void run_all(void *context)
{
	struct bt_pipeline *p = context;

	for (uint32_t i = 0; i < p->stage_thread_n; i++) {
		each_owner(&p->stage_threads[i], bt_owner_claim);
	}
	while (!all_ended(p)) {
		BT_TESTPOINT("threads.run");
		if (work_all(p)) {
			continue;
		}
		set_states(p, BT_THREAD_WAITS);
		uint32_t key = bt_eventcount_prepare(&p->schedule_park);

		if (!work_all(p)) {
			bt_eventcount_wait(&p->schedule_park, key, sleep_of(scheduler(p)));
		}
		set_states(p, BT_THREAD_WORKS);
	}
}

/* ---- start and shutdown ---- */

static struct bt_thread_options options_of(const struct bt_stage_thread *stage)
{
	const struct bt_pipeline *p = stage->pipeline;
	const struct bt_topo_plan *plan = p->options.plan;
	enum bt_topo_role role = stage < publisher(p)	 ? BT_ROLE_INGESTION
				 : stage == publisher(p) ? BT_ROLE_PUBLISHER
				 : stage == scheduler(p) ? BT_ROLE_SCHEDULING
							 : BT_ROLE_BINDER;
	const struct bt_topo_place *place = plan ? bt_topo_plan_find(plan, role, stage->ix) : NULL;

	return place ? bt_topo_thread_options(place) : (struct bt_thread_options){.name = stage->name};
}

static enum bt_status start(
	struct bt_stage_thread *stage, void (*how)(void *context), void *context, struct bt_buf *out_why)
{
	const struct bt_thread_options options = options_of(stage);
	enum bt_status status = bt_thread_start(&options, how, context, &stage->thread, out_why);

	if (status != BT_OK) {
		bt_store_relaxed(&stage->state, BT_THREAD_NONE);
		if (stage->pipeline->options.one_thread) {
			set_states(stage->pipeline, BT_THREAD_NONE);
		}
		bt_pipeline_stop(stage->pipeline, BT_END_ABANDON, BT_FOREVER);
	}
	return status;
}

enum bt_status bt_pipeline_start(struct bt_pipeline *p, struct bt_buf *out_why)
{
	enum bt_status status = BT_OK;

	BT_REQUIRE(!bt_load_relaxed(&p->started));
	bt_store_release(&p->started, 1u);
	for (uint32_t i = 0; !p->options.one_thread && i < p->stage_thread_n && status == BT_OK; i++) {
		bt_store_relaxed(&p->stage_threads[i].state, BT_THREAD_WORKS);
		status = start(&p->stage_threads[i], run, &p->stage_threads[i], out_why);
	}
	if (p->options.one_thread) {
		set_states(p, BT_THREAD_WORKS);
		status = start(scheduler(p), run_all, p, out_why);
	}
	return status;
}

bool bt_pipeline_runs(const struct bt_pipeline *p)
{
	for (uint32_t i = 0; i < p->stage_thread_n; i++) {
		if (p->stage_threads[i].thread) {
			return true;
		}
	}
	return false;
}

/* Waits until every thread has ended. Returns: whether all have. */
static bool wait_for_end(struct bt_pipeline *p, int64_t limit_ns)
{
	int64_t from_ns = bt_clock_monotonic_ns();

	wake_all(p);
	while (!all_ended(p)) {
		uint32_t key = bt_eventcount_prepare(&p->end_park);

		if (all_ended(p)) {
			break;
		}
		if (limit_ns != BT_FOREVER && bt_clock_monotonic_ns() - from_ns >= limit_ns) {
			return false;
		}
		bt_eventcount_wait(&p->end_park, key, END_SLEEP_NS);
	}
	return true;
}

static void join_all(struct bt_pipeline *p)
{
	for (uint32_t i = 0; i < p->stage_thread_n; i++) {
		bt_thread_join(&p->stage_threads[i].thread);
	}
}

bool bt_pipeline_stop(struct bt_pipeline *p, enum bt_pipeline_end how, int64_t limit_ns)
{
	bool drains = how == BT_END_DRAIN;

	if (!bt_load_relaxed(&p->started) && drains) {
		bt_pipeline_settle(p);
	}
	bt_store_release(&p->ending, (uint32_t)(drains ? BT_ENDING_DRAIN : BT_ENDING_ABANDON));
	if (!wait_for_end(p, limit_ns)) {
		bt_store_release(&p->ending, (uint32_t)BT_ENDING_ABANDON);
		if (!wait_for_end(p, drains ? limit_ns : 0)) {
			return false;
		}
	}
	join_all(p);
	return true;
}

/* ---- inspection ---- */

struct bt_stage_latency *bt_pipeline_ingest_stages(const struct bt_pipeline *p, uint32_t thread)
{
	return p->stage_threads[thread].stages;
}

struct bt_stage_latency *bt_pipeline_publish_stages(const struct bt_pipeline *p)
{
	return publisher(p)->stages;
}

struct bt_stage_latency *bt_pipeline_schedule_stages(const struct bt_pipeline *p)
{
	return scheduler(p)->stages;
}

struct bt_stage_latency *bt_pipeline_bind_stages(const struct bt_pipeline *p, uint32_t thread)
{
	return scheduler(p)[1 + thread].stages;
}

void bt_pipeline_stages(const struct bt_pipeline *p, struct bt_stage_latency *out)
{
	for (uint32_t i = 0; i < p->stage_thread_n; i++) {
		if (p->stage_threads[i].stages) {
			bt_stage_latency_merge(out, p->stage_threads[i].stages);
		}
	}
}

uint32_t bt_pipeline_threads(const struct bt_pipeline *p, struct bt_pipeline_thread *out, uint32_t cap)
{
	bool ending = bt_load_acquire(&p->ending);
	int64_t now_ns = bt_clock_monotonic_ns();

	for (uint32_t i = 0; i < p->stage_thread_n && i < cap; i++) {
		const struct bt_stage_thread *stage = &p->stage_threads[i];
		int64_t began_ns = bt_load_relaxed(&stage->began_ns);

		out[i] = (struct bt_pipeline_thread){.name = stage->name,
			.state = state_of(stage),
			.step_n = bt_load_relaxed(&stage->step_n)};
		/* A waiting thread wakes after its nap; one that does not is stalled. */
		int64_t awake_ns = began_ns + (out[i].state == BT_THREAD_WAITS ? SLEEP_NS : 0);
		if (out[i].state != BT_THREAD_ENDED && began_ns) {
			out[i].since_ns = now_ns > awake_ns ? now_ns - awake_ns : 0;
		}
		out[i].stalled =
			out[i].since_ns > p->limits.stall_ns || (out[i].state == BT_THREAD_ENDED && !ending);
	}
	return p->stage_thread_n;
}

/* ---- visitors ---- */

bool bt_pipeline_receive(struct bt_pipeline *p)
{
	if (BT_LIKELY(!bt_load_relaxed(&p->visit))) {
		return false;
	}
	/* EDGE visit.request acquire: the visitor's fields. */
	struct bt_pipeline_visit *visit = bt_exchange(&p->visit, NULL);
	if (!visit) {
		return false;
	}
	visit->call(visit->context, p->engine);
	BT_TESTPOINT("threads.receive");
	/* EDGE visit.done release: the call's writes. The visit may be freed at once; nothing reads it
	 * afterwards. */
	bt_store_release(&visit->done, 1u);
	return true;
}

/* Does the scheduling thread run, so that it can receive a visitor? */
static bool is_received(const struct bt_pipeline *p)
{
	enum bt_pipeline_thread_state state = state_of(scheduler(p));

	return state == BT_THREAD_WORKS || state == BT_THREAD_WAITS;
}

void bt_pipeline_call(
	struct bt_pipeline *p, void (*call)(void *context, struct bt_engine *engine), void *context)
{
	struct bt_pipeline_visit visit = {.call = call, .context = context};

	bt_lock_acquire(&p->visit_lock);
	bt_store_release(&p->visit, &visit); /* EDGE visit.request release */
	bt_eventcount_wake(&p->schedule_park);
	while (!bt_load_acquire(&visit.done)) { /* EDGE visit.done acquire */
		if (!is_received(p) && bt_exchange(&p->visit, NULL)) {
			call(context, p->engine);
			break;
		}
		bt_thread_yield();
	}
	bt_lock_release(&p->visit_lock);
}
