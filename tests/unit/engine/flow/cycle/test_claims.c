/* SPDX-License-Identifier: Apache-2.0
 * Pods with claims through the engine: a device allocated to one pod is taken for the
 * next, until it is released.
 */
#include "engine_objects.h"

#include "engine/flow/cycle/engine.h"

#define API "apiVersion: resource.k8s.io/v1, "
#define USES(claim)                                                                                          \
	"schedulerName: default-scheduler, containers: [{name: a}], resourceClaims: [{name: x, "             \
	"resourceClaimName: " claim "}]"

struct trial {
	struct fixture *f;
	struct bt_config config;
	struct bt_engine *engine;
	bool answers; /* bindings end immediately */
	int unreserve_n;
};

static void bind(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	const struct trial *t = context;

	(void)node_ix;
	if (t->answers) {
		bt_engine_bound(engine, pod_ix);
	}
}

static void unreserve(void *context, struct bt_engine *engine, uint32_t pod_ix)
{
	struct trial *t = context;

	assert_int_equal(bt_ledger_pod(bt_engine_cache(engine)->ledger, pod_ix)->signature->claim_n, 1);
	t->unreserve_n++;
}

static void apply(struct trial *t, const char *yaml)
{
	engine_apply(t->engine, t->f, yaml);
}

static void add_claim(struct trial *t, const char *name)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{" API "kind: ResourceClaim, metadata: {namespace: default, name: %s, uid: u-%s}, spec: "
		"{devices: {requests: [{name: r, exactly: {deviceClassName: k, allocationMode: ExactCount, "
		"count: "
		"1}}]}}}",
		name, name);
	apply(t, text);
}

/* One node with one device. post_filter: an order of plugins, or NULL. */
static void begin_with(
	struct trial *t, void **state, bool answers, const struct bt_config_plugin_set *post_filter)
{
	const struct bt_engine_options options = {.binder = {bind, t}, .unreserver = {unreserve, t}};

	*t = (struct trial){.f = *state, .answers = answers};
	bt_config_init_default(&t->config, NULL);
	if (post_filter) {
		t->config.profiles[0].plugins.points[BT_POINT_POST_FILTER] = *post_filter;
	}
	t->engine = fixture_engine(&t->config, &options);
	engine_add_node(t->engine, t->f, "n1", "4");
	apply(t, "{" API "kind: DeviceClass, metadata: {name: k}, spec: {}}");
	apply(t, "{" API
		 "kind: ResourceSlice, metadata: {name: s}, spec: {driver: d, nodeName: n1, pool: {name: p, "
		 "generation: 1, resourceSliceCount: 1}, devices: [{name: a}]}}");
	add_claim(t, "c");
	add_claim(t, "e");
}

static void begin(struct trial *t, void **state, bool answers)
{
	begin_with(t, state, answers, NULL);
}

static void end(struct trial *t)
{
	bt_engine_destroy(t->engine);
	bt_config_fini(&t->config);
}

static uint32_t add_pod(struct trial *t, const char *spec)
{
	enum bt_entry entry;
	uint32_t ix;

	assert_int_equal(bt_engine_add_pod(t->engine, fixture_read_pod(t->f, spec), &entry, &ix), BT_OK);
	return ix;
}

/* The pod with this name, with another spec each time. */
static const struct bt_pod_object *named(struct trial *t, const char *spec)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: p}, spec: {%s}}", spec);
	return &fixture_read(t->f, text)->pod;
}

/* Decides the next pod of the queue, which must be this one. */
static enum bt_outcome decide(struct trial *t, uint32_t pod)
{
	struct bt_decision decision;

	assert_int_equal(bt_engine_pop(t->engine), pod);
	bt_engine_decide(t->engine, pod, &decision);
	return decision.outcome;
}

static const char *message(struct trial *t, uint32_t pod)
{
	static char text[512];
	struct bt_explanation explanation = {0};
	struct bt_buf buf = {0};

	bt_engine_explain(t->engine, pod, &explanation);
	if (explanation.evaluation.feasible_n) {
		bt_buf_text(&buf, "fits");
	} else {
		bt_engine_message(t->engine, &explanation, &buf);
	}
	snprintf(text, sizeof(text), "%s", buf.len ? buf.ptr : "");
	bt_buf_fini(&buf);
	bt_explanation_fini(&explanation);
	return text;
}

