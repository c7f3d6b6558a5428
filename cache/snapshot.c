/* SPDX-License-Identifier: Apache-2.0
 * Stage 3: builds columns from node descriptions. A slot stays bound to its name until the node is deleted
 * and no pod keeps the slot (I7).
 */
#include "cache/snapshot.h"

#include "cache/node_change.h"
#include "cache/node_order_int.h"
#include "engine/base/index_allocator.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"

#define FIRST_SLOTS 64
/* Apart from kept slots, at most this part of the named slots, and of all slots, may belong to nodes that are
 * not live; beyond that the slots are scanned. */
#define DEAD_PART 8
#define LOOK_PART 512
/* VACANT_FEW slots may always be vacant. Slots are dense again when at most 1/DENSE_PART as many are vacant
 * as are named. */
#define VACANT_FEW 2
#define DENSE_PART 8
/* Data by slot has room for 1/ROOM_PART more slots, and at least for ROOM_LEAST; a multiple of that. */
#define ROOM_PART  32
#define ROOM_LEAST 64

/* A power of two, more than the nodes that change between two cycles. */
#define CHANGES_N 4096

/* After so many walks over the nodes for one image each, the next walk is for all images that have no bitmap,
 * if these bitmaps take no more than so many bytes. */
#define IMAGE_WALKS 4
#define IMAGE_BYTES ((size_t)16 << 20)

/* Of images: a node brings about fifty. */
#define IMAGE_CHANGES_N 16384

/* The values of one label key by node slot; valid in one layout. */
struct label_column {
	uint32_t key;
	uint32_t *values;
	size_t slot_cap;
	uint64_t layout_version;
};

/* Users of a taint set. */
struct taint_use {
	uint64_t key;	 /* a hash of the set */
	uint32_t node_n; /* live nodes that have it */
	uint32_t next;	 /* the next set with that key; 0: none */
};

struct bt_snapshot_writer {
	struct bt_dictionary *dictionary;
	struct bt_snapshot view;
	size_t slot_cap;
	struct bt_node *nodes;
	const struct bt_node_desc **descs; /* by slot; NULL: not live */
	uint64_t *live;
	struct bt_node_room *rooms;
	uint32_t *changes;
	int64_t *scalars[BT_FIRST_RARE];
	struct bt_rare *rare; /* by slot, pointing into descriptions; NULL: none so far */
	struct bt_map slots;  /* node name -> slot */
	struct bt_index_allocator vacant_slots;
	uint32_t kept_n; /* number of slots of nodes that are not live that were kept the last time */
	uint64_t left_n; /* left_n at that time */
	bool gathers;	 /* nodes are being compacted to lower slots */
	uint64_t move_n;
	struct bt_map taint_sets; /* hash of a set -> first set with that hash */
	struct bt_taint_set *sets;
	struct taint_use *taint_uses; /* by set */
	size_t set_n, set_cap, use_cap;
	struct bt_index_allocator vacant_sets;
	struct bt_map image_ixs; /* image name -> index */
	struct bt_image *images;
	uint64_t **image_nodes; /* bitmap of slots by image; NULL: not built yet */
	size_t image_n, image_cap, image_nodes_cap;
	uint32_t image_walk_n; /* walks for one image since the last one for all */
	struct bt_index_allocator vacant_images;
	uint64_t image_stamps[BT_IMAGE_STAMPS];
	struct bt_image_change *image_changes;
	struct bt_node_order order;
	struct label_column *columns;
	size_t column_n, column_cap;
	struct bt_map column_ixs; /* label key -> index in columns */
	bool frozen, entered;	  /* entered: slots were assigned since then */
};

struct bt_snapshot_writer *bt_snapshot_create(struct bt_dictionary *dictionary)
{
	struct bt_snapshot_writer *w = bt_mem_zalloc(1, sizeof(*w));

	BT_REQUIRE(dictionary);
	w->dictionary = dictionary;
	w->sets = bt_mem_grow(NULL, 0, &w->set_cap, sizeof(*w->sets));
	w->taint_uses = bt_mem_grow(NULL, 0, &w->use_cap, sizeof(*w->taint_uses));
	w->sets[0] = (struct bt_taint_set){0};
	w->taint_uses[0] = (struct taint_use){0};
	w->set_n = 1;
	w->changes = bt_mem_zalloc(CHANGES_N, sizeof(*w->changes));
	w->image_changes = bt_mem_zalloc(IMAGE_CHANGES_N, sizeof(*w->image_changes));
	w->view = (struct bt_snapshot){.dictionary = dictionary,
		.changes = w->changes,
		.changes_mask = CHANGES_N - 1,
		.taint_sets = w->sets,
		.taint_set_n = 1,
		.image_stamps = w->image_stamps,
		.image_changes = w->image_changes,
		.image_changes_mask = IMAGE_CHANGES_N - 1};
	return w;
}

