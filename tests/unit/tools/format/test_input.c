/* SPDX-License-Identifier: Apache-2.0
 * Files, directories and archives: which are read, in which order, and errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "folder.h"
#include "tools/format/input.h"
#include "tools/format/limits.h"

static struct bt_input *input;
static struct bt_buf problems;

static void note(void *context, const struct bt_diagnosis *diagnosis)
{
	(void)context;
	bt_diagnosis_text(diagnosis, &problems);
	bt_buf_char(&problems, '\n');
}

static int setup(void **state)
{
	(void)state;
	input = bt_input_create(note, NULL);
	bt_buf_text(&problems, "\n");
	return folder_make(NULL);
}

static int teardown(void **state)
{
	(void)state;
	bt_input_destroy(input);
	bt_buf_fini(&problems);
	return folder_remove(NULL);
}

static void expect_file(const char *name, const char *text, enum bt_format format)
{
	struct bt_input_file file;

	assert_true(bt_input_next(input, &file));
	assert_string_equal(file.name, path_of(name));
	assert_true(bt_str_is(file.text, text));
	assert_int_equal(file.format, format);
}

static void expect_problem(const char *name, const char *text)
{
	char want[256];

	snprintf(want, sizeof(want), "\n%s%s%s: %s\n", folder, *name ? "/" : "", name, text);
	assert_string_equal(problems.ptr, want);
}

/* {} as gzip and as zstd. */
static const unsigned char gzip_bytes[] = {
	0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0xae, 5, 0, 0x43, 0xbf, 0xa6, 0xa3, 2, 0, 0, 0};
static const unsigned char zstd_bytes[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 2, 0x11, 0, 0, '{', '}'};

static void a_directory_is_read_in_order_and_other_names_are_counted(void **state)
{
	struct bt_input_file file;

	(void)state;
	write_bytes("b.yaml", "b: 1", 4);
	write_bytes("a.json", "{}", 2);
	write_bytes("notes.txt", "x", 1);
	assert_int_equal(mkdir(path_of("c"), 0700), 0);
	write_bytes("c/z.yml", "{z: 1}", 6);
	write_bytes("c/y.json.gz", gzip_bytes, sizeof(gzip_bytes));
	write_bytes("d.json.zst", zstd_bytes, sizeof(zstd_bytes));
	assert_int_equal(symlink(".", path_of("circle")), 0);
	assert_int_equal(bt_input_add(input, folder), BT_OK);
	expect_file("a.json", "{}", BT_FORMAT_JSON);
	expect_file("b.yaml", "b: 1", BT_FORMAT_YAML);
	expect_file("c/y.json.gz", "{}", BT_FORMAT_JSON);
	expect_file("c/z.yml", "{z: 1}", BT_FORMAT_JSON);
	expect_file("d.json.zst", "{}", BT_FORMAT_JSON);
	assert_false(bt_input_next(input, &file));
	assert_int_equal(bt_input_ignored(input), 2);
	assert_string_equal(problems.ptr, "\n");
}

static void a_missing_path_is_named(void **state)
{
	(void)state;
	assert_int_equal(bt_input_add(input, path_of("none.json")), BT_IO);
	expect_problem(
		"none.json", "cannot open it: No such file or directory; check the path and its permissions");
}

/* Ignoring them would silently make a smaller cluster. */
static void unreadable_manifests_of_a_directory_are_reported(void **state)
{
	struct bt_input_file file;

	(void)state;
	write_bytes("b.yaml", "b: 1", 4);
	assert_int_equal(symlink("nowhere", path_of("a.yaml")), 0);
	assert_int_equal(bt_input_add(input, folder), BT_IO);
	expect_problem(
		"a.yaml", "cannot open it: No such file or directory; check the path and its permissions");
	expect_file("b.yaml", "b: 1", BT_FORMAT_YAML);
	assert_false(bt_input_next(input, &file));
	assert_int_equal(unlink(path_of("a.yaml")), 0);
	bt_buf_clear(&problems);
	bt_buf_char(&problems, '\n');
	assert_int_equal(mkfifo(path_of("c.json"), 0600), 0);
	assert_int_equal(bt_input_add(input, folder), BT_IO);
	expect_problem("c.json", "it is a pipe, a socket or a device; name it by itself to have it read");
	assert_int_equal(unlink(path_of("c.json")), 0);
	assert_int_equal(bt_input_ignored(input), 0);
}

static void a_directory_without_objects_is_named(void **state)
{
	(void)state;
	write_bytes("notes.txt", "x", 1);
	assert_int_equal(bt_input_add(input, folder), BT_NOT_FOUND);
	expect_problem("", "the directory holds no .json, .yaml or .yml file; name another directory, or the "
			   "files themselves");
}

