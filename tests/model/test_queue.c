/* SPDX-License-Identifier: Apache-2.0
 * The scheduling queue and a plain model play the same random history: after every step each pod is in the
 * same queue, for the same reasons, until the same time and in the same order. Pods of parked kinds may be
 * overtaken; parking changes nothing else.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/hash.h"
#include "engine/base/rng.h"
#include "plain_queue.h"

#define HISTORIES   60
#define STEPS	    1500
#define DRAIN_EVERY 150
#define SECOND	    BT_QUEUE_SECOND

#define SIGNATURES   5
#define PLUGINS	     6
#define EVENTS	     7
#define LIKED_BY_ALL (EVENTS + 1) /* every plugin registers it without a hint */
#define PRIORITIES   3

/* State that the hooks read. */
struct world {
	uint64_t seed;
	uint32_t signatures[PLAIN_PODS];
	bt_plugin_set gates[PLAIN_PODS]; /* the plugins that gate a pod */
	uint32_t own;			 /* the pod of the event; its hints are negated */
	uint64_t hint_n;
};

struct history {
	struct bt_rng rng;
	struct world world;
	struct bt_queue *queue;
	struct plain_queue plain;
	int64_t now_ns;
	bool parks;
	bool parked[SIGNATURES][PRIORITIES]; /* kinds that may be parked */
	uint64_t overtaken_n;
};

/* ---- hooks ---- */

static int gate(void *context, uint32_t pod_ix, int first)
{
	bt_plugin_set gates = ((const struct world *)context)->gates[pod_ix];

	if (first >= 0 && bt_plugin_set_has(gates, (uint32_t)first)) {
		return first;
	}
	return gates ? (int)bt_plugin_set_first(gates) : BT_QUEUE_NO_GATE;
}

/* The plugins of these bits, spread over all plugin numbers: 3, 15, ... 63. */
static bt_plugin_set plugins_of(uint64_t bits)
{
	bt_plugin_set plugins = 0;

	for (uint32_t i = 0; i < PLUGINS; i++) {
		plugins |= bits >> i & 1 ? bt_plugin_set_of(12 * i + 3) : 0;
	}
	return plugins;
}

/* Signatures with odd numbers have another profile. */
static bt_plugin_set interested_profile(
	const struct world *world, uint32_t profile, const struct bt_cluster_event *event)
{
	uint64_t bits = bt_hash_u64(world->seed ^ ((uint64_t)event->action << 8 | profile));

	return plugins_of(event->action == LIKED_BY_ALL ? UINT64_MAX : bits & bits >> 8);
}

static bt_plugin_set interested(void *context, uint32_t pod_ix, const struct bt_cluster_event *event)
{
	const struct world *world = context;

	return interested_profile(world, world->signatures[pod_ix] % 2, event);
}

static bt_plugin_set matters(void *context, const struct bt_cluster_event *event)
{
	return interested_profile(context, 0, event) | interested_profile(context, 1, event);
}

/* For every second pod, the gating plugin has opened. */
static bool stuck(void *context, uint32_t pod_ix, int first)
{
	return pod_ix % 2 && !(((const struct world *)context)->gates[pod_ix] >> first & 1);
}

static bool hint(void *context, uint32_t pod_ix, const struct bt_cluster_event *event, bt_plugin_set plugins)
{
	struct world *world = context;
	uint64_t likes =
		bt_hash_u64(~world->seed ^ ((uint64_t)event->action << 8 | world->signatures[pod_ix]));

	world->hint_n++;
	if (event->action == LIKED_BY_ALL) {
		likes = UINT64_MAX;
	} else if (pod_ix == world->own) {
		likes = ~likes;
	}
	return (interested(context, pod_ix, event) & plugins & likes) != 0;
}

/* ---- comparing ---- */

