/* SPDX-License-Identifier: Apache-2.0
 * Out-of-tree plugins for berth. C99 and C++11. A plugin does not link with berth: it fills in a struct
 * berth_plugin and calls back through a table.
 *
 * A shared object defines BERTH_PLUGIN_ENTRY, which returns the descriptor; berth --plugin FILE.so loads it.
 * A program passes a descriptor to libberth: berth_plugin_add. Then profiles enable the plugin by its name,
 * and pluginConfig has its arguments.
 *
 * Extension points: PreEnqueue, PreFilter, Filter, Score with NormalizeScore, and events with queueing
 * hints. A NULL function: the plugin does not have the point. Not offered: QueueSort, PostFilter,
 * PreScore, Reserve, Permit, PreBind, Bind, PostBind and the points of pod groups.
 *
 * Threads: berth calls create, destroy, pre_enqueue, pre_filter, normalize and hint from one thread at a time
 * for each instance. It may call filter and score concurrently if the plugin declares its dependences.
 *
 * Versions: a structure starts with its size, and new members are added only at its end. berth accepts
 * descriptors of all earlier sizes; a plugin checks the size of the table before it calls a newer function.
 * Incompatible changes get another number (BERTH_PLUGIN_ABI) and another entry.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BERTH_PLUGIN_ABI 1u

/* The name of the function of a shared object that returns its descriptor, of type berth_plugin_entry. */
#define BERTH_PLUGIN_ENTRY berth_plugin_v1

#if defined(__GNUC__)
#define BERTH_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define BERTH_PLUGIN_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A pod, a node, and the buffer for a reason. Opaque; valid during the call. */
struct berth_plugin_pod;
struct berth_plugin_node;
struct berth_plugin_why;

/* Status codes, with kube-scheduler's names. */
enum berth_plugin_verdict {
	BERTH_PLUGIN_SUCCESS = 0,
	BERTH_PLUGIN_UNSCHEDULABLE,		     /* preemption may help */
	BERTH_PLUGIN_UNSCHEDULABLE_AND_UNRESOLVABLE, /* removing pods does not help */
	BERTH_PLUGIN_SKIP,			     /* PreFilter: every node passes Filter */
	BERTH_PLUGIN_ERROR			     /* the cycle fails */
};

/*
 * What Filter and Score depend on besides arguments and PreFilter's state. A plugin that declares nothing
 * runs for every node in every cycle. One with a declaration sees only the declared data: other functions of
 * the table return empty results. berth caches its results, so they must be deterministic.
 */
enum berth_plugin_depends {
	BERTH_PLUGIN_DEPENDS_ON_ANYTHING = 0,
	BERTH_PLUGIN_DEPENDS_ON_NODE,	      /* name, labels, taints, unschedulable, allocatable */
	BERTH_PLUGIN_DEPENDS_ON_NODE_AND_PODS /* also the node's requested resources, and its pods */
};

/* In addition, the fields of the pod, as bits. A plugin without a declaration sees all of them. */
enum berth_plugin_pod_field {
	BERTH_PLUGIN_POD_NAMESPACE = 1,
	BERTH_PLUGIN_POD_LABELS = 2,
	BERTH_PLUGIN_POD_REQUESTS = 4,
	BERTH_PLUGIN_POD_SCHEDULER_NAME = 8
};

/* How the scores of all feasible nodes are normalized before weighting. */
enum berth_plugin_normalize {
	BERTH_PLUGIN_NORMALIZE_NONE = 0, /* they are 0 to 100 */
	BERTH_PLUGIN_NORMALIZE_DEFAULT,	 /* 100 * score / highest score; scores are 0 or more */
	BERTH_PLUGIN_NORMALIZE_REVERSED, /* 100 minus that */
	BERTH_PLUGIN_NORMALIZE_OWN	 /* the plugin's function */
};

/* The object of an event. */
enum berth_plugin_resource {
	BERTH_PLUGIN_ASSIGNED_POD = 1, /* a pod that is on a node */
	BERTH_PLUGIN_UNSCHEDULED_POD,
	BERTH_PLUGIN_NODE
};

