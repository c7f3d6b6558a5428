/* SPDX-License-Identifier: Apache-2.0
 * Reports about cycles: events, series, status patches, and their limits.
 */
#include "fake.h"

#include "caught.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/engine.h"
#include "engine_fixture.h"
#include "tools/kube/log/log.h"

#define EVENTS "/apis/events.k8s.io/v1/namespaces/ns/events"
#define STATUS "/api/v1/namespaces/ns/pods/p/status"

static struct bt_config config;

static void begin_with(struct bt_writer_options options)
{
	fake_begin(options);
	bt_config_init_default(&config, NULL);
	fake.engine = fixture_engine(&config, &(struct bt_engine_options){0});
}

static int begin(void **state)
{
	(void)state;
	begin_with((struct bt_writer_options){.qps = -1});
	return 0;
}

static int finish(void **state)
{
	(void)state;
	struct bt_engine *engine = fake.engine;

	fake_finish();
	bt_engine_destroy(engine);
	bt_config_fini(&config);
	return 0;
}

/* A pending pod, known to engine and watch. */
static uint32_t add_pod(const char *name)
{
	struct bt_object object = fake_pod(name, fake_uid(name), "7", "");
	enum bt_entry entry;
	uint32_t pod_ix;

	object.pod.spec.scheduler_name = bt_str("default-scheduler");
	show_object(BT_WATCH_EVENT_APPLY, &object);
	assert_int_equal(bt_engine_add_pod(fake.engine, &object.pod, &entry, &pod_ix), BT_OK);
	return pod_ix;
}

static void tell_decision(const struct bt_decision *decision, const char *message)
{
	const struct bt_pipeline_sink sink = bt_writer_sink(fake.writer);

	sink.cycle_ended(sink.context, decision, NULL, BT_NAME_NONE, bt_str(message));
	fake_pass(0);
}

static void refuse(uint32_t pod_ix, const char *message)
{
	const struct bt_decision decision = {.pod_ix = pod_ix,
		.outcome = BT_REFUSED,
		.node_ix = BT_NO_NODE,
		.nominated_ix = BT_NO_NODE,
		.preempt = BT_PREEMPT_NOWHERE};

	tell_decision(&decision, message);
}

/* The last call to a path without a response. */
static uint32_t open_call(const char *path)
{
	for (uint32_t i = fake.call_n; i-- > 0;) {
		if (!fake.calls[i].over && strcmp(fake.calls[i].path, path) == 0) {
			return i;
		}
	}
	fail_msg("no call to %s is out", path);
	return 0;
}

static uint32_t calls_to(const char *path)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < fake.call_n; i++) {
		n += strcmp(fake.calls[i].path, path) == 0;
	}
	return n;
}

static void expect_body(uint32_t call, const char *words)
{
	if (!strstr(fake.calls[call].body, words)) {
		fail_msg("%s is not in %s", words, fake.calls[call].body);
	}
}

static void a_refused_pod_gets_condition_and_event(void **state)
{
	(void)state;
	refuse(add_pod("p"), "0/1 nodes are available: 1 Insufficient cpu.");
	assert_int_equal(fake.call_n, 2);
	sent(0, "PATCH", STATUS);
	assert_string_equal(fake.calls[0].type, "application/strategic-merge-patch+json");
	assert_string_equal(fake.calls[0].body,
		"{\"status\":{\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-01-01T00:"
		"00:00Z\",\"message\":\"0/1 nodes are available: 1 Insufficient cpu.\","
		"\"observedGeneration\":1,\"reason\":\"Unschedulable\",\"status\":\"False\",\"type\":"
		"\"PodScheduled\"}]}}");
	sent(1, "POST", EVENTS);
	assert_string_equal(fake.calls[1].body,
		"{\"kind\":\"Event\",\"apiVersion\":\"events.k8s.io/v1\",\"metadata\":{\"name\":"
		"\"p.18867251edfa0000\",\"namespace\":\"ns\"},\"eventTime\":\"2026-01-01T00:00:00.000000Z\","
		"\"reportingController\":\"default-scheduler\",\"reportingInstance\":\"default-scheduler-h\","
		"\"action\":\"Scheduling\",\"reason\":\"FailedScheduling\",\"regarding\":{\"kind\":\"Pod\","
		"\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u\",\"apiVersion\":\"v1\",\"resourceVersion\":"
		"\"7\"},\"note\":\"0/1 nodes are available: 1 Insufficient cpu.\",\"type\":\"Warning\"}\n");
}

static void a_status_that_the_api_has_already_is_not_patched(void **state)
{
	uint32_t pod_ix = add_pod("p");

	(void)state;
	refuse(pod_ix, "m");
	fake_answer(open_call(STATUS), 200, "{}");
	refuse(pod_ix, "m");
	assert_int_equal(calls_to(STATUS), 1);
	refuse(pod_ix, "n");
	assert_int_equal(calls_to(STATUS), 2);
	expect_body(open_call(STATUS), "[{\"message\":\"n\",\"type\":\"PodScheduled\"}]");
}

