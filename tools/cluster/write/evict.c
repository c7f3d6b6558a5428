/* SPDX-License-Identifier: Apache-2.0
 * A victim of preemption: the condition DisruptionTarget, then its deletion by UID, then the event. Both
 * calls may be repeated without harm. Source: framework/preemption/executor.go, v1.36.3.
 *
 *   begin --> TARGET --2xx, nothing to change--> DELETE --2xx--> evicted
 *                 \--404--------------------------------\--404, another UID--> evicted, no event
 *
 * The last victim of a preemption waits for the others, and is spared when one of them stays: its eviction
 * would be useless. Where preemption is not asynchronous all are evicted in parallel, as by upstream's
 * prepareCandidate.
 */
#include "engine/base/mem.h"
#include "engine/base/quote.h"
#include "engine/model/kind.h"
#include "tools/kube/report/api_call.h"
#include "tools/cluster/write/writer_int.h"

enum { TARGET = 0, DELETE };

/* Limit of preemptions; beyond that, those whose last victim never arrived are dropped. */
#define PREEMPTIONS_MAX 1024

/* ---- the victims of one preemption ---- */

static struct bt_preemption_now *preemption_of(struct bt_writer *writer, uint64_t number)
{
	for (size_t i = 0; i < writer->preemption_n; i++) {
		if (writer->preemptions[i].number == number) {
			return &writer->preemptions[i];
		}
	}
	return NULL;
}

static void forget(struct bt_writer *writer, struct bt_preemption_now *preemption)
{
	*preemption = writer->preemptions[--writer->preemption_n];
}

static struct bt_preemption_now *remember(struct bt_writer *writer, uint64_t number)
{
	struct bt_preemption_now *found = preemption_of(writer, number);

	if (found) {
		return found;
	}
	for (size_t i = 0; writer->preemption_n == PREEMPTIONS_MAX && i < PREEMPTIONS_MAX; i++) {
		if (!writer->preemptions[i].last) {
			forget(writer, &writer->preemptions[i]);
			break;
		}
	}
	writer->preemptions = bt_mem_grow(writer->preemptions, writer->preemption_n, &writer->preemption_cap,
		sizeof(*writer->preemptions));
	found = &writer->preemptions[writer->preemption_n++];
	*found = (struct bt_preemption_now){.number = number};
	return found;
}

static void failed(struct bt_writer *writer, struct bt_write_op *op, struct bt_str why);

/* Queues the last victim once all others are gone, or spares it. */
static void settle(struct bt_writer *writer, struct bt_preemption_now *preemption)
{
	struct bt_write_op *last = preemption->last;
	bool spared = preemption->failed;

	if (!last || preemption->over_n < last->after_n) {
		return;
	}
	forget(writer, preemption);
	last->after_n = 0;
	last->preemption = 0;
	if (spared) {
		failed(writer, last, bt_str("another victim of the preemption could not be deleted"));
	} else {
		bt_write_op_queue(last);
	}
}

static void note_over(struct bt_writer *writer, uint64_t number, bool gone)
{
	if (!number || writer->options.preempts_in_turn) {
		return;
	}
	struct bt_preemption_now *preemption = remember(writer, number);

	preemption->over_n++;
	preemption->failed |= !gone;
	settle(writer, preemption);
}

/* ---- one victim ---- */

/* The group that preempts, or NULL. The store has PodGroups alone. */
static const struct bt_api_pod *group_of(struct bt_writer *writer, const struct bt_write_op *op)
{
	const struct bt_pod_ref ref = {op->group.namespace_, op->group.name, {.len = 0}};

	if (!op->group.name.len) {
		return NULL;
	}
	struct bt_stored_pod *group = bt_arena_zalloc(&writer->scratch, sizeof(*group));
	bt_pod_store_get(writer->known_groups, &ref, &writer->scratch, group);
	group->pod.uid = op->group.uid;
	group->pod.group_version = group->pod.scheduler_name; /* where the store keeps it */
	if (op->for_tree) {
		group->pod = (struct bt_api_pod){.namespace_ = op->group.namespace_,
			.name = op->group.name,
			.uid = op->group.uid,
			.group_version = bt_kind_api_version(bt_kind_info(BT_KIND_COMPOSITE_POD_GROUP)),
			.composite = true};
	}
	return &group->pod;
}

