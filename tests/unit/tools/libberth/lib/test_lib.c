/* SPDX-License-Identifier: Apache-2.0
 * libberth: objects in, decisions out, bindings, time.
 */
#include "lib_fixture.h"

#include "engine/base/mem.h"
#include "engine/model/release.h"

static struct berth *make(void)
{
	return make_with(NULL);
}

static void version_is_the_headers(void **state)
{
	char number[32];

	(void)state;
	assert_string_equal(berth_version(), BERTH_VERSION);
	snprintf(number, sizeof(number), "%d.%d.%d", BERTH_VERSION_MAJOR, BERTH_VERSION_MINOR,
		BERTH_VERSION_PATCH);
	assert_string_equal(number, BERTH_VERSION);
	assert_string_equal(berth_kubernetes_version(), bt_release_default()->version);
}

static void pod_of_a_text_is_placed_and_bound_at_once(void **state)
{
	struct berth *berth = make();

	(void)state;
	feed(berth, NODE("n1", "2") POD("a", "1"));
	expect_pod(berth, "a", BERTH_POD_WAITING, "");
	const struct berth_decision *decision = decide(berth, "a");
	assert_int_equal(decision->outcome, BERTH_PLACED);
	assert_int_equal(decision->number, 1);
	assert_int_equal(decision->ticket, 0);
	assert_int_equal(decision->attempts, 1);
	assert_string_equal(decision->pod.pod_namespace, "default");
	assert_string_equal(decision->pod.node, "n1");
	assert_string_equal(decision->message, "");
	assert_string_equal(decision->nominated, "");
	expect_none(berth);
	expect_pod(berth, "a", BERTH_POD_ON_NODE, "n1");
	berth_destroy(berth);
}

static void a_refused_pod_has_a_reason_and_is_placed_when_a_node_has_room(void **state)
{
	struct berth *berth = make();

	(void)state;
	feed(berth, NODE("n1", "1") POD("a", "2"));
	const struct berth_decision *decision = decide(berth, "a");
	assert_int_equal(decision->outcome, BERTH_REFUSED);
	assert_string_equal(decision->pod.node, "");
	assert_string_equal(decision->message,
		"0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 "
		"nodes are available: 1 Preemption is not helpful for scheduling.");
	expect_none(berth);
	feed(berth, NODE("n2", "2"));
	decision = decide(berth, "a");
	assert_int_equal(decision->outcome, BERTH_PLACED);
	assert_string_equal(decision->pod.node, "n2");
	assert_int_equal(decision->attempts, 2);
	berth_destroy(berth);
}

static void structures_decide_as_text_does(void **state)
{
	static const struct berth_pair labels[] = {{"disk", "ssd"}};
	static const struct berth_taint taints[] = {{"dedicated", "x", "NoSchedule"}};
	static const struct berth_amount room[] = {{"cpu", 1500}, {"memory", 4096}, {"pods", 3}};
	static const struct berth_amount wish[] = {{"cpu", 1000}, {"memory", 1024}};
	struct berth *berth = make();
	struct berth_node node;
	struct berth_pod pod;

	(void)state;
	BERTH_INIT(&node);
	node.allocatable = room;
	node.allocatable_n = COUNT_OF(room);
	node.name = "plain";
	node.user = 70;
	assert_int_equal(berth_apply_node(berth, &node), BERTH_OK);
	node.name = "tainted";
	node.labels = labels;
	node.label_n = 1;
	node.taints = taints;
	node.taint_n = 1;
	assert_int_equal(berth_apply_node(berth, &node), BERTH_OK);
	BERTH_INIT(&pod);
	pod.name = "first";
	pod.uid = "u-1";
	pod.requests = wish;
	pod.request_n = COUNT_OF(wish);
	pod.user = 71;
	assert_int_equal(berth_apply_pod(berth, &pod), BERTH_OK);
	const struct berth_decision *decision = decide(berth, "first");
	assert_string_equal(decision->pod.node, "plain");
	assert_string_equal(decision->pod.uid, "u-1");
	assert_int_equal(decision->pod.user, 71);
	assert_int_equal(decision->node_user, 70);
	pod.name = "second";
	pod.uid = NULL;
	pod.user = 0;
	assert_int_equal(berth_apply_pod(berth, &pod), BERTH_OK);
	decision = decide(berth, "second");
	assert_string_equal(decision->message,
		"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). "
		"preemption: 0/2 "
		"nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not "
		"helpful for "
		"scheduling.");
	assert_int_equal(decision->pod.user, 0);
	berth_destroy(berth);
}

