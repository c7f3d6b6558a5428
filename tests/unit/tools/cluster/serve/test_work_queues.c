/* SPDX-License-Identifier: Apache-2.0
 * Periodic work as metrics of work queues.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/cluster/serve/work_queues.h"

#define SECOND INT64_C(1000000000)
#define CERT   "{name=\"DynamicCABundle-serving-cert\""

static int begin(void **state)
{
	*state = bt_work_queues_create();
	return 0;
}

static int end(void **state)
{
	bt_work_queues_destroy(*state);
	return 0;
}

/* Does the sample exist with that value? */
static void expect(void **state, int64_t now_ns, const char *sample, bool there)
{
	struct bt_buf text = {0};
	struct bt_exposition x;

	bt_exposition_begin(&x, NULL, &text);
	bt_work_queues_expose(*state, &x, now_ns);
	bt_exposition_end(&x);
	if ((strstr(text.ptr, sample) != NULL) != there) {
		fail_msg("%s is %s in\n%s", sample, there ? "not" : "", text.ptr);
	}
	bt_buf_fini(&text);
}

static void queues_without_an_item_have_no_samples(void **state)
{
	expect(state, SECOND, "workqueue_adds_total", true);
	expect(state, SECOND, "name=", false);
	bt_work_queues_add(*state, BT_WORK_SERVING, SECOND);
	expect(state, SECOND, "workqueue_adds_total{name=\"DynamicServingCertificateController\"} 1\n", true);
	expect(state, SECOND, CERT, false);
}

static void an_item_waits_is_worked_on_and_has_ended(void **state)
{
	bt_work_queues_add(*state, BT_WORK_SERVING_CERT, SECOND);
	expect(state, 2 * SECOND, "workqueue_depth" CERT "} 1\n", true);
	expect(state, 2 * SECOND, "workqueue_unfinished_work_seconds" CERT "} 0\n", true);
	bt_work_queues_take(*state, BT_WORK_SERVING_CERT, 3 * SECOND);
	expect(state, 8 * SECOND, "workqueue_depth" CERT "} 0\n", true);
	expect(state, 8 * SECOND, "workqueue_unfinished_work_seconds" CERT "} 5\n", true);
	expect(state, 8 * SECOND, "workqueue_longest_running_processor_seconds" CERT "} 5\n", true);
	expect(state, 8 * SECOND, "workqueue_queue_duration_seconds_sum" CERT "} 2\n", true);
	expect(state, 8 * SECOND, "workqueue_work_duration_seconds_count" CERT "} 0\n", true);
	bt_work_queues_end(*state, BT_WORK_SERVING_CERT, true, 10 * SECOND);
	expect(state, 11 * SECOND, "workqueue_unfinished_work_seconds" CERT "} 0\n", true);
	expect(state, 11 * SECOND, "workqueue_work_duration_seconds_sum" CERT "} 7\n", true);
	expect(state, 11 * SECOND, "workqueue_work_duration_seconds_count" CERT "} 1\n", true);
}

static void durations_are_in_upstreams_buckets(void **state)
{
	bt_work_queues_add(*state, BT_WORK_SERVING_CERT, SECOND);
	bt_work_queues_take(*state, BT_WORK_SERVING_CERT, SECOND);
	bt_work_queues_end(*state, BT_WORK_SERVING_CERT, true, SECOND + 1000000); /* on a bound */
	expect(state, SECOND, "workqueue_queue_duration_seconds_bucket" CERT ",le=\"1e-08\"} 1\n", true);
	expect(state, SECOND,
		"workqueue_work_duration_seconds_bucket" CERT ",le=\"9.999999999999999e-05\"} 0\n", true);
	expect(state, SECOND, "workqueue_work_duration_seconds_bucket" CERT ",le=\"0.001\"} 1\n", true);
	expect(state, SECOND, "workqueue_work_duration_seconds_bucket" CERT ",le=\"10\"} 1\n", true);
	expect(state, SECOND, "workqueue_work_duration_seconds_bucket" CERT ",le=\"+Inf\"} 1\n", true);
}

static void a_key_added_again_after_a_failure_is_a_retry(void **state)
{
	static const char *const retries[] = {"0", "0", "1", "2", "2"};
	char sample[128];

	for (int i = 0; i < 5; i++) {
		bt_work_queues_add(*state, BT_WORK_SERVING_CERT, SECOND);
		snprintf(sample, sizeof(sample), "workqueue_retries_total" CERT "} %s\n", retries[i]);
		expect(state, SECOND, sample, true);
		bt_work_queues_take(*state, BT_WORK_SERVING_CERT, SECOND);
		bt_work_queues_end(*state, BT_WORK_SERVING_CERT, i != 1 && i != 2, SECOND);
	}
}

static void without_queues_nothing_is_counted(void **state)
{
	(void)state;
	bt_work_queues_add(NULL, BT_WORK_SERVING, SECOND);
	bt_work_queues_take(NULL, BT_WORK_SERVING, SECOND);
	bt_work_queues_end(NULL, BT_WORK_SERVING, true, SECOND);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(queues_without_an_item_have_no_samples),
		CASE(an_item_waits_is_worked_on_and_has_ended),
		CASE(durations_are_in_upstreams_buckets),
		CASE(a_key_added_again_after_a_failure_is_a_retry),
		CASE(without_queues_nothing_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
