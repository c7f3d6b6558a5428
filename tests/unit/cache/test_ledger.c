/* SPDX-License-Identifier: Apache-2.0
 * The three sets of pods, and nodes' usage.
 */
#include "object_fixture.h"
#include "seed.h"

#include "engine/base/mem.h"
#include "engine/base/rng.h"

#define ASKS                                                                                                 \
	"containers: [{name: a, resources: {requests: {cpu: 500m, memory: 1Gi, example.com/x: 2}}, ports: "  \
	"[{hostPort: 80}]}]"

static uint32_t two_nodes(struct fixture *f)
{
	uint32_t first = fixture_node(f, "name: n1", "", "allocatable: {cpu: '4', memory: 8Gi, pods: '10'}");

	fixture_node(f, "name: n2", "", "allocatable: {cpu: '4', memory: 8Gi, pods: '10'}");
	return first;
}

static void assert_unused(const struct bt_usage *usage, uint32_t node)
{
	for (uint32_t r = 0; r < BT_FIRST_RARE; r++) {
		assert_int_equal(bt_node_used(usage, r, node), 0);
	}
	assert_int_equal(usage->nodes[node].nonzero_milli_cpu, 0);
	assert_int_equal(usage->nodes[node].nonzero_memory, 0);
	assert_int_equal(usage->nodes[node].pod_n, 0);
	assert_int_equal(usage->ports[node].n, 0);
}

static int64_t used(struct fixture *f, const char *name, uint32_t node)
{
	int slot = bt_resource_find(f->cache->dictionary, bt_str(name));

	assert_true(slot >= BT_FIRST_RARE);
	return bt_node_used(bt_ledger_usage(f->cache->ledger), (uint32_t)slot, node);
}

static void rare_resources_count_like_others(void **state)
{
	struct fixture *f = *state;

	fixture_crowd(f, BT_FIRST_RARE);
	struct bt_ledger *ledger = f->cache->ledger;
	const struct bt_usage *usage = bt_ledger_usage(ledger);
	uint32_t first = two_nodes(f), pod = fixture_pod(f, ASKS), other = fixture_pod(f, ASKS);

	assert_int_equal(used(f, "example.com/x", first), 0);
	bt_ledger_assume(ledger, pod, first);
	bt_ledger_assume(ledger, other, first + 1);
	assert_int_equal(used(f, "example.com/x", first), 2);
	assert_int_equal(used(f, "example.com/x", first + 1), 2);
	bt_ledger_forget(ledger, other);
	bt_ledger_assume(ledger, other, first);
	assert_int_equal(used(f, "example.com/x", first), 4);
	assert_int_equal(used(f, "example.com/x", first + 1), 0);
	assert_int_equal(usage->rare->count, 1);
	/* During a trial the pod counts. */
	bt_ledger_try_begin(ledger, first + 1);
	bt_ledger_try(ledger, pod, first + 1, true);
	assert_int_equal(used(f, "example.com/x", first + 1), 2);
	bt_ledger_try(ledger, pod, first + 1, false);
	bt_ledger_try_end(ledger, first + 1);
	assert_int_equal(used(f, "example.com/x", first + 1), 0);
	bt_ledger_confirm(ledger, pod);
	bt_ledger_remove(ledger, pod);
	bt_ledger_forget(ledger, other);
	assert_int_equal(used(f, "example.com/x", first), 0);
	assert_int_equal(usage->rare->count, 0);
	assert_unused(usage, first);
}

static void unused_rare_resources_take_no_memory(void **state)
{
	struct fixture *f = *state;
	enum { N = 1500 };
	static uint32_t pods[N];
	char text[128];

	fixture_crowd(f, BT_FIRST_RARE);
	uint32_t first = two_nodes(f);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < N; i++) {
			snprintf(text, sizeof(text),
				"nodeName: n%d, containers: [{name: a, resources: {requests: {e.com/r%d: "
				"%d}}}]",
				1 + i % 2, i, i + 1);
			pods[i] = fixture_pod(f, text);
		}
		assert_int_equal(bt_ledger_usage(f->cache->ledger)->rare->count, N);
		for (int i = 0; i < N; i++) {
			snprintf(text, sizeof(text), "e.com/r%d", i);
			assert_int_equal(used(f, text, first + (uint32_t)i % 2), i + 1);
			assert_int_equal(used(f, text, first + 1 - (uint32_t)i % 2), 0);
		}
		for (int i = 0; i < N; i++) {
			bt_ledger_remove(f->cache->ledger, pods[(i * 7) % N]);
		}
		assert_int_equal(bt_ledger_usage(f->cache->ledger)->rare->count, 0);
	}
}

