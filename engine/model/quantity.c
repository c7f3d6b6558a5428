/* SPDX-License-Identifier: Apache-2.0
 * Quantities: one pass over the text, integer arithmetic only, no allocation. Upstream has two
 * representations, a 64-bit amount with a decimal scale and a big decimal; the choice is visible only beyond
 * 64 bits and below zero, and is recorded so that those results agree as well.
 */
#include "engine/model/quantity.h"

#include <math.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/compiler.h"

#define AMOUNT_DIGITS 18 /* texts with more digits become big decimals */
#define NANO_DIGITS   9
#define MILLI_EXP     6 /* a thousandth is 10^6 nanos, a unit 10^9 */
#define UNIT_EXP      9
#define POW10_N	      19

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

#define NANO_MAX ((wide)1 << 100)

static const int64_t pow10_table[POW10_N] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
	1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
	1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000};

/* The parsed text. Leading zeroes of whole are stripped. */
struct parts {
	struct bt_str number; /* with the sign and all zeroes */
	struct bt_str whole, fraction;
	uint64_t digits; /* whole and fraction as one number, if it fits */
	uint32_t digit_n;
	bool negative;
	int32_t exponent; /* of 10, or of 2 for binary suffixes */
	enum bt_quantity_format format;
};

static inline bool is_digit(char c)
{
	return (unsigned char)(c - '0') <= 9;
}

/* Reads the digits after e or E. The exponent wraps to 32 bits, as upstream's does. */
static bool read_exponent(struct bt_str text, int32_t *out_exponent)
{
	bool negative = text.len && text.ptr[0] == '-';
	size_t i = text.len && (text.ptr[0] == '-' || text.ptr[0] == '+');
	uint64_t limit = (uint64_t)INT64_MAX + negative;
	uint64_t value = 0;

	if (i == text.len) {
		return false;
	}
	for (; i < text.len; i++) {
		uint64_t digit = (unsigned char)(text.ptr[i] - '0');

		if (digit > 9 || value > (limit - digit) / 10) {
			return false;
		}
		value = value * 10 + digit;
	}
	*out_exponent = (int32_t)(uint32_t)(negative ? 0 - value : value);
	return true;
}

static bool read_suffix(struct bt_str suffix, struct parts *parts)
{
	BT_INVARIANT(suffix.len > 0);
	static const int8_t decimal[128] = {['n'] = -9,
		['u'] = -6,
		['m'] = -3,
		['k'] = 3,
		['M'] = 6,
		['G'] = 9,
		['T'] = 12,
		['P'] = 15,
		['E'] = 18};
	static const int8_t binary[128] = {
		['K'] = 10, ['M'] = 20, ['G'] = 30, ['T'] = 40, ['P'] = 50, ['E'] = 60};
	unsigned char first = (unsigned char)suffix.ptr[0];

	if (first >= 128) {
		return false;
	}
	if (suffix.len == 1) {
		parts->exponent = decimal[first];
		return parts->exponent != 0;
	}
	if (suffix.len == 2 && suffix.ptr[1] == 'i') {
		parts->format = BT_BINARY_SI;
		parts->exponent = binary[first];
		return parts->exponent != 0;
	}
	if (first != 'e' && first != 'E') {
		return false;
	}
	parts->format = BT_DECIMAL_EXPONENT;
	return read_exponent(bt_str_sub(suffix, 1, suffix.len), &parts->exponent);
}

static bool split(struct bt_str text, struct parts *parts)
{
	BT_INVARIANT(text.len > 0);
	const char *p = text.ptr;
	const char *end = text.ptr + text.len;
	const char *start;
	uint64_t digits = 0;

	*parts = (struct parts){.format = BT_DECIMAL_SI};
	if (*p == '-' || *p == '+') {
		parts->negative = *p == '-';
		p++;
	}
	while (p < end && *p == '0') {
		p++;
	}
	for (start = p; p < end && is_digit(*p); p++) {
		digits = digits * 10 + (uint64_t)(*p - '0');
	}
	parts->whole = (struct bt_str){start, (size_t)(p - start)};
	if (p < end && *p == '.') {
		for (start = ++p; p < end && is_digit(*p); p++) {
			digits = digits * 10 + (uint64_t)(*p - '0');
		}
		parts->fraction = (struct bt_str){start, (size_t)(p - start)};
	}
	parts->digits = digits;
	/* An empty whole part counts as one digit. Lengths are capped at the limit. */
	size_t digit_n = (parts->whole.len ? parts->whole.len : 1) + parts->fraction.len;
	parts->digit_n = digit_n > AMOUNT_DIGITS ? AMOUNT_DIGITS + 1 : (uint32_t)digit_n;
	parts->number = (struct bt_str){text.ptr, (size_t)(p - text.ptr)};
	return p == end || read_suffix((struct bt_str){p, (size_t)(end - p)}, parts);
}

