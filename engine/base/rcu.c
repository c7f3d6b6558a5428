/* SPDX-License-Identifier: Apache-2.0
 * Read-copy-update by two flavours of liburcu. One thread takes all that was deferred, waits for a grace
 * period of each flavour and calls the reclaim functions; another watches for readers that a grace period
 * waits for too long.
 */
#include "engine/base/rcu.h"

#include <pthread.h>
#include <stdalign.h>
#include <string.h>
#include <urcu/urcu-memb.h>
#include <urcu/urcu-qsbr.h>

#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/park.h"
#include "engine/base/race.h"
#include "engine/base/thread.h"

enum {
	DEFAULT_BACKLOG_N = 65536,
	DEFAULT_BACKLOG_BYTES = 256 << 20,
	DEFAULT_STALL_NS = 1000000000,
	DEFAULT_GATHER_NS = 1000000,
	LOOKS_PER_STALL = 4,
	ACCOUNT_N = 64 /* reclaimed between two updates of what is pending */
};

/* What the watcher knows of a reader. lock(readers_lock): but for passed */
struct reader {
	struct reader *next;
	_Atomic uint64_t
		passed;	  /* owner: the reader; odd while it may hold something, another number each time */
	uint64_t seen;	  /* passed at the watcher's last look */
	int64_t since_ns; /* and when it was first seen so */
	bool reported;
	char name[BT_RCU_NAME_BYTES];
};

static struct bt_lock readers_lock = BT_LOCK_INIT;
static struct reader *readers;	  /* lock(readers_lock): */
static _Atomic uint32_t reader_n; /* atomic: how many; EDGE rcu.alone */

static _Thread_local struct reader *registered; /* owner: this thread */
static _Thread_local struct reader *visitor;	/* owner: this thread */
static _Thread_local uint32_t visit_depth;	/* owner: this thread */
static _Thread_local bool reclaims;		/* init: this is the thread that reclaims */

/* atomic: set by bt_rcu_configure */
static _Atomic uint64_t limit_n = DEFAULT_BACKLOG_N, limit_bytes = DEFAULT_BACKLOG_BYTES;
static _Atomic int64_t stall_limit_ns = DEFAULT_STALL_NS, gather_limit_ns = DEFAULT_GATHER_NS;
static struct bt_rcu_options callback; /* lock(readers_lock): stalled and its context */

static struct {
	alignas(BT_CACHELINE) struct bt_rcu_head
		*_Atomic deferred;			    /* atomic: EDGE rcu.deferred; newest first */
	_Atomic uint64_t pending_n, pending_bytes;	    /* atomic: */
	_Atomic uint64_t high_n, high_bytes;		    /* atomic: */
	alignas(BT_CACHELINE) _Atomic uint64_t reclaimed_n; /* atomic: */
	_Atomic uint64_t grace_n;			    /* owner: the thread that reclaims */
	_Atomic uint64_t throttle_n, stall_n;		    /* atomic: */
	_Atomic uint32_t urgent_n; /* atomic: threads that wait for less to be pending */
	_Atomic uint32_t in_grace; /* atomic: a grace period is being waited for */
	_Atomic uint32_t running, stopping;
	struct bt_park work;  /* the thread that reclaims, when nothing is pending */
	struct bt_park hurry; /* the same, while it gathers */
	struct bt_park watch; /* the watcher */
	struct bt_park room;  /* those who wait for less to be pending */
} rcu;

static struct bt_lock life_lock = BT_LOCK_INIT;
static struct bt_thread *reclaimer, *watcher; /* lock(life_lock): */

/* EDGE rcu.grace: what readers did before they were quiescent comes before reclaiming. liburcu orders it by
 * its own counters, which race detectors do not see. */
static char grace_edge;

void bt_rcu_configure(const struct bt_rcu_options *options)
{
	bt_store_relaxed(&limit_n, options->backlog_n ? options->backlog_n : DEFAULT_BACKLOG_N);
	bt_store_relaxed(
		&limit_bytes, options->backlog_bytes ? options->backlog_bytes : DEFAULT_BACKLOG_BYTES);
	bt_store_relaxed(&stall_limit_ns, options->stall_ns ? options->stall_ns : DEFAULT_STALL_NS);
	bt_store_relaxed(&gather_limit_ns, options->gather_ns ? options->gather_ns : DEFAULT_GATHER_NS);
	bt_lock_acquire(&readers_lock);
	callback = *options;
	bt_lock_release(&readers_lock);
}

