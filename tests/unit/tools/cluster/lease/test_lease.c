/* SPDX-License-Identifier: Apache-2.0
 * Elections with a server that stores one Lease: who leads when, what is written, and that no failure makes
 * two leaders. The test controls the clock of leases; only retries happen in real time.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/atomic.h"
#include "server.h"
#include "tools/cluster/lease/lease.h"
#include "tools/kube/log/log.h"

#define SECOND	((int64_t)1000000000)
#define MINUTES (300 * SECOND) /* never, in a test */

/* The server's handling of writes, or of all requests, from now on. */
enum mood {
	MOOD_GOOD = 0,
	MOOD_ERROR,
	MOOD_HANG,
	MOOD_HOLD, /* writes wait until the mood changes */
	MOOD_FORGETFUL,
	MOOD_FORBIDDEN,
	MOOD_NONSENSE
};

struct world {
	struct server *server;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* lock: all fields below */
	bool ending;
	enum mood mood;
	bool watchable;
	struct bt_buf lease; /* empty: none */
	uint64_t version;
	uint32_t read_n, write_n, watch_n;
	struct bt_buf written; /* bodies, one per line */
	struct bt_buf events;  /* the same, of events */
	uint32_t event_n;
	bool events_hang;		    /* until the lease is released */
	_Atomic int64_t steady_ns, wall_ns; /* atomic: the test advances them */
};

struct candidate {
	struct world *world;
	struct bt_client_config *access;
	struct bt_http *http;
	struct bt_lease *lease;
	/* world's lock: */
	uint32_t started_n, stopped_n, leader_n;
	char leader[64];
};

/* ---- the server ---- */

static void replace(struct bt_buf *text, const char *from, const char *to)
{
	char *at = text->len ? strstr(text->ptr, from) : NULL;
	struct bt_buf out = {0};

	assert_non_null(at);
	bt_buf_add(&out, text->ptr, (size_t)(at - text->ptr));
	bt_buf_text(&out, to);
	bt_buf_text(&out, at + strlen(from));
	bt_buf_fini(text);
	*text = out;
}

static void version_text(uint64_t version, char out[64])
{
	snprintf(out, 64, "\"resourceVersion\":\"%llu\"", (unsigned long long)version);
}

/* Holds the lock. Returns: the status. */
static int store(struct world *world, struct bt_str body, bool create)
{
	char old[64], new[64];

	bt_buf_str(&world->written, body);
	bt_buf_char(&world->written, '\n');
	version_text(world->version, old);
	version_text(world->version + 1, new);
	if (create ? world->lease.len != 0 : !world->lease.len || !strstr(body.ptr, old)) {
		return create || world->lease.len ? 409 : 404;
	}
	bt_buf_clear(&world->lease);
	bt_buf_str(&world->lease, body);
	if (create) {
		char begin[80];

		snprintf(begin, sizeof(begin), "\"metadata\":{%s,", new);
		replace(&world->lease, "\"metadata\":{", begin);
	} else {
		replace(&world->lease, old, new);
	}
	world->version++;
	pthread_cond_broadcast(&world->changed);
	return create ? 201 : 200;
}

static bool send_event(struct peer *peer, const char *type, const char *object)
{
	struct bt_buf event = {0}, chunk = {0};

	bt_buf_printf(&event, "{\"type\":\"%s\",\"object\":%s}\n", type, object);
	bt_buf_printf(&chunk, "%zx\r\n%s\r\n", event.len, event.ptr);
	bool good = peer_send(peer, chunk.ptr);

	bt_buf_fini(&event);
	bt_buf_fini(&chunk);
	return good;
}

/* Holds the lock, and releases it while idle. */
static void serve_watch(struct world *world, struct peer *peer)
{
	uint64_t seen = UINT64_MAX;
	bool good = peer_send(peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), known = false;

	world->watch_n++;
	pthread_cond_broadcast(&world->changed);
	while (good && !world->ending) {
		if (seen != world->version && (world->lease.len || known)) {
			good = send_event(peer, world->lease.len ? "MODIFIED" : "DELETED",
				world->lease.len ? world->lease.ptr : "{}");
			known = world->lease.len != 0;
		}
		seen = world->version;
		pthread_cond_wait(&world->changed, &world->lock);
	}
}