static void only_the_newest_patch_of_a_pod_waits(void **state)
{
	uint32_t pod_ix = add_pod("p");

	(void)state;
	refuse(pod_ix, "1");
	refuse(pod_ix, "2");
	refuse(pod_ix, "3");
	assert_int_equal(calls_to(STATUS), 1);
	assert_int_equal(bt_writer_counts(fake.writer).patch_skipped_n, 1);
	fake_answer(open_call(STATUS), 200, "{}");
	assert_int_equal(calls_to(STATUS), 2);
	expect_body(open_call(STATUS), "\"message\":\"3\"");
	fake_answer(open_call(STATUS), 200, "{}");
	assert_int_equal(calls_to(STATUS), 2);
}

static bool is_patch(uint32_t call)
{
	return strcmp(fake.calls[call].method, "PATCH") == 0 && strstr(fake.calls[call].path, "/status");
}

/* More than can be open at a time. */
static void patches_of_many_pods_go_in_order_the_newest_of_each(void **state)
{
	const uint32_t pod_n = 300;
	uint32_t patch_n = 0, out_n = 0;
	char path[64], name[16];

	(void)state;
	for (uint32_t i = 0; i < pod_n; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		refuse(add_pod(name), "old");
	}
	for (uint32_t i = 0; i < fake.call_n; i++) {
		out_n += is_patch(i);
	}
	assert_in_range(out_n, 1, 32);
	for (uint32_t i = 0; i < pod_n; i++) {
		refuse(i, "new");
	}
	for (uint32_t i = 0; i < fake.call_n; i++) {
		if (is_patch(i) && patch_n < pod_n) {
			snprintf(path, sizeof(path), "/api/v1/namespaces/ns/pods/p%u/status", patch_n);
			assert_string_equal(fake.calls[i].path, path);
			expect_body(i, patch_n < out_n ? "\"old\"" : "\"new\"");
			patch_n++;
		}
		fake_answer(i, 200, "{}");
	}
	assert_int_equal(patch_n, pod_n);
	assert_int_equal(bt_writer_counts(fake.writer).patch_n, pod_n + out_n);
	assert_int_equal(bt_writer_counts(fake.writer).patch_skipped_n, pod_n - out_n);
	assert_true(bt_writer_drain(fake.writer, 0));
}

static void a_patch_that_a_newer_cycle_takes_back_is_not_sent(void **state)
{
	uint32_t pod_ix = add_pod("p");

	(void)state;
	refuse(pod_ix, "1");
	refuse(pod_ix, "2");
	refuse(pod_ix, "1"); /* the open patch has this message */
	fake_answer(open_call(STATUS), 200, "{}");
	assert_int_equal(calls_to(STATUS), 1);
}

static void a_pod_that_is_on_a_node_meanwhile_is_not_patched(void **state)
{
	uint32_t pod_ix = add_pod("p");

	(void)state;
	refuse(pod_ix, "1");
	refuse(pod_ix, "2");
	show("p", "9", "n1");
	fake_answer(open_call(STATUS), 200, "{}");
	assert_int_equal(calls_to(STATUS), 1);
	refuse(pod_ix, "3");
	assert_int_equal(calls_to(STATUS), 1);
}

/* Otherwise the server may apply the patch last, and a bound pod stays marked as unschedulable. */
static void a_binding_waits_for_the_patch_of_its_pod_that_is_out(void **state)
{
	uint32_t pod_ix = add_pod("p");

	(void)state;
	refuse(pod_ix, "1");
	bind(5, "p", "n1");
	assert_int_equal(calls_to(BINDING), 0);
	bind(6, "q", "n1"); /* others do not wait */
	assert_int_equal(calls_to("/api/v1/namespaces/ns/pods/q/binding"), 1);
	fake_answer(open_call(STATUS), 200, "{}");
	assert_int_equal(calls_to(BINDING), 1);
	fake_answer(open_call(BINDING), 201, "{}");
	expect_reports("bound 5\n");
	assert_int_equal(calls_to(STATUS), 1);
}

static void a_patch_that_waits_goes_no_more_once_its_pod_is_bound(void **state)
{
	uint32_t pod_ix = add_pod("p");

	(void)state;
	refuse(pod_ix, "1");
	refuse(pod_ix, "2");
	bind(5, "p", "n1");
	fake_answer(open_call(STATUS), 200, "{}");
	assert_int_equal(calls_to(STATUS), 1);
	fake_answer(open_call(BINDING), 201, "{}");
	assert_int_equal(calls_to(STATUS), 1);
	assert_int_equal(bt_writer_counts(fake.writer).patch_skipped_n, 1);
}

static void a_binding_waits_for_no_patch_that_is_to_be_tried_again(void **state)
{
	uint32_t pod_ix = add_pod("p");

	(void)state;
	refuse(pod_ix, "1");
	fake_status(open_call(STATUS), 500, "slow");
	bind(5, "p", "n1"); /* the patch waits for a retry, which is not made */
	fake_answer(open_call(BINDING), 201, "{}");
	fake_pass(10 * FAKE_S);
	assert_int_equal(calls_to(STATUS), 1);
	expect_reports("bound 5\n");
}

