/* SPDX-License-Identifier: Apache-2.0
 * The JSON cursor: valid and invalid text, positions of errors, and that both indexes agree on random texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "engine/base/mem.h"
#include "engine/base/rng.h"
#include "json_index_int.h"
#include "seed.h"
#include "tools/format/json.h"
#include "tools/format/limits.h"

struct fixture {
	struct bt_json *json;
	struct bt_arena arena;
};

static struct fixture f;

static int setup(void **state)
{
	(void)state;
	f.json = bt_json_create();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bt_json_destroy(f.json);
	bt_arena_fini(&f.arena);
	return 0;
}

static void begin(const char *text)
{
	bt_json_begin(f.json, bt_str(text), &f.arena);
}

/* Skips every document of text and compares the result. */
static void expect(const char *text, size_t len, enum bt_status status, size_t offset, const char *message)
{
	bt_json_begin(f.json, (struct bt_str){text, len}, &f.arena);
	while (bt_json_more(f.json) && bt_json_skip(f.json)) {
	}
	const struct bt_json_error *e = bt_json_error(f.json);
	assert_int_equal(e->status, status);
	if (status == BT_OK) {
		return;
	}
	assert_true(e->syntax);
	assert_string_equal(e->text, message);
	assert_int_equal(e->offset, offset);
}

#define ACCEPTS(text)		       expect(text, sizeof(text) - 1, BT_OK, 0, NULL)
#define REFUSES(text, offset, message) expect(text, sizeof(text) - 1, BT_INVALID, offset, message)
#define CUT_OFF(text, message)	       expect(text, sizeof(text) - 1, BT_TRUNCATED, sizeof(text) - 1, message)

