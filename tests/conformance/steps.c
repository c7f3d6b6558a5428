/* SPDX-License-Identifier: Apache-2.0
 * The steps of a history, and the scheduling queue after each.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"

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
	INCOMPLETE,
	PENDING,
	NOMINATIONS,
	ASPECT_N
};

static const char *const aspect_names[] = {"popped", "result", "message", "nominated", "evicted", "group",
	"active", "backoff", "unschedulable", "gated", "inFlight", "incomplete", "pending", "nominations",
	NULL};

/* An array in its order. */
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

/* {"pod", "plugins", "or"?}: the expected set of plugins, then a tab before each alternative. */
static struct bt_str read_waiting(struct answers_reader *r)
{
	struct bt_str pod = {0}, plugins = {0}, or = {0}, key;
	struct bt_buf out = {0};

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		if (bt_str_is(key, "pod")) {
			pod = answers_text(r);
		} else if (bt_str_is(key, "plugins")) {
			plugins = answers_texts(r);
		} else {
			r->failed |= !bt_str_is(key, "or");
			or = answers_texts(r);
		}
	}
	bt_buf_printf(&out, "%.*s: %.*s", BT_STR_ARG(pod), BT_STR_ARG(plugins));
	while (or.len) {
		size_t end = bt_str_find(or, ';', 0) + 1;

		bt_buf_printf(&out, "\t%.*s: %.*s", BT_STR_ARG(pod), BT_STR_ARG(bt_str_sub(or, 0, end)));
		or = bt_str_sub(or, end, or.len);
	}
	return answers_keep(r, &out);
}

/* One line for each pod. */
static struct bt_str read_held(struct answers_reader *r)
{
	struct answers_texts texts = {0};

	r->failed |= !bt_json_enter_array(r->json);
	while (bt_json_next_element(r->json)) {
		answers_add_text(&texts, read_waiting(r));
	}
	return answers_join_sorted(r, &texts, '\n');
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

/* [{"pod", "result", "message"?, "nominated"?}, ...]: the pods of a group. The order of
 * decisions shows in the results. */
static struct bt_str read_group(struct answers_reader *r)
{
	struct answers_texts texts = {0};
	struct bt_str key;

	r->failed |= !bt_json_enter_array(r->json);
	while (bt_json_next_element(r->json)) {
		struct bt_str pod = {0}, result = {0}, message = {0}, nominated = {0};
		struct bt_buf out = {0};

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
		answers_add_text(&texts, answers_keep(r, &out));
	}
	return answers_join_sorted(r, &texts, ' ');
}

/* "empty", "skipped" and "missing" are written when they are true. */
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
	{"incomplete", INCOMPLETE, answers_texts},
	{"pending", PENDING, answers_texts},
	{"nominations", NOMINATIONS, read_nominations},
};

static void read_member(struct answers_reader *r, struct bt_str key, struct answers_item *step)
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

static void read_step(struct answers_reader *r, struct answers_item *out)
{
	struct bt_str key;

	r->failed |= !bt_json_enter_object(r->json);
	while (bt_json_next_key(r->json, &key)) {
		read_member(r, key, out);
	}
}

/* Of several plugins that gate a pod, any may be named. */
static bool agrees(int aspect, struct bt_str want, struct bt_str got)
{
	if (aspect != GATED) {
		return bt_str_eq(want, got);
	}
	while (want.len && got.len) {
		if (!answers_one_of(answers_next_line(&want), '\t', answers_next_line(&got))) {
			return false;
		}
	}
	return want.len == got.len;
}

const struct answers_kind answers_of_histories = {.item_key = "steps",
	.aspect_names = aspect_names,
	.error_aspect = -1,
	.play = answers_of_history,
	.read_item = read_step,
	.agrees = agrees};

/* Ignores PostFilter's message. */
static bool agrees_but_for_texts(int aspect, struct bt_str want, struct bt_str got)
{
	return aspect == MESSAGE || agrees(aspect, want, got);
}

const struct answers_kind answers_by_columns = {.item_key = "steps",
	.aspect_names = aspect_names,
	.error_aspect = -1,
	.play = answers_of_history_by_columns,
	.read_item = read_step,
	.agrees = agrees_but_for_texts};
