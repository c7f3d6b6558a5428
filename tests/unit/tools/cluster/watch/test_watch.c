/* SPDX-License-Identifier: Apache-2.0
 * Lists and watches with a server, a client and a pipeline controlled by the test: the fed events equal the
 * server's state, whatever is cut off, late, old, rejected or without room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "caught.h"
#include "engine/base/rng.h"
#include "fake.h"
#include "server.h"
#include "tools/cluster/watch/watch.h"
#include "tools/kube/log/log.h"

#define S    INT64_C(1000000000)
#define PODS "/api/v1/pods?"

static struct bt_watch *watch;
static struct bt_intern *dictionary;
static struct bt_gates gates;
static struct bt_buf body;
static uint32_t source; /* of pods */

/* The listener's events: they must equal the fed ones. */
static uint32_t heard_n;
static bool heard_incomplete; /* the last one */
static bool opens;	      /* room appears from time to time, while others wait */

static void record_event(void *context, enum bt_watch_event_kind what, const struct bt_object *object)
{
	(void)context;
	assert_true(object->meta.name.len > 0);
	heard_n++;
	heard_incomplete = what == BT_WATCH_EVENT_APPLY && object->kind == BT_KIND_POD &&
			   object->pod.spec.incomplete.len;
	fake_room += opens && heard_n % 7 == 0;
}

static void start_with(bool stream, uint32_t page)
{
	const struct bt_kind_info *kinds[BT_WATCH_KINDS_MAX];
	struct bt_watch_listener listener = {.event = record_event};
	struct bt_buf error = {0};

	fake_reset();
	heard_n = 0;
	bt_gates_init(&gates, bt_release_default());
	uint32_t n = bt_watch_kinds(&gates, kinds);
	for (uint32_t i = 0; i < n; i++) {
		source = kinds[i]->kind == BT_KIND_POD ? i : source;
	}
	dictionary = bt_intern_create();
	watch = bt_watch_create(&(struct bt_watch_options){.gates = &gates,
					.names = dictionary,
					.listeners = &listener,
					.listener_n = 1,
					.stream = stream,
					.page = page,
					.seed = 7},
		&error);
	assert_non_null(watch);
	fake_pass(0);
}

static void stop(void)
{
	for (uint32_t i = 0; i < fake_call_n; i++) {
		bt_buf_fini(&fake_calls[i].held);
		fake_calls[i].held = (struct bt_buf){0};
	}
	bt_watch_destroy(watch);
	bt_intern_destroy(dictionary);
	fake_reset();
	bt_buf_fini(&body);
	body = (struct bt_buf){0};
}

static struct bt_watch_state state_of(const char *resource)
{
	struct bt_watch_state states[BT_WATCH_KINDS_MAX];
	uint32_t n = bt_watch_states(watch, states, BT_WATCH_KINDS_MAX);

	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(states[i].resource, resource) == 0) {
			return states[i];
		}
	}
	fail_msg("no state of %s", resource);
	return states[0];
}

/* ---- fed events of pods ---- */

/* "+a +b ! -a": in order; "!" is synced. */
static const char *fed(void)
{
	static char text[4096];
	size_t n = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < fake_fed_n; i++) {
		const struct fake_fed *one = &fake_fed[i];

		if (one->source == source && n < sizeof(text) - 80) {
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s", n ? " " : "",
				one->kind == BT_WATCH_EVENT_SYNCED  ? "!"
				: one->kind == BT_WATCH_EVENT_APPLY ? "+"
								    : "-",
				one->name);
		}
	}
	return text;
}

/* ---- responses ---- */

static struct fake_call *pods_call(void)
{
	struct fake_call *call = fake_find(PODS);

	assert_non_null(call);
	return call;
}

static bool bind_requests(const struct fake_call *call, const char *words)
{
	return strstr(call->path.ptr, words) != NULL;
}

static void answer_list(
	enum form form, uint64_t version, const char *continue_, const struct pod *pods, uint32_t n)
{
	struct fake_call *call = pods_call();

	assert_false(bind_requests(call, "watch=true"));
	bt_buf_clear(&body);
	write_list(&body, form, version, continue_, pods, n);
	fake_head(call, 200, type_of_list(form), -1);
	fake_data(call, bt_buf_view(&body), 0);
	fake_done(call, BT_HTTP_ANSWERED);
}

/* Expects a watch from that version on. */
static struct fake_call *expect_watch(const char *version)
{
	struct fake_call *call = pods_call();
	char words[64];

	snprintf(words, sizeof(words), "&resourceVersion=%s&", version);
	assert_true(bind_requests(call, "watch=true&allowWatchBookmarks=true"));
	if (!bind_requests(call, words)) {
		fail_msg("%s does not ask for %s", call->path.ptr, words);
	}
	return call;
}

static struct fake_call *open_watch(enum form form, const char *version)
{
	struct fake_call *call = expect_watch(version);

	fake_head(call, 200, type_of_watch(form), -1);
	return call;
}

static void send_body(struct fake_call *call)
{
	fake_data(call, bt_buf_view(&body), 0);
	bt_buf_clear(&body);
}

static void event(struct fake_call *call, enum form form, const char *type, struct pod pod)
{
	bt_buf_clear(&body);
	write_event(&body, form, type, &pod);
	send_body(call);
}

static void refuse(int32_t code, const char *reason, const char *message, int64_t retry_after_ns)
{
	struct fake_call *call = pods_call();

	bt_buf_clear(&body);
	write_status(&body, code, reason, message);
	fake_head(call, (uint32_t)code, "application/json", retry_after_ns);
	send_body(call);
	fake_done(call, BT_HTTP_ANSWERED);
}

