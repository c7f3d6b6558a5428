/* SPDX-License-Identifier: Apache-2.0
 * libberth: schedules Kubernetes pods exactly as kube-scheduler v1.37.2 does if it evaluates every node. C99
 * and C++11.
 *
 * A handle is a cluster and its scheduler. Objects are passed as JSON or YAML text (berth_apply,
 * berth_delete) or, nodes and pods, as C structures (berth_apply_node, berth_apply_pod). Decisions are
 * returned by callbacks (struct berth_options) or one at a time (berth_next_decision). A placed pod is
 * assumed on its node until its binding completes: with the bind callback's return value, or later with
 * berth_bound or berth_bind_failed.
 *
 * Every function that can fail returns an enum berth_status; berth_error has the message. An invalid call
 * (NULL, a destroyed handle, a binding completed twice, a call from inside a callback) is an error like any
 * other, without effect. Only running out of memory ends the process, with a message on standard error.
 *
 * String arguments are UTF-8, NUL-terminated, and are copied. Times are nanoseconds since 1970-01-01.
 * Structures that the caller fills start with their size: BERTH_INIT sets it and zeroes the rest, and zero is
 * always the default.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BERTH_VERSION_MAJOR  0
#define BERTH_VERSION_MINOR  1
#define BERTH_VERSION_PATCH  0
#define BERTH_VERSION	     "0.1.0"
#define BERTH_VERSION_NUMBER (BERTH_VERSION_MAJOR * 10000 + BERTH_VERSION_MINOR * 100 + BERTH_VERSION_PATCH)

#if defined(__GNUC__)
#define BERTH_API __attribute__((visibility("default")))
#else
#define BERTH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A cluster and its scheduler. Opaque. */
struct berth;

/* A custom plugin: berth_plugin.h. */
struct berth_plugin;

enum berth_status {
	BERTH_OK = 0,
	BERTH_INVALID,	  /* an invalid argument: NULL, an unknown value, a size */
	BERTH_BAD_INPUT,  /* a text or an object has errors; its valid parts were applied */
	BERTH_NOT_FOUND,  /* no such object, or no such open binding */
	BERTH_LIMIT,	  /* a limit of the options or of the library is reached */
	BERTH_BUSY,	  /* the call came from inside a callback of the same handle, or is none for an open
			     transaction */
	BERTH_STOPPED,	  /* after berth_stop */
	BERTH_TIMEOUT,	  /* timed out */
	BERTH_UNSUPPORTED /* not supported by this build or mode */
};

enum berth_clock {
	/* Time stands still while pods can be scheduled; then the next scheduling call ends backoffs, if
	 * there are nodes: a pod whose binding or cycle fails every time is retried by every call. */
	BERTH_CLOCK_NONE = 0,
	BERTH_CLOCK_VIRTUAL, /* the caller advances it: berth_set_time */
	BERTH_CLOCK_REAL     /* the machine's */
};

enum berth_outcome {
	BERTH_PLACED = 1,
	BERTH_REFUSED, /* no node fits */
	BERTH_FAILED   /* the cycle ended in an error */
};

/* The result of a binding. */
enum berth_answer {
	BERTH_BOUND = 1,
	BERTH_BIND_FAILED, /* the pod is pending again and is retried after its backoff */
	BERTH_BIND_LATER   /* reported later by berth_bound or berth_bind_failed */
};

/* When a pod counts as bound without a bind callback. */
enum berth_binding {
	BERTH_BIND_AT_ONCE = 0, /* as soon as it is placed */
	BERTH_BIND_ANSWERED	/* when berth_bound is called */
};

/* How pods evicted by preemption are removed. */
enum berth_eviction {
	/* They are terminating, and use their nodes until berth_delete. */
	BERTH_EVICT_BY_CALLER = 0,
	BERTH_EVICT_AT_ONCE /* they are gone */
};

/* How many nodes a cycle evaluates. */
enum berth_sampling {
	BERTH_SAMPLE_AS_CONFIGURED = 0, /* every node, unless a profile has percentageOfNodesToScore */
	BERTH_SAMPLE_NEVER,		/* every node */
	BERTH_SAMPLE_AS_UPSTREAM	/* as few as kube-scheduler does with one worker */
};

enum berth_level { BERTH_LOG_ERROR = 1, BERTH_LOG_WARNING, BERTH_LOG_INFO };

