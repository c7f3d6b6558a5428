/* SPDX-License-Identifier: Apache-2.0
 * Strict decoding with upstream's texts. Source: sigs.k8s.io/json, metav1.Duration and Go's
 * time.ParseDuration.
 */
#include "tools/kube/config/strict.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/check.h"
#include "engine/base/duration.h"
#include "engine/base/mem.h"
#include "engine/base/quote.h"
#include "engine/model/object.h"
#include "tools/format/base64.h"

#define FAULT_MAX (sizeof((struct bt_strict *)NULL)->fault_texts / sizeof(struct bt_str))

static bool decode_object(struct bt_strict *strict, const struct bt_strict_struct *type, void *out);

static void note_place(struct bt_strict *strict, size_t offset)
{
	if (!strict->has_offset) {
		strict->offset = offset;
		strict->has_offset = true;
	}
}

static void cut(struct bt_buf *buf, size_t len)
{
	if (buf->ptr) {
		buf->len = len;
		buf->ptr[len] = '\0';
	}
}

/* Steps a path down by one name; give its former length to cut it back to afterwards. */
static size_t descend(struct bt_buf *path, const char *name)
{
	size_t len = path->len;

	bt_buf_text(path, len ? "." : "");
	bt_buf_text(path, name);
	return len;
}

/* The same fault at the same path is said once, and only the first hundred faults are said. */
static void add_fault(struct bt_strict *strict, const char *what, struct bt_str key, size_t offset)
{
	size_t len = strict->path.len, start = strict->faults.len;
	struct bt_str text;

	bt_buf_text(&strict->path, len ? "." : "");
	bt_buf_str(&strict->path, key);
	bt_buf_text(&strict->faults, strict->fault_n ? ", " : "");
	start = strict->faults.len;
	bt_buf_text(&strict->faults, what);
	bt_quote(&strict->faults, bt_buf_view(&strict->path));
	cut(&strict->path, len);
	text = bt_str_sub(bt_buf_view(&strict->faults), start, strict->faults.len);
	for (uint32_t i = 0; i < strict->fault_n; i++) {
		if (bt_str_eq(strict->fault_texts[i], text)) {
			cut(&strict->faults, start - 2);
			return;
		}
	}
	if (strict->fault_n == FAULT_MAX) {
		cut(&strict->faults, start - 2);
		return;
	}
	strict->fault_texts[strict->fault_n++] =
		(struct bt_str){bt_arena_copy(strict->arena, text.ptr, text.len), text.len};
	note_place(strict, offset);
}

/* A value of a wrong type. The first one counts; decoding goes on, because an error of a duration overrules
 * it. */
static bool mismatch(struct bt_strict *strict, const char *value, struct bt_str number,
	const char *go_package, const char *go_type)
{
	if (!strict->fatal.len) {
		strict->has_offset = false;
		note_place(strict, bt_json_offset(strict->json));
		bt_buf_printf(&strict->fatal,
			"json: cannot unmarshal %s%s%.*s into Go struct field %s.%.*s of type %s%s%s", value,
			number.len ? " " : "", BT_STR_ARG(number), strict->owner->go_name,
			BT_STR_ARG(bt_buf_view(&strict->fields)), go_package, *go_package ? "." : "",
			go_type);
	}
	return bt_json_skip(strict->json);
}

const char *bt_strict_type_word(enum bt_json_type type)
{
	switch (type) {
	case BT_JSON_OBJECT:
		return "object";
	case BT_JSON_ARRAY:
		return "array";
	case BT_JSON_STRING:
		return "string";
	case BT_JSON_NUMBER:
		return "number";
	default:
		return "bool";
	}
}

static bool wrong_type(struct bt_strict *strict, const char *go_type)
{
	return mismatch(strict, bt_strict_type_word(bt_json_peek(strict->json)), (struct bt_str){.len = 0},
		"", go_type);
}

