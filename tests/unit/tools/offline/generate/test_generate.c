/* SPDX-License-Identifier: Apache-2.0
 * Synthetic clusters are repeatable, of the requested size, and never over-committed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "seed.h"

#include "engine/base/hash.h"
#include "tools/format/encode.h"
#include "tools/offline/generate/generate.h"

#define NODE_N 60

struct seen {
	uint64_t hash;
	uint64_t kinds[BT_KIND_N];
	uint64_t bound_n, gated_n, port_n, spread_n, volume_n, ended_n, tainted_n, image_n, priority_n,
		required_n, claimed_n, device_n, member_n, min_count, resized_n, racked_n, gpu_n, in_rack_n,
		in_zone_n, together_n;
	int64_t cpu_free[NODE_N], memory_free[NODE_N], pods_free[NODE_N];
	int64_t cpu_total, cpu_requested;
	uint64_t stop_after;
};

static int64_t milli(const struct bt_resource_list *list, const char *name)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (bt_str_is(list->items[i].name, name)) {
			return (int64_t)(list->items[i].quantity.nano / 1000000);
		}
	}
	return 0;
}

static void see_node(struct seen *seen, const struct bt_node_object *node)
{
	uint64_t ix = seen->kinds[BT_KIND_NODE] - 1;

	seen->cpu_total += milli(&node->allocatable, "cpu");
	seen->tainted_n += node->taint_n > 0;
	seen->image_n += node->image_n;
	for (uint32_t i = 0; i < node->meta.labels.n; i++) {
		seen->racked_n += bt_str_is(node->meta.labels.items[i].key, "example.com/rack");
	}
	if (ix < NODE_N) {
		seen->cpu_free[ix] = milli(&node->allocatable, "cpu");
		seen->memory_free[ix] = milli(&node->allocatable, "memory") / 1000;
		seen->pods_free[ix] = milli(&node->allocatable, "pods") / 1000;
	}
}

static void see_pod(struct seen *seen, const struct bt_pod_object *pod)
{
	const struct bt_resource_list *requests = &pod->spec.containers[0].resources.requests;

	seen->cpu_requested += milli(requests, "cpu");
	seen->gated_n += pod->spec.scheduling_gates.n;
	seen->claimed_n += pod->spec.claim_n;
	seen->member_n += pod->spec.pod_group.len != 0;
	seen->gpu_n += milli(requests, "nvidia.com/gpu") >= 4000;
	seen->resized_n += pod->container_status_n;
	if (pod->container_status_n) {
		const struct bt_resource_list *granted = &pod->container_statuses[0].resources.requests;

		assert_true(pod->spec.node_name.len);
		assert_int_equal(milli(granted, "cpu"), milli(requests, "cpu") / 2);
	}
	seen->port_n += pod->spec.containers[0].port_n;
	seen->spread_n += pod->spec.spread_n;
	seen->volume_n += pod->spec.volume_n;
	seen->priority_n += pod->spec.priority != 0;
	seen->required_n += pod->spec.node_selector.n + pod->spec.affinity.node_affinity.required.term_n;
	seen->ended_n += bt_str_is(pod->phase, "Failed") || bt_str_is(pod->phase, "Succeeded");
	if (pod->spec.node_name.len == 0) {
		return;
	}
	/* Node names are "node-" and the number, counted from 1. */
	int64_t node = -1;

	for (size_t i = 5, number = 0; i < pod->spec.node_name.len; i++) {
		number = number * 10 + (size_t)(pod->spec.node_name.ptr[i] - '0');
		node = (int64_t)number - 1;
	}

	assert_in_range(node, 0, NODE_N - 1);
	seen->bound_n++;
	seen->cpu_free[node] -= milli(requests, "cpu");
	seen->memory_free[node] -= milli(requests, "memory") / 1000;
	seen->pods_free[node]--;
}

static bool take(void *context, const struct bt_object *object)
{
	struct seen *seen = context;
	struct bt_buf text = {0};

	bt_object_encode(object, &text);
	seen->hash = bt_hash_u64(seen->hash ^ bt_hash_bytes(text.ptr, text.len));
	bt_buf_fini(&text);
	seen->kinds[object->kind]++;
	if (object->kind == BT_KIND_NODE) {
		see_node(seen, &object->node);
	} else if (object->kind == BT_KIND_POD) {
		see_pod(seen, &object->pod);
	} else if (object->kind == BT_KIND_RESOURCE_SLICE) {
		seen->device_n += object->resource_slice.device_n;
	} else if (object->kind == BT_KIND_POD_GROUP) {
		assert_true(object->pod_group.gang);
		seen->min_count += (uint64_t)object->pod_group.min_count;
		if (object->pod_group.topology_keys.n) {
			struct bt_str key = object->pod_group.topology_keys.items[0];

			seen->in_rack_n += bt_str_is(key, "example.com/rack");
			seen->in_zone_n += bt_str_is(key, "topology.kubernetes.io/zone");
		}
		seen->together_n += object->pod_group.together && object->pod_group.has_priority;
	}
	return seen->stop_after == 0 || --seen->stop_after > 0;
}

