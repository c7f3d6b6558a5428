/* SPDX-License-Identifier: Apache-2.0
 * Histories: parsing them and playing their steps.
 */
#include "tools/offline/verdict/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/flow/cycle/group_cycle.h"
#include "tools/cli/json_write.h"
#include "tools/format/object_reader.h"
#include "tools/offline/verdict/queue_dump.h"

/* Between two writes of a history, so that no two pods enter the queue at the same time. */
#define TICK_NS INT64_C(1000000)

#define LONGEST_S 1000000 /* limit of a history, since each second costs time */

static const struct bt_field ref_fields[] = {
	{.name = BT_STR("apiVersion"),
		.type = BT_FIELD_STR,
		.offset = offsetof(struct bt_history_ref, api_version)},
	{.name = BT_STR("kind"), .type = BT_FIELD_STR, .offset = offsetof(struct bt_history_ref, kind)},
	{.name = BT_STR("name"), .type = BT_FIELD_STR, .offset = offsetof(struct bt_history_ref, name)},
	{.name = BT_STR("namespace"),
		.type = BT_FIELD_STR,
		.offset = offsetof(struct bt_history_ref, namespace_)},
};

static const struct bt_schema ref_schema = BT_SCHEMA(ref_fields, struct bt_history_ref);

static const struct bt_field cycle_fields[] = {
	{.name = BT_STR("failBind"),
		.type = BT_FIELD_BOOL,
		.offset = offsetof(struct bt_history_cycle, fail_bind)},
	{.name = BT_STR("pin"), .type = BT_FIELD_STR, .offset = offsetof(struct bt_history_cycle, pin)},
};

static const struct bt_schema cycle_schema = BT_SCHEMA(cycle_fields, struct bt_history_cycle);

#define STEP(field)	 offsetof(struct bt_history_step, field)
#define STEP_FLAG(field) BT_MEMBER(struct bt_history_step, field)

static const struct bt_field step_fields[] = {
	{.name = BT_STR("advance"), .type = BT_FIELD_RAW, .offset = STEP(advance)},
	{.name = BT_STR("create"), .type = BT_FIELD_RAW, .offset = STEP(create)},
	{.name = BT_STR("cycle"),
		.type = BT_FIELD_OBJECT,
		.offset = STEP(cycle),
		.flag = STEP_FLAG(cycles),
		.schema = &cycle_schema},
	{.name = BT_STR("cycleBegin"),
		.type = BT_FIELD_OBJECT,
		.offset = STEP(begin),
		.flag = STEP_FLAG(begins),
		.schema = &cycle_schema},
	{.name = BT_STR("cycleEnd"),
		.type = BT_FIELD_OBJECT,
		.offset = STEP(end),
		.flag = STEP_FLAG(ends),
		.schema = &cycle_schema},
	{.name = BT_STR("delete"),
		.type = BT_FIELD_OBJECT,
		.offset = STEP(delete_),
		.flag = STEP_FLAG(deletes),
		.schema = &ref_schema},
	{.name = BT_STR("update"), .type = BT_FIELD_RAW, .offset = STEP(update)},
};

static const struct bt_schema step_schema = BT_SCHEMA(step_fields, struct bt_history_step);

static const struct bt_field history_fields[] = {
	{.name = BT_STR("config"), .type = BT_FIELD_RAW, .offset = offsetof(struct bt_history, config)},
	{.name = BT_STR("featureGates"), .type = BT_FIELD_STR, .offset = offsetof(struct bt_history, gates)},
	{.name = BT_STR("id"), .type = BT_FIELD_STR, .offset = offsetof(struct bt_history, id)},
	{.name = BT_STR("note"), .type = BT_FIELD_STR, .offset = offsetof(struct bt_history, note)},
	{.name = BT_STR("objects"), .type = BT_FIELD_RAW, .offset = offsetof(struct bt_history, objects)},
	{.name = BT_STR("steps"),
		.type = BT_FIELD_ARRAY,
		.offset = offsetof(struct bt_history, steps),
		.count = BT_MEMBER(struct bt_history, step_n),
		.flag = BT_MEMBER(struct bt_history, has_steps),
		.schema = &step_schema},
};

