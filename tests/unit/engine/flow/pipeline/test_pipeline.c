/* SPDX-License-Identifier: Apache-2.0
 * The pipeline, step by step in one thread: input, decisions, full rings.
 */
#include "lab.h"

#include "engine/base/mem.h"

#include "engine/base/eventcount.h"

static void a_pod_goes_from_the_source_to_the_binder(void **state)
{
	struct lab *lab = *state;

	lab_node(lab, "n1");
	lab_pod(lab, "p", ", 'uid': 'u1'");
	lab_settle(lab);
	assert_int_equal(lab->decision_n, 1);
	assert_int_equal(lab->decisions[0].outcome, BT_PLACED);
	assert_string_equal(lab->decisions[0].node, "n1");
	assert_int_equal(lab->request_n, 1);
	assert_string_equal(lab->bind_requests[0].pod, "p");
	assert_string_equal(lab->bind_requests[0].uid, "u1");
	assert_string_equal(lab->bind_requests[0].node, "n1");
	lab_assert_sets(lab, 0, 1, 0);
	assert_int_equal(lab_counts(lab).binding_n, 1);
	assert_int_equal(bt_pipeline_bound(lab->pipeline, lab->bind_requests[0].handle), BT_OK);
	lab_settle(lab);
	lab_assert_sets(lab, 0, 0, 1);
	assert_int_equal(lab_counts(lab).bound_n, 1);
	assert_int_equal(lab_counts(lab).binding_n, 0);
}

static void a_refused_pod_has_its_message(void **state)
{
	struct lab *lab = *state;

	lab_node(lab, "n1");
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "p", "", ", 'nodeSelector': {'a': 'b'}");
	lab_settle(lab);
	assert_int_equal(lab->decisions[0].outcome, BT_REFUSED);
	assert_non_null(strstr(lab->decisions[0].message, "0/1 nodes are available"));
	assert_int_equal(lab->request_n, 0);
}

static void without_a_binder_every_binding_succeeds(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_pipeline_options options = lab_options(&lab);

	(void)state;
	options.binder.bind = NULL;
	lab_begin(&lab, &options);
	lab_node(&lab, "n1");
	lab_pod(&lab, "p", "");
	lab_settle(&lab);
	lab_assert_sets(&lab, 0, 0, 1);
	lab_end(&lab);
}

static void no_pod_is_decided_before_every_source_is_synced(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_pipeline_options options = lab_options(&lab);

	(void)state;
	options.wait_for_sync = true;
	options.limits.sources = 2;
	lab_begin(&lab, &options);
	lab_node(&lab, "n1");
	lab_pod(&lab, "p", "");
	lab_feed(&lab, bt_watch_event_create(BT_WATCH_EVENT_SYNCED));
	lab_feed(&lab, bt_watch_event_create(BT_WATCH_EVENT_SYNCED));
	lab_settle(&lab);
	assert_int_equal(lab.decision_n, 0);
	struct bt_watch_event *watch_event = bt_watch_event_create(BT_WATCH_EVENT_SYNCED);
	assert_int_equal(bt_pipeline_feed(lab.pipeline, 1, &watch_event, 0), BT_OK);
	lab_settle(&lab);
	assert_int_equal(lab.decision_n, 1);
	lab_end(&lab);
}

static void a_paused_pipeline_applies_events_and_decides_no_pod(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_pipeline_options options = lab_options(&lab);

	(void)state;
	options.paused = true;
	lab_begin(&lab, &options);
	lab_node(&lab, "n1");
	lab_pod(&lab, "p", "");
	lab_settle(&lab);
	assert_non_null(lab_find(&lab, "p"));
	assert_int_equal(lab.decision_n, 0);
	bt_pipeline_pause(lab.pipeline, false);
	lab_settle(&lab);
	assert_int_equal(lab.decision_n, 1);
	bt_pipeline_pause(lab.pipeline, true);
	lab_pod(&lab, "q", "");
	lab_settle(&lab);
	assert_int_equal(lab.decision_n, 1);
	lab_end(&lab);
}

