/* SPDX-License-Identifier: Apache-2.0
 * A handle with threads: the pipeline (engine/flow/pipeline/pipeline.h) behind the same calls. Applied
 * objects are one source, immediate evictions another.
 *
 * A ticket is the handle of a bind request. The caller gets it with the decision, before a binder thread has
 * the request, so completion may come early; then it is stored until the binder thread has the request:
 *
 *         given --binder thread--> called --answer--> over
 *           |                                           ^
 *           +--answer--> early --binder thread----------+
 */
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/pipeline/pipeline.h"
#include "tools/kube/objects/feeder.h"
#include "tools/libberth/lib/lib_int.h"

#define SLEEP_NS INT64_C(1000000)

enum source { FEEDERS = 0, EVICTORS, SOURCE_N };

enum binding_state {
	BINDING_NONE = 0,
	BINDING_GIVEN,
	BINDING_CALLED,
	BINDING_EARLY_BOUND,
	BINDING_EARLY_FAILED,
	BINDING_OVER
};

/* The state of the last request in a slot of the pipeline. */
struct bt_lib_binding {
	uint64_t ticket, number;
	enum binding_state state;
	int32_t priority;
	uint32_t attempts;
};

struct bt_lib_threads {
	struct bt_pipeline *pipeline;
	_Atomic int64_t now_ns; /* atomic: of a virtual clock */
	/* One applying call at a time, also while it waits for room, to keep the order of its objects. */
	struct bt_lock feed_lock, evict_lock;
	struct bt_feeder feeders[SOURCE_N];
	/* lock(poll_lock): the last returned decision. */
	struct bt_lock poll_lock;
	struct berth_decision shown;
	struct bt_arena poll_arena;
	/* lock(binding_lock): by slot. */
	struct bt_lock binding_lock;
	struct bt_lib_binding *bind_requests;
	size_t binding_n;
	_Atomic uint64_t decision_n; /* atomic: reported */
};

/* ---- bindings ---- */

/* The slot of a ticket is its lower half, minus one. Context: binding_lock is held. */
static struct bt_lib_binding *find_binding(struct bt_lib_threads *t, uint64_t ticket)
{
	size_t slot = (uint32_t)ticket;

	return slot && slot <= t->binding_n && t->bind_requests[slot - 1].ticket == ticket
		       ? &t->bind_requests[slot - 1]
		       : NULL;
}

static void add_binding(struct bt_lib_threads *t, const struct berth_decision *decision)
{
	size_t slot = (uint32_t)decision->ticket;

	BT_REQUIRE(slot > 0);
	bt_lock_acquire(&t->binding_lock);
	while (slot > t->binding_n) {
		size_t old = t->binding_n;

		t->bind_requests =
			bt_mem_grow(t->bind_requests, old, &t->binding_n, sizeof(*t->bind_requests));
		memset(t->bind_requests + old, 0, (t->binding_n - old) * sizeof(*t->bind_requests));
	}
	BT_INVARIANT(t->bind_requests[slot - 1].ticket != decision->ticket); /* each ticket is used once */
	t->bind_requests[slot - 1] = (struct bt_lib_binding){
		decision->ticket, decision->number, BINDING_GIVEN, decision->priority, decision->attempts};
	bt_lock_release(&t->binding_lock);
}

static void answer(struct bt_lib_threads *t, uint64_t ticket, bool bound)
{
	/* Pods that were confirmed or deleted meanwhile have no open call. */
	if (bound) {
		(void)bt_pipeline_bound(t->pipeline, ticket);
	} else {
		(void)bt_pipeline_bind_failed(t->pipeline, ticket, (struct bt_str){.len = 0});
	}
}

/* Moves a binding from called to over. Returns: whether it was called. */
static bool end_binding(struct bt_lib_threads *t, uint64_t ticket)
{
	bt_lock_acquire(&t->binding_lock);
	struct bt_lib_binding *binding = find_binding(t, ticket);
	bool called = binding && binding->state == BINDING_CALLED;

	if (called) {
		binding->state = BINDING_OVER;
	}
	bt_lock_release(&t->binding_lock);
	return called;
}

