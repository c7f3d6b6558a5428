/* SPDX-License-Identifier: Apache-2.0
 * Claims, slices and classes by name, and allocations of devices.
 */
#include "cache/devices_int.h"

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"

/* Most objects fit in this. */
#define OBJECT_BYTES 1024

/* The number of expressions whose results are cached; one more drops all. */
#define EXPRESSION_MAX 256

/* The number of values of derived attributes that are cached across cycles. */
#define DERIVED_MAX 65536

/* ---- allocations of devices ---- */

static uint64_t triple_key(uint32_t a, uint32_t b, uint32_t c)
{
	return bt_hash_u64(bt_hash_u64(bt_pair_key(a, b)) ^ c) | 1;
}

static uint32_t vacant_use(struct bt_devices *d)
{
	size_t old = d->use_cap;
	uint32_t ix;

	if (bt_index_allocator_take(&d->vacant_uses, &ix)) {
		return ix;
	}
	d->uses = bt_mem_grow(d->uses, d->view.use_n, &d->use_cap, sizeof(*d->uses));
	d->view.uses = d->uses;
	if (d->use_cap != old) {
		d->view.marks = bt_mem_realloc(d->view.marks, d->use_cap, sizeof(*d->view.marks));
		memset(d->view.marks + old, 0, (d->use_cap - old) * sizeof(*d->view.marks));
	}
	return d->view.use_n++;
}

static uint32_t use_of(struct bt_devices *d, uint32_t driver, uint32_t pool, uint32_t device)
{
	uint64_t key = triple_key(driver, pool, device);
	uint32_t ix;

	for (; bt_map_get(&d->use_ixs, key, &ix); key += 2) {
		const struct bt_device_use *use = &d->uses[ix];

		if (use->driver == driver && use->pool == pool && use->device == device) {
			return ix;
		}
	}
	ix = vacant_use(d);
	d->uses[ix] = (struct bt_device_use){.driver = driver, .pool = pool, .device = device};
	bt_intern_hold_again(d->dictionary->intern, driver);
	bt_intern_hold_again(d->dictionary->intern, pool);
	bt_intern_hold_again(d->dictionary->intern, device);
	bt_map_put(&d->use_ixs, key, ix);
	return ix;
}

/* Removes a device that is in no slice and has no allocation. Map keys that its
 * insertion displaced move up. */
static void leave_use(struct bt_devices *d, uint32_t ix)
{
	struct bt_device_use *use = &d->uses[ix];
	uint64_t hole = triple_key(use->driver, use->pool, use->device);
	uint32_t at;

	if (use->shown_n || use->allocated || use->pending_n || use->share_n || use->consumes) {
		return;
	}
	while (bt_map_get(&d->use_ixs, hole, &at) && at != ix) {
		hole += 2;
	}
	bt_map_remove(&d->use_ixs, hole);
	for (uint64_t key = hole + 2; bt_map_get(&d->use_ixs, key, &at); key += 2) {
		const struct bt_device_use *other = &d->uses[at];

		if (key - triple_key(other->driver, other->pool, other->device) >= key - hole) {
			bt_map_remove(&d->use_ixs, key);
			bt_map_put(&d->use_ixs, hole, at);
			hole = key;
		}
	}
	bt_intern_release(d->dictionary->intern, use->driver);
	bt_intern_release(d->dictionary->intern, use->pool);
	bt_intern_release(d->dictionary->intern, use->device);
	bt_mem_free(use->consumed);
	*use = (struct bt_device_use){0};
	bt_index_allocator_give(&d->vacant_uses, ix);
}

static struct bt_consumed *consumed_of(struct bt_device_use *use, uint32_t name)
{
	for (uint32_t i = 0; i < use->consumed_n; i++) {
		if (use->consumed[i].name == name) {
			return &use->consumed[i];
		}
	}
	return NULL;
}

/* Consumed capacities are summed by name over all claims. The device owns the names.
 * Source: ConsumedCapacityCollection.Insert, v1.36.3. */
static void consume(
	struct bt_intern *intern, struct bt_device_use *use, const struct bt_consumed *items, uint32_t n)
{
	use->consumes = true;
	for (uint32_t i = 0; i < n; i++) {
		struct bt_consumed *there = consumed_of(use, items[i].name);

		if (there) {
			there->value += items[i].value;
			continue;
		}
		if (use->consumed_n == use->consumed_cap) {
			use->consumed_cap = use->consumed_cap ? use->consumed_cap * 2 : 4;
			use->consumed =
				bt_mem_realloc(use->consumed, use->consumed_cap, sizeof(*use->consumed));
		}
		bt_intern_hold_again(intern, items[i].name);
		use->consumed[use->consumed_n++] = items[i];
	}
}

/* Source: ConsumedCapacityCollection.Remove, v1.36.3: entries that reach zero are removed. */
static void restore(
	struct bt_intern *intern, struct bt_device_use *use, const struct bt_consumed *items, uint32_t n)
{
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		struct bt_consumed *there = consumed_of(use, items[i].name);

		if (there) {
			there->value -= items[i].value;
		}
	}
	for (uint32_t i = 0; i < use->consumed_n; i++) {
		any |= use->consumed[i].value != 0;
	}
	if (any) {
		return;
	}
	use->consumes = false;
	while (use->consumed_n) {
		bt_intern_release(intern, use->consumed[--use->consumed_n].name);
	}
}

/* A share may be in a pending choice and already in the claim that the watch shows:
 * each is removed on its own. */
static void share(
	struct bt_devices *d, uint32_t use_ix, const struct bt_device_result *result, bool add, bool pending)
{
	struct bt_device_use *use = &d->uses[use_ix];
	uint64_t key = bt_pair_key(2 * (use_ix + 1) + pending, result->share);
	uint32_t unused;
	bool there = bt_map_get(&d->shares, key, &unused);

	if (add && !there) {
		bt_map_put(&d->shares, key, use_ix);
		use->share_n++;
	} else if (!add && there) {
		bt_map_remove(&d->shares, key);
		use->share_n--;
	}
	if (result->consumed_n && add) {
		consume(d->dictionary->intern, use, result->consumed, result->consumed_n);
	} else if (result->consumed_n) {
		restore(d->dictionary->intern, use, result->consumed, result->consumed_n);
	}
	BT_INVARIANT(use->share_n <= d->shares.count);
}

/* Adds or removes an allocation. pending: it is not in a claim yet. As upstream, a device that is allocated
 * to two claims becomes free when one of them is removed. Source: foreachAllocatedDevice, v1.36.3. */
static void devices_enter(
	struct bt_devices *d, const struct bt_allocation *allocation, bool add, bool pending)
{
	for (uint32_t i = 0; i < allocation->result_n; i++) {
		const struct bt_device_result *result = &allocation->results[i];

		if (result->admin) {
			continue;
		}
		uint32_t ix = use_of(d, result->driver, result->pool, result->device);
		if (result->share && d->view.features.consumable_capacity) {
			share(d, ix, result, add, pending);
		} else if (pending) {
			BT_INVARIANT(add || d->uses[ix].pending_n > 0);
			d->uses[ix].pending_n += add ? 1u : -1u;
		} else {
			d->uses[ix].allocated = add;
		}
		leave_use(d, ix);
	}
	d->view.version++;
}

/* ---- names ---- */

/* Releases names after cycles and events that may still refer to them. */
static void devices_give_up(struct bt_devices *d, struct bt_name_refs *names)
{
	bt_name_refs_move(&d->gone, names);
}