/* ---- readers ---- */

static struct reader *enlist(const char *name)
{
	struct reader *reader = bt_mem_zalloc(1, sizeof(*reader));

	memcpy(reader->name, name, strnlen(name, BT_RCU_NAME_BYTES - 1));
	bt_lock_acquire(&readers_lock);
	reader->next = readers;
	readers = reader;
	bt_lock_release(&readers_lock);
	bt_add(&reader_n, 1);
	/* WHY: either a writer sees this reader, or this reader sees what the writer has published. */
	bt_fence_full();
	return reader;
}

static void delist(struct reader *reader)
{
	bt_lock_acquire(&readers_lock);
	for (struct reader **at = &readers; *at; at = &(*at)->next) {
		if (*at == reader) {
			*at = reader->next;
			break;
		}
	}
	bt_lock_release(&readers_lock);
	bt_mem_free(reader);
	bt_sub(&reader_n, 1); /* EDGE rcu.alone release: it has read what it read before it is not there */
}

static bool may_hold(const struct reader *reader)
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
	BT_RACE_POINT("rcu.quiescent.before");
	bt_add_owned(&registered->passed, 2);
	BT_SYNC_RELEASE(&grace_edge);
	urcu_qsbr_quiescent_state();
}

void bt_rcu_offline(void)
{
	BT_REQUIRE(may_hold(registered));
	BT_RACE_POINT("rcu.offline.before");
	bt_add_owned(&registered->passed, 1);
	BT_SYNC_RELEASE(&grace_edge);
	urcu_qsbr_thread_offline();
}

void bt_rcu_online(void)
{
	BT_REQUIRE(registered && !may_hold(registered));
	urcu_qsbr_thread_online();
	bt_add_owned(&registered->passed, 1);
	BT_RACE_POINT("rcu.online.after");
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

/* A thread that has visited leaves when it ends. */
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
}

static void enter(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char name[BT_RCU_NAME_BYTES] = "";

	pthread_once(&once, make_visitor_key);
	pthread_getname_np(pthread_self(), name, sizeof(name));
	visitor = enlist(name);
	urcu_memb_register_thread();
	pthread_setspecific(visitor_key, visitor);
}

void bt_rcu_visit_begin(void)
{
	if (BT_UNLIKELY(!visitor)) {
		enter();
	}
	urcu_memb_read_lock();
	if (!visit_depth++) {
		bt_add_owned(&visitor->passed, 1);
	}
	BT_RACE_POINT("rcu.visit.after_begin");
}

