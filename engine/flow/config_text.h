/* SPDX-License-Identifier: Apache-2.0
 * How upstream writes values inside its error texts.
 */
#pragma once

#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

/* Appends the text in quotes, escaped as Go's %q does, or as its JSON encoder does. */
void bt_config_quote(struct bt_buf *buf, struct bt_str text);
void bt_config_quote_json(struct bt_buf *buf, struct bt_str text);

/* Appends a duration as Go prints it, such as "1m30s". */
void bt_config_duration_text(struct bt_buf *buf, int64_t ns);