static const struct bt_schema history_schema = BT_SCHEMA(history_fields, struct bt_history);

bool bt_history_read(struct bt_json *json, struct bt_arena *arena, struct bt_history *out_history,
	struct bt_buf *out_error)
{
	struct bt_decode decode = {.json = json, .arena = arena, .strict = true};

	*out_history = (struct bt_history){.release = bt_release_default()};
	if (!bt_schema_decode(&decode, &history_schema, out_history)) {
		bt_buf_printf(out_error, "%s%s%s", decode.error.path, decode.error.path[0] ? ": " : "",
			decode.error.message);
		return false;
	}
	if (out_history->objects.len == 0 || !out_history->has_steps) {
		bt_buf_text(out_error, "a history needs \"objects\" and \"steps\"");
		return false;
	}
	return true;
}

/* ---- playing ---- */

/* The reason of a pod of a group itself. */
struct cycle_note {
	uint32_t pod_ix;
	struct bt_str text;
};

/* A pod whose wait at Permit has ended. */
struct waited {
	struct bt_str pod, node, message; /* node empty: it is queued again */
};

/* A cycle in progress. */
struct cycle {
	bool on;
	struct bt_history_cycle how;
	uint32_t pod_ix;
	struct bt_str popped;
	struct bt_decision decision;
	struct bt_buf message;
	bool grouped; /* the pod is decided together with others, all of it when the cycle ends */
	struct cycle_note *notes;
	size_t note_n, note_cap;
};

struct player {
	struct bt_api api;
	bool texts; /* PostFilter's texts are written each time */
	bool elapsed;
	struct cycle cycle;
	struct bt_explanation explanation;
	struct bt_json_writer json;
	struct waited *waited; /* in this step */
	size_t waited_n, waited_cap;
	struct bt_buf *error; /* place and reason of an error */
	const char *remedy;
};

static struct bt_str node_name(const struct player *p, uint32_t node_ix)
{
	const struct bt_cache *cache = bt_engine_cache(p->api.cluster.engine);

	return bt_intern_str(cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name);
}

/* The pinned node when it is feasible, otherwise the first by name of the best. */
static uint32_t pick(const struct player *p)
{
	const struct bt_evaluation *evaluation = &p->explanation.evaluation;
	uint32_t best = 0;

	for (uint32_t i = 0; i < evaluation->feasible_n; i++) {
		struct bt_str name = node_name(p, evaluation->feasible[i]);
		bool alone = evaluation->feasible_n == 1;

		if (bt_str_eq(name, p->cycle.how.pin)) {
			return evaluation->feasible[i];
		}
		if (!alone &&
			(evaluation->totals[i] > evaluation->totals[best] ||
				(evaluation->totals[i] == evaluation->totals[best] &&
					bt_str_cmp(name, node_name(p, evaluation->feasible[best])) < 0))) {
			best = i;
		}
	}
	return evaluation->feasible[best];
}

/* Returns whether a pod could be popped. */
static bool history_begin(struct player *p, const struct bt_history_cycle *how)
{
	struct bt_engine *engine = p->api.cluster.engine;
	struct cycle *cycle = &p->cycle;
	uint32_t pod_ix = bt_engine_pop(engine);

	if (pod_ix == BT_NO_POD) {
		return false;
	}
	cycle->on = true;
	cycle->how = *how;
	cycle->pod_ix = pod_ix;
	cycle->popped = bt_queue_dump_key(&p->api, pod_ix);
	bt_buf_clear(&cycle->message);
	p->api.seen_n = 0;
	cycle->grouped = bt_engine_in_group(engine, pod_ix);
	if (cycle->grouped && bt_queue_is_group(bt_engine_queue(engine), pod_ix)) {
		cycle->popped = bt_queue_dump_group_key(&p->api, pod_ix);
	}
	if (cycle->grouped) {
		return true;
	}
	bt_api_see_pod(&p->api, pod_ix);
	bt_engine_explain(engine, pod_ix, &p->explanation);
	bt_engine_begin(engine, pod_ix, &cycle->decision);
	if (cycle->decision.outcome == BT_PLACED) {
		bt_engine_take_node(engine, &cycle->decision, pick(p));
	} else if (cycle->decision.outcome != BT_SKIPPED) {
		bt_buf_clear(&p->explanation.post_text); /* not computed yet */
		bt_engine_message(engine, &p->explanation, &cycle->message);
	}
	return true;
}

