/* SPDX-License-Identifier: Apache-2.0
 * Operators, sizes and conversions between types. Source: cel-go v0.26, common/types.
 */
#include "plugins/dynamic_resources/cel_calls_int.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/check.h"
#include "engine/base/utf8.h"

static const char int_overflow[] = "integer overflow";
static const char uint_overflow[] = "unsigned integer overflow";

static struct bt_cel_value make_uint(uint64_t uinteger)
{
	return (struct bt_cel_value){.kind = BT_CEL_K_UINT, .uinteger = uinteger};
}

static struct bt_cel_value make_double(double real)
{
	return (struct bt_cel_value){.kind = BT_CEL_K_DOUBLE, .real = real};
}

static struct bt_cel_value cel_operator_fail(const char *text)
{
	return (struct bt_cel_value){.kind = BT_CEL_K_ERROR, .text = bt_str(text)};
}

/* The error for operands without the operator. */
static struct bt_cel_value no_operator(
	struct bt_cel_run *run, const struct bt_cel_value *left, const char *name)
{
	return left->kind == BT_CEL_K_STRING ? bt_cel_no_overload()
					     : bt_cel_fail(run, "no such overload: %s", name);
}

static struct bt_cel_value join(
	struct bt_cel_run *run, const struct bt_cel_value *left, const struct bt_cel_value *right)
{
	BT_INVARIANT(
		left->kind == right->kind && (left->kind == BT_CEL_K_STRING || left->kind == BT_CEL_K_BYTES));
	size_t n = left->text.len + right->text.len;
	char *text = bt_cel_alloc(run, n + 1);
	struct bt_cel_value value = *left;

	if (!text) {
		return cel_operator_fail("");
	}
	if (left->text.len) {
		memcpy(text, left->text.ptr, left->text.len);
	}
	if (right->text.len) {
		memcpy(text + left->text.len, right->text.ptr, right->text.len);
	}
	value.text = (struct bt_str){text, n};
	return value;
}

static bool has_numbers(const struct bt_cel_value *value)
{
	return value->kind == BT_CEL_K_INT || value->kind == BT_CEL_K_UINT || value->kind == BT_CEL_K_DOUBLE;
}

struct bt_cel_value bt_cel_add(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	const struct bt_cel_value *left = &args[0];
	const struct bt_cel_value *right = &args[1];
	struct bt_cel_value sum = *left;

	(void)arg_n;
	if (!has_numbers(left) && left->kind != BT_CEL_K_STRING && left->kind != BT_CEL_K_BYTES &&
		left->kind != BT_CEL_K_LIST) {
		return no_operator(run, left, "_+_");
	}
	if (left->kind != right->kind) {
		return bt_cel_no_overload();
	}
	switch (left->kind) {
	case BT_CEL_K_INT:
		return __builtin_add_overflow(left->integer, right->integer, &sum.integer)
			       ? cel_operator_fail(int_overflow)
			       : sum;
	case BT_CEL_K_UINT:
		return __builtin_add_overflow(left->uinteger, right->uinteger, &sum.uinteger)
			       ? cel_operator_fail(uint_overflow)
			       : sum;
	case BT_CEL_K_DOUBLE:
		return make_double(left->real + right->real);
	case BT_CEL_K_LIST:
		return left->n == 0    ? *right
		       : right->n == 0 ? *left
				       : bt_cel_append(run, left, right->items->values, right->n);
	default:
		return join(run, left, right);
	}
}

struct bt_cel_value bt_cel_subtract(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	const struct bt_cel_value *left = &args[0];
	const struct bt_cel_value *right = &args[1];
	struct bt_cel_value rest = *left;

	(void)arg_n;
	if (!has_numbers(left)) {
		return no_operator(run, left, "_-_");
	}
	if (left->kind != right->kind) {
		return bt_cel_no_overload();
	}
	switch (left->kind) {
	case BT_CEL_K_INT:
		return __builtin_sub_overflow(left->integer, right->integer, &rest.integer)
			       ? cel_operator_fail(int_overflow)
			       : rest;
	case BT_CEL_K_UINT:
		return __builtin_sub_overflow(left->uinteger, right->uinteger, &rest.uinteger)
			       ? cel_operator_fail(uint_overflow)
			       : rest;
	default:
		return make_double(left->real - right->real);
	}
}

