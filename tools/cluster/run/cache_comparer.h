/* SPDX-License-Identifier: Apache-2.0
 * Compares the ledger with the API's objects while the scheduler works (I4). It does not ask the readers,
 * who may have misread what the ledger has: it lists the pods itself, page by page, at leisure. What differs
 * in the same way twice in a row is no event on its way but a mistake: it is counted, logged once with both
 * views, and repaired by what the server says of each pod in question.
 * Context: one thread, which waits for the scheduling thread between two cycles and for the server.
 */
#pragma once

#include "engine/flow/pipeline/pipeline.h"
#include "tools/cluster/watch/pod_pages.h"

struct bt_cache_comparer;

struct bt_cache_comparer_options {
	struct bt_pipeline *pipeline;
	struct bt_pod_pages *pages; /* outlives it */
	int64_t interval_ns; /* between two rounds; 0: 30 s. What differs is looked at again after 2 s */
};

/* Owns: bt_cache_comparer_destroy. */
struct bt_cache_comparer *bt_cache_comparer_create(const struct bt_cache_comparer_options *options);
void bt_cache_comparer_destroy(struct bt_cache_comparer *comparer);

/* Asks for the next page, or compares, if it is time. now_ns: any clock that does not go back. */
void bt_cache_comparer_look(struct bt_cache_comparer *comparer, int64_t now_ns);

struct bt_cache_comparer_counts {
	uint64_t round_n;    /* comparisons */
	uint64_t differ_n;   /* nodes that were found to differ for good */
	uint64_t repaired_n; /* pods that the engine was shown again */
	uint64_t failed_n;   /* pods of which the server would not tell */
	uint64_t unlisted_n; /* lists that the server would not give to their end */
};

/* Context: any thread. */
struct bt_cache_comparer_counts bt_cache_comparer_counts(const struct bt_cache_comparer *comparer);
