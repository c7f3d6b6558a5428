/* SPDX-License-Identifier: Apache-2.0
 * Is where another scheduler put a pod as good as where it would have gone?
 */
#include "lab.h"

#include "tools/scheduler/rival.h"

struct desk {
	struct lab lab;
	struct bt_rival *shadow;
};

static void look(void *context, uint32_t pod_ix)
{
	struct desk *desk = context;

	bt_rival_look(desk->shadow, bt_pipeline_engine(desk->lab.pipeline), pod_ix);
}

static int setup(void **state)
{
	struct desk *desk = calloc(1, sizeof(*desk));
	struct bt_pipeline_options options = lab_options(&desk->lab);

	desk->shadow = bt_rival_create();
	options.sink = (struct bt_pipeline_sink){.look = look, .context = desk};
	lab_begin(&desk->lab, &options);
	lab_node(&desk->lab, "n1");
	lab_node(&desk->lab, "n2");
	lab_node_event(&desk->lab, BT_PARCEL_APPLY, "n3", "");
	lab_pod_event(&desk->lab, BT_PARCEL_APPLY, "there", ", 'uid': 'u0'", ", 'nodeName': 'n3'");
	lab_settle(&desk->lab);
	*state = desk;
	return 0;
}

static int teardown(void **state)
{
	struct desk *desk = *state;

	lab_end(&desk->lab);
	bt_rival_destroy(desk->shadow);
	free(desk);
	return 0;
}

static enum bt_rival_verdict judge(struct desk *desk, const char *uid, const char *ours, const char *theirs)
{
	return bt_rival_judge(desk->shadow, &(struct bt_writer_judgement){
						    .pod = {BT_STR("default"), BT_STR("p"), bt_str(uid)},
						    .ours = bt_str(ours),
						    .theirs = bt_str(theirs),
					    });
}

/* Two nodes are empty and equal, a third holds a pod, a fourth there is not. */
static void a_node_is_the_same_or_tied_or_lower_or_refused(void **state)
{
	struct desk *desk = *state;
	const char *const ours = "n1";

	for (int i = 0; i < 4; i++) {
		char name[8], meta[32];

		snprintf(name, sizeof(name), "p%d", i);
		snprintf(meta, sizeof(meta), ", 'uid': 'u%d'", i + 1);
		lab_pod_event(&desk->lab, BT_PARCEL_APPLY, name, meta, "");
		lab_settle(&desk->lab);
		lab_pod_event(&desk->lab, BT_PARCEL_DELETE, name, meta, "");
		lab_settle(&desk->lab);
	}
	assert_int_equal(judge(desk, "u1", ours, "n1"), BT_RIVAL_SAME);
	assert_int_equal(judge(desk, "u2", ours, "n2"), BT_RIVAL_TIED);
	assert_int_equal(judge(desk, "u3", ours, "n3"), BT_RIVAL_LOWER);
	assert_int_equal(judge(desk, "u4", ours, "n4"), BT_RIVAL_REFUSED);
	for (int v = 0; v < BT_RIVAL_UNKNOWN; v++) {
		assert_int_equal(bt_rival_count(desk->shadow, (enum bt_rival_verdict)v), 1);
	}
}

static void of_a_pod_whose_turn_has_not_come_nothing_is_known_but_its_node_may_be_the_same(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(judge(desk, "u9", "", "n1"), BT_RIVAL_UNKNOWN);
	assert_int_equal(judge(desk, "u9", "n1", "n1"), BT_RIVAL_SAME);
}

static void what_was_known_of_a_pod_that_was_not_decided_again_is_not_compared(void **state)
{
	struct desk *desk = *state;
	const struct bt_writer_judgement judgement = {.pod = {BT_STR("default"), BT_STR("p"), BT_STR("u1")},
		.theirs = BT_STR("n3"),
		.undecided = true};

	lab_pod(&desk->lab, "p", ", 'uid': 'u1'");
	lab_settle(&desk->lab);
	assert_int_equal(bt_rival_judge(desk->shadow, &judgement), BT_RIVAL_UNKNOWN);
	assert_int_equal(bt_rival_count(desk->shadow, BT_RIVAL_UNKNOWN), 1);
	assert_int_equal(bt_rival_count(desk->shadow, BT_RIVAL_LOWER), 0);
}

static void a_pod_is_judged_once(void **state)
{
	struct desk *desk = *state;

	lab_pod(&desk->lab, "p", ", 'uid': 'u1'");
	lab_settle(&desk->lab);
	assert_int_equal(judge(desk, "u1", "n1", "n2"), BT_RIVAL_TIED);
	assert_int_equal(judge(desk, "u1", "n1", "n2"), BT_RIVAL_UNKNOWN);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_node_is_the_same_or_tied_or_lower_or_refused),
		TEST(of_a_pod_whose_turn_has_not_come_nothing_is_known_but_its_node_may_be_the_same),
		TEST(what_was_known_of_a_pod_that_was_not_decided_again_is_not_compared),
		TEST(a_pod_is_judged_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
