/* SPDX-License-Identifier: Apache-2.0
 * The tables of protobuf messages: numbers and names of fields, and the plans built from these and the tables
 * of tools/format, which map names to struct members.
 */
#pragma once

#include "tools/format/schema.h"

struct bt_proto_message;

/* A field to decode. */
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

/* The identity of an object and, for a pod, its node. */
extern const struct bt_proto_message bt_proto_pod_identity, bt_proto_node_identity;

/* How a field is decoded. */
enum bt_proto_action {
	BT_PROTO_SKIP = 0,
	BT_PROTO_STR,
	BT_PROTO_BOOL,
	BT_PROTO_I32,
	BT_PROTO_I64,
	BT_PROTO_TIME,	    /* nanoseconds */
	BT_PROTO_TIME_TEXT, /* the time as in JSON */
	BT_PROTO_QUANTITY,
	BT_PROTO_RESOURCES,
	BT_PROTO_STR_LIST,
	BT_PROTO_STR_MAP,
	BT_PROTO_NAMES,
	BT_PROTO_OBJECT,
	BT_PROTO_ARRAY,
	BT_PROTO_RULES,	   /* restartPolicyRules: whether one restarts all containers */
	BT_PROTO_MOUNTS,   /* volumeMounts: whether one has bindMountOptions */
	BT_PROTO_EPHEMERAL /* ephemeralContainers: the same */
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
