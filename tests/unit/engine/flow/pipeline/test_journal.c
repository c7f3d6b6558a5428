/* SPDX-License-Identifier: Apache-2.0
 * A journal replays to the same decisions; a damaged one is reported with its place, after the records
 * before it were replayed.
 */
#include "lab.h"

#include <dirent.h>

#include "engine/base/thread.h"
#include "tools/kube/objects/watch_event.h"

/* A lab with a journal in memory. */
struct studio {
	struct lab lab;
	struct bt_journal *journal;
	struct bt_buf bytes;
	uint32_t asked_n; /* calls of extenders */
	bool extended;	  /* the profile has extenders */
};

static bool write_bytes(void *context, const char *bytes, size_t n)
{
	bt_buf_add(context, bytes, n);
	return true;
}

/* Succeeds only on the journal's own thread. */
static bool write_bytes_apart(void *context, const char *bytes, size_t n)
{
	return strcmp(bt_thread_name(), "journal") == 0 && write_bytes(context, bytes, n);
}

static bool refuse_bytes(void *context, const char *bytes, size_t n)
{
	(void)context;
	(void)bytes;
	(void)n;
	return false;
}

/* ---- extenders with varying responses, which only a journal can replay ---- */

static const struct bt_extender_config extenders[] = {
	{.url_prefix = BT_STR("http://a"), .prioritize_verb = BT_STR("p"), .weight = 2},
	{.url_prefix = BT_STR("http://b"),
		.filter_verb = BT_STR("f"),
		.prioritize_verb = BT_STR("p"),
		.preempt_verb = BT_STR("e"),
		.weight = 1,
		.ignorable = true}};

static struct bt_str node_name(const struct bt_extender_call *call, uint32_t node_ix)
{
	return bt_intern_str(
		call->cache->dictionary->intern, call->cache->view.snapshot->nodes[node_ix].name);
}

static void filter(void *context, const struct bt_extender_call *call, struct bt_extender_reply *reply)
{
	struct studio *s = context;
	uint32_t nth = s->asked_n++;

	for (uint32_t i = 0; i < call->node_n; i++) {
		if ((i + nth) % 3) {
			bt_extender_keep(reply, node_name(call, call->nodes[i]));
		} else {
			bt_extender_refuse(reply, node_name(call, call->nodes[i]), nth % 2, bt_str("no"));
		}
	}
	if (nth % 4 == 1) {
		bt_extender_keep_objects(reply);
	}
	if (nth % 7 == 6) {
		bt_extender_fail(reply, bt_str("out of order"));
	}
}

static void prioritize(void *context, const struct bt_extender_call *calls, uint32_t n,
	struct bt_extender_reply *const *replies)
{
	struct studio *s = context;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t nth = s->asked_n++, node_ix = calls[i].nodes[nth % calls[i].node_n];

		bt_extender_score(replies[i], node_name(&calls[i], node_ix), nth % 11);
	}
}

static void preempt(void *context, const struct bt_extender_call *call, struct bt_extender_reply *reply)
{
	struct studio *s = context;
	uint32_t c = s->asked_n++ % call->candidate_n;
	const struct bt_preempt_candidate *candidate = &call->candidates[c];
	const struct bt_cache *cache = call->cache;

	bt_extender_candidate(reply, node_name(call, candidate->node_ix), 0);
	for (uint32_t i = 0; i < candidate->cost.victim_n; i++) {
		uint32_t pod_ix = call->victims[candidate->first_victim + i].pod_ix;

		bt_extender_victim(reply,
			bt_intern_str(cache->dictionary->intern, bt_ledger_pod(cache->ledger, pod_ix)->uid));
	}
}

static void extend(const struct studio *s, struct bt_config *config)
{
	union {
		const struct bt_extender_config *from;
		struct bt_extender_config *to;
	} items = {.from = extenders};

	if (s->extended) {
		config->extenders = items.to;
		config->extender_n = 2;
	}
}

