/* SPDX-License-Identifier: Apache-2.0
 * The program behind berth run. It is separate because it needs forty shared libraries for the
 * network, whose loading would treble the start of every other command.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/thread.h"
#include "tools/cli/entry.h"
#include "tools/cli/files.h"
#include "tools/cli/help.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/output.h"
#include "tools/cli/terminal.h"
#include "tools/format/input.h"

/* jemalloc reads this when it starts, instead of that of engine/base/mem.c: no huge pages, and what is free
 * goes back within a second. Compared with the API server, which bindings wait for, this costs little, and
 * memory is worth more than what they save. */
const char *malloc_conf = "thp:default,dirty_decay_ms:1000";

static int print_help(const struct bt_invocation *invocation)
{
	struct bt_buf text = {0};

	bt_help_command(invocation->command,
		bt_terminal_color(bt_invocation_text(invocation, "color"), STDOUT_FILENO), &text);
	int status = bt_output_write("-", bt_buf_view(&text));

	bt_buf_fini(&text);
	return status;
}

int main(int argc, char **argv)
{
	struct bt_invocation invocation;
	int status = BT_EXIT_USAGE;

	bt_output_reserve_standard();
	bt_interrupt_install();
	/* The program's name in ps and top; its other threads have their own names. */
	bt_thread_name_process("berth run");
	if (argc > 1 && strcmp(argv[1], "run") == 0) { /* started as "berth run" */
		argc--;
		argv++;
	}
	switch (bt_invocation_parse(bt_command_find("run"), argc, argv, &invocation)) {
	case BT_PARSE_RUN:
		status =
			bt_files_check(&invocation, &(struct bt_files_reader){bt_input_list, bt_input_takes});
		status = status == BT_EXIT_OK ? bt_cmd_run(&invocation) : status;
		break;
	case BT_PARSE_HELP:
		status = print_help(&invocation);
		break;
	case BT_PARSE_WRONG:
		break;
	}
	bt_invocation_fini(&invocation);
	return status;
}
