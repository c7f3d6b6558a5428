/* SPDX-License-Identifier: Apache-2.0
 * Pods' requests. The numbers are kube-scheduler's.
 */
#include "object_fixture.h"

#define MIB (INT64_C(1024) * 1024)

static const struct bt_request_rules by_container = {.pod_level_status = true},
				     by_state = {.pod_level_status = true, .sums_by_state = true};

static struct bt_requests requests_by(
	struct fixture *f, const struct bt_request_rules *rules, const struct bt_pod_object *pod)
{
	struct bt_requests requests;

	bt_requests_compute(f->cache->dictionary, rules, &f->arena, pod, &requests);
	return requests;
}

static struct bt_requests requests_of(struct fixture *f, const struct bt_pod_object *pod)
{
	return requests_by(f, &by_container, pod);
}

static struct bt_requests requests_in(struct fixture *f, const char *spec)
{
	return requests_of(f, fixture_read_pod(f, spec));
}

static void init_containers_count_at_their_worst_moment(void **state)
{
	struct fixture *f = *state;
	static const char spec[] = "containers: [{name: a, resources: {requests: {cpu: 100m}}}, {name: b, "
				   "resources: {requests: {cpu: 200m}}}], "
				   "initContainers: [{name: i1, resources: {requests: {cpu: 500m}}}, {name: "
				   "s, restartPolicy: Always, resources: "
				   "{requests: {cpu: 50m}}}, {name: i2, resources: {requests: {cpu: %s}}}]";
	char text[512];

	snprintf(text, sizeof(text), spec, "300m");
	struct bt_requests requests = requests_in(f, text);
	assert_int_equal(bt_amounts_get(requests.fit, BT_CPU), 500);
	assert_int_equal(requests.nonzero_memory, 600 * MIB);
	snprintf(text, sizeof(text), spec, "600m");
	assert_int_equal(bt_amounts_get(requests_in(f, text).fit, BT_CPU), 650);
}

static void pod_level_requests_replace_the_sum(void **state)
{
	struct fixture *f = *state;
	struct bt_requests requests =
		requests_in(f, "resources: {requests: {cpu: 1, example.com/x: 3}}, containers: [{name: a, "
			       "resources: {requests: {cpu: 100m}}}, {name: b}]");

	assert_int_equal(bt_amounts_get(requests.fit, BT_CPU), 1000);
	assert_int_equal(bt_amounts_get(requests.fit, BT_MEMORY), 0);
	assert_int_equal(requests.nonzero_milli_cpu, 1000);
	assert_int_equal(requests.nonzero_memory, 400 * MIB);
	/* Only containers count for the score of the incoming pod. */
	assert_int_equal(bt_amounts_get(requests.score, BT_CPU), 200);
	/* Resources not supported at pod level are ignored. */
	int slot = bt_resource_find(f->cache->dictionary, bt_str("example.com/x"));
	assert_true(slot < 0 || bt_amounts_get(requests.fit, (uint32_t)slot) == 0);
}

static void overhead_suppresses_defaults_beside_pod_level_requests(void **state)
{
	struct bt_requests requests = requests_in(*state,
		"overhead: {memory: 1Mi}, resources: {requests: {cpu: 1}}, containers: [{name: a, resources: "
		"{requests: {cpu: 100m}}}, {name: b}]");

	assert_int_equal(bt_amounts_get(requests.fit, BT_MEMORY), MIB);
	assert_int_equal(requests.nonzero_milli_cpu, 1000);
	assert_int_equal(requests.nonzero_memory, MIB);
}

static void silent_containers_count_the_defaults_for_scores_only(void **state)
{
	struct bt_requests requests = requests_in(*state,
		"containers: [{name: a, resources: {requests: {cpu: 100m, memory: 10Mi}}}, {name: b}]");

	assert_int_equal(bt_amounts_get(requests.fit, BT_CPU), 100);
	assert_int_equal(bt_amounts_get(requests.fit, BT_MEMORY), 10 * MIB);
	assert_int_equal(requests.nonzero_milli_cpu, 200);
	assert_int_equal(requests.nonzero_memory, 210 * MIB);
	assert_int_equal(bt_amounts_get(requests.score, BT_MEMORY), 210 * MIB);
}

