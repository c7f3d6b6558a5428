/* SPDX-License-Identifier: Apache-2.0
 * Storage objects by name; disks per node, cached until their inputs change.
 */
#include "cache/volumes_int.h"

#include <stdlib.h>

#include "engine/base/index_allocator.h"
#include "engine/base/check.h"
#include "engine/base/mem.h"

/* Handles of disks that are not provisioned yet: this bit and the claim's index. */
#define UNBOUND_HANDLE 0x80000000u

/* The memory and names that an object owns. */
struct owned {
	uint32_t name; /* of the entry; held */
	struct bt_arena arena;
	struct bt_name_refs names;   /* that it has */
	struct bt_name_refs assumed; /* of the assumed state of a PersistentVolume or claim */
};

/* Objects of one kind by their names. An entry without a user is vacant. */
struct volumes_table {
	void *items;
	struct owned *owned; /* by index */
	size_t n, cap, owned_cap, size;
	struct bt_index_allocator vacant;
};

/* Lists of indices by a key, for reverse lookups. */
struct chains {
	struct bt_map first; /* key -> index plus one */
	uint32_t *next;	     /* by index: the next one's plus one, or 0 */
	size_t cap;
};

/* The number of a node's pods that use a claim. */
struct claim_use {
	uint32_t node_ix, pod_n; /* pod_n: other than as an ephemeral volume */
	uint32_t all_n;
};

struct claim_uses {
	struct claim_use *items;
	size_t n, cap;
};

/* Cached data of a node. */
struct node_state {
	struct bt_attached is;
	uint64_t *disks;
	struct bt_driver_count *counts;
	size_t disk_cap, count_cap;
	struct bt_name_refs names; /* the error's */
	uint64_t facts;		   /* version at computation; 0: invalid: never computed, the node's pods
				      changed, or an error, which depends on the order of pods, too */
};

struct nomination {
	uint32_t ix, next; /* next: index plus one of the pod's next, or of the next free one */
	bool of_claim;
	bool was_assumed; /* before */
	uint64_t version;
};

struct bt_volumes {
	struct bt_storage view;
	struct bt_dictionary *dictionary;
	const struct bt_snapshot *snapshot;
	struct bt_arena scratch;
	struct volumes_table pvs, claims, classes, csi_nodes, drivers, capacities, attachments;
	struct bt_map capacity_ixs, attachment_ixs;
	struct chains class_pvs, volume_claims, node_attachments, volume_attachments;
	struct claim_uses *uses; /* by claim */
	size_t uses_cap;
	struct bt_volume_users *users; /* by node slot */
	struct node_state *nodes;      /* by node slot */
	struct bt_claim_trial *trials;
	size_t trial_cap;
	size_t slot_cap;
	struct bt_map node_slots; /* node name -> slot, of nodes with cached data */
	uint64_t facts;		  /* incremented to invalidate all nodes */
	struct nomination *nominations;
	size_t nomination_n, nomination_cap;
	uint32_t free_nomination; /* index plus one */
	struct bt_map nominated;  /* pod index plus one -> index plus one of its first assumed volume */
	bool retains;
	struct owned *retained; /* memory of replaced and deleted objects */
	size_t retained_n, retained_cap;
	bt_visit_in_order *visit_in_order; /* NULL: users are in any order */
	void *order_context;
};

/* ---- chains ---- */

static void chain_add(struct chains *chains, uint64_t key, uint32_t ix)
{
	uint32_t first = 0;

	if (!key) {
		return;
	}
	while (ix >= chains->cap) {
		size_t old = chains->cap;

		chains->cap = old ? old * 2 : 64;
		chains->next = bt_mem_realloc(chains->next, chains->cap, sizeof(*chains->next));
		memset(chains->next + old, 0, (chains->cap - old) * sizeof(*chains->next));
	}
	bt_map_get(&chains->first, key, &first);
	chains->next[ix] = first;
	bt_map_put(&chains->first, key, ix + 1);
}

static void chain_remove(struct chains *chains, uint64_t key, uint32_t ix)
{
	uint32_t first = 0;

	if (!key || !bt_map_get(&chains->first, key, &first)) {
		return;
	}
	if (first == ix + 1 && !chains->next[ix]) {
		bt_map_remove(&chains->first, key);
		return;
	}
	if (first == ix + 1) {
		bt_map_put(&chains->first, key, chains->next[ix]);
		return;
	}
	for (uint32_t at = first; at; at = chains->next[at - 1]) {
		if (chains->next[at - 1] == ix + 1) {
			chains->next[at - 1] = chains->next[ix];
			return;
		}
	}
}

static uint32_t chain_first(const struct chains *chains, uint64_t key)
{
	uint32_t first = 0;

	if (key) {
		bt_map_get(&chains->first, key, &first);
	}
	return first;
}

static void chains_fini(struct chains *chains)
{
	bt_map_fini(&chains->first);
	bt_mem_free(chains->next);
}

/* ---- tables ---- */

static void *table_at(const struct volumes_table *table, uint32_t ix)
{
	return (char *)table->items + (size_t)ix * table->size;
}

/* The index of a key, assigned now if it has none; then the object is all zeroes. For keys of two names the
 * first one stays. */
static uint32_t table_ix(
	struct bt_volumes *v, struct volumes_table *table, struct bt_map *ixs, uint64_t key, uint32_t name)
{
	uint32_t ix;

	if (bt_map_get(ixs, key, &ix)) {
		return ix;
	}
	if (!bt_index_allocator_take(&table->vacant, &ix)) {
		table->items = bt_mem_grow(table->items, table->n, &table->cap, table->size);
		table->owned = bt_mem_grow(table->owned, table->n, &table->owned_cap, sizeof(*table->owned));
		ix = (uint32_t)table->n++;
	}
	memset(table_at(table, ix), 0, table->size);
	const struct bt_name_refs none = {.intern = v->dictionary->intern};
	table->owned[ix] = (struct owned){.name = name, .names = none, .assumed = none};
	bt_intern_hold_again(v->dictionary->intern, name);
	bt_intern_hold_again(v->dictionary->intern, (uint32_t)(key >> 32)); /* the namespace, if it has one */
	bt_map_put(ixs, key, ix);
	return ix;
}

