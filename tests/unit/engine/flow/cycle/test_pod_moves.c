/* SPDX-License-Identifier: Apache-2.0
 * Pods that stay when most others are deleted move to low indices, without effect: their usage, their
 * counters, their order in the queue and preemption are unchanged.
 */
#include "trial.h"

#include "engine/base/rng.h"
#include "seed.h"

enum { NODES = 4, MANY = 40 };

static const struct bt_cache *cache_of(const struct trial *t)
{
	return bt_engine_cache(t->engine);
}

static const struct bt_ledger *ledger_of(const struct trial *t)
{
	return cache_of(t)->ledger;
}

static uint64_t move_n(const struct trial *t)
{
	return bt_engine_counts(t->engine).pod_move_n;
}

static uint32_t find(const struct trial *t, const char *name)
{
	return bt_engine_find_pod(t->engine, bt_str("default"), bt_str(name));
}

static const struct bt_pod *pod_of(const struct trial *t, const char *name)
{
	uint32_t pod_ix = find(t, name);

	assert_int_not_equal(pod_ix, BT_NO_POD);
	return bt_ledger_pod(ledger_of(t), pod_ix);
}

static const char *name_at(const struct trial *t, uint32_t pod_ix)
{
	return bt_intern_str(cache_of(t)->dictionary->intern, bt_ledger_pod(ledger_of(t), pod_ix)->name).ptr;
}

/* Adds or changes the pod. meta starts with a comma unless empty. */
static uint32_t show(struct trial *t, const char *name, const char *meta, const char *spec)
{
	struct bt_taken taken;

	bt_buf_clear(&t->text);
	bt_buf_printf(&t->text,
		"{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: %s%s}, spec: "
		"{schedulerName: default-scheduler, %s}}",
		name, meta, spec);
	assert_int_equal(bt_engine_show(t->engine, fixture_read(t->f, t->text.ptr), &taken), BT_OK);
	return taken.ix;
}

static void drop(struct trial *t, const char *name)
{
	assert_int_equal(
		bt_engine_delete_object(t->engine, BT_KIND_POD, bt_str("default"), bt_str(name)), BT_OK);
}

/* An event without a change. */
static void pass(struct trial *t)
{
	drop(t, name_at(t, show(t, "event", "", "schedulingGates: [{name: x}], " CPU("1"))));
}

static struct trial begin_with(void **state, const struct bt_engine_options *options)
{
	struct trial t = {.f = *state};

	bt_config_init_default(&t.config, NULL);
	start(&t, options);
	add_labeled_nodes(&t, NODES);
	return t;
}

static struct trial begin_moving(void **state)
{
	return begin_with(state, &(struct bt_engine_options){.no_backoff = true, .moves_pods = true});
}

/* Adds pods p0, p1, …, with a tenth of a CPU each, on nodes round-robin. */
static void fill(struct trial *t, uint32_t n)
{
	char name[16], spec[128];

	for (uint32_t i = 0; i < n; i++) {
		numbered(name, sizeof(name), "p", i);
		snprintf(spec, sizeof(spec), "nodeName: n%" PRIu32 ", " CPU("100m"), i % NODES);
		assert_int_equal(show(t, name, ", labels: {app: x}", spec), i);
	}
}

/* Deletes those below n, and makes changes as long as pods move. */
static void thin_out(struct trial *t, uint32_t n)
{
	char name[16];

	for (uint32_t i = 0; i < n; i++) {
		drop(t, numbered(name, sizeof(name), "p", i));
	}
	for (uint64_t before = move_n(t) + 1; before != move_n(t);) {
		before = move_n(t);
		pass(t);
	}
}