static void a_patch_that_fails_lets_the_binding_go(void **state)
{
	(void)state;
	refuse(add_pod("p"), "1");
	bind(5, "p", "n1");
	fake_status(open_call(STATUS), 429, "slow down");
	fake_pass(2 * FAKE_S); /* no writes meanwhile */
	fake_answer(open_call(BINDING), 201, "{}");
	assert_int_equal(calls_to(STATUS), 1);
	expect_reports("bound 5\n");
}

static void a_failed_binding_is_reported_whatever_patch_it_waited_for(void **state)
{
	(void)state;
	refuse(add_pod("p"), "1");
	bind(5, "p", "n1");
	fake_answer(open_call(STATUS), 200, "{}");
	fake_status(open_call(BINDING), 403, "no");
	expect_body(open_call(STATUS), "no");
}

/* Every open operation ends with the writer (finish asserts no leak; the pipeline gets a
 * result for each binding). */
static void shutdown_drops_a_binding_that_waits_for_a_patch(void **state)
{
	(void)state;
	refuse(add_pod("p"), "1");
	bind(5, "p", "n1");
	struct bt_engine *engine = fake.engine;

	fake_stop();
	expect_reports("failed 5 the scheduler ends\n");
	bt_buf_fini(&fake.reported);
	bt_engine_destroy(engine);
	bt_config_fini(&config);
	begin(state);
}

/* A retry writes the latest state. */
static void a_retried_patch_has_the_latest_content(void **state)
{
	uint32_t pod_ix = add_pod("p");

	(void)state;
	refuse(pod_ix, "1");
	refuse(pod_ix, "2");
	fake_status(open_call(STATUS), 500, "slow");
	refuse(pod_ix, "3");
	fake_pass(FAKE_S);
	expect_body(open_call(STATUS), "\"message\":\"3\"");
	fake_answer(open_call(STATUS), 200, "{}");
	assert_int_equal(calls_to(STATUS), 2);
}

/* ---- PodGroups ---- */

#define GROUP_STATUS "/apis/scheduling.k8s.io/v1beta1/namespaces/ns/podgroups/g/status"

static void show_group(const char *status)
{
	struct bt_condition_object conditions[] = {
		{.type = BT_STR("DisruptionTarget"), .status = BT_STR("False"), .reason = BT_STR("r")},
		{.type = BT_STR("PodGroupInitiallyScheduled"),
			.status = bt_str(status),
			.reason = BT_STR("Unschedulable"),
			.message = BT_STR("m"),
			.transition = BT_STR("2025-12-31T00:00:00Z"),
			.observed_generation = 3}};
	struct bt_object group = {.kind = BT_KIND_POD_GROUP,
		.api_version = BT_STR("scheduling.k8s.io/v1beta1"),
		.pod_group = {.meta = {.name = BT_STR("g"),
				      .namespace_ = BT_STR("ns"),
				      .uid = BT_STR("group"),
				      .resource_version = BT_STR("7"),
				      .generation = 3},
			.conditions = conditions,
			.condition_n = status[0] ? 2 : 0}};

	show_object(BT_WATCH_EVENT_APPLY, &group);
}

static void end_group(enum bt_group_outcome outcome, const char *message)
{
	struct bt_intern *intern = bt_engine_cache(fake.engine)->dictionary->intern;
	const struct bt_pipeline_sink sink = bt_writer_sink(fake.writer);
	const struct bt_group_end end = {.namespace_ = bt_intern_hold(intern, bt_str("ns")),
		.name = bt_intern_hold(intern, bt_str("g")),
		.outcome = outcome,
		.message = bt_str(message)};

	sink.group_ended(sink.context, &end);
	bt_intern_release(intern, end.namespace_);
	bt_intern_release(intern, end.name);
	fake_pass(0);
}

static void a_groups_condition_states_whether_it_is_scheduled(void **state)
{
	(void)state;
	show_group("");
	end_group(BT_GROUP_UNSCHEDULABLE, "pod group is unschedulable");
	sent(0, "PATCH", GROUP_STATUS);
	assert_string_equal(fake.calls[0].body,
		"{\"status\":{\"conditions\":[{\"lastTransitionTime\":\"2026-01-01T00:00:00Z\",\"message\":"
		"\"pod "
		"group is unschedulable\",\"observedGeneration\":3,\"reason\":\"Unschedulable\",\"status\":"
		"\"False\",\"type\":\"PodGroupInitiallyScheduled\"}]}}");
	fake_answer(0, 200, "{}");
	end_group(BT_GROUP_UNSCHEDULABLE, "pod group is unschedulable"); /* with the same message: no
									  * new event */
	assert_int_equal(fake.call_n, 1);
	end_group(BT_GROUP_ERROR, "e");
	expect_body(open_call(GROUP_STATUS), "\"reason\":\"SchedulerError\"");
}

