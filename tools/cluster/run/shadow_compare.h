/* SPDX-License-Identifier: Apache-2.0
 * Shadow mode's verdicts: is the node that another scheduler chose as good as ours? What every node is worth
 * is looked at right before the pod counts where it was bound, so that it is the cluster that the other one
 * knew: of many pods that come at once each is compared by what those before it have left.
 */
#pragma once

#include "engine/flow/cycle/engine.h"

struct bt_rival;

/* Owns: bt_rival_destroy. */
struct bt_rival *bt_rival_create(void);
void bt_rival_destroy(struct bt_rival *rival);

/* A pod's turn comes: as it will count on our node when it is shown on theirs, what nodes are worth is noted
 * now.
 * Context: the scheduling thread; scores every node. */
void bt_rival_look(struct bt_rival *rival, struct bt_engine *engine, uint32_t pod_ix);

enum bt_rival_verdict {
	BT_RIVAL_SAME = 0, /* the node that was chosen here, or the only best one */
	BT_RIVAL_TIED,	   /* one of several with the best score: chance decided */
	/* One with a lower score; but moments later each better one got a pod that had waited longer: it was
	 * decided before, and its binding overtaken on its way. */
	BT_RIVAL_CROSSED,
	BT_RIVAL_LOWER,	  /* one with a lower score: a sample of the nodes, or another state of the cluster */
	BT_RIVAL_REFUSED, /* one that is refused here */
	BT_RIVAL_VERDICT_N
};

/* As labels say them. */
const char *bt_rival_verdict_text(enum bt_rival_verdict verdict);

/*
 * A pod that waits, or is being bound here, is shown on a node: compares, counts, and logs what differs.
 * Whether a lower one was crossed is known later. Context: the scheduling thread, before the engine is told;
 * scores every node of a pod that waits.
 */
void bt_rival_judge(struct bt_rival *rival, struct bt_engine *engine, uint32_t pod_ix, struct bt_str node);

/* Counts and logs those that nothing has crossed by now (bt_clock_monotonic_ns). Context: any thread. */
void bt_rival_tick(struct bt_rival *rival, int64_t now_ns);

/* Logs once a minute how many pods there were of each verdict. now_ns: bt_clock_monotonic_ns. Context: one
 * thread. */
void bt_rival_report(struct bt_rival *rival, int64_t now_ns);

/* Concludes what is still in doubt, and says the same a last time. Context: that thread; nobody judges any
 * more. */
void bt_rival_report_end(struct bt_rival *rival);

/* How many pods there were of a verdict. Context: any thread. */
uint64_t bt_rival_count(const struct bt_rival *rival, enum bt_rival_verdict verdict);
