/* SPDX-License-Identifier: Apache-2.0
 * Stage 4: the scheduling queue. Pods wait in one of four places: active (ready, in the order of
 * PrioritySort), backoff (recently refused), unschedulable (until an event may help) and gated (kept out by a
 * PreEnqueue plugin). A popped pod is in flight until its cycle ends; events during its cycle are kept for
 * it. Source: scheduler backend/queue, v1.36.3.
 *
 *   bt_queue_add
 *        |
 *        v     bt_queue_pop               bt_queue_done             bt_queue_remove
 *     active ----------------> in flight ----------------> binding -----------------> (gone)
 *      ^  ^                        |                          |
 *      |  |                        | bt_queue_refuse          | the binding failed: bt_queue_refuse
 *      |  |                        v                          |
 *      |  |  a hint says Queue   unschedulable, gated <-------+
 *      |  +--------------------- |
 *      |                         | a hint says Queue, and backoff is not over
 *      |   time                  v
 *      +----------------------- backoff
 *
 * Pods of a PodGroup wait in it (hooks.pod_group): the group is queued like a pod, and is popped with all
 * its pods. Any member's gate gates the group, and an event that helps one member helps the group. A pod is
 * incomplete while the group's object is missing, and pending while the group is in its cycle, which
 * bt_queue_end_group ends.
 *
 * The queue stores only indices, kinds, priorities and times of pods; gates and queueing hints are callbacks
 * (hooks). Plugins are numbers below 32 of the pod's profile.
 * Context: the scheduling thread, for all of it. Hooks are called from within and change nothing here.
 *
 * Times are nanoseconds of the engine's clock and do not decrease. Sets of plugins are bits of a word.
 * Functions that add pods may allocate; none blocks. Unless stated otherwise, unknown pods are ignored. Owns:
 * the queue copies its arguments.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/owner.h"
#include "engine/base/status.h"
#include "engine/model/cluster_event.h"
#include "engine/model/plugin_set.h"

#define BT_QUEUE_EMPTY	 UINT32_MAX
#define BT_QUEUE_NO_GATE (-1)
#define BT_QUEUE_SECOND	 1000000000ll

/* Where a pod is. */
enum bt_wait {
	BT_WAIT_NOWHERE = 0,
	BT_WAIT_ACTIVE,
	BT_WAIT_BACKOFF,
	BT_WAIT_UNSCHEDULABLE,
	BT_WAIT_GATED,
	BT_WAIT_IN_FLIGHT,
	BT_WAIT_BINDING,
	BT_WAIT_INCOMPLETE, /* its PodGroup does not exist */
	BT_WAIT_PENDING,    /* its PodGroup is in its cycle; it joins the next one */
	BT_WAIT_N
};

/* The PodGroup that a pod waits in. */
struct bt_queue_pod_group {
	uint32_t number; /* dense, reused; in a tree the root's number */
	uint32_t leaf;	 /* the same for the group that the pod names */
	bool known;	 /* its object and those of all its ancestors exist */
	int32_t priority;
};

/* The result of a PodGroup's cycle. */
enum bt_queue_attempt { BT_ATTEMPT_SUCCEEDED = 0, BT_ATTEMPT_REJECTED, BT_ATTEMPT_FAILED };

/* Callbacks of the queue's owner. Hooks must not change the queue. */
struct bt_queue_hooks {
	/* PreEnqueue: the number of the plugin that gates the pod, or BT_QUEUE_NO_GATE. first: the plugin
	 * that gates it now, called before the others. */
	int (*gate)(void *context, uint32_t pod_ix, int first);
	/* The plugins of the pod's profile that registered for the event. */
	bt_plugin_set (*interested)(void *context, uint32_t pod_ix, const struct bt_cluster_event *event);
	/* The same, joined over all profiles; 0: no plugin registered for the event. */
	bt_plugin_set (*matters)(void *context, const struct bt_cluster_event *event);
	/* Does the hint of any of these plugins return Queue? */
	bool (*hint)(
		void *context, uint32_t pod_ix, const struct bt_cluster_event *event, bt_plugin_set plugins);
	/* Called for a pod that this plugin has gated for too long: is its condition already met, so that no
	 * event will release it? NULL: never. */
	bool (*stuck)(void *context, uint32_t pod_ix, int gate);
	/* The PodGroup that the pod waits in, if any: then the group has a place, and its pods are in it.
	 * NULL: pods wait separately. A group without an object may have any priority. */
	bool (*pod_group)(void *context, uint32_t pod_ix, struct bt_queue_pod_group *out_group);
	void *context;
};

/* Observes moves of waiting pods, for logs; a cause is one of bt_queue_incoming. Each may be NULL, and must
 * not change the queue. Context: the scheduling thread. */
