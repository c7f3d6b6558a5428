/* SPDX-License-Identifier: Apache-2.0
 * Wraps zlib and libzstd: decompression in steps, so that the limit is checked during growth. It may be
 * exceeded by one step of output (STEP_BYTES).
 */
#include "tools/format/unpack_int.h"

#include <limits.h>
#include <zlib.h>
#include <zstd.h>

#include "tools/format/input.h"

#define STEP_BYTES ((size_t)1 << 20)

enum bt_packing bt_packing(struct bt_str bytes)
{
	if (bt_str_starts(bytes, "\x1f\x8b")) {
		return BT_PACKING_GZIP;
	}
	return bt_str_starts(bytes, "\x28\xb5\x2f\xfd") ? BT_PACKING_ZSTD : BT_PACKING_NONE;
}

/* Does out exceed the limit for the bytes read so far? */
static bool is_too_much(const struct bt_buf *out, size_t read_bytes, size_t raised)
{
	return out->len > bt_input_unpacked_max(read_bytes, raised);
}

/* Decompresses all input. Returns BT_OK at the end of the last member. */
static enum bt_status inflate_all(z_stream *z, struct bt_str bytes, size_t raised, struct bt_buf *out)
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
		bt_buf_reserve(out, STEP_BYTES);
		z->next_out = (Bytef *)(out->ptr + out->len);
		z->avail_out = (uInt)STEP_BYTES;
		rc = inflate(z, Z_NO_FLUSH);
		out->len += STEP_BYTES - z->avail_out;
		if (is_too_much(out, at - z->avail_in, raised)) {
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

static enum bt_status unpack_gzip(struct bt_str bytes, size_t raised, struct bt_buf *out)
{
	z_stream z = {0};

	if (inflateInit2(&z, 15 + 16) != Z_OK) {
		return BT_NO_MEMORY;
	}
	enum bt_status rc = inflate_all(&z, bytes, raised, out);
	inflateEnd(&z);
	return rc;
}

static enum bt_status unpack_zstd(struct bt_str bytes, size_t raised, struct bt_buf *out)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = {bytes.ptr, bytes.len, 0};
	enum bt_status status = BT_OK;
	size_t more = 1;

	if (!z) {
		return BT_NO_MEMORY;
	}
	while (status == BT_OK && (in.pos < in.size || more)) {
		size_t before = in.pos;

		bt_buf_reserve(out, STEP_BYTES);
		ZSTD_outBuffer to = {out->ptr + out->len, STEP_BYTES, 0};
		more = ZSTD_decompressStream(z, &to, &in);
		out->len += to.pos;
		if (ZSTD_isError(more)) {
			status = BT_INVALID;
		} else if (is_too_much(out, in.pos, raised)) {
			status = BT_RANGE;
		} else if (more && in.pos == in.size && before == in.pos && to.pos == 0) {
			status = BT_TRUNCATED;
		}
	}
	ZSTD_freeDStream(z);
	return status;
}

enum bt_status bt_unpack(enum bt_packing packing, struct bt_str bytes, size_t raised, struct bt_buf *out)
{
	switch (packing) {
	case BT_PACKING_GZIP:
		return unpack_gzip(bytes, raised, out);
	case BT_PACKING_ZSTD:
		return unpack_zstd(bytes, raised, out);
	case BT_PACKING_NONE:
		break;
	}
	bt_buf_add(out, bytes.ptr, bytes.len);
	return BT_OK;
}
