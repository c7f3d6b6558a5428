/* SPDX-License-Identifier: Apache-2.0
 * Which nodes fit, preemption, and pods that are placed together, in transactions of a handle.
 */
#include "lib_fixture.h"

#define GATES "GenericWorkload=true,TopologyAwareWorkloadScheduling=true"

#define RACK_NODE(name, cpu, rack)                                                                           \
	"{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {rack: " rack                       \
	"}}, status: {allocatable: {cpu: '" cpu "', memory: 8Gi, pods: '10'}}}\n---\n"
#define GANG(name, min, more)                                                                                \
	"{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {namespace: default, name: " name \
	"}, spec: {" more "schedulingPolicy: {gang: {minCount: " min "}}}}\n---\n"
#define MEMBER(name, group, cpu) POD_WITH(name, cpu, "schedulingGroup: {podGroupName: " group "}, ")
#define IN_A_RACK		 "schedulingConstraints: {topology: [{key: rack}]}, "

static struct berth *begin(const char *gates, const char *objects)
{
	struct berth_options options;

	BERTH_INIT(&options);
	options.feature_gates = gates;
	struct berth *berth = make_with(&options);
	feed(berth, objects);
	assert_int_equal(berth_transaction_begin(berth), BERTH_OK);
	return berth;
}

static const char *fitting(struct berth *berth, const char *name)
{
	static char text[256];
	struct berth_node_set set;
	size_t at = 0;

	BERTH_INIT(&set);
	assert_int_equal(berth_feasible_nodes(berth, NULL, name, &set), BERTH_OK);
	text[0] = '\0';
	for (uint32_t i = 0; i < set.n; i++) {
		assert_true(set.nodes[i] < set.name_n);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s ", set.names[set.nodes[i]]);
	}
	return text;
}

static void nodes_that_fit_are_those_of_the_transaction(void **state)
{
	struct berth *berth = begin(NULL,
		NODE("n1", "4") NODE("n2", "2") NODE("n3", "4") POD("a", "3")
			POD_WITH("there", "1", "nodeName: n3, ")
				POD_WITH("picky", "1", "nodeSelector: {kubernetes.io/hostname: n2}, "));
	struct berth_node_set set, again;

	(void)state;
	assert_string_equal(fitting(berth, "a"), "n1 n3 ");
	assert_string_equal(fitting(berth, "picky"), "n2 ");
	assert_int_equal(berth_cordon_node(berth, "n1"), BERTH_OK);
	assert_string_equal(fitting(berth, "a"), "n3 ");
	assert_int_equal(
		berth_schedule_pods(berth, &(struct berth_pod_ref){.name = "picky"}, 1, NULL), BERTH_OK);
	assert_int_equal(berth_transaction_rollback(berth), BERTH_OK);
	assert_string_equal(fitting(berth, "a"), "n1 n3 ");
	BERTH_INIT(&set);
	BERTH_INIT(&again);
	assert_int_equal(berth_feasible_nodes(berth, NULL, "a", &set), BERTH_OK);
	feed(berth, NODE("n4", "4"));
	assert_int_equal(berth_feasible_nodes(berth, NULL, "a", &again), BERTH_OK);
	assert_true(set.version != again.version);
	assert_string_equal(fitting(berth, "a"), "n1 n3 n4 ");
	assert_int_equal(berth_feasible_nodes(berth, NULL, "there", &set), BERTH_NOT_FOUND);
	assert_int_equal(berth_feasible_nodes(berth, NULL, "a", NULL), BERTH_INVALID);
	set.size = 1;
	assert_int_equal(berth_feasible_nodes(berth, NULL, "a", &set), BERTH_INVALID);
	berth_destroy(berth);
}

