/* SPDX-License-Identifier: Apache-2.0
 * Bindings: every response of the server, missing responses, and the reports to the pipeline.
 */
#include "fake.h"

#include "tools/cluster/write/proto.h"

#define POD "/api/v1/namespaces/ns/pods/p"
#define TAKEN(on)                                                                                            \
	"Operation cannot be fulfilled on pods/binding \\\"p\\\": pod p is already assigned to node \\\"" on \
	"\\\""
#define ON(uid, node)                                                                                        \
	"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"uid\":\"" uid "\",\"labels\":{}},\"spec\":{"       \
	"\"containers\":[{\"name\":\"c\"}],\"nodeName\":\"" node "\"},\"status\":{}}"
#define WAITS "{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"u\"},\"spec\":{\"containers\":[]}}"

static int begin(void **state)
{
	(void)state;
	fake_begin((struct bt_writer_options){.qps = -1});
	show("p", "7", "");
	return 0;
}

static void a_binding_is_what_client_go_sends(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	sent(0, "POST", BINDING);
	assert_string_equal(fake.calls[0].type, "application/json");
	assert_string_equal(fake.calls[0].body,
		"{\"kind\":\"Binding\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\",\"namespace\":"
		"\"ns\",\"uid\":\"u\"},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}\n");
	fake_answer(0, 201, "{}");
	expect_reports("bound 1\n");
}

static void as_protobuf_it_is_the_same_without_empty_fields(void **state)
{
	static const char want[] =
		"k8s\0\n\r\n\2v1\22\7Binding\22\35\n\14\n\1p\32\2ns*\3u-1\22\r\n\4Node\32\5"
		"node1";
	struct bt_buf body = {.len = 0};
	struct bt_bind_request request = fake_bind_request(1, "p", "u-1", "node1");

	(void)state;
	bt_proto_binding(&request.pod, request.node, &body);
	assert_int_equal(body.len, sizeof(want) - 1);
	assert_memory_equal(body.ptr, want, body.len);
	bt_buf_fini(&body);
}

static void a_bound_pod_gets_its_event(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_answer(0, 201, "{}");
	assert_int_equal(fake.call_n, 2);
	sent(1, "POST", "/apis/events.k8s.io/v1/namespaces/ns/events");
	assert_string_equal(fake.calls[1].body,
		"{\"kind\":\"Event\",\"apiVersion\":\"events.k8s.io/v1\",\"metadata\":{\"name\":"
		"\"p.18867251edfa0000\",\"namespace\":\"ns\"},\"eventTime\":\"2026-01-01T00:00:00.000000Z\","
		"\"reportingController\":\"s\",\"reportingInstance\":\"s-h\",\"action\":\"Binding\","
		"\"reason\":"
		"\"Scheduled\",\"regarding\":{\"kind\":\"Pod\",\"namespace\":\"ns\",\"name\":\"p\",\"uid\":"
		"\"u\",\"apiVersion\":\"v1\",\"resourceVersion\":\"7\"},\"note\":\"Successfully assigned "
		"ns/p "
		"to n1\",\"type\":\"Normal\"}\n");
}

static void a_conflict_that_names_the_node_means_that_it_is_bound(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_status(0, 409, TAKEN("n1"));
	expect_reports("bound 1\n");
}

static void a_conflict_that_names_another_node_means_that_it_is_not(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_status(0, 409, TAKEN("n10"));
	expect_reports(
		"failed 1 Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to "
		"node \"n10\"\n");
}

static void another_conflict_is_looked_into(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_status(0, 409, "something new");
	sent(1, "GET", POD);
	expect_reports("");
	fake_answer(1, 200, ON("u", "n1"));
	expect_reports("bound 1\n");
}

static void a_conflict_about_the_uid_or_an_end_is_final(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_status(0, 409, "Precondition failed: UID in precondition: u, UID in object meta: v");
	expect_reports("failed 1 Precondition failed: UID in precondition: u, UID in object meta: v\n");
	bind(2, "p", "n1");
	fake_status(fake.call_n - 1, 409, "pod p is being deleted, cannot be assigned to a host");
	expect_reports("failed 2 pod p is being deleted, cannot be assigned to a host\n");
}

