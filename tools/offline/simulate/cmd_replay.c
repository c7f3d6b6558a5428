/* SPDX-License-Identifier: Apache-2.0
 * berth replay: plays a journal again and compares every decision.
 */
#include <inttypes.h>

#include "engine/base/clock.h"
#include "tools/cli/emit.h"
#include "tools/cli/entry.h"
#include "tools/cli/message.h"
#include "tools/cli/print.h"
#include "tools/format/input.h"
#include "tools/kube/objects/watch_event.h"
#include "tools/kube/config/config_file.h"
#include "tools/kube/config/recording.h"

#define SCHEMA "berth.replay/v1"

struct replay {
	struct bt_invocation *invocation;
	const char *path;
	struct bt_config config;
	struct bt_watch_event_maker maker;
	struct bt_replay_result result;
	struct bt_buf text; /* what is wrong */
	enum bt_status status;
	bool played;
	double took_s;
};

static void print_line(const struct replay *r, const char *what)
{
	bt_message("berth replay: %s: %s\n", r->path, what);
}

static void cmd_replay_diagnose(void *context, const struct bt_diagnosis *diagnosis)
{
	struct bt_buf text = {0};

	(void)context;
	bt_diagnosis_text(diagnosis, &text);
	bt_message("berth replay: %s\n", text.ptr);
	bt_buf_fini(&text);
}

/* Replays a journal with a valid header. */
static void play(struct replay *r, struct bt_str bytes)
{
	const struct bt_replay_options options = {.config = &r->config,
		.codec = bt_journal_json(&r->maker),
		.workers = (uint32_t)bt_invocation_number(r->invocation, "workers")};
	int64_t begin_ns = bt_clock_monotonic_ns();

	r->status = bt_journal_replay(bytes, &options, &r->result, &r->text);
	r->took_s = (double)(bt_clock_monotonic_ns() - begin_ns) / 1e9;
	r->played = true;
}

static int open_and_play(struct replay *r, struct bt_str bytes)
{
	struct bt_journal_reader reader;
	struct bt_journal_header header;

	if (bt_journal_open(bytes, &reader, &header, &r->text) != BT_OK ||
		bt_recording_config(header.config, &r->config, &r->text) != BT_OK) {
		print_line(r, r->text.ptr);
		return BT_EXIT_INPUT;
	}
	play(r, bytes);
	if (r->status == BT_OK) {
		return BT_EXIT_OK;
	}
	print_line(r, r->text.ptr);
	return r->status == BT_CONFLICT ? BT_EXIT_NO : BT_EXIT_INPUT;
}

static const char *verdict_of(const struct replay *r)
{
	if (r->status == BT_OK) {
		return "all decisions match the journal";
	}
	return r->result.differs ? "a decision differs" : "the journal could not be played to its end";
}

static int report(const struct replay *r)
{
	const struct bt_replay_result *result = &r->result;
	struct bt_emit *emit = bt_emit_create();

	bt_emit_text(emit, "schema", SCHEMA);
	bt_emit_text(emit, "journal", r->path);
	bt_emit_text(emit, "verdict", verdict_of(r));
	if (r->status != BT_OK) {
		bt_emit_text(emit, "reason", r->text.ptr);
		bt_emit_count(emit, "offset", "at byte", result->offset);
	}
	bt_emit_text(emit, "kubernetes", r->config.gates.release->version);
	bt_emit_count(emit, "decisions", "decisions compared", result->decision_n);
	bt_emit_count(emit, "placed", "  of pods that were placed", result->placed_n);
	bt_emit_count(emit, "applied", "objects shown", result->apply_n);
	bt_emit_count(emit, "deleted", "objects gone", result->delete_n);
	bt_emit_count(emit, "answers", "answers of the binder", result->answer_n);
	bt_emit_count(emit, "clock_readings", "clock readings", result->time_n);
	bt_emit_real(emit, "seconds", r->took_s, 3);
	return bt_print_report(emit, r->invocation);
}

int bt_cmd_replay(struct bt_invocation *invocation)
{
	struct replay r = {.invocation = invocation, .path = invocation->operands[0]};
	struct bt_input *input = bt_input_create(cmd_replay_diagnose, NULL);
	struct bt_input_file file;
	int status = BT_EXIT_INPUT, written = BT_EXIT_OK;

	bt_watch_event_maker_init(&r.maker);
	if (bt_configuration_plugins(invocation) == BT_EXIT_OK && bt_input_add(input, r.path) == BT_OK &&
		bt_input_next(input, &file)) {
		status = open_and_play(&r, file.text);
	}
	if (r.played) {
		written = report(&r);
	}
	bt_watch_event_maker_fini(&r.maker);
	bt_config_fini(&r.config);
	bt_buf_fini(&r.text);
	bt_input_destroy(input);
	return status == BT_EXIT_OK ? written : status;
}