/* A pod by name. Unknown strings are empty; never NULL. */
struct berth_pod_ref {
	const char *pod_namespace, *name, *uid;
	const char *node; /* its node */
	uint64_t user;	  /* struct berth_pod's */
};

/* The result of a pod's scheduling attempt. Strings are never NULL. */
struct berth_decision {
	uint64_t number; /* of the decision, from 1 */
	uint64_t ticket; /* of the binding, for berth_bound and berth_bind_failed; 0: no completion is
			    expected */
	enum berth_outcome outcome;
	int32_t priority;
	uint32_t attempts;		     /* the number of attempts, including this one */
	int64_t time_ns;		     /* by the handle's clock */
	struct berth_pod_ref pod;	     /* node: where it is placed, or empty */
	uint64_t node_user;		     /* struct berth_node's */
	const char *nominated;		     /* the node that a refused pod is nominated to, or empty */
	const char *message;		     /* why it is not placed, as in the FailedScheduling event */
	const struct berth_pod_ref *evicted; /* pods that are preempted for it */
	uint32_t evicted_n;
};

struct berth_options {
	size_t size; /* set by BERTH_INIT */
	/* A KubeSchedulerConfiguration, JSON or YAML; NULL: kube-scheduler's defaults. */
	const char *config;
	/* Feature gates in the syntax of --feature-gates, "A=true,B=false"; NULL: the defaults. */
	const char *feature_gates;
	/*
	 * 0: all work is done inside the calls. Else calls only enqueue, and the library's threads do the
	 * work: threads prepare objects, one orders events, one schedules, and bind_threads (0: one) call
	 * bind and evict. The clock is then the machine's unless it is virtual.
	 */
	uint32_t threads, bind_threads;
	uint64_t seed; /* breaks ties between nodes; the same input and seed give the same decisions */
	enum berth_clock clock;
	int64_t start_ns; /* start of a virtual clock */
	enum berth_sampling sampling;
	enum berth_binding binding;
	enum berth_eviction eviction;
	bool no_messages; /* leave berth_decision.message empty: faster where many pods are refused */
	/* Limits; 0: the library's defaults. Calls that exceed them fail with BERTH_LIMIT. */
	uint64_t node_max, pod_max; /* concurrent objects; 0: as many as memory holds; without threads only */
	uint64_t text_bytes_max;    /* one text; 0: 8 GiB */
	uint64_t plan_bytes_max;    /* caches per signature; 0: 2 GiB */
	uint32_t decision_max;	    /* threads: unread decisions; 0: 4096 */
	uint32_t binding_max;	    /* threads: open bindings; 0: 65536 */
	/*
	 * Callbacks; each may be NULL. They run inside the scheduling call, on its thread; with threads, bind
	 * and evict run on one of bind_threads, decided on the scheduling thread, which waits for it, log on
	 * any. They must not call functions of the same handle except berth_error. Their arguments are valid
	 * during the call.
	 */
	enum berth_answer (*bind)(void *context, const struct berth_decision *decision); /* for a placed
											    pod */
	/* Deletes a preempted pod. Returns false when that fails: then the preemptor is retried after its
	 * backoff. */
	bool (*evict)(void *context, const struct berth_pod_ref *pod);
	void (*decided)(void *context, const struct berth_decision *decision); /* every decision */
	void (*log)(void *context, enum berth_level level, const char *text);  /* a line without line end */
	void *context;							       /* passed to all of them */
	/* The process's memory limit in bytes; calls that would exceed it fail with BERTH_LIMIT; 0:
	 * unchanged. The last handle that sets it wins. Existing objects may exceed it slightly. */
	uint64_t memory_bytes_max;
	/* threads: the number of threads that score nodes in parallel, including the scheduling thread; 0:
	 * one, 64 at most. Decisions are the same for any number. Useful for large clusters with many
	 * different pods. */
	uint32_t workers;
	/* The minor version of kube-scheduler to follow, such as "1.37": its rules, texts, default plugins
	 * and feature gates; NULL: that of berth_kubernetes_version. */
	const char *kubernetes_version;
};

