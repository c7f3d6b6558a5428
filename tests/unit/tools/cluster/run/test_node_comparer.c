/* SPDX-License-Identifier: Apache-2.0
 * Compares the scheduler's nodes with those of the API.
 */
#include "lab.h"

#include "tools/cluster/run/node_comparer.h"

#define SECOND INT64_C(1000000000)

/* A page has one node; its token is the index of the next. */
struct server {
	const char *names[4];
	const char *cpus[4];
	int node_n;
	bool no_lists;
};

struct bench {
	struct lab lab;
	struct server server;
	struct bt_pod_pages *pages;
	struct bt_node_comparer *comparer;
	int64_t now_ns;
};

static struct bench *bench;

static enum bt_http_end fetch(struct bt_http *http, const struct bt_http_call *call,
	struct bt_http_head *out_head, struct bt_buf *out_body, struct bt_buf *out_error)
{
	const struct server *server = (struct server *)http;
	struct bt_buf path = {0};

	(void)out_error;
	bt_buf_str(&path, call->path); /* with its NUL */
	assert_non_null(strstr(path.ptr, "/api/v1/nodes?limit="));
	const char *token = strstr(path.ptr, "&continue=");
	int i = token ? atoi(token + strlen("&continue=")) : 0;
	out_head->status = server->no_lists ? 500 : 200;
	bt_buf_clear(out_body);
	bt_buf_printf(out_body, "{\"kind\": \"NodeList\", \"apiVersion\": \"v1\", \"metadata\": "
				"{\"resourceVersion\": \"7\", \"continue\": \"");
	if (i + 1 < server->node_n) {
		bt_buf_printf(out_body, "%d", i + 1);
	}
	bt_buf_text(out_body, "\"}, \"items\": [");
	if (i < server->node_n) {
		bt_buf_printf(out_body,
			"{\"metadata\": {\"name\": \"%s\"}, \"status\": {\"allocatable\": {\"cpu\": \"%s\", "
			"\"memory\": \"8Gi\", \"pods\": \"10\"}}}",
			server->names[i], server->cpus[i]);
	}
	bt_buf_text(out_body, "]}");
	bt_buf_fini(&path);
	return BT_HTTP_ANSWERED;
}

static int setup(void **state)
{
	bench = calloc(1, sizeof(*bench));
	const struct bt_pipeline_options options = lab_options(&bench->lab);

	lab_begin(&bench->lab, &options);
	lab_node(&bench->lab, "n1");
	lab_node(&bench->lab, "n2");
	lab_settle(&bench->lab);
	bench->server =
		(struct server){.names = {"n1", "n2", "n3"}, .cpus = {"2", "2000m", "2"}, .node_n = 2};
	bench->pages = bt_pod_pages_create(
		&(struct bt_pod_pages_options){.http = (struct bt_http *)&bench->server, .fetch = fetch});
	bench->comparer = bt_node_comparer_create(
		&(struct bt_node_comparer_options){.pipeline = bench->lab.pipeline, .pages = bench->pages});
	*state = bench;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bt_node_comparer_destroy(bench->comparer);
	bt_pod_pages_destroy(bench->pages);
	lab_end(&bench->lab);
	free(bench);
	return 0;
}

/* Runs ticks until a round is over. Returns: how many nodes have differed permanently so far. */
static uint64_t look(void)
{
	const uint64_t round_n = bt_node_comparer_counts(bench->comparer).round_n;

	for (int i = 0; bt_node_comparer_counts(bench->comparer).round_n == round_n && i < 1000; i++) {
		bt_node_comparer_tick(bench->comparer, bench->now_ns);
		bench->now_ns += SECOND / 4;
	}
	assert_int_equal(bt_node_comparer_counts(bench->comparer).round_n, round_n + 1);
	return bt_node_comparer_counts(bench->comparer).differ_n;
}

static void expect_found_at_the_second_look(void)
{
	assert_int_equal(look(), 0);
	assert_int_equal(look(), 1);
}

static void equal_nodes_do_not_differ(void **state)
{
	(void)state;
	assert_int_equal(look(), 0);
	assert_int_equal(look(), 0);
	assert_true(bench->now_ns > 30 * SECOND);
}

static void a_node_that_was_missed_differs(void **state)
{
	(void)state;
	bench->server.node_n = 3;
	expect_found_at_the_second_look();
}

static void a_node_that_has_gone_differs(void **state)
{
	(void)state;
	bench->server.node_n = 1;
	expect_found_at_the_second_look();
}

static void a_node_with_other_room_differs(void **state)
{
	(void)state;
	bench->server.cpus[1] = "3";
	expect_found_at_the_second_look();
}

static void an_event_on_its_way_is_no_difference(void **state)
{
	(void)state;
	bench->server.node_n = 3;
	assert_int_equal(look(), 0);
	lab_node(&bench->lab, "n3");
	lab_settle(&bench->lab);
	assert_int_equal(look(), 0);
	bench->server.cpus[0] = "4";
	assert_int_equal(look(), 0);
	bench->server.cpus[0] = "5"; /* changed again */
	assert_int_equal(look(), 0);
}

static void a_truncated_list_deletes_no_objects(void **state)
{
	(void)state;
	bench->server.no_lists = true;
	bt_node_comparer_tick(bench->comparer, 0);
	assert_int_equal(bt_node_comparer_counts(bench->comparer).unlisted_n, 1);
	bench->server.no_lists = false;
	assert_int_equal(look(), 0);
	assert_int_equal(look(), 0);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(equal_nodes_do_not_differ),
		TEST(a_node_that_was_missed_differs),
		TEST(a_node_that_has_gone_differs),
		TEST(a_node_with_other_room_differs),
		TEST(an_event_on_its_way_is_no_difference),
		TEST(a_truncated_list_deletes_no_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
