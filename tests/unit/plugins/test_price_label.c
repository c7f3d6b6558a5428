/* SPDX-License-Identifier: Apache-2.0
 * PriceLabel, through a configuration and an engine that have only its descriptor: arguments,
 * decisions by columns and without, texts, and events that requeue refused pods.
 */
#include "config_fixture.h"
#include "plugins/registry.h"
#include "seed.h"
#include "trial_config.h"

#include "engine/base/rng.h"
#include "tools/kube/config/config_encode.h"

#define HEAD "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
#define ENABLED                                                                                              \
	HEAD "profiles:\n- schedulerName: default-scheduler\n"                                               \
	     "  plugins: {multiPoint: {enabled: [{name: PriceLabel, weight: 50}]}}\n"                        \
	     "  pluginConfig:\n  - name: PriceLabel\n    args: "

static struct trial begin_with(void **state, const char *args, bool evaluate_always)
{
	const struct bt_engine_options options = {.no_backoff = true, .evaluate_always = evaluate_always};
	struct trial t = {.f = *state};
	struct bt_buf text = {0};

	bt_buf_printf(&text, "%s%s\n", ENABLED, args);
	start_with(&t, &text, &options);
	return t;
}

static uint32_t add_priced(struct trial *t, const char *name, const char *price)
{
	char labels[128];

	snprintf(labels, sizeof(labels), price ? "%s, labels: {example.com/price: '%s'}" : "%s", name, price);
	return add_node(t, labels, "4");
}

static void the_cheapest_node_wins_or_the_dearest_if_configured(void **state)
{
	static const char *const modes[] = {
		"{labelName: example.com/price}", "{labelName: example.com/price, mode: Dearest}"};

	for (unsigned dearest = 0; dearest < 2; dearest++) {
		struct trial t = begin_with(state, modes[dearest], false);

		add_priced(&t, "none", NULL);
		add_priced(&t, "odd", "-3");
		uint32_t dear = add_priced(&t, "dear", "90"), cheap = add_priced(&t, "cheap", "10");
		uint32_t pod = add_pod(&t, "name: a", CPU("100m"), "");
		struct bt_decision decision = decide(&t, pod);
		assert_int_equal(decision.outcome, BT_PLACED);
		assert_int_equal(decision.node_ix, dearest ? dear : cheap);
		end(&t);
	}
}

static void nodes_without_a_price_are_refused_where_one_is_required(void **state)
{
	struct trial t = begin_with(state, "{labelName: example.com/price, required: true}", false);

	add_priced(&t, "n1", NULL);
	add_priced(&t, "n2", "free");
	uint32_t pod = add_pod(&t, "name: a", CPU("100m"), "");
	assert_string_equal(message(&t, pod), "0/2 nodes are available: 2 node(s) had no price. preemption: "
					      "0/2 nodes are available: 2 Preemption "
					      "is not helpful for scheduling.");
	assert_int_equal(decide(&t, pod).outcome, BT_REFUSED);
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	/* Another label requeues no pod; a price does. */
	add_node(&t, "n1, labels: {other: '1'}", "4");
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	uint32_t priced = add_priced(&t, "n1", "7");
	struct bt_decision decision = decide(&t, pod);
	assert_int_equal(decision.outcome, BT_PLACED);
	assert_int_equal(decision.node_ix, priced);
	end(&t);
}

