/* SPDX-License-Identifier: Apache-2.0
 * The report of a simulation: which sections and rows it has, for people and for programs.
 */
#include "rendered.h"
#include "trial.h"

#include "engine/base/mem.h"
#include "engine/flow/cycle/stage_latency.h"
#include "tools/kube/report/simulation.h"

/* The report of this cluster and these facts. */
static const char *report(
	struct trial *t, const struct bt_simulation_facts *facts, enum bt_emit_format format)
{
	struct bt_emit *emit = bt_emit_create();

	bt_report_begin(emit, "a.yaml", 7);
	bt_report_simulation(emit, t->engine, facts);
	const char *text = rendered(emit, format);

	bt_emit_destroy(emit);
	return text;
}

static void expect(const char *text, const char *line)
{
	if (!strstr(text, line)) {
		fail_msg("no '%s' in %s", line, text);
	}
}

static void programs_get_the_schema_and_every_count(void **state)
{
	struct trial t = begin(state);
	const struct bt_simulation_facts facts = {.pods_expanded = 3, .pods_lost = 2};

	add_node(&t, "n0", "4");
	assert_int_equal(decide(&t, add_pod(&t, "name: a", CPU("1"), "")).outcome, BT_PLACED);
	assert_int_equal(decide(&t, add_pod(&t, "name: b", CPU("9"), "")).outcome, BT_REFUSED);
	add_pod(&t, "name: c", CPU("1"), "");
	const char *text = report(&t, &facts, BT_EMIT_CSV);
	expect(text, ",schema,berth.simulation/v1\n,source,a.yaml\n,seed,7\n");
	expect(text, "pods,placed,1\npods,not_placed,1\npods,fragmented,0\npods,unreadable,2\n");
	expect(text, "pods,not_tried,1\npods,gated,0\n");
	expect(text, "pods,made_for_workloads,3\n");
	expect(text, "nodes,all,1\nnodes,empty,0\nnodes,full,0\n");
	end(&t);
}

static void people_see_rare_counts_only_when_there_is_something_to_count(void **state)
{
	struct trial t = begin(state);
	struct bt_simulation_facts facts = {0};

	const char *text = report(&t, &facts, BT_EMIT_TABLE);
	expect(text, "not placed");
	assert_null(strstr(text, "berth.simulation"));
	assert_null(strstr(text, "ignored: completed"));
	assert_null(strstr(text, "problems in the input"));
	assert_null(strstr(text, "Interrupted"));
	assert_null(strstr(text, "virtual time"));
	facts = (struct bt_simulation_facts){
		.pods_ended = 4, .problems = 5, .interrupted = true, .virtual_s = 60};
	text = report(&t, &facts, BT_EMIT_TABLE);
	expect(text, "ignored: completed");
	expect(text, "problems in the input");
	expect(text, "Interrupted: partial results");
	expect(text, "virtual time");
	end(&t);
}

static void resources_are_in_shares_of_what_nodes_have(void **state)
{
	struct trial t = begin(state);
	const struct bt_simulation_facts facts = {0};

	add_labeled_nodes(&t, 2); /* of 4 CPUs each */
	assert_int_equal(decide(&t, add_pod(&t, "name: a", CPU("3"), "")).outcome, BT_PLACED);
	const char *text = report(&t, &facts, BT_EMIT_CSV);
	expect(text, "\nresources,cpu,2,3000,3,8000,8,37.5,37.5,0.0,75.0,75.0\n");
	expect(text, "\nresources,pods,2,1,1,20,20,5.0,5.0,0.0,10.0,10.0\n");
	expect(text, "\nzones,z0,1,1,75.0,");
	expect(text, "\nzones,z1,1,0,0.0,");
	end(&t);
}

static void use_over_time_is_shown_for_traces_alone(void **state)
{
	struct trial t = begin(state);
	struct bt_report_use uses[BT_FIRST_RARE + 1] = {[BT_CPU] = {.mean = 1000, .peak = 2000}};
	struct bt_simulation_facts facts = {.uses = uses};

	add_node(&t, "n0", "4");
	assert_null(strstr(report(&t, &facts, BT_EMIT_CSV), "over_time"));
	facts.has_uses = true;
	expect(report(&t, &facts, BT_EMIT_CSV), "\nover_time,cpu,1000,1,25.0,2000,2,50.0\n");
	end(&t);
}

