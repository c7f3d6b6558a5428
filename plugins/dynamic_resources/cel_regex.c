/* SPDX-License-Identifier: Apache-2.0
 * Reads patterns in the syntax of Go's regexp (RE2) and makes programs of them. Unicode classes (\p) are not
 * supported, and case is folded for ASCII alone. Source: Go, regexp/syntax.
 */
#include "plugins/dynamic_resources/cel_regex_int.h"

#include "engine/base/utf8.h"

#define RUNE_MAX   0x10ffffu
#define REPEAT_MAX 1000	 /* of x{n}, also of nested ones together */
#define INSTS_MAX  20000 /* larger programs are refused */
#define DEPTH_MAX  1000

enum part_kind { PART_EMPTY, PART_CLASS, PART_ASSERT, PART_CAT, PART_ALT, PART_REPEAT };

struct part {
	enum part_kind kind;
	enum bt_cel_regex_assertion assertion;
	struct bt_cel_range *ranges;
	uint32_t range_n;
	int min, max; /* repetitions; max -1: any number */
	bool greedy;
	struct part *first; /* parts of it, in a list by next */
	struct part *next;
};

struct reader {
	struct bt_arena *arena;
	struct bt_str pattern;
	size_t at;
	bool fold_case, dot_all, many_lines, ungreedy;
	uint32_t depth;
	size_t used_bytes, max_bytes;
	struct bt_buf *error; /* NULL: nobody wants to know */
	bool failed;
};

/* A class that grows. */
struct class
{
	struct bt_cel_range *ranges;
	uint32_t n, cap_n;
};

static struct part *read_alternatives(struct reader *reader);

static void *fail(struct reader *reader, const char *why, size_t from, size_t to)
{
	if (!reader->failed && reader->error) {
		bt_buf_printf(reader->error, "error parsing regexp: %s: `%.*s`", why, (int)(to - from),
			reader->pattern.ptr + from);
	}
	reader->failed = true;
	return NULL;
}

/* Memory from the arena, on the account of the pattern. Reading ends soon after it is overdrawn. */
static void *take(struct reader *reader, size_t size)
{
	reader->used_bytes += size;
	if (reader->used_bytes > reader->max_bytes) {
		fail(reader, "expression too large", 0, reader->pattern.len);
	}
	return bt_arena_alloc(reader->arena, size, 8);
}

static struct part *new_part(struct reader *reader, enum part_kind kind)
{
	struct part *part = take(reader, sizeof(*part));

	*part = (struct part){0};
	part->kind = kind;
	return part;
}

static inline bool more(const struct reader *reader)
{
	return reader->at < reader->pattern.len;
}

static inline char peek(const struct reader *reader, size_t ahead)
{
	return reader->at + ahead < reader->pattern.len ? reader->pattern.ptr[reader->at + ahead] : '\0';
}

static bool is_next(const struct reader *reader, const char *text)
{
	return bt_str_starts(bt_str_sub(reader->pattern, reader->at, reader->pattern.len), text);
}

/* ---- classes ---- */

static void add_range(struct reader *reader, struct class *class, uint32_t first, uint32_t last)
{
	if (first > last) {
		return;
	}
	if (class->n == class->cap_n) {
		uint32_t cap_n = class->cap_n ? class->cap_n * 2 : 4;
		struct bt_cel_range *ranges = take(reader, cap_n * sizeof(*ranges));

		if (class->n) {
			memcpy(ranges, class->ranges, class->n * sizeof(*ranges));
		}
		class->ranges = ranges;
		class->cap_n = cap_n;
	}
	/* Kept in order, so that ranges can be joined and turned around. */
	uint32_t ix = class->n++;
	for (; ix > 0 && class->ranges[ix - 1].first > first; ix--) {
		class->ranges[ix] = class->ranges[ix - 1];
	}
	class->ranges[ix] = (struct bt_cel_range){first, last};
}

/* Upper and lower case, and the two letters of other scripts that fold to ASCII. */
static void add_folded(struct reader *reader, struct class *class, uint32_t first, uint32_t last)
{
	add_range(reader, class, first, last);
	if (!reader->fold_case) {
		return;
	}
	for (uint32_t c = 'a'; c <= 'z'; c++) {
		uint32_t upper = c - ('a' - 'A');
		bool has = (c >= first && c <= last) || (upper >= first && upper <= last);
		uint32_t other = c == 'k' ? 0x212a : c == 's' ? 0x17f : 0;

		if (other && other >= first && other <= last) {
			has = true;
		}
		if (has) {
			add_range(reader, class, c, c);
			add_range(reader, class, upper, upper);
			if (other) {
				add_range(reader, class, other, other);
			}
		}
	}
}

