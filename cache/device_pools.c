/* SPDX-License-Identifier: Apache-2.0
 * The pools that a node can reach. Computed on first use, invalidated when a slice or the node changes.
 * Source: GatherPools of structured/internal/incubating, v1.36.3.
 */
#include <stdlib.h>

#include "cache/devices_int.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"

/* ---- slices by key ---- */

struct keyed {
	uint64_t key;
	uint32_t ix;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->key != y->key) {
		return x->key < y->key ? -1 : 1;
	}
	return x->ix < y->ix ? -1 : x->ix > y->ix;
}

static void fill_index(struct bt_slice_index *index, struct keyed *slices, size_t n)
{
	bt_map_fini(&index->first);
	index->items = bt_mem_realloc(index->items, n, sizeof(*index->items));
	index->n = n;
	if (n) {
		qsort(slices, n, sizeof(*slices), by_key);
	}
	for (size_t i = 0; i < n; i++) {
		index->items[i] = slices[i].ix;
		if (i == 0 || slices[i - 1].key != slices[i].key) {
			bt_map_put(&index->first, slices[i].key, (uint32_t)i);
		}
	}
	BT_INVARIANT(n == 0 || index->first.count > 0);
}

static uint64_t pool_key(const struct bt_resource_slice *slice)
{
	return bt_pair_key(slice->driver, slice->pool);
}

/* Does a slice with counters belong to its pool on every node, whichever nodes it names? */
static bool counters_reach_all(const struct bt_devices *d)
{
	return bt_release_has(d->view.features.release, BT_RULE_COUNTERS_REACH_EVERY_NODE);
}

/* Is the slice for a single node? */
static bool is_local(const struct bt_devices *d, const struct bt_resource_slice *slice)
{
	return slice->node_name && !(slice->counter_set_n && counters_reach_all(d));
}

static void index_slices(struct bt_devices *d)
{
	struct bt_pool_index *index = &d->pools;
	struct keyed *local = bt_mem_zalloc(d->view.slice_n, sizeof(*local));
	struct keyed *pooled = bt_mem_zalloc(d->view.slice_n, sizeof(*pooled));
	size_t local_n = 0, pooled_n = 0;

	index->shared = bt_mem_realloc(index->shared, d->view.slice_n, sizeof(*index->shared));
	index->shared_n = 0;
	for (uint32_t i = 0; i < d->view.slice_n; i++) {
		const struct bt_resource_slice *slice = &d->slices[i];

		if (!slice->live) {
			continue;
		}
		pooled[pooled_n++] = (struct keyed){pool_key(slice), i};
		if (is_local(d, slice)) {
			local[local_n++] = (struct keyed){slice->node_name, i};
		} else {
			index->shared[index->shared_n++] = i;
		}
	}
	fill_index(&index->local, local, local_n);
	fill_index(&index->pooled, pooled, pooled_n);
	bt_mem_free(local);
	bt_mem_free(pooled);
}

void bt_pool_index_fini(struct bt_pool_index *index)
{
	bt_map_fini(&index->local.first);
	bt_map_fini(&index->pooled.first);
	bt_mem_free(index->local.items);
	bt_mem_free(index->pooled.items);
	bt_mem_free(index->shared);
	bt_mem_free(index->nodes);
	bt_mem_free(index->relevant);
	bt_arena_fini(&index->arena);
}

/* ---- one pool ---- */

static bool any_equal(const uint32_t *names, uint32_t n, uint32_t name)
{
	for (uint32_t i = 0; i < n; i++) {
		if (names[i] == name) {
			return true;
		}
	}
	return false;
}

/* Slices of one pool, by use. */
struct pool_draft {
	struct bt_devices *d;
	const uint32_t *slices; /* that the node can reach, by name */
	uint32_t slice_n;
	uint32_t *offering, *counting; /* with devices, with counter sets */
	uint32_t offering_n, counting_n;
	uint32_t *others;
	uint32_t other_n;
};

