/* SPDX-License-Identifier: Apache-2.0
 * Budgets and evictions. Source: pkg/registry/core/pod/rest/eviction.go refuses an eviction of a pod with a
 * budget that allows no disruption, v1.37.2.
 */
#include "tools/offline/whatif/budget_use.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"

void bt_budget_use_begin(struct bt_budget_use *use, const struct bt_cache *cache)
{
	*use = (struct bt_budget_use){.n = cache->budgets.n};
	if (use->n == 0) {
		return;
	}
	use->allowed = bt_mem_zalloc(use->n, sizeof(*use->allowed));
	use->forbidden = bt_mem_zalloc(use->n, sizeof(*use->forbidden));
	use->violated = bt_mem_zalloc(use->n, sizeof(*use->violated));
	for (size_t b = 0; b < use->n; b++) {
		use->allowed[b] = cache->budgets.items[b].allowed;
	}
}

void bt_budget_use_end(struct bt_budget_use *use)
{
	bt_mem_free(use->allowed);
	bt_mem_free(use->forbidden);
	bt_mem_free(use->violated);
	*use = (struct bt_budget_use){0};
}

/* Returns: the first budget without a disruption left, or SIZE_MAX; it counts in counts. */
static size_t charge(
	struct bt_budget_use *use, const struct bt_cache *cache, const struct bt_pod *pod, uint64_t *counts)
{
	const struct bt_intern *intern = cache->dictionary->intern;
	size_t first = SIZE_MAX;

	BT_REQUIRE(use->n == cache->budgets.n);
	for (size_t b = 0; b < use->n; b++) {
		if (!bt_budget_counts(&cache->budgets.items[b], intern, pod->signature, pod->name)) {
			continue;
		}
		if (use->allowed[b] <= 0) {
			counts[b]++;
			first = first == SIZE_MAX ? b : first;
		} else {
			use->allowed[b]--;
		}
	}
	return first;
}

bool bt_budget_use_charge(struct bt_budget_use *use, const struct bt_cache *cache, const struct bt_pod *pod)
{
	return charge(use, cache, pod, use->forbidden) != SIZE_MAX;
}

size_t bt_budget_use_preempt(
	struct bt_budget_use *use, const struct bt_cache *cache, const struct bt_pod *pod)
{
	return charge(use, cache, pod, use->violated);
}
