/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the plugin interface: one descriptor (struct bt_plugin) per plugin, listed in
 * plugins/registry.def. At the points that evaluate nodes (below; the others: plugins/points.h) a plugin
 * compiles a signature into a term once; filter and score then evaluate ranges of nodes from the term and the
 * view alone. They are pure: no state, no clock, no randomness, no allocation. Each plugin declares what its
 * results depend on; from that the engine derives what to cache and what to recompute (I5, I9, I10).
 */
#pragma once

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "cache/node_view.h"
#include "cache/topology_view.h"
#include "cache/view.h"
#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/model/cluster_event.h"
#include "engine/model/gate.h"
#include "engine/model/kind.h"
#include "engine/model/plugin_set.h"
#include "plugins/args.h"
#include "plugins/points.h"

struct bt_device_judge;
struct bt_domain_counts;
struct bt_resource_sum;

#define BT_MAX_NODE_SCORE    100
#define BT_PLUGIN_REASON_MAX (BT_REQUEST_MAX + 1)

/* Outcome of a filter, with upstream's names. */
enum bt_code {
	BT_SUCCESS = 0,
	BT_UNSCHEDULABLE,		   /* removing pods from the node might help */
	BT_UNSCHEDULABLE_AND_UNRESOLVABLE, /* removing pods from the node would not help */
	BT_ERROR
};

/* What a result for one node depends on, besides the term. */
enum bt_dependence {
	BT_DEPENDS_ON_ALL = 0,	   /* not declared: every node is evaluated in every cycle */
	BT_DEPENDS_ON_DESCRIPTION, /* node objects, such as labels and taints: the snapshot */
	BT_DEPENDS_ON_USAGE,	   /* usage of this node: resources, ports */
	BT_DEPENDS_ON_COUNTERS	   /* usage of this node and others, by topology: prepared and evaluated in
				      every cycle */
};

/* How raw scores are normalized. */
enum bt_normalize {
	BT_NORMALIZE_NONE = 0, /* raw scores are 0..100 already */
	BT_NORMALIZE_DEFAULT,  /* 100 * raw / highest raw of the feasible nodes */
	BT_NORMALIZE_REVERSED, /* 100 minus that */
	BT_NORMALIZE_OWN       /* the plugin's normalize_own */
};

/* One reason why a node was refused; kind and arg are private to the plugin, which renders them as text
 * (reasons, reason). Nodes with equal texts are counted together. */
struct bt_reason {
	uint32_t kind, arg;
	int64_t wanted, available; /* in the unit of the resource; 0 when there are no numbers */
	bool has_numbers; /* of a resource, whose slot is arg: --explain shows needed and free amounts */
};

struct bt_rejection {
	enum bt_code code;
	uint32_t n;
	struct bt_reason reasons[BT_PLUGIN_REASON_MAX];
};

/* Input of compile. Context: the scheduling thread, between cycles. */
struct bt_compile_env {
	struct bt_dictionary *dictionary; /* may intern */
	const struct bt_snapshot *snapshot;
	const struct bt_view *view;
	struct bt_arena *arena; /* terms live here, for the lifetime of the plan */
	/* For each node slot the value of a label key, or BT_NAME_NONE; valid, like terms, until the
	 * snapshot's layout_version changes. The value changes when the node changes in place: a term keeps
	 * the pointer, and nothing computed from single nodes unless redescribe updates it. */
	const uint32_t *(*label_column)(void *context, uint32_t key);
	/* The node slots that have an image, as a bitmap; NULL: none has it. Valid until its stamp changes.
	 */
	const uint64_t *(*image_nodes)(void *context, uint32_t name);
	void *context;
};

/* The compiled form of a signature. All zeroes: nothing special. */
struct bt_compiled {
	const void *term;
	void *state;	  /* the same term, for prepare and pre_score */
	bool aside;	  /* the plugin is bypassed: compile was not called, and all other fields but the
			     skips are 0 */
	bool filter_skip; /* PreFilter returns Skip: every node passes */
	bool score_skip;  /* PreScore returns Skip: adds to no node's score */
	/* PreFilter refuses the pod on all nodes; the text is upstream's reason. */
	bool refused;
	const char *refusal;
	/* PreFilter leaves only the nodes with these names. */
	bool narrows;
	const uint32_t *names;
	uint32_t name_n;
	const char *pre_filter_error; /* PreFilter fails, and with it the cycle */
	const char *score_error;      /* PreScore fails, and with it the cycle */
	const char *score_failure;    /* Score fails in this cycle, and with it the cycle */
};

