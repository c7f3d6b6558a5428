/* SPDX-License-Identifier: Apache-2.0
 * Stage 3: a persistent vector of descriptions with path copying, and the table of names. rcu: chunks and
 * versions are immutable once published; replaced ones are freed after a grace period. I7: the slots of
 * deleted nodes are reused.
 *
 * EDGE snap.live: bt_publisher_publish releases, bt_published_begin acquires: chunks, descriptions and names
 * are written before the version that refers to them is visible.
 */
#include "cache/publish.h"

#include "engine/base/index_allocator.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/eventcount.h"
#include "engine/base/testpoint.h"

/* A chunk points to FAN chunks, or at the bottom to FAN descriptions. */
#define FAN_BITS  6
#define FAN	  (1u << FAN_BITS)
#define DEPTH_MAX 6 /* levels, for 32 bits */
#define NAMES_MIN 256
#define FEW_PART  8 /* a table with at most 1/FEW_PART names of live nodes is rebuilt */

struct chunk {
	uint64_t batch;	    /* that created it: mutable until that batch is published */
	struct chunk *next; /* owner: publisher; list of replaced chunks */
	union {
		struct chunk *chunks[FAN];
		const struct bt_node_desc *descs[FAN];
	};
};

/* A version, published by one store. */
struct bt_version {
	struct bt_rcu_head head;
	uint64_t number;
	uint32_t slot_n, node_n;
	uint32_t depth; /* levels of chunks */
	struct chunk *root;
	struct bt_name_table *names; /* shared by later versions until it is replaced */
	/* owner: publisher; chunks that the next version does not have */
	struct chunk *replaced;
	size_t replaced_n;
	bool ends_names; /* owner: publisher; the next version does not have the names */
};

/*
 * Names to slots. A slot stays bound to its name for a table's lifetime, whether the node is live or not. So
 * entries are only added, each with one store, and every version that uses the table finds its nodes. When it
 * is full, or few of its nodes are live, a table of only the live names replaces it, and the other slots
 * become vacant. Names of deleted nodes are not held: their numbers may be reused for other names, which may
 * use these slots.
 */
struct bt_name_table {
	size_t mask, entry_n;	    /* entry_n: owner: publisher */
	_Atomic uint64_t entries[]; /* atomic: name in the high half, slot in the low half; 0: free */
};

struct bt_publisher {
	struct bt_version *_Atomic live;	  /* rcu: EDGE snap.live */
	_Atomic uint64_t version_n, copied_bytes; /* atomic: the publisher counts */
	/* owner: publisher */
	struct bt_owner owner;
	uint64_t batch;
	bool changed; /* since the last version */
	uint32_t slot_n, node_n, depth;
	struct chunk *root;
	struct bt_name_table *names;
	struct bt_index_allocator vacant; /* slots without a name */
	struct chunk *replaced;		  /* since the last version */
	size_t replaced_n;
};

/* A table that n names fill to a quarter at most. */
static struct bt_name_table *make_names(size_t name_n)
{
	size_t n = NAMES_MIN;

	while (n < 4 * name_n) {
		n *= 2;
	}
	struct bt_name_table *names = bt_mem_zalloc(1, sizeof(*names) + n * sizeof(names->entries[0]));
	names->mask = n - 1;
	return names;
}

static size_t bytes_of(const struct bt_name_table *names)
{
	return sizeof(*names) + (names->mask + 1) * sizeof(names->entries[0]);
}

struct bt_owner *bt_publisher_owner(struct bt_publisher *p)
{
	return &p->owner;
}

struct bt_publisher *bt_publisher_create(void)
{
	struct bt_publisher *p = bt_mem_zalloc(1, sizeof(*p));
	struct bt_version *first = bt_mem_zalloc(1, sizeof(*first));

	p->batch = p->depth = first->depth = 1;
	p->names = first->names = make_names(0);
	bt_rcu_publish(&p->live, first);
	return p;
}

static void destroy_chunk(struct chunk *chunk, uint32_t depth)
{
	BT_INVARIANT(depth >= 1 && depth <= DEPTH_MAX);
	for (uint32_t i = 0; chunk && i < FAN; i++) {
		if (depth > 1) {
			destroy_chunk(chunk->chunks[i], depth - 1);
		} else {
			bt_node_desc_destroy(chunk->descs[i]);
		}
	}
	bt_mem_free(chunk);
}

static void destroy_list(struct chunk *chunk)
{
	while (chunk) {
		struct chunk *next = chunk->next;

		bt_mem_free(chunk);
		chunk = next;
	}
}

void bt_publisher_destroy(struct bt_publisher *p)
{
	if (!p) {
		return;
	}
	destroy_chunk(p->root, p->depth);
	destroy_list(p->replaced);
	if (bt_rcu_get(&p->live)->names != p->names) {
		bt_mem_free(bt_rcu_get(&p->live)->names);
	}
	bt_mem_free(p->names);
	bt_index_allocator_fini(&p->vacant);
	bt_mem_free(bt_rcu_get(&p->live));
	bt_mem_free(p);
}

