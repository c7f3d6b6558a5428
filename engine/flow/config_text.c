/* SPDX-License-Identifier: Apache-2.0
 * The words of validation errors. Source: apimachinery's field errors, aggregates, and rules of names,
 * v1.36.3.
 */
#include <stdarg.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/flow/config_int.h"
#include "engine/model/label_text.h"

struct bt_config_seen_slot {
	struct bt_str text;
	uint32_t ix;
	bool used;
};

static struct bt_config_seen_slot *find_slot(const struct bt_config_seen *seen, struct bt_str text)
{
	size_t mask = seen->slot_n - 1, at = (size_t)bt_hash_bytes(text.ptr, text.len) & mask;

	while (seen->slots[at].used && !bt_str_eq(seen->slots[at].text, text)) {
		at = (at + 1) & mask;
	}
	return &seen->slots[at];
}

bool bt_config_seen_add(struct bt_config_seen *seen, struct bt_str text, uint32_t ix, uint32_t *out_first)
{
	struct bt_config_seen_slot *slot;

	if (2 * seen->n >= seen->slot_n) {
		struct bt_config_seen old = *seen;

		seen->slot_n = old.slot_n ? 2 * old.slot_n : 16;
		seen->slots = bt_mem_zalloc(seen->slot_n, sizeof *seen->slots);
		for (size_t i = 0; i < old.slot_n; i++) {
			if (old.slots[i].used) {
				*find_slot(seen, old.slots[i].text) = old.slots[i];
			}
		}
		bt_mem_free(old.slots);
	}
	slot = find_slot(seen, text);
	if (slot->used) {
		*out_first = slot->ix;
		return false;
	}
	*slot = (struct bt_config_seen_slot){.text = text, .ix = ix, .used = true};
	seen->n++;
	return true;
}

void bt_config_seen_fini(struct bt_config_seen *seen)
{
	bt_mem_free(seen->slots);
	*seen = (struct bt_config_seen){.n = 0};
}

static struct bt_str keep(struct bt_config_errors *errors, struct bt_buf *buf)
{
	struct bt_str text = {bt_arena_copy(&errors->arena, buf->ptr ? buf->ptr : "", buf->len), buf->len};

	bt_buf_fini(buf);
	return text;
}

static void add(struct bt_config_errors *errors, struct bt_buf *buf)
{
	errors->items = bt_mem_grow(errors->items, errors->n, &errors->cap, sizeof *errors->items);
	errors->items[errors->n++] = keep(errors, buf);
}

void bt_config_errors_add(struct bt_config_errors *errors, const char *format, ...)
{
	struct bt_buf buf = {.len = 0};
	va_list args;

	va_start(args, format);
	bt_buf_vprintf(&buf, format, args);
	va_end(args);
	add(errors, &buf);
}

void bt_config_errors_text(const struct bt_config_errors *errors, struct bt_buf *out_text)
{
	struct bt_config_seen seen = {.n = 0};
	size_t start = out_text->len;
	uint32_t first;

	bt_buf_char(out_text, '[');
	for (size_t i = 0; i < errors->n; i++) {
		if (bt_config_seen_add(&seen, errors->items[i], (uint32_t)i, &first)) {
			bt_buf_text(out_text, seen.n > 1 ? ", " : "");
			bt_buf_str(out_text, errors->items[i]);
		}
	}
	if (seen.n > 1) {
		bt_buf_char(out_text, ']');
	} else {
		memmove(out_text->ptr + start, out_text->ptr + start + 1, out_text->len - start);
		out_text->len--;
	}
	bt_config_seen_fini(&seen);
}

void bt_config_errors_fini(struct bt_config_errors *errors)
{
	bt_mem_free(errors->items);
	bt_arena_fini(&errors->arena);
	*errors = (struct bt_config_errors){.n = 0};
}

struct bt_str bt_config_path(struct bt_config_errors *errors, const char *format, ...)
{
	struct bt_buf buf = {.len = 0};
	va_list args;

	va_start(args, format);
	bt_buf_vprintf(&buf, format, args);
	va_end(args);
	return keep(errors, &buf);
}

static void start(struct bt_buf *buf, struct bt_str path, const char *kind)
{
	bt_buf_str(buf, path);
	bt_buf_text(buf, ": ");
	bt_buf_text(buf, kind);
}

static void finish(struct bt_config_errors *errors, struct bt_buf *buf, const char *detail)
{
	if (*detail) {
		bt_buf_text(buf, ": ");
		bt_buf_text(buf, detail);
	}
	add(errors, buf);
}

void bt_config_required(struct bt_config_errors *errors, struct bt_str path, const char *detail)
{
	struct bt_buf buf = {.len = 0};

	start(&buf, path, "Required value");
	finish(errors, &buf, detail);
}

void bt_config_forbidden(struct bt_config_errors *errors, struct bt_str path, const char *detail)
{
	struct bt_buf buf = {.len = 0};

	start(&buf, path, "Forbidden");
	finish(errors, &buf, detail);
}

void bt_config_duplicate(struct bt_config_errors *errors, struct bt_str path, struct bt_str value)
{
	struct bt_buf buf = {.len = 0};

	start(&buf, path, "Duplicate value: ");
	bt_config_quote(&buf, value);
	finish(errors, &buf, "");
}

void bt_config_invalid_int(
	struct bt_config_errors *errors, struct bt_str path, int64_t value, const char *detail)
{
	struct bt_buf buf = {.len = 0};

