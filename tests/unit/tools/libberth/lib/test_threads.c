/* SPDX-License-Identifier: Apache-2.0
 * libberth with its own threads: results are the same as without threads, for calls from any thread, and
 * it terminates.
 */
#include "engine/base/atomic.h"
#include "engine/base/clock.h"
#include "engine/base/thread.h"
#include "lib_fixture.h"

#define SECOND_NS INT64_C(1000000000)
#define PATIENCE  (60 * SECOND_NS)

static struct berth_options threaded(void)
{
	struct berth_options options;

	BERTH_INIT(&options);
	options.threads = 2;
	options.bind_threads = 2;
	return options;
}

static void settle(struct berth *berth)
{
	if (berth_settle(berth, PATIENCE) != BERTH_OK) {
		fail_msg("berth_settle: %s", berth_error(berth));
	}
}

/* The next decision, which must concern the pod with this name. */
static const struct berth_decision *next(struct berth *berth, const char *name)
{
	const struct berth_decision *decision = NULL;

	if (berth_next_decision(berth, PATIENCE, &decision) != BERTH_OK) {
		fail_msg("no decision about %s: %s", name, berth_error(berth));
	}
	assert_string_equal(decision->pod.name, name);
	return decision;
}

/* ---- callbacks ---- */

struct calls {
	_Atomic uint32_t bind_n, decided_n, evict_n;
	uint32_t refuse_n; /* the first refuse_n evictions fail */
	_Atomic uint32_t answer;
	_Atomic uint64_t ticket, user;
};

static enum berth_answer on_bind(void *context, const struct berth_decision *decision)
{
	struct calls *calls = context;

	bt_store_release(&calls->ticket, decision->ticket);
	bt_store_release(&calls->user, decision->pod.user);
	bt_add(&calls->bind_n, 1u);
	return (enum berth_answer)bt_load_acquire(&calls->answer);
}

static void on_decided(void *context, const struct berth_decision *decision)
{
	struct calls *calls = context;

	(void)decision;
	bt_add(&calls->decided_n, 1u);
}

static bool on_evict(void *context, const struct berth_pod_ref *pod)
{
	struct calls *calls = context;

	assert_string_equal(pod->name, "low");
	return bt_add(&calls->evict_n, 1u) >= calls->refuse_n;
}

static struct berth *make_calling(struct calls *calls, struct berth_options options)
{
	options.bind = on_bind;
	options.decided = on_decided;
	options.evict = on_evict;
	options.context = calls;
	return make_with(&options);
}

static void binder_threads_call_the_binder_and_return_answers(void **state)
{
	struct calls calls = {.answer = BERTH_BOUND};
	struct berth *berth = make_calling(&calls, threaded());
	struct berth_pod pod;

	(void)state;
	feed(berth, NODE("n1", "4") POD("a", "1") POD("b", "1"));
	settle(berth);
	assert_int_equal(bt_load_acquire(&calls.bind_n), 2);
	BERTH_INIT(&pod);
	pod.name = "c";
	pod.user = 99;
	assert_int_equal(berth_apply_pod(berth, &pod), BERTH_OK);
	settle(berth);
	assert_int_equal(bt_load_acquire(&calls.user), 99);
	/* The callback has answered it. */
	assert_int_equal(berth_bound(berth, bt_load_acquire(&calls.ticket)), BERTH_NOT_FOUND);
	assert_int_equal(bt_load_acquire(&calls.decided_n), 3);
	expect_pod(berth, "c", BERTH_POD_ON_NODE, "n1");
	const struct berth_counts counts = counts_of(berth);
	assert_int_equal(counts.bound, 3);
	assert_int_equal(counts.pods_on_nodes, 3);
	assert_int_equal(counts.decisions, 3);
	assert_int_equal(berth_destroy(berth), BERTH_OK);
}

