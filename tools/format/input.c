/* SPDX-License-Identifier: Apache-2.0
 * Files, directories and standard input as text in memory. Large files are mapped, everything else is read.
 */
#include "tools/format/input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/buf.h"
#include "engine/base/mem.h"
#include "engine/model/quantity.h"
#include "tools/format/limits.h"
#include "tools/format/unpack_int.h"

/* From this size on a mapping is cheaper than a copy. */
#define MAP_BYTES  ((size_t)1 << 20)
#define READ_BYTES ((size_t)1 << 20)

struct bt_input {
	bt_diagnosis_fn *report;
	void *context;
	char **paths; /* each its own allocation */
	size_t path_n, path_cap, next_ix;
	uint64_t ignored_n, unreadable_n;
	struct bt_buf raw, unpacked; /* of the open file */
	void *map;
	size_t map_bytes;
};

struct bt_input *bt_input_create(bt_diagnosis_fn *report, void *context)
{
	struct bt_input *input = bt_mem_zalloc(1, sizeof(*input));

	input->report = report;
	input->context = context;
	return input;
}

static void release(struct bt_input *input)
{
	if (input->map) {
		munmap(input->map, input->map_bytes);
		input->map = NULL;
	}
	bt_buf_fini(&input->raw);
	bt_buf_fini(&input->unpacked);
}

void bt_input_destroy(struct bt_input *input)
{
	if (!input) {
		return;
	}
	release(input);
	for (size_t i = 0; i < input->path_n; i++) {
		bt_mem_free(input->paths[i]);
	}
	bt_mem_free(input->paths);
	bt_mem_free(input);
}

uint64_t bt_input_unreadable(const struct bt_input *input)
{
	return input->unreadable_n;
}

uint64_t bt_input_ignored(const struct bt_input *input)
{
	return input->ignored_n;
}

static enum bt_status input_diagnose(struct bt_input *input, enum bt_status status, const char *name,
	const char *message, const char *remedy)
{
	struct bt_diagnosis diagnosis = {
		.file = name, .message = message, .remedy = remedy, .loss = BT_LOST_PART};

	input->report(input->context, &diagnosis);
	return status;
}

static enum bt_status report_errno(struct bt_input *input, const char *name, const char *doing, int error)
{
	char message[160];

	input->unreadable_n++;
	snprintf(message, sizeof(message), "cannot %s: %s", doing, strerror(error));
	input->report(input->context, &(struct bt_diagnosis){.file = name,
					      .message = message,
					      .remedy = "check the path and its permissions",
					      .loss = BT_LOST_PART,
					      .fatal = true});
	return BT_IO;
}

static void push_path(struct bt_input *input, const char *path)
{
	input->paths = bt_mem_grow(input->paths, input->path_n, &input->path_cap, sizeof(*input->paths));
	input->paths[input->path_n++] = bt_mem_copy(path, strlen(path));
}

/* The name without .gz or .zst. */
static struct bt_str plain_name(const char *name)
{
	struct bt_str s = bt_str(name);

	s.len -= bt_str_ends(s, ".gz") ? 3 : 0;
	s.len -= bt_str_ends(s, ".zst") ? 4 : 0;
	return s;
}

static bool is_yaml_name(const char *name)
{
	struct bt_str s = plain_name(name);

	return bt_str_ends(s, ".yaml") || bt_str_ends(s, ".yml");
}

static bool is_json_name(const char *name)
{
	return bt_str_ends(plain_name(name), ".json");
}

bool bt_input_takes(const char *name)
{
	return is_json_name(name) || is_yaml_name(name);
}

static enum bt_status walk(struct bt_input *input, const char *path, uint32_t depth);

/* Handles one entry of a directory: a file with a supported name, a directory to walk, or an ignored
 * entry. */
static enum bt_status take_entry(struct bt_input *input, const char *folder, const char *name, uint32_t depth)
{
	struct bt_buf path = {0};
	struct stat st;
	enum bt_status rc = BT_OK;

