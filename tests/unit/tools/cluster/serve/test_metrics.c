/* SPDX-License-Identifier: Apache-2.0
 * /metrics through a strict parser: it reports a pipeline's work under kube-scheduler's names.
 */
#include "lab.h"

#include "engine/base/mem.h"
#include "prometheus.h"
#include "tools/cluster/serve/metrics.h"

/* A pipeline whose attempts are counted. */
struct serve_test {
	struct lab lab;
	struct bt_attempt_metrics *attempts;
	struct bt_serve_sources sources;
	struct bt_buf text;
};

static void on_cycle_ended(void *context, const struct bt_decision *decision,
	const struct bt_queue_info *info, uint32_t nominated, struct bt_str message)
{
	struct serve_test *test = context;

	(void)info;
	(void)nominated;
	(void)message;
	bt_attempt_metrics_cycle_ended(test->attempts, bt_pipeline_engine(test->lab.pipeline), decision);
}

static void bound(void *context, uint32_t pod_ix, bool yes, const struct bt_queue_info *info, int64_t took_ns)
{
	struct serve_test *test = context;

	bt_attempt_metrics_bound(test->attempts, bt_pipeline_engine(test->lab.pipeline), pod_ix, yes, info,
		took_ns, test->lab.now_ns);
}

static int setup(void **state)
{
	struct serve_test *test = bt_mem_zalloc(1, sizeof(*test));
	struct bt_pipeline_options options = lab_options(&test->lab);

	test->lab.now_ns = LAB_SECOND;
	options.sink =
		(struct bt_pipeline_sink){.cycle_ended = on_cycle_ended, .bound = bound, .context = test};
	options.stages = true;
	lab_begin(&test->lab, &options);
	test->attempts = bt_attempt_metrics_create(&test->lab.config);
	test->sources = (struct bt_serve_sources){.version = "1.2.3",
		.config = &test->lab.config,
		.pipeline = test->lab.pipeline,
		.attempts = test->attempts};
	*state = test;
	return 0;
}

static int teardown(void **state)
{
	struct serve_test *test = *state;

	lab_end(&test->lab);
	bt_attempt_metrics_destroy(test->attempts);
	bt_buf_fini(&test->text);
	bt_mem_free(test);
	return 0;
}

static struct prometheus *metrics_of(struct serve_test *test)
{
	bt_buf_clear(&test->text);
	bt_metrics_write(&test->sources, NULL, &test->text);
	return prometheus_parse(&test->text);
}

#define PROFILE "profile=\"default-scheduler\""

static void a_bound_pod_is_counted_when_its_binding_has_ended(void **state)
{
	struct serve_test *test = *state;

	lab_node(&test->lab, "n1");
	lab_pod(&test->lab, "p", ", 'uid': 'u1'");
	lab_settle(&test->lab);
	struct prometheus *p = metrics_of(test);

	assert_true(prometheus_value(
			    p, "scheduler_schedule_attempts_total{" PROFILE ",result=\"scheduled\"}") == 0);
	assert_true(prometheus_value(p, "scheduler_cache_size{type=\"assumed_pods\"}") == 1);
	assert_true(prometheus_value(p, "berth_bindings_in_flight") == 1);
	free(p);
	test->lab.now_ns += LAB_SECOND / 4;
	assert_int_equal(bt_pipeline_bound(test->lab.pipeline, test->lab.bind_requests[0].handle), BT_OK);
	lab_settle(&test->lab);
	p = metrics_of(test);
	assert_true(prometheus_value(
			    p, "scheduler_schedule_attempts_total{" PROFILE ",result=\"scheduled\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_cache_size{type=\"assumed_pods\"}") == 0);
	assert_true(prometheus_value(p, "scheduler_cache_size{type=\"pods\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_cache_size{type=\"nodes\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_pod_scheduling_attempts_sum") == 1);
	assert_true(prometheus_value(p, "scheduler_pod_scheduling_attempts_bucket{le=\"1\"}") == 1);
	assert_true(prometheus_value(
			    p, "scheduler_pod_scheduling_sli_duration_seconds_sum{attempts=\"1\"}") == 0.25);
	assert_true(
		prometheus_value(p,
			"scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts=\"1\",le=\"0.16\"}") ==
		0);
	assert_true(
		prometheus_value(p,
			"scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts=\"1\",le=\"0.32\"}") ==
		1);
	assert_true(prometheus_value(p, "scheduler_scheduling_attempt_duration_seconds_count{" PROFILE
					",result=\"scheduled\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_scheduling_algorithm_duration_seconds_count") == 1);
	assert_true(prometheus_value(p, "berth_pipeline_total{what=\"bound\"}") == 1);
	free(p);
}

static void a_failed_binding_is_an_error(void **state)
{
	struct serve_test *test = *state;

	lab_node(&test->lab, "n1");
	lab_pod(&test->lab, "p", ", 'uid': 'u1'");
	lab_settle(&test->lab);
	assert_int_equal(
		bt_pipeline_bind_failed(test->lab.pipeline, test->lab.bind_requests[0].handle, bt_str("no")),
		BT_OK);
	lab_settle(&test->lab);
	struct prometheus *p = metrics_of(test);

	assert_true(
		prometheus_value(p, "scheduler_schedule_attempts_total{" PROFILE ",result=\"error\"}") == 1);
	assert_true(prometheus_value(
			    p, "scheduler_schedule_attempts_total{" PROFILE ",result=\"scheduled\"}") == 0);
	assert_true(prometheus_value(p, "scheduler_pending_pods{queue=\"backoff\"}") == 1);
	free(p);
}

static void a_refused_pod_counts_for_the_plugins_that_refuse_it(void **state)
{
	struct serve_test *test = *state;

	lab_node(&test->lab, "n1");
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'nodeSelector': {'a': 'b'}");
	lab_settle(&test->lab);
	struct prometheus *p = metrics_of(test);

	assert_true(prometheus_value(p,
			    "scheduler_schedule_attempts_total{" PROFILE ",result=\"unschedulable\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_pending_pods{queue=\"unschedulable\"}") == 1);
	assert_true(prometheus_value(
			    p, "scheduler_unschedulable_pods{plugin=\"NodeAffinity\"," PROFILE "}") == 1);
	assert_true(prometheus_value(p, "scheduler_preemption_attempts_total") == 1);
	assert_true(prometheus_value(p, "scheduler_preemption_victims_count") == 0);
	free(p);
}

