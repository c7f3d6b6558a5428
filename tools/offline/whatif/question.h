/* SPDX-License-Identifier: Apache-2.0
 * A question: changes of the cluster, in order, carried out in a transaction that is rolled back.
 *
 *   begin --steps: pods leave, nodes change, pods come--> place what waits --> next change ... --> answer
 *
 * After each change the pods that wait are placed as new ones, the most important first, then the oldest:
 * successors of displaced pods, new pods, and, once a change may have helped them, the pods that were pending
 * before. They preempt as kube-scheduler does; a preempted pod's successor waits behind pods of its priority.
 */
#pragma once

#include "tools/offline/simulate/loaded_cluster.h"
#include "tools/offline/whatif/answer.h"
#include "tools/offline/whatif/inventory.h"

enum bt_step_kind {
	BT_STEP_DRAIN,	    /* a node is cordoned, and its pods are evicted: budgets are asked */
	BT_STEP_LOSE,	    /* a node and its pods are gone */
	BT_STEP_NODE,	    /* a node is added or changed; taints may evict its pods */
	BT_STEP_ADD_POD,    /* a new pod, or another one in the place of one of that name */
	BT_STEP_DELETE_POD, /* a pod is deleted; its controller makes another one */
	BT_STEP_SCALE	    /* a workload has so many pods */
};

struct bt_step {
	enum bt_step_kind kind;
	uint32_t change_ix;		   /* steps of one change follow one another */
	struct bt_str namespace_, name;	   /* of the node or the pod */
	const struct bt_node_object *node; /* NODE */
	const struct bt_pod_object *pods;  /* ADD_POD: the pod; SCALE: pods for growing */
	size_t pod_n;
	uint64_t workload, replicas; /* SCALE */
	bool by_ordinal;	     /* SCALE: the highest ordinals leave first */
};

struct bt_question {
	const struct bt_step *const *steps;
	size_t step_n;
	bool tries_pending; /* some change may help pods that were pending */
	bool preempts;	    /* pods preempt */
	bool explains_all;  /* every pod that fits nowhere has its reason; otherwise the first one has */
};

/*
 * Answers a question. Afterwards the cluster is as before.
 * Owns: the answer belongs to arena.
 */
void bt_question_answer(struct bt_loaded_cluster *cluster, const struct bt_inventory *inventory,
	const struct bt_question *question, struct bt_arena *arena, struct bt_whatif_answer *out_answer);

/* Carries out what a step does to nodes, without pods, in the open transaction: for later steps that select
 * nodes. */
void bt_step_rehearse(struct bt_engine *engine, const struct bt_step *step);