static void decisions_are_in_order_of_priority(void **state)
{
	struct berth *berth = make();

	(void)state;
	feed(berth,
		NODE("n1", "8") POD_WITH("low", "1", "priority: 1, ") POD_WITH("high", "1", "priority: 9, "));
	assert_int_equal(decide(berth, "high")->priority, 9);
	assert_int_equal(decide(berth, "low")->priority, 1);
	berth_destroy(berth);
}

static void class_may_follow_its_pod(void **state)
{
	struct berth *berth = make();

	(void)state;
	feed(berth, NODE("n1", "8") POD("plain", "1") POD_WITH("vip", "1",
			    "priorityClassName: gold, ") "{apiVersion: scheduling.k8s.io/v1, kind: "
							 "PriorityClass, metadata: {name: gold}, "
							 "value: 7}");
	assert_int_equal(decide(berth, "vip")->priority, 7);
	decide(berth, "plain");
	feed(berth, POD_WITH("late", "1", "priorityClassName: gold, "));
	assert_int_equal(decide(berth, "late")->priority, 7);
	berth_destroy(berth);
}

/* ---- bindings ---- */

struct calls {
	struct berth *berth;
	enum berth_answer answer;
	uint64_t ticket;
	int bind_n, decided_n, evict_n, log_n;
	int refuse_n; /* the first refuse_n evictions fail */
	char text[512];
	enum berth_status inside;
};

static enum berth_answer on_bind(void *context, const struct berth_decision *decision)
{
	struct calls *calls = context;

	calls->bind_n++;
	calls->ticket = decision->ticket;
	snprintf(calls->text, sizeof(calls->text), "%s on %s", decision->pod.name, decision->pod.node);
	return calls->answer;
}

static void on_decided(void *context, const struct berth_decision *decision)
{
	struct calls *calls = context;

	(void)decision;
	calls->decided_n++;
}

static bool on_evict(void *context, const struct berth_pod_ref *pod)
{
	struct calls *calls = context;

	calls->evict_n++;
	snprintf(calls->text, sizeof(calls->text), "%s/%s from %s", pod->pod_namespace, pod->name, pod->node);
	return calls->evict_n > calls->refuse_n;
}

static void on_log(void *context, enum berth_level level, const char *text)
{
	struct calls *calls = context;

	(void)level;
	calls->log_n++;
	snprintf(calls->text, sizeof(calls->text), "%s", text);
}

static struct berth *make_calling(struct calls *calls, struct berth_options *options)
{
	options->bind = on_bind;
	options->decided = on_decided;
	options->evict = on_evict;
	options->log = on_log;
	options->context = calls;
	calls->berth = make_with(options);
	return calls->berth;
}

static void the_binder_is_called_and_its_answer_applied(void **state)
{
	struct calls calls = {.answer = BERTH_BOUND};
	struct berth_options options;
	uint64_t n = 0;

	(void)state;
	BERTH_INIT(&options);
	struct berth *berth = make_calling(&calls, &options);
	feed(berth, NODE("n1", "2") POD("a", "1") POD("b", "1"));
	assert_int_equal(berth_run(berth, 1, &n), BERTH_OK);
	assert_int_equal(n, 1);
	assert_int_equal(calls.bind_n, 1);
	assert_string_equal(calls.text, "a on n1");
	expect_pod(berth, "a", BERTH_POD_ON_NODE, "n1");
	calls.answer = BERTH_BIND_FAILED;
	assert_int_equal(berth_run(berth, 0, &n), BERTH_OK);
	assert_int_equal(n, 1);
	expect_pod(berth, "b", BERTH_POD_WAITING, "");
	calls.answer = BERTH_BOUND;
	assert_int_equal(berth_run(berth, 0, &n), BERTH_OK);
	assert_int_equal(n, 1);
	expect_pod(berth, "b", BERTH_POD_ON_NODE, "n1");
	assert_int_equal(calls.decided_n, 3);
	const struct berth_counts counts = counts_of(berth);
	assert_int_equal(counts.bound, 2);
	assert_int_equal(counts.bind_failed, 1);
	assert_int_equal(counts.open_bindings, 0);
	berth_destroy(berth);
}