/* a * 10^exp, or the limit with the sign of a. */
static wide scale_nano(int64_t a, uint32_t exp)
{
	wide limit = a < 0 ? -NANO_MAX : NANO_MAX;
	wide nano = a;

	if (a == 0) {
		return 0;
	}
	if (exp < POW10_N) {
		nano *= pow10_table[exp];
		return nano > NANO_MAX || nano < -NANO_MAX ? limit : nano;
	}
	if (exp > 2 * (POW10_N - 1)) {
		return limit;
	}
	nano *= pow10_table[POW10_N - 1];
	if (nano > NANO_MAX || nano < -NANO_MAX) {
		return limit;
	}
	exp -= POW10_N - 1;
	/* 10^exp is below 2^60 here; the division checks that the product stays below the limit. */
	BT_INVARIANT(exp < POW10_N);
	if ((nano < 0 ? -nano : nano) > NANO_MAX / pow10_table[exp]) {
		return limit;
	}
	return nano * pow10_table[exp];
}

static struct bt_quantity amount(int64_t mantissa, uint32_t nano_exp, enum bt_quantity_format format)
{
	return (struct bt_quantity){.nano = scale_nano(mantissa, nano_exp),
		.mantissa = mantissa,
		.nano_exp = nano_exp,
		.format = format};
}

/* The number as upstream's 64-bit amount; false when it needs a big decimal. */
static bool read_amount(const struct parts *parts, struct bt_quantity *out_quantity)
{
	uint64_t value = parts->digits;
	uint32_t scale = 0;

	if (parts->format == BT_BINARY_SI) {
		/* Upstream's estimate: each 10 bits of the suffix use three of fourteen digits. */
		if (parts->fraction.len || (int32_t)parts->digit_n > 14 - parts->exponent * 3 / 10) {
			return false;
		}
		value <<= parts->exponent;
	} else {
		if (parts->digit_n > AMOUNT_DIGITS) {
			return false;
		}
		/* As upstream, the difference wraps to 32 bits. */
		scale = (uint32_t)parts->exponent - (uint32_t)parts->fraction.len;
		if ((int32_t)scale < -NANO_DIGITS) {
			return false;
		}
	}
	int64_t mantissa = parts->negative ? -(int64_t)value : (int64_t)value;
	*out_quantity = amount(mantissa, scale + NANO_DIGITS, parts->format);
	return true;
}

static inline unsigned digit_at(const struct parts *parts, size_t ix)
{
	char c = ix < parts->whole.len ? parts->whole.ptr[ix] : parts->fraction.ptr[ix - parts->whole.len];

	return (unsigned)(c - '0');
}

/* The magnitude of a decimal number in nanos, rounded up. */
static uwide decimal_nano(const struct parts *parts)
{
	size_t n = parts->whole.len + parts->fraction.len;
	/* The number of digits, zero-padded if needed, of the nanos. */
	int64_t kept = (int64_t)parts->whole.len + parts->exponent + NANO_DIGITS;
	uwide nano = 0;
	size_t i = 0;

	for (; i < n && (int64_t)i < kept; i++) {
		nano = nano * 10 + digit_at(parts, i);
		if (nano > (uwide)NANO_MAX) {
			return (uwide)NANO_MAX;
		}
	}
	if (i == n) {
		for (int64_t pad = (int64_t)n; nano && pad < kept; pad++) {
			nano *= 10;
			if (nano > (uwide)NANO_MAX) {
				return (uwide)NANO_MAX;
			}
		}
	}
	for (; i < n; i++) {
		if (digit_at(parts, i) != 0) {
			return nano + 1;
		}
	}
	return nano;
}

/* n digits from index ix on; missing ones are zero. */
static uint64_t digits_from(struct bt_str digits, size_t ix, size_t n)
{
	uint64_t value = 0;

	for (size_t i = ix; i < ix + n; i++) {
		value = value * 10 + (i < digits.len ? (uint64_t)(digits.ptr[i] - '0') : 0);
	}
	return value;
}

