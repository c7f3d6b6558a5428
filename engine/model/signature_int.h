/* SPDX-License-Identifier: Apache-2.0
 * Internals of signatures: the canonical form of a pod (signature_canonical.c), the signature built from it
 * (signature_build.c), facts about a pod that both use (signature_facts.c), and the table (signature.c).
 */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/model/signature.h"

struct bt_signature_maker {
	struct bt_signatures *signatures;
	struct bt_dictionary *dictionary;
	const struct bt_request_rules *rules; /* of the signatures */
	struct bt_arena arena;		      /* of the signature under construction */
	struct bt_arena scratch;	      /* one pod */
	struct bt_buf words;
	struct bt_buf text;
	struct bt_buf group;	  /* the text of bt_signature_group */
	bool name_workloads;	  /* pods name Workloads, not PodGroups */
	struct bt_name_refs held; /* by the signature under construction */
};

/* Appends the pod's canonical form to the maker's words: pods with equal forms share a signature. */
void bt_signature_canonical(struct bt_signature_maker *maker, const struct bt_pod_object *pod,
	const struct bt_requests *requests);

/* The pod's signature, in the maker's arena; the maker holds its names. */
struct bt_signature *bt_signature_build(struct bt_signature_maker *maker, const struct bt_pod_object *pod,
	const struct bt_requests *requests);

/* How a pod names a claim, and the claim's name; empty when there is none. */
enum bt_pod_claim_kind bt_signature_claim_kind(
	const struct bt_pod_object *pod, const struct bt_pod_claim_object *claim, struct bt_str *out_name);

/* The number of extended resources that the pod's containers request, and in items the requests; items may be
 * NULL, for counting. If a pod requests too many, some may get slots meanwhile; such a pod is not
 * scheduled. */
uint32_t bt_signature_list_extended(const struct bt_dictionary *dictionary,
	const struct bt_pod_spec_object *spec, const struct bt_requests *requests,
	struct bt_extended_request *items);

/* The group that the pod names, as a text: of a PodGroup its name, of a Workload's "workload/group/replica";
 * empty: it is in none. Valid until the maker's text changes. */
struct bt_str bt_signature_group(struct bt_signature_maker *maker, const struct bt_pod_spec_object *spec);

/* The enum bt_feature bits that a node must have. */
uint32_t bt_signature_features(const struct bt_pod_spec_object *spec);

/* Can claims of the pod use resources of the node? A claim may be made for extended resources. */
static inline bool bt_signature_sums(const struct bt_signature_maker *maker, const struct bt_pod_object *pod,
	const struct bt_requests *requests)
{
	bool scalars = requests->fit.n && requests->fit.items[requests->fit.n - 1].slot >= BT_FIRST_SCALAR;

	return (pod->spec.claim_n || pod->node_claim_n || scalars) && maker->rules->node_claims;
}

/* Is the init container a sidecar (restartPolicy Always)? */
static inline bool bt_signature_is_sidecar(const struct bt_container_object *container)
{
	return bt_str_is(container->restart_policy, "Always");
}
