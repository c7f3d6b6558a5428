/* SPDX-License-Identifier: Apache-2.0
 * The table-driven decoder. Recursion is as deep as the tables are, never as deep as the input.
 */
#include "tools/format/schema.h"

#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "engine/base/check.h"
#include "engine/base/compiler.h"
#include "engine/base/duration.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/model/object.h"
#include "engine/model/quantity.h"
#include "tools/format/base64.h"
#include "tools/format/time.h"

/* Maps up to this size are searched linearly for duplicates, larger ones with a hash table. */
#define SMALL_MAP 24

/* How much of an offending value a message quotes. */
#define QUOTE_MAX 60

#define A_STRING "a string"

static void schema_put(char *out, size_t *at, size_t cap, const char *bytes, size_t n)
{
	n = n < cap - 1 - *at ? n : cap - 1 - *at;
	memcpy(out + *at, bytes, n);
	*at += n;
	out[*at] = '\0';
}

/* Keys that would be ambiguous between dots are in brackets, as in metadata.labels[example.com/x]. */
static bool is_plain_key(struct bt_str key)
{
	for (size_t i = 0; i < key.len; i++) {
		char c = key.ptr[i];

		if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9') && c != '_' &&
			c != '-') {
			return false;
		}
	}
	return key.len > 0;
}

uint32_t bt_path_steps(const struct bt_path *path, const struct bt_path *out_steps[BT_PATH_STEPS])
{
	uint32_t n = 0;

	for (const struct bt_path *step = path; step; step = step->up) {
		n++;
	}
	/* Keeps the deepest steps of a path that is too long. */
	n = n < BT_PATH_STEPS ? n : BT_PATH_STEPS;
	for (uint32_t i = n; i > 0; path = path->up) {
		out_steps[--i] = path;
	}
	return n;
}

static void write_path(const struct bt_path *path, char out[BT_PATH_MAX])
{
	const struct bt_path *steps[BT_PATH_STEPS];
	uint32_t n = bt_path_steps(path, steps);
	char number[16];
	size_t at = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < n; i++) {
		const struct bt_path *step = steps[i];

		if (!step->key.ptr) {
			int len = snprintf(number, sizeof(number), "[%u]", step->index);
			schema_put(out, &at, BT_PATH_MAX, number, (size_t)len);
		} else if (is_plain_key(step->key)) {
			schema_put(out, &at, BT_PATH_MAX, ".", at ? 1 : 0);
			schema_put(out, &at, BT_PATH_MAX, step->key.ptr, step->key.len);
		} else {
			schema_put(out, &at, BT_PATH_MAX, "[", 1);
			schema_put(out, &at, BT_PATH_MAX, step->key.ptr, step->key.len);
			schema_put(out, &at, BT_PATH_MAX, "]", 1);
		}
	}
}

bool bt_decode_fail(struct bt_decode *decode, enum bt_status status, size_t offset, const char *remedy,
	const char *format, ...)
{
	struct bt_decode_error *e = &decode->error;
	va_list args;

	if (e->status != BT_OK) {
		return false;
	}
	e->status = status;
	e->offset = offset;
	e->remedy = remedy;
	va_start(args, format);
	vsnprintf(e->message, sizeof(e->message), format, args);
	va_end(args);
	write_path(decode->path, e->path);
	bt_json_fail(decode->json, status, offset, "");
	return false;
}

static const char *type_name(enum bt_json_type type)
{
	static const char *const names[] = {[BT_JSON_NONE] = "nothing",
		[BT_JSON_OBJECT] = "an object",
		[BT_JSON_ARRAY] = "an array",
		[BT_JSON_STRING] = A_STRING,
		[BT_JSON_NUMBER] = "a number",
		[BT_JSON_BOOL] = "a boolean",
		[BT_JSON_NULL] = "null"};

	return names[type];
}

/* Passes on the error that has stopped the cursor. */
static bool stopped(struct bt_decode *decode)
{
	const struct bt_json_error *error = bt_json_error(decode->json);

	if (decode->error.status == BT_OK) {
		bt_decode_fail(decode, error->status, error->offset,
			error->syntax ? "write the file again, for example with kubectl get -o json"
				      : "correct the value",
			"%s", error->text ? error->text : "");
		decode->error.syntax = error->syntax;
	}
	return false;
}

