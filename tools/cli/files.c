/* SPDX-License-Identifier: Apache-2.0
 * The files of a command line, distinguished by device and inode; a file that does not exist yet by its
 * folder's, and by its name.
 */
#include "tools/cli/files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engine/base/buf.h"
#include "engine/base/mem.h"
#include "tools/cli/output.h"
#include "tools/cli/replace.h"

#define MEMORY_MAJOR 1 /* /dev/null, /dev/zero, /dev/full */

/* The file behind a path. */
struct file_identity {
	dev_t device;	 /* of the file; of its folder if it does not exist */
	ino_t inode;	 /* the same */
	mode_t mode;	 /* 0: it does not exist */
	char *name;	 /* in its folder; NULL if it exists */
	bool is_nothing; /* unknown, or a device that discards data */
};

struct output {
	struct file_identity identity;
	struct bt_buf what; /* "--decisions FILE" */
};

struct file_check {
	const struct bt_invocation *invocation;
	const struct bt_files_reader *reader;
	struct output *outputs;
	size_t output_n, output_cap;
	const struct output *hit; /* an output that is an input */
};

static bool is_sink(const struct stat *about)
{
	return S_ISCHR(about->st_mode) && major(about->st_rdev) == MEMORY_MAJOR;
}

static struct file_identity of_descriptor(int fd)
{
	struct stat about;

	if (fstat(fd, &about) != 0 || is_sink(&about)) {
		return (struct file_identity){.is_nothing = true};
	}
	return (struct file_identity){.device = about.st_dev, .inode = about.st_ino, .mode = about.st_mode};
}

/* The identity of a missing file; path does not end in a link. */
static struct file_identity of_place(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *folder = slash ? bt_mem_copy(path, (size_t)(slash - path) + 1) : bt_mem_copy(".", 1);
	struct file_identity identity = {.is_nothing = true};
	struct stat about;

	if (stat(folder, &about) == 0) {
		identity = (struct file_identity){.device = about.st_dev,
			.inode = about.st_ino,
			.name = bt_mem_copy(name, strlen(name))};
	}
	bt_mem_free(folder);
	return identity;
}

static struct file_identity of_path(const char *path)
{
	struct file_identity identity = {.is_nothing = true};
	struct stat about;

	if (stat(path, &about) == 0) {
		return is_sink(&about) ? identity
				       : (struct file_identity){.device = about.st_dev,
						 .inode = about.st_ino,
						 .mode = about.st_mode};
	}
	char *behind = errno == ENOENT ? bt_path_behind_links(path) : NULL;
	if (behind) {
		identity = of_place(behind);
	}
	bt_mem_free(behind);
	return identity;
}

static bool is_same(const struct file_identity *a, const struct file_identity *b)
{
	if (a->is_nothing || b->is_nothing || a->device != b->device || a->inode != b->inode ||
		!a->name != !b->name) {
		return false;
	}
	return !a->name || strcmp(a->name, b->name) == 0;
}

bool bt_files_are_one(const char *a, const char *b)
{
	struct file_identity first = of_path(a), second = of_path(b);
	bool same = is_same(&first, &second);

	bt_mem_free(first.name);
	bt_mem_free(second.name);
	return same;
}

/* ---- outputs ---- */

static struct output *add_output(struct file_check *check, struct file_identity identity)
{
	check->outputs =
		bt_mem_grow(check->outputs, check->output_n, &check->output_cap, sizeof(*check->outputs));
	check->outputs[check->output_n] = (struct output){.identity = identity};
	return &check->outputs[check->output_n++];
}

static void add_outputs(struct file_check *check)
{
	const struct bt_invocation *invocation = check->invocation;
	const struct bt_option *option;
	const char *path;

	for (size_t i = 0; (option = bt_command_option(invocation->command, i)); i++) {
		if (option->file != BT_FILE_WRITTEN) {
			continue;
		}
		for (size_t n = 0; (path = bt_invocation_item(invocation, option->name, n)) && *path; n++) {
			struct output *output = add_output(check,
				bt_output_is_standard(path) ? of_descriptor(STDOUT_FILENO) : of_path(path));

			bt_buf_printf(&output->what, "--%s %s", option->name, path);
		}
	}
}

