/* SPDX-License-Identifier: Apache-2.0
 * Extenders over HTTP: a test server acts as extender and API server; an engine calls them.
 * Expected results were derived by hand from upstream's extender.go, schedule_one.go
 * and extender/v1, v1.36.3.
 */
#include "trial.h"

#include <pthread.h>

#include "engine/base/thread.h"
#include "pki.h"
#include "server.h"
#include "tools/cluster/extender/extender.h"
#include "tools/cluster/net/latch.h"

#define ROUTES	 32
#define REQUESTS 2048
#define SECOND	 INT64_C(1000000000)

/* The server's response for a path. */
struct route {
	const char *path;
	int status;
	const char *body;
	bool hangs, closes, cuts; /* instead: no response, closes the connection, sends half a response */
	bool meets;		  /* responds after two such requests have arrived */
};

struct received {
	char path[128];
	char *body;
};

struct extender_test {
	struct trial t;
	struct bt_extender_config extenders[2];
	struct server *server, *tls;
	struct bt_client_config *api;
	struct bt_extenders *frontend;
	struct bt_lock lock;
	struct route routes[ROUTES]; /* lock(lock): the last one for a path is used */
	uint32_t route_n;
	struct received received[REQUESTS]; /* lock(lock): */
	uint32_t received_n;
	pthread_barrier_t meeting; /* of two */
	char url[2][64];
};

static void note(struct extender_test *test, const struct request *request)
{
	struct received *received = &test->received[test->received_n];

	assert_true(test->received_n < REQUESTS);
	snprintf(received->path, sizeof(received->path), "%.*s", BT_STR_ARG(request->path));
	received->body = strndup(request->body.len ? request->body.ptr : "", request->body.len);
	test->received_n++;
}

static bool serve(void *context, struct peer *peer, const struct request *request)
{
	struct extender_test *test = context;
	struct route found = {.status = 404, .body = "{}"};

	bt_lock_acquire(&test->lock);
	note(test, request);
	for (uint32_t i = 0; i < test->route_n; i++) {
		if (bt_str_is(request->path, test->routes[i].path)) {
			found = test->routes[i];
		}
	}
	bt_lock_release(&test->lock);
	if (found.meets) {
		pthread_barrier_wait(&test->meeting);
	}
	if (found.hangs) {
		peer_hang(peer);
		return false;
	}
	if (found.cuts) {
		peer_send(peer, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"NodeNames\":");
	}
	if (found.closes || found.cuts) {
		return false;
	}
	return peer_answer(peer, found.status, "Content-Type: application/json\r\n", found.body);
}

static void answer(struct extender_test *test, struct route route)
{
	assert_true(test->route_n < ROUTES);
	route.status = route.status ? route.status : 200;
	bt_lock_acquire(&test->lock);
	test->routes[test->route_n++] = route;
	bt_lock_release(&test->lock);
}

/* The body of the nth request on a path, from 0; NULL: none. */
static const char *request_body(struct extender_test *test, const char *path, uint32_t nth)
{
	const char *body = NULL;

	bt_lock_acquire(&test->lock);
	for (uint32_t i = 0; i < test->received_n && !body; i++) {
		if (strcmp(test->received[i].path, path) == 0 && nth-- == 0) {
			body = test->received[i].body;
		}
	}
	bt_lock_release(&test->lock);
	return body;
}

#define API_POD(name, uid)                                                                                   \
	"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name "\",\"uid\":\"" uid                               \
	"\",\"managedFields\":[{\"manager\":\"x\"}],\"annotations\":{\"a\":\"b\"}},\"spec\":{}}\n"
#define SENT_POD(name, uid)                                                                                  \
	"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name "\",\"uid\":\"" uid                               \
	"\",\"managedFields\":null,\"annotations\":{\"a\":\"b\"}},\"spec\":{}}"
#define API_NODE(name) "{\"kind\":\"Node\",\"metadata\":{\"name\":\"" name "\",\"managedFields\":[]}}"
#define POD_PATH       "/api/v1/namespaces/default/pods/p"