/* Reports a value of the wrong type, unless the cursor has already stopped. */
static bool wrong_type(struct bt_decode *decode, const char *wanted)
{
	size_t offset = bt_json_offset(decode->json);
	enum bt_json_type type = bt_json_peek(decode->json);
	bool unquoted = (type == BT_JSON_NUMBER || type == BT_JSON_BOOL) && strcmp(wanted, A_STRING) == 0;

	if (type == BT_JSON_NONE) {
		return stopped(decode);
	}
	if (decode->report) {
		decode->report(decode, BT_FAULT_TYPE, offset, (struct bt_str){.len = 0});
		return false;
	}
	return bt_decode_fail(decode, BT_INVALID, offset,
		unquoted ? "put the value into quotes" : "correct the value", "expected %s, found %s", wanted,
		type_name(type));
}

static bool check_type(struct bt_decode *decode, enum bt_json_type type, const char *wanted)
{
	return bt_json_peek(decode->json) == type ? true : wrong_type(decode, wanted);
}

bool bt_decode_string(struct bt_decode *decode, struct bt_str *out_string)
{
	if (!check_type(decode, BT_JSON_STRING, A_STRING)) {
		return false;
	}
	return bt_json_string(decode->json, out_string) ? true : stopped(decode);
}

/* Enters the value as an array. False: the value is wrong. */
static bool enter_array(struct bt_decode *decode)
{
	if (!check_type(decode, BT_JSON_ARRAY, "an array")) {
		return false;
	}
	return bt_json_enter_array(decode->json) ? true : stopped(decode);
}

static bool enter_object(struct bt_decode *decode)
{
	if (!check_type(decode, BT_JSON_OBJECT, "an object")) {
		return false;
	}
	return bt_json_enter_object(decode->json) ? true : stopped(decode);
}

/* Was an exhausted container read to its end? */
static bool complete(struct bt_decode *decode)
{
	return bt_json_error(decode->json)->status == BT_OK ? true : stopped(decode);
}

/* Reads null. Returns false when the value is something else, or the cursor stopped. */
static bool take_null(struct bt_decode *decode)
{
	return bt_json_peek(decode->json) == BT_JSON_NULL && bt_json_null(decode->json);
}

static bool read_bool(struct bt_decode *decode, bool *out)
{
	if (!check_type(decode, BT_JSON_BOOL, "true or false")) {
		return false;
	}
	return bt_json_bool(decode->json, out) ? true : stopped(decode);
}

/* The start of the value that spare() may have to skip. */
static inline struct bt_json_mark mark_value(struct bt_decode *decode)
{
	return decode->tolerant ? bt_json_mark(decode->json) : (struct bt_json_mark){0};
}

/*
 * After an error in the value at mark: a tolerant decoder records the error and skips the value, which is
 * valid JSON. path: that of the value. With tell, only errors not reported to it end the decoding. Returns:
 * false when the decoding ends.
 */
static bool spare(struct bt_decode *decode, const struct bt_path *path, struct bt_json_mark mark)
{
	if (!decode->tolerant || decode->error.syntax || bt_json_error(decode->json)->syntax ||
		(decode->report && decode->error.status != BT_OK)) {
		return false;
	}
	if (decode->spared.status == BT_OK) {
		decode->spared = decode->error;
	}
	decode->error = (struct bt_decode_error){0};
	decode->path = path;
	bt_json_seek(decode->json, mark);
	return bt_json_skip(decode->json) ? true : stopped(decode);
}

/* Reports the number at mark, which does not fit the field. */
static BT_NOINLINE bool wrong_number(struct bt_decode *decode, struct bt_json_mark mark)
{
	struct bt_str text;

	bt_json_seek(decode->json, mark);
	size_t offset = bt_json_offset(decode->json);
	if (!bt_json_number(decode->json, &text)) {
		return stopped(decode);
	}
	decode->report(decode, BT_FAULT_NUMBER, offset, text);
	return false;
}

