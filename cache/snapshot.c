/* SPDX-License-Identifier: Apache-2.0
 * Stage 3: node objects become columns. Descriptions are interned; a node's slot is its name's for ever.
 */
#include "cache/snapshot.h"

#include <stdlib.h>

#include "cache/node_order_int.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"

#define FIRST_SLOTS 64

/* The values of one label key by node slot, as of a version. */
struct label_column {
	uint32_t *values;
	size_t slot_cap;
	uint64_t version;
};

/* What events ask of a node and nobody else does; see struct bt_node_facts. */
struct node_hashes {
	uint64_t conditions, annotations, declared, allocatable, taint_times;
};

struct bt_snapshot_writer {
	struct bt_dictionary *dictionary;
	struct bt_snapshot view;
	size_t slot_cap;
	struct bt_node *nodes;
	struct node_hashes *hashes; /* by slot */
	uint64_t *live;
	int64_t *alloc[BT_RESOURCE_MAX];
	int64_t *alloc_pods;
	struct bt_map slots;	  /* node name -> slot */
	struct bt_map taint_sets; /* hash of the set -> index; sets with equal hashes are compared */
	struct bt_taint_set *sets;
	size_t set_n, set_cap;
	struct bt_map image_ixs; /* image name -> index */
	struct bt_image *images;
	size_t image_n, image_cap;
	struct bt_arena arena; /* labels, taints and image lists */
	struct bt_node_order order;
	struct label_column *columns;
	size_t column_n, column_cap;
	struct bt_map column_ixs; /* label key -> index in columns */
};

struct bt_snapshot_writer *bt_snapshot_create(struct bt_dictionary *dictionary)
{
	struct bt_snapshot_writer *w = bt_mem_zalloc(1, sizeof(*w));

	w->dictionary = dictionary;
	w->sets = bt_mem_grow(NULL, 0, &w->set_cap, sizeof(*w->sets));
	w->sets[0] = (struct bt_taint_set){0};
	w->set_n = 1;
	w->view = (struct bt_snapshot){.dictionary = dictionary, .taint_sets = w->sets, .taint_set_n = 1};
	return w;
}

void bt_snapshot_destroy(struct bt_snapshot_writer *w)
{
	if (!w) {
		return;
	}
	bt_mem_free(w->nodes);
	bt_mem_free(w->hashes);
	bt_mem_free(w->live);
	bt_mem_free(w->alloc_pods);
	for (int r = 0; r < BT_RESOURCE_MAX; r++) {
		bt_mem_free(w->alloc[r]);
	}
	bt_map_fini(&w->slots);
	bt_map_fini(&w->taint_sets);
	bt_map_fini(&w->image_ixs);
	bt_mem_free(w->sets);
	bt_mem_free(w->images);
	bt_arena_fini(&w->arena);
	bt_node_order_fini(&w->order);
	for (size_t i = 0; i < w->column_n; i++) {
		bt_mem_free(w->columns[i].values);
	}
	bt_mem_free(w->columns);
	bt_map_fini(&w->column_ixs);
	bt_mem_free(w);
}

const struct bt_snapshot *bt_snapshot_view(const struct bt_snapshot_writer *w)
{
	return &w->view;
}

static void grow_slots(struct bt_snapshot_writer *w)
{
	size_t old = w->slot_cap, cap = old ? old * 2 : FIRST_SLOTS;
	uint64_t *live = bt_mem_zalloc(bt_bitmap_words(cap), sizeof(*live));

	w->nodes = bt_mem_realloc(w->nodes, cap, sizeof(*w->nodes));
	w->hashes = bt_mem_realloc(w->hashes, cap, sizeof(*w->hashes));
	if (old) {
		memcpy(live, w->live, bt_bitmap_words(old) * sizeof(*live));
	}
	bt_mem_free(w->live);
	w->live = live;
	w->alloc_pods = bt_mem_widen(w->alloc_pods, old, cap);
	for (int r = 0; r < BT_RESOURCE_MAX; r++) {
		if (w->alloc[r]) {
			w->alloc[r] = bt_mem_widen(w->alloc[r], old, cap);
			w->view.alloc[r] = w->alloc[r];
		}
	}
	w->slot_cap = cap;
	w->view.nodes = w->nodes;
	w->view.live = w->live;
	w->view.alloc_pods = w->alloc_pods;
}

