/* SPDX-License-Identifier: Apache-2.0
 * Running a simulation.
 */
#include "tools/simulate/run.h"

#include <stdlib.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/json_write.h"

#define NS_PER_S INT64_C(1000000000)

static const struct bt_intern *names(const struct bt_run *run)
{
	return bt_engine_cache(run->engine)->dictionary->intern;
}

static const struct bt_pod *pod_at(const struct bt_run *run, uint32_t pod_ix)
{
	return bt_ledger_pod(bt_engine_cache(run->engine)->ledger, pod_ix);
}

static void begin_line(struct bt_run *run, struct bt_json_writer *json, uint32_t pod_ix)
{
	const struct bt_pod *pod = pod_at(run, pod_ix);

	bt_buf_clear(&run->key);
	bt_buf_printf(&run->key, "%.*s/%.*s",
		BT_STR_ARG(bt_intern_str(names(run), pod->signature->namespace_)),
		BT_STR_ARG(bt_intern_str(names(run), pod->name)));
	bt_buf_clear(&run->line);
	*json = (struct bt_json_writer){.out = &run->line};
	bt_json_write_begin_object(json);
	bt_json_write_key(json, "pod");
	bt_json_write_str(json, bt_buf_view(&run->key));
}

static void end_line(struct bt_run *run, struct bt_json_writer *json)
{
	bt_json_write_end(json);
	bt_buf_char(&run->line, '\n');
	bt_output_add(run->decisions, run->line.ptr, run->line.len);
}

static bool message_holds(
	const struct bt_run *run, const struct bt_run_message *message, const struct bt_pod *pod)
{
	const struct bt_cache *cache = bt_engine_cache(run->engine);

	return message->text.len && pod->nominated_ix == BT_NO_NODE && message->priority == pod->priority &&
	       message->never_preempts == pod->never_preempts &&
	       message->journal_end == cache->view.usage->journal_end &&
	       message->version == cache->view.snapshot->version &&
	       message->storage == cache->view.storage->version &&
	       message->devices == cache->view.devices->version &&
	       message->change_n == bt_ledger_change_n(cache->ledger);
}

/* The text of a refusal. Pods of one kind share it as long as the cluster does not change. */
static struct bt_str message_for(struct bt_run *run, uint32_t pod_ix)
{
	const struct bt_cache *cache = bt_engine_cache(run->engine);
	const struct bt_pod *pod = pod_at(run, pod_ix);
	uint32_t signature_ix = pod->signature->ix;

	while (signature_ix >= run->message_n) {
		size_t old = run->message_n;

		run->messages = bt_mem_grow(run->messages, old, &run->message_n, sizeof(*run->messages));
		memset(run->messages + old, 0, (run->message_n - old) * sizeof(*run->messages));
	}
	struct bt_run_message *message = &run->messages[signature_ix];
	if (!message_holds(run, message, pod)) {
		bt_buf_clear(&message->text);
		bt_engine_explain(run->engine, pod_ix, &run->explanation);
		bt_engine_message(run->engine, &run->explanation, &message->text);
		message->journal_end = cache->view.usage->journal_end;
		message->version = cache->view.snapshot->version;
		message->storage = cache->view.storage->version;
		message->devices = cache->view.devices->version;
		message->change_n = bt_ledger_change_n(cache->ledger);
		message->priority = pod->priority;
		message->never_preempts = pod->never_preempts;
	}
	return bt_buf_view(&message->text);
}

static void write_node(
	const struct bt_run *run, struct bt_json_writer *json, const char *key, uint32_t node_ix)
{
	bt_json_write_key(json, key);
	bt_json_write_str(json,
		bt_intern_str(names(run), bt_engine_cache(run->engine)->view.snapshot->nodes[node_ix].name));
}

/* Does anybody want to read why a pod is not placed? */
static bool wants_messages(const struct bt_run *run)
{
	return run->decisions || run->api;
}

static void log_decision(struct bt_run *run, const struct bt_decision *decision, struct bt_str message)
{
	struct bt_json_writer json;

	if (!run->decisions || decision->outcome == BT_GATED) {
		return;
	}
	begin_line(run, &json, decision->pod_ix);
	if (decision->outcome == BT_PLACED) {
		write_node(run, &json, "node", decision->node_ix);
	} else {
		bt_json_write_key(&json, "node");
		bt_json_write_null(&json);
		if (decision->nominated_ix != BT_NO_NODE) {
			write_node(run, &json, "nominated", decision->nominated_ix);
		}
		bt_json_write_key(&json, "message");
		bt_json_write_str(&json, message);
	}
	end_line(run, &json);
}