/* Holds the lock. */
static bool serve_lease(struct world *world, struct peer *peer, const struct request *request)
{
	bool get = bt_str_is(request->method, "GET");
	int status = world->lease.len ? 200 : 404;

	world->read_n += get;
	world->write_n += !get;
	pthread_cond_broadcast(&world->changed);
	while (world->mood == MOOD_HOLD && !get) {
		pthread_cond_wait(&world->changed, &world->lock);
	}
	if (world->mood == MOOD_ERROR && !get) {
		return peer_answer(peer, 500, "", "{\"kind\":\"Status\",\"message\":\"etcd is away\"}");
	}
	if (world->mood == MOOD_FORBIDDEN) {
		return peer_answer(peer, 403, "", "{\"kind\":\"Status\",\"message\":\"forbidden\"}");
	}
	if (world->mood == MOOD_NONSENSE) {
		return peer_answer(peer, 200, "", "{\"metadata\":[]}");
	}
	if (!get) {
		status = store(world, request->body, bt_str_is(request->method, "POST"));
	}
	if (world->mood == MOOD_FORGETFUL && !get) {
		world->mood = MOOD_GOOD;
		return false; /* written, without a response */
	}
	return peer_answer(peer, status, "", status < 300 ? world->lease.ptr : "{}");
}

static bool serve(void *context, struct peer *peer, const struct request *request)
{
	struct world *world = context;
	bool good = false;

	pthread_mutex_lock(&world->lock);
	if (bt_str_is(request->path, "/api/v1/namespaces/kube-system/events")) {
		bool hangs = world->events_hang;
		static const char *const released = "\"holderIdentity\":\"\"";

		bt_buf_str(&world->events, request->body);
		bt_buf_char(&world->events, '\n');
		world->event_n++;
		pthread_cond_broadcast(&world->changed);
		while (hangs && !world->ending && !(world->lease.len && strstr(world->lease.ptr, released))) {
			pthread_cond_wait(&world->changed, &world->lock);
		}
		pthread_mutex_unlock(&world->lock);
		return !hangs && peer_answer(peer, 201, "", "{}");
	}
	if (world->mood == MOOD_HANG) {
		world->write_n++;
		pthread_cond_broadcast(&world->changed);
		pthread_mutex_unlock(&world->lock);
		peer_hang(peer);
		return false;
	}
	if (strstr(request->path.ptr, "watch=true") &&
		strstr(request->path.ptr, "watch=true") < request->path.ptr + request->path.len) {
		if (world->watchable) {
			serve_watch(world, peer);
		} else {
			good = peer_answer(peer, 403, "", "{\"kind\":\"Status\"}");
		}
	} else {
		good = serve_lease(world, peer, request);
	}
	pthread_mutex_unlock(&world->lock);
	return good;
}

static int64_t clock_ns(void *context)
{
	_Atomic int64_t *now_ns = context;

	return bt_load_acquire(now_ns);
}

static void begin_world(struct world *world)
{
	*world = (struct world){.watchable = true, .version = 1};
	pthread_mutex_init(&world->lock, NULL);
	pthread_cond_init(&world->changed, NULL);
	bt_store_relaxed(&world->steady_ns, 1000 * SECOND);
	bt_store_relaxed(&world->wall_ns, INT64_C(1767323045) * SECOND);
	world->server = server_start(NULL, serve, world);
}

static void end_world(struct world *world)
{
	pthread_mutex_lock(&world->lock);
	world->ending = true;
	pthread_cond_broadcast(&world->changed);
	pthread_mutex_unlock(&world->lock);
	server_stop(world->server);
	bt_buf_fini(&world->lease);
	bt_buf_fini(&world->written);
	bt_buf_fini(&world->events);
	pthread_mutex_destroy(&world->lock);
	pthread_cond_destroy(&world->changed);
}

static void set_mood(struct world *world, enum mood mood)
{
	pthread_mutex_lock(&world->lock);
	world->mood = mood;
	pthread_cond_broadcast(&world->changed);
	pthread_mutex_unlock(&world->lock);
}

static void pass(struct world *world, int64_t ns)
{
	bt_store_release(&world->steady_ns, bt_load_relaxed(&world->steady_ns) + ns);
}

