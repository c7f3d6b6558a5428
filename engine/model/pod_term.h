/* SPDX-License-Identifier: Apache-2.0
 * Pod (anti-)affinity terms and spread constraints, compiled to interned names. Source: kube-scheduler
 * framework AffinityTerm and plugins/podtopologyspread, v1.36.3.
 */
#pragma once

#include "engine/model/selector.h"

/* A condition on a pod: its namespace is one of these, and its labels match. */
struct bt_pod_match {
	const uint32_t *namespaces; /* ascending, each once */
	uint32_t namespace_n;
	bool any_namespace;
	struct bt_selector labels;
};

/* Pods for which all conditions hold. */
struct bt_pod_query {
	const struct bt_pod_match *items;
	uint32_t n;
	bool skip_terminating; /* pods that are being deleted do not count */
	bool trials_only;      /* pods count only when a trial adds or removes them; see bt_ledger_try */
};

/* A term of pod (anti-)affinity as in its owner's spec. */
struct bt_pod_term {
	struct bt_pod_match match;	       /* explicit namespaces; any_namespace is false */
	struct bt_selector namespace_selector; /* matches nothing when absent */
	uint32_t topology_key;
	int32_t weight; /* of a preferred term */
};

struct bt_pod_term_list {
	const struct bt_pod_term *items;
	uint32_t n;
};

/* A list with an invalid selector is empty, as in upstream's PodInfo. */
struct bt_pod_affinity {
	struct bt_pod_term_list affinity, anti_affinity;
	struct bt_pod_term_list preferred_affinity, preferred_anti_affinity;
	bool affinity_invalid, anti_affinity_invalid; /* these lists are invalid */
	bool has_preferred;			      /* the spec has preferred terms, valid or not */
	const char *error;			      /* upstream's error for invalid lists, or NULL */
};

enum bt_when_unsatisfiable {
	BT_SPREAD_UNKNOWN = 0, /* neither value: the constraint is ignored */
	BT_SPREAD_DO_NOT_SCHEDULE,
	BT_SPREAD_SCHEDULE_ANYWAY
};

struct bt_spread_constraint {
	enum bt_when_unsatisfiable when;
	int32_t max_skew, min_domains;
	uint32_t topology_key;
	bool honor_affinity, honor_taints;
	struct bt_selector selector;	  /* with the pod's values of matchLabelKeys */
	struct bt_selector bare_selector; /* without them: used when their gate is off */
	const char *error;		  /* why the selector is invalid, or NULL */
};

/* The kind of the controller that owns a pod, if spreading supports it. */
enum bt_owner_kind {
	BT_OWNER_NONE = 0,
	BT_OWNER_REPLICATION_CONTROLLER,
	BT_OWNER_REPLICA_SET,
	BT_OWNER_STATEFUL_SET
};

/*
 * Compiles the pod affinity of a pod of that namespace; NULL when it has none.
 * Context: the owner of held; text is scratch. Owns: the result lives in arena.
 */
const struct bt_pod_affinity *bt_pod_affinity_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_affinity_object *object, uint32_t namespace_, struct bt_buf *text);

/* Compiles a spread constraint of a pod with those labels. Context and Owns: as bt_pod_affinity_compile. */
void bt_spread_constraint_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_spread_constraint_object *object, struct bt_labels labels,
	struct bt_spread_constraint *out, struct bt_buf *text);

/* The kind and name of the controlling owner; the name is empty for BT_OWNER_NONE. Source: plugins/helper
 * spread.go. */
enum bt_owner_kind bt_pod_owner(const struct bt_meta_object *meta, struct bt_str *out_name);

/* Sorts names and removes duplicates. Returns their new number. */
uint32_t bt_names_sort(uint32_t *names, uint32_t n);

/* Do the conditions hold for a pod of that namespace with those labels? Pure. */
bool bt_pod_match_holds(const struct bt_intern *intern, const struct bt_pod_match *match, uint32_t namespace_,
	struct bt_labels labels);
bool bt_pod_query_holds(const struct bt_intern *intern, const struct bt_pod_query *query, uint32_t namespace_,
	struct bt_labels labels);

/* Does a selector select everything, as labels.Selector.Empty? */
static inline bool bt_selector_is_empty(const struct bt_selector *selector)
{
	return selector->n == 0 && !selector->nothing;
}