static void explicit_zeroes_stay_zero(void **state)
{
	struct bt_requests requests =
		requests_in(*state, "containers: [{name: a, resources: {requests: {cpu: 0, memory: 0}}}]");

	assert_int_equal(requests.nonzero_milli_cpu, 0);
	assert_int_equal(requests.nonzero_memory, 0);
}

static void sums_are_exact_and_round_up_once(void **state)
{
	struct bt_requests requests =
		requests_in(*state, "containers: [{name: a, resources: {requests: {cpu: 100500u, memory: "
				    "1500m}}}, {name: b, resources: {requests: "
				    "{cpu: 100500u, memory: 1500m}}}]");

	assert_int_equal(bt_amounts_get(requests.fit, BT_CPU), 201);
	assert_int_equal(bt_amounts_get(requests.fit, BT_MEMORY), 3);
}

static void overhead_is_added_to_requests(void **state)
{
	struct bt_requests requests =
		requests_in(*state, "overhead: {cpu: 10m}, containers: [{name: a, resources: {requests: "
				    "{cpu: 100m}}}], initContainers: [{name: i, "
				    "resources: {requests: {cpu: 1}}}]");

	assert_int_equal(bt_amounts_get(requests.fit, BT_CPU), 1010);
}

/* A bound pod whose container requests 700m, was allocated 500m, and runs with 300m. */
static struct bt_requests resized(struct fixture *f, const char *condition)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n1, "
		"containers: [{name: a, resources: {requests: {cpu: 700m}}}]}, "
		"status: {%s containerStatuses: [{name: a, allocatedResources: {cpu: 500m}, "
		"resources: {requests: {cpu: 300m}}}]}}",
		condition);
	return requests_of(f, &fixture_read(f, text)->pod);
}

static void a_resize_counts_the_largest_on_the_node(void **state)
{
	struct bt_requests requests = resized(*state, "");

	assert_int_equal(bt_amounts_get(requests.used, BT_CPU), 700);
	assert_int_equal(bt_amounts_get(requests.fit, BT_CPU), 700);
}

static void an_infeasible_resize_does_not_count(void **state)
{
	struct bt_requests requests = resized(
		*state, "conditions: [{type: PodResizePending, status: 'True', reason: Infeasible}],");

	assert_int_equal(bt_amounts_get(requests.used, BT_CPU), 500);
	assert_int_equal(bt_amounts_get(requests.fit, BT_CPU), 700);
	requests =
		resized(*state, "conditions: [{type: PodResizePending, status: 'True', reason: Deferred}],");
	assert_int_equal(bt_amounts_get(requests.used, BT_CPU), 700);
}

/* A bound pod with one container and the requests in its status. */
static struct bt_requests running(
	struct fixture *f, const char *conditions, const char *spec, const char *status)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n1, containers: [{name: "
		"a, "
		"resources: {requests: %s}}]}, status: {conditions: [%s], containerStatuses: [{name: a, "
		"resources: {requests: %s}}]}}",
		spec, conditions, status);
	return requests_of(f, &fixture_read(f, text)->pod);
}

static void running_pods_with_requests_count_without_defaults_in_scores(void **state)
{
	struct bt_requests requests =
		running(*state, "", "{cpu: 700m, memory: 10Mi}", "{cpu: 900m, memory: 5Mi}");

	assert_int_equal(bt_amounts_get(requests.fit, BT_CPU), 700);
	assert_int_equal(bt_amounts_get(requests.used, BT_CPU), 900);
	assert_int_equal(bt_amounts_get(requests.used, BT_MEMORY), 10 * MIB);
	assert_int_equal(requests.nonzero_milli_cpu, 900);
	assert_int_equal(requests.nonzero_memory, 10 * MIB);
	assert_int_equal(bt_amounts_get(requests.score, BT_CPU), 700);
	assert_int_equal(bt_amounts_get(requests.score, BT_MEMORY), 10 * MIB);
}