static bool read_string(struct bt_strict *strict, const char *go_type, struct bt_str *out)
{
	if (bt_json_peek(strict->json) == BT_JSON_NULL) {
		return bt_json_null(strict->json);
	}
	if (bt_json_peek(strict->json) != BT_JSON_STRING) {
		return wrong_type(strict, go_type);
	}
	return bt_json_string(strict->json, out);
}

/* An integer in plain digits, as upstream wants it: 1.0 and 1e2 are numbers of a wrong type. */
static bool read_integer(
	struct bt_strict *strict, int64_t least, int64_t most, const char *go_type, int64_t *out)
{
	struct bt_json_mark mark = bt_json_mark(strict->json);
	struct bt_str text;
	char copy[32], *end;
	long long value;

	if (bt_json_peek(strict->json) != BT_JSON_NUMBER) {
		return wrong_type(strict, go_type);
	}
	if (!bt_json_number(strict->json, &text)) {
		return false;
	}
	if (text.len < sizeof copy) {
		memcpy(copy, text.ptr, text.len);
		copy[text.len] = '\0';
		errno = 0;
		value = strtoll(copy, &end, 10);
		if (!*end && !errno && value >= least && value <= most) {
			*out = value;
			return true;
		}
	}
	bt_json_seek(strict->json, mark);
	return mismatch(strict, "number", text, "", go_type);
}

static bool read_float(struct bt_strict *strict, float *out)
{
	struct bt_json_mark mark = bt_json_mark(strict->json);
	struct bt_str text;
	char *copy;
	float value;

	if (bt_json_peek(strict->json) != BT_JSON_NUMBER) {
		return wrong_type(strict, "float32");
	}
	if (!bt_json_number(strict->json, &text)) {
		return false;
	}
	copy = bt_mem_copy(text.ptr, text.len);
	value = strtof(copy, NULL);
	bt_mem_free(copy);
	if (isinf(value)) {
		bt_json_seek(strict->json, mark);
		return mismatch(strict, "number", text, "", "float32");
	}
	*out = value;
	return true;
}

/* A duration reads itself upstream, so its error ends the decoding at once and takes the place of earlier
 * ones. */
static bool read_duration(struct bt_strict *strict, bool optional, int64_t *out)
{
	enum bt_json_type type = bt_json_peek(strict->json);
	size_t offset = bt_json_offset(strict->json);
	struct bt_str text = {.len = 0};
	struct bt_buf error = {.len = 0};

	if (type == BT_JSON_NULL && optional) {
		return bt_json_null(strict->json);
	}
	if (type != BT_JSON_STRING && type != BT_JSON_NULL) {
		cut(&strict->fatal, 0);
		wrong_type(strict, "string");
		strict->stop = true;
		return false;
	}
	if (type == BT_JSON_NULL ? !bt_json_null(strict->json) : !bt_json_string(strict->json, &text)) {
		return false;
	}
	strict->stop = !bt_duration_parse(text, out, &error);
	if (strict->stop) {
		cut(&strict->fatal, 0);
		bt_buf_str(&strict->fatal, bt_buf_view(&error));
		strict->has_offset = false;
		note_place(strict, offset);
	}
	bt_buf_fini(&error);
	return !strict->stop;
}

/* Bytes may be an array of numbers, too. */
static bool read_byte_array(struct bt_strict *strict, struct bt_str *out)
{
	struct bt_buf bytes = {.len = 0};
	bool ok = bt_json_enter_array(strict->json);

	while (ok && bt_json_next_element(strict->json)) {
		int64_t byte = 0;

		if (bt_json_peek(strict->json) == BT_JSON_NULL) {
			ok = bt_json_null(strict->json);
		} else {
			ok = read_integer(strict, 0, UINT8_MAX, "uint8", &byte);
		}
		bt_buf_char(&bytes, (char)byte);
	}
	*out = (struct bt_str){
		bt_arena_copy(strict->arena, bytes.ptr ? bytes.ptr : "", bytes.len), bytes.len};
	bt_buf_fini(&bytes);
	return ok && bt_json_error(strict->json)->status == BT_OK;
}

