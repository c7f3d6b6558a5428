/* SPDX-License-Identifier: Apache-2.0
 * Authorization: every kind of credential with every kind of response of the API
 * server, which is a table here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "identity.h"
#include "tools/cluster/serve/auth.h"

/* An API server controlled by the test. */
struct reviewer {
	bool authenticated, allowed;
	const char *user; /* JSON */
	const char *reason;
	unsigned status; /* of every response */
	enum bt_http_end end;
	const char *garbage; /* instead of a response */
	const char *config_map;
	int token_n, access_n, lookup_n;
	char sent[2048]; /* the last review */
};

static struct reviewer *of(struct bt_http *http)
{
	return (struct reviewer *)http;
}

static enum bt_http_end fetch(struct bt_http *http, const struct bt_http_call *call,
	struct bt_http_head *out_head, struct bt_buf *out_body, struct bt_buf *out_error)
{
	struct reviewer *reviewer = of(http);

	bt_buf_clear(out_body);
	snprintf(reviewer->sent, sizeof(reviewer->sent), "%.*s", BT_STR_ARG(call->body));
	out_head->status = reviewer->status;
	if (reviewer->end != BT_HTTP_ANSWERED) {
		bt_buf_text(out_error, "connection refused");
		return reviewer->end;
	}
	if (bt_str_ends(call->path, "/tokenreviews")) {
		reviewer->token_n++;
		bt_buf_printf(out_body,
			"{\"kind\":\"TokenReview\",\"spec\":{\"token\":\"x\"},\"status\":{%s%s}}",
			reviewer->authenticated ? "\"authenticated\":true,\"user\":" : "\"error\":\"no\"",
			reviewer->authenticated ? reviewer->user : "");
	} else if (bt_str_ends(call->path, "/subjectaccessreviews")) {
		reviewer->access_n++;
		bt_buf_printf(out_body, "{\"status\":{\"allowed\":%s,\"reason\":\"%s\"}}",
			reviewer->allowed ? "true" : "false", reviewer->reason);
	} else {
		reviewer->lookup_n++;
		assert_true(bt_str_is(call->path,
			"/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"));
		bt_buf_text(out_body, reviewer->config_map ? reviewer->config_map : "{\"data\":{}}");
	}
	if (reviewer->garbage) {
		bt_buf_clear(out_body);
		bt_buf_text(out_body, reviewer->garbage);
	}
	return BT_HTTP_ANSWERED;
}

static bool by_files; /* result of the last read */

struct serve_test {
	struct bt_serve_settings settings;
	struct reviewer reviewer;
	struct bt_auth *auth;
	int64_t now_ns;
	struct bt_buf message;
	bool known;
	struct bt_str always[2];
};

static void make(struct serve_test *test, bool reviews)
{
	const struct bt_auth_options options = {.settings = &test->settings,
		.authentication = reviews ? (struct bt_http *)&test->reviewer : NULL,
		.authorization = reviews ? (struct bt_http *)&test->reviewer : NULL,
		.fetch = fetch,
		.clock = bt_clock_virtual(&test->now_ns)};

	bt_auth_destroy(test->auth);
	test->auth = bt_auth_create(&options);
}

static int setup(void **state)
{
	struct serve_test *test = bt_mem_zalloc(1, sizeof(*test));

	test->always[0] = bt_str("/healthz");
	test->always[1] = bt_str("/open/*");
	test->settings = (struct bt_serve_settings){.always_allow = {test->always, 2, true},
		.tolerate_lookup_failure = true,
		.token_ttl_ns = 10,
		.allowed_ttl_ns = 20,
		.refused_ttl_ns = 5};
	test->reviewer = (struct reviewer){.status = 201,
		.reason = "",
		.user = "{\"username\":\"jane\",\"uid\":\"u7\",\"groups\":[\"dev\"],\"extra\":{\"k\":[\"v\"]}"
			"}"};
	test->now_ns = 1000;
	make(test, true);
	*state = test;
	return 0;
}

static int teardown(void **state)
{
	struct serve_test *test = *state;

	bt_auth_destroy(test->auth);
	bt_buf_fini(&test->message);
	bt_mem_free(test);
	return 0;
}

static unsigned get(struct serve_test *test, const char *header, const char *path)
{
	const struct bt_auth_request request = {
		.authorization = bt_str(header), .path = bt_str(path), .verb = "get"};

	bt_buf_clear(&test->message);
	bt_buf_text(&test->message, "");
	return bt_auth_decide(test->auth, &request, &test->known, &test->message);
}