struct bt_cel_value bt_cel_multiply(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	const struct bt_cel_value *left = &args[0];
	const struct bt_cel_value *right = &args[1];
	struct bt_cel_value product = *left;

	(void)arg_n;
	if (!has_numbers(left)) {
		return no_operator(run, left, "_*_");
	}
	if (left->kind != right->kind) {
		return bt_cel_no_overload();
	}
	switch (left->kind) {
	case BT_CEL_K_INT:
		return __builtin_mul_overflow(left->integer, right->integer, &product.integer)
			       ? cel_operator_fail(int_overflow)
			       : product;
	case BT_CEL_K_UINT:
		return __builtin_mul_overflow(left->uinteger, right->uinteger, &product.uinteger)
			       ? cel_operator_fail(uint_overflow)
			       : product;
	default:
		return make_double(left->real * right->real);
	}
}

struct bt_cel_value bt_cel_divide(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	const struct bt_cel_value *left = &args[0];
	const struct bt_cel_value *right = &args[1];

	(void)arg_n;
	if (!has_numbers(left)) {
		return no_operator(run, left, "_/_");
	}
	if (left->kind != right->kind) {
		return bt_cel_no_overload();
	}
	if (left->kind == BT_CEL_K_DOUBLE) {
		/* Division by zero; spells out what the hardware does. */
		if (right->real == 0) {
			return make_double(left->real == 0 || isnan(left->real)		 ? NAN
					   : signbit(left->real) != signbit(right->real) ? -INFINITY
											 : INFINITY);
		}
		return make_double(left->real / right->real);
	}
	if (right->integer == 0) {
		return cel_operator_fail("division by zero");
	}
	if (left->kind == BT_CEL_K_UINT) {
		return make_uint(left->uinteger / right->uinteger);
	}
	return left->integer == INT64_MIN && right->integer == -1
		       ? cel_operator_fail(int_overflow)
		       : bt_cel_int(left->integer / right->integer);
}

struct bt_cel_value bt_cel_modulo(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	const struct bt_cel_value *left = &args[0];
	const struct bt_cel_value *right = &args[1];

	(void)arg_n;
	if (left->kind != BT_CEL_K_INT && left->kind != BT_CEL_K_UINT) {
		return no_operator(run, left, "_%_");
	}
	if (left->kind != right->kind) {
		return bt_cel_no_overload();
	}
	if (right->integer == 0) {
		return cel_operator_fail("modulus by zero");
	}
	if (left->kind == BT_CEL_K_UINT) {
		return make_uint(left->uinteger % right->uinteger);
	}
	return left->integer == INT64_MIN && right->integer == -1
		       ? cel_operator_fail(int_overflow)
		       : bt_cel_int(left->integer % right->integer);
}

struct bt_cel_value bt_cel_negate(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	switch (args[0].kind) {
	case BT_CEL_K_BOOL:
		return bt_cel_no_overload();
	case BT_CEL_K_INT:
		return args[0].integer == INT64_MIN ? cel_operator_fail(int_overflow)
						    : bt_cel_int(-args[0].integer);
	case BT_CEL_K_DOUBLE:
		return make_double(-args[0].real);
	default:
		return no_operator(run, &args[0], "-_");
	}
}

struct bt_cel_value bt_cel_not(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return args[0].kind == BT_CEL_K_BOOL ? bt_cel_bool(!args[0].boolean) : bt_cel_no_overload();
}

static struct bt_cel_value order(struct bt_cel_run *run, const struct bt_cel_value *args, const char *name)
{
	switch (args[0].kind) {
	case BT_CEL_K_BOOL:
	case BT_CEL_K_INT:
	case BT_CEL_K_UINT:
	case BT_CEL_K_DOUBLE:
	case BT_CEL_K_STRING:
	case BT_CEL_K_BYTES:
		return bt_cel_compare(&args[0], &args[1]);
	default:
		return no_operator(run, &args[0], name);
	}
}

struct bt_cel_value bt_cel_less(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_cel_value sign = order(run, args, "_<_");

	(void)arg_n;
	return sign.kind == BT_CEL_K_INT ? bt_cel_bool(sign.integer < 0) : sign;
}

