/* SPDX-License-Identifier: Apache-2.0
 * Misuse of libberth: an error with a reason, no crash, and no change of state.
 */
#include "engine/base/thread.h"
#include "lib_fixture.h"

/* Every function with a handle, with otherwise valid arguments. */
static enum berth_status call(struct berth *berth, int which)
{
	static const char text[] = NODE("other", "1");
	const struct berth_decision *decision;
	struct berth_counts counts;
	struct berth_node node;
	struct berth_pod pod;
	enum berth_status status = BERTH_OK;
	int64_t now;
	char *out;

	BERTH_INIT(&counts);
	BERTH_INIT(&node);
	node.name = "other";
	BERTH_INIT(&pod);
	pod.name = "other";
	switch (which) {
	case 0:
		return berth_apply(berth, text, strlen(text), 0, NULL);
	case 1:
		return berth_apply_file(berth, BT_SOURCE_DIR "/tools/samples", 0, NULL);
	case 2:
		return berth_apply_node(berth, &node);
	case 3:
		return berth_apply_pod(berth, &pod);
	case 4:
		return berth_delete(berth, "Pod", NULL, "a");
	case 5:
		return berth_delete_text(berth, text, strlen(text), 0, NULL);
	case 6:
		return berth_run(berth, 0, NULL);
	case 7:
		return berth_next_decision(berth, 0, &decision);
	case 8:
		return berth_bound(berth, 1);
	case 9:
		return berth_bind_failed(berth, 1);
	case 10:
		return berth_set_time(berth, INT64_MAX / 2);
	case 11:
		return berth_get_time(berth, &now, NULL);
	case 12:
		return berth_find_pod(berth, NULL, "a", NULL, NULL);
	case 13:
		status = berth_explain(berth, NULL, "a", BERTH_TEXT, &out);
		break;
	case 14:
		status = berth_message(berth, NULL, "a", &out);
		break;
	case 15:
		return berth_get_counts(berth, &counts);
	case 16:
		return berth_settle(berth, 0);
	case 17:
		return berth_apply_events(berth, "", 0, 0, NULL);
	case 18:
		return berth_stop(berth, BERTH_ABANDON, 0);
	default:
		return berth_destroy(berth);
	}
	if (status == BERTH_OK) {
		berth_free(out);
	}
	return status;
}

#define CALLS 20

static void handles_that_are_none_are_refused_by_every_function(void **state)
{
	struct berth *gone = make_with(NULL), *forged = (struct berth *)(uintptr_t)64;

	(void)state;
	feed(gone, NODE("n1", "1") POD("a", "1"));
	assert_int_equal(berth_destroy(gone), BERTH_OK);
	for (int i = 0; i < CALLS; i++) {
		assert_int_equal(call(gone, i), BERTH_INVALID);
		assert_string_equal(berth_error(gone), "the handle is destroyed");
		assert_int_equal(call(forged, i), BERTH_INVALID);
		expect_error(forged, "no handle");
		if (i < CALLS - 1) {
			assert_int_equal(call(NULL, i), BERTH_INVALID);
			expect_error(NULL, "is NULL");
		}
	}
	struct berth *inside = (struct berth *)((char *)gone + 1);
	assert_int_equal(call(inside, 6), BERTH_INVALID);
	assert_int_equal(berth_destroy(NULL), BERTH_OK);
	berth_free(NULL);
	berth_init(NULL, 100);
}

static void handle_is_not_used_again_at_once(void **state)
{
	struct berth *first = make_with(NULL);

	(void)state;
	berth_destroy(first);
	for (int i = 0; i < 50; i++) {
		struct berth *other = make_with(NULL);

		assert_ptr_not_equal(first, other);
		berth_destroy(other);
	}
	assert_int_equal(berth_run(first, 0, NULL), BERTH_INVALID);
}

static void there_is_a_last_handle(void **state)
{
	static struct berth *handles[2000];
	enum berth_status status = BERTH_OK;
	size_t n = 0;

	(void)state;
	for (; n < COUNT_OF(handles) && status == BERTH_OK; n++) {
		status = berth_create(NULL, &handles[n]);
	}
	assert_int_equal(status, BERTH_LIMIT);
	assert_null(handles[--n]);
	expect_error(NULL, "too many handles");
	assert_int_equal(n, 1024);
	while (n > 0) {
		assert_int_equal(berth_destroy(handles[--n]), BERTH_OK);
	}
}

/* ---- callbacks ---- */

struct nest {
	struct berth *berth, *other;
	int calls;
};

