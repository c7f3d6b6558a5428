/* SPDX-License-Identifier: Apache-2.0
 * The API server's defaults and admission. Expected values are those of upstream's scheme for the same
 * objects.
 */
#include "kube_fixture.h"

#include "tools/kube/objects/defaults.h"

#define POD(spec)                                                                                            \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"web\"}}" \
	","                                                                                                  \
	"\"spec\":" spec "}"
#define NODE(status)                                                                                         \
	"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"},\"status\":" status "}"

static struct bt_object defaulted(void **state, const char *json)
{
	struct fixture *fixture = *state;
	struct bt_object object = fixture_read(fixture, json);

	bt_defaults_scheme(&object, &fixture->arena);
	return object;
}

/* The list as "name=amount name=amount", in its order. */
static void assert_list(const struct bt_resource_list *list, const char *want)
{
	char got[512] = "";
	size_t len = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		char text[BT_QUANTITY_TEXT_MAX];

		bt_quantity_text(list->items[i].quantity, text);
		len += (size_t)snprintf(got + len, sizeof(got) - len, "%s%.*s=%s", i ? " " : "",
			BT_STR_ARG(list->items[i].name), text);
	}
	assert_string_equal(got, want);
}

static void a_bare_pod_gets_the_schedulers_fields(void **state)
{
	struct bt_object o = defaulted(
		state, POD("{\"containers\":[{\"name\":\"c\",\"ports\":[{\"containerPort\":80}]}]}"));

	assert_str(o.pod.spec.scheduler_name, "default-scheduler");
	assert_str(o.pod.spec.restart_policy, "Always");
	assert_int_equal(o.pod.spec.termination_grace_s, 30);
	assert_str(o.pod.spec.containers[0].ports[0].protocol, "TCP");
	assert_int_equal(o.pod.spec.containers[0].ports[0].host_port, 0);
	assert_false(o.pod.spec.has_priority);
	assert_int_equal(o.pod.meta.namespace_.len, 0);
}

static void the_pods_own_fields_are_kept(void **state)
{
	struct bt_object o =
		defaulted(state, POD("{\"schedulerName\":\"mine\",\"restartPolicy\":\"Never\","
				     "\"terminationGracePeriodSeconds\":0,\"containers\":[{\"name\":\"c\","
				     "\"ports\":[{\"containerPort\":80,\"protocol\":\"UDP\"}]}]}"));

	assert_str(o.pod.spec.scheduler_name, "mine");
	assert_str(o.pod.spec.restart_policy, "Never");
	assert_int_equal(o.pod.spec.termination_grace_s, 0);
	assert_str(o.pod.spec.containers[0].ports[0].protocol, "UDP");
}

static void missing_requests_are_taken_from_limits(void **state)
{
	struct bt_object o = defaulted(state,
		POD("{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"},"
		    "\"limits\":{\"cpu\":\"2\",\"memory\":\"1Gi\"}}},{\"name\":\"d\",\"resources\":{"
		    "\"limits\":{}}}],"
		    "\"initContainers\":[{\"name\":\"i\",\"resources\":{\"limits\":{\"cpu\":\"3\"}}}]}"));

	assert_list(&o.pod.spec.containers[0].resources.requests, "cpu=1 memory=1Gi");
	assert_true(o.pod.spec.containers[1].resources.requests.set);
	assert_list(&o.pod.spec.init_containers[0].resources.requests, "cpu=3");
}

#define REQUESTS(text)                                                                                       \
	"{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"c\"},"   \
	"\"spec\":{\"devices\":{\"requests\":[" text "]}}}"

