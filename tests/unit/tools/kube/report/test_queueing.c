/* SPDX-License-Identifier: Apache-2.0
 * The queue section of the report: its numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "engine_fixture.h"
#include "rendered.h"
#include "tools/kube/report/queueing.h"

#define SECOND INT64_C(1000000000)

/* The report as CSV lines. */
static const char *text;

static void report(struct bt_queueing_facts *facts)
{
	struct bt_engine_options options = {0};
	struct bt_emit *emit = bt_emit_create();
	struct bt_config config;
	struct bt_gates gates;

	bt_gates_init(&gates, bt_release_default());
	bt_config_init_default(&config, &gates);
	struct bt_engine *engine = fixture_engine(&config, &options);
	bt_report_queueing(emit, engine, facts);
	text = rendered(emit, BT_EMIT_CSV);
	bt_emit_destroy(emit);
	bt_engine_destroy(engine);
	bt_config_fini(&config);
}

static void expect(const char *line)
{
	if (!strstr(text, line)) {
		fail_msg("no line '%s' in %s", line, text);
	}
}

static void percentiles_are_waits_of_pods(void **state)
{
	/* 100 pods: 40 immediately, the others after 60, 59, ... 1 s. */
	int64_t waits[60];
	struct bt_queueing_facts facts = {.unwaited_n = 40, .waits = waits, .wait_n = 60};

	(void)state;
	for (int i = 0; i < 60; i++) {
		waits[i] = (60 - i) * SECOND;
	}
	report(&facts);
	expect("queue,wait_p50_s,10.000\n");
	expect("queue,wait_p90_s,50.000\n");
	expect("queue,wait_p99_s,59.000\n");
	expect("queue,wait_max_s,60.000\n");
	facts = (struct bt_queueing_facts){.unwaited_n = 99, .waits = waits, .wait_n = 1};
	report(&facts);
	expect("queue,wait_p99_s,0.000\n");
	expect("queue,wait_max_s,1.000\n");
	facts = (struct bt_queueing_facts){.unwaited_n = 0};
	report(&facts);
	expect("queue,wait_max_s,0.000\n");
	expect("queue,attempts_mean,0.000\n");
}

static void attempts_have_a_mean_and_a_histogram(void **state)
{
	struct bt_queueing_facts facts = {
		.attempts = {.pod_n = 8, .sum = 22, .most = 9, .buckets = {3, 2, 2, 1}}};

	(void)state;
	report(&facts);
	expect("queue,attempts_mean,2.750\n");
	expect("queue,attempts_max,9\n");
	expect("queue,attempts_1,3\n");
	expect("queue,attempts_2,2\n");
	expect("queue,attempts_3_to_5,2\n");
	expect("queue,attempts_over_5,1\n");
	expect("preemption,in_vain,0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_waits_of_pods),
		cmocka_unit_test(attempts_have_a_mean_and_a_histogram),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