/* ---- names ---- */

static size_t place_of(const struct bt_name_table *names, uint32_t name)
{
	BT_INVARIANT(name != BT_NAME_NONE);
	size_t at = bt_hash_u64(name) & names->mask;

	for (;; at = (at + 1) & names->mask) {
		uint64_t entry = bt_load_relaxed(&names->entries[at]);

		if (entry == 0 || entry >> 32 == name) {
			return at;
		}
	}
}

static uint32_t find_slot(const struct bt_name_table *names, uint32_t name)
{
	uint64_t entry = bt_load_relaxed(&names->entries[place_of(names, name)]);

	return entry ? (uint32_t)entry : BT_NO_NODE;
}

/* A reader that finds the entry early looks up the slot in its version, where the slot is vacant. */
static void put_name(struct bt_name_table *names, uint32_t name, uint32_t slot)
{
	/* A failed lookup ends at a free entry. */
	BT_INVARIANT(find_slot(names, name) == BT_NO_NODE && names->entry_n < names->mask);
	bt_store_relaxed(&names->entries[place_of(names, name)], (uint64_t)name << 32 | slot);
	names->entry_n++;
}

/* ---- descriptions ---- */

/* A chunk that the batch may change: the existing one, a copy, or a new one. */
static struct chunk *own(struct bt_publisher *p, struct chunk **at)
{
	struct chunk *old = *at;

	if (old && old->batch == p->batch) {
		return old;
	}
	*at = bt_mem_zalloc(1, sizeof(**at));
	if (old) {
		**at = *old;
		old->next = p->replaced;
		p->replaced = old;
		p->replaced_n++;
		bt_add_owned(&p->copied_bytes, sizeof(*old));
	}
	(*at)->batch = p->batch;
	BT_INVARIANT(!old || old->batch < p->batch);
	return *at;
}

/* The index of a slot in a chunk; levels are counted from the bottom. */
static uint32_t step(uint32_t slot, uint32_t level)
{
	BT_INVARIANT(level < DEPTH_MAX);
	return (uint64_t)slot >> level * FAN_BITS & (FAN - 1);
}

static bool is_empty(const struct chunk *chunk)
{
	for (uint32_t i = 0; i < FAN; i++) {
		if (chunk->chunks[i]) {
			return false;
		}
	}
	return true;
}

/* Frees empty chunks on the path to a slot. This batch created them, so they have no readers. */
static void prune(struct chunk **const *path, uint32_t depth)
{
	for (uint32_t level = 0; level < depth && is_empty(*path[level]); level++) {
		bt_mem_free(*path[level]);
		*path[level] = NULL;
	}
}

/* Puts a description at a slot. Returns the old one. */
static const struct bt_node_desc *set(struct bt_publisher *p, uint32_t slot, const struct bt_node_desc *desc)
{
	struct chunk **path[DEPTH_MAX]; /* by level: the pointer to the chunk */

	while ((uint64_t)slot >> p->depth * FAN_BITS) {
		struct chunk *below = p->root;

		BT_INVARIANT(p->depth < DEPTH_MAX);
		p->root = NULL;
		own(p, &p->root)->chunks[0] = below;
		p->depth++;
	}
	struct chunk **at = &p->root;
	for (uint32_t level = p->depth - 1; level > 0; level--) {
		path[level] = at;
		at = &own(p, at)->chunks[step(slot, level)];
	}
	path[0] = at;
	const struct bt_node_desc **place = &own(p, at)->descs[step(slot, 0)], *old = *place;
	*place = desc;
	BT_INVARIANT(desc != old || !desc);
	p->node_n += !old;
	p->node_n -= !desc;
	BT_INVARIANT(p->node_n <= p->slot_n);
	p->changed = true;
	if (!desc) {
		prune(path, p->depth);
	}
	return old;
}

static const struct bt_node_desc *get(const struct chunk *chunk, uint32_t depth, uint32_t slot)
{
	for (uint32_t level = depth - 1; chunk && level > 0; level--) {
		chunk = chunk->chunks[step(slot, level)];
	}
	return chunk ? chunk->descs[step(slot, 0)] : NULL;
}

/* Replaces a full table by one of only the live names. */
static void renew_names(struct bt_publisher *p)
{
	struct bt_name_table *old = p->names, *new = make_names((size_t)p->node_n + 1);

	for (size_t i = 0; i <= old->mask; i++) {
		uint64_t entry = bt_load_relaxed(&old->entries[i]);

		if (entry && get(p->root, p->depth, (uint32_t)entry)) {
			put_name(new, (uint32_t)(entry >> 32), (uint32_t)entry);
		} else if (entry) {
			bt_index_allocator_give(&p->vacant, (uint32_t)entry);
		}
	}
	p->slot_n = (uint32_t)bt_index_allocator_cut(&p->vacant, p->slot_n);
	bt_add_owned(&p->copied_bytes, bytes_of(new));
	p->names = new;
	if (old != bt_rcu_get(&p->live)->names) {
		bt_mem_free(old); /* no reader has seen it */
	}
	BT_INVARIANT(p->names->entry_n == p->node_n);
}

