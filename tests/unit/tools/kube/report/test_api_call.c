/* SPDX-License-Identifier: Apache-2.0
 * Calls to the API server as JSON. The patches are those of apimachinery v0.36.3 for the same
 * statuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/kube/report/api_call.h"

#define AT_S INT64_C(1767225600) /* 2026-01-01T00:00:00Z */
#define CONDITION(type_, status_, reason_, message_, s, generation)                                          \
	{                                                                                                    \
		.type = BT_STR(type_), .status = BT_STR(status_), .reason = BT_STR(reason_),                 \
		.message = BT_STR(message_), .transition_s = (s), .observed_generation = (generation)        \
	}

static const struct bt_pod_condition refused =
	CONDITION("PodScheduled", "False", "Unschedulable", "0/1", AT_S, 1);
static const struct bt_pod_condition ready[] = {
	CONDITION("PodReadyToStartContainers", "True", "", "", AT_S, 0),
	CONDITION("PodScheduled", "True", "", "", AT_S, 0)};

static void patches(const struct bt_pod_condition *old, uint32_t old_n, const struct bt_pod_condition *now,
	enum bt_nomination nomination, const char *want)
{
	const struct bt_api_pod pod = {.conditions = old, .condition_n = old_n};
	struct bt_api_call call = {.verb = BT_API_PATCH_STATUS, .pod = &pod};
	struct bt_buf text = {.len = 0};

	if (now) {
		call.status.has_condition = true;
		call.status.condition = *now;
	}
	call.status.nomination = nomination;
	call.status.nominated_node_name = bt_str("n1");
	bt_api_patch_write(&call, &text);
	assert_string_equal(text.ptr, want);
	bt_buf_fini(&text);
}

#define NEW                                                                                                  \
	"{\"status\":{\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":"                       \
	"\"2026-01-01T00:00:00Z\",\"message\":\"0/1\",\"observedGeneration\":1,\"reason\":"                  \
	"\"Unschedulable\",\"status\":\"False\",\"type\":\"PodScheduled\"}]"
#define ORDER "{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"PodScheduled\"}],\"conditions\":"

static void a_first_condition_is_sent_whole(void **state)
{
	(void)state;
	patches(NULL, 0, &refused, BT_NOMINATION_LEAVE, NEW "}}");
	patches(NULL, 0, &refused, BT_NOMINATION_SET, NEW ",\"nominatedNodeName\":\"n1\"}}");
}

static void of_a_known_condition_only_the_changes_are_sent(void **state)
{
	const struct bt_pod_condition other =
		CONDITION("PodScheduled", "False", "SchedulerError", "other", AT_S, 1);
	const struct bt_pod_condition placed = CONDITION("PodScheduled", "True", "", "", AT_S + 60, 0);

	(void)state;
	patches(&refused, 1, &other, BT_NOMINATION_LEAVE,
		ORDER "[{\"message\":\"other\",\"reason\":\"SchedulerError\",\"type\":\"PodScheduled\"}]}}");
	patches(&refused, 1, &placed, BT_NOMINATION_CLEAR,
		ORDER "[{\"lastTransitionTime\":\"2026-01-01T00:01:00Z\",\"message\":null,"
		      "\"observedGeneration\":null,\"reason\":null,\"status\":\"True\","
		      "\"type\":\"PodScheduled\"}],\"nominatedNodeName\":null}}");
}

static void a_nomination_alone_is_a_patch_of_its_own(void **state)
{
	(void)state;
	patches(&refused, 1, NULL, BT_NOMINATION_CLEAR, "{\"status\":{\"nominatedNodeName\":null}}");
	patches(&refused, 1, &refused, BT_NOMINATION_SET, "{\"status\":{\"nominatedNodeName\":\"n1\"}}");
}

static void a_further_condition_names_the_order_of_all(void **state)
{
	const struct bt_pod_condition target =
		CONDITION("DisruptionTarget", "True", "PreemptionByScheduler", "m", AT_S + 60, 3);

	(void)state;
	patches(ready, 2, &target, BT_NOMINATION_LEAVE,
		"{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"PodReadyToStartContainers\"},"
		"{\"type\":\"PodScheduled\"},{\"type\":\"DisruptionTarget\"}],\"conditions\":["
		"{\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-01-01T00:01:00Z\",\"message\":\"m\","
		"\"observedGeneration\":3,\"reason\":\"PreemptionByScheduler\",\"status\":\"True\","
		"\"type\":\"DisruptionTarget\"}]}}");
}

