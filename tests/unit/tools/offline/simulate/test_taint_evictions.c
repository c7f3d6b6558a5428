/* SPDX-License-Identifier: Apache-2.0
 * When NoExecute taints evict pods.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cache/ledger.h"
#include "tools/offline/simulate/taint_evictions.h"

#define S(n) ((int64_t)(n)*1000000000)
#define POD  3
#define NOW  S(1000)

/* A node "n" with up to two taints, and a pod with up to two tolerations. Returns: when the pod is evicted;
 * -1: never. */
struct given {
	struct bt_taint_object taints[2];
	uint32_t taint_n;
	struct bt_toleration_object tolerations[2];
	uint32_t toleration_n;
	int64_t since_ns;
};

static int64_t evicted_at(struct given *g)
{
	struct bt_intern *intern = bt_intern_create();
	struct bt_taint_evictions e = {.names = bt_name_refs_pinned(intern)};
	struct bt_node_object node = {
		.meta = {.name = bt_str("n")}, .taints = g->taints, .taint_n = g->taint_n};
	struct bt_pod_object pod = {.spec = {.tolerations = g->tolerations, .toleration_n = g->toleration_n}};

	bt_taint_evictions_node(&e, &node);
	bt_taint_evictions_pod(&e, POD, &pod);
	bt_taint_evictions_bound(&e, POD, bt_name_refs_add(&e.names, bt_str("n")), g->since_ns, NOW);
	const int64_t at_ns = bt_taint_evictions_next(&e);
	if (at_ns != INT64_MAX) {
		assert_int_equal(bt_taint_evictions_take(&e, at_ns - 1), BT_NO_POD);
		assert_int_equal(bt_taint_evictions_take(&e, at_ns), POD);
	}
	assert_true(bt_taint_evictions_next(&e) == INT64_MAX);
	bt_taint_evictions_fini(&e);
	bt_intern_destroy(intern);
	return at_ns == INT64_MAX ? -1 : at_ns;
}

#define TAINT(k, e, added)                                                                                   \
	(struct bt_taint_object)                                                                             \
	{                                                                                                    \
		.key = bt_str(k), .effect = bt_str(e), .added_ns = (added)                                   \
	}
#define TOLERATE(k, e)                                                                                       \
	(struct bt_toleration_object)                                                                        \
	{                                                                                                    \
		.key = bt_str(k), .operator_ = bt_str("Exists"), .effect = bt_str(e)                         \
	}
#define TOLERATE_FOR(k, e, s)                                                                                \
	(struct bt_toleration_object)                                                                        \
	{                                                                                                    \
		.key = bt_str(k), .operator_ = bt_str("Exists"), .effect = bt_str(e),                        \
		.toleration_seconds = (s), .has_toleration_seconds = true                                    \
	}

static void an_untolerated_taint_evicts_at_once(void **state)
{
	(void)state;
	assert_int_equal(
		evicted_at(&(struct given){.taints = {TAINT("x", "NoExecute", 0)}, .taint_n = 1}), NOW);
	/* Tolerated one, not the other. */
	assert_int_equal(evicted_at(&(struct given){{TAINT("x", "NoExecute", 0), TAINT("y", "NoExecute", 0)},
				 2, {TOLERATE_FOR("x", "NoExecute", 60)}, 1, 0}),
		NOW);
}

static void other_effects_evict_nobody(void **state)
{
	(void)state;
	assert_int_equal(
		evicted_at(&(struct given){.taints = {TAINT("x", "NoSchedule", 0)}, .taint_n = 1}), -1);
	/* A toleration of another effect is none. */
	assert_int_equal(evicted_at(&(struct given){
				 {TAINT("x", "NoExecute", 0)}, 1, {TOLERATE("x", "NoSchedule")}, 1, 0}),
		NOW);
}

static void without_toleration_seconds_the_pod_stays(void **state)
{
	(void)state;
	assert_int_equal(
		evicted_at(&(struct given){{TAINT("x", "NoExecute", 0)}, 1, {TOLERATE("x", "")}, 1, 0}), -1);
}

static void the_shortest_toleration_of_all_taints_counts(void **state)
{
	struct given g = {{TAINT("x", "NoExecute", 0), TAINT("y", "NoExecute", 0)}, 2,
		{TOLERATE_FOR("x", "NoExecute", 60), TOLERATE_FOR("y", "", 20)}, 2, 0};

	(void)state;
	assert_int_equal(evicted_at(&g), NOW + S(20));
	g.tolerations[1] = TOLERATE("y", "NoExecute");
	assert_int_equal(evicted_at(&g), NOW + S(60));
	g.tolerations[0] = TOLERATE_FOR("x", "NoExecute", -5);
	assert_int_equal(evicted_at(&g), NOW);
}

static void time_counts_from_the_later_of_taint_and_pod_where_both_are_known(void **state)
{
	struct given g = {{TAINT("x", "NoExecute", NOW - S(10))}, 1, {TOLERATE_FOR("x", "NoExecute", 60)}, 1,
		NOW - S(40)};

	(void)state;
	assert_int_equal(evicted_at(&g), NOW + S(50));
	g.since_ns = NOW - S(5);
	assert_int_equal(evicted_at(&g), NOW + S(55));
	g.since_ns = 0;
	assert_int_equal(evicted_at(&g), NOW + S(60));
	g.since_ns = NOW - S(100);
	g.taints[0].added_ns = NOW - S(90);
	assert_int_equal(evicted_at(&g), NOW);
}

static void a_dropped_pod_is_not_evicted(void **state)
{
	struct bt_intern *intern = bt_intern_create();
	struct bt_taint_evictions e = {.names = bt_name_refs_pinned(intern)};
	struct bt_taint_object taint = TAINT("x", "NoExecute", 0);
	struct bt_node_object node = {.meta = {.name = bt_str("n")}, .taints = &taint, .taint_n = 1};

	(void)state;
	bt_taint_evictions_node(&e, &node);
	bt_taint_evictions_bound(&e, POD, bt_name_refs_add(&e.names, bt_str("n")), 0, NOW);
	bt_taint_evictions_drop(&e, POD);
	assert_true(bt_taint_evictions_next(&e) == INT64_MAX);
	bt_taint_evictions_fini(&e);
	bt_intern_destroy(intern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_untolerated_taint_evicts_at_once),
		cmocka_unit_test(other_effects_evict_nobody),
		cmocka_unit_test(without_toleration_seconds_the_pod_stays),
		cmocka_unit_test(the_shortest_toleration_of_all_taints_counts),
		cmocka_unit_test(time_counts_from_the_later_of_taint_and_pod_where_both_are_known),
		cmocka_unit_test(a_dropped_pod_is_not_evicted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