/* Waits until a counter has reached a number; the world's lock protects it. */
static void wait_until(struct world *world, const uint32_t *n, uint32_t wanted)
{
	pthread_mutex_lock(&world->lock);
	while (*n < wanted) {
		pthread_cond_wait(&world->changed, &world->lock);
	}
	pthread_mutex_unlock(&world->lock);
}

static void wait_more(struct world *world, const uint32_t *n, uint32_t more)
{
	pthread_mutex_lock(&world->lock);
	uint32_t wanted = *n + more;

	pthread_mutex_unlock(&world->lock);
	wait_until(world, n, wanted);
}

static uint32_t look(struct world *world, const uint32_t *n)
{
	pthread_mutex_lock(&world->lock);
	uint32_t value = *n;

	pthread_mutex_unlock(&world->lock);
	return value;
}

static void expect_in_lease(struct world *world, const char *text)
{
	pthread_mutex_lock(&world->lock);
	bool found = world->lease.len && strstr(world->lease.ptr, text);

	if (!found) {
		print_message("%s\n", world->lease.len ? world->lease.ptr : "no lease");
	}
	pthread_mutex_unlock(&world->lock);
	assert_true(found);
}

/* Another client writes the lease. */
static void edit_lease(struct world *world, const char *from, const char *to)
{
	char old[64], new[64];

	pthread_mutex_lock(&world->lock);
	version_text(world->version, old);
	version_text(++world->version, new);
	replace(&world->lease, old, new);
	replace(&world->lease, from, to);
	pthread_cond_broadcast(&world->changed);
	pthread_mutex_unlock(&world->lock);
}

static void put_lease(struct world *world, const char *holder)
{
	pthread_mutex_lock(&world->lock);
	bt_buf_clear(&world->lease);
	bt_buf_printf(&world->lease,
		"{\"metadata\":{\"name\":\"l\",\"resourceVersion\":\"%llu\"},\"spec\":{\"holderIdentity\":\"%"
		"s\","
		"\"leaseDurationSeconds\":15,\"acquireTime\":\"2020-01-01T00:00:00.000000Z\",\"renewTime\":"
		"\"2020-01-01T00:00:00.000000Z\",\"leaseTransitions\":4}}",
		(unsigned long long)++world->version, holder);
	pthread_cond_broadcast(&world->changed);
	pthread_mutex_unlock(&world->lock);
}

/* ---- candidates ---- */

static void started(void *context)
{
	struct candidate *candidate = context;

	pthread_mutex_lock(&candidate->world->lock);
	candidate->started_n++;
	pthread_cond_broadcast(&candidate->world->changed);
	pthread_mutex_unlock(&candidate->world->lock);
}

static void stopped(void *context)
{
	struct candidate *candidate = context;

	pthread_mutex_lock(&candidate->world->lock);
	candidate->stopped_n++;
	pthread_cond_broadcast(&candidate->world->changed);
	pthread_mutex_unlock(&candidate->world->lock);
}

static void saw_leader(void *context, struct bt_str identity)
{
	struct candidate *candidate = context;

	pthread_mutex_lock(&candidate->world->lock);
	candidate->leader_n++;
	snprintf(candidate->leader, sizeof(candidate->leader), "%.*s", BT_STR_ARG(identity));
	pthread_cond_broadcast(&candidate->world->changed);
	pthread_mutex_unlock(&candidate->world->lock);
}

static void stand(struct candidate *candidate, struct world *world, const char *identity, int64_t retry_ns)
{
	struct bt_buf error = {0};
	char master[64];

	*candidate = (struct candidate){.world = world};
	snprintf(master, sizeof(master), "http://127.0.0.1:%u", server_port(world->server));
	candidate->access = bt_client_config_create(
		&(struct bt_client_config_options){.kubeconfig = "/dev/null", .master = master}, &error);
	assert_non_null(candidate->access);
	candidate->http = bt_http_create(
		&(struct bt_http_options){.access = candidate->access, .name = identity}, &error);
	assert_non_null(candidate->http);
	candidate->lease = bt_lease_create(&(struct bt_lease_options){.http = candidate->http,
						   .namespace_ = "kube-system",
						   .name = "l",
						   .identity = identity,
						   .component = "default-scheduler",
						   .lease_ns = MINUTES + 15 * SECOND,
						   .renew_deadline_ns = MINUTES + 10 * SECOND,
						   .retry_ns = retry_ns,
						   .release_on_stop = true,
						   .started_leading = started,
						   .stopped_leading = stopped,
						   .new_leader = saw_leader,
						   .context = candidate,
						   .steady = {clock_ns, &world->steady_ns},
						   .wall = {clock_ns, &world->wall_ns}},
		&error);
	if (!candidate->lease) {
		fail_msg("%s", error.ptr);
	}
	bt_buf_fini(&error);
}

