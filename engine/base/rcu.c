/* SPDX-License-Identifier: Apache-2.0
 * Read-copy-update by two flavours of liburcu. Deferred objects wait for visitors in call_rcu of the memb
 * flavour; its thread then waits for registered readers, once per batch, and reclaims. Added here: a limit on
 * pending objects, and a thread that detects stalled readers.
 */
#include "engine/base/rcu.h"

#include <pthread.h>
#include <signal.h>
#include <stdalign.h>
#include <string.h>
#include <urcu/urcu-memb.h>
#include <urcu/urcu-qsbr.h>

#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/eventcount.h"
#include "engine/base/testpoint.h"
#include "engine/base/thread.h"

enum {
	DEFAULT_BACKLOG_N = 262144,
	DEFAULT_BACKLOG_BYTES = 256 << 20,
	DEFAULT_STALL_NS = 1000000000,
	LOOKS_PER_STALL = 4
};

static_assert(sizeof(struct rcu_head) <= sizeof(((struct bt_rcu_head *)NULL)->link), "liburcu's head fits");

/* The watcher's data about a reader. lock(readers_lock): but for passed */
struct rcu_reader {
	struct rcu_reader *next;
	_Atomic uint64_t passed; /* owner: the reader; odd while it may hold references; changes each time */
	uint64_t seen;		 /* passed at the watcher's last check */
	int64_t since_ns;	 /* when that value was first seen */
	bool reported;
	char name[BT_RCU_NAME_BYTES];
};

static struct bt_lock readers_lock = BT_LOCK_INIT;
static struct rcu_reader *readers; /* lock(readers_lock): */
static _Atomic uint32_t reader_n;  /* atomic: their number; EDGE rcu.alone */

static _Thread_local struct rcu_reader *registered; /* owner: this thread */
static _Thread_local struct rcu_reader *visitor;    /* owner: this thread */
static _Thread_local uint32_t visit_depth;	    /* owner: this thread */
static _Thread_local bool reclaims;		    /* init: this is the thread that reclaims */

/* atomic: set by bt_rcu_configure */
static _Atomic uint64_t limit_n = DEFAULT_BACKLOG_N, limit_bytes = DEFAULT_BACKLOG_BYTES;
static _Atomic int64_t stall_limit_ns = DEFAULT_STALL_NS;
static struct bt_rcu_options callback; /* lock(readers_lock): stalled and its context */

static struct {
	alignas(BT_CACHELINE) _Atomic uint64_t pending_n, pending_bytes; /* atomic: */
	_Atomic uint64_t high_n, high_bytes;				 /* atomic: */
	alignas(BT_CACHELINE) _Atomic uint64_t reclaimed_n;		 /* atomic: */
	_Atomic uint64_t grace_n; /* owner: liburcu's thread; EDGE rcu.graces; QSBR's grace periods begun */
	_Atomic uint64_t throttle_n, stall_n; /* atomic: */
	_Atomic uint32_t running, stopping;
	struct bt_eventcount watch; /* the watcher */
	struct bt_eventcount room;  /* threads throttled by the backlog */
} rcu;

static struct bt_lock life_lock = BT_LOCK_INIT;
static struct call_rcu_data *caller; /* liburcu's thread. lock(life_lock): written; EDGE rcu.running */
static struct bt_thread *watcher;    /* lock(life_lock): */

/* EDGE rcu.grace: readers' accesses before their quiescent state come before reclaim. liburcu orders them
 * with its own counters, which race detectors do not see. */
static char grace_edge;

void bt_rcu_configure(const struct bt_rcu_options *options)
{
	bt_store_relaxed(&limit_n, options->backlog_n ? options->backlog_n : DEFAULT_BACKLOG_N);
	bt_store_relaxed(
		&limit_bytes, options->backlog_bytes ? options->backlog_bytes : DEFAULT_BACKLOG_BYTES);
	bt_store_relaxed(&stall_limit_ns, options->stall_ns ? options->stall_ns : DEFAULT_STALL_NS);
	bt_lock_acquire(&readers_lock);
	callback = *options;
	bt_lock_release(&readers_lock);
}

/* ---- readers ---- */

static struct rcu_reader *enlist(const char *name)
{
	struct rcu_reader *reader = bt_mem_zalloc(1, sizeof(*reader));

	memcpy(reader->name, name, strnlen(name, BT_RCU_NAME_BYTES - 1));
	bt_lock_acquire(&readers_lock);
	reader->next = readers;
	readers = reader;
	bt_lock_release(&readers_lock);
	bt_add(&reader_n, 1);
	/* WHY: either a writer sees this reader, or this reader sees the writer's publication. */
	bt_fence_full();
	return reader;
}