/* Results do not point to memory of a slice. */
static void a_slice_may_go_between_the_halves_of_a_cycle(void **state)
{
	struct trial t;
	struct bt_decision decision;

	begin(&t, state, false);
	apply(&t,
		"{" API
		"kind: ResourceSlice, metadata: {name: s}, spec: {driver: d, pool: {name: p, generation: 2, "
		"resourceSliceCount: 1}, nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: disk, "
		"operator: DoesNotExist}, {key: zone, operator: NotIn, values: [a, b]}]}]}, devices: "
		"[{name: a}]}}");
	uint32_t pod = add_pod(&t, USES("c")), choice_n;
	assert_int_equal(bt_engine_pop(t.engine), pod);
	bt_engine_begin(t.engine, pod, &decision);
	assert_int_equal(decision.outcome, BT_PLACED);
	assert_int_equal(
		bt_engine_delete_object(t.engine, BT_KIND_RESOURCE_SLICE, bt_str(""), bt_str("s")), BT_OK);
	bt_engine_end(t.engine, &decision);
	const struct bt_device_choice *choices =
		bt_devices_pending(bt_engine_cache(t.engine)->devices, pod, &choice_n);
	assert_int_equal(choice_n, 1);
	assert_int_equal(choices[0].allocation.selector.terms[0].labels.items[1].value_n, 2);
	bt_engine_bound(t.engine, pod);
	end(&t);
}

/* The next pod with its index may get devices, too. */
static void a_pod_that_names_its_claim_no_more_keeps_what_it_got(void **state)
{
	struct trial t;
	enum bt_entry entry;
	uint32_t pod;

	begin(&t, state, false);
	apply(&t, "{" API
		  "kind: ResourceSlice, metadata: {name: s}, spec: {driver: d, nodeName: n1, pool: {name: p, "
		  "generation: 2, resourceSliceCount: 1}, devices: [{name: a}, {name: b}]}}");
	assert_int_equal(bt_engine_add_pod(t.engine, named(&t, USES("c")), &entry, &pod), BT_OK);
	assert_int_equal(decide(&t, pod), BT_PLACED);
	assert_int_equal(bt_engine_update_pod(t.engine, pod,
				 named(&t, "schedulerName: default-scheduler, containers: [{name: a}]")),
		BT_OK);
	bt_engine_bound(t.engine, pod);
	bt_engine_remove_pod(t.engine, pod);
	uint32_t other = add_pod(&t, USES("e"));
	assert_int_equal(other, pod);
	assert_int_equal(decide(&t, other), BT_PLACED);
	bt_engine_bound(t.engine, other);
	uint32_t choice_n;
	assert_null(bt_devices_pending(bt_engine_cache(t.engine)->devices, other, &choice_n));
	end(&t);
}

static void a_device_is_given_once(void **state)
{
	struct trial t;

	begin(&t, state, true);
	uint32_t first = add_pod(&t, USES("c")), second = add_pod(&t, USES("e")),
		 third = add_pod(&t, USES("c"));
	assert_int_equal(decide(&t, first), BT_PLACED);
	assert_int_equal(decide(&t, second), BT_REFUSED);
	assert_string_equal(message(&t, second),
		"0/1 nodes are available: 1 cannot allocate all claims. preemption: "
		"0/1 nodes "
		"are available: 1 Preemption is not helpful for scheduling.");
	/* Pods that share the claim share the device. */
	assert_int_equal(decide(&t, third), BT_PLACED);
	end(&t);
}

static void a_binding_that_fails_gives_the_device_back(void **state)
{
	struct trial t;

	begin(&t, state, false);
	uint32_t first = add_pod(&t, USES("c")), second = add_pod(&t, USES("c")),
		 third = add_pod(&t, USES("e"));
	assert_int_equal(decide(&t, first), BT_PLACED);
	/* While it is being bound, others that need the claim wait. */
	assert_string_equal(message(&t, second),
		"0/1 nodes are available: resource claim default/c is in the process of being allocated. "
		"preemption: 0/1 nodes are available: 1 Preemption is not helpful for "
		"scheduling.");
	bt_engine_bind_failed(t.engine, first);
	assert_string_equal(message(&t, second), "fits");
	assert_int_equal(decide(&t, second), BT_PLACED);
	bt_engine_bound(t.engine, second);
	assert_int_equal(decide(&t, third), BT_REFUSED);
	end(&t);
}

