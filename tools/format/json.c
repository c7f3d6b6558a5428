/* SPDX-License-Identifier: Apache-2.0
 * The second stage of the JSON reader: a cursor over the tokens of one window at a time.
 */
#include "tools/format/json.h"

#include "engine/base/check.h"
#include "engine/base/compiler.h"
#include "engine/base/mem.h"
#include "engine/base/utf8.h"
#include "tools/format/json_index_int.h"
#include "tools/format/limits.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* owner: the thread that reads */
struct bt_json {
	const char *text;
	size_t len;
	struct bt_arena *arena;
	uint32_t ix;	/* the next token of the window */
	uint32_t depth; /* containers that are open */
	bool fresh;	/* a container was entered and nothing in it was read */
	struct bt_json_error error;
	struct bt_json_window window;
};

struct bt_json *bt_json_create(void)
{
	return bt_mem_zalloc(1, sizeof(struct bt_json));
}

void bt_json_destroy(struct bt_json *json)
{
	bt_mem_free(json);
}

/* Empties the window, so that the next token comes from offset. */
static void restart(struct bt_json *json, size_t offset)
{
	json->ix = 0;
	json->window.n = 0;
	json->window.base = json->text;
	json->window.next_offset = offset;
	json->window.next_in_word = false;
	json->window.status = BT_OK;
}

void bt_json_begin(struct bt_json *json, struct bt_str text, struct bt_arena *arena)
{
	json->text = text.ptr ? text.ptr : "";
	json->len = text.len;
	json->arena = arena;
	json->depth = 0;
	json->fresh = false;
	json->error = (struct bt_json_error){0};
	restart(json, bt_str_starts(text, "\xef\xbb\xbf") ? 3 : 0);
}

static bool stop(struct bt_json *json, enum bt_status status, bool syntax, size_t offset, const char *text)
{
	if (json->error.status == BT_OK) {
		json->error = (struct bt_json_error){status, syntax, offset, text};
	}
	restart(json, json->len);
	return false;
}

void bt_json_fail(struct bt_json *json, enum bt_status status, size_t offset, const char *text)
{
	stop(json, status, false, offset, text);
}

static bool refill(struct bt_json *json)
{
	struct bt_json_window *w = &json->window;

	if (json->error.status != BT_OK) {
		return false;
	}
	json->ix = 0;
	if (w->status == BT_OK && bt_json_index(json->text, json->len, w->next_offset, w->next_in_word, w)) {
		return true;
	}
	if (w->status != BT_OK) {
		return stop(json, w->status, true, w->error_offset, w->error_text);
	}
	w->n = 0;
	return false;
}

/* The next token, or NULL at the end and after an error. */
BT_INLINE const char *token(struct bt_json *json)
{
	if (BT_UNLIKELY(json->ix == json->window.n) && !refill(json)) {
		return NULL;
	}
	return json->window.base + json->window.index[json->ix];
}

static bool json_refuse(struct bt_json *json, const char *at, const char *text)
{
	if (!at) {
		return stop(json, BT_TRUNCATED, true, json->len, "the text ends too early");
	}
	if (*at == '\0') {
		text = "NUL byte";
	}
	return stop(json, BT_INVALID, true, (size_t)(at - json->text), text);
}

bool bt_json_more(struct bt_json *json)
{
	return token(json) != NULL;
}

static enum bt_json_type type_of(char c)
{
	switch (c) {
	case '{':
		return BT_JSON_OBJECT;
	case '[':
		return BT_JSON_ARRAY;
	case '"':
		return BT_JSON_STRING;
	case 't':
	case 'f':
		return BT_JSON_BOOL;
	case 'n':
		return BT_JSON_NULL;
	default:
		return c == '-' || (c >= '0' && c <= '9') ? BT_JSON_NUMBER : BT_JSON_NONE;
	}
}

enum bt_json_type bt_json_peek(struct bt_json *json)
{
	const char *at = token(json);
	enum bt_json_type type = at ? type_of(*at) : BT_JSON_NONE;

