/* SPDX-License-Identifier: Apache-2.0
 * The table of kinds: the consistency of its rows, and lookups.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/model/cluster_event.h"
#include "engine/model/gate.h"
#include "engine/model/kind.h"

static void every_kind_is_found_by_each_of_its_versions(void **state)
{
	(void)state;
	for (unsigned kind = BT_KIND_OTHER + 1; kind < BT_KIND_N; kind++) {
		const struct bt_kind_info *info = bt_kind_info((enum bt_kind)kind);
		struct bt_str word = bt_str(info->name);

		assert_int_equal(info->kind, kind);
		assert_int_equal(bt_kind_of_word(word), kind);
		assert_non_null(info->versions[0].path);
		for (uint32_t i = 0; i < BT_KIND_VERSIONS && info->versions[i].path; i++) {
			assert_int_equal(bt_kind_of(bt_str(info->versions[i].api_version), word), kind);
		}
		assert_int_equal(bt_kind_of(bt_str("example.com/v1"), word), BT_KIND_OTHER);
	}
	assert_int_equal(bt_kind_of_word(bt_str("ConfigMap")), BT_KIND_OTHER);
	assert_int_equal(bt_kind_of_word(bt_str("")), BT_KIND_OTHER);
	assert_int_equal(bt_kind_of(bt_str("apps/v1beta1"), bt_str("Deployment")), BT_KIND_OTHER);
}

static void paths_follow_from_group_version_and_resource(void **state)
{
	char path[128], api_version[64];

	(void)state;
	for (unsigned kind = BT_KIND_OTHER + 1; kind < BT_KIND_N; kind++) {
		const struct bt_kind_info *info = bt_kind_info((enum bt_kind)kind);

		for (uint32_t i = 0; i < BT_KIND_VERSIONS && info->versions[i].path; i++) {
			const char *slash = strrchr(info->versions[i].api_version, '/');
			const char *version = slash ? slash + 1 : info->versions[i].api_version;

			snprintf(api_version, sizeof(api_version), "%s%s%s", info->group,
				info->group[0] ? "/" : "", version);
			assert_string_equal(info->versions[i].api_version, api_version);
			snprintf(path, sizeof(path), "%s/%s/%s", info->group[0] ? "/apis" : "/api",
				api_version, info->resource);
			assert_string_equal(info->versions[i].path, path);
		}
	}
}

/* Source: the informers that kube-scheduler registers, v1.36.3. */
static void every_kind_that_affects_decisions_is_watched(void **state)
{
	(void)state;
	for (unsigned kind = BT_KIND_OTHER + 1; kind < BT_KIND_N; kind++) {
		const struct bt_kind_info *info = bt_kind_info((enum bt_kind)kind);

		assert_true(info->store != BT_STORE_NONE);
		assert_int_equal(
			info->watched, info->store != BT_STORE_ADMISSION && info->store != BT_STORE_EXPANDED);
		assert_int_equal(info->optional, info->without != NULL);
		assert_true(info->gate == BT_GATE_N || info->optional);
	}
	assert_int_equal(bt_kind_store(BT_KIND_OTHER), BT_STORE_NONE);
	assert_false(bt_kind_info(BT_KIND_OTHER)->watched);
}

static void pods_name_workloads_or_groups_by_release(void **state)
{
	const struct bt_release *old = bt_release_find(bt_str("1.35")), *now = bt_release_default();

	(void)state;
	assert_true(bt_kind_is_of(bt_kind_info(BT_KIND_WORKLOAD), old));
	assert_false(bt_kind_is_of(bt_kind_info(BT_KIND_WORKLOAD), now));
	assert_false(bt_kind_is_of(bt_kind_info(BT_KIND_POD_GROUP), old));
	assert_true(bt_kind_is_of(bt_kind_info(BT_KIND_POD_GROUP), now));
	assert_true(bt_kind_is_of(bt_kind_info(BT_KIND_POD), old));
}

