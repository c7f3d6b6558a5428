/* SPDX-License-Identifier: Apache-2.0
 * Scenarios of one profile against the answers that kube-scheduler gave to them: every aspect of every pod's
 * verdict must agree. Usage: test_conformance FOLDER PROFILE.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/mem.h"
#include "tools/codec/input.h"
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

struct texts {
	struct bt_str *items;
	size_t n, cap;
};

struct reader {
	struct bt_json *json;
	struct bt_arena arena;
	bool failed;
};

static struct bt_str keep(struct reader *r, struct bt_buf *buf)
{
	struct bt_str kept = {bt_arena_copy(&r->arena, buf->ptr ? buf->ptr : "", buf->len), buf->len};

	bt_buf_fini(buf);
	return kept;
}

static void add_text(struct texts *texts, struct bt_str text)
{
	texts->items = bt_mem_grow(texts->items, texts->n, &texts->cap, sizeof(*texts->items));
	texts->items[texts->n++] = text;
}

static int by_text(const void *a, const void *b)
{
	return bt_str_cmp(*(const struct bt_str *)a, *(const struct bt_str *)b);
}

/* The texts in byte order, one behind the other. */
static struct bt_str join_sorted(struct reader *r, struct texts *texts, char between)
{
	struct bt_buf out = {0};

	if (texts->n) {
		qsort(texts->items, texts->n, sizeof(*texts->items), by_text);
	}
	for (size_t i = 0; i < texts->n; i++) {
		bt_buf_str(&out, texts->items[i]);
		bt_buf_char(&out, between);
	}
	bt_mem_free(texts->items);
	*texts = (struct texts){0};
	return keep(r, &out);
}

static struct bt_str read_text(struct reader *r)
{
	struct bt_str text = {0};

	r->failed |= !bt_json_string(r->json, &text);
	return text;
}

static struct bt_str read_texts(struct reader *r)
{
	struct texts texts = {0};

	r->failed |= !bt_json_enter_array(r->json);
	while (bt_json_next_element(r->json)) {
		add_text(&texts, read_text(r));
	}
	return join_sorted(r, &texts, ';');
}

/* {"plugin", "code", "reasons"} */
static struct bt_str read_refusal(struct reader *r)
{
	struct bt_str plugin = {0}, code = {0}, reasons = {0}, key;
	struct bt_buf out = {0};

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		if (bt_str_is(key, "plugin")) {
			plugin = read_text(r);
		} else if (bt_str_is(key, "code")) {
			code = read_text(r);
		} else if (bt_str_is(key, "reasons")) {
			reasons = read_texts(r);
		} else {
			r->failed = true;
			bt_json_skip(r->json);
		}
	}
	bt_buf_printf(&out, "%.*s %.*s: %.*s", BT_STR_ARG(plugin), BT_STR_ARG(code), BT_STR_ARG(reasons));
	return keep(r, &out);
}

/* {"plugin": score, ...}; a zero is as good as no score. */
static struct bt_str read_plugins(struct reader *r)
{
	struct texts texts = {0};
	struct bt_str key;

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		struct bt_buf one = {0};
		int64_t score = 0;

		r->failed |= !bt_json_int64(r->json, &score);
		if (score) {
			bt_buf_printf(&one, "%.*s=%" PRId64, BT_STR_ARG(key), score);
			add_text(&texts, keep(r, &one));
		}
	}
	return join_sorted(r, &texts, ' ');
}

static struct bt_str read_score(struct reader *r)
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
	return keep(r, &out);
}

/* {"node": ..., ...}, one line a node. */
static struct bt_str read_by_node(struct reader *r, struct bt_str (*read_one)(struct reader *))
{
	struct texts texts = {0};
	struct bt_str key;

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		struct bt_str one = read_one(r);
		struct bt_buf line = {0};

		bt_buf_printf(&line, "%.*s %.*s", BT_STR_ARG(key), BT_STR_ARG(one));
		add_text(&texts, keep(r, &line));
	}
	return join_sorted(r, &texts, '\n');
}

/* [{"node", "victims"}, ...], one line an outcome. */
static struct bt_str read_preemptions(struct reader *r)
{
	struct texts texts = {0};
	struct bt_str key;

	r->failed |= !bt_json_enter_array(r->json);
	while (bt_json_next_element(r->json)) {
		struct bt_str node = {0}, victims = {0};
		struct bt_buf line = {0};

		r->failed |= !bt_json_enter_object(r->json);
		while (bt_json_next_key(r->json, &key)) {
			if (bt_str_is(key, "node")) {
				node = read_text(r);
			} else {
				victims = read_texts(r);
			}
		}
		bt_buf_printf(&line, "%.*s: %.*s", BT_STR_ARG(node), BT_STR_ARG(victims));
		add_text(&texts, keep(r, &line));
	}
	return join_sorted(r, &texts, '\n');
}

/* Preemption's errors on several nodes come in any order: "... preemption: [running x, running y]". */
static struct bt_str read_message(struct reader *r)
{
	static const char opening[] = "preemption: [running ", between[] = ", running ";
	struct bt_str text = read_text(r);
	const char *found = text.len ? memmem(text.ptr, text.len, opening, sizeof(opening) - 1) : NULL;
	struct texts errors = {0};
	struct bt_buf out = {0};

