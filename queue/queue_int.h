/* SPDX-License-Identifier: Apache-2.0
 * The queue's internals, shared by its files. Context: the scheduling thread.
 */
#pragma once

#include <assert.h>

#include "engine/base/compiler.h"
#include "engine/base/map.h"
#include "queue/queue.h"

#define BT_NO_GROUP UINT32_MAX
#define BT_NO_SLOT  UINT32_MAX
#define BT_EXPIRED  INT64_MIN /* no backoff, or expired */

#define BT_NO_ENTITY   UINT32_MAX
#define BT_WAIT_MEMBER BT_WAIT_N /* of a slot: the pod is in its PodGroup, which has a place */

/* What to do with a pod, or a PodGroup, because of an event. */
enum bt_strategy { BT_SKIP = 0, BT_AFTER_BACKOFF, BT_IMMEDIATELY };

/* A pod in the queue, or a PodGroup with waiting pods, which has no pod_ix. Each cycle reads what comes
 * first, on one cache line or two. */
struct bt_slot {
	uint64_t stamp;	 /* active: sequence number of its entry; else 0 */
	uint32_t entity; /* the number of the PodGroup, or of a pod's PodGroup; or BT_NO_ENTITY */
	uint32_t pod_ix, kind;
	uint32_t attempts;
	uint8_t where; /* enum bt_wait */
	int8_t gate;
	bool flushed : 1;
	bool missed : 1;    /* in flight: the log overflowed */
	bool patient : 1;   /* in backoff: popped only after expiry */
	bool is_entity : 1; /* it is a PodGroup */
	uint32_t group;	    /* unschedulable, gated; else BT_NO_GROUP */
	union {
		uint32_t prev;	    /* in the group */
		uint32_t heap_ix;   /* in backoff */
		uint64_t log_begin; /* in flight: the first event kept for it */
	};
	uint32_t next;	/* in the group; of a free slot, the next one */
	uint32_t leaf;	/* of a pod in a group: the number of the group that it names; differs from entity
			   only in a tree */
	uint64_t order; /* of arrival */
	bt_plugin_set unschedulable_plugins, pending;
	int64_t entered_ns, timestamp_ns, expiry_ns;
	int64_t waits_since_ns; /* timestamp_ns, or the last flush (flush_runs_pre_enqueue) */
	int64_t first_ns;	/* when it first became active, or INT64_MAX */
	uint64_t turn;		/* of a pod in a PodGroup: sequence number of its wait, for the order in it */
	uint32_t unschedulable_n, error_n;
};

static_assert(sizeof(struct bt_slot) == 2 * BT_CACHELINE, "a slot is found by a shift");

/* A PodGroup, by its number. */
struct bt_entity {
	uint32_t slot;	   /* its slot; BT_NO_SLOT: no place, and not in flight */
	uint32_t *members; /* slots of its pods, in scheduling order */
	size_t member_n, member_cap;
	uint32_t *aside; /* slots of pods that are incomplete or pending */
	size_t aside_n, aside_cap;
	bool returned; /* in flight: a pod of the cycle is pending again */
	uint8_t best;  /* in flight: enum bt_strategy for its pods, by kept events */
};

/* Position of a pod in its line. */
struct bt_active_entry {
	int64_t timestamp_ns;
	uint64_t order; /* of arrival */
	uint64_t stamp; /* of the slot; stale if the slot's differs */
	uint32_t slot;
	int32_t priority;
};

/* Valid items: [head, n). */
struct bt_active_line {
	struct bt_active_entry *items;
	size_t head, n, cap;
};

/* A kind of pods, by bt_queue_kind_key. One without pods is not parked, and may be removed. It is parked
 * until an event for which a hint returns Queue, until one of its pods fits, or for at most a second.
 */
struct bt_kind_line {
	struct bt_queue_kind kind;
	uint32_t pod_n; /* pods in the queue */
	bool is_parked;
	uint32_t parked_ix;	      /* in bt_active.parked */
	bt_plugin_set parked_for;     /* the plugins that refused the kind */
	uint32_t example;	      /* the slot of a pod that they refused */
	struct bt_active_line parked; /* its pods that were reached meanwhile, in order */
	uint32_t parked_heap_ix;      /* in bt_active.parked_kinds plus one, or 0 */
};

#define BT_ACTIVE_LINES 8

