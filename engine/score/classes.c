/* SPDX-License-Identifier: Apache-2.0
 * Sorts nodes into classes, and updates them when counters change.
 */
#include "engine/score/classes.h"

#include <string.h>

#include "cache/topology_view.h"
#include "engine/base/bitmap.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/score/scan.h"

#define CLASS_LIMIT 4096
#define CLASS_SHARE 4 /* classes pay with this many nodes per class */
#define NO_CLASS    UINT32_MAX

bool bt_classes_current(
	const struct bt_classes *c, const struct bt_equivalence_key *node_keys, uint32_t key_n)
{
	if (c->key_n != key_n) {
		return false;
	}
	for (uint32_t k = 0; k < key_n && k < BT_EQUIVALENCE_KEYS; k++) {
		if (!bt_equivalence_key_eq(&c->node_keys[k], &node_keys[k])) {
			return false;
		}
	}
	return true;
}

/* A node's value for an equivalence key. */
static uint32_t place_in(const struct bt_equivalence_key *node_key, uint32_t node_ix)
{
	switch (node_key->kind) {
	case BT_EQUIVALENCE_KEY_VALUE:
		return node_key->column[node_ix];
	case BT_EQUIVALENCE_KEY_PRESENCE:
		return node_key->column[node_ix] != 0;
	case BT_EQUIVALENCE_KEY_SUM:
	case BT_EQUIVALENCE_KEY_SIGN:
		break;
	}
	int32_t sum = node_key->domain_counts->by_node[node_ix];
	if (node_key->domain_counts->domain[node_ix] == BT_NO_DOMAIN) {
		return UINT32_MAX;
	}
	return node_key->kind == BT_EQUIVALENCE_KEY_SIGN ? sum > 0 : (uint32_t)sum;
}

static uint32_t *classes_key_of(const struct bt_classes *c, uint32_t class)
{
	BT_INVARIANT(class < c->cap);
	return c->keys + (size_t) class * (c->key_n + 1);
}

static void reserve(struct bt_classes *c)
{
	if (c->n < c->cap) {
		return;
	}
	c->cap = c->cap ? 2 * c->cap : 64;
	c->keys = bt_mem_realloc(c->keys, (size_t)c->cap * (c->key_n + 1), sizeof(*c->keys));
	c->classes = bt_mem_realloc(c->classes, c->cap, sizeof(*c->classes));
	c->vacant = bt_mem_realloc(c->vacant, c->cap, sizeof(*c->vacant));
}

/* The number of a new class, or NO_CLASS when there are too many. */
static uint32_t open_class(struct bt_classes *c, const uint32_t *key, uint64_t hash)
{
	uint32_t class;

	if (c->n - 1 - c->vacant_n >= c->limit) {
		return NO_CLASS;
	}
	if (c->vacant_n) {
		class = c->vacant[--c->vacant_n];
	} else {
		reserve(c);
		class = c->n++;
	}
	c->classes[class] = (struct bt_class){.hash = hash};
	memcpy(classes_key_of(c, class), key, (c->key_n + 1) * sizeof(*key));
	bt_map_put(&c->ixs, hash, class);
	BT_INVARIANT(class > 0 && class < c->n);
	return class;
}

/*
 * The present class of a node, or NO_CLASS. When keys with equal hashes come and go, two classes may have one
 * key: each then represents its own nodes.
 */
static uint32_t class_for(struct bt_classes *c, uint32_t node_ix)
{
	uint32_t key[BT_EQUIVALENCE_KEYS + 1] = {c->group[node_ix]}, class;
	size_t bytes = (c->key_n + 1) * sizeof(*key);
	uint64_t hash = key[0];

	for (uint32_t k = 0; k < c->key_n; k++) {
		key[k + 1] = place_in(&c->node_keys[k], node_ix);
		hash = bt_hash_u64(hash + 0x9e3779b97f4a7c15u + key[k + 1]);
	}
	for (hash |= 1; bt_map_get(&c->ixs, hash, &class); hash += 2) {
		if (memcmp(classes_key_of(c, class), key, bytes) == 0) {
			return class;
		}
	}
	return open_class(c, key, hash);
}

static void classes_enter(struct bt_classes *c, uint32_t node_ix, uint32_t class)
{
	BT_INVARIANT(class > 0 && class < c->n);
	c->of[node_ix] = (uint16_t) class;
	c->classes[class].example = node_ix;
	c->classes[class].node_n++;
	c->classes[class].alive_n += bt_bitmap_test(c->alive, node_ix);
}