	bt_buf_printf(&path, "%s%s%s", folder, bt_str_ends(bt_str(folder), "/") ? "" : "/", name);
	if (lstat(path.ptr, &st) != 0) {
		rc = report_errno(input, path.ptr, "look at it", errno);
	} else if (S_ISDIR(st.st_mode)) {
		rc = walk(input, path.ptr, depth + 1);
	} else if (!bt_input_takes(name)) {
		input->ignored_n++;
	} else if (stat(path.ptr, &st) != 0) {
		rc = report_errno(input, path.ptr, "open it", errno);
	} else if (S_ISDIR(st.st_mode)) {
		input->ignored_n++; /* a link to a directory, which could form a cycle */
	} else if (!S_ISREG(st.st_mode)) {
		rc = input_diagnose(input, BT_IO, path.ptr, "it is a pipe, a socket or a device",
			"name it by itself to have it read");
	} else if (input->path_n >= BT_LIMIT_FILES) {
		rc = input_diagnose(input, BT_RANGE, path.ptr, "more files than can be read in one run",
			"put the objects into fewer files");
	} else {
		push_path(input, path.ptr);
	}
	bt_buf_fini(&path);
	return rc;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static enum bt_status walk(struct bt_input *input, const char *path, uint32_t depth)
{
	struct dirent **entries;
	enum bt_status rc = BT_OK;

	if (depth > BT_LIMIT_DIRECTORY_DEPTH) {
		return input_diagnose(
			input, BT_DEPTH, path, "directories are nested too deeply", "name the inner one");
	}
	int n = scandir(path, &entries, NULL, by_bytes);
	if (n < 0) {
		return report_errno(input, path, "read the directory", errno);
	}
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;

		if (rc != BT_RANGE && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
			enum bt_status entry_rc = take_entry(input, path, name, depth);

			rc = entry_rc != BT_OK ? entry_rc : rc;
		}
		free(entries[i]);
	}
	free(entries);
	return rc;
}

enum bt_status bt_input_add(struct bt_input *input, const char *path)
{
	struct stat st;

	if (strcmp(path, "-") == 0) {
		push_path(input, path);
		return BT_OK;
	}
	if (stat(path, &st) != 0) {
		return report_errno(input, path, "open it", errno);
	}
	if (!S_ISDIR(st.st_mode)) {
		push_path(input, path);
		return BT_OK;
	}
	size_t before = input->path_n;
	enum bt_status rc = walk(input, path, 0);
	if (rc == BT_OK && input->path_n == before) {
		return input_diagnose(input, BT_NOT_FOUND, path,
			"the directory holds no .json, .yaml or .yml file",
			"name another directory, or the files themselves");
	}
	return rc;
}

static void ignore_diagnosis(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)context;
	(void)diagnosis;
}

void bt_input_list(const char *folder, void (*found)(void *context, const char *file), void *context)
{
	struct bt_input *input = bt_input_create(ignore_diagnosis, NULL);

	(void)bt_input_add(input, folder);
	for (size_t i = 0; i < input->path_n; i++) {
		found(context, input->paths[i]);
	}
	bt_input_destroy(input);
}

static enum bt_status too_large(struct bt_input *input, const char *name)
{
	return input_diagnose(
		input, BT_RANGE, name, "the file is larger than 8 GiB", "split it into several files");
}

/* Reads to the end of fd, which may be a pipe. */
static enum bt_status read_all(struct bt_input *input, int fd, const char *name)
{
	for (;;) {
		bt_buf_reserve(&input->raw, READ_BYTES);
		ssize_t n = read(fd, input->raw.ptr + input->raw.len, READ_BYTES);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return report_errno(input, name, "read it", errno);
		}
		if (n == 0) {
			return BT_OK;
		}
		input->raw.len += (size_t)n;
		if (input->raw.len > BT_LIMIT_FILE_BYTES) {
			return too_large(input, name);
		}
	}
}

/* Maps or reads the file of fd. */
static enum bt_status load(struct bt_input *input, int fd, const char *name, struct bt_str *out)
{
	struct stat st;

	if (fstat(fd, &st) != 0) {
		return report_errno(input, name, "look at it", errno);
	}
	if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > BT_LIMIT_FILE_BYTES) {
		return too_large(input, name);
	}
	if (S_ISREG(st.st_mode) && (size_t)st.st_size >= MAP_BYTES) {
		void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (map != MAP_FAILED) {
			input->map = map;
			input->map_bytes = (size_t)st.st_size;
			madvise(map, input->map_bytes, MADV_SEQUENTIAL);
			*out = (struct bt_str){map, input->map_bytes};
			return BT_OK;
		}
	}
	enum bt_status rc = read_all(input, fd, name);
	*out = bt_buf_view(&input->raw);
	return rc;
}

size_t bt_input_unpacked_max(size_t packed_bytes, size_t raised)
{
	if (raised) {
		return raised < BT_LIMIT_FILE_BYTES ? raised : BT_LIMIT_FILE_BYTES;
	}
	if (packed_bytes <= BT_LIMIT_UNPACKED_BYTES / BT_LIMIT_UNPACKED_TIMES) {
		return BT_LIMIT_UNPACKED_BYTES;
	}
	return packed_bytes < BT_LIMIT_FILE_BYTES / BT_LIMIT_UNPACKED_TIMES
		       ? packed_bytes * BT_LIMIT_UNPACKED_TIMES
		       : BT_LIMIT_FILE_BYTES;
}