/* ring_bytes: of the journal's options. */
static void begin_with(struct studio *s, uint32_t ring_bytes)
{
	const struct bt_journal_options journal = {.write = ring_bytes ? write_bytes_apart : write_bytes,
		.context = &s->bytes,
		.codec = bt_journal_json(NULL),
		.config = BT_STR("the configuration"),
		.buffer_bytes = 100,
		.ring_bytes = ring_bytes};
	struct bt_pipeline_options options = lab_options(&s->lab);

	s->lab.now_ns = 5 * LAB_SECOND;
	s->journal = bt_journal_create(&journal);
	options.journal = s->journal;
	options.engine.moves_pods = true;
	if (s->extended) {
		options.engine.extending = (struct bt_extender_hooks){
			.filter = filter, .prioritize = prioritize, .preempt = preempt, .context = s};
	}
	bt_config_init_default(&s->lab.config, NULL);
	extend(s, &s->lab.config);
	lab_open(&s->lab, &options);
}

static void begin(struct studio *s)
{
	begin_with(s, 0);
}

static void end(struct studio *s)
{
	assert_int_equal(bt_journal_finish(s->journal), BT_OK);
	bt_journal_destroy(s->journal);
	lab_end(&s->lab);
}

static enum bt_status replay(const struct studio *s, struct bt_str bytes, struct bt_replay_result *out_result,
	struct bt_buf *out_text)
{
	struct bt_watch_event_maker maker;
	struct bt_config config;

	bt_config_init_default(&config, NULL);
	extend(s, &config);
	bt_watch_event_maker_init(&maker);
	const struct bt_replay_options options = {.config = &config, .codec = bt_journal_json(&maker)};
	enum bt_status status = bt_journal_replay(bytes, &options, out_result, out_text);
	bt_watch_event_maker_fini(&maker);
	bt_config_fini(&config);
	return status;
}

/* A history with everything in it: failures, lost answers, evictions, conflicts. */
static void play(struct lab *lab)
{
	lab_node(lab, "n1");
	lab_node(lab, "n2");
	for (int i = 0; i < 5; i++) {
		char name[16], meta[64];

		snprintf(name, sizeof(name), "p%d", i);
		snprintf(meta, sizeof(meta), ", 'uid': 'u%d', 'resourceVersion': '%d'", i, i + 1);
		lab_pod(lab, name, meta);
	}
	lab_settle(lab);
	assert_int_equal(bt_pipeline_bound(lab->pipeline, lab->bind_requests[0].handle), BT_OK);
	assert_int_equal(
		bt_pipeline_bind_failed(lab->pipeline, lab->bind_requests[1].handle, bt_str("no")), BT_OK);
	lab_wait(lab, LAB_SECOND / 3);
	lab_pod_event(lab, BT_WATCH_EVENT_DELETE, "p2", ", 'uid': 'u2'", "");
	lab_pod(lab, "p3", ", 'uid': 'new', 'resourceVersion': '77'");
	lab_pod(lab, "p3", ", 'uid': 'u3', 'resourceVersion': '50'");
	lab_wait(lab, 3 * LAB_SECOND);
	for (uint32_t i = 2; i < lab->request_n; i++) {
		bt_pipeline_bound(lab->pipeline, lab->bind_requests[i].handle);
	}
	lab->answers = true;
	lab_wait(lab, 3 * LAB_SECOND);
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "high", ", 'uid': 'h'", ", 'priority': 7");
	lab_wait(lab, 3 * LAB_SECOND);
	for (uint32_t i = 2; i < lab->request_n; i++) {
		if (lab->bind_requests[i].verb == 'e') {
			bt_pipeline_evict_failed(lab->pipeline, lab->bind_requests[i].handle, bt_str("no"));
		}
	}
	lab_wait(lab, 3 * LAB_SECOND);
	assert_int_equal(lab_counts(lab).evict_again_n, 1);
	for (uint32_t i = 2; i < lab->request_n; i++) {
		if (lab->bind_requests[i].verb == 'e') {
			bt_pipeline_evicted(lab->pipeline, lab->bind_requests[i].handle);
			lab_pod_event(lab, BT_WATCH_EVENT_DELETE, lab->bind_requests[i].pod, "", "");
		}
	}
	lab_wait(lab, 100 * LAB_SECOND);
	lab_wait(lab, 100 * LAB_SECOND);
}

