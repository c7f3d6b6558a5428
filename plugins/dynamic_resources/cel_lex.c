/* SPDX-License-Identifier: Apache-2.0
 * Lexer: tokens of expressions, and decoding of quoted literals. Source: cel-go
 * v0.26, CEL.g4 and unescape.go.
 */
#include "plugins/dynamic_resources/cel_int.h"

#include "engine/base/utf8.h"

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int hex(char c)
{
	if (is_digit(c)) {
		return c - '0';
	}
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline char peek(const struct bt_cel_lexer *lexer, size_t ahead)
{
	return lexer->next + ahead < lexer->source.len ? lexer->source.ptr[lexer->next + ahead] : '\0';
}

static void skip_blanks(struct bt_cel_lexer *lexer)
{
	for (;;) {
		char c = peek(lexer, 0);

		if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f') {
			lexer->next++;
			lexer->at++;
		} else if (c == '/' && peek(lexer, 1) == '/') {
			size_t end = bt_str_find(lexer->source, '\n', lexer->next);

			lexer->at += (uint32_t)bt_utf8_rune_n(bt_str_sub(lexer->source, lexer->next, end));
			lexer->next = end;
		} else {
			return;
		}
	}
}

/* The length of an escape sequence, or 0. */
static size_t escape_length(struct bt_str source, size_t from)
{
	static const char plain[] = "abfnrtv\"'\\?`";
	size_t n = source.len - from;
	size_t digit_n;

	if (n < 2) {
		return 0;
	}
	char c = source.ptr[from + 1];
	if (c && strchr(plain, c)) {
		return 2;
	}
	if (c >= '0' && c <= '3') {
		for (size_t i = 2; i < 4; i++) {
			if (n <= i || source.ptr[from + i] < '0' || source.ptr[from + i] > '7') {
				return 0;
			}
		}
		return 4;
	}
	digit_n = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
	if (digit_n == 0 || n < 2 + digit_n) {
		return 0;
	}
	for (size_t i = 0; i < digit_n; i++) {
		if (hex(source.ptr[from + 2 + i]) < 0) {
			return 0;
		}
	}
	return 2 + digit_n;
}

/* The length of the quoted literal that starts with the quote at from, or 0. */
static size_t quoted_length(struct bt_str source, size_t from, bool raw)
{
	char quote = source.ptr[from];
	bool triple = from + 2 < source.len && source.ptr[from + 1] == quote && source.ptr[from + 2] == quote;
	size_t i = from + (triple ? 3 : 1);

	while (i < source.len) {
		char c = source.ptr[i];

		if (triple ? c == quote && i + 2 < source.len && source.ptr[i + 1] == quote &&
					source.ptr[i + 2] == quote
			   : c == quote) {
			return i + (triple ? 3 : 1) - from;
		}
		if (!triple && (c == '\n' || c == '\r')) {
			return 0;
		}
		if (c == '\\' && !raw) {
			size_t n = escape_length(source, i);

			if (n == 0) {
				return 0;
			}
			i += n;
		} else {
			i++;
		}
	}
	/* Three quotes that are not closed are an empty literal and the start of another. */
	return triple ? 2 : 0;
}

/* The length of a number, and its kind. */
static size_t number_length(struct bt_str source, size_t from, enum bt_cel_token_kind *out_kind)
{
	size_t i = from;

	*out_kind = BT_CEL_INTEGER;
	if (source.ptr[i] == '0' && i + 2 < source.len && source.ptr[i + 1] == 'x' &&
		hex(source.ptr[i + 2]) >= 0) {
		for (i += 2; i < source.len && hex(source.ptr[i]) >= 0;) {
			i++;
		}
	} else {
		while (i < source.len && is_digit(source.ptr[i])) {
			i++;
		}
		if (i + 1 < source.len && source.ptr[i] == '.' && is_digit(source.ptr[i + 1])) {
			*out_kind = BT_CEL_FLOAT;
			for (i++; i < source.len && is_digit(source.ptr[i]);) {
				i++;
			}
		}
		if (i < source.len && (source.ptr[i] | 0x20) == 'e') {
			size_t k = i + 1;

			k += k < source.len && (source.ptr[k] == '+' || source.ptr[k] == '-');
			if (k < source.len && is_digit(source.ptr[k])) {
				*out_kind = BT_CEL_FLOAT;
				for (i = k; i < source.len && is_digit(source.ptr[i]);) {
					i++;
				}
			}
		}
	}
	if (*out_kind == BT_CEL_INTEGER && i < source.len && (source.ptr[i] | 0x20) == 'u') {
		*out_kind = BT_CEL_UNSIGNED;
		i++;
	}
	return i - from;
}

/* The length of a quoted literal with its prefix, and its kind; 0: there is none. */
static size_t literal_length(struct bt_str source, size_t from, enum bt_cel_token_kind *out_kind)
{
	size_t i = from;
	bool raw = false;

	*out_kind = BT_CEL_TEXT;
	if ((source.ptr[i] | 0x20) == 'b') {
		*out_kind = BT_CEL_BINARY;
		i++;
	}
	if (i < source.len && (source.ptr[i] | 0x20) == 'r') {
		raw = true;
		i++;
	}
	if (i >= source.len || (source.ptr[i] != '"' && source.ptr[i] != '\'')) {
		return 0;
	}
	size_t n = quoted_length(source, i, raw);
	return n ? i - from + n : 0;
}

