/* SPDX-License-Identifier: Apache-2.0
 * Preemption in the engine: victims, nominations, and the cost of attempts that cannot help.
 */
#include "trial.h"

static void the_least_important_pod_goes_and_the_preemptor_takes_its_node(void **state)
{
	struct trial t = begin(state);
	uint32_t node = add_node(&t, "n1", "3");

	add_pod(&t, "name: a", "nodeName: n1, priority: 5, " CPU("1"), "startTime: '2026-01-01T00:00:00Z'");
	uint32_t young = add_pod(
		&t, "name: b", "nodeName: n1, priority: 5, " CPU("1"), "startTime: '2026-01-02T00:00:00Z'");
	add_pod(&t, "name: c", "nodeName: n1, priority: 9, " CPU("1"), "startTime: '2026-01-03T00:00:00Z'");
	uint32_t pod = add_pod(&t, "name: p", "priority: 7, " CPU("1"), "");
	struct bt_decision decision = decide(&t, pod);
	assert_int_equal(decision.outcome, BT_REFUSED);
	assert_int_equal(decision.nominated_ix, node);
	assert_int_equal(decision.victim_n, 1);
	assert_int_equal(decision.victims[0].pod_ix, young);
	assert_string_equal(message(&t, pod),
		"0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for "
		"pod on node n1, preempting 1 victims");
	bt_engine_remove_pod(t.engine, young);
	decision = decide(&t, pod);
	assert_int_equal(decision.outcome, BT_PLACED);
	assert_int_equal(decision.node_ix, node);
	assert_int_equal(bt_engine_counts(t.engine).preemption_n, 1);
	end(&t);
}

static void a_trial_leaves_no_trace(void **state)
{
	struct trial t = begin(state);
	uint32_t node = add_node(&t, "n1", "2");
	const struct bt_usage *usage = bt_engine_cache(t.engine)->view.usage;

	add_pod(&t, "name: a", "nodeName: n1, " CPU("1"), "");
	add_pod(&t, "name: b", "nodeName: n1, " CPU("1"), "");
	uint64_t journal_end = usage->journal_end;
	decide(&t, add_pod(&t, "name: p", "priority: 7, " CPU("1"), ""));
	assert_int_equal(usage->nodes[node].used[BT_CPU], 2000);
	assert_int_equal(usage->nodes[node].pod_n, 2);
	/* The nomination is the only change. */
	assert_int_equal(usage->journal_end, journal_end + 1);
	end(&t);
}

static void add_budget(struct trial *t)
{
	bt_engine_apply_object(t->engine,
		read(t,
			"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: default, "
			"name: "
			"%s}, spec: {selector: {matchLabels: {app: a}}}, status: {disruptionsAllowed: %s}}",
			"budget", "0"));
}

static void budgets_are_spared(void **state)
{
	struct trial t = begin(state);

	add_node(&t, "n1", "1");
	uint32_t other = add_node(&t, "n2", "1");
	add_pod(&t, "name: a, labels: {app: a}", "nodeName: n1, " CPU("1"),
		"startTime: '2026-01-02T00:00:00Z'");
	uint32_t victim = add_pod(&t, "name: b, labels: {app: b}", "nodeName: n2, priority: 3, " CPU("1"),
		"startTime: '2026-01-01T00:00:00Z'");
	add_budget(&t);
	struct bt_decision decision = decide(&t, add_pod(&t, "name: p", "priority: 7, " CPU("1"), ""));
	assert_int_equal(decision.nominated_ix, other);
	assert_int_equal(decision.victims[0].pod_ix, victim);
	end(&t);
}

static void add_budget_for(struct trial *t, const char *name, const char *label)
{
	bt_engine_apply_object(t->engine,
		read(t,
			"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: default, "
			"name: %s}, spec: {selector: {matchLabels: {%s}}}, status: {disruptionsAllowed: 1}}",
			name, label));
}

/* A budget for the first two of three pods, which the second violates, and one for the last two: is the last
 * one a victim? Otherwise the first is. */