static void a_claim_requests_one_device_by_default(void **state)
{
	struct bt_object o =
		defaulted(state, REQUESTS("{\"name\":\"a\",\"exactly\":{}},"
					  "{\"name\":\"b\",\"exactly\":{\"allocationMode\":\"All\"}},"
					  "{\"name\":\"c\",\"firstAvailable\":[{\"name\":\"s\",\"count\":3},{"
					  "\"name\":\"t\"}]}"));
	const struct bt_device_request_object *requests = o.resource_claim.requests;

	assert_str(requests[0].exactly.allocation_mode, "ExactCount");
	assert_int_equal(requests[0].exactly.count, 1);
	assert_str(requests[1].exactly.allocation_mode, "All");
	assert_int_equal(requests[1].exactly.count, 0);
	assert_str(requests[2].first_available[0].allocation_mode, "ExactCount");
	assert_int_equal(requests[2].first_available[0].count, 3);
	assert_int_equal(requests[2].first_available[1].count, 1);
}

static void pod_level_requests_are_taken_from_containers_then_limits(void **state)
{
	struct bt_object o = defaulted(state, POD("{\"resources\":{\"limits\":{\"cpu\":\"4\",\"memory\":"
						  "\"2Gi\"}},\"containers\":[{\"name\":\"c\","
						  "\"resources\":{\"requests\":{\"cpu\":\"500m\",\"example."
						  "com/gpu\":\"1\"}}},{\"name\":\"d\",\"resources\":"
						  "{\"requests\":{\"cpu\":\"250m\"}}}],\"initContainers\":[{"
						  "\"name\":\"s\",\"restartPolicy\":\"Always\","
						  "\"resources\":{\"requests\":{\"cpu\":\"100m\"}}},{"
						  "\"name\":\"i\",\"resources\":{\"requests\":"
						  "{\"cpu\":\"900m\"}}}]}"));

	assert_list(&o.pod.spec.resources.requests, "cpu=1 memory=2Gi");
}

static void pod_level_huge_pages_are_the_containers_limits(void **state)
{
	struct bt_object o =
		defaulted(state, POD("{\"resources\":{\"requests\":{\"cpu\":\"1\"}},\"containers\":[{"
				     "\"name\":\"c\",\"resources\":"
				     "{\"limits\":{\"hugepages-2Mi\":\"4Mi\",\"cpu\":\"1\"}}}]}"));

	assert_list(&o.pod.spec.resources.limits, "hugepages-2Mi=4Mi");
	assert_list(&o.pod.spec.resources.requests, "cpu=1 hugepages-2Mi=4Mi");
}

static void pods_without_pod_level_limits_get_no_pod_level_requests(void **state)
{
	struct bt_object o =
		defaulted(state, POD("{\"resources\":{},\"containers\":[{\"name\":\"c\",\"resources\":"
				     "{\"requests\":{\"cpu\":\"1\"}}}]}"));

	assert_false(o.pod.spec.resources.requests.set);
}

static void host_network_claims_the_container_ports(void **state)
{
	struct bt_object o =
		defaulted(state, POD("{\"hostNetwork\":true,\"containers\":[{\"name\":\"c\",\"ports\":"
				     "[{\"containerPort\":80},{\"containerPort\":81,\"hostPort\":9}]}]}"));

	assert_int_equal(o.pod.spec.containers[0].ports[0].host_port, 80);
	assert_int_equal(o.pod.spec.containers[0].ports[1].host_port, 9);
}

static void amounts_round_up_to_thousandths(void **state)
{
	struct bt_object o = defaulted(
		state, POD("{\"overhead\":{\"cpu\":\"1u\"},\"containers\":[{\"name\":\"c\",\"resources\":"
			   "{\"requests\":{\"cpu\":\"100500u\"}}}]}"));

	assert_list(&o.pod.spec.containers[0].resources.requests, "cpu=101m");
	assert_list(&o.pod.spec.overhead, "cpu=1m");
}

static void allocatable_is_capacity_when_absent(void **state)
{
	struct bt_object o = defaulted(state, NODE("{\"capacity\":{\"cpu\":\"4\",\"memory\":\"1n\"}}"));
	assert_list(&o.node.allocatable, "cpu=4 memory=1m");
	o = defaulted(state, NODE("{\"capacity\":{\"cpu\":\"4\"},\"allocatable\":{}}"));
	assert_list(&o.node.allocatable, "");
}