static void compare_pod(const struct history *h, uint32_t pod_ix)
{
	const struct bt_queue_info got = bt_queue_info(h->queue, pod_ix);
	const struct plain_pod *want = &h->plain.pods[pod_ix];

	assert_int_equal(got.where, want->where);
	if (want->where == BT_WAIT_NOWHERE) {
		return;
	}
	assert_int_equal(got.gate, want->gate);
	assert_int_equal(got.unschedulable_plugins, want->unschedulable_plugins);
	assert_int_equal(got.pending, want->pending);
	assert_int_equal(got.attempts, want->attempts);
	assert_int_equal(got.entered_ns, want->entered_ns);
	assert_int_equal(got.timestamp_ns, want->timestamp_ns);
	assert_int_equal(got.expiry_ns, want->expiry_ns);
	assert_int_equal(got.flushed, want->flushed);
	assert_int_equal(
		got.patient, want->where == BT_WAIT_BACKOFF &&
				     (want->patient || !(want->unschedulable_plugins | want->pending)));
	assert_int_equal(got.first_ns, want->first_ns);
	assert_int_equal(got.order, want->order);
}

static void compare_place(const struct history *h, enum bt_wait where, uint64_t count)
{
	uint32_t got[PLAIN_PODS], want[PLAIN_PODS];
	uint32_t n = plain_list(&h->plain, where, want);

	assert_int_equal(bt_queue_list(h->queue, where, got, PLAIN_PODS), n);
	assert_int_equal(count, n);
	if (where == BT_WAIT_ACTIVE || where == BT_WAIT_BACKOFF) {
		assert_memory_equal(got, want, n * sizeof(*got));
	}
}

static void compare(const struct history *h)
{
	const struct bt_queue_counts counts = bt_queue_counts(h->queue);
	int64_t expiry_ns = INT64_MAX, oldest_ns = INT64_MAX, by_ns = h->now_ns - 5 * SECOND;
	bool kept = false;

	for (uint32_t i = 0; i < PLAIN_PODS; i++) {
		const struct plain_pod *pod = &h->plain.pods[i];

		compare_pod(h, i);
		if (pod->where == BT_WAIT_BACKOFF && pod->expiry_ns < expiry_ns) {
			expiry_ns = pod->expiry_ns;
		}
		bool may_be_let = pod->where == BT_WAIT_UNSCHEDULABLE || plain_is_stuck(&h->plain, i);
		int64_t since_ns = pod->flush_ns > pod->timestamp_ns ? pod->flush_ns : pod->timestamp_ns;
		if (may_be_let && pod->timestamp_ns <= by_ns && since_ns < oldest_ns) {
			oldest_ns = since_ns;
		}
		kept |= pod->where == BT_WAIT_IN_FLIGHT && pod->log_n > 0;
	}
	compare_place(h, BT_WAIT_ACTIVE, counts.active);
	compare_place(h, BT_WAIT_BACKOFF, counts.backoff);
	compare_place(h, BT_WAIT_UNSCHEDULABLE, counts.unschedulable);
	compare_place(h, BT_WAIT_GATED, counts.gated);
	compare_place(h, BT_WAIT_IN_FLIGHT, counts.in_flight);
	compare_place(h, BT_WAIT_BINDING, counts.binding);
	assert_int_equal(bt_queue_next_expiry(h->queue), expiry_ns);
	assert_int_equal(bt_queue_oldest(h->queue, by_ns), oldest_ns);
	assert_int_equal(bt_queue_keeps_events(h->queue), kept);
	assert_int_equal(counts.moved_n, h->plain.moved_n);
	assert_int_equal(counts.flushed_n, h->plain.flushed_n);
	assert_int_equal(counts.backoff_n, h->plain.backoff_n);
	assert_int_equal(counts.overflow_n, h->plain.overflow_n);
}

/* ---- steps ---- */

static uint32_t below(struct history *h, uint32_t n)
{
	return bt_rng_below(&h->rng, n);
}

static bool chance(struct history *h, uint32_t percent)
{
	return below(h, 100) < percent;
}

static bt_plugin_set any_plugins(struct history *h)
{
	return plugins_of(below(h, 1u << PLUGINS) & below(h, 1u << PLUGINS));
}