static const struct pod three[] = {{"a", 1, 3, NULL}, {"b", 2, 4, "n1"}, {"c", 3, 5, "n2"}};

/* ---- lists ---- */

static void a_list_comes_page_by_page_and_a_watch_begins_at_its_version(void **state)
{
	(void)state;
	for (enum form form = JSON; form < FORM_N; form++) {
		start_with(false, 2);
		assert_true(bind_requests(pods_call(), "?limit=2&resourceVersion=0&"));
		assert_true(bind_requests(
			pods_call(), "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"));
		answer_list(form, 9, "to/ken=", three, 2);
		assert_string_equal(fed(), "+a +b");
		assert_false(state_of("pods").synced);
		assert_true(bind_requests(pods_call(), "?limit=2&continue=to%2Fken%3D&"));
		answer_list(form, 9, "", three + 2, 1);
		assert_string_equal(fed(), "+a +b +c !");
		assert_true(state_of("pods").synced);
		assert_int_equal(state_of("pods").object_n, 3);
		event(open_watch(form, "9"), form, "MODIFIED", (struct pod){"a", 1, 12, "n1"});
		assert_string_equal(fed(), "+a +b +c ! +a");
		assert_string_equal(fake_fed[fake_fed_n - 1].node, "n1");
		assert_int_equal(heard_n, 4);
		stop();
	}
}

static void expired_pages_are_listed_again_without_a_limit(void **state)
{
	(void)state;
	start_with(false, 2);
	answer_list(PROTO, 9, "token", three, 2);
	refuse(410, "Expired", "The provided continue parameter is too old", -1);
	assert_true(bind_requests(pods_call(), "?limit=0&resourceVersion=0"));
	answer_list(PROTO, 11, "", three, 3);
	/* Objects fed before are not fed again. */
	assert_string_equal(fed(), "+a +b +c !");
	expect_watch("11");
	stop();
}

static void a_version_that_lists_cannot_begin_at_any_more_is_given_up(void **state)
{
	(void)state;
	start_with(false, 0);
	answer_list(PROTO, 9, "", three, 3);
	refuse(410, "Expired", "too old resource version", -1);
	assert_true(bind_requests(pods_call(), "?limit=0&resourceVersion=9&"));
	refuse(410, "Expired", "too old resource version", -1);
	assert_true(bind_requests(pods_call(), "?limit=500&field"));
	/* No busy loop if that does not help. */
	refuse(410, "Expired", "too old resource version", -1);
	assert_null(fake_find(PODS));
	assert_true(fake_next_ns() >= 8 * S / 10);
	fake_pass(2 * S);
	answer_list(PROTO, 20, "", three, 3);
	expect_watch("20");
	stop();
}

/* ---- 410 ---- */

static void after_a_gap_only_changes_and_deletions_are_reported(void **state)
{
	const struct pod later[] = {{"b", 2, 4, "n1"}, {"c", 33, 20, NULL}, {"d", 4, 21, NULL}};

	(void)state;
	for (uint32_t way = 0; way < 4; way++) {
		enum form form = way % 2 ? PROTO : JSON;

		start_with(false, 0);
		answer_list(form, 9, "", three, 3);
		if (way < 2) {
			refuse(410, "Expired", "too old resource version: 9 (15)", -1);
		} else {
			struct fake_call *call = open_watch(form, "9");

			bt_buf_clear(&body);
			write_status_event(&body, form, 410, "Expired", "too old resource version: 9 (15)");
			send_body(call);
			assert_true(call->cancelled);
			fake_done(call, BT_HTTP_CANCELLED);
		}
		answer_list(form, 25, "", later, 3);
		assert_string_equal(fed(), "+a +b +c ! +c +d -a");
		assert_string_equal(fake_fed[fake_fed_n - 1].uid, "00000000-0000-4000-8000-000000000001");
		assert_string_equal(fake_fed[fake_fed_n - 1].version, "3");
		assert_int_equal(state_of("pods").object_n, 3);
		expect_watch("25");
		assert_int_equal(heard_n, 6);
		stop();
	}
}

static void a_watch_that_expires_again_and_again_waits(void **state)
{
	(void)state;
	start_with(false, 0);
	for (uint32_t i = 0; i < 2; i++) {
		answer_list(PROTO, 9, "", three, 3);
		refuse(410, "Expired", "too old", -1);
	}
	assert_null(fake_find(PODS));
	stop();
}

/* Each starts, returns events or none, and ends. */
static void a_watch_that_begins_and_expires_again_and_again_waits(void **state)
{
	static const char bookmark[] = "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\","
				       "\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\"}}}\n";

	(void)state;
	for (uint32_t brings = 0; brings < 2; brings++) {
		start_with(false, 0);
		for (uint32_t i = 0; i < 2; i++) {
			answer_list(JSON, 9, "", three, 3);
			struct fake_call *call = open_watch(JSON, "9");

			bt_buf_clear(&body);
			bt_buf_text(&body, brings ? bookmark : "");
			write_status_event(&body, JSON, 410, "Expired", "too old");
			send_body(call);
			fake_done(call, BT_HTTP_CANCELLED);
		}
		assert_null(fake_find(PODS));
		stop();
	}
}

