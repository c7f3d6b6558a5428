/* SPDX-License-Identifier: Apache-2.0
 * Decodes Kubernetes' protobuf to the structs of engine/model/object.h, like the JSON decoder: Pod and Node,
 * their envelope, watch events, metadata of lists and Status. Fields that no table names are skipped. Source:
 * k8s.io/api and k8s.io/apimachinery, generated.proto, v0.36.3.
 *
 *   a body or an event's object:  "k8s\0" Unknown{typeMeta, raw} --envelope--> raw --decode--> bt_object
 *   a watch:  length (4 bytes, the highest first) WatchEvent{type, object{raw}}, and so on
 *
 * Context: any thread; decoded data goes into the caller's arena, strings copied once. Invalid bytes result
 * in an error only (I6).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/model/object.h"

/* The memory limit of one object, and the maximum length of a frame. */
#define BT_PROTO_OBJECT_BYTES ((size_t)64 << 20)
#define BT_PROTO_FRAME_BYTES  ((size_t)16 << 20)

struct bt_proto;

struct bt_proto_error {
	const char *text;  /* static */
	const char *field; /* the innermost known field, static; NULL: none */
	size_t offset;	   /* in the message that was passed in */
};

/* The tables, ready to be used. Immutable. Owns: bt_proto_destroy. */
struct bt_proto *bt_proto_create(void);
void bt_proto_destroy(struct bt_proto *proto);

/* Is this a kind that is read here: pods and nodes? */
bool bt_proto_knows(enum bt_kind kind);

/* How far an object could be read. */
enum bt_proto_extent {
	BT_PROTO_WHOLE = 0,
	BT_PROTO_REPLACED, /* with U+FFFD in place of bytes that are not UTF-8, as Go's encoding/json does */
	BT_PROTO_IN_PART   /* values are left out */
};

/*
 * Decodes a bare message, which is an object of that kind, into out: whatever of it can be read.
 * Returns: how far; unless whole, with the reason in out_error.
 */
enum bt_proto_extent bt_proto_decode(const struct bt_proto *proto, enum bt_kind kind, struct bt_str bytes,
	struct bt_arena *arena, struct bt_object *out, struct bt_proto_error *out_error);

/* The same for its identity alone: namespace, name, UID, resource version and, of a pod, its node. */
enum bt_proto_extent bt_proto_identify(const struct bt_proto *proto, enum bt_kind kind, struct bt_str bytes,
	struct bt_arena *arena, struct bt_object *out, struct bt_proto_error *out_error);

/* An object in its envelope. Views of the bytes. */
struct bt_proto_unknown {
	struct bt_str api_version, kind, raw;
};

/* Returns: false when invalid, or in an unknown encoding. */
bool bt_proto_open(struct bt_str bytes, struct bt_proto_unknown *out, struct bt_proto_error *out_error);

/* An event of a watch. Views of the bytes. */
struct bt_proto_event {
	struct bt_str type; /* ADDED, MODIFIED, DELETED, BOOKMARK or ERROR */
	struct bt_str raw;  /* its object in its envelope */
};

bool bt_proto_event(struct bt_str bytes, struct bt_proto_event *out, struct bt_proto_error *out_error);

/* metav1.ListMeta. Views of the bytes. */
struct bt_proto_list_meta {
	struct bt_str resource_version, continue_;
};

bool bt_proto_list_meta(
	struct bt_str bytes, struct bt_proto_list_meta *out, struct bt_proto_error *out_error);

/* metav1.Status. Views of the bytes. */
struct bt_proto_status {
	struct bt_str message, reason;
	int32_t code, retry_after_s;
};

bool bt_proto_status(struct bt_str bytes, struct bt_proto_status *out, struct bt_proto_error *out_error);
