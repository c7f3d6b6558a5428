/* SPDX-License-Identifier: Apache-2.0
 * Admission of an object between a decoder and a scheduler: the API server's defaults and its rejection of
 * negative amounts, the admission plugins of objects that are created, and the pods and claims that
 * controllers create for them.
 *
 *   bt_admission_object (each object) --> admitted          pods and PodGroups without a priority, and
 *   bt_admission_finish (after the last one) --> admitted   claims without a uid, are kept until here; then
 *                                                           come the claims and pods of workloads
 *
 * An API server has admitted an object that has a uid: only what is missing without a doubt is added to it (a
 * pod's priority). A pod without a uid that has neither a priority nor a node, and a claim without a uid, are
 * being created: they are changed by StorageClasses, LimitRanges and RuntimeClasses, counted by
 * ResourceQuotas, or refused.
 *
 * Context: one thread at a time; allocates.
 */
#pragma once

#include "engine/base/map.h"
#include "tools/format/diagnosis.h"
#include "tools/kube/objects/defaults.h"
#include "tools/kube/objects/policy.h"
#include "tools/kube/objects/quota.h"
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
	bool expand; /* create pods and claims for workloads, the ReplicaSets of Deployments, and claims for
			ephemeral volumes */
	bool enforce_quota; /* refuse objects that exceed a ResourceQuota; else warn */
	/* private: */
	struct bt_arena arena; /* one object */
	struct bt_arena kept;  /* pods and PodGroups that wait for their priority class */
	struct bt_pod_object *deferred;
	size_t deferred_n, deferred_cap;
	struct bt_object *groups; /* PodGroups that do */
	size_t group_n, group_cap;
	struct bt_priority_table priorities;
	struct bt_workloads workloads;
	struct bt_object *claims; /* that are being created */
	size_t claim_n, claim_cap;
	struct bt_policies policies;
	struct bt_quotas quotas;
	struct bt_map replica_sets; /* that the scheduler knows */
	struct bt_map known_claims; /* likewise */
	struct bt_buf reason;
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
