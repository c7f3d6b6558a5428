/* SPDX-License-Identifier: Apache-2.0
 * The cycle of a PodGroup: all or nothing, the order of members, messages, and retries. Texts and queues are
 * those of kube-scheduler v1.36.3.
 */
#include "engine_objects.h"

#include "engine/base/mem.h"
#include "engine/flow/cycle/group_cycle.h"
#include "engine/flow/cycle/hints.h"

#define SIZE(cpu) "containers: [{name: a, resources: {requests: {cpu: '" cpu "'}}}]"
#define RING	  "schedulingGroup: {podGroupName: ring}, "
#define WAITS                                                                                                \
	"pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, one or more "    \
	"plugins asked to wait and no plugin rejected pod"
#define MEMBERS 8

struct trial {
	struct fixture *f;
	struct bt_config config;
	struct bt_engine *engine;
	int64_t now_ns;
	struct bt_group_decision group;
	char messages[MEMBERS][512];
	/* Reasons of members, in the order of their decisions. */
	struct {
		uint32_t pod_ix;
		char text[512];
	} own[MEMBERS];
	uint32_t own_n;
};

/* Adds a profile, equal to the first except for its name. */
static void add_profile(struct bt_config *config, const char *name)
{
	struct bt_profile_config *profiles = bt_arena_zalloc(&config->arena, 2 * sizeof(*profiles));

	profiles[0] = profiles[1] = config->profiles[0];
	profiles[1].scheduler_name = bt_str(name);
	config->profiles = profiles;
	config->profile_n = 2;
}

static void begin_with(struct trial *t, void **state, const char *gate_list, struct bt_engine_options options)
{
	*t = (struct trial){.f = *state, .now_ns = 1000 * BT_QUEUE_SECOND};
	fixture_config(&t->config, "1.36", gate_list);
	add_profile(&t->config, "other");
	options.clock = bt_clock_virtual(&t->now_ns);
	options.strict_order = true;
	t->engine = fixture_engine(&t->config, &options);
}

static void begin(struct trial *t, void **state)
{
	begin_with(t, state, "GenericWorkload=true,GangScheduling=true", (struct bt_engine_options){0});
}

static void begin_by_events(struct trial *t, void **state)
{
	begin_with(t, state, "GenericWorkload=true,GangScheduling=true",
		(struct bt_engine_options){.groups_by_events = true});
}

static void end(struct trial *t)
{
	bt_engine_destroy(t->engine);
	bt_config_fini(&t->config);
}

static void add_node(struct trial *t, const char *name, const char *cpu)
{
	engine_add_node(t->engine, t->f, name, cpu);
}

static void add_ring(struct trial *t, int min_count)
{
	char text[256];

	snprintf(text, sizeof(text),
		"{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: ring, namespace: "
		"default}, spec: {schedulingPolicy: {gang: {minCount: %d}}}}",
		min_count);
	engine_apply(t->engine, t->f, text);
}

/* One node with this cpu, and a PodGroup with this minCount. */
static void begin_ring(struct trial *t, void **state, const char *cpu, int min_count)
{
	begin(t, state);
	add_node(t, "n1", cpu);
	add_ring(t, min_count);
}

static uint32_t add_pod(struct trial *t, const char *spec, enum bt_entry wanted)
{
	t->now_ns += 1000000;
	return engine_add_pod(t->engine, t->f, spec, wanted);
}

static void note(void *context, struct bt_engine *engine, struct bt_decision *decision)
{
	struct trial *t = context;
	struct bt_explanation explanation = {0};
	struct bt_buf text = {0};

	assert_true(t->own_n < MEMBERS);
	bt_buf_text(&text, "");
	if (decision->outcome != BT_PLACED) {
		bt_engine_explain(engine, decision->pod_ix, &explanation);
		bt_engine_message(engine, &explanation, &text);
	}
	t->own[t->own_n].pod_ix = decision->pod_ix;
	snprintf(t->own[t->own_n].text, sizeof(t->own[0].text), "%s", text.ptr);
	t->own_n++;
	bt_explanation_fini(&explanation);
	bt_buf_fini(&text);
}

static struct bt_str own_of(const struct trial *t, uint32_t pod_ix)
{
	for (uint32_t i = 0; i < t->own_n; i++) {
		if (t->own[i].pod_ix == pod_ix) {
			return bt_str(t->own[i].text);
		}
	}
	return bt_str("");
}

/* Decides the group of the next pod, which must be this one. */
static void decide(struct trial *t, uint32_t pod_ix)
{
	const struct bt_group_watch watch = {.decided = note, .context = t};
	struct bt_buf text = {0};

	t->own_n = 0;
	assert_int_equal(bt_engine_pop(t->engine), pod_ix);
	assert_true(bt_engine_in_group(t->engine, pod_ix));
	bt_engine_decide_group(t->engine, pod_ix, &watch, &t->group);
	assert_true(t->group.member_n <= MEMBERS);
	for (uint32_t i = 0; i < t->group.member_n; i++) {
		bt_buf_clear(&text);
		bt_buf_text(&text, "");
		if (t->group.members[i].decision.outcome != BT_PLACED) {
			bt_engine_group_message(t->engine, &t->group, i,
				own_of(t, t->group.members[i].decision.pod_ix),
				own_of(t, t->group.members[t->group.culprit].decision.pod_ix), &text);
		}
		snprintf(t->messages[i], sizeof(t->messages[i]), "%s", text.ptr);
	}
	bt_buf_fini(&text);
}