static bool names_differ(const struct pool_draft *draft)
{
	struct bt_map seen = {0};
	bool differ = true;

	for (uint32_t i = 0; i < draft->offering_n && differ; i++) {
		const struct bt_resource_slice *slice = &draft->d->slices[draft->offering[i]];

		for (uint32_t j = 0; j < slice->device_n && differ; j++) {
			uint32_t there;

			differ = !bt_map_get(&seen, slice->devices[j].name, &there);
			bt_map_put(&seen, slice->devices[j].name, j);
		}
	}
	bt_map_fini(&seen);
	return differ;
}

static bool sets_differ(const struct pool_draft *draft)
{
	for (uint32_t i = 0; i < draft->counting_n; i++) {
		const struct bt_resource_slice *slice = &draft->d->slices[draft->counting[i]];

		for (uint32_t j = 0; j < slice->counter_set_n; j++) {
			bool twice = any_equal(slice->counter_sets, j, slice->counter_sets[j]);

			for (uint32_t k = 0; k < i; k++) {
				const struct bt_resource_slice *before =
					&draft->d->slices[draft->counting[k]];

				twice |= any_equal(
					before->counter_sets, before->counter_set_n, slice->counter_sets[j]);
			}
			if (twice) {
				return false;
			}
		}
	}
	return true;
}

static bool has_counter(const struct pool_draft *draft, const struct bt_counter *counter)
{
	for (uint32_t i = 0; i < draft->counting_n; i++) {
		const struct bt_resource_slice *slice = &draft->d->slices[draft->counting[i]];

		for (uint32_t j = 0; j < slice->counter_n; j++) {
			if (slice->counters[j].set == counter->set &&
				slice->counters[j].name == counter->name) {
				return true;
			}
		}
	}
	return false;
}

/* Do all counters that devices consume exist? */
static bool counters_exist(const struct pool_draft *draft, const uint32_t *slices, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct bt_resource_slice *slice = &draft->d->slices[slices[i]];

		for (uint32_t j = 0; j < slice->device_n; j++) {
			for (uint32_t k = 0; k < slice->devices[j].counter_n; k++) {
				if (!has_counter(draft, &slice->devices[j].counters[k])) {
					return false;
				}
			}
		}
	}
	return true;
}

static bool valid(const struct pool_draft *draft)
{
	return names_differ(draft) &&
	       (!draft->d->view.features.partitionable ||
		       (sets_differ(draft) && counters_exist(draft, draft->slices, draft->slice_n) &&
			       counters_exist(draft, draft->others, draft->other_n)));
}

static void keep_counters(const struct pool_draft *draft, struct bt_device_pool *pool)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < draft->counting_n; i++) {
		n += draft->d->slices[draft->counting[i]].counter_n;
	}
	struct bt_counter *counters = bt_arena_alloc(&draft->d->pools.arena, n * sizeof(*counters), 16);
	for (uint32_t i = 0; i < draft->counting_n; i++) {
		const struct bt_resource_slice *slice = &draft->d->slices[draft->counting[i]];

		if (slice->counter_n) {
			memcpy(counters + pool->counter_n, slice->counters,
				slice->counter_n * sizeof(*counters));
		}
		pool->counter_n += slice->counter_n;
	}
	pool->counters = counters;
}

/* Is the slice ignored? It has compatibility groups without the gate. */
static bool overlooked(const struct bt_devices *d, const struct bt_resource_slice *slice)
{
	return slice->has_groups && !d->view.features.compatibility_groups &&
	       bt_release_has(d->view.features.release, BT_RULE_GROUPS_HIDE_SLICES);
}

