/* SPDX-License-Identifier: Apache-2.0
 * Compares the nodes that decisions see with the API's: their names, and what is allocatable on them. As for
 * pods, it asks the server itself, page by page. A node that differs in the same way twice in a row
 * is counted and logged; the next event of the node, or a restart, mends it.
 * Context: one thread, which waits for the scheduling thread between two cycles and for the server.
 */
#pragma once

#include "engine/flow/pipeline/pipeline.h"
#include "tools/cluster/watch/pod_pages.h"

struct bt_node_comparer;

struct bt_node_comparer_options {
	struct bt_pipeline *pipeline;
	struct bt_pod_pages *pages; /* for nobody else; outlives it */
	int64_t interval_ns;	    /* between two rounds; 0: 30 s */
};

/* Owns: bt_node_comparer_destroy. */
struct bt_node_comparer *bt_node_comparer_create(const struct bt_node_comparer_options *options);
void bt_node_comparer_destroy(struct bt_node_comparer *comparer);

/* Asks for the next page, or compares, if it is time. now_ns: any clock that does not go back. */
void bt_node_comparer_look(struct bt_node_comparer *comparer, int64_t now_ns);

struct bt_node_comparer_counts {
	uint64_t round_n;    /* comparisons */
	uint64_t differ_n;   /* nodes that differed twice in the same way */
	uint64_t unlisted_n; /* lists that the server would not give to their end */
};

/* Context: any thread. */
struct bt_node_comparer_counts bt_node_comparer_counts(const struct bt_node_comparer *comparer);
