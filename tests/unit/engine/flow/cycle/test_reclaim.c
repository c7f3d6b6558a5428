/* SPDX-License-Identifier: Apache-2.0
 * State that is freed after its last pod: when, and when not yet.
 */
#include "trial.h"

#define TEMPLATE "nodeSelector: {pool: a}, containers: [{name: c, image: only-here}]"

static struct trial begin_keeping(void **state, uint32_t kept)
{
	const struct bt_engine_options options = {.no_backoff = true, .signatures_kept = kept};
	struct trial t = {.f = *state};

	bt_config_init_default(&t.config, NULL);
	start(&t, &options);
	assert_int_equal(
		bt_engine_apply_node(t.engine,
			&read(&t,
				"{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {pool: a}}, "
				"status: {allocatable: {cpu: '1000', memory: 1Ti, pods: '%s'}}}",
				"9999", "")
				 ->node,
			&(uint32_t){0}),
		BT_OK);
	return t;
}

static size_t signature_n(const struct trial *t)
{
	return bt_signatures_count(bt_engine_cache(t->engine)->signatures);
}

/* A pod is added, placed and removed. */
static void pass(struct trial *t, const char *name, const char *spec)
{
	uint32_t pod = add_pod(t, name, spec, "");

	assert_int_equal(decide(t, pod).outcome, BT_PLACED);
	bt_engine_remove_pod(t->engine, pod);
}

/* Jobs with one template, one after the other, build its signature once. */
static void a_signature_that_is_used_again_and_again_stays(void **state)
{
	struct trial t = begin_keeping(state, 4);
	char name[32], spec[128];

	pass(&t, "name: first", TEMPLATE);
	const struct bt_intern *intern = bt_engine_cache(t.engine)->dictionary->intern;
	uint32_t image = bt_intern_find(intern, bt_str("only-here:latest"));
	assert_int_not_equal(image, BT_NAME_NONE);
	for (uint32_t i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "name: again-%" PRIu32, i);
		pass(&t, name, TEMPLATE);
		snprintf(name, sizeof(name), "name: once-%" PRIu32, i);
		snprintf(spec, sizeof(spec), "containers: [{name: c, image: once-%" PRIu32 "}]", i);
		pass(&t, name, spec);
		assert_in_range(signature_n(&t), 1, 4 + 4 + 3);
		assert_int_equal(bt_intern_find(intern, bt_str("only-here:latest")), image);
	}
	assert_in_range(bt_engine_counts(t.engine).signature_end_n, 150, 200);
	assert_int_equal(bt_intern_find(intern, bt_str("once-0:latest")), BT_NAME_NONE);
	end(&t);
}

/* During a pod's cycle, its results may refer to deleted objects. */
static void nothing_is_freed_during_a_pods_cycle(void **state)
{
	struct trial t = begin_keeping(state, 1);
	struct bt_decision decision;
	char name[32], spec[128];
	uint32_t pods[20], popped = add_pod(&t, "name: popped", TEMPLATE, "");

	assert_int_equal(bt_engine_pop(t.engine), popped);
	bt_engine_begin(t.engine, popped, &decision);
	for (uint32_t i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "name: p-%" PRIu32, i);
		snprintf(spec, sizeof(spec), "containers: [{name: c, image: i-%" PRIu32 "}]", i);
		pods[i] = add_pod(&t, name, spec, "");
		bt_engine_remove_pod(t.engine, pods[i]);
	}
	assert_int_equal(signature_n(&t), 21);
	bt_engine_end(t.engine, &decision);
	assert_int_equal(decision.outcome, BT_PLACED);
	pass(&t, "name: last", TEMPLATE);
	add_pod(&t, "name: next", TEMPLATE, "");
	assert_in_range(signature_n(&t), 1, 4);
	end(&t);
}

/* Changing Services leaves counters behind, though no signature is freed. */
static void unused_counters_are_freed_when_there_are_too_many(void **state)
{
	struct trial t = begin_keeping(state, 100);
	struct bt_cache *cache = bt_engine_cache(t.engine);
	const struct bt_counting *counting = cache->view.counting;
	uint32_t space = bt_intern_add(cache->dictionary->intern, bt_str("default"));
	const struct bt_pod_match match = {.namespaces = &space, .namespace_n = 1};

	for (uint32_t i = 0; i < 70000; i++) {
		struct bt_requirement one = {.key = BT_NAME_HOSTNAME, .op = BT_OP_GT, .number = i};
		struct bt_pod_match other = match;
		const struct bt_pod_query query = {.items = &other, .n = 1};

		other.labels = (struct bt_selector){.items = &one, .n = 1};
		counting->counter(counting->context, &query);
	}
	assert_int_equal(bt_counters_count(cache->counters), 70000);
	/* Only after as many pods as there are signatures. */
	pass(&t, "name: a", TEMPLATE);
	assert_int_equal(bt_counters_count(cache->counters), 70000);
	pass(&t, "name: b", TEMPLATE);
	pass(&t, "name: c", TEMPLATE);
	assert_int_equal(bt_counters_count(cache->counters), 0);
	assert_int_equal(signature_n(&t), 1);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_signature_that_is_used_again_and_again_stays),
		FIXTURE_TEST(nothing_is_freed_during_a_pods_cycle),
		FIXTURE_TEST(unused_counters_are_freed_when_there_are_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