/* The same for an arena. */
static void give_arena_up(struct bt_devices *d, struct bt_arena *arena)
{
	d->gone_arenas =
		bt_mem_grow(d->gone_arenas, d->gone_arena_n, &d->gone_arena_cap, sizeof(*d->gone_arenas));
	d->gone_arenas[d->gone_arena_n++] = *arena;
	*arena = (struct bt_arena){0};
}

/* The same for a single name. */
static void give_name_up(struct bt_devices *d, uint32_t name)
{
	bt_name_refs_add_name(&d->gone, name);
	bt_intern_release(d->dictionary->intern, name);
}

void bt_devices_release_names(struct bt_devices *d)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	bt_name_refs_release(&d->gone);
	while (d->gone_arena_n) {
		bt_arena_fini(&d->gone_arenas[--d->gone_arena_n]);
	}
}

static void hold_names(struct bt_name_refs *held, const uint32_t *names, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		bt_name_refs_add_name(held, names[i]);
	}
}

/* Takes references to an allocation's names, which stem from requests, slices and nodes. */
static void hold_allocation(struct bt_name_refs *held, const struct bt_allocation *allocation)
{
	for (uint32_t i = 0; i < allocation->result_n; i++) {
		const struct bt_device_result *result = &allocation->results[i];
		const uint32_t names[] = {
			result->request, result->driver, result->pool, result->device, result->share};

		hold_names(held, names, sizeof(names) / sizeof(names[0]));
		for (uint32_t j = 0; j < result->consumed_n; j++) {
			bt_name_refs_add_name(held, result->consumed[j].name);
		}
		hold_names(held, result->binding_conditions, result->binding_condition_n);
		hold_names(held, result->failure_conditions, result->failure_condition_n);
		hold_names(held, result->skipped, result->skipped_n);
	}
	for (uint32_t i = 0; i < allocation->selector.term_n; i++) {
		const struct bt_node_term *term = &allocation->selector.terms[i];

		for (uint32_t j = 0; j < term->labels.n; j++) {
			bt_name_refs_add_name(held, term->labels.items[j].key);
			hold_names(held, term->labels.items[j].values, term->labels.items[j].value_n);
		}
		for (uint32_t j = 0; j < term->field_n; j++) {
			bt_name_refs_add_name(held, term->fields[j].value);
		}
	}
}

/* ---- claims ---- */

static uint32_t claim_slot(struct bt_devices *d)
{
	if (d->free_claim_n) {
		uint32_t ix = d->free_claims[--d->free_claim_n];

		BT_INVARIANT(!d->claims[ix].live && d->claim_pending_n[ix] == 0);
		return ix;
	}
	size_t cap = d->claim_cap;
	d->claims = bt_mem_grow(d->claims, d->view.claim_n, &d->claim_cap, sizeof(*d->claims));
	if (d->claim_cap != cap) {
		d->claim_arenas = bt_mem_realloc(d->claim_arenas, d->claim_cap, sizeof(*d->claim_arenas));
		d->claim_names = bt_mem_realloc(d->claim_names, d->claim_cap, sizeof(*d->claim_names));
		d->claim_pending_n =
			bt_mem_realloc(d->claim_pending_n, d->claim_cap, sizeof(*d->claim_pending_n));
	}
	d->claims[d->view.claim_n] = (struct bt_resource_claim){0};
	d->claim_arenas[d->view.claim_n] = (struct bt_arena){0};
	d->claim_pending_n[d->view.claim_n] = 0;
	d->claim_names[d->view.claim_n] = (struct bt_name_refs){.intern = d->dictionary->intern};
	d->view.claims = d->claims;
	BT_INVARIANT(d->view.claim_n < d->claim_cap);
	return d->view.claim_n++;
}

/* The entry of a claim; assigns one if the claim is new. */
static uint32_t claim_ix_of(struct bt_devices *d, uint32_t namespace_, uint32_t name)
{
	uint64_t key = bt_pair_key(namespace_, name);
	uint32_t ix;

	if (!bt_map_get(&d->view.claim_ixs, key, &ix)) {
		ix = claim_slot(d);
		bt_map_put(&d->view.claim_ixs, key, ix);
	}
	BT_INVARIANT(ix < d->view.claim_n);
	return ix;
}

static void *copy(struct bt_arena *arena, const void *items, size_t bytes)
{
	void *kept = bt_arena_alloc(arena, bytes, 16);

	if (bytes) {
		memcpy(kept, items, bytes);
	}
	return kept;
}

static struct bt_selector copy_selector(struct bt_arena *arena, const struct bt_selector *from)
{
	struct bt_requirement *items = copy(arena, from->items, from->n * sizeof(*items));

	for (uint32_t i = 0; i < from->n; i++) {
		items[i].values = copy(arena, items[i].values, items[i].value_n * sizeof(*items[i].values));
	}
	return (struct bt_selector){items, from->n, from->nothing};
}

static struct bt_allocation copy_allocation(struct bt_arena *arena, const struct bt_allocation *from)
{
	struct bt_device_result *results = copy(arena, from->results, from->result_n * sizeof(*results));
	struct bt_node_term *terms =
		copy(arena, from->selector.terms, from->selector.term_n * sizeof(*terms));
	struct bt_allocation to = *from;

	for (uint32_t i = 0; i < from->result_n; i++) {
		struct bt_device_result *result = &results[i];

		result->consumed =
			copy(arena, result->consumed, result->consumed_n * sizeof(*result->consumed));
		result->binding_conditions = copy(arena, result->binding_conditions,
			result->binding_condition_n * sizeof(*result->binding_conditions));
		result->failure_conditions = copy(arena, result->failure_conditions,
			result->failure_condition_n * sizeof(*result->failure_conditions));
		result->skipped = copy(arena, result->skipped, result->skipped_n * sizeof(*result->skipped));
	}
	for (uint32_t i = 0; i < from->selector.term_n; i++) {
		terms[i].labels = copy_selector(arena, &terms[i].labels);
		terms[i].fields = copy(arena, terms[i].fields, terms[i].field_n * sizeof(*terms[i].fields));
	}
	to.results = results;
	to.selector.terms = terms;
	return to;
}

/* The entry is reused when no choice is pending for the claim. */
static void free_claim(struct bt_devices *d, uint32_t ix)
{
	if (d->claims[ix].live || d->claims[ix].pending) {
		return;
	}
	d->free_claims =
		bt_mem_grow(d->free_claims, d->free_claim_n, &d->free_claim_cap, sizeof(*d->free_claims));
	BT_INVARIANT(d->free_claim_n < d->view.claim_n);
	d->free_claims[d->free_claim_n++] = ix;
}

static void remove_claim(struct bt_devices *d, uint32_t ix)
{
	struct bt_resource_claim *claim = &d->claims[ix];

	BT_INVARIANT(claim->live && d->view.special_n >= claim->special);
	if (claim->allocated) {
		devices_enter(d, &claim->allocation, false, false);
	}
	d->view.special_n -= claim->special;
	bt_map_remove(&d->view.claim_ixs, bt_pair_key(claim->namespace_, claim->name));
	*claim = (struct bt_resource_claim){.pending = claim->pending};
	give_arena_up(d, &d->claim_arenas[ix]);
	devices_give_up(d, &d->claim_names[ix]);
	free_claim(d, ix);
}

/* A binder's write counts until the watch shows it, as in upstream's assume cache, which ignores older
 * versions. If the binder does not return the written claims, the write counts until the watch shows the
 * claim as allocated, or the pod is deleted. */
static void keep_status(const struct bt_resource_claim *claim, struct bt_arena *arena,
	struct bt_name_refs *names, struct bt_resource_claim *fresh)
{
	uint32_t room = 1;

