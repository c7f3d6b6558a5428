/* SPDX-License-Identifier: Apache-2.0
 * Functions of lists, and of lists as sets. Source: apiserver/pkg/cel/library/lists.go, v1.36.3; cel-go
 * v0.26, ext/lists.go and ext/sets.go.
 */
#include "plugins/dynamic_resources/cel_calls_int.h"
#include "engine/base/check.h"

/* ResourceSliceMaxAttributeValuesPerDevice, v1.36.3. */
#define ATTRIBUTE_VALUES_MAX 48

static struct bt_cel_value cel_list_fail(const char *text)
{
	return (struct bt_cel_value){.kind = BT_CEL_K_ERROR, .text = bt_str(text)};
}

struct bt_cel_value bt_cel_is_sorted(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	for (uint32_t i = 1; i < args[0].n; i++) {
		struct bt_cel_value order =
			bt_cel_compare(&args[0].items->values[i - 1], &args[0].items->values[i]);

		if (order.kind == BT_CEL_K_INT && order.integer > 0) {
			return bt_cel_bool(false);
		}
	}
	return bt_cel_bool(true);
}

static struct bt_cel_value sum(
	struct bt_cel_run *run, struct bt_cel_value total, const struct bt_cel_value *list)
{
	BT_INVARIANT(list->kind == BT_CEL_K_LIST);
	for (uint32_t i = 0; i < list->n && total.kind != BT_CEL_K_ERROR; i++) {
		const struct bt_cel_value operands[2] = {total, list->items->values[i]};

		total = bt_cel_add(run, operands, 2);
	}
	return total;
}

struct bt_cel_value bt_cel_sum_int(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	return sum(run, bt_cel_int(0), &args[0]);
}

struct bt_cel_value bt_cel_sum_uint(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	return sum(run, (struct bt_cel_value){.kind = BT_CEL_K_UINT}, &args[0]);
}

struct bt_cel_value bt_cel_sum_double(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	return sum(run, (struct bt_cel_value){.kind = BT_CEL_K_DOUBLE}, &args[0]);
}

/* The first minimum (sign 1) or maximum (sign -1) of a list. */
static struct bt_cel_value extreme(const struct bt_cel_value *list, int sign, const char *none)
{
	struct bt_cel_value best;

	if (list->n == 0) {
		return cel_list_fail(none);
	}
	best = list->items->values[0];
	for (uint32_t i = 1; i < list->n; i++) {
		struct bt_cel_value order = bt_cel_compare(&best, &list->items->values[i]);

		if (order.kind == BT_CEL_K_INT && order.integer * sign > 0) {
			best = list->items->values[i];
		}
	}
	return best;
}

struct bt_cel_value bt_cel_min(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return extreme(&args[0], 1, "min called on empty list");
}

struct bt_cel_value bt_cel_max(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return extreme(&args[0], -1, "max called on empty list");
}

struct bt_cel_value bt_cel_list_index_of(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	for (uint32_t i = 0; i < args[0].n; i++) {
		if (bt_cel_is_true_equal(run, &args[0].items->values[i], &args[1])) {
			return bt_cel_int(i);
		}
	}
	return bt_cel_int(-1);
}

struct bt_cel_value bt_cel_list_last_index_of(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	for (uint32_t i = args[0].n; i > 0; i--) {
		if (bt_cel_is_true_equal(run, &args[0].items->values[i - 1], &args[1])) {
			return bt_cel_int(i - 1);
		}
	}
	return bt_cel_int(-1);
}

/* A value that is no list includes itself. */
struct bt_cel_value bt_cel_includes(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	if (args[0].kind != BT_CEL_K_LIST) {
		return bt_cel_bool(bt_cel_is_true_equal(run, &args[0], &args[1]));
	}
	for (uint32_t i = 0; i < args[0].n; i++) {
		if (bt_cel_is_true_equal(run, &args[0].items->values[i], &args[1])) {
			return bt_cel_bool(true);
		}
	}
	return bt_cel_bool(false);
}

/* Stops at the first value that no attribute could have. Source: includesFunc,
 * dynamic-resource-allocation/cel/compile.go, v1.36.3. */
struct bt_cel_value bt_cel_short_includes(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_cel_value list = args[0];

	if (list.kind != BT_CEL_K_LIST || list.n <= ATTRIBUTE_VALUES_MAX) {
		return bt_cel_includes(run, args, arg_n);
	}
	list.n = ATTRIBUTE_VALUES_MAX;
	const struct bt_cel_value first[2] = {list, args[1]};
	struct bt_cel_value found = bt_cel_includes(run, first, arg_n);
	return found.boolean ? found
			     : bt_cel_fail(run,
				       "'includes' function cannot be applied to lists longer than %d values",
				       ATTRIBUTE_VALUES_MAX);
}