struct bt_cel_value bt_cel_less_equal(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_cel_value sign = order(run, args, "_<=_");

	(void)arg_n;
	return sign.kind == BT_CEL_K_INT ? bt_cel_bool(sign.integer <= 0) : sign;
}

struct bt_cel_value bt_cel_greater(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_cel_value sign = order(run, args, "_>_");

	(void)arg_n;
	return sign.kind == BT_CEL_K_INT ? bt_cel_bool(sign.integer > 0) : sign;
}

struct bt_cel_value bt_cel_greater_equal(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_cel_value sign = order(run, args, "_>=_");

	(void)arg_n;
	return sign.kind == BT_CEL_K_INT ? bt_cel_bool(sign.integer >= 0) : sign;
}

struct bt_cel_value bt_cel_in(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	if (args[1].kind == BT_CEL_K_MAP) {
		return bt_cel_bool(bt_cel_has(run, &args[1], &args[0]));
	}
	if (args[1].kind != BT_CEL_K_LIST) {
		return bt_cel_no_overload();
	}
	for (uint32_t i = 0; i < args[1].n; i++) {
		if (bt_cel_is_true_equal(run, &args[0], &args[1].items->values[i])) {
			return bt_cel_bool(true);
		}
	}
	return bt_cel_bool(false);
}

struct bt_cel_value bt_cel_size_of(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	switch (args[0].kind) {
	case BT_CEL_K_STRING:
	case BT_CEL_K_BYTES:
	case BT_CEL_K_LIST:
	case BT_CEL_K_MAP:
		return bt_cel_int((int64_t)bt_cel_size(run->device, &args[0]));
	default:
		return bt_cel_fail(run, "no such overload: size");
	}
}

/* ---- conversions ---- */

struct bt_cel_value bt_cel_identity(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return args[0];
}

struct bt_cel_value bt_cel_type_value(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return (struct bt_cel_value){.kind = BT_CEL_K_TYPE, .type = &bt_cel_basic_types[args[0].kind]};
}

static struct bt_cel_value cannot(struct bt_cel_run *run, const char *to)
{
	return bt_cel_fail(run, "type conversion error from 'string' to '%s'", to);
}

struct bt_cel_value bt_cel_to_bool(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	BT_INVARIANT(args[0].kind == BT_CEL_K_STRING);
	static const char *const yes[] = {"1", "t", "T", "true", "TRUE", "True"};
	static const char *const no[] = {"0", "f", "F", "false", "FALSE", "False"};

	(void)arg_n;
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++) {
		if (bt_str_is(args[0].text, yes[i]) || bt_str_is(args[0].text, no[i])) {
			return bt_cel_bool(bt_str_is(args[0].text, yes[i]));
		}
	}
	return cannot(run, "bool");
}

struct bt_cel_value bt_cel_to_bytes(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	BT_INVARIANT(args[0].kind == BT_CEL_K_STRING);
	struct bt_cel_value value = args[0];

	(void)run;
	(void)arg_n;
	value.kind = BT_CEL_K_BYTES;
	return value;
}

/* Does Go's ParseFloat accept the text? strtod accepts more. */
static bool is_float(struct bt_str text)
{
	static const char *const words[] = {"inf", "infinity", "nan"};
	size_t i = text.len && (text.ptr[0] == '+' || text.ptr[0] == '-');
	size_t digit_n = 0;

	for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++) {
		if (text.len - i == strlen(words[k]) &&
			strncasecmp(text.ptr + i, words[k], text.len - i) == 0) {
			return k < 2 || i == 0;
		}
	}
	for (; i < text.len && ((text.ptr[i] >= '0' && text.ptr[i] <= '9') || text.ptr[i] == '.'); i++) {
		digit_n += text.ptr[i] != '.';
	}
	/* Hexadecimal floats are left to strtod; anything else must be digits and an exponent. */
	if (i == 1 || i == 2) {
		size_t hex = text.ptr[0] == '+' || text.ptr[0] == '-';

		if (text.len > hex + 2 && text.ptr[hex] == '0' && (text.ptr[hex + 1] | 0x20) == 'x') {
			return memchr(text.ptr, 'p', text.len) || memchr(text.ptr, 'P', text.len);
		}
	}
	if (i < text.len && (text.ptr[i] | 0x20) == 'e') {
		return digit_n > 0;
	}
	return digit_n > 0 && i == text.len;
}

