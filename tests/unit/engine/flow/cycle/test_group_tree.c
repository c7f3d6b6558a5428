/* SPDX-License-Identifier: Apache-2.0
 * The cycle of a tree of groups: which groups are scheduled, what is reverted, and the message of each. Texts
 * are those of kube-scheduler v1.37.2.
 */
#include "engine_objects.h"

#include "engine/flow/cycle/group_cycle.h"
#include "engine/flow/cycle/scheduling_cycle.h"

#define GATES	 "GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true"
#define LEAF_MAX 4

struct tree {
	struct fixture *f;
	struct bt_config config;
	struct bt_engine *engine;
	int64_t now_ns;
	struct bt_scheduling_cycle cycle;
	struct {
		char name[16], message[512];
		enum bt_group_outcome outcome;
		uint32_t scheduled_n, unschedulable_n;
	} ends[LEAF_MAX];
	uint32_t end_n, victim_n;
};

static void end_leaf(void *context, const struct bt_group_end *end)
{
	struct tree *t = context;
	struct bt_str name = bt_intern_str(bt_engine_cache(t->engine)->dictionary->intern, end->name);

	assert_true(t->end_n < LEAF_MAX);
	snprintf(t->ends[t->end_n].name, sizeof(t->ends[0].name), "%.*s", BT_STR_ARG(name));
	snprintf(t->ends[t->end_n].message, sizeof(t->ends[0].message), "%.*s", BT_STR_ARG(end->message));
	t->ends[t->end_n].outcome = end->outcome;
	t->ends[t->end_n].scheduled_n = end->scheduled_n;
	t->ends[t->end_n++].unschedulable_n = end->unschedulable_n;
}

static void end_pod(void *context, const struct bt_decision *decision, const struct bt_queue_info *info,
	uint32_t nominated, struct bt_str message)
{
	struct tree *t = context;

	t->victim_n += decision->victim_n;
	(void)info;
	(void)nominated;
	(void)message;
}

static void add_group(struct tree *t, const char *name, int min_count)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: %s, namespace: "
		"default}, spec: {parentCompositePodGroupName: train, schedulingPolicy: {gang: {minCount: "
		"%d}}}}",
		name, min_count);
	engine_apply(t->engine, t->f, text);
}

/* A tree with this minGroupCount, ring and star, and a node of 4 CPUs. */
static void begin(struct tree *t, void **state, int min_group_count)
{
	struct bt_engine_options options = {.clock = bt_clock_virtual(&t->now_ns), .strict_order = true};
	char text[256];

	*t = (struct tree){.f = *state, .now_ns = 1000 * BT_QUEUE_SECOND};
	fixture_config(&t->config, "1.37", GATES);
	t->engine = fixture_engine(&t->config, &options);
	t->cycle = (struct bt_scheduling_cycle){
		.engine = t->engine, .texts = true, .ended = end_pod, .group_ended = end_leaf, .context = t};
	engine_add_node(t->engine, t->f, "n1", "4");
	snprintf(text, sizeof(text),
		"{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: train, "
		"namespace: default}, spec: {schedulingPolicy: {gang: {minGroupCount: %d}}}}",
		min_group_count);
	engine_apply(t->engine, t->f, text);
	add_group(t, "star", 1);
	add_group(t, "ring", 2);
}

static void end(struct tree *t)
{
	bt_scheduling_cycle_fini(&t->cycle);
	bt_engine_destroy(t->engine);
	bt_config_fini(&t->config);
}

static uint32_t add_pod(struct tree *t, const char *group, const char *cpu)
{
	char text[256];

	t->now_ns += 1000000;
	snprintf(text, sizeof(text), "containers: [{name: a, resources: {requests: {cpu: '%s'}}}]", cpu);
	return engine_add_member(t->engine, t->f, group, text);
}

static void decide(struct tree *t)
{
	uint32_t pod_ix = bt_engine_pop(t->engine);

	assert_int_not_equal(pod_ix, BT_QUEUE_EMPTY);
	t->end_n = t->victim_n = 0;
	bt_schedule_one(&t->cycle, pod_ix);
}

static enum bt_pod_state state_of(const struct tree *t, uint32_t pod_ix)
{
	return bt_ledger_pod(bt_engine_cache(t->engine)->ledger, pod_ix)->state;
}

static void a_tree_is_scheduled_without_the_groups_that_it_can_do_without(void **state)
{
	struct tree t;

	begin(&t, state, 1);
	uint32_t star = add_pod(&t, "star", "5"), one = add_pod(&t, "ring", "1"),
		 two = add_pod(&t, "ring", "1");
	decide(&t);
	assert_int_not_equal(state_of(&t, one), BT_POD_QUEUED);
	assert_int_not_equal(state_of(&t, two), BT_POD_QUEUED);
	assert_int_equal(state_of(&t, star), BT_POD_QUEUED);
	assert_int_equal(t.end_n, 2);
	assert_string_equal(t.ends[0].name, "ring");
	assert_int_equal(t.ends[0].outcome, BT_GROUP_SCHEDULED);
	assert_int_equal(t.ends[0].scheduled_n, 2);
	assert_string_equal(t.ends[1].name, "star");
	assert_int_equal(t.ends[1].outcome, BT_GROUP_UNSCHEDULABLE);
	assert_string_equal(t.ends[1].message, "pod group is unschedulable, 0/1 placements are available, "
					       "first placement status: minCount (1) "
					       "cannot be satisfied: 0 scheduled, 0 remaining");
	end(&t);
}