static bool read_int(struct bt_decode *decode, int64_t min, int64_t max, int64_t *out)
{
	const struct bt_json_mark mark = mark_value(decode);
	size_t offset = bt_json_offset(decode->json);

	if (bt_json_peek(decode->json) != BT_JSON_NUMBER) {
		return wrong_type(decode, "a whole number");
	}
	if (!bt_json_int64(decode->json, out)) {
		return decode->report ? wrong_number(decode, mark) : stopped(decode);
	}
	if (*out < min || *out > max) {
		return decode->report ? wrong_number(decode, mark)
				      : bt_decode_fail(decode, BT_RANGE, offset, "use a number that fits",
						"%lld is outside %lld to %lld", (long long)*out,
						(long long)min, (long long)max);
	}
	return true;
}

static BT_NOINLINE bool read_float(struct bt_decode *decode, float *out)
{
	const struct bt_json_mark mark = mark_value(decode);
	size_t offset = bt_json_offset(decode->json);
	struct bt_str text;

	if (!check_type(decode, BT_JSON_NUMBER, "a number")) {
		return false;
	}
	if (!bt_json_number(decode->json, &text)) {
		return stopped(decode);
	}
	float value = strtof(bt_arena_copy(decode->arena, text.ptr, text.len), NULL);
	if (isinf(value)) {
		return decode->report ? wrong_number(decode, mark)
				      : bt_decode_fail(decode, BT_RANGE, offset, "use a number that fits",
						"the number does not fit into 32 bits");
	}
	*out = value;
	return true;
}

/* Reports a string with an invalid text, with Go's message. */
static bool wrong_text(struct bt_decode *decode, enum bt_decode_fault fault, size_t offset,
	const char *remedy, struct bt_str why)
{
	if (decode->report) {
		decode->report(decode, fault, offset, why);
		return false;
	}
	return bt_decode_fail(decode, BT_INVALID, offset, remedy, "%.*s", BT_STR_ARG(why));
}

/* Null is treated as an empty text, which is invalid. */
static BT_NOINLINE bool read_duration(struct bt_decode *decode, int64_t *out)
{
	size_t offset = bt_json_offset(decode->json);
	struct bt_str text = {.len = 0};
	struct bt_buf why = {.len = 0};

	if (!take_null(decode) && !bt_decode_string(decode, &text)) {
		return false;
	}
	bool ok = bt_duration_parse(text, out, &why) ||
		  wrong_text(decode, BT_FAULT_DURATION, offset, "write it like 1m30s", bt_buf_view(&why));
	bt_buf_fini(&why);
	return ok;
}

static bool read_time(struct bt_decode *decode, int64_t *out)
{
	size_t offset = bt_json_offset(decode->json);
	struct bt_str text;

	if (!bt_decode_string(decode, &text)) {
		return false;
	}
	if (bt_time_parse(text, out) != BT_OK) {
		return bt_decode_fail(decode, BT_INVALID, offset, "write it as 2006-01-02T15:04:05Z",
			"\"%.*s\" is not a time", (int)(text.len < QUOTE_MAX ? text.len : QUOTE_MAX),
			text.ptr);
	}
	return true;
}

static struct bt_str trim(struct bt_str s)
{
	while (s.len && (s.ptr[0] == ' ' || (s.ptr[0] >= '\t' && s.ptr[0] <= '\r'))) {
		s = bt_str_sub(s, 1, s.len);
	}
	while (s.len && (s.ptr[s.len - 1] == ' ' || (s.ptr[s.len - 1] >= '\t' && s.ptr[s.len - 1] <= '\r'))) {
		s.len--;
	}
	return s;
}

static bool read_quantity(struct bt_decode *decode, struct bt_quantity *out)
{
	size_t offset = bt_json_offset(decode->json);
	enum bt_json_type type = bt_json_peek(decode->json);
	struct bt_str text;

	if (type == BT_JSON_NULL) {
		*out = (struct bt_quantity){0};
		return bt_json_null(decode->json) ? true : stopped(decode);
	}
	if (type != BT_JSON_STRING && type != BT_JSON_NUMBER) {
		return wrong_type(decode, "a quantity");
	}
	if (!(type == BT_JSON_STRING ? bt_json_string(decode->json, &text)
				     : bt_json_number(decode->json, &text))) {
		return stopped(decode);
	}
	if (bt_quantity_parse(trim(text), out) != BT_OK) {
		return bt_decode_fail(decode, BT_INVALID, offset, "write it like 500m, 2 or 1.5Gi",
			"\"%.*s\" is not a quantity", (int)(text.len < QUOTE_MAX ? text.len : QUOTE_MAX),
			text.ptr);
	}
	return true;
}

