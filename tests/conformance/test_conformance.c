/* SPDX-License-Identifier: Apache-2.0
 * Compares answers with kube-scheduler's: for scenarios the verdict of each pending pod, for histories the
 * result of each cycle and the queue after each step. Every aspect must agree. columns: histories decided by
 * columns and state cached across cycles, without texts. Usage: test_conformance scenarios|histories|columns
 * RELEASE QUESTIONS ANSWERS.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"

/* Returns false when the files contain different questions. */
static bool compare_all(struct answers_comparison *c, const struct bt_release *release,
	struct bt_str questions, struct bt_str answers)
{
	struct bt_buf line = {0};
	bool good = true;

	while (good && questions.len && answers.len) {
		c->kind->play(release, answers_next_line(&questions), &line);
		good = answers_compare(c, answers_next_line(&answers), bt_buf_view(&line));
	}
	bt_buf_fini(&line);
	return good && questions.len == 0 && answers.len == 0;
}

static int report(const struct answers_comparison *c, bool complete)
{
	for (int a = 0; c->kind->aspect_names[a]; a++) {
		printf("%-14s %6" PRIu64 " of %6" PRIu64 " agree\n", c->kind->aspect_names[a], c->same[a],
			c->item_n);
	}
	printf("%" PRIu64 " answers, %" PRIu64 " differ, %" PRIu64 " %s%s\n", c->answer_n, c->differing_n,
		c->item_n, c->kind->item_key, complete ? "" : ", not all");
	return complete && c->item_n > 0 && c->differing_n == 0 ? 0 : 1;
}

static const struct answers_kind *kind_of(const char *name)
{
	static const struct {
		const char *name;
		const struct answers_kind *kind;
	} kinds[] = {{"scenarios", &answers_of_scenarios}, {"histories", &answers_of_histories},
		{"columns", &answers_by_columns}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) == 0) {
			return kinds[i].kind;
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct answers_kind *kind = argc == 5 ? kind_of(argv[1]) : NULL;
	struct bt_input_file questions, answers;
	struct answers_comparison comparison;

	if (!kind) {
		fprintf(stderr,
			"usage: test_conformance scenarios|histories|columns RELEASE QUESTIONS ANSWERS\n");
		return 2;
	}
	const struct bt_release *release = answers_release(argv[2]);
	struct bt_input *asked = answers_open(argv[3], &questions),
			*answered = answers_open(argv[4], &answers);
	answers_comparison_begin(&comparison, kind);
	int status = report(&comparison, compare_all(&comparison, release, questions.text, answers.text));
	answers_comparison_end(&comparison);
	bt_input_destroy(asked);
	bt_input_destroy(answered);
	return status;
}
