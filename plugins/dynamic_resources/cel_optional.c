/* SPDX-License-Identifier: Apache-2.0
 * Optional values. Source: cel-go v0.26, cel/library.go.
 */
#include "plugins/dynamic_resources/cel_calls_int.h"

static struct bt_cel_value none(void)
{
	return (struct bt_cel_value){.kind = BT_CEL_K_OPTIONAL};
}

struct bt_cel_value bt_cel_optional_of(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_cel_value *copy = bt_cel_alloc(run, sizeof(*copy));

	(void)arg_n;
	if (!copy) {
		return (struct bt_cel_value){.kind = BT_CEL_K_ERROR};
	}
	*copy = args[0];
	return (struct bt_cel_value){.kind = BT_CEL_K_OPTIONAL, .optional = copy};
}

static bool is_zero(const struct bt_cel_run *run, const struct bt_cel_value *value)
{
	switch (value->kind) {
	case BT_CEL_K_NULL:
		return true;
	case BT_CEL_K_BOOL:
		return !value->boolean;
	case BT_CEL_K_INT:
		return value->integer == 0;
	case BT_CEL_K_UINT:
		return value->uinteger == 0;
	case BT_CEL_K_DOUBLE:
		return value->real == 0;
	case BT_CEL_K_STRING:
	case BT_CEL_K_BYTES:
	case BT_CEL_K_LIST:
	case BT_CEL_K_MAP:
		return bt_cel_size(run->device, value) == 0;
	default:
		return false;
	}
}

struct bt_cel_value bt_cel_optional_of_non_zero(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	return is_zero(run, &args[0]) ? none() : bt_cel_optional_of(run, args, arg_n);
}

struct bt_cel_value bt_cel_optional_none(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)args;
	(void)arg_n;
	return none();
}

struct bt_cel_value bt_cel_optional_value(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	if (!args[0].optional) {
		return (struct bt_cel_value){
			.kind = BT_CEL_K_ERROR, .text = BT_STR("optional.none() dereference")};
	}
	return *args[0].optional;
}

struct bt_cel_value bt_cel_optional_has(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	(void)run;
	(void)arg_n;
	return bt_cel_bool(args[0].optional != NULL);
}

struct bt_cel_value bt_cel_optional_unwrap(
	struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	struct bt_cel_value list = bt_cel_new_list(run, args[0].n);
	uint32_t n = 0;

	(void)arg_n;
	for (uint32_t i = 0; i < args[0].n && list.kind != BT_CEL_K_ERROR; i++) {
		const struct bt_cel_value *value = &args[0].items->values[i];

		if (value->kind != BT_CEL_K_OPTIONAL) {
			struct bt_buf text = {0};

			bt_cel_print(value, &text);
			struct bt_cel_value error = bt_cel_fail(
				run, "value %.*s is not optional", (int)text.len, text.ptr ? text.ptr : "");
			bt_buf_fini(&text);
			return error;
		}
		if (value->optional) {
			list.items->values[n++] = *value->optional;
		}
	}
	if (list.kind == BT_CEL_K_LIST && list.items) {
		list.items->used_n = n;
		list.n = n;
	}
	return list;
}

struct bt_cel_value bt_cel_first(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	return args[0].n ? bt_cel_optional_of(run, args[0].items->values, arg_n) : none();
}

struct bt_cel_value bt_cel_last(struct bt_cel_run *run, const struct bt_cel_value *args, uint32_t arg_n)
{
	return args[0].n ? bt_cel_optional_of(run, args[0].items->values + args[0].n - 1, arg_n) : none();
}
