/* SPDX-License-Identifier: Apache-2.0
 * Tracks the objects of a simulation's input after the engine has applied them: counts them, and records
 * grace periods and terminating pods. Context: the scheduling thread; others while it is idle.
 */
#pragma once

#include "engine/base/map.h"
#include "engine/flow/cycle/engine.h"
#include "tools/kube/config/diagnostics.h"
#include "tools/offline/simulate/taint_evictions.h"

struct bt_intake_counts {
	uint64_t nodes, pods;		    /* entered */
	uint64_t scheduled, pending, gated; /* pods by initial state */
	uint64_t ended, other_schedulers;   /* ignored pods */
	uint64_t on_unknown_nodes;	    /* scheduled pods with an unknown node */
};

/* A terminating pod on a node, and its time of deletion. */
struct bt_leaver {
	uint32_t pod_ix;
	int64_t deletion_ns;
};

/* Zero-initialized except for the first six fields. Owns: bt_intake_fini. */
struct bt_intake {
	struct bt_diagnostics *diagnostics;
	void (*entered)(void *context, uint32_t pod_ix, const struct bt_pod_object *pod); /* or NULL */
	void (*ignored)(void *context, const struct bt_pod_object *pod, const char *why); /* or NULL */
	void (*node)(void *context, const struct bt_node_object *node);			  /* or NULL */
	void *context;
	struct bt_taint_evictions *taint_evictions; /* is shown nodes and pods; or NULL */
	struct bt_intake_counts counts;
	struct bt_map graces;	   /* by pod_ix plus one: grace periods other than 30 s, in seconds */
	struct bt_leaver *leavers; /* pods on nodes that are being deleted */
	size_t leaver_n, leaver_cap;
};

/* Records an applied object: status and taken from bt_engine_take_delta. */
void bt_intake_note(struct bt_intake *intake, const struct bt_object *object, enum bt_status status,
	const struct bt_taken *taken);

/* After the last object: looks for pods on nodes that do not exist. */
void bt_intake_end(struct bt_intake *intake, struct bt_engine *engine);

void bt_intake_fini(struct bt_intake *intake);