/* What the logs get of a decision. nominated: status.nominatedNodeName before it. */
static void write_logs(
	struct bt_run *run, const struct bt_decision *decision, uint32_t nominated, struct bt_str message)
{
	log_decision(run, decision, message);
	if (run->api) {
		bt_api_log_decision(run->api, decision, nominated, message);
	}
}

static void log_delete(struct bt_run *run, uint32_t pod_ix)
{
	struct bt_json_writer json;

	if (run->api) {
		bt_api_log_forget(run->api, pod_ix);
	}
	if (run->decisions) {
		begin_line(run, &json, pod_ix);
		bt_json_write_key(&json, "delete");
		bt_json_write_bool(&json, true);
		end_line(run, &json);
	}
}

static void look(struct bt_run *run, uint32_t pod_ix)
{
	const struct bt_pod *pod = pod_at(run, pod_ix);
	struct bt_str namespace_ = bt_intern_str(names(run), pod->signature->namespace_);
	struct bt_str name = bt_intern_str(names(run), pod->name);

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

static void use(struct bt_run *run, uint32_t pod_ix, double sign)
{
	struct bt_amounts used = pod_at(run, pod_ix)->signature->requests.used;

	run->uses[BT_RESOURCE_MAX].now += sign;
	for (uint32_t i = 0; i < used.n; i++) {
		run->uses[used.items[i].slot].now += sign * (double)used.items[i].amount;
	}
}

/* A preempted pod is gone. */
static void leave(struct bt_run *run, uint32_t pod_ix)
{
	use(run, pod_ix, -1);
	log_delete(run, pod_ix);
	bt_engine_remove_pod(run->engine, pod_ix);
}

/* Carries preemption out. Without a clock those that are being deleted already have no other way to go. */
static void evict(struct bt_run *run, const struct bt_decision *decision)
{
	size_t n = 0;

	for (uint32_t i = 0; i < decision->victim_n; i++) {
		run->victims = bt_mem_grow(run->victims, n, &run->victim_cap, sizeof(*run->victims));
		run->victims[n++] = decision->victims[i].pod_ix;
	}
	for (size_t i = 0; i < n; i++) {
		const struct bt_pod *victim = pod_at(run, run->victims[i]);
		bool terminating = victim->terminating;

		if (victim->state == BT_POD_VACANT) {
			continue; /* another pod of the group has preempted it too */
		}
		run->evicted_n += !terminating;
		if (!run->terminate) {
			leave(run, run->victims[i]);
		} else if (!terminating) {
			run->terminate(run->terminate_context, run->victims[i]);
		}
	}
}

/* Decides a pod; without a clock a preemptor is tried again at once, before others see the room that was made
 * for it. */
static void decide(struct bt_run *run, uint32_t pod_ix)
{
	struct bt_decision decision;
	uint32_t nominated;

	do {
		struct bt_str message = {.len = 0};

		nominated = pod_at(run, pod_ix)->status_node;
		bt_engine_begin(run->engine, pod_ix, &decision);
		/* What refuses the pod is told before claims that keep it from being placed are released. */
		if (wants_messages(run) &&
			(decision.outcome == BT_REFUSED || decision.outcome == BT_FAILED)) {
			message = message_for(run, pod_ix);
		}
		bt_engine_end(run->engine, &decision);
		write_logs(run, &decision, nominated, message);
		if (decision.outcome == BT_PLACED) {
			use(run, pod_ix, 1);
		}
		evict(run, &decision);
	} while (decision.victim_n && !run->terminate && bt_engine_take(run->engine, pod_ix) == BT_OK);
}

/* ---- pods of a PodGroup ---- */

/* Keeps what was against a member of its own. */
static void note_member(void *context, struct bt_engine *engine, struct bt_decision *decision)
{
	struct bt_run *run = context;

	if (run->watch_n) {
		look(run, decision->pod_ix);
	}
	if (decision->outcome == BT_PLACED || !wants_messages(run)) {
		return;
	}
	run->notes = bt_mem_grow(run->notes, run->note_n, &run->note_cap, sizeof(*run->notes));
	struct bt_run_note *note = &run->notes[run->note_n++];

	*note = (struct bt_run_note){decision->pod_ix, run->group_text.len, 0};
	bt_engine_explain(engine, decision->pod_ix, &run->explanation);
	bt_engine_message(engine, &run->explanation, &run->group_text);
	note->len = run->group_text.len - note->from;
}

static struct bt_str note_of(const struct bt_run *run, uint32_t pod_ix)
{
	for (size_t i = 0; i < run->note_n; i++) {
		if (run->notes[i].pod_ix == pod_ix) {
			return bt_str_sub(bt_buf_view(&run->group_text), run->notes[i].from,
				run->notes[i].from + run->notes[i].len);
		}
	}
	return (struct bt_str){.len = 0};
}

static void log_member(struct bt_run *run, const struct bt_group_decision *group, uint32_t i)
{
	const struct bt_group_member *member = &group->members[i];
	struct bt_buf message = {0};

	if (!wants_messages(run)) {
		return;
	}
	if (member->decision.outcome != BT_PLACED) {
		bt_engine_group_message(run->engine, group, i, note_of(run, member->decision.pod_ix),
			note_of(run, group->members[group->culprit].decision.pod_ix), &message);
	}
	write_logs(run, &member->decision, member->nominated, bt_buf_view(&message));
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
		log_member(run, &group, i);
		if (group.members[i].decision.outcome == BT_PLACED) {
			use(run, group.members[i].decision.pod_ix, 1);
		}
	}
	for (uint32_t i = 0; i < group.member_n; i++) {
		evict(run, &group.members[i].decision);
	}
}