static void nodes_that_fit_depend_on_other_pods_of_a_topology(void **state)
{
	static const char spread[] =
		"topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, "
		"whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: x}}}], ";
	char text[4096];

	(void)state;
	snprintf(text, sizeof(text),
		"%s%s{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: a, labels: {app: x}}, "
		"spec: {%scontainers: [{name: main}]}}\n---\n",
		NODE("n1", "4") NODE("n2", "4") NODE("n3", "4"),
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: there, labels: {app: x}}, "
		"spec: "
		"{nodeName: n3, containers: [{name: main}]}}\n---\n",
		spread);
	struct berth *berth = begin(NULL, text);
	assert_string_equal(fitting(berth, "a"), "n1 n2 ");
	berth_destroy(berth);
}

static void victims_are_found_evicted_and_put_back_together(void **state)
{
	struct berth *berth = begin(NULL,
		NODE("n1", "4") NODE("n2", "1") POD_WITH("low", "3", "nodeName: n1, priority: 1, ")
			POD_WITH("lower", "1", "nodeName: n1, priority: 0, ")
				POD_WITH("high", "4", "priority: 5, ") POD("small", "1"));
	const struct berth_pod_ref *victims;
	struct berth_pod_ref wrong[] = {{.name = "low"}, {.name = "high"}};
	const char *node;
	uint32_t n;
	uint64_t first, second;

	(void)state;
	assert_int_equal(berth_find_victims(berth, NULL, "small", &node, &victims, &n), BERTH_OK);
	assert_int_equal(n, 0);
	assert_string_equal(node, "");
	assert_int_equal(berth_find_victims(berth, NULL, "high", &node, &victims, &n), BERTH_OK);
	assert_int_equal(n, 2);
	assert_string_equal(node, "n1");
	assert_string_equal(victims[0].name, "low");
	assert_string_equal(victims[0].node, "n1");
	assert_int_equal(berth_find_victims(berth, NULL, "high", NULL, NULL, &n), BERTH_INVALID);
	assert_int_equal(berth_preempt_pods(berth, wrong, 2, &first), BERTH_NOT_FOUND);
	assert_string_equal(fitting(berth, "high"), "");
	assert_int_equal(berth_preempt_pods(berth, NULL, 1, &first), BERTH_INVALID);
	assert_int_equal(berth_find_victims(berth, NULL, "high", &node, &victims, &n), BERTH_OK);
	assert_int_equal(berth_preempt_pods(berth, victims, n, &first), BERTH_OK);
	assert_string_equal(fitting(berth, "high"), "n1 ");
	assert_int_equal(berth_unpreempt(berth, first + 1), BERTH_NOT_FOUND);
	assert_int_equal(berth_unpreempt(berth, first), BERTH_OK);
	assert_int_equal(berth_unpreempt(berth, first), BERTH_NOT_FOUND);
	assert_string_equal(fitting(berth, "high"), "");
	assert_int_equal(
		berth_preempt_pods(berth, (struct berth_pod_ref[]){{.name = "low"}}, 1, &first), BERTH_OK);
	assert_int_equal(berth_transaction_begin(berth), BERTH_OK);
	assert_int_equal(
		berth_preempt_pods(berth, (struct berth_pod_ref[]){{.name = "lower"}}, 1, &second), BERTH_OK);
	assert_int_equal(berth_unpreempt(berth, first), BERTH_NOT_FOUND);
	assert_int_equal(berth_transaction_rollback(berth), BERTH_OK);
	assert_int_equal(berth_unpreempt(berth, second), BERTH_NOT_FOUND);
	assert_int_equal(berth_restore_pod(berth, NULL, "low"), BERTH_OK);
	assert_int_equal(berth_unpreempt(berth, first), BERTH_NOT_FOUND);
	berth_destroy(berth);
}

static uint32_t place(struct berth *berth, struct berth_pod_ref *pods, uint32_t n, char **out_message)
{
	uint32_t placed_n = UINT32_MAX;

	assert_int_equal(berth_schedule_workload(berth, pods, n, &placed_n, out_message), BERTH_OK);
	return placed_n;
}

