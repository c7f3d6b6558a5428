/* SPDX-License-Identifier: Apache-2.0
 * Frames through a pipe: whole or not at all, in pieces of any size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/offline/sweep/frames.h"

struct ends {
	int from, to;
};

static struct ends open_pipe(void)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	return (struct ends){fds[0], fds[1]};
}

static void frames_arrive_in_order_and_whole(void **state)
{
	struct ends pipe_ = open_pipe();
	struct bt_frames frames = {.taken = 0};
	struct bt_frame frame;

	(void)state;
	assert_true(bt_frame_write(pipe_.to, 7, bt_str("seven")));
	assert_true(bt_frame_write(pipe_.to, 0, bt_str("")));
	assert_true(bt_frame_write(pipe_.to, BT_FRAME_LAST, bt_str("")));
	assert_false(bt_frames_take(&frames, &frame));
	assert_true(bt_frames_read(&frames, pipe_.from) > 0);
	assert_true(bt_frames_take(&frames, &frame));
	assert_int_equal(frame.number, 7);
	assert_true(bt_str_is(frame.bytes, "seven"));
	assert_true(bt_frames_take(&frames, &frame));
	assert_int_equal(frame.number, 0);
	assert_int_equal(frame.bytes.len, 0);
	assert_true(bt_frames_take(&frames, &frame));
	assert_true(frame.number == BT_FRAME_LAST);
	assert_false(bt_frames_take(&frames, &frame));
	close(pipe_.to);
	assert_int_equal(bt_frames_read(&frames, pipe_.from), 0);
	bt_frames_fini(&frames);
	close(pipe_.from);
}

/* Writes n frames, each with its number as text, three times. */
static void fill(int fd, uint32_t n)
{
	char text[64];

	for (uint32_t i = 0; i < n; i++) {
		int length = snprintf(text, sizeof(text), "%u-%u-%u", i, i, i);

		assert_true(bt_frame_write(fd, i, (struct bt_str){text, (size_t)length}));
	}
}

static void a_frame_is_taken_once_its_last_byte_has_come(void **state)
{
	struct ends whole = open_pipe(), slow = open_pipe();
	struct bt_frames frames = {.taken = 0};
	struct bt_frame frame;
	uint32_t taken_n = 0;
	char byte, wanted[64];

	(void)state;
	fill(whole.to, 200);
	close(whole.to);
	while (read(whole.from, &byte, 1) == 1) {
		assert_int_equal(write(slow.to, &byte, 1), 1);
		assert_int_equal(bt_frames_read(&frames, slow.from), 1);
		while (bt_frames_take(&frames, &frame)) {
			snprintf(wanted, sizeof(wanted), "%u-%u-%u", taken_n, taken_n, taken_n);
			assert_int_equal(frame.number, taken_n);
			assert_true(bt_str_is(frame.bytes, wanted));
			taken_n++;
		}
	}
	assert_int_equal(taken_n, 200);
	bt_frames_fini(&frames);
	close(whole.from);
	close(slow.from);
	close(slow.to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_arrive_in_order_and_whole),
		cmocka_unit_test(a_frame_is_taken_once_its_last_byte_has_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
