/* SPDX-License-Identifier: Apache-2.0
 * Stages 4 to 6 of the pipeline: a pod's turn, or that of a PodGroup's pods, and who hears of it.
 */
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/pipeline_int.h"

struct bt_pod_ref bt_pipeline_pod_ref(const struct bt_pipeline *p, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(p->engine);
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	const struct bt_intern *intern = cache->dictionary->intern;

	return (struct bt_pod_ref){bt_intern_str(intern, pod->signature->namespace_),
		bt_intern_str(intern, pod->name), bt_intern_str(intern, pod->uid)};
}

static bool anybody_listens(const struct bt_pipeline *p)
{
	return p->options.sink.decided;
}

static bool wants_message(const struct bt_pipeline *p, const struct bt_decision *decision)
{
	return p->options.messages && anybody_listens(p) &&
	       (decision->outcome == BT_REFUSED || decision->outcome == BT_FAILED);
}

static struct bt_str node_name(const struct bt_pipeline *p, uint32_t node_ix)
{
	const struct bt_cache *cache = bt_engine_cache(p->engine);

	return node_ix == BT_NO_NODE
		       ? (struct bt_str){0}
		       : bt_intern_str(cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name);
}

static void list_victims(struct bt_pipeline *p, const struct bt_decision *decision)
{
	for (uint32_t i = 0; i < decision->victim_n; i++) {
		p->victims = bt_mem_grow(p->victims, i, &p->victim_cap, sizeof(*p->victims));
		p->victims[i] = bt_pipeline_pod_ref(p, decision->victims[i].pod_ix);
	}
}

/* A decision has been carried out. info: of its pod before that. */
static void tell(struct bt_pipeline *p, const struct bt_decision *decision, const struct bt_queue_info *info,
	struct bt_str message)
{
	p->counts.decided_n++;
	if (!anybody_listens(p)) {
		return;
	}
	list_victims(p, decision);
	const struct bt_pipeline_decision shown = {
		.number = p->counts.decided_n,
		.time_ns = p->now_ns,
		.pod = bt_pipeline_pod_ref(p, decision->pod_ix),
		.pod_ix = decision->pod_ix,
		.outcome = decision->outcome,
		.node = decision->outcome == BT_PLACED ? node_name(p, decision->node_ix) : (struct bt_str){0},
		.nominated = node_name(p, decision->nominated_ix),
		.victims = p->victims,
		.victim_n = decision->victim_n,
		.message = message,
		.rejectors = decision->rejectors,
		.attempts = info->attempts,
		.entered_ns = info->entered_ns,
	};
	p->options.sink.decided(p->options.sink.context, &shown);
}

static void decide_pod(struct bt_pipeline *p, uint32_t pod_ix)
{
	const struct bt_queue_info info = bt_queue_info(bt_engine_queue(p->engine), pod_ix);
	struct bt_str message = {.len = 0};
	struct bt_decision decision;

	bt_engine_begin(p->engine, pod_ix, &decision);
	if (wants_message(p, &decision)) {
		message = bt_messages_of(&p->messages, pod_ix);
	}
	bt_engine_end(p->engine, &decision);
	tell(p, &decision, &info, message);
}

/* ---- pods of a PodGroup ---- */

/* What was against a pod of a group, in the group's text. */
struct bt_group_note {
	uint32_t pod_ix;
	struct bt_queue_info info;
	size_t from, to;
};

static void note_member(void *context, struct bt_engine *engine, struct bt_decision *decision)
{
	struct bt_pipeline *p = context;
	struct bt_group_note note = {.pod_ix = decision->pod_ix,
		.info = bt_queue_info(bt_engine_queue(engine), decision->pod_ix),
		.from = p->group_text.len};

	if (wants_message(p, decision)) {
		bt_messages_add(&p->messages, decision->pod_ix, &p->group_text);
	}
	note.to = p->group_text.len;
	p->notes = bt_mem_grow(p->notes, p->note_n, &p->note_cap, sizeof(*p->notes));
	p->notes[p->note_n++] = note;
}

static const struct bt_group_note *note_of(const struct bt_pipeline *p, uint32_t pod_ix)
{
	static const struct bt_group_note none = {.from = 0};

	for (size_t i = 0; i < p->note_n; i++) {
		if (p->notes[i].pod_ix == pod_ix) {
			return &p->notes[i];
		}
	}
	return &none;
}

static void tell_member(struct bt_pipeline *p, const struct bt_group_decision *group, uint32_t i)
{
	const struct bt_group_member *member = &group->members[i];
	const struct bt_group_note *note = note_of(p, member->decision.pod_ix);
	struct bt_buf message = {0};

	if (wants_message(p, &member->decision)) {
		struct bt_str all = bt_buf_view(&p->group_text);
		const struct bt_group_note *culprit =
			note_of(p, group->members[group->culprit].decision.pod_ix);

		bt_engine_group_message(p->engine, group, i, bt_str_sub(all, note->from, note->to),
			bt_str_sub(all, culprit->from, culprit->to), &message);
	}
	tell(p, &member->decision, &note->info, bt_buf_view(&message));
	bt_buf_fini(&message);
}

static void decide_group(struct bt_pipeline *p, uint32_t pod_ix)
{
	const struct bt_group_watch watch = {note_member, p};
	struct bt_group_decision group;

	p->note_n = 0;
	bt_buf_clear(&p->group_text);
	bt_engine_decide_group(p->engine, pod_ix, &watch, &group);
	for (uint32_t i = 0; i < group.member_n; i++) {
		tell_member(p, &group, i);
	}
}

bool bt_pipeline_decide_one(struct bt_pipeline *p)
{
	uint32_t pod_ix = bt_engine_pop(p->engine);

	if (pod_ix == BT_NO_POD) {
		return false;
	}
	if (bt_engine_in_group(p->engine, pod_ix)) {
		decide_group(p, pod_ix);
	} else {
		decide_pod(p, pod_ix);
	}
	return true;
}
