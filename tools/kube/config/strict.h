/* SPDX-License-Identifier: Apache-2.0
 * Decoding of JSON into C structs as upstream's strict decoder does it, with its error texts: members that no
 * table names and members named twice are collected with their paths, a value of a wrong type is an error
 * that names the Go struct and type. tools/format/schema.h is for everything whose texts are our own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/str.h"
#include "tools/format/json.h"

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

/* One decoding. The caller sets the first three and ends it with bt_strict_fini. */
struct bt_strict {
	struct bt_json *json;
	struct bt_arena *arena;
	bool sorted; /* the text comes from YAML, whose members upstream meets in the order of their names */

	struct bt_buf fatal;  /* the error that ends everything, or empty */
	struct bt_buf faults; /* unknown and repeated members, joined by ", " */
	size_t offset;	      /* of the first error of either kind */
	bool has_offset;

	/* private */
	struct bt_buf path, fields;
	const struct bt_strict_struct *owner;
	struct bt_str fault_texts[100];
	uint32_t fault_n;
	bool stop;
};

/*
 * Decodes the object at the cursor into out, which the caller has zeroed or filled with what counts when
 * absent. Returns: false when fatal is set; otherwise faults may have text.
 */
bool bt_strict_decode(struct bt_strict *strict, const struct bt_strict_struct *type, void *out);

void bt_strict_fini(struct bt_strict *strict);

/* How upstream calls a type of JSON in its errors. Context: any thread. */
const char *bt_strict_type_word(enum bt_json_type type);