static enum bt_wait wait_of(struct trial *t, uint32_t pod)
{
	return bt_queue_info(bt_engine_queue(t->engine), pod).where;
}

static void the_end_of_an_allocation_requeues_pods_that_wait_for_the_claim(void **state)
{
	struct trial t;

	begin(&t, state, false);
	uint32_t first = add_pod(&t, USES("c")), second = add_pod(&t, USES("c"));
	assert_int_equal(decide(&t, first), BT_PLACED);
	assert_int_equal(decide(&t, second), BT_REFUSED);
	bt_engine_remove_pod(t.engine, first);
	/* Its binder may have written the claim. */
	assert_int_equal(wait_of(&t, second), BT_WAIT_UNSCHEDULABLE);
	bt_engine_bind_failed(t.engine, first);
	assert_int_not_equal(wait_of(&t, second), BT_WAIT_UNSCHEDULABLE);
	end(&t);
}

/* Its claim, with the record of its allocation, is deleted first. */
static void a_device_freed_by_a_deleted_claim_requeues_waiting_pods(void **state)
{
	const struct bt_written_claim claim = {.name = bt_str("c"), .uid = bt_str("u-c"), .version = 20};

	for (uint32_t written_n = 0; written_n < 2; written_n++) {
		const struct bt_binding_answer answer = {.claims = &claim, .claim_n = written_n};
		struct trial t;

		begin(&t, state, false);
		uint32_t first = add_pod(&t, USES("c")), second = add_pod(&t, USES("e"));
		assert_int_equal(decide(&t, first), BT_PLACED);
		assert_int_equal(bt_engine_delete_object(
					 t.engine, BT_KIND_RESOURCE_CLAIM, bt_str("default"), bt_str("c")),
			BT_OK);
		assert_int_equal(decide(&t, second), BT_REFUSED);
		assert_int_equal(wait_of(&t, second), BT_WAIT_UNSCHEDULABLE);
		bt_engine_answer(t.engine, first, &answer);
		assert_int_not_equal(wait_of(&t, second), BT_WAIT_UNSCHEDULABLE);
		end(&t);
	}
}

/* Another scheduler has bound it: the binder has not written the claims. */
static void a_binding_that_failed_brings_a_claim_nothing_even_if_the_pod_is_bound(void **state)
{
	struct trial t;

	begin(&t, state, false);
	uint32_t first = add_pod(&t, USES("c")), second = add_pod(&t, USES("e"));
	assert_int_equal(decide(&t, first), BT_PLACED);
	bt_engine_update_pod(t.engine, first, fixture_read_pod(t.f, USES("c") ", nodeName: n1"));
	bt_engine_bind_failed(t.engine, first);
	assert_int_equal(decide(&t, second), BT_PLACED);
	end(&t);
}

/* The binder has written the claim, but no event has shown that yet. */
static void a_claim_stays_allocated_for_a_pod_deleted_during_its_binding(void **state)
{
	struct trial t;

	begin(&t, state, false);
	uint32_t first = add_pod(&t, USES("c")), second = add_pod(&t, USES("e"));
	assert_int_equal(decide(&t, first), BT_PLACED);
	bt_engine_remove_pod(t.engine, first);
	bt_engine_bound(t.engine, first);
	assert_int_equal(decide(&t, second), BT_REFUSED);
	/* The claim controller deallocates the claim. */
	add_claim(&t, "c");
	assert_string_equal(message(&t, second), "fits");
	end(&t);
}

/* Shows claim c at a resource version, free. */
static void show_free(struct trial *t, const char *version)
{
	char text[512];

	snprintf(text, sizeof(text),
		"{" API
		"kind: ResourceClaim, metadata: {namespace: default, name: c, uid: u-c, resourceVersion: "
		"'%s'}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: k, allocationMode: "
		"ExactCount, count: 1}}]}}}",
		version);
	apply(t, text);
}

