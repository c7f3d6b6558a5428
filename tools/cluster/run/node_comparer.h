/* SPDX-License-Identifier: Apache-2.0
 * Compares the scheduler's nodes with the API's: their names and allocatable. As for pods, it lists them
 * itself, page by page. A node with the same difference twice in a row is counted and logged; the next event
 * of the node, or a restart, repairs it.
 * Context: one thread, which waits for the scheduling thread between two cycles and for the server.
 */
#pragma once

#include "engine/flow/pipeline/pipeline.h"
#include "tools/cluster/watch/pod_pages.h"

struct bt_node_comparer;

struct bt_node_comparer_options {
	struct bt_pipeline *pipeline;
	struct bt_pod_pages *pages; /* not shared; outlives it */
	int64_t interval_ns;	    /* between two rounds; 0: 30 s */
};

/* Owns: bt_node_comparer_destroy. */
struct bt_node_comparer *bt_node_comparer_create(const struct bt_node_comparer_options *options);
void bt_node_comparer_destroy(struct bt_node_comparer *comparer);

/* Requests the next page, or compares, when it is due. now_ns: any monotonic clock. */
void bt_node_comparer_tick(struct bt_node_comparer *comparer, int64_t now_ns);

struct bt_node_comparer_counts {
	uint64_t round_n;    /* comparisons */
	uint64_t differ_n;   /* nodes with the same difference twice in a row */
	uint64_t unlisted_n; /* lists that were not completed */
};

/* Context: any thread. */
struct bt_node_comparer_counts bt_node_comparer_counts(const struct bt_node_comparer *comparer);
