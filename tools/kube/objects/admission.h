/* SPDX-License-Identifier: Apache-2.0
 * What happens to an object between a reader and a scheduler: the API server's defaults and its refusal of
 * negative amounts, priorities from their classes, and the pods that controllers make of workloads.
 *
 *   bt_admission_object (each object) --> admitted            pods and PodGroups without a priority are kept
 *   bt_admission_finish (after the last one) --> admitted     ... and come now, then those of the workloads
 *
 * Context: one thread at a time; allocates.
 */
#pragma once

#include "engine/base/map.h"
#include "tools/format/diagnosis.h"
#include "tools/kube/objects/defaults.h"
#include "tools/kube/objects/workload.h"

struct bt_engine;

struct bt_admission {
	/* An object is ready for the scheduler; made: it belongs to a workload, no input had it. It may be
	 * changed, and dies with the call. */
	void (*admitted)(void *context, struct bt_object *object, bool made);
	void *context;
	bt_diagnosis_fn *report; /* hears of objects that are refused */
	void *report_context;
	const bool *stop; /* once true, nothing more is admitted or said; or NULL */
	bool expand;	  /* make pods for workloads, and the ReplicaSets of Deployments */
	/* private: */
	struct bt_arena arena; /* one object */
	struct bt_arena kept;  /* pods and PodGroups that wait for their priority class */
	struct bt_pod_object *deferred;
	size_t deferred_n, deferred_cap;
	struct bt_object *groups; /* PodGroups that do */
	size_t group_n, group_cap;
	struct bt_priority_table priorities;
	struct bt_workloads workloads;
	struct bt_map replica_sets; /* that the scheduler knows */
	struct bt_buf text;
	struct bt_engine *engine; /* while workloads are expanded */
	uint32_t *node_ixs;
};

/* Takes an object, which may be changed. */
void bt_admission_object(struct bt_admission *admission, struct bt_object *object);

/*
 * After the last object: gives the kept pods their priorities and makes the pods of workloads; those of
 * DaemonSets for the nodes that the engine has now (NULL: none). Afterwards objects may come again.
 * PriorityClasses are remembered, workloads are not.
 */
void bt_admission_finish(struct bt_admission *admission, struct bt_engine *engine);

/* Drops the pods that are kept and the workloads. */
void bt_admission_drop(struct bt_admission *admission);

void bt_admission_fini(struct bt_admission *admission);
