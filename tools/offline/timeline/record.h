/* SPDX-License-Identifier: Apache-2.0
 * The rows of a timeline: what happens to one pod, and how its object changes.
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/flow/cycle/engine.h"
#include "engine/model/object.h"
#include "tools/offline/simulate/api_log.h"
#include "tools/offline/timeline/pod_fields.h"

/* A change of a field of the pod. Texts live in the record's arena. */
struct bt_timeline_change {
	struct bt_str path, before, after;
};

struct bt_timeline_row {
	int64_t at_ns;	  /* virtual time, since 1970 */
	const char *what; /* static */
	struct bt_str detail;
	size_t first_change, change_n; /* among the record's */
};

/*
 * Zero-initialized except for the first four fields. Context: the scheduling thread. Owns:
 * bt_timeline_fini.
 */
struct bt_timeline {
	struct bt_str namespace_, name;
	const int64_t *now_ns;
	struct bt_engine *const *engine; /* of NULL as long as there is none */
	struct bt_timeline_row *rows;
	struct bt_timeline_change *changes;
	size_t row_n, change_n;
	struct bt_pod_fields fields;
	uint32_t attempt_n;
	bool known, gone;    /* it was there; it was deleted */
	bool gated;	     /* its last place in the queue is that of gated pods */
	const char *ignored; /* why the scheduler has nothing to do with it; NULL: it has */
	/* private: */
	size_t row_cap, change_cap;
	int64_t grace_s;
	struct bt_arena arena;
	struct bt_buf text;
};

/* The API server shows the pod in this state. */
void bt_timeline_shown(struct bt_timeline *timeline, const struct bt_pod_object *pod);

/* The API server shows that the pod is gone. */
void bt_timeline_deleted(struct bt_timeline *timeline);

/* The cluster was loaded before that time: rows without a time get it. */
void bt_timeline_loaded(struct bt_timeline *timeline, int64_t begin_ns);

/* The scheduler ignores the pod. why: static. */
void bt_timeline_ignored(struct bt_timeline *timeline, const struct bt_pod_object *pod, const char *why);

/* A cycle of some pod begins. */
void bt_timeline_cycle_begins(struct bt_timeline *timeline, uint32_t pod_ix);

/* Is this pod object the timeline's pod? */
bool bt_timeline_is_of(const struct bt_timeline *timeline, const struct bt_pod_object *pod);

/* Observers with the timeline as context. */
struct bt_queue_observer bt_timeline_queue_observer(struct bt_timeline *timeline);
struct bt_api_log_observer bt_timeline_call_observer(struct bt_timeline *timeline);

void bt_timeline_fini(struct bt_timeline *timeline);
