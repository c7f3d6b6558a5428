/* SPDX-License-Identifier: Apache-2.0
 * Input files: files, directories and standard input, decompressed if they are gzip or zstd, one after
 * another. Context: one thread at a time; blocks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/status.h"
#include "engine/base/str.h"
#include "tools/format/diagnosis.h"

struct bt_input;

enum bt_format { BT_FORMAT_JSON, BT_FORMAT_YAML };

struct bt_input_file {
	const char *name; /* as given, or the path below the directory that was given */
	struct bt_str text;
	enum bt_format format;
	bool guessed;	     /* JSON by its first byte only: it may be YAML */
	uint64_t bytes_read; /* before unpacking */
};

/* Problems with files go to report. Owns: destroy with bt_input_destroy. */
struct bt_input *bt_input_create(bt_diagnosis_fn *report, void *context);
void bt_input_destroy(struct bt_input *input);

/*
 * Adds a file, a directory (every .json, .yaml and .yml below it, also .gz and .zst, in byte order of their
 * paths), or "-" for standard input. Reports problems and continues.
 * Returns : BT_OK, or the reported status.
 */
enum bt_status bt_input_add(struct bt_input *input, const char *path);

/* Opens the next file that can be read. Returns false at the end. Owns: out's memory is valid until the next
 * call. */
bool bt_input_next(struct bt_input *input, struct bt_input_file *out);

/* Files and directories that could not be opened or read. */
uint64_t bt_input_unreadable(const struct bt_input *input);

/* Files in directories that were ignored because of their names. */
uint64_t bt_input_ignored(const struct bt_input *input);

/* Calls found for each file that bt_input_add reads in the folder. Unreadable ones are skipped. */
void bt_input_list(const char *folder, void (*found)(void *context, const char *file), void *context);

/* Whether a file of that name in a folder is read. */
bool bt_input_takes(const char *name);

/* The maximum decompressed size of the first packed_bytes bytes of a file; raised: the environment's limit, 0
 * if not set. */
size_t bt_input_unpacked_max(size_t packed_bytes, size_t raised);

/* JSON or YAML, by name and first bytes as kubectl decides: JSON begins with a brace. */
enum bt_format bt_input_format(const char *name, struct bt_str text);