	while (room < claim->reserved_n) {
		room *= 2;
	}
	fresh->allocated = claim->allocated;
	fresh->shown_free = true;
	fresh->kept_for = claim->kept_for;
	fresh->written = claim->written;
	fresh->allocation = copy_allocation(arena, &claim->allocation);
	fresh->reserved_for = bt_arena_alloc(arena, room * sizeof(*fresh->reserved_for), 8);
	if (claim->reserved_n) {
		memcpy(fresh->reserved_for, claim->reserved_for,
			claim->reserved_n * sizeof(*fresh->reserved_for));
	}
	fresh->reserved_n = claim->reserved_n;
	for (uint32_t i = 0; i < fresh->reserved_n; i++) {
		bt_name_refs_add_name(names, fresh->reserved_for[i].uid);
		bt_name_refs_add_name(names, fresh->reserved_for[i].pod_group);
	}
	hold_allocation(names, &fresh->allocation);
}

/* Source: allocatedDevices.onAdd, onUpdate, v1.36.3: an allocation does not change. */
static void apply_claim(struct bt_devices *d, const struct bt_resource_claim_object *object)
{
	struct bt_name_refs names = {.intern = d->dictionary->intern};
	struct bt_arena arena = {0};
	struct bt_resource_claim fresh;
	uint32_t ix;

	bt_arena_start(&arena, OBJECT_BYTES);
	bt_resource_claim_compile(&names, &arena, object, &fresh);
	fresh.kept_for = 0;
	fresh.written = 0;
	fresh.shown_free = fresh.shown = false;
	if (bt_map_get(&d->view.claim_ixs, bt_pair_key(fresh.namespace_, fresh.name), &ix) &&
		bt_claim_is_other(&d->claims[ix], &fresh)) {
		remove_claim(d, ix); /* its deletion was missed */
	}
	ix = claim_ix_of(d, fresh.namespace_, fresh.name);
	struct bt_resource_claim *claim = &d->claims[ix];
	if (bt_claim_is_kept(claim, &fresh)) {
		keep_status(claim, &arena, &names, &fresh);
	}
	if (claim->allocated && !fresh.allocated) {
		devices_enter(d, &claim->allocation, false, false);
	} else if (!claim->allocated && fresh.allocated) {
		devices_enter(d, &fresh.allocation, true, false);
	}
	d->view.special_n += fresh.special;
	d->view.special_n -= claim->special;
	fresh.pending = claim->pending;
	fresh.shown = claim->pending && (claim->shown || fresh.allocated);
	fresh.live = true;
	BT_INVARIANT(fresh.namespace_ && fresh.name);
	*claim = fresh;
	give_arena_up(d, &d->claim_arenas[ix]);
	d->claim_arenas[ix] = arena;
	devices_give_up(d, &d->claim_names[ix]);
	d->claim_names[ix] = names;
}

void bt_devices_deallocate(struct bt_devices *d, uint32_t claim_ix)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	struct bt_resource_claim *claim = &d->claims[claim_ix];

	BT_REQUIRE(claim->live);
	if (claim->allocated) {
		devices_enter(d, &claim->allocation, false, false);
	}
	claim->allocated = claim->shown_free = false;
	claim->kept_for = 0;
	claim->allocation = (struct bt_allocation){0};
	claim->reserved_n = 0;
	claim->condition_n = 0;
	d->view.version++;
	BT_INVARIANT(!claim->allocated && claim->reserved_n == 0);
}

/* ---- slices ---- */

static uint32_t slice_slot(struct bt_devices *d)
{
	BT_INVARIANT(d->view.slice_n <= d->slice_cap);
	if (d->free_slice_n) {
		return d->free_slices[--d->free_slice_n];
	}
	size_t cap = d->slice_cap;
	uint32_t ix = d->view.slice_n;
	d->slices = bt_mem_grow(d->slices, ix, &d->slice_cap, sizeof(*d->slices));
	if (d->slice_cap != cap) {
		d->slice_arenas = bt_mem_realloc(d->slice_arenas, d->slice_cap, sizeof(*d->slice_arenas));
		d->slice_names = bt_mem_realloc(d->slice_names, d->slice_cap, sizeof(*d->slice_names));
		d->memos = bt_mem_realloc(d->memos, d->slice_cap, sizeof(*d->memos));
	}
	d->slices[ix] = (struct bt_resource_slice){0};
	d->slice_arenas[ix] = (struct bt_arena){0};
	d->slice_names[ix] = (struct bt_name_refs){.intern = d->dictionary->intern};
	d->memos[ix] = (struct bt_slice_memo){0};
	d->view.slices = d->slices;
	return d->view.slice_n++;
}

static void clear_slice(struct bt_devices *d, uint32_t ix)
{
	const struct bt_resource_slice *slice = &d->slices[ix];

	for (uint32_t i = 0; i < slice->device_n; i++) {
		BT_INVARIANT(d->uses[slice->devices[i].use_ix].shown_n > 0);
		d->uses[slice->devices[i].use_ix].shown_n--;
		leave_use(d, slice->devices[i].use_ix);
	}
	devices_give_up(d, &d->slice_names[ix]);
	d->slices[ix] = (struct bt_resource_slice){0};
	give_arena_up(d, &d->slice_arenas[ix]);
	bt_mem_free(d->memos[ix].answers);
	bt_mem_free(d->memos[ix].derived);
	d->memos[ix] = (struct bt_slice_memo){0};
	d->slice_version++;
	d->view.version++;
}

/* Assigns resource slots to the node resources that a device provides or consumes. */
static void give_slots(struct bt_devices *d, const struct bt_device *device)
{
	struct bt_intern *intern = d->dictionary->intern;

	for (uint32_t i = 0; i < device->node_resource_n; i++) {
		bt_resource_slot(d->dictionary, bt_intern_str(intern, device->node_resources[i].name));
	}
	for (uint32_t i = 0; i < device->node_mapping_n; i++) {
		bt_resource_slot(d->dictionary, bt_intern_str(intern, device->node_mappings[i].name));
	}
}

static void apply_slice(struct bt_devices *d, const struct bt_resource_slice_object *object)
{
	struct bt_name_refs names = {.intern = d->dictionary->intern};
	uint32_t name = bt_name_refs_add(&names, object->meta.name), ix;

	if (bt_map_get(&d->view.slice_ixs, name, &ix)) {
		clear_slice(d, ix);
	} else {
		ix = slice_slot(d);
		bt_map_put(&d->view.slice_ixs, name, ix);
	}
	struct bt_resource_slice *slice = &d->slices[ix];
	bt_arena_start(&d->slice_arenas[ix], OBJECT_BYTES);
	bt_resource_slice_compile(&names, &d->slice_arenas[ix], object, slice);
	d->slice_names[ix] = names;
	slice->live = true;
	for (uint32_t i = 0; i < slice->device_n; i++) {
		slice->devices[i].slice_ix = ix;
		slice->devices[i].use_ix = use_of(d, slice->driver, slice->pool, slice->devices[i].name);
		BT_INVARIANT(slice->devices[i].use_ix < d->view.use_n);
		d->uses[slice->devices[i].use_ix].shown_n++;
		give_slots(d, &slice->devices[i]);
	}
	d->slice_version++;
	d->view.version++;
}

static void remove_slice(struct bt_devices *d, uint32_t ix)
{
	bt_map_remove(&d->view.slice_ixs, d->slices[ix].name);
	clear_slice(d, ix);
	d->free_slices =
		bt_mem_grow(d->free_slices, d->free_slice_n, &d->free_slice_cap, sizeof(*d->free_slices));
	BT_INVARIANT(d->free_slice_n < d->view.slice_n);
	d->free_slices[d->free_slice_n++] = ix;
}

/* ---- classes ---- */

