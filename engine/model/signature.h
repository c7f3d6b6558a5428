/* SPDX-License-Identifier: Apache-2.0
 * A signature is the part of a pod that can change where it goes, in interned names. Pods with equal
 * signatures share one, so everything that depends on it alone is worked out once.
 */
#pragma once

#include "engine/base/owner.h"
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
	uint32_t ip, protocol; /* names; the empty ip reads as 0.0.0.0, the empty protocol as TCP */
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
	uint32_t name;	/* in the pod's spec */
	uint32_t claim; /* the ResourceClaim's; BT_NAME_NONE: there is none */
};

/* What a container asks of an extended resource, for which devices may have to be allocated. */
struct bt_extended_request {
	uint32_t container; /* its index, init containers first */
	uint32_t key;	    /* the resource's place among the container's, sorted by name */
	uint32_t slot;	    /* of the resource */
	bool short_lived;   /* it ends before the next begins */
	int64_t count;
};

/* Features of a node that pods can need, as bits. Source: component-helpers nodedeclaredfeatures, v1.36.3. */
enum bt_feature {
	BT_FEATURE_RESTART_ALL_CONTAINERS = 1 << 0,	  /* RestartAllContainersOnContainerExits */
	BT_FEATURE_USER_NAMESPACES_HOST_NETWORK = 1 << 1, /* UserNamespacesHostNetworkSupport */
	/* DRAOptionalNodeOperations: devices need it, not the pod itself. */
	BT_FEATURE_DRA_OPTIONAL_NODE_OPERATIONS = 1 << 2,
	BT_FEATURE_VOLUME_BIND_MOUNT_OPTIONS = 1 << 3 /* VolumeBindMountOptions, from 1.37 on */
};

/* The bits of the features that a node declares. */
uint32_t bt_features_declared(const struct bt_str_list *names);

struct bt_signatures;

struct bt_signature {
	uint32_t ix; /* others may have had it, and may get it */
	uint32_t namespace_, scheduler_name;
	struct bt_labels labels;
	struct bt_requests requests;
	bool has_node_selector; /* nodeSelector is there, maybe empty */
	struct bt_selector node_selector;
	bool has_required; /* required node affinity is there, maybe without terms */
	struct bt_node_selector required;
	/* The names that every required term demands by matchFields; meaningful when names_only. */
	bool names_only;
	const uint32_t *node_names; /* ascending, each once */
	uint32_t node_name_n;
	bool has_preferred; /* the list of preferred terms is there, maybe empty */
	const struct bt_preferred_term *preferred;
	uint32_t preferred_n;
	const char *preferred_error; /* why the preferred terms cannot be parsed, or NULL */
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
	/* The controlling owner, which only the default spread constraints ask for; BT_OWNER_NONE when the
	 * pod has its own. */
	enum bt_owner_kind owner_kind;
	uint32_t owner_name;
	uint32_t features;		     /* enum bt_feature bits that a node must have */
	const struct bt_pod_volume *volumes; /* those that matter to decisions, in the order of the spec */
	uint32_t volume_n;
	uint32_t noted_n; /* volumes with those behind them that only queueing hints ask about */
	const struct bt_pod_claim *claims; /* in the order of the spec */
	uint32_t claim_n;
	const struct bt_extended_request *extended; /* by container; those above 0 */
	uint32_t extended_n;
	/* A name that spells status.extendedResourceClaimStatus out, which only events look at; BT_NAME_NONE
	 * where there is none. */
	uint32_t extended_status;
	/* Why the pod is known in part only, so that nobody decides where it goes; NULL: it is known whole.
	 */
	const char *incomplete;
	uint32_t pod_group; /* the name of the PodGroup that it belongs to, or BT_NAME_NONE */
	/* Of a pod that waits for room for its resize, its node, where that is sought; else BT_NAME_NONE. */
	uint32_t resize_node;
	/* The pod's own, when it has ephemeral volumes or ResourceClaims that were made for it, which belong
	 * to one pod; else BT_NAME_NONE. */
	uint32_t pod_name, pod_uid;
	uint64_t serial;	     /* nobody else ever has it; from 1 on */
	struct bt_signatures *table; /* private; NULL: it is made by hand, and stays */
};

/* Does a pod of the signature use the claim, maybe one that is made for an ephemeral volume? */
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

/* What one thread needs to make signatures. */
struct bt_signature_maker;

struct bt_signatures *bt_signatures_create(struct bt_dictionary *dictionary);
void bt_signatures_destroy(struct bt_signatures *signatures);

/* What pods ask for is added up as in this release, with these gates (by enum bt_gate); else as in
 * bt_release_default, with its defaults. Requires: there are no signatures yet, nor other threads. */
void bt_signatures_configure(
	struct bt_signatures *signatures, const struct bt_release *release, const bool *gates);

/* The thread that may retire signatures. Owns: the signatures. */
struct bt_owner *bt_signatures_owner(struct bt_signatures *signatures);

/* A maker for one more thread. Owns: bt_signature_maker_destroy, before the signatures end. */
struct bt_signature_maker *bt_signature_maker_create(struct bt_signatures *signatures);
void bt_signature_maker_destroy(struct bt_signature_maker *maker);

/*
 * The signature of a pod, which is made now if it is not known. It does not change any more.
 * Context: the maker's thread; lock-free when the signature is known.
 * Owns   : the caller holds it, until bt_signature_release.
 */
const struct bt_signature *bt_signature_make(
	struct bt_signature_maker *maker, const struct bt_pod_object *pod);

/* The same with a maker of the table's own. Context: one thread at a time, usually the scheduling thread. */
const struct bt_signature *bt_signatures_intern(
	struct bt_signatures *signatures, const struct bt_pod_object *pod);

/*
 * One more holder of a signature that the caller holds, and one fewer. NULL is let pass by release.
 * Context: any thread; lock-free unless the last one goes.
 */
void bt_signature_hold(const struct bt_signature *signature);
void bt_signature_release(const struct bt_signature *signature);

/* A signature by its index, which somebody holds; NULL: there is none. Context: any thread. */
const struct bt_signature *bt_signatures_get(const struct bt_signatures *signatures, uint32_t ix);

/* How many there are, and one more than the highest index that there ever was. Context: any thread. */
uint32_t bt_signatures_count(const struct bt_signatures *signatures);
uint32_t bt_signatures_end(const struct bt_signatures *signatures);

/* How many there are that nobody held at some time since they were weighed last. Context: any thread. */
uint32_t bt_signatures_listed(const struct bt_signatures *signatures);

/*
 * Retires signatures that nobody holds, but for the keep_n that were in use last: nobody finds them any more.
 * Context : the scheduling thread; others may make signatures meanwhile.
 * Requires: what was retired before was freed.
 * Returns : how many, and in out_ixs their indices, in order of their last use. Until they are freed
 *           bt_signatures_get gives them.
 */
uint32_t bt_signatures_retire(struct bt_signatures *signatures, uint32_t keep_n, const uint32_t **out_ixs);

/* Frees what was retired; its indices and names may be others' from now on. Context: the scheduling thread.
 * Requires: nobody has kept anything of it. */
void bt_signatures_free_retired(struct bt_signatures *signatures);
