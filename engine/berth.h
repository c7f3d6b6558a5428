/* SPDX-License-Identifier: Apache-2.0
 * libberth: decides where Kubernetes pods go, exactly as kube-scheduler v1.37.2 would if it looked at every
 * node. C99 and C++11.
 *
 * A handle is a cluster and its scheduler. Objects go in as JSON or YAML text (berth_apply, berth_delete) or,
 * nodes and pods, as C structures (berth_apply_node, berth_apply_pod). Decisions come out by callbacks
 * (struct berth_options) or one at a time (berth_next_decision). What is placed is assumed on its node until
 * the binding is answered: by the bind callback's return value, or later by berth_bound or berth_bind_failed.
 *
 * Every function that can fail returns an enum berth_status; berth_error has the words. A wrong call (NULL, a
 * handle that is destroyed, an answer given twice, a call from inside a callback) is an error like any other
 * and changes nothing. Only when memory runs out the process ends, with a message on standard error.
 *
 * Strings that go in are UTF-8, end with a NUL, and are copied. Times are nanoseconds since 1970-01-01.
 * Structures that you fill begin with their size: BERTH_INIT sets it and zeroes the rest, and zero is always
 * the default.
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

/* A plugin of one's own: berth_plugin.h. */
struct berth_plugin;

enum berth_status {
	BERTH_OK = 0,
	BERTH_INVALID,	  /* an argument is not allowed: NULL, an unknown value, a size */
	BERTH_BAD_INPUT,  /* a text or an object is wrong; what is right in it has been taken */
	BERTH_NOT_FOUND,  /* there is no such object, or no such binding waits for an answer */
	BERTH_LIMIT,	  /* a limit, of the options or the library's own, is reached */
	BERTH_BUSY,	  /* the call came from inside a callback of the same handle */
	BERTH_STOPPED,	  /* after berth_stop */
	BERTH_TIMEOUT,	  /* nothing came in time */
	BERTH_UNSUPPORTED /* this build or this mode does not do it */
};

enum berth_clock {
	/* Time stands still as long as pods can be decided; then the next call that decides ends backoffs, if
	 * there are nodes: a pod whose binding or cycle fails every time is tried again by every call. */
	BERTH_CLOCK_NONE = 0,
	BERTH_CLOCK_VIRTUAL, /* the caller moves it: berth_set_time */
	BERTH_CLOCK_REAL     /* the machine's */
};

enum berth_outcome {
	BERTH_PLACED = 1,
	BERTH_REFUSED, /* no node fits */
	BERTH_FAILED   /* the cycle ended in an error */
};

/* What became of a binding. */
enum berth_answer {
	BERTH_BOUND = 1,
	BERTH_BIND_FAILED, /* the pod is free again and is tried after its backoff */
	BERTH_BIND_LATER   /* berth_bound or berth_bind_failed will say */
};

/* When a pod counts as bound that the options have no bind callback for. */
enum berth_binding {
	BERTH_BIND_AT_ONCE = 0, /* as soon as it is placed */
	BERTH_BIND_ANSWERED	/* when berth_bound says so */
};

/* What becomes of the pods that preemption evicts. */
enum berth_eviction {
	/* They are being deleted, and use their nodes until berth_delete says that they are gone. */
	BERTH_EVICT_BY_CALLER = 0,
	BERTH_EVICT_AT_ONCE /* they are gone */
};

/* How many nodes a cycle looks at. */
enum berth_sampling {
	BERTH_SAMPLE_AS_CONFIGURED = 0, /* every node, unless a profile has percentageOfNodesToScore */
	BERTH_SAMPLE_NEVER,		/* every node */
	BERTH_SAMPLE_AS_UPSTREAM	/* as few as kube-scheduler does with one worker */
};

enum berth_level { BERTH_LOG_ERROR = 1, BERTH_LOG_WARNING, BERTH_LOG_INFO };

/* A pod by name. Empty strings where something is not known; never NULL. */
struct berth_pod_ref {
	const char *pod_namespace, *name, *uid;
	const char *node; /* where it is */
	uint64_t user;	  /* struct berth_pod's */
};