/* Frees the entry of a deleted class that backs no extended resource any more. */
static void leave_class(struct bt_devices *d, uint32_t ix)
{
	uint32_t name = d->classes[ix].name;

	BT_INVARIANT(ix < d->class_n);
	if (d->classes[ix].live || d->class_serves[ix]) {
		return;
	}
	bt_map_remove(&d->view.class_ixs, name);
	give_name_up(d, name);
	d->classes[ix] = (struct bt_device_class){0};
	bt_index_allocator_give(&d->vacant_classes, ix);
}

/* No class backs the resource any more. */
static void end_service(struct bt_devices *d, uint32_t resource)
{
	uint32_t ix;

	if (bt_map_get(&d->view.resource_classes, resource, &ix)) {
		bt_map_remove(&d->view.resource_classes, resource);
		BT_INVARIANT(d->class_serves[ix] > 0);
		d->class_serves[ix]--;
		give_name_up(d, resource);
		leave_class(d, ix);
	}
}

/* The class backs the resource from now on, in place of any other. */
static void serve(struct bt_devices *d, uint32_t resource, uint32_t ix)
{
	bt_intern_hold_again(d->dictionary->intern, resource);
	d->class_serves[ix]++;
	end_service(d, resource);
	bt_map_put(&d->view.resource_classes, resource, ix);
}

/* The extended resource name that every class has implicitly. Adds a reference. */
static uint32_t implicit_resource(struct bt_devices *d, uint32_t class_)
{
	struct bt_intern *intern = d->dictionary->intern;
	struct bt_buf text = {0};

	bt_buf_printf(
		&text, "deviceclass.resource.kubernetes.io/%.*s", BT_STR_ARG(bt_intern_str(intern, class_)));
	uint32_t name = bt_intern_hold(intern, bt_buf_view(&text));
	bt_buf_fini(&text);
	return name;
}

/* Among the classes of one resource the youngest wins, then the first by name. */
static bool outranked(const struct bt_devices *d, const struct bt_device_class *class_)
{
	const struct bt_intern *intern = d->dictionary->intern;
	const struct bt_device_class *there =
		class_->extended_resource ? bt_device_store_resource(&d->view, class_->extended_resource)
					  : NULL;

	if (!there) {
		return false;
	}
	if (class_->creation_ns != there->creation_ns) {
		return class_->creation_ns < there->creation_ns;
	}
	return bt_str_cmp(bt_intern_str(intern, class_->name), bt_intern_str(intern, there->name)) >= 0;
}

static void forget_resources(struct bt_devices *d, const struct bt_device_class *class_)
{
	uint32_t implicit = implicit_resource(d, class_->name), own = class_->extended_resource;

	end_service(d, implicit);
	bt_intern_release(d->dictionary->intern, implicit);
	if (own) {
		end_service(d, own);
	}
}

/* Source: ExtendedResourceCache.updateResourceName2class, v1.36.3: an outranked class changes nothing. */
static bool map_resources(struct bt_devices *d, const struct bt_device_class *was, uint32_t ix)
{
	const struct bt_device_class *class_ = &d->classes[ix];

	BT_INVARIANT(class_->live && class_->name == was->name);
	if (!d->view.features.extended_resources || outranked(d, class_)) {
		return false;
	}
	if (was->live) {
		forget_resources(d, was);
	}
	uint32_t implicit = implicit_resource(d, class_->name);
	if (class_->extended_resource) {
		serve(d, class_->extended_resource, ix);
	}
	serve(d, implicit, ix);
	bt_intern_release(d->dictionary->intern, implicit);
	return true;
}

/* An entry for a new class, which holds its name. */
static uint32_t class_slot(struct bt_devices *d, uint32_t name)
{
	uint32_t ix;

	if (!bt_index_allocator_take(&d->vacant_classes, &ix)) {
		size_t cap = d->class_cap;

		ix = (uint32_t)d->class_n++;
		d->classes = bt_mem_grow(d->classes, ix, &d->class_cap, sizeof(*d->classes));
		if (d->class_cap != cap) {
			d->class_arenas =
				bt_mem_realloc(d->class_arenas, d->class_cap, sizeof(*d->class_arenas));
			d->class_names =
				bt_mem_realloc(d->class_names, d->class_cap, sizeof(*d->class_names));
			d->class_serves =
				bt_mem_realloc(d->class_serves, d->class_cap, sizeof(*d->class_serves));
		}
		d->class_arenas[ix] = (struct bt_arena){0};
		d->class_names[ix] = (struct bt_name_refs){.intern = d->dictionary->intern};
		d->view.classes = d->classes;
	}
	d->classes[ix] = (struct bt_device_class){.name = name};
	d->class_serves[ix] = 0;
	bt_map_put(&d->view.class_ixs, name, ix);
	bt_intern_hold_again(d->dictionary->intern, name);
	BT_INVARIANT(ix < d->class_n && d->classes[ix].name == name);
	return ix;
}

static bool apply_class(struct bt_devices *d, const struct bt_device_class_object *object)
{
	uint32_t name = bt_intern_hold(d->dictionary->intern, object->meta.name), ix;

	if (!bt_map_get(&d->view.class_ixs, name, &ix)) {
		ix = class_slot(d, name);
	}
	bt_intern_release(d->dictionary->intern, name);
	const struct bt_device_class was = d->classes[ix];
	bt_arena_fini(&d->class_arenas[ix]);
	bt_arena_start(&d->class_arenas[ix], OBJECT_BYTES);
	devices_give_up(d, &d->class_names[ix]);
	bt_device_class_compile(&d->class_names[ix], &d->class_arenas[ix], object, &d->classes[ix]);
	d->classes[ix].live = true;
	d->view.version++;
	return map_resources(d, &was, ix);
}

static void remove_class(struct bt_devices *d, uint32_t ix)
{
	struct bt_device_class *class_ = &d->classes[ix];

	if (d->view.features.extended_resources) {
		forget_resources(d, class_);
	}
	*class_ = (struct bt_device_class){.name = class_->name};
	bt_arena_fini(&d->class_arenas[ix]);
	devices_give_up(d, &d->class_names[ix]);
	leave_class(d, ix);
	d->view.version++;
}

/* ---- objects ---- */

bool bt_devices_apply(struct bt_devices *d, const struct bt_object *object)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	d->view.version++;
	switch (object->kind) {
	case BT_KIND_RESOURCE_CLAIM:
		apply_claim(d, &object->resource_claim);
		break;
	case BT_KIND_RESOURCE_SLICE:
		apply_slice(d, &object->resource_slice);
		break;
	case BT_KIND_DEVICE_CLASS:
		return apply_class(d, &object->device_class);
	case BT_KIND_DEVICE_TAINT_RULE:
		bt_taint_rules_apply(d, &object->device_taint_rule);
		break;
	default:
		break;
	}
	return false;
}

enum bt_status bt_devices_remove(struct bt_devices *d, enum bt_kind kind, uint32_t namespace_, uint32_t name)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	uint32_t ix;

	if (!name) {
		return BT_NOT_FOUND;
	}
	d->view.version++;
	if (kind == BT_KIND_DEVICE_TAINT_RULE) {
		return bt_taint_rules_remove(d, name);
	}
	if (kind == BT_KIND_RESOURCE_CLAIM &&
		bt_map_get(&d->view.claim_ixs, bt_pair_key(namespace_, name), &ix)) {
		remove_claim(d, ix);
	} else if (kind == BT_KIND_RESOURCE_SLICE && bt_map_get(&d->view.slice_ixs, name, &ix)) {
		remove_slice(d, ix);
	} else if (kind == BT_KIND_DEVICE_CLASS && bt_map_get(&d->view.class_ixs, name, &ix) &&
		   d->classes[ix].live) {
		remove_class(d, ix);
	} else {
		return BT_NOT_FOUND;
	}
	return BT_OK;
}

