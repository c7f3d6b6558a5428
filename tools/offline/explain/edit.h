/* SPDX-License-Identifier: Apache-2.0
 * Changes that could make a pod fit: of the pod's own specification, of nodes, of other pods. Their order is
 * their cost: the first kinds are the cheapest.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/model/object.h"

enum bt_explain_kind {
	BT_EXPLAIN_GATES = 0,	    /* remove the scheduling gates */
	BT_EXPLAIN_WAIT,	    /* terminating pods end by themselves */
	BT_EXPLAIN_TOLERATE,	    /* tolerate a taint */
	BT_EXPLAIN_REQUEST,	    /* lower a request */
	BT_EXPLAIN_SPREAD,	    /* raise maxSkew, or do not insist on it */
	BT_EXPLAIN_SELECTOR,	    /* drop a key of nodeSelector */
	BT_EXPLAIN_EXPRESSION,	    /* drop an expression of required node affinity */
	BT_EXPLAIN_NODE_AFFINITY,   /* drop required node affinity */
	BT_EXPLAIN_AFFINITY,	    /* drop a required term of pod affinity */
	BT_EXPLAIN_ANTI_AFFINITY,   /* drop one of pod anti-affinity */
	BT_EXPLAIN_PORT,	    /* drop a host port */
	BT_EXPLAIN_VOLUME,	    /* drop a volume: says what stops the pod, and is no fix */
	BT_EXPLAIN_UNCORDON,	    /* make a node schedulable again */
	BT_EXPLAIN_EVICT,	    /* evict pods of lower priority */
	BT_EXPLAIN_ADD_NODE,	    /* add a node like another one */
	BT_EXPLAIN_EVICT_FORBIDDEN, /* evict pods against a disruption budget */
	BT_EXPLAIN_KINDS
};

/* Which list of the pod has the resources. */
enum bt_explain_holder { BT_EXPLAIN_CONTAINER = 0, BT_EXPLAIN_INIT_CONTAINER, BT_EXPLAIN_POD_LEVEL };

struct bt_explain_edit {
	enum bt_explain_kind kind;
	enum bt_explain_holder holder; /* of a request */
	uint32_t container;	       /* of a request or port */
	uint32_t item;		       /* which request, constraint, key, term, port or volume */
	uint32_t expression;	       /* of a term of node affinity */
	int64_t amount; /* the new request, in thousandths of cpu or whole units; maxSkew, 0: no limit */
	double lowered; /* of a request: by which share */
	struct bt_taint_object taint;	   /* TOLERATE */
	const struct bt_node_object *node; /* ADD_NODE: one like it */
	uint32_t node_ix;		   /* UNCORDON */
	struct bt_str node_name;	   /* UNCORDON, ADD_NODE */
	const uint32_t *pod_ixs;	   /* WAIT, EVICT */
	uint32_t pod_n, violation_n;	   /* EVICT: that violate a disruption budget */
};

/* Does the edit change the pod's own specification? */
bool bt_explain_is_of_pod(enum bt_explain_kind kind);

/* The cost: cheaper is negative. Kinds come first, then how much. */
int bt_explain_edit_cmp(const struct bt_explain_edit *a, const struct bt_explain_edit *b);

/* Sorts edits so that none moves what a later one refers to. */
void bt_explain_edits_sort(struct bt_explain_edit *edits, size_t n);

/* Makes out a copy of the pod with the edits of its specification; parts that change are in arena. Requires:
 * the edits are sorted. */
void bt_explain_edits_apply(const struct bt_explain_edit *edits, size_t n, const struct bt_pod_object *pod,
	struct bt_arena *arena, struct bt_pod_object *out);

/* The resources that a request is in, and the request; names as in the API. */
const struct bt_named_quantity *bt_explain_request_of(
	const struct bt_pod_object *pod, const struct bt_explain_edit *edit);

/* The unit in which a request is lowered: 1m of cpu, 1Mi of bytes, a page, or 1. In its edit's amounts. */
int64_t bt_explain_step(struct bt_str resource);

/* The request in an edit's amounts, and the amount as a quantity. */
int64_t bt_explain_amount_of(const struct bt_named_quantity *request);
struct bt_quantity bt_explain_quantity_of(struct bt_str resource, int64_t amount);

/* Appends what to do, for people. pods: the names of the edit's pods. */
void bt_explain_edit_text(const struct bt_explain_edit *edit, const struct bt_pod_object *pod,
	struct bt_str pods, struct bt_buf *out);

/* Appends what the pod demands here and the node does not have, for people; of a request by how much. */
void bt_explain_edit_lack(
	const struct bt_explain_edit *edit, const struct bt_pod_object *pod, struct bt_buf *out);

/* Appends a JSON patch (RFC 6902) with the edits of the pod; nothing if there are none. Requires: sorted. */
void bt_explain_edits_patch(
	const struct bt_explain_edit *edits, size_t n, const struct bt_pod_object *pod, struct bt_buf *out);

/* "toleration", "request", … */
const char *bt_explain_kind_name(enum bt_explain_kind kind);