/* An array in the arena that grows by doubling; old copies stay until the arena is reset. */
static void *grow(struct bt_arena *arena, void *items, uint32_t n, uint32_t *cap, size_t bytes)
{
	if (n < *cap) {
		return items;
	}
	*cap = n ? n * 2 : 4;
	void *larger = bt_arena_alloc(arena, *cap * bytes, 16);
	if (n) {
		memcpy(larger, items, n * bytes);
	}
	return larger;
}

static bool read_byte_array(struct bt_decode *decode, struct bt_buf *out)
{
	struct bt_path step = {.up = decode->path};
	int64_t byte;

	if (!enter_array(decode)) {
		return false;
	}
	decode->path = &step;
	for (; bt_json_next_element(decode->json); step.index++) {
		byte = 0;
		if (!take_null(decode) && !read_int(decode, 0, UINT8_MAX, &byte)) {
			return false;
		}
		bt_buf_char(out, (char)byte);
	}
	decode->path = step.up;
	return complete(decode);
}

static bool read_base64(struct bt_decode *decode, struct bt_buf *out)
{
	size_t offset = bt_json_offset(decode->json), bad;
	struct bt_buf why = {.len = 0};
	struct bt_str text;

	if (!check_type(decode, BT_JSON_STRING, "bytes in base64")) {
		return false;
	}
	if (!bt_json_string(decode->json, &text)) {
		return stopped(decode);
	}
	if (bt_base64_decode(text, out, &bad)) {
		return true;
	}
	bt_buf_printf(&why, "illegal base64 data at input byte %zu", bad);
	wrong_text(decode, BT_FAULT_BASE64, offset, "encode it with base64 -w0", bt_buf_view(&why));
	bt_buf_fini(&why);
	return false;
}

static BT_NOINLINE bool read_bytes(struct bt_decode *decode, struct bt_str *out)
{
	struct bt_buf bytes = {.len = 0};
	bool ok = bt_json_peek(decode->json) == BT_JSON_ARRAY ? read_byte_array(decode, &bytes)
							      : read_base64(decode, &bytes);

	*out = (struct bt_str){
		bt_arena_copy(decode->arena, bytes.ptr ? bytes.ptr : "", bytes.len), bytes.len};
	bt_buf_fini(&bytes);
	return ok;
}

/* ---- lists ---- */

/* An array of strings; with a schema, of objects that have a string each. */
static bool read_str_list(struct bt_decode *decode, const struct bt_schema *schema, struct bt_str_list *out)
{
	struct bt_path step = {.up = decode->path};
	struct bt_str_list list = {.set = true};
	uint32_t cap = 0;

	if (!enter_array(decode)) {
		return false;
	}
	decode->path = &step;
	while (bt_json_next_element(decode->json)) {
		list.items = grow(decode->arena, list.items, list.n, &cap, sizeof(*list.items));
		struct bt_str *item = &list.items[list.n];
		*item = (struct bt_str){0};
		step.index = list.n;
		if (!take_null(decode) &&
			!(schema ? bt_schema_decode(decode, schema, item) : bt_decode_string(decode, item))) {
			return false;
		}
		list.n++;
	}
	decode->path = step.up;
	*out = list;
	return complete(decode);
}

static bool read_array(struct bt_decode *decode, const struct bt_field *field, char *out)
{
	const struct bt_schema *schema = field->schema;
	struct bt_path step = {.up = decode->path};
	char *items = NULL;
	uint32_t n = 0, cap = 0;

	if (!enter_array(decode)) {
		return false;
	}
	decode->path = &step;
	while (bt_json_next_element(decode->json)) {
		items = grow(decode->arena, items, n, &cap, schema->bytes);
		char *item = items + (size_t)n * schema->bytes;
		memset(item, 0, schema->bytes);
		step.index = n;
		const struct bt_json_mark mark = mark_value(decode);
		if (!take_null(decode) && !bt_schema_decode(decode, schema, item) &&
			!(decode->report && spare(decode, &step, mark))) {
			return false;
		}
		n++;
	}
	decode->path = step.up;
	memcpy(out + field->offset, &items, sizeof(items));
	memcpy(out + field->count - 1, &n, sizeof(n));
	return complete(decode);
}

