/* SPDX-License-Identifier: Apache-2.0
 * How many nodes a cycle evaluates, and what sets that.
 */
#include "engine_fixture.h"
#include "object_fixture.h"

#include "engine/flow/cycle/engine.h"

struct trial {
	struct fixture *f;
	struct bt_config config;
	struct bt_engine *engine;
};

static void begin(struct trial *t, void **state, enum bt_node_sampling sampling, int32_t percentage)
{
	const struct bt_engine_options options = {.sampling = sampling};

	t->f = *state;
	bt_config_init(&t->config, NULL);
	t->config.percentage_of_nodes_to_score = (struct bt_config_int){percentage, true};
	bt_config_default(&t->config);
	t->engine = fixture_engine(&t->config, &options);
}

static void end(struct trial *t)
{
	bt_engine_destroy(t->engine);
	bt_config_fini(&t->config);
}

/* Nodes n0, n1, ...; those from big on have more room, and so a higher score. */
static void add_nodes(struct trial *t, uint32_t n, uint32_t big)
{
	for (uint32_t i = 0; i < n; i++) {
		char text[160];
		uint32_t slot;

		snprintf(text, sizeof(text),
			"{apiVersion: v1, kind: Node, metadata: {name: n%u}, status: {allocatable: {cpu: "
			"'%d', memory: 8Gi, pods: '9'}}}",
			i, i < big ? 2 : 64);
		assert_int_equal(
			bt_engine_apply_node(t->engine, &fixture_read(t->f, text)->node, &slot), BT_OK);
		assert_int_equal(slot, i);
	}
}

static uint32_t place(struct trial *t, const char *spec)
{
	struct bt_decision decision;
	struct bt_buf text = {0};
	enum bt_entry entry;
	uint32_t pod_ix;

	bt_buf_printf(&text,
		"schedulerName: default-scheduler, containers: [{name: a, resources: {requests: {cpu: '1', "
		"memory: 1Gi}}}]%s",
		spec);
	assert_int_equal(
		bt_engine_add_pod(t->engine, fixture_read_pod(t->f, text.ptr), &entry, &pod_ix), BT_OK);
	assert_int_equal(bt_engine_pop(t->engine), pod_ix);
	bt_engine_decide(t->engine, pod_ix, &decision);
	assert_int_equal(decision.outcome, BT_PLACED);
	bt_buf_fini(&text);
	return decision.node_ix;
}

static void the_number_of_feasible_nodes_is_upstreams(void **state)
{
	static const struct {
		int32_t percentage;
		uint32_t node_n, want;
	} cases[] = {{0, 0, 0}, {0, 1, 1}, {0, 99, 99}, {0, 100, 100}, {0, 250, 120}, {0, 1000, 420},
		{0, 5000, 500}, {0, 5624, 337}, {0, 5625, 281}, {0, 6000, 300}, {0, 1000000, 50000},
		{10, 50, 50}, {10, 5000, 500}, {1, 5000, 100}, {100, 5000, 5000}, {99, 101, 100},
		{40, 1000, 400}, {100, 4000000000u, 4000000000u}};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		assert_int_equal(
			bt_feasible_nodes_to_find(cases[i].percentage, cases[i].node_n), cases[i].want);
	}
}

/* The best nodes are beyond the first sample. */
static void a_sample_is_taken_when_configured(void **state)
{
	static const struct {
		enum bt_node_sampling sampling;
		int32_t percentage;
		bool samples;
	} cases[] = {{BT_SAMPLING_AS_CONFIGURED, 0, false}, {BT_SAMPLING_AS_CONFIGURED, 30, true},
		{BT_SAMPLING_AS_CONFIGURED, 100, false}, {BT_SAMPLING_NONE, 30, false},
		{BT_SAMPLING_UPSTREAM, 0, true}, {BT_SAMPLING_UPSTREAM, 30, true},
		{BT_SAMPLING_UPSTREAM, 100, false}};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct trial t;

		begin(&t, state, cases[i].sampling, cases[i].percentage);
		add_nodes(&t, 300, 250);
		assert_int_equal(place(&t, "") < 250, cases[i].samples);
		end(&t);
	}
}

static void each_sample_begins_where_the_last_one_ended(void **state)
{
	struct trial t;

	begin(&t, state, BT_SAMPLING_UPSTREAM, 40);
	add_nodes(&t, 300, 250);
	/* 120 of 300 nodes each: n0 to n119, n120 to n239, n240 to n59, n60 to n179. */
	assert_in_range(place(&t, ""), 0, 119);
	assert_in_range(place(&t, ""), 120, 239);
	assert_in_range(place(&t, ""), 250, 299);
	assert_in_range(place(&t, ""), 60, 179);
	end(&t);
}

/* Of 150 nodes 100 are enough, although 30 % of all 1,000 would be 300. */
static void nodes_left_by_prefilter_are_sampled_too(void **state)
{
	struct bt_buf spec = {0};
	struct trial t;

	begin(&t, state, BT_SAMPLING_UPSTREAM, 30);
	add_nodes(&t, 1000, 120);
	for (uint32_t i = 0; i < 150; i++) {
		bt_buf_printf(&spec, "%s{matchFields: [{key: metadata.name, operator: In, values: [n%u]}]}",
			i ? ", "
			  : ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
			    "{nodeSelectorTerms: [",
			i);
	}
	bt_buf_text(&spec, "]}}}");
	assert_in_range(place(&t, spec.ptr), 0, 99);
	bt_buf_fini(&spec);
	end(&t);
}

static void a_shrunk_cluster_is_still_sampled(void **state)
{
	struct trial t;

	begin(&t, state, BT_SAMPLING_UPSTREAM, 40);
	add_nodes(&t, 300, 300);
	place(&t, "");
	place(&t, "");
	for (uint32_t i = 150; i < 300; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%u", i);
		assert_int_equal(
			bt_engine_delete_object(t.engine, BT_KIND_NODE, bt_str(""), bt_str(name)), BT_OK);
	}
	/* The 240th of 150 is the 90th. */
	assert_false(place(&t, "") >= 150);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_of_feasible_nodes_is_upstreams),
		cmocka_unit_test_setup_teardown(
			a_sample_is_taken_when_configured, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			each_sample_begins_where_the_last_one_ended, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			nodes_left_by_prefilter_are_sampled_too, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_shrunk_cluster_is_still_sampled, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
