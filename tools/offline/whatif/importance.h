/* SPDX-License-Identifier: Apache-2.0
 * The order in which pods without a node are placed: the most important first, then the oldest.
 */
#pragma once

#include <stdint.h>

struct bt_importance {
	int32_t priority;
	int64_t creation_ns;
	uint32_t ix; /* of the pod, or of what stands for it: breaks ties */
};

/* For qsort, of struct bt_importance or of structs that begin with one. Pure. */
static inline int bt_by_importance(const void *a, const void *b)
{
	const struct bt_importance *x = a, *y = b;

	if (x->priority != y->priority) {
		return x->priority > y->priority ? -1 : 1;
	}
	if (x->creation_ns != y->creation_ns) {
		return x->creation_ns < y->creation_ns ? -1 : 1;
	}
	return x->ix < y->ix ? -1 : x->ix > y->ix;
}
