/* SPDX-License-Identifier: Apache-2.0
 * A buffered output stream that remembers its first error, so that callers write freely and check once, at
 * the end. Context: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/buf.h"
#include "engine/base/compiler.h"
#include "engine/base/status.h"
#include "engine/base/str.h"
#include "tools/cli/replace.h"

/* owner: private to output.c */
struct bt_output {
	int fd, error;	     /* error: the errno of the first failure, 0 while all is well */
	struct bt_buf *text; /* destination; NULL: fd */
	const char *path;
	char *buffer;
	size_t used;
	struct bt_replacement file; /* target NULL: none */
};

enum bt_output_way {
	BT_OUTPUT_WHOLE,   /* the file is replaced when complete; until then the old one stays */
	BT_OUTPUT_FOLLOWED /* it grows in place, for readers that follow it, and for output that may end at
			      any time */
};

/* Opens closed standard streams such that reads and writes still fail: no file or connection gets their
 * number, and with it output meant for people. Context: once, before other files are opened. */
void bt_output_reserve_standard(void);

/* Does the path mean standard output: -, /dev/stdout, /dev/fd/1 or /proc/self/fd/1? */
bool bt_output_is_standard(const char *path);

/*
 * Opens path for writing, or standard output when it means that. The path's text must outlive the stream.
 * Returns : BT_OK; BT_IO with a message on standard error.
 * Owns    : out_output until bt_output_close or bt_output_drop.
 */
enum bt_status bt_output_open(
	const char *path, enum bt_output_way way, struct bt_output *out_output) BT_MUST_CHECK;

/* Standard output, or standard error. Owns: as bt_output_open. */
void bt_output_open_standard(bool error, struct bt_output *out_output);

/* A stream that only appends to text, and needs no closing: bt_output_flush ends it. */
void bt_output_open_buf(struct bt_buf *text, struct bt_output *out_output);

void bt_output_add(struct bt_output *output, const void *bytes, size_t n);
void bt_output_str(struct bt_output *output, struct bt_str s);

/* Flushes the buffer; for output that a reader waits for. */
void bt_output_flush(struct bt_output *output);

/* Whether writing has failed, so that a long producer can stop early. */
static inline bool bt_output_failed(const struct bt_output *output)
{
	return output->error != 0;
}

/*
 * Flushes and closes. Reports an error on standard error with path and reason, except a closed pipe. Returns
 * : BT_EXIT_OK, BT_EXIT_IO or BT_EXIT_PIPE, for the command to end with.
 */
int bt_output_close(struct bt_output *output) BT_MUST_CHECK;

/* Drops a stream with incomplete content: an old file stays unchanged. */
void bt_output_drop(struct bt_output *output);

/* Writes a whole text to a file, or to standard output when path is "-".
 * Returns: enum bt_exit, as bt_output_close. */
int bt_output_write(const char *path, struct bt_str text) BT_MUST_CHECK;