static struct bt_generate_options small(uint32_t profiles)
{
	struct bt_generate_options options = bt_generate_defaults();

	options.node_n = NODE_N;
	options.pod_n = 1200;
	options.signature_n = 200;
	options.profiles = profiles;
	return options;
}

static void counts_are_as_configured(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_EVERYDAY);
	struct seen seen = {0};

	(void)state;
	assert_true(bt_generate(&options, take, &seen));
	assert_int_equal(seen.kinds[BT_KIND_NODE], NODE_N);
	assert_int_equal(seen.kinds[BT_KIND_POD], 1200);
	assert_int_equal(seen.bound_n, 0);
	assert_true(seen.kinds[BT_KIND_NAMESPACE] > 0);
}

static void pods_request_about_nine_tenths_of_the_cpu(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_BASIC);
	struct seen seen = {0};

	(void)state;
	options.node_n = 10 * NODE_N;
	options.pod_n = 12000;
	assert_true(bt_generate(&options, take, &seen));
	assert_in_range(seen.cpu_requested * 100 / seen.cpu_total, 84, 95);
}

static void a_lower_load_makes_pods_request_less(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_BASIC);
	struct seen seen = {0};

	(void)state;
	options.load = 0.4;
	assert_true(bt_generate(&options, take, &seen));
	assert_in_range(seen.cpu_requested * 100 / seen.cpu_total, 36, 44);
}

static void the_same_seed_gives_the_same_and_another_does_not(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_MIXED);
	struct seen first = {0}, second = {0}, other = {0};

	(void)state;
	options.bound = 0.5;
	assert_true(bt_generate(&options, take, &first));
	assert_true(bt_generate(&options, take, &second));
	options.seed++;
	assert_true(bt_generate(&options, take, &other));
	assert_true(first.hash == second.hash);
	assert_true(first.hash != other.hash);
}

static void no_node_is_over_committed(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_MIXED);

	(void)state;
	options.seed = seed_or(1);
	options.bound = 1;
	options.pod_n = 4000;
	for (int round = 0; round < 4; round++, options.seed++) {
		struct seen seen = {0};

		assert_true(bt_generate(&options, take, &seen));
		assert_true(seen.bound_n > 500);
		for (int node = 0; node < NODE_N; node++) {
			assert_true(seen.cpu_free[node] >= 0);
			assert_true(seen.memory_free[node] >= 0);
			assert_true(seen.pods_free[node] >= 0);
		}
	}
}

static void the_bound_share_is_as_configured(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_MIXED);
	struct seen seen = {0};

	(void)state;
	options.bound = 0.3;
	assert_true(bt_generate(&options, take, &seen));
	assert_in_range(seen.bound_n, 1200 * 25 / 100, 1200 * 35 / 100);
}

static void each_profile_shows(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_MIXED);
	struct seen seen = {0}, basic = {0};

	(void)state;
	options.bound = 0.4;
	options.signature_n = 800;
	assert_true(bt_generate(&options, take, &seen));
	assert_true(seen.gated_n && seen.port_n && seen.spread_n && seen.volume_n && seen.ended_n);
	assert_true(seen.tainted_n && seen.image_n && seen.priority_n && seen.required_n);
	assert_true(seen.kinds[BT_KIND_POD_DISRUPTION_BUDGET] > 0);
	options.profiles = BT_PROFILE_BASIC;
	assert_true(bt_generate(&options, take, &basic));
	assert_false(basic.gated_n || basic.port_n || basic.spread_n || basic.volume_n || basic.ended_n);
	assert_false(basic.tainted_n || basic.image_n || basic.priority_n || basic.required_n);
	assert_int_equal(basic.kinds[BT_KIND_POD_DISRUPTION_BUDGET], 0);
}

static void devices_are_written_in_slices_and_each_claim_before_its_pod(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_DEVICES);
	struct seen seen = {0};

	(void)state;
	assert_true(bt_generate(&options, take, &seen));
	assert_true(seen.claimed_n > 0);
	assert_int_equal(seen.kinds[BT_KIND_RESOURCE_CLAIM], seen.claimed_n);
	assert_int_equal(seen.kinds[BT_KIND_DEVICE_CLASS], 1);
	assert_int_equal(seen.device_n, 8 * seen.kinds[BT_KIND_RESOURCE_SLICE]);
}

static void every_member_of_a_gang_is_needed_and_there(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_GANGS);
	struct seen seen = {0};

	(void)state;
	assert_true(bt_generate(&options, take, &seen));
	assert_true(seen.member_n > 0);
	assert_int_equal(seen.min_count, seen.member_n);
}

static void gangs_with_a_topology_want_a_rack_or_a_zone(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_GANGS | BT_PROFILE_TOPOLOGY);
	struct seen seen = {0};

	(void)state;
	assert_true(bt_generate(&options, take, &seen));
	assert_true(seen.in_zone_n > 0 && seen.in_rack_n > seen.in_zone_n);
	assert_int_equal(seen.in_rack_n + seen.in_zone_n, seen.kinds[BT_KIND_POD_GROUP]);
	assert_int_equal(seen.racked_n, NODE_N);
	assert_int_equal(seen.gpu_n, 0);
}

