/* SPDX-License-Identifier: Apache-2.0
 * Which files of a command line are the same: through links, by paths that do not exist yet,
 * in folders of the input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/cli/files.h"

#define ARGS_MAX 8

static char folder[64];

/* A path in the test's folder; up to 16 are valid at a time. */
static const char *at(const char *name)
{
	static char paths[16][128];
	static int next;
	char *path = paths[next++ % 16];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static const char *make(const char *name)
{
	const char *path = at(name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fclose(file);
	return path;
}

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/berth-files-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	static const char *const names[] = {"a.yaml", "b.yaml", "link", "missing"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		unlink(at(names[i]));
	}
	return rmdir(folder);
}

static void one_file_by_two_names_is_one(void **state)
{
	const char *a = make("a.yaml"), *b = make("b.yaml");

	(void)state;
	assert_true(bt_files_are_one(a, a));
	assert_false(bt_files_are_one(a, b));
	assert_int_equal(symlink("a.yaml", at("link")), 0);
	assert_true(bt_files_are_one(a, at("link")));
	assert_int_equal(unlink(at("link")), 0);
	assert_int_equal(link(a, at("link")), 0);
	assert_true(bt_files_are_one(a, at("link")));
}

static void a_place_without_a_file_is_one_by_its_folder_and_name(void **state)
{
	(void)state;
	assert_true(bt_files_are_one(at("missing"), at("./missing")));
	assert_false(bt_files_are_one(at("missing"), at("b.yaml")));
	assert_int_equal(symlink("missing", at("link")), 0);
	assert_true(bt_files_are_one(at("missing"), at("link")));
	assert_false(bt_files_are_one("/no such folder/a", "/no such folder/a"));
}

static void dev_null_is_never_the_same_file(void **state)
{
	(void)state;
	assert_false(bt_files_are_one("/dev/null", "/dev/null"));
}

static void list(const char *path, void (*found)(void *context, const char *file), void *context)
{
	assert_string_equal(path, folder);
	found(context, at("a.yaml"));
}

static bool takes(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && strcmp(name + n - 5, ".yaml") == 0;
}

/* Checks the command line "berth simulate INPUT OPTION OUTPUT ...". */
static int check(
	const char *input, const char *option, const char *output, const char *other, const char *second)
{
	static const struct bt_files_reader reader = {list, takes};
	const char *words[ARGS_MAX] = {"berth", input, option, output, other, second};
	char *argv[ARGS_MAX];
	struct bt_invocation invocation;
	int argc = 0, status;

	for (; words[argc]; argc++) {
		argv[argc] = strdup(words[argc]);
	}
	argv[argc] = NULL;
	assert_int_equal(
		bt_invocation_parse(bt_command_find("simulate"), argc, argv, &invocation), BT_PARSE_RUN);
	status = bt_files_check(&invocation, &reader);
	bt_invocation_fini(&invocation);
	while (argc) {
		free(argv[--argc]);
	}
	return status;
}

static void an_output_that_is_an_input_is_refused(void **state)
{
	const char *a = make("a.yaml");

	(void)state;
	assert_int_equal(check(a, "--decisions", a, NULL, NULL), BT_EXIT_USAGE);
	assert_int_equal(check(a, "--decisions", at("b.yaml"), NULL, NULL), BT_EXIT_OK);
	assert_int_equal(check("/dev/null", "--decisions", "/dev/null", NULL, NULL), BT_EXIT_OK);
}

static void two_outputs_that_are_one_file_are_refused(void **state)
{
	const char *a = make("a.yaml");

	(void)state;
	assert_int_equal(check(a, "--decisions", at("missing"), "--events", at("./missing")), BT_EXIT_USAGE);
	assert_int_equal(check(a, "--decisions", at("missing"), "--events", at("link")), BT_EXIT_OK);
	assert_int_equal(check(a, "--decisions", "/dev/null", "--events", "/dev/null"), BT_EXIT_OK);
}

static void an_output_in_a_folder_that_is_read_is_refused_where_it_would_be_read(void **state)
{
	make("a.yaml");
	(void)state;
	assert_int_equal(check(folder, "--decisions", at("a.yaml"), NULL, NULL), BT_EXIT_USAGE);
	assert_int_equal(check(folder, "--decisions", at("b.yaml"), NULL, NULL), BT_EXIT_USAGE);
	assert_int_equal(check(folder, "--decisions", at("missing"), NULL, NULL), BT_EXIT_OK);
}

#define FILES_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILES_TEST(one_file_by_two_names_is_one),
		FILES_TEST(a_place_without_a_file_is_one_by_its_folder_and_name),
		FILES_TEST(dev_null_is_never_the_same_file),
		FILES_TEST(an_output_that_is_an_input_is_refused),
		FILES_TEST(two_outputs_that_are_one_file_are_refused),
		FILES_TEST(an_output_in_a_folder_that_is_read_is_refused_where_it_would_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