struct bt_queue_observer {
	/* A pod was moved to a place. */
	void (*moved)(void *context, uint32_t pod_ix, enum bt_wait to, uint32_t cause);
	/* An event helps neither this pod nor others of its kind, which are not reported. */
	void (*stayed)(void *context, uint32_t pod_ix, uint32_t cause);
	/* An event was kept for pods in flight. */
	void (*kept)(void *context, uint32_t cause);
	/* Hints of these plugins were called for an event, until one returned Queue. by: that plugin; -1:
	 * none. */
	void (*hinted)(void *context, uint32_t pod_ix, uint32_t cause, bt_plugin_set plugins, int by);
	void *context;
};

struct bt_queue_options {
	int64_t initial_backoff_ns, max_backoff_ns; /* max 0: no backoff */
	int64_t max_unschedulable_ns; /* a pod that has waited longer for an event is requeued; a gated one if
					 it is stuck, or with flush_runs_pre_enqueue */
	bool flush_runs_pre_enqueue;  /* and its next flush is as long after this one */
	/* Backoff ends at whole seconds, and pods are popped from it when none is active. Gate
	 * SchedulerPopFromBackoffQ. */
	bool pop_from_backoff;
	bool late_are_new;	     /* a pod added by an update counts as new */
	uint32_t log_limit;	     /* events that are kept for pods in flight; 0: BT_QUEUE_LOG_LIMIT */
	struct bt_queue_hooks hooks; /* all zeroes: no gates, and every event requeues every pod */
	struct bt_queue_observer observer;
};

#define BT_QUEUE_LOG_LIMIT	   100000u
#define BT_QUEUE_INITIAL_BACKOFF   BT_QUEUE_SECOND
#define BT_QUEUE_MAX_BACKOFF	   (10 * BT_QUEUE_SECOND)
#define BT_QUEUE_MAX_UNSCHEDULABLE (300 * BT_QUEUE_SECOND)
#define BT_QUEUE_FLUSH_SECONDS	   30 /* interval of the flush of unschedulable pods */

/* Pods of one kind get the same hints and, while the cluster is unchanged, the same verdict, preemption
 * included: a kind contains all inputs of PostFilter for a pod without a nomination. */
struct bt_queue_kind {
	uint32_t signature_ix; /* below 2^30 */
	int32_t priority;
	bool never_preempts;
};

/* The kind as a key of a bt_map. */
static inline uint64_t bt_queue_kind_key(struct bt_queue_kind kind)
{
	return ((uint64_t)kind.signature_ix << 33 | (uint64_t)kind.never_preempts << 32 |
		       (uint32_t)kind.priority) +
	       1;
}

/* The queue's data of a pod; read-only. */
struct bt_queue_info {
	enum bt_wait where;
	int gate; /* for a gated pod: the plugin */
	/* plugins that refused it, or made it wait at Permit, in the last attempt */
	bt_plugin_set unschedulable_plugins, pending;
	uint32_t attempts;		  /* number of attempts */
	int64_t entered_ns, timestamp_ns; /* when it was added; when its current wait began */
	int64_t expiry_ns;		  /* of a pod in backoff: expiry; INT64_MIN: expired */
	bool patient;			  /* of a pod in backoff: not popped before expiry */
	bool flushed;			  /* it was requeued by the flush */
	int64_t first_ns;		  /* when it first became active; INT64_MAX: never */
	uint64_t order;			  /* of arrival */
	bool in_group; /* it waits in its PodGroup; place, gate, times and expiry are the group's */
};

struct bt_queue_counts {
	uint64_t active, backoff, unschedulable, gated, in_flight, binding, incomplete, pending; /* pods */
	uint64_t pod_groups[BT_WAIT_N]; /* PodGroups by place */
	bool had_pod_groups[BT_WAIT_N]; /* whether the place ever had a PodGroup */
	uint64_t grouped[BT_WAIT_N];	/* pods in PodGroups, also counted in their places */
	uint64_t hint_n;		/* hints called */
	uint64_t moved_n;		/* pods requeued by events */
	uint64_t flushed_n;		/* by time alone */
	uint64_t backoff_n;		/* number of waits in backoff */
	uint64_t parked;		/* kinds that are parked */
	uint64_t parked_n;		/* how often one was */
	uint64_t overflow_n;		/* number of overflows of the event log */
};

/* Why a pod enters a place: an event (bt_cluster_event_label), or one of these. */
enum bt_queue_cause {
	BT_CAUSE_ATTEMPT_FAILED = BT_CLUSTER_EVENT_LABELS,
	BT_CAUSE_BACKOFF_COMPLETE,
	BT_CAUSE_POP_FROM_BACKOFF,
	BT_CAUSE_FORCE_ACTIVATE,
	BT_CAUSE_TIMEOUT,
	BT_CAUSE_N
};

