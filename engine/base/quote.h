/* SPDX-License-Identifier: Apache-2.0
 * Texts in quotes, as upstream's messages have them.
 */
#pragma once

#include "engine/base/buf.h"
#include "engine/base/str.h"

/* Appends the text in quotes, escaped as Go's %q does, or as its JSON encoder does. */
void bt_quote(struct bt_buf *buf, struct bt_str text);
void bt_quote_json(struct bt_buf *buf, struct bt_str text);

/* Appends the text as it may be shown on a terminal: what that would obey, or not show, is escaped as Go's %q
 * does; quotes and backslashes stay. */
void bt_printable(struct bt_buf *buf, struct bt_str text);
