/* SPDX-License-Identifier: Apache-2.0
 * DefaultPreemption: which pods matter more, how many nodes are tried, and which of them is the best to
 * preempt on. Judges no nodes, so it is no struct bt_plugin; engine/flow/cycle/preempt runs it. Pure.
 */
#pragma once

#include "plugins/plugin.h"

struct bt_preemption_settings {
	int32_t min_candidate_nodes_percentage, min_candidate_nodes_absolute;
};

/* A pod that might have to go. */
struct bt_victim {
	uint32_t pod_ix;
	int32_t priority;
	int64_t start_ns; /* 0: it has not started, which counts as now */
	bool violates;	  /* its going would violate a disruption budget */
};

/* What preempting on a node costs. */
struct bt_preemption_cost {
	uint32_t violation_n, victim_n;
	int32_t highest;      /* priority of the most important victim */
	int64_t priority_sum; /* each raised by 2^31, so that none is negative */
	int64_t start_ns;     /* the earliest start among the victims of highest priority */
};

/* How many candidates are enough when so many nodes come into question. */
uint32_t bt_preemption_candidate_n(const struct bt_preemption_settings *settings, uint32_t node_n);

/*
 * Sorts by importance, the most important first: priority, then who started earlier. Equals end as they do
 * upstream when they are given in the order in which they are on their node.
 */
void bt_victims_sort(struct bt_victim *victims, uint32_t n);

/* Requires: n > 0. The first counts as the most important, as upstream has it. */
struct bt_preemption_cost bt_preemption_cost_of(
	const struct bt_victim *victims, uint32_t n, uint32_t violation_n);

/* Does a node cost less than another? False for equals. */
bool bt_preemption_cheaper(const struct bt_preemption_cost *a, const struct bt_preemption_cost *b);

/* The events at which a pod that waits for its victims is looked at again. */
#define BT_DEFAULT_PREEMPTION_EVENTS 1
extern const struct bt_registration bt_default_preemption_events[BT_DEFAULT_PREEMPTION_EVENTS];
