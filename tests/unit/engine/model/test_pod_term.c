/* SPDX-License-Identifier: Apache-2.0
 * A pod's terms about other pods: namespaces, errors of lists, matchLabelKeys, owners.
 */
#include "object_fixture.h"

#include "engine/model/pod_term.h"

#define TERM "requiredDuringSchedulingIgnoredDuringExecution"
#define LIKE "preferredDuringSchedulingIgnoredDuringExecution"
#define BAD  "labelSelector: {matchExpressions: [{key: a, operator: In}]}, topologyKey: z"

static const struct bt_pod_affinity *affinity_of(struct fixture *f, const char *affinity)
{
	char spec[1024];
	struct bt_buf text = {0};

	snprintf(spec, sizeof(spec), "containers: [], affinity: {%s}", affinity);
	const struct bt_pod_affinity *made = bt_pod_affinity_compile(&f->cache->dictionary->for_ever,
		&f->arena, &fixture_read_pod(f, spec)->spec.affinity, fixture_name(f, "own"), &text);
	bt_buf_fini(&text);
	return made;
}

static void a_pod_without_terms_has_no_affinity(void **state)
{
	assert_null(affinity_of(*state, ""));
	assert_null(affinity_of(*state, "podAffinity: {" TERM ": []}, podAntiAffinity: {" LIKE ": []}"));
}