static void a_gated_pod_is_pending_and_was_never_attempted(void **state)
{
	struct serve_test *test = *state;

	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'schedulingGates': [{'name': 'g'}]");
	lab_settle(&test->lab);
	struct prometheus *p = metrics_of(test);

	assert_true(prometheus_value(p, "scheduler_pending_pods{queue=\"gated\"}") == 1);
	assert_true(prometheus_value(
			    p, "scheduler_unschedulable_pods{plugin=\"SchedulingGates\"," PROFILE "}") == 1);
	assert_true(prometheus_value(p,
			    "scheduler_schedule_attempts_total{" PROFILE ",result=\"unschedulable\"}") == 0);
	free(p);
}

static void attempts_that_fail_have_durations_too(void **state)
{
	struct serve_test *test = *state;

	lab_node(&test->lab, "n1");
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'nodeSelector': {'a': 'b'}");
	lab_settle(&test->lab);
	lab_pod(&test->lab, "q", ", 'uid': 'u1'");
	lab_settle(&test->lab);
	assert_int_equal(
		bt_pipeline_bind_failed(test->lab.pipeline, test->lab.bind_requests[0].handle, bt_str("no")),
		BT_OK);
	lab_settle(&test->lab);
	struct prometheus *p = metrics_of(test);

	assert_true(prometheus_value(p, "scheduler_scheduling_attempt_duration_seconds_count{" PROFILE
					",result=\"unschedulable\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_scheduling_attempt_duration_seconds_count{" PROFILE
					",result=\"error\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_scheduling_attempt_duration_seconds_sum{" PROFILE
					",result=\"unschedulable\"}") > 0);
	free(p);
}

static void the_queues_ways_are_counted_with_upstreams_labels(void **state)
{
	struct serve_test *test = *state;

	lab_node(&test->lab, "n1");
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'nodeSelector': {'a': 'b'}");
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "g", "", ", 'schedulingGates': [{'name': 'g'}]");
	lab_settle(&test->lab);
	lab_node_event(&test->lab, BT_WATCH_EVENT_APPLY, "n2", ", 'labels': {'a': 'b'}");
	lab_settle(&test->lab);
	struct prometheus *p = metrics_of(test);

	assert_true(prometheus_value(p, "scheduler_queue_incoming_pods_total{event=\"UnscheduledPodAdd\","
					"queue=\"active\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_queue_incoming_pods_total{event=\"UnscheduledPodAdd\","
					"queue=\"unschedulable\"}") == 1);
	assert_true(
		prometheus_value(p, "scheduler_queue_incoming_pods_total{event=\"ScheduleAttemptFailure\","
				    "queue=\"unschedulable\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_queue_incoming_pods_total{event=\"NodeAdd\","
					"queue=\"backoff\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_inflight_events{event=\"PodPopped\"}") == 0);
	assert_true(prometheus_value(p, "scheduler_goroutines{operation=\"binding\"}") == 1);
	free(p);
}