static bool read_plain(struct bt_decode *decode, enum bt_field_type type, void *out)
{
	switch (type) {
	case BT_FIELD_INTS:
		return read_int(decode, INT64_MIN, INT64_MAX, out);
	case BT_FIELD_BOOLS:
		return read_bool(decode, out);
	default:
		return read_quantity(decode, out);
	}
}

static bool read_plain_list(struct bt_decode *decode, const struct bt_field *field, char *out)
{
	size_t bytes = bt_field_plain_bytes(field->type);
	struct bt_path step = {.up = decode->path};
	char *items = NULL;
	uint32_t n = 0, cap = 0;

	if (!enter_array(decode)) {
		return false;
	}
	decode->path = &step;
	while (bt_json_next_element(decode->json)) {
		items = grow(decode->arena, items, n, &cap, bytes);
		memset(items + n * bytes, 0, bytes);
		step.index = n;
		if (!read_plain(decode, field->type, items + n * bytes)) {
			return false;
		}
		n++;
	}
	decode->path = step.up;
	memcpy(out + field->offset, &items, sizeof(items));
	memcpy(out + field->count - 1, &n, sizeof(n));
	return complete(decode);
}

/* The keys of a map so far, for finding duplicates. */
struct key_set {
	uint32_t *slots; /* 1 + index of a key */
	uint32_t slot_n; /* a power of two; 0 while the map is small */
};

/* The key of element ix of an array whose elements begin with their key. */
static struct bt_str key_at(const char *items, size_t bytes, uint32_t ix)
{
	struct bt_str key;

	memcpy(&key, items + ix * bytes, sizeof(key));
	return key;
}

/* Puts key number ix, which must be new, into the table. Returns false for a duplicate. */
static bool slot_insert(struct key_set *set, const char *items, size_t bytes, uint32_t ix)
{
	struct bt_str key = key_at(items, bytes, ix);
	uint32_t at = (uint32_t)bt_hash_bytes(key.ptr, key.len) & (set->slot_n - 1);

	while (set->slots[at]) {
		if (bt_str_eq(key_at(items, bytes, set->slots[at] - 1), key)) {
			return false;
		}
		at = (at + 1) & (set->slot_n - 1);
	}
	set->slots[at] = ix + 1;
	return true;
}

/* Whether the last of the n keys is new among them. */
static bool key_is_new(
	struct key_set *set, struct bt_arena *arena, const char *items, size_t bytes, uint32_t n)
{
	struct bt_str key = key_at(items, bytes, n - 1);

	if (n <= SMALL_MAP) {
		for (uint32_t i = 0; i + 1 < n; i++) {
			if (bt_str_eq(key_at(items, bytes, i), key)) {
				return false;
			}
		}
		return true;
	}
	if (n * 2 > set->slot_n) {
		set->slot_n = set->slot_n ? set->slot_n * 2 : 4 * SMALL_MAP / 3 * 4;
		set->slots = bt_arena_zalloc(arena, set->slot_n * sizeof(*set->slots));
		for (uint32_t i = 0; i + 1 < n; i++) {
			slot_insert(set, items, bytes, i);
		}
	}
	return slot_insert(set, items, bytes, n - 1);
}

/* A duplicate key. Returns: whether its value is read anyway. */
static BT_NOINLINE bool read_again(struct bt_decode *decode)
{
	size_t offset = bt_json_offset(decode->json);

	if (decode->report) {
		decode->report(decode, BT_FAULT_DUPLICATE, offset, (struct bt_str){.len = 0});
		return true;
	}
	return bt_decode_fail(decode, BT_EXISTS, offset, "keep one of them", "the key appears twice");
}

/* ---- the order of members ---- */

