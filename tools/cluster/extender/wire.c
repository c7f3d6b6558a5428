/* SPDX-License-Identifier: Apache-2.0
 * The JSON of extender/v1.
 */
#include "tools/cluster/extender/wire_int.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/base/quote.h"
#include "tools/format/schema.h"
#include "tools/kube/config/json_error.h"

/* ---- requests ---- */

/* An array of strings, or of JSON texts. */
static void add_array(const struct bt_str *items, uint32_t n, bool quoted, struct bt_buf *out)
{
	bt_buf_char(out, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (i) {
			bt_buf_char(out, ',');
		}
		if (quoted) {
			bt_quote_json(out, items[i]);
		} else {
			bt_buf_str(out, items[i]);
		}
	}
	bt_buf_char(out, ']');
}

void bt_wire_args(
	struct bt_str pod, const struct bt_str *nodes, uint32_t node_n, bool by_name, struct bt_buf *out)
{
	bt_buf_text(out, "{\"Pod\":");
	bt_buf_str(out, pod);
	if (by_name) {
		bt_buf_text(out, ",\"Nodes\":null,\"NodeNames\":");
		add_array(nodes, node_n, true, out);
	} else {
		bt_buf_text(out, ",\"Nodes\":{\"metadata\":{},\"items\":");
		add_array(nodes, node_n, false, out);
		bt_buf_text(out, "},\"NodeNames\":null");
	}
	bt_buf_char(out, '}');
}

static void add_candidate(const struct bt_wire_candidate *candidate, bool by_uid, struct bt_buf *out)
{
	bt_quote_json(out, candidate->node);
	bt_buf_text(out, ":{\"Pods\":");
	if (by_uid) {
		bt_buf_char(out, '[');
		for (uint32_t i = 0; i < candidate->victim_n; i++) {
			bt_buf_text(out, i ? ",{\"UID\":" : "{\"UID\":");
			bt_quote_json(out, candidate->victims[i]);
			bt_buf_char(out, '}');
		}
		bt_buf_char(out, ']');
	} else {
		add_array(candidate->victims, candidate->victim_n, false, out);
	}
	bt_buf_printf(out, ",\"NumPDBViolations\":%" PRId64 "}", candidate->violation_n);
}

void bt_wire_preempt_args(struct bt_str pod, const struct bt_wire_candidate *candidates, uint32_t candidate_n,
	bool by_uid, struct bt_buf *out)
{
	bt_buf_text(out, "{\"Pod\":");
	bt_buf_str(out, pod);
	bt_buf_text(out, by_uid ? ",\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{"
				: ",\"NodeNameToVictims\":{");
	for (uint32_t i = 0; i < candidate_n; i++) {
		if (i) {
			bt_buf_char(out, ',');
		}
		add_candidate(&candidates[i], by_uid, out);
	}
	bt_buf_text(out, by_uid ? "}}" : "},\"NodeNameToMetaVictims\":null}");
}

void bt_wire_binding_args(const struct bt_pod_ref *pod, struct bt_str node, struct bt_buf *out)
{
	bt_buf_text(out, "{\"PodName\":");
	bt_quote_json(out, pod->name);
	bt_buf_text(out, ",\"PodNamespace\":");
	bt_quote_json(out, pod->namespace_);
	bt_buf_text(out, ",\"PodUID\":");
	bt_quote_json(out, pod->uid);
	bt_buf_text(out, ",\"Node\":");
	bt_quote_json(out, node);
	bt_buf_char(out, '}');
}

/* ---- tables ---- */

struct node_reference {
	struct bt_str name;
};

struct filter_result {
	struct node_reference *nodes;
	uint32_t node_n;
	bool has_nodes, has_names;
	struct bt_str_list names;
	struct bt_str_map failed, unresolvable;
	struct bt_str error;
};

struct host_priority {
	struct bt_str host;
	int64_t score;
};

struct meta_victims {
	struct bt_str node;
	struct node_reference *pods;
	uint32_t pod_n;
	int64_t violation_n;
};

struct preempt_result {
	struct meta_victims *items;
	uint32_t n;
};

#define FIELD(json, kind, owner, member)                                                                     \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_##kind, .offset = offsetof(owner, member)             \
	}