/* Has prepare bound the term to domain counts? When they end (domains_version), the term ends with them. */
typedef bool bt_plugin_bound_fn(const void *term);

/* A node has changed, come or gone, or its slot was added or taken back: updates what a term has computed
 * from single nodes. */
typedef void bt_plugin_redescribe_fn(void *state, const struct bt_snapshot *snapshot, uint32_t node_ix);

/* Do the term's results depend on how many nodes there are? */
typedef bool bt_plugin_counts_nodes_fn(const void *term);

/*
 * Images of the signature's pods have other nodes or sizes, or there are more or fewer nodes: updates a term,
 * and sets the bits of nodes by slot whose results this changes, besides nodes that have changed or whose
 * images have. Returns: false: the term must be compiled again.
 */
typedef bool bt_plugin_follow_images_fn(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, void *state, uint64_t *nodes);

/* Updates a term's table by taint set to the snapshot's sets. Returns: false: the table has no room for them,
 * and the term must be compiled again. */
typedef bool bt_plugin_taint_sets_fn(const void *term, const struct bt_snapshot *snapshot);

/* Appends all inputs of a term's results other than the view and the settings: keys are compared within one
 * profile. Equal bytes mean equal results; no bytes: the same results for all pods. */
typedef void bt_plugin_key_fn(const void *term, struct bt_buf *out_key);

/* The resource slots, as bits (bt_resource_bit), whose allocatable and used amounts Filter and Score read. */
typedef uint64_t bt_plugin_reads_fn(const void *term);

/*
 * Adds the formula of Filter (if requested) and Score (if requested, with this weight) when it is arithmetic
 * on resources; its results equal those of filter and score. Returns false when it is not.
 */
typedef bool bt_plugin_describe_fn(
	const void *term, bool filter, bool score, int64_t weight, struct bt_resource_sum *sum);

/* Sets pass[i] to 1 or 0 for node first + i, i < n. */
typedef void bt_plugin_filter_fn(
	const void *term, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass);

/* Adds filter's reasons for refusing the node. Called only for refused nodes. */
typedef void bt_plugin_reject_fn(
	const void *term, const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out_rejection);

/* Sets raw[i] for node first + i, i < n. */
typedef void bt_plugin_score_fn(
	const void *term, const struct bt_view *view, uint32_t first, uint32_t n, int64_t *raw);

/*
 * Updates a term from the current counters before a cycle, and sets whether Filter and Score are skipped in
 * it. While all plugins of a plan skip both and counting->version is unchanged, it is not called again.
 */
typedef void bt_plugin_prepare_fn(
	void *state, const struct bt_view *view, bool *out_filter_skip, bool *out_score_skip);

/* When two nodes are equal in an equivalence key. */
enum bt_equivalence_key_kind {
	BT_EQUIVALENCE_KEY_VALUE = 0, /* the column's value */
	BT_EQUIVALENCE_KEY_PRESENCE,  /* whether the column has a value: it is not 0 */
	BT_EQUIVALENCE_KEY_SUM,	      /* the sum of its domain; or both are in no domain */
	BT_EQUIVALENCE_KEY_SIGN	      /* whether that sum is above 0 */
};

struct bt_equivalence_key {
	enum bt_equivalence_key_kind kind;
	const uint32_t *column;			      /* by node slot, constant; NULL: domain_counts is set */
	const struct bt_domain_counts *domain_counts; /* with by_node, whose journal lists changed nodes */
};

/*
 * Appends the equivalence keys of this cycle's Filter and Score to the n existing ones: nodes that are equal
 * in all of them get equal results, and one of them with their number gives PreScore and NormalizeScore the
 * same input as all of them. Returns the new number of equivalence keys; at most cap are written.
 */
typedef uint32_t bt_plugin_keys_fn(
	const void *term, struct bt_equivalence_key *node_keys, uint32_t n, uint32_t cap);

/*
 * PreFilter of a plugin that reads claims and volumes: sets filter_skip, score_skip, refused, refusal,
 * pre_filter_error and score_failure for the cycle that begins now. Called in every cycle of a pod for which
 * compile has set state. Texts are kept by bt_keep_text.
 */
typedef void bt_plugin_pre_filter_fn(void *state, const struct bt_view *view, struct bt_compiled *compiled);

/* Filter's error on a node that it did not pass; NULL: it refused the node. */
typedef const char *bt_plugin_fail_fn(const void *term, const struct bt_view *view, uint32_t node_ix);

/* PreScore: receives the feasible nodes before they are scored; counts: how many nodes each one represents,
 * NULL: one. */
typedef void bt_plugin_pre_score_fn(
	void *state, const struct bt_view *view, const uint32_t *nodes, const uint32_t *counts, uint32_t n);