static void an_assumed_pod_counts_until_it_is_forgotten(void **state)
{
	struct fixture *f = *state;
	uint32_t node = two_nodes(f), pod = fixture_pod(f, ASKS);
	const struct bt_usage *usage = bt_ledger_usage(f->cache->ledger);
	uint64_t released = usage->release_n;

	assert_int_equal(bt_ledger_pod(f->cache->ledger, pod)->state, BT_POD_QUEUED);
	assert_unused(usage, node);
	bt_ledger_assume(f->cache->ledger, pod, node);
	assert_int_equal(bt_ledger_pod(f->cache->ledger, pod)->state, BT_POD_ASSUMED);
	assert_int_equal(usage->nodes[node].used[BT_CPU], 500);
	assert_int_equal(usage->nodes[node].pod_n, 1);
	assert_int_equal(usage->ports[node].n, 1);
	assert_int_equal(usage->release_n, released);
	bt_ledger_forget(f->cache->ledger, pod);
	assert_int_equal(bt_ledger_pod(f->cache->ledger, pod)->state, BT_POD_QUEUED);
	assert_int_equal(bt_ledger_pod(f->cache->ledger, pod)->node_ix, BT_NO_NODE);
	assert_unused(usage, node);
	assert_int_equal(usage->release_n, released + 1);
}

static void a_confirmed_pod_counts_until_it_is_removed(void **state)
{
	struct fixture *f = *state;
	uint32_t node = two_nodes(f), pod = fixture_pod(f, ASKS);
	const struct bt_usage *usage = bt_ledger_usage(f->cache->ledger);

	bt_ledger_assume(f->cache->ledger, pod, node);
	bt_ledger_confirm(f->cache->ledger, pod);
	assert_int_equal(bt_ledger_pod(f->cache->ledger, pod)->state, BT_POD_SCHEDULED);
	assert_int_equal(usage->nodes[node].used[BT_CPU], 500);
	bt_ledger_remove(f->cache->ledger, pod);
	assert_unused(usage, node);
	struct bt_ledger_counts counts = bt_ledger_counts(f->cache->ledger);
	assert_int_equal(counts.queued + counts.assumed + counts.scheduled, 0);
	assert_int_equal(counts.assume_n, 1);
	assert_int_equal(counts.confirm_n, 1);
	assert_int_equal(counts.forget_n, 0);
	assert_int_equal(counts.remove_n, 1);
}

static void a_removed_assumption_has_ended(void **state)
{
	struct fixture *f = *state;
	uint32_t node = two_nodes(f), pod = fixture_pod(f, ASKS);

	bt_ledger_assume(f->cache->ledger, pod, node);
	bt_ledger_remove(f->cache->ledger, pod);
	assert_unused(bt_ledger_usage(f->cache->ledger), node);
	assert_int_equal(bt_ledger_counts(f->cache->ledger).assumed, 0);
}

static void a_pod_that_names_its_node_is_scheduled(void **state)
{
	struct fixture *f = *state;
	uint32_t node = two_nodes(f), pod = fixture_pod(f, "nodeName: n1, " ASKS);

	assert_int_equal(bt_ledger_pod(f->cache->ledger, pod)->state, BT_POD_SCHEDULED);
	assert_int_equal(bt_ledger_pod(f->cache->ledger, pod)->node_ix, node);
	assert_int_equal(bt_ledger_usage(f->cache->ledger)->nodes[node].used[BT_MEMORY], INT64_C(1) << 30);
}

static void a_taken_name_is_refused_with_its_owner(void **state)
{
	struct fixture *f = *state;
	uint32_t pod = fixture_pod(f, ASKS), again = BT_NO_POD;

	f->made_n--;
	assert_int_equal(cache_enter_pod(f->cache, fixture_read_pod(f, "containers: []"), &again), BT_EXISTS);
	assert_int_equal(again, pod);
	assert_int_equal(bt_ledger_counts(f->cache->ledger).queued, 1);
	assert_int_equal(
		bt_ledger_find(f->cache->ledger, fixture_name(f, "default"), fixture_name(f, "pod-0")), pod);
	bt_ledger_remove(f->cache->ledger, pod);
	assert_int_equal(
		bt_ledger_find(f->cache->ledger, fixture_name(f, "default"), fixture_name(f, "pod-0")),
		BT_NO_POD);
	f->made_n--;
	assert_int_equal(cache_enter_pod(f->cache, fixture_read_pod(f, ASKS), &again), BT_OK);
}

static void ended_pods_are_not_entered(void **state)
{
	struct fixture *f = *state;
	uint32_t ix;

	assert_int_equal(cache_enter_pod(f->cache,
				 &fixture_read(f, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: "
						  "{nodeName: n1}, status: "
						  "{phase: Succeeded}}")
					  ->pod,
				 &ix),
		BT_OK);
	assert_int_equal(ix, BT_NO_POD);
	assert_int_equal(bt_ledger_pod_end(f->cache->ledger), 0);
}

static void a_port_that_two_pods_hold_is_free_when_one_goes(void **state)
{
	struct fixture *f = *state;
	uint32_t node = two_nodes(f);
	uint32_t a = fixture_pod(f, "nodeName: n1, " ASKS), b = fixture_pod(f, "nodeName: n1, " ASKS);
	const struct bt_usage *usage = bt_ledger_usage(f->cache->ledger);

	assert_int_equal(usage->ports[node].n, 1);
	assert_int_equal(usage->ports[node].items[0].port, 80);
	bt_ledger_remove(f->cache->ledger, a);
	assert_int_equal(usage->ports[node].n, 0);
	bt_ledger_remove(f->cache->ledger, b);
	assert_int_equal(usage->ports[node].n, 0);
}

