/* SPDX-License-Identifier: Apache-2.0
 * Scenarios against the answers that kube-scheduler gave to them: every aspect of every pod's verdict must
 * agree. Usage: test_conformance SCENARIOS ANSWERS.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "engine/base/mem.h"
#include "tools/verdict/verdict.h"

enum aspect { GATED, PRE_FILTER, REJECTED, SCORES, BEST, MESSAGE, PREEMPTION, ERROR, ASPECT_N };

static const char *const aspect_names[ASPECT_N] = {
	"gated", "preFilter", "rejected", "scores", "best", "message", "preemption", "error"};

#define SHOWN_MAX 20

/* A pod's verdict, each aspect as a text that is equal for equal answers. */
struct pod_verdict {
	struct bt_str pod;
	struct bt_str aspects[ASPECT_N];
};

struct verdict {
	struct bt_str id;
	struct pod_verdict *pods;
	size_t pod_n, pod_cap;
};

/* {"plugin", "code", "reasons"} */
static struct bt_str read_refusal(struct answers_reader *r)
{
	struct bt_str plugin = {0}, code = {0}, reasons = {0}, key;
	struct bt_buf out = {0};

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		if (bt_str_is(key, "plugin")) {
			plugin = answers_text(r);
		} else if (bt_str_is(key, "code")) {
			code = answers_text(r);
		} else if (bt_str_is(key, "reasons")) {
			reasons = answers_texts(r);
		} else {
			r->failed = true;
			bt_json_skip(r->json);
		}
	}
	bt_buf_printf(&out, "%.*s %.*s: %.*s", BT_STR_ARG(plugin), BT_STR_ARG(code), BT_STR_ARG(reasons));
	return answers_keep(r, &out);
}

/* {"plugin": score, ...}; a zero is as good as no score. */
static struct bt_str read_plugins(struct answers_reader *r)
{
	struct answers_texts texts = {0};
	struct bt_str key;

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		struct bt_buf one = {0};
		int64_t score = 0;

		r->failed |= !bt_json_int64(r->json, &score);
		if (score) {
			bt_buf_printf(&one, "%.*s=%" PRId64, BT_STR_ARG(key), score);
			answers_add_text(&texts, answers_keep(r, &one));
		}
	}
	return answers_join_sorted(r, &texts, ' ');
}

static struct bt_str read_score(struct answers_reader *r)
{
	struct bt_str key, plugins = {0};
	struct bt_buf out = {0};
	int64_t total = 0;

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		if (bt_str_is(key, "total")) {
			r->failed |= !bt_json_int64(r->json, &total);
		} else if (bt_str_is(key, "plugins")) {
			plugins = read_plugins(r);
		} else {
			r->failed = true;
			bt_json_skip(r->json);
		}
	}
	bt_buf_printf(&out, "%" PRId64 ": %.*s", total, BT_STR_ARG(plugins));
	return answers_keep(r, &out);
}

/* {"node": ..., ...}, one line a node. */
static struct bt_str read_by_node(
	struct answers_reader *r, struct bt_str (*read_one)(struct answers_reader *))
{
	struct answers_texts texts = {0};
	struct bt_str key;

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		struct bt_str one = read_one(r);
		struct bt_buf line = {0};

		bt_buf_printf(&line, "%.*s %.*s", BT_STR_ARG(key), BT_STR_ARG(one));
		answers_add_text(&texts, answers_keep(r, &line));
	}
	return answers_join_sorted(r, &texts, '\n');
}

/* [{"node", "victims"}, ...], one line an outcome. */
static struct bt_str read_preemptions(struct answers_reader *r)
{
	struct answers_texts texts = {0};
	struct bt_str key;

	r->failed |= !bt_json_enter_array(r->json);
	while (bt_json_next_element(r->json)) {
		struct bt_str node = {0}, victims = {0};
		struct bt_buf line = {0};

		r->failed |= !bt_json_enter_object(r->json);
		while (bt_json_next_key(r->json, &key)) {
			if (bt_str_is(key, "node")) {
				node = answers_text(r);
			} else {
				victims = answers_texts(r);
			}
		}
		bt_buf_printf(&line, "%.*s: %.*s", BT_STR_ARG(node), BT_STR_ARG(victims));
		answers_add_text(&texts, answers_keep(r, &line));
	}
	return answers_join_sorted(r, &texts, '\n');
}

static void read_member(
	struct answers_reader *r, struct bt_str key, struct pod_verdict *pod, struct bt_str *out_narrowed)
{
	if (bt_str_is(key, "pod")) {
		pod->pod = answers_text(r);
	} else if (bt_str_is(key, "gated")) {
		pod->aspects[GATED] = read_refusal(r);
	} else if (bt_str_is(key, "preFilter")) {
		pod->aspects[PRE_FILTER] = read_refusal(r);
	} else if (bt_str_is(key, "narrowed")) {
		*out_narrowed = answers_texts(r);
	} else if (bt_str_is(key, "rejected")) {
		pod->aspects[REJECTED] = read_by_node(r, read_refusal);
	} else if (bt_str_is(key, "scores")) {
		pod->aspects[SCORES] = read_by_node(r, read_score);
	} else if (bt_str_is(key, "best")) {
		pod->aspects[BEST] = answers_texts(r);
	} else if (bt_str_is(key, "message")) {
		pod->aspects[MESSAGE] = answers_message(r);
	} else if (bt_str_is(key, "preemptions")) {
		pod->aspects[PREEMPTION] = read_preemptions(r);
	} else if (bt_str_is(key, "error")) {
		pod->aspects[ERROR] = answers_text(r);
	} else {
		r->failed |= !bt_json_skip(r->json);
	}
}

