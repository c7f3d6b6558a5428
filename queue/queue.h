/* SPDX-License-Identifier: Apache-2.0
 * Stage 4: the scheduling queue. Pods wait in one of four places: active (to be decided, in the order of
 * PrioritySort), backoff (refused a moment ago), unschedulable (until an event may help) and gated (kept out
 * by a PreEnqueue plugin). A pod that was popped is in flight until its cycle is over; events that happen
 * meanwhile are kept for it. Source: scheduler backend/queue, v1.36.3.
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
 * Pods of a PodGroup wait in it (hooks.pod_group): the group is in a place as a pod is, and is popped with
 * all of them. Its gate is that of any member, and an event that helps one member helps the group. A pod is
 * incomplete while the group's object is not there, and pending while the group is in its cycle, which
 * bt_queue_end_group ends.
 *
 * The queue knows indices, kinds, priorities and times, and nothing else of pods: who keeps a pod out, and
 * whether an event may help it, it asks through hooks. Plugins are numbers below 32 of the pod's profile.
 * Context: the scheduling thread, for all of it. Hooks are called from within and change nothing here.
 *
 * Times are nanoseconds of the engine's clock and do not go back. Plugins are words, a bit each. What enters
 * a pod may allocate; nothing blocks. Unless a function says otherwise it fails on no pod: one that is not
 * here is left alone. Owns: the queue copies all that it is given.
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
	BT_WAIT_INCOMPLETE, /* its PodGroup is not there */
	BT_WAIT_PENDING,    /* its PodGroup is in its cycle, and it will be in the next one */
	BT_WAIT_N
};

/* The PodGroup that a pod waits in. */
struct bt_queue_pod_group {
	uint32_t number; /* below the number of groups that there have been at a time; of a tree its root's */
	uint32_t leaf;	 /* the same of the group that the pod names */
	bool known;	 /* its object is there, and those of all groups above it */
	int32_t priority;
};

/* What a cycle of a PodGroup has come to. */
enum bt_queue_attempt { BT_ATTEMPT_SUCCEEDED = 0, BT_ATTEMPT_REJECTED, BT_ATTEMPT_FAILED };

/* What the queue asks of its owner. Hooks change nothing that the queue keeps. */
struct bt_queue_hooks {
	/* PreEnqueue: the number of the plugin that keeps the pod out, or BT_QUEUE_NO_GATE. first: the plugin
	 * that keeps it out now, which is asked before the others. */
	int (*gate)(void *context, uint32_t pod_ix, int first);
	/* The plugins of the pod's profile that registered for the event. */
	bt_plugin_set (*interested)(void *context, uint32_t pod_ix, const struct bt_cluster_event *event);
	/* The same, joined over all profiles; 0: the event is nobody's business. */
	bt_plugin_set (*matters)(void *context, const struct bt_cluster_event *event);
	/* Does the hint of any of these plugins say Queue? */
	bool (*hint)(
		void *context, uint32_t pod_ix, const struct bt_cluster_event *event, bt_plugin_set plugins);
	/* A pod that this plugin keeps out has waited for too long: has what it waits for come about, so that
	 * no event will let it go on? NULL: never. */
	bool (*stuck)(void *context, uint32_t pod_ix, int gate);
	/* The PodGroup that the pod waits in, if it waits in one: then the group takes a place, and its pods
	 * are in it. NULL: every pod waits alone. Whose object is not there yet may have any priority. */
	bool (*pod_group)(void *context, uint32_t pod_ix, struct bt_queue_pod_group *out_group);
	void *context;
};

/* Hears what becomes of waiting pods, for logs; a cause is one of bt_queue_incoming. Each may be NULL, and
 * changes nothing. Context: the scheduling thread. */
struct bt_queue_observer {
	/* A pod has come to a place. */
	void (*moved)(void *context, uint32_t pod_ix, enum bt_wait to, uint32_t cause);
	/* An event helps neither this pod nor others of its kind, which are not named. */
	void (*stayed)(void *context, uint32_t pod_ix, uint32_t cause);
	/* An event is kept for pods in flight. */
	void (*kept)(void *context, uint32_t cause);
	/* Hints of these plugins were asked about an event, until one said Queue. by: which one; -1: none
	 * has. */
	void (*hinted)(void *context, uint32_t pod_ix, uint32_t cause, bt_plugin_set plugins, int by);
	void *context;
};

