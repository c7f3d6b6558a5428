/* SPDX-License-Identifier: Apache-2.0
 * The cycle of a PodGroup that is queued as a whole: its victims, for groups that differ in one
 * field, and the effects of a trial.
 */
#include "engine_objects.h"

#include "engine/base/mem.h"
#include "engine/flow/cycle/group_cycle.h"

#define SIZE "containers: [{name: a, resources: {requests: {cpu: '1'}}}]"

struct trial {
	struct fixture *f;
	struct bt_config config;
	struct bt_engine *engine;
	struct bt_stage_latency *stages;
	int64_t now_ns;
	struct bt_group_decision group;
	uint32_t low[2], high[2];
};

static void begin_by(struct trial *t, void **state, const char *gate_list, bool by_events)
{
	*t = (struct trial){
		.f = *state, .now_ns = 1000 * BT_QUEUE_SECOND, .stages = bt_stage_latency_create()};
	fixture_config(&t->config, "1.37", gate_list);
	const struct bt_engine_options options = {.clock = bt_clock_virtual(&t->now_ns),
		.strict_order = true,
		.groups_by_events = by_events,
		.stages = t->stages};
	t->engine = fixture_engine(&t->config, &options);
	engine_add_node(t->engine, t->f, "n1", "2");
}

static void begin(struct trial *t, void **state, const char *gate_list)
{
	begin_by(t, state, gate_list, false);
}

static void end(struct trial *t)
{
	bt_engine_destroy(t->engine);
	bt_config_fini(&t->config);
	bt_mem_free(t->stages);
}

static void add_group(struct trial *t, const char *name, const char *spec)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: %s, namespace: "
		"default, uid: uid-%s}, spec: {%s}}",
		name, name, spec);
	engine_apply(t->engine, t->f, text);
}

static uint32_t add_pod(struct trial *t, const char *group, const char *spec)
{
	char text[256];

	t->now_ns += 1000000;
	snprintf(text, sizeof(text), "%s, " SIZE, spec);
	return engine_add_member(t->engine, t->f, group, text);
}

/* Two groups: low's pods fill the node, high's wait. */
struct pair {
	const char *low, *low_pods; /* specs of the group, and of its pods */
	const char *high, *high_pods;
	uint32_t high_n, victim_n;
	enum bt_cycle_metric_status status; /* of the preemption */
	bool none;			    /* no preemption */
};

static const struct pair usual = {.low = "priority: 0, disruptionMode: {single: {}}, "
					 "schedulingPolicy: {gang: {minCount: 1}}",
	.low_pods = "priority: 0, nodeName: n1",
	.high = "priority: 10, schedulingPolicy: {gang: {minCount: 1}}",
	.high_pods = "priority: 10",
	.high_n = 1,
	.victim_n = 1,
	.status = BT_CYCLE_METRIC_SUCCESS};

static uint64_t noted(const struct trial *t, enum bt_cycle_metric metric, uint16_t label, int64_t *out_sum_s)
{
	const struct bt_cycle_metric_table *table = &bt_engine_metrics(t->engine)->tables[metric];

	for (uint32_t i = 0; i < table->cap; i++) {
		if (table->series[i].n && table->series[i].labels[0] == label) {
			*out_sum_s = table->series[i].sum_ns / BT_QUEUE_SECOND;
			return table->series[i].n;
		}
	}
	*out_sum_s = 0;
	return 0;
}

static void decide_pair(struct trial *t, const struct pair *pair)
{
	add_group(t, "low", pair->low);
	add_group(t, "high", pair->high);
	for (uint32_t i = 0; i < 2; i++) {
		t->low[i] = add_pod(t, "low", pair->low_pods);
	}
	for (uint32_t i = 0; i < pair->high_n; i++) {
		t->high[i] = add_pod(t, "high", pair->high_pods);
	}
	uint32_t popped = bt_engine_pop(t->engine);
	t->group = (struct bt_group_decision){.member_n = 0};
	if (popped != BT_NO_POD) {
		bt_engine_decide_group(t->engine, popped, NULL, &t->group);
		assert_int_equal(t->group.member_n, pair->high_n);
	}
}