/* The first hint is measured, and one in sixteen after it. */
static void durations_have_upstreams_labels(void **state)
{
	struct serve_test *test = *state;

	lab_node(&test->lab, "n1");
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'nodeSelector': {'a': 'b'}");
	lab_settle(&test->lab);
	lab_node_event(&test->lab, BT_WATCH_EVENT_APPLY, "n2", ", 'labels': {'a': 'b'}");
	lab_settle(&test->lab);
	lab_wait(&test->lab, 2 * LAB_SECOND);
	assert_int_equal(bt_pipeline_bound(test->lab.pipeline, test->lab.bind_requests[0].handle), BT_OK);
	lab_settle(&test->lab);
	lab_pod_event(
		&test->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'nodeName': 'n2', 'nodeSelector': {'a': 'b'}");
	lab_pod_event(&test->lab, BT_WATCH_EVENT_DELETE, "p", "", "");
	lab_settle(&test->lab);
	struct prometheus *p = metrics_of(test);

	assert_true(prometheus_value(p, "scheduler_queueing_hint_execution_duration_seconds_count{event="
					"\"NodeAdd\",hint=\"Queue\",plugin=\"NodeAffinity\"}") == 1);
	assert_true(prometheus_value(
			    p, "scheduler_event_handling_duration_seconds_count{event=\"NodeAdd\"}") == 2);
	assert_true(prometheus_value(p, "scheduler_event_handling_duration_seconds_count{event="
					"\"UnscheduledPodAdd\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_event_handling_duration_seconds_count{event="
					"\"AssignedPodDelete\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_framework_extension_point_duration_seconds_count{"
					"extension_point=\"Filter\"," PROFILE ",status=\"Success\"}") == 2);
	assert_true(prometheus_value(p, "scheduler_framework_extension_point_duration_seconds_count{"
					"extension_point=\"Bind\"," PROFILE ",status=\"Success\"}") == 1);
	assert_true(prometheus_value(p,
			    "scheduler_framework_extension_point_duration_seconds_bucket{"
			    "extension_point=\"Bind\"," PROFILE ",status=\"Success\",le=\"+Inf\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_plugin_execution_duration_seconds_count{extension_point="
					"\"Bind\",plugin=\"DefaultBinder\",status=\"Success\"}") == 1);
	free(p);
}

#define EVALUATION(plugin, point)                                                                            \
	"scheduler_plugin_evaluation_total{extension_point=\"" point "\",plugin=\"" plugin "\"," PROFILE "}"
#define EVALUATED(plugin, point) prometheus_value(p, EVALUATION(plugin, point))

/* NodeAffinity refuses p, and no later plugin runs; q fits both nodes. */
static void plugins_are_counted_once_a_cycle_or_once_a_node_unless_they_skip(void **state)
{
	struct serve_test *test = *state;

	lab_node(&test->lab, "n1");
	lab_node(&test->lab, "n2");
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'nodeSelector': {'a': 'b'}");
	lab_settle(&test->lab);
	struct prometheus *p = metrics_of(test);

	assert_true(EVALUATED("NodeAffinity", "PreFilter") == 1);
	assert_true(EVALUATED("NodeResourcesFit", "PreFilter") == 1);
	assert_true(EVALUATED("NodeUnschedulable", "Filter") == 2);
	assert_true(EVALUATED("NodeAffinity", "Filter") == 2);
	assert_null(prometheus_find(p, EVALUATION("NodeResourcesFit", "Filter")));
	assert_null(prometheus_find(p, EVALUATION("PodTopologySpread", "PreFilter")));
	assert_null(prometheus_find(p, EVALUATION("NodeResourcesFit", "PreScore")));
	free(p);
	lab_pod(&test->lab, "q", "");
	lab_settle(&test->lab);
	p = metrics_of(test);
	assert_true(EVALUATED("NodeAffinity", "PreFilter") == 1);
	assert_true(EVALUATED("NodeAffinity", "Filter") == 2);
	assert_true(EVALUATED("NodeResourcesFit", "Filter") == 2);
	assert_true(EVALUATED("NodeResourcesFit", "PreScore") == 1);
	assert_true(EVALUATED("NodeResourcesFit", "Score") == 2);
	assert_null(prometheus_find(p, EVALUATION("NodeAffinity", "Score")));
	assert_true(EVALUATED("ImageLocality", "Score") == 2);
	free(p);
}

/* Names and types that dashboards use. Source: pkg/scheduler/metrics, v1.36.3. */
static void types_are_upstreams(void **state)
{
	char versions[128];
	static const char *const names[][2] = {{"scheduler_schedule_attempts_total", "counter"},
		{"scheduler_scheduling_attempt_duration_seconds", "histogram"},
		{"scheduler_scheduling_algorithm_duration_seconds", "histogram"},
		{"scheduler_pod_scheduling_sli_duration_seconds", "histogram"},
		{"scheduler_pod_scheduling_attempts", "histogram"},
		{"scheduler_preemption_victims", "histogram"},
		{"scheduler_preemption_attempts_total", "counter"}, {"scheduler_pending_pods", "gauge"},
		{"scheduler_cache_size", "gauge"}, {"scheduler_unschedulable_pods", "gauge"},
		{"scheduler_pod_scheduled_after_flush_total", "counter"}, {"kubernetes_build_info", "gauge"},
		{"kubernetes_feature_enabled", "gauge"}, {"process_cpu_seconds_total", "counter"},
		{"process_resident_memory_bytes", "gauge"}, {"process_start_time_seconds", "gauge"}};
	struct prometheus *p = metrics_of(*state);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_string_equal(prometheus_type(p, names[i][0]), names[i][1]);
	}
	assert_true(prometheus_value(p, "process_resident_memory_bytes") > 1e6);
	assert_true(prometheus_value(p, "process_start_time_seconds") > 1.7e9);
	assert_true(prometheus_value(p, "process_open_fds") >= 3);
	assert_true(prometheus_value(
			    p, "kubernetes_feature_enabled{name=\"DRAExtendedResource\",stage=\"\"}") == 1);
	assert_true(prometheus_value(p, "berth_build_info{version=\"1.2.3\"}") == 1);
	snprintf(versions, sizeof(versions),
		"version_info{binary=\"%s\",component=\"kube\",emulation=\"%s\",min_compat=\"%s\"}",
		bt_release_default()->number, bt_release_default()->name, bt_release_default()->before);
	assert_true(prometheus_value(p, versions) == 1);
	assert_true(prometheus_value(p, "process_network_receive_bytes_total") >= 0);
	assert_true(prometheus_value(p, "process_virtual_memory_max_bytes") > 0);
	free(p);
}

static void a_disabled_metric_is_left_out_whole(void **state)
{
	struct serve_test *test = *state;
	struct bt_str names[] = {BT_STR("scheduler_pending_pods"), BT_STR("berth_stage_duration_seconds")};
	const struct bt_metric_settings settings = {.disabled = {names, 2, true}};

	bt_metrics_write(&test->sources, &settings, &test->text);
	struct prometheus *p = prometheus_parse(&test->text);

	assert_null(strstr(test->text.ptr, "scheduler_pending_pods"));
	assert_null(strstr(test->text.ptr, "berth_stage_duration_seconds"));
	assert_string_equal(prometheus_type(p, "scheduler_cache_size"), "gauge");
	free(p);
}

static uint32_t two_kinds(const struct bt_watch *watch, struct bt_watch_state *out, uint32_t cap)
{
	(void)watch;
	if (cap >= 2) {
		out[0] = (struct bt_watch_state){.resource = "pods",
			.synced = true,
			.object_n = 7,
			.event_n = 9,
			.replaced_n = 3,
			.in_part_n = 2,
			.skipped_n = 5};
		out[1] = (struct bt_watch_state){
			.resource = "nodes", .error = "odd \"words\"\n", .in_part_n = 1};
	}
	return 2;
}

static struct bt_writer_counts some_writes(const struct bt_writer *writer)
{
	(void)writer;
	return (struct bt_writer_counts){.bind_n = 5, .bound_n = 4, .in_flight = 1};
}

static bool leads(void *context)
{
	(void)context;
	return true;
}

static struct bt_http_counts some_calls(const struct bt_http *http)
{
	(void)http;
	return (struct bt_http_counts){.call_n = 11};
}

static uint64_t slow_n(void *context)
{
	(void)context;
	return 3;
}

static void more(void *context, struct bt_exposition *exposition)
{
	(void)context;
	bt_expose(exposition, "berth_more", BT_METRIC_GAUGE, "back\\slash and\nline");
	bt_expose_label(exposition, "odd", bt_str("a\"b\\c\nd"));
	bt_expose_real(exposition, 0.5);
}

static void metrics_of_other_components_are_included(void **state)
{
	struct serve_test *test = *state;
	char part;

	test->sources.watch = (struct bt_watch *)&part;
	test->sources.watch_states = two_kinds;
	test->sources.writer = (struct bt_writer *)&part;
	test->sources.writer_counts = some_writes;
	test->sources.leads = leads;
	test->sources.lease_slow_n = slow_n;
	test->sources.clients[0].name = "watch";
	test->sources.http_counts = some_calls;
	test->sources.more_metrics = more;
	struct prometheus *p = metrics_of(test);

	assert_true(prometheus_value(p, "berth_watch_objects{resource=\"pods\"}") == 7);
	assert_true(prometheus_value(p, "berth_watch_synced{resource=\"nodes\"}") == 0);
	assert_true(prometheus_value(p, "berth_writes_total{what=\"bound\"}") == 4);
	assert_true(prometheus_value(p, "leader_election_master_status{name=\"kube-scheduler\"}") == 1);
	assert_true(prometheus_value(p, "leader_election_slowpath_total{name=\"kube-scheduler\"}") == 3);
	assert_true(prometheus_value(p, "berth_http_calls_total{client=\"watch\"}") == 11);
	assert_true(prometheus_value(p, "berth_more{odd=\"a\\\"b\\\\c\\nd\"}") == 0.5);
	free(p);
}

