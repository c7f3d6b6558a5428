/* SPDX-License-Identifier: Apache-2.0
 * Compares the ledger with the API and repairs it.
 */
#include "lab.h"

#include "tools/cluster/run/cache_comparer.h"

#define SECOND	INT64_C(1000000000)
#define POD_MAX 100

/* The server's pods. */
struct server {
	struct {
		const char *name, *uid, *node, *requests;
	} pods[POD_MAX];
	int pod_n;
	bool late;	 /* not in lists yet */
	uint32_t status; /* of every response for one pod; 0: the true one */
	bool no_lists;	 /* lists are rejected */
	int get_n, page_n;
};

struct bench {
	struct lab lab;
	struct server server;
	struct bt_pod_pages *pages;
	struct bt_cache_comparer *audit;
};

static struct bench *bench;

static void write_pod(const struct server *server, int i, struct bt_buf *out)
{
	bt_buf_printf(out,
		"{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"namespace\": \"default\", "
		"\"name\": \"%s\", \"uid\": \"%s\"}, \"spec\": {\"nodeName\": \"%s\", \"schedulerName\": "
		"\"default-scheduler\", \"containers\": [{\"name\": \"c\", \"resources\": {\"requests\": "
		"{%s}}}]}}",
		server->pods[i].name, server->pods[i].uid, server->pods[i].node,
		server->pods[i].requests ? server->pods[i].requests : "");
}

/* A page has one pod; its token is the index of the next. */
static void write_page(const struct server *server, struct bt_str path, struct bt_buf *out)
{
	const char *token = strstr(path.ptr, "&continue=");
	const char *node = strstr(path.ptr, "spec.nodeName%3D");
	int i = token ? atoi(token + strlen("&continue=")) : 0;
	int next = server->late ? server->pod_n : i + 1;

	assert_non_null(strstr(path.ptr, "status.phase%21%3DFailed%2Cspec.nodeName"));
	bt_buf_text(out, "{\"kind\": \"PodList\", \"apiVersion\": \"v1\", \"metadata\": "
			 "{\"resourceVersion\": \"7\", \"continue\": \"");
	if (next < server->pod_n) {
		bt_buf_printf(out, "%d", next);
	}
	bt_buf_text(out, "\"}, \"items\": [");
	if (i < server->pod_n && !server->late &&
		(!node || strncmp(node + strlen("spec.nodeName%3D"), server->pods[i].node, 2) == 0)) {
		write_pod(server, i, out);
	}
	bt_buf_text(out, "]}");
}

static enum bt_http_end fetch(struct bt_http *http, const struct bt_http_call *call,
	struct bt_http_head *out_head, struct bt_buf *out_body, struct bt_buf *out_error)
{
	struct server *server = (struct server *)http;
	struct bt_buf path = {0};

	(void)out_error;
	bt_buf_str(&path, call->path); /* with its NUL */
	bt_buf_clear(out_body);
	out_head->status = 404;
	if (strstr(path.ptr, "?limit=")) {
		server->page_n++;
		out_head->status = server->no_lists ? 429 : 200;
		out_head->retry_after_ns = server->no_lists ? 7 * SECOND : -1;
		write_page(server, bt_buf_view(&path), out_body);
	} else {
		server->get_n++;
		for (int i = 0; i < server->pod_n; i++) {
			const char *name = strrchr(path.ptr, '/') + 1;

			if (strcmp(name, server->pods[i].name) == 0) {
				out_head->status = 200;
				write_pod(server, i, out_body);
			}
		}
		out_head->status = server->status ? server->status : out_head->status;
	}
	bt_buf_fini(&path);
	return BT_HTTP_ANSWERED;
}

/* Runs ticks until a round is over. */
static void look(int64_t from_ns)
{
	const uint64_t round_n = bt_cache_comparer_counts(bench->audit).round_n;

	for (int64_t ns = 0; bt_cache_comparer_counts(bench->audit).round_n == round_n && ns < 30 * SECOND;
		ns += SECOND / 4) {
		bt_cache_comparer_tick(bench->audit, from_ns + ns);
	}
}

static void on_server(const char *name, const char *uid, const char *node)
{
	struct server *server = &bench->server;

	assert_true(server->pod_n < POD_MAX);
	server->pods[server->pod_n].name = name;
	server->pods[server->pod_n].uid = uid;
	server->pods[server->pod_n++].node = node;
}

/* Feeds a bound pod. */
static void shown(const char *name, const char *uid, const char *node)
{
	char meta[64], spec[64];

	snprintf(meta, sizeof(meta), ", 'uid': '%s'", uid);
	snprintf(spec, sizeof(spec), ", 'nodeName': '%s'", node);
	lab_pod_event(&bench->lab, BT_WATCH_EVENT_APPLY, name, meta, spec);
	lab_settle(&bench->lab);
}