struct bt_owner *bt_snapshot_owner(struct bt_snapshot_writer *w)
{
	return &w->view.owner;
}

void bt_snapshot_destroy(struct bt_snapshot_writer *w)
{
	if (!w) {
		return;
	}
	bt_snapshot_forget_columns(w);
	bt_mem_free(w->nodes);
	bt_mem_free(w->descs);
	bt_mem_free(w->live);
	bt_mem_free(w->rooms);
	bt_mem_free(w->changes);
	bt_mem_free(w->image_changes);
	bt_mem_free(w->rare);
	for (int r = 0; r < BT_FIRST_RARE; r++) {
		bt_mem_free(w->scalars[r]);
	}
	bt_index_allocator_fini(&w->vacant_slots);
	bt_map_fini(&w->slots);
	bt_map_fini(&w->taint_sets);
	bt_map_fini(&w->image_ixs);
	for (size_t i = 0; i < w->set_n; i++) {
		bt_mem_free((void *)(uintptr_t)w->sets[i].items);
	}
	bt_mem_free(w->sets);
	bt_mem_free(w->taint_uses);
	bt_index_allocator_fini(&w->vacant_sets);
	bt_mem_free(w->images);
	bt_mem_free(w->image_nodes);
	bt_index_allocator_fini(&w->vacant_images);
	bt_node_order_fini(&w->order);
	bt_mem_free(w->columns);
	bt_mem_free(w);
}

const struct bt_snapshot *bt_snapshot_view(const struct bt_snapshot_writer *w)
{
	return &w->view;
}

static void forget_image_nodes(struct bt_snapshot_writer *w, size_t image_ix)
{
	bt_mem_free(w->image_nodes[image_ix]);
	w->image_nodes[image_ix] = NULL;
}

/* Resizes to new_n slots and keeps the first old_n. */
static void widen_rare(struct bt_snapshot_writer *w, size_t old_n, size_t new_n)
{
	w->rare = bt_mem_realloc(w->rare, new_n, sizeof(*w->rare));
	memset(w->rare + old_n, 0, (new_n - old_n) * sizeof(*w->rare));
	w->view.rare = w->rare;
}

/* The same for allocatable amounts. */
static void widen_allocatable(struct bt_snapshot_writer *w, size_t old_n, size_t new_n)
{
	w->rooms = bt_mem_widen(w->rooms, old_n, new_n, sizeof(*w->rooms));
	w->view.rooms = w->rooms;
	for (int r = 0; r < BT_FIRST_RARE; r++) {
		if (w->scalars[r]) {
			w->scalars[r] = bt_mem_widen(w->scalars[r], old_n, new_n, sizeof(*w->scalars[r]));
			w->view.scalars[r] = w->scalars[r];
		}
	}
	if (w->rare) {
		widen_rare(w, old_n, new_n);
	}
}

static void grow_slots(struct bt_snapshot_writer *w)
{
	size_t old = w->slot_cap, cap = old ? old * 2 : FIRST_SLOTS;
	uint64_t *live = bt_mem_zalloc(bt_bitmap_words(cap), sizeof(*live));

	BT_INVARIANT(w->view.slot_n == old);
	w->nodes = bt_mem_realloc(w->nodes, cap, sizeof(*w->nodes));
	w->descs = bt_mem_realloc(w->descs, cap, sizeof(*w->descs));
	if (old) {
		memcpy(live, w->live, bt_bitmap_words(old) * sizeof(*live));
	}
	bt_mem_free(w->live);
	w->live = live;
	widen_allocatable(w, old, cap);
	for (size_t i = 0; i < w->image_n; i++) {
		forget_image_nodes(w, i);
	}
	w->slot_cap = cap;
	w->view.nodes = w->nodes;
	w->view.live = w->live;
}

/* The slots are others. */
static void layout_changes(struct bt_snapshot_writer *w)
{
	size_t room = w->view.slot_n / ROOM_LEAST * ROOM_LEAST + 2 * ROOM_LEAST;

	room += w->view.slot_n / ROOM_PART / ROOM_LEAST * ROOM_LEAST;
	w->view.slot_room = (uint32_t)(room < w->slot_cap ? room : w->slot_cap);
	w->view.version++;
	w->view.layout_version++;
	w->view.slot_version++;
	w->view.live_version++;
	BT_INVARIANT(w->view.slot_n <= w->view.slot_room && w->view.slot_room <= w->slot_cap);
}

/* A slot was added, or its node has changed, come or gone. */
static void node_changes(struct bt_snapshot_writer *w, uint32_t slot)
{
	w->changes[w->view.changes_end++ & w->view.changes_mask] = slot;
	w->view.version++;
	for (size_t i = 0; i < w->column_n; i++) {
		const struct label_column *column = &w->columns[i];

		if (column->values && column->layout_version == w->view.layout_version) {
			column->values[slot] = bt_labels_get(w->nodes[slot].labels, column->key);
		}
	}
}

