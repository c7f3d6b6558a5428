/* SPDX-License-Identifier: Apache-2.0
 * Decisions, their bindings, and time.
 *
 *   decide_all --> the engine's cycle --> bt_lib_bind (a ticket), bt_lib_evict --> bt_lib_cycle_ended
 *        --> options.decided --> options.bind --answer--> bt_engine_bound | bt_engine_bind_failed
 *                                          |--later--> berth_bound | berth_bind_failed, by the ticket
 */
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/libberth/lib/lib_int.h"

const char *bt_lib_keep(struct bt_arena *arena, struct bt_str text)
{
	return text.len ? bt_arena_copy(arena, text.ptr, text.len) : "";
}

enum berth_outcome bt_lib_outcome(enum bt_outcome outcome)
{
	switch (outcome) {
	case BT_PLACED:
		return BERTH_PLACED;
	case BT_REFUSED:
		return BERTH_REFUSED;
	case BT_FAILED:
		return BERTH_FAILED;
	default:
		return (enum berth_outcome)0;
	}
}

/* ---- engine callbacks ---- */

static struct bt_str name_of(const struct bt_lib *lib, uint32_t name)
{
	return name == BT_NAME_NONE ? (struct bt_str){.len = 0}
				    : bt_intern_str(bt_engine_cache(lib->engine)->dictionary->intern, name);
}

static struct bt_str node_of(const struct bt_lib *lib, uint32_t node_ix)
{
	return node_ix == BT_NO_NODE
		       ? (struct bt_str){.len = 0}
		       : name_of(lib, bt_engine_cache(lib->engine)->view.snapshot->nodes[node_ix].name);
}

struct berth_pod_ref bt_lib_refer(
	struct bt_lib *lib, struct bt_arena *arena, uint32_t pod_ix, uint32_t node_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(bt_engine_cache(lib->engine)->ledger, pod_ix);
	struct bt_str namespace_ = name_of(lib, pod->signature->namespace_), name = name_of(lib, pod->name);

	return (struct berth_pod_ref){
		.pod_namespace = bt_lib_keep(arena, namespace_),
		.name = bt_lib_keep(arena, name),
		.uid = bt_lib_keep(arena, name_of(lib, pod->uid)),
		.node = bt_lib_keep(arena, node_of(lib, node_ix)),
		.user = bt_lib_pod_user(lib, namespace_, name),
	};
}

void bt_lib_bind(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	struct bt_lib *lib = context;
	uint64_t ticket = ++lib->ticket_n;

	BT_REQUIRE(engine == lib->engine);
	BT_INVARIANT(bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix)->node_ix == node_ix);
	bt_map_put(&lib->tickets, ticket, pod_ix);
	lib->fresh = bt_mem_grow(lib->fresh, lib->fresh_n, &lib->fresh_cap, sizeof(*lib->fresh));
	lib->fresh[lib->fresh_n++] = (struct bt_lib_ticket){ticket, pod_ix};
}

/* Does the caller's callback allow the eviction? */
static bool may_evict(struct bt_lib *lib, const struct berth_pod_ref *pod)
{
	struct bt_lib_frame frame;

	if (!lib->options.evict) {
		return true;
	}
	bt_lib_callback_begin(lib, &frame);
	bool may = lib->options.evict(lib->options.context, pod);
	bt_lib_callback_end(&frame);
	return may;
}