static void assert_member(const struct trial *t, uint32_t i, uint32_t pod_ix, enum bt_outcome outcome)
{
	assert_true(i < t->group.member_n);
	assert_int_equal(t->group.members[i].decision.pod_ix, pod_ix);
	assert_int_equal(t->group.members[i].decision.outcome, outcome);
}

static struct bt_queue_info info(const struct trial *t, uint32_t pod_ix)
{
	return bt_queue_info(bt_engine_queue(t->engine), pod_ix);
}

static bool is_blamed(const struct trial *t, uint32_t pod_ix, const char *plugin)
{
	bt_plugin_set unschedulable_plugins = info(t, pod_ix).unschedulable_plugins;

	for (bt_plugin_set rest = unschedulable_plugins; rest; rest = bt_plugin_set_rest(rest)) {
		if (strcmp(bt_hints_name(bt_plugin_set_first(rest)), plugin) == 0) {
			return true;
		}
	}
	return false;
}

/* Another scheduler binds a waiting pod. Indices of pods equal the numbers in their names here. */
static void bind_by_others(struct trial *t, uint32_t pod_ix, const char *spec, const char *node)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: pod-%" PRIu32
		"}, spec: {schedulerName: default-scheduler, nodeName: %s, %s}}",
		pod_ix, node, spec);
	assert_int_equal(bt_engine_update_pod(t->engine, pod_ix, &fixture_read(t->f, text)->pod), BT_OK);
	assert_int_equal(info(t, pod_ix).where, BT_WAIT_NOWHERE);
}

static uint64_t scheduled(const struct trial *t)
{
	const struct bt_engine_counts counts = bt_engine_counts(t->engine);

	assert_int_equal(counts.sets.assumed, 0);
	assert_int_equal(counts.queue.in_flight, 0);
	return counts.sets.scheduled;
}

static void assert_gate(struct trial *t, uint32_t pod_ix, const char *reason)
{
	struct bt_explanation explanation = {0};

	assert_int_equal(info(t, pod_ix).where, BT_WAIT_GATED);
	bt_engine_explain(t->engine, pod_ix, &explanation);
	assert_true(explanation.gated);
	assert_string_equal(explanation.refusal.plugin, "GangScheduling");
	assert_string_equal(explanation.refusal.text, reason);
	bt_explanation_fini(&explanation);
}

/* ---- entering ---- */

static void members_wait_for_the_group_then_for_each_other(void **state)
{
	struct trial t;

	begin(&t, state);
	uint32_t first = add_pod(&t, RING SIZE("1"), BT_ENTERED_GATED);
	assert_gate(&t, first, "waiting for pods's pod group \"ring\" to appear in scheduling queue");
	add_ring(&t, 2);
	assert_gate(&t, first, "waiting for minCount pods from a gang to appear in scheduling queue");
	add_pod(&t, "schedulingGroup: {podGroupName: star}, " SIZE("1"), BT_ENTERED_GATED);
	assert_int_equal(info(&t, first).where, BT_WAIT_GATED);
	uint32_t second = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	assert_int_equal(info(&t, first).where, BT_WAIT_ACTIVE);
	assert_int_equal(info(&t, second).where, BT_WAIT_ACTIVE);
	end(&t);
}

static void pods_on_nodes_are_members_too(void **state)
{
	struct trial t;

	begin_ring(&t, state, "4", 2);
	add_pod(&t, RING "nodeName: n1, " SIZE("1"), BT_ENTERED_SCHEDULED);
	uint32_t pod = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, pod);
	assert_member(&t, 0, pod, BT_PLACED);
	assert_int_equal(scheduled(&t), 2);
	end(&t);
}

static void without_the_gates_groups_mean_nothing(void **state)
{
	struct trial t;
	struct bt_decision decision;

	begin_with(&t, state, "", (struct bt_engine_options){0});
	add_node(&t, "n1", "4");
	uint32_t pod = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	add_ring(&t, 5);
	assert_false(bt_engine_in_group(t.engine, pod));
	assert_int_equal(bt_engine_pop(t.engine), pod);
	bt_engine_decide(t.engine, pod, &decision);
	assert_int_equal(decision.outcome, BT_PLACED);
	assert_int_equal(
		bt_engine_delete_object(t.engine, BT_KIND_POD_GROUP, bt_str("default"), bt_str("ring")),
		BT_OK);
	end(&t);
}

/* ---- all or nothing ---- */

