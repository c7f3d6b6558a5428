/* SPDX-License-Identifier: Apache-2.0
 * Functions of strings. Positions count code points. Source: cel-go v0.26, ext/strings.go; apiserver's
 * regex library, v1.36.3.
 */
#include "plugins/dynamic_resources/cel_calls_int.h"

#include "engine/base/check.h"
#include "engine/base/utf8.h"

static struct bt_cel_value failed(void)
{
	return (struct bt_cel_value){.kind = BT_CEL_K_ERROR};
}

/* The first position of pattern in text at or after from; text.len + 1: none. */
static size_t cel_string_find(struct bt_str text, struct bt_str pattern, size_t from)
{
	const char *hit;

	if (pattern.len == 0) {
		return from;
	}
	hit = from < text.len ? memmem(text.ptr + from, text.len - from, pattern.ptr, pattern.len) : NULL;
	return hit ? (size_t)(hit - text.ptr) : text.len + 1;
}

static bool are_texts(const struct bt_cel_value *args)
{
	return args[0].kind == BT_CEL_K_STRING && args[1].kind == BT_CEL_K_STRING;
}

struct bt_cel_value bt_cel_contains(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return are_texts(args)
		       ? bt_cel_bool(cel_string_find(args[0].text, args[1].text, 0) <= args[0].text.len)
		       : bt_cel_no_overload();
}

struct bt_cel_value bt_cel_starts_with(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_str text = args[0].text;
	struct bt_str start = args[1].text;

	(void)run;
	(void)arg_n;
	if (!are_texts(args)) {
		return bt_cel_no_overload();
	}
	return bt_cel_bool(text.len >= start.len && bt_str_eq(bt_str_sub(text, 0, start.len), start));
}

struct bt_cel_value bt_cel_ends_with(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_str text = args[0].text;
	struct bt_str end = args[1].text;

	(void)run;
	(void)arg_n;
	if (!are_texts(args)) {
		return bt_cel_no_overload();
	}
	return bt_cel_bool(
		text.len >= end.len && bt_str_eq(bt_str_sub(text, text.len - end.len, text.len), end));
}

/* ---- positions ---- */

/* The byte offset of code point ix; ix is at most their number. */
static size_t byte_of(struct bt_str text, int64_t ix)
{
	size_t at = 0;
	uint32_t rune;

	for (; ix > 0 && at < text.len; ix--) {
		at += bt_utf8_decode(text, at, &rune);
	}
	return at;
}

static struct bt_cel_value out_of_range(struct bt_cel_run *run, int64_t ix)
{
	return bt_cel_fail(run, "index out of range: %lld", (long long)ix);
}

struct bt_cel_value bt_cel_char_at(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	BT_INVARIANT(args[0].kind == BT_CEL_K_STRING && args[1].kind == BT_CEL_K_INT);
	struct bt_str text = args[0].text;
	int64_t n = (int64_t)bt_utf8_rune_n(text);
	uint32_t rune;

	(void)arg_n;
	if (args[1].integer < 0 || args[1].integer > n) {
		return out_of_range(run, args[1].integer);
	}
	size_t at = byte_of(text, args[1].integer);
	return bt_cel_text(bt_str_sub(text, at, at < text.len ? at + bt_utf8_decode(text, at, &rune) : at));
}

struct bt_cel_value bt_cel_substring(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	BT_INVARIANT(args[0].kind == BT_CEL_K_STRING && args[1].kind == BT_CEL_K_INT);
	struct bt_str text = args[0].text;
	int64_t n = (int64_t)bt_utf8_rune_n(text);
	int64_t start = args[1].integer;
	int64_t end = arg_n > 2 ? args[2].integer : n;

	if (arg_n > 2 && start > end) {
		return bt_cel_fail(run, "invalid substring range. start: %lld, end: %lld", (long long)start,
			(long long)end);
	}
	if (start < 0 || start > n) {
		return out_of_range(run, start);
	}
	if (end < 0 || end > n) {
		return out_of_range(run, end);
	}
	return bt_cel_text(bt_str_sub(text, byte_of(text, start), byte_of(text, end)));
}