/* The result of applying a text. */
struct berth_applied {
	size_t size;	   /* set by BERTH_INIT */
	uint64_t objects;  /* decoded objects */
	uint64_t applied;  /* objects that were applied; with threads: enqueued */
	uint64_t ignored;  /* irrelevant kinds; pods of other schedulers; completed pods */
	uint64_t made;	   /* pods created for workloads (BERTH_EXPAND), also counted in applied */
	uint64_t problems; /* berth_error has the first ones, the log callback all */
};

/* Flags of berth_apply and berth_delete_text. */
#define BERTH_EXPAND 1u /* create missing pods of the text's workloads (Deployments, Jobs, ...) */
#define BERTH_STRICT 2u /* stop at the first problem; earlier objects stay */

struct berth_pair {
	const char *key, *value;
};

/* cpu in thousandths of a core, everything else in whole units (bytes, devices, pods). */
struct berth_amount {
	const char *resource;
	int64_t amount;
};

struct berth_taint {
	const char *key, *value; /* value may be NULL */
	const char *effect;	 /* NoSchedule, PreferNoSchedule or NoExecute */
};

/* A node without text. Arrays may be NULL where their number is 0. */
struct berth_node {
	size_t size; /* set by BERTH_INIT */
	const char *name;
	const struct berth_pair *labels;
	const struct berth_taint *taints;
	const struct berth_amount *allocatable; /* including pods; a node without it fits no pod */
	uint32_t label_n, taint_n, allocatable_n;
	bool unschedulable;
	uint64_t user; /* returned in berth_decision.node_user */
};

/* A pod without text, of one container. Strings except name may be NULL. */
struct berth_pod {
	size_t size;		   /* set by BERTH_INIT */
	const char *pod_namespace; /* NULL: "default" */
	const char *name, *uid;
	const char *node_name;	    /* its node; NULL: pending */
	const char *scheduler_name; /* NULL: "default-scheduler" */
	const struct berth_pair *labels, *node_selector;
	const struct berth_amount *requests;
	uint32_t label_n, node_selector_n, request_n;
	int32_t priority;
	uint64_t user; /* returned in berth_pod_ref.user */
};

enum berth_pod_state {
	BERTH_POD_UNKNOWN = 0,
	BERTH_POD_GATED,   /* not allowed to be scheduled yet */
	BERTH_POD_WAITING, /* in the active, backoff or unschedulable queue */
	BERTH_POD_ASSUMED, /* placed; the binding is open */
	BERTH_POD_ON_NODE
};

struct berth_counts {
	size_t size; /* set by BERTH_INIT */
	/* Since berth_create. */
	uint64_t decisions, placed, refused, failed, preemptions;
	uint64_t by_columns, by_evaluation; /* decisions by method: incremental, or node by node */
	uint64_t bound, bind_failed, evict_failed;
	/* Now. */
	uint64_t nodes, pods;				    /* that the scheduler knows */
	uint64_t pods_waiting, pods_assumed, pods_on_nodes; /* they sum to pods; gated ones are waiting */
	uint64_t active, backoff, unschedulable, gated;	    /* queues */
	uint64_t open_bindings;				    /* tickets not completed */
};

enum berth_format { BERTH_TEXT = 1, BERTH_JSON };

/* How berth_stop ends. */
enum berth_stop {
	BERTH_DRAIN = 1, /* schedules what is possible first */
	BERTH_ABANDON
};

/* Zeroes a structure that starts with its size, and sets the size. structure points to it. */
#define BERTH_INIT(structure) berth_init((structure), sizeof(*(structure)))

/*
 * Called by BERTH_INIT; for other languages.
 * Context : any thread.
 */
BERTH_API void berth_init(void *structure, size_t size);

/*
 * The library's version, such as "0.1.0"; compare it with BERTH_VERSION, the header's.
 * Context : any thread.
 * Owns    : the library.
 */
BERTH_API const char *berth_version(void);

/*
 * The default version of kube-scheduler that it follows, such as "v1.37.2".
 * Context : any thread.
 * Owns    : the library.
 */
BERTH_API const char *berth_kubernetes_version(void);

/*
 * A status as text, such as "not found".
 * Context : any thread.
 * Owns    : the library.
 */
BERTH_API const char *berth_status_name(enum berth_status status);

