/* SPDX-License-Identifier: Apache-2.0
 * What a plugin's descriptor may leave out: plugins that depend on counters or usage, with each normalization
 * and without keys, decide as an engine does that evaluates every node.
 */
#include "plugins/registry.h"
#include "seed.h"
#include "trial_config.h"

#include "engine/base/check.h"
#include "engine/base/rng.h"

#define TEAM_MAX 3 /* pods of a team on a node */

struct team_term {
	uint32_t team;
	struct bt_requirement requirement;
	struct bt_pod_match match;
	const struct bt_domain_counts *counts; /* NULL: not bound */
};

static void team_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out)
{
	uint32_t key = bt_intern_add(env->dictionary->intern, bt_str("team"));
	struct team_term *term = bt_arena_zalloc(env->arena, sizeof(*term));

	(void)settings;
	term->team = bt_labels_get(signature->labels, key);
	term->requirement =
		(struct bt_requirement){.key = key, .op = BT_OP_IN, .values = &term->team, .value_n = 1};
	term->match =
		(struct bt_pod_match){.any_namespace = true, .labels = {.items = &term->requirement, .n = 1}};
	out->term = out->state = term;
}

static void team_prepare(void *state, const struct bt_view *view, bool *out_filter_skip, bool *out_score_skip)
{
	struct team_term *term = state;
	const struct bt_counting *counting = view->counting;
	const struct bt_pod_query query = {.items = &term->match, .n = 1};

	*out_filter_skip = *out_score_skip = term->team == BT_NAME_NONE;
	if (!*out_filter_skip && !term->counts) {
		term->counts = counting->domain_counts(counting->context,
			counting->counter(counting->context, &query), BT_NAME_NONE, 0, false);
	}
}

static bool team_bound(const void *opaque)
{
	return ((const struct team_term *)opaque)->counts != NULL;
}

static int32_t team_n(const struct team_term *term, uint32_t node_ix)
{
	uint32_t domain = term->counts->domain[node_ix];

	return domain == BT_NO_DOMAIN ? 0 : term->counts->sums[domain];
}

static void team_filter(
	const void *term, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	(void)view;
	for (uint32_t i = 0; i < n; i++) {
		pass[i] = team_n(term, first + i) < TEAM_MAX;
	}
}

static void team_score(const void *term, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw)
{
	(void)view;
	for (uint32_t i = 0; i < n; i++) {
		raw[i] = team_n(term, first + i);
	}
}

static uint32_t team_keys(const void *opaque, struct bt_equivalence_key *node_keys, uint32_t n, uint32_t cap)
{
	const struct team_term *term = opaque;

	return bt_add_equivalence_key(
		bt_domain_counts_key(term->counts, BT_EQUIVALENCE_KEY_SUM), node_keys, n, cap);
}

/* Fewer pods may be on the node of a pod of team "shy". */
static void crowd_filter(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct team_term *term = opaque;
	int64_t most = bt_str_is(bt_view_str(view, term->team), "shy") ? 1 : 4;

	for (uint32_t i = 0; i < n; i++) {
		pass[i] = bt_cell(bt_pod_cells(view->usage), first + i) < most;
	}
}

static const char *const reasons[] = {"node(s) had enough pods"};

#define TEAM                                                                                                 \
	.points = BT_AT(FILTER) | BT_AT(SCORE), .filter_depends = BT_DEPENDS_ON_COUNTERS,                    \
	.score_depends = BT_DEPENDS_ON_COUNTERS, .compile = team_compile, .prepare = team_prepare,           \
	.bound = team_bound, .filter = team_filter, .refusal = BT_UNSCHEDULABLE, .reasons = reasons,         \
	.score = team_score

