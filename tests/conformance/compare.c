/* SPDX-License-Identifier: Apache-2.0
 * Compares answers.
 */
#include "compare.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/base/mem.h"

#define SHOWN_MAX 20

bool answers_one_of(struct bt_str want, char between, struct bt_str got)
{
	for (size_t at = 0; at < want.len && got.len;) {
		size_t end = bt_str_find(want, between, at);

		if (bt_str_eq(bt_str_sub(want, at, end), got)) {
			return true;
		}
		at = end + 1;
	}
	return want.len == 0 && got.len == 0;
}

/* ---- reading ---- */

static void read_items(struct answers_reader *r, const struct answers_kind *kind, struct answers_answer *out)
{
	r->failed |= !bt_json_enter_array(r->json);
	while (bt_json_next_element(r->json)) {
		out->items = bt_mem_grow(out->items, out->n, &out->cap, sizeof(*out->items));
		out->items[out->n] = (struct answers_item){0};
		kind->read_item(r, &out->items[out->n++]);
	}
}

/* Parses one line; an empty one counts as an error. */
static bool read_answer(struct answers_reader *r, const struct answers_kind *kind, struct bt_str line,
	struct answers_answer *out)
{
	int64_t any = INT64_MAX;
	struct bt_str key;

	bt_arena_reset(&r->arena);
	*out = (struct answers_answer){.items = out->items, .cap = out->cap, .error = line.len == 0};
	r->failed = false;
	if (line.len == 0) {
		return true;
	}
	bt_json_begin(r->json, line, &r->arena);
	r->failed = !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		if (bt_str_is(key, "id")) {
			out->id = answers_text(r);
		} else if (bt_str_is(key, kind->item_key)) {
			read_items(r, kind, out);
		} else if (bt_str_is(key, "error")) {
			out->error = answers_text(r).len > 0;
		} else if (bt_str_is(key, "any")) {
			r->failed |= !bt_json_int64(r->json, &any);
			out->by_chance = true;
		} else {
			r->failed = true;
			bt_json_skip(r->json);
		}
	}
	for (size_t i = 0; i < out->n; i++) {
		out->items[i].any |= (int64_t)i >= any;
	}
	return !r->failed && bt_json_error(r->json)->status == BT_OK;
}

/* ---- comparing ---- */

/* Named items are matched by name, others by position. */
static const struct answers_item *counterpart(const struct answers_comparison *c, size_t ix)
{
	struct bt_str name = c->want.items[ix].name;

	if (name.len == 0) {
		return ix < c->got.n ? &c->got.items[ix] : NULL;
	}
	for (size_t i = 0; i < c->got.n; i++) {
		if (bt_str_eq(c->got.items[i].name, name)) {
			return &c->got.items[i];
		}
	}
	return NULL;
}

/* No answer, or an error for each pod. */
static bool gave_up(const struct answers_answer *answer, int error_aspect)
{
	size_t failed_n = 0;

	for (size_t i = 0; error_aspect >= 0 && i < answer->n; i++) {
		failed_n += answer->items[i].aspects[error_aspect].len > 0;
	}
	return answer->error || (failed_n > 0 && failed_n == answer->n);
}

static void show(struct answers_comparison *c, size_t ix, int aspect, struct bt_str want, struct bt_str got)
{
	struct bt_str name = c->want.items[ix].name;

	c->shown++;
	printf("%.*s %s %zu %.*s %s\n  want %.*s\n  got  %.*s\n", BT_STR_ARG(c->want.id), c->kind->item_key,
		ix, BT_STR_ARG(name), c->kind->aspect_names[aspect], BT_STR_ARG(want), BT_STR_ARG(got));
}

/* Returns true if an item agrees in every aspect. */
static bool compare_item(struct answers_comparison *c, size_t ix, bool quiet)
{
	const struct answers_item *want = &c->want.items[ix], *got = counterpart(c, ix);
	bool all = true;

	c->item_n++;
	for (int a = 0; c->kind->aspect_names[a]; a++) {
		bool same = want->any || (got ? c->kind->agrees(a, want->aspects[a], got->aspects[a])
					      : c->want.error && c->got.error);

		c->same[a] += same;
		all &= same;
		if (!same && !quiet && c->shown < SHOWN_MAX) {
			show(c, ix, a, want->aspects[a], got ? got->aspects[a] : bt_str("no answer"));
		}
	}
	return all;
}

/* Do both end alike: with an error, or after the same number of items? */
static bool compare_ends(struct answers_comparison *c)
{
	const struct answers_answer *want = &c->want, *got = &c->got;
	bool same = want->by_chance ||
		    (want->error ? gave_up(got, c->kind->error_aspect) : !got->error && want->n == got->n);

	if (!same && c->shown < SHOWN_MAX) {
		c->shown++;
		printf("%.*s\n  want %zu %s%s\n  got  %zu%s\n", BT_STR_ARG(want->id), want->n,
			c->kind->item_key, want->error ? " and an error" : "", got->n,
			got->error ? " and an error" : "");
	}
	return same;
}

/* Shows only the first item that differs in an answer; later differences may follow from it. */
static void compare_all(struct answers_comparison *c)
{
	bool agree = true;

	for (size_t i = 0; i < c->want.n; i++) {
		bool item_agrees = compare_item(c, i, !agree);

		agree &= item_agrees;
	}
	agree &= compare_ends(c);
	c->answer_n++;
	c->differing_n += !agree;
}

bool answers_compare(struct answers_comparison *c, struct bt_str want, struct bt_str got)
{
	if (!read_answer(&c->want_reader, c->kind, want, &c->want) || c->want.id.len == 0) {
		printf("after %" PRIu64 " answers: one that cannot be read\n", c->answer_n);
		return false;
	}
	if (!read_answer(&c->got_reader, c->kind, got, &c->got) ||
		(c->got.id.len && !bt_str_eq(c->want.id, c->got.id))) {
		printf("%.*s: our answer cannot be read, or is one to another question\n",
			BT_STR_ARG(c->want.id));
		return false;
	}
	compare_all(c);
	return true;
}

void answers_comparison_begin(struct answers_comparison *c, const struct answers_kind *kind)
{
	*c = (struct answers_comparison){.kind = kind};
	c->want_reader.json = bt_json_create();
	c->got_reader.json = bt_json_create();
}

void answers_comparison_end(struct answers_comparison *c)
{
	bt_json_destroy(c->want_reader.json);
	bt_json_destroy(c->got_reader.json);
	bt_arena_fini(&c->want_reader.arena);
	bt_arena_fini(&c->got_reader.arena);
	bt_mem_free(c->want.items);
	bt_mem_free(c->got.items);
}
