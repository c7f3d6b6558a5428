/* SPDX-License-Identifier: Apache-2.0
 * The endpoints, and health in upstream's words.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "lab.h"

#include "engine/base/mem.h"
#include "engine/base/thread.h"
#include "sampler_int.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/serve/health.h"
#include "tools/cluster/serve/routes.h"

struct serve_test {
	struct lab lab;
	struct bt_serve_sources sources;
	struct bt_route_answer answer;
	bool synced, ending, overdue, server_is_silent;
};

static struct serve_test *of(const void *watch)
{
	return (struct serve_test *)(uintptr_t)watch;
}

static uint32_t kinds(const struct bt_watch *watch, struct bt_watch_state *out, uint32_t cap)
{
	bool synced = of(watch)->synced;

	for (uint32_t i = 0; i < 2 && i < cap; i++) {
		out[i] =
			(struct bt_watch_state){.resource = i ? "pods" : "nodes", .synced = synced || i == 0};
	}
	if (cap >= 2 && !synced) {
		snprintf(out[1].error, sizeof(out[1].error), "403: forbidden");
	}
	return 2;
}

static bool pods(void *context, void (*call)(void *to, const struct bt_watch_pod *pod), void *to)
{
	const struct bt_watch_pod known = {bt_str("default"), bt_str("p"), bt_str("u1"), bt_str("n1")};
	const struct bt_watch_pod unknown = {bt_str("default"), bt_str("q"), bt_str("u2"), bt_str("n1")};

	call(to, &known);
	call(to, &unknown);
	return !((struct serve_test *)context)->server_is_silent;
}

static void unread(struct bt_watch *watch,
	void (*call)(void *to, const char *resource, const struct bt_unread_object *object), void *to)
{
	const struct bt_unread_object claim = {bt_str("team"), bt_str("gpu"), bt_str("u7"),
		bt_str("spec.devices: expected an object"), BT_PROTO_IN_PART};

	(void)watch;
	call(to, "resourceclaims", &claim);
}

static bool is_ending(void *context)
{
	return ((struct serve_test *)context)->ending;
}

static int setup(void **state)
{
	struct serve_test *test = bt_mem_zalloc(1, sizeof(*test));
	struct bt_pipeline_options options = lab_options(&test->lab);

	test->lab.now_ns = LAB_SECOND;
	test->lab.answers = true;
	options.limits.sources = 2;
	lab_begin(&test->lab, &options);
	test->synced = true;
	test->sources = (struct bt_serve_sources){.version = "1.2.3",
		.config = &test->lab.config,
		.pipeline = test->lab.pipeline,
		.watch = (struct bt_watch *)test,
		.watch_states = kinds,
		.each_unread = unread,
		.list_pods = pods,
		.is_ending = is_ending,
		.context = test};
	*state = test;
	return 0;
}

static int teardown(void **state)
{
	struct serve_test *test = *state;

	lab_end(&test->lab);
	bt_buf_fini(&test->answer.body);
	bt_health_tally_destroy(test->sources.tally);
	bt_mem_free(test);
	return 0;
}

/* Both sources have synced. */
static void sync_all(struct serve_test *test)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct bt_watch_event *watch_event = bt_watch_event_create(BT_WATCH_EVENT_SYNCED);

		assert_int_equal(bt_pipeline_feed(test->lab.pipeline, i, &watch_event, 0), BT_OK);
	}
	lab_settle(&test->lab);
}

/* Requests "/path?name=value&name" with an Accept header. */
static unsigned get_as(struct serve_test *test, const char *url, const char *accept)
{
	static char text[256];
	struct bt_route_request request = {.accept = bt_str(accept)};
	char *rest = strcpy(text, url);

	assert_true(strlen(url) < sizeof(text));
	request.path = bt_str(strsep(&rest, "?"));
	for (char *one; rest && (one = strsep(&rest, "&"));) {
		char *name = strsep(&one, "=");

		request.arguments[request.argument_n++] =
			(struct bt_route_argument){bt_str(name), bt_str(one)};
	}
	bt_buf_clear(&test->answer.body);
	bt_buf_text(&test->answer.body, "");
	bt_route(&test->sources, NULL, &request, &test->answer);
	return test->answer.status;
}

