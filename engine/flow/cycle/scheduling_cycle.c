/* SPDX-License-Identifier: Apache-2.0
 * Turns.
 */
#include "engine/flow/cycle/scheduling_cycle.h"

#include "engine/base/mem.h"

/* What was against a pod of a group. */
struct bt_scheduling_cycle_note {
	uint32_t pod_ix;
	struct bt_queue_info info; /* how it waited */
	size_t from, len;	   /* in the group's text */
};

static const struct bt_pod *pod_of(const struct bt_scheduling_cycle *turn, uint32_t pod_ix)
{
	return bt_ledger_pod(bt_engine_cache(turn->engine)->ledger, pod_ix);
}

static void look(struct bt_scheduling_cycle *turn, uint32_t pod_ix)
{
	if (turn->look) {
		turn->look(turn->context, pod_ix);
	}
}

/* What refuses the pod is told before anything is carried out. */
static void decide(struct bt_scheduling_cycle *turn, uint32_t pod_ix)
{
	const struct bt_queue_info info = bt_queue_info(bt_engine_queue(turn->engine), pod_ix);
	uint32_t nominated = pod_of(turn, pod_ix)->status_node;
	struct bt_str message = {.len = 0};
	struct bt_decision decision;

	look(turn, pod_ix);
	bt_engine_begin(turn->engine, pod_ix, &decision);
	bt_engine_ask_post_filter(turn->engine, &decision);
	if (turn->texts && (decision.outcome == BT_REFUSED || decision.outcome == BT_FAILED)) {
		message = bt_messages_of(&turn->messages, pod_ix);
	}
	if (turn->steer) {
		turn->steer(turn->context, &decision, message);
	}
	bt_engine_end(turn->engine, &decision);
	if (turn->texts && message.len == 0) {
		message = bt_engine_end_error(turn->engine);
	}
	turn->told(turn->context, &decision, &info, nominated, message);
}

/* ---- pods of a PodGroup ---- */

/* Keeps what was against a member of its own. */
static void note_member(void *context, struct bt_engine *engine, struct bt_decision *decision)
{
	struct bt_scheduling_cycle *turn = context;

	look(turn, decision->pod_ix);
	turn->notes = bt_mem_grow(turn->notes, turn->note_n, &turn->note_cap, sizeof(*turn->notes));
	struct bt_scheduling_cycle_note *note = &turn->notes[turn->note_n++];

	*note = (struct bt_scheduling_cycle_note){
		.pod_ix = decision->pod_ix,
		.info = bt_queue_info(bt_engine_queue(engine), decision->pod_ix),
		.from = turn->group_text.len,
	};
	if (decision->outcome != BT_PLACED && turn->texts) {
		bt_messages_add(&turn->messages, decision->pod_ix, &turn->group_text);
		note->len = turn->group_text.len - note->from;
	}
}

static const struct bt_scheduling_cycle_note *note_of(const struct bt_scheduling_cycle *turn, uint32_t pod_ix)
{
	static const struct bt_scheduling_cycle_note none = {.from = 0};

	for (size_t i = 0; i < turn->note_n; i++) {
		if (turn->notes[i].pod_ix == pod_ix) {
			return &turn->notes[i];
		}
	}
	return &none;
}

static struct bt_str scheduling_cycle_text_of(
	const struct bt_scheduling_cycle *turn, const struct bt_scheduling_cycle_note *note)
{
	return bt_str_sub(bt_buf_view(&turn->group_text), note->from, note->from + note->len);
}

static void end_member(struct bt_scheduling_cycle *turn, const struct bt_group_decision *group, uint32_t i)
{
	const struct bt_group_member *member = &group->members[i];
	const struct bt_scheduling_cycle_note *note = note_of(turn, member->decision.pod_ix);
	struct bt_buf message = {0};

	if (turn->texts && member->decision.outcome != BT_PLACED) {
		uint32_t culprit_ix = group->members[group->culprit].decision.pod_ix;

		bt_engine_group_message(turn->engine, group, i, scheduling_cycle_text_of(turn, note),
			scheduling_cycle_text_of(turn, note_of(turn, culprit_ix)), &message);
	}
	turn->told(turn->context, &member->decision, &note->info, member->nominated, bt_buf_view(&message));
	bt_buf_fini(&message);
}

static void decide_group(struct bt_scheduling_cycle *turn, uint32_t pod_ix)
{
	const struct bt_group_watch watch = {note_member, turn};
	struct bt_group_decision group;

	turn->note_n = 0;
	bt_buf_clear(&turn->group_text);
	bt_engine_decide_group(turn->engine, pod_ix, &watch, &group);
	for (uint32_t i = 0; i < group.member_n; i++) {
		end_member(turn, &group, i);
	}
}

void bt_schedule_one(struct bt_scheduling_cycle *turn, uint32_t pod_ix)
{
	turn->messages.engine = turn->engine;
	if (bt_engine_in_group(turn->engine, pod_ix)) {
		decide_group(turn, pod_ix);
	} else {
		decide(turn, pod_ix);
	}
}

void bt_scheduling_cycle_fini(struct bt_scheduling_cycle *turn)
{
	bt_messages_fini(&turn->messages);
	bt_mem_free(turn->notes);
	bt_buf_fini(&turn->group_text);
}