/* The first n extenders, at one server, each with its own path. */
static struct extender_test *configure(void **state, uint32_t n)
{
	struct extender_test *test = calloc(1, sizeof(*test));
	struct bt_buf error = {.len = 0};

	test->t.f = *state;
	bt_lock_init(&test->lock);
	pthread_barrier_init(&test->meeting, NULL, 2);
	test->server = server_start(NULL, serve, test);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(test->url[i], sizeof(test->url[i]), "http://127.0.0.1:%u/x%u/",
			server_port(test->server), i);
		test->extenders[i] = (struct bt_extender_config){.url_prefix = bt_str(test->url[i]),
			.filter_verb = bt_str("filter"),
			.weight = 1,
			.http_timeout_ns = 20 * SECOND,
			.node_cache_capable = true};
	}
	char api[64];

	snprintf(api, sizeof(api), "http://127.0.0.1:%u", server_port(test->server));
	test->api =
		bt_client_config_create_for(&(struct bt_client_config_target){.url = bt_str(api)}, &error);
	assert_non_null(test->api);
	bt_config_init_default(&test->t.config, NULL);
	test->t.config.extenders = test->extenders;
	test->t.config.extender_n = n;
	answer(test, (struct route){.path = POD_PATH, .body = API_POD("p", "u1")});
	return test;
}

static void start_nodes(struct extender_test *test, uint32_t node_n)
{
	struct bt_buf error = {.len = 0};
	char name[16];

	test->frontend = bt_extenders_create(&test->t.config, test->api, &error);
	assert_non_null(test->frontend);
	const struct bt_engine_options options = {
		.no_backoff = true, .extending = bt_extenders_hooks(test->frontend)};

	start(&test->t, &options);
	for (uint32_t i = 1; i <= node_n; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		add_node(&test->t, name, "2");
	}
}

static void end_test(struct extender_test *test)
{
	end(&test->t);
	bt_extenders_destroy(test->frontend);
	bt_client_config_destroy(test->api);
	server_stop(test->server);
	if (test->tls) {
		server_stop(test->tls);
	}
	for (uint32_t i = 0; i < test->received_n; i++) {
		free(test->received[i].body);
	}
	bt_lock_fini(&test->lock);
	pthread_barrier_destroy(&test->meeting);
	free(test);
}

static uint32_t new_pod(struct extender_test *test)
{
	return add_pod(&test->t, "name: p, uid: u1", CPU("1"), "");
}

static const char *node_of(struct extender_test *test, const struct bt_decision *decision)
{
	const struct bt_cache *cache = bt_engine_cache(test->t.engine);

	return decision->outcome == BT_PLACED ? bt_intern_str(cache->dictionary->intern,
							cache->view.snapshot->nodes[decision->node_ix].name)
							.ptr
					      : "none";
}

/* The pod's node, or its error. */
static const char *outcome(struct extender_test *test)
{
	uint32_t pod = new_pod(test);
	struct bt_decision decision = decide(&test->t, pod);

	return decision.outcome == BT_PLACED ? node_of(test, &decision) : message(&test->t, pod);
}

/* ---- requests ---- */

static void an_extender_with_nodes_of_its_own_gets_names(void **state)
{
	struct extender_test *test = configure(state, 1);

	answer(test, (struct route){.path = "/x0/filter", .body = "{\"NodeNames\":[\"n2\"]}"});
	start_nodes(test, 2);
	assert_string_equal(outcome(test), "n2");
	assert_string_equal(request_body(test, "/x0/filter", 0),
		"{\"Pod\":" SENT_POD("p", "u1") ",\"Nodes\":null,\"NodeNames\":[\"n1\",\"n2\"]}");
	end_test(test);
}