/* The error's body is cut at a limit; its beginning has the message. */
static void an_error_without_end_is_cut(void **state)
{
	char part[8192];

	(void)state;
	memset(part, 'e', sizeof(part));
	start_with(false, 0);
	struct fake_call *call = pods_call();

	fake_head(call, 500, "application/json", -1);
	for (uint32_t i = 0; i < 100 && !call->cancelled; i++) {
		fake_data(call, (struct bt_str){part, sizeof(part)}, 0);
	}
	assert_true(call->cancelled);
	fake_done(call, BT_HTTP_CANCELLED);
	assert_null(fake_find(PODS)); /* with backoff */
	assert_non_null(strstr(state_of("pods").error, "(HTTP status 500): eeee"));
	fake_pass(60 * S);
	answer_list(JSON, 9, "", three, 3);
	assert_string_equal(fed(), "+a +b +c !");
	stop();
}

/* ---- log lines ---- */

static void assert_said(const char *message)
{
	const char *text = caught_text();

	if (!strstr(text, message)) {
		fprintf(stdout, "in '%s'\n", text);
		caught_end();
		fail_msg("no '%s'", message);
	}
}

/* At its level, no line of a lower level is missing. */
static void lists_and_watches_are_logged_as_by_client_go(void **state)
{
	static const struct {
		int verbosity;
		bool at_start, closed;
	} levels[] = {{2, false, false}, {3, true, false}, {4, true, true}};

	(void)state;
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		caught_begin();
		bt_log_setup(BT_LOG_TEXT, levels[i].verbosity);
		start_with(true, 0);
		const char *text = caught_text();

		assert_int_equal(
			strstr(text, "\"Starting reflector\" type=\"Pod\"\n") != NULL, levels[i].at_start);
		assert_int_equal(
			strstr(text, "\"Listing and watching\" type=\"Pod\"\n") != NULL, levels[i].at_start);
		refuse(422, "Invalid", "sendInitialEvents: Forbidden", -1);
		text = caught_text();
		assert_int_equal(strstr(text, "\"Data couldn't be fetched in watchlist mode.") != NULL,
			levels[i].closed);
		answer_list(JSON, 9, "", three, 3);
		assert_said("\"Caches populated\" type=\"Pod\" objects=3\n");
		struct fake_call *call = open_watch(JSON, "9");

		event(call, JSON, "ADDED", (struct pod){"d", 4, 15, NULL});
		fake_done(call, BT_HTTP_ANSWERED);
		assert_int_equal(strstr(caught_text(), "\"Watch close\" type=\"Pod\" totalItems=1\n") != NULL,
			levels[i].closed);
		call = open_watch(JSON, "15");
		event(call, JSON, "ADDED", (struct pod){"e", 5, 16, NULL});
		fake_done(call, BT_HTTP_LOST);
		assert_said("\"Watch closed with unexpected EOF\" type=\"Pod\" err=");
		call = open_watch(JSON, "16");
		bt_buf_clear(&body);
		write_status_event(&body, JSON, 429, "TooManyRequests", "too many");
		send_body(call);
		fake_done(call, BT_HTTP_CANCELLED);
		assert_said("\"Watch returned 429 - backing off\" type=\"Pod\"\n");
		assert_null(strstr(caught_text(), "The server ends a watch"));
		fake_pass(4 * S);
		refuse(410, "Expired", "too old resource version", -1);
		text = caught_text();
		assert_int_equal(
			strstr(text, "\"Watch closed\" type=\"Pod\" err=\"too old resource version\"\n") !=
				NULL,
			levels[i].closed);
		assert_int_equal(
			strstr(text, "\"Listing and watching\" type=\"Pod\"\n") != NULL, levels[i].at_start);
		stop();
		assert_int_equal(strstr(caught_text(), "\"Stopping reflector\" type=\"Pod\"\n") != NULL,
			levels[i].at_start);
		caught_end();
		bt_log_setup(BT_LOG_TEXT, 0);
	}
}

/* ---- resuming ---- */

static void bookmarks_and_events_move_the_version_that_a_watch_resumes_at(void **state)
{
	(void)state;
	for (enum form form = JSON; form < FORM_N; form++) {
		start_with(false, 0);
		answer_list(form, 9, "", three, 3);
		struct fake_call *call = open_watch(form, "9");

		event(call, form, "ADDED", (struct pod){"d", 4, 15, NULL});
		fake_done(call, BT_HTTP_ANSWERED); /* its timeout: the next starts at once */
		call = open_watch(form, "15");
		bt_buf_clear(&body);
		write_bookmark(&body, form, 40, false);
		send_body(call);
		fake_done(call, BT_HTTP_LOST); /* it has returned events: at once, too */
		assert_string_equal(state_of("pods").error, "");
		fake_done(expect_watch("40"), BT_HTTP_UNSENT);
		assert_null(fake_find(PODS));
		assert_non_null(strstr(state_of("pods").error, "cannot be reached"));
		fake_pass(2 * S);
		call = open_watch(form, "40");
		assert_string_equal(state_of("pods").error, "");
		event(call, form, "DELETED", (struct pod){"b", 2, 41, "n1"});
		assert_string_equal(fed(), "+a +b +c ! +d -b");
		assert_int_equal(state_of("pods").list_n, 1);
		stop();
	}
}

