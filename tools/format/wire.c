/* SPDX-License-Identifier: Apache-2.0
 * The wire of protobuf.
 */
#include "tools/format/wire.h"

bool bt_wire_long_varint(struct bt_wire_in *in, uint64_t *out)
{
	uint64_t value = 0;

	for (uint32_t shift = 0; shift < 64; shift += 7) {
		if (in->at == in->end) {
			in->error = "a number is cut off";
			in->cut = true;
			return false;
		}
		uint8_t byte = *in->at++;
		if (shift == 63 && byte > 1) {
			break;
		}
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*out = value;
			return true;
		}
	}
	in->error = "a number has more than 64 bits";
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