static void another_gets_whole_nodes(void **state)
{
	struct extender_test *test = configure(state, 1);

	test->extenders[0].node_cache_capable = false;
	answer(test, (struct route){.path = "/api/v1/nodes/n1", .body = API_NODE("n1")});
	answer(test, (struct route){.path = "/api/v1/nodes/n2", .body = API_NODE("n2")});
	answer(test, (struct route){.path = "/x0/filter",
			     .body = "{\"Nodes\":{\"items\":[" API_NODE("n1") "]},\"NodeNames\":null}"});
	start_nodes(test, 2);
	assert_string_equal(outcome(test), "n1");
	assert_string_equal(request_body(test, "/x0/filter", 0),
		"{\"Pod\":" SENT_POD("p", "u1") ",\"Nodes\":{\"metadata\":{},\"items\":[" API_NODE(
			"n1") "," API_NODE("n2") "]},\"NodeNames\":null}");
	end_test(test);
}

static void show(struct extender_test *test, enum bt_watch_event_kind what, const char *yaml)
{
	struct bt_watch_listener listener = bt_extenders_listener(test->frontend);

	listener.event(listener.context, what, fixture_read(test->t.f, yaml));
}

#define NODE_1 "{apiVersion: v1, kind: Node, metadata: {name: n1}}"
#define POD_P  "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u1}}"

/* Runs another cycle of the pod; nothing is bound. */
static void ask_again(struct extender_test *test, uint32_t pod)
{
	bt_engine_explain(test->t.engine, pod, &test->t.explanation);
}

static void objects_are_fetched_once_until_the_watch_shows_others(void **state)
{
	struct extender_test *test = configure(state, 1);

	test->extenders[0].node_cache_capable = false;
	answer(test, (struct route){.path = "/api/v1/nodes/n1", .body = API_NODE("n1")});
	answer(test, (struct route){.path = "/api/v1/nodes/n2", .body = API_NODE("n2")});
	answer(test, (struct route){.path = "/x0/filter", .body = "{}"});
	start_nodes(test, 2);
	uint32_t pod = new_pod(test);

	ask_again(test, pod);
	ask_again(test, pod);
	assert_null(request_body(test, POD_PATH, 1));
	assert_null(request_body(test, "/api/v1/nodes/n1", 1));
	show(test, BT_WATCH_EVENT_APPLY, NODE_1);
	show(test, BT_WATCH_EVENT_APPLY, POD_P);
	ask_again(test, pod);
	assert_non_null(request_body(test, POD_PATH, 1));
	assert_non_null(request_body(test, "/api/v1/nodes/n1", 1));
	assert_null(request_body(test, "/api/v1/nodes/n2", 1));
	/* After a deletion the cached object is dropped, and fetched again when needed. */
	show(test, BT_WATCH_EVENT_DELETE, NODE_1);
	ask_again(test, pod);
	assert_non_null(request_body(test, "/api/v1/nodes/n1", 2));
	end_test(test);
}

static void many_nodes_are_delivered_as_a_list(void **state)
{
	struct extender_test *test = configure(state, 1);
	struct bt_buf page = {.len = 0}, rest = {.len = 0};

	test->extenders[0].node_cache_capable = false;
	bt_buf_text(&page, "{\"kind\":\"NodeList\",\"metadata\":{\"continue\":\"a/b\"},\"items\":[");
	bt_buf_text(&rest, "{\"items\":[");
	for (int i = 1; i <= 300; i++) {
		bt_buf_printf(i <= 200 ? &page : &rest, "%s{\"metadata\":{\"name\":\"n%d\"}}",
			i == 1 || i == 201 ? "" : ",", i);
	}
	bt_buf_text(&page, "]}");
	bt_buf_text(&rest, ",{\"metadata\":{\"name\":\"stranger\"}}],\"metadata\":{}}");
	answer(test, (struct route){.path = "/api/v1/nodes?limit=500", .body = page.ptr});
	answer(test, (struct route){.path = "/api/v1/nodes?limit=500&continue=a%2Fb", .body = rest.ptr});
	answer(test, (struct route){.path = "/x0/filter",
			     .body = "{\"Nodes\":{\"items\":[{\"metadata\":{\"name\":\"n250\"}}]}}"});
	start_nodes(test, 300);
	assert_string_equal(outcome(test), "n250");
	assert_non_null(strstr(request_body(test, "/x0/filter", 0),
		"{\"metadata\":{\"name\":\"n200\"}},{\"metadata\":{\"name\":\"n201\"}}"));
	assert_null(strstr(request_body(test, "/x0/filter", 0), "stranger"));
	end_test(test);
	bt_buf_fini(&page);
	bt_buf_fini(&rest);
}