/* The binder's write counts until the watch shows it, whether the pod is bound, deleted, or neither. */
static void a_stale_claim_does_not_free_its_device(void **state)
{
	for (int how = 0; how < 4; how++) {
		const struct bt_written_claim claim = {
			.name = bt_str("c"), .uid = bt_str("u-c"), .version = 20, .reserved = how < 2};
		const struct bt_binding_answer answer = {.bound = how < 2, .claims = &claim, .claim_n = 1};
		struct trial t;

		begin(&t, state, false);
		show_free(&t, "10");
		uint32_t first = add_pod(&t, USES("c")), second = add_pod(&t, USES("e"));
		assert_int_equal(decide(&t, first), BT_PLACED);
		if (how == 0 || how == 2) {
			bt_engine_remove_pod(t.engine, first);
		}
		bt_engine_answer(t.engine, first, &answer);
		show_free(&t, "19");
		if (how == 1) {
			bt_engine_remove_pod(t.engine, first);
		}
		assert_int_equal(decide(&t, second), BT_REFUSED);
		/* The claim controller deallocates the claim. */
		show_free(&t, "21");
		assert_string_equal(message(&t, second), "fits");
		end(&t);
	}
}

/* Only what it has written. */
static void a_binding_that_failed_before_it_wrote_a_claim_gives_the_device_back(void **state)
{
	const struct bt_binding_answer answer = {.bound = false};
	struct trial t;

	begin(&t, state, false);
	uint32_t first = add_pod(&t, USES("c")), second = add_pod(&t, USES("e"));
	assert_int_equal(decide(&t, first), BT_PLACED);
	assert_string_not_equal(message(&t, second), "fits");
	bt_engine_answer(t.engine, first, &answer);
	assert_string_equal(message(&t, second), "fits");
	end(&t);
}

static void a_pod_waits_until_its_claim_is_there(void **state)
{
	struct trial t;

	begin(&t, state, true);
	uint32_t pod = add_pod(&t, USES("later"));
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	struct bt_buf why = {0};
	assert_string_equal(bt_engine_gate(t.engine, pod, &why), "DynamicResources");
	assert_string_equal(why.ptr, "could not find ResourceClaim \"default/later\"");
	add_claim(&t, "later");
	assert_null(bt_engine_gate(t.engine, pod, &why));
	bt_buf_fini(&why);
	assert_int_equal(decide(&t, pod), BT_PLACED);
	end(&t);
}

static void an_allocation_that_is_in_the_way_is_taken_back(void **state)
{
	struct trial t;

	begin(&t, state, true);
	apply(&t, "{" API
		  "kind: ResourceClaim, metadata: {namespace: default, name: c, uid: u-c}, spec: {devices: "
		  "{requests: [{name: r, exactly: {deviceClassName: k, allocationMode: ExactCount, count: "
		  "1}}]}}, status: "
		  "{allocation: {devices: {results: [{request: r, driver: d, pool: q, device: b}]}, "
		  "nodeSelector: "
		  "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: "
		  "[gone]}]}]}}}}");
	uint32_t pod = add_pod(&t, USES("c"));
	assert_string_equal(message(&t, pod), "0/1 nodes are available: 1 resourceclaim not available on the "
					      "node. deallocation of ResourceClaim "
					      "completed, preemption: 0/1 nodes are available: 1 Preemption "
					      "is not helpful for scheduling.");
	assert_int_equal(decide(&t, pod), BT_REFUSED);
	/* Its claim is free now, and it gets a device here. */
	assert_string_equal(message(&t, pod), "fits");
	end(&t);
}

#define ELSEWHERE                                                                                            \
	"{" API "kind: ResourceClaim, metadata: {namespace: default, name: c, uid: u-c}, spec: {devices: "   \
	"{requests: [{name: r, exactly: {deviceClassName: k, allocationMode: ExactCount, count: 1}}]}}, "    \
	"status: {allocation: {devices: {results: [{request: r, driver: d, pool: q, device: b}]}, "          \
	"nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: "      \
	"[gone]}]}]}}}}"

/* A claim allocated where there is no node, a pod of low priority that uses the node's cpu, and a
 * pod of high priority that needs both. Returns the last one. */
static uint32_t fill_node(struct trial *t)
{
	apply(t, ELSEWHERE);
	add_pod(t, "schedulerName: default-scheduler, nodeName: n1, containers: [{name: a, resources: "
		   "{requests: {cpu: '3'}}}]");
	return add_pod(t, "schedulerName: default-scheduler, priority: 10, containers: [{name: a, resources: "
			  "{requests: {cpu: '2'}}}], resourceClaims: [{name: x, resourceClaimName: c}]");
}