/* NormalizeScore: maps the raw scores of the feasible nodes to 0..100. */
typedef void bt_plugin_normalize_fn(
	const void *term, const struct bt_view *view, const uint32_t *nodes, uint32_t n, int64_t *scores);

/* Appends upstream's text of a reason. */
typedef void bt_plugin_reason_fn(
	const struct bt_dictionary *dictionary, const struct bt_reason *reason, struct bt_buf *out_text);

/* Input of a queueing hint. */
struct bt_hint_env {
	const struct bt_release *release;     /* whose rules apply */
	const struct bt_view *view;	      /* the cluster after the event */
	const void *settings;		      /* the plugin's, in the waiting pod's profile */
	const struct bt_signature *signature; /* the waiting pod's current one */
	bool own;			      /* the event's object is the waiting pod itself */
	bool same_tree; /* its object belongs to the tree of the waiting pod's PodGroup, or is a pod of that
			   tree; or is its Workload */
};

/*
 * A queueing hint: may the event make a pod fit that the plugin refused? True: Queue. It depends on the
 * waiting pod's signature, the settings and the event alone, on own for events of the pod itself, and on the
 * existing trees.
 * Context: the scheduling thread.
 */
typedef bool bt_plugin_hint_fn(const struct bt_hint_env *env, const struct bt_cluster_event *event);

/* An event that can make a pod fit that the plugin refused. Source: the plugin's EventsToRegister. */
struct bt_registration {
	enum bt_cluster_event_resource resource;
	uint32_t actions;	 /* enum bt_cluster_event_action bits */
	bt_plugin_hint_fn *hint; /* NULL: always Queue */
	uint32_t needs;		 /* the gate or rule without which it is not registered; 0: always */
};

/* A gate, or a rule, that something needs; 0: it needs none. */
#define BT_NEEDS(gate)	    (1u + BT_GATE_##gate)
#define BT_NEEDS_RULE(rule) (1u + BT_GATE_N + BT_RULE_##rule)

static inline bool bt_needs_met(uint32_t needs, const struct bt_release *release, const bool *gates)
{
	return needs == 0 ||
	       (needs <= BT_GATE_N ? gates[needs - 1]
				   : bt_release_has(release, (enum bt_rule)(needs - 1 - BT_GATE_N)));
}

/* State changes between Filter and PostFilter of one cycle. */
enum bt_state_change {
	/* Objects are about to change that PreFilter may have read: its data must stay as it is until the
	 * cycle ends. */
	BT_VOLUMES_WILL_CHANGE,
	BT_DEVICES_WILL_CHANGE,
	/* Something has changed: Filter's results are void, and it rereads what PreFilter has not read. */
	BT_STATE_HAS_CHANGED,
};

/*
 * A plugin. Functions of points that it does not serve are NULL, absent declarations 0.
 * engine/model/release.def lists which release of Kubernetes enables it by default, at which points and with
 * which weight. init: const, static.
 */
struct bt_plugin {
	const char *name;
	uint32_t points; /* the points that it serves: BT_AT bits */
	/* Additional points under a rule; BT_AT bits. 0: none. */
	uint32_t more_points;
	enum bt_rule more_by;

	const struct bt_plugin_args *args; /* NULL: it takes none */
	/* Makes the plugin's settings for a profile; args: with defaults. NULL: it has no settings. */
	const void *(*settings)(const struct bt_settings_env *env, const void *args);
	/* Frees resources of the settings outside the arena; NULL: none. */
	void (*settings_end)(const void *settings);

	/* ---- points that evaluate no node ---- */
	uint32_t traits; /* pods with any of these (enum bt_trait); 0: all */
	bt_plugin_pre_enqueue_fn *pre_enqueue;
	bt_plugin_post_filter_fn *post_filter;
	bt_plugin_group_unreserve_fn
		*group_unreserve; /* of plugins at PodGroupPostFilter that release claims */
	/*
	 * Returns whether PostFilter has nothing to do for this cycle's compiled state (NULL: none). NULL:
	 * never.
	 */
	bool (*post_filter_idle)(const struct bt_compiled *compiled);
	/* State changes between this cycle's Filter and its PostFilter. NULL: Filter reads none. */
	void (*state_changes)(
		struct bt_compiled *compiled, const struct bt_view *view, enum bt_state_change change);
	/* PostFilter's error when the plugin's PreFilter has not run; NULL: it does not need PreFilter. */
	const char *no_pre_filter_post_error;
	/* PodGroupPostFilter does nothing for groups with constraints, where placements are tried. */
	bool leaves_constrained_groups;
	bool judges_node_name;			       /* its Filter refuses all nodes but spec.nodeName */
	bool ignores_resizes;			       /* it is bypassed for pods with a deferred resize */
	const struct bt_preemption_policy *preemption; /* PostFilter preempts with it; NULL: no preemption */
	bt_plugin_reserve_fn *reserve;
	bt_plugin_pre_bind_fn *pre_bind;
	bt_plugin_permit_fn *permit;
	bt_plugin_placement_feasible_fn *placement_feasible;
	bt_plugin_placement_generate_fn *placement_generate;
	bt_plugin_placement_score_fn *placement_score;
	bt_plugin_placement_normalize_fn *placement_normalize; /* NULL: scores are 0..100 */
	const struct bt_device_judge *devices; /* evaluates device selectors; set by one plugin */

