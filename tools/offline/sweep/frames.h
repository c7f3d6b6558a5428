/* SPDX-License-Identifier: Apache-2.0
 * What a worker sends: frames of a question's number, a length and so many bytes. Context: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"

/* The number of the frame that ends a stream. */
#define BT_FRAME_LAST UINT64_MAX

struct bt_frame {
	uint64_t number;
	struct bt_str bytes;
};

/* Bytes that have come, and how many of them were taken. All zeroes is empty. Owns: bt_frames_fini. */
struct bt_frames {
	struct bt_buf bytes;
	size_t taken;
};

/* Writes a whole frame, however small the pipe is. Returns: false when the reader has closed it. */
bool bt_frame_write(int fd, uint64_t number, struct bt_str bytes);

/* Reads what has come, in one call. Returns: the bytes; 0 at the end, -1 with errno as read. */
long bt_frames_read(struct bt_frames *frames, int fd);

/* Takes the next frame, which is valid until the next call of either function. Returns: false: it has not
 * come as a whole. */
bool bt_frames_take(struct bt_frames *frames, struct bt_frame *out_frame);

void bt_frames_fini(struct bt_frames *frames);