static void long_tables_are_cut_unless_all_rows_are_requested(void **state)
{
	struct trial t = begin(state);
	struct bt_report_kind kinds[70] = {{0}};
	char name[16], metadata[128];

	for (uint32_t i = 0; i < 70; i++) {
		kinds[i] = (struct bt_report_kind){.name = "Kind", .n = i + 1000};
		snprintf(metadata, sizeof(metadata), "%s, labels: {topology.kubernetes.io/zone: z%u}",
			numbered(name, sizeof(name), "n", i), i);
		add_node(&t, metadata, "4");
	}
	struct bt_simulation_facts facts = {.kinds = kinds, .kind_n = 70};
	const char *text = report(&t, &facts, BT_EMIT_CSV);
	expect(text, "kinds,Kind,1063,");
	assert_null(strstr(text, "kinds,Kind,1064,"));
	expect(text, ",more_kinds,6\n");
	expect(text, ",more_zones,6\n");
	facts.all = true;
	text = report(&t, &facts, BT_EMIT_CSV);
	expect(text, "kinds,Kind,1069,");
	assert_null(strstr(text, "more_"));
	end(&t);
}

static void kinds_say_whether_they_are_used_and_what_ignoring_them_changes(void **state)
{
	struct trial t = begin(state);
	const struct bt_report_kind kinds[] = {
		{.name = "Pod", .n = 2, .used = true}, {.name = "", .n = 1, .effect = "it is left out"}};
	const struct bt_simulation_facts facts = {.kinds = kinds, .kind_n = 2};

	const char *text = report(&t, &facts, BT_EMIT_CSV);
	expect(text, "\nkinds,Pod,2,used,\nkinds,(none),1,not used,it is left out\n");
	end(&t);
}

static void stages_that_were_measured_have_a_row_each(void **state)
{
	struct trial t = begin(state);
	struct bt_stage_latency *stages = bt_stage_latency_create();
	struct bt_simulation_facts facts = {0};

	bt_stage_latency_note(stages, BT_STAGE_DECIDE, 2000);
	assert_null(strstr(report(&t, &facts, BT_EMIT_CSV), "\nstages,"));
	facts.stages = stages;
	const char *text = report(&t, &facts, BT_EMIT_CSV), *row = strstr(text, "\nstages,");
	assert_non_null(row);
	expect(row, bt_stage_name(BT_STAGE_DECIDE));
	expect(row, ",1,2.0"); /* mean */
	expect(row, ",2.000,2.000,2.000,2.000,2.000\n");
	assert_null(strstr(row + 1, "\nstages,"));
	bt_mem_free(stages);
	end(&t);
}

static void rates_of_no_time_are_zero(void **state)
{
	struct trial t = begin(state);
	struct bt_simulation_facts facts = {.bytes_read = 3000000};

	add_node(&t, "n0", "4");
	assert_int_equal(decide(&t, add_pod(&t, "name: a", CPU("1"), "")).outcome, BT_PLACED);
	expect(report(&t, &facts, BT_EMIT_CSV), "time,read_mb_per_s,0\n");
	expect(report(&t, &facts, BT_EMIT_CSV), "time,placements_per_s,0\n");
	facts.read_s = 0.5;
	facts.decide_s = 0.25;
	expect(report(&t, &facts, BT_EMIT_CSV), "time,read_mb_per_s,6\n");
	expect(report(&t, &facts, BT_EMIT_CSV), "time,placements_per_s,4\n");
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(programs_get_the_schema_and_every_count),
		FIXTURE_TEST(people_see_rare_counts_only_when_there_is_something_to_count),
		FIXTURE_TEST(resources_are_in_shares_of_what_nodes_have),
		FIXTURE_TEST(use_over_time_is_shown_for_traces_alone),
		FIXTURE_TEST(long_tables_are_cut_unless_all_rows_are_requested),
		FIXTURE_TEST(kinds_say_whether_they_are_used_and_what_ignoring_them_changes),
		FIXTURE_TEST(stages_that_were_measured_have_a_row_each),
		FIXTURE_TEST(rates_of_no_time_are_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