static bool read_bytes(struct bt_strict *strict, struct bt_str *out)
{
	size_t offset = bt_json_offset(strict->json), bad;
	struct bt_str text = {.len = 0};
	struct bt_buf bytes = {.len = 0};

	if (bt_json_peek(strict->json) == BT_JSON_ARRAY) {
		return read_byte_array(strict, out);
	}
	if (bt_json_peek(strict->json) != BT_JSON_STRING) {
		return wrong_type(strict, "[]uint8");
	}
	if (!bt_json_string(strict->json, &text)) {
		return false;
	}
	if (!bt_base64_decode(text, &bytes, &bad) && !strict->fatal.len) {
		strict->has_offset = false;
		note_place(strict, offset);
		bt_buf_printf(&strict->fatal, "illegal base64 data at input byte %zu", bad);
	}
	*out = (struct bt_str){bt_arena_copy(strict->arena, bytes.ptr, bytes.len), bytes.len};
	bt_buf_fini(&bytes);
	return true;
}

static bool read_strings(struct bt_strict *strict, struct bt_str_list *out)
{
	size_t cap = 0;
	struct bt_str *items = NULL;
	bool ok = true;

	if (bt_json_peek(strict->json) != BT_JSON_ARRAY) {
		return wrong_type(strict, "[]string");
	}
	if (!bt_json_enter_array(strict->json)) {
		return false;
	}
	*out = (struct bt_str_list){.set = true};
	while (ok && bt_json_next_element(strict->json)) {
		items = bt_mem_grow(items, out->n, &cap, sizeof *items);
		items[out->n] = (struct bt_str){.len = 0};
		ok = read_string(strict, "string", &items[out->n++]);
	}
	out->items = bt_arena_zalloc(strict->arena, (out->n + 1) * sizeof *items);
	if (out->n) {
		memcpy(out->items, items, out->n * sizeof *items);
	}
	bt_mem_free(items);
	return ok;
}

/* One member of an object that waits to be read in another order than that of the text. */
struct place {
	struct bt_str key;
	struct bt_json_mark mark;
	uint32_t ix;
};

struct places {
	struct place *items;
	size_t n, cap;
};

static int order_places(const void *a, const void *b)
{
	const struct place *left = a, *right = b;
	int order = bt_str_cmp(left->key, right->key);

	return order ? order : left->ix < right->ix ? -1 : left->ix > right->ix;
}

/* Notes where the members of the object are, and leaves the cursor behind it. */
static bool find_places(struct bt_strict *strict, struct places *places)
{
	struct bt_str key;

	if (!bt_json_enter_object(strict->json)) {
		return false;
	}
	while (bt_json_next_key(strict->json, &key)) {
		places->items = bt_mem_grow(places->items, places->n, &places->cap, sizeof *places->items);
		places->items[places->n] =
			(struct place){key, bt_json_mark(strict->json), (uint32_t)places->n};
		places->n++;
		if (!bt_json_skip(strict->json)) {
			return false;
		}
	}
	if (bt_json_error(strict->json)->status != BT_OK) {
		return false;
	}
	if (strict->sorted && places->n) {
		qsort(places->items, places->n, sizeof *places->items, order_places);
	}
	return true;
}

static bool read_map(struct bt_strict *strict, struct bt_str_map *out)
{
	struct places places = {.n = 0};
	struct bt_json_mark end;
	bool ok;

	if (bt_json_peek(strict->json) != BT_JSON_OBJECT) {
		return wrong_type(strict, "map[string]string");
	}
	ok = find_places(strict, &places);
	*out = (struct bt_str_map){.set = true};
	if (ok) {
		end = bt_json_mark(strict->json);
		out->items = bt_arena_zalloc(strict->arena, (places.n + 1) * sizeof *out->items);
		for (size_t i = 0; i < places.n && ok; i++) {
			bt_json_seek(strict->json, places.items[i].mark);
			out->items[out->n].key = places.items[i].key;
			ok = read_string(strict, "string", &out->items[out->n++].value);
		}
		bt_json_seek(strict->json, end);
	}
	bt_mem_free(places.items);
	return ok;
}

