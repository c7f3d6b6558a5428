/* SPDX-License-Identifier: Apache-2.0
 * Shim around RE2, which is C++. Context: any thread; several threads may use one pattern at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bt_re2;

/* Owns: the caller, with bt_re2_destroy, even if the pattern is invalid. */
struct bt_re2 *bt_re2_create(const char *pattern, size_t len);
void bt_re2_destroy(struct bt_re2 *re2);

/* The error of an invalid pattern, as Go's regexp words it, and the part it concerns;
 * NULL: the pattern is valid. */
const char *bt_re2_fault(const struct bt_re2 *re2, const char **out_part, size_t *out_part_len);

/* One of these errors: the pattern exceeds RE2's limit; Go's is larger. */
extern const char bt_re2_too_large[];

/* The number of instructions of a valid pattern. */
size_t bt_re2_instructions(const struct bt_re2 *re2);

/* Finds the leftmost match at or after from. Without its position (out_start NULL) the search is faster. ^
 * and \b see the text before from. Requires: the pattern is valid; text is not NULL. */
bool bt_re2_find(const struct bt_re2 *re2, const char *text, size_t len, size_t from, size_t *out_start,
	size_t *out_end);

#ifdef __cplusplus
}
#endif