static void a_namespace_is_labelled_with_its_name(void **state)
{
	struct bt_object o =
		defaulted(state, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"a\","
				 "\"labels\":{\"kubernetes.io/metadata.name\":\"b\",\"x\":\"y\"}}}");

	assert_int_equal(o.meta.labels.n, 2);
	assert_str(fixture_value(&o.meta.labels, "kubernetes.io/metadata.name"), "a");
	o = defaulted(state, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"a\"}}");
	assert_str(fixture_value(&o.meta.labels, "kubernetes.io/metadata.name"), "a");
}

static void workloads_default_to_one_pod(void **state)
{
	struct bt_object o = defaulted(
		state, "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\"}}");
	assert_int_equal(o.workload.replicas, 1);
	o = defaulted(state,
		"{\"apiVersion\":\"apps/"
		"v1\",\"kind\":\"ReplicaSet\",\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":0}}");
	assert_int_equal(o.workload.replicas, 0);
	o = defaulted(state, "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"d\"}}");
	assert_int_equal(o.workload.parallelism, 1);
	assert_int_equal(o.workload.completions, 1);
	o = defaulted(state,
		"{\"apiVersion\":\"batch/"
		"v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"d\"},\"spec\":{\"parallelism\":3}}");
	assert_int_equal(o.workload.parallelism, 3);
	assert_false(o.workload.has_completions);
}

static void only_namespaced_kinds_get_the_default_namespace(void **state)
{
	struct bt_object o = defaulted(state, POD("{}"));
	bt_defaults_namespace(&o);
	assert_str(o.meta.namespace_, "default");
	o = defaulted(state, NODE("{}"));
	bt_defaults_namespace(&o);
	assert_str(o.meta.namespace_, "");
}

static void label_keys_merge_into_selectors_that_are_set(void **state)
{
	struct fixture *fixture = *state;
	struct bt_object o = fixture_read(fixture,
		POD("{\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"z\","
		    "\"whenUnsatisfiable\":"
		    "\"DoNotSchedule\",\"labelSelector\":{},\"matchLabelKeys\":[\"app\",\"none\"]},{"
		    "\"maxSkew\":1,"
		    "\"topologyKey\":\"z\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"matchLabelKeys\":["
		    "\"app\"]}],"
		    "\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
		    "\"topologyKey\":\"z\",\"labelSelector\":{},\"mismatchLabelKeys\":[\"app\"]}]}}}"));

	bt_defaults_match_label_keys(&o.pod, &fixture->arena);
	const struct bt_requirement_object_list *spread =
		&o.pod.spec.spread[0].label_selector.match_expressions;
	assert_int_equal(spread->n, 1);
	assert_str(spread->items[0].key, "app");
	assert_str(spread->items[0].operator_, "In");
	assert_str(spread->items[0].values.items[0], "web");
	assert_int_equal(o.pod.spec.spread[1].label_selector.match_expressions.n, 0);
	assert_str(o.pod.spec.affinity.pod_anti_affinity.required[0]
			   .label_selector.match_expressions.items[0]
			   .operator_,
		"NotIn");
}

static void add_class(struct bt_priority_table *table, const char *name, int32_t value, bool global_default)
{
	struct bt_priority_class_object item = {.value = value, .global_default = global_default};

	item.meta.name = bt_str(name);
	bt_priority_table_add(table, &item);
}

static void priority_is_taken_from_the_class_only_when_absent(void **state)
{
	struct fixture *fixture = *state;
	struct bt_priority_table table = {0};
	struct bt_object o = fixture_read(fixture, POD("{\"priorityClassName\":\"high\"}"));

	add_class(&table, "high", 1, false);
	add_class(&table, "high", 1000, false);
	assert_int_equal(bt_defaults_admission(&o.pod, &table, &fixture->arena), BT_OK);
	assert_int_equal(o.pod.spec.priority, 1000);
	assert_str(o.pod.spec.preemption_policy, "PreemptLowerPriority");
	o = fixture_read(fixture, POD("{\"priorityClassName\":\"high\",\"priority\":7}"));
	assert_int_equal(bt_defaults_admission(&o.pod, &table, &fixture->arena), BT_OK);
	assert_int_equal(o.pod.spec.priority, 7);
	bt_priority_table_fini(&table);
}

