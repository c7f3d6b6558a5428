/* SPDX-License-Identifier: Apache-2.0
 * Plugins for berth that are not in its tree: what kube-scheduler's users do with out-of-tree plugins. C99
 * and C++11. A plugin links nothing of berth: it fills in a struct berth_plugin and calls back through a
 * table.
 *
 * A shared object defines BERTH_PLUGIN_ENTRY, which returns the descriptor; berth --plugin FILE.so loads it.
 * A program hands a descriptor to libberth: berth_plugin_add. Then profiles enable the plugin by its name,
 * as any other, and pluginConfig has its arguments.
 *
 * Extension points: PreEnqueue, PreFilter, Filter, Score with NormalizeScore, and events with queueing
 * hints. A function that is NULL: the plugin does not have the point. Not offered: QueueSort, PostFilter,
 * PreScore, Reserve, Permit, PreBind, Bind, PostBind and the points of pod groups.
 *
 * Threads: berth calls create, destroy, pre_enqueue, pre_filter, normalize and hint from one thread at a
 * time for each instance. It calls filter and score of a plugin that says what it depends on from several
 * threads at once.
 *
 * Versions: a structure begins with its size, and grows at its end only. berth takes a descriptor of any
 * size from the first one on; a plugin looks at the size of the table before it calls a function that came
 * later. A change that cannot be made that way gets another number (BERTH_PLUGIN_ABI) and another entry.
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

/* A pod, a node, and where a function writes a reason. Opaque; valid during the call that they are given to.
 */
struct berth_plugin_pod;
struct berth_plugin_node;
struct berth_plugin_why;

/* What a point says, with kube-scheduler's words. */
enum berth_plugin_verdict {
	BERTH_PLUGIN_SUCCESS = 0,
	BERTH_PLUGIN_UNSCHEDULABLE,		     /* preemption may help */
	BERTH_PLUGIN_UNSCHEDULABLE_AND_UNRESOLVABLE, /* no pod that leaves the node helps */
	BERTH_PLUGIN_SKIP,			     /* PreFilter: every node passes Filter */
	BERTH_PLUGIN_ERROR			     /* the cycle fails */
};

/*
 * What Filter and Score depend on besides arguments and PreFilter's state. A plugin that says nothing is
 * asked for every node in every cycle. One that says something sees no more than that: other functions of
 * the table answer as if there were nothing. berth keeps its answers as long as they hold, so they must be
 * the same whenever it is asked.
 */
enum berth_plugin_depends {
	BERTH_PLUGIN_DEPENDS_ON_ANYTHING = 0,
	BERTH_PLUGIN_DEPENDS_ON_NODE,	      /* name, labels, taints, unschedulable, allocatable */
	BERTH_PLUGIN_DEPENDS_ON_NODE_AND_PODS /* also what is requested on the node, and the pods on it */
};

/* The fields of the pod, besides; as bits. A plugin that depends on anything sees all of them. */
enum berth_plugin_pod_field {
	BERTH_PLUGIN_POD_NAMESPACE = 1,
	BERTH_PLUGIN_POD_LABELS = 2,
	BERTH_PLUGIN_POD_REQUESTS = 4,
	BERTH_PLUGIN_POD_SCHEDULER_NAME = 8
};

/* What becomes of the scores of all feasible nodes before they are weighed. */
enum berth_plugin_normalize {
	BERTH_PLUGIN_NORMALIZE_NONE = 0, /* they are 0 to 100 */
	BERTH_PLUGIN_NORMALIZE_DEFAULT,	 /* 100 * score / highest score; scores are 0 or more */
	BERTH_PLUGIN_NORMALIZE_REVERSED, /* 100 minus that */
	BERTH_PLUGIN_NORMALIZE_OWN	 /* the plugin's function */
};

/* What an event is about. */
enum berth_plugin_resource {
	BERTH_PLUGIN_ASSIGNED_POD = 1, /* a pod that is on a node */
	BERTH_PLUGIN_UNSCHEDULED_POD,
	BERTH_PLUGIN_NODE
};

/* What happened, as bits; a registration joins some. */
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
	uint32_t resource, action;			      /* one action */
	bool own;					      /* it is about the waiting pod itself */
	const struct berth_plugin_pod *old_pod, *current_pod; /* NULL: it is about a node */
	const struct berth_plugin_node *old_node,
		*current_node; /* NULL: it is about a pod; usage reads as 0 */
};

/*
 * What a plugin may ask. Texts are UTF-8, end with a NUL and are valid during the call; never NULL, but
 * where a key that is not there is asked for. Amounts are thousandths of a core of "cpu", else whole units:
 * bytes, devices, pods. Lists are in no order, which may differ from call to call.
 */
struct berth_plugin_host {
	size_t size;
	uint32_t abi;	     /* BERTH_PLUGIN_ABI of the host */
	const char *version; /* of berth */

	/* Appends to a reason. */
	void (*say)(struct berth_plugin_why *why, const char *text);
	/* Zeroed memory that lives as long as PreFilter's state; memory is what pre_filter is given. */
	void *(*allocate)(void *memory, size_t bytes);

	/* A pod. Name, UID and priority read as empty and 0 where a plugin says what it depends on. */
	const char *(*pod_name)(const struct berth_plugin_pod *pod);
	const char *(*pod_uid)(const struct berth_plugin_pod *pod);
	const char *(*pod_namespace)(const struct berth_plugin_pod *pod);
	const char *(*pod_scheduler_name)(const struct berth_plugin_pod *pod);
	int32_t (*pod_priority)(const struct berth_plugin_pod *pod);
	const char *(*pod_label)(const struct berth_plugin_pod *pod, const char *key); /* NULL: it has none */
	size_t (*pod_label_n)(const struct berth_plugin_pod *pod);
	void (*pod_label_at)(
		const struct berth_plugin_pod *pod, size_t ix, const char **out_key, const char **out_value);
	/* What must be free: containers, init containers, overhead and pod-level resources together. */
	int64_t (*pod_request)(const struct berth_plugin_pod *pod, const char *resource);
	size_t (*pod_request_n)(const struct berth_plugin_pod *pod);
	void (*pod_request_at)(const struct berth_plugin_pod *pod, size_t ix, const char **out_resource,
		int64_t *out_amount);

