/* SPDX-License-Identifier: Apache-2.0
 * Runs a fuzz target once over every file of its corpus, so that each input ever found is a plain
 * test with every compiler.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/buf.h"
#include "engine/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads the file into memory of exactly its size, so that AddressSanitizer sees a read past its end. */
static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat info;

	if (!file || fstat(fileno(file), &info) != 0) {
		fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
		if (file) {
			fclose(file);
		}
		return 1;
	}
	size_t size = (size_t)info.st_size;
	uint8_t *data = bt_mem_realloc(NULL, size, 1);
	size_t got = fread(data, 1, size, file);
	fclose(file);
	if (got != size) {
		fprintf(stderr, "replay: %s: got %zu of %zu bytes\n", path, got, size);
		bt_mem_free(data);
		return 1;
	}
	/* If the target crashes, this line names the input. */
	fprintf(stderr, "replay: %s (%zu bytes)\n", path, size);
	LLVMFuzzerTestOneInput(data, size);
	bt_mem_free(data);
	return 0;
}

/* Replays the files of a folder and counts them in *out_file_n. */
static int replay_folder(const char *folder, size_t *out_file_n)
{
	DIR *dir = opendir(folder);
	int failed = 0;

	if (!dir) {
		fprintf(stderr, "replay: %s: %s\n", folder, strerror(errno));
		return 1;
	}
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
		if (entry->d_name[0] == '.') {
			continue;
		}
		struct bt_buf path = {0};
		bt_buf_printf(&path, "%s/%s", folder, entry->d_name);
		failed |= replay_file(path.ptr);
		bt_buf_fini(&path);
		(*out_file_n)++;
	}
	closedir(dir);
	return failed;
}

int main(int argc, char **argv)
{
	static const uint8_t nothing[1];
	size_t file_n = 0;
	int failed = 0;

	LLVMFuzzerTestOneInput(nothing, 0);
	for (int i = 1; i < argc; i++) {
		failed |= replay_folder(argv[i], &file_n);
	}
	if (file_n == 0) {
		fprintf(stderr, "replay: no inputs; name folders that hold some\n");
		return 1;
	}
	printf("replayed %zu inputs\n", file_n);
	return failed;
}
