/* SPDX-License-Identifier: Apache-2.0
 * The cycle: pods are added, decided, bound or not, and removed.
 */
#include "engine_objects.h"

#include "engine/flow/cycle/engine.h"
#include "engine/flow/cycle/hints.h"

#define CONTAINER "containers: [{name: a, resources: {requests: {cpu: '1'}}}]"

struct trial {
	struct fixture *f;
	struct bt_config config;
	struct bt_engine *engine;
};

static void start(struct trial *t, const struct bt_engine_options *options)
{
	t->engine = fixture_engine(&t->config, options);
}

static void begin(struct trial *t, void **state, const struct bt_engine_options *options)
{
	t->f = *state;
	bt_config_init_default(&t->config, NULL);
	start(t, options);
}

/* Adds a profile "bare" with few plugins. */
static void begin_with_bare(struct trial *t, void **state)
{
	static struct bt_config_plugin few[] = {{.name = BT_STR("PrioritySort")},
		{.name = BT_STR("NodeUnschedulable")}, {.name = BT_STR("DefaultBinder")}};

	t->f = *state;
	bt_config_init_default(&t->config, NULL);
	struct bt_profile_config *profiles = bt_arena_zalloc(&t->config.arena, 2 * sizeof(*profiles));
	profiles[0] = profiles[1] = t->config.profiles[0];
	profiles[1].scheduler_name = bt_str("bare");
	profiles[1].plugins.multi_point.enabled = (struct bt_config_plugin_list){few, 3};
	t->config.profiles = profiles;
	t->config.profile_n = 2;
	start(t, &(struct bt_engine_options){.no_backoff = true});
}

static void end(struct trial *t)
{
	bt_engine_destroy(t->engine);
	bt_config_fini(&t->config);
}

static uint32_t add_node(struct trial *t, const char *name, const char *cpu)
{
	return engine_add_node(t->engine, t->f, name, cpu);
}

static uint32_t add_pod(struct trial *t, const char *spec, enum bt_entry wanted)
{
	return engine_add_pod(t->engine, t->f, spec, wanted);
}

static struct bt_decision decide(struct trial *t, uint32_t pod)
{
	struct bt_decision decision;

	assert_int_equal(bt_engine_pop(t->engine), pod);
	bt_engine_decide(t->engine, pod, &decision);
	return decision;
}

static void pods_are_sorted_on_insertion(void **state)
{
	struct trial t;
	enum bt_entry entry;
	uint32_t ix;

	begin(&t, state, &(struct bt_engine_options){0});
	add_node(&t, "n1", "4");
	add_pod(&t, CONTAINER, BT_ENTERED_QUEUE);
	add_pod(&t, "schedulingGates: [{name: g}], " CONTAINER, BT_ENTERED_GATED);
	add_pod(&t, "nodeName: n1, " CONTAINER, BT_ENTERED_SCHEDULED);
	assert_int_equal(
		bt_engine_add_pod(t.engine, fixture_read_pod(t.f, "schedulerName: other"), &entry, &ix),
		BT_OK);
	assert_int_equal(entry, BT_ENTERED_FOREIGN);
	assert_int_equal(ix, BT_NO_POD);
	struct bt_engine_counts counts = bt_engine_counts(t.engine);
	assert_int_equal(counts.queue.active, 1);
	assert_int_equal(counts.queue.gated, 1);
	assert_int_equal(counts.sets.scheduled, 1);
	end(&t);
}

static void a_pod_that_fits_is_placed_and_counts(void **state)
{
	struct trial t;

	begin(&t, state, &(struct bt_engine_options){0});
	uint32_t node = add_node(&t, "n1", "1"), first = add_pod(&t, CONTAINER, BT_ENTERED_QUEUE);
	uint32_t second = add_pod(&t, CONTAINER, BT_ENTERED_QUEUE);
	struct bt_decision decision = decide(&t, first);
	assert_int_equal(decision.outcome, BT_PLACED);
	assert_int_equal(decision.node_ix, node);
	assert_int_equal(decide(&t, second).outcome, BT_REFUSED);
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	struct bt_engine_counts counts = bt_engine_counts(t.engine);
	assert_int_equal(counts.sets.scheduled, 1);
	assert_int_equal(counts.queue.unschedulable, 1);
	assert_int_equal(counts.placed_n, 1);
	assert_int_equal(counts.refused_n, 1);
	end(&t);
}

static void a_refused_pod_is_retried_when_a_node_may_have_room(void **state)
{
	struct trial t;

	begin(&t, state, &(struct bt_engine_options){0});
	add_node(&t, "n1", "1");
	uint32_t first = add_pod(&t, CONTAINER, BT_ENTERED_QUEUE),
		 second = add_pod(&t, CONTAINER, BT_ENTERED_QUEUE);
	decide(&t, first);
	decide(&t, second);
	bt_engine_remove_pod(t.engine, first);
	assert_int_equal(decide(&t, second).outcome, BT_PLACED);
	uint32_t third = add_pod(&t, CONTAINER, BT_ENTERED_QUEUE);
	assert_int_equal(decide(&t, third).outcome, BT_REFUSED);
	add_node(&t, "n2", "1");
	assert_int_equal(decide(&t, third).outcome, BT_PLACED);
	end(&t);
}

