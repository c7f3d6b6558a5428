/* SPDX-License-Identifier: Apache-2.0
 * The first stage of the JSON reader: the start offsets of tokens in a window of text. Strings are validated
 * here: control characters, escapes, surrogates, UTF-8.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/status.h"

/* A window is about this long; its tokens and those of one block more always fit. */
#define BT_JSON_WINDOW_BYTES (16u << 10)
#define BT_JSON_INDEX_MAX    (BT_JSON_WINDOW_BYTES + 128u)

struct bt_json_window {
	const char *base;   /* token i begins at base + index[i] */
	size_t next_offset; /* start of the next window */
	bool next_in_word;  /* it starts inside a number or word, so it is no token */
	uint32_t n;
	enum bt_status status; /* the error after the last token */
	size_t error_offset;
	const char *error_text;
	uint32_t index[BT_JSON_INDEX_MAX];
};

/*
 * Indexes the window of text that begins at offset, which must not be inside a string; in_word: but is inside
 * a number or a word. Tokens are the characters {}[]:, the opening quotes of strings, and the first bytes of
 * everything else. No string crosses the end of a window.
 * Returns : false when no token is left; out->status then says whether that is an error.
 */
bool bt_json_index(const char *text, size_t len, size_t offset, bool in_word, struct bt_json_window *out);

typedef bool bt_json_index_fn(
	const char *text, size_t len, size_t offset, bool in_word, struct bt_json_window *out);

/* The ways in which this machine can do that, the quickest first, which is bt_json_index's, and the last one
 * without SIMD; NULL: there are no more. */
bt_json_index_fn *bt_json_index_way(uint32_t ix);