uint32_t bt_snapshot_enter(struct bt_snapshot_writer *w, uint32_t name)
{
	BT_OWNED_BY_THREAD(&w->view.owner);
	uint32_t slot;

	BT_REQUIRE(name != BT_NAME_NONE);
	if (bt_map_get(&w->slots, name, &slot)) {
		return slot;
	}
	if (!bt_index_allocator_take(&w->vacant_slots, &slot)) {
		if (w->view.slot_n == w->slot_cap) {
			grow_slots(w);
		}
		slot = w->view.slot_n++;
		w->descs[slot] = NULL;
	}
	BT_INVARIANT(slot < w->view.slot_n && w->descs[slot] == NULL);
	w->nodes[slot] = (struct bt_node){.name = name};
	bt_intern_hold_again(w->dictionary->intern, name);
	bt_map_put(&w->slots, name, slot);
	if (w->frozen) {
		w->entered = true;
	} else if (slot < w->view.slot_room) {
		node_changes(w, slot);
	} else {
		layout_changes(w); /* columns get longer */
	}
	return slot;
}

void bt_snapshot_freeze(struct bt_snapshot_writer *w)
{
	BT_OWNED_BY_THREAD(&w->view.owner);
	w->frozen = true;
}

void bt_snapshot_thaw(struct bt_snapshot_writer *w)
{
	BT_OWNED_BY_THREAD(&w->view.owner);
	if (w->entered) {
		layout_changes(w);
	}
	w->frozen = w->entered = false;
}

/* The number of named slots without a live node. */
static uint32_t dead_n(const struct bt_snapshot_writer *w)
{
	BT_INVARIANT(w->vacant_slots.n + w->view.node_n <= w->view.slot_n);
	return w->view.slot_n - (uint32_t)w->vacant_slots.n - w->view.node_n;
}

bool bt_snapshot_is_crowded(const struct bt_snapshot_writer *w, uint64_t left_n)
{
	uint32_t dead = dead_n(w);
	uint64_t since = left_n - w->left_n, may_go = dead > w->kept_n ? dead - w->kept_n : 0;

	may_go += since < w->kept_n ? since : w->kept_n;
	return may_go > (w->view.node_n + dead) / DEAD_PART && may_go > w->view.slot_n / LOOK_PART;
}

/* Resizes the columns. */
static void shrink_slots(struct bt_snapshot_writer *w, size_t cap)
{
	BT_INVARIANT(w->view.slot_n <= cap && cap <= w->slot_cap);
	w->nodes = bt_mem_realloc(w->nodes, cap, sizeof(*w->nodes));
	w->descs = bt_mem_realloc(w->descs, cap, sizeof(*w->descs));
	w->live = bt_mem_realloc(w->live, bt_bitmap_words(cap), sizeof(*w->live));
	widen_allocatable(w, cap, cap);
	for (size_t i = 0; i < w->image_n; i++) {
		forget_image_nodes(w, i);
	}
	for (size_t i = 0; i < w->column_n; i++) {
		bt_mem_free(w->columns[i].values);
		w->columns[i] = (struct label_column){.key = w->columns[i].key};
	}
	bt_node_order_trim(&w->order, cap);
	w->slot_cap = cap;
	w->view.nodes = w->nodes;
	w->view.live = w->live;
}

/* Removes vacant slots at the end. */
static void cut_slots(struct bt_snapshot_writer *w)
{
	uint32_t end = (uint32_t)bt_index_allocator_cut(&w->vacant_slots, w->view.slot_n);
	size_t room = bt_index_allocator_room(end, w->slot_cap);

	if (end == w->view.slot_n) {
		return;
	}
	w->view.slot_n = end;
	if (room < w->slot_cap) {
		shrink_slots(w, room);
	}
	layout_changes(w); /* columns get shorter */
}

void bt_snapshot_vacate(struct bt_snapshot_writer *w, uint64_t left_n,
	bool (*keeps)(void *context, uint32_t slot), void (*leave)(void *context, uint32_t slot),
	void *context)
{
	BT_OWNED_BY_THREAD(&w->view.owner);
	for (uint32_t slot = 0; slot < w->view.slot_n; slot++) {
		uint32_t name = w->nodes[slot].name;

		if (name == BT_NAME_NONE || bt_bitmap_test(w->live, slot) || keeps(context, slot)) {
			continue;
		}
		BT_INVARIANT(w->descs[slot] == NULL);
		leave(context, slot);
		bt_map_remove(&w->slots, name);
		w->nodes[slot] = (struct bt_node){0};
		bt_index_allocator_give(&w->vacant_slots, slot);
		bt_intern_release(w->dictionary->intern, name);
	}
	w->kept_n = dead_n(w);
	w->left_n = left_n;
	cut_slots(w);
}