/* Where the members of an object are, in the order of their keys. */
struct order {
	struct schema_place *places;
	uint32_t n, next;
	struct bt_json_mark end;
};

struct schema_place {
	struct bt_str key;
	struct bt_json_mark mark;
};

static int compare_places(const void *a, const void *b)
{
	const struct schema_place *left = a, *right = b;
	int order = bt_str_cmp(left->key, right->key);

	return order ? order
		     : (left->mark.offset > right->mark.offset) - (left->mark.offset < right->mark.offset);
}

/* Skips the entered object. */
static BT_NOINLINE struct order *sort_members(struct bt_decode *decode)
{
	struct order *order = bt_arena_zalloc(decode->arena, sizeof(*order));
	struct bt_str key;
	uint32_t cap = 0;

	while (bt_json_next_key(decode->json, &key)) {
		order->places = grow(decode->arena, order->places, order->n, &cap, sizeof(*order->places));
		order->places[order->n++] = (struct schema_place){key, bt_json_mark(decode->json)};
		bt_json_skip(decode->json);
	}
	order->end = bt_json_mark(decode->json);
	if (order->n) {
		qsort(order->places, order->n, sizeof(*order->places), compare_places);
	}
	return order;
}

static BT_NOINLINE bool next_sorted(struct bt_decode *decode, struct order *order, struct bt_str *out_key)
{
	if (bt_json_error(decode->json)->status != BT_OK) {
		return false;
	}
	bool more = order->next < order->n;
	bt_json_seek(decode->json, more ? order->places[order->next].mark : order->end);
	if (more) {
		*out_key = order->places[order->next++].key;
	}
	return more;
}

/* The next member in decoding order; order: NULL for the text's order. */
BT_INLINE bool next_member(struct bt_decode *decode, struct order *order, struct bt_str *out_key)
{
	return BT_UNLIKELY(order) ? next_sorted(decode, order, out_key)
				  : bt_json_next_key(decode->json, out_key);
}

/* ---- maps ---- */

/* Map types differ in the values that they store. */
enum map_kind { MAP_STRINGS, MAP_QUANTITIES, MAP_KEYS, MAP_STRUCTS };

/* schema: of MAP_STRUCTS. */
static bool read_map_value(
	struct bt_decode *decode, enum map_kind kind, const struct bt_schema *schema, void *item)
{
	switch (kind) {
	case MAP_STRINGS:
		return take_null(decode) || bt_decode_string(decode, &((struct bt_str_pair *)item)->value);
	case MAP_QUANTITIES:
		return read_quantity(decode, &((struct bt_named_quantity *)item)->quantity);
	case MAP_STRUCTS:
		return take_null(decode) || bt_schema_decode(decode, schema, item);
	case MAP_KEYS:
		break;
	}
	return bt_json_skip(decode->json) ? true : stopped(decode);
}

static bool read_map(struct bt_decode *decode, enum map_kind kind, const struct bt_schema *schema,
	size_t bytes, char **out_items, uint32_t *out_n)
{
	struct bt_path step = {.up = decode->path};
	struct key_set set = {0};
	struct bt_str key;
	char *items = NULL;
	uint32_t n = 0, cap = 0;

	if (!enter_object(decode)) {
		return false;
	}
	decode->path = &step;
	struct order *order = BT_UNLIKELY(decode->sorted) ? sort_members(decode) : NULL;
	while (next_member(decode, order, &key)) {
		items = grow(decode->arena, items, n, &cap, bytes);
		char *item = items + n * bytes;
		memset(item, 0, bytes);
		memcpy(item, &key, sizeof(key));
		step.key = key.ptr ? key : (struct bt_str)BT_STR("");
		const struct bt_json_mark mark = mark_value(decode);
		bool is_new = key_is_new(&set, decode->arena, items, bytes, n + 1);
		if (!((is_new || read_again(decode)) && read_map_value(decode, kind, schema, item)) &&
			!spare(decode, &step, mark)) {
			return false;
		}
		n += is_new; /* a skipped value is empty */
	}
	decode->path = step.up;
	*out_items = items;
	*out_n = n;
	return complete(decode);
}