static void a_journal_replays_to_the_same_decisions(void **state)
{
	struct studio s = {.lab = {.now_ns = 0}};
	struct bt_replay_result result;
	struct bt_buf text = {0};

	(void)state;
	begin(&s);
	play(&s.lab);
	uint32_t decision_n = s.lab.decision_n;
	assert_true(decision_n > 7);
	end(&s);
	if (replay(&s, bt_buf_view(&s.bytes), &result, &text) != BT_OK) {
		fail_msg("%s", text.ptr);
	}
	assert_true(result.ended);
	assert_int_equal(result.decision_n, decision_n);
	assert_true(result.apply_n >= 8);
	assert_int_equal(result.delete_n, 2);
	assert_true(result.answer_n >= 4);
	bt_buf_fini(&text);
	bt_buf_fini(&s.bytes);
}

/* Nodes with ever new names; when they are deleted, they have pods, bound or being bound. */
static void play_turnover(struct lab *lab)
{
	const struct bt_snapshot *snapshot =
		bt_engine_cache(bt_pipeline_engine(lab->pipeline))->view.snapshot;
	char name[16], meta[64], spec[64];

	for (int i = 0; i < 120; i++) {
		lab->answers = i % 3 != 0;
		snprintf(name, sizeof(name), "n%d", i);
		lab_node(lab, name);
		for (int p = 0; p < 3; p++) {
			snprintf(name, sizeof(name), "p%d-%d", i, p);
			snprintf(meta, sizeof(meta), ", 'uid': 'u%d-%d'", i, p);
			/* One of them is on a node that does not exist yet. */
			snprintf(spec, sizeof(spec), ", 'nodeName': 'n%d'", i + 2);
			spec[p == 2 ? strlen(spec) : 0] = 0;
			lab_pod_event(lab, BT_WATCH_EVENT_APPLY, name, meta, spec);
		}
		lab_settle(lab);
		for (int p = 0; i >= 5 && p < 3; p++) {
			snprintf(name, sizeof(name), "p%d-%d", i - 5, p);
			lab_pod_event(lab, BT_WATCH_EVENT_DELETE, name, "", "");
		}
		snprintf(name, sizeof(name), "n%d", i - 4);
		if (i >= 4) {
			lab_node_event(lab, BT_WATCH_EVENT_DELETE, name, "");
		}
		lab_wait(lab, LAB_SECOND);
		lab_wait(lab, 20 * LAB_SECOND);
		/* Answers the remaining ones, if they are still open. */
		for (uint32_t a = 0; a < lab->request_n; a++) {
			(void)bt_pipeline_bound(lab->pipeline, lab->bind_requests[a].handle);
		}
		lab->request_n = lab->decision_n = 0;
	}
	assert_in_range(snapshot->slot_n, 4, 40);
	assert_true(lab_counts(lab).decided_n > 200);
}

/* The result of replaying the journal; its decisions are the same. */
static struct bt_replay_result replayed(void (*play_it)(struct lab *))
{
	struct studio s = {.lab = {.now_ns = 0}};
	struct bt_replay_result result;
	struct bt_buf text = {0};

	begin(&s);
	play_it(&s.lab);
	end(&s);
	if (replay(&s, bt_buf_view(&s.bytes), &result, &text) != BT_OK) {
		fail_msg("%s", text.ptr);
	}
	assert_true(result.ended);
	bt_buf_fini(&text);
	bt_buf_fini(&s.bytes);
	return result;
}