static void a_trial_leaves_the_ports_of_other_nodes_as_they_are(void **state)
{
	struct fixture *f = *state;
	uint32_t node = two_nodes(f);
	uint32_t a = fixture_pod(f, "nodeName: n1, " ASKS), b = fixture_pod(f, "nodeName: n1, " ASKS);
	struct bt_ledger *ledger = f->cache->ledger;
	const struct bt_usage *usage = bt_ledger_usage(ledger);

	bt_ledger_remove(ledger, a);
	assert_int_equal(usage->ports[node].n, 0);
	bt_ledger_try_begin(ledger, node + 1);
	bt_ledger_try(ledger, b, node, false);
	bt_ledger_try(ledger, b, node, true);
	bt_ledger_try_end(ledger, node + 1);
	assert_int_equal(usage->ports[node].n, 0);
}

static void pods_wait_for_nodes_that_are_not_known_yet(void **state)
{
	struct fixture *f = *state;

	fixture_pod(f, "nodeName: later, " ASKS);
	uint32_t node = fixture_node(f, "name: later", "", "allocatable: {cpu: '4'}");
	assert_int_equal(bt_ledger_usage(f->cache->ledger)->nodes[node].used[BT_CPU], 500);
}

/* Pods on a node have the order of upstream's lists, which decides the victim among equals. */
static void the_last_pod_of_a_node_takes_the_place_of_one_that_goes(void **state)
{
	static const uint32_t removed[] = {1, 4, 3, 0, 2};
	static const char *const left[] = {"0423", "032", "02", "2", ""};
	struct fixture *f = *state;
	uint32_t node = fixture_node(f, "name: n1", "", ""), pods[5];
	char order[8];

	for (int i = 0; i < 5; i++) {
		pods[i] = fixture_pod(f, "nodeName: n1");
	}
	for (int r = 0; r < 5; r++) {
		size_t n = 0;

		bt_ledger_remove(f->cache->ledger, pods[removed[r]]);
		for (uint32_t i = bt_ledger_first_on(f->cache->ledger, node); i != BT_NO_POD;
			i = bt_ledger_next(f->cache->ledger, i)) {
			memmove(order + 1, order, n++);
			order[0] = (char)('0' + (int)(i - pods[0]));
		}
		order[n] = '\0';
		assert_string_equal(order, left[r]);
	}
}

static void usage_survives_the_deletion_and_return_of_a_node(void **state)
{
	struct fixture *f = *state;
	uint32_t node = two_nodes(f);

	fixture_pod(f, "nodeName: n1, " ASKS);
	assert_int_equal(cache_remove_node(f->cache, bt_str("n1")), BT_OK);
	assert_int_equal(cache_remove_node(f->cache, bt_str("n1")), BT_NOT_FOUND);
	assert_int_equal(fixture_node(f, "name: n1", "", "allocatable: {cpu: '4'}"), node);
	assert_int_equal(bt_ledger_usage(f->cache->ledger)->nodes[node].used[BT_CPU], 500);
}

static void each_change_is_in_the_journal(void **state)
{
	struct fixture *f = *state;
	uint32_t node = two_nodes(f), pod = fixture_pod(f, ASKS);
	const struct bt_usage *usage = bt_ledger_usage(f->cache->ledger);
	uint64_t at = usage->journal_end;

	bt_ledger_assume(f->cache->ledger, pod, node + 1);
	assert_int_equal(usage->journal_end, at + 1);
	assert_int_equal(usage->journal[at & usage->journal_mask], node + 1);
	bt_ledger_confirm(f->cache->ledger, pod); /* changes no usage */
	assert_int_equal(usage->journal_end, at + 1);
	bt_ledger_remove(f->cache->ledger, pod);
	assert_int_equal(usage->journal_end, at + 2);
}

/* After any history of assumptions usage is zero, and every assumption has ended. */
static void random_histories_return_to_zero(void **state)
{
	struct fixture *f = *state;
	struct bt_rng rng = {seed_or(11)};
	struct bt_ledger *ledger = f->cache->ledger;
	uint32_t node = two_nodes(f), pods[40];

	for (uint32_t i = 0; i < COUNT_OF(pods); i++) {
		pods[i] = fixture_pod(
			f, i % 2 ? ASKS : "containers: [{name: a, resources: {requests: {memory: 3Mi}}}]");
	}
	for (int i = 0; i < 5000; i++) {
		uint32_t pod = pods[bt_rng_below(&rng, COUNT_OF(pods))];
		enum bt_pod_state now = bt_ledger_pod(ledger, pod)->state;

		if (now == BT_POD_QUEUED) {
			bt_ledger_assume(ledger, pod, node + bt_rng_below(&rng, 2));
		} else if (now == BT_POD_ASSUMED && bt_rng_below(&rng, 20)) {
			bt_ledger_forget(ledger, pod);
		} else if (now == BT_POD_ASSUMED) {
			bt_ledger_confirm(ledger, pod);
		}
	}
	struct bt_ledger_counts counts = bt_ledger_counts(ledger);
	assert_int_equal(counts.queued + counts.assumed + counts.scheduled, COUNT_OF(pods));
	assert_int_equal(counts.assume_n, counts.confirm_n + counts.forget_n + counts.assumed);
	for (uint32_t i = 0; i < COUNT_OF(pods); i++) {
		bt_ledger_remove(ledger, pods[i]);
	}
	assert_unused(bt_ledger_usage(ledger), node);
	assert_unused(bt_ledger_usage(ledger), node + 1);
	counts = bt_ledger_counts(ledger);
	assert_int_equal(counts.queued + counts.assumed + counts.scheduled, 0);
}

