/* SPDX-License-Identifier: Apache-2.0
 * A pod's turn, or that of a PodGroup's pods: they are decided, and what came of it is said and counted.
 */
#include "engine/base/mem.h"
#include "tools/simulate/run_int.h"

/* What was against a pod of a group. */
struct bt_run_note {
	uint32_t pod_ix;
	struct bt_queue_info info; /* how it waited */
	size_t from, len;	   /* in the group's text */
};

void bt_run_use(struct bt_run *run, uint32_t pod_ix, double sign)
{
	struct bt_amounts used = bt_run_pod(run, pod_ix)->signature->requests.used;

	run->uses[BT_RESOURCE_MAX].now += sign;
	for (uint32_t i = 0; i < used.n; i++) {
		run->uses[used.items[i].slot].now += sign * (double)used.items[i].amount;
	}
}

/* Has a pod explained that the user wants to see. */
static void look(struct bt_run *run, uint32_t pod_ix)
{
	const struct bt_intern *intern = bt_engine_cache(run->engine)->dictionary->intern;
	const struct bt_pod *pod = bt_run_pod(run, pod_ix);
	struct bt_str namespace_ = bt_intern_str(intern, pod->signature->namespace_);
	struct bt_str name = bt_intern_str(intern, pod->name);

	for (size_t i = 0; i < run->watch_n; i++) {
		struct bt_str wanted = run->watches[i].pod;
		size_t slash = bt_str_find(wanted, '/', 0);

		if (!run->watches[i].seen && bt_str_eq(bt_str_sub(wanted, 0, slash), namespace_) &&
			bt_str_eq(bt_str_sub(wanted, slash + 1, wanted.len), name)) {
			run->watches[i].seen = true;
			run->explain(run->context, pod_ix);
		}
	}
}

/* Does anybody want to read why a pod is not placed? */
static bool wants_messages(const struct bt_run *run)
{
	return run->decisions.output || run->api;
}

/* Says and counts a decision that has been carried out. info: of its pod, and nominated its
 * status.nominatedNodeName, both as they were before. */
static void note_decision(struct bt_run *run, const struct bt_decision *decision,
	const struct bt_queue_info *info, uint32_t nominated, struct bt_str message)
{
	if (decision->outcome == BT_PLACED) {
		bt_run_use(run, decision->pod_ix, 1);
	}
	bt_tally_decision(&run->tally, decision, info,
		info->entered_ns > run->begin_ns ? info->entered_ns : run->begin_ns, run->now_ns);
	bt_decision_log_decision(&run->decisions, decision, message);
	if (run->api) {
		bt_api_log_decision(run->api, decision, nominated, message);
	}
}

/* What refuses the pod is told before anything is carried out. */
static void decide(struct bt_run *run, uint32_t pod_ix)
{
	const struct bt_queue_info info = bt_queue_info(bt_engine_queue(run->engine), pod_ix);
	uint32_t nominated = bt_run_pod(run, pod_ix)->status_node;
	struct bt_str message = {.len = 0};
	struct bt_decision decision;

	look(run, pod_ix);
	bt_engine_begin(run->engine, pod_ix, &decision);
	if (wants_messages(run) && (decision.outcome == BT_REFUSED || decision.outcome == BT_FAILED)) {
		message = bt_messages_of(&run->messages, pod_ix);
	}
	bt_engine_end(run->engine, &decision);
	note_decision(run, &decision, &info, nominated, message);
}

/* ---- pods of a PodGroup ---- */

/* Keeps what was against a member of its own. */
static void note_member(void *context, struct bt_engine *engine, struct bt_decision *decision)
{
	struct bt_run *run = context;

	(void)engine;
	look(run, decision->pod_ix);
	run->notes = bt_mem_grow(run->notes, run->note_n, &run->note_cap, sizeof(*run->notes));
	struct bt_run_note *note = &run->notes[run->note_n++];

	*note = (struct bt_run_note){
		.pod_ix = decision->pod_ix,
		.info = bt_queue_info(bt_engine_queue(run->engine), decision->pod_ix),
		.from = run->group_text.len,
	};
	if (decision->outcome != BT_PLACED && wants_messages(run)) {
		bt_messages_add(&run->messages, decision->pod_ix, &run->group_text);
		note->len = run->group_text.len - note->from;
	}
}

static const struct bt_run_note *note_of(const struct bt_run *run, uint32_t pod_ix)
{
	static const struct bt_run_note none = {.from = 0};

	for (size_t i = 0; i < run->note_n; i++) {
		if (run->notes[i].pod_ix == pod_ix) {
			return &run->notes[i];
		}
	}
	return &none;
}

static struct bt_str text_of(const struct bt_run *run, const struct bt_run_note *note)
{
	return bt_str_sub(bt_buf_view(&run->group_text), note->from, note->from + note->len);
}

static void end_member(struct bt_run *run, const struct bt_group_decision *group, uint32_t i)
{
	const struct bt_group_member *member = &group->members[i];
	const struct bt_run_note *note = note_of(run, member->decision.pod_ix);
	struct bt_buf message = {0};

	if (wants_messages(run) && member->decision.outcome != BT_PLACED) {
		uint32_t culprit_ix = group->members[group->culprit].decision.pod_ix;

		bt_engine_group_message(run->engine, group, i, text_of(run, note),
			text_of(run, note_of(run, culprit_ix)), &message);
	}
	note_decision(run, &member->decision, &note->info, member->nominated, bt_buf_view(&message));
	bt_buf_fini(&message);
}

static void decide_group(struct bt_run *run, uint32_t pod_ix)
{
	const struct bt_group_watch watch = {note_member, run};
	struct bt_group_decision group;

	run->note_n = 0;
	bt_buf_clear(&run->group_text);
	bt_engine_decide_group(run->engine, pod_ix, &watch, &group);
	for (uint32_t i = 0; i < group.member_n; i++) {
		end_member(run, &group, i);
	}
}

void bt_run_turn(struct bt_run *run, uint32_t pod_ix)
{
	if (bt_engine_in_group(run->engine, pod_ix)) {
		decide_group(run, pod_ix);
	} else {
		decide(run, pod_ix);
	}
}