static unsigned get_with(struct serve_test *test, const struct identity *identity, const char *path)
{
	const struct bt_str certificate = {(const char *)identity->der, (size_t)identity->der_n};
	const struct bt_auth_request request = {
		.certificates = &certificate, .certificate_n = 1, .path = bt_str(path), .verb = "get"};

	bt_buf_clear(&test->message);
	bt_buf_text(&test->message, "");
	return bt_auth_decide(test->auth, &request, &test->known, &test->message);
}

static void a_client_without_credentials_is_anonymous(void **state)
{
	struct serve_test *test = *state;

	assert_int_equal(get(test, "", "/metrics"), 403);
	assert_string_equal(
		test->message.ptr, "forbidden: User \"system:anonymous\" cannot get path \"/metrics\"");
	assert_non_null(strstr(test->reviewer.sent, "\"groups\":[\"system:unauthenticated\"]"));
	assert_non_null(strstr(
		test->reviewer.sent, "\"nonResourceAttributes\":{\"path\":\"/metrics\",\"verb\":\"get\"}"));
	assert_int_equal(test->reviewer.token_n, 0);
	test->now_ns += 100;
	test->reviewer.allowed = true;
	assert_int_equal(get(test, "", "/metrics"), 200);
}

static void paths_that_are_always_allowed_need_no_review(void **state)
{
	struct serve_test *test = *state;

	assert_int_equal(get(test, "", "/healthz"), 200);
	assert_int_equal(get(test, "", "/open/a/b"), 200);
	assert_int_equal(test->reviewer.access_n, 0);
	assert_int_equal(get(test, "", "/healthz/ping"), 403);
	assert_int_equal(get(test, "", "/opened"), 403);
}

static void a_token_is_reviewed_and_its_user_authorized(void **state)
{
	struct serve_test *test = *state;

	test->reviewer.authenticated = test->reviewer.allowed = true;
	assert_int_equal(get(test, "Bearer secret", "/metrics"), 200);
	assert_int_equal(test->reviewer.token_n, 1);
	assert_non_null(
		strstr(test->reviewer.sent, "\"user\":\"jane\",\"uid\":\"u7\",\"extra\":{\"k\":[\"v\"]}"));
	assert_non_null(strstr(test->reviewer.sent, "\"groups\":[\"dev\",\"system:authenticated\"]"));
	test->reviewer.allowed = false;
	test->reviewer.reason = "no role <b>";
	assert_int_equal(get(test, "bearer secret", "/configz"), 403);
	assert_string_equal(
		test->message.ptr, "forbidden: User \"jane\" cannot get path \"/configz\": no role <b>");
}

static void a_wrong_token_is_rejected_even_where_anonymous_access_is_allowed(void **state)
{
	struct serve_test *test = *state;

	assert_int_equal(get(test, "Bearer wrong", "/healthz"), 401);
	assert_string_equal(test->message.ptr, "Unauthorized");
	assert_int_equal(get(test, "Basic d3Jvbmc=", "/healthz"), 200);
	assert_int_equal(get(test, "Bearer ", "/healthz"), 200);
	assert_int_equal(test->reviewer.token_n, 1);
}

static void masters_may_everything(void **state)
{
	struct serve_test *test = *state;

	test->reviewer.authenticated = true;
	test->reviewer.user = "{\"username\":\"root\",\"groups\":[\"system:masters\"]}";
	assert_int_equal(get(test, "Bearer t", "/debug/queue"), 200);
	assert_int_equal(test->reviewer.access_n, 0);
}

static void answers_are_remembered_for_a_while(void **state)
{
	struct serve_test *test = *state;

	test->reviewer.authenticated = test->reviewer.allowed = true;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(get(test, "Bearer t", "/metrics"), 200);
	}
	assert_int_equal(test->reviewer.token_n, 1);
	assert_int_equal(test->reviewer.access_n, 1);
	test->now_ns += 10;
	assert_int_equal(get(test, "Bearer t", "/metrics"), 200);
	assert_int_equal(test->reviewer.token_n, 2);
	assert_int_equal(test->reviewer.access_n, 1);
	assert_int_equal(get(test, "Bearer other", "/metrics"), 200);
	assert_int_equal(test->reviewer.token_n, 3);
	assert_int_equal(test->reviewer.access_n, 1); /* the same user */
	test->now_ns += 20;
	test->reviewer.allowed = false;
	assert_int_equal(get(test, "Bearer t", "/metrics"), 403);
	test->reviewer.allowed = true;
	assert_int_equal(get(test, "Bearer t", "/metrics"), 403);
	test->now_ns += 5;
	assert_int_equal(get(test, "Bearer t", "/metrics"), 200);
}