/* A pod in one of two queues, or BT_QUEUE_EMPTY. */
static uint32_t any_in(struct history *h, enum bt_wait a, enum bt_wait b)
{
	uint32_t start = below(h, PLAIN_PODS);

	for (uint32_t i = 0; i < PLAIN_PODS; i++) {
		uint32_t pod = (start + i) % PLAIN_PODS;

		if (h->plain.pods[pod].where == a || h->plain.pods[pod].where == b) {
			return pod;
		}
	}
	return BT_QUEUE_EMPTY;
}

/* A kind, whose signature is known to the hooks. */
static struct bt_queue_kind any_kind(struct history *h, uint32_t pod)
{
	h->world.signatures[pod] = below(h, SIGNATURES);
	return (struct bt_queue_kind){
		.signature_ix = h->world.signatures[pod], .priority = (int32_t)below(h, PRIORITIES) - 1};
}

static struct bt_cluster_event any_event(struct history *h)
{
	return (struct bt_cluster_event){.resource = BT_CLUSTER_EVENT_NODE,
		.action = chance(h, 5) ? LIKED_BY_ALL : 1 + below(h, EVENTS)};
}

static void step_update(struct history *h)
{
	uint32_t pod = below(h, PLAIN_PODS), n = below(h, 3);
	struct bt_cluster_event events[3];
	struct bt_queue_kind kind = h->plain.pods[pod].kind;

	h->world.signatures[pod] = kind.signature_ix;
	if (h->plain.pods[pod].where == BT_WAIT_NOWHERE || chance(h, 30)) {
		kind = any_kind(h, pod);
	}
	for (uint32_t i = 0; i < n; i++) {
		events[i] = any_event(h);
	}
	h->world.own = pod;
	assert_int_equal(bt_queue_update(h->queue, pod, kind, events, n, h->now_ns),
		plain_update(&h->plain, pod, kind, events, n, h->now_ns));
	h->world.own = BT_QUEUE_EMPTY;
}

static void step_add(struct history *h)
{
	uint32_t pod = any_in(h, BT_WAIT_NOWHERE, BT_WAIT_NOWHERE);

	if (pod == BT_QUEUE_EMPTY) {
		return;
	}
	struct bt_queue_kind kind = any_kind(h, pod);
	int64_t since_ns = h->now_ns - (int64_t)below(h, 3) * SECOND;
	h->world.gates[pod] = chance(h, 25) ? 1 + below(h, 3) : 0;
	assert_int_equal(
		bt_queue_add(h->queue, pod, kind, since_ns), plain_add(&h->plain, pod, kind, since_ns));
}

static bool may_be_parked(const struct history *h, uint32_t pod)
{
	struct bt_queue_kind kind = h->plain.pods[pod].kind;

	return h->parked[kind.signature_ix][kind.priority + 1];
}

/* Pods that a popped pod overtook are of a parked kind, and not of its own. */
static void check_overtaken(struct history *h, uint32_t popped)
{
	struct bt_queue_kind kind = h->plain.pods[popped].kind;

	assert_int_equal(h->plain.pods[popped].where, BT_WAIT_ACTIVE);
	for (uint32_t i = 0; i < PLAIN_PODS; i++) {
		const struct plain_pod *pod = &h->plain.pods[i];

		if (pod->where != BT_WAIT_ACTIVE || i == popped || plain_before(&h->plain, popped, i)) {
			continue;
		}
		assert_true(may_be_parked(h, i));
		assert_false(
			pod->kind.signature_ix == kind.signature_ix && pod->kind.priority == kind.priority);
		h->overtaken_n++;
	}
}

static void step_pop(struct history *h)
{
	uint32_t pods[PLAIN_PODS];
	uint32_t got = bt_queue_pop(h->queue);

	if (!h->parks || plain_list(&h->plain, BT_WAIT_ACTIVE, pods) == 0) {
		assert_int_equal(got, plain_pop(&h->plain));
		return;
	}
	assert_int_not_equal(got, BT_QUEUE_EMPTY);
	check_overtaken(h, got);
	plain_begin(&h->plain, got);
}

static void park(struct history *h, uint32_t pod, bt_plugin_set unschedulable_plugins)
{
	struct bt_queue_kind kind = h->plain.pods[pod].kind;

	bt_queue_park(h->queue, pod, unschedulable_plugins);
	h->parked[kind.signature_ix][kind.priority + 1] = true;
}