static bool last_one_goes(void **state, const char *release)
{
	struct trial t = begin_of_release(state, release);

	add_node(&t, "n1", "3");
	uint32_t first = add_pod(&t, "name: a, labels: {app: x}", "nodeName: n1, priority: 3, " CPU("1"), "");
	add_pod(&t, "name: b, labels: {app: x, tier: db}", "nodeName: n1, priority: 2, " CPU("1"), "");
	uint32_t last =
		add_pod(&t, "name: c, labels: {tier: db}", "nodeName: n1, priority: 1, " CPU("1"), "");
	add_budget_for(&t, "first", "app: x");
	add_budget_for(&t, "second", "tier: db");
	struct bt_decision decision = decide(&t, add_pod(&t, "name: p", "priority: 7, " CPU("1"), ""));
	assert_int_equal(decision.victim_n, 1);
	bool goes = decision.victims[0].pod_ix == last;
	assert_true(goes || decision.victims[0].pod_ix == first);
	end(&t);
	return goes;
}

static void a_violated_budget_is_charged_to_the_next_one_until_1_36(void **state)
{
	/* Charged to both budgets, it leaves none that allows evicting the last one. */
	assert_false(last_one_goes(state, "1.36"));
	assert_true(last_one_goes(state, "1.37"));
}

static void success_is_reported_from_1_37_on(void **state)
{
	static const char *const texts[] = {"0/1 nodes are available: 1 Insufficient cpu.",
		"0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for "
		"pod on node n1, preempting 2 victims"};

	for (int i = 0; i < 2; i++) {
		struct trial t = begin_of_release(state, i ? "1.37" : "1.36");

		add_node(&t, "n1", "2");
		add_pod(&t, "name: a", "nodeName: n1, priority: 3, " CPU("1"), "");
		add_pod(&t, "name: b", "nodeName: n1, priority: 3, " CPU("1"), "");
		assert_string_equal(
			message(&t, add_pod(&t, "name: p", "priority: 7, " CPU("2"), "")), texts[i]);
		end(&t);
	}
}

/* A gated pod nominated to the node requests all of it. Does another pod fit there? */
static bool room_beside_gated(void **state, const char *release, const char *nominated)
{
	struct trial t = begin_of_release(state, release);

	add_node(&t, "n1", "1");
	add_pod(&t, "name: g", "priority: 5, schedulingGates: [{name: example.com/g}], " CPU("1"), nominated);
	struct bt_decision decision = decide(&t, add_pod(&t, "name: p", "priority: 5, " CPU("1"), ""));
	bool placed = decision.outcome == BT_PLACED;
	end(&t);
	return placed;
}

static void the_nomination_of_a_gated_pod_counts_from_1_37_on(void **state)
{
	assert_true(room_beside_gated(state, "1.36", "nominatedNodeName: n1"));
	assert_false(room_beside_gated(state, "1.37", "nominatedNodeName: n1"));
	assert_true(room_beside_gated(state, "1.37", "nominatedNodeName: ''"));
	assert_true(room_beside_gated(state, "1.37", "nominatedNodeName: n2"));
}

static void preemption_takes_the_nomination_of_a_gated_pod_back(void **state)
{
	struct trial t = begin_of_release(state, "1.37");

	uint32_t node = add_node(&t, "n1", "1");
	add_pod(&t, "name: a", "nodeName: n1, priority: 3, " CPU("1"), "");
	uint32_t gated = add_pod(&t, "name: g",
		"priority: 5, schedulingGates: [{name: example.com/g}], " CPU("1"), "nominatedNodeName: n1");
	assert_int_equal(bt_ledger_first_nominated(bt_engine_cache(t.engine)->ledger, node), gated);
	struct bt_decision decision = decide(&t, add_pod(&t, "name: p", "priority: 7, " CPU("1"), ""));
	assert_int_equal(decision.cleared_nominations_n, 1);
	assert_int_equal(decision.cleared_nominations[0], gated);
	end(&t);
}

static void a_nominated_node_is_kept_from_equals_and_given_to_higher_ones(void **state)
{
	struct trial t = begin(state);
	uint32_t node = add_node(&t, "n1", "1");
	uint32_t nominated = add_pod(&t, "name: p", "priority: 5, " CPU("1"), "nominatedNodeName: n1");
	uint32_t high = add_pod(&t, "name: h", "priority: 6, " CPU("1"), "");
	uint32_t equal = add_pod(&t, "name: e", "priority: 5, " CPU("1"), "");
	struct bt_decision decision;

	assert_int_equal(bt_engine_take(t.engine, equal), BT_OK);
	bt_engine_decide(t.engine, equal, &decision);
	assert_int_equal(decision.outcome, BT_REFUSED);
	assert_int_equal(decide(&t, high).node_ix, node);
	assert_int_equal(decide(&t, nominated).outcome, BT_REFUSED);
	end(&t);
}

