/* SPDX-License-Identifier: Apache-2.0
 * Reading ahead with helper threads: for any text, objects and problems equal those of one thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "seed.h"

#include "engine/base/buf.h"
#include "engine/base/rng.h"
#include "tools/format/encode.h"
#include "tools/format/object_reader.h"

#define MUTANTS 1500

/* Result of reading a text: objects and problems in their order, and the counts. */
struct story {
	struct bt_buf text;
	struct bt_object_counts counts;
};

static struct bt_rng rng;

static uint32_t random_below(uint32_t n)
{
	return bt_rng_below(&rng, n);
}

static void note(void *context, const struct bt_diagnosis *d)
{
	struct story *story = context;

	bt_buf_printf(&story->text, "problem at %zu:%zu ", (size_t)d->line, (size_t)d->column);
	bt_diagnosis_text(d, &story->text);
	bt_buf_char(&story->text, '\n');
}

/* Reads a text with this many helpers; at most stop_n of its objects. */
static struct story read_objects(struct bt_str text, uint32_t helper_n, size_t range_bytes, uint64_t stop_n)
{
	struct story story = {0};
	struct bt_object_reader *reader = bt_object_reader_create(note, &story);
	const struct bt_object *object;

	bt_object_reader_read_ahead(reader, helper_n, range_bytes);
	bt_object_reader_begin_any(reader, "f", text);
	for (uint64_t n = 0; n < stop_n && (object = bt_object_reader_next(reader)); n++) {
		bt_buf_printf(&story.text, "%d ", (int)object->kind);
		bt_object_encode(object, &story.text);
		bt_buf_char(&story.text, '\n');
	}
	story.counts = bt_object_reader_counts(reader);
	bt_object_reader_destroy(reader);
	bt_buf_char(&story.text, '\0');
	return story;
}

static void assert_same(const struct story *a, const struct story *b, struct bt_str text)
{
	if (strcmp(a->text.ptr, b->text.ptr) != 0) {
		print_message("the text:\n%.*s\nalone:\n%s\nahead:\n%s\n", BT_STR_ARG(text), a->text.ptr,
			b->text.ptr);
	}
	assert_string_equal(a->text.ptr, b->text.ptr);
	assert_int_equal(a->counts.documents, b->counts.documents);
	assert_int_equal(a->counts.objects, b->counts.objects);
	assert_int_equal(a->counts.errors, b->counts.errors);
	assert_int_equal(a->counts.bytes, b->counts.bytes);
}

/* Compares reading with and without helpers. Returns the number of objects decoded ahead. */
static uint64_t compare(struct bt_str text, uint32_t helper_n, size_t range_bytes)
{
	struct story alone = read_objects(text, 0, 0, UINT64_MAX);
	struct story ahead = read_objects(text, helper_n, range_bytes, UINT64_MAX);
	uint64_t ahead_n = ahead.counts.ahead;

	assert_int_equal(alone.counts.ahead, 0);
	assert_same(&alone, &ahead, text);
	bt_buf_fini(&alone.text);
	bt_buf_fini(&ahead.text);
	return ahead_n;
}

/* ---- texts ---- */

enum shape { INDENTED, COMPACT, TYPED, MIXED, SHAPES };

static const char *const inner_texts[] = {"a\\\"b", "},\\n        {",
	"},{\\\"apiVersion\\\":\\\"v1\\\",\\\"kind\\\"", "\xc3\xa4 [{", "\\u00e4\\ud83d\\ude00", ""};

static void put_pod(struct bt_buf *out, uint32_t number, enum shape shape)
{
	const char *inner = inner_texts[number % (sizeof(inner_texts) / sizeof(*inner_texts))];
	const char *n1 = shape == INDENTED ? "\n            " : "",
		   *n0 = shape == INDENTED ? "\n        " : "";

	bt_buf_text(out, "{");
	bt_buf_text(out, n1);
	if (shape != TYPED) {
		bt_buf_printf(out, "\"apiVersion\":\"v1\",%s\"kind\":\"%s\",%s", n1,
			number % 7 ? "Pod" : "Node", n1);
	}
	bt_buf_printf(
		out, "\"metadata\":{\"name\":\"p-%u\",\"labels\":{\"a\":\"%s\"}},%s", number, inner, n1);
	bt_buf_printf(out,
		"\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{"
		"\"cpu\":\"%um\"}}}",
		number);
	bt_buf_printf(out, ",{\"name\":\"d\",\"env\":[{\"a\":[1,-2.5e3,true,null]},{\"b\":{}}]}]}%s}", n0);
}

/* An element of a list that is no pod. */
static void put_odd(struct bt_buf *out, uint32_t number)
{
	static const char *const odd[] = {
		"null",
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{}}",
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":7}}",
		"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":null}",
		"{\"apiVersion\":\"v1\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{"
		"\"name\":\"in\"}},"
		"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"side\"}}],\"kind\":"
		"\"List\"}",
		"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"half\"}}",
		"{\"metadata\":{\"name\":\"back\"},\"kind\":\"Node\",\"apiVersion\":\"v1\"}",
		"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[]}",
		"null \x80",
		"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"last\"}} \x80",
		"[]",
		"{\"apiVersion\":\"x/v1\",\"kind\":\"T\",\"spec\":{\"x\":[[[]]]}}",
	};

	bt_buf_text(out, odd[number % (sizeof(odd) / sizeof(*odd))]);
}