static void binding_may_be_answered_later_and_only_once(void **state)
{
	struct calls calls = {.answer = BERTH_BIND_LATER};
	struct berth_options options;

	(void)state;
	BERTH_INIT(&options);
	struct berth *berth = make_calling(&calls, &options);
	feed(berth, NODE("n1", "1") POD("a", "1"));
	assert_int_equal(berth_run(berth, 0, NULL), BERTH_OK);
	expect_pod(berth, "a", BERTH_POD_ASSUMED, "n1");
	assert_int_equal(counts_of(berth).open_bindings, 1);
	assert_int_equal(berth_bind_failed(berth, calls.ticket), BERTH_OK);
	expect_pod(berth, "a", BERTH_POD_WAITING, "");
	assert_int_equal(berth_bound(berth, calls.ticket), BERTH_NOT_FOUND);
	expect_error(berth, "waits for an answer");
	assert_int_equal(berth_run(berth, 0, NULL), BERTH_OK);
	assert_int_equal(berth_bound(berth, calls.ticket), BERTH_OK);
	assert_int_equal(berth_bound(berth, calls.ticket), BERTH_NOT_FOUND);
	assert_int_equal(berth_bind_failed(berth, calls.ticket + 1), BERTH_NOT_FOUND);
	assert_int_equal(berth_bind_failed(berth, 0), BERTH_NOT_FOUND);
	expect_pod(berth, "a", BERTH_POD_ON_NODE, "n1");
	berth_destroy(berth);
}

static void polled_decisions_have_tickets(void **state)
{
	struct berth_options options;

	(void)state;
	BERTH_INIT(&options);
	options.binding = BERTH_BIND_ANSWERED;
	options.clock = BERTH_CLOCK_VIRTUAL;
	struct berth *berth = make_with(&options);
	feed(berth, NODE("n1", "2") POD("a", "1") POD("b", "2"));
	uint64_t ticket = decide(berth, "a")->ticket;
	assert_int_not_equal(ticket, 0);
	assert_int_equal(decide(berth, "b")->outcome, BERTH_REFUSED);
	assert_int_equal(berth_bind_failed(berth, ticket), BERTH_OK);
	assert_string_equal(decide(berth, "b")->pod.node, "n1");
	berth_destroy(berth);
}

static void pod_that_goes_while_it_is_bound_frees_its_node(void **state)
{
	struct berth_options options;

	(void)state;
	BERTH_INIT(&options);
	options.binding = BERTH_BIND_ANSWERED;
	struct berth *berth = make_with(&options);
	feed(berth, NODE("n1", "1") POD("a", "1"));
	uint64_t ticket = decide(berth, "a")->ticket;
	assert_int_equal(berth_delete(berth, "Pod", NULL, "a"), BERTH_OK);
	feed(berth, POD("b", "1"));
	assert_string_equal(decide(berth, "b")->pod.node, "n1");
	assert_int_equal(berth_bound(berth, ticket), BERTH_OK);
	assert_int_equal(counts_of(berth).pods, 1);
	berth_destroy(berth);
}

/* ---- preemption ---- */

static void preemption_lists_its_victims(void **state)
{
	struct calls calls = {.answer = BERTH_BOUND};
	struct berth_options options;

	(void)state;
	BERTH_INIT(&options);
	struct berth *berth = make_calling(&calls, &options);
	feed(berth, NODE("n1", "1") POD("low", "1"));
	assert_int_equal(berth_run(berth, 0, NULL), BERTH_OK);
	feed(berth, POD_WITH("high", "1", "priority: 5, "));
	const struct berth_decision *decision = decide(berth, "high");
	assert_int_equal(decision->outcome, BERTH_REFUSED);
	assert_string_equal(decision->nominated, "n1");
	assert_int_equal(decision->evicted_n, 1);
	assert_string_equal(decision->evicted[0].name, "low");
	assert_string_equal(calls.text, "default/low from n1");
	assert_int_equal(calls.evict_n, 1);
	expect_pod(berth, "low", BERTH_POD_ON_NODE, "n1");
	assert_int_equal(berth_delete(berth, "Pod", "default", "low"), BERTH_OK);
	assert_string_equal(decide(berth, "high")->pod.node, "n1");
	berth_destroy(berth);
}

