/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: a plan is what a profile makes of a signature: the compiled terms, what PreFilter said, and, when
 * every plugin says what it depends on, columns from which the best node is read off.
 * Context: the scheduling thread, which owns the usage (asserted).
 */
#pragma once

#include "cache/node_view.h"
#include "engine/score/column.h"
#include "plugins/plugin.h"

/* Nodes that agree in everything that depends on their description alone. Group 0 is refused by it. */
struct bt_group {
	int64_t fixed; /* weighted scores that need no normalisation */
	uint32_t node_n;
	uint32_t member;       /* with masks, while maxima are looked for: a feasible node, or BT_NO_NODE */
	uint16_t static_score; /* 1 + what the description is worth under the present maxima */
	int32_t raw[BT_PROFILE_USES]; /* raw scores that need it, by plan->normalized; not below 0 */
};

/* A plan with more groups than this has no masks, and is scanned for. */
#define BT_MASKED_GROUPS 16

struct bt_topology_pick;

struct bt_plan {
	const struct bt_profile *profile;
	const struct bt_signature *signature;
	struct bt_compiled compiled[BT_PROFILE_USES]; /* by use */

	/* PreFilter. */
	const char *refusal;  /* refused on all nodes: the reason; else NULL */
	uint32_t refused_by;  /* the use */
	bool narrowed;	      /* only these nodes are looked at */
	uint32_t *candidates; /* live nodes, ascending slots */
	uint32_t candidate_n;
	uint32_t narrowed_by; /* the use */

	/* Errors: upstream's text when a filter or the scoring comes that far; else NULL. */
	const char *filter_error[BT_PROFILE_USES]; /* by use */
	const char *score_error;
	const char *pre_filter_error; /* the cycle fails at once */

	uint64_t images_at; /* image_version of the snapshot for which its pods' images are what they were */

	bool reads_state; /* PreFilter of some plugin asks about claims or volumes, in every cycle */

	/* Columns. */
	bool columns; /* the fast path can decide, unless a plugin that depends on counters has a say */
	bool plain;   /* no node can be scored outside of 0..100, unless the usage says that room was made */
	uint64_t idle_version;	 /* of view->counting when none had; 0: one has, or they were not asked */
	struct bt_column *usage; /* shared with plans that depend on usage in the same way */
	uint16_t *group;	 /* by node slot; NULL when there are masks */
	struct bt_group *groups;
	uint32_t group_n;
	uint32_t normalized[BT_PROFILE_USES]; /* uses whose scores are normalised */
	uint32_t normalized_n;
	uint64_t *masks; /* for group 1 and on: its nodes, one bitmap after the other; NULL when there are too
			    many groups */
	uint64_t *any;	 /* behind the masks: the nodes of all groups */
	uint32_t order[BT_MASKED_GROUPS]; /* groups, the most worthy first; when there are masks */
	/* The first top_n groups in this order are looked at; while they hold a node that is better than any
	 * node of the others could be, these are left alone, and need not be up to date. */
	uint32_t top_n;
	uint64_t *top;	/* behind any: the nodes of these groups */
	uint16_t *base; /* by node slot: 0 refused or not looked at, else the group's worth; NULL until it is
			   scanned for the first time */
	bool base_filled;     /* it is right for the present maxima */
	uint16_t *block_best; /* by block of BT_SCAN_STEP slots: the highest total; NULL until shards have
				 found them */
	bool blocks_known;    /* they are right but for the nodes that the usage's journal names from */
	uint64_t blocks_at;   /* here on */
	int64_t highest[BT_PROFILE_USES];  /* by normalized: highest raw score of a feasible node */
	uint32_t witness[BT_PROFILE_USES]; /* a feasible node that has it, or BT_NO_NODE */
	bool uniform[BT_PROFILE_USES];	   /* by normalized: all groups agree */
	bool steady;			   /* they agree in all: no maximum ever moves */
	bool maxima_known;
	struct bt_topology_pick *counted; /* NULL until a plugin that depends on counters has a say */
	size_t *memory_bytes;		  /* of the planner */
	size_t bytes;			  /* what of that is the plan's own, but for counted */
	uint64_t release_n;		  /* bt_plan_releases when the plan was last asked */
	bool refused;		  /* nothing was feasible then, and cannot be until something is released */
	struct bt_plan *yielding; /* the next one for pods that yield; they share what does not change */
	uint64_t batch;		  /* of struct bt_parallel_prepare: the last one that it is in */
	bool placed;		  /* the pages of base and blocks lie beside the workers of their shards, */
	bool groups_placed;	  /* and those of groups and masks */
	bool yields;		  /* this one is: for pods of this priority */
	int32_t priority;
};

