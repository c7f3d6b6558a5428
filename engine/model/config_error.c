/* SPDX-License-Identifier: Apache-2.0
 * Texts of validation errors. Source: apimachinery's field errors, aggregates, and rules of names,
 * v1.36.3.
 */
#include "engine/model/config_error.h"

#include <stdarg.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/duration.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/quote.h"
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

static struct bt_str config_error_keep(struct bt_config_errors *errors, struct bt_buf *buf)
{
	struct bt_str text = {bt_arena_copy(&errors->arena, buf->ptr ? buf->ptr : "", buf->len), buf->len};

	bt_buf_fini(buf);
	return text;
}

static void config_error_add(struct bt_config_errors *errors, struct bt_buf *buf)
{
	errors->items = bt_mem_grow(errors->items, errors->n, &errors->cap, sizeof *errors->items);
	errors->items[errors->n++] = config_error_keep(errors, buf);
}

void bt_config_errors_add(struct bt_config_errors *errors, const char *format, ...)
{
	struct bt_buf buf = {.len = 0};
	va_list args;

	va_start(args, format);
	bt_buf_vprintf(&buf, format, args);
	va_end(args);
	config_error_add(errors, &buf);
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
	return config_error_keep(errors, &buf);
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
	config_error_add(errors, buf);
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
	bt_quote(&buf, value);
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
	bt_quote(&buf, value);
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
	bt_duration_text(&buf, ns);
	bt_buf_char(&buf, '"');
	finish(errors, &buf, detail);
}

void bt_config_unsupported(
	struct bt_config_errors *errors, struct bt_str path, struct bt_str value, const char *supported)
{
	struct bt_buf buf = {.len = 0};

	start(&buf, path, "Unsupported value: ");
	bt_quote_json_go(&buf, value);
	finish(errors, &buf, supported);
}

void bt_config_check_label_key(struct bt_config_errors *errors, struct bt_str path, struct bt_str name)
{
	struct bt_str faults[4];
	uint32_t n = bt_label_key_faults(name, faults);

	for (uint32_t i = 0; i < n; i++) {
		bt_config_invalid_text(errors, path, name, faults[i].ptr);
	}
}
