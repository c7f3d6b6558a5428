/* SPDX-License-Identifier: Apache-2.0
 * Sampling: how many feasible nodes are enough.
 */
#include "engine/flow/cycle/sample.h"
#include "engine/base/check.h"

/* Upstream's minimum of feasible nodes to find, and minimum percentage. */
#define SAMPLE_NODES_MIN      100
#define SAMPLE_PERCENTAGE_MIN 5

uint32_t bt_feasible_nodes_to_find(int32_t percentage, uint32_t node_n)
{
	if (node_n < SAMPLE_NODES_MIN) {
		return node_n;
	}
	if (percentage == 0) {
		percentage = 50 - (int32_t)(node_n / 125);
		percentage = percentage < SAMPLE_PERCENTAGE_MIN ? SAMPLE_PERCENTAGE_MIN : percentage;
	}
	uint32_t n = (uint32_t)((uint64_t)node_n * (uint32_t)percentage / 100);
	BT_INVARIANT(percentage >= 0);
	return n < SAMPLE_NODES_MIN ? SAMPLE_NODES_MIN : n;
}

bool bt_samples(enum bt_node_sampling sampling, int32_t percentage)
{
	switch (sampling) {
	case BT_SAMPLING_NONE:
		return false;
	case BT_SAMPLING_UPSTREAM:
		return true;
	case BT_SAMPLING_AS_CONFIGURED:
		break;
	}
	return percentage > 0 && percentage < 100;
}
