/* SPDX-License-Identifier: Apache-2.0
 * Extenders over HTTP: a server of the test's own is the extender and the API server, an engine asks. What is
 * expected was derived by hand from upstream's extender.go, schedule_one.go and extender/v1, v1.36.3.
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

/* What the server answers to a path. */
struct route {
	const char *path;
	int status;
	const char *body;
	bool hangs, closes, cuts; /* instead: no answer, the end of the connection, half of an answer */
	bool meets;		  /* answers when two that meet have been asked */
};

struct asked {
	char path[128];
	char *body;
};

struct stage {
	struct trial t;
	struct bt_extender_config extenders[2];
	struct server *server, *tls;
	struct bt_client_config *api;
	struct bt_extenders *frontend;
	struct bt_lock lock;
	struct route routes[ROUTES]; /* lock(lock): the last one for a path counts */
	uint32_t route_n;
	struct asked asked[REQUESTS]; /* lock(lock): */
	uint32_t asked_n;
	pthread_barrier_t meeting; /* of two */
	char url[2][64];
};

static void note(struct stage *stage, const struct request *request)
{
	struct asked *asked = &stage->asked[stage->asked_n];

	assert_true(stage->asked_n < REQUESTS);
	snprintf(asked->path, sizeof(asked->path), "%.*s", BT_STR_ARG(request->path));
	asked->body = strndup(request->body.len ? request->body.ptr : "", request->body.len);
	stage->asked_n++;
}

