/* SPDX-License-Identifier: Apache-2.0
 * Values: equality across numeric types, order, maps that view the device, and lists that grow.
 * Source: cel-go v0.26, common/types.
 */
#include "plugins/dynamic_resources/cel_int.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/check.h"
#include "engine/base/utf8.h"

#define PRINT_MAX 4096 /* longer texts are not extended */

const char bt_cel_cost_text[] = "operation cancelled: actual cost limit exceeded";
const char bt_cel_memory_text[] = "operation cancelled: memory limit exceeded";

void *bt_cel_alloc(struct bt_cel_run *run, size_t size)
{
	if (size > run->left_bytes) {
		run->cancelled = bt_cel_memory_text;
		return NULL;
	}
	run->left_bytes -= size;
	return bt_arena_alloc(run->arena, size, 16);
}

bool bt_cel_step(struct bt_cel_run *run, uint64_t n)
{
	if (run->cancelled || n > run->left_steps) {
		run->cancelled = run->cancelled ? run->cancelled : bt_cel_cost_text;
		return false;
	}
	run->left_steps -= n;
	return true;
}

struct bt_cel_value bt_cel_fail(struct bt_cel_run *run, const char *format, ...)
{
	struct bt_cel_value error = {.kind = BT_CEL_K_ERROR};
	va_list args;

	va_start(args, format);
	int n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	char *text = n < 0 ? NULL : bt_cel_alloc(run, (size_t)n + 1);
	if (text) {
		va_start(args, format);
		vsnprintf(text, (size_t)n + 1, format, args);
		va_end(args);
		error.text = (struct bt_str){text, (size_t)n};
	}
	return error;
}

struct bt_cel_value bt_cel_no_overload(void)
{
	return (struct bt_cel_value){.kind = BT_CEL_K_ERROR, .text = BT_STR("no such overload")};
}

/* ---- lists ---- */

static struct bt_cel_items *new_items(struct bt_cel_run *run, size_t cap_n)
{
	struct bt_cel_items *items = NULL;

	if (cap_n <= UINT32_MAX / sizeof(struct bt_cel_value)) {
		items = bt_cel_alloc(run, sizeof(*items) + cap_n * sizeof(items->values[0]));
	} else {
		run->cancelled = bt_cel_memory_text;
	}
	if (items) {
		*items = (struct bt_cel_items){.cap_n = (uint32_t)cap_n};
	}
	BT_INVARIANT(!items || items->used_n == 0);
	return items;
}

struct bt_cel_value bt_cel_new_list(struct bt_cel_run *run, size_t n)
{
	struct bt_cel_items *items = n ? new_items(run, n) : NULL;

	if (n && !items) {
		return (struct bt_cel_value){.kind = BT_CEL_K_ERROR};
	}
	if (items) {
		items->used_n = (uint32_t)n;
	}
	return (struct bt_cel_value){.kind = BT_CEL_K_LIST, .n = (uint32_t)n, .items = items};
}

struct bt_cel_value bt_cel_append(struct bt_cel_run *run, const struct bt_cel_value *list,
	const struct bt_cel_value *tail, uint32_t tail_n)
{
	struct bt_cel_items *items = list->items;
	struct bt_cel_value result = *list;

	if (!items || list->n != items->used_n || items->cap_n - items->used_n < tail_n) {
		items = new_items(run, ((size_t)list->n + tail_n) * 2);
		if (!items) {
			return (struct bt_cel_value){.kind = BT_CEL_K_ERROR};
		}
		if (list->n) {
			memcpy(items->values, list->items->values, list->n * sizeof(*items->values));
		}
		items->used_n = list->n;
	}
	if (tail_n) {
		memcpy(items->values + list->n, tail, tail_n * sizeof(*items->values));
	}
	BT_INVARIANT(items->used_n == list->n && items->cap_n - items->used_n >= tail_n);
	items->used_n += tail_n;
	result.items = items;
	result.n = items->used_n;
	return result;
}