static void slots_that_nodes_have_after_others_are_the_same_again(void **state)
{
	(void)state;
	assert_true(replayed(play_turnover).placed_n > 150);
}

/* Most nodes are deleted, and their pods before or after them; the binder answers for some nodes that have
 * moved to other slots by then. */
static void play_exodus(struct lab *lab)
{
	struct bt_engine *engine = bt_pipeline_engine(lab->pipeline);
	char name[16], spec[64];

	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		lab_node(lab, name);
		snprintf(name, sizeof(name), "on-%d", i);
		snprintf(spec, sizeof(spec), ", 'nodeName': 'n%d'", i);
		lab_pod_event(lab, BT_WATCH_EVENT_APPLY, name, "", spec);
	}
	for (int i = 0; i < 60; i++) {
		lab->answers = i % 2;
		snprintf(name, sizeof(name), "p-%d", i);
		lab_pod(lab, name, "");
		lab_settle(lab);
		snprintf(name, sizeof(name), "on-%d", i);
		if (i % 7 && i % 3) {
			lab_pod_event(lab, BT_WATCH_EVENT_DELETE, name, "", "");
		}
		snprintf(name, sizeof(name), "n%d", i);
		if (i % 7) {
			lab_node_event(lab, BT_WATCH_EVENT_DELETE, name, "");
		}
		snprintf(name, sizeof(name), "on-%d", i);
		if (i % 7 && i % 3 == 0) {
			lab_pod_event(lab, BT_WATCH_EVENT_DELETE, name, "", "");
		}
		snprintf(name, sizeof(name), "p-%d", i - 4);
		if (i >= 4 && i % 8) {
			lab_pod_event(lab, BT_WATCH_EVENT_DELETE, name, "", "");
		}
		lab_wait(lab, LAB_SECOND);
		for (uint32_t a = 0; a < lab->request_n && i % 5 == 4; a++) {
			(void)bt_pipeline_bound(lab->pipeline, lab->bind_requests[a].handle);
		}
		lab->request_n = i % 5 == 4 ? 0 : lab->request_n;
		lab->decision_n = 0;
	}
	assert_true(bt_engine_counts(engine).node_move_n > 5);
	assert_in_range(bt_engine_cache(engine)->view.snapshot->slot_n, 9, 40);
}

static void nodes_are_moved_to_the_same_slots_again(void **state)
{
	(void)state;
	assert_true(replayed(play_exodus).placed_n >= 60);
}

static uint32_t index_of(struct lab *lab, const char *pod)
{
	return bt_engine_find_pod(bt_pipeline_engine(lab->pipeline), bt_str("default"), bt_str(pod));
}

/* Most nodes are deleted, then their pods, so that pods with open evictions, and pods in the
 * queue, move to other indices. */
