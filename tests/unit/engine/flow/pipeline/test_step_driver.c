/* SPDX-License-Identifier: Apache-2.0
 * A step driver controls events, time and cycles: nothing else makes progress.
 */
#include "lab.h"

/* A step driver's moves, one per step. */
struct score {
	struct lab *lab;
	const char *moves; /* t: take a watch event, g: give one up, d: a cycle, s:
			    * advance time by a second */
	enum bt_pipeline_cycle turn;
	enum bt_status status;
	struct bt_taken taken;
	uint32_t cycle_n;
};

static bool move(void *context, struct bt_pipeline *pipeline)
{
	struct score *score = context;
	struct bt_watch_event *watch_event;
	uint32_t pod_ix;

	switch (*score->moves) {
	case 't':
		assert_non_null(bt_pipeline_next_event(pipeline));
		score->status = bt_pipeline_take_event(pipeline, &watch_event, &score->taken);
		bt_pipeline_end_event(pipeline, watch_event);
		break;
	case 'g':
		assert_non_null(bt_pipeline_next_event(pipeline));
		bt_pipeline_drop_event(pipeline);
		break;
	case 'd':
		score->turn = bt_pipeline_schedule_one(pipeline, &pod_ix);
		break;
	case 's':
		score->lab->now_ns += LAB_SECOND;
		bt_pipeline_set_time(pipeline, score->lab->now_ns, BT_TIME_TICK);
		break;
	default:
		return false;
	}
	score->moves++;
	return true;
}

static int64_t next_work_ns(void *context)
{
	(void)context;
	return INT64_MAX;
}

static bool is_over(void *context)
{
	return *((struct score *)context)->moves == 0;
}

static void on_cycle_ended(void *context, const struct bt_decision *decision,
	const struct bt_queue_info *info, uint32_t nominated, struct bt_str message)
{
	(void)decision;
	(void)info;
	(void)nominated;
	(void)message;
	((struct score *)context)->cycle_n++;
}

static void begin(struct lab *lab, struct score *score)
{
	struct bt_pipeline_options options = lab_options(lab);

	*score = (struct score){.lab = lab, .moves = ""};
	options.step_driver = (struct bt_pipeline_step_driver){move, next_work_ns, is_over, score};
	options.sink = (struct bt_pipeline_sink){.cycle_ended = on_cycle_ended, .context = score};
	lab_begin(lab, &options);
}

static void play(struct score *score, const char *moves)
{
	score->moves = moves;
	lab_settle(score->lab);
	assert_string_equal(score->moves, "");
}

static void nothing_is_taken_in_or_decided_unasked(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct score score;

	(void)state;
	begin(&lab, &score);
	lab_node(&lab, "n1");
	lab_pod(&lab, "p", "");
	lab_settle(&lab);
	lab_assert_sets(&lab, 0, 0, 0);
	play(&score, "tt");
	lab_assert_sets(&lab, 1, 0, 0);
	assert_int_equal(score.taken.entry, BT_ENTERED_QUEUE);
	assert_int_equal(score.cycle_n, 0);
	play(&score, "d");
	assert_int_equal(score.turn, BT_SCHEDULING_CYCLE_TAKEN);
	assert_int_equal(score.cycle_n, 1);
	play(&score, "d");
	assert_int_equal(score.turn, BT_SCHEDULING_CYCLE_NONE);
	lab_end(&lab);
}

static void a_pod_is_assumed_before_the_binder_is_called(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct score score;

	(void)state;
	begin(&lab, &score);
	lab_node(&lab, "n1");
	lab_pod(&lab, "p", ", 'uid': 'u1'");
	play(&score, "ttd");
	lab_assert_sets(&lab, 0, 0, 1);
	assert_int_equal(lab.request_n, 1);
	assert_string_equal(lab.bind_requests[0].uid, "u1");
	assert_string_equal(lab.bind_requests[0].node, "n1");
	assert_int_equal(lab_counts(&lab).binding_n, 1);
	/* Not even after a failure. */
	assert_int_equal(
		bt_pipeline_bind_failed(lab.pipeline, lab.bind_requests[0].handle, (struct bt_str){0}),
		BT_OK);
	lab_settle(&lab);
	lab_assert_sets(&lab, 0, 0, 1);
	assert_int_equal(lab_counts(&lab).failed_n, 1);
	assert_int_equal(lab_counts(&lab).binding_n, 0);
	assert_int_equal(bt_pipeline_bound(lab.pipeline, lab.bind_requests[0].handle), BT_CONFLICT);
	lab_end(&lab);
}