static void a_preemptor_whose_victim_stays_is_tried_again_after_its_backoff(void **state)
{
	struct calls calls = {.answer = BERTH_BOUND, .refuse_n = 2};
	struct berth_options options;
	struct berth_counts counts;

	(void)state;
	BERTH_INIT(&options);
	options.clock = BERTH_CLOCK_VIRTUAL;
	options.eviction = BERTH_EVICT_AT_ONCE;
	struct berth *berth = make_calling(&calls, &options);
	feed(berth, NODE("n1", "1") POD("low", "1"));
	assert_int_equal(berth_run(berth, 0, NULL), BERTH_OK);
	feed(berth, POD_WITH("high", "1", "priority: 5, "));
	for (int attempt = 1; attempt <= 2; attempt++) {
		/* There is one attempt per run. */
		assert_int_equal(berth_run(berth, 0, NULL), BERTH_OK);
		assert_int_equal(berth_run(berth, 0, NULL), BERTH_OK);
		assert_int_equal(calls.evict_n, attempt);
		expect_pod(berth, "low", BERTH_POD_ON_NODE, "n1");
		assert_int_equal(berth_set_time(berth, attempt * INT64_C(3000000000)), BERTH_OK);
	}
	assert_int_equal(berth_run(berth, 0, NULL), BERTH_OK);
	assert_int_equal(calls.evict_n, 3);
	assert_int_equal(berth_set_time(berth, INT64_C(15000000000)), BERTH_OK);
	assert_int_equal(berth_run(berth, 0, NULL), BERTH_OK);
	expect_pod(berth, "high", BERTH_POD_ON_NODE, "n1");
	BERTH_INIT(&counts);
	assert_int_equal(berth_get_counts(berth, &counts), BERTH_OK);
	assert_int_equal(counts.evict_failed, 2);
	berth_destroy(berth);
}

static void evicted_pods_may_be_gone_at_once(void **state)
{
	struct berth_options options;

	(void)state;
	BERTH_INIT(&options);
	options.eviction = BERTH_EVICT_AT_ONCE;
	struct berth *berth = make_with(&options);
	feed(berth, NODE("n1", "1") POD("low", "1"));
	decide(berth, "low");
	feed(berth, POD_WITH("high", "1", "priority: 5, "));
	assert_string_equal(decide(berth, "high")->evicted[0].node, "n1");
	assert_string_equal(decide(berth, "high")->pod.node, "n1");
	assert_int_equal(berth_find_pod(berth, NULL, "low", NULL, NULL), BERTH_NOT_FOUND);
	berth_destroy(berth);
}

/* ---- memory ---- */

static bool refuse_objects(void *context, enum bt_mem_use use, size_t bytes)
{
	(void)bytes;
	/* Other uses do not read the variable, which the test changes meanwhile. */
	return use == BT_MEM_OBJECT && *(const bool *)context;
}

static void objects_that_exceed_memory_are_rejected_and_may_be_sent_again(void **state)
{
	(void)state;
	for (uint32_t threads = 0; threads < 2; threads++) {
		bool refuses = false;
		struct berth_options options;
		struct berth_node node;
		struct berth_applied applied;

		BERTH_INIT(&options);
		options.threads = threads;
		bt_mem_set_refuser(refuse_objects, &refuses); /* before there are threads that call it */
		struct berth *berth = make_with(&options);
		BERTH_INIT(&applied);
		refuses = true;
		static const char text[] = NODE("n1", "1") POD("a", "1");
		assert_int_equal(berth_apply(berth, text, strlen(text), 0, &applied), BERTH_LIMIT);
		expect_error(berth, "raise memory_bytes_max");
		assert_int_equal(applied.objects, 2);
		assert_int_equal(applied.applied, 0);
		BERTH_INIT(&node);
		node.name = "n2";
		assert_int_equal(berth_apply_node(berth, &node), BERTH_LIMIT);
		refuses = false;
		feed(berth, text);
		if (!threads) {
			assert_string_equal(decide(berth, "a")->pod.node, "n1");
			/* Calls that allocate nothing never fail. */
			refuses = true;
			assert_int_equal(berth_delete(berth, "Pod", NULL, "a"), BERTH_OK);
		}
		berth_destroy(berth);
		bt_mem_set_refuser(NULL, NULL);
	}
}

