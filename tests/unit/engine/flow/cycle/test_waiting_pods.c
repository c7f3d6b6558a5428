/* SPDX-License-Identifier: Apache-2.0
 * Pods of a Workload's gang wait at Permit for each other. Texts and queues are those of kube-scheduler
 * v1.35.4.
 */
#include "engine_objects.h"

#include "engine/flow/cycle/group_cycle.h"
#include "engine/flow/cycle/hints.h"

#define SIZE(cpu)      "containers: [{name: a, resources: {requests: {cpu: '" cpu "'}}}]"
#define OF(group, key) "workloadRef: {name: train, podGroup: " group ", podGroupReplicaKey: '" key "'}, "
#define WORKER	       OF("workers", "")
#define MINUTES	       (60 * BT_QUEUE_SECOND)
#define ENDS	       8

struct trial {
	struct fixture *f;
	struct bt_config config;
	struct bt_engine *engine;
	int64_t now_ns;
	struct {
		uint32_t pod_ix;
		enum bt_outcome outcome;
		char message[256];
	} ends[ENDS]; /* of waits */
	uint32_t end_n;
	uint32_t victim_ix, preemptor_ix; /* of the last preempted wait */
};

static void note_end(void *context, const struct bt_decision *decision, const struct bt_queue_info *info,
	uint32_t nominated, struct bt_str message)
{
	struct trial *t = context;

	(void)info;
	(void)nominated;
	assert_true(t->end_n < ENDS);
	t->ends[t->end_n].pod_ix = decision->pod_ix;
	t->ends[t->end_n].outcome = decision->outcome;
	snprintf(t->ends[t->end_n++].message, sizeof(t->ends[0].message), "%.*s", BT_STR_ARG(message));
}

static void note_preempted(void *context, uint32_t victim_ix, uint32_t preemptor_ix, uint32_t node_ix)
{
	struct trial *t = context;

	assert_int_equal(t->end_n, 0);
	assert_int_equal(node_ix, 0);
	t->victim_ix = victim_ix;
	t->preemptor_ix = preemptor_ix;
}

static void begin(struct trial *t, void **state, const char *cpu)
{
	struct bt_engine_options options = {
		.strict_order = true, .permit = {.ended = note_end, .context = t}};

	*t = (struct trial){.f = *state, .now_ns = 1000 * BT_QUEUE_SECOND};
	fixture_config(&t->config, "1.35", "GenericWorkload=true,GangScheduling=true");
	options.clock = bt_clock_virtual(&t->now_ns);
	t->engine = fixture_engine(&t->config, &options);
	engine_add_node(t->engine, t->f, "n1", cpu);
}

static void end(struct trial *t)
{
	bt_engine_destroy(t->engine);
	bt_config_fini(&t->config);
}

static void add_workload(struct trial *t, const char *groups)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{apiVersion: scheduling.k8s.io/v1alpha1, kind: Workload, metadata: {name: train, namespace: "
		"default}, spec: {podGroups: [%s]}}",
		groups);
	engine_apply(t->engine, t->f, text);
}

#define GANG(n) "{name: workers, policy: {gang: {minCount: " #n "}}}"

static uint32_t add_pod(struct trial *t, const char *spec, enum bt_entry wanted)
{
	t->now_ns += 1000000;
	return engine_add_pod(t->engine, t->f, spec, wanted);
}

static enum bt_pod_state state_of(const struct trial *t, uint32_t pod_ix)
{
	return bt_ledger_pod(bt_engine_cache(t->engine)->ledger, pod_ix)->state;
}

static enum bt_wait place_of(const struct trial *t, uint32_t pod_ix)
{
	return bt_queue_info(bt_engine_queue(t->engine), pod_ix).where;
}

static struct bt_decision decide(struct trial *t, uint32_t wanted)
{
	struct bt_decision decision;

	assert_int_equal(bt_engine_pop(t->engine), wanted);
	bt_engine_decide(t->engine, wanted, &decision);
	return decision;
}

static void assert_waits(struct trial *t, uint32_t pod_ix)
{
	const struct bt_decision decision = decide(t, pod_ix);

	assert_int_equal(decision.outcome, BT_PLACED);
	assert_true(decision.waits);
	assert_int_equal(state_of(t, pod_ix), BT_POD_ASSUMED);
	assert_int_equal(place_of(t, pod_ix), BT_WAIT_IN_FLIGHT);
}

