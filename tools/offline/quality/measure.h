/* SPDX-License-Identifier: Apache-2.0
 * Measures of placement quality: utilization, stranded resources, and violated constraints. Reads an engine
 * between cycles.
 */
#pragma once

#include "engine/flow/cycle/engine.h"

/* What a pod requests on average, in the resources' units. */
struct bt_mean_pod {
	double milli_cpu, memory_bytes;
};

struct bt_quality {
	uint64_t pod_n, placed_n, unplaced_n; /* existing pods: on nodes, and pending */
	uint64_t node_n, used_node_n;	      /* used: with at least one pod */
	double cpu_used, memory_used;	      /* shares of the total */
	/*
	 * Stranded: free resources of a node after it is filled with average pods until cpu, memory or the
	 * number of pods is exhausted. Shares of the total.
	 */
	double cpu_stranded, memory_stranded;
	uint64_t room_n; /* number of average pods that would still fit */
	/* Spread constraints of pods on nodes, each once for all pods with the same specification. */
	uint64_t spread_n, spread_violated_n; /* violated: the skew is above maxSkew */
	double skew_excess;		      /* mean excess over maxSkew, over all constraints */
};

/* The average over all existing pods. */
struct bt_mean_pod bt_quality_mean_pod(const struct bt_engine *engine);

/* Measures the current cluster. mean: of the workload, so that clusters can be compared; gates: the
 * engine's. */
void bt_quality_measure(struct bt_engine *engine, const struct bt_mean_pod *mean,
	const struct bt_gates *gates, struct bt_quality *out);