bool bt_cel_to_index(struct bt_cel_run *run, const struct bt_cel_value *index, int64_t *out_index,
	struct bt_cel_value *out_error)
{
	switch (index->kind) {
	case BT_CEL_K_INT:
		*out_index = index->integer;
		return true;
	case BT_CEL_K_UINT:
		*out_index = (int64_t)index->uinteger;
		if (index->uinteger <= INT64_MAX) {
			return true;
		}
		*out_error = bt_cel_fail(
			run, "unsupported index value %llu in list", (unsigned long long)index->uinteger);
		return false;
	case BT_CEL_K_DOUBLE:
		if (index->real >= -0x1p63 && index->real < 0x1p63 && index->real == floor(index->real)) {
			*out_index = (int64_t)index->real;
			return true;
		}
		*out_error = bt_cel_fail(run, "unsupported index value %g in list", index->real);
		return false;
	default:
		*out_error = bt_cel_fail(
			run, "unsupported index type '%s' in list", bt_cel_kind_name(index->kind));
		return false;
	}
}

/* ---- order and equality ---- */

static inline int sign_of(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_double_int(double a, int64_t b)
{
	return a < -0x1p63 ? -1 : a > 0x1p63 ? 1 : sign_of(a, (double)b);
}

static int compare_double_uint(double a, uint64_t b)
{
	return a < 0 ? -1 : a > 0x1p64 ? 1 : sign_of(a, (double)b);
}

static int compare_int_uint(int64_t a, uint64_t b)
{
	return a < 0 || b > INT64_MAX ? -1 : (a > (int64_t)b) - (a < (int64_t)b);
}

static inline bool is_number(const struct bt_cel_value *value)
{
	return value->kind == BT_CEL_K_INT || value->kind == BT_CEL_K_UINT || value->kind == BT_CEL_K_DOUBLE;
}

/* The order of two numbers that are not NaN. */
static int compare_numbers(const struct bt_cel_value *a, const struct bt_cel_value *b)
{
	BT_INVARIANT(is_number(a) && is_number(b));
	switch (a->kind) {
	case BT_CEL_K_INT:
		return b->kind == BT_CEL_K_INT	  ? (a->integer > b->integer) - (a->integer < b->integer)
		       : b->kind == BT_CEL_K_UINT ? compare_int_uint(a->integer, b->uinteger)
						  : -compare_double_int(b->real, a->integer);
	case BT_CEL_K_UINT:
		return b->kind == BT_CEL_K_INT	  ? -compare_int_uint(b->integer, a->uinteger)
		       : b->kind == BT_CEL_K_UINT ? (a->uinteger > b->uinteger) - (a->uinteger < b->uinteger)
						  : -compare_double_uint(b->real, a->uinteger);
	default:
		return b->kind == BT_CEL_K_INT	  ? compare_double_int(a->real, b->integer)
		       : b->kind == BT_CEL_K_UINT ? compare_double_uint(a->real, b->uinteger)
						  : sign_of(a->real, b->real);
	}
}

static inline bool is_nan(const struct bt_cel_value *value)
{
	return value->kind == BT_CEL_K_DOUBLE && isnan(value->real);
}

struct bt_cel_value bt_cel_compare(const struct bt_cel_value *a, const struct bt_cel_value *b)
{
	if (is_number(a) && is_number(b)) {
		if (is_nan(a) || is_nan(b)) {
			return (struct bt_cel_value){
				.kind = BT_CEL_K_ERROR, .text = BT_STR("NaN values cannot be ordered")};
		}
		return bt_cel_int(compare_numbers(a, b));
	}
	if (a->kind != b->kind) {
		return bt_cel_no_overload();
	}
	switch (a->kind) {
	case BT_CEL_K_BOOL:
		return bt_cel_int(a->boolean - b->boolean);
	case BT_CEL_K_STRING:
	case BT_CEL_K_BYTES:
		return bt_cel_int(bt_str_cmp(a->text, b->text));
	default:
		return bt_cel_no_overload();
	}
}

static bool equal_lists(struct bt_cel_run *run, const struct bt_cel_value *a, const struct bt_cel_value *b)
{
	for (uint32_t i = 0; i < a->n && i < b->n; i++) {
		struct bt_cel_value equal = bt_cel_equal(run, &a->items->values[i], &b->items->values[i]);

		/* Elements that cannot be compared do not make lists unequal. */
		if (equal.kind == BT_CEL_K_BOOL && !equal.boolean) {
			return false;
		}
	}
	return a->n == b->n;
}

static uint32_t entry_n(const struct bt_cel_device *device, const struct bt_cel_value *map);

static bool equal_maps(struct bt_cel_run *run, const struct bt_cel_value *a, const struct bt_cel_value *b)
{
	uint32_t n = entry_n(run->device, a);

	if (n != entry_n(run->device, b)) {
		return false;
	}
	struct bt_cel_value keys = bt_cel_keys(run, a);
	for (uint32_t i = 0; keys.kind == BT_CEL_K_LIST && i < n; i++) {
		struct bt_cel_value of_a = bt_cel_find(run, a, &keys.items->values[i]);
		struct bt_cel_value of_b = bt_cel_find(run, b, &keys.items->values[i]);

		if (of_b.kind == BT_CEL_K_ERROR) {
			return false;
		}
		struct bt_cel_value equal = bt_cel_equal(run, &of_a, &of_b);
		if (equal.kind == BT_CEL_K_BOOL && !equal.boolean) {
			return false;
		}
	}
	return true;
}

static struct bt_cel_value equal_optionals(
	struct bt_cel_run *run, const struct bt_cel_value *a, const struct bt_cel_value *b)
{
	if (!a->optional || !b->optional) {
		return bt_cel_bool(a->optional == b->optional);
	}
	return bt_cel_equal(run, a->optional, b->optional);
}

struct bt_cel_value bt_cel_equal(
	struct bt_cel_run *run, const struct bt_cel_value *a, const struct bt_cel_value *b)
{
	/* Lists may contain the same lists many times. */
	if (!bt_cel_step(run, 1)) {
		return (struct bt_cel_value){.kind = BT_CEL_K_ERROR};
	}
	if (is_number(a) && is_number(b)) {
		return bt_cel_bool(!is_nan(a) && !is_nan(b) && compare_numbers(a, b) == 0);
	}
	if (a->kind == BT_CEL_K_NULL || b->kind == BT_CEL_K_NULL) {
		return bt_cel_bool(a->kind == b->kind);
	}
	if (a->kind != b->kind) {
		/* Other kinds return false; these two return an error. */
		return a->kind == BT_CEL_K_QUANTITY || a->kind == BT_CEL_K_SEMVER ? bt_cel_no_overload()
										  : bt_cel_bool(false);
	}
	switch (a->kind) {
	case BT_CEL_K_BOOL:
		return bt_cel_bool(a->boolean == b->boolean);
	case BT_CEL_K_STRING:
	case BT_CEL_K_BYTES:
		return bt_cel_bool(bt_str_eq(a->text, b->text));
	case BT_CEL_K_LIST:
		return bt_cel_bool(equal_lists(run, a, b));
	case BT_CEL_K_MAP:
		return bt_cel_bool(equal_maps(run, a, b));
	case BT_CEL_K_TYPE:
		return bt_cel_bool(a->type->kind == b->type->kind);
	case BT_CEL_K_OPTIONAL:
		return equal_optionals(run, a, b);
	case BT_CEL_K_QUANTITY:
		/* Upstream does not recognise a sum on the right-hand side. */
		return b->view ? bt_cel_no_overload()
			       : bt_cel_bool(bt_quantity_cmp(*a->quantity, *b->quantity) == 0);
	case BT_CEL_K_SEMVER:
		return bt_cel_bool(bt_cel_semver_cmp(a->semver, b->semver) == 0);
	default:
		return bt_cel_bool(false);
	}
}

bool bt_cel_is_true_equal(struct bt_cel_run *run, const struct bt_cel_value *a, const struct bt_cel_value *b)
{
	struct bt_cel_value equal = bt_cel_equal(run, a, b);

	return equal.kind == BT_CEL_K_BOOL && equal.boolean;
}

/* ---- maps ---- */

bool bt_cel_is_key(const struct bt_cel_value *value)
{
	switch (value->kind) {
	case BT_CEL_K_STRING:
	case BT_CEL_K_INT:
	case BT_CEL_K_UINT:
	case BT_CEL_K_BOOL:
	case BT_CEL_K_DOUBLE:
		return true;
	default:
		return false;
	}
}

static struct bt_cel_value missing(void)
{
	return (struct bt_cel_value){.kind = BT_CEL_K_ERROR};
}

static const char *const device_fields[] = {"allowMultipleAllocations", "attributes", "capacity", "driver"};

static struct bt_cel_value find_field(const struct bt_cel_device *device, struct bt_str field)
{
	if (bt_str_is(field, "attributes")) {
		return (struct bt_cel_value){.kind = BT_CEL_K_MAP, .view = BT_CEL_ATTRIBUTE_DOMAINS};
	}
	if (bt_str_is(field, "capacity")) {
		return (struct bt_cel_value){.kind = BT_CEL_K_MAP, .view = BT_CEL_CAPACITY_DOMAINS};
	}
	if (bt_str_is(field, "driver")) {
		return bt_cel_text(device->driver);
	}
	if (bt_str_is(field, "allowMultipleAllocations")) {
		return bt_cel_bool(device->allow_multiple_allocations);
	}
	return missing();
}

static struct bt_cel_value scalar_value(enum bt_cel_attribute_kind kind, const union bt_cel_scalar *scalar)
{
	switch (kind) {
	case BT_CEL_INT:
		return bt_cel_int(scalar->integer);
	case BT_CEL_BOOL:
		return bt_cel_bool(scalar->boolean);
	case BT_CEL_STRING:
		return bt_cel_text(scalar->string);
	case BT_CEL_VERSION:
		return (struct bt_cel_value){.kind = BT_CEL_K_SEMVER, .semver = &scalar->version};
	}
	return missing();
}

static struct bt_cel_value attribute_value(struct bt_cel_run *run, const struct bt_cel_attribute *attribute)
{
	if (!attribute->list) {
		return scalar_value(attribute->kind, &attribute->scalar);
	}
	struct bt_cel_value list = bt_cel_new_list(run, attribute->n);
	for (uint32_t i = 0; list.kind == BT_CEL_K_LIST && i < list.n; i++) {
		list.items->values[i] = scalar_value(attribute->kind, &attribute->elements[i]);
	}
	return list;
}

static struct bt_cel_value find_attribute(struct bt_cel_run *run, struct bt_str domain, struct bt_str name)
{
	for (uint32_t i = 0; i < run->device->attribute_n; i++) {
		const struct bt_cel_attribute *attribute = &run->device->attributes[i];

		if (bt_str_eq(attribute->name, name) && bt_str_eq(attribute->domain, domain)) {
			return attribute_value(run, attribute);
		}
	}
	return missing();
}

static struct bt_cel_value find_capacity(
	const struct bt_cel_device *device, struct bt_str domain, struct bt_str name)
{
	for (uint32_t i = 0; i < device->capacity_n; i++) {
		const struct bt_cel_capacity *capacity = &device->capacity[i];

		if (bt_str_eq(capacity->name, name) && bt_str_eq(capacity->domain, domain)) {
			return (struct bt_cel_value){.kind = BT_CEL_K_QUANTITY, .quantity = &capacity->value};
		}
	}
	return missing();
}

/* Numbers of different types are the same key if they are equal. Keys of other kinds
 * must have the same kind. */
static bool is_same_key(struct bt_cel_run *run, const struct bt_cel_value *a, const struct bt_cel_value *b)
{
	/* No map finds a double but as an int or uint. */
	return (a->kind == b->kind || (is_number(a) && is_number(b))) && bt_cel_is_true_equal(run, a, b);
}

static bool has_domain(const struct bt_cel_device *device, bool capacity, struct bt_str domain)
{
	uint32_t n = capacity ? device->capacity_n : device->attribute_n;

	for (uint32_t i = 0; i < n; i++) {
		if (bt_str_eq(capacity ? device->capacity[i].domain : device->attributes[i].domain, domain)) {
			return true;
		}
	}
	return false;
}

bool bt_cel_hash(struct bt_cel_run *run, const struct bt_cel_value *key)
{
	if (key->kind == BT_CEL_K_SEMVER || key->kind == BT_CEL_K_BYTES) {
		run->cancelled =
			key->kind == BT_CEL_K_BYTES
				? "internal error: runtime error: hash of unhashable type types.Bytes"
				: "internal error: runtime error: hash of unhashable type cel.Semver";
	}
	return !run->cancelled;
}

struct bt_cel_value bt_cel_find(
	struct bt_cel_run *run, const struct bt_cel_value *map, const struct bt_cel_value *key)
{
	bool is_text = key->kind == BT_CEL_K_STRING;

	BT_INVARIANT(map->kind == BT_CEL_K_MAP);
	switch (map->view) {
	case BT_CEL_DEVICE:
		return is_text ? find_field(run->device, key->text) : missing();
	case BT_CEL_ATTRIBUTE_DOMAINS:
	case BT_CEL_CAPACITY_DOMAINS:
		/* Every domain exists, possibly as an empty map; so does any key of another kind. */
		return (struct bt_cel_value){.kind = BT_CEL_K_MAP,
			.view = map->view == BT_CEL_ATTRIBUTE_DOMAINS ? BT_CEL_ATTRIBUTES : BT_CEL_CAPACITIES,
			.text = is_text ? key->text : (struct bt_str)BT_STR("/")};
	case BT_CEL_ATTRIBUTES:
		return is_text ? find_attribute(run, map->text, key->text) : missing();
	case BT_CEL_CAPACITIES:
		return is_text ? find_capacity(run->device, map->text, key->text) : missing();
	default:
		break;
	}
	if (map->n && !bt_cel_hash(run, key)) {
		return missing();
	}
	for (uint32_t i = 0; i < map->n; i++) {
		if (is_same_key(run, &map->items->values[2 * i], key)) {
			return map->items->values[2 * i + 1];
		}
	}
	return missing();
}

bool bt_cel_has(struct bt_cel_run *run, const struct bt_cel_value *map, const struct bt_cel_value *key)
{
	if (map->view == BT_CEL_ATTRIBUTE_DOMAINS || map->view == BT_CEL_CAPACITY_DOMAINS) {
		return key->kind == BT_CEL_K_STRING &&
		       has_domain(run->device, map->view == BT_CEL_CAPACITY_DOMAINS, key->text);
	}
	return bt_cel_find(run, map, key).kind != BT_CEL_K_ERROR;
}

/* Is the i-th attribute or capacity the first one of its domain? */
static bool is_first(const struct bt_cel_device *device, bool capacity, uint32_t ix)
{
	struct bt_str domain = capacity ? device->capacity[ix].domain : device->attributes[ix].domain;

	for (uint32_t i = 0; i < ix; i++) {
		if (bt_str_eq(capacity ? device->capacity[i].domain : device->attributes[i].domain, domain)) {
			return false;
		}
	}
	return true;
}

/* The ix-th attribute's or capacity's key in a view; false: the view does not contain it. */
static bool cel_value_key_of(const struct bt_cel_device *device, const struct bt_cel_value *map, uint32_t ix,
	struct bt_str *out_key)
{
	bool capacity = map->view == BT_CEL_CAPACITY_DOMAINS || map->view == BT_CEL_CAPACITIES;
	struct bt_str domain = capacity ? device->capacity[ix].domain : device->attributes[ix].domain;

	if (map->view == BT_CEL_ATTRIBUTE_DOMAINS || map->view == BT_CEL_CAPACITY_DOMAINS) {
		*out_key = domain;
		return is_first(device, capacity, ix);
	}
	*out_key = capacity ? device->capacity[ix].name : device->attributes[ix].name;
	return bt_str_eq(domain, map->text);
}

/* The number of attributes or capacities to check. */
static uint32_t candidate_n(const struct bt_cel_device *device, const struct bt_cel_value *map)
{
	bool capacity = map->view == BT_CEL_CAPACITY_DOMAINS || map->view == BT_CEL_CAPACITIES;

	return capacity ? device->capacity_n : device->attribute_n;
}

static uint32_t entry_n(const struct bt_cel_device *device, const struct bt_cel_value *map)
{
	struct bt_str key;
	uint32_t n = 0;

	if (map->view == BT_CEL_ENTRIES) {
		return map->n;
	}
	if (map->view == BT_CEL_DEVICE) {
		return sizeof(device_fields) / sizeof(*device_fields);
	}
	for (uint32_t i = 0; i < candidate_n(device, map); i++) {
		n += cel_value_key_of(device, map, i, &key);
	}
	return n;
}

struct bt_cel_value bt_cel_keys(struct bt_cel_run *run, const struct bt_cel_value *map)
{
	struct bt_cel_value keys = bt_cel_new_list(run, entry_n(run->device, map));
	struct bt_str key;

	if (keys.kind == BT_CEL_K_ERROR || keys.n == 0) {
		return keys;
	}
	if (map->view == BT_CEL_ENTRIES || map->view == BT_CEL_DEVICE) {
		for (uint32_t i = 0; i < keys.n; i++) {
			keys.items->values[i] = map->view == BT_CEL_DEVICE
							? bt_cel_text(bt_str(device_fields[i]))
							: map->items->values[2 * i];
		}
		return keys;
	}
	uint32_t n = 0;
	for (uint32_t i = 0; i < candidate_n(run->device, map); i++) {
		if (cel_value_key_of(run->device, map, i, &key)) {
			keys.items->values[n++] = bt_cel_text(key);
		}
	}
	BT_INVARIANT(n == keys.n);
	return keys;
}

/* ---- sizes and text ---- */

const char *bt_cel_go_type(const struct bt_cel_value *value)
{
	BT_INVARIANT(value->kind < BT_CEL_K_N);
	static const char *const names[BT_CEL_K_N] = {[BT_CEL_K_NULL] = "types.Null",
		[BT_CEL_K_BOOL] = "types.Bool",
		[BT_CEL_K_INT] = "types.Int",
		[BT_CEL_K_UINT] = "types.Uint",
		[BT_CEL_K_DOUBLE] = "types.Double",
		[BT_CEL_K_STRING] = "types.String",
		[BT_CEL_K_BYTES] = "types.Bytes",
		[BT_CEL_K_LIST] = "*types.baseList",
		[BT_CEL_K_MAP] = "*types.baseMap",
		[BT_CEL_K_TYPE] = "*types.Type",
		[BT_CEL_K_OPTIONAL] = "*types.Optional",
		[BT_CEL_K_QUANTITY] = "cel.Quantity",
		[BT_CEL_K_SEMVER] = "cel.Semver"};

	if (value->kind == BT_CEL_K_QUANTITY && value->view) {
		return "*cel.Quantity";
	}
	return names[value->kind] ? names[value->kind] : "types.Unknown";
}

uint64_t bt_cel_size(const struct bt_cel_device *device, const struct bt_cel_value *value)
{
	switch (value->kind) {
	case BT_CEL_K_STRING:
		return bt_utf8_rune_n(value->text);
	case BT_CEL_K_BYTES:
		return value->text.len;
	case BT_CEL_K_LIST:
		return value->n;
	case BT_CEL_K_MAP:
		return entry_n(device, value);
	case BT_CEL_K_OPTIONAL:
		return value->optional ? bt_cel_size(device, value->optional) : 1;
	default:
		return 1;
	}
}

/* Prints as Go's %g, with the fewest digits that parse back to the same value. */
static void print_double(double real, struct bt_buf *out)
{
	char digits[32];
	int precision = 0;

	if (isnan(real) || isinf(real)) {
		bt_buf_text(out, isnan(real) ? "NaN" : real < 0 ? "-Inf" : "+Inf");
		return;
	}
	do {
		snprintf(digits, sizeof(digits), "%.*e", precision, real);
	} while (strtod(digits, NULL) != real && precision++ < 17);
	const char *exponent_text = strchr(digits, 'e') + 1;
	int exponent = (int)strtol(exponent_text, NULL, 10);
	if (exponent < -4 || exponent >= 6) {
		bt_buf_text(out, digits);
		return;
	}
	snprintf(digits, sizeof(digits), "%.*f", precision > exponent ? precision - exponent : 0, real);
	bt_buf_text(out, digits);
}

static void print_list(const struct bt_cel_value *list, struct bt_buf *out)
{
	BT_INVARIANT(list->kind == BT_CEL_K_LIST);
	bt_buf_char(out, '[');
	for (uint32_t i = 0; i < list->n; i++) {
		bt_buf_text(out, i ? ", " : "");
		bt_cel_print(&list->items->values[i], out);
	}
	bt_buf_char(out, ']');
}

void bt_cel_print(const struct bt_cel_value *value, struct bt_buf *out)
{
	if (out->len > PRINT_MAX) {
		return;
	}
	switch (value->kind) {
	case BT_CEL_K_NULL:
		bt_buf_text(out, "null");
		return;
	case BT_CEL_K_BOOL:
		bt_buf_text(out, value->boolean ? "true" : "false");
		return;
	case BT_CEL_K_INT:
		bt_buf_int(out, value->integer);
		return;
	case BT_CEL_K_UINT:
		bt_buf_printf(out, "%llu", (unsigned long long)value->uinteger);
		return;
	case BT_CEL_K_DOUBLE:
		print_double(value->real, out);
		return;
	case BT_CEL_K_STRING:
	case BT_CEL_K_BYTES:
		bt_buf_str(out, value->text);
		return;
	case BT_CEL_K_LIST:
		print_list(value, out);
		return;
	case BT_CEL_K_TYPE:
		bt_buf_text(out, bt_cel_kind_name(value->type->kind));
		return;
	default:
		bt_buf_text(out, bt_cel_kind_name(value->kind));
	}
}
