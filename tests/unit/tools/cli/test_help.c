/* SPDX-License-Identifier: Apache-2.0
 * Help and man pages contain all entries of the tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tools/cli/help.h"

static void help_of_each_command_names_every_visible_option(void **state)
{
	(void)state;
	for (const struct bt_command *command = bt_commands; command->name; command++) {
		struct bt_buf help = {0};
		const struct bt_option *option;

		bt_help_command(command, false, &help);
		for (size_t ix = 0; (option = bt_command_option(command, ix)); ix++) {
			char name[64];

			snprintf(name, sizeof(name), "--%s", option->name);
			assert_int_equal(strstr(help.ptr, name) != NULL, !option->hidden);
		}
		bt_buf_fini(&help);
	}
}

static void help_lines_fit_the_width(void **state)
{
	(void)state;
	for (const struct bt_command *command = bt_commands; command->name; command++) {
		struct bt_buf help = {0};

		bt_help_command(command, false, &help);
		for (const char *line = help.ptr; *line;) {
			size_t n = strcspn(line, "\n");

			assert_true(n <= 96);
			assert_true(n == 0 || line[n - 1] != ' ');
			line += n + 1;
		}
		bt_buf_fini(&help);
	}
}

static void the_overview_lists_every_command(void **state)
{
	struct bt_buf help = {0};

	(void)state;
	bt_help_overview(false, &help);
	for (const struct bt_command *command = bt_commands; command->name; command++) {
		assert_non_null(strstr(help.ptr, command->name));
		assert_non_null(strstr(help.ptr, command->summary));
	}
	assert_null(strchr(help.ptr, '\033'));
	bt_buf_fini(&help);
}

static void man_pages_have_their_sections_and_no_stray_request(void **state)
{
	static const char *const known[] = {".TH ", ".SH ", ".TP", ".BR ", ".br"};

	(void)state;
	for (const struct bt_command *command = bt_commands; command->name; command++) {
		struct bt_buf page = {0};

		bt_help_man(command, "1.0", &page);
		assert_true(bt_str_starts(bt_buf_view(&page), ".TH BERTH"));
		assert_non_null(strstr(page.ptr, ".SH EXIT STATUS\n"));
		for (const char *line = page.ptr; *line; line += strcspn(line, "\n") + 1) {
			bool good = *line != '.' && *line != '\'' && *line != '\n';

			for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
				good = good || strncmp(line, known[i], strlen(known[i])) == 0;
			}
			assert_true(good);
		}
		bt_buf_fini(&page);
	}
}

static void option_defaults_are_valid(void **state)
{
	(void)state;
	for (const struct bt_command *command = bt_commands; command->name; command++) {
		const struct bt_option *option;

		for (size_t ix = 0; (option = bt_command_option(command, ix)); ix++) {
			assert_int_equal(option->argument == NULL, option->type == BT_OPTION_FLAG);
			assert_true(option->hidden || *option->help);
			assert_true(!option->refused || option->hidden);
			assert_int_equal(option->choices != NULL, option->type == BT_OPTION_CHOICE);
			assert_true(option->type != BT_OPTION_NUMBER || option->max > option->min);
			if (option->default_value && option->choices) {
				assert_non_null(strstr(option->choices, option->default_value));
			}
		}
	}
}

static const char *word(const void *context, size_t ix)
{
	(void)context;
	static const char *const words[] = {"basic", "everyday"};

	return ix < 2 ? words[ix] : NULL;
}

static void a_mistyped_name_is_guessed(void **state)
{
	const struct bt_command *simulate = bt_command_find("simulate");

	(void)state;
	assert_string_equal(bt_command_suggest("simluate"), "simulate");
	assert_string_equal(bt_command_suggest("gen"), "generate");
	assert_null(bt_command_suggest("zzzzzz"));
	assert_string_equal(bt_name_suggest("everydy", word, NULL), "everyday");
	assert_null(bt_name_suggest("zzzzzz", word, NULL));
	assert_string_equal(bt_option_suggest(simulate, "decision"), "decisions");
	assert_string_equal(bt_option_suggest(simulate, "object"), "objects");
	assert_null(bt_option_suggest(simulate, "a-name-that-is-much-longer-than-any-option-of-ours"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_of_each_command_names_every_visible_option),
		cmocka_unit_test(help_lines_fit_the_width),
		cmocka_unit_test(the_overview_lists_every_command),
		cmocka_unit_test(man_pages_have_their_sections_and_no_stray_request),
		cmocka_unit_test(option_defaults_are_valid),
		cmocka_unit_test(a_mistyped_name_is_guessed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
