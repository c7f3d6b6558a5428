/* SPDX-License-Identifier: Apache-2.0
 * The sources of the live view's numbers, and a pipeline's measurements of its stages.
 */
#include "lab.h"

#include "engine/base/mem.h"
#include "tools/offline/live/look.h"

/* A pipeline with measurements, a pod on a node, a binding without an answer, and a pod that fits nowhere. */
static void begin(struct lab *lab)
{
	struct bt_pipeline_options options = lab_options(lab);

	options.stages = true;
	lab_begin(lab, &options);
	lab->answers = true;
	lab_node(lab, "n1");
	lab_pod(lab, "bound", "");
	lab_settle(lab);
	lab->answers = false;
	lab_pod(lab, "asked", "");
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "refused", "", ", 'nodeSelector': {'a': 'b'}");
	lab_settle(lab);
}

static uint64_t count(const struct bt_stage_latency *stages, enum bt_stage stage)
{
	return bt_histogram_count(&stages->histograms[stage]);
}

static void every_stage_measures_each_of_what_it_does(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_stage_latency *stages = bt_stage_latency_create();

	(void)state;
	begin(&lab);
	bt_pipeline_stages(lab.pipeline, stages);
	assert_int_equal(count(stages, BT_STAGE_INGEST), 4);
	assert_int_equal(count(stages, BT_STAGE_PUBLISH), 4);
	assert_int_equal(count(stages, BT_STAGE_APPLY), 4);
	assert_int_equal(count(stages, BT_STAGE_WAIT), 3);
	assert_int_equal(count(stages, BT_STAGE_DECIDE), 3);
	assert_int_equal(count(stages, BT_STAGE_HAND_OVER), 2);
	assert_int_equal(count(stages, BT_STAGE_BIND), 1);
	/* Measurements are durations, not times of day. */
	for (int i = 0; i < BT_STAGE_N; i++) {
		assert_true(bt_histogram_max(&stages->histograms[i]) < 600 * LAB_SECOND);
	}
	bt_mem_free(stages);
	lab_end(&lab);
}

static void a_wait_is_by_the_engines_clock(void **state)
{
	struct lab lab = {.now_ns = 100 * LAB_SECOND};
	struct bt_pipeline_options options = lab_options(&lab);
	struct bt_stage_latency *stages = bt_stage_latency_create();

	(void)state;
	options.stages = true;
	lab_begin(&lab, &options);
	lab_node(&lab, "n1");
	lab_pod(&lab, "p", "");
	bt_pipeline_ingest_step(lab.pipeline, 0);
	bt_pipeline_publish_step(lab.pipeline);
	bt_pipeline_apply_step(lab.pipeline);
	lab.now_ns += 7 * LAB_SECOND;
	lab_settle(&lab);
	bt_pipeline_stages(lab.pipeline, stages);
	assert_int_equal(bt_histogram_max(&stages->histograms[BT_STAGE_WAIT]), 7 * LAB_SECOND);
	bt_mem_free(stages);
	lab_end(&lab);
}

static void nothing_is_measured_unless_wanted(void **state)
{
	struct lab lab = {.now_ns = 1};
	const struct bt_pipeline_options options = lab_options(&lab);
	struct bt_stage_latency *stages = bt_stage_latency_create();

	(void)state;
	lab_begin(&lab, &options);
	lab.answers = true;
	lab_node(&lab, "n1");
	lab_pod(&lab, "p", "");
	lab_settle(&lab);
	bt_pipeline_stages(lab.pipeline, stages);
	for (int i = 0; i < BT_STAGE_N; i++) {
		assert_int_equal(count(stages, (enum bt_stage)i), 0);
	}
	bt_mem_free(stages);
	lab_end(&lab);
}

static uint64_t conflicts(const struct bt_live_numbers *numbers, const char *name)
{
	for (uint32_t i = 0; i < numbers->conflict_n; i++) {
		if (strcmp(numbers->conflicts[i].name, name) == 0) {
			return numbers->conflicts[i].n;
		}
	}
	fail_msg("nobody counts '%s'", name);
	return 0;
}

static void a_pipeline_reports_where_pods_wait(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_live_numbers numbers = {.label = ""};

	(void)state;
	begin(&lab);
	bt_live_of_pipeline(&numbers, lab.pipeline);
	assert_int_equal(numbers.node_n, 1);
	assert_int_equal(numbers.scheduled, 1);
	assert_int_equal(numbers.assumed, 1);
	assert_int_equal(numbers.places[BT_WAIT_UNSCHEDULABLE], 1);
	assert_int_equal(numbers.decided_n, 3);
	assert_int_equal(numbers.placed_n, 2);
	assert_int_equal(numbers.refused_n, 1);
	assert_int_equal(numbers.event_n, 4);
	assert_true(numbers.has_stages);
	assert_int_equal(numbers.stages[BT_STAGE_DECIDE].n, 3);
	assert_true(numbers.stages[BT_STAGE_DECIDE].p50_ns <= numbers.stages[BT_STAGE_DECIDE].max_ns);
	lab_end(&lab);
}