/* The number of slices of a generation; 0 if there is a newer one. */
static uint32_t count_generation(struct bt_devices *d, const struct bt_resource_slice *of)
{
	const struct bt_slice_index *index = &d->pools.pooled;
	uint32_t at = 0, n = 0;

	BT_INVARIANT(pool_key(of) != 0);
	bt_map_get(&index->first, pool_key(of), &at);
	for (; at < index->n && pool_key(&d->slices[index->items[at]]) == pool_key(of); at++) {
		const struct bt_resource_slice *slice = &d->slices[index->items[at]];

		if (slice->generation > of->generation) {
			return 0;
		}
		n += slice->generation == of->generation && !overlooked(d, slice);
	}
	return n;
}

/* Finds the slices of the generation that the node cannot reach. */
static void find_others(struct pool_draft *draft, uint32_t all_n)
{
	struct bt_devices *d = draft->d;
	const struct bt_resource_slice *of = &d->slices[draft->slices[0]];
	const struct bt_slice_index *index = &d->pools.pooled;
	uint32_t at = 0;

	draft->others = bt_arena_alloc(&d->pools.arena, all_n * sizeof(*draft->others), 8);
	bt_map_get(&index->first, pool_key(of), &at);
	for (; at < index->n && pool_key(&d->slices[index->items[at]]) == pool_key(of); at++) {
		if (d->slices[index->items[at]].generation == of->generation &&
			!overlooked(d, &d->slices[index->items[at]]) &&
			!any_equal(draft->slices, draft->slice_n, index->items[at])) {
			draft->others[draft->other_n++] = index->items[at];
		}
	}
	BT_INVARIANT(draft->other_n <= all_n);
}

static void split(struct pool_draft *draft)
{
	struct bt_devices *d = draft->d;

	draft->offering = bt_arena_alloc(&d->pools.arena, draft->slice_n * sizeof(*draft->offering), 8);
	draft->counting = bt_arena_alloc(
		&d->pools.arena, (draft->slice_n + draft->other_n) * sizeof(*draft->counting), 8);
	for (uint32_t i = 0; i < draft->slice_n; i++) {
		if (d->view.features.partitionable && d->slices[draft->slices[i]].counter_set_n) {
			draft->counting[draft->counting_n++] = draft->slices[i];
		} else {
			draft->offering[draft->offering_n++] = draft->slices[i];
		}
	}
	BT_INVARIANT(draft->offering_n + draft->counting_n == draft->slice_n);
	/* Devices of the node may consume counters that only other nodes' slices define. */
	uint32_t others_n = 0;
	for (uint32_t i = 0; i < draft->other_n; i++) {
		if (d->slices[draft->others[i]].counter_set_n) {
			draft->counting[draft->counting_n++] = draft->others[i];
		} else {
			draft->others[others_n++] = draft->others[i];
		}
	}
	draft->other_n = others_n;
}

/* The slice whose resourceSliceCount applies: the first one, single-node slices before others. Source:
 * Allocate, v1.36.3. */
static const struct bt_resource_slice *first_of(
	const struct bt_devices *d, const uint32_t *slices, uint32_t slice_n)
{
	BT_INVARIANT(slice_n > 0);
	const struct bt_resource_slice *first = &d->slices[slices[0]];

	for (uint32_t i = 1; i < slice_n; i++) {
		const struct bt_resource_slice *slice = &d->slices[slices[i]];

		if (is_local(d, slice) != is_local(d, first) ? is_local(d, slice) : slice < first) {
			first = slice;
		}
	}
	return first;
}

/* Builds a pool from the newest generation's slices that the node can reach. Returns false when these
 * slices are outdated. */
static bool make_pool(
	struct bt_devices *d, const uint32_t *slices, uint32_t slice_n, struct bt_device_pool *pool)
{
	struct pool_draft draft = {.d = d, .slices = slices, .slice_n = slice_n};
	const struct bt_resource_slice *first = first_of(d, slices, slice_n);