static void a_running_pod_without_allocated_requests_counts_the_default(void **state)
{
	static const char infeasible[] = "{type: PodResizePending, status: 'True', reason: Infeasible}";
	struct bt_requests requests = running(*state, infeasible, "{cpu: 700m, memory: 10Mi}", "{cpu: 900m}");

	assert_int_equal(bt_amounts_get(requests.used, BT_MEMORY), 0);
	assert_int_equal(requests.nonzero_milli_cpu, 900);
	assert_int_equal(requests.nonzero_memory, 200 * MIB);
	assert_int_equal(bt_amounts_get(requests.score, BT_CPU), 700);
	assert_int_equal(bt_amounts_get(requests.score, BT_MEMORY), 10 * MIB);
}

/* A bound pod with these fields of its spec and this status, by release rules. */
static struct bt_requests bound(
	struct fixture *f, const struct bt_request_rules *rules, const char *spec, const char *status)
{
	struct bt_buf text = {0};

	bt_buf_printf(&text,
		"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n1, %s}, status: {%s}}",
		spec, status);
	struct bt_requests requests = requests_by(f, rules, &fixture_read(f, text.ptr)->pod);
	bt_buf_fini(&text);
	return requests;
}

static void assert_cpu(struct fixture *f, const char *spec, const char *status,
	int64_t container_by_container, int64_t state_by_state)
{
	struct bt_requests requests = bound(f, &by_container, spec, status);

	assert_int_equal(bt_amounts_get(requests.used, BT_CPU), container_by_container);
	requests = bound(f, &by_state, spec, status);
	assert_int_equal(bt_amounts_get(requests.used, BT_CPU), state_by_state);
}

static void the_largest_is_taken_of_each_container_or_of_the_sums(void **state)
{
	static const char two[] = "containers: [{name: a, resources: {requests: {cpu: 700m}}}, "
				  "{name: b, resources: {requests: {cpu: 100m}}}]";

	assert_cpu(*state, two,
		"containerStatuses: [{name: a, allocatedResources: {cpu: 500m}, "
		"resources: {requests: {cpu: 300m}}}, "
		"{name: b, allocatedResources: {cpu: 100m}, resources: {requests: {cpu: 600m}}}]",
		1300, 900);
	/* Allocated resources also count alone; per container only beside those in use. */
	assert_cpu(*state, two, "containerStatuses: [{name: b, allocatedResources: {cpu: 400m}}]", 800, 1100);
	/* For a repeated name the first status counts; per container the last. */
	assert_cpu(*state, two,
		"containerStatuses: [{name: a, resources: {requests: {cpu: 1}}}], "
		"initContainerStatuses: [{name: a, resources: {requests: {cpu: 2}}}]",
		2100, 1100);
	/* An empty list requests nothing. */
	assert_cpu(*state, two,
		"containerStatuses: [{name: a, resources: {requests: {cpu: 1}}, "
		"allocatedResources: {}}]",
		1100, 1100);
}

static void by_state_every_init_container_has_its_status_counted(void **state)
{
	assert_cpu(*state,
		"containers: [{name: a, resources: {requests: {cpu: 100m}}}], "
		"initContainers: [{name: i, resources: {requests: {cpu: 200m}}}]",
		"initContainerStatuses: [{name: i, resources: {requests: {cpu: 900m}}}]", 200, 900);
}

static void by_state_an_infeasible_resize_leaves_nothing_of_a_container_without_a_status(void **state)
{
	static const char infeasible[] =
		"conditions: [{type: PodResizePending, status: 'True', reason: Infeasible}]";
	static const char with_status[] =
		"conditions: [{type: PodResizePending, status: 'True', reason: Infeasible}], "
		"containerStatuses: [{name: a, resources: {requests: {cpu: 300m}}}]";
	static const char two[] = "containers: [{name: a, resources: {requests: {cpu: 700m}}}, "
				  "{name: b, resources: {requests: {cpu: 100m}}}]";

	assert_cpu(*state, two, infeasible, 800, 0);
	assert_cpu(*state, two, with_status, 400, 300);
	struct bt_requests requests = bound(*state, &by_state, two, with_status);
	assert_int_equal(bt_amounts_get(requests.fit, BT_CPU), 800);
	assert_int_equal(requests.nonzero_milli_cpu, 400);
	assert_int_equal(requests.nonzero_memory, 400 * MIB);
}