	if (type == BT_JSON_NONE) {
		json_refuse(json, at, "expected a value");
	}
	return type;
}

/* The value at the cursor is not of the requested type: a syntax error, or another type. */
static bool mismatch(struct bt_json *json, const char *at, const char *text)
{
	if (!at || type_of(*at) == BT_JSON_NONE) {
		return json_refuse(json, at, "expected a value");
	}
	return stop(json, BT_INVALID, false, (size_t)(at - json->text), text);
}

static bool json_enter(struct bt_json *json, char open, const char *text)
{
	const char *at = token(json);

	if (!at || *at != open) {
		return mismatch(json, at, text);
	}
	if (json->depth == BT_LIMIT_DEPTH) {
		return stop(json, BT_DEPTH, true, (size_t)(at - json->text), "nested too deeply");
	}
	json->ix++;
	json->depth++;
	json->fresh = true;
	return true;
}

bool bt_json_enter_object(struct bt_json *json)
{
	return json_enter(json, '{', "expected an object");
}

bool bt_json_enter_array(struct bt_json *json)
{
	return json_enter(json, '[', "expected an array");
}

/* Steps over the comma between elements. Returns false when the container ends here, or on an error. */
BT_INLINE bool advance(struct bt_json *json, char close, const char *text)
{
	const char *at = token(json);
	bool fresh = json->fresh;

	json->fresh = false;
	if (at && *at == close) {
		json->ix++;
		json->depth--;
		return false;
	}
	if (fresh) {
		return at ? true : json_refuse(json, at, text);
	}
	if (!at || *at != ',') {
		return json_refuse(json, at, text);
	}
	json->ix++;
	return true;
}

bool bt_json_next_element(struct bt_json *json)
{
	if (!advance(json, ']', "expected ',' or ']'")) {
		return false;
	}
	return bt_json_peek(json) != BT_JSON_NONE;
}

/* The length of the start of s that has neither quote nor backslash. Requires: a closing quote, found by the
 * index. */
BT_INLINE size_t plain_bytes(const char *s, const char *end)
{
	const char *p = s;

#if defined(__SSE2__)
	const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');

	while (end - p >= 16) {
		__m128i chunk = _mm_loadu_si128((const __m128i *)(const void *)p);
		int hits = _mm_movemask_epi8(
			_mm_or_si128(_mm_cmpeq_epi8(chunk, quote), _mm_cmpeq_epi8(chunk, backslash)));

		if (hits) {
			return (size_t)(p - s) + (size_t)__builtin_ctz((unsigned)hits);
		}
		p += 16;
	}
#endif
	while (p < end && *p != '"' && *p != '\\') {
		p++;
	}
	return (size_t)(p - s);
}

static uint32_t hex4(const char *p)
{
	uint32_t value = 0;

	for (size_t i = 0; i < 4; i++) {
		value = value * 16 + (uint32_t)(p[i] <= '9' ? p[i] - '0' : (p[i] | 0x20) - 'a' + 10);
	}
	return value;
}

/* Writes the character of the escape after a backslash, validated by the index. Returns the bytes
 * consumed. */
static size_t put_escape(const char *p, char **out)
{
	uint32_t c;

	switch (*p) {
	case 'b':
		*(*out)++ = '\b';
		return 1;
	case 'f':
		*(*out)++ = '\f';
		return 1;
	case 'n':
		*(*out)++ = '\n';
		return 1;
	case 'r':
		*(*out)++ = '\r';
		return 1;
	case 't':
		*(*out)++ = '\t';
		return 1;
	case 'u':
		break;
	default:
		*(*out)++ = *p;
		return 1;
	}
	c = hex4(p + 1);
	if (c >= 0xd800 && c <= 0xdbff) {
		*out += bt_utf8_encode(0x10000 + ((c - 0xd800) << 10) + (hex4(p + 7) - 0xdc00), *out);
		return 11;
	}
	*out += bt_utf8_encode(c, *out);
	return 5;
}

