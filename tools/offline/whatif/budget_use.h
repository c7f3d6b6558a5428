/* SPDX-License-Identifier: Apache-2.0
 * How many of the disruptions that PodDisruptionBudgets allow evictions and preemptions have used.
 * Context: one thread.
 */
#pragma once

#include "cache/ingest.h"

struct bt_budget_use {
	int32_t *allowed;    /* by budget: what is left */
	uint64_t *forbidden; /* by budget: evictions that it forbids */
	uint64_t *violated;  /* by budget: preemptions that violate it */
	size_t n;
};

/* Owns: bt_budget_use_end. */
void bt_budget_use_begin(struct bt_budget_use *use, const struct bt_cache *cache);
void bt_budget_use_end(struct bt_budget_use *use);

/* Counts an eviction against the budgets that select the pod. Returns: whether one of them forbids it. */
bool bt_budget_use_charge(struct bt_budget_use *use, const struct bt_cache *cache, const struct bt_pod *pod);

/* Counts a preempted pod against them. Returns: the first budget that this violates, or SIZE_MAX. */
size_t bt_budget_use_preempt(
	struct bt_budget_use *use, const struct bt_cache *cache, const struct bt_pod *pod);