static void join_ranges(struct class *class)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < class->n; i++) {
		struct bt_cel_range range = class->ranges[i];

		if (n > 0 && range.first <= class->ranges[n - 1].last + 1) {
			if (range.last > class->ranges[n - 1].last) {
				class->ranges[n - 1].last = range.last;
			}
		} else {
			class->ranges[n++] = range;
		}
	}
	class->n = n;
}

/* What the class does not have, added to another one. */
static void add_rest(struct reader *reader, struct class *to, struct class *class)
{
	uint32_t next = 0;

	join_ranges(class);
	for (uint32_t i = 0; i < class->n; i++) {
		if (class->ranges[i].first > next) {
			add_range(reader, to, next, class->ranges[i].first - 1);
		}
		next = class->ranges[i].last + 1;
	}
	if (next <= RUNE_MAX) {
		add_range(reader, to, next, RUNE_MAX);
	}
}

static struct part *class_part(struct reader *reader, struct class *class)
{
	struct part *part = new_part(reader, PART_CLASS);

	join_ranges(class);
	part->ranges = class->ranges;
	part->range_n = class->n;
	return part;
}

static struct part *literal(struct reader *reader, uint32_t rune)
{
	struct class class = {0};

	add_folded(reader, &class, rune, rune);
	return class_part(reader, &class);
}

struct named_class {
	const char *name;
	struct bt_cel_range ranges[4];
	uint32_t n;
};

