/* SPDX-License-Identifier: Apache-2.0
 * The pipeline: creation, rings, and the steps between them.
 */
#include "engine/flow/pipeline/pipeline.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/probe.h"
#include "engine/base/testpoint.h"
#include "engine/flow/pipeline/pipeline_int.h"

#define PUBLISH_MAX 256u /* watch events per publication */

/* ---- creation ---- */

static const char *name_of(struct bt_pipeline *p, const char *what, uint32_t a, uint32_t b)
{
	struct bt_buf text = {0};

	bt_buf_printf(&text, "%s-%u-%u", what, a, b);
	const char *name = bt_arena_copy(&p->arena, text.ptr, text.len);
	bt_buf_fini(&text);
	return name;
}

static void make_source(struct bt_pipeline *p, uint32_t ix)
{
	struct bt_source_queues *queues = &p->sources[ix];
	uint32_t thread_n = p->limits.ingest_threads;

	bt_ring_init(
		&queues->spent, p->limits.spent, sizeof(struct bt_watch_event *), name_of(p, "spent", ix, 0));
	queues->feeds = bt_mem_column(thread_n, sizeof(*queues->feeds));
	queues->deltas = bt_mem_column(thread_n, sizeof(*queues->deltas));
	for (uint32_t j = 0; j < thread_n; j++) {
		bt_ring_init(&queues->feeds[j], p->limits.feed, sizeof(struct bt_watch_event *),
			name_of(p, "feed", ix, j));
		bt_ring_wake_by(&queues->feeds[j], bt_pipeline_park(p, &p->ingests[j].park));
		bt_ring_init(&queues->deltas[j], p->limits.delta, sizeof(struct bt_watch_event *),
			name_of(p, "delta", ix, j));
		bt_ring_wake_by(&queues->deltas[j], bt_pipeline_park(p, &p->publish_park));
	}
}

static void make_rings(struct bt_pipeline *p)
{
	const struct bt_limits *limits = &p->limits;

	bt_eventcount_init(&p->publish_park);
	bt_eventcount_init(&p->schedule_park);
	bt_eventcount_init(&p->end_park);
	p->ingests = bt_mem_column(limits->ingest_threads, sizeof(*p->ingests));
	for (uint32_t j = 0; j < limits->ingest_threads; j++) {
		bt_eventcount_init(&p->ingests[j].park);
	}
	p->sources = bt_mem_column(limits->sources, sizeof(*p->sources));
	for (uint32_t i = 0; i < limits->sources; i++) {
		make_source(p, i);
	}
	bt_ring_init(&p->inbox, limits->inbox, sizeof(struct bt_watch_event *), "inbox");
	bt_ring_wake_by(&p->inbox, &p->schedule_park);
	p->binders = bt_mem_column(limits->bind_threads, sizeof(*p->binders));
	for (uint32_t j = 0; j < limits->bind_threads; j++) {
		bt_eventcount_init(&p->binders[j].park);
		bt_ring_init(&p->binders[j].bind_requests, limits->bind_requests, sizeof(uint64_t),
			name_of(p, "bind_requests", j, 0));
		bt_ring_wake_by(&p->binders[j].bind_requests, bt_pipeline_park(p, &p->binders[j].park));
	}
	bt_ring_init(&p->decisions, limits->decisions ? limits->decisions : BT_RING_MIN_CAPACITY,
		sizeof(struct bt_pipeline_decision *), "decisions");
}

static void keep_answer(void *context, struct bt_str answer)
{
	bt_journal_extender(((struct bt_pipeline *)context)->options.journal, answer);
}

static bool make_engine(
	struct bt_pipeline *p, const struct bt_config *config, struct bt_config_errors *errors)
{
	struct bt_engine_options options = p->options.engine;

	options.stages = bt_pipeline_schedule_stages(p);
	options.clock = options.clock.now_ns ? bt_clock_virtual(&p->now_ns) : (struct bt_clock){0};
	options.binder =
		p->options.binder.bind ? (struct bt_binder){bt_bind_requests_bind, p} : (struct bt_binder){0};
	options.team = p->team;
	options.permit = bt_pipeline_permit_observer(p);
	if (p->options.journal) {
		options.extending.keep = keep_answer;
		options.extending.keeper = p;
	}
	if (p->options.step_driver.step) {
		options.binder = (struct bt_binder){0};
	} else {
		options.evictor = p->options.binder.evict ? (struct bt_evictor){bt_bind_requests_evict, p}
							  : (struct bt_evictor){0};
		options.releaser = p->options.binder.release
					   ? (struct bt_releaser){bt_bind_requests_release, p}
					   : (struct bt_releaser){0};
	}
	p->engine = bt_engine_create(config, &options, errors);
	if (!p->engine) {
		return false;
	}
	struct bt_cache *cache = bt_engine_cache(p->engine);
	for (uint32_t j = 0; j < p->limits.ingest_threads; j++) {
		p->ingests[j].worker = bt_ingest_worker_create(cache->dictionary, cache->signatures);
	}
	bt_pipeline_cycles_init(p);
	return true;
}