static void hints_get_events_of_volumes_devices_and_groups_by_kind(void **state)
{
	(void)state;
	for (unsigned kind = BT_KIND_OTHER + 1; kind < BT_KIND_N; kind++) {
		const struct bt_kind_info *info = bt_kind_info((enum bt_kind)kind);
		bool heard = info->store == BT_STORE_VOLUMES || info->store == BT_STORE_DEVICES ||
			     info->store == BT_STORE_POD_GROUPS || info->store == BT_STORE_WORKLOADS;
		char name[96];

		assert_int_equal(info->event != BT_CLUSTER_EVENT_WILDCARD, heard);
		/* Taints of a rule appear in slices. */
		const char *changed = kind == BT_KIND_DEVICE_TAINT_RULE ? "ResourceSlice" : info->name;

		snprintf(name, sizeof(name), "%s%s%s", info->group, info->group[0] ? "/" : "", changed);
		if (heard) {
			assert_string_equal(bt_cluster_event_resource_name(bt_release_default(),
						    (enum bt_cluster_event_resource)info->event),
				name);
		}
	}
}

static void kinds_of_namespaces_are_distinguished_from_those_of_the_cluster(void **state)
{
	static const enum bt_kind of_the_cluster[] = {BT_KIND_OTHER, BT_KIND_NODE, BT_KIND_NAMESPACE,
		BT_KIND_PRIORITY_CLASS, BT_KIND_PERSISTENT_VOLUME, BT_KIND_STORAGE_CLASS, BT_KIND_CSI_NODE,
		BT_KIND_CSI_DRIVER, BT_KIND_VOLUME_ATTACHMENT, BT_KIND_RESOURCE_SLICE, BT_KIND_DEVICE_CLASS,
		BT_KIND_DEVICE_TAINT_RULE, BT_KIND_RUNTIME_CLASS};

	(void)state;
	for (unsigned kind = 0; kind < BT_KIND_N; kind++) {
		bool cluster = false;

		for (size_t i = 0; i < sizeof(of_the_cluster) / sizeof(of_the_cluster[0]); i++) {
			cluster = cluster || of_the_cluster[i] == kind;
		}
		assert_int_equal(bt_kind_info((enum bt_kind)kind)->namespaced, !cluster);
	}
}

/* By gates: of 1.37 by default neither groups of pods, and of 1.36 no DeviceTaintRules. */
static void a_kind_is_on_with_its_gate_and_its_release(void **state)
{
	const struct bt_release *old = bt_release_find(bt_str("1.35")), *now = bt_release_default();
	const struct bt_kind_info *rule = bt_kind_info(BT_KIND_DEVICE_TAINT_RULE);
	const struct bt_kind_info *workload = bt_kind_info(BT_KIND_WORKLOAD);
	bool gates[BT_GATE_N] = {0};

	(void)state;
	assert_true(bt_kind_is_on(bt_kind_info(BT_KIND_POD), now, gates));
	assert_true(bt_kind_is_on(bt_kind_info(BT_KIND_DEPLOYMENT), now, gates));
	assert_false(bt_kind_is_on(rule, now, gates));
	gates[BT_GATE_DRA_DEVICE_TAINT_RULES] = gates[BT_GATE_GENERIC_WORKLOAD] = true;
	assert_true(bt_kind_is_on(rule, now, gates));
	assert_true(bt_kind_is_on(workload, old, gates));
	assert_false(bt_kind_is_on(workload, now, gates));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_found_by_each_of_its_versions),
		cmocka_unit_test(paths_follow_from_group_version_and_resource),
		cmocka_unit_test(every_kind_that_affects_decisions_is_watched),
		cmocka_unit_test(pods_name_workloads_or_groups_by_release),
		cmocka_unit_test(hints_get_events_of_volumes_devices_and_groups_by_kind),
		cmocka_unit_test(a_kind_is_on_with_its_gate_and_its_release),
		cmocka_unit_test(kinds_of_namespaces_are_distinguished_from_those_of_the_cluster),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