bool bt_files_use_standard(const struct bt_invocation *invocation)
{
	const struct bt_option *option;
	const char *path;

	for (size_t i = 0; (option = bt_command_option(invocation->command, i)); i++) {
		for (size_t n = 0; option->file == BT_FILE_WRITTEN &&
				   (path = bt_invocation_item(invocation, option->name, n));
			n++) {
			if (bt_output_is_standard(path)) {
				return true;
			}
		}
	}
	return false;
}

/* Was the report's format given? */
static bool has_format(const struct bt_invocation *invocation)
{
	const struct bt_option *option;

	for (size_t i = 0; (option = bt_command_option(invocation->command, i)); i++) {
		if (strcmp(option->name, "output") == 0) {
			return bt_invocation_has(invocation, "output");
		}
	}
	return false;
}

/* Does a report go to standard output? If a log uses that, only when the report's format was given. */
static bool has_report(const struct bt_invocation *invocation)
{
	return invocation->command->reports && (has_format(invocation) || !bt_files_use_standard(invocation));
}

static int check_outputs(const struct file_check *check)
{
	for (size_t i = 0; i < check->output_n; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct output *a = &check->outputs[j], *b = &check->outputs[i];

			if (is_same(&a->identity, &b->identity)) {
				return bt_invocation_wrong(check->invocation->command,
					"%s and %s are the same file; write them to two files", a->what.ptr,
					b->what.ptr);
			}
		}
	}
	return BT_EXIT_OK;
}

/* ---- inputs ---- */

static void compare(struct file_check *check, const struct file_identity *input)
{
	for (size_t i = 0; i < check->output_n && !check->hit; i++) {
		bool kept = S_ISREG(input->mode) || S_ISFIFO(input->mode);

		if (kept && is_same(&check->outputs[i].identity, input)) {
			check->hit = &check->outputs[i];
		}
	}
}

static void found(void *context, const char *file)
{
	struct file_check *check = context;
	struct file_identity input = of_path(file);
	struct output *output = check->outputs;

	compare(check, &input);
	bt_mem_free(input.name);
	/* A file created in an input folder would be read the next time. */
	struct file_identity place = of_place(file);
	for (size_t i = 0; i < check->output_n && !check->hit; i++) {
		const struct file_identity *made = &output[i].identity;

		if (made->name && !place.is_nothing && made->device == place.device &&
			made->inode == place.inode && check->reader->takes(made->name)) {
			check->hit = &output[i];
		}
	}
	bt_mem_free(place.name);
}

static void check_input(struct file_check *check, const char *path)
{
	struct file_identity input = strcmp(path, "-") == 0 ? of_descriptor(STDIN_FILENO) : of_path(path);

	if (S_ISDIR(input.mode)) {
		check->reader->list(path, found, check);
	} else {
		compare(check, &input);
	}
	bt_mem_free(input.name);
}

static void check_inputs(struct file_check *check)
{
	const struct bt_invocation *invocation = check->invocation;
	const struct bt_option *option;
	const char *path;

	for (size_t i = 0; (option = bt_command_option(invocation->command, i)); i++) {
		for (size_t n = 0; option->file == BT_FILE_READ &&
				   (path = bt_invocation_item(invocation, option->name, n));
			n++) {
			check_input(check, path);
		}
	}
	for (size_t i = 0; invocation->command->operand_file == BT_FILE_READ && i < invocation->operand_n;
		i++) {
		check_input(check, invocation->operands[i]);
	}
}

int bt_files_check(const struct bt_invocation *invocation, const struct bt_files_reader *reader)
{
	struct file_check check = {.invocation = invocation, .reader = reader};
	int status;

	add_outputs(&check);
	if (has_report(invocation)) {
		bt_buf_text(&add_output(&check, of_descriptor(STDOUT_FILENO))->what,
			has_format(invocation) ? "the report of --output" : "standard output");
	}
	status = check_outputs(&check);
	if (status == BT_EXIT_OK) {
		check_inputs(&check);
	}
	if (check.hit) {
		status = bt_invocation_wrong(invocation->command,
			"%s is also an input; write to another file", check.hit->what.ptr);
	}
	for (size_t i = 0; i < check.output_n; i++) {
		bt_mem_free(check.outputs[i].identity.name);
		bt_buf_fini(&check.outputs[i].what);
	}
	bt_mem_free(check.outputs);
	return status;
}