static void delist(struct rcu_reader *reader)
{
	bt_lock_acquire(&readers_lock);
	for (struct rcu_reader **at = &readers; *at; at = &(*at)->next) {
		if (*at == reader) {
			*at = reader->next;
			break;
		}
	}
	bt_lock_release(&readers_lock);
	bt_mem_free(reader);
	bt_sub(&reader_n, 1); /* EDGE rcu.alone release: its reads come before its removal */
}

static bool may_hold(const struct rcu_reader *reader)
{
	return reader && bt_load_relaxed(&reader->passed) & 1;
}

void bt_rcu_register(const char *name)
{
	BT_REQUIRE(!registered);
	registered = enlist(name);
	urcu_qsbr_register_thread();
	bt_add_owned(&registered->passed, 1);
}

void bt_rcu_unregister(void)
{
	BT_REQUIRE(registered);
	BT_SYNC_RELEASE(&grace_edge);
	urcu_qsbr_unregister_thread();
	delist(registered);
	registered = NULL;
}

bool bt_rcu_is_registered(void)
{
	return registered;
}

void bt_rcu_quiescent(void)
{
	BT_REQUIRE(may_hold(registered));
	BT_TESTPOINT("rcu.quiescent.before");
	bt_add_owned(&registered->passed, 2);
	BT_SYNC_RELEASE(&grace_edge);
	urcu_qsbr_quiescent_state();
}

void bt_rcu_offline(void)
{
	BT_REQUIRE(may_hold(registered));
	BT_TESTPOINT("rcu.offline.before");
	bt_add_owned(&registered->passed, 1);
	BT_SYNC_RELEASE(&grace_edge);
	urcu_qsbr_thread_offline();
}

void bt_rcu_online(void)
{
	BT_REQUIRE(registered && !may_hold(registered));
	urcu_qsbr_thread_online();
	bt_add_owned(&registered->passed, 1);
	BT_TESTPOINT("rcu.online.after");
}

bool bt_rcu_pause(void)
{
	bool was_online = may_hold(registered);

	BT_REQUIRE(!visit_depth);
	if (was_online) {
		bt_rcu_offline();
	}
	return was_online;
}

void bt_rcu_resume(bool was_online)
{
	if (was_online) {
		bt_rcu_online();
	}
}

/* A visitor is removed when its thread ends. */
static pthread_key_t visitor_key;

static void leave(void *reader)
{
	BT_SYNC_RELEASE(&grace_edge);
	urcu_memb_unregister_thread();
	delist(reader);
	visitor = NULL;
}

static void make_visitor_key(void)
{
	BT_REQUIRE(pthread_key_create(&visitor_key, leave) == 0);
	BT_SYNC_RELEASE(&visitor_key);
}

static void rcu_enter(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char name[BT_RCU_NAME_BYTES] = "";

	pthread_once(&once, make_visitor_key);
	BT_SYNC_ACQUIRE(&visitor_key);
	pthread_getname_np(pthread_self(), name, sizeof(name));
	visitor = enlist(name);
	urcu_memb_register_thread();
	pthread_setspecific(visitor_key, visitor);
}

void bt_rcu_visit_begin(void)
{
	if (BT_UNLIKELY(!visitor)) {
		rcu_enter();
	}
	urcu_memb_read_lock();
	if (!visit_depth++) {
		bt_add_owned(&visitor->passed, 1);
	}
	BT_TESTPOINT("rcu.visit.after_begin");
}

void bt_rcu_visit_end(void)
{
	BT_REQUIRE(visit_depth);
	BT_TESTPOINT("rcu.visit.before_end");
	if (!--visit_depth) {
		bt_add_owned(&visitor->passed, 1);
		BT_SYNC_RELEASE(&grace_edge);
	}
	urcu_memb_read_unlock();
}

bool bt_rcu_is_reading(void)
{
	return visit_depth || may_hold(registered);
}

/* ---- reclaim ---- */

static void raise_to(_Atomic uint64_t *high, uint64_t value)
{
	uint64_t seen = bt_load_relaxed(high);

	while (value > seen && !bt_cas(high, &seen, value)) {
		bt_cpu_relax();
	}
}

static bool is_empty(void)
{
	return bt_load_acquire(&rcu.pending_n) == 0; /* EDGE rcu.pending acquire */
}

static bool is_within_limits(void)
{
	return bt_load_relaxed(&rcu.pending_n) <= bt_load_relaxed(&limit_n) &&
	       bt_load_relaxed(&rcu.pending_bytes) <= bt_load_relaxed(&limit_bytes);
}

/* Waits for every registered reader that existed when head was deferred. One grace period serves all earlier
 * deferrals. */
