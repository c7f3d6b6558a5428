/* SPDX-License-Identifier: Apache-2.0
 * Invalid scenarios and their errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/offline/verdict/verdict.h"

#define NODE                                                                                                 \
	"{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n1\"},\"status\":{"               \
	"\"allocatable\":{\"cpu\":\"4\",\"pods\":\"9\"}}}"
#define POD(more)                                                                                            \
	"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"namespace\":\"default\"},"   \
	"\"spec\":{" more "}}"
#define SCENARIO(objects, more) "{\"id\":\"s\",\"objects\":[" objects "],\"pending\":[\"default/a\"]" more "}"

/* Reads a line that must be valid, and appends its verdict. */
static void answer(const char *line, struct bt_buf *out)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_buf error = {0};
	struct bt_scenario scenario;
	struct bt_scenario_cluster cluster;

	bt_json_begin(json, bt_str(line), &arena);
	assert_true(bt_scenario_read(json, &arena, &scenario, &error));
	if (bt_scenario_open(&scenario, 1, &cluster, &error) == BT_OK) {
		bt_verdict_write(&scenario, &cluster, out);
		bt_scenario_close(&cluster);
	} else {
		bt_verdict_write_error(&scenario, bt_buf_view(&error), out);
	}
	bt_buf_fini(&error);
	bt_arena_fini(&arena);
	bt_json_destroy(json);
}

static void assert_says(const char *line, const char *part)
{
	struct bt_buf out = {0};

	answer(line, &out);
	if (!strstr(out.ptr, part)) {
		fail_msg("no \"%s\" in %s", part, out.ptr);
	}
	bt_buf_fini(&out);
}

static void assert_unreadable(const char *line, const char *part)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_buf error = {0};
	struct bt_scenario scenario;

	bt_json_begin(json, bt_str(line), &arena);
	assert_false(bt_scenario_read(json, &arena, &scenario, &error));
	assert_non_null(strstr(error.ptr, part));
	bt_buf_fini(&error);
	bt_arena_fini(&arena);
	bt_json_destroy(json);
}

static void a_pod_is_scored(void **state)
{
	(void)state;
	assert_says(SCENARIO(NODE "," POD(""), ""), "\"best\":[\"n1\"]");
}

static void objects_and_pending_are_needed(void **state)
{
	(void)state;
	assert_unreadable("{\"id\":\"s\"}", "a scenario needs");
	assert_unreadable("{\"id\":\"s\",\"objects\":[]}", "a scenario needs");
	assert_unreadable("{\"id\":\"s\",\"objectz\":[]}", "objectz");
	assert_unreadable("{\"id\":\"s\",\"objects\":[", "");
}

static void a_pending_pod_must_be_there(void **state)
{
	(void)state;
	assert_says(SCENARIO(NODE, ""), "this pending pod is not among the objects");
}

static void a_foreign_scheduler_is_named(void **state)
{
	(void)state;
	assert_says(SCENARIO(NODE "," POD("\"schedulerName\":\"other\""), ""),
		"no profile is named \\\"other\\\"");
}

static void a_duplicate_name_is_reported(void **state)
{
	(void)state;
	assert_says(SCENARIO(POD("") "," POD(""), ""), "Pod default/a: exists");
}

static void a_bad_configuration_fails_every_pod(void **state)
{
	(void)state;
	assert_says(SCENARIO(NODE "," POD(""),
			    ",\"config\":{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"kind\":"
			    "\"KubeSchedulerConfiguration\",\"parallelism\":-1}"),
		"parallelism");
}

static void feature_gates_are_taken(void **state)
{
	(void)state;
	assert_says(SCENARIO(NODE "," POD(""), ",\"featureGates\":\"StorageCapacityScoring=true\""),
		"\"best\":[\"n1\"]");
	assert_says(SCENARIO(NODE "," POD(""), ",\"featureGates\":\"NoSuchGate=true\""),
		"unrecognized feature gate: NoSuchGate");
}

#define SIZED_NODE(name, size)                                                                               \
	"{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name                            \
	"\",\"labels\":{\"size\":\"" size "\"}},\"status\":{\"allocatable\":{\"pods\":\"9\"}}}"
#define CSI_NODE                                                                                             \
	"{\"kind\":\"CSINode\",\"apiVersion\":\"storage.k8s.io/v1\",\"metadata\":{\"name\":\"b\"},"          \
	"\"spec\":{\"drivers\":[]}}"
#define ODD_DISK                                                                                             \
	"\"nodeSelector\":{\"size\":\"s\"},\"volumes\":[{\"name\":\"v\",\"awsElasticBlockStore\":"           \
	"{\"volumeID\":\"aws://z/odd\"}}]"

/* A node that fails the cycle keeps the verdicts of the nodes before it. */
static void nodes_are_in_the_order_of_their_names(void **state)
{
	(void)state;
	assert_says(
		SCENARIO(SIZED_NODE("b", "s") "," SIZED_NODE("a", "l") "," CSI_NODE "," POD(ODD_DISK), ""),
		"\"rejected\":{\"a\":{\"plugin\":\"NodeAffinity\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_is_scored),
		cmocka_unit_test(objects_and_pending_are_needed),
		cmocka_unit_test(a_pending_pod_must_be_there),
		cmocka_unit_test(a_foreign_scheduler_is_named),
		cmocka_unit_test(a_duplicate_name_is_reported),
		cmocka_unit_test(a_bad_configuration_fails_every_pod),
		cmocka_unit_test(feature_gates_are_taken),
		cmocka_unit_test(nodes_are_in_the_order_of_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
