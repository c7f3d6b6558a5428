/* SPDX-License-Identifier: Apache-2.0
 * Taints and tolerations.
 */
#include "engine/model/taint.h"

#include "engine/model/selector.h"

static enum bt_toleration_operator read_operator(struct bt_str word)
{
	if (word.len == 0 || bt_str_is(word, "Equal")) {
		return BT_TOLERATE_EQUAL;
	}
	if (bt_str_is(word, "Exists")) {
		return BT_TOLERATE_EXISTS;
	}
	if (bt_str_is(word, "Lt")) {
		return BT_TOLERATE_LT;
	}
	return bt_str_is(word, "Gt") ? BT_TOLERATE_GT : BT_TOLERATE_UNKNOWN;
}

struct bt_toleration bt_toleration_intern(
	struct bt_name_refs *held, const struct bt_toleration_object *object)
{
	return (struct bt_toleration){
		.key = bt_name_refs_add(held, object->key),
		.value = bt_name_refs_add(held, object->value),
		.effect = bt_name_refs_add(held, object->effect),
		.op = read_operator(object->operator_),
	};
}

struct bt_taint bt_taint_intern(struct bt_name_refs *held, const struct bt_taint_object *object)
{
	return (struct bt_taint){
		.key = bt_name_refs_add(held, object->key),
		.value = bt_name_refs_add(held, object->value),
		.effect = bt_name_refs_add(held, object->effect),
	};
}

/* Upstream requires plain decimal integers here: no plus sign, no leading zeros. */
static bool read_strict(struct bt_str s, int64_t *out_number)
{
	size_t digits = s.len && s.ptr[0] == '-';

	if (s.len && s.ptr[0] == '+') {
		return false;
	}
	if (s.len > digits + 1 && s.ptr[digits] == '0') {
		return false;
	}
	return bt_parse_int64(s, out_number);
}

bool bt_tolerates(const struct bt_intern *intern, const struct bt_toleration *toleration,
	const struct bt_taint *taint, bool compare_numbers)
{
	int64_t wanted, have;

	if (toleration->effect != BT_NAME_EMPTY && toleration->effect != taint->effect) {
		return false;
	}
	if (toleration->key != BT_NAME_EMPTY && toleration->key != taint->key) {
		return false;
	}
	switch (toleration->op) {
	case BT_TOLERATE_EQUAL:
		return toleration->value == taint->value;
	case BT_TOLERATE_EXISTS:
		return true;
	case BT_TOLERATE_LT:
	case BT_TOLERATE_GT:
		if (!compare_numbers || !read_strict(bt_intern_str(intern, toleration->value), &wanted) ||
			!read_strict(bt_intern_str(intern, taint->value), &have)) {
			return false;
		}
		return toleration->op == BT_TOLERATE_LT ? have < wanted : have > wanted;
	case BT_TOLERATE_UNKNOWN:
		return false;
	}
	return false;
}