bool bt_snapshot_is_sparse(struct bt_snapshot_writer *w)
{
	size_t vacant_n = w->vacant_slots.n, named_n = w->view.slot_n - vacant_n;

	w->gathers = vacant_n > VACANT_FEW && vacant_n > (w->gathers ? named_n / DENSE_PART : named_n);
	return w->gathers;
}

/* Moves a slot's data in images and columns. */
static void move_columns(struct bt_snapshot_writer *w, uint32_t from, uint32_t to)
{
	const struct bt_node *node = &w->nodes[from];
	uint32_t ix = UINT32_MAX;

	for (uint32_t i = 0; i < node->image_n; i++) {
		bt_map_get(&w->image_ixs, node->images[i], &ix);
		BT_INVARIANT(ix < w->image_n && w->images[ix].name == node->images[i]);
		if (w->image_nodes[ix]) {
			bt_bitmap_clear(w->image_nodes[ix], from);
			bt_bitmap_set(w->image_nodes[ix], to);
		}
	}
	for (int r = 0; r < BT_FIRST_RARE; r++) {
		if (w->scalars[r]) {
			w->scalars[r][to] = w->scalars[r][from];
			w->scalars[r][from] = 0;
		}
	}
	if (w->rare) {
		w->rare[to] = w->rare[from];
		w->rare[from] = (struct bt_rare){.first = 0};
	}
	w->rooms[to] = w->rooms[from];
	w->rooms[from] = (struct bt_node_room){.pods = 0};
}

bool bt_snapshot_move(struct bt_snapshot_writer *w, uint32_t *from_end, uint32_t *out_to)
{
	BT_OWNED_BY_THREAD(&w->view.owner);
	uint32_t from = *from_end, to;

	while (from > 0 && w->nodes[from - 1].name == BT_NAME_NONE) {
		from--;
	}
	if (from == 0 || !bt_index_allocator_take(&w->vacant_slots, &to)) {
		return false;
	}
	if (to > --from) {
		bt_index_allocator_give(&w->vacant_slots, to);
		return false;
	}
	BT_INVARIANT(to < from && w->nodes[to].name == BT_NAME_NONE && !bt_bitmap_test(w->live, to));
	move_columns(w, from, to);
	if (bt_bitmap_test(w->live, from)) {
		bt_bitmap_clear(w->live, from);
		bt_bitmap_set(w->live, to);
	}
	bt_node_order_move(&w->order, from, to);
	w->nodes[to] = w->nodes[from];
	w->descs[to] = w->descs[from];
	w->nodes[from] = (struct bt_node){0};
	w->descs[from] = NULL;
	bt_map_put(&w->slots, w->nodes[to].name, to);
	bt_index_allocator_give(&w->vacant_slots, from);
	layout_changes(w);
	w->move_n++;
	*from_end = from;
	*out_to = to;
	return true;
}

void bt_snapshot_end_moves(struct bt_snapshot_writer *w)
{
	BT_OWNED_BY_THREAD(&w->view.owner);
	bt_node_order_follow(&w->order);
	cut_slots(w);
}

uint64_t bt_snapshot_move_n(const struct bt_snapshot_writer *w)
{
	return w->move_n;
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
		w->columns[ix] = (struct label_column){.key = key};
		bt_map_put(&w->column_ixs, key, ix);
	}
	return &w->columns[ix];
}

const uint32_t *bt_snapshot_label_column(struct bt_snapshot_writer *w, uint32_t key)
{
	BT_REQUIRE(key != BT_NAME_NONE);
	struct label_column *column = column_of(w, key);

	if (column->values && column->slot_cap == w->slot_cap &&
		column->layout_version == w->view.layout_version) {
		return column->values;
	}
	bt_mem_free(column->values);
	column->values = bt_mem_column(w->slot_cap, sizeof(*column->values));
	column->slot_cap = w->slot_cap;
	column->layout_version = w->view.layout_version;
	for (uint32_t i = 0; i < w->view.slot_n; i++) {
		column->values[i] = bt_labels_get(w->nodes[i].labels, key);
	}
	BT_INVARIANT(column->slot_cap >= w->view.slot_n && column->key == key);
	return column->values;
}

void bt_snapshot_forget_columns(struct bt_snapshot_writer *w)
{
	BT_OWNED_BY_THREAD(&w->view.owner);
	for (size_t i = 0; i < w->column_n; i++) {
		bt_mem_free(w->columns[i].values);
	}
	w->column_n = 0;
	bt_map_fini(&w->column_ixs);
	for (size_t i = 0; i < w->image_n; i++) {
		forget_image_nodes(w, i);
	}
}

size_t bt_snapshot_column_count(const struct bt_snapshot_writer *w)
{
	return w->column_n;
}