/* 0.<digits> * 2^exponent in nanos, rounded up. */
static uwide binary_fraction_nano(struct bt_str digits, int32_t exponent)
{
	const uwide base = (uwide)pow10_table[AMOUNT_DIGITS];
	size_t tail_n = digits.len > NANO_DIGITS ? digits.len - NANO_DIGITS : 0;
	uwide carry = 0;
	bool rest = false;

	/* The first nine digits are whole nanos. The rest is processed in groups, the last group first. */
	for (size_t group = (tail_n + AMOUNT_DIGITS - 1) / AMOUNT_DIGITS; group > 0; group--) {
		size_t ix = NANO_DIGITS + (group - 1) * AMOUNT_DIGITS;
		uwide sum = ((uwide)digits_from(digits, ix, AMOUNT_DIGITS) << exponent) + carry;

		carry = sum / base;
		rest |= sum % base != 0;
	}
	return ((uwide)digits_from(digits, 0, NANO_DIGITS) << exponent) + carry + rest;
}

/* The magnitude of a number with a binary suffix in nanos, rounded up and capped at 2^63-1 units. */
static uwide binary_nano(const struct parts *parts, bool *out_capped)
{
	const uwide cap = (uwide)INT64_MAX * (uwide)pow10_table[UNIT_EXP];
	uint64_t whole_max = (uint64_t)INT64_MAX >> parts->exponent;
	uint64_t whole = 0;

	*out_capped = true;
	for (size_t i = 0; i < parts->whole.len; i++) {
		uint64_t digit = (uint64_t)(parts->whole.ptr[i] - '0');

		/* The maximum is below 2^53 for every suffix, so this product cannot overflow. */
		whole = whole * 10 + digit;
		if (whole > whole_max) {
			return cap;
		}
	}
	uwide nano = ((uwide)whole << parts->exponent) * (uwide)pow10_table[UNIT_EXP];
	nano += binary_fraction_nano(parts->fraction, parts->exponent);
	*out_capped = nano > cap;
	return *out_capped ? cap : nano;
}

static bool read_big(const struct parts *parts, struct bt_quantity *out_quantity)
{
	struct bt_quantity big = {.format = parts->format};
	bool capped = false;
	uwide nano;

	/* Upstream requires a digit only here; "Mi" alone is a zero. */
	if (parts->number.len == 0 ||
		(!is_digit(parts->number.ptr[parts->number.len - 1]) &&
			(parts->number.len < 2 || !is_digit(parts->number.ptr[parts->number.len - 2])))) {
		return false;
	}
	if (parts->format == BT_BINARY_SI) {
		nano = binary_nano(parts, &capped);
		if (nano > 0 && nano < (uwide)pow10_table[UNIT_EXP]) {
			big.format = BT_DECIMAL_SI;
		}
	} else {
		nano = decimal_nano(parts);
	}
	big.nano = parts->negative ? -(wide)nano : (wide)nano;
	big.nano_exp = capped ? UNIT_EXP : 0;
	*out_quantity = big;
	return true;
}

enum bt_status bt_quantity_parse(struct bt_str text, struct bt_quantity *out_quantity)
{
	struct parts parts;

	if (text.len == 0 || !split(text, &parts)) {
		return BT_INVALID;
	}
	if (BT_LIKELY(read_amount(&parts, out_quantity))) {
		return BT_OK;
	}
	return read_big(&parts, out_quantity) ? BT_OK : BT_INVALID;
}

static wide divide_away(wide a, wide by)
{
	wide result = a / by;
	wide rest = a % by;

	return rest == 0 ? result : rest > 0 ? result + 1 : result - 1;
}

/*
 * Beyond 64 bits upstream returns its overflowed product: the low bits where it multiplies in one step, as
 * for these powers, and 0 where it multiplies digit by digit.
 */
static int64_t overflowed(int64_t mantissa, uint32_t up)
{
	const uint32_t one_step = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 6 | 1u << 9;

	if (up >= POW10_N || !(one_step >> up & 1) || mantissa == INT64_MIN) {
		return 0;
	}
	return (int64_t)((uint64_t)mantissa * (uint64_t)pow10_table[up]);
}

static int64_t amount_scaled(int64_t mantissa, uint32_t nano_exp, uint32_t unit_exp)
{
	int64_t result;

	if (nano_exp < unit_exp) {
		int64_t by = pow10_table[unit_exp - nano_exp];

		return mantissa / by + (mantissa % by > 0) - (mantissa % by < 0);
	}
	uint32_t up = nano_exp - unit_exp;
	if (up >= POW10_N || __builtin_mul_overflow(mantissa, pow10_table[up], &result)) {
		return overflowed(mantissa, up);
	}
	return result;
}

static inline int64_t low_bits(wide a)
{
	return (int64_t)(uint64_t)(uwide)a;
}

