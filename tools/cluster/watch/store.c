/* SPDX-License-Identifier: Apache-2.0
 * The objects that a reflector has seen of one kind: entries, and a table of their indices by the hash of
 * their names, with linear probing.
 */
#include "tools/cluster/watch/store.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"

#define NONE	    UINT32_MAX
#define FIRST_SLOTS 64u

/* The highest bit of a version: it is not a number, but the hash of a text. */
#define IS_HASH (UINT64_C(1) << 63)

struct watch_store_entry {
	uint64_t version;
	uint64_t uid[2];
	uint32_t hash;
	uint32_t namespace_, name; /* names; name is BT_NAME_NONE: vacant */
	uint32_t uid_text;	   /* a name, where the UID is not in the usual form of 128 bits */
	uint32_t list;		   /* the last list that has shown it */
};

static_assert(sizeof(struct watch_store_entry) == 48, "an entry is small");

struct bt_store {
	struct bt_intern *names;
	struct watch_store_entry *entries;
	uint32_t *slots;  /* 1 + index; 0: free */
	uint32_t *vacant; /* indices */
	size_t entry_n, entry_cap, vacant_n, vacant_cap, slot_n;
	uint32_t list;
};

struct bt_store *bt_store_create(struct bt_intern *names)
{
	struct bt_store *known = bt_mem_zalloc(1, sizeof(*known));

	known->names = names;
	known->slot_n = FIRST_SLOTS;
	known->slots = bt_mem_zalloc(known->slot_n, sizeof(*known->slots));
	return known;
}

static void release_names(struct bt_store *known, const struct watch_store_entry *entry)
{
	bt_intern_release(known->names, entry->namespace_);
	bt_intern_release(known->names, entry->name);
	bt_intern_release(known->names, entry->uid_text);
}

void bt_store_destroy(struct bt_store *known)
{
	if (!known) {
		return;
	}
	for (size_t i = 0; i < known->entry_n; i++) {
		release_names(known, &known->entries[i]);
	}
	bt_mem_free(known->entries);
	bt_mem_free(known->slots);
	bt_mem_free(known->vacant);
	bt_mem_free(known);
}

uint32_t bt_store_n(const struct bt_store *known)
{
	return (uint32_t)(known->entry_n - known->vacant_n);
}

/* ---- parsing ---- */

static uint64_t version_of(struct bt_str text)
{
	uint64_t value = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.len > 18 || text.ptr[i] < '0' || text.ptr[i] > '9') {
			return bt_hash_bytes(text.ptr, text.len) | IS_HASH;
		}
		value = value * 10 + (uint64_t)(text.ptr[i] - '0');
	}
	return value;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_dash(size_t at)
{
	return at == 8 || at == 13 || at == 18 || at == 23;
}

/* Reads 01234567-89ab-cdef-0123-456789abcdef. */
static bool read_uuid(struct bt_str text, uint64_t out[2])
{
	uint32_t n = 0;

	if (text.len != 36) {
		return false;
	}
	for (size_t i = 0; i < text.len; i++) {
		int digit = hex(text.ptr[i]);

		if (is_dash(i) ? text.ptr[i] != '-' : digit < 0) {
			return false;
		}
		if (!is_dash(i)) {
			out[n / 16] = out[n / 16] << 4 | (uint64_t)digit;
			n++;
		}
	}
	return true;
}

static size_t write_uuid(const uint64_t uid[2], char out[40])
{
	uint32_t n = 0;

	for (size_t i = 0; i < 36; i++) {
		if (is_dash(i)) {
			out[i] = '-';
		} else {
			out[i] = "0123456789abcdef"[uid[n / 16] >> (60 - n % 16 * 4) & 15];
			n++;
		}
	}
	return 36;
}

/* ---- the table ---- */

static uint32_t hash_of(const struct bt_meta_object *meta)
{
	return (uint32_t)bt_hash_u64(
		bt_hash_bytes(meta->name.ptr, meta->name.len) +
		(meta->namespace_.len ? bt_hash_bytes(meta->namespace_.ptr, meta->namespace_.len) : 0));
}

/* The slot of the object, or the free one for it. */
static size_t find_slot(const struct bt_store *known, uint32_t hash, const struct bt_meta_object *meta)
{
	size_t at = hash & (known->slot_n - 1);

	for (; known->slots[at]; at = (at + 1) & (known->slot_n - 1)) {
		const struct watch_store_entry *entry = &known->entries[known->slots[at] - 1];

		if (entry->hash == hash && bt_str_eq(bt_intern_str(known->names, entry->name), meta->name) &&
			bt_str_eq(bt_intern_str(known->names, entry->namespace_), meta->namespace_)) {
			break;
		}
	}
	return at;
}

static struct watch_store_entry *store_find(struct bt_store *known, const struct bt_meta_object *meta)
{
	uint32_t slot = known->slots[find_slot(known, hash_of(meta), meta)];

	return slot ? &known->entries[slot - 1] : NULL;
}

static void store_put(struct bt_store *known, uint32_t hash, uint32_t ix)
{
	size_t at = hash & (known->slot_n - 1);

	while (known->slots[at]) {
		at = (at + 1) & (known->slot_n - 1);
	}
	known->slots[at] = ix + 1;
}

static void grow_slots(struct bt_store *known)
{
	if ((known->entry_n + 1) * 4 <= known->slot_n * 3) {
		return;
	}
	bt_mem_free(known->slots);
	known->slot_n *= 2;
	known->slots = bt_mem_zalloc(known->slot_n, sizeof(*known->slots));
	for (size_t i = 0; i < known->entry_n; i++) {
		if (known->entries[i].name) {
			store_put(known, known->entries[i].hash, (uint32_t)i);
		}
	}
}