struct bt_cel_value bt_cel_index_of(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_str text = args[0].text;
	int64_t from = arg_n > 2 ? args[2].integer : 0;

	if (args[1].text.len == 0) {
		return bt_cel_int(from);
	}
	if (from < 0) {
		return out_of_range(run, from);
	}
	if (from >= (int64_t)bt_utf8_rune_n(text)) {
		return bt_cel_int(-1);
	}
	size_t at = cel_string_find(text, args[1].text, byte_of(text, from));
	return bt_cel_int(at > text.len ? -1 : (int64_t)bt_utf8_rune_n(bt_str_sub(text, 0, at)));
}

struct bt_cel_value bt_cel_last_index_of(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_str text = args[0].text;
	struct bt_str part = args[1].text;
	int64_t n = (int64_t)bt_utf8_rune_n(text);
	int64_t part_n = (int64_t)bt_utf8_rune_n(part);

	if (part.len == 0) {
		return bt_cel_int(arg_n > 2 ? args[2].integer : n);
	}
	if (arg_n == 2 && text.len < part.len) {
		return bt_cel_int(-1);
	}
	int64_t from = arg_n > 2 ? args[2].integer : n - 1;
	if (from < 0) {
		return out_of_range(run, from);
	}
	if (from >= n) {
		return bt_cel_int(-1);
	}
	from = from > n - part_n ? n - part_n : from;
	for (int64_t ix = from; ix >= 0 && bt_cel_step(run, 1); ix--) {
		size_t at = byte_of(text, ix);

		if (text.len - at >= part.len && bt_str_eq(bt_str_sub(text, at, at + part.len), part)) {
			return bt_cel_int(ix);
		}
	}
	return bt_cel_int(-1);
}

/* ---- new strings ---- */

/* Changes the case of ASCII letters; invalid bytes become U+FFFD, as in Go. */
static struct bt_cel_value map_ascii(struct bt_cel_run *run, struct bt_str text, bool upper)
{
	char *out = bt_cel_alloc(run, text.len * 3 + 4);
	size_t n = 0;
	uint32_t rune;

	if (!out) {
		return failed();
	}
	for (size_t i = 0; i < text.len;) {
		i += bt_utf8_decode(text, i, &rune);
		if (upper && rune >= 'a' && rune <= 'z') {
			rune -= 'a' - 'A';
		} else if (!upper && rune >= 'A' && rune <= 'Z') {
			rune += 'a' - 'A';
		}
		n += bt_utf8_encode(rune, out + n);
	}
	return bt_cel_text((struct bt_str){out, n});
}

struct bt_cel_value bt_cel_lower_ascii(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	return map_ascii(run, args[0].text, false);
}

struct bt_cel_value bt_cel_upper_ascii(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	return map_ascii(run, args[0].text, true);
}

/* unicode.IsSpace */
static bool is_space(uint32_t rune)
{
	return (rune >= 9 && rune <= 13) || rune == ' ' || rune == 0x85 || rune == 0xa0 || rune == 0x1680 ||
	       (rune >= 0x2000 && rune <= 0x200a) || rune == 0x2028 || rune == 0x2029 || rune == 0x202f ||
	       rune == 0x205f || rune == 0x3000;
}

struct bt_cel_value bt_cel_trim(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	BT_INVARIANT(args[0].kind == BT_CEL_K_STRING);
	struct bt_str text = args[0].text;
	size_t start = 0;
	size_t end = 0;
	uint32_t rune;

	(void)run;
	(void)arg_n;
	for (size_t i = 0; i < text.len;) {
		size_t n = bt_utf8_decode(text, i, &rune);

		i += n;
		if (!is_space(rune)) {
			end = i;
		} else if (end == 0) {
			start = i;
		}
	}
	return bt_cel_text(end ? bt_str_sub(text, start, end) : (struct bt_str){NULL, 0});
}

/* How often the pattern occurs in the text without overlap; an empty one occurs around every code point. */
static size_t cel_string_count(struct bt_str text, struct bt_str pattern)
{
	size_t n = 0;

	if (pattern.len == 0) {
		return bt_utf8_rune_n(text) + 1;
	}
	for (size_t at = cel_string_find(text, pattern, 0); at <= text.len;
		at = cel_string_find(text, pattern, at + pattern.len)) {
		n++;
	}
	return n;
}