static void no_member_is_placed_unless_enough_are(void **state)
{
	struct trial t;

	begin_ring(&t, state, "2", 3);
	uint32_t a = add_pod(&t, RING SIZE("1"), BT_ENTERED_GATED),
		 b = add_pod(&t, RING SIZE("1"), BT_ENTERED_GATED),
		 c = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, a);
	assert_int_equal(t.group.member_n, 3);
	assert_member(&t, 0, a, BT_REFUSED);
	assert_member(&t, 1, b, BT_REFUSED);
	assert_member(&t, 2, c, BT_REFUSED);
	assert_string_equal(t.messages[0], WAITS);
	assert_string_equal(t.messages[1], WAITS);
	/* The last one was decided with the others on their nodes. */
	assert_string_equal(t.messages[2], "0/1 nodes are available: 1 Insufficient cpu. no new claims to "
					   "deallocate, preemption: 0/1 nodes "
					   "are available: 1 No preemption victims found for incoming pod.");
	assert_int_equal(scheduled(&t), 0);
	end(&t);
}

static void refused_members_are_requeued_by_backoff_only(void **state)
{
	struct trial t;

	begin_ring(&t, state, "1", 2);
	uint32_t a = add_pod(&t, RING SIZE("1"), BT_ENTERED_GATED),
		 b = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, a);
	assert_int_equal(info(&t, a).where, BT_WAIT_BACKOFF);
	assert_int_equal(info(&t, a).unschedulable_plugins, 0);
	assert_int_equal(info(&t, b).where, BT_WAIT_BACKOFF);
	assert_true(is_blamed(&t, b, "NodeResourcesFit"));
	assert_false(is_blamed(&t, b, "GangScheduling"));
	/* The member that a plugin refused is popped early, alone, and takes the other with it. */
	add_node(&t, "n2", "1");
	decide(&t, b);
	assert_int_equal(t.group.member_n, 2);
	assert_member(&t, 0, a, BT_PLACED);
	assert_member(&t, 1, b, BT_PLACED);
	assert_int_equal(scheduled(&t), 2);
	end(&t);
}

static void where_time_stands_still_they_wait_for_events(void **state)
{
	struct trial t;

	begin_by_events(&t, state);
	add_node(&t, "n1", "1");
	add_ring(&t, 2);
	uint32_t a = add_pod(&t, RING SIZE("1"), BT_ENTERED_GATED),
		 b = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, a);
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	add_node(&t, "n2", "1");
	decide(&t, b);
	assert_member(&t, 0, a, BT_PLACED);
	assert_member(&t, 1, b, BT_PLACED);
	end(&t);
}

/* One of three is too large; if the first of the others fits, there is no room for the last. */
struct crowded {
	uint32_t large, first, last;
};

static struct crowded decide_crowded(struct trial *t, void **state)
{
	struct crowded c;

	begin_by_events(t, state);
	add_node(t, "n1", "1");
	add_ring(t, 2);
	c.large = add_pod(t, RING "priority: 9, " SIZE("3"), BT_ENTERED_GATED);
	c.first = add_pod(t, RING SIZE("1"), BT_ENTERED_QUEUE);
	c.last = add_pod(t, RING SIZE("1"), BT_ENTERED_QUEUE);
	decide(t, c.large);
	assert_member(t, 0, c.large, BT_REFUSED);
	assert_member(t, 1, c.first, BT_REFUSED);
	assert_member(t, 2, c.last, BT_REFUSED);
	assert_int_equal(bt_engine_pop(t->engine), BT_NO_POD);
	return c;
}

static void a_member_refused_beside_others_waits_for_its_group_too(void **state)
{
	struct trial t;
	struct crowded c = decide_crowded(&t, state);

	assert_true(is_blamed(&t, c.large, "NodeResourcesFit"));
	assert_false(is_blamed(&t, c.large, "GangScheduling"));
	assert_false(is_blamed(&t, c.first, "NodeResourcesFit"));
	assert_true(is_blamed(&t, c.first, "GangScheduling"));
	assert_true(is_blamed(&t, c.last, "NodeResourcesFit"));
	assert_true(is_blamed(&t, c.last, "GangScheduling"));
	end(&t);
}

static void a_member_refused_beside_a_pod_is_retried_when_that_is_bound_elsewhere(void **state)
{
	struct trial t;
	struct crowded c = decide_crowded(&t, state);

	bind_by_others(&t, c.first, RING SIZE("1"), "n9");
	decide(&t, c.last);
	assert_member(&t, 0, c.large, BT_REFUSED);
	assert_member(&t, 1, c.last, BT_PLACED);
	end(&t);
}

static void a_member_refused_beside_a_pod_is_retried_when_the_group_needs_fewer(void **state)
{
	struct trial t;
	struct crowded c = decide_crowded(&t, state);

	bt_engine_remove_pod(t.engine, c.first);
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	assert_int_equal(
		bt_engine_delete_object(t.engine, BT_KIND_POD_GROUP, bt_str("default"), bt_str("ring")),
		BT_OK);
	add_ring(&t, 1);
	decide(&t, c.last);
	assert_member(&t, 0, c.large, BT_REFUSED);
	assert_member(&t, 1, c.last, BT_PLACED);
	assert_int_equal(scheduled(&t), 1);
	end(&t);
}

/* The pods on the node now stay there: only an event for its refusing plugin helps. */
static void a_member_refused_beside_placed_ones_does_not_wait_for_its_group(void **state)
{
	struct trial t;

	begin_by_events(&t, state);
	add_node(&t, "n1", "1");
	add_ring(&t, 1);
	uint32_t a = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE),
		 b = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, a);
	assert_member(&t, 0, a, BT_PLACED);
	assert_member(&t, 1, b, BT_REFUSED);
	assert_true(is_blamed(&t, b, "NodeResourcesFit"));
	assert_false(is_blamed(&t, b, "GangScheduling"));
	end(&t);
}