static void a_preemptor_waits_for_victims_that_linger(void **state)
{
	struct trial t = begin(state);

	add_node(&t, "n1", "1");
	uint32_t victim = add_pod(&t, "name: a", "nodeName: n1, " CPU("1"), "");
	uint32_t pod = add_pod(&t, "name: p", "priority: 7, " CPU("1"), "");
	assert_int_equal(decide(&t, pod).victim_n, 1);
	bt_engine_evict(t.engine, victim);
	assert_int_equal(bt_engine_take(t.engine, pod), BT_OK);
	struct bt_decision decision;
	bt_engine_decide(t.engine, pod, &decision);
	assert_int_equal(decision.victim_n, 0);
	assert_string_equal(message(&t, pod),
		"0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible "
		"due to a terminating pod on the nominated node.");
	end(&t);
}

/* Deletes victims, or fails. */
struct deleter {
	uint32_t call_n, refuses_n; /* calls that fail, from the first on */
	uint32_t for_ix;
};

static void delete_or_fail(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	struct deleter *d = context;

	d->for_ix = for_ix;
	if (d->call_n++ < d->refuses_n) {
		bt_engine_evict_failed(engine, for_ix);
	} else {
		bt_engine_remove_pod(engine, pod_ix);
	}
}

/* Virtual time, an evictor, and a node full of two pods; the next pod needs the room of both. */
struct full_node {
	struct trial t;
	struct deleter deleter;
	int64_t now_ns;
	uint32_t victims[2], pod;
};

/* profile: NULL: kube-scheduler's default. */
static struct full_node *begin_full_node(void **state, struct bt_profile_config *profile, uint32_t refuses_n)
{
	struct full_node *full = calloc(1, sizeof(*full));
	const struct bt_engine_options options = {
		.clock = bt_clock_virtual(&full->now_ns), .evictor = {delete_or_fail, &full->deleter}};
	struct trial *t = &full->t;

	t->f = *state;
	full->deleter.refuses_n = refuses_n;
	bt_config_init(&t->config, NULL);
	t->config.profiles = profile;
	t->config.profile_n = profile != NULL;
	bt_config_default(&t->config);
	start(t, &options);
	add_node(t, "n1", "2");
	full->victims[0] = add_pod(t, "name: a", "nodeName: n1, " CPU("1"), "");
	full->victims[1] = add_pod(t, "name: b", "nodeName: n1, " CPU("1"), "");
	full->pod = add_pod(t, "name: p", "priority: 7, " CPU("2"), "");
	return full;
}

static void end_full_node(struct full_node *full)
{
	end(&full->t);
	free(full);
}

static void pass_seconds(struct full_node *full, int64_t seconds)
{
	full->now_ns += seconds * BT_QUEUE_SECOND;
	bt_engine_tick(full->t.engine);
}

static enum bt_wait place_of_preemptor(const struct full_node *full)
{
	return bt_queue_info(bt_engine_queue(full->t.engine), full->pod).where;
}

/* The preemptor's cycle, during which its victims are deleted by others. */
static void lose_victims_in_cycle(struct full_node *full)
{
	struct bt_engine *engine = full->t.engine;
	struct bt_decision decision;

	bt_engine_begin(engine, bt_engine_pop(engine), &decision);
	bt_engine_remove_pod(engine, full->victims[0]);
	bt_engine_remove_pod(engine, full->victims[1]);
	bt_engine_end(engine, &decision);
}

static void a_preemptor_whose_victim_stays_is_tried_again_and_no_sooner_than_its_backoff(void **state)
{
	struct full_node *full = begin_full_node(state, NULL, 1);
	struct bt_engine *engine = full->t.engine;

	assert_int_equal(decide(&full->t, full->pod).victim_n, 2);
	/* The first eviction has failed, so the second victim is spared. */
	assert_int_equal(full->deleter.call_n, 1);
	assert_int_equal(full->deleter.for_ix, full->pod);
	assert_int_equal(bt_engine_counts(engine).evict_failed_n, 1);
	assert_int_equal(place_of_preemptor(full), BT_WAIT_BACKOFF);
	assert_int_equal(bt_engine_pop(engine), BT_NO_POD);
	pass_seconds(full, 2);
	decide(&full->t, full->pod);
	assert_int_equal(full->deleter.call_n, 3);
	pass_seconds(full, 3);
	assert_int_equal(decide(&full->t, full->pod).outcome, BT_PLACED);
	end_full_node(full);
}