static enum berth_answer call_everything(void *context, const struct berth_decision *decision)
{
	struct nest *nest = context;

	(void)decision;
	for (int i = 0; i < CALLS; i++) {
		assert_int_equal(call(nest->berth, i), BERTH_BUSY);
		expect_error(nest->berth, "inside a callback");
	}
	if (nest->other) {
		nest->calls++;
		assert_int_equal(berth_run(nest->other, 0, NULL), BERTH_OK);
	}
	return BERTH_BOUND;
}

static void calls_from_inside_a_callback_are_refused(void **state)
{
	struct nest outer = {NULL, NULL, 0}, inner = {NULL, NULL, 0};
	struct berth_options options;

	(void)state;
	BERTH_INIT(&options);
	options.bind = call_everything;
	options.context = &inner;
	outer.other = make_with(&options);
	options.context = &outer;
	outer.berth = inner.berth = make_with(&options);
	feed(outer.berth, NODE("n1", "1") POD("a", "1"));
	feed(outer.other, NODE("n1", "1") POD("b", "1"));
	/* The callback calls the other handle, whose own callback calls the first handle. */
	assert_int_equal(berth_run(outer.berth, 0, NULL), BERTH_OK);
	assert_int_equal(outer.calls, 1);
	expect_pod(outer.berth, "a", BERTH_POD_ON_NODE, "n1");
	expect_pod(outer.other, "b", BERTH_POD_ON_NODE, "n1");
	berth_destroy(outer.berth);
	berth_destroy(outer.other);
}

static enum berth_answer say_nonsense(void *context, const struct berth_decision *decision)
{
	(void)context;
	(void)decision;
	return (enum berth_answer)77;
}

static void nonsense_of_a_binder_is_a_failure(void **state)
{
	struct berth_options options;

	(void)state;
	BERTH_INIT(&options);
	options.bind = say_nonsense;
	struct berth *berth = make_with(&options);
	feed(berth, NODE("n1", "1") POD("a", "1"));
	assert_int_equal(berth_run(berth, 0, NULL), BERTH_OK);
	expect_pod(berth, "a", BERTH_POD_WAITING, "");
	assert_int_equal(counts_of(berth).bind_failed, 1);
	berth_destroy(berth);
}

/* ---- arguments ---- */

static void expect_no_handle(const struct berth_options *options, enum berth_status want, const char *words)
{
	struct berth *berth = (struct berth *)(uintptr_t)8;

	assert_int_equal(berth_create(options, &berth), want);
	assert_null(berth);
	expect_error(NULL, words);
}

static void wrong_options_are_refused(void **state)
{
	struct berth_options good, options;

	(void)state;
	BERTH_INIT(&good);
	assert_int_equal(berth_create(&good, NULL), BERTH_INVALID);
	options = good;
	options.size = 8;
	expect_no_handle(&options, BERTH_INVALID, "BERTH_INIT");
	options = good;
	options.clock = (enum berth_clock)3;
	expect_no_handle(&options, BERTH_INVALID, "clock");
	options = good;
	options.eviction = (enum berth_eviction) - 1;
	expect_no_handle(&options, BERTH_INVALID, "eviction");
	options = good;
	options.start_ns = -1;
	expect_no_handle(&options, BERTH_INVALID, "start_ns");
	options = good;
	options.kubernetes_version = "1.2";
	expect_no_handle(&options, BERTH_INVALID, "kubernetes_version: '1.2' is not known; use 1.");
	options = good;
	options.kubernetes_version = "1.37";
	options.feature_gates = "GangScheduling=true";
	expect_no_handle(&options, BERTH_BAD_INPUT, "GangScheduling");
	options = good;
	options.feature_gates = "NoSuchGate=true";
	expect_no_handle(&options, BERTH_BAD_INPUT, "NoSuchGate");
	options = good;
	options.feature_gates = "WorkloadAwarePreemption=true,GangScheduling=true,GenericWorkload=true";
	expect_no_handle(&options, BERTH_BAD_INPUT, "WorkloadAwarePreemption");
	options = good;
	options.config = "{";
	expect_no_handle(&options, BERTH_BAD_INPUT, "config");
	options.config = "";
	expect_no_handle(&options, BERTH_BAD_INPUT, "config");
	options.config = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
			 "parallelism: -1\n";
	expect_no_handle(&options, BERTH_BAD_INPUT, "parallelism");
}

