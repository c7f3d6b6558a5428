/* SPDX-License-Identifier: Apache-2.0
 * A binding, until its outcome is certain (I2). A lost call may still take effect, so a pod is not reported
 * as unbound because nobody saw it bound: the same binding is sent again, which the server refuses when the
 * pod is on a node and then names the node.
 *
 *                 +--later-- 5xx, unsent, lost ---+
 *                 v                               |
 *   begin ------> POST --201----------------------+----------------------------------> bound
 *                 |  \--404, 409 with the node ------------------------------> bound, failed
 *                 |   \-400, 403, 422: sure -------------------------------------> failed
 *                 v     \ unsure, or 409 without --> GET --> its node ------> bound, failed
 *               too late: unsure, left to check              +-- none, twice ---> failed
 *
 * An extender that binds the pod is called instead of POST; when it fails and is ignorable, POST follows.
 */
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/kube/report/api_call.h"
#include "tools/cluster/write/proto.h"
#include "tools/cluster/write/writer_int.h"

/* How long a call without an answer may still be in progress in the server, before each of two reads. */
#define CONFIRM_NS (2 * BT_WRITE_S)
#define CONFIRMS   2

enum { POST = 0, CONFIRM, EXTENDED };

/* ---- ends ---- */

static void bind_end(struct bt_writer *writer, struct bt_write_op *op)
{
	if (op->verbs != &bt_check_verbs) {
		bt_map_remove(&writer->bindings, op->number);
	}
	if (op->has_volumes) {
		bt_sub_relaxed(&writer->volume_n, UINT64_C(1));
	}
	bt_write_op_end(op);
}

void bt_bind_answer(struct bt_writer *writer, struct bt_write_op *op, bool bound, struct bt_str reason)
{
	struct bt_binding_answer answer = {.bound = bound, .reason = reason};

	answer.claim_n = bt_prebind_written(writer, op, &answer.claims);
	if (bound) {
		BT_WRITE_COUNT(writer, bound_n);
	} else {
		BT_WRITE_COUNT(writer, failed_n);
	}
	bt_pipeline_answer(writer->pipeline, op->handle, &answer);
}

static void bound(struct bt_writer *writer, struct bt_write_op *op)
{
	struct bt_api_cycle cycle = {.pod = &op->known.pod, .end = BT_CYCLE_PLACED, .node = op->node};

	bt_bind_answer(writer, op, true, (struct bt_str){.len = 0});
	bt_write_report(writer, &cycle);
	bind_end(writer, op);
}

/* Upstream's cycle ends in an error then; nothing is reported for a pod that is deleted or bound. */
static void report_failure(struct bt_writer *writer, const struct bt_write_op *op, struct bt_str message)
{
	struct bt_stored_pod known;

	if (message.len) {
		bt_write_log_error(&writer->bind_log_limit, "A pod could not be bound", &op->pod, message);
	}
	if (!message.len || !bt_status_view(writer, &op->pod, &known) || !known.waits) {
		return;
	}
	struct bt_api_cycle cycle = {.pod = &known.pod,
		.end = BT_CYCLE_ERROR,
		.message = message,
		.nomination = BT_NOMINATION_CLEAR};
	bt_write_report(writer, &cycle);
}

void bt_bind_failed(
	struct bt_writer *writer, struct bt_write_op *op, struct bt_str reason, struct bt_str message)
{
	bt_bind_answer(writer, op, false, reason);
	report_failure(writer, op, message);
	bind_end(writer, op);
}

/* silent: no report, because the pod is on another node, or deleted. */
static void bind_fail(struct bt_writer *writer, struct bt_write_op *op, struct bt_str why, bool silent)
{
	struct bt_str message = {.len = 0};

	if (!silent) {
		bt_buf_clear(&writer->body);
		bt_buf_printf(&writer->body, "%s%.*s",
			op->extender ? "" : "running Bind plugin \"DefaultBinder\": ", BT_STR_ARG(why));
		message = bt_buf_view(&writer->body);
	}
	if (!bt_prebind_undo(writer, op, why, message)) {
		bt_bind_failed(writer, op, why, message);
	}
}