static bool log_failed(const struct bt_run *run)
{
	return (run->decisions && bt_output_failed(run->decisions)) ||
	       (run->api && bt_output_failed(run->api->output));
}

void bt_run_queue(struct bt_run *run)
{
	uint32_t pod_ix;

	while (!bt_interrupt_pending() && !log_failed(run) &&
		(pod_ix = bt_engine_pop(run->engine)) != BT_NO_POD) {
		if (bt_engine_in_group(run->engine, pod_ix)) {
			decide_group(run, pod_ix);
		} else {
			if (run->watch_n) {
				look(run, pod_ix);
			}
			decide(run, pod_ix);
		}
		bt_progress_update(run->progress, run->progress->done + 1);
	}
}

/* ---- traces ---- */

/* A pod's end. */
struct departure {
	int64_t at_s;
	uint32_t pod; /* in the trace */
};

static int by_time(const void *a, const void *b)
{
	const struct departure *x = a, *y = b;

	if (x->at_s != y->at_s) {
		return x->at_s < y->at_s ? -1 : 1;
	}
	return x->pod < y->pod ? -1 : x->pod > y->pod;
}

struct player {
	struct bt_run *run;
	const struct bt_trace *trace;
	struct departure *departures; /* in order of time */
	uint32_t *pod_ixs;	      /* in the engine, or BT_NO_POD */
	size_t come, gone;	      /* how many have */
	uint32_t *trace_pods;	      /* by pod_ix: the pod in the trace */
	size_t trace_pod_cap;
	struct departure *evictions; /* a heap, the next one first */
	size_t eviction_n, eviction_cap;
};

static void depart(struct player *p, uint32_t pod)
{
	uint32_t pod_ix = p->pod_ixs[pod];

	if (pod_ix == BT_NO_POD) {
		return;
	}
	p->run->deleted_n++;
	if (pod_at(p->run, pod_ix)->state == BT_POD_QUEUED) {
		p->run->deleted_waiting_n++;
	} else {
		use(p->run, pod_ix, -1);
	}
	log_delete(p->run, pod_ix);
	bt_engine_remove_pod(p->run->engine, pod_ix);
	p->pod_ixs[pod] = BT_NO_POD;
}

static void arrive(struct player *p, size_t pod)
{
	enum bt_entry entry;

	if (bt_engine_add_pod(p->run->engine, &p->trace->pods[pod].object.pod, &entry, &p->pod_ixs[pod]) !=
		BT_OK) {
		p->pod_ixs[pod] = BT_NO_POD;
	}
	if (p->pod_ixs[pod] == BT_NO_POD) {
		return;
	}
	while (p->pod_ixs[pod] >= p->trace_pod_cap) {
		p->trace_pods = bt_mem_grow(
			p->trace_pods, p->trace_pod_cap, &p->trace_pod_cap, sizeof(*p->trace_pods));
	}
	p->trace_pods[p->pod_ixs[pod]] = (uint32_t)pod;
}

/* ---- preempted pods end after their grace period ---- */

static bool sooner(const struct departure *a, const struct departure *b)
{
	return by_time(a, b) < 0;
}

static void push_eviction(struct player *p, struct departure departure)
{
	p->evictions = bt_mem_grow(p->evictions, p->eviction_n, &p->eviction_cap, sizeof(*p->evictions));

	size_t i = p->eviction_n++;
	for (; i && sooner(&departure, &p->evictions[(i - 1) / 2]); i = (i - 1) / 2) {
		p->evictions[i] = p->evictions[(i - 1) / 2];
	}
	p->evictions[i] = departure;
}