static void cel_string_put(char *out, size_t *n, struct bt_str text)
{
	if (text.len) {
		memcpy(out + *n, text.ptr, text.len);
		*n += text.len;
	}
}

struct bt_cel_value bt_cel_replace(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	BT_INVARIANT(args[0].kind == BT_CEL_K_STRING && args[1].kind == BT_CEL_K_STRING && arg_n >= 3);
	struct bt_str text = args[0].text;
	struct bt_str old = args[1].text;
	size_t n = cel_string_count(text, old);
	size_t out_n = 0;
	size_t from = 0;
	uint32_t rune;

	if (arg_n > 3 && args[3].integer >= 0 && (uint64_t)args[3].integer < n) {
		n = (size_t)args[3].integer;
	}
	char *out = bt_cel_alloc(run, text.len + n * args[2].text.len + 1);
	if (!out) {
		return failed();
	}
	for (size_t i = 0; i < n; i++) {
		size_t at = from;

		if (old.len == 0) {
			at += i > 0 && from < text.len ? bt_utf8_decode(text, from, &rune) : 0;
		} else {
			at = cel_string_find(text, old, from);
		}
		cel_string_put(out, &out_n, bt_str_sub(text, from, at));
		cel_string_put(out, &out_n, args[2].text);
		from = at + old.len;
	}
	cel_string_put(out, &out_n, bt_str_sub(text, from, text.len));
	return bt_cel_text((struct bt_str){out, out_n});
}

struct bt_cel_value bt_cel_split(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	BT_INVARIANT(args[0].kind == BT_CEL_K_STRING && args[1].kind == BT_CEL_K_STRING);
	struct bt_str text = args[0].text;
	struct bt_str separator = args[1].text;
	size_t n = separator.len ? cel_string_count(text, separator) + 1 : bt_utf8_rune_n(text);
	size_t from = 0;
	uint32_t rune;

	if (arg_n > 2 && args[2].integer >= 0 && (uint64_t)args[2].integer < n) {
		n = (size_t)args[2].integer;
	}
	struct bt_cel_value list = bt_cel_new_list(run, n);
	for (uint32_t i = 0; list.kind == BT_CEL_K_LIST && i < list.n; i++) {
		size_t end = text.len;

		if (i + 1 < list.n) {
			end = separator.len ? cel_string_find(text, separator, from)
					    : from + bt_utf8_decode(text, from, &rune);
		}
		list.items->values[i] = bt_cel_text(bt_str_sub(text, from, end));
		from = end + separator.len;
	}
	return list;
}

struct bt_cel_value bt_cel_join(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	BT_INVARIANT(args[0].kind == BT_CEL_K_LIST);
	struct bt_str separator = arg_n > 1 ? args[1].text : (struct bt_str){NULL, 0};
	size_t size = 1;
	size_t n = 0;

	for (uint32_t i = 0; i < args[0].n; i++) {
		const struct bt_cel_value *value = &args[0].items->values[i];

		if (value->kind != BT_CEL_K_STRING) {
			struct bt_buf text = {0};

			bt_cel_print(value, &text);
			struct bt_cel_value error = bt_cel_fail(
				run, "join: invalid input: %.*s", (int)text.len, text.ptr ? text.ptr : "");
			bt_buf_fini(&text);
			return error;
		}
		size += value->text.len + separator.len;
	}
	char *out = bt_cel_alloc(run, size);
	if (!out) {
		return failed();
	}
	for (uint32_t i = 0; i < args[0].n; i++) {
		cel_string_put(out, &n, i ? separator : (struct bt_str){NULL, 0});
		cel_string_put(out, &n, args[0].items->values[i].text);
	}
	return bt_cel_text((struct bt_str){out, n});
}

