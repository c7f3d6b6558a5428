/* SPDX-License-Identifier: Apache-2.0
 * The wire of protobuf: varints, tags, lengths.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/compiler.h"

enum bt_wire_type { BT_WIRE_VARINT = 0, BT_WIRE_FIXED64 = 1, BT_WIRE_BYTES = 2, BT_WIRE_FIXED32 = 5 };

/* The unread part of a message; at <= end. */
struct bt_wire_in {
	const uint8_t *at, *end;
	const char *error; /* static; NULL: none */
	bool cut;	   /* the error is that bytes end too early */
};

bool bt_wire_long_varint(struct bt_wire_in *in, uint64_t *out);

/* Reads a varint. Returns: false with in->error set. */
BT_INLINE bool bt_wire_varint(struct bt_wire_in *in, uint64_t *out)
{
	if (BT_LIKELY(in->at < in->end && *in->at < 0x80)) {
		*out = *in->at++;
		return true;
	}
	return bt_wire_long_varint(in, out);
}

/* Skips a length and that many bytes, which become out. */
BT_INLINE bool bt_wire_bytes(struct bt_wire_in *in, struct bt_wire_in *out)
{
	uint64_t n;

	if (!bt_wire_varint(in, &n)) {
		return false;
	}
	if (n > (uint64_t)(in->end - in->at)) {
		in->error = "a length goes beyond the end";
		in->cut = true;
		return false;
	}
	*out = (struct bt_wire_in){.at = in->at, .end = in->at + n};
	in->at += n;
	return true;
}

/* Reads a tag: the number of a field and the type of its value. */
BT_INLINE bool bt_wire_tag(struct bt_wire_in *in, uint32_t *out_number, uint32_t *out_type)
{
	uint64_t tag;

	if (!bt_wire_varint(in, &tag)) {
		return false;
	}
	if (tag > UINT32_MAX || tag < 8) {
		in->error = "a field has a number that no field has";
		return false;
	}
	*out_number = (uint32_t)tag >> 3;
	*out_type = tag & 7;
	return true;
}

/* Steps over a value. Groups are rejected: no server writes them. */
bool bt_wire_skip(struct bt_wire_in *in, uint32_t type);
