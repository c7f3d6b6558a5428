/* SPDX-License-Identifier: Apache-2.0
 * Parses answers.
 */
#include "answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/mem.h"
#include "tools/offline/verdict/history.h"
#include "tools/offline/verdict/verdict.h"

struct bt_str answers_keep(struct answers_reader *r, struct bt_buf *buf)
{
	struct bt_str kept = {bt_arena_copy(&r->arena, buf->ptr ? buf->ptr : "", buf->len), buf->len};

	bt_buf_fini(buf);
	return kept;
}

void answers_add_text(struct answers_texts *texts, struct bt_str text)
{
	texts->items = bt_mem_grow(texts->items, texts->n, &texts->cap, sizeof(*texts->items));
	texts->items[texts->n++] = text;
}

static int by_text(const void *a, const void *b)
{
	return bt_str_cmp(*(const struct bt_str *)a, *(const struct bt_str *)b);
}

/* The sorted texts, concatenated. */
struct bt_str answers_join_sorted(struct answers_reader *r, struct answers_texts *texts, char between)
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
	*texts = (struct answers_texts){0};
	return answers_keep(r, &out);
}

struct bt_str answers_text(struct answers_reader *r)
{
	struct bt_str text = {0};

	r->failed |= !bt_json_string(r->json, &text);
	return text;
}

struct bt_str answers_texts(struct answers_reader *r)
{
	struct answers_texts texts = {0};

	r->failed |= !bt_json_enter_array(r->json);
	while (bt_json_next_element(r->json)) {
		answers_add_text(&texts, answers_text(r));
	}
	return answers_join_sorted(r, &texts, ';');
}

/* Errors of preemption on several nodes come in any order: "... preemption: [running x, running y]". */
struct bt_str answers_message(struct answers_reader *r)
{
	static const char opening[] = "preemption: [running ", between[] = ", running ";
	struct bt_str text = answers_text(r);
	const char *found = text.len ? memmem(text.ptr, text.len, opening, sizeof(opening) - 1) : NULL;
	struct answers_texts errors = {0};
	struct bt_buf out = {0};

	if (!found) {
		return text;
	}
	const char *at = found + sizeof(opening) - 1, *end = text.ptr + text.len - 1;
	while (at < end) {
		const char *next = memmem(at, (size_t)(end - at), between, sizeof(between) - 1);

		next = next ? next : end;
		answers_add_text(&errors, (struct bt_str){at, (size_t)(next - at)});
		at = next + sizeof(between) - 1;
	}
	bt_buf_str(&out, (struct bt_str){text.ptr, (size_t)(found - text.ptr)});
	bt_buf_text(&out, opening);
	bt_buf_str(&out, answers_join_sorted(r, &errors, ';'));
	return answers_keep(r, &out);
}

struct bt_str answers_next_line(struct bt_str *rest)
{
	size_t end = bt_str_find(*rest, '\n', 0);
	struct bt_str line = bt_str_sub(*rest, 0, end);

	*rest = bt_str_sub(*rest, end + (end < rest->len), rest->len);
	return line;
}

static void diagnose(void *context, const struct bt_diagnosis *diagnosis)
{
	struct bt_buf text = {0};

	(void)context;
	bt_diagnosis_text(diagnosis, &text);
	fprintf(stderr, "%s\n", text.ptr);
	bt_buf_fini(&text);
}

struct bt_input *answers_open(const char *path, struct bt_input_file *out)
{
	struct bt_input *input = bt_input_create(diagnose, NULL);

	bt_input_add(input, path);
	*out = (struct bt_input_file){0};
	if (!bt_input_next(input, out)) {
		printf("%s: nothing in it\n", path);
	}
	return input;
}

const struct bt_release *answers_release(const char *name)
{
	const struct bt_release *release = bt_release_find(bt_str(name));

	if (!release) {
		fprintf(stderr, "there are answers of %s, but engine/model/release.def has no such release\n",
			name);
		exit(2);
	}
	return release;
}

void answers_of_scenario(const struct bt_release *release, struct bt_str line, struct bt_buf *out)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_buf error = {0};
	struct bt_scenario scenario;
	struct bt_scenario_cluster cluster;

	bt_buf_clear(out);
	bt_json_begin(json, line, &arena);
	bool good = bt_scenario_read(json, &arena, &scenario, &error);

	scenario.release = release;
	if (!good) {
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

static void answer_history(
	const struct bt_release *release, struct bt_str line, bool by_columns, struct bt_buf *out)
{
	struct bt_json *json = bt_json_create();
	struct bt_arena arena = {0};
	struct bt_buf error = {0};
	struct bt_history history;
	const char *remedy;

	bt_buf_clear(out);
	bt_json_begin(json, line, &arena);
	bool good = bt_history_read(json, &arena, &history, &error);

	history.release = release;
	history.by_columns = by_columns;
	if (!good || !bt_history_play(&history, out, &error, &remedy)) {
		printf("a history has no answer: %s\n", error.ptr);
	}
	bt_buf_fini(&error);
	bt_arena_fini(&arena);
	bt_json_destroy(json);
}

void answers_of_history(const struct bt_release *release, struct bt_str line, struct bt_buf *out)
{
	answer_history(release, line, false, out);
}

void answers_of_history_by_columns(const struct bt_release *release, struct bt_str line, struct bt_buf *out)
{
	answer_history(release, line, true, out);
}
