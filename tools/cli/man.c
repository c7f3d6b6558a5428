/* SPDX-License-Identifier: Apache-2.0
 * Man pages in roff, from the command tables.
 */
#include "tools/cli/help.h"

#include <string.h>

/* Text as roff reads it: no escapes, no requests at the start of a line, hyphens that can be copied. */
static void add_text(struct bt_buf *out, const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\'')) {
			bt_buf_text(out, "\\&");
		}
		line_start = false;
		if (*text == '\\') {
			bt_buf_text(out, "\\e");
		} else if (*text == '-') {
			bt_buf_text(out, "\\-");
		} else if (*text == '\'') {
			bt_buf_text(out, "\\(aq");
		} else if (*text == '\n') {
			bt_buf_text(out, "\n.br\n");
			line_start = true;
		} else {
			bt_buf_char(out, *text);
		}
	}
}

static void add_line(struct bt_buf *out, const char *text)
{
	add_text(out, text);
	bt_buf_char(out, '\n');
}

static void add_upper(struct bt_buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '-') {
			bt_buf_text(out, "\\-");
		} else {
			bt_buf_char(out, *text >= 'a' && *text <= 'z' ? (char)(*text - 'a' + 'A') : *text);
		}
	}
}

static void add_option(struct bt_buf *out, const struct bt_option *option)
{
	bt_buf_text(out, ".TP\n");
	if (option->letter) {
		bt_buf_printf(out, "\\fB\\-%c\\fR, ", option->letter);
	}
	bt_buf_text(out, "\\fB\\-\\-");
	add_text(out, option->name);
	if (option->alias) {
		bt_buf_text(out, "\\fR, \\fB\\-\\-");
		add_text(out, option->alias);
	}
	bt_buf_text(out, "\\fR");
	if (option->argument) {
		bool bare = option->type == BT_OPTION_SWITCH || option->bare_value;

		bt_buf_text(out, bare ? "[=\\fI" : " \\fI");
		add_text(out, option->argument);
		bt_buf_text(out, bare ? "\\fR]" : "\\fR");
	}
	bt_buf_char(out, '\n');
	add_line(out, option->help);
	if (option->choices && strchr(option->choices, '|')) {
		bt_buf_text(out, "One of ");
		add_text(out, option->choices);
		bt_buf_text(out, ".\n");
	}
	if (option->default_value) {
		bt_buf_text(out, "The default is ");
		add_text(out, option->default_value);
		bt_buf_text(out, ".\n");
	}
	if (option->ignored) {
		bt_buf_text(out, "Without effect: ");
		add_text(out, option->ignored);
		bt_buf_text(out, ".\n");
	}
}

static void add_title(struct bt_buf *out, const char *name, const char *version, const char *summary)
{
	bt_buf_text(out, ".TH ");
	add_upper(out, name);
	bt_buf_printf(out, " 1 \"\" \"berth %s\" \"User Commands\"\n.SH NAME\n", version);
	add_text(out, name);
	bt_buf_text(out, " \\- ");
	add_line(out, summary);
}

static void add_exits(struct bt_buf *out, const struct bt_exit_text *exits)
{
	bt_buf_text(out, ".SH EXIT STATUS\n");
	for (; exits->text; exits++) {
		bt_buf_printf(out, ".TP\n\\fB%d\\fR\n", exits->code);
		add_line(out, exits->text);
	}
}

static void add_overview(const char *version, struct bt_buf *out)
{
	add_title(out, "berth", version, "Kubernetes pod scheduling, every node scored");
	bt_buf_text(out,
		".SH SYNOPSIS\n\\fBberth\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n"
		".SH DESCRIPTION\n");
	add_line(
		out, "berth places Kubernetes pods exactly as kube-scheduler would if it scored every node.");
	bt_buf_text(out, ".SH COMMANDS\n");
	for (const struct bt_command *command = bt_commands; command->name; command++) {
		bt_buf_printf(out, ".TP\n\\fB%s\\fR\n", command->name);
		add_line(out, command->summary);
	}
	bt_buf_text(out, ".SH OPTIONS\n.TP\n\\fB\\-\\-help\\fR\nList the commands.\n"
			 ".TP\n\\fB\\-\\-version\\fR\nPrint the version.\n"
			 ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nWhen set and not empty: no colours.\n"
			 ".SH SEE ALSO\n");
	for (const struct bt_command *command = bt_commands; command->name; command++) {
		bt_buf_printf(out, ".BR berth\\-%s (1)%s\n", command->name, command[1].name ? "," : "");
	}
}

void bt_help_man(const struct bt_command *command, const char *version, struct bt_buf *out)
{
	struct bt_buf name = {0};
	const struct bt_option *option;

	if (!command) {
		add_overview(version, out);
		return;
	}
	bt_buf_printf(&name, "berth-%s", command->name);
	add_title(out, name.ptr, version, command->summary);
	bt_buf_fini(&name);
	bt_buf_printf(out, ".SH SYNOPSIS\n\\fBberth %s\\fR [\\fIOPTION\\fR...] ", command->name);
	add_text(out, command->operands);
	out->len -= *command->operands == 0;
	bt_buf_text(out, "\n.SH DESCRIPTION\n");
	add_line(out, command->description);
	bt_buf_text(out, ".SH OPTIONS\n");
	for (size_t ix = 0; (option = bt_command_option(command, ix)); ix++) {
		if (!option->hidden) {
			add_option(out, option);
		}
	}
	for (const struct bt_note *note = command->notes; note && note->heading; note++) {
		bt_buf_printf(out, ".SH %s\n", note->heading);
		add_line(out, note->text);
	}
	if (command->examples) {
		bt_buf_text(out, ".SH EXAMPLES\n");
	}
	for (const struct bt_example *example = command->examples; example && example->command; example++) {
		bt_buf_text(out, ".TP\n\\fB");
		add_text(out, example->command);
		bt_buf_text(out, "\\fR\n");
		add_line(out, example->text);
	}
	add_exits(out, command->exits);
	bt_buf_text(out, ".SH SEE ALSO\n.BR berth (1)\n");
}
