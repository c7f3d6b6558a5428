/* SPDX-License-Identifier: Apache-2.0
 * Stage 7 on a cluster: sends decisions to the API server. Bindings over several connections, limited by QPS,
 * burst and the number in flight; writes of volumes and claims come before; victims are deleted; conditions,
 * nominations and events follow, events last and with a budget. Every binding is answered to the pipeline
 * exactly once; a lost response is resolved by reading the pod, or by the watch.
 *
 * All of it is a state machine on the thread of an HTTP client. Pipeline threads post requests and never
 * wait. Unanswered bindings and evictions are bounded by the pipeline (limits.bindings); a few hundred
 * bindings may wait to be sent (the binder's has_room). Reports about refused pods are bounded by the writer,
 * which drops the newest when there are too many.
 *
 * Source: kube-scheduler's schedule_one.go, plugins defaultbinder, volumebinding and dynamicresources,
 * framework/preemption/executor.go, backend/api_dispatcher, v1.36.3; client-go's tools/events, v0.36.3.
 */
#pragma once

#include "engine/base/clock.h"
#include "engine/flow/pipeline/pipeline.h"
#include "tools/cluster/net/http.h"
#include "tools/cluster/watch/watch.h"
#include "tools/cluster/write/device_waits.h"

struct bt_writer;

struct bt_writer_options {
	struct bt_client_config *access;
	/* Limits of all writes but events, and the same again for events; as clientConnection has them. qps
	 * 0: 50, < 0: no limit; burst 0: 100. */
	float qps;
	uint32_t burst;
	uint32_t connections; /* 0: 4 */
	uint32_t in_flight;   /* limit of concurrent writes, 32 or more by latency; 0: 256 */
	/* reports: limit of cycles to report, 0: 16384; the new one is dropped. events: limit of events that
	 * wait to be written, some 200 bytes each, 0: 65536; the oldest one is dropped. */
	uint32_t reports, events;
	/* Limit of memory for events that wait, or are kept for a series; 0: 32 MiB. Kept events are dropped
	 * first, then the oldest that waits. */
	size_t event_bytes;
	bool json;		 /* clientConnection.contentType is JSON; else protobuf where it is smaller */
	const char *host;	 /* for reportingInstance; NULL: this machine's name */
	bool configs_stand_once; /* BT_RULE_CONFIGS_STAND_ONCE */
	bool devices_map_alone;	 /* BT_RULE_DEVICES_MAP_ALONE */
	bool preempts_in_turn;	 /* the gate SchedulerAsyncPreemption is off */
	bool nominates_waiting;	 /* the gate NominatedNodeNameForExpectation is on */
	int64_t bind_timeout_ns; /* how long a binding is retried; 0: 30 s. The pipeline's limit */
	int64_t volume_timeout_ns; /* VolumeBinding's bindTimeoutSeconds; 0: 600 s */
	int64_t device_timeout_ns; /* DynamicResources' bindingTimeout; 0: 600 s */
	/*
	 * Shadow mode: nothing is written. A binding is answered when the watch shows where another scheduler
	 * has put the pod: as bound if that is the same node, as failed a moment later otherwise.
	 */
	bool dry;
	/* Whether a write is allowed now, for leadership (I8). Called right before each write. NULL: always.
	 * Context: the writer's thread. */
	bool (*may_write)(void *context);
	void *context;
	/* Calls an extender to bind a pod; done is called once, on any thread; error is empty when it is
	 * bound. NULL: extenders bind nothing. */
	void (*extender_bind)(void *extender_context, const struct bt_extender_config *extender,
		const struct bt_pod_ref *pod, struct bt_str node,
		void (*done)(void *context, enum bt_extender_end end, struct bt_str error), void *context);
	void *extender_context;
	struct bt_clock wall, steady; /* for tests; now_ns == NULL: the machine's */
};

