/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as protobuf: as a body in its envelope, as a bare pod, node, event, metadata or status. A decoded
 * object can be written as JSON, and an error names a position in the bytes.
 */
#include <stddef.h>
#include <stdint.h>

#include "engine/base/check.h"
#include "tools/format/encode.h"
#include "tools/format/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(const struct bt_proto *proto, enum bt_kind kind, struct bt_str bytes)
{
	struct bt_arena arena = {0};
	struct bt_buf text = {0};
	struct bt_proto_error error = {0};
	struct bt_object object, again;

	enum bt_proto_extent extent = bt_proto_decode(proto, kind, bytes, &arena, &object, &error);
	bt_object_encode(&object, &text);
	if (extent != BT_PROTO_WHOLE) {
		BT_REQUIRE(error.text && error.offset <= bytes.len);
	}
	/* The object's identity does not depend on how much of the rest can be decoded. */
	(void)bt_proto_identify(proto, kind, bytes, &arena, &again, &error);
	BT_REQUIRE(bt_str_eq(object.meta.name, again.meta.name) &&
		   bt_str_eq(object.meta.namespace_, again.meta.namespace_) &&
		   bt_str_eq(object.meta.uid, again.meta.uid) &&
		   bt_str_eq(object.meta.resource_version, again.meta.resource_version));
	if (kind == BT_KIND_POD) {
		BT_REQUIRE(bt_str_eq(object.pod.spec.node_name, again.pod.spec.node_name));
	}
	bt_buf_fini(&text);
	bt_arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bt_proto *proto;
	const struct bt_str bytes = {(const char *)data, size};
	struct bt_proto_error error = {0};
	struct bt_proto_unknown unknown;
	struct bt_proto_event event;
	struct bt_proto_list_meta meta;
	struct bt_proto_status status;

	proto = proto ? proto : bt_proto_create();
	if (bt_proto_open(bytes, &unknown, &error)) {
		decode(proto, BT_KIND_POD, unknown.raw);
		decode(proto, BT_KIND_NODE, unknown.raw);
	}
	decode(proto, BT_KIND_POD, bytes);
	decode(proto, BT_KIND_NODE, bytes);
	if (bt_proto_event(bytes, &event, &error) && bt_proto_open(event.raw, &unknown, &error)) {
		decode(proto, BT_KIND_POD, unknown.raw);
	}
	(void)bt_proto_list_meta(bytes, &meta, &error);
	(void)bt_proto_status(bytes, &status, &error);
	return 0;
}
