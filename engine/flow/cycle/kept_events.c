/* SPDX-License-Identifier: Apache-2.0
 * Keeps alive the memory that the queue's in-flight events point to.
 */
#include "engine/flow/cycle/kept_events.h"

#include "engine/base/mem.h"

void bt_kept_events_init(struct bt_kept_events *kept, const struct bt_queue *queue, struct bt_intern *intern)
{
	*kept = (struct bt_kept_events){.queue = queue, .names.intern = intern};
}

void bt_kept_events_fini(struct bt_kept_events *kept)
{
	bt_kept_events_end(kept);
	bt_mem_free(kept->replaced);
	bt_arena_fini(&kept->arena);
}

struct bt_arena *bt_kept_events_arena(struct bt_kept_events *kept)
{
	if (!bt_queue_keeps_events(kept->queue)) {
		bt_kept_events_end(kept);
	}
	return &kept->arena;
}

struct bt_name_refs *bt_kept_events_names(struct bt_kept_events *kept)
{
	return &kept->names;
}

void bt_kept_events_hold(struct bt_kept_events *kept, const struct bt_cluster_event_object *object)
{
	const uint32_t names[] = {object->namespace_, object->name, object->uid, object->other};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bt_name_refs_add_name(&kept->names, names[i]);
	}
}

void bt_kept_events_release(struct bt_kept_events *kept, const struct bt_node_desc *desc)
{
	if (!desc || !bt_queue_keeps_events(kept->queue)) {
		bt_node_desc_defer(desc);
		return;
	}
	kept->replaced = bt_mem_grow(
		kept->replaced, kept->replaced_n, &kept->replaced_cap, sizeof(const struct bt_node_desc *));
	kept->replaced[kept->replaced_n++] = desc;
}

void bt_kept_events_end(struct bt_kept_events *kept)
{
	bt_arena_reset(&kept->arena);
	bt_name_refs_release(&kept->names);
	while (kept->replaced_n) {
		bt_node_desc_defer(kept->replaced[--kept->replaced_n]);
	}
}
