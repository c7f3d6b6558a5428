/* SPDX-License-Identifier: Apache-2.0
 * What events point to that the queue keeps for pods in flight: facts, names, and the descriptions of nodes
 * that were replaced meanwhile. All of it goes when no event is kept any more.
 * Owns: its memory, and the names and descriptions that it holds (bt_kept_events_fini). Writer:
 * kept_events.c. Thread: the scheduling thread.
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
	/* Descriptions that were replaced: what they name has a meaning as long. */
	const struct bt_node_desc **replaced;
	size_t replaced_n, replaced_cap;
	struct bt_name_refs names; /* of objects in events */
};

void bt_kept_events_init(struct bt_kept_events *kept, const struct bt_queue *queue, struct bt_intern *intern);
void bt_kept_events_fini(struct bt_kept_events *kept);

/* Where what an event points to is kept. Call before an event is made. */
struct bt_arena *bt_kept_events_arena(struct bt_kept_events *kept);

/* Where names of an event's object are held. bt_kept_events_arena is called before, for each event. */
struct bt_name_refs *bt_kept_events_names(struct bt_kept_events *kept);

/* Holds what an event names of an object as long as the event is kept. */
void bt_kept_events_hold(struct bt_kept_events *kept, const struct bt_cluster_event_object *object);

/* The description of a node that was replaced, or NULL, is given up once no event shows it. */
void bt_kept_events_give_up(struct bt_kept_events *kept, const struct bt_node_desc *desc);

/* No event is kept any more. */
void bt_kept_events_end(struct bt_kept_events *kept);