static void a_pod_that_another_has_replaced_is_not_sent(void **state)
{
	struct extender_test *test = configure(state, 1);

	answer(test, (struct route){.path = POD_PATH, .body = API_POD("p", "another")});
	start_nodes(test, 1);
	assert_string_equal(outcome(test), "another pod is called default/p by now");
	assert_null(request_body(test, "/x0/filter", 0));
	end_test(test);
}

static void objects_that_the_api_server_does_not_show_fail_the_cycle(void **state)
{
	struct extender_test *test = configure(state, 1);

	answer(test, (struct route){.path = POD_PATH, .status = 403, .body = "{}"});
	start_nodes(test, 1);
	assert_string_equal(outcome(test),
		"the API server does not show " POD_PATH " to be sent to the extender: it answers 403");
	end_test(test);
}

/* ---- responses ---- */

static void letters_of_names_may_be_small_or_capital(void **state)
{
	struct extender_test *test = configure(state, 1);

	answer(test, (struct route){.path = "/x0/filter",
			     .body = "{\"nodenames\":[],\"failednodes\":{\"n1\":\"not today\"},"
				     "\"failedAndUnresolvableNodes\":{\"n2\":\"too old\"},\"error\":\"\"}"});
	start_nodes(test, 2);
	assert_string_equal(outcome(test),
		"0/2 nodes are available: 1 not today, 1 too old. preemption: "
		"0/2 nodes "
		"are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful "
		"for "
		"scheduling.");
	end_test(test);
}

static void nodes_count_where_no_names_are_given(void **state)
{
	struct extender_test *test = configure(state, 1);

	answer(test, (struct route){.path = "/x0/filter",
			     .body = "{\"Nodes\":{\"items\":[{\"metadata\":{\"name\":\"n2\"}}]}}"});
	start_nodes(test, 2);
	assert_string_equal(outcome(test), "n2");
	end_test(test);
}

static void an_error_of_the_extender_is_the_cycles(void **state)
{
	struct extender_test *test = configure(state, 1);

	answer(test, (struct route){.path = "/x0/filter",
			     .body = "{\"NodeNames\":[\"n1\"],\"Error\":\"out of \\\"luck\\\"\"}"});
	start_nodes(test, 1);
	assert_string_equal(outcome(test), "out of \"luck\"");
	end_test(test);
}

/* Go's error text, with the port in it. */
static void fails_with(void **state, struct route route, const char *format)
{
	struct extender_test *test = configure(state, 1);
	char want[256];

	route.path = "/x0/filter";
	answer(test, route);
	start_nodes(test, 1);
	snprintf(want, sizeof(want), format, server_port(test->server));
	assert_string_equal(outcome(test), want);
	end_test(test);
}

static void invalid_answers_have_the_messages_of_go(void **state)
{
	fails_with(state, (struct route){.status = 500, .body = "{}"},
		"failed filter with extender at URL http://127.0.0.1:%u/x0/filter, code 500");
	fails_with(state, (struct route){.closes = true}, "Post \"http://127.0.0.1:%u/x0/filter\": EOF");
	fails_with(state, (struct route){.cuts = true}, "unexpected EOF");
	fails_with(state, (struct route){.body = ""}, "EOF");
	fails_with(state, (struct route){.body = "{\"NodeNames\":[\"n1\""}, "unexpected EOF");
	fails_with(state, (struct route){.body = "<html>"},
		"invalid character '<' looking for beginning of value");
}

static void an_unreachable_server_has_the_message_of_go(void **state)
{
	struct extender_test *test = configure(state, 1);
	struct server *gone = server_start(NULL, serve, test);
	char url[64], want[256];

	snprintf(url, sizeof(url), "http://127.0.0.1:%u", server_port(gone));
	snprintf(want, sizeof(want), "Post \"%s/filter\": dial tcp 127.0.0.1:%u: connect: connection refused",
		url, server_port(gone));
	server_stop(gone);
	test->extenders[0].url_prefix = bt_str(url);
	start_nodes(test, 1);
	assert_string_equal(outcome(test), want);
	end_test(test);
}