/* What was decided about a pod. Strings are never NULL. */
struct berth_decision {
	uint64_t number; /* of the decision, from 1 */
	uint64_t ticket; /* of the binding, for berth_bound and berth_bind_failed; 0: no answer is expected */
	enum berth_outcome outcome;
	int32_t priority;
	uint32_t attempts;	  /* how often the pod has been tried, this time included */
	int64_t time_ns;	  /* by the handle's clock */
	struct berth_pod_ref pod; /* node: where it is placed, or empty */
	uint64_t node_user;	  /* struct berth_node's */
	const char *nominated;	  /* the node that a refused pod is nominated to, or empty */
	const char *message;	  /* why it is not placed, in the words of the FailedScheduling event */
	const struct berth_pod_ref *evicted; /* pods that are being deleted for it */
	uint32_t evicted_n;
};

struct berth_options {
	size_t size; /* set by BERTH_INIT */
	/* A KubeSchedulerConfiguration, JSON or YAML; NULL: kube-scheduler's defaults. */
	const char *config;
	/* Feature gates as --feature-gates has them, "A=true,B=false"; NULL: the defaults. */
	const char *feature_gates;
	/*
	 * 0: everything happens inside the calls. Else calls only hand over, and threads of the library's own
	 * do the work: so many prepare objects, one puts events in order, one decides, and bind_threads (0:
	 * one) call bind and evict. The clock is then the machine's unless it is virtual.
	 */
	uint32_t threads, bind_threads;
	uint64_t seed; /* breaks ties between nodes; the same input and seed give the same decisions */
	enum berth_clock clock;
	int64_t start_ns; /* where a virtual clock begins */
	enum berth_sampling sampling;
	enum berth_binding binding;
	enum berth_eviction eviction;
	bool no_messages; /* leave berth_decision.message empty: faster where many pods are refused */
	/* Limits; 0: the library's own. What goes beyond is refused with BERTH_LIMIT. */
	uint64_t node_max, pod_max; /* objects at a time; 0: as many as memory holds; without threads only */
	uint64_t text_bytes_max;    /* one text; 0: 8 GiB */
	uint64_t plan_bytes_max;    /* what is kept about kinds of pods to decide faster; 0: 2 GiB */
	uint32_t decision_max;	    /* threads: decisions that nobody has asked for; 0: 4096 */
	uint32_t binding_max;	    /* threads: bindings without an answer; 0: 65536 */
	/*
	 * Callbacks, each may be NULL. They are called from inside the call that decides, on its thread; with
	 * threads, bind and evict by one of bind_threads, decided by the thread that decides and waits
	 * meanwhile, log by any. They must not call functions of the same handle but berth_error. What they
	 * are given is valid during the call.
	 */
	enum berth_answer (*bind)(void *context, const struct berth_decision *decision); /* of a placed pod */
	/* Preemption wants the pod deleted. Returns false when that is not possible: then the pod that it was
	 * to make room for is tried again after its backoff. */
	bool (*evict)(void *context, const struct berth_pod_ref *pod);
	void (*decided)(void *context, const struct berth_decision *decision); /* every decision */
	void (*log)(void *context, enum berth_level level, const char *text);  /* a line without line end */
	void *context;							       /* given to all of them */
	/* What the process may hold, in bytes; what would take more is refused with BERTH_LIMIT; 0: what it
	 * could before. Of all handles the last one that says so counts. A little more may be held by what
	 * was taken before. */
	uint64_t memory_bytes_max;
	/* threads: so many score nodes side by side, the one that decides included; 0: one, 64 at most.
	 * Decisions are the same for any number. It pays for large clusters with many different kinds of
	 * pods. */
	uint32_t workers;
	/* Decide as kube-scheduler of this minor version, such as "1.37", does: its rules, texts, default
	 * plugins and feature gates; NULL: as that of berth_kubernetes_version. */
	const char *kubernetes_version;
};

/* What became of the objects of a text. */
struct berth_applied {
	size_t size;	   /* set by BERTH_INIT */
	uint64_t objects;  /* that could be read */
	uint64_t applied;  /* that changed or confirmed what the scheduler knows; with threads: will */
	uint64_t ignored;  /* of kinds that no decision depends on; pods of other schedulers, or ended */
	uint64_t made;	   /* pods made for workloads (BERTH_EXPAND), in applied as well */
	uint64_t problems; /* berth_error has the first ones, the log callback all */
};