static void the_pods_that_stay_get_the_lowest_indices(void **state)
{
	struct trial t = begin_moving(state);
	const struct bt_usage *usage = cache_of(&t)->view.usage;
	char name[16];

	fill(&t, MANY);
	thin_out(&t, MANY - 8);
	assert_true(move_n(&t) >= 8);
	assert_in_range(bt_ledger_pod_end(ledger_of(&t)), 8, 8 + 8);
	for (uint32_t i = 0; i < NODES; i++) {
		assert_int_equal(usage->nodes[i].used[BT_CPU], 200);
		assert_int_equal(usage->nodes[i].pod_n, 2);
		/* The order in the list depends on earlier deletions. */
		uint32_t first = bt_ledger_first_on(ledger_of(&t), i);
		uint32_t second = bt_ledger_next(ledger_of(&t), first);
		numbered(name, sizeof(name), "p", MANY - 4 + i);
		bool swapped = strcmp(name_at(&t, first), name) != 0;
		assert_string_equal(name_at(&t, swapped ? second : first), name);
		numbered(name, sizeof(name), "p", MANY - 8 + i);
		assert_string_equal(name_at(&t, swapped ? first : second), name);
		assert_int_equal(bt_ledger_next(ledger_of(&t), second), BT_NO_POD);
	}
	/* They are deleted or changed as usual. */
	drop(&t, "p39");
	assert_int_equal(usage->nodes[3].used[BT_CPU], 100);
	show(&t, "p35", "", "nodeName: n3, " CPU("300m"));
	assert_int_equal(usage->nodes[3].used[BT_CPU], 300);
	assert_int_equal(pod_of(&t, "p35")->state, BT_POD_SCHEDULED);
	for (uint32_t i = MANY - 8; i < MANY - 1; i++) {
		drop(&t, numbered(name, sizeof(name), "p", i));
	}
	for (uint32_t i = 0; i < NODES; i++) {
		assert_int_equal(usage->nodes[i].used[BT_CPU], 0);
		assert_int_equal(bt_ledger_first_on(ledger_of(&t), i), BT_NO_POD);
	}
	pass(&t);
	assert_int_equal(bt_engine_counts(t.engine).sets.scheduled, 0);
	end(&t);
}

static void pods_keep_referenced_indices(void **state)
{
	struct trial t = begin_with(state, &(struct bt_engine_options){.no_backoff = true});

	fill(&t, MANY);
	thin_out(&t, MANY - 8);
	assert_int_equal(move_n(&t), 0);
	assert_int_equal(find(&t, "p33"), 33);
	end(&t);
}

static void pods_stay_where_they_are_as_long_as_half_of_them_are_there(void **state)
{
	struct trial t = begin_moving(state);

	fill(&t, MANY);
	thin_out(&t, MANY / 2);
	assert_int_equal(move_n(&t), 0);
	assert_int_equal(find(&t, "p39"), 39);
	end(&t);
}

static void a_few_pods_are_moved_at_a_time(void **state)
{
	struct trial t = begin_moving(state);
	uint64_t before = 0, most = 0;
	char name[16];

	fill(&t, 400);
	for (uint32_t i = 0; i < 390; i++) {
		drop(&t, numbered(name, sizeof(name), "p", i));
		most = move_n(&t) - before > most ? move_n(&t) - before : most;
		before = move_n(&t);
	}
	assert_in_range(most, 1, 8);
	assert_in_range(bt_ledger_pod_end(ledger_of(&t)), 10, 40);
	end(&t);
}

#define APART                                                                                                \
	"affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: "     \
	"{matchLabels: {app: x}}, topologyKey: kubernetes.io/hostname}]}}, "
#define SPREAD                                                                                               \
	"topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, topologyKey: "           \
	"topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: x}}}], "

static struct bt_decision decide_next(struct trial *t)
{
	struct bt_decision decision;
	uint32_t pod_ix = bt_engine_pop(t->engine);

	assert_int_not_equal(pod_ix, BT_NO_POD);
	bt_engine_decide(t->engine, pod_ix, &decision);
	return decision;
}