/* A program built with a newer header, whose structure is longer. */
static void longer_structures_are_taken(void **state)
{
	struct {
		struct berth_options options;
		char more[64];
	} newer;
	struct berth *berth;

	(void)state;
	berth_init(&newer, sizeof(newer));
	newer.options.seed = 3;
	assert_int_equal(newer.options.size, sizeof(newer));
	assert_int_equal(berth_create(&newer.options, &berth), BERTH_OK);
	berth_destroy(berth);
}

static void wrong_arguments_are_refused(void **state)
{
	struct berth *berth = make_with(NULL);
	struct berth_applied applied;
	struct berth_counts counts;
	char *text;

	(void)state;
	memset(&applied, 0, sizeof(applied));
	memset(&counts, 0, sizeof(counts));
	feed(berth, POD("a", "1"));
	assert_int_equal(berth_apply(berth, NULL, 3, 0, NULL), BERTH_INVALID);
	assert_int_equal(berth_apply(berth, "{}", 2, 4, NULL), BERTH_INVALID);
	expect_error(berth, "0x4");
	assert_int_equal(berth_apply(berth, "{}", 2, 0, &applied), BERTH_INVALID);
	assert_int_equal(berth_apply_file(berth, NULL, 0, NULL), BERTH_INVALID);
	assert_int_equal(berth_apply_events(berth, "", 0, BERTH_EXPAND, NULL), BERTH_INVALID);
	assert_int_equal(berth_delete(berth, NULL, NULL, "a"), BERTH_INVALID);
	assert_int_equal(berth_delete(berth, "Pod", NULL, NULL), BERTH_INVALID);
	assert_int_equal(berth_next_decision(berth, 0, NULL), BERTH_INVALID);
	assert_int_equal(berth_find_pod(berth, NULL, NULL, NULL, NULL), BERTH_INVALID);
	assert_int_equal(berth_explain(berth, NULL, "a", (enum berth_format)9, &text), BERTH_INVALID);
	assert_int_equal(berth_explain(berth, NULL, "a", BERTH_JSON, NULL), BERTH_INVALID);
	assert_int_equal(berth_message(berth, NULL, "a", NULL), BERTH_INVALID);
	assert_int_equal(berth_get_counts(berth, &counts), BERTH_INVALID);
	assert_int_equal(berth_get_counts(berth, NULL), BERTH_INVALID);
	assert_int_equal(berth_stop(berth, (enum berth_stop)9, 0), BERTH_INVALID);
	assert_int_equal(berth_get_time(berth, NULL, NULL), BERTH_OK);
	assert_string_equal(berth_error(berth), "");
	assert_int_equal(counts_of(berth).pods, 1);
	berth_destroy(berth);
	assert_string_equal(berth_status_name((enum berth_status)99), "unknown");
	assert_string_equal(berth_status_name(BERTH_NOT_FOUND), "not found");
}

static void odd_texts_are_refused_with_words(void **state)
{
	static const char negative[] =
		"{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: c, resources: "
		"{requests: {cpu: -1}}}]}}";
	static const char *const texts[] = {"", "   ", "[", "{", "[]", "42", "nonsense", "{\"kind\":\"Pod\"}",
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":7}}", "\xff\xfe", "a: [b",
		"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{}]}", negative};
	struct berth *berth = make_with(NULL);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		if (berth_apply(berth, texts[i], strlen(texts[i]), 0, NULL) != BERTH_BAD_INPUT) {
			fail_msg("text %zu is taken: %s", i, texts[i]);
		}
		assert_int_not_equal(strlen(berth_error(berth)), 0);
	}
	assert_int_equal(counts_of(berth).pods, 0);
	feed(berth, NODE("n1", "1"));
	berth_destroy(berth);
}

static void expect_bad_node(struct berth *berth, const struct berth_node *node, const char *words)
{
	assert_int_equal(berth_apply_node(berth, node), BERTH_INVALID);
	expect_error(berth, words);
}