struct bt_queue_options {
	int64_t initial_backoff_ns, max_backoff_ns; /* max 0: there is no backoff */
	int64_t max_unschedulable_ns; /* a pod that has waited longer for an event is let back; a gated one if
					 it is stuck, or flush_asks_gates */
	bool flush_asks_gates;	      /* and the next time is as long after it */
	/* Backoff ends at whole seconds, and a pod is taken out of it when none is active. Gate
	 * SchedulerPopFromBackoffQ. */
	bool pop_from_backoff;
	bool late_are_new;	     /* a pod that an update brings is counted as a newcomer */
	uint32_t log_limit;	     /* events that are kept for pods in flight; 0: BT_QUEUE_LOG_LIMIT */
	struct bt_queue_hooks hooks; /* all zeroes: nothing is gated, and every event lets every pod back */
	struct bt_queue_observer observer;
};

#define BT_QUEUE_LOG_LIMIT	   100000u
#define BT_QUEUE_INITIAL_BACKOFF   BT_QUEUE_SECOND
#define BT_QUEUE_MAX_BACKOFF	   (10 * BT_QUEUE_SECOND)
#define BT_QUEUE_MAX_UNSCHEDULABLE (300 * BT_QUEUE_SECOND)
#define BT_QUEUE_FLUSH_SECONDS	   30 /* unschedulable pods are looked through this often */

/* Pods of one kind get the same hints and, as long as the cluster stays, the same verdict, preemption's
 * included: so a kind is all that PostFilter depends on of a pod without a nomination. */
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

/* What the queue knows of a pod; reading only. */
struct bt_queue_info {
	enum bt_wait where;
	int gate; /* of a gated pod: the plugin */
	bt_plugin_set unschedulable_plugins,
		pending;		  /* plugins that refused it, or let it wait, the last time */
	uint32_t attempts;		  /* how often it was popped */
	int64_t entered_ns, timestamp_ns; /* since when it is known; since when it waits this time */
	int64_t expiry_ns;		  /* of a pod in backoff: when that ends; INT64_MIN: it has ended */
	bool patient;			  /* of a pod in backoff: it is not popped before that ends */
	bool flushed;			  /* it was let back because it had waited too long */
	int64_t first_ns;		  /* when it was active first; INT64_MAX: never */
	uint64_t order;			  /* of arrival */
	bool in_group; /* it waits in its PodGroup, whose place, gate, times and expiry are given */
};

struct bt_queue_counts {
	uint64_t active, backoff, unschedulable, gated, in_flight, binding, incomplete, pending; /* pods */
	uint64_t pod_groups[BT_WAIT_N]; /* PodGroups, by the places that they take */
	bool had_pod_groups[BT_WAIT_N]; /* one has been there */
	uint64_t grouped[BT_WAIT_N];	/* pods in these, which are among the pods of their places */
	uint64_t hint_n;		/* hints asked */
	uint64_t moved_n;		/* pods let back by events */
	uint64_t flushed_n;		/* by time alone */
	uint64_t backoff_n;		/* how often one had to wait for its backoff */
	uint64_t parked;		/* kinds that are parked */
	uint64_t parked_n;		/* how often one was */
	uint64_t overflow_n;		/* how often the log of events was full */
};

/* What lets a pod into a place of the queue: an event (bt_cluster_event_label), or one of these. */
enum bt_queue_cause {
	BT_CAUSE_ATTEMPT_FAILED = BT_CLUSTER_EVENT_LABELS,
	BT_CAUSE_BACKOFF_COMPLETE,
	BT_CAUSE_POP_FROM_BACKOFF,
	BT_CAUSE_FORCE_ACTIVATE,
	BT_CAUSE_TIMEOUT,
	BT_CAUSE_N
};

struct bt_queue;

/* options->…_ns as they come: nothing is defaulted. Requires: none of them is negative.
 * Owns: the caller, until bt_queue_destroy; NULL is fine. */
struct bt_queue *bt_queue_create(const struct bt_queue_options *options);
void bt_queue_destroy(struct bt_queue *queue);

/* The thread that may change the queue. Owns: the queue. */
struct bt_owner *bt_queue_owner(struct bt_queue *queue);