enum berth_status bt_lib_threads_answer(struct bt_lib *lib, uint64_t ticket, bool bound)
{
	struct bt_lib_threads *t = lib->threads;

	bt_lock_acquire(&t->binding_lock);
	struct bt_lib_binding *binding = find_binding(t, ticket);
	enum binding_state before = binding ? binding->state : BINDING_NONE;
	if (before == BINDING_CALLED) {
		binding->state = BINDING_OVER;
	} else if (before == BINDING_GIVEN) {
		binding->state = bound ? BINDING_EARLY_BOUND : BINDING_EARLY_FAILED;
	}
	bt_lock_release(&t->binding_lock);
	if (before == BINDING_CALLED) {
		answer(t, ticket, bound);
	}
	return before == BINDING_CALLED || before == BINDING_GIVEN ? BERTH_OK : BERTH_NOT_FOUND;
}

/* A binder thread has the request. Returns: its state before. */
static struct bt_lib_binding begin_binding(struct bt_lib_threads *t, uint64_t ticket)
{
	struct bt_lib_binding known = {.ticket = ticket};

	bt_lock_acquire(&t->binding_lock);
	struct bt_lib_binding *binding = find_binding(t, ticket);
	if (binding) {
		known = *binding;
		binding->state = binding->state == BINDING_GIVEN ? BINDING_CALLED : BINDING_OVER;
	}
	bt_lock_release(&t->binding_lock);
	return known;
}

/* ---- pipeline callbacks ---- */

static struct berth_pod_ref refer(
	struct bt_lib *lib, struct bt_arena *arena, const struct bt_pod_ref *pod, struct bt_str node)
{
	return (struct berth_pod_ref){
		.pod_namespace = bt_lib_keep(arena, pod->namespace_),
		.name = bt_lib_keep(arena, pod->name),
		.uid = bt_lib_keep(arena, pod->uid),
		.node = bt_lib_keep(arena, node),
		.user = bt_lib_pod_user(lib, pod->namespace_, pod->name),
	};
}

static struct berth_decision describe(
	struct bt_lib *lib, struct bt_arena *arena, const struct bt_pipeline_decision *from)
{
	struct berth_pod_ref *evicted = NULL;

	if (from->victim_n) {
		evicted = bt_arena_alloc(arena, from->victim_n * sizeof(*evicted), sizeof(void *));
	}
	for (uint32_t i = 0; i < from->victim_n; i++) {
		evicted[i] = refer(lib, arena, &from->victims[i], from->nominated);
	}
	return (struct berth_decision){
		.number = from->number,
		.ticket = from->binding,
		.outcome = bt_lib_outcome(from->outcome),
		.priority = from->priority,
		.attempts = from->attempts,
		.time_ns = bt_lib_time(lib),
		.pod = refer(lib, arena, &from->pod, from->node),
		.node_user = from->node.len ? bt_lib_node_user(lib, from->node) : 0,
		.nominated = bt_lib_keep(arena, from->nominated),
		.message = bt_lib_keep(arena, from->message),
		.evicted = evicted,
		.evicted_n = from->victim_n,
	};
}

/* Context: the scheduling thread. */
static void on_decision(void *context, const struct bt_pipeline_decision *from)
{
	struct bt_lib *lib = context;
	struct bt_lib_threads *t = lib->threads;
	struct bt_lib_frame frame;

	if (!bt_lib_outcome(from->outcome)) {
		return;
	}
	bt_add_owned(&t->decision_n, 1u);
	bt_arena_reset(&lib->cycle_arena);
	const struct berth_decision decision = describe(lib, &lib->cycle_arena, from);
	if (decision.ticket) {
		add_binding(t, &decision);
	}
	if (lib->options.decided) {
		bt_lib_callback_begin(lib, &frame);
		lib->options.decided(lib->options.context, &decision);
		bt_lib_callback_end(&frame);
	}
}