static void wrong_structures_are_refused(void **state)
{
	static const struct berth_pair twice[] = {{"a", "1"}, {"a", "2"}}, hollow[] = {{"a", NULL}};
	static const struct berth_taint taints[] = {{"a", NULL, "Sometimes"}};
	static const struct berth_amount below[] = {{"cpu", -1}}, nameless[] = {{NULL, 1}},
					 doubled[] = {{"cpu", 1}, {"cpu", 1}};
	struct berth *berth = make_with(NULL);
	struct berth_node good, node;
	struct berth_pod pod;

	(void)state;
	BERTH_INIT(&good);
	expect_bad_node(berth, NULL, "NULL");
	expect_bad_node(berth, &good, "no name");
	good.name = "n1";
	node = good;
	node.size = 4;
	expect_bad_node(berth, &node, "BERTH_INIT");
	node = good;
	node.label_n = 2;
	expect_bad_node(berth, &node, "NULL");
	node.labels = twice;
	expect_bad_node(berth, &node, "twice");
	node.labels = hollow;
	expect_bad_node(berth, &node, "label");
	node = good;
	node.taints = taints;
	node.taint_n = 1;
	expect_bad_node(berth, &node, "effect");
	node = good;
	node.allocatable = below;
	node.allocatable_n = 1;
	expect_bad_node(berth, &node, "below zero");
	node.allocatable = nameless;
	expect_bad_node(berth, &node, "no name");
	node.allocatable = doubled;
	node.allocatable_n = 2;
	expect_bad_node(berth, &node, "twice");
	assert_int_equal(counts_of(berth).nodes, 0);
	assert_int_equal(berth_apply_node(berth, &good), BERTH_OK);
	assert_int_equal(berth_apply_pod(berth, NULL), BERTH_INVALID);
	BERTH_INIT(&pod);
	assert_int_equal(berth_apply_pod(berth, &pod), BERTH_INVALID);
	pod.name = "a";
	pod.request_n = 1;
	assert_int_equal(berth_apply_pod(berth, &pod), BERTH_INVALID);
	pod.requests = below;
	assert_int_equal(berth_apply_pod(berth, &pod), BERTH_INVALID);
	assert_int_equal(counts_of(berth).pods, 0);
	berth_destroy(berth);
}

/* ---- limits ---- */

static void limits_are_kept(void **state)
{
	static const char nodes[] = NODE("n1", "1") NODE("n2", "1") NODE("n1", "2");
	static const char pods[] = POD("a", "1") POD("b", "1") POD("c", "1") POD("a", "2");
	struct berth_options options;
	struct berth_applied applied;
	struct berth_pod pod;

	(void)state;
	BERTH_INIT(&options);
	BERTH_INIT(&applied);
	options.node_max = 1;
	options.pod_max = 2;
	options.text_bytes_max = 1000;
	struct berth *berth = make_with(&options);
	assert_int_equal(berth_apply(berth, nodes, strlen(nodes), 0, &applied), BERTH_LIMIT);
	expect_error(berth, "Node n2: there are as many as the options allow; raise node_max");
	assert_int_equal(applied.applied, 2);
	assert_int_equal(counts_of(berth).nodes, 1);
	assert_int_equal(berth_apply(berth, pods, strlen(pods), 0, &applied), BERTH_LIMIT);
	assert_int_equal(applied.applied, 3);
	assert_int_equal(counts_of(berth).pods, 2);
	BERTH_INIT(&pod);
	pod.name = "d";
	assert_int_equal(berth_apply_pod(berth, &pod), BERTH_LIMIT);
	pod.name = "a";
	assert_int_equal(berth_apply_pod(berth, &pod), BERTH_OK);
	char *long_text = calloc(1, 1002);
	memset(long_text, ' ', 1001);
	assert_int_equal(berth_apply(berth, long_text, 1001, 0, NULL), BERTH_LIMIT);
	expect_error(berth, "1001 bytes");
	free(long_text);
	assert_int_equal(berth_delete(berth, "Pod", NULL, "b"), BERTH_OK);
	feed(berth, POD("d", "1"));
	berth_destroy(berth);
}

static void resource_names_run_out(void **state)
{
	struct berth *berth = make_with(NULL);
	enum berth_status status = BERTH_OK;
	struct berth_amount amount;
	struct berth_pod pod;
	char name[32];

	(void)state;
	BERTH_INIT(&pod);
	pod.name = "a";
	pod.requests = &amount;
	pod.request_n = 1;
	for (int i = 0; i < 20000 && status == BERTH_OK; i++) {
		snprintf(name, sizeof(name), "example.com/r%d", i);
		amount = (struct berth_amount){name, 1};
		status = berth_apply_pod(berth, &pod);
	}
	assert_int_equal(status, BERTH_LIMIT);
	expect_error(berth, "resource names");
	assert_int_equal(counts_of(berth).pods, 1);
	berth_destroy(berth);
}

/* A pod or node with too many resource names takes no slots from others. The pod exists without
 * them, and is not schedulable. */