void bt_lib_evict(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	struct bt_lib *lib = context;
	uint32_t node_ix = bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix)->node_ix;
	const struct berth_pod_ref pod = bt_lib_refer(lib, &lib->cycle_arena, pod_ix, node_ix);

	if (!may_evict(lib, &pod)) {
		bt_engine_evict_failed(engine, for_ix);
		return;
	}
	lib->evicted = bt_mem_grow(lib->evicted, lib->evicted_n, &lib->evicted_cap, sizeof(*lib->evicted));
	struct bt_lib_evicted *evicted = &lib->evicted[lib->evicted_n++];

	*evicted = (struct bt_lib_evicted){pod, pod_ix, false};
	if (lib->options.eviction == BERTH_EVICT_AT_ONCE) {
		const struct bt_object gone = {.kind = BT_KIND_POD,
			.meta = {.namespace_ = bt_str(evicted->pod.pod_namespace),
				.name = bt_str(evicted->pod.name)}};

		bt_lib_set_user(lib, &gone, 0);
		bt_engine_remove_pod(engine, pod_ix);
	} else {
		bt_engine_evict(engine, pod_ix);
	}
}

static bool is_victim(const struct bt_decision *decision, uint32_t pod_ix)
{
	for (uint32_t i = 0; i < decision->victim_n; i++) {
		if (decision->victims[i].pod_ix == pod_ix) {
			return true;
		}
	}
	return false;
}

/* A decision's victims that were not already terminating. */
static const struct berth_pod_ref *take_evicted(
	struct bt_lib *lib, const struct bt_decision *decision, uint32_t *out_n)
{
	struct berth_pod_ref *pods =
		bt_arena_alloc(&lib->cycle_arena, lib->evicted_n * sizeof(*pods), sizeof(void *));
	uint32_t n = 0;

	for (size_t i = 0; i < lib->evicted_n; i++) {
		struct bt_lib_evicted *evicted = &lib->evicted[i];

		if (!evicted->reported && is_victim(decision, evicted->pod_ix)) {
			evicted->reported = true;
			pods[n++] = evicted->pod;
		}
	}
	BT_INVARIANT(n <= decision->victim_n);
	*out_n = n;
	return n ? pods : NULL;
}

int64_t bt_lib_time(const struct bt_lib *lib)
{
	struct bt_clock real = bt_clock_real();

	if (lib->threads) {
		return bt_lib_threads_time(lib);
	}
	return lib->options.clock == BERTH_CLOCK_REAL ? bt_clock_now_ns(&real) : lib->now_ns;
}

/* The ticket of a pod placed in this cycle; 0: no completion expected. */
static uint64_t ticket_of(const struct bt_lib *lib, uint32_t pod_ix)
{
	for (size_t i = lib->fresh_n; i-- > 0;) {
		if (lib->fresh[i].pod_ix == pod_ix) {
			return lib->fresh[i].ticket;
		}
	}
	return 0;
}

static struct berth_decision describe(struct bt_lib *lib, const struct bt_decision *decision,
	const struct bt_queue_info *info, struct bt_str message)
{
	const struct bt_pod *pod = bt_ledger_pod(bt_engine_cache(lib->engine)->ledger, decision->pod_ix);
	bool placed = decision->outcome == BT_PLACED;
	struct berth_decision described = {
		.number = ++lib->decision_n,
		.outcome = bt_lib_outcome(decision->outcome),
		.priority = pod->priority,
		.attempts = info->attempts,
		.time_ns = bt_lib_time(lib),
		.pod = bt_lib_refer(
			lib, &lib->cycle_arena, decision->pod_ix, placed ? decision->node_ix : BT_NO_NODE),
		.nominated =
			bt_lib_keep(&lib->cycle_arena, node_of(lib, placed ? BT_NO_NODE : pod->nominated_ix)),
		.message = bt_lib_keep(&lib->cycle_arena, message),
	};

	described.evicted = take_evicted(lib, decision, &described.evicted_n);
	if (placed) {
		described.ticket = ticket_of(lib, decision->pod_ix);
		described.node_user = bt_lib_node_user(lib, node_of(lib, decision->node_ix));
	}
	return described;
}