uint32_t bt_snapshot_slot(struct bt_snapshot_writer *w, uint32_t name)
{
	uint32_t slot;

	if (bt_map_get(&w->slots, name, &slot)) {
		return slot;
	}
	slot = w->view.slot_n;
	if (slot == w->slot_cap) {
		grow_slots(w);
	}
	w->nodes[slot] = (struct bt_node){.name = name};
	w->view.slot_n++;
	w->view.version++; /* columns get longer */
	bt_map_put(&w->slots, name, slot);
	return slot;
}

uint32_t bt_snapshot_find(const struct bt_snapshot_writer *w, uint32_t name)
{
	uint32_t slot;

	return name && bt_map_get(&w->slots, name, &slot) && bt_bitmap_test(w->live, slot) ? slot
											   : BT_NO_NODE;
}

static struct label_column *column_of(struct bt_snapshot_writer *w, uint32_t key)
{
	uint32_t ix;

	if (!bt_map_get(&w->column_ixs, key, &ix)) {
		w->columns = bt_mem_grow(w->columns, w->column_n, &w->column_cap, sizeof(*w->columns));
		ix = (uint32_t)w->column_n++;
		w->columns[ix] = (struct label_column){0};
		bt_map_put(&w->column_ixs, key, ix);
	}
	return &w->columns[ix];
}

const uint32_t *bt_snapshot_label_column(struct bt_snapshot_writer *w, uint32_t key)
{
	struct label_column *column = column_of(w, key);

	if (column->slot_cap == w->slot_cap && column->version == w->view.version) {
		return column->values;
	}
	bt_mem_free(column->values);
	column->values = bt_mem_column(w->slot_cap, sizeof(*column->values));
	column->slot_cap = w->slot_cap;
	column->version = w->view.version;
	for (uint32_t i = 0; i < w->view.slot_n; i++) {
		column->values[i] = bt_labels_get(w->nodes[i].labels, key);
	}
	return column->values;
}

static int by_index(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static bool same_set(const struct bt_taint_set *set, const struct bt_taint *taints, uint32_t n)
{
	return set->n == n && memcmp(set->items, taints, n * sizeof(*taints)) == 0;
}

static uint32_t intern_taints(struct bt_snapshot_writer *w, const struct bt_node_object *object)
{
	uint32_t n = object->taint_n, ix;

	if (n == 0) {
		return 0;
	}
	struct bt_taint *taints = bt_arena_alloc(&w->arena, n * sizeof(*taints), 8);
	for (uint32_t i = 0; i < n; i++) {
		taints[i] = bt_taint_intern(w->dictionary->intern, &object->taints[i]);
	}
	uint64_t key = bt_hash_bytes(taints, n * sizeof(*taints)) | 1;
	while (bt_map_get(&w->taint_sets, key, &ix)) {
		if (same_set(&w->sets[ix], taints, n)) {
			return ix;
		}
		key += 2;
	}
	w->sets = bt_mem_grow(w->sets, w->set_n, &w->set_cap, sizeof(*w->sets));
	ix = (uint32_t)w->set_n++;
	w->sets[ix] = (struct bt_taint_set){taints, n};
	bt_map_put(&w->taint_sets, key, ix);
	w->view.taint_sets = w->sets;
	w->view.taint_set_n = (uint32_t)w->set_n;
	return ix;
}

static uint32_t image_ix(struct bt_snapshot_writer *w, struct bt_str name)
{
	uint32_t id = bt_intern_add(w->dictionary->intern, name), ix;

	if (bt_map_get(&w->image_ixs, id, &ix)) {
		return ix;
	}
	w->images = bt_mem_grow(w->images, w->image_n, &w->image_cap, sizeof(*w->images));
	ix = (uint32_t)w->image_n++;
	w->images[ix] = (struct bt_image){.name = id};
	bt_map_put(&w->image_ixs, id, ix);
	w->view.images = w->images;
	w->view.image_n = (uint32_t)w->image_n;
	return ix;
}

static void intern_images(
	struct bt_snapshot_writer *w, const struct bt_node_object *object, struct bt_node *node)
{
	size_t limit = 0;
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < object->image_n; i++) {
		limit += object->images[i].names.n;
	}
	uint32_t *ixs = bt_arena_alloc(&w->arena, limit * sizeof(*ixs), 8);
	for (uint32_t i = 0; i < object->image_n; i++) {
		const struct bt_image_object *image = &object->images[i];

		for (uint32_t j = 0; j < image->names.n; j++) {
			uint32_t ix = image_ix(w, image->names.items[j]);

			if (w->images[ix].node_n == 0) {
				w->images[ix].size_bytes = image->size_bytes;
			}
			ixs[n++] = ix;
		}
	}
	if (n) {
		qsort(ixs, n, sizeof(*ixs), by_index);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (kept == 0 || ixs[kept - 1] != ixs[i]) {
			ixs[kept++] = ixs[i];
			w->images[ixs[i]].node_n++;
		}
	}
	node->images = ixs;
	node->image_n = kept;
}