static unsigned get(struct serve_test *test, const char *url)
{
	return get_as(test, url, "");
}

static unsigned put(struct serve_test *test, const char *path, const char *body)
{
	const struct bt_route_request request = {.path = bt_str(path), .puts = true, .body = bt_str(body)};

	bt_buf_clear(&test->answer.body);
	bt_route(&test->sources, NULL, &request, &test->answer);
	return test->answer.status;
}

#define assert_answers(test, url, code, text)                                                                \
	do {                                                                                                 \
		assert_int_equal(get((test), (url)), (code));                                                \
		assert_string_equal((test)->answer.body.ptr, (text));                                        \
	} while (0)

#define assert_has(test, part) assert_non_null(strstr((test)->answer.body.ptr, (part)))

/* The response has the format with the word in it. */
#define assert_says(test, format, word)                                                                      \
	do {                                                                                                 \
		char part_[256];                                                                             \
		snprintf(part_, sizeof(part_), format, word);                                                \
		assert_has(test, part_);                                                                     \
	} while (0)

static void health_reads_as_upstreams(void **state)
{
	struct serve_test *test = *state;

	sync_all(test);
	assert_answers(test, "/healthz", 200, "ok");
	assert_answers(test, "/healthz?verbose", 200, "[+]ping ok\nhealthz check passed\n");
	assert_answers(test, "/livez?verbose", 200, "[+]ping ok\n[+]threads ok\nlivez check passed\n");
	assert_answers(test, "/readyz?verbose", 200,
		"[+]shutdown ok\n[+]sched-handler-sync ok\n[+]informer-sync ok\nreadyz check passed\n");
	assert_answers(test, "/readyz/informer-sync", 200, "ok");
	assert_int_equal(get(test, "/readyz/nonsense"), 404);
	assert_int_equal(get(test, "/healthz/informer-sync"), 404);
}

static bool leads(void *context)
{
	(void)context;
	return true;
}

static void with_an_election_it_is_named(void **state)
{
	struct serve_test *test = *state;

	test->sources.leads = leads;
	assert_answers(test, "/healthz?verbose", 200, "[+]leaderElection ok\nhealthz check passed\n");
}

static bool is_well(void *context)
{
	return !((struct serve_test *)context)->overdue;
}

static void a_leader_that_cannot_renew_is_not_healthy(void **state)
{
	struct serve_test *test = *state;

	sync_all(test);
	test->sources.leads = leads;
	test->sources.lease_is_well = is_well;
	assert_answers(test, "/readyz", 200, "ok");
	test->overdue = true;
	assert_answers(
		test, "/healthz", 500, "[-]leaderElection failed: reason withheld\nhealthz check failed\n");
	assert_int_equal(get(test, "/readyz"), 500);
	assert_answers(test, "/livez", 200, "ok");
	assert_answers(test, "/healthz/leaderElection", 500,
		"internal server error: failed election to renew leadership on lease kube-scheduler\n");
}

static void results_of_checks_are_counted(void **state)
{
	struct serve_test *test = *state;

	test->sources.tally = bt_health_tally_create();
	assert_int_equal(get(test, "/metrics/slis"), 200);
	assert_null(strstr(test->answer.body.ptr, "name="));
	test->synced = false;
	assert_int_equal(get(test, "/readyz"), 500);
	sync_all(test);
	test->synced = true;
	assert_int_equal(get(test, "/readyz"), 200);
	assert_int_equal(get(test, "/readyz?exclude=shutdown"), 200);
	assert_int_equal(get(test, "/readyz/shutdown"), 200); /* one alone does not count */
	assert_int_equal(get(test, "/metrics/slis"), 200);
	assert_has(test, "# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single "
			 "healthcheck.\n# TYPE kubernetes_healthcheck gauge\n");
	assert_has(test, "\nkubernetes_healthcheck{name=\"sched-handler-sync\",type=\"readyz\"} 1\n");
	assert_has(test, "\nkubernetes_healthchecks_total{name=\"sched-handler-sync\",status=\"error\","
			 "type=\"readyz\"} 1\n");
	assert_has(test, "\nkubernetes_healthchecks_total{name=\"sched-handler-sync\",status=\"success\","
			 "type=\"readyz\"} 2\n");
	assert_has(test, "\nkubernetes_healthchecks_total{name=\"shutdown\",status=\"success\","
			 "type=\"readyz\"} 2\n");
	assert_has(test, "\nprocess_start_time_seconds ");
	assert_null(strstr(test->answer.body.ptr, "livez"));
}