static void write_evicted(struct player *p)
{
	if (p->api.evicted_n == 0) {
		return;
	}
	bt_json_write_key(&p->json, "evicted");
	bt_json_write_begin_array(&p->json);
	for (size_t i = 0; i < p->api.evicted_n; i++) {
		bt_json_write_str(&p->json, p->api.evicted[i]);
	}
	bt_json_write_end(&p->json);
}

static void write_str(struct player *p, const char *key, struct bt_str value)
{
	if (value.len) {
		bt_json_write_key(&p->json, key);
		bt_json_write_str(&p->json, value);
	}
}

static void write_true(struct player *p, const char *key)
{
	bt_json_write_key(&p->json, key);
	bt_json_write_bool(&p->json, true);
}

/* Why a decided pod was not bound, in upstream's words; empty: it was. */
static void end_placed(struct player *p)
{
	struct cycle *cycle = &p->cycle;
	const struct bt_pod *pod =
		bt_ledger_pod(bt_engine_cache(p->api.cluster.engine)->ledger, cycle->pod_ix);

	if (pod->state != BT_POD_QUEUED && pod->signature->resize_node == BT_NAME_NONE) {
		bt_buf_printf(&cycle->message, "pod %.*s(%.*s) is in the cache, so can't be assumed",
			BT_STR_ARG(bt_intern_str(
				bt_engine_cache(p->api.cluster.engine)->dictionary->intern, pod->uid)),
			BT_STR_ARG(cycle->popped));
	}
	bt_engine_end(p->api.cluster.engine, &cycle->decision);
	if (cycle->decision.outcome == BT_FAILED) {
		bt_buf_str(&cycle->message, bt_engine_end_error(p->api.cluster.engine));
	}
	bt_buf_str(&cycle->message, bt_api_bind_error(&p->api, cycle->pod_ix));
}

static void add_text(struct cycle *cycle, struct bt_str text)
{
	if (text.len) {
		bt_buf_printf(&cycle->message, " %.*s", BT_STR_ARG(text));
	}
}

static void end_refused(struct player *p)
{
	struct bt_engine *engine = p->api.cluster.engine;
	struct cycle *cycle = &p->cycle;
	size_t plain_len = cycle->message.len;

	bt_engine_run_post_filter(engine, &cycle->decision);
	if (p->texts) {
		add_text(cycle, bt_engine_post_filter_text(engine));
	}
	cycle->decision.repeats = bt_str_eq(p->api.refusal_before, bt_buf_view(&cycle->message));
	bt_engine_end(engine, &cycle->decision);
	if (bt_engine_end_error(engine).len) {
		cycle->message.len = plain_len;
		add_text(cycle, bt_engine_end_error(engine));
	}
}

/* ---- pods that wait at Permit ---- */

static struct bt_str keep(struct player *p, struct bt_str text)
{
	return (struct bt_str){bt_arena_copy(&p->api.cluster.arena, text.ptr, text.len), text.len};
}

static void note_waited(struct player *p, uint32_t pod_ix, struct bt_str node, struct bt_str message)
{
	p->waited = bt_mem_grow(p->waited, p->waited_n, &p->waited_cap, sizeof(*p->waited));
	p->waited[p->waited_n++] =
		(struct waited){keep(p, bt_queue_dump_key(&p->api, pod_ix)), keep(p, node), keep(p, message)};
}