/* Its victims were deleted during its cycle: the event came too early to requeue it, and no other follows. */
static void the_flush_requeues_a_preemptor_whose_victims_were_deleted_during_its_cycle(void **state)
{
	struct full_node *full = begin_full_node(state, NULL, 0);

	lose_victims_in_cycle(full);
	assert_int_equal(place_of_preemptor(full), BT_WAIT_GATED);
	for (int half_minutes = 1; half_minutes <= 10; half_minutes++) {
		pass_seconds(full, 30);
		assert_int_equal(bt_engine_pop(full->t.engine), BT_NO_POD);
	}
	pass_seconds(full, 30);
	assert_int_equal(decide(&full->t, full->pod).outcome, BT_PLACED);
	end_full_node(full);
}

/* The same where the profile has the plugin at PostFilter only: no plugin gates the preemptor. */
static void a_preemptor_is_gated_only_where_its_plugin_is_at_pre_enqueue(void **state)
{
	struct bt_config_plugin off = {.name = BT_STR("DefaultPreemption")};
	struct bt_profile_config profile = {.scheduler_name = bt_str("default-scheduler"),
		.scheduler_name_set = true,
		.plugins.points[BT_POINT_PRE_ENQUEUE].disabled = {&off, 1}};
	struct full_node *full = begin_full_node(state, &profile, 0);

	lose_victims_in_cycle(full);
	assert_int_equal(place_of_preemptor(full), BT_WAIT_BACKOFF);
	pass_seconds(full, 2);
	assert_int_equal(decide(&full->t, full->pod).outcome, BT_PLACED);
	end_full_node(full);
}

static void refusals_have_the_reason_why_preemption_does_not_help(void **state)
{
	struct trial t = begin(state);

	add_node(&t, "n1", "1");
	add_node(&t, "n2", "4");
	add_pod(&t, "name: a", "nodeName: n1, priority: 9, " CPU("1"), "");
	add_pod(&t, "name: b", "nodeName: n2, priority: 9, " CPU("3500m"), "");
	add_pod(&t, "name: c", "nodeName: n2, priority: 1, " CPU("500m"), "");
	assert_string_equal(message(&t, add_pod(&t, "name: p", "priority: 7, " CPU("1"), "")),
		"0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 "
		"nodes are "
		"available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod.");
	assert_string_equal(message(&t, add_pod(&t, "name: q", "priority: 7, " CPU("8"), "")),
		"0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 "
		"nodes are "
		"available: 2 Preemption is not helpful for scheduling.");
	assert_string_equal(
		message(&t, add_pod(&t, "name: r", "priority: 7, preemptionPolicy: Never, " CPU("1"), "")),
		"0/2 nodes are available: 2 Insufficient cpu. preemption: not "
		"eligible "
		"due to preemptionPolicy=Never.");
	end(&t);
}

static void pods_of_one_kind_share_the_verdict_that_nothing_helps(void **state)
{
	struct trial t = begin(state);
	char name[32];

	add_node(&t, "n1", "2");
	add_pod(&t, "name: a", "nodeName: n1, priority: 9, " CPU("2"), "");
	add_pod(&t, "name: b", "nodeName: n1, priority: 1, " CPU("500m"), "");
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "name: p%d", i);
		assert_int_equal(decide(&t, add_pod(&t, name, "priority: 7, " CPU("1"), "")).victim_n, 0);
	}
	assert_int_equal(bt_engine_counts(t.engine).dry_run_n, 1);
	/* After a change it is tried again. */
	bt_engine_remove_pod(t.engine, add_pod(&t, "name: c", "nodeName: n1, priority: 1, " CPU("1"), ""));
	struct bt_decision decision;
	bt_engine_decide(t.engine, bt_engine_pop(t.engine), &decision);
	bt_engine_decide(t.engine, bt_engine_pop(t.engine), &decision);
	assert_int_equal(bt_engine_counts(t.engine).dry_run_n, 2);
	end(&t);
}

#define USES "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]"

static void apply_volume(struct trial *t, const char *affinity)
{
	bt_engine_apply_object(t->engine, read(t,
						  "{apiVersion: v1, kind: PersistentVolume, metadata: "
						  "{name: p}, spec: {nodeAffinity: {%s}}}",
						  affinity, NULL));
}

static void add_claim_for_one_pod(struct trial *t, const char *space)
{
	bt_engine_apply_object(t->engine,
		read(t,
			"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: %s, name: c, "
			"annotations: {pv.kubernetes.io/bind-completed: 'yes'}}, spec: {volumeName: p, "
			"accessModes: [%s]}, status: {phase: Bound}}",
			space, "ReadWriteOncePod"));
	apply_volume(t, "");
}