static void requests_are_denied_while_the_api_server_does_not_answer(void **state)
{
	struct serve_test *test = *state;

	test->reviewer.end = BT_HTTP_UNSENT;
	assert_int_equal(get(test, "Bearer t", "/metrics"), 401);
	assert_int_equal(get(test, "", "/metrics"), 500);
	assert_string_equal(test->message.ptr, "Internal Server Error: \"/metrics\": connection refused");
	test->reviewer.end = BT_HTTP_ANSWERED;
	test->reviewer.status = 403;
	assert_int_equal(get(test, "", "/metrics"), 500);
	assert_non_null(strstr(test->message.ptr, "HTTP status 403"));
	test->reviewer.status = 201;
	test->reviewer.allowed = true;
	assert_int_equal(get(test, "", "/metrics"), 200); /* failures are not cached */
}

static void malformed_reviews_deny_access(void **state)
{
	static const char *const rows[] = {"", "null", "[]", "{}", "{\"status\":null}",
		"{\"status\":{\"allowed\":1}}", "{\"status\":{\"allowed\":true,\"denied\":true}}",
		"{\"status\":{\"allowed\":true}", "\xff",
		"{\"status\":{\"authenticated\":true,\"user\":{\"groups\":[1]}}}"};
	struct serve_test *test = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		test->reviewer.garbage = rows[i];
		test->now_ns += 100;
		assert_int_not_equal(get(test, "", "/metrics"), 200);
		assert_int_not_equal(get(test, "Bearer t", "/metrics"), 200);
	}
}

static void without_reviewers_only_open_paths_are_served(void **state)
{
	struct serve_test *test = *state;

	make(test, false);
	assert_int_equal(get(test, "", "/healthz"), 200);
	assert_int_equal(get(test, "Bearer t", "/healthz"), 200);
	assert_int_equal(get(test, "Bearer t", "/metrics"), 403);
	assert_string_equal(
		test->message.ptr, "forbidden: User \"system:anonymous\" cannot get path \"/metrics\"");
}

/* ---- client certificates ---- */

/* The ConfigMap with that CA. */
static void publish(struct serve_test *test, const struct identity *ca)
{
	static char text[8192];
	size_t n = (size_t)snprintf(text, sizeof(text), "{\"data\":{\"client-ca-file\":\"");

	for (const char *c = ca->pem; *c && n < sizeof(text) - 8; c++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, *c == '\n' ? "\\n" : "%c", *c);
	}
	snprintf(text + n, sizeof(text) - n, "\"}}");
	test->reviewer.config_map = text;
	test->reviewer.status = 200;
}

static void a_client_certificate_of_the_clusters_ca_authenticates_its_user(void **state)
{
	struct serve_test *test = *state;
	struct identity ca, client, stranger_ca, stranger, old;
	struct bt_buf error = {0};

	identity_make(&ca, NULL, "ca", NULL, 3600);
	identity_make(&client, &ca, "jane", "dev", 3600);
	identity_make(&old, &ca, "jane", "dev", -60);
	identity_make(&stranger_ca, NULL, "other-ca", NULL, 3600);
	identity_make(&stranger, &stranger_ca, "jane", "system:masters", 3600);
	assert_int_equal(get_with(test, &client, "/metrics"), 403);
	assert_non_null(strstr(test->message.ptr, "system:anonymous")); /* no CA is known yet */
	publish(test, &ca);
	assert_int_equal(bt_auth_reload(test->auth, &by_files, &error), BT_OK);
	test->reviewer.allowed = true;
	assert_int_equal(get_with(test, &client, "/metrics"), 200);
	assert_non_null(strstr(test->reviewer.sent, "\"user\":\"jane\""));
	assert_non_null(strstr(test->reviewer.sent, "\"groups\":[\"dev\",\"system:authenticated\"]"));
	assert_int_equal(get_with(test, &stranger, "/healthz"), 401);
	assert_int_equal(get_with(test, &old, "/healthz"), 401);
	publish(test, &stranger_ca);
	assert_int_equal(bt_auth_reload(test->auth, &by_files, &error), BT_OK);
	assert_int_equal(get_with(test, &client, "/healthz"), 401);
	assert_int_equal(get_with(test, &stranger, "/debug/queue"), 200);
	bt_buf_fini(&error);
	identity_drop(&ca);
	identity_drop(&client);
	identity_drop(&old);
	identity_drop(&stranger_ca);
	identity_drop(&stranger);
}