static void play_decline(struct lab *lab)
{
	struct bt_engine *engine = bt_pipeline_engine(lab->pipeline);
	char name[16], meta[32], spec[32];

	for (int i = 0; i < 80; i++) {
		snprintf(name, sizeof(name), "n%d", i / 2);
		snprintf(spec, sizeof(spec), ", 'nodeName': '%s'", name);
		lab_node(lab, name);
		snprintf(name, sizeof(name), "on-%d", i);
		snprintf(meta, sizeof(meta), ", 'uid': 'u%d'", i);
		lab_pod_event(lab, BT_WATCH_EVENT_APPLY, name, meta, spec);
		lab_settle(lab);
	}
	for (int i = 0; i < 32; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		lab_node_event(lab, BT_WATCH_EVENT_DELETE, name, "");
		lab_settle(lab);
	}
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "high-%d", i);
		lab_pod_event(lab, BT_WATCH_EVENT_APPLY, name, "", ", 'priority': 7");
	}
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "low", "", ", 'priority': -1");
	lab_settle(lab);
	assert_int_equal(lab->request_n, 2);
	assert_true(lab->bind_requests[0].verb == 'e' && lab->bind_requests[1].verb == 'e');
	uint32_t low_ix = index_of(lab, "low");
	for (int i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "on-%d", i);
		lab_pod_event(lab, BT_WATCH_EVENT_DELETE, name, "", "");
		lab_take_in(lab);
	}
	assert_true(bt_engine_counts(engine).pod_move_n > 10);
	assert_true(index_of(lab, lab->bind_requests[0].pod) < 64 &&
		    index_of(lab, lab->bind_requests[1].pod) < 64);
	assert_true(index_of(lab, "low") < low_ix);
	assert_int_equal(bt_pipeline_evicted(lab->pipeline, lab->bind_requests[0].handle), BT_OK);
	assert_int_equal(
		bt_pipeline_evict_failed(lab->pipeline, lab->bind_requests[1].handle, bt_str("no")), BT_OK);
	lab_settle(lab);
	assert_true(lab_find(lab, lab->bind_requests[0].pod)->terminating);
	assert_int_equal(lab_counts(lab).evict_again_n, 1);
	lab_pod_event(lab, BT_WATCH_EVENT_DELETE, lab->bind_requests[0].pod, "", "");
	lab->answers = true;
	lab_wait(lab, 20 * LAB_SECOND);
	assert_int_equal(lab->bind_requests[3].verb, 'e'); /* the one that stayed is not the only choice */
	lab_pod_event(lab, BT_WATCH_EVENT_DELETE, lab->bind_requests[3].pod, "", "");
	lab_node(lab, "late");
	lab_wait(lab, 20 * LAB_SECOND);
	lab_assert_sets(lab, 0, 0, 14 + 3);
}

static void pods_are_moved_to_the_same_indices_again(void **state)
{
	(void)state;
	assert_int_equal(replayed(play_decline).placed_n, 3);
}

/* Most nodes are deleted, then their pods, by calls of the caller. */
static void play_departure(struct lab *lab)
{
	struct bt_engine *engine = bt_pipeline_engine(lab->pipeline);
	char name[16], spec[32];

	lab->answers = true;
	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		snprintf(spec, sizeof(spec), ", 'nodeName': '%s'", name);
		lab_node(lab, name);
		snprintf(name, sizeof(name), "on-%d", i);
		lab_pod_event(lab, BT_WATCH_EVENT_APPLY, name, "", spec);
		lab_settle(lab);
	}
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "n%d", (i * 7) % 60);
		lab_node_event(lab, BT_WATCH_EVENT_DELETE, name, "");
		lab_settle(lab);
	}
	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "on-%d", (i * 7) % 60);
		bt_pipeline_remove_pod(lab->pipeline, index_of(lab, name));
		if (i % 10 == 9) {
			snprintf(name, sizeof(name), "new-%d", i);
			lab_pod_event(lab, BT_WATCH_EVENT_APPLY, name, "", "");
			lab_settle(lab);
			lab->decision_n = 0;
		}
	}
	assert_true(bt_engine_counts(engine).node_move_n > 0);
	for (int i = 60; i < 90; i++) {
		snprintf(name, sizeof(name), "new-%d", i);
		lab_pod_event(lab, BT_WATCH_EVENT_APPLY, name, "", "");
		lab_settle(lab);
		lab->decision_n = 0;
	}
}

static void pods_that_the_caller_takes_away_leave_the_same_slots(void **state)
{
	(void)state;
	assert_true(replayed(play_departure).placed_n >= 10);
}

static void another_thread_writes_the_same_bytes(void **state)
{
	struct studio one = {.lab = {.now_ns = 0}}, two = {.lab = {.now_ns = 0}};

	(void)state;
	begin(&one);
	play(&one.lab);
	end(&one);
	begin_with(&two, 64);
	play(&two.lab);
	end(&two);
	assert_int_equal(one.bytes.len, two.bytes.len);
	assert_memory_equal(one.bytes.ptr, two.bytes.ptr, one.bytes.len);
	bt_buf_fini(&one.bytes);
	bt_buf_fini(&two.bytes);
}

