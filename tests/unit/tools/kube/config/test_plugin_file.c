/* SPDX-License-Identifier: Apache-2.0
 * Plugins from shared objects: which files are refused and why, and what a file that is loaded adds.
 * test_plugin_file PLUGIN.so LIBRARY.so
 */
#include "folder.h"

#include <unistd.h>

#include "plugins/out_of_tree.h"
#include "plugins/registry.h"
#include "tools/kube/config/plugin_file.h"

static const char *plugin;  /* the example with RackPower */
static const char *library; /* one that is no plugin */

static void expect(const char *path, enum bt_status status, const char *words)
{
	struct bt_buf error = {0};
	uint32_t before_n = bt_plugin_n();

	assert_int_equal(bt_plugin_file_load(path, &error), status);
	if (!error.len || !strstr(error.ptr, words)) {
		fail_msg("no '%s' in %s", words, error.len ? error.ptr : "an empty error");
	}
	assert_memory_equal(error.ptr, path, strlen(path));
	assert_int_equal(bt_plugin_n(), before_n);
	bt_buf_fini(&error);
}

static void copy_plugin(const char *name)
{
	FILE *from = fopen(plugin, "rb"), *to = fopen(path_of(name), "wb");
	char block[4096];

	assert_true(from && to);
	for (size_t n; (n = fread(block, 1, sizeof(block), from)) > 0;) {
		assert_int_equal(fwrite(block, 1, n, to), n);
	}
	assert_int_equal(fclose(from) | fclose(to), 0);
}

static void a_file_that_cannot_be_read_is_named(void **state)
{
	(void)state;
	expect("/nowhere.so", BT_IO, "/nowhere.so: No such file or directory");
	expect(folder, BT_IO, "Is a directory");
}

static void a_file_that_is_no_shared_object_is_refused(void **state)
{
	(void)state;
	expect(write_text("text.so", "text"), BT_INVALID, "file too short");
}

static void a_name_without_a_slash_is_a_file_here_and_no_library_of_the_system(void **state)
{
	char before[256];

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	write_text("libc.so.6", "text");
	assert_int_equal(chdir(folder), 0);
	expect("libc.so.6", BT_INVALID, "file too short");
	assert_int_equal(chdir(before), 0);
}

static void a_library_without_the_entry_is_no_plugin(void **state)
{
	(void)state;
	expect(library, BT_INVALID, "it is no plugin of berth, or of another plugin ABI; build it with");
}

static void a_plugin_is_added_once_with_its_version_and_build(void **state)
{
	struct bt_buf error = {0}, identity = {0}, again = {0};
	uint32_t before_n = bt_plugin_n();

	(void)state;
	assert_int_equal(bt_plugin_find(bt_str("RackPower")), BT_PLUGIN_NONE);
	assert_int_equal(bt_plugin_file_load(plugin, &error), BT_OK);
	uint32_t id = bt_plugin_find(bt_str("RackPower"));
	assert_int_equal(id, before_n);
	bt_out_of_tree_identity(id, &identity);
	assert_non_null(strstr(identity.ptr, "1.0"));
	assert_true(identity.len > strlen("1.0") + 16); /* and a hash */
	assert_null(strstr(identity.ptr, "0000000000000000"));
	assert_int_equal(bt_plugin_file_load(plugin, &error), BT_OK);
	assert_int_equal(bt_plugin_n(), before_n + 1);
	bt_out_of_tree_identity(id, &again);
	assert_string_equal(again.ptr, identity.ptr);
	assert_int_equal(error.len, 0);
	bt_buf_fini(&error);
	bt_buf_fini(&identity);
	bt_buf_fini(&again);
}

static void another_file_with_a_plugin_of_that_name_is_refused(void **state)
{
	(void)state;
	copy_plugin("copy.so");
	expect(path_of("copy.so"), BT_EXISTS, "plugin \"RackPower\": a plugin of that name is there already");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_cannot_be_read_is_named),
		cmocka_unit_test(a_file_that_is_no_shared_object_is_refused),
		cmocka_unit_test(a_name_without_a_slash_is_a_file_here_and_no_library_of_the_system),
		cmocka_unit_test(a_library_without_the_entry_is_no_plugin),
		cmocka_unit_test(a_plugin_is_added_once_with_its_version_and_build),
		cmocka_unit_test(another_file_with_a_plugin_of_that_name_is_refused),
	};

	if (argc != 3) {
		return 2;
	}
	plugin = argv[1];
	library = argv[2];
	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