static void the_condition_of_a_group_that_is_scheduled_has_an_empty_message(void **state)
{
	(void)state;
	show_group("False");
	fake_pass(60 * FAKE_S);
	end_group(BT_GROUP_SCHEDULED, "");
	assert_string_equal(fake.calls[0].body,
		"{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"DisruptionTarget\"},{\"type\":"
		"\"PodGroupInitiallyScheduled\"}],\"conditions\":[{\"lastTransitionTime\":\"2026-01-01T00:01:"
		"00Z\","
		"\"message\":\"\",\"reason\":\"Scheduled\",\"status\":\"True\",\"type\":"
		"\"PodGroupInitiallyScheduled\"}]}}");
}

static void a_group_that_was_scheduled_once_stays_so(void **state)
{
	(void)state;
	show_group("True");
	end_group(BT_GROUP_UNSCHEDULABLE, "pod group is unschedulable");
	assert_int_equal(fake.call_n, 0);
}

static void an_unknown_group_is_not_patched(void **state)
{
	(void)state;
	end_group(BT_GROUP_SCHEDULED, "");
	assert_int_equal(fake.call_n, 0);
}

static void a_patch_is_tried_a_few_times(void **state)
{
	(void)state;
	refuse(add_pod("p"), "1");
	for (int i = 0; i < 4; i++) {
		fake_status(open_call(STATUS), 500, "slow");
		fake_pass(FAKE_S);
	}
	assert_int_equal(calls_to(STATUS), 4);
	assert_int_equal(bt_writer_counts(fake.writer).patch_failed_n, 1);
}

static void a_nomination_is_made_and_taken_back(void **state)
{
	struct bt_node_object node = {.meta = {.name = BT_STR("n1")}};
	uint32_t node_ix, pod_ix = add_pod("p"), lower_ix = add_pod("q");
	struct bt_victim victim = {.pod_ix = add_pod("v")};
	struct bt_object lower = fake_pod("q", "q", "8", "");
	struct bt_decision decision = {.pod_ix = pod_ix,
		.outcome = BT_REFUSED,
		.node_ix = BT_NO_NODE,
		.preempt = BT_PREEMPT_FOUND,
		.victims = &victim,
		.victim_n = 1,
		.cleared_nominations = &lower_ix,
		.cleared_nominations_n = 1};

	(void)state;
	assert_int_equal(bt_engine_apply_node(fake.engine, &node, &node_ix), BT_OK);
	lower.pod.nominated_node_name = bt_str("n1");
	show_object(BT_WATCH_EVENT_APPLY, &lower);
	decision.nominated_ix = node_ix;
	tell_decision(&decision, "m");
	expect_body(open_call(STATUS), "\"nominatedNodeName\":\"n1\"");
	expect_body(open_call("/api/v1/namespaces/ns/pods/q/status"),
		"{\"status\":{\"nominatedNodeName\":null}}");
	fake_answer(open_call(STATUS), 200, "{}");
	decision.cleared_nominations_n = 0;
	decision.nominated_ix = BT_NO_NODE;
	decision.preempt = BT_PREEMPT_NOWHERE;
	tell_decision(&decision, "m");
	assert_string_equal(fake.calls[open_call(STATUS)].body, "{\"status\":{\"nominatedNodeName\":null}}");
}

static void begin_as(const char *release, struct bt_writer_options options)
{
	struct bt_gates gates;

	finish(NULL);
	fake_begin(options);
	bt_gates_init(&gates, bt_release_find(bt_str(release)));
	bt_config_init_default(&config, &gates);
	fake.engine = fixture_engine(&config, &(struct bt_engine_options){0});
}

static void a_pod_that_waits_at_permit_is_nominated_if_the_gate_is_on(void **state)
{
	struct bt_node_object node = {.meta = {.name = BT_STR("n1")}};
	uint32_t node_ix;

	(void)state;
	for (int on = 0; on < 2; on++) {
		begin_as("1.35", (struct bt_writer_options){.qps = -1, .nominates_waiting = on});
		const struct bt_pipeline_sink sink = bt_writer_sink(fake.writer);
		uint32_t pod_ix = add_pod("p");

		assert_int_equal(bt_engine_apply_node(fake.engine, &node, &node_ix), BT_OK);
		sink.waits(sink.context, pod_ix, node_ix);
		fake_pass(0);
		assert_int_equal(fake.call_n, on);
	}
	assert_string_equal(
		fake.calls[open_call(STATUS)].body, "{\"status\":{\"nominatedNodeName\":\"n1\"}}");
}

