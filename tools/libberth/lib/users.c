/* SPDX-License-Identifier: Apache-2.0
 * The caller's user values of pods and nodes.
 */
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "tools/libberth/lib/lib_int.h"

/* Two names with one hash would share their number; in 2^64 that does not happen. */
static uint64_t users_key_of(enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	uint64_t key = bt_hash_bytes(name.ptr, name.len);

	return (key * 31 + bt_hash_bytes(namespace_.ptr, namespace_.len) + (uint64_t)kind) | 1;
}

void bt_lib_users_fini(struct bt_lib_users *users)
{
	bt_lock_fini(&users->lock);
	bt_map_fini(&users->ixs);
	bt_mem_free(users->values);
	bt_mem_free(users->vacant);
}

static void forget(struct bt_lib_users *users, uint64_t key)
{
	uint32_t ix;

	if (bt_map_get(&users->ixs, key, &ix)) {
		bt_map_remove(&users->ixs, key);
		users->vacant = bt_mem_grow(
			users->vacant, users->vacant_n, &users->vacant_cap, sizeof(*users->vacant));
		users->vacant[users->vacant_n++] = ix;
		BT_INVARIANT(users->ixs.count + users->vacant_n == users->value_n);
	}
}

static void users_keep(struct bt_lib_users *users, uint64_t key, uint64_t user)
{
	uint32_t ix;

	if (!bt_map_get(&users->ixs, key, &ix)) {
		if (users->vacant_n) {
			ix = users->vacant[--users->vacant_n];
		} else {
			ix = (uint32_t)users->value_n;
			users->values = bt_mem_grow(
				users->values, users->value_n++, &users->value_cap, sizeof(*users->values));
		}
		bt_map_put(&users->ixs, key, ix);
	}
	BT_INVARIANT(ix < users->value_n && users->ixs.count + users->vacant_n == users->value_n);
	users->values[ix] = user;
}

void bt_lib_set_user(struct bt_lib *lib, const struct bt_object *object, uint64_t user)
{
	struct bt_lib_users *users = &lib->users;

	if (object->kind != BT_KIND_POD && object->kind != BT_KIND_NODE) {
		return;
	}
	bt_lock_acquire(&users->lock);
	if (user) {
		users_keep(
			users, users_key_of(object->kind, object->meta.namespace_, object->meta.name), user);
	} else if (users->ixs.count) {
		forget(users, users_key_of(object->kind, object->meta.namespace_, object->meta.name));
	}
	bt_lock_release(&users->lock);
}

static uint64_t users_find(
	struct bt_lib_users *users, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	uint64_t user = 0;
	uint32_t ix;

	bt_lock_acquire(&users->lock);
	if (users->ixs.count && bt_map_get(&users->ixs, users_key_of(kind, namespace_, name), &ix)) {
		BT_INVARIANT(ix < users->value_n && users->values[ix]);
		user = users->values[ix];
	}
	bt_lock_release(&users->lock);
	return user;
}

uint64_t bt_lib_pod_user(struct bt_lib *lib, struct bt_str namespace_, struct bt_str name)
{
	return users_find(&lib->users, BT_KIND_POD, namespace_, name);
}

uint64_t bt_lib_node_user(struct bt_lib *lib, struct bt_str name)
{
	return users_find(&lib->users, BT_KIND_NODE, (struct bt_str){.len = 0}, name);
}