static void memory_has_a_limit(void **state)
{
	struct berth_options options;

	(void)state;
	if (bt_mem_in_use_bytes() == 0) {
		skip(); /* the sanitizer's allocator does not count */
	}
	BERTH_INIT(&options);
	options.memory_bytes_max = 1;
	struct berth *berth = make_with(&options);
	static const char text[] = NODE("n1", "1");
	assert_int_equal(berth_apply(berth, text, strlen(text), 0, NULL), BERTH_LIMIT);
	bt_mem_set_limit(0);
	assert_int_equal(berth_apply(berth, text, strlen(text), 0, NULL), BERTH_OK);
	berth_destroy(berth);
}

/* ---- adding and removing ---- */

static void deleting_gives_room_back(void **state)
{
	static const char text[] = POD("a", "1") POD("nobody", "1") NODE("n2", "1");
	struct berth *berth = make();
	struct berth_applied applied;

	(void)state;
	feed(berth, NODE("n1", "1") NODE("n2", "1") POD("a", "1") POD("b", "1") POD("c", "1"));
	assert_int_equal(berth_run(berth, 0, NULL), BERTH_OK);
	assert_int_equal(counts_of(berth).pods_waiting, 1);
	BERTH_INIT(&applied);
	assert_int_equal(berth_delete_text(berth, text, strlen(text), 0, &applied), BERTH_OK);
	assert_int_equal(applied.objects, 3);
	assert_int_equal(applied.applied, 2);
	assert_int_equal(counts_of(berth).nodes, 1);
	assert_int_equal(berth_delete(berth, "Pod", NULL, "a"), BERTH_NOT_FOUND);
	assert_int_equal(berth_delete(berth, "Secret", NULL, "a"), BERTH_NOT_FOUND);
	berth_destroy(berth);
}

static void texts_of_every_shape_are_taken(void **state)
{
	static const char list[] =
		"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":["
		"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"}},"
		"{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\"}}]}";
	static const char deployment[] =
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 3\n"
		"  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
		"    spec: {containers: [{name: main}]}\n";
	struct berth *berth = make();
	struct berth_applied applied;

	(void)state;
	BERTH_INIT(&applied);
	assert_int_equal(berth_apply(berth, list, strlen(list), 0, &applied), BERTH_OK);
	assert_int_equal(applied.objects, 2);
	assert_int_equal(applied.applied, 1);
	assert_int_equal(applied.ignored, 1);
	assert_int_equal(berth_apply(berth, deployment, strlen(deployment), 0, &applied), BERTH_OK);
	assert_int_equal(applied.ignored, 1);
	assert_int_equal(
		berth_apply(berth, deployment, strlen(deployment), BERTH_EXPAND, &applied), BERTH_OK);
	assert_int_equal(applied.made, 3);
	assert_int_equal(counts_of(berth).pods, 3);
	berth_destroy(berth);
}

static void files_are_taken(void **state)
{
	struct berth *berth = make();
	struct berth_applied applied;

	(void)state;
	BERTH_INIT(&applied);
	assert_int_equal(
		berth_apply_file(berth, BT_SOURCE_DIR "/tools/samples", BERTH_EXPAND, &applied), BERTH_OK);
	assert_int_equal(counts_of(berth).nodes, 6);
	assert_int_equal(counts_of(berth).pods, 26);
	assert_int_equal(applied.made, 22);
	assert_int_equal(berth_apply_file(berth, "/nonexistent.yaml", 0, &applied), BERTH_BAD_INPUT);
	expect_error(berth, "/nonexistent.yaml");
	assert_int_equal(applied.problems, 1);
	berth_destroy(berth);
}