static void wait_for_registered(const struct bt_rcu_head *head)
{
	uint64_t grace_n = bt_load_relaxed(&rcu.grace_n);

	if (grace_n == head->grace_n) {
		BT_TESTPOINT("rcu.reclaim.before_grace");
		bt_store_relaxed(&rcu.grace_n, grace_n + 1);
		/* WHY: EDGE rcu.graces: a deferring thread sees this grace period's number, or the grace
		 * period sees its unpublication. */
		bt_fence_full();
		urcu_qsbr_synchronize_rcu();
	}
}

/* Visitors are done. Context: liburcu's thread. */
static void reclaim_one(struct rcu_head *link)
{
	struct bt_rcu_head *head = (struct bt_rcu_head *)(void *)link;

	/* EDGE rcu.deferred acquire: the head is filled, and no published pointer refers to its object. */
	BT_SYNC_ACQUIRE(head);
	size_t bytes = head->bytes;
	wait_for_registered(head);
	BT_SYNC_ACQUIRE(&grace_edge);
	BT_TESTPOINT("rcu.reclaim.after_grace");
	reclaims = true;
	head->reclaim(head);
	bt_add_relaxed(&rcu.reclaimed_n, 1);
	bt_sub_relaxed(&rcu.pending_bytes, bytes);
	bt_sub(&rcu.pending_n, 1); /* EDGE rcu.pending release: reclaim comes before the decrement */
	bt_eventcount_wake(&rcu.room);
}

/* ---- stalls ---- */

/* Has the reader delayed grace periods for longer than the limit, without having been reported? */
static bool is_new_stall(struct rcu_reader *reader, int64_t now_ns)
{
	uint64_t passed = bt_load_relaxed(&reader->passed);

	if (passed != reader->seen || !(passed & 1)) {
		reader->seen = passed;
		reader->since_ns = now_ns;
		reader->reported = false;
		return false;
	}
	return !reader->reported && now_ns - reader->since_ns >= bt_load_relaxed(&stall_limit_ns);
}

/* Reports one stall, if any; returns whether it did. The callback runs without the lock. */
static bool report_stall(int64_t now_ns)
{
	char name[BT_RCU_NAME_BYTES];
	struct bt_rcu_options report = {.context = NULL};
	int64_t held_ns = -1;

	bt_lock_acquire(&readers_lock);
	for (struct rcu_reader *reader = readers; reader && held_ns < 0; reader = reader->next) {
		if (is_new_stall(reader, now_ns)) {
			reader->reported = true;
			held_ns = now_ns - reader->since_ns;
			memcpy(name, reader->name, sizeof(name));
			report = callback;
		}
	}
	bt_lock_release(&readers_lock);
	if (held_ns < 0) {
		return false;
	}
	bt_add(&rcu.stall_n, 1);
	if (report.stalled) {
		report.stalled(report.context, name, held_ns);
	}
	return true;
}

/* Polls a few times per stall limit, and sleeps when nothing is pending. */
static void watch_thread(void *context)
{
	(void)context;
	while (!bt_load_acquire(&rcu.stopping)) {
		uint32_t key = bt_eventcount_prepare(&rcu.watch);
		bool is_waited = bt_load_acquire(&rcu.pending_n);

		if (bt_load_acquire(&rcu.stopping)) {
			break;
		}
		if (is_waited) {
			int64_t now_ns = bt_clock_monotonic_ns();

			while (report_stall(now_ns)) {
			}
		}
		bt_eventcount_wait(&rcu.watch, key,
			is_waited ? bt_load_relaxed(&stall_limit_ns) / LOOKS_PER_STALL + 1
				  : BT_EVENTCOUNT_FOREVER);
	}
}

/* ---- life ---- */

/* As in our threads, signals are blocked in liburcu's thread. */
static struct call_rcu_data *start_caller(void)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	struct call_rcu_data *started = urcu_memb_create_call_rcu_data(0, -1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_setname_np(urcu_memb_get_call_rcu_thread(started), "bt-rcu-reclaim");
	return started;
}

static void end_caller(void)
{
	pthread_t thread = urcu_memb_get_call_rcu_thread(caller);

	urcu_memb_call_rcu_data_free(caller);
	/* liburcu up to 0.13 ends the thread, but does not join it. */
	BT_REQUIRE(BT_URCU_JOINS || pthread_join(thread, NULL) == 0);
}

static void start(void)
{
	const struct bt_thread_options options = {.name = "bt-rcu-watch"};

	bt_lock_acquire(&life_lock);
	if (!bt_load_relaxed(&rcu.running)) {
		bt_store_relaxed(&rcu.stopping, 0);
		bt_eventcount_init(&rcu.watch);
		bt_eventcount_init(&rcu.room);
		caller = start_caller();
		enum bt_status rc = bt_thread_start(&options, watch_thread, NULL, &watcher, NULL);
		BT_REQUIRE(rc == BT_OK);
		/* EDGE rcu.running release: the event counts are initialized, liburcu's thread exists. */
		bt_store_release(&rcu.running, 1);
	}
	bt_lock_release(&life_lock);
}