/* Makes the patch and the event of this victim. Valid until the next calls are made. */
static void make_calls(struct bt_writer *writer, struct bt_write_op *op, const struct bt_api_call **out_patch,
	const struct bt_api_call **out_event)
{
	const bool rejected = op->verbs == &bt_rejection_verbs;
	struct bt_stored_pod *preemptor = bt_arena_zalloc(&writer->scratch, sizeof(*preemptor));
	struct bt_stored_pod *pod = bt_arena_zalloc(&writer->scratch, sizeof(*pod));

	bt_pod_store_get(writer->known, &op->pod, &writer->scratch, pod);
	bt_pod_store_get(writer->known, &op->other, &writer->scratch, preemptor);
	if (!preemptor->pod.scheduler_name.len) {
		preemptor->pod.scheduler_name = bt_str("default-scheduler");
	}
	const struct bt_api_victim victim = {.pod = &pod->pod, .rejected = rejected};
	const struct bt_api_cycle cycle = {.pod = &preemptor->pod,
		.end = BT_CYCLE_UNSCHEDULABLE,
		.node = op->node,
		.victims = &victim,
		.victim_n = 1,
		.group = group_of(writer, op),
		.preempts_in_turn = true,
		.host = bt_str(writer->host),
		.now_s = bt_write_wall(writer) / BT_WRITE_S};
	bt_api_calls_of(&cycle, &writer->calls);
	*out_patch = *out_event = NULL;
	for (size_t i = 0; i < writer->calls.n; i++) {
		const struct bt_api_call *call = &writer->calls.items[i];

		if (call->pod == victim.pod && call->verb == BT_API_PATCH_STATUS) {
			*out_patch = call;
		} else if (call->pod == victim.pod && call->verb == BT_API_EVENT) {
			*out_event = call;
		}
	}
}

/* With kube-scheduler's message and level. Source: framework/preemption/executor.go, v1.36.3. */
static void log_evicted(const struct bt_write_op *op, bool by_us)
{
	bt_log(BT_LOG_INFO, 2, by_us ? "Preemptor Pod preempted victim Pod" : "Victim Pod is already deleted",
		bt_log_fields(bt_log_object("preemptor", op->other.namespace_, op->other.name),
			bt_log_object("victim", op->pod.namespace_, op->pod.name),
			bt_log_str("node", op->node)));
}

static void evicted(struct bt_writer *writer, struct bt_write_op *op, bool by_us)
{
	const struct bt_api_call *patch, *event;

	uint64_t preemption = op->preemption;

	bt_pipeline_evicted(writer->pipeline, op->handle);
	log_evicted(op, by_us);
	if (by_us) {
		make_calls(writer, op, &patch, &event);
		bt_event_recorder_add(writer->events, event);
	}
	bt_write_op_end(op);
	note_over(writer, preemption, true);
}

static void failed(struct bt_writer *writer, struct bt_write_op *op, struct bt_str why)
{
	uint64_t preemption = op->preemption;

	BT_WRITE_COUNT(writer, evict_failed_n);
	if (!writer->options.dry) {
		bt_write_log_error(&writer->evict_log_limit, "A victim could not be deleted", &op->pod, why);
	}
	bt_pipeline_evict_failed(writer->pipeline, op->handle, why);
	bt_write_op_end(op);
	note_over(writer, preemption, false);
}

static void evict_begin(struct bt_writer *writer, struct bt_write_op *op)
{
	BT_WRITE_COUNT(writer, evict_n);
	if (writer->options.dry) {
		bt_write_op_later(op, BT_SHADOW_WAIT_NS);
	} else if (op->after_n && !writer->options.preempts_in_turn) {
		struct bt_preemption_now *preemption = remember(writer, op->preemption);

		preemption->last = op;
		settle(writer, preemption);
	} else {
		bt_write_op_queue(op);
	}
}