static void priorities_without_pods_are_forgotten(void **state)
{
	struct fixture *f = *state;
	struct bt_ledger *ledger = f->cache->ledger;
	uint32_t node = two_nodes(f), stays = fixture_pod(f, ASKS ", priority: 77");
	char spec[128];
	size_t bytes = 0;

	bt_ledger_assume(ledger, stays, node);
	for (int i = 0; i < 4000; i++) {
		if (i == 500) {
			bytes = bt_mem_in_use_bytes();
		}
		snprintf(spec, sizeof(spec), "containers: [{name: a}], priority: %d", 1000 - i);
		uint32_t pod = fixture_pod(f, spec);
		bt_ledger_assume(ledger, pod, node);
		assert_int_equal(bt_ledger_lowest_priority(ledger), 1000 - i < 77 ? 1000 - i : 77);
		bt_ledger_remove(ledger, pod);
		bt_ledger_free_removed(ledger);
		assert_int_equal(bt_ledger_lowest_priority(ledger), 77);
	}
	assert_in_range(bt_mem_in_use_bytes(), 0, bytes + 4096);
}

static void a_priority_without_pods_can_be_used_again(void **state)
{
	struct fixture *f = *state;
	struct bt_ledger *ledger = f->cache->ledger;
	uint32_t node = two_nodes(f), five = fixture_pod(f, "containers: [{name: a}], priority: 5");

	/* A new priority takes over the first one's entry. */
	bt_ledger_remove(ledger, five);
	uint32_t seven = fixture_pod(f, "containers: [{name: a}], priority: 7");
	five = fixture_pod(f, "containers: [{name: a}], priority: 5");
	bt_ledger_assume(ledger, seven, node);
	assert_int_equal(bt_ledger_lowest_priority(ledger), 7);
	bt_ledger_assume(ledger, five, node);
	assert_int_equal(bt_ledger_lowest_priority(ledger), 5);
	/* Several in a row; the first is removed. */
	uint32_t other = fixture_pod(f, "containers: [{name: a}], priority: 5");
	bt_ledger_remove(ledger, five);
	assert_int_equal(bt_ledger_lowest_priority(ledger), 7);
	bt_ledger_assume(ledger, other, node);
	assert_int_equal(bt_ledger_lowest_priority(ledger), 5);
	bt_ledger_remove(ledger, other);
	bt_ledger_remove(ledger, seven);
	assert_int_equal(bt_ledger_lowest_priority(ledger), INT32_MAX);
}

static void gates_and_signatures_go_with_their_pods(void **state)
{
	struct fixture *f = *state;
	const struct bt_intern *intern = f->cache->dictionary->intern;
	uint32_t pod = fixture_pod(f, "containers: [{name: a}], schedulingGates: [{name: g1}, {name: g2}]");
	const uint32_t *ixs;

	assert_str(bt_intern_str(intern, bt_ledger_pod(f->cache->ledger, pod)->gates), "g1 g2");
	bt_ledger_remove(f->cache->ledger, pod);
	/* Until then a cycle or an event may refer to them. */
	assert_int_not_equal(bt_intern_find(intern, bt_str("g1 g2")), BT_NAME_NONE);
	assert_int_equal(bt_signatures_retire(f->cache->signatures, 0, &ixs), 0);
	bt_ledger_free_removed(f->cache->ledger);
	assert_int_equal(bt_intern_find(intern, bt_str("g1 g2")), BT_NAME_NONE);
	assert_int_equal(bt_signatures_retire(f->cache->signatures, 0, &ixs), 1);
	bt_signatures_free_retired(f->cache->signatures);
}

static void pods_are_what_they_were_when_room_is_given_up(void **state)
{
	enum { MANY = 2000 };
	struct fixture *f = *state;
	struct bt_ledger *ledger = f->cache->ledger;
	uint32_t node = two_nodes(f), pods[MANY];

	for (uint32_t i = 0; i < MANY; i++) {
		pods[i] = fixture_pod(f, "containers: [{name: a, resources: {requests: {cpu: 1m}}}]");
		assert_int_equal(pods[i], i);
	}
	bt_ledger_assume(ledger, 3, node);
	bt_ledger_assume(ledger, 77, node);
	for (uint32_t i = 0; i < MANY; i++) {
		if (i != 3 && i != 77) {
			bt_ledger_remove(ledger, i);
		}
	}
	assert_int_equal(bt_ledger_trim_pods(ledger), 78);
	assert_int_equal(bt_ledger_pod_end(ledger), 78);
	assert_false(bt_ledger_has(ledger, 78));
	assert_false(bt_ledger_has(ledger, 5));
	assert_true(bt_ledger_has(ledger, 77));
	assert_int_equal(bt_ledger_first_on(ledger, node), 77);
	assert_int_equal(bt_ledger_next(ledger, 77), 3);
	assert_int_equal(bt_ledger_usage(ledger)->nodes[node].used[BT_CPU], 2);
	/* The lowest indices come first. */
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t wanted = i + (i >= 3) + (i >= 76);

		assert_int_equal(fixture_pod(f, ASKS), wanted);
	}
	assert_int_equal(bt_ledger_pod(ledger, 77)->node_ix, node);
}

