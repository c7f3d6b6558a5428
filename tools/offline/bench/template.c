/* SPDX-License-Identifier: Apache-2.0
 * Templates. An action is parsed at each expansion, since actions are short.
 * Source: the functions of scheduler_perf, v1.36.3.
 */
#include "tools/offline/bench/template.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/mem.h"

#define DEPTH_MAX 16
#define ARGS_MAX  16

#define FUNCTIONS                                                                                            \
	"the functions are AddInt, SubtractInt, MultiplyInt, DivideInt, Mod, AddFloat, SubtractFloat, "      \
	"MultiplyFloat and DivideFloat"

enum value_type { VALUE_INT, VALUE_FLOAT, VALUE_TEXT };

struct template_value {
	enum value_type type;
	double number;	    /* of VALUE_INT, too: whole */
	struct bt_str text; /* as it was written */
};

/* Reading of one action. */
struct template_reading {
	struct bt_str text;
	size_t at;
	double index, count;
	uint32_t depth;
	bool dry; /* only the words are checked */
	bool names_field;
	size_t line;
	struct bt_template_error *error;
	enum bt_status status;
};

static bool template_fail(struct template_reading *r, enum bt_status status, const char *remedy,
	const char *format, ...) BT_PRINTF(4, 5);

static bool template_fail(
	struct template_reading *r, enum bt_status status, const char *remedy, const char *format, ...)
{
	va_list args;

	r->status = status;
	r->error->line = r->line;
	r->error->remedy = remedy;
	va_start(args, format);
	vsnprintf(r->error->message, sizeof(r->error->message), format, args);
	va_end(args);
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct template_reading *r)
{
	while (r->at < r->text.len && is_blank(r->text.ptr[r->at])) {
		r->at++;
	}
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static struct bt_str read_word(struct template_reading *r)
{
	size_t from = r->at;

	while (r->at < r->text.len && is_word(r->text.ptr[r->at])) {
		r->at++;
	}
	return bt_str_sub(r->text, from, r->at);
}

/* ---- functions ---- */

enum function { F_ADD, F_SUBTRACT, F_MULTIPLY, F_DIVIDE, F_MOD };

static const struct {
	const char *name;
	enum function function;
	bool whole; /* the result is cut to a whole number */
	bool binary;
} functions[] = {
	{"AddInt", F_ADD, true, false},
	{"AddFloat", F_ADD, false, false},
	{"SubtractInt", F_SUBTRACT, true, true},
	{"SubtractFloat", F_SUBTRACT, false, true},
	{"MultiplyInt", F_MULTIPLY, true, false},
	{"MultiplyFloat", F_MULTIPLY, false, false},
	{"DivideInt", F_DIVIDE, true, true},
	{"DivideFloat", F_DIVIDE, false, true},
	{"Mod", F_MOD, true, true},
};

#define FUNCTION_N (sizeof(functions) / sizeof(functions[0]))

static bool number_of(struct template_reading *r, const struct template_value *value, double *out)
{
	char word[64], *behind;

	*out = value->number;
	if (value->type != VALUE_TEXT) {
		return true;
	}
	snprintf(word, sizeof(word), "%.*s", BT_STR_ARG(value->text));
	*out = strtod(word, &behind);
	if (behind == word || *behind || value->text.len >= sizeof(word)) {
		return template_fail(r, BT_INVALID, "give it a number", "\"%.*s\" is not a number",
			BT_STR_ARG(value->text));
	}
	return true;
}

/* A double truncated to an integer, saturated to int64_t. */
static int64_t whole(double number)
{
	if (!(number > -9e18)) {
		return INT64_MIN;
	}
	return number < 9e18 ? (int64_t)number : INT64_MAX;
}

static bool divide(struct template_reading *r, enum function function, double a, double b, double *out)
{
	bool modulo = function == F_MOD;

	if (modulo ? whole(b) == 0 : !(b < 0 || b > 0)) {
		*out = 0;
		return r->dry || template_fail(r, BT_INVALID, "divide by something else", "division by zero");
	}
	*out = modulo ? (whole(b) == -1 ? 0 : (double)(whole(a) % whole(b))) : a / b;
	return true;
}

static bool combine(struct template_reading *r, enum function function, double a, double b, double *out)
{
	switch (function) {
	case F_ADD:
		*out = a + b;
		return true;
	case F_SUBTRACT:
		*out = a - b;
		return true;
	case F_MULTIPLY:
		*out = a * b;
		return true;
	default:
		return divide(r, function, a, b, out);
	}
}

static bool call(struct template_reading *r, size_t f, const struct template_value *args, uint32_t n,
	struct template_value *out)
{
	double result = functions[f].function == F_MULTIPLY ? 1 : 0, next;

	if (functions[f].binary && n != 2) {
		return template_fail(
			r, BT_INVALID, "give it two", "%s takes two arguments, not %u", functions[f].name, n);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!number_of(r, &args[i], &next)) {
			return false;
		}
		if (i == 0 && functions[f].binary) {
			result = next;
		} else if (!combine(r, functions[f].function, result, next, &result)) {
			return false;
		}
	}
	*out = (struct template_value){
		.type = functions[f].whole ? VALUE_INT : VALUE_FLOAT,
		.number = functions[f].whole ? (double)whole(result) : result,
	};
	return true;
}

