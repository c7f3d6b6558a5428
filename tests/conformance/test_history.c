/* SPDX-License-Identifier: Apache-2.0
 * Histories against the answers of kube-scheduler's own queue: after every step the same pods
 * wait in the same places, for the same plugins and as long, and every cycle ended as it did there.
 * Usage: test_history HISTORIES ANSWERS.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "answers.h"
#include "engine/base/mem.h"
#include "tools/verdict/history.h"

enum aspect {
	POPPED,
	RESULT,
	MESSAGE,
	NOMINATED,
	EVICTED,
	GROUP,
	ACTIVE,
	BACKOFF,
	UNSCHEDULABLE,
	GATED,
	IN_FLIGHT,
	NOMINATIONS,
	ASPECT_N
};

static const char *const aspect_names[ASPECT_N] = {"popped", "result", "message", "nominated", "evicted",
	"group", "active", "backoff", "unschedulable", "gated", "inFlight", "nominations"};

#define SHOWN_MAX 20

/* What is known after a step, each aspect as a text that is equal for equal answers. */
struct step {
	struct bt_str aspects[ASPECT_N];
};

struct verdict {
	struct bt_str id;
	struct step *steps;
	size_t step_n, step_cap;
};

/* An array as it is ordered. */
static struct bt_str read_ordered(struct answers_reader *r)
{
	struct bt_buf out = {0};

	r->failed |= !bt_json_enter_array(r->json);
	while (bt_json_next_element(r->json)) {
		bt_buf_str(&out, answers_text(r));
		bt_buf_char(&out, ' ');
	}
	return answers_keep(r, &out);
}

/* {"pod", "left", "error"?}: a line with milliseconds. */
static void read_backoff(struct answers_reader *r, struct bt_buf *out)
{
	struct bt_str pod = {0}, left = {0}, key;
	char digits[32];
	bool error = false;

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		if (bt_str_is(key, "pod")) {
			pod = answers_text(r);
		} else if (bt_str_is(key, "left")) {
			r->failed |= !bt_json_number(r->json, &left);
		} else {
			r->failed |= !bt_str_is(key, "error") || !bt_json_bool(r->json, &error);
		}
	}
	snprintf(digits, sizeof(digits), "%.*s", BT_STR_ARG(left));
	bt_buf_printf(out, "%.*s %lld ms%s, ", BT_STR_ARG(pod), llround(strtod(digits, NULL) * 1000),
		error ? " after an error" : "");
}

static struct bt_str read_backoffs(struct answers_reader *r)
{
	struct bt_buf out = {0};

	r->failed |= !bt_json_enter_array(r->json);
	while (bt_json_next_element(r->json)) {
		read_backoff(r, &out);
	}
	return answers_keep(r, &out);
}

/* [{"pod", "plugins"}, ...] */
static struct bt_str read_held(struct answers_reader *r)
{
	struct answers_texts texts = {0};
	struct bt_str key;

	r->failed |= !bt_json_enter_array(r->json);
	while (bt_json_next_element(r->json)) {
		struct bt_str pod = {0}, plugins = {0};
		struct bt_buf one = {0};

		r->failed |= !bt_json_enter_object(r->json);
		while (bt_json_next_key(r->json, &key)) {
			*(bt_str_is(key, "pod") ? &pod : &plugins) =
				bt_str_is(key, "pod") ? answers_text(r) : answers_texts(r);
		}
		bt_buf_printf(&one, "%.*s: %.*s", BT_STR_ARG(pod), BT_STR_ARG(plugins));
		answers_add_text(&texts, answers_keep(r, &one));
	}
	return answers_join_sorted(r, &texts, ' ');
}

/* {"pod": "node", ...} */
static struct bt_str read_nominations(struct answers_reader *r)
{
	struct answers_texts texts = {0};
	struct bt_str key;

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		struct bt_buf one = {0};