static void pods_that_have_moved_count_where_they_counted(void **state)
{
	struct trial t = begin_moving(state);

	fill(&t, MANY);
	/* So that counters exist before pods move; others are built afterwards. */
	show(&t, "apart", "", APART CPU("1"));
	assert_int_equal(decide_next(&t).outcome, BT_REFUSED);
	thin_out(&t, MANY - 3);
	assert_true(move_n(&t) > 0);
	/* p37, p38 and p39 are on n1, n2 and n3; n0 and n2 are in one zone. */
	assert_int_equal(decide_next(&t).node_ix, 0);
	for (uint32_t i = 0; i < 3; i++) {
		char name[16];

		show(&t, numbered(name, sizeof(name), "even", i), ", labels: {app: x}", SPREAD CPU("100m"));
		struct bt_decision decision = decide_next(&t);
		assert_int_equal(decision.outcome, BT_PLACED);
		if (i == 0) {
			assert_int_equal(decision.node_ix % 2, 0);
		}
	}
	drop(&t, "apart");
	drop(&t, "p37");
	drop(&t, "p39");
	for (uint32_t i = 0; i < 3; i++) {
		char name[16];

		drop(&t, numbered(name, sizeof(name), "even", i));
	}
	for (uint32_t i = 0; i < 2; i++) {
		char name[16];

		show(&t, numbered(name, sizeof(name), "odd", i), ", labels: {app: x}", SPREAD CPU("100m"));
	}
	assert_int_equal(decide_next(&t).node_ix % 2, 1);
	assert_int_equal(decide_next(&t).outcome, BT_PLACED);
	show(&t, "last", "", APART CPU("1"));
	uint32_t node_ix = decide_next(&t).node_ix;
	assert_int_not_equal(node_ix, 2);
	assert_int_not_equal(node_ix, BT_NO_NODE);
	end(&t);
}

static void pods_that_have_moved_are_preempted(void **state)
{
	struct trial t = begin_moving(state);

	fill(&t, MANY);
	show(&t, "p39", "", "nodeName: n3, " CPU("3"));
	show(&t, "p38", "", "priority: 9, nodeName: n2, " CPU("3"));
	show(&t, "p37", "", "priority: 9, nodeName: n1, " CPU("3"));
	show(&t, "p36", "", "priority: 9, nodeName: n0, " CPU("3"));
	thin_out(&t, MANY - 4);
	assert_true(move_n(&t) >= 4);
	assert_true(find(&t, "p39") < MANY - 4);
	show(&t, "high", "", "priority: 7, " CPU("2"));
	struct bt_decision decision = decide_next(&t);
	assert_int_equal(decision.outcome, BT_REFUSED);
	assert_int_equal(decision.nominated_ix, 3);
	assert_int_equal(decision.victim_n, 1);
	assert_string_equal(name_at(&t, decision.victims[0].pod_ix), "p39");
	bt_engine_evict(t.engine, find(&t, "p39"));
	drop(&t, "p39");
	decision = decide_next(&t);
	assert_int_equal(decision.node_ix, 3);
	end(&t);
}

/* A nominated pod keeps its index, and others do not get it. */
static void a_pod_that_was_nominated_a_node_stays(void **state)
{
	struct trial t = begin_moving(state);

	fill(&t, MANY);
	uint32_t ix = show(&t, "high", "", "priority: 7, " CPU("3900m"));
	struct bt_decision decision = decide_next(&t);
	assert_int_equal(decision.outcome, BT_REFUSED);
	uint32_t nominated = decision.nominated_ix;
	assert_int_not_equal(nominated, BT_NO_NODE);
	thin_out(&t, MANY - 4);
	assert_true(move_n(&t) > 0);
	assert_int_equal(find(&t, "high"), ix);
	assert_int_equal(pod_of(&t, "high")->nominated_ix, nominated);
	assert_int_equal(bt_ledger_first_nominated(ledger_of(&t), nominated), ix);
	end(&t);
}

static void bind_later(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	(void)context;
	(void)engine;
	(void)pod_ix;
	(void)node_ix;
}