static void set_uid(
	struct bt_store *known, struct watch_store_entry *entry, const struct bt_meta_object *meta)
{
	uint64_t uid[2] = {0, 0};
	uint32_t text = read_uuid(meta->uid, uid) ? BT_NAME_NONE : bt_intern_hold(known->names, meta->uid);

	bt_intern_release(known->names, entry->uid_text);
	entry->uid_text = text;
	entry->uid[0] = text ? 0 : uid[0];
	entry->uid[1] = text ? 0 : uid[1];
}

static bool has_uid(const struct bt_store *known, const struct watch_store_entry *entry,
	const struct bt_meta_object *meta)
{
	uint64_t uid[2] = {0, 0};

	if (entry->uid_text || !read_uuid(meta->uid, uid)) {
		return entry->uid_text && bt_str_eq(bt_intern_str(known->names, entry->uid_text), meta->uid);
	}
	return uid[0] == entry->uid[0] && uid[1] == entry->uid[1];
}

static struct watch_store_entry *store_add(struct bt_store *known, const struct bt_meta_object *meta)
{
	uint32_t ix;

	BT_REQUIRE(meta->name.len && meta->name.len <= BT_STORE_NAME_BYTES);
	grow_slots(known);
	if (known->vacant_n) {
		ix = known->vacant[--known->vacant_n];
	} else {
		known->entries = bt_mem_grow(
			known->entries, known->entry_n, &known->entry_cap, sizeof(*known->entries));
		ix = (uint32_t)known->entry_n++;
	}
	struct watch_store_entry *entry = &known->entries[ix];
	*entry = (struct watch_store_entry){.hash = hash_of(meta),
		.namespace_ = bt_intern_hold(known->names, meta->namespace_),
		.name = bt_intern_hold(known->names, meta->name)};
	set_uid(known, entry, meta);
	store_put(known, entry->hash, ix);
	return entry;
}

/* Frees a slot, and moves later entries that would become unreachable. */
static void free_slot(struct bt_store *known, size_t at)
{
	const size_t mask = known->slot_n - 1;

	for (size_t next = (at + 1) & mask; known->slots[next]; next = (next + 1) & mask) {
		size_t home = known->entries[known->slots[next] - 1].hash & mask;

		if (((next - home) & mask) >= ((next - at) & mask)) {
			known->slots[at] = known->slots[next];
			at = next;
		}
	}
	known->slots[at] = 0;
}

static void drop(struct bt_store *known, uint32_t ix)
{
	struct watch_store_entry *entry = &known->entries[ix];
	size_t at = entry->hash & (known->slot_n - 1);

	while (known->slots[at] != ix + 1) {
		at = (at + 1) & (known->slot_n - 1);
	}
	free_slot(known, at);
	release_names(known, entry);
	*entry = (struct watch_store_entry){.name = BT_NAME_NONE};
	known->vacant =
		bt_mem_grow(known->vacant, known->vacant_n, &known->vacant_cap, sizeof(*known->vacant));
	known->vacant[known->vacant_n++] = ix;
}

/* ---- updates ---- */

/* Whether a is an earlier version than b. Only numbers can be compared. */
static bool is_earlier(uint64_t a, uint64_t b)
{
	return a && b && ((a | b) & IS_HASH) == 0 && a < b;
}

enum bt_store_change bt_store_show(struct bt_store *known, const struct bt_meta_object *meta)
{
	BT_REQUIRE(meta->name.len > 0);
	struct watch_store_entry *entry = store_find(known, meta);
	uint64_t version = version_of(meta->resource_version);

	if (entry) {
		bool same = has_uid(known, entry, meta);

		entry->list = known->list;
		if (is_earlier(version, entry->version)) {
			return BT_STORE_OLD;
		}
		if (same && version && version == entry->version) {
			return BT_STORE_SAME;
		}
		if (!same) {
			set_uid(known, entry, meta);
		}
	} else {
		entry = store_add(known, meta);
		entry->list = known->list;
	}
	entry->version = version;
	return BT_STORE_CHANGED;
}

bool bt_store_remove(struct bt_store *known, const struct bt_meta_object *meta)
{
	struct watch_store_entry *entry = store_find(known, meta);

	if (!entry || is_earlier(version_of(meta->resource_version), entry->version)) {
		return false;
	}
	drop(known, (uint32_t)(entry - known->entries));
	return true;
}

/* ---- lists ---- */

static void describe_entry(
	const struct bt_store *known, const struct watch_store_entry *entry, struct bt_store_object *out)
{
	*out = (struct bt_store_object){.namespace_ = bt_intern_str(known->names, entry->namespace_),
		.name = bt_intern_str(known->names, entry->name)};
	if (entry->uid_text) {
		out->uid = bt_intern_str(known->names, entry->uid_text);
	} else {
		out->uid = (struct bt_str){out->uid_text, write_uuid(entry->uid, out->uid_text)};
	}
	if (entry->version && !(entry->version & IS_HASH)) {
		int n = snprintf(out->version_text, sizeof(out->version_text), "%llu",
			(unsigned long long)entry->version);
		out->version = (struct bt_str){out->version_text, (size_t)n};
	}
}

void bt_store_begin_list(struct bt_store *known)
{
	known->list++;
}

bool bt_store_next_gone(struct bt_store *known, uint32_t *cursor, struct bt_store_object *out)
{
	for (; *cursor < known->entry_n; ++*cursor) {
		const struct watch_store_entry *entry = &known->entries[*cursor];

		if (entry->name && entry->list != known->list) {
			describe_entry(known, entry, out);
			return true;
		}
	}
	return false;
}

void bt_store_forget(struct bt_store *known, uint32_t cursor)
{
	drop(known, cursor);
}