	*pool = (struct bt_device_pool){.driver = first->driver, .pool = first->pool};
	if (slice_n != first->slice_count) {
		uint32_t all_n = count_generation(d, first);

		if (all_n == 0) {
			return false;
		}
		pool->incomplete = all_n != first->slice_count;
		if (!pool->incomplete && all_n != slice_n && d->view.features.partitionable) {
			find_others(&draft, all_n);
		}
	}
	if (pool->incomplete) {
		return true;
	}
	split(&draft);
	pool->invalid = !valid(&draft);
	if (!pool->invalid) {
		pool->slices = draft.offering;
		pool->slice_n = draft.offering_n;
		pool->others = draft.others;
		pool->other_n = draft.other_n;
		keep_counters(&draft, pool);
	}
	BT_INVARIANT(pool->invalid || pool->slice_n <= slice_n);
	return true;
}

static bool has_binding_conditions(const struct bt_devices *d, const struct bt_device_pool *pool)
{
	for (uint32_t i = 0; i < pool->slice_n; i++) {
		const struct bt_resource_slice *slice = &d->slices[pool->slices[i]];

		for (uint32_t j = 0; j < slice->device_n; j++) {
			if (slice->devices[j].has_binding_conditions) {
				return true;
			}
		}
	}
	return false;
}

/* ---- the pools of a node ---- */

/* Can the node reach any device of the slice? Source: GatherPools, v1.36.3. */
static bool relevant(const struct bt_devices *d, const struct bt_resource_slice *slice, uint32_t node_ix)
{
	if ((!d->view.features.partitionable && (slice->has_per_device || slice->counter_set_n)) ||
		overlooked(d, slice)) {
		return false;
	}
	if (slice->counter_set_n && counters_reach_all(d)) {
		return true;
	}
	if (slice->node_name || slice->all_nodes || slice->has_selector) {
		return bt_device_reaches(d->snapshot, node_ix, slice->node_name, slice->all_nodes,
			slice->has_selector ? &slice->selector : NULL);
	}
	for (uint32_t i = 0; slice->per_device && i < slice->device_n; i++) {
		const struct bt_device *device = &slice->devices[i];

		if (bt_device_reaches(d->snapshot, node_ix, device->node_name, device->all_nodes,
			    device->has_selector ? &device->selector : NULL)) {
			return true;
		}
	}
	return false;
}

static void add_relevant(struct bt_devices *d, uint32_t slice_ix, uint32_t node_ix, uint32_t *n)
{
	struct bt_pool_index *index = &d->pools;

	if (relevant(d, &d->slices[slice_ix], node_ix)) {
		index->relevant =
			bt_mem_grow(index->relevant, *n, &index->relevant_cap, sizeof(*index->relevant));
		index->relevant[(*n)++] = slice_ix;
	}
}

/* Orders by driver, pool, generation (newest first) and name. */
static int order_slices(const void *a, const void *b, void *context)
{
	const struct bt_devices *d = context;
	const struct bt_intern *intern = d->dictionary->intern;
	const struct bt_resource_slice *x = &d->slices[*(const uint32_t *)a],
				       *y = &d->slices[*(const uint32_t *)b];
	int order = bt_str_cmp(bt_intern_str(intern, x->driver), bt_intern_str(intern, y->driver));

	order = order ? order : bt_str_cmp(bt_intern_str(intern, x->pool), bt_intern_str(intern, y->pool));
	if (order == 0 && x->generation != y->generation) {
		return x->generation > y->generation ? -1 : 1;
	}
	return order ? order : bt_str_cmp(bt_intern_str(intern, x->name), bt_intern_str(intern, y->name));
}

/* Collects the slices that concern the node, in order. Returns their number. */
static uint32_t collect(struct bt_devices *d, uint32_t node_ix)
{
	const struct bt_pool_index *index = &d->pools;
	uint32_t n = 0, at = 0, name = d->snapshot->nodes[node_ix].name;

	if (bt_map_get(&index->local.first, name, &at)) {
		for (; at < index->local.n && d->slices[index->local.items[at]].node_name == name; at++) {
			add_relevant(d, index->local.items[at], node_ix, &n);
		}
	}
	for (size_t i = 0; i < index->shared_n; i++) {
		add_relevant(d, index->shared[i], node_ix, &n);
	}
	if (n) {
		qsort_r(index->relevant, n, sizeof(*index->relevant), order_slices, d);
	}
	return n;
}