static void writes_to_deleted_objects_and_refused_writes_fail(void **state)
{
	static const uint32_t statuses[] = {400, 401, 403, 404, 413, 422};

	(void)state;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		bind(i + 1, "p", "n1");
		char want[64];

		for (uint32_t call = 0; call < fake.call_n; call++) { /* the binding waits for such a patch */
			if (!fake.calls[call].over && strcmp(fake.calls[call].method, "PATCH") == 0) {
				fake_answer(call, 200, "{}");
			}
		}
		uint32_t post = fake.call_n - 1;

		while (fake.calls[post].over || strcmp(fake.calls[post].path, BINDING) != 0) {
			post--;
		}
		fake_status(post, statuses[i], "no");
		snprintf(want, sizeof(want), "failed %zu no\n", i + 1);
		expect_reports(want);
	}
	assert_int_equal(bt_writer_counts(fake.writer).failed_n, 6);
	assert_int_equal(bt_writer_counts(fake.writer).not_found_n, 1);
}

static void a_refusal_in_protobuf_is_understood(void **state)
{
	static const char status[] = "k8s\0\n\14\n\2v1\22\6Status\22\67\n\0\22\7Failure\32\52"
				     "pod p is already assigned to node \"n1\" now";
	static const char cut[] = "k8s\0\n\14\n\2v1\22\6Status\22\100\n\0";

	(void)state;
	bind(1, "p", "n1");
	fake_end_bytes(0, BT_HTTP_ANSWERED, 409, -1, (struct bt_str){status, sizeof(status) - 1});
	expect_reports("bound 1\n");
	bind(2, "p", "n1");
	fake_end_bytes(fake.call_n - 1, BT_HTTP_ANSWERED, 403, -1, (struct bt_str){cut, sizeof(cut) - 1});
	expect_reports("failed 2 the server answered 403\n");
}

static void an_answer_without_a_message_is_reported_by_its_number(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_answer(0, 403, "<html>no</html>");
	expect_reports("failed 1 the server answered 403\n");
}

static void a_failed_binding_is_reported_as_upstream_does(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_status(0, 422, "no");
	fake_pass(0);
	assert_int_equal(fake.call_n, 3);
	sent(1, "PATCH", POD "/status");
	assert_string_equal(fake.calls[1].body,
		"{\"status\":{\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-01-01T00:"
		"00:00Z\",\"message\":\"running Bind plugin \\\"DefaultBinder\\\": no\","
		"\"observedGeneration\":1,\"reason\":\"SchedulerError\",\"status\":\"False\",\"type\":"
		"\"PodScheduled\"}]}}");
	sent(2, "POST", "/apis/events.k8s.io/v1/namespaces/ns/events");
	assert_non_null(strstr(fake.calls[2].body, "\"reason\":\"FailedScheduling\""));
}

static void a_lost_answer_causes_the_call_to_be_sent_again(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_end(0, BT_HTTP_LOST, 0, -1, "");
	expect_reports("");
	fake_pass(FAKE_S);
	sent(1, "POST", BINDING);
	fake_status(1, 409, TAKEN("n1"));
	expect_reports("bound 1\n");
	assert_int_equal(bt_writer_counts(fake.writer).lost_n, 1);
	assert_int_equal(bt_writer_counts(fake.writer).again_n, 1);
}

static void a_lost_binding_that_did_not_arrive_is_made_by_the_second_one(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_end(0, BT_HTTP_LOST, 0, -1, "");
	fake_pass(FAKE_S);
	fake_answer(1, 201, "{}");
	expect_reports("bound 1\n");
}