static void conflicts_are_counted_by_kind(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_live_numbers numbers = {.label = ""};

	(void)state;
	begin(&lab);
	assert_int_equal(
		bt_pipeline_bind_failed(lab.pipeline, lab.bind_requests[1].handle, bt_str("no")), BT_OK);
	bt_pipeline_answer_step(lab.pipeline);
	bt_pipeline_bound(lab.pipeline, lab.bind_requests[1].handle);
	bt_live_of_pipeline(&numbers, lab.pipeline);
	assert_int_equal(conflicts(&numbers, "bindings failed"), 1);
	assert_int_equal(conflicts(&numbers, "bindings undone"), 1);
	assert_int_equal(conflicts(&numbers, "answered twice"), 1);
	assert_int_equal(conflicts(&numbers, "node gone"), 0);
	lab_end(&lab);
}

static void rings_report_their_fill(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_live_numbers numbers = {.label = ""};
	struct bt_pipeline_ring one;

	(void)state;
	begin(&lab);
	lab_pod(&lab, "next", "");
	bt_live_of_pipeline(&numbers, lab.pipeline);
	assert_string_equal(numbers.rings[0].name, "feed-0-0");
	assert_int_equal(numbers.rings[0].count, 1);
	assert_int_equal(numbers.rings[0].capacity, 4);
	/* feed, delta, inbox, and bind requests of each binder thread */
	uint32_t n = 3 + lab_small_limits().bind_threads + 2 * (lab_small_limits().ingest_threads - 1);
	assert_int_equal(numbers.ring_n, n);
	assert_int_equal(bt_pipeline_rings(lab.pipeline, &one, 1), n);
	assert_string_equal(one.name, "feed-0-0");
	lab_end(&lab);
}

/* ---- the process ---- */

static const struct bt_live_thread *thread_of(const struct bt_live_numbers *numbers, const char *name)
{
	for (uint32_t i = 0; i < numbers->thread_n; i++) {
		if (strcmp(numbers->threads[i].name, name) == 0) {
			return &numbers->threads[i];
		}
	}
	return NULL;
}

static void the_calling_thread_runs_and_uses_time(void **state)
{
	struct bt_live_numbers before = {.label = ""}, now = before;

	(void)state;
	bt_live_of_process(&before);
	assert_int_equal(before.thread_n, 1);
	assert_string_equal(before.threads[0].does, "runs");
	do {
		for (int i = 0; i < 100000; i++) {
			(void)bt_clock_monotonic_ns();
		}
		now = (struct bt_live_numbers){.label = ""};
		bt_live_of_process(&now);
	} while (now.threads[0].cpu_ns <= before.threads[0].cpu_ns);
	assert_true(now.threads[0].cpu_ns > before.threads[0].cpu_ns);
}

static void threads_of_a_pipeline_are_distinguished(void **state)
{
	struct lab lab = {.now_ns = 1};
	const struct bt_pipeline_options options = lab_options(&lab);
	struct bt_live_numbers numbers;
	const struct bt_live_thread *thread;

	(void)state;
	lab_begin(&lab, &options);
	assert_int_equal(bt_pipeline_start(lab.pipeline, NULL), BT_OK);
	/* A started thread may not have its name yet. */
	do {
		numbers = (struct bt_live_numbers){.label = ""};
		bt_live_of_process(&numbers);
		bt_live_of_pipeline(&numbers, lab.pipeline);
		thread = thread_of(&numbers, "schedule");
	} while (!thread);
	assert_true(strcmp(thread->does, "works") == 0 || strcmp(thread->does, "waits") == 0);
	assert_true(bt_pipeline_stop(lab.pipeline, BT_END_ABANDON, BT_FOREVER));
	lab_end(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_stage_measures_each_of_what_it_does),
		cmocka_unit_test(a_wait_is_by_the_engines_clock),
		cmocka_unit_test(nothing_is_measured_unless_wanted),
		cmocka_unit_test(a_pipeline_reports_where_pods_wait),
		cmocka_unit_test(conflicts_are_counted_by_kind),
		cmocka_unit_test(rings_report_their_fill),
		cmocka_unit_test(the_calling_thread_runs_and_uses_time),
		cmocka_unit_test(threads_of_a_pipeline_are_distinguished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
