/* SPDX-License-Identifier: Apache-2.0
 * Tables that map JSON to structs, for decoding and encoding: one struct bt_schema per struct, one struct
 * bt_field per JSON member. Used for Kubernetes objects, the configuration, the arguments of plugins and
 * scenarios. The decoder is tools/format/schema.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/str.h"
#include "engine/model/quantity.h"

struct bt_schema;
struct bt_decode;

enum bt_field_type {
	BT_FIELD_STR,	    /* struct bt_str */
	BT_FIELD_BOOL,	    /* bool */
	BT_FIELD_TRUE,	    /* bool; true is stored, false is ignored: for several members with one meaning */
	BT_FIELD_IS,	    /* bool: whether the string equals word */
	BT_FIELD_I32,	    /* int32_t */
	BT_FIELD_I64,	    /* int64_t */
	BT_FIELD_F32,	    /* float */
	BT_FIELD_TIME,	    /* int64_t: RFC 3339 as nanoseconds since the epoch; saturated */
	BT_FIELD_DURATION,  /* int64_t, ns, as Go writes it; null is an error unless it has a flag */
	BT_FIELD_BYTES,	    /* struct bt_str, from base64 or an array of numbers */
	BT_FIELD_QUANTITY,  /* struct bt_quantity; a string or a number */
	BT_FIELD_RESOURCES, /* struct bt_resource_list */
	BT_FIELD_STR_LIST,  /* struct bt_str_list: an array of strings */
	BT_FIELD_STR_MAP,   /* struct bt_str_map */
	BT_FIELD_KEYS,	    /* struct bt_str_list: the keys of an object */
	BT_FIELD_NAMES, /* struct bt_str_list: an array of objects; schema decodes each into one struct bt_str
			 */
	BT_FIELD_QUANTITIES, /* a pointer to struct bt_quantity, from an array; their number is at count */
	BT_FIELD_INTS,	     /* the same for int64_t */
	BT_FIELD_BOOLS,	     /* and for bool */
	BT_FIELD_OBJECT,     /* the struct at offset, described by schema */
	BT_FIELD_ARRAY,	     /* a pointer to structs of schema; their number is at count */
	BT_FIELD_MAP, /* the same for an object's members: structs that begin with their key, a struct bt_str
		       */
	BT_FIELD_RAW, /* struct bt_str: the JSON text of the value */
	BT_FIELD_CUSTOM, /* read */
	BT_FIELD_META,	 /* apiVersion and kind: the caller has read them; encoded from the schema */
	BT_FIELD_IGNORED /* known, skipped */
};

/* The size of an element of a list of plain values; 0: not such a list. */
static inline size_t bt_field_plain_bytes(enum bt_field_type type)
{
	return type == BT_FIELD_QUANTITIES ? sizeof(struct bt_quantity)
	       : type == BT_FIELD_INTS	   ? sizeof(int64_t)
	       : type == BT_FIELD_BOOLS	   ? sizeof(bool)
					   : 0;
}

/* Reads the value at the cursor into field. Returns false after bt_decode_fail or when the cursor has
 * stopped. */
typedef bool bt_field_read(struct bt_decode *decode, void *field);

/* 1 + offset of a member, for the fields below that are optional. */
#define BT_MEMBER(type, member) (1 + offsetof(type, member))

/* 64 bytes, a cache line. */
struct bt_field {
	struct bt_str name;
	enum bt_field_type type : 16;
	uint32_t always : 1; /* written even when it is zero or empty: Go's field is without omitempty */
	uint32_t offset;
	uint32_t count; /* BT_MEMBER: uint32_t, for BT_FIELD_ARRAY, BT_FIELD_MAP and lists of plain values */
	uint32_t flag;	/* BT_MEMBER: bool, set when the member is present and not null */
	uint32_t tag;	/* BT_MEMBER: uint32_t or enum, set to tag_value likewise */
	uint32_t tag_value;
	const struct bt_schema *schema;
	const char *word; /* of BT_FIELD_IS; of BT_FIELD_CUSTOM the JSON text of a set bool; of BT_FIELD_STR
			     the Go type unless string */
	union {
		bt_field_read *read;   /* of BT_FIELD_CUSTOM */
		const char *go_inline; /* of others: the embedded Go struct that contains it, or NULL */
	};
};

