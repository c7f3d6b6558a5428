/* SPDX-License-Identifier: Apache-2.0
 * Replays journals. Records take the same path as events, answers and clock readings in a pipeline, and every
 * decision is compared with the journal's.
 */
#include <inttypes.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/base/varint.h"
#include "engine/flow/pipeline/replay_int.h"

void bt_replay_note_decision(struct bt_journal_player *r, const struct bt_decision *decision)
{
	if (r->options->follow.judged) {
		return;
	}
	bt_journal_write_decision(bt_pipeline_engine(r->pipeline), decision, &r->bodies);
	r->ends = bt_mem_grow(r->ends, r->end_n, &r->end_cap, sizeof(*r->ends));
	r->ends[r->end_n++] = r->bodies.len;
}

bool bt_replay_follows(const struct bt_journal_player *r)
{
	return r && r->options->follow.judged;
}

bool bt_replay_evicts_at_once(const struct bt_journal_player *r)
{
	return r->header.evicts_at_once;
}

void bt_replay_note_eviction(const struct bt_journal_player *r, uint32_t pod_ix)
{
	const struct bt_replay_observer *observer = &r->options->observer;

	if (observer->evicts) {
		observer->evicts(observer->context, pod_ix);
	}
}

/* A binder without effect: a replay calls no binder. */
static void ignore_request(void *context, struct bt_pipeline *pipeline, const struct bt_bind_request *request)
{
	(void)context;
	(void)pipeline;
	(void)request;
}

/* ---- extenders repeat their recorded answers ---- */

static void repeat(struct bt_journal_player *r, enum bt_extender_verb verb,
	const struct bt_extender_call *call, struct bt_extender_reply *reply)
{
	uint32_t extender_ix = (uint32_t)(call->extender - r->options->config->extenders);
	struct bt_journal_record record = {.kind = BT_JOURNAL_END};
	struct bt_buf error = {0};

	while (!r->lost && record.kind != BT_JOURNAL_EXTENDER) {
		r->lost = bt_journal_next(&r->extenders, &record, &error) != BT_OK;
	}
	bt_buf_fini(&error);
	r->lost = r->lost || !bt_extender_repeat(reply, verb, extender_ix, record.body);
	if (r->lost) {
		bt_extender_fail(reply, bt_str("the journal has no answer"));
	}
}

static void replay_filter(void *context, const struct bt_extender_call *call, struct bt_extender_reply *reply)
{
	repeat(context, BT_EXTENDER_FILTER, call, reply);
}

static void prioritize(void *context, const struct bt_extender_call *calls, uint32_t n,
	struct bt_extender_reply *const *replies)
{
	for (uint32_t i = 0; i < n; i++) {
		repeat(context, BT_EXTENDER_PRIORITIZE, &calls[i], replies[i]);
	}
}

static void preempt(void *context, const struct bt_extender_call *call, struct bt_extender_reply *reply)
{
	repeat(context, BT_EXTENDER_PREEMPT, call, reply);
}

/* ---- the pipeline ---- */

static struct bt_pipeline_options options_of(struct bt_journal_player *r)
{
	const struct bt_journal_header *h = &r->header;
	const struct bt_replay_observer *observer = &r->options->observer;
	const struct bt_extender_hooks extending = {
		.filter = replay_filter, .prioritize = prioritize, .preempt = preempt, .context = r};
	struct bt_limits limits = bt_limits_default();

	limits.tombstones = h->tombstones;
	limits.workers = r->options->workers ? r->options->workers : 1;
	return (struct bt_pipeline_options){
		.messages = r->options->follow.judged || (observer->sink && observer->sink->cycle_ended),
		.limits = limits,
		.sink = observer->sink ? *observer->sink : (struct bt_pipeline_sink){.context = NULL},
		.engine = {.seed = h->seed,
			.clock = h->has_clock ? bt_clock_virtual(&r->now_ns) : (struct bt_clock){0},
			.strict_order = h->strict_order,
			.no_backoff = h->no_backoff,
			.groups_by_events = h->groups_by_events,
			.evaluate_always = h->evaluate_always,
			.moves_pods = h->moves_pods,
			.status_is_shown = h->status_is_shown,
			.sampling = h->sampling,
			.observer = observer->queue ? *observer->queue
						    : (struct bt_queue_observer){.context = NULL},
			.extending = h->extends ? extending : (struct bt_extender_hooks){.filter = NULL},
			.plan_memory_bytes = r->options->plan_memory_bytes},
		.binder = {.bind = h->binds ? ignore_request : NULL,
			.evict = h->evicts ? ignore_request : NULL,
			.release = h->releases ? ignore_request : NULL},
	};
}

/* ---- records ---- */

