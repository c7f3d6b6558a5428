/* SPDX-License-Identifier: Apache-2.0
 * Distances between names.
 */
#include "engine/base/suggest.h"

#include <stdbool.h>
#include <string.h>

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Levenshtein's distance, whatever the case; names longer than BT_SUGGEST_MAX are not near to anything. */
static size_t distance(const char *a, const char *b)
{
	size_t row[BT_SUGGEST_MAX + 1];
	size_t a_n = strlen(a), b_n = strlen(b);

	if (a_n > BT_SUGGEST_MAX || b_n > BT_SUGGEST_MAX) {
		return BT_SUGGEST_MAX;
	}
	for (size_t j = 0; j <= b_n; j++) {
		row[j] = j;
	}
	for (size_t i = 1; i <= a_n; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_n; j++) {
			size_t above = row[j];

			row[j] = min3(
				above + 1, row[j - 1] + 1, diagonal + (lower(a[i - 1]) != lower(b[j - 1])));
			diagonal = above;
		}
	}
	return row[b_n];
}

/* Whatever the case. */
static bool begins(const char *name, const char *start)
{
	size_t i = 0;

	while (start[i] && lower(start[i]) == lower(name[i])) {
		i++;
	}
	return start[i] == '\0';
}

void bt_suggest(const char *typed, const char *name, struct bt_suggestion *best)
{
	size_t typed_n = strlen(typed);
	size_t d = distance(typed, name);

	if (typed_n >= 2 && begins(name, typed)) {
		d = 1;
	}
	if (d <= 1 + strlen(name) / 3 && d < best->distance) {
		*best = (struct bt_suggestion){name, d};
	}
}