		bt_buf_printf(&one, "%.*s: ", BT_STR_ARG(key));
		bt_buf_str(&one, answers_text(r));
		answers_add_text(&texts, answers_keep(r, &one));
	}
	return answers_join_sorted(r, &texts, ' ');
}

static struct bt_str read_result(struct answers_reader *r)
{
	return bt_json_peek(r->json) == BT_JSON_NULL && bt_json_null(r->json) ? bt_str("refused")
									      : answers_text(r);
}

/* [{"pod", "result", "message"?, "nominated"?}, ...]: the pods of a group in the order of deciding. */
static struct bt_str read_group(struct answers_reader *r)
{
	struct bt_buf out = {0};
	struct bt_str key;

	r->failed |= !bt_json_enter_array(r->json);
	while (bt_json_next_element(r->json)) {
		struct bt_str pod = {0}, result = {0}, message = {0}, nominated = {0};

		r->failed |= !bt_json_enter_object(r->json);
		while (bt_json_next_key(r->json, &key)) {
			if (bt_str_is(key, "pod")) {
				pod = answers_text(r);
			} else if (bt_str_is(key, "result")) {
				result = read_result(r);
			} else if (bt_str_is(key, "message")) {
				message = answers_message(r);
			} else {
				r->failed |= !bt_str_is(key, "nominated");
				nominated = answers_text(r);
			}
		}
		bt_buf_printf(&out, "%.*s: %.*s [%.*s] {%.*s}; ", BT_STR_ARG(pod), BT_STR_ARG(result),
			BT_STR_ARG(nominated), BT_STR_ARG(message));
	}
	return answers_keep(r, &out);
}

/* "empty", "skipped" and "missing" are said when they are true. */
static struct bt_str read_remark(struct answers_reader *r, struct bt_str before, struct bt_str key)
{
	struct bt_buf out = {0};
	bool yes = false;

	r->failed |= !bt_json_bool(r->json, &yes) || !yes;
	bt_buf_printf(&out, "%.*s (%.*s)", BT_STR_ARG(before), BT_STR_ARG(key));
	return answers_keep(r, &out);
}

static const struct {
	const char *key;
	enum aspect aspect;
	struct bt_str (*read)(struct answers_reader *);
} members[] = {
	{"popped", POPPED, answers_text},
	{"result", RESULT, read_result},
	{"message", MESSAGE, answers_message},
	{"nominated", NOMINATED, answers_text},
	{"evicted", EVICTED, answers_texts},
	{"group", GROUP, read_group},
	{"active", ACTIVE, read_ordered},
	{"backoff", BACKOFF, read_backoffs},
	{"unschedulable", UNSCHEDULABLE, read_held},
	{"gated", GATED, read_held},
	{"inFlight", IN_FLIGHT, answers_texts},
	{"nominations", NOMINATIONS, read_nominations},
};

static void read_member(struct answers_reader *r, struct bt_str key, struct step *step)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (bt_str_is(key, members[i].key)) {
			step->aspects[members[i].aspect] = members[i].read(r);
			return;
		}
	}
	if (bt_str_is(key, "empty") || bt_str_is(key, "skipped") || bt_str_is(key, "missing")) {
		step->aspects[POPPED] = read_remark(r, step->aspects[POPPED], key);
	} else {
		r->failed = true;
		bt_json_skip(r->json);
	}
}

static void read_step(struct answers_reader *r, struct verdict *verdict)
{
	struct bt_str key;

	verdict->steps =
		bt_mem_grow(verdict->steps, verdict->step_n, &verdict->step_cap, sizeof(*verdict->steps));
	struct step *step = &verdict->steps[verdict->step_n++];
	*step = (struct step){0};
	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		read_member(r, key, step);
	}
}