static struct bt_device_pools gather(struct bt_devices *d, uint32_t node_ix)
{
	uint32_t n = collect(d, node_ix), plain_n = 0, late_n = 0;
	uint32_t *kept = bt_arena_alloc(&d->pools.arena, n * sizeof(*kept), 8);
	struct bt_device_pool *plain = bt_arena_alloc(&d->pools.arena, n * sizeof(*plain), 16),
			      *late = bt_arena_alloc(&d->pools.arena, n * sizeof(*late), 16);

	if (n) {
		memcpy(kept, d->pools.relevant, n * sizeof(*kept));
	}
	for (uint32_t from = 0, to; from < n; from = to) {
		const struct bt_resource_slice *first = &d->slices[kept[from]];
		struct bt_device_pool pool;
		uint32_t newest;

		for (to = from, newest = 0; to < n && pool_key(&d->slices[kept[to]]) == pool_key(first);
			to++) {
			newest += d->slices[kept[to]].generation == first->generation;
		}
		BT_INVARIANT(newest > 0 && to > from);
		if (!make_pool(d, kept + from, newest, &pool)) {
			continue;
		}
		if (has_binding_conditions(d, &pool)) {
			late[late_n++] = pool;
		} else {
			plain[plain_n++] = pool;
		}
	}
	if (late_n) {
		memcpy(plain + plain_n, late, late_n * sizeof(*late));
	}
	BT_INVARIANT(plain_n + late_n <= n);
	return (struct bt_device_pools){.items = plain, .n = plain_n + late_n};
}

static void refresh_index(struct bt_devices *d)
{
	if (d->pools.indexed != d->slice_version) {
		index_slices(d);
		d->pools.indexed = d->slice_version;
	}
}

const uint32_t *bt_devices_slices(struct bt_devices *d, uint32_t driver, uint32_t pool, uint32_t *out_n)
{
	const struct bt_slice_index *index = &d->pools.pooled;
	uint64_t key = bt_pair_key(driver, pool);
	uint32_t first, n = 0;

	refresh_index(d);
	*out_n = 0;
	if (!bt_map_get(&index->first, key, &first)) {
		return NULL;
	}
	while (first + n < index->n && pool_key(&d->slices[index->items[first + n]]) == key) {
		n++;
	}
	*out_n = n;
	return &index->items[first];
}

const struct bt_device_pools *bt_devices_pools(struct bt_devices *d, uint32_t node_ix)
{
	struct bt_pool_index *index = &d->pools;

	refresh_index(d);
	if (index->slices != d->slice_version || index->snapshot != d->snapshot->version ||
		d->snapshot->slot_n > index->node_cap) {
		index->slices = d->slice_version;
		index->snapshot = d->snapshot->version;
		index->node_cap = d->snapshot->slot_n;
		bt_mem_free(index->nodes);
		index->nodes = bt_mem_zalloc(index->node_cap, sizeof(*index->nodes));
		bt_arena_reset(&index->arena);
	}
	BT_REQUIRE_HOT(node_ix < index->node_cap);
	if (!index->nodes[node_ix].known) {
		index->nodes[node_ix] = (struct bt_node_pools){.is = gather(d, node_ix), .known = true};
	}
	return &index->nodes[node_ix].is;
}

void bt_devices_forget_nodes(struct bt_devices *d)
{
	BT_OWNED_BY_THREAD(&d->snapshot->owner);
	bt_mem_free(d->pools.nodes);
	d->pools.nodes = NULL;
	d->pools.node_cap = 0;
	bt_arena_reset(&d->pools.arena);
}
