/* SPDX-License-Identifier: Apache-2.0
 * The pods evicted in the current cycle, until each is attributed to a decision.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A zero-initialized one is empty. Owns: bt_evicted_fini. */
struct bt_evicted {
	uint32_t *pod_ixs;
	size_t n, cap;
};

void bt_evicted_add(struct bt_evicted *evicted, uint32_t pod_ix);

/* Removes a pod. Returns whether it was present. */
bool bt_evicted_take(struct bt_evicted *evicted, uint32_t pod_ix);

void bt_evicted_fini(struct bt_evicted *evicted);