static void a_nomination_that_the_engine_keeps_is_left_in_the_status(void **state)
{
	static const char *const releases[] = {"1.35", "1.36"};
	struct bt_node_object node = {.meta = {.name = BT_STR("n1")}};
	uint32_t node_ix, pod_ix;
	enum bt_entry entry;

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin_as(releases[i], (struct bt_writer_options){.qps = -1});
		struct bt_object pod = fake_pod("p", "u", "7", "");

		assert_int_equal(bt_engine_apply_node(fake.engine, &node, &node_ix), BT_OK);
		pod.pod.nominated_node_name = bt_str("n1");
		pod.pod.spec.scheduler_name = bt_str("default-scheduler");
		show_object(BT_WATCH_EVENT_APPLY, &pod);
		assert_int_equal(bt_engine_add_pod(fake.engine, &pod.pod, &entry, &pod_ix), BT_OK);
		refuse(pod_ix, "m");
		assert_true(!strstr(fake.calls[open_call(STATUS)].body, "nominatedNodeName") == (i == 0));
	}
}

static void a_victim_that_waited_at_permit_gets_an_event_alone(void **state)
{
	struct bt_node_object node = {.meta = {.name = BT_STR("n1")}};
	uint32_t node_ix;

	(void)state;
	begin_as("1.35", (struct bt_writer_options){.qps = -1});
	const struct bt_pipeline_sink sink = bt_writer_sink(fake.writer);
	uint32_t victim_ix = add_pod("p"), pod_ix = add_pod("q");

	assert_int_equal(bt_engine_apply_node(fake.engine, &node, &node_ix), BT_OK);
	sink.preempted(sink.context, victim_ix, pod_ix, node_ix);
	fake_pass(0);
	assert_int_equal(fake.call_n, 1);
	expect_body(open_call(EVENTS), "\"action\":\"Preempting\",\"reason\":\"Preempted\"");
	expect_body(open_call(EVENTS), "\"note\":\"Preempted by pod q on node n1\"");
}

static void placed_and_gated_pods_are_not_reported(void **state)
{
	struct bt_decision decision = {.pod_ix = add_pod("p"), .outcome = BT_PLACED};

	(void)state;
	tell_decision(&decision, "");
	decision.outcome = BT_GATED;
	tell_decision(&decision, "");
	assert_int_equal(fake.call_n, 0);
	decision.outcome = BT_SKIPPED;
	decision.node_ix = decision.nominated_ix = BT_NO_NODE;
	tell_decision(&decision, "");
	expect_body(open_call(EVENTS), "\"note\":\"skip schedule deleting pod: ns/p\"");
}

static void an_event_seen_again_becomes_a_series(void **state)
{
	uint32_t pod_ix = add_pod("p");

	(void)state;
	refuse(pod_ix, "m");
	fake_answer(open_call(EVENTS), 201, "{}");
	fake_pass(60 * FAKE_S);
	refuse(pod_ix, "m");
	sent(fake.call_n - 1, "PATCH", EVENTS "/p.18867251edfa0000");
	assert_string_equal(fake.calls[fake.call_n - 1].body,
		"{\"series\":{\"count\":2,\"lastObservedTime\":\"2026-01-01T00:01:00.000000Z\"}}");
	fake_answer(fake.call_n - 1, 200, "{}");
	uint32_t before = fake.call_n;
	refuse(pod_ix, "m");
	refuse(pod_ix, "m");
	assert_int_equal(fake.call_n, before); /* counted in the series */
	assert_int_equal(bt_writer_counts(fake.writer).event_repeated_n, 3);
	/* It ends six minutes after its last occurrence, at a periodic check, with the final count. */
	fake_pass(20 * 60 * FAKE_S);
	assert_int_equal(fake.call_n, before + 1);
	expect_body(before, "\"count\":4");
	fake_answer(before, 200, "{}");
	refuse(pod_ix, "m");
	sent(fake.call_n - 1, "POST", EVENTS);
}

static void a_long_series_is_written_every_half_hour(void **state)
{
	uint32_t pod_ix = add_pod("p");

	(void)state;
	for (int minute = 0; minute < 65; minute++) {
		refuse(pod_ix, "m");
		for (uint32_t i = 0; i < fake.call_n; i++) {
			if (!fake.calls[i].over) {
				fake_answer(i, 200, "{}");
			}
		}
		fake_pass(60 * FAKE_S);
	}
	assert_int_equal(calls_to(EVENTS), 1);
	assert_int_equal(calls_to(EVENTS "/p.18867251edfa0000"), 3); /* its start, and two checks */
}

static void an_event_that_is_new_for_the_server_is_another_one(void **state)
{
	uint32_t pod_ix = add_pod("p");

	(void)state;
	refuse(pod_ix, "m");
	show("p", "8", ""); /* regarding has another resource version */
	refuse(pod_ix, "m");
	assert_int_equal(calls_to(EVENTS), 2);
}

static void a_series_whose_event_has_gone_is_created_whole(void **state)
{
	uint32_t pod_ix = add_pod("p");

	(void)state;
	refuse(pod_ix, "m");
	fake_answer(open_call(EVENTS), 201, "{}");
	refuse(pod_ix, "m");
	fake_status(open_call(EVENTS "/p.18867251edfa0000"), 404, "gone");
	expect_body(open_call(EVENTS), "\"series\":{\"count\":2,");
	fake_answer(open_call(EVENTS), 201, "{}");
}