static void read_pod(struct answers_reader *r, struct verdict *verdict)
{
	struct bt_str key, narrowed = {0};
	struct bt_buf both = {0};

	verdict->pods = bt_mem_grow(verdict->pods, verdict->pod_n, &verdict->pod_cap, sizeof(*verdict->pods));
	struct pod_verdict *pod = &verdict->pods[verdict->pod_n++];
	*pod = (struct pod_verdict){0};
	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		read_member(r, key, pod, &narrowed);
	}
	bt_buf_str(&both, pod->aspects[PRE_FILTER]);
	bt_buf_str(&both, narrowed);
	pod->aspects[PRE_FILTER] = answers_keep(r, &both);
}

/* Reads one line. Owns: the verdict's texts live in the reader's arena and in the line. */
static bool read_verdict(struct answers_reader *r, struct bt_str line, struct verdict *verdict)
{
	struct bt_str key;

	bt_arena_reset(&r->arena);
	bt_json_begin(r->json, line, &r->arena);
	verdict->pod_n = 0;
	verdict->id = (struct bt_str){0};
	r->failed = !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		if (bt_str_is(key, "id")) {
			verdict->id = answers_text(r);
		} else if (bt_str_is(key, "pods") && bt_json_enter_array(r->json)) {
			while (bt_json_next_element(r->json)) {
				read_pod(r, verdict);
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
	uint64_t same[ASPECT_N], pods, scenarios;
	unsigned shown;
};

static const struct pod_verdict *find_pod(const struct verdict *verdict, struct bt_str name)
{
	for (size_t i = 0; i < verdict->pod_n; i++) {
		if (bt_str_eq(verdict->pods[i].pod, name)) {
			return &verdict->pods[i];
		}
	}
	return NULL;
}

static void show(struct run *run, const struct pod_verdict *want, const struct pod_verdict *got, int aspect)
{
	if (run->shown++ < SHOWN_MAX) {
		printf("%.*s %.*s %s\n  want %.*s\n  got  %.*s\n", BT_STR_ARG(run->want.id),
			BT_STR_ARG(want->pod), aspect_names[aspect], BT_STR_ARG(want->aspects[aspect]),
			BT_STR_ARG(got->aspects[aspect]));
	}
}

/* Of preemption the wanted lines are what was seen to be chosen among equals: any of them is right. */
static bool agree(int aspect, struct bt_str want, struct bt_str got)
{
	struct bt_str rest = want;

	if (aspect != PREEMPTION || want.len == 0 || got.len == 0) {
		return bt_str_eq(want, got);
	}
	struct bt_str chosen = answers_next_line(&got);
	while (rest.len) {
		if (bt_str_eq(answers_next_line(&rest), chosen)) {
			return true;
		}
	}
	return false;
}

static void compare(struct run *run)
{
	static const struct pod_verdict nothing = {.aspects[ERROR] = BT_STR("no verdict")};

	run->scenarios++;
	for (size_t i = 0; i < run->want.pod_n; i++) {
		const struct pod_verdict *want = &run->want.pods[i], *got = find_pod(&run->got, want->pod);

		got = got ? got : &nothing;
		run->pods++;
		for (int a = 0; a < ASPECT_N; a++) {
			if (agree(a, want->aspects[a], got->aspects[a])) {
				run->same[a]++;
			} else {
				show(run, want, got, a);
			}
		}
	}
}

/* Returns false when the files do not hold the same scenarios. */
static bool compare_all(struct run *run, struct bt_str scenarios, struct bt_str verdicts)
{
	struct bt_buf line = {0};
	bool good = true;

	while (good && scenarios.len && verdicts.len) {
		answers_of_scenario(answers_next_line(&scenarios), &line);
		good = read_verdict(&run->want_reader, answers_next_line(&verdicts), &run->want) &&
		       read_verdict(&run->got_reader, bt_buf_view(&line), &run->got) &&
		       bt_str_eq(run->want.id, run->got.id);
		if (good) {
			compare(run);
		} else {
			printf("after %.*s: no verdict that can be read, or one of another scenario\n",
				BT_STR_ARG(run->want.id));
		}
	}
	bt_buf_fini(&line);
	return good && scenarios.len == 0 && verdicts.len == 0;
}

static int report(const struct run *run, bool complete)
{
	bool all = complete && run->pods > 0;

	for (int a = 0; a < ASPECT_N; a++) {
		printf("%-14s %6" PRIu64 " of %6" PRIu64 " agree  %6.2f %%\n", aspect_names[a], run->same[a],
			run->pods, run->pods ? 100.0 * (double)run->same[a] / (double)run->pods : 0.0);
		all &= run->same[a] == run->pods;
	}
	printf("%" PRIu64 " scenarios, %" PRIu64 " pods%s\n", run->scenarios, run->pods,
		complete ? "" : ", not all");
	return all ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct bt_input_file scenarios, verdicts;
	struct run run = {0};

	if (argc != 3) {
		fprintf(stderr, "usage: test_conformance SCENARIOS ANSWERS\n");
		return 2;
	}
	struct bt_input *asked = answers_open(argv[1], &scenarios);
	struct bt_input *answered = answers_open(argv[2], &verdicts);
	run.want_reader.json = bt_json_create();
	run.got_reader.json = bt_json_create();
	int status = report(&run, compare_all(&run, scenarios.text, verdicts.text));
	bt_json_destroy(run.want_reader.json);
	bt_json_destroy(run.got_reader.json);
	bt_arena_fini(&run.want_reader.arena);
	bt_arena_fini(&run.got_reader.arena);
	bt_mem_free(run.want.pods);
	bt_mem_free(run.got.pods);
	bt_input_destroy(asked);
	bt_input_destroy(answered);
	return status;
}