static void binding_may_be_answered_later_and_only_once(void **state)
{
	struct calls calls = {.answer = BERTH_BIND_LATER};
	struct berth *berth = make_calling(&calls, threaded());

	(void)state;
	feed(berth, NODE("n1", "4") POD("a", "1"));
	assert_int_equal(berth_settle(berth, SECOND_NS / 20), BERTH_TIMEOUT);
	while (!bt_load_acquire(&calls.bind_n)) {
		bt_thread_yield();
	}
	uint64_t ticket = bt_load_acquire(&calls.ticket);
	expect_pod(berth, "a", BERTH_POD_ASSUMED, "n1");
	assert_int_equal(berth_bound(berth, ticket), BERTH_OK);
	assert_int_equal(berth_bound(berth, ticket), BERTH_NOT_FOUND);
	assert_int_equal(berth_bind_failed(berth, ticket + 1), BERTH_NOT_FOUND);
	assert_int_equal(berth_bound(berth, 0), BERTH_NOT_FOUND);
	settle(berth);
	expect_pod(berth, "a", BERTH_POD_ON_NODE, "n1");
	const struct berth_decision *decision;
	assert_int_equal(berth_next_decision(berth, 0, &decision), BERTH_UNSUPPORTED);
	assert_int_equal(berth_run(berth, 0, NULL), BERTH_UNSUPPORTED);
	berth_destroy(berth);
}

static void virtual_time_ends_backoffs(void **state)
{
	struct calls calls = {.answer = BERTH_BIND_FAILED};
	struct berth_options options = threaded();
	int64_t now = 0, later = 0;

	(void)state;
	options.clock = BERTH_CLOCK_VIRTUAL;
	options.start_ns = 1000 * SECOND_NS;
	struct berth *berth = make_calling(&calls, options);
	feed(berth, NODE("n1", "4") POD("a", "1"));
	settle(berth);
	expect_pod(berth, "a", BERTH_POD_WAITING, "");
	bt_store_release(&calls.answer, (uint32_t)BERTH_BOUND);
	assert_int_equal(berth_get_time(berth, &now, &later), BERTH_OK);
	assert_int_equal(now, options.start_ns);
	assert_in_range(later, now + 1, now + 2 * SECOND_NS);
	assert_int_equal(berth_set_time(berth, later), BERTH_OK);
	settle(berth);
	expect_pod(berth, "a", BERTH_POD_ON_NODE, "n1");
	assert_int_equal(counts_of(berth).bind_failed, 1);
	assert_int_equal(berth_set_time(berth, now), BERTH_INVALID);
	berth_destroy(berth);
}

static void a_preemptor_whose_victim_stays_is_tried_again(void **state)
{
	struct calls calls = {.answer = BERTH_BOUND, .refuse_n = 1};
	struct berth_options options = threaded();
	enum berth_pod_state now = BERTH_POD_UNKNOWN;
	struct berth_counts counts;
	int64_t now_ns = 0;

	(void)state;
	options.clock = BERTH_CLOCK_VIRTUAL;
	options.eviction = BERTH_EVICT_AT_ONCE;
	struct berth *berth = make_calling(&calls, options);
	feed(berth, NODE("n1", "1") POD("low", "1"));
	settle(berth);
	feed(berth, POD_WITH("high", "1", "priority: 5, "));
	while (now != BERTH_POD_ON_NODE) {
		now_ns += 1000000000;
		assert_int_equal(berth_set_time(berth, now_ns), BERTH_OK);
		settle(berth);
		assert_int_equal(berth_find_pod(berth, NULL, "high", &now, NULL), BERTH_OK);
	}
	BERTH_INIT(&counts);
	assert_int_equal(berth_get_counts(berth, &counts), BERTH_OK);
	assert_int_equal(counts.evict_failed, 1);
	assert_int_equal(bt_load_acquire(&calls.evict_n), 2);
	berth_destroy(berth);
}

static void evicted_pods_are_deleted_at_once_or_by_the_caller(void **state)
{
	struct calls calls = {.answer = BERTH_BOUND};
	struct berth_options options = threaded();

	(void)state;
	for (int at_once = 0; at_once < 2; at_once++) {
		options.eviction = at_once ? BERTH_EVICT_AT_ONCE : BERTH_EVICT_BY_CALLER;
		bt_store_release(&calls.evict_n, 0u);
		struct berth *berth = make_calling(&calls, options);
		feed(berth, NODE("n1", "1") POD("low", "1"));
		settle(berth);
		feed(berth, POD_WITH("high", "1", "priority: 5, "));
		while (!bt_load_acquire(&calls.evict_n)) {
			bt_thread_yield();
		}
		if (!at_once) {
			settle(berth);
			expect_pod(berth, "low", BERTH_POD_ON_NODE, "n1");
			assert_int_equal(berth_delete(berth, "Pod", NULL, "low"), BERTH_OK);
		}
		enum berth_pod_state now = BERTH_POD_UNKNOWN;
		while (now != BERTH_POD_ON_NODE) {
			assert_int_equal(berth_find_pod(berth, NULL, "high", &now, NULL), BERTH_OK);
			bt_thread_yield();
		}
		assert_int_equal(berth_find_pod(berth, NULL, "low", NULL, NULL), BERTH_NOT_FOUND);
		berth_destroy(berth);
	}
}

