/* SPDX-License-Identifier: Apache-2.0
 * The tables of releases and of feature gates. Defaults are those of kube-scheduler v1.35.4, v1.36.3 and
 * v1.37.2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/model/release.h"

/* A release for tests of gates; the table need not contain it. */
static struct bt_release minor(uint32_t number)
{
	return (struct bt_release){.minor = number};
}

static void releases_are_found_by_their_minor_version(void **state)
{
	(void)state;
	for (uint32_t i = 0; bt_release_at(i); i++) {
		const struct bt_release *release = bt_release_at(i);
		char name[16];

		snprintf(name, sizeof(name), "1.%u", release->minor);
		assert_string_equal(release->name, name);
		assert_string_equal(release->minor_text, name + 2);
		assert_string_equal(release->version + 1, release->number);
		assert_memory_equal(release->number, name, strlen(name));
		snprintf(name, sizeof(name), "1.%u", release->minor - 1);
		assert_string_equal(release->before, name);
		assert_ptr_equal(bt_release_find(bt_str(release->name)), release);
		snprintf(name, sizeof(name), "v%s", release->name);
		assert_ptr_equal(bt_release_find(bt_str(name)), release);
		assert_true(i == 0 || release->minor > bt_release_at(i - 1)->minor);
	}
	assert_null(bt_release_find(bt_str("1.2")));
	assert_null(bt_release_find(bt_str("")));
	assert_string_equal(bt_release_default()->name, BT_RELEASE_DEFAULT_TEXT);
}

/* The change of that metric, or one without a name. */
static struct bt_metric_change change_of(const char *from, const char *to, const char *metric)
{
	struct bt_metric_change change, found = {.metric = NULL};
	uint32_t n = 0;

	for (uint32_t i = 0; bt_release_metric_change(
		     bt_release_find(bt_str(from)), bt_release_find(bt_str(to)), i, &change);
		i++) {
		if (strcmp(change.metric, metric) == 0) {
			found = change;
			n++;
		}
	}
	assert_true(n <= 1);
	return found;
}

/* Source: pkg/scheduler/metrics/metrics.go of v1.35.4, v1.36.3 and v1.37.2. */
static void added_removed_and_changed_metrics_are_reported_once(void **state)
{
	(void)state;
	struct bt_metric_change comes = change_of("1.36", "1.37", "scheduler_queued_entities");
	assert_null(comes.from_labels);
	assert_string_equal(comes.to_labels, "queue, type");
	struct bt_metric_change goes = change_of("1.36", "1.37", "scheduler_resourceclaim_creates_total");
	assert_string_equal(goes.from_labels, "status");
	assert_null(goes.to_labels);
	struct bt_metric_change both = change_of("1.36", "1.37", "scheduler_pending_pods");
	assert_non_null(strstr(both.to_labels, "incomplete"));
	assert_null(strstr(both.from_labels, "incomplete"));
	assert_non_null(both.to_help);
	struct bt_metric_change matures = change_of("1.35", "1.36", "scheduler_goroutines");
	assert_non_null(strstr(matures.from_help, "[ALPHA]"));
	assert_null(matures.to_help); /* the program's own text */
	assert_null(change_of("1.36", "1.37", "scheduler_goroutines").metric);
	assert_null(change_of("1.37", "1.37", "scheduler_queued_entities").metric);
}

static void a_metric_is_there_in_its_releases(void **state)
{
	const struct bt_release *old = bt_release_find(bt_str("1.35"));
	const char *flushed = "scheduler_pod_scheduled_after_flush_total";

	(void)state;
	assert_null(bt_release_metric_labels(old, flushed));
	assert_string_equal(bt_release_metric_labels(bt_release_find(bt_str("1.36")), flushed), "");
	assert_string_equal(bt_release_metric_labels(old, "scheduler_schedule_attempts_total"), "");
}

static void every_text_stands_once_in_each_release(void **state)
{
	(void)state;
	for (uint32_t i = 0; bt_release_at(i); i++) {
		for (unsigned text = 0; text < BT_TEXT_N; text++) {
			assert_non_null(bt_release_text(bt_release_at(i), (enum bt_release_text)text));
		}
	}
}

/* A mixed release has one point of the other release, and is otherwise unchanged. */
static void a_mixture_takes_the_points_that_are_named_from_the_other_release(void **state)
{
	const struct bt_release *older = bt_release_find(bt_str("1.36")),
				*newer = bt_release_find(bt_str("1.37"));

	(void)state;
	for (unsigned rule = 0; rule < BT_RULE_N; rule++) {
		struct bt_release mix = bt_release_mix(newer, older, UINT64_C(1) << rule, false, 0);

		for (unsigned other = 0; other < BT_RULE_N; other++) {
			assert_int_equal(bt_release_has(&mix, (enum bt_rule)other),
				bt_release_has(other == rule ? older : newer, (enum bt_rule)other));
		}
		assert_true(strlen(bt_rule_name((enum bt_rule)rule)) > 0);
	}
	struct bt_release texts = bt_release_mix(newer, older, 0, true, 0),
			  plugins = bt_release_mix(newer, older, 0, false, UINT64_MAX);
	assert_string_equal(
		bt_release_text(&texts, BT_TEXT_CLAIMS_KEPT), bt_release_text(older, BT_TEXT_CLAIMS_KEPT));
	assert_string_equal(
		bt_release_text(&plugins, BT_TEXT_CLAIMS_KEPT), bt_release_text(newer, BT_TEXT_CLAIMS_KEPT));
	const struct bt_default_plugin *plugin = NULL, *others = NULL;
	do {
		plugin = bt_release_next_plugin(&plugins, plugin);
		others = bt_release_next_plugin(older, others);
		assert_ptr_equal(plugin, others);
	} while (plugin);
}