static void release(struct owned *owned)
{
	bt_arena_fini(&owned->arena);
	bt_name_refs_release(&owned->names);
	bt_name_refs_release(&owned->assumed);
}

/* Frees an object's memory, now or when retaining ends. */
static void release_owned(struct bt_volumes *v, struct owned *owned)
{
	if (BT_LIKELY(!v->retains)) {
		release(owned);
		return;
	}
	v->retained = bt_mem_grow(v->retained, v->retained_n, &v->retained_cap, sizeof(*v->retained));
	v->retained[v->retained_n++] = *owned;
	const struct bt_name_refs none = {.intern = v->dictionary->intern};
	*owned = (struct owned){.name = owned->name, .names = none, .assumed = none};
}

void bt_volumes_retain(struct bt_volumes *v)
{
	BT_OWNED_BY_THREAD(&v->snapshot->owner);
	v->retains = true;
}

bool bt_volumes_is_retaining(const struct bt_volumes *v)
{
	return v->retains;
}

void bt_volumes_end_retaining(struct bt_volumes *v)
{
	BT_OWNED_BY_THREAD(&v->snapshot->owner);
	for (size_t i = 0; i < v->retained_n; i++) {
		release(&v->retained[i]);
	}
	v->retained_n = 0;
	v->retains = false;
}

/* Replaces an object's memory after the new object is stored; NULL: deleted. */
static void own(struct bt_volumes *v, struct volumes_table *table, uint32_t ix, const struct owned *made)
{
	struct owned *owned = &table->owned[ix];

	release_owned(v, owned);
	if (made) {
		owned->arena = made->arena;
		owned->names = made->names;
	}
}

/* Vacates an entry without users. */
static void vacate(
	struct bt_volumes *v, struct volumes_table *table, struct bt_map *ixs, uint64_t key, uint32_t ix)
{
	release_owned(v, &table->owned[ix]);
	memset(table_at(table, ix), 0, table->size);
	bt_map_remove(ixs, key);
	bt_intern_release(v->dictionary->intern, table->owned[ix].name);
	bt_intern_release(v->dictionary->intern, (uint32_t)(key >> 32));
	bt_index_allocator_give(&table->vacant, ix);
}

static struct owned begin_object(const struct bt_volumes *v)
{
	return (struct owned){.names.intern = v->dictionary->intern};
}

static void table_fini(struct volumes_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		release(&table->owned[i]);
	}
	bt_mem_free(table->items);
	bt_mem_free(table->owned);
	bt_index_allocator_fini(&table->vacant);
}

/* ---- nodes ---- */

static void reserve(struct bt_volumes *v, uint32_t slot)
{
	size_t old = v->slot_cap;

	if (slot < old) {
		return;
	}
	while (slot >= v->slot_cap) {
		v->slot_cap = v->slot_cap ? v->slot_cap * 2 : 64;
	}
	v->users = bt_mem_realloc(v->users, v->slot_cap, sizeof(*v->users));
	v->nodes = bt_mem_realloc(v->nodes, v->slot_cap, sizeof(*v->nodes));
	memset(v->users + old, 0, (v->slot_cap - old) * sizeof(*v->users));
	memset(v->nodes + old, 0, (v->slot_cap - old) * sizeof(*v->nodes));
	v->view.users = v->users;
	v->view.user_slot_n = (uint32_t)v->slot_cap;
}

static void end_node(struct node_state *node)
{
	bt_mem_free(node->disks);
	bt_mem_free(node->counts);
	bt_name_refs_release(&node->names);
}

static void forget_node(struct bt_volumes *v, uint32_t node_name)
{
	uint32_t slot;

	if (node_name && bt_map_get(&v->node_slots, node_name, &slot)) {
		v->nodes[slot].facts = 0;
	}
}

void bt_volumes_vacate(struct bt_volumes *v, uint32_t node_ix)
{
	BT_OWNED_BY_THREAD(&v->snapshot->owner);
	uint32_t node_name = v->snapshot->nodes[node_ix].name, slot;

	if (bt_map_get(&v->node_slots, node_name, &slot) && slot == node_ix) {
		bt_map_remove(&v->node_slots, node_name);
	}
	if (node_ix >= v->slot_cap) {
		return;
	}
	BT_REQUIRE(v->users[node_ix].n == 0);
	bt_mem_free(v->users[node_ix].items);
	v->users[node_ix] = (struct bt_volume_users){0};
	end_node(&v->nodes[node_ix]);
	v->nodes[node_ix] = (struct node_state){0};
}

void bt_volumes_trim_nodes(struct bt_volumes *v, uint32_t slot_n)
{
	BT_OWNED_BY_THREAD(&v->snapshot->owner);
	size_t room = bt_index_allocator_room(slot_n, v->slot_cap);

	BT_INVARIANT(slot_n <= v->slot_cap || room == v->slot_cap);
	if (room < v->slot_cap) {
		v->users = bt_mem_realloc(v->users, room, sizeof(*v->users));
		v->nodes = bt_mem_realloc(v->nodes, room, sizeof(*v->nodes));
		v->slot_cap = room;
		v->view.users = v->users;
		v->view.user_slot_n = (uint32_t)room;
	}
}

static void forget_claim(struct bt_volumes *v, uint32_t claim_ix)
{
	for (size_t i = 0; claim_ix < v->uses_cap && i < v->uses[claim_ix].n; i++) {
		BT_INVARIANT(v->uses[claim_ix].items[i].node_ix < v->slot_cap);
		v->nodes[v->uses[claim_ix].items[i].node_ix].facts = 0;
	}
}

static struct claim_uses *uses_of(struct bt_volumes *v, uint32_t claim_ix)
{
	size_t old = v->uses_cap;

	while (claim_ix >= v->uses_cap) {
		v->uses_cap = v->uses_cap ? v->uses_cap * 2 : 64;
	}
	if (v->uses_cap != old) {
		v->uses = bt_mem_realloc(v->uses, v->uses_cap, sizeof(*v->uses));
		memset(v->uses + old, 0, (v->uses_cap - old) * sizeof(*v->uses));
	}
	BT_INVARIANT(claim_ix < v->uses_cap);
	return &v->uses[claim_ix];
}