static void an_extender_has_its_time_limit(void **state)
{
	struct extender_test *test = configure(state, 1);
	char want[256];

	test->extenders[0].http_timeout_ns = SECOND / 50;
	answer(test, (struct route){.path = "/x0/filter", .hangs = true});
	start_nodes(test, 1);
	snprintf(want, sizeof(want),
		"Post \"http://127.0.0.1:%u/x0/filter\": context deadline exceeded (Client.Timeout exceeded "
		"while awaiting headers)",
		server_port(test->server));
	assert_string_equal(outcome(test), want);
	end_test(test);
}

static void ignorable_failures_are_ignored(void **state)
{
	struct extender_test *test = configure(state, 2);

	test->extenders[0].ignorable = true;
	answer(test, (struct route){.path = "/x0/filter", .status = 500, .body = "{}"});
	answer(test, (struct route){.path = "/x1/filter", .body = "{\"NodeNames\":[\"n1\"]}"});
	start_nodes(test, 2);
	assert_string_equal(outcome(test), "n1");
	struct bt_extender_counts counts[2];

	assert_int_equal(bt_extenders_counts(test->frontend, counts, 2), 2);
	assert_int_equal(counts[0].call_n, 1);
	assert_int_equal(counts[0].error_n, 1);
	assert_int_equal(counts[1].error_n, 0);
	end_test(test);
}

/* ---- scores ---- */

static void points_decide_among_nodes_that_fit(void **state)
{
	struct extender_test *test = configure(state, 2);

	test->extenders[0].filter_verb = test->extenders[1].filter_verb = bt_str("");
	test->extenders[0].prioritize_verb = test->extenders[1].prioritize_verb = bt_str("p");
	test->extenders[1].weight = 3;
	answer(test, (struct route){.path = "/x0/p", .body = "[{\"Host\":\"n1\",\"Score\":10}]"});
	answer(test, (struct route){.path = "/x1/p",
			     .body = "[{\"Host\":\"n1\",\"Score\":0},{\"host\":\"n2\",\"score\":4}]"});
	start_nodes(test, 3);
	/* 10 points by 1 are fewer than 4 by 3. */
	assert_string_equal(outcome(test), "n2");
	assert_non_null(request_body(test, "/x1/p", 0));
	end_test(test);
}

static void extenders_that_score_are_called_at_the_same_time(void **state)
{
	struct extender_test *test = configure(state, 2);

	test->extenders[0].filter_verb = test->extenders[1].filter_verb = bt_str("");
	test->extenders[0].prioritize_verb = test->extenders[1].prioritize_verb = bt_str("p");
	answer(test,
		(struct route){.path = "/x0/p", .body = "[{\"Host\":\"n1\",\"Score\":3}]", .meets = true});
	answer(test,
		(struct route){.path = "/x1/p", .body = "[{\"Host\":\"n2\",\"Score\":4}]", .meets = true});
	start_nodes(test, 3);
	assert_string_equal(outcome(test), "n2");
	end_test(test);
}

static void an_extender_that_cannot_score_adds_no_score(void **state)
{
	static const char *const answers[] = {"null", "[{\"Host\":\"n2\",\"Score\":\"high\"}]", "{}",
		"[{\"Host\":\"n2\",\"Score\":10}", "[]"};

	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		struct extender_test *test = configure(state, 2);

		test->extenders[0].filter_verb = test->extenders[1].filter_verb = bt_str("");
		test->extenders[0].prioritize_verb = test->extenders[1].prioritize_verb = bt_str("p");
		answer(test, (struct route){.path = "/x0/p", .body = answers[i]});
		answer(test, (struct route){.path = "/x1/p", .body = "[{\"Host\":\"n3\",\"Score\":1}]"});
		start_nodes(test, 3);
		assert_string_equal(outcome(test), "n3");
		end_test(test);
	}
}

/* ---- preemption ---- */