static void readyz_names_failed_checks_without_reasons(void **state)
{
	struct serve_test *test = *state;

	test->synced = false;
	assert_answers(test, "/readyz", 500,
		"[+]shutdown ok\n[-]sched-handler-sync failed: reason withheld\n"
		"[-]informer-sync failed: reason withheld\nreadyz check failed\n");
	assert_answers(test, "/readyz/informer-sync", 500,
		"internal server error: 1 informers not started yet: [pods (403: forbidden)]\n");
	assert_answers(test, "/readyz/sched-handler-sync", 500,
		"internal server error: handlers are not fully synchronized\n");
	test->ending = true;
	assert_answers(test, "/readyz/shutdown", 500, "internal server error: process is shutting down\n");
	assert_answers(test, "/livez", 200, "ok");
}

static void checks_can_be_excluded(void **state)
{
	struct serve_test *test = *state;

	test->synced = false;
	assert_answers(test, "/readyz?verbose&exclude=informer-sync&exclude=sched-handler-sync", 200,
		"[+]shutdown ok\n[+]sched-handler-sync excluded: ok\n[+]informer-sync excluded: ok\n"
		"readyz check passed\n");
	assert_answers(test, "/livez?verbose&exclude=zz&exclude=aa&exclude=zz", 200,
		"[+]ping ok\n[+]threads ok\n"
		"warn: some health checks cannot be excluded: no matches for \"aa\",\"zz\"\n"
		"livez check passed\n");
}

static void the_configuration_is_shown_as_it_counts(void **state)
{
	struct serve_test *test = *state;

	assert_int_equal(get(test, "/configz"), 200);
	assert_string_equal(test->answer.type, "application/json");
	assert_true(bt_str_starts(bt_buf_view(&test->answer.body), "{\"componentconfig\":{"));
	assert_has(test, "\"kind\":\"KubeSchedulerConfiguration\"");
	assert_int_equal(get(test, "/version"), 200);
	assert_says(test, "\"gitVersion\": \"%s\"", bt_release_default()->version);
	assert_has(test, "\"berth\": \"1.2.3\"");
}

static void the_queue_can_be_looked_at(void **state)
{
	struct serve_test *test = *state;

	lab_node(&test->lab, "n1");
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'nodeSelector': {'a': 'b'}");
	lab_settle(&test->lab);
	assert_int_equal(get(test, "/debug/queue"), 200);
	assert_has(test, "\"unschedulable\": 1");
	assert_has(test, "\"pod\": \"default/p\"");
	assert_has(test, "\"NodeAffinity\"");
}

static void the_cache_can_be_looked_at_and_compared(void **state)
{
	struct serve_test *test = *state;

	lab_node(&test->lab, "n1");
	lab_pod(&test->lab, "p", ", 'uid': 'u1'");
	lab_settle(&test->lab);
	assert_int_equal(get(test, "/debug/cache"), 200);
	assert_has(test, "\"node\": \"n1\"");
	assert_has(test, "\"usedPods\": 1");
	assert_int_equal(get(test, "/debug/cache?node=n1"), 200);
	assert_has(test, "\"pod\": \"default/p\"");
	assert_int_equal(get(test, "/debug/cache?node=other"), 200);
	assert_null(strstr(test->answer.body.ptr, "usedPods"));
	assert_int_equal(get(test, "/debug/compare"), 200);
	assert_has(test, "\"differenceCount\": 1");
	assert_has(test, "\"name\": \"q\"");
	assert_has(test, "\"apiPods\": 2");
}

