/* SPDX-License-Identifier: Apache-2.0
 * Creates pods for workloads as their controllers would: every Deployment, ReplicaSet, ReplicationController,
 * StatefulSet, Job, DaemonSet and CronJob gets the pods that it lacks, with the names, labels, owners and
 * tolerations that they would have.
 *
 *   observe (every object, any order) --> expand --> one pod after another
 *
 * Names and uids follow from the owner and a number, so the same input gives the same pods.
 */
#pragma once

#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/map.h"
#include "engine/base/status.h"
#include "engine/model/object.h"
#include "tools/kube/objects/claim.h"

#define BT_WORKLOAD_PODS_MAX 10000000

struct bt_workload_entry {
	enum bt_kind kind;
	struct bt_workload_object workload;
	uint32_t child_n;   /* a Deployment's ReplicaSets, a CronJob's Jobs */
	uint32_t active_n;  /* of them those with replicas */
	uint32_t scaled_ix; /* of them the entry that a Deployment scales */
};

/* A zero-initialized one is empty. Its fields are private. */
struct bt_workloads {
	struct bt_arena arena, scratch;
	struct bt_workload_entry *entries;
	size_t entry_n, entry_cap;
	struct bt_claims claims;
	struct bt_map known; /* existing objects, by the hash of their identity */
};

void bt_workloads_fini(struct bt_workloads *workloads);

/*
 * Records an object: workloads are copied, pods are counted for their owners, other kinds are ignored. Call
 * it after bt_defaults_scheme and bt_defaults_namespace, with every object of the input.
 * Context : one thread at a time; allocates.
 */
void bt_workloads_observe(struct bt_workloads *workloads, const struct bt_object *object);

struct bt_workloads_request {
	/*
	 * Called for each pod, with the scheme's defaults and matchLabelKeys applied, but without
	 * bt_defaults_admission. The pod may be changed; it is valid during the call.
	 */
	void (*emit)(void *context, struct bt_pod_object *pod);
	/*
	 * Called for each claim of a StatefulSet's volumeClaimTemplates, before its pod, without uid and
	 * defaults. It may be changed, and is valid during the call. False: it is refused, so the pod is not
	 * made. NULL: no claims are made.
	 */
	bool (*claim)(void *context, struct bt_claim_object *claim);
	/*
	 * Whether a daemon's pod may run on a node: the required node affinity and the node selector match,
	 * and all NoSchedule and NoExecute taints are tolerated. The pod has the daemon tolerations. May be
	 * NULL without nodes.
	 */
	bool (*eligible)(void *context, const struct bt_pod_object *pod, uint32_t node_ix);
	void *context;
	const struct bt_str *node_names;
	uint32_t node_n;
	uint32_t pod_max; /* 0 is BT_WORKLOAD_PODS_MAX */
};

/*
 * Creates the missing pods of every workload, in the order of the input. A Deployment whose ReplicaSets are
 * in the input leaves the pods to them, and its replicas to the one of them that has any, or to the newest. A
 * CronJob whose Jobs are in the input leaves the pods to those; one without is assumed to run once. Workloads
 * that are suspended, have ended, are being deleted or are left to another controller (managedBy) get none,
 * nor do paused Deployments without a ReplicaSet. Pods count for their controller, by kind, name and UID,
 * while its selector matches them; pods without a controller are adopted. StatefulSets do not wait for a pod
 * before they make the next.
 * Context : one thread at a time; allocates.
 * Returns : BT_OK; BT_FULL with a message in out_message when there would be more than pod_max pods, after
 *           emitting those before the workload that is too large.
 */
enum bt_status bt_workloads_expand(struct bt_workloads *workloads, const struct bt_workloads_request *request,
	struct bt_buf *out_message);

/* A uid that follows from an object's kind and name, for one that lacks it. Owns: the arena. Context: any
 * thread. */
struct bt_str bt_workloads_uid(
	struct bt_arena *arena, struct bt_str kind, struct bt_str namespace_, struct bt_str name);