static void objects_that_cannot_be_read_are_counted_by_resource_and_extent(void **state)
{
	const struct {
		const char *key;
		double value;
	} samples[] = {{"berth_watch_unread_objects{resource=\"pods\",read=\"replaced\"}", 3},
		{"berth_watch_unread_objects{resource=\"pods\",read=\"part\"}", 2},
		{"berth_watch_unread_objects{resource=\"nodes\",read=\"replaced\"}", 0},
		{"berth_watch_unread_objects{resource=\"nodes\",read=\"part\"}", 1},
		{"berth_watch_nameless_objects_total{resource=\"pods\"}", 5},
		{"berth_watch_nameless_objects_total{resource=\"nodes\"}", 0}};
	struct serve_test *test = *state;
	char part;

	test->sources.watch = (struct bt_watch *)&part;
	test->sources.watch_states = two_kinds;
	struct prometheus *p = metrics_of(test);

	assert_string_equal(prometheus_type(p, "berth_watch_unread_objects"), "gauge");
	assert_string_equal(prometheus_type(p, "berth_watch_nameless_objects_total"), "counter");
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		assert_true(prometheus_value(p, samples[i].key) == samples[i].value);
	}
	free(p);
}

/* Two clients of one server share a series. */
static void calls_are_counted_as_client_go_counts_them(void **state)
{
	struct serve_test *test = *state;
	struct bt_client_metrics *metrics = bt_mem_zalloc(2, sizeof(*metrics));

	bt_client_metrics_note(&metrics[0], &(struct bt_client_metrics_call){.method = BT_HTTP_POST,
						    .status = 201,
						    .took_ns = LAB_SECOND / 10,
						    .sent_bytes = 100,
						    .received_bytes = 1000});
	bt_client_metrics_note(
		&metrics[1], &(struct bt_client_metrics_call){.method = BT_HTTP_POST, .took_ns = LAB_SECOND});
	for (int i = 0; i < 2; i++) {
		test->sources.servers[i].host = "10.0.0.1:6443";
		test->sources.servers[i].metrics = &metrics[i];
	}
	struct prometheus *p = metrics_of(test);

	assert_true(prometheus_value(p, "rest_client_requests_total{code=\"201\",host=\"10.0.0.1:6443\","
					"method=\"POST\"}") == 1);
	assert_true(prometheus_value(p, "rest_client_requests_total{code=\"<error>\",host=\"10.0.0.1:6443\","
					"method=\"POST\"}") == 1);
	assert_true(prometheus_value(p, "rest_client_request_duration_seconds_bucket{host=\"10.0.0.1:6443\","
					"verb=\"POST\",le=\"0.1\"}") == 1);
	assert_true(prometheus_value(p, "rest_client_request_duration_seconds_sum{host=\"10.0.0.1:6443\","
					"verb=\"POST\"}") == 1.1);
	assert_true(prometheus_value(p, "rest_client_response_size_bytes_count{host=\"10.0.0.1:6443\","
					"verb=\"POST\"}") == 1);
	assert_true(prometheus_value(p, "rest_client_request_size_bytes_bucket{host=\"10.0.0.1:6443\","
					"verb=\"POST\",le=\"256\"}") == 2);
	free(p);
	bt_mem_free(metrics);
}

/* Two clients of one server: waits and retries. */
static void waits_and_repetitions_of_calls_are_shown(void **state)
{
	struct serve_test *test = *state;
	struct bt_client_metrics *metrics = bt_mem_zalloc(2, sizeof(*metrics));

	bt_client_metrics_waited(&metrics[0], BT_HTTP_POST, LAB_SECOND / 20);
	bt_client_metrics_waited(&metrics[1], BT_HTTP_POST, 2 * LAB_SECOND);
	bt_client_metrics_note(&metrics[1],
		&(struct bt_client_metrics_call){.method = BT_HTTP_PATCH, .status = 200, .again = true});
	bt_client_metrics_note(
		&metrics[1], &(struct bt_client_metrics_call){.method = BT_HTTP_GET, .status = 200});
	for (int i = 0; i < 2; i++) {
		test->sources.servers[i].host = "h";
		test->sources.servers[i].metrics = &metrics[i];
	}
	struct prometheus *p = metrics_of(test);

	assert_true(prometheus_value(p, "rest_client_rate_limiter_duration_seconds_bucket{host=\"h\",verb="
					"\"POST\",le=\"0.1\"}") == 1);
	assert_true(prometheus_value(p, "rest_client_rate_limiter_duration_seconds_sum{host=\"h\",verb="
					"\"POST\"}") == 2.05);
	assert_true(prometheus_value(p, "rest_client_request_retries_total{code=\"200\",host=\"h\",verb="
					"\"PATCH\"}") == 1);
	assert_null(prometheus_find(
		p, "rest_client_request_retries_total{code=\"200\",host=\"h\",verb=\"GET\"}"));
	free(p);
	bt_mem_free(metrics);
}

static void count_access(const struct bt_client_config *access, struct bt_client_config_counts *counts)
{
	(void)access;
	counts->exits[0] += 2;
	counts->exits[7] += 1;
	counts->killed_n += 1;
	counts->missing_n += 1;
	counts->failed_n += 1;
	counts->ages[4] += 1;
	counts->age_sum_s += 20000;
	counts->reloads[BT_RELOAD_UNREAD] += 1;
	counts->reloads[BT_RELOAD_UPDATED] += 1;
}

