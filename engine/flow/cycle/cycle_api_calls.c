/* SPDX-License-Identifier: Apache-2.0
 * A cycle's calls to the API server.
 */
#include "engine/flow/cycle/cycle_api_calls.h"

#include "engine/base/buf.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"

enum bt_cycle_end bt_cycle_end_of(const struct bt_decision *decision)
{
	switch (decision->outcome) {
	case BT_PLACED:
		return BT_CYCLE_PLACED;
	case BT_REFUSED:
		return BT_CYCLE_UNSCHEDULABLE;
	case BT_FAILED:
		return BT_CYCLE_ERROR;
	case BT_GATED:
		return BT_CYCLE_GATED;
	case BT_SKIPPED:
		break;
	}
	return BT_CYCLE_DELETING;
}

enum bt_nomination bt_nomination_of(const struct bt_decision *decision)
{
	if (decision->outcome == BT_FAILED) {
		return BT_NOMINATION_CLEAR;
	}
	if (decision->outcome != BT_REFUSED) {
		return BT_NOMINATION_LEAVE;
	}
	switch (decision->preempt) {
	case BT_PREEMPT_FOUND:
		return BT_NOMINATION_SET;
	case BT_PREEMPT_NOWHERE:
		return BT_NOMINATION_CLEAR;
	case BT_PREEMPT_INELIGIBLE:
	case BT_PREEMPT_FAILED:
		break;
	}
	return BT_NOMINATION_LEAVE;
}

static struct bt_str cycle_api_calls_keep(struct bt_api_calls *calls, struct bt_buf *buf)
{
	struct bt_str text = {bt_arena_copy(&calls->arena, buf->ptr ? buf->ptr : "", buf->len), buf->len};

	bt_buf_fini(buf);
	return text;
}

static struct bt_str BT_PRINTF(2, 3) text_of(struct bt_api_calls *calls, const char *format, ...)
{
	struct bt_buf buf = {.len = 0};
	va_list args;

	va_start(args, format);
	bt_buf_vprintf(&buf, format, args);
	va_end(args);
	return cycle_api_calls_keep(calls, &buf);
}

static struct bt_api_call *cycle_api_calls_add(
	struct bt_api_calls *calls, enum bt_api_verb verb, const struct bt_api_pod *pod)
{
	calls->items = bt_mem_grow(calls->items, calls->n, &calls->cap, sizeof(*calls->items));
	calls->items[calls->n] = (struct bt_api_call){.verb = verb, .pod = pod};
	return &calls->items[calls->n++];
}

/* Events are reported by the scheduler of the cycle's pod. */
static struct bt_api_event *add_event(
	struct bt_api_calls *calls, const struct bt_api_cycle *cycle, const struct bt_api_pod *pod)
{
	struct bt_api_event *event = &cycle_api_calls_add(calls, BT_API_EVENT, pod)->event;

	event->reporting_controller = cycle->pod->scheduler_name;
	event->reporting_instance =
		text_of(calls, "%.*s-%.*s", BT_STR_ARG(cycle->pod->scheduler_name), BT_STR_ARG(cycle->host));
	return event;
}

const struct bt_pod_condition *bt_api_condition(const struct bt_api_pod *pod, struct bt_str type)
{
	for (uint32_t i = 0; i < pod->condition_n; i++) {
		if (bt_str_eq(pod->conditions[i].type, type)) {
			return &pod->conditions[i];
		}
	}
	return NULL;
}

/* Sets the time of the transition, which is kept while the status does not change. Returns: whether the
 * condition has changed; a new generation alone is no change. */
static bool renews(const struct bt_api_pod *pod, struct bt_pod_condition *condition, int64_t now_s)
{
	const struct bt_pod_condition *old = bt_api_condition(pod, condition->type);

	condition->observed_generation = pod->generation;
	condition->transition_s = now_s;
	if (!old || !bt_str_eq(old->status, condition->status)) {
		return true;
	}
	condition->transition_s = old->transition_s;
	return !bt_str_eq(old->reason, condition->reason) || !bt_str_eq(old->message, condition->message);
}

/* Patches condition and nomination in one call, or makes no call when neither changes. */
static struct bt_api_call *patch(struct bt_api_calls *calls, const struct bt_api_cycle *cycle,
	const struct bt_api_pod *pod, const struct bt_pod_condition *condition, enum bt_nomination nomination,
	struct bt_str node)
{
	struct bt_api_status status = {.nomination = BT_NOMINATION_LEAVE};
	bool changes = false;
	struct bt_api_call *call;

