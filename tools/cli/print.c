/* SPDX-License-Identifier: Apache-2.0
 * A command's report on standard output.
 */
#include "tools/cli/print.h"

#include <unistd.h>

#include "tools/cli/terminal.h"

int bt_print_report(struct bt_emit *emit, const struct bt_invocation *invocation)
{
	bool color = bt_terminal_color(bt_invocation_text(invocation, "color"), STDOUT_FILENO);
	struct bt_output output;

	bt_output_open_standard(false, &output);
	bt_emit_write(emit, bt_emit_format_of(bt_invocation_text(invocation, "output")), color, &output);
	int status = bt_output_close(&output);
	bt_emit_destroy(emit);
	return status;
}