static void forget_images(struct bt_snapshot_writer *w, const struct bt_node *node)
{
	for (uint32_t i = 0; i < node->image_n; i++) {
		w->images[node->images[i]].node_n--;
	}
}

static void clear_allocatable(struct bt_snapshot_writer *w, uint32_t slot)
{
	w->alloc_pods[slot] = 0;
	for (int r = 0; r < BT_RESOURCE_MAX; r++) {
		if (w->alloc[r]) {
			w->alloc[r][slot] = 0;
		}
	}
}

static enum bt_status apply_allocatable(
	struct bt_snapshot_writer *w, const struct bt_resource_list *list, uint32_t slot)
{
	enum bt_status status = BT_OK;

	clear_allocatable(w, slot);
	for (uint32_t i = 0; i < list->n; i++) {
		int r = bt_resource_slot(w->dictionary, list->items[i].name);

		if (r == BT_SLOT_FULL) {
			status = BT_FULL;
		}
		if (r == BT_SLOT_PODS) {
			w->alloc_pods[slot] = bt_quantity_value(list->items[i].quantity);
		}
		if (r < 0) {
			continue;
		}
		if (!w->alloc[r]) {
			w->alloc[r] = bt_mem_column(w->slot_cap, sizeof(*w->alloc[r]));
			w->view.alloc[r] = w->alloc[r];
		}
		w->alloc[r][slot] = bt_resource_amount((uint32_t)r, list->items[i].quantity);
	}
	return status;
}

/* A node's zone as upstream keys it: region and zone, the old labels before the new ones; 0 when both are
 * empty. */
static uint64_t zone_of(const struct bt_node *node)
{
	uint32_t zone = bt_labels_get(node->labels, BT_NAME_BETA_ZONE);
	uint32_t region = bt_labels_get(node->labels, BT_NAME_BETA_REGION);

	zone = zone ? zone : bt_labels_get(node->labels, BT_NAME_ZONE);
	region = region ? region : bt_labels_get(node->labels, BT_NAME_REGION);
	zone = zone == BT_NAME_EMPTY ? BT_NAME_NONE : zone;
	region = region == BT_NAME_EMPTY ? BT_NAME_NONE : region;
	return (uint64_t)region << 32 | zone;
}

const uint32_t *bt_snapshot_order(struct bt_snapshot_writer *w)
{
	return bt_node_order_list(&w->order);
}

/* ---- what events ask ---- */

static uint64_t hash_text(struct bt_str text)
{
	return bt_hash_bytes(text.ptr, text.len);
}

/* The hash of one entry of a map; those of a map are added up, so that their order does not matter. */
static uint64_t hash_entry(uint64_t key, uint64_t value)
{
	return bt_hash_u64(key + bt_hash_u64(value ^ UINT64_C(0x9e3779b97f4a7c15)));
}

/* By type; the last of several with the same type counts. */
static uint64_t hash_conditions(const struct bt_node_object *object)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < object->condition_n; i++) {
		const struct bt_condition_object *condition = &object->conditions[i];
		bool last = true;

		for (uint32_t j = i + 1; j < object->condition_n; j++) {
			last &= !bt_str_eq(object->conditions[j].type, condition->type);
		}
		sum += last ? hash_entry(hash_text(condition->type), hash_text(condition->status)) : 0;
	}
	return sum;
}

static uint64_t hash_allocatable(const struct bt_resource_list *list)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		__extension__ __int128 nano = list->items[i].quantity.nano;

		sum += hash_entry(hash_text(list->items[i].name), bt_hash_bytes(&nano, sizeof(nano)));
	}
	return sum;
}

static struct node_hashes hash_node(const struct bt_node_object *object)
{
	struct node_hashes hashes = {
		.conditions = hash_conditions(object),
		.allocatable = hash_allocatable(&object->allocatable),
	};