static const struct bt_plugin plugins[] = {
	{.name = "Highest", TEAM, .normalize = BT_NORMALIZE_DEFAULT, .node_keys = team_keys},
	{.name = "Lowest", TEAM, .normalize = BT_NORMALIZE_REVERSED, .node_keys = team_keys},
	{.name = "Raw", TEAM, .node_keys = team_keys},
	{.name = "WithoutNodeKeys", TEAM, .normalize = BT_NORMALIZE_REVERSED},
	{.name = "WithoutKey",
		.points = BT_AT(FILTER),
		.filter_depends = BT_DEPENDS_ON_USAGE,
		.compile = team_compile,
		.filter = crowd_filter,
		.refusal = BT_UNSCHEDULABLE,
		.reasons = reasons},
};

static struct trial begin_with_plugin(void **state, const char *name, bool evaluate_always)
{
	const struct bt_engine_options options = {.no_backoff = true, .evaluate_always = evaluate_always};
	struct trial t = {.f = *state};
	struct bt_buf text = {0};

	bt_buf_printf(&text,
		"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
		"- plugins: {multiPoint: {enabled: [{name: %s, weight: 50}]}}\n",
		name);
	start_with(&t, &text, &options);
	return t;
}

/* Both engines decide all pods that are ready. Returns: how many of them are placed. */
static uint32_t decide_all(struct trial *cached, struct trial *evaluating, uint32_t *out_refused_n)
{
	uint32_t placed_n = 0, pod;
	struct bt_decision a, b;

	while ((pod = bt_engine_pop(cached->engine)) != BT_NO_POD) {
		assert_int_equal(bt_engine_pop(evaluating->engine), pod);
		bt_engine_decide(cached->engine, pod, &a);
		bt_engine_decide(evaluating->engine, pod, &b);
		assert_int_equal(a.outcome, b.outcome);
		assert_int_equal(a.node_ix, b.node_ix);
		placed_n += a.outcome == BT_PLACED;
		*out_refused_n += a.outcome == BT_REFUSED;
	}
	assert_int_equal(bt_engine_pop(evaluating->engine), BT_NO_POD);
	return placed_n;
}

static void expect_same_decisions(void **state, const char *name)
{
	static const char *const teams[] = {"shy", "red", "blue"};
	struct bt_rng rng = {seed_of_test()};
	struct trial cached = begin_with_plugin(state, name, false),
		     evaluating = begin_with_plugin(state, name, true);
	uint32_t placed_n = 0, refused_n = 0;
	char text[64];

	for (uint32_t round = 0; round < 200; round++) {
		if (round % 8 == 0) {
			numbered(text, sizeof(text), "n", (uint32_t)(bt_rng_next(&rng) % 20));
			assert_int_equal(add_node(&cached, text, "4"), add_node(&evaluating, text, "4"));
		}
		snprintf(text, sizeof(text), "name: p%u, labels: {team: %s}", round,
			teams[bt_rng_next(&rng) % 3]);
		uint32_t pod = add_pod(&cached, text, CPU("10m"), "");
		assert_int_equal(add_pod(&evaluating, text, CPU("10m"), ""), pod);
		placed_n += decide_all(&cached, &evaluating, &refused_n);
	}
	assert_true(placed_n > 20 && refused_n > 0);
	assert_true(bt_engine_counts(cached.engine).by_columns_n > 0);
	end(&cached);
	end(&evaluating);
}

static void counters_go_with_each_normalization(void **state)
{
	expect_same_decisions(state, "Highest");
	expect_same_decisions(state, "Lowest");
	expect_same_decisions(state, "Raw");
}

static void counters_without_node_keys_are_evaluated_for_each_node(void **state)
{
	expect_same_decisions(state, "WithoutNodeKeys");
}

static void usage_without_a_key_shares_nothing_between_pods(void **state)
{
	expect_same_decisions(state, "WithoutKey");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(counters_go_with_each_normalization),
		FIXTURE_TEST(counters_without_node_keys_are_evaluated_for_each_node),
		FIXTURE_TEST(usage_without_a_key_shares_nothing_between_pods),
	};

	for (size_t i = 0; i < sizeof(plugins) / sizeof(plugins[0]); i++) {
		BT_REQUIRE(bt_plugin_add(&plugins[i]) == BT_OK);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