static void a_ca_that_cannot_be_read_leaves_the_last_one(void **state)
{
	struct serve_test *test = *state;
	struct identity ca, client;
	struct bt_buf error = {0};

	identity_make(&ca, NULL, "ca", NULL, 3600);
	identity_make(&client, &ca, "jane", NULL, 3600);
	publish(test, &ca);
	assert_int_equal(bt_auth_reload(test->auth, &by_files, &error), BT_OK);
	test->reviewer.config_map = "{\"data\":{\"client-ca-file\":\"nonsense\"}}";
	assert_int_equal(bt_auth_reload(test->auth, &by_files, &error), BT_INVALID);
	assert_non_null(strstr(error.ptr, "no certificate in PEM"));
	test->reviewer.status = 403;
	assert_int_equal(bt_auth_reload(test->auth, &by_files, &error), BT_IO);
	assert_false(by_files);
	assert_int_equal(get_with(test, &client, "/healthz"), 200);
	test->settings.skip_lookup = true;
	int before = test->reviewer.lookup_n;

	bt_auth_reload(test->auth, &by_files, &error);
	assert_int_equal(test->reviewer.lookup_n, before);
	bt_buf_fini(&error);
	identity_drop(&ca);
	identity_drop(&client);
}

/* ---- front proxies ---- */

/* A request through a proxy, for a user or NULL. Returns: the status. */
static unsigned get_through(struct serve_test *test, const struct identity *proxy, const char *user)
{
	const struct bt_str certificate = {(const char *)proxy->der, (size_t)proxy->der_n};
	const struct bt_header headers[] = {{bt_str("Accept"), bt_str("x")},
		{bt_str("X-Remote-Group"), bt_str("ops")},
		{bt_str("X-REMOTE-USER"), bt_str(user ? user : "")}};
	const struct bt_auth_request request = {.certificates = &certificate,
		.certificate_n = 1,
		.headers = headers,
		.header_n = 3,
		.path = bt_str("/metrics"),
		.verb = "get"};

	bt_buf_clear(&test->message);
	bt_buf_text(&test->message, "");
	return bt_auth_decide(test->auth, &request, &test->known, &test->message);
}

/* The ConfigMap with both CAs, and the proxies' allowed names. */
static void publish_both(struct serve_test *test, const struct identity *ca, const struct identity *proxy_ca,
	const char *allowed)
{
	static char text[16384];

	publish(test, proxy_ca);
	const char *pem = strchr(test->reviewer.config_map, ':') + strlen(":{\"client-ca-file\":");
	size_t n = (size_t)snprintf(text, sizeof(text),
		"{\"data\":{\"requestheader-allowed-names\":\"%s\","
		"\"requestheader-username-headers\":\"[\\\"x-remote-user\\\"]\","
		"\"requestheader-group-headers\":\"[\\\"X-Remote-Group\\\"]\","
		"\"requestheader-extra-headers-prefix\":\"[\\\"X-Remote-Extra-\\\"]\","
		"\"requestheader-client-ca-file\":%.*s,",
		allowed, (int)(strlen(pem) - 2), pem);

	publish(test, ca);
	snprintf(text + n, sizeof(text) - n, "%s", test->reviewer.config_map + strlen("{\"data\":{"));
	test->reviewer.config_map = text;
}

