/* SPDX-License-Identifier: Apache-2.0
 * The pods that are being deleted because of the turn at hand, until each is said to be a decision's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeroes is an empty one. Owns: bt_evicted_fini. */
struct bt_evicted {
	uint32_t *pod_ixs;
	size_t n, cap;
};

void bt_evicted_add(struct bt_evicted *evicted, uint32_t pod_ix);

/* Takes a pod out. Returns whether it was there. */
bool bt_evicted_take(struct bt_evicted *evicted, uint32_t pod_ix);

void bt_evicted_fini(struct bt_evicted *evicted);