/* The index of a claim, including unknown ones. */
static uint32_t claim_ix_of(struct bt_volumes *v, uint32_t namespace_, uint32_t name)
{
	uint32_t ix = table_ix(v, &v->claims, &v->view.claim_ixs, bt_pair_key(namespace_, name), name);

	v->view.claims = v->claims.items;
	return ix;
}

static size_t find_use(const struct claim_uses *uses, uint32_t node_ix)
{
	size_t i = 0;

	while (i < uses->n && uses->items[i].node_ix != node_ix) {
		i++;
	}
	return i;
}

static void use_claim(
	struct bt_volumes *v, uint32_t namespace_, const struct bt_pod_volume *volume, uint32_t node_ix)
{
	struct claim_uses *uses = uses_of(v, claim_ix_of(v, namespace_, volume->source));
	size_t i = find_use(uses, node_ix);

	if (i == uses->n) {
		uses->items = bt_mem_grow(uses->items, uses->n, &uses->cap, sizeof(*uses->items));
		uses->items[uses->n++] = (struct claim_use){.node_ix = node_ix};
	}
	BT_INVARIANT(uses->items[i].pod_n <= uses->items[i].all_n);
	uses->items[i].all_n++;
	uses->items[i].pod_n += volume->type == BT_VOLUME_CLAIM;
}

/* An entry of a claim stays while there is a claim, or pods on nodes name it. */
static void vacate_claim(struct bt_volumes *v, uint32_t namespace_, uint32_t name, uint32_t ix)
{
	if (!v->view.claims[ix].live && uses_of(v, ix)->n == 0) {
		vacate(v, &v->claims, &v->view.claim_ixs, bt_pair_key(namespace_, name), ix);
	}
}

static void release_claim(
	struct bt_volumes *v, uint32_t namespace_, const struct bt_pod_volume *volume, uint32_t node_ix)
{
	uint32_t ix = claim_ix_of(v, namespace_, volume->source);
	struct claim_uses *uses = uses_of(v, ix);
	size_t i = find_use(uses, node_ix);

	BT_INVARIANT(i < uses->n && uses->items[i].all_n > 0);
	uses->items[i].all_n--;
	uses->items[i].pod_n -= volume->type == BT_VOLUME_CLAIM;
	BT_INVARIANT(uses->items[i].pod_n <= uses->items[i].all_n);
	if (uses->items[i].all_n == 0) {
		uses->items[i] = uses->items[--uses->n];
	}
	vacate_claim(v, namespace_, volume->source, ix);
}

/* The claims that a pod on the node names; those of others may be the same. */
static void move_claims(
	struct bt_volumes *v, const struct bt_signature *signature, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < signature->volume_n; i++) {
		if (!bt_volume_claims(signature->volumes[i].type)) {
			continue;
		}
		struct claim_uses *uses =
			uses_of(v, claim_ix_of(v, signature->namespace_, signature->volumes[i].source));
		size_t at = find_use(uses, from);
		if (at < uses->n) {
			uses->items[at].node_ix = to;
		}
	}
}

void bt_volumes_move_node(struct bt_volumes *v, uint32_t from, uint32_t to)
{
	BT_OWNED_BY_THREAD(&v->snapshot->owner);
	uint32_t node_name = v->snapshot->nodes[to].name, slot;

	if (from >= v->slot_cap) {
		return;
	}
	BT_REQUIRE(to < from && v->users[to].n == 0);
	if (bt_map_get(&v->node_slots, node_name, &slot)) {
		bt_map_put(&v->node_slots, node_name, to);
	}
	for (uint32_t i = 0; i < v->users[from].n; i++) {
		move_claims(v, v->users[from].items[i], from, to);
	}
	BT_INVARIANT(!v->nodes[to].disks);
	v->users[to] = v->users[from];
	v->nodes[to] = v->nodes[from];
	v->users[from] = (struct bt_volume_users){0};
	v->nodes[from] = (struct node_state){0};
}

void bt_volumes_enter(struct bt_volumes *v, const struct bt_signature *signature, uint32_t node_ix)
{
	BT_OWNED_BY_THREAD(&v->snapshot->owner);
	reserve(v, node_ix);
	struct bt_volume_users *users = &v->users[node_ix];

	if (users->n == users->cap) {
		users->cap = users->cap ? users->cap * 2 : 4;
		users->items = bt_mem_realloc(users->items, users->cap, sizeof(*users->items));
	}
	BT_INVARIANT(users->n < users->cap);
	users->items[users->n++] = signature;
	for (uint32_t i = 0; i < signature->volume_n; i++) {
		if (bt_volume_claims(signature->volumes[i].type)) {
			use_claim(v, signature->namespace_, &signature->volumes[i], node_ix);
		}
	}
	v->nodes[node_ix].facts = 0;
}

void bt_volumes_leave(struct bt_volumes *v, const struct bt_signature *signature, uint32_t node_ix)
{
	BT_OWNED_BY_THREAD(&v->snapshot->owner);
	BT_REQUIRE_HOT(node_ix < v->slot_cap);
	struct bt_volume_users *users = &v->users[node_ix];
	uint32_t at = 0;

	while (at < users->n && users->items[at] != signature) {
		at++;
	}
	BT_INVARIANT(at < users->n);
	users->items[at] = users->items[--users->n];
	for (uint32_t i = 0; i < signature->volume_n; i++) {
		if (bt_volume_claims(signature->volumes[i].type)) {
			release_claim(v, signature->namespace_, &signature->volumes[i], node_ix);
		}
	}
	v->nodes[node_ix].facts = 0;
}

/* Drops entries of claims whose count is back to 0. */
static void try_claim(struct bt_volumes *v, uint32_t claim, int32_t by)
{
	uint32_t at = 0, n = v->view.trial_n;

	while (at < n && v->trials[at].claim != claim) {
		at++;
	}
	if (at == n) {
		v->trials = bt_mem_grow(v->trials, n, &v->trial_cap, sizeof(*v->trials));
		v->trials[n++] = (struct bt_claim_trial){.claim = claim};
	}
	BT_INVARIANT(v->trials[at].claim == claim);
	v->trials[at].volume_n += by;
	if (v->trials[at].volume_n == 0) {
		v->trials[at] = v->trials[--n];
	}
	v->view.trials = v->trials;
	v->view.trial_n = n;
}