/* Two pods of a gang of two, the first of which waits at Permit. */
static void begin_waiting(struct trial *t, void **state, const char *cpu, uint32_t out_pods[2])
{
	begin(t, state, cpu);
	add_workload(t, GANG(2));
	out_pods[0] = add_pod(t, WORKER SIZE("1"), BT_ENTERED_GATED);
	out_pods[1] = add_pod(t, WORKER SIZE("1"), BT_ENTERED_QUEUE);
	assert_waits(t, out_pods[0]);
}

static void a_pod_waits_in_the_queue_until_its_workload_and_enough_pods_are_there(void **state)
{
	struct trial t;

	begin(&t, state, "8");
	uint32_t a = add_pod(&t, WORKER SIZE("1"), BT_ENTERED_GATED);
	add_workload(&t, GANG(2));
	assert_int_equal(place_of(&t, a), BT_WAIT_GATED);
	add_pod(&t, OF("workers", "other") SIZE("1"), BT_ENTERED_GATED); /* another replica */
	add_pod(&t, OF("drivers", "") SIZE("1"), BT_ENTERED_GATED);	 /* not in the Workload */
	assert_int_equal(place_of(&t, a), BT_WAIT_GATED);
	add_pod(&t, WORKER SIZE("1"), BT_ENTERED_QUEUE);
	assert_int_equal(place_of(&t, a), BT_WAIT_ACTIVE);
	end(&t);
}

static void members_wait_until_enough_are_assumed_and_are_bound_then(void **state)
{
	struct trial t;
	uint32_t pods[2];

	begin_waiting(&t, state, "8", pods);
	const struct bt_decision decision = decide(&t, pods[1]);
	assert_false(decision.waits);
	assert_int_equal(state_of(&t, pods[0]), BT_POD_SCHEDULED);
	assert_int_equal(state_of(&t, pods[1]), BT_POD_SCHEDULED);
	assert_int_equal(t.end_n, 1);
	assert_int_equal(t.ends[0].pod_ix, pods[0]);
	assert_int_equal(t.ends[0].outcome, BT_PLACED);
	end(&t);
}

static void a_basic_group_waits_for_no_member(void **state)
{
	struct trial t;

	begin(&t, state, "8");
	add_workload(&t, "{name: workers, policy: {basic: {}}}");
	const struct bt_decision decision = decide(&t, add_pod(&t, WORKER SIZE("1"), BT_ENTERED_QUEUE));
	assert_int_equal(decision.outcome, BT_PLACED);
	assert_false(decision.waits);
	end(&t);
}

static void all_of_a_gang_give_up_at_one_time(void **state)
{
	struct trial t;

	begin(&t, state, "2");
	add_workload(&t, GANG(3));
	uint32_t a = add_pod(&t, WORKER SIZE("1"), BT_ENTERED_GATED),
		 b = add_pod(&t, WORKER SIZE("1"), BT_ENTERED_GATED);
	add_pod(&t, WORKER SIZE("4"), BT_ENTERED_QUEUE);
	assert_waits(&t, a);
	t.now_ns += MINUTES;
	assert_waits(&t, b);
	assert_int_equal(bt_engine_next_wait_end_ns(t.engine, INT64_MAX), t.now_ns + 4 * MINUTES);
	t.now_ns += 4 * MINUTES - 1;
	bt_engine_tick(t.engine);
	assert_int_equal(t.end_n, 0);
	t.now_ns += 1;
	bt_engine_tick(t.engine);
	assert_int_equal(t.end_n, 2);
	assert_int_equal(t.ends[0].outcome, BT_REFUSED);
	assert_string_equal(t.ends[0].message,
		"0/1 nodes are available: 1 rejected due to timeout after waiting 5m0s at plugin "
		"GangScheduling.");
	assert_string_equal(t.ends[1].message,
		"0/1 nodes are available: 1 rejected due to timeout after waiting 4m0s at plugin "
		"GangScheduling.");
	assert_int_equal(state_of(&t, a), BT_POD_QUEUED);
	assert_int_equal(place_of(&t, a), BT_WAIT_UNSCHEDULABLE);
	end(&t);
}

static void a_pod_that_waits_makes_the_others_of_its_group_active(void **state)
{
	struct trial t;

	begin(&t, state, "2");
	add_workload(&t, GANG(2));
	uint32_t small, large = add_pod(&t, WORKER SIZE("4"), BT_ENTERED_GATED);
	small = add_pod(&t, WORKER SIZE("1"), BT_ENTERED_QUEUE);
	assert_int_equal(decide(&t, large).outcome, BT_REFUSED);
	assert_int_equal(place_of(&t, large), BT_WAIT_UNSCHEDULABLE);
	assert_waits(&t, small);
	assert_int_equal(place_of(&t, large), BT_WAIT_ACTIVE);
	end(&t);
}