/* Flags of berth_apply and berth_delete_text. */
#define BERTH_EXPAND 1u /* make the pods that the text's workloads (Deployments, Jobs, ...) lack in it */
#define BERTH_STRICT 2u /* stop at the first problem; what was before it stays */

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
	const struct berth_amount *allocatable; /* pods among them; a node without takes no pod */
	uint32_t label_n, taint_n, allocatable_n;
	bool unschedulable;
	uint64_t user; /* comes back in berth_decision.node_user */
};

/* A pod without text, of one container. Strings may be NULL but for name. */
struct berth_pod {
	size_t size;		   /* set by BERTH_INIT */
	const char *pod_namespace; /* NULL: "default" */
	const char *name, *uid;
	const char *node_name;	    /* where it runs; NULL: it is to be placed */
	const char *scheduler_name; /* NULL: "default-scheduler" */
	const struct berth_pair *labels, *node_selector;
	const struct berth_amount *requests;
	uint32_t label_n, node_selector_n, request_n;
	int32_t priority;
	uint64_t user; /* comes back in berth_pod_ref.user */
};

enum berth_pod_state {
	BERTH_POD_UNKNOWN = 0,
	BERTH_POD_GATED,   /* not allowed to be scheduled yet */
	BERTH_POD_WAITING, /* for its turn, for its backoff, or for an event that may help */
	BERTH_POD_ASSUMED, /* placed; the binding is not answered yet */
	BERTH_POD_ON_NODE
};

struct berth_counts {
	size_t size; /* set by BERTH_INIT */
	/* Since berth_create. */
	uint64_t decisions, placed, refused, failed, preemptions;
	uint64_t by_columns, by_evaluation; /* how decisions were made: incrementally, or node by node */
	uint64_t bound, bind_failed, evict_failed;
	/* Now. */
	uint64_t nodes, pods;				    /* that the scheduler knows */
	uint64_t pods_waiting, pods_assumed, pods_on_nodes; /* they sum to pods; gated ones wait */
	uint64_t active, backoff, unschedulable, gated;	    /* queues */
	uint64_t open_bindings;				    /* tickets without an answer */
};

enum berth_format { BERTH_TEXT = 1, BERTH_JSON };

/* How berth_stop ends. */
enum berth_stop {
	BERTH_DRAIN = 1, /* decides what can be decided first */
	BERTH_ABANDON
};

/* Zeroes a structure that begins with its size, and sets the size. structure points to it. */
#define BERTH_INIT(structure) berth_init((structure), sizeof(*(structure)))

/*
 * What BERTH_INIT calls; for callers that are not C.
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
 * The version of kube-scheduler whose decisions it makes where the options ask for none, such as "v1.37.2".
 * Context : any thread.
 * Owns    : the library.
 */
BERTH_API const char *berth_kubernetes_version(void);

/*
 * A status as words, such as "not found".
 * Context : any thread.
 * Owns    : the library.
 */
BERTH_API const char *berth_status_name(enum berth_status status);

/*
 * Adds a plugin of one's own (berth_plugin.h) for the rest of the process's life. Handles that are made
 * afterwards have it where a profile of their configuration enables it by its name. At most 6 in a process.
 * Context : any thread.
 * Returns : BERTH_OK; BERTH_BAD_INPUT when the descriptor is wrong or the name is taken; BERTH_LIMIT,
 *           BERTH_INVALID. berth_error(NULL) has the words.
 * Owns    : the plugin stays the caller's, and must stay as it is.
 */
BERTH_API enum berth_status berth_plugin_add(const struct berth_plugin *plugin);

/*
 * The same for a shared object, as berth --plugin takes it. One that is loaded already is left alone.
 * Context : any thread.
 * Returns : BERTH_OK; BERTH_BAD_INPUT, BERTH_LIMIT, BERTH_INVALID. berth_error(NULL) has the words.
 */
BERTH_API enum berth_status berth_plugin_load(const char *path);

/*
 * Makes a handle. options may be NULL: all defaults.
 * Context : any thread. Handles do not share anything.
 * Returns : BERTH_OK; BERTH_BAD_INPUT when the configuration or the gates are wrong; BERTH_INVALID,
 *           BERTH_UNSUPPORTED; BERTH_LIMIT when there are 1024 handles. On failure *out is NULL, and
 *           berth_error(NULL) has the words.
 * Owns    : the handle is the caller's until berth_destroy.
 */