static void wait_ended(void *context, const struct bt_decision *decision, const struct bt_queue_info *info,
	uint32_t nominated, struct bt_str message)
{
	struct player *p = context;

	(void)info;
	(void)nominated;
	if (decision->outcome == BT_PLACED) {
		note_waited(p, decision->pod_ix, node_name(p, decision->node_ix),
			bt_api_bind_error(&p->api, decision->pod_ix));
	} else {
		note_waited(p, decision->pod_ix, (struct bt_str){.len = 0}, message);
	}
}

static bool repeats_refusal(void *context, uint32_t pod_ix, struct bt_str message)
{
	return bt_api_repeats_refusal(&((struct player *)context)->api, pod_ix, message);
}

static void write_waited(struct player *p)
{
	if (!p->waited_n) {
		return;
	}
	bt_json_write_key(&p->json, "group");
	bt_json_write_begin_array(&p->json);
	for (size_t i = 0; i < p->waited_n; i++) {
		const struct waited *waited = &p->waited[i];

		bt_json_write_begin_object(&p->json);
		write_str(p, "pod", waited->pod);
		bt_json_write_key(&p->json, "result");
		if (waited->node.len && !waited->message.len) {
			bt_json_write_str(&p->json, waited->node);
		} else {
			bt_json_write_null(&p->json);
		}
		write_str(p, "message", waited->message);
		bt_json_write_end(&p->json);
	}
	bt_json_write_end(&p->json);
	p->waited_n = 0;
}

/* ---- pods of a group ---- */

static void note_member(void *context, struct bt_engine *engine, struct bt_decision *decision)
{
	struct player *p = context;
	struct cycle *cycle = &p->cycle;

	bt_api_see_member(&p->api, decision->pod_ix);
	bt_engine_explain(engine, decision->pod_ix, &p->explanation);
	if (decision->outcome == BT_PLACED) {
		bt_engine_take_node(engine, decision, pick(p));
		return;
	}
	bt_buf_clear(&cycle->message);
	bt_engine_message(engine, &p->explanation, &cycle->message);
	cycle->notes = bt_mem_grow(cycle->notes, cycle->note_n, &cycle->note_cap, sizeof(*cycle->notes));
	cycle->notes[cycle->note_n++] = (struct cycle_note){decision->pod_ix,
		{bt_arena_copy(&p->api.cluster.arena, cycle->message.ptr, cycle->message.len),
			cycle->message.len}};
}

static uint32_t pick_tried(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	struct player *p = context;

	(void)node_ix;
	bt_engine_explain(engine, pod_ix, &p->explanation);
	return pick(p);
}

static struct bt_str note_of(const struct player *p, uint32_t pod_ix)
{
	for (size_t i = 0; i < p->cycle.note_n; i++) {
		if (p->cycle.notes[i].pod_ix == pod_ix) {
			return p->cycle.notes[i].text;
		}
	}
	return (struct bt_str){.len = 0};
}

static void write_member(struct player *p, const struct bt_group_decision *group, uint32_t i)
{
	const struct bt_decision *decision = &group->members[i].decision;
	struct bt_str failure = bt_api_bind_error(&p->api, decision->pod_ix);
	struct bt_buf message = {0};

	if (decision->outcome == BT_SKIPPED) {
		return;
	}
	bt_json_write_begin_object(&p->json);
	write_str(p, "pod", bt_queue_dump_key(&p->api, decision->pod_ix));
	bt_json_write_key(&p->json, "result");
	if (decision->outcome == BT_PLACED && failure.len == 0) {
		bt_json_write_str(&p->json, node_name(p, decision->node_ix));
	} else {
		bt_json_write_null(&p->json);
	}
	if (failure.len) {
		bt_buf_str(&message, failure);
	} else if (decision->outcome != BT_PLACED) {
		bt_engine_group_message(p->api.cluster.engine, group, i, note_of(p, decision->pod_ix),
			note_of(p, group->members[group->culprit].decision.pod_ix), &message);
	}
	write_str(p, "message", bt_buf_view(&message));
	if (decision->nominated_ix != BT_NO_NODE) {
		write_str(p, "nominated", node_name(p, decision->nominated_ix));
	}
	bt_json_write_end(&p->json);
	bt_buf_fini(&message);
}