static void the_holder_of_a_read_write_once_pod_claim_may_be_a_victim(void **state)
{
	struct trial t = begin(state);

	add_claim_for_one_pod(&t, "default");
	add_node(&t, "n1", "4");
	uint32_t node = add_node(&t, "n2", "4");
	add_pod(&t, "name: a", "nodeName: n1, " CPU("1"), "");
	uint32_t holder = add_pod(&t, "name: b", "nodeName: n2, " USES, "");
	uint32_t pod = add_pod(&t, "name: p", "priority: 7, " USES, "");
	struct bt_decision decision = decide(&t, pod);
	assert_int_equal(decision.outcome, BT_REFUSED);
	assert_int_equal(decision.nominated_ix, node);
	assert_int_equal(decision.victim_n, 1);
	assert_int_equal(decision.victims[0].pod_ix, holder);
	assert_int_equal(bt_engine_cache(t.engine)->view.storage->trial_n, 0);
	end(&t);
}

/* Upstream's dry runs identify claims by name alone. */
static void a_namesake_of_the_claim_counts_in_trials(void **state)
{
	struct trial t = begin(state);

	add_claim_for_one_pod(&t, "default");
	add_claim_for_one_pod(&t, "other");
	uint32_t node = add_node(&t, "n1", "4");
	add_node(&t, "n2", "4");
	add_pod(&t, "name: a", "nodeName: n2, priority: 9, " USES, "");
	uint32_t namesake = add_pod(&t, "name: b, namespace: other", "nodeName: n1, " USES, "");
	struct bt_decision decision = decide(&t, add_pod(&t, "name: p", "priority: 7, " USES, ""));
	assert_int_equal(decision.nominated_ix, node);
	assert_int_equal(decision.victims[0].pod_ix, namesake);
	end(&t);
}

static void storage_that_changes_gives_preemption_another_try(void **state)
{
	struct trial t = begin(state);

	add_claim_for_one_pod(&t, "default");
	add_node(&t, "n1", "4");
	add_pod(&t, "name: a", "nodeName: n1, " USES, "");
	uint32_t pod = add_pod(&t, "name: p", "priority: 7, " USES, "");
	apply_volume(&t, "required: {nodeSelectorTerms: [{matchExpressions: [{key: x, operator: Exists}]}]}");
	assert_int_equal(decide(&t, pod).victim_n, 0);
	/* No plugin that rejected the pod is registered for this event. */
	apply_volume(&t, "");
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	assert_int_equal(bt_engine_take(t.engine, pod), BT_OK);
	struct bt_decision decision;
	bt_engine_decide(t.engine, pod, &decision);
	assert_int_equal(decision.victim_n, 1);
	end(&t);
}

/* ---- what changes between the halves of a cycle ---- */

static void update_pod(
	struct trial *t, uint32_t pod, const char *metadata, const char *spec, const char *status)
{
	struct bt_buf body = {0};

	bt_buf_printf(&body, "schedulerName: default-scheduler, %s}, status: {%s", spec, status);
	const struct bt_object *object =
		read(t, "{apiVersion: v1, kind: Pod, metadata: {namespace: default, %s}, spec: {%s}}",
			metadata, body.ptr);
	assert_int_equal(bt_engine_update_pod(t->engine, pod, &object->pod), BT_OK);
	bt_buf_fini(&body);
}

/* The requested evictions; the last one's pod, and whether it was removed from its node by then. */
struct evictions {
	uint32_t n, pod_ix;
	bool detached;
};

static void note_eviction(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	struct evictions *evictions = context;

	(void)for_ix;
	evictions->n++;
	evictions->pod_ix = pod_ix;
	evictions->detached = bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix)->detached;
}

#define VICTIM	  "nodeName: n1, " CPU("1")
#define PREEMPTOR "priority: 7, " CPU("1")

/* A preemptor's cycle in progress: node n1 is full of one pod, which it may preempt. */
struct open_cycle {
	struct trial t;
	struct evictions evictions;
	struct bt_decision decision;
	uint32_t victim;
};

static struct open_cycle *begin_cycle(void **state)
{
	struct open_cycle *cycle = calloc(1, sizeof(*cycle));
	const struct bt_engine_options options = {
		.no_backoff = true, .evictor = {note_eviction, &cycle->evictions}};