static void a_pod_stays_while_it_is_being_bound(void **state)
{
	struct trial t = begin_with(
		state, &(struct bt_engine_options){
			       .no_backoff = true, .moves_pods = true, .binder = {.bind = bind_later}});

	fill(&t, MANY - 4);
	uint32_t good = show(&t, "good", "", CPU("1")), bad = show(&t, "bad", "", CPU("1")),
		 gone = show(&t, "gone", "", CPU("1")), early = show(&t, "early", "", CPU("1"));
	uint32_t early_node = BT_NO_NODE;
	for (int i = 0; i < 4; i++) {
		struct bt_decision decision = decide_next(&t);

		assert_int_equal(decision.outcome, BT_PLACED);
		early_node = decision.pod_ix == early ? decision.node_ix : early_node;
	}
	char spec[128];
	snprintf(spec, sizeof(spec), "nodeName: n%" PRIu32 ", " CPU("1"), early_node);
	show(&t, "early", "", spec); /* shown before the binder has answered */
	drop(&t, "gone");
	thin_out(&t, MANY - 8);
	assert_true(move_n(&t) > 0);
	assert_int_equal(find(&t, "good"), good);
	assert_int_equal(find(&t, "bad"), bad);
	assert_int_equal(find(&t, "early"), early);
	assert_true(bt_ledger_has(ledger_of(&t), gone));
	bt_engine_bound(t.engine, good);
	bt_engine_bound(t.engine, early);
	bt_engine_bind_failed(t.engine, bad);
	bt_engine_bound(t.engine, gone);
	for (int i = 0; i < MANY; i++) {
		pass(&t);
	}
	assert_in_range(bt_ledger_pod_end(ledger_of(&t)), 7, 16);
	assert_int_equal(pod_of(&t, "good")->state, BT_POD_SCHEDULED);
	assert_int_equal(pod_of(&t, "early")->state, BT_POD_SCHEDULED);
	/* It waits under its new index. */
	assert_int_equal(bt_queue_info(bt_engine_queue(t.engine), find(&t, "bad")).attempts, 1);
	struct bt_decision decision = decide_next(&t);
	assert_int_equal(decision.pod_ix, find(&t, "bad"));
	assert_int_equal(decision.outcome, BT_PLACED);
	end(&t);
}

static void no_node_moves_during_a_cycle(void **state)
{
	struct trial t = begin_moving(state);
	struct bt_decision decision;

	fill(&t, MANY - 4);
	uint32_t pod = show(&t, "in-hand", "", CPU("1"));
	assert_int_equal(bt_engine_pop(t.engine), pod);
	bt_engine_begin(t.engine, pod, &decision);
	thin_out(&t, MANY - 8);
	assert_int_equal(move_n(&t), 0);
	bt_engine_end(t.engine, &decision);
	assert_int_equal(decision.outcome, BT_PLACED);
	pass(&t);
	pass(&t);
	assert_true(move_n(&t) > 0);
	assert_int_equal(pod_of(&t, "in-hand")->node_ix, decision.node_ix);
	end(&t);
}

/* Waiting pods keep their order and their queue state. */
static void waiting_pods_keep_their_order_and_state_when_moved(void **state)
{
	struct trial t = begin_moving(state);
	static const char *const names[] = {"a", "b", "c", "d"};

	fill(&t, MANY);
	for (int i = 0; i < 4; i++) {
		show(&t, names[i], "", CPU("1"));
	}
	uint32_t none = show(&t, "none", "", "nodeSelector: {a: b}, " CPU("1"));
	assert_int_equal(bt_engine_take(t.engine, none), BT_OK);
	struct bt_decision decision;
	bt_engine_decide(t.engine, none, &decision);
	assert_int_equal(decision.outcome, BT_REFUSED);
	char before[512];
	snprintf(before, sizeof(before), "%s", message(&t, none));
	thin_out(&t, MANY - 4);
	assert_true(move_n(&t) > 5);
	none = find(&t, "none");
	assert_true(none < MANY);
	assert_string_equal(message(&t, none), before);
	assert_int_equal(bt_queue_info(bt_engine_queue(t.engine), none).where, BT_WAIT_UNSCHEDULABLE);
	for (int i = 0; i < 4; i++) {
		decision = decide_next(&t);
		assert_string_equal(name_at(&t, decision.pod_ix), names[i]);
		assert_true(decision.pod_ix < MANY);
		assert_int_equal(decision.outcome, BT_PLACED);
	}
	/* No pod was requeued. */
	assert_int_equal(bt_engine_pop(t.engine), BT_NO_POD);
	add_node(&t, "fits, labels: {a: b}", "4");
	decision = decide_next(&t);
	assert_int_equal(decision.pod_ix, none);
	assert_int_equal(decision.outcome, BT_PLACED);
	end(&t);
}