/* The closing quote of the string with contents at s. */
static const char *closing_quote(const char *s, const char *end)
{
	while (s < end) {
		s += plain_bytes(s, end);
		if (s < end && *s == '"') {
			return s;
		}
		s += 2;
	}
	return end;
}

static struct bt_str unescape(struct bt_json *json, const char *s, size_t plain_n)
{
	const char *end = closing_quote(s + plain_n, json->text + json->len);
	char *copy = bt_arena_alloc(json->arena, (size_t)(end - s) + 1, 1);
	char *out = copy;

	while (s < end) {
		if (*s == '\\') {
			s += 1;
			s += put_escape(s, &out);
			continue;
		}
		size_t n = plain_bytes(s, end);
		memcpy(out, s, n);
		out += n;
		s += n;
	}
	*out = '\0';
	return (struct bt_str){copy, (size_t)(out - copy)};
}

/* Reads the string token at. */
BT_INLINE bool read_string(struct bt_json *json, const char *at, struct bt_str *out)
{
	const char *s = at + 1;

	if (BT_UNLIKELY(json->window.status != BT_OK && json->ix + 1 == json->window.n)) {
		/* The last token before the fault: the fault may be in this very string. */
		json->ix++;
		return refill(json);
	}
	size_t n = plain_bytes(s, json->text + json->len);
	*out = BT_LIKELY(s[n] == '"') ? (struct bt_str){s, n} : unescape(json, s, n);
	json->ix++;
	return true;
}

bool bt_json_next_key(struct bt_json *json, struct bt_str *out_key)
{
	if (!advance(json, '}', "expected ',' or '}'")) {
		return false;
	}
	const char *at = token(json);
	if (!at || *at != '"') {
		return json_refuse(json, at, "expected a key in quotes");
	}
	if (!read_string(json, at, out_key)) {
		return false;
	}
	at = token(json);
	if (!at || *at != ':') {
		return json_refuse(json, at, "expected ':' behind the key");
	}
	json->ix++;
	return true;
}

bool bt_json_string(struct bt_json *json, struct bt_str *out_string)
{
	const char *at = token(json);

	if (!at || *at != '"') {
		return mismatch(json, at, "expected a string");
	}
	return read_string(json, at, out_string);
}

/* Whether a number or a word may end before p. */
static bool ends(const char *p, const char *end)
{
	if (p == end) {
		return true;
	}
	switch (*p) {
	case ' ':
	case '\t':
	case '\n':
	case '\r':
	case ',':
	case ':':
	case ']':
	case '}':
	case '[':
	case '{':
		return true;
	default:
		return false;
	}
}

/* The end of the number at p, or NULL when it is not one. */
static const char *number_end(const char *p, const char *end)
{
	const char *digits;

	p += p < end && *p == '-';
	digits = p;
	while (p < end && *p >= '0' && *p <= '9') {
		p++;
	}
	if (p == digits || (*digits == '0' && p - digits > 1)) {
		return NULL;
	}
	if (p < end && *p == '.') {
		digits = ++p;
		while (p < end && *p >= '0' && *p <= '9') {
			p++;
		}
		if (p == digits) {
			return NULL;
		}
	}
	if (p < end && (*p | 0x20) == 'e') {
		p++;
		p += p < end && (*p == '+' || *p == '-');
		digits = p;
		while (p < end && *p >= '0' && *p <= '9') {
			p++;
		}
		if (p == digits) {
			return NULL;
		}
	}
	return ends(p, end) ? p : NULL;
}

/* The end of the word at p, or NULL when it is none of true, false and null. */
static const char *word_end(const char *p, const char *end)
{
	size_t left = (size_t)(end - p);
	size_t n = 0;

	if (left >= 4 && (memcmp(p, "true", 4) == 0 || memcmp(p, "null", 4) == 0)) {
		n = 4;
	} else if (left >= 5 && memcmp(p, "false", 5) == 0) {
		n = 5;
	}
	return n && ends(p + n, end) ? p + n : NULL;
}