/* As upstream's big decimals: the low 64 bits, rounded towards positive infinity. */
static int64_t big_scaled(wide nano, uint32_t nano_exp, uint32_t unit_exp)
{
	/* The unit of a sum of 64-bit amounts may exceed 10^18 nanos; numbers that large are capped
	 * anyway. */
	if (nano_exp >= POW10_N) {
		nano /= pow10_table[POW10_N - 1];
		nano_exp -= POW10_N - 1;
		unit_exp = 0;
		nano_exp = nano_exp >= POW10_N ? POW10_N - 1 : nano_exp;
	}
	wide unscaled = nano_exp ? nano / pow10_table[nano_exp] : nano;

	if (unit_exp == nano_exp) {
		return low_bits(unscaled);
	}
	if (unit_exp < nano_exp) {
		uint64_t factor = (uint64_t)pow10_table[nano_exp - unit_exp];

		return (int64_t)((uint64_t)low_bits(unscaled) * factor);
	}
	int64_t divisor = pow10_table[unit_exp - nano_exp];
	if (unscaled < INT64_MAX) {
		int64_t low = low_bits(unscaled);

		return low / divisor + (low % divisor != 0);
	}
	return low_bits(unscaled / divisor + (unscaled % divisor != 0));
}

int64_t bt_quantity_scaled(const struct bt_quantity *quantity, uint32_t unit_exp)
{
	if (quantity->nano == 0) {
		return 0;
	}
	if (BT_LIKELY(quantity->mantissa != 0)) {
		return amount_scaled(quantity->mantissa, quantity->nano_exp, unit_exp);
	}
	return big_scaled(quantity->nano, quantity->nano_exp, unit_exp);
}

struct bt_quantity bt_quantity_round_milli(struct bt_quantity quantity)
{
	wide milli = pow10_table[MILLI_EXP];

	if (quantity.nano != 0 && quantity.mantissa == 0) {
		quantity.nano = divide_away(quantity.nano, milli) * milli;
		quantity.nano_exp = MILLI_EXP;
		return quantity;
	}
	if (quantity.nano_exp >= MILLI_EXP) {
		return quantity;
	}
	wide by = pow10_table[MILLI_EXP - quantity.nano_exp];
	return amount((int64_t)divide_away(quantity.mantissa, by), MILLI_EXP, quantity.format);
}

/* Adds two 64-bit amounts; false when upstream would switch to big decimals. */
static bool add_amounts(struct bt_quantity a, struct bt_quantity b, struct bt_quantity *out_sum)
{
	struct bt_quantity *coarse = a.nano_exp > b.nano_exp ? &a : &b;
	uint32_t nano_exp = a.nano_exp < b.nano_exp ? a.nano_exp : b.nano_exp;
	uint32_t up = coarse->nano_exp - nano_exp;
	int64_t sum;

	if (up >= POW10_N || __builtin_mul_overflow(coarse->mantissa, pow10_table[up], &coarse->mantissa) ||
		__builtin_add_overflow(a.mantissa, b.mantissa, &sum)) {
		return false;
	}
	*out_sum = amount(sum, nano_exp, a.format);
	return true;
}

struct bt_quantity bt_quantity_add(struct bt_quantity a, struct bt_quantity b)
{
	struct bt_quantity sum;

	if (a.nano == 0) {
		return b;
	}
	if (b.nano == 0) {
		return a;
	}
	if (a.mantissa != 0 && b.mantissa != 0 && add_amounts(a, b, &sum)) {
		return sum;
	}
	wide nano = a.nano + b.nano;
	if (nano > NANO_MAX) {
		nano = NANO_MAX;
	} else if (nano < -NANO_MAX) {
		nano = -NANO_MAX;
	}
	return (struct bt_quantity){.nano = nano,
		.nano_exp = a.nano_exp < b.nano_exp ? a.nano_exp : b.nano_exp,
		.format = a.format};
}

struct bt_quantity bt_quantity_sub(struct bt_quantity a, struct bt_quantity b)
{
	b.nano = -b.nano;
	/* INT64_MIN cannot be negated; it becomes a big decimal. */
	b.mantissa = b.mantissa == INT64_MIN ? 0 : -b.mantissa;
	return bt_quantity_add(a, b);
}

struct bt_quantity bt_quantity_of_int64(int64_t value, enum bt_quantity_format format)
{
	return amount(value, NANO_DIGITS, format);
}

struct bt_quantity bt_quantity_of_milli(int64_t milli, enum bt_quantity_format format)
{
	return amount(milli, MILLI_EXP, format);
}