static void without_nodes_every_pod_is_refused(void **state)
{
	struct trial t;
	struct bt_explanation explanation = {0};
	struct bt_buf text = {0};

	begin(&t, state, &(struct bt_engine_options){0});
	uint32_t pod = add_pod(&t, CONTAINER, BT_ENTERED_QUEUE);
	assert_int_equal(decide(&t, pod).outcome, BT_REFUSED);
	bt_engine_explain(t.engine, pod, &explanation);
	bt_engine_message(t.engine, &explanation, &text);
	assert_string_equal(text.ptr, "no nodes available to schedule pods");
	bt_explanation_fini(&explanation);
	bt_buf_fini(&text);
	end(&t);
}

static void a_binding_that_fails_gives_everything_back(void **state)
{
	struct trial t;

	begin(&t, state, &(struct bt_engine_options){.binder = {leave_open, NULL}, .no_backoff = true});
	uint32_t node = add_node(&t, "n1", "1"), pod = add_pod(&t, CONTAINER, BT_ENTERED_QUEUE);
	assert_int_equal(decide(&t, pod).outcome, BT_PLACED);
	assert_int_equal(bt_engine_counts(t.engine).sets.assumed, 1);
	assert_int_equal(bt_engine_cache(t.engine)->view.usage->nodes[node].pod_n, 1);
	bt_engine_bind_failed(t.engine, pod);
	assert_int_equal(bt_engine_counts(t.engine).sets.queued, 1);
	assert_int_equal(bt_engine_cache(t.engine)->view.usage->nodes[node].pod_n, 0);
	assert_int_equal(decide(&t, pod).outcome, BT_PLACED);
	bt_engine_bound(t.engine, pod);
	struct bt_ledger_counts sets = bt_engine_counts(t.engine).sets;
	assert_int_equal(sets.assume_n, 2);
	assert_int_equal(sets.forget_n, 1);
	assert_int_equal(sets.confirm_n, 1);
	end(&t);
}

static const struct bt_pod_object *named(struct trial *t, const char *rest)
{
	char text[512];

	snprintf(text, sizeof(text), "{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: p%s}",
		rest);
	return &fixture_read(t->f, text)->pod;
}

static uint32_t add_named(struct trial *t)
{
	enum bt_entry entry;
	uint32_t ix;

	assert_int_equal(
		bt_engine_add_pod(t->engine,
			named(t, "}, spec: {schedulerName: default-scheduler, " CONTAINER "}"), &entry, &ix),
		BT_OK);
	return ix;
}

static int64_t pods_on(struct trial *t, uint32_t node)
{
	return bt_engine_cache(t->engine)->view.usage->nodes[node].pod_n;
}

static void begin_open(struct trial *t, void **state)
{
	begin(t, state, &(struct bt_engine_options){.binder = {leave_open, NULL}, .no_backoff = true});
}

static void a_deleted_assumed_pod_frees_its_node_and_its_late_answer_is_ignored(void **state)
{
	struct trial t;

	begin_open(&t, state);
	uint32_t node = add_node(&t, "n1", "1"), pod = add_named(&t);
	uint32_t other = add_pod(&t, CONTAINER, BT_ENTERED_QUEUE);
	decide(&t, pod);
	assert_int_equal(decide(&t, other).outcome, BT_REFUSED);
	bt_engine_remove_pod(t.engine, pod);
	assert_int_equal(pods_on(&t, node), 0);
	/* A pod with the same name and another UID is another pod. */
	assert_int_not_equal(add_named(&t), pod);
	assert_int_equal(decide(&t, other).outcome, BT_PLACED);
	bt_engine_bound(t.engine, pod);
	assert_int_equal(pods_on(&t, node), 1);
	assert_int_equal(bt_engine_counts(t.engine).queue.binding, 1);
	end(&t);
}

static void an_assumed_pod_that_begins_to_be_deleted_frees_its_room(void **state)
{
	struct trial t;

	begin_open(&t, state);
	uint32_t node = add_node(&t, "n1", "1"), pod = add_named(&t);
	uint32_t other = add_pod(&t, CONTAINER, BT_ENTERED_QUEUE);
	decide(&t, pod);
	assert_int_equal(decide(&t, other).outcome, BT_REFUSED);
	assert_int_equal(
		bt_engine_update_pod(t.engine, pod,
			named(&t, ", deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [f/f]}, spec: "
				  "{schedulerName: default-scheduler, " CONTAINER "}")),
		BT_OK);
	assert_int_equal(pods_on(&t, node), 0);
	assert_int_equal(decide(&t, other).outcome, BT_PLACED);
	bt_engine_bind_failed(t.engine, pod);
	assert_int_equal(decide(&t, pod).outcome, BT_SKIPPED);
	end(&t);
}

static void an_assumed_victim_frees_its_room_when_its_deletion_is_shown(void **state)
{
	struct trial t;

	begin_open(&t, state);
	uint32_t node = add_node(&t, "n1", "1"), pod = add_named(&t);
	decide(&t, pod);
	bt_engine_evict(t.engine, pod);
	assert_int_equal(pods_on(&t, node), 1);
	assert_int_equal(
		bt_engine_update_pod(t.engine, pod,
			named(&t, ", deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [f/f]}, spec: "
				  "{schedulerName: default-scheduler, " CONTAINER "}")),
		BT_OK);
	assert_int_equal(pods_on(&t, node), 0);
	bt_engine_bind_failed(t.engine, pod);
	assert_int_equal(bt_engine_counts(t.engine).sets.assumed, 0);
	end(&t);
}