static void by_state_the_pods_own_status_stands_for_those_of_its_containers(void **state)
{
	static const char spec[] = "containers: [{name: a, resources: {requests: {cpu: 700m}}}]";
	static const char containers[] = "containerStatuses: [{name: a, resources: {requests: {cpu: 2}}, "
					 "allocatedResources: {cpu: 2}}]";
	static const char both[] = "allocatedResources: {cpu: 800m}, resources: {requests: {cpu: 600m}}, "
				   "containerStatuses: [{name: a, resources: {requests: {cpu: 2}}}]";
	static const struct bt_request_rules gate_off = {.sums_by_state = true};

	assert_cpu(*state, spec, containers, 2000, 2000);
	assert_cpu(*state, spec, both, 2000, 800);
	struct bt_requests requests = bound(*state, &gate_off, spec, both);
	assert_int_equal(bt_amounts_get(requests.used, BT_CPU), 2000);
}

static void the_pods_own_status_replaces_the_sum_while_its_gate_is_on(void **state)
{
	static const char spec[] = "resources: {requests: {cpu: 1}}, "
				   "containers: [{name: a, resources: {requests: {cpu: 1, memory: 1Mi}}}]";
	static const char status[] = "resources: {requests: {cpu: 3, memory: 5Mi}}";
	static const struct bt_request_rules gate_off = {.pod_level_status = false};
	struct bt_requests requests = bound(*state, &by_container, spec, status);

	/* A name that is not in the spec replaces nothing. */
	assert_int_equal(bt_amounts_get(requests.used, BT_CPU), 3000);
	assert_int_equal(bt_amounts_get(requests.used, BT_MEMORY), MIB);
	requests = bound(*state, &by_state, spec, status);
	assert_int_equal(bt_amounts_get(requests.used, BT_CPU), 3000);
	assert_int_equal(bt_amounts_get(requests.used, BT_MEMORY), 5 * MIB);
	requests = bound(*state, &gate_off, spec, status);
	assert_int_equal(bt_amounts_get(requests.used, BT_CPU), 1000);
}

static void names_that_are_no_resource_are_dropped(void **state)
{
	struct bt_requests requests =
		requests_in(*state, "containers: [{name: a, resources: {requests: {storage: 1Gi, gpu: 1, "
				    "nvidia.com/gpu: 2, hugepages-2Mi: 4Mi}}}]");

	assert_int_equal(requests.fit.n, 2);
	assert_false(requests.too_many_names);
}

static void too_many_names_are_noticed(void **state)
{
	struct fixture *f = *state;
	struct bt_buf spec = {0};

	bt_buf_text(&spec, "containers: [{name: a, resources: {requests: {");
	for (int i = 0; i <= BT_REQUEST_MAX; i++) {
		bt_buf_printf(&spec, "%sexample.com/r%d: 1", i ? ", " : "", i);
	}
	bt_buf_text(&spec, "}}}]");
	assert_true(requests_in(f, spec.ptr).too_many_names);
	assert_int_equal(bt_resource_count(f->cache->dictionary), BT_FIRST_SCALAR);
	bt_buf_fini(&spec);
}

/* A pod with n scalar resources in its only container, from a number on. */
static struct bt_requests requests_of_many(struct fixture *f, int first, int n)
{
	struct bt_buf spec = {0};

	bt_buf_text(&spec, "containers: [{name: a, resources: {requests: {cpu: 1");
	for (int i = first; i < first + n; i++) {
		bt_buf_printf(&spec, ", example.com/r%d: %d", i, i + 1);
	}
	bt_buf_text(&spec, "}}}]");
	struct bt_requests requests = requests_in(f, spec.ptr);
	bt_buf_fini(&spec);
	return requests;
}

static void as_many_names_as_a_pod_may_have_are_distinguished(void **state)
{
	struct fixture *f = *state;
	const int scalar_n = BT_REQUEST_MAX - BT_FIRST_SCALAR;
	struct bt_requests requests = requests_of_many(f, 0, scalar_n);

	assert_false(requests.too_many_names);
	assert_int_equal(requests.fit.n, scalar_n + 1);
	for (uint32_t i = 1; i < requests.fit.n; i++) {
		assert_true(requests.fit.items[i - 1].slot < requests.fit.items[i].slot);
		assert_int_equal(requests.fit.items[i].amount, i);
	}
	assert_true(requests_of_many(f, 0, scalar_n + 1).too_many_names);
	assert_true(requests_of_many(f, 1000, scalar_n + 1).too_many_names);
}

