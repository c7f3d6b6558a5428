/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: extenders, the external programs that a configuration names. A frontend calls them; this folder
 * calls the frontend where upstream calls extenders: after Filter, at scoring, and with the candidates of
 * preemption. Source: scheduler findNodesThatPassExtenders, prioritizeNodes, Evaluator.callExtenders,
 * v1.36.3.
 * Context: the scheduling thread, which waits for the replies.
 */
#pragma once

#include "cache/ingest.h"
#include "engine/flow/config/config.h"
#include "engine/flow/cycle/preempt.h"
#include "engine/score/evaluate.h"

/* A request to an extender. Valid during the call. */
struct bt_extender_call {
	const struct bt_extender_config *extender;
	const struct bt_cache *cache;
	uint32_t pod_ix;
	/* Filter and prioritize: the nodes that fit so far. */
	const uint32_t *nodes;
	uint32_t node_n;
	/* Preempt: the candidates, the victims of each (victims + first_victim) the most important first. */
	const struct bt_preempt_candidate *candidates;
	const struct bt_victim *victims;
	uint32_t candidate_n;
};

struct bt_extender_reply;

/*
 * A frontend's calls; each fills the reply with the functions below before it returns. NULL: no extender is
 * called for that verb. Extenders are called only for verbs that the configuration gives them.
 */
struct bt_extender_hooks {
	void (*filter)(void *context, const struct bt_extender_call *call, struct bt_extender_reply *reply);
	/* All extenders that score a pod, in parallel: the i-th call and its reply. */
	void (*prioritize)(void *context, const struct bt_extender_call *calls, uint32_t n,
		struct bt_extender_reply *const *replies);
	void (*preempt)(void *context, const struct bt_extender_call *call, struct bt_extender_reply *reply);
	void *context;
	/* Receives the record of each reply that a decision depends on, for bt_extender_repeat, in the order
	 * of the requests. NULL: no record. */
	void (*keep)(void *keeper, struct bt_str answer);
	void *keeper;
};

enum bt_extender_verb { BT_EXTENDER_FILTER = 0, BT_EXTENDER_PRIORITIZE, BT_EXTENDER_PREEMPT };

/* The call failed with this error. The rest of the reply is ignored. */
void bt_extender_fail(struct bt_extender_reply *reply, struct bt_str error);

/* Filter: the node still fits. The node must be in the request. */
void bt_extender_keep(struct bt_extender_reply *reply, struct bt_str node);

/* Filter: kept nodes were returned as objects, not by name. Upstream scores the returned objects, which have
 * neither pods nor images. */
void bt_extender_keep_objects(struct bt_extender_reply *reply);

/*
 * Filter: why a node is not kept, and whether preemption could help. The refusal of a node outside the
 * request replaces a plugin's; that of an unknown node is added to the reasons. A node that is neither kept
 * nor refused does not fit, without a reason.
 */
void bt_extender_refuse(
	struct bt_extender_reply *reply, struct bt_str node, bool unresolvable, struct bt_str message);

/* Prioritize: 0 to 10 points for a node; repeated calls add up. */
void bt_extender_score(struct bt_extender_reply *reply, struct bt_str node, int64_t score);

/* Preempt: a node stays a candidate; its victims follow by UID. */
void bt_extender_candidate(struct bt_extender_reply *reply, struct bt_str node, int64_t violation_n);
void bt_extender_victim(struct bt_extender_reply *reply, struct bt_str uid);

/* Fills a reply from the record of one to the same request, by the extender of that index in the
 * configuration. Returns: false when the record is of another request, or damaged. */
bool bt_extender_repeat(struct bt_extender_reply *reply, enum bt_extender_verb verb, uint32_t extender_ix,
	struct bt_str answer);

/* The result of a binding by an extender. */
enum bt_extender_end {
	BT_EXTENDER_BOUND = 0,
	BT_EXTENDER_FAILED, /* the extender reports a failure, or was not reached */
	BT_EXTENDER_LOST    /* no answer: it may have bound the pod */
};

struct bt_extender_calls;

/* The extenders of a configuration, ignorable ones last. Owns: the caller, until bt_extender_calls_destroy,
 * which precedes the end of config and cache. */
struct bt_extender_calls *bt_extender_calls_create(
	const struct bt_config *config, struct bt_cache *cache, const struct bt_extender_hooks *calls);
void bt_extender_calls_destroy(struct bt_extender_calls *extend);

/* Does any extender filter or prioritize? Then a cycle needs more than one node. */
bool bt_extender_calls_chooses(const struct bt_extender_calls *extend);

/* Begins a pod's cycle. Returns: the hooks for its evaluation, or NULL when no extender that filters or
 * scores is interested in the pod. */
const struct bt_evaluation_hooks *bt_extender_calls_begin(struct bt_extender_calls *extend, uint32_t pod_ix);

/* The same for an explanation: no decision depends on the replies. */
const struct bt_evaluation_hooks *bt_extender_calls_explain(
	struct bt_extender_calls *extend, uint32_t pod_ix);

/* The same for the pod of the last cycle: reuses that cycle's reply to the same request. */
const struct bt_evaluation_hooks *bt_extender_calls_recall(struct bt_extender_calls *extend, uint32_t pod_ix);

/* Is any extender interested in the pod, for any verb? */
bool bt_extender_calls_interested(const struct bt_extender_calls *extend, uint32_t pod_ix);

/* Is an extender interested in the pod's preemption? */
bool bt_extender_calls_preempts(const struct bt_extender_calls *extend, uint32_t pod_ix);

/* The extender that binds the pod instead of the API server, or NULL. There is one with that verb at most.
 * Source: extendersBinding, v1.36.3. */
const struct bt_extender_config *bt_extender_calls_binder(
	const struct bt_extender_calls *extend, uint32_t pod_ix);

/*
 * Lets extenders reduce preemption's candidates and their victims.
 * Returns: false with upstream's text appended to out_error; else preemption->candidates are what is left.
 */
bool bt_extender_calls_candidates(struct bt_extender_calls *extend, uint32_t pod_ix,
	struct bt_preemption *preemption, struct bt_buf *out_error);