/*
 * Adds a custom plugin (berth_plugin.h) for the lifetime of the process. Handles created afterwards use it
 * where a profile of their configuration enables it by its name. At most 8 per process.
 * Context : any thread.
 * Returns : BERTH_OK; BERTH_BAD_INPUT when the descriptor is wrong or the name is taken; BERTH_LIMIT,
 *           BERTH_INVALID. berth_error(NULL) has the words.
 * Owns    : the caller keeps the plugin, which must not change.
 */
BERTH_API enum berth_status berth_plugin_add(const struct berth_plugin *plugin);

/*
 * The same for a shared object, as with berth --plugin. One that is already loaded is ignored.
 * Context : any thread.
 * Returns : BERTH_OK; BERTH_BAD_INPUT, BERTH_LIMIT, BERTH_INVALID. berth_error(NULL) has the words.
 */
BERTH_API enum berth_status berth_plugin_load(const char *path);

/*
 * Makes a handle. options may be NULL: all defaults.
 * Context : any thread. Handles share nothing.
 * Returns : BERTH_OK; BERTH_BAD_INPUT when the configuration or the gates are wrong; BERTH_INVALID,
 *           BERTH_UNSUPPORTED; BERTH_LIMIT when there are 1024 handles. On failure *out is NULL, and
 *           berth_error(NULL) has the words.
 * Owns    : the handle is the caller's until berth_destroy.
 */
BERTH_API enum berth_status berth_create(const struct berth_options *options, struct berth **out);

/*
 * Frees a handle and all its objects; NULL is ignored. Open bindings are dropped. Running threads are stopped
 * first: BERTH_ABANDON.
 * Context : any thread.
 * Returns : BERTH_OK; BERTH_INVALID when it is already destroyed; BERTH_BUSY in a callback, or when another
 *           thread is in a call with the handle; BERTH_TIMEOUT as berth_stop.
 */
BERTH_API enum berth_status berth_destroy(struct berth *berth);

/*
 * Why this thread's last call with the handle failed, in one line or more; "" when it did not.
 * Context : any thread, callbacks too; each thread has its own. berth may be NULL or destroyed.
 * Owns    : the library; valid until the thread's next call.
 */
BERTH_API const char *berth_error(const struct berth *berth);

/*
 * Applies every object of a text, new or changed: JSON or YAML, one or more documents, also nested Lists.
 * Existing nodes and pods are replaced. Pods without spec.priority get it from their PriorityClass, which may
 * be in the same text or an earlier one.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_BAD_INPUT when there were problems: all other objects were applied;
 *           BERTH_LIMIT, BERTH_INVALID, BERTH_STOPPED, BERTH_BUSY.
 * Owns    : the caller keeps the text and may free it after the call; out may be NULL.
 */
BERTH_API enum berth_status berth_apply(
	struct berth *berth, const char *text, size_t bytes, unsigned flags, struct berth_applied *out);

/*
 * The same for a file, for a directory (every .json, .yaml and .yml below it, also packed as .gz or .zst), or
 * for standard input ("-").
 */
BERTH_API enum berth_status berth_apply_file(
	struct berth *berth, const char *path, unsigned flags, struct berth_applied *out);

/*
 * Applies watch events, as an API server sends them and kubectl get --watch --output-watch-events -o json
 * prints them: {"type": "ADDED", "object": {...}}, with ADDED, MODIFIED, DELETED and BOOKMARK, one after
 * another. Pods must have spec.priority, as set by an API server. The only flag is BERTH_STRICT.
 * Context, Returns, Owns: as berth_apply.
 */
BERTH_API enum berth_status berth_apply_events(
	struct berth *berth, const char *text, size_t bytes, unsigned flags, struct berth_applied *out);

/*
 * Applies pods or nodes that are encoded as protobuf, as k8s.io/api's Marshal does: faster than text. kind:
 * "Pod" or "Node". Each object is preceded by its length, in 4 bytes, the most significant first. In a
 * transaction, too. Pods are as those of berth_apply.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_BAD_INPUT when some objects are invalid: all others were applied, and berth_error
 *           names them; BERTH_INVALID also for another kind; BERTH_LIMIT, BERTH_STOPPED, BERTH_BUSY.
 * Owns    : the caller keeps the bytes and may free them after the call; out may be NULL.
 */
BERTH_API enum berth_status berth_apply_protobuf(
	struct berth *berth, const char *kind, const void *bytes, size_t n, struct berth_applied *out);

