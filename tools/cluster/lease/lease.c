/* SPDX-License-Identifier: Apache-2.0
 * Leader election. Thread: the client's, on which all callbacks and timers run; bt_lease_is_held is for any
 * thread, bt_lease_destroy for one that is not the client's.
 *
 *              read: held by another, or error
 *            .---------------------------------.
 *            v                                 |
 *   FOLLOWING (watch, wake) --attempt--> GET --+--> POST or PUT --answered--> LEADING (wake, deadline)
 *            ^                            ^                |                    |  |
 *            '---------- refused ---------+----------------'                    |  | renewed: PUT, else GET
 *                                         '-------------------------------------'<-'
 *   LEADING --lose (too old, or another holds it)--> OVER      any --stop--> RELEASING (PUT) --> OVER
 *
 * Upholds I8: held_until_ns is counted from before the request was sent, by a clock that advances while the
 * machine sleeps, and only an answer moves it forward. Others may take the lease no sooner than its duration
 * after they have seen the renewal, which is later; the difference of the two durations is the margin for
 * what is written just before the end.
 */
#include "tools/cluster/lease/lease.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/base/atomic.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "tools/format/schema.h"
#include "tools/cluster/lease/record_int.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/net/latch.h"

#define NS_PER_S    ((int64_t)1000000000)
#define AFTER_NS    1000000    /* delay after another's lease expires, before the attempt */
#define JITTER	    1.2	       /* of the retry period, the most that is added. Source: client-go */
#define EVENT_BYTES (1u << 20) /* limit for one event of the watch */
#define LEASE_PATH  "/apis/coordination.k8s.io/v1/namespaces/%s/leases"

enum state { STATE_FOLLOWING = 0, STATE_LEADING, STATE_RELEASING, STATE_OVER };

/* The request in flight; one at a time, besides the watch. CUT: it was cancelled. */
enum step { STEP_NONE = 0, STEP_READ, STEP_WRITE, STEP_RELEASE, STEP_CUT };

/* What events report, each at most once. */
enum leadership { BECAME_LEADER = 0, STOPPED_LEADING, LEADERSHIP_N };

struct bt_lease {
	struct bt_lease_options options;	/* init: strings are owned */
	struct bt_buf lock;			/* init: namespace/name, for logs */
	struct bt_buf folder, path, watch_path; /* init: of URLs */
	_Atomic int64_t held_until_ns;		/* atomic: by the steady clock; 0: not held */
	_Atomic int64_t renewed_ns; /* atomic: when our lease was last seen to change; 0: it is not ours */
	_Atomic uint64_t slow_n;    /* atomic: */
	/* owner: the client's thread */
	enum state state;
	enum step step;
	bool optimistic;      /* the write in flight was not preceded by a read */
	bool detached;	      /* no callbacks any more; waits for calls to end */
	uint64_t call, watch; /* in flight; 0: none */
	uint64_t events[LEADERSHIP_N];
	uint32_t event_n; /* of these, in flight */
	int64_t sent_ns;  /* when the call was sent */
	struct bt_lease_record record, scratch;
	int64_t observed_ns; /* when record was seen to change */
	struct bt_buf body, event, reported;
	struct bt_rng rng;
	bool again; /* something happened during the call: try again after it */
	/* contexts of timers; each has its own, so that it can be cancelled alone */
	struct bt_lease *wake, *deadline, *watcher, *ender;
	struct bt_latch released, gone;
	bool stopping, released_open;
};

/* ---- clocks ---- */

