/* SPDX-License-Identifier: Apache-2.0
 * Compares the ledger with the API's objects while the scheduler works (I4). It does not rely on the
 * reflectors, which may have decoded something wrongly: it lists the pods itself, page by page, in the
 * background. A difference that is the same twice in a row is not an event in flight but an error: it is
 * counted, logged once with both views, and repaired by the server's state of each such pod.
 * Context: one thread, which waits for the scheduling thread between two cycles and for the server.
 */
#pragma once

#include "engine/flow/pipeline/pipeline.h"
#include "tools/cluster/watch/pod_pages.h"

struct bt_cache_comparer;

struct bt_cache_comparer_options {
	struct bt_pipeline *pipeline;
	struct bt_pod_pages *pages; /* outlives it */
	int64_t interval_ns;	    /* between two rounds; 0: 30 s. A difference is checked again after 2 s */
};

/* Owns: bt_cache_comparer_destroy. */
struct bt_cache_comparer *bt_cache_comparer_create(const struct bt_cache_comparer_options *options);
void bt_cache_comparer_destroy(struct bt_cache_comparer *comparer);

/* Requests the next page, or compares, when it is due. now_ns: any monotonic clock. */
void bt_cache_comparer_tick(struct bt_cache_comparer *comparer, int64_t now_ns);

struct bt_cache_comparer_counts {
	uint64_t round_n;    /* comparisons */
	uint64_t differ_n;   /* nodes with a lasting difference */
	uint64_t repaired_n; /* pods for which the engine got the server's state */
	uint64_t failed_n;   /* pods that could not be read from the server */
	uint64_t unlisted_n; /* lists that were not completed */
};

/* Context: any thread. */
struct bt_cache_comparer_counts bt_cache_comparer_counts(const struct bt_cache_comparer *comparer);