/* Returns: NULL with the reason in out_error. Owns: bt_writer_destroy. */
struct bt_writer *bt_writer_create(const struct bt_writer_options *options, struct bt_buf *out_error);

/*
 * Ends it. Bindings that were not sent are answered as failed, those that may have had an effect as unknown.
 * Requires: no more calls of binder, sink or listener; the pipeline still exists.
 */
void bt_writer_destroy(struct bt_writer *writer);

/* The parts for a pipeline's options and a watch. */
struct bt_pipeline_binder bt_writer_binder(struct bt_writer *writer);
struct bt_pipeline_sink bt_writer_sink(struct bt_writer *writer);
struct bt_watch_listener bt_writer_listener(struct bt_writer *writer);

/* Sets the pipeline, which outlives the writer. Requires: before any of those is called. */
void bt_writer_attach(struct bt_writer *writer, struct bt_pipeline *pipeline);

/*
 * Starts the shutdown. Bindings, evictions and claims that were not sent are answered as failed; lost calls
 * are followed up; events and patches are sent for reports_ns, with one try.
 * Context: not the writer's thread.
 */
void bt_writer_shutdown(struct bt_writer *writer, int64_t reports_ns);

/* Waits until nothing is in flight, at most limit_ns. Returns: whether that is so. Context: not the writer's
 * thread. */
bool bt_writer_drain(struct bt_writer *writer, int64_t limit_ns);

/* Outcomes of waits for devices. Context: any thread. */
void bt_writer_each_device_wait(const struct bt_writer *writer,
	void (*call)(void *context, const struct bt_device_series *series), void *context);

/* X(name, words) */
#define BT_WRITER_COUNTS(X)                                                                                  \
	X(bind_n, "bindings that were sent, again ones included")                                            \
	X(extender_bind_n, "bindings sent to an extender")                                                   \
	X(bound_n, "bindings that have come about")                                                          \
	X(failed_n, "bindings that have not")                                                                \
	X(again_n, "writes that were sent again")                                                            \
	X(conflict_n, "answers 409")                                                                         \
	X(not_found_n, "answers 404")                                                                        \
	X(throttled_n, "answers 429")                                                                        \
	X(server_error_n, "answers 5xx")                                                                     \
	X(unsent_n, "writes that did not reach the server")                                                  \
	X(lost_n, "writes whose answer did not come")                                                        \
	X(confirm_n, "checks of the outcome of a write")                                                     \
	X(unsure_n, "bindings given up with an unknown outcome")                                             \
	X(evict_n, "victims that were to be deleted")                                                        \
	X(evict_failed_n, "victims that could not be deleted")                                               \
	X(patch_n, "status patches that were sent")                                                          \
	X(patch_skipped_n, "status patches that a newer one replaced, or that would have changed nothing")   \
	X(patch_failed_n, "status patches that were refused")                                                \
	X(event_n, "events that were sent, series included")                                                 \
	X(event_repeated_n, "events that were counted in a series")                                          \
	X(event_dropped_n, "events that were not sent: too many, or refused")                                \
	X(event_forgotten_n, "events that were sent and forgotten early: seen again, they are others")       \
	X(report_dropped_n, "cycles of which nothing was said: too many")                                    \
	X(volume_n, "volumes and claims that were written for a binding")                                    \
	X(claim_n, "resource claims that were written for a binding")                                        \
	X(volume_failed_n, "bindings that failed for their volumes")                                         \
	X(claim_created_n, "resource claims that were made for extended resources")                          \
	X(claim_uncreated_n, "those that could not be made")                                                 \
	X(fenced_n, "writes skipped because this process is not the leader (I8)")

struct bt_writer_counts {
#define X(name, words) uint64_t name;
	BT_WRITER_COUNTS(X)
#undef X
	uint32_t in_flight, waiting; /* calls in flight, and writes that wait */
};

/* Context: any thread; the numbers may be of slightly different times. */
struct bt_writer_counts bt_writer_counts(const struct bt_writer *writer);