/* A pod's watch event from a source, with this many extra bytes. */
static struct bt_watch_event *own_event(struct lab *lab, const char *name, size_t bytes)
{
	struct bt_watch_event *watch_event = bt_pipeline_get_event(lab->pipeline, 0, BT_WATCH_EVENT_APPLY);
	char *own = bt_arena_copy(&watch_event->arena, name, strlen(name));

	bt_arena_alloc(&watch_event->arena, bytes, 1);
	watch_event->object = (struct bt_object){.kind = BT_KIND_POD,
		.pod = {.meta = {.namespace_ = bt_str("default"), .name = bt_str(own)},
			.spec.scheduler_name = bt_str("default-scheduler")}};
	return watch_event;
}

static void parcels_are_used_again_without_what_they_held(void **state)
{
	struct lab *lab = *state;
	struct bt_watch_event *first = own_event(lab, "p", 8);

	lab_feed(lab, first);
	lab_take_in(lab);
	struct bt_watch_event *again = bt_pipeline_get_event(lab->pipeline, 0, BT_WATCH_EVENT_DELETE);
	assert_ptr_equal(again, first);
	assert_int_equal(again->kind, BT_WATCH_EVENT_DELETE);
	assert_int_equal(again->delta.name, BT_NAME_NONE);
	assert_int_equal(again->tag, 0);
	bt_watch_event_destroy(again);
	/* Large buffers are not reused. */
	lab_feed(lab, own_event(lab, "q", 1 << 20));
	lab_take_in(lab);
	assert_non_null(lab_find(lab, "q"));
	again = bt_pipeline_get_event(lab->pipeline, 0, BT_WATCH_EVENT_APPLY);
	assert_true(bt_arena_bytes(&again->arena) < 1 << 20);
	bt_watch_event_destroy(again);
}

static void kept_events_stay_below_the_limit(void **state)
{
	struct lab *lab = *state;
	struct bt_watch_event *watch_events[8];
	char name[8];

	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		watch_events[i] = own_event(lab, name, 8);
	}
	for (int i = 0; i < 8; i++) {
		lab_feed(lab, watch_events[i]);
		lab_take_in(lab);
	}
	/* The last four of them found no room: nothing leaks, and later ones work. */
	for (int i = 0; i < 8; i++) {
		struct bt_watch_event *again = bt_pipeline_get_event(lab->pipeline, 0, BT_WATCH_EVENT_APPLY);

		assert_int_equal(again->kind, BT_WATCH_EVENT_APPLY);
		bt_watch_event_destroy(again);
	}
}

static void watch_events_of_a_source_keep_their_order_on_any_ingestion_thread(void **state)
{
	char name[16];

	(void)state;
	for (uint32_t thread_n = 1; thread_n <= 5; thread_n++) {
		struct lab lab = {.now_ns = 1, .answers = true};
		struct bt_pipeline_options options = lab_options(&lab);

		options.limits.ingest_threads = thread_n;
		lab_begin(&lab, &options);
		lab_node(&lab, "n1");
		lab_node(&lab, "n2");
		lab_node(&lab, "n3");
		for (int i = 0; i < 6; i++) {
			snprintf(name, sizeof(name), "p%d", i);
			lab_pod(&lab, name, "");
		}
		/* The last thread is the first to work. */
		for (uint32_t i = thread_n; i-- > 0;) {
			bt_pipeline_ingest_step(lab.pipeline, i);
		}
		lab_settle(&lab);
		assert_int_equal(lab.decision_n, 6);
		for (int i = 0; i < 6; i++) {
			snprintf(name, sizeof(name), "p%d", i);
			assert_string_equal(lab.decisions[i].pod, name);
		}
		lab_end(&lab);
	}
}

