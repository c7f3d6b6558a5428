/* SPDX-License-Identifier: Apache-2.0
 * Is another scheduler's node for a pod as good as the one chosen here?
 */
#include "lab.h"

#include "caught.h"
#include "engine/base/clock.h"
#include "tools/kube/log/log.h"
#include "tools/cluster/run/shadow_compare.h"

struct desk {
	struct lab lab;
	struct bt_shadow_compare *shadow;
};

static void look(void *context, uint32_t pod_ix)
{
	struct desk *desk = context;

	bt_shadow_compare_score(desk->shadow, bt_pipeline_engine(desk->lab.pipeline), pod_ix);
}

static void arrives(void *context, uint32_t pod_ix, struct bt_str node)
{
	struct desk *desk = context;

	bt_shadow_compare_judge(desk->shadow, bt_pipeline_engine(desk->lab.pipeline), pod_ix, node);
}

/* Two empty, equal nodes; a third one holds a pod. */
static int setup(void **state)
{
	struct desk *desk = calloc(1, sizeof(*desk));
	struct bt_pipeline_options options = lab_options(&desk->lab);

	desk->shadow = bt_shadow_compare_create();
	options.sink = (struct bt_pipeline_sink){.cycle_begins = look, .arrives = arrives, .context = desk};
	lab_begin(&desk->lab, &options);
	lab_node(&desk->lab, "n1");
	lab_node(&desk->lab, "n2");
	lab_node(&desk->lab, "n3");
	lab_pod_event(&desk->lab, BT_WATCH_EVENT_APPLY, "there", ", 'uid': 'u0'", ", 'nodeName': 'n3'");
	lab_settle(&desk->lab);
	*state = desk;
	return 0;
}

static int teardown(void **state)
{
	struct desk *desk = *state;

	lab_end(&desk->lab);
	bt_shadow_compare_destroy(desk->shadow);
	free(desk);
	return 0;
}

static void create(struct desk *desk, int i)
{
	char name[16], meta[32];

	snprintf(name, sizeof(name), "p%d", i);
	snprintf(meta, sizeof(meta), ", 'uid': 'u%d'", i);
	lab_pod(&desk->lab, name, meta);
}

/* Shows the other scheduler's binding. */
static void bind_there(struct desk *desk, int i, const char *node)
{
	char name[16], meta[32], spec[64];

	snprintf(name, sizeof(name), "p%d", i);
	snprintf(meta, sizeof(meta), ", 'uid': 'u%d'", i);
	snprintf(spec, sizeof(spec), ", 'nodeName': '%s'", node);
	lab_pod_event(&desk->lab, BT_WATCH_EVENT_APPLY, name, meta, spec);
	lab_take_in(&desk->lab);
}

/* Of all pods so far. */
static void assert_verdicts(struct desk *desk, uint64_t same, uint64_t tied, uint64_t lower, uint64_t refused)
{
	bt_shadow_compare_tick(desk->shadow, INT64_MAX);
	assert_int_equal(bt_shadow_compare_count(desk->shadow, BT_SHADOW_COMPARE_SAME), same);
	assert_int_equal(bt_shadow_compare_count(desk->shadow, BT_SHADOW_COMPARE_TIED), tied);
	assert_int_equal(bt_shadow_compare_count(desk->shadow, BT_SHADOW_COMPARE_LOWER), lower);
	assert_int_equal(bt_shadow_compare_count(desk->shadow, BT_SHADOW_COMPARE_REFUSED), refused);
}

/* No pod is compared before all are bound. */
static void pods_of_one_batch_are_decided_in_order_of_arrival(void **state)
{
	struct desk *desk = *state;

	for (int i = 1; i <= 4; i++) {
		create(desk, i);
	}
	lab_take_in(&desk->lab);
	bind_there(desk, 1, "n1"); /* or n2 */
	assert_verdicts(desk, 0, 1, 0, 0);
	bind_there(desk, 2, "n2"); /* the only empty node now */
	assert_verdicts(desk, 1, 1, 0, 0);
	bind_there(desk, 3, "n3"); /* all are equal now */
	assert_verdicts(desk, 1, 2, 0, 0);
	bind_there(desk, 4, "n3"); /* which is full, with two pods of a CPU each */
	assert_verdicts(desk, 1, 2, 0, 1);
}

static void a_pod_that_was_decided_here_is_judged_as_it_was_then(void **state)
{
	static const char *const nodes[] = {"n1", "n2", "n3"};
	struct desk *desk = *state;
	int same = 0, tied = 0;

	for (int i = 1; i <= 3; i++) {
		create(desk, i);
		lab_settle(&desk->lab); /* it is being bound to n1 or n2 */
		assert_int_equal(desk->lab.request_n, i);
		bool ours = strcmp(desk->lab.bind_requests[i - 1].node, nodes[i - 1]) == 0;

		bind_there(desk, i, nodes[i - 1]);
		same += i == 1 && ours;
		tied += i == 1 && !ours;
		if (i == 1) {
			assert_verdicts(desk, (uint64_t)same, (uint64_t)tied, 0, 0);
		} else if (i == 2) {
			assert_verdicts(desk, (uint64_t)same + 1, (uint64_t)tied, 0, 0);
		}
		bt_pipeline_bind_failed(
			desk->lab.pipeline, desk->lab.bind_requests[i - 1].handle, bt_str("no"));
		lab_settle(&desk->lab);
	}
	assert_int_equal(bt_shadow_compare_count(desk->shadow, BT_SHADOW_COMPARE_LOWER) +
				 bt_shadow_compare_count(desk->shadow, BT_SHADOW_COMPARE_REFUSED),
		0);
}