static void problems_are_reported_with_place_and_path(void **state)
{
	static const char text[] = NODE("n1", "1") POD("a", "much") POD("b", "1");
	struct calls calls = {.answer = BERTH_BOUND};
	struct berth_options options;
	struct berth_applied applied;

	(void)state;
	BERTH_INIT(&options);
	struct berth *berth = make_calling(&calls, &options);
	BERTH_INIT(&applied);
	assert_int_equal(berth_apply(berth, text, strlen(text), 0, &applied), BERTH_BAD_INPUT);
	expect_error(berth, "text:3: Pod default/a: spec.containers[0].resources.requests");
	assert_string_equal(calls.text, berth_error(berth));
	assert_int_equal(applied.problems, 1);
	assert_int_equal(applied.applied, 2);
	assert_int_equal(berth_apply(berth, text, strlen(text), BERTH_STRICT, &applied), BERTH_BAD_INPUT);
	assert_int_equal(applied.applied, 1);
	feed(berth, POD("c", "1"));
	assert_string_equal(berth_error(berth), "");
	berth_destroy(berth);
}

#define EVENT(type, name, spec)                                                                              \
	"{\"type\":\"" type                                                                                  \
	"\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name               \
	"\"},\"spec\":{" spec "}}}\n"

static void watch_events_are_taken_in_their_order(void **state)
{
	static const char text[] = EVENT("ADDED", "a", "\"priority\":1") EVENT(
		"ADDED", "b", "\"priority\":2") EVENT("MODIFIED", "a", "\"priority\":3") EVENT("DELETED", "b",
		"") "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\"}}\n"
		    "{\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"},"
		    "\"status\":{\"allocatable\":{\"pods\":\"3\"}}},\"type\":\"ADDED\"}";
	struct berth *berth = make();
	struct berth_applied applied;

	(void)state;
	BERTH_INIT(&applied);
	if (berth_apply_events(berth, text, strlen(text), 0, &applied) != BERTH_OK) {
		fail_msg("%s", berth_error(berth));
	}
	assert_int_equal(applied.objects, 5);
	assert_int_equal(applied.applied, 5);
	assert_int_equal(applied.ignored, 1);
	assert_int_equal(decide(berth, "a")->priority, 3);
	expect_none(berth);
	berth_destroy(berth);
}

static void expect_bad_events(struct berth *berth, const char *text, const char *words)
{
	assert_int_equal(berth_apply_events(berth, text, strlen(text), 0, NULL), BERTH_BAD_INPUT);
	expect_error(berth, words);
}

static void odd_events_are_refused_with_words(void **state)
{
	struct berth *berth = make();

	(void)state;
	expect_bad_events(berth, "{\"type\":\"ERROR\",\"object\":{\"code\":410}}", "type: this is no event");
	expect_bad_events(berth, "{\"type\":\"ADDED\"}", "no object");
	expect_bad_events(berth, "{}", "no object");
	expect_bad_events(berth, "[]", "one event after another");
	expect_bad_events(berth, "{\"type\":3}", "one event after another");
	expect_bad_events(berth, "{\"type\":\"ADDED\",\"object\":7}", "apiVersion and kind");
	expect_bad_events(berth, "\n{\"type\":\"ADDED\",", "text:2:");
	expect_bad_events(berth,
		"{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{"
		"\"name\":"
		"\"a\"},\"spec\":{\"priority\":\"x\"}}}\n" EVENT("ADDED", "b", ""),
		"object.spec.priority");
	/* The event after the invalid one was applied. */
	assert_int_equal(counts_of(berth).pods, 1);
	berth_destroy(berth);
}

/* ---- time ---- */

static void virtual_time_ends_backoffs(void **state)
{
	struct calls calls = {.answer = BERTH_BIND_FAILED};
	struct berth_options options;
	int64_t now = 0, next = 0;

	(void)state;
	BERTH_INIT(&options);
	options.clock = BERTH_CLOCK_VIRTUAL;
	options.start_ns = INT64_C(1000000000000);
	struct berth *berth = make_calling(&calls, &options);
	feed(berth, NODE("n1", "1") POD("a", "1"));
	assert_int_equal(decide(berth, "a")->attempts, 1);
	expect_none(berth);
	assert_int_equal(berth_get_time(berth, &now, &next), BERTH_OK);
	assert_int_equal(now, options.start_ns);
	assert_in_range(next, now + 1, now + INT64_C(2000000000));
	assert_int_equal(berth_set_time(berth, next), BERTH_OK);
	assert_int_equal(decide(berth, "a")->attempts, 2);
	assert_int_equal(berth_set_time(berth, now), BERTH_INVALID);
	expect_error(berth, "does not go back");
	berth_destroy(berth);
}

