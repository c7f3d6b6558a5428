/* SPDX-License-Identifier: Apache-2.0
 * Stage 7 on a cluster: carries decisions to the API server. Bindings over several connections, within QPS
 * and burst and a number in flight; what volumes and claims need is written before; victims are deleted;
 * conditions, nominations and events follow, events last and budgeted. Every binding is answered to the
 * pipeline exactly once; lost responses by asking, or by what the watch shows.
 */
#pragma once

#include "engine/flow/pipeline.h"
#include "tools/net/http.h"
#include "tools/watch/watch.h"

struct bt_writer;

struct bt_writer_options {
	const struct bt_access *access;
	float qps; /* of all writes but events; < 0: no limit. As clientConnection.qps */
	uint32_t burst;
	uint32_t connections;  /* 0: 4 */
	uint32_t in_flight;    /* bindings at a time; 0: 256 */
	const char *host;      /* for reportingInstance */
	bool preempts_in_turn; /* the gate SchedulerAsyncPreemption is off */
	bool dry;	       /* writes nothing: every binding is answered as failed never, see --shadow */
	/* May something be written now? Asked right before each write, for leadership (I8). Context: the
	 * writer's thread. */
	bool (*may_write)(void *context);
	void *context;
};

/* Returns: NULL with the reason in out_error. Owns: bt_writer_destroy. */
struct bt_writer *bt_writer_create(const struct bt_writer_options *options, struct bt_buf *out_error);
void bt_writer_destroy(struct bt_writer *writer);

/* What a pipeline's options need; the pipeline outlives the writer's last call, and is told once. */
struct bt_pipeline_binder bt_writer_binder(struct bt_writer *writer);
struct bt_pipeline_sink bt_writer_sink(struct bt_writer *writer);
struct bt_watch_listener bt_writer_listener(struct bt_writer *writer);
void bt_writer_attach(struct bt_writer *writer, struct bt_pipeline *pipeline);

/* Waits until nothing is on its way, at most limit_ns. Returns: whether that is so. */
bool bt_writer_drain(struct bt_writer *writer, int64_t limit_ns);

struct bt_writer_counts {
	uint64_t bind_n, bound_n, conflict_n, not_found_n, throttled_n, server_error_n, lost_n;
	uint64_t evict_n, patch_n, patch_skipped_n, event_n, event_dropped_n, volume_n, claim_n;
	uint64_t fenced_n; /* not written, because who is not leader writes nothing */
	uint32_t in_flight, waiting;
};
struct bt_writer_counts bt_writer_counts(const struct bt_writer *writer);
