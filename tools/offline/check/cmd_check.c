/* SPDX-License-Identifier: Apache-2.0
 * berth check: does an application still fit on a cluster, judged by its own pods only?
 */
#include <string.h>

#include "tools/cli/entry.h"
#include "tools/offline/check/report.h"

/* Standard input is read once. */
static bool reads_standard_input_twice(const struct bt_invocation *invocation)
{
	const char *path;
	int n = 0;

	for (size_t i = 0; (path = bt_invocation_input(invocation, i)); i++) {
		n += strcmp(path, "-") == 0;
	}
	return n > 1;
}

int bt_cmd_check(struct bt_invocation *invocation)
{
	struct bt_check check = {0};

	if (invocation->operand_n == 0) {
		return bt_invocation_wrong(
			invocation->command, "no cluster; give it files, folders, or - as arguments");
	}
	if (!bt_invocation_item(invocation, "filename", 0)) {
		return bt_invocation_wrong(
			invocation->command, "no application; give -f the files of its manifests");
	}
	if (reads_standard_input_twice(invocation)) {
		return bt_invocation_wrong(invocation->command,
			"standard input can be read only once; give one of the - a file");
	}
	int status = bt_check_run(&check, invocation);
	if (status == BT_EXIT_OK) {
		status = bt_check_report(&check);
	}
	if (status == BT_EXIT_OK && !bt_check_passes(&check)) {
		status = BT_EXIT_NO;
	}
	bt_check_fini(&check);
	return status;
}