static void room_of_nodes_that_have_gone_is_given_up(void **state)
{
	struct fixture *f = *state;
	struct bt_ledger *ledger = f->cache->ledger;
	uint32_t node = two_nodes(f), pod = fixture_pod(f, ASKS);

	bt_ledger_assume(ledger, pod, node);
	bt_ledger_reserve(ledger, 5000);
	bt_ledger_trim_nodes(ledger, 2);
	assert_int_equal(bt_ledger_usage(ledger)->nodes[node].used[BT_CPU], 500);
	assert_int_equal(bt_ledger_first_on(ledger, node), pod);
	bt_ledger_reserve(ledger, 5000);
	for (uint32_t i = 0; i < 5000; i++) {
		if (i != node) {
			assert_unused(bt_ledger_usage(ledger), i);
			assert_false(bt_ledger_keeps(ledger, i));
		}
	}
}

/* A model of a node's list: the last pod takes the place of a removed one. */
static void a_pod_that_gets_another_index_keeps_its_place_on_its_node(void **state)
{
	struct fixture *f = *state;
	enum { N = 60, LEFT = 9 };
	struct bt_ledger *ledger = f->cache->ledger;
	uint32_t node = two_nodes(f), names[N], list_n = 0;
	struct bt_rng rng = {.state = 7};

	for (uint32_t i = 0; i < N; i++) {
		uint32_t pod = fixture_pod(
			f, "nodeName: n1, containers: [{name: a, resources: {requests: {cpu: 1m}}}]");

		assert_int_equal(pod, i);
		names[list_n++] = bt_ledger_pod(ledger, pod)->name;
	}
	uint32_t namespace_ = bt_ledger_pod(ledger, 0)->signature->namespace_;
	while (list_n > LEFT) {
		uint32_t at = bt_rng_below(&rng, list_n);

		bt_ledger_remove(ledger, bt_ledger_find(ledger, namespace_, names[at]));
		names[at] = names[--list_n];
		bool sparse = bt_ledger_is_sparse(ledger);
		assert_true(sparse || list_n >= bt_ledger_pod_end(ledger) / 2);
		uint32_t last = bt_ledger_last_pod(ledger, UINT32_MAX);
		if (sparse && last != BT_NO_POD) {
			uint32_t name = bt_ledger_pod(ledger, last)->name;
			uint32_t to = bt_ledger_move_pod(ledger, last);

			assert_true(to < last);
			assert_false(bt_ledger_has(ledger, last));
			assert_int_equal(bt_ledger_find(ledger, namespace_, name), to);
			assert_true(bt_ledger_trim_pods(ledger) <= last);
		}
		uint32_t pod = bt_ledger_first_on(ledger, node);
		for (uint32_t i = list_n; i-- > 0; pod = bt_ledger_next(ledger, pod)) {
			assert_int_equal(bt_ledger_pod(ledger, pod)->name, names[i]);
		}
		assert_int_equal(pod, BT_NO_POD);
		assert_int_equal(bt_ledger_usage(ledger)->nodes[node].pod_n, list_n);
	}
	assert_int_equal(bt_ledger_counts(ledger).scheduled, LEFT);
	for (uint32_t i = 0; i < LEFT; i++) {
		bt_ledger_remove(ledger, bt_ledger_find(ledger, namespace_, names[i]));
	}
	assert_unused(bt_ledger_usage(ledger), node);
}

/* Names of pods in the order of upstream's list of their node, and their requests. */
struct listed {
	uint32_t names[40], n;
	int64_t milli_cpu;
};

static void assert_listed(const struct bt_ledger *ledger, uint32_t node, const struct listed *want)
{
	uint32_t pod = bt_ledger_first_on(ledger, node);

	for (uint32_t i = want->n; i-- > 0; pod = bt_ledger_next(ledger, pod)) {
		assert_int_not_equal(pod, BT_NO_POD);
		assert_int_equal(bt_ledger_pod(ledger, pod)->name, want->names[i]);
	}
	assert_int_equal(pod, BT_NO_POD);
	assert_int_equal(bt_ledger_usage(ledger)->nodes[node].pod_n, want->n);
	assert_int_equal(bt_ledger_usage(ledger)->nodes[node].used[BT_CPU], want->milli_cpu);
}

static void unlist(struct listed *l, uint32_t name, int64_t milli_cpu)
{
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->names[i] == name) {
			l->names[i] = l->names[--l->n];
			l->milli_cpu -= milli_cpu;
			return;
		}
	}
	fail();
}

