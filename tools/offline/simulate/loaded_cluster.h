/* SPDX-License-Identifier: Apache-2.0
 * A cluster of files that is loaded once, to answer questions about it: the engine holds its nodes and pods,
 * and its pending pods have been placed as berth simulate places them.
 */
#pragma once

#include "tools/cli/progress.h"
#include "tools/offline/simulate/load.h"
#include "tools/offline/simulate/run.h"

/* Zero-initialized but for entered and context, it is closed. Context: one thread. Owns:
 * bt_loaded_cluster_close. */
struct bt_loaded_cluster {
	struct bt_invocation *invocation;
	struct bt_engine *engine; /* the pipeline's */
	struct bt_pipeline *pipeline;
	struct bt_config config;
	struct bt_diagnostics diagnostics;
	struct bt_intake intake;
	struct bt_load load;
	struct bt_simulate_run run;
	struct bt_progress progress;
	struct bt_buf source; /* the paths, for people */
	uint64_t placed_n;    /* pods placed by bt_loaded_cluster_settle */
	bool quiet;
	/* Called for each pod of the input when it has entered, for each that is ignored, for each node, and
	 * for each object; each may be NULL. Set before opening. */
	void (*entered)(void *context, uint32_t pod_ix, const struct bt_pod_object *pod);
	void (*ignored)(void *context, const struct bt_pod_object *pod, const char *why);
	void (*node)(void *context, const struct bt_node_object *node);
	void (*object_entered)(void *context, const struct bt_object *object);
	void *context;
	struct bt_queue_observer observer; /* of the engine's queue. Set before opening. */
	bool messages;			   /* decisions carry messages. Set before opening. */
	bool evicts_by_taints;		   /* NoExecute taints evict pods. Set before opening. */
	struct bt_taint_evictions taint_evictions;
	/* The cluster's files, instead of those of the command line; or NULL. Set before opening. */
	const char *const *paths;
	size_t path_n;
	bool is_another; /* the command has opened one before: plugins are loaded. Set before opening. */
};

/*
 * Reads the cluster of a command line: --filename and the operands; --config, --feature-gates,
 * --kubernetes-version, --seed, --strict, --quiet and --no-expand. Reports errors on standard error. Returns:
 * enum bt_exit; close it in any case.
 */
int bt_loaded_cluster_open(struct bt_loaded_cluster *cluster, struct bt_invocation *invocation);

/* Places the pending pods, in virtual time, until nothing happens any more. Returns: BT_EXIT_OK or
 * BT_EXIT_INTERRUPTED. */
int bt_loaded_cluster_settle(struct bt_loaded_cluster *cluster);

/* Places pods that were added since then, the same way. Returns: as bt_loaded_cluster_settle. */
int bt_loaded_cluster_continue(struct bt_loaded_cluster *cluster, const char *label, uint64_t pod_n);

void bt_loaded_cluster_close(struct bt_loaded_cluster *cluster);