static void after_a_lost_answer_a_refusal_alone_does_not_unbind(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_end(0, BT_HTTP_LOST, 0, -1, "");
	fake_pass(FAKE_S);
	fake_status(1, 403, "no");
	expect_reports("");
	sent(2, "GET", POD);
	fake_answer(2, 200, WAITS);
	expect_reports("");
	fake_pass(5 * FAKE_S); /* time for calls in transit */
	sent(3, "GET", POD);
	fake_answer(3, 200, ON("u", "n1"));
	expect_reports("bound 1\n");
}

static void a_pod_that_stays_without_a_node_was_not_bound(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_end(0, BT_HTTP_LOST, 0, -1, "");
	fake_pass(FAKE_S);
	fake_status(1, 403, "no");
	fake_answer(2, 200, WAITS);
	fake_pass(5 * FAKE_S);
	fake_answer(3, 200, WAITS);
	expect_reports("failed 1 no\n");
}

static void a_pod_of_another_uid_is_another_pod(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_status(0, 409, "something new");
	fake_answer(1, 200, ON("v", "n1"));
	expect_reports("failed 1 the pod has gone\n");
}

static void server_errors_are_tried_again_until_the_time_is_over(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	for (uint32_t i = 0; fake.reported.len == 0; i++) {
		assert_true(i < 40);
		fake_status(i, 500, "etcd is slow");
		fake_pass(6 * FAKE_S);
	}
	/* Any of them may still have an effect: the pipeline will check. */
	expect_reports("unknown 1\n");
	assert_true(fake.now_ns >= 20 * FAKE_S);
	assert_int_equal(bt_writer_counts(fake.writer).unsure_n, 1);
	assert_true(fake.call_n > 4);
}

static void unsent_calls_fail_at_the_timeout(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	for (uint32_t i = 0; fake.reported.len == 0; i++) {
		assert_true(i < 40);
		fake_end(i, BT_HTTP_UNSENT, 0, -1, "");
		fake_pass(6 * FAKE_S);
	}
	expect_reports("failed 1 the connection is gone\n");
}

static void a_check_looks_up_a_lost_binding_and_sends_it_again(void **state)
{
	(void)state;
	check(9, 1, "p", "n1");
	sent(0, "GET", POD);
	fake_answer(0, 200, WAITS);
	sent(1, "POST", BINDING);
	fake_answer(1, 201, "{}");
	expect_reports("bound 9\n");
}

static void a_check_is_inconclusive_while_the_binding_is_in_flight(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	check(9, 1, "p", "n1");
	fake_answer(1, 200, WAITS);
	expect_reports("unknown 9\n");
	fake_answer(0, 201, "{}");
	expect_reports("bound 1\n");
}

static void a_check_believes_what_it_sees(void **state)
{
	(void)state;
	check(1, 1, "p", "n1");
	fake_answer(0, 200, ON("u", "n1"));
	expect_reports("bound 1\n");
	check(2, 2, "p", "n1");
	fake_answer(2, 200, ON("u", "n2"));
	expect_reports("failed 2 the pod is on another node\n");
	check(3, 3, "p", "n1");
	fake_status(fake.call_n - 1, 404, "gone");
	expect_reports("failed 3 the pod has gone\n");
	check(4, 4, "p", "n1");
	fake_status(fake.call_n - 1, 403, "no");
	expect_reports("unknown 4\n");
	check(5, 5, "p", "n1");
	fake_answer(fake.call_n - 1, 200, "{\"metadata\":");
	expect_reports("unknown 5\n");
}

static void a_refusal_for_now_makes_all_writes_wait(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_end(0, BT_HTTP_ANSWERED, 429, 3 * FAKE_S, "");
	bind(2, "q", "n1");
	fake_pass(2 * FAKE_S);
	assert_int_equal(fake.call_n, 1);
	fake_pass(2 * FAKE_S);
	assert_int_equal(fake.call_n, 3);
	sent(1, "POST", BINDING); /* the first is first again */
	sent(2, "POST", "/api/v1/namespaces/ns/pods/q/binding");
	fake_answer(1, 201, "");
	expect_reports("bound 1\n");
	assert_int_equal(bt_writer_counts(fake.writer).throttled_n, 1);
}

