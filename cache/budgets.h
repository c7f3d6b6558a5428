/* SPDX-License-Identifier: Apache-2.0
 * Stage 3: pod disruption budgets, used by preemption.
 * Context: the scheduling thread.
 */
#pragma once

#include "engine/model/selector.h"
#include "engine/model/signature.h"

/* A PodDisruptionBudget. */
struct bt_budget {
	uint32_t namespace_, name;
	struct bt_selector selector;
	int32_t allowed;	   /* disruptions that its status allows */
	const uint32_t *disrupted; /* names of pods that allowed already accounts for, ascending */
	uint32_t disrupted_n;
	void *memory;		   /* private: storage of the selector and the list */
	struct bt_name_refs names; /* private: names that it holds */
};

/* All budgets, unordered. All zeroes is an empty list. Owns: bt_budgets_fini. */
struct bt_budgets {
	struct bt_budget *items;
	size_t n, cap;
	uint64_t version;	 /* incremented by every change */
	struct bt_arena scratch; /* private */
};

void bt_budgets_fini(struct bt_budgets *budgets);

/* Adds a budget or replaces it. */
void bt_budgets_apply(
	struct bt_budgets *budgets, struct bt_intern *intern, const struct bt_pdb_object *object);

/* Returns: BT_OK, BT_NOT_FOUND. */
enum bt_status bt_budgets_remove(struct bt_budgets *budgets, uint32_t namespace_, uint32_t name);

/* Does the disruption of a pod, by its name, count against a budget? Pure. Source:
 * filterPodsWithPDBViolation, v1.36.3. */
bool bt_budget_counts(const struct bt_budget *budget, const struct bt_intern *intern,
	const struct bt_signature *signature, uint32_t pod_name);