static bool is_skipped(const struct bt_group_decision *group)
{
	bool all = true;

	for (uint32_t i = 0; i < group->member_n; i++) {
		all &= group->members[i].decision.outcome == BT_SKIPPED;
	}
	return all;
}

static void end_group(struct player *p)
{
	const struct bt_group_watch watch = {
		.decided = note_member, .tried = pick_tried, .context = p, .first_placement = true};
	struct bt_group_decision group;

	p->cycle.note_n = 0;
	bt_engine_decide_group(p->api.cluster.engine, p->cycle.pod_ix, &watch, &group);
	write_str(p, "popped", p->cycle.popped);
	if (is_skipped(&group)) {
		write_true(p, "skipped");
		return;
	}
	bt_json_write_key(&p->json, "group");
	bt_json_write_begin_array(&p->json);
	for (uint32_t i = 0; i < group.member_n; i++) {
		write_member(p, &group, i);
	}
	bt_json_write_end(&p->json);
	write_evicted(p);
}

static void history_end(struct player *p)
{
	struct cycle *cycle = &p->cycle;
	struct bt_decision *decision = &cycle->decision;
	enum bt_outcome outcome = decision->outcome;
	uint32_t node_ix = decision->node_ix;

	cycle->on = false;
	p->api.evicted_n = p->api.bind_error_n = 0;
	p->api.fail_bind = cycle->how.fail_bind;
	if (cycle->grouped) {
		end_group(p);
		return;
	}
	if (outcome == BT_PLACED) {
		end_placed(p);
	} else {
		end_refused(p);
	}
	if (!decision->waits) {
		bt_api_note_refusal(&p->api, cycle->pod_ix, bt_buf_view(&cycle->message));
	}
	write_str(p, "popped", cycle->popped);
	if (outcome == BT_SKIPPED) {
		write_true(p, "skipped");
		return;
	}
	bt_json_write_key(&p->json, "result");
	if (outcome == BT_PLACED && cycle->message.len == 0) {
		bt_json_write_str(&p->json, node_name(p, node_ix));
	} else {
		bt_json_write_null(&p->json);
	}
	write_str(p, "message", bt_buf_view(&cycle->message));
	if (decision->nominated_ix != BT_NO_NODE) {
		write_str(p, "nominated", node_name(p, decision->nominated_ix));
	}
	write_evicted(p);
}

/* ---- durations of cycles ---- */

struct outcome {
	uint64_t placed_n, victim_n;
};

static void count(const struct bt_decision *decision, struct outcome *sum)
{
	sum->placed_n += decision->outcome == BT_PLACED;
	sum->victim_n += decision->victim_n;
}

static void decide_popped(struct player *p, uint32_t pod_ix, struct outcome *out)
{
	struct bt_engine *engine = p->api.cluster.engine;
	struct bt_group_decision group;
	struct bt_decision alone;

	if (!bt_engine_in_group(engine, pod_ix)) {
		bt_engine_decide(engine, pod_ix, &alone);
		count(&alone, out);
		return;
	}
	bt_engine_decide_group(engine, pod_ix, NULL, &group);
	for (uint32_t i = 0; i < group.member_n; i++) {
		count(&group.members[i].decision, out);
	}
}

static void write_seconds(struct player *p, const char *key, int64_t ns)
{
	bt_json_write_key(&p->json, key);
	bt_json_write_real(&p->json, (double)ns / 1e9, 9);
}

static void write_count(struct player *p, const char *key, uint64_t n)
{
	bt_json_write_key(&p->json, key);
	bt_json_write_int(&p->json, (int64_t)n);
}