/* ---- reading ---- */

static bool read_pipeline(struct template_reading *r, struct template_value *out);

static bool read_field(struct template_reading *r, struct template_value *out)
{
	r->at++;
	struct bt_str name = read_word(r);

	*out = (struct template_value){.type = VALUE_INT};
	r->names_field = true;
	if (bt_str_is(name, "Index")) {
		out->number = r->index;
	} else if (bt_str_is(name, "Count")) {
		out->number = r->count;
	} else {
		return template_fail(r, BT_INVALID, "the fields are .Index and .Count",
			"there is no field .%.*s", BT_STR_ARG(name));
	}
	return true;
}

static bool read_text(struct template_reading *r, struct template_value *out)
{
	char quote = r->text.ptr[r->at++];
	size_t end = bt_str_find(r->text, quote, r->at);

	if (end == r->text.len) {
		return template_fail(r, BT_INVALID, "close it", "a string has no end");
	}
	*out = (struct template_value){.type = VALUE_TEXT, .text = bt_str_sub(r->text, r->at, end)};
	r->at = end + 1;
	if (quote == '"' && bt_str_find(out->text, '\\', 0) < out->text.len) {
		return template_fail(r, BT_UNSUPPORTED, "write the string between ` and `",
			"escapes in strings are not read");
	}
	return true;
}

static bool read_number(struct template_reading *r, struct template_value *out)
{
	char word[64], *behind;
	size_t from = r->at;

	while (r->at < r->text.len &&
		(is_word(r->text.ptr[r->at]) || memchr("+-.", r->text.ptr[r->at], 3) != NULL)) {
		r->at++;
	}
	struct bt_str text = bt_str_sub(r->text, from, r->at);
	snprintf(word, sizeof(word), "%.*s", BT_STR_ARG(text));
	*out = (struct template_value){.type = VALUE_INT, .number = strtod(word, &behind), .text = text};
	if (behind == word || *behind || text.len >= sizeof(word)) {
		return template_fail(
			r, BT_INVALID, "write it in decimals", "\"%.*s\" is not a number", BT_STR_ARG(text));
	}
	if (strpbrk(word, ".eE")) {
		out->type = VALUE_FLOAT;
	}
	return true;
}

static bool read_inner(struct template_reading *r, struct template_value *out)
{
	r->at++;
	if (++r->depth > DEPTH_MAX) {
		return template_fail(
			r, BT_DEPTH, "use fewer", "parentheses are nested more than %d deep", DEPTH_MAX);
	}
	if (!read_pipeline(r, out)) {
		return false;
	}
	if (r->at == r->text.len || r->text.ptr[r->at] != ')') {
		return template_fail(r, BT_INVALID, "close it", "a parenthesis has no end");
	}
	r->depth--;
	r->at++;
	return true;
}

/* One argument: anything but a function. */
static bool read_argument(struct template_reading *r, struct template_value *out)
{
	char c = r->text.ptr[r->at];

	switch (c) {
	case '.':
		return read_field(r, out);
	case '(':
		return read_inner(r, out);
	case '"':
	case '`':
		return read_text(r, out);
	case '$':
		return template_fail(
			r, BT_UNSUPPORTED, "use .Index and .Count", "variables are not supported");
	default:
		if ((c >= '0' && c <= '9') || c == '-' || c == '+') {
			return read_number(r, out);
		}
		return template_fail(
			r, BT_INVALID, "see the README of perf/workloads", "'%c' is not understood", c);
	}
}