static void more_than_enough_may_stay_behind(void **state)
{
	struct trial t;

	begin_ring(&t, state, "2", 2);
	uint32_t large = add_pod(&t, RING "priority: 9, " SIZE("3"), BT_ENTERED_GATED),
		 a = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE),
		 b = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, large);
	assert_member(&t, 0, large, BT_REFUSED);
	assert_member(&t, 1, a, BT_PLACED);
	assert_member(&t, 2, b, BT_PLACED);
	assert_int_equal(scheduled(&t), 2);
	/* When the first of the others was to be bound, there were too few; Permit
	 * requeues the waiting ones. */
	assert_int_equal(info(&t, large).where, BT_WAIT_ACTIVE);
	/* Later members come alone, and there are enough. */
	add_node(&t, "n2", "4");
	decide(&t, large);
	assert_int_equal(t.group.member_n, 1);
	assert_member(&t, 0, large, BT_PLACED);
	end(&t);
}

static void a_basic_group_is_placed_one_by_one(void **state)
{
	struct trial t;

	begin(&t, state);
	add_node(&t, "n1", "1");
	engine_apply(t.engine, t.f,
		"{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: ring, "
		"namespace: default}, "
		"spec: {schedulingPolicy: {basic: {}}}}");
	uint32_t a = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE),
		 b = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, a);
	assert_member(&t, 0, a, BT_PLACED);
	assert_member(&t, 1, b, BT_REFUSED);
	assert_int_equal(info(&t, b).where, BT_WAIT_BACKOFF);
	end(&t);
}

static void members_go_by_priority_then_by_first_attempt(void **state)
{
	struct trial t;

	begin_ring(&t, state, "8", 1);
	uint32_t a = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE),
		 b = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE),
		 c = add_pod(&t, RING "priority: 5, " SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, c);
	assert_member(&t, 0, c, BT_PLACED);
	assert_member(&t, 1, a, BT_PLACED);
	assert_member(&t, 2, b, BT_PLACED);
	end(&t);
}

static void gated_members_are_not_pulled(void **state)
{
	struct trial t;

	begin_ring(&t, state, "8", 2);
	uint32_t gated = add_pod(&t, RING "schedulingGates: [{name: g}], " SIZE("1"), BT_ENTERED_GATED),
		 a = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, a);
	assert_int_equal(t.group.member_n, 1);
	assert_member(&t, 0, a, BT_REFUSED);
	assert_string_equal(t.messages[0], WAITS);
	assert_int_equal(info(&t, gated).where, BT_WAIT_GATED);
	assert_int_equal(scheduled(&t), 0);
	end(&t);
}

/* ---- errors ---- */

static void members_must_agree_on_the_scheduler(void **state)
{
	struct trial t;

	begin_ring(&t, state, "8", 2);
	uint32_t a = add_pod(&t, RING SIZE("1"), BT_ENTERED_GATED),
		 b = add_pod(&t, "schedulerName: other, " RING SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, a);
	assert_member(&t, 0, a, BT_FAILED);
	assert_member(&t, 1, b, BT_FAILED);
	for (uint32_t i = 0; i < 2; i++) {
		assert_string_equal(t.messages[i],
			"all pods in a single pod group should have the same .spec.schedulerName set, got: "
			"\"other\" and \"default-scheduler\"");
	}
	assert_int_equal(t.own_n, 0);
	assert_int_equal(info(&t, b).where, BT_WAIT_BACKOFF);
	assert_int_equal(scheduled(&t), 0);
	end(&t);
}

static void when_the_group_has_gone_its_members_fail(void **state)
{
	struct trial t;

	begin_ring(&t, state, "8", 2);
	uint32_t a = add_pod(&t, RING SIZE("1"), BT_ENTERED_GATED),
		 b = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	assert_int_equal(
		bt_engine_delete_object(t.engine, BT_KIND_POD_GROUP, bt_str("default"), bt_str("ring")),
		BT_OK);
	decide(&t, a);
	assert_member(&t, 0, a, BT_FAILED);
	assert_member(&t, 1, b, BT_FAILED);
	assert_string_equal(t.messages[0],
		"running Permit plugin \"GangScheduling\": failed to get podGroup default/ring: "
		"podgroup.scheduling.k8s.io \"ring\" not found");
	assert_string_equal(t.messages[1],
		"failed to schedule other pod from a pod group: running Permit plugin \"GangScheduling\": "
		"failed to "
		"get podGroup default/ring: podgroup.scheduling.k8s.io \"ring\" not found");
	assert_int_equal(scheduled(&t), 0);
	assert_gate(&t, a, "waiting for pods's pod group \"ring\" to appear in scheduling queue");
	end(&t);
}

static void a_member_that_is_being_deleted_is_left_out(void **state)
{
	struct trial t;

	begin_ring(&t, state, "8", 1);
	uint32_t a = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE),
		 b = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	bt_ledger_set_terminating(bt_engine_cache(t.engine)->ledger, a, true);
	decide(&t, a);
	assert_member(&t, 0, a, BT_SKIPPED);
	assert_member(&t, 1, b, BT_PLACED);
	assert_int_equal(info(&t, a).where, BT_WAIT_NOWHERE);
	end(&t);
}