static void failed(struct bt_writer *writer, struct bt_write_op *op, struct bt_str why)
{
	bind_fail(writer, op, why, false);
}

/* The pipeline keeps the assumption and checks later. */
static void unsure(struct bt_writer *writer, struct bt_write_op *op)
{
	BT_WRITE_COUNT(writer, unsure_n);
	bt_pipeline_unknown(writer->pipeline, op->handle);
	bind_end(writer, op);
}

/* ---- conflicts ---- */

/* The node that a conflict's message names. */
static bool names_node(struct bt_str message, struct bt_str *out_node)
{
	static const char words[] = "is already assigned to node \"";
	size_t n = sizeof(words) - 1;

	for (size_t i = message.len; i-- > 0;) {
		if (message.len - i > n && memcmp(message.ptr + i, words, n) == 0) {
			*out_node = bt_str_sub(message, i + n, bt_str_find(message, '"', i + n));
			return true;
		}
	}
	return false;
}

static bool contains(struct bt_str text, const char *words)
{
	size_t n = strlen(words);

	for (size_t i = 0; i + n <= text.len; i++) {
		if (memcmp(text.ptr + i, words, n) == 0) {
			return true;
		}
	}
	return false;
}

static void confirm(struct bt_write_op *op, struct bt_str why, int64_t delay_ns)
{
	op->stage = CONFIRM;
	op->reads = true;
	op->reason = bt_write_op_copy(op, why);
	if (delay_ns) {
		bt_write_op_later(op, delay_ns);
	} else {
		bt_write_op_queue_first(op);
	}
}

static void take_conflict(struct bt_writer *writer, struct bt_write_op *op, struct bt_str why)
{
	struct bt_str node;

	if (names_node(why, &node)) {
		/* The server compares the UID first: it is this pod. */
		if (bt_str_eq(node, op->node)) {
			bound(writer, op);
		} else {
			bind_fail(writer, op, why, true);
		}
	} else if (contains(why, "is being deleted") || contains(why, "UID in precondition")) {
		/* A call in flight will be refused for the same reason. */
		bind_fail(writer, op, why, true);
	} else {
		confirm(op, why, 0);
	}
}

/* ---- POST ---- */

static bool request_bind(struct bt_writer *writer, struct bt_write_op *op, struct bt_http_call *out_call)
{
	const struct bt_api_call call = {.verb = BT_API_BIND, .pod = &op->known.pod, .node = op->node};

	*out_call = (struct bt_http_call){.method = BT_HTTP_POST,
		.path = bt_write_pod_path(writer, &op->pod, "/binding"),
		.content_type = bt_str(writer->options.json ? "application/json" : BT_PROTO_TYPE)};
	if (writer->options.json) {
		bt_api_binding_write(&call, &writer->body);
		bt_buf_char(&writer->body, '\n');
	} else {
		/* The server encodes protobuf in a sixth of the time, and little of the answer is read. */
		out_call->accept = bt_str(BT_PROTO_TYPE ",application/json");
		bt_proto_binding(&op->pod, op->node, &writer->body);
	}
	out_call->body = bt_buf_view(&writer->body);
	bt_log(BT_LOG_INFO, 3, "Attempting to bind pod to node",
		bt_log_fields(bt_log_pod(op->pod.namespace_, op->pod.name), bt_log_str("node", op->node)));
	BT_WRITE_COUNT(writer, bind_n);
	return true;
}

/* Context: the thread of the extender's client. */
static void extended(void *context, enum bt_extender_end end, struct bt_str error)
{
	struct bt_write_op *op = context;

	op->extended = end;
	op->reason = bt_write_op_copy(op, error);
	bt_write_op_post(op);
}

/* Sends nothing to the server; the op comes back through the inbox. */
static void call_extender(struct bt_writer *writer, struct bt_write_op *op)
{
	op->stage = EXTENDED;
	op->unsure = true;
	BT_WRITE_COUNT(writer, extender_bind_n);
	writer->options.extender_bind(
		writer->options.extender_context, op->extender, &op->pod, op->node, extended, op);
}