static void permit_fails_when_the_workload_has_gone(void **state)
{
	struct trial t;
	uint32_t pods[2];

	begin_waiting(&t, state, "8", pods);
	assert_int_equal(
		bt_engine_delete_object(t.engine, BT_KIND_WORKLOAD, bt_str("default"), bt_str("train")),
		BT_OK);
	assert_int_equal(decide(&t, pods[1]).outcome, BT_FAILED);
	const struct bt_str why = bt_engine_end_error(t.engine);
	assert_true(bt_str_is(why, "running Permit plugin \"GangScheduling\": failed to get workload "
				   "default/train: workload.scheduling.k8s.io \"train\" not found"));
	assert_int_equal(state_of(&t, pods[1]), BT_POD_QUEUED);
	assert_int_equal(place_of(&t, pods[0]), BT_WAIT_IN_FLIGHT);
	end(&t);
}

static void a_pod_that_is_deleted_waits_no_more_and_takes_no_room(void **state)
{
	struct trial t;
	uint32_t pods[2];

	begin_waiting(&t, state, "1", pods);
	bt_engine_remove_pod(t.engine, pods[0]);
	assert_false(bt_ledger_has(bt_engine_cache(t.engine)->ledger, pods[0]));
	assert_int_equal(bt_engine_next_wait_end_ns(t.engine, INT64_MAX), INT64_MAX);
	assert_waits(&t, pods[1]);
	end(&t);
}

static void never(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	(void)context;
	(void)engine;
	(void)pod_ix;
	(void)for_ix;
	fail();
}

static void a_victim_that_waits_is_rejected_rather_than_deleted(void **state)
{
	struct trial t;
	uint32_t pods[2];

	begin_waiting(&t, state, "1", pods);
	bt_engine_destroy(t.engine);
	const struct bt_engine_options options = {.strict_order = true,
		.permit = {.ended = note_end, .preempted = note_preempted, .context = &t},
		.evictor = {.evict = never},
		.clock = bt_clock_virtual(&t.now_ns)};
	t.engine = fixture_engine(&t.config, &options);
	engine_add_node(t.engine, t.f, "n1", "1");
	add_workload(&t, GANG(2));
	uint32_t a = add_pod(&t, WORKER SIZE("1"), BT_ENTERED_GATED);
	add_pod(&t, WORKER SIZE("1"), BT_ENTERED_QUEUE);
	assert_waits(&t, a);
	uint32_t high = add_pod(&t, "priority: 9, " SIZE("1"), BT_ENTERED_QUEUE);
	assert_int_equal(decide(&t, high).preempt, BT_PREEMPT_FOUND);
	assert_int_equal(t.end_n, 1);
	assert_int_equal(t.victim_ix, a);
	assert_int_equal(t.preemptor_ix, high);
	assert_string_equal(t.ends[0].message, "0/1 nodes are available: 1 preempted.");
	assert_int_equal(state_of(&t, a), BT_POD_QUEUED);
	end(&t);
}

static void pods_that_differ_in_the_group_alone_are_distinguished(void **state)
{
	static const char *const specs[] = {"", WORKER, OF("workers", "r1"), OF("drivers", ""),
		"workloadRef: {name: other, podGroup: workers}, "};
	struct trial t;
	uint32_t names[5];

	begin(&t, state, "8");
	for (size_t i = 0; i < COUNT_OF(specs); i++) {
		char spec[256];

		snprintf(spec, sizeof(spec), "%s" SIZE("1"), specs[i]);
		uint32_t pod_ix = add_pod(&t, spec, i ? BT_ENTERED_GATED : BT_ENTERED_QUEUE);
		names[i] = bt_ledger_pod(bt_engine_cache(t.engine)->ledger, pod_ix)->signature->ix;
		for (size_t j = 0; j < i; j++) {
			assert_int_not_equal(names[i], names[j]);
		}
	}
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_pod_waits_in_the_queue_until_its_workload_and_enough_pods_are_there),
		FIXTURE_TEST(members_wait_until_enough_are_assumed_and_are_bound_then),
		FIXTURE_TEST(a_basic_group_waits_for_no_member),
		FIXTURE_TEST(all_of_a_gang_give_up_at_one_time),
		FIXTURE_TEST(a_pod_that_waits_makes_the_others_of_its_group_active),
		FIXTURE_TEST(permit_fails_when_the_workload_has_gone),
		FIXTURE_TEST(a_pod_that_is_deleted_waits_no_more_and_takes_no_room),
		FIXTURE_TEST(a_victim_that_waits_is_rejected_rather_than_deleted),
		FIXTURE_TEST(pods_that_differ_in_the_group_alone_are_distinguished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