	/* A node. */
	const char *(*node_name)(const struct berth_plugin_node *node);
	const char *(*node_label)(
		const struct berth_plugin_node *node, const char *key); /* NULL: it has none */
	size_t (*node_label_n)(const struct berth_plugin_node *node);
	void (*node_label_at)(const struct berth_plugin_node *node, size_t ix, const char **out_key,
		const char **out_value);
	bool (*node_unschedulable)(const struct berth_plugin_node *node);
	size_t (*node_taint_n)(const struct berth_plugin_node *node);
	void (*node_taint_at)(const struct berth_plugin_node *node, size_t ix, const char **out_key,
		const char **out_value, const char **out_effect);
	int64_t (*node_allocatable)(const struct berth_plugin_node *node, const char *resource);
	/* The sum over the pods on the node; of "pods" their number. */
	int64_t (*node_requested)(const struct berth_plugin_node *node, const char *resource);
	/* Shows the pods on the node, those that are assumed or nominated there and count in this question
	 * too. visit must not call it again. */
	void (*node_pods)(const struct berth_plugin_node *node,
		void (*visit)(void *context, const struct berth_plugin_pod *pod), void *context);
};

/* Who is called, and by whom. self: what create has made; state: what PreFilter has, NULL: nothing. */
struct berth_plugin_call {
	size_t size;
	const struct berth_plugin_host *host;
	void *self;
	const void *state;
};

/* A plugin. Zero all of it first, and set size to sizeof. It must not change or go away once berth has it. */
struct berth_plugin {
	size_t size;
	uint32_t abi;	     /* BERTH_PLUGIN_ABI */
	const char *name;    /* by which profiles enable it: letters, digits, ".", "_" and "-" */
	const char *version; /* what tells this plugin from an older one, for journals; NULL: nothing does */
	uint32_t depends;    /* enum berth_plugin_depends */
	uint32_t pod_fields; /* enum berth_plugin_pod_field bits, of a plugin that says what it depends on */
	uint32_t normalize;  /* enum berth_plugin_normalize */

	/*
	 * Makes an instance for a profile. args: the profile's pluginConfig of the plugin as JSON, without
	 * blanks between its tokens; NULL without. berth does not look into it: the plugin refuses members
	 * that it does not know, and values of other types. It is also called to check arguments, and then
	 * destroyed at once; NULL: there is nothing to make, and no arguments are taken.
	 * Returns: false when the arguments are wrong, and why says so: which member, and what it should be.
	 * berth writes profile and plugin in front of it.
	 */
	bool (*create)(const struct berth_plugin_host *host, const char *args, void **out_self,
		struct berth_plugin_why *why);
	void (*destroy)(void *self); /* NULL: nothing is to be freed */

	/* May the pod be tried? Anything but BERTH_PLUGIN_SUCCESS keeps it out of the queue until something
	 * happens. */
	enum berth_plugin_verdict (*pre_enqueue)(const struct berth_plugin_call *call,
		const struct berth_plugin_pod *pod, struct berth_plugin_why *why);

	/* Before the nodes are asked. *out_state: what Filter and Score get as call->state, from
	 * call->host->allocate or of the plugin's own. Both words for unschedulable refuse the pod without
	 * preemption. Of a plugin that says what it depends on it is called once for many pods. */
	enum berth_plugin_verdict (*pre_filter)(const struct berth_plugin_call *call,
		const struct berth_plugin_pod *pod, void *memory, const void **out_state,
		struct berth_plugin_why *why);

	/* Does the node fit? It is also called for what would be without some pods, or with others; and
	 * again for the same question. BERTH_PLUGIN_ERROR fails the cycle of a plugin that depends on
	 * anything; of others it counts as BERTH_PLUGIN_UNSCHEDULABLE. */
	enum berth_plugin_verdict (*filter)(const struct berth_plugin_call *call,
		const struct berth_plugin_pod *pod, const struct berth_plugin_node *node,
		struct berth_plugin_why *why);

	/* How well does it fit? */
	int64_t (*score)(const struct berth_plugin_call *call, const struct berth_plugin_pod *pod,
		const struct berth_plugin_node *node);

	/* Turns the scores of the n feasible nodes into 0 to 100; with BERTH_PLUGIN_NORMALIZE_OWN. */
	void (*normalize_scores)(const struct berth_plugin_call *call, const struct berth_plugin_pod *pod,
		size_t n, int64_t *scores);

	/* The events after which a pod that the plugin refused is tried again; NULL: all. */
	const struct berth_plugin_registration *events;
	size_t event_n;
	/* May the registered event make the waiting pod fit? Asked only of pods that the plugin has refused;
	 * call->state is NULL. It sees of the pod its namespace, labels, requests and scheduler's name alone.
	 * NULL: yes. */
	bool (*hint)(const struct berth_plugin_call *call, const struct berth_plugin_pod *pod,
		const struct berth_plugin_event *event);
};

/* The entry of a shared object. Returns: a descriptor that stays; NULL: the plugin cannot work with this
 * host. */
typedef const struct berth_plugin *berth_plugin_entry(const struct berth_plugin_host *host);

#ifdef __cplusplus
}
#endif