static bool is_control(struct bt_str word)
{
	static const char *const words[] = {
		"if", "else", "end", "range", "with", "define", "template", "block", "break", "continue"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (bt_str_is(word, words[i])) {
			return true;
		}
	}
	return false;
}

static bool find_function(struct template_reading *r, size_t *out_f)
{
	struct bt_str word = read_word(r);

	for (*out_f = 0; *out_f < FUNCTION_N; (*out_f)++) {
		if (bt_str_is(word, functions[*out_f].name)) {
			return true;
		}
	}
	if (is_control(word)) {
		return template_fail(r, BT_UNSUPPORTED, "write a template for each case",
			"the action \"%.*s\" is not supported", BT_STR_ARG(word));
	}
	return template_fail(r, BT_UNSUPPORTED, FUNCTIONS, "there is no function \"%.*s\"", BT_STR_ARG(word));
}

static bool at_end_of_command(struct template_reading *r)
{
	skip_blanks(r);
	return r->at == r->text.len || r->text.ptr[r->at] == '|' || r->text.ptr[r->at] == ')';
}

/* A function with its arguments, or one argument; piped is the last one of a function, or NULL. */
static bool read_command(
	struct template_reading *r, const struct template_value *piped, struct template_value *out)
{
	struct template_value args[ARGS_MAX];
	uint32_t n = 0;
	size_t f;

	if (at_end_of_command(r)) {
		return template_fail(r, BT_INVALID, "write {{.Index}} or a function", "an action is empty");
	}
	char c = r->text.ptr[r->at];
	if (!is_word(c) || (c >= '0' && c <= '9')) {
		if (!read_argument(r, out)) {
			return false;
		}
		return (!piped && at_end_of_command(r)) ||
		       template_fail(r, BT_INVALID, FUNCTIONS, "a value is used as a function");
	}
	if (!find_function(r, &f)) {
		return false;
	}
	while (!at_end_of_command(r)) {
		if (n == ARGS_MAX - 1) {
			return template_fail(
				r, BT_RANGE, "use fewer", "there are more than %d arguments", ARGS_MAX - 1);
		}
		if (!read_argument(r, &args[n++])) {
			return false;
		}
	}
	if (piped) {
		args[n++] = *piped;
	}
	return call(r, f, args, n, out);
}

static bool read_pipeline(struct template_reading *r, struct template_value *out)
{
	struct template_value value;

	if (!read_command(r, NULL, out)) {
		return false;
	}
	while (r->at < r->text.len && r->text.ptr[r->at] == '|') {
		r->at++;
		value = *out;
		if (!read_command(r, &value, out)) {
			return false;
		}
	}
	return true;
}

static bool read_action(struct template_reading *r, struct template_value *out)
{
	if (!read_pipeline(r, out)) {
		return false;
	}
	return r->at == r->text.len ||
	       template_fail(r, BT_INVALID, "remove it", "a parenthesis closes that was not open");
}

/* ---- cutting ---- */

static void add_piece(struct bt_template *template_, struct bt_str text, size_t line, bool action)
{
	template_->pieces = bt_mem_grow(
		template_->pieces, template_->piece_n, &template_->piece_cap, sizeof(*template_->pieces));
	template_->pieces[template_->piece_n++] = (struct bt_template_piece){text, line, action};
}

static size_t count_lines(struct bt_str text, size_t from, size_t to)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		n += text.ptr[i] == '\n';
	}
	return n;
}

/* Where the next two bytes c c are, or the end. */
static size_t find_pair(struct bt_str text, char c, size_t from)
{
	for (size_t i = bt_str_find(text, c, from); i + 1 < text.len; i = bt_str_find(text, c, i + 1)) {
		if (text.ptr[i + 1] == c) {
			return i;
		}
	}
	return text.len;
}

static size_t trim_end(struct bt_str text, size_t from, size_t to)
{
	while (to > from && is_blank(text.ptr[to - 1])) {
		to--;
	}
	return to;
}

/* {{- and -}} trim the blanks around the action. */
static struct bt_str inside(struct bt_str action, bool *out_left, bool *out_right)
{
	size_t n = action.len;