/*
 * Applies a node, new or changed, without text.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_BAD_INPUT, BERTH_LIMIT, BERTH_INVALID, BERTH_STOPPED, BERTH_BUSY, without effect.
 */
BERTH_API enum berth_status berth_apply_node(struct berth *berth, const struct berth_node *node);

/*
 * Applies a pod, new or changed, without text. Context, Returns: as berth_apply_node; but where BERTH_LIMIT
 * is due to resource names, the pod was applied. With more than 64 resources it counts in full on its node;
 * resources beyond the total number of names are ignored. A pending pod is not placed until it is applied
 * with fewer.
 */
BERTH_API enum berth_status berth_apply_pod(struct berth *berth, const struct berth_pod *pod);

/*
 * Deletes an object. kind is that of its manifest, such as "Pod" or "Node". object_namespace may be NULL:
 * "default", or none for kinds that have none. A deleted pod's resources are freed; pods of a deleted node
 * stay until they are deleted themselves.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_NOT_FOUND (without threads; with threads the deletion is only enqueued);
 *           BERTH_INVALID, BERTH_STOPPED, BERTH_BUSY.
 */
BERTH_API enum berth_status berth_delete(
	struct berth *berth, const char *kind, const char *object_namespace, const char *name);

/*
 * Deletes every object of a text. Missing objects do not count in out->applied.
 * Context, Returns: as berth_apply.
 */
BERTH_API enum berth_status berth_delete_text(
	struct berth *berth, const char *text, size_t bytes, unsigned flags, struct berth_applied *out);

/*
 * Schedules one pod after the other, in the order of kube-scheduler's queue: max pods, or with 0 until none
 * is schedulable now. Pods of a PodGroup are scheduled together and may exceed max.
 * Context : any thread; calls with a handle take turns; runs the callbacks. Without threads only.
 * Returns : BERTH_OK, and in out_n (which may be NULL) the number of decisions; BERTH_UNSUPPORTED with
 *           threads; BERTH_STOPPED, BERTH_BUSY, BERTH_INVALID.
 */
BERTH_API enum berth_status berth_run(struct berth *berth, uint64_t max, uint64_t *out_n);

/*
 * The next decision; without threads it is made now. Waits up to timeout_ns (0: not at all) for other threads
 * to add work, or for a backoff to end on a real clock. With threads it is for handles without bind and
 * decided callbacks: scheduling stops when decision_max decisions are unread.
 * Context : any thread; calls with a handle take turns; without threads it runs the callbacks.
 * Returns : BERTH_OK; BERTH_TIMEOUT when there is none; BERTH_STOPPED when there will be no more;
 *           BERTH_UNSUPPORTED, BERTH_BUSY, BERTH_INVALID.
 * Owns    : the handle; *out is valid until the next call of berth_next_decision, berth_run, berth_stop or
 *           berth_destroy.
 */
BERTH_API enum berth_status berth_next_decision(
	struct berth *berth, int64_t timeout_ns, const struct berth_decision **out);

/*
 * Waits until all enqueued objects are applied, all schedulable pods are scheduled, and no binding or
 * eviction is open. Without threads that means berth_run.
 * Context : any thread; not while decisions wait for berth_next_decision on this thread.
 * Returns : BERTH_OK; BERTH_TIMEOUT after timeout_ns; BERTH_STOPPED, BERTH_BUSY, BERTH_INVALID.
 */
BERTH_API enum berth_status berth_settle(struct berth *berth, int64_t timeout_ns);

/*
 * Completes a binding: the assumed pod is bound.
 * Context : any thread; calls with a handle take turns; not the bind callback, which returns its result.
 * Returns : BERTH_OK; BERTH_NOT_FOUND when no such binding is open, for example because it is completed;
 *           BERTH_BUSY, BERTH_INVALID.
 */
BERTH_API enum berth_status berth_bound(struct berth *berth, uint64_t ticket);

/*
 * Completes a binding as failed: the pod's resources are freed, and it is retried after its backoff.
 * Context, Returns: as berth_bound.
 */
BERTH_API enum berth_status berth_bind_failed(struct berth *berth, uint64_t ticket);

/*
 * Advances a virtual clock. Ends expired backoffs, and retries pods that were unschedulable for five minutes.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_INVALID for an earlier time; BERTH_UNSUPPORTED with another clock;
 *           BERTH_STOPPED, BERTH_BUSY.
 */