/* Adds a pod to the node, changes or removes it. small and large: variants of the pod on the node. */
static void change_any(struct bt_ledger *ledger, struct bt_rng *rng, uint32_t name,
	const struct bt_pod sizes[2], struct listed *now)
{
	uint32_t pod = bt_ledger_find(ledger, sizes[0].signature->namespace_, name);
	int64_t had = 0, gets = bt_rng_below(rng, 2);
	struct bt_pod fresh = sizes[gets];

	fresh.name = name;
	if (pod != BT_NO_POD) {
		had = bt_ledger_pod(ledger, pod)->signature == sizes[0].signature ? 1 : 2;
		unlist(now, name, had);
	}
	if (pod == BT_NO_POD) {
		assert_int_equal(bt_ledger_add(ledger, &fresh, &pod), BT_OK);
	} else if (bt_rng_below(rng, 2)) {
		bt_ledger_replace(ledger, pod, &fresh);
	} else {
		bt_ledger_remove(ledger, pod);
		return;
	}
	now->names[now->n++] = name;
	now->milli_cpu += gets + 1;
}

static void frozen_nodes_stay_as_they_are_and_then_catch_up_in_order(void **state)
{
	struct fixture *f = *state;
	struct bt_rng rng = {seed_or(15)};
	struct bt_ledger *ledger = f->cache->ledger;
	uint32_t node = two_nodes(f);
	struct listed now = {.n = 0}, then;
	struct bt_pod sizes[2];

	for (int i = 0; i < 2; i++) {
		uint32_t pod =
			fixture_pod(f, i ? "containers: [{name: a, resources: {requests: {cpu: 2m}}}]"
					 : "containers: [{name: a, resources: {requests: {cpu: 1m}}}]");

		sizes[i] = *bt_ledger_pod(ledger, pod);
		sizes[i].node_ix = node;
	}
	for (int round = 0; round < 400; round++) {
		then = now;
		if (round % 2) {
			bt_ledger_freeze(ledger);
		}
		for (uint32_t i = bt_rng_below(&rng, 12); i > 0; i--) {
			char name[16];

			snprintf(name, sizeof(name), "any-%" PRIu32, bt_rng_below(&rng, 20));
			change_any(ledger, &rng, fixture_name(f, name), sizes, &now);
			assert_listed(ledger, node, round % 2 ? &then : &now);
		}
		bt_ledger_thaw(ledger);
		assert_listed(ledger, node, &now);
		assert_int_equal(bt_ledger_counts(ledger).scheduled, now.n);
	}
}

static void a_pod_of_a_frozen_node_is_found_as_it_is_now(void **state)
{
	struct fixture *f = *state;
	struct bt_ledger *ledger = f->cache->ledger;
	uint32_t node = two_nodes(f), changes = fixture_pod(f, "nodeName: n1, priority: 3");
	uint32_t goes = fixture_pod(f, "nodeName: n1, priority: 4"), stays = fixture_pod(f, "nodeName: n1");
	struct bt_pod other = *bt_ledger_pod(ledger, changes);

	bt_ledger_freeze(ledger);
	other.priority = 9;
	bt_ledger_replace(ledger, changes, &other);
	bt_ledger_remove(ledger, goes);
	uint32_t last = bt_ledger_first_on(ledger, node), middle = bt_ledger_next(ledger, last),
		 first = bt_ledger_next(ledger, middle);
	assert_int_equal(last, stays);
	assert_int_equal(bt_ledger_now(ledger, last), stays);
	assert_int_equal(bt_ledger_pod(ledger, middle)->priority, 4);
	assert_int_equal(bt_ledger_now(ledger, middle), BT_NO_POD);
	assert_int_equal(bt_ledger_pod(ledger, first)->priority, 3);
	assert_int_equal(bt_ledger_now(ledger, first), changes);
	assert_int_equal(bt_ledger_pod(ledger, changes)->priority, 9);
	bt_ledger_keep(ledger, middle);
	bt_ledger_thaw(ledger);
	assert_false(bt_ledger_has(ledger, first));
	assert_true(bt_ledger_pod(ledger, middle)->detached);
	bt_ledger_remove(ledger, middle);
	assert_int_equal(bt_ledger_first_on(ledger, node), changes);
	assert_int_equal(bt_ledger_counts(ledger).queued, 0);
	assert_int_equal(bt_ledger_counts(ledger).scheduled, 2);
}

static void a_pod_of_a_frozen_node_begins_to_be_preempted_at_the_thaw(void **state)
{
	struct fixture *f = *state;
	struct bt_ledger *ledger = f->cache->ledger;
	uint32_t node = two_nodes(f), scheduled = fixture_pod(f, "nodeName: n1"),
		 assumed = fixture_pod(f, "");

	bt_ledger_assume(ledger, assumed, node);
	bt_ledger_freeze(ledger);
	bt_ledger_set_preempted(ledger, scheduled);
	bt_ledger_set_preempted(ledger, assumed);
	for (uint32_t ix = bt_ledger_first_on(ledger, node); ix != BT_NO_POD;
		ix = bt_ledger_next(ledger, ix)) {
		assert_false(bt_ledger_pod(ledger, ix)->terminating || bt_ledger_pod(ledger, ix)->preempted);
	}
	bt_ledger_thaw(ledger);
	assert_int_equal(bt_ledger_pod(ledger, assumed)->state, BT_POD_ASSUMED);
	assert_int_equal(bt_ledger_pod(ledger, scheduled)->state, BT_POD_SCHEDULED);
	for (uint32_t ix = bt_ledger_first_on(ledger, node); ix != BT_NO_POD;
		ix = bt_ledger_next(ledger, ix)) {
		assert_true(bt_ledger_pod(ledger, ix)->terminating && bt_ledger_pod(ledger, ix)->preempted);
	}
	assert_int_equal(bt_ledger_usage(ledger)->nodes[node].pod_n, 2);
}