static void a_pod_with_resource_claims_stays(void **state)
{
	struct trial t = begin_moving(state);

	fill(&t, MANY);
	uint32_t pod = show(&t, "claims", "",
		"nodeName: n1, resourceClaims: [{name: c, resourceClaimName: c}], " CPU("1"));
	uint32_t other = show(&t, "other", "", "nodeName: n2, " CPU("1"));
	thin_out(&t, MANY - 4);
	assert_int_equal(find(&t, "claims"), pod);
	assert_int_not_equal(find(&t, "other"), other);
	/* Pods that stay are not examined again at each event. */
	uint64_t before = move_n(&t);
	for (int i = 0; i < MANY; i++) {
		pass(&t);
	}
	assert_in_range(move_n(&t) - before, 0, 1);
	drop(&t, "claims");
	for (int i = 0; i < MANY; i++) {
		pass(&t);
	}
	assert_in_range(bt_ledger_pod_end(ledger_of(&t)), 5, 12);
	end(&t);
}

/* ---- with moves and without ---- */

enum { PODS = 48, ROUNDS = 60, STORIES = 40 };

/* Describes a decision by names. */
static void describe(const struct trial *t, const struct bt_decision *decision, struct bt_buf *out)
{
	bt_buf_clear(out);
	bt_buf_printf(out, "%s: %d on %" PRIu32 ", promised %" PRIu32 ", refused by %" PRIx64 ", for it go",
		name_at(t, decision->pod_ix), (int)decision->outcome, decision->node_ix,
		decision->nominated_ix, decision->unschedulable_plugins);
	for (uint32_t i = 0; i < decision->victim_n; i++) {
		bt_buf_printf(out, " %s", name_at(t, decision->victims[i].pod_ix));
	}
}

/* Decides the next pod in both, and deletes its victims. Returns whether there was one. */
static bool decide_both(struct trial *t, struct bt_buf *texts)
{
	struct bt_decision decisions[2];
	char victims[PODS][16];
	uint32_t victim_n = 0;

	for (int e = 0; e < 2; e++) {
		uint32_t pod_ix = bt_engine_pop(t[e].engine);

		bt_buf_clear(&texts[e]);
		bt_buf_text(&texts[e], "nobody");
		if (pod_ix != BT_NO_POD) {
			bt_engine_decide(t[e].engine, pod_ix, &decisions[e]);
			describe(&t[e], &decisions[e], &texts[e]);
			victim_n = decisions[e].victim_n;
		}
	}
	assert_string_equal(texts[0].ptr, texts[1].ptr);
	if (strcmp(texts[0].ptr, "nobody") == 0) {
		return false;
	}
	for (uint32_t i = 0; i < victim_n; i++) {
		snprintf(
			victims[i], sizeof(victims[i]), "%s", name_at(&t[0], decisions[0].victims[i].pod_ix));
	}
	for (uint32_t i = 0; i < victim_n; i++) {
		drop(&t[0], victims[i]);
		drop(&t[1], victims[i]);
	}
	return true;
}

/* Adds or changes a pod in both. */
static void show_both(struct trial *t, struct bt_rng *rng, uint32_t number)
{
	static const char *const others[] = {"", "", APART, SPREAD};
	char name[16], node[32] = "", spec[1024];

	if (bt_rng_below(rng, 3) == 0) {
		snprintf(node, sizeof(node), "nodeName: n%" PRIu32 ", ", bt_rng_below(rng, NODES));
	}
	snprintf(spec, sizeof(spec),
		"%spriority: %" PRIu32 ", %scontainers: [{name: a, resources: {requests: {cpu: %" PRIu32
		"00m}}}]",
		node, bt_rng_below(rng, 4) * 3, others[bt_rng_below(rng, 4)], 1 + bt_rng_below(rng, 15));
	const char *meta = bt_rng_below(rng, 2) ? ", labels: {app: x}" : "";
	for (int e = 0; e < 2; e++) {
		show(&t[e], numbered(name, sizeof(name), "p", number), meta, spec);
	}
}

