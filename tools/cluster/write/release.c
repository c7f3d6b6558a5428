/* SPDX-License-Identifier: Apache-2.0
 * Deallocates a ResourceClaim that keeps a pod unschedulable, if it is reserved for no other pod; or deletes
 * it, when it was created for extended resources. Source: PostFilter of DynamicResources, v1.36.3.
 */
#include "tools/cluster/write/prebind_int.h"

#define CLAIMS "/apis/resource.k8s.io/v1"

enum { LOOK = 0, FREE, UNRESERVE, UNFINALIZE, DELETE };

static void released(struct bt_writer *writer, struct bt_write_op *op)
{
	bt_pipeline_evicted(writer->pipeline, op->handle);
	bt_write_op_end(op);
}

static void failed(struct bt_writer *writer, struct bt_write_op *op, struct bt_str why)
{
	bt_pipeline_evict_failed(writer->pipeline, op->handle, why);
	bt_write_op_end(op);
}

static void release_begin(struct bt_writer *writer, struct bt_write_op *op)
{
	if (writer->options.dry) {
		bt_write_op_later(op, BT_SHADOW_WAIT_NS);
		return;
	}
	op->prebind = bt_arena_zalloc(&op->arena, sizeof(*op->prebind));
	op->prebind->claims = bt_arena_zalloc(&op->arena, sizeof(*op->prebind->claims));
	op->prebind->claim_n = 1;
	op->prebind->claims[0].name = op->other.name;
	op->prebind->claims[0].uid = op->other.uid;
	op->prebind->claims[0].group = op->group.name;
	op->prebind->claims[0].group_uid = op->group.uid;
	op->stage = op->deletes ? UNFINALIZE : op->unreserves ? UNRESERVE : LOOK;
	op->reads = op->stage == LOOK;
	bt_write_op_queue(op);
}

static bool request(struct bt_writer *writer, struct bt_write_op *op, struct bt_http_call *out_call)
{
	if (writer->options.dry) {
		failed(writer, op, bt_str(BT_SHADOW_REASON));
		return false;
	}
	const struct bt_prebind_claim *claim = &op->prebind->claims[0];
	struct bt_buf *body = &writer->body;

	out_call->method = op->stage == LOOK ? BT_HTTP_GET : BT_HTTP_PATCH;
	out_call->content_type = bt_str("application/merge-patch+json");
	if (op->stage == FREE) {
		bt_claim_free(claim, body);
	} else if (op->stage == UNRESERVE) {
		bt_claim_unreserve(claim, op->group.uid, body);
		out_call->content_type = bt_str("application/strategic-merge-patch+json");
	} else if (op->stage == UNFINALIZE) {
		bt_claim_finalize(claim, false, body);
	} else if (op->stage == DELETE) {
		bt_claim_delete(claim, body);
		out_call->method = BT_HTTP_DELETE;
		out_call->content_type = bt_str("application/json");
	}
	out_call->path = bt_write_path(writer, CLAIMS, op->other.namespace_, "/resourceclaims/",
		op->other.name, op->stage == FREE || op->stage == UNRESERVE ? "/status" : "");
	out_call->body = bt_buf_view(body);
	return true;
}

static void take_claim(struct bt_writer *writer, struct bt_write_op *op, struct bt_str body)
{
	const struct bt_prebind_claim *claim = &op->prebind->claims[0];
	struct bt_str consumer;
	size_t n = 0;

	if (!bt_claim_read(writer, op, body) || !claim->allocated) {
		released(writer, op); /* it is another claim, or already free */
		return;
	}
	while (bt_json_element(writer, claim->reserved, &n, &consumer)) {
	}
	if (n > 1 || (n == 1 && !claim->is_reserved)) {
		failed(writer, op, bt_str("another pod uses the claim"));
		return;
	}
	op->stage = FREE;
	op->reads = false;
	bt_write_op_queue_first(op);
}

static void answered(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	if (answer->fate == BT_FATE_DONE && op->stage == LOOK) {
		take_claim(writer, op, answer->body);
	} else if (answer->fate == BT_FATE_DONE && op->stage == UNFINALIZE) {
		op->stage = DELETE;
		bt_write_op_queue_first(op);
	} else if (answer->fate == BT_FATE_DONE) {
		BT_WRITE_COUNT(writer, claim_n);
		released(writer, op);
	} else if (answer->status == 404) {
		released(writer, op);
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
	bt_pipeline_evict_failed(writer->pipeline, op->handle, bt_str("the scheduler ends"));
}

const struct bt_write_op_verbs bt_release_verbs = {
	BT_CLASS_EVICT, release_begin, request, answered, fenced, given_up};