void bt_volumes_try(struct bt_volumes *v, const struct bt_signature *signature, uint32_t node_ix, bool add)
{
	BT_OWNED_BY_THREAD(&v->snapshot->owner);
	for (uint32_t i = 0; i < signature->volume_n; i++) {
		if (signature->volumes[i].type == BT_VOLUME_CLAIM) {
			try_claim(v, signature->volumes[i].source, add ? 1 : -1);
		}
	}
	if (add) {
		bt_volumes_enter(v, signature, node_ix);
	} else {
		bt_volumes_leave(v, signature, node_ix);
	}
}

static bool in_use(void *context, const struct bt_claim *claim)
{
	const struct bt_volumes *v = context;
	size_t ix = (size_t)(claim - (const struct bt_claim *)v->claims.items);

	for (size_t i = 0; ix < v->uses_cap && i < v->uses[ix].n; i++) {
		const struct claim_use *use = &v->uses[ix].items[i];

		if (use->pod_n && bt_bitmap_test(v->snapshot->live, use->node_ix)) {
			return true;
		}
	}
	return false;
}

/* ---- disks ---- */

/* A missing volume counts as a separate one that the class's provisioner will create. */
static struct bt_csi_disk disk_of_class(const struct bt_volumes *v, const struct bt_claim *claim)
{
	struct bt_csi_disk none = {.driver = BT_NAME_EMPTY, .handle = BT_NAME_EMPTY};
	const struct bt_storage_class *class_ = bt_storage_class(&v->view, claim->class_);
	uint32_t handle = UNBOUND_HANDLE | (uint32_t)(claim - (const struct bt_claim *)v->claims.items);

	if (claim->class_ == BT_NAME_EMPTY || !class_) {
		return none;
	}
	enum bt_in_tree in_tree = bt_in_tree_named(bt_intern_str(v->dictionary->intern, class_->provisioner));
	if (in_tree >= BT_IN_TREE_COUNTED_N) {
		return none;
	}
	if (in_tree != BT_IN_TREE_NONE) {
		return (struct bt_csi_disk){.in_tree = in_tree,
			.driver = bt_intern_add(v->dictionary->intern, bt_in_tree_driver(in_tree)),
			.handle = handle};
	}
	return (struct bt_csi_disk){.driver = class_->provisioner, .handle = handle};
}

static struct bt_csi_disk disk_of(void *context, const struct bt_claim *claim)
{
	const struct bt_volumes *v = context;
	const struct bt_pv *pv =
		claim->volume == BT_NAME_EMPTY ? NULL : bt_storage_pv(&v->view, claim->volume);

	return pv ? pv->disk : disk_of_class(v, claim);
}

static bool counts(const struct bt_csi_disk *disk)
{
	return disk->driver != BT_NAME_EMPTY && disk->handle != BT_NAME_EMPTY;
}

static void add_disk(struct node_state *node, const struct bt_csi_disk *disk)
{
	BT_INVARIANT(disk->driver != BT_NAME_NONE);
	node->disks = bt_mem_grow(node->disks, node->is.disk_n, &node->disk_cap, sizeof(*node->disks));
	node->disks[node->is.disk_n++] = bt_disk_id(disk);
}

static uint32_t volumes_fail(
	struct node_state *node, const char *format, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const struct bt_intern *intern = node->names.intern;
	struct bt_buf text = {0};

	bt_buf_printf(&text, format, BT_STR_ARG(bt_intern_str(intern, a)),
		BT_STR_ARG(bt_intern_str(intern, b)), BT_STR_ARG(bt_intern_str(intern, c)),
		BT_STR_ARG(bt_intern_str(intern, d)));
	uint32_t name = bt_name_refs_add(&node->names, bt_buf_view(&text));
	bt_buf_fini(&text);
	return name;
}