/*
 * Enters a pod. timestamp_ns: since when it waits, for the order. Requires: it is not here yet.
 * Returns: BT_WAIT_ACTIVE or BT_WAIT_GATED; of a pod of a PodGroup where the group is, BT_WAIT_PENDING or
 * BT_WAIT_INCOMPLETE.
 */
enum bt_wait bt_queue_add(
	struct bt_queue *queue, uint32_t pod_ix, struct bt_queue_kind kind, int64_t timestamp_ns);

/* Takes the next pod, which is in flight then; BT_QUEUE_EMPTY when there is none to take. Of a PodGroup it is
 * the first of the pods that are taken. */
uint32_t bt_queue_pop(struct bt_queue *queue);

/* Does the pod wait, or is it in flight, with others of its PodGroup? */
bool bt_queue_is_group(const struct bt_queue *queue, uint32_t pod_ix);

/* The pods that are in flight, or wait, with this one in its PodGroup, itself included, in the order in which
 * they are decided. Writes at most cap of them; returns how many there are. */
uint32_t bt_queue_members(const struct bt_queue *queue, uint32_t pod_ix, uint32_t *out_pods, uint32_t cap);

/*
 * The cycle of a PodGroup is over: pods of it that were refused or came meanwhile wait in it, at once if it
 * has succeeded, else after its backoff; by_events: else for an event that helps one of them. Requires:
 * it was popped, and of its pods none is in flight any more.
 */
void bt_queue_end_group(struct bt_queue *queue, uint32_t number, enum bt_queue_attempt attempt,
	bool by_events, int64_t now_ns);

/* A PodGroup's object has come (or those of all groups above it are there now), has changed, or has gone:
 * what the hook says of it holds from now on. Of a tree that has lost leaves the others still wait. */
void bt_queue_pod_group_came(struct bt_queue *queue, uint32_t leaf, int64_t now_ns);
void bt_queue_pod_group_changed(struct bt_queue *queue, uint32_t number, int32_t priority);
void bt_queue_pod_groups_gone(struct bt_queue *queue, uint32_t number, const uint32_t *leaves, size_t leaf_n);

/*
 * The pods that will probably be popped next, first to last, at most cap of them: for preparing their cycles.
 * What is in no line, parked, or comes meanwhile is left out. Returns how many. Changes nothing.
 */
uint32_t bt_queue_look_ahead(const struct bt_queue *queue, uint32_t *out_pods, uint32_t cap);

/* The pod that is so many places behind the first one, if all goes on as it usually does; BT_QUEUE_EMPTY when
 * that is not known. A guess, for fetching ahead what its cycle will read. */
uint32_t bt_queue_guess(const struct bt_queue *queue, uint32_t places);

/* Takes a pod that is active, in backoff or unschedulable before its turn; it is in flight then.
 * BT_NOT_FOUND: it is none of these. */
enum bt_status bt_queue_take(struct bt_queue *queue, uint32_t pod_ix);

/* The same, or one that is gated: for following a scheduler that did not keep it out. */
enum bt_status bt_queue_take_any(struct bt_queue *queue, uint32_t pod_ix);

/* The cycle of a pod in flight is over and it is being bound: events are not kept for it any more.
 * Requires: it is in flight. */
void bt_queue_done(struct bt_queue *queue, uint32_t pod_ix);

/* A pod in flight will be tried again after its backoff, whichever plugin refuses it. Requires: it is in
 * flight. */
void bt_queue_back_off(struct bt_queue *queue, uint32_t pod_ix);

/*
 * A pod in flight or binding was not placed: it was refused by these plugins, or failed (none). It waits for
 * an event, or for its backoff when one has come already. Requires: it is in flight or binding.
 * Returns: where it is now.
 */
enum bt_wait bt_queue_refuse(struct bt_queue *queue, uint32_t pod_ix, bt_plugin_set unschedulable_plugins,
	bt_plugin_set pending, int64_t now_ns);

/*
 * The pods that are active and of this pod's kind go behind all other pods, because their verdict is known;
 * until an event lets them come forward that a hint of these plugins likes, or bt_queue_flush_backoff.
 * Requires: the pod is here.
 */
void bt_queue_park(struct bt_queue *queue, uint32_t pod_ix, bt_plugin_set unschedulable_plugins);