static void stale_events_are_not_passed_on(void **state)
{
	(void)state;
	start_with(false, 0);
	answer_list(PROTO, 9, "", three, 3);
	struct fake_call *call = open_watch(PROTO, "9");
	event(call, PROTO, "MODIFIED", (struct pod){"a", 1, 12, NULL});
	event(call, PROTO, "MODIFIED", (struct pod){"a", 1, 12, NULL}); /* twice */
	event(call, PROTO, "MODIFIED", (struct pod){"a", 1, 11, NULL}); /* late */
	event(call, PROTO, "DELETED", (struct pod){"a", 1, 10, NULL});	/* from an earlier time */
	event(call, PROTO, "DELETED", (struct pod){"x", 1, 13, NULL});	/* of an unknown object */
	event(call, PROTO, "ADDED", (struct pod){"a", 77, 14, NULL});	/* another object with that name */
	assert_string_equal(fed(), "+a +b +c ! +a +a");
	stop();
}

/* ---- streaming lists ---- */

static void a_streaming_list_becomes_the_watch(void **state)
{
	(void)state;
	for (enum form form = JSON; form < FORM_N; form++) {
		start_with(true, 0);
		struct fake_call *call = pods_call();

		assert_true(bind_requests(call, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"));
		assert_false(bind_requests(call, "resourceVersion="));
		fake_head(call, 200, type_of_watch(form), -1);
		for (uint32_t i = 3; i-- > 0;) {
			event(call, form, "ADDED", three[i]);
		}
		assert_false(state_of("pods").synced);
		bt_buf_clear(&body);
		write_bookmark(&body, form, 50, true);
		write_event(&body, form, "MODIFIED", &(struct pod){"a", 1, 51, "n3"});
		send_body(call);
		assert_string_equal(fed(), "+c +b +a ! +a");
		/* A gap: the next list is not older, and finds deletions. */
		bt_buf_clear(&body);
		write_status_event(&body, form, 410, "Gone", "gone");
		send_body(call);
		fake_done(call, BT_HTTP_CANCELLED);
		call = pods_call();
		assert_true(bind_requests(
			call, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=51"));
		fake_head(call, 200, type_of_watch(form), -1);
		event(call, form, "ADDED", (struct pod){"a", 1, 51, "n3"});
		bt_buf_clear(&body);
		write_bookmark(&body, form, 60, true);
		send_body(call);
		assert_memory_equal(fed(), "+c +b +a ! +a -", 15);
		assert_int_equal(state_of("pods").object_n, 1);
		stop();
	}
}

static void a_server_without_streaming_lists_is_read_by_pages(void **state)
{
	(void)state;
	start_with(true, 0);
	refuse(422, "Invalid", "sendInitialEvents: Forbidden", -1);
	answer_list(JSON, 9, "", three, 3);
	assert_string_equal(fed(), "+a +b +c !");
	expect_watch("9");
	refuse(410, "Expired", "old", -1);
	assert_false(bind_requests(pods_call(), "watch=true"));
	stop();
}

static void a_truncated_streaming_list_is_restarted(void **state)
{
	(void)state;
	start_with(true, 0);
	struct fake_call *call = pods_call();
	fake_head(call, 200, type_of_watch(PROTO), -1);
	event(call, PROTO, "ADDED", three[0]);
	fake_done(call, BT_HTTP_LOST);
	fake_pass(2 * S);
	call = pods_call();
	fake_head(call, 200, type_of_watch(PROTO), -1);
	event(call, PROTO, "ADDED", three[1]);
	bt_buf_clear(&body);
	write_bookmark(&body, PROTO, 50, true);
	send_body(call);
	assert_string_equal(fed(), "+a +b -a !");
	stop();
}

/* ---- cut off ---- */

static void a_list_cut_at_any_byte_syncs_nothing_and_is_requested_again(void **state)
{
	(void)state;
	for (enum form form = JSON; form < FORM_N; form++) {
		struct bt_buf whole = {0};

		write_list(&whole, form, 9, "", three, 3);
		/* Without the last brace, or the end of the envelope, the list is complete. */
		for (size_t n = 0; n < whole.len - 5; n++) {
			start_with(false, 0);
			struct fake_call *call = pods_call();

			fake_head(call, 200, type_of_list(form), -1);
			fake_data(call, (struct bt_str){whole.ptr, n}, 0);
			fake_done(call, n % 2 ? BT_HTTP_LOST : BT_HTTP_ANSWERED);
			assert_false(state_of("pods").synced);
			fake_pass(2 * S);
			answer_list(form, 9, "", three, 3);
			assert_string_equal(fed(), "+a +b +c !");
			stop();
		}
		bt_buf_fini(&whole);
	}
}

/* A proxy may respond so. No object counts as deleted, and the next list waits for its backoff. */
static void an_answer_that_is_no_list_deletes_no_objects(void **state)
{
	static const struct bt_str empty[FORM_N] = {[JSON] = BT_STR("{}"), [PROTO] = BT_STR("k8s\0\x12\x00")};

	(void)state;
	for (enum form form = JSON; form < FORM_N; form++) {
		start_with(false, 0);
		answer_list(form, 9, "", three, 3);
		refuse(410, "Expired", "too old", -1);
		struct fake_call *call = pods_call();

		fake_head(call, 200, type_of_list(form), -1);
		fake_data(call, empty[form], 0);
		fake_done(call, BT_HTTP_ANSWERED);
		assert_null(fake_find(PODS));
		assert_string_equal(fed(), "+a +b +c !");
		fake_pass(60 * S);
		answer_list(form, 12, "", three, 2);
		assert_string_equal(fed(), "+a +b +c ! -c");
		stop();
	}
}

static void a_watch_cut_at_any_byte_resumes_without_a_gap(void **state)
{
	(void)state;
	for (enum form form = JSON; form < FORM_N; form++) {
		struct bt_buf whole = {0};
		size_t first;

		write_event(&whole, form, "ADDED", &(struct pod){"d", 4, 15, NULL});
		first = whole.len - (form == JSON); /* the line end does not matter */
		write_event(&whole, form, "DELETED", &(struct pod){"a", 1, 16, NULL});
		for (size_t n = 0; n < whole.len - 1; n++) {
			start_with(false, 0);
			answer_list(form, 9, "", three, 3);
			struct fake_call *call = open_watch(form, "9");

			fake_data(call, (struct bt_str){whole.ptr, n}, 1);
			fake_done(call, BT_HTTP_LOST);
			fake_pass(2 * S);
			call = open_watch(form, n < first ? "9" : "15");
			fake_data(call,
				n < first ? bt_buf_view(&whole)
					  : (struct bt_str){whole.ptr + first, whole.len - first},
				3);
			assert_string_equal(fed(), "+a +b +c ! +d -a");
			stop();
		}
		bt_buf_fini(&whole);
	}
}

/* ---- unusual responses ---- */

static void a_missing_permission_is_reported_and_retried_less_often(void **state)
{
	int64_t waited_ns = 0;

	(void)state;
	start_with(false, 0);
	for (uint32_t i = 0; i < 8; i++) {
		refuse(403, "Forbidden",
			"pods is forbidden: User \\\"eve\\\" cannot list resource \\\"pods\\\"", -1);
		assert_null(fake_find(PODS));
		waited_ns = fake_next_ns();
		assert_true(waited_ns >= (i < 6 ? (8 * S / 10) << i : 30 * S) - 1 && waited_ns <= 60 * S);
		fake_pass(waited_ns);
	}
	const struct bt_watch_state now = state_of("pods");
	assert_non_null(strstr(now.error, "Not allowed to list and watch pods: grant both verbs"));
	assert_non_null(strstr(now.error, "User \"eve\" cannot list"));
	assert_int_equal(now.error_n, 8);
	assert_false(now.synced);
	answer_list(PROTO, 9, "", three, 3);
	assert_string_equal(state_of("pods").error, "");
	stop();
}

static void credentials_that_are_not_accepted_are_no_missing_permission(void **state)
{
	(void)state;
	start_with(false, 0);
	refuse(401, "Unauthorized", "Unauthorized", -1);
	const struct bt_watch_state now = state_of("pods");
	assert_non_null(
		strstr(now.error, "does not accept the credentials to list and watch pods: has the token"));
	assert_non_null(strstr(now.error, "expired"));
	assert_null(strstr(now.error, "grant"));
	assert_null(fake_find(PODS)); /* and no request follows at once */
	stop();
}

static void a_throttled_watch_obeys_retry_after(void **state)
{
	(void)state;
	start_with(false, 0);
	answer_list(PROTO, 9, "", three, 3);
	refuse(429, "TooManyRequests", "slow down", 17 * S);
	assert_int_equal(fake_next_ns(), 17 * S);
	fake_pass(17 * S);
	expect_watch("9");
	refuse(500, "InternalError", "etcd is ill", -1);
	assert_null(fake_find(PODS));
	fake_pass(4 * S);
	expect_watch("9");
	stop();
}

static void a_version_ahead_of_the_server_is_given_up(void **state)
{
	(void)state;
	start_with(false, 0);
	answer_list(PROTO, 90, "", three, 3);
	refuse(504, "Timeout", "Too large resource version: 90, current: 5", -1);
	fake_pass(2 * S);
	assert_true(bind_requests(pods_call(), "?limit=500&field"));
	answer_list(PROTO, 5, "", three, 3);
	expect_watch("5");
	stop();
}

static void a_kind_that_the_server_does_not_have_is_done_without(void **state)
{
	(void)state;
	start_with(false, 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct fake_call *call = fake_find(i ? "/apis/resource.k8s.io/v1beta2/resourceslices?"
						     : "/apis/resource.k8s.io/v1/resourceslices?");

		assert_non_null(call);
		assert_false(state_of("resourceslices").synced);
		fake_head(call, 404, "text/plain", -1);
		fake_data(call, bt_str("404 page not found"), 0);
		fake_done(call, BT_HTTP_ANSWERED);
	}
	assert_true(state_of("resourceslices").synced);
	assert_string_equal(state_of("resourceslices").error,
		"The server has no resourceslices of resource.k8s.io/v1, resource.k8s.io/v1beta2");
	/* It is retried from time to time. */
	fake_pass(290 * S);
	assert_null(fake_find("/apis/resource.k8s.io/v1/resourceslices?"));
	fake_pass(10 * S);
	struct fake_call *again = fake_find("/apis/resource.k8s.io/v1/resourceslices?");

	assert_non_null(again);
	fake_head(again, 200, "application/json", -1);
	fake_data(again, bt_str("{\"items\":[],\"metadata\":{\"resourceVersion\":\"7\"}}"), 0);
	fake_done(again, BT_HTTP_ANSWERED);
	assert_string_equal(state_of("resourceslices").error, "");
	/* Pods are required. */
	refuse(404, "NotFound", "the server could not find the requested resource", -1);
	assert_false(state_of("pods").synced);
	fake_pass(2 * S);
	pods_call();
	stop();
}

static void answers_in_another_form_are_refused(void **state)
{
	static const char *const types[] = {"text/html", "", "application/cbor", "application/jsonx"};

	(void)state;
	start_with(false, 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct fake_call *call = pods_call();

		fake_head(call, 200, types[i], -1);
		fake_data(call, bt_str("<html>"), 0);
		assert_true(call->cancelled);
		fake_done(call, BT_HTTP_CANCELLED);
		assert_non_null(strstr(state_of("pods").error, "in a format that was not requested"));
		fake_pass(60 * S);
	}
	/* Protobuf for a kind that is requested as JSON. */
	struct fake_call *call = fake_find("/api/v1/services?");
	fake_head(call, 200, type_of_list(PROTO), -1);
	assert_true(call->cancelled);
	stop();
}

/* A watch would get the unreadable event again and again: a list skips it. */
static void impossible_lengths_end_the_call(void **state)
{
	static const struct bt_str watches[] = {BT_STR("\xff\xff\xff\xff"),
		BT_STR("\x00\x00\x00\x03\x0a\x7f\x00"), BT_STR("\x00\x00\x00\x00")};
	static const struct bt_str lists[] = {BT_STR("not protobuf"), BT_STR("k8s\0\x12\x10\x0a\x20"),
		BT_STR("k8s\0\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x12\xff\xff\xff\xff\x7f"),
		BT_STR("k8s\0\x12\x06\x0b\x0b")};

	(void)state;
	start_with(false, 0);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct fake_call *call = pods_call();

		fake_head(call, 200, type_of_list(PROTO), -1);
		fake_data(call, lists[i], 1);
		assert_true(call->cancelled);
		fake_done(call, BT_HTTP_CANCELLED);
		fake_pass(60 * S);
	}
	answer_list(PROTO, 9, "", three, 3);
	for (size_t i = 0; i < sizeof(watches) / sizeof(watches[0]); i++) {
		struct fake_call *call = open_watch(PROTO, "9");

		fake_data(call, watches[i], 1);
		assert_true(call->cancelled);
		fake_done(call, BT_HTTP_CANCELLED);
		assert_null(fake_find(PODS));
		fake_pass(60 * S);
		answer_list(PROTO, 9, "", three, 3);
	}
	assert_string_equal(fed(), "+a +b +c !");
	stop();
}

/* ---- objects that cannot be read whole ---- */

struct unread {
	uint32_t n;
	char line[256]; /* the last one */
};

static void note_unread(void *context, const char *resource, const struct bt_unread_object *object)
{
	struct unread *unread = context;

	unread->n++;
	snprintf(unread->line, sizeof(unread->line), "%s %.*s/%.*s: %s", resource,
		BT_STR_ARG(object->namespace_), BT_STR_ARG(object->name),
		object->extent == BT_PROTO_REPLACED ? "replaced" : "in part");
}

static struct unread unread_now(void)
{
	struct unread unread = {0};

	bt_watch_each_unread(watch, note_unread, &unread);
	return unread;
}

static const struct pod poisoned = {"a", 1, 12, "n1"};

/* With each encoding, and each kind of damage. */
static void each_poison(void (*play)(enum form form, enum poison poison))
{
	for (enum form form = JSON; form < FORM_N; form++) {
		play(form, NOT_UTF8);
		play(form, BAD_VALUE);
	}
}

static void poisoned_event(
	struct fake_call *call, enum form form, enum poison poison, const char *type, uint64_t version)
{
	server_poison = poison;
	event(call, form, type, (struct pod){"a", 1, version, "n1"});
	server_poison = CLEAN;
}

static void play_watch(enum form form, enum poison poison)
{
	start_with(false, 0);
	answer_list(form, 9, "", three, 3);
	struct fake_call *call = open_watch(form, "9");

	poisoned_event(call, form, poison, "MODIFIED", 12);
	assert_string_equal(fed(), "+a +b +c ! +a");
	assert_string_equal(fake_fed[fake_fed_n - 1].node, "n1");
	assert_int_equal(heard_incomplete, poison == BAD_VALUE);
	assert_int_equal(state_of("pods").replaced_n, poison == NOT_UTF8);
	assert_int_equal(state_of("pods").in_part_n, poison == BAD_VALUE);
	assert_int_equal(unread_now().n, 1);
	assert_string_equal(
		unread_now().line, poison == NOT_UTF8 ? "pods team/a: replaced" : "pods team/a: in part");
	/* A deleted object stays deleted. */
	poisoned_event(call, form, poison, "DELETED", 13);
	assert_string_equal(fed(), "+a +b +c ! +a -a");
	assert_int_equal(unread_now().n, 0);
	assert_int_equal(state_of("pods").replaced_n + state_of("pods").in_part_n, 0);
	assert_int_equal(state_of("pods").object_n, 2);
	stop();
}

static void an_object_that_cannot_be_read_whole_is_taken_as_far_as_it_can_be(void **state)
{
	(void)state;
	each_poison(play_watch);
}

static void play_list(enum form form, enum poison poison)
{
	start_with(false, 0);
	server_poison = poison;
	answer_list(form, 9, "", &poisoned, 1);
	server_poison = CLEAN;
	assert_string_equal(fed(), "+a !");
	assert_string_equal(fake_fed[0].node, "n1");
	assert_int_equal(unread_now().n, 1);
	/* It is read whole again; then the same damage is reported again. */
	event(open_watch(form, "9"), form, "MODIFIED", (struct pod){"a", 1, 14, "n1"});
	assert_int_equal(unread_now().n, 0);
	assert_int_equal(heard_incomplete, 0);
	poisoned_event(pods_call(), form, poison, "MODIFIED", 15);
	assert_int_equal(unread_now().n, 1);
	bt_watch_relist(watch, BT_KIND_POD);
	fake_pass(0);
	fake_done(pods_call(), BT_HTTP_CANCELLED);
	answer_list(form, 20, "", three + 1, 2);
	assert_string_equal(fed(), "+a ! +a +a +b +c -a");
	assert_int_equal(unread_now().n, 0);
	stop();
}

static void in_a_list_it_counts_and_one_that_is_missing_there_has_gone(void **state)
{
	(void)state;
	each_poison(play_list);
}

static void an_event_without_a_name_is_followed_by_a_list(void **state)
{
	const char nameless[] = "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"uid\":\"7\"}}}";

	(void)state;
	start_with(false, 0);
	answer_list(JSON, 9, "", three, 3);
	struct fake_call *call = open_watch(JSON, "9");
	fake_data(call, bt_str(nameless), 0);
	assert_true(call->cancelled);
	fake_done(call, BT_HTTP_CANCELLED);
	assert_int_equal(state_of("pods").skipped_n, 1);
	assert_null(fake_find(PODS)); /* with backoff */
	fake_pass(60 * S);
	answer_list(JSON, 12, "", three, 2);
	assert_string_equal(fed(), "+a +b +c ! -c");
	stop();
}

/* ---- room ---- */

static void without_room_nothing_is_lost_and_the_server_waits(void **state)
{
	const uint32_t n = 3000;
	struct pod *pods = bt_mem_zalloc(n, sizeof(*pods));
	char(*names)[16] = bt_mem_zalloc(n, sizeof(*names));

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "pod-%u", i);
		pods[i] = (struct pod){names[i], i + 1, 10 + i, NULL};
	}
	for (uint32_t way = 0; way < 4; way++) {
		enum form form = way % 2 ? PROTO : JSON;
		bool paused = false;

		start_with(false, 0);
		fake_full = way < 2 ? BT_FULL : BT_NO_MEMORY;
		fake_room = 4;
		opens = way > 0;
		struct fake_call *call = pods_call();
		bt_buf_clear(&body);
		write_list(&body, form, 9000, "", pods, n);
		fake_head(call, 200, type_of_list(form), -1);
		fake_data(call, bt_buf_view(&body), 4096);
		bt_buf_clear(&body);
		assert_true(call->paused);
		assert_true(opens || fake_fed_n == 4);
		assert_true(state_of("pods").waiting_n <= 512);
		for (uint32_t round = 0; round < 2000 && fake_find(PODS) == call; round++) {
			paused |= call->paused;
			fake_room = 4;
			fake_pass(S / 1000);
			if (!call->paused && call->open && !call->held.len) {
				fake_done(call, BT_HTTP_ANSWERED);
			}
		}
		for (uint32_t round = 0; round < 2000 && state_of("pods").waiting_n; round++) {
			fake_room = 4;
			fake_pass(S / 1000);
		}
		assert_true(paused);
		assert_int_equal(fake_fed_n, n + 1);
		for (uint32_t i = 0; i < n; i++) {
			assert_string_equal(fake_fed[i].name, names[i]);
		}
		assert_int_equal(fake_fed[n].kind, BT_WATCH_EVENT_SYNCED);
		expect_watch("9000");
		opens = false;
		stop();
	}
	bt_mem_free(pods);
	bt_mem_free(names);
}

/* ---- on demand ---- */

static void a_kind_is_listed_on_demand(void **state)
{
	(void)state;
	start_with(false, 0);
	answer_list(PROTO, 9, "", three, 3);
	struct fake_call *call = open_watch(PROTO, "9");
	bt_watch_relist(watch, BT_KIND_POD);
	fake_pass(0);
	assert_true(call->cancelled);
	fake_done(call, BT_HTTP_CANCELLED);
	assert_true(bind_requests(pods_call(), "?limit=0&resourceVersion=9&"));
	answer_list(PROTO, 10, "", three, 2);
	assert_string_equal(fed(), "+a +b +c ! -c");
	stop();
}

/* ---- random histories ---- */

#define NAMES 12

struct truth {
	struct pod pods[NAMES];
	bool there[NAMES];
	uint64_t version;
	uint32_t uid;
};

static const char *const names[NAMES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};

/* Makes a change, and writes the event. */
static void happen(struct truth *t, struct bt_rng *rng, enum form form, struct bt_buf *out)
{
	static const char *const nodes[] = {NULL, "n1", "n2"};
	uint32_t i = bt_rng_below(rng, NAMES);
	const char *type = "MODIFIED";

	t->version += 1 + bt_rng_below(rng, 3);
	t->pods[i].version = t->version;
	if (!t->there[i]) {
		t->pods[i] = (struct pod){names[i], ++t->uid, t->version, nodes[bt_rng_below(rng, 3)]};
		t->there[i] = true;
		type = "ADDED";
	} else if (bt_rng_below(rng, 3) == 0) {
		t->there[i] = false;
		type = "DELETED";
	}
	write_event(out, form, type, &t->pods[i]);
}

/* The server's present state, as a list in random order. */
static uint32_t list_all(const struct truth *t, struct pod out[NAMES])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < NAMES; i++) {
		if (t->there[i]) {
			out[n++] = t->pods[i];
		}
	}
	return n;
}