/* A list of n pods; every odd_every-th element is something else. */
static void put_list(struct bt_buf *out, uint32_t n, enum shape shape, uint32_t odd_every)
{
	const char *nl = shape == INDENTED ? "\n        " : "";

	bt_buf_text(out, shape == TYPED ? "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":["
					: "{\n    \"apiVersion\": \"v1\",\n    \"items\": [");
	for (uint32_t i = 0; i < n; i++) {
		bt_buf_text(out, i ? "," : "");
		bt_buf_text(out, nl);
		if (odd_every && random_below(odd_every) == 0) {
			put_odd(out, random_below(100));
		} else {
			put_pod(out, i, shape == MIXED ? (enum shape)random_below(3) : shape);
		}
	}
	bt_buf_text(out,
		shape == TYPED ? "]}\n" : "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {}\n}\n");
}

/* Changes some bytes, removes or repeats a piece, or cuts off the end. */
static void mutate(struct bt_buf *text)
{
	static const char bytes[] = "{}[],:\"\\ \nn0-e\x80\x01z";
	uint32_t at = random_below((uint32_t)text->len), n = 1 + random_below(40);

	n = n < text->len - at ? n : (uint32_t)text->len - at;
	switch (random_below(5)) {
	case 0:
		text->len = at;
		break;
	case 1:
		memmove(text->ptr + at, text->ptr + at + n, text->len - at - n);
		text->len -= n;
		break;
	case 2:
		bt_buf_reserve(text, n);
		memmove(text->ptr + at + n, text->ptr + at, text->len - at);
		text->len += n;
		break;
	default:
		text->ptr[at] = bytes[random_below(sizeof(bytes))];
		break;
	}
}

/* ---- tests ---- */

static void long_lists_are_read_ahead_whatever_their_shape(void **state)
{
	static const size_t ranges[] = {700, 4096, 65536};

	(void)state;
	rng.state = seed_or(1);
	for (int shape = INDENTED; shape <= TYPED; shape++) {
		struct bt_buf text = {0};

		put_list(&text, 2000, (enum shape)shape, 0);
		for (uint32_t i = 0; i < 3; i++) {
			uint64_t ahead_n = compare(bt_buf_view(&text), 1 + i, ranges[i]);

			/* A string that looks like a border between ranges costs a range, no more. */
			assert_true(ahead_n > 500);
		}
		bt_buf_fini(&text);
	}
}

static void elements_that_are_not_plain_objects_keep_their_order(void **state)
{
	(void)state;
	rng.state = seed_or(1);
	for (uint32_t i = 0; i < 60; i++) {
		struct bt_buf text = {0};

		put_list(&text, 300, (enum shape)random_below(SHAPES), 2 + random_below(40));
		put_list(&text, 100, (enum shape)random_below(SHAPES), 30);
		compare(bt_buf_view(&text), 1 + random_below(3), 200 + random_below(3000));
		bt_buf_fini(&text);
	}
}

static void mutants_are_read_as_by_one_thread(void **state)
{
	uint64_t ahead_n = 0;

	(void)state;
	rng.state = seed_or(1);
	for (uint32_t i = 0; i < MUTANTS; i++) {
		struct bt_buf text = {0};

		put_list(
			&text, 20 + random_below(60), (enum shape)random_below(SHAPES), random_below(2) * 20);
		for (uint32_t n = 1 + random_below(3); n && text.len; n--) {
			mutate(&text);
		}
		ahead_n += compare(bt_buf_view(&text), 1 + random_below(3), 60 + random_below(900));
		bt_buf_fini(&text);
	}
	assert_true(ahead_n > MUTANTS);
}

static void reading_may_stop_anywhere(void **state)
{
	struct bt_buf text = {0};

	(void)state;
	rng.state = seed_or(1);
	put_list(&text, 400, INDENTED, 0);
	for (uint64_t n = 0; n < 400; n += 13) {
		struct story alone = read_objects(bt_buf_view(&text), 0, 0, n);
		struct story ahead = read_objects(bt_buf_view(&text), 2, 1000, n);

		assert_same(&alone, &ahead, bt_buf_view(&text));
		bt_buf_fini(&alone.text);
		bt_buf_fini(&ahead.text);
	}
	bt_buf_fini(&text);
}

static void a_list_that_is_not_long_is_read_alone(void **state)
{
	struct bt_buf text = {0};

	(void)state;
	rng.state = seed_or(1);
	put_list(&text, 100, INDENTED, 0);
	assert_int_equal(compare(bt_buf_view(&text), 2, text.len / 4), 0);
	bt_buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_lists_are_read_ahead_whatever_their_shape),
		cmocka_unit_test(elements_that_are_not_plain_objects_keep_their_order),
		cmocka_unit_test(mutants_are_read_as_by_one_thread),
		cmocka_unit_test(reading_may_stop_anywhere),
		cmocka_unit_test(a_list_that_is_not_long_is_read_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