void bt_rcu_visit_end(void)
{
	BT_REQUIRE(visit_depth);
	BT_RACE_POINT("rcu.visit.before_end");
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

static bool is_over(uint64_t part)
{
	return bt_load_relaxed(&rcu.pending_n) > bt_load_relaxed(&limit_n) / part ||
	       bt_load_relaxed(&rcu.pending_bytes) > bt_load_relaxed(&limit_bytes) / part;
}

/* What was deferred, oldest first. */
static struct bt_rcu_head *take_deferred(void)
{
	/* EDGE rcu.deferred acquire: the heads are filled, and no pointer leads to their objects. */
	struct bt_rcu_head *newest = bt_exchange(&rcu.deferred, NULL);
	struct bt_rcu_head *oldest = NULL;

	while (newest) {
		struct bt_rcu_head *next = newest->next;

		newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	return oldest;
}

static void account(uint64_t n, uint64_t bytes)
{
	bt_add_relaxed(&rcu.reclaimed_n, n);
	bt_sub_relaxed(&rcu.pending_bytes, bytes);
	bt_sub(&rcu.pending_n, n); /* EDGE rcu.pending release: reclaimed before it does not count any more */
	bt_park_wake(&rcu.room);
}

static void reclaim_all(struct bt_rcu_head *head)
{
	uint64_t n = 0, bytes = 0;

	while (head) {
		struct bt_rcu_head *next = head->next;

		n++;
		bytes += head->bytes;
		head->reclaim(head);
		head = next;
		if (n == ACCOUNT_N || !head) {
			account(n, bytes);
			n = bytes = 0;
		}
	}
}

static void wait_for_grace(void)
{
	bt_store_release(&rcu.in_grace, 1);
	bt_park_wake(&rcu.watch);
	BT_RACE_POINT("rcu.reclaim.before_grace");
	urcu_qsbr_synchronize_rcu();
	urcu_memb_synchronize_rcu();
	BT_SYNC_ACQUIRE(&grace_edge);
	BT_RACE_POINT("rcu.reclaim.after_grace");
	bt_store_release(&rcu.in_grace, 0);
	bt_add_owned(&rcu.grace_n, 1);
}

static bool is_urgent(void)
{
	return bt_load_acquire(&rcu.urgent_n) || bt_load_acquire(&rcu.stopping) || is_over(2);
}

/* Lets more come, so that one grace period serves many. */
static void gather(void)
{
	uint32_t key = bt_park_prepare(&rcu.hurry);

	if (!is_urgent()) {
		bt_park_wait(&rcu.hurry, key, bt_load_relaxed(&gather_limit_ns));
	}
}

static bool has_work(void)
{
	return bt_load_acquire(&rcu.deferred) || bt_load_acquire(&rcu.stopping);
}

static void reclaim_thread(void *context)
{
	(void)context;
	reclaims = true;
	for (;;) {
		uint32_t key = bt_park_prepare(&rcu.work);

		if (!has_work()) {
			bt_park_wait(&rcu.work, key, BT_PARK_FOREVER);
			continue;
		}
		if (!bt_load_acquire(&rcu.deferred)) {
			return; /* stopping */
		}
		gather();
		struct bt_rcu_head *batch = take_deferred();
		wait_for_grace();
		reclaim_all(batch);
	}
}

/* ---- stalls ---- */

/* Whether the reader holds up grace periods for longer than the limit, and was not reported for it. */
static bool is_new_stall(struct reader *reader, int64_t now_ns)
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

/* Reports one stall; returns whether there was any. The callback runs without the lock. */
static bool report_stall(int64_t now_ns)
{
	char name[BT_RCU_NAME_BYTES];
	struct bt_rcu_options report = {.context = NULL};
	int64_t held_ns = -1;

	bt_lock_acquire(&readers_lock);
	for (struct reader *reader = readers; reader && held_ns < 0; reader = reader->next) {
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

/* Looks a few times while a grace period may become too long, and sleeps when there is none. */
static void watch_thread(void *context)
{
	(void)context;
	while (!bt_load_acquire(&rcu.stopping)) {
		uint32_t key = bt_park_prepare(&rcu.watch);
		bool in_grace = bt_load_acquire(&rcu.in_grace);

		if (bt_load_acquire(&rcu.stopping)) {
			break;
		}
		if (in_grace) {
			int64_t now_ns = bt_clock_monotonic_ns();

			while (report_stall(now_ns)) {
			}
		}
		bt_park_wait(&rcu.watch, key,
			in_grace ? bt_load_relaxed(&stall_limit_ns) / LOOKS_PER_STALL + 1 : BT_PARK_FOREVER);
	}
}

/* ---- life ---- */

static void start_thread(struct bt_thread **out_thread, const char *name, void (*run)(void *context))
{
	const struct bt_thread_options options = {.name = name};

	BT_REQUIRE(bt_thread_start(&options, run, NULL, out_thread, NULL) == BT_OK);
}

static void start(void)
{
	bt_lock_acquire(&life_lock);
	if (!bt_load_relaxed(&rcu.running)) {
		bt_store_relaxed(&rcu.stopping, 0);
		bt_park_init(&rcu.work);
		bt_park_init(&rcu.hurry);
		bt_park_init(&rcu.watch);
		bt_park_init(&rcu.room);
		start_thread(&reclaimer, "bt-rcu-reclaim", reclaim_thread);
		start_thread(&watcher, "bt-rcu-watch", watch_thread);
		bt_store_release(&rcu.running, 1); /* EDGE rcu.running release: the parks are initialised */
	}
	bt_lock_release(&life_lock);
}

/* Nobody reads, and nothing older waits. EDGE rcu.alone acquire. */
static bool is_alone(void)
{
	/* WHY: as in enlist. */
	bt_fence_full();
	return !bt_load_acquire(&reader_n) && !bt_load_acquire(&rcu.pending_n);
}

void bt_rcu_defer(struct bt_rcu_head *head, void (*reclaim)(struct bt_rcu_head *head), size_t bytes)
{
	if (is_alone()) {
		reclaim(head);
		bt_add_relaxed(&rcu.reclaimed_n, 1);
		return;
	}
	if (BT_UNLIKELY(!bt_load_acquire(&rcu.running))) {
		start();
	}
	*head = (struct bt_rcu_head){
		.next = bt_load_relaxed(&rcu.deferred), .reclaim = reclaim, .bytes = bytes};
	raise_to(&rcu.high_n, bt_add_relaxed(&rcu.pending_n, 1) + 1);
	raise_to(&rcu.high_bytes, bt_add_relaxed(&rcu.pending_bytes, bytes) + bytes);
	BT_RACE_POINT("rcu.defer.before_push");
	/* EDGE rcu.deferred release. Lock-free: a failure is another thread's success. */
	while (!bt_cas(&rcu.deferred, &head->next, head)) {
		bt_cpu_relax();
	}
	BT_RACE_POINT("rcu.defer.before_wake");
	bt_park_wake(&rcu.work);
	if (BT_UNLIKELY(is_over(2))) {
		bt_park_wake(&rcu.hurry);
	}
}

/* Makes reclaim hurry, and waits until less than before is pending: within the limits, or nothing. */
static bool wait_for_less(bool (*is_enough)(void), int64_t timeout_ns)
{
	int64_t now_ns = timeout_ns == BT_PARK_FOREVER ? 0 : bt_clock_monotonic_ns();
	int64_t deadline_ns = timeout_ns < INT64_MAX - now_ns ? now_ns + timeout_ns : BT_PARK_FOREVER;
	bool enough = is_enough();

	BT_REQUIRE(!reclaims && !visit_depth);
	bt_add(&rcu.urgent_n, 1);
	bt_park_wake(&rcu.hurry);
	for (bool in_time = true; !enough && in_time;) {
		uint32_t key = bt_park_prepare(&rcu.room);

		BT_RACE_POINT("rcu.throttle.before_look");
		enough = is_enough();
		if (!enough) {
			now_ns = deadline_ns == BT_PARK_FOREVER ? 0 : bt_clock_monotonic_ns();
			in_time = bt_park_wait(&rcu.room, key,
				deadline_ns == BT_PARK_FOREVER ? BT_PARK_FOREVER : deadline_ns - now_ns);
			enough = is_enough();
		}
	}
	bt_sub(&rcu.urgent_n, 1);
	return enough;
}

static bool is_within_limits(void)
{
	return !is_over(1);
}

static bool is_empty(void)
{
	return bt_load_acquire(&rcu.pending_n) == 0; /* EDGE rcu.pending acquire */
}

bool bt_rcu_throttle(int64_t timeout_ns)
{
	if (BT_LIKELY(is_within_limits())) {
		return true;
	}
	bt_add_relaxed(&rcu.throttle_n, 1);
	return wait_for_less(is_within_limits, timeout_ns);
}

void bt_rcu_drain(void)
{
	if (!is_empty()) {
		wait_for_less(is_empty, BT_PARK_FOREVER);
	}
}

void bt_rcu_shutdown(void)
{
	bt_rcu_drain();
	bt_lock_acquire(&life_lock);
	if (bt_load_relaxed(&rcu.running)) {
		bt_store_release(&rcu.stopping, 1);
		bt_park_wake(&rcu.work);
		bt_park_wake(&rcu.watch);
		bt_thread_join(&reclaimer);
		bt_thread_join(&watcher);
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
