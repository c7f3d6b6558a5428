/* SPDX-License-Identifier: Apache-2.0
 * Protobuf's wire format: fields and varints.
 */
#include "tools/format/wire.h"

#include "engine/base/varint.h"

bool bt_wire_long_varint(struct bt_wire_in *in, uint64_t *out)
{
	struct bt_str bytes = {(const char *)in->at, (size_t)(in->end - in->at)};

	if (bt_varint_get(&bytes, out)) {
		in->at = in->end - bytes.len;
		return true;
	}
	in->cut = bytes.len < BT_VARINT_MAX;
	in->error = in->cut ? "a number is cut off" : "a number has more than 64 bits";
	in->at += in->cut ? bytes.len : BT_VARINT_MAX;
	return false;
}

static bool skip_fixed(struct bt_wire_in *in, size_t n)
{
	if (n > (size_t)(in->end - in->at)) {
		in->error = "a value goes beyond the end";
		in->cut = true;
		return false;
	}
	in->at += n;
	return true;
}

bool bt_wire_skip(struct bt_wire_in *in, uint32_t type)
{
	struct bt_wire_in bytes;
	uint64_t number;

	switch (type) {
	case BT_WIRE_VARINT:
		return bt_wire_varint(in, &number);
	case BT_WIRE_FIXED64:
		return skip_fixed(in, 8);
	case BT_WIRE_BYTES:
		return bt_wire_bytes(in, &bytes);
	case BT_WIRE_FIXED32:
		return skip_fixed(in, 4);
	default:
		in->error = "a value is of a type that is not used";
		return false;
	}
}
