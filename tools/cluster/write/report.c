/* SPDX-License-Identifier: Apache-2.0
 * Reports of cycles: events and patches, made from copies of the scheduling thread and from what the API has
 * shown.
 */
#include "engine/base/mem.h"
#include "tools/cluster/write/writer_int.h"

/* ---- on the scheduling thread ---- */

static struct bt_str node_name(const struct bt_cache *cache, uint32_t node_ix)
{
	return node_ix == BT_NO_NODE
		       ? (struct bt_str){.len = 0}
		       : bt_intern_str(cache->dictionary->intern, cache->view.snapshot->nodes[node_ix].name);
}

static struct bt_pod_ref copy_pod(struct bt_write_op *op, const struct bt_cache *cache, uint32_t pod_ix)
{
	const struct bt_pod *pod = bt_ledger_pod(cache->ledger, pod_ix);
	const struct bt_intern *intern = cache->dictionary->intern;
	const struct bt_pod_ref ref = {bt_intern_str(intern, pod->signature->namespace_),
		bt_intern_str(intern, pod->name),
		pod->uid == BT_NAME_NONE ? (struct bt_str){.len = 0} : bt_intern_str(intern, pod->uid)};

	return bt_write_op_copy_ref(op, &ref);
}

static bool has_running_victim(const struct bt_cache *cache, const struct bt_decision *decision)
{
	for (uint32_t i = 0; i < decision->victim_n; i++) {
		if (!bt_ledger_pod(cache->ledger, decision->victims[i].pod_ix)->terminating) {
			return true;
		}
	}
	return false;
}

/* A nomination that the status got during the cycle, or while the pod waited at Permit, is left alone where
 * the engine keeps it. Source: updatePod, which compares with the pod as it was before, v1.35.4. */
static enum bt_nomination nomination_of(struct bt_engine *engine, const struct bt_decision *decision)
{
	const struct bt_ledger *ledger = bt_engine_cache(engine)->ledger;
	enum bt_nomination nomination = bt_nomination_of(decision);
	bool stays = bt_release_has(bt_engine_kubernetes(engine), BT_RULE_CYCLE_CLEARS_KNOWN_NOMINATION) &&
		     bt_ledger_pod(ledger, decision->pod_ix)->status_node != BT_NAME_NONE;

	return nomination == BT_NOMINATION_CLEAR && stays ? BT_NOMINATION_LEAVE : nomination;
}

/* Upstream clears nominations when it evicts in the background, and a victim is left to be evicted. */
static void copy_cycle(struct bt_write_op *op, struct bt_engine *engine, const struct bt_decision *decision,
	struct bt_str message)
{
	const struct bt_cache *cache = bt_engine_cache(engine);

	op->pod = copy_pod(op, cache, decision->pod_ix);
	op->cycle.end = bt_cycle_end_of(decision);
	op->cycle.nomination = nomination_of(engine, decision);
	op->cycle.message = bt_write_op_copy(op, message);
	op->cycle.resizes =
		bt_ledger_pod(cache->ledger, decision->pod_ix)->signature->resize_node != BT_NAME_NONE;
	op->node = bt_write_op_copy(op, node_name(cache, decision->nominated_ix));
	if (!op->writer->options.preempts_in_turn && !has_running_victim(cache, decision)) {
		return;
	}
	op->cleared_nominations = bt_arena_zalloc(
		&op->arena, (decision->cleared_nominations_n + 1) * sizeof(*op->cleared_nominations));
	for (uint32_t i = 0; i < decision->cleared_nominations_n; i++) {
		op->cleared_nominations[i] = copy_pod(op, cache, decision->cleared_nominations[i]);
	}
	op->cleared_nominations_n = decision->cleared_nominations_n;
}

/* Counts the report. Returns: false when too many are open: it is dropped. */
static bool takes_report(struct bt_writer *writer)
{
	if (bt_load_relaxed(&writer->report_n) >= writer->options.reports) {
		bt_add_relaxed(&writer->counts.report_dropped_n, UINT64_C(1));
		return false;
	}
	bt_add_relaxed(&writer->report_n, UINT64_C(1));
	return true;
}