	/* ---- points that evaluate nodes ---- */
	enum bt_dependence filter_depends, score_depends;
	/* It reads all data of a node where it depends on usage, including descriptions and single pods; an
	 * added pod can make a node feasible as well as a removed one. */
	bool sees_pods;
	enum bt_normalize normalize;
	/* Filter's error when the profile lacks the plugin's PreFilter; NULL: Filter does not need it. */
	const char *no_pre_filter_error;
	/* In such a profile, Filter's check before it needs PreFilter's state; NULL: none. */
	bt_plugin_filter_fn *filter_first;
	/* Score's error when the profile lacks the plugin's PreScore; NULL: Score does not need it. */
	const char *no_pre_score_error;
	void (*compile)(const void *settings, const struct bt_compile_env *env,
		const struct bt_signature *signature, struct bt_compiled *out_compiled);
	bt_plugin_counts_nodes_fn *counts_nodes;   /* NULL: they do not */
	bt_plugin_follow_images_fn *follow_images; /* of plugins that read images, or count nodes */
	bt_plugin_taint_sets_fn *taint_sets;	   /* of plugins whose terms have a table by taint set */
	bt_plugin_filter_fn *filter;
	bt_plugin_reject_fn *reject; /* NULL: always with the code refusal and a reason of kind 0 */
	enum bt_code refusal;
	const char *const *reasons;  /* upstream's texts of its reasons, by kind */
	bt_plugin_reason_fn *reason; /* instead, for texts with arguments */
	bt_plugin_score_fn *score;
	/* Of plugins that depend on usage; NULL: each term has results of its own. When all plugins that
	 * depend on descriptions have it, plans of different signatures may share their results. */
	bt_plugin_key_fn *key;
	bt_plugin_reads_fn *reads;	     /* of plugins that depend on usage; NULL: all slots */
	bt_plugin_describe_fn *describe;     /* of these; NULL: never */
	bt_plugin_prepare_fn *prepare;	     /* of plugins that depend on counters */
	bt_plugin_bound_fn *bound;	     /* of these */
	bt_plugin_redescribe_fn *redescribe; /* of these; NULL: their terms have computed nothing */
	bt_plugin_keys_fn *node_keys;	     /* of these; NULL: each node is evaluated */
	bt_plugin_pre_filter_fn *pre_filter; /* instead of prepare */
	bt_plugin_fail_fn *failure;	     /* of plugins whose Filter may fail on a node */
	bt_plugin_pre_score_fn *pre_score;
	bt_plugin_normalize_fn *normalize_own;
	/* Consulted only for pods that the plugin has refused. NULL: any event may make such a pod fit. */
	const struct bt_registration *events;
	uint32_t event_n;
	/* Pod events are restricted to their kind of pod in every release, and waiting pods include the pod
	 * itself. Else, as upstream, they match pods of any kind where BT_RULE_POD_EVENTS_BY_KIND does not
	 * hold. */
	bool kinds_are_exact;
};

/* A plugin in a profile. */
struct bt_plugin_use {
	uint32_t id; /* in the registry */
	const struct bt_plugin *plugin;
	const void *settings;				    /* of the plugin's own type */
	int64_t weight;					    /* at Score */
	bool pre_filter, filter, pre_score, score, reserve; /* its points in the profile */
};

/* Can the plugin refuse a pod without declaring what that depends on? */
static inline bool bt_plugin_use_depends_on_anything(const struct bt_plugin_use *use)
{
	return ((use->filter && use->plugin->filter) || (use->pre_filter && use->plugin->pre_filter)) &&
	       use->plugin->filter_depends == BT_DEPENDS_ON_ALL;
}

/* The most plugins of a profile that evaluate nodes: in-tree plugins with compile, and all added ones. */
#define BT_PROFILE_USES 28

