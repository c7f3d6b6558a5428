/* SPDX-License-Identifier: Apache-2.0
 * A trace as events: its pods are added and deleted at their times. At equal times deletions come first.
 * Context: one thread, the pipeline's source.
 */
#pragma once

#include "engine/flow/pipeline/pipeline.h"
#include "tools/offline/trace/openb.h"

struct bt_departure;

/* Owns: bt_trace_player_fini. Zero-initialized: a trace without pods. */
struct bt_trace_player {
	/* private: */
	const struct bt_trace *trace;
	struct bt_departure *departures; /* sorted by time */
	size_t come, gone;		 /* number of pods added, and deleted */
	bool ended;			 /* BT_WATCH_EVENT_SYNCED was returned */
};

/* trace must outlive the player and its watch events. */
void bt_trace_player_init(struct bt_trace_player *replay, const struct bt_trace *trace);
void bt_trace_player_fini(struct bt_trace_player *replay);

/* The next event's time, or INT64_MAX. */
int64_t bt_trace_player_next_ns(const struct bt_trace_player *replay);

/*
 * The next event: a pod is added or deleted, at at_ns; tag is its number in the trace, plus one. After the
 * last one BT_WATCH_EVENT_SYNCED, once; then NULL. Owns: as bt_pipeline_get_event.
 */
struct bt_watch_event *bt_trace_player_next(struct bt_trace_player *replay, struct bt_pipeline *pipeline);
