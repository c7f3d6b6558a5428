/* SPDX-License-Identifier: Apache-2.0
 * Utilization of a cluster: shares over nodes, zones, full and empty nodes, the free
 * sum, and formatted amounts.
 */
#include "object_fixture.h"

#include "tools/kube/report/utilization.h"

#define ROOM(cpu, pods)	 "allocatable: {cpu: '" cpu "', memory: 8Gi, pods: '" pods "'}"
#define ZONE(name, zone) "name: " name ", labels: {topology.kubernetes.io/zone: " zone "}"
#define ON(node, cpu)                                                                                        \
	"nodeName: " node ", containers: [{name: a, resources: {requests: {cpu: '" cpu "', memory: 1Gi}}}]"

static const struct bt_utilization *resource(const struct bt_cluster_utilization *u, const char *name)
{
	for (size_t i = 0; i < u->resource_n; i++) {
		if (bt_str_is(u->resources[i].name, name)) {
			return &u->resources[i];
		}
	}
	fail_msg("there is no resource %s", name);
	return NULL;
}

static void an_empty_cluster_has_nothing(void **state)
{
	struct fixture *f = *state;
	struct bt_cluster_utilization u;

	bt_utilization_measure(f->cache, &u);
	assert_int_equal(u.resource_n, 0);
	assert_int_equal(u.zone_n, 0);
	assert_int_equal(u.empty_node_n, 0);
	bt_utilization_fini(&u);
}

static void shares_are_of_each_nodes_allocatable(void **state)
{
	struct fixture *f = *state;
	struct bt_cluster_utilization u;

	fixture_node(f, "name: n1", "", ROOM("4", "10"));
	fixture_node(f, "name: n2", "", ROOM("2", "10"));
	fixture_node(f, "name: n3", "", "allocatable: {memory: 8Gi, pods: '10'}");
	fixture_pod(f, ON("n1", "1"));
	fixture_pod(f, ON("n2", "1"));
	bt_utilization_measure(f->cache, &u);
	const struct bt_utilization *cpu = resource(&u, "cpu");
	assert_int_equal(cpu->node_n, 2); /* n3 has none */
	assert_true(cpu->used == 2000 && cpu->allocatable == 6000);
	assert_true(cpu->mean == 0.375 && cpu->p50 == 0.25 && cpu->p99 == 0.5 && cpu->highest == 0.5);
	const struct bt_utilization *pods = resource(&u, "pods");
	assert_int_equal(pods->slot, BT_FIRST_RARE);
	assert_true(pods->used == 2 && pods->allocatable == 30 && pods->highest == 0.1);
	bt_utilization_fini(&u);
}

static void zones_are_ordered_by_name_and_nodes_without_one_are_first(void **state)
{
	struct fixture *f = *state;
	struct bt_cluster_utilization u;

	fixture_node(f, ZONE("n1", "b"), "", ROOM("4", "10"));
	fixture_node(f, ZONE("n2", "a"), "", ROOM("4", "10"));
	fixture_node(f, ZONE("n3", "b"), "", ROOM("4", "10"));
	fixture_node(f, "name: n4", "", ROOM("4", "10"));
	fixture_pod(f, ON("n3", "1"));
	bt_utilization_measure(f->cache, &u);
	assert_int_equal(u.zone_n, 3);
	assert_str(u.zones[0].name, "");
	assert_str(u.zones[1].name, "a");
	assert_str(u.zones[2].name, "b");
	assert_int_equal(u.zones[2].node_n, 2);
	assert_int_equal(u.zones[2].pod_n, 1);
	assert_true(u.zones[2].cpu_used == 1000 && u.zones[2].cpu == 8000);
	assert_true(u.zones[2].memory_used == 1073741824.0 && u.zones[2].memory == 17179869184.0);
	bt_utilization_fini(&u);
}

static void a_node_is_full_by_pods_cpu_or_memory(void **state)
{
	struct fixture *f = *state;
	struct bt_cluster_utilization u;

	fixture_node(f, "name: by-pods", "", ROOM("4", "1"));
	fixture_node(f, "name: by-cpu", "", ROOM("1", "10"));
	fixture_node(f, "name: nearly", "", ROOM("2", "10"));
	fixture_node(f, "name: empty", "", ROOM("4", "10"));
	fixture_pod(f, ON("by-pods", "1"));
	fixture_pod(f, ON("by-cpu", "1"));
	fixture_pod(f, ON("nearly", "1.98"));
	bt_utilization_measure(f->cache, &u);
	assert_int_equal(u.full_node_n, 2);
	assert_int_equal(u.empty_node_n, 1);
	bt_utilization_fini(&u);
}

static void a_free_sum_may_be_too_small_or_lack_pod_slots(void **state)
{
	struct fixture *f = *state;
	uint32_t first = fixture_node(f, "name: n1", "", ROOM("2", "10"));
	uint32_t full = fixture_node(f, "name: n2", "", ROOM("2", "1"));

	fixture_pod(f, ON("n2", "1"));
	const struct bt_signature *three = fixture_signature(f, ON("", "3"));
	assert_true(bt_utilization_sum_fits(f->cache, three, NULL, 0));
	assert_false(bt_utilization_sum_fits(f->cache, three, &first, 1));
	const struct bt_signature *four = fixture_signature(f, ON("", "3.5"));
	assert_false(bt_utilization_sum_fits(f->cache, four, NULL, 0));
	const struct bt_signature *small = fixture_signature(f, ON("", "0.5"));
	assert_true(bt_utilization_sum_fits(f->cache, small, &first, 1));
	assert_false(bt_utilization_sum_fits(f->cache, small, &full, 1)); /* one more pod is the limit */
}

static void assert_amount(const char *resource, double amount, const char *want)
{
	struct bt_buf text = {0};

	bt_amount_text(bt_str(resource), amount, &text);
	assert_string_equal(text.ptr, want);
	bt_buf_fini(&text);
}

static void amounts_are_written_in_cores_and_binary_bytes(void **state)
{
	(void)state;
	assert_amount("cpu", 1500, "1.5");
	assert_amount("cpu", 2000, "2");
	assert_amount("cpu", 1, "0.001");
	assert_amount("memory", 1023, "1023");
	assert_amount("memory", 1536.0 * 1024 * 1024, "1.5Gi");
	assert_amount("ephemeral-storage", 1024, "1Ki");
	assert_amount("memory", -2048, "-2Ki");
	assert_amount("hugepages-2Mi", 4.0 * 1024 * 1024, "4Mi");
	assert_amount("example.com/gpu", 10, "10");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(an_empty_cluster_has_nothing),
		FIXTURE_TEST(shares_are_of_each_nodes_allocatable),
		FIXTURE_TEST(zones_are_ordered_by_name_and_nodes_without_one_are_first),
		FIXTURE_TEST(a_node_is_full_by_pods_cpu_or_memory),
		FIXTURE_TEST(a_free_sum_may_be_too_small_or_lack_pod_slots),
		cmocka_unit_test(amounts_are_written_in_cores_and_binary_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