static void without_write_permission_nothing_is_sent(void **state)
{
	(void)state;
	fake.may_write = false;
	bind(1, "p", "n1");
	assert_int_equal(fake.call_n, 0);
	expect_reports("failed 1 another replica leads\n");
	assert_int_equal(bt_writer_counts(fake.writer).fenced_n, 1);
}

static void unsent_calls_take_no_rate_limiter_token(void **state)
{
	(void)state;
	fake_teardown(state);
	fake_begin((struct bt_writer_options){.qps = 1, .burst = 1});
	fake.may_write = false;
	bind(1, "p", "n1");
	fake.may_write = true;
	bind(2, "p", "n1");
	assert_int_equal(fake.call_n, 1);
}

static void a_former_leader_still_checks_lost_bindings(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_end(0, BT_HTTP_LOST, 0, -1, "");
	fake.may_write = false;
	fake_pass(FAKE_S);
	sent(1, "GET", POD);
	expect_reports("");
	fake_answer(1, 200, ON("u", "n1"));
	expect_reports("bound 1\n");
}

static void at_the_end_each_binding_is_answered_once(void **state)
{
	(void)state;
	fake_finish();
	fake_begin((struct bt_writer_options){.qps = -1, .in_flight = 1});
	bind(1, "p", "n1"); /* sent */
	bind(2, "q", "n1"); /* waits */
	struct bt_bind_request request = fake_bind_request(3, "r", "u", "n1");
	const struct bt_pipeline_binder binder = bt_writer_binder(fake.writer);
	binder.bind(binder.context, NULL, &request); /* not started */
	assert_false(bt_writer_drain(fake.writer, 0));
	fake_stop();
	expect_reports("unknown 1\nfailed 3 the scheduler ends\nfailed 2 the scheduler ends\n");
	bt_buf_fini(&fake.reported);
	fake_begin((struct bt_writer_options){.qps = -1});
	assert_true(bt_writer_drain(fake.writer, 0));
}

/* Binding 1 is lost, 2 is sent, 3 waits: at the end the first is checked, the last is not
 * started. */
static void shutdown_starts_no_binding_and_follows_sent_ones(void **state)
{
	(void)state;
	fake_finish();
	fake_begin((struct bt_writer_options){.qps = -1, .in_flight = 2});
	bind(1, "p", "n1");
	bind(2, "q", "n1");
	bind(3, "r", "n1");
	fake_end(0, BT_HTTP_LOST, 0, -1, "");
	bind(4, "s", "n1");
	bt_writer_shutdown(fake.writer, FAKE_S);
	fake_pass(0);
	expect_reports("failed 3 the scheduler ends\nfailed 4 the scheduler ends\n");
	sent(fake.call_n - 1, "GET", POD);
	fake_answer(fake.call_n - 1, 200, ON("u", "n1"));
	fake_answer(1, 201, "{}");
	expect_reports("bound 1\nbound 2\n");
	for (uint32_t i = 0; i < fake.call_n; i++) { /* events */
		if (!fake.calls[i].over) {
			fake_answer(i, 201, "{}");
		}
	}
	assert_true(bt_writer_drain(fake.writer, 0));
}

static void shutdown_does_not_wait_for_retry_after(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	fake_end(0, BT_HTTP_ANSWERED, 429, 3600 * FAKE_S, "{}");
	bt_writer_shutdown(fake.writer, FAKE_S);
	fake_pass(0);
	expect_reports("failed 1 the scheduler ends\n");
	assert_true(bt_writer_drain(fake.writer, 0));
}

static void no_more_than_so_many_are_out(void **state)
{
	(void)state;
	fake_finish();
	fake_begin((struct bt_writer_options){.qps = -1, .in_flight = 8});
	for (uint64_t i = 1; i <= 20; i++) {
		bind(i, "p", "n1");
	}
	assert_int_equal(fake.call_n, 8);
	assert_int_equal(bt_writer_counts(fake.writer).waiting, 12);
	fake_answer(3, 201, "");
	assert_int_equal(fake.call_n, 9);
	/* A server in trouble gets fewer requests. */
	fake_pass(FAKE_S);
	fake_end(0, BT_HTTP_ANSWERED, 503, -1, "");
	fake_answer(1, 201, "");
	fake_answer(2, 201, "");
	assert_int_equal(fake.call_n, 9);
}

