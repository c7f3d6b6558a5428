/* SPDX-License-Identifier: Apache-2.0
 * Incompletely decoded objects: an unordered array, and a map from hashes of names. Two names with the same
 * hash count as one object, which costs a line and no decision.
 */
#include "tools/cluster/watch/unread.h"

#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/mem.h"

struct bt_unread_entry {
	uint64_t key;
	enum bt_proto_extent extent;
	uint32_t name, uid, why, end; /* offsets in text, after the namespace */
	char *text;
};

static uint64_t unread_key_of(const struct bt_meta_object *meta)
{
	return bt_hash_u64(bt_hash_bytes(meta->namespace_.ptr, meta->namespace_.len) * 3 +
			   bt_hash_bytes(meta->name.ptr, meta->name.len)) |
	       1;
}

void bt_unread_fini(struct bt_unread *unread)
{
	for (size_t i = 0; i < unread->n; i++) {
		bt_mem_free(unread->entries[i].text);
	}
	bt_mem_free(unread->entries);
	bt_map_fini(&unread->by_key);
	*unread = (struct bt_unread){.n = 0};
}

static uint32_t append(char *text, uint32_t at, struct bt_str part)
{
	if (part.len) {
		memcpy(text + at, part.ptr, part.len);
	}
	return at + (uint32_t)part.len;
}

static struct bt_unread_entry make_entry(
	uint64_t key, const struct bt_meta_object *meta, enum bt_proto_extent extent, struct bt_str why)
{
	struct bt_unread_entry entry = {.key = key, .extent = extent};

	entry.text = bt_mem_zalloc(1, meta->namespace_.len + meta->name.len + meta->uid.len + why.len + 1);
	entry.name = append(entry.text, 0, meta->namespace_);
	entry.uid = append(entry.text, entry.name, meta->name);
	entry.why = append(entry.text, entry.uid, meta->uid);
	entry.end = append(entry.text, entry.why, why);
	return entry;
}

static struct bt_unread_object view(const struct bt_unread_entry *entry)
{
	const struct bt_str all = {entry->text, entry->end};

	return (struct bt_unread_object){.namespace_ = bt_str_sub(all, 0, entry->name),
		.name = bt_str_sub(all, entry->name, entry->uid),
		.uid = bt_str_sub(all, entry->uid, entry->why),
		.why = bt_str_sub(all, entry->why, entry->end),
		.extent = entry->extent};
}

static void drop(struct bt_unread *unread, uint32_t ix)
{
	struct bt_unread_entry *entry = &unread->entries[ix];

	unread->replaced_n -= entry->extent == BT_PROTO_REPLACED;
	bt_map_remove(&unread->by_key, entry->key);
	bt_mem_free(entry->text);
	*entry = unread->entries[--unread->n];
	if (ix < unread->n) {
		bt_map_put(&unread->by_key, entry->key, ix);
	}
}

bool bt_unread_note(struct bt_unread *unread, const struct bt_meta_object *meta, enum bt_proto_extent extent,
	struct bt_str why)
{
	uint32_t ix;

	if (unread->n == 0 && extent == BT_PROTO_WHOLE) {
		return false;
	}
	uint64_t key = unread_key_of(meta);
	bool known = bt_map_get(&unread->by_key, key, &ix), same = false;
	if (known) {
		const struct bt_unread_object old = view(&unread->entries[ix]);

		same = old.extent == extent && bt_str_eq(old.uid, meta->uid);
		drop(unread, ix);
	}
	if (extent == BT_PROTO_WHOLE) {
		return false;
	}
	unread->entries = bt_mem_grow(unread->entries, unread->n, &unread->cap, sizeof(*unread->entries));
	unread->entries[unread->n] = make_entry(key, meta, extent, why);
	bt_map_put(&unread->by_key, key, (uint32_t)unread->n++);
	unread->replaced_n += extent == BT_PROTO_REPLACED;
	return !same;
}

uint64_t bt_unread_n(const struct bt_unread *unread, enum bt_proto_extent extent)
{
	return extent == BT_PROTO_REPLACED  ? unread->replaced_n
	       : extent == BT_PROTO_IN_PART ? unread->n - unread->replaced_n
					    : 0;
}

void bt_unread_each(const struct bt_unread *unread,
	void (*call)(void *context, const struct bt_unread_object *object), void *context)
{
	for (size_t i = 0; i < unread->n; i++) {
		const struct bt_unread_object object = view(&unread->entries[i]);

		call(context, &object);
	}
}
