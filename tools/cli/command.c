/* SPDX-License-Identifier: Apache-2.0
 * Looking up commands and options by name, and suggestions for mistyped names.
 */
#include "tools/cli/command.h"

#include <string.h>
#include <strings.h>

#define NAME_MAX_BYTES 80

const struct bt_command *bt_command_find(const char *name)
{
	for (const struct bt_command *command = bt_commands; command->name; command++) {
		if (strcmp(command->name, name) == 0) {
			return command;
		}
	}
	return NULL;
}

const struct bt_option *bt_command_option(const struct bt_command *command, size_t ix)
{
	size_t own_n = 0;

	for (; command->options && command->options[own_n].name; own_n++) {
		if (own_n == ix) {
			return &command->options[ix];
		}
	}
	for (size_t i = 0; bt_common_options[i].name; i++) {
		if (own_n + i == ix) {
			return &bt_common_options[i];
		}
	}
	return NULL;
}

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Levenshtein's distance, whatever the case; names longer than NAME_MAX_BYTES are not near to anything. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_BYTES + 1];
	size_t a_n = strlen(a), b_n = strlen(b);

	if (a_n > NAME_MAX_BYTES || b_n > NAME_MAX_BYTES) {
		return NAME_MAX_BYTES;
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

/* Keeps the nearer of two candidates. A name is near within a third of its length, or when it begins as
 * typed. */
static void consider(const char *typed, const char *name, const char **best, size_t *best_distance)
{
	size_t typed_n = strlen(typed);
	size_t d = distance(typed, name);

	if (typed_n >= 2 && strncasecmp(typed, name, typed_n) == 0) {
		d = 1;
	}
	if (d <= 1 + strlen(name) / 3 && d < *best_distance) {
		*best = name;
		*best_distance = d;
	}
}

const char *bt_command_suggest(const char *typed)
{
	const char *best = NULL;
	size_t best_distance = NAME_MAX_BYTES;

	for (const struct bt_command *command = bt_commands; command->name; command++) {
		consider(typed, command->name, &best, &best_distance);
	}
	return best;
}

const char *bt_option_suggest(const struct bt_command *command, const char *typed)
{
	const char *best = NULL;
	size_t best_distance = NAME_MAX_BYTES;
	const struct bt_option *option;

	for (size_t ix = 0; (option = bt_command_option(command, ix)); ix++) {
		if (option->hidden) {
			continue;
		}
		consider(typed, option->name, &best, &best_distance);
		if (option->alias) {
			consider(typed, option->alias, &best, &best_distance);
		}
	}
	return best;
}

const char *bt_name_suggest(
	const char *typed, const char *(*name)(const void *context, size_t ix), const void *context)
{
	const char *best = NULL, *candidate;
	size_t best_distance = NAME_MAX_BYTES;

	for (size_t ix = 0; (candidate = name(context, ix)); ix++) {
		consider(typed, candidate, &best, &best_distance);
	}
	return best;
}
