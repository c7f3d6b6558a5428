/* SPDX-License-Identifier: Apache-2.0
 * Stage 1 of a simulation: objects from files or from the generator become nodes and pods of the engine, with
 * the API server's defaults, priorities from their classes, and the missing pods of workloads. Context: one
 * thread, which is a source of the pipeline when that has threads.
 */
#pragma once

#include "engine/flow/cycle/source.h"
#include "tools/kube/objects/admission.h"
#include "tools/kube/objects/feeder.h"
#include "tools/kube/config/diagnostics.h"
#include "tools/offline/simulate/intake.h"
#include "tools/offline/simulate/references.h"

#define BT_LOAD_MISSING_MAX 16

/* The number of objects of a kind. */
struct bt_kind_count {
	char *name; /* with group and version, if berth ignores it */
	uint64_t n;
	bool used;
};

struct bt_load_counts {
	uint64_t objects, bytes, files;
	uint64_t expanded; /* pods made for workloads */
	uint64_t deleting; /* ignored pods: terminating while pending */
};

struct bt_load {
	struct bt_pipeline *pipeline;
	bool threads;		  /* the pipeline has threads: objects are fed; else applied directly */
	struct bt_intake *intake; /* called for applied objects, unless the pipeline's step driver calls it */
	struct bt_diagnostics *diagnostics;
	bool expand;	    /* make pods for workloads */
	bool enforce_quota; /* refuse objects that exceed a ResourceQuota; else warn */
	uint32_t helper_n;  /* threads that read ahead in large files */
	void (*deleting)(
		void *context, const struct bt_pod_object *pod); /* called for such an ignored pod; or NULL */
	/* Called for each object as admission leaves it, before it is applied; or NULL. */
	void (*written)(void *context, const struct bt_object *object);
	void *context;
	/* Called for each read object that enters, as admission leaves it; or NULL. */
	void (*entered)(void *context, const struct bt_object *object);
	void *entered_context;
	struct bt_load_counts counts;
	int64_t latest_ns;	     /* the latest creation time; 0: none */
	int64_t deleting_ns;	     /* the latest deletion request; 0: none */
	struct bt_kind_count *kinds; /* in order of appearance */
	size_t kind_n, kind_cap;
	/* private: */
	struct bt_admission admission;
	struct bt_feeder feeder;
	struct bt_map seen; /* nodes and pods by a hash of their names, to detect duplicates */
	struct bt_map kind_ixs;
	struct bt_references references;
	struct bt_buf text;
};

/* The start of virtual time: the latest creation time, without one the latest deletion request, or 1970. */
int64_t bt_load_begin_ns(const struct bt_load *load);

/* Call once, when the fields above the counts are set. */
void bt_load_init(struct bt_load *load);

/* Loads one object, which may be changed. */
void bt_load_object(struct bt_load *load, struct bt_object *object);

/* Reads a command line's files (--filename, operands). Reports errors on standard error. Returns: false when
 * a path is unreadable, nothing usable was found, or a strict run has to stop. */
bool bt_load_paths(struct bt_load *load, const struct bt_invocation *invocation);

/* The same of n paths. */
bool bt_load_paths_of(
	struct bt_load *load, const struct bt_invocation *invocation, const char *const *paths, size_t n);

/*
 * Calls take for every object of a command line's files (--filename, operands), until it returns false, or a
 * strict error or the user ends it. Reports errors on standard error. Returns: false when nothing is usable.
 */
bool bt_load_each(const struct bt_invocation *invocation, struct bt_diagnostics *diagnostics,
	bool (*take)(void *context, const struct bt_object *object), void *context);

/* Calls take for every object of the default input, by the command line's seed. out_source: a description for
 * reports is added, unless it is NULL. */
void bt_load_default(const struct bt_invocation *invocation, struct bt_buf *out_source,
	bool (*take)(void *context, const struct bt_object *object), void *context);

/* Adds the names of a command line's files, for reports. */
void bt_load_source(const struct bt_invocation *invocation, struct bt_buf *out_source);

/* Call once, after the last object: resolves priorities and expands workloads. All objects have been applied
 * when it returns, unless the user interrupts. */
void bt_load_finish(struct bt_load *load);

/*
 * Reads one more file, whose objects do not belong to the cluster: take gets each one as admission leaves it,
 * and the pods of workloads (made), with the priorities of the input's classes. Call after bt_load_finish.
 * Warns about missing objects that these refer to; only they count in bt_load_missing from then on.
 * Reports errors on standard error. Returns: false when the path is unreadable or nothing usable was found.
 */
bool bt_load_apart(struct bt_load *load, const char *path,
	void (*take)(void *context, struct bt_object *object, bool made), void *context);

/* The same with the objects of a source, without a warning. Returns: false when something is wrong with one
 * of them, or the user interrupts. */
bool bt_load_apart_source(struct bt_load *load, const struct bt_source *source,
	void (*take)(void *context, struct bt_object *object, bool made), void *context);

/* Missing objects that the input refers to, at most BT_LOAD_MISSING_MAX rows. Returns their number. */
size_t bt_load_missing(struct bt_load *load, struct bt_missing out[BT_LOAD_MISSING_MAX]);

/* Writes a sentence about a row of them, with the command that fetches them. */
void bt_load_missing_text(const struct bt_missing *missing, struct bt_buf *out);

/* Warns about missing objects, and about ignored kinds that affect placements; once per kind. These do not
 * count as problems. */
void bt_load_warn(struct bt_load *load);

void bt_load_fini(struct bt_load *load);
