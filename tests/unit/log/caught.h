/* SPDX-License-Identifier: Apache-2.0
 * Standard error as a pipe, so that tests read the log lines that were written.
 */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static struct {
	int read_fd, saved_fd;
	char text[1 << 16];
} caught;

static inline void caught_begin(void)
{
	int fds[2];

	fflush(stderr);
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	caught.saved_fd = dup(STDERR_FILENO);
	assert_true(dup2(fds[1], STDERR_FILENO) >= 0);
	close(fds[1]);
	caught.read_fd = fds[0];
}

/* What was written since the last call. */
static inline const char *caught_text(void)
{
	ssize_t n = read(caught.read_fd, caught.text, sizeof(caught.text) - 1);

	caught.text[n > 0 ? n : 0] = 0;
	return caught.text;
}

/* Standard error is itself again. Returns: what was written since the last call. */
static inline const char *caught_end(void)
{
	const char *text = caught_text();

	dup2(caught.saved_fd, STDERR_FILENO);
	close(caught.saved_fd);
	close(caught.read_fd);
	return text;
}
