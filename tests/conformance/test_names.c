/* SPDX-License-Identifier: Apache-2.0
 * The numbers of names do not matter: scenarios and histories give identical output with any numbering of the
 * dictionary, and whether resources have columns or are rare ones. Usage: test_names FILE...; the name of a
 * file of histories contains "histor".
 */
#include <stdio.h>
#include <string.h>

#include "answers.h"
#include "engine/model/intern.h"
#include "engine/model/resource.h"

enum { EVERY = 8, SEEDS = 4 };

/* Prints the first difference of two answers. */
static void show(const char *path, unsigned number, uint32_t seed, struct bt_str a, struct bt_str b)
{
	size_t at = 0;

	while (at < a.len && at < b.len && a.ptr[at] == b.ptr[at]) {
		at++;
	}
	size_t from = at < 60 ? 0 : at - 60;
	printf("%s, line %u, seed %u:\n  %.*s\n  %.*s\n", path, number, seed,
		BT_STR_ARG(bt_str_sub(a, from, at + 60 < a.len ? at + 60 : a.len)),
		BT_STR_ARG(bt_str_sub(b, from, at + 60 < b.len ? at + 60 : b.len)));
}

/* Returns how many of the sampled lines give different output with different numbers. */
static unsigned check_file(const char *path, unsigned *line_n)
{
	const char *slash = strrchr(path, '/');
	void (*answer)(const struct bt_release *, struct bt_str, struct bt_buf *) =
		strstr(slash ? slash : path, "histor") ? answers_of_history : answers_of_scenario;
	struct bt_input_file file;
	struct bt_input *input = answers_open(path, &file);
	struct bt_buf usual = {0}, other = {0};
	struct bt_str rest = file.text;
	unsigned bad_n = 0;

	for (unsigned number = 1; rest.len; number++) {
		struct bt_str line = answers_next_line(&rest);

		if (number % EVERY != 1) {
			continue;
		}
		bt_intern_shuffle(0);
		bt_resource_prefill(0);
		answer(bt_release_default(), line, &usual);
		for (uint32_t seed = 1; seed <= SEEDS; seed++) {
			bt_intern_shuffle(seed);
			bt_resource_prefill(seed % 2 ? 0 : BT_FIRST_RARE - seed / 4);
			answer(bt_release_default(), line, &other);
			if (!bt_str_eq(bt_buf_view(&usual), bt_buf_view(&other))) {
				show(path, number, seed, bt_buf_view(&usual), bt_buf_view(&other));
				bad_n++;
				break;
			}
		}
		++*line_n;
	}
	bt_buf_fini(&usual);
	bt_buf_fini(&other);
	bt_input_destroy(input);
	return bad_n;
}

int main(int argc, char **argv)
{
	unsigned bad_n = 0, line_n = 0;

	for (int i = 1; i < argc; i++) {
		unsigned before = line_n;

		bad_n += check_file(argv[i], &line_n);
		if (line_n == before) {
			printf("%s: nothing to answer\n", argv[i]);
			bad_n++;
		}
	}
	printf("%u lines with %d orders of numbers, %u differ\n", line_n, SEEDS, bad_n);
	return argc > 1 && bad_n == 0 ? 0 : 1;
}