struct bt_cel_value bt_cel_slice(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	BT_INVARIANT(arg_n == 3 && args[0].kind == BT_CEL_K_LIST);
	long long start = args[1].integer;
	long long end = args[2].integer;

	(void)arg_n;
	if (start < 0 || end < 0) {
		return bt_cel_fail(
			run, "cannot slice(%lld, %lld), negative indexes not supported", start, end);
	}
	if (start > end) {
		return bt_cel_fail(run,
			"cannot slice(%lld, %lld), start index must be less than or equal to end index",
			start, end);
	}
	if (end > args[0].n) {
		return bt_cel_fail(run, "cannot slice(%lld, %lld), list is length %u", start, end, args[0].n);
	}
	struct bt_cel_value slice = bt_cel_new_list(run, (size_t)(end - start));
	if (slice.kind == BT_CEL_K_LIST && slice.n) {
		memcpy(slice.items->values, args[0].items->values + start, slice.n * sizeof(slice));
	}
	return slice;
}

static struct bt_cel_value flatten(
	struct bt_cel_run *run, struct bt_cel_value flat, const struct bt_cel_value *list, int64_t depth)
{
	for (uint32_t i = 0; i < list->n && flat.kind == BT_CEL_K_LIST; i++) {
		const struct bt_cel_value *value = &list->items->values[i];

		if (!bt_cel_step(run, 1)) {
			return cel_list_fail("");
		}
		flat = value->kind == BT_CEL_K_LIST && depth > 0 ? flatten(run, flat, value, depth - 1)
								 : bt_cel_append(run, &flat, value, 1);
	}
	return flat;
}

struct bt_cel_value bt_cel_flatten(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	int64_t depth = arg_n > 1 ? args[1].integer : 1;

	if (args[0].kind != BT_CEL_K_LIST) {
		return arg_n > 1 ? bt_cel_fail(run, "no such overload: %s.flatten(%s)",
					   bt_cel_kind_name(args[0].kind), bt_cel_kind_name(args[1].kind))
				 : bt_cel_fail(run, "no such overload: %s.flatten()",
					   bt_cel_kind_name(args[0].kind));
	}
	if (arg_n > 1 && args[1].kind != BT_CEL_K_INT) {
		return bt_cel_fail(run, "no such overload: list.flatten(%s)", bt_cel_kind_name(args[1].kind));
	}
	if (depth < 0) {
		return cel_list_fail("level must be non-negative");
	}
	return flatten(run, bt_cel_new_list(run, 0), &args[0], depth);
}

static bool comes_before(const struct bt_cel_value *a, const struct bt_cel_value *b)
{
	struct bt_cel_value order = bt_cel_compare(a, b);

	return order.kind == BT_CEL_K_INT && order.integer < 0;
}

static bool is_comparable(const struct bt_cel_value *value)
{
	switch (value->kind) {
	case BT_CEL_K_BOOL:
	case BT_CEL_K_INT:
	case BT_CEL_K_UINT:
	case BT_CEL_K_DOUBLE:
	case BT_CEL_K_STRING:
	case BT_CEL_K_BYTES:
		return true;
	default:
		return false;
	}
}

/* Can the keys be sorted? Returns NULL, or the error. */
static const char *check_keys(const struct bt_cel_value *keys)
{
	BT_INVARIANT(keys->n > 0);
	if (!is_comparable(&keys->items->values[0])) {
		return "list elements must be comparable";
	}
	for (uint32_t i = 1; i < keys->n; i++) {
		if (keys->items->values[i].kind != keys->items->values[0].kind) {
			return "list elements must have the same type";
		}
	}
	return NULL;
}

/* Merges the sorted runs of width elements from from, indices of keys, into to. */
static void merge(const struct bt_cel_value *keys, const uint32_t *from, uint32_t *to, size_t width)
{
	BT_INVARIANT(width > 0 && from != to);
	size_t n = keys->n;

	for (size_t start = 0; start < n; start += 2 * width) {
		size_t middle = start + width < n ? start + width : n;
		size_t end = start + 2 * width < n ? start + 2 * width : n;
		size_t left = start;
		size_t right = middle;

		for (size_t i = start; i < end; i++) {
			bool take_right = left == middle ||
					  (right < end && comes_before(&keys->items->values[from[right]],
								  &keys->items->values[from[left]]));

			to[i] = take_right ? from[right++] : from[left++];
		}
	}
}

/* The sort is stable. Go's, upstream, is not. */
static struct bt_cel_value sort_by(
	struct bt_cel_run *run, const struct bt_cel_value *list, const struct bt_cel_value *keys)
{
	struct bt_cel_value sorted = bt_cel_new_list(run, list->n);
	uint32_t *from = bt_cel_alloc(run, 2 * (size_t)list->n * sizeof(*from));
	const char *why;

