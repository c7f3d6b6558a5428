/* SPDX-License-Identifier: Apache-2.0
 * The cluster of a workload: the part of an API server's and its controllers' state that workloads need. It
 * feeds objects to a pipeline, which it steps in its own thread, and is the null binder: each binding
 * succeeds immediately, and each eviction is a deletion. Pods are numbered; their UIDs are their numbers.
 *
 *   WAITING --refused, or gated--> TRIED --bound--> BOUND --deleted--> GONE (from every state)
 *
 * Context: one thread; allocates.
 */
#pragma once

#include "engine/base/map.h"
#include "engine/flow/pipeline/pipeline.h"

enum bt_world_state {
	BT_WORLD_WAITING = 0,
	BT_WORLD_TRIED, /* a cycle has refused it, or gates hold it: it has the condition PodScheduled */
	BT_WORLD_BOUND,
	BT_WORLD_GONE
};

struct bt_world_pod {
	const struct bt_pod_object *object; /* except its name, namespace, UID and times */
	struct bt_str name, uid;
	uint32_t space; /* its namespace, an index of spaces */
	uint32_t group; /* the group that it was created in */
	enum bt_world_state state;
	bool leaving;	/* it has a deletionTimestamp */
	bool was_bound; /* sometime */
	int64_t creation_ns;
};

/* A namespace. */
struct bt_world_space {
	struct bt_str name;
	uint64_t expected_n; /* pods that a barrier waits for */
};

/* Counts pods of some namespaces, labels or group, by state. */
struct bt_world_watch {
	bool on;
	const uint32_t *spaces; /* NULL: all namespaces */
	uint32_t space_n;
	const struct bt_str_map *labels; /* NULL: any */
	uint32_t group;			 /* 0: any */
	uint64_t tried_n, bound_n;	 /* now in state TRIED or BOUND; BOUND */
	uint64_t placed_n;		 /* have been bound, including deleted ones */
};

struct bt_world_counts {
	uint64_t bound_n, refused_n, failed_n, evicted_n, deleted_n, preemption_n;
};

/* Templates of claims that are created for pods, by namespace and name. */
struct bt_world_template {
	struct bt_str namespace_, name;
	const struct bt_object *claim;
};

struct bt_world_claim {
	struct bt_str namespace_, name;
};

struct bt_world {
	struct bt_pipeline *pipeline;
	struct bt_arena arena;
	struct bt_world_pod *pods;
	size_t pod_n, pod_cap;
	struct bt_map named; /* pods that were given a name, by its hash: 1 + number */
	struct bt_map taken; /* hashes of the explicit names of other existing objects */
	struct bt_world_space *spaces;
	size_t space_n, space_cap;
	struct bt_str *nodes; /* names, in order of creation */
	size_t node_n, node_cap;
	struct bt_world_template *templates;
	size_t template_n, template_cap;
	struct bt_world_claim *claims;
	size_t claim_n, claim_cap;
	uint32_t *evicted; /* pods that are to be deleted */
	size_t evicted_n, evicted_cap;
	uint64_t name_n;  /* generated names */
	uint32_t group_n; /* groups of pods, which are numbered from 1 */
	struct bt_world_watch wait, collector;
	struct bt_world_counts counts;
	struct bt_buf text;
};

/* The null binder and the listener of a pipeline; call before creating it, then set pipeline. */
struct bt_pipeline_binder bt_world_binder(struct bt_world *world);
struct bt_pipeline_sink bt_world_sink(struct bt_world *world);
void bt_world_fini(struct bt_world *world);

/* A name as the API server generates it: prefix and five letters, each once. Owns: the world's arena. */
struct bt_str bt_world_name(struct bt_world *world, struct bt_str prefix);
struct bt_str bt_world_text(struct bt_world *world, const char *format, ...) BT_PRINTF(2, 3);

/* The number of a namespace, created if missing; template_: its labels, or NULL. */
uint32_t bt_world_namespace(
	struct bt_world *world, struct bt_str name, const struct bt_namespace_object *template_);

/* Creates a namespace with a reserved name (bt_world_take_name), possibly again. */
void bt_world_make_namespace(
	struct bt_world *world, struct bt_str name, const struct bt_namespace_object *template_);

/* Feeds an object, new or changed. It must outlive the pipeline. */
void bt_world_apply(struct bt_world *world, const struct bt_object *object);
void bt_world_delete(struct bt_world *world, enum bt_kind kind, struct bt_str namespace_, struct bt_str name);

/* Reserves the name of an object other than a pod. Returns: false when another of its kind has it. */
bool bt_world_take_name(
	struct bt_world *world, enum bt_kind kind, struct bt_str namespace_, struct bt_str name);

/* Adds a node. */
void bt_world_add_node(struct bt_world *world, const struct bt_object *object);

/*
 * Makes a pod of an object, whose name or generateName counts, with the ResourceClaims that its templates
 * call for.
 * Returns: its number; BT_NO_POD when a template is missing or another pod has its name, with the reason in
 * out_why (owns: the world's arena).
 */
uint32_t bt_world_add_pod(struct bt_world *world, const struct bt_pod_object *object, uint32_t space,
	uint32_t group, struct bt_str *out_why);

/* The pod of a name that was given, not generated; BT_NO_POD: none. */
uint32_t bt_world_find_pod(const struct bt_world *world, uint32_t space, struct bt_str name);

/* Changes a pod's spec and labels. */
void bt_world_update_pod(struct bt_world *world, uint32_t pod, const struct bt_pod_object *object);

/*
 * Deletes a pod as the API server does: one on a node with a grace period stays there forever, terminating,
 * since there is no kubelet; so does one with finalizers; any other is deleted. now: no grace period.
 */
void bt_world_delete_pod(struct bt_world *world, uint32_t pod, bool now);

/* Does a watch count the pod? */
bool bt_world_watches(const struct bt_world_watch *watch, const struct bt_world_pod *pod);

/* Counts the existing pods, and updates the counts on changes. */
void bt_world_watch(struct bt_world *world, struct bt_world_watch *watch);

/* Deletes evicted pods, and runs a step of each stage. Returns: whether there was any work. */
bool bt_world_step(struct bt_world *world);