static void a_tree_that_lacks_a_group_takes_back_those_that_fit(void **state)
{
	struct tree t;

	begin(&t, state, 2);
	uint32_t star = add_pod(&t, "star", "5"), one = add_pod(&t, "ring", "1"),
		 two = add_pod(&t, "ring", "1");
	decide(&t);
	assert_int_equal(state_of(&t, one), BT_POD_QUEUED);
	assert_int_equal(state_of(&t, two), BT_POD_QUEUED);
	assert_int_equal(state_of(&t, star), BT_POD_QUEUED);
	assert_int_equal(t.end_n, 2);
	/* The ring fits, and has the tree's message, to which PodGroupPostFilter has added its text
	 * once for the tree and once for the ring. */
	assert_int_equal(t.ends[0].outcome, BT_GROUP_UNSCHEDULABLE);
	assert_string_equal(t.ends[0].message, "pod group is unschedulable, 0/1 placements are available, "
					       "first placement status: minCount (2) "
					       "cannot be satisfied: 1 scheduled, 0 remaining, pod group "
					       "preemption: No preemption victims found "
					       "for incoming preemptor, pod group preemption: No preemption "
					       "victims found for incoming preemptor");
	end(&t);
}

static void pods_of_a_tree_are_decided_group_by_group(void **state)
{
	struct tree t;

	begin(&t, state, 1);
	/* The star's pod was added first; the ring is decided first. */
	uint32_t star = add_pod(&t, "star", "3"), one = add_pod(&t, "ring", "1"),
		 two = add_pod(&t, "ring", "1");
	decide(&t);
	assert_int_not_equal(state_of(&t, one), BT_POD_QUEUED);
	assert_int_not_equal(state_of(&t, two), BT_POD_QUEUED);
	assert_int_equal(state_of(&t, star), BT_POD_QUEUED);
	end(&t);
}

/* A PodGroup below four composites, the topmost of which has a constraint. */
static void a_constraint_reaches_three_composites_down(void **state)
{
	struct tree t;

	begin(&t, state, 1);
	for (int i = 0; i < 4; i++) {
		char text[384], parent[64] = "";

		if (i) {
			snprintf(parent, sizeof(parent), "parentCompositePodGroupName: c%d, ", i - 1);
		}
		snprintf(text, sizeof(text),
			"{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: "
			"c%d, namespace: default}, spec: {%sschedulingPolicy: {basic: {}}%s}}",
			i, parent, i ? "" : ", schedulingConstraints: {topology: [{key: rack}]}");
		engine_apply(t.engine, t.f, text);
	}
	engine_apply(t.engine, t.f,
		"{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: deep, namespace: "
		"default}, spec: {parentCompositePodGroupName: c3, schedulingPolicy: {basic: {}}}}");
	uint32_t pod_ix = add_pod(&t, "deep", "1");
	decide(&t);
	assert_int_equal(state_of(&t, pod_ix), BT_POD_QUEUED);
	assert_int_equal(t.end_n, 1);
	assert_int_equal(t.ends[0].outcome, BT_GROUP_ERROR);
	assert_string_equal(t.ends[0].message, "exceeded maximum hierarchy depth at podgroup/default/deep");
	end(&t);
}

static void add_low(struct tree *t, const char *node, const char *cpu)
{
	char text[256];

	snprintf(text, sizeof(text),
		"nodeName: %s, priority: -1, containers: [{name: a, resources: {requests: {cpu: '%s'}}}]",
		node, cpu);
	engine_add_pod(t->engine, t->f, text, BT_ENTERED_SCHEDULED);
}

/* The trial of a failed group still counts its pods, and upstream then reprieves no victim,
 * not even one on a node that no pod needs. */
static void no_victim_is_restored_where_groups_were_tried_in_one_placement(void **state)
{
	struct tree t;

	begin(&t, state, 1);
	engine_add_node(t.engine, t.f, "n2", "1");
	add_low(&t, "n1", "4");
	add_low(&t, "n2", "1");
	add_pod(&t, "ring", "4");
	add_pod(&t, "ring", "4");
	add_pod(&t, "star", "4");
	decide(&t);
	assert_int_equal(t.victim_n, 2);
	end(&t);
}

static void a_victim_is_restored_when_its_node_is_not_chosen(void **state)
{
	struct tree t;

	begin(&t, state, 1);
	engine_add_node(t.engine, t.f, "n2", "1");
	add_low(&t, "n1", "4");
	add_low(&t, "n2", "1");
	add_pod(&t, "ring", "5");
	add_pod(&t, "ring", "5");
	add_pod(&t, "star", "4");
	decide(&t);
	assert_int_equal(t.victim_n, 1);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_tree_is_scheduled_without_the_groups_that_it_can_do_without),
		FIXTURE_TEST(a_tree_that_lacks_a_group_takes_back_those_that_fit),
		FIXTURE_TEST(pods_of_a_tree_are_decided_group_by_group),
		FIXTURE_TEST(a_constraint_reaches_three_composites_down),
		FIXTURE_TEST(no_victim_is_restored_where_groups_were_tried_in_one_placement),
		FIXTURE_TEST(a_victim_is_restored_when_its_node_is_not_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