/* Queries about a pod are not part of the journal. */
static void look_at(struct lab *lab, const char *name)
{
	struct bt_engine *engine = bt_pipeline_engine(lab->pipeline);
	struct bt_explanation explanation = {.pod_ix = 0};

	bt_engine_explain(engine, bt_engine_find_pod(engine, bt_str("default"), bt_str(name)), &explanation);
	bt_explanation_fini(&explanation);
}

static void play_extended(struct lab *lab)
{
	char name[16], meta[64];

	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		lab_node(lab, name);
	}
	lab->answers = true;
	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		snprintf(meta, sizeof(meta), ", 'uid': 'u%d', 'resourceVersion': '%d'", i, i + 1);
		lab_pod(lab, name, meta);
		lab_wait(lab, LAB_SECOND);
		look_at(lab, name);
	}
	lab_pod_event(lab, BT_WATCH_EVENT_APPLY, "high", ", 'uid': 'h'", ", 'priority': 7");
	for (int i = 0; i < 10; i++) {
		lab_wait(lab, 20 * LAB_SECOND);
	}
}

/* The journal without the records of one kind. */
static void leave_out(const struct studio *s, enum bt_journal_kind kind, struct bt_buf *out)
{
	struct bt_journal_reader reader;
	struct bt_journal_header header;
	struct bt_journal_record record;
	struct bt_str all = bt_buf_view(&s->bytes);
	struct bt_buf text = {0};

	assert_int_equal(bt_journal_open(all, &reader, &header, &text), BT_OK);
	assert_true(header.extends);
	bt_buf_str(out, bt_str_sub(all, 0, reader.offset));
	while (bt_journal_next(&reader, &record, &text) == BT_OK) {
		if (record.kind != kind) {
			bt_buf_str(out, bt_str_sub(all, record.offset, reader.offset));
		}
	}
	bt_buf_fini(&text);
}

static void extender_answers_are_replayed_without_calls(void **state)
{
	struct studio s = {.extended = true};
	struct bt_replay_result result;
	struct bt_buf text = {0}, without = {0};

	(void)state;
	begin(&s);
	play_extended(&s.lab);
	uint32_t asked_n = s.asked_n, evictions = 0;
	for (uint32_t i = 0; i < s.lab.request_n; i++) {
		evictions += s.lab.bind_requests[i].verb == 'e';
	}
	assert_true(asked_n > 30 && evictions > 0); /* each verb was called */
	end(&s);
	if (replay(&s, bt_buf_view(&s.bytes), &result, &text) != BT_OK) {
		fail_msg("%s", text.ptr);
	}
	assert_true(result.ended);
	assert_true(result.decision_n > 12);
	assert_int_equal(s.asked_n, asked_n);
	bt_buf_clear(&text);
	leave_out(&s, BT_JOURNAL_EXTENDER, &without);
	assert_int_equal(replay(&s, bt_buf_view(&without), &result, &text), BT_INVALID);
	assert_non_null(
		strstr(text.ptr, "an extender was called for this decision, and the journal has no answer"));
	assert_int_equal(result.decision_n, 0);
	bt_buf_fini(&without);
	bt_buf_fini(&s.bytes);
	bt_buf_fini(&text);
}