static size_t punctuation_length(const struct bt_cel_lexer *lexer)
{
	static const char doubles[][3] = {"==", "!=", "<=", ">=", "&&", "||"};
	char c = peek(lexer, 0);

	for (size_t i = 0; i < sizeof(doubles) / sizeof(*doubles); i++) {
		if (c == doubles[i][0] && peek(lexer, 1) == doubles[i][1]) {
			return 2;
		}
	}
	return c && strchr("<>[]{}().,-!?:+*/%", c) ? 1 : 0;
}

static size_t quoted_name_length(const struct bt_cel_lexer *lexer)
{
	size_t n = 1;

	while (is_letter(peek(lexer, n)) || is_digit(peek(lexer, n)) ||
		(peek(lexer, n) && strchr(".-/ ", peek(lexer, n)))) {
		n++;
	}
	return n > 1 && peek(lexer, n) == '`' ? n + 1 : 0;
}

static size_t name_length(const struct bt_cel_lexer *lexer, enum bt_cel_token_kind *out_kind)
{
	static const char *const keywords[] = {"true", "false", "null", "in"};
	size_t n = 0;

	while (is_letter(peek(lexer, n)) || is_digit(peek(lexer, n))) {
		n++;
	}
	*out_kind = BT_CEL_NAME;
	for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++) {
		if (bt_str_is(bt_str_sub(lexer->source, lexer->next, lexer->next + n), keywords[i])) {
			*out_kind = BT_CEL_KEYWORD;
		}
	}
	return n;
}

struct bt_cel_token bt_cel_lex(struct bt_cel_lexer *lexer)
{
	enum bt_cel_token_kind kind = BT_CEL_BAD;
	size_t n = 0;

	skip_blanks(lexer);
	if (lexer->next >= lexer->source.len) {
		return (struct bt_cel_token){BT_CEL_END, BT_STR("<EOF>"), lexer->at};
	}
	char c = peek(lexer, 0);
	if (c == '"' || c == '\'' || (c && strchr("bBrR", c))) {
		n = literal_length(lexer->source, lexer->next, &kind);
	}
	if (n == 0 && is_letter(c)) {
		n = name_length(lexer, &kind);
	} else if (is_digit(c)) {
		n = number_length(lexer->source, lexer->next, &kind);
	} else if (c == '.' && is_digit(peek(lexer, 1))) {
		n = number_length(lexer->source, lexer->next, &kind);
	} else if (n == 0 && c == '`') {
		kind = BT_CEL_QUOTED_NAME;
		n = quoted_name_length(lexer);
	} else if (n == 0) {
		kind = BT_CEL_PUNCTUATION;
		n = punctuation_length(lexer);
	}
	if (n == 0) {
		/* An unterminated literal is an error up to the end of the line. */
		size_t end = bt_str_find(lexer->source, '\n', lexer->next);

		kind = BT_CEL_BAD;
		n = c == '"' || c == '\'' ? end - lexer->next : 1;
		while (lexer->next + n < lexer->source.len && bt_utf8_continues(peek(lexer, n))) {
			n++;
		}
	}
	struct bt_cel_token token = {
		kind, bt_str_sub(lexer->source, lexer->next, lexer->next + n), lexer->at};
	lexer->next += n;
	lexer->at += (uint32_t)bt_utf8_rune_n(token.text);
	return token;
}

/* Decodes the escape sequence at from and appends the result to out_text. Returns NULL, or the error. */
static const char *unescape(struct bt_str body, size_t from, size_t n, bool bytes, char *out, size_t *out_n)
{
	static const char names[] = "abfnrtv\"'\\?`";
	static const char values[] = "\a\b\f\n\r\t\v\"'\\?`";
	char c = body.ptr[from + 1];
	const char *name = strchr(names, c);
	uint32_t rune = 0;

	if (name) {
		out[(*out_n)++] = values[name - names];
		return NULL;
	}
	bool octal = is_digit(c);
	if (bytes && (c == 'u' || c == 'U')) {
		return "unable to unescape string";
	}
	for (size_t i = octal ? 1 : 2; i < n; i++) {
		rune = octal ? rune * 8 + (uint32_t)(body.ptr[from + i] - '0')
			     : rune << 4 | (uint32_t)hex(body.ptr[from + i]);
	}
	if (bytes) {
		out[(*out_n)++] = (char)rune;
		return NULL;
	}
	if (rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff)) {
		return "invalid unicode code point";
	}
	*out_n += bt_utf8_encode(rune, out + *out_n);
	return NULL;
}

const char *bt_cel_unquote(struct bt_arena *arena, struct bt_str literal, bool bytes, struct bt_str *out_text)
{
	size_t start = bytes;
	bool raw = (literal.ptr[start] | 0x20) == 'r';
	size_t out_n = 0;

	start += raw;
	size_t quote_n = literal.len - start >= 6 && literal.ptr[start] == literal.ptr[start + 1] &&
					 literal.ptr[start] == literal.ptr[start + 2]
				 ? 3
				 : 1;
	struct bt_str body = bt_str_sub(literal, start + quote_n, literal.len - quote_n);
	/* Line ends become one character; a decoded escape sequence is never longer than its source. */
	char *out = bt_arena_alloc(arena, body.len + 4, 1);
	for (size_t i = 0; i < body.len;) {
		size_t n = body.ptr[i] == '\\' && !raw ? escape_length(body, i) : 0;

		if (n) {
			const char *wrong = unescape(body, i, n, bytes, out, &out_n);

			if (wrong) {
				return wrong;
			}
			i += n;
		} else if (body.ptr[i] == '\r') {
			out[out_n++] = '\n';
			i += i + 1 < body.len && body.ptr[i + 1] == '\n' ? 2 : 1;
		} else {
			out[out_n++] = body.ptr[i++];
		}
	}
	*out_text = (struct bt_str){out, out_n};
	return NULL;
}
