/* SPDX-License-Identifier: Apache-2.0
 * Writes bytes to a slow sink, such as a disk, in the background: one thread puts them, the writer's thread
 * passes them on, in order. Putting makes no system call while there is room, and blocks when there is none;
 * nothing is lost. Bytes are passed on within a few milliseconds, even if the producer stops.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/compiler.h"

struct bt_async_writer;

struct bt_async_writer_options {
	/* The sink. Returns: false on failure; then it is not called again. Context: the writer's thread, or
	 * the producer's if no thread can be created. */
	bool (*take)(void *context, const char *bytes, size_t n);
	void *context;
	const char *name;  /* of the thread */
	uint32_t capacity; /* in bytes; a power of two; 0: 4 MiB */
};

/* Owns: the caller; bt_async_writer_destroy, which passes on the remaining bytes. */
struct bt_async_writer *bt_async_writer_create(const struct bt_async_writer_options *options);
void bt_async_writer_destroy(struct bt_async_writer *writer);

/* Puts n bytes. Context: one thread; copies; blocks while there is no room. */
void bt_async_writer_put(struct bt_async_writer *writer, const char *bytes, size_t n);

/* Waits until all bytes are passed on. Returns: whether take succeeded. Context: the producer. */
BT_MUST_CHECK bool bt_async_writer_flush(struct bt_async_writer *writer);

/* How often a put found no room. Context: any thread. */
uint64_t bt_async_writer_full_n(const struct bt_async_writer *writer);