static void an_event_has_upstreams_fields(void **state)
{
	const struct bt_api_pod pod = {.namespace_ = bt_str("ns"),
		.name = bt_str("p"),
		.uid = bt_str("u-p"),
		.resource_version = bt_str("7")};
	const struct bt_api_pod related = {
		.namespace_ = bt_str("ns"), .name = bt_str("q"), .uid = bt_str("u-q")};
	const struct bt_api_call call = {.verb = BT_API_EVENT,
		.pod = &pod,
		.event = {.reason = "Preempted",
			.action = "Preempting",
			.note = bt_str("Preempted by pod u-q on node n1"),
			.reporting_controller = bt_str("s"),
			.reporting_instance = bt_str("s-h"),
			.related = &related}};
	struct bt_buf line = {.len = 0};

	(void)state;
	bt_api_call_write(&call, AT_S * 1000000000 + 1234567, &line);
	assert_string_equal(line.ptr,
		"{\"time\":\"2026-01-01T00:00:00.001234Z\",\"user\":\"kube-scheduler\",\"verb\":\"create\","
		"\"resource\":\"events\",\"namespace\":\"ns\",\"name\":\"p.18867251ee0cd687\",\"object\":"
		"{\"kind\":\"Event\",\"apiVersion\":\"events.k8s.io/v1\",\"metadata\":{\"name\":"
		"\"p.18867251ee0cd687\",\"namespace\":\"ns\"},\"eventTime\":\"2026-01-01T00:00:00.001234Z\","
		"\"reportingController\":\"s\",\"reportingInstance\":\"s-h\",\"action\":\"Preempting\","
		"\"reason\":\"Preempted\",\"regarding\":{\"kind\":\"Pod\",\"namespace\":\"ns\",\"name\":"
		"\"p\","
		"\"uid\":\"u-p\",\"apiVersion\":\"v1\",\"resourceVersion\":\"7\"},\"related\":{\"kind\":"
		"\"Pod\",\"namespace\":\"ns\",\"name\":\"q\",\"uid\":\"u-q\",\"apiVersion\":\"v1\"},\"note\":"
		"\"Preempted by pod u-q on node n1\",\"type\":\"Normal\"}}\n");
	bt_buf_fini(&line);
}

static void bindings_and_deletions_are_one_line_each(void **state)
{
	const struct bt_api_pod pod = {.namespace_ = bt_str("ns"), .name = bt_str("p"), .uid = bt_str("u")};
	struct bt_api_call call = {.verb = BT_API_BIND, .pod = &pod, .node = bt_str("n1")};
	struct bt_buf line = {.len = 0};

	(void)state;
	bt_api_call_write(&call, 0, &line);
	call.verb = BT_API_DELETE;
	bt_api_call_write(&call, -1, &line);
	assert_string_equal(line.ptr,
		"{\"time\":\"1970-01-01T00:00:00.000000Z\",\"user\":\"kube-scheduler\",\"verb\":\"create\","
		"\"resource\":\"pods/binding\",\"namespace\":\"ns\",\"name\":\"p\",\"object\":{\"kind\":"
		"\"Binding\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\","
		"\"uid\":\"u\"},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}}\n"
		"{\"time\":\"1969-12-31T23:59:59.999999Z\",\"user\":\"kube-scheduler\",\"verb\":\"delete\","
		"\"resource\":\"pods\",\"namespace\":\"ns\",\"name\":\"p\"}\n");
	bt_buf_fini(&line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_first_condition_is_sent_whole),
		cmocka_unit_test(of_a_known_condition_only_the_changes_are_sent),
		cmocka_unit_test(a_nomination_alone_is_a_patch_of_its_own),
		cmocka_unit_test(a_further_condition_names_the_order_of_all),
		cmocka_unit_test(an_event_has_upstreams_fields),
		cmocka_unit_test(bindings_and_deletions_are_one_line_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
