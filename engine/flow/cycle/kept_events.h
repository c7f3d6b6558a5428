/* SPDX-License-Identifier: Apache-2.0
 * Memory that events point to while the queue keeps them for pods in flight: facts, names, and node
 * descriptions that were replaced meanwhile. All of it is freed when no event is kept any more.
 * Owns: its memory, and references to names and descriptions (bt_kept_events_fini). Writer: kept_events.c.
 *       Thread: the scheduling thread.
 */
#pragma once

#include "cache/node_desc.h"
#include "engine/base/arena.h"
#include "engine/model/cluster_event.h"
#include "engine/model/name_refs.h"
#include "queue/queue.h"

/* Private. */
struct bt_kept_events {
	const struct bt_queue *queue; /* init: */
	struct bt_arena arena;
	/* Replaced descriptions, which also keep their names alive. */
	const struct bt_node_desc **replaced;
	size_t replaced_n, replaced_cap;
	struct bt_name_refs names; /* of objects in events */
};

void bt_kept_events_init(struct bt_kept_events *kept, const struct bt_queue *queue, struct bt_intern *intern);
void bt_kept_events_fini(struct bt_kept_events *kept);

/* The arena for an event's memory. Call before an event is created. */
struct bt_arena *bt_kept_events_arena(struct bt_kept_events *kept);

/* The holder of names of an event's object. bt_kept_events_arena is called before, for each event. */
struct bt_name_refs *bt_kept_events_names(struct bt_kept_events *kept);

/* Holds the names in an event's object as long as the event is kept. */
void bt_kept_events_hold(struct bt_kept_events *kept, const struct bt_cluster_event_object *object);

/* Drops a replaced node description (or NULL) once no event refers to it. */
void bt_kept_events_release(struct bt_kept_events *kept, const struct bt_node_desc *desc);

/* Frees everything: no event is kept any more. */
void bt_kept_events_end(struct bt_kept_events *kept);