static void a_busy_source_does_not_keep_another_waiting(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_pipeline_options options = lab_options(&lab);
	char text[160];

	(void)state;
	options.limits.sources = 2;
	options.limits.events = 1;
	lab_begin(&lab, &options);
	struct bt_watch_event *watch_event = lab_watch_event(&lab, BT_WATCH_EVENT_APPLY,
		"{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'late'}}");
	for (int i = 0; i < 20; i++) {
		snprintf(text, sizeof(text),
			"{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'busy-%d'}}", i);
		lab_feed(&lab, lab_watch_event(&lab, BT_WATCH_EVENT_APPLY, text));
		if (i < 3) {
			continue; /* some work is always left */
		}
		if (i == 3) {
			assert_int_equal(bt_pipeline_feed(lab.pipeline, 1, &watch_event, 0), BT_OK);
		}
		bt_pipeline_ingest_step(lab.pipeline, 0);
		bt_pipeline_publish_step(lab.pipeline);
		bt_pipeline_apply_step(lab.pipeline);
	}
	struct bt_cache *cache = bt_engine_cache(bt_pipeline_engine(lab.pipeline));
	assert_int_not_equal(
		bt_snapshot_find(cache->snapshot, bt_intern_find(cache->dictionary->intern, bt_str("late"))),
		BT_NO_NODE);
	lab_end(&lab);
}

static void a_full_ring_refuses_and_waits_and_loses_nothing(void **state)
{
	struct lab *lab = *state;
	uint32_t fed_n = 0;

	lab_node(lab, "n1");
	for (;; fed_n++) {
		struct bt_watch_event *watch_event = lab_watch_event(lab, BT_WATCH_EVENT_APPLY,
			"{'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'a'}}");

		if (bt_pipeline_feed(lab->pipeline, 0, &watch_event, 0) == BT_FULL) {
			assert_non_null(watch_event);
			assert_int_equal(bt_pipeline_feed(lab->pipeline, 0, &watch_event, BT_FOREVER), BT_OK);
			break;
		}
	}
	assert_int_equal(fed_n, 3);
	lab_settle(lab);
	assert_int_equal(lab_counts(lab).applied_n, 5);
}

static bool refuse_use(void *context, enum bt_mem_use use, size_t bytes)
{
	(void)bytes;
	return use == *(const enum bt_mem_use *)context;
}

static void objects_that_exceed_memory_stay_with_their_source(void **state)
{
	struct lab *lab = *state;
	enum bt_mem_use use = BT_MEM_OBJECT;

	lab_node(lab, "n1");
	struct bt_watch_event *watch_event = lab_watch_event(lab, BT_WATCH_EVENT_APPLY,
		"{'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'a'}}");
	bt_mem_set_refuser(refuse_use, &use);
	assert_int_equal(bt_pipeline_feed(lab->pipeline, 0, &watch_event, BT_FOREVER), BT_NO_MEMORY);
	assert_non_null(watch_event);
	/* Deleting an object makes room. */
	struct bt_watch_event *gone = lab_watch_event(lab, BT_WATCH_EVENT_DELETE,
		"{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'n1'}}");
	assert_int_equal(bt_pipeline_feed(lab->pipeline, 0, &gone, 0), BT_OK);
	bt_mem_set_refuser(NULL, NULL);
	assert_int_equal(bt_pipeline_feed(lab->pipeline, 0, &watch_event, 0), BT_OK);
	lab_settle(lab);
	assert_int_equal(lab_counts(lab).applied_n, 2);
	assert_int_equal(lab_counts(lab).deleted_n, 1);
}

/* There are four slots initially. */
static void no_pod_is_popped_while_memory_is_short_for_its_binding(void **state)
{
	struct lab *lab = *state;
	enum bt_mem_use use = BT_MEM_BINDING;
	char name[16];

	bt_mem_set_refuser(refuse_use, &use);
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "n%d", i / 2);
		lab_node(lab, name);
		snprintf(name, sizeof(name), "p%d", i);
		lab_pod(lab, name, "");
		lab_settle(lab);
	}
	assert_int_equal(lab->request_n, 4);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(bt_pipeline_bound(lab->pipeline, lab->bind_requests[i].handle), BT_OK);
	}
	lab_settle(lab);
	assert_int_equal(lab->request_n, 6);
	bt_mem_set_refuser(NULL, NULL);
}