/* Adds the disks of one pod. Returns false when they cannot be counted. */
static bool add_pod(struct bt_volumes *v, struct node_state *node, const struct bt_signature *signature)
{
	const struct bt_csi_node *csi_node =
		bt_storage_csi_node(&v->view, v->snapshot->nodes[node - v->nodes].name);

	for (uint32_t i = 0; i < signature->volume_n; i++) {
		const struct bt_pod_volume *volume = &signature->volumes[i];
		struct bt_csi_disk disk = volume->disk;

		if (disk.error) {
			node->is.error =
				volumes_fail(node, "converting volume(%.*s) from inline to csi: %.*s",
					volume->name, disk.error, BT_NAME_NONE, BT_NAME_NONE);
			return false;
		}
		if (bt_volume_claims(volume->type)) {
			if (volume->source == BT_NAME_EMPTY) {
				node->is.error = bt_name_refs_add(
					&node->names, bt_str("PersistentVolumeClaim had no name"));
				return false;
			}
			const struct bt_claim *claim =
				bt_storage_claim(&v->view, signature->namespace_, volume->source);
			if (!claim) {
				continue;
			}
			if (volume->type == BT_VOLUME_EPHEMERAL &&
				(!claim->owner_uid || claim->owner_uid != signature->pod_uid)) {
				node->is.error = volumes_fail(node,
					"PVC %.*s/%.*s was not created for pod %.*s/%.*s (pod is not owner)",
					signature->namespace_, volume->source, signature->namespace_,
					signature->pod_name);
				return false;
			}
			disk = disk_of(v, claim);
		}
		if (counts(&disk) && (!csi_node || bt_storage_counts_on(&v->view, csi_node, disk.in_tree))) {
			add_disk(node, &disk);
		}
	}
	return true;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint32_t sort_ids(uint64_t *ids, uint32_t n)
{
	uint32_t kept = 0;

	if (n) {
		qsort(ids, n, sizeof(*ids), by_id);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (kept == 0 || ids[kept - 1] != ids[i]) {
			ids[kept++] = ids[i];
		}
	}
	BT_INVARIANT(kept <= n && (n == 0 || kept > 0));
	return kept;
}

static void count_driver(struct node_state *node, uint32_t driver)
{
	uint32_t i = 0;

	while (i < node->is.count_n && node->counts[i].driver != driver) {
		i++;
	}
	if (i == node->is.count_n) {
		node->counts =
			bt_mem_grow(node->counts, node->is.count_n, &node->count_cap, sizeof(*node->counts));
		node->counts[node->is.count_n++] = (struct bt_driver_count){.driver = driver};
	}
	node->counts[i].n++;
	BT_INVARIANT(i < node->is.count_n && node->counts[i].driver == driver);
}

/* Counts the attached volumes that no pod uses. */
static void count_attachments(struct bt_volumes *v, struct node_state *node, uint32_t node_name)
{
	const struct bt_attachment *attachments = v->attachments.items;
	uint32_t used_n = node->is.disk_n;

	for (uint32_t at = chain_first(&v->node_attachments, node_name); at;
		at = v->node_attachments.next[at - 1]) {
		const struct bt_attachment *attachment = &attachments[at - 1];
		const struct bt_pv *pv = bt_storage_pv(&v->view, attachment->volume);

		if (attachment->attacher == BT_NAME_EMPTY || !pv || pv->disk.in_tree || !counts(&pv->disk)) {
			continue;
		}
		add_disk(node,
			&(struct bt_csi_disk){.driver = attachment->attacher, .handle = pv->disk.handle});
	}
	uint32_t all_n = node->is.disk_n - used_n;
	if (all_n == 0) {
		return; /* there may be no array */
	}
	all_n = sort_ids(node->disks + used_n, all_n);
	for (uint32_t i = used_n; i < used_n + all_n; i++) {
		if (!bsearch(&node->disks[i], node->disks, used_n, sizeof(*node->disks), by_id)) {
			count_driver(node, (uint32_t)(node->disks[i] >> 32));
		}
	}
	node->is.disk_n = used_n;
	BT_INVARIANT(used_n <= node->is.disk_n);
}

struct attach_visit {
	struct bt_volumes *v;
	struct node_state *node;
};

static bool attach_pod(void *visitor, const struct bt_signature *signature)
{
	const struct attach_visit *look = visitor;

	return add_pod(look->v, look->node, signature);
}

void bt_volumes_order_by(struct bt_volumes *v, bt_visit_in_order *visit, void *context)
{
	v->visit_in_order = visit;
	v->order_context = context;
}

/* If the volumes of several pods cannot be counted, the error is that of the first one. */
static const struct bt_attached *attached(void *context, uint32_t node_ix)
{
	struct bt_volumes *v = context;

	reserve(v, node_ix);
	struct node_state *node = &v->nodes[node_ix];
	const struct bt_volume_users *users = &v->users[node_ix];
	uint32_t node_name = v->snapshot->nodes[node_ix].name;
	bool good = true;

	if (node->facts == v->facts) {
		return &node->is;
	}
	bt_map_put(&v->node_slots, node_name, node_ix);
	node->is = (struct bt_attached){0};
	bt_name_refs_release(&node->names);
	node->names.intern = v->dictionary->intern;
	node->facts = v->facts;
	for (uint32_t i = 0; i < users->n && good; i++) {
		good = add_pod(v, node, users->items[i]);
	}
	if (!good) {
		node->facts = 0;
		if (v->visit_in_order) {
			v->visit_in_order(
				v->order_context, node_ix, attach_pod, &(struct attach_visit){v, node});
		}
	}
	node->is.disk_n = sort_ids(node->disks, node->is.disk_n);
	for (uint32_t i = 0; i < node->is.disk_n; i++) {
		count_driver(node, (uint32_t)(node->disks[i] >> 32));
	}
	count_attachments(v, node, node_name);
	node->is.disks = node->disks;
	node->is.counts = node->counts;
	return &node->is;
}

/* ---- objects ---- */

static bool same_disk(const struct bt_pv *a, const struct bt_pv *b)
{
	return a->live == b->live && a->disk.driver == b->disk.driver && a->disk.handle == b->disk.handle &&
	       a->disk.in_tree == b->disk.in_tree;
}

static void put_pv(struct bt_volumes *v, uint32_t ix, const struct bt_pv *fresh)
{
	struct bt_pv *pv = table_at(&v->pvs, ix);
	uint32_t name = fresh->name;

	BT_INVARIANT(fresh->name != BT_NAME_NONE);
	if (!same_disk(pv, fresh)) {
		for (uint32_t at = chain_first(&v->volume_claims, name); at;
			at = v->volume_claims.next[at - 1]) {
			forget_claim(v, at - 1);
		}
		for (uint32_t at = chain_first(&v->volume_attachments, name); at;
			at = v->volume_attachments.next[at - 1]) {
			forget_node(v, ((struct bt_attachment *)table_at(&v->attachments, at - 1))->node);
		}
	}
	chain_remove(&v->class_pvs, pv->live ? pv->class_ : 0, ix);
	*pv = *fresh;
	pv->version = v->view.version;
	BT_INVARIANT(pv->version == v->view.version);
	chain_add(&v->class_pvs, pv->live ? pv->class_ : 0, ix);
	v->view.pvs = v->pvs.items;
	v->view.class_pvs = v->class_pvs.first;
	v->view.next_of_class = v->class_pvs.next;
}

static void put_claim(struct bt_volumes *v, uint32_t ix, const struct bt_claim *fresh)
{
	struct bt_claim *claim = table_at(&v->claims, ix);

	BT_INVARIANT(ix < v->claims.n);
	if (claim->live != fresh->live || claim->volume != fresh->volume || claim->class_ != fresh->class_ ||
		claim->owner_uid != fresh->owner_uid) {
		forget_claim(v, ix);
	}
	chain_remove(&v->volume_claims, claim->live ? claim->volume : 0, ix);
	*claim = *fresh;
	claim->version = v->view.version;
	chain_add(&v->volume_claims, claim->live ? claim->volume : 0, ix);
}

static void put_class(struct bt_volumes *v, uint32_t ix, const struct bt_storage_class *fresh)
{
	struct bt_storage_class *class_ = table_at(&v->classes, ix);

	v->facts += class_->live != fresh->live || class_->provisioner != fresh->provisioner;
	*class_ = *fresh;
	v->view.classes = v->classes.items;
}

static void put_attachment(struct bt_volumes *v, uint32_t ix, const struct bt_attachment *fresh)
{
	struct bt_attachment *attachment = table_at(&v->attachments, ix);

	BT_INVARIANT(ix < v->attachments.n);
	if (attachment->live) {
		forget_node(v, attachment->node);
		chain_remove(&v->node_attachments, attachment->node, ix);
		chain_remove(&v->volume_attachments, attachment->volume, ix);
	}
	*attachment = *fresh;
	if (attachment->live) {
		forget_node(v, attachment->node);
		chain_add(&v->node_attachments, attachment->node, ix);
		chain_add(&v->volume_attachments, attachment->volume, ix);
	}
}

static void apply_pv(struct bt_volumes *v, const struct bt_persistent_volume_object *object)
{
	struct owned made = begin_object(v);
	struct bt_pv pv;

	bt_pv_compile(&made.names, &made.arena, object, &pv);
	pv.live = true;
	uint32_t ix = table_ix(v, &v->pvs, &v->view.pv_ixs, pv.name, pv.name);
	put_pv(v, ix, &pv);
	own(v, &v->pvs, ix, &made);
}

static void apply_claim(struct bt_volumes *v, const struct bt_claim_object *object)
{
	struct owned made = begin_object(v);
	struct bt_claim claim;

	bt_claim_compile(&made.names, &made.arena, object, &claim);
	claim.live = true;
	uint32_t ix = claim_ix_of(v, claim.namespace_, claim.name);
	put_claim(v, ix, &claim);
	own(v, &v->claims, ix, &made);
}

static void apply_class(struct bt_volumes *v, const struct bt_storage_class_object *object)
{
	struct owned made = begin_object(v);
	struct bt_storage_class class_;

	bt_storage_class_compile(&made.names, &made.arena, object, &class_);
	class_.live = true;
	uint32_t ix = table_ix(v, &v->classes, &v->view.class_ixs, class_.name, class_.name);
	put_class(v, ix, &class_);
	own(v, &v->classes, ix, &made);
}

static void apply_csi_node(struct bt_volumes *v, const struct bt_csi_node_object *object)
{
	struct owned made = begin_object(v);
	struct bt_csi_node node;

	bt_csi_node_compile(&made.names, &made.arena, object, &node);
	node.live = true;
	uint32_t ix = table_ix(v, &v->csi_nodes, &v->view.csi_node_ixs, node.name, node.name);
	*(struct bt_csi_node *)table_at(&v->csi_nodes, ix) = node;
	own(v, &v->csi_nodes, ix, &made);
	v->view.csi_nodes = v->csi_nodes.items;
	if (v->view.nodes_migrate_portworx) {
		forget_node(v, node.name);
	}
}

static void apply_driver(struct bt_volumes *v, const struct bt_csi_driver_object *object)
{
	struct owned made = begin_object(v);
	uint32_t name = bt_name_refs_add(&made.names, object->meta.name);
	uint32_t ix = table_ix(v, &v->drivers, &v->view.driver_ixs, name, name);

	*(struct bt_csi_driver *)table_at(&v->drivers, ix) =
		(struct bt_csi_driver){name, true, object->storage_capacity, object->prevent_if_missing};
	v->view.drivers = v->drivers.items;
	own(v, &v->drivers, ix, &made);
}

static void apply_capacity(struct bt_volumes *v, const struct bt_storage_capacity_object *object)
{
	struct owned made = begin_object(v);
	struct bt_csi_capacity capacity;

	bt_csi_capacity_compile(&made.names, &made.arena, object, &capacity);
	capacity.live = true;
	uint32_t ix = table_ix(v, &v->capacities, &v->capacity_ixs,
		bt_pair_key(capacity.namespace_, capacity.name), capacity.name);
	own(v, &v->capacities, ix, &made);
	*(struct bt_csi_capacity *)table_at(&v->capacities, ix) = capacity;
	v->view.capacities = v->capacities.items;
	v->view.capacity_n = (uint32_t)v->capacities.n;
}

static void apply_attachment(struct bt_volumes *v, const struct bt_attachment_object *object)
{
	struct owned made = begin_object(v);
	const struct bt_attachment attachment = {bt_name_refs_add(&made.names, object->meta.name),
		bt_name_refs_add(&made.names, object->node_name),
		bt_name_refs_add(&made.names, object->attacher),
		bt_name_refs_add(&made.names, object->volume_name), true};
	uint32_t ix = table_ix(v, &v->attachments, &v->attachment_ixs, attachment.name, attachment.name);

	put_attachment(v, ix, &attachment);
	own(v, &v->attachments, ix, &made);
}

void bt_volumes_apply(struct bt_volumes *v, const struct bt_object *object)
{
	BT_OWNED_BY_THREAD(&v->snapshot->owner);
	v->view.version++;
	switch (object->kind) {
	case BT_KIND_PERSISTENT_VOLUME:
		apply_pv(v, &object->persistent_volume);
		break;
	case BT_KIND_PERSISTENT_VOLUME_CLAIM:
		apply_claim(v, &object->claim);
		break;
	case BT_KIND_STORAGE_CLASS:
		apply_class(v, &object->storage_class);
		break;
	case BT_KIND_CSI_NODE:
		apply_csi_node(v, &object->csi_node);
		break;
	case BT_KIND_CSI_DRIVER:
		apply_driver(v, &object->csi_driver);
		break;
	case BT_KIND_CSI_STORAGE_CAPACITY:
		apply_capacity(v, &object->storage_capacity);
		break;
	case BT_KIND_VOLUME_ATTACHMENT:
		apply_attachment(v, &object->attachment);
		break;
	default:
		break;
	}
}

/* The table of a kind's objects. */
struct volumes_place {
	struct volumes_table *table;
	struct bt_map *ixs;
	bool spaced; /* their keys have a namespace */
};

static struct volumes_place place_of(struct bt_volumes *v, enum bt_kind kind)
{
	switch (kind) {
	case BT_KIND_PERSISTENT_VOLUME:
		return (struct volumes_place){&v->pvs, &v->view.pv_ixs, false};
	case BT_KIND_PERSISTENT_VOLUME_CLAIM:
		return (struct volumes_place){&v->claims, &v->view.claim_ixs, true};
	case BT_KIND_STORAGE_CLASS:
		return (struct volumes_place){&v->classes, &v->view.class_ixs, false};
	case BT_KIND_CSI_NODE:
		return (struct volumes_place){&v->csi_nodes, &v->view.csi_node_ixs, false};
	case BT_KIND_CSI_DRIVER:
		return (struct volumes_place){&v->drivers, &v->view.driver_ixs, false};
	case BT_KIND_VOLUME_ATTACHMENT:
		return (struct volumes_place){&v->attachments, &v->attachment_ixs, false};
	default:
		return (struct volumes_place){&v->capacities, &v->capacity_ixs, true};
	}
}

/* Updates data that depends on a deleted object. */
static void apply_removal(struct bt_volumes *v, enum bt_kind kind, uint32_t ix)
{
	switch (kind) {
	case BT_KIND_PERSISTENT_VOLUME: {
		struct bt_pv gone = {.name = v->view.pvs[ix].name};

		put_pv(v, ix, &gone);
		break;
	}
	case BT_KIND_PERSISTENT_VOLUME_CLAIM:
		put_claim(v, ix, &(struct bt_claim){0});
		break;
	case BT_KIND_STORAGE_CLASS:
		put_class(v, ix, &(struct bt_storage_class){0});
		break;
	case BT_KIND_VOLUME_ATTACHMENT:
		put_attachment(v, ix, &(struct bt_attachment){0});
		break;
	default:
		break;
	}
}

enum bt_status bt_volumes_remove(struct bt_volumes *v, enum bt_kind kind, uint32_t namespace_, uint32_t name)
{
	BT_OWNED_BY_THREAD(&v->snapshot->owner);
	const struct volumes_place place = place_of(v, kind);
	uint64_t key = place.spaced ? bt_pair_key(namespace_, name) : name;
	uint32_t ix;

	if (!name || !bt_map_get(place.ixs, key, &ix)) {
		return BT_NOT_FOUND;
	}
	v->view.version++;
	bool is_claim = kind == BT_KIND_PERSISTENT_VOLUME_CLAIM, was = !is_claim || v->view.claims[ix].live;
	apply_removal(v, kind, ix);
	if (is_claim) {
		own(v, &v->claims, ix, NULL);
		vacate_claim(v, namespace_, name, ix);
	} else {
		vacate(v, place.table, place.ixs, key, ix);
	}
	BT_INVARIANT(!was || is_claim || !bt_map_get(place.ixs, key, &ix));
	return was ? BT_OK : BT_NOT_FOUND;
}

/* ---- assumed volumes ---- */

static void nomination(struct bt_volumes *v, uint32_t pod_ix, const struct nomination *made)
{
	uint32_t first = 0, at = v->free_nomination;

	if (at) {
		v->free_nomination = v->nominations[at - 1].next;
	} else {
		v->nominations = bt_mem_grow(
			v->nominations, v->nomination_n, &v->nomination_cap, sizeof(*v->nominations));
		at = (uint32_t)++v->nomination_n;
	}
	bt_map_get(&v->nominated, pod_ix + (uint64_t)1, &first);
	v->nominations[at - 1] = *made;
	v->nominations[at - 1].next = first;
	bt_map_put(&v->nominated, pod_ix + (uint64_t)1, at);
}

/* The volume keeps an equal reference; as upstream, reverting drops it anyway. */
static void assume_pv(struct bt_volumes *v, uint32_t pod_ix, uint32_t pv_ix, const struct bt_claim *claim)
{
	struct bt_pv *pv = table_at(&v->pvs, pv_ix);
	const struct bt_claim_ref wanted = {claim->namespace_, claim->name, claim->uid};
	const struct bt_claim_ref *now = bt_pv_claim(pv);
	bool was_assumed = pv->assumed;

	if (!now || now->namespace_ != wanted.namespace_ || now->name != wanted.name ||
		now->uid != wanted.uid) {
		struct bt_name_refs *names = &v->pvs.owned[pv_ix].assumed;

		/* They may outlive the claim. */
		bt_name_refs_release(names);
		bt_name_refs_add_name(names, wanted.name);
		bt_name_refs_add_name(names, wanted.uid);
		pv->assumed = true;
		pv->assumed_claim = wanted;
	}
	BT_INVARIANT(pv->live);
	nomination(v, pod_ix,
		&(struct nomination){.ix = pv_ix, .was_assumed = was_assumed, .version = pv->version});
}

void bt_volumes_assume(struct bt_volumes *v, uint32_t pod_ix, uint32_t node_name,
	const struct bt_volume_binding *bindings, uint32_t n)
{
	BT_OWNED_BY_THREAD(&v->snapshot->owner);
	for (uint32_t i = 0; i < n; i++) {
		struct bt_claim *claim = table_at(&v->claims, bindings[i].claim_ix);
		struct bt_name_refs *names = &v->claims.owned[bindings[i].claim_ix].assumed;

		BT_REQUIRE_HOT(bindings[i].claim_ix < v->claims.n);
		if (bindings[i].pv_ix != BT_NO_VOLUME) {
			assume_pv(v, pod_ix, bindings[i].pv_ix, claim);
			continue;
		}
		/* It may outlive the node. */
		bool was_assumed = claim->assumed;

		bt_name_refs_release(names);
		bt_name_refs_add_name(names, node_name);
		claim->assumed = true;
		claim->assumed_node = node_name;
		nomination(v, pod_ix,
			&(struct nomination){.ix = bindings[i].claim_ix,
				.of_claim = true,
				.was_assumed = was_assumed,
				.version = claim->version});
	}
	v->view.version += n > 0;
}

/* Finds an assumed volume and its claim. Returns: false when one of them has been deleted. */
static bool find_binding(
	const struct bt_volumes *v, const struct nomination *made, struct bt_volume_binding *out)
{
	*out = (struct bt_volume_binding){made->ix, BT_NO_VOLUME};
	if (!made->of_claim) {
		const struct bt_claim_ref *claim = bt_pv_claim(&v->view.pvs[made->ix]);

		out->pv_ix = made->ix;
		if (!v->view.pvs[made->ix].live || !claim ||
			!bt_map_get(&v->view.claim_ixs, bt_pair_key(claim->namespace_, claim->name),
				&out->claim_ix)) {
			return false;
		}
	}
	return v->view.claims[out->claim_ix].live;
}

uint32_t bt_volumes_assumed(
	const struct bt_volumes *v, uint32_t pod_ix, struct bt_volume_binding *out, uint32_t cap)
{
	struct bt_volume_binding binding;
	uint32_t first = 0, n = 0, i = 0;

	bt_map_get(&v->nominated, pod_ix + (uint64_t)1, &first);
	for (uint32_t at = first; at; at = v->nominations[at - 1].next) {
		n += find_binding(v, &v->nominations[at - 1], &binding);
	}
	/* The newest one comes first. */
	for (uint32_t at = first; at; at = v->nominations[at - 1].next) {
		if (find_binding(v, &v->nominations[at - 1], &binding) && n - ++i < cap) {
			out[n - i] = binding;
		}
	}
	return n;
}

/* How the nominations of a pod end. */
enum nomination_end { ENDS_KEPT = 0, ENDS_REVERTED, ENDS_TAKEN_BACK };

/* exactly: keeps what was assumed before for another pod. */
static void undo(struct bt_volumes *v, const struct nomination *made, bool exactly)
{
	const bool stays = exactly && made->was_assumed;

	if (made->of_claim) {
		struct bt_claim *claim = table_at(&v->claims, made->ix);

		claim->assumed &= stays || claim->version != made->version;
	} else {
		struct bt_pv *pv = table_at(&v->pvs, made->ix);

		pv->assumed &= stays || pv->version != made->version;
	}
	v->view.version++;
}

static void end_nominations(struct bt_volumes *v, uint32_t pod_ix, enum nomination_end end)
{
	uint32_t at = 0;

	if (!bt_map_get(&v->nominated, pod_ix + (uint64_t)1, &at)) {
		return;
	}
	bt_map_remove(&v->nominated, pod_ix + (uint64_t)1);
	while (at) {
		struct nomination *made = &v->nominations[at - 1];
		uint32_t next = made->next;

		if (end != ENDS_KEPT) {
			undo(v, made, end == ENDS_TAKEN_BACK);
		}
		made->next = v->free_nomination;
		v->free_nomination = at;
		at = next;
	}
}

void bt_volumes_keep(struct bt_volumes *v, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&v->snapshot->owner);
	end_nominations(v, pod_ix, ENDS_KEPT);
}