	if (sorted.kind == BT_CEL_K_ERROR || !from) {
		return cel_list_fail("");
	}
	if (list->n != keys->n) {
		return bt_cel_fail(run,
			"@sortByAssociatedKeys() expected a list of the same size as the associated keys "
			"list, but got %u "
			"and %u elements respectively",
			list->n, keys->n);
	}
	if (list->n == 0) {
		return *list;
	}
	why = check_keys(keys);
	if (why) {
		return cel_list_fail(why);
	}
	uint32_t *to = from + list->n;
	for (uint32_t i = 0; i < list->n; i++) {
		from[i] = i;
	}
	for (size_t width = 1; width < list->n && bt_cel_step(run, list->n); width *= 2) {
		merge(keys, from, to, width);
		uint32_t *swap = from;
		from = to;
		to = swap;
	}
	for (uint32_t i = 0; i < list->n; i++) {
		sorted.items->values[i] = list->items->values[from[i]];
	}
	return sorted;
}

static struct bt_cel_value no_list(struct bt_cel_run *run, const struct bt_cel_value *value, const char *name)
{
	return value->kind == BT_CEL_K_STRING ? bt_cel_no_overload()
					      : bt_cel_fail(run, "no such overload: %s", name);
}

struct bt_cel_value bt_cel_sort(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	return args[0].kind == BT_CEL_K_LIST ? sort_by(run, &args[0], &args[0])
					     : no_list(run, &args[0], "sort");
}

struct bt_cel_value bt_cel_sort_by_keys(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	return args[0].kind == BT_CEL_K_LIST && args[1].kind == BT_CEL_K_LIST
		       ? sort_by(run, &args[0], &args[1])
		       : no_list(run, &args[0], "@sortByAssociatedKeys");
}

struct bt_cel_value bt_cel_range(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_cel_value range = bt_cel_new_list(run, args[0].integer > 0 ? (size_t)args[0].integer : 0);

	(void)arg_n;
	for (uint32_t i = 0; range.kind == BT_CEL_K_LIST && i < range.n; i++) {
		range.items->values[i] = bt_cel_int(i);
	}
	return range;
}

struct bt_cel_value bt_cel_reverse(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	BT_INVARIANT(args[0].kind == BT_CEL_K_LIST);
	struct bt_cel_value reverse = bt_cel_new_list(run, args[0].n);

	(void)arg_n;
	for (uint32_t i = 0; reverse.kind == BT_CEL_K_LIST && i < reverse.n; i++) {
		reverse.items->values[i] = args[0].items->values[reverse.n - 1 - i];
	}
	return reverse;
}

static bool contains(
	struct bt_cel_run *run, const struct bt_cel_value *list, uint32_t n, const struct bt_cel_value *value)
{
	for (uint32_t i = 0; i < n; i++) {
		if (bt_cel_is_true_equal(run, value, &list->items->values[i])) {
			return true;
		}
	}
	return false;
}

struct bt_cel_value bt_cel_distinct(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_cel_value distinct = bt_cel_new_list(run, args[0].n);
	uint32_t n = 0;

	(void)arg_n;
	if (distinct.kind == BT_CEL_K_ERROR || distinct.n == 0) {
		return distinct;
	}
	for (uint32_t i = 0; i < args[0].n; i++) {
		const struct bt_cel_value *value = &args[0].items->values[i];

		if (!contains(run, &distinct, n, value)) {
			distinct.items->values[n++] = *value;
		}
	}
	distinct.items->used_n = n;
	distinct.n = n;
	BT_INVARIANT(n <= args[0].n);
	return distinct;
}

static bool contains_all(
	struct bt_cel_run *run, const struct bt_cel_value *list, const struct bt_cel_value *part)
{
	for (uint32_t i = 0; i < part->n; i++) {
		if (!contains(run, list, list->n, &part->items->values[i])) {
			return false;
		}
	}
	return true;
}

struct bt_cel_value bt_cel_sets_contains(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	BT_INVARIANT(args[0].kind == BT_CEL_K_LIST && args[1].kind == BT_CEL_K_LIST);
	(void)arg_n;
	return bt_cel_bool(contains_all(run, &args[0], &args[1]));
}

struct bt_cel_value bt_cel_sets_equivalent(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	BT_INVARIANT(args[0].kind == BT_CEL_K_LIST && args[1].kind == BT_CEL_K_LIST);
	(void)arg_n;
	return bt_cel_bool(contains_all(run, &args[0], &args[1]) && contains_all(run, &args[1], &args[0]));
}

struct bt_cel_value bt_cel_sets_intersects(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	BT_INVARIANT(args[0].kind == BT_CEL_K_LIST && args[1].kind == BT_CEL_K_LIST);
	(void)arg_n;
	for (uint32_t i = 0; i < args[1].n; i++) {
		if (contains(run, &args[0], args[0].n, &args[1].items->values[i])) {
			return bt_cel_bool(true);
		}
	}
	return bt_cel_bool(false);
}