static void the_lowest_global_default_counts(void **state)
{
	struct fixture *fixture = *state;
	struct bt_priority_table table = {0};
	struct bt_object o = fixture_read(fixture, POD("{}"));

	assert_int_equal(bt_defaults_admission(&o.pod, &table, &fixture->arena), BT_OK);
	assert_true(o.pod.spec.has_priority);
	assert_int_equal(o.pod.spec.priority, 0);
	add_class(&table, "b", 20, true);
	add_class(&table, "a", 10, true);
	o = fixture_read(fixture, POD("{}"));
	assert_int_equal(bt_defaults_admission(&o.pod, &table, &fixture->arena), BT_OK);
	assert_int_equal(o.pod.spec.priority, 10);
	assert_str(o.pod.spec.priority_class_name, "a");
	bt_priority_table_fini(&table);
}

static void system_classes_need_no_object_and_unknown_ones_are_reported(void **state)
{
	struct bt_priority_table table = {0};
	struct bt_priority priority;

	(void)state;
	assert_int_equal(bt_priority_resolve(&table, bt_str("system-node-critical"), &priority), BT_OK);
	assert_int_equal(priority.value, 2000001000);
	assert_int_equal(bt_priority_resolve(&table, bt_str("system-cluster-critical"), &priority), BT_OK);
	assert_int_equal(priority.value, 2000000000);
	assert_int_equal(bt_priority_resolve(&table, bt_str("nope"), &priority), BT_NOT_FOUND);
	assert_int_equal(priority.value, 2000000000);
}

static void eviction_tolerations_are_added_unless_there(void **state)
{
	struct fixture *fixture = *state;
	struct bt_priority_table table = {0};
	struct bt_object o = fixture_read(fixture, POD("{\"tolerations\":[{\"key\":\"node.kubernetes.io/"
						       "not-ready\",\"operator\":\"Exists\"}]}"));

	assert_int_equal(bt_defaults_admission(&o.pod, &table, &fixture->arena), BT_OK);
	assert_int_equal(o.pod.spec.toleration_n, 2);
	assert_str(o.pod.spec.tolerations[1].key, "node.kubernetes.io/unreachable");
	assert_int_equal(o.pod.spec.tolerations[1].toleration_seconds, 300);
	assert_int_equal(bt_defaults_admission(&o.pod, &table, &fixture->arena), BT_OK);
	assert_int_equal(o.pod.spec.toleration_n, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_bare_pod_gets_the_schedulers_fields),
		TEST(the_pods_own_fields_are_kept),
		TEST(missing_requests_are_taken_from_limits),
		TEST(a_claim_requests_one_device_by_default),
		TEST(pod_level_requests_are_taken_from_containers_then_limits),
		TEST(pod_level_huge_pages_are_the_containers_limits),
		TEST(pods_without_pod_level_limits_get_no_pod_level_requests),
		TEST(host_network_claims_the_container_ports),
		TEST(amounts_round_up_to_thousandths),
		TEST(allocatable_is_capacity_when_absent),
		TEST(a_namespace_is_labelled_with_its_name),
		TEST(workloads_default_to_one_pod),
		TEST(only_namespaced_kinds_get_the_default_namespace),
		TEST(label_keys_merge_into_selectors_that_are_set),
		TEST(priority_is_taken_from_the_class_only_when_absent),
		TEST(the_lowest_global_default_counts),
		TEST(system_classes_need_no_object_and_unknown_ones_are_reported),
		TEST(eviction_tolerations_are_added_unless_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
