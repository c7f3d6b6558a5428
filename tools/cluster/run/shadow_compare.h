/* SPDX-License-Identifier: Apache-2.0
 * Shadow mode's verdicts: is the node that another scheduler chose as good as ours? Nodes are scored right
 * before the pod counts where it was bound, so in the state that the other scheduler saw: of many pods that
 * arrive at once, each is compared in the state that the earlier ones left.
 */
#pragma once

#include "engine/flow/cycle/engine.h"

struct bt_shadow_compare;

/* Owns: bt_shadow_compare_destroy. */
struct bt_shadow_compare *bt_shadow_compare_create(void);
void bt_shadow_compare_destroy(struct bt_shadow_compare *shadow);

/*
 * A cycle begins. The pod will count on our node when the other scheduler's binding is shown, so nodes are
 * scored now.
 * Context: the scheduling thread; scores every node.
 */
void bt_shadow_compare_score(struct bt_shadow_compare *shadow, struct bt_engine *engine, uint32_t pod_ix);

enum bt_shadow_compare_verdict {
	BT_SHADOW_COMPARE_SAME = 0, /* our node, or the only best one */
	BT_SHADOW_COMPARE_TIED,	    /* one of several with the best score: a random choice */
	/* A node with a lower score. But moments later each better node got a pod that had waited longer:
	 * that pod was scheduled before, and this binding was seen first. */
	BT_SHADOW_COMPARE_CROSSED,
	BT_SHADOW_COMPARE_LOWER,   /* a lower score: a sample of the nodes, or another state */
	BT_SHADOW_COMPARE_REFUSED, /* infeasible here */
	BT_SHADOW_COMPARE_VERDICT_N
};

/* As in metric labels. */
const char *bt_shadow_compare_verdict_text(enum bt_shadow_compare_verdict verdict);

/*
 * A pending pod, or one that is being bound here, is shown on a node: compares, counts, and logs differences.
 * Whether a lower score was crossed is known later.
 * Context: the scheduling thread, before the engine is updated; scores every node for a pending pod.
 */
void bt_shadow_compare_judge(
	struct bt_shadow_compare *shadow, struct bt_engine *engine, uint32_t pod_ix, struct bt_str node);

/* Counts and logs lower scores that nothing has crossed by now (bt_clock_monotonic_ns). Context: any
 * thread. */
void bt_shadow_compare_tick(struct bt_shadow_compare *shadow, int64_t now_ns);

/* Logs the number of pods per verdict once a minute. now_ns: bt_clock_monotonic_ns. Context: one thread. */
void bt_shadow_compare_report(struct bt_shadow_compare *shadow, int64_t now_ns);

/* Concludes open verdicts, and logs the numbers a last time. Context: that thread. Requires: no more calls of
 * bt_shadow_compare_judge. */
void bt_shadow_compare_report_end(struct bt_shadow_compare *shadow);

/* Number of pods with a verdict. Context: any thread. */
uint64_t bt_shadow_compare_count(
	const struct bt_shadow_compare *shadow, enum bt_shadow_compare_verdict verdict);
