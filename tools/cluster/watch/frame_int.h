/* SPDX-License-Identifier: Apache-2.0
 * What the parts of a stream mean: objects, events, metadata of lists, statuses; JSON and protobuf alike.
 * Context: one thread at a time.
 */
#pragma once

#include "tools/format/json.h"
#include "tools/format/schema.h"
#include "tools/cluster/watch/kinds.h"
#include "tools/format/proto.h"

#define BT_WATCH_FRAME_ERROR_BYTES (BT_PATH_MAX + BT_MESSAGE_MAX + 40)

struct bt_watch_frame_reader {
	struct bt_proto *proto;
	struct bt_json *json;
	struct bt_arena arena; /* for what is copied once more */
	struct bt_buf mended;  /* JSON of which something had to be replaced, and */
	bool is_mended;	       /* the event whose object comes next is in there */
	char error[BT_WATCH_FRAME_ERROR_BYTES];
};

void bt_watch_frame_reader_init(struct bt_watch_frame_reader *reader);
void bt_watch_frame_reader_fini(struct bt_watch_frame_reader *reader);

/*
 * Decodes an object of that kind into out and arena, as far as that can be done. is_proto: a bare message;
 * otherwise JSON. What is read in part takes no more part in decisions than is safe: a pod says so
 * (spec.incomplete), a node takes no more pods.
 * Returns: how far it was read; unless whole, reader->error says why.
 */
enum bt_proto_extent bt_watch_frame_object(struct bt_watch_frame_reader *reader, bool is_proto,
	const struct bt_kind_info *kind, struct bt_str bytes, struct bt_arena *arena, struct bt_object *out);

/* Has the object a name that an object can have? Returns: false with reader->error set. */
bool bt_watch_frame_check_name(struct bt_watch_frame_reader *reader, const struct bt_object *object);

enum bt_watch_frame_type {
	BT_WATCH_FRAME_ADDED = 0,
	BT_WATCH_FRAME_MODIFIED,
	BT_WATCH_FRAME_DELETED,
	BT_WATCH_FRAME_BOOKMARK,
	BT_WATCH_FRAME_ERROR,
	BT_WATCH_FRAME_OTHER
};

/* Opens an event. out_object: its object, as bt_watch_frame_object or bt_watch_frame_status take it.
 * Returns: false with
 * reader->error set. */
bool bt_watch_frame_open(struct bt_watch_frame_reader *reader, bool is_proto, const struct bt_kind_info *kind,
	struct bt_str bytes, enum bt_watch_frame_type *out_type, struct bt_str *out_object);

/* Reads a Status; views are valid until the next call. */
bool bt_watch_frame_status(struct bt_watch_frame_reader *reader, bool is_proto, struct bt_str bytes,
	struct bt_proto_status *out);

/* Reads what a list says about itself; views are valid until the next call. */
bool bt_watch_frame_list_meta(struct bt_watch_frame_reader *reader, bool is_proto, struct bt_str bytes,
	struct bt_proto_list_meta *out);
