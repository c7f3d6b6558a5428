/* SPDX-License-Identifier: Apache-2.0
 * Parses kube-scheduler's answers and ours. Each aspect becomes a text; equal answers have equal texts.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/model/release.h"
#include "tools/format/input.h"
#include "tools/format/json.h"

struct answers_texts {
	struct bt_str *items;
	size_t n, cap;
};

struct answers_reader {
	struct bt_json *json;
	struct bt_arena arena;
	bool failed;
};

/* The buffer's text, in the reader's arena; the buffer is freed. */
struct bt_str answers_keep(struct answers_reader *r, struct bt_buf *buf);

void answers_add_text(struct answers_texts *texts, struct bt_str text);

/* The sorted texts, concatenated, each followed by between; frees them. */
struct bt_str answers_join_sorted(struct answers_reader *r, struct answers_texts *texts, char between);

/* Read one value each; a value of another type sets failed. */
struct bt_str answers_text(struct answers_reader *r);
struct bt_str answers_texts(struct answers_reader *r); /* an array, sorted */
struct bt_str answers_message(struct answers_reader *r);

/* Removes the next line from a text and returns it. */
struct bt_str answers_next_line(struct bt_str *rest);

/* Opens a file. On failure prints the error and returns an empty out. Owns: bt_input_destroy. */
struct bt_input *answers_open(const char *path, struct bt_input_file *out);

/* The release of a folder of answers, such as "1.36"; exits if the table of releases lacks it. */
const struct bt_release *answers_release(const char *name);

/* Our answer, as the release, to a line of a scenario or history; clears out first. Without an answer prints
 * the reason to standard output. */
void answers_of_scenario(const struct bt_release *release, struct bt_str line, struct bt_buf *out);
void answers_of_history(const struct bt_release *release, struct bt_str line, struct bt_buf *out);

/* The same, decided by columns and state cached across cycles. */
void answers_of_history_by_columns(const struct bt_release *release, struct bt_str line, struct bt_buf *out);