static bool read_struct(struct bt_strict *strict, const struct bt_strict_struct *type, void *out)
{
	if (bt_json_peek(strict->json) == BT_JSON_NULL) {
		return bt_json_null(strict->json);
	}
	if (bt_json_peek(strict->json) != BT_JSON_OBJECT) {
		return mismatch(strict, bt_strict_type_word(bt_json_peek(strict->json)),
			(struct bt_str){.len = 0}, type->go_package, type->go_name);
	}
	return decode_object(strict, type, out);
}

static bool read_list(struct bt_strict *strict, const struct bt_strict_member *member, char *out)
{
	size_t cap = 0, bytes = member->of->bytes, len = strict->path.len;
	uint32_t n = 0;
	char *items = NULL, *kept, package[16];
	bool ok = true;

	if (bt_json_peek(strict->json) != BT_JSON_ARRAY) {
		snprintf(package, sizeof package, "[]%s", member->of->go_package);
		return mismatch(strict, bt_strict_type_word(bt_json_peek(strict->json)),
			(struct bt_str){.len = 0}, package, member->of->go_name);
	}
	if (!bt_json_enter_array(strict->json)) {
		return false;
	}
	while (ok && bt_json_next_element(strict->json)) {
		items = bt_mem_grow(items, n, &cap, bytes);
		memset(items + n * bytes, 0, bytes);
		bt_buf_printf(&strict->path, "[%u]", n);
		ok = read_struct(strict, member->of, items + n * bytes);
		cut(&strict->path, len);
		n++;
	}
	kept = bt_arena_zalloc(strict->arena, n * bytes + 1);
	if (n) {
		memcpy(kept, items, n * bytes);
	}
	bt_mem_free(items);
	memcpy(out + member->offset, &kept, sizeof kept);
	memcpy(out + member->count, &n, sizeof n);
	return ok;
}

static bool read_bool(struct bt_strict *strict, bool *out)
{
	return bt_json_peek(strict->json) == BT_JSON_BOOL ? bt_json_bool(strict->json, out)
							  : wrong_type(strict, "bool");
}

static bool read_int32(struct bt_strict *strict, int32_t *out)
{
	int64_t value = *out;
	bool ok = read_integer(strict, INT32_MIN, INT32_MAX, "int32", &value);

	*out = (int32_t)value;
	return ok;
}

/* The value of a member, which is not null. */
static bool read_value(struct bt_strict *strict, const struct bt_strict_member *member, char *out)
{
	void *field = out + member->offset;

	switch (member->type) {
	case BT_STRICT_STRING:
		return read_string(strict, member->go_type ? member->go_type : "string", field);
	case BT_STRICT_BOOL:
		return read_bool(strict, field);
	case BT_STRICT_INT32:
		return read_int32(strict, field);
	case BT_STRICT_INT64:
		return read_integer(strict, INT64_MIN, INT64_MAX, "int64", field);
	case BT_STRICT_FLOAT32:
		return read_float(strict, field);
	case BT_STRICT_DURATION:
		return read_duration(strict, member->flag != 0, field);
	case BT_STRICT_BYTES:
		return read_bytes(strict, field);
	case BT_STRICT_STRINGS:
		return read_strings(strict, field);
	case BT_STRICT_MAP:
		return read_map(strict, field);
	case BT_STRICT_OBJECT:
		return read_struct(strict, member->of, field);
	case BT_STRICT_LIST:
		return read_list(strict, member, out);
	case BT_STRICT_RAW:
		return bt_json_raw(strict->json, field);
	case BT_STRICT_META:
		break;
	}
	return bt_json_skip(strict->json);
}