/* Binds pods; each response takes this long. Returns: the maximum number of open requests. */
static uint32_t bind_over(int64_t way_ns, uint32_t busy_from)
{
	uint32_t most = 0, first = 1;

	bind(1, "p", "n1"); /* no other call is open */
	fake_pass(way_ns);
	fake_answer(0, 201, "");
	for (uint64_t i = 2; i <= 700; i++) {
		bind(i, "p", "n1");
	}
	for (int round = 0; round < 12; round++) {
		uint32_t out = fake.call_n - first, end = fake.call_n;

		most = out > most ? out : most;
		/* The more requests a busy server has, the longer it takes. */
		fake_pass(out > busy_from ? way_ns * out / busy_from * 2 : way_ns);
		for (; first < end; first++) {
			fake_answer(first, 201, "");
		}
	}
	return most;
}

static void more_are_out_over_a_long_way_than_to_a_busy_server(void **state)
{
	(void)state;
	assert_true(bind_over(FAKE_S / 20, 100000) > 100);
	fake_teardown(state);
	begin(state);
	assert_in_range(bind_over(FAKE_S / 20, 20), 32, 48);
}

static void qps_and_burst_hold_for_all_but_events(void **state)
{
	(void)state;
	fake_finish();
	fake_begin((struct bt_writer_options){.qps = 10, .burst = 4});
	for (uint64_t i = 1; i <= 20; i++) {
		bind(i, "p", "n1");
	}
	assert_int_equal(fake.call_n, 4);
	fake_pass(FAKE_S);
	assert_in_range(fake.call_n, 13, 14);
}

static struct bt_client_metrics_view waits_of(enum bt_http_method method)
{
	struct bt_client_metrics_view view;

	bt_client_metrics_read(&fake.metrics, BT_CLIENT_METRICS_WAIT, method, &view);
	return view;
}

/* Each write under the limit has a wait, possibly 0. */
static void how_long_qps_keeps_writes_back_is_counted(void **state)
{
	(void)state;
	fake_finish();
	fake_begin((struct bt_writer_options){.qps = 10, .burst = 2});
	for (uint64_t i = 1; i <= 4; i++) {
		bind(i, "p", "n1");
	}
	fake_pass(FAKE_S);
	assert_int_equal(fake.call_n, 4);
	struct bt_client_metrics_view view = waits_of(BT_HTTP_POST);

	assert_int_equal(view.n, 4);
	assert_int_equal(view.counts[0], 2); /* up to 5 ms */
	assert_int_equal(
		view.counts[3], 2); /* 0.1 to 0.25 s: the third after a tenth, the fourth after two */
	assert_true(view.sum > 0.29 && view.sum < 0.32);
	assert_int_equal(waits_of(BT_HTTP_PATCH).n, 0);
}

static void where_there_is_no_limit_no_wait_is_counted(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	assert_int_equal(fake.call_n, 1);
	assert_int_equal(waits_of(BT_HTTP_POST).n, 0);
}

static void retries_are_marked(void **state)
{
	(void)state;
	bind(1, "p", "n1");
	assert_false(fake.calls[0].call.again);
	fake_end(0, BT_HTTP_ANSWERED, 429, FAKE_S, "");
	fake_pass(2 * FAKE_S);
	assert_int_equal(fake.call_n, 2);
	assert_true(fake.calls[1].call.again);
	fake_answer(1, 503, "");
	fake_pass(2 * FAKE_S);
	assert_int_equal(fake.call_n, 3);
	assert_true(fake.calls[2].call.again);
	fake_answer(2, 201, "");
	expect_reports("bound 1\n");
	bind(2, "q", "n1");
	assert_false(fake.calls[fake.call_n - 1].call.again);
}