static void pods_of_the_ledger_alone_are_differences(void **state)
{
	struct serve_test *test = *state;

	lab_node(&test->lab, "n1");
	lab_pod(&test->lab, "p", ", 'uid': 'u1'");
	lab_pod(&test->lab, "leaked", ", 'uid': 'u9'");
	lab_settle(&test->lab);
	assert_int_equal(get(test, "/debug/compare"), 200);
	assert_has(test, "\"name\": \"leaked\"");
	assert_has(test, "\"differenceCount\": 2");
	test->server_is_silent = true;
	assert_int_equal(get(test, "/debug/compare"), 503);
}

static void objects_that_could_not_be_read_whole_are_named(void **state)
{
	struct serve_test *test = *state;

	lab_node(&test->lab, "n1");
	lab_pod_event(
		&test->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'nodeName': 'n1', 'incomplete': 'spec.x: why'");
	lab_settle(&test->lab);
	assert_int_equal(get(test, "/debug/unread"), 200);
	assert_has(test, "\"resource\": \"resourceclaims\"");
	assert_has(test, "\"read\": \"in part\"");
	assert_has(test, "spec.devices: expected an object");
	assert_has(test, "\"pod\": \"default/p\"");
	assert_has(test, "spec.x: why");
}

static void a_pod_can_be_explained(void **state)
{
	struct serve_test *test = *state;

	lab_node(&test->lab, "n1");
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'nodeSelector': {'a': 'b'}");
	lab_settle(&test->lab);
	assert_int_equal(get(test, "/debug/explain?pod=default/p"), 200);
	assert_has(test, "n1");
	assert_has(test, "NodeAffinity");
	assert_int_equal(get(test, "/debug/explain?pod=default/p&output=json"), 200);
	assert_string_equal(test->answer.type, "application/json");
	assert_int_equal(get(test, "/debug/explain?pod=default/other"), 404);
	assert_int_equal(get(test, "/debug/explain?pod=p"), 400);
	assert_int_equal(get(test, "/debug/explain"), 400);
}

/* Its own requests and labels do not exclude its node. */
static void a_bound_pod_is_explained_as_if_it_were_not_there(void **state)
{
	static const char apart[] =
		", 'affinity': {'podAntiAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': "
		"[{'labelSelector': {'matchLabels': {'a': 'b'}}, 'topologyKey': 'kubernetes.io/hostname'}]}}";
	struct serve_test *test = *state;
	char there[512];

	snprintf(there, sizeof(there), "%s, 'nodeName': 'n1'", apart);
	lab_node_event(
		&test->lab, BT_WATCH_EVENT_APPLY, "n1", ", 'labels': {'kubernetes.io/hostname': 'n1'}");
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "p", ", 'labels': {'a': 'b'}", there);
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "a", "", ", 'nodeName': 'n1'");
	lab_settle(&test->lab);
	assert_int_equal(get(test, "/debug/explain?pod=default/p&output=csv"), 200);
	assert_has(test, "default/p,n1,feasible");
	assert_int_equal(get(test, "/debug/explain?pod=default/a&output=csv"), 200);
	assert_has(test, "default/a,n1,feasible");
	assert_int_equal(get(test, "/debug/cache?node=n1"), 200);
	assert_has(test, "\"usedPods\": 2");
	/* The verdict without it is not cached: its twin is refused, not placed. */
	lab_pod_event(&test->lab, BT_WATCH_EVENT_DELETE, "a", "", ", 'nodeName': 'n1'");
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "twin", ", 'labels': {'a': 'b'}", apart);
	lab_settle(&test->lab);
	assert_int_equal(get(test, "/debug/explain?pod=default/twin&output=csv"), 200);
	assert_has(test, "default/twin,n1,rejected");
	assert_has(test, "InterPodAffinity");
	assert_int_equal(get(test, "/debug/explain?pod=default/p&output=csv"), 200);
	assert_has(test, "default/p,n1,feasible");
	assert_int_equal(get(test, "/debug/cache?node=n1"), 200);
	assert_has(test, "\"usedPods\": 1");
}