/* ---- polling ---- */

static void decisions_are_polled_and_their_tickets_answered(void **state)
{
	struct berth_options options = threaded();

	(void)state;
	options.binding = BERTH_BIND_ANSWERED;
	struct berth *berth = make_with(&options);
	feed(berth, NODE("n1", "1"));
	for (int i = 0; i < 200; i++) {
		/* Sometimes the answer comes before a binder thread has the request. */
		feed(berth, POD("a", "1"));
		uint64_t ticket = next(berth, "a")->ticket;
		assert_int_not_equal(ticket, 0);
		assert_int_equal(berth_bound(berth, ticket), BERTH_OK);
		assert_int_equal(berth_bind_failed(berth, ticket), BERTH_NOT_FOUND);
		settle(berth);
		expect_pod(berth, "a", BERTH_POD_ON_NODE, "n1");
		assert_int_equal(berth_delete(berth, "Pod", NULL, "a"), BERTH_OK);
	}
	settle(berth);
	assert_int_equal(counts_of(berth).pods, 0);
	assert_int_equal(counts_of(berth).bound, 200);
	feed(berth, POD("whale", "9"));
	const struct berth_decision *decision = next(berth, "whale");
	assert_int_equal(decision->outcome, BERTH_REFUSED);
	assert_int_equal(decision->ticket, 0);
	assert_non_null(strstr(decision->message, "0/1 nodes are available: 1 Insufficient cpu."));
	assert_int_equal(berth_next_decision(berth, 0, &decision), BERTH_TIMEOUT);
	berth_destroy(berth);
}

static void scheduling_pauses_while_decisions_are_not_polled(void **state)
{
	struct berth_options options = threaded();
	const struct berth_decision *decision;
	char text[512], name[16];

	(void)state;
	options.decision_max = 4;
	struct berth *berth = make_with(&options);
	feed(berth, "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {pods: 100}}}");
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		snprintf(text, sizeof(text),
			"{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {containers: [{name: m}]}}",
			name);
		feed(berth, text);
	}
	do { /* until there is no room */
		assert_int_equal(berth_settle(berth, SECOND_NS / 20), BERTH_TIMEOUT);
	} while (counts_of(berth).decisions < 4);
	assert_in_range(counts_of(berth).decisions, 4, 8);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		next(berth, name);
	}
	settle(berth);
	assert_int_equal(berth_next_decision(berth, 0, &decision), BERTH_TIMEOUT);
	berth_destroy(berth);
}

/* ---- as without threads ---- */

/* Decides the samples, one text at a time. Writes each pod and its node. */
static void decide_samples(struct berth *berth, bool waits, char *log, size_t cap)
{
	const struct berth_decision *decision;
	size_t n = 0;

	assert_int_equal(
		berth_apply_file(berth, BT_SOURCE_DIR "/tools/samples/nodes.yaml", 0, NULL), BERTH_OK);
	for (int i = 0; i < 60; i++) {
		char text[512];

		snprintf(text, sizeof(text),
			"{apiVersion: v1, kind: Pod, metadata: {name: p%d, labels: {app: a%d}}, spec: "
			"{priority: "
			"%d, nodeSelector: {%s}, tolerations: [{operator: %s, key: nvidia.com/gpu}], "
			"containers: "
			"[{name: m, resources: {requests: {cpu: %dm, memory: 1Gi}, limits: {nvidia.com/gpu: "
			"%d}}}]}}",
			i, i % 3, i % 4, i % 5 ? "" : "topology.kubernetes.io/zone: east",
			i % 2 ? "Exists" : "Equal", 250 * (1 + i % 4), i % 7 == 0);
		feed(berth, text);
		/* The text must not be used any more. */
		memset(text, '#', sizeof(text));
		while (berth_next_decision(berth, waits ? PATIENCE : 0, &decision) == BERTH_OK) {
			n += (size_t)snprintf(log + n, cap - n, "%s: %s%s\n", decision->pod.name,
				decision->pod.node, decision->message);
			assert_in_range(n, 1, cap - 1);
			if (waits) {
				settle(berth);
				waits = berth_next_decision(berth, 0, &decision) == BERTH_OK;
				assert_false(waits);
				waits = true;
				break;
			}
		}
	}
}