static void a_refused_event_is_dropped_and_a_lost_one_is_retried(void **state)
{
	uint32_t pod_ix = add_pod("p");

	(void)state;
	refuse(pod_ix, "m");
	fake_end(open_call(EVENTS), BT_HTTP_LOST, 0, -1, "");
	fake_pass(9 * FAKE_S);
	assert_int_equal(calls_to(EVENTS), 1);
	fake_pass(4 * FAKE_S);
	assert_int_equal(calls_to(EVENTS), 2);
	fake_status(open_call(EVENTS), 403, "no");
	fake_pass(60 * FAKE_S);
	assert_int_equal(calls_to(EVENTS), 2);
	assert_int_equal(bt_writer_counts(fake.writer).event_dropped_n, 1);
}

static void an_event_that_an_unanswered_call_has_made_is_there(void **state)
{
	(void)state;
	refuse(add_pod("p"), "m");
	fake_end(open_call(EVENTS), BT_HTTP_LOST, 0, -1, "");
	fake_pass(13 * FAKE_S);
	fake_status(open_call(EVENTS), 409, "exists");
	assert_int_equal(bt_writer_counts(fake.writer).event_dropped_n, 0);
	fake_pass(60 * FAKE_S);
	assert_int_equal(calls_to(EVENTS), 2);
}

/* p's event and patch are lost, q's are still queued. */
static void shutdown_sends_waiting_events_once_and_for_a_while(void **state)
{
	(void)state;
	finish(state);
	begin_with((struct bt_writer_options){.qps = 1, .burst = 1});
	refuse(add_pod("p"), "m");
	refuse(add_pod("q"), "m");
	refuse(add_pod("r"), "m");
	assert_int_equal(fake.call_n, 2);
	fake_end(0, BT_HTTP_LOST, 0, -1, "");
	fake_end(1, BT_HTTP_LOST, 0, -1, "");
	bt_writer_shutdown(fake.writer, FAKE_S + FAKE_S / 2);
	fake_pass(0);
	assert_false(bt_writer_drain(fake.writer, 0));
	fake_pass(FAKE_S);
	assert_int_equal(fake.call_n, 4); /* q's only */
	fake_answer(2, 200, "{}");
	fake_answer(3, 201, "{}");
	fake_pass(FAKE_S);
	assert_int_equal(fake.call_n, 4);
	assert_true(bt_writer_drain(fake.writer, 0));
}

static void events_have_a_budget_of_their_own(void **state)
{
	uint32_t n = 0;

	(void)state;
	finish(state);
	begin_with((struct bt_writer_options){.qps = 10, .burst = 5});
	for (int i = 0; i < 12; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%d", i);
		refuse(add_pod(name), "m");
	}
	/* Five patches and five events. */
	assert_int_equal(fake.call_n, 10);
	for (uint32_t i = 0; i < 10; i++) {
		fake_answer(i, 201, "{}");
	}
	fake_pass(FAKE_S);
	for (uint32_t i = 0; i < fake.call_n; i++) {
		n += strcmp(fake.calls[i].path, EVENTS) == 0;
	}
	assert_int_equal(n, 12);
}

static void too_many_events_are_dropped_and_counted(void **state)
{
	(void)state;
	finish(state);
	begin_with((struct bt_writer_options){.qps = 1, .burst = 1, .events = 4});
	for (int i = 0; i < 12; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%d", i);
		refuse(add_pod(name), "m");
	}
	assert_int_equal(calls_to(EVENTS), 1);
	assert_int_equal(bt_writer_counts(fake.writer).event_dropped_n, 8);
}

/* Is there a call for the pod's event? */
static bool has_event_of(const char *pod)
{
	char text[64];

	snprintf(text, sizeof(text), "\"name\":\"%s\"", pod);
	for (uint32_t i = 0; i < fake.call_n; i++) {
		if (strcmp(fake.calls[i].path, EVENTS) == 0 && strstr(fake.calls[i].body, text)) {
			return true;
		}
	}
	return false;
}

static void of_too_many_events_the_latest_are_written(void **state)
{
	char name[16];

	(void)state;
	finish(state);
	begin_with((struct bt_writer_options){.qps = 2, .burst = 1, .events = 260});
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		refuse(add_pod(name), "m");
	}
	assert_int_equal(bt_writer_counts(fake.writer).event_dropped_n, 40);
	for (int second = 0; second < 300; second++) {
		for (uint32_t i = 0; i < fake.call_n; i++) {
			if (!fake.calls[i].over) {
				fake_answer(i, 201, "{}");
			}
		}
		fake_pass(FAKE_S);
	}
	assert_int_equal(calls_to(EVENTS), 260);
	assert_true(has_event_of("p0"));    /* already being sent */
	assert_false(has_event_of("p256")); /* the oldest queued one */
	assert_false(has_event_of("p295"));
	assert_true(has_event_of("p296"));
	assert_true(has_event_of("p299"));
}