/* How often something happened that may have made a node feasible for the plan's pods. */
static inline uint64_t bt_plan_releases(const struct bt_plan *plan, const struct bt_usage *usage)
{
	if (BT_UNLIKELY(plan->profile->sees_pods)) {
		return usage->journal_end;
	}
	return usage->release_n + (plan->yields ? usage->cleared_nomination_n : 0);
}

/* 1 + what a group's description is worth when these are the highest raw scores, by plan->normalized. */
uint16_t bt_group_static_score(
	const struct bt_plan *plan, const struct bt_group *group, const int64_t *highest);

struct bt_planner;

/* What a planner needs of the cache's owner. init: const after start. */
struct bt_planner_env {
	struct bt_dictionary *dictionary;
	const struct bt_view *view;
	/* As in struct bt_compile_env. */
	const uint32_t *(*label_column)(void *context, uint32_t key);
	const uint64_t *(*image_nodes)(void *context, uint32_t name);
	uint32_t (*find_node)(void *context, uint32_t name); /* the slot of a live node, or BT_NO_NODE */
	void *context;
	size_t memory_bytes; /* what plans and columns may take before all are dropped and made again on
				demand */
};

struct bt_planner *bt_planner_create(const struct bt_profile *profile, const struct bt_planner_env *env);
void bt_planner_destroy(struct bt_planner *planner);

/* The plan of a signature under the present snapshot; valid until the next call. */
struct bt_plan *bt_planner_plan(struct bt_planner *planner, const struct bt_signature *signature);

/*
 * The plan by which to pick for pods of a priority that have to yield to those nominated to nodes;
 * valid as the plan is. nominations: those of that priority, whenever the plan is asked. Nominations
 * must be in the usage's journal. Requires: plan->columns.
 */
struct bt_plan *bt_planner_yielding(struct bt_planner *planner, struct bt_plan *plan,
	const struct bt_yields_to *nominations, int32_t priority);

/* The plan of a signature, if it was made under the present snapshot; else NULL. */
struct bt_plan *bt_planner_find(const struct bt_planner *planner, const struct bt_signature *signature);

/* Drops all plans. Those that are needed again are made anew. */
void bt_planner_forget(struct bt_planner *planner);

/* How often all plans were dropped because they had reached the memory limit. */
uint64_t bt_planner_drop_n(const struct bt_planner *planner);

/*
 * Sets refusal and pre_filter_error to what PreFilter says, all of whose plugins have been asked.
 * Returns: how many of them, in their order, have nothing against the pod before one that has.
 */
uint32_t bt_plan_settle(struct bt_plan *plan, const struct bt_view *view);

/*
 * A guess at what bt_plan_pick will say with that start so many cycles from now, or BT_NO_NODE, for fetching
 * ahead; fetches what the column will ask of the node. The best nodes, if they are no more than cycles, are
 * taken until then, or were placed on just now and are in the cache.
 */
uint32_t bt_plan_predict(
	const struct bt_plan *plan, const struct bt_view *view, uint32_t start, uint32_t cycle_n);

/* Fetches what depends on what was fetched for a node that was foreseen some cycles ago, and what the next
 * pick will put for a node that has changed. node_ix may be any number. */
void bt_plan_fetch(const struct bt_plan *plan, const struct bt_view *view, uint32_t node_ix);

/* The nodes whose values the next pick asks for, NULL: all. */
const uint64_t *bt_plan_mask(const struct bt_plan *plan, const struct bt_view *view);

/*
 * The best node by the columns: highest total, and among equals the first slot at or after start, cyclically.
 * Requires: no refusal, not narrowed; start < the number of slots.
 * Returns : false when the columns cannot tell and bt_evaluate must; else true and in out_node_ix the node,
 *           BT_NO_NODE when none is feasible.
 */
bool bt_plan_pick(struct bt_plan *plan, const struct bt_view *view, uint32_t start, uint32_t *out_node_ix);
