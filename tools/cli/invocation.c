/* SPDX-License-Identifier: Apache-2.0
 * Wraps argp. Its options come from our table; its own help and messages are off, because help, man
 * pages and suggestions come from the table too.
 */
#include "tools/cli/invocation.h"

#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"
#include "tools/cli/message.h"

/* argp takes keys above the characters for options without a letter. */
#define KEY_FIRST 0x400

struct bt_invocation_value {
	const struct bt_option *option;
	const char *text; /* NULL for a flag */
};

struct parse {
	struct bt_invocation *invocation;
	enum bt_parse result;
	bool reported; /* the message was printed */
	int stop;      /* the index in argv after argp's last argument */
};

int bt_invocation_wrong(const struct bt_command *command, const char *format, ...)
{
	const char *space = *command->name ? " " : "";
	struct bt_buf text = {0};
	va_list args;

	va_start(args, format);
	bt_buf_vprintf(&text, format, args);
	va_end(args);
	bt_message("berth%s%s: %s\nTry 'berth%s%s --help'.\n", space, command->name, text.ptr, space,
		command->name);
	bt_buf_fini(&text);
	return BT_EXIT_USAGE;
}

static bool is_choice(const char *choices, const char *text)
{
	size_t n = strlen(text);

	for (const char *word = choices; *word;) {
		size_t word_n = strcspn(word, "|");

		if (word_n == n && memcmp(word, text, n) == 0) {
			return true;
		}
		word += word_n + (word[word_n] == '|');
	}
	return false;
}

static bool parse_number(const char *text, uint64_t *out_number)
{
	char *end;

	if (*text < '0' || *text > '9') {
		return false;
	}
	errno = 0;
	*out_number = strtoull(text, &end, 10);
	return errno == 0 && *end == 0;
}

static bool parse_fraction(const char *text, double *out_fraction)
{
	char *end;

	if (text[strspn(text, "0123456789.")] != 0 || *text == 0) {
		return false;
	}
	*out_fraction = strtod(text, &end);
	return *end == 0 && *out_fraction >= 0 && *out_fraction <= 1;
}

/* Source: Go's strconv.ParseBool. */
static bool parse_switch(const char *text, bool *out_on)
{
	static const char *const words[] = {
		"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"};
	size_t n = sizeof(words) / sizeof(*words);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(text, words[i]) == 0) {
			*out_on = i < n / 2;
			return true;
		}
	}
	return false;
}

static bool check_value(const struct bt_command *command, const struct bt_option *option, const char *text)
{
	uint64_t number;
	double fraction;
	bool on;

	if (option->refused) {
		bt_invocation_wrong(command, "--%s is not supported: %s", option->name, option->refused);
		return false;
	}
	if (option->type == BT_OPTION_SWITCH && !parse_switch(text, &on)) {
		bt_invocation_wrong(command, "--%s is true or false, not '%s'", option->name, text);
		return false;
	}
	if (option->type == BT_OPTION_CHOICE && !is_choice(option->choices, text)) {
		bt_invocation_wrong(
			command, "--%s is one of %s, not '%s'", option->name, option->choices, text);
		return false;
	}
	if (option->type == BT_OPTION_NUMBER &&
		(!parse_number(text, &number) || number < option->min || number > option->max)) {
		bt_invocation_wrong(command, "--%s is a whole number from %llu to %llu, not '%s'",
			option->name, (unsigned long long)option->min, (unsigned long long)option->max, text);
		return false;
	}
	if (option->type == BT_OPTION_FRACTION && !parse_fraction(text, &fraction)) {
		bt_invocation_wrong(command, "--%s is a number from 0 to 1, not '%s'", option->name, text);
		return false;
	}
	if (option->type == BT_OPTION_TEXT && *text == 0 && !option->may_be_empty) {
		bt_invocation_wrong(command, "--%s needs a value that is not empty", option->name);
		return false;
	}
	return true;
}

static error_t take_option(struct parse *parse, const struct bt_option *option, const char *text)
{
	struct bt_invocation *invocation = parse->invocation;

	if (strcmp(option->name, "help") == 0) {
		parse->result = BT_PARSE_HELP;
		return ECANCELED;
	}
	if (!text && option->type == BT_OPTION_SWITCH) {
		text = "true";
	} else if (!text) {
		text = option->bare_value;
	} else if (option->letter && option->type == BT_OPTION_NUMBER && *text == '=') {
		text++; /* -v=2 */
	}
	if (option->type != BT_OPTION_FLAG && !check_value(invocation->command, option, text)) {
		parse->reported = true;
		return EINVAL;
	}
	invocation->values = bt_mem_grow(
		invocation->values, invocation->value_n, &invocation->value_cap, sizeof(*invocation->values));
	invocation->values[invocation->value_n++] = (struct bt_invocation_value){option, text};
	return 0;
}

