/* SPDX-License-Identifier: Apache-2.0
 * What an update of an object changes, by tables: for kinds that the cache describes for queueing hints.
 */
#pragma once

#include "object_fixture.h"

struct change_row {
	const char *old, *new; /* old NULL: a new object */
	uint32_t changes;
};

/* How the cache takes objects of some kinds, and describes them. */
struct change_way {
	void (*ingest)(struct bt_cache *cache, const struct bt_object *object);
	bool (*describe)(
		struct bt_cache *cache, const struct bt_object *object, struct bt_cluster_event_object *out);
	bool (*describe_removal)(struct bt_cache *cache, enum bt_kind kind,
		const struct bt_cluster_event_object *object, struct bt_cluster_event_object *out);
};

/* Each row's object is named "x". */
static inline void assert_changes(
	struct fixture *f, const struct change_way *way, const struct change_row *rows, size_t n)
{
	struct bt_cluster_event_object described;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].old) {
			way->ingest(f->cache, fixture_read(f, rows[i].old));
		}
		const struct bt_object *new = fixture_read(f, rows[i].new);
		bool known = way->describe(f->cache, new, &described);

		if (known != (rows[i].old != NULL) || described.changes != rows[i].changes) {
			fail_msg("row %zu: known %d, changes %x", i, known, described.changes);
		}
		assert_int_equal(described.name, fixture_name(f, "x"));
		way->ingest(f->cache, new);
		assert_true(way->describe_removal(f->cache, new->kind, &described, &described));
		cache_remove(f->cache, new->kind, new->meta.namespace_, new->meta.name);
		assert_false(way->describe_removal(f->cache, new->kind, &described, &described));
	}
}