	cycle->t.f = *state;
	bt_config_init_default(&cycle->t.config, NULL);
	start(&cycle->t, &options);
	add_node(&cycle->t, "n1", "1");
	cycle->victim = add_pod(&cycle->t, "name: a", VICTIM, "");
	add_pod(&cycle->t, "name: p", PREEMPTOR, "");
	bt_engine_begin(cycle->t.engine, bt_engine_pop(cycle->t.engine), &cycle->decision);
	assert_int_equal(cycle->decision.outcome, BT_REFUSED);
	return cycle;
}

static void end_cycle(struct open_cycle *cycle)
{
	end(&cycle->t);
	free(cycle);
}

static void the_preemptor_counts_as_it_is_when_the_cycle_ends(void **state)
{
	struct open_cycle *cycle = begin_cycle(state);

	update_pod(&cycle->t, cycle->decision.pod_ix, "name: p", "priority: 0, " CPU("1"), "");
	bt_engine_end(cycle->t.engine, &cycle->decision);
	assert_int_equal(cycle->decision.preempt, BT_PREEMPT_NOWHERE);
	assert_int_equal(cycle->evictions.n, 0);
	end_cycle(cycle);
}

static void nodes_count_as_they_were_when_the_cycle_began(void **state)
{
	struct open_cycle *cycle = begin_cycle(state);

	add_node(&cycle->t, "n1", "4");
	bt_engine_end(cycle->t.engine, &cycle->decision);
	assert_int_equal(cycle->decision.preempt, BT_PREEMPT_FOUND);
	assert_int_equal(cycle->evictions.n, 1);
	assert_int_equal(cycle->evictions.pod_ix, cycle->victim);
	assert_false(cycle->evictions.detached);
	end_cycle(cycle);
}

/* Events on nodes before the budget is added. bound: a pod with an open binding. */
static void happen(struct trial *t, int what, uint32_t spared, uint32_t bound)
{
	switch (what) {
	case 0:
		add_node(t, "n1", "8");
		break;
	case 1:
		bt_engine_remove_node(t->engine, bt_str("n2"));
		break;
	case 2:
		add_node(t, "n3", "8");
		break;
	case 3:
		add_pod(t, "name: c", "nodeName: n2, priority: 9, " CPU("1"), "");
		break;
	case 4:
		bt_engine_remove_pod(t->engine, spared);
		break;
	case 5:
		bt_engine_evict(t->engine, spared);
		break;
	case 6:
		bt_engine_bind_failed(t->engine, bound);
		break;
	case 7:
		bt_engine_bound(t->engine, bound);
		break;
	default:
		bt_engine_evict(t->engine, bound);
		bt_engine_remove_pod(t->engine, bound);
		bt_engine_bind_failed(t->engine, bound);
		break;
	}
}

static void a_budget_added_after_a_node_changed_in_the_cycle_counts(void **state)
{
	const struct bt_engine_options options = {.no_backoff = true, .binder = {leave_open, NULL}};

	for (int what = 0; what < 9; what++) {
		struct trial t = {.f = *state};
		struct bt_decision decision;

		bt_config_init_default(&t.config, NULL);
		start(&t, &options);
		add_node(&t, "n0", "1");
		uint32_t bound = add_pod(&t, "name: o", "priority: 9, " CPU("1"), "");
		assert_int_equal(decide(&t, bound).outcome, BT_PLACED);
		add_node(&t, "n1", "1");
		uint32_t other = add_node(&t, "n2", "1");
		uint32_t spared = add_pod(&t, "name: a, labels: {app: a}", "nodeName: n1, " CPU("1"), "");
		uint32_t victim = add_pod(&t, "name: b", "nodeName: n2, priority: 3, " CPU("1"), "");
		uint32_t pod = add_pod(&t, "name: p", "priority: 7, " CPU("1"), "");

		assert_int_equal(bt_engine_take(t.engine, pod), BT_OK);
		bt_engine_begin(t.engine, pod, &decision);
		happen(&t, what, spared, bound);
		add_budget(&t);
		bt_engine_run_post_filter(t.engine, &decision);
		assert_int_equal(decision.preempt, BT_PREEMPT_FOUND);
		assert_int_equal(decision.nominated_ix, other);
		assert_int_equal(decision.victims[0].pod_ix, victim);
		bt_engine_end(t.engine, &decision);
		end(&t);
	}
}