static void a_binding_that_succeeded_despite_an_error_stays(void **state)
{
	struct trial t;

	begin_open(&t, state);
	uint32_t node = add_node(&t, "n1", "1"), pod = add_named(&t);
	decide(&t, pod);
	assert_int_equal(
		bt_engine_update_pod(t.engine, pod,
			named(&t,
				"}, spec: {schedulerName: default-scheduler, nodeName: n1, " CONTAINER "}")),
		BT_OK);
	bt_engine_bind_failed(t.engine, pod);
	assert_int_equal(pods_on(&t, node), 1);
	assert_int_equal(bt_engine_counts(t.engine).sets.scheduled, 1);
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	end(&t);
}

static void a_pod_that_goes_between_the_halves_of_its_cycle_is_over_with_its_binding(void **state)
{
	struct trial t;
	struct bt_decision decision;

	begin_open(&t, state);
	uint32_t node = add_node(&t, "n1", "1"), pod = add_named(&t);
	assert_int_equal(bt_engine_pop(t.engine), pod);
	bt_engine_begin(t.engine, pod, &decision);
	assert_int_equal(decision.outcome, BT_PLACED);
	bt_engine_remove_pod(t.engine, pod);
	bt_engine_end(t.engine, &decision);
	assert_int_equal(pods_on(&t, node), 1);
	bt_engine_bind_failed(t.engine, pod);
	assert_int_equal(pods_on(&t, node), 0);
	assert_int_equal(bt_engine_counts(t.engine).sets.queued, 0);
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	end(&t);
}

static void a_pod_bound_by_another_scheduler_during_its_cycle_is_dropped(void **state)
{
	struct trial t;
	struct bt_decision decision;

	begin_open(&t, state);
	uint32_t first = add_node(&t, "n1", "1"), second = add_node(&t, "n2", "8"), pod = add_named(&t);
	assert_int_equal(bt_engine_pop(t.engine), pod);
	bt_engine_begin(t.engine, pod, &decision);
	bt_engine_take_node(t.engine, &decision, first);
	assert_int_equal(
		bt_engine_update_pod(t.engine, pod,
			named(&t,
				"}, spec: {schedulerName: default-scheduler, nodeName: n2, " CONTAINER "}")),
		BT_OK);
	bt_engine_end(t.engine, &decision);
	assert_int_equal(pods_on(&t, first), 0);
	assert_int_equal(pods_on(&t, second), 1);
	assert_int_equal(bt_engine_counts(t.engine).placed_n, 0);
	end(&t);
}

static void show_as_another_schedulers(struct trial *t, uint32_t pod, const char *node)
{
	char rest[256];

	snprintf(rest, sizeof(rest), "}, spec: {schedulerName: other, %s" CONTAINER "}", node);
	assert_int_equal(bt_engine_update_pod(t->engine, pod, named(t, rest)), BT_OK);
}

/* No profile is left whose plugins could handle the pod's own event. */
static void a_pod_that_another_scheduler_binds_stops_waiting(const char *spec, void **state)
{
	struct trial t;

	begin_open(&t, state);
	uint32_t node = add_node(&t, "n1", "1"), first = add_pod(&t, CONTAINER, BT_ENTERED_QUEUE);
	enum bt_entry entry;
	uint32_t pod;

	decide(&t, first);
	assert_int_equal(bt_engine_add_pod(t.engine, named(&t, spec), &entry, &pod), BT_OK);
	if (entry == BT_ENTERED_QUEUE) {
		assert_int_equal(decide(&t, pod).outcome, BT_REFUSED);
	}
	show_as_another_schedulers(&t, pod, "nodeName: n1, ");
	assert_int_equal(pods_on(&t, node), 2);
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	struct bt_engine_counts counts = bt_engine_counts(t.engine);
	assert_int_equal(counts.queue.unschedulable + counts.queue.gated, 0);
	assert_int_equal(counts.sets.scheduled, 1);
	end(&t);
}

static void a_refused_pod_that_another_scheduler_binds_stops_waiting(void **state)
{
	a_pod_that_another_scheduler_binds_stops_waiting(
		"}, spec: {schedulerName: default-scheduler, " CONTAINER "}", state);
}

static void a_gated_pod_that_another_scheduler_binds_stops_waiting(void **state)
{
	a_pod_that_another_scheduler_binds_stops_waiting(
		"}, spec: {schedulerName: default-scheduler, schedulingGates: [{name: g}], " CONTAINER "}",
		state);
}

static void an_assumed_pod_that_becomes_another_schedulers_frees_its_room(void **state)
{
	struct trial t;

	begin_open(&t, state);
	uint32_t node = add_node(&t, "n1", "1"), pod = add_named(&t);
	decide(&t, pod);
	show_as_another_schedulers(&t, pod, "");
	assert_int_equal(pods_on(&t, node), 0);
	bt_engine_bind_failed(t.engine, pod);
	assert_int_equal(bt_engine_counts(t.engine).sets.queued, 0);
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	end(&t);
}

