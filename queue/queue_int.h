/* SPDX-License-Identifier: Apache-2.0
 * The queue's insides, shared by its files. Context: the scheduling thread.
 */
#pragma once

#include "engine/base/map.h"
#include "queue/queue.h"

#define BT_NO_GROUP UINT32_MAX
#define BT_NO_SLOT  UINT32_MAX
#define BT_EXPIRED  INT64_MIN /* there is no backoff, or it has ended */

/* A pod that is known to the queue. */
struct bt_slot {
	uint32_t pod_ix, kind;
	uint32_t unschedulable_plugins, pending;
	uint32_t attempts, unschedulable_n, error_n;
	uint8_t where; /* enum bt_wait */
	int8_t gate;
	bool flushed;
	bool missed;  /* in flight: the log overflowed meanwhile */
	bool patient; /* in backoff: only time lets it out */
	int64_t entered_ns, timestamp_ns, expiry_ns;
	int64_t waits_since_ns; /* timestamp_ns, or when it was flushed since (flush_asks_gates) */
	uint64_t order;		/* of arrival */
	int64_t first_ns;	/* when it was active first, or INT64_MAX */
	uint64_t stamp;		/* active: which entering this is; elsewhere 0 */
	uint32_t group;		/* unschedulable, gated; else BT_NO_GROUP */
	uint32_t next;		/* in the group; of a free slot, the next one */
	union {
		uint32_t prev;	    /* in the group */
		uint32_t heap_ix;   /* in backoff */
		uint64_t log_begin; /* in flight: the first event that is kept for it */
	};
};

/* A pod's turn. */
struct bt_active_entry {
	int64_t timestamp_ns;
	uint64_t order; /* of arrival */
	uint64_t stamp; /* of the slot; when the slot has another one, the entry is stale */
	uint32_t slot;
	int32_t priority;
};

/* items[head .. n) are there. */
struct bt_active_line {
	struct bt_active_entry *items;
	size_t head, n, cap;
};

/* A kind of pods, by bt_queue_kind_key. One without pods is not parked, and makes room for others when room
 * is short. It is parked until an event that a hint likes, a pod of it that fits, and at most for a second.
 */
struct bt_kind_line {
	struct bt_queue_kind kind;
	uint32_t pod_n; /* that are known to the queue */
	bool is_parked;
	uint32_t parked_ix;	      /* in bt_active.parked */
	uint32_t parked_for;	      /* the plugins that refused the kind */
	uint32_t example;	      /* the slot of a pod that they refused */
	struct bt_active_line parked; /* its pods whose turn has come meanwhile, in order */
	uint32_t stocked_ix;	      /* in bt_active.stocked plus one, or 0 */
};

#define BT_ACTIVE_LINES 8

struct bt_active {
	struct bt_active_line lines[BT_ACTIVE_LINES]; /* each in order */
	uint32_t line_n;			      /* lines behind these are empty */
	struct bt_active_line heap;		      /* the other entries; head is 0 */
	size_t entry_n;				      /* of all lines, stale ones included */
	struct bt_kind_line *kinds;
	size_t kind_n, kind_cap;
	struct bt_map kind_ixs;
	uint32_t *vacant_kinds; /* indices to be used again */
	size_t vacant_n, vacant_cap;
	uint32_t *parked; /* kinds that are parked, in no order */
	size_t parked_n, parked_cap;
	uint32_t *stocked; /* of these, those with entries of their own: a heap by their first ones */
	size_t stocked_n, stocked_cap;
	uint32_t parked_for; /* no other plugins have refused any of them */
};

/* Pods that events are weighed for together: of one kind, refused by the same plugins. What a hint says
 * depends on the signature, and on whether the event is the pod's own, which is weighed by itself. */
struct bt_waiting_group {
	uint32_t kind, unschedulable_plugins, pending;
	int gate;
	uint32_t first, last; /* slots */
	uint32_t n;
	uint32_t chain; /* the next group with the same key, or the next free one */
};

/* A heap of slots in backoff. error: those that no plugin refused. */
struct bt_pod_backoff {
	uint32_t *slots;
	size_t n, cap;
	bool error;
};

struct bt_logged {
	struct bt_cluster_event event;
	uint32_t only; /* a pod that alone is concerned, or BT_QUEUE_EMPTY */
};

