/* SPDX-License-Identifier: Apache-2.0
 * Stage 1 of a simulation: objects from files or from the generator become nodes and pods of the engine, with
 * the API server's defaults, priorities from their classes, and the pods that workloads still lack. Context:
 * one thread, which is a source of the pipeline when that has threads.
 */
#pragma once

#include "engine/flow/cycle/source.h"
#include "tools/kube/objects/admission.h"
#include "tools/kube/objects/feeder.h"
#include "tools/kube/config/diagnostics.h"
#include "tools/offline/simulate/intake.h"
#include "tools/offline/simulate/references.h"

#define BT_LOAD_MISSING_MAX 16

/* How many objects of a kind there were. */
struct bt_kind_count {
	char *name; /* with the group and version, when berth does not look at it */
	uint64_t n;
	bool used;
};

struct bt_load_counts {
	uint64_t objects, bytes, files;
	uint64_t expanded;	  /* pods made for workloads */
	uint64_t claim_templates; /* StatefulSets with volumeClaimTemplates */
	uint64_t deleting; /* pods that were left out because they were being deleted while they waited */
};

struct bt_load {
	struct bt_pipeline *pipeline;
	bool threads;		  /* the pipeline has them: objects are fed; else they are shown */
	struct bt_intake *intake; /* hears what becomes of them, unless the pipeline's step driver tells it */
	struct bt_diagnostics *diagnostics;
	bool expand;	   /* make pods for workloads */
	uint32_t helper_n; /* threads that read ahead in large files */
	void (*deleting)(
		void *context, const struct bt_pod_object *pod); /* such a pod was left out; or NULL */
	void *context;
	struct bt_load_counts counts;
	int64_t latest_ns;	     /* the latest creation time; 0 when there is none */
	int64_t deleting_ns;	     /* the latest moment at which a deletion was asked for; likewise */
	struct bt_kind_count *kinds; /* in order of appearance */
	size_t kind_n, kind_cap;
	/* private: */
	struct bt_admission admission;
	struct bt_feeder feeder;
	struct bt_map seen; /* nodes and pods by a hash of their names; another one */
	struct bt_map kind_ixs;
	struct bt_references references;
	struct bt_buf text;
};

/* Where virtual time begins: at the latest creation time, or where there is none at the latest moment at
 * which the deletion of something was asked for, or in 1970. */
int64_t bt_load_begin_ns(const struct bt_load *load);

/* Call once, when the fields above the counts are set. */
void bt_load_init(struct bt_load *load);

/* Hands over one object; it may be changed. */
void bt_load_object(struct bt_load *load, struct bt_object *object);

/* Reads a command line's files (--filename, operands). What is wrong is said on standard error. Returns:
 * false when a path cannot be opened or read, nothing usable was found, or a strict run has to stop. */
bool bt_load_paths(struct bt_load *load, const struct bt_invocation *invocation);

/*
 * Hands every object of a command line's files (--filename, operands) to take, until that says false, or
 * strictness or the user ends it. What is wrong is said on standard error. Returns: false when nothing is
 * usable.
 */
bool bt_load_each(const struct bt_invocation *invocation, struct bt_diagnostics *diagnostics,
	bool (*take)(void *context, const struct bt_object *object), void *context);

/* Call once, after the last object: resolves priorities and expands workloads. Everything has been taken in
 * when it returns, unless the user interrupts. */
void bt_load_finish(struct bt_load *load);

/* What the input refers to and lacks, at most BT_LOAD_MISSING_MAX rows. Returns how many. */
size_t bt_load_missing(struct bt_load *load, struct bt_missing out[BT_LOAD_MISSING_MAX]);

/* Says what the input refers to and lacks, and which of its kinds change placements and are not applied; once
 * for each kind. That is no fault of the input: it does not count as a problem. */
void bt_load_warn(struct bt_load *load);

void bt_load_fini(struct bt_load *load);