static void a_lifted_pod_counts_nowhere_until_it_is_put_back(void **state)
{
	struct fixture *f = *state;
	struct bt_ledger *ledger = f->cache->ledger;
	const struct bt_usage *usage = bt_ledger_usage(ledger);
	uint32_t node = two_nodes(f),
		 low = fixture_pod(f,
			 "nodeName: n1, containers: [{name: a, ports: [{hostPort: 80}, {hostPort: "
			 "81}], resources: {requests: {cpu: '1'}}}]"),
		 last = fixture_pod(f, "nodeName: n1, containers: [{name: a, ports: [{hostPort: 80}]}]");
	uint64_t journal_end = usage->journal_end;

	bt_ledger_lift(ledger, low);
	assert_int_equal(usage->nodes[node].pod_n, 1);
	assert_int_equal(bt_node_used(usage, BT_CPU, node), 0);
	assert_int_equal(usage->ports[node].n, 0); /* a port is free after the removal of one of its pods */
	assert_int_equal(usage->journal_end, journal_end + 1);
	assert_int_equal(bt_ledger_first_on(ledger, node), last);
	assert_int_equal(bt_ledger_next(ledger, last), low);
	bt_ledger_lift(ledger, last);
	bt_ledger_put_back(ledger, low);
	bt_ledger_put_back(ledger, last);
	bt_ledger_lift_end(ledger);
	assert_int_equal(usage->nodes[node].pod_n, 2);
	assert_int_equal(bt_node_used(usage, BT_CPU, node), 1000);
	assert_int_equal(usage->ports[node].n, 2);
	assert_int_equal(bt_ledger_first_on(ledger, node), last);
}

/* Counters initially have room for 64 pods; set-aside pods come on top. */
static void pods_that_are_set_apart_are_counted_beyond_the_first_room(void **state)
{
	struct fixture *f = *state;
	struct bt_ledger *ledger = f->cache->ledger;
	enum { N = 64 };
	uint32_t node = two_nodes(f), pods[N];

	for (int i = 0; i < N; i++) {
		pods[i] = fixture_pod(f, "nodeName: n1");
	}
	bt_ledger_freeze(ledger);
	bt_ledger_remove(ledger, pods[0]);
	assert_true(bt_ledger_pod_end(ledger) > N);
	bt_ledger_thaw(ledger);
	assert_int_equal(bt_ledger_counts(ledger).scheduled, N - 1);
	assert_int_equal(bt_ledger_usage(ledger)->nodes[node].pod_n, N - 1);
}

/* Each is found by its index. */
static void thousands_of_pods_change_while_nodes_are_frozen(void **state)
{
	struct fixture *f = *state;
	struct bt_ledger *ledger = f->cache->ledger;
	enum { N = 20000 };
	uint32_t node = two_nodes(f), first = fixture_pod(f, "nodeName: n1"), pods[N];
	struct bt_pod pod = *bt_ledger_pod(ledger, first);
	uint32_t listed = 0;

	for (uint32_t i = 0; i < N; i++) {
		char name[16];

		snprintf(name, sizeof(name), "many-%" PRIu32, i);
		pod.name = fixture_name(f, name);
		assert_int_equal(bt_ledger_add(ledger, &pod, &pods[i]), BT_OK);
	}
	bt_ledger_freeze(ledger);
	for (uint32_t i = 0; i < N; i++) {
		pod = *bt_ledger_pod(ledger, pods[i]);
		bt_ledger_replace(ledger, pods[i], &pod);
		bt_ledger_replace(ledger, pods[i], &pod);
		if (i % 2) {
			bt_ledger_remove(ledger, pods[i]);
		}
	}
	for (uint32_t ix = bt_ledger_first_on(ledger, node); ix != BT_NO_POD;
		ix = bt_ledger_next(ledger, ix)) {
		uint32_t i = N - 1 - listed++;

		assert_int_equal(bt_ledger_now(ledger, ix), i >= N ? first : i % 2 ? BT_NO_POD : pods[i]);
	}
	assert_int_equal(listed, N + 1);
	bt_ledger_thaw(ledger);
	assert_int_equal(bt_ledger_counts(ledger).scheduled, N / 2 + 1);
	assert_int_equal(bt_ledger_usage(ledger)->nodes[node].pod_n, N / 2 + 1);
}

/* The list of the node, newest first. */
static void assert_list(const struct bt_ledger *ledger, uint32_t at, const uint32_t *want, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++, at = bt_ledger_next(ledger, at)) {
		assert_int_equal(at, want[i]);
	}
	assert_int_equal(at, BT_NO_POD);
}

