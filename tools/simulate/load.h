/* SPDX-License-Identifier: Apache-2.0
 * Stage 1 of a simulation: objects from files or from the generator become nodes and pods of the engine, with
 * the API server's defaults, priorities from their classes, and the pods that workloads still lack.
 */
#pragma once

#include "engine/base/map.h"
#include "engine/flow/source.h"
#include "tools/kube/admission.h"
#include "tools/simulate/complaints.h"
#include "tools/simulate/recording.h"

/* How many objects of a kind there were. */
struct bt_kind_count {
	char *name; /* with the group and version, when berth does not look at it */
	uint64_t n;
	bool used;
};

struct bt_load_counts {
	uint64_t objects, bytes, files;
	uint64_t nodes, pods;		    /* entered */
	uint64_t expanded;		    /* pods made for workloads, among pods */
	uint64_t scheduled, pending, gated; /* pods by how they came */
	uint64_t ended, foreign, deleting;  /* pods that were left out */
	uint64_t on_unknown_nodes;	    /* scheduled pods whose node is not there */
};

/* A pod on a node that was being deleted, and when it should be gone. */
struct bt_load_leaver {
	uint32_t pod_ix;
	int64_t deletion_ns;
};

struct bt_load {
	struct bt_engine *engine;
	struct bt_complaints *complaints;
	struct bt_recording *recording; /* what is entered is recorded there */
	bool expand;			/* make pods for workloads */
	void (*deleting)(
		void *context, const struct bt_pod_object *pod); /* such a pod was left out; or NULL */
	void (*entered)(void *context, uint32_t pod_ix, const struct bt_pod_object *pod); /* or NULL */
	void *context;
	struct bt_stages *stages; /* where is noted how long taking an object in takes, or NULL */
	struct bt_load_counts counts;
	int64_t latest_ns;		/* the latest creation time; 0 when there is none */
	struct bt_map graces;		/* by pod_ix plus one: grace periods other than 30 s, in seconds */
	struct bt_load_leaver *leavers; /* pods on nodes that are being deleted */
	size_t leaver_n, leaver_cap;
	struct bt_kind_count *kinds; /* in order of appearance */
	size_t kind_n, kind_cap;
	/* private: */
	struct bt_admission admission;
	struct bt_map kind_ixs;
	struct bt_buf text;
};

/* Call once, when the fields above the counts are set. */
void bt_load_init(struct bt_load *load);

/* Hands over one object; it may be changed. */
void bt_load_object(struct bt_load *load, struct bt_object *object);

/* Hands over every object of a source, until it ends, the user interrupts, or a strict run has to stop. */
void bt_load_source(struct bt_load *load, const struct bt_source *source);

/* Reads every path. Returns: false when nothing usable was found or a strict run has to stop. */
bool bt_load_paths(struct bt_load *load, const char *const *paths, size_t path_n);

/* Call once, after the last object: resolves priorities, expands workloads, looks for pods on nodes that do
 * not exist. */
void bt_load_finish(struct bt_load *load);

void bt_load_fini(struct bt_load *load);
