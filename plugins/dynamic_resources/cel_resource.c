/* SPDX-License-Identifier: Apache-2.0
 * Quantities and semantic versions in expressions. Source: apiserver/pkg/cel/library, v1.36.3.
 */
#include "plugins/dynamic_resources/cel_calls_int.h"

#include <math.h>
#include <stdlib.h>

static struct bt_cel_value cel_resource_fail(const char *text)
{
	return (struct bt_cel_value){.kind = BT_CEL_K_ERROR, .text = bt_str(text)};
}

/* ---- quantities ---- */

static bool is_one_of(struct bt_str text, size_t ix, const char *set)
{
	return ix < text.len && text.ptr[ix] && strchr(set, text.ptr[ix]);
}

/* Upstream reports malformed text and an unknown suffix separately. */
static struct bt_cel_value refuse_quantity(struct bt_str text)
{
	size_t i = is_one_of(text, 0, "+-");

	while (is_one_of(text, i, "0123456789")) {
		i++;
	}
	i += is_one_of(text, i, ".");
	while (is_one_of(text, i, "0123456789")) {
		i++;
	}
	size_t suffix = i;
	while (is_one_of(text, i, "eEinumkKMGTP")) {
		i++;
	}
	i += is_one_of(text, i, "+-");
	while (is_one_of(text, i, "0123456789")) {
		i++;
	}
	if (text.len == 0 || i < text.len) {
		return cel_resource_fail("quantities must match the regular expression "
					 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
	}
	return cel_resource_fail(suffix < text.len ? "unable to parse quantity's suffix"
						   : "unable to parse numeric part of quantity");
}

static struct bt_cel_value make_quantity(struct bt_cel_run *run, struct bt_quantity quantity, bool sum)
{
	struct bt_quantity *copy = bt_cel_alloc(run, sizeof(*copy));

	if (!copy) {
		return cel_resource_fail("");
	}
	*copy = quantity;
	return (struct bt_cel_value){.kind = BT_CEL_K_QUANTITY, .view = sum, .quantity = copy};
}

struct bt_cel_value bt_cel_quantity(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_quantity quantity;

	(void)arg_n;
	if (bt_quantity_parse(args[0].text, &quantity) != BT_OK) {
		return refuse_quantity(args[0].text);
	}
	return make_quantity(run, quantity, false);
}

struct bt_cel_value bt_cel_is_quantity(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_quantity quantity;

	(void)run;
	(void)arg_n;
	return bt_cel_bool(bt_quantity_parse(args[0].text, &quantity) == BT_OK);
}

static int sign_of(int order)
{
	return (order > 0) - (order < 0);
}

struct bt_cel_value bt_cel_quantity_sign(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return bt_cel_int(sign_of(bt_quantity_cmp(*args[0].quantity, (struct bt_quantity){0})));
}

struct bt_cel_value bt_cel_quantity_compare(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return bt_cel_int(sign_of(bt_quantity_cmp(*args[0].quantity, *args[1].quantity)));
}

struct bt_cel_value bt_cel_quantity_greater(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return bt_cel_bool(bt_quantity_cmp(*args[0].quantity, *args[1].quantity) > 0);
}

struct bt_cel_value bt_cel_quantity_less(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return bt_cel_bool(bt_quantity_cmp(*args[0].quantity, *args[1].quantity) < 0);
}

struct bt_cel_value bt_cel_quantity_float(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return (struct bt_cel_value){
		.kind = BT_CEL_K_DOUBLE, .real = bt_quantity_approximate(*args[0].quantity)};
}

struct bt_cel_value bt_cel_quantity_int(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	int64_t integer;

	(void)run;
	(void)arg_n;
	return bt_quantity_int64(*args[0].quantity, &integer)
		       ? bt_cel_int(integer)
		       : cel_resource_fail("cannot convert value to integer");
}

struct bt_cel_value bt_cel_quantity_is_int(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	int64_t integer;

	(void)run;
	(void)arg_n;
	return bt_cel_bool(bt_quantity_int64(*args[0].quantity, &integer));
}

static struct bt_quantity operand(const struct bt_cel_value *value)
{
	return value->kind == BT_CEL_K_INT ? bt_quantity_of_int64(value->integer, BT_DECIMAL_EXPONENT)
					   : *value->quantity;
}

struct bt_cel_value bt_cel_quantity_add(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	return make_quantity(run, bt_quantity_add(*args[0].quantity, operand(&args[1])), true);
}

struct bt_cel_value bt_cel_quantity_sub(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)arg_n;
	return make_quantity(run, bt_quantity_sub(*args[0].quantity, operand(&args[1])), true);
}