/* The report of a scheduled pod comes with its binding; a pod that only has scheduling gates has the API
 * server's own condition. */
static void on_cycle_ended(void *context, const struct bt_decision *decision,
	const struct bt_queue_info *info, uint32_t nominated, struct bt_str message)
{
	struct bt_writer *writer = context;

	(void)info;
	(void)nominated;
	if (decision->outcome == BT_PLACED || decision->outcome == BT_GATED) {
		return;
	}
	if (!takes_report(writer)) {
		return;
	}
	struct bt_write_op *op = bt_write_op_create(writer, &bt_report_verbs);
	copy_cycle(op, bt_pipeline_engine(writer->pipeline), decision, message);
	bt_write_op_post(op);
}

/* Source: submitPodGroupAlgorithmResult, v1.37.2. */
static void on_group_ended(void *context, const struct bt_group_end *end)
{
	static const char *const reasons[] = {[BT_GROUP_SCHEDULED] = "Scheduled",
		[BT_GROUP_UNSCHEDULABLE] = "Unschedulable",
		[BT_GROUP_WAITS_ON_PREEMPTION] = "Unschedulable",
		[BT_GROUP_ERROR] = "SchedulerError"};
	struct bt_writer *writer = context;
	struct bt_engine *engine = bt_pipeline_engine(writer->pipeline);
	const struct bt_intern *intern = bt_engine_cache(engine)->dictionary->intern;

	if (!takes_report(writer)) {
		return;
	}
	struct bt_write_op *op = bt_write_op_create(writer, &bt_group_report_verbs);
	const struct bt_pod_ref ref = {
		bt_intern_str(intern, end->namespace_), bt_intern_str(intern, end->name), {.len = 0}};

	op->pod = bt_write_op_copy_ref(op, &ref);
	op->status = (struct bt_api_status){.has_condition = true,
		.condition = {.type = bt_str(
				      bt_release_text(bt_engine_kubernetes(engine), BT_TEXT_GROUP_CONDITION)),
			.status = bt_str(end->outcome == BT_GROUP_SCHEDULED ? "True" : "False"),
			.reason = bt_str(reasons[end->outcome]),
			.message = bt_write_op_copy(op, end->message)}};
	bt_write_op_post(op);
}

/* Its node becomes the nominated one. Source: bindingCycle, v1.35.4. */
static void on_waits(void *context, uint32_t pod_ix, uint32_t node_ix)
{
	struct bt_writer *writer = context;
	const struct bt_cache *cache = bt_engine_cache(bt_pipeline_engine(writer->pipeline));

	if (!writer->options.nominates_waiting || !takes_report(writer)) {
		return;
	}
	struct bt_write_op *op = bt_write_op_create(writer, &bt_wait_report_verbs);
	op->pod = copy_pod(op, cache, pod_ix);
	op->node = bt_write_op_copy(op, node_name(cache, node_ix));
	bt_write_op_post(op);
}

static void on_preempted(void *context, uint32_t victim_ix, uint32_t preemptor_ix, uint32_t node_ix)
{
	struct bt_writer *writer = context;
	const struct bt_cache *cache = bt_engine_cache(bt_pipeline_engine(writer->pipeline));

	if (!takes_report(writer)) {
		return;
	}
	struct bt_write_op *op = bt_write_op_create(writer, &bt_rejection_verbs);
	op->pod = copy_pod(op, cache, victim_ix);
	op->other = copy_pod(op, cache, preemptor_ix);
	op->node = bt_write_op_copy(op, node_name(cache, node_ix));
	bt_write_op_post(op);
}

struct bt_pipeline_sink bt_writer_sink(struct bt_writer *writer)
{
	return (struct bt_pipeline_sink){.cycle_ended = on_cycle_ended,
		.group_ended = on_group_ended,
		.waits = on_waits,
		.preempted = on_preempted,
		.context = writer};
}

/* ---- on the writer's thread ---- */

