/* SPDX-License-Identifier: Apache-2.0
 * Stage 8: detects stale events.
 */
#include "engine/flow/pipeline/version_filter.h"

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"
#include "engine/base/index_allocator.h"

static uint64_t hash_str(struct bt_str text)
{
	return text.len ? bt_hash_bytes(text.ptr, text.len) : 0;
}

struct bt_object_version bt_object_version_of(const struct bt_object *object)
{
	const struct bt_meta_object *meta = &object->meta;
	uint64_t space = hash_str(meta->namespace_), name = hash_str(meta->name), uid = hash_str(meta->uid);
	uint64_t mixed = bt_hash_u64(space + (uint64_t)object->kind) ^ name;

	return (struct bt_object_version){
		.key = bt_hash_u64(mixed) | 1,
		.check = (uint32_t)(bt_hash_u64(name + 0x9e3779b97f4a7c15u) ^ bt_hash_u64(space)),
		.version = bt_resource_version(meta->resource_version),
		.uid = meta->uid.len ? (uint32_t)(uid >> 32) | 1 : 0,
	};
}

void bt_version_filter_fini(struct bt_version_filter *f)
{
	bt_map_fini(&f->ixs);
	bt_mem_free(f->entries);
	bt_mem_free(f->tombs);
}

/* Drops the tombstone that is oldest. */
static void forget_oldest(struct bt_version_filter *f)
{
	BT_INVARIANT(f->tomb_n > 0 && f->entry_n > 0);
	uint32_t ix = f->tombs[f->tomb_first];
	struct bt_fresh_entry *entry = &f->entries[ix];
	BT_INVARIANT(ix < f->entry_n && entry->gone);

	f->tomb_first = (f->tomb_first + 1) % f->tombstone_max;
	f->tomb_n--;
	if (entry->key) {
		bt_map_remove(&f->ixs, entry->key);
	}
	/* The last entry moves into the hole. */
	*entry = f->entries[--f->entry_n];
	if (ix < f->entry_n && entry->key) {
		bt_map_put(&f->ixs, entry->key, ix);
	}
	if (ix < f->entry_n && entry->gone) {
		f->tombs[entry->tomb] = ix;
	}
	f->entries = bt_index_allocator_shrink(f->entries, f->entry_n, &f->entry_cap, sizeof(*f->entries));
}

/* Adds a tombstone. May move entries. */
static void add_tombstone(struct bt_version_filter *f, uint32_t ix)
{
	BT_INVARIANT(ix < f->entry_n && !f->entries[ix].gone);
	if (!f->tombs) {
		f->tombs = bt_mem_zalloc(f->tombstone_max, sizeof(*f->tombs));
	}
	if (f->tomb_n == f->tombstone_max) {
		uint32_t oldest = f->tombs[f->tomb_first];

		forget_oldest(f);
		ix = ix == f->entry_n ? oldest : ix; /* the last entry has moved */
	}
	uint32_t tomb = (f->tomb_first + f->tomb_n++) % f->tombstone_max;
	f->tombs[tomb] = ix;
	f->entries[ix].gone = true;
	f->entries[ix].tomb = tomb;
	BT_INVARIANT(f->tomb_n <= f->tombstone_max && ix < f->entry_n);
}

/* The entry of that name, or NULL. Two names with one hash: only the first has an entry. */
static struct bt_fresh_entry *version_filter_find(
	struct bt_version_filter *f, const struct bt_object_version *seen)
{
	BT_INVARIANT(seen->key);
	uint32_t ix;

	return bt_map_get(&f->ixs, seen->key, &ix) && f->entries[ix].check == seen->check ? &f->entries[ix]
											  : NULL;
}

static void version_filter_enter(struct bt_version_filter *f, const struct bt_object_version *seen, bool gone)
{
	uint32_t ix;

	if ((seen->uid == 0 && seen->version == 0) || bt_map_get(&f->ixs, seen->key, &ix)) {
		return;
	}
	f->entries = bt_mem_grow(f->entries, f->entry_n, &f->entry_cap, sizeof(*f->entries));
	ix = (uint32_t)f->entry_n++;
	f->entries[ix] = (struct bt_fresh_entry){
		.key = seen->key, .version = seen->version, .check = seen->check, .uid = seen->uid};
	bt_map_put(&f->ixs, seen->key, ix);
	if (gone) {
		add_tombstone(f, ix);
	}
}

/* A tombstone's object is live again: it gets a new entry. The old one is dropped when its tombstone is the
 * oldest. */
static void revive(
	struct bt_version_filter *f, struct bt_fresh_entry *entry, const struct bt_object_version *seen)
{
	BT_INVARIANT(entry->gone);
	bt_map_remove(&f->ixs, entry->key);
	entry->key = 0;
	version_filter_enter(f, seen, false);
}

enum bt_version_verdict bt_version_filter_apply(
	struct bt_version_filter *f, const struct bt_object_version *seen)
{
	struct bt_fresh_entry *entry = version_filter_find(f, seen);

	if (!entry) {
		version_filter_enter(f, seen, false);
		return BT_VERSION_NEW;
	}
	bool other = seen->uid && entry->uid && seen->uid != entry->uid;
	bool older = seen->version && entry->version && seen->version <= entry->version;
	/* A deleted object does not come back, whatever its version. */
	bool dead = entry->gone && !other && (seen->uid || older);
	if (older || dead) {
		return BT_VERSION_STALE;
	}
	if (entry->gone) {
		revive(f, entry, seen);
		return BT_VERSION_NEW;
	}
	entry->version = seen->version ? seen->version : entry->version;
	BT_INVARIANT(entry->version >= seen->version || !seen->version);
	entry->uid = seen->uid ? seen->uid : entry->uid;
	return other ? BT_VERSION_REPLACED : BT_VERSION_NEW;
}

enum bt_version_verdict bt_version_filter_delete(
	struct bt_version_filter *f, const struct bt_object_version *seen)
{
	struct bt_fresh_entry *entry = version_filter_find(f, seen);

	if (!entry) {
		version_filter_enter(f, seen, true);
		return BT_VERSION_NEW;
	}
	bool known = seen->uid && entry->uid, other = known && seen->uid != entry->uid;
	bool both = seen->version && entry->version;
	/* A newer object of another UID has taken the name, so both this object and
	 * the stored one are gone. */
	bool late = other ? !both || seen->version <= entry->version
			  : !known && both && seen->version < entry->version;
	if (late) {
		return BT_VERSION_STALE;
	}
	entry->version = seen->version > entry->version ? seen->version : entry->version;
	entry->uid = seen->uid ? seen->uid : entry->uid;
	if (entry->gone) {
		return BT_VERSION_STALE;
	}
	add_tombstone(f, (uint32_t)(entry - f->entries));
	return BT_VERSION_NEW;
}