const struct bt_node_desc *bt_snapshot_desc(const struct bt_snapshot_writer *w, uint32_t node_ix)
{
	BT_REQUIRE(node_ix < w->view.slot_n);
	return w->descs[node_ix];
}

const uint32_t *bt_snapshot_order(struct bt_snapshot_writer *w)
{
	return bt_node_order_list(&w->order);
}

bool bt_snapshot_has_order(const struct bt_snapshot_writer *w)
{
	return !w->order.stale;
}

void bt_snapshot_forget_order(struct bt_snapshot_writer *w)
{
	BT_OWNED_BY_THREAD(&w->view.owner);
	w->order.stale = 1;
}

/* ---- taint sets ---- */

static bool same_set(const struct bt_taint_set *set, const struct bt_taint *taints, uint32_t n)
{
	return set->n == n && memcmp(set->items, taints, n * sizeof(*taints)) == 0;
}

static uint32_t vacant_set(struct bt_snapshot_writer *w)
{
	uint32_t ix;

	if (bt_index_allocator_take(&w->vacant_sets, &ix)) {
		return ix;
	}
	w->sets = bt_mem_grow(w->sets, w->set_n, &w->set_cap, sizeof(*w->sets));
	w->taint_uses = bt_mem_grow(w->taint_uses, w->set_n, &w->use_cap, sizeof(*w->taint_uses));
	w->view.taint_sets = w->sets;
	w->view.taint_set_n = (uint32_t)w->set_n + 1;
	return (uint32_t)w->set_n++;
}

/* Adds a node to its taint set. Returns the set. */
static uint32_t enter_taints(struct bt_snapshot_writer *w, const struct bt_taint *taints, uint32_t n)
{
	uint32_t first = 0;

	if (n == 0) {
		return 0;
	}
	uint64_t key = bt_hash_bytes(taints, n * sizeof(*taints)) | 1;
	bt_map_get(&w->taint_sets, key, &first);
	for (uint32_t ix = first; ix; ix = w->taint_uses[ix].next) {
		if (same_set(&w->sets[ix], taints, n)) {
			w->taint_uses[ix].node_n++;
			return ix;
		}
	}
	uint32_t ix = vacant_set(w);
	struct bt_taint *items = bt_mem_realloc(NULL, n, sizeof(*items));
	memcpy(items, taints, n * sizeof(*items));
	w->sets[ix] = (struct bt_taint_set){items, n};
	w->taint_uses[ix] = (struct taint_use){.key = key, .node_n = 1, .next = first};
	bt_map_put(&w->taint_sets, key, ix);
	w->view.taint_set_version++;
	return ix;
}

/* Removes a node from its taint set. */
static void leave_taints(struct bt_snapshot_writer *w, uint32_t ix)
{
	struct taint_use *use = &w->taint_uses[ix];
	uint32_t first = 0, before;

	if (ix == 0 || --use->node_n) {
		return;
	}
	BT_INVARIANT(use->key && ix < w->set_n);
	bt_map_get(&w->taint_sets, use->key, &first);
	if (first == ix && use->next) {
		bt_map_put(&w->taint_sets, use->key, use->next);
	} else if (first == ix) {
		bt_map_remove(&w->taint_sets, use->key);
	} else {
		for (before = first; w->taint_uses[before].next != ix;) {
			before = w->taint_uses[before].next;
		}
		BT_INVARIANT(before != 0);
		w->taint_uses[before].next = use->next;
	}
	bt_mem_free((void *)(uintptr_t)w->sets[ix].items);
	w->sets[ix] = (struct bt_taint_set){0};
	bt_index_allocator_give(&w->vacant_sets, ix);
}

/* ---- images ---- */

static uint32_t vacant_image(struct bt_snapshot_writer *w)
{
	uint32_t ix;

	if (bt_index_allocator_take(&w->vacant_images, &ix)) {
		return ix;
	}
	w->images = bt_mem_grow(w->images, w->image_n, &w->image_cap, sizeof(*w->images));
	w->image_nodes =
		bt_mem_grow(w->image_nodes, w->image_n, &w->image_nodes_cap, sizeof(*w->image_nodes));
	w->image_nodes[w->image_n] = NULL;
	w->view.images = w->images;
	w->view.image_n = (uint32_t)w->image_n + 1;
	return (uint32_t)w->image_n++;
}

static void stamp(struct bt_snapshot_writer *w, uint32_t slot, uint32_t name)
{
	uint64_t version = ++w->view.image_version;

	w->image_stamps[name % BT_IMAGE_STAMPS] = version;
	w->image_changes[version & w->view.image_changes_mask] = (struct bt_image_change){name, slot};
}

