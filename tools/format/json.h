/* SPDX-License-Identifier: Apache-2.0
 * A pull parser for JSON (RFC 8259, strictly): a cursor over text in memory, no tree. The text is indexed a
 * window at a time with SIMD, so that white space and unread strings cost almost nothing; they are still
 * validated.
 *
 * A syntax error is sticky: the cursor is at its end, and each call returns false. A value of another type
 * than requested stops the cursor too, but bt_json_seek to a mark resumes it, because the text is valid.
 * Context: one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"
#include "engine/base/str.h"

struct bt_json;

enum bt_json_type {
	BT_JSON_NONE = 0, /* the text has ended, or an error has stopped the cursor */
	BT_JSON_OBJECT,
	BT_JSON_ARRAY,
	BT_JSON_STRING,
	BT_JSON_NUMBER,
	BT_JSON_BOOL,
	BT_JSON_NULL
};

struct bt_json_error {
	enum bt_status status; /* BT_OK: none; BT_INVALID, BT_RANGE, BT_DEPTH, BT_TRUNCATED */
	bool syntax;	       /* the rest of the text is unreadable */
	size_t offset;
	const char *text; /* static */
};

/* A position to seek to, in the cursor's text. */
struct bt_json_mark {
	size_t offset;
	uint32_t depth;
	bool fresh;
};

/* A cursor without text. Owns: destroy with bt_json_destroy. */
struct bt_json *bt_json_create(void);
void bt_json_destroy(struct bt_json *json);

/*
 * Puts the cursor at the start of text, after a byte order mark if any. No byte outside text is read.
 * Owns    : the caller keeps text, which must outlive the cursor's views; strings with escapes are written
 *           into arena.
 */
void bt_json_begin(struct bt_json *json, struct bt_str text, struct bt_arena *arena);

/* Whether one more document begins: a stream may hold several, with any white space or none between them. */
bool bt_json_more(struct bt_json *json);

/* The type of the next value. Does not move the cursor. */
enum bt_json_type bt_json_peek(struct bt_json *json);

/* Steps into the object at the cursor. Returns false when there is none, or it is too deep. */
bool bt_json_enter_object(struct bt_json *json);

/* Reads the next key of the object; its value must be read or skipped before the next call.
 * Returns false after the last one (the object is then left) or on an error. */
bool bt_json_next_key(struct bt_json *json, struct bt_str *out_key);

bool bt_json_enter_array(struct bt_json *json);

/* Whether another element follows, which must then be read or skipped. Returns as bt_json_next_key. */
bool bt_json_next_element(struct bt_json *json);

/* Read one value each. Returns false, out unset, when the value is of another type or out of range. */
bool bt_json_string(struct bt_json *json, struct bt_str *out_string);
bool bt_json_int64(struct bt_json *json, int64_t *out_value);
bool bt_json_bool(struct bt_json *json, bool *out_value);
bool bt_json_null(struct bt_json *json);

/* The number's text. */
bool bt_json_number(struct bt_json *json, struct bt_str *out_text);

/* Steps over one value of any type, checking its syntax. */
bool bt_json_skip(struct bt_json *json);

/* Skips one value and returns its text. */
bool bt_json_raw(struct bt_json *json, struct bt_str *out_text);

/* The offset of the next token, or of the end. */
size_t bt_json_offset(struct bt_json *json);

struct bt_json_mark bt_json_mark(struct bt_json *json);

/* Goes back (or forth) to a mark and clears an error that was not one of syntax. */
void bt_json_seek(struct bt_json *json, struct bt_json_mark mark);

/* After a syntax error: clears it and restarts at offset, where the caller expects another document. */
void bt_json_resume(struct bt_json *json, size_t offset);

/* The first error since begin or seek. */
const struct bt_json_error *bt_json_error(const struct bt_json *json);

/* Stops the cursor with the caller's error; a seek may resume it. text must be static. */
void bt_json_fail(struct bt_json *json, enum bt_status status, size_t offset, const char *text);

/* Line and column, both from 1, of an offset. A column counts bytes. */
void bt_json_place(struct bt_str text, size_t offset, size_t *out_line, size_t *out_column);