static void decides_as_without_threads(void **state)
{
	static char inline_log[64000], threaded_log[64000], worked_log[64000];
	struct berth_options options = threaded();

	(void)state;
	options.clock = BERTH_CLOCK_VIRTUAL;
	options.seed = 7;
	struct berth *berth = make_with(&options);
	decide_samples(berth, true, threaded_log, sizeof(threaded_log));
	berth_destroy(berth);
	options.workers = 3;
	berth = make_with(&options);
	decide_samples(berth, true, worked_log, sizeof(worked_log));
	berth_destroy(berth);
	assert_string_equal(threaded_log, worked_log);
	options.threads = options.bind_threads = options.workers = 0;
	berth = make_with(&options);
	decide_samples(berth, false, inline_log, sizeof(inline_log));
	berth_destroy(berth);
	assert_string_equal(inline_log, threaded_log);
	assert_non_null(strstr(inline_log, "Insufficient"));
}

static void workloads_are_expanded_onto_nodes_of_the_same_text(void **state)
{
	struct berth_options options = threaded();
	struct berth_applied applied;

	(void)state;
	options.decision_max = 1000;
	struct berth *berth = make_with(&options);
	BERTH_INIT(&applied);
	assert_int_equal(
		berth_apply_file(berth, BT_SOURCE_DIR "/tools/samples", BERTH_EXPAND, &applied), BERTH_OK);
	assert_int_equal(applied.made, 22);
	settle(berth);
	const struct berth_counts counts = counts_of(berth);
	assert_int_equal(counts.nodes, 6);
	assert_int_equal(counts.pods, 26);
	assert_int_equal(counts.gated, 1);
	char *text = NULL;
	assert_int_equal(berth_explain(berth, NULL, "whale", BERTH_JSON, &text), BERTH_OK);
	assert_non_null(strstr(text, "NodeResourcesFit"));
	berth_free(text);
	assert_int_equal(berth_message(berth, NULL, "whale", &text), BERTH_OK);
	assert_non_null(strstr(text, "0/6 nodes are available"));
	berth_free(text);
	assert_int_equal(berth_message(berth, NULL, "nobody", &text), BERTH_NOT_FOUND);
	berth_destroy(berth);
}

/* ---- the end ---- */

static void stopping_drains(void **state)
{
	struct calls calls = {.answer = BERTH_BOUND};
	struct berth *berth = make_calling(&calls, threaded());
	struct berth_pod pod;

	(void)state;
	feed(berth, NODE("n1", "4") POD("a", "1") POD("b", "1"));
	assert_int_equal(berth_stop(berth, BERTH_DRAIN, PATIENCE), BERTH_OK);
	assert_int_equal(bt_load_acquire(&calls.bind_n), 2);
	assert_int_equal(berth_stop(berth, BERTH_DRAIN, PATIENCE), BERTH_OK);
	expect_pod(berth, "a", BERTH_POD_ON_NODE, "n1");
	assert_int_equal(counts_of(berth).pods_on_nodes, 2);
	assert_int_equal(berth_apply(berth, "", 0, 0, NULL), BERTH_STOPPED);
	BERTH_INIT(&pod);
	pod.name = "c";
	assert_int_equal(berth_apply_pod(berth, &pod), BERTH_STOPPED);
	assert_int_equal(berth_delete(berth, "Pod", NULL, "a"), BERTH_STOPPED);
	assert_int_equal(berth_settle(berth, 0), BERTH_STOPPED);
	assert_int_equal(berth_destroy(berth), BERTH_OK);
}