static void with_a_gang_size_every_pod_is_in_a_gang_of_it(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_GANGS);
	struct seen seen = {0};

	(void)state;
	options.signature_n = 1;
	options.gang_size = 50;
	assert_true(bt_generate(&options, take, &seen));
	assert_int_equal(seen.kinds[BT_KIND_POD_GROUP], 1200 / 50);
	assert_int_equal(seen.member_n, 1200);
	assert_int_equal(seen.bound_n, 0);
}

static void gangs_to_be_preempted_are_bound_and_leave_as_one(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_GANGS | BT_PROFILE_PREEMPTION);
	struct seen seen = {0};

	(void)state;
	options.signature_n = 1;
	options.gang_size = 50;
	options.bound = 1;
	assert_true(bt_generate(&options, take, &seen));
	assert_true(seen.bound_n > 900);
	assert_int_equal(seen.together_n, seen.kinds[BT_KIND_POD_GROUP]);
}

static void racks_have_gpus_that_some_pods_request(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_RACKS);
	struct seen seen = {0};

	(void)state;
	assert_true(bt_generate(&options, take, &seen));
	assert_int_equal(seen.racked_n, NODE_N);
	assert_true(seen.gpu_n > 0);
}

static void resized_pods_are_bound_and_granted_half(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_RESIZE);
	struct seen seen = {0};

	(void)state;
	options.bound = 0.5;
	assert_true(bt_generate(&options, take, &seen));
	assert_in_range(seen.resized_n, 60, 180); /* a fifth of 600 */
}

static void the_taker_can_stop(void **state)
{
	struct bt_generate_options options = small(BT_PROFILE_BASIC);
	struct seen seen = {.stop_after = 10};

	(void)state;
	assert_false(bt_generate(&options, take, &seen));
	assert_int_equal(seen.kinds[BT_KIND_NAMESPACE] + seen.kinds[BT_KIND_NODE], 10);
}

static void odd_sizes_are_fine(void **state)
{
	static const struct {
		uint32_t node_n, zone_n, signature_n;
		uint64_t pod_n;
	} sizes[] = {{0, 1, 1, 0}, {0, 1, 1, 5}, {1, 1000, 1, 3}, {3, 1, 5000, 2}, {1, 1, 1, 500}};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct bt_generate_options options = {.node_n = sizes[i].node_n,
			.zone_n = sizes[i].zone_n,
			.signature_n = sizes[i].signature_n,
			.pod_n = sizes[i].pod_n,
			.profiles = BT_PROFILE_MIXED,
			.bound = 1};
		struct seen seen = {0};

		assert_true(bt_generate(&options, take, &seen));
		assert_int_equal(seen.kinds[BT_KIND_POD], sizes[i].pod_n);
	}
}

static void profiles_are_a_list_of_names(void **state)
{
	struct bt_str unknown;
	uint32_t profiles = 0;

	(void)state;
	assert_int_equal(bt_profile_parse(bt_str("basic,ports"), &profiles, &unknown), BT_OK);
	assert_int_equal(profiles, BT_PROFILE_BASIC | BT_PROFILE_PORTS);
	assert_int_equal(bt_profile_parse(bt_str("taints,nothing"), &profiles, &unknown), BT_NOT_FOUND);
	assert_true(bt_str_is(unknown, "nothing"));
	assert_int_equal(profiles, BT_PROFILE_BASIC | BT_PROFILE_PORTS);
	assert_int_equal(bt_profile_parse(bt_str("basic,"), &profiles, &unknown), BT_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_as_configured),
		cmocka_unit_test(pods_request_about_nine_tenths_of_the_cpu),
		cmocka_unit_test(the_same_seed_gives_the_same_and_another_does_not),
		cmocka_unit_test(no_node_is_over_committed),
		cmocka_unit_test(the_bound_share_is_as_configured),
		cmocka_unit_test(each_profile_shows),
		cmocka_unit_test(devices_are_written_in_slices_and_each_claim_before_its_pod),
		cmocka_unit_test(every_member_of_a_gang_is_needed_and_there),
		cmocka_unit_test(gangs_with_a_topology_want_a_rack_or_a_zone),
		cmocka_unit_test(with_a_gang_size_every_pod_is_in_a_gang_of_it),
		cmocka_unit_test(gangs_to_be_preempted_are_bound_and_leave_as_one),
		cmocka_unit_test(a_lower_load_makes_pods_request_less),
		cmocka_unit_test(racks_have_gpus_that_some_pods_request),
		cmocka_unit_test(resized_pods_are_bound_and_granted_half),
		cmocka_unit_test(the_taker_can_stop),
		cmocka_unit_test(odd_sizes_are_fine),
		cmocka_unit_test(profiles_are_a_list_of_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
