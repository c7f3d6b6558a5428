/* SPDX-License-Identifier: Apache-2.0
 * Stage 5: extenders, the programs beside the scheduler that a configuration names. A frontend speaks to
 * them; this calls it where upstream does: after Filter, when nodes are scored, and with the candidates of
 * preemption. Source: scheduler findNodesThatPassExtenders, prioritizeNodes, Evaluator.callExtenders,
 * v1.36.3.
 * Context: the scheduling thread, which waits for the answers.
 */
#pragma once

#include "cache/ingest.h"
#include "engine/flow/config/config.h"
#include "engine/flow/cycle/preempt.h"
#include "engine/score/evaluate.h"

/* What an extender is asked. Valid during the call. */
struct bt_extender_call {
	const struct bt_extender_config *extender;
	const struct bt_cache *cache;
	uint32_t pod_ix;
	/* To filter and prioritize: the nodes that fit so far. */
	const uint32_t *nodes;
	uint32_t node_n;
	/* To preempt: the candidates, the victims of each (victims + first_victim) the most important first.
	 */
	const struct bt_preempt_candidate *candidates;
	const struct bt_victim *victims;
	uint32_t candidate_n;
};

struct bt_extender_reply;

/*
 * A frontend's calls; each fills the reply by the functions below before it returns. NULL: no extender is
 * asked for that. An extender is asked only for what the configuration gives it a verb for.
 */
struct bt_extender_hooks {
	void (*filter)(void *context, const struct bt_extender_call *call, struct bt_extender_reply *reply);
	/* All that score a pod, at the same time: the i-th call and its reply. */
	void (*prioritize)(void *context, const struct bt_extender_call *calls, uint32_t n,
		struct bt_extender_reply *const *replies);
	void (*preempt)(void *context, const struct bt_extender_call *call, struct bt_extender_reply *reply);
	void *context;
	/* What was answered to a question on which a decision depends, for bt_extender_repeat; in the order
	 * of the questions. NULL: nobody keeps it. */
	void (*keep)(void *keeper, struct bt_str answer);
	void *keeper;
};

enum bt_extender_verb { BT_EXTENDER_FILTER = 0, BT_EXTENDER_PRIORITIZE, BT_EXTENDER_PREEMPT };

/* The call failed, with this error. What else the reply holds does not count. */
void bt_extender_fail(struct bt_extender_reply *reply, struct bt_str error);

/* To filter: the node still fits. It must be one of those that were asked about. */
void bt_extender_keep(struct bt_extender_reply *reply, struct bt_str node);

/* To filter: the nodes that are kept came as objects rather than by name. Upstream scores what has come,
 * which is nodes without pods and images. */
void bt_extender_keep_objects(struct bt_extender_reply *reply);

/*
 * To filter: why a node that is not kept does not fit, and whether preemption could help. Of a node that
 * was not asked about it counts instead of what a plugin has against it, and of one that there is not among
 * the reasons; a node that is neither kept nor refused does not fit for no reason.
 */
void bt_extender_refuse(
	struct bt_extender_reply *reply, struct bt_str node, bool unresolvable, struct bt_str message);

/* To prioritize: 0 to 10 points for a node; more for a node that has some. */
void bt_extender_score(struct bt_extender_reply *reply, struct bt_str node, int64_t score);

/* To preempt: a node stays a candidate, and its victims follow by their UIDs. */
void bt_extender_candidate(struct bt_extender_reply *reply, struct bt_str node, int64_t violation_n);
void bt_extender_victim(struct bt_extender_reply *reply, struct bt_str uid);

/* Says what was kept of an answer to this question, by the extender of that index in the configuration.
 * Returns: false: it is the answer to another question, or none. */
bool bt_extender_repeat(struct bt_extender_reply *reply, enum bt_extender_verb verb, uint32_t extender_ix,
	struct bt_str answer);

/* How a binding that an extender was asked for has ended. */
enum bt_extender_end {
	BT_EXTENDER_BOUND = 0,
	BT_EXTENDER_FAILED, /* the extender says so, or was not reached */
	BT_EXTENDER_LOST    /* no answer: it may have bound the pod */
};

struct bt_extender_calls;

/* The extenders of a configuration, those that may be ignored last. Owns: the caller, until
 * bt_extender_calls_destroy, which ends before config and cache. */
struct bt_extender_calls *bt_extender_calls_create(
	const struct bt_config *config, struct bt_cache *cache, const struct bt_extender_hooks *calls);
void bt_extender_calls_destroy(struct bt_extender_calls *extend);

/* Does any extender filter or prioritize? Then more than one node is looked for. */
bool bt_extender_calls_chooses(const struct bt_extender_calls *extend);

/* Begins a pod's cycle. Returns the hooks for its evaluation, or NULL when no extender that filters or scores
 * is interested in the pod. */
const struct bt_evaluation_hooks *bt_extender_calls_begin(struct bt_extender_calls *extend, uint32_t pod_ix);

/* The same for somebody who only looks: no decision depends on the answers. */
const struct bt_evaluation_hooks *bt_extender_calls_look(struct bt_extender_calls *extend, uint32_t pod_ix);

/* The same for the pod whose cycle has begun last: what an extender has said in it counts, and it is not
 * asked again when the question is the same. */
const struct bt_evaluation_hooks *bt_extender_calls_recall(struct bt_extender_calls *extend, uint32_t pod_ix);

/* Is an extender asked about the pod, for whatever? */
bool bt_extender_calls_interested(const struct bt_extender_calls *extend, uint32_t pod_ix);

/* Is an extender interested in whom the pod preempts? */
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