/* The replay's next decision that has not been compared, or an empty string. */
static struct bt_str next_decision(const struct bt_journal_player *r)
{
	if (r->compared_n == r->end_n) {
		return (struct bt_str){0};
	}
	return bt_str_sub(bt_buf_view(&r->bodies), r->compared_n ? r->ends[r->compared_n - 1] : 0,
		r->ends[r->compared_n]);
}

static void append_decision(const char *label, struct bt_str body, struct bt_buf *out)
{
	bt_buf_text(out, label);
	if (body.len) {
		bt_journal_decision_text(body, out);
	} else {
		bt_buf_text(out, "nothing");
	}
}

static enum bt_status differ(struct bt_journal_player *r, const struct bt_journal_record *record,
	struct bt_str theirs, struct bt_str ours)
{
	r->result->differs = true;
	bt_buf_printf(&r->error, "at byte %zu, decision %" PRIu64, record->offset, r->result->decision_n + 1);
	append_decision(": the journal has ", theirs, &r->error);
	append_decision("; replayed is ", ours, &r->error);
	return BT_CONFLICT;
}

enum bt_status bt_replay_bad_record(
	struct bt_journal_player *r, const struct bt_journal_record *record, const char *what)
{
	bt_buf_printf(&r->error, "at byte %zu: %s", record->offset, what);
	return BT_INVALID;
}

static enum bt_status compare(struct bt_journal_player *r, const struct bt_journal_record *record)
{
	if (r->compared_n == r->end_n) {
		bt_buf_clear(&r->bodies);
		r->end_n = r->compared_n = 0;
		bt_pipeline_decide_one(r->pipeline);
		if (r->lost) {
			return bt_replay_bad_record(r, record,
				"an extender was called for this decision, and the journal has no answer to "
				"that");
		}
	}
	struct bt_str ours = next_decision(r);
	if (!bt_str_eq(ours, record->body)) {
		return differ(r, record, record->body, ours);
	}
	r->compared_n++;
	r->result->decision_n++;
	/* A pod that waits counts when its wait is over. */
	r->result->placed_n += ((uint8_t)record->body.ptr[0] & ~BT_JOURNAL_WAITED) == BT_PLACED;
	return BT_OK;
}

static enum bt_status show_object(
	struct bt_journal_player *r, const struct bt_journal_record *record, enum bt_watch_event_kind kind)
{
	const struct bt_journal_codec *codec = &r->options->codec;
	struct bt_arena arena = {0};
	struct bt_object object = {0};
	struct bt_taken taken;
	size_t before = r->error.len;

	bt_buf_printf(&r->error, "at byte %zu: ", record->offset);
	bool decoded = codec->decode(codec->context, record->body, &arena, &object, &r->error);
	if (decoded) {
		r->error.len = before;
		if (r->options->observer.shows) {
			r->options->observer.shows(
				r->options->observer.context, &object, kind == BT_WATCH_EVENT_DELETE);
		}
		(void)bt_pipeline_apply_object(
			r->pipeline, kind, &object, &taken); /* succeeds or fails as when it was recorded */
	}
	bt_arena_fini(&arena);
	if (!decoded) {
		return BT_INVALID;
	}
	r->result->apply_n += kind == BT_WATCH_EVENT_APPLY;
	r->result->delete_n += kind == BT_WATCH_EVENT_DELETE;
	return BT_OK;
}

static enum bt_status pass_time(struct bt_journal_player *r, const struct bt_journal_record *record)
{
	struct bt_str body = record->body;
	uint64_t what;
	int64_t more_ns;

	if (!r->header.has_clock || !bt_varint_get(&body, &what) || what > BT_TIME_START ||
		!bt_varint_get_signed(&body, &more_ns)) {
		return bt_replay_bad_record(r, record, "this is no time");
	}
	bt_pipeline_set_time(
		r->pipeline, bt_wrap_add(r->pipeline->now_ns, more_ns), (enum bt_journal_time)what);
	r->result->now_ns = r->pipeline->now_ns;
	r->result->time_n++;
	return BT_OK;
}

static enum bt_status give_answer(struct bt_journal_player *r, const struct bt_journal_record *record)
{
	bool eviction = record->kind == BT_JOURNAL_EVICTED || record->kind == BT_JOURNAL_EVICT_FAILED;
	bool yes = record->kind == BT_JOURNAL_BOUND || record->kind == BT_JOURNAL_EVICTED;
	struct bt_str body = record->body;
	uint32_t claim_n = 0;
	uint64_t number;
	bool good = bt_varint_get(&body, &number);

