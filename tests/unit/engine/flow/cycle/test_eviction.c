/* SPDX-License-Identifier: Apache-2.0
 * The victims of a preemptor: their list, victims that are deleted meanwhile, and the engine's evictions.
 */
#include "trial.h"

#include "engine/flow/cycle/engine_int.h"
#include "engine/flow/cycle/eviction.h"

#define VICTIMS_MAX 4

/* Calls of the evictor. */
struct evictions {
	uint32_t pods[VICTIMS_MAX], n, for_ix;
	bool fails;
};

static void evict(void *context, struct bt_engine *engine, uint32_t victim_ix, uint32_t for_ix)
{
	struct evictions *evictions = context;

	assert_true(evictions->n < VICTIMS_MAX);
	evictions->pods[evictions->n++] = victim_ix;
	evictions->for_ix = for_ix;
	if (evictions->fails) {
		bt_engine_evict_failed(engine, for_ix);
	} else {
		bt_engine_evict(engine, victim_ix);
	}
}

static struct trial begin_with(void **state, struct evictions *evictions)
{
	const struct bt_engine_options options = {
		.no_backoff = true, .evictor = {.evict = evict, .context = evictions}};
	struct trial t = {.f = *state};
	struct bt_gates gates;

	bt_gates_init(&gates, bt_release_default());
	bt_config_init_default(&t.config, &gates);
	start(&t, &options);
	return t;
}

static struct bt_ledger *ledger_of(struct trial *t)
{
	return bt_engine_cache(t->engine)->ledger;
}

/* Lists the pods as victims. */
static struct bt_eviction listed(struct trial *t, const uint32_t *pods, uint32_t n)
{
	struct bt_victim victims[VICTIMS_MAX] = {{0}};
	struct bt_preemption preemption = {.victims = victims, .victim_n = n};
	struct bt_eviction eviction;

	for (uint32_t i = 0; i < n; i++) {
		victims[i].pod_ix = pods[i];
	}
	bt_eviction_init(&eviction, true);
	bt_eviction_list(&eviction, ledger_of(t), &preemption);
	return eviction;
}

static void victims_that_are_being_deleted_already_are_not_listed(void **state)
{
	struct trial t = begin(state);

	add_node(&t, "n1", "4");
	const uint32_t pods[] = {add_pod(&t, "name: a", "nodeName: n1, " CPU("1"), ""),
		add_pod(&t, "name: b, deletionTimestamp: '2026-01-01T00:00:00Z'", "nodeName: n1, " CPU("1"),
			"")};
	struct bt_eviction eviction = listed(&t, pods, 2);
	assert_int_equal(eviction.leaving_n, 1);
	assert_int_equal(eviction.leaving[0].pod_ix, pods[0]);
	bt_eviction_fini(&eviction);
	end(&t);
}

static void the_end_of_a_victim_is_recorded_and_of_other_pods_is_not(void **state)
{
	struct trial t = begin(state);

	add_node(&t, "n1", "4");
	const uint32_t victim = add_pod(&t, "name: a", "nodeName: n1, " CPU("1"), "");
	const uint32_t other = add_pod(&t, "name: b", "nodeName: n1, " CPU("1"), "");
	struct bt_eviction eviction = listed(&t, &victim, 1);
	assert_false(bt_eviction_note_ended(&eviction, other, true));
	assert_false(bt_eviction_note_gone(&eviction, other, true));
	assert_false(bt_eviction_note_answered(&eviction, other));
	assert_true(bt_eviction_note_ended(&eviction, victim, true));
	assert_true(bt_eviction_note_gone(&eviction, victim, true));
	assert_true(eviction.leaving[0].ended && eviction.leaving[0].gone && eviction.leaving[0].in_hand);
	assert_true(bt_eviction_note_answered(&eviction, victim));
	assert_false(eviction.leaving[0].in_hand);
	bt_eviction_fini(&eviction);
	end(&t);
}

