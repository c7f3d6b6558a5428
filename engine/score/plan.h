/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: a plan is a profile's result for a signature: the compiled terms, PreFilter's result, and, if
 * every plugin declares its dependencies, columns that give the best node.
 * Context: the scheduling thread, which owns the usage (asserted).
 */
#pragma once

#include "cache/node_view.h"
#include "engine/score/column.h"
#include "plugins/plugin.h"

/* Nodes that agree in everything that depends only on their description. The description refuses group 0. */
struct bt_group {
	int64_t fixed; /* weighted scores that need no normalization */
	uint32_t node_n;
	uint32_t member;       /* with masks, while maxima are searched: a feasible node, or BT_NO_NODE */
	uint16_t static_score; /* 1 + the description's score under the present maxima */
	int32_t raw[BT_PROFILE_USES]; /* raw scores to normalize, by plan->normalized; not below 0 */
};

/* A plan with more groups than this has no masks, and is scanned. */
#define BT_MASKED_GROUPS 16

struct bt_topology_pick;

struct bt_plan {
	const struct bt_profile *profile;
	const struct bt_signature *signature;
	struct bt_compiled compiled[BT_PROFILE_USES]; /* by use */

	/* PreFilter. */
	const char *refusal;  /* refused on all nodes: the reason; otherwise NULL */
	uint32_t refused_by;  /* the use */
	bool narrowed;	      /* only candidates are examined */
	uint32_t *candidates; /* live nodes, ascending slots */
	uint32_t candidate_n;
	uint32_t narrowed_by; /* the use */

	/* Errors: upstream's text if a filter or the scoring runs; otherwise NULL. */
	const char *filter_error[BT_PROFILE_USES]; /* by use */
	const char *score_error;
	const char *pre_filter_error; /* the cycle fails at once */

	uint64_t images_at;  /* image_version of the snapshot up to which it has followed its pods' images */
	uint64_t changes_at; /* the snapshot's changes_end that it has followed */
	uint64_t live_version;	/* the snapshot's then */
	uint64_t taint_sets_at; /* the snapshot's taint_set_version of its terms' tables */
	uint64_t domains_at;	/* domains_version of view->counting, of the domain counts in its terms */

	bool reads_state; /* a plugin's PreFilter reads claims or volumes, in every cycle */

	/* Columns. */
	bool columns; /* the fast path can decide, unless a plugin that depends on counters is active */
	bool plain;   /* no score can be outside of 0..100, unless the usage reports a release */
	uint64_t idle_version; /* version of view->counting at which none was active; 0: one is, or unknown */
	struct bt_column *usage; /* shared with plans of equal dependence on usage */
	uint32_t slot_room; /* the snapshot's: room of the arrays by node slot, zero after the last slot, */
	size_t word_n;	    /* and the words of a mask */
	uint16_t *group;    /* by node slot; NULL if there are masks */
	struct bt_group *groups;
	uint32_t group_n;
	uint32_t normalized[BT_PROFILE_USES]; /* uses with normalized scores */
	uint32_t normalized_n;
	uint64_t *masks; /* by group, from 1 on: bitmap of its nodes; NULL: too many groups */
	uint64_t *any;	 /* after the masks: the nodes of all groups */
	uint32_t order[BT_MASKED_GROUPS]; /* groups by static score, highest first; with masks */
	/* The first top_n groups in this order are examined. While they have a node that beats any possible
	 * node of the others, these are neither examined nor updated. */
	uint32_t top_n;
	uint64_t *top;	/* after any: the nodes of these groups */
	uint16_t *base; /* by node slot: 0 refused or not in top, else the static score; NULL: no scan yet */
	bool base_filled;     /* valid for the present maxima */
	uint16_t *block_best; /* highest total by block of BT_SCAN_STEP slots; NULL: not known yet */
	bool blocks_known;    /* valid except for the nodes in the usage's journal from */
	uint64_t blocks_at;   /* here on */
	int64_t highest[BT_PROFILE_USES];  /* by normalized: highest raw score of a feasible node */
	uint32_t witness[BT_PROFILE_USES]; /* a feasible node with that score, or BT_NO_NODE */
	bool uniform[BT_PROFILE_USES];	   /* by normalized: all groups agree */
	bool steady;			   /* all groups agree in all: no maximum ever moves */
	bool maxima_known;
	struct bt_topology_pick *counted; /* NULL until a plugin that depends on counters is active */
	size_t *memory_bytes;		  /* of the planner */
	size_t bytes;			  /* the plan's own part, without counted */
	uint64_t release_n;		  /* bt_plan_releases at the last pick */
	bool refused;			  /* nothing was feasible then, nor can be before a release */
	struct bt_plan
		*yielding;  /* the next plan for pods with nominations; they share what does not change */
	uint64_t batch;	    /* of struct bt_parallel_prepare: the last one with this plan */
	bool placed;	    /* the pages of base and blocks are near their shards' workers, */
	bool groups_placed; /* and those of groups and masks */
	bool yields;	    /* is one for pods with nominations, of this priority */
	int32_t priority;
};

