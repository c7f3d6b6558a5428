/* SPDX-License-Identifier: Apache-2.0
 * Utilization of a cluster: per resource over its nodes, per zone, and unusable resources.
 */
#pragma once

#include "cache/ingest.h"

/* One resource over the live nodes that have any of it. Shares are of a node's allocatable, 0 to 1 (more when
 * over-committed). */
struct bt_utilization {
	struct bt_str name;
	uint32_t slot; /* BT_FIRST_RARE: the pod count; rare resources are omitted */
	uint64_t node_n;
	double used, allocatable; /* sums, in the resource's unit (cpu: thousandths) */
	double mean, p50, p99, highest;
};

struct bt_zone_utilization {
	struct bt_str name; /* empty: nodes without a zone */
	uint64_t node_n, pod_n;
	double cpu_used, cpu, memory_used, memory; /* sums: thousandths, bytes */
};

struct bt_cluster_utilization {
	struct bt_utilization *resources;
	size_t resource_n;
	struct bt_zone_utilization *zones; /* in order of name */
	size_t zone_n;
	uint64_t empty_node_n; /* nodes without a pod */
	uint64_t full_node_n;  /* nodes with less than 1 % left of pods, cpu or memory */
};

/* Measures the current cluster. Owns: bt_utilization_fini. */
void bt_utilization_measure(const struct bt_cache *cache, struct bt_cluster_utilization *out);
void bt_utilization_fini(struct bt_cluster_utilization *utilization);

/* Would the free resources of node_n nodes together (nodes NULL: of all live ones) hold one more pod with
 * these requests? */
bool bt_utilization_sum_fits(const struct bt_cache *cache, const struct bt_signature *signature,
	const uint32_t *nodes, uint32_t node_n);

/* Appends an amount of a resource as people write it: cores, bytes with a binary suffix, or a plain
 * number. */
void bt_amount_text(struct bt_str resource, double amount, struct bt_buf *out);