/* Context: a binder thread. */
static void bind_pod(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *binding)
{
	struct bt_lib *lib = context;
	struct bt_lib_threads *t = lib->threads;
	const struct bt_lib_binding known = begin_binding(t, binding->handle);
	struct bt_arena arena = {0};

	(void)pipeline;
	if (known.state == BINDING_EARLY_BOUND || known.state == BINDING_EARLY_FAILED) {
		answer(t, binding->handle, known.state == BINDING_EARLY_BOUND);
		return;
	}
	if (!lib->options.bind) {
		return;
	}
	const struct berth_decision decision = {
		.number = known.number,
		.ticket = binding->handle,
		.outcome = BERTH_PLACED,
		.priority = known.priority,
		.attempts = known.attempts,
		.time_ns = bt_lib_time(lib),
		.pod = refer(lib, &arena, &binding->pod, binding->node),
		.node_user = bt_lib_node_user(lib, binding->node),
		.nominated = "",
		.message = "",
	};
	enum berth_answer answered = bt_lib_call_binder(lib, &decision);
	bt_arena_fini(&arena);
	if (answered != BERTH_BIND_LATER && end_binding(t, binding->handle)) {
		answer(t, binding->handle, answered == BERTH_BOUND);
	}
}

/* The evicted pod is deleted. Context: a binder thread. */
static void remove_evicted(struct bt_lib *lib, const struct bt_pod_ref *pod)
{
	const struct bt_object object = {.kind = BT_KIND_POD,
		.api_version = bt_str("v1"),
		.kind_name = bt_str("Pod"),
		.meta = {.namespace_ = pod->namespace_, .name = pod->name, .uid = pod->uid}};

	bt_lib_set_user(lib, &object, 0);
	bt_lock_acquire(&lib->threads->evict_lock);
	(void)bt_feeder_hand_over(&lib->threads->feeders[EVICTORS], BT_WATCH_EVENT_DELETE, &object);
	bt_lock_release(&lib->threads->evict_lock);
}

/* Context: a binder thread. */
static void evict_pod(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *binding)
{
	struct bt_lib *lib = context;
	struct bt_arena arena = {0};
	struct bt_lib_frame frame;
	bool may = true;

	if (lib->options.evict) {
		const struct berth_pod_ref pod = refer(lib, &arena, &binding->pod, binding->node);

		bt_lib_callback_begin(lib, &frame);
		may = lib->options.evict(lib->options.context, &pod);
		bt_lib_callback_end(&frame);
		bt_arena_fini(&arena);
	}
	if (!may) {
		(void)bt_pipeline_evict_failed(pipeline, binding->handle, bt_str("refused"));
		return;
	}
	(void)bt_pipeline_evicted(pipeline, binding->handle);
	if (lib->options.eviction == BERTH_EVICT_AT_ONCE) {
		remove_evicted(lib, &binding->pod);
	}
}

/* ---- beginning and end ---- */

static int64_t read_clock(void *context)
{
	const struct bt_lib_threads *t = context;

	return bt_load_acquire(&t->now_ns);
}

static struct bt_limits limits_of(const struct berth_options *o)
{
	struct bt_limits limits = bt_limits_default();

	limits.sources = SOURCE_N;
	limits.ingest_threads = o->threads;
	limits.bind_threads = o->bind_threads ? o->bind_threads : limits.bind_threads;
	limits.workers = o->workers ? o->workers : limits.workers;
	limits.bindings = o->binding_max ? o->binding_max : limits.bindings;
	limits.decisions = o->bind || o->decided ? 0 : o->decision_max ? o->decision_max : 4096;
	return limits;
}

enum berth_status bt_lib_threads_start(struct bt_lib *lib, const struct bt_engine_options *options)
{
	const struct berth_options *o = &lib->options;
	struct bt_lib_threads *t = bt_mem_zalloc(1, sizeof(*t));
	struct bt_pipeline_options pipeline_options = {
		.limits = limits_of(o),
		.engine = *options,
		.binder = {.bind = o->bind || o->binding == BERTH_BIND_ANSWERED ? bind_pod : NULL,
			.evict = evict_pod,
			.context = lib},
		.sink = {.decided = on_decision, .context = lib},
		.messages = !o->no_messages,
	};
	enum berth_status status = BERTH_OK;
	struct bt_config_errors errors = {0};
	struct bt_buf text = {0};