	if (!found) {
		return text;
	}
	const char *at = found + sizeof(opening) - 1, *end = text.ptr + text.len - 1;
	while (at < end) {
		const char *next = memmem(at, (size_t)(end - at), between, sizeof(between) - 1);

		next = next ? next : end;
		add_text(&errors, (struct bt_str){at, (size_t)(next - at)});
		at = next + sizeof(between) - 1;
	}
	bt_buf_str(&out, (struct bt_str){text.ptr, (size_t)(found - text.ptr)});
	bt_buf_text(&out, opening);
	bt_buf_str(&out, join_sorted(r, &errors, ';'));
	return keep(r, &out);
}

static void read_member(
	struct reader *r, struct bt_str key, struct pod_verdict *pod, struct bt_str *out_narrowed)
{
	if (bt_str_is(key, "pod")) {
		pod->pod = read_text(r);
	} else if (bt_str_is(key, "gated")) {
		pod->aspects[GATED] = read_refusal(r);
	} else if (bt_str_is(key, "preFilter")) {
		pod->aspects[PRE_FILTER] = read_refusal(r);
	} else if (bt_str_is(key, "narrowed")) {
		*out_narrowed = read_texts(r);
	} else if (bt_str_is(key, "rejected")) {
		pod->aspects[REJECTED] = read_by_node(r, read_refusal);
	} else if (bt_str_is(key, "scores")) {
		pod->aspects[SCORES] = read_by_node(r, read_score);
	} else if (bt_str_is(key, "best")) {
		pod->aspects[BEST] = read_texts(r);
	} else if (bt_str_is(key, "message")) {
		pod->aspects[MESSAGE] = read_message(r);
	} else if (bt_str_is(key, "preemptions")) {
		pod->aspects[PREEMPTION] = read_preemptions(r);
	} else if (bt_str_is(key, "error")) {
		pod->aspects[ERROR] = read_text(r);
	} else {
		r->failed |= !bt_json_skip(r->json);
	}
}

static void read_pod(struct reader *r, struct verdict *verdict)
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
	pod->aspects[PRE_FILTER] = keep(r, &both);
}

/* Reads one line. Owns: the verdict's texts live in the reader's arena and in the line. */
static bool read_verdict(struct reader *r, struct bt_str line, struct verdict *verdict)
{
	struct bt_str key;

	bt_arena_reset(&r->arena);
	bt_json_begin(r->json, line, &r->arena);
	verdict->pod_n = 0;
	verdict->id = (struct bt_str){0};
	r->failed = !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		if (bt_str_is(key, "id")) {
			verdict->id = read_text(r);
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
	struct reader want_reader, got_reader;
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

static struct bt_str next_line(struct bt_str *rest)
{
	size_t end = bt_str_find(*rest, '\n', 0);
	struct bt_str line = bt_str_sub(*rest, 0, end);

	*rest = bt_str_sub(*rest, end + (end < rest->len), rest->len);
	return line;
}

/* Of preemption the wanted lines are what was seen to be chosen among equals: any of them is right. */
static bool agree(int aspect, struct bt_str want, struct bt_str got)
{
	struct bt_str rest = want;

	if (aspect != PREEMPTION || want.len == 0 || got.len == 0) {
		return bt_str_eq(want, got);
	}
	struct bt_str chosen = next_line(&got);
	while (rest.len) {
		if (bt_str_eq(next_line(&rest), chosen)) {
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

static void answer(struct bt_str line, struct bt_buf *out)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_buf error = {0};
	struct bt_scenario scenario;
	struct bt_scenario_cluster cluster;

	bt_buf_clear(out);
	bt_json_begin(json, line, &arena);
	if (!bt_scenario_read(json, &arena, &scenario, &error)) {
		printf("a scenario does not read: %s\n", error.ptr);
	} else if (bt_scenario_open(&scenario, 1, &cluster, &error) == BT_OK) {
		bt_verdict_write(&scenario, &cluster, out);
		bt_scenario_close(&cluster);
	} else {
		bt_verdict_write_error(&scenario, bt_buf_view(&error), out);
	}
	bt_buf_fini(&error);
	bt_arena_fini(&arena);
	bt_json_destroy(json);
}

/* Returns false when the files do not hold the same scenarios. */
static bool compare_all(struct run *run, struct bt_str scenarios, struct bt_str verdicts)
{
	struct bt_buf line = {0};
	bool good = true;

	while (good && scenarios.len && verdicts.len) {
		answer(next_line(&scenarios), &line);
		good = read_verdict(&run->want_reader, next_line(&verdicts), &run->want) &&
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

static void complain(void *context, const struct bt_diagnosis *diagnosis)
{
	struct bt_buf text = {0};

	(void)context;
	bt_diagnosis_text(diagnosis, &text);
	fprintf(stderr, "%s\n", text.ptr);
	bt_buf_fini(&text);
}

static struct bt_input *open_file(
	const char *folder, const char *profile, const char *kind, struct bt_input_file *out)
{
	struct bt_input *input = bt_input_create(complain, NULL);
	struct bt_buf path = {0};

	bt_buf_printf(&path, "%s/%s.%s.jsonl.zst", folder, profile, kind);
	bt_input_add(input, path.ptr);
	*out = (struct bt_input_file){0};
	if (!bt_input_next(input, out)) {
		printf("%s: nothing in it\n", path.ptr);
	}
	bt_buf_fini(&path);
	return input;
}

int main(int argc, char **argv)
{
	struct bt_input_file scenarios, verdicts;
	struct run run = {0};

	if (argc != 3) {
		fprintf(stderr, "usage: test_conformance FOLDER PROFILE\n");
		return 2;
	}
	struct bt_input *asked = open_file(argv[1], argv[2], "scenarios", &scenarios);
	struct bt_input *answered = open_file(argv[1], argv[2], "verdicts", &verdicts);
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