BERTH_API enum berth_status berth_set_time(struct berth *berth, int64_t now_ns);

/*
 * The handle's clock, and in out_next_ns (either may be NULL) the next time at which a backoff ends;
 * INT64_MAX: none.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_BUSY, BERTH_INVALID.
 */
BERTH_API enum berth_status berth_get_time(struct berth *berth, int64_t *out_now_ns, int64_t *out_next_ns);

/*
 * A pod's state, and its node, "" without one.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_NOT_FOUND, and the state is BERTH_POD_UNKNOWN; BERTH_BUSY, BERTH_INVALID.
 * Owns    : the library; the node's name is valid until the thread's next call of this. out_node may be NULL.
 */
BERTH_API enum berth_status berth_find_pod(struct berth *berth, const char *pod_namespace, const char *name,
	enum berth_pod_state *out_state, const char **out_node);

/*
 * Verdicts of all nodes for one pod in the current cluster: the refusing plugins, reasons and amounts, or the
 * scores by plugin, the best node first. As a table, or as JSON: {"explain": [{"pod", "node", "verdict",
 * ...}, ...]}. Does not schedule.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_NOT_FOUND; BERTH_BUSY, BERTH_INVALID.
 * Owns    : the text is the caller's: berth_free.
 */
BERTH_API enum berth_status berth_explain(struct berth *berth, const char *pod_namespace, const char *name,
	enum berth_format format, char **out_text);

/*
 * The text of the FailedScheduling event that the pod would get now; "" when it fits some node.
 * Context, Returns, Owns: as berth_explain.
 */
BERTH_API enum berth_status berth_message(
	struct berth *berth, const char *pod_namespace, const char *name, char **out_text);

/*
 * Opens a transaction: changes that are tried, and taken back or kept. Rolling back costs no more than doing,
 * and the next decision is the one that would have been made without the transaction. Inside,
 * berth_apply_pod, berth_apply_node and berth_apply (of pods and nodes) add pods and add or change nodes;
 * other functions place, evict and restore pods, and close nodes; queries see all of it. Each change counts
 * for the next one. Time stands still, nothing is preempted, no callback runs, and calls that schedule,
 * delete or end bindings fail with BERTH_BUSY. Transactions nest.
 * Context : any thread; calls with a handle take turns. Without threads only, like all functions of
 *           transactions.
 * Returns : BERTH_OK; BERTH_UNSUPPORTED with threads; BERTH_STOPPED, BERTH_BUSY, BERTH_INVALID. So do all
 *           functions of transactions; those that change something also fail with BERTH_INVALID when none is
 *           open.
 */
BERTH_API enum berth_status berth_transaction_begin(struct berth *berth);

/* Takes back everything since the innermost berth_transaction_begin. Returns: BERTH_OK. */
BERTH_API enum berth_status berth_transaction_rollback(struct berth *berth);

/*
 * Keeps the changes: for the outer transaction, or, of the outermost, for good. Then new pods are in the
 * queue, evicted ones are deleted, nodes have changed, and placed pods are bound as after any decision:
 * callbacks run, and berth_next_decision returns them. Returns: BERTH_OK.
 */
BERTH_API enum berth_status berth_transaction_commit(struct berth *berth);

/*
 * Would a pending pod get a node now? Changes nothing, inside a transaction or without one. berth_message has
 * the reason when it would not.
 * Returns : BERTH_OK, and in out_node the node or ""; BERTH_NOT_FOUND: no such pending pod.
 * Owns    : the library; the name is valid until the thread's next call of this. out_node may be NULL.
 */
BERTH_API enum berth_status berth_can_schedule_pod(
	struct berth *berth, const char *pod_namespace, const char *name, const char **out_node);

/*
 * Places pending pods, in this order; those that fit nowhere stay pending. Of each, pod_namespace and name
 * are read, and node is set: its node, or "". For all or nothing, roll back when out_n is less than n.
 * Returns : BERTH_OK, and in out_n (which may be NULL) the number of placed pods; BERTH_NOT_FOUND when one of
 *           them is no pending pod, and none was placed.
 * Owns    : node is the library's, valid until the next call with the handle.
 */