/* At most 64 fields. Decoding is fastest when they are in the text's order; kubectl sorts by name. */
struct bt_schema {
	const struct bt_field *fields;
	uint32_t field_n;
	uint32_t bytes; /* of the struct; needed for elements of arrays */
	const char *go_package,
		*go_name; /* such as "v1" and "PluginSet"; NULL where errors do not use them */
};

#define BT_SCHEMA(table, type)                                                                               \
	{                                                                                                    \
		.fields = (table), .field_n = sizeof(table) / sizeof((table)[0]), .bytes = sizeof(type)      \
	}

/* ---- arguments of plugins, and the configuration around them ---- json: the name in the text; kind: the
 * suffix of BT_FIELD_ in enum bt_field_type; owner: the struct that the text is decoded into, zero where
 * absent; member: its member, of the kind's C type.
 */

/* Zero where absent or zero in the text; zero is not written. */
#define BT_ARG_PLAIN(json, kind, owner, member)                                                              \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_##kind, .offset = offsetof(owner, member)             \
	}
/* Written even when it is zero: Go's field is without omitempty. */
#define BT_ARG_ALWAYS(json, kind, owner, member)                                                             \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_##kind, .always = 1,                                  \
		.offset = offsetof(owner, member)                                                            \
	}
/* A string whose Go type appears in errors. */
#define BT_ARG_NAMED(json, owner, member, go)                                                                \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_STR, .offset = offsetof(owner, member), .word = go    \
	}
/* A value for which 0 differs from absent: a struct with value and set (struct bt_config_int64 and others,
 * plugins/args.h), or with ns and set. */
#define BT_ARG_MAYBE(json, kind, owner, member)                                                              \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_##kind, .offset = offsetof(owner, member.value),      \
		.flag = BT_MEMBER(owner, member.set)                                                         \
	}
#define BT_ARG_MAYBE_DURATION(json, owner, member)                                                           \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_DURATION, .offset = offsetof(owner, member.ns),       \
		.flag = BT_MEMBER(owner, member.set)                                                         \
	}
/* A struct of schema table; a struct with a presence flag; an array of structs and their number. */
#define BT_ARG_OBJECT(json, owner, member, table)                                                            \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_OBJECT, .offset = offsetof(owner, member),            \
		.schema = &(table)                                                                           \
	}
#define BT_ARG_POINTER(json, owner, member, set_member, table)                                               \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_OBJECT, .offset = offsetof(owner, member),            \
		.schema = &(table), .flag = BT_MEMBER(owner, set_member)                                     \
	}
#define BT_ARG_LIST(json, owner, member, n_member, table)                                                    \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_ARRAY, .offset = offsetof(owner, member),             \
		.count = BT_MEMBER(owner, n_member), .schema = &(table)                                      \
	}
#define BT_ARG_LIST_SET(json, owner, member, n_member, set_member, table)                                    \
	{                                                                                                    \
		.name = BT_STR(json), .type = BT_FIELD_ARRAY, .offset = offsetof(owner, member),             \
		.count = BT_MEMBER(owner, n_member), .schema = &(table),                                     \
		.flag = BT_MEMBER(owner, set_member)                                                         \
	}
/* apiVersion and kind, which all arguments have. */
#define BT_ARG_META                                                                                          \
	{.name = BT_STR("apiVersion"), .type = BT_FIELD_META},                                               \
	{                                                                                                    \
		.name = BT_STR("kind"), .type = BT_FIELD_META                                                \
	}
/* The whole struct, and its Go type, which is its kind: "v1" and "PriceLabelArgs". */
#define BT_ARG_STRUCT(package, name, table, type)                                                            \
	{                                                                                                    \
		.fields = (table), .field_n = sizeof(table) / sizeof((table)[0]), .bytes = sizeof(type),     \
		.go_package = package, .go_name = name                                                       \
	}