static void a_popped_member_that_is_deleted_takes_no_others_along(void **state)
{
	struct trial t;

	begin_ring(&t, state, "8", 1);
	uint32_t a = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE),
		 b = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	assert_int_equal(bt_engine_pop(t.engine), a);
	bt_engine_remove_pod(t.engine, a);
	bt_engine_decide_group(t.engine, a, NULL, &t.group);
	assert_int_equal(t.group.member_n, 0);
	assert_false(bt_ledger_has(bt_engine_cache(t.engine)->ledger, a));
	assert_int_equal(info(&t, b).where, BT_WAIT_ACTIVE);
	end(&t);
}

/* ---- preemption ---- */

static void when_one_preempts_the_whole_group_waits_for_the_victims(void **state)
{
	struct trial t;

	begin(&t, state);
	add_node(&t, "n1", "1");
	add_node(&t, "n2", "1");
	uint32_t low = add_pod(&t, "nodeName: n2, priority: -5, " SIZE("1"), BT_ENTERED_SCHEDULED);
	add_ring(&t, 2);
	uint32_t a = add_pod(&t, RING "priority: 5, " SIZE("1"), BT_ENTERED_GATED),
		 b = add_pod(&t, RING "priority: 5, " SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, a);
	assert_member(&t, 0, a, BT_REFUSED);
	assert_member(&t, 1, b, BT_REFUSED);
	assert_string_equal(
		t.messages[0], "pod group is unschedulable, pod group is waiting for preemption to complete");
	assert_int_equal(t.group.members[0].decision.nominated_ix, 0);
	assert_int_equal(t.group.members[1].decision.nominated_ix, 1);
	assert_int_equal(t.group.members[1].decision.victim_n, 1);
	assert_int_equal(t.group.members[1].decision.victims[0].pod_ix, low);
	assert_int_equal(scheduled(&t), 1);
	bt_engine_remove_pod(t.engine, low);
	t.now_ns += 3 * BT_QUEUE_SECOND;
	bt_engine_tick(t.engine);
	decide(&t, a);
	assert_member(&t, 0, a, BT_PLACED);
	assert_member(&t, 1, b, BT_PLACED);
	assert_int_equal(t.group.members[1].decision.node_ix, 1);
	assert_int_equal(scheduled(&t), 2);
	end(&t);
}

static void victims_leave_even_when_the_group_is_not_placed(void **state)
{
	struct trial t;

	begin(&t, state);
	add_node(&t, "n1", "1");
	uint32_t low = add_pod(&t, "nodeName: n1, priority: -5, " SIZE("1"), BT_ENTERED_SCHEDULED);
	add_ring(&t, 2);
	uint32_t a = add_pod(&t, RING "priority: 5, " SIZE("1"), BT_ENTERED_GATED),
		 b = add_pod(&t, RING "priority: 5, " SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, a);
	assert_member(&t, 0, a, BT_REFUSED);
	assert_member(&t, 1, b, BT_REFUSED);
	assert_string_equal(t.messages[0], WAITS);
	assert_int_equal(t.group.members[0].decision.victim_n, 1);
	assert_int_equal(t.group.members[0].decision.victims[0].pod_ix, low);
	assert_int_equal(t.group.members[0].decision.nominated_ix, BT_NO_NODE);
	end(&t);
}

#define PORT_8080(cpu)                                                                                       \
	"containers: [{name: a, ports: [{hostPort: 8080, containerPort: 80}], resources: {requests: {cpu: "  \
	"'" cpu "'}}}]"

static void a_group_that_is_taken_back_leaves_the_ports_of_its_victims(void **state)
{
	struct trial t;

	begin_ring(&t, state, "2", 2);
	add_pod(&t, "nodeName: n1, priority: -5, " PORT_8080("1"), BT_ENTERED_SCHEDULED);
	uint32_t first = add_pod(&t, RING "priority: 9, " PORT_8080("1"), BT_ENTERED_GATED);
	add_pod(&t, RING "priority: 8, " SIZE("5"), BT_ENTERED_QUEUE);
	decide(&t, first);
	assert_int_equal(t.group.members[0].decision.victim_n, 1);
	assert_int_equal(bt_engine_cache(t.engine)->view.usage->ports[0].n, 1);
	end(&t);
}

static void each_preemption_lists_the_cleared_nominations_of_its_node(void **state)
{
	struct trial t;

	begin(&t, state);
	add_node(&t, "n1", "1");
	add_node(&t, "n2", "1");
	add_pod(&t, "nodeName: n1, priority: -5, " SIZE("1"), BT_ENTERED_SCHEDULED);
	add_pod(&t, "nodeName: n2, priority: -5, " SIZE("1"), BT_ENTERED_SCHEDULED);
	uint32_t waiting[2];
	for (uint32_t i = 0; i < 2; i++) {
		waiting[i] = add_pod(&t, "priority: 1, " SIZE("1"), BT_ENTERED_QUEUE);
		bt_ledger_nominate(bt_engine_cache(t.engine)->ledger, waiting[i], i);
	}
	add_ring(&t, 2);
	uint32_t a = add_pod(&t, RING "priority: 5, " SIZE("1"), BT_ENTERED_GATED);
	add_pod(&t, RING "priority: 5, " SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, a);
	for (uint32_t i = 0; i < 2; i++) {
		const struct bt_decision *decision = &t.group.members[i].decision;

		assert_int_equal(decision->outcome, BT_REFUSED);
		assert_int_equal(decision->cleared_nominations_n, 1);
		assert_int_equal(decision->cleared_nominations[0], waiting[decision->node_ix]);
	}
	end(&t);
}

