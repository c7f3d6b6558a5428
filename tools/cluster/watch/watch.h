/* SPDX-License-Identifier: Apache-2.0
 * Stage 1 on a cluster: lists and watches every kind that decisions depend on, and feeds a pipeline, one
 * source per kind. Resumes where a watch ended, lists again when that is too old (410), reports objects that
 * were deleted meanwhile. Protobuf for pods and nodes, JSON for the rest. Source: client-go's tools/cache
 * reflector, v0.36.3.
 */
#pragma once

#include "engine/flow/pipeline/pipeline.h"
#include "tools/cluster/net/http.h"
#include "tools/cluster/watch/kinds.h"
#include "tools/cluster/watch/unread.h"

struct bt_watch;

/* Gets every event before the pipeline does. Context: the reflector's thread, which must not wait. */
struct bt_watch_listener {
	/* kind, names, UID and resource version are set for a delete, too. */
	void (*event)(void *context, enum bt_watch_event_kind what, const struct bt_object *object);
	void *context;
};

struct bt_watch_options {
	struct bt_client_config *access;
	struct bt_pipeline *pipeline;		   /* its source i is bt_watch_kinds' i-th kind */
	const struct bt_gates *gates;		   /* selects the kinds */
	struct bt_intern *names;		   /* for interned names; outlives the watch */
	const struct bt_watch_listener *listeners; /* called in order */
	uint32_t listener_n;
	uint32_t page; /* objects a page of a list; 0: 500 */
	bool stream;   /* WatchList: streaming lists, where the server can */
	bool json;     /* pods and nodes as JSON, too */
	uint64_t seed; /* of delays; 0: any */
};

/* The number of kinds, and so of sources, of a configuration; bt_watch_kinds (kinds.h) lists them. */
uint32_t bt_watch_source_n(const struct bt_gates *gates);

/* Starts it. Returns: NULL with the reason in out_error. Owns: bt_watch_destroy, before the pipeline's
 * end. */
struct bt_watch *bt_watch_create(const struct bt_watch_options *options, struct bt_buf *out_error);
void bt_watch_destroy(struct bt_watch *watch);

/* The state of a kind's reflector; for readyz, metrics and messages. */
struct bt_watch_state {
	const char *resource; /* "pods" */
	bool synced;	      /* its first list is complete */
	uint64_t object_n, list_n, watch_n, event_n, error_n, byte_n;
	uint64_t skipped_n;    /* objects whose names could not be decoded */
	uint64_t replaced_n;   /* objects with replaced bytes */
	uint64_t in_part_n;    /* partly decoded objects, of object_n */
	uint64_t waiting_n;    /* watch events that do not fit into the pipeline */
	int64_t last_event_ns; /* bookmarks included; of the monotonic clock, 0: none yet */
	char error[256];       /* the last error, empty when it works again */
};

/* Writes the states of at most cap kinds. Context: any thread. Returns: how many there are. */
uint32_t bt_watch_states(const struct bt_watch *watch, struct bt_watch_state *out, uint32_t cap);

/* Lists that kind again: the store may differ from the server. Unchanged objects are not reported again.
 * Context: any thread. */
void bt_watch_relist(struct bt_watch *watch, enum bt_kind kind);

/* Calls call for every object that was not decoded completely. resource: "pods". Context: any thread; the
 * reflector waits meanwhile. */
void bt_watch_each_unread(struct bt_watch *watch,
	void (*call)(void *context, const char *resource, const struct bt_unread_object *object),
	void *context);
