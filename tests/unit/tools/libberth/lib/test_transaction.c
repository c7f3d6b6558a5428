/* SPDX-License-Identifier: Apache-2.0
 * Transactions of a handle.
 */
#include "lib_fixture.h"

static uint32_t place_two(struct berth *berth, struct berth_pod_ref pods[2])
{
	uint32_t n = UINT32_MAX;

	assert_int_equal(berth_schedule_pods(berth, pods, 2, &n), BERTH_OK);
	return n;
}

static bool has_node(struct berth *berth, const char *name)
{
	const char *node;

	assert_int_equal(berth_can_schedule_pod(berth, NULL, name, &node), BERTH_OK);
	return node[0];
}

static void pods_scheduled_in_a_transaction_are_pending_after_a_rollback(void **state)
{
	struct berth *berth = make_with(NULL);
	struct berth_pod_ref pods[2] = {{.name = "a"}, {.pod_namespace = "default", .name = "b"}};
	enum berth_pod_state found;
	char *message;

	(void)state;
	feed(berth, NODE("n1", "4") POD("a", "3") POD("b", "2"));
	assert_int_equal(berth_schedule_pods(berth, pods, 2, NULL), BERTH_INVALID);
	assert_true(has_node(berth, "a") && has_node(berth, "b"));
	assert_int_equal(berth_transaction_begin(berth), BERTH_OK);
	assert_int_equal(place_two(berth, pods), 1);
	assert_string_equal(pods[0].node, "n1");
	assert_string_equal(pods[1].node, "");
	assert_int_equal(berth_message(berth, NULL, "b", &message), BERTH_OK);
	assert_non_null(strstr(message, "Insufficient cpu"));
	berth_free(message);
	assert_int_equal(berth_find_pod(berth, NULL, "a", &found, NULL), BERTH_OK);
	assert_int_equal(found, BERTH_POD_ASSUMED);
	assert_int_equal(berth_can_schedule_pod(berth, NULL, "a", NULL), BERTH_NOT_FOUND);
	assert_int_equal(berth_transaction_rollback(berth), BERTH_OK);
	assert_int_equal(berth_transaction_rollback(berth), BERTH_INVALID);
	assert_string_equal(decide(berth, "a")->pod.node, "n1");
	berth_destroy(berth);
}

static void calls_that_schedule_or_delete_wait_for_the_end(void **state)
{
	struct berth *berth = make_with(NULL);
	const struct berth_decision *decision;
	struct berth_options threads;

	(void)state;
	feed(berth, NODE("n1", "4") POD("a", "3"));
	assert_int_equal(berth_transaction_begin(berth), BERTH_OK);
	assert_int_equal(berth_run(berth, 0, NULL), BERTH_BUSY);
	assert_int_equal(berth_next_decision(berth, 0, &decision), BERTH_BUSY);
	assert_int_equal(berth_settle(berth, 0), BERTH_BUSY);
	assert_int_equal(berth_delete(berth, "Pod", NULL, "a"), BERTH_BUSY);
	assert_int_equal(berth_delete_text(berth, POD("a", "3"), strlen(POD("a", "3")), 0, NULL), BERTH_BUSY);
	assert_int_equal(berth_apply_events(berth, "", 0, 0, NULL), BERTH_BUSY);
	assert_int_equal(berth_bound(berth, 1), BERTH_BUSY);
	assert_int_equal(berth_stop(berth, BERTH_DRAIN, 0), BERTH_BUSY);
	assert_non_null(strstr(berth_error(berth), "a transaction is open"));
	assert_int_equal(berth_apply(berth, POD("a", "1"), strlen(POD("a", "1")), 0, NULL), BERTH_BAD_INPUT);
	berth_destroy(berth);

	BERTH_INIT(&threads);
	threads.threads = 1;
	berth = make_with(&threads);
	assert_int_equal(berth_transaction_begin(berth), BERTH_UNSUPPORTED);
	berth_destroy(berth);
}

