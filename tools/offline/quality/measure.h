/* SPDX-License-Identifier: Apache-2.0
 * How well pods are placed, in numbers: what is used, what is left that nobody can use, and constraints that
 * do not hold. Reads an engine between cycles.
 */
#pragma once

#include "engine/flow/cycle/engine.h"

/* What a pod requests on average, in the resources' units. */
struct bt_mean_pod {
	double milli_cpu, memory_bytes;
};

struct bt_quality {
	uint64_t pod_n, placed_n, unplaced_n; /* pods that are there: on nodes, and waiting */
	uint64_t node_n, used_node_n;	      /* used: by a pod at least */
	double cpu_used, memory_used;	      /* shares of what there is in all */
	/*
	 * Free, and no use: what is left on a node when it has been filled up with average pods until cpu,
	 * memory or the number of pods gives out. Shares of what there is in all.
	 */
	double cpu_stranded, memory_stranded;
	uint64_t room_n; /* so many average pods would still find room */
	/* Spread constraints of pods on nodes, each once for all pods with the same specification. */
	uint64_t spread_n, spread_violated_n; /* violated: the skew is above maxSkew */
	double skew_excess;		      /* by how much on average, over all constraints */
};

/* The average over all pods that are there. */
struct bt_mean_pod bt_quality_mean_pod(const struct bt_engine *engine);

/* Measures the cluster as it is. mean: of the workload, so that several clusters can be compared; gates: the
 * engine's. */
void bt_quality_measure(struct bt_engine *engine, const struct bt_mean_pod *mean,
	const struct bt_gates *gates, struct bt_quality *out);