bool bt_quantity_int64(struct bt_quantity quantity, int64_t *out_value)
{
	bool is_amount = quantity.mantissa != 0 || quantity.nano == 0;
	int64_t value = quantity.mantissa;

	if (!is_amount || quantity.nano_exp < UNIT_EXP) {
		return false;
	}
	uint32_t up = quantity.nano_exp - UNIT_EXP;
	if (value != 0 && (up >= POW10_N || __builtin_mul_overflow(value, pow10_table[up], &value))) {
		return false;
	}
	*out_value = value;
	return true;
}

/* 10^exponent as Go's math.Pow10 computes it. */
static double go_pow10(int64_t exponent)
{
	static const double tens[32] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
		1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27,
		1e28, 1e29, 1e30, 1e31};
	static const double steps[10] = {1e0, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288};

	if (exponent < 0) {
		return 1 / tens[-exponent]; /* the smallest unit is a nano */
	}
	return exponent > 308 ? HUGE_VAL : steps[exponent / 32] * tens[exponent % 32];
}

double bt_quantity_approximate(struct bt_quantity quantity)
{
	int64_t exponent = (int64_t)quantity.nano_exp - UNIT_EXP;
	double base = (double)quantity.mantissa;

	if (quantity.mantissa == 0 && quantity.nano != 0) {
		wide unscaled = quantity.nano;

		for (uint32_t i = 0; i < quantity.nano_exp && unscaled != 0; i++) {
			unscaled /= 10;
		}
		base = (double)unscaled;
	}
	return exponent == 0 || base == 0 ? base : base * go_pow10(exponent);
}

/* Writes a number in decimal at the end of a buffer. Returns where it starts. */
static char *write_number(wide number, char *end)
{
	uwide rest = number < 0 ? -(uwide)number : (uwide)number;

	do {
		*--end = (char)('0' + (int)(rest % 10));
		rest /= 10;
	} while (rest);
	if (number < 0) {
		*--end = '-';
	}
	return end;
}

/* Divides *number by factor while possible. Returns how often. */
static int64_t take_factors(wide *number, wide factor)
{
	int64_t n = 0;

	while (*number != 0 && *number % factor == 0) {
		*number /= factor;
		n++;
	}
	return n;
}

static size_t finish_text(wide number, const char *suffix, char out_text[BT_QUANTITY_TEXT_MAX])
{
	char digits[BT_QUANTITY_TEXT_MAX];
	char *end = digits + sizeof(digits);
	char *start = write_number(number, end);
	size_t number_n = (size_t)(end - start);
	size_t suffix_n = strlen(suffix);

	BT_INVARIANT(number_n + suffix_n < BT_QUANTITY_TEXT_MAX);
	memcpy(out_text, start, number_n);
	memcpy(out_text + number_n, suffix, suffix_n + 1);
	return number_n + suffix_n;
}

static size_t decimal_text(struct bt_quantity quantity, char out_text[BT_QUANTITY_TEXT_MAX])
{
	static const char si[][2] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
	bool is_amount = quantity.mantissa != 0;
	wide number = is_amount ? (wide)quantity.mantissa : quantity.nano;
	int64_t exponent = is_amount ? (int64_t)quantity.nano_exp - NANO_DIGITS : -NANO_DIGITS;
	char suffix[BT_QUANTITY_TEXT_MAX] = "e";

	exponent += take_factors(&number, 10);
	for (; exponent % 3 != 0; exponent--) {
		number *= 10;
	}
	if (quantity.format == BT_DECIMAL_SI) {
		/* Beyond E upstream has no suffix and writes none. */
		return finish_text(number, exponent > 18 ? "" : si[exponent / 3 + 3], out_text);
	}
	if (exponent == 0) {
		return finish_text(number, "", out_text);
	}
	char *end = suffix + sizeof(suffix) - 1;
	char *start = write_number(exponent, end);
	memmove(suffix + 1, start, (size_t)(end - start));
	suffix[1 + (end - start)] = '\0';
	return finish_text(number, suffix, out_text);
}

size_t bt_quantity_text(struct bt_quantity quantity, char out_text[BT_QUANTITY_TEXT_MAX])
{
	static const char si[][3] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
	wide unit = pow10_table[UNIT_EXP];

	if (quantity.nano == 0) {
		return finish_text(0, "", out_text);
	}
	bool small = quantity.nano > -1024 * unit && quantity.nano < 1024 * unit;
	if (quantity.format != BT_BINARY_SI || small || quantity.nano % unit != 0) {
		if (quantity.format == BT_BINARY_SI) {
			quantity.format = BT_DECIMAL_SI;
		}
		return decimal_text(quantity, out_text);
	}
	wide number = quantity.nano / unit;
	int64_t times = take_factors(&number, 1024);
	return finish_text(number, times > 6 ? "" : si[times], out_text);
}