static enum bt_status report_bomb(struct bt_input *input, const char *name, size_t unfolded)
{
	char message[160];

	snprintf(message, sizeof(message),
		"the compressed file unfolds to more than is allowed, after %zu MiB", unfolded >> 20);
	return input_diagnose(input, BT_RANGE, name, message,
		"if you trust it, unpack it yourself, or set " BT_LIMIT_UNPACKED_VARIABLE
		" to its size, such as 4Gi");
}

/* The environment's limit of a decompressed file; 0: not set. */
static enum bt_status read_raised(size_t *out_raised)
{
	const char *text = getenv(BT_LIMIT_UNPACKED_VARIABLE);
	struct bt_quantity quantity;

	*out_raised = 0;
	if (!text || !*text) {
		return BT_OK;
	}
	if (bt_quantity_parse(bt_str(text), &quantity) != BT_OK || bt_quantity_value(quantity) <= 0) {
		return BT_INVALID;
	}
	*out_raised = (size_t)bt_quantity_value(quantity);
	return BT_OK;
}

static enum bt_status unpack(struct bt_input *input, const char *name, struct bt_str *text)
{
	enum bt_packing packing = bt_packing(*text);
	size_t raised;

	if (packing == BT_PACKING_NONE) {
		return BT_OK;
	}
	if (read_raised(&raised) != BT_OK) {
		return input_diagnose(input, BT_INVALID, name, BT_LIMIT_UNPACKED_VARIABLE " is not a size",
			"write it like 4Gi or 4294967296");
	}
	enum bt_status rc = bt_unpack(packing, *text, raised, &input->unpacked);
	*text = bt_buf_view(&input->unpacked);
	switch (rc) {
	case BT_OK:
		return BT_OK;
	case BT_TRUNCATED:
		return input_diagnose(input, rc, name, "the compressed file is cut off", "copy it again");
	case BT_RANGE:
		return report_bomb(input, name, text->len);
	default:
		return input_diagnose(input, rc, name, "the compressed file is damaged", "copy it again");
	}
}

/* Rejects archives and unsupported compression, by their magic bytes. */
static enum bt_status refuse_archive(struct bt_input *input, const char *name, struct bt_str text)
{
	static const struct {
		size_t at;
		const char *bytes, *message;
	} kinds[] = {
		{257, "ustar", "it is a tar archive"},
		{0, "PK\x03\x04", "it is a zip archive"},
		{0, "7z\xbc\xaf\x27\x1c", "it is a 7z archive"},
		{0, "\xfd\x37zXZ", "it is packed with xz"},
		{4, "1AY&SY", "it is packed with bzip2"},
		{0, "\x04\x22\x4d\x18", "it is packed with lz4"},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].at < text.len &&
			bt_str_starts(bt_str_sub(text, kinds[i].at, text.len), kinds[i].bytes)) {
			return input_diagnose(input, BT_INVALID, name, kinds[i].message,
				"unpack it and name its files or their folder; gzip and zstd are read as "
				"they are");
		}
	}
	return BT_OK;
}

enum bt_format bt_input_format(const char *name, struct bt_str text)
{
	size_t at = bt_str_starts(text, "\xef\xbb\xbf") ? 3 : 0;

	while (at < text.len && (text.ptr[at] == ' ' || (text.ptr[at] >= '\t' && text.ptr[at] <= '\r'))) {
		at++;
	}
	if (at < text.len && text.ptr[at] == '{') {
		return BT_FORMAT_JSON;
	}
	return is_json_name(name) ? BT_FORMAT_JSON : BT_FORMAT_YAML;
}

static bool open_file(struct bt_input *input, const char *name, struct bt_input_file *out)
{
	int fd = strcmp(name, "-") == 0 ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct bt_str text = {0};

	if (fd < 0) {
		report_errno(input, name, "open it", errno);
		return false;
	}
	enum bt_status rc = load(input, fd, name, &text);
	close(fd);
	uint64_t bytes_read = text.len;
	if (rc == BT_OK) {
		rc = unpack(input, name, &text);
	}
	if (rc == BT_OK) {
		rc = refuse_archive(input, name, text);
	}
	if (rc != BT_OK) {
		return false;
	}
	*out = (struct bt_input_file){.name = name,
		.text = text,
		.format = bt_input_format(name, text),
		.guessed = !is_json_name(name),
		.bytes_read = bytes_read};
	return true;
}

bool bt_input_next(struct bt_input *input, struct bt_input_file *out)
{
	while (input->next_ix < input->path_n) {
		release(input);
		if (open_file(input, input->paths[input->next_ix++], out)) {
			return true;
		}
	}
	release(input);
	return false;
}