BERTH_API enum berth_status berth_create(const struct berth_options *options, struct berth **out);

/*
 * Frees a handle and everything that it knows; NULL is fine. Bindings that wait for an answer are dropped.
 * With threads they are stopped first, if they are not yet: BERTH_ABANDON.
 * Context : any thread.
 * Returns : BERTH_OK; BERTH_INVALID when it is destroyed already; BERTH_BUSY in a callback, or when another
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
 * Takes every object of a text, new or changed: JSON or YAML, one or more documents, Lists and Lists in them.
 * Of nodes and pods of a known name, the text says anew what they are. Pods without spec.priority get it from
 * their PriorityClass, which may stand in the same text or have come before.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_BAD_INPUT when there were problems: all other objects have been taken;
 *           BERTH_LIMIT, BERTH_INVALID, BERTH_STOPPED, BERTH_BUSY.
 * Owns    : the text stays the caller's and may go away; out may be NULL.
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
 * Takes watch events, as an API server sends them and kubectl get --watch --output-watch-events -o json
 * prints them: {"type": "ADDED", "object": {...}}, with ADDED, MODIFIED, DELETED and BOOKMARK, one after
 * another. Pods have their spec.priority, as an API server sees to it. Of flags there is BERTH_STRICT.
 * Context, Returns, Owns: as berth_apply.
 */
BERTH_API enum berth_status berth_apply_events(
	struct berth *berth, const char *text, size_t bytes, unsigned flags, struct berth_applied *out);

/*
 * Takes a node, new or changed, without text.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_BAD_INPUT, BERTH_LIMIT, BERTH_INVALID, BERTH_STOPPED, BERTH_BUSY, and nothing has
 *           changed.
 */
BERTH_API enum berth_status berth_apply_node(struct berth *berth, const struct berth_node *node);

/*
 * Takes a pod, new or changed, without text.
 * Context, Returns: as berth_apply_node; but where BERTH_LIMIT comes from names of resources, the pod has
 *           been taken all the same. With more than 64 resources it counts in full on its node; without those
 *           whose names are beyond what can be distinguished in all, it counts with the others. Waiting it is
 *           not placed until it is applied with fewer.
 */
BERTH_API enum berth_status berth_apply_pod(struct berth *berth, const struct berth_pod *pod);

/*
 * An object is gone. kind is the word of its manifest, such as "Pod" or "Node". object_namespace may be NULL:
 * "default", or none for kinds that have none. What a pod used is free; pods of a node that is gone stay
 * where they are until they are deleted themselves.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_NOT_FOUND (without threads; with them that it is gone is handed over, no more);
 *           BERTH_INVALID, BERTH_STOPPED, BERTH_BUSY.
 */
BERTH_API enum berth_status berth_delete(
	struct berth *berth, const char *kind, const char *object_namespace, const char *name);

/*
 * Every object of a text is gone. Objects that are not there are left out of out->applied.
 * Context, Returns: as berth_apply.
 */
BERTH_API enum berth_status berth_delete_text(
	struct berth *berth, const char *text, size_t bytes, unsigned flags, struct berth_applied *out);

/*
 * Decides one pod after the other, in the order of kube-scheduler's queue: max of them, or with 0 until none
 * can be decided now. Pods of a PodGroup are decided together and may exceed max.
 * Context : any thread; calls with a handle take turns; runs the callbacks. Without threads only.
 * Returns : BERTH_OK, and in out_n (which may be NULL) how many decisions there were; BERTH_UNSUPPORTED with
 *           threads; BERTH_STOPPED, BERTH_BUSY, BERTH_INVALID.
 */
BERTH_API enum berth_status berth_run(struct berth *berth, uint64_t max, uint64_t *out_n);

/*
 * The next decision; without threads it is made now. Until timeout_ns have passed (0: not at all) it waits
 * for other threads to bring something to decide, or for a backoff to end by a real clock. With threads it is
 * for handles that have neither a bind nor a decided callback: deciding stops when decision_max decisions
 * wait.
 * Context : any thread; calls with a handle take turns; without threads it runs the callbacks.
 * Returns : BERTH_OK; BERTH_TIMEOUT when there is none; BERTH_STOPPED when there will be none any more;
 *           BERTH_UNSUPPORTED, BERTH_BUSY, BERTH_INVALID.
 * Owns    : the handle; *out is valid until the next call of berth_next_decision, berth_run, berth_stop or
 *           berth_destroy.
 */