void bt_volumes_revert(struct bt_volumes *v, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&v->snapshot->owner);
	end_nominations(v, pod_ix, ENDS_REVERTED);
}

void bt_volumes_take_back(struct bt_volumes *v, uint32_t pod_ix)
{
	BT_OWNED_BY_THREAD(&v->snapshot->owner);
	end_nominations(v, pod_ix, ENDS_TAKEN_BACK);
}

/* ---- creation ---- */

void bt_volumes_configure(struct bt_volumes *v, const struct bt_release *release)
{
	BT_REQUIRE(v->pvs.n == 0 && v->csi_nodes.n == 0);
	v->view.nodes_migrate_portworx = bt_release_has(release, BT_RULE_NODES_MIGRATE_PORTWORX);
}

struct bt_volumes *bt_volumes_create(struct bt_dictionary *dictionary, const struct bt_snapshot *snapshot)
{
	struct bt_volumes *v = bt_mem_zalloc(1, sizeof(*v));

	BT_REQUIRE(dictionary && snapshot);
	v->dictionary = dictionary;
	v->snapshot = snapshot;
	v->facts = 1;
	v->pvs.size = sizeof(struct bt_pv);
	v->claims.size = sizeof(struct bt_claim);
	v->classes.size = sizeof(struct bt_storage_class);
	v->csi_nodes.size = sizeof(struct bt_csi_node);
	v->drivers.size = sizeof(struct bt_csi_driver);
	v->capacities.size = sizeof(struct bt_csi_capacity);
	v->attachments.size = sizeof(struct bt_attachment);
	v->view.version = 1;
	v->view.scratch = &v->scratch;
	v->view.context = v;
	v->view.disk = disk_of;
	v->view.in_use = in_use;
	v->view.attached = attached;
	return v;
}