	bt_lock_init(&t->feed_lock);
	bt_lock_init(&t->evict_lock);
	bt_lock_init(&t->poll_lock);
	bt_lock_init(&t->binding_lock);
	bt_store_relaxed(&t->now_ns, lib->now_ns);
	pipeline_options.engine.clock =
		o->clock == BERTH_CLOCK_VIRTUAL ? (struct bt_clock){read_clock, t} : bt_clock_real();
	pipeline_options.engine.moves_pods = true;
	lib->threads = t;
	t->pipeline = bt_pipeline_create(&lib->config, &pipeline_options, &errors);
	for (uint32_t i = 0; i < SOURCE_N; i++) {
		t->feeders[i] = (struct bt_feeder){.pipeline = t->pipeline, .source = i};
	}
	if (!t->pipeline) {
		bt_config_errors_text(&errors, &text);
		status = bt_lib_fail(NULL, BERTH_BAD_INPUT, "%s", text.ptr);
	} else {
		lib->engine = bt_pipeline_engine(t->pipeline);
		bt_engine_start(lib->engine);
		if (bt_pipeline_start(t->pipeline, &text) != BT_OK) {
			status = bt_lib_fail(NULL, BERTH_LIMIT, "%s", text.len ? text.ptr : "no threads");
		}
	}
	bt_buf_fini(&text);
	bt_config_errors_fini(&errors);
	return status;
}

bool bt_lib_threads_stop(struct bt_lib *lib, enum berth_stop how, int64_t timeout_ns)
{
	bt_store_release(&lib->stopped, 1u);
	return bt_pipeline_stop(lib->threads->pipeline, how == BERTH_DRAIN ? BT_END_DRAIN : BT_END_ABANDON,
		timeout_ns > 0 ? timeout_ns : 0);
}

void bt_lib_threads_fini(struct bt_lib *lib)
{
	struct bt_lib_threads *t = lib->threads;

	bt_pipeline_destroy(t->pipeline);
	bt_lock_fini(&t->feed_lock);
	bt_lock_fini(&t->evict_lock);
	bt_lock_fini(&t->poll_lock);
	bt_lock_fini(&t->binding_lock);
	bt_arena_fini(&t->poll_arena);
	bt_feeder_fini(&t->feeders[FEEDERS]);
	bt_feeder_fini(&t->feeders[EVICTORS]);
	bt_mem_free(t->bind_requests);
	bt_mem_free(t);
}

/* ---- feeding ---- */

void bt_lib_threads_feed_begin(struct bt_lib *lib)
{
	bt_lock_acquire(&lib->threads->feed_lock);
}

void bt_lib_threads_feed_end(struct bt_lib *lib)
{
	bt_lock_release(&lib->threads->feed_lock);
}

enum bt_status bt_lib_threads_hand_over(struct bt_lib *lib, const struct bt_object *object, bool gone)
{
	return bt_feeder_hand_over(
		&lib->threads->feeders[FEEDERS], gone ? BT_WATCH_EVENT_DELETE : BT_WATCH_EVENT_APPLY, object);
}

static bool all_is_taken(const struct bt_lib_threads *t)
{
	return bt_feeders_are_taken(t->feeders, SOURCE_N);
}

void bt_lib_threads_finish_admission(struct bt_lib *lib)
{
	struct bt_lib_threads *t = lib->threads;

	if (!lib->admission.expand) {
		bt_admission_finish(&lib->admission, NULL);
		return;
	}
	/* Pods of DaemonSets depend on all nodes, so waits until they are applied. */
	while (!all_is_taken(t) && !bt_load_acquire(&lib->stopped)) {
		bt_eventcount_wait(&lib->park, bt_eventcount_prepare(&lib->park), SLEEP_NS);
	}
	lib->job->late |= bt_feeder_finish_admission(&t->feeders[FEEDERS], &lib->admission) != BT_OK;
}

/* ---- queries ---- */

void bt_lib_visit(struct bt_lib *lib, void (*call)(void *context, struct bt_engine *engine), void *context)
{
	if (lib->threads) {
		bt_pipeline_call(lib->threads->pipeline, call, context);
	} else {
		call(context, lib->engine);
	}
}

