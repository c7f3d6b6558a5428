/* SPDX-License-Identifier: Apache-2.0
 * Questions against kube-scheduler's answers to them: of scenarios the verdict of each pending pod, of
 * histories what each cycle did and what the queue holds after each step. Every aspect must agree.
 * Usage: test_conformance scenarios|histories QUESTIONS ANSWERS.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"

/* Returns false when the files do not hold the same questions. */
static bool compare_all(struct answers_comparison *c, struct bt_str questions, struct bt_str answers)
{
	struct bt_buf line = {0};
	bool good = true;

	while (good && questions.len && answers.len) {
		c->kind->play(answers_next_line(&questions), &line);
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

int main(int argc, char **argv)
{
	struct bt_input_file questions, answers;
	struct answers_comparison comparison;

	if (argc != 4 || (strcmp(argv[1], "scenarios") != 0 && strcmp(argv[1], "histories") != 0)) {
		fprintf(stderr, "usage: test_conformance scenarios|histories QUESTIONS ANSWERS\n");
		return 2;
	}
	struct bt_input *asked = answers_open(argv[2], &questions),
			*answered = answers_open(argv[3], &answers);
	answers_comparison_begin(
		&comparison, argv[1][0] == 's' ? &answers_of_scenarios : &answers_of_histories);
	int status = report(&comparison, compare_all(&comparison, questions.text, answers.text));
	answers_comparison_end(&comparison);
	bt_input_destroy(asked);
	bt_input_destroy(answered);
	return status;
}