void bt_volumes_destroy(struct bt_volumes *v)
{
	if (!v) {
		return;
	}
	struct volumes_table *tables[] = {&v->pvs, &v->claims, &v->classes, &v->csi_nodes, &v->drivers,
		&v->capacities, &v->attachments};
	struct bt_map *maps[] = {&v->view.pv_ixs, &v->view.claim_ixs, &v->view.class_ixs,
		&v->view.csi_node_ixs, &v->view.driver_ixs, &v->capacity_ixs, &v->attachment_ixs,
		&v->node_slots, &v->nominated};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		table_fini(tables[i]);
	}
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		bt_map_fini(maps[i]);
	}
	for (size_t i = 0; i < v->slot_cap; i++) {
		bt_mem_free(v->users[i].items);
		end_node(&v->nodes[i]);
	}
	for (size_t i = 0; i < v->uses_cap; i++) {
		bt_mem_free(v->uses[i].items);
	}
	chains_fini(&v->class_pvs);
	chains_fini(&v->volume_claims);
	chains_fini(&v->node_attachments);
	chains_fini(&v->volume_attachments);
	bt_mem_free(v->trials);
	bt_mem_free(v->users);
	bt_mem_free(v->nodes);
	bt_mem_free(v->uses);
	bt_mem_free(v->nominations);
	bt_volumes_end_retaining(v);
	bt_mem_free(v->retained);
	bt_arena_fini(&v->scratch);
	bt_mem_free(v);
}

const struct bt_storage *bt_volumes_view(const struct bt_volumes *v)
{
	return &v->view;
}

const struct bt_csi_capacity *bt_volumes_capacity(
	const struct bt_volumes *v, uint32_t namespace_, uint32_t name)
{
	uint32_t ix;

	return bt_map_get(&v->capacity_ixs, bt_pair_key(namespace_, name), &ix) && v->view.capacities[ix].live
		       ? &v->view.capacities[ix]
		       : NULL;
}

const struct bt_attachment *bt_volumes_attachment(const struct bt_volumes *v, uint32_t name)
{
	const struct bt_attachment *attachments = v->attachments.items;
	uint32_t ix;

	return bt_map_get(&v->attachment_ixs, name, &ix) && attachments[ix].live ? &attachments[ix] : NULL;
}