/* A pod has gone, wherever it is. BT_NOT_FOUND when it is nowhere. */
enum bt_status bt_queue_remove(struct bt_queue *queue, uint32_t pod_ix);

/*
 * A waiting pod has changed, and kind is its new one. events: what changed, n of them.
 * Returns: where it is now; a pod that was nowhere is entered.
 */
enum bt_wait bt_queue_update(struct bt_queue *queue, uint32_t pod_ix, struct bt_queue_kind kind,
	const struct bt_cluster_event *events, uint32_t n, int64_t now_ns);

/*
 * Something happened: lets back whom it may help, of pods with a priority of at most max_priority, but not
 * except (BT_QUEUE_EMPTY: nobody). own_ix: the pod that the event is about, if it waits here.
 */
void bt_queue_move(struct bt_queue *queue, const struct bt_cluster_event *event, int32_t max_priority,
	uint32_t own_ix, int64_t now_ns);

/* Lets a pod into active whatever it waits for, PreEnqueue excepted; in flight, after its cycle. */
void bt_queue_activate(struct bt_queue *queue, uint32_t pod_ix, int64_t now_ns);

/* Lets a pod be tried again, whatever it waits for, PreEnqueue excepted, when its backoff is over and not
 * before. One that is in backoff, or whose turn will come, is left alone. */
void bt_queue_try_again(struct bt_queue *queue, uint32_t pod_ix, int64_t now_ns);

/* What time does: the end of backoffs, and of waits that lasted too long. */
void bt_queue_flush_backoff(struct bt_queue *queue, int64_t now_ns);
void bt_queue_flush_unschedulable(struct bt_queue *queue, int64_t now_ns);

/* When the first backoff ends, or INT64_MAX. */
int64_t bt_queue_next_expiry(const struct bt_queue *queue);

/* Since when the pod waits that has waited for an event the longest, or since its flush if that is
 * remembered, of those that were refused at refused_by_ns or before and that a flush would let go on;
 * INT64_MAX: there is none. Looks at every pod. */
int64_t bt_queue_oldest(const struct bt_queue *queue, int64_t refused_by_ns);

/* A pod has another index, which no pod has that is known. Requires: events are not kept, and it is not in
 * flight. */
void bt_queue_move_pod(struct bt_queue *queue, uint32_t from, uint32_t to);

/* Gives up room that pods had which have gone; none that is known has pod_end or a higher index. */
void bt_queue_trim(struct bt_queue *queue, uint32_t pod_end);

/* Are events being kept? While not, nothing that earlier events point to is needed. */
bool bt_queue_keeps_events(const struct bt_queue *queue);

/* What is known of a pod; all zeroes when it is nowhere. */
struct bt_queue_info bt_queue_info(const struct bt_queue *queue, uint32_t pod_ix);

/* The pods in a place: active and backoff in the order in which they will be popped (in backoff those that
 * only time lets out last), others in no order. Writes at most cap of them; returns how many there are. */
uint32_t bt_queue_list(struct bt_queue *queue, enum bt_wait where, uint32_t *pods, uint32_t cap);

struct bt_queue_counts bt_queue_counts(const struct bt_queue *queue);

/* Might an event matter to any pod that the queue knows? */
bool bt_queue_listens(const struct bt_queue *queue);

/* Is a cycle on, or is an event kept for one? */
bool bt_queue_is_busy(const struct bt_queue *queue);

/*
 * How many pods have entered a place because of that: BT_WAIT_ACTIVE, BT_WAIT_BACKOFF, or
 * BT_WAIT_UNSCHEDULABLE, which stands for gated pods as well. One that stays there because of an event does
 * not count. Requires: cause is below BT_CAUSE_N. Source: scheduler_queue_incoming_pods_total, v1.36.3.
 */
uint64_t bt_queue_incoming(const struct bt_queue *queue, enum bt_wait where, uint32_t cause);

/* How many events of each cause are kept for pods in flight. out_n: BT_CAUSE_N of them, all written. */
void bt_queue_logged(const struct bt_queue *queue, uint64_t out_n[BT_CAUSE_N]);

/* A cause's text as upstream's metrics have it. Requires: cause is below BT_CAUSE_N. */
void bt_queue_cause_text(
	const struct bt_release *release, uint32_t cause, char out_text[BT_CLUSTER_EVENT_LABEL_BYTES]);
