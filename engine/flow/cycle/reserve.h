/* SPDX-License-Identifier: Apache-2.0
 * Reserve and PreBind: volumes and devices for a pod's claims on its node. They are saved when the node is
 * chosen and assumed with the pod, because claims may have changed in between.
 * Owns: the saved choices and the names in them (bt_reserved_fini). Writer: reserve.c. Thread: the scheduling
 *       thread.
 */
#pragma once

#include "cache/ingest.h"
#include "cache/volumes.h"
#include "engine/model/name_refs.h"
#include "engine/flow/config/profile.h"
#include "engine/score/plan.h"
#include "plugins/points.h"

/* The choice for a ResourceClaim, valid while the claim exists. */
struct bt_reserved_choice {
	struct bt_device_choice choice;
	uint32_t name, uid; /* the claim's */
};

/* The object to assume for a binding: the PersistentVolume, or the claim when there is none; as of the
 * choice. */
struct bt_reserved_volume {
	uint32_t claim, volume; /* names, held */
	bool bound;		/* the volume was already bound to the claim, by UID: nothing to assume */
	uint64_t version, shown;
};

/* The choices for the claims of the cycle's pod on its node. Private. */
struct bt_reserved {
	struct bt_cache *cache;	   /* init: */
	bool always;		   /* init: a Reserve plugin concerns every pod */
	bool binder_writes_claims; /* init: otherwise PreBind runs here */
	uint32_t pod_ix, node_ix;  /* BT_NO_POD: no choice */
	uint64_t storage, devices; /* versions of the stores at the choice */
	struct bt_volume_binding *bindings;
	struct bt_reserved_volume *volumes; /* by binding */
	struct bt_name_refs names;
	struct bt_buf why; /* the failure of the cycle's second half */
	struct bt_reserved_choice *choices;
	struct bt_device_choice *given;		 /* scratch */
	const struct bt_node_claim *node_claims; /* of the plugin, as long as what it has chosen */
	uint32_t binding_n, choice_n, node_claim_n;
	size_t binding_cap, volume_cap, choice_cap, given_cap;
	const char *volumes_by, *choices_by; /* names of the plugins that chose them */
};

/* The result of Reserve. */
enum bt_reserve {
	BT_RESERVED = 0,
	BT_RESERVE_FAILS,  /* nothing is assumed */
	BT_PRE_BIND_FAILS, /* the pod is assumed; an object to bind was deleted */
};

void bt_reserved_init(
	struct bt_reserved *reserved, struct bt_cache *cache, bool always, bool binder_writes_claims);
void bt_reserved_fini(struct bt_reserved *reserved);

/* Takes an assumption back: the pod is queued again, and its claims take nothing of the node. Requires: it is
 * assumed. */
void bt_reserved_forget(struct bt_cache *cache, uint32_t pod_ix);

/* The signature that a pod keeps which is assumed, as its object is now: with what its claims take of the
 * node. Returns: NULL: that of its object. Owns: as bt_signature_make. */
const struct bt_signature *bt_reserved_signature(
	struct bt_cache *cache, const struct bt_pod *assumed, const struct bt_signature *now);

/* Clears the choice for a cycle or an explanation. */
void bt_reserved_begin(struct bt_reserved *reserved);

/* Saves the choices for the pod's claims on its chosen node. */
void bt_reserved_choose(
	struct bt_reserved *reserved, const struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix);

/* The same, unless they are saved already. */
void bt_reserved_choose_once(
	struct bt_reserved *reserved, const struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix);

/* Records that the node has none. */
void bt_reserved_choose_nothing(struct bt_reserved *reserved, uint32_t pod_ix, uint32_t node_ix);

/*
 * Reserve and assume: enters the pod on the node, and the choices for its claims; fails if an object of
 * theirs has changed, with the reason in bt_reserved_why.
 */
enum bt_reserve bt_reserved_assume(
	struct bt_reserved *reserved, struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix);

/*
 * Does PreBind succeed for an assumed pod? If a binder writes its claims, the binder answers that. Otherwise
 * bt_reserved_why has upstream's text. env: of the pod. Source: patchPodExtendedResourceClaimStatus, v1.36.3:
 * PreBind always fails for a pod with claims whose extended resources a device plugin provides on its node,
 * though a DeviceClass provides them, too.
 */
bool bt_reserved_prebinds(
	struct bt_reserved *reserved, const struct bt_hooks *hooks, uint32_t pod_ix, struct bt_pod_env *env);

/* Sets the failure of a resize that fits: the pod is on the node already; or, if it was deleted meanwhile,
 * the first plugin that would reserve has no PreFilter result. Source: cacheImpl.AssumePod,
 * VolumeBinding.Reserve, v1.37.2. */
void bt_reserved_fail_resize(
	struct bt_reserved *reserved, const struct bt_plan *plan, const struct bt_pod *pod);

/* The failure in the second half of a cycle; clears it; sets it, because the claim to release was deleted.
 * Valid until the next call. */
struct bt_str bt_reserved_why(const struct bt_reserved *reserved);
void bt_reserved_clear_why(struct bt_reserved *reserved);
void bt_reserved_set_why(struct bt_reserved *reserved, struct bt_str why);
void bt_reserved_claim_deleted(struct bt_reserved *reserved, uint32_t name);