/* limit_ns: timeout of the release. */
static void withdraw(struct candidate *candidate, int64_t limit_ns)
{
	bt_lease_destroy(candidate->lease, limit_ns);
	bt_http_destroy(candidate->http);
	bt_client_config_destroy(candidate->access);
}

/* A world with a leader. */
static void begin_led(struct world *world, struct candidate *one, int64_t retry_ns)
{
	begin_world(world);
	stand(one, world, "one", retry_ns);
	wait_until(world, &one->started_n, 1);
}

/* Gives the candidate time to release its lease. */
static void end_led(struct world *world, struct candidate *one)
{
	withdraw(one, 60 * SECOND);
	end_world(world);
}

#define DEADLINE_NS (MINUTES + 10 * SECOND)
#define SOON_NS	    (SECOND / 100)

/* ---- tests ---- */

static void the_first_candidate_creates_the_lease(void **state)
{
	struct world world;
	struct candidate one;

	(void)state;
	begin_led(&world, &one, 60 * SECOND);
	assert_true(bt_lease_is_held(one.lease));
	expect_in_lease(&world,
		"\"name\":\"l\",\"namespace\":\"kube-system\"},\"spec\":{\"holderIdentity\":\"one\","
		"\"leaseDurationSeconds\":315,\"acquireTime\":\"2026-01-02T03:04:05.000000Z\","
		"\"renewTime\":\"2026-01-02T03:04:05.000000Z\",\"leaseTransitions\":0}");
	assert_string_equal(one.leader, "one");
	end_led(&world, &one);
}

static void a_leader_renews_and_keeps_when_it_acquired(void **state)
{
	struct world world;
	struct candidate one;

	(void)state;
	begin_led(&world, &one, SOON_NS);
	edit_lease(&world, "\"metadata\":{", "\"metadata\":{\"labels\":{\"by\":\"hand\"},");
	bt_store_relaxed(&world.wall_ns, INT64_C(1767323045) * SECOND + SECOND);
	wait_more(&world, &world.write_n, 4);
	expect_in_lease(&world,
		"\"acquireTime\":\"2026-01-02T03:04:05.000000Z\",\"renewTime\":\"2026-01-02T03:04:06");
	expect_in_lease(&world, "\"leaseTransitions\":0");
	expect_in_lease(&world, "\"labels\":{\"by\":\"hand\"}");
	assert_int_equal(look(&world, &one.stopped_n), 0);
	end_led(&world, &one);
}

static void events_report_who_leads_and_who_stops_leading(void **state)
{
	struct world world;
	struct candidate one;

	(void)state;
	begin_led(&world, &one, 60 * SECOND);
	wait_until(&world, &world.event_n, 1);
	pthread_mutex_lock(&world.lock);
	assert_string_equal(world.events.ptr,
		"{\"kind\":\"Event\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"l.1886caf21c963200\","
		"\"namespace\":\"kube-system\"},\"involvedObject\":{\"kind\":\"Lease\",\"namespace\":"
		"\"kube-system\",\"name\":\"l\",\"apiVersion\":\"coordination.k8s.io/"
		"v1\",\"resourceVersion\":"
		"\"2\"},\"reason\":\"LeaderElection\",\"message\":\"one became leader\",\"source\":{"
		"\"component\":\"default-scheduler\"},\"firstTimestamp\":\"2026-01-02T03:04:05Z\","
		"\"lastTimestamp\":\"2026-01-02T03:04:05Z\",\"count\":1,\"type\":\"Normal\",\"eventTime\":"
		"null,"
		"\"reportingComponent\":\"default-scheduler\",\"reportingInstance\":\"\"}\n");
	pthread_mutex_unlock(&world.lock);
	withdraw(&one, 60 * SECOND);
	assert_int_equal(look(&world, &world.event_n), 2); /* the end waits for the event */
	assert_non_null(strstr(world.events.ptr, "\"message\":\"one stopped leading\""));
	end_world(&world);
}

