/* SPDX-License-Identifier: Apache-2.0
 * Answers packed by gzip, in pieces of any size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "gunzip_int.h"

static const char hello[] =
	"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xcb\x48\xcd\xc9\xc9\xd7\x51\xc8\x40\xa2\x00"
	"\x9f\xa1\xca\x09\x13\x00\x00\x00";
static const char more[] =
	"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x53\x48\xcc\x4b\x51\xc8\xcd\x2f\x4a\x05\x00\xb8"
	"\x4e\x82\x5b\x09\x00\x00\x00";
/* 10,000 times 'a' */
static const char many[] =
	"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xed\xc1\x01\x0d\x00\x00\x00\xc2\xa0\xac\xef\x5f"
	"\xc2\x1c\x6e\x40\x01\x00\x00\x00\x00\x00\x00\x00\x00\xc0\xbf\x01\x97\xd4\x7e\x46\x10\x27"
	"\x00\x00";

/* Unpacks what comes in pieces of step bytes into room for cap. Returns: false: not gzip. */
static bool unpack(struct bt_gunzip *gunzip, struct bt_str in, size_t step, size_t cap, struct bt_buf *out)
{
	char *room = malloc(cap);
	bool good = true;

	for (size_t at = 0; good && at < in.len; at += step) {
		struct bt_str piece = bt_str_sub(in, at, at + step < in.len ? at + step : in.len);
		size_t n = cap;

		while (good && (piece.len || n == cap)) {
			size_t before = piece.len;

			good = bt_gunzip_take(gunzip, &piece, room, cap, &n);
			bt_buf_add(out, room, good ? n : 0);
			assert_true(!good || n || piece.len < before || !before);
		}
	}
	free(room);
	return good;
}

static void expect(const char *bytes, size_t n, size_t step, size_t cap, const char *want)
{
	struct bt_gunzip *gunzip = bt_gunzip_create();
	struct bt_buf out = {0};

	assert_true(unpack(gunzip, (struct bt_str){bytes, n}, step, cap, &out));
	assert_true(bt_gunzip_is_whole(gunzip));
	assert_string_equal(out.ptr, want);
	bt_buf_fini(&out);
	bt_gunzip_destroy(gunzip);
}

static void pieces_of_any_size_are_decompressed(void **state)
{
	(void)state;
	for (size_t step = 1; step < sizeof(hello); step++) {
		expect(hello, sizeof(hello) - 1, step, 100, "hello, hello, hello");
		expect(hello, sizeof(hello) - 1, step, 1, "hello, hello, hello");
	}
}

static void output_beyond_the_room_follows_without_input(void **state)
{
	struct bt_gunzip *gunzip = bt_gunzip_create();
	struct bt_str in = {many, sizeof(many) - 1};
	struct bt_buf out = {0};
	char room[64];
	size_t n;

	(void)state;
	assert_true(bt_gunzip_take(gunzip, &in, room, sizeof(room), &n));
	assert_int_equal(n, sizeof(room));
	assert_false(bt_gunzip_is_whole(gunzip));
	assert_true(unpack(gunzip, in, in.len, 64, &out));
	assert_int_equal(out.len + sizeof(room), 10000);
	assert_true(bt_gunzip_is_whole(gunzip));
	bt_buf_fini(&out);
	bt_gunzip_destroy(gunzip);
}

static void members_follow_each_other(void **state)
{
	char both[sizeof(hello) + sizeof(more)];

	(void)state;
	memcpy(both, hello, sizeof(hello) - 1);
	memcpy(both + sizeof(hello) - 1, more, sizeof(more) - 1);
	for (size_t step = 1; step < sizeof(both); step += 7) {
		expect(both, sizeof(both) - 2, step, 100, "hello, hello, hello and more");
	}
}

static void a_truncated_stream_is_not_complete(void **state)
{
	(void)state;
	for (size_t n = 1; n < sizeof(hello) - 1; n++) {
		struct bt_gunzip *gunzip = bt_gunzip_create();
		struct bt_buf out = {0};

		assert_true(unpack(gunzip, (struct bt_str){hello, n}, n, 100, &out));
		assert_false(bt_gunzip_is_whole(gunzip));
		bt_buf_fini(&out);
		bt_gunzip_destroy(gunzip);
	}
}

static void input_that_is_not_gzip_is_rejected(void **state)
{
	static const char *const texts[] = {"plain text", "\x1f\x8c", "\x1f\x8b\x08\xff\xff\xff\xff\xff"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct bt_gunzip *gunzip = bt_gunzip_create();
		struct bt_buf out = {0};

		assert_false(unpack(gunzip, bt_str(texts[i]), 100, 100, &out));
		bt_buf_fini(&out);
		bt_gunzip_destroy(gunzip);
	}
}

static void a_wrong_checksum_is_refused(void **state)
{
	struct bt_gunzip *gunzip = bt_gunzip_create();
	char wrong[sizeof(hello)];
	struct bt_buf out = {0};

	(void)state;
	memcpy(wrong, hello, sizeof(hello));
	wrong[sizeof(hello) - 6] ^= 1;
	assert_false(unpack(gunzip, (struct bt_str){wrong, sizeof(hello) - 1}, 100, 100, &out));
	assert_false(bt_gunzip_is_whole(gunzip));
	bt_buf_fini(&out);
	bt_gunzip_destroy(gunzip);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_of_any_size_are_decompressed),
		cmocka_unit_test(output_beyond_the_room_follows_without_input),
		cmocka_unit_test(members_follow_each_other),
		cmocka_unit_test(a_truncated_stream_is_not_complete),
		cmocka_unit_test(input_that_is_not_gzip_is_rejected),
		cmocka_unit_test(a_wrong_checksum_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
