/* SPDX-License-Identifier: Apache-2.0
 * The alternate screen, by the sequences that every terminal of today knows.
 */
#include "tools/offline/live/screen.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/base/buf.h"
#include "tools/cli/interrupt.h"

#define ENTER "\033[?1049h\033[?25l\033[2J"
#define LEAVE "\033[?25h\033[?1049l"

/* Signals that end the program, other than those of interrupt.h. */
static const int fatal[] = {SIGABRT, SIGBUS, SIGFPE, SIGHUP, SIGILL, SIGQUIT, SIGSEGV};

#define FATAL_N (sizeof(fatal) / sizeof(fatal[0]))

static int screen_fd = -1;		   /* init: while a screen is on */
static volatile sig_atomic_t is_shown = 0; /* the terminal shows our picture */
static struct sigaction before[FATAL_N], before_stop;
static struct bt_live_size shown; /* the size of the last picture */

/* What cannot be written cannot be helped. */
static void screen_put(const char *text, size_t n)
{
	while (n > 0) {
		ssize_t done = write(screen_fd, text, n);

		if (done <= 0) {
			return;
		}
		text += done;
		n -= (size_t)done;
	}
}

/* Context: also signal handlers. */
static void leave(void)
{
	if (is_shown) {
		is_shown = 0;
		screen_put(LEAVE, strlen(LEAVE));
	}
}

/* What would have happened without us happens. */
static void die(int signal_number)
{
	leave();
	for (size_t i = 0; i < FATAL_N; i++) {
		if (fatal[i] == signal_number) {
			sigaction(signal_number, &before[i], NULL);
		}
	}
	raise(signal_number);
}

/* The next picture enters again. */
static void stop(int signal_number)
{
	(void)signal_number;
	leave();
	raise(SIGSTOP);
}

bool bt_screen_works(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) == 1 && term && *term && strcmp(term, "dumb") != 0;
}

void bt_screen_begin(int fd)
{
	struct sigaction end = {.sa_handler = die}, pause = {.sa_handler = stop, .sa_flags = SA_RESTART};

	screen_fd = fd;
	for (size_t i = 0; i < FATAL_N; i++) {
		sigaction(fatal[i], &end, &before[i]);
	}
	sigaction(SIGTSTP, &pause, &before_stop);
	bt_interrupt_before_exit(leave);
}

void bt_screen_end(void)
{
	if (screen_fd < 0) {
		return;
	}
	leave();
	bt_interrupt_before_exit(NULL);
	for (size_t i = 0; i < FATAL_N; i++) {
		sigaction(fatal[i], &before[i], NULL);
	}
	sigaction(SIGTSTP, &before_stop, NULL);
	screen_fd = -1;
}

struct bt_live_size bt_screen_size(int fd)
{
	struct winsize size = {0};

	if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
		return (struct bt_live_size){.columns = 80, .rows = 24};
	}
	return (struct bt_live_size){.columns = size.ws_col, .rows = size.ws_row};
}

void bt_screen_show(struct bt_str picture)
{
	struct bt_live_size size = bt_screen_size(screen_fd);
	struct bt_buf text = {0};

	/* After a resize the terminal may have moved its content. */
	if (is_shown && (size.columns != shown.columns || size.rows != shown.rows)) {
		bt_buf_text(&text, "\033[2J");
	}
	if (!is_shown) {
		bt_buf_text(&text, ENTER);
	}
	bt_buf_text(&text, "\033[H");
	for (size_t at = 0; at < picture.len;) {
		size_t end = bt_str_find(picture, '\r', at);

		bt_buf_str(&text, bt_str_sub(picture, at, end));
		bt_buf_text(&text, end < picture.len ? "\033[K\r\n" : "\033[K");
		at = end + 2;
	}
	bt_buf_text(&text, "\033[J");
	shown = size;
	is_shown = 1; /* before the first byte, so that a signal at any time restores the screen */
	screen_put(text.ptr, text.len);
	bt_buf_fini(&text);
}