static bool is_allocated(const struct trial *t, const char *claim)
{
	const struct bt_cache *cache = bt_engine_cache(t->engine);
	struct bt_intern *intern = cache->dictionary->intern;

	return bt_device_store_claim(cache->view.devices, bt_intern_find(intern, bt_str("default")),
		bt_intern_find(intern, bt_str(claim)))
		->allocated;
}

static void a_claim_that_only_preemption_could_not_use_stays_allocated(void **state)
{
	struct bt_decision decision;
	struct trial t;

	begin(&t, state, true);
	uint32_t pod = fill_node(&t);
	assert_string_equal(message(&t, pod),
		"0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes "
		"are available: 1 resourceclaim not available on the node.");
	assert_int_equal(bt_engine_pop(t.engine), pod);
	bt_engine_decide(t.engine, pod, &decision);
	assert_int_equal(decision.outcome, BT_REFUSED);
	assert_int_equal(decision.preempt, BT_PREEMPT_NOWHERE);
	assert_true(is_allocated(&t, "c"));
	end(&t);
}

/* Upstream's plugins share Filter's state, and the profile orders the plugins. */
static void a_claim_found_unavailable_by_preemption_counts_for_later_pods(void **state)
{
	struct bt_config_plugin order[] = {
		{.name = BT_STR("DefaultPreemption")}, {.name = BT_STR("DynamicResources")}};
	struct bt_config_plugin all = {.name = BT_STR("*")};
	const struct bt_config_plugin_set preemption_first = {{order, 2}, {&all, 1}};
	struct bt_decision decision;
	struct trial t;

	begin_with(&t, state, true, &preemption_first);
	uint32_t pod = fill_node(&t);
	assert_string_equal(message(&t, pod),
		"0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 "
		"resourceclaim not available on the node., deallocation of ResourceClaim completed");
	assert_int_equal(bt_engine_pop(t.engine), pod);
	bt_engine_decide(t.engine, pod, &decision);
	assert_int_equal(decision.preempt, BT_PREEMPT_NOWHERE);
	assert_false(is_allocated(&t, "c"));
	end(&t);
}

/* The error of the second half of the cycle. */
static void assert_error(const struct trial *t, const char *text)
{
	struct bt_str error = bt_engine_end_error(t->engine);

	assert_int_equal(error.len, strlen(text));
	assert_memory_equal(error.len ? error.ptr : "", text, error.len);
}

/* Later plugins of PostFilter are not run then. */
static void post_filter_fails_when_the_claim_has_gone_that_it_deallocates(void **state)
{
	struct bt_decision decision;
	struct trial t;

	begin(&t, state, true);
	apply(&t, ELSEWHERE);
	uint32_t pod = add_pod(&t, USES("c"));
	assert_int_equal(bt_engine_pop(t.engine), pod);
	bt_engine_begin(t.engine, pod, &decision);
	assert_int_equal(decision.outcome, BT_REFUSED);
	assert_int_equal(
		bt_engine_delete_object(t.engine, BT_KIND_RESOURCE_CLAIM, bt_str("default"), bt_str("c")),
		BT_OK);
	bt_engine_end(t.engine, &decision);
	assert_int_equal(decision.preempt, BT_PREEMPT_FAILED);
	assert_error(&t, "resourceclaims.resource.k8s.io \"c\" not found");
	end(&t);
}

#define ASKS                                                                                                 \
	"schedulerName: default-scheduler, containers: [{name: a, resources: {requests: {e.com/g: '1'}}}]"