static bool request(struct bt_writer *writer, struct bt_write_op *op, struct bt_http_call *out_call)
{
	const struct bt_api_call *patch, *event;

	if (writer->options.dry) {
		failed(writer, op, bt_str(BT_SHADOW_REASON));
		return false;
	}
	if (op->stage == TARGET) {
		make_calls(writer, op, &patch, &event);
		if (patch) {
			bt_api_patch_write(patch, &writer->body);
			*out_call = (struct bt_http_call){.method = BT_HTTP_PATCH,
				.path = bt_write_pod_path(writer, &op->pod, "/status"),
				.content_type = bt_str("application/strategic-merge-patch+json"),
				.body = bt_buf_view(&writer->body)};
			BT_WRITE_COUNT(writer, patch_n);
			return true;
		}
		op->stage = DELETE;
	}
	bt_buf_text(&writer->body, "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":"
				   "{\"uid\":");
	bt_quote_json(&writer->body, op->pod.uid);
	bt_buf_text(&writer->body, "}}\n");
	*out_call = (struct bt_http_call){.method = BT_HTTP_DELETE,
		.path = bt_write_pod_path(writer, &op->pod, ""),
		.content_type = bt_str("application/json"),
		.body = bt_buf_view(&writer->body)};
	return true;
}

static void answered(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	if (answer->fate == BT_FATE_DONE) {
		if (op->stage == DELETE) {
			evicted(writer, op, true);
			return;
		}
		op->stage = DELETE;
		op->tries = 0;
		bt_write_op_queue_first(op);
	} else if (answer->status == 404 || (op->stage == DELETE && answer->status == 409)) {
		/* A conflict: it is another pod of that name now. */
		evicted(writer, op, false);
	} else if (!bt_write_op_again(op, answer)) {
		failed(writer, op, bt_write_message(writer, answer));
	}
}

static void fenced(struct bt_writer *writer, struct bt_write_op *op)
{
	failed(writer, op, bt_write_fence_reason(writer));
}

static void given_up(struct bt_writer *writer, struct bt_write_op *op, bool sent)
{
	(void)sent;
	BT_WRITE_COUNT(writer, evict_failed_n);
	bt_pipeline_evict_failed(writer->pipeline, op->handle, bt_str("the scheduler ends"));
}

void bt_evict_end(struct bt_writer *writer)
{
	for (size_t i = 0; i < writer->preemption_n; i++) {
		struct bt_write_op *last = writer->preemptions[i].last;

		if (last) {
			given_up(writer, last, false);
			bt_write_op_end(last);
		}
	}
	bt_mem_free(writer->preemptions);
}

const struct bt_write_op_verbs bt_evict_verbs = {
	BT_CLASS_EVICT, evict_begin, request, answered, fenced, given_up};

/* ---- a victim that waited at Permit ---- */

/* Source: PreemptPod, framework/preemption, v1.35.4. */
static void rejection_begin(struct bt_writer *writer, struct bt_write_op *op)
{
	const struct bt_api_call *patch, *event;

	bt_sub_relaxed(&writer->report_n, UINT64_C(1));
	if (!writer->options.dry) {
		make_calls(writer, op, &patch, &event);
		bt_log(BT_LOG_INFO, 2, "Preemptor pod rejected a waiting pod",
			bt_log_fields(bt_log_object("preemptor", op->other.namespace_, op->other.name),
				bt_log_object("waitingPod", op->pod.namespace_, op->pod.name),
				bt_log_str("node", op->node)));
		bt_event_recorder_add(writer->events, event);
	}
	bt_write_op_end(op);
}

static void rejection_given_up(struct bt_writer *writer, struct bt_write_op *op, bool sent)
{
	(void)writer;
	(void)op;
	(void)sent;
}

const struct bt_write_op_verbs bt_rejection_verbs = {
	.class = BT_CLASS_STATUS, .begin = rejection_begin, .given_up = rejection_given_up};