static error_t take_operand(struct parse *parse, const char *text)
{
	struct bt_invocation *invocation = parse->invocation;

	if (invocation->operand_n == invocation->command->operand_max) {
		bt_invocation_wrong(invocation->command, "unexpected argument '%s'", text);
		parse->reported = true;
		return EINVAL;
	}
	invocation->operands = bt_mem_grow(invocation->operands, invocation->operand_n,
		&invocation->operand_cap, sizeof(*invocation->operands));
	invocation->operands[invocation->operand_n++] = text;
	return 0;
}

static int option_key(const struct bt_option *option, size_t ix)
{
	return option->letter ? option->letter : KEY_FIRST + (int)ix;
}

static error_t parse_key(int key, char *text, struct argp_state *state)
{
	struct parse *parse = state->input;
	const struct bt_option *option;

	if (key == ARGP_KEY_ARG) {
		return take_operand(parse, text);
	}
	for (size_t ix = 0; (option = bt_command_option(parse->invocation->command, ix)); ix++) {
		if (option_key(option, ix) == key) {
			return take_option(parse, option, text);
		}
	}
	if (key == ARGP_KEY_ERROR) {
		parse->stop = state->next;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct bt_option *find_option(const struct bt_command *command, const char *name, size_t name_n)
{
	const struct bt_option *option;

	for (size_t ix = 0; (option = bt_command_option(command, ix)); ix++) {
		if ((strlen(option->name) == name_n && memcmp(option->name, name, name_n) == 0) ||
			(option->alias && strlen(option->alias) == name_n &&
				memcmp(option->alias, name, name_n) == 0)) {
			return option;
		}
	}
	return NULL;
}

/* The option that a possibly shortened long name means, NULL when it means none or several. */
static const struct bt_option *complete_option(
	const struct bt_command *command, const char *name, size_t name_n)
{
	const struct bt_option *hit = find_option(command, name, name_n);
	const struct bt_option *option;

	if (hit) {
		return hit;
	}
	for (size_t ix = 0; (option = bt_command_option(command, ix)); ix++) {
		if (strncmp(option->name, name, name_n) != 0 &&
			(!option->alias || strncmp(option->alias, name, name_n) != 0)) {
			continue;
		}
		if (hit) {
			return NULL;
		}
		hit = option;
	}
	return hit;
}

static bool has_letter(const struct bt_command *command, char letter)
{
	const struct bt_option *option;

	for (size_t ix = 0; (option = bt_command_option(command, ix)); ix++) {
		if (option->letter == letter) {
			return true;
		}
	}
	return false;
}

static void explain_long(const struct bt_command *command, const char *token)
{
	size_t name_n = strcspn(token + 2, "=");
	const struct bt_option *option = complete_option(command, token + 2, name_n);
	const char *near = bt_option_suggest(command, token + 2);

	if (option && option->type == BT_OPTION_FLAG) {
		bt_invocation_wrong(command, "--%s takes no value", option->name);
	} else if (option) {
		bt_invocation_wrong(
			command, "--%s needs a value: --%s %s", option->name, option->name, option->argument);
	} else if (near) {
		bt_invocation_wrong(command, "there is no option '%.*s'; did you mean --%s?", (int)name_n + 2,
			token, near);
	} else {
		bt_invocation_wrong(command, "there is no option '%.*s'", (int)name_n + 2, token);
	}
}

/* argp only reports that an option is invalid: the token before stop, or at stop inside a cluster of letters.
 */
static void invocation_explain(const struct bt_command *command, int argc, char **argv, int stop)
{
	const char *token = stop > 1 && stop - 1 < argc ? argv[stop - 1] : "";

	if (strncmp(token, "--", 2) == 0 && token[2]) {
		explain_long(command, token);
		return;
	}
	for (int ix = stop - 1; ix <= stop && ix < argc; ix++) {
		for (const char *letter = ix > 0 && argv[ix][0] == '-' ? argv[ix] + 1 : ""; *letter;
			letter++) {
			if (!has_letter(command, *letter)) {
				bt_invocation_wrong(command, "there is no option '-%c'", *letter);
				return;
			}
		}
	}
	bt_invocation_wrong(command, "'%s' needs a value", token);
}

static struct argp_option *make_argp_options(const struct bt_command *command)
{
	const struct bt_option *option;
	size_t n = 0, out_n = 0;

	while (bt_command_option(command, n)) {
		n++;
	}
	struct argp_option *options = bt_mem_zalloc(2 * n + 1, sizeof(*options));

	for (size_t ix = 0; (option = bt_command_option(command, ix)); ix++) {
		bool bare = option->type == BT_OPTION_SWITCH || option->bare_value;

		options[out_n++] = (struct argp_option){.name = option->name,
			.key = option_key(option, ix),
			.arg = option->argument,
			.flags = bare ? OPTION_ARG_OPTIONAL : 0};
		if (option->alias) {
			options[out_n++] = (struct argp_option){.name = option->alias, .flags = OPTION_ALIAS};
		}
	}
	return options;
}

enum bt_parse bt_invocation_parse(
	const struct bt_command *command, int argc, char **argv, struct bt_invocation *out_invocation)
{
	struct parse parse = {.invocation = out_invocation, .result = BT_PARSE_WRONG};
	struct argp_option *options = make_argp_options(command);
	struct argp argp = {.options = options, .parser = parse_key};

	*out_invocation = (struct bt_invocation){.command = command};
	error_t error =
		argp_parse(&argp, argc, argv, ARGP_NO_HELP | ARGP_NO_EXIT | ARGP_NO_ERRS, NULL, &parse);

	bt_mem_free(options);
	if (error == 0 && out_invocation->operand_n < command->operand_min) {
		bt_invocation_wrong(command, "%s is missing", command->operands);
		return BT_PARSE_WRONG;
	}
	if (error == 0) {
		return BT_PARSE_RUN;
	}
	if (parse.result == BT_PARSE_WRONG && !parse.reported) {
		invocation_explain(command, argc, argv, parse.stop);
	}
	return parse.result;
}

void bt_invocation_fini(struct bt_invocation *invocation)
{
	bt_mem_free(invocation->values);
	bt_mem_free(invocation->operands);
	*invocation = (struct bt_invocation){0};
}

static const struct bt_option *require_option(const struct bt_invocation *invocation, const char *name)
{
	const struct bt_option *option = find_option(invocation->command, name, strlen(name));

	BT_REQUIRE(option);
	return option;
}

bool bt_invocation_has(const struct bt_invocation *invocation, const char *option)
{
	require_option(invocation, option);
	for (size_t i = 0; i < invocation->value_n; i++) {
		if (strcmp(invocation->values[i].option->name, option) == 0) {
			return true;
		}
	}
	return false;
}

const char *bt_invocation_text(const struct bt_invocation *invocation, const char *option)
{
	const char *text = require_option(invocation, option)->default_value;

	for (size_t i = 0; i < invocation->value_n; i++) {
		if (strcmp(invocation->values[i].option->name, option) == 0) {
			text = invocation->values[i].text;
		}
	}
	return text;
}

const char *bt_invocation_item(const struct bt_invocation *invocation, const char *option, size_t ix)
{
	require_option(invocation, option);
	for (size_t i = 0; i < invocation->value_n; i++) {
		if (strcmp(invocation->values[i].option->name, option) == 0 && ix-- == 0) {
			return invocation->values[i].text;
		}
	}
	return NULL;
}

const struct bt_option *bt_invocation_given(
	const struct bt_invocation *invocation, size_t ix, const char **out_text)
{
	if (ix >= invocation->value_n) {
		return NULL;
	}
	*out_text = invocation->values[ix].text;
	return invocation->values[ix].option;
}

const char *bt_invocation_input(const struct bt_invocation *invocation, size_t ix)
{
	const char *path;
	size_t n = 0;

	while ((path = bt_invocation_item(invocation, "filename", n))) {
		if (n++ == ix) {
			return path;
		}
	}
	return ix - n < invocation->operand_n ? invocation->operands[ix - n] : NULL;
}

const char *bt_invocation_take_last(struct bt_invocation *invocation)
{
	return invocation->operand_n ? invocation->operands[--invocation->operand_n] : NULL;
}

uint64_t bt_invocation_number(const struct bt_invocation *invocation, const char *option)
{
	const char *text = bt_invocation_text(invocation, option);
	uint64_t number = 0;

	if (text) {
		bool parsed = parse_number(text, &number);
		BT_REQUIRE(parsed);
	}
	return number;
}

double bt_invocation_fraction(const struct bt_invocation *invocation, const char *option)
{
	const char *text = bt_invocation_text(invocation, option);
	double fraction = 0;

	if (text) {
		bool parsed = parse_fraction(text, &fraction);
		BT_REQUIRE(parsed);
	}
	return fraction;
}

bool bt_invocation_switch(const struct bt_invocation *invocation, const char *option)
{
	const char *text = bt_invocation_text(invocation, option);
	bool on = false;

	if (text) {
		bool parsed = parse_switch(text, &on);
		BT_REQUIRE(parsed);
	}
	return on;
}

const struct bt_option *bt_invocation_ignored(const struct bt_invocation *invocation, size_t ix)
{
	const struct bt_option *option;

	for (size_t i = 0; (option = bt_command_option(invocation->command, i)); i++) {
		if (option->ignored && bt_invocation_has(invocation, option->name) && ix-- == 0) {
			return option;
		}
	}
	return NULL;
}