bool bt_json_number(struct bt_json *json, struct bt_str *out_text)
{
	const char *at = token(json);

	if (!at || type_of(*at) != BT_JSON_NUMBER) {
		return mismatch(json, at, "expected a number");
	}
	const char *end = number_end(at, json->text + json->len);
	if (!end) {
		return json_refuse(json, at, "malformed number");
	}
	*out_text = (struct bt_str){at, (size_t)(end - at)};
	json->ix++;
	return true;
}

bool bt_json_int64(struct bt_json *json, int64_t *out_value)
{
	struct bt_str text;
	const char *at = token(json);
	uint64_t value = 0;

	if (!at || type_of(*at) != BT_JSON_NUMBER) {
		return mismatch(json, at, "expected a whole number");
	}
	if (!bt_json_number(json, &text)) {
		return false;
	}
	bool negative = text.ptr[0] == '-';
	const uint64_t limit = (uint64_t)INT64_MAX + negative;
	for (size_t i = negative; i < text.len; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9') {
			return stop(json, BT_INVALID, false, (size_t)(at - json->text),
				"expected a whole number");
		}
		uint64_t digit = (uint64_t)(text.ptr[i] - '0');
		if (value > (limit - digit) / 10) {
			return stop(json, BT_RANGE, false, (size_t)(at - json->text),
				"the number does not fit into 64 bits");
		}
		value = value * 10 + digit;
	}
	*out_value = negative ? (int64_t)(0 - value) : (int64_t)value;
	return true;
}

bool bt_json_bool(struct bt_json *json, bool *out_value)
{
	const char *at = token(json);

	if (!at || type_of(*at) != BT_JSON_BOOL) {
		return mismatch(json, at, "expected true or false");
	}
	if (!word_end(at, json->text + json->len)) {
		return json_refuse(json, at, "unknown word");
	}
	*out_value = *at == 't';
	json->ix++;
	return true;
}

bool bt_json_null(struct bt_json *json)
{
	const char *at = token(json);

	if (!at || type_of(*at) != BT_JSON_NULL) {
		return mismatch(json, at, "expected null");
	}
	if (!word_end(at, json->text + json->len)) {
		return json_refuse(json, at, "unknown word");
	}
	json->ix++;
	return true;
}

/* Steps over a value that is not a container. */
BT_INLINE bool skip_scalar(struct bt_json *json, const char *at)
{
	const char *end = json->text + json->len;

	if (BT_LIKELY(*at == '"')) {
		json->ix++;
		return true;
	}
	switch (type_of(*at)) {
	case BT_JSON_NUMBER:
		if (!number_end(at, end)) {
			return json_refuse(json, at, "malformed number");
		}
		break;
	case BT_JSON_BOOL:
	case BT_JSON_NULL:
		if (!word_end(at, end)) {
			return json_refuse(json, at, "unknown word");
		}
		break;
	default:
		return json_refuse(json, at, "expected a value");
	}
	json->ix++;
	return true;
}

/* Skips a key and its colon. */
BT_INLINE bool skip_key(struct bt_json *json)
{
	const char *at = token(json);

	if (BT_UNLIKELY(!at || *at != '"')) {
		return json_refuse(json, at, "expected a key in quotes");
	}
	json->ix++;
	at = token(json);
	if (BT_UNLIKELY(!at || *at != ':')) {
		return json_refuse(json, at, "expected ':' behind the key");
	}
	json->ix++;
	return true;
}

/* Containers that skip has open: one bit per level, set for objects. */
struct nest {
	uint64_t objects[BT_LIMIT_SKIPPED_DEPTH / 64 + 1];
	uint32_t n;
};

static bool nest_is_object(const struct nest *nest)
{
	return nest->objects[(nest->n - 1) / 64] >> ((nest->n - 1) % 64) & 1;
}