/* Spreading ignores pods that are being deleted, so the counts are the same without it. */
static void a_terminating_pod_is_explained_by_those_that_count(void **state)
{
	static const char there[] =
		", 'nodeName': 'n1', 'topologySpreadConstraints': [{'maxSkew': 1, 'topologyKey': "
		"'kubernetes.io/hostname', 'whenUnsatisfiable': 'DoNotSchedule', 'labelSelector': "
		"{'matchLabels': {'a': 'b'}}}]";
	static const char leaving[] = ", 'labels': {'a': 'b'}, 'deletionTimestamp': '2026-01-01T00:00:00Z', "
				      "'deletionGracePeriodSeconds': 30";
	struct serve_test *test = *state;

	lab_node_event(
		&test->lab, BT_WATCH_EVENT_APPLY, "n1", ", 'labels': {'kubernetes.io/hostname': 'n1'}");
	lab_node_event(
		&test->lab, BT_WATCH_EVENT_APPLY, "n2", ", 'labels': {'kubernetes.io/hostname': 'n2'}");
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "p", leaving, there);
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "stays", ", 'labels': {'a': 'b'}", there);
	lab_settle(&test->lab);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(get(test, "/debug/explain?pod=default/p&output=csv"), 200);
		assert_has(test, "default/p,n1,rejected");
		assert_has(test, "default/p,n2,feasible");
		assert_int_equal(get(test, "/debug/explain?pod=default/stays&output=csv"), 200);
		assert_has(test, "default/stays,n1,feasible");
	}
}

/* Go's profile names are known; unsupported ones name an alternative. */
static void every_profile_is_answered_or_names_what_stands_in_for_it(void **state)
{
	static const char *const given[] = {"cmdline", "goroutine", "heap", "profile", "symbol", "threads"};
	static const char *const others[] = {"allocs", "block", "mutex", "threadcreate", "trace"};
	struct serve_test *test = *state;
	char url[64], text[64];

	for (int slash = 0; slash < 2; slash++) {
		assert_int_equal(get(test, slash ? "/debug/pprof/" : "/debug/pprof"), 200);
		assert_string_equal(test->answer.type, "text/html; charset=utf-8");
		assert_has(test, "<title>/debug/pprof/</title>");
	}
	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
		snprintf(text, sizeof(text), "<a href='/debug/pprof/%s'>", given[i]);
		assert_has(test, text);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		snprintf(text, sizeof(text), "<td>%s</td>", others[i]);
		assert_has(test, text);
	}
	snprintf(text, sizeof(text), " -p %d", getpid());
	assert_has(test, text);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		snprintf(url, sizeof(url), "/debug/pprof/%s?seconds=1", others[i]);
		assert_int_equal(get(test, url), 501);
		assert_has(test, "berth is not written in Go");
		assert_has(test, text);
	}
	assert_answers(test, "/debug/pprof/symbol", 200, "num_symbols: 0\n");
	assert_answers(test, "/debug/pprof/nonsense", 404, "Unknown profile\n");
	assert_int_equal(get(test, "/debug/pprof/cmdline"), 200);
	assert_has(test, "test_unit_serve_routes");
	assert_int_not_equal(test->answer.body.ptr[test->answer.body.len - 1], 0);
}

static void without_profiling_there_are_no_profiles(void **state)
{
	static const char *const paths[] = {"", "/cmdline", "/heap", "/profile", "/threads"};
	struct serve_test *test = *state;
	char url[64];

	test->lab.config.enable_profiling.value = false;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		snprintf(url, sizeof(url), "/debug/pprof%s", paths[i]);
		assert_answers(test, url, 404, "404 page not found\n");
	}
	test->lab.config.enable_profiling.value = true;
}