/* ---- preemption by the group as a whole ---- */

#define WHOLE "GenericWorkload=true,GangScheduling=true,WorkloadAwarePreemption=true"

struct evicted_by_group {
	uint32_t pods[MEMBERS], n;
	enum bt_wait where[2]; /* of the first two members, when the pod is evicted */
	const uint32_t *members;
	const struct trial *t;
};

static void note_evicted(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	struct evicted_by_group *evicted = context;

	assert_true(evicted->n < MEMBERS);
	assert_int_equal(for_ix, evicted->members[0]);
	for (int i = 0; i < 2; i++) {
		evicted->where[i] = info(evicted->t, evicted->members[i]).where;
	}
	evicted->pods[evicted->n++] = pod_ix;
	bt_engine_remove_pod(engine, pod_ix);
}

static void add_group(struct trial *t, const char *name, const char *spec)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: %s, namespace: "
		"default}, spec: {%s}}",
		name, spec);
	engine_apply(t->engine, t->f, text);
}

#define OLD "schedulingGroup: {podGroupName: old}, "

/* Two nodes, each full of a pod of a group that is preempted as a whole; a single pod beside one of them. */
struct full_of_groups {
	struct evicted_by_group evicted;
	uint32_t alone, old[2], ring[2];
};

static void begin_full(
	struct trial *t, struct full_of_groups *full, void **state, const char *old, const char *ring)
{
	*full = (struct full_of_groups){.evicted = {.members = full->ring, .t = t}};
	begin_with(t, state, WHOLE, (struct bt_engine_options){.evictor = {note_evicted, &full->evicted}});
	add_node(t, "n1", "2");
	add_node(t, "n2", "3");
	add_group(t, "old", old);
	add_group(t, "ring", ring);
	full->old[0] = add_pod(t, "nodeName: n1, " OLD SIZE("2"), BT_ENTERED_SCHEDULED);
	full->old[1] = add_pod(t, "nodeName: n2, " OLD SIZE("2"), BT_ENTERED_SCHEDULED);
	full->alone = add_pod(t, "nodeName: n2, " SIZE("1"), BT_ENTERED_SCHEDULED);
	full->ring[0] = add_pod(t, RING SIZE("1"), BT_ENTERED_GATED);
	full->ring[1] = add_pod(t, RING SIZE("1"), BT_ENTERED_QUEUE);
}

#define GANG_OF_2 "schedulingPolicy: {gang: {minCount: 2}}, "

static void a_group_preempts_as_a_whole_and_another_goes_as_a_whole(void **state)
{
	struct trial t;
	struct full_of_groups full;

	begin_full(&t, &full, state, "priority: 3, disruptionMode: PodGroup", GANG_OF_2 "priority: 5");
	decide(&t, full.ring[0]);
	assert_member(&t, 0, full.ring[0], BT_REFUSED);
	assert_string_equal(t.messages[0], "0/2 nodes are available: 2 Insufficient cpu. no new claims to "
					   "deallocate, preemption: not eligible due to workload aware "
					   "preemption enabled");
	/* The least important one may stay once the others are victims. */
	assert_int_equal(full.evicted.n, 2);
	assert_true(full.evicted.pods[0] + full.evicted.pods[1] == full.old[0] + full.old[1]);
	assert_true(t.group.members[0].decision.by_group);
	assert_int_equal(t.group.members[0].decision.victim_n, 2);
	assert_int_equal(t.group.members[1].decision.victim_n, 0);
	assert_int_equal(t.group.members[0].decision.nominated_ix, BT_NO_NODE);
	t.now_ns += 3 * BT_QUEUE_SECOND;
	bt_engine_tick(t.engine);
	decide(&t, full.ring[0]);
	assert_member(&t, 0, full.ring[0], BT_PLACED);
	assert_member(&t, 1, full.ring[1], BT_PLACED);
	assert_int_equal(scheduled(&t), 3);
	end(&t);
}

static void all_members_wait_until_the_last_victim_goes(void **state)
{
	struct trial t;
	struct full_of_groups full;

	begin_full(&t, &full, state, "priority: 3", GANG_OF_2 "priority: 5");
	decide(&t, full.ring[0]);
	assert_int_equal(full.evicted.n, 1); /* no other pod is evicted */
	assert_int_equal(full.evicted.pods[0], full.old[1]);
	assert_int_equal(full.evicted.where[0], BT_WAIT_GATED);
	assert_int_equal(full.evicted.where[1], BT_WAIT_GATED);
	end(&t);
}