/* A plugin that moves is at the other release's place, once. */
static void a_mixture_takes_a_single_default_plugin(void **state)
{
	const struct bt_release *older = bt_release_find(bt_str("1.36")),
				*newer = bt_release_find(bt_str("1.37"));
	uint32_t differing_n = 0;

	(void)state;
	for (uint32_t number = 0; number < BT_RELEASE_PLUGINS; number++) {
		if (!bt_release_plugin_differs(older, newer, number)) {
			continue;
		}
		const struct bt_release mix = bt_release_mix(newer, older, 0, false, UINT64_C(1) << number);

		differing_n++;
		assert_false(bt_release_plugin_differs(&mix, older, number));
		for (uint32_t other = 0; other < BT_RELEASE_PLUGINS; other++) {
			assert_true(other == number || !bt_release_plugin_differs(&mix, newer, other));
		}
		assert_true(bt_release_plugin_name(number).len > 0);
	}
	assert_true(differing_n > 1);
}

static void default_plugins_stand_in_upstreams_order_once_each(void **state)
{
	(void)state;
	for (uint32_t i = 0; bt_release_at(i); i++) {
		const struct bt_release *release = bt_release_at(i);
		const struct bt_default_plugin *plugin = bt_release_next_plugin(release, NULL), *other;

		assert_non_null(plugin);
		assert_true(bt_str_is(plugin->name, "SchedulingGates"));
		for (; plugin; plugin = bt_release_next_plugin(release, plugin)) {
			for (other = bt_release_next_plugin(release, plugin); other;
				other = bt_release_next_plugin(release, other)) {
				assert_false(bt_str_eq(plugin->name, other->name));
			}
		}
	}
}

static const struct bt_gate_spec *under(
	enum bt_gate gate, const char *binary, const char *emulated, uint32_t compatible)
{
	const struct bt_release release = bt_release_emulate(
		bt_release_find(bt_str(binary)), bt_release_find(bt_str(emulated)), compatible);

	return bt_gate_spec(gate, &release);
}

static void an_emulated_release_has_its_gates_and_the_rules_of_the_binary(void **state)
{
	const struct bt_release *v36 = bt_release_find(bt_str("1.36")),
				*v37 = bt_release_find(bt_str("1.37"));
	const struct bt_release release = bt_release_emulate(v37, v36, 0);

	(void)state;
	assert_ptr_equal(bt_release_binary(&release), v37);
	assert_ptr_equal(bt_release_binary(v36), v36);
	assert_string_equal(release.name, "1.36");
	assert_int_equal(release.compatible, 35);
	assert_true(bt_release_has(&release, BT_RULE_RESIZE_SUMS_BY_STATE));
	assert_string_equal(bt_release_text(&release, BT_TEXT_CLAIMS_KEPT), "");
	assert_ptr_equal(bt_release_next_plugin(&release, NULL), bt_release_next_plugin(v37, NULL));
	assert_int_equal(under(BT_GATE_STORAGE_CAPACITY_SCORING, "1.37", "1.36", 0)->stage, BT_GATE_ALPHA);
	/* Gates that the binary has dropped have the value that it assumes. */
	assert_int_equal(under(BT_GATE_GANG_SCHEDULING, "1.37", "1.36", 0)->stage, BT_GATE_ABSENT);
	assert_int_equal(bt_gate_find(bt_str("GangScheduling"), &release), BT_GATE_N);
	assert_true(under(BT_GATE_SCHEDULER_QUEUEING_HINTS, "1.37", "1.36", 0)->on);
	/* Gates that the emulated release lacks are known, and off. */
	assert_int_equal(bt_gate_find(bt_str("CompositePodGroup"), &release), BT_GATE_COMPOSITE_POD_GROUP);
	assert_int_equal(under(BT_GATE_COMPOSITE_POD_GROUP, "1.37", "1.36", 0)->stage, BT_GATE_ABSENT);
	assert_false(under(BT_GATE_COMPOSITE_POD_GROUP, "1.37", "1.36", 0)->on);
}

static void a_default_may_depend_on_what_else_there_may_be(void **state)
{
	(void)state;
	assert_false(under(BT_GATE_DRA_FRACTIONAL_CAPACITY_RANGE, "1.37", "1.37", 0)->on);
	assert_false(under(BT_GATE_DRA_FRACTIONAL_CAPACITY_RANGE, "1.37", "1.37", 36)->on);
	assert_true(under(BT_GATE_DRA_FRACTIONAL_CAPACITY_RANGE, "1.37", "1.37", 37)->on);
	assert_false(under(BT_GATE_DRA_FRACTIONAL_CAPACITY_RANGE, "1.37", "1.36", 36)->on);
	assert_int_equal(
		bt_release_emulate(bt_release_find(bt_str("1.37")), bt_release_find(bt_str("1.35")), 0)
			.compatible,
		34);
}