/* They were decided in order; the first two bindings were slow. */
static void a_lower_node_is_crossed_when_better_ones_get_pods_that_waited_longer(void **state)
{
	struct desk *desk = *state;

	for (int i = 1; i <= 3; i++) {
		create(desk, i);
	}
	lab_take_in(&desk->lab);
	bind_there(desk, 3, "n3");
	bind_there(desk, 2, "n2");
	bt_shadow_compare_tick(desk->shadow, bt_clock_monotonic_ns());
	assert_int_equal(bt_shadow_compare_count(desk->shadow, BT_SHADOW_COMPARE_CROSSED), 0);
	bind_there(desk, 1, "n1");
	assert_int_equal(bt_shadow_compare_count(desk->shadow, BT_SHADOW_COMPARE_CROSSED), 1);
	assert_verdicts(desk, 1, 1, 0, 0);
}

static void later_pods_do_not_overtake(void **state)
{
	struct desk *desk = *state;

	for (int i = 1; i <= 3; i++) {
		create(desk, i);
	}
	lab_take_in(&desk->lab);
	bind_there(desk, 1, "n3");
	bind_there(desk, 2, "n2");
	bind_there(desk, 3, "n1");
	assert_int_equal(bt_shadow_compare_count(desk->shadow, BT_SHADOW_COMPARE_CROSSED), 0);
	assert_verdicts(desk, 1, 1, 1, 0);
}

static void a_fuller_node_is_lower_and_one_that_is_not_there_refused(void **state)
{
	struct desk *desk = *state;

	create(desk, 1);
	create(desk, 2);
	lab_take_in(&desk->lab);
	bind_there(desk, 1, "n3");
	assert_verdicts(desk, 0, 0, 1, 0);
	bind_there(desk, 2, "n4");
	assert_verdicts(desk, 0, 0, 1, 1);
}

static void a_pod_is_judged_once_and_only_if_it_was_seen_waiting(void **state)
{
	struct desk *desk = *state;

	create(desk, 1);
	lab_take_in(&desk->lab);
	bind_there(desk, 1, "n1");
	bind_there(desk, 1, "n1");
	bind_there(desk, 2, "n2");
	assert_verdicts(desk, 0, 1, 0, 0);
}

static void it_logs_its_progress_every_minute_and_at_the_end(void **state)
{
	struct desk *desk = *state;
	int64_t now_ns = bt_clock_monotonic_ns();
	struct bt_buf so_far = {0};

	create(desk, 1);
	create(desk, 2);
	lab_take_in(&desk->lab);
	caught_begin();
	bt_log_setup(BT_LOG_TEXT, 0);
	bt_shadow_compare_report(desk->shadow, now_ns);
	bind_there(desk, 1, "n1");
	bt_shadow_compare_report(desk->shadow, now_ns + 59 * LAB_SECOND);
	bt_buf_text(&so_far, caught_text());
	bt_shadow_compare_report(desk->shadow, now_ns + 60 * LAB_SECOND);
	bt_buf_text(&so_far, caught_text());
	bt_shadow_compare_report(desk->shadow, now_ns + 60 * LAB_SECOND);
	bind_there(desk, 2, "n3"); /* it is compared only at the end */
	bt_shadow_compare_report_end(desk->shadow);
	const char *last = caught_end();

	assert_non_null(
		strstr(so_far.ptr, "] \"Nodes that the other scheduler chose, compared so far\" pods=1 "
				   "same=0 tied=1 crossed=0 lower=0 refused=0\n"));
	assert_ptr_equal(strchr(so_far.ptr, '\n'), strrchr(so_far.ptr, '\n'));
	bt_buf_fini(&so_far);
	assert_non_null(strstr(last, "] \"Nodes that the other scheduler chose, compared in all\" pods=2 "
				     "same=0 tied=1 crossed=0 lower=1 refused=0\n"));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(pods_of_one_batch_are_decided_in_order_of_arrival),
		TEST(a_pod_that_was_decided_here_is_judged_as_it_was_then),
		TEST(a_lower_node_is_crossed_when_better_ones_get_pods_that_waited_longer),
		TEST(later_pods_do_not_overtake),
		TEST(a_fuller_node_is_lower_and_one_that_is_not_there_refused),
		TEST(a_pod_is_judged_once_and_only_if_it_was_seen_waiting),
		TEST(it_logs_its_progress_every_minute_and_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