/* After a cycle that placed no pod only nominations remain, if it preempts. */
static void assert_as_before(const struct trial *t, const struct pair *pair)
{
	const struct bt_ledger *ledger = bt_engine_cache(t->engine)->ledger;
	uint32_t nominated_n = 0, on_node_n = 0;

	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(bt_ledger_pod(ledger, t->low[i])->state, BT_POD_SCHEDULED);
	}
	for (uint32_t i = 0; i < pair->high_n; i++) {
		assert_int_equal(bt_ledger_pod(ledger, t->high[i])->state, BT_POD_QUEUED);
		nominated_n += bt_ledger_pod(ledger, t->high[i])->nominated_ix != BT_NO_NODE;
		assert_true(bt_queue_info(bt_engine_queue(t->engine), t->high[i]).where != BT_WAIT_NOWHERE);
	}
	for (uint32_t i = bt_ledger_first_on(ledger, 0); i != BT_NO_POD; i = bt_ledger_next(ledger, i)) {
		on_node_n++;
	}
	assert_int_equal(on_node_n, 2);
	assert_int_equal(nominated_n, pair->victim_n ? pair->high_n : 0);
}

static void expect(void **state, const char *gates, const struct pair *pair)
{
	struct trial t;
	uint32_t victim_n = 0;
	int64_t sum;

	begin(&t, state, gates);
	decide_pair(&t, pair);
	for (uint32_t i = 0; i < t.group.member_n; i++) {
		const struct bt_decision *decision = &t.group.members[i].decision;

		assert_int_not_equal(decision->outcome, BT_PLACED);
		victim_n += decision->by_group ? decision->victim_n : 0;
	}
	assert_int_equal(victim_n, pair->victim_n);
	assert_as_before(&t, pair);
	assert_int_equal(
		noted(&t, BT_CYCLE_METRIC_GROUP_PREEMPTING, (uint16_t)pair->status, &sum), !pair->none);
	assert_int_equal(noted(&t, BT_CYCLE_METRIC_GROUP_VICTIMS, 0, &sum), pair->victim_n > 0);
	assert_int_equal(sum, pair->victim_n);
	assert_int_equal(noted(&t, BT_CYCLE_METRIC_GROUP_DISRUPTIONS, BT_CYCLE_METRIC_BY_GROUP, &sum),
		pair->victim_n > 0);
	assert_int_equal(noted(&t, BT_CYCLE_METRIC_VIOLATIONS, BT_CYCLE_METRIC_BY_GROUP, &sum), 0);
	if (pair->victim_n) {
		assert_int_equal(noted(&t, BT_CYCLE_METRIC_EVALUATING, BT_CYCLE_METRIC_BY_GROUP, &sum), 1);
	}
	end(&t);
}

#define GATE "GenericWorkload=true"

static void a_group_preempts_as_many_as_its_pods_need(void **state)
{
	struct pair pair = usual;

	expect(state, GATE, &pair);
	pair.high_n = pair.victim_n = 2;
	expect(state, GATE, &pair);
}

static void a_group_does_not_preempt_its_equals(void **state)
{
	struct pair pair = usual;

	pair.high = "priority: 0, schedulingPolicy: {gang: {minCount: 1}}";
	pair.high_pods = "priority: 0";
	pair.victim_n = 0;
	pair.status = BT_CYCLE_METRIC_UNRESOLVABLE;
	expect(state, GATE, &pair);
}

static void a_group_with_disruption_mode_pod_group_is_evicted_whole(void **state)
{
	struct pair pair = usual;

	pair.low = "priority: 0, disruptionMode: {all: {}}, schedulingPolicy: {gang: {minCount: 1}}";
	pair.victim_n = 2;
	expect(state, GATE, &pair);
}

/* Source: GetPodPriority, v1.37.2. */
static void the_priority_of_victims_is_their_groups(void **state)
{
	struct pair pair = usual;

	pair.low = "priority: 20, disruptionMode: {all: {}}, schedulingPolicy: {gang: {minCount: 1}}";
	pair.victim_n = 0;
	pair.status = BT_CYCLE_METRIC_UNRESOLVABLE;
	expect(state, GATE, &pair);
	pair.low = "priority: 20, disruptionMode: {single: {}}, schedulingPolicy: {gang: {minCount: 1}}";
	expect(state, GATE, &pair);
}

static void a_group_larger_than_an_empty_node_preempts_no_pod(void **state)
{
	struct pair pair = usual;

	pair.high_pods = "priority: 10, nodeSelector: {no: such}";
	pair.victim_n = 0;
	pair.status = BT_CYCLE_METRIC_UNSCHEDULABLE;
	expect(state, GATE, &pair);
}

static void a_gang_of_too_few_pods_is_not_tried(void **state)
{
	struct pair pair = usual;

	pair.high = "priority: 10, schedulingPolicy: {gang: {minCount: 2}}";
	pair.victim_n = 0;
	pair.none = true;
	expect(state, GATE, &pair);
}