static void bindings_in_flight_stay_below_the_limit(void **state)
{
	struct lab *lab = *state;
	char name[16];

	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		lab_node(lab, name);
	}
	for (int i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		lab_pod(lab, name, "");
	}
	lab_settle(lab);
	assert_int_equal(lab->decision_n, 4);
	assert_int_equal(lab_counts(lab).binding_n, 4);
	for (uint32_t i = 0; i < 9; i++) {
		assert_int_equal(bt_pipeline_bound(lab->pipeline, lab->bind_requests[i].handle), BT_OK);
		lab_settle(lab);
		assert_true(lab_counts(lab).binding_n <= 4);
	}
	assert_int_equal(lab->decision_n, 9);
	lab_assert_sets(lab, 0, 0, 9);
}

static bool takes_one(void *context)
{
	return lab_counts(context).binding_n < 1;
}

static void no_pod_is_popped_while_the_binder_has_no_room(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_pipeline_options options = lab_options(&lab);

	(void)state;
	options.binder.has_room = takes_one;
	lab_begin(&lab, &options);
	lab_node(&lab, "n1");
	lab_pod(&lab, "p", "");
	lab_pod(&lab, "q", "");
	lab_settle(&lab);
	assert_int_equal(lab.decision_n, 1);
	lab_assert_sets(&lab, 1, 1, 0);
	/* A pod added meanwhile is popped by its priority. */
	lab_pod_event(&lab, BT_WATCH_EVENT_APPLY, "high", "", ", 'priority': 7");
	lab_settle(&lab);
	assert_int_equal(lab.decision_n, 1);
	assert_int_equal(bt_pipeline_bound(lab.pipeline, lab.bind_requests[0].handle), BT_OK);
	lab_settle(&lab);
	assert_int_equal(lab.decision_n, 2);
	assert_string_equal(lab.decisions[1].pod, "high");
	lab_end(&lab);
}

static void a_limit_that_is_zero_is_refused_by_its_name(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_pipeline_options options = lab_options(&lab);
	struct bt_config_errors errors = {0};
	struct bt_buf text = {0};

	(void)state;
	bt_config_init_default(&lab.config, NULL);
	options.limits.inbox = 0;
	assert_null(bt_pipeline_create(&lab.config, &options, &errors));
	bt_config_errors_text(&errors, &text);
	assert_non_null(strstr(text.ptr, "inbox"));
	bt_buf_fini(&text);
	bt_config_errors_fini(&errors);
	bt_config_fini(&lab.config);
}

static void events_in_flight_are_freed_at_the_end(void **state)
{
	struct lab *lab = *state;

	lab_node(lab, "n1");
	lab_pod(lab, "p", "");
	lab_settle(lab);
	lab_pod(lab, "q", "");
	bt_pipeline_ingest_step(lab->pipeline, 0);
	lab_pod(lab, "r", "");
	assert_int_equal(lab_counts(lab).binding_n, 1);
}

static void decisions_are_polled_in_order_and_no_pod_is_popped_meanwhile(void **state)
{
	struct lab lab = {.now_ns = 1, .answers = true};
	struct bt_pipeline_options options = lab_options(&lab);
	struct bt_pipeline_decision *decision;
	char name[16];

	(void)state;
	options.limits.decisions = 4;
	lab_begin(&lab, &options);
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		lab_node(&lab, name);
	}
	for (int i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		lab_pod(&lab, name, "");
	}
	lab_settle(&lab);
	assert_int_equal(lab.decision_n, 4);
	for (int i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		decision = bt_pipeline_poll(lab.pipeline, BT_FOREVER);
		assert_non_null(decision);
		assert_true(bt_str_is(decision->pod.name, name));
		assert_true(bt_str_is(decision->pod.namespace_, "default"));
		assert_int_equal(decision->number, i + 1);
		assert_int_equal(decision->outcome, BT_PLACED);
		bt_pipeline_decision_free(decision);
	}
	assert_null(bt_pipeline_poll(lab.pipeline, BT_FOREVER));
	lab_end(&lab);
}