static void drop_both(struct trial *t, uint32_t number)
{
	char name[16];

	numbered(name, sizeof(name), "p", number);
	assert_int_equal(find(&t[0], name) == BT_NO_POD, find(&t[1], name) == BT_NO_POD);
	for (int e = 0; e < 2 && find(&t[e], name) != BT_NO_POD; e++) {
		drop(&t[e], name);
	}
}

static void assert_same_usage(const struct trial *t)
{
	const struct bt_usage *a = cache_of(&t[0])->view.usage, *b = cache_of(&t[1])->view.usage;

	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t x = bt_ledger_first_on(ledger_of(&t[0]), i),
			 y = bt_ledger_first_on(ledger_of(&t[1]), i);

		assert_int_equal(a->nodes[i].used[BT_CPU], b->nodes[i].used[BT_CPU]);
		assert_int_equal(a->nodes[i].pod_n, b->nodes[i].pod_n);
		while (x != BT_NO_POD && y != BT_NO_POD) {
			assert_string_equal(name_at(&t[0], x), name_at(&t[1], y));
			x = bt_ledger_next(ledger_of(&t[0]), x);
			y = bt_ledger_next(ledger_of(&t[1]), y);
		}
		assert_int_equal(x, y);
	}
}

static void decisions_are_the_same_with_moves_and_without(void **state)
{
	struct bt_rng rng = {.state = seed_of_test()};
	uint64_t moved_n = 0, decided_n = 0;

	for (uint32_t story = 0; story < STORIES; story++) {
		struct trial t[2] = {begin_moving(state),
			begin_with(state, &(struct bt_engine_options){.no_backoff = true})};
		struct bt_buf texts[2] = {0};

		for (uint32_t round = 0; round < ROUNDS; round++) {
			/* Many, or few. */
			bool ebbs = round % 20 > 12;

			for (uint32_t i = 0; i < 6; i++) {
				uint32_t number = bt_rng_below(&rng, PODS);

				if (bt_rng_below(&rng, 10) < (ebbs ? 1 : 7)) {
					show_both(t, &rng, number);
				} else {
					drop_both(t, number);
				}
			}
			for (uint32_t i = 0; i < 4 && decide_both(t, texts); i++) {
				decided_n++;
			}
			assert_same_usage(t);
		}
		moved_n += move_n(&t[0]);
		assert_int_equal(move_n(&t[1]), 0);
		for (int e = 0; e < 2; e++) {
			bt_buf_fini(&texts[e]);
			end(&t[e]);
		}
	}
	print_message("%" PRIu64 " decisions, %" PRIu64 " moves\n", decided_n, moved_n);
	assert_true(moved_n > STORIES && decided_n > STORIES * ROUNDS / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(the_pods_that_stay_get_the_lowest_indices),
		FIXTURE_TEST(pods_keep_referenced_indices),
		FIXTURE_TEST(pods_stay_where_they_are_as_long_as_half_of_them_are_there),
		FIXTURE_TEST(a_few_pods_are_moved_at_a_time),
		FIXTURE_TEST(pods_that_have_moved_count_where_they_counted),
		FIXTURE_TEST(pods_that_have_moved_are_preempted),
		FIXTURE_TEST(a_pod_that_was_nominated_a_node_stays),
		FIXTURE_TEST(a_pod_stays_while_it_is_being_bound),
		FIXTURE_TEST(no_node_moves_during_a_cycle),
		FIXTURE_TEST(waiting_pods_keep_their_order_and_state_when_moved),
		FIXTURE_TEST(a_pod_with_resource_claims_stays),
		FIXTURE_TEST(decisions_are_the_same_with_moves_and_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