BERTH_API enum berth_status berth_schedule_pods(
	struct berth *berth, struct berth_pod_ref *pods, uint32_t n, uint32_t *out_n);

/*
 * Adds copies of a pod, pending or not, and places them, until one fits nowhere, or there are max (0: no
 * limit). The copies are named NAME-1 and so on. The pod itself stays as it is. So a workload is scaled up;
 * berth_evict_pod scales it down.
 * Returns : BERTH_OK, and in out_n the number of placed copies; BERTH_NOT_FOUND.
 * Owns    : out_message, which may be NULL, is the caller's (berth_free): why the next one does not fit, ""
 *           at max.
 */
BERTH_API enum berth_status berth_schedule_pods_by_template(struct berth *berth, const char *pod_namespace,
	const char *name, uint32_t max, uint32_t *out_n, char **out_message);

/*
 * The copies that the last berth_schedule_pods_by_template of the handle placed, with their nodes, in the
 * order of their placement. None after a transaction has ended.
 * Returns : BERTH_OK.
 * Owns    : the library; valid until the next call with the handle.
 */
BERTH_API enum berth_status berth_template_pods(
	struct berth *berth, const struct berth_pod_ref **out_pods, uint32_t *out_n);

/* Nodes by number, and all names. */
struct berth_node_set {
	size_t size;	       /* set by BERTH_INIT */
	const uint32_t *nodes; /* their numbers, ascending unless PreFilter has chosen nodes */
	uint32_t n;
	uint32_t name_n;
	const char *const *names; /* by number; NULL: no node has that number */
	uint64_t version;	  /* while it is the same, so are all names */
};

/*
 * Which nodes fit a pending pod now? Those that pass every filter; of a pod with a nominated node that fits,
 * this one alone. Scheduling gates do not count. Changes nothing, inside a transaction or without one. Where
 * no plugin compares pods with each other it costs a few nanoseconds per node; else each filter runs.
 * Returns : BERTH_OK, with no node also when a filter fails (berth_message has the reason); BERTH_NOT_FOUND:
 *           no such pending pod.
 * Owns    : the library; valid until the next call with the handle.
 */
BERTH_API enum berth_status berth_feasible_nodes(
	struct berth *berth, const char *pod_namespace, const char *name, struct berth_node_set *out);

/*
 * Places pending pods as one workload, in this order. Pods of a PodGroup (gate GenericWorkload) are placed as
 * in the group's cycle: of a gang at least minCount, counting its pods that are on nodes; in the best of its
 * placements, if it has topology constraints (TopologyAwareWorkloadScheduling). So are pods of the PodGroups
 * below a CompositePodGroup (gate CompositePodGroup): as many groups as its policies need. A nominated pod
 * tries its node first. Other pods get nodes all together, or none does. Of each, pod_namespace and name are
 * read, and node is set: its node, or "".
 * Returns : BERTH_OK, and in out_n (which may be NULL) the number of placed pods, 0: the workload does not
 *           fit, and nothing has changed; BERTH_NOT_FOUND when one of them is no pending pod, or their
 *           PodGroup, or one above it, does not exist; BERTH_INVALID when they are of several PodGroups that
 *           no tree unites; BERTH_UNSUPPORTED in releases before 1.37, where pods of groups wait one by one.
 *           A commit of the outermost transaction leaves pods of a PodGroup to the group's own cycle.
 * Owns    : node is the library's, valid until the next call with the handle; out_message, which may be NULL,
 *           is the caller's (berth_free): why it does not fit, or "".
 */
BERTH_API enum berth_status berth_schedule_workload(
	struct berth *berth, struct berth_pod_ref *pods, uint32_t n, uint32_t *out_n, char **out_message);

/*
 * Whom preemption would evict for a pending pod now, by the profile's own plugin and with
 * PodDisruptionBudgets, and the node where it would fit then. Changes nothing: berth_preempt_pods evicts
 * them.
 * Returns : BERTH_OK, and in out_n their number: 0 when the pod fits already, or preemption does not help,
 *           and then out_node is ""; BERTH_NOT_FOUND: no such pending pod.
 * Owns    : the library; valid until the next call with the handle. out_node may be NULL.
 */
BERTH_API enum berth_status berth_find_victims(struct berth *berth, const char *pod_namespace,
	const char *name, const char **out_node, const struct berth_pod_ref **out_victims, uint32_t *out_n);