struct bt_queue;

/* No defaults are applied to options->…_ns. Requires: none of them is negative.
 * Owns: the caller, until bt_queue_destroy; NULL is fine. */
struct bt_queue *bt_queue_create(const struct bt_queue_options *options);
void bt_queue_destroy(struct bt_queue *queue);

/* The thread that may change the queue. Owns: the queue. */
struct bt_owner *bt_queue_owner(struct bt_queue *queue);

/*
 * Adds a pod. timestamp_ns: start of its wait, for the order. Requires: it is not in the queue.
 * Returns: BT_WAIT_ACTIVE or BT_WAIT_GATED; for a pod of a PodGroup the group's place, BT_WAIT_PENDING or
 * BT_WAIT_INCOMPLETE.
 */
enum bt_wait bt_queue_add(
	struct bt_queue *queue, uint32_t pod_ix, struct bt_queue_kind kind, int64_t timestamp_ns);

/* Pops the next pod, which is then in flight; BT_QUEUE_EMPTY: none. For a PodGroup, the first of the popped
 * pods. */
uint32_t bt_queue_pop(struct bt_queue *queue);

/* Does the pod wait, or is it in flight, with others of its PodGroup? */
bool bt_queue_is_group(const struct bt_queue *queue, uint32_t pod_ix);

/* The pods that are in flight, or wait, with this one in its PodGroup, itself included, in scheduling order.
 * Writes at most cap of them; returns their number. */
uint32_t bt_queue_members(const struct bt_queue *queue, uint32_t pod_ix, uint32_t *out_pods, uint32_t cap);

/*
 * Ends the cycle of a PodGroup: its pods that were refused or added meanwhile wait in it, immediately if it
 * has succeeded, else after its backoff; by_events: else for an event that helps one of them. Requires: it
 * was popped, and none of its pods is in flight.
 */
void bt_queue_end_group(struct bt_queue *queue, uint32_t number, enum bt_queue_attempt attempt,
	bool by_events, int64_t now_ns);

/* PodGroups' objects were added (or their last missing ancestor was), changed, or deleted: applies the hook's
 * current result. In a tree that has lost leaves the others still wait. */
void bt_queue_pod_groups_added(struct bt_queue *queue, const uint32_t *leaves, size_t leaf_n, int64_t now_ns);
void bt_queue_pod_group_changed(struct bt_queue *queue, uint32_t number, int32_t priority);
void bt_queue_pod_groups_deleted(
	struct bt_queue *queue, uint32_t number, const uint32_t *leaves, size_t leaf_n);

/*
 * The pods that will probably be popped next, first to last, at most cap of them, for preparing their cycles.
 * Excludes pods outside of lines, and parked ones. Returns their number. Read-only.
 */
uint32_t bt_queue_peek(const struct bt_queue *queue, uint32_t *out_pods, uint32_t cap);

/* The pod that will probably be popped after that many (places) others; BT_QUEUE_EMPTY: unknown. A guess, for
 * prefetching the data of its cycle. */
uint32_t bt_queue_guess(const struct bt_queue *queue, uint32_t places);

/* Pops a pod that is active, in backoff or unschedulable out of order. BT_NOT_FOUND: it is in none of
 * these. */
enum bt_status bt_queue_take(struct bt_queue *queue, uint32_t pod_ix);

/* The same, also for a gated pod: for replaying a scheduler that did not gate it. */
enum bt_status bt_queue_take_any(struct bt_queue *queue, uint32_t pod_ix);

/* The same, also for a pod whose PodGroup is unknown, and without the other pods of its PodGroup. Requires:
 * the group is not in its cycle. */
enum bt_status bt_queue_take_alone(struct bt_queue *queue, uint32_t pod_ix);

/* The cycle of a pod in flight has ended and its binding begins: events are no longer kept for it.
 * Requires: it is in flight. */
void bt_queue_done(struct bt_queue *queue, uint32_t pod_ix);

/* A pod in flight will be retried after its backoff, whichever plugin refuses it. Requires: it is in
 * flight. */
void bt_queue_back_off(struct bt_queue *queue, uint32_t pod_ix);

/*
 * A pod in flight or binding was not placed: it was refused by these plugins, or failed (none). It waits for
 * an event, or in backoff if a helpful event was kept. Requires: it is in flight or binding.
 * Returns: where it is now.
 */
enum bt_wait bt_queue_refuse(struct bt_queue *queue, uint32_t pod_ix, bt_plugin_set unschedulable_plugins,
	bt_plugin_set pending, int64_t now_ns);

