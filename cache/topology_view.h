/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: the pod counts by topology domain that plugins may read: domain counts, existing affinity terms,
 * namespaces and default constraints' selectors. owner: written by the scheduling thread between cycles
 * only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/model/signature.h"

#define BT_NO_DOMAIN UINT32_MAX

/* The length of the journal of domain counts. */
#define BT_DOMAIN_COUNTS_JOURNAL 256

/* The number of matching pods in each domain of a topology key, updated by the ledger, and when nodes change,
 * come and go (follow). What is by node slot stays where it is; what is by domain moves when it grows. */
struct bt_domain_counts {
	const uint32_t *domain; /* by node slot; BT_NO_DOMAIN when the node lacks the key */
	uint32_t domain_n;	/* domains have numbers below this; some may have no node */
	const int32_t *sums;	/* by domain */
	const int32_t *by_node; /* by node slot: the sum of its domain, 0 without one; NULL for large
				   domains */
	/* With by_node: the nodes of domain d are first[d], and from each one next[node], up to BT_NO_NODE;
	 * NULL: node d is domain d. */
	const uint32_t *first, *next;
	/* With by_node: the domains whose sums changed, newest last: entry i is
	 * journal[i % BT_DOMAIN_COUNTS_JOURNAL] for the last BT_DOMAIN_COUNTS_JOURNAL. */
	const uint32_t *journal;
	uint64_t journal_end;
	int64_t total;
	uint32_t counted_n; /* domains with a counted node */
	int32_t lowest;	    /* the smallest sum of such a domain; INT32_MAX: none */
};

enum bt_existing_affinity_term_kind {
	BT_EXISTING_AFFINITY_TERM_ANTI_AFFINITY = 0,
	BT_EXISTING_AFFINITY_TERM_AFFINITY,
	BT_EXISTING_AFFINITY_TERM_PREFERENCE /* for (weight above 0) or against (below 0) */
};

/* A pod affinity term of pods on nodes; equal terms are shared. */
struct bt_existing_affinity_term {
	enum bt_existing_affinity_term_kind kind;
	int32_t weight;
	int64_t pod_n;				      /* number of pods on nodes with the term */
	const struct bt_domain_counts *domain_counts; /* of them, by the term's topology key */
};

struct bt_namespace {
	uint32_t name;
	struct bt_labels labels;
	bool live;
};

/* Which nodes form a set. */
struct bt_node_query {
	const struct bt_signature *signature;
	bool by_affinity;     /* nodes that match its node selector and its required node affinity */
	bool by_taints;	      /* nodes without a taint that refuses new pods and that it does not tolerate */
	bool compare_numbers; /* of tolerations (bt_tolerates) */
	const uint32_t *keys; /* nodes with all these label keys */
	uint32_t key_n;
};

/*
 * Counts of pods that match a query. A counter, once requested, follows the ledger: adding or removing a pod
 * updates only the counters that it matches. Context of all functions: the scheduling thread, between writes
 * of the ledger; they may allocate.
 */
struct bt_counting {
	/* Incremented when a term may match a pod that no term matched before, or when a pod without default
	 * constraints may get some. */
	uint64_t version;
	uint64_t namespace_version, workload_version;
	uint64_t domains_version; /* incremented when domain counts and sets of nodes end: when slots move or
				     very many nodes change */
	void *context;

	/* Brings domain counts and sets of nodes up to the snapshot's changes. Every function below that
	 * returns some does it first. */
	void (*follow)(void *context);

	/* The counter of the pods that satisfy a query, which is copied. */
	uint32_t (*counter)(void *context, const struct bt_pod_query *query);

	/* The number of a set of nodes; equal queries share one. Valid until domains_version changes. 0: all
	 * live nodes. */
	uint32_t (*node_set)(void *context, const struct bt_node_query *query);

	/*
	 * A counter's pods by the domains of a topology key, counting the nodes of a set only; with the key
	 * BT_NAME_NONE each node is a domain. lacking: a node that lacks the key has it with the empty value.
	 * Valid until domains_version changes.
	 */
	const struct bt_domain_counts *(*domain_counts)(
		void *context, uint32_t counter, uint32_t key, uint32_t node_set, bool lacking);

	/* The existing affinity terms that match pods of a signature, n of them. Valid until the next call
	 * or change.
	 */
	const struct bt_existing_affinity_term *const *(*matching)(
		void *context, const struct bt_signature *signature, uint32_t *out_n);

	/*
	 * A pending pod's term with its namespace selector resolved to the current namespaces' names.
	 * unlabelled_takes_all: a selector that matches an empty label set selects every namespace.
	 * Valid until the next request for a counter.
	 */
	struct bt_pod_match (*resolve)(
		void *context, const struct bt_pod_term *term, bool unlabelled_takes_all);

	/* The selector of the Services and the owner of a signature's pods; valid until the next call. */
	struct bt_selector (*default_selector)(void *context, const struct bt_signature *signature);
};
