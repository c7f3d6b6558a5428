/* SPDX-License-Identifier: Apache-2.0
 * A signature is the part of a pod that affects scheduling, in interned names. Pods with equal signatures
 * share one, so results that depend only on it are computed once.
 */
#pragma once

#include "engine/base/owner.h"
#include "engine/model/node_claim.h"
#include "engine/model/pod_term.h"
#include "engine/model/request.h"
#include "engine/model/selector.h"
#include "engine/model/taint.h"
#include "engine/model/volume.h"

struct bt_preferred_term {
	int32_t weight;
	struct bt_node_term term;
};

struct bt_host_port {
	uint32_t ip, protocol; /* names; an empty ip means 0.0.0.0, an empty protocol TCP */
	int32_t port;
};

/* How a pod names one of its ResourceClaims. */
enum bt_pod_claim_kind {
	BT_POD_CLAIM_NAMED = 0,
	BT_POD_CLAIM_GENERATED,	  /* from a template; the pod must own it */
	BT_POD_CLAIM_NONE,	  /* the template needed no claim */
	BT_POD_CLAIM_NOT_CREATED, /* from a template, but its name is not known yet */
	BT_POD_CLAIM_UNSUPPORTED  /* neither */
};

struct bt_pod_claim {
	enum bt_pod_claim_kind kind;
	uint32_t name;	    /* in the pod's spec */
	uint32_t claim;	    /* the ResourceClaim's; BT_NAME_NONE: none */
	uint32_t template_; /* resourceClaimTemplateName; BT_NAME_NONE: it names none */
};

/* How a pod, or a PodGroup, names a claim, by the statuses of those that were generated for it. out_name: the
 * claim's; empty: there is none. Source: resourceclaim.Name, k8s.io/dynamic-resource-allocation, v0.36.3. */
enum bt_pod_claim_kind bt_pod_claim_kind_of(const struct bt_pod_claim_object *claim,
	const struct bt_pod_claim_object *statuses, uint32_t status_n, struct bt_str *out_name);

/* A container's request for an extended resource, which may need devices. */
struct bt_extended_request {
	uint32_t container; /* its index, init containers first */
	uint32_t key;	    /* the resource's place among the container's, sorted by name */
	uint32_t slot;	    /* of the resource */
	bool short_lived;   /* the container ends before the next one starts */
	int64_t count;
};

/* Features of a node that pods can need, as bits. Source: component-helpers nodedeclaredfeatures, v1.36.3. */
enum bt_feature {
	BT_FEATURE_RESTART_ALL_CONTAINERS = 1 << 0,	  /* RestartAllContainersOnContainerExits */
	BT_FEATURE_USER_NAMESPACES_HOST_NETWORK = 1 << 1, /* UserNamespacesHostNetworkSupport */
	/* DRAOptionalNodeOperations: required by devices, not by the pod itself. */
	BT_FEATURE_DRA_OPTIONAL_NODE_OPERATIONS = 1 << 2,
	BT_FEATURE_VOLUME_BIND_MOUNT_OPTIONS = 1 << 3 /* VolumeBindMountOptions, from 1.37 on */
};

/* The bits of the features that a node declares. */
uint32_t bt_features_declared(const struct bt_str_list *names);

struct bt_signatures;

struct bt_signature {
	uint32_t ix; /* reused after removal */
	uint32_t namespace_, scheduler_name;
	struct bt_labels labels;
	struct bt_requests requests;
	bool has_node_selector; /* nodeSelector is present, maybe empty */
	struct bt_selector node_selector;
	bool has_required; /* required node affinity is present, maybe without terms */
	struct bt_node_selector required;
	/* The names that every required term demands by matchFields; valid with names_only. */
	bool names_only;
	const uint32_t *node_names; /* ascending, each once */
	uint32_t node_name_n;
	bool has_preferred; /* the list of preferred terms is present, maybe empty */
	const struct bt_preferred_term *preferred;
	uint32_t preferred_n;
	const char *preferred_error; /* why the preferred terms are invalid, or NULL */
	const struct bt_toleration *tolerations;
	uint32_t toleration_n;
	const struct bt_host_port *ports;
	uint32_t port_n;
	const uint32_t *images; /* normalised; of init containers, containers and image volumes */
	uint32_t image_n;
	uint32_t container_n;			    /* containers and init containers */
	const struct bt_pod_affinity *pod_affinity; /* NULL: none */
	const struct bt_spread_constraint *spread;
	uint32_t spread_n;
	/* The controlling owner, used only by the default spread constraints; BT_OWNER_NONE when the pod has
	 * its own constraints. */
	enum bt_owner_kind owner_kind;
	uint32_t owner_name;
	uint32_t features;		     /* enum bt_feature bits that a node must have */
	const struct bt_pod_volume *volumes; /* those that affect scheduling, in the order of the spec */
	uint32_t volume_n;
	uint32_t noted_n;		   /* volume_n plus those that only queueing hints use */
	const struct bt_pod_claim *claims; /* in the order of the spec */
	uint32_t claim_n;
	const struct bt_extended_request *extended; /* by container; those above 0 */
	uint32_t extended_n;
	/* status.extendedResourceClaimStatus as a name, used only by events; BT_NAME_NONE: none. */
	uint32_t extended_status;
	/* Of a pod whose claims may consume node resources: its other requests; NULL
	 * otherwise. And what claims take of the node that the pod is on. */
	const struct bt_pod_sums *sums;
	const struct bt_node_claim *node_claims; /* by the names of the claims */
	uint32_t node_claim_n;
	/* The pod is assumed with node_claims, which its object does not show: its signature before, which
	 * stays as long as this one. NULL otherwise. */
	const struct bt_signature *assumed_of;
	/* Why the pod is known only in part, and not scheduled; NULL: it is complete. */
	const char *incomplete;
	/* The name of the PodGroup that it belongs to, or BT_NAME_NONE. Where pods name Workloads it spells
	 * the Workload's name, its group's and the replica's: "workload/group/replica". */
	uint32_t pod_group;
	/* The node of a pod with a deferred resize; else BT_NAME_NONE. */
	uint32_t resize_node;
	/* The pod's own, when it has ephemeral volumes or generated ResourceClaims, which belong to one pod;
	 * else BT_NAME_NONE. */
	uint32_t pod_name, pod_uid;
	uint64_t serial;	     /* unique, never reused; from 1 on */
	struct bt_signatures *table; /* private; NULL: built by hand, never freed */
};

