/* SPDX-License-Identifier: Apache-2.0
 * The berth program: finds the subcommand, parses its options and runs it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/buf.h"
#include "engine/model/release.h"
#include "tools/cli/entry.h"
#include "tools/cli/files.h"
#include "tools/cli/help.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/invocation.h"
#include "tools/cli/output.h"
#include "tools/cli/message.h"
#include "tools/cli/terminal.h"
#include "tools/format/input.h"

static int print_version(struct bt_invocation *invocation)
{
	struct bt_buf text = {0};

	(void)invocation;
	bt_buf_printf(&text, "berth " BERTH_VERSION " (decisions of kube-scheduler %s)\n",
		bt_release_default()->version);
	int status = bt_output_write("-", bt_buf_view(&text));

	bt_buf_fini(&text);
	return status;
}

/* The pages of one command, or of all when command is NULL. */
static int print_help(const struct bt_command *command, bool man, const char *color_when)
{
	struct bt_buf text = {0};
	bool color = bt_terminal_color(color_when, STDOUT_FILENO);

	if (man) {
		bt_help_man(command, BERTH_VERSION, &text);
	} else if (command) {
		bt_help_command(command, color, &text);
	} else {
		bt_help_overview(color, &text);
	}
	int status = bt_output_write("-", bt_buf_view(&text));

	bt_buf_fini(&text);
	return status;
}

static int unknown_command(const char *name)
{
	const char *near = bt_command_suggest(name);

	bt_message("berth: there is no command '%s'%s%s%s\nTry 'berth --help'.\n", name,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return BT_EXIT_USAGE;
}

static int run_help(struct bt_invocation *invocation)
{
	const struct bt_command *command = NULL;

	if (invocation->operand_n > 0) {
		command = bt_command_find(invocation->operands[0]);
		if (!command) {
			return unknown_command(invocation->operands[0]);
		}
	}
	return print_help(
		command, bt_invocation_has(invocation, "man"), bt_invocation_text(invocation, "color"));
}

static char **arguments; /* of this process */

/* berth run is a separate program in the same folder (berth_run.c has the reason). It is given the whole
 * command line, which is what ps shows. */
static int run_beside(struct bt_invocation *invocation)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof("-run"));

	(void)invocation;
	if (length > 0) {
		memcpy(path + length, "-run", sizeof("-run"));
		execv(path, arguments);
	} else {
		snprintf(path, sizeof(path), "berth-run");
	}
	bt_message("berth run: %s cannot be started: %s\n"
		   "That program belongs beside berth: build the target berth_run, or copy both.\n",
		path, strerror(errno));
	return BT_EXIT_IO;
}

static const struct {
	const char *name;
	int (*run)(struct bt_invocation *invocation);
} entries[] = {
	{"simulate", bt_cmd_simulate},
	{"replay", bt_cmd_replay},
	{"run", run_beside},
	{"bench", bt_cmd_bench},
	{"quality", bt_cmd_quality},
	{"capacity", bt_cmd_capacity},
	{"check", bt_cmd_check},
	{"explain", bt_cmd_explain},
	{"timeline", bt_cmd_timeline},
	{"recommend", bt_cmd_recommend},
	{"whatif", bt_cmd_whatif},
	{"compare", bt_cmd_compare},
	{"verdict", bt_cmd_verdict},
	{"history", bt_cmd_history},
	{"generate", bt_cmd_generate},
	{"kinds", bt_cmd_kinds},
	{"topology", bt_cmd_topology},
	{"help", run_help},
	{"version", print_version},
};

static int run(struct bt_invocation *invocation)
{
	static const struct bt_files_reader reader = {bt_input_list, bt_input_takes};
	bool beside = strcmp(invocation->command->name, "run") == 0; /* that program checks for itself */

	if (!beside && bt_files_check(invocation, &reader) != BT_EXIT_OK) {
		return BT_EXIT_USAGE;
	}
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		if (strcmp(entries[i].name, invocation->command->name) == 0) {
			return entries[i].run(invocation);
		}
	}
	return unknown_command(invocation->command->name);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	struct bt_invocation invocation;
	int status = BT_EXIT_USAGE;

	bt_output_reserve_standard();
	bt_interrupt_install();
	if (argc < 2) {
		struct bt_buf text = {0};

		bt_help_overview(bt_terminal_color("auto", STDERR_FILENO), &text);
		fputs(text.ptr, stderr); /* with colours */
		bt_buf_fini(&text);
		return BT_EXIT_USAGE;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
		return print_help(NULL, false, "auto");
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		return print_version(NULL);
	}
	const struct bt_command *command = bt_command_find(name);

	if (!command) {
		return unknown_command(name);
	}
	arguments = argv;
	switch (bt_invocation_parse(command, argc - 1, argv + 1, &invocation)) {
	case BT_PARSE_RUN:
		status = run(&invocation);
		break;
	case BT_PARSE_HELP:
		status = print_help(command, false, bt_invocation_text(&invocation, "color"));
		break;
	case BT_PARSE_WRONG:
		break;
	}
	bt_invocation_fini(&invocation);
	return status;
}
