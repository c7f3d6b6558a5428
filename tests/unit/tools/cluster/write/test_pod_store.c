/* SPDX-License-Identifier: Apache-2.0
 * The store of the pods that the watch shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tools/cluster/write/pod_store.h"

#define CONDITION(type_, reason_)                                                                            \
	{                                                                                                    \
		.type = BT_STR(type_), .status = BT_STR("False"), .reason = BT_STR(reason_),                 \
		.transition = BT_STR("2026-01-01T00:00:00Z")                                                 \
	}

struct world {
	struct bt_pod_store *known;
	struct bt_arena arena;
};

static int begin(void **state)
{
	static struct world world;

	world = (struct world){.known = bt_pod_store_create()};
	*state = &world;
	return 0;
}

static int finish(void **state)
{
	struct world *w = *state;

	bt_pod_store_destroy(w->known);
	bt_arena_fini(&w->arena);
	return 0;
}

static struct bt_object pod(const char *name, const char *uid, const char *version, const char *node)
{
	return (struct bt_object){.kind = BT_KIND_POD,
		.pod = {.meta = {.name = bt_str(name),
				.namespace_ = bt_str("ns"),
				.uid = bt_str(uid),
				.resource_version = bt_str(version),
				.generation = 3},
			.spec = {.scheduler_name = bt_str("s"), .node_name = bt_str(node)},
			.nominated_node_name = bt_str("n9")}};
}

static bool get(struct world *w, const char *name, const char *uid, struct bt_stored_pod *out)
{
	const struct bt_pod_ref ref = {bt_str("ns"), bt_str(name), bt_str(uid)};

	return bt_pod_store_get(w->known, &ref, &w->arena, out);
}

static void of_a_pod_that_waits_all_is_known(void **state)
{
	struct world *w = *state;
	struct bt_condition_object conditions[] = {CONDITION("PodScheduled", "Unschedulable")};
	struct bt_object object = pod("p", "u", "18446744073709551000", "");
	struct bt_stored_pod known;

	object.pod.conditions = conditions;
	object.pod.condition_n = 1;
	assert_false(bt_pod_store_show(w->known, BT_WATCH_EVENT_APPLY, &object));
	assert_true(get(w, "p", "u", &known));
	assert_true(known.waits);
	assert_true(bt_str_is(known.pod.resource_version, "18446744073709551000"));
	assert_int_equal(known.pod.generation, 3);
	assert_true(bt_str_is(known.pod.scheduler_name, "s"));
	assert_true(bt_str_is(known.pod.nominated_node_name, "n9"));
	assert_int_equal(known.pod.condition_n, 1);
	assert_true(bt_str_is(known.pod.conditions[0].reason, "Unschedulable"));
	assert_int_equal(known.pod.conditions[0].transition_s, 1767225600);
}

static void of_a_pod_on_a_node_the_order_of_conditions_is_known(void **state)
{
	struct world *w = *state;
	struct bt_condition_object conditions[] = {CONDITION("Ready", "x"), CONDITION("PodScheduled", "y")};
	struct bt_object object = pod("p", "u", "7", "n1");
	struct bt_stored_pod known;

	object.pod.conditions = conditions;
	object.pod.condition_n = 2;
	bt_pod_store_show(w->known, BT_WATCH_EVENT_APPLY, &object);
	assert_true(get(w, "p", "u", &known));
	assert_false(known.waits);
	assert_int_equal(known.pod.condition_n, 2);
	assert_true(bt_str_is(known.pod.conditions[0].type, "Ready"));
	assert_true(bt_str_is(known.pod.conditions[1].type, "PodScheduled"));
	assert_true(bt_str_is(known.pod.resource_version, "7"));
}

static void another_uid_is_another_pod(void **state)
{
	struct world *w = *state;
	struct bt_object object = pod("p", "u", "7", ""), gone = pod("p", "old", "", "");
	struct bt_stored_pod known;

	bt_pod_store_show(w->known, BT_WATCH_EVENT_APPLY, &object);
	assert_false(get(w, "p", "v", &known));
	assert_true(bt_str_is(known.pod.name, "p")); /* names are always there */
	assert_false(bt_pod_store_show(w->known, BT_WATCH_EVENT_DELETE, &gone));
	assert_true(get(w, "p", "u", &known));
}