static void begin_journal(struct bt_pipeline *p)
{
	const struct bt_engine_options *engine = &p->options.engine;
	bool step_driven = p->options.step_driver.step;
	const struct bt_journal_header header = {
		.seed = engine->seed,
		.begin_ns = p->now_ns,
		.has_clock = engine->clock.now_ns,
		.binds = p->options.binder.bind && !step_driven,
		.evicts = step_driven ? engine->evictor.evict != NULL : p->options.binder.evict != NULL,
		.evicts_at_once = step_driven,
		.releases =
			step_driven ? engine->releaser.release != NULL : p->options.binder.release != NULL,
		.extends = engine->extending.filter != NULL,
		.strict_order = engine->strict_order,
		.no_backoff = engine->no_backoff,
		.groups_by_events = engine->groups_by_events,
		.evaluate_always = engine->evaluate_always,
		.moves_pods = engine->moves_pods,
		.status_is_shown = engine->status_is_shown,
		.sampling = engine->sampling,
		.tombstones = p->limits.tombstones,
	};

	bt_journal_begin(p->options.journal, &header);
}

static bool make_team(struct bt_pipeline *p, struct bt_config_errors *errors)
{
	const struct bt_team_options options = {
		.worker_n = p->limits.workers, .topo = p->options.topo, .plan = p->options.plan};
	enum bt_status status;

	if (options.worker_n > 1) {
		p->team = bt_team_create(&options, &status);
		if (!p->team) {
			bt_config_errors_add(
				errors, "no thread could be started for a worker; use fewer workers");
			return false;
		}
	}
	return true;
}

struct bt_pipeline *bt_pipeline_make(const struct bt_config *config,
	const struct bt_pipeline_options *options, struct bt_journal_player *replay,
	struct bt_config_errors *errors)
{
	struct bt_limits limits = options->limits;
	const char *limit;

	if (bt_limits_settle(&limits, &limit) != BT_OK) {
		bt_config_errors_add(errors, "the limit %s is zero or too large", limit);
		return NULL;
	}
	struct bt_pipeline *p = bt_mem_column(1, sizeof(*p));
	p->options = *options;
	p->limits = limits;
	p->replay = replay;
	bt_store_relaxed(&p->paused, (uint32_t)options->paused);
	p->version_filter.tombstone_max = limits.tombstones;
	p->now_ns = options->engine.clock.now_ns ? bt_clock_now_ns(&options->engine.clock) : 0;
	bt_lock_init(&p->visit_lock);
	bt_bind_requests_init(p);
	make_rings(p);
	bt_stage_threads_init(p);
	if (!make_team(p, errors) || !make_engine(p, config, errors)) {
		bt_pipeline_destroy(p);
		return NULL;
	}
	if (options->journal) {
		begin_journal(p);
	}
	return p;
}

struct bt_pipeline *bt_pipeline_create(const struct bt_config *config,
	const struct bt_pipeline_options *options, struct bt_config_errors *errors)
{
	return bt_pipeline_make(config, options, NULL, errors);
}

/* Destroys the watch events in a ring, and the ring. */
static void empty_ring(struct bt_pipeline *p, struct bt_ring *ring)
{
	struct bt_watch_event *watch_event;

	while (bt_ring_try_pop(ring, &watch_event)) {
		bt_pipeline_drop(p, watch_event);
	}
	bt_ring_fini(ring);
}