static void assert_refused_by(struct trial *t, uint32_t pod, const char *plugin)
{
	const struct bt_queue_info info = bt_queue_info(bt_engine_queue(t->engine), pod);

	assert_int_equal(info.where, BT_WAIT_UNSCHEDULABLE);
	assert_int_equal(__builtin_popcountll(info.unschedulable_plugins), 1);
	assert_string_equal(bt_hints_name(bt_plugin_set_first(info.unschedulable_plugins)), plugin);
}

/* Only hint plugins of the new profile run. Source: isPodWorthRequeuing, v1.36.3. */
static void unschedulable_plugins_stay_when_the_profile_changes(void **state)
{
	struct trial t;

	begin_with_bare(&t, state);
	add_node(&t, "n1", "0");
	uint32_t pod = add_named(&t);
	assert_int_equal(decide(&t, pod).outcome, BT_REFUSED);
	assert_refused_by(&t, pod, "NodeResourcesFit");
	assert_int_equal(bt_engine_update_pod(
				 t.engine, pod, named(&t, "}, spec: {schedulerName: bare, " CONTAINER "}")),
		BT_OK);
	assert_refused_by(&t, pod, "NodeResourcesFit");
	add_node(&t, "n2", "4");
	assert_refused_by(&t, pod, "NodeResourcesFit");
	assert_int_equal(bt_engine_update_pod(t.engine, pod,
				 named(&t, "}, spec: {schedulerName: default-scheduler, " CONTAINER "}")),
		BT_OK);
	add_node(&t, "n3", "4");
	assert_int_equal(decide(&t, pod).outcome, BT_PLACED);
	end(&t);
}

static void a_pod_on_a_node_that_is_another_schedulers_is_explained_by_that(void **state)
{
	struct trial t;
	struct bt_explanation explanation = {0};
	struct bt_buf text = {0};

	begin_open(&t, state);
	add_node(&t, "n1", "4");
	uint32_t pod = add_named(&t);
	show_as_another_schedulers(&t, pod, "nodeName: n1, ");
	bt_engine_explain(t.engine, pod, &explanation);
	bt_engine_message(t.engine, &explanation, &text);
	assert_string_equal(text.ptr, "profile not found for scheduler name \"other\"");
	bt_explanation_fini(&explanation);
	bt_buf_fini(&text);
	end(&t);
}

static void a_failed_binding_waits_for_its_backoff(void **state)
{
	struct trial t;
	int64_t now_ns = 100 * BT_QUEUE_SECOND;

	begin(&t, state,
		&(struct bt_engine_options){
			.binder = {leave_open, NULL}, .clock = bt_clock_virtual(&now_ns)});
	add_node(&t, "n1", "1");
	uint32_t pod = add_named(&t);
	decide(&t, pod);
	bt_engine_bind_failed(t.engine, pod);
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	now_ns += BT_QUEUE_SECOND;
	bt_engine_tick(t.engine);
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	now_ns += BT_QUEUE_SECOND;
	bt_engine_tick(t.engine);
	assert_int_equal(decide(&t, pod).outcome, BT_PLACED);
	end(&t);
}

/* The node of the only pod in a cluster of equal nodes. */
static uint32_t place_one(void **state, uint64_t seed, bool evaluate)
{
	struct trial t;
	char name[16];

	begin(&t, state, &(struct bt_engine_options){.seed = seed, .evaluate_always = evaluate});
	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		add_node(&t, name, "4");
	}
	uint32_t node = decide(&t, add_pod(&t, CONTAINER, BT_ENTERED_QUEUE)).node_ix;
	end(&t);
	return node;
}

static void every_equal_node_gets_its_chance_by_the_seed(void **state)
{
	uint32_t wins[12] = {0};

	for (uint64_t seed = 0; seed < 360; seed++) {
		uint32_t node = place_one(state, seed, false);

		assert_int_equal(place_one(state, seed, true), node);
		wins[node]++;
	}
	for (int i = 0; i < 12; i++) {
		assert_in_range(wins[i], 10, 60);
	}
}

static void apply(struct trial *t, const char *yaml)
{
	engine_apply(t->engine, t->f, yaml);
}

static void add_claim_alone(struct trial *t, int number)
{
	char text[400];

	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: default, name: c%d}, "
		"spec: "
		"{storageClassName: slow, accessModes: [ReadWriteOnce], resources: {requests: {storage: "
		"1Gi}}}}",
		number);
	apply(t, text);
}

/* A claim, and the volume with the same number, which satisfies it. */
static void add_claim(struct trial *t, int number)
{
	char text[400];

	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: PersistentVolume, metadata: {name: v%d}, spec: {storageClassName: "
		"slow, "
		"accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}}}",
		number);
	apply(t, text);
	add_claim_alone(t, number);
}

