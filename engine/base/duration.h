/* SPDX-License-Identifier: Apache-2.0
 * Durations as text, such as "1m30s". Source: Go's time.ParseDuration and time.Duration.String, 1.26.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/str.h"

/*
 * Parses a duration in Go's syntax to nanoseconds.
 * Returns : false when invalid, with Go's message appended to out_error, unless that is NULL.
 */
bool bt_duration_parse(struct bt_str text, int64_t *out_ns, struct bt_buf *out_error);

/* Appends a duration as Go prints it. */
void bt_duration_text(struct bt_buf *buf, int64_t ns);
