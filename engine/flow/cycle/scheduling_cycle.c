/* SPDX-License-Identifier: Apache-2.0
 * Runs scheduling cycles and reports their results.
 */
#include "engine/flow/cycle/scheduling_cycle.h"

#include "engine/base/mem.h"

/* The refusal of a group's pod. */
struct bt_scheduling_cycle_note {
	uint32_t pod_ix;
	struct bt_queue_info info; /* before its decision */
	size_t from, len;	   /* in the group's text */
};

static const struct bt_pod *pod_of(const struct bt_scheduling_cycle *cycle, uint32_t pod_ix)
{
	return bt_ledger_pod(bt_engine_cache(cycle->engine)->ledger, pod_ix);
}

static void cycle_begins(struct bt_scheduling_cycle *cycle, uint32_t pod_ix)
{
	if (cycle->begins) {
		cycle->begins(cycle->context, pod_ix);
	}
}

/* Makes the message before the decision is carried out, which changes the state that it describes. */
static void decide(struct bt_scheduling_cycle *cycle, uint32_t pod_ix)
{
	const struct bt_queue_info info = bt_queue_info(bt_engine_queue(cycle->engine), pod_ix);
	uint32_t nominated = pod_of(cycle, pod_ix)->status_node;
	struct bt_str message = {.len = 0};
	struct bt_decision decision;

	cycle_begins(cycle, pod_ix);
	bt_engine_begin(cycle->engine, pod_ix, &decision);
	bt_engine_run_post_filter(cycle->engine, &decision);
	if (cycle->texts && (decision.outcome == BT_REFUSED || decision.outcome == BT_FAILED)) {
		message = bt_messages_of(&cycle->messages, pod_ix);
	}
	if (cycle->steer) {
		cycle->steer(cycle->context, &decision, message);
	}
	bt_engine_end(cycle->engine, &decision);
	if (cycle->texts && message.len == 0) {
		message = bt_engine_end_error(cycle->engine);
	}
	cycle->ended(cycle->context, &decision, &info, nominated, message);
}

/* ---- pods of a PodGroup ---- */

/* Saves a member's refusal. */
static void note_member(void *context, struct bt_engine *engine, struct bt_decision *decision)
{
	struct bt_scheduling_cycle *cycle = context;

	cycle_begins(cycle, decision->pod_ix);
	if (cycle->choose && decision->outcome == BT_PLACED) {
		bt_engine_take_node(
			engine, decision, cycle->choose(cycle->context, decision->pod_ix, decision->node_ix));
	}
	cycle->notes = bt_mem_grow(cycle->notes, cycle->note_n, &cycle->note_cap, sizeof(*cycle->notes));
	struct bt_scheduling_cycle_note *note = &cycle->notes[cycle->note_n++];

	*note = (struct bt_scheduling_cycle_note){
		.pod_ix = decision->pod_ix,
		.info = bt_queue_info(bt_engine_queue(engine), decision->pod_ix),
		.from = cycle->group_text.len,
	};
	if (decision->outcome != BT_PLACED && cycle->texts) {
		bt_messages_add(&cycle->messages, decision->pod_ix, &cycle->group_text);
		note->len = cycle->group_text.len - note->from;
	}
}

static const struct bt_scheduling_cycle_note *note_of(
	const struct bt_scheduling_cycle *cycle, uint32_t pod_ix)
{
	static const struct bt_scheduling_cycle_note none = {.from = 0};

	for (size_t i = 0; i < cycle->note_n; i++) {
		if (cycle->notes[i].pod_ix == pod_ix) {
			return &cycle->notes[i];
		}
	}
	return &none;
}

static struct bt_str scheduling_cycle_text_of(
	const struct bt_scheduling_cycle *cycle, const struct bt_scheduling_cycle_note *note)
{
	return bt_str_sub(bt_buf_view(&cycle->group_text), note->from, note->from + note->len);
}

/* Why a member is not placed. */
static void write_message(struct bt_scheduling_cycle *cycle, const struct bt_group_decision *group,
	uint32_t i, struct bt_buf *message)
{
	const struct bt_decision *decision = &group->members[i].decision;

	if (cycle->texts && decision->outcome != BT_PLACED) {
		uint32_t culprit_ix = group->members[group->culprit].decision.pod_ix;

		bt_engine_group_message(cycle->engine, group, i,
			scheduling_cycle_text_of(cycle, note_of(cycle, decision->pod_ix)),
			scheduling_cycle_text_of(cycle, note_of(cycle, culprit_ix)), message);
	}
}

static void end_member(struct bt_scheduling_cycle *cycle, const struct bt_group_decision *group, uint32_t i)
{
	const struct bt_group_member *member = &group->members[i];
	const struct bt_scheduling_cycle_note *note = note_of(cycle, member->decision.pod_ix);
	struct bt_buf message = {0};

	write_message(cycle, group, i, &message);
	cycle->ended(
		cycle->context, &member->decision, &note->info, member->nominated, bt_buf_view(&message));
	bt_buf_fini(&message);
}

