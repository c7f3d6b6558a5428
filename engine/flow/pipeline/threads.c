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

#define LOOKS	   64		     /* polls for work before a thread sleeps */
#define NAP_NS	   INT64_C(50000000) /* the longest sleep, so that a change without a wake-up is noticed */
#define END_NAP_NS INT64_C(1000000)

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

static enum bt_pipeline_thread_state state_of(const struct bt_crew *crew)
{
	return (enum bt_pipeline_thread_state)bt_load_acquire(&crew->state); /* EDGE crew.ended acquire */
}

static struct bt_crew *publisher(const struct bt_pipeline *p)
{
	return &p->crews[p->limits.ingest_threads];
}

static struct bt_crew *scheduler(const struct bt_pipeline *p)
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
		if (state_of(&p->crews[j]) != BT_THREAD_ENDED) {
			return false;
		}
	}
	for (uint32_t i = 0; i < p->limits.sources; i++) {
		struct bt_source_lane *runtime = &p->sources[i];

		if (bt_ring_count(&runtime->deltas[bt_pipeline_ingest_of(p, runtime->published_n)])) {
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

static void name(struct bt_crew *crew, const char *what, uint32_t ix, uint32_t n)
{
	if (n > 1) {
		snprintf(crew->name, sizeof(crew->name), "%s-%u", what, ix % 1000);
	} else {
		snprintf(crew->name, sizeof(crew->name), "%s", what);
	}
}

void bt_crews_init(struct bt_pipeline *p)
{
	const struct bt_limits *limits = &p->limits;
	struct bt_crew *crew;

	p->crew_n = limits->ingest_threads + limits->bind_threads + 2;
	crew = p->crews = bt_mem_column(p->crew_n, sizeof(*p->crews));
	for (uint32_t j = 0; j < limits->ingest_threads; j++, crew++) {
		*crew = (struct bt_crew){.step = bt_pipeline_ingest_step, .over = ingest_over, .ix = j};
		crew->park = bt_pipeline_park(p, &p->ingests[j].park);
		name(crew, "ingest", j, limits->ingest_threads);
	}
	*crew = (struct bt_crew){
		.step = publish_step, .over = publish_over, .park = bt_pipeline_park(p, &p->publish_park)};
	name(crew++, "publish", 0, 1);
	*crew = (struct bt_crew){.step = schedule_step, .over = schedule_over, .park = &p->schedule_park};
	name(crew++, "schedule", 0, 1);
	for (uint32_t j = 0; j < limits->bind_threads; j++, crew++) {
		*crew = (struct bt_crew){.step = bt_pipeline_bind_step, .over = bind_over, .ix = j};
		crew->park = bt_pipeline_park(p, &p->binders[j].park);
		name(crew, "bind", j, limits->bind_threads);
	}
	for (uint32_t i = 0; i < p->crew_n; i++) {
		p->crews[i].pipeline = p;
		p->crews[i].stages = p->options.stages ? bt_stage_latency_create() : NULL;
	}
}

void bt_crews_fini(struct bt_pipeline *p)
{
	for (uint32_t i = 0; p->crews && i < p->crew_n; i++) {
		bt_mem_free(p->crews[i].stages);
	}
	bt_mem_free(p->crews);
}

/* ---- thread main ---- */

static bool is_abandoned(const struct bt_pipeline *p)
{
	return bt_load_acquire(&p->ending) == BT_ENDING_ABANDON;
}

/* Should a thread whose step had no work end? */
static bool is_over(struct bt_crew *crew)
{
	struct bt_pipeline *p = crew->pipeline;

	return is_abandoned(p) || (bt_load_acquire(&p->ending) && crew->over(p, crew->ix));
}

static bool work(struct bt_crew *crew)
{
	bt_store_relaxed(&crew->began_ns, bt_clock_monotonic_ns());
	if (!crew->step(crew->pipeline, crew->ix)) {
		return false;
	}
	bt_add_owned(&crew->step_n, 1u);
	return true;
}

/* How long the thread may sleep. */
static int64_t nap_of(const struct bt_crew *crew)
{
	const struct bt_pipeline *p = crew->pipeline;

	if (crew != scheduler(p)) {
		return NAP_NS;
	}
	if (p->options.step_driver.step) {
		int64_t nap_ns = p->options.step_driver.nap_ns(p->options.step_driver.context);

		return nap_ns < NAP_NS ? nap_ns : NAP_NS;
	}
	int64_t next_ns = bt_pipeline_next_ns(p);
	if (next_ns > p->now_ns + NAP_NS) {
		return NAP_NS;
	}
	return next_ns > p->now_ns ? next_ns - p->now_ns : 1;
}

static void wait(struct bt_crew *crew)
{
	uint32_t key;

	for (int i = 0; i < LOOKS; i++) {
		if (crew->step(crew->pipeline, crew->ix)) {
			bt_add_owned(&crew->step_n, 1u);
			return;
		}
		bt_cpu_relax();
	}
	bt_store_relaxed(&crew->state, BT_THREAD_WAITS);
	key = bt_eventcount_prepare(crew->park);
	if (!work(crew) && !is_over(crew)) {
		bt_eventcount_wait(crew->park, key, nap_of(crew));
	}
	bt_store_relaxed(&crew->state, BT_THREAD_WORKS);
}

static void wake_all(struct bt_pipeline *p)
{
	for (uint32_t i = 0; i < p->crew_n; i++) {
		bt_eventcount_wake(p->crews[i].park);
	}
	bt_eventcount_wake(&p->end_park);
}

/* Claims or releases the state that only this thread writes while it runs. */
static void each_owner(struct bt_crew *crew, void (*act)(struct bt_owner *owner))
{
	struct bt_pipeline *p = crew->pipeline;

	if (crew == publisher(p)) {
		act(bt_publisher_owner(bt_engine_cache(p->engine)->publisher));
	} else if (crew == scheduler(p)) {
		bt_engine_each_owner(p->engine, act);
	}
}

/* Ends a thread: producers that wait for room in front of it return. */
static void leave(struct bt_crew *crew)
{
	struct bt_pipeline *p = crew->pipeline;

	for (uint32_t i = 0; crew->step == bt_pipeline_ingest_step && i < p->limits.sources; i++) {
		bt_ring_abandon(&p->sources[i].feeds[crew->ix]);
	}
	if (crew == scheduler(p)) {
		bt_pipeline_receive(p);
		bt_ring_close(&p->decisions);
	}
	each_owner(crew, bt_owner_hand_over);
	/* EDGE crew.ended release: publishes the thread's writes. */
	bt_store_release(&crew->state, BT_THREAD_ENDED);
	wake_all(p);
}

static void run(void *context)
{
	struct bt_crew *crew = context;

	each_owner(crew, bt_owner_claim);
	for (;;) {
		BT_TESTPOINT("threads.run");
		if (is_abandoned(crew->pipeline)) {
			break;
		}
		if (work(crew)) {
			continue;
		}
		if (is_over(crew)) {
			break;
		}
		wait(crew);
	}
	leave(crew);
}

/* ---- all steps on one thread ---- */

static bool all_ended(const struct bt_pipeline *p)
{
	for (uint32_t i = 0; i < p->crew_n; i++) {
		enum bt_pipeline_thread_state state = state_of(&p->crews[i]);

		if (state != BT_THREAD_NONE && state != BT_THREAD_ENDED) {
			return false;
		}
	}
	return true;
}

static void set_states(struct bt_pipeline *p, enum bt_pipeline_thread_state state)
{
	for (uint32_t i = 0; i < p->crew_n; i++) {
		if (state_of(&p->crews[i]) != BT_THREAD_ENDED) {
			bt_store_relaxed(&p->crews[i].state, state);
		}
	}
}

/* Runs one step of each crew. Returns: whether any did work or has ended. */
static bool work_all(struct bt_pipeline *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->crew_n; i++) {
		struct bt_crew *crew = &p->crews[i];

		if (state_of(crew) == BT_THREAD_ENDED) {
			continue;
		}
		if (!is_abandoned(p) && work(crew)) {
			any = true;
		} else if (is_over(crew)) {
			leave(crew);
			any = true;
		}
	}
	return any;
}

static void run_all(void *context)
{
	struct bt_pipeline *p = context;

	for (uint32_t i = 0; i < p->crew_n; i++) {
		each_owner(&p->crews[i], bt_owner_claim);
	}
	while (!all_ended(p)) {
		BT_TESTPOINT("threads.run");
		if (work_all(p)) {
			continue;
		}
		set_states(p, BT_THREAD_WAITS);
		uint32_t key = bt_eventcount_prepare(&p->schedule_park);

		if (!work_all(p)) {
			bt_eventcount_wait(&p->schedule_park, key, nap_of(scheduler(p)));
		}
		set_states(p, BT_THREAD_WORKS);
	}
}

/* ---- start and shutdown ---- */

static struct bt_thread_options options_of(const struct bt_crew *crew)
{
	const struct bt_pipeline *p = crew->pipeline;
	const struct bt_topo_plan *plan = p->options.plan;
	enum bt_topo_role role = crew < publisher(p)	? BT_ROLE_INGESTION
				 : crew == publisher(p) ? BT_ROLE_PUBLISHER
				 : crew == scheduler(p) ? BT_ROLE_SCHEDULING
							: BT_ROLE_BINDER;
	const struct bt_topo_place *place = plan ? bt_topo_plan_find(plan, role, crew->ix) : NULL;

	return place ? bt_topo_thread_options(place) : (struct bt_thread_options){.name = crew->name};
}

static enum bt_status start(
	struct bt_crew *crew, void (*how)(void *context), void *context, struct bt_buf *out_why)
{
	const struct bt_thread_options options = options_of(crew);
	enum bt_status status = bt_thread_start(&options, how, context, &crew->thread, out_why);

	if (status != BT_OK) {
		bt_store_relaxed(&crew->state, BT_THREAD_NONE);
		if (crew->pipeline->options.one_thread) {
			set_states(crew->pipeline, BT_THREAD_NONE);
		}
		bt_pipeline_stop(crew->pipeline, BT_END_ABANDON, BT_FOREVER);
	}
	return status;
}

enum bt_status bt_pipeline_start(struct bt_pipeline *p, struct bt_buf *out_why)
{
	enum bt_status status = BT_OK;

	BT_REQUIRE(!bt_load_relaxed(&p->started));
	bt_store_release(&p->started, 1u);
	for (uint32_t i = 0; !p->options.one_thread && i < p->crew_n && status == BT_OK; i++) {
		bt_store_relaxed(&p->crews[i].state, BT_THREAD_WORKS);
		status = start(&p->crews[i], run, &p->crews[i], out_why);
	}
	if (p->options.one_thread) {
		set_states(p, BT_THREAD_WORKS);
		status = start(scheduler(p), run_all, p, out_why);
	}
	return status;
}

bool bt_pipeline_runs(const struct bt_pipeline *p)
{
	for (uint32_t i = 0; i < p->crew_n; i++) {
		if (p->crews[i].thread) {
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
		bt_eventcount_wait(&p->end_park, key, END_NAP_NS);
	}
	return true;
}

static void join_all(struct bt_pipeline *p)
{
	for (uint32_t i = 0; i < p->crew_n; i++) {
		bt_thread_join(&p->crews[i].thread);
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
	return p->crews[thread].stages;
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
	for (uint32_t i = 0; i < p->crew_n; i++) {
		if (p->crews[i].stages) {
			bt_stage_latency_merge(out, p->crews[i].stages);
		}
	}
}

uint32_t bt_pipeline_threads(const struct bt_pipeline *p, struct bt_pipeline_thread *out, uint32_t cap)
{
	bool ending = bt_load_acquire(&p->ending);
	int64_t now_ns = bt_clock_monotonic_ns();

	for (uint32_t i = 0; i < p->crew_n && i < cap; i++) {
		const struct bt_crew *crew = &p->crews[i];
		int64_t began_ns = bt_load_relaxed(&crew->began_ns);

		out[i] = (struct bt_pipeline_thread){.name = crew->name,
			.state = state_of(crew),
			.step_n = bt_load_relaxed(&crew->step_n)};
		/* A waiting thread wakes after its nap; one that does not is stalled. */
		int64_t awake_ns = began_ns + (out[i].state == BT_THREAD_WAITS ? NAP_NS : 0);
		if (out[i].state != BT_THREAD_ENDED && began_ns) {
			out[i].since_ns = now_ns > awake_ns ? now_ns - awake_ns : 0;
		}
		out[i].stalled =
			out[i].since_ns > p->limits.stall_ns || (out[i].state == BT_THREAD_ENDED && !ending);
	}
	return p->crew_n;
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
