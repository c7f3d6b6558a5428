/* SPDX-License-Identifier: Apache-2.0
 * Live nodes in the order in which cycles visit them.
 */
#include "object_fixture.h"

#include "engine/flow/cycle/node_list.h"

struct trial {
	struct fixture *f;
	struct bt_node_list list;
	struct bt_profile profile; /* no plugin: every node is feasible */
	struct bt_plan plan;
	struct bt_evaluation evaluation;
};

static void add_node(struct trial *t, const char *name, const char *zone)
{
	char text[128];

	snprintf(text, sizeof(text), "name: %s, labels: {topology.kubernetes.io/zone: %s}", name, zone);
	fixture_node(t->f, text, "", "");
}

static void follow(struct trial *t)
{
	bt_node_list_follow(&t->list, t->f->cache->view.snapshot);
	bt_node_list_follow_order(&t->list, t->f->cache->snapshot);
}

/* Nodes 0 to 3: two of zone a, then two of zone b. */
static void begin(struct trial *t, void **state)
{
	*t = (struct trial){.f = *state};
	t->plan.profile = &t->profile;
	t->plan.signature = fixture_signature(t->f, "containers: []");
	add_node(t, "n0", "a");
	add_node(t, "n1", "a");
	add_node(t, "n2", "b");
	add_node(t, "n3", "b");
	follow(t);
}

static void end(struct trial *t)
{
	bt_node_list_fini(&t->list);
	bt_evaluation_fini(&t->evaluation);
}

static void assert_nodes(const uint32_t *got, uint32_t n, const uint32_t *want, uint32_t want_n)
{
	assert_int_equal(n, want_n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(got[i], want[i]);
	}
}

static void assert_candidates(struct trial *t, uint32_t also_ix, const uint32_t *want, uint32_t want_n)
{
	uint32_t n;
	const uint32_t *got = bt_node_list_candidates(&t->list, &t->plan, also_ix, &n);

	assert_nodes(got, n, want, want_n);
}

static void live_nodes_are_listed_ascending(void **state)
{
	struct trial t;

	begin(&t, state);
	assert_nodes(bt_node_list_live(&t.list), bt_node_list_n(&t.list), (uint32_t[]){0, 1, 2, 3}, 4);
	assert_int_equal(cache_remove_node(t.f->cache, bt_str("n1")), BT_OK);
	follow(&t);
	assert_nodes(bt_node_list_live(&t.list), bt_node_list_n(&t.list), (uint32_t[]){0, 2, 3}, 3);
	end(&t);
}

static void a_forgotten_list_is_rebuilt(void **state)
{
	struct trial t;

	begin(&t, state);
	bt_node_list_forget(&t.list);
	bt_node_list_follow(&t.list, t.f->cache->view.snapshot);
	assert_nodes(bt_node_list_live(&t.list), bt_node_list_n(&t.list), (uint32_t[]){0, 1, 2, 3}, 4);
	end(&t);
}

static void candidates_are_all_nodes_or_those_that_pre_filter_left(void **state)
{
	struct trial t;
	uint32_t left[] = {1, 3};

	begin(&t, state);
	assert_candidates(&t, BT_NO_NODE, (uint32_t[]){0, 1, 2, 3}, 4);
	t.plan.narrowed = true;
	t.plan.candidates = left;
	t.plan.candidate_n = 2;
	assert_candidates(&t, BT_NO_NODE, left, 2);
	end(&t);
}

static void a_node_that_has_refused_the_pod_is_a_candidate_once(void **state)
{
	struct trial t;
	uint32_t left[] = {1, 3};

	begin(&t, state);
	t.plan.narrowed = true;
	t.plan.candidates = left;
	t.plan.candidate_n = 2;
	assert_candidates(&t, 2, (uint32_t[]){1, 3, 2}, 3);
	assert_candidates(&t, 3, left, 2);
	end(&t);
}

static void assert_sample(struct trial *t, uint32_t refused_ix, const uint32_t *want, uint32_t want_n)
{
	bt_node_list_evaluate_sample(&t->list, &t->plan, &t->f->cache->view, 3, refused_ix, &t->evaluation);
	assert_nodes(t->evaluation.visited, t->evaluation.visited_n, want, want_n);
}

static void samples_take_zones_in_turn_and_go_on_where_the_last_one_ended(void **state)
{
	struct trial t;

	begin(&t, state);
	assert_sample(&t, BT_NO_NODE, (uint32_t[]){0, 2, 1}, 3);
	assert_sample(&t, BT_NO_NODE, (uint32_t[]){3, 0, 2}, 3);
	end(&t);
}

/* Upstream's count of processed nodes includes the nominated node, which it evaluates first. */
static void a_refused_nomination_moves_the_next_sample_on(void **state)
{
	struct trial t;

	begin(&t, state);
	assert_sample(&t, 3, (uint32_t[]){0, 2, 1}, 3);
	assert_sample(&t, BT_NO_NODE, (uint32_t[]){0, 2, 1}, 3);
	assert_sample(&t, 3, (uint32_t[]){3, 0, 2}, 3);
	assert_sample(&t, BT_NO_NODE, (uint32_t[]){1, 3, 0}, 3);
	end(&t);
}

static void a_part_of_the_nodes_is_all_that_counts(void **state)
{
	static const uint32_t nodes[] = {1, 2}, order[] = {2, 1, 2, 1},
			      part_of[] = {UINT32_MAX, 7, 7, UINT32_MAX};
	const struct bt_node_part part = {
		.nodes = nodes, .order = order, .n = 2, .ix = 7, .part_of = part_of, .number = 1};
	uint32_t left[] = {3, 2, 0};
	struct trial t;

	begin(&t, state);
	bt_node_list_restrict(&t.list, &part);
	assert_int_equal(bt_node_list_n(&t.list), 2);
	assert_false(bt_node_list_has(&t.list, 0));
	assert_candidates(&t, BT_NO_NODE, nodes, 2);
	t.list.next_start = 1;
	bt_node_list_evaluate_sample(&t.list, &t.plan, &t.f->cache->view, 1, BT_NO_NODE, &t.evaluation);
	assert_int_equal(t.evaluation.feasible[0], 1);
	assert_int_equal(bt_node_list_mark(&t.list), 0);
	t.plan.narrowed = true;
	t.plan.candidates = left;
	t.plan.candidate_n = 3;
	assert_candidates(&t, BT_NO_NODE, nodes + 1, 1);
	bt_node_list_restrict(&t.list, NULL);
	assert_int_equal(bt_node_list_n(&t.list), 4);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(live_nodes_are_listed_ascending),
		FIXTURE_TEST(a_forgotten_list_is_rebuilt),
		FIXTURE_TEST(candidates_are_all_nodes_or_those_that_pre_filter_left),
		FIXTURE_TEST(a_node_that_has_refused_the_pod_is_a_candidate_once),
		FIXTURE_TEST(samples_take_zones_in_turn_and_go_on_where_the_last_one_ended),
		FIXTURE_TEST(a_refused_nomination_moves_the_next_sample_on),
		FIXTURE_TEST(a_part_of_the_nodes_is_all_that_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