static void pods_without_a_group_get_nodes_together_or_not_at_all(void **state)
{
	struct berth *berth = begin(NULL, NODE("n1", "4") POD("a", "2") POD("b", "2") POD("c", "1"));
	struct berth_pod_ref pods[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
	char *message;

	(void)state;
	assert_int_equal(place(berth, pods, 3, &message), 0);
	assert_string_equal(pods[0].node, "");
	assert_non_null(strstr(message, "0/1 nodes are available: 1 Insufficient cpu"));
	berth_free(message);
	assert_string_equal(fitting(berth, "a"), "n1 ");
	assert_int_equal(place(berth, pods, 2, &message), 2);
	assert_string_equal(message, "");
	berth_free(message);
	assert_string_equal(pods[1].node, "n1");
	assert_string_equal(fitting(berth, "c"), "");
	assert_int_equal(berth_schedule_workload(berth, pods, 1, NULL, NULL), BERTH_NOT_FOUND);
	assert_int_equal(berth_schedule_workload(berth, NULL, 1, NULL, NULL), BERTH_INVALID);
	assert_int_equal(berth_schedule_workload(berth,
				 (struct berth_pod_ref[]){{.name = "c"}, {.name = "c"}}, 2, NULL, NULL),
		BERTH_INVALID);
	berth_destroy(berth);
}

static void a_gang_needs_its_minimum(void **state)
{
	struct berth *berth = begin(GATES, NODE("n1", "4") GANG("g", "2", "") GANG("large", "3", "") MEMBER(
						   "a", "g", "2") MEMBER("b", "g", "2") MEMBER("c", "g", "2")
						   MEMBER("d", "large", "1") MEMBER("e", "nowhere", "1"));
	struct berth_pod_ref pods[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}},
			     mixed[] = {{.name = "a"}, {.name = "d"}};
	char *message;

	(void)state;
	assert_int_equal(berth_schedule_workload(berth, mixed, 2, NULL, NULL), BERTH_INVALID);
	assert_int_equal(
		berth_schedule_workload(berth, (struct berth_pod_ref[]){{.name = "e"}}, 1, NULL, NULL),
		BERTH_NOT_FOUND);
	assert_int_equal(place(berth, &mixed[1], 1, &message), 0);
	assert_non_null(strstr(message, "pod group is unschedulable"));
	berth_free(message);
	assert_int_equal(place(berth, pods, 1, NULL), 0);
	assert_int_equal(place(berth, pods, 3, &message), 2);
	assert_string_equal(message, "");
	berth_free(message);
	assert_string_equal(pods[1].node, "n1");
	assert_string_equal(pods[2].node, "");
	assert_int_equal(berth_transaction_commit(berth), BERTH_OK);
	assert_string_equal(decide(berth, "a")->pod.node, "n1");
	assert_string_equal(decide(berth, "b")->pod.node, "n1");
	berth_destroy(berth);
}