/*
 * Parks this pod's kind: its active pods go after all other pods, because their verdict is known, until an
 * event for which a hint of these plugins returns Queue, or bt_queue_flush_backoff.
 * Requires: the pod is in the queue.
 */
void bt_queue_park(struct bt_queue *queue, uint32_t pod_ix, bt_plugin_set unschedulable_plugins);

/* Removes a pod from any place. BT_NOT_FOUND: it is in none. */
enum bt_status bt_queue_remove(struct bt_queue *queue, uint32_t pod_ix);

/*
 * A waiting pod has changed; kind: its new kind; events: its n changes.
 * Returns: its place; a pod without a place is added.
 */
enum bt_wait bt_queue_update(struct bt_queue *queue, uint32_t pod_ix, struct bt_queue_kind kind,
	const struct bt_cluster_event *events, uint32_t n, int64_t now_ns);

/*
 * Applies an event: requeues pods that it may help, with a priority of at most max_priority, but not except
 * (BT_QUEUE_EMPTY: none). own_ix: the pod that is the event's object, if it waits here.
 */
void bt_queue_move(struct bt_queue *queue, const struct bt_cluster_event *event, int32_t max_priority,
	uint32_t own_ix, int64_t now_ns);

/* The same, but leaves out one pod, whose change caused the event. */
void bt_queue_move_others(
	struct bt_queue *queue, const struct bt_cluster_event *event, uint32_t except_ix, int64_t now_ns);

/* Moves a pod to active whatever it waits for, except PreEnqueue; if in flight, after its cycle. */
void bt_queue_activate(struct bt_queue *queue, uint32_t pod_ix, int64_t now_ns);

/* Retries a pod, whatever it waits for, except PreEnqueue, but not before its backoff expires. Pods in
 * backoff or active are ignored. */
void bt_queue_try_again(struct bt_queue *queue, uint32_t pod_ix, int64_t now_ns);

/* Timers: expired backoffs, and unschedulable pods that waited too long. */
void bt_queue_flush_backoff(struct bt_queue *queue, int64_t now_ns);
void bt_queue_flush_unschedulable(struct bt_queue *queue, int64_t now_ns);

/* When the first backoff ends, or INT64_MAX. */
int64_t bt_queue_next_expiry(const struct bt_queue *queue);

/* The start of the longest wait for an event (or the last flush, if recorded) among pods that were refused at
 * refused_by_ns or before and that a flush would requeue; INT64_MAX: none. Scans every pod. */
int64_t bt_queue_oldest(const struct bt_queue *queue, int64_t refused_by_ns);

/* Changes the index of a pod to an unused one. Requires: no events are kept, and it is not in flight. */
void bt_queue_move_pod(struct bt_queue *queue, uint32_t from, uint32_t to);

/* Frees the capacity of removed pods; all pods have an index below pod_end. */
void bt_queue_trim(struct bt_queue *queue, uint32_t pod_end);

/* Are events being kept? If not, objects of earlier events may be freed. */
bool bt_queue_keeps_events(const struct bt_queue *queue);

/* The data of a pod; all zeroes if unknown. */
struct bt_queue_info bt_queue_info(const struct bt_queue *queue, uint32_t pod_ix);

/* The pods in a place: active and backoff in the order of pops (in backoff, patient pods last), others
 * unordered. Writes at most cap of them; returns their number. */
uint32_t bt_queue_list(struct bt_queue *queue, enum bt_wait where, uint32_t *pods, uint32_t cap);

struct bt_queue_counts bt_queue_counts(const struct bt_queue *queue);

/* May an event matter to any pod in the queue? */
bool bt_queue_may_requeue(const struct bt_queue *queue);

/* Is a cycle active, or an event kept for one? */
bool bt_queue_is_busy(const struct bt_queue *queue);

/*
 * The number of pods that have entered a place for a cause: BT_WAIT_ACTIVE, BT_WAIT_BACKOFF, or
 * BT_WAIT_UNSCHEDULABLE, which includes gated pods. A pod that stays in its place does not count. Requires:
 * cause is below BT_CAUSE_N. Source: scheduler_queue_incoming_pods_total, v1.36.3.
 */
uint64_t bt_queue_incoming(const struct bt_queue *queue, enum bt_wait where, uint32_t cause);

/* The number of kept events by cause. out_n: BT_CAUSE_N elements, all written. */
void bt_queue_logged(const struct bt_queue *queue, uint64_t out_n[BT_CAUSE_N]);

/* A cause's text as in upstream's metrics. Requires: cause is below BT_CAUSE_N. */
void bt_queue_cause_text(
	const struct bt_release *release, uint32_t cause, char out_text[BT_CLUSTER_EVENT_LABEL_BYTES]);