struct bt_active {
	struct bt_active_line lines[BT_ACTIVE_LINES]; /* each in order */
	uint32_t line_n;			      /* later lines are empty */
	struct bt_active_line heap;		      /* the other entries; head is 0 */
	size_t entry_n;				      /* of all lines, stale ones included */
	struct bt_kind_line *kinds;
	size_t kind_n, kind_cap;
	uint32_t last_kind; /* the kind that a pod joined last; kinds are only vacated for a new one */
	struct bt_map kind_ixs;
	uint32_t *vacant_kinds; /* indices to reuse */
	size_t vacant_n, vacant_cap;
	uint32_t *parked; /* parked kinds, unordered */
	size_t parked_n, parked_cap;
	uint32_t *parked_kinds; /* parked kinds with entries: a heap by their first ones */
	size_t parked_kind_n, parked_kind_cap;
	bt_plugin_set parked_for; /* superset of the plugins that refused any of them */
};

/* Pods for which events are evaluated together: of one kind, refused by the same plugins. A hint's result
 * depends on the signature, and on whether the event is the pod's own, which is evaluated separately. */
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
	uint32_t only; /* the only pod concerned, or BT_QUEUE_EMPTY */
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
	uint64_t plugin_groups[BT_PLUGIN_SET_ROOM]; /* number of groups by refusing plugin */
	struct bt_entity *entities;		    /* PodGroups, by number */
	size_t entity_n, entity_cap;
	uint64_t entity_pods[BT_WAIT_N]; /* pods in PodGroups, by the groups' places */
	uint64_t turns;
	struct bt_logged *log; /* events from log_begin on */
	size_t log_n, log_cap;
	uint64_t log_begin;
	uint32_t *flying; /* slots in flight */
	size_t flying_n, flying_cap;
	uint32_t *scratch;
	size_t scratch_cap;
	uint64_t orders, stamp_n;
	uint64_t trimmed_at;		  /* orders at the last trim */
	struct bt_queue_counts counts;	  /* a PodGroup counts as one; bt_queue_counts adds its pods */
	uint32_t cause;			  /* enum bt_queue_cause: cause of the current moves */
	uint64_t late_n;		  /* pods added by an update, in any place */
	uint64_t gated_n;		  /* other newcomers that are gated */
	uint64_t incoming[3][BT_CAUSE_N]; /* except new active pods, which are counted by orders */
};

/* The number of pods of a slot. */
static inline uint32_t bt_slot_size(const struct bt_queue *queue, const struct bt_slot *slot)
{
	return slot->is_entity ? (uint32_t)queue->entities[slot->entity].member_n : 1;
}

/* ---- queue.c ---- */

/* Allocates a slot; the caller initializes it. */
uint32_t bt_slot_vacant(struct bt_queue *queue);
void bt_slot_vacate(struct bt_queue *queue, uint32_t slot);

/* Appends a slot to the n in scratch. */
void bt_queue_note(struct bt_queue *queue, size_t *n, uint32_t slot);

/* Takes a slot out of where it is. Returns: where that was. */
enum bt_wait bt_slot_leave(struct bt_queue *queue, uint32_t slot);

/* Puts a slot that is nowhere into one of the four places. */
void bt_slot_enter(struct bt_queue *queue, uint32_t slot, enum bt_wait where);

/* Puts a slot without a place into the strategy's place. Returns: the place. */
enum bt_wait bt_slot_admit(struct bt_queue *queue, uint32_t slot, enum bt_strategy strategy, int64_t now_ns);

/* PreEnqueue of a pod. Returns whether it passes. */
bool bt_slot_pass_gate(struct bt_queue *queue, struct bt_slot *slot);

/* Should an event requeue a slot? Source: isPodWorthRequeuing, v1.36.3. */
enum bt_strategy bt_slot_weigh(
	struct bt_queue *queue, const struct bt_slot *slot, const struct bt_cluster_event *event);

/* ---- entities.c ---- */

void bt_entities_fini(struct bt_queue *queue);

/* The PodGroup that a pod waits in, or BT_NO_ENTITY. */
uint32_t bt_entity_of(const struct bt_queue *queue, uint32_t pod_ix);

/* Adds a slot without a place to its PodGroup, because of queue->cause. Returns: the pod's place. */
enum bt_wait bt_entity_enter(struct bt_queue *queue, uint32_t slot, int64_t now_ns);

