/* SPDX-License-Identifier: Apache-2.0
 * The queue's insides, shared by its files. Context: the scheduling thread.
 */
#pragma once

#include "engine/base/map.h"
#include "queue/queue.h"

#define BT_NO_GROUP UINT32_MAX
#define BT_NO_SLOT  UINT32_MAX
#define BT_EXPIRED  INT64_MIN /* there is no backoff, or it has ended */

#define BT_NO_ENTITY   UINT32_MAX
#define BT_WAIT_MEMBER BT_WAIT_N /* of a slot: the pod is in its PodGroup, which is in a place */

/* What to do with a pod, or a PodGroup, because of an event. */
enum bt_strategy { BT_SKIP = 0, BT_AFTER_BACKOFF, BT_IMMEDIATELY };

/* A pod that is known to the queue, or a PodGroup with pods that wait in it, which has no pod_ix. */
struct bt_slot {
	uint32_t pod_ix, kind;
	uint32_t entity; /* the PodGroup's number, of a pod of it and of itself; or BT_NO_ENTITY */
	uint32_t leaf;	 /* of a pod of it: the number of the group that it names; the same, but in a tree */
	bool is_entity;	 /* it is a PodGroup */
	uint64_t turn;	 /* of a pod of a PodGroup: which wait this is of all, for the order in the group */
	bt_plugin_set unschedulable_plugins, pending;
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

/* A PodGroup, by its number. */
struct bt_entity {
	uint32_t slot;	   /* its own; BT_NO_SLOT: it is in no place, and not in flight */
	uint32_t *members; /* slots of the pods in it, in the order in which they are decided */
	size_t member_n, member_cap;
	uint32_t *aside; /* slots of pods that are incomplete or pending */
	size_t aside_n, aside_cap;
	bool returned; /* in flight: a pod of the cycle is pending again */
	uint8_t best;  /* in flight: enum bt_strategy for those that are, by what happened meanwhile */
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
	bt_plugin_set parked_for;     /* the plugins that refused the kind */
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
	bt_plugin_set parked_for; /* no other plugins have refused any of them */
};

/* Pods that events are weighed for together: of one kind, refused by the same plugins. What a hint says
 * depends on the signature, and on whether the event is the pod's own, which is weighed by itself. */
struct bt_waiting_group {
	uint32_t kind;
	bt_plugin_set unschedulable_plugins, pending;
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
	uint64_t plugin_groups[BT_PLUGIN_SET_ROOM]; /* how many groups a plugin has refused */
	struct bt_entity *entities;		    /* PodGroups, by number */
	size_t entity_n, entity_cap;
	uint64_t entity_pods[BT_WAIT_N]; /* pods in PodGroups, by the places of these */
	uint64_t turns;
	struct bt_logged *log; /* events from log_begin on */
	size_t log_n, log_cap;
	uint64_t log_begin;
	uint32_t *flying; /* slots in flight */
	size_t flying_n, flying_cap;
	uint32_t *scratch;
	size_t scratch_cap;
	uint64_t orders, stamp_n;
	uint64_t trimmed_at;		  /* orders when free places were last looked for */
	struct bt_queue_counts counts;	  /* a PodGroup counts as one; bt_queue_counts adds its pods */
	uint32_t cause;			  /* enum bt_queue_cause: why pods go from place to place now */
	uint64_t late_n;		  /* newcomers that an update brought, wherever they are */
	uint64_t gated_n;		  /* other newcomers that are gated */
	uint64_t incoming[3][BT_CAUSE_N]; /* but for newcomers that are active: they are counted by orders */
};

/* How many pods a slot stands for. */
static inline uint32_t bt_slot_size(const struct bt_queue *queue, const struct bt_slot *slot)
{
	return slot->is_entity ? (uint32_t)queue->entities[slot->entity].member_n : 1;
}

/* ---- queue.c ---- */

/* A place for a slot, whose contents are the caller's to write. */
uint32_t bt_slot_vacant(struct bt_queue *queue);
void bt_slot_vacate(struct bt_queue *queue, uint32_t slot);

/* Takes a slot out of where it is. Returns: where that was. */
enum bt_wait bt_slot_leave(struct bt_queue *queue, uint32_t slot);

/* Puts a slot that is nowhere into one of the four places. */
void bt_slot_enter(struct bt_queue *queue, uint32_t slot, enum bt_wait where);

/* Lets a slot that is nowhere into the place that the strategy says. Returns: which. */
enum bt_wait bt_slot_let_in(struct bt_queue *queue, uint32_t slot, enum bt_strategy strategy, int64_t now_ns);

/* PreEnqueue of a pod. Returns whether it may go on. */
bool bt_slot_pass_gate(struct bt_queue *queue, struct bt_slot *slot);

/* Is an event a reason to try a slot again? Source: isPodWorthRequeuing, v1.36.3. */
enum bt_strategy bt_slot_weigh(
	struct bt_queue *queue, const struct bt_slot *slot, const struct bt_cluster_event *event);

/* ---- entities.c ---- */

void bt_entities_fini(struct bt_queue *queue);

/* The PodGroup that a pod waits in, or BT_NO_ENTITY. */
uint32_t bt_entity_of(const struct bt_queue *queue, uint32_t pod_ix);

/* A slot that is nowhere enters its PodGroup, because of queue->cause. Returns: where the pod waits now. */
enum bt_wait bt_entity_enter(struct bt_queue *queue, uint32_t slot, int64_t now_ns);

/* A pod in flight or binding enters it again; strategy: what happened meanwhile says. */
enum bt_wait bt_entity_return(
	struct bt_queue *queue, uint32_t slot, enum bt_strategy strategy, int64_t now_ns);

/* Takes a pod out of its PodGroup; it is nowhere then. */
void bt_entity_drop(struct bt_queue *queue, uint32_t slot);

/* A pod in flight goes to be bound, or back. */
void bt_entity_let_go(struct bt_queue *queue, uint32_t slot);

/* The PodGroup of a slot is in flight with its pods. */
void bt_entity_pop(struct bt_queue *queue, uint32_t slot);

/* Where the pod of a slot waits, as callers see it. */
enum bt_wait bt_entity_where(const struct bt_queue *queue, const struct bt_slot *slot);

/* The slot whose place a pod's slot has: its PodGroup's when it waits in one, else its own. */
uint32_t bt_entity_place(const struct bt_queue *queue, uint32_t slot);

/* The pod that stands for a slot when hooks are asked: of a PodGroup that is gated one that is. */
uint32_t bt_entity_pod(const struct bt_queue *queue, const struct bt_slot *slot);

/* What is said of a PodGroup by all its pods. */
bool bt_entity_pass_gate(struct bt_queue *queue, struct bt_slot *slot);
enum bt_strategy bt_entity_weigh(
	struct bt_queue *queue, const struct bt_slot *slot, const struct bt_cluster_event *event);
bool bt_entity_yields(const struct bt_queue *queue, const struct bt_slot *slot, int32_t max_priority);
void bt_entity_note_active(struct bt_queue *queue, const struct bt_slot *slot, int64_t now_ns);
void bt_entity_note_flushed(struct bt_queue *queue, const struct bt_slot *slot);

/* A PodGroup has entered a place, or leaves it. */
void bt_entity_count(struct bt_queue *queue, const struct bt_slot *slot, enum bt_wait where, bool add);

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
void bt_active_park(struct bt_queue *queue, uint32_t slot, bt_plugin_set plugins);
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

/* Tells the observer where a slot is now, and each pod of a PodGroup. */
void bt_incoming_show(const struct bt_queue *queue, uint32_t slot_ix, uint32_t cause);

/* ---- in_flight.c ---- */

void bt_in_flight_begin(struct bt_queue *queue, uint32_t slot);
void bt_in_flight_end(struct bt_queue *queue, uint32_t slot);

/* Keeps an event for the pods that are in flight, if any are. only: the one that is concerned, or
 * BT_QUEUE_EMPTY: all. */
void bt_in_flight_log(struct bt_queue *queue, const struct bt_cluster_event *event, uint32_t only);
