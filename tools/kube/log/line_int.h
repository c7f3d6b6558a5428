/* SPDX-License-Identifier: Apache-2.0
 * A line on its writer's stack: text is quoted as in Go or JSON, and truncated between characters.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/str.h"
#include "tools/kube/log/log.h"

/* Space reserved after the fields: closing braces and the line break. */
#define BT_LINE_SPARE 8

struct bt_log_line {
	size_t n;
	char bytes[BT_LOG_LINE_BYTES];
};

/* The space left for fields. */
static inline size_t bt_log_line_room(const struct bt_log_line *line)
{
	return sizeof(line->bytes) - BT_LINE_SPARE - line->n;
}

/* Adds all of the text or nothing. Returns: whether it fit. */
bool bt_log_line_text(struct bt_log_line *line, const char *text);

/* A decimal number, with at least width digits. */
bool bt_log_line_int(struct bt_log_line *line, int64_t value, unsigned width, char pad);

/* The shortest decimal number that reads back as value. Non-finite numbers are words. */
bool bt_log_line_real(struct bt_log_line *line, double value);

/*
 * Adds first, '/' where both have something, and second, as one quoted string; at most BT_LOG_VALUE_BYTES of
 * it, and a mark where it was cut. go: as strconv.Quote does, else as JSON. Returns: false when not even the
 * quotes fit.
 */
bool bt_log_line_quote(struct bt_log_line *line, struct bt_str first, struct bt_str second, bool go);
