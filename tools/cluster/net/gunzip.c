/* SPDX-License-Identifier: Apache-2.0
 * The seam to zlib for streamed data.
 */
#include "tools/cluster/net/gunzip_int.h"

#include <limits.h>
#include <zlib.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"

#define GZIP_WINDOW (15 + 16)

struct bt_gunzip {
	z_stream z;
	bool ended; /* a member has ended */
};

struct bt_gunzip *bt_gunzip_create(void)
{
	struct bt_gunzip *gunzip = bt_mem_zalloc(1, sizeof(*gunzip));

	int rc = inflateInit2(&gunzip->z, GZIP_WINDOW);
	BT_REQUIRE(rc == Z_OK);
	return gunzip;
}

void bt_gunzip_destroy(struct bt_gunzip *gunzip)
{
	if (gunzip) {
		inflateEnd(&gunzip->z);
		bt_mem_free(gunzip);
	}
}

bool bt_gunzip_take(struct bt_gunzip *gunzip, struct bt_str *in, char *out, size_t cap, size_t *out_n)
{
	z_stream *z = &gunzip->z;
	size_t n = in->len < INT_MAX ? in->len : INT_MAX;

	if (gunzip->ended && n) { /* another member */
		inflateReset(z);
		gunzip->ended = false;
	}
	z->next_in = (z_const Bytef *)in->ptr;
	z->avail_in = (uInt)n;
	z->next_out = (Bytef *)out;
	z->avail_out = (uInt)cap;
	int rc = gunzip->ended ? Z_STREAM_END : inflate(z, Z_NO_FLUSH);

	gunzip->ended = rc == Z_STREAM_END;
	*in = bt_str_sub(*in, n - z->avail_in, in->len);
	*out_n = cap - z->avail_out;
	return rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR;
}

bool bt_gunzip_is_whole(const struct bt_gunzip *gunzip)
{
	return gunzip->ended;
}