static int setup(void **state)
{
	bench = calloc(1, sizeof(*bench));
	const struct bt_pipeline_options options = lab_options(&bench->lab);

	lab_begin(&bench->lab, &options);
	lab_node(&bench->lab, "n1");
	lab_node(&bench->lab, "n2");
	lab_settle(&bench->lab);
	bench->pages = bt_pod_pages_create(
		&(struct bt_pod_pages_options){.http = (struct bt_http *)&bench->server, .fetch = fetch});
	bench->audit = bt_cache_comparer_create(&(struct bt_cache_comparer_options){
		.pipeline = bench->lab.pipeline,
		.pages = bench->pages,
		.interval_ns = 30 * SECOND,
	});
	*state = bench;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bt_cache_comparer_destroy(bench->audit);
	bt_pod_pages_destroy(bench->pages);
	lab_end(&bench->lab);
	free(bench);
	return 0;
}

static void expect(uint64_t round_n, uint64_t differ_n, uint64_t repaired_n, uint64_t failed_n)
{
	const struct bt_cache_comparer_counts counts = bt_cache_comparer_counts(bench->audit);

	assert_int_equal(counts.round_n, round_n);
	assert_int_equal(counts.differ_n, differ_n);
	assert_int_equal(counts.repaired_n, repaired_n);
	assert_int_equal(counts.failed_n, failed_n);
}

static void nothing_happens_when_both_agree(void **state)
{
	(void)state;
	on_server("p", "u1", "n1");
	on_server("waits", "u2", "");
	shown("p", "u1", "n1");
	look(0);
	bt_cache_comparer_tick(bench->audit, 29 * SECOND); /* not yet */
	look(30 * SECOND);
	expect(2, 0, 0, 0);
	assert_int_equal(bench->server.get_n, 0);
}

static void an_event_on_its_way_is_no_mistake(void **state)
{
	(void)state;
	on_server("p", "u1", "n1");
	look(0);
	shown("p", "u1", "n1"); /* now it has arrived */
	look(2 * SECOND);
	expect(2, 0, 0, 0);
}

static void varying_differences_are_not_reported(void **state)
{
	(void)state;
	on_server("p", "u1", "n1");
	look(0);
	on_server("q", "u2", "n1");
	look(2 * SECOND);
	expect(2, 0, 0, 0);
}

static void a_pod_that_the_ledger_has_missed_is_added_to_the_engine(void **state)
{
	(void)state;
	on_server("p", "u1", "n1");
	on_server("q", "u2", "n2");
	shown("q", "u2", "n2");
	look(0);
	look(2 * SECOND);
	expect(2, 1, 1, 0);
	assert_non_null(lab_find(&bench->lab, "p"));
	lab_assert_sets(&bench->lab, 0, 0, 2);
	look(4 * SECOND);
	expect(3, 1, 1, 0);
}

static void a_ledger_that_knows_more_than_a_late_reader_is_right(void **state)
{
	(void)state;
	on_server("p", "u1", "n1");
	bench->server.late = true;
	shown("p", "u1", "n1");
	look(0);
	look(2 * SECOND);
	expect(2, 0, 0, 0);
	assert_int_equal(bench->server.get_n, 1);
	assert_non_null(lab_find(&bench->lab, "p"));
}

static void a_pod_that_only_the_ledger_has_goes(void **state)
{
	(void)state;
	shown("ghost", "u1", "n1");
	look(0);
	look(2 * SECOND);
	expect(2, 1, 1, 0);
	assert_null(lab_find(&bench->lab, "ghost"));
	lab_assert_sets(&bench->lab, 0, 0, 0);
}

static void a_pod_of_another_uid_takes_the_place_of_one_that_has_gone(void **state)
{
	(void)state;
	on_server("p", "new", "n2");
	shown("p", "old", "n1");
	look(0);
	look(2 * SECOND);
	look(4 * SECOND);
	bt_cache_comparer_tick(bench->audit, 6 * SECOND);
	const struct bt_pod *pod = lab_find(&bench->lab, "p");
	assert_non_null(pod);
	lab_assert_sets(&bench->lab, 0, 0, 1);
	look(36 * SECOND);
	const struct bt_cache_comparer_counts counts = bt_cache_comparer_counts(bench->audit);
	assert_int_equal(counts.round_n, 4); /* all agree since the third one */
}

static void a_failed_lookup_changes_nothing_and_is_repeated(void **state)
{
	(void)state;
	shown("p", "u1", "n1");
	bench->server.status = 500;
	look(0);
	look(2 * SECOND);
	expect(2, 1, 0, 1);
	assert_non_null(lab_find(&bench->lab, "p"));
	bench->server.status = 0;
	look(4 * SECOND);
	expect(3, 2, 1, 1);
	assert_null(lab_find(&bench->lab, "p"));
}

static void no_request_is_repeated_early(void **state)
{
	(void)state;
	on_server("p", "u1", "n1");
	on_server("q", "u2", "n2");
	bt_cache_comparer_tick(bench->audit, 0);
	bt_cache_comparer_tick(bench->audit, SECOND / 8);
	assert_int_equal(bench->server.page_n, 1);
	bt_cache_comparer_tick(bench->audit, SECOND / 4);
	assert_int_equal(bench->server.page_n, 2);
	expect(1, 0, 0, 0);
}