static void credential_plugin_metrics_match_client_go(void **state)
{
	struct serve_test *test = *state;
	struct bt_client_metrics *metrics = bt_mem_zalloc(1, sizeof(*metrics));

	for (int i = 0; i < 2; i++) {
		test->sources.servers[i].host = "h";
		test->sources.servers[i].metrics = metrics;
	}
	test->sources.access_count = count_access;
	struct prometheus *p = metrics_of(test);

#define RUNS(status, code) "rest_client_exec_plugin_call_total{call_status=\"" status "\",code=\"" code "\"}"
	assert_true(prometheus_value(p, RUNS("no_error", "0")) == 4);
	assert_true(prometheus_value(p, RUNS("plugin_execution_error", "7")) == 2);
	assert_true(prometheus_value(p, RUNS("plugin_execution_error", "-1")) == 2);
	assert_true(prometheus_value(p, RUNS("plugin_not_found_error", "1")) == 2);
	assert_true(prometheus_value(p, RUNS("client_internal_error", "1")) == 2);
	assert_true(prometheus_value(
			    p, "rest_client_exec_plugin_certificate_rotation_age_bucket{le=\"86400\"}") == 2);
	assert_true(prometheus_value(
			    p, "rest_client_exec_plugin_certificate_rotation_age_bucket{le=\"14400\"}") == 0);
	assert_true(prometheus_value(p, "rest_client_exec_plugin_certificate_rotation_age_sum") == 40000);
	assert_true(isinf(prometheus_value(p, "rest_client_exec_plugin_ttl_seconds")));
	assert_true(prometheus_value(p, "rest_client_transport_ca_reload_total{reason=\"read_error\","
					"result=\"failure\"}") == 2);
	assert_true(prometheus_value(p, "rest_client_transport_ca_reload_total{reason=\"updated\","
					"result=\"success\"}") == 2);
	free(p);
	bt_mem_free(metrics);
}

/* The last requested eviction. */
static uint64_t last_eviction(const struct lab *lab)
{
	for (uint32_t i = lab->request_n; i-- > 0;) {
		if (lab->bind_requests[i].verb == 'e') {
			return lab->bind_requests[i].handle;
		}
	}
	fail_msg("nobody is to be evicted");
	return 0;
}

/* A preemption ends when its victim is evicted, or the eviction fails. */
static void preemptions_are_counted_when_their_evictions_have_ended(void **state)
{
#define PREEMPTIONS(what, result) "scheduler_preemption_goroutines_" what "{result=\"" result "\"}"
	struct serve_test *test = *state;
	struct lab *lab = &test->lab;

	lab_node(lab, "n1"); /* two pods fill it */
	lab_pod_event(
		lab, BT_WATCH_EVENT_APPLY, "low1", ", 'uid': 'u1'", ", 'priority': 1, 'nodeName': 'n1'");
	lab_pod_event(
		lab, BT_WATCH_EVENT_APPLY, "low2", ", 'uid': 'u2'", ", 'priority': 1, 'nodeName': 'n1'");
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "high1", ", 'uid': 'u3'", ", 'priority': 9");
	lab_settle(lab);
	struct prometheus *p = metrics_of(test);

	assert_null(prometheus_find(p, PREEMPTIONS("execution_total", "success")));
	free(p);
	assert_int_equal(bt_pipeline_evicted(lab->pipeline, last_eviction(lab)), BT_OK);
	lab_settle(lab);
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "high2", ", 'uid': 'u4'", ", 'priority': 9");
	lab_wait(lab, 20 * LAB_SECOND);
	assert_int_equal(bt_pipeline_evict_failed(lab->pipeline, last_eviction(lab), bt_str("no")), BT_OK);
	lab_settle(lab);
	p = metrics_of(test);
	assert_true(prometheus_value(p, PREEMPTIONS("execution_total", "success")) == 1);
	assert_true(prometheus_value(p, PREEMPTIONS("execution_total", "error")) == 1);
	assert_true(prometheus_value(p, PREEMPTIONS("duration_seconds_count", "success")) == 1);
	assert_true(prometheus_value(p, PREEMPTIONS("duration_seconds_sum", "error")) > 0);
	assert_true(prometheus_value(p, "scheduler_preemption_goroutines_duration_seconds_bucket{result="
					"\"success\",le=\"5242.88\"}") == 1);
	free(p);
}

#define CLAIM_CREATES "dynamic_resource_allocation_resourceclaim_creates_total"
#define OF_PODS	      "admin_access=\"false\",owner_api_group=\"\",owner_api_kind=\"Pod\""

/* Source: registerMetrics: metrics of a gate exist only with that gate. */
static void metrics_of_gates_are_there_with_them_alone(void **state)
{
	struct serve_test *test = *state;
	char part;

	test->sources.writer = (struct bt_writer *)&part;
	test->sources.writer_counts = some_writes;
	struct prometheus *p = metrics_of(test);

	assert_string_equal(prometheus_type(p, "scheduler_preemption_goroutines_execution_total"), "counter");
	assert_string_equal(prometheus_type(p, CLAIM_CREATES), "counter");
	assert_string_equal(prometheus_type(p, "scheduler_podgroup_schedule_attempts_total"), "");
	free(p);
	test->lab.config.gates.on[BT_GATE_SCHEDULER_ASYNC_PREEMPTION] = false;
	test->lab.config.gates.on[BT_GATE_DRA_EXTENDED_RESOURCE] = false;
	test->lab.config.gates.on[BT_GATE_GENERIC_WORKLOAD] = true;
	p = metrics_of(test);
	assert_string_equal(prometheus_type(p, "scheduler_preemption_goroutines_execution_total"), "");
	assert_string_equal(prometheus_type(p, CLAIM_CREATES), "");
	assert_string_equal(prometheus_type(p, "scheduler_podgroup_schedule_attempts_total"), "counter");
	assert_string_equal(
		prometheus_type(p, "scheduler_podgroup_scheduling_attempt_duration_seconds"), "histogram");
	assert_true(
		prometheus_value(p, "scheduler_podgroup_scheduling_algorithm_duration_seconds_count") == 0);
	free(p);
}