/* A pod's cycle, during which its claim is deleted, or others are added. */
static void decide_while_claims_change(void **state, bool goes, int come)
{
	struct trial t;
	struct bt_decision decision;

	begin_open(&t, state);
	uint32_t node = add_node(&t, "n1", "4");
	apply(&t, "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: slow}, provisioner: "
		  "example.com/disk, volumeBindingMode: WaitForFirstConsumer}");
	add_claim(&t, 0);
	uint32_t pod = add_pod(&t, "volumes: [{name: d, persistentVolumeClaim: {claimName: c0}}], " CONTAINER,
		BT_ENTERED_QUEUE);
	assert_int_equal(bt_engine_pop(t.engine), pod);
	bt_engine_begin(t.engine, pod, &decision);
	assert_int_equal(decision.outcome, BT_PLACED);
	for (int i = 1; i <= come; i++) {
		add_claim(&t, i);
	}
	if (goes) {
		assert_int_equal(bt_engine_delete_object(t.engine, BT_KIND_PERSISTENT_VOLUME_CLAIM,
					 bt_str("default"), bt_str("c0")),
			BT_OK);
	}
	bt_engine_end(t.engine, &decision);
	assert_int_equal(decision.outcome, goes ? BT_FAILED : BT_PLACED);
	assert_int_equal(pods_on(&t, node), goes ? 0 : 1);
	if (!goes) {
		bt_engine_bind_failed(t.engine, pod);
	}
	assert_int_equal(pods_on(&t, node), 0);
	end(&t);
}

/* By then another claim has the first one's index. */
static void a_claim_recreated_during_a_cycle_gets_its_allocation(void **state)
{
	struct trial t;
	struct bt_decision decision;
	struct bt_volume_binding binding;

	begin_open(&t, state);
	add_node(&t, "n1", "4");
	apply(&t, "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: slow}, provisioner: "
		  "kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}");
	apply(&t,
		"{apiVersion: v1, kind: PersistentVolume, metadata: {name: v0}, spec: {storageClassName: "
		"slow, accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}}, status: {phase: Available}}");
	add_claim_alone(&t, 0);
	uint32_t pod = add_pod(&t, "volumes: [{name: d, persistentVolumeClaim: {claimName: c0}}], " CONTAINER,
		BT_ENTERED_QUEUE);
	assert_int_equal(bt_engine_pop(t.engine), pod);
	bt_engine_begin(t.engine, pod, &decision);
	assert_int_equal(bt_engine_delete_object(
				 t.engine, BT_KIND_PERSISTENT_VOLUME_CLAIM, bt_str("default"), bt_str("c0")),
		BT_OK);
	add_claim_alone(&t, 1);
	add_claim_alone(&t, 0);
	bt_engine_end(t.engine, &decision);
	assert_int_equal(decision.outcome, BT_PLACED);
	const struct bt_cache *cache = bt_engine_cache(t.engine);
	assert_int_equal(bt_volumes_assumed(cache->volumes, pod, &binding, 1), 1);
	const struct bt_claim *claim = &cache->view.storage->claims[binding.claim_ix];
	assert_true(bt_str_is(bt_intern_str(cache->dictionary->intern, claim->name), "c0"));
	end(&t);
}

static void claims_may_change_between_the_halves_of_a_cycle(void **state)
{
	decide_while_claims_change(state, true, 0);
	decide_while_claims_change(state, false, 200);
	decide_while_claims_change(state, true, 200);
}

/* A resource that only pods request: it gets a slot with a node, loses it with the node, and
 * is backed by a class then. */
static void a_name_beyond_the_columns_lives_as_long_as_its_nodes(void **state)
{
	struct trial t;
	static const char bare[] = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: "
				   "{cpu: '4', memory: 8Gi, pods: '10'}}}";
	static const char rich[] = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: "
				   "{cpu: '4', memory: 8Gi, pods: '10', e.com/rare: '2'}}}";
	static const char spec[] = "containers: [{name: a, resources: {requests: {e.com/rare: '2'}}}]";
	struct bt_explanation explanation = {0};
	struct bt_buf text = {0};
	uint32_t slot;

	bt_resource_prefill(BT_FIRST_RARE);
	begin(&t, state, &(struct bt_engine_options){0});
	bt_resource_prefill(0);
	assert_int_equal(bt_engine_apply_node(t.engine, &fixture_read(t.f, bare)->node, &slot), BT_OK);
	uint32_t first = add_pod(&t, spec, BT_ENTERED_QUEUE);
	assert_int_equal(decide(&t, first).outcome, BT_REFUSED);
	bt_engine_explain(t.engine, first, &explanation);
	bt_engine_message(t.engine, &explanation, &text);
	assert_non_null(strstr(text.ptr, "0/1 nodes are available: 1 Insufficient e.com/rare."));
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	/* The node has it now. */
	assert_int_equal(bt_engine_apply_node(t.engine, &fixture_read(t.f, rich)->node, &slot), BT_OK);
	assert_int_equal(decide(&t, first).outcome, BT_PLACED);
	uint32_t second = add_pod(&t, spec, BT_ENTERED_QUEUE);
	assert_int_equal(decide(&t, second).outcome, BT_REFUSED);
	bt_engine_remove_pod(t.engine, first);
	assert_int_equal(decide(&t, second).outcome, BT_PLACED);
	/* No node or pod has it any more. */
	bt_engine_remove_pod(t.engine, second);
	assert_int_equal(bt_engine_apply_node(t.engine, &fixture_read(t.f, bare)->node, &slot), BT_OK);
	uint32_t third = add_pod(&t, spec, BT_ENTERED_QUEUE);
	assert_int_equal(decide(&t, third).outcome, BT_REFUSED);
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	/* A class that backs it requeues the pod; but there are no devices. */
	apply(&t, "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: rare}, spec: "
		  "{extendedResourceName: e.com/rare}}");
	assert_int_equal(decide(&t, third).outcome, BT_REFUSED);
	bt_buf_clear(&text);
	bt_engine_explain(t.engine, third, &explanation);
	bt_engine_message(t.engine, &explanation, &text);
	assert_null(strstr(text.ptr, "Insufficient"));
	/* A node that has it itself. */
	assert_int_equal(bt_engine_apply_node(t.engine, &fixture_read(t.f, rich)->node, &slot), BT_OK);
	assert_int_equal(decide(&t, third).outcome, BT_PLACED);
	bt_explanation_fini(&explanation);
	bt_buf_fini(&text);
	end(&t);
}