static void free_rings(struct bt_pipeline *p)
{
	struct bt_pipeline_decision *decision;

	for (uint32_t i = 0; i < p->limits.sources; i++) {
		for (uint32_t j = 0; j < p->limits.ingest_threads; j++) {
			empty_ring(p, &p->sources[i].feeds[j]);
			empty_ring(p, &p->sources[i].deltas[j]);
		}
		empty_ring(p, &p->sources[i].spent);
		while (p->sources[i].spare_first < p->sources[i].spare_n) {
			bt_watch_event_destroy(p->sources[i].spares[p->sources[i].spare_first++]);
		}
		bt_mem_free(p->sources[i].feeds);
		bt_mem_free(p->sources[i].deltas);
	}
	for (uint32_t i = p->ahead_first; i < p->ahead_n; i++) {
		bt_pipeline_drop(p, p->ahead[i]);
	}
	empty_ring(p, &p->inbox);
	for (uint32_t j = 0; j < p->limits.bind_threads; j++) {
		bt_ring_fini(&p->binders[j].bind_requests);
		bt_buf_fini(&p->binders[j].text);
	}
	while (bt_ring_try_pop(&p->decisions, &decision)) {
		bt_pipeline_decision_free(decision);
	}
	for (size_t i = p->unpolled_first; i < p->unpolled_n; i++) {
		bt_pipeline_decision_free(p->unpolled[i]);
	}
	bt_ring_fini(&p->decisions);
	bt_mem_free(p->unpolled);
	for (uint32_t j = 0; j < p->limits.ingest_threads; j++) {
		bt_ingest_worker_destroy(p->ingests[j].worker);
	}
	bt_mem_free(p->sources);
	bt_mem_free(p->ingests);
	bt_mem_free(p->binders);
}

void bt_pipeline_destroy(struct bt_pipeline *p)
{
	if (!p) {
		return;
	}
	BT_REQUIRE(!bt_pipeline_runs(p));
	free_rings(p);
	bt_stage_threads_fini(p);
	bt_bind_requests_fini(p);
	bt_version_filter_fini(&p->version_filter);
	bt_scheduling_cycle_fini(&p->cycle);
	bt_mem_free(p->victims);
	bt_engine_destroy(p->engine);
	bt_team_destroy(p->team);
	bt_buf_fini(&p->encoded);
	bt_lock_fini(&p->visit_lock);
	bt_arena_fini(&p->arena);
	bt_mem_free(p);
}

/* ---- the source's side ---- */

static bool push_inline(
	struct bt_pipeline *p, struct bt_ring *ring, struct bt_watch_event **watch_event, bool may_wait)
{
	while (!bt_ring_try_push(ring, watch_event)) {
		if (!may_wait || !bt_pipeline_step(p)) {
			return false;
		}
	}
	return true;
}

/* Estimated memory of a watch event, its object, and what it becomes in the cache. */
#define PARCEL_BYTES 8192

enum bt_status bt_pipeline_feed(
	struct bt_pipeline *p, uint32_t source, struct bt_watch_event **watch_event, int64_t timeout_ns)
{
	BT_REQUIRE_HOT(watch_event && *watch_event);
	BT_REQUIRE(source < p->limits.sources);
	struct bt_source_queues *queues = &p->sources[source];
	struct bt_ring *ring = &queues->feeds[bt_pipeline_ingest_of(p, queues->fed_n)];

	if (bt_load_acquire(&p->ending)) {
		return BT_CONFLICT;
	}
	if ((*watch_event)->kind == BT_WATCH_EVENT_APPLY && !bt_mem_may_use(BT_MEM_OBJECT, PARCEL_BYTES)) {
		return BT_NO_MEMORY;
	}
	(*watch_event)->source = source;
	(*watch_event)->sequence = queues->fed_n;
	(*watch_event)->border_ns = bt_stage_latency_now(bt_pipeline_schedule_stages(p));
	BT_TESTPOINT("pipeline.feed");
	bool pushed = bt_load_acquire(&p->started) ? bt_ring_push(ring, watch_event, timeout_ns)
						   : push_inline(p, ring, watch_event, timeout_ns > 0);
	if (!pushed) {
		return bt_load_acquire(&p->ending) ? BT_CONFLICT : BT_FULL;
	}
	queues->fed_n++;
	*watch_event = NULL;
	return BT_OK;
}

/* ---- ingestion ---- */

/* Prefetches the cache lines of a watch event that ingestion reads. */
static void prefetch_object(const struct bt_watch_event *watch_event)
{
	bt_pipeline_prefetch(watch_event);
	for (size_t at = 0; at < sizeof(watch_event->object); at += BT_CACHELINE) {
		__builtin_prefetch((const char *)&watch_event->object + at);
	}
}