static void the_clusters_front_proxy_speaks_for_others(void **state)
{
	struct serve_test *test = *state;
	struct identity ca, client, proxy_ca, proxy, other;
	struct bt_buf error = {0}, pem = {0};

	identity_make(&ca, NULL, "ca", NULL, 3600);
	identity_make(&client, &ca, "jane", "dev", 3600);
	identity_make(&proxy_ca, NULL, "proxy-ca", NULL, 3600);
	identity_make(&proxy, &proxy_ca, "front-proxy-client", NULL, 3600);
	identity_make(&other, &proxy_ca, "somebody", NULL, 3600);
	test->reviewer.allowed = true;
	publish_both(test, &ca, &proxy_ca, "[\\\"front-proxy-client\\\"]");
	if (bt_auth_reload(test->auth, &by_files, &error) != BT_OK) {
		fail_msg("%s: %s", error.ptr, test->reviewer.config_map);
	}
	assert_int_equal(get_through(test, &proxy, "alice"), 200);
	assert_non_null(strstr(test->reviewer.sent, "\"user\":\"alice\""));
	assert_non_null(strstr(test->reviewer.sent, "\"groups\":[\"ops\",\"system:authenticated\"]"));
	assert_int_equal(get_through(test, &proxy, NULL), 401);	   /* it has no identity of its own */
	assert_int_equal(get_through(test, &other, "alice"), 401); /* its name is not allowed */
	/* A client that is no proxy keeps its own identity, whatever headers it sends. */
	assert_int_equal(get_through(test, &client, "alice"), 200);
	assert_non_null(strstr(test->reviewer.sent, "\"user\":\"jane\""));
	/* A new connection needs both CAs. */
	bt_auth_authorities(test->auth, &pem);
	assert_non_null(strstr(pem.ptr, ca.pem));
	assert_non_null(strstr(pem.ptr, proxy_ca.pem));
	bt_buf_fini(&error);
	bt_buf_fini(&pem);
	identity_drop(&ca);
	identity_drop(&client);
	identity_drop(&proxy_ca);
	identity_drop(&proxy);
	identity_drop(&other);
}

static void a_list_that_is_none_leaves_what_was_believed(void **state)
{
	struct serve_test *test = *state;
	struct identity ca, proxy_ca, proxy;
	struct bt_buf error = {0};

	identity_make(&ca, NULL, "ca", NULL, 3600);
	identity_make(&proxy_ca, NULL, "proxy-ca", NULL, 3600);
	identity_make(&proxy, &proxy_ca, "p", NULL, 3600);
	test->reviewer.allowed = true;
	publish_both(test, &ca, &proxy_ca, "");
	assert_int_equal(bt_auth_reload(test->auth, &by_files, &error), BT_OK);
	assert_int_equal(get_through(test, &proxy, "alice"), 200); /* any name is allowed */
	publish_both(test, &ca, &proxy_ca, "[1]");
	assert_int_equal(bt_auth_reload(test->auth, &by_files, &error), BT_INVALID);
	assert_non_null(strstr(error.ptr, "requestheader-allowed-names: not a JSON array of strings"));
	assert_int_equal(get_through(test, &proxy, "alice"), 200);
	bt_buf_fini(&error);
	identity_drop(&ca);
	identity_drop(&proxy_ca);
	identity_drop(&proxy);
}

static void without_tolerated_lookup_failures_the_front_proxy_ca_is_required(void **state)
{
	struct serve_test *test = *state;
	struct identity ca;
	struct bt_buf error = {0};

	identity_make(&ca, NULL, "ca", NULL, 3600);
	publish(test, &ca);
	test->settings.tolerate_lookup_failure = false;
	assert_int_equal(bt_auth_reload(test->auth, &by_files, &error), BT_INVALID);
	assert_non_null(strstr(error.ptr, "has no requestheader-client-ca-file"));
	test->settings.tolerate_lookup_failure = true;
	assert_int_equal(bt_auth_reload(test->auth, &by_files, &error), BT_OK);
	bt_buf_fini(&error);
	identity_drop(&ca);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_client_without_credentials_is_anonymous, setup, teardown),
		cmocka_unit_test_setup_teardown(
			paths_that_are_always_allowed_need_no_review, setup, teardown),
		cmocka_unit_test_setup_teardown(a_token_is_reviewed_and_its_user_authorized, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_wrong_token_is_rejected_even_where_anonymous_access_is_allowed, setup, teardown),
		cmocka_unit_test_setup_teardown(masters_may_everything, setup, teardown),
		cmocka_unit_test_setup_teardown(answers_are_remembered_for_a_while, setup, teardown),
		cmocka_unit_test_setup_teardown(
			requests_are_denied_while_the_api_server_does_not_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(malformed_reviews_deny_access, setup, teardown),
		cmocka_unit_test_setup_teardown(
			without_reviewers_only_open_paths_are_served, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_client_certificate_of_the_clusters_ca_authenticates_its_user, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_ca_that_cannot_be_read_leaves_the_last_one, setup, teardown),
		cmocka_unit_test_setup_teardown(the_clusters_front_proxy_speaks_for_others, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_list_that_is_none_leaves_what_was_believed, setup, teardown),
		cmocka_unit_test_setup_teardown(
			without_tolerated_lookup_failures_the_front_proxy_ca_is_required, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
