/* SPDX-License-Identifier: Apache-2.0
 * Nodes that stay when most others are deleted move to low slots. Pods on them, nominations and counters are
 * unchanged.
 */
#include "trial.h"

enum { MANY = 12 };

static const struct bt_cache *cache_of(const struct trial *t)
{
	return bt_engine_cache(t->engine);
}

static uint32_t slot_of(const struct trial *t, const char *node)
{
	const struct bt_cache *cache = cache_of(t);

	return bt_snapshot_find(cache->snapshot, bt_intern_find(cache->dictionary->intern, bt_str(node)));
}

static uint64_t move_n(const struct trial *t)
{
	return bt_engine_counts(t->engine).node_move_n;
}

static void remove_node(struct trial *t, const char *name)
{
	assert_int_equal(bt_engine_remove_node(t->engine, bt_str(name)), BT_OK);
}

/* The nodes of add_labeled_nodes. */
static struct trial begin_with_nodes(void **state, uint32_t n)
{
	struct trial t = begin(state);

	add_labeled_nodes(&t, n);
	return t;
}

/* Deletes all nodes but the last ones, and makes changes as long as nodes move. */
static void leave_last(struct trial *t, uint32_t n, uint32_t last_n)
{
	char name[16];

	for (uint32_t i = 0; i + last_n < n; i++) {
		remove_node(t, numbered(name, sizeof(name), "n", i));
	}
	for (uint64_t before = move_n(t) + 1; before != move_n(t);) {
		before = move_n(t);
		bt_engine_remove_pod(t->engine, add_pod(t, "name: event", CPU("9"), ""));
	}
}

static void the_nodes_that_stay_get_the_lowest_slots(void **state)
{
	struct trial t = begin_with_nodes(state, 600);
	const struct bt_snapshot *s = cache_of(&t)->view.snapshot;
	uint32_t pod = add_pod(&t, "name: p", "nodeName: n598, " CPU("1"), "");
	char name[16];

	leave_last(&t, 600, 3);
	assert_int_equal(s->node_n, 3);
	/* The nodes deleted last may still have slots. */
	assert_in_range(s->slot_n, 3, 3 + 3);
	for (uint32_t i = 597; i < 600; i++) {
		uint32_t slot = slot_of(&t, numbered(name, sizeof(name), "n", i));

		assert_in_range(slot, 0, s->slot_n - 1);
		assert_int_equal(s->rooms[slot].alloc[BT_CPU], 4000);
		assert_int_equal(s->rooms[slot].pods, 10);
		assert_true(bt_bitmap_test(s->live, slot));
		assert_int_equal(cache_of(&t)->view.usage->nodes[slot].pod_n, i == 598);
		assert_string_equal(
			bt_intern_str(cache_of(&t)->dictionary->intern, s->nodes[slot].name).ptr, name);
	}
	assert_int_equal(bt_ledger_pod(cache_of(&t)->ledger, pod)->node_ix, slot_of(&t, "n598"));
	end(&t);
}

static void nodes_stay_where_they_are_as_long_as_half_of_them_are_there(void **state)
{
	struct trial t = begin_with_nodes(state, MANY);

	leave_last(&t, MANY, MANY / 2);
	assert_int_equal(move_n(&t), 0);
	assert_int_equal(slot_of(&t, "n11"), 11);
	end(&t);
}

static void a_few_nodes_are_moved_at_a_time(void **state)
{
	struct trial t = begin_with_nodes(state, 300);
	char name[16];
	uint64_t before = 0, most = 0;

	for (uint32_t i = 0; i < 290; i++) {
		remove_node(&t, numbered(name, sizeof(name), "n", i));
		most = move_n(&t) - before > most ? move_n(&t) - before : most;
		before = move_n(&t);
	}
	assert_in_range(most, 1, 8);
	assert_in_range(cache_of(&t)->view.snapshot->slot_n, 10, 40);
	end(&t);
}

/* Checks the amount of a rare resource that a node has, and its use. */
static void assert_rare(const struct trial *t, const char *name, uint32_t slot, int64_t alloc, int64_t used)
{
	const struct bt_view *view = &cache_of(t)->view;
	int r = bt_resource_find(cache_of(t)->dictionary, bt_str(name));

	assert_true(r >= BT_FIRST_RARE);
	assert_int_equal(bt_node_alloc(view->snapshot, (uint32_t)r, slot), alloc);
	assert_int_equal(bt_node_used(view->usage, (uint32_t)r, slot), used);
}