static void ingest_run(struct bt_pipeline *p, uint32_t thread, struct bt_watch_event **run, uint32_t n)
{
	BT_INVARIANT(n > 0 && n <= BT_RUN);
	struct bt_ingest_worker *worker = p->ingests[thread].worker;

	prefetch_object(run[0]);
	for (uint32_t i = 0; i < n; i++) {
		BT_TESTPOINT("pipeline.ingest");
		if (i + 2 < n) {
			prefetch_object(run[i + 2]);
		}
		if (i + 1 < n) {
			bt_ingest_prefetch(worker, &run[i + 1]->object.meta);
		}
		bt_pipeline_describe(p, worker, run[i]);
		bt_pipeline_cross(bt_pipeline_ingest_stages(p, thread), BT_STAGE_INGEST, run[i]);
		BT_PROBE3(ingest, run[i]->source, run[i]->sequence, run[i]->object.kind);
	}
}

/* Interns watch events of a source while the ring behind has room. */
static bool ingest_source(struct bt_pipeline *p, struct bt_source_queues *queues, uint32_t thread)
{
	struct bt_ring *feed = &queues->feeds[thread], *delta = &queues->deltas[thread];
	struct bt_watch_event *run[BT_RUN];
	uint32_t done_n = 0, n;

	do {
		uint32_t room = bt_ring_capacity(delta) - bt_ring_count(delta);

		room = room < BT_RUN ? room : BT_RUN;
		room = room < p->limits.events - done_n ? room : p->limits.events - done_n;
		n = bt_ring_try_pop_n(feed, run, room);
		if (n) {
			ingest_run(p, thread, run, n);
			uint32_t pushed_n = bt_ring_try_push_n(delta, run, n);
			BT_REQUIRE(pushed_n == n);
		}
		done_n += n;
		BT_INVARIANT(done_n <= p->limits.events);
	} while (n == BT_RUN && done_n < p->limits.events);
	return done_n > 0;
}

bool bt_pipeline_ingest_step(struct bt_pipeline *p, uint32_t thread)
{
	bool any = false;

	for (uint32_t i = 0; i < p->limits.sources; i++) {
		any |= ingest_source(p, &p->sources[i], thread);
	}
	return any;
}

/* ---- the publisher ---- */

/* Pops the next events of a source in feed order, at most one run. Returns: how many. */
static uint32_t next_of(
	struct bt_pipeline *p, struct bt_source_queues *queues, struct bt_watch_event **out, uint32_t n)
{
	uint32_t thread = bt_pipeline_ingest_of(p, queues->published_n);
	uint32_t left = p->limits.run - (uint32_t)(queues->published_n % p->limits.run);

	n = bt_ring_try_pop_n(&queues->deltas[thread], out, n < left ? n : left);
	if (n) {
		BT_INVARIANT(out[0]->sequence == queues->published_n);
		BT_INVARIANT(n <= left);
		queues->published_n += n;
		bt_pipeline_wake_producer(&queues->deltas[thread], n, &p->ingests[thread].park);
	}
	return n;
}

/* Pops the next events of all sources, at most n. Round robin, so that a busy source does not starve the
 * others (I3). */
static uint32_t next_watch_events(struct bt_pipeline *p, struct bt_watch_event **out, uint32_t n)
{
	uint32_t taken_n = 0;

	for (uint32_t i = 0; i < p->limits.sources && taken_n == 0; i++) {
		taken_n = next_of(p, &p->sources[p->publish_turn], out, n);
		p->publish_turn = (p->publish_turn + 1) % p->limits.sources;
	}
	return taken_n;
}