/* Two full nodes, and a pod of higher priority. */
static struct bt_decision decide_by_preemption(struct extender_test *test)
{
	answer(test,
		(struct route){.path = "/api/v1/namespaces/default/pods/v1", .body = API_POD("v1", "w1")});
	answer(test,
		(struct route){.path = "/api/v1/namespaces/default/pods/v2", .body = API_POD("v2", "w2")});
	test->extenders[0].filter_verb = bt_str("");
	test->extenders[0].preempt_verb = bt_str("preempt");
	start_nodes(test, 2);
	add_pod(&test->t, "name: v1, uid: w1", "nodeName: n1, " CPU("2"), "");
	add_pod(&test->t, "name: v2, uid: w2", "nodeName: n2, " CPU("2"), "");
	return decide(&test->t, add_pod(&test->t, "name: p, uid: u1", "priority: 5, " CPU("1"), ""));
}

static const char *nominated(struct extender_test *test, const struct bt_decision *decision)
{
	const struct bt_cache *cache = bt_engine_cache(test->t.engine);

	return decision->nominated_ix == BT_NO_NODE
		       ? "none"
		       : bt_intern_str(cache->dictionary->intern,
				 cache->view.snapshot->nodes[decision->nominated_ix].name)
				 .ptr;
}

static void victims_are_sent_by_uid_and_chosen_by_the_extender(void **state)
{
	struct extender_test *test = configure(state, 1);

	answer(test, (struct route){.path = "/x0/preempt",
			     .body = "{\"NodeNameToMetaVictims\":{\"n2\":{\"Pods\":[{\"UID\":\"w2\"}],"
				     "\"NumPDBViolations\":0}}}"});
	struct bt_decision decision = decide_by_preemption(test);

	assert_string_equal(nominated(test, &decision), "n2");
	assert_string_equal(request_body(test, "/x0/preempt", 0),
		"{\"Pod\":" SENT_POD("p",
			"u1") ",\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":[{"
			      "\"UID\":\"w1\"}],\"NumPDBViolations\":0},\"n2\":{\"Pods\":[{\"UID\":\"w2\"}],"
			      "\"NumPDBViolations\":0}}}");
	assert_null(request_body(test, "/api/v1/namespaces/default/pods/v1", 0));
	end_test(test);
}

static void victims_are_sent_as_pods_to_other_extenders(void **state)
{
	struct extender_test *test = configure(state, 1);

	test->extenders[0].node_cache_capable = false;
	answer(test, (struct route){.path = "/x0/preempt",
			     .body = "{\"nodeNameToMetaVictims\":{\"n1\":{\"pods\":[{\"uid\":\"w1\"}]}}}"});
	struct bt_decision decision = decide_by_preemption(test);

	assert_string_equal(nominated(test, &decision), "n1");
	assert_string_equal(request_body(test, "/x0/preempt", 0),
		"{\"Pod\":" SENT_POD("p", "u1") ",\"NodeNameToVictims\":{\"n1\":{\"Pods\":[" SENT_POD(
			"v1", "w1") "],\"NumPDBViolations\":0},\"n2\":{\"Pods\":[" SENT_POD("v2",
			"w2") "],\"NumPDBViolations\":0}},\"NodeNameToMetaVictims\":null}");
	end_test(test);
}

/* ---- bindings ---- */

struct bound {
	struct bt_latch over;
	enum bt_extender_end end;
	char error[256];
};

static void note_bound(void *context, enum bt_extender_end how, struct bt_str error)
{
	struct bound *bound = context;

	bound->end = how;
	snprintf(bound->error, sizeof(bound->error), "%.*s", BT_STR_ARG(error));
	bt_latch_open(&bound->over);
}

static void bind(struct extender_test *test, struct bound *bound)
{
	const struct bt_pod_ref pod = {bt_str("default"), bt_str("p"), bt_str("u1")};

	bt_latch_init(&bound->over);
	bt_extenders_bind(test->frontend, &test->extenders[0], &pod, bt_str("n1"), note_bound, bound);
	assert_true(bt_latch_wait(&bound->over, BT_EVENTCOUNT_FOREVER));
	bt_latch_fini(&bound->over);
}

static void an_extender_binds(void **state)
{
	struct extender_test *test = configure(state, 1);
	struct bound bound;

	test->extenders[0].bind_verb = bt_str("bind");
	answer(test, (struct route){.path = "/x0/bind", .body = "{\"Error\":\"\"}"});
	start_nodes(test, 1);
	bind(test, &bound);
	assert_int_equal(bound.end, BT_EXTENDER_BOUND);
	assert_string_equal(bound.error, "");
	assert_string_equal(request_body(test, "/x0/bind", 0),
		"{\"PodName\":\"p\",\"PodNamespace\":\"default\",\"PodUID\":\"u1\",\"Node\":\"n1\"}");
	answer(test, (struct route){.path = "/x0/bind", .body = "{\"Error\":\"no\"}"});
	bind(test, &bound);
	assert_int_equal(bound.end, BT_EXTENDER_FAILED);
	assert_string_equal(bound.error, "no");
	answer(test, (struct route){.path = "/x0/bind", .closes = true});
	bind(test, &bound);
	assert_int_equal(bound.end, BT_EXTENDER_LOST);
	end_test(test);
}

static void pods_that_want_its_resources_are_bound_by_an_extender(void **state)
{
	struct extender_test *test = configure(state, 1);
	struct bt_extender_resource mine = {.name = bt_str("example.com/gpu")};

	test->extenders[0].filter_verb = bt_str("");
	test->extenders[0].resources = &mine;
	test->extenders[0].resource_n = 1;
	start_nodes(test, 1);
	uint32_t plain = new_pod(test);
	uint32_t other = add_pod(&test->t, "name: q",
		"containers: [{name: a, resources: {limits: {example.com/gpu: 1}, requests: "
		"{example.com/gpu: "
		"1}}}]",
		"");

	assert_null(bt_engine_extender_to_bind(test->t.engine, other));
	test->extenders[0].bind_verb = bt_str("bind");
	assert_null(bt_engine_extender_to_bind(test->t.engine, plain));
	assert_ptr_equal(bt_engine_extender_to_bind(test->t.engine, other), &test->extenders[0]);
	end_test(test);
}

/* ---- connections ---- */

static void https_without_an_authority_trusts_anybody(void **state)
{
	for (int trusts = 0; trusts < 2; trusts++) {
		struct extender_test *test = configure(state, 1);
		struct pki_pair pair;
		char url[64];

		pki_make(&pair, NULL, "somebody", "DNS:elsewhere");
		SSL_CTX *tls = pki_server(&pair, NULL);
		test->tls = server_start(tls, serve, test);
		snprintf(url, sizeof(url), "https://127.0.0.1:%u/x0", server_port(test->tls));
		test->extenders[0].url_prefix = bt_str(url);
		test->extenders[0].enable_https = trusts;
		answer(test, (struct route){.path = "/x0/filter", .body = "{\"NodeNames\":[\"n1\"]}"});
		start_nodes(test, 1);
		const char *what = outcome(test);

		if (trusts) {
			assert_string_equal(what, "n1");
		} else {
			char want[128];

			snprintf(want, sizeof(want), "Post \"%s/filter\": SSL certificate problem", url);
			assert_int_equal(strncmp(what, want, strlen(want)), 0);
		}
		assert_int_equal(request_body(test, "/x0/filter", 0) != NULL, trusts);
		end_test(test);
		SSL_CTX_free(tls);
		pki_fini(&pair);
	}
}

static void a_certificate_authority_and_a_server_name_are_checked(void **state)
{
	struct extender_test *test = configure(state, 1);
	struct pki_pair authority, pair;
	char url[64];

	pki_make(&authority, NULL, "authority", NULL);
	pki_make(&pair, &authority, "somebody", "DNS:elsewhere");
	SSL_CTX *tls = pki_server(&pair, &authority);
	test->tls = server_start(tls, serve, test);
	snprintf(url, sizeof(url), "https://127.0.0.1:%u/x0", server_port(test->tls));
	test->extenders[0].url_prefix = bt_str(url);
	test->extenders[0].enable_https = true;
	test->extenders[0].tls = (struct bt_extender_tls){.set = true,
		.server_name = bt_str("elsewhere"),
		.ca_data = bt_buf_view(&authority.certificate_pem),
		.cert_data = bt_buf_view(&pair.certificate_pem),
		.key_data = bt_buf_view(&pair.key_pem)};
	answer(test, (struct route){.path = "/x0/filter", .body = "{\"NodeNames\":[\"n1\"]}"});
	start_nodes(test, 1);
	assert_string_equal(outcome(test), "n1");
	end_test(test);
	SSL_CTX_free(tls);
	pki_fini(&pair);
	pki_fini(&authority);
}

static void an_address_that_is_none_is_refused(void **state)
{
	struct extender_test *test = configure(state, 1);
	struct bt_buf error = {.len = 0};

	test->extenders[0].url_prefix = bt_str("ftp://somewhere");
	assert_null(bt_extenders_create(&test->t.config, test->api, &error));
	assert_string_equal(
		error.ptr, "extender ftp://somewhere: urlPrefix must begin with http:// or https://");
	bt_buf_fini(&error);
	test->extenders[0].url_prefix = bt_str(test->url[0]);
	start_nodes(test, 0);
	end_test(test);
}

static void close_soon(void *context)
{
	struct extender_test *test = context;

	while (!request_body(test, "/x0/filter", 0)) {
		bt_thread_yield();
	}
	bt_extenders_close(test->frontend);
}

static void closing_ends_the_wait(void **state)
{
	struct extender_test *test = configure(state, 1);
	struct bt_thread *closer;
	struct bt_buf error = {.len = 0};

	answer(test, (struct route){.path = "/x0/filter", .hangs = true});
	start_nodes(test, 1);
	assert_int_equal(bt_thread_start(&(struct bt_thread_options){.name = "closer"}, close_soon, test,
				 &closer, &error),
		BT_OK);
	uint32_t pod = new_pod(test);

	assert_int_equal(decide(&test->t, pod).outcome, BT_FAILED);
	bt_thread_join(&closer);
	assert_string_equal(message(&test->t, pod), "the scheduler ends");
	end_test(test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(an_extender_with_nodes_of_its_own_gets_names),
		FIXTURE_TEST(another_gets_whole_nodes),
		FIXTURE_TEST(objects_are_fetched_once_until_the_watch_shows_others),
		FIXTURE_TEST(many_nodes_are_delivered_as_a_list),
		FIXTURE_TEST(a_pod_that_another_has_replaced_is_not_sent),
		FIXTURE_TEST(objects_that_the_api_server_does_not_show_fail_the_cycle),
		FIXTURE_TEST(letters_of_names_may_be_small_or_capital),
		FIXTURE_TEST(nodes_count_where_no_names_are_given),
		FIXTURE_TEST(an_error_of_the_extender_is_the_cycles),
		FIXTURE_TEST(invalid_answers_have_the_messages_of_go),
		FIXTURE_TEST(an_unreachable_server_has_the_message_of_go),
		FIXTURE_TEST(an_extender_has_its_time_limit),
		FIXTURE_TEST(ignorable_failures_are_ignored),
		FIXTURE_TEST(points_decide_among_nodes_that_fit),
		FIXTURE_TEST(extenders_that_score_are_called_at_the_same_time),
		FIXTURE_TEST(an_extender_that_cannot_score_adds_no_score),
		FIXTURE_TEST(victims_are_sent_by_uid_and_chosen_by_the_extender),
		FIXTURE_TEST(victims_are_sent_as_pods_to_other_extenders),
		FIXTURE_TEST(an_extender_binds),
		FIXTURE_TEST(pods_that_want_its_resources_are_bound_by_an_extender),
		FIXTURE_TEST(https_without_an_authority_trusts_anybody),
		FIXTURE_TEST(a_certificate_authority_and_a_server_name_are_checked),
		FIXTURE_TEST(an_address_that_is_none_is_refused),
		FIXTURE_TEST(closing_ends_the_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
