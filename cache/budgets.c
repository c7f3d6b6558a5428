/* SPDX-License-Identifier: Apache-2.0
 * Pod disruption budgets.
 */
#include "cache/budgets.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"

static void forget(struct bt_budgets *budgets, size_t ix)
{
	BT_INVARIANT(ix < budgets->n);
	bt_mem_free(budgets->items[ix].memory);
	bt_name_refs_release(&budgets->items[ix].names);
	budgets->items[ix] = budgets->items[--budgets->n];
	budgets->version++;
}

void bt_budgets_fini(struct bt_budgets *budgets)
{
	while (budgets->n) {
		forget(budgets, budgets->n - 1);
	}
	bt_mem_free(budgets->items);
	bt_arena_fini(&budgets->scratch);
	*budgets = (struct bt_budgets){0};
}

enum bt_status bt_budgets_remove(struct bt_budgets *budgets, uint32_t namespace_, uint32_t name)
{
	for (size_t i = 0; i < budgets->n; i++) {
		if (budgets->items[i].namespace_ == namespace_ && budgets->items[i].name == name) {
			forget(budgets, i);
			return BT_OK;
		}
	}
	return BT_NOT_FOUND;
}

/* Invalid, missing and empty selectors protect no pod. */
static struct bt_selector budgets_compile(
	struct bt_name_refs *held, struct bt_arena *arena, const struct bt_label_selector_object *object)
{
	struct bt_selector selector;

	if (bt_selector_compile(held, arena, object, &selector, NULL) != BT_OK || selector.n == 0) {
		return (struct bt_selector){.nothing = true};
	}
	return selector;
}

/* Moves the selector and the list of names into one block that the budget owns. */
static void budgets_keep(struct bt_budget *budget)
{
	size_t item_n = budget->selector.n, name_n = budget->disrupted_n;

	for (size_t i = 0; i < item_n; i++) {
		name_n += budget->selector.items[i].value_n;
	}
	budget->memory =
		bt_mem_zalloc(1, item_n * sizeof(struct bt_requirement) + name_n * sizeof(uint32_t) + 1);
	struct bt_requirement *items = budget->memory;
	uint32_t *names = (uint32_t *)(items + item_n);
	for (size_t i = 0; i < item_n; i++) {
		items[i] = budget->selector.items[i];
		for (uint32_t j = 0; j < items[i].value_n; j++) {
			names[j] = items[i].values[j];
		}
		items[i].values = names;
		names += items[i].value_n;
	}
	for (uint32_t i = 0; i < budget->disrupted_n; i++) {
		names[i] = budget->disrupted[i];
	}
	budget->selector.items = items;
	budget->disrupted = names;
	BT_INVARIANT(names + budget->disrupted_n <= (uint32_t *)(items + item_n) + name_n);
}

void bt_budgets_apply(
	struct bt_budgets *budgets, struct bt_intern *intern, const struct bt_pdb_object *object)
{
	const struct bt_str_list *names = &object->disrupted_pods;
	struct bt_budget budget = {.names.intern = intern, .allowed = object->disruptions_allowed};

	budget.namespace_ = bt_name_refs_add(&budget.names, object->meta.namespace_);
	budget.name = bt_name_refs_add(&budget.names, object->meta.name);
	bt_arena_reset(&budgets->scratch);
	uint32_t *disrupted = bt_arena_zalloc(&budgets->scratch, names->n * sizeof(*disrupted));
	for (uint32_t i = 0; i < names->n; i++) {
		disrupted[i] = bt_name_refs_add(&budget.names, names->items[i]);
	}
	budget.disrupted = disrupted;
	budget.disrupted_n = bt_names_sort(disrupted, names->n);
	budget.selector = budgets_compile(&budget.names, &budgets->scratch, &object->selector);
	budgets_keep(&budget);
	bt_budgets_remove(budgets, budget.namespace_, budget.name);
	budgets->items = bt_mem_grow(budgets->items, budgets->n, &budgets->cap, sizeof(*budgets->items));
	budgets->items[budgets->n++] = budget;
	budgets->version++;
	BT_INVARIANT(budgets->n > 0 && budget.disrupted_n <= names->n);
}

bool bt_budget_counts(const struct bt_budget *budget, const struct bt_intern *intern,
	const struct bt_signature *signature, uint32_t pod_name)
{
	if (budget->namespace_ != signature->namespace_ || signature->labels.n == 0 ||
		!bt_selector_matches(intern, &budget->selector, signature->labels)) {
		return false;
	}
	uint32_t low = 0, high = budget->disrupted_n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (budget->disrupted[middle] < pod_name) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low == budget->disrupted_n || budget->disrupted[low] != pod_name;
}