/* why: the text after the group's "unschedulable". */
static void assert_nobody_goes(void **state, const char *old, const char *ring, const char *why)
{
	struct bt_buf summary = {0};
	struct trial t;
	struct full_of_groups full;

	begin_full(&t, &full, state, old, ring);
	decide(&t, full.ring[0]);
	assert_int_equal(full.evicted.n, 0);
	assert_member(&t, 0, full.ring[0], BT_REFUSED);
	assert_false(t.group.members[0].decision.by_group);
	assert_int_equal(bt_engine_cache(t.engine)->view.usage->nodes[0].pod_n, 1);
	assert_int_equal(bt_engine_cache(t.engine)->view.usage->nodes[1].pod_n, 2);
	assert_int_equal(scheduled(&t), 3);
	bt_engine_group_summary(t.engine, &t.group, bt_str(""), &summary);
	assert_string_equal(summary.ptr, why);
	bt_buf_fini(&summary);
	end(&t);
}

#define NO_VICTIMS "pod group is unschedulable, No preemption victims found for incoming preemptor"

static void a_group_preempts_by_its_own_priority(void **state)
{
	assert_nobody_goes(
		state, "priority: 3, disruptionMode: PodGroup", GANG_OF_2 "priority: 0", NO_VICTIMS);
}

static void no_pod_is_evicted_for_a_group_that_still_would_not_fit(void **state)
{
	assert_nobody_goes(state, "disruptionMode: Pod",
		"schedulingPolicy: {gang: {minCount: 2}}, priority: 5, schedulingConstraints: {topology: "
		"[{key: "
		"zone}]}",
		"pod group is unschedulable, workload aware preemption is not supported for pod groups with "
		"scheduling constraints");
	assert_nobody_goes(
		state, "priority: 9, disruptionMode: PodGroup", GANG_OF_2 "priority: 0", NO_VICTIMS);
}

static void when_the_group_has_gone_it_cannot_preempt(void **state)
{
	struct trial t;
	struct full_of_groups full;

	begin_full(&t, &full, state, "priority: 3", GANG_OF_2 "priority: 5");
	assert_int_equal(
		bt_engine_delete_object(t.engine, BT_KIND_POD_GROUP, bt_str("default"), bt_str("ring")),
		BT_OK);
	decide(&t, full.ring[0]);
	assert_member(&t, 0, full.ring[0], BT_FAILED);
	assert_member(&t, 1, full.ring[1], BT_FAILED);
	assert_string_equal(t.messages[1],
		"failed to get pod group object: podgroup.scheduling.k8s.io \"ring\" not found");
	end(&t);
}

static void a_popped_member_is_not_gated_again(void **state)
{
	struct bt_explanation explanation = {0};
	struct trial t;

	begin_ring(&t, state, "1", 1);
	uint32_t a = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	assert_int_equal(bt_engine_pop(t.engine), a);
	assert_int_equal(
		bt_engine_delete_object(t.engine, BT_KIND_POD_GROUP, bt_str("default"), bt_str("ring")),
		BT_OK);
	bt_engine_explain(t.engine, a, &explanation);
	assert_false(explanation.gated);
	assert_int_equal(explanation.evaluation.feasible_n, 1);
	bt_explanation_fini(&explanation);
	end(&t);
}

/* Pops a member, changes it, then decides: no pod is decided, and the other member still waits. */
static void change_popped(void **state, const char *spec, enum bt_wait wanted)
{
	char text[512];
	struct trial t;

	begin_ring(&t, state, "4", 2);
	uint32_t a = add_pod(&t, RING SIZE("1"), BT_ENTERED_GATED),
		 b = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	assert_int_equal(bt_engine_pop(t.engine), a);
	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: pod-%" PRIu32
		"}, spec: {%s}}",
		a, spec);
	assert_int_equal(bt_engine_update_pod(t.engine, a, &fixture_read(t.f, text)->pod), BT_OK);
	bt_engine_decide_group(t.engine, a, NULL, &t.group);
	assert_int_equal(t.group.member_n, 0);
	assert_int_equal(info(&t, a).where, wanted);
	assert_int_equal(info(&t, b).where, BT_WAIT_ACTIVE);
	scheduled(&t);
	end(&t);
}

static void a_popped_member_bound_by_another_scheduler_leaves_the_cycle(void **state)
{
	change_popped(
		state, "schedulerName: default-scheduler, nodeName: n1, " RING SIZE("1"), BT_WAIT_NOWHERE);
	change_popped(state, "schedulerName: nobody, nodeName: n1, " RING SIZE("1"), BT_WAIT_NOWHERE);
}

static void a_popped_member_that_leaves_its_group_is_tried_again_alone(void **state)
{
	change_popped(state, "schedulerName: default-scheduler, " SIZE("1"), BT_WAIT_BACKOFF);
}

/* How often cycles of a profile's groups had a result. */
static uint64_t result_n(const struct trial *t, enum bt_cycle_metric_group result, uint16_t profile)
{
	const struct bt_cycle_metric_table *table =
		&bt_engine_metrics(t->engine)->tables[BT_CYCLE_METRIC_GROUP];

	for (uint32_t i = 0; i < table->cap; i++) {
		const struct bt_series *series = &table->series[i];

		if (series->n && series->labels[0] == result && series->labels[1] == profile) {
			return series->n;
		}
	}
	return 0;
}

