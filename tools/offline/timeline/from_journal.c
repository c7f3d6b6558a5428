/* SPDX-License-Identifier: Apache-2.0
 * A timeline from a journal: its replay makes the same cycles, so it makes the same calls.
 */
#include <stdio.h>
#include <string.h>

#include "engine/flow/pipeline/pipeline.h"
#include "tools/cli/message.h"
#include "tools/format/input.h"
#include "tools/kube/config/config_file.h"
#include "tools/kube/config/recording.h"
#include "tools/kube/objects/watch_event.h"
#include "tools/offline/timeline/source.h"

struct replayed {
	struct bt_timeline *timeline;
	struct bt_engine *engine;
	struct bt_api_log api;
	struct bt_replay_result result; /* its clock is the timeline's */
	struct bt_config config;
	struct bt_watch_event_maker maker;
	struct bt_buf text;
	bool simulated; /* no binder and no API server */
	bool loaded;	/* all objects that were there at first have been shown */
};

bool bt_timeline_is_journal(const char *path)
{
	char head[sizeof(BT_JOURNAL_MAGIC) - 1];
	FILE *file = strcmp(path, "-") ? fopen(path, "rb") : NULL;
	bool is = file && fread(head, sizeof(head), 1, file) == 1 &&
		  !memcmp(head, BT_JOURNAL_MAGIC, sizeof(head));

	if (file) {
		fclose(file);
	}
	return is;
}

static void replay_begins(void *context, struct bt_pipeline *pipeline)
{
	struct replayed *r = context;

	r->engine = r->api.engine = bt_pipeline_engine(pipeline);
}

/* At the first cycle, or at the end: the API server sets the conditions of gated pods. */
static void end_loading(struct replayed *r)
{
	if (r->loaded) {
		return;
	}
	r->loaded = true;
	bt_timeline_loaded(r->timeline, r->result.now_ns);
	if (r->simulated) {
		bt_api_log_begin(&r->api);
	}
}

static void replay_ends(void *context)
{
	end_loading(context);
}

static void object_shown(void *context, const struct bt_object *object, bool deletes)
{
	struct replayed *r = context;

	if (object->kind != BT_KIND_POD || !bt_timeline_is_of(r->timeline, &object->pod)) {
		return;
	}
	if (deletes) {
		bt_timeline_deleted(r->timeline);
	} else {
		bt_timeline_shown(r->timeline, &object->pod);
	}
}

static void pod_evicted(void *context, uint32_t pod_ix)
{
	struct replayed *r = context;

	bt_api_log_evict(&r->api, pod_ix);
}

static void cycle_begins(void *context, uint32_t pod_ix)
{
	struct replayed *r = context;

	end_loading(r);
	bt_timeline_cycle_begins(r->timeline, pod_ix);
}

static void cycle_ended(void *context, const struct bt_decision *decision, const struct bt_queue_info *info,
	uint32_t nominated, struct bt_str message)
{
	struct replayed *r = context;

	(void)info;
	bt_api_log_decision(&r->api, decision, nominated, message);
}

static void pod_waits(void *context, uint32_t pod_ix, uint32_t node_ix)
{
	struct replayed *r = context;

	bt_api_log_waits(&r->api, pod_ix, node_ix);
}

static void pod_preempted(void *context, uint32_t victim_ix, uint32_t preemptor_ix, uint32_t node_ix)
{
	struct replayed *r = context;

	(void)preemptor_ix;
	(void)node_ix;
	bt_api_log_reject(&r->api, victim_ix);
}

static int replay_bytes(struct replayed *r, struct bt_str bytes)
{
	const struct bt_pipeline_sink sink = {.cycle_begins = cycle_begins,
		.cycle_ended = cycle_ended,
		.waits = pod_waits,
		.preempted = pod_preempted,
		.context = r};
	const struct bt_queue_observer queue = bt_timeline_queue_observer(r->timeline);
	const struct bt_replay_options options = {.config = &r->config,
		.codec = bt_journal_json(&r->maker),
		.observer = {replay_begins, replay_ends, object_shown, pod_evicted, r, &sink, &queue}};
	const struct bt_gates *gates = &r->config.gates;

	r->api.preempts_in_turn = !gates->on[BT_GATE_SCHEDULER_ASYNC_PREEMPTION];
	r->api.nominates_waiting = gates->on[BT_GATE_NOMINATED_NODE_NAME_FOR_EXPECTATION];
	return bt_journal_replay(bytes, &options, &r->result, &r->text) == BT_OK ? BT_EXIT_OK : BT_EXIT_INPUT;
}

static int replay_file(struct replayed *r, const char *path, struct bt_str bytes)
{
	struct bt_journal_reader reader;
	struct bt_journal_header header;
	int status = BT_EXIT_INPUT;

	if (bt_journal_open(bytes, &reader, &header, &r->text) == BT_OK &&
		bt_recording_config(header.config, &r->config, &r->text) == BT_OK) {
		r->simulated = !header.binds;
		status = replay_bytes(r, bytes);
	}
	if (status == BT_EXIT_OK && !r->timeline->known) {
		bt_buf_printf(&r->text, "the journal shows no pod %.*s/%.*s",
			BT_STR_ARG(r->timeline->namespace_), BT_STR_ARG(r->timeline->name));
		status = BT_EXIT_INPUT;
	}
	if (status != BT_EXIT_OK) {
		bt_message("berth timeline: %s: %s\n", path, r->text.ptr);
	}
	return status;
}

static void diagnose(void *context, const struct bt_diagnosis *diagnosis)
{
	struct bt_buf text = {0};

	(void)context;
	bt_diagnosis_text(diagnosis, &text);
	bt_message("berth timeline: %s\n", text.ptr);
	bt_buf_fini(&text);
}

int bt_timeline_from_journal(struct bt_timeline *timeline, const struct bt_invocation *invocation)
{
	const char *path = bt_invocation_input(invocation, 0);
	struct replayed r = {.timeline = timeline};
	struct bt_input *input = bt_input_create(diagnose, NULL);
	struct bt_input_file file;
	int status = BT_EXIT_INPUT;

	timeline->now_ns = r.api.now_ns = &r.result.now_ns;
	timeline->engine = &r.engine;
	r.api.observer = bt_timeline_call_observer(timeline);
	bt_watch_event_maker_init(&r.maker);
	if (bt_configuration_plugins(invocation) == BT_EXIT_OK && bt_input_add(input, path) == BT_OK &&
		bt_input_next(input, &file)) {
		status = replay_file(&r, path, file.text);
	}
	bt_watch_event_maker_fini(&r.maker);
	bt_api_log_fini(&r.api);
	bt_config_fini(&r.config);
	bt_buf_fini(&r.text);
	bt_input_destroy(input);
	timeline->engine = NULL;
	timeline->now_ns = NULL;
	return status;
}