static bool serve(void *context, struct peer *peer, const struct request *request)
{
	struct stage *stage = context;
	struct route found = {.status = 404, .body = "{}"};

	bt_lock_acquire(&stage->lock);
	note(stage, request);
	for (uint32_t i = 0; i < stage->route_n; i++) {
		if (bt_str_is(request->path, stage->routes[i].path)) {
			found = stage->routes[i];
		}
	}
	bt_lock_release(&stage->lock);
	if (found.meets) {
		pthread_barrier_wait(&stage->meeting);
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

static void answer(struct stage *stage, struct route route)
{
	assert_true(stage->route_n < ROUTES);
	route.status = route.status ? route.status : 200;
	bt_lock_acquire(&stage->lock);
	stage->routes[stage->route_n++] = route;
	bt_lock_release(&stage->lock);
}

/* What the nth request on a path, from 0, had as its body; NULL: there was none. */
static const char *asked(struct stage *stage, const char *path, uint32_t nth)
{
	const char *body = NULL;

	bt_lock_acquire(&stage->lock);
	for (uint32_t i = 0; i < stage->asked_n && !body; i++) {
		if (strcmp(stage->asked[i].path, path) == 0 && nth-- == 0) {
			body = stage->asked[i].body;
		}
	}
	bt_lock_release(&stage->lock);
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

/* The first n extenders, at one server, with paths of their own. */
static struct stage *set(void **state, uint32_t n)
{
	struct stage *stage = calloc(1, sizeof(*stage));
	struct bt_buf error = {.len = 0};

	stage->t.f = *state;
	bt_lock_init(&stage->lock);
	pthread_barrier_init(&stage->meeting, NULL, 2);
	stage->server = server_start(NULL, serve, stage);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(stage->url[i], sizeof(stage->url[i]), "http://127.0.0.1:%u/x%u/",
			server_port(stage->server), i);
		stage->extenders[i] = (struct bt_extender_config){.url_prefix = bt_str(stage->url[i]),
			.filter_verb = bt_str("filter"),
			.weight = 1,
			.http_timeout_ns = 20 * SECOND,
			.node_cache_capable = true};
	}
	char api[64];

	snprintf(api, sizeof(api), "http://127.0.0.1:%u", server_port(stage->server));
	stage->api =
		bt_client_config_create_for(&(struct bt_client_config_target){.url = bt_str(api)}, &error);
	assert_non_null(stage->api);
	bt_config_init_default(&stage->t.config, NULL);
	stage->t.config.extenders = stage->extenders;
	stage->t.config.extender_n = n;
	answer(stage, (struct route){.path = POD_PATH, .body = API_POD("p", "u1")});
	return stage;
}

static void raise_curtain(struct stage *stage, uint32_t node_n)
{
	struct bt_buf error = {.len = 0};
	char name[16];

	stage->frontend = bt_extenders_create(&stage->t.config, stage->api, &error);
	assert_non_null(stage->frontend);
	const struct bt_engine_options options = {
		.no_backoff = true, .extending = bt_extenders_hooks(stage->frontend)};

	start(&stage->t, &options);
	for (uint32_t i = 1; i <= node_n; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		add_node(&stage->t, name, "2");
	}
}

static void drop_curtain(struct stage *stage)
{
	end(&stage->t);
	bt_extenders_destroy(stage->frontend);
	bt_client_config_destroy(stage->api);
	server_stop(stage->server);
	if (stage->tls) {
		server_stop(stage->tls);
	}
	for (uint32_t i = 0; i < stage->asked_n; i++) {
		free(stage->asked[i].body);
	}
	bt_lock_fini(&stage->lock);
	pthread_barrier_destroy(&stage->meeting);
	free(stage);
}

static uint32_t new_pod(struct stage *stage)
{
	return add_pod(&stage->t, "name: p, uid: u1", CPU("1"), "");
}

static const char *node_of(struct stage *stage, const struct bt_decision *decision)
{
	const struct bt_cache *cache = bt_engine_cache(stage->t.engine);

	return decision->outcome == BT_PLACED ? bt_intern_str(cache->dictionary->intern,
							cache->view.snapshot->nodes[decision->node_ix].name)
							.ptr
					      : "none";
}

/* The pod's node, or why it failed. */
static const char *outcome(struct stage *stage)
{
	uint32_t pod = new_pod(stage);
	struct bt_decision decision = decide(&stage->t, pod);

	return decision.outcome == BT_PLACED ? node_of(stage, &decision) : message(&stage->t, pod);
}

/* ---- what is said ---- */

static void an_extender_with_nodes_of_its_own_gets_names(void **state)
{
	struct stage *stage = set(state, 1);

	answer(stage, (struct route){.path = "/x0/filter", .body = "{\"NodeNames\":[\"n2\"]}"});
	raise_curtain(stage, 2);
	assert_string_equal(outcome(stage), "n2");
	assert_string_equal(asked(stage, "/x0/filter", 0),
		"{\"Pod\":" SENT_POD("p", "u1") ",\"Nodes\":null,\"NodeNames\":[\"n1\",\"n2\"]}");
	drop_curtain(stage);
}

static void another_gets_whole_nodes(void **state)
{
	struct stage *stage = set(state, 1);

	stage->extenders[0].node_cache_capable = false;
	answer(stage, (struct route){.path = "/api/v1/nodes/n1", .body = API_NODE("n1")});
	answer(stage, (struct route){.path = "/api/v1/nodes/n2", .body = API_NODE("n2")});
	answer(stage, (struct route){.path = "/x0/filter",
			      .body = "{\"Nodes\":{\"items\":[" API_NODE("n1") "]},\"NodeNames\":null}"});
	raise_curtain(stage, 2);
	assert_string_equal(outcome(stage), "n1");
	assert_string_equal(asked(stage, "/x0/filter", 0),
		"{\"Pod\":" SENT_POD("p", "u1") ",\"Nodes\":{\"metadata\":{},\"items\":[" API_NODE(
			"n1") "," API_NODE("n2") "]},\"NodeNames\":null}");
	drop_curtain(stage);
}

static void show(struct stage *stage, enum bt_watch_event_kind what, const char *yaml)
{
	struct bt_watch_listener listener = bt_extenders_listener(stage->frontend);

	listener.event(listener.context, what, fixture_read(stage->t.f, yaml));
}

#define NODE_1 "{apiVersion: v1, kind: Node, metadata: {name: n1}}"
#define POD_P  "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u1}}"

/* Asks once more about the pod; nothing is bound. */
static void ask_again(struct stage *stage, uint32_t pod)
{
	bt_engine_explain(stage->t.engine, pod, &stage->t.explanation);
}

static void objects_are_fetched_once_until_the_watch_shows_others(void **state)
{
	struct stage *stage = set(state, 1);

	stage->extenders[0].node_cache_capable = false;
	answer(stage, (struct route){.path = "/api/v1/nodes/n1", .body = API_NODE("n1")});
	answer(stage, (struct route){.path = "/api/v1/nodes/n2", .body = API_NODE("n2")});
	answer(stage, (struct route){.path = "/x0/filter", .body = "{}"});
	raise_curtain(stage, 2);
	uint32_t pod = new_pod(stage);

	ask_again(stage, pod);
	ask_again(stage, pod);
	assert_null(asked(stage, POD_PATH, 1));
	assert_null(asked(stage, "/api/v1/nodes/n1", 1));
	show(stage, BT_WATCH_EVENT_APPLY, NODE_1);
	show(stage, BT_WATCH_EVENT_APPLY, POD_P);
	ask_again(stage, pod);
	assert_non_null(asked(stage, POD_PATH, 1));
	assert_non_null(asked(stage, "/api/v1/nodes/n1", 1));
	assert_null(asked(stage, "/api/v1/nodes/n2", 1));
	/* What has gone is forgotten: it is fetched when it is asked for again. */
	show(stage, BT_WATCH_EVENT_DELETE, NODE_1);
	ask_again(stage, pod);
	assert_non_null(asked(stage, "/api/v1/nodes/n1", 2));
	drop_curtain(stage);
}

static void many_nodes_come_as_a_list(void **state)
{
	struct stage *stage = set(state, 1);
	struct bt_buf page = {.len = 0}, rest = {.len = 0};

	stage->extenders[0].node_cache_capable = false;
	bt_buf_text(&page, "{\"kind\":\"NodeList\",\"metadata\":{\"continue\":\"a/b\"},\"items\":[");
	bt_buf_text(&rest, "{\"items\":[");
	for (int i = 1; i <= 300; i++) {
		bt_buf_printf(i <= 200 ? &page : &rest, "%s{\"metadata\":{\"name\":\"n%d\"}}",
			i == 1 || i == 201 ? "" : ",", i);
	}
	bt_buf_text(&page, "]}");
	bt_buf_text(&rest, ",{\"metadata\":{\"name\":\"stranger\"}}],\"metadata\":{}}");
	answer(stage, (struct route){.path = "/api/v1/nodes?limit=500", .body = page.ptr});
	answer(stage, (struct route){.path = "/api/v1/nodes?limit=500&continue=a%2Fb", .body = rest.ptr});
	answer(stage, (struct route){.path = "/x0/filter",
			      .body = "{\"Nodes\":{\"items\":[{\"metadata\":{\"name\":\"n250\"}}]}}"});
	raise_curtain(stage, 300);
	assert_string_equal(outcome(stage), "n250");
	assert_non_null(strstr(asked(stage, "/x0/filter", 0),
		"{\"metadata\":{\"name\":\"n200\"}},{\"metadata\":{\"name\":\"n201\"}}"));
	assert_null(strstr(asked(stage, "/x0/filter", 0), "stranger"));
	drop_curtain(stage);
	bt_buf_fini(&page);
	bt_buf_fini(&rest);
}

static void a_pod_that_another_has_replaced_is_not_sent(void **state)
{
	struct stage *stage = set(state, 1);

	answer(stage, (struct route){.path = POD_PATH, .body = API_POD("p", "another")});
	raise_curtain(stage, 1);
	assert_string_equal(outcome(stage), "another pod is called default/p by now");
	assert_null(asked(stage, "/x0/filter", 0));
	drop_curtain(stage);
}

static void what_the_api_server_does_not_show_fails_the_cycle(void **state)
{
	struct stage *stage = set(state, 1);

	answer(stage, (struct route){.path = POD_PATH, .status = 403, .body = "{}"});
	raise_curtain(stage, 1);
	assert_string_equal(outcome(stage),
		"the API server does not show " POD_PATH " to be sent to the extender: it answers 403");
	drop_curtain(stage);
}

/* ---- what is answered ---- */

static void letters_of_names_may_be_small_or_capital(void **state)
{
	struct stage *stage = set(state, 1);

	answer(stage, (struct route){.path = "/x0/filter",
			      .body = "{\"nodenames\":[],\"failednodes\":{\"n1\":\"not today\"},"
				      "\"failedAndUnresolvableNodes\":{\"n2\":\"too old\"},\"error\":\"\"}"});
	raise_curtain(stage, 2);
	assert_string_equal(outcome(stage),
		"0/2 nodes are available: 1 not today, 1 too old. no new claims to deallocate, preemption: "
		"0/2 nodes "
		"are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful "
		"for "
		"scheduling.");
	drop_curtain(stage);
}

static void nodes_count_where_no_names_are_given(void **state)
{
	struct stage *stage = set(state, 1);

	answer(stage, (struct route){.path = "/x0/filter",
			      .body = "{\"Nodes\":{\"items\":[{\"metadata\":{\"name\":\"n2\"}}]}}"});
	raise_curtain(stage, 2);
	assert_string_equal(outcome(stage), "n2");
	drop_curtain(stage);
}

static void an_error_of_the_extender_is_the_cycles(void **state)
{
	struct stage *stage = set(state, 1);

	answer(stage, (struct route){.path = "/x0/filter",
			      .body = "{\"NodeNames\":[\"n1\"],\"Error\":\"out of \\\"luck\\\"\"}"});
	raise_curtain(stage, 1);
	assert_string_equal(outcome(stage), "out of \"luck\"");
	drop_curtain(stage);
}

/* Go's words, with the port in them. */
static void fails_with(void **state, struct route route, const char *format)
{
	struct stage *stage = set(state, 1);
	char want[256];

	route.path = "/x0/filter";
	answer(stage, route);
	raise_curtain(stage, 1);
	snprintf(want, sizeof(want), format, server_port(stage->server));
	assert_string_equal(outcome(stage), want);
	drop_curtain(stage);
}

static void answers_that_are_none_are_told_in_gos_words(void **state)
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

static void nobody_there_is_told_in_gos_words(void **state)
{
	struct stage *stage = set(state, 1);
	struct server *gone = server_start(NULL, serve, stage);
	char url[64], want[256];

	snprintf(url, sizeof(url), "http://127.0.0.1:%u", server_port(gone));
	snprintf(want, sizeof(want), "Post \"%s/filter\": dial tcp 127.0.0.1:%u: connect: connection refused",
		url, server_port(gone));
	server_stop(gone);
	stage->extenders[0].url_prefix = bt_str(url);
	raise_curtain(stage, 1);
	assert_string_equal(outcome(stage), want);
	drop_curtain(stage);
}

static void an_extender_has_its_time_limit(void **state)
{
	struct stage *stage = set(state, 1);
	char want[256];

	stage->extenders[0].http_timeout_ns = SECOND / 50;
	answer(stage, (struct route){.path = "/x0/filter", .hangs = true});
	raise_curtain(stage, 1);
	snprintf(want, sizeof(want),
		"Post \"http://127.0.0.1:%u/x0/filter\": context deadline exceeded (Client.Timeout exceeded "
		"while awaiting headers)",
		server_port(stage->server));
	assert_string_equal(outcome(stage), want);
	drop_curtain(stage);
}

static void what_may_be_ignored_is(void **state)
{
	struct stage *stage = set(state, 2);

	stage->extenders[0].ignorable = true;
	answer(stage, (struct route){.path = "/x0/filter", .status = 500, .body = "{}"});
	answer(stage, (struct route){.path = "/x1/filter", .body = "{\"NodeNames\":[\"n1\"]}"});
	raise_curtain(stage, 2);
	assert_string_equal(outcome(stage), "n1");
	struct bt_extender_counts counts[2];

	assert_int_equal(bt_extenders_counts(stage->frontend, counts, 2), 2);
	assert_int_equal(counts[0].call_n, 1);
	assert_int_equal(counts[0].error_n, 1);
	assert_int_equal(counts[1].error_n, 0);
	drop_curtain(stage);
}

/* ---- scores ---- */

static void points_decide_among_nodes_that_fit(void **state)
{
	struct stage *stage = set(state, 2);

	stage->extenders[0].filter_verb = stage->extenders[1].filter_verb = bt_str("");
	stage->extenders[0].prioritize_verb = stage->extenders[1].prioritize_verb = bt_str("p");
	stage->extenders[1].weight = 3;
	answer(stage, (struct route){.path = "/x0/p", .body = "[{\"Host\":\"n1\",\"Score\":10}]"});
	answer(stage, (struct route){.path = "/x1/p",
			      .body = "[{\"Host\":\"n1\",\"Score\":0},{\"host\":\"n2\",\"score\":4}]"});
	raise_curtain(stage, 3);
	/* 10 points by 1 are fewer than 4 by 3. */
	assert_string_equal(outcome(stage), "n2");
	assert_non_null(asked(stage, "/x1/p", 0));
	drop_curtain(stage);
}

static void extenders_that_score_are_asked_at_the_same_time(void **state)
{
	struct stage *stage = set(state, 2);

	stage->extenders[0].filter_verb = stage->extenders[1].filter_verb = bt_str("");
	stage->extenders[0].prioritize_verb = stage->extenders[1].prioritize_verb = bt_str("p");
	answer(stage,
		(struct route){.path = "/x0/p", .body = "[{\"Host\":\"n1\",\"Score\":3}]", .meets = true});
	answer(stage,
		(struct route){.path = "/x1/p", .body = "[{\"Host\":\"n2\",\"Score\":4}]", .meets = true});
	raise_curtain(stage, 3);
	assert_string_equal(outcome(stage), "n2");
	drop_curtain(stage);
}

static void an_extender_that_cannot_score_has_no_say(void **state)
{
	static const char *const answers[] = {"null", "[{\"Host\":\"n2\",\"Score\":\"high\"}]", "{}",
		"[{\"Host\":\"n2\",\"Score\":10}", "[]"};

	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		struct stage *stage = set(state, 2);

		stage->extenders[0].filter_verb = stage->extenders[1].filter_verb = bt_str("");
		stage->extenders[0].prioritize_verb = stage->extenders[1].prioritize_verb = bt_str("p");
		answer(stage, (struct route){.path = "/x0/p", .body = answers[i]});
		answer(stage, (struct route){.path = "/x1/p", .body = "[{\"Host\":\"n3\",\"Score\":1}]"});
		raise_curtain(stage, 3);
		assert_string_equal(outcome(stage), "n3");
		drop_curtain(stage);
	}
}

/* ---- preemption ---- */

/* Two full nodes, and a pod that is more important. */
static struct bt_decision decide_by_preemption(struct stage *stage)
{
	answer(stage,
		(struct route){.path = "/api/v1/namespaces/default/pods/v1", .body = API_POD("v1", "w1")});
	answer(stage,
		(struct route){.path = "/api/v1/namespaces/default/pods/v2", .body = API_POD("v2", "w2")});
	stage->extenders[0].filter_verb = bt_str("");
	stage->extenders[0].preempt_verb = bt_str("preempt");
	raise_curtain(stage, 2);
	add_pod(&stage->t, "name: v1, uid: w1", "nodeName: n1, " CPU("2"), "");
	add_pod(&stage->t, "name: v2, uid: w2", "nodeName: n2, " CPU("2"), "");
	return decide(&stage->t, add_pod(&stage->t, "name: p, uid: u1", "priority: 5, " CPU("1"), ""));
}

static const char *nominated(struct stage *stage, const struct bt_decision *decision)
{
	const struct bt_cache *cache = bt_engine_cache(stage->t.engine);

	return decision->nominated_ix == BT_NO_NODE
		       ? "none"
		       : bt_intern_str(cache->dictionary->intern,
				 cache->view.snapshot->nodes[decision->nominated_ix].name)
				 .ptr;
}

static void victims_are_said_by_uid_and_chosen_by_the_extender(void **state)
{
	struct stage *stage = set(state, 1);

	answer(stage, (struct route){.path = "/x0/preempt",
			      .body = "{\"NodeNameToMetaVictims\":{\"n2\":{\"Pods\":[{\"UID\":\"w2\"}],"
				      "\"NumPDBViolations\":0}}}"});
	struct bt_decision decision = decide_by_preemption(stage);

	assert_string_equal(nominated(stage, &decision), "n2");
	assert_string_equal(asked(stage, "/x0/preempt", 0),
		"{\"Pod\":" SENT_POD("p",
			"u1") ",\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":[{"
			      "\"UID\":\"w1\"}],\"NumPDBViolations\":0},\"n2\":{\"Pods\":[{\"UID\":\"w2\"}],"
			      "\"NumPDBViolations\":0}}}");
	assert_null(asked(stage, "/api/v1/namespaces/default/pods/v1", 0));
	drop_curtain(stage);
}

static void victims_are_said_as_pods_to_others(void **state)
{
	struct stage *stage = set(state, 1);

	stage->extenders[0].node_cache_capable = false;
	answer(stage, (struct route){.path = "/x0/preempt",
			      .body = "{\"nodeNameToMetaVictims\":{\"n1\":{\"pods\":[{\"uid\":\"w1\"}]}}}"});
	struct bt_decision decision = decide_by_preemption(stage);

	assert_string_equal(nominated(stage, &decision), "n1");
	assert_string_equal(asked(stage, "/x0/preempt", 0),
		"{\"Pod\":" SENT_POD("p", "u1") ",\"NodeNameToVictims\":{\"n1\":{\"Pods\":[" SENT_POD(
			"v1", "w1") "],\"NumPDBViolations\":0},\"n2\":{\"Pods\":[" SENT_POD("v2",
			"w2") "],\"NumPDBViolations\":0}},\"NodeNameToMetaVictims\":null}");
	drop_curtain(stage);
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

static void bind(struct stage *stage, struct bound *bound)
{
	const struct bt_pod_ref pod = {bt_str("default"), bt_str("p"), bt_str("u1")};

	bt_latch_init(&bound->over);
	bt_extenders_bind(stage->frontend, &stage->extenders[0], &pod, bt_str("n1"), note_bound, bound);
	assert_true(bt_latch_wait(&bound->over, BT_EVENTCOUNT_FOREVER));
	bt_latch_fini(&bound->over);
}

static void an_extender_binds(void **state)
{
	struct stage *stage = set(state, 1);
	struct bound bound;

	stage->extenders[0].bind_verb = bt_str("bind");
	answer(stage, (struct route){.path = "/x0/bind", .body = "{\"Error\":\"\"}"});
	raise_curtain(stage, 1);
	bind(stage, &bound);
	assert_int_equal(bound.end, BT_EXTENDER_BOUND);
	assert_string_equal(bound.error, "");
	assert_string_equal(asked(stage, "/x0/bind", 0),
		"{\"PodName\":\"p\",\"PodNamespace\":\"default\",\"PodUID\":\"u1\",\"Node\":\"n1\"}");
	answer(stage, (struct route){.path = "/x0/bind", .body = "{\"Error\":\"no\"}"});
	bind(stage, &bound);
	assert_int_equal(bound.end, BT_EXTENDER_FAILED);
	assert_string_equal(bound.error, "no");
	answer(stage, (struct route){.path = "/x0/bind", .closes = true});
	bind(stage, &bound);
	assert_int_equal(bound.end, BT_EXTENDER_LOST);
	drop_curtain(stage);
}

static void pods_that_want_its_resources_are_bound_by_an_extender(void **state)
{
	struct stage *stage = set(state, 1);
	struct bt_extender_resource mine = {.name = bt_str("example.com/gpu")};

	stage->extenders[0].filter_verb = bt_str("");
	stage->extenders[0].resources = &mine;
	stage->extenders[0].resource_n = 1;
	raise_curtain(stage, 1);
	uint32_t plain = new_pod(stage);
	uint32_t other = add_pod(&stage->t, "name: q",
		"containers: [{name: a, resources: {limits: {example.com/gpu: 1}, requests: "
		"{example.com/gpu: "
		"1}}}]",
		"");

	assert_null(bt_engine_extender_to_bind(stage->t.engine, other));
	stage->extenders[0].bind_verb = bt_str("bind");
	assert_null(bt_engine_extender_to_bind(stage->t.engine, plain));
	assert_ptr_equal(bt_engine_extender_to_bind(stage->t.engine, other), &stage->extenders[0]);
	drop_curtain(stage);
}

/* ---- connections ---- */

static void https_without_an_authority_trusts_anybody(void **state)
{
	for (int trusts = 0; trusts < 2; trusts++) {
		struct stage *stage = set(state, 1);
		struct pki_pair pair;
		char url[64];

		pki_make(&pair, NULL, "somebody", "DNS:elsewhere");
		SSL_CTX *tls = pki_server(&pair, NULL);
		stage->tls = server_start(tls, serve, stage);
		snprintf(url, sizeof(url), "https://127.0.0.1:%u/x0", server_port(stage->tls));
		stage->extenders[0].url_prefix = bt_str(url);
		stage->extenders[0].enable_https = trusts;
		answer(stage, (struct route){.path = "/x0/filter", .body = "{\"NodeNames\":[\"n1\"]}"});
		raise_curtain(stage, 1);
		const char *what = outcome(stage);

		if (trusts) {
			assert_string_equal(what, "n1");
		} else {
			char want[128];

			snprintf(want, sizeof(want), "Post \"%s/filter\": SSL certificate problem", url);
			assert_int_equal(strncmp(what, want, strlen(want)), 0);
		}
		assert_int_equal(asked(stage, "/x0/filter", 0) != NULL, trusts);
		drop_curtain(stage);
		SSL_CTX_free(tls);
		pki_fini(&pair);
	}
}

static void an_authority_and_a_name_are_asked_for(void **state)
{
	struct stage *stage = set(state, 1);
	struct pki_pair authority, pair;
	char url[64];

	pki_make(&authority, NULL, "authority", NULL);
	pki_make(&pair, &authority, "somebody", "DNS:elsewhere");
	SSL_CTX *tls = pki_server(&pair, &authority);
	stage->tls = server_start(tls, serve, stage);
	snprintf(url, sizeof(url), "https://127.0.0.1:%u/x0", server_port(stage->tls));
	stage->extenders[0].url_prefix = bt_str(url);
	stage->extenders[0].enable_https = true;
	stage->extenders[0].tls = (struct bt_extender_tls){.set = true,
		.server_name = bt_str("elsewhere"),
		.ca_data = bt_buf_view(&authority.certificate_pem),
		.cert_data = bt_buf_view(&pair.certificate_pem),
		.key_data = bt_buf_view(&pair.key_pem)};
	answer(stage, (struct route){.path = "/x0/filter", .body = "{\"NodeNames\":[\"n1\"]}"});
	raise_curtain(stage, 1);
	assert_string_equal(outcome(stage), "n1");
	drop_curtain(stage);
	SSL_CTX_free(tls);
	pki_fini(&pair);
	pki_fini(&authority);
}

static void an_address_that_is_none_is_refused(void **state)
{
	struct stage *stage = set(state, 1);
	struct bt_buf error = {.len = 0};

	stage->extenders[0].url_prefix = bt_str("ftp://somewhere");
	assert_null(bt_extenders_create(&stage->t.config, stage->api, &error));
	assert_string_equal(
		error.ptr, "extender ftp://somewhere: urlPrefix must begin with http:// or https://");
	bt_buf_fini(&error);
	stage->extenders[0].url_prefix = bt_str(stage->url[0]);
	raise_curtain(stage, 0);
	drop_curtain(stage);
}

static void close_soon(void *context)
{
	struct stage *stage = context;

	while (!asked(stage, "/x0/filter", 0)) {
		bt_thread_yield();
	}
	bt_extenders_close(stage->frontend);
}

static void closing_ends_the_wait(void **state)
{
	struct stage *stage = set(state, 1);
	struct bt_thread *closer;
	struct bt_buf error = {.len = 0};

	answer(stage, (struct route){.path = "/x0/filter", .hangs = true});
	raise_curtain(stage, 1);
	assert_int_equal(bt_thread_start(&(struct bt_thread_options){.name = "closer"}, close_soon, stage,
				 &closer, &error),
		BT_OK);
	uint32_t pod = new_pod(stage);

	assert_int_equal(decide(&stage->t, pod).outcome, BT_FAILED);
	bt_thread_join(&closer);
	assert_string_equal(message(&stage->t, pod), "the scheduler ends");
	drop_curtain(stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(an_extender_with_nodes_of_its_own_gets_names),
		FIXTURE_TEST(another_gets_whole_nodes),
		FIXTURE_TEST(objects_are_fetched_once_until_the_watch_shows_others),
		FIXTURE_TEST(many_nodes_come_as_a_list),
		FIXTURE_TEST(a_pod_that_another_has_replaced_is_not_sent),
		FIXTURE_TEST(what_the_api_server_does_not_show_fails_the_cycle),
		FIXTURE_TEST(letters_of_names_may_be_small_or_capital),
		FIXTURE_TEST(nodes_count_where_no_names_are_given),
		FIXTURE_TEST(an_error_of_the_extender_is_the_cycles),
		FIXTURE_TEST(answers_that_are_none_are_told_in_gos_words),
		FIXTURE_TEST(nobody_there_is_told_in_gos_words),
		FIXTURE_TEST(an_extender_has_its_time_limit),
		FIXTURE_TEST(what_may_be_ignored_is),
		FIXTURE_TEST(points_decide_among_nodes_that_fit),
		FIXTURE_TEST(extenders_that_score_are_asked_at_the_same_time),
		FIXTURE_TEST(an_extender_that_cannot_score_has_no_say),
		FIXTURE_TEST(victims_are_said_by_uid_and_chosen_by_the_extender),
		FIXTURE_TEST(victims_are_said_as_pods_to_others),
		FIXTURE_TEST(an_extender_binds),
		FIXTURE_TEST(pods_that_want_its_resources_are_bound_by_an_extender),
		FIXTURE_TEST(https_without_an_authority_trusts_anybody),
		FIXTURE_TEST(an_authority_and_a_name_are_asked_for),
		FIXTURE_TEST(an_address_that_is_none_is_refused),
		FIXTURE_TEST(closing_ends_the_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
