/* SPDX-License-Identifier: Apache-2.0
 * Decoding of JSON into C structs by static tables: one struct bt_schema a struct, one struct bt_field a JSON
 * member. Kubernetes objects, configuration and scenarios all go through here, so that errors carry a field
 * path everywhere.
 *
 * As in the API, null is the same as absent, keys are case-sensitive, and members that no table names are
 * stepped over (an error when strict). A key that is named twice is an error (the first counts when
 * tolerant). What is not in the text keeps the value it had.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/base/str.h"
#include "tools/format/json.h"

struct bt_schema;
struct bt_decode;

enum bt_field_type {
	BT_FIELD_STR,  /* struct bt_str */
	BT_FIELD_BOOL, /* bool */
	BT_FIELD_TRUE, /* bool; true is stored, false leaves it: for several members that mean one thing */
	BT_FIELD_IS,   /* bool: whether the string equals word */
	BT_FIELD_I32,  /* int32_t */
	BT_FIELD_I64,  /* int64_t */
	BT_FIELD_TIME, /* int64_t: RFC 3339 as nanoseconds since the epoch; saturated */
	BT_FIELD_QUANTITY,  /* struct bt_quantity; a string or a number */
	BT_FIELD_RESOURCES, /* struct bt_resource_list */
	BT_FIELD_STR_LIST,  /* struct bt_str_list: an array of strings */
	BT_FIELD_STR_MAP,   /* struct bt_str_map */
	BT_FIELD_KEYS,	    /* struct bt_str_list: the keys of an object */
	BT_FIELD_NAMES, /* struct bt_str_list: an array of objects; schema decodes each into one struct bt_str
			 */
	BT_FIELD_QUANTITIES, /* a pointer to struct bt_quantity, from an array; their number is at count */
	BT_FIELD_OBJECT,     /* the struct at offset, described by schema */
	BT_FIELD_ARRAY,	     /* a pointer to structs of schema; their number is at count */
	BT_FIELD_MAP, /* the same for an object's members: structs that begin with their key, a struct bt_str
		       */
	BT_FIELD_RAW, /* struct bt_str: the JSON text of the value */
	BT_FIELD_CUSTOM, /* read */
	BT_FIELD_IGNORED /* known, stepped over */
};

/* Reads the value at the cursor into field. Returns false after bt_decode_fail or when the cursor has
 * stopped. */
typedef bool bt_field_read(struct bt_decode *decode, void *field);

/* 1 + offset of a member, for the fields below that are optional. */
#define BT_MEMBER(type, member) (1 + offsetof(type, member))

struct bt_field {
	struct bt_str name;
	enum bt_field_type type;
	uint32_t offset;
	uint32_t count; /* BT_MEMBER: uint32_t, for BT_FIELD_ARRAY, BT_FIELD_MAP and BT_FIELD_QUANTITIES */
	uint32_t flag;	/* BT_MEMBER: bool, set when the member is there and not null */
	uint32_t tag;	/* BT_MEMBER: uint32_t or enum, set to tag_value likewise */
	uint32_t tag_value;
	const struct bt_schema *schema;
	const char *word; /* of BT_FIELD_IS; of BT_FIELD_CUSTOM the JSON text that a set bool is written as */
	bt_field_read *read;
};

/* At most 64 fields. Decoding is fastest when they are in the order of the text; kubectl sorts by name. */
struct bt_schema {
	const struct bt_field *fields;
	uint32_t field_n;
	uint32_t bytes; /* of the struct; needed for elements of arrays */
};

#define BT_SCHEMA(table, type)                                                                               \
	{                                                                                                    \
		.fields = (table), .field_n = sizeof(table) / sizeof((table)[0]), .bytes = sizeof(type)      \
	}

#define BT_PATH_MAX    256
#define BT_MESSAGE_MAX 256

struct bt_decode_error {
	enum bt_status status; /* BT_OK: none */
	bool syntax;	       /* the rest of the document is lost */
	size_t offset;
	char path[BT_PATH_MAX]; /* such as spec.containers[0].image; empty for a syntax error outside any
				   field */
	char message[BT_MESSAGE_MAX];
	const char *remedy; /* static */
};

/* A step of the field path: a key, or an index when the key's pointer is NULL. */
struct bt_path {
	const struct bt_path *up;
	struct bt_str key;
	uint32_t index;
};

/* One decoding. The caller sets the first four; error holds the first error. */
struct bt_decode {
	struct bt_json *json;
	struct bt_arena *arena;
	bool strict;   /* unknown members are errors */
	bool fold;     /* as Go's encoding/json: the case of letters in names does not matter */
	bool tolerant; /* a value that cannot be read costs that value alone, and the first such error is in
			  spared; only what cannot be read as JSON ends the decoding */
	const struct bt_path *path; /* where the object is in its document; NULL at the top */
	struct bt_decode_error error, spared;
};

/*
 * Decodes the object at the cursor into out, whose members keep their values where the text is silent.
 * Returns : false with decode->error set; the cursor then stands still, and bt_json_seek moves it unless
 * error.syntax. Owns    : strings and arrays belong to the text and to decode->arena, which must also be the
 * cursor's.
 */
bool bt_schema_decode(struct bt_decode *decode, const struct bt_schema *schema, void *out);

/* The same for an object that was entered: key, if not NULL, was read and its value is next; seen has a bit
 * for each field of the table whose member was read before. */
bool bt_schema_decode_from(struct bt_decode *decode, const struct bt_schema *schema, const struct bt_str *key,
	uint64_t seen, void *out);

/*
 * Copies all that a decoded object points to into arena, so that it needs neither the text nor the arena that
 * it was decoded into. What several members point to is copied for each.
 */
void bt_schema_own(const struct bt_schema *schema, struct bt_arena *arena, void *object);

/* For custom readers: notes an error about the value at offset. Always returns false. */
bool bt_decode_fail(struct bt_decode *decode, enum bt_status status, size_t offset, const char *remedy,
	const char *format, ...) BT_PRINTF(5, 6);

/* For custom readers: a string, reported with the path if it is none. */
bool bt_decode_string(struct bt_decode *decode, struct bt_str *out_string);

/* Reads an RFC 3339 time, with fraction and offset, as nanoseconds since the epoch, saturated. */
enum bt_status bt_time_parse(struct bt_str text, int64_t *out_ns);
