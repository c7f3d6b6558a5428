/* SPDX-License-Identifier: Apache-2.0
 * Macros for the tables of fields, and shared tables.
 */
#pragma once

#include "tools/format/object_schema.h"

#define FIELD(json, kind, holder, member)                                                                    \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_##kind, .offset = offsetof(struct holder, member)     \
	}
#define FIELD_HAS(json, kind, holder, member, has)                                                           \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_##kind, .offset = offsetof(struct holder, member),    \
		.flag = BT_MEMBER(struct holder, has)                                                        \
	}
#define OBJECT(json, holder, member, table)                                                                  \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_OBJECT, .offset = offsetof(struct holder, member),    \
		.schema = &(table)                                                                           \
	}
#define OBJECT_HAS(json, holder, member, table, has)                                                         \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_OBJECT, .offset = offsetof(struct holder, member),    \
		.schema = &(table), .flag = BT_MEMBER(struct holder, has)                                    \
	}
/* An object whose members belong to the struct that holds it. */
#define INLINE(json, table)                                                                                  \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_OBJECT, .offset = 0, .schema = &(table)               \
	}
#define ARRAY(json, holder, member, number, table)                                                           \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_ARRAY, .offset = offsetof(struct holder, member),     \
		.count = BT_MEMBER(struct holder, number), .schema = &(table)                                \
	}
#define ARRAY_HAS(json, holder, member, number, table, has)                                                  \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_ARRAY, .offset = offsetof(struct holder, member),     \
		.count = BT_MEMBER(struct holder, number), .schema = &(table),                               \
		.flag = BT_MEMBER(struct holder, has)                                                        \
	}
#define NAMES(json, holder, member, table)                                                                   \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_NAMES, .offset = offsetof(struct holder, member),     \
		.schema = &(table)                                                                           \
	}
#define IGNORED(json)                                                                                        \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_IGNORED                                               \
	}
#define SCHEMA(name, table, holder) static const struct bt_schema name = BT_SCHEMA(table, struct holder)

/* Every kind begins with these two, which the reader has mostly seen before it knows the kind. */
#define HEADER	     IGNORED("apiVersion"), IGNORED("kind")
#define META(holder) OBJECT("metadata", holder, meta, bt_meta_schema)

#define MAP(json, holder, member, number, table)                                                             \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_MAP, .offset = offsetof(struct holder, member),       \
		.count = BT_MEMBER(struct holder, number), .schema = &(table)                                \
	}

extern const struct bt_schema bt_node_selector_schema, bt_toleration_schema, bt_taint_schema,
	bt_condition_schema;

/* The kinds of resource.k8s.io. */
extern const struct bt_field bt_resource_claim_fields[5], bt_resource_slice_fields[4],
	bt_device_class_fields[4], bt_device_taint_rule_fields[4];
