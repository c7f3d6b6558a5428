/* SPDX-License-Identifier: Apache-2.0
 * Bytes on their way to somebody who is slow, such as a disk: one thread puts them, a thread of the writer's
 * own hands them on, in order. Putting makes no system call as long as there is room; when there is none it
 * waits, and nothing is lost. What has been put is on its way a few milliseconds later, whatever becomes of
 * who put it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/compiler.h"

struct bt_async_writer;

struct bt_async_writer_options {
	/* Takes bytes. Returns: false when it cannot; then it is not called again. Context: the writer's
	 * thread, or, when the system gives none, who puts. */
	bool (*take)(void *context, const char *bytes, size_t n);
	void *context;
	const char *name;  /* of the thread */
	uint32_t capacity; /* in bytes; a power of two; 0: 4 MiB */
};

/* Owns: bt_async_writer_destroy, which hands on what is left. */
struct bt_async_writer *bt_async_writer_create(const struct bt_async_writer_options *options);
void bt_async_writer_destroy(struct bt_async_writer *writer);

/* Puts n bytes. Context: one thread; copies; waits while there is no room. */
void bt_async_writer_put(struct bt_async_writer *writer, const char *bytes, size_t n);

/* Waits until everything has been handed on. Returns: whether it was taken. Context: who puts. */
BT_MUST_CHECK bool bt_async_writer_flush(struct bt_async_writer *writer);

/* How often there was no room. Context: any thread. */
uint64_t bt_async_writer_full_n(const struct bt_async_writer *writer);