enum berth_status bt_lib_threads_next(
	struct bt_lib *lib, int64_t timeout_ns, const struct berth_decision **out)
{
	struct bt_lib_threads *t = lib->threads;
	struct bt_pipeline_decision *decision;

	if (lib->options.bind || lib->options.decided) {
		return bt_lib_fail(lib->handle, BERTH_UNSUPPORTED,
			"with threads, decisions go to the callbacks bind and decided if there is one of "
			"them");
	}
	bt_lock_acquire(&t->poll_lock);
	do {
		decision = bt_pipeline_poll(t->pipeline, timeout_ns > 0 ? timeout_ns : 0);
		if (decision && bt_lib_outcome(decision->outcome)) {
			bt_arena_reset(&t->poll_arena);
			t->shown = describe(lib, &t->poll_arena, decision);
			*out = &t->shown;
			bt_pipeline_decision_free(decision);
			bt_lock_release(&t->poll_lock);
			return BERTH_OK;
		}
		bt_pipeline_decision_free(decision);
	} while (decision);
	bt_lock_release(&t->poll_lock);
	enum berth_status status = bt_lib_check_stopped(lib);
	return status == BERTH_OK ? bt_lib_fail(lib->handle, BERTH_TIMEOUT, "there is no decision yet")
				  : status;
}

static void count_waiting(void *context, struct bt_engine *engine)
{
	const struct bt_queue_counts counts = bt_queue_counts(bt_engine_queue(engine));

	*(uint64_t *)context = counts.active + counts.in_flight;
}

static bool is_settled(struct bt_lib *lib)
{
	uint64_t waiting_n = 0;

	if (!all_is_taken(lib->threads)) {
		return false;
	}
	bt_lib_visit(lib, count_waiting, &waiting_n);
	const struct bt_pipeline_counts counts = bt_pipeline_counts(lib->threads->pipeline);
	/* Immediate evictions come back as events. */
	return waiting_n == 0 && counts.binding_n == 0 && counts.evicting_n == 0 &&
	       all_is_taken(lib->threads);
}

enum berth_status bt_lib_threads_settle(struct bt_lib *lib, int64_t timeout_ns)
{
	int64_t begin_ns = bt_clock_monotonic_ns();

	while (!is_settled(lib)) {
		enum berth_status status = bt_lib_check_stopped(lib);

		if (status != BERTH_OK) {
			return status;
		}
		if (bt_clock_monotonic_ns() - begin_ns >= timeout_ns) {
			return bt_lib_fail(lib->handle, BERTH_TIMEOUT, "there is still something to do");
		}
		bt_eventcount_wait(&lib->park, bt_eventcount_prepare(&lib->park), SLEEP_NS);
	}
	return BERTH_OK;
}

static void visit_once(void *context, struct bt_engine *engine)
{
	(void)context;
	(void)engine;
}

enum berth_status bt_lib_threads_set_time(struct bt_lib *lib, int64_t now_ns)
{
	struct bt_lib_threads *t = lib->threads;
	int64_t before_ns = bt_load_acquire(&t->now_ns);

	do {
		if (now_ns < before_ns) {
			return BERTH_INVALID;
		}
	} while (!bt_cas(&t->now_ns, &before_ns, now_ns));
	/* The step interrupted by the first visit processes timers; the second visit comes after it. */
	bt_lib_visit(lib, visit_once, NULL);
	bt_lib_visit(lib, visit_once, NULL);
	return BERTH_OK;
}

int64_t bt_lib_threads_time(const struct bt_lib *lib)
{
	struct bt_clock real = bt_clock_real();

	return lib->options.clock == BERTH_CLOCK_VIRTUAL ? bt_load_acquire(&lib->threads->now_ns)
							 : bt_clock_now_ns(&real);
}

void bt_lib_threads_count(struct bt_lib *lib, struct berth_counts *out)
{
	const struct bt_pipeline_counts counts = bt_pipeline_counts(lib->threads->pipeline);

	out->decisions = bt_load_relaxed(&lib->threads->decision_n);
	out->bound = counts.bound_n;
	out->bind_failed = counts.failed_n;
	out->open_bindings = counts.binding_n;
}