/* Completes the binding and invalidates its ticket. */
static void answer(struct bt_lib *lib, uint64_t ticket, uint32_t pod_ix, bool bound)
{
	uint32_t known;

	BT_INVARIANT(bt_map_get(&lib->tickets, ticket, &known) && known == pod_ix);
	bt_map_remove(&lib->tickets, ticket);
	if (bound) {
		lib->bound_n++;
		bt_engine_bound(lib->engine, pod_ix);
	} else {
		lib->bind_failed_n++;
		bt_engine_bind_failed(lib->engine, pod_ix);
	}
}

enum berth_answer bt_lib_call_binder(struct bt_lib *lib, const struct berth_decision *decision)
{
	struct bt_lib_frame frame;

	bt_lib_callback_begin(lib, &frame);
	enum berth_answer answered = lib->options.bind(lib->options.context, decision);
	bt_lib_callback_end(&frame);
	if (answered != BERTH_BOUND && answered != BERTH_BIND_FAILED && answered != BERTH_BIND_LATER) {
		bt_lib_log(lib, BERTH_LOG_ERROR,
			"the bind callback has returned a value that the header does not name: the binding "
			"counts as failed");
		return BERTH_BIND_FAILED;
	}
	return answered;
}

static void bind_by_callback(struct bt_lib *lib, struct berth_decision *decision, uint32_t pod_ix)
{
	enum berth_answer answered = bt_lib_call_binder(lib, decision);

	if (answered != BERTH_BIND_LATER) {
		answer(lib, decision->ticket, pod_ix, answered == BERTH_BOUND);
		decision->ticket = 0;
	}
}

void bt_lib_cycle_ended(void *context, const struct bt_decision *decision, const struct bt_queue_info *info,
	uint32_t nominated, struct bt_str message)
{
	struct bt_lib *lib = context;
	struct bt_lib_frame frame;

	(void)nominated;
	if (!bt_lib_outcome(decision->outcome)) {
		return;
	}
	lib->records = bt_mem_grow(lib->records, lib->record_n, &lib->record_cap, sizeof(*lib->records));
	struct bt_lib_record *record = &lib->records[lib->record_n++];

	*record = (struct bt_lib_record){describe(lib, decision, info, message), decision->pod_ix};
	if (lib->options.decided) {
		bt_lib_callback_begin(lib, &frame);
		lib->options.decided(lib->options.context, &record->decision);
		bt_lib_callback_end(&frame);
	}
	if (lib->options.bind && record->decision.ticket) {
		bind_by_callback(lib, &record->decision, decision->pod_ix);
	}
}

/* ---- time ---- */

/* Processes expired timers. */
static void tick(struct bt_lib *lib)
{
	bt_engine_tick(lib->engine);
}

/* Without a clock, ends backoffs. Once per call, so that calls return; and not without nodes, where no pod
 * fits, so that loops over calls end. */
static void jump(struct bt_lib *lib)
{
	int64_t next = bt_engine_next_backoff_ns(lib->engine);

	if (lib->options.clock == BERTH_CLOCK_NONE && next != INT64_MAX &&
		bt_engine_cache(lib->engine)->view.snapshot->node_n) {
		lib->now_ns = next > lib->now_ns ? next : lib->now_ns;
		tick(lib);
	}
}

/* ---- deciding ---- */

void bt_lib_begin_cycle(struct bt_lib *lib)
{
	lib->record_n = lib->next_record = lib->evicted_n = lib->fresh_n = 0;
	bt_arena_reset(&lib->cycle_arena);
}

/* Schedules the next pod. Returns: false without one. */
static bool take_turn(struct bt_lib *lib)
{
	if (lib->options.clock == BERTH_CLOCK_REAL) {
		tick(lib);
	}
	uint32_t pod_ix = bt_engine_pop(lib->engine);

	if (pod_ix == BT_NO_POD) {
		return false;
	}
	bt_lib_begin_cycle(lib);
	bt_schedule_one(&lib->cycle, pod_ix);
	return true;
}

static uint64_t decide_all(struct bt_lib *lib, uint64_t max)
{
	uint64_t n = lib->record_n - lib->next_record;

	jump(lib);
	while ((max == 0 || n < max) && take_turn(lib)) {
		n += lib->record_n;
	}
	bt_lib_begin_cycle(lib);
	return n;
}