static void step_refuse(struct history *h)
{
	uint32_t pod = any_in(h, BT_WAIT_IN_FLIGHT, chance(h, 40) ? BT_WAIT_BINDING : BT_WAIT_IN_FLIGHT);
	bt_plugin_set unschedulable_plugins = chance(h, 15) ? 0 : any_plugins(h),
		      pending = chance(h, 15) ? any_plugins(h) : 0;

	if (pod == BT_QUEUE_EMPTY) {
		return;
	}
	enum bt_wait where = bt_queue_refuse(h->queue, pod, unschedulable_plugins, pending, h->now_ns);
	assert_int_equal(where, plain_refuse(&h->plain, pod, unschedulable_plugins, pending, h->now_ns));
	if (h->parks && where == BT_WAIT_UNSCHEDULABLE && unschedulable_plugins && chance(h, 70)) {
		park(h, pod, unschedulable_plugins);
	}
}

static void step_done(struct history *h)
{
	uint32_t pod = any_in(h, BT_WAIT_IN_FLIGHT, BT_WAIT_IN_FLIGHT);

	if (pod == BT_QUEUE_EMPTY) {
		return;
	}
	if (chance(h, 30)) {
		bt_queue_back_off(h->queue, pod);
		plain_back_off(&h->plain, pod);
	} else {
		bt_queue_done(h->queue, pod);
		plain_done(&h->plain, pod);
	}
}

static void step_move(struct history *h)
{
	const struct bt_cluster_event event = any_event(h);
	int32_t most = chance(h, 30) ? (int32_t)below(h, PRIORITIES) - 1 : INT32_MAX;

	h->world.own = chance(h, 30) ? below(h, PLAIN_PODS) : BT_QUEUE_EMPTY;
	bt_queue_move(h->queue, &event, most, h->world.own, h->now_ns);
	plain_move(&h->plain, &event, most, h->now_ns);
	h->world.own = BT_QUEUE_EMPTY;
	if (event.action == LIKED_BY_ALL) {
		memset(h->parked, 0, sizeof(h->parked));
		assert_int_equal(bt_queue_counts(h->queue).parked, 0);
	}
}

static void step_pod(struct history *h, uint32_t what)
{
	uint32_t pod = below(h, PLAIN_PODS);

	if (what == 0) {
		assert_int_equal(bt_queue_take(h->queue, pod), plain_take(&h->plain, pod));
	} else if (what == 1) {
		assert_int_equal(bt_queue_remove(h->queue, pod), plain_remove(&h->plain, pod));
	} else if (what == 2) {
		bt_queue_activate(h->queue, pod, h->now_ns);
		plain_activate(&h->plain, pod, h->now_ns);
	} else if (what == 3) {
		bt_queue_try_again(h->queue, pod, h->now_ns);
		plain_try_again(&h->plain, pod, h->now_ns);
	} else {
		h->world.gates[pod] = chance(h, 20) ? 1 + below(h, 3) : 0;
	}
}

static void step_time(struct history *h)
{
	static const int64_t steps[] = {1, SECOND / 3, SECOND, 2 * SECOND + 5, 11 * SECOND, 61 * SECOND};

	h->now_ns += steps[below(h, sizeof(steps) / sizeof(steps[0]))];
	bt_queue_flush_backoff(h->queue, h->now_ns);
	plain_flush_backoff(&h->plain, h->now_ns);
	memset(h->parked, 0, sizeof(h->parked));
	assert_int_equal(bt_queue_counts(h->queue).parked, 0);
	if (chance(h, 30)) {
		bt_queue_flush_unschedulable(h->queue, h->now_ns);
		plain_flush_unschedulable(&h->plain, h->now_ns);
	}
}

static void step(struct history *h)
{
	uint32_t dice = below(h, 100);

	if (dice < 12) {
		step_add(h);
	} else if (dice < 22) {
		step_update(h);
	} else if (dice < 42) {
		step_pop(h);
	} else if (dice < 60) {
		step_refuse(h);
	} else if (dice < 64) {
		step_done(h);
	} else if (dice < 80) {
		step_move(h);
	} else if (dice < 92) {
		step_pod(h, below(h, 5));
	} else {
		step_time(h);
	}
}