static void a_victim_that_has_gone_is_let_go_once_it_is_in_nobodys_hand(void **state)
{
	struct trial t = begin(state);

	add_node(&t, "n1", "4");
	const uint32_t pods[] = {add_pod(&t, "name: a", "nodeName: n1, " CPU("1"), ""),
		add_pod(&t, "name: b", "nodeName: n1, " CPU("1"), ""),
		add_pod(&t, "name: c", "nodeName: n1, " CPU("1"), "")};
	struct bt_eviction eviction = listed(&t, pods, 3);
	for (uint32_t i = 0; i < 2; i++) {
		bt_eviction_note_gone(&eviction, pods[i], i == 1);
		bt_ledger_detach(ledger_of(&t), pods[i]);
	}
	bt_eviction_drop(&eviction, ledger_of(&t));
	assert_int_equal(eviction.leaving_n, 0);
	assert_false(bt_ledger_has(ledger_of(&t), pods[0]));
	assert_true(bt_ledger_has(ledger_of(&t), pods[1])); /* its binder has not answered yet */
	assert_true(bt_ledger_has(ledger_of(&t), pods[2]));
	bt_ledger_remove(ledger_of(&t), pods[1]);
	bt_eviction_fini(&eviction);
	end(&t);
}

static void a_list_is_moved_out_of_the_way_and_back(void **state)
{
	struct trial t = begin(state);
	struct bt_leaving copy[VICTIMS_MAX];
	size_t n;

	add_node(&t, "n1", "4");
	const uint32_t pods[] = {add_pod(&t, "name: a", "nodeName: n1, " CPU("1"), ""),
		add_pod(&t, "name: b", "nodeName: n1, " CPU("1"), "")};
	struct bt_eviction eviction = listed(&t, pods, 2);
	const struct bt_leaving *taken = bt_eviction_take(&eviction, &n);
	assert_int_equal(n, 2);
	assert_int_equal(eviction.leaving_n, 0);
	memcpy(copy, taken, n * sizeof(*copy));
	bt_eviction_put(&eviction, copy, n);
	assert_int_equal(eviction.leaving_n, 2);
	assert_int_equal(eviction.leaving[1].pod_ix, pods[1]);
	bt_eviction_fini(&eviction);
	end(&t);
}

static void a_preemption_lasts_while_its_last_victim_is_there(void **state)
{
	struct trial t = begin(state);

	add_node(&t, "n1", "4");
	const uint32_t victim = add_pod(&t, "name: a", "nodeName: n1, " CPU("1"), "");
	struct bt_eviction eviction = listed(&t, &victim, 1);
	assert_false(bt_eviction_is_for(&eviction, NULL, ledger_of(&t), 7));
	eviction.on = true;
	eviction.pod_ix = 7;
	assert_true(bt_eviction_is_for(&eviction, NULL, ledger_of(&t), 7)); /* the last one is still to
									 * be evicted */
	assert_false(bt_eviction_is_for(&eviction, NULL, ledger_of(&t), 8));
	eviction.last_ix = victim;
	eviction.last_uid = bt_ledger_pod(ledger_of(&t), victim)->uid;
	assert_true(bt_eviction_is_for(&eviction, NULL, ledger_of(&t), 7));
	bt_ledger_set_terminating(ledger_of(&t), victim, true);
	assert_false(bt_eviction_is_for(&eviction, NULL, ledger_of(&t), 7));
	bt_ledger_remove(ledger_of(&t), victim);
	assert_false(bt_eviction_is_for(&eviction, NULL, ledger_of(&t), 7));
	bt_eviction_fini(&eviction);
	end(&t);
}

static void a_postponed_preemption_lasts_while_another_begins_and_ends(void **state)
{
	struct evictions evictions = {.n = 0};
	struct trial t = begin_with(state, &evictions);

	add_node(&t, "n1", "4");
	const uint32_t victims[] = {add_pod(&t, "name: a", "nodeName: n1, " CPU("1"), ""),
		add_pod(&t, "name: b", "nodeName: n1, " CPU("1"), "")};
	const uint32_t first = add_pod(&t, "name: p", "priority: 7, " CPU("8"), ""),
		       second = add_pod(&t, "name: q", "priority: 7, " CPU("8"), "");
	struct bt_decision decisions[] = {
		{.pod_ix = first, .nominated_ix = 0}, {.pod_ix = second, .nominated_ix = 0}};
	struct bt_eviction *eviction = &t.engine->eviction;
	for (uint32_t i = 0; i < 2; i++) {
		const struct bt_leaving leaving = {
			.pod_ix = victims[i], .uid = bt_ledger_pod(ledger_of(&t), victims[i])->uid};

		bt_eviction_put(eviction, &leaving, 1);
		assert_true(bt_engine_preempting_begin(t.engine, &decisions[i]));
		bt_eviction_postpone(eviction);
	}
	assert_true(bt_eviction_is_for(eviction, NULL, ledger_of(&t), first));
	assert_true(bt_eviction_is_for(eviction, NULL, ledger_of(&t), second));
	assert_true(bt_engine_preempting_begin(t.engine, &decisions[1]));
	bt_engine_carry_out(t.engine, &decisions[1], NULL);
	assert_int_equal(evictions.n, 1);
	assert_int_equal(evictions.pods[0], victims[1]);
	assert_true(bt_eviction_is_for(eviction, NULL, ledger_of(&t), first));
	assert_false(bt_eviction_is_for(eviction, NULL, ledger_of(&t), second));
	bt_ledger_set_terminating(ledger_of(&t), victims[0], true); /* another evicts it */
	assert_false(bt_eviction_is_for(eviction, NULL, ledger_of(&t), first));
	end(&t);
}