static void a_lost_lease_is_reported(void **state)
{
	struct world world;
	struct candidate one;

	(void)state;
	begin_led(&world, &one, SOON_NS);
	put_lease(&world, "other");
	wait_until(&world, &one.stopped_n, 1);
	wait_until(&world, &world.event_n, 2);
	withdraw(&one, 60 * SECOND);
	assert_int_equal(look(&world, &world.event_n), 2);
	assert_non_null(strstr(world.events.ptr, "\"message\":\"one stopped leading\""));
	end_world(&world);
}

static void a_hanging_event_call_delays_no_other(void **state)
{
	struct world world;
	struct candidate one;

	(void)state;
	begin_world(&world);
	world.events_hang = true;
	stand(&one, &world, "one", SOON_NS);
	wait_until(&world, &one.started_n, 1);
	wait_more(&world, &world.write_n, 3); /* it is renewed */
	withdraw(&one, MINUTES);
	expect_in_lease(&world, "\"holderIdentity\":\"\"");
	end_world(&world);
}

static void a_leader_that_does_not_renew_is_not_well(void **state)
{
	const int64_t tolerance_ns = 20 * SECOND;
	struct world world;
	struct candidate one;

	(void)state;
	begin_world(&world);
	stand(&one, &world, "one", 60 * SECOND);
	assert_true(bt_lease_is_healthy(one.lease, tolerance_ns));
	wait_until(&world, &one.started_n, 1);
	pass(&world, MINUTES + 35 * SECOND); /* no timer runs: no renewal, no check */
	assert_true(bt_lease_is_healthy(one.lease, tolerance_ns));
	pass(&world, 1);
	assert_false(bt_lease_is_healthy(one.lease, tolerance_ns));
	assert_false(bt_lease_is_held(one.lease));
	end_led(&world, &one);
}

static void a_follower_is_well_whatever_the_lease_is(void **state)
{
	struct world world;
	struct candidate two;

	(void)state;
	begin_world(&world);
	put_lease(&world, "other");
	stand(&two, &world, "two", 60 * SECOND);
	wait_until(&world, &two.leader_n, 1);
	pass(&world, 1000 * MINUTES);
	assert_true(bt_lease_is_healthy(two.lease, 20 * SECOND));
	withdraw(&two, 60 * SECOND);
	end_world(&world);
}

static void a_clean_stop_lets_the_next_one_lead_at_once(void **state)
{
	struct world world;
	struct candidate one, two;

	(void)state;
	begin_led(&world, &one, 60 * SECOND);
	stand(&two, &world, "two", 60 * SECOND);
	wait_until(&world, &two.leader_n, 1);
	assert_string_equal(two.leader, "one");
	assert_false(bt_lease_is_held(two.lease));
	wait_until(&world, &world.watch_n, 2);
	withdraw(&one, 60 * SECOND); /* neither the leases' clock nor the retry period advances */
	assert_int_equal(look(&world, &one.stopped_n), 0);
	wait_until(&world, &two.started_n, 1);
	assert_true(bt_lease_is_held(two.lease));
	expect_in_lease(&world, "\"holderIdentity\":\"two\"");
	expect_in_lease(&world, "\"leaseTransitions\":1");
	assert_non_null(strstr(world.written.ptr,
		"\"spec\":{\"holderIdentity\":\"\",\"leaseDurationSeconds\":1,\"acquireTime\":\"2026"));
	withdraw(&two, 60 * SECOND);
	end_world(&world);
}

static void without_a_watch_the_retries_find_the_release(void **state)
{
	struct world world;
	struct candidate one, two;

	(void)state;
	begin_world(&world);
	world.watchable = false;
	stand(&one, &world, "one", SOON_NS);
	wait_until(&world, &one.started_n, 1);
	stand(&two, &world, "two", SOON_NS);
	wait_until(&world, &two.leader_n, 1);
	withdraw(&one, 60 * SECOND);
	wait_until(&world, &two.started_n, 1);
	withdraw(&two, 60 * SECOND);
	end_world(&world);
}

