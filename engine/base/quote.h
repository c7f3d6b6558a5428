/* SPDX-License-Identifier: Apache-2.0
 * Texts in quotes: as upstream's messages have them, and as JSON.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/str.h"

enum bt_quote_style {
	BT_QUOTE_GO,	       /* as Go's %q does */
	BT_QUOTE_TERMINAL,     /* the same, but quotes and backslashes stay */
	BT_QUOTE_JSON,	       /* JSON: what RFC 8259 demands, and what YAML does not take (DEL, C1) */
	BT_QUOTE_JSON_VISIBLE, /* JSON: also what a terminal would obey, or not show */
	BT_QUOTE_JSON_GO       /* as Go's JSON encoder does: also what HTML would read */
};

/* Appends the text in quotes. In JSON \ufffd stands for each byte that is not UTF-8. */
void bt_quote(struct bt_buf *buf, struct bt_str text);
void bt_quote_json(struct bt_buf *buf, struct bt_str text);
void bt_quote_json_go(struct bt_buf *buf, struct bt_str text);

/* Appends the text as it may be shown on a terminal: what that would obey, or not show, is escaped as Go's %q
 * does; quotes and backslashes stay. */
void bt_printable(struct bt_buf *buf, struct bt_str text);

/* Writes how the character at from stands between quotes. Returns: how many bytes that are; *out_taken those
 * of the text. */
#define BT_QUOTE_BYTES_MAX 16
size_t bt_quote_character(enum bt_quote_style style, struct bt_str text, size_t from,
	char out[BT_QUOTE_BYTES_MAX], size_t *out_taken);