/* ---- decided pods ---- */

/* Drops the cache when it exceeds a limit. No values are in use between cycles. */
static void trim_derived(struct bt_derived_values *derived, uint32_t most)
{
	if (derived->n > most) {
		derived->n = 0;
		derived->epoch++;
		bt_arena_reset(&derived->arena);
		bt_name_refs_release(&derived->names);
	}
}

void bt_devices_begin(struct bt_devices *d, uint32_t pod_name, uint32_t pod_uid, int64_t now_ns)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	trim_derived(&d->derived, DERIVED_MAX);
	d->view.now_ns = now_ns;
	d->view.pod_name = pod_name;
	d->view.pod_uid = bt_consumer_uid(pod_name, pod_uid);
}

void bt_devices_share(struct bt_devices *d, uint64_t scope)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	d->view.scope = scope;
}

/* A share's ID in the form of a UUID, which the API server requires. Derived from the claim, the consumer and
 * the share's number, so that the same history has the same IDs. */
static void make_share_id(
	struct bt_devices *d, uint32_t claim_ix, const struct bt_device_result *result, struct bt_buf *out)
{
	const struct bt_intern *intern = d->dictionary->intern;
	const uint32_t parts[] = {claim_ix == BT_NO_CLAIM ? d->view.pod_uid : d->claims[claim_ix].uid,
		d->view.pod_name, result->request, result->driver, result->pool, result->device};

	bt_buf_clear(out);
	bt_buf_printf(out, "%llu", (unsigned long long)++d->share_serial);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		bt_buf_char(out, '/');
		bt_buf_str(out, bt_intern_str(intern, parts[i]));
	}
	uint64_t high = bt_hash_bytes(out->ptr, out->len);
	bt_buf_char(out, '/');
	uint64_t low = bt_hash_bytes(out->ptr, out->len);
	bt_buf_clear(out);
	bt_buf_printf(out, "%08x-%04x-4%03x-%04x-%012llx", (uint32_t)(high >> 32),
		(uint32_t)(high >> 16) & 0xffff, (uint32_t)high & 0xfff,
		0x8000 | ((uint32_t)(low >> 48) & 0x3fff), (unsigned long long)(low & 0xffffffffffff));
}

/* Gives each new share a unique ID. */
static void name_shares(struct bt_devices *d, struct bt_pending *pending, struct bt_device_choice *choice)
{
	struct bt_allocation *allocation = &choice->allocation;
	struct bt_device_result *results =
		copy(&pending->arena, allocation->results, allocation->result_n * sizeof(*results));
	struct bt_buf text = {0};

	for (uint32_t i = 0; i < allocation->result_n; i++) {
		if (results[i].share) {
			make_share_id(d, choice->claim_ix, &results[i], &text);
			results[i].share = bt_name_refs_add(&pending->names, bt_buf_view(&text));
		}
	}
	bt_buf_fini(&text);
	allocation->results = results;
}

void bt_devices_assume(
	struct bt_devices *d, uint32_t pod_ix, const struct bt_device_choice *choices, uint32_t n)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	uint32_t unused;

	if (n == 0) {
		return;
	}
	BT_REQUIRE(!bt_map_get(&d->pending_ixs, pod_ix + (uint64_t)1, &unused));
	d->pending = bt_mem_grow(d->pending, d->view.pending_n, &d->pending_cap, sizeof(*d->pending));
	struct bt_pending *pending = &d->pending[d->view.pending_n];
	*pending = (struct bt_pending){
		.pod_ix = pod_ix, .n = n, .scope = d->view.scope, .names.intern = d->dictionary->intern};
	bt_arena_start(&pending->arena, OBJECT_BYTES);
	pending->choices = copy(&pending->arena, choices, n * sizeof(*choices));
	for (uint32_t i = 0; i < n; i++) {
		struct bt_device_choice *choice = &pending->choices[i];

		choice->allocation = copy_allocation(&pending->arena, &choices[i].allocation);
		hold_allocation(&pending->names, &choice->allocation);
		if (!choice->shared) {
			name_shares(d, pending, choice);
			devices_enter(d, &choice->allocation, true, true);
		}
		if (choice->claim_ix != BT_NO_CLAIM) {
			BT_INVARIANT(!choice->shared || d->claims[choice->claim_ix].pending);
			d->claims[choice->claim_ix].pending = true;
			d->claim_pending_n[choice->claim_ix]++;
			d->claims[choice->claim_ix].shown &= choice->shared;
		}
	}
	d->view.version++;
	bt_map_put(&d->pending_ixs, pod_ix + (uint64_t)1, d->view.pending_n++);
	BT_INVARIANT(d->view.pending_n > 0 && d->pending[d->view.pending_n - 1].pod_ix == pod_ix);
}

const struct bt_device_choice *bt_devices_pending(
	const struct bt_devices *d, uint32_t pod_ix, uint32_t *out_n)
{
	uint32_t at;

	*out_n = 0;
	if (d->view.pending_n == 0 || !bt_map_get(&d->pending_ixs, pod_ix + (uint64_t)1, &at)) {
		return NULL;
	}
	*out_n = d->pending[at].n;
	BT_INVARIANT(d->pending[at].pod_ix == pod_ix);
	return d->pending[at].choices;
}

/* Another choice for the claim; with a scope (not 0), one that is shared or that others share; or
 * NULL. Prefers the latest pod. */
static struct bt_device_choice *other_choice(struct bt_devices *d, uint32_t claim_ix, uint64_t scope,
	bool shared, const struct bt_device_choice *but)
{
	for (size_t at = d->view.pending_n; at-- > 0;) {
		const struct bt_pending *pending = &d->pending[at];

		for (uint32_t i = 0;
			(scope ? pending->scope == scope : pending->scope != 0) && i < pending->n; i++) {
			struct bt_device_choice *choice = &pending->choices[i];

			if (choice->claim_ix == claim_ix && choice != but && !choice->withdrawn &&
				choice->shared == shared) {
				return choice;
			}
		}
	}
	return NULL;
}

static const struct bt_allocation *sharing(void *context, uint32_t claim_ix)
{
	struct bt_devices *d = context;
	const struct bt_device_choice *choice =
		d->view.scope ? other_choice(d, claim_ix, d->view.scope, false, NULL) : NULL;

	return choice ? &choice->allocation : NULL;
}

/* Removes one pending choice from its claim. */
static void remove_pending(struct bt_devices *d, uint32_t claim_ix)
{
	BT_INVARIANT(d->claim_pending_n[claim_ix] > 0 && d->claims[claim_ix].pending);
	if (--d->claim_pending_n[claim_ix] == 0) {
		d->claims[claim_ix].pending = false;
		free_claim(d, claim_ix);
	}
	d->view.version++;
}

/* Removes a choice from its claim. If another choice shares the devices, they count there. */
static void withdraw_choice(struct bt_devices *d, struct bt_device_choice *choice)
{
	if (choice->withdrawn) {
		return;
	}
	choice->withdrawn = true;
	if (!choice->shared) {
		bool more = choice->claim_ix != BT_NO_CLAIM && d->claim_pending_n[choice->claim_ix] > 1;
		struct bt_device_choice *successor =
			more ? other_choice(d, choice->claim_ix, 0, true, choice) : NULL;

		devices_enter(d, &choice->allocation, false, true);
		if (successor) {
			successor->shared = false;
			devices_enter(d, &successor->allocation, true, true);
		}
	}
	if (choice->claim_ix != BT_NO_CLAIM) {
		remove_pending(d, choice->claim_ix);
	}
}

