/* SPDX-License-Identifier: Apache-2.0
 * TopologyPlacementGenerator: partitions of nodes for a PodGroup, and errors.
 */
#include "plugin_fixture.h"

extern const struct bt_plugin bt_plugin_topology_placement_generator;

/* Nodes 0 and 1 of rack a, 2 of rack b, 3 of none. */
static void begin(struct fixture *f, struct bt_placement_generate_env *out_env, bool constrained)
{
	static const struct bt_group_state group = {.known = true};

	fixture_node(f, "name: n0, labels: {rack: a}", "", "");
	fixture_node(f, "name: n1, labels: {rack: a}", "", "");
	fixture_node(f, "name: n2, labels: {rack: b}", "", "");
	fixture_node(f, "name: n3", "", "");
	uint32_t rack = bt_intern_add(f->cache->dictionary->intern, bt_str("rack"));
	*out_env = (struct bt_placement_generate_env){.view = &f->cache->view,
		.group = &group,
		.domains = constrained ? bt_snapshot_label_column(f->cache->snapshot, rack) : NULL};
}

static struct bt_group_pod pod_on(struct fixture *f, uint32_t node_ix)
{
	struct bt_intern *intern = f->cache->dictionary->intern;

	return (struct bt_group_pod){.namespace_ = bt_intern_add(intern, bt_str("default")),
		.name = bt_intern_add(intern, bt_str("worker")),
		.node_ix = node_ix,
		.node = bt_intern_add(intern, bt_str("lost"))};
}

/* want: the text, or NULL and the only remaining domain, NULL: each. */
static void expect(const struct bt_placement_generate_env *env, const char *want, const char *only)
{
	struct bt_division division = {.divides = false};
	struct bt_buf why = {0};
	bool can = bt_plugin_topology_placement_generator.placement_generate(env, &division, &why);

	assert_string_equal(why.len ? why.ptr : "", want ? want : "");
	assert_int_equal(can, want == NULL);
	if (can) {
		assert_int_equal(division.divides, env->domains != NULL);
		assert_true(bt_str_is(bt_view_str(env->view, division.only), only ? only : ""));
	}
	bt_buf_fini(&why);
}

static void without_a_constraint_all_nodes_are_one_placement(void **state)
{
	struct bt_placement_generate_env env;

	begin(*state, &env, false);
	struct bt_group_pod pods[] = {pod_on(*state, 0), pod_on(*state, BT_NO_NODE)};
	env.pods = pods;
	env.pod_n = 2;
	expect(&env, NULL, NULL);
}

static void pods_on_nodes_leave_their_domain_alone(void **state)
{
	struct bt_placement_generate_env env;

	begin(*state, &env, true);
	expect(&env, NULL, NULL);
	struct bt_group_pod pods[] = {pod_on(*state, 0), pod_on(*state, 1)};
	env.pods = pods;
	env.pod_n = 2;
	expect(&env, NULL, "a");
}

static void pods_outside_of_one_domain_are_an_error(void **state)
{
	struct bt_placement_generate_env env;

	begin(*state, &env, true);
	struct bt_group_pod two[] = {pod_on(*state, 0), pod_on(*state, 2)};
	struct bt_group_pod nowhere = pod_on(*state, 3), lost = pod_on(*state, BT_NO_NODE);
	env.pods = two;
	env.pod_n = 2;
	expect(&env,
		"cannot determine domain for already scheduled pods: more than 1 domain found for pod "
		"group: a, b",
		NULL);
	env.pod_n = 1;
	env.pods = &nowhere;
	expect(&env,
		"cannot determine domain for already scheduled pods: no topology domain found for pod "
		"default/worker",
		NULL);
	env.pods = &lost;
	expect(&env,
		"cannot determine domain for already scheduled pods: getting node for pod default/worker: "
		"nodeinfo not found for node name \"lost\"",
		NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(without_a_constraint_all_nodes_are_one_placement),
		FIXTURE_TEST(pods_on_nodes_leave_their_domain_alone),
		FIXTURE_TEST(pods_outside_of_one_domain_are_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
