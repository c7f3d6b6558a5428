/* SPDX-License-Identifier: Apache-2.0
 * Shadow mode's verdicts: is the node that another scheduler chose as good as ours? What every node was worth
 * is noted when a pod's turn comes, and looked up when the watch shows where the pod went.
 */
#pragma once

#include "engine/flow/engine.h"
#include "tools/write/writer.h"

/* Pods whose turn has come and that nobody has bound yet; of more the oldest are forgotten. */
#define BT_RIVAL_PODS 1024

struct bt_rival;

/* Owns: bt_rival_destroy. */
struct bt_rival *bt_rival_create(void);
void bt_rival_destroy(struct bt_rival *rival);

/* A pod's turn comes. Context: the scheduling thread; scores every node. */
void bt_rival_look(struct bt_rival *rival, struct bt_engine *engine, uint32_t pod_ix);

enum bt_rival_verdict {
	BT_RIVAL_SAME = 0, /* the same node */
	BT_RIVAL_TIED,	   /* another one with the same score: chance decided */
	BT_RIVAL_LOWER,	  /* one with a lower score: a sample of the nodes, or another state of the cluster */
	BT_RIVAL_REFUSED, /* one that is refused here */
	BT_RIVAL_UNKNOWN, /* its turn had not come here, or is forgotten by now */
	BT_RIVAL_VERDICT_N
};

/* As labels say them. */
const char *bt_rival_verdict_text(enum bt_rival_verdict verdict);

/* Compares, counts, and logs what differs. Context: the writer's thread. */
enum bt_rival_verdict bt_rival_judge(struct bt_rival *rival, const struct bt_writer_judgement *judgement);

/* How many pods there were of a verdict. Context: any thread. */
uint64_t bt_rival_count(const struct bt_rival *rival, enum bt_rival_verdict verdict);
