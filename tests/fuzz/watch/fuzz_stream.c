/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as the body of a list or a watch: split into pieces they give the same parts as at once, and the
 * accessors of a part work. The first byte selects the encoding, the second the size of the pieces.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/cluster/watch/frame_int.h"
#include "tools/cluster/watch/stream_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
	uint64_t hash; /* of all parts */
	uint32_t part_n;
	bool bad, whole;
};

static void look(struct bt_watch_frame_reader *reader, enum bt_stream_form form, enum bt_stream_step step,
	struct bt_str part)
{
	bool is_proto = form == BT_STREAM_PROTO_WATCH || form == BT_STREAM_PROTO_LIST;
	bool is_list = form == BT_STREAM_PROTO_LIST || form == BT_STREAM_JSON_LIST;
	struct bt_arena arena = {0};
	struct bt_proto_list_meta meta;
	struct bt_proto_status status;
	struct bt_object object;
	enum bt_watch_frame_type type;

	if (step == BT_STREAM_META) {
		(void)bt_watch_frame_list_meta(reader, is_proto, part, &meta);
	} else if (is_list ||
		   bt_watch_frame_open(reader, is_proto, bt_kind_info(BT_KIND_POD), part, &type, &part)) {
		char *copy = bt_mem_copy(part.ptr, part.len); /* the reader reuses its memory */
		const struct bt_str bytes = {copy, part.len};

		if (bt_watch_frame_object(reader, is_proto, bt_kind_info(BT_KIND_POD), bytes, &arena,
			    &object) == BT_PROTO_WHOLE) {
			(void)bt_watch_frame_check_name(reader, &object);
		}
		(void)bt_watch_frame_status(reader, is_proto, bytes, &status);
		bt_mem_free(copy);
	}
	bt_arena_fini(&arena);
}

static struct outcome run(struct bt_watch_frame_reader *reader, enum bt_stream_form form, const char *bytes,
	size_t n, size_t piece)
{
	struct bt_stream stream = {0};
	struct outcome out = {0};
	struct bt_str part;

	bt_stream_begin(&stream, form);
	for (size_t at = 0; at < n && !out.bad;) {
		size_t more = n - at < piece ? n - at : piece;
		char *exact = bt_mem_copy(bytes + at, more);
		enum bt_stream_step step;

		bt_stream_add(&stream, exact, more);
		bt_mem_free(exact);
		at += more;
		while ((step = bt_stream_next(&stream, &part)) != BT_STREAM_MORE) {
			if (step == BT_STREAM_BAD) {
				BT_REQUIRE(stream.error);
				out.bad = true;
				break;
			}
			out.hash = bt_hash_u64(out.hash + bt_hash_bytes(part.ptr, part.len) + (uint64_t)step);
			out.part_n++;
			look(reader, form, step, part);
		}
	}
	out.whole = bt_stream_is_whole(&stream);
	bt_stream_fini(&stream);
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bt_watch_frame_reader reader;

	if (!reader.proto) {
		bt_watch_frame_reader_init(&reader);
	}
	if (size < 2) {
		return 0;
	}
	enum bt_stream_form form = (enum bt_stream_form)(data[0] % 4);
	const char *bytes = (const char *)data + 2;
	struct outcome at_once = run(&reader, form, bytes, size - 2, size);
	struct outcome pieces = run(&reader, form, bytes, size - 2, 1 + data[1] % 32);
	BT_REQUIRE(at_once.bad == pieces.bad && at_once.whole == pieces.whole);
	BT_REQUIRE(at_once.part_n == pieces.part_n && at_once.hash == pieces.hash);
	return 0;
}