static void a_withdrawn_pod_is_in_no_list_and_gets_its_place_back(void **state)
{
	struct fixture *f = *state;
	struct bt_ledger *ledger = f->cache->ledger;
	struct bt_port_list ports = {0};
	uint32_t node = two_nodes(f), pods[3], newest[3];

	for (uint32_t i = 0; i < 3; i++) {
		pods[i] = fixture_pod(f, ASKS);
		bt_ledger_assume(ledger, pods[i], node);
	}
	int64_t cpu = bt_node_used(bt_ledger_usage(ledger), BT_CPU, node);
	bt_ledger_save_ports(ledger, node, &ports);
	newest[0] = bt_ledger_withdraw(ledger, pods[0]);
	assert_list(ledger, bt_ledger_first_on(ledger, node), (uint32_t[]){pods[1], pods[2]}, 2);
	newest[1] = bt_ledger_withdraw(ledger, pods[1]);
	newest[2] = bt_ledger_withdraw(ledger, pods[2]);
	assert_unused(bt_ledger_usage(ledger), node);
	assert_int_equal(bt_ledger_lowest_priority(ledger), INT32_MAX);
	for (uint32_t i = 3; i-- > 0;) {
		bt_ledger_reinstate(ledger, pods[i], newest[i]);
	}
	bt_ledger_restore_ports(ledger, node, &ports);
	assert_list(ledger, bt_ledger_first_on(ledger, node), (uint32_t[]){pods[2], pods[1], pods[0]}, 3);
	assert_int_equal(bt_node_used(bt_ledger_usage(ledger), BT_CPU, node), cpu);
	assert_int_equal(bt_ledger_usage(ledger)->ports[node].n, ports.n);
	/* As a new one. */
	bt_ledger_withdraw(ledger, pods[0]);
	bt_ledger_reinstate(ledger, pods[0], pods[0]);
	assert_list(ledger, bt_ledger_first_on(ledger, node), (uint32_t[]){pods[0], pods[1], pods[2]}, 3);
	bt_mem_free(ports.items);
}

static void a_pod_is_nominated_again_at_its_place(void **state)
{
	struct fixture *f = *state;
	struct bt_ledger *ledger = f->cache->ledger;
	uint32_t node = two_nodes(f), pods[3];

	for (uint32_t i = 0; i < 3; i++) {
		pods[i] = fixture_pod(f, ASKS);
		bt_ledger_nominate(ledger, pods[i], node);
	}
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t before = bt_ledger_previous(ledger, pods[i]);

		bt_ledger_assume(ledger, pods[i], node);
		bt_ledger_forget(ledger, pods[i]);
		bt_ledger_nominate_behind(ledger, pods[i], node, before);
		assert_list(ledger, bt_ledger_first_nominated(ledger, node),
			(uint32_t[]){pods[2], pods[1], pods[0]}, 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(an_assumed_pod_counts_until_it_is_forgotten),
		FIXTURE_TEST(rare_resources_count_like_others),
		FIXTURE_TEST(unused_rare_resources_take_no_memory),
		FIXTURE_TEST(a_confirmed_pod_counts_until_it_is_removed),
		FIXTURE_TEST(a_removed_assumption_has_ended),
		FIXTURE_TEST(a_pod_that_names_its_node_is_scheduled),
		FIXTURE_TEST(a_taken_name_is_refused_with_its_owner),
		FIXTURE_TEST(ended_pods_are_not_entered),
		FIXTURE_TEST(a_port_that_two_pods_hold_is_free_when_one_goes),
		FIXTURE_TEST(a_trial_leaves_the_ports_of_other_nodes_as_they_are),
		FIXTURE_TEST(pods_wait_for_nodes_that_are_not_known_yet),
		FIXTURE_TEST(the_last_pod_of_a_node_takes_the_place_of_one_that_goes),
		FIXTURE_TEST(usage_survives_the_deletion_and_return_of_a_node),
		FIXTURE_TEST(each_change_is_in_the_journal),
		FIXTURE_TEST(random_histories_return_to_zero),
		FIXTURE_TEST(priorities_without_pods_are_forgotten),
		FIXTURE_TEST(a_priority_without_pods_can_be_used_again),
		FIXTURE_TEST(gates_and_signatures_go_with_their_pods),
		FIXTURE_TEST(pods_are_what_they_were_when_room_is_given_up),
		FIXTURE_TEST(a_pod_that_gets_another_index_keeps_its_place_on_its_node),
		FIXTURE_TEST(room_of_nodes_that_have_gone_is_given_up),
		FIXTURE_TEST(frozen_nodes_stay_as_they_are_and_then_catch_up_in_order),
		FIXTURE_TEST(a_pod_of_a_frozen_node_is_found_as_it_is_now),
		FIXTURE_TEST(a_pod_of_a_frozen_node_begins_to_be_preempted_at_the_thaw),
		FIXTURE_TEST(a_lifted_pod_counts_nowhere_until_it_is_put_back),
		FIXTURE_TEST(a_withdrawn_pod_is_in_no_list_and_gets_its_place_back),
		FIXTURE_TEST(a_pod_is_nominated_again_at_its_place),
		FIXTURE_TEST(pods_that_are_set_apart_are_counted_beyond_the_first_room),
		FIXTURE_TEST(thousands_of_pods_change_while_nodes_are_frozen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