	BT_REQUIRE(nomination != BT_NOMINATION_SET || node.len);
	if (condition) {
		status.has_condition = true;
		status.condition = *condition;
		changes = renews(pod, &status.condition, cycle->now_s);
	}
	if ((nomination == BT_NOMINATION_CLEAR && pod->nominated_node_name.len) ||
		(nomination == BT_NOMINATION_SET && !bt_str_eq(pod->nominated_node_name, node))) {
		status.nomination = nomination;
		status.nominated_node_name =
			nomination == BT_NOMINATION_SET ? node : (struct bt_str){.len = 0};
		changes = true;
	}
	if (!changes) {
		return NULL;
	}
	call = cycle_api_calls_add(calls, BT_API_PATCH_STATUS, pod);
	call->status = status;
	return call;
}

static void add_placed(const struct bt_api_cycle *cycle, struct bt_api_calls *calls)
{
	const struct bt_pod_condition scheduled = {.type = bt_str("PodScheduled"), .status = bt_str("True")};
	struct bt_api_call *call;
	struct bt_api_event *event;

	cycle_api_calls_add(calls, BT_API_BIND, cycle->pod)->node = cycle->node;
	call = patch(calls, cycle, cycle->pod, &scheduled, BT_NOMINATION_CLEAR, (struct bt_str){.len = 0});
	if (call) {
		call->caller = BT_API_SERVER;
		call->status.condition.observed_generation = 0;
	}
	event = add_event(calls, cycle, cycle->pod);
	event->reason = "Scheduled";
	event->action = "Binding";
	event->note = text_of(calls, "Successfully assigned %.*s/%.*s to %.*s",
		BT_STR_ARG(cycle->pod->namespace_), BT_STR_ARG(cycle->pod->name), BT_STR_ARG(cycle->node));
}

/* A longer note is truncated, even within a character. */
static struct bt_str note_of(struct bt_api_calls *calls, struct bt_str message)
{
	static const char suffix[] = " ...";

	if (message.len <= BT_CLUSTER_EVENT_NOTE_BYTES) {
		return text_of(calls, "%.*s", BT_STR_ARG(message));
	}
	message = bt_str_sub(message, 0, BT_CLUSTER_EVENT_NOTE_BYTES - (sizeof(suffix) - 1));
	return text_of(calls, "%.*s%s", BT_STR_ARG(message), suffix);
}

/* Source: handleSchedulingFailure, v1.37.2, for a pod whose resize waits for room. */
static void add_failure(const struct bt_api_cycle *cycle, struct bt_api_calls *calls)
{
	if (cycle->resizes) {
		return;
	}
	const struct bt_pod_condition condition = {.type = bt_str("PodScheduled"),
		.status = bt_str("False"),
		.reason = bt_str(cycle->end == BT_CYCLE_ERROR ? "SchedulerError" : "Unschedulable"),
		.message = text_of(calls, "%.*s", BT_STR_ARG(cycle->message))};
	struct bt_api_event *event = add_event(calls, cycle, cycle->pod);

	event->warning = true;
	event->reason = "FailedScheduling";
	event->action = "Scheduling";
	event->note = note_of(calls, cycle->message);
	patch(calls, cycle, cycle->pod, &condition, cycle->nomination, cycle->node);
}

static void add_victim(
	const struct bt_api_cycle *cycle, const struct bt_api_victim *victim, struct bt_api_calls *calls)
{
	const char *kind = !cycle->group ? "pod" : cycle->group->composite ? "compositepodgroup" : "podgroup";
	const struct bt_api_pod *preemptor = cycle->group ? cycle->group : cycle->pod;
	struct bt_str node = cycle->group ? bt_str(BT_GROUP_DOMAIN) : cycle->node;
	struct bt_api_event *event;

	if (!victim->in_memory && !victim->rejected) {
		const struct bt_pod_condition target = {.type = bt_str("DisruptionTarget"),
			.status = bt_str("True"),
			.reason = bt_str("PreemptionByScheduler"),
			.message = text_of(calls, "%.*s: preempting to accommodate a higher priority %s",
				BT_STR_ARG(cycle->pod->scheduler_name), kind)};

		patch(calls, cycle, victim->pod, &target, BT_NOMINATION_LEAVE, (struct bt_str){.len = 0});
		cycle_api_calls_add(calls, BT_API_DELETE, victim->pod);
	}
	event = add_event(calls, cycle, victim->pod);
	event->reason = "Preempted";
	event->action = "Preempting";
	event->note = text_of(calls, "Preempted by %s %.*s on node %.*s%s", kind, BT_STR_ARG(preemptor->uid),
		BT_STR_ARG(node), victim->in_memory ? " (in kube-scheduler memory)." : "");
	event->related = preemptor;
}

static void add_victims(const struct bt_api_cycle *cycle, struct bt_api_calls *calls)
{
	for (uint32_t i = 0; i < cycle->victim_n; i++) {
		if (!cycle->victims[i].terminating) {
			add_victim(cycle, &cycle->victims[i], calls);
		}
	}
}