/* Pods and nodes for a pipeline with threads. */
static void feed_some(struct lab *lab, int node_n, int pod_n)
{
	char name[16];

	for (int i = 0; i < node_n; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		lab_node(lab, name);
	}
	for (int i = 0; i < pod_n; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		lab_pod(lab, name, "");
	}
}

static void start(struct lab *lab)
{
	struct bt_buf why = {0};

	assert_int_equal(bt_pipeline_start(lab->pipeline, &why), BT_OK);
	bt_buf_fini(&why);
}

static void threads_do_what_one_does_and_drain(void **state)
{
	(void)state;
	for (uint32_t n = 0; n <= 6; n++) {
		struct lab lab = {.now_ns = 1, .answers = true};
		struct bt_pipeline_options options = lab_options(&lab);
		struct bt_pipeline_decision *decision;

		options.sink.decided = NULL;
		options.limits.decisions = 64;
		options.limits.ingest_threads = options.limits.bind_threads = 1 + n / 2;
		options.one_thread = n % 2;
		options.binder.bind = NULL;
		lab_begin(&lab, &options);
		start(&lab);
		feed_some(&lab, 20, 30);
		assert_true(bt_pipeline_stop(lab.pipeline, BT_END_DRAIN, 20 * LAB_SECOND));
		for (int i = 0; i < 30; i++) {
			decision = bt_pipeline_poll(lab.pipeline, 0);
			assert_int_equal(decision->outcome, BT_PLACED);
			bt_pipeline_decision_free(decision);
		}
		assert_null(bt_pipeline_poll(lab.pipeline, BT_FOREVER));
		lab_assert_sets(&lab, 0, 0, 30);
		lab_end(&lab);
	}
}

static void a_stop_that_abandons_frees_what_is_on_its_way(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_pipeline_options options = lab_options(&lab);
	struct bt_watch_event *watch_event = bt_watch_event_create(BT_WATCH_EVENT_SYNCED);

	(void)state;
	options.sink.decided = NULL;
	lab_begin(&lab, &options);
	start(&lab);
	feed_some(&lab, 4, 20);
	assert_true(bt_pipeline_stop(lab.pipeline, BT_END_ABANDON, BT_FOREVER));
	assert_int_equal(bt_pipeline_feed(lab.pipeline, 0, &watch_event, BT_FOREVER), BT_CONFLICT);
	bt_watch_event_destroy(watch_event);
	lab_end(&lab);
}

static void count_assumed(void *context, struct bt_engine *engine)
{
	*(uint64_t *)context = bt_engine_counts(engine).sets.assumed;
}

static void a_drain_that_cannot_end_is_given_up(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_pipeline_options options = lab_options(&lab);
	uint64_t assumed_n = 0;

	(void)state;
	options.sink.decided = NULL;
	lab_begin(&lab, &options);
	start(&lab);
	feed_some(&lab, 4, 3); /* the binder never answers */
	while (assumed_n < 3) {
		bt_pipeline_call(lab.pipeline, count_assumed, &assumed_n);
	}
	assert_true(bt_pipeline_stop(lab.pipeline, BT_END_DRAIN, LAB_SECOND / 20));
	lab_assert_sets(&lab, 0, 3, 0);
	lab_end(&lab);
}

static void count_nodes(void *context, struct bt_engine *engine)
{
	*(uint32_t *)context = bt_engine_cache(engine)->view.snapshot->node_n;
}