static void a_group_with_a_constraint_gets_one_rack(void **state)
{
	struct berth *berth = begin(GATES,
		RACK_NODE("n1", "4", "r1") RACK_NODE("n2", "2", "r2") RACK_NODE("n3", "2", "r2")
			RACK_NODE("n4", "1", "r1") GANG("g", "2", IN_A_RACK) MEMBER("a", "g", "2")
				MEMBER("b", "g", "2") MEMBER("c", "g", "2"));
	struct berth_pod_ref pods[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
	char *message;

	(void)state;
	assert_int_equal(place(berth, pods, 2, NULL), 2);
	assert_int_equal(pods[0].node[1] == '1' || pods[0].node[1] == '4',
		pods[1].node[1] == '1' || pods[1].node[1] == '4');
	assert_int_equal(berth_transaction_rollback(berth), BERTH_OK);
	assert_int_equal(berth_transaction_begin(berth), BERTH_OK);
	assert_int_equal(berth_cordon_node(berth, "n1"), BERTH_OK);
	assert_int_equal(place(berth, pods, 2, NULL), 2);
	assert_string_not_equal(pods[0].node, pods[1].node);
	assert_int_equal(berth_transaction_rollback(berth), BERTH_OK);
	assert_int_equal(berth_transaction_begin(berth), BERTH_OK);
	assert_int_equal(berth_cordon_node(berth, "n1"), BERTH_OK);
	assert_int_equal(berth_cordon_node(berth, "n2"), BERTH_OK);
	assert_int_equal(place(berth, pods, 2, &message), 0);
	assert_non_null(strstr(message, "0/2 placements are available"));
	berth_free(message);
	berth_destroy(berth);
}

#define TREE_GATES GATES ",CompositePodGroup=true"
#define TREE(name, min)                                                                                      \
	"{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {namespace: default, "  \
	"name: " name "}, spec: {schedulingPolicy: {gang: {minGroupCount: " min "}}}}\n---\n"
#define LEAF(name, min, tree) GANG(name, min, "parentCompositePodGroupName: " tree ", ")

static void a_tree_of_groups_needs_as_many_groups_as_its_policy_says(void **state)
{
	struct berth *berth = begin(TREE_GATES,
		NODE("n1", "4") TREE("job", "2") LEAF("driver", "1", "job") LEAF("workers", "2", "job") LEAF(
			"lost", "1", "nowhere") MEMBER("d", "driver", "1") MEMBER("w1", "workers", "1")
			MEMBER("w2", "workers", "1") MEMBER("w3", "workers", "2") MEMBER("x", "lost", "1"));
	struct berth_pod_ref pods[] = {{.name = "d"}, {.name = "w1"}, {.name = "w2"}, {.name = "w3"}};
	char *message;

	(void)state;
	assert_int_equal(
		berth_schedule_workload(berth, (struct berth_pod_ref[]){{.name = "x"}}, 1, NULL, NULL),
		BERTH_NOT_FOUND);
	assert_int_equal(place(berth, pods, 2, &message), 0);
	assert_true(strlen(message) > 0);
	berth_free(message);
	assert_string_equal(fitting(berth, "w3"), "n1 ");
	assert_int_equal(place(berth, pods, 4, NULL), 3);
	assert_string_equal(pods[0].node, "n1");
	assert_string_equal(pods[3].node, "");
	assert_string_equal(fitting(berth, "w3"), "");
	assert_int_equal(berth_transaction_rollback(berth), BERTH_OK);
	assert_string_equal(fitting(berth, "w3"), "n1 ");
	assert_string_equal(decide(berth, "d")->pod.node, "n1");
	assert_string_equal(decide(berth, "w1")->pod.node, "n1");
	berth_destroy(berth);
}

#define NOMINATED(name, group, node)                                                                         \
	"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: " name                             \
	"}, spec: {priority: 5, schedulingGroup: {podGroupName: " group                                      \
	"}, containers: [{name: main, resources: {requests: {cpu: '2'}}}]}, status: "                        \
	"{nominatedNodeName: " node "}}\n---\n"

static void nominated_pods_of_a_group_get_their_nodes_and_are_nominated_again(void **state)
{
	struct berth *berth = begin(GATES,
		NODE("n1", "8") NODE("n2", "4") NODE("n3", "1") GANG("g", "2", "priority: 5, ") NOMINATED(
			"a", "g", "n2") NOMINATED("b", "g", "n2") MEMBER("c", "g", "6") POD("small", "1"));
	struct berth_pod_ref pods[] = {{.name = "a"}, {.name = "b"}};

	(void)state;
	/* Room is kept for both. */
	assert_string_equal(fitting(berth, "small"), "n1 n3 ");
	assert_int_equal(berth_transaction_begin(berth), BERTH_OK);
	assert_int_equal(place(berth, pods, 1, NULL), 0);
	assert_string_equal(fitting(berth, "small"), "n1 n3 ");
	assert_int_equal(place(berth, pods, 2, NULL), 2);
	assert_string_equal(pods[0].node, "n2");
	assert_string_equal(pods[1].node, "n2");
	assert_int_equal(berth_evict_pod(berth, NULL, "a"), BERTH_OK);
	assert_string_equal(fitting(berth, "small"), "n1 n2 n3 ");
	assert_int_equal(berth_transaction_rollback(berth), BERTH_OK);
	assert_string_equal(fitting(berth, "small"), "n1 n3 ");
	berth_destroy(berth);
}

static void copies_of_a_template_are_listed_with_their_nodes(void **state)
{
	struct berth *berth = begin(NULL, NODE("n1", "4") NODE("n2", "4") POD("a", "3"));
	const struct berth_pod_ref *pods;
	uint32_t n;

	(void)state;
	assert_int_equal(berth_template_pods(berth, &pods, &n), BERTH_OK);
	assert_int_equal(n, 0);
	assert_int_equal(berth_schedule_pods_by_template(berth, NULL, "a", 0, NULL, NULL), BERTH_OK);
	assert_int_equal(berth_template_pods(berth, &pods, &n), BERTH_OK);
	assert_int_equal(n, 2);
	assert_string_equal(pods[1].name, "a-2");
	assert_string_not_equal(pods[0].node, pods[1].node);
	assert_int_equal(berth_transaction_rollback(berth), BERTH_OK);
	assert_int_equal(berth_template_pods(berth, &pods, &n), BERTH_OK);
	assert_int_equal(n, 0);
	assert_int_equal(berth_template_pods(berth, NULL, &n), BERTH_INVALID);
	berth_destroy(berth);
}

/* metadata {name: NAME}, spec {containers [{name: main}]}, as k8s.io/api encodes it. */
#define PROTO_POD(letter)                                                                                    \
	"\x00\x00\x00\x0f\x0a\x03\x0a\x01" letter "\x12\x08\x12\x06\x0a\x04"                                 \
	"main"

static void objects_come_as_protobuf_too(void **state)
{
	static const char pods[] = PROTO_POD("a") PROTO_POD("b");
	struct berth *berth = begin(NULL, NODE("n1", "4"));
	struct berth_applied applied;

	(void)state;
	BERTH_INIT(&applied);
	assert_int_equal(berth_apply_protobuf(berth, "Pod", pods, sizeof(pods) - 1, &applied), BERTH_OK);
	assert_int_equal(applied.applied, 2);
	assert_string_equal(fitting(berth, "b"), "n1 ");
	assert_int_equal(berth_transaction_rollback(berth), BERTH_OK);
	assert_int_equal(berth_find_pod(berth, NULL, "a", NULL, NULL), BERTH_NOT_FOUND);
	assert_int_equal(
		berth_apply_protobuf(berth, "Pod", pods, sizeof(pods) - 2, &applied), BERTH_BAD_INPUT);
	expect_error(berth, "precede each object by its length");
	assert_int_equal(
		berth_apply_protobuf(berth, "Pod", "\x00\x00\x00\x02\x0a\x7f", 6, NULL), BERTH_BAD_INPUT);
	expect_error(berth, "Marshal");
	assert_int_equal(berth_apply_protobuf(berth, "Service", pods, sizeof(pods) - 1, NULL), BERTH_INVALID);
	assert_int_equal(berth_apply_protobuf(berth, NULL, pods, sizeof(pods) - 1, NULL), BERTH_INVALID);
	assert_int_equal(berth_apply_protobuf(berth, "Pod", NULL, 1, NULL), BERTH_INVALID);
	assert_int_equal(berth_apply_protobuf(berth, "Pod", NULL, 0, NULL), BERTH_OK);
	berth_destroy(berth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_that_fit_are_those_of_the_transaction),
		cmocka_unit_test(nodes_that_fit_depend_on_other_pods_of_a_topology),
		cmocka_unit_test(victims_are_found_evicted_and_put_back_together),
		cmocka_unit_test(pods_without_a_group_get_nodes_together_or_not_at_all),
		cmocka_unit_test(a_gang_needs_its_minimum),
		cmocka_unit_test(a_group_with_a_constraint_gets_one_rack),
		cmocka_unit_test(a_tree_of_groups_needs_as_many_groups_as_its_policy_says),
		cmocka_unit_test(nominated_pods_of_a_group_get_their_nodes_and_are_nominated_again),
		cmocka_unit_test(copies_of_a_template_are_listed_with_their_nodes),
		cmocka_unit_test(objects_come_as_protobuf_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
