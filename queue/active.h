/* SPDX-License-Identifier: Apache-2.0
 * The active queue: pods in the order of PrioritySort (higher priority first, then who has waited longer,
 * then who came first), in one line per kind, so that all pods of a kind can be parked at once. A pod that is
 * taken out leaves its entry behind, which is dropped when its turn comes.
 * Context: the scheduling thread.
 */
#pragma once

#include "engine/base/map.h"
#include "queue/queue.h"

#define BT_NO_LINE UINT32_MAX

struct bt_active_entry {
	int64_t timestamp_ns;
	uint64_t order; /* of arrival */
	uint64_t stamp; /* which entering of the pod this is */
	uint32_t slot;
};

/* Pods of one kind. items[head .. n) are in order; heap holds those that came out of order. */
struct bt_line {
	struct bt_queue_kind kind;
	struct bt_active_entry *items, *heap;
	size_t head, n, cap, heap_n, heap_cap;
	uint64_t live_n;	    /* entries that are not stale */
	int64_t first_timestamp_ns; /* of the next entry, while the line is in the top heap */
	uint64_t first_order;
	uint32_t top_ix; /* place in the top heap, or BT_NO_LINE */
	bool parked;
	uint32_t parked_for; /* the plugins that refused the kind */
};

struct bt_active {
	struct bt_line *lines;
	size_t line_n, line_cap;
	struct bt_map line_ixs; /* kind -> index */
	uint32_t *top;		/* heap of lines with live entries that are not parked */
	size_t top_n, top_cap;
	uint32_t *parked; /* lines that are parked, in no order; emptied ones too */
	size_t parked_n, parked_cap;
	/* The stamp under which a slot is active; 0: it is not. Owned by the queue. */
	const uint64_t *(*stamp_of)(const void *context, uint32_t slot);
	const void *context;
};

void bt_active_fini(struct bt_active *active);

/* The line of a kind, made now if there is none. */
uint32_t bt_active_line(struct bt_active *active, struct bt_queue_kind kind);

/* Enters a slot, whose stamp is entry->stamp from now on. */
void bt_active_push(struct bt_active *active, uint32_t line, const struct bt_active_entry *entry);

/* A slot of the line has become stale: its stamp has changed. */
void bt_active_drop(struct bt_active *active, uint32_t line);

/* The next slot, which the caller makes stale with bt_active_drop; BT_QUEUE_EMPTY: none. When only parked
 * lines are left, these are let loose. */
uint32_t bt_active_first(struct bt_active *active, uint32_t *out_line);

/* Some live slot of a line, or BT_QUEUE_EMPTY. */
uint32_t bt_active_some(struct bt_active *active, uint32_t line);

void bt_active_park(struct bt_active *active, uint32_t line, uint32_t plugins);
void bt_active_unpark(struct bt_active *active, uint32_t line);