static void the_lease_of_a_dead_leader_is_taken_when_it_has_ended(void **state)
{
	struct world world;
	struct candidate two;

	(void)state;
	begin_world(&world);
	put_lease(&world, "dead"); /* its times are years old: only the time of observation counts */
	stand(&two, &world, "two", SOON_NS);
	wait_until(&world, &two.leader_n, 1);
	wait_more(&world, &world.read_n, 3);
	assert_int_equal(look(&world, &two.started_n), 0);
	pass(&world, 15 * SECOND - 1);
	wait_more(&world, &world.read_n, 3);
	assert_int_equal(look(&world, &two.started_n), 0);
	assert_int_equal(look(&world, &world.write_n), 0);
	pass(&world, 1);
	wait_until(&world, &two.started_n, 1);
	expect_in_lease(&world, "\"leaseTransitions\":5");
	withdraw(&two, 60 * SECOND);
	end_world(&world);
}

static void a_renewal_restarts_the_wait(void **state)
{
	struct world world;
	struct candidate two;

	(void)state;
	begin_world(&world);
	put_lease(&world, "other");
	stand(&two, &world, "two", SOON_NS);
	wait_until(&world, &two.leader_n, 1);
	pass(&world, 14 * SECOND);
	edit_lease(&world, "\"renewTime\":\"2020", "\"renewTime\":\"2021");
	wait_more(&world, &world.read_n, 3);
	pass(&world, 14 * SECOND);
	wait_more(&world, &world.read_n, 3);
	assert_int_equal(look(&world, &two.started_n), 0);
	pass(&world, SECOND);
	wait_until(&world, &two.started_n, 1);
	withdraw(&two, 60 * SECOND);
	end_world(&world);
}

static void a_leader_that_cannot_renew_stops(void **state)
{
	static const enum mood moods[] = {MOOD_ERROR, MOOD_FORBIDDEN, MOOD_NONSENSE};

	(void)state;
	for (size_t i = 0; i < sizeof(moods) / sizeof(moods[0]); i++) {
		struct world world;
		struct candidate one;

		begin_led(&world, &one, SOON_NS);
		set_mood(&world, moods[i]);
		wait_more(&world, &world.write_n, 3);
		assert_int_equal(look(&world, &one.stopped_n), 0);
		pass(&world, DEADLINE_NS - 1);
		assert_true(bt_lease_is_held(one.lease));
		pass(&world, 1);
		assert_false(bt_lease_is_held(one.lease)); /* with any timer */
		wait_until(&world, &one.stopped_n, 1);
		withdraw(&one, 60 * SECOND);
		assert_int_equal(look(&world, &one.stopped_n), 1);
		assert_int_equal(look(&world, &one.started_n), 1);
		end_world(&world);
	}
}

static void a_server_that_hangs_costs_the_lease(void **state)
{
	struct world world;
	struct candidate one;

	(void)state;
	begin_led(&world, &one, SOON_NS);
	set_mood(&world, MOOD_HANG);
	wait_more(&world, &world.write_n, 1);
	assert_true(bt_lease_is_held(one.lease));
	pass(&world, DEADLINE_NS);
	assert_false(bt_lease_is_held(one.lease));
	withdraw(&one, 0); /* it does not wait for the server */
	end_world(&world);
}

static void the_time_that_an_answer_takes_counts(void **state)
{
	struct world world;
	struct candidate one;

	(void)state;
	begin_world(&world);
	world.mood = MOOD_HOLD;
	stand(&one, &world, "one", 60 * SECOND);
	wait_until(&world, &world.write_n, 1);
	pass(&world, DEADLINE_NS / 2); /* the request is in transit, or its response */
	set_mood(&world, MOOD_GOOD);
	wait_until(&world, &one.started_n, 1);
	assert_true(bt_lease_is_held(one.lease));
	pass(&world, DEADLINE_NS - DEADLINE_NS / 2 - 1);
	assert_true(bt_lease_is_held(one.lease));
	pass(&world, 1);
	assert_false(bt_lease_is_held(one.lease));
	end_led(&world, &one);
}

