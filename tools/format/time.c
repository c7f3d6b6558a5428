/* SPDX-License-Identifier: Apache-2.0
 * RFC 3339. Source: the Gregorian calendar, in eras of 400 years that begin in March.
 */
#include "tools/format/time.h"

#include <stdbool.h>

/* Go's latest year, 292277026596, has twelve digits. */
#define YEAR_DIGITS 12
#define YEAR_MAX    99999 /* far beyond the range of 64-bit nanoseconds */

static int64_t days_from_civil(int64_t year, int64_t month, int64_t day)
{
	year -= month <= 2;
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	int64_t year_of_era = year - era * 400;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

	return era * 146097 + day_of_era - 719468;
}

/* Reads n digits at *p and steps over them; false when they are not all digits. */
static bool digits(const char **p, const char *end, size_t n, int64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < n; i++, (*p)++) {
		if (*p == end || **p < '0' || **p > '9') {
			return false;
		}
		*out = *out * 10 + (**p - '0');
	}
	return true;
}

static bool literal(const char **p, const char *end, char c)
{
	return *p < end && *(*p)++ == c;
}

static bool read_fraction(const char **p, const char *end, int64_t *out_ns)
{
	int64_t scale = 100000000, digit;
	const char *first = ++*p;

	*out_ns = 0;
	while (*p < end && **p >= '0' && **p <= '9') {
		digit = *(*p)++ - '0';
		*out_ns += digit * scale;
		scale /= 10;
	}
	return *p > first;
}

/*
 * A year as in Go: at least four digits, with a sign before the year 0. A server stores any number of seconds
 * from protobuf, and writes such years.
 */
static bool read_year(const char **p, const char *end, int64_t *out)
{
	bool negative = *p < end && **p == '-';
	const char *first = *p + negative;

	*out = 0;
	for (*p = first; *p < end && **p >= '0' && **p <= '9' && *p - first <= YEAR_DIGITS; (*p)++) {
		*out = *out * 10 + (**p - '0');
	}
	ptrdiff_t n = *p - first;
	*out = negative ? -*out : *out;
	return n == 4 || (n > 4 && n <= YEAR_DIGITS && *first != '0');
}

static bool read_zone(const char **p, const char *end, int64_t *out_s)
{
	int64_t hour, minute;

	*out_s = 0;
	if (*p < end && **p == 'Z') {
		(*p)++;
		return true;
	}
	if (*p == end || (**p != '+' && **p != '-')) {
		return false;
	}
	int64_t sign = *(*p)++ == '-' ? -1 : 1;
	if (!digits(p, end, 2, &hour) || !literal(p, end, ':') || !digits(p, end, 2, &minute) || hour > 24 ||
		minute > 60) {
		return false;
	}
	*out_s = sign * (hour * 3600 + minute * 60);
	return true;
}

enum bt_status bt_time_parse(struct bt_str text, int64_t *out_ns)
{
	static const uint8_t month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	const char *p = text.ptr, *end = p + text.len;
	int64_t year, month, day, hour, minute, second, fraction = 0, zone = 0;

	if (!read_year(&p, end, &year) || !literal(&p, end, '-') || !digits(&p, end, 2, &month) ||
		!literal(&p, end, '-') || !digits(&p, end, 2, &day) || !literal(&p, end, 'T') ||
		!digits(&p, end, 2, &hour) || !literal(&p, end, ':') || !digits(&p, end, 2, &minute) ||
		!literal(&p, end, ':') || !digits(&p, end, 2, &second)) {
		return BT_INVALID;
	}
	if (p < end && *p == '.' && !read_fraction(&p, end, &fraction)) {
		return BT_INVALID;
	}
	if (!read_zone(&p, end, &zone) || p != end) {
		return BT_INVALID;
	}
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	if (month < 1 || month > 12 || day < 1 || day > month_days[month - 1] + (month == 2 && leap) ||
		hour > 23 || minute > 59 || second > 59) {
		return BT_INVALID;
	}
	year = year > YEAR_MAX ? YEAR_MAX : year < -YEAR_MAX ? -YEAR_MAX : year;
	int64_t s = days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - zone;
	if (__builtin_mul_overflow(s, (int64_t)1000000000, out_ns) ||
		__builtin_add_overflow(*out_ns, fraction, out_ns)) {
		*out_ns = s < 0 ? INT64_MIN : INT64_MAX;
	}
	return BT_OK;
}

/* Days since the epoch as year, month and day. */
static void civil(int64_t days, int64_t *out_year, int *out_month, int *out_day)
{
	int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;

	*out_day = (int)(of_year - (153 * month + 2) / 5 + 1);
	*out_month = (int)(month < 10 ? month + 3 : month - 9);
	*out_year = year + era * 400 + (*out_month <= 2);
}

/* Writes the last n digits of a number. Returns the end. */
static char *write_digits(char *out, int64_t value, int n)
{
	for (int i = n - 1; i >= 0; i--) {
		out[i] = (char)('0' + value % 10);
		value /= 10;
	}
	return out + n;
}

/* Nanoseconds since the epoch are in the years 1677 to 2262: four digits. */
size_t bt_time_text(int64_t ns, char out_text[BT_TIME_TEXT_MAX])
{
	const int64_t second = INT64_C(1000000000), day = 86400;
	int64_t rest = ns % second, seconds = ns / second, year;
	int month, day_of_month;
	char *out = out_text;

	if (rest < 0) {
		rest += second;
		seconds--;
	}
	int64_t days = seconds / day, of_day = seconds % day;
	if (of_day < 0) {
		of_day += day;
		days--;
	}
	civil(days, &year, &month, &day_of_month);
	const struct {
		int64_t value;
		int n;
		char behind;
	} parts[] = {{year, 4, '-'}, {month, 2, '-'}, {day_of_month, 2, 'T'}, {of_day / 3600, 2, ':'},
		{of_day / 60 % 60, 2, ':'}, {of_day % 60, 2, rest ? '.' : 'Z'}, {rest, rest ? 9 : 0, 'Z'}};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && parts[i].n; i++) {
		out = write_digits(out, parts[i].value, parts[i].n);
		*out++ = parts[i].behind;
	}
	return (size_t)(out - out_text);
}
