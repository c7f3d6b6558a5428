/* SPDX-License-Identifier: Apache-2.0
 * Taints and tolerations in interned names. Source: component-helpers corev1 ToleratesTaint, v1.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/model/name_refs.h"
#include "engine/model/object.h"

struct bt_taint {
	uint32_t key, value, effect;
};

enum bt_toleration_operator {
	BT_TOLERATE_EQUAL = 0,
	BT_TOLERATE_EXISTS,
	BT_TOLERATE_LT,
	BT_TOLERATE_GT,
	BT_TOLERATE_UNKNOWN
};

struct bt_toleration {
	uint32_t key, value, effect; /* BT_NAME_EMPTY: any key, any effect */
	enum bt_toleration_operator op;
};

struct bt_toleration bt_toleration_intern(
	struct bt_name_refs *held, const struct bt_toleration_object *object);
struct bt_taint bt_taint_intern(struct bt_name_refs *held, const struct bt_taint_object *object);

/*
 * Does the toleration tolerate the taint? Pure.
 * compare_numbers: the gate TaintTolerationComparisonOperators, without which Lt and Gt tolerate nothing.
 */
bool bt_tolerates(const struct bt_intern *intern, const struct bt_toleration *toleration,
	const struct bt_taint *taint, bool compare_numbers);