enum berth_status berth_run(struct berth *berth, uint64_t max, uint64_t *out_n)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_enter(berth, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	status = bt_lib_check_cycles(lib);
	if (status == BERTH_OK && lib->threads) {
		status = bt_lib_fail(berth, BERTH_UNSUPPORTED,
			"the handle has threads, which decide by themselves; berth_settle waits for them");
	} else if (status == BERTH_OK) {
		uint64_t n = decide_all(lib, max);

		if (out_n) {
			*out_n = n;
		}
	}
	bt_lib_leave(lib);
	return status;
}

/* The next decision, or NULL. */
static const struct berth_decision *next_decision(struct bt_lib *lib, bool first)
{
	if (lib->next_record == lib->record_n && first) {
		jump(lib);
	}
	while (lib->next_record == lib->record_n) {
		if (!take_turn(lib)) {
			return NULL;
		}
	}
	return &lib->records[lib->next_record++].decision;
}

/*
 * How long to sleep before the next check: until the timeout, or the next backoff's expiry on a real clock.
 */
static int64_t patience(const struct bt_lib *lib, int64_t left_ns)
{
	int64_t next = bt_engine_next_backoff_ns(lib->engine);

	if (lib->options.clock != BERTH_CLOCK_REAL || next == INT64_MAX) {
		return left_ns;
	}
	int64_t until = next - bt_lib_time(lib);

	until = until > 0 ? until : 1;
	return until < left_ns ? until : left_ns;
}

/* Without threads: schedules, and waits for other threads to add work. Releases the lock while it waits. */
static enum berth_status wait_for_decision(
	struct bt_lib *lib, int64_t timeout_ns, const struct berth_decision **out)
{
	int64_t begin_ns = bt_clock_monotonic_ns(), left_ns = timeout_ns > 0 ? timeout_ns : 0;

	for (bool first = true;; first = false) {
		enum berth_status status = bt_lib_check_cycles(lib);

		if (status != BERTH_OK) {
			return status;
		}
		const struct berth_decision *decision = next_decision(lib, first);
		if (decision) {
			*out = decision;
			return BERTH_OK;
		}
		if (left_ns <= 0) {
			return bt_lib_fail(lib->handle, BERTH_TIMEOUT, "there is nothing to decide");
		}
		uint32_t key = bt_eventcount_prepare(&lib->park);
		int64_t sleep_ns = patience(lib, left_ns);

		bt_lib_pause(lib);
		bt_eventcount_wait(&lib->park, key, sleep_ns);
		bt_lib_resume(lib);
		left_ns = timeout_ns - (bt_clock_monotonic_ns() - begin_ns);
	}
}

enum berth_status berth_next_decision(
	struct berth *berth, int64_t timeout_ns, const struct berth_decision **out)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_enter(berth, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	if (!out) {
		status = bt_lib_fail(berth, BERTH_INVALID, "out is NULL");
	} else if (lib->threads) {
		status = bt_lib_threads_next(lib, timeout_ns, out);
	} else {
		status = wait_for_decision(lib, timeout_ns, out);
	}
	bt_lib_leave(lib);
	return status;
}

enum berth_status berth_settle(struct berth *berth, int64_t timeout_ns)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_enter(berth, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	status = bt_lib_check_cycles(lib);
	if (status == BERTH_OK && lib->threads) {
		status = bt_lib_threads_settle(lib, timeout_ns);
	} else if (status == BERTH_OK) {
		decide_all(lib, 0);
		if (lib->tickets.count) {
			status = bt_lib_fail(
				berth, BERTH_TIMEOUT, "%zu bindings wait for an answer", lib->tickets.count);
		}
	}
	bt_lib_leave(lib);
	return status;
}

/* ---- calls of the application ---- */