static void without_a_clock_a_call_gives_each_pod_one_more_try(void **state)
{
	struct calls calls = {.answer = BERTH_BIND_FAILED};
	struct berth_options options;
	uint64_t n = 0;

	(void)state;
	BERTH_INIT(&options);
	struct berth *berth = make_calling(&calls, &options);
	feed(berth, NODE("n1", "1") POD("a", "1"));
	for (int i = 1; i <= 5; i++) {
		assert_int_equal(berth_run(berth, 0, &n), BERTH_OK);
		assert_int_equal(n, 1);
		assert_int_equal(calls.bind_n, i);
	}
	assert_int_equal(berth_set_time(berth, 1), BERTH_UNSUPPORTED);
	berth_destroy(berth);
}

static void without_nodes_a_decision_loop_ends_and_continues_with_the_first_node(void **state)
{
	const struct berth_decision *decision;
	struct berth_options options;
	struct berth *berth;

	(void)state;
	BERTH_INIT(&options);
	assert_int_equal(berth_create(&options, &berth), BERTH_OK);
	feed(berth, POD("a", "1"));
	for (int i = 0; i < 2; i++) {
		int n = 0;

		while (n < 10 && berth_next_decision(berth, 0, &decision) == BERTH_OK) {
			assert_string_equal(decision->message, "no nodes available to schedule pods");
			n++;
		}
		assert_int_equal(n, i == 0);
	}
	feed(berth, NODE("n1", "1"));
	assert_int_equal(berth_next_decision(berth, 0, &decision), BERTH_OK);
	assert_string_equal(decision->pod.node, "n1");
	assert_int_equal(berth_next_decision(berth, 0, &decision), BERTH_TIMEOUT);
	berth_destroy(berth);
}

static void real_clock_waits_for_a_backoff(void **state)
{
	struct calls calls = {.answer = BERTH_BIND_FAILED};
	const struct berth_decision *decision;
	struct berth_options options;

	(void)state;
	BERTH_INIT(&options);
	options.clock = BERTH_CLOCK_REAL;
	struct berth *berth = make_calling(&calls, &options);
	feed(berth, NODE("n1", "1") POD("a", "1"));
	decide(berth, "a");
	expect_none(berth);
	assert_int_equal(berth_next_decision(berth, INT64_C(20000000000), &decision), BERTH_OK);
	assert_int_equal(decision->attempts, 2);
	berth_destroy(berth);
}

/* ---- queries ---- */

static void an_explanation_names_the_refusing_plugin_of_each_node(void **state)
{
	struct berth *berth = make();
	char *text = NULL;

	(void)state;
	feed(berth, NODE("n1", "1") NODE("n2", "4") POD("a", "2") POD("whale", "9"));
	assert_int_equal(berth_explain(berth, NULL, "whale", BERTH_JSON, &text), BERTH_OK);
	assert_non_null(strstr(text, "\"plugin\": \"NodeResourcesFit\""));
	assert_non_null(strstr(text, "\"reason\": \"Insufficient cpu (needs 9, free 4)\""));
	berth_free(text);
	assert_int_equal(berth_explain(berth, NULL, "a", BERTH_TEXT, &text), BERTH_OK);
	assert_non_null(strstr(text, "feasible"));
	assert_non_null(strstr(text, "Insufficient cpu (needs 2, free 1)"));
	berth_free(text);
	assert_int_equal(berth_message(berth, NULL, "a", &text), BERTH_OK);
	assert_string_equal(text, "");
	berth_free(text);
	assert_int_equal(berth_message(berth, NULL, "whale", &text), BERTH_OK);
	assert_non_null(strstr(text, "0/2 nodes are available: 2 Insufficient cpu."));
	berth_free(text);
	decide(berth, "a");
	assert_int_equal(berth_message(berth, NULL, "a", &text), BERTH_NOT_FOUND);
	expect_error(berth, "is on node n2");
	assert_int_equal(berth_explain(berth, "x", "a", BERTH_TEXT, &text), BERTH_NOT_FOUND);
	expect_error(berth, "there is no pod x/a");
	berth_destroy(berth);
}