static void a_gate_is_what_each_release_makes_of_it(void **state)
{
	static const struct {
		enum bt_gate gate;
		uint32_t minor;
		enum bt_gate_stage stage;
		bool on, locked;
	} cases[] = {
		{BT_GATE_STORAGE_CAPACITY_SCORING, 36, BT_GATE_ALPHA, false, false},
		{BT_GATE_STORAGE_CAPACITY_SCORING, 37, BT_GATE_BETA, true, false},
		{BT_GATE_NODE_DECLARED_FEATURES, 35, BT_GATE_ALPHA, false, false},
		{BT_GATE_NODE_DECLARED_FEATURES, 36, BT_GATE_BETA, true, false},
		{BT_GATE_NODE_DECLARED_FEATURES, 37, BT_GATE_GA, true, true},
		{BT_GATE_DRA_DEVICE_TAINT_RULES, 35, BT_GATE_ALPHA, false, false},
		{BT_GATE_DRA_DEVICE_TAINT_RULES, 37, BT_GATE_GA, true, false},
		/* Gates appear and disappear; after graduation they stay on. */
		{BT_GATE_DRA_WORKLOAD_RESOURCE_CLAIMS, 35, BT_GATE_ABSENT, false, false},
		{BT_GATE_DRA_FRACTIONAL_CAPACITY_RANGE, 36, BT_GATE_ABSENT, false, false},
		{BT_GATE_DRA_FRACTIONAL_CAPACITY_RANGE, 37, BT_GATE_BETA, false, false},
		{BT_GATE_SIDECAR_CONTAINERS, 36, BT_GATE_GA, true, true},
		{BT_GATE_SIDECAR_CONTAINERS, 37, BT_GATE_ABSENT, true, false},
		{BT_GATE_GANG_SCHEDULING, 37, BT_GATE_ABSENT, false, false},
		{BT_GATE_CSI_MIGRATION_PORTWORX, 35, BT_GATE_GA, true, true},
		{BT_GATE_CSI_MIGRATION_PORTWORX, 36, BT_GATE_ABSENT, true, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct bt_release release = minor(cases[i].minor);
		const struct bt_gate_spec *spec = bt_gate_spec(cases[i].gate, &release);
		bool absent = cases[i].stage == BT_GATE_ABSENT;

		assert_int_equal(spec->stage, cases[i].stage);
		assert_int_equal(spec->on, cases[i].on);
		assert_int_equal(spec->locked, cases[i].locked);
		assert_int_equal(bt_gate_find(bt_str(bt_gate_name(cases[i].gate)), &release),
			absent ? BT_GATE_N : cases[i].gate);
	}
}

static void a_need_counts_in_releases_that_have_both_gates(void **state)
{
	const struct bt_release v35 = minor(35), v36 = minor(36), v37 = minor(37);

	(void)state;
	assert_true(bt_gate_needs(BT_GATE_GANG_SCHEDULING, BT_GATE_GENERIC_WORKLOAD, &v36));
	assert_false(bt_gate_needs(BT_GATE_GANG_SCHEDULING, BT_GATE_GENERIC_WORKLOAD, &v37));
	assert_false(bt_gate_needs(BT_GATE_DRA_WORKLOAD_RESOURCE_CLAIMS, BT_GATE_GENERIC_WORKLOAD, &v35));
	assert_true(bt_gate_needs(BT_GATE_DRA_WORKLOAD_RESOURCE_CLAIMS, BT_GATE_GENERIC_WORKLOAD, &v37));
	/* Both have existed for long; the dependency is new. */
	assert_false(bt_gate_needs(BT_GATE_EVENTED_PLEG, BT_GATE_PLEG_ON_DEMAND_RELIST, &v36));
	assert_true(bt_gate_needs(BT_GATE_EVENTED_PLEG, BT_GATE_PLEG_ON_DEMAND_RELIST, &v37));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(releases_are_found_by_their_minor_version),
		cmocka_unit_test(added_removed_and_changed_metrics_are_reported_once),
		cmocka_unit_test(a_metric_is_there_in_its_releases),
		cmocka_unit_test(every_text_stands_once_in_each_release),
		cmocka_unit_test(a_mixture_takes_the_points_that_are_named_from_the_other_release),
		cmocka_unit_test(a_mixture_takes_a_single_default_plugin),
		cmocka_unit_test(default_plugins_stand_in_upstreams_order_once_each),
		cmocka_unit_test(an_emulated_release_has_its_gates_and_the_rules_of_the_binary),
		cmocka_unit_test(a_default_may_depend_on_what_else_there_may_be),
		cmocka_unit_test(a_gate_is_what_each_release_makes_of_it),
		cmocka_unit_test(a_need_counts_in_releases_that_have_both_gates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
