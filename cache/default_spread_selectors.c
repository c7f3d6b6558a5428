/* SPDX-License-Identifier: Apache-2.0
 * Services and controllers.
 */
#include "cache/default_spread_selectors.h"

#include <stdlib.h>

#include "engine/base/mem.h"

static uint64_t default_spread_selectors_key_of(uint32_t namespace_, uint32_t name)
{
	return (uint64_t)namespace_ << 32 | name;
}

void bt_default_spread_selectors_fini(struct bt_default_spread_selectors *w)
{
	for (size_t i = 0; i < w->service_n; i++) {
		bt_mem_free(w->services[i].pairs);
		bt_name_refs_release(&w->services[i].names);
	}
	for (size_t i = 0; i < w->controller_n; i++) {
		bt_mem_free(w->controllers[i].items);
		bt_name_refs_release(&w->controllers[i].names);
	}
	bt_index_allocator_fini(&w->vacant_services);
	bt_index_allocator_fini(&w->vacant_controllers);
	for (int kind = 0; kind <= BT_OWNER_STATEFUL_SET; kind++) {
		bt_map_fini(&w->controller_ixs[kind]);
	}
	bt_mem_free(w->services);
	bt_mem_free(w->controllers);
	bt_map_fini(&w->service_ixs);
	bt_map_fini(&w->first_of);
	bt_arena_fini(&w->scratch);
	*w = (struct bt_default_spread_selectors){0};
}

static uint32_t service_ix(struct bt_default_spread_selectors *w, uint32_t namespace_, uint32_t name)
{
	uint32_t ix, first = 0;

	if (bt_map_get(&w->service_ixs, default_spread_selectors_key_of(namespace_, name), &ix)) {
		return ix;
	}
	if (!bt_index_allocator_take(&w->vacant_services, &ix)) {
		w->services = bt_mem_grow(w->services, w->service_n, &w->service_cap, sizeof(*w->services));
		ix = (uint32_t)w->service_n++;
	}
	bt_map_get(&w->first_of, namespace_, &first);
	w->services[ix] = (struct bt_service){.namespace_ = namespace_, .name = name, .next = first};
	bt_map_put(&w->first_of, namespace_, ix + 1);
	bt_map_put(&w->service_ixs, default_spread_selectors_key_of(namespace_, name), ix);
	return ix;
}

void bt_default_spread_selectors_apply_service(struct bt_default_spread_selectors *w,
	struct bt_intern *intern, const struct bt_service_object *object)
{
	struct bt_name_refs held = {.intern = intern};
	uint32_t namespace_ = bt_name_refs_add(&held, object->meta.namespace_);
	uint32_t ix = service_ix(w, namespace_, bt_name_refs_add(&held, object->meta.name));
	struct bt_service *service = &w->services[ix];

	bt_mem_free(service->pairs);
	service->pairs = bt_mem_zalloc(object->selector.n + 1, sizeof(*service->pairs));
	service->pair_n = object->selector.n;
	for (uint32_t i = 0; i < object->selector.n; i++) {
		service->pairs[i].key = bt_name_refs_add(&held, object->selector.items[i].key);
		service->pairs[i].value = bt_name_refs_add(&held, object->selector.items[i].value);
	}
	bt_name_refs_release(&service->names);
	service->names = held;
}

/* A copy of a selector's requirements in one block. */
static struct bt_requirement *copy_requirements(const struct bt_selector *selector)
{
	size_t value_n = 0;

	for (uint32_t i = 0; i < selector->n; i++) {
		value_n += selector->items[i].value_n;
	}
	struct bt_requirement *items =
		bt_mem_zalloc(1, (selector->n + 1) * sizeof(*items) + value_n * sizeof(uint32_t));
	uint32_t *values = (uint32_t *)(void *)(items + selector->n + 1);
	for (uint32_t i = 0; i < selector->n; i++) {
		items[i] = selector->items[i];
		items[i].values = values;
		for (uint32_t j = 0; j < items[i].value_n; j++) {
			*values++ = selector->items[i].values[j];
		}
	}
	return items;
}

void bt_default_spread_selectors_apply_controller(struct bt_default_spread_selectors *w,
	struct bt_intern *intern, enum bt_owner_kind kind, const struct bt_workload_object *object)
{
	struct bt_name_refs held = {.intern = intern};
	uint32_t namespace_ = bt_name_refs_add(&held, object->meta.namespace_);
	uint64_t key =
		default_spread_selectors_key_of(namespace_, bt_name_refs_add(&held, object->meta.name));
	struct bt_selector selector = {0};
	uint32_t ix;

	bt_arena_reset(&w->scratch);
	if (kind == BT_OWNER_REPLICATION_CONTROLLER) {
		selector = bt_selector_from_map(&held, &w->scratch, &object->selector.match_labels);
	} else if (bt_selector_compile(&held, &w->scratch, &object->selector, &selector, NULL) != BT_OK) {
		selector = (struct bt_selector){0};
	}
	if (!bt_map_get(&w->controller_ixs[kind], key, &ix)) {
		if (!bt_index_allocator_take(&w->vacant_controllers, &ix)) {
			w->controllers = bt_mem_grow(
				w->controllers, w->controller_n, &w->controller_cap, sizeof(*w->controllers));
			ix = (uint32_t)w->controller_n++;
		}
		w->controllers[ix] = (struct bt_controller){0};
		bt_map_put(&w->controller_ixs[kind], key, ix);
	}
	bt_mem_free(w->controllers[ix].items);
	bt_name_refs_release(&w->controllers[ix].names);
	w->controllers[ix] = (struct bt_controller){copy_requirements(&selector), selector.n, held};
}