static const struct bt_field meta_fields[] = {FIELD("name", STR, struct node_reference, name)};
static const struct bt_schema meta_schema = BT_SCHEMA(meta_fields, struct node_reference);
static const struct bt_field node_fields[] = {
	{.name = BT_STR("metadata"), .type = BT_FIELD_OBJECT, .schema = &meta_schema},
};
static const struct bt_schema node_schema = BT_SCHEMA(node_fields, struct node_reference);
static const struct bt_field node_list_fields[] = {
	{.name = BT_STR("items"),
		.type = BT_FIELD_ARRAY,
		.offset = offsetof(struct filter_result, nodes),
		.count = BT_MEMBER(struct filter_result, node_n),
		.schema = &node_schema},
};
static const struct bt_schema node_list_schema = BT_SCHEMA(node_list_fields, struct filter_result);
static const struct bt_field filter_fields[] = {
	FIELD("Error", STR, struct filter_result, error),
	FIELD("FailedAndUnresolvableNodes", STR_MAP, struct filter_result, unresolvable),
	FIELD("FailedNodes", STR_MAP, struct filter_result, failed),
	{.name = BT_STR("NodeNames"),
		.type = BT_FIELD_STR_LIST,
		.offset = offsetof(struct filter_result, names),
		.flag = BT_MEMBER(struct filter_result, has_names)},
	{.name = BT_STR("Nodes"),
		.type = BT_FIELD_OBJECT,
		.flag = BT_MEMBER(struct filter_result, has_nodes),
		.schema = &node_list_schema},
};
static const struct bt_schema filter_schema = BT_SCHEMA(filter_fields, struct filter_result);

static const struct bt_field priority_fields[] = {
	FIELD("Host", STR, struct host_priority, host),
	FIELD("Score", I64, struct host_priority, score),
};
static const struct bt_schema priority_schema = BT_SCHEMA(priority_fields, struct host_priority);

static const struct bt_field meta_pod_fields[] = {FIELD("UID", STR, struct node_reference, name)};
static const struct bt_schema meta_pod_schema = BT_SCHEMA(meta_pod_fields, struct node_reference);
static const struct bt_field victims_fields[] = {
	FIELD("NumPDBViolations", I64, struct meta_victims, violation_n),
	{.name = BT_STR("Pods"),
		.type = BT_FIELD_ARRAY,
		.offset = offsetof(struct meta_victims, pods),
		.count = BT_MEMBER(struct meta_victims, pod_n),
		.schema = &meta_pod_schema},
};
static const struct bt_schema victims_schema = BT_SCHEMA(victims_fields, struct meta_victims);
static const struct bt_field preempt_fields[] = {
	{.name = BT_STR("NodeNameToMetaVictims"),
		.type = BT_FIELD_MAP,
		.offset = offsetof(struct preempt_result, items),
		.count = BT_MEMBER(struct preempt_result, n),
		.schema = &victims_schema},
};
static const struct bt_schema preempt_schema = BT_SCHEMA(preempt_fields, struct preempt_result);

static const struct bt_field binding_fields[] = {FIELD("Error", STR, struct node_reference, name)};
static const struct bt_schema binding_schema = BT_SCHEMA(binding_fields, struct node_reference);

/* ---- responses ---- */

/* For a value of a wrong type, Go's message also names the Go type. For a text that ends too early, Go's
 * stream decoder, which upstream uses here, has another message than json.Unmarshal. */
static bool extender_wire_fail(struct bt_str body, const struct bt_decode *decode, struct bt_buf *out_error)
{
	size_t offset, from = out_error->len;

	if (!body.len) {
		bt_buf_text(out_error, "EOF");
	} else if (decode->error.syntax && bt_json_error_text(body, out_error, &offset)) {
		if (bt_str_is(bt_str_sub(bt_buf_view(out_error), from, out_error->len),
			    "unexpected end of JSON input")) {
			out_error->len = from;
			bt_buf_text(out_error, "unexpected EOF");
		}
	} else {
		bt_buf_printf(out_error, "json: cannot unmarshal the extender's answer: %s%s%s",
			decode->error.path, decode->error.path[0] ? ": " : "", decode->error.message);
	}
	return false;
}