/* A process that ends does not wait for a profile. */
static void a_profile_of_the_processor_is_one_that_pprof_reads(void **state)
{
	static const char *const urls[] = {"/debug/pprof/profile", "/debug/pprof/profile?seconds=300",
		"/debug/pprof/profile?seconds=0", "/debug/pprof/profile?seconds=-1",
		"/debug/pprof/profile?seconds="};
	static const uint64_t head[] = {0, 3, 0, 10000, 0};
	struct serve_test *test = *state;

	test->ending = true;
	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		assert_int_equal(get(test, urls[i]), 200);
		assert_string_equal(test->answer.type, "application/octet-stream");
		assert_null(test->answer.warning);
		assert_true(test->answer.body.len > sizeof(head));
		assert_memory_equal(test->answer.body.ptr, head, sizeof(head));
	}
	assert_int_equal(get(test, "/debug/pprof/profile?seconds=301"), 400);
	assert_has(test, "at most 300");
	assert_int_equal(get(test, "/debug/pprof/profile?seconds=99999999999999999999"), 400);
	test->ending = false;
}

static void a_second_profile_of_the_processor_is_refused(void **state)
{
	struct serve_test *test = *state;
	struct bt_buf why = {0};

	assert_int_equal(bt_sampler_begin(&why), BT_OK);
	assert_answers(test, "/debug/pprof/profile?seconds=1", 500,
		"Could not enable CPU profiling: cpu profiling already in use\n");
	bt_sampler_end(&why);
	bt_buf_fini(&why);
}

/* jemalloc's sampling is set when a program starts: ctest runs this program both ways. */
static void the_heap_is_a_profile_or_statistics_and_why(void **state)
{
	struct serve_test *test = *state;
	const char *settings = getenv("MALLOC_CONF");
	bool samples = settings && strstr(settings, "prof:true");

	assert_int_equal(get(test, "/debug/pprof/heap"), 200);
	if (bt_str_starts(bt_buf_view(&test->answer.body), "heap_v2/")) {
		assert_true(samples);
		assert_string_equal(test->answer.type, "application/octet-stream");
		assert_has(test, "MAPPED_LIBRARIES:");
		return;
	}
	assert_has(test, "No heap profile: ");
	assert_true(
		!samples || strstr(test->answer.body.ptr, "this build has the allocator of its sanitizer"));
	if (!strstr(test->answer.body.ptr, "sanitizer")) {
		assert_has(test, "MALLOC_CONF=prof:true");
		assert_has(test, "jemalloc statistics");
	}
}

static void threads_are_listed_with_names_and_states(void **state)
{
	struct serve_test *test = *state;
	char text[64], name[BT_THREAD_NAME_BYTES];

	assert_int_equal(pthread_getname_np(pthread_self(), name, sizeof(name)), 0);
	assert_int_equal(pthread_setname_np(pthread_self(), "a) R (b"), 0);
	assert_int_equal(get(test, "/debug/pprof/threads"), 200);
	snprintf(text, sizeof(text), "\n%-8d %-16s %-21s", getpid(), "a) R (b", "running");
	assert_has(test, text);
	assert_int_equal(get(test, "/debug/pprof/goroutine?debug=2"), 200);
	assert_has(test, text);
	assert_int_equal(pthread_setname_np(pthread_self(), name), 0);
}

static void missing_objects_are_reported(void **state)
{
	struct serve_test *test = *state;

	assert_answers(test, "/nonsense", 404, "404 page not found\n");
	assert_int_equal(get(test, "/healthzz"), 404);
	test->sources.pipeline = NULL;
	assert_int_equal(get(test, "/debug/queue"), 404);
	assert_int_equal(get(test, "/"), 200);
	assert_has(test, "/metrics");
}

static void each_flag(void *context, void (*call)(void *to, const char *name, struct bt_str value), void *to)
{
	(void)context;
	call(to, "secure-port", bt_str("10259"));
	call(to, "v", bt_str("2"));
}

#define AS_FLAGZ  ";v=v1beta1;g=config.k8s.io;as=Flagz"
#define AS_STATUS ";v=v1beta1;g=config.k8s.io;as=Statusz"