/* Queued events, and those written that may become series. */
static void events_take_no_more_than_their_bytes_whatever_is_in_them(void **state)
{
	const size_t most = 256 * 1024;
	const uint32_t pod_n = 3000;
	char name[128], message[1024];

	(void)state;
	for (int sent = 0; sent < 2; sent++) {
		finish(state);
		begin_with((struct bt_writer_options){
			.qps = sent ? -1 : 0.001F, .burst = 1, .event_bytes = most});
		memset(message, 'm', sizeof(message));
		message[sizeof(message) - 1] = 0;
		for (uint32_t i = 0; i < pod_n; i++) {
			snprintf(name, sizeof(name), "p%098u", i);
			snprintf(message, 16, "%015u", i);
			message[15] = 'm';
			refuse(add_pod(name), message);
			for (uint32_t k = fake.call_n; sent && k-- > 0 && !fake.calls[k].over;) {
				fake_answer(k, 201, "{}");
			}
			fake.call_n = sent ? 0 : fake.call_n;
		}
		const struct bt_writer_counts counts = bt_writer_counts(fake.writer);

		assert_in_range(sent ? counts.event_forgotten_n : counts.event_dropped_n, pod_n / 2, pod_n);
		assert_int_equal(sent ? counts.event_dropped_n : counts.event_forgotten_n, 0);
	}
}

/* Completes this many bindings. Returns: the number of events sent so far. */
static uint32_t answer_bindings(uint32_t n)
{
	for (uint32_t i = 0; i < fake.call_n && n; i++) {
		if (!fake.calls[i].over && strstr(fake.calls[i].path, "/binding")) {
			fake_answer(i, 201, "");
			n--;
		}
	}
	return calls_to(EVENTS);
}

static void bind_many(uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i <= to; i++) {
		bind(i, "p", "n1");
	}
}

static void events_of_a_backlog_go_behind_it_and_none_is_lost(void **state)
{
	(void)state;
	finish(state);
	begin_with((struct bt_writer_options){.qps = -1, .in_flight = 64});
	bind_many(1, 400);
	assert_int_equal(answer_bindings(330), 0);
	for (int turn = 0; turn < 20; turn++) {
		for (uint32_t i = 0; i < fake.call_n; i++) {
			if (!fake.calls[i].over) {
				fake_answer(i, 201, "");
			}
		}
	}
	assert_int_equal(calls_to(EVENTS), 400);
	assert_int_equal(bt_writer_counts(fake.writer).event_dropped_n, 0);
	assert_true(bt_writer_drain(fake.writer, 0));
}

static void events_that_have_waited_long_go_now_and_then_between_bindings(void **state)
{
	(void)state;
	finish(state);
	begin_with((struct bt_writer_options){.qps = -1, .in_flight = 64});
	bind_many(1, 200);
	assert_int_equal(answer_bindings(100), 0);
	fake_pass(11 * FAKE_S);
	bind_many(201, 500);
	assert_in_range(answer_bindings(300), 1, 6);
}

static void an_event_that_is_seen_again_and_again_does_not_wait_for_ever(void **state)
{
	uint32_t pod_ix;

	(void)state;
	finish(state);
	begin_with((struct bt_writer_options){.qps = -1, .in_flight = 64});
	pod_ix = add_pod("q");
	bind_many(1, 500);
	for (int turn = 0; turn < 5; turn++) {
		refuse(pod_ix, "m");
		answer_bindings(70);
		fake_pass(3 * FAKE_S);
	}
	assert_in_range(calls_to(EVENTS), 1, 6);
}

static void when_room_for_events_gets_scarce_every_other_write_is_one(void **state)
{
	uint32_t bindings = 0;

	(void)state;
	finish(state);
	begin_with((struct bt_writer_options){.qps = -1, .in_flight = 8, .events = 64});
	bind_many(1, 300);
	for (int turn = 0; turn < 400; turn++) {
		for (uint32_t i = 0; i < fake.call_n; i++) {
			if (!fake.calls[i].over) {
				fake_answer(i, 201, "");
				break;
			}
		}
	}
	for (uint32_t i = 0; i < fake.call_n; i++) {
		bindings += strstr(fake.calls[i].path, "/binding") != NULL;
	}
	assert_in_range(calls_to(EVENTS), bindings / 2, bindings);
	assert_int_equal(bt_writer_counts(fake.writer).event_dropped_n, 0);
}

/* An event is stored as its fields, not as text. */
static void events_that_wait_take_little_memory(void **state)
{
	const uint32_t pod_n = 16000;
	char name[32], message[512];
	size_t before;

	(void)state;
	finish(state);
	begin_with((struct bt_writer_options){.qps = 0.001F, .burst = 1});
	for (uint32_t i = 0; i < pod_n; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		add_pod(name);
	}
	memset(message, 'm', sizeof(message));
	message[sizeof(message) - 1] = 0;
	before = bt_mem_in_use_bytes();
	for (uint32_t i = 0; i < pod_n; i++) {
		refuse(i, message);
	}
	assert_in_range(calls_to("/apis/events.k8s.io/v1/namespaces/ns/events"), 0, 1);
	assert_int_equal(bt_writer_counts(fake.writer).event_dropped_n, 0);
	/* A pod's event and its patch take 399 bytes; the allocator's caches count, too. */
	size_t each = (bt_mem_in_use_bytes() - before) / pod_n;
	if (each > 440) {
		fail_msg("%zu bytes a pod", each);
	}
}

