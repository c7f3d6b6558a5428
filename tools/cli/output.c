/* SPDX-License-Identifier: Apache-2.0
 * Buffered output over file descriptors. stdio is not used, because it does not report which write failed and
 * why.
 */
#include "tools/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/mem.h"
#include "tools/cli/command.h"
#include "tools/cli/message.h"

#define BUFFER_BYTES ((size_t)1 << 17)

void bt_output_reserve_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0) {
			/* open returns the lowest free number: this one. */
			(void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
		}
	}
}

bool bt_output_is_standard(const char *path)
{
	static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(path, names[i]) == 0) {
			return true;
		}
	}
	return false;
}

static void open_descriptor(int fd, const char *path, struct bt_output *out_output)
{
	*out_output = (struct bt_output){.fd = fd,
		.path = path,
		.buffer = bt_mem_zalloc(BUFFER_BYTES, 1),
		.file = {.fd = -1, .slot = -1}};
}

void bt_output_open_standard(bool error, struct bt_output *out_output)
{
	open_descriptor(error ? STDERR_FILENO : STDOUT_FILENO, error ? "standard error" : "standard output",
		out_output);
}

enum bt_status bt_output_open(const char *path, enum bt_output_way way, struct bt_output *out_output)
{
	struct bt_replacement file;

	if (bt_output_is_standard(path)) {
		bt_output_open_standard(false, out_output);
		return BT_OK;
	}
	int error = bt_replacement_begin(path, way == BT_OUTPUT_FOLLOWED, &file);
	if (error) {
		bt_message("berth: cannot write %s: %s\n", path, strerror(error));
		return BT_IO;
	}
	open_descriptor(file.fd, path, out_output);
	out_output->file = file;
	return BT_OK;
}

void bt_output_open_buf(struct bt_buf *text, struct bt_output *out_output)
{
	*out_output =
		(struct bt_output){.fd = -1, .path = "memory", .text = text, .file = {.fd = -1, .slot = -1}};
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

static bool is_file(const struct bt_output *output)
{
	return output->file.target != NULL;
}

/* Closes the file, which is complete unless a write failed. */
static void close_file(struct bt_output *output)
{
	/* Network file systems report a full disk only here. */
	if (close(output->fd) != 0 && output->error == 0) {
		output->error = errno;
	}
	if (output->error) {
		bt_replacement_drop(&output->file);
	} else {
		output->error = bt_replacement_commit(&output->file);
	}
}

int bt_output_close(struct bt_output *output)
{
	bt_output_flush(output);
	if (is_file(output)) {
		close_file(output);
	}
	bt_mem_free(output->buffer);
	output->buffer = NULL;
	if (output->error == EPIPE) {
		return BT_EXIT_PIPE;
	}
	if (output->error != 0) {
		bt_message("berth: cannot write %s: %s\n", output->path, strerror(output->error));
		return BT_EXIT_IO;
	}
	return BT_EXIT_OK;
}

void bt_output_drop(struct bt_output *output)
{
	if (is_file(output)) {
		close(output->fd);
		bt_replacement_drop(&output->file);
	}
	bt_mem_free(output->buffer);
	output->buffer = NULL;
}

int bt_output_write(const char *path, struct bt_str text)
{
	struct bt_output output;

	if (bt_output_open(path, BT_OUTPUT_WHOLE, &output) != BT_OK) {
		return BT_EXIT_IO;
	}
	bt_output_str(&output, text);
	return bt_output_close(&output);
}