/* The spec of a pod on a node with n resources in each of three containers: the first requests one of each,
 * the second two, the init container five of every second one. */
static void write_wide(struct bt_buf *spec, int n)
{
	static const char *const starts[] = {
		"nodeName: n1, containers: [{name: a, resources: {requests: {cpu: 1",
		"}}}, {name: b, resources: {requests: {memory: 1Mi",
		"}}}], initContainers: [{name: i, resources: {requests: {cpu: 2"};
	static const int amounts[] = {1, 2, 5};

	for (int k = 0; k < 3; k++) {
		bt_buf_text(spec, starts[k]);
		for (int i = 0; i < n; i += k == 2 ? 2 : 1) {
			bt_buf_printf(spec, ", example.com/w%d: %d", i, amounts[k]);
		}
	}
	bt_buf_text(spec, "}}}], overhead: {example.com/w0: 100m}");
}

static void all_requests_of_a_pod_on_a_node_count(void **state)
{
	struct fixture *f = *state;

	for (int n = 62; n <= 300; n += 119) {
		struct bt_buf spec = {0};

		write_wide(&spec, n);
		struct bt_requests requests = requests_in(f, spec.ptr);
		assert_true(requests.too_many_names);
		assert_false(requests.names_missing);
		assert_int_equal(requests.used.n, n + 2);
		assert_int_equal(bt_amounts_get(requests.used, BT_CPU), 2000);
		assert_int_equal(bt_amounts_get(requests.used, BT_MEMORY), MIB);
		for (int i = 0; i < n; i++) {
			char name[32];

			snprintf(name, sizeof(name), "example.com/w%d", i);
			int slot = bt_resource_find(f->cache->dictionary, bt_str(name));
			assert_true(slot >= BT_FIRST_SCALAR);
			assert_int_equal(bt_amounts_search(requests.used, (uint32_t)slot), i == 0  ? 6
											   : i % 2 ? 3
												   : 5);
			assert_int_equal(
				bt_amounts_search(requests.used_milli, (uint32_t)slot), i == 0 ? 5100 : 0);
		}
		bt_buf_fini(&spec);
	}
}

static void resources_without_a_slot_are_reported_and_the_others_count(void **state)
{
	struct fixture *f = *state;
	struct bt_buf spec = {0};

	fixture_crowd(f, BT_RESOURCE_POD_MAX - 100);
	write_wide(&spec, 200);
	struct bt_requests requests = requests_in(f, spec.ptr);
	assert_true(requests.names_missing);
	assert_int_equal(requests.used.n, 100 + 2);
	assert_int_equal(bt_amounts_get(requests.used, BT_CPU), 2000);
	assert_int_equal(bt_resource_count(f->cache->dictionary), BT_RESOURCE_POD_MAX);
	requests = requests_in(
		f, "containers: [{name: a, resources: {requests: {cpu: 3, example.com/late: 1}}}]");
	assert_true(requests.names_missing);
	assert_int_equal(requests.used.n, 1);
	bt_buf_fini(&spec);
}

static void pods_together_may_request_more_names(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 1000; i += 10) {
		assert_false(requests_of_many(f, i, 10).too_many_names);
	}
	struct bt_requests requests = requests_of_many(f, 500, 3);
	int slot = bt_resource_find(f->cache->dictionary, bt_str("example.com/r501"));
	assert_true(slot >= BT_FIRST_RARE);
	assert_int_equal(bt_amounts_get(requests.used, (uint32_t)slot), 502);
}

