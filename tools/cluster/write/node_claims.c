/* SPDX-License-Identifier: Apache-2.0
 * A pod's status.nodeAllocatableResourceClaimStatuses: patched after its claims, cleared when the binding
 * fails. Source: patchNodeAllocatableResourceClaimStatus, clearNodeAllocatableResourceClaimStatus, v1.37.2
 * and v1.36.3.
 */
#include "engine/base/quote.h"
#include "tools/cli/json_write.h"
#include "tools/cluster/write/prebind_int.h"

#define LIST "nodeAllocatableResourceClaimStatuses"

/* ---- the list ---- */

static void write_text(struct bt_json_writer *json, const char *key, struct bt_str value)
{
	bt_json_write_key(json, key);
	bt_json_write_str(json, value);
}

static void write_quantity(struct bt_json_writer *json, struct bt_quantity quantity)
{
	char text[BT_QUANTITY_TEXT_MAX];
	size_t n = bt_quantity_text(quantity, text);

	bt_json_write_str(json, (struct bt_str){text, n});
}

static void write_resources(struct bt_json_writer *json, const struct bt_resource_list *list)
{
	bt_json_write_key(json, "resources");
	bt_json_write_begin_object(json);
	for (uint32_t i = 0; i < list->n; i++) {
		bt_json_write_key_str(json, list->items[i].name);
		write_quantity(json, list->items[i].quantity);
	}
	bt_json_write_end(json);
}

static void write_mapping(struct bt_json_writer *json, const struct bt_node_claim_object *claim)
{
	if (!claim->mapping_n) {
		return;
	}
	bt_json_write_key(json, "mapping");
	bt_json_write_begin_array(json);
	for (uint32_t i = 0; i < claim->mapping_n; i++) {
		bt_json_write_begin_object(json);
		write_text(json, "name", claim->mapping[i].name);
		bt_json_write_key(json, "quantity");
		write_quantity(json, claim->mapping[i].quantity);
		bt_json_write_end(json);
	}
	bt_json_write_end(json);
}

static void write_overheads(struct bt_json_writer *json, const struct bt_node_claim_object *claim)
{
	if (!claim->overhead_n) {
		return;
	}
	bt_json_write_key(json, "overhead");
	bt_json_write_begin_array(json);
	for (uint32_t i = 0; i < claim->overhead_n; i++) {
		const struct bt_node_overhead_object *overhead = &claim->overheads[i];

		bt_json_write_begin_object(json);
		write_text(json, "name", overhead->name);
		if (overhead->has_per_pod) {
			bt_json_write_key(json, "perPod");
			write_quantity(json, overhead->per_pod);
		}
		if (overhead->has_per_container) {
			bt_json_write_key(json, "perContainer");
			write_quantity(json, overhead->per_container);
		}
		bt_json_write_end(json);
	}
	bt_json_write_end(json);
}

static void write_containers(struct bt_json_writer *json, const struct bt_str_list *containers)
{
	if (!containers->n) {
		return;
	}
	bt_json_write_key(json, "containers");
	bt_json_write_begin_array(json);
	for (uint32_t i = 0; i < containers->n; i++) {
		bt_json_write_str(json, containers->items[i]);
	}
	bt_json_write_end(json);
}

struct bt_str bt_node_claims_copy(struct bt_write_op *op, const struct bt_bind_request *bind_request)
{
	struct bt_buf text = {.len = 0};
	struct bt_json_writer json = {.out = &text};

	if (!bind_request->node_claim_n) {
		return (struct bt_str){.len = 0};
	}
	bt_json_write_begin_array(&json);
	for (uint32_t i = 0; i < bind_request->node_claim_n; i++) {
		const struct bt_node_claim_object *claim = &bind_request->node_claims[i];

		bt_json_write_begin_object(&json);
		write_text(&json, "resourceClaimName", claim->claim);
		write_containers(&json, &claim->containers);
		if (op->writer->options.devices_map_alone) {
			write_resources(&json, &claim->resources);
		} else {
			write_mapping(&json, claim);
			write_overheads(&json, claim);
		}
		bt_json_write_end(&json);
	}
	bt_json_write_end(&json);
	struct bt_str list = bt_write_op_copy(op, bt_buf_view(&text));
	bt_buf_fini(&text);
	return list;
}

/* ---- calls ---- */

/* An API server of 1.37 keeps the list when a patch sets it to null; an empty list clears it. The UID is a
 * precondition. */
static void write_clear(struct bt_writer *writer, const struct bt_write_op *op)
{
	if (writer->options.devices_map_alone) {
		bt_buf_text(&writer->body, "{\"status\":{\"" LIST "\":null}}");
		return;
	}
	bt_buf_text(&writer->body, "{\"metadata\":{\"uid\":");
	bt_quote_json(&writer->body, op->pod.uid);
	bt_buf_text(&writer->body, "},\"status\":{\"" LIST "\":[]}}");
}

void bt_node_claims_request(
	struct bt_writer *writer, const struct bt_write_op *op, struct bt_http_call *out_call)
{
	bool clears = op->stage == BT_PREBIND_CLEAR_NODE_CLAIMS;
	bool merges = clears && !writer->options.devices_map_alone;

	if (clears) {
		write_clear(writer, op);
	} else {
		bt_buf_printf(&writer->body, "{\"status\":{\"" LIST "\":%.*s}}",
			BT_STR_ARG(op->prebind->node_claims));
	}
	*out_call = (struct bt_http_call){.method = BT_HTTP_PATCH,
		.path = bt_write_pod_path(writer, &op->pod, "/status"),
		.content_type = bt_str(
			merges ? "application/merge-patch+json" : "application/strategic-merge-patch+json"),
		.body = bt_buf_view(&writer->body)};
}

/* The patch has no resource version, so that a conflict may be retried. Source:
 * RetriableWithConflict, v1.37.2. */
static bool tries_again(struct bt_write_op *op, const struct bt_answer *answer)
{
	struct bt_answer seen = *answer;

	if (answer->status == 409) {
		seen.fate = BT_FATE_SERVER_ERROR;
	}
	return bt_write_op_again(op, &seen);
}

/* If it fails, the list stays until the pod's next binding. */
static void take_cleared(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	bool has_uid = !writer->options.devices_map_alone; /* then a conflict is final */

	if (answer->fate != BT_FATE_DONE &&
		(has_uid ? bt_write_op_again(op, answer) : tries_again(op, answer))) {
		return;
	}
	if (answer->fate != BT_FATE_DONE && answer->status != 404) {
		bt_write_log_error(&writer->patch_log_limit, "A pod's " LIST " could not be cleared",
			&op->pod, bt_write_message(writer, answer));
	}
	bt_prebind_next(writer, op);
}

void bt_node_claims_answered(struct bt_writer *writer, struct bt_write_op *op, const struct bt_answer *answer)
{
	if (op->prebind->undoes) {
		take_cleared(writer, op, answer);
	} else if (answer->fate == BT_FATE_DONE) {
		bt_prebind_next(writer, op);
	} else if (!tries_again(op, answer)) {
		struct bt_str why = bt_write_message(writer, answer);
		struct bt_buf text = {.len = 0};

		bt_buf_printf(&text, "updating pod %.*s/%.*s NodeAllocatableResourceClaimStatuses: %.*s",
			BT_STR_ARG(op->pod.namespace_), BT_STR_ARG(op->pod.name), BT_STR_ARG(why));
		bt_prebind_fail(writer, op, "DynamicResources", bt_buf_view(&text));
		bt_buf_fini(&text);
	}
}