/* Adds a node to an image. */
static void enter_image(struct bt_snapshot_writer *w, uint32_t slot, uint32_t name, int64_t bytes)
{
	uint32_t ix;

	if (!bt_map_get(&w->image_ixs, name, &ix)) {
		ix = vacant_image(w);
		w->images[ix] = (struct bt_image){.name = name, .size_bytes = bytes};
		bt_map_put(&w->image_ixs, name, ix);
	}
	w->images[ix].node_n++;
	BT_INVARIANT(w->images[ix].name == name && w->images[ix].node_n <= w->view.slot_n);
	if (w->image_nodes[ix]) {
		bt_bitmap_set(w->image_nodes[ix], slot);
	}
	stamp(w, slot, name);
}

/* Removes a node from an image. */
static void leave_image(struct bt_snapshot_writer *w, uint32_t slot, uint32_t name)
{
	uint32_t ix = UINT32_MAX;

	bt_map_get(&w->image_ixs, name, &ix);
	BT_INVARIANT(ix < w->image_n && w->images[ix].node_n > 0);
	if (w->image_nodes[ix]) {
		bt_bitmap_clear(w->image_nodes[ix], slot);
	}
	if (--w->images[ix].node_n == 0) {
		forget_image_nodes(w, ix);
		bt_map_remove(&w->image_ixs, name);
		w->images[ix] = (struct bt_image){0};
		bt_index_allocator_give(&w->vacant_images, ix);
	}
	stamp(w, slot, name);
}

/* A node reports another size: used if no other node has the image. */
static void resize_image(struct bt_snapshot_writer *w, uint32_t slot, uint32_t name, int64_t bytes)
{
	uint32_t ix = UINT32_MAX;

	bt_map_get(&w->image_ixs, name, &ix);
	BT_INVARIANT(ix < w->image_n && w->images[ix].node_n > 0);
	if (w->images[ix].node_n == 1 && w->images[ix].size_bytes != bytes) {
		w->images[ix].size_bytes = bytes;
		stamp(w, slot, name);
	}
}

static bool has_image(const struct bt_node *node, uint32_t name)
{
	uint32_t low = 0, high = node->image_n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (node->images[middle] < name) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < node->image_n && node->images[low] == name;
}

static void find_image_nodes(struct bt_snapshot_writer *w, uint32_t ix)
{
	w->image_nodes[ix] = bt_mem_zalloc(bt_bitmap_words(w->slot_cap), sizeof(**w->image_nodes));
	for (uint32_t i = 0; i < w->view.slot_n; i++) {
		if (bt_bitmap_test(w->live, i) && has_image(&w->nodes[i], w->images[ix].name)) {
			bt_bitmap_set(w->image_nodes[ix], i);
		}
	}
	w->image_walk_n++;
}

/* Builds the bitmaps of all images that have none. */
static void find_nodes_of_images(struct bt_snapshot_writer *w)
{
	size_t word_n = bt_bitmap_words(w->slot_cap);
	uint64_t *missing = bt_mem_zalloc(bt_bitmap_words(w->image_n), sizeof(*missing));
	uint32_t ix = UINT32_MAX;

	for (size_t i = 0; i < w->image_n; i++) {
		if (!w->image_nodes[i] && w->images[i].node_n) {
			w->image_nodes[i] = bt_mem_zalloc(word_n, sizeof(**w->image_nodes));
			bt_bitmap_set(missing, i);
		}
	}
	for (uint32_t slot = 0; slot < w->view.slot_n; slot++) {
		const struct bt_node *node = &w->nodes[slot];

		for (uint32_t i = 0; bt_bitmap_test(w->live, slot) && i < node->image_n; i++) {
			bt_map_get(&w->image_ixs, node->images[i], &ix);
			BT_INVARIANT(ix < w->image_n && w->images[ix].name == node->images[i]);
			if (bt_bitmap_test(missing, ix)) {
				bt_bitmap_set(w->image_nodes[ix], slot);
			}
		}
	}
	bt_mem_free(missing);
	w->image_walk_n = 0;
}

const uint64_t *bt_snapshot_image_nodes(struct bt_snapshot_writer *w, uint32_t name)
{
	uint32_t ix;

	if (!bt_map_get(&w->image_ixs, name, &ix)) {
		return NULL;
	}
	if (!w->image_nodes[ix] && w->image_walk_n >= IMAGE_WALKS &&
		w->image_n * bt_bitmap_words(w->slot_cap) * sizeof(**w->image_nodes) <= IMAGE_BYTES) {
		find_nodes_of_images(w);
	} else if (!w->image_nodes[ix]) {
		find_image_nodes(w, ix);
	}
	BT_INVARIANT(w->image_nodes[ix] && w->images[ix].name == name);
	return w->image_nodes[ix];
}

