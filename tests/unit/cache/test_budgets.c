/* SPDX-License-Identifier: Apache-2.0
 * Pod disruption budgets: the pods that each one covers, and replacing and removing them.
 */
#include "object_fixture.h"

#include "cache/budgets.h"

static struct bt_intern *intern_of(struct fixture *f)
{
	return f->cache->dictionary->intern;
}

/* Applies a budget named "guard" in the namespace "default". */
static void guard(struct fixture *f, struct bt_budgets *budgets, const char *spec, const char *status)
{
	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text,
		"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: default, name: "
		"guard}, "
		"spec: {%s}, status: {%s}}",
		spec, status);
	bt_budgets_apply(budgets, intern_of(f), &fixture_read(f, f->text.ptr)->pdb);
}

/* Does the only budget cover the pod web-1 with these metadata? */
static bool counts(struct fixture *f, const struct bt_budgets *budgets, const char *metadata)
{
	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text, "{apiVersion: v1, kind: Pod, metadata: {name: web-1, %s}}", metadata);
	const struct bt_signature *signature =
		bt_signatures_intern(f->cache->signatures, &fixture_read(f, f->text.ptr)->pod);

	assert_int_equal(budgets->n, 1);
	return bt_budget_counts(&budgets->items[0], intern_of(f), signature, fixture_name(f, "web-1"));
}

static void a_budget_counts_pods_that_it_selects_in_its_namespace(void **state)
{
	struct fixture *f = *state;
	struct bt_budgets budgets = {0};

	guard(f, &budgets, "selector: {matchLabels: {app: web}}", "disruptionsAllowed: 3");
	assert_int_equal(budgets.items[0].allowed, 3);
	assert_true(counts(f, &budgets, "namespace: default, labels: {app: web, tier: a}"));
	assert_false(counts(f, &budgets, "namespace: default, labels: {app: db}"));
	assert_false(counts(f, &budgets, "namespace: other, labels: {app: web}"));
	bt_budgets_fini(&budgets);
}

static void a_pod_without_labels_is_not_counted_by_what_selects_by_absence(void **state)
{
	struct fixture *f = *state;
	struct bt_budgets budgets = {0};

	guard(f, &budgets, "selector: {matchExpressions: [{key: app, operator: DoesNotExist}]}", "");
	assert_true(counts(f, &budgets, "namespace: default, labels: {tier: a}"));
	assert_false(counts(f, &budgets, "namespace: default"));
	bt_budgets_fini(&budgets);
}

static void empty_missing_and_invalid_selectors_protect_nothing(void **state)
{
	static const char *const specs[] = {"", "selector: {}",
		"selector: {matchExpressions: [{key: app, operator: In, values: []}]}",
		"selector: {matchExpressions: [{key: app, operator: Near, values: [web]}]}"};
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT_OF(specs); i++) {
		struct bt_budgets budgets = {0};

		guard(f, &budgets, specs[i], "disruptionsAllowed: 1");
		assert_false(counts(f, &budgets, "namespace: default, labels: {app: web}"));
		bt_budgets_fini(&budgets);
	}
}

static void a_pod_whose_disruption_is_known_is_not_counted_again(void **state)
{
	static const char *const known[] = {"web-1: T", "web-0: T, web-1: T", "web-1: T, web-2: T",
		"web-0: T, web-1: T, web-2: T, web-3: T"};
	static const char *const unknown[] = {"", "web-0: T", "web-0: T, web-2: T, web-3: T"};
	struct fixture *f = *state;
	struct bt_budgets budgets = {0};
	char status[160];

	for (size_t i = 0; i < COUNT_OF(known); i++) {
		snprintf(status, sizeof(status), "disruptedPods: {%s}", known[i]);
		guard(f, &budgets, "selector: {matchLabels: {app: web}}", status);
		assert_false(counts(f, &budgets, "namespace: default, labels: {app: web}"));
	}
	for (size_t i = 0; i < COUNT_OF(unknown); i++) {
		snprintf(status, sizeof(status), "disruptedPods: {%s}", unknown[i]);
		guard(f, &budgets, "selector: {matchLabels: {app: web}}", status);
		assert_true(counts(f, &budgets, "namespace: default, labels: {app: web}"));
	}
	bt_budgets_fini(&budgets);
}

static void a_budget_of_the_same_name_is_replaced(void **state)
{
	struct fixture *f = *state;
	struct bt_budgets budgets = {0};

	guard(f, &budgets, "selector: {matchLabels: {app: web}}", "disruptionsAllowed: 3");
	uint64_t version = budgets.version;
	guard(f, &budgets, "selector: {matchExpressions: [{key: app, operator: In, values: [db, cache]}]}",
		"disruptionsAllowed: 2");
	assert_true(budgets.version > version);
	assert_int_equal(budgets.n, 1);
	assert_int_equal(budgets.items[0].allowed, 2);
	assert_true(counts(f, &budgets, "namespace: default, labels: {app: cache}"));
	assert_false(counts(f, &budgets, "namespace: default, labels: {app: web}"));
	bt_budgets_fini(&budgets);
}

static void a_removed_budget_is_gone_with_its_names(void **state)
{
	struct fixture *f = *state;
	struct bt_budgets budgets = {0};

	guard(f, &budgets, "selector: {matchLabels: {only-here: web}}", "disruptedPods: {lost-pod: T}");
	uint32_t namespace_ = budgets.items[0].namespace_, name = budgets.items[0].name;
	uint64_t version = budgets.version;
	assert_int_equal(bt_budgets_remove(&budgets, namespace_, name + 1), BT_NOT_FOUND);
	assert_int_equal(bt_budgets_remove(&budgets, name, name), BT_NOT_FOUND);
	assert_int_equal(budgets.version, version);
	assert_int_equal(bt_budgets_remove(&budgets, namespace_, name), BT_OK);
	assert_true(budgets.version > version);
	assert_int_equal(budgets.n, 0);
	assert_int_equal(bt_intern_find(intern_of(f), bt_str("only-here")), BT_NAME_NONE);
	assert_int_equal(bt_intern_find(intern_of(f), bt_str("lost-pod")), BT_NAME_NONE);
	bt_budgets_fini(&budgets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_budget_counts_pods_that_it_selects_in_its_namespace),
		FIXTURE_TEST(a_pod_without_labels_is_not_counted_by_what_selects_by_absence),
		FIXTURE_TEST(empty_missing_and_invalid_selectors_protect_nothing),
		FIXTURE_TEST(a_pod_whose_disruption_is_known_is_not_counted_again),
		FIXTURE_TEST(a_budget_of_the_same_name_is_replaced),
		FIXTURE_TEST(a_removed_budget_is_gone_with_its_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