static void a_truncated_list_deletes_no_objects(void **state)
{
	(void)state;
	shown("p", "u1", "n1");
	on_server("p", "u1", "n1");
	on_server("q", "u2", "n2");
	bt_cache_comparer_tick(bench->audit, 0);
	bench->server.no_lists = true;
	bt_cache_comparer_tick(bench->audit, SECOND);
	bt_cache_comparer_tick(bench->audit, 7 * SECOND); /* the server asks for a longer pause */
	assert_int_equal(bench->server.page_n, 2);
	bench->server.no_lists = false;
	look(8 * SECOND);
	look(10 * SECOND);
	look(13 * SECOND);
	assert_int_equal(bt_cache_comparer_counts(bench->audit).unlisted_n, 1);
	assert_int_equal(bt_cache_comparer_counts(bench->audit).repaired_n, 1);
	assert_non_null(lab_find(&bench->lab, "q"));
}

/* No watch event has shown that one pod exists and another one was deleted. */
static void missed_watch_events_are_repaired(void **state)
{
	(void)state;
	shown("leaked", "u1", "n1");
	on_server("hidden", "u2", "n1");
	look(0);
	look(2 * SECOND);
	expect(2, 1, 2, 0);
	assert_null(lab_find(&bench->lab, "leaked"));
	assert_non_null(lab_find(&bench->lab, "hidden"));
}

static void behind_many_right_pods_a_wrong_one_is_found(void **state)
{
	char names[POD_MAX][8];

	(void)state;
	for (int i = 0; i < POD_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "p%03d", i);
		on_server(names[i], names[i], "n1");
		if (i + 1 < POD_MAX) {
			shown(names[i], names[i], "n1");
		}
	}
	look(0);
	look(60 * SECOND);
	expect(2, 1, 1, 0);
	assert_int_equal(bench->server.get_n, 1);
	assert_non_null(lab_find(&bench->lab, names[POD_MAX - 1]));
}

static int setup_crowded(void **state)
{
	bt_resource_prefill(BT_RESOURCE_POD_MAX);
	int rc = setup(state);
	bt_resource_prefill(0);
	return rc;
}

static int64_t used_on_n1(const char *name)
{
	const struct bt_cache *cache = bt_engine_cache(bt_pipeline_engine(bench->lab.pipeline));
	int slot = bt_resource_find(cache->dictionary, bt_str(name));

	assert_true(slot >= 0);
	return bt_node_used(
		bt_ledger_usage(cache->ledger), (uint32_t)slot, lab_find(&bench->lab, "p")->node_ix);
}

static void show(const char *text)
{
	lab_feed(&bench->lab, lab_watch_event(&bench->lab, BT_WATCH_EVENT_APPLY, text));
	lab_settle(&bench->lab);
}

/* Pods have requested more resources than there are slots; then a node offers one that a pod on it uses. */
static void a_late_extended_resource_counts_for_pods_that_requested_it(void **state)
{
	(void)state;
	on_server("p", "u1", "n1");
	bench->server.pods[0].requests = "\"e.com/late\": \"2\"";
	show("{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'namespace': 'default', 'name': 'p', 'uid': "
	     "'u1'}, 'spec': {'nodeName': 'n1', 'schedulerName': 'default-scheduler', 'containers': "
	     "[{'name': "
	     "'c', 'resources': {'requests': {'e.com/late': '2'}}}]}}");
	show("{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'n1'}, 'status': {'allocatable': "
	     "{'cpu': '2', 'pods': '10', 'e.com/late': '2'}}}");
	assert_int_equal(used_on_n1("e.com/late"), 0);
	for (int round = 0; round < 3; round++) {
		look(round * 30 * SECOND);
	}
	assert_int_equal(used_on_n1("e.com/late"), 2);
	expect(3, 1, 1, 0);
	look(120 * SECOND);
	look(150 * SECOND);
	expect(5, 1, 1, 0);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(nothing_happens_when_both_agree),
		TEST(an_event_on_its_way_is_no_mistake),
		TEST(varying_differences_are_not_reported),
		TEST(a_pod_that_the_ledger_has_missed_is_added_to_the_engine),
		TEST(a_ledger_that_knows_more_than_a_late_reader_is_right),
		TEST(a_pod_that_only_the_ledger_has_goes),
		TEST(a_pod_of_another_uid_takes_the_place_of_one_that_has_gone),
		TEST(a_failed_lookup_changes_nothing_and_is_repeated),
		TEST(no_request_is_repeated_early),
		TEST(a_truncated_list_deletes_no_objects),
		TEST(missed_watch_events_are_repaired),
		TEST(behind_many_right_pods_a_wrong_one_is_found),
		cmocka_unit_test_setup_teardown(
			a_late_extended_resource_counts_for_pods_that_requested_it, setup_crowded, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
