/* SPDX-License-Identifier: Apache-2.0
 * Detects the terminal's capabilities.
 */
#include "tools/cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS 80

bool bt_terminal_color(const char *when, int fd)
{
	const char *no_color = getenv("NO_COLOR");

	if (strcmp(when, "auto") != 0) {
		return strcmp(when, "always") == 0;
	}
	if ((no_color && *no_color) || bt_terminal_is_dumb()) {
		return false;
	}
	return isatty(fd) == 1;
}

bool bt_terminal_is_dumb(void)
{
	const char *term = getenv("TERM");

	return term && strcmp(term, "dumb") == 0;
}

unsigned bt_terminal_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : COLUMNS;
}