static void accepts_what_the_grammar_allows(void **state)
{
	(void)state;
	ACCEPTS("");
	ACCEPTS(" \t\r\n");
	ACCEPTS("{}[]null true false 0 -0 1.5e-3 \"\"");
	ACCEPTS("{\"a\":{\"b\":[1,{\"c\":[]},[]]}}\n{\"d\":1}");
	ACCEPTS("\xef\xbb\xbf{\"a\":1}");
	ACCEPTS("\"\\u00e9\\ud83d\\ude00\\\\\\\"\\/\\b\\f\\n\\r\\t\"");
	ACCEPTS("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

static void refuses_what_the_grammar_forbids(void **state)
{
	(void)state;
	REFUSES("[1,]", 3, "expected a value");
	REFUSES("{\"a\":1,}", 7, "expected a key in quotes");
	REFUSES("{\"a\" 1}", 5, "expected ':' behind the key");
	REFUSES("{\"a\":1 \"b\":2}", 7, "expected ',' or '}'");
	REFUSES("[1 2]", 3, "expected ',' or ']'");
	REFUSES("[1}", 2, "expected ',' or ']'");
	REFUSES("{1:2}", 1, "expected a key in quotes");
	REFUSES("[01]", 1, "malformed number");
	REFUSES("[1.]", 1, "malformed number");
	REFUSES("[1e]", 1, "malformed number");
	REFUSES("[+1]", 1, "expected a value");
	REFUSES("[truex]", 1, "unknown word");
	REFUSES("[nul]", 1, "unknown word");
	REFUSES("[1\"a\"]", 1, "malformed number");
	REFUSES("]", 0, "expected a value");
	REFUSES("{\"a\":1} x", 8, "expected a value");
	REFUSES("'a'", 0, "expected a value");
	REFUSES("{\"a\"\x0c:1}", 4, "expected ':' behind the key");
	REFUSES("[1,d 2]", 3, "expected a value");
}

static void no_byte_is_passed_over_but_white_space(void **state)
{
	char text[] = "[1,? 2]";

	(void)state;
	for (int byte = 0; byte < 256; byte++) {
		bool starts = (byte >= '0' && byte <= '9') || (byte && strchr("-\"tfn{[]", byte));

		text[3] = (char)byte;
		bt_json_begin(f.json, (struct bt_str){text, sizeof(text) - 1}, &f.arena);
		bool passed = bt_json_skip(f.json);
		assert_int_equal(passed, byte && strchr(" \t\n\r", byte));
		if (!passed && !starts) {
			assert_int_equal(bt_json_error(f.json)->offset, 3);
		}
	}
}

static void refuses_bad_strings_at_their_byte(void **state)
{
	(void)state;
	REFUSES("[\"a\nb\"]", 3, "control character in a string");
	REFUSES("[\"a\0b\"]", 3, "control character in a string");
	REFUSES("{\"a\":\0}", 5, "NUL byte");
	REFUSES("[\"\\x\"]", 3, "bad escape in a string");
	REFUSES("[\"\\u12g4\"]", 3, "bad \\u escape in a string");
	REFUSES("[\"\\ud83d\"]", 3, "lone surrogate in a string");
	REFUSES("[\"\\ude00\"]", 3, "lone surrogate in a string");
	REFUSES("[\"\\\\ud83d\\ude00\"]", 10, "lone surrogate in a string");
	REFUSES("[\"a\xc3(\"]", 3, "invalid UTF-8");
	REFUSES("[\"\xc0\x80\"]", 2, "invalid UTF-8");
	REFUSES("[\"\xe0\x80\x80\"]", 2, "invalid UTF-8");
	REFUSES("[\"\xed\xa0\x80\"]", 2, "invalid UTF-8");
	REFUSES("[\"\xf4\x90\x80\x80\"]", 2, "invalid UTF-8");
	REFUSES("[\"\xff\"]", 2, "invalid UTF-8");
}

static void a_truncated_text_is_reported(void **state)
{
	(void)state;
	CUT_OFF("{\"a\":", "the text ends too early");
	CUT_OFF("{\"a\":1", "the text ends too early");
	CUT_OFF("[[1,", "the text ends too early");
	CUT_OFF("{\"abc", "the text ends inside a string");
}

static void bounds_the_depth_in_skip_and_in_enter(void **state)
{
	const uint32_t most = BT_LIMIT_SKIPPED_DEPTH;
	char text[2 * BT_LIMIT_SKIPPED_DEPTH + 8];
	uint32_t entered = 0;

	(void)state;
	memset(text, '[', most + 1);
	memset(text + most + 1, ']', most + 1);
	bt_json_begin(f.json, (struct bt_str){text + 1, 2 * most}, &f.arena);
	assert_true(bt_json_skip(f.json));
	bt_json_begin(f.json, (struct bt_str){text, 2 * most + 2}, &f.arena);
	assert_false(bt_json_skip(f.json));
	assert_int_equal(bt_json_error(f.json)->status, BT_DEPTH);
	bt_json_begin(f.json, (struct bt_str){text, 2 * most + 2}, &f.arena);
	while (bt_json_enter_array(f.json)) {
		entered++;
		bt_json_next_element(f.json);
	}
	assert_int_equal(entered, BT_LIMIT_DEPTH);
	assert_int_equal(bt_json_error(f.json)->status, BT_DEPTH);
}

static void strings_are_views_or_unescaped(void **state)
{
	const char *text = "[\"plain\", \"a\\\"\\\\\\n\\u00e9\\u20ac\\ud83d\\ude00z\", \"\"]";
	struct bt_str s;

	(void)state;
	begin(text);
	assert_true(
		bt_json_enter_array(f.json) && bt_json_next_element(f.json) && bt_json_string(f.json, &s));
	assert_ptr_equal(s.ptr, text + 2);
	assert_int_equal(s.len, 5);
	assert_true(bt_json_next_element(f.json) && bt_json_string(f.json, &s));
	assert_true(bt_str_is(s, "a\"\\\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"));
	assert_true(bt_json_next_element(f.json) && bt_json_string(f.json, &s));
	assert_int_equal(s.len, 0);
	assert_false(bt_json_next_element(f.json));
	assert_false(bt_json_more(f.json));
}

static void integers_are_checked_against_64_bits(void **state)
{
	int64_t value;

	(void)state;
	begin("9223372036854775807 -9223372036854775808 9223372036854775808");
	assert_true(bt_json_int64(f.json, &value) && value == INT64_MAX);
	assert_true(bt_json_int64(f.json, &value) && value == INT64_MIN);
	assert_false(bt_json_int64(f.json, &value));
	assert_int_equal(bt_json_error(f.json)->status, BT_RANGE);
	begin("1.0");
	assert_false(bt_json_int64(f.json, &value));
	assert_string_equal(bt_json_error(f.json)->text, "expected a whole number");
}

static void a_wrong_type_can_be_stepped_over(void **state)
{
	struct bt_json_mark mark;
	struct bt_str s;

	(void)state;
	begin("[{\"a\":[1,2]}, \"x\"]");
	assert_true(bt_json_enter_array(f.json) && bt_json_next_element(f.json));
	mark = bt_json_mark(f.json);
	assert_false(bt_json_string(f.json, &s));
	assert_false(bt_json_error(f.json)->syntax);
	assert_int_equal(bt_json_peek(f.json), BT_JSON_NONE);
	bt_json_seek(f.json, mark);
	assert_true(bt_json_skip(f.json) && bt_json_next_element(f.json) && bt_json_string(f.json, &s));
	assert_true(bt_str_is(s, "x"));
	assert_false(bt_json_next_element(f.json));
	assert_int_equal(bt_json_error(f.json)->status, BT_OK);
}

static void raw_gives_the_text_of_any_value(void **state)
{
	static const char *const values[] = {"{\"a\": [1, \"]\"]}", "\"x\\\"y\"", "-1.5e3", "null", "[]"};
	struct bt_str s;

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char text[64];

		snprintf(text, sizeof(text), "[ %s , 1]", values[i]);
		begin(text);
		assert_true(bt_json_enter_array(f.json) && bt_json_next_element(f.json) &&
			    bt_json_raw(f.json, &s));
		assert_true(bt_str_is(s, values[i]));
		assert_true(bt_json_next_element(f.json) && bt_json_skip(f.json));
		assert_false(bt_json_next_element(f.json));
	}
}

static void place_counts_lines_and_columns_from_one(void **state)
{
	size_t line, column;

	(void)state;
	bt_json_place(bt_str("ab\ncd\n"), 4, &line, &column);
	assert_int_equal(line, 2);
	assert_int_equal(column, 2);
	bt_json_place(bt_str("ab\ncd\n"), 99, &line, &column);
	assert_int_equal(line, 3);
	assert_int_equal(column, 1);
}

static void put_random_string(struct bt_rng *rng, struct bt_buf *out)
{
	static const char *const parts[] = {"a", "key", "\\\"", "\\\\", "\\u00e9", "\\ud83d\\ude00",
		"\xc3\xa9", "{[:,]}", " ", "0123456789012345678901234567890123456789"};

	bt_buf_char(out, '"');
	for (uint32_t n = bt_rng_below(rng, 6); n; n--) {
		bt_buf_text(out, parts[bt_rng_below(rng, sizeof(parts) / sizeof(parts[0]))]);
	}
	bt_buf_char(out, '"');
}

static void put_space(struct bt_rng *rng, struct bt_buf *out)
{
	for (uint32_t n = bt_rng_below(rng, 8) ? 0 : bt_rng_below(rng, 90); n; n--) {
		bt_buf_char(out, " \n\t\r"[bt_rng_below(rng, 4)]);
	}
}

static void put_random_value(struct bt_rng *rng, struct bt_buf *out, uint32_t depth)
{
	static const char *const scalars[] = {"0", "-1", "2.5e10", "true", "false", "null"};
	uint32_t what = bt_rng_below(rng, depth > 5 ? 2 : 4);
	bool object = what == 2;

	if (what == 0) {
		bt_buf_text(out, scalars[bt_rng_below(rng, 6)]);
		return;
	}
	if (what == 1) {
		put_random_string(rng, out);
		return;
	}
	bt_buf_char(out, object ? '{' : '[');
	for (uint32_t i = 0, n = bt_rng_below(rng, 6); i < n; i++) {
		put_space(rng, out);
		bt_buf_text(out, i ? "," : "");
		put_space(rng, out);
		if (object) {
			put_random_string(rng, out);
			bt_buf_char(out, ':');
			put_space(rng, out);
		}
		put_random_value(rng, out, depth + 1);
	}
	put_space(rng, out);
	bt_buf_char(out, object ? '}' : ']');
}

/* The tokens of text by an index, as one list of offsets, followed by the position of an error. */
static size_t all_tokens(struct bt_str text, bt_json_index_fn *index, size_t *out, size_t cap)
{
	struct bt_json_window *w = bt_mem_zalloc(1, sizeof(*w));
	size_t n = 0;
	bool more = true;

	while (more) {
		more = index(text.ptr, text.len, w->next_offset, w->next_in_word, w) && w->status == BT_OK;
		for (uint32_t i = 0; i < w->n && n + 1 < cap; i++) {
			out[n++] = (size_t)(w->base - text.ptr) + w->index[i];
		}
	}
	out[n++] = w->status == BT_OK ? SIZE_MAX : w->error_offset;
	bt_mem_free(w);
	return n;
}

/* All ways of indexing find the same tokens and the same error. */
static void compare_ways(struct bt_str text, size_t *fast, size_t *slow, size_t cap)
{
	size_t n = all_tokens(text, bt_json_index, fast, cap);

	for (uint32_t i = 0; bt_json_index_way(i); i++) {
		assert_int_equal(n, all_tokens(text, bt_json_index_way(i), slow, cap));
		assert_memory_equal(fast, slow, n * sizeof(*fast));
	}
}

/* Except for the two that SIMD takes for a comma and a colon: where they are invalid, they are no tokens. */
static char any_byte(struct bt_rng *rng)
{
	char byte = (char)bt_rng_below(rng, 256);

	return byte == (',' & ~0x20) || byte == (':' & ~0x20) ? '\x01' : byte;
}

static void random_texts_are_accepted_and_all_indexes_agree(void **state)
{
	struct bt_rng rng = {seed_or(20240601)};
	const size_t cap = 200000;
	size_t *fast = bt_mem_zalloc(cap, sizeof(*fast)), *slow = bt_mem_zalloc(cap, sizeof(*slow));

	(void)state;
	for (uint32_t round = 0; round < 300; round++) {
		struct bt_buf text = {0};

		bt_buf_char(&text, '[');
		for (uint32_t i = 0, n = bt_rng_below(&rng, 60); i < n; i++) {
			bt_buf_text(&text, i ? "," : "");
			put_random_value(&rng, &text, 0);
		}
		bt_buf_char(&text, ']');
		compare_ways(bt_buf_view(&text), fast, slow, cap);
		bt_json_begin(f.json, bt_buf_view(&text), &f.arena);
		assert_true(bt_json_skip(f.json));
		assert_false(bt_json_more(f.json));
		/* One byte changed: any result is allowed, but it must terminate. */
		text.ptr[bt_rng_below(&rng, (uint32_t)text.len)] = any_byte(&rng);
		compare_ways(bt_buf_view(&text), fast, slow, cap);
		bt_json_begin(f.json, bt_buf_view(&text), &f.arena);
		while (bt_json_more(f.json) && bt_json_skip(f.json)) {
		}
		bt_buf_fini(&text);
	}
	bt_mem_free(fast);
	bt_mem_free(slow);
}

/* Strings, words and escapes across the ends of windows. */
static void windows_may_end_anywhere(void **state)
{
	static const char *const values[] = {
		"\"a\\\\\\\"\\ud83d\\ude00b\"", "-1234567890", "true", "{\"k\":[null]}"};

	(void)state;
	for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
		for (size_t shift = 0; shift < 80; shift++) {
			struct bt_buf text = {0};
			struct bt_str raw;

			bt_buf_char(&text, '[');
			for (size_t i = 0; i < BT_JSON_WINDOW_BYTES - 70 + shift; i++) {
				bt_buf_char(&text, ' ');
			}
			bt_buf_printf(&text, "%s,\"", values[v]);
			for (size_t i = 0; i < 3 * BT_JSON_WINDOW_BYTES; i++) {
				bt_buf_char(&text, 'x');
			}
			bt_buf_text(&text, "\",1]");
			bt_json_begin(f.json, bt_buf_view(&text), &f.arena);
			assert_true(bt_json_enter_array(f.json) && bt_json_next_element(f.json));
			assert_true(bt_json_raw(f.json, &raw) && bt_str_is(raw, values[v]));
			assert_true(bt_json_next_element(f.json) && bt_json_string(f.json, &raw));
			assert_int_equal(raw.len, 3 * BT_JSON_WINDOW_BYTES);
			assert_true(bt_json_next_element(f.json) && bt_json_skip(f.json));
			assert_false(bt_json_next_element(f.json));
			assert_int_equal(bt_json_error(f.json)->status, BT_OK);
			bt_buf_fini(&text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_what_the_grammar_allows),
		cmocka_unit_test(refuses_what_the_grammar_forbids),
		cmocka_unit_test(no_byte_is_passed_over_but_white_space),
		cmocka_unit_test(refuses_bad_strings_at_their_byte),
		cmocka_unit_test(a_truncated_text_is_reported),
		cmocka_unit_test(bounds_the_depth_in_skip_and_in_enter),
		cmocka_unit_test(strings_are_views_or_unescaped),
		cmocka_unit_test(integers_are_checked_against_64_bits),
		cmocka_unit_test(a_wrong_type_can_be_stepped_over),
		cmocka_unit_test(raw_gives_the_text_of_any_value),
		cmocka_unit_test(place_counts_lines_and_columns_from_one),
		cmocka_unit_test(random_texts_are_accepted_and_all_indexes_agree),
		cmocka_unit_test(windows_may_end_anywhere),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