static void a_late_answer_does_not_acquire_the_lease(void **state)
{
	struct world world;
	struct candidate one;

	(void)state;
	begin_world(&world);
	world.mood = MOOD_HOLD;
	stand(&one, &world, "one", SOON_NS);
	wait_until(&world, &world.write_n, 1);
	pass(&world, DEADLINE_NS);
	assert_int_equal(look(&world, &one.started_n), 0);
	set_mood(&world, MOOD_GOOD);
	wait_until(&world, &one.started_n, 1); /* from another write */
	assert_true(look(&world, &world.write_n) >= 2);
	assert_true(bt_lease_is_held(one.lease));
	end_led(&world, &one);
}

static void an_answer_that_is_lost_does_not_cost_the_lease(void **state)
{
	struct world world;
	struct candidate one;

	(void)state;
	begin_world(&world);
	world.mood = MOOD_FORGETFUL;
	stand(&one, &world, "one", SOON_NS);
	wait_until(&world, &one.started_n, 1); /* it finds its own identity in the lease */
	expect_in_lease(&world, "\"leaseTransitions\":0");
	set_mood(&world, MOOD_FORGETFUL);
	wait_more(&world, &world.write_n, 4);
	assert_int_equal(look(&world, &one.stopped_n), 0);
	assert_true(bt_lease_is_held(one.lease));
	withdraw(&one, 60 * SECOND);
	expect_in_lease(&world, "\"holderIdentity\":\"\"");
	end_world(&world);
}

static void a_release_whose_renewal_is_under_way_is_written_behind_it(void **state)
{
	struct world world;
	struct candidate one;

	(void)state;
	begin_led(&world, &one, 60 * SECOND);
	edit_lease(&world, "\"metadata\":{", "\"metadata\":{\"labels\":{\"by\":\"hand\"},");
	withdraw(&one, 60 * SECOND); /* gets a conflict, and reads again */
	expect_in_lease(&world, "\"holderIdentity\":\"\"");
	expect_in_lease(&world, "\"labels\":{\"by\":\"hand\"}");
	end_world(&world);
}

static void a_leader_that_sees_another_holder_stops_at_once(void **state)
{
	struct world world;
	struct candidate one;

	(void)state;
	begin_led(&world, &one, SOON_NS);
	edit_lease(&world, "\"holderIdentity\":\"one\"", "\"holderIdentity\":\"thief\"");
	wait_until(&world, &one.stopped_n, 1);
	assert_false(bt_lease_is_held(one.lease));
	assert_string_equal(one.leader, "thief");
	withdraw(&one, 60 * SECOND);
	expect_in_lease(&world, "\"holderIdentity\":\"thief\""); /* another holder's lease is not released */
	end_world(&world);
}

static void a_lease_that_was_deleted_is_created_again(void **state)
{
	struct world world;
	struct candidate one;

	(void)state;
	begin_led(&world, &one, SOON_NS);
	pthread_mutex_lock(&world.lock);
	bt_buf_clear(&world.lease);
	world.version++;
	pthread_cond_broadcast(&world.changed);
	pthread_mutex_unlock(&world.lock);
	wait_more(&world, &world.write_n, 4);
	expect_in_lease(&world, "\"holderIdentity\":\"one\"");
	assert_int_equal(look(&world, &one.stopped_n), 0);
	end_led(&world, &one);
}

static void the_wall_clock_does_not_matter(void **state)
{
	struct world world;
	struct candidate one, two;

	(void)state;
	begin_led(&world, &one, SOON_NS);
	stand(&two, &world, "two", SOON_NS);
	wait_until(&world, &two.leader_n, 1);
	for (int i = 0; i < 4; i++) {
		int64_t year_ns = (int64_t)365 * 86400 * SECOND;

		bt_store_relaxed(&world.wall_ns, INT64_C(1767323045) * SECOND + (i % 2 ? year_ns : -year_ns));
		wait_more(&world, &world.write_n, 2);
		wait_more(&world, &world.read_n, 2);
	}
	assert_int_equal(look(&world, &one.stopped_n), 0);
	assert_int_equal(look(&world, &two.started_n), 0);
	assert_true(bt_lease_is_held(one.lease));
	withdraw(&one, 60 * SECOND);
	withdraw(&two, 60 * SECOND);
	end_world(&world);
}

