/* SPDX-License-Identifier: Apache-2.0
 * The inventory of an input.
 */
#include "tools/offline/whatif/inventory.h"

#include "engine/base/buf.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/model/kind.h"
#include "engine/model/selector.h"
#include "tools/format/object_reader.h"

uint64_t bt_workload_key(struct bt_str kind, struct bt_str namespace_, struct bt_str name)
{
	uint64_t key = bt_hash_str(kind);

	key = bt_hash_u64(key + bt_hash_str(namespace_));
	key = bt_hash_u64(key + bt_hash_str(name));
	return key | 1;
}

static struct bt_str value_of(const struct bt_str_map *map, const char *key)
{
	for (uint32_t i = 0; i < map->n; i++) {
		if (bt_str_is(map->items[i].key, key)) {
			return map->items[i].value;
		}
	}
	return (struct bt_str){0};
}

/* A ReplicaSet "web-HASH" of pods with that pod-template-hash is a Deployment's "web". */
static uint64_t workload_of(const struct bt_meta_object *meta, const struct bt_owner_object *owner)
{
	struct bt_str hash = value_of(&meta->labels, "pod-template-hash"), name = owner->name;

	if (bt_str_is(owner->kind, "ReplicaSet") && hash.len && name.len > hash.len + 1 &&
		name.ptr[name.len - hash.len - 1] == '-' &&
		bt_str_eq(bt_str_sub(name, name.len - hash.len, name.len), hash)) {
		return bt_workload_key(
			bt_str("Deployment"), meta->namespace_, bt_str_sub(name, 0, name.len - hash.len - 1));
	}
	return bt_workload_key(owner->kind, meta->namespace_, name);
}

struct bt_pod_note bt_pod_note_of(const struct bt_inventory *inventory, const struct bt_pod_object *pod)
{
	struct bt_pod_note note = {.role = inventory->recreates_all ? BT_ROLE_MOVES : BT_ROLE_ENDS};
	int64_t cost;

	for (uint32_t i = 0; i < pod->meta.owner_n; i++) {
		const struct bt_owner_object *owner = &pod->meta.owners[i];

		if (i == 0 || owner->controller) {
			note.workload = workload_of(&pod->meta, owner);
		}
		if (bt_str_is(owner->kind, "DaemonSet") || bt_str_is(owner->kind, "Node")) {
			note.role = bt_str_is(owner->kind, "Node") ? BT_ROLE_STATIC : BT_ROLE_STAYS;
			return note;
		}
		note.role = BT_ROLE_MOVES;
	}
	if (bt_parse_int64(
		    value_of(&pod->meta.annotations, "controller.kubernetes.io/pod-deletion-cost"), &cost) &&
		cost >= INT32_MIN && cost <= INT32_MAX) {
		note.deletion_cost = (int32_t)cost;
	}
	return note;
}

void bt_inventory_note_pod(void *context, uint32_t pod_ix, const struct bt_pod_object *pod)
{
	struct bt_inventory *inventory = context;

	while (inventory->pod_n <= pod_ix) {
		inventory->pods = bt_mem_grow(
			inventory->pods, inventory->pod_n, &inventory->pod_cap, sizeof(*inventory->pods));
		inventory->pods[inventory->pod_n++] = (struct bt_pod_note){.role = BT_ROLE_MOVES};
	}
	inventory->pods[pod_ix] = bt_pod_note_of(inventory, pod);
}

void bt_inventory_note_object(void *context, const struct bt_object *object)
{
	struct bt_inventory *inventory = context;

	if (inventory->keeps_objects && (object->kind == BT_KIND_NODE || bt_kind_makes_pods(object->kind))) {
		(void)bt_inventory_put(inventory, object);
	}
}

struct bt_pod_note bt_inventory_pod(const struct bt_inventory *inventory, uint32_t pod_ix)
{
	return pod_ix < inventory->pod_n ? inventory->pods[pod_ix]
					 : (struct bt_pod_note){.role = BT_ROLE_MOVES};
}

const struct bt_object *bt_inventory_find(const struct bt_inventory *inventory, struct bt_str kind,
	struct bt_str namespace_, struct bt_str name)
{
	uint32_t ix;

	return bt_map_get(&inventory->by_name, bt_workload_key(kind, namespace_, name), &ix)
		       ? &inventory->objects[ix]
		       : NULL;
}

const struct bt_object *bt_inventory_put(struct bt_inventory *inventory, const struct bt_object *object)
{
	inventory->objects = bt_mem_grow(
		inventory->objects, inventory->object_n, &inventory->object_cap, sizeof(*inventory->objects));
	struct bt_object *copy = &inventory->objects[inventory->object_n];
	*copy = *object;
	bt_object_own(copy, &inventory->arena);
	bt_map_put(&inventory->by_name,
		bt_workload_key(
			bt_str(bt_kind_info(copy->kind)->name), copy->meta.namespace_, copy->meta.name),
		(uint32_t)inventory->object_n++);
	return copy;
}

void bt_inventory_fini(struct bt_inventory *inventory)
{
	bt_mem_free(inventory->pods);
	bt_mem_free(inventory->objects);
	bt_map_fini(&inventory->by_name);
	bt_arena_fini(&inventory->arena);
}