static struct bt_decode extender_wire_begin(struct bt_wire *wire, struct bt_str body)
{
	bt_json_begin(wire->json, body, wire->arena);
	return (struct bt_decode){.json = wire->json, .arena = wire->arena, .fold = true};
}

/* Reads one object by a schema; null leaves out as it was. */
static bool read_object(struct bt_wire *wire, struct bt_str body, const struct bt_schema *schema, void *out,
	struct bt_buf *out_error)
{
	struct bt_decode decode = extender_wire_begin(wire, body);

	if (bt_json_peek(wire->json) == BT_JSON_NULL) {
		return true;
	}
	return bt_schema_decode(&decode, schema, out) || extender_wire_fail(body, &decode, out_error);
}

static void refuse_all(const struct bt_str_map *nodes, bool unresolvable, struct bt_extender_reply *reply)
{
	for (uint32_t i = 0; i < nodes->n; i++) {
		bt_extender_refuse(reply, nodes->items[i].key, unresolvable, nodes->items[i].value);
	}
}

bool bt_wire_filter_result(struct bt_wire *wire, struct bt_str body, bool by_name,
	struct bt_extender_reply *reply, struct bt_buf *out_error)
{
	struct filter_result result = {.node_n = 0};

	if (!read_object(wire, body, &filter_schema, &result, out_error)) {
		return false;
	}
	if (result.error.len) {
		bt_extender_fail(reply, result.error);
		return true;
	}
	if (by_name && result.has_names) {
		for (uint32_t i = 0; i < result.names.n; i++) {
			bt_extender_keep(reply, result.names.items[i]);
		}
	} else {
		if (result.has_nodes) {
			bt_extender_keep_objects(reply);
		}
		for (uint32_t i = 0; i < result.node_n; i++) {
			bt_extender_keep(reply, result.nodes[i].name);
		}
	}
	refuse_all(&result.failed, false, reply);
	refuse_all(&result.unresolvable, true, reply);
	return true;
}

bool bt_wire_priorities(
	struct bt_wire *wire, struct bt_str body, struct bt_extender_reply *reply, struct bt_buf *out_error)
{
	struct bt_decode decode = extender_wire_begin(wire, body);

	if (bt_json_peek(wire->json) == BT_JSON_NULL) {
		return true;
	}
	for (bool in = bt_json_enter_array(wire->json); in && bt_json_next_element(wire->json);) {
		struct host_priority priority = {.score = 0};

		if (bt_json_peek(wire->json) == BT_JSON_NULL) {
			bt_json_skip(wire->json);
		} else if (!bt_schema_decode(&decode, &priority_schema, &priority)) {
			return extender_wire_fail(body, &decode, out_error);
		}
		bt_extender_score(reply, priority.host, priority.score);
	}
	const struct bt_json_error *error = bt_json_error(wire->json);

	if (error->status == BT_OK) {
		return true;
	}
	decode.error.syntax = error->syntax;
	snprintf(decode.error.message, sizeof(decode.error.message), "%s", error->text);
	return extender_wire_fail(body, &decode, out_error);
}

bool bt_wire_preempt_result(
	struct bt_wire *wire, struct bt_str body, struct bt_extender_reply *reply, struct bt_buf *out_error)
{
	struct preempt_result result = {.n = 0};

	if (!read_object(wire, body, &preempt_schema, &result, out_error)) {
		return false;
	}
	for (uint32_t i = 0; i < result.n; i++) {
		const struct meta_victims *victims = &result.items[i];

		bt_extender_candidate(reply, victims->node, victims->violation_n);
		for (uint32_t k = 0; k < victims->pod_n; k++) {
			bt_extender_victim(reply, victims->pods[k].name);
		}
	}
	return true;
}

bool bt_wire_binding_result(struct bt_wire *wire, struct bt_str body, struct bt_buf *out_error)
{
	struct node_reference result = {.name = {.len = 0}};

	if (!read_object(wire, body, &binding_schema, &result, out_error)) {
		return false;
	}
	bt_buf_str(out_error, result.name);
	return result.name.len == 0;
}