static void gated_pods_are_distinguished(void **state)
{
	struct berth *berth = make();
	char *text = NULL;

	(void)state;
	feed(berth, NODE("n1", "4") POD_WITH("a", "2", "schedulingGates: [{name: wait}], "));
	expect_none(berth);
	expect_pod(berth, "a", BERTH_POD_GATED, "");
	assert_int_equal(counts_of(berth).gated, 1);
	assert_int_equal(berth_message(berth, NULL, "a", &text), BERTH_OK);
	assert_non_null(strstr(text, "wait"));
	berth_free(text);
	berth_destroy(berth);
}

static void configuration_counts(void **state)
{
	struct berth_options options;

	(void)state;
	BERTH_INIT(&options);
	options.config = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
			 "profiles:\n- schedulerName: mine\n  plugins:\n    multiPoint:\n      disabled:\n"
			 "      - {name: NodeResourcesFit}\n";
	struct berth *berth = make_with(&options);
	feed(berth, NODE("n1", "1") POD_WITH("a", "9", "schedulerName: mine, ") POD("foreign", "1"));
	assert_string_equal(decide(berth, "a")->pod.node, "n1");
	expect_none(berth);
	assert_int_equal(counts_of(berth).pods, 1);
	berth_destroy(berth);
}

static void stopping_drains_or_abandons(void **state)
{
	struct berth *berth = make();

	(void)state;
	feed(berth, NODE("n1", "4") POD("a", "1"));
	assert_int_equal(berth_stop(berth, BERTH_DRAIN, 0), BERTH_OK);
	expect_pod(berth, "a", BERTH_POD_ON_NODE, "n1");
	assert_int_equal(berth_stop(berth, BERTH_ABANDON, 0), BERTH_OK);
	assert_int_equal(berth_run(berth, 0, NULL), BERTH_STOPPED);
	assert_int_equal(berth_apply(berth, "", 0, 0, NULL), BERTH_STOPPED);
	assert_int_equal(berth_delete(berth, "Pod", NULL, "a"), BERTH_STOPPED);
	berth_destroy(berth);
	berth = make();
	feed(berth, NODE("n1", "4") POD("a", "1"));
	assert_int_equal(berth_stop(berth, BERTH_ABANDON, 0), BERTH_OK);
	expect_pod(berth, "a", BERTH_POD_WAITING, "");
	berth_destroy(berth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_is_the_headers),
		cmocka_unit_test(pod_of_a_text_is_placed_and_bound_at_once),
		cmocka_unit_test(a_refused_pod_has_a_reason_and_is_placed_when_a_node_has_room),
		cmocka_unit_test(structures_decide_as_text_does),
		cmocka_unit_test(decisions_are_in_order_of_priority),
		cmocka_unit_test(class_may_follow_its_pod),
		cmocka_unit_test(the_binder_is_called_and_its_answer_applied),
		cmocka_unit_test(binding_may_be_answered_later_and_only_once),
		cmocka_unit_test(polled_decisions_have_tickets),
		cmocka_unit_test(pod_that_goes_while_it_is_bound_frees_its_node),
		cmocka_unit_test(preemption_lists_its_victims),
		cmocka_unit_test(a_preemptor_whose_victim_stays_is_tried_again_after_its_backoff),
		cmocka_unit_test(objects_that_exceed_memory_are_rejected_and_may_be_sent_again),
		cmocka_unit_test(memory_has_a_limit),
		cmocka_unit_test(evicted_pods_may_be_gone_at_once),
		cmocka_unit_test(deleting_gives_room_back),
		cmocka_unit_test(texts_of_every_shape_are_taken),
		cmocka_unit_test(files_are_taken),
		cmocka_unit_test(problems_are_reported_with_place_and_path),
		cmocka_unit_test(watch_events_are_taken_in_their_order),
		cmocka_unit_test(odd_events_are_refused_with_words),
		cmocka_unit_test(virtual_time_ends_backoffs),
		cmocka_unit_test(without_a_clock_a_call_gives_each_pod_one_more_try),
		cmocka_unit_test(without_nodes_a_decision_loop_ends_and_continues_with_the_first_node),
		cmocka_unit_test(real_clock_waits_for_a_backoff),
		cmocka_unit_test(an_explanation_names_the_refusing_plugin_of_each_node),
		cmocka_unit_test(gated_pods_are_distinguished),
		cmocka_unit_test(configuration_counts),
		cmocka_unit_test(stopping_drains_or_abandons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