static void a_victim_that_ends_in_the_cycle_is_evicted_and_one_that_goes_is_not(void **state)
{
	for (int goes = 0; goes < 2; goes++) {
		struct open_cycle *cycle = begin_cycle(state);

		if (goes) {
			bt_engine_remove_pod(cycle->t.engine, cycle->victim);
		} else {
			update_pod(&cycle->t, cycle->victim, "name: a", VICTIM, "phase: Failed");
		}
		bt_engine_end(cycle->t.engine, &cycle->decision);
		assert_int_equal(cycle->decision.preempt, BT_PREEMPT_FOUND);
		assert_int_equal(cycle->evictions.n, !goes);
		assert_int_equal(cycle->evictions.detached, !goes);
		/* No references are left. */
		assert_false(bt_ledger_has(bt_engine_cache(cycle->t.engine)->ledger, cycle->victim));
		end_cycle(cycle);
	}
}

static void a_preemptor_deleted_during_its_cycle_preempts_no_pod(void **state)
{
	for (int changes = 0; changes < 2; changes++) {
		struct open_cycle *cycle = begin_cycle(state);

		if (changes) {
			add_node(&cycle->t, "n2", "1m");
		}
		bt_engine_remove_pod(cycle->t.engine, cycle->decision.pod_ix);
		bt_engine_run_post_filter(cycle->t.engine, &cycle->decision);
		assert_int_equal(cycle->decision.preempt, BT_PREEMPT_FAILED);
		bt_engine_end(cycle->t.engine, &cycle->decision);
		assert_int_equal(cycle->evictions.n, 0);
		end_cycle(cycle);
	}
}

/* It has left the queue because it is being deleted: only its name is known. */
static void a_nominated_pod_that_was_dropped_counts_as_one_pod_of_priority_zero(void **state)
{
	struct trial t = begin(state);
	const struct bt_object *node = read(&t,
		"{apiVersion: v1, kind: Node, metadata: {name: %s}, status: {allocatable: {cpu: '%s', "
		"memory: 8Gi, "
		"pods: '1'}}}",
		"n1", "2");
	uint32_t slot;

	assert_int_equal(bt_engine_apply_node(t.engine, &node->node, &slot), BT_OK);
	uint32_t dropped = add_pod(&t, "name: h, deletionTimestamp: '2026-01-01T00:00:00Z'",
		"priority: 9, " CPU("2"), "nominatedNodeName: n1");
	assert_int_equal(decide(&t, dropped).outcome, BT_SKIPPED);
	uint32_t below = add_pod(&t, "name: b", CPU("2"), "");
	assert_int_equal(decide(&t, below).outcome, BT_REFUSED);
	uint32_t above = add_pod(&t, "name: c", "priority: 1, " CPU("2"), "");
	assert_int_equal(decide(&t, above).outcome, BT_PLACED);
	end(&t);
}

/* ---- victims that cannot be deleted ---- */

#define CROWD_NODES	 24
#define CROWD_PREEMPTORS 40
#define ANSWERS_LATE	 16   /* in cycles */
#define CYCLES_MAX	 3000 /* of those that never end */
#define SECONDS		 60
/* Backoffs of 1, 2, 4, 8 and then 10 seconds, and as many retries for real events. */
#define TRIES_MAX (2 * 9)

/* The preemptor of each eviction, and the cycle that began it. */
struct refusals {
	uint32_t for_ix[CYCLES_MAX + 1], cycle[CYCLES_MAX + 1], n, answered_n, cycle_n;
};

static void note_refusal(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t for_ix)
{
	struct refusals *refusals = context;

	(void)engine;
	(void)pod_ix;
	assert_true(refusals->n <= CYCLES_MAX);
	refusals->cycle[refusals->n] = refusals->cycle_n;
	refusals->for_ix[refusals->n++] = for_ix;
}

/* Delivers answers that are due. */
static void answer_refusals(struct refusals *refusals, struct bt_engine *engine, uint32_t by_cycle)
{
	while (refusals->answered_n < refusals->n && refusals->cycle[refusals->answered_n] <= by_cycle) {
		bt_engine_evict_failed(engine, refusals->for_ix[refusals->answered_n++]);
	}
}

