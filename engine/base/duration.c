/* SPDX-License-Identifier: Apache-2.0
 * Parses and formats durations. Source: Go's package time, 1.26.
 */
#include "engine/base/duration.h"

/* Go's quoting inside the time package: bytes that are not plain ASCII become hexadecimal. */
static void quote(struct bt_buf *buf, struct bt_str text)
{
	bt_buf_char(buf, '"');
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c == '"' || c == '\\') {
			bt_buf_printf(buf, "\\%c", c);
		} else if (c < ' ' || c >= 0x80) {
			bt_buf_printf(buf, "\\x%02x", c);
		} else {
			bt_buf_char(buf, (char)c);
		}
	}
	bt_buf_char(buf, '"');
}

static bool duration_refuse(struct bt_buf *out_error, struct bt_str text)
{
	if (out_error) {
		bt_buf_text(out_error, "time: invalid duration ");
		quote(out_error, text);
	}
	return false;
}

static bool refuse_unit(struct bt_buf *out_error, struct bt_str unit, struct bt_str text)
{
	if (out_error) {
		bt_buf_text(out_error, unit.len ? "time: unknown unit " : "time: missing unit in duration ");
		if (unit.len) {
			quote(out_error, unit);
			bt_buf_text(out_error, " in duration ");
		}
		quote(out_error, text);
	}
	return false;
}

static uint64_t unit_ns(struct bt_str name)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"\xc2\xb5s", 1000}, {"\xce\xbcs", 1000}, {"ms", 1000000},
		{"s", 1000000000}, {"m", UINT64_C(60000000000)}, {"h", UINT64_C(3600000000000)}};

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (bt_str_is(name, units[i].name)) {
			return units[i].ns;
		}
	}
	return 0;
}

static bool is_digit(struct bt_str s, size_t i)
{
	return i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9';
}

/* A number with a fraction, as a whole part, a fraction and the fraction's scale. */
struct amount {
	uint64_t whole, fraction;
	double scale;
	bool given, overflow;
};

static struct amount read_amount(struct bt_str s, size_t *i)
{
	const uint64_t limit = UINT64_C(1) << 63;
	struct amount amount = {.scale = 1};
	bool full = false;

	for (; is_digit(s, *i); (*i)++) {
		amount.given = true;
		amount.overflow = amount.overflow || amount.whole > limit / 10;
		amount.whole = amount.whole * 10 + (uint64_t)(s.ptr[*i] - '0');
		amount.overflow = amount.overflow || amount.whole > limit;
	}
	if (*i < s.len && s.ptr[*i] == '.') {
		for ((*i)++; is_digit(s, *i); (*i)++) {
			uint64_t next = amount.fraction * 10 + (uint64_t)(s.ptr[*i] - '0');

			amount.given = true;
			full = full || amount.fraction > (limit - 1) / 10 || next > limit;
			if (!full) {
				amount.fraction = next;
				amount.scale *= 10;
			}
		}
	}
	return amount;
}

bool bt_duration_parse(struct bt_str text, int64_t *out_ns, struct bt_buf *out_error)
{
	const uint64_t limit = UINT64_C(1) << 63;
	bool negative = text.len && text.ptr[0] == '-';
	size_t i = text.len && (text.ptr[0] == '-' || text.ptr[0] == '+');
	uint64_t total = 0;

	if (bt_str_is(bt_str_sub(text, i, text.len), "0")) {
		*out_ns = 0;
		return true;
	}
	if (i == text.len) {
		return duration_refuse(out_error, text);
	}
	while (i < text.len) {
		struct amount amount = read_amount(text, &i);
		size_t unit_at = i;

		if (!amount.given || amount.overflow) {
			return duration_refuse(out_error, text);
		}
		while (i < text.len && text.ptr[i] != '.' && !is_digit(text, i)) {
			i++;
		}
		struct bt_str name = bt_str_sub(text, unit_at, i);
		uint64_t unit = unit_ns(name);
		if (!unit) {
			return refuse_unit(out_error, name, text);
		}
		if (amount.whole > limit / unit) {
			return duration_refuse(out_error, text);
		}
		amount.whole *= unit;
		if (amount.fraction) {
			amount.whole += (uint64_t)((double)amount.fraction * ((double)unit / amount.scale));
		}
		total += amount.whole;
		if (amount.whole > limit || total > limit) {
			return duration_refuse(out_error, text);
		}
	}
	if (!negative && total == limit) {
		return duration_refuse(out_error, text);
	}
	*out_ns = negative ? (int64_t)-total : (int64_t)total;
	return true;
}

/* Appends value / 10^digits without trailing zeroes. */
static void append_fraction(struct bt_buf *buf, uint64_t value, unsigned digits)
{
	uint64_t scale = 1;

	for (unsigned i = 0; i < digits; i++) {
		scale *= 10;
	}
	bt_buf_int(buf, (int64_t)(value / scale));
	value %= scale;
	if (value) {
		bt_buf_char(buf, '.');
	}
	while (value) {
		scale /= 10;
		bt_buf_char(buf, (char)('0' + value / scale));
		value %= scale;
	}
}

void bt_duration_text(struct bt_buf *buf, int64_t ns)
{
	const uint64_t second = UINT64_C(1000000000);
	uint64_t left = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	if (ns < 0) {
		bt_buf_char(buf, '-');
	}
	if (left && left < second) {
		unsigned digits = left < 1000 ? 0 : left < 1000000 ? 3 : 6;

		append_fraction(buf, left, digits);
		bt_buf_text(buf, digits == 0 ? "ns" : digits == 3 ? "\xc2\xb5s" : "ms");
		return;
	}
	if (left >= 3600 * second) {
		bt_buf_printf(buf, "%lluh", (unsigned long long)(left / (3600 * second)));
	}
	if (left >= 60 * second) {
		bt_buf_printf(buf, "%llum", (unsigned long long)(left / (60 * second) % 60));
	}
	append_fraction(buf, left % (60 * second), 9);
	bt_buf_char(buf, 's');
}
