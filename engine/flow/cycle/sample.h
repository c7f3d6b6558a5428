/* SPDX-License-Identifier: Apache-2.0
 * How many nodes a cycle examines. Source: numFeasibleNodesToFind and findNodesThatFitPod, v1.36.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether cycles examine every node. */
enum bt_node_sampling {
	BT_SAMPLING_AS_CONFIGURED = 0, /* as upstream for profiles with a percentage; otherwise every node */
	BT_SAMPLING_NONE,	       /* every node, ignoring percentages */
	BT_SAMPLING_UPSTREAM	       /* as upstream; without a percentage it is adaptive */
};

/* Do cycles of a profile with that percentage sample the nodes? Context: any thread. */
bool bt_samples(enum bt_node_sampling sampling, int32_t percentage);

/*
 * How many feasible nodes among node_n end a cycle's search: a percentage of them, 0 for upstream's adaptive
 * one, with a minimum of 100. node_n or more: all of them. Context: any thread.
 */
uint32_t bt_feasible_nodes_to_find(int32_t percentage, uint32_t node_n);