static void flags_are_shown_as_text_and_as_an_object(void **state)
{
	struct serve_test *test = *state;

	assert_int_equal(get(test, "/flagz"), 404); /* no flags are known */
	test->sources.each_flag = each_flag;
	assert_answers(test, "/flagz", 200,
		"\nkube-scheduler flagz\nWarning: This endpoint is not meant to be machine parseable, has no "
		"formatting compatibility guarantees and is for debugging purposes only.\n"
		"secure-port=10259\nv=2\n");
	assert_int_equal(get_as(test, "/flagz", "application/json" AS_FLAGZ), 200);
	assert_string_equal(test->answer.type, "application/json;g=config.k8s.io;v=v1beta1;as=Flagz");
	assert_null(test->answer.warning);
	assert_has(test, "\"kind\": \"Flagz\",\n  \"apiVersion\": \"config.k8s.io/v1beta1\"");
	assert_has(test, "\"flags\": {\n    \"secure-port\": \"10259\",\n    \"v\": \"2\"\n  }");
	assert_int_equal(get_as(test, "/flagz", "application/yaml;v=v1alpha1;g=config.k8s.io;as=Flagz"), 200);
	assert_string_equal(test->answer.type, "application/yaml;g=config.k8s.io;v=v1alpha1;as=Flagz");
	assert_string_equal(test->answer.warning,
		"299 - \"This version of the flagz endpoint is deprecated. Please use a newer version.\"");
	assert_has(test, "apiVersion: config.k8s.io/v1alpha1\n");
	test->lab.config.gates.on[BT_GATE_COMPONENT_FLAGZ] = false;
	assert_int_equal(get(test, "/flagz"), 404);
}

static void status_is_shown_as_text_and_as_an_object(void **state)
{
	struct serve_test *test = *state;

	assert_int_equal(get(test, "/statusz"), 200);
	assert_has(test, "\nkube-scheduler statusz\n");
	assert_has(test, "\nUp: 0 hr 00 min ");
	assert_says(test, "\nBinary version: %s\n", bt_release_default()->number);
	assert_says(test, "\nEmulation version: %s\nPaths: /configz ", bt_release_default()->name);
	assert_int_equal(get_as(test, "/statusz", "application/json" AS_STATUS), 200);
	assert_says(test, "\"binaryVersion\": \"%s\",\n", bt_release_default()->number);
	assert_says(test, "\"emulationVersion\": \"%s\",\n  \"paths\": [\n", bt_release_default()->name);
	assert_has(test, "\"startTime\": \"20");
	test->lab.config.gates.on[BT_GATE_COMPONENT_STATUSZ] = false;
	assert_int_equal(get(test, "/statusz"), 404);
}

/* As in the API server's content negotiation. */
static void the_best_type_that_can_be_answered_is(void **state)
{
	static const struct {
		const char *accept, *type; /* NULL: none */
	} rows[] = {{"*/*", "text/plain; charset=utf-8"}, {"text/plain", "text/plain; charset=utf-8"},
		{" TEXT/* ", "text/plain; charset=utf-8"},
		{"text/html, text/plain;q=0.5", "text/plain; charset=utf-8"}, {"application/json", NULL},
		{"text/html", NULL}, {"application/json;as=Statusz", NULL},
		{"application/json;v=v1;g=config.k8s.io;as=Statusz", NULL},
		{"application/json;v=v1beta1;g=config.k8s.io;as=Flagz", NULL}, {"text/plain" AS_STATUS, NULL},
		{"*/*" AS_STATUS, "application/json;g=config.k8s.io;v=v1beta1;as=Statusz"},
		{"text/plain;q=0.3, application/yaml;q=0.9" AS_STATUS,
			"application/yaml;g=config.k8s.io;v=v1beta1;as=Statusz"},
		{"application/json;q=0.1" AS_STATUS ",text/plain", "text/plain; charset=utf-8"},
		{"text/plain;q=0", NULL}, {",;=", NULL}, {"   ", "text/plain; charset=utf-8"}};
	struct serve_test *test = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		unsigned status = get_as(test, "/statusz", rows[i].accept);

		print_message("%s\n", rows[i].accept);
		assert_int_equal(status, rows[i].type ? 200 : 406);
		assert_string_equal(test->answer.type, rows[i].type ? rows[i].type : "application/json");
		if (!rows[i].type) {
			assert_has(test, "\"message\": \"only the following media types are accepted: "
					 "application/json, application/yaml, text/plain\",\n  \"reason\": "
					 "\"NotAcceptable\",\n  \"code\": 406\n");
		}
	}
}

