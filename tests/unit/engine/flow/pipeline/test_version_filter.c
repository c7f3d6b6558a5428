/* SPDX-License-Identifier: Apache-2.0
 * Which events are stale: by resource version, by UID, and by neither.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/flow/pipeline/version_filter.h"

static struct bt_object_version see(const char *name, const char *uid, const char *version)
{
	const struct bt_object object = {.kind = BT_KIND_POD,
		.pod.meta = {.namespace_ = BT_STR("default"),
			.name = {name, strlen(name)},
			.uid = {uid, strlen(uid)},
			.resource_version = {version, strlen(version)}}};

	return bt_object_version_of(&object);
}

static enum bt_version_verdict apply(
	struct bt_version_filter *f, const char *name, const char *uid, const char *version)
{
	const struct bt_object_version seen = see(name, uid, version);

	return bt_version_filter_apply(f, &seen);
}

static enum bt_version_verdict delete (
	struct bt_version_filter *f, const char *name, const char *uid, const char *version) {
	const struct bt_object_version seen = see(name, uid, version);

	return bt_version_filter_delete(f, &seen);
}

static void only_a_later_version_is_fresh(void **state)
{
	struct bt_version_filter f = {.tombstone_max = 4};

	(void)state;
	assert_int_equal(apply(&f, "a", "1", "10"), BT_VERSION_NEW);
	assert_int_equal(apply(&f, "a", "1", "10"), BT_VERSION_STALE);
	assert_int_equal(apply(&f, "a", "1", "9"), BT_VERSION_STALE);
	assert_int_equal(apply(&f, "b", "2", "9"), BT_VERSION_NEW);
	assert_int_equal(apply(&f, "a", "1", "100"), BT_VERSION_NEW);
	bt_version_filter_fini(&f);
}

static void objects_without_a_version_are_always_new(void **state)
{
	struct bt_version_filter f = {.tombstone_max = 4};

	(void)state;
	assert_int_equal(apply(&f, "a", "", ""), BT_VERSION_NEW);
	assert_int_equal(apply(&f, "a", "", ""), BT_VERSION_NEW);
	assert_int_equal(delete (&f, "a", "", ""), BT_VERSION_NEW);
	assert_int_equal(apply(&f, "a", "", ""), BT_VERSION_NEW);
	assert_int_equal(apply(&f, "b", "1", "x7"), BT_VERSION_NEW);
	assert_int_equal(apply(&f, "b", "1", "x6"), BT_VERSION_NEW);
	assert_int_equal(f.entry_n, 1);
	bt_version_filter_fini(&f);
}

static void another_uid_is_another_object(void **state)
{
	struct bt_version_filter f = {.tombstone_max = 4};

	(void)state;
	apply(&f, "a", "1", "10");
	assert_int_equal(apply(&f, "a", "2", "20"), BT_VERSION_REPLACED);
	assert_int_equal(apply(&f, "a", "1", "15"), BT_VERSION_STALE);
	assert_int_equal(delete (&f, "a", "1", "16"), BT_VERSION_STALE);
	assert_int_equal(delete (&f, "a", "2", "21"), BT_VERSION_NEW);
	bt_version_filter_fini(&f);
}

static void a_delete_of_a_younger_object_takes_the_older_one_along(void **state)
{
	struct bt_version_filter f = {.tombstone_max = 4};

	(void)state;
	apply(&f, "a", "1", "10");
	assert_int_equal(delete (&f, "a", "2", "30"), BT_VERSION_NEW);
	assert_int_equal(apply(&f, "a", "2", "20"), BT_VERSION_STALE);
	assert_int_equal(apply(&f, "a", "1", "12"), BT_VERSION_STALE);
	assert_int_equal(apply(&f, "a", "3", "40"), BT_VERSION_NEW);
	bt_version_filter_fini(&f);
}

static void the_dead_stay_dead_and_the_name_may_be_used_again(void **state)
{
	struct bt_version_filter f = {.tombstone_max = 4};

	(void)state;
	apply(&f, "a", "1", "10");
	assert_int_equal(delete (&f, "a", "1", ""), BT_VERSION_NEW);
	assert_int_equal(delete (&f, "a", "1", ""), BT_VERSION_STALE);
	assert_int_equal(apply(&f, "a", "1", "99"), BT_VERSION_STALE);
	assert_int_equal(apply(&f, "a", "2", "11"), BT_VERSION_NEW);
	assert_int_equal(apply(&f, "a", "2", "12"), BT_VERSION_NEW);
	bt_version_filter_fini(&f);
}

static void only_so_many_of_the_dead_are_remembered(void **state)
{
	struct bt_version_filter f = {.tombstone_max = 4};
	char name[16];

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		apply(&f, name, name, "10");
		delete (&f, name, name, "11");
		/* Some are re-created in between. */
		if (i % 3 == 0) {
			assert_int_equal(apply(&f, name, "new", "12"), BT_VERSION_NEW);
			assert_int_equal(delete (&f, name, "new", "13"), BT_VERSION_NEW);
		}
	}
	assert_int_equal(apply(&f, "p99", "new", "12"), BT_VERSION_STALE);
	assert_int_equal(apply(&f, "p98", "p98", "9"), BT_VERSION_STALE);
	assert_int_equal(apply(&f, "p0", "p0", "9"), BT_VERSION_NEW);
	assert_true(f.entry_n <= 10);
	assert_true(f.ixs.count <= 6);
	bt_version_filter_fini(&f);
}

/* Live objects need no more memory after others were deleted, and are still known. */
static void live_objects_are_known_after_most_were_deleted(void **state)
{
	enum { N = 3000, EACH = 37, TOMBS = 16 };
	struct bt_version_filter f = {.tombstone_max = TOMBS};
	char name[16];

	(void)state;
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		apply(&f, name, name, "10");
	}
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		if (i % EACH) {
			assert_int_equal(delete (&f, name, name, "11"), BT_VERSION_NEW);
		} else if (i % 2) {
			/* It is deleted and created again with another UID. */
			assert_int_equal(delete (&f, name, name, "11"), BT_VERSION_NEW);
			assert_int_equal(apply(&f, name, "new", "12"), BT_VERSION_NEW);
		}
	}
	assert_in_range(f.entry_n, N / EACH + TOMBS, N / EACH + 1 + TOMBS);
	assert_true(f.entry_cap < 512);
	for (int i = 0; i < N; i++) {
		bool stays = i % EACH == 0, recent = i > N - TOMBS;

		snprintf(name, sizeof(name), "p%d", i);
		if (stays) {
			assert_int_equal(apply(&f, name, i % 2 ? "new" : name, "9"), BT_VERSION_STALE);
			assert_int_equal(apply(&f, name, i % 2 ? "new" : name, "13"), BT_VERSION_NEW);
		} else if (recent) {
			assert_int_equal(apply(&f, name, name, "12"), BT_VERSION_STALE);
		}
	}
	bt_version_filter_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_later_version_is_fresh),
		cmocka_unit_test(objects_without_a_version_are_always_new),
		cmocka_unit_test(another_uid_is_another_object),
		cmocka_unit_test(a_delete_of_a_younger_object_takes_the_older_one_along),
		cmocka_unit_test(the_dead_stay_dead_and_the_name_may_be_used_again),
		cmocka_unit_test(only_so_many_of_the_dead_are_remembered),
		cmocka_unit_test(live_objects_are_known_after_most_were_deleted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