static void rare_resources_move_with_their_node(void **state)
{
	uint32_t slot;

	bt_resource_prefill(BT_FIRST_RARE);
	struct trial t = begin_with_nodes(state, MANY);
	bt_resource_prefill(0);
	const struct bt_object *rich =
		read(&t, "{apiVersion: v1, kind: Node, metadata: {name: %s}, status: {allocatable: {%s}}}",
			"n11", "cpu: '4', memory: 8Gi, pods: '10', e.com/a: '7', e.com/b: '5'");
	assert_int_equal(bt_engine_apply_node(t.engine, &rich->node, &slot), BT_OK);
	for (int i = 0; i < 2; i++) {
		add_pod(&t, i ? "name: q" : "name: p",
			"nodeName: n11, containers: [{name: a, resources: {requests: {e.com/a: '2', e.com/b: "
			"'1', "
			"e.com/none: '9'}}}]",
			"");
	}
	assert_rare(&t, "e.com/a", 11, 7, 4);
	leave_last(&t, MANY, 1);
	slot = slot_of(&t, "n11");
	assert_int_equal(slot, 0);
	assert_rare(&t, "e.com/a", 0, 7, 4);
	assert_rare(&t, "e.com/b", 0, 5, 2);
	assert_rare(&t, "e.com/none", 0, 0, 18);
	assert_int_equal(cache_of(&t)->view.usage->rare->count, 3);
	uint32_t fits = add_pod(
		&t, "name: fits", "containers: [{name: a, resources: {requests: {e.com/a: '3'}}}]", "");
	assert_int_equal(decide(&t, fits).outcome, BT_PLACED);
	uint32_t late = add_pod(
		&t, "name: late", "containers: [{name: a, resources: {requests: {e.com/a: '1'}}}]", "");
	assert_int_equal(decide(&t, late).outcome, BT_REFUSED);
	assert_rare(&t, "e.com/a", 0, 7, 7);
	end(&t);
}

static void usage_and_ports_move_with_their_node(void **state)
{
	struct trial t = begin_with_nodes(state, MANY);
	const struct bt_usage *usage = cache_of(&t)->view.usage;
	uint32_t first = add_pod(&t, "name: first",
		"nodeName: n11, containers: [{name: a, ports: [{containerPort: 80, hostPort: 80}], "
		"resources: {requests: {cpu: '3', memory: 1Gi}}}]",
		"");
	uint32_t second = add_pod(&t, "name: second", "nodeName: n11, " CPU("500m"), "");

	leave_last(&t, MANY, 1);
	uint32_t slot = slot_of(&t, "n11");
	assert_int_equal(slot, 0);
	assert_int_equal(usage->nodes[slot].used[BT_CPU], 3500);
	assert_int_equal(usage->nodes[11].used[BT_CPU], 0);
	assert_int_equal(usage->nodes[slot].pod_n, 2);
	assert_int_equal(usage->ports[slot].n, 1);
	/* As always, the latest come first. */
	assert_int_equal(bt_ledger_first_on(cache_of(&t)->ledger, slot), second);
	assert_int_equal(bt_ledger_next(cache_of(&t)->ledger, second), first);
	uint32_t port = add_pod(
		&t, "name: port", "containers: [{name: a, ports: [{containerPort: 80, hostPort: 80}]}]", "");
	assert_int_equal(decide(&t, port).outcome, BT_REFUSED);
	uint32_t large = add_pod(&t, "name: large", CPU("1"), "");
	assert_int_equal(decide(&t, large).outcome, BT_REFUSED);
	bt_engine_remove_pod(t.engine, first);
	assert_int_equal(usage->nodes[slot].used[BT_CPU], 500);
	assert_int_equal(usage->ports[slot].n, 0);
	assert_int_not_equal(bt_engine_pop(t.engine), BT_NO_POD);
	end(&t);
}

static void nominations_move_with_their_node(void **state)
{
	struct trial t = begin_with_nodes(state, MANY);
	const struct bt_ledger *ledger = cache_of(&t)->ledger;
	uint32_t pod = add_pod(&t, "name: p", "priority: 7, " CPU("3"), "nominatedNodeName: n11");
	/* It is gated: its nomination does not count yet. */
	uint32_t gated =
		add_pod(&t, "name: g", "schedulingGates: [{name: x}], " CPU("1"), "nominatedNodeName: n10");
	assert_int_equal(bt_ledger_pod(ledger, pod)->nominated_ix, 11);
	assert_int_equal(bt_ledger_pod(ledger, gated)->status_ix, 10);

	leave_last(&t, MANY, 2);
	assert_true(move_n(&t) > 1);
	assert_int_equal(bt_ledger_pod(ledger, pod)->nominated_ix, slot_of(&t, "n11"));
	assert_int_equal(bt_ledger_pod(ledger, pod)->status_ix, slot_of(&t, "n11"));
	assert_int_equal(bt_ledger_pod(ledger, gated)->status_ix, slot_of(&t, "n10"));
	assert_int_equal(bt_ledger_first_nominated(ledger, slot_of(&t, "n11")), pod);
	/* It tries its nominated node first, and gets it. */
	struct bt_decision decision = decide(&t, pod);
	assert_int_equal(decision.outcome, BT_PLACED);
	assert_int_equal(decision.node_ix, slot_of(&t, "n11"));
	bt_engine_remove_pod(t.engine, pod);
	bt_engine_remove_pod(t.engine, gated);
	assert_false(bt_ledger_keeps(ledger, slot_of(&t, "n10")));
	assert_false(bt_ledger_keeps(ledger, slot_of(&t, "n11")));
	end(&t);
}

