/* SPDX-License-Identifier: Apache-2.0
 * Decodes the parts of a stream: objects, events, list metadata, statuses; JSON and protobuf alike.
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
	struct bt_arena arena;	/* for copies */
	struct bt_buf repaired; /* JSON in which something had to be replaced */
	bool is_repaired;	/* repaired has the next event's object */
	char error[BT_WATCH_FRAME_ERROR_BYTES];
};

void bt_watch_frame_reader_init(struct bt_watch_frame_reader *reader);
void bt_watch_frame_reader_fini(struct bt_watch_frame_reader *reader);

/*
 * Decodes an object of that kind into out and arena, as far as possible. is_proto: a bare message; otherwise
 * JSON. A partly decoded object is restricted to what is safe: a pod is marked (spec.incomplete), a node
 * takes no more pods.
 * Returns: how far it was decoded; unless whole, reader->error has the reason.
 */
enum bt_proto_extent bt_watch_frame_object(struct bt_watch_frame_reader *reader, bool is_proto,
	const struct bt_kind_info *kind, struct bt_str bytes, struct bt_arena *arena, struct bt_object *out);

/* Whether the object has a valid name. Returns: false with reader->error set. */
bool bt_watch_frame_check_name(struct bt_watch_frame_reader *reader, const struct bt_object *object);

enum bt_watch_frame_type {
	BT_WATCH_FRAME_ADDED = 0,
	BT_WATCH_FRAME_MODIFIED,
	BT_WATCH_FRAME_DELETED,
	BT_WATCH_FRAME_BOOKMARK,
	BT_WATCH_FRAME_ERROR,
	BT_WATCH_FRAME_OTHER
};

/* Opens an event. out_object: its object, for bt_watch_frame_object or bt_watch_frame_status. Returns: false
 * with reader->error set. */
bool bt_watch_frame_open(struct bt_watch_frame_reader *reader, bool is_proto, const struct bt_kind_info *kind,
	struct bt_str bytes, enum bt_watch_frame_type *out_type, struct bt_str *out_object);

/* Decodes a Status; views are valid until the next call. */
bool bt_watch_frame_status(struct bt_watch_frame_reader *reader, bool is_proto, struct bt_str bytes,
	struct bt_proto_status *out);

/* Decodes the metadata of a list; views are valid until the next call. */
bool bt_watch_frame_list_meta(struct bt_watch_frame_reader *reader, bool is_proto, struct bt_str bytes,
	struct bt_proto_list_meta *out);