bool bt_rcu_has_readers(void)
{
	/* WHY: as in enlist. */
	bt_fence_full();
	return bt_load_acquire(&reader_n) > 0; /* EDGE rcu.alone acquire */
}

void bt_rcu_defer(struct bt_rcu_head *head, void (*reclaim)(struct bt_rcu_head *head), size_t bytes)
{
	/* Earlier deferrals come first. */
	if (!bt_rcu_has_readers() && is_empty()) {
		reclaim(head);
		bt_add_relaxed(&rcu.reclaimed_n, 1);
		return;
	}
	/* EDGE rcu.running acquire */
	if (BT_UNLIKELY(!bt_load_acquire(&rcu.running))) {
		start();
	}
	/* EDGE rcu.graces: after the fence in bt_rcu_has_readers. */
	head->grace_n = bt_load_relaxed(&rcu.grace_n);
	head->reclaim = reclaim;
	head->bytes = bytes;
	uint64_t before_n = bt_add_relaxed(&rcu.pending_n, 1);
	raise_to(&rcu.high_n, before_n + 1);
	raise_to(&rcu.high_bytes, bt_add_relaxed(&rcu.pending_bytes, bytes) + bytes);
	BT_TESTPOINT("rcu.defer.before_call");
	BT_SYNC_RELEASE(head); /* EDGE rcu.deferred release; liburcu's queue orders it */
	urcu_memb_set_thread_call_rcu_data(caller);
	urcu_memb_call_rcu((struct rcu_head *)(void *)head->link, reclaim_one);
	if (!before_n) {
		bt_eventcount_wake(&rcu.watch);
	}
}

/* Waits until the backlog is within the limits, or empty. */
static bool wait_for(bool (*is_enough)(void), int64_t timeout_ns)
{
	int64_t now_ns = timeout_ns == BT_EVENTCOUNT_FOREVER ? 0 : bt_clock_monotonic_ns();
	int64_t deadline_ns = timeout_ns < INT64_MAX - now_ns ? now_ns + timeout_ns : BT_EVENTCOUNT_FOREVER;
	bool enough = false;

	BT_REQUIRE(!reclaims && !visit_depth);
	for (bool in_time = true; !enough && in_time;) {
		uint32_t key = bt_eventcount_prepare(&rcu.room);

		BT_TESTPOINT("rcu.throttle.before_look");
		enough = is_enough();
		if (!enough) {
			now_ns = deadline_ns == BT_EVENTCOUNT_FOREVER ? 0 : bt_clock_monotonic_ns();
			in_time = bt_eventcount_wait(&rcu.room, key,
				deadline_ns == BT_EVENTCOUNT_FOREVER ? BT_EVENTCOUNT_FOREVER
								     : deadline_ns - now_ns);
			enough = is_enough();
		}
	}
	return enough;
}

bool bt_rcu_throttle(int64_t timeout_ns)
{
	if (BT_LIKELY(is_within_limits())) {
		return true;
	}
	bt_add_relaxed(&rcu.throttle_n, 1);
	return wait_for(is_within_limits, timeout_ns);
}

void bt_rcu_drain(void)
{
	if (!is_empty()) {
		wait_for(is_empty, BT_EVENTCOUNT_FOREVER);
	}
}

void bt_rcu_shutdown(void)
{
	bt_rcu_drain();
	bt_lock_acquire(&life_lock);
	if (bt_load_relaxed(&rcu.running)) {
		bt_store_release(&rcu.stopping, 1);
		bt_eventcount_wake(&rcu.watch);
		bt_thread_join(&watcher);
		end_caller();
		bt_store_release(&rcu.running, 0);
	}
	bt_lock_release(&life_lock);
}

struct bt_rcu_stats bt_rcu_stats_read(void)
{
	return (struct bt_rcu_stats){.pending_n = bt_load_relaxed(&rcu.pending_n),
		.pending_bytes = bt_load_relaxed(&rcu.pending_bytes),
		.high_n = bt_load_relaxed(&rcu.high_n),
		.high_bytes = bt_load_relaxed(&rcu.high_bytes),
		.reclaimed_n = bt_load_relaxed(&rcu.reclaimed_n),
		.grace_n = bt_load_relaxed(&rcu.grace_n),
		.throttle_n = bt_load_relaxed(&rcu.throttle_n),
		.stall_n = bt_load_relaxed(&rcu.stall_n)};
}
