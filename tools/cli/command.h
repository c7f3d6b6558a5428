/* SPDX-License-Identifier: Apache-2.0
 * A subcommand: one table per command, used for argument parsing, --help and the man pages.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bt_exit {
	BT_EXIT_OK = 0,
	BT_EXIT_NO = 1,	   /* the command worked; the result is negative */
	BT_EXIT_USAGE = 2, /* the command line is wrong */
	BT_EXIT_INPUT = 3, /* a path cannot be read, nothing usable in it, or anything wrong with --strict */
	BT_EXIT_IO = 4,	   /* writing failed */
	BT_EXIT_INTERRUPTED = 130, /* SIGINT: partial results were reported */
	BT_EXIT_PIPE = 141	   /* output pipe closed */
};

enum bt_option_type {
	BT_OPTION_FLAG = 0,
	BT_OPTION_TEXT,
	BT_OPTION_NUMBER,   /* a whole number in [min, max] */
	BT_OPTION_FRACTION, /* a decimal number in [0, 1] */
	BT_OPTION_CHOICE,   /* one of the words of choices, separated by | */
	BT_OPTION_SWITCH    /* --name or --name=BOOL, with Go's words for true and false */
};

/* The use of the file that a value names. */
enum bt_file_use { BT_FILE_NONE = 0, BT_FILE_READ, BT_FILE_WRITTEN };

struct bt_option {
	const char *name, *alias; /* long names; alias may be NULL */
	char letter;		  /* short name or 0 */
	enum bt_option_type type;
	enum bt_file_use file;	   /* the value is a path, and - standard input or output */
	const char *argument;	   /* name of the value, NULL for a flag */
	const char *default_value; /* as typed; NULL: none */
	const char *choices;
	uint64_t min, max;
	bool repeated, hidden;
	bool may_be_empty;	/* an empty text is allowed */
	const char *bare_value; /* the value of --name without =VALUE; NULL: =VALUE is required */
	const char *ignored;	/* accepted without effect, for compatibility; the reason */
	const char *refused;	/* known but rejected: reason and remedy */
	const char *help;
};

struct bt_example {
	const char *command, *text;
};

struct bt_exit_text {
	int code;
	const char *text;
};

struct bt_note {
	const char *heading, *text;
};

/* The arrays end with an element whose first member is NULL; exits ends with a NULL text. */
struct bt_command {
	const char *name, *summary;
	const char *operands; /* synopsis of the operands, "" for none */
	size_t operand_min, operand_max;
	enum bt_file_use operand_file; /* as for options */
	bool reports;		       /* writes to standard output */
	const char *description;
	const struct bt_option *options;
	const struct bt_example *examples;
	const struct bt_exit_text *exits;
	const struct bt_note *notes;
};

/* Every command, in the order in which help lists them; ends with a NULL name. */
extern const struct bt_command bt_commands[];

/* Options that every command has; ends with a NULL name. */
extern const struct bt_option bt_common_options[];

/* The command of that name, or NULL. */
const struct bt_command *bt_command_find(const char *name);

/* The command or option name nearest to the typed one, or NULL when none is near. */
const char *bt_command_suggest(const char *typed);
const char *bt_option_suggest(const struct bt_command *command, const char *typed);

/* The same for the names that name(context, 0), name(context, 1) and so on give until NULL. */
const char *bt_name_suggest(
	const char *typed, const char *(*name)(const void *context, size_t ix), const void *context);

/*
 * Walks the command's own options, then the common ones; ix counts from 0.
 * Returns : NULL after the last.
 */
const struct bt_option *bt_command_option(const struct bt_command *command, size_t ix);