/* Actions, as bits; a registration combines them. */
enum berth_plugin_action {
	BERTH_PLUGIN_ADD = 1,
	BERTH_PLUGIN_DELETE = 2,
	BERTH_PLUGIN_UPDATE_NODE_ALLOCATABLE = 4,
	BERTH_PLUGIN_UPDATE_NODE_LABEL = 8,
	BERTH_PLUGIN_UPDATE_NODE_TAINT = 16, /* or the node is schedulable again */
	BERTH_PLUGIN_UPDATE_POD_LABEL = 32,
	BERTH_PLUGIN_UPDATE_POD_SCALE_DOWN = 64
};

/* An event that may make a pod fit that the plugin has refused. */
struct berth_plugin_registration {
	uint32_t resource; /* enum berth_plugin_resource */
	uint32_t actions;  /* enum berth_plugin_action */
};

/* An event as a hint sees it. Of an addition old is NULL, of a deletion current. */
struct berth_plugin_event {
	size_t size;
	uint32_t resource, action;				 /* one action */
	bool own;						 /* its object is the waiting pod */
	const struct berth_plugin_pod *old_pod, *current_pod;	 /* NULL: a node event */
	const struct berth_plugin_node *old_node, *current_node; /* NULL: a pod event; usage is 0 */
};

/*
 * Host functions. Texts are UTF-8, NUL-terminated and valid during the call; NULL only for a missing key.
 * Amounts are thousandths of a core for "cpu", else whole units: bytes, devices, pods. Lists are unordered;
 * their order may change between calls.
 */
struct berth_plugin_host {
	size_t size;
	uint32_t abi;	     /* BERTH_PLUGIN_ABI of the host */
	const char *version; /* of berth */

	/* Appends to a reason. */
	void (*add_reason)(struct berth_plugin_why *why, const char *text);
	/* Zeroed memory that lives as long as PreFilter's state; memory is pre_filter's argument. */
	void *(*allocate)(void *memory, size_t bytes);

	/* A pod. Name, UID and priority are empty or 0 for a plugin that declares dependences. */
	const char *(*pod_name)(const struct berth_plugin_pod *pod);
	const char *(*pod_uid)(const struct berth_plugin_pod *pod);
	const char *(*pod_namespace)(const struct berth_plugin_pod *pod);
	const char *(*pod_scheduler_name)(const struct berth_plugin_pod *pod);
	int32_t (*pod_priority)(const struct berth_plugin_pod *pod);
	const char *(*pod_label)(const struct berth_plugin_pod *pod, const char *key); /* NULL: none */
	size_t (*pod_label_n)(const struct berth_plugin_pod *pod);
	void (*pod_label_at)(
		const struct berth_plugin_pod *pod, size_t ix, const char **out_key, const char **out_value);
	/* The effective request: containers, init containers, overhead and pod-level resources. */
	int64_t (*pod_request)(const struct berth_plugin_pod *pod, const char *resource);
	size_t (*pod_request_n)(const struct berth_plugin_pod *pod);
	void (*pod_request_at)(const struct berth_plugin_pod *pod, size_t ix, const char **out_resource,
		int64_t *out_amount);

	/* A node. */
	const char *(*node_name)(const struct berth_plugin_node *node);
	const char *(*node_label)(const struct berth_plugin_node *node, const char *key); /* NULL: none */
	size_t (*node_label_n)(const struct berth_plugin_node *node);
	void (*node_label_at)(const struct berth_plugin_node *node, size_t ix, const char **out_key,
		const char **out_value);
	bool (*node_unschedulable)(const struct berth_plugin_node *node);
	size_t (*node_taint_n)(const struct berth_plugin_node *node);
	void (*node_taint_at)(const struct berth_plugin_node *node, size_t ix, const char **out_key,
		const char **out_value, const char **out_effect);
	int64_t (*node_allocatable)(const struct berth_plugin_node *node, const char *resource);
	/* The sum over the node's pods; for "pods" their number. */
	int64_t (*node_requested)(const struct berth_plugin_node *node, const char *resource);
	/* Visits the pods on the node, including assumed and nominated ones that count in this evaluation.
	 * visit must not call it. */
	void (*node_pods)(const struct berth_plugin_node *node,
		void (*visit)(void *context, const struct berth_plugin_pod *pod), void *context);
};