static void it_logs_when_a_pod_is_bound_or_deleted(void **state)
{
	struct world *w = *state;
	struct bt_object waits = pod("p", "u", "7", ""), bound = pod("p", "u", "8", "n1"),
			 other = pod("p", "v", "9", "n1");

	assert_false(bt_pod_store_show(w->known, BT_WATCH_EVENT_APPLY, &bound));
	assert_false(bt_pod_store_show(w->known, BT_WATCH_EVENT_APPLY, &waits));
	assert_true(bt_pod_store_show(w->known, BT_WATCH_EVENT_APPLY, &bound));
	assert_false(bt_pod_store_show(w->known, BT_WATCH_EVENT_APPLY, &bound));
	assert_false(bt_pod_store_show(w->known, BT_WATCH_EVENT_DELETE, &bound));
	assert_false(bt_pod_store_show(w->known, BT_WATCH_EVENT_APPLY, &waits));
	assert_false(bt_pod_store_show(w->known, BT_WATCH_EVENT_APPLY, &other)); /* another pod */
	assert_false(bt_pod_store_show(w->known, BT_WATCH_EVENT_APPLY, &waits));
	assert_true(bt_pod_store_show(w->known, BT_WATCH_EVENT_DELETE, &waits));
	assert_int_equal(bt_pod_store_n(w->known), 0);
}

static void a_patch_changes_what_is_known(void **state)
{
	struct world *w = *state;
	const struct bt_pod_ref ref = {bt_str("ns"), bt_str("p"), bt_str("u")};
	const struct bt_api_status patch = {.has_condition = true,
		.condition = {.type = BT_STR("PodScheduled"), .status = BT_STR("False")},
		.nomination = BT_NOMINATION_CLEAR};
	struct bt_object object = pod("p", "u", "7", "");
	struct bt_stored_pod known;

	bt_pod_store_patched(w->known, &ref, &patch); /* no such pod */
	bt_pod_store_show(w->known, BT_WATCH_EVENT_APPLY, &object);
	bt_pod_store_patched(w->known, &ref, &patch);
	assert_true(get(w, "p", "u", &known));
	assert_int_equal(known.pod.condition_n, 1);
	assert_int_equal(known.pod.nominated_node_name.len, 0);
}

static void versions_that_are_no_numbers_are_left_out(void **state)
{
	static const char *const versions[] = {"", "7a", "99999999999999999999999", "-1"};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct bt_object object = pod("p", "u", versions[i], "");
		struct bt_stored_pod known;

		bt_pod_store_show(w->known, BT_WATCH_EVENT_APPLY, &object);
		assert_true(get(w, "p", "u", &known));
		assert_int_equal(known.pod.resource_version.len, 0);
	}
}

static void pods_share_texts_and_keep_their_own(void **state)
{
	struct world *w = *state;
	struct bt_stored_pod known;

	for (uint32_t i = 0; i < 600; i++) {
		char type[16], name[16];
		struct bt_condition_object condition = {
			.type = {type, (size_t)snprintf(type, 16, "c%u", i - i % 300)}};

		snprintf(name, sizeof(name), "p%u", i);
		struct bt_object object = pod(name, "u", "7", i % 2 ? "n1" : "");
		object.pod.conditions = &condition;
		object.pod.condition_n = 1;
		bt_pod_store_show(w->known, BT_WATCH_EVENT_APPLY, &object);
	}
	for (uint32_t i = 0; i < 600; i++) {
		char type[16], name[16];

		snprintf(type, sizeof(type), "c%u", i - i % 300);
		snprintf(name, sizeof(name), "p%u", i);
		assert_true(get(w, name, "u", &known));
		assert_int_equal(known.pod.condition_n, 1);
		assert_true(bt_str_is(known.pod.conditions[0].type, type));
		if (i % 3 == 0) {
			struct bt_object object = pod(name, "u", "8", "");

			bt_pod_store_show(w->known, BT_WATCH_EVENT_DELETE, &object);
		}
	}
	assert_int_equal(bt_pod_store_n(w->known), 400);
	assert_true(get(w, "p599", "u", &known));
	assert_true(bt_str_is(known.pod.conditions[0].type, "c300"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, finish)
	const struct CMUnitTest tests[] = {
		CASE(of_a_pod_that_waits_all_is_known),
		CASE(of_a_pod_on_a_node_the_order_of_conditions_is_known),
		CASE(another_uid_is_another_pod),
		CASE(it_logs_when_a_pod_is_bound_or_deleted),
		CASE(a_patch_changes_what_is_known),
		CASE(versions_that_are_no_numbers_are_left_out),
		CASE(pods_share_texts_and_keep_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