/* Merges both lists of names. NULL: no images. */
static void change_images(struct bt_snapshot_writer *w, uint32_t slot, const struct bt_node_desc *old,
	const struct bt_node_desc *new)
{
	uint32_t old_n = old ? old->image_n : 0, new_n = new ? new->image_n : 0, i = 0, j = 0;

	while (i < old_n || j < new_n) {
		BT_INVARIANT(i <= old_n && j <= new_n);
		if (j == new_n || (i < old_n && old->images[i] < new->images[j])) {
			/* Sorted, each name once. */
			BT_INVARIANT(i + 1 == old_n || old->images[i] < old->images[i + 1]);
			leave_image(w, slot, old->images[i++]);
		} else if (i == old_n || new->images[j] < old->images[i]) {
			enter_image(w, slot, new->images[j], new->image_bytes[j]);
			j++;
		} else {
			resize_image(w, slot, new->images[j], new->image_bytes[j]);
			i++;
			j++;
		}
	}
}

/* ---- columns ---- */

/* The number of amounts, ordered by slot, with columns. */
static uint32_t usual_n(const struct bt_node_desc *desc)
{
	uint32_t n = desc->alloc.n;

	while (n > 0 && desc->alloc.items[n - 1].slot >= BT_FIRST_RARE) {
		n--;
	}
	BT_INVARIANT(n == desc->alloc.n || desc->alloc.items[n].slot >= BT_FIRST_RARE);
	return n;
}

static void clear_allocatable(struct bt_snapshot_writer *w, uint32_t slot, const struct bt_node_desc *old)
{
	w->rooms[slot] = (struct bt_node_room){.pods = 0};
	for (uint32_t i = 0; i < usual_n(old); i++) {
		if (old->alloc.items[i].slot >= BT_FIRST_SCALAR) {
			w->scalars[old->alloc.items[i].slot][slot] = 0;
			BT_INVARIANT(w->rooms[slot].pods == 0);
		}
	}
	if (w->rare) {
		w->rare[slot] = (struct bt_rare){.first = 0};
	}
}

/* Allocatable rare resources are read from the description. */
static void point_to_rare(struct bt_snapshot_writer *w, uint32_t slot, const struct bt_node_desc *new)
{
	const uint32_t n = usual_n(new);

	if (n == new->alloc.n) {
		return;
	}
	if (!w->rare) {
		widen_rare(w, 0, w->slot_cap);
	}
	BT_INVARIANT(new->alloc.items[n].slot <= new->alloc.items[new->alloc.n - 1].slot);
	w->rare[slot] = (struct bt_rare){{new->alloc.items + n, new->alloc.n - n}, new->alloc.items[n].slot,
		new->alloc.items[new->alloc.n - 1].slot};
}

static void set_allocatable(struct bt_snapshot_writer *w, uint32_t slot, const struct bt_node_desc *new)
{
	const uint32_t n = usual_n(new);

	BT_INVARIANT(new->alloc_pods >= 0 || new->too_many_names || n <= new->alloc.n);
	w->rooms[slot].pods = new->alloc_pods;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t r = new->alloc.items[i].slot;

		if (r < BT_FIRST_SCALAR) {
			w->rooms[slot].alloc[r] = new->alloc.items[i].amount;
			continue;
		}
		if (!w->scalars[r]) {
			w->scalars[r] = bt_mem_column(w->slot_cap, sizeof(*w->scalars[r]));
			w->view.scalars[r] = w->scalars[r];
		}
		w->scalars[r][slot] = new->alloc.items[i].amount;
	}
	point_to_rare(w, slot, new);
}

/* Clears a node from the columns. */
static void leave(struct bt_snapshot_writer *w, uint32_t slot, const struct bt_node_desc *old)
{
	struct bt_node *node = &w->nodes[slot];

	leave_taints(w, node->taint_set);
	BT_INVARIANT(w->view.unschedulable_n >= node->unschedulable);
	w->view.unschedulable_n -= node->unschedulable;
	clear_allocatable(w, slot, old);
	*node = (struct bt_node){.name = node->name};
}

static void snapshot_enter(struct bt_snapshot_writer *w, uint32_t slot, const struct bt_node_desc *new)
{
	struct bt_node *node = &w->nodes[slot];

	BT_INVARIANT(node->name == new->name);
	node->labels = new->labels;
	node->taint_set = enter_taints(w, new->taints, new->taint_n);
	node->unschedulable = new->unschedulable;
	w->view.unschedulable_n += new->unschedulable;
	node->keeps_resizes_waiting = new->keeps_resizes_waiting;
	node->images = new->images;
	node->image_n = new->image_n;
	node->features = new->features;
	set_allocatable(w, slot, new);
	bt_node_order_put(&w->order, slot, new->zone_key);
}

