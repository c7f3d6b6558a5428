/* SPDX-License-Identifier: Apache-2.0
 * Suggestions for mistyped names. Context: any thread.
 */
#pragma once

#include <stddef.h>

#define BT_SUGGEST_MAX 80 /* longer names are not near to anything */

/* The best candidate so far. Begin with {NULL, BT_SUGGEST_MAX}. */
struct bt_suggestion {
	const char *name; /* NULL: none is near */
	size_t distance;
};

/* Keeps the nearer of two candidates. A name is near within a third of its length, or when it begins as
 * typed; case does not matter. */
void bt_suggest(const char *typed, const char *name, struct bt_suggestion *best);