static void a_drained_node_is_planned_and_then_carried_out(void **state)
{
	struct berth *berth = make_with(NULL);
	struct berth_pod_ref pods[2] = {{.name = "a-1"}, {.name = "b"}};
	struct berth_counts counts;
	uint32_t n;
	char *message;

	(void)state;
	BERTH_INIT(&counts);
	feed(berth, NODE("n1", "4") NODE("n2", "4") POD_WITH("a", "3", "nodeName: n1, ") POD("b", "4"));
	assert_int_equal(berth_transaction_begin(berth), BERTH_OK);
	assert_int_equal(berth_cordon_node(berth, "n1"), BERTH_OK);
	assert_int_equal(berth_cordon_node(berth, "n3"), BERTH_NOT_FOUND);
	assert_int_equal(berth_evict_pod(berth, NULL, "a"), BERTH_OK);
	assert_int_equal(berth_evict_pod(berth, NULL, "a"), BERTH_NOT_FOUND);
	assert_int_equal(berth_find_pod(berth, NULL, "a", NULL, NULL), BERTH_NOT_FOUND);
	assert_int_equal(berth_schedule_pods_by_template(berth, NULL, "a", 1, &n, &message), BERTH_OK);
	assert_int_equal(n, 1);
	assert_string_equal(message, "");
	berth_free(message);
	assert_int_equal(berth_schedule_pods_by_template(berth, NULL, "a", 0, &n, &message), BERTH_OK);
	assert_int_equal(n, 0);
	assert_non_null(
		strstr(message, "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable"));
	berth_free(message);
	assert_int_equal(place_two(berth, (struct berth_pod_ref[2]){{.name = "b"}, {.name = "b"}}), 0);
	assert_int_equal(berth_schedule_pods(berth, pods, 1, &n), BERTH_NOT_FOUND);
	assert_int_equal(berth_uncordon_node(berth, "n1"), BERTH_OK);
	assert_int_equal(berth_schedule_pods(berth, &pods[1], 1, &n), BERTH_OK);
	assert_string_equal(pods[1].node, "n1");
	assert_int_equal(berth_transaction_commit(berth), BERTH_OK);
	assert_string_equal(decide(berth, "a-1")->pod.node, "n2");
	assert_string_equal(decide(berth, "b")->pod.node, "n1");
	expect_none(berth);
	berth_get_counts(berth, &counts);
	assert_int_equal(counts.pods_on_nodes, 2);
	assert_int_equal(counts.pods, 2);
	berth_destroy(berth);
}

static void an_evicted_pod_is_restored(void **state)
{
	struct berth *berth = make_with(NULL);

	(void)state;
	feed(berth, NODE("n1", "4") POD_WITH("a", "3", "nodeName: n1, ") POD("b", "4"));
	assert_int_equal(berth_transaction_begin(berth), BERTH_OK);
	assert_int_equal(berth_restore_pod(berth, NULL, "a"), BERTH_NOT_FOUND);
	assert_int_equal(berth_evict_pod(berth, NULL, "a"), BERTH_OK);
	assert_true(has_node(berth, "b"));
	assert_int_equal(berth_restore_pod(berth, NULL, "a"), BERTH_OK);
	assert_false(has_node(berth, "b"));
	assert_int_equal(berth_evict_pod(berth, NULL, "b"), BERTH_NOT_FOUND);
	assert_int_equal(berth_evict_pod(berth, NULL, NULL), BERTH_INVALID);
	berth_destroy(berth);
}

static void a_removed_node_takes_no_pods_and_comes_back_with_the_rollback(void **state)
{
	struct berth *berth = make_with(NULL);
	const char *const nodes[] = {"n2"}, *node;

	(void)state;
	feed(berth, NODE("n1", "4") NODE("n2", "2") POD_WITH("a", "1", "nodeName: n1, ") POD("b", "1"));
	assert_int_equal(berth_remove_node(berth, "n1"), BERTH_INVALID);
	assert_int_equal(berth_transaction_begin(berth), BERTH_OK);
	assert_int_equal(berth_remove_node(berth, "n3"), BERTH_NOT_FOUND);
	assert_int_equal(berth_remove_node(berth, NULL), BERTH_INVALID);
	assert_int_equal(berth_restrict_nodes(berth, nodes, 1), BERTH_OK);
	assert_int_equal(berth_remove_node(berth, "n1"), BERTH_INVALID);
	assert_int_equal(berth_restrict_nodes(berth, NULL, 0), BERTH_OK);
	assert_int_equal(berth_remove_node(berth, "n1"), BERTH_OK);
	assert_int_equal(berth_remove_node(berth, "n1"), BERTH_NOT_FOUND);
	assert_int_equal(berth_can_schedule_pod(berth, NULL, "b", &node), BERTH_OK);
	assert_string_equal(node, "n2");
	assert_int_equal(berth_evict_pod(berth, NULL, "a"), BERTH_OK);
	assert_int_equal(berth_transaction_rollback(berth), BERTH_OK);
	assert_int_equal(berth_transaction_begin(berth), BERTH_OK);
	assert_int_equal(berth_can_schedule_pod(berth, NULL, "b", &node), BERTH_OK);
	assert_string_equal(node, "n1");
	assert_int_equal(berth_evict_pod(berth, NULL, "a"), BERTH_OK);
	assert_int_equal(berth_remove_node(berth, "n1"), BERTH_OK);
	assert_int_equal(berth_transaction_commit(berth), BERTH_OK);
	assert_string_equal(decide(berth, "b")->pod.node, "n2");
	berth_destroy(berth);
}