static void deleting_an_unknown_object_has_no_effect(void **state)
{
	struct trial t;

	/* A waiting pod, so that events are processed. */
	begin(&t, state, &(struct bt_engine_options){0});
	decide(&t, add_pod(&t, CONTAINER, BT_ENTERED_QUEUE));
	for (int kind = BT_KIND_NAMESPACE; kind < BT_KIND_N; kind++) {
		assert_int_equal(bt_engine_delete_object(
					 t.engine, (enum bt_kind)kind, bt_str("nowhere"), bt_str("nobody")),
			BT_NOT_FOUND);
		assert_int_equal(
			bt_engine_delete_object(t.engine, (enum bt_kind)kind, bt_str(""), bt_str("nobody")),
			BT_NOT_FOUND);
	}
	assert_int_equal(bt_engine_remove_node(t.engine, bt_str("nobody")), BT_NOT_FOUND);
	end(&t);
}

/* A node with images. */
static uint32_t add_node_with(struct trial *t, const char *name, const char *images)
{
	char text[256];
	uint32_t slot = BT_NO_NODE;

	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: Node, metadata: {name: %s}, status: {allocatable: {cpu: '100', "
		"memory: "
		"100Gi, pods: '100'}, images: [%s]}}",
		name, images);
	assert_int_equal(bt_engine_apply_node(t->engine, &fixture_read(t->f, text)->node, &slot), BT_OK);
	return slot;
}

static void a_plan_follows_the_images_of_its_pods(void **state)
{
	static const char *const app = "{names: ['app:1'], sizeBytes: 1073741824}";
	static const char *const other = "{names: ['other:1'], sizeBytes: 1073741824}";
	static const char *const none = "";
	static const char *const steps[][2] = {{app, none}, {none, app}, {other, app}, {app, other},
		{none, other}, {other, app}, {other, none}, {app, none}};
	struct trial t;

	begin(&t, state, &(struct bt_engine_options){0});
	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		uint32_t n1 = add_node_with(&t, "n1", steps[i][0]);
		uint32_t n2 = add_node_with(&t, "n2", steps[i][1]);
		struct bt_decision decision =
			decide(&t, add_pod(&t, "containers: [{name: a, image: 'app:1'}]", BT_ENTERED_QUEUE));

		assert_int_equal(decision.outcome, BT_PLACED);
		if (steps[i][0] == app || steps[i][1] == app) {
			assert_int_equal(decision.node_ix, steps[i][0] == app ? n1 : n2);
		}
	}
	assert_int_equal(bt_engine_counts(t.engine).by_columns_n, COUNT_OF(steps));
	end(&t);
}

/* Of many infeasible pods of one kind, only the first is evaluated. */
static void pods_of_a_kind_that_fits_nowhere_cost_those_behind_them_nothing(void **state)
{
	enum { BIG_N = 1000 };
	struct trial t;
	char name[16];

	begin(&t, state, &(struct bt_engine_options){0});
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		add_node(&t, name, "4");
	}
	add_pod(&t, "nodeName: n1, priority: 0, " CONTAINER, BT_ENTERED_SCHEDULED);
	for (int i = 0; i < BIG_N; i++) {
		add_pod(&t, "priority: 9, containers: [{name: a, resources: {requests: {cpu: '100'}}}]",
			BT_ENTERED_QUEUE);
	}
	uint32_t small = add_pod(&t, CONTAINER, BT_ENTERED_QUEUE);
	struct bt_decision decision;
	bt_engine_decide(t.engine, bt_engine_pop(t.engine), &decision);
	assert_int_equal(decision.outcome, BT_REFUSED);
	assert_int_equal(decide(&t, small).outcome, BT_PLACED);
	struct bt_engine_counts counts = bt_engine_counts(t.engine);
	assert_in_range(counts.by_evaluation_n, 0, 1);
	assert_in_range(counts.dry_run_n, 0, 8);
	end(&t);
}

/* ---- pods with too many resources ---- */

static const struct bt_usage *usage_of(const struct trial *t)
{
	return bt_ledger_usage(bt_engine_cache(t->engine)->ledger);
}

/* A pod that requests four cpus and more resources than a pod may. */
static const struct bt_pod_object *read_greedy(struct trial *t, const char *spec)
{
	struct bt_buf text = {0};

	bt_buf_printf(&text,
		"schedulerName: default-scheduler, %s, containers: [{name: a, resources: {requests: "
		"{cpu: '4'",
		spec);
	for (int i = 0; i <= BT_REQUEST_MAX; i++) {
		bt_buf_printf(&text, ", e.com/r%d: 1", i);
	}
	bt_buf_text(&text, "}}}]");
	const struct bt_pod_object *object = fixture_read_pod(t->f, text.ptr);
	bt_buf_fini(&text);
	return object;
}

