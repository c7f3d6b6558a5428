/* SPDX-License-Identifier: Apache-2.0
 * Strings to small integers: open addressing over 32-bit ids, the bytes in an arena.
 */
#include "engine/model/intern.h"

#include "engine/base/arena.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/mem.h"

struct entry {
	struct bt_str text;
	uint64_t hash;
};

struct bt_intern {
	struct entry *entries; /* by id; entries[0] is the empty view */
	size_t entry_n, entry_cap;
	uint32_t *table; /* id or 0, size a power of two */
	size_t table_n;
	struct bt_arena text;
};

static const char *const fixed_names[BT_NAME_FIXED_N] = {
	[BT_NAME_EMPTY] = "",
	[BT_NAME_NO_SCHEDULE] = "NoSchedule",
	[BT_NAME_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
	[BT_NAME_NO_EXECUTE] = "NoExecute",
	[BT_NAME_UNSCHEDULABLE_TAINT] = "node.kubernetes.io/unschedulable",
	[BT_NAME_DEFAULT_SCHEDULER] = "default-scheduler",
	[BT_NAME_ANY_IP] = "0.0.0.0",
	[BT_NAME_TCP] = "TCP",
	[BT_NAME_ZONE] = "topology.kubernetes.io/zone",
	[BT_NAME_REGION] = "topology.kubernetes.io/region",
	[BT_NAME_HOSTNAME] = "kubernetes.io/hostname",
	[BT_NAME_BETA_ZONE] = "failure-domain.beta.kubernetes.io/zone",
	[BT_NAME_BETA_REGION] = "failure-domain.beta.kubernetes.io/region",
};

struct bt_intern *bt_intern_create(void)
{
	struct bt_intern *intern = bt_mem_zalloc(1, sizeof(*intern));

	intern->table_n = 1024;
	intern->table = bt_mem_zalloc(intern->table_n, sizeof(*intern->table));
	intern->entries = bt_mem_grow(NULL, 0, &intern->entry_cap, sizeof(*intern->entries));
	intern->entries[0] = (struct entry){0};
	intern->entry_n = 1;
	for (uint32_t name = 1; name < BT_NAME_FIXED_N; name++) {
		uint32_t given = bt_intern_add(intern, bt_str(fixed_names[name]));

		BT_REQUIRE(given == name);
	}
	return intern;
}

void bt_intern_destroy(struct bt_intern *intern)
{
	if (!intern) {
		return;
	}
	bt_mem_free(intern->entries);
	bt_mem_free(intern->table);
	bt_arena_fini(&intern->text);
	bt_mem_free(intern);
}

/* The table slot that holds the string, or the free one where it belongs. */
static size_t slot_of(const struct bt_intern *intern, struct bt_str s, uint64_t hash)
{
	size_t mask = intern->table_n - 1;

	for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
		uint32_t id = intern->table[slot];

		if (!id || (intern->entries[id].hash == hash && bt_str_eq(intern->entries[id].text, s))) {
			return slot;
		}
	}
}

static void grow(struct bt_intern *intern)
{
	bt_mem_free(intern->table);
	intern->table_n *= 2;
	intern->table = bt_mem_zalloc(intern->table_n, sizeof(*intern->table));
	for (uint32_t id = 1; id < intern->entry_n; id++) {
		size_t slot = slot_of(intern, intern->entries[id].text, intern->entries[id].hash);

		intern->table[slot] = id;
	}
}

uint32_t bt_intern_add(struct bt_intern *intern, struct bt_str s)
{
	uint64_t hash = bt_hash_bytes(s.ptr, s.len);
	size_t slot = slot_of(intern, s, hash);

	if (intern->table[slot]) {
		return intern->table[slot];
	}
	BT_REQUIRE(intern->entry_n < UINT32_MAX);
	uint32_t id = (uint32_t)intern->entry_n;
	intern->entries =
		bt_mem_grow(intern->entries, intern->entry_n, &intern->entry_cap, sizeof(*intern->entries));
	intern->entries[id] = (struct entry){{bt_arena_copy(&intern->text, s.ptr, s.len), s.len}, hash};
	intern->entry_n++;
	intern->table[slot] = id;
	if (intern->entry_n * 2 > intern->table_n) {
		grow(intern);
	}
	return id;
}

uint32_t bt_intern_find(const struct bt_intern *intern, struct bt_str s)
{
	return intern->table[slot_of(intern, s, bt_hash_bytes(s.ptr, s.len))];
}

struct bt_str bt_intern_str(const struct bt_intern *intern, uint32_t name)
{
	BT_INVARIANT(name < intern->entry_n);
	return intern->entries[name].text;
}

uint32_t bt_intern_count(const struct bt_intern *intern)
{
	return (uint32_t)intern->entry_n;
}