static uint32_t pop_eviction(struct player *p)
{
	uint32_t pod = p->evictions[0].pod;
	struct departure last = p->evictions[--p->eviction_n];
	size_t i = 0;

	for (size_t child = 1; child < p->eviction_n; child = 2 * i + 1) {
		child += child + 1 < p->eviction_n && sooner(&p->evictions[child + 1], &p->evictions[child]);
		if (!sooner(&p->evictions[child], &last)) {
			break;
		}
		p->evictions[i] = p->evictions[child];
		i = child;
	}
	p->evictions[i] = last;
	return pod;
}

static void terminate(void *context, uint32_t pod_ix)
{
	struct player *p = context;
	uint32_t pod = p->trace_pods[pod_ix];
	int64_t grace_s = p->trace->pods[pod].object.pod.spec.termination_grace_s;

	bt_engine_evict(p->run->engine, pod_ix);
	push_eviction(p, (struct departure){p->run->trace_end_s + (grace_s > 0 ? grace_s : 0), pod});
}

/* A preempted pod has used up its grace period, unless it has ended by itself before. */
static void end_eviction(struct player *p)
{
	uint32_t pod = pop_eviction(p);

	if (p->pod_ixs[pod] != BT_NO_POD) {
		leave(p->run, p->pod_ixs[pod]);
		p->pod_ixs[pod] = BT_NO_POD;
	}
}

static int64_t next_moment(const struct player *p)
{
	int64_t come = p->come < p->trace->pod_n ? p->trace->pods[p->come].create_s : INT64_MAX;
	int64_t gone = p->gone < p->trace->pod_n ? p->departures[p->gone].at_s : INT64_MAX;

	int64_t evicted = p->eviction_n ? p->evictions[0].at_s : INT64_MAX;

	gone = evicted < gone ? evicted : gone;
	return come < gone ? come : gone;
}

/* Time goes on to now_s: what was used until then is counted. */
static void pass_time(struct bt_run *run, int64_t now_s)
{
	double lasted_s = (double)(now_s - run->trace_end_s);

	for (int i = 0; i <= BT_RESOURCE_MAX; i++) {
		struct bt_run_use *u = &run->uses[i];

		u->peak = u->now > u->peak ? u->now : u->peak;
		u->second_sum += u->now * lasted_s;
	}
	run->trace_end_s = now_s;
	run->now_ns = (BT_TRACE_EPOCH_S + now_s) * NS_PER_S;
}

void bt_run_trace(struct bt_run *run, const struct bt_trace *trace, int64_t until_s)
{
	struct player p = {.run = run, .trace = trace};

	p.departures = bt_mem_zalloc(trace->pod_n, sizeof(*p.departures));
	p.pod_ixs = bt_mem_zalloc(trace->pod_n, sizeof(*p.pod_ixs));
	for (size_t i = 0; i < trace->pod_n; i++) {
		int64_t gone_s = trace->pods[i].delete_s, come_s = trace->pods[i].create_s;

		/* A pod lives for a second at least, so that it has come before it goes. */
		p.departures[i] = (struct departure){gone_s > come_s ? gone_s : come_s + 1, (uint32_t)i};
		p.pod_ixs[i] = BT_NO_POD;
	}
	if (trace->pod_n) {
		qsort(p.departures, trace->pod_n, sizeof(*p.departures), by_time);
	}
	run->trace_begin_s = run->trace_end_s = next_moment(&p) == INT64_MAX ? 0 : next_moment(&p);
	run->terminate = terminate;
	run->terminate_context = &p;
	for (int64_t now_s = next_moment(&p);
		now_s != INT64_MAX && now_s <= until_s && !bt_interrupt_pending(); now_s = next_moment(&p)) {
		pass_time(run, now_s);
		/* What leaves at a moment makes room for what comes at it. */
		while (p.gone < trace->pod_n && p.departures[p.gone].at_s == now_s) {
			depart(&p, p.departures[p.gone++].pod);
		}
		while (p.eviction_n && p.evictions[0].at_s == now_s) {
			end_eviction(&p);
		}
		while (p.come < trace->pod_n && trace->pods[p.come].create_s == now_s) {
			arrive(&p, p.come++);
		}
		bt_run_queue(run);
	}
	pass_time(run, until_s == INT64_MAX ? run->trace_end_s : until_s);
	run->terminate = NULL;
	bt_mem_free(p.departures);
	bt_mem_free(p.pod_ixs);
	bt_mem_free(p.trace_pods);
	bt_mem_free(p.evictions);
}

void bt_run_fini(struct bt_run *run)
{
	bt_buf_fini(&run->line);
	bt_buf_fini(&run->key);
	bt_buf_fini(&run->group_text);
	bt_mem_free(run->notes);
	for (size_t i = 0; i < run->message_n; i++) {
		bt_buf_fini(&run->messages[i].text);
	}
	bt_mem_free(run->messages);
	bt_mem_free(run->victims);
	bt_explanation_fini(&run->explanation);
}