static void rare_names_are_added_up_by_slot(void **state)
{
	struct fixture *f = *state;

	requests_of_many(f, 0, 61);
	requests_of_many(f, 61, 10);
	struct bt_requests requests = requests_in(f,
		"containers: [{name: a, resources: {requests: {example.com/r70: 5, example.com/r2: 1, "
		"example.com/r69: 500m, memory: 1Mi}}}, {name: b, resources: {requests: {example.com/r70: "
		"2, hugepages-2Mi: 4Mi}}}], initContainers: [{name: i, resources: {requests: "
		"{example.com/r2: 4, example.com/r65: 1}}}]");
	static const char *const names[] = {"memory", "example.com/r2", "example.com/r65", "example.com/r69",
		"example.com/r70", "hugepages-2Mi"};
	const int64_t amounts[] = {MIB, 4, 1, 1, 7, 4 * MIB};
	assert_int_equal(requests.fit.n, 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_str(bt_resource_name(f->cache->dictionary, requests.fit.items[i].slot), names[i]);
		assert_int_equal(requests.fit.items[i].amount, amounts[i]);
	}
	assert_int_equal(requests.used_milli.n, 1);
	assert_int_equal(requests.used_milli.items[0].amount, 500);
}

static void node_resources_of_claims_count_where_devices_may(void **state)
{
	struct fixture *f = *state;
	static const struct bt_request_rules now = {.sums_by_state = true, .node_claims = true},
					     alone = {.node_claims = true, .claims_map_alone = true};
	const struct bt_pod_object *pod = &fixture_read(f,
		"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, resources: "
		"{requests: {cpu: 700m}}}]}, status: {nodeAllocatableResourceClaimStatuses: "
		"[{resourceClaimName: c, "
		"containers: [a, a], resources: {cpu: 2}, mapping: [{name: cpu, quantity: 300m}], overhead: "
		"[{name: "
		"cpu, perPod: 100m, perContainer: 1}]}]}}")
						   ->pod;
	struct bt_requests requests = requests_by(f, &now, pod);

	assert_int_equal(bt_amounts_get(requests.used, BT_CPU), 700 + 300 + 100 + 2 * 1000);
	assert_int_equal(requests.nonzero_milli_cpu, 700 + 300 + 100 + 2 * 1000);
	assert_int_equal(bt_amounts_get(requests.own, BT_CPU), 700);
	assert_int_equal(bt_amounts_get(requests.fit, BT_CPU), 700);
	assert_int_equal(bt_amounts_get(requests_by(f, &alone, pod).used, BT_CPU), 2700);
	assert_int_equal(bt_amounts_get(requests_by(f, &by_state, pod).used, BT_CPU), 700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(node_resources_of_claims_count_where_devices_may),
		FIXTURE_TEST(init_containers_count_at_their_worst_moment),
		FIXTURE_TEST(pod_level_requests_replace_the_sum),
		FIXTURE_TEST(overhead_suppresses_defaults_beside_pod_level_requests),
		FIXTURE_TEST(silent_containers_count_the_defaults_for_scores_only),
		FIXTURE_TEST(explicit_zeroes_stay_zero),
		FIXTURE_TEST(sums_are_exact_and_round_up_once),
		FIXTURE_TEST(overhead_is_added_to_requests),
		FIXTURE_TEST(a_resize_counts_the_largest_on_the_node),
		FIXTURE_TEST(an_infeasible_resize_does_not_count),
		FIXTURE_TEST(running_pods_with_requests_count_without_defaults_in_scores),
		FIXTURE_TEST(a_running_pod_without_allocated_requests_counts_the_default),
		FIXTURE_TEST(the_largest_is_taken_of_each_container_or_of_the_sums),
		FIXTURE_TEST(by_state_every_init_container_has_its_status_counted),
		FIXTURE_TEST(by_state_an_infeasible_resize_leaves_nothing_of_a_container_without_a_status),
		FIXTURE_TEST(by_state_the_pods_own_status_stands_for_those_of_its_containers),
		FIXTURE_TEST(the_pods_own_status_replaces_the_sum_while_its_gate_is_on),
		FIXTURE_TEST(names_that_are_no_resource_are_dropped),
		FIXTURE_TEST(too_many_names_are_noticed),
		FIXTURE_TEST(all_requests_of_a_pod_on_a_node_count),
		FIXTURE_TEST(resources_without_a_slot_are_reported_and_the_others_count),
		FIXTURE_TEST(as_many_names_as_a_pod_may_have_are_distinguished),
		FIXTURE_TEST(pods_together_may_request_more_names),
		FIXTURE_TEST(rare_names_are_added_up_by_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