static void a_turn_waits_for_room_among_bindings(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct score score;
	char name[8];

	(void)state;
	begin(&lab, &score);
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		lab_node(&lab, name);
	}
	play(&score, "ttt");
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		lab_pod(&lab, name, "");
		play(&score, "t");
	}
	play(&score, "ddddd");
	assert_int_equal(score.cycle_n, 4); /* limits.bindings */
	assert_int_equal(score.turn, BT_SCHEDULING_CYCLE_LATER);
	assert_int_equal(bt_pipeline_bound(lab.pipeline, lab.bind_requests[2].handle), BT_OK);
	play(&score, "d");
	assert_int_equal(score.turn, BT_SCHEDULING_CYCLE_TAKEN);
	lab_end(&lab);
}

static void a_pod_that_is_given_up_was_never_there(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct score score;

	(void)state;
	begin(&lab, &score);
	lab_node(&lab, "n1");
	lab_pod(&lab, "p", "");
	lab_pod(&lab, "q", "");
	play(&score, "tgtdd");
	lab_assert_sets(&lab, 0, 0, 1);
	assert_null(lab_find(&lab, "p"));
	assert_non_null(lab_find(&lab, "q"));
	assert_null(bt_pipeline_next_event(lab.pipeline));
	/* Objects still in use at the end are freed. */
	lab_pod(&lab, "r", "");
	lab_settle(&lab);
	assert_non_null(bt_pipeline_next_event(lab.pipeline));
	lab_end(&lab);
}

static void the_step_driver_sets_the_time(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct score score;

	(void)state;
	begin(&lab, &score);
	lab_pod(&lab, "p", "");
	play(&score, "td");
	lab.now_ns += 1000 * LAB_SECOND;
	lab_node(&lab, "n1");
	play(&score, "td");
	assert_int_equal(score.turn, BT_SCHEDULING_CYCLE_NONE); /* its backoff has not passed */
	lab.now_ns -= 1000 * LAB_SECOND;
	play(&score, "ssd");
	assert_int_equal(score.turn, BT_SCHEDULING_CYCLE_TAKEN);
	lab_assert_sets(&lab, 0, 0, 1);
	lab_end(&lab);
}

static void draining_waits_for_the_conductor_and_the_binder(void **state)
{
	struct lab lab = {.now_ns = 1, .answers = true};
	struct score score;

	(void)state;
	begin(&lab, &score);
	lab_node(&lab, "n1");
	lab_pod(&lab, "p", "");
	lab_pod(&lab, "q", "");
	bt_pipeline_settle(lab.pipeline);
	score.moves = "tttdd";
	assert_int_equal(bt_pipeline_start(lab.pipeline, NULL), BT_OK);
	assert_true(bt_pipeline_stop(lab.pipeline, BT_END_DRAIN, BT_FOREVER));
	assert_string_equal(score.moves, "");
	assert_int_equal(lab_counts(&lab).bound_n, 2);
	lab_end(&lab);
}

static void watch_events_are_applied_at_once(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct score score;
	struct bt_taken taken;

	(void)state;
	begin(&lab, &score);
	lab_node(&lab, "n1");
	play(&score, "t");
	struct bt_watch_event *watch_event = lab_watch_event(&lab, BT_WATCH_EVENT_APPLY,
		"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'namespace': 'default', 'name': 'p'}, "
		"'spec': {'schedulerName': 'default-scheduler', 'containers': [{'name': 'a'}]}}");
	assert_int_equal(
		bt_pipeline_apply_object(lab.pipeline, BT_WATCH_EVENT_APPLY, &watch_event->object, &taken),
		BT_OK);
	assert_int_equal(taken.entry, BT_ENTERED_QUEUE);
	assert_int_equal(
		bt_pipeline_apply_object(lab.pipeline, BT_WATCH_EVENT_DELETE, &watch_event->object, &taken),
		BT_OK);
	assert_int_equal(
		bt_pipeline_apply_object(lab.pipeline, BT_WATCH_EVENT_DELETE, &watch_event->object, &taken),
		BT_NOT_FOUND);
	lab_assert_sets(&lab, 0, 0, 0);
	bt_watch_event_destroy(watch_event);
	lab_end(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_taken_in_or_decided_unasked),
		cmocka_unit_test(a_pod_is_assumed_before_the_binder_is_called),
		cmocka_unit_test(a_turn_waits_for_room_among_bindings),
		cmocka_unit_test(a_pod_that_is_given_up_was_never_there),
		cmocka_unit_test(the_step_driver_sets_the_time),
		cmocka_unit_test(draining_waits_for_the_conductor_and_the_binder),
		cmocka_unit_test(watch_events_are_applied_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
