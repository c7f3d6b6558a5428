/* SPDX-License-Identifier: Apache-2.0
 * Preemption at PostFilter: which pods to evict from which node so that a refused pod fits, by the policy of
 * a plugin. Tries it on the ledger itself, node by node, and restores the ledger. Source:
 * framework/preemption Evaluator, v1.36.3.
 * Context: the scheduling thread; allocates in the preemption's own buffers, which are kept between calls.
 */
#pragma once

#include "cache/ingest.h"
#include "engine/flow/cycle/cycle.h"
#include "engine/flow/cycle/fit_error.h"
#include "engine/flow/cycle/pod_groups.h"
#include "engine/score/evaluate.h"
#include "engine/flow/config/profile.h"
#include "engine/model/plugin_set.h"

struct bt_extender_calls;

struct bt_preempt_request {
	const struct bt_hook *by; /* the plugin that preempts, or NULL */
	struct bt_cache *cache;
	const struct bt_cycle *cycle; /* its plan is prepared */
	/* The cycle that refused the pod: every node was filtered. NULL when PreFilter had refused it.
	 * bt_preempt_list reads its results by node; later only its nominations are read. */
	const struct bt_evaluation *evaluation;
	struct bt_preempt_notes *notes;	  /* known results by node; NULL: examine all nodes */
	struct bt_extender_calls *extend; /* extenders that filter candidates, or NULL */
	uint64_t random;		  /* bits that select where the search begins */
	bool explain;			  /* produce the text */
	/* The groups whose pods are victims by the group's terms; NULL: each pod is a victim by itself. Not
	 * with notes. */
	const struct bt_pod_groups *groups;
	bool group_runs;	/* struct bt_post_filter_env */
	const char *ineligible; /* why its PodGroup keeps the pod from preempting, or NULL */
};

/*
 * Results of trying preemption by node, for pods of one signature and priority whose filters depend only on
 * what is on the node. The ledger's journal lists the nodes to try again. Zero-initialized, it is empty.
 * Owns: bt_preempt_notes_fini.
 * Key: profile, signature (its serial number), priority; only of pods without a nomination, extenders or a
 * group cycle. Whether the pod may preempt is checked before. Ends: with a version of the snapshot or of the
 * budgets, changed slots, or a journal that has advanced too far.
 */
struct bt_preempt_notes {
	const struct bt_profile *profile;
	uint64_t signature; /* serial number */
	int32_t priority;
	uint64_t snapshot_version, budget_version, journal_end;
	uint8_t *states;		/* by node slot */
	uint8_t *by;			/* by node slot: the use that refuses the node, or BT_PROFILE_USES */
	uint32_t by_n[BT_PROFILE_USES]; /* nodes that a use refuses */
	struct bt_preemption_cost *costs;
	uint32_t slot_n, slot_cap, helpful_n;
};

void bt_preempt_notes_fini(struct bt_preempt_notes *notes);

/* Is there memory for notes of this many slots, or may it be allocated? */
bool bt_preempt_notes_fit(const struct bt_preempt_notes *notes, uint32_t slot_n);

/* Can the search use notes, for a pod without a nomination? */
bool bt_preempt_notable(const struct bt_plan *plan);

/* The uses that refuse nodes, as bits; updates the notes. Requires: bt_preempt_notable. */
bt_plugin_set bt_preempt_unschedulable_plugins(
	const struct bt_preempt_request *request, struct bt_preempt_notes *notes);

struct bt_preempt_candidate {
	uint32_t node_ix, first_victim; /* first_victim: index in the victims of all candidates */
	struct bt_preemption_cost cost;
};

/* The result of preemption. Zero-initialized, it is empty. Owns: bt_preemption_fini. */
struct bt_preemption {
	const struct bt_preemption_policy *policy; /* the policy of the search */
	enum bt_preempt_outcome outcome;
	uint32_t node_ix;
	/* The victims, the most important first, including those that are already being deleted. */
	struct bt_victim *victims;
	uint32_t victim_n;
	uint32_t violation_n; /* of them, whose eviction violates a disruption budget */
	uint32_t tried_n;     /* nodes that were tried */
	struct bt_buf text;   /* if requested: upstream's message; after success only in some releases */
	/* private: */
	struct bt_victim *pods;	   /* of the node being tried */
	struct bt_victim *kept;	   /* victims of all candidates */
	uint32_t *parts, *on_node; /* pods of victims, concatenated; pods of the node */
	struct bt_preempt_candidate *candidates;
	uint32_t *nodes; /* that evictions might help, ascending */
	uint32_t node_n;
	size_t pod_cap, kept_n, kept_cap, candidate_n, candidate_cap, node_cap, budget_cap, part_n, part_cap,
		on_node_cap;
	int32_t *budgets;		     /* each budget's remaining disruptions */
	struct bt_fit_error reasons, errors; /* errors: their texts, without duplicates */
	struct bt_buf line;
};

void bt_preemption_fini(struct bt_preemption *preemption);

/* Charges a pod to the budgets that select it; left: what remains of each. The first overdrawn budget is the
 * last one charged, unless all are. Returns: whether any is overdrawn. */
bool bt_preempt_overdraws(
	const struct bt_cache *cache, const struct bt_pod *pod, int32_t *left, bool charges_every_budget);

/* Is a preempted pod of lower priority still on the pod's nominated node? */
bool bt_preempt_lingers(
	const struct bt_ledger *ledger, const struct bt_pod_groups *groups, const struct bt_pod *pod);

/* Lists the nodes that the cycle refused for reasons that evictions might resolve. Call before bt_preempt,
 * while the evaluation is valid. */
void bt_preempt_list(const struct bt_preempt_request *request, struct bt_preemption *out);

void bt_preempt(const struct bt_preempt_request *request, struct bt_preemption *out);

/*
 * The same without a text, and without trying nodes that have not changed since the notes were made; updates
 * the notes.
 * request->evaluation is only read for its nominations. Requires: bt_preempt_notable.
 */
void bt_preempt_by_notes(
	const struct bt_preempt_request *request, struct bt_preempt_notes *notes, struct bt_preemption *out);