struct bt_cel_value bt_cel_quote(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	static const char special[] = "\a\b\f\n\r\t\v\\\"";
	static const char letters[] = "abfnrtv\\\"";
	struct bt_str text = args[0].text;
	char *out = bt_cel_alloc(run, text.len * 3 + 6);
	size_t n = 0;
	uint32_t rune;

	(void)arg_n;
	if (!out) {
		return failed();
	}
	out[n++] = '"';
	for (size_t i = 0; i < text.len;) {
		i += bt_utf8_decode(text, i, &rune);
		const char *hit = rune && rune < 0x80 ? strchr(special, (int)rune) : NULL;
		if (hit) {
			out[n++] = '\\';
			out[n++] = letters[hit - special];
		} else {
			n += bt_utf8_encode(rune, out + n);
		}
	}
	out[n++] = '"';
	return bt_cel_text((struct bt_str){out, n});
}

/* ---- patterns ---- */

/* The pattern of a call: precompiled, or compiled now and owned by the call. */
struct cel_string_pattern {
	const struct bt_re2 *re2; /* NULL: it does not compile; the reason is in error */
	struct bt_re2 *own;
	struct bt_cel_value error;
};

static struct cel_string_pattern take_pattern(
	struct bt_cel_run *run, const struct bt_cel_value *value, const char *prefix)
{
	struct bt_buf text = {0};
	struct cel_string_pattern pattern = {0};

	if (value->kind == BT_CEL_K_DYN) {
		pattern.re2 = value->regex;
		return pattern;
	}
	if (value->text.len > BT_CEL_EXPRESSION_MAX) {
		pattern.error = bt_cel_fail(run, "%serror parsing regexp: expression too large", prefix);
		return pattern;
	}
	pattern.re2 = pattern.own = bt_cel_regex_compile(value->text, &run->left_bytes, &text);
	if (!pattern.re2 && run->left_bytes == 0) {
		run->cancelled = bt_cel_memory_text;
	}
	if (!pattern.re2) {
		pattern.error = bt_cel_fail(run, "%s%.*s", prefix, BT_STR_ARG(bt_buf_view(&text)));
	}
	bt_buf_fini(&text);
	return pattern;
}

struct bt_cel_value bt_cel_matches(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	if (args[0].kind != BT_CEL_K_STRING) {
		return bt_cel_fail(run, "no such overload: matches");
	}
	if (args[1].kind != BT_CEL_K_STRING && args[1].kind != BT_CEL_K_DYN) {
		return bt_cel_no_overload();
	}
	struct cel_string_pattern pattern = take_pattern(run, &args[1], "");
	if (!pattern.re2) {
		return pattern.error;
	}
	bool found = bt_cel_regex_find(run, pattern.re2, args[0].text, 0, NULL, NULL);
	bt_re2_destroy(pattern.own);
	return bt_cel_bool(found);
}

struct bt_cel_value bt_cel_find_pattern(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct cel_string_pattern pattern = take_pattern(run, &args[1], "Illegal regex: ");
	size_t start, end;

	(void)arg_n;
	if (!pattern.re2) {
		return pattern.error;
	}
	bool found = bt_cel_regex_find(run, pattern.re2, args[0].text, 0, &start, &end);
	bt_re2_destroy(pattern.own);
	return bt_cel_text(found ? bt_str_sub(args[0].text, start, end) : (struct bt_str){NULL, 0});
}

struct bt_cel_value bt_cel_find_all(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_str text = args[0].text;
	struct bt_cel_value list = bt_cel_new_list(run, 0);
	int64_t left = arg_n > 2 ? args[2].integer : -1;
	size_t before = SIZE_MAX; /* end of the last match */
	size_t start;
	size_t end;
	uint32_t rune;

	struct cel_string_pattern pattern = take_pattern(run, &args[1], "Illegal regex: ");
	if (!pattern.re2) {
		return pattern.error;
	}
	for (size_t from = 0; from <= text.len && left != 0 && list.kind == BT_CEL_K_LIST;) {
		if (!bt_cel_regex_find(run, pattern.re2, text, from, &start, &end)) {
			break;
		}
		/* Skips an empty match right after another match. */
		if (end > start || start != before) {
			struct bt_cel_value match = bt_cel_text(bt_str_sub(text, start, end));

			list = bt_cel_append(run, &list, &match, 1);
			left--;
		}
		before = end;
		from = end > start ? end : end + (end < text.len ? bt_utf8_decode(text, end, &rune) : 1);
	}
	bt_re2_destroy(pattern.own);
	return list;
}