static enum berth_status take_answer(struct berth *berth, uint64_t ticket, bool bound)
{
	struct bt_lib *lib;
	uint32_t pod_ix;
	enum berth_status status = bt_lib_enter(berth, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	if (bt_lib_in_transaction(lib)) {
		status = bt_lib_check_cycles(lib);
	} else if (lib->threads) {
		status = bt_lib_threads_answer(lib, ticket, bound);
	} else if (ticket && bt_map_get(&lib->tickets, ticket, &pod_ix)) {
		answer(lib, ticket, pod_ix, bound);
		bt_eventcount_wake(&lib->park);
	} else {
		status = BERTH_NOT_FOUND;
	}
	if (status == BERTH_NOT_FOUND) {
		bt_lib_fail(berth, status, "no binding with ticket %llu waits for an answer; each gets one",
			(unsigned long long)ticket);
	}
	bt_lib_leave(lib);
	return status;
}

enum berth_status berth_bound(struct berth *berth, uint64_t ticket)
{
	return take_answer(berth, ticket, true);
}

enum berth_status berth_bind_failed(struct berth *berth, uint64_t ticket)
{
	return take_answer(berth, ticket, false);
}

enum berth_status berth_set_time(struct berth *berth, int64_t now_ns)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_enter(berth, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	status = bt_lib_check_cycles(lib);
	if (status == BERTH_OK && lib->options.clock != BERTH_CLOCK_VIRTUAL) {
		status = bt_lib_fail(berth, BERTH_UNSUPPORTED, "the handle's clock is not a virtual one");
	} else if (status == BERTH_OK && lib->threads) {
		status = bt_lib_threads_set_time(lib, now_ns);
	} else if (status == BERTH_OK && now_ns < lib->now_ns) {
		status = BERTH_INVALID;
	} else if (status == BERTH_OK) {
		lib->now_ns = now_ns;
		tick(lib);
		bt_eventcount_wake(&lib->park);
	}
	if (status == BERTH_INVALID) {
		bt_lib_fail(berth, status, "time does not go back: it is %lld already",
			(long long)bt_lib_time(lib));
	}
	bt_lib_leave(lib);
	return status;
}

static void find_next_time(void *context, struct bt_engine *engine)
{
	*(int64_t *)context = bt_engine_next_backoff_ns(engine);
}

enum berth_status berth_get_time(struct berth *berth, int64_t *out_now_ns, int64_t *out_next_ns)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_enter(berth, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	if (out_now_ns) {
		*out_now_ns = bt_lib_time(lib);
	}
	if (out_next_ns) {
		bt_lib_visit(lib, find_next_time, out_next_ns);
	}
	bt_lib_leave(lib);
	return BERTH_OK;
}

static void stop_inline(struct bt_lib *lib, enum berth_stop how)
{
	if (!bt_load_relaxed(&lib->stopped)) {
		if (how == BERTH_DRAIN) {
			decide_all(lib, 0);
		}
		bt_store_release(&lib->stopped, 1u);
		bt_eventcount_wake(&lib->park);
	}
}

enum berth_status berth_stop(struct berth *berth, enum berth_stop how, int64_t timeout_ns)
{
	struct bt_lib *lib;
	enum berth_status status = bt_lib_enter(berth, &lib);

	if (status != BERTH_OK) {
		return status;
	}
	if (how != BERTH_DRAIN && how != BERTH_ABANDON) {
		status = bt_lib_fail(berth, BERTH_INVALID, "how has a value that the header does not name");
	} else if (bt_lib_in_transaction(lib)) {
		status = bt_lib_check_cycles(lib);
	} else if (!lib->threads) {
		stop_inline(lib, how);
	} else if (!bt_lib_threads_stop(lib, how, timeout_ns)) {
		status = bt_lib_fail(berth, BERTH_TIMEOUT, "a callback does not return; call this again");
	}
	bt_lib_leave(lib);
	return status;
}