static void a_basic_group_preempts_too(void **state)
{
	struct pair pair = usual;

	pair.high = "priority: 10, schedulingPolicy: {basic: {}}";
	expect(state, GATE, &pair);
}

static void a_group_that_never_preempts_does_not(void **state)
{
	struct pair pair = usual;

	pair.high_pods = "priority: 10, preemptionPolicy: Never";
	pair.victim_n = 0;
	pair.status = BT_CYCLE_METRIC_UNSCHEDULABLE;
	expect(state, GATE, &pair);
	/* With the gate the group's own policy counts. */
	pair.high = "priority: 10, preemptionPolicy: Never, schedulingPolicy: {gang: {minCount: 1}}";
	expect(state, GATE ",PodGroupPreemptionPolicy=true", &pair);
}

static void victims_that_a_budget_would_keep_are_counted(void **state)
{
	struct bt_str_pair label = {BT_STR("a"), BT_STR("b")};
	const struct bt_str_map labels = {.items = &label, .n = 1};
	struct trial t;
	int64_t sum;

	begin(&t, state, GATE);
	engine_apply(t.engine, t.f,
		"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b, namespace: "
		"default}, spec: {selector: {matchLabels: {a: b}}}, status: {disruptionsAllowed: 0}}");
	for (uint32_t i = 0; i < 2; i++) {
		struct bt_pod_object low = *fixture_read_pod(t.f, "priority: 0, nodeName: n1, " SIZE);
		enum bt_entry entry;
		uint32_t ix;

		low.meta.labels = labels;
		assert_int_equal(bt_engine_add_pod(t.engine, &low, &entry, &ix), BT_OK);
	}
	add_group(&t, "high", usual.high);
	uint32_t pod_ix = add_pod(&t, "high", usual.high_pods);
	assert_int_equal(bt_engine_pop(t.engine), pod_ix);
	bt_engine_decide_group(t.engine, pod_ix, NULL, &t.group);
	assert_int_equal(noted(&t, BT_CYCLE_METRIC_VIOLATIONS, BT_CYCLE_METRIC_BY_GROUP, &sum), 1);
	assert_int_equal(sum, 1);
	end(&t);
}

static uint32_t pop_later(struct trial *t)
{
	t->now_ns += 60 * BT_QUEUE_SECOND; /* less than the flush */
	bt_engine_tick(t->engine);
	return bt_engine_pop(t->engine);
}

/* Where no flush requeues the group. */
static void a_group_that_finds_no_placement_waits_for_a_node(void **state)
{
	struct bt_group_decision group;
	struct trial t;

	begin_by(&t, state, GATE ",TopologyAwareWorkloadScheduling=true", true);
	add_group(&t, "g",
		"schedulingConstraints: {topology: [{key: rack}]}, schedulingPolicy: {gang: {minCount: 1}}");
	uint32_t pod_ix = add_pod(&t, "g", "priority: 0");
	assert_int_equal(bt_engine_pop(t.engine), pod_ix);
	bt_engine_decide_group(t.engine, pod_ix, NULL, &group);
	assert_int_equal(group.outcome, BT_GROUP_UNSCHEDULABLE);
	assert_int_equal(pop_later(&t), BT_NO_POD);
	engine_apply(t.engine, t.f,
		"{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {rack: a}}, status: "
		"{allocatable: {cpu: '2', memory: 8Gi, pods: '10'}}}");
	assert_int_equal(pop_later(&t), pod_ix);
	bt_engine_decide_group(t.engine, pod_ix, NULL, &group);
	assert_int_equal(group.outcome, BT_GROUP_SCHEDULED);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_group_preempts_as_many_as_its_pods_need),
		FIXTURE_TEST(a_group_does_not_preempt_its_equals),
		FIXTURE_TEST(a_group_with_disruption_mode_pod_group_is_evicted_whole),
		FIXTURE_TEST(the_priority_of_victims_is_their_groups),
		FIXTURE_TEST(a_group_larger_than_an_empty_node_preempts_no_pod),
		FIXTURE_TEST(a_gang_of_too_few_pods_is_not_tried),
		FIXTURE_TEST(a_basic_group_preempts_too),
		FIXTURE_TEST(a_group_that_never_preempts_does_not),
		FIXTURE_TEST(victims_that_a_budget_would_keep_are_counted),
		FIXTURE_TEST(a_group_that_finds_no_placement_waits_for_a_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