static bool read_str_map(struct bt_decode *decode, struct bt_str_map *out)
{
	char *items = NULL;
	uint32_t n = 0;

	if (!read_map(decode, MAP_STRINGS, NULL, sizeof(struct bt_str_pair), &items, &n)) {
		return false;
	}
	*out = (struct bt_str_map){(struct bt_str_pair *)(void *)items, n, true};
	return true;
}

static bool read_resources(struct bt_decode *decode, struct bt_resource_list *out)
{
	char *items = NULL;
	uint32_t n = 0;

	if (!read_map(decode, MAP_QUANTITIES, NULL, sizeof(struct bt_named_quantity), &items, &n)) {
		return false;
	}
	*out = (struct bt_resource_list){(struct bt_named_quantity *)(void *)items, n, true};
	return true;
}

static bool read_keys(struct bt_decode *decode, struct bt_str_list *out)
{
	char *items = NULL;
	uint32_t n = 0;

	if (!read_map(decode, MAP_KEYS, NULL, sizeof(struct bt_str), &items, &n)) {
		return false;
	}
	*out = (struct bt_str_list){(struct bt_str *)(void *)items, n, true};
	return true;
}

static bool read_structs(struct bt_decode *decode, const struct bt_field *field, char *out)
{
	char *items = NULL;
	uint32_t n = 0;

	if (!read_map(decode, MAP_STRUCTS, field->schema, field->schema->bytes, &items, &n)) {
		return false;
	}
	memcpy(out + field->offset, &items, sizeof(items));
	memcpy(out + field->count - 1, &n, sizeof(n));
	return true;
}

static bool read_i32(struct bt_decode *decode, void *out)
{
	int64_t wide;

	if (!read_int(decode, INT32_MIN, INT32_MAX, &wide)) {
		return false;
	}
	*(int32_t *)out = (int32_t)wide;
	return true;
}

static bool read_true(struct bt_decode *decode, bool *out)
{
	bool value;

	if (!read_bool(decode, &value)) {
		return false;
	}
	*out |= value;
	return true;
}

static bool read_is(struct bt_decode *decode, const char *word, bool *out)
{
	struct bt_str text;

	if (!bt_decode_string(decode, &text)) {
		return false;
	}
	*out = bt_str_is(text, word);
	return true;
}

static bool read_value(struct bt_decode *decode, const struct bt_field *field, char *out)
{
	void *at = out + field->offset;

	switch (field->type) {
	case BT_FIELD_STR:
		return bt_decode_string(decode, at);
	case BT_FIELD_BOOL:
		return read_bool(decode, at);
	case BT_FIELD_TRUE:
		return read_true(decode, at);
	case BT_FIELD_IS:
		return read_is(decode, field->word, at);
	case BT_FIELD_I32:
		return read_i32(decode, at);
	case BT_FIELD_I64:
		return read_int(decode, INT64_MIN, INT64_MAX, at);
	case BT_FIELD_F32:
		return read_float(decode, at);
	case BT_FIELD_TIME:
		return read_time(decode, at);
	case BT_FIELD_DURATION:
		return read_duration(decode, at);
	case BT_FIELD_BYTES:
		return read_bytes(decode, at);
	case BT_FIELD_QUANTITY:
		return read_quantity(decode, at);
	case BT_FIELD_RESOURCES:
		return read_resources(decode, at);
	case BT_FIELD_STR_LIST:
		return read_str_list(decode, NULL, at);
	case BT_FIELD_STR_MAP:
		return read_str_map(decode, at);
	case BT_FIELD_KEYS:
		return read_keys(decode, at);
	case BT_FIELD_NAMES:
		return read_str_list(decode, field->schema, at);
	case BT_FIELD_OBJECT:
		return bt_schema_decode(decode, field->schema, at);
	case BT_FIELD_ARRAY:
		return read_array(decode, field, out);
	case BT_FIELD_QUANTITIES:
	case BT_FIELD_INTS:
	case BT_FIELD_BOOLS:
		return read_plain_list(decode, field, out);
	case BT_FIELD_MAP:
		return read_structs(decode, field, out);
	case BT_FIELD_RAW:
		return bt_json_raw(decode->json, at) ? true : stopped(decode);
	case BT_FIELD_CUSTOM:
		return field->read(decode, at);
	case BT_FIELD_META:
	case BT_FIELD_IGNORED:
		break;
	}
	return bt_json_skip(decode->json) ? true : stopped(decode);
}