static void a_journal_without_a_clock_and_a_binder_replays_too(void **state)
{
	struct studio s = {.lab = {.now_ns = 0}};
	const struct bt_journal_options journal = {
		.write = write_bytes, .context = &s.bytes, .codec = bt_journal_json(NULL)};
	struct bt_pipeline_options options = lab_options(&s.lab);
	struct bt_replay_result result;
	struct bt_buf text = {0};

	(void)state;
	options.journal = s.journal = bt_journal_create(&journal);
	options.engine.clock = (struct bt_clock){0};
	options.binder = (struct bt_pipeline_binder){0};
	lab_begin(&s.lab, &options);
	lab_node(&s.lab, "n1");
	lab_pod(&s.lab, "p1", "");
	lab_pod(&s.lab, "p2", "");
	lab_pod(&s.lab, "p3", "");
	lab_settle(&s.lab);
	end(&s);
	assert_int_equal(replay(&s, bt_buf_view(&s.bytes), &result, &text), BT_OK);
	assert_int_equal(result.decision_n, 3);
	assert_int_equal(result.placed_n, 2);
	bt_buf_fini(&text);
	bt_buf_fini(&s.bytes);
}

/* Finds the decision records, by their kind byte; returns their number. */
static uint32_t find_decisions(struct bt_str bytes, struct bt_journal_record *out, uint32_t cap)
{
	struct bt_journal_reader reader;
	struct bt_journal_header header;
	struct bt_journal_record record;
	struct bt_buf error = {0};
	uint32_t n = 0;

	assert_int_equal(bt_journal_open(bytes, &reader, &header, &error), BT_OK);
	assert_true(bt_str_is(header.config, "the configuration"));
	while (bt_journal_next(&reader, &record, &error) == BT_OK) {
		if (record.kind == BT_JOURNAL_DECISION && n < cap) {
			out[n++] = record;
		}
	}
	bt_buf_fini(&error);
	return n;
}

static void a_decision_that_differs_is_shown_with_both(void **state)
{
	struct studio s = {.lab = {.now_ns = 0}};
	struct bt_journal_record decisions[4];
	struct bt_replay_result result;
	struct bt_buf text = {0}, other = {0};

	(void)state;
	begin(&s);
	lab_node(&s.lab, "n1");
	lab_pod(&s.lab, "p1", "");
	lab_pod(&s.lab, "p2", "");
	lab_settle(&s.lab);
	end(&s);
	assert_int_equal(find_decisions(bt_buf_view(&s.bytes), decisions, 4), 2);
	/* The same with the second decision's record in place of the first one's. */
	bt_buf_add(&other, s.bytes.ptr, decisions[0].offset);
	bt_buf_add(&other, s.bytes.ptr + decisions[1].offset, s.bytes.len - decisions[1].offset);
	assert_int_equal(replay(&s, bt_buf_view(&other), &result, &text), BT_CONFLICT);
	assert_true(result.differs);
	assert_int_equal(result.decision_n, 0);
	assert_int_equal(result.offset, decisions[0].offset);
	assert_non_null(strstr(text.ptr, "the journal has default/p2"));
	assert_non_null(strstr(text.ptr, "replayed is default/p1"));
	bt_buf_fini(&text);
	bt_buf_fini(&other);
	bt_buf_fini(&s.bytes);
}

static void a_journal_that_breaks_off_is_played_up_to_there(void **state)
{
	struct studio s = {.lab = {.now_ns = 0}};
	struct bt_journal_record decisions[4];
	struct bt_replay_result result;
	struct bt_buf text = {0};

	(void)state;
	begin(&s);
	lab_node(&s.lab, "n1");
	lab_pod(&s.lab, "p1", "");
	lab_pod(&s.lab, "p2", "");
	lab_settle(&s.lab);
	end(&s);
	find_decisions(bt_buf_view(&s.bytes), decisions, 4);
	for (size_t n = 0; n < s.bytes.len; n++) {
		bt_buf_clear(&text);
		enum bt_status status = replay(&s, bt_str_sub(bt_buf_view(&s.bytes), 0, n), &result, &text);
		assert_true(status == BT_TRUNCATED || (status == BT_INVALID && n < 12));
		assert_non_null(strstr(text.ptr, "byte"));
		assert_false(result.ended);
		assert_int_equal(
			result.decision_n, n >= decisions[1].offset ? 1 + (n >= s.bytes.len - 6) : 0);
	}
	bt_buf_fini(&text);
	bt_buf_fini(&s.bytes);
}

