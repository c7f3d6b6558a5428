/* SPDX-License-Identifier: Apache-2.0
 * Tables of the members of structs that JSON is decoded into as upstream's strict decoder does it, and
 * written from. Plugins describe their arguments by them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum bt_strict_type {
	BT_STRICT_STRING,   /* struct bt_str */
	BT_STRICT_BOOL,	    /* bool */
	BT_STRICT_INT32,    /* int32_t */
	BT_STRICT_INT64,    /* int64_t */
	BT_STRICT_FLOAT32,  /* float */
	BT_STRICT_DURATION, /* int64_t, ns; null is an error unless it has a flag */
	BT_STRICT_BYTES,    /* struct bt_str, from base64 */
	BT_STRICT_STRINGS,  /* struct bt_str_list */
	BT_STRICT_MAP,	    /* struct bt_str_map */
	BT_STRICT_OBJECT,   /* the struct at offset */
	BT_STRICT_LIST,	    /* a pointer to structs; their number, a uint32_t, at count */
	BT_STRICT_RAW,	    /* struct bt_str: the text of any value but null */
	BT_STRICT_META	    /* apiVersion and kind: read by the caller before */
};

struct bt_strict_struct;

/* flag is 1 + the offset of a bool that is set when the member is there and not null; 0 for none. */
struct bt_strict_member {
	const char *name;
	enum bt_strict_type type;
	uint32_t offset, flag, count;
	const struct bt_strict_struct *of;
	const char *go_type;   /* NULL: follows from type */
	const char *go_inline; /* the embedded Go struct that it comes from, or NULL */
};

struct bt_strict_struct {
	const char *go_package, *go_name; /* such as "v1" and "PluginSet" */
	const struct bt_strict_member *members;
	uint32_t member_n, bytes;
};

#define BT_ARG_FLAG(owner, member) (1 + offsetof(owner, member))
#define BT_ARG_PLAIN(json, kind, owner, member)                                                              \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_##kind, .offset = offsetof(owner, member)                    \
	}
#define BT_ARG_NAMED(json, owner, member, go)                                                                \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_STRING, .offset = offsetof(owner, member), .go_type = go     \
	}
/* A value that may be absent: a struct with value and set, or with ns and set. */
#define BT_ARG_MAYBE(json, kind, owner, member)                                                              \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_##kind, .offset = offsetof(owner, member.value),             \
		.flag = BT_ARG_FLAG(owner, member.set)                                                       \
	}
#define BT_ARG_MAYBE_DURATION(json, owner, member)                                                           \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_DURATION, .offset = offsetof(owner, member.ns),              \
		.flag = BT_ARG_FLAG(owner, member.set)                                                       \
	}
#define BT_ARG_OBJECT(json, owner, member, schema)                                                           \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_OBJECT, .offset = offsetof(owner, member), .of = &(schema)   \
	}
#define BT_ARG_POINTER(json, owner, member, set_member, schema)                                              \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_OBJECT, .offset = offsetof(owner, member), .of = &(schema),  \
		.flag = BT_ARG_FLAG(owner, set_member)                                                       \
	}
#define BT_ARG_LIST(json, owner, member, n_member, schema)                                                   \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_LIST, .offset = offsetof(owner, member),                     \
		.count = offsetof(owner, n_member), .of = &(schema)                                          \
	}
#define BT_ARG_LIST_SET(json, owner, member, n_member, set_member, schema)                                   \
	{                                                                                                    \
		.name = json, .type = BT_STRICT_LIST, .offset = offsetof(owner, member),                     \
		.count = offsetof(owner, n_member), .of = &(schema), .flag = BT_ARG_FLAG(owner, set_member)  \
	}
#define BT_ARG_META                                                                                          \
	{.name = "apiVersion", .type = BT_STRICT_META},                                                      \
	{                                                                                                    \
		.name = "kind", .type = BT_STRICT_META                                                       \
	}
#define BT_ARG_STRUCT(package, name, table, type)                                                            \
	{                                                                                                    \
		package, name, table, sizeof(table) / sizeof((table)[0]), sizeof(type)                       \
	}
