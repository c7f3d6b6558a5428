/* SPDX-License-Identifier: Apache-2.0
 * Help for a terminal, from the command tables.
 */
#include "tools/cli/help.h"

#include <string.h>

#define WIDTH	    96
#define TEXT_INDENT 26

static void pad(struct bt_buf *out, size_t n)
{
	while (n-- > 0) {
		bt_buf_char(out, ' ');
	}
}

static void heading(struct bt_buf *out, bool color, const char *text)
{
	bt_buf_printf(out, color ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

/* Writes text in lines of WIDTH columns; all but the first line begin with indent spaces. */
static void wrap(struct bt_buf *out, const char *text, size_t indent)
{
	size_t column = indent;
	const char *word = text;

	while (*word) {
		size_t n = strcspn(word, " \n");

		if (column > indent && column + 1 + n > WIDTH) {
			bt_buf_char(out, '\n');
			pad(out, indent);
			column = indent;
		} else if (column > indent) {
			bt_buf_char(out, ' ');
			column++;
		}
		bt_buf_add(out, word, n);
		column += n;
		word += n;
		if (*word == '\n') {
			bt_buf_char(out, '\n');
			pad(out, indent);
			column = indent;
		}
		word += *word != 0;
	}
	bt_buf_char(out, '\n');
}

static void add_option_names(struct bt_buf *out, const struct bt_option *option)
{
	if (option->letter) {
		bt_buf_printf(out, "  -%c, --%s", option->letter, option->name);
	} else {
		bt_buf_printf(out, "      --%s", option->name);
	}
	if (option->alias) {
		bt_buf_printf(out, ", --%s", option->alias);
	}
	if (option->argument) {
		bool bare = option->type == BT_OPTION_SWITCH || option->bare_value;

		bt_buf_printf(out, bare ? "[=%s]" : " %s", option->argument);
	}
}

static void add_option(struct bt_buf *out, const struct bt_option *option)
{
	struct bt_buf text = {0};
	size_t start = out->len;

	add_option_names(out, option);
	if (out->len - start > TEXT_INDENT - 2) {
		bt_buf_char(out, '\n');
		start = out->len;
	}
	pad(out, TEXT_INDENT - (out->len - start));
	bt_buf_text(&text, option->help);
	if (option->choices && strchr(option->choices, '|')) {
		bt_buf_printf(&text, " One of %s.", option->choices);
	}
	if (option->default_value) {
		bt_buf_printf(&text, " [%s]", option->default_value);
	}
	if (option->ignored) {
		bt_buf_printf(&text, " Without effect: %s.", option->ignored);
	}
	wrap(out, text.ptr, TEXT_INDENT);
	bt_buf_fini(&text);
}

static void add_options(struct bt_buf *out, const struct bt_command *command)
{
	const struct bt_option *option;

	for (size_t ix = 0; (option = bt_command_option(command, ix)); ix++) {
		if (!option->hidden) {
			add_option(out, option);
		}
	}
}

/* Man pages have capital headings; on a terminal only the first letter is. */
static void note_heading(struct bt_buf *out, bool color, const char *text)
{
	struct bt_buf title = {0};

	bt_buf_text(&title, text);
	for (size_t i = 1; i < title.len; i++) {
		if (title.ptr[i] >= 'A' && title.ptr[i] <= 'Z') {
			title.ptr[i] = (char)(title.ptr[i] - 'A' + 'a');
		}
	}
	heading(out, color, title.ptr);
	bt_buf_fini(&title);
}

void bt_help_overview(bool color, struct bt_buf *out)
{
	bt_buf_text(out,
		"berth places Kubernetes pods exactly as kube-scheduler would if it scored every node.\n");
	heading(out, color, "Usage");
	bt_buf_text(out, "  berth COMMAND [OPTION...] [ARGUMENT...]\n");
	heading(out, color, "Commands");
	for (const struct bt_command *command = bt_commands; command->name; command++) {
		bt_buf_printf(out, "  %-12s%s\n", command->name, command->summary);
	}
	heading(out, color, "Options");
	bt_buf_printf(out, "  %-12s%s\n", "--help", "this text; berth COMMAND --help explains a command");
	bt_buf_printf(out, "  %-12s%s\n", "--version", "print the version");
}

void bt_help_command(const struct bt_command *command, bool color, struct bt_buf *out)
{
	bt_buf_printf(out, "berth %s: %s\n", command->name, command->summary);
	heading(out, color, "Usage");
	bt_buf_printf(out, "  berth %s [OPTION...]%s%s\n\n  ", command->name, *command->operands ? " " : "",
		command->operands);
	wrap(out, command->description, 2);
	heading(out, color, "Options");
	add_options(out, command);
	for (const struct bt_note *note = command->notes; note && note->heading; note++) {
		note_heading(out, color, note->heading);
		bt_buf_text(out, "  ");
		wrap(out, note->text, 2);
	}
	if (command->examples) {
		heading(out, color, "Examples");
	}
	for (const struct bt_example *example = command->examples; example && example->command; example++) {
		bt_buf_printf(out, "  %s\n      ", example->command);
		wrap(out, example->text, 6);
	}
	heading(out, color, "Exit status");
	for (const struct bt_exit_text *line = command->exits; line->text; line++) {
		bt_buf_printf(out, "  %3d  ", line->code);
		wrap(out, line->text, 7);
	}
}