/* Time spent in the API is not counted. */
static void time_cycle(struct player *p)
{
	struct outcome outcome = {0};

	p->api.serving_ns = p->api.serving_cpu_ns = 0;
	p->api.timed = true;
	int64_t start_ns = bt_clock_monotonic_ns(), cpu_ns = bt_clock_thread_cpu_ns();
	uint32_t pod_ix = bt_engine_pop(p->api.cluster.engine);

	if (pod_ix == BT_NO_POD) {
		write_true(p, "empty");
		return;
	}
	decide_popped(p, pod_ix, &outcome);
	cpu_ns = bt_clock_thread_cpu_ns() - cpu_ns - p->api.serving_cpu_ns;
	write_seconds(p, "elapsed", bt_clock_monotonic_ns() - start_ns - p->api.serving_ns);
	write_seconds(p, "cpu", cpu_ns);
	write_count(p, "placed", outcome.placed_n);
	write_count(p, "victims", outcome.victim_n);
}

static bool play_cycle(struct player *p, const struct bt_history_step *step)
{
	if (p->elapsed && step->cycles) {
		time_cycle(p);
		return true;
	}
	if (step->ends) {
		if (p->cycle.on) {
			history_end(p);
		} else {
			write_true(p, "empty");
		}
		return true;
	}
	if (p->cycle.on) {
		p->remedy = "end it with cycleEnd first";
		bt_buf_text(p->error, "a cycle is already under way");
		return false;
	}
	if (!history_begin(p, step->cycles ? &step->cycle : &step->begin)) {
		write_true(p, "empty");
	} else if (step->cycles) {
		history_end(p);
	} else {
		write_str(p, "popped", p->cycle.popped);
	}
	return true;
}

/* Seconds, to the millisecond. */
static bool advance(struct player *p, struct bt_str text)
{
	char digits[64];
	char *behind;

	snprintf(digits, sizeof(digits), "%.*s", BT_STR_ARG(text));
	double seconds = strtod(digits, &behind);
	if (*behind || !(seconds >= 0 && seconds <= LONGEST_S)) {
		p->remedy = "write seconds, from 0 to 1000000";
		bt_buf_printf(p->error, "%.64s is no number of seconds", digits);
		return false;
	}
	if (seconds > LONGEST_S - (double)((p->api.now_ns - BT_API_EPOCH_NS) / BT_QUEUE_SECOND)) {
		p->remedy = "let less time pass, or begin another history";
		bt_buf_printf(p->error, "more than %d seconds pass in all", LONGEST_S);
		return false;
	}
	bt_api_advance(&p->api, (int64_t)llround(seconds * 1000) * TICK_NS);
	return true;
}

/* The member of a step, or NULL when it has none or several. */
static const char *name_of(const struct bt_history_step *step)
{
	const struct {
		bool there;
		const char *name;
	} members[] = {
		{step->create.len, "create"},
		{step->update.len, "update"},
		{step->deletes, "delete"},
		{step->advance.len, "advance"},
		{step->cycles, "cycle"},
		{step->begins, "cycleBegin"},
		{step->ends, "cycleEnd"},
	};
	const char *name = NULL;
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		name = members[i].there ? members[i].name : name;
		n += members[i].there;
	}
	return n == 1 ? name : NULL;
}

static bool write_object(struct player *p, const struct bt_history_step *step)
{
	enum bt_status status;

	p->remedy = "write an object as kubectl get -o json shows it";
	if (step->create.len) {
		status = bt_api_create(&p->api, step->create, p->error);
	} else if (step->update.len) {
		status = bt_api_update(&p->api, step->update, p->error);
	} else if (step->delete_.kind.len == 0 || step->delete_.name.len == 0) {
		p->remedy = "name the object: kind, name, and namespace when it has one";
		bt_buf_text(p->error, "no kind, or no name");
		return false;
	} else {
		status = bt_api_delete(
			&p->api, step->delete_.kind, step->delete_.namespace_, step->delete_.name);
	}
	if (status == BT_NOT_FOUND) {
		write_true(p, "missing");
	}
	if (status == BT_EXISTS) {
		p->remedy = "update it, delete it first, or give the new one another name";
	}
	return status == BT_OK || status == BT_NOT_FOUND;
}