static void leave(struct bt_classes *c, uint32_t node_ix)
{
	uint32_t class = c->of[node_ix];

	BT_INVARIANT(class > 0 && class < c->n && c->classes[class].node_n > 0);
	c->classes[class].alive_n -= bt_bitmap_test(c->alive, node_ix);
	if (--c->classes[class].node_n == 0) {
		bt_map_remove(&c->ixs, c->classes[class].hash);
		BT_INVARIANT(c->vacant_n < c->cap);
		c->vacant[c->vacant_n++] = (uint16_t) class;
	}
}

static void forget_classes(struct bt_classes *c)
{
	bt_mem_free(c->of);
	bt_mem_free(c->alive);
	bt_mem_free(c->keys);
	bt_mem_free(c->classes);
	bt_mem_free(c->vacant);
	bt_map_fini(&c->ixs);
	c->of = c->vacant = NULL;
	c->alive = NULL;
	c->keys = NULL;
	c->classes = NULL;
	c->n = c->cap = c->vacant_n = 0;
}

static void classes_give_up(struct bt_classes *c)
{
	forget_classes(c);
	c->single = true;
}

/* Counts the nodes that their usage does not refuse. */
static void count_alive(struct bt_classes *c, const struct bt_column *column)
{
	for (uint32_t class = 1; class < c->n; class ++) {
		c->classes[class].alive_n = 0;
	}
	memset(c->alive, 0, bt_bitmap_words(c->slot_room) * sizeof(*c->alive));
	for (uint32_t i = 0; i < c->slot_n; i++) {
		if (c->of[i] && column->value[i]) {
			bt_bitmap_set(c->alive, i);
			c->classes[c->of[i]].alive_n++;
		}
	}
	c->flip_at = column->flips.end;
}

/* Sorts every node into its class. */
static void sort(struct bt_classes *c, const struct bt_column *column)
{
	bt_map_fini(&c->ixs);
	c->n = 1;
	c->vacant_n = 0;
	reserve(c);
	for (uint32_t k = 0; k < c->key_n; k++) {
		c->key_at[k] = c->node_keys[k].domain_counts ? c->node_keys[k].domain_counts->journal_end : 0;
	}
	for (uint32_t i = 0; i < c->slot_n; i++) {
		if (c->group[i] == 0) {
			continue;
		}
		uint32_t class = class_for(c, i);
		if (class == NO_CLASS) {
			classes_give_up(c);
			return;
		}
		classes_enter(c, i, class);
	}
	count_alive(c, column);
	BT_INVARIANT(c->single || c->n <= c->cap);
}

struct bt_classes *bt_classes_create(uint16_t *group, uint32_t slot_n, uint32_t slot_room,
	const struct bt_equivalence_key *node_keys, uint32_t key_n, const struct bt_column *column)
{
	struct bt_classes *c = bt_mem_zalloc(1, sizeof(*c));

	BT_REQUIRE(slot_n > 0 && slot_n <= slot_room);
	*c = (struct bt_classes){
		.key_n = key_n,
		.slot_n = slot_n,
		.slot_room = slot_room,
		.group = group,
		.single = key_n > BT_EQUIVALENCE_KEYS,
		.limit = slot_n / CLASS_SHARE < CLASS_LIMIT ? slot_n / CLASS_SHARE : CLASS_LIMIT,
	};
	memcpy(c->node_keys, node_keys,
		(key_n < BT_EQUIVALENCE_KEYS ? key_n : BT_EQUIVALENCE_KEYS) * sizeof(*node_keys));
	if (!c->single) {
		c->of = bt_mem_column(bt_scan_padded(slot_room), sizeof(*c->of));
		c->alive = bt_mem_zalloc(bt_bitmap_words(slot_room) + 1, sizeof(*c->alive));
		sort(c, column);
	}
	return c;
}

void bt_classes_destroy(struct bt_classes *c)
{
	if (!c) {
		return;
	}
	forget_classes(c);
	bt_mem_free(c->group);
	bt_mem_free(c);
}

void bt_classes_place(struct bt_classes *c, const struct bt_shards *shards)
{
	bt_shards_place(shards, c->group, sizeof(*c->group), 1);
	bt_shards_place(shards, c->of, sizeof(*c->of), 1);
	bt_shards_place(shards, c->alive, sizeof(*c->alive), 64);
}