/* A count of changes that may have made a node feasible for the plan's pods. */
static inline uint64_t bt_plan_releases(const struct bt_plan *plan, const struct bt_usage *usage)
{
	if (BT_UNLIKELY(plan->profile->sees_pods)) {
		return usage->journal_end;
	}
	return usage->release_n + (plan->yields ? usage->cleared_nomination_n : 0);
}

/* 1 + a group's static score for these highest raw scores, by plan->normalized. */
uint16_t bt_group_static_score(
	const struct bt_plan *plan, const struct bt_group *group, const int64_t *highest);

struct bt_planner;

/* The cache's functions and data for a planner. init: const after start. */
struct bt_planner_env {
	struct bt_dictionary *dictionary;
	const struct bt_view *view;
	/* As in struct bt_compile_env. */
	const uint32_t *(*label_column)(void *context, uint32_t key);
	const uint64_t *(*image_nodes)(void *context, uint32_t name);
	uint32_t (*find_node)(void *context, uint32_t name); /* the slot of a live node, or BT_NO_NODE */
	void *context;
	size_t memory_bytes; /* limit of plans and columns; beyond it all are dropped and rebuilt on demand */
};

/* Requires: at most BT_PROFILE_USES plugins; each has prepare or pre_filter if it depends on counters, bound
 * if it has prepare, and normalize_own for BT_NORMALIZE_OWN alone. */
struct bt_planner *bt_planner_create(const struct bt_profile *profile, const struct bt_planner_env *env);
void bt_planner_destroy(struct bt_planner *planner);

/* The plan of a signature under the present snapshot, built if missing; valid until the next call. Describes
 * nodes again that have changed, come or gone since the last call; a new layout drops all plans. */
struct bt_plan *bt_planner_plan(struct bt_planner *planner, const struct bt_signature *signature);

/*
 * The plan for pods of a priority that must fit with nominated pods; valid as the plan is. nominations: of
 * that priority, whenever the plan is used. Nominations must be in the usage's journal. Requires:
 * plan->columns.
 */
struct bt_plan *bt_planner_yielding(struct bt_planner *planner, struct bt_plan *plan,
	const struct bt_nominations_ahead *nominations, int32_t priority);

/* The plan of a signature if it is built for the present snapshot; otherwise NULL. */
struct bt_plan *bt_planner_find(const struct bt_planner *planner, const struct bt_signature *signature);

/* Drops all plans, which are rebuilt on demand. */
void bt_planner_forget(struct bt_planner *planner);

/* How often all plans were dropped because of the memory limit. */
uint64_t bt_planner_drop_n(const struct bt_planner *planner);

/*
 * Sets refusal and pre_filter_error from the results of all PreFilter plugins.
 * Returns: how many plugins, in order, accept the pod before the first one that does not.
 */
uint32_t bt_plan_settle(struct bt_plan *plan, const struct bt_view *view);

/*
 * Guesses the result of bt_plan_pick with that start cycle_n cycles from now, or BT_NO_NODE, and prefetches
 * what the column will read of the node. If there are at most cycle_n best nodes, they are skipped: they
 * will be taken until then, or were just used and are in the cache.
 */
uint32_t bt_plan_predict(
	const struct bt_plan *plan, const struct bt_view *view, uint32_t start, uint32_t cycle_n);

/* Prefetches what depends on the prefetch for a node that was guessed some cycles ago, and prepares the next
 * pick's values of a changed node. node_ix may be any number. */
void bt_plan_fetch(const struct bt_plan *plan, const struct bt_view *view, uint32_t node_ix);

/* The nodes whose values the next pick needs; NULL: all. */
const uint64_t *bt_plan_mask(const struct bt_plan *plan, const struct bt_view *view);

/*
 * The best node by the columns: highest total, and among equals the first slot at or after start, cyclically.
 * Requires: no refusal, not narrowed; start < the number of slots.
 * Returns : false when columns cannot decide and bt_evaluate must; otherwise true, with the node in
 *           out_node_ix, or BT_NO_NODE when none is feasible.
 */
bool bt_plan_pick(struct bt_plan *plan, const struct bt_view *view, uint32_t start, uint32_t *out_node_ix);

/*
 * The nodes that pass every filter by the columns, in ascending order, into an array with room for all slots.
 * Requires: no refusal, not narrowed.
 * Returns : false when columns are undecided and bt_evaluate_filters must decide.
 */
bool bt_plan_feasible(
	struct bt_plan *plan, const struct bt_view *view, uint32_t *out_node_ixs, uint32_t *out_n);
