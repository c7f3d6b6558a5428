/* SPDX-License-Identifier: Apache-2.0
 * Frames through pipes.
 */
#include "tools/offline/sweep/frames.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES ((size_t)1 << 16)

struct frame_head {
	uint64_t number, len;
};

static bool write_all(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n > 0) {
		ssize_t written = write(fd, at, n);

		if (written < 0 && errno != EINTR) {
			return false;
		}
		if (written > 0) {
			at += written;
			n -= (size_t)written;
		}
	}
	return true;
}

bool bt_frame_write(int fd, uint64_t number, struct bt_str bytes)
{
	const struct frame_head head = {number, bytes.len};

	return write_all(fd, &head, sizeof(head)) && write_all(fd, bytes.ptr, bytes.len);
}

/* Moves the rest to the front, once most of the bytes were taken. */
static void forget_taken(struct bt_frames *frames)
{
	size_t rest = frames->bytes.len - frames->taken;

	if (frames->taken && frames->taken >= rest) {
		memmove(frames->bytes.ptr, frames->bytes.ptr + frames->taken, rest);
		frames->bytes.len = rest;
		frames->taken = 0;
	}
}

long bt_frames_read(struct bt_frames *frames, int fd)
{
	forget_taken(frames);
	bt_buf_reserve(&frames->bytes, READ_BYTES);
	ssize_t n = read(fd, frames->bytes.ptr + frames->bytes.len, READ_BYTES);
	if (n > 0) {
		frames->bytes.len += (size_t)n;
	}
	return (long)n;
}

bool bt_frames_take(struct bt_frames *frames, struct bt_frame *out_frame)
{
	size_t rest = frames->bytes.len - frames->taken;
	struct frame_head head;

	if (rest < sizeof(head)) {
		return false;
	}
	memcpy(&head, frames->bytes.ptr + frames->taken, sizeof(head));
	if (rest - sizeof(head) < head.len) {
		return false;
	}
	*out_frame = (struct bt_frame){
		head.number, {frames->bytes.ptr + frames->taken + sizeof(head), (size_t)head.len}};
	frames->taken += sizeof(head) + (size_t)head.len;
	return true;
}

void bt_frames_fini(struct bt_frames *frames)
{
	bt_buf_fini(&frames->bytes);
	*frames = (struct bt_frames){0};
}