static void pod_groups_are_counted_by_result(void **state)
{
	struct serve_test *test = *state;
	/* The measurements of a group's cycle (test_group_cycle). */
	struct bt_cycle_metrics *metrics = NULL;
	const struct bt_cycle_metrics *shared = bt_engine_metrics(bt_pipeline_engine(test->lab.pipeline));
	const uint16_t waits[4] = {BT_CYCLE_METRIC_GROUP_WAITS, 0}, none[4] = {0};

	memcpy(&metrics, &shared, sizeof(metrics));
	bt_cycle_metrics_note(metrics, BT_CYCLE_METRIC_GROUP, waits, 3000000);
	bt_cycle_metrics_note(metrics, BT_CYCLE_METRIC_GROUP, waits, 1000000);
	bt_cycle_metrics_note(metrics, BT_CYCLE_METRIC_GROUP_DECIDING, none, 500000);
	test->lab.config.gates.on[BT_GATE_GENERIC_WORKLOAD] = true;
	struct prometheus *p = metrics_of(test);

#define WAITING "{" PROFILE ",result=\"waiting_on_preemption\""
	assert_true(prometheus_value(p, "scheduler_podgroup_schedule_attempts_total" WAITING "}") == 2);
	assert_true(
		prometheus_value(p, "scheduler_podgroup_scheduling_attempt_duration_seconds_bucket" WAITING
				    ",le=\"0.001\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_podgroup_scheduling_attempt_duration_seconds_sum" WAITING
					"}") == 0.004);
	assert_true(
		prometheus_value(p, "scheduler_podgroup_scheduling_algorithm_duration_seconds_count") == 1);
	free(p);
}

static void placements_of_groups_are_counted_by_whether_the_group_fits(void **state)
{
	struct serve_test *test = *state;
	struct bt_cycle_metrics *metrics = NULL;
	const struct bt_cycle_metrics *shared = bt_engine_metrics(bt_pipeline_engine(test->lab.pipeline));
	const uint16_t fits[4] = {1, 0}, does_not[4] = {0, 0};

	memcpy(&metrics, &shared, sizeof(metrics));
	for (int i = 0; i < 3; i++) {
		bt_cycle_metrics_note(metrics, BT_CYCLE_METRIC_PLACEMENTS, does_not, 0);
		bt_cycle_metrics_note(metrics, BT_CYCLE_METRIC_PLACEMENT, i == 1 ? fits : does_not, 1000000);
	}
	struct prometheus *p = metrics_of(test);
	assert_string_equal(prometheus_type(p, "scheduler_generated_placements_total"), "");
	free(p);

	test->lab.config.gates.on[BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING] = true;
	p = metrics_of(test);
	assert_true(prometheus_value(p, "scheduler_generated_placements_total{" PROFILE "}") == 3);
	assert_true(prometheus_value(p,
			    "scheduler_placement_evaluations_total{" PROFILE ",result=\"feasible\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_placement_evaluation_duration_seconds_sum{" PROFILE
					",result=\"infeasible\"}") == 0.002);
	free(p);
}

static void preemption_by_pod_groups_is_counted_since_1_37(void **state)
{
	struct serve_test *test = *state;
	struct bt_cycle_metrics *metrics = NULL;
	const struct bt_cycle_metrics *shared = bt_engine_metrics(bt_pipeline_engine(test->lab.pipeline));
	const uint16_t found[4] = {BT_CYCLE_METRIC_SUCCESS}, nobody[4] = {BT_CYCLE_METRIC_UNRESOLVABLE},
		       none[4] = {0}, by_group[4] = {BT_CYCLE_METRIC_BY_GROUP},
		       by_tree[4] = {BT_CYCLE_METRIC_BY_TREE, BT_CYCLE_METRIC_ERROR},
		       by_pod[4] = {BT_CYCLE_METRIC_BY_POD, BT_CYCLE_METRIC_UNSCHEDULABLE};

	memcpy(&metrics, &shared, sizeof(metrics));
	test->lab.config.gates.on[BT_GATE_GENERIC_WORKLOAD] = true;
	struct prometheus *p = metrics_of(test);
	assert_true(prometheus_value(p, "scheduler_workload_preemption_victims_count") == 0);
	free(p);
	/* The measurements of PodGroupPostFilter (test_group_attempt). */
	bt_cycle_metrics_note(metrics, BT_CYCLE_METRIC_GROUP_PREEMPTING, found, 5);
	bt_cycle_metrics_note(metrics, BT_CYCLE_METRIC_GROUP_PREEMPTING, nobody, 5);
	bt_cycle_metrics_note(metrics, BT_CYCLE_METRIC_GROUP_VICTIMS, none, 3 * LAB_SECOND);
	bt_cycle_metrics_note(metrics, BT_CYCLE_METRIC_GROUP_DISRUPTIONS, by_group, 2 * LAB_SECOND);
	bt_cycle_metrics_note(metrics, BT_CYCLE_METRIC_EVALUATING, by_pod, LAB_SECOND);
	bt_cycle_metrics_note(metrics, BT_CYCLE_METRIC_EXECUTING, by_tree, LAB_SECOND);
	bt_cycle_metrics_note(metrics, BT_CYCLE_METRIC_VIOLATIONS, by_group, 2 * LAB_SECOND);
	bt_cycle_metrics_note(metrics, BT_CYCLE_METRIC_VIOLATIONS, by_group, 3 * LAB_SECOND);
	p = metrics_of(test);
	assert_true(
		prometheus_value(p, "scheduler_workload_preemption_attempts_total{result=\"Success\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_workload_preemption_attempts_total{result="
					"\"UnschedulableAndUnresolvable\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_workload_preemption_victims_sum") == 3);
	assert_true(prometheus_value(p, "scheduler_workload_preemption_victims_bucket{le=\"2\"}") == 0);
	assert_true(prometheus_value(p, "scheduler_preemption_workload_disruptions_bucket{preemptor="
					"\"podgroup\",le=\"2\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_preemption_evaluation_duration_seconds_count{preemptor="
					"\"pod\",result=\"Unschedulable\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_preemption_execution_duration_seconds_count{preemptor="
					"\"compositepodgroup\",result=\"error\"}") == 1);
	assert_true(prometheus_value(
			    p, "scheduler_preemption_pdb_violations_total{preemptor=\"podgroup\"}") == 5);
	free(p);
	test->lab.config.gates.release = bt_release_find(bt_str("1.36"));
	p = metrics_of(test);
	assert_string_equal(prometheus_type(p, "scheduler_workload_preemption_victims"), "");
	free(p);
}

static struct bt_writer_counts written_before(const struct bt_writer *writer)
{
	(void)writer;
	return (struct bt_writer_counts){.claim_created_n = 3, .volume_failed_n = 2};
}