/* Numbers n watch events and drops stale ones. Returns: how many are left; these come first. */
static uint32_t number(struct bt_pipeline *p, struct bt_watch_event **watch_events, uint32_t n)
{
	uint32_t fresh_n = 0;

	for (uint32_t i = 0; i < n; i++) {
		bt_pipeline_prefetch(watch_events[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (watch_events[i]->kind != BT_WATCH_EVENT_SYNCED) {
			bt_version_filter_prefetch(&p->version_filter, &watch_events[i]->version);
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		if (bt_pipeline_number(p, watch_events[i])) {
			watch_events[fresh_n++] = watch_events[i];
		} else {
			bt_watch_event_destroy(watch_events[i]);
		}
	}
	BT_INVARIANT(fresh_n <= n);
	return fresh_n;
}

bool bt_pipeline_publish_step(struct bt_pipeline *p)
{
	struct bt_watch_event *batch[PUBLISH_MAX];
	uint32_t room = bt_ring_capacity(&p->inbox) - bt_ring_count(&p->inbox), n = 0, taken_n = 0, run_n;

	room = room < PUBLISH_MAX ? room : PUBLISH_MAX;
	while (n < room && taken_n < p->limits.events) {
		uint32_t left = p->limits.events - taken_n;

		run_n = next_watch_events(p, &batch[n], room - n < left ? room - n : left);
		if (run_n == 0) {
			break;
		}
		taken_n += run_n;
		n += number(p, &batch[n], run_n);
		BT_INVARIANT(n <= taken_n && n <= room);
	}
	/* Published before the events are passed on: their consumer may cause old descriptions to be
	 * reclaimed. */
	bt_publisher_publish(bt_engine_cache(p->engine)->publisher);
	for (uint32_t i = 0; i < n; i++) {
		bt_pipeline_cross(bt_pipeline_publish_stages(p), BT_STAGE_PUBLISH, batch[i]);
		BT_PROBE3(publish, batch[i]->source, batch[i]->sequence, batch[i]->object.kind);
	}
	BT_TESTPOINT("pipeline.publish");
	uint32_t pushed_n = bt_ring_try_push_n(&p->inbox, batch, n);
	BT_REQUIRE(pushed_n == n);
	return taken_n > 0;
}

/* ---- the scheduling thread ---- */

bool bt_pipeline_answer_step(struct bt_pipeline *p)
{
	bool any = bt_bind_requests_take_answers(p);

	return bt_bind_requests_send(p) || any;
}

/* Pops at most n watch events from the inbox and prefetches them. Returns: how many. */
uint32_t bt_pipeline_receive_events(struct bt_pipeline *p, struct bt_watch_event **out, uint32_t n)
{
	n = bt_ring_try_pop_n(&p->inbox, out, n);
	for (uint32_t i = 0; i < n; i++) {
		bt_pipeline_prefetch(out[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (out[i]->stage == BT_WATCH_EVENT_PUBLISHED) {
			bt_delta_prefetch(&out[i]->delta);
		}
	}
	if (n) {
		bt_pipeline_wake_producer(&p->inbox, n, &p->publish_park);
	}
	return n;
}

bool bt_pipeline_apply_step(struct bt_pipeline *p)
{
	struct bt_stage_latency *stages = bt_pipeline_schedule_stages(p);
	struct bt_watch_event *run[BT_RUN];
	uint32_t done_n = 0, n;

	do {
		uint32_t left = p->limits.events - done_n;

		n = bt_pipeline_receive_events(p, run, left < BT_RUN ? left : BT_RUN);
		int64_t begin_ns = n ? bt_stage_latency_now(stages) : 0;

		for (uint32_t i = 0; i < n; i++) {
			struct bt_taken taken;

			p->handled = UINT32_MAX;
			(void)bt_pipeline_take(p, run[i], &taken); /* counted */
			bt_pipeline_cross(stages, BT_STAGE_APPLY, run[i]);
			if (BT_UNLIKELY(stages)) {
				bt_engine_note_event(p->engine, p->handled, run[i]->border_ns - begin_ns);
				begin_ns = run[i]->border_ns;
			}
			bt_pipeline_end_event(p, run[i]);
		}
		done_n += n;
		BT_INVARIANT(done_n <= p->limits.events);
	} while (n == BT_RUN && done_n < p->limits.events);
	return done_n > 0;
}

/* Is deciding pods enabled at present? */
static bool may_decide(const struct bt_pipeline *p)
{
	if (bt_load_relaxed(&p->paused)) {
		return false;
	}
	return !p->options.wait_for_sync || bt_load_relaxed(&p->counts.synced_n) == p->limits.sources;
}

void bt_pipeline_pause(struct bt_pipeline *p, bool paused)
{
	bt_store_relaxed(&p->paused, (uint32_t)paused);
	bt_eventcount_wake(&p->schedule_park);
}

bool bt_pipeline_decide_step(struct bt_pipeline *p, uint32_t cycles)
{
	uint32_t n = 0;

	while (n < cycles && bt_bind_requests_have_room(p) && bt_pipeline_decisions_have_room(p) &&
		may_decide(p) && bt_pipeline_decide_one(p)) {
		BT_TESTPOINT("pipeline.decide");
		bt_bind_requests_send_some(p);
		n++;
	}
	bt_bind_requests_send(p);
	BT_INVARIANT(n <= cycles);
	return n > 0;
}

/* Reads the clock. Time does not go back, even if the clock does. */
static bool tick(struct bt_pipeline *p)
{
	const struct bt_clock *clock = &p->options.engine.clock;

	if (!clock->now_ns) {
		return false;
	}
	int64_t now_ns = bt_clock_now_ns(clock);
	if (now_ns > p->now_ns) {
		p->now_ns = now_ns;
		BT_INVARIANT(p->now_ns > 0 || now_ns == p->now_ns);
		if (p->options.journal) {
			bt_journal_time(p->options.journal, now_ns, BT_TIME_TICK);
		}
		bt_engine_tick(p->engine);
	}
	return bt_bind_requests_watch(p);
}

int64_t bt_pipeline_next_ns(const struct bt_pipeline *p)
{
	int64_t bind_requests = bt_bind_requests_next_ns(p), backoff = bt_engine_next_backoff_ns(p->engine),
		wait = bt_engine_next_wait_end_ns(p->engine, INT64_MAX),
		engine = backoff < wait ? backoff : wait;

	return bind_requests < engine ? bind_requests : engine;
}

bool bt_pipeline_schedule_step(struct bt_pipeline *p)
{
	bool any = bt_pipeline_receive(p);

	any |= bt_pipeline_answer_step(p);
	if (p->options.step_driver.step) {
		any |= p->options.step_driver.step(p->options.step_driver.context, p);
		return bt_bind_requests_send(p) || any;
	}
	any |= bt_pipeline_apply_step(p);
	any |= tick(p);
	any |= bt_pipeline_decide_step(p, p->limits.batch);
	return bt_bind_requests_send(p) || any;
}

/* ---- all steps ---- */

bool bt_pipeline_step(struct bt_pipeline *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->stage_thread_n; i++) {
		any |= p->stage_threads[i].step(p, p->stage_threads[i].ix);
	}
	return any;
}

void bt_pipeline_settle(struct bt_pipeline *p)
{
	while (bt_pipeline_step(p)) {
	}
}

static bool poll_inline(struct bt_pipeline *p, struct bt_pipeline_decision **out, bool may_wait)
{
	while (!bt_ring_try_pop(&p->decisions, out)) {
		if (!may_wait || !bt_pipeline_step(p)) {
			return false;
		}
	}
	return true;
}

struct bt_pipeline_decision *bt_pipeline_poll(struct bt_pipeline *p, int64_t timeout_ns)
{
	struct bt_pipeline_decision *decision;
	bool polled = bt_load_acquire(&p->started) ? bt_ring_pop(&p->decisions, &decision, timeout_ns)
						   : poll_inline(p, &decision, timeout_ns > 0);

	if (!polled) {
		return NULL;
	}
	bt_eventcount_wake(&p->schedule_park); /* there is room */
	return decision;
}

struct bt_pipeline_counts bt_pipeline_counts(const struct bt_pipeline *p)
{
	return (struct bt_pipeline_counts){
#define X(name, text) .name = bt_load_relaxed(&p->counts.name),
#include "engine/flow/pipeline/pipeline_counts.def"
#undef X
		.binding_n = bt_load_relaxed(&p->bind_requests.open_n),
		.evicting_n = bt_load_relaxed(&p->bind_requests.evicting_n),
	};
}

/* Writes a ring's state if there is room. Returns: the number of rings so far. */
static uint32_t read_ring(const struct bt_ring *ring, struct bt_pipeline_ring *out, uint32_t cap, uint32_t n)
{
	if (n < cap) {
		const struct bt_ring_stats stats = bt_ring_stats_read(ring);

		out[n] = (struct bt_pipeline_ring){.name = bt_ring_name(ring),
			.count = bt_ring_count(ring),
			.capacity = bt_ring_capacity(ring),
			.high_water = stats.high_water,
			.full_n = stats.full_n};
	}
	return n + 1;
}

uint32_t bt_pipeline_rings(const struct bt_pipeline *p, struct bt_pipeline_ring *out, uint32_t cap)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->limits.sources; i++) {
		for (uint32_t j = 0; j < p->limits.ingest_threads; j++) {
			n = read_ring(&p->sources[i].feeds[j], out, cap, n);
			n = read_ring(&p->sources[i].deltas[j], out, cap, n);
		}
	}
	n = read_ring(&p->inbox, out, cap, n);
	for (uint32_t j = 0; j < p->limits.bind_threads; j++) {
		n = read_ring(&p->binders[j].bind_requests, out, cap, n);
	}
	return p->limits.decisions ? read_ring(&p->decisions, out, cap, n) : n;
}

struct bt_intern *bt_pipeline_names(const struct bt_pipeline *p)
{
	return bt_engine_cache(p->engine)->dictionary->intern;
}

struct bt_engine *bt_pipeline_engine(struct bt_pipeline *p)
{
	return p->engine;
}