static bool read_member(struct bt_strict *strict, const struct bt_strict_struct *type,
	const struct bt_strict_member *member, char *out)
{
	const struct bt_strict_struct *owner = strict->owner;
	size_t path = descend(&strict->path, member->name), fields = strict->fields.len;
	bool null = bt_json_peek(strict->json) == BT_JSON_NULL, ok;

	if (member->go_inline) {
		descend(&strict->fields, member->go_inline);
	}
	descend(&strict->fields, member->name);
	strict->owner = type;
	if (null && (member->type != BT_STRICT_DURATION || member->flag)) {
		ok = bt_json_null(strict->json);
	} else {
		ok = read_value(strict, member, out);
		if (member->flag) {
			out[member->flag - 1] = true;
		}
	}
	strict->owner = owner;
	cut(&strict->path, path);
	cut(&strict->fields, fields);
	return ok;
}

static const struct bt_strict_member *find_member(const struct bt_strict_struct *type, struct bt_str key)
{
	for (uint32_t i = 0; i < type->member_n; i++) {
		if (bt_str_is(key, type->members[i].name)) {
			return &type->members[i];
		}
	}
	return NULL;
}

/* The value of the member named key, at which the cursor stands; seen has a bit for each member that came
 * before. */
static bool decode_member(struct bt_strict *strict, const struct bt_strict_struct *type, struct bt_str key,
	uint64_t *seen, void *out)
{
	const struct bt_strict_member *member = find_member(type, key);
	uint64_t bit;

	if (!member) {
		add_fault(strict, "unknown field ", key, bt_json_offset(strict->json));
		return bt_json_skip(strict->json);
	}
	bit = UINT64_C(1) << (member - type->members);
	if (*seen & bit) {
		add_fault(strict, "duplicate field ", key, bt_json_offset(strict->json));
	}
	*seen |= bit;
	return read_member(strict, type, member, out);
}

static bool decode_sorted(struct bt_strict *strict, const struct bt_strict_struct *type, void *out)
{
	struct places places = {.n = 0};
	bool ok = find_places(strict, &places);
	struct bt_json_mark end = bt_json_mark(strict->json);
	uint64_t seen = 0;

	for (size_t i = 0; i < places.n && ok; i++) {
		bt_json_seek(strict->json, places.items[i].mark);
		ok = decode_member(strict, type, places.items[i].key, &seen, out);
	}
	if (ok && places.n) {
		bt_json_seek(strict->json, end);
	}
	bt_mem_free(places.items);
	return ok;
}

static bool decode_object(struct bt_strict *strict, const struct bt_strict_struct *type, void *out)
{
	struct bt_str key;
	uint64_t seen = 0;

	if (strict->sorted) {
		return decode_sorted(strict, type, out);
	}
	if (!bt_json_enter_object(strict->json)) {
		return false;
	}
	while (bt_json_next_key(strict->json, &key)) {
		if (!decode_member(strict, type, key, &seen, out)) {
			return false;
		}
	}
	return bt_json_error(strict->json)->status == BT_OK;
}

bool bt_strict_decode(struct bt_strict *strict, const struct bt_strict_struct *type, void *out)
{
	strict->owner = type;
	if (!decode_object(strict, type, out) && !strict->stop && !strict->fatal.len) {
		const struct bt_json_error *error = bt_json_error(strict->json);

		note_place(strict, error->offset);
		bt_buf_text(&strict->fatal, error->text ? error->text : "unreadable value");
	}
	return !strict->fatal.len;
}

void bt_strict_fini(struct bt_strict *strict)
{
	bt_buf_fini(&strict->fatal);
	bt_buf_fini(&strict->faults);
	bt_buf_fini(&strict->path);
	bt_buf_fini(&strict->fields);
}
