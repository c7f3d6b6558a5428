/* SPDX-License-Identifier: Apache-2.0
 * The seam to zlib and libzstd: unpacking in steps, so that the limit holds while it grows.
 */
#include "tools/codec/unpack_int.h"

#include <limits.h>
#include <zlib.h>
#include <zstd.h>

#define STEP_BYTES ((size_t)1 << 20)

enum bt_packing bt_packing(struct bt_str bytes)
{
	if (bt_str_starts(bytes, "\x1f\x8b")) {
		return BT_PACKING_GZIP;
	}
	return bt_str_starts(bytes, "\x28\xb5\x2f\xfd") ? BT_PACKING_ZSTD : BT_PACKING_NONE;
}

/* Bytes that the next step may write: one more than allowed, so that too much is noticed. */
static size_t step_bytes(const struct bt_buf *out, size_t max)
{
	size_t left = max - out->len + 1;

	return left < STEP_BYTES ? left : STEP_BYTES;
}

/* Unfolds as long as there is input. Returns BT_OK at the end of a member with nothing behind it. */
static enum bt_status inflate_all(z_stream *z, struct bt_str bytes, size_t max, struct bt_buf *out)
{
	size_t at = 0;
	int rc = Z_OK;

	for (;;) {
		if (z->avail_in == 0) {
			size_t n = bytes.len - at < INT_MAX ? bytes.len - at : INT_MAX;

			z->next_in = (z_const Bytef *)(bytes.ptr + at);
			z->avail_in = (uInt)n;
			at += n;
		}
		if (rc == Z_STREAM_END) {
			if (z->avail_in == 0) {
				return BT_OK;
			}
			inflateReset(z);
		}
		size_t room = step_bytes(out, max);
		bt_buf_reserve(out, room);
		z->next_out = (Bytef *)(out->ptr + out->len);
		z->avail_out = (uInt)room;
		rc = inflate(z, Z_NO_FLUSH);
		out->len += room - z->avail_out;
		if (out->len > max) {
			return BT_RANGE;
		}
		if (rc == Z_BUF_ERROR && z->avail_in == 0 && at == bytes.len) {
			return BT_TRUNCATED;
		}
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) {
			return BT_INVALID;
		}
	}
}

static enum bt_status unpack_gzip(struct bt_str bytes, size_t max, struct bt_buf *out)
{
	z_stream z = {0};

	if (inflateInit2(&z, 15 + 16) != Z_OK) {
		return BT_NO_MEMORY;
	}
	enum bt_status rc = inflate_all(&z, bytes, max, out);
	inflateEnd(&z);
	return rc;
}

static enum bt_status unpack_zstd(struct bt_str bytes, size_t max, struct bt_buf *out)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = {bytes.ptr, bytes.len, 0};
	enum bt_status status = BT_OK;
	size_t more = 1;

	if (!z) {
		return BT_NO_MEMORY;
	}
	while (status == BT_OK && (in.pos < in.size || more)) {
		size_t room = step_bytes(out, max);
		size_t before = in.pos;

		bt_buf_reserve(out, room);
		ZSTD_outBuffer to = {out->ptr + out->len, room, 0};
		more = ZSTD_decompressStream(z, &to, &in);
		out->len += to.pos;
		if (ZSTD_isError(more)) {
			status = BT_INVALID;
		} else if (out->len > max) {
			status = BT_RANGE;
		} else if (more && in.pos == in.size && before == in.pos && to.pos == 0) {
			status = BT_TRUNCATED;
		}
	}
	ZSTD_freeDStream(z);
	return status;
}

enum bt_status bt_unpack(enum bt_packing packing, struct bt_str bytes, size_t max, struct bt_buf *out)
{
	switch (packing) {
	case BT_PACKING_GZIP:
		return unpack_gzip(bytes, max, out);
	case BT_PACKING_ZSTD:
		return unpack_zstd(bytes, max, out);
	case BT_PACKING_NONE:
		break;
	}
	bt_buf_add(out, bytes.ptr, bytes.len);
	return BT_OK;
}
