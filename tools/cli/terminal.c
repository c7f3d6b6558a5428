/* SPDX-License-Identifier: Apache-2.0
 * Asks the environment what the terminal allows.
 */
#include "tools/cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool bt_terminal_color(const char *when, int fd)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (strcmp(when, "auto") != 0) {
		return strcmp(when, "always") == 0;
	}
	if ((no_color && *no_color) || (term && strcmp(term, "dumb") == 0)) {
		return false;
	}
	return isatty(fd) == 1;
}