static void visitors_see_the_engine_between_cycles(void **state)
{
	struct lab *lab = *state;
	uint32_t node_n = 0;

	lab_node(lab, "n1");
	lab_settle(lab);
	bt_pipeline_call(lab->pipeline, count_nodes, &node_n);
	assert_int_equal(node_n, 1);
	start(lab);
	node_n = 0;
	bt_pipeline_call(lab->pipeline, count_nodes, &node_n);
	assert_int_equal(node_n, 1);
	assert_true(bt_pipeline_stop(lab->pipeline, BT_END_DRAIN, BT_FOREVER));
	node_n = 0;
	bt_pipeline_call(lab->pipeline, count_nodes, &node_n);
	assert_int_equal(node_n, 1);
}

static void hang(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	struct bt_eventcount *park = context;
	uint32_t key = bt_eventcount_prepare(park);

	(void)pipeline;
	(void)request;
	bt_eventcount_wait(park, key, BT_EVENTCOUNT_FOREVER);
}

static bool is_stalled(const struct lab *lab, const char *name)
{
	struct bt_pipeline_thread threads[8];
	uint32_t n = bt_pipeline_threads(lab->pipeline, threads, 8);

	for (uint32_t i = 0; i < n; i++) {
		if (threads[i].stalled && strcmp(threads[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

static void a_thread_that_hangs_is_named_and_does_not_hang_the_stop(void **state)
{
	struct lab lab = {.now_ns = 1};
	struct bt_pipeline_options options = lab_options(&lab);
	struct bt_eventcount park;

	(void)state;
	bt_eventcount_init(&park);
	options.sink.decided = NULL;
	options.limits.stall_ns = LAB_SECOND / 100;
	options.binder = (struct bt_pipeline_binder){.bind = hang, .context = &park};
	lab_begin(&lab, &options);
	start(&lab);
	feed_some(&lab, 4, 1);
	while (!is_stalled(&lab, "bind")) {
		bt_thread_yield();
	}
	assert_false(is_stalled(&lab, "ingest"));
	assert_false(bt_pipeline_stop(lab.pipeline, BT_END_DRAIN, LAB_SECOND / 20));
	while (!bt_pipeline_stop(lab.pipeline, BT_END_ABANDON, LAB_SECOND / 100)) {
		bt_eventcount_wake(&park);
	}
	lab_end(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAB_TEST(a_pod_goes_from_the_source_to_the_binder),
		LAB_TEST(a_refused_pod_has_its_message),
		cmocka_unit_test(without_a_binder_every_binding_succeeds),
		cmocka_unit_test(no_pod_is_decided_before_every_source_is_synced),
		cmocka_unit_test(a_paused_pipeline_applies_events_and_decides_no_pod),
		LAB_TEST(parcels_are_used_again_without_what_they_held),
		LAB_TEST(kept_events_stay_below_the_limit),
		cmocka_unit_test(watch_events_of_a_source_keep_their_order_on_any_ingestion_thread),
		cmocka_unit_test(a_busy_source_does_not_keep_another_waiting),
		LAB_TEST(a_full_ring_refuses_and_waits_and_loses_nothing),
		LAB_TEST(objects_that_exceed_memory_stay_with_their_source),
		LAB_TEST(no_pod_is_popped_while_memory_is_short_for_its_binding),
		LAB_TEST(bindings_in_flight_stay_below_the_limit),
		cmocka_unit_test(no_pod_is_popped_while_the_binder_has_no_room),
		cmocka_unit_test(a_limit_that_is_zero_is_refused_by_its_name),
		LAB_TEST(events_in_flight_are_freed_at_the_end),
		cmocka_unit_test(decisions_are_polled_in_order_and_no_pod_is_popped_meanwhile),
		cmocka_unit_test(threads_do_what_one_does_and_drain),
		cmocka_unit_test(a_stop_that_abandons_frees_what_is_on_its_way),
		cmocka_unit_test(a_drain_that_cannot_end_is_given_up),
		LAB_TEST(visitors_see_the_engine_between_cycles),
		cmocka_unit_test(a_thread_that_hangs_is_named_and_does_not_hang_the_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