BERTH_API enum berth_status berth_next_decision(
	struct berth *berth, int64_t timeout_ns, const struct berth_decision **out);

/*
 * Waits until everything that was handed over has been taken in, what can be decided is decided, and no
 * binding and no eviction waits for an answer. Without threads that means berth_run.
 * Context : any thread; not while decisions wait for another call of this thread.
 * Returns : BERTH_OK; BERTH_TIMEOUT when that is not so after timeout_ns; BERTH_STOPPED, BERTH_BUSY,
 *           BERTH_INVALID.
 */
BERTH_API enum berth_status berth_settle(struct berth *berth, int64_t timeout_ns);

/*
 * The pod is bound: what was assumed is a fact.
 * Context : any thread; calls with a handle take turns; not the bind callback, which returns its answer.
 * Returns : BERTH_OK; BERTH_NOT_FOUND when no such binding waits for an answer, for example because it has
 *           got one; BERTH_BUSY, BERTH_INVALID.
 */
BERTH_API enum berth_status berth_bound(struct berth *berth, uint64_t ticket);

/*
 * The pod could not be bound: what it used is free, and it is tried again after its backoff.
 * Context, Returns: as berth_bound.
 */
BERTH_API enum berth_status berth_bind_failed(struct berth *berth, uint64_t ticket);

/*
 * Moves a virtual clock. Backoffs that are over end, pods that have waited for five minutes are looked at
 * again.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_INVALID when it would go back; BERTH_UNSUPPORTED with another clock;
 *           BERTH_STOPPED, BERTH_BUSY.
 */
BERTH_API enum berth_status berth_set_time(struct berth *berth, int64_t now_ns);

/*
 * The handle's clock, and in out_next_ns (either may be NULL) the next time at which a backoff ends;
 * INT64_MAX: none does.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_BUSY, BERTH_INVALID.
 */
BERTH_API enum berth_status berth_get_time(struct berth *berth, int64_t *out_now_ns, int64_t *out_next_ns);

/*
 * What is known of a pod: its state, and the node where it is, "" when there is none.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_NOT_FOUND, and the state is BERTH_POD_UNKNOWN; BERTH_BUSY, BERTH_INVALID.
 * Owns    : the node's name is the library's, until the thread's next call of this. out_node may be NULL.
 */
BERTH_API enum berth_status berth_find_pod(struct berth *berth, const char *pod_namespace, const char *name,
	enum berth_pod_state *out_state, const char **out_node);

/*
 * Every node for one pod, as the cluster is now: who refuses it, why and by how much, or what it scores and
 * for what, the best node first. As a table, or as JSON: {"explain": [{"pod", "node", "verdict", ...}, ...]}.
 * Decides nothing.
 * Context : any thread; calls with a handle take turns.
 * Returns : BERTH_OK; BERTH_NOT_FOUND; BERTH_BUSY, BERTH_INVALID.
 * Owns    : the text is the caller's: berth_free.
 */
BERTH_API enum berth_status berth_explain(struct berth *berth, const char *pod_namespace, const char *name,
	enum berth_format format, char **out_text);

/*
 * The text of the FailedScheduling event that the pod would get now; "" when some node takes it.
 * Context, Returns, Owns: as berth_explain.
 */
BERTH_API enum berth_status berth_message(
	struct berth *berth, const char *pod_namespace, const char *name, char **out_text);

/*
 * Frees a text of berth_explain or berth_message; NULL is fine.
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
 * Ends deciding. Afterwards objects and decisions are refused with BERTH_STOPPED; what is known can still be
 * read. With threads BERTH_DRAIN also waits for open bindings to be answered, goes over into abandoning when
 * timeout_ns have passed, and the threads end.
 * Context : any thread; calls with a handle take turns; without threads BERTH_DRAIN runs the callbacks.
 * Returns : BERTH_OK, also when it is stopped already; BERTH_TIMEOUT when a callback does not return: then
 *           call it again; BERTH_BUSY, BERTH_INVALID.
 */
BERTH_API enum berth_status berth_stop(struct berth *berth, enum berth_stop how, int64_t timeout_ns);

#ifdef __cplusplus
}
#endif
