/* SPDX-License-Identifier: Apache-2.0
 * Compares the ledger with the API's objects while the scheduler works (I4). What differs in the same way
 * twice in a row is no event on its way but a mistake: it is counted, logged once with both views, and
 * repaired by what the server says of each pod in question.
 * Context: one thread, which waits for the scheduling thread between two cycles and for the server.
 */
#pragma once

#include "engine/flow/pipeline.h"
#include "tools/watch/watch.h"

struct bt_audit;

struct bt_audit_options {
	struct bt_pipeline *pipeline;
	struct bt_watch *watch;
	/* bt_watch_each_pod; a test puts another one there. */
	void (*each_pod)(struct bt_watch *watch, void (*call)(void *context, const struct bt_watch_pod *pod),
		void *context);
	/*
	 * Asks the server for a pod. Returns: its status, 200 or 404 for instance, 0 when it did not answer;
	 * of 200 the pod's JSON in out_text.
	 */
	uint32_t (*fetch)(
		void *context, struct bt_str namespace_, struct bt_str name, struct bt_buf *out_text);
	void *context;
	int64_t interval_ns; /* between two comparisons; 0: 30 s. What differs is looked at again after 2 s */
};

/* Owns: bt_audit_destroy. */
struct bt_audit *bt_audit_create(const struct bt_audit_options *options);
void bt_audit_destroy(struct bt_audit *audit);

/* Compares if it is time. now_ns: any clock that does not go back. */
void bt_audit_look(struct bt_audit *audit, int64_t now_ns);

struct bt_audit_counts {
	uint64_t round_n;    /* comparisons */
	uint64_t differ_n;   /* nodes that were found to differ for good */
	uint64_t repaired_n; /* pods that the engine was told about anew */
	uint64_t failed_n;   /* pods of which the server would not tell */
};

/* Context: any thread. */
struct bt_audit_counts bt_audit_counts(const struct bt_audit *audit);
