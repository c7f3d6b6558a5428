/* SPDX-License-Identifier: Apache-2.0
 * The claims of PodGroups (gate DRAWorkloadResourceClaims).
 */
#include "cache/devices_int.h"

#include "engine/base/check.h"
#include "engine/base/mem.h"

/* Most groups have one or two claims. */
#define GROUP_BYTES 256

static uint32_t group_text(struct bt_name_refs *held, struct bt_str text)
{
	return text.len ? bt_name_refs_add(held, text) : BT_NAME_NONE;
}

static uint32_t group_slot(struct bt_devices *d)
{
	uint32_t ix;

	if (bt_index_allocator_take(&d->vacant_groups, &ix)) {
		return ix;
	}
	size_t cap = d->group_cap;
	d->groups = bt_mem_grow(d->groups, d->view.group_n, &d->group_cap, sizeof(*d->groups));
	if (d->group_cap != cap) {
		d->group_arenas = bt_mem_realloc(d->group_arenas, d->group_cap, sizeof(*d->group_arenas));
		d->group_names = bt_mem_realloc(d->group_names, d->group_cap, sizeof(*d->group_names));
	}
	d->view.groups = d->groups;
	BT_INVARIANT(d->view.group_n < d->group_cap);
	return d->view.group_n++;
}

/* Old data may still be in use during this cycle. */
static void clear_group(struct bt_devices *d, uint32_t ix)
{
	bt_arena_fini(&d->group_arenas[ix]);
	bt_name_refs_move(&d->gone, &d->group_names[ix]);
	d->groups[ix] = (struct bt_claiming_group){.live = false};
}

static void keep_claims(struct bt_devices *d, uint32_t ix, const struct bt_pod_group_object *object)
{
	struct bt_name_refs *held = &d->group_names[ix];
	struct bt_group_claim *claims =
		bt_arena_zalloc(&d->group_arenas[ix], object->claim_n * sizeof(*claims));

	for (uint32_t i = 0; i < object->claim_n; i++) {
		const struct bt_pod_claim_object *claim = &object->claims[i];
		struct bt_str name;

		claims[i].kind =
			bt_pod_claim_kind_of(claim, object->claim_statuses, object->claim_status_n, &name);
		claims[i].name = bt_name_refs_add(held, claim->name);
		claims[i].stated = group_text(held, claim->claim_name);
		claims[i].template_ = group_text(held, claim->template_name);
		claims[i].claim = group_text(held, name);
	}
	d->groups[ix].claims = claims;
	d->groups[ix].claim_n = object->claim_n;
}

void bt_devices_apply_group(struct bt_devices *d, const struct bt_pod_group_object *object)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	struct bt_name_refs held = {.intern = d->dictionary->intern};
	uint32_t ix;

	if (!d->view.features.group_claims) {
		return;
	}
	const uint32_t namespace_ = bt_name_refs_add(&held, object->meta.namespace_),
		       name = bt_name_refs_add(&held, object->meta.name);
	if (bt_map_get(&d->view.group_ixs, bt_pair_key(namespace_, name), &ix)) {
		clear_group(d, ix);
	} else {
		ix = group_slot(d);
		bt_map_put(&d->view.group_ixs, bt_pair_key(namespace_, name), ix);
	}
	/* Without a UID, as in hand-written files, its name identifies it. */
	d->groups[ix] = (struct bt_claiming_group){.namespace_ = namespace_,
		.name = name,
		.uid = object->meta.uid.len ? bt_name_refs_add(&held, object->meta.uid) : name,
		.live = true};
	d->group_names[ix] = held;
	d->group_arenas[ix] = (struct bt_arena){0};
	bt_arena_start(&d->group_arenas[ix], GROUP_BYTES);
	keep_claims(d, ix, object);
	d->view.version++;
}

void bt_devices_remove_group(struct bt_devices *d, uint32_t namespace_, uint32_t name)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	uint32_t ix;

	if (!bt_map_get(&d->view.group_ixs, bt_pair_key(namespace_, name), &ix)) {
		return;
	}
	bt_map_remove(&d->view.group_ixs, bt_pair_key(namespace_, name));
	clear_group(d, ix);
	bt_index_allocator_give(&d->vacant_groups, ix);
	d->view.version++;
}

void bt_claiming_groups_fini(struct bt_devices *d)
{
	for (uint32_t i = 0; i < d->view.group_n; i++) {
		bt_arena_fini(&d->group_arenas[i]);
		bt_name_refs_release(&d->group_names[i]);
	}
	bt_mem_free(d->groups);
	bt_mem_free(d->group_arenas);
	bt_mem_free(d->group_names);
	bt_index_allocator_fini(&d->vacant_groups);
	bt_map_fini(&d->view.group_ixs);
}
