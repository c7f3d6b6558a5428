/* SPDX-License-Identifier: Apache-2.0
 * Splits received bytes into objects: bodies of lists and watches, JSON and protobuf. Only the incomplete
 * object is buffered, so a list of any length needs little memory.
 *
 *   begin --> add --> next --> ITEM, META (any number of) --> MORE --> add ...
 *                      +-----> BAD: the rest means nothing
 *
 * Context: one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

enum bt_stream_form {
	BT_STREAM_PROTO_WATCH = 0, /* items: WatchEvent */
	BT_STREAM_PROTO_LIST,	   /* items: the objects; meta: ListMeta */
	BT_STREAM_JSON_WATCH,	   /* items: {"type": ..., "object": ...} */
	BT_STREAM_JSON_LIST	   /* items: the objects; meta, at the end: the list without its items */
};

enum bt_stream_step { BT_STREAM_MORE = 0, BT_STREAM_ITEM, BT_STREAM_META, BT_STREAM_BAD };

/* Private to stream.c. Zero-initialised. Owns: bt_stream_fini. */
struct bt_stream {
	enum bt_stream_form form;
	struct bt_buf bytes; /* from at on: not returned yet */
	size_t at;
	const char *error; /* static; of BAD */
	/* protobuf lists */
	bool opened, inside, described, whole; /* described: its metadata have been read */
	size_t left;			       /* of the list, which is inside the envelope */
	/* JSON */
	struct bt_buf shell; /* a list without its items */
	size_t scan;	     /* bytes before are scanned */
	size_t start;	     /* of the object that is being scanned */
	size_t word;	     /* of the last string at depth 1, in the shell */
	uint32_t depth;
	bool in_string, escaped, in_object, in_items, is_items_key;
};

/* Begins a body. Buffers are reused. */
void bt_stream_begin(struct bt_stream *stream, enum bt_stream_form form);
void bt_stream_fini(struct bt_stream *stream);

void bt_stream_add(struct bt_stream *stream, const char *bytes, size_t n);

/* The next complete part; out is valid until the next call of any of these. */
enum bt_stream_step bt_stream_next(struct bt_stream *stream, struct bt_str *out);

/* Whether all received parts are complete: nothing is cut off, and a list has its metadata. */
bool bt_stream_is_whole(const struct bt_stream *stream);
