/* SPDX-License-Identifier: Apache-2.0
 * The seam to RE2, which is C++. Context: any thread; a pattern may be used by several at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bt_re2;

/* Owns: the caller, with bt_re2_destroy, whether or not the pattern has a fault. */
struct bt_re2 *bt_re2_create(const char *pattern, size_t len);
void bt_re2_destroy(struct bt_re2 *re2);

/* What is wrong with the pattern, in the words of Go's regexp, and the part that is; NULL: nothing is. */
const char *bt_re2_fault(const struct bt_re2 *re2, const char **out_part, size_t *out_part_len);

/* One of the faults: RE2 has a limit, and Go a larger one. */
extern const char bt_re2_too_large[];

/* The number of instructions, of a pattern without fault. */
size_t bt_re2_instructions(const struct bt_re2 *re2);

/* Looks for the leftmost match at or after from; where it is, is faster not asked for (out_start NULL). What
 * is before from is seen by ^ and \b. The pattern is without fault, and text
 * not NULL. */
bool bt_re2_find(const struct bt_re2 *re2, const char *text, size_t len, size_t from, size_t *out_start,
	size_t *out_end);

#ifdef __cplusplus
}
#endif