	start(&buf, path, "Invalid value: ");
	bt_buf_int(&buf, value);
	finish(errors, &buf, detail);
}

void bt_config_invalid_text(
	struct bt_config_errors *errors, struct bt_str path, struct bt_str value, const char *detail)
{
	struct bt_buf buf = {.len = 0};

	start(&buf, path, "Invalid value: ");
	bt_config_quote(&buf, value);
	finish(errors, &buf, detail);
}

void bt_config_invalid_raw(
	struct bt_config_errors *errors, struct bt_str path, struct bt_str value, const char *detail)
{
	struct bt_buf buf = {.len = 0};

	start(&buf, path, "Invalid value: ");
	bt_buf_str(&buf, value);
	finish(errors, &buf, detail);
}

void bt_config_invalid_duration(
	struct bt_config_errors *errors, struct bt_str path, int64_t ns, const char *detail)
{
	struct bt_buf buf = {.len = 0};

	start(&buf, path, "Invalid value: \"");
	bt_config_duration_text(&buf, ns);
	bt_buf_char(&buf, '"');
	finish(errors, &buf, detail);
}

void bt_config_unsupported(
	struct bt_config_errors *errors, struct bt_str path, struct bt_str value, const char *supported)
{
	struct bt_buf buf = {.len = 0};

	start(&buf, path, "Unsupported value: ");
	bt_config_quote_json(&buf, value);
	finish(errors, &buf, supported);
}

/* The length of the UTF-8 sequence at the start of s and its code point; 0 when it is not valid. */
static size_t decode_rune(struct bt_str s, uint32_t *out_rune)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)s.ptr;
	size_t n = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
	uint32_t rune;

	if (!n || n > s.len) {
		return 0;
	}
	rune = n == 1 ? p[0] : p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (p[i] >> 6 != 2) {
			return 0;
		}
		rune = rune << 6 | (p[i] & 0x3f);
	}
	if (rune < least[n] || rune > 0x10ffff || (rune >= 0xd800 && rune < 0xe000)) {
		return 0;
	}
	*out_rune = rune;
	return n;
}

/* The code points above ASCII that text editors show as nothing: controls, blanks, marks of direction and
 * order. */
static bool is_invisible(uint32_t rune)
{
	return rune < 0xa1 || rune == 0xad || rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200f) ||
	       (rune >= 0x2028 && rune <= 0x202f) || (rune >= 0x205f && rune <= 0x206f) || rune == 0x3000 ||
	       (rune >= 0xe000 && rune <= 0xf8ff) || rune == 0xfeff || rune >= 0xe0000 ||
	       (rune & 0xfffe) == 0xfffe;
}

static void quote_byte(struct bt_buf *buf, unsigned char c)
{
	static const char names[] = "abtnvfr";

	if (c == '"' || c == '\\') {
		bt_buf_printf(buf, "\\%c", c);
	} else if (c >= 7 && c <= 13) {
		bt_buf_printf(buf, "\\%c", names[c - 7]);
	} else if (c < 0x20 || c >= 0x7f) {
		bt_buf_printf(buf, "\\x%02x", c);
	} else {
		bt_buf_char(buf, (char)c);
	}
}

void bt_config_quote(struct bt_buf *buf, struct bt_str text)
{
	bt_buf_char(buf, '"');
	for (size_t i = 0; i < text.len;) {
		uint32_t rune = 0;
		size_t n = decode_rune(bt_str_sub(text, i, text.len), &rune);

		if (n < 2) {
			quote_byte(buf, (unsigned char)text.ptr[i]);
		} else if (is_invisible(rune)) {
			bt_buf_printf(buf, rune > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)rune);
		} else {
			bt_buf_add(buf, text.ptr + i, n);
		}
		i += n ? n : 1;
	}
	bt_buf_char(buf, '"');
}

void bt_config_quote_json(struct bt_buf *buf, struct bt_str text)
{
	static const char names[] = "btn\0fr";

	bt_buf_char(buf, '"');
	for (size_t i = 0; i < text.len;) {
		unsigned char c = (unsigned char)text.ptr[i];
		uint32_t rune = 0;
		size_t n = decode_rune(bt_str_sub(text, i, text.len), &rune);

		if (!n) {
			bt_buf_text(buf, "\\ufffd");
		} else if (c == '"' || c == '\\') {
			bt_buf_printf(buf, "\\%c", c);
		} else if (c >= 8 && c <= 13 && names[c - 8]) {
			bt_buf_printf(buf, "\\%c", names[c - 8]);
		} else if (c < 0x20 || c == '<' || c == '>' || c == '&' || rune == 0x2028 || rune == 0x2029) {
			bt_buf_printf(buf, "\\u%04x", (unsigned)rune);
		} else {
			bt_buf_add(buf, text.ptr + i, n);
		}
		i += n ? n : 1;
	}
	bt_buf_char(buf, '"');
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

void bt_config_duration_text(struct bt_buf *buf, int64_t ns)
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

void bt_config_check_label_key(struct bt_config_errors *errors, struct bt_str path, struct bt_str name)
{
	struct bt_str faults[4];
	uint32_t n = bt_label_key_faults(name, faults);

	for (uint32_t i = 0; i < n; i++) {
		bt_config_invalid_text(errors, path, name, faults[i].ptr);
	}
}