void bt_write_report(struct bt_writer *writer, struct bt_api_cycle *cycle)
{
	cycle->host = bt_str(writer->host);
	cycle->now_s = bt_write_wall(writer) / BT_WRITE_S;
	bt_api_calls_of(cycle, &writer->calls);
	for (size_t i = 0; i < writer->calls.n; i++) {
		const struct bt_api_call *call = &writer->calls.items[i];

		if (call->verb == BT_API_EVENT) {
			bt_event_recorder_add(writer->events, call);
		} else if (call->verb == BT_API_PATCH_STATUS && call->caller != BT_API_SERVER) {
			bt_status_add(writer, call);
		}
	}
}

/* The pods whose nominations to the node are cleared, as the API has them. */
static void find_cleared_pods(struct bt_writer *writer, struct bt_write_op *op)
{
	const struct bt_api_pod **cleared =
		bt_arena_zalloc(&writer->scratch, (op->cleared_nominations_n + 1) * sizeof(*cleared));

	for (uint32_t i = 0; i < op->cleared_nominations_n; i++) {
		struct bt_stored_pod *known = bt_arena_zalloc(&writer->scratch, sizeof(*known));

		if (bt_status_view(writer, &op->cleared_nominations[i], known) && known->waits) {
			cleared[op->cycle.cleared_nominations_n++] = &known->pod;
		}
	}
	op->cycle.cleared_nominations = cleared;
}

/* Victims are reported when they are evicted, so the cycle has none here. */
static void report_cycle(struct bt_writer *writer, struct bt_write_op *op)
{
	struct bt_stored_pod known;

	if (writer->options.dry || !bt_status_view(writer, &op->pod, &known) ||
		!(known.waits || op->cycle.resizes)) {
		return;
	}
	op->cycle.pod = &known.pod;
	op->cycle.node = op->node;
	op->cycle.preempts_in_turn = true; /* so that nominations are cleared without victims */
	find_cleared_pods(writer, op);
	bt_write_report(writer, &op->cycle);
}

static void write_report_begin(struct bt_writer *writer, struct bt_write_op *op)
{
	bt_sub_relaxed(&writer->report_n, UINT64_C(1));
	report_cycle(writer, op);
	bt_write_op_end(op);
}

static void given_up(struct bt_writer *writer, struct bt_write_op *op, bool sent)
{
	(void)writer;
	(void)op;
	(void)sent;
}

const struct bt_write_op_verbs bt_report_verbs = {
	.class = BT_CLASS_STATUS, .begin = write_report_begin, .given_up = given_up};

static void write_group_report_begin(struct bt_writer *writer, struct bt_write_op *op)
{
	struct bt_stored_pod known;

	bt_sub_relaxed(&writer->report_n, UINT64_C(1));
	if (!writer->options.dry &&
		bt_pod_store_get(writer->known_groups, &op->pod, &writer->scratch, &known)) {
		op->status.condition.transition_s = bt_write_wall(writer) / BT_WRITE_S;
		bt_status_add(
			writer, &(struct bt_api_call){
					.verb = BT_API_PATCH_GROUP, .pod = &known.pod, .status = op->status});
	}
	bt_write_op_end(op);
}

static void write_wait_report_begin(struct bt_writer *writer, struct bt_write_op *op)
{
	struct bt_stored_pod known;

	bt_sub_relaxed(&writer->report_n, UINT64_C(1));
	if (!writer->options.dry && bt_status_view(writer, &op->pod, &known) && known.waits) {
		struct bt_api_cycle cycle = {.pod = &known.pod, .end = BT_CYCLE_WAITS, .node = op->node};

		bt_write_report(writer, &cycle);
	}
	bt_write_op_end(op);
}

const struct bt_write_op_verbs bt_wait_report_verbs = {
	.class = BT_CLASS_STATUS, .begin = write_wait_report_begin, .given_up = given_up};
const struct bt_write_op_verbs bt_group_report_verbs = {
	.class = BT_CLASS_STATUS, .begin = write_group_report_begin, .given_up = given_up};