/* Adds a pod that requests more resources than a pod may; it enters as wanted. */
static uint32_t add_greedy(struct trial *t, const char *spec, enum bt_entry wanted)
{
	enum bt_entry entry;
	uint32_t ix;

	assert_int_equal(bt_engine_add_pod(t->engine, read_greedy(t, spec), &entry, &ix), BT_FULL);
	assert_int_equal(entry, wanted);
	return ix;
}

/* How much of each of the resources that greedy pods request is used. */
static void expect_greedy(struct trial *t, uint32_t node, int64_t amount)
{
	char name[16];

	for (int i = 0; i <= BT_REQUEST_MAX; i++) {
		snprintf(name, sizeof(name), "e.com/r%d", i);
		int slot = bt_resource_find(bt_engine_cache(t->engine)->dictionary, bt_str(name));
		assert_true(slot >= 0);
		assert_int_equal(bt_node_used(usage_of(t), (uint32_t)slot, node), amount);
	}
}

/* A device of a pod that requests too many resources is still allocated only once. */
static void a_device_is_allocated_once_whichever_claim_has_it(void **state)
{
	struct trial t;
	uint32_t slot;
	struct bt_buf node = {0};

	begin(&t, state, &(struct bt_engine_options){.no_backoff = true});
	bt_buf_text(&node, "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: "
			   "{cpu: '9', memory: 8Gi, pods: '10'");
	for (int i = 0; i <= BT_REQUEST_MAX; i++) {
		bt_buf_printf(&node, ", e.com/r%d: '1'", i);
	}
	bt_buf_text(&node, "}}}");
	assert_int_equal(bt_engine_apply_node(t.engine, &fixture_read(t.f, node.ptr)->node, &slot), BT_OK);
	bt_buf_fini(&node);
	uint32_t greedy = add_greedy(&t, "nodeName: n1", BT_ENTERED_SCHEDULED);
	uint32_t next = add_pod(
		&t, "containers: [{name: a, resources: {requests: {e.com/r64: '1'}}}]", BT_ENTERED_QUEUE);
	assert_int_equal(decide(&t, next).outcome, BT_REFUSED);
	bt_engine_remove_pod(t.engine, greedy);
	assert_int_equal(decide(&t, next).outcome, BT_PLACED);
	end(&t);
}

/* A pod cannot hide by requesting too much. */
static void a_pod_on_a_node_counts_with_unknown_requests_too(void **state)
{
	struct trial t;

	begin(&t, state, &(struct bt_engine_options){.no_backoff = true});
	uint32_t node = add_node(&t, "n1", "4"),
		 greedy = add_greedy(&t, "nodeName: n1", BT_ENTERED_SCHEDULED);
	assert_int_equal(bt_node_used(usage_of(&t), BT_CPU, node), 4000);
	assert_int_equal(usage_of(&t)->nodes[node].pod_n, 1);
	expect_greedy(&t, node, 1);
	uint32_t next = add_pod(&t, CONTAINER, BT_ENTERED_QUEUE);
	assert_int_equal(decide(&t, next).outcome, BT_REFUSED);
	bt_engine_remove_pod(t.engine, greedy);
	expect_greedy(&t, node, 0);
	assert_int_equal(decide(&t, next).outcome, BT_PLACED);
	end(&t);
}

/* Nor keep the usage of a smaller one after such an update. */
static void an_update_that_exceeds_the_allocatable_counts(void **state)
{
	struct trial t;

	begin(&t, state, &(struct bt_engine_options){.no_backoff = true});
	uint32_t node = add_node(&t, "n1", "4");
	uint32_t pod = add_pod(&t, "nodeName: n1, " CONTAINER, BT_ENTERED_SCHEDULED);
	struct bt_pod_object greedy = *read_greedy(&t, "nodeName: n1");
	greedy.meta.name = bt_intern_str(bt_engine_cache(t.engine)->dictionary->intern,
		bt_ledger_pod(bt_engine_cache(t.engine)->ledger, pod)->name);
	assert_int_equal(bt_engine_update_pod(t.engine, pod, &greedy), BT_FULL);
	assert_int_equal(bt_node_used(usage_of(&t), BT_CPU, node), 4000);
	end(&t);
}

/* Decides it, and expects an error with this text. */
static void expect_undecided(struct trial *t, uint32_t pod, const char *why)
{
	struct bt_explanation explanation = {0};
	struct bt_buf text = {0};

	assert_int_equal(decide(t, pod).outcome, BT_FAILED);
	bt_engine_explain(t->engine, pod, &explanation);
	bt_engine_message(t->engine, &explanation, &text);
	if (!strstr(text.ptr, why)) {
		fail_msg("%s does not say: %s", text.ptr, why);
	}
	bt_buf_fini(&text);
	bt_explanation_fini(&explanation);
}