static void bindings_go_before_evictions_before_events(void **state)
{
	(void)state;
	fake_finish();
	fake_begin((struct bt_writer_options){.qps = -1, .in_flight = 1});
	bind(1, "p", "n1");
	evict(2, "v", "n1", "p");
	bind(3, "q", "n1");
	fake_answer(0, 201, ""); /* its event waits, too */
	sent(1, "POST", "/api/v1/namespaces/ns/pods/q/binding");
	fake_answer(1, 201, "");
	sent(2, "PATCH", "/api/v1/namespaces/ns/pods/v/status");
	fake_answer(2, 200, "");
	sent(3, "DELETE", "/api/v1/namespaces/ns/pods/v");
	fake_answer(3, 200, "");
	assert_int_equal(fake.call_n, 5);
	sent(4, "POST", "/apis/events.k8s.io/v1/namespaces/ns/events");
}

static void a_victim_is_marked_and_deleted_by_its_uid(void **state)
{
	(void)state;
	show("v", "3", "n1");
	evict(5, "v", "n1", "p");
	sent(0, "PATCH", "/api/v1/namespaces/ns/pods/v/status");
	assert_string_equal(fake.calls[0].type, "application/strategic-merge-patch+json");
	assert_string_equal(fake.calls[0].body,
		"{\"status\":{\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-01-01T00:"
		"00:00Z\",\"message\":\"s: preempting to accommodate a higher priority pod\","
		"\"observedGeneration\":1,\"reason\":\"PreemptionByScheduler\",\"status\":\"True\",\"type\":"
		"\"DisruptionTarget\"}]}}");
	fake_answer(0, 200, "{}");
	sent(1, "DELETE", "/api/v1/namespaces/ns/pods/v");
	assert_string_equal(fake.calls[1].body,
		"{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":\"v\"}}\n");
	expect_reports("");
	fake_answer(1, 200, "{}");
	expect_reports("evicted 5\n");
	assert_non_null(strstr(fake.calls[2].body, "\"note\":\"Preempted by pod u on node n1\""));
	assert_non_null(strstr(
		fake.calls[2].body, "\"related\":{\"kind\":\"Pod\",\"namespace\":\"ns\",\"name\":\"p\""));
}

static void a_victims_event_names_the_group(void **state)
{
	const struct bt_object group = {.kind = BT_KIND_POD_GROUP,
		.api_version = BT_STR("scheduling.k8s.io/v1beta1"),
		.pod_group = {.meta = {.name = BT_STR("g"),
				      .namespace_ = BT_STR("ns"),
				      .uid = BT_STR("u-g"),
				      .resource_version = BT_STR("7")}}};
	const struct bt_pipeline_binder binder = bt_writer_binder(fake.writer);
	struct bt_bind_request request = fake_bind_request(5, "v", "v", "n1");

	(void)state;
	show("v", "3", "n1");
	show_object(BT_WATCH_EVENT_APPLY, &group);
	request.other = (struct bt_pod_ref){bt_str("ns"), bt_str("p"), bt_str("u")};
	request.group = (struct bt_pod_ref){bt_str("ns"), bt_str("g"), bt_str("u-g")};
	binder.evict(binder.context, NULL, &request);
	fake_pass(0);
	assert_non_null(strstr(fake.calls[0].body,
		"\"message\":\"s: preempting to accommodate a higher priority podgroup\""));
	fake_answer(0, 200, "{}");
	fake_answer(1, 200, "{}");
	expect_reports("evicted 5\n");
	assert_non_null(strstr(fake.calls[2].body, "\"note\":\"Preempted by podgroup u-g on node cluster\""));
	assert_non_null(strstr(fake.calls[2].body,
		"\"related\":{\"kind\":\"PodGroup\",\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"u-g\","
		"\"apiVersion\":\"scheduling.k8s.io/v1beta1\",\"resourceVersion\":\"7\"}"));
}