static bool read_field(struct bt_decode *decode, const struct bt_field *field, char *out)
{
	const bool present = true;

	if (bt_json_peek(decode->json) == BT_JSON_NULL && (field->type != BT_FIELD_DURATION || field->flag)) {
		return bt_json_null(decode->json) ? true : stopped(decode);
	}
	if (!read_value(decode, field, out)) {
		return false;
	}
	if (field->flag) {
		memcpy(out + field->flag - 1, &present, sizeof(present));
	}
	if (field->tag) {
		memcpy(out + field->tag - 1, &field->tag_value, sizeof(field->tag_value));
	}
	return true;
}

/* The field named key, searched from *hint on because texts mostly keep the order of the table. */
BT_INLINE const struct bt_field *find_field(const struct bt_schema *schema, struct bt_str key, uint32_t *hint)
{
	uint32_t ix = *hint;

	for (uint32_t i = 0; i < schema->field_n; i++) {
		const struct bt_field *field = &schema->fields[ix];

		ix = ix + 1 == schema->field_n ? 0 : ix + 1;
		if (field->name.len == key.len && memcmp(field->name.ptr, key.ptr, key.len) == 0) {
			*hint = ix;
			return field;
		}
	}
	return NULL;
}

/* The field whose name equals key except for case. */
static const struct bt_field *find_folded(const struct bt_schema *schema, struct bt_str key)
{
	for (uint32_t i = 0; i < schema->field_n; i++) {
		const struct bt_field *field = &schema->fields[i];

		if (field->name.len == key.len && strncasecmp(field->name.ptr, key.ptr, key.len) == 0) {
			return field;
		}
	}
	return NULL;
}

/* Skips the value of an unknown member. False: the decoding ends. */
static bool pass_unknown(struct bt_decode *decode)
{
	if (decode->report) {
		decode->report(
			decode, BT_FAULT_UNKNOWN, bt_json_offset(decode->json), (struct bt_str){.len = 0});
	} else if (decode->strict) {
		return bt_decode_fail(decode, BT_INVALID, bt_json_offset(decode->json),
			"correct the name or leave it out", "unknown field");
	}
	return bt_json_skip(decode->json) ? true : stopped(decode);
}

/* Reads members up to the end of the object; seen has a bit for each field that was there before. */
static bool decode_members(struct bt_decode *decode, const struct bt_schema *schema,
	const struct bt_str *first, uint64_t seen, char *out)
{
	struct bt_path step = {.up = decode->path};
	uint32_t hint = 0;

	BT_REQUIRE(schema->field_n <= 64);
	step.key = first ? *first : step.key;
	decode->path = &step;
	struct order *order = BT_UNLIKELY(decode->sorted) ? sort_members(decode) : NULL;
	while (first || next_member(decode, order, &step.key)) {
		const struct bt_field *field = find_field(schema, step.key, &hint);

		first = NULL;
		if (!field && decode->fold) {
			field = find_folded(schema, step.key);
		}
		if (!field) {
			if (!pass_unknown(decode)) {
				return false;
			}
			continue;
		}
		uint64_t bit = (uint64_t)1 << (field - schema->fields);
		const struct bt_json_mark mark = mark_value(decode);
		if (!((!(seen & bit) || read_again(decode)) && read_field(decode, field, out)) &&
			!spare(decode, &step, mark)) {
			return false;
		}
		seen |= bit;
	}
	decode->path = step.up;
	return complete(decode);
}

bool bt_schema_decode(struct bt_decode *decode, const struct bt_schema *schema, void *out)
{
	return enter_object(decode) && bt_schema_decode_from(decode, schema, NULL, 0, out);
}

bool bt_schema_decode_from(struct bt_decode *decode, const struct bt_schema *schema, const struct bt_str *key,
	uint64_t seen, void *out)
{
	const struct bt_path *path = decode->path;
	bool ok = decode_members(decode, schema, key, seen, out);

	decode->path = path;
	return ok;
}
