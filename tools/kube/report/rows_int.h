/* SPDX-License-Identifier: Apache-2.0
 * How long the sections of a report are: all of their rows for programs, so many for people unless they want
 * all.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tools/cli/emit.h"

/* How many of n rows are shown where max are the most for people. */
static inline size_t bt_rows_shown(size_t n, size_t max, bool all)
{
	return all || n < max ? n : max;
}

/* Says behind a section how many rows of it are not shown, if there are any. */
static inline void bt_rows_more(
	struct bt_emit *emit, const char *key, const char *label, size_t n, size_t shown)
{
	if (n > shown) {
		bt_emit_count(emit, key, label, n - shown);
	}
}