static void a_victim_that_another_pod_has_evicted_is_not_evicted_again(void **state)
{
	struct evictions evictions = {.n = 0};
	struct trial t = begin_with(state, &evictions);

	add_node(&t, "n1", "4");
	const uint32_t victims[] = {add_pod(&t, "name: a", "nodeName: n1, " CPU("1"), ""),
		add_pod(&t, "name: b", "nodeName: n1, " CPU("1"), "")};
	struct bt_decision decision = {
		.pod_ix = add_pod(&t, "name: p", "priority: 7, " CPU("8"), ""), .nominated_ix = 0};
	struct bt_leaving leaving[2];
	for (uint32_t i = 0; i < 2; i++) {
		leaving[i] = (struct bt_leaving){
			.pod_ix = victims[i], .uid = bt_ledger_pod(ledger_of(&t), victims[i])->uid};
	}
	bt_engine_remove_pod(t.engine, victims[0]);
	bt_eviction_put(&t.engine->eviction, leaving, 2);
	assert_true(bt_engine_preempting_begin(t.engine, &decision));
	bt_engine_carry_out(t.engine, &decision, NULL);
	assert_int_equal(evictions.n, 1);
	assert_int_equal(evictions.pods[0], victims[1]);
	end(&t);
}

static void every_victim_is_evicted_for_the_preemptor(void **state)
{
	struct evictions evictions = {.n = 0};
	struct trial t = begin_with(state, &evictions);

	add_node(&t, "n1", "2");
	add_pod(&t, "name: a", "nodeName: n1, " CPU("1"), "");
	add_pod(&t, "name: b", "nodeName: n1, " CPU("1"), "");
	uint32_t pod = add_pod(&t, "name: p", "priority: 7, " CPU("2"), "");
	struct bt_decision decision = decide(&t, pod);
	assert_int_equal(decision.victim_n, 2);
	assert_int_equal(evictions.n, 2);
	assert_int_equal(evictions.for_ix, pod);
	assert_int_equal(bt_engine_counts(t.engine).evict_failed_n, 0);
	end(&t);
}

static void a_victim_that_cannot_be_deleted_spares_those_after_it(void **state)
{
	struct evictions evictions = {.fails = true};
	struct trial t = begin_with(state, &evictions);

	add_node(&t, "n1", "2");
	add_pod(&t, "name: a", "nodeName: n1, " CPU("1"), "");
	add_pod(&t, "name: b", "nodeName: n1, " CPU("1"), "");
	uint32_t pod = add_pod(&t, "name: p", "priority: 7, " CPU("2"), "");
	decide(&t, pod);
	assert_int_equal(evictions.n, 1);
	assert_int_equal(bt_engine_counts(t.engine).evict_failed_n, 1);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(victims_that_are_being_deleted_already_are_not_listed),
		FIXTURE_TEST(the_end_of_a_victim_is_recorded_and_of_other_pods_is_not),
		FIXTURE_TEST(a_victim_that_has_gone_is_let_go_once_it_is_in_nobodys_hand),
		FIXTURE_TEST(a_list_is_moved_out_of_the_way_and_back),
		FIXTURE_TEST(a_preemption_lasts_while_its_last_victim_is_there),
		FIXTURE_TEST(a_postponed_preemption_lasts_while_another_begins_and_ends),
		FIXTURE_TEST(a_victim_that_another_pod_has_evicted_is_not_evicted_again),
		FIXTURE_TEST(every_victim_is_evicted_for_the_preemptor),
		FIXTURE_TEST(a_victim_that_cannot_be_deleted_spares_those_after_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