static void nothing_is_decided_on_half_knowledge(void **state)
{
	struct trial t;

	begin(&t, state, &(struct bt_engine_options){.no_backoff = true});
	uint32_t node = add_node(&t, "n1", "4"), greedy = add_greedy(&t, "priority: 9", BT_ENTERED_QUEUE);
	expect_undecided(&t, greedy, "requests more than 64 resources");
	bt_engine_remove_pod(t.engine, greedy);
	uint32_t half = add_pod(&t, "incomplete: 'spec.x: broken', " CONTAINER, BT_ENTERED_QUEUE);
	expect_undecided(&t, half, "could not be read whole (spec.x: broken)");
	assert_int_equal(usage_of(&t)->nodes[node].pod_n, 0);
	/* Bound by another scheduler it counts; a similar pod within the limits is decided. */
	uint32_t bound =
		add_pod(&t, "nodeName: n1, incomplete: 'spec.x: broken', " CONTAINER, BT_ENTERED_SCHEDULED);
	assert_int_equal(bt_node_used(usage_of(&t), BT_CPU, node), 1000);
	bt_engine_remove_pod(t.engine, bound);
	bt_engine_remove_pod(t.engine, half);
	assert_int_equal(decide(&t, add_pod(&t, CONTAINER, BT_ENTERED_QUEUE)).outcome, BT_PLACED);
	end(&t);
}

/* Users may request resources of any name; those that nodes offer always get slots. */
static void pods_cannot_take_the_names_that_nodes_offer(void **state)
{
	struct trial t;
	char spec[160];
	uint32_t slot, refused_n = 0;
	static const char node[] = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: "
				   "{cpu: '4', memory: 8Gi, pods: '10', e.com/offered: '2'}}}";

	begin(&t, state, &(struct bt_engine_options){.no_backoff = true});
	for (int i = 0; i < 20000; i++) {
		enum bt_entry entry;
		uint32_t pod;

		snprintf(spec, sizeof(spec),
			"schedulerName: default-scheduler, containers: [{name: a, resources: {requests: "
			"{hog.com/r%d: 1}}}]",
			i);
		refused_n +=
			bt_engine_add_pod(t.engine, fixture_read_pod(t.f, spec), &entry, &pod) == BT_FULL;
		bt_engine_remove_pod(t.engine, pod);
	}
	assert_true(refused_n > 0);
	assert_int_equal(bt_engine_apply_node(t.engine, &fixture_read(t.f, node)->node, &slot), BT_OK);
	enum bt_entry entry;
	uint32_t late;
	assert_int_equal(
		bt_engine_add_pod(t.engine,
			fixture_read_pod(t.f, "schedulerName: default-scheduler, containers: [{name: a, "
					      "resources: {requests: {hog.com/last: 1}}}]"),
			&entry, &late),
		BT_FULL);
	expect_undecided(&t, late, "pods have named 12288 already");
	bt_engine_remove_pod(t.engine, late);
	uint32_t pod = add_pod(
		&t, "containers: [{name: a, resources: {requests: {e.com/offered: '2'}}}]", BT_ENTERED_QUEUE);
	assert_int_equal(decide(&t, pod).outcome, BT_PLACED);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(pods_are_sorted_on_insertion),
		FIXTURE_TEST(a_pod_that_fits_is_placed_and_counts),
		FIXTURE_TEST(a_refused_pod_is_retried_when_a_node_may_have_room),
		FIXTURE_TEST(without_nodes_every_pod_is_refused),
		FIXTURE_TEST(pods_of_a_kind_that_fits_nowhere_cost_those_behind_them_nothing),
		FIXTURE_TEST(a_binding_that_fails_gives_everything_back),
		FIXTURE_TEST(a_deleted_assumed_pod_frees_its_node_and_its_late_answer_is_ignored),
		FIXTURE_TEST(an_assumed_pod_that_begins_to_be_deleted_frees_its_room),
		FIXTURE_TEST(an_assumed_victim_frees_its_room_when_its_deletion_is_shown),
		FIXTURE_TEST(a_binding_that_succeeded_despite_an_error_stays),
		FIXTURE_TEST(a_pod_that_goes_between_the_halves_of_its_cycle_is_over_with_its_binding),
		FIXTURE_TEST(a_pod_bound_by_another_scheduler_during_its_cycle_is_dropped),
		FIXTURE_TEST(a_refused_pod_that_another_scheduler_binds_stops_waiting),
		FIXTURE_TEST(a_gated_pod_that_another_scheduler_binds_stops_waiting),
		FIXTURE_TEST(an_assumed_pod_that_becomes_another_schedulers_frees_its_room),
		FIXTURE_TEST(unschedulable_plugins_stay_when_the_profile_changes),
		FIXTURE_TEST(a_pod_on_a_node_that_is_another_schedulers_is_explained_by_that),
		FIXTURE_TEST(a_failed_binding_waits_for_its_backoff),
		FIXTURE_TEST(every_equal_node_gets_its_chance_by_the_seed),
		FIXTURE_TEST(claims_may_change_between_the_halves_of_a_cycle),
		FIXTURE_TEST(a_claim_recreated_during_a_cycle_gets_its_allocation),
		FIXTURE_TEST(deleting_an_unknown_object_has_no_effect),
		FIXTURE_TEST(a_name_beyond_the_columns_lives_as_long_as_its_nodes),
		FIXTURE_TEST(a_plan_follows_the_images_of_its_pods),
		FIXTURE_TEST(a_device_is_allocated_once_whichever_claim_has_it),
		FIXTURE_TEST(a_pod_on_a_node_counts_with_unknown_requests_too),
		FIXTURE_TEST(an_update_that_exceeds_the_allocatable_counts),
		FIXTURE_TEST(nothing_is_decided_on_half_knowledge),
		FIXTURE_TEST(pods_cannot_take_the_names_that_nodes_offer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
