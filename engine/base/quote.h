/* SPDX-License-Identifier: Apache-2.0
 * Quotes texts: as in upstream's messages, and as JSON.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/str.h"

enum bt_quote_style {
	BT_QUOTE_GO,	       /* as Go's %q does */
	BT_QUOTE_TERMINAL,     /* the same, without escaping quotes and backslashes */
	BT_QUOTE_JSON,	       /* JSON: escapes required by RFC 8259, and code points invalid in YAML (DEL,
				  C1) */
	BT_QUOTE_JSON_VISIBLE, /* JSON: also terminal controls and invisible code points */
	BT_QUOTE_JSON_GO       /* as Go's JSON encoder: also HTML's special characters */
};

/* Appends the text in quotes. In JSON, \ufffd replaces each byte that is not UTF-8. */
void bt_quote(struct bt_buf *buf, struct bt_str text);
void bt_quote_json(struct bt_buf *buf, struct bt_str text);
void bt_quote_json_go(struct bt_buf *buf, struct bt_str text);

/* Appends the text for display on a terminal: terminal controls and invisible code points are escaped as by
 * Go's %q; quotes and backslashes are not. */
void bt_printable(struct bt_buf *buf, struct bt_str text);

/* Writes the quoted form of the character at from. Returns: its length in bytes; *out_taken: the bytes
 * consumed. */
#define BT_QUOTE_BYTES_MAX 16
size_t bt_quote_character(enum bt_quote_style style, struct bt_str text, size_t from,
	char out[BT_QUOTE_BYTES_MAX], size_t *out_taken);