static uint64_t deciding_n(const struct trial *t)
{
	const struct bt_cycle_metric_table *table =
		&bt_engine_metrics(t->engine)->tables[BT_CYCLE_METRIC_GROUP_DECIDING];
	uint64_t n = 0;

	for (uint32_t i = 0; i < table->cap; i++) {
		n += table->series[i].n;
	}
	return n;
}

/* Source: podGroupCycle: one result for all members, none if members request different schedulers. */
static void a_groups_cycles_are_measured_by_outcome(void **state)
{
	struct bt_stage_latency *stages = bt_stage_latency_create();
	struct trial t;

	begin_with(&t, state, "GenericWorkload=true,GangScheduling=true",
		(struct bt_engine_options){.stages = stages});
	add_node(&t, "n1", "1");
	uint32_t low = add_pod(&t, "nodeName: n1, priority: -5, " SIZE("1"), BT_ENTERED_SCHEDULED);
	add_ring(&t, 2);
	uint32_t a = add_pod(&t, RING "schedulerName: other, " SIZE("1"), BT_ENTERED_GATED);
	uint32_t b = add_pod(&t, RING "schedulerName: other, " SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, a);
	assert_int_equal(result_n(&t, BT_CYCLE_METRIC_GROUP_UNSCHEDULABLE, 1), 1);
	add_ring(&t, 1);
	bt_engine_remove_pod(t.engine, b);
	t.now_ns += 20 * BT_QUEUE_SECOND;
	bt_engine_tick(t.engine);
	decide(&t, a);
	assert_int_equal(result_n(&t, BT_CYCLE_METRIC_GROUP_WAITS, 1), 1);
	bt_engine_remove_pod(t.engine, low);
	t.now_ns += 20 * BT_QUEUE_SECOND;
	bt_engine_tick(t.engine);
	decide(&t, a);
	assert_int_equal(result_n(&t, BT_CYCLE_METRIC_GROUP_SCHEDULED, 1), 1);
	assert_int_equal(deciding_n(&t), 3);
	uint32_t mixed = add_pod(&t, RING SIZE("1"), BT_ENTERED_QUEUE);
	add_pod(&t, RING "schedulerName: other, " SIZE("1"), BT_ENTERED_QUEUE);
	decide(&t, mixed);
	assert_int_equal(deciding_n(&t), 3);
	assert_int_equal(result_n(&t, BT_CYCLE_METRIC_GROUP_ERROR, 0), 0);
	end(&t);
	bt_mem_free(stages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(members_wait_for_the_group_then_for_each_other),
		FIXTURE_TEST(pods_on_nodes_are_members_too),
		FIXTURE_TEST(without_the_gates_groups_mean_nothing),
		FIXTURE_TEST(no_member_is_placed_unless_enough_are),
		FIXTURE_TEST(refused_members_are_requeued_by_backoff_only),
		FIXTURE_TEST(where_time_stands_still_they_wait_for_events),
		FIXTURE_TEST(a_member_refused_beside_others_waits_for_its_group_too),
		FIXTURE_TEST(a_member_refused_beside_a_pod_is_retried_when_that_is_bound_elsewhere),
		FIXTURE_TEST(a_member_refused_beside_a_pod_is_retried_when_the_group_needs_fewer),
		FIXTURE_TEST(a_member_refused_beside_placed_ones_does_not_wait_for_its_group),
		FIXTURE_TEST(more_than_enough_may_stay_behind),
		FIXTURE_TEST(a_basic_group_is_placed_one_by_one),
		FIXTURE_TEST(members_go_by_priority_then_by_first_attempt),
		FIXTURE_TEST(gated_members_are_not_pulled),
		FIXTURE_TEST(members_must_agree_on_the_scheduler),
		FIXTURE_TEST(when_the_group_has_gone_its_members_fail),
		FIXTURE_TEST(a_member_that_is_being_deleted_is_left_out),
		FIXTURE_TEST(a_popped_member_that_is_deleted_takes_no_others_along),
		FIXTURE_TEST(when_one_preempts_the_whole_group_waits_for_the_victims),
		FIXTURE_TEST(victims_leave_even_when_the_group_is_not_placed),
		FIXTURE_TEST(a_group_that_is_taken_back_leaves_the_ports_of_its_victims),
		FIXTURE_TEST(each_preemption_lists_the_cleared_nominations_of_its_node),
		FIXTURE_TEST(a_group_preempts_as_a_whole_and_another_goes_as_a_whole),
		FIXTURE_TEST(all_members_wait_until_the_last_victim_goes),
		FIXTURE_TEST(a_group_preempts_by_its_own_priority),
		FIXTURE_TEST(no_pod_is_evicted_for_a_group_that_still_would_not_fit),
		FIXTURE_TEST(when_the_group_has_gone_it_cannot_preempt),
		FIXTURE_TEST(a_popped_member_is_not_gated_again),
		FIXTURE_TEST(a_popped_member_bound_by_another_scheduler_leaves_the_cycle),
		FIXTURE_TEST(a_popped_member_that_leaves_its_group_is_tried_again_alone),
		FIXTURE_TEST(a_groups_cycles_are_measured_by_outcome),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