/* Returns: the number of cycles without an eviction in a minute. */
static uint32_t play_crowd(void **state, bool status_is_shown)
{
	struct refusals refusals = {.n = 0};
	int64_t now_ns = BT_QUEUE_SECOND;
	struct trial t = {.f = *state};
	struct bt_decision decision;
	char text[64], cpu[128];

	bt_config_init_default(&t.config, NULL);
	start(&t, &(struct bt_engine_options){.clock = bt_clock_virtual(&now_ns),
			  .evictor = {note_refusal, &refusals},
			  .status_is_shown = status_is_shown});
	for (uint32_t i = 0; i < CROWD_NODES; i++) {
		add_node(&t, numbered(text, sizeof(text), "n", i), "4");
		for (uint32_t k = 0; k < 2; k++) {
			snprintf(text, sizeof(text), "name: v%" PRIu32 "-%" PRIu32, i, k);
			snprintf(cpu, sizeof(cpu), "nodeName: n%" PRIu32 ", " CPU("2"), i);
			add_pod(&t, text, cpu, "");
		}
	}
	for (uint32_t i = 0; i < CROWD_PREEMPTORS; i++) {
		snprintf(cpu, sizeof(cpu),
			"priority: 7, containers: [{name: a, resources: {requests: {cpu: %s}}}]",
			(const char *[]){"1", "2", "3"}[i % 3]);
		add_pod(&t, numbered(text, sizeof(text), "name: p", i), cpu, "");
	}
	for (int second = 0; second < SECONDS; second++, now_ns += BT_QUEUE_SECOND) {
		bt_engine_tick(t.engine);
		for (uint32_t pod; (pod = bt_engine_pop(t.engine)) != BT_NO_POD;) {
			if (++refusals.cycle_n > CYCLES_MAX) {
				break;
			}
			bt_engine_decide(t.engine, pod, &decision);
			answer_refusals(&refusals, t.engine, refusals.cycle_n - ANSWERS_LATE);
		}
		answer_refusals(&refusals, t.engine, refusals.cycle_n);
	}
	end(&t);
	return refusals.cycle_n;
}

static void preemptors_whose_victims_stay_wake_each_other_no_sooner_than_their_backoff(void **state)
{
	assert_in_range(play_crowd(state, false), CROWD_PREEMPTORS, CROWD_PREEMPTORS * TRIES_MAX);
}

static void moving_a_nomination_that_is_not_written_requeues_no_pod(void **state)
{
	assert_in_range(play_crowd(state, true), CROWD_PREEMPTORS, CROWD_PREEMPTORS * TRIES_MAX / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(the_least_important_pod_goes_and_the_preemptor_takes_its_node),
		FIXTURE_TEST(a_trial_leaves_no_trace),
		FIXTURE_TEST(budgets_are_spared),
		FIXTURE_TEST(a_violated_budget_is_charged_to_the_next_one_until_1_36),
		FIXTURE_TEST(success_is_reported_from_1_37_on),
		FIXTURE_TEST(the_nomination_of_a_gated_pod_counts_from_1_37_on),
		FIXTURE_TEST(preemption_takes_the_nomination_of_a_gated_pod_back),
		FIXTURE_TEST(a_budget_added_after_a_node_changed_in_the_cycle_counts),
		FIXTURE_TEST(a_nominated_node_is_kept_from_equals_and_given_to_higher_ones),
		FIXTURE_TEST(a_preemptor_waits_for_victims_that_linger),
		FIXTURE_TEST(a_preemptor_whose_victim_stays_is_tried_again_and_no_sooner_than_its_backoff),
		FIXTURE_TEST(the_flush_requeues_a_preemptor_whose_victims_were_deleted_during_its_cycle),
		FIXTURE_TEST(a_preemptor_is_gated_only_where_its_plugin_is_at_pre_enqueue),
		FIXTURE_TEST(refusals_have_the_reason_why_preemption_does_not_help),
		FIXTURE_TEST(pods_of_one_kind_share_the_verdict_that_nothing_helps),
		FIXTURE_TEST(the_holder_of_a_read_write_once_pod_claim_may_be_a_victim),
		FIXTURE_TEST(a_namesake_of_the_claim_counts_in_trials),
		FIXTURE_TEST(storage_that_changes_gives_preemption_another_try),
		FIXTURE_TEST(the_preemptor_counts_as_it_is_when_the_cycle_ends),
		FIXTURE_TEST(nodes_count_as_they_were_when_the_cycle_began),
		FIXTURE_TEST(a_victim_that_ends_in_the_cycle_is_evicted_and_one_that_goes_is_not),
		FIXTURE_TEST(a_preemptor_deleted_during_its_cycle_preempts_no_pod),
		FIXTURE_TEST(a_nominated_pod_that_was_dropped_counts_as_one_pod_of_priority_zero),
		FIXTURE_TEST(preemptors_whose_victims_stay_wake_each_other_no_sooner_than_their_backoff),
		FIXTURE_TEST(moving_a_nomination_that_is_not_written_requeues_no_pod),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