/*
 * Pops all active pods, then those in backoff. Pods of parked kinds come after the others, each of the two
 * in order.
 */
static void drain(struct history *h)
{
	uint32_t steps_back = 0, last = BT_QUEUE_EMPTY, pods[PLAIN_PODS];

	for (uint32_t i = plain_list(&h->plain, BT_WAIT_ACTIVE, pods); h->parks && i-- > 0;) {
		if (chance(h, 30)) {
			park(h, pods[i], plugins_of(1));
		}
	}
	while (plain_list(&h->plain, BT_WAIT_ACTIVE, pods)) {
		uint32_t pod = bt_queue_pop(h->queue);

		assert_int_equal(h->plain.pods[pod].where, BT_WAIT_ACTIVE);
		steps_back += last != BT_QUEUE_EMPTY && plain_before(&h->plain, pod, last);
		last = pod;
		plain_begin(&h->plain, pod);
	}
	assert_true(steps_back <= h->parks);
	do {
		last = plain_pop(&h->plain);
		assert_int_equal(bt_queue_pop(h->queue), last);
	} while (last != BT_QUEUE_EMPTY);
	for (uint32_t i = plain_list(&h->plain, BT_WAIT_IN_FLIGHT, pods); i-- > 0;) {
		assert_int_equal(bt_queue_remove(h->queue, pods[i]), plain_remove(&h->plain, pods[i]));
	}
	compare(h);
}

static struct bt_queue_options any_options(struct history *h)
{
	static const int64_t firsts[] = {SECOND, SECOND, 3 * SECOND, SECOND / 2};
	static const int64_t mosts[] = {10 * SECOND, 10 * SECOND, 3 * SECOND, 0};
	static const uint32_t limits[] = {PLAIN_LOG, 12, 3, 1};

	return (struct bt_queue_options){
		.initial_backoff_ns = firsts[below(h, 4)],
		.max_backoff_ns = mosts[below(h, 4)],
		.max_unschedulable_ns = 60 * SECOND,
		.pop_from_backoff = chance(h, 70),
		.flush_runs_pre_enqueue = chance(h, 50),
		.log_limit = limits[below(h, 4)],
		.hooks = {gate, interested, matters, hint, stuck, NULL, &h->world},
	};
}

/* Plays one history. Returns the number of pods that were overtaken. */
static uint64_t play(uint64_t seed, bool parks)
{
	struct history *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	h->rng.state = seed;
	h->world.seed = bt_rng_next(&h->rng);
	h->world.own = BT_QUEUE_EMPTY;
	h->parks = parks;
	h->now_ns = 1000 * SECOND + 400;
	h->plain.options = any_options(h);
	h->queue = bt_queue_create(&h->plain.options);
	for (int i = 0; i < STEPS; i++) {
		step(h);
		compare(h);
		if (i % DRAIN_EVERY == DRAIN_EVERY - 1) {
			drain(h);
		}
	}
	assert_true(h->world.hint_n > 0);
	uint64_t overtaken_n = h->overtaken_n;
	bt_queue_destroy(h->queue);
	free(h);
	return overtaken_n;
}

static uint64_t play_all(bool parks)
{
	const char *given = getenv("BT_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 10) : 20260105, overtaken_n = 0;

	for (uint64_t i = 0; i < HISTORIES; i++) {
		print_message("BT_SEED=%" PRIu64 " history %" PRIu64 "\n", seed, i);
		overtaken_n += play(bt_rng_at(seed, i), parks);
	}
	return overtaken_n;
}

static void every_pod_is_where_the_plain_queue_has_it(void **state)
{
	(void)state;
	assert_int_equal(play_all(false), 0);
}

static void parked_kinds_are_overtaken_and_nothing_else_changes(void **state)
{
	(void)state;
	assert_true(play_all(true) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pod_is_where_the_plain_queue_has_it),
		cmocka_unit_test(parked_kinds_are_overtaken_and_nothing_else_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