/* Many candidates start and stop; two never hold the lease at the same time. */
static void no_two_candidates_hold_the_lease(void **state)
{
	enum { CANDIDATES = 4, ROUNDS = 12 };
	static const char *const names[CANDIDATES] = {"a", "b", "c", "d"};
	struct candidate candidates[CANDIDATES];
	struct world world;

	(void)state;
	begin_world(&world);
	for (int i = 0; i < CANDIDATES; i++) {
		stand(&candidates[i], &world, names[i], SOON_NS);
	}
	for (int round = 0; round < ROUNDS; round++) {
		int leader = -1;

		while (leader < 0) {
			wait_more(&world, &world.read_n, 1);
			for (int i = 0; i < CANDIDATES; i++) {
				if (bt_lease_is_held(candidates[i].lease)) {
					assert_int_equal(leader, -1);
					leader = i;
				}
			}
		}
		withdraw(&candidates[leader], 60 * SECOND);
		stand(&candidates[leader], &world, names[leader], SOON_NS);
	}
	for (int i = 0; i < CANDIDATES; i++) {
		withdraw(&candidates[i], 60 * SECOND);
	}
	end_world(&world);
}

static void durations_that_cannot_work_are_refused(void **state)
{
	static const struct {
		int64_t lease, deadline, retry;
		const char *identity, *error;
	} cases[] = {
		{10, 10, 2, "x", "leaseDuration must be greater than renewDeadline"},
		{15, 10, 9, "x", "renewDeadline must be greater than retryPeriod*JitterFactor"},
		{15, 10, 0, "x", "must be greater than zero"},
		{15, 10, 2, "", "Lock identity is empty"},
	};
	struct bt_buf error = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bt_buf_clear(&error);
		assert_null(bt_lease_create(&(struct bt_lease_options){.namespace_ = "n",
						    .name = "l",
						    .identity = cases[i].identity,
						    .lease_ns = cases[i].lease * SECOND,
						    .renew_deadline_ns = cases[i].deadline * SECOND,
						    .retry_ns = cases[i].retry * SECOND},
			&error));
		assert_non_null(strstr(error.ptr, cases[i].error));
	}
	bt_buf_fini(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_candidate_creates_the_lease),
		cmocka_unit_test(a_leader_renews_and_keeps_when_it_acquired),
		cmocka_unit_test(events_report_who_leads_and_who_stops_leading),
		cmocka_unit_test(a_lost_lease_is_reported),
		cmocka_unit_test(a_hanging_event_call_delays_no_other),
		cmocka_unit_test(a_leader_that_does_not_renew_is_not_well),
		cmocka_unit_test(a_follower_is_well_whatever_the_lease_is),
		cmocka_unit_test(a_clean_stop_lets_the_next_one_lead_at_once),
		cmocka_unit_test(without_a_watch_the_retries_find_the_release),
		cmocka_unit_test(the_lease_of_a_dead_leader_is_taken_when_it_has_ended),
		cmocka_unit_test(a_renewal_restarts_the_wait),
		cmocka_unit_test(a_leader_that_cannot_renew_stops),
		cmocka_unit_test(a_server_that_hangs_costs_the_lease),
		cmocka_unit_test(the_time_that_an_answer_takes_counts),
		cmocka_unit_test(a_late_answer_does_not_acquire_the_lease),
		cmocka_unit_test(an_answer_that_is_lost_does_not_cost_the_lease),
		cmocka_unit_test(a_release_whose_renewal_is_under_way_is_written_behind_it),
		cmocka_unit_test(a_leader_that_sees_another_holder_stops_at_once),
		cmocka_unit_test(a_lease_that_was_deleted_is_created_again),
		cmocka_unit_test(the_wall_clock_does_not_matter),
		cmocka_unit_test(no_two_candidates_hold_the_lease),
		cmocka_unit_test(durations_that_cannot_work_are_refused),
	};

	bt_log_setup(BT_LOG_TEXT, -1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