	while (good && body.len) {
		r->claims = bt_mem_grow(r->claims, claim_n, &r->claim_cap, sizeof(*r->claims));
		good = bt_journal_claim(&body, &r->claims[claim_n++]);
	}
	const struct bt_binding_answer answer = {.bound = yes, .claims = r->claims, .claim_n = claim_n};
	if (!good || !bt_bind_requests_answer(r->pipeline,
			     eviction ? BT_BIND_REQUEST_EVICT : BT_BIND_REQUEST_BIND, number, &answer)) {
		return bt_replay_bad_record(r, record, "an answer without a call");
	}
	r->result->answer_n++;
	return BT_OK;
}

static enum bt_status take_pod(struct bt_journal_player *r, const struct bt_journal_record *record)
{
	struct bt_str body = record->body;
	uint64_t pod_ix;

	if (!bt_varint_get(&body, &pod_ix) || pod_ix >= BT_NO_POD ||
		!bt_pipeline_schedule_pod(r->pipeline, (uint32_t)pod_ix)) {
		return bt_replay_bad_record(r, record, "a pod is taken that does not wait");
	}
	return BT_OK;
}

static enum bt_status play(struct bt_journal_player *r, const struct bt_journal_record *record)
{
	if (!r->options->follow.judged && record->kind != BT_JOURNAL_DECISION &&
		record->kind != BT_JOURNAL_EXTENDER && r->compared_n < r->end_n) {
		return differ(r, record, (struct bt_str){0}, next_decision(r));
	}
	switch (record->kind) {
	case BT_JOURNAL_APPLY:
		return show_object(r, record, BT_WATCH_EVENT_APPLY);
	case BT_JOURNAL_DELETE:
		return show_object(r, record, BT_WATCH_EVENT_DELETE);
	case BT_JOURNAL_TIME:
		return pass_time(r, record);
	case BT_JOURNAL_BOUND:
	case BT_JOURNAL_FAILED:
	case BT_JOURNAL_EVICTED:
	case BT_JOURNAL_EVICT_FAILED:
		return give_answer(r, record);
	case BT_JOURNAL_TAKEN: /* a follower takes each decision's pod */
		return r->options->follow.judged ? BT_OK : take_pod(r, record);
	case BT_JOURNAL_DECISION:
		return r->options->follow.judged ? bt_follow_decision(r, record) : compare(r, record);
	case BT_JOURNAL_EXTENDER: /* read when the extender is called */
		return BT_OK;
	case BT_JOURNAL_END:
		r->result->ended = true;
		return BT_OK;
	case BT_JOURNAL_HEADER:
		break;
	}
	return bt_replay_bad_record(r, record, "a record that is not known");
}

static enum bt_status play_all(struct bt_journal_player *r, struct bt_journal_reader *reader)
{
	struct bt_journal_record record;
	enum bt_status status = BT_OK;

	r->reader = reader;
	while (status == BT_OK && !r->result->ended) {
		r->result->offset = reader->offset;
		status = bt_journal_next(reader, &record, &r->error);
		if (status == BT_OK) {
			status = play(r, &record);
		}
	}
	if (status == BT_NOT_FOUND) {
		bt_buf_printf(
			&r->error, "at byte %zu: the journal breaks off without an end", reader->offset);
		return BT_TRUNCATED;
	}
	return status;
}

/* ---- replay ---- */

enum bt_status bt_journal_replay(struct bt_str bytes, const struct bt_replay_options *options,
	struct bt_replay_result *out_result, struct bt_buf *out_text)
{
	struct bt_journal_player r = {.options = options, .result = out_result};
	struct bt_config_errors errors = {0};
	struct bt_journal_reader reader;

	*out_result = (struct bt_replay_result){0};
	enum bt_status status = bt_journal_open(bytes, &reader, &r.header, &r.error);
	if (status == BT_OK) {
		const struct bt_pipeline_options made = options_of(&r);

		r.extenders = reader;
		r.now_ns = out_result->now_ns = r.header.begin_ns;
		r.pipeline = bt_pipeline_make(options->config, &made, &r, &errors);
		if (r.pipeline && options->observer.begins) {
			options->observer.begins(options->observer.context, r.pipeline);
		}
		status = r.pipeline ? play_all(&r, &reader) : BT_INVALID;
		if (r.pipeline && options->observer.ends) {
			options->observer.ends(options->observer.context);
		}
		if (!r.pipeline) {
			bt_config_errors_text(&errors, &r.error);
		}
	}
	bt_buf_str(out_text, bt_buf_view(&r.error));
	bt_pipeline_destroy(r.pipeline);
	bt_config_errors_fini(&errors);
	bt_buf_fini(&r.bodies);
	bt_buf_fini(&r.error);
	bt_mem_free(r.ends);
	bt_follow_fini(&r.following);
	bt_mem_free(r.claims);
	return status;
}