/* The slot of a node name, assigned now if it has none. */
static uint32_t give_slot(struct bt_publisher *p, uint32_t name)
{
	uint32_t slot = find_slot(p->names, name);

	BT_REQUIRE(name != BT_NAME_NONE);
	if (slot != BT_NO_NODE) {
		return slot;
	}
	if (p->names->entry_n * 2 > p->names->mask) {
		renew_names(p);
	}
	if (!bt_index_allocator_take(&p->vacant, &slot)) {
		slot = p->slot_n++;
	}
	put_name(p->names, name, slot);
	BT_INVARIANT(slot < p->slot_n);
	return slot;
}

void bt_publisher_take(struct bt_publisher *p, struct bt_delta *delta)
{
	BT_OWNED_BY_THREAD(&p->owner);
	struct bt_node_delta *node = &delta->node;

	if (delta->kind != BT_KIND_NODE) {
		return;
	}
	BT_REQUIRE(!node->taken && !node->desc == delta->removed);
	uint32_t slot = delta->removed ? find_slot(p->names, delta->name) : give_slot(p, delta->name);
	if (slot != BT_NO_NODE && (node->desc || get(p->root, p->depth, slot))) {
		node->taken = true;
		node->old = set(p, slot, node->desc);
	}
	if (delta->removed && p->names->entry_n > NAMES_MIN && p->names->entry_n / FEW_PART > p->node_n) {
		renew_names(p);
	}
}

static void end_version(struct bt_rcu_head *head)
{
	struct bt_version *version = (struct bt_version *)head;

	destroy_list(version->replaced);
	if (version->ends_names) {
		bt_mem_free(version->names);
	}
	bt_mem_free(version);
}

void bt_publisher_publish(struct bt_publisher *p)
{
	BT_OWNED_BY_THREAD(&p->owner);
	if (!p->changed) {
		return;
	}
	/* Before allocations. rcu.h reports a reader that delays it. */
	(void)bt_rcu_throttle(BT_EVENTCOUNT_FOREVER);
	struct bt_version *old = bt_rcu_get(&p->live), *new = bt_mem_realloc(NULL, 1, sizeof(*new));

	*new = (struct bt_version){
		.number = old->number + 1,
		.slot_n = p->slot_n,
		.node_n = p->node_n,
		.depth = p->depth,
		.root = p->root,
		.names = p->names,
	};
	BT_INVARIANT(new->number > old->number &&new->node_n <= new->slot_n);
	old->replaced = p->replaced;
	old->replaced_n = p->replaced_n;
	old->ends_names = old->names != p->names;
	p->replaced = NULL;
	p->replaced_n = 0;
	p->changed = false;
	p->batch++;
	BT_INVARIANT(!new->names || new->names->entry_n <= new->names->mask);
	BT_TESTPOINT("publish.publish.before_commit");
	/*
	 * COMMIT, EDGE snap.live release: chunks and descriptions are written before the version is visible.
	 */
	bt_rcu_publish(&p->live, new);
	bt_add_owned(&p->version_n, 1);
	bt_rcu_defer(&old->head, end_version,
		sizeof(*old) + old->replaced_n * sizeof(struct chunk) +
			(old->ends_names ? bytes_of(old->names) : 0));
}

struct bt_publisher_counts bt_publisher_counts(const struct bt_publisher *p)
{
	return (struct bt_publisher_counts){
		bt_load_relaxed(&p->version_n), bt_load_relaxed(&p->copied_bytes)};
}

/* ---- visitors ---- */

void bt_published_begin(const struct bt_publisher *p, struct bt_published *out)
{
	/* ---- read section ---- */
	bt_rcu_visit_begin();
	/* EDGE snap.live acquire. */
	const struct bt_version *version = bt_rcu_get(&p->live);

	*out = (struct bt_published){version->number, version->slot_n, version->node_n, version};
}

void bt_published_end(struct bt_published *published)
{
	BT_REQUIRE(published->nodes);
	*published = (struct bt_published){0};
	bt_rcu_visit_end();
}

const struct bt_node_desc *bt_published_node(const struct bt_published *published, uint32_t slot)
{
	const struct bt_version *version = published->nodes;

	BT_REQUIRE_HOT(bt_rcu_is_reading());
	return slot < version->slot_n ? get(version->root, version->depth, slot) : NULL;
}

const struct bt_node_desc *bt_published_next(const struct bt_published *published, uint32_t *slot)
{
	BT_REQUIRE_HOT(published->nodes);
	const struct bt_node_desc *desc = NULL;

	while (*slot < published->slot_n && !(desc = bt_published_node(published, *slot))) {
		++*slot;
	}
	return desc;
}

uint32_t bt_published_find(const struct bt_published *published, uint32_t name)
{
	BT_REQUIRE_HOT(bt_rcu_is_reading());
	uint32_t slot = name == BT_NAME_NONE ? BT_NO_NODE : find_slot(published->nodes->names, name);

	return slot != BT_NO_NODE && bt_published_node(published, slot) ? slot : BT_NO_NODE;
}
