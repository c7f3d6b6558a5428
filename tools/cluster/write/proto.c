/* SPDX-License-Identifier: Apache-2.0
 * Objects as protobuf.
 */
#include "tools/cluster/write/proto.h"

#define BYTES_FIELD(number) (char)((number) << 3 | 2)

static size_t varint_bytes(size_t value)
{
	size_t n = 1;

	for (; value >= 0x80; value >>= 7) {
		n++;
	}
	return n;
}

/* A field whose number is below 16; an empty one is left out. */
static size_t field_bytes(size_t len)
{
	return len ? 1 + varint_bytes(len) + len : 0;
}

static void begin_field(struct bt_buf *out, int number, size_t len)
{
	bt_buf_char(out, BYTES_FIELD(number));
	for (; len >= 0x80; len >>= 7) {
		bt_buf_char(out, (char)(0x80 | (len & 0x7f)));
	}
	bt_buf_char(out, (char)len);
}

static void field(struct bt_buf *out, int number, struct bt_str text)
{
	if (text.len) {
		begin_field(out, number, text.len);
		bt_buf_str(out, text);
	}
}

void bt_proto_binding(const struct bt_pod_ref *pod, struct bt_str node, struct bt_buf *out)
{
	static const char magic[4] = {'k', '8', 's', 0};
	struct bt_str version = BT_STR("v1"), kind = BT_STR("Binding"), target = BT_STR("Node");
	size_t type = field_bytes(version.len) + field_bytes(kind.len);
	size_t meta =
		field_bytes(pod->name.len) + field_bytes(pod->namespace_.len) + field_bytes(pod->uid.len);
	size_t to = field_bytes(target.len) + field_bytes(node.len);

	bt_buf_add(out, magic, sizeof(magic));
	begin_field(out, 1, type); /* Unknown.typeMeta */
	field(out, 1, version);
	field(out, 2, kind);
	begin_field(out, 2, field_bytes(meta) + field_bytes(to)); /* Unknown.raw */
	begin_field(out, 1, meta);				  /* Binding.metadata */
	field(out, 1, pod->name);
	field(out, 3, pod->namespace_);
	field(out, 5, pod->uid);
	begin_field(out, 2, to); /* Binding.target */
	field(out, 1, target);
	field(out, 3, node);
}
