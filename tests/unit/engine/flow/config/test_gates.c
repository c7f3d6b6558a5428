/* SPDX-License-Identifier: Apache-2.0
 * Feature gates: defaults, lists of settings, and error texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/flow/config/gates.h"

/* A release that has all gates of these tests. */
static const struct bt_release *release(void)
{
	return bt_release_find(bt_str("1.36"));
}

static void expect_refused(const char *list, const char *text)
{
	struct bt_gates gates, before;
	struct bt_buf error = {.len = 0};

	bt_gates_init(&gates, release());
	before = gates;
	assert_int_equal(bt_gates_parse(&gates, bt_str(list), &error), BT_INVALID);
	assert_string_equal(error.ptr, text);
	assert_memory_equal(&gates, &before, sizeof gates);
	bt_buf_fini(&error);
}

static void expect_taken(struct bt_gates *gates, const char *list)
{
	struct bt_buf error = {.len = 0};

	bt_gates_init(gates, release());
	assert_int_equal(bt_gates_parse(gates, bt_str(list), &error), BT_OK);
	assert_int_equal(error.len, 0);
	bt_buf_fini(&error);
}

static void defaults_are_those_of_the_release(void **state)
{
	struct bt_gates gates;

	(void)state;
	bt_gates_init(&gates, release());
	assert_true(gates.on[BT_GATE_NODE_DECLARED_FEATURES]);
	assert_true(gates.on[BT_GATE_DYNAMIC_RESOURCE_ALLOCATION]);
	assert_false(gates.on[BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS]);
	assert_false(gates.on[BT_GATE_SCHEDULER_ASYNC_API_CALLS]);
	assert_true(bt_gate_spec(BT_GATE_SCHEDULER_QUEUEING_HINTS, release())->locked);
	assert_false(bt_gate_spec(BT_GATE_DRA_PRIORITIZED_LIST, release())->locked);
}

/* Those that k8s.io/component-base registers for logs and metrics. */
static void gates_of_logs_and_metrics_are_known(void **state)
{
	static const struct {
		enum bt_gate gate;
		enum bt_gate_stage stage;
		bool on;
	} expected[] = {{BT_GATE_CONTEXTUAL_LOGGING, BT_GATE_BETA, true},
		{BT_GATE_LOGGING_ALPHA_OPTIONS, BT_GATE_ALPHA, false},
		{BT_GATE_LOGGING_BETA_OPTIONS, BT_GATE_BETA, true},
		{BT_GATE_NATIVE_HISTOGRAMS, BT_GATE_ALPHA, false}};
	struct bt_gates gates;

	(void)state;
	expect_taken(&gates, "ContextualLogging=false,LoggingAlphaOptions=true,LoggingBetaOptions=false,"
			     "NativeHistograms=true");
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		const struct bt_gate_spec *info = bt_gate_spec(expected[i].gate, release());

		assert_int_equal(info->stage, expected[i].stage);
		assert_int_equal(info->on, expected[i].on);
		assert_false(info->locked);
		assert_int_equal(gates.on[expected[i].gate], !expected[i].on);
	}
}

static void a_list_switches_gates_and_the_last_word_counts(void **state)
{
	struct bt_gates gates;

	(void)state;
	expect_taken(&gates, " TaintTolerationComparisonOperators = t ,,SchedulerAsyncAPICalls=1");
	assert_true(gates.on[BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS]);
	assert_true(gates.on[BT_GATE_SCHEDULER_ASYNC_API_CALLS]);
	expect_taken(&gates, "SchedulerAsyncAPICalls=true,SchedulerAsyncAPICalls=false");
	assert_false(gates.on[BT_GATE_SCHEDULER_ASYNC_API_CALLS]);
}

static void a_stage_is_overruled_by_a_name(void **state)
{
	struct bt_gates gates;

	(void)state;
	expect_taken(&gates, "StorageCapacityScoring=false,AllAlpha=true,AllBeta=true");
	assert_false(gates.on[BT_GATE_STORAGE_CAPACITY_SCORING]);
	assert_true(gates.on[BT_GATE_GANG_SCHEDULING]);
	assert_true(gates.on[BT_GATE_SCHEDULER_ASYNC_API_CALLS]);
}

static void bad_lists_are_refused_with_upstreams_texts(void **state)
{
	(void)state;
	expect_refused("Nope=true", "unrecognized feature gate: Nope");
	expect_refused("AllAlpha", "missing bool value for AllAlpha");
	expect_refused("AllAlpha=x",
		"invalid value of AllAlpha=x, err: strconv.ParseBool: parsing \"x\": invalid syntax");
	expect_refused("SchedulerQueueingHints=false",
		"cannot set feature gate SchedulerQueueingHints to false, feature is locked to true");
}

static void a_gate_needs_what_it_depends_on(void **state)
{
	struct bt_gates gates;

	(void)state;
	expect_refused("GangScheduling=true",
		"GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]");
	expect_refused("DRAResourceClaimDeviceStatus=false",
		"[DRADeviceBindingConditions is enabled, but depends on features that are disabled: "
		"[DRAResourceClaimDeviceStatus], DRAResourceClaimGranularStatusAuthorization is enabled, but "
		"depends on features that are disabled: [DRAResourceClaimDeviceStatus]]");
	expect_taken(&gates, "GangScheduling=true,GenericWorkload=true");
	assert_true(bt_gate_needs(BT_GATE_GANG_SCHEDULING, BT_GATE_GENERIC_WORKLOAD, release()));
	assert_false(bt_gate_needs(BT_GATE_GENERIC_WORKLOAD, BT_GATE_GANG_SCHEDULING, release()));
	assert_false(bt_gate_needs(BT_GATE_WORKLOAD_AWARE_PREEMPTION, BT_GATE_GENERIC_WORKLOAD, release()));
}

static void gates_introduced_after_the_emulated_release_cannot_be_set(void **state)
{
	const struct bt_release release =
		bt_release_emulate(bt_release_find(bt_str("1.37")), bt_release_find(bt_str("1.36")), 0);
	struct bt_gates gates;
	struct bt_buf error = {0};

	(void)state;
	bt_gates_init(&gates, &release);
	assert_int_equal(bt_gates_parse(&gates, bt_str("CompositePodGroup=true"), &error), BT_INVALID);
	assert_string_equal(error.ptr, "cannot set feature gate CompositePodGroup to true, feature is "
				       "PreAlpha at emulated version 1.36, min compatibility version 1.35");
	bt_buf_clear(&error);
	assert_int_equal(bt_gates_parse(&gates, bt_str("GangScheduling=true"), &error), BT_INVALID);
	assert_string_equal(error.ptr, "unrecognized feature gate: GangScheduling");
	bt_buf_clear(&error);
	bt_gates_parse(&gates, bt_str("AllAlpha=true,AllBeta=true"), &error);
	assert_int_equal(error.len, 0);
	assert_false(gates.on[BT_GATE_COMPOSITE_POD_GROUP]);
	assert_false(gates.on[BT_GATE_GANG_SCHEDULING]);
	assert_true(gates.on[BT_GATE_STORAGE_CAPACITY_SCORING]);
	bt_buf_fini(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_release),
		cmocka_unit_test(gates_of_logs_and_metrics_are_known),
		cmocka_unit_test(a_list_switches_gates_and_the_last_word_counts),
		cmocka_unit_test(a_stage_is_overruled_by_a_name),
		cmocka_unit_test(bad_lists_are_refused_with_upstreams_texts),
		cmocka_unit_test(gates_introduced_after_the_emulated_release_cannot_be_set),
		cmocka_unit_test(a_gate_needs_what_it_depends_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