static void a_term_without_namespaces_means_the_owners(void **state)
{
	static const struct {
		const char *rest;
		uint32_t namespace_n;
		bool selects; /* any namespace, by its labels */
		const char *first;
	} rows[] = {
		{"", 1, false, "own"},
		{", namespaces: []", 1, false, "own"},
		{", namespaces: [x, x, x]", 1, false, "x"},
		{", namespaceSelector: {}", 0, true, NULL},
		{", namespaceSelector: {}, namespaces: [x]", 1, true, "x"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[256];

		snprintf(text, sizeof(text),
			"podAffinity: {" TERM ": [{labelSelector: {}, topologyKey: z%s}]}", rows[i].rest);
		const struct bt_pod_term *term = &affinity_of(f, text)->affinity.items[0];
		assert_int_equal(term->match.namespace_n, rows[i].namespace_n);
		assert_int_equal(term->namespace_selector.nothing, !rows[i].selects);
		if (rows[i].first) {
			assert_name(f, term->match.namespaces[0], rows[i].first);
		}
	}
}

static void a_list_with_a_bad_selector_is_empty_and_the_others_stay(void **state)
{
	const struct bt_pod_affinity *made = affinity_of(*state,
		"podAffinity: {" TERM ": [{topologyKey: z}, {" BAD "}], " LIKE
		": [{weight: 3, podAffinityTerm: {topologyKey: z}}]}, podAntiAffinity: {" TERM
		": [{topologyKey: z}]}");

	assert_int_equal(made->affinity.n, 0);
	assert_true(made->affinity_invalid);
	assert_int_equal(made->anti_affinity.n, 1);
	assert_false(made->anti_affinity_invalid);
	assert_int_equal(made->preferred_affinity.n, 1);
	assert_int_equal(made->preferred_affinity.items[0].weight, 3);
	assert_non_null(strstr(made->error, "requiredAffinityTerms: "));
	assert_int_not_equal(made->error[0], '[');
}

static void several_bad_lists_are_one_error_in_brackets(void **state)
{
	const struct bt_pod_affinity *made =
		affinity_of(*state, "podAffinity: {" TERM ": [{" BAD "}]}, podAntiAffinity: {" LIKE
				    ": [{weight: 1, podAffinityTerm: {" BAD "}}]}");
	size_t n = strlen(made->error);

	assert_memory_equal(made->error, "[requiredAffinityTerms: ", 24);
	assert_non_null(strstr(made->error, ", preferredAntiAffinityTerms: "));
	assert_int_equal(made->error[n - 1], ']');
	assert_true(made->has_preferred);
	assert_false(made->anti_affinity_invalid);
}

static struct bt_spread_constraint spread_of(struct fixture *f, const char *constraint)
{
	static const struct bt_str_pair pairs[] = {{BT_STR("app"), BT_STR("web")}};
	struct bt_spread_constraint made;
	struct bt_buf text = {0};
	char spec[512];
	struct bt_str_map map = {.items = (struct bt_str_pair *)(uintptr_t)pairs, .n = 1};
	struct bt_labels labels = bt_labels_intern(&f->cache->dictionary->for_ever, &f->arena, &map);

	snprintf(spec, sizeof(spec), "containers: [], topologySpreadConstraints: [{topologyKey: z, %s}]",
		constraint);
	bt_spread_constraint_compile(&f->cache->dictionary->for_ever, &f->arena,
		&fixture_read_pod(f, spec)->spec.spread[0], labels, &made, &text);
	bt_buf_fini(&text);
	return made;
}

static void a_spread_constraint_has_the_defaults_of_the_api(void **state)
{
	struct bt_spread_constraint plain = spread_of(*state, "maxSkew: 2, whenUnsatisfiable: DoNotSchedule"),
				    other = spread_of(*state,
					    "maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, minDomains: 4, "
					    "nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor"),
				    unknown = spread_of(*state, "maxSkew: 1, whenUnsatisfiable: Whenever");

	assert_int_equal(plain.when, BT_SPREAD_DO_NOT_SCHEDULE);
	assert_true(plain.max_skew == 2 && plain.min_domains == 1);
	assert_true(plain.honor_affinity && !plain.honor_taints);
	assert_true(plain.selector.nothing); /* no selector matches no pod */
	assert_int_equal(other.when, BT_SPREAD_SCHEDULE_ANYWAY);
	assert_true(other.min_domains == 4 && !other.honor_affinity && other.honor_taints);
	assert_int_equal(unknown.when, BT_SPREAD_UNKNOWN);
}

static void match_label_keys_add_the_pods_own_values(void **state)
{
	struct fixture *f = *state;
	struct bt_spread_constraint made =
		spread_of(f, "labelSelector: {matchLabels: {tier: a}}, matchLabelKeys: [app, absent]");

	/* A key that the pod does not have is ignored; without the gate the bare selector is used. */
	assert_int_equal(made.bare_selector.n, 1);
	assert_int_equal(made.selector.n, 2);
	assert_name(f, made.selector.items[0].key, "app");
	assert_name(f, made.selector.items[0].values[0], "web");
	assert_name(f, made.selector.items[1].key, "tier");
	assert_true(spread_of(f, "matchLabelKeys: [app]").selector.nothing);
}

static void a_bad_spread_selector_selects_nothing_and_is_reported(void **state)
{
	struct bt_spread_constraint made =
		spread_of(*state, "labelSelector: {matchExpressions: [{key: a, operator: In}]}");

	assert_non_null(made.error);
	assert_true(made.selector.nothing && made.bare_selector.nothing);
}

static void the_controller_is_known_by_version_and_kind(void **state)
{
	static const struct {
		const char *version, *kind;
		bool controller;
		enum bt_owner_kind want;
	} rows[] = {
		{"v1", "ReplicationController", true, BT_OWNER_REPLICATION_CONTROLLER},
		{"/v1", "ReplicationController", true, BT_OWNER_REPLICATION_CONTROLLER},
		{"apps/v1", "ReplicaSet", true, BT_OWNER_REPLICA_SET},
		{"apps/v1", "StatefulSet", true, BT_OWNER_STATEFUL_SET},
		{"apps/v1", "ReplicaSet", false, BT_OWNER_NONE},
		{"apps/v1", "ReplicationController", true, BT_OWNER_NONE},
		{"apps/v1beta1", "ReplicaSet", true, BT_OWNER_NONE},
		{"batch/v1", "Job", true, BT_OWNER_NONE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bt_owner_object owners[] = {
			{.api_version = BT_STR("apps/v1"),
				.kind = BT_STR("ReplicaSet"),
				.name = BT_STR("no")},
			{.api_version = bt_str(rows[i].version),
				.kind = bt_str(rows[i].kind),
				.name = BT_STR("yes"),
				.controller = rows[i].controller},
		};
		struct bt_meta_object meta = {.owners = owners, .owner_n = COUNT_OF(owners)};
		struct bt_str name = BT_STR("left");

		assert_int_equal(bt_pod_owner(&meta, &name), rows[i].want);
		assert_str(name, rows[i].want == BT_OWNER_NONE ? "" : "yes");
	}
}

static void names_are_sorted_and_kept_once(void **state)
{
	uint32_t names[] = {7, 3, 7, 1, 3, 3};

	(void)state;
	assert_int_equal(bt_names_sort(names, COUNT_OF(names)), 3);
	assert_true(names[0] == 1 && names[1] == 3 && names[2] == 7);
	assert_int_equal(bt_names_sort(names, 0), 0);
}

static void all_conditions_of_a_query_have_to_hold(void **state)
{
	static const uint32_t namespaces[] = {3, 5, 9};
	const struct bt_pod_match named = {.namespaces = namespaces, .namespace_n = COUNT_OF(namespaces)},
				  any = {.any_namespace = true},
				  no_pod = {.any_namespace = true, .labels.nothing = true};
	const struct bt_pod_match good[] = {any, named}, bad[] = {named, no_pod};
	struct bt_intern *intern = ((struct fixture *)*state)->cache->dictionary->intern;
	struct bt_labels none = {0};

	for (uint32_t i = 0; i < 11; i++) {
		bool there = i == 3 || i == 5 || i == 9;

		assert_int_equal(bt_pod_match_holds(intern, &named, i, none), there);
		assert_int_equal(
			bt_pod_query_holds(intern, &(struct bt_pod_query){.items = good, .n = 2}, i, none),
			there);
		assert_false(
			bt_pod_query_holds(intern, &(struct bt_pod_query){.items = bad, .n = 2}, i, none));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_pod_without_terms_has_no_affinity),
		FIXTURE_TEST(a_term_without_namespaces_means_the_owners),
		FIXTURE_TEST(a_list_with_a_bad_selector_is_empty_and_the_others_stay),
		FIXTURE_TEST(several_bad_lists_are_one_error_in_brackets),
		FIXTURE_TEST(a_spread_constraint_has_the_defaults_of_the_api),
		FIXTURE_TEST(match_label_keys_add_the_pods_own_values),
		FIXTURE_TEST(a_bad_spread_selector_selects_nothing_and_is_reported),
		FIXTURE_TEST(the_controller_is_known_by_version_and_kind),
		FIXTURE_TEST(names_are_sorted_and_kept_once),
		FIXTURE_TEST(all_conditions_of_a_query_have_to_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