static void put_changes_what_is_logged(void **state)
{
	struct serve_test *test = *state;

	bt_log_set_verbosity(0);
	assert_int_equal(put(test, "/debug/flags/v", "4"), 200);
	assert_string_equal(test->answer.body.ptr, "successfully set klog.logging.verbosity to 4\n");
	assert_true(bt_log_enabled(4));
	assert_false(bt_log_enabled(5));
	assert_int_equal(put(test, "/debug/flags/v", "x"), 400);
	assert_string_equal(test->answer.body.ptr, "strconv.ParseUint: parsing \"x\": invalid syntax\n");
	assert_int_equal(put(test, "/debug/flags/v", ""), 400);
	assert_int_equal(put(test, "/debug/flags/v", "12345678901234567890"), 400);
	assert_true(bt_log_enabled(4));
	bt_log_set_verbosity(0);
	assert_answers(test, "/debug/flags/v", 406, "unsupported http method\n");
	assert_int_equal(get(test, "/debug/flags"), 200);
	assert_has(test, "<tr>v<br>\n");
	assert_true(bt_route_takes_put(&test->sources, bt_str("/debug/flags/v")));
	assert_false(bt_route_takes_put(&test->sources, bt_str("/debug/flags/x")));
	assert_false(bt_route_takes_put(&test->sources, bt_str("/metrics")));
	test->lab.config.enable_profiling.value = false;
	assert_false(bt_route_takes_put(&test->sources, bt_str("/debug/flags/v")));
	assert_int_equal(get(test, "/debug/flags"), 404);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(health_reads_as_upstreams, setup, teardown),
		cmocka_unit_test_setup_teardown(with_an_election_it_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(a_leader_that_cannot_renew_is_not_healthy, setup, teardown),
		cmocka_unit_test_setup_teardown(results_of_checks_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(flags_are_shown_as_text_and_as_an_object, setup, teardown),
		cmocka_unit_test_setup_teardown(status_is_shown_as_text_and_as_an_object, setup, teardown),
		cmocka_unit_test_setup_teardown(the_best_type_that_can_be_answered_is, setup, teardown),
		cmocka_unit_test_setup_teardown(put_changes_what_is_logged, setup, teardown),
		cmocka_unit_test_setup_teardown(readyz_names_failed_checks_without_reasons, setup, teardown),
		cmocka_unit_test_setup_teardown(checks_can_be_excluded, setup, teardown),
		cmocka_unit_test_setup_teardown(the_configuration_is_shown_as_it_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(the_queue_can_be_looked_at, setup, teardown),
		cmocka_unit_test_setup_teardown(the_cache_can_be_looked_at_and_compared, setup, teardown),
		cmocka_unit_test_setup_teardown(pods_of_the_ledger_alone_are_differences, setup, teardown),
		cmocka_unit_test_setup_teardown(
			objects_that_could_not_be_read_whole_are_named, setup, teardown),
		cmocka_unit_test_setup_teardown(a_pod_can_be_explained, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_bound_pod_is_explained_as_if_it_were_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_terminating_pod_is_explained_by_those_that_count, setup, teardown),
		cmocka_unit_test_setup_teardown(
			every_profile_is_answered_or_names_what_stands_in_for_it, setup, teardown),
		cmocka_unit_test_setup_teardown(without_profiling_there_are_no_profiles, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_profile_of_the_processor_is_one_that_pprof_reads, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_second_profile_of_the_processor_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(the_heap_is_a_profile_or_statistics_and_why, setup, teardown),
		cmocka_unit_test_setup_teardown(threads_are_listed_with_names_and_states, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_objects_are_reported, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