static void placements_keep_to_the_nodes_they_are_restricted_to(void **state)
{
	struct berth *berth = make_with(NULL);
	const char *const nodes[] = {"n1"}, *const wrong[] = {"n3"}, *node;
	struct berth_node another;

	(void)state;
	feed(berth, NODE("n1", "2") NODE("n2", "4") POD("a", "1"));
	assert_int_equal(berth_transaction_begin(berth), BERTH_OK);
	assert_int_equal(berth_restrict_nodes(berth, wrong, 1), BERTH_NOT_FOUND);
	assert_int_equal(berth_restrict_nodes(berth, nodes, 1), BERTH_OK);
	assert_int_equal(berth_can_schedule_pod(berth, NULL, "a", &node), BERTH_OK);
	assert_string_equal(node, "n1");
	BERTH_INIT(&another);
	another.name = "n3";
	assert_int_equal(berth_apply_node(berth, &another), BERTH_INVALID);
	assert_int_equal(berth_restrict_nodes(berth, NULL, 0), BERTH_OK);
	assert_int_equal(berth_can_schedule_pod(berth, NULL, "a", &node), BERTH_OK);
	assert_string_equal(node, "n2");
	assert_int_equal(berth_apply_node(berth, &another), BERTH_OK);
	berth_destroy(berth);
}

struct seen {
	char text[512];
	size_t most;
};

static bool see_node(void *context, const struct berth_node_state *node)
{
	struct seen *seen = context;
	size_t at = strlen(seen->text);

	at += (size_t)snprintf(
		seen->text + at, sizeof(seen->text) - at, "%s%s", node->name, node->unschedulable ? "!" : "");
	for (uint32_t i = 0; i < node->usage_n; i++) {
		at += (size_t)snprintf(seen->text + at, sizeof(seen->text) - at, " %s %" PRId64 "/%" PRId64,
			node->usage[i].resource, node->usage[i].used, node->usage[i].allocatable);
	}
	snprintf(seen->text + at, sizeof(seen->text) - at, "; ");
	return --seen->most;
}

static bool see_pod(void *context, const struct berth_pod_ref *pod, enum berth_pod_state state)
{
	struct seen *seen = context;
	size_t at = strlen(seen->text);

	snprintf(seen->text + at, sizeof(seen->text) - at, "%s/%s %s %d; ", pod->pod_namespace, pod->name,
		pod->node, (int)state);
	return --seen->most;
}

static void nodes_and_pods_are_seen_as_the_transaction_has_them(void **state)
{
	struct berth *berth = make_with(NULL);
	struct seen nodes = {.most = 9}, pods = {.most = 9}, first = {.most = 1};

	(void)state;
	feed(berth, NODE("n1", "4") NODE("n2", "4") POD_WITH("a", "3", "nodeName: n1, ") POD("b", "2"));
	assert_int_equal(berth_transaction_begin(berth), BERTH_OK);
	assert_int_equal(berth_evict_pod(berth, NULL, "a"), BERTH_OK);
	assert_int_equal(berth_cordon_node(berth, "n2"), BERTH_OK);
	assert_int_equal(
		berth_schedule_pods(berth, (struct berth_pod_ref[1]){{.name = "b"}}, 1, NULL), BERTH_OK);
	assert_int_equal(berth_each_node(berth, see_node, &nodes), BERTH_OK);
	assert_string_equal(nodes.text,
		"n1 pods 1/10 cpu 2000/4000 memory 1073741824/8589934592; n2! pods 0/10 cpu 0/4000 memory "
		"0/8589934592; ");
	assert_int_equal(berth_each_pod(berth, see_pod, &pods), BERTH_OK);
	assert_string_equal(pods.text, "default/b n1 3; ");
	assert_int_equal(berth_transaction_rollback(berth), BERTH_OK);
	assert_int_equal(berth_each_pod(berth, see_pod, &first), BERTH_OK);
	assert_string_equal(first.text, "default/a n1 4; ");
	assert_int_equal(berth_each_node(berth, NULL, NULL), BERTH_INVALID);
	berth_destroy(berth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_scheduled_in_a_transaction_are_pending_after_a_rollback),
		cmocka_unit_test(calls_that_schedule_or_delete_wait_for_the_end),
		cmocka_unit_test(a_drained_node_is_planned_and_then_carried_out),
		cmocka_unit_test(an_evicted_pod_is_restored),
		cmocka_unit_test(a_removed_node_takes_no_pods_and_comes_back_with_the_rollback),
		cmocka_unit_test(placements_keep_to_the_nodes_they_are_restricted_to),
		cmocka_unit_test(nodes_and_pods_are_seen_as_the_transaction_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