	for (uint32_t i = 0; i < object->meta.annotations.n; i++) {
		const struct bt_str_pair *pair = &object->meta.annotations.items[i];

		hashes.annotations += hash_entry(hash_text(pair->key), hash_text(pair->value));
	}
	for (uint32_t i = 0; i < object->declared_features.n; i++) {
		hashes.declared = hash_entry(hashes.declared, hash_text(object->declared_features.items[i]));
	}
	for (uint32_t i = 0; i < object->taint_n; i++) {
		hashes.taint_times = hash_entry(hashes.taint_times, (uint64_t)object->taints[i].added_ns);
	}
	return hashes;
}

static void *keep(struct bt_arena *arena, const void *items, uint32_t n, size_t size)
{
	void *copy = bt_arena_alloc(arena, n * size, 8);

	if (n) {
		memcpy(copy, items, n * size);
	}
	return copy;
}

static struct bt_amounts allocatable_of(
	const struct bt_snapshot_writer *w, uint32_t node_ix, struct bt_arena *arena)
{
	struct bt_amount items[BT_RESOURCE_MAX];
	uint32_t n = 0;

	for (uint32_t r = 0; r < BT_RESOURCE_MAX; r++) {
		if (bt_column_get(w->alloc[r], node_ix) != 0) {
			items[n++] = (struct bt_amount){r, w->alloc[r][node_ix]};
		}
	}
	return (struct bt_amounts){keep(arena, items, n, sizeof(*items)), n};
}

void bt_node_facts_of(const struct bt_snapshot_writer *w, uint32_t node_ix, struct bt_arena *arena,
	struct bt_node_facts *out)
{
	const struct bt_node *node = &w->nodes[node_ix];
	const struct bt_taint_set *set = &w->sets[node->taint_set];
	const struct node_hashes *hashes = &w->hashes[node_ix];

	BT_REQUIRE(bt_bitmap_test(w->live, node_ix));
	*out = (struct bt_node_facts){
		.name = node->name,
		.labels = {keep(arena, node->labels.items, node->labels.n, sizeof(struct bt_label)),
			node->labels.n},
		.taints = keep(arena, set->items, set->n, sizeof(struct bt_taint)),
		.taint_n = set->n,
		.unschedulable = node->unschedulable,
		.features = node->features,
		.alloc = allocatable_of(w, node_ix, arena),
		.alloc_pods = w->alloc_pods[node_ix],
		.conditions = hashes->conditions,
		.annotations = hashes->annotations,
		.declared = hashes->declared,
		.allocatable = hashes->allocatable,
		.taint_times = hashes->taint_times,
	};
}

enum bt_status bt_snapshot_apply(
	struct bt_snapshot_writer *w, const struct bt_node_object *object, uint32_t *out_ix)
{
	uint32_t slot = bt_snapshot_slot(w, bt_intern_add(w->dictionary->intern, object->meta.name));
	struct bt_node *node = &w->nodes[slot];

	if (bt_bitmap_test(w->live, slot)) {
		forget_images(w, node);
	} else {
		bt_bitmap_set(w->live, slot);
		w->view.node_n++;
	}
	node->labels = bt_labels_intern(w->dictionary->intern, &w->arena, &object->meta.labels);
	node->taint_set = intern_taints(w, object);
	node->unschedulable = object->unschedulable;
	intern_images(w, object, node);
	node->features = bt_features_declared(&object->declared_features);
	w->hashes[slot] = hash_node(object);
	enum bt_status status = apply_allocatable(w, &object->allocatable, slot);
	bt_node_order_put(&w->order, slot, zone_of(node));
	w->view.version++;
	*out_ix = slot;
	return status;
}

void bt_snapshot_touch(struct bt_snapshot_writer *w)
{
	w->view.version++;
}

enum bt_status bt_snapshot_remove(struct bt_snapshot_writer *w, uint32_t name)
{
	uint32_t slot = bt_snapshot_find(w, name);

	if (slot == BT_NO_NODE) {
		return BT_NOT_FOUND;
	}
	forget_images(w, &w->nodes[slot]);
	bt_node_order_remove(&w->order, slot);
	bt_bitmap_clear(w->live, slot);
	clear_allocatable(w, slot);
	w->nodes[slot] = (struct bt_node){.name = name};
	w->view.node_n--;
	w->view.version++;
	return BT_OK;
}
