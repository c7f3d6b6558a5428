/* SPDX-License-Identifier: Apache-2.0
 * Admission of an object between a decoder and a scheduler: the API server's defaults and its rejection of
 * negative amounts, priorities from their classes, and the pods that controllers create for workloads.
 *
 *   bt_admission_object (each object) --> admitted            pods and PodGroups without a priority are kept
 *   bt_admission_finish (after the last one) --> admitted     ... until here; then the pods of workloads
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
	/* An object is ready for the scheduler; made: it was created for a workload, not read. It may be
	 * changed, and is valid during the call. */
	void (*admitted)(void *context, struct bt_object *object, bool made);
	void *context;
	bt_diagnosis_fn *report; /* called for rejected objects */
	void *report_context;
	const bool *stop; /* once true, no more objects are admitted or reported; or NULL */
	bool expand;	  /* create pods for workloads, and the ReplicaSets of Deployments */
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
 * After the last object: resolves the kept pods' priorities and creates the pods of workloads; those of
 * DaemonSets for the engine's current nodes (NULL: none). Afterwards more objects may be added.
 * PriorityClasses are kept, workloads are not.
 */
void bt_admission_finish(struct bt_admission *admission, struct bt_engine *engine);

/* Drops the pods that are kept and the workloads. */
void bt_admission_drop(struct bt_admission *admission);

void bt_admission_fini(struct bt_admission *admission);