static void prebind_writes_are_counted_where_there_are_any(void **state)
{
	struct serve_test *test = *state;
	char part;

	test->sources.writer = (struct bt_writer *)&part;
	test->sources.writer_counts = written_before;
	struct prometheus *p = metrics_of(test);

	assert_true(prometheus_value(p, CLAIM_CREATES "{" OF_PODS ",status=\"success\"}") == 3);
	assert_null(prometheus_find(p, CLAIM_CREATES "{" OF_PODS ",status=\"failure\"}"));
	assert_string_equal(prometheus_type(p, "scheduler_resourceclaim_creates_total"), "");
	assert_true(prometheus_value(
			    p, "scheduler_volume_scheduling_stage_error_total{operation=\"bind\"}") == 2);
	free(p);
}

static void two_waits(const struct bt_writer *writer,
	void (*call)(void *context, const struct bt_device_series *series), void *context)
{
	struct bt_device_series series = {.profile = BT_STR("default-scheduler"),
		.driver = BT_STR("gpu.example"),
		.end = BT_DEVICES_TIMEOUT,
		.conditional_n = 2,
		.sum_s = 3,
		.counts = {[4] = 2, [BT_DEVICE_BOUNDS] = 1}};

	(void)writer;
	call(context, &series);
	series.driver = bt_str("nic.example"); /* next to one with conditions */
	series.conditional_n = 0;
	call(context, &series);
}

static void waits_for_devices_are_shown_by_driver(void **state)
{
#define DEVICES(driver) "{driver=\"" driver "\"," PROFILE ",status=\"timeout\""
#define DEVICE_WAITS	"scheduler_dra_bindingconditions_wait_duration_seconds"
	struct serve_test *test = *state;
	char part;

	test->sources.writer = (struct bt_writer *)&part;
	test->sources.writer_counts = some_writes;
	test->sources.each_device_wait = two_waits;
	struct prometheus *p = metrics_of(test);

	assert_true(prometheus_value(p, "scheduler_dra_bindingconditions_allocations_total" DEVICES(
						"gpu.example") "}") == 2);
	assert_null(prometheus_find(
		p, "scheduler_dra_bindingconditions_allocations_total" DEVICES("nic.example") "}"));
	assert_true(prometheus_value(p, DEVICE_WAITS "_bucket" DEVICES("nic.example") ",le=\"1.6\"}") == 2);
	assert_true(prometheus_value(p, DEVICE_WAITS "_count" DEVICES("nic.example") "}") == 3);
	assert_true(prometheus_value(p, DEVICE_WAITS "_sum" DEVICES("nic.example") "}") == 3);
	free(p);
	test->lab.config.gates.on[BT_GATE_DRA_DEVICE_BINDING_CONDITIONS] = false;
	p = metrics_of(test);
	assert_string_equal(prometheus_type(p, DEVICE_WAITS), "");
	free(p);
}

/* Each family with a stability level counts once, also those of the registry. */
static void the_registry_counts_families(void **state)
{
	struct serve_test *test = *state;
	struct bt_str names[] = {
		BT_STR("scheduler_pending_pods"), BT_STR("process_open_fds"), BT_STR("unknown")};
	const struct bt_metric_settings settings = {.disabled = {names, 3, true}};
	uint64_t alpha = 0, beta = 0, stable = 0;
	struct prometheus *p;

	bt_metrics_write(&test->sources, &settings, &test->text);
	for (const char *at = test->text.ptr; (at = strstr(at, "# HELP ")); at++) {
		const char *help = strchr(at + 7, ' ') + 1;

		alpha += strncmp(help, "[ALPHA]", 7) == 0;
		beta += strncmp(help, "[BETA]", 6) == 0;
		stable += strncmp(help, "[STABLE]", 8) == 0;
	}
	p = prometheus_parse(&test->text);
#define REGISTERED(level) "registered_metrics_total{deprecated_version=\"\",stability_level=\"" level "\"}"
	assert_true(alpha > 10 && beta > 3 && stable > 3);
	assert_true(prometheus_value(p, REGISTERED("ALPHA")) == (double)alpha);
	assert_true(prometheus_value(p, REGISTERED("BETA")) == (double)beta);
	assert_true(prometheus_value(p, REGISTERED("STABLE")) == (double)stable);
	assert_true(prometheus_value(p, "disabled_metrics_total") == 3);
	assert_true(prometheus_value(p, "hidden_metrics_total") == 1);
	assert_true(prometheus_value(p, "cardinality_enforcement_unexpected_categorizations_total") == 0);
	assert_true(prometheus_value(p, "go_threads") >= 1);
	assert_true(prometheus_value(p, "go_goroutines") == prometheus_value(p, "go_threads"));
	free(p);
}

static void values_that_are_not_allowed_become_one_series(void **state)
{
	struct serve_test *test = *state;
	struct bt_metric_settings settings = {.allowance_n = 0};
	struct bt_arena arena = {.first = NULL};
	struct bt_buf error = {0};

	assert_true(bt_metric_settings_allow(&settings, &arena,
		bt_str("\"scheduler_pending_pods,queue=active,gated\","
		       "\"scheduler_schedule_attempts_total,result=scheduled\","
		       "\"rest_client_request_duration_seconds,verb=GET\""),
		&error));
	struct bt_client_metrics *metrics = bt_mem_zalloc(1, sizeof(*metrics));
	const enum bt_http_method methods[] = {BT_HTTP_GET, BT_HTTP_PUT, BT_HTTP_POST};

	for (int i = 0; i < 3; i++) {
		bt_client_metrics_note(
			metrics, &(struct bt_client_metrics_call){
					 .method = methods[i], .status = 200, .took_ns = 1000000});
	}
	test->sources.servers[0].host = "h";
	test->sources.servers[0].metrics = metrics;
	lab_node(&test->lab, "n1");
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'nodeSelector': {'a': 'b'}");
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "g", "", ", 'schedulingGates': [{'name': 'g'}]");
	lab_settle(&test->lab);
	bt_metrics_write(&test->sources, &settings, &test->text);
	struct prometheus *p = prometheus_parse(&test->text);

	assert_true(prometheus_value(p, "scheduler_pending_pods{queue=\"gated\"}") == 1);
	assert_true(prometheus_value(p, "scheduler_pending_pods{queue=\"unexpected\"}") == 1);
	assert_null(prometheus_find(p, "scheduler_pending_pods{queue=\"unschedulable\"}"));
	assert_true(prometheus_value(
			    p, "scheduler_schedule_attempts_total{" PROFILE ",result=\"unexpected\"}") == 1);
	assert_true(prometheus_value(p, "rest_client_request_duration_seconds_count{host=\"h\",verb="
					"\"GET\"}") == 1);
	assert_true(prometheus_value(p, "rest_client_request_duration_seconds_bucket{host=\"h\",verb="
					"\"unexpected\",le=\"0.005\"}") == 2);
	assert_true(prometheus_value(p, "rest_client_request_duration_seconds_sum{host=\"h\",verb="
					"\"unexpected\"}") == 0.002);
	/* One refused pod and two calls; gauges do not count. */
	assert_true(prometheus_value(p, "cardinality_enforcement_unexpected_categorizations_total") == 3);
	assert_true(prometheus_value(p, "scheduler_cache_size{type=\"nodes\"}") == 1);
	free(p);
	bt_mem_free(metrics);
	bt_arena_fini(&arena);
	bt_buf_fini(&error);
}

