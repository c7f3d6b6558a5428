/* SPDX-License-Identifier: Apache-2.0
 * How many nodes a cycle looks at. Source: numFeasibleNodesToFind and findNodesThatFitPod, v1.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether cycles look at every node. */
enum bt_node_sampling {
	BT_SAMPLING_AS_CONFIGURED = 0, /* as upstream for profiles with a percentage; others see every node */
	BT_SAMPLING_NONE,	       /* every node, whatever the percentage */
	BT_SAMPLING_UPSTREAM	       /* as upstream; no percentage means an adaptive one */
};

/* Do cycles of a profile with that percentage look at a sample of the nodes? Context: any thread. */
bool bt_samples(enum bt_node_sampling sampling, int32_t percentage);

/*
 * How many feasible nodes are enough among node_n nodes: a percentage of them, 0 for upstream's adaptive one,
 * but a hundred at least. node_n or more means all of them. Context: any thread.
 */
uint32_t bt_feasible_nodes_to_find(int32_t percentage, uint32_t node_n);
