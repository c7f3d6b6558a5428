/* SPDX-License-Identifier: Apache-2.0
 * Stages 4 to 6 of the pipeline: a pod's turn, or that of a PodGroup's pods, and who hears of it.
 */
#include <string.h>

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
	return p->options.sink.decided || p->limits.decisions;
}

static bool wants_message(const struct bt_pipeline *p, const struct bt_decision *decision)
{
	return p->options.messages && anybody_listens(p) &&
	       (decision->outcome == BT_REFUSED || decision->outcome == BT_FAILED);
}

struct bt_str bt_pipeline_node_name(const struct bt_pipeline *p, uint32_t node_ix)
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

/* ---- decisions that are polled ---- */

static size_t bytes_of(const struct bt_pod_ref *pod)
{
	return pod->namespace_.len + pod->name.len + pod->uid.len;
}

static struct bt_str copy_str(char **at, struct bt_str text)
{
	struct bt_str copy = {*at, text.len};

	memcpy(*at, text.len ? text.ptr : "", text.len);
	*at += text.len;
	return copy;
}

static struct bt_pod_ref copy_ref(char **at, const struct bt_pod_ref *pod)
{
	struct bt_str namespace_ = copy_str(at, pod->namespace_), name = copy_str(at, pod->name);

	return (struct bt_pod_ref){namespace_, name, copy_str(at, pod->uid)};
}

/* One piece of memory: the decision, its victims, the texts. */
static struct bt_pipeline_decision *copy_decision(const struct bt_pipeline_decision *from)
{
	size_t bytes = bytes_of(&from->pod) + from->node.len + from->nominated.len + from->message.len;

	for (uint32_t i = 0; i < from->victim_n; i++) {
		bytes += bytes_of(&from->victims[i]);
	}
	struct bt_pipeline_decision *copy =
		bt_mem_zalloc(1, sizeof(*copy) + from->victim_n * sizeof(*from->victims) + bytes);
	struct bt_pod_ref *victims = (struct bt_pod_ref *)(copy + 1);
	char *at = (char *)(victims + from->victim_n);
	*copy = *from;
	copy->pod = copy_ref(&at, &from->pod);
	copy->node = copy_str(&at, from->node);
	copy->nominated = copy_str(&at, from->nominated);
	copy->message = copy_str(&at, from->message);
	copy->victims = victims;
	for (uint32_t i = 0; i < from->victim_n; i++) {
		victims[i] = copy_ref(&at, &from->victims[i]);
	}
	return copy;
}

void bt_pipeline_decision_free(struct bt_pipeline_decision *decision)
{
	bt_mem_free(decision);
}

/* Hands over those for which there was no room. */
static bool deliver(struct bt_pipeline *p)
{
	while (p->unpolled_first < p->unpolled_n &&
		bt_ring_try_push(&p->decisions, &p->unpolled[p->unpolled_first])) {
		p->unpolled_first++;
	}
	if (p->unpolled_first < p->unpolled_n) {
		return false;
	}
	p->unpolled_first = p->unpolled_n = 0;
	return true;
}

static void keep(struct bt_pipeline *p, const struct bt_pipeline_decision *decision)
{
	struct bt_pipeline_decision *copy = copy_decision(decision);

	if (deliver(p) && bt_ring_try_push(&p->decisions, &copy)) {
		return;
	}
	p->unpolled = bt_mem_grow(p->unpolled, p->unpolled_n, &p->unpolled_cap, sizeof(*p->unpolled));
	p->unpolled[p->unpolled_n++] = copy;
}

bool bt_pipeline_is_heard(struct bt_pipeline *p)
{
	return !p->limits.decisions ||
	       (deliver(p) && bt_ring_count(&p->decisions) < bt_ring_capacity(&p->decisions));
}

/* ---- a turn ---- */

/* A decision has been carried out. info: of its pod before that. */
static void tell(struct bt_pipeline *p, const struct bt_decision *decision, const struct bt_queue_info *info,
	struct bt_str message)
{
	BT_COUNT(p, decided_n, 1);
	if (!anybody_listens(p)) {
		return;
	}
	list_victims(p, decision);
	const struct bt_pipeline_decision shown = {
		.number = bt_load_relaxed(&p->counts.decided_n),
		.time_ns = p->now_ns,
		.pod = bt_pipeline_pod_ref(p, decision->pod_ix),
		.pod_ix = decision->pod_ix,
		.outcome = decision->outcome,
		.node = decision->outcome == BT_PLACED ? bt_pipeline_node_name(p, decision->node_ix)
						       : (struct bt_str){0},
		.nominated = bt_pipeline_node_name(p, decision->nominated_ix),
		.victims = p->victims,
		.victim_n = decision->victim_n,
		.message = message,
		.rejectors = decision->rejectors,
		.attempts = info->attempts,
		.entered_ns = info->entered_ns,
	};
	if (p->options.sink.decided) {
		p->options.sink.decided(p->options.sink.context, &shown);
	}
	if (p->limits.decisions) {
		keep(p, &shown);
	}
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
