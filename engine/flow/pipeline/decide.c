/* SPDX-License-Identifier: Apache-2.0
 * Stages 4 to 6 of the pipeline: runs pods' cycles and delivers the decisions.
 */
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "engine/flow/pipeline/pipeline_int.h"

struct bt_pod_ref bt_pipeline_pod_ref(const struct bt_pipeline *p, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(p->engine);
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	const struct bt_intern *intern = cache->dictionary->intern;

	return (struct bt_pod_ref){bt_intern_str(intern, pod->signature->namespace_),
		bt_intern_str(intern, pod->name), bt_intern_str(intern, pod->uid)};
}

static bool has_decision_sink(const struct bt_pipeline *p)
{
	return p->options.sink.decided || p->limits.decisions;
}

static bool needs_messages(const struct bt_pipeline *p)
{
	return has_decision_sink(p) || p->options.sink.cycle_ended || bt_replay_follows(p->replay);
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

/* ---- decisions for polling ---- */

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

/* Copies a decision, its victims and strings, in one allocation. */
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

/* Moves decisions that found no room into the ring. */
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

static void decide_keep(struct bt_pipeline *p, const struct bt_pipeline_decision *decision)
{
	struct bt_pipeline_decision *copy = copy_decision(decision);

	if (deliver(p) && bt_ring_try_push(&p->decisions, &copy)) {
		return;
	}
	p->unpolled = bt_mem_grow(p->unpolled, p->unpolled_n, &p->unpolled_cap, sizeof(*p->unpolled));
	p->unpolled[p->unpolled_n++] = copy;
}

bool bt_pipeline_decisions_have_room(struct bt_pipeline *p)
{
	return !p->limits.decisions ||
	       (deliver(p) && bt_ring_count(&p->decisions) < bt_ring_capacity(&p->decisions));
}

/* ---- cycles ---- */

static void report_group(void *context, const struct bt_group_end *end)
{
	struct bt_pipeline *p = context;

	p->options.sink.group_ended(p->options.sink.context, end);
}

/* Reports a decision that has been carried out; one that waits at Permit when the wait is over. */
static void report(void *context, const struct bt_decision *decision, const struct bt_queue_info *info,
	uint32_t nominated, struct bt_str message)
{
	struct bt_pipeline *p = context;

	BT_COUNT(p, decided_n, 1);
	if (p->options.journal) {
		bt_journal_decision(p->options.journal, p->engine, decision);
	}
	if (p->replay) {
		bt_replay_note_decision(p->replay, decision);
	}
	if (decision->waits) {
		if (p->options.sink.waits) {
			p->options.sink.waits(p->options.sink.context, decision->pod_ix, decision->node_ix);
		}
		return;
	}
	if (p->options.sink.cycle_ended) {
		p->options.sink.cycle_ended(p->options.sink.context, decision, info, nominated, message);
	}
	if (p->options.step_driver.step && p->options.binder.bind && decision->outcome == BT_PLACED) {
		bt_bind_requests_note_bound(p, decision->pod_ix, decision->node_ix);
	}
	if (!has_decision_sink(p)) {
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
		.binding = decision->outcome == BT_PLACED
				   ? bt_bind_requests_handle_of_pod(p, decision->pod_ix)
				   : 0,
		.nominated = bt_pipeline_node_name(p, decision->nominated_ix),
		.victims = p->victims,
		.victim_n = decision->victim_n,
		.message = message,
		.unschedulable_plugins = decision->unschedulable_plugins,
		.priority = bt_ledger_pod(bt_engine_cache(p->engine)->ledger, decision->pod_ix)->priority,
		.attempts = info->attempts,
		.entered_ns = info->entered_ns,
	};
	if (p->options.sink.decided) {
		p->options.sink.decided(p->options.sink.context, &shown);
	}
	if (p->limits.decisions) {
		decide_keep(p, &shown);
	}
}

static void report_preempted(void *context, uint32_t victim_ix, uint32_t preemptor_ix, uint32_t node_ix)
{
	const struct bt_pipeline_sink *sink = &((struct bt_pipeline *)context)->options.sink;

	if (sink->preempted) {
		sink->preempted(sink->context, victim_ix, preemptor_ix, node_ix);
	}
}

struct bt_permit_observer bt_pipeline_permit_observer(struct bt_pipeline *p)
{
	return (struct bt_permit_observer){.ended = report, .preempted = report_preempted, .context = p};
}

static void report_begin(void *context, uint32_t pod_ix)
{
	const struct bt_pipeline_sink *sink = &((struct bt_pipeline *)context)->options.sink;

	sink->cycle_begins(sink->context, pod_ix);
}

static void steer(void *context, struct bt_decision *decision, struct bt_str message)
{
	bt_follow_steer(((struct bt_pipeline *)context)->replay, decision, message);
}

static uint32_t choose(void *context, uint32_t pod_ix, uint32_t node_ix)
{
	return bt_follow_choose(((struct bt_pipeline *)context)->replay, pod_ix, node_ix);
}

static uint32_t rank(void *context, uint32_t pod_ix)
{
	return bt_follow_rank(((struct bt_pipeline *)context)->replay, pod_ix);
}

void bt_pipeline_cycles_init(struct bt_pipeline *p)
{
	p->cycle = (struct bt_scheduling_cycle){.engine = p->engine,
		.texts = p->options.messages && needs_messages(p),
		.begins = p->options.sink.cycle_begins ? report_begin : NULL,
		.steer = bt_replay_follows(p->replay) ? steer : NULL,
		.choose = bt_replay_follows(p->replay) ? choose : NULL,
		.rank = bt_replay_follows(p->replay) ? rank : NULL,
		.ended = report,
		.group_ended = p->options.sink.group_ended ? report_group : NULL,
		.context = p};
}

bool bt_pipeline_decide_one(struct bt_pipeline *p)
{
	uint32_t pod_ix = bt_engine_pop(p->engine);

	if (pod_ix == BT_NO_POD) {
		return false;
	}
	bt_schedule_one(&p->cycle, pod_ix);
	return true;
}