static void a_victim_that_is_already_deleted_counts_as_evicted(void **state)
{
	(void)state;
	evict(5, "v", "n1", "p");
	fake_status(0, 404, "gone");
	expect_reports("evicted 5\n");
	evict(6, "v", "n1", "p");
	fake_answer(1, 200, "");
	fake_status(2, 409, "UID in precondition");
	expect_reports("evicted 6\n");
	assert_int_equal(fake.call_n, 3);
}

static void a_victim_that_stays_has_failed_to_go(void **state)
{
	(void)state;
	evict(5, "v", "n1", "p");
	fake_status(0, 403, "no");
	expect_reports("evict failed 5 no\n");
	evict(6, "v", "n1", "p");
	for (uint32_t i = 1; fake.reported.len == 0; i++) {
		assert_true(i < 6);
		fake_end(i, i % 2 ? BT_HTTP_LOST : BT_HTTP_UNSENT, 0, -1, "");
		fake_pass(FAKE_S);
	}
	expect_reports("evict failed 6 the connection is gone\n");
	assert_int_equal(fake.call_n, 5);
	assert_int_equal(bt_writer_counts(fake.writer).evict_failed_n, 2);
}

/* Evicts one of several victims of the preemption that began with eviction 5. */
static void evict_one(uint64_t handle, const char *pod, uint32_t after_n)
{
	struct bt_bind_request request = fake_bind_request(handle, pod, pod, "n1");
	const struct bt_pipeline_binder binder = bt_writer_binder(fake.writer);

	request.other = (struct bt_pod_ref){bt_str("ns"), bt_str("p"), bt_str("u")};
	request.preemption = 5;
	request.after_n = after_n;
	binder.evict(binder.context, NULL, &request);
	fake_pass(0);
}

static void the_last_victim_goes_after_the_others(void **state)
{
	(void)state;
	evict_one(5, "v", 0);
	evict_one(6, "w", 0);
	evict_one(7, "x", 2);
	assert_int_equal(fake.call_n, 2);
	fake_answer(0, 404, "{}");
	assert_int_equal(fake.call_n, 2);
	fake_answer(1, 404, "{}");
	expect_reports("evicted 5\nevicted 6\n");
	sent(2, "PATCH", "/api/v1/namespaces/ns/pods/x/status");
	fake_answer(2, 404, "{}");
	expect_reports("evicted 7\n");
}

static void a_last_victim_evicted_last_does_not_wait(void **state)
{
	(void)state;
	evict_one(5, "v", 0);
	fake_answer(0, 404, "{}");
	evict_one(6, "x", 1);
	sent(1, "PATCH", "/api/v1/namespaces/ns/pods/x/status");
}

static void the_last_victim_stays_when_another_one_does(void **state)
{
	(void)state;
	evict_one(5, "v", 0);
	evict_one(6, "w", 0);
	evict_one(7, "x", 2);
	fake_status(0, 403, "no");
	expect_reports("evict failed 5 no\n");
	fake_answer(1, 404, "{}");
	expect_reports("evicted 6\nevict failed 7 another victim of the preemption could not be deleted\n");
	assert_int_equal(fake.call_n, 2);
}

static void victims_go_at_once_where_preemption_waits_for_them(void **state)
{
	(void)state;
	fake_finish();
	fake_begin((struct bt_writer_options){.qps = -1, .preempts_in_turn = true});
	evict_one(5, "v", 0);
	evict_one(6, "x", 1);
	assert_int_equal(fake.call_n, 2);
}

static void a_victim_that_waits_is_given_up_at_the_end(void **state)
{
	(void)state;
	evict_one(5, "v", 0);
	evict_one(7, "x", 1);
	fake_stop();
	expect_reports("evict failed 5 the scheduler ends\nevict failed 7 the scheduler ends\n");
	bt_buf_fini(&fake.reported);
	fake_begin((struct bt_writer_options){.qps = -1});
}

static bool may_send(void)
{
	const struct bt_pipeline_binder binder = bt_writer_binder(fake.writer);

	return binder.has_room(binder.context);
}

