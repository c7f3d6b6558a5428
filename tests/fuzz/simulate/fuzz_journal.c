/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a journal: replayed to its end, or rejected with a reason, the same twice. The bytes are
 * replayed unchanged, and again with corrected checksums, as an attacker could write them.
 */
#include <stddef.h>
#include <stdint.h>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/varint.h"
#include "tools/kube/objects/watch_event.h"
#include "tools/kube/config/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD_BYTES = 12, SUM_BYTES = 4 };

/* The records up to the first incomplete one, with their checksums. */
static void seal(struct bt_str bytes, struct bt_buf *out)
{
	struct bt_str rest = bt_str_sub(bytes, HEAD_BYTES, bytes.len);
	uint64_t n;

	bt_buf_str(out, bt_str_sub(bytes, 0, HEAD_BYTES));
	while (bt_varint_get(&rest, &n) && rest.len > SUM_BYTES && n < rest.len - SUM_BYTES) {
		uint64_t sum = bt_hash_bytes(rest.ptr, (size_t)n + 1);

		bt_varint_put(n, out);
		bt_buf_str(out, bt_str_sub(rest, 0, (size_t)n + 1));
		for (int i = 0; i < SUM_BYTES; i++) {
			bt_buf_char(out, (char)(sum >> 8 * i));
		}
		rest = bt_str_sub(rest, (size_t)n + 1 + SUM_BYTES, rest.len);
	}
}

/* Returns false when there is nothing to replay. */
static bool play(struct bt_str bytes, struct bt_replay_result *out_result, struct bt_buf *out_text)
{
	struct bt_journal_reader reader;
	struct bt_journal_header header;
	struct bt_watch_event_maker maker;
	struct bt_config config = {.profile_n = 0};

	*out_result = (struct bt_replay_result){.ended = false};
	if (bt_journal_open(bytes, &reader, &header, out_text) != BT_OK) {
		BT_REQUIRE(out_text->len > 0);
		return false;
	}
	if (bt_recording_config(header.config, &config, out_text) == BT_OK) {
		bt_watch_event_maker_init(&maker);
		const struct bt_replay_options options = {
			.config = &config, .codec = bt_journal_json(&maker)};
		enum bt_status status = bt_journal_replay(bytes, &options, out_result, out_text);

		BT_REQUIRE((status == BT_OK) == (out_text->len == 0));
		BT_REQUIRE(status != BT_OK || (out_result->ended && !out_result->differs));
		BT_REQUIRE((status == BT_CONFLICT) == out_result->differs);
		BT_REQUIRE(out_result->offset <= bytes.len);
		bt_watch_event_maker_fini(&maker);
	} else {
		BT_REQUIRE(out_text->len > 0);
	}
	bt_config_fini(&config);
	return true;
}

static void play_twice(struct bt_str bytes)
{
	struct bt_buf first = {0}, second = {0};
	struct bt_replay_result a, b;

	if (play(bytes, &a, &first)) {
		play(bytes, &b, &second);
		BT_REQUIRE(bt_str_eq(bt_buf_view(&first), bt_buf_view(&second)));
		BT_REQUIRE(a.offset == b.offset && a.decision_n == b.decision_n && a.now_ns == b.now_ns &&
			   a.ended == b.ended && a.differs == b.differs);
	}
	bt_buf_fini(&first);
	bt_buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bt_str bytes = {(const char *)data, size};
	struct bt_buf sealed = {0};

	play_twice(bytes);
	if (size > HEAD_BYTES) {
		seal(bytes, &sealed);
		if (!bt_str_eq(bt_buf_view(&sealed), bytes)) {
			play_twice(bt_buf_view(&sealed));
		}
	}
	bt_buf_fini(&sealed);
	return 0;
}