static bool nest_open(struct bt_json *json, struct nest *nest, bool object, const char *at)
{
	if (json->depth + nest->n >= BT_LIMIT_SKIPPED_DEPTH) {
		return stop(json, BT_DEPTH, true, (size_t)(at - json->text), "nested too deeply");
	}
	uint64_t bit = (uint64_t)1 << (nest->n % 64);
	uint64_t *word = &nest->objects[nest->n / 64];
	*word = object ? *word | bit : *word & ~bit;
	nest->n++;
	return true;
}

/* After a value: leaves the containers that end here and skips the comma. False when all are left, or on an
 * error. */
static bool skip_close(struct bt_json *json, struct nest *nest)
{
	while (nest->n) {
		bool object = nest_is_object(nest);
		const char *at = token(json);

		if (at && *at == ',') {
			json->ix++;
			return !object || skip_key(json);
		}
		if (!at || *at != (object ? '}' : ']')) {
			return json_refuse(json, at, object ? "expected ',' or '}'" : "expected ',' or ']'");
		}
		json->ix++;
		nest->n--;
	}
	return false;
}

bool bt_json_skip(struct bt_json *json)
{
	struct nest nest;

	nest.n = 0;
	for (;;) {
		const char *at = token(json);

		if (BT_UNLIKELY(!at)) {
			return json_refuse(json, at, "expected a value");
		}
		if (*at != '{' && *at != '[') {
			if (!skip_scalar(json, at)) {
				return false;
			}
		} else {
			bool object = *at == '{';

			if (!nest_open(json, &nest, object, at)) {
				return false;
			}
			json->ix++;
			const char *inner = token(json);
			if (!inner || *inner != (object ? '}' : ']')) {
				if (object && !skip_key(json)) {
					return false;
				}
				continue;
			}
			json->ix++;
			nest.n--;
		}
		if (!skip_close(json, &nest)) {
			return json->error.status == BT_OK;
		}
	}
}

bool bt_json_raw(struct bt_json *json, struct bt_str *out_text)
{
	const char *begin = token(json), *end = json->text + json->len;

	if (!bt_json_skip(json)) {
		return false;
	}
	/* The window is still that of the value's last token. */
	const char *last = json->window.base + json->window.index[json->ix - 1];
	if (*last == '"') {
		last = closing_quote(last + 1, end);
		if (last == end) {
			return stop(json, BT_TRUNCATED, true, json->len, "the text ends too early");
		}
		last++;
	} else if (type_of(*last) == BT_JSON_NUMBER) {
		last = number_end(last, end);
	} else {
		last = type_of(*last) == BT_JSON_NONE ? last + 1 : word_end(last, end);
	}
	*out_text = (struct bt_str){begin, (size_t)(last - begin)};
	return true;
}

size_t bt_json_offset(struct bt_json *json)
{
	const char *at = token(json);

	return at ? (size_t)(at - json->text) : json->len;
}

struct bt_json_mark bt_json_mark(struct bt_json *json)
{
	return (struct bt_json_mark){bt_json_offset(json), json->depth, json->fresh};
}

void bt_json_seek(struct bt_json *json, struct bt_json_mark mark)
{
	if (json->error.syntax) {
		return;
	}
	json->error = (struct bt_json_error){0};
	json->depth = mark.depth;
	json->fresh = mark.fresh;
	restart(json, mark.offset);
}

void bt_json_resume(struct bt_json *json, size_t offset)
{
	json->error = (struct bt_json_error){0};
	bt_json_seek(json, (struct bt_json_mark){.offset = offset});
}

const struct bt_json_error *bt_json_error(const struct bt_json *json)
{
	return &json->error;
}

void bt_json_place(struct bt_str text, size_t offset, size_t *out_line, size_t *out_column)
{
	size_t line = 1, start = 0;

	offset = offset < text.len ? offset : text.len;
	for (size_t at = bt_str_find(text, '\n', 0); at < offset; at = bt_str_find(text, '\n', start)) {
		line++;
		start = at + 1;
	}
	*out_line = line;
	*out_column = offset - start + 1;
}