static_assert(BT_PROFILE_USES <= BT_PLUGIN_SET_ROOM, "uses are numbers in sets of plugins");

/* A profile: its plugins, and at each point the order in which they run, as indices in uses. init: const
 * after start. */
struct bt_profile {
	uint32_t name; /* spec.schedulerName of its pods */
	/*
	 * Some plugin does not declare what its refusals depend on: a verdict is valid for its pod and cycle
	 * only.
	 */
	bool verdicts_uncacheable;
	bool sees_pods; /* some plugin reads single pods */
	struct bt_plugin_use uses[BT_PROFILE_USES];
	uint32_t use_n;
	uint32_t pre_filter[BT_PROFILE_USES], filter[BT_PROFILE_USES], pre_score[BT_PROFILE_USES],
		score[BT_PROFILE_USES];
	uint32_t pre_filter_n, filter_n, pre_score_n, score_n;
};

static inline bool bt_equivalence_key_eq(
	const struct bt_equivalence_key *a, const struct bt_equivalence_key *b)
{
	return a->kind == b->kind && a->column == b->column && a->domain_counts == b->domain_counts;
}

/* Appends an equivalence key to the n existing ones unless it exists, as bt_plugin_keys_fn does. */
static inline uint32_t bt_add_equivalence_key(
	struct bt_equivalence_key node_key, struct bt_equivalence_key *node_keys, uint32_t n, uint32_t cap)
{
	for (uint32_t i = 0; i < n && i < cap; i++) {
		if (bt_equivalence_key_eq(&node_keys[i], &node_key)) {
			return n;
		}
	}
	if (n < cap) {
		node_keys[n] = node_key;
	}
	return n + 1;
}

/* Up to this many domains have a class each: nodes are not regrouped whenever a sum changes. */
#define BT_FEW_DOMAINS 16

/* The equivalence key of results that depend on domain sums, or on their sign. */
static inline struct bt_equivalence_key bt_domain_counts_key(
	const struct bt_domain_counts *domain_counts, enum bt_equivalence_key_kind kind)
{
	bool by_sum = domain_counts->by_node && domain_counts->domain_n > BT_FEW_DOMAINS;

	return by_sum ? (struct bt_equivalence_key){.kind = kind, .domain_counts = domain_counts}
		      : (struct bt_equivalence_key){
				.kind = BT_EQUIVALENCE_KEY_VALUE, .column = domain_counts->domain};
}

static inline void bt_reject_with(struct bt_rejection *out_rejection, enum bt_code code, uint32_t kind)
{
	out_rejection->code = code;
	out_rejection->n = 1;
	out_rejection->reasons[0] = (struct bt_reason){.kind = kind};
}

/* Adds the reasons why the plugin's Filter refused the node. Requires: it did. */
static inline void bt_plugin_reject(const struct bt_plugin *plugin, const void *term,
	const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out_rejection)
{
	if (plugin->reject) {
		plugin->reject(term, view, node_ix, out_rejection);
	} else {
		bt_reject_with(out_rejection, plugin->refusal, 0);
	}
}

/* Appends upstream's text of one of the plugin's reasons. */
static inline void bt_plugin_reason(const struct bt_plugin *plugin, const struct bt_dictionary *dictionary,
	const struct bt_reason *reason, struct bt_buf *out_text)
{
	if (plugin->reason) {
		plugin->reason(dictionary, reason, out_text);
	} else {
		bt_buf_text(out_text, plugin->reasons[reason->kind]);
	}
}

/* A text, stored once, that lives as long as the plans that may point to it. Context: the scheduling
 * thread. */
static inline const char *bt_keep_text(const struct bt_view *view, const char *format, ...) BT_PRINTF(2, 3);

static inline const char *bt_keep_text(const struct bt_view *view, const char *format, ...)
{
	const struct bt_dictionary *dictionary = view->snapshot->dictionary;
	struct bt_buf text = {0};
	va_list args;

	va_start(args, format);
	bt_buf_vprintf(&text, format, args);
	va_end(args);
	uint32_t name = bt_texts_keep(dictionary->texts, bt_buf_view(&text));
	bt_buf_fini(&text);
	return bt_intern_str(dictionary->intern, name).ptr;
}

/* PreFilter refuses the pod in this cycle. */
static inline void bt_refuse(struct bt_compiled *compiled, const char *text)
{
	compiled->refused = true;
	compiled->refusal = text;
}

/* bt_keep_text's argument for a name. */
static inline struct bt_str bt_view_str(const struct bt_view *view, uint32_t name)
{
	return bt_intern_str(view->snapshot->dictionary->intern, name);
}