static bool is_digit(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Does an underscore separate digits? Go ignores those. */
static bool is_separator(struct bt_str text, size_t ix)
{
	return text.ptr[ix] == '_' && ix > 0 && ix + 1 < text.len && is_digit(text.ptr[ix - 1]) &&
	       is_digit(text.ptr[ix + 1]);
}

struct bt_cel_value bt_cel_to_double(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	if (args[0].kind == BT_CEL_K_INT) {
		return make_double((double)args[0].integer);
	}
	if (args[0].kind == BT_CEL_K_UINT) {
		return make_double((double)args[0].uinteger);
	}
	char *copy = bt_cel_alloc(run, args[0].text.len + 1);
	struct bt_str text = {copy, 0};
	if (!copy) {
		return cel_operator_fail("");
	}
	for (size_t i = 0; i < args[0].text.len; i++) {
		if (!is_separator(args[0].text, i)) {
			copy[text.len++] = args[0].text.ptr[i];
		}
	}
	copy[text.len] = '\0';
	char *end = copy;
	double real = is_float(text) ? strtod(copy, &end) : 0;
	bool fits = !isinf(real) || strpbrk(copy, "iI") != NULL;
	if (text.len == 0 || end != copy + text.len || !fits) {
		return cannot(run, "double");
	}
	return make_double(real);
}

/* Parses a decimal integer as Go's ParseInt and ParseUint do. */
static bool read_integer(struct bt_str text, bool is_unsigned, uint64_t *out_number)
{
	bool sign = !is_unsigned && text.len && (text.ptr[0] == '-' || text.ptr[0] == '+');
	bool negative = sign && text.ptr[0] == '-';
	uint64_t limit = is_unsigned ? UINT64_MAX : (uint64_t)INT64_MAX + negative;
	uint64_t number = 0;

	if (text.len == sign) {
		return false;
	}
	for (size_t i = sign; i < text.len; i++) {
		uint64_t digit = (uint64_t)(unsigned char)text.ptr[i] - '0';

		if (digit > 9 || number > (limit - digit) / 10) {
			return false;
		}
		number = number * 10 + digit;
	}
	*out_number = negative ? 0 - number : number;
	return true;
}

struct bt_cel_value bt_cel_to_int(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	uint64_t number;

	(void)arg_n;
	switch (args[0].kind) {
	case BT_CEL_K_UINT:
		return args[0].uinteger > INT64_MAX ? cel_operator_fail(int_overflow)
						    : bt_cel_int((int64_t)args[0].uinteger);
	case BT_CEL_K_DOUBLE:
		/* Upstream excludes both limits. */
		return args[0].real > -0x1p63 && args[0].real < 0x1p63 ? bt_cel_int((int64_t)args[0].real)
								       : cel_operator_fail(int_overflow);
	default:
		return read_integer(args[0].text, false, &number) ? bt_cel_int((int64_t)number)
								  : cannot(run, "int");
	}
}

struct bt_cel_value bt_cel_to_uint(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	uint64_t number;

	(void)arg_n;
	switch (args[0].kind) {
	case BT_CEL_K_INT:
		return args[0].integer < 0 ? cel_operator_fail(uint_overflow)
					   : make_uint((uint64_t)args[0].integer);
	case BT_CEL_K_DOUBLE:
		return args[0].real >= 0 && args[0].real < 0x1p64 ? make_uint((uint64_t)args[0].real)
								  : cel_operator_fail(uint_overflow);
	default:
		return read_integer(args[0].text, true, &number) ? make_uint(number) : cannot(run, "uint");
	}
}

struct bt_cel_value bt_cel_to_string(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_cel_value value = args[0];

	(void)arg_n;
	if (value.kind == BT_CEL_K_BYTES) {
		value.kind = BT_CEL_K_STRING;
		return bt_utf8_foreign_n(value.text) == 0
			       ? value
			       : cel_operator_fail("invalid UTF-8 in bytes, cannot convert to string");
	}
	struct bt_buf text = {0};
	bt_cel_print(&value, &text);
	char *copy = bt_cel_alloc(run, text.len);
	if (copy) {
		memcpy(copy, text.ptr, text.len);
		value = bt_cel_text((struct bt_str){copy, text.len});
	} else {
		value = cel_operator_fail("");
	}
	bt_buf_fini(&text);
	return value;
}