static void decisions_can_be_polled_after_the_end(void **state)
{
	struct berth_options options = threaded();
	const struct berth_decision *decision;
	struct berth *berth = make_with(&options);

	(void)state;
	feed(berth, NODE("n1", "4") POD("a", "1"));
	assert_int_equal(berth_stop(berth, BERTH_DRAIN, PATIENCE), BERTH_OK);
	next(berth, "a");
	assert_int_equal(berth_next_decision(berth, PATIENCE, &decision), BERTH_STOPPED);
	berth_destroy(berth);
}

static void open_bindings_do_not_keep_a_handle(void **state)
{
	struct calls calls = {.answer = BERTH_BIND_LATER};
	struct berth *berth = make_calling(&calls, threaded());

	(void)state;
	feed(berth, NODE("n1", "4") POD("a", "1") POD("b", "1"));
	assert_int_equal(berth_destroy(berth), BERTH_OK);
	assert_int_equal(berth_bound(berth, 1), BERTH_INVALID);
}

static void wait_for_ever(void *context)
{
	const struct berth_decision *decision;
	struct berth *berth = *(struct berth **)context;

	enum berth_status status = berth_next_decision(berth, INT64_MAX, &decision);
	*(struct berth **)context = status == BERTH_STOPPED ? NULL : berth;
}

static void a_waiting_call_returns_at_the_end(void **state)
{
	const struct bt_thread_options thread_options = {.name = "waiter"};

	(void)state;
	for (int with_threads = 0; with_threads < 2; with_threads++) {
		struct berth_options options = threaded();
		options.threads = with_threads ? 1 : 0;
		struct berth *berth = make_with(&options), *shared = berth;
		struct bt_thread *thread;

		assert_int_equal(
			bt_thread_start(&thread_options, wait_for_ever, &shared, &thread, NULL), BT_OK);
		assert_int_equal(berth_stop(berth, BERTH_DRAIN, PATIENCE), BERTH_OK);
		bt_thread_join(&thread);
		assert_null(shared);
		assert_int_equal(berth_destroy(berth), BERTH_OK);
	}
}

static void wrong_options_are_refused(void **state)
{
	struct berth_options options = threaded();
	struct berth *berth;

	(void)state;
	options.pod_max = 3;
	assert_int_equal(berth_create(&options, &berth), BERTH_UNSUPPORTED);
	options = threaded();
	options.threads = 1000;
	assert_int_equal(berth_create(&options, &berth), BERTH_INVALID);
	options = threaded();
	options.workers = 65;
	assert_int_equal(berth_create(&options, &berth), BERTH_INVALID);
	options.threads = 0;
	options.workers = 2;
	assert_int_equal(berth_create(&options, &berth), BERTH_UNSUPPORTED);
	options = threaded();
	options.decision_max = 1u << 30;
	assert_int_equal(berth_create(&options, &berth), BERTH_BAD_INPUT);
	expect_error(NULL, "decisions");
	options = threaded();
	options.feature_gates = "WorkloadAwarePreemption=true,GangScheduling=true,GenericWorkload=true";
	assert_int_equal(berth_create(&options, &berth), BERTH_BAD_INPUT);
}

/* ---- all at once ---- */

#define HANDS	  4
#define PODS_EACH 150

struct hand {
	struct berth *berth;
	uint32_t number;
	_Atomic uint32_t *done_n;
	bool good;
};

/* Feeds pods and a node, queries them, and deletes every third. */
static void feed_and_ask(void *context)
{
	struct hand *hand = context;
	char text[512], name[32];
	char *explanation;
	int64_t next_ns;

	hand->good = true;
	snprintf(text, sizeof(text),
		"{apiVersion: v1, kind: Node, metadata: {name: node-%u}, status: {allocatable: {pods: "
		"1000}}}",
		hand->number);
	hand->good &= berth_apply(hand->berth, text, strlen(text), 0, NULL) == BERTH_OK;
	for (uint32_t i = 0; i < PODS_EACH; i++) {
		snprintf(name, sizeof(name), "p-%u-%u", hand->number, i);
		snprintf(text, sizeof(text),
			"{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {a: b%u}}, spec: "
			"{priority: %u, "
			"nodeSelector: {%s}, containers: [{name: m}]}}",
			name, i % 5, i % 4, i % 3 ? "" : "no: where");
		hand->good &= berth_apply(hand->berth, text, strlen(text), 0, NULL) == BERTH_OK;
		if (i % 3 == 0) {
			if (berth_explain(hand->berth, NULL, name, BERTH_JSON, &explanation) == BERTH_OK) {
				berth_free(explanation);
			}
			hand->good &= berth_delete(hand->berth, "Pod", NULL, name) == BERTH_OK;
		}
		hand->good &= counts_of(hand->berth).nodes <= HANDS &&
			      berth_get_time(hand->berth, NULL, &next_ns) == BERTH_OK;
	}
	bt_add(hand->done_n, 1u);
}