/* Returns a pod in flight or binding to its PodGroup; strategy: from kept events. */
enum bt_wait bt_entity_return(
	struct bt_queue *queue, uint32_t slot, enum bt_strategy strategy, int64_t now_ns);

/* Removes a pod from its PodGroup; it has no place then. */
void bt_entity_drop(struct bt_queue *queue, uint32_t slot);

/* A pod in flight begins its binding, or is returned. */
void bt_entity_detach(struct bt_queue *queue, uint32_t slot);

/* Pops the PodGroup of a slot with its pods. */
void bt_entity_pop(struct bt_queue *queue, uint32_t slot);

/* The public place of a slot's pod. */
enum bt_wait bt_entity_where(const struct bt_queue *queue, const struct bt_slot *slot);

/* The slot that has the place of a pod's slot: its PodGroup's if it waits in one, else its own. */
uint32_t bt_entity_place(const struct bt_queue *queue, uint32_t slot);

/* The pod passed to hooks for a slot: for a gated PodGroup, a gated pod. */
uint32_t bt_entity_pod(const struct bt_queue *queue, const struct bt_slot *slot);

/* Gates and events of a PodGroup, combined over its pods. */
bool bt_entity_pass_gate(struct bt_queue *queue, struct bt_slot *slot);
enum bt_strategy bt_entity_weigh(
	struct bt_queue *queue, const struct bt_slot *slot, const struct bt_cluster_event *event);
bool bt_entity_yields(const struct bt_queue *queue, const struct bt_slot *slot, int32_t max_priority);
void bt_entity_note_active(struct bt_queue *queue, const struct bt_slot *slot, int64_t now_ns);
void bt_entity_note_flushed(struct bt_queue *queue, const struct bt_slot *slot);

/* Counts a PodGroup that enters or leaves a place. */
void bt_entity_count(struct bt_queue *queue, const struct bt_slot *slot, enum bt_wait where, bool add);

/* ---- active.c ---- */

void bt_active_fini(struct bt_active *active);

/* The index of a kind, assigned now if it has none; adds a pod to it. */
uint32_t bt_active_join_kind(struct bt_queue *queue, struct bt_queue_kind kind);

/* Removes a pod from the kind. With the last one the kind's state is dropped. */
void bt_active_leave_kind(struct bt_queue *queue, uint32_t kind);

/* Add and remove a slot. Requires: counts.active is already updated. */
void bt_active_push(struct bt_queue *queue, uint32_t slot);
void bt_active_drop(struct bt_queue *queue, uint32_t slot);

/* Removes the first entry and returns its slot, which the caller drops; BT_QUEUE_EMPTY: none. When only
 * parked kinds are left, they are popped in order, and stay parked. */
uint32_t bt_active_pop(struct bt_queue *queue);

/* The next slots in the lines, at most cap of them. */
uint32_t bt_active_peek(const struct bt_queue *queue, uint32_t *out_slots, uint32_t cap);

/* The slot this many places after the first one if there is a single line; else BT_NO_SLOT. */
uint32_t bt_active_guess(const struct bt_queue *queue, uint32_t places);

/* Parks the kind of a slot that these plugins have refused. */
void bt_active_park(struct bt_queue *queue, uint32_t slot, bt_plugin_set plugins);
void bt_active_unpark(struct bt_queue *queue, uint32_t kind);

/* ---- backoff.c ---- */

/* The expiry of the backoff of a slot refused now. Source: calculateBackoffDuration, v1.36.3. */
int64_t bt_pod_backoff_expiry(const struct bt_queue *queue, const struct bt_slot *slot);

/* Is the slot still in backoff? */
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

/* Counts a pod's move, because of queue->cause. */
void bt_incoming_count(struct bt_queue *queue, uint32_t slot_ix, enum bt_wait from, enum bt_wait to);

/* Reports a slot's place, and those of a PodGroup's pods, to the observer. */
void bt_incoming_show(const struct bt_queue *queue, uint32_t slot_ix, uint32_t cause);

/* ---- in_flight.c ---- */

void bt_in_flight_begin(struct bt_queue *queue, uint32_t slot);
void bt_in_flight_end(struct bt_queue *queue, uint32_t slot);

/* Keeps an event for the pods in flight, if any. only: the only pod concerned, or BT_QUEUE_EMPTY: all. */
void bt_in_flight_log(struct bt_queue *queue, const struct bt_cluster_event *event, uint32_t only);
