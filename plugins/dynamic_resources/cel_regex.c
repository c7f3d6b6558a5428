/* SPDX-License-Identifier: Apache-2.0
 * Patterns in the syntax of Go's regexp, matched by RE2, from which Go's package derives. Translates syntax
 * that this RE2 reads differently, and bounds memory and work. Source: Go, regexp/syntax, 1.26.
 */
#include "plugins/dynamic_resources/cel_int.h"

#define PATTERN_BYTES	  1024	     /* memory of a small pattern */
#define INSTRUCTION_BYTES 32	     /* memory of each instruction */
#define TOO_LARGE_BYTES	  (1u << 20) /* memory that rejecting a too large pattern needs */
#define STEP_BYTES	  64	     /* bytes of text per evaluation step */
#define STEP_INSTRUCTIONS 128	     /* for a pattern with at most this many instructions */

/* The end of the item at from: an escape, a quoted run, a class, or a character. */
static size_t skip_item(struct bt_str pattern, size_t from)
{
	size_t at = from + 1;

	if (pattern.ptr[from] == '\\') {
		if (at < pattern.len && pattern.ptr[at] == 'Q') {
			while (at < pattern.len &&
				!bt_str_starts(bt_str_sub(pattern, at, pattern.len), "\\E")) {
				at++;
			}
		}
		return at + 1 < pattern.len ? at + 1 : pattern.len;
	}
	if (pattern.ptr[from] != '[') {
		return at;
	}
	at += at < pattern.len && pattern.ptr[at] == '^';
	/* A leading ] is a member of the class. */
	for (bool first = true; at < pattern.len && (first || pattern.ptr[at] != ']'); first = false) {
		size_t named = bt_str_starts(bt_str_sub(pattern, at, pattern.len), "[:")
				       ? bt_str_find(pattern, ':', at + 2)
				       : pattern.len;

		if (pattern.ptr[at] == '\\') {
			at += 2;
		} else if (named + 1 < pattern.len && pattern.ptr[named + 1] == ']') {
			at = named + 2;
		} else {
			at++;
		}
	}
	return at < pattern.len ? at + 1 : pattern.len;
}

/* Translates the pattern for this RE2: (?<name>, which is newer than it, becomes (?P<name>. Returns whether
 * the pattern contains \C (one byte of a character), which only RE2 has. */
static bool translate(struct bt_str pattern, struct bt_buf *out)
{
	bool has_byte = false;

	for (size_t at = 0, end; at < pattern.len; at = end) {
		struct bt_str rest = bt_str_sub(pattern, at, pattern.len);

		end = skip_item(pattern, at);
		has_byte |= bt_str_starts(rest, "\\C");
		if (bt_str_starts(rest, "(?<")) {
			end = at + 3;
			bt_buf_text(out, "(?P<");
		} else {
			bt_buf_add(out, rest.ptr, end - at);
		}
	}
	return has_byte;
}

static void write_fault(const char *why, struct bt_str part, struct bt_str pattern, struct bt_str translated,
	struct bt_buf *error)
{
	bt_buf_printf(error, "error parsing regexp: %s: `", why);
	if (bt_str_eq(part, translated)) {
		part = pattern;
	}
	if (bt_str_starts(part, "(?P<") && !memmem(pattern.ptr, pattern.len, part.ptr, part.len)) {
		bt_buf_text(error, "(?<");
		part = bt_str_sub(part, 4, part.len);
	}
	bt_buf_str(error, part);
	bt_buf_char(error, '`');
}

/* Subtracts the pattern's memory from *left_bytes. Returns false when not enough is left. */
static bool charge(size_t *left_bytes, size_t bytes)
{
	bool enough = bytes <= *left_bytes;

	*left_bytes = enough ? *left_bytes - bytes : 0;
	return enough;
}

struct bt_re2 *bt_cel_regex_compile(struct bt_str pattern, size_t *left_bytes, struct bt_buf *error)
{
	struct bt_buf translated = {0};
	struct bt_str part = {0};
	bool has_byte = translate(pattern, &translated);
	struct bt_str read = bt_buf_view(&translated);
	struct bt_re2 *re2 = bt_re2_create(read.len ? read.ptr : "", read.len);
	const char *why = bt_re2_fault(re2, &part.ptr, &part.len);
	size_t bytes = PATTERN_BYTES + (why ? pattern.len : bt_re2_instructions(re2) * INSTRUCTION_BYTES);

	if (why == bt_re2_too_large) {
		bytes = TOO_LARGE_BYTES;
		part = pattern;
	} else if (!why && has_byte) {
		why = "invalid escape sequence";
		part = (struct bt_str)BT_STR("\\C");
	}
	if (!charge(left_bytes, bytes) && !why) {
		why = bt_re2_too_large;
		part = pattern;
	}
	if (why) {
		write_fault(why, part, pattern, read, error);
		bt_re2_destroy(re2);
		re2 = NULL;
	}
	bt_buf_fini(&translated);
	return re2;
}

bool bt_cel_regex_find(struct bt_cel_run *run, const struct bt_re2 *re2, struct bt_str text, size_t from,
	size_t *out_start, size_t *out_end)
{
	size_t work = 1 + bt_re2_instructions(re2) / STEP_INSTRUCTIONS;

	return bt_cel_step(run, 1 + (text.len - from) / STEP_BYTES * work) &&
	       bt_re2_find(re2, text.len ? text.ptr : "", text.len, from, out_start, out_end);
}