/* Answers placements: every seventh binding fails once. */
static void poll_and_answer(void *context)
{
	struct hand *hand = context;
	const struct berth_decision *decision;

	hand->good = true;
	for (;;) {
		enum berth_status status = berth_next_decision(hand->berth, SECOND_NS / 100, &decision);

		if (status == BERTH_OK && decision->ticket) {
			uint64_t ticket = decision->ticket;

			hand->good &= (decision->attempts == 1 && ticket % 7 == 0
						      ? berth_bind_failed
						      : berth_bound)(hand->berth, ticket) == BERTH_OK;
		} else if (status == BERTH_STOPPED) {
			return;
		}
	}
}

static void many_threads_feed_query_and_answer(void **state)
{
	const struct bt_thread_options thread_options = {.name = "hand"};
	struct berth_options options = threaded();
	struct hand hands[HANDS + 1];
	struct bt_thread *threads[HANDS + 1];
	_Atomic uint32_t done_n = 0;

	(void)state;
	options.binding = BERTH_BIND_ANSWERED;
	options.clock = BERTH_CLOCK_REAL;
	struct berth *berth = make_with(&options);
	for (uint32_t i = 0; i <= HANDS; i++) {
		hands[i] = (struct hand){berth, i, &done_n, false};
		assert_int_equal(bt_thread_start(&thread_options, i < HANDS ? feed_and_ask : poll_and_answer,
					 &hands[i], &threads[i], NULL),
			BT_OK);
	}
	while (bt_load_acquire(&done_n) < HANDS) {
		bt_thread_yield();
	}
	uint64_t wanted = HANDS * (PODS_EACH - (PODS_EACH + 2) / 3);
	/* Pods are retried after a backoff of one second; the machine may be slow. */
	const int64_t deadline = bt_clock_monotonic_ns() + PATIENCE;
	while (counts_of(berth).pods_on_nodes < wanted && bt_clock_monotonic_ns() < deadline) {
		bt_thread_yield();
	}
	settle(berth);
	const struct berth_counts counts = counts_of(berth);
	assert_int_equal(counts.pods, wanted);
	assert_int_equal(counts.pods_on_nodes, wanted);
	assert_int_equal(counts.nodes, HANDS);
	assert_int_equal(counts.open_bindings, 0);
	assert_int_equal(berth_stop(berth, BERTH_DRAIN, PATIENCE), BERTH_OK);
	for (uint32_t i = 0; i <= HANDS; i++) {
		bt_thread_join(&threads[i]);
		assert_true(hands[i].good);
	}
	assert_int_equal(berth_destroy(berth), BERTH_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(binder_threads_call_the_binder_and_return_answers),
		cmocka_unit_test(binding_may_be_answered_later_and_only_once),
		cmocka_unit_test(virtual_time_ends_backoffs),
		cmocka_unit_test(a_preemptor_whose_victim_stays_is_tried_again),
		cmocka_unit_test(evicted_pods_are_deleted_at_once_or_by_the_caller),
		cmocka_unit_test(decisions_are_polled_and_their_tickets_answered),
		cmocka_unit_test(scheduling_pauses_while_decisions_are_not_polled),
		cmocka_unit_test(decides_as_without_threads),
		cmocka_unit_test(workloads_are_expanded_onto_nodes_of_the_same_text),
		cmocka_unit_test(stopping_drains),
		cmocka_unit_test(decisions_can_be_polled_after_the_end),
		cmocka_unit_test(open_bindings_do_not_keep_a_handle),
		cmocka_unit_test(a_waiting_call_returns_at_the_end),
		cmocka_unit_test(wrong_options_are_refused),
		cmocka_unit_test(many_threads_feed_query_and_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
