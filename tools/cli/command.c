/* SPDX-License-Identifier: Apache-2.0
 * Looking up commands and options by name, and suggestions for mistyped names.
 */
#include "tools/cli/command.h"

#include <string.h>

#include "engine/base/suggest.h"

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

const char *bt_command_suggest(const char *typed)
{
	struct bt_suggestion best = {NULL, BT_SUGGEST_MAX};

	for (const struct bt_command *command = bt_commands; command->name; command++) {
		bt_suggest(typed, command->name, &best);
	}
	return best.name;
}

const char *bt_option_suggest(const struct bt_command *command, const char *typed)
{
	struct bt_suggestion best = {NULL, BT_SUGGEST_MAX};
	const struct bt_option *option;

	for (size_t ix = 0; (option = bt_command_option(command, ix)); ix++) {
		if (option->hidden) {
			continue;
		}
		bt_suggest(typed, option->name, &best);
		if (option->alias) {
			bt_suggest(typed, option->alias, &best);
		}
	}
	return best.name;
}

const char *bt_name_suggest(
	const char *typed, const char *(*name)(const void *context, size_t ix), const void *context)
{
	struct bt_suggestion best = {NULL, BT_SUGGEST_MAX};
	const char *candidate;

	for (size_t ix = 0; (candidate = name(context, ix)); ix++) {
		bt_suggest(typed, candidate, &best);
	}
	return best.name;
}