static void a_bad_archive_does_not_stop_the_next_file(void **state)
{
	(void)state;
	write_bytes("a.json.gz", gzip_bytes, sizeof(gzip_bytes) - 6);
	write_bytes("b.json", "{}", 2);
	assert_int_equal(bt_input_add(input, folder), BT_OK);
	expect_file("b.json", "{}", BT_FORMAT_JSON);
	expect_problem("a.json.gz", "the compressed file is cut off; copy it again");
}

static void a_cut_off_zstd_file_is_noticed(void **state)
{
	struct bt_input_file file;

	(void)state;
	write_bytes("a.json.zst", zstd_bytes, sizeof(zstd_bytes) - 1);
	assert_int_equal(bt_input_add(input, path_of("a.json.zst")), BT_OK);
	assert_false(bt_input_next(input, &file));
	expect_problem("a.json.zst", "the compressed file is cut off; copy it again");
}

static void few_packed_bytes_do_not_fill_the_memory(void **state)
{
	(void)state;
	assert_int_equal(bt_input_unpacked_max(0, 0), BT_LIMIT_UNPACKED_BYTES);
	assert_int_equal(bt_input_unpacked_max(1000, 0), BT_LIMIT_UNPACKED_BYTES);
	assert_int_equal(bt_input_unpacked_max(10000000, 0), 10000000ull * BT_LIMIT_UNPACKED_TIMES);
	assert_int_equal(bt_input_unpacked_max(SIZE_MAX, 0), BT_LIMIT_FILE_BYTES);
	assert_int_equal(bt_input_unpacked_max(1000, 5000), 5000);
	assert_int_equal(bt_input_unpacked_max(1000, SIZE_MAX), BT_LIMIT_FILE_BYTES);
}

static void unsupported_archives_are_rejected_with_a_remedy(void **state)
{
	static char tar[512] = "pods.yaml";
	static const struct {
		const char *bytes;
		size_t n;
		const char *is;
	} kinds[] = {
		{tar, sizeof(tar), "it is a tar archive"},
		{"PK\x03\x04 and more", 13, "it is a zip archive"},
		{"\xfd\x37zXZ", 6, "it is packed with xz"},
		{"BZh91AY&SY", 10, "it is packed with bzip2"},
	};
	struct bt_input_file file;
	char text[160];

	(void)state;
	memcpy(tar + 257, "ustar", 5);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		write_bytes("a.yaml", kinds[i].bytes, kinds[i].n);
		bt_buf_clear(&problems);
		bt_buf_text(&problems, "\n");
		assert_int_equal(bt_input_add(input, path_of("a.yaml")), BT_OK);
		assert_false(bt_input_next(input, &file));
		snprintf(text, sizeof(text),
			"%s; unpack it and name its files or their folder; gzip and zstd are read as they "
			"are",
			kinds[i].is);
		expect_problem("a.yaml", text);
	}
}

static void a_damaged_archive_is_noticed(void **state)
{
	unsigned char bytes[sizeof(gzip_bytes)];
	struct bt_input_file file;

	(void)state;
	memcpy(bytes, gzip_bytes, sizeof(bytes));
	bytes[14] ^= 1;
	write_bytes("a.gz", bytes, sizeof(bytes));
	assert_int_equal(bt_input_add(input, path_of("a.gz")), BT_OK);
	assert_false(bt_input_next(input, &file));
	expect_problem("a.gz", "the compressed file is damaged; copy it again");
}

static void a_large_file_is_mapped_whole(void **state)
{
	const size_t n = (1u << 20) + 4096;
	char *bytes = malloc(n);
	struct bt_input_file file;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, ' ', n);
	bytes[n - 1] = '}';
	write_bytes("a.json", bytes, n);
	assert_int_equal(bt_input_add(input, path_of("a.json")), BT_OK);
	assert_true(bt_input_next(input, &file));
	assert_int_equal(file.text.len, n);
	assert_int_equal(file.text.ptr[n - 1], '}');
	assert_false(bt_input_next(input, &file));
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_directory_is_read_in_order_and_other_names_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(a_missing_path_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(
			unreadable_manifests_of_a_directory_are_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(a_directory_without_objects_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(a_bad_archive_does_not_stop_the_next_file, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cut_off_zstd_file_is_noticed, setup, teardown),
		cmocka_unit_test_setup_teardown(few_packed_bytes_do_not_fill_the_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(
			unsupported_archives_are_rejected_with_a_remedy, setup, teardown),
		cmocka_unit_test_setup_teardown(a_damaged_archive_is_noticed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_large_file_is_mapped_whole, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