/* The claim is allocated: choices that share it are no longer pending. */
static void withdraw_shared(struct bt_devices *d, uint32_t claim_ix)
{
	struct bt_device_choice *choice;

	while (d->claims[claim_ix].pending && ((choice = other_choice(d, claim_ix, 0, true, NULL)) ||
						      (choice = other_choice(d, claim_ix, 0, false, NULL)))) {
		withdraw_choice(d, choice);
	}
}

/* Removes an entry; the last one takes its place. */
static void forget_pending(struct bt_devices *d, uint32_t at)
{
	BT_INVARIANT(at < d->view.pending_n);
	bt_map_remove(&d->pending_ixs, d->pending[at].pod_ix + (uint64_t)1);
	bt_arena_fini(&d->pending[at].arena);
	devices_give_up(d, &d->pending[at].names);
	d->pending[at] = d->pending[--d->view.pending_n];
	if (at < d->view.pending_n) {
		bt_map_put(&d->pending_ixs, d->pending[at].pod_ix + (uint64_t)1, at);
	}
}

/* Takes a reference to the name, because the claim may outlive the pod. */
static void reserve_for(struct bt_devices *d, uint32_t claim_ix, struct bt_claim_consumer consumer)
{
	struct bt_resource_claim *claim = &d->claims[claim_ix];
	uint32_t n = claim->reserved_n;

	BT_INVARIANT(claim->live);
	for (uint32_t i = 0; i < n; i++) {
		if (claim->reserved_for[i].uid == consumer.uid) {
			return;
		}
	}
	/* The array has room up to the next power of two. */
	if ((n & (n - 1)) == 0) {
		struct bt_claim_consumer *larger =
			bt_arena_alloc(&d->claim_arenas[claim_ix], (n ? 2 * n : 1) * sizeof(*larger), 8);

		if (n) {
			memcpy(larger, claim->reserved_for, n * sizeof(*larger));
		}
		claim->reserved_for = larger;
	}
	bt_name_refs_add_name(&d->claim_names[claim_ix], consumer.uid);
	bt_name_refs_add_name(&d->claim_names[claim_ix], consumer.pod_group);
	claim->reserved_for[claim->reserved_n++] = consumer;
}

/* A name for the claim of a bound pod's extended resources. */
static uint32_t special_name(
	struct bt_devices *d, struct bt_name_refs *names, uint32_t namespace_, uint32_t pod_name)
{
	struct bt_buf text = {0};
	uint32_t name, ix;

	do {
		bt_buf_clear(&text);
		bt_buf_printf(&text, "%.*s-extended-resources-%llu",
			BT_STR_ARG(bt_intern_str(d->dictionary->intern, pod_name)),
			(unsigned long long)++d->special_serial);
		name = bt_name_refs_add(names, bt_buf_view(&text));
	} while (bt_map_get(&d->view.claim_ixs, bt_pair_key(namespace_, name), &ix));
	bt_buf_fini(&text);
	return name;
}

/* Creates that claim. Owns: takes over names, which holds its name and UID. */
static uint32_t make_special(struct bt_devices *d, struct bt_name_refs *names,
	const struct bt_resource_claim *known, uint32_t pod_name, uint32_t pod_uid)
{
	uint32_t ix = claim_ix_of(d, known->namespace_, known->name);

	bt_arena_start(&d->claim_arenas[ix], OBJECT_BYTES);
	struct bt_claim_owner *owner = bt_arena_zalloc(&d->claim_arenas[ix], sizeof(*owner));
	bt_name_refs_add_name(names, known->namespace_);
	bt_name_refs_add_name(names, pod_name);
	bt_name_refs_add_name(names, pod_uid);
	d->claim_names[ix] = *names;
	*owner = (struct bt_claim_owner){pod_name, pod_uid, true};
	d->claims[ix] = (struct bt_resource_claim){
		.namespace_ = known->namespace_,
		.name = known->name,
		.uid = known->uid,
		.live = true,
		.special = true,
		.owner_uid = pod_uid,
		.owners = owner,
		.owner_n = 1,
		.has_requests = true,
	};
	d->view.special_n++;
	BT_INVARIANT(bt_map_get(&d->view.claim_ixs, bt_pair_key(known->namespace_, known->name), &ix));
	return ix;
}

/* Allocates the claim. */
static void grant(struct bt_devices *d, uint32_t ix, const struct bt_allocation *allocation)
{
	struct bt_resource_claim *claim = &d->claims[ix];

	if (claim->allocated) {
		devices_enter(d, &claim->allocation, false, false);
	}
	claim->allocated = true;
	BT_INVARIANT(claim->live);
	claim->allocation = copy_allocation(&d->claim_arenas[ix], allocation);
	hold_allocation(&d->claim_names[ix], allocation);
	devices_enter(d, &claim->allocation, true, false);
}

/* The consumer for which the pod's claim is reserved. */
static struct bt_claim_consumer consumer_of(
	const struct bt_devices *d, uint32_t claim_ix, const struct bt_signature *signature, uint32_t pod_uid)
{
	for (uint32_t i = 0; i < signature->claim_n; i++) {
		if (signature->claims[i].claim == d->claims[claim_ix].name) {
			return bt_device_store_consumer(&d->view, signature, &signature->claims[i], pod_uid);
		}
	}
	return (struct bt_claim_consumer){pod_uid, BT_NAME_NONE};
}

static void allocate(struct bt_devices *d, uint32_t pod_ix, struct bt_device_choice *choice,
	const struct bt_signature *signature, uint32_t pod_name, uint32_t pod_uid)
{
	uint32_t ix = choice->claim_ix, namespace_ = signature->namespace_;
	bool there = !choice->withdrawn &&
		     (ix == BT_NO_CLAIM ||
			     (d->claims[ix].live && !d->claims[ix].allocated && !d->claims[ix].shown));

	withdraw_choice(d, choice);
	if (!there) {
		return;
	}
	if (ix == BT_NO_CLAIM) {
		struct bt_name_refs names = {.intern = d->dictionary->intern};
		const struct bt_resource_claim known = {.namespace_ = namespace_,
			.name = special_name(d, &names, namespace_, pod_name),
			.uid = BT_NAME_EMPTY};

		ix = make_special(d, &names, &known, pod_name, pod_uid);
	}
	grant(d, ix, &choice->allocation);
	reserve_for(d, ix, consumer_of(d, ix, signature, pod_uid));
	withdraw_shared(d, ix);
	if (!d->claims[ix].special) {
		d->claims[ix].kept_for = pod_ix + 1;
		d->claims[ix].shown_free = false;
	}
}

void bt_devices_keep(struct bt_devices *d, uint32_t pod_ix, const struct bt_signature *signature,
	uint32_t pod_name, uint32_t pod_uid)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	uint32_t at, ix;

	pod_uid = bt_consumer_uid(pod_name, pod_uid);
	if (bt_map_get(&d->pending_ixs, pod_ix + (uint64_t)1, &at)) {
		for (uint32_t i = 0; i < d->pending[at].n; i++) {
			allocate(d, pod_ix, &d->pending[at].choices[i], signature, pod_name, pod_uid);
		}
		forget_pending(d, at);
	}
	for (uint32_t i = 0; i < signature->claim_n; i++) {
		if (bt_map_get(&d->view.claim_ixs,
			    bt_pair_key(signature->namespace_, signature->claims[i].claim), &ix) &&
			d->claims[ix].allocated &&
			!bt_device_store_reserved(&d->view, &d->claims[ix], signature, pod_uid)) {
			reserve_for(d, ix, consumer_of(d, ix, signature, pod_uid));
		}
	}
}

/* ---- writes of binders ---- */