static void no_more_wait_for_their_turn_than_so_many(void **state)
{
	const uint32_t most = 512, few = 256, out = 32;
	uint64_t n = 0;

	(void)state;
	while (may_send()) {
		bind(++n, "p", "n1");
		assert_true(n <= most + out);
	}
	assert_int_equal(n, most + out);
	assert_int_equal(fake.call_n, out);
	/* Sending some makes room for more, once few are left. */
	for (uint32_t i = 0, answered = 0; answered < most - few; i++) {
		assert_false(may_send());
		if (strcmp(fake.calls[i].path, BINDING) == 0) {
			fake_status(i, 404, "no");
			answered++;
		}
	}
	assert_true(may_send());
}

static void a_binding_that_waits_for_something_else_takes_no_room(void **state)
{
	const uint32_t n = 600;

	(void)state;
	fake_finish();
	fake_begin((struct bt_writer_options){.qps = -1, .dry = true});
	for (uint32_t i = 1; i <= n; i++) {
		bind(i, "p", "n1");
	}
	assert_true(may_send());
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, fake_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_binding_is_what_client_go_sends),
		CASE(as_protobuf_it_is_the_same_without_empty_fields),
		CASE(a_bound_pod_gets_its_event),
		CASE(a_conflict_that_names_the_node_means_that_it_is_bound),
		CASE(a_conflict_that_names_another_node_means_that_it_is_not),
		CASE(another_conflict_is_looked_into),
		CASE(a_conflict_about_the_uid_or_an_end_is_final),
		CASE(writes_to_deleted_objects_and_refused_writes_fail),
		CASE(a_refusal_in_protobuf_is_understood),
		CASE(an_answer_without_a_message_is_reported_by_its_number),
		CASE(a_failed_binding_is_reported_as_upstream_does),
		CASE(a_lost_answer_causes_the_call_to_be_sent_again),
		CASE(a_lost_binding_that_did_not_arrive_is_made_by_the_second_one),
		CASE(after_a_lost_answer_a_refusal_alone_does_not_unbind),
		CASE(a_pod_that_stays_without_a_node_was_not_bound),
		CASE(a_pod_of_another_uid_is_another_pod),
		CASE(server_errors_are_tried_again_until_the_time_is_over),
		CASE(unsent_calls_fail_at_the_timeout),
		CASE(a_check_looks_up_a_lost_binding_and_sends_it_again),
		CASE(a_check_is_inconclusive_while_the_binding_is_in_flight),
		CASE(a_check_believes_what_it_sees),
		CASE(a_refusal_for_now_makes_all_writes_wait),
		CASE(without_write_permission_nothing_is_sent),
		CASE(unsent_calls_take_no_rate_limiter_token),
		CASE(a_former_leader_still_checks_lost_bindings),
		CASE(at_the_end_each_binding_is_answered_once),
		CASE(shutdown_starts_no_binding_and_follows_sent_ones),
		CASE(shutdown_does_not_wait_for_retry_after),
		CASE(no_more_than_so_many_are_out),
		CASE(more_are_out_over_a_long_way_than_to_a_busy_server),
		CASE(qps_and_burst_hold_for_all_but_events),
		CASE(how_long_qps_keeps_writes_back_is_counted),
		CASE(where_there_is_no_limit_no_wait_is_counted),
		CASE(retries_are_marked),
		CASE(bindings_go_before_evictions_before_events),
		CASE(a_victim_is_marked_and_deleted_by_its_uid),
		CASE(a_victims_event_names_the_group),
		CASE(a_victim_that_is_already_deleted_counts_as_evicted),
		CASE(a_victim_that_stays_has_failed_to_go),
		CASE(the_last_victim_goes_after_the_others),
		CASE(a_last_victim_evicted_last_does_not_wait),
		CASE(the_last_victim_stays_when_another_one_does),
		CASE(victims_go_at_once_where_preemption_waits_for_them),
		CASE(a_victim_that_waits_is_given_up_at_the_end),
		CASE(no_more_wait_for_their_turn_than_so_many),
		CASE(a_binding_that_waits_for_something_else_takes_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