static bool play_step(struct player *p, const struct bt_history_step *step)
{
	if (step->cycles || step->begins || step->ends) {
		return play_cycle(p, step);
	}
	return step->advance.len ? advance(p, step->advance) : write_object(p, step);
}

/* Prefixes an error with its place. Returns false. */
static bool fail_at(struct player *p, const char *array, uint32_t i, const char *member)
{
	struct bt_buf text = {0};

	bt_buf_printf(&text, "%s[%u]%s%s: %.*s", array, i, member[0] ? "." : "", member,
		BT_STR_ARG(bt_buf_view(p->error)));
	bt_buf_fini(p->error);
	*p->error = text;
	return false;
}

static bool play_steps(struct player *p, const struct bt_history *history)
{
	for (uint32_t i = 0; i < history->step_n; i++) {
		const char *name = name_of(&history->steps[i]);

		if (!name) {
			p->remedy = "a step holds one of create, update, delete, advance, cycle, cycleBegin, "
				    "cycleEnd";
			bt_buf_text(p->error, "the step holds nothing, or several things");
			return fail_at(p, "steps", i, "");
		}
		bt_api_advance(&p->api, TICK_NS);
		bt_json_write_begin_object(&p->json);
		if (!play_step(p, &history->steps[i])) {
			return fail_at(p, "steps", i, name);
		}
		write_waited(p);
		if (!p->elapsed) {
			bt_queue_dump(&p->api, &p->json);
		}
		bt_json_write_end(&p->json);
	}
	return true;
}

static bool create_all(struct player *p, struct bt_str objects, struct bt_arena *arena)
{
	struct bt_json *json = bt_json_create();
	bool fine = true;

	bt_json_begin(json, objects, arena);
	if (!bt_json_enter_array(json)) {
		p->remedy = "write the objects as a JSON array";
		bt_buf_text(p->error, "objects: not an array");
		fine = false;
	}
	for (uint32_t i = 0; fine && bt_json_next_element(json); i++) {
		struct bt_history_step step = {0};

		bt_api_advance(&p->api, TICK_NS);
		fine = (bt_json_raw(json, &step.create) && write_object(p, &step)) ||
		       fail_at(p, "objects", i, "");
	}
	bt_json_destroy(json);
	return fine;
}

/* Prefixes an error with the history's ID. */
static void prefix_history(const struct bt_history *history, struct bt_buf *error)
{
	struct bt_buf text = {0};

	bt_buf_printf(&text, "history %.*s: %.*s", BT_STR_ARG(history->id), BT_STR_ARG(bt_buf_view(error)));
	bt_buf_fini(error);
	*error = text;
}

bool bt_history_play(const struct bt_history *history, struct bt_buf *out_line, struct bt_buf *out_error,
	const char **out_remedy)
{
	bool by_columns = history->by_columns || history->elapsed;
	struct player p = {.texts = !by_columns,
		.elapsed = history->elapsed,
		.json = {.out = out_line},
		.error = out_error,
		.remedy = "correct the configuration or the feature gates"};
	struct bt_arena arena = {0};
	const struct bt_api_options how = {history->release, history->config, history->gates, by_columns,
		{.ended = wait_ended, .repeats = repeats_refusal, .context = &p}};
	bool fine = bt_api_open(&p.api, &how, out_error) == BT_OK;

	bt_json_write_begin_object(&p.json);
	write_str(&p, "id", history->id);
	bt_json_write_key(&p.json, "steps");
	bt_json_write_begin_array(&p.json);
	fine = fine && create_all(&p, history->objects, &arena) && play_steps(&p, history);
	if (fine) {
		bt_json_write_end(&p.json);
		bt_json_write_end(&p.json);
		bt_buf_char(out_line, '\n');
	} else {
		*out_remedy = p.remedy;
		if (history->id.len) {
			prefix_history(history, out_error);
		}
	}
	bt_explanation_fini(&p.explanation);
	bt_buf_fini(&p.cycle.message);
	bt_mem_free(p.cycle.notes);
	bt_mem_free(p.waited);
	bt_arena_fini(&arena);
	bt_api_close(&p.api);
	return fine;
}
