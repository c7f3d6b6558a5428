/* SPDX-License-Identifier: Apache-2.0
 * The tables of protobuf messages: what they are as text (numbers and names), and what is made of that with
 * the tables of tools/format, which say where a field of that name goes.
 */
#pragma once

#include "tools/format/schema.h"

struct bt_proto_message;

/* A field that is wanted. */
struct bt_proto_number {
	uint32_t number;  /* below 64 */
	const char *name; /* as in JSON; NULL: the fields of message are in JSON those of the holder */
	const struct bt_proto_message *message; /* of a message, or of the elements */
};

struct bt_proto_message {
	const struct bt_proto_number *numbers;
	uint32_t n;
};

extern const struct bt_proto_message bt_proto_pod, bt_proto_node;

/* Who an object is and, of a pod, where. */
extern const struct bt_proto_message bt_proto_pod_identity, bt_proto_node_identity;

/* What becomes of a field. */
enum bt_proto_action {
	BT_PROTO_SKIP = 0,
	BT_PROTO_STR,
	BT_PROTO_BOOL,
	BT_PROTO_I32,
	BT_PROTO_I64,
	BT_PROTO_TIME,	    /* nanoseconds */
	BT_PROTO_TIME_TEXT, /* the time as JSON has it */
	BT_PROTO_RESOURCES,
	BT_PROTO_STR_LIST,
	BT_PROTO_STR_MAP,
	BT_PROTO_NAMES,
	BT_PROTO_OBJECT,
	BT_PROTO_ARRAY,
	BT_PROTO_RULES, /* restartPolicyRules: whether one restarts all containers */
	BT_PROTO_MOUNTS /* volumeMounts: whether one has bindMountOptions */
};

/* A field, ready to be read. */
struct bt_proto_field {
	uint8_t action;
	uint8_t wire;				      /* enum bt_wire_type */
	uint32_t offset, count, flag, tag, tag_value; /* as in struct bt_field */
	uint32_t bytes;				      /* of an element */
	struct bt_proto_plan *plan;
	const char *name;
};

/* A message, ready to be read: its fields by their numbers. */
struct bt_proto_plan {
	uint32_t n;
	struct bt_proto_field fields[];
};

struct bt_proto_plan *bt_proto_plan_create(
	const struct bt_proto_message *message, const struct bt_schema *schema);
void bt_proto_plan_destroy(struct bt_proto_plan *plan);