/* bt_group_watch.judged. */
static void judge_group(void *context, struct bt_engine *engine, const struct bt_group_decision *group)
{
	struct bt_scheduling_cycle *cycle = context;
	struct bt_buf message = {0};

	(void)engine;
	for (uint32_t i = 0; i < group->member_n; i++) {
		struct bt_decision decision = group->members[i].decision;

		bt_buf_clear(&message);
		write_message(cycle, group, i, &message);
		cycle->steer(cycle->context, &decision, bt_buf_view(&message));
	}
	bt_buf_fini(&message);
}

/* bt_group_watch.tried. */
static uint32_t choose_tried(void *context, struct bt_engine *engine, uint32_t pod_ix, uint32_t node_ix)
{
	struct bt_scheduling_cycle *cycle = context;

	(void)engine;
	return cycle->choose(cycle->context, pod_ix, node_ix);
}

/* The same for the PodGroups of a tree. */
static void end_tree(
	struct bt_scheduling_cycle *cycle, const struct bt_group_decision *group, struct bt_str failure)
{
	struct bt_buf message = {0};

	for (uint32_t i = 0; i < bt_engine_group_leaf_n(cycle->engine); i++) {
		bt_buf_clear(&message);
		const struct bt_group_leaf leaf =
			bt_engine_group_leaf(cycle->engine, group, i, failure, &message);
		const struct bt_group_end end = {.namespace_ = leaf.namespace_,
			.name = leaf.name,
			.outcome = leaf.outcome,
			.scheduled_n = leaf.scheduled_n,
			.unschedulable_n = leaf.unschedulable_n,
			.message = bt_buf_view(&message)};

		cycle->group_ended(cycle->context, &end);
	}
	bt_buf_fini(&message);
}

/* Reports no group whose members have all gone. */
static void end_group(struct bt_scheduling_cycle *cycle, const struct bt_group_decision *group)
{
	struct bt_group_end end = {.outcome = group->outcome};
	struct bt_buf message = {0};
	bool any = false;

	for (uint32_t i = 0; i < group->member_n; i++) {
		enum bt_outcome outcome = group->members[i].decision.outcome;

		any |= outcome != BT_SKIPPED;
		end.scheduled_n += outcome == BT_PLACED;
		end.unschedulable_n += outcome != BT_PLACED && outcome != BT_SKIPPED;
	}
	if (!any || !cycle->group_ended) {
		return;
	}
	uint32_t culprit_ix = group->members[group->culprit].decision.pod_ix;
	struct bt_str failure = scheduling_cycle_text_of(cycle, note_of(cycle, culprit_ix));
	if (bt_engine_group_leaf_n(cycle->engine)) {
		end_tree(cycle, group, failure);
		return;
	}
	const struct bt_signature *signature = pod_of(cycle, group->members[0].decision.pod_ix)->signature;

	end.namespace_ = signature->namespace_;
	end.name = signature->pod_group;
	bt_engine_group_summary(cycle->engine, group, failure, &message);
	end.message = bt_buf_view(&message);
	cycle->group_ended(cycle->context, &end);
	bt_buf_fini(&message);
}

/* bt_group_watch.rank. */
static uint32_t rank_member(void *context, uint32_t pod_ix)
{
	const struct bt_scheduling_cycle *cycle = context;

	return cycle->rank(cycle->context, pod_ix);
}

static void decide_group(struct bt_scheduling_cycle *cycle, uint32_t pod_ix)
{
	const struct bt_group_watch watch = {.decided = note_member,
		.tried = cycle->choose ? choose_tried : NULL,
		.rank = cycle->rank ? rank_member : NULL,
		.context = cycle,
		.judged = cycle->steer ? judge_group : NULL};
	struct bt_group_decision group;

	cycle->note_n = 0;
	bt_buf_clear(&cycle->group_text);
	bt_engine_decide_group(cycle->engine, pod_ix, &watch, &group);
	for (uint32_t i = 0; i < group.member_n; i++) {
		end_member(cycle, &group, i);
	}
	end_group(cycle, &group);
}

void bt_schedule_one(struct bt_scheduling_cycle *cycle, uint32_t pod_ix)
{
	cycle->messages.engine = cycle->engine;
	if (bt_engine_in_group(cycle->engine, pod_ix)) {
		decide_group(cycle, pod_ix);
	} else {
		decide(cycle, pod_ix);
	}
}

void bt_scheduling_cycle_fini(struct bt_scheduling_cycle *cycle)
{
	bt_messages_fini(&cycle->messages);
	bt_mem_free(cycle->notes);
	bt_buf_fini(&cycle->group_text);
}