/* The sum of fed events equals the server's state. */
static void compare(const struct truth *t)
{
	uint64_t versions[NAMES] = {0};

	for (uint32_t i = 0; i < fake_fed_n; i++) {
		if (fake_fed[i].source == source && fake_fed[i].kind != BT_WATCH_EVENT_SYNCED) {
			versions[fake_fed[i].name[0] - 'a'] =
				fake_fed[i].kind == BT_WATCH_EVENT_APPLY
					? strtoull(fake_fed[i].version, NULL, 10)
					: 0;
		}
	}
	for (uint32_t i = 0; i < NAMES; i++) {
		assert_int_equal(versions[i], t->there[i] ? t->pods[i].version : 0);
	}
}

/* Completes every call; a watch gets all events and stays open. */
static void settle(struct truth *t, struct bt_rng *rng, enum form form)
{
	struct pod pods[NAMES];

	for (uint32_t round = 0; round < 20; round++) {
		struct fake_call *call = fake_find(PODS);
		if (!call) {
			fake_pass(60 * S);
			continue;
		}
		uint32_t n = list_all(t, pods);
		bt_buf_clear(&body);
		if (bind_requests(call, "sendInitialEvents")) {
			fake_head(call, 200, type_of_watch(form), -1);
			for (uint32_t i = 0; i < n; i++) {
				write_event(&body, form, "ADDED", &pods[i]);
			}
			write_bookmark(&body, form, t->version, true);
			fake_data(call, bt_buf_view(&body), 1 + bt_rng_below(rng, 40));
			return;
		}
		if (!bind_requests(call, "watch=true")) {
			answer_list(form, t->version, "", pods, n);
			continue;
		}
		char words[64];
		snprintf(words, sizeof(words), "&resourceVersion=%llu&", (unsigned long long)t->version);
		if (!bind_requests(call, words)) {
			refuse(410, "Expired", "too old", -1);
			continue;
		}
		fake_head(call, 200, type_of_watch(form), -1);
		return;
	}
	fail_msg("it does not settle");
}