/* Reads one line. Owns: the verdict's texts live in the reader's arena and in the line. */
static bool read_verdict(struct answers_reader *r, struct bt_str line, struct verdict *verdict)
{
	struct bt_str key;

	bt_arena_reset(&r->arena);
	bt_json_begin(r->json, line, &r->arena);
	verdict->step_n = 0;
	verdict->id = (struct bt_str){0};
	r->failed = !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		if (bt_str_is(key, "id")) {
			verdict->id = answers_text(r);
		} else if (bt_str_is(key, "steps") && bt_json_enter_array(r->json)) {
			while (bt_json_next_element(r->json)) {
				read_step(r, verdict);
			}
		} else {
			r->failed |= !bt_json_skip(r->json);
		}
	}
	return !r->failed && bt_json_error(r->json)->status == BT_OK;
}

struct run {
	struct answers_reader want_reader, got_reader;
	struct verdict want, got;
	uint64_t same[ASPECT_N], steps, histories;
	unsigned shown;
};

/* Compares one history. Only its first differences are shown: others follow from them. */
static void compare(struct run *run)
{
	static const struct step nothing = {.aspects[RESULT] = BT_STR("no answer")};
	bool differs = false;

	run->histories++;
	for (size_t i = 0; i < run->want.step_n; i++) {
		const struct step *want = &run->want.steps[i],
				  *got = i < run->got.step_n ? &run->got.steps[i] : &nothing;
		bool show = !differs && run->shown < SHOWN_MAX;

		run->steps++;
		for (int a = 0; a < ASPECT_N; a++) {
			if (bt_str_eq(want->aspects[a], got->aspects[a])) {
				run->same[a]++;
				continue;
			}
			differs = true;
			if (show) {
				run->shown++;
				printf("%.*s step %zu %s\n  want %.*s\n  got  %.*s\n",
					BT_STR_ARG(run->want.id), i, aspect_names[a],
					BT_STR_ARG(want->aspects[a]), BT_STR_ARG(got->aspects[a]));
			}
		}
	}
}

/* Returns false when the files do not hold the same histories. */
static bool compare_all(struct run *run, struct bt_str histories, struct bt_str verdicts)
{
	struct bt_buf line = {0};
	bool good = true;

	while (good && histories.len && verdicts.len) {
		answers_of_history(answers_next_line(&histories), &line);
		good = read_verdict(&run->want_reader, answers_next_line(&verdicts), &run->want) &&
		       read_verdict(&run->got_reader, bt_buf_view(&line), &run->got) &&
		       bt_str_eq(run->want.id, run->got.id) && run->want.step_n == run->got.step_n;
		if (good) {
			compare(run);
		} else {
			printf("after %.*s: no answer that can be read, or one to another history\n",
				BT_STR_ARG(run->want.id));
		}
	}
	bt_buf_fini(&line);
	return good && histories.len == 0 && verdicts.len == 0;
}

static int report(const struct run *run, bool complete)
{
	bool all = complete && run->steps > 0;

	for (int a = 0; a < ASPECT_N; a++) {
		printf("%-14s %6" PRIu64 " of %6" PRIu64 " agree\n", aspect_names[a], run->same[a],
			run->steps);
		all &= run->same[a] == run->steps;
	}
	printf("%" PRIu64 " histories, %" PRIu64 " steps%s\n", run->histories, run->steps,
		complete ? "" : ", not all");
	return all ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct bt_input_file histories, verdicts;
	struct run run = {0};

	if (argc != 3) {
		fprintf(stderr, "usage: test_history HISTORIES ANSWERS\n");
		return 2;
	}
	struct bt_input *asked = answers_open(argv[1], &histories);
	struct bt_input *answered = answers_open(argv[2], &verdicts);
	run.want_reader.json = bt_json_create();
	run.got_reader.json = bt_json_create();
	int status = report(&run, compare_all(&run, histories.text, verdicts.text));
	bt_json_destroy(run.want_reader.json);
	bt_json_destroy(run.got_reader.json);
	bt_arena_fini(&run.want_reader.arena);
	bt_arena_fini(&run.got_reader.arena);
	bt_mem_free(run.want.steps);
	bt_mem_free(run.got.steps);
	bt_input_destroy(asked);
	bt_input_destroy(answered);
	return status;
}