static void a_patch_is_logged_from_level_three(void **state)
{
	uint32_t pod_ix = add_pod("p");

	(void)state;
	caught_begin();
	bt_log_setup(BT_LOG_TEXT, 3);
	refuse(pod_ix, "m");
	bt_log_set_verbosity(0);
	assert_non_null(strstr(caught_end(),
		"] \"Updating pod condition and nominated node name\" pod=\"ns/p\" "
		"conditionType=\"PodScheduled\" "
		"conditionStatus=\"False\" conditionReason=\"Unschedulable\" nominatedNodeName=\"\"\n"));
}

static void unread_answers_are_requested_as_protobuf(void **state)
{
	(void)state;
	finish(state);
	fake_speaks_proto = true;
	begin_with((struct bt_writer_options){.qps = -1});
	fake_speaks_proto = false;
	refuse(add_pod("p"), "m");
	evict(5, "v", "n1", "p");
	assert_int_equal(fake.call_n, 3);
	for (uint32_t i = 0; i < fake.call_n; i++) {
		assert_true(bt_str_is(
			fake.calls[i].call.accept, "application/vnd.kubernetes.protobuf,application/json"));
	}
	check(6, 6, "p", "n1"); /* the pod is read */
	assert_true(bt_str_is(fake.calls[3].call.accept, "application/json"));
}

static void without_write_permission_no_event_is_written(void **state)
{
	(void)state;
	fake.may_write = false;
	refuse(add_pod("p"), "m");
	assert_int_equal(fake.call_n, 0);
	assert_int_equal(bt_writer_counts(fake.writer).fenced_n, 2);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, finish)
	const struct CMUnitTest tests[] = {
		CASE(a_refused_pod_gets_condition_and_event),
		CASE(a_status_that_the_api_has_already_is_not_patched),
		CASE(only_the_newest_patch_of_a_pod_waits),
		CASE(patches_of_many_pods_go_in_order_the_newest_of_each),
		CASE(a_patch_that_a_newer_cycle_takes_back_is_not_sent),
		CASE(a_pod_that_is_on_a_node_meanwhile_is_not_patched),
		CASE(a_binding_waits_for_the_patch_of_its_pod_that_is_out),
		CASE(a_patch_that_waits_goes_no_more_once_its_pod_is_bound),
		CASE(a_binding_waits_for_no_patch_that_is_to_be_tried_again),
		CASE(a_patch_that_fails_lets_the_binding_go),
		CASE(a_failed_binding_is_reported_whatever_patch_it_waited_for),
		CASE(shutdown_drops_a_binding_that_waits_for_a_patch),
		CASE(a_retried_patch_has_the_latest_content),
		CASE(a_groups_condition_states_whether_it_is_scheduled),
		CASE(the_condition_of_a_group_that_is_scheduled_has_an_empty_message),
		CASE(a_group_that_was_scheduled_once_stays_so),
		CASE(an_unknown_group_is_not_patched),
		CASE(a_patch_is_tried_a_few_times),
		CASE(a_nomination_is_made_and_taken_back),
		CASE(a_pod_that_waits_at_permit_is_nominated_if_the_gate_is_on),
		CASE(a_nomination_that_the_engine_keeps_is_left_in_the_status),
		CASE(a_victim_that_waited_at_permit_gets_an_event_alone),
		CASE(placed_and_gated_pods_are_not_reported),
		CASE(an_event_seen_again_becomes_a_series),
		CASE(a_long_series_is_written_every_half_hour),
		CASE(an_event_that_is_new_for_the_server_is_another_one),
		CASE(a_series_whose_event_has_gone_is_created_whole),
		CASE(a_refused_event_is_dropped_and_a_lost_one_is_retried),
		CASE(an_event_that_an_unanswered_call_has_made_is_there),
		CASE(shutdown_sends_waiting_events_once_and_for_a_while),
		CASE(events_have_a_budget_of_their_own),
		CASE(too_many_events_are_dropped_and_counted),
		CASE(of_too_many_events_the_latest_are_written),
		CASE(events_take_no_more_than_their_bytes_whatever_is_in_them),
		CASE(events_of_a_backlog_go_behind_it_and_none_is_lost),
		CASE(events_that_have_waited_long_go_now_and_then_between_bindings),
		CASE(an_event_that_is_seen_again_and_again_does_not_wait_for_ever),
		CASE(when_room_for_events_gets_scarce_every_other_write_is_one),
		CASE(events_that_wait_take_little_memory),
		CASE(a_patch_is_logged_from_level_three),
		CASE(unread_answers_are_requested_as_protobuf),
		CASE(without_write_permission_no_event_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
