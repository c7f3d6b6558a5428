/* SPDX-License-Identifier: Apache-2.0
 * Judges an application on a loaded cluster: replaces the pods that a rollout replaces, places the
 * application's pods by whole cycles with preemption, and says what became of each.
 */
#pragma once

#include "tools/kube/report/refusals.h"
#include "tools/offline/check/rollout.h"
#include "tools/offline/simulate/loaded_cluster.h"

/* What became of a workload. */
struct bt_workload_result {
	uint64_t wanted_n;   /* pods that the manifest makes; */
	uint64_t running_n;  /* of them pods that the cluster had, and that stay on their nodes, */
	uint64_t placed_n;   /* pods with a new place, */
	uint64_t unplaced_n; /* and the others */
	uint64_t replaced_n; /* pods of the cluster that the rollout deletes */
	uint64_t victim_n;   /* pods that are preempted for it */
	const char *example; /* a pod that is not placed; NULL: none */
	struct bt_refusal_rows refusals; /* why it is not; by nodes */
	char *reason;			 /* why the workload does not fit, in one line; NULL: it does */
};

/* A pod that is preempted for one of the application. */
struct bt_check_victim {
	uint32_t workload; /* of the preemptor */
	const char *preemptor;
	char *victim, *node;
	int32_t priority;
	char *budget; /* a PodDisruptionBudget that the eviction violates; NULL: none */
};

/* A pod of the application, with its index in the engine. */
struct bt_check_pod {
	uint32_t pod_ix, workload;
	bool kept;		  /* the cluster had it */
	const char *name;	  /* "default/web-x7dnf" */
	const char *preempted_by; /* NULL: it was not */
};

/* Zero-initialized, it is empty. Owns: bt_check_fini. */
struct bt_check {
	struct bt_app app;
	struct bt_loaded_cluster cluster;
	struct bt_rollout rollout;
	struct bt_workload_result *results; /* by workload */
	struct bt_check_victim *victims;    /* in order of eviction */
	struct bt_check_pod *pods;
	size_t victim_n, victim_cap, pod_n, pod_cap;
	/* private: */
	struct bt_map pods_by_ix; /* pod_ix plus one: index in pods */
	struct bt_arena arena;
	int32_t *budgets_left; /* by budget: disruptions that it still allows */
	const char *trouble;   /* a pod that cannot be judged; NULL: none */
	const char *troubled;  /* the workload that has it */
};

/* Reads application and cluster of the command line, and judges. Reports errors on standard error. Returns:
 * enum bt_exit; BT_EXIT_OK also when the application does not fit. */
int bt_check_run(struct bt_check *check, struct bt_invocation *invocation);

/* The node of a pod at the end, or BT_NO_NODE. */
uint32_t bt_check_node_of(const struct bt_check *check, const struct bt_check_pod *pod);

void bt_check_fini(struct bt_check *check);