#define APART                                                                                                \
	"affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: "     \
	"{matchLabels: {app: x}}, topologyKey: kubernetes.io/hostname}]}}, " CPU("1")
#define SPREAD                                                                                               \
	"topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, topologyKey: "           \
	"topology.kubernetes.io/zone, labelSelector: {matchLabels: {tier: web}}}], " CPU("100m")

static void counters_move_with_their_node(void **state)
{
	struct trial t = begin_with_nodes(state, MANY);
	uint32_t there = add_pod(&t, "name: a, labels: {app: x}", "nodeName: n11, " CPU("1"), "");

	for (uint32_t i = 0; i < 2; i++) {
		char meta[64];

		snprintf(meta, sizeof(meta), "name: s%" PRIu32 ", labels: {tier: web}", i);
		add_pod(&t, meta, "nodeName: n11, " CPU("100m"), "");
	}
	/* So that counters exist before the nodes move. */
	uint32_t before = add_pod(&t, "name: b, labels: {app: x}", APART, "");
	assert_int_equal(decide(&t, before).outcome, BT_PLACED);
	uint32_t even = add_pod(&t, "name: e, labels: {tier: web}", SPREAD, "");
	assert_int_equal(decide(&t, even).outcome, BT_PLACED);
	bt_engine_remove_pod(t.engine, before);
	bt_engine_remove_pod(t.engine, even);
	leave_last(&t, MANY, 2);
	assert_true(move_n(&t) > 1);
	/* n10 is in zone z0, n11 in z1. */
	uint32_t one = add_pod(&t, "name: one, labels: {app: x}", APART, "");
	assert_int_equal(decide(&t, one).node_ix, slot_of(&t, "n10"));
	uint32_t two = add_pod(&t, "name: two, labels: {app: x}", APART, "");
	assert_int_equal(decide(&t, two).outcome, BT_REFUSED);
	for (uint32_t i = 0; i < 3; i++) {
		char meta[64];

		snprintf(meta, sizeof(meta), "name: y%" PRIu32 ", labels: {tier: web}", i);
		assert_int_equal(decide(&t, add_pod(&t, meta, SPREAD, "")).node_ix, slot_of(&t, "n10"));
	}
	bt_engine_remove_pod(t.engine, there);
	assert_int_equal(bt_engine_take(t.engine, two), BT_OK);
	struct bt_decision decision;
	bt_engine_decide(t.engine, two, &decision);
	assert_int_equal(decision.node_ix, slot_of(&t, "n11"));
	end(&t);
}

static void apply(struct trial *t, const char *yaml)
{
	engine_apply(t->engine, t->f, yaml);
}

/* A claim with a volume of a driver with a limit of one per node. */
static void add_claim(struct trial *t, const char *name, const char *mode)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: default, name: %s, uid: "
		"u-%s, "
		"annotations: {pv.kubernetes.io/bind-completed: 'yes'}}, spec: {volumeMode: Filesystem, "
		"accessModes: [%s], volumeName: v-%s}, status: {phase: Bound}}",
		name, name, mode, name);
	apply(t, text);
	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: PersistentVolume, metadata: {name: v-%s}, spec: {volumeMode: "
		"Filesystem, "
		"accessModes: [%s], csi: {driver: d, volumeHandle: h-%s}, claimRef: {namespace: default, "
		"name: %s, "
		"uid: u-%s}}, status: {phase: Bound}}",
		name, mode, name, name, name);
	apply(t, text);
}

#define USES(name)                                                                                           \
	"containers: [{name: a}], volumes: [{name: v, persistentVolumeClaim: {claimName: " name "}}]"