/* The context of a call. self: from create; state: from PreFilter, or NULL. */
struct berth_plugin_call {
	size_t size;
	const struct berth_plugin_host *host;
	void *self;
	const void *state;
};

/* A plugin. Zero it first, and set size to sizeof. It must not change or be freed once it is added. */
struct berth_plugin {
	size_t size;
	uint32_t abi;	     /* BERTH_PLUGIN_ABI */
	const char *name;    /* the name in profiles: letters, digits, ".", "_" and "-" */
	const char *version; /* distinguishes versions of the plugin in journals; NULL: none */
	uint32_t depends;    /* enum berth_plugin_depends */
	uint32_t pod_fields; /* enum berth_plugin_pod_field bits, for a plugin with depends */
	uint32_t normalize;  /* enum berth_plugin_normalize */

	/*
	 * Makes an instance for a profile. args: the plugin's pluginConfig in the profile as JSON, without
	 * blanks between tokens; NULL without. berth does not validate it: the plugin rejects unknown members
	 * and values of other types. It is also called to validate arguments, and the instance is then
	 * destroyed immediately. NULL: no instance and no arguments.
	 * Returns: false when the arguments are invalid, with the member and its valid values in why. berth
	 * adds profile and plugin as a prefix.
	 */
	bool (*create)(const struct berth_plugin_host *host, const char *args, void **out_self,
		struct berth_plugin_why *why);
	void (*destroy)(void *self); /* NULL: nothing to free */

	/* May the pod enter the active queue? Anything but BERTH_PLUGIN_SUCCESS keeps it out until an
	 * event. */
	enum berth_plugin_verdict (*pre_enqueue)(const struct berth_plugin_call *call,
		const struct berth_plugin_pod *pod, struct berth_plugin_why *why);

	/* Before Filter. *out_state: passed to Filter and Score as call->state, from call->host->allocate or
	 * the plugin's own memory. Both unschedulable codes refuse the pod without preemption. For a plugin
	 * with depends it is called once for many pods. */
	enum berth_plugin_verdict (*pre_filter)(const struct berth_plugin_call *call,
		const struct berth_plugin_pod *pod, void *memory, const void **out_state,
		struct berth_plugin_why *why);

	/* Does the pod fit on the node? It is also called in dry runs without some pods, or with additional
	 * ones; and repeatedly with the same input. BERTH_PLUGIN_ERROR fails the cycle for a plugin without
	 * depends; for others it counts as BERTH_PLUGIN_UNSCHEDULABLE. */
	enum berth_plugin_verdict (*filter)(const struct berth_plugin_call *call,
		const struct berth_plugin_pod *pod, const struct berth_plugin_node *node,
		struct berth_plugin_why *why);

	/* How well does it fit? */
	int64_t (*score)(const struct berth_plugin_call *call, const struct berth_plugin_pod *pod,
		const struct berth_plugin_node *node);

	/* Normalizes the scores of the n feasible nodes to 0..100; with BERTH_PLUGIN_NORMALIZE_OWN. */
	void (*normalize_scores)(const struct berth_plugin_call *call, const struct berth_plugin_pod *pod,
		size_t n, int64_t *scores);

	/* The events that requeue a pod that the plugin refused; NULL: all. */
	const struct berth_plugin_registration *events;
	size_t event_n;
	/* May the registered event make the waiting pod fit? Called only for pods that the plugin has
	 * refused; call->state is NULL. It sees only the pod's namespace, labels, requests and scheduler
	 * name. NULL: yes. */
	bool (*hint)(const struct berth_plugin_call *call, const struct berth_plugin_pod *pod,
		const struct berth_plugin_event *event);
};

/* The entry of a shared object. Returns: a descriptor with static lifetime; NULL: the plugin does not support
 * this host. */
typedef const struct berth_plugin *berth_plugin_entry(const struct berth_plugin_host *host);

#ifdef __cplusplus
}
#endif