static void a_rejected_pod_leaves_no_resource_names(void **state)
{
	struct berth *berth = make_with(NULL);
	struct berth_amount amounts[64];
	char names[64][32];
	struct berth_pod pod;

	(void)state;
	BERTH_INIT(&pod);
	pod.requests = amounts;
	for (int round = 0; round < 3; round++) {
		pod.name = "monster";
		pod.request_n = 64;
		for (int i = 0; i < 64; i++) {
			snprintf(names[i], sizeof(names[i]), "example.com/r%d-%d", round, i);
			amounts[i] = (struct berth_amount){names[i], 1};
		}
		assert_int_equal(berth_apply_pod(berth, &pod), BERTH_LIMIT);
		expect_error(berth, "resource names");
	}
	assert_int_equal(counts_of(berth).pods, 1);
	pod.name = "modest";
	pod.request_n = 61;
	assert_int_equal(berth_apply_pod(berth, &pod), BERTH_OK);
	pod.name = "other";
	pod.request_n = 62;
	assert_int_equal(berth_apply_pod(berth, &pod), BERTH_LIMIT);
	assert_int_equal(counts_of(berth).pods, 3);
	berth_destroy(berth);
}

/* ---- threads ---- */

struct hand {
	struct berth *berth;
	int number, placed;
};

/* Feeds, decides, queries, deletes: concurrently with other threads. */
static void work(void *context)
{
	struct hand *hand = context;
	const struct berth_decision *decision;
	struct berth_counts counts;
	char text[512], name[32];

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "p-%d-%d", hand->number, i);
		snprintf(text, sizeof(text),
			"{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {containers: [{name: m}]}}",
			name);
		if (berth_apply(hand->berth, text, strlen(text), 0, NULL) != BERTH_OK) {
			return;
		}
		hand->placed += berth_next_decision(hand->berth, 0, &decision) == BERTH_OK;
		BERTH_INIT(&counts);
		if (berth_get_counts(hand->berth, &counts) != BERTH_OK ||
			berth_delete(hand->berth, "Pod", "none", name) != BERTH_NOT_FOUND ||
			!strstr(berth_error(hand->berth), name)) {
			return;
		}
	}
	hand->number = -1;
}

static void threads_take_turns_and_have_errors_of_their_own(void **state)
{
	struct berth *berth = make_with(NULL);
	struct bt_thread *threads[4];
	struct hand hands[4];
	int placed = 0;

	(void)state;
	feed(berth,
		"{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {pods: 5000}}}");
	for (int i = 0; i < 4; i++) {
		const struct bt_thread_options options = {.name = "hand"};

		hands[i] = (struct hand){berth, i, 0};
		assert_int_equal(bt_thread_start(&options, work, &hands[i], &threads[i], NULL), BT_OK);
	}
	for (int i = 0; i < 4; i++) {
		bt_thread_join(&threads[i]);
		assert_int_equal(hands[i].number, -1);
		placed += hands[i].placed;
	}
	assert_int_equal(placed, 800);
	assert_int_equal(counts_of(berth).pods_on_nodes, 800);
	berth_destroy(berth);
}

static void feed_later(void *context)
{
	feed(context, NODE("n1", "1") POD("a", "1"));
}

static void waiting_ends_when_another_thread_feeds(void **state)
{
	const struct bt_thread_options options = {.name = "feeder"};
	const struct berth_decision *decision;
	struct berth *berth = make_with(NULL);
	struct bt_thread *thread;

	(void)state;
	assert_int_equal(bt_thread_start(&options, feed_later, berth, &thread, NULL), BT_OK);
	assert_int_equal(berth_next_decision(berth, INT64_C(60000000000), &decision), BERTH_OK);
	assert_string_equal(decision->pod.node, "n1");
	bt_thread_join(&thread);
	berth_destroy(berth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handles_that_are_none_are_refused_by_every_function),
		cmocka_unit_test(handle_is_not_used_again_at_once),
		cmocka_unit_test(there_is_a_last_handle),
		cmocka_unit_test(calls_from_inside_a_callback_are_refused),
		cmocka_unit_test(nonsense_of_a_binder_is_a_failure),
		cmocka_unit_test(wrong_options_are_refused),
		cmocka_unit_test(longer_structures_are_taken),
		cmocka_unit_test(wrong_arguments_are_refused),
		cmocka_unit_test(odd_texts_are_refused_with_words),
		cmocka_unit_test(wrong_structures_are_refused),
		cmocka_unit_test(limits_are_kept),
		cmocka_unit_test(resource_names_run_out),
		cmocka_unit_test(a_rejected_pod_leaves_no_resource_names),
		cmocka_unit_test(threads_take_turns_and_have_errors_of_their_own),
		cmocka_unit_test(waiting_ends_when_another_thread_feeds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