/* The engine caches its results; they end with the node's description. */
static void columns_decide_as_evaluating_every_node_does(void **state)
{
	struct bt_rng rng = {seed_of_test()};
	struct trial columns = begin_with(state, "{labelName: example.com/price, required: true}", false),
		     evaluating = begin_with(state, "{labelName: example.com/price, required: true}", true);
	char name[16], price[16];

	for (uint32_t round = 0; round < 300; round++) {
		numbered(name, sizeof(name), "n", (uint32_t)(bt_rng_next(&rng) % 20));
		numbered(price, sizeof(price), "", (uint32_t)(bt_rng_next(&rng) % 120));
		const char *shown = bt_rng_next(&rng) % 8 ? price : NULL;
		add_priced(&columns, name, shown);
		add_priced(&evaluating, name, shown);
		snprintf(name, sizeof(name), "name: p%u", round);
		const char *spec = bt_rng_next(&rng) % 2 ? CPU("10m") : CPU("20m");
		uint32_t pod = add_pod(&columns, name, spec, "");
		assert_int_equal(add_pod(&evaluating, name, spec, ""), pod);
		uint32_t next = bt_engine_pop(columns.engine);
		assert_int_equal(bt_engine_pop(evaluating.engine), next);
		if (next == BT_NO_POD) {
			continue;
		}
		struct bt_decision a, b;
		bt_engine_decide(columns.engine, next, &a);
		bt_engine_decide(evaluating.engine, next, &b);
		assert_int_equal(a.outcome, b.outcome);
		assert_int_equal(a.node_ix, b.node_ix);
	}
	end(&columns);
	end(&evaluating);
}

static void expect_error(const char *args, const char *want)
{
	struct bt_buf text = {0};

	bt_buf_printf(&text, "%s%s\n", ENABLED, args);
	expect_config_error(bt_buf_view(&text), want);
	bt_buf_fini(&text);
}

static void arguments_are_checked_as_those_of_all_plugins(void **state)
{
	(void)state;
	expect_error("{mode: Best}", "f.yaml: profiles[0].pluginConfig[0].args.mode: Unsupported value: "
				     "\"Best\": supported values: "
				     "\"Cheapest\", \"Dearest\"");
	expect_error("{labelName: a/b/c}",
		"f.yaml: profiles[0].pluginConfig[0].args.labelName: Invalid value: \"a/b/c\": a valid label "
		"key must "
		"consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
		"alphanumeric "
		"character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
		"'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' "
		"(e.g. "
		"'example.com/MyName')");
	expect_error("{nope: 1}",
		"f.yaml:8: strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding "
		"error: "
		"decoding args for plugin PriceLabel: strict decoding error: unknown field \"nope\"");
}

static void it_is_off_by_default_and_encoded_where_it_is_enabled(void **state)
{
	struct trial t = begin_with(state, "{labelName: example.com/price}", false);
	uint32_t id = bt_plugin_find(bt_str("PriceLabel"));
	struct bt_resolved_profile *profile = calloc(1, sizeof(*profile));
	struct bt_config_errors errors = {0};
	struct bt_config plain;
	struct bt_buf text = {0};

	bt_config_encode(&t.config, &text);
	assert_non_null(strstr(text.ptr,
		"{\"args\":{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"kind\":\"PriceLabelArgs\","
		"\"labelName\":\"example.com/"
		"price\",\"maxPrice\":100,\"mode\":\"Cheapest\"},\"name\":\"PriceLabel\"}"));
	bt_buf_fini(&text);
	end(&t);
	bt_config_init_default(&plain, NULL);
	assert_int_equal(bt_config_resolve(&plain, 0, &errors, profile), BT_OK);
	for (unsigned point = 0; point < BT_POINT_N; point++) {
		for (uint32_t i = 0; i < profile->points[point].n; i++) {
			assert_int_not_equal(profile->points[point].plugins[i].id, id);
		}
	}
	bt_config_errors_fini(&errors);
	bt_config_fini(&plain);
	free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(the_cheapest_node_wins_or_the_dearest_if_configured),
		FIXTURE_TEST(nodes_without_a_price_are_refused_where_one_is_required),
		FIXTURE_TEST(columns_decide_as_evaluating_every_node_does),
		FIXTURE_TEST(arguments_are_checked_as_those_of_all_plugins),
		FIXTURE_TEST(it_is_off_by_default_and_encoded_where_it_is_enabled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