	*out_left = n >= 2 && action.ptr[0] == '-' && is_blank(action.ptr[1]);
	*out_right = n >= 2 && action.ptr[n - 1] == '-' && is_blank(action.ptr[n - 2]);
	return *out_left || *out_right ? bt_str_sub(action, *out_left, n - (*out_right && n > 2)) : action;
}

static bool check_action(struct bt_template *template_, struct bt_str action, size_t line,
	struct bt_template_error *out_error, enum bt_status *out_status)
{
	struct template_reading r = {
		.text = action, .line = line, .error = out_error, .count = 1, .dry = true};
	struct template_value value;
	size_t from = 0;

	while (from < action.len && is_blank(action.ptr[from])) {
		from++;
	}
	if (bt_str_starts(bt_str_sub(action, from, action.len), "/*")) {
		return true;
	}
	if (!read_action(&r, &value)) {
		*out_status = r.status;
		return false;
	}
	template_->varies |= r.names_field;
	add_piece(template_, action, line, true);
	return true;
}

enum bt_status bt_template_parse(
	struct bt_str text, struct bt_template *out_template, struct bt_template_error *out_error)
{
	struct bt_template made = {0};
	enum bt_status status = BT_OK;
	size_t at = 0, line = 1;
	bool left = false, right = false;

	while (at < text.len && status == BT_OK) {
		size_t open = find_pair(text, '{', at), close = find_pair(text, '}', open);
		size_t from = at;

		while (right && from < open && is_blank(text.ptr[from])) {
			from++;
		}
		right = false;
		if (open == text.len) {
			add_piece(&made, bt_str_sub(text, from, text.len), line, false);
			break;
		}
		size_t action_line = line + count_lines(text, at, open);
		if (close == text.len) {
			*out_error = (struct bt_template_error){action_line, "{{ has no }}", "close it"};
			status = BT_INVALID;
			break;
		}
		struct bt_str action = inside(bt_str_sub(text, open + 2, close), &left, &right);
		size_t to = left ? trim_end(text, from, open) : open;
		if (to > from) {
			add_piece(&made, bt_str_sub(text, from, to), line, false);
		}
		check_action(&made, action, action_line, out_error, &status);
		line = action_line + count_lines(text, open, close);
		at = close + 2;
	}
	if (status != BT_OK) {
		bt_template_fini(&made);
		return status;
	}
	*out_template = made;
	return BT_OK;
}

void bt_template_fini(struct bt_template *template_)
{
	bt_mem_free(template_->pieces);
	*template_ = (struct bt_template){0};
}

/* ---- writing ---- */

/* A float as Go prints it: the fewest digits that identify it, with an exponent below 1e-4 and from
 * 1e21 on. */
static void write_float(struct bt_buf *out, double number)
{
	char digits[40];
	int precision = 0;

	if (!isfinite(number)) {
		bt_buf_text(out, isnan(number) ? "NaN" : number < 0 ? "-Inf" : "+Inf");
		return;
	}
	do {
		snprintf(digits, sizeof(digits), "%.*e", precision, number);
	} while (strtod(digits, NULL) != number && ++precision < 17);
	int exponent = atoi(strchr(digits, 'e') + 1);
	if (exponent < -4 || exponent >= 21) {
		bt_buf_text(out, digits);
	} else {
		bt_buf_printf(out, "%.*f", precision > exponent ? precision - exponent : 0, number);
	}
}

enum bt_status bt_template_expand(const struct bt_template *template_, int64_t index, int64_t count,
	struct bt_buf *out_text, struct bt_template_error *out_error)
{
	for (size_t i = 0; i < template_->piece_n; i++) {
		const struct bt_template_piece *piece = &template_->pieces[i];
		struct template_reading r = {.text = piece->text,
			.index = (double)index,
			.count = (double)count,
			.line = piece->line,
			.error = out_error};
		struct template_value value;

		if (!piece->action) {
			bt_buf_str(out_text, piece->text);
		} else if (!read_action(&r, &value)) {
			return r.status;
		} else if (value.type == VALUE_INT) {
			bt_buf_int(out_text, whole(value.number));
		} else if (value.type == VALUE_FLOAT) {
			write_float(out_text, value.number);
		} else {
			bt_buf_str(out_text, value.text);
		}
	}
	return BT_OK;
}
