/* SPDX-License-Identifier: Apache-2.0
 * Feeding a pipeline: copies of objects, when all of them have been applied, and what admission makes while
 * the scheduling thread waits.
 */
#include "lab.h"

#include "engine/base/mem.h"
#include "tools/kube/objects/feeder.h"

/* Reads an object in JSON with ' for ". Owns: bt_watch_event_destroy. */
static struct bt_watch_event *read_object(struct lab *lab, const char *text)
{
	return lab_watch_event(lab, BT_WATCH_EVENT_APPLY, text);
}

static void hand_over(
	struct lab *lab, struct bt_feeder *feeder, enum bt_watch_event_kind kind, const char *text)
{
	struct bt_watch_event *read = read_object(lab, text);

	assert_int_equal(bt_feeder_hand_over(feeder, kind, &read->object), BT_OK);
	bt_watch_event_destroy(read); /* what was fed is a copy */
}

#define NODE(name)                                                                                           \
	"{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': '" name "'}, 'status': {'allocatable': "  \
	"{'cpu': '2', 'memory': '8Gi', 'pods': '10'}}}"
#define POD(name)                                                                                            \
	"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'namespace': 'default', 'name': '" name "'}, "     \
	"'spec': {'schedulerName': 'default-scheduler', 'containers': [{'name': 'a'}]}}"

static void fed_events_are_consumed_once_they_are_applied(void **state)
{
	struct lab *lab = *state;
	struct bt_feeder feeder = {.pipeline = lab->pipeline};

	assert_true(bt_feeders_are_taken(&feeder, 1));
	hand_over(lab, &feeder, BT_WATCH_EVENT_APPLY, NODE("n1"));
	hand_over(lab, &feeder, BT_WATCH_EVENT_APPLY, POD("p"));
	assert_false(bt_feeders_are_taken(&feeder, 1));
	lab_take_in(lab);
	assert_true(bt_feeders_are_taken(&feeder, 1));
	assert_non_null(lab_find(lab, "p"));
	bt_feeder_fini(&feeder);
}

static void deletions_count_as_well(void **state)
{
	struct lab *lab = *state;
	struct bt_feeder feeder = {.pipeline = lab->pipeline};

	hand_over(lab, &feeder, BT_WATCH_EVENT_APPLY, POD("p"));
	lab_take_in(lab);
	hand_over(lab, &feeder, BT_WATCH_EVENT_DELETE, POD("p"));
	assert_false(bt_feeders_are_taken(&feeder, 1));
	lab_take_in(lab);
	assert_true(bt_feeders_are_taken(&feeder, 1));
	assert_null(lab_find(lab, "p"));
	bt_feeder_fini(&feeder);
}

static void feeders_of_a_pipeline_are_counted_together(void **state)
{
	struct lab *lab = *state;
	struct bt_feeder feeders[] = {{.pipeline = lab->pipeline}, {.pipeline = lab->pipeline}};

	hand_over(lab, &feeders[0], BT_WATCH_EVENT_APPLY, POD("p"));
	lab_take_in(lab);
	hand_over(lab, &feeders[1], BT_WATCH_EVENT_APPLY, POD("q"));
	assert_false(bt_feeders_are_taken(feeders, 2));
	lab_take_in(lab);
	assert_true(bt_feeders_are_taken(feeders, 2));
	bt_feeder_fini(&feeders[0]);
	bt_feeder_fini(&feeders[1]);
}

/* ---- admission ---- */

static void feed_admitted(void *context, struct bt_object *object, bool made)
{
	(void)made;
	assert_int_equal(bt_feeder_hand_over(context, BT_WATCH_EVENT_APPLY, object), BT_OK);
}

static void refuse_nothing(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)context;
	fail_msg("refused: %s", diagnosis->message);
}

static uint64_t pod_n(const struct lab *lab)
{
	return bt_engine_counts(bt_pipeline_engine(lab->pipeline)).sets.queued;
}

static void pods_of_daemonsets_are_fed_for_the_applied_nodes(void **state)
{
	struct lab *lab = *state;
	struct bt_feeder feeder = {.pipeline = lab->pipeline};
	struct bt_admission admission = {
		.admitted = feed_admitted, .context = &feeder, .report = refuse_nothing, .expand = true};
	struct bt_watch_event *set = read_object(lab,
		"{'apiVersion': 'apps/v1', 'kind': 'DaemonSet', 'metadata': {'namespace': 'default', 'name': "
		"'d'}, 'spec': {'selector': {'matchLabels': {'a': 'b'}}, 'template': {'metadata': {'labels': "
		"{'a': 'b'}}, 'spec': {'containers': [{'name': 'a'}]}}}}");

	bt_admission_object(&admission, &set->object);
	lab_take_in(lab);
	uint64_t before_n = pod_n(lab);
	hand_over(lab, &feeder, BT_WATCH_EVENT_APPLY, NODE("n1"));
	hand_over(lab, &feeder, BT_WATCH_EVENT_APPLY, NODE("n2"));
	lab_take_in(lab);
	assert_int_equal(bt_feeder_finish_admission(&feeder, &admission), BT_OK);
	assert_false(bt_feeders_are_taken(&feeder, 1));
	lab_take_in(lab);
	assert_true(bt_feeders_are_taken(&feeder, 1));
	assert_int_equal(pod_n(lab), before_n + 2);
	/* Each is fed once. */
	assert_int_equal(bt_feeder_finish_admission(&feeder, &admission), BT_OK);
	assert_true(bt_feeders_are_taken(&feeder, 1));
	/* From now on objects are fed at once again. */
	hand_over(lab, &feeder, BT_WATCH_EVENT_APPLY, POD("p"));
	lab_take_in(lab);
	assert_non_null(lab_find(lab, "p"));
	bt_watch_event_destroy(set);
	bt_admission_fini(&admission);
	bt_feeder_fini(&feeder);
}

static void a_pipeline_that_has_stopped_takes_nothing(void **state)
{
	struct lab *lab = *state;
	struct bt_feeder feeder = {.pipeline = lab->pipeline};
	struct bt_watch_event *read = read_object(lab, POD("p"));

	assert_true(bt_pipeline_stop(lab->pipeline, BT_END_ABANDON, 0));
	assert_int_equal(bt_feeder_hand_over(&feeder, BT_WATCH_EVENT_APPLY, &read->object), BT_CONFLICT);
	assert_true(bt_feeders_are_taken(&feeder, 1)); /* nothing is under way */
	bt_watch_event_destroy(read);
	bt_feeder_fini(&feeder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(fed_events_are_consumed_once_they_are_applied),
		LAB_TEST(deletions_count_as_well),
		LAB_TEST(feeders_of_a_pipeline_are_counted_together),
		LAB_TEST(pods_of_daemonsets_are_fed_for_the_applied_nodes),
		LAB_TEST(a_pipeline_that_has_stopped_takes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