/* Advances while the machine sleeps, and does not jump. */
static int64_t boot_ns(void *context)
{
	struct timespec now;

	(void)context;
	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int64_t steady_ns(const struct bt_lease *lease)
{
	return bt_clock_now_ns(&lease->options.steady);
}

bool bt_lease_is_held(const struct bt_lease *lease)
{
	return steady_ns(lease) < bt_load_relaxed(&lease->held_until_ns);
}

bool bt_lease_is_healthy(const struct bt_lease *lease, int64_t tolerance_ns)
{
	int64_t renewed_ns = bt_load_relaxed(&lease->renewed_ns);

	return renewed_ns == 0 || steady_ns(lease) - renewed_ns <= lease->options.lease_ns + tolerance_ns;
}

uint64_t bt_lease_slow_n(const struct bt_lease *lease)
{
	return bt_load_relaxed(&lease->slow_n);
}

/* ---- logs ---- */

static void log_lease(const struct bt_lease *lease, enum bt_log_level level, int verbosity,
	const char *message, struct bt_str why)
{
	struct bt_log_field fields[3] = {bt_log_str("lock", bt_buf_view(&lease->lock))};

	if (why.len) {
		fields[1] = bt_log_str("err", why);
	}
	bt_log(level, verbosity, message, fields);
}

/* ---- observed record ---- */

static bool is_ours(const struct bt_lease *lease)
{
	return bt_str_is(lease->record.holder, lease->options.identity);
}

/* When others may take the observed lease. */
static int64_t expires_ns(const struct bt_lease *lease)
{
	return lease->observed_ns + (int64_t)lease->record.duration_s * NS_PER_S;
}

static void report_leader(struct bt_lease *lease)
{
	struct bt_str holder = lease->record.holder;

	if (bt_str_eq(holder, bt_buf_view(&lease->reported))) {
		return;
	}
	bt_buf_clear(&lease->reported);
	bt_buf_str(&lease->reported, holder);
	if (lease->options.new_leader) {
		lease->options.new_leader(lease->options.context, bt_buf_view(&lease->reported));
	}
}

/* Makes scratch the observed record. */
static void observe(struct bt_lease *lease)
{
	struct bt_lease_record old = lease->record;

	if (!bt_lease_record_same(&old, &lease->scratch)) {
		lease->observed_ns = steady_ns(lease);
	}
	lease->record = lease->scratch;
	lease->scratch = old;
	bt_store_relaxed(&lease->renewed_ns, is_ours(lease) ? lease->observed_ns : 0);
}

/* ---- timers ---- */

static void attempt(struct bt_lease *lease);
static void lose(struct bt_lease *lease, const char *why);
static void begin_watch(struct bt_lease *lease);

static void woken(void *context)
{
	struct bt_lease *lease = *(struct bt_lease **)context;

	attempt(lease);
}

static void wake_in(struct bt_lease *lease, int64_t delay_ns)
{
	bt_http_forget(lease->options.http, &lease->wake);
	bt_http_after(lease->options.http, delay_ns, woken, &lease->wake);
}

/* A follower tries again after the jittered retry period, or when the lease expires if that is sooner. */
static void wake_later(struct bt_lease *lease)
{
	double extra = (double)bt_rng_below(&lease->rng, 1000000) / 1e6 * JITTER;
	int64_t delay_ns = lease->options.retry_ns, left_ns = expires_ns(lease) - steady_ns(lease) + AFTER_NS;

	if (lease->state == STATE_FOLLOWING) {
		delay_ns += (int64_t)(extra * (double)delay_ns);
		delay_ns = lease->record.holder.len && left_ns > 0 && left_ns < delay_ns ? left_ns : delay_ns;
	}
	wake_in(lease, delay_ns);
}

static void at_deadline(void *context)
{
	struct bt_lease *lease = *(struct bt_lease **)context;
	int64_t left_ns = bt_load_relaxed(&lease->held_until_ns) - steady_ns(lease);

	if (lease->state != STATE_LEADING) {
		return;
	}
	if (left_ns <= 0) {
		lose(lease, "the lease was not renewed in time");
		return;
	}
	bt_http_after(lease->options.http, left_ns, at_deadline, &lease->deadline);
}

/* ---- events ---- */

static void leave(struct bt_lease *lease);
static void open_released(struct bt_lease *lease);

struct refusal {
	struct bt_str message;
};

static const struct bt_field refusal_fields[] = {
	{.name = BT_STR("message"), .type = BT_FIELD_STR, .offset = offsetof(struct refusal, message)},
};
static const struct bt_schema refusal_schema = BT_SCHEMA(refusal_fields, struct refusal);

/* The message of a Status; the code if there is none. */
static void describe(const struct bt_http_head *head, struct bt_str body, struct bt_buf *out)
{
	struct bt_json *cursor = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_decode decode = {.json = cursor, .arena = &arena};
	struct refusal refusal = {0};

	bt_json_begin(cursor, body, &arena);
	if (bt_schema_decode(&decode, &refusal_schema, &refusal) && refusal.message.len) {
		bt_buf_str(out, refusal.message);
	} else {
		bt_buf_printf(out, "the server answers with status %u", head->status);
	}
	bt_arena_fini(&arena);
	bt_json_destroy(cursor);
}

static void end_event(void *context, enum bt_http_end how, const struct bt_http_head *head,
	struct bt_str body, struct bt_str error)
{
	struct bt_lease *lease = context;
	struct bt_buf why = {0};

	lease->event_n--;
	if (how == BT_HTTP_ANSWERED && head->status >= 300) {
		describe(head, body, &why);
	} else {
		bt_buf_str(&why, error);
	}
	if (why.len && !lease->detached) {
		log_lease(lease, BT_LOG_ERROR, 0, "Unable to write event", bt_buf_view(&why));
	}
	bt_buf_fini(&why);
	if (lease->detached) {
		leave(lease);
	} else if (lease->stopping && lease->state == STATE_OVER) {
		open_released(lease);
	}
}

/* Records an event about this candidate on the Lease. It is never retried: it only informs people. */
static void record_event(struct bt_lease *lease, enum leadership change)
{
	static const char *const words[] = {"became leader", "stopped leading"};
	struct bt_buf path = {0}, body = {0}, message = {0};

	if (!lease->options.component) {
		return;
	}
	bt_buf_printf(&path, "/api/v1/namespaces/%s/events", lease->options.namespace_);
	bt_buf_printf(&message, "%s %s", lease->options.identity, words[change]);
	bt_lease_event_write(&lease->record,
		&(struct bt_lease_event){.namespace_ = bt_str(lease->options.namespace_),
			.name = bt_str(lease->options.name),
			.component = bt_str(lease->options.component),
			.message = bt_buf_view(&message),
			.now_ns = bt_clock_now_ns(&lease->options.wall)},
		&body);
	lease->event_n++;
	lease->events[change] =
		bt_http_send(lease->options.http, &(struct bt_http_call){.method = BT_HTTP_POST,
							  .path = bt_buf_view(&path),
							  .accept = bt_str("application/json"),
							  .content_type = bt_str("application/json"),
							  .body = bt_buf_view(&body),
							  .timeout_ns = lease->options.renew_deadline_ns / 2,
							  .done = end_event,
							  .context = lease});
	bt_buf_fini(&path);
	bt_buf_fini(&body);
	bt_buf_fini(&message);
}

/* ---- ends ---- */

/* Opens the latch once no write is in flight. */
static void open_released(struct bt_lease *lease)
{
	if (!lease->released_open && !lease->event_n) {
		lease->released_open = true;
		bt_latch_open(&lease->released);
	}
}

static void lease_end(struct bt_lease *lease)
{
	lease->state = STATE_OVER;
	lease->step = STEP_NONE;
	bt_store_relaxed(&lease->held_until_ns, 0);
	bt_http_cancel(lease->options.http, lease->call);
	bt_http_cancel(lease->options.http, lease->watch);
	bt_http_forget(lease->options.http, &lease->wake);
	bt_http_forget(lease->options.http, &lease->deadline);
	bt_http_forget(lease->options.http, &lease->watcher);
}

static void lose(struct bt_lease *lease, const char *why)
{
	lease_end(lease);
	log_lease(lease, BT_LOG_ERROR, 0, "Failed to renew lease", bt_str(why));
	record_event(lease, STOPPED_LEADING);
	report_leader(lease);
	if (lease->options.stopped_leading) {
		lease->options.stopped_leading(lease->options.context);
	}
}

static void open_ended(void *context)
{
	bt_latch_open(context);
}

/* Opens the gone latch once no call and no timer refers to the lease. */
static void leave(struct bt_lease *lease)
{
	if (lease->detached && !lease->call && !lease->watch && !lease->event_n) {
		bt_http_after(lease->options.http, 0, open_ended, &lease->gone);
	}
}

/* ---- calls ---- */

static void take_answer(void *context, enum bt_http_end how, const struct bt_http_head *head,
	struct bt_str body, struct bt_str error);

static void send_request(struct bt_lease *lease, enum step step, enum bt_http_method method, const char *path)
{
	lease->step = step;
	lease->sent_ns = steady_ns(lease);
	lease->call = bt_http_send(lease->options.http,
		&(struct bt_http_call){.method = method,
			.path = bt_str(path),
			.accept = bt_str("application/json"),
			.content_type =
				method == BT_HTTP_GET ? (struct bt_str){0} : bt_str("application/json"),
			.body = method == BT_HTTP_GET ? (struct bt_str){0} : bt_buf_view(&lease->body),
			.timeout_ns = lease->options.renew_deadline_ns / 2,
			.done = take_answer,
			.context = lease});
}

static void read_lease(struct bt_lease *lease)
{
	send_request(lease, STEP_READ, BT_HTTP_GET, lease->path.ptr);
}

static void write_lease(struct bt_lease *lease, bool optimistic)
{
	const struct bt_lease_record *old = &lease->record;
	bool ours = is_ours(lease), exists = old->metadata.len;
	struct bt_lease_write write = {.namespace_ = bt_str(lease->options.namespace_),
		.name = bt_str(lease->options.name),
		.holder = bt_str(lease->options.identity),
		.duration_s = (int32_t)(lease->options.lease_ns / NS_PER_S),
		.transitions = ours || !exists ? old->transitions : old->transitions + 1,
		.acquire_time = ours ? old->acquire_time : (struct bt_str){0},
		.now_ns = bt_clock_now_ns(&lease->options.wall)};

	lease->optimistic = optimistic;
	bt_lease_record_write(old, &write, &lease->body);
	send_request(lease, STEP_WRITE, exists ? BT_HTTP_PUT : BT_HTTP_POST,
		exists ? lease->path.ptr : lease->folder.ptr);
}

static void write_release(struct bt_lease *lease)
{
	struct bt_lease_write write = {.duration_s = 1,
		.transitions = lease->record.transitions,
		.now_ns = bt_clock_now_ns(&lease->options.wall)};

	bt_lease_record_write(&lease->record, &write, &lease->body);
	send_request(lease, STEP_RELEASE, BT_HTTP_PUT, lease->path.ptr);
}

/* Tries to take the lease, or to renew it. Source: client-go's tryAcquireOrRenew, v0.36.3. */
static void attempt(struct bt_lease *lease)
{
	if (lease->state == STATE_LEADING && !bt_lease_is_held(lease)) {
		lose(lease, "the lease was not renewed in time");
		return;
	}
	if (lease->call || lease->state > STATE_LEADING) {
		lease->again = true;
		return;
	}
	lease->again = false;
	if (lease->state == STATE_LEADING && is_ours(lease)) {
		write_lease(lease, true);
	} else {
		read_lease(lease);
	}
}

static void fail_attempt(
	struct bt_lease *lease, enum bt_log_level level, const char *message, struct bt_str why)
{
	log_lease(lease, level, 4, message, why);
	report_leader(lease);
	if (lease->again) {
		wake_in(lease, 0);
	} else {
		wake_later(lease);
	}
}

static void lead(struct bt_lease *lease)
{
	lease->state = STATE_LEADING;
	bt_http_cancel(lease->options.http, lease->watch);
	bt_http_forget(lease->options.http, &lease->watcher);
	bt_http_after(lease->options.http, lease->options.renew_deadline_ns, at_deadline, &lease->deadline);
	log_lease(lease, BT_LOG_INFO, 0, "Successfully acquired lease", (struct bt_str){0});
	record_event(lease, BECAME_LEADER);
	report_leader(lease);
	if (lease->options.started_leading) {
		lease->options.started_leading(lease->options.context);
	}
}

/* The server's answer says that we hold the lease. */
static void renewed(struct bt_lease *lease)
{
	int64_t until_ns = lease->sent_ns + lease->options.renew_deadline_ns;

	if (!is_ours(lease)) {
		fail_attempt(lease, BT_LOG_ERROR, "Failed to update lease",
			bt_str("the server answers with another holder"));
		return;
	}
	bt_store_relaxed(&lease->held_until_ns, until_ns);
	if (!bt_lease_is_held(lease)) { /* the answer was too late to rely on it */
		fail_attempt(
			lease, BT_LOG_ERROR, "Failed to update lease", bt_str("the answer was too late"));
		return;
	}
	if (lease->state == STATE_FOLLOWING) {
		lead(lease);
	}
	wake_later(lease);
}

/* Acts on a lease that was just read. */
static void decide(struct bt_lease *lease)
{
	bool valid = expires_ns(lease) > steady_ns(lease);

	if (lease->state == STATE_LEADING && lease->record.holder.len && !is_ours(lease)) {
		lose(lease, "another holds the lease");
	} else if (lease->record.holder.len && valid && !is_ours(lease)) {
		fail_attempt(lease, BT_LOG_INFO, "Lease is held by another and has not yet expired",
			(struct bt_str){0});
	} else {
		write_lease(lease, false);
	}
}

/* ---- answers ---- */

static void answer_read(struct bt_lease *lease, uint32_t status, struct bt_str body, struct bt_str why)
{
	struct bt_buf error = {0};

	if (status == 404) {
		bt_lease_record_fini(&lease->scratch);
		observe(lease);
		write_lease(lease, false);
		return;
	}
	if (status != 200) {
		fail_attempt(lease, BT_LOG_ERROR, "Error retrieving lease lock", why);
		return;
	}
	if (bt_lease_record_read(&lease->scratch, body, &error)) {
		observe(lease);
		decide(lease);
	} else {
		fail_attempt(lease, BT_LOG_ERROR, "Error retrieving lease lock", bt_buf_view(&error));
	}
	bt_buf_fini(&error);
}

static void answer_write(struct bt_lease *lease, uint32_t status, struct bt_str body, struct bt_str why)
{
	struct bt_buf error = {0};

	if (status == 200 || status == 201) {
		if (bt_lease_record_read(&lease->scratch, body, &error)) {
			observe(lease);
			renewed(lease);
		} else {
			fail_attempt(lease, BT_LOG_ERROR, "Failed to update lease", bt_buf_view(&error));
		}
		bt_buf_fini(&error);
		return;
	}
	if (lease->optimistic) {
		bt_add_owned(&lease->slow_n, 1);
		log_lease(lease, BT_LOG_INFO, 2,
			"Failed to update lease optimistically, falling back to slow path", why);
		read_lease(lease);
		return;
	}
	fail_attempt(lease, BT_LOG_ERROR, "Failed to update lease", why);
}

/* The renewal that was in flight at the stop may have been written: reads the lease once to find out. */
static void answer_release(struct bt_lease *lease, uint32_t status, struct bt_str body, struct bt_str why)
{
	struct bt_buf unused = {0};

	if (lease->step == STEP_CUT || (lease->step == STEP_RELEASE && status == 409)) {
		read_lease(lease);
		return;
	}
	if (lease->step == STEP_READ && status == 200 &&
		bt_lease_record_read(&lease->scratch, body, &unused)) {
		observe(lease);
		if (is_ours(lease)) {
			write_release(lease);
			bt_buf_fini(&unused);
			return;
		}
	}
	if (lease->step == STEP_RELEASE && status != 200) {
		log_lease(lease, BT_LOG_ERROR, 0, "Failed to release lease", why);
	}
	bt_buf_fini(&unused);
	lease->state = STATE_OVER;
	open_released(lease);
}

static void take_answer(void *context, enum bt_http_end how, const struct bt_http_head *head,
	struct bt_str body, struct bt_str error)
{
	struct bt_lease *lease = context;
	uint32_t status = how == BT_HTTP_ANSWERED ? head->status : 0;
	struct bt_buf why = {0};

	lease->call = 0;
	if (how == BT_HTTP_ANSWERED && status >= 300) {
		describe(head, body, &why);
	} else {
		bt_buf_str(&why, error);
	}
	if (lease->detached) {
		leave(lease);
	} else if (lease->state == STATE_RELEASING) {
		answer_release(lease, status, body, bt_buf_view(&why));
	} else if (lease->state != STATE_OVER && lease->step == STEP_READ) {
		answer_read(lease, status, body, bt_buf_view(&why));
	} else if (lease->state != STATE_OVER) {
		answer_write(lease, status, body, bt_buf_view(&why));
	}
	bt_buf_fini(&why);
}

/* ---- the watch of a follower ---- */

struct lease_event {
	struct bt_str type, object;
};

static const struct bt_field event_fields[] = {
	{.name = BT_STR("type"), .type = BT_FIELD_STR, .offset = offsetof(struct lease_event, type)},
	{.name = BT_STR("object"), .type = BT_FIELD_RAW, .offset = offsetof(struct lease_event, object)},
};
static const struct bt_schema event_schema = BT_SCHEMA(event_fields, struct lease_event);

/* Reads a line of the watch. Returns: false: it is invalid; the watch ends, and the reads continue. */
static bool take_event(struct bt_lease *lease, struct bt_str line)
{
	struct bt_json *cursor = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_decode decode = {.json = cursor, .arena = &arena};
	struct lease_event event = {0};
	struct bt_buf error = {0};

	bt_json_begin(cursor, line, &arena);
	bool good = bt_schema_decode(&decode, &event_schema, &event);
	bool object = bt_str_is(event.type, "ADDED") || bt_str_is(event.type, "MODIFIED");
	bool deleted = bt_str_is(event.type, "DELETED");

	good = good && (deleted || (object && bt_lease_record_read(&lease->scratch, event.object, &error)));
	if (good && object) {
		observe(lease);
	}
	if (good && lease->state == STATE_FOLLOWING) {
		if (deleted || !lease->record.holder.len) {
			attempt(lease);
		} else {
			report_leader(lease);
			wake_later(lease);
		}
	}
	bt_buf_fini(&error);
	bt_arena_fini(&arena);
	bt_json_destroy(cursor);
	return good;
}

static bool take_watched(void *context, const char *bytes, size_t n)
{
	struct bt_lease *lease = context;
	bool good = true;
	char *end_of_line;

	bt_buf_add(&lease->event, bytes, n);
	while (good && lease->state == STATE_FOLLOWING && lease->event.len &&
		(end_of_line = memchr(lease->event.ptr, '\n', lease->event.len))) {
		size_t line_n = (size_t)(end_of_line - lease->event.ptr);

		good = take_event(lease, (struct bt_str){lease->event.ptr, line_n});
		lease->event.len -= line_n + 1;
		memmove(lease->event.ptr, end_of_line + 1, lease->event.len);
	}
	return good && lease->event.len <= EVENT_BYTES;
}

static void rewatch(void *context)
{
	begin_watch(*(struct bt_lease **)context);
}

static void end_watch(void *context, enum bt_http_end how, const struct bt_http_head *head,
	struct bt_str body, struct bt_str error)
{
	struct bt_lease *lease = context;

	(void)how, (void)head, (void)body,
		(void)error; /* without a watch the lease is read every retry period */
	lease->watch = 0;
	if (lease->detached) {
		leave(lease);
	} else if (lease->state == STATE_FOLLOWING) {
		bt_http_after(lease->options.http, lease->options.retry_ns, rewatch, &lease->watcher);
	}
}

static void begin_watch(struct bt_lease *lease)
{
	if (lease->state != STATE_FOLLOWING || lease->watch) {
		return;
	}
	bt_buf_clear(&lease->event);
	lease->watch = bt_http_send(
		lease->options.http, &(struct bt_http_call){.path = bt_buf_view(&lease->watch_path),
					     .accept = bt_str("application/json"),
					     .data = take_watched,
					     .done = end_watch,
					     .context = lease});
}

/* ---- begin and end ---- */

static void lease_begin(void *context)
{
	struct bt_lease *lease = *(struct bt_lease **)context;

	log_lease(lease, BT_LOG_INFO, 0, "Attempting to acquire leader lease...", (struct bt_str){0});
	attempt(lease);
	begin_watch(lease);
}

static void stop(void *context)
{
	struct bt_lease *lease = *(struct bt_lease **)context;
	bool leads = lease->state == STATE_LEADING, writes = lease->call != 0;
	bool release = leads && lease->options.release_on_stop && is_ours(lease);

	lease_end(lease);
	lease->stopping = true;
	if (leads) {
		record_event(lease, STOPPED_LEADING);
	}
	if (!release) {
		open_released(lease);
		return;
	}
	lease->state = STATE_RELEASING;
	if (writes) {
		lease->step = STEP_CUT;
	} else {
		write_release(lease);
	}
}

static void detach(void *context)
{
	struct bt_lease *lease = *(struct bt_lease **)context;

	lease_end(lease);
	for (int i = 0; i < LEADERSHIP_N; i++) {
		bt_http_cancel(lease->options.http, lease->events[i]);
	}
	lease->detached = true;
	leave(lease);
}

static void free_lease(struct bt_lease *lease)
{
	bt_lease_record_fini(&lease->record);
	bt_lease_record_fini(&lease->scratch);
	bt_buf_fini(&lease->lock);
	bt_buf_fini(&lease->folder);
	bt_buf_fini(&lease->path);
	bt_buf_fini(&lease->watch_path);
	bt_buf_fini(&lease->body);
	bt_buf_fini(&lease->event);
	bt_buf_fini(&lease->reported);
	bt_latch_fini(&lease->released);
	bt_latch_fini(&lease->gone);
	bt_mem_free((char *)lease->options.namespace_);
	bt_mem_free((char *)lease->options.name);
	bt_mem_free((char *)lease->options.identity);
	bt_mem_free((char *)lease->options.component);
	bt_mem_free(lease);
}

const char *bt_lease_fault(int64_t lease_ns, int64_t renew_deadline_ns, int64_t retry_ns)
{
	if (lease_ns <= renew_deadline_ns) {
		return "leaseDuration must be greater than renewDeadline";
	}
	if ((double)renew_deadline_ns <= JITTER * (double)retry_ns) {
		return "renewDeadline must be greater than retryPeriod*JitterFactor";
	}
	if (lease_ns < NS_PER_S || renew_deadline_ns <= 0 || retry_ns <= 0) {
		return "leaseDuration, renewDeadline and retryPeriod must be greater than zero";
	}
	return NULL;
}

static const char *fault_of(const struct bt_lease_options *options)
{
	const char *fault = bt_lease_fault(options->lease_ns, options->renew_deadline_ns, options->retry_ns);

	if (fault) {
		return fault;
	}
	if (!options->identity || !*options->identity) {
		return "Lock identity is empty";
	}
	return !*options->namespace_ || !*options->name ? "the lease must have a namespace and a name" : NULL;
}

struct bt_lease *bt_lease_create(const struct bt_lease_options *options, struct bt_buf *out_error)
{
	const char *fault = fault_of(options);

	if (fault) {
		bt_buf_printf(out_error, "leaderElection: %s", fault);
		return NULL;
	}
	struct bt_lease *lease = bt_mem_zalloc(1, sizeof(*lease));

	lease->options = *options;
	lease->options.namespace_ = bt_mem_copy(options->namespace_, strlen(options->namespace_));
	lease->options.name = bt_mem_copy(options->name, strlen(options->name));
	lease->options.identity = bt_mem_copy(options->identity, strlen(options->identity));
	lease->options.component =
		options->component ? bt_mem_copy(options->component, strlen(options->component)) : NULL;
	if (!options->steady.now_ns) {
		lease->options.steady = (struct bt_clock){.now_ns = boot_ns};
	}
	if (!options->wall.now_ns) {
		lease->options.wall = bt_clock_real();
	}
	lease->wake = lease->deadline = lease->watcher = lease->ender = lease;
	lease->rng.state = (uint64_t)bt_clock_monotonic_ns() ^ (uint64_t)(uintptr_t)lease;
	bt_latch_init(&lease->released);
	bt_latch_init(&lease->gone);
	bt_buf_printf(&lease->lock, "%s/%s", options->namespace_, options->name);
	bt_buf_printf(&lease->folder, LEASE_PATH, options->namespace_);
	bt_buf_printf(&lease->path, LEASE_PATH "/%s", options->namespace_, options->name);
	bt_buf_printf(&lease->watch_path, LEASE_PATH "?watch=true&fieldSelector=metadata.name%%3D%s",
		options->namespace_, options->name);
	bt_http_after(lease->options.http, 0, lease_begin, &lease->wake);
	return lease;
}

void bt_lease_destroy(struct bt_lease *lease, int64_t limit_ns)
{
	if (!lease) {
		return;
	}
	bt_http_after(lease->options.http, 0, stop, &lease->ender);
	bt_latch_wait(&lease->released, limit_ns);
	bt_http_after(lease->options.http, 0, detach, &lease->ender);
	bt_latch_wait(&lease->gone, BT_EVENTCOUNT_FOREVER);
	free_lease(lease);
}
