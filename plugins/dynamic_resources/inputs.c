/* SPDX-License-Identifier: Apache-2.0
 * Copies of the device state that PreFilter has read.
 */
#include "plugins/dynamic_resources/inputs.h"

#include "cache/node_view.h"
#include "engine/base/check.h"

struct bt_device_inputs {
	const struct bt_device_store *now;
	const struct bt_resource_slice *slices;
	const struct bt_device_use *uses;
	const struct bt_device_taint_rule *taint_rules;
	uint32_t slice_n, use_n, taint_rule_n;
	uint32_t *marks;
	const struct bt_device_pools *pools; /* by node slot */
	uint32_t slot_n;
};

static void *copy(struct bt_arena *arena, const void *items, size_t bytes)
{
	void *kept = bt_arena_alloc(arena, bytes, 16);

	if (bytes) {
		memcpy(kept, items, bytes);
	}
	return kept;
}

static const struct bt_device_use *copy_uses(const struct bt_device_store *store)
{
	struct bt_device_use *uses = copy(store->scratch, store->uses, store->use_n * sizeof(*uses));

	for (uint32_t i = 0; i < store->use_n; i++) {
		uses[i].consumed = copy(
			store->scratch, uses[i].consumed, uses[i].consumed_n * sizeof(*uses[i].consumed));
	}
	return uses;
}

static struct bt_device_pools copy_pools(struct bt_arena *scratch, const struct bt_device_pools *from)
{
	struct bt_device_pool *pools = copy(scratch, from->items, from->n * sizeof(*pools));

	for (uint32_t i = 0; i < from->n; i++) {
		struct bt_device_pool *pool = &pools[i];

		pool->slices = copy(scratch, pool->slices, pool->slice_n * sizeof(*pool->slices));
		pool->others = copy(scratch, pool->others, pool->other_n * sizeof(*pool->others));
		pool->counters = copy(scratch, pool->counters, pool->counter_n * sizeof(*pool->counters));
	}
	return (struct bt_device_pools){pools, from->n};
}

static const struct bt_device_pools *copy_pools_of_nodes(const struct bt_view *view)
{
	const struct bt_device_store *store = view->devices;
	uint32_t slot_n = view->snapshot->slot_n;
	struct bt_device_pools *pools = bt_arena_zalloc(store->scratch, slot_n * sizeof(*pools));

	for (uint32_t slot = 0; slot < slot_n; slot++) {
		if (bt_bitmap_test(view->snapshot->live, slot)) {
			pools[slot] = copy_pools(store->scratch, store->calls->pools(store->context, slot));
		}
	}
	return pools;
}

struct bt_device_inputs *bt_device_inputs_keep(const struct bt_view *view)
{
	const struct bt_device_store *store = view->devices;
	struct bt_device_inputs *inputs = bt_arena_zalloc(store->scratch, sizeof(*inputs));

	BT_REQUIRE(store->use_n == 0 || store->uses);
	*inputs = (struct bt_device_inputs){
		.now = store,
		.slices = copy(store->scratch, store->slices, store->slice_n * sizeof(*store->slices)),
		.slice_n = store->slice_n,
		.uses = copy_uses(store),
		.use_n = store->use_n,
		.taint_rules = copy(store->scratch, store->taint_rules,
			store->taint_rule_n * sizeof(*store->taint_rules)),
		.taint_rule_n = store->taint_rule_n,
		.marks = bt_arena_zalloc(store->scratch, store->use_n * sizeof(*store->marks)),
		.pools = copy_pools_of_nodes(view),
		.slot_n = view->snapshot->slot_n,
	};
	return inputs;
}

static const struct bt_device_pools *kept_pools(void *context, uint32_t node_ix)
{
	const struct bt_device_inputs *inputs = context;

	BT_REQUIRE_HOT(node_ix < inputs->slot_n);
	return &inputs->pools[node_ix];
}

static const uint32_t *kept_slices_of(void *context, uint32_t driver, uint32_t pool, uint32_t *out_n)
{
	const struct bt_device_inputs *inputs = context;
	uint32_t *slices = bt_arena_alloc(inputs->now->scratch, inputs->slice_n * sizeof(*slices), 8), n = 0;

	for (uint32_t i = 0; i < inputs->slice_n; i++) {
		const struct bt_resource_slice *slice = &inputs->slices[i];

		if (slice->live && slice->driver == driver && slice->pool == pool) {
			slices[n++] = i;
		}
	}
	*out_n = n;
	return slices;
}

static const struct bt_allocation *sharing_now(void *context, uint32_t claim_ix)
{
	const struct bt_device_inputs *inputs = context;

	return inputs->now->calls->sharing(inputs->now->context, claim_ix);
}

static const struct bt_taint *kept_next_taint(void *context, const struct bt_resource_slice *slice,
	const struct bt_device *device, uint32_t *cursor)
{
	const struct bt_device_inputs *inputs = context;

	for (uint32_t i = *cursor == BT_NO_TAINT_RULE ? 0 : *cursor + 1; i < inputs->taint_rule_n; i++) {
		if (bt_device_taint_rule_covers(&inputs->taint_rules[i], slice, device)) {
			*cursor = i;
			return &inputs->taint_rules[i].taint;
		}
	}
	return NULL;
}

static enum bt_device_answer match_now(void *context, uint32_t expression, uint32_t driver,
	const struct bt_device *device, bool single, struct bt_buf *out_error)
{
	const struct bt_device_inputs *inputs = context;

	return inputs->now->calls->match(inputs->now->context, expression, driver, device, single, out_error);
}

static enum bt_device_answer derive_now(void *context, uint32_t expression, uint32_t driver,
	const struct bt_device *device, const struct bt_attribute **out_value, struct bt_buf *out_error)
{
	const struct bt_device_inputs *inputs = context;

	return inputs->now->calls->derive(
		inputs->now->context, expression, driver, device, out_value, out_error);
}

static const struct bt_device_calls kept_calls = {
	kept_pools, kept_slices_of, kept_next_taint, sharing_now, match_now, derive_now};

struct bt_device_store bt_device_inputs_store(struct bt_device_inputs *inputs)
{
	struct bt_device_store store = *inputs->now;

	store.slices = inputs->slices;
	store.slice_n = inputs->slice_n;
	store.uses = inputs->uses;
	store.use_n = inputs->use_n;
	store.marks = inputs->marks;
	store.claims = NULL;
	store.claim_n = 0;
	store.context = inputs;
	store.calls = &kept_calls;
	return store;
}