static void replace(struct bt_snapshot_writer *w, uint32_t slot, const struct bt_node_desc *old,
	const struct bt_node_desc *new)
{
	if (old) {
		leave(w, slot, old);
	}
	if (new) {
		snapshot_enter(w, slot, new);
	} else {
		bt_node_order_remove(&w->order, slot);
	}
	if (new && !old) {
		bt_bitmap_set(w->live, slot);
		BT_INVARIANT(w->view.node_n < w->view.slot_n);
		w->view.node_n++;
		w->kept_n = w->kept_n < dead_n(w) ? w->kept_n : dead_n(w);
	} else if (!new) {
		bt_bitmap_clear(w->live, slot);
		BT_INVARIANT(w->view.node_n > 0);
		w->view.node_n--;
	}
	node_changes(w, slot);
	w->view.live_version += !old || !new;
}

bool bt_snapshot_adopt(struct bt_snapshot_writer *w, uint32_t slot, const struct bt_node_desc *old,
	const struct bt_node_desc *new)
{
	BT_OWNED_BY_THREAD(&w->view.owner);
	BT_REQUIRE(!w->frozen && slot < w->view.slot_n && w->descs[slot] == old && (old || new));
	BT_REQUIRE(!new || new->name == w->nodes[slot].name);
	bool alike = old && new &&bt_node_desc_alike_but_images(old, new);

	w->descs[slot] = new;
	change_images(w, slot, old, new);
	if (alike) {
		w->nodes[slot].labels = new->labels;
		w->nodes[slot].images = new->images;
		w->nodes[slot].image_n = new->image_n;
		point_to_rare(w, slot, new);
	} else {
		replace(w, slot, old, new);
	}
	BT_INVARIANT(bt_bitmap_test(w->live, slot) == (new != NULL));
	return !alike;
}

/* Saves sizes of images that adopting the node's description again would not restore. */
static void save_sizes(const struct bt_snapshot_writer *w, const struct bt_node_desc *desc,
	struct bt_snapshot_mark *out_mark)
{
	for (uint32_t i = 0; i < desc->image_n; i++) {
		uint32_t ix = UINT32_MAX;

		bt_map_get(&w->image_ixs, desc->images[i], &ix);
		BT_INVARIANT(ix < w->image_n && w->images[ix].node_n > 0);
		if (w->images[ix].node_n == 1 && w->images[ix].size_bytes != desc->image_bytes[i]) {
			out_mark->sizes = bt_mem_grow(out_mark->sizes, out_mark->size_n, &out_mark->size_cap,
				sizeof(*out_mark->sizes));
			out_mark->sizes[out_mark->size_n++] =
				(struct bt_image_size){desc->images[i], w->images[ix].size_bytes};
		}
	}
}

static void restore_sizes(struct bt_snapshot_writer *w, uint32_t slot, struct bt_snapshot_mark *mark)
{
	for (size_t i = 0; i < mark->size_n; i++) {
		resize_image(w, slot, mark->sizes[i].name, mark->sizes[i].bytes);
	}
	bt_mem_free(mark->sizes);
	mark->sizes = NULL;
	mark->size_n = mark->size_cap = 0;
}

void bt_snapshot_mark(
	struct bt_snapshot_writer *w, uint32_t name, bool added_or_removed, struct bt_snapshot_mark *out_mark)
{
	uint32_t slot = UINT32_MAX;

	BT_REQUIRE(!w->frozen);
	*out_mark = (struct bt_snapshot_mark){.kept_n = w->kept_n, .slot_n = w->view.slot_n};
	out_mark->entered = !bt_map_get(&w->slots, name, &slot);
	if (!out_mark->entered && w->descs[slot]) {
		save_sizes(w, w->descs[slot], out_mark);
	}
	bt_node_order_save(&w->order, slot, added_or_removed, &out_mark->place);
}

void bt_snapshot_revert(struct bt_snapshot_writer *w, uint32_t slot, struct bt_snapshot_mark *mark)
{
	BT_OWNED_BY_THREAD(&w->view.owner);
	BT_REQUIRE(!w->frozen && slot < w->view.slot_n);
	bt_node_order_restore(&w->order, slot, &mark->place);
	restore_sizes(w, slot, mark);
	if (mark->entered) {
		uint32_t name = w->nodes[slot].name;

		BT_REQUIRE(!w->descs[slot] && !bt_bitmap_test(w->live, slot));
		bt_map_remove(&w->slots, name);
		w->nodes[slot] = (struct bt_node){0};
		bt_intern_release(w->dictionary->intern, name);
		if (slot < mark->slot_n) {
			bt_index_allocator_give(&w->vacant_slots, slot);
		} else {
			w->view.slot_n--;
		}
		node_changes(w, slot);
	}
	w->kept_n = mark->kept_n;
	BT_INVARIANT(w->view.slot_n == mark->slot_n);
}

void bt_snapshot_discount(struct bt_snapshot_writer *w, uint64_t left_n)
{
	BT_OWNED_BY_THREAD(&w->view.owner);
	w->left_n += left_n;
}

void bt_snapshot_touch(struct bt_snapshot_writer *w)
{
	BT_OWNED_BY_THREAD(&w->view.owner);
	w->view.version++;
	w->view.layout_version++;
}
