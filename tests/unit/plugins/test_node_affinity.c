/* SPDX-License-Identifier: Apache-2.0
 * NodeAffinity: PreFilter, Filter and Score with a pod's terms and the profile's.
 */
#include "plugins/node_affinity/node_affinity.h"
#include "plugin_fixture.h"

#define PLUGIN (&bt_plugin_node_affinity)
#define REQUIRED                                                                                             \
	"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
#define PREFERRED "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
#define MISMATCH  "node(s) didn't match Pod's node affinity/selector"

static const struct bt_node_affinity_settings nothing_added;

static void a_pod_without_terms_skips(void **state)
{
	struct subject subject = compile_pod(*state, PLUGIN, &nothing_added, "containers: []");

	assert_true(subject.compiled.filter_skip);
	assert_true(subject.compiled.score_skip);
	assert_false(subject.compiled.narrows);
}

static void node_selector_and_affinity_must_both_hold(void **state)
{
	struct fixture *f = *state;
	uint32_t both = fixture_node(f, "name: n1, labels: {disk: ssd, gen: '7'}", "", "");
	uint32_t one = fixture_node(f, "name: n2, labels: {disk: ssd, gen: '3'}", "", "");
	struct subject subject = compile_pod(f, PLUGIN, &nothing_added,
		"nodeSelector: {disk: ssd}, " REQUIRED
		"[{matchExpressions: [{key: gen, operator: Gt, values: ['5']}]}]}}}");

	assert_true(passes(&subject, both));
	assert_refused(&subject, one, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, MISMATCH);
}

static void malformed_required_terms_match_nothing(void **state)
{
	struct fixture *f = *state;
	uint32_t n = fixture_node(f, "name: n1, labels: {gen: '7'}", "", "");
	struct subject subject = compile_pod(f, PLUGIN, &nothing_added,
		REQUIRED "[{matchExpressions: [{key: gen, operator: Gt, values: [x]}]}]}}}");

	assert_refused(&subject, n, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, MISMATCH);
	subject = compile_pod(f, PLUGIN, &nothing_added,
		REQUIRED "[{matchExpressions: [{key: gen, operator: Gt, values: [x]}]}, {matchExpressions: "
			 "[{key: gen, operator: "
			 "Exists}]}]}}}");
	assert_true(passes(&subject, n));
}

static void names_in_every_term_narrow_the_nodes(void **state)
{
	struct fixture *f = *state;
	struct subject subject = compile_pod(f, PLUGIN, &nothing_added,
		REQUIRED "[{matchFields: [{key: metadata.name, operator: In, values: [n2]}]}]}}}");

	assert_true(subject.compiled.narrows);
	assert_false(subject.compiled.refused);
	assert_int_equal(subject.compiled.name_n, 1);
	assert_int_equal(subject.compiled.names[0], fixture_name(f, "n2"));
}

static void names_that_exclude_each_other_refuse_the_pod(void **state)
{
	struct subject subject = compile_pod(*state, PLUGIN, &nothing_added,
		REQUIRED "[{matchFields: [{key: metadata.name, operator: In, values: [n1]}, {key: "
			 "metadata.name, operator: In, "
			 "values: [n2]}]}]}}}");

	assert_true(subject.compiled.refused);
	assert_string_equal(subject.compiled.refusal, "pod affinity terms conflict");
}

static void weights_of_matching_preferences_add_up(void **state)
{
	struct fixture *f = *state;
	uint32_t both = fixture_node(f, "name: n1, labels: {a: '1', b: '1'}", "", "");
	uint32_t one = fixture_node(f, "name: n2, labels: {b: '1'}", "", "");
	struct subject subject = compile_pod(f, PLUGIN, &nothing_added,
		PREFERRED
		"[{weight: 30, preference: {matchExpressions: [{key: a, operator: Exists}]}}, {weight: 20, "
		"preference: "
		"{matchExpressions: [{key: b, operator: Exists}]}}, {weight: 50, preference: {}}]}}");

	assert_int_equal(score(&subject, both), 50);
	assert_int_equal(score(&subject, one), 20);
	assert_int_equal(subject.plugin->normalize, BT_NORMALIZE_DEFAULT);
}

static void malformed_preferences_fail_the_scoring(void **state)
{
	struct subject subject = compile_pod(*state, PLUGIN, &nothing_added,
		PREFERRED "[{weight: 1, preference: {matchExpressions: [{key: a, operator: Near}]}}]}}");

	assert_non_null(subject.compiled.score_error);
	subject = compile_pod(*state, PLUGIN, &nothing_added,
		PREFERRED "[{weight: 0, preference: {matchExpressions: [{key: a, operator: Near}]}}]}}");
	assert_null(subject.compiled.score_error);
}

static void the_profiles_affinity_is_applied_first(void **state)
{
	struct fixture *f = *state;
	uint32_t without = fixture_node(f, "name: n1", "", ""),
		 with = fixture_node(f, "name: n2, labels: {pool: x}", "", "");
	const struct bt_pod_object *model =
		fixture_read_pod(f, REQUIRED "[{matchExpressions: [{key: pool, operator: Exists}]}]}}}");
	struct bt_node_affinity_settings added = {
		.has_required = true,
		.required = bt_node_selector_compile(&f->cache->dictionary->for_ever, &f->arena,
			&model->spec.affinity.node_affinity.required),
	};
	struct subject subject = compile_pod(f, PLUGIN, &added, "nodeSelector: {disk: ssd}");

	assert_refused(&subject, without, BT_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"node(s) didn't match scheduler-enforced node affinity");
	assert_refused(&subject, with, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, MISMATCH);
	subject = compile_pod(f, PLUGIN, &added, "containers: []");
	assert_true(passes(&subject, with));
	assert_false(passes(&subject, without));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_pod_without_terms_skips),
		FIXTURE_TEST(node_selector_and_affinity_must_both_hold),
		FIXTURE_TEST(malformed_required_terms_match_nothing),
		FIXTURE_TEST(names_in_every_term_narrow_the_nodes),
		FIXTURE_TEST(names_that_exclude_each_other_refuse_the_pod),
		FIXTURE_TEST(weights_of_matching_preferences_add_up),
		FIXTURE_TEST(malformed_preferences_fail_the_scoring),
		FIXTURE_TEST(the_profiles_affinity_is_applied_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