static void any_history_ends_in_what_the_server_has(void **state)
{
	const char *given = getenv("BT_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : 4711;

	(void)state;
	print_message("seed %llu\n", (unsigned long long)seed);
	for (uint32_t history = 0; history < 200; history++) {
		struct bt_rng rng = {bt_rng_at(seed, history)};
		enum form form = (enum form)(history % 2);
		struct truth t = {.version = 10};
		struct bt_buf events = {0};

		start_with(history % 4 < 2, 0);
		settle(&t, &rng, form);
		for (uint32_t step = 0; step < 30; step++) {
			struct fake_call *call = fake_find(PODS);

			bt_buf_clear(&events);
			for (uint32_t n = bt_rng_below(&rng, 5); n; n--) {
				happen(&t, &rng, form, &events);
			}
			/* Some watches break off; a list has what they have not delivered. */
			bool breaks = bt_rng_below(&rng, 4) == 0;
			size_t n = breaks ? bt_rng_below(&rng, (uint32_t)events.len + 1) : events.len;
			fake_data(call, (struct bt_str){events.ptr, n}, 1 + bt_rng_below(&rng, 60));
			if (breaks) {
				fake_done(call, BT_HTTP_LOST);
				settle(&t, &rng, form);
			}
			compare(&t);
		}
		bt_buf_fini(&events);
		stop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_comes_page_by_page_and_a_watch_begins_at_its_version),
		cmocka_unit_test(expired_pages_are_listed_again_without_a_limit),
		cmocka_unit_test(a_version_that_lists_cannot_begin_at_any_more_is_given_up),
		cmocka_unit_test(after_a_gap_only_changes_and_deletions_are_reported),
		cmocka_unit_test(a_watch_that_expires_again_and_again_waits),
		cmocka_unit_test(a_watch_that_begins_and_expires_again_and_again_waits),
		cmocka_unit_test(an_error_without_end_is_cut),
		cmocka_unit_test(lists_and_watches_are_logged_as_by_client_go),
		cmocka_unit_test(bookmarks_and_events_move_the_version_that_a_watch_resumes_at),
		cmocka_unit_test(stale_events_are_not_passed_on),
		cmocka_unit_test(a_streaming_list_becomes_the_watch),
		cmocka_unit_test(a_server_without_streaming_lists_is_read_by_pages),
		cmocka_unit_test(a_truncated_streaming_list_is_restarted),
		cmocka_unit_test(a_list_cut_at_any_byte_syncs_nothing_and_is_requested_again),
		cmocka_unit_test(an_answer_that_is_no_list_deletes_no_objects),
		cmocka_unit_test(a_watch_cut_at_any_byte_resumes_without_a_gap),
		cmocka_unit_test(a_missing_permission_is_reported_and_retried_less_often),
		cmocka_unit_test(credentials_that_are_not_accepted_are_no_missing_permission),
		cmocka_unit_test(a_throttled_watch_obeys_retry_after),
		cmocka_unit_test(a_version_ahead_of_the_server_is_given_up),
		cmocka_unit_test(a_kind_that_the_server_does_not_have_is_done_without),
		cmocka_unit_test(answers_in_another_form_are_refused),
		cmocka_unit_test(impossible_lengths_end_the_call),
		cmocka_unit_test(an_object_that_cannot_be_read_whole_is_taken_as_far_as_it_can_be),
		cmocka_unit_test(in_a_list_it_counts_and_one_that_is_missing_there_has_gone),
		cmocka_unit_test(an_event_without_a_name_is_followed_by_a_list),
		cmocka_unit_test(without_room_nothing_is_lost_and_the_server_waits),
		cmocka_unit_test(a_kind_is_listed_on_demand),
		cmocka_unit_test(any_history_ends_in_what_the_server_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
