/* SPDX-License-Identifier: Apache-2.0
 * One parsed command line: the values of its options, validated against the command's table.
 * Context: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/compiler.h"
#include "tools/cli/command.h"

/* owner: private to invocation.c, except command and operands, which anyone reads. */
struct bt_invocation {
	const struct bt_command *command;
	const char **operands; /* arguments that are not options or values, in order */
	size_t operand_n;
	struct bt_invocation_value *values;
	size_t value_n, value_cap, operand_cap;
};

enum bt_parse {
	BT_PARSE_RUN,  /* run the command */
	BT_PARSE_HELP, /* --help was given */
	BT_PARSE_WRONG /* a message and a remedy are on standard error */
};

/*
 * Reads argv[1..argc) as options and operands of the command. argv[0] is ignored.
 * Owns    : out_invocation until bt_invocation_fini, whatever the result; its texts point into argv.
 */
enum bt_parse bt_invocation_parse(
	const struct bt_command *command, int argc, char **argv, struct bt_invocation *out_invocation);
void bt_invocation_fini(struct bt_invocation *invocation);

/* All of these take an option's long name from the command's table; another name is our bug. */

/* Whether the option was given. */
bool bt_invocation_has(const struct bt_invocation *invocation, const char *option);

/* The last value given, else the table's default, else NULL. */
const char *bt_invocation_text(const struct bt_invocation *invocation, const char *option);

/* The ix-th value given for a repeated option, in order; NULL after the last. Defaults do not count. */
const char *bt_invocation_item(const struct bt_invocation *invocation, const char *option, size_t ix);

/* The ix-th given option of any name, in the order of the command line, for options whose order counts; NULL
 * after the last. out_text: its value, NULL for a flag. */
const struct bt_option *bt_invocation_given(
	const struct bt_invocation *invocation, size_t ix, const char **out_text);

/* The ix-th input of a command that takes files: those of --filename, then the operands; NULL after the
 * last. */
const char *bt_invocation_input(const struct bt_invocation *invocation, size_t ix);

/* Takes the last operand, which is no input; NULL: there is none. */
const char *bt_invocation_take_last(struct bt_invocation *invocation);

/* The value of an option of type number or fraction; 0 when it was not given and has no default. */
uint64_t bt_invocation_number(const struct bt_invocation *invocation, const char *option);
double bt_invocation_fraction(const struct bt_invocation *invocation, const char *option);

/* Whether an option of type switch is on: by its last value, else its default, else not. */
bool bt_invocation_switch(const struct bt_invocation *invocation, const char *option);

/* The ix-th given option, in table order, that is accepted without effect; NULL after the last. */
const struct bt_option *bt_invocation_ignored(const struct bt_invocation *invocation, size_t ix);

/*
 * Prints "berth COMMAND: message" and a pointer to --help on standard error, for checks that only the command
 * can do.
 * Returns : BT_EXIT_USAGE.
 */
int bt_invocation_wrong(const struct bt_command *command, const char *format, ...) BT_PRINTF(2, 3);
