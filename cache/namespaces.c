/* SPDX-License-Identifier: Apache-2.0
 * Namespaces.
 */
#include "cache/namespaces.h"

#include <string.h>

#include "engine/base/check.h"
#include "engine/base/mem.h"

void bt_namespaces_fini(struct bt_namespaces *namespaces)
{
	for (size_t i = 0; i < namespaces->n; i++) {
		bt_mem_free((void *)(uintptr_t)namespaces->items[i].labels.items);
		bt_name_refs_release(&namespaces->names[i]);
	}
	bt_mem_free(namespaces->items);
	bt_mem_free(namespaces->names);
	bt_map_fini(&namespaces->ixs);
	bt_index_allocator_fini(&namespaces->vacant);
	*namespaces = (struct bt_namespaces){0};
}

static bool same_labels(struct bt_labels a, struct bt_labels b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.items, b.items, a.n * sizeof(*a.items)) == 0);
}

static uint32_t index_of(struct bt_namespaces *namespaces, uint32_t name)
{
	uint32_t ix;

	if (bt_map_get(&namespaces->ixs, name, &ix)) {
		return ix;
	}
	if (!bt_index_allocator_take(&namespaces->vacant, &ix)) {
		namespaces->items = bt_mem_grow(
			namespaces->items, namespaces->n, &namespaces->cap, sizeof(*namespaces->items));
		namespaces->names = bt_mem_grow(
			namespaces->names, namespaces->n, &namespaces->names_cap, sizeof(*namespaces->names));
		ix = (uint32_t)namespaces->n++;
		namespaces->names[ix] = (struct bt_name_refs){0};
	}
	namespaces->items[ix] = (struct bt_namespace){.name = name};
	bt_map_put(&namespaces->ixs, name, ix);
	BT_INVARIANT(namespaces->items[ix].name == name || ix < namespaces->n);
	return ix;
}

bool bt_namespaces_apply(
	struct bt_namespaces *namespaces, struct bt_intern *intern, const struct bt_namespace_object *object)
{
	const struct bt_str_map *map = &object->meta.labels;
	struct bt_name_refs held = {.intern = intern};
	uint32_t name = bt_name_refs_add(&held, object->meta.name);
	struct bt_label *labels = bt_mem_zalloc(map->n + 1, sizeof(*labels));

	bt_labels_fill(labels, &held, map);
	uint32_t ix = index_of(namespaces, name);
	struct bt_namespace *item = &namespaces->items[ix];
	struct bt_labels fresh = {labels, map->n};
	bool changed = !item->live || !same_labels(item->labels, fresh);
	bt_mem_free((void *)(uintptr_t)item->labels.items);
	bt_name_refs_release(&namespaces->names[ix]);
	namespaces->names[ix] = held;
	item->labels = fresh;
	item->live = true;
	return changed;
}

enum bt_status bt_namespaces_remove(struct bt_namespaces *namespaces, uint32_t name)
{
	uint32_t ix;

	if (!name || !bt_map_get(&namespaces->ixs, name, &ix)) {
		return BT_NOT_FOUND;
	}
	BT_INVARIANT(ix < namespaces->n && namespaces->items[ix].name == name);
	bt_map_remove(&namespaces->ixs, name);
	bt_mem_free((void *)(uintptr_t)namespaces->items[ix].labels.items);
	namespaces->items[ix] = (struct bt_namespace){0};
	bt_name_refs_release(&namespaces->names[ix]);
	bt_index_allocator_give(&namespaces->vacant, ix);
	return BT_OK;
}

struct bt_labels bt_namespaces_labels(const struct bt_namespaces *namespaces, uint32_t name)
{
	uint32_t ix;

	return bt_map_get(&namespaces->ixs, name, &ix) ? namespaces->items[ix].labels : (struct bt_labels){0};
}
