/* SPDX-License-Identifier: Apache-2.0
 * Shadow mode's verdicts: is the node that another scheduler chose as good as ours? What every node is worth
 * is looked at right before the pod counts where it was bound, so that it is the cluster that the other one
 * knew: of many pods that come at once each is compared by what those before it have left.
 */
#pragma once

#include "engine/flow/cycle/engine.h"

struct bt_shadow_compare;

/* Owns: bt_shadow_compare_destroy. */
struct bt_shadow_compare *bt_shadow_compare_create(void);
void bt_shadow_compare_destroy(struct bt_shadow_compare *shadow);

/* A pod's turn comes: as it will count on our node when it is shown on theirs, what nodes are worth is noted
 * now.
 * Context: the scheduling thread; scores every node. */
void bt_shadow_compare_look(struct bt_shadow_compare *shadow, struct bt_engine *engine, uint32_t pod_ix);

enum bt_shadow_compare_verdict {
	BT_SHADOW_COMPARE_SAME = 0, /* the node that was chosen here, or the only best one */
	BT_SHADOW_COMPARE_TIED,	    /* one of several with the best score: chance decided */
	/* One with a lower score; but moments later each better one got a pod that had waited longer: it was
	 * decided before, and its binding overtaken on its way. */
	BT_SHADOW_COMPARE_CROSSED,
	BT_SHADOW_COMPARE_LOWER,   /* a lower score: a sample of the nodes, or another state */
	BT_SHADOW_COMPARE_REFUSED, /* one that is refused here */
	BT_SHADOW_COMPARE_VERDICT_N
};

/* As labels say them. */
const char *bt_shadow_compare_verdict_text(enum bt_shadow_compare_verdict verdict);

/*
 * A pod that waits, or is being bound here, is shown on a node: compares, counts, and logs what differs.
 * Whether a lower one was crossed is known later. Context: the scheduling thread, before the engine is
 * updated; scores every node of a pod that waits.
 */
void bt_shadow_compare_judge(
	struct bt_shadow_compare *shadow, struct bt_engine *engine, uint32_t pod_ix, struct bt_str node);

/* Counts and logs those that nothing has crossed by now (bt_clock_monotonic_ns). Context: any thread. */
void bt_shadow_compare_tick(struct bt_shadow_compare *shadow, int64_t now_ns);

/* Logs once a minute how many pods there were of each verdict. now_ns: bt_clock_monotonic_ns. Context: one
 * thread. */
void bt_shadow_compare_report(struct bt_shadow_compare *shadow, int64_t now_ns);

/* Concludes what is still in doubt, and says the same a last time. Context: that thread; nobody judges any
 * more. */
void bt_shadow_compare_report_end(struct bt_shadow_compare *shadow);

/* How many pods there were of a verdict. Context: any thread. */
uint64_t bt_shadow_compare_count(
	const struct bt_shadow_compare *shadow, enum bt_shadow_compare_verdict verdict);
