/* SPDX-License-Identifier: Apache-2.0
 * Row limits of a report's sections: none for programs, a maximum for people unless they request all.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tools/cli/emit.h"

/* How many of n rows are shown, at most max for people. */
static inline size_t bt_rows_shown(size_t n, size_t max, bool all)
{
	return all || n < max ? n : max;
}

/* Adds the number of omitted rows after a section, if any. */
static inline void bt_rows_more(
	struct bt_emit *emit, const char *key, const char *label, size_t n, size_t shown)
{
	if (n > shown) {
		bt_emit_count(emit, key, label, n - shown);
	}
}