/*
 * Evicts pods together: as berth_evict_pod, all or none. Of each, pod_namespace and name are read.
 * Returns : BERTH_OK, and in out_preemption the number for berth_unpreempt; BERTH_NOT_FOUND when one of them
 *           is not on a node, and none was evicted.
 */
BERTH_API enum berth_status berth_preempt_pods(
	struct berth *berth, const struct berth_pod_ref *pods, uint32_t n, uint64_t *out_preemption);

/*
 * Puts the pods of one berth_preempt_pods back, once, whether they still fit or not.
 * Returns : BERTH_OK; BERTH_NOT_FOUND when it was not made in the innermost transaction, or some of its pods
 *           are back already.
 */
BERTH_API enum berth_status berth_unpreempt(struct berth *berth, uint64_t preemption);

/* Restricts the placements of the innermost transaction to these nodes, until it ends; n 0: to all. In
 * between no node is added. Returns: BERTH_OK; BERTH_NOT_FOUND: one of them does not exist. */
BERTH_API enum berth_status berth_restrict_nodes(struct berth *berth, const char *const *nodes, uint32_t n);

/* Takes a pod off its node as if it was deleted; and puts it back, whether it still fits or not. Returns:
 * BERTH_OK; BERTH_NOT_FOUND: no such pod is on a node, or was evicted in an open transaction. */
BERTH_API enum berth_status berth_evict_pod(struct berth *berth, const char *pod_namespace, const char *name);
BERTH_API enum berth_status berth_restore_pod(
	struct berth *berth, const char *pod_namespace, const char *name);

/* Closes a node for new pods (spec.unschedulable), and opens it. Returns: BERTH_OK; BERTH_NOT_FOUND. */
BERTH_API enum berth_status berth_cordon_node(struct berth *berth, const char *name);
BERTH_API enum berth_status berth_uncordon_node(struct berth *berth, const char *name);

/* Removes a node as if it was deleted. Its pods stay as they are until berth_evict_pod. Returns: BERTH_OK;
 * BERTH_NOT_FOUND. */
BERTH_API enum berth_status berth_remove_node(struct berth *berth, const char *name);

/* A resource of a node. Amounts as in struct berth_amount. */
struct berth_usage {
	const char *resource;
	int64_t allocatable, used;
};

/* A node and what its pods use. */
struct berth_node_state {
	const char *name;
	const struct berth_usage *usage; /* of each allocatable resource, "pods" first */
	uint32_t usage_n;
	bool unschedulable;
	uint64_t user; /* struct berth_node's */
};

/*
 * Visits all nodes, in the order in which they were added, until visit returns false. It must not call
 * functions of the same handle; its arguments are valid during the call. In a transaction or without one.
 * Returns : BERTH_OK.
 */
BERTH_API enum berth_status berth_each_node(struct berth *berth,
	bool (*visit)(void *context, const struct berth_node_state *node), void *context);

/* The same for pods that are not evicted. */
BERTH_API enum berth_status berth_each_pod(struct berth *berth,
	bool (*visit)(void *context, const struct berth_pod_ref *pod, enum berth_pod_state state),
	void *context);

/*
 * Frees a text of berth_explain, berth_message, berth_schedule_pods_by_template or berth_schedule_workload;
 * NULL is ignored.
 * Context : any thread.
 */
BERTH_API void berth_free(char *text);

/*
 * Counters and lengths of queues.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_BUSY, BERTH_INVALID.
 */
BERTH_API enum berth_status berth_get_counts(struct berth *berth, struct berth_counts *out);

/*
 * Stops scheduling. Afterwards calls with objects or decisions fail with BERTH_STOPPED; state can still be
 * read. With threads BERTH_DRAIN also waits for open bindings to complete, abandons them after timeout_ns,
 * and the threads end.
 * Context : any thread; calls with a handle take turns; without threads BERTH_DRAIN runs the callbacks.
 * Returns : BERTH_OK, also when it is already stopped; BERTH_TIMEOUT when a callback does not return: call
 *           again; BERTH_BUSY, BERTH_INVALID.
 */
BERTH_API enum berth_status berth_stop(struct berth *berth, enum berth_stop how, int64_t timeout_ns);

#ifdef __cplusplus
}
#endif