static bool unreserve(struct bt_resource_claim *claim, uint32_t uid)
{
	for (uint32_t i = 0; i < claim->reserved_n; i++) {
		if (claim->reserved_for[i].uid == uid) {
			claim->reserved_for[i] = claim->reserved_for[--claim->reserved_n];
			return true;
		}
	}
	return false;
}

bool bt_devices_unreserve(struct bt_devices *d, uint32_t claim_ix, uint32_t uid)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	BT_REQUIRE(d->claims[claim_ix].live);
	d->view.version++;
	return unreserve(&d->claims[claim_ix], uid);
}

/* The pod's pending choice for a claim by name, or for its extended resources; or NULL. */
static struct bt_device_choice *choice_for(
	const struct bt_devices *d, const struct bt_pending *pending, const struct bt_resource_claim *known)
{
	for (uint32_t i = 0; i < pending->n; i++) {
		struct bt_device_choice *choice = &pending->choices[i];

		if (choice->claim_ix == BT_NO_CLAIM || choice->withdrawn) {
			if (known->special && !choice->withdrawn) {
				return choice;
			}
			continue;
		}
		const struct bt_resource_claim *claim = &d->claims[choice->claim_ix];
		if (claim->live && claim->namespace_ == known->namespace_ && claim->name == known->name) {
			return choice;
		}
	}
	return NULL;
}

/* The current entry of a claim that a binder has written; BT_NO_CLAIM: it was deleted or replaced. */
static uint32_t find_written(struct bt_devices *d, const struct bt_resource_claim *known)
{
	uint32_t ix;

	return bt_map_get(&d->view.claim_ixs, bt_pair_key(known->namespace_, known->name), &ix) &&
			       !bt_claim_is_other(&d->claims[ix], known)
		       ? ix
		       : BT_NO_CLAIM;
}

/* Source: AssumeClaimAfterAPICall, v1.36.3. */
static void note_written(struct bt_devices *d, uint32_t ix, const struct bt_resource_claim *known,
	struct bt_claim_consumer consumer, bool reserved)
{
	struct bt_resource_claim *claim = &d->claims[ix];

	if (reserved || consumer.pod_group != BT_NAME_NONE) {
		reserve_for(d, ix, consumer);
	} else {
		(void)unreserve(claim, consumer.uid);
	}
	claim->written = known->written;
	claim->kept_for = 0;
	d->view.version++;
}

/* Moves a pending choice to its claim. Returns: the claim. */
static uint32_t take_choice(struct bt_devices *d, uint32_t at, struct bt_device_choice *choice, uint32_t ix,
	const struct bt_resource_claim *known, uint32_t pod_name, uint32_t pod_uid)
{
	struct bt_pending *pending = &d->pending[at];

	BT_INVARIANT(choice >= pending->choices && choice < pending->choices + pending->n);
	withdraw_choice(d, choice);
	if (ix == BT_NO_CLAIM && known->special) {
		struct bt_name_refs names = {.intern = d->dictionary->intern};

		bt_name_refs_add_name(&names, known->name);
		bt_name_refs_add_name(&names, known->uid);
		ix = make_special(d, &names, known, pod_name, pod_uid);
	}
	if (ix != BT_NO_CLAIM && d->claims[ix].version < known->written) {
		grant(d, ix, &choice->allocation);
		withdraw_shared(d, ix);
	}
	*choice = pending->choices[--pending->n];
	if (pending->n == 0) {
		forget_pending(d, at);
	}
	return ix;
}

uint32_t bt_devices_written(struct bt_devices *d, uint32_t pod_ix, const struct bt_signature *signature,
	uint32_t pod_name, uint32_t pod_uid, const struct bt_written_claim *written, uint32_t *out_changes)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	struct bt_name_refs names = {.intern = d->dictionary->intern};
	const struct bt_resource_claim known = {.namespace_ = signature->namespace_,
		.name = bt_name_refs_add(&names, written->name),
		.uid = bt_name_refs_add(&names, written->uid),
		.special = written->special,
		.written = written->version};
	struct bt_device_choice *choice = NULL;
	uint32_t ix = find_written(d, &known), at;

	*out_changes = 0;
	pod_uid = bt_consumer_uid(pod_name, pod_uid);
	if (bt_map_get(&d->pending_ixs, pod_ix + (uint64_t)1, &at)) {
		choice = choice_for(d, &d->pending[at], &known);
		ix = choice ? take_choice(d, at, choice, ix, &known, pod_name, pod_uid) : ix;
	}
	bt_name_refs_release(&names);
	if (ix == BT_NO_CLAIM) {
		return ix;
	}
	if (!d->claims[ix].allocated) {
		/* The watch has shown it as free since; its devices were in use until this response. */
		bool freed = choice && d->claims[ix].version > written->version;
		*out_changes = freed ? BT_CHANGED_ALLOCATION_LOST | BT_CHANGED_CLAIM_STATUS : 0;
	} else if (d->claims[ix].version < written->version) {
		note_written(d, ix, &known, consumer_of(d, ix, signature, pod_uid), written->reserved);
		*out_changes = BT_CHANGED_CLAIM_STATUS;
	}
	return ix;
}

/* ---- unused data ---- */

bool bt_devices_unkeep(
	struct bt_devices *d, uint32_t pod_ix, uint32_t namespace_, uint32_t name, uint32_t *out_claim_ix)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	uint32_t ix;

	if (!bt_map_get(&d->view.claim_ixs, bt_pair_key(namespace_, name), &ix) ||
		d->claims[ix].kept_for != pod_ix + 1) {
		return false;
	}
	d->claims[ix].kept_for = 0;
	*out_claim_ix = ix;
	return d->claims[ix].shown_free;
}

void bt_devices_revert(struct bt_devices *d, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	uint32_t at;

	if (!bt_map_get(&d->pending_ixs, pod_ix + (uint64_t)1, &at)) {
		return;
	}
	for (uint32_t i = 0; i < d->pending[at].n; i++) {
		withdraw_choice(d, &d->pending[at].choices[i]);
	}
	forget_pending(d, at);
}

/* ---- selectors ---- */

/* Use of an expression. */
enum expression_use { EXPRESSION_SELECTS = 0, EXPRESSION_SELECTS_SINGLE, EXPRESSION_DERIVES };

/* The cache index of an expression for one use. */
static uint32_t expression_ix(struct bt_devices *d, uint32_t expression, enum expression_use use)
{
	uint64_t key = bt_pair_key(use, expression);
	uint32_t ix;

	if (bt_map_get(&d->expressions, key, &ix)) {
		return ix;
	}
	if (d->expression_n == EXPRESSION_MAX) {
		bt_map_fini(&d->expressions);
		bt_name_refs_release(&d->expression_names);
		d->expression_n = 0;
		d->expression_epoch++;
	}
	bt_name_refs_add_name(&d->expression_names, expression);
	bt_map_put(&d->expressions, key, d->expression_n);
	BT_INVARIANT(d->expression_n < EXPRESSION_MAX);
	return d->expression_n++;
}

/* The cache entry of a result. */
static uint8_t *answer_at(struct bt_devices *d, const struct bt_device *device, uint32_t expression)
{
	struct bt_slice_memo *memo = &d->memos[device->slice_ix];
	uint32_t device_n = d->slices[device->slice_ix].device_n;

	if (memo->epoch != d->expression_epoch || expression >= memo->expression_n) {
		memo->epoch = d->expression_epoch;
		memo->expression_n = 8;
		while (memo->expression_n <= expression) {
			memo->expression_n *= 2;
		}
		bt_mem_free(memo->answers);
		bt_mem_free(memo->derived);
		memo->derived = NULL;
		memo->answers = bt_mem_zalloc((size_t)device_n * memo->expression_n, 1);
	}
	BT_INVARIANT(device->ix < device_n && expression < memo->expression_n);
	return &memo->answers[(size_t)device->ix * memo->expression_n + expression];
}