struct bt_queue {
	struct bt_queue_options options;
	struct bt_owner owner;
	struct bt_active active;
	struct bt_pod_backoff backoff, error_backoff;
	struct bt_slot *slots;
	size_t slot_n, slot_cap;
	uint32_t free_slot; /* the first free one, linked by next */
	uint32_t *slot_ixs; /* by pod: its slot plus one, or 0 */
	size_t pod_cap;
	struct bt_waiting_group *groups;
	size_t group_n, group_cap;
	uint32_t free_group; /* linked by chain */
	struct bt_map group_ixs;
	uint64_t plugin_groups[32]; /* how many groups a plugin has refused */
	struct bt_logged *log;	    /* events from log_begin on */
	size_t log_n, log_cap;
	uint64_t log_begin;
	uint32_t *flying; /* slots in flight */
	size_t flying_n, flying_cap;
	uint32_t *scratch;
	size_t scratch_cap;
	uint64_t orders, stamp_n;
	uint64_t trimmed_at; /* orders when free places were last looked for */
	struct bt_queue_counts counts;
	uint32_t cause;			  /* enum bt_queue_cause: why pods go from place to place now */
	uint64_t late_n;		  /* newcomers that an update brought, wherever they are */
	uint64_t gated_n;		  /* other newcomers that are gated */
	uint64_t incoming[3][BT_CAUSE_N]; /* but for newcomers that are active: they are counted by orders */
};

/* ---- active.c ---- */

void bt_active_fini(struct bt_active *active);

/* The index of a kind, given now if it has none, for one more pod of it. */
uint32_t bt_active_join_kind(struct bt_queue *queue, struct bt_queue_kind kind);

/* A pod of the kind has gone. With the last one what was known of the kind is forgotten. */
void bt_active_leave_kind(struct bt_queue *queue, uint32_t kind);

/* Enters a slot, and takes one out. Requires: counts.active is right already. */
void bt_active_push(struct bt_queue *queue, uint32_t slot);
void bt_active_drop(struct bt_queue *queue, uint32_t slot);

/* Takes out the entry of the slot whose turn it is, which the caller drops; BT_QUEUE_EMPTY: there is none.
 * When only parked kinds are left, these come in order, and stay parked. */
uint32_t bt_active_pop(struct bt_queue *queue);

/* The slots whose turn comes next, as far as lines tell; at most cap of them. */
uint32_t bt_active_look_ahead(const struct bt_queue *queue, uint32_t *out_slots, uint32_t cap);

/* The slot so many places behind the first one where one line has them all; else BT_NO_SLOT. */
uint32_t bt_active_guess(const struct bt_queue *queue, uint32_t places);

/* Parks the kind of a slot that those plugins have refused. */
void bt_active_park(struct bt_queue *queue, uint32_t slot, uint32_t plugins);
void bt_active_unpark(struct bt_queue *queue, uint32_t kind);

/* ---- backoff.c ---- */

/* When the backoff of a slot that was refused just now ends. Source: calculateBackoffDuration, v1.36.3. */
int64_t bt_pod_backoff_expiry(const struct bt_queue *queue, const struct bt_slot *slot);

/* Is the slot's backoff not over yet? */
bool bt_pod_backoff_lasts(const struct bt_queue *queue, const struct bt_slot *slot, int64_t now_ns);

void bt_pod_backoff_push(struct bt_queue *queue, struct bt_pod_backoff *heap, uint32_t slot);
void bt_pod_backoff_remove(struct bt_queue *queue, struct bt_pod_backoff *heap, uint32_t slot);

/* The order of two slots in backoff. */
bool bt_pod_backoff_before(
	const struct bt_queue *queue, const struct bt_slot *a, const struct bt_slot *b, bool error);

/* ---- groups.c ---- */

void bt_groups_enter(struct bt_queue *queue, uint32_t slot);
void bt_groups_leave(struct bt_queue *queue, uint32_t slot);

/* ---- incoming.c ---- */

/* The event's cause. only: as with bt_in_flight_log. */
uint32_t bt_cause_of(const struct bt_cluster_event *event, uint32_t only);

#define BT_CAUSE_NEWCOMER                                                                                    \
	((uint32_t)BT_CLUSTER_EVENT_UNSCHEDULED_POD * BT_CLUSTER_EVENT_ACTION_N) /* its action is the first */

/* A pod has gone from one place to another, because of queue->cause. */
void bt_incoming_count(struct bt_queue *queue, uint32_t slot_ix, enum bt_wait from, enum bt_wait to);

/* Tells the observer where a slot is now. */
static inline void bt_incoming_show(const struct bt_queue *queue, uint32_t slot_ix, uint32_t cause)
{
	const struct bt_queue_observer *observer = &queue->options.observer;

	if (BT_UNLIKELY(observer->moved)) {
		const struct bt_slot *slot = &queue->slots[slot_ix];

		observer->moved(observer->context, slot->pod_ix, slot->where, cause);
	}
}

/* ---- in_flight.c ---- */

void bt_in_flight_begin(struct bt_queue *queue, uint32_t slot);
void bt_in_flight_end(struct bt_queue *queue, uint32_t slot);

/* Keeps an event for the pods that are in flight, if any are. only: the one that is concerned, or
 * BT_QUEUE_EMPTY: all. */
void bt_in_flight_log(struct bt_queue *queue, const struct bt_cluster_event *event, uint32_t only);
