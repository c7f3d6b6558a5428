/* SPDX-License-Identifier: Apache-2.0
 * How often plugins were evaluated, as kube-scheduler counts it. Source: instrumented_plugins.go, v1.36.3.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/flow/cycle/plugin_runs.h"

/* Two plugins at every point. */
struct trial {
	struct bt_profile profile;
	struct bt_plan plan;
	struct bt_plugin_runs runs;
};

static void begin(struct trial *t)
{
	*t = (struct trial){.profile = {.pre_filter = {0, 1},
				    .filter = {0, 1},
				    .pre_score = {0, 1},
				    .score = {0, 1},
				    .pre_filter_n = 2,
				    .filter_n = 2,
				    .pre_score_n = 2,
				    .score_n = 2}};
	t->plan.profile = &t->profile;
}

static void assert_runs(const struct trial *t, enum bt_run_point point, uint64_t first, uint64_t second)
{
	assert_int_equal(t->runs.n[point][0], first);
	assert_int_equal(t->runs.n[point][1], second);
}

static void columns_count_every_node_for_every_plugin(void **state)
{
	struct trial t;

	(void)state;
	begin(&t);
	bt_plugin_runs_note(&t.runs, &t.plan, NULL, 10, true);
	assert_runs(&t, BT_RUN_PRE_FILTER, 1, 1);
	assert_runs(&t, BT_RUN_FILTER, 10, 10);
	assert_runs(&t, BT_RUN_PRE_SCORE, 1, 1);
	assert_runs(&t, BT_RUN_SCORE, 10, 10);
}

static void a_later_filter_is_not_run_on_nodes_that_were_refused(void **state)
{
	uint32_t refused_by[] = {0, BT_PASSED, 0, 1, BT_PASSED};
	const struct bt_evaluation evaluation = {.visited_n = 5, .feasible_n = 2, .refused_by = refused_by};
	struct trial t;

	(void)state;
	begin(&t);
	bt_plugin_runs_note(&t.runs, &t.plan, &evaluation, 10, true);
	assert_runs(&t, BT_RUN_FILTER, 5, 3);
	assert_runs(&t, BT_RUN_SCORE, 2, 2);
}

static void a_plugin_that_skips_is_not_run(void **state)
{
	struct trial t;

	(void)state;
	begin(&t);
	t.plan.compiled[0].filter_skip = t.plan.compiled[0].score_skip = true;
	bt_plugin_runs_note(&t.runs, &t.plan, NULL, 10, true);
	assert_runs(&t, BT_RUN_PRE_FILTER, 0, 1);
	assert_runs(&t, BT_RUN_FILTER, 0, 10);
	assert_runs(&t, BT_RUN_PRE_SCORE, 0, 1);
	assert_runs(&t, BT_RUN_SCORE, 0, 10);
}

static void a_profile_without_the_earlier_point_runs_what_would_skip(void **state)
{
	struct trial t;

	(void)state;
	begin(&t);
	t.profile.pre_filter_n = t.profile.pre_score_n = 0;
	t.plan.compiled[0].filter_skip = t.plan.compiled[0].score_skip = true;
	bt_plugin_runs_note(&t.runs, &t.plan, NULL, 10, true);
	assert_runs(&t, BT_RUN_FILTER, 10, 10);
	assert_runs(&t, BT_RUN_SCORE, 10, 10);
}

static void a_refusal_at_pre_filter_ends_the_cycle(void **state)
{
	struct trial t;

	(void)state;
	begin(&t);
	t.plan.refusal = "no";
	t.plan.refused_by = 0;
	t.plan.compiled[0].filter_skip = true;
	bt_plugin_runs_note(&t.runs, &t.plan, NULL, 10, false);
	assert_runs(&t, BT_RUN_PRE_FILTER, 1, 0);
	assert_runs(&t, BT_RUN_FILTER, 0, 0);
}

static void a_single_feasible_node_is_not_scored(void **state)
{
	uint32_t refused_by[] = {0, BT_PASSED};
	const struct bt_evaluation evaluation = {.visited_n = 2, .feasible_n = 1, .refused_by = refused_by};
	struct trial t;

	(void)state;
	begin(&t);
	bt_plugin_runs_note(&t.runs, &t.plan, &evaluation, 10, true);
	bt_plugin_runs_note(&t.runs, &t.plan, NULL, 10, false);
	assert_runs(&t, BT_RUN_PRE_SCORE, 0, 0);
	assert_runs(&t, BT_RUN_SCORE, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_count_every_node_for_every_plugin),
		cmocka_unit_test(a_later_filter_is_not_run_on_nodes_that_were_refused),
		cmocka_unit_test(a_plugin_that_skips_is_not_run),
		cmocka_unit_test(a_profile_without_the_earlier_point_runs_what_would_skip),
		cmocka_unit_test(a_refusal_at_pre_filter_ends_the_cycle),
		cmocka_unit_test(a_single_feasible_node_is_not_scored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
