/* SPDX-License-Identifier: Apache-2.0
 * Templates of workload files: text with actions such as {{.Index}} or {{DivideInt .Index 5}}, as in Go's
 * text/template. Fields are .Index and .Count; functions are AddInt, SubtractInt, MultiplyInt, DivideInt, Mod
 * and the same with Float; arguments are numbers, strings, fields and parentheses; pipes and trimming work.
 * Control structures (if, range, with …) and variables are rejected. Context: one thread; allocates.
 */
#pragma once

#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/status.h"
#include "engine/base/str.h"

/* A piece of text, or an action between {{ and }}. */
struct bt_template_piece {
	struct bt_str text;
	size_t line; /* from 1 */
	bool action;
};

/* Zero-initialized: empty text. Owns: bt_template_fini; the text stays the caller's and must outlive it. */
struct bt_template {
	struct bt_template_piece *pieces;
	size_t piece_n, piece_cap;
	bool varies; /* some action uses a field: the text differs between objects */
};

struct bt_template_error {
	size_t line;
	char message[200];
	const char *remedy; /* static; NULL: none */
};

/* Splits a text into pieces and validates each action. Returns: BT_OK; BT_INVALID or BT_UNSUPPORTED with the
 * reason in out_error, without holding resources. */
enum bt_status bt_template_parse(
	struct bt_str text, struct bt_template *out_template, struct bt_template_error *out_error);
void bt_template_fini(struct bt_template *template_);

/* Appends the text for the index-th of count objects. Returns: BT_OK; BT_INVALID when a function cannot take
 * its arguments (out_text is half written then). */
enum bt_status bt_template_expand(const struct bt_template *template_, int64_t index, int64_t count,
	struct bt_buf *out_text, struct bt_template_error *out_error);