static void a_damaged_record_is_named_by_its_place(void **state)
{
	struct studio s = {.lab = {.now_ns = 0}};
	struct bt_replay_result result;
	struct bt_buf text = {0};

	(void)state;
	begin(&s);
	lab_node(&s.lab, "n1");
	lab_pod(&s.lab, "p1", "");
	lab_settle(&s.lab);
	end(&s);
	for (size_t at = 0; at < s.bytes.len; at++) {
		bt_buf_clear(&text);
		s.bytes.ptr[at] ^= 0x10;
		assert_int_not_equal(replay(&s, bt_buf_view(&s.bytes), &result, &text), BT_OK);
		assert_true(result.offset <= at);
		assert_true(text.len > 0);
		s.bytes.ptr[at] ^= 0x10;
	}
	bt_buf_fini(&text);
	bt_buf_fini(&s.bytes);
}

static void a_write_error_of_the_journal_is_reported_at_the_end(void **state)
{
	(void)state;
	for (uint32_t ring_bytes = 0; ring_bytes <= 64; ring_bytes += 64) {
		const struct bt_journal_options options = {
			.write = refuse_bytes, .codec = bt_journal_json(NULL), .ring_bytes = ring_bytes};
		struct bt_journal *journal = bt_journal_create(&options);

		bt_journal_begin(journal, &(struct bt_journal_header){.seed = 1});
		assert_int_equal(bt_journal_finish(journal), BT_IO);
		bt_journal_destroy(journal);
	}
}

/* The number of this process's threads, from the kernel. A sanitizer may have its own. */
static size_t count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	size_t n = 0;

	assert_non_null(tasks);
	for (const struct dirent *task; (task = readdir(tasks)) != NULL;) {
		n += task->d_name[0] != '.';
	}
	closedir(tasks);
	return n;
}

/* A process that sandboxes itself between the two sandboxes the journal's thread, too. */
static void a_journal_starts_its_thread_when_it_begins_and_not_before(void **state)
{
	struct bt_buf bytes = {0};
	const struct bt_journal_options options = {
		.write = write_bytes, .context = &bytes, .codec = bt_journal_json(NULL), .ring_bytes = 4096};
	size_t before = count_threads();
	struct bt_journal *journal = bt_journal_create(&options);

	(void)state;
	assert_int_equal(count_threads(), before);
	bt_journal_begin(journal, &(struct bt_journal_header){.seed = 1});
	assert_int_equal(count_threads(), before + 1);
	assert_int_equal(bt_journal_finish(journal), BT_OK);
	bt_journal_destroy(journal);
	assert_true(bytes.len > 0);
	bt_buf_fini(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_journal_replays_to_the_same_decisions),
		cmocka_unit_test(slots_that_nodes_have_after_others_are_the_same_again),
		cmocka_unit_test(nodes_are_moved_to_the_same_slots_again),
		cmocka_unit_test(pods_are_moved_to_the_same_indices_again),
		cmocka_unit_test(pods_that_the_caller_takes_away_leave_the_same_slots),
		cmocka_unit_test(another_thread_writes_the_same_bytes),
		cmocka_unit_test(extender_answers_are_replayed_without_calls),
		cmocka_unit_test(a_journal_without_a_clock_and_a_binder_replays_too),
		cmocka_unit_test(a_decision_that_differs_is_shown_with_both),
		cmocka_unit_test(a_journal_that_breaks_off_is_played_up_to_there),
		cmocka_unit_test(a_damaged_record_is_named_by_its_place),
		cmocka_unit_test(a_write_error_of_the_journal_is_reported_at_the_end),
		cmocka_unit_test(a_journal_starts_its_thread_when_it_begins_and_not_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