size_t bt_classes_bytes(const struct bt_classes *c)
{
	size_t each = (c->key_n + 1) * sizeof(*c->keys) + sizeof(*c->classes) + sizeof(*c->vacant) +
		      2 * sizeof(struct bt_map_entry);

	return sizeof(*c) + (c->single ? 1 : 2) * bt_scan_padded(c->slot_room) * sizeof(*c->group) +
	       c->cap * each;
}

/* ---- updates ---- */

static void catch_up_alive(struct bt_classes *c, const struct bt_column *column)
{
	if (column->flips.end - c->flip_at > BT_COLUMN_FLIPS) {
		count_alive(c, column);
		return;
	}
	for (; c->flip_at != column->flips.end; c->flip_at++) {
		uint32_t node_ix = column->flips.items[c->flip_at % BT_COLUMN_FLIPS];
		bool alive = column->value[node_ix] != 0;

		if (c->of[node_ix] == 0 || alive == bt_bitmap_test(c->alive, node_ix)) {
			continue;
		}
		c->alive[node_ix / 64] ^= (uint64_t)1 << node_ix % 64;
		BT_INVARIANT(alive || c->classes[c->of[node_ix]].alive_n > 0);
		c->classes[c->of[node_ix]].alive_n += alive ? 1 : UINT32_MAX;
	}
}

/* Moves a node to its present class. Returns: false when there are too many classes. */
static bool move(struct bt_classes *c, uint32_t node_ix)
{
	if (c->group[node_ix] == 0) {
		return true;
	}
	uint32_t class = class_for(c, node_ix);
	if (class == c->of[node_ix]) {
		return true;
	}
	if (class == NO_CLASS) {
		return false;
	}
	leave(c, node_ix);
	classes_enter(c, node_ix, class);
	return true;
}

/* Moves the nodes of a domain. Returns: false when there are too many classes. */
static bool move_domain(struct bt_classes *c, const struct bt_domain_counts *domain_counts, uint32_t domain)
{
	BT_INVARIANT(domain < domain_counts->domain_n);
	if (!domain_counts->first) {
		return move(c, domain);
	}
	for (uint32_t node_ix = domain_counts->first[domain]; node_ix != BT_NO_NODE;
		node_ix = domain_counts->next[node_ix]) {
		if (!move(c, node_ix)) {
			return false;
		}
	}
	return true;
}

void bt_classes_redescribe(struct bt_classes *c, const struct bt_column *column, uint32_t node_ix,
	uint16_t group, uint32_t slot_n)
{
	BT_REQUIRE(node_ix < c->slot_room && slot_n <= c->slot_room);
	c->slot_n = slot_n;
	c->group[node_ix] = group;
	if (c->single) {
		return;
	}
	if (c->of[node_ix]) {
		leave(c, node_ix);
		c->of[node_ix] = 0;
	}
	bt_bitmap_clear(c->alive, node_ix);
	if (group == 0) {
		return;
	}
	uint32_t class = class_for(c, node_ix);
	if (class == NO_CLASS) {
		classes_give_up(c);
		return;
	}
	/* Later changes of its value are in the column's flips. */
	if (column->value[node_ix]) {
		bt_bitmap_set(c->alive, node_ix);
	}
	classes_enter(c, node_ix, class);
}

void bt_classes_catch_up(struct bt_classes *c, const struct bt_column *column)
{
	if (c->single) {
		return;
	}
	for (uint32_t k = 0; k < c->key_n; k++) {
		const struct bt_domain_counts *domain_counts = c->node_keys[k].domain_counts;

		if (domain_counts && domain_counts->journal_end - c->key_at[k] > BT_DOMAIN_COUNTS_JOURNAL) {
			sort(c, column);
			return;
		}
	}
	catch_up_alive(c, column);
	for (uint32_t k = 0; k < c->key_n; k++) {
		const struct bt_domain_counts *domain_counts = c->node_keys[k].domain_counts;

		for (; domain_counts && c->key_at[k] != domain_counts->journal_end; c->key_at[k]++) {
			if (!move_domain(c, domain_counts,
				    domain_counts->journal[c->key_at[k] % BT_DOMAIN_COUNTS_JOURNAL])) {
				classes_give_up(c);
				return;
			}
		}
	}
}

uint32_t bt_classes_example(struct bt_classes *c, uint32_t class)
{
	uint32_t at = c->classes[class].example;

	BT_REQUIRE(c->classes[class].node_n > 0);
	if (c->of[at] != class) {
		at = (uint32_t)bt_scan_find(c->of, bt_scan_padded(c->slot_room), at, (uint16_t) class);
		c->classes[class].example = at;
	}
	BT_INVARIANT(c->of[at] == class);
	return at;
}
