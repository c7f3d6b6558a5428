/* SPDX-License-Identifier: Apache-2.0
 * Replacing files atomically: their content before and after, and on failure.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <dirent.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/mem.h"
#include "tools/cli/replace.h"

static char folder[] = BT_BINARY_DIR "/replace.XXXXXX";
static int before; /* the working directory at the start */

/* Each test has an empty folder as its working directory. */
static int setup(void **state)
{
	(void)state;
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	before = open(".", O_RDONLY | O_DIRECTORY);
	return before >= 0 && mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

/* The number of entries of the folder; removed: deletes them. */
static int entries(bool removed)
{
	DIR *dir = opendir(".");
	int n = 0;

	for (struct dirent *entry; (entry = readdir(dir));) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			n++;
			if (removed) {
				unlink(entry->d_name);
			}
		}
	}
	closedir(dir);
	return n;
}

static int teardown(void **state)
{
	(void)state;
	entries(true);
	assert_int_equal(fchdir(before), 0);
	close(before);
	return rmdir(folder);
}

static void put(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static void assert_content(const char *path, const char *wanted)
{
	char text[64];
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text, wanted);
}

static struct bt_replacement begin_writing(const char *path, bool in_place)
{
	struct bt_replacement made;

	assert_int_equal(bt_replacement_begin(path, in_place, &made), 0);
	assert_int_equal(write(made.fd, "new", 3), 3);
	close(made.fd);
	return made;
}

static void the_old_file_is_there_until_the_new_one_is_complete(void **state)
{
	struct stat about;

	(void)state;
	put("a", "old", 0640);
	struct bt_replacement made = begin_writing("a", false);
	assert_content("a", "old");
	assert_int_equal(bt_replacement_commit(&made), 0);
	assert_content("a", "new");
	assert_int_equal(entries(false), 1);
	assert_int_equal(stat("a", &about), 0);
	assert_int_equal(about.st_mode & 0777, 0640);
}

static void dropped_entries_free_their_memory(void **state)
{
	(void)state;
	put("a", "old", 0600);
	struct bt_replacement made = begin_writing("a", false);
	assert_int_equal(entries(false), 2);
	bt_replacement_drop(&made);
	assert_content("a", "old");
	assert_int_equal(entries(false), 1);
	made = begin_writing("b", false);
	bt_replacement_drop(&made);
	assert_int_equal(entries(false), 1);
}

static void a_signal_removes_every_unfinished_file(void **state)
{
	(void)state;
	struct bt_replacement one = begin_writing("a", false), two = begin_writing("b", false);
	assert_int_equal(entries(false), 2);
	bt_replacements_remove();
	assert_int_equal(entries(false), 0);
	bt_replacement_drop(&one);
	assert_int_equal(bt_replacement_commit(&two), ENOENT);
	put("c", "other", 0600);
	bt_replacements_remove(); /* no unfinished file is left */
	assert_content("c", "other");
}

static void a_link_stays_and_its_target_is_replaced(void **state)
{
	struct stat about;

	(void)state;
	put("target", "old", 0600);
	assert_int_equal(symlink("target", "middle"), 0);
	assert_int_equal(symlink("./middle", "link"), 0);
	struct bt_replacement made = begin_writing("link", false);
	assert_int_equal(bt_replacement_commit(&made), 0);
	assert_content("target", "new");
	assert_int_equal(lstat("link", &about), 0);
	assert_true(S_ISLNK(about.st_mode));
}

static void links_that_lead_to_nothing_name_the_new_file_and_a_circle_is_an_error(void **state)
{
	struct bt_replacement made;

	(void)state;
	assert_int_equal(symlink("/nowhere/at-all", "away"), 0);
	char *path = bt_path_behind_links("./away");
	assert_string_equal(path, "/nowhere/at-all");
	bt_mem_free(path);
	assert_int_equal(symlink("round", "circle"), 0);
	assert_int_equal(symlink("circle", "round"), 0);
	assert_null(bt_path_behind_links("circle"));
	assert_int_equal(errno, ELOOP);
	assert_int_equal(bt_replacement_begin("circle", false, &made), ELOOP);
}

static void in_place_the_file_is_emptied_and_stays_the_same(void **state)
{
	struct stat old, now;

	(void)state;
	put("a", "older", 0600);
	assert_int_equal(stat("a", &old), 0);
	struct bt_replacement made = begin_writing("a", true);
	assert_content("a", "new");
	assert_int_equal(entries(false), 1);
	assert_int_equal(bt_replacement_commit(&made), 0);
	assert_int_equal(stat("a", &now), 0);
	assert_int_equal(old.st_ino, now.st_ino);
	made = begin_writing("b", true); /* a new file, too, has its name at once */
	assert_content("b", "new");
	assert_int_equal(bt_replacement_commit(&made), 0);
}

static void a_folder_that_is_missing_is_an_error(void **state)
{
	struct bt_replacement made;

	(void)state;
	assert_int_equal(bt_replacement_begin("missing/a", false, &made), ENOENT);
	assert_int_equal(bt_replacement_begin("missing/a", true, &made), ENOENT);
}

static void more_files_than_slots_are_refused_until_one_ends(void **state)
{
	struct bt_replacement made[64];
	char name[16];
	int n = 0, error = 0;

	(void)state;
	for (; n < 64 && !error; n++) {
		snprintf(name, sizeof(name), "f%d", n);
		error = bt_replacement_begin(name, false, &made[n]);
		if (!error) {
			close(made[n].fd);
		}
	}
	assert_int_equal(error, EMFILE);
	n--; /* the last one was rejected */
	bt_replacement_drop(&made[--n]);
	made[n++] = begin_writing("again", false);
	while (n > 0) {
		bt_replacement_drop(&made[--n]);
	}
	assert_int_equal(entries(false), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_old_file_is_there_until_the_new_one_is_complete),
		TEST(dropped_entries_free_their_memory),
		TEST(a_signal_removes_every_unfinished_file),
		TEST(a_link_stays_and_its_target_is_replaced),
		TEST(links_that_lead_to_nothing_name_the_new_file_and_a_circle_is_an_error),
		TEST(in_place_the_file_is_emptied_and_stays_the_same),
		TEST(a_folder_that_is_missing_is_an_error),
		TEST(more_files_than_slots_are_refused_until_one_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