static const struct named_class named_classes[] = {{"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, 3},
	{"alpha", {{'A', 'Z'}, {'a', 'z'}}, 2}, {"ascii", {{0, 0x7f}}, 1},
	{"blank", {{'\t', '\t'}, {' ', ' '}}, 2}, {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}, 2},
	{"digit", {{'0', '9'}}, 1}, {"graph", {{'!', '~'}}, 1}, {"lower", {{'a', 'z'}}, 1},
	{"print", {{' ', '~'}}, 1}, {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, 4},
	{"space", {{'\t', '\r'}, {' ', ' '}}, 2}, {"upper", {{'A', 'Z'}}, 1},
	{"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, 4},
	{"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, 3}};

static const struct named_class perl_classes[] = {{"d", {{'0', '9'}}, 1},
	{"s", {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}, 3},
	{"w", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, 4}};

static void add_named(
	struct reader *reader, struct class *class, const struct named_class *named, bool negated)
{
	struct class whole = {0};

	for (uint32_t i = 0; i < named->n; i++) {
		add_folded(reader, &whole, named->ranges[i].first, named->ranges[i].last);
	}
	if (negated) {
		add_rest(reader, class, &whole);
		return;
	}
	for (uint32_t i = 0; i < whole.n; i++) {
		add_range(reader, class, whole.ranges[i].first, whole.ranges[i].last);
	}
}

/* \d \s \w and their opposites. */
static bool read_perl_class(struct reader *reader, struct class *class)
{
	if (peek(reader, 0) != '\\' || reader->at + 1 >= reader->pattern.len) {
		return false;
	}
	char c = peek(reader, 1);
	for (size_t i = 0; i < sizeof(perl_classes) / sizeof(*perl_classes); i++) {
		if ((c | 0x20) == perl_classes[i].name[0]) {
			add_named(reader, class, &perl_classes[i], c != perl_classes[i].name[0]);
			reader->at += 2;
			return true;
		}
	}
	return false;
}

static bool refuse_unicode_class(struct reader *reader)
{
	if (peek(reader, 0) != '\\' || (peek(reader, 1) | 0x20) != 'p') {
		return false;
	}
	size_t end =
		peek(reader, 2) == '{' ? bt_str_find(reader->pattern, '}', reader->at) + 1 : reader->at + 3;
	fail(reader, "Unicode classes are not supported", reader->at,
		end < reader->pattern.len ? end : reader->pattern.len);
	return true;
}

/* ---- escapes ---- */

static int hex(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The digits behind \x; false: they are wrong. */
static bool read_hex(struct reader *reader, uint32_t *out_rune)
{
	uint32_t rune = 0;
	uint32_t n = 0;

	if (peek(reader, 0) != '{') {
		if (hex(peek(reader, 0)) < 0 || hex(peek(reader, 1)) < 0) {
			return false;
		}
		*out_rune = (uint32_t)(hex(peek(reader, 0)) << 4 | hex(peek(reader, 1)));
		reader->at += 2;
		return true;
	}
	for (reader->at++; hex(peek(reader, 0)) >= 0 && rune <= RUNE_MAX; reader->at++, n++) {
		rune = rune * 16 + (uint32_t)hex(peek(reader, 0));
	}
	if (n == 0 || rune > RUNE_MAX || peek(reader, 0) != '}') {
		return false;
	}
	reader->at++;
	*out_rune = rune;
	return true;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* The character that an escape sequence stands for; false after an error. */
static bool read_escape(struct reader *reader, uint32_t *out_rune)
{
	static const char letters[] = "afnrtv";
	static const char values[] = "\a\f\n\r\t\v";
	size_t start = reader->at;
	uint32_t rune;

	reader->at++;
	if (!more(reader)) {
		if (!reader->failed && reader->error) {
			bt_buf_text(reader->error,
				"error parsing regexp: trailing backslash at end of expression: ``");
		}
		reader->failed = true;
		return false;
	}
	char c = peek(reader, 0);
	reader->at += bt_utf8_decode(reader->pattern, reader->at, &rune);
	if (c == '0' || (c >= '1' && c <= '7' && is_octal(peek(reader, 0)))) {
		*out_rune = (uint32_t)(c - '0');
		for (int i = 1; i < 3 && is_octal(peek(reader, 0)); i++) {
			*out_rune = *out_rune * 8 + (uint32_t)(peek(reader, 0) - '0');
			reader->at++;
		}
		return true;
	}
	if (c == 'x' && read_hex(reader, out_rune)) {
		return true;
	}
	const char *letter = strchr(letters, c);
	if (c && letter) {
		*out_rune = (uint32_t)values[letter - letters];
		return true;
	}
	bool word = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
	if (rune < 0x80 && !word) {
		*out_rune = rune;
		return true;
	}
	fail(reader, "invalid escape sequence", start, reader->at);
	return false;
}

/* One end of a range in a class. */
static bool read_class_rune(struct reader *reader, size_t class_start, uint32_t *out_rune)
{
	if (!more(reader)) {
		fail(reader, "missing closing ]", class_start, reader->pattern.len);
		return false;
	}
	if (peek(reader, 0) == '\\') {
		return read_escape(reader, out_rune);
	}
	reader->at += bt_utf8_decode(reader->pattern, reader->at, out_rune);
	return true;
}

/* [:name:]; false: there is none, or an error. */
static bool read_named_class(struct reader *reader, struct class *class)
{
	size_t start = reader->at;
	size_t name = start + 2;

	if (!is_next(reader, "[:")) {
		return false;
	}
	size_t end = name;
	while (end + 1 < reader->pattern.len &&
		!(reader->pattern.ptr[end] == ':' && reader->pattern.ptr[end + 1] == ']')) {
		end++;
	}
	if (end + 1 >= reader->pattern.len) {
		return false;
	}
	bool negated = reader->pattern.ptr[name] == '^';
	struct bt_str text = bt_str_sub(reader->pattern, name + negated, end);
	for (size_t i = 0; i < sizeof(named_classes) / sizeof(*named_classes); i++) {
		if (bt_str_is(text, named_classes[i].name)) {
			add_named(reader, class, &named_classes[i], negated);
			reader->at = end + 2;
			return true;
		}
	}
	fail(reader, "invalid character class range", start, end + 2);
	return false;
}

static bool read_class_item(struct reader *reader, struct class *class, size_t start)
{
	uint32_t first;
	uint32_t last;

	if (read_named_class(reader, class) || read_perl_class(reader, class)) {
		return true;
	}
	if (reader->failed || refuse_unicode_class(reader)) {
		return false;
	}
	size_t from = reader->at;
	if (!read_class_rune(reader, start, &first)) {
		return false;
	}
	last = first;
	/* A '-' before the end stands for itself. */
	if (peek(reader, 0) == '-' && reader->at + 1 < reader->pattern.len && peek(reader, 1) != ']') {
		reader->at++;
		if (!read_class_rune(reader, start, &last)) {
			return false;
		}
		if (last < first) {
			fail(reader, "invalid character class range", from, reader->at);
			return false;
		}
	}
	add_folded(reader, class, first, last);
	return true;
}

static struct part *read_class(struct reader *reader)
{
	size_t start = reader->at;
	struct class class = {0};
	bool first = true;

	reader->at++;
	bool negated = peek(reader, 0) == '^';
	reader->at += negated;
	while (!more(reader) || peek(reader, 0) != ']' || first) {
		/* A '-' is fine at either end; between others it is an error in Go, but not for Perl. */
		if (!more(reader)) {
			return fail(reader, "missing closing ]", start, reader->pattern.len);
		}
		first = false;
		if (!read_class_item(reader, &class, start)) {
			return NULL;
		}
	}
	reader->at++;
	if (negated) {
		struct class rest = {0};

		add_rest(reader, &rest, &class);
		return class_part(reader, &rest);
	}
	return class_part(reader, &class);
}

/* ---- groups, repetition, and the whole ---- */

static struct part *assertion(struct reader *reader, enum bt_cel_regex_assertion assertion, size_t n)
{
	struct part *part = new_part(reader, PART_ASSERT);

	part->assertion = assertion;
	reader->at += n;
	return part;
}

/* (?flags) and (?flags:...): true when a group follows. */
static bool read_flags(struct reader *reader, size_t start, bool *out_group)
{
	bool set = true;
	bool any = false;

	for (;;) {
		char c = peek(reader, 0);

		if (!more(reader)) {
			fail(reader, "missing closing )", 0, reader->pattern.len);
			return false;
		}
		reader->at++;
		if (c == 'i') {
			reader->fold_case = set;
		} else if (c == 'm') {
			reader->many_lines = set;
		} else if (c == 's') {
			reader->dot_all = set;
		} else if (c == 'U') {
			reader->ungreedy = set;
		} else if (c == '-' && set) {
			set = false;
			any = false;
			continue;
		} else if ((c == ')' || c == ':') && (set || any)) {
			*out_group = c == ':';
			return true;
		} else {
			fail(reader, "invalid or unsupported Perl syntax", start, reader->at);
			return false;
		}
		any = true;
	}
}

/* The name in (?P<name> or (?<name>. */
static bool read_group_name(struct reader *reader, size_t start)
{
	size_t end = bt_str_find(reader->pattern, '>', reader->at);

	if (end == reader->pattern.len) {
		fail(reader, "invalid named capture", start, reader->pattern.len);
		return false;
	}
	bool fine = end > reader->at;
	for (size_t i = reader->at; i < end; i++) {
		char c = reader->pattern.ptr[i];

		fine &= c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
	}
	if (!fine) {
		fail(reader, "invalid named capture", start, end + 1);
		return false;
	}
	reader->at = end + 1;
	return true;
}

static struct part *read_group(struct reader *reader)
{
	struct reader before = *reader;
	size_t start = reader->at;
	bool group = true;

	reader->at++;
	if (is_next(reader, "?P<") || is_next(reader, "?<")) {
		reader->at += is_next(reader, "?P<") ? 3 : 2;
		if (!read_group_name(reader, start)) {
			return NULL;
		}
	} else if (peek(reader, 0) == '?') {
		reader->at++;
		if (!read_flags(reader, start, &group)) {
			return NULL;
		}
		if (!group) {
			return new_part(reader, PART_EMPTY);
		}
	}
	if (++reader->depth > DEPTH_MAX) {
		return fail(reader, "expression nests too deeply", 0, reader->pattern.len);
	}
	struct part *part = read_alternatives(reader);
	reader->depth--;
	if (!part) {
		return NULL;
	}
	if (peek(reader, 0) != ')') {
		return fail(reader, "missing closing )", 0, reader->pattern.len);
	}
	reader->at++;
	reader->fold_case = before.fold_case;
	reader->dot_all = before.dot_all;
	reader->many_lines = before.many_lines;
	reader->ungreedy = before.ungreedy;
	return part;
}

static struct part *read_dot(struct reader *reader)
{
	struct class class = {0};

	reader->at++;
	if (reader->dot_all) {
		add_range(reader, &class, 0, RUNE_MAX);
	} else {
		add_range(reader, &class, 0, '\n' - 1);
		add_range(reader, &class, '\n' + 1, RUNE_MAX);
	}
	return class_part(reader, &class);
}

/* \Q...\E, all of it literal. */
static struct part *read_quoted(struct reader *reader)
{
	struct part *all = new_part(reader, PART_CAT);
	struct part **last = &all->first;
	uint32_t rune;

	for (reader->at += 2; more(reader) && !is_next(reader, "\\E");) {
		reader->at += bt_utf8_decode(reader->pattern, reader->at, &rune);
		*last = literal(reader, rune);
		last = &(*last)->next;
	}
	reader->at += more(reader) ? 2 : 0;
	return all;
}

static struct part *read_backslash(struct reader *reader)
{
	struct class class = {0};
	uint32_t rune;

	switch (peek(reader, 1)) {
	case 'A':
		return assertion(reader, BT_CEL_RE_BEGIN_TEXT, 2);
	case 'z':
		return assertion(reader, BT_CEL_RE_END_TEXT, 2);
	case 'b':
		return assertion(reader, BT_CEL_RE_WORD, 2);
	case 'B':
		return assertion(reader, BT_CEL_RE_NO_WORD, 2);
	case 'Q':
		return read_quoted(reader);
	default:
		break;
	}
	if (refuse_unicode_class(reader)) {
		return NULL;
	}
	if (read_perl_class(reader, &class)) {
		return class_part(reader, &class);
	}
	return read_escape(reader, &rune) ? literal(reader, rune) : NULL;
}

static struct part *read_atom(struct reader *reader)
{
	uint32_t rune;

	switch (peek(reader, 0)) {
	case '(':
		return read_group(reader);
	case '[':
		return read_class(reader);
	case '.':
		return read_dot(reader);
	case '^':
		return assertion(reader, reader->many_lines ? BT_CEL_RE_BEGIN_LINE : BT_CEL_RE_BEGIN_TEXT, 1);
	case '$':
		return assertion(reader, reader->many_lines ? BT_CEL_RE_END_LINE : BT_CEL_RE_END_TEXT, 1);
	case '\\':
		return read_backslash(reader);
	default:
		reader->at += bt_utf8_decode(reader->pattern, reader->at, &rune);
		return literal(reader, rune);
	}
}

/* Digits of a repeat count; -1: none, too large ones are just above the limit. */
static int read_count(struct reader *reader)
{
	int count = 0;

	if (peek(reader, 0) < '0' || peek(reader, 0) > '9' ||
		(peek(reader, 0) == '0' && peek(reader, 1) >= '0' && peek(reader, 1) <= '9')) {
		return -1;
	}
	for (; peek(reader, 0) >= '0' && peek(reader, 0) <= '9'; reader->at++) {
		count = count > REPEAT_MAX ? count : count * 10 + (peek(reader, 0) - '0');
	}
	return count;
}

/* A repetition operator; false: there is none, and nothing was read. */
static bool read_operator(struct reader *reader, int *out_min, int *out_max)
{
	size_t start = reader->at;

	*out_min = peek(reader, 0) == '+';
	*out_max = peek(reader, 0) == '?' ? 1 : -1;
	if (more(reader) && peek(reader, 0) && strchr("*+?", peek(reader, 0))) {
		reader->at++;
		return true;
	}
	if (peek(reader, 0) != '{') {
		return false;
	}
	reader->at++;
	*out_min = read_count(reader);
	*out_max = *out_min;
	if (*out_min >= 0 && peek(reader, 0) == ',') {
		reader->at++;
		*out_max = peek(reader, 0) == '}' ? -1 : read_count(reader);
		if (*out_max < 0 && peek(reader, 0) != '}') {
			*out_min = -1;
		}
	}
	if (*out_min < 0 || peek(reader, 0) != '}') {
		reader->at = start;
		return false;
	}
	reader->at++;
	return true;
}

/* How many copies the repetitions of a part make in the worst case. */
static long copies(const struct part *part)
{
	long most = 1;

	for (const struct part *sub = part->first; sub; sub = sub->next) {
		long n = copies(sub);

		most = n > most ? n : most;
	}
	if (part->kind == PART_REPEAT) {
		long times = part->max > part->min ? part->max : part->min;

		most *= times > 1 ? times : 1;
	}
	return most > 2L * REPEAT_MAX ? 2L * REPEAT_MAX : most;
}

static struct part *read_repetition(struct reader *reader, struct part *part)
{
	size_t before = SIZE_MAX;
	int min;
	int max;

	for (;;) {
		size_t start = reader->at;
		bool counted = peek(reader, 0) == '{';

		if (!more(reader) || !read_operator(reader, &min, &max)) {
			return part;
		}
		if (counted && (min > REPEAT_MAX || max > REPEAT_MAX || (max >= 0 && max < min))) {
			return fail(reader, "invalid repeat count", start, reader->at);
		}
		bool lazy = peek(reader, 0) == '?';
		reader->at += lazy;
		if (before != SIZE_MAX) {
			return fail(reader, "invalid nested repetition operator", before, reader->at);
		}
		before = start;
		struct part *repeat = new_part(reader, PART_REPEAT);
		repeat->min = min;
		repeat->max = max;
		repeat->greedy = lazy == reader->ungreedy;
		repeat->first = part;
		if (counted && (min >= 2 || max >= 2) && copies(repeat) > REPEAT_MAX) {
			return fail(reader, "invalid repeat count", start, reader->at);
		}
		part = repeat;
	}
}

static struct part *read_sequence(struct reader *reader)
{
	struct part *all = new_part(reader, PART_CAT);
	struct part **last = &all->first;
	int min;
	int max;

	while (more(reader) && peek(reader, 0) != '|' && peek(reader, 0) != ')') {
		size_t start = reader->at;

		if (read_operator(reader, &min, &max)) {
			return fail(reader, "missing argument to repetition operator", start, reader->at);
		}
		struct part *part = read_atom(reader);
		part = part ? read_repetition(reader, part) : NULL;
		if (!part || reader->failed) {
			return NULL;
		}
		*last = part;
		last = &part->next;
	}
	return all;
}

static struct part *read_alternatives(struct reader *reader)
{
	struct part *all = new_part(reader, PART_ALT);
	struct part **last = &all->first;

	for (;;) {
		struct part *part = read_sequence(reader);

		if (!part) {
			return NULL;
		}
		*last = part;
		last = &part->next;
		if (peek(reader, 0) != '|') {
			return all;
		}
		reader->at++;
	}
}

/* ---- programs, written from the end to the start ---- */

struct writer {
	struct bt_arena *arena;
	struct bt_cel_regex *regex;
	uint32_t max_n; /* instructions */
	bool full;
};

static uint32_t add_inst(struct writer *writer, struct bt_cel_regex_inst inst)
{
	struct bt_cel_regex *regex = writer->regex;

	if (regex->inst_n >= writer->max_n) {
		writer->full = true;
		return 0;
	}
	if (regex->inst_n == regex->cap_n) {
		uint32_t cap_n = regex->cap_n ? regex->cap_n * 2 : 16;
		struct bt_cel_regex_inst *insts = bt_arena_alloc(writer->arena, cap_n * sizeof(*insts), 8);

		if (regex->inst_n) {
			memcpy(insts, regex->insts, regex->inst_n * sizeof(*insts));
		}
		regex->insts = insts;
		regex->cap_n = cap_n;
	}
	regex->insts[regex->inst_n] = inst;
	return regex->inst_n++;
}

static uint32_t write_part(struct writer *writer, const struct part *part, uint32_t out);

static uint32_t split(struct writer *writer, uint32_t more_at, uint32_t out, bool greedy)
{
	return add_inst(writer, (struct bt_cel_regex_inst){.op = BT_CEL_RE_SPLIT,
					.out = greedy ? more_at : out,
					.other = greedy ? out : more_at});
}

static bool can_be_empty(const struct part *part)
{
	bool all = true;
	bool any = false;

	switch (part->kind) {
	case PART_CLASS:
		return false;
	case PART_REPEAT:
		return part->min == 0 || can_be_empty(part->first);
	case PART_CAT:
	case PART_ALT:
		for (const struct part *sub = part->first; sub; sub = sub->next) {
			all &= can_be_empty(sub);
			any |= can_be_empty(sub);
		}
		return part->kind == PART_CAT ? all : any;
	default:
		return true;
	}
}

/* Once or more. */
static uint32_t write_plus(struct writer *writer, const struct part *part, uint32_t out, bool greedy)
{
	uint32_t loop = split(writer, 0, out, greedy);
	uint32_t body = write_part(writer, part, loop);

	if (greedy) {
		writer->regex->insts[loop].out = body;
	} else {
		writer->regex->insts[loop].other = body;
	}
	return body;
}

static uint32_t write_star(struct writer *writer, const struct part *part, uint32_t out, bool greedy)
{
	uint32_t loop;

	/* What may be empty is tried once, and then again: the order in which Go tries. */
	if (can_be_empty(part)) {
		return split(writer, write_plus(writer, part, out, greedy), out, greedy);
	}
	loop = split(writer, 0, out, greedy);
	uint32_t body = write_part(writer, part, loop);
	if (greedy) {
		writer->regex->insts[loop].out = body;
	} else {
		writer->regex->insts[loop].other = body;
	}
	return loop;
}

static uint32_t write_repeat(struct writer *writer, const struct part *part, uint32_t out)
{
	const struct part *body = part->first;
	uint32_t at = out;

	if (part->max < 0) {
		at = part->min == 0 ? write_star(writer, body, out, part->greedy)
				    : write_plus(writer, body, out, part->greedy);
		for (int i = 1; i < part->min; i++) {
			at = write_part(writer, body, at);
		}
		return at;
	}
	/* (x(x(x)?)?)? behind what must be there. */
	for (int i = part->min; i < part->max && !writer->full; i++) {
		at = split(writer, write_part(writer, body, at), out, part->greedy);
	}
	for (int i = 0; i < part->min && !writer->full; i++) {
		at = write_part(writer, body, at);
	}
	return at;
}

static uint32_t write_sequence(struct writer *writer, const struct part *part, uint32_t out)
{
	uint32_t n = 0;

	for (const struct part *sub = part; sub; sub = sub->next) {
		n++;
	}
	const struct part **parts = bt_arena_alloc(writer->arena, (n + 1) * sizeof(*parts), 8);
	n = 0;
	for (const struct part *sub = part; sub; sub = sub->next) {
		parts[n++] = sub;
	}
	for (; n > 0; n--) {
		out = write_part(writer, parts[n - 1], out);
	}
	return out;
}

static uint32_t write_alternatives(struct writer *writer, const struct part *part, uint32_t out)
{
	uint32_t first = write_part(writer, part, out);

	return part->next ? split(writer, first, write_alternatives(writer, part->next, out), true) : first;
}

static uint32_t write_part(struct writer *writer, const struct part *part, uint32_t out)
{
	if (writer->full) {
		return 0;
	}
	switch (part->kind) {
	case PART_EMPTY:
		return out;
	case PART_CLASS:
		return add_inst(writer, (struct bt_cel_regex_inst){.op = BT_CEL_RE_CLASS,
						.out = out,
						.ranges = part->ranges,
						.range_n = part->range_n});
	case PART_ASSERT:
		return add_inst(writer,
			(struct bt_cel_regex_inst){
				.op = BT_CEL_RE_ASSERT, .assertion = (uint8_t)part->assertion, .out = out});
	case PART_CAT:
		return write_sequence(writer, part->first, out);
	case PART_ALT:
		return write_alternatives(writer, part->first, out);
	case PART_REPEAT:
		return write_repeat(writer, part, out);
	}
	return out;
}

/* What an instruction takes, in a program that has grown by doubling. */
#define INSTRUCTION_BYTES (3 * sizeof(struct bt_cel_regex_inst))

const struct bt_cel_regex *bt_cel_regex_compile(
	struct bt_arena *arena, struct bt_str pattern, size_t *left_bytes, struct bt_buf *error)
{
	struct reader reader = {.arena = arena, .pattern = pattern, .error = error, .max_bytes = *left_bytes};
	struct bt_cel_regex *regex = take(&reader, sizeof(*regex));
	struct part *whole = read_alternatives(&reader);

	if (whole && reader.at < pattern.len) {
		whole = fail(&reader, "unexpected )", 0, pattern.len);
	}
	*left_bytes -= reader.used_bytes < *left_bytes ? reader.used_bytes : *left_bytes;
	if (!whole || reader.failed) {
		return NULL;
	}
	size_t most = *left_bytes / INSTRUCTION_BYTES;
	struct writer writer = {.arena = arena, .regex = regex};
	*regex = (struct bt_cel_regex){0};
	writer.max_n = most < INSTS_MAX ? (uint32_t)most : INSTS_MAX;
	uint32_t match = add_inst(&writer, (struct bt_cel_regex_inst){.op = BT_CEL_RE_MATCH});
	regex->start = write_part(&writer, whole, match);
	*left_bytes -= regex->inst_n * INSTRUCTION_BYTES;
	if (writer.full && writer.max_n < INSTS_MAX) {
		*left_bytes = 0;
	}
	return writer.full ? fail(&reader, "expression too large", 0, pattern.len) : regex;
}