#define WAITED "scheduler_permit_wait_duration_seconds"
#define PERMIT                                                                                               \
	"scheduler_framework_extension_point_duration_seconds_count{extension_point=\"Permit\"," PROFILE
#define MEMBER ", 'workloadRef': {'name': 'w', 'podGroup': 'g'}"

static void set_workload(struct lab *lab)
{
	lab_feed(lab, lab_watch_event(lab, BT_WATCH_EVENT_APPLY,
			      "{'apiVersion': 'scheduling.k8s.io/v1alpha1', 'kind': 'Workload', 'metadata': "
			      "{'name': 'w', 'namespace': 'default'}, 'spec': {'podGroups': [{'name': 'g', "
			      "'policy': {'gang': {'minCount': 2}}}]}}"));
}

static void waits_at_permit_are_measured_by_their_results(void **state)
{
	struct serve_test *test = *state;
	struct bt_pipeline_options options = lab_options(&test->lab);
	struct bt_buf why = {0};
	struct bt_gates gates;

	lab_end(&test->lab);
	options.stages = true;
	bt_gates_init(&gates, bt_release_find(bt_str("1.35")));
	assert_int_equal(
		bt_gates_parse(&gates, bt_str("GenericWorkload=true,GangScheduling=true"), &why), BT_OK);
	bt_buf_fini(&why);
	bt_config_init_default(&test->lab.config, &gates);
	lab_open(&test->lab, &options);
	test->sources.pipeline = test->lab.pipeline;
	lab_node(&test->lab, "n1");
	set_workload(&test->lab);
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "a", ", 'uid': 'a'", MEMBER);
	lab_pod_event(&test->lab, BT_WATCH_EVENT_APPLY, "b", ", 'uid': 'b'",
		MEMBER ", 'nodeSelector': {'rack': 'r'}");
	lab_settle(&test->lab);
	lab_wait(&test->lab, 301 * LAB_SECOND);
	struct prometheus *p = metrics_of(test);

	/* The flush after five minutes tries it again. */
	assert_true(prometheus_value(p, PERMIT ",status=\"Wait\"}") == 2);
	assert_true(prometheus_value(p, WAITED "_count{result=\"Unschedulable\"}") == 1);
	assert_true(prometheus_value(p, WAITED "_sum{result=\"Unschedulable\"}") == 301);
	free(p);
	lab_node_event(&test->lab, BT_WATCH_EVENT_APPLY, "n2", ", 'labels': {'rack': 'r'}");
	for (int i = 0; i < 3; i++) {
		lab_wait(&test->lab, 20 * LAB_SECOND);
	}
	p = metrics_of(test);
	assert_true(prometheus_value(p, WAITED "_count{result=\"Success\"}") == 1);
	assert_true(prometheus_value(p, PERMIT ",status=\"Success\"}") == 1);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_bound_pod_is_counted_when_its_binding_has_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(
			waits_at_permit_are_measured_by_their_results, setup, teardown),
		cmocka_unit_test_setup_teardown(a_failed_binding_is_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_refused_pod_counts_for_the_plugins_that_refuse_it, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_gated_pod_is_pending_and_was_never_attempted, setup, teardown),
		cmocka_unit_test_setup_teardown(attempts_that_fail_have_durations_too, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_queues_ways_are_counted_with_upstreams_labels, setup, teardown),
		cmocka_unit_test_setup_teardown(durations_have_upstreams_labels, setup, teardown),
		cmocka_unit_test_setup_teardown(
			plugins_are_counted_once_a_cycle_or_once_a_node_unless_they_skip, setup, teardown),
		cmocka_unit_test_setup_teardown(types_are_upstreams, setup, teardown),
		cmocka_unit_test_setup_teardown(a_disabled_metric_is_left_out_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(metrics_of_other_components_are_included, setup, teardown),
		cmocka_unit_test_setup_teardown(
			objects_that_cannot_be_read_are_counted_by_resource_and_extent, setup, teardown),
		cmocka_unit_test_setup_teardown(calls_are_counted_as_client_go_counts_them, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_and_repetitions_of_calls_are_shown, setup, teardown),
		cmocka_unit_test_setup_teardown(credential_plugin_metrics_match_client_go, setup, teardown),
		cmocka_unit_test_setup_teardown(
			preemptions_are_counted_when_their_evictions_have_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(metrics_of_gates_are_there_with_them_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(
			preemption_by_pod_groups_is_counted_since_1_37, setup, teardown),
		cmocka_unit_test_setup_teardown(pod_groups_are_counted_by_result, setup, teardown),
		cmocka_unit_test_setup_teardown(
			placements_of_groups_are_counted_by_whether_the_group_fits, setup, teardown),
		cmocka_unit_test_setup_teardown(
			prebind_writes_are_counted_where_there_are_any, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_for_devices_are_shown_by_driver, setup, teardown),
		cmocka_unit_test_setup_teardown(the_registry_counts_families, setup, teardown),
		cmocka_unit_test_setup_teardown(
			values_that_are_not_allowed_become_one_series, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
