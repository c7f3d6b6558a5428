/* SPDX-License-Identifier: Apache-2.0
 * Preemption at PostFilter: which pods would have to go, and from which node, so that a refused pod
 * fits, by the policy of a plugin. Tries it out on the ledger itself, node by node, and leaves the ledger as
 * it was. Source: framework/preemption Evaluator, v1.36.3.
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
	const struct bt_hook *by; /* the plugin that preempts; NULL: none does */
	struct bt_cache *cache;
	const struct bt_cycle *cycle; /* whose plan is prepared */
	/* The cycle that refused the pod: every node was filtered. NULL when PreFilter had refused it. What
	 * it says of nodes is read by bt_preempt_list, afterwards its nominations alone. */
	const struct bt_evaluation *evaluation;
	struct bt_preempt_notes *notes;	  /* what is known of nodes; NULL: all have to be looked at */
	struct bt_extender_calls *extend; /* extenders that have a say in the candidates; NULL: none has */
	uint64_t random;		  /* bits that choose where the search begins */
	bool explain;			  /* the text is wanted */
	/* Those whose pods are victims as the group says; NULL: all are victims by themselves. Not with
	 * notes. */
	const struct bt_pod_groups *groups;
	const char *ineligible; /* why the pod, as one of a PodGroup, does not preempt; or NULL */
};

/*
 * What is known of trying to preempt on each node, for pods of one signature and priority whose filters ask
 * about a node nothing but what is on it. The ledger's journal tells which nodes have to be asked again. All
 * zeroes knows nothing. Owns: bt_preempt_notes_fini.
 * Key: profile, signature (its serial number), priority; only of pods without a nomination, extenders or a
 * group cycle. Whether the pod may preempt at all is asked before. Ends: with a version of the snapshot or of
 * the budgets, other slots, or a journal that has gone on too far.
 */
struct bt_preempt_notes {
	const struct bt_profile *profile;
	uint64_t signature; /* its serial number */
	int32_t priority;
	uint64_t snapshot_version, budget_version, journal_end;
	uint8_t *states;		/* by node slot */
	uint8_t *by;			/* by node slot: the use that refuses the node, or BT_PROFILE_USES */
	uint32_t by_n[BT_PROFILE_USES]; /* how many nodes a use refuses */
	struct bt_preemption_cost *costs;
	uint32_t slot_n, slot_cap, helpful_n;
};

void bt_preempt_notes_fini(struct bt_preempt_notes *notes);

/* Have notes of so many slots the memory that they need, or may they take it? */
bool bt_preempt_notes_fit(const struct bt_preempt_notes *notes, uint32_t slot_n);

/* May the search rely on notes, for a pod without a nomination of its own? */
bool bt_preempt_notable(const struct bt_plan *plan);

/* The uses that refuse nodes, as bits; brings the notes up to date. Requires: bt_preempt_notable. */
bt_plugin_set bt_preempt_unschedulable_plugins(
	const struct bt_preempt_request *request, struct bt_preempt_notes *notes);

struct bt_preempt_candidate {
	uint32_t node_ix, first_victim; /* in the victims of all */
	struct bt_preemption_cost cost;
};

/* What preemption found. All zeroes is an empty one. Owns: bt_preemption_fini. */
struct bt_preemption {
	const struct bt_preemption_policy *policy; /* by which it was looked for */
	enum bt_preempt_outcome outcome;
	uint32_t node_ix;
	/* The victims, the most important first; those that are being deleted already included. */
	struct bt_victim *victims;
	uint32_t victim_n;
	uint32_t tried_n;   /* nodes on which it was tried out */
	struct bt_buf text; /* when explained: upstream's message; of a node that was found only what
			       the release says */
	/* private: */
	struct bt_victim *pods;	   /* of the node that is tried */
	struct bt_victim *kept;	   /* victims of all candidates */
	uint32_t *parts, *on_node; /* pods of victims, of one after the other; pods of the node */
	struct bt_preempt_candidate *candidates;
	uint32_t *nodes; /* that pods which go might help, ascending */
	uint32_t node_n;
	size_t pod_cap, kept_n, kept_cap, candidate_n, candidate_cap, node_cap, budget_cap, part_n, part_cap,
		on_node_cap;
	int32_t *budgets;		     /* what is left of each */
	struct bt_fit_error reasons, errors; /* errors: their texts, each once */
	struct bt_buf line;
};

void bt_preemption_fini(struct bt_preemption *preemption);

/* Charges a pod to the budgets that count it; left: what each of them has left. One that it overdraws is the
 * last one that it is charged to, unless it is charged to every one. Returns whether it overdraws any. */
bool bt_preempt_overdraws(
	const struct bt_cache *cache, const struct bt_pod *pod, int32_t *left, bool charges_every_budget);

/* Is a pod of lower priority that was preempted still on the node that the pod is nominated to? */
bool bt_preempt_lingers(
	const struct bt_ledger *ledger, const struct bt_pod_groups *groups, const struct bt_pod *pod);

/* Lists the nodes that the cycle refused for what pods that go might mend. Call before bt_preempt, while the
 * evaluation holds. */
void bt_preempt_list(const struct bt_preempt_request *request, struct bt_preemption *out);

void bt_preempt(const struct bt_preempt_request *request, struct bt_preemption *out);

/*
 * The same without a text, and without looking at nodes that have not changed since the notes were made; they
 * are brought up to date.
 * request->evaluation is only read for its nominations. Requires: bt_preempt_notable.
 */
void bt_preempt_by_notes(
	const struct bt_preempt_request *request, struct bt_preempt_notes *notes, struct bt_preemption *out);