static void volumes_move_with_their_node(void **state)
{
	struct trial t = begin_with_nodes(state, MANY);

	apply(&t, "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n11}, spec: {drivers: "
		  "[{name: d, "
		  "nodeID: x, allocatable: {count: 1}}]}}");
	add_claim(&t, "a", "ReadWriteOncePod");
	add_claim(&t, "b", "ReadWriteOnce");
	uint32_t user = add_pod(&t, "name: user", "nodeName: n11, " USES("a"), "");
	/* The node's attachments are computed before it moves. */
	uint32_t early =
		add_pod(&t, "name: early", "nodeSelector: {kubernetes.io/hostname: n11}, " USES("b"), "");
	assert_int_equal(decide(&t, early).outcome, BT_REFUSED);
	leave_last(&t, MANY, 1);
	assert_int_equal(slot_of(&t, "n11"), 0);
	uint32_t late = add_pod(&t, "name: late", USES("b"), "");
	struct bt_decision decision;
	assert_int_equal(bt_engine_take(t.engine, late), BT_OK);
	bt_engine_decide(t.engine, late, &decision);
	assert_int_equal(decision.outcome, BT_REFUSED);
	assert_non_null(strstr(message(&t, late), "exceed max volume count"));
	/* A claim for a single pod is in use there. */
	uint32_t same = add_pod(&t, "name: same", USES("a"), "");
	assert_non_null(strstr(message(&t, same), "ReadWriteOncePod"));
	bt_engine_remove_pod(t.engine, user);
	assert_int_equal(bt_engine_take(t.engine, same), BT_OK);
	bt_engine_decide(t.engine, same, &decision);
	assert_int_equal(decision.outcome, BT_PLACED);
	assert_int_equal(decision.node_ix, 0);
	end(&t);
}

/* The results of a cycle refer to slots. */
static void no_node_moves_during_a_cycle(void **state)
{
	struct trial t = begin_with_nodes(state, MANY);
	uint32_t pod = add_pod(&t, "name: p", "nodeSelector: {kubernetes.io/hostname: n11}, " CPU("1"), "");
	struct bt_decision decision;

	assert_int_equal(bt_engine_pop(t.engine), pod);
	bt_engine_begin(t.engine, pod, &decision);
	leave_last(&t, MANY, 2);
	assert_int_equal(move_n(&t), 0);
	bt_engine_end(t.engine, &decision);
	assert_int_equal(decision.outcome, BT_PLACED);
	assert_int_equal(decision.node_ix, 11);
	bt_engine_remove_pod(t.engine, add_pod(&t, "name: event", CPU("9"), ""));
	bt_engine_remove_pod(t.engine, add_pod(&t, "name: event", CPU("9"), ""));
	assert_true(move_n(&t) > 0);
	assert_int_equal(bt_ledger_pod(cache_of(&t)->ledger, pod)->node_ix, slot_of(&t, "n11"));
	end(&t);
}

static void a_move_wakes_no_waiter(void **state)
{
	struct trial t = begin_with_nodes(state, MANY);
	uint32_t pod = add_pod(&t, "name: p", CPU("5"), "");

	assert_int_equal(decide(&t, pod).outcome, BT_REFUSED);
	leave_last(&t, MANY, 2);
	assert_true(move_n(&t) > 1);
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	end(&t);
}

/* Nodes are deleted first and their pods later, as by the pod garbage collector. */
static void slots_are_looked_at_again_when_the_pods_on_them_have_gone(void **state)
{
	struct trial t = begin_with_nodes(state, 400);
	const struct bt_snapshot *s = cache_of(&t)->view.snapshot;
	char name[32], spec[128];

	for (uint32_t i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "name: p%" PRIu32, i);
		snprintf(spec, sizeof(spec), "nodeName: n%" PRIu32 ", " CPU("1"), i);
		add_pod(&t, name, spec, "");
	}
	for (uint32_t i = 0; i < 396; i++) {
		remove_node(&t, numbered(name, sizeof(name), "n", i));
	}
	assert_int_equal(s->slot_n, 400);
	for (uint32_t i = 0; i < 396; i++) {
		assert_int_equal(bt_engine_delete_object(t.engine, BT_KIND_POD, bt_str("default"),
					 bt_str(numbered(name, sizeof(name), "p", i))),
			BT_OK);
	}
	assert_in_range(s->slot_n, 4, 20);
	for (uint32_t i = 396; i < 400; i++) {
		numbered(name, sizeof(name), "n", i);
		assert_int_equal(cache_of(&t)->view.usage->nodes[slot_of(&t, name)].used[BT_CPU], 1000);
	}
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(the_nodes_that_stay_get_the_lowest_slots),
		FIXTURE_TEST(nodes_stay_where_they_are_as_long_as_half_of_them_are_there),
		FIXTURE_TEST(a_few_nodes_are_moved_at_a_time),
		FIXTURE_TEST(usage_and_ports_move_with_their_node),
		FIXTURE_TEST(rare_resources_move_with_their_node),
		FIXTURE_TEST(nominations_move_with_their_node),
		FIXTURE_TEST(counters_move_with_their_node),
		FIXTURE_TEST(volumes_move_with_their_node),
		FIXTURE_TEST(no_node_moves_during_a_cycle),
		FIXTURE_TEST(a_move_wakes_no_waiter),
		FIXTURE_TEST(slots_are_looked_at_again_when_the_pods_on_them_have_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