static bool all_terminate(const struct bt_api_cycle *cycle)
{
	for (uint32_t i = 0; i < cycle->victim_n; i++) {
		if (!cycle->victims[i].terminating) {
			return false;
		}
	}
	return true;
}

static void add_cleared_nominations(const struct bt_api_cycle *cycle, struct bt_api_calls *calls)
{
	for (uint32_t i = 0; i < cycle->cleared_nominations_n; i++) {
		patch(calls, cycle, cycle->cleared_nominations[i], NULL, BT_NOMINATION_CLEAR,
			(struct bt_str){.len = 0});
	}
}

static void add_refused(const struct bt_api_cycle *cycle, struct bt_api_calls *calls)
{
	if (cycle->preempts_in_turn) {
		add_victims(cycle, calls);
		add_cleared_nominations(cycle, calls);
		add_failure(cycle, calls);
		return;
	}
	add_failure(cycle, calls);
	if (!all_terminate(cycle)) {
		add_cleared_nominations(cycle, calls);
		add_victims(cycle, calls);
	}
}

static void add_gated(const struct bt_api_cycle *cycle, struct bt_api_calls *calls)
{
	const struct bt_pod_condition gated = {.type = bt_str("PodScheduled"),
		.status = bt_str("False"),
		.reason = bt_str("SchedulingGated"),
		.message = bt_str("Scheduling is blocked due to non-empty scheduling gates")};
	struct bt_api_call *call;

	if (bt_api_condition(cycle->pod, gated.type)) {
		return;
	}
	call = patch(calls, cycle, cycle->pod, &gated, BT_NOMINATION_LEAVE, (struct bt_str){.len = 0});
	call->caller = BT_API_SERVER;
	call->status.condition.observed_generation = 0;
}

static void add_deleting(const struct bt_api_cycle *cycle, struct bt_api_calls *calls)
{
	struct bt_api_event *event = add_event(calls, cycle, cycle->pod);

	event->warning = true;
	event->reason = "FailedScheduling";
	event->action = "Scheduling";
	event->note = text_of(calls, "skip schedule deleting pod: %.*s/%.*s",
		BT_STR_ARG(cycle->pod->namespace_), BT_STR_ARG(cycle->pod->name));
}

/* Source: addConditionAndDeletePod, emitPodDeletionEvent, pkg/controller/tainteviction, v1.37.2. */
static void add_tainted(const struct bt_api_cycle *cycle, struct bt_api_calls *calls)
{
	const struct bt_pod_condition target = {.type = bt_str("DisruptionTarget"),
		.status = bt_str("True"),
		.reason = bt_str("DeletionByTaintManager"),
		.message = bt_str("Taint manager: deleting due to NoExecute taint")};
	struct bt_api_event *event = add_event(calls, cycle, cycle->pod);

	event->reporting_controller = event->reporting_instance = bt_str("taint-eviction-controller");
	event->reason = "TaintManagerEviction";
	event->action = "";
	event->note = text_of(calls, "Marking for deletion Pod %.*s/%.*s", BT_STR_ARG(cycle->pod->namespace_),
		BT_STR_ARG(cycle->pod->name));
	patch(calls, cycle, cycle->pod, &target, BT_NOMINATION_LEAVE, (struct bt_str){.len = 0});
	cycle_api_calls_add(calls, BT_API_DELETE, cycle->pod);
	for (size_t i = 0; i < calls->n; i++) {
		calls->items[i].caller = BT_API_TAINT_EVICTION;
	}
}

void bt_api_calls_of(const struct bt_api_cycle *cycle, struct bt_api_calls *out_calls)
{
	bt_arena_reset(&out_calls->arena);
	out_calls->n = 0;
	switch (cycle->end) {
	case BT_CYCLE_PLACED:
		add_placed(cycle, out_calls);
		break;
	case BT_CYCLE_UNSCHEDULABLE:
	case BT_CYCLE_ERROR:
		add_refused(cycle, out_calls);
		break;
	case BT_CYCLE_DELETING:
		add_deleting(cycle, out_calls);
		break;
	case BT_CYCLE_GATED:
		add_gated(cycle, out_calls);
		break;
	case BT_CYCLE_WAITS: /* Source: bindingCycle, gate NominatedNodeNameForExpectation, v1.35.4. */
		patch(out_calls, cycle, cycle->pod, NULL, BT_NOMINATION_SET, cycle->node);
		break;
	case BT_CYCLE_TAINTED:
		add_tainted(cycle, out_calls);
		break;
	}
}

void bt_api_calls_fini(struct bt_api_calls *calls)
{
	bt_mem_free(calls->items);
	bt_arena_fini(&calls->arena);
	*calls = (struct bt_api_calls){.n = 0};
}
