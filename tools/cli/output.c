/* SPDX-License-Identifier: Apache-2.0
 * Buffered output over file descriptors. stdio is not used, because it loses which write failed and why.
 */
#include "tools/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/mem.h"
#include "tools/cli/command.h"

#define BUFFER_BYTES ((size_t)1 << 17)

void bt_output_reserve_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0) {
			/* The lowest number that is free: this one. */
			(void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
		}
	}
}

enum bt_status bt_output_open(const char *path, struct bt_output *out_output)
{
	bool is_stdout = strcmp(path, "-") == 0;
	int fd = is_stdout ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0) {
		fprintf(stderr, "berth: cannot write %s: %s\n", path, strerror(errno));
		return BT_IO;
	}
	*out_output = (struct bt_output){.fd = fd,
		.path = is_stdout ? "standard output" : path,
		.buffer = bt_mem_zalloc(BUFFER_BYTES, 1)};
	return BT_OK;
}

void bt_output_open_buf(struct bt_buf *text, struct bt_output *out_output)
{
	*out_output = (struct bt_output){.fd = -1, .path = "memory", .text = text};
}

static void write_all(struct bt_output *output, const char *bytes, size_t n)
{
	while (n > 0 && output->error == 0) {
		ssize_t done = write(output->fd, bytes, n);

		if (done < 0 && errno != EINTR) {
			output->error = errno;
		} else if (done > 0) {
			bytes += done;
			n -= (size_t)done;
		}
	}
}

void bt_output_flush(struct bt_output *output)
{
	write_all(output, output->buffer, output->used);
	output->used = 0;
}

void bt_output_add(struct bt_output *output, const void *bytes, size_t n)
{
	if (output->text) {
		bt_buf_add(output->text, bytes, n);
		return;
	}
	if (n > BUFFER_BYTES - output->used) {
		bt_output_flush(output);
	}
	if (n > BUFFER_BYTES) {
		write_all(output, bytes, n);
		return;
	}
	if (n > 0) {
		memcpy(output->buffer + output->used, bytes, n);
		output->used += n;
	}
}

void bt_output_str(struct bt_output *output, struct bt_str s)
{
	bt_output_add(output, s.ptr, s.len);
}

int bt_output_close(struct bt_output *output)
{
	bt_output_flush(output);
	/* Network file systems report a full disk only here. */
	if (output->fd != STDOUT_FILENO && close(output->fd) != 0 && output->error == 0) {
		output->error = errno;
	}
	bt_mem_free(output->buffer);
	output->buffer = NULL;
	if (output->error == EPIPE) {
		return BT_EXIT_PIPE;
	}
	if (output->error != 0) {
		fprintf(stderr, "berth: cannot write %s: %s\n", output->path, strerror(output->error));
		return BT_EXIT_IO;
	}
	return BT_EXIT_OK;
}

int bt_output_write(const char *path, struct bt_str text)
{
	struct bt_output output;

	if (bt_output_open(path, &output) != BT_OK) {
		return BT_EXIT_IO;
	}
	bt_output_str(&output, text);
	return bt_output_close(&output);
}