static bool request(struct bt_writer *writer, struct bt_write_op *op, struct bt_http_call *out_call)
{
	if (op->stage == POST && !bt_status_make_way(writer, op)) {
		return false;
	}
	if (op->stage == POST && op->extender) {
		call_extender(writer, op);
		return false;
	}
	if (op->stage == POST) {
		return request_bind(writer, op, out_call);
	}
	*out_call =
		(struct bt_http_call){.method = BT_HTTP_GET, .path = bt_write_pod_path(writer, &op->pod, "")};
	BT_WRITE_COUNT(writer, confirm_n);
	return true;
}

static void again(struct bt_writer *writer, struct bt_write_op *op, struct bt_str why)
{
	op->tries++;
	if (bt_write_now(writer) + bt_write_op_backoff_ns(op) < op->until_ns) {
		bt_write_op_repeat(op);
		bt_write_op_later(op, bt_write_op_backoff_ns(op));
	} else if (op->unsure || op->verbs == &bt_check_verbs) {
		unsure(writer, op);
	} else {
		failed(writer, op, why);
	}
}

static void take_refusal(struct bt_writer *writer, struct bt_write_op *op, uint32_t status, struct bt_str why)
{
	if (status == 404) {
		bind_fail(writer, op, why, true);
	} else if (status == 409) {
		take_conflict(writer, op, why);
	} else if (op->unsure) {
		confirm(op, why, 0);
	} else {
		failed(writer, op, why);
	}
}

static void post_answered(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	struct bt_str why =
		answer->fate == BT_FATE_DONE ? (struct bt_str){.len = 0} : bt_write_message(writer, answer);

	switch (answer->fate) {
	case BT_FATE_DONE:
		bound(writer, op);
		break;
	case BT_FATE_REFUSED:
		take_refusal(writer, op, answer->status, why);
		break;
	case BT_FATE_THROTTLED:
		bt_write_op_queue_first(op);
		break;
	case BT_FATE_SERVER_ERROR:
	case BT_FATE_LOST:
		op->unsure = true;
		again(writer, op, why);
		break;
	case BT_FATE_UNSENT:
		again(writer, op, why);
		break;
	}
}

/* ---- GET ---- */

struct bound_pod {
	struct bt_str uid, node;
};

static void read_member(struct bt_json *json, const char *name, struct bt_str *out)
{
	struct bt_str key;

	for (bool in = bt_json_enter_object(json); in && bt_json_next_key(json, &key);) {
		if (!bt_str_is(key, name)) {
			bt_json_skip(json);
		} else if (!bt_json_string(json, out)) {
			return;
		}
	}
}

/* Returns: false when the text is not a pod. */
static bool read_pod(struct bt_writer *writer, struct bt_str body, struct bound_pod *out)
{
	struct bt_str key;

	*out = (struct bound_pod){.uid = {.len = 0}};
	bt_json_begin(writer->json, body, &writer->scratch);
	for (bool in = bt_json_enter_object(writer->json); in && bt_json_next_key(writer->json, &key);) {
		if (bt_str_is(key, "metadata")) {
			read_member(writer->json, "uid", &out->uid);
		} else if (bt_str_is(key, "spec")) {
			read_member(writer->json, "nodeName", &out->node);
		} else {
			bt_json_skip(writer->json);
		}
	}
	return bt_json_error(writer->json)->status == BT_OK && out->uid.len;
}

/* The pod has no node. */
static void take_unbound(struct bt_writer *writer, struct bt_write_op *op)
{
	uint32_t ix;

	if (op->verbs == &bt_check_verbs && !op->confirmed) {
		op->confirmed = CONFIRMS;
		if (bt_map_get(&writer->bindings, op->number, &ix)) {
			unsure(writer, op); /* a call is in flight */
			return;
		}
		op->stage = POST;
		op->reads = false;
		op->unsure = true;
		bt_write_op_queue(op);
	} else if (op->unsure && ++op->confirmed < CONFIRMS) {
		confirm(op, op->reason, CONFIRM_NS);
	} else {
		failed(writer, op, op->reason);
	}
}