/* Is the device still in its slice? */
static bool is_shown(const struct bt_devices *d, const struct bt_device *device)
{
	const struct bt_resource_slice *slice = &d->slices[device->slice_ix];

	return slice->live && device->ix < slice->device_n && &slice->devices[device->ix] == device;
}

static enum bt_device_answer match(void *context, uint32_t expression, uint32_t driver,
	const struct bt_device *device, bool single, struct bt_buf *out_error)
{
	struct bt_devices *d = context;
	uint8_t unkept = 0;

	if (!d->judge) {
		bt_buf_text(out_error, "nobody evaluates selectors");
		return BT_DEVICE_FAILED;
	}
	single &= device->allow_multiple;
	uint8_t *kept = is_shown(d, device)
				? answer_at(d, device,
					  expression_ix(d, expression,
						  single ? EXPRESSION_SELECTS_SINGLE : EXPRESSION_SELECTS))
				: &unkept;
	if (*kept) {
		return *kept - 1;
	}
	struct bt_device shown = *device;
	shown.allow_multiple &= !single;
	enum bt_device_answer answer =
		d->judge->match(d->judging, d->dictionary->intern, expression, driver, &shown, out_error);
	if (answer == BT_DEVICE_YES || answer == BT_DEVICE_NO) {
		*kept = (uint8_t)(answer + 1);
	}
	return answer;
}

/* ---- derived attributes ---- */

/* The cache entry of a derived value. */
static uint32_t *derived_at(struct bt_devices *d, const struct bt_device *device, uint32_t expression)
{
	size_t at = (size_t)(answer_at(d, device, expression) - d->memos[device->slice_ix].answers);
	struct bt_slice_memo *memo = &d->memos[device->slice_ix];

	if (!memo->derived || memo->derived_epoch != d->derived.epoch) {
		bt_mem_free(memo->derived);
		memo->derived =
			bt_mem_zalloc((size_t)d->slices[device->slice_ix].device_n * memo->expression_n,
				sizeof(*memo->derived));
		memo->derived_epoch = d->derived.epoch;
	}
	return &memo->derived[at];
}

static enum bt_device_answer derive(void *context, uint32_t expression, uint32_t driver,
	const struct bt_device *device, const struct bt_attribute **out_value, struct bt_buf *out_error)
{
	struct bt_devices *d = context;
	struct bt_derived_values *derived = &d->derived;
	uint32_t unkept = 0;

	BT_REQUIRE_HOT(d->judge && d->judge->derive);
	uint32_t *kept = is_shown(d, device)
				 ? derived_at(d, device, expression_ix(d, expression, EXPRESSION_DERIVES))
				 : &unkept;
	if (!*kept) {
		struct bt_attribute *value = bt_arena_zalloc(&derived->arena, sizeof(*value));
		enum bt_device_answer answer = d->judge->derive(d->judging, &derived->names, &derived->arena,
			expression, driver, device, value, out_error);

		if (answer != BT_DEVICE_YES) {
			return answer;
		}
		derived->items =
			bt_mem_grow(derived->items, derived->n, &derived->cap, sizeof(*derived->items));
		derived->items[derived->n++] = value;
		*kept = derived->n;
	}
	BT_INVARIANT(*kept <= derived->n);
	*out_value = derived->items[*kept - 1];
	return BT_DEVICE_YES;
}

static const struct bt_device_pools *pools(void *context, uint32_t node_ix)
{
	return bt_devices_pools(context, node_ix);
}

static const uint32_t *slices_of(void *context, uint32_t driver, uint32_t pool, uint32_t *out_n)
{
	return bt_devices_slices(context, driver, pool, out_n);
}

/* ---- life ---- */

static const struct bt_device_calls calls = {pools, slices_of, bt_taint_rules_next, sharing, match, derive};

struct bt_devices *bt_devices_create(struct bt_dictionary *dictionary, const struct bt_snapshot *snapshot)
{
	struct bt_devices *d = bt_mem_zalloc(1, sizeof(*d));

	BT_REQUIRE(dictionary && snapshot);
	d->dictionary = dictionary;
	d->snapshot = snapshot;
	d->gone.intern = d->expression_names.intern = dictionary->intern;
	d->expression_epoch = 1;
	d->slice_version = 1;
	d->view.version = 1;
	d->view.scratch = &d->scratch;
	d->view.context = d;
	d->view.features.release = bt_release_default();
	d->view.calls = &calls;
	d->derived.names.intern = dictionary->intern;
	d->derived.epoch = 1;
	return d;
}

void bt_devices_configure(
	struct bt_devices *d, const struct bt_device_features *features, const struct bt_device_judge *judge)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	BT_REQUIRE(!d->judge && d->view.claim_n == 0 && d->view.slice_n == 0 && d->class_n == 0);
	BT_REQUIRE(judge && judge->create && judge->match && judge->destroy);
	d->view.features = *features;
	d->view.features.release = features->release ? features->release : bt_release_default();
	d->judge = judge;
	d->judging = judge->create(&d->view.features);
}

static void free_arenas(struct bt_arena *arenas, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bt_arena_fini(&arenas[i]);
	}
	bt_mem_free(arenas);
}

static void free_names(struct bt_name_refs *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bt_name_refs_release(&names[i]);
	}
	bt_mem_free(names);
}

void bt_devices_destroy(struct bt_devices *d)
{
	if (!d) {
		return;
	}
	if (d->judge) {
		d->judge->destroy(d->judging);
	}
	free_arenas(d->claim_arenas, d->view.claim_n);
	free_names(d->claim_names, d->view.claim_n);
	free_names(d->slice_names, d->view.slice_n);
	free_names(d->class_names, d->class_n);
	bt_devices_release_names(d);
	bt_name_refs_release(&d->expression_names);
	bt_index_allocator_fini(&d->vacant_uses);
	bt_index_allocator_fini(&d->vacant_classes);
	free_arenas(d->slice_arenas, d->view.slice_n);
	free_arenas(d->class_arenas, d->class_n);
	for (uint32_t i = 0; i < d->view.slice_n; i++) {
		bt_mem_free(d->memos[i].answers);
		bt_mem_free(d->memos[i].derived);
	}
	bt_name_refs_release(&d->derived.names);
	bt_arena_fini(&d->derived.arena);
	for (uint32_t i = 0; i < d->view.use_n; i++) {
		bt_mem_free(d->uses[i].consumed);
	}
	for (size_t i = 0; i < d->view.pending_n; i++) {
		bt_arena_fini(&d->pending[i].arena);
		bt_name_refs_release(&d->pending[i].names);
	}
	void *arrays[] = {d->derived.items, d->claims, d->slices, d->classes, d->uses, d->memos,
		d->claim_pending_n, d->free_claims, d->free_slices, d->pending, d->view.marks,
		d->class_serves, d->gone_arenas};
	struct bt_map *maps[] = {&d->view.claim_ixs, &d->view.slice_ixs, &d->view.class_ixs,
		&d->view.resource_classes, &d->use_ixs, &d->shares, &d->expressions, &d->pending_ixs};

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		bt_mem_free(arrays[i]);
	}
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		bt_map_fini(maps[i]);
	}
	bt_pool_index_fini(&d->pools);
	bt_taint_rules_fini(d);
	bt_claiming_groups_fini(d);
	bt_arena_fini(&d->scratch);
	bt_mem_free(d);
}

const struct bt_device_store *bt_devices_view(const struct bt_devices *d)
{
	return &d->view;
}