/* ---- versions ---- */

/* Strips a leading v and leading zeroes, and adds missing parts. Returns NULL, or the error. */
static const char *normalize(struct bt_cel_run *run, struct bt_str text, struct bt_str *out_text)
{
	struct bt_str parts[3];
	uint32_t part_n = 0;
	size_t n = 0;

	if (bt_str_starts(text, "v")) {
		text = bt_str_sub(text, 1, text.len);
	}
	for (size_t from = 0; part_n < 3;) {
		size_t end = part_n == 2 ? text.len : bt_str_find(text, '.', from);

		parts[part_n++] = bt_str_sub(text, from, end);
		if (end == text.len) {
			break;
		}
		from = end + 1;
	}
	if (part_n < 3 && (bt_str_find(parts[part_n - 1], '+', 0) < parts[part_n - 1].len ||
				  bt_str_find(parts[part_n - 1], '-', 0) < parts[part_n - 1].len)) {
		return "short version cannot contain PreRelease/Build meta data";
	}
	char *out = bt_cel_alloc(run, text.len + 8);
	if (!out) {
		return "";
	}
	for (uint32_t i = 0; i < 3; i++) {
		struct bt_str part = i < part_n ? parts[i] : (struct bt_str)BT_STR("0");
		size_t zero_n = 0;

		while (part.len > 1 && zero_n < part.len && part.ptr[zero_n] == '0') {
			zero_n++;
		}
		if (i) {
			out[n++] = '.';
		}
		if (part.len > 1 &&
			(zero_n == part.len || part.ptr[zero_n] < '0' || part.ptr[zero_n] > '9')) {
			out[n++] = '0';
		}
		if (part.len > zero_n) {
			memcpy(out + n, part.ptr + zero_n, part.len - zero_n);
			n += part.len - zero_n;
		}
	}
	*out_text = (struct bt_str){out, n};
	return NULL;
}

static const char *read_version(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n,
	struct bt_cel_semver *out_version, struct bt_buf *error)
{
	struct bt_str text = args[0].text;

	if (arg_n == 2 && args[1].boolean) {
		const char *why = normalize(run, text, &text);

		if (why) {
			return why;
		}
	}
	return bt_cel_semver_parse(text, out_version, error) ? NULL : "";
}

struct bt_cel_value bt_cel_semver(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_cel_semver *version = bt_cel_alloc(run, sizeof(*version));
	struct bt_buf error = {0};

	if (!version) {
		return cel_resource_fail("");
	}
	const char *why = read_version(run, args, arg_n, version, &error);
	if (why) {
		struct bt_cel_value value =
			bt_cel_fail(run, "%s%.*s", why, (int)error.len, error.ptr ? error.ptr : "");

		bt_buf_fini(&error);
		return value;
	}
	return (struct bt_cel_value){.kind = BT_CEL_K_SEMVER, .semver = version};
}

struct bt_cel_value bt_cel_is_semver(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_cel_semver version;

	return bt_cel_bool(read_version(run, args, arg_n, &version, NULL) == NULL);
}

struct bt_cel_value bt_cel_semver_major(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return bt_cel_int((int64_t)args[0].semver->major);
}

struct bt_cel_value bt_cel_semver_minor(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return bt_cel_int((int64_t)args[0].semver->minor);
}

struct bt_cel_value bt_cel_semver_patch(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return bt_cel_int((int64_t)args[0].semver->patch);
}

struct bt_cel_value bt_cel_semver_compare(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return bt_cel_int(sign_of(bt_cel_semver_cmp(args[0].semver, args[1].semver)));
}

struct bt_cel_value bt_cel_semver_greater(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return bt_cel_bool(bt_cel_semver_cmp(args[0].semver, args[1].semver) > 0);
}

struct bt_cel_value bt_cel_semver_less(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return bt_cel_bool(bt_cel_semver_cmp(args[0].semver, args[1].semver) < 0);
}