/* Does a pod of the signature use the claim, including claims generated for ephemeral volumes? */
static inline bool bt_signature_uses_claim(
	const struct bt_signature *signature, uint32_t namespace_, uint32_t name)
{
	for (uint32_t i = 0; signature->namespace_ == namespace_ && i < signature->volume_n; i++) {
		if (bt_volume_claims(signature->volumes[i].type) && signature->volumes[i].source == name) {
			return true;
		}
	}
	return false;
}

/* One thread's state for making signatures. */
struct bt_signature_maker;

struct bt_signatures *bt_signatures_create(struct bt_dictionary *dictionary);
void bt_signatures_destroy(struct bt_signatures *signatures);

/* Sets the release and gates (by enum bt_gate) for summing requests; the default is bt_release_default with
 * its defaults. Requires: no signatures yet, and no other threads. */
void bt_signatures_configure(
	struct bt_signatures *signatures, const struct bt_release *release, const bool *gates);

/* The thread that may retire signatures. Owns: the signatures own it. */
struct bt_owner *bt_signatures_owner(struct bt_signatures *signatures);

/*
 * Creates a maker for a thread. Owns: the caller; bt_signature_maker_destroy, before the signatures are
 * destroyed.
 */
struct bt_signature_maker *bt_signature_maker_create(struct bt_signatures *signatures);
void bt_signature_maker_destroy(struct bt_signature_maker *maker);

/*
 * The signature of a pod, created if it is new. Immutable.
 * Context: the maker's thread; lock-free when the signature is known.
 * Owns   : the caller holds it until bt_signature_release.
 */
const struct bt_signature *bt_signature_make(
	struct bt_signature_maker *maker, const struct bt_pod_object *pod);

/*
 * The signature of a pod that is assumed with claims which take of its node. Context: the scheduling thread.
 * Requires: base is held and has sums; names in claims are those of base. Owns: as bt_signature_make.
 */
const struct bt_signature *bt_signature_assume(struct bt_signatures *signatures,
	const struct bt_signature *base, const struct bt_node_claim *claims, uint32_t claim_n);

/* The same with the table's own maker. Context: one thread at a time, usually the scheduling thread. */
const struct bt_signature *bt_signatures_intern(
	struct bt_signatures *signatures, const struct bt_pod_object *pod);

/*
 * Adds a holder to a signature that the caller holds, and drops one. Release ignores NULL.
 * Context: any thread; lock-free unless the last one leaves.
 */
void bt_signature_hold(const struct bt_signature *signature);
void bt_signature_release(const struct bt_signature *signature);

/* A held signature by its index; NULL: none. Context: any thread. */
const struct bt_signature *bt_signatures_get(const struct bt_signatures *signatures, uint32_t ix);

/* The number of signatures, and one more than the highest index ever used. Context: any thread. */
uint32_t bt_signatures_count(const struct bt_signatures *signatures);
uint32_t bt_signatures_end(const struct bt_signatures *signatures);

/*
 * The number of listed signatures: without holders at some time since they were last checked. Context: any
 * thread.
 */
uint32_t bt_signatures_listed(const struct bt_signatures *signatures);

/*
 * Retires signatures without holders, except the keep_n most recently used: lookups no longer find them.
 * Context : the scheduling thread; concurrent with threads that make signatures.
 * Requires: previously retired signatures were freed.
 * Returns : their number, and in out_ixs their indices, in order of last use. bt_signatures_get returns them
 *           until they are freed.
 */
uint32_t bt_signatures_retire(struct bt_signatures *signatures, uint32_t keep_n, const uint32_t **out_ixs);

/* Frees retired signatures; their indices and names may be reused. Context: the scheduling thread.
 * Requires: no references to them remain. */
void bt_signatures_free_retired(struct bt_signatures *signatures);