/* Unlinks a service from its namespace's list. */
static void unlink_service(struct bt_default_spread_selectors *w, uint32_t ix)
{
	const struct bt_service *service = &w->services[ix];
	uint32_t at = 0;

	bt_map_get(&w->first_of, service->namespace_, &at);
	if (at != ix + 1) {
		while (w->services[at - 1].next != ix + 1) {
			at = w->services[at - 1].next;
		}
		w->services[at - 1].next = service->next;
	} else if (service->next) {
		bt_map_put(&w->first_of, service->namespace_, service->next);
	} else {
		bt_map_remove(&w->first_of, service->namespace_);
	}
}

enum bt_status bt_default_spread_selectors_remove_service(
	struct bt_default_spread_selectors *w, uint32_t namespace_, uint32_t name)
{
	uint32_t ix;

	if (!name || !bt_map_get(&w->service_ixs, default_spread_selectors_key_of(namespace_, name), &ix)) {
		return BT_NOT_FOUND;
	}
	unlink_service(w, ix);
	bt_map_remove(&w->service_ixs, default_spread_selectors_key_of(namespace_, name));
	bt_mem_free(w->services[ix].pairs);
	bt_name_refs_release(&w->services[ix].names);
	w->services[ix] = (struct bt_service){0};
	bt_index_allocator_give(&w->vacant_services, ix);
	return BT_OK;
}

enum bt_status bt_default_spread_selectors_remove_controller(
	struct bt_default_spread_selectors *w, enum bt_owner_kind kind, uint32_t namespace_, uint32_t name)
{
	uint32_t ix;

	if (!name || !bt_map_get(&w->controller_ixs[kind], default_spread_selectors_key_of(namespace_, name),
			     &ix)) {
		return BT_NOT_FOUND;
	}
	bt_map_remove(&w->controller_ixs[kind], default_spread_selectors_key_of(namespace_, name));
	bt_mem_free(w->controllers[ix].items);
	bt_name_refs_release(&w->controllers[ix].names);
	w->controllers[ix] = (struct bt_controller){0};
	bt_index_allocator_give(&w->vacant_controllers, ix);
	return BT_OK;
}

static bool service_matches(const struct bt_service *service, struct bt_labels labels)
{
	for (uint32_t i = 0; i < service->pair_n; i++) {
		if (bt_labels_get(labels, service->pairs[i].key) != service->pairs[i].value) {
			return false;
		}
	}
	return true;
}

static const struct bt_controller *owner_of(
	const struct bt_default_spread_selectors *w, const struct bt_signature *signature)
{
	uint32_t ix;

	if (signature->owner_kind == BT_OWNER_NONE ||
		!bt_map_get(&w->controller_ixs[signature->owner_kind],
			default_spread_selectors_key_of(signature->namespace_, signature->owner_name), &ix)) {
		return NULL;
	}
	return &w->controllers[ix];
}

static bool selects(const struct bt_requirement *items, uint32_t n, uint32_t key)
{
	for (uint32_t i = 0; i < n; i++) {
		if (items[i].key == key) {
			return true;
		}
	}
	return false;
}

static uint32_t count_pairs(const struct bt_default_spread_selectors *w, uint32_t first)
{
	uint32_t n = 0;

	for (uint32_t at = first; at; at = w->services[at - 1].next) {
		n += w->services[at - 1].pair_n;
	}
	return n;
}

struct bt_selector bt_default_spread_selectors_selector(
	struct bt_default_spread_selectors *w, const struct bt_signature *signature)
{
	const struct bt_controller *owner = owner_of(w, signature);
	bool map_owner = owner && signature->owner_kind == BT_OWNER_REPLICATION_CONTROLLER;
	uint32_t first = 0, n = 0;

	bt_arena_reset(&w->scratch);
	bt_map_get(&w->first_of, signature->namespace_, &first);
	struct bt_requirement *items = bt_arena_zalloc(
		&w->scratch, (count_pairs(w, first) + (owner ? owner->n : 0) + 1) * sizeof(*items));
	for (uint32_t at = first; at; at = w->services[at - 1].next) {
		const struct bt_service *service = &w->services[at - 1];

		for (uint32_t i = 0; service_matches(service, signature->labels) && i < service->pair_n;
			i++) {
			uint32_t key = service->pairs[i].key;

			/* All matching Services agree; a replication controller's map overrides theirs. */
			if (selects(items, n, key) || (map_owner && selects(owner->items, owner->n, key))) {
				continue;
			}
			items[n++] = (struct bt_requirement){
				.key = key, .op = BT_OP_IN, .values = &service->pairs[i].value, .value_n = 1};
		}
	}
	for (uint32_t i = 0; owner && i < owner->n; i++) {
		items[n++] = owner->items[i];
	}
	return (struct bt_selector){.items = items, .n = n};
}