static void take_seen(struct bt_writer *writer, struct bt_write_op *op, const struct bound_pod *seen)
{
	if (!bt_str_eq(seen->uid, op->pod.uid)) {
		bind_fail(writer, op, bt_str("the pod has gone"), true);
	} else if (bt_str_eq(seen->node, op->node)) {
		bound(writer, op);
	} else if (seen->node.len) {
		bind_fail(writer, op, bt_str("the pod is on another node"), true);
	} else {
		take_unbound(writer, op);
	}
}

static void confirm_answered(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	struct bound_pod seen;

	if (answer->fate == BT_FATE_DONE && read_pod(writer, answer->body, &seen)) {
		take_seen(writer, op, &seen);
	} else if (answer->status == 404) {
		bind_fail(writer, op, bt_str("the pod has gone"), true);
	} else if (answer->fate == BT_FATE_REFUSED || answer->fate == BT_FATE_DONE) {
		unsure(writer, op);
	} else {
		op->unsure = true;
		again(writer, op, op->reason);
	}
}

/* ---- an extender's answer ---- */

/* After a lost answer the pod is read, because the extender may have bound it. Source: extendersBinding,
 * v1.36.3. */
static void take_extended(struct bt_writer *writer, struct bt_write_op *op)
{
	op->unsure = op->extended == BT_EXTENDER_LOST;
	if (op->extended == BT_EXTENDER_BOUND) {
		bound(writer, op);
	} else if (op->extender->ignorable) {
		op->extender = NULL;
		op->stage = POST;
		bt_write_op_queue_first(op);
	} else if (op->unsure) {
		confirm(op, op->reason, CONFIRM_NS);
	} else {
		failed(writer, op, op->reason);
	}
}

/* ---- verbs ---- */

static void answered(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	if (op->stage == POST) {
		post_answered(writer, op, answer);
	} else {
		confirm_answered(writer, op, answer);
	}
}

static void begin_bind(struct bt_writer *writer, struct bt_write_op *op)
{
	if (op->stage == EXTENDED) {
		take_extended(writer, op);
		return;
	}
	op->until_ns = bt_write_now(writer) + writer->options.bind_timeout_ns;
	if (writer->options.dry) {
		bt_write_op_goes(op);
		bt_shadow_keep(writer, op);
		return;
	}
	if (op->number) {
		bt_map_put(&writer->bindings, op->number, 1);
	}
	if (op->prebind) {
		bt_prebind_begin(op);
	} else {
		bt_write_op_queue(op);
	}
}

static void begin_check(struct bt_writer *writer, struct bt_write_op *op)
{
	if (op->stage == EXTENDED) {
		take_extended(writer, op);
		return;
	}
	op->until_ns = bt_write_now(writer) + writer->options.bind_timeout_ns;
	if (writer->options.dry) {
		unsure(writer, op);
		return;
	}
	op->stage = CONFIRM;
	op->reads = true;
	bt_write_op_queue(op);
}

static void fenced(struct bt_writer *writer, struct bt_write_op *op)
{
	struct bt_str why = bt_write_fence_reason(writer);

	if (op->verbs == &bt_check_verbs) {
		unsure(writer, op);
	} else if (op->unsure) {
		confirm(op, why, 0);
	} else {
		bt_bind_failed(writer, op, why, (struct bt_str){.len = 0});
	}
}

static void given_up(struct bt_writer *writer, struct bt_write_op *op, bool sent)
{
	if (sent || op->unsure || op->verbs == &bt_check_verbs) {
		BT_WRITE_COUNT(writer, unsure_n);
		bt_pipeline_unknown(writer->pipeline, op->handle);
	} else {
		bt_bind_answer(writer, op, false, bt_str("the scheduler ends"));
	}
}

const struct bt_write_op_verbs bt_bind_verbs = {
	BT_CLASS_BIND, begin_bind, request, answered, fenced, given_up};
const struct bt_write_op_verbs bt_check_verbs = {
	BT_CLASS_BIND, begin_check, request, answered, fenced, given_up};
