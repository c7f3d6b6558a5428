/* SPDX-License-Identifier: Apache-2.0
 * Searches for what a pod lacks on the nearest nodes, and for the cheapest changes with which it is placed.
 * Every change is tried by the engine, in a transaction that is rolled back, and listed only if it works.
 */
#pragma once

#include "tools/cli/progress.h"
#include "tools/kube/report/refusals.h"
#include "tools/offline/explain/subject.h"
#include "tools/offline/explain/trial.h"

/* Edits with which the pod is placed. The texts are in the search's arena. */
struct bt_explain_fix {
	struct bt_explain_edit *edits; /* sorted */
	size_t n;
	const char *text, *patch;
	const char *objects; /* the pods or nodes concerned, or empty */
	const char *node;    /* where the pod goes then */
};

/* What a pod lacks on one node. */
struct bt_explain_miss {
	const char *node, *lacks;
	struct bt_explain_edit *edits; /* the least that makes the pod fit; sorted */
	size_t n;
	bool stuck; /* no change of the pod helps; lacks has what is left then */
	double share;
};

/* Zero-initialized, it is empty. Owns: bt_explain_search_fini. */
struct bt_explain_search {
	bool fits;		      /* the pod fits as it is; nothing was searched */
	struct bt_explain_fix *fixes; /* the cheapest first */
	size_t fix_n, fix_cap;
	size_t single_n;		/* of them of one edit, without the removal of gates */
	struct bt_explain_miss *misses; /* the nearest first */
	size_t miss_n, miss_cap;
	uint64_t trial_n;
	struct bt_refusal_rows ungated; /* of a gated pod: the nodes' verdicts without its gates */
	/* private: */
	struct bt_explain_trial trial;
	const struct bt_explain_subject *subject;
	struct bt_progress *progress;
	struct bt_arena arena;
	struct bt_explain_edit *candidates; /* all edits of the pod, each as lax as can be */
	size_t candidate_n, candidate_cap;
};

/* Searches. refusals: of the pod now; those of a gated one are not read. progress counts trials. Context: the
 * scheduling thread, between cycles; afterwards the cluster is as before. */
void bt_explain_search(struct bt_engine *engine, const struct bt_explain_subject *subject,
	const struct bt_refusal_rows *refusals, struct bt_progress *progress, struct bt_explain_search *out);
void bt_explain_search_fini(struct bt_explain_search *search);