/* Upstream creates a claim without mappings for them, which it cannot write into the pod's status. */
static void a_pod_with_claims_whose_extended_resources_a_device_plugin_has_is_not_bound(void **state)
{
	for (int names = 0; names < 2; names++) {
		struct bt_decision decision;
		enum bt_entry entry;
		uint32_t slot, pod;
		struct trial t;

		begin(&t, state, true);
		apply(&t, "{" API "kind: DeviceClass, metadata: {name: g}, spec: {extendedResourceName: "
			  "e.com/g}}");
		assert_int_equal(bt_engine_apply_node(t.engine,
					 &fixture_read(t.f, "{apiVersion: v1, kind: Node, metadata: {name: "
							    "n1}, status: {allocatable: {cpu: '4', memory: "
							    "8Gi, pods: '10', e.com/g: '4'}}}")
						  ->node,
					 &slot),
			BT_OK);
		assert_int_equal(
			bt_engine_add_pod(t.engine,
				named(&t, names ? ASKS ", resourceClaims: [{name: x, resourceClaimName: c}]"
						: ASKS),
				&entry, &pod),
			BT_OK);
		uint32_t other = add_pod(&t, USES("e"));
		assert_int_equal(bt_engine_pop(t.engine), pod);
		bt_engine_decide(t.engine, pod, &decision);
		assert_int_equal(decision.outcome, names ? BT_FAILED : BT_PLACED);
		assert_error(&t, names ? "running PreBind plugin \"DynamicResources\": nil or empty request "
					 "mappings, no update of pod default/p ExtendedResourceClaimStatus"
				       : "");
		assert_int_equal(t.unreserve_n, names);
		assert_int_equal(decide(&t, other), BT_PLACED);
		end(&t);
	}
}

/* Between the halves of a pod's cycle its claim is deleted, or others are added. */
static void claims_may_change_before_the_decision_is_carried_out(void **state)
{
	for (int goes = 0; goes < 2; goes++) {
		struct bt_decision decision;
		struct trial t;

		begin(&t, state, true);
		uint32_t pod = add_pod(&t, USES("c")), other = add_pod(&t, USES("e"));
		assert_int_equal(bt_engine_pop(t.engine), pod);
		bt_engine_begin(t.engine, pod, &decision);
		assert_int_equal(decision.outcome, BT_PLACED);
		if (goes) {
			assert_int_equal(bt_engine_delete_object(t.engine, BT_KIND_RESOURCE_CLAIM,
						 bt_str("default"), bt_str("c")),
				BT_OK);
		}
		for (int i = 0; i < 200; i++) {
			char name[16];

			snprintf(name, sizeof(name), "new-%d", i);
			add_claim(&t, name);
		}
		bt_engine_end(t.engine, &decision);
		assert_int_equal(decision.outcome, goes ? BT_FAILED : BT_PLACED);
		assert_error(&t,
			goes ? "running Reserve plugin \"DynamicResources\": internal error, couldn't signal "
			       "allocation for claim c: look up assumed claim default/c, UID=u-c: could not "
			       "find ResourceClaim \"default/c\""
			     : "");
		assert_int_equal(decide(&t, other), goes ? BT_PLACED : BT_REFUSED);
		end(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_pod_that_names_its_claim_no_more_keeps_what_it_got),
		FIXTURE_TEST(a_device_is_given_once),
		FIXTURE_TEST(a_slice_may_go_between_the_halves_of_a_cycle),
		FIXTURE_TEST(a_binding_that_fails_gives_the_device_back),
		FIXTURE_TEST(the_end_of_an_allocation_requeues_pods_that_wait_for_the_claim),
		FIXTURE_TEST(a_device_freed_by_a_deleted_claim_requeues_waiting_pods),
		FIXTURE_TEST(a_binding_that_failed_brings_a_claim_nothing_even_if_the_pod_is_bound),
		FIXTURE_TEST(a_claim_stays_allocated_for_a_pod_deleted_during_its_binding),
		FIXTURE_TEST(a_stale_claim_does_not_free_its_device),
		FIXTURE_TEST(a_binding_that_failed_before_it_wrote_a_claim_gives_the_device_back),
		FIXTURE_TEST(a_pod_waits_until_its_claim_is_there),
		FIXTURE_TEST(an_allocation_that_is_in_the_way_is_taken_back),
		FIXTURE_TEST(a_claim_that_only_preemption_could_not_use_stays_allocated),
		FIXTURE_TEST(a_claim_found_unavailable_by_preemption_counts_for_later_pods),
		FIXTURE_TEST(post_filter_fails_when_the_claim_has_gone_that_it_deallocates),
		FIXTURE_TEST(a_pod_with_claims_whose_extended_resources_a_device_plugin_has_is_not_bound),
		FIXTURE_TEST(claims_may_change_before_the_decision_is_carried_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
