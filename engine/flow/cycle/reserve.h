/* SPDX-License-Identifier: Apache-2.0
 * Reserve and PreBind: the claims of a pod get what was found for them on its node. What they get is noted
 * when the node is chosen and entered when the pod is assumed, because claims may have come and gone in
 * between.
 * Owns: the notes and the names in them (bt_reserved_fini). Writer: reserve.c. Thread: the scheduling
 * thread.
 */
#pragma once

#include "cache/ingest.h"
#include "cache/volumes.h"
#include "engine/model/name_refs.h"
#include "engine/flow/config/profile.h"
#include "engine/score/plan.h"
#include "plugins/points.h"

/* What a ResourceClaim gets, if it is still there. */
struct bt_reserved_choice {
	struct bt_device_choice choice;
	uint32_t name, uid; /* the claim's */
};

/* What is to be assumed of a binding: the PersistentVolume, or the claim when there is none; as it was. */
struct bt_reserved_volume {
	uint32_t claim, volume; /* names, held */
	bool bound;		/* the volume was the claim's already, by UID: there is nothing to assume */
	uint64_t version, shown;
};

/* What the claims of the cycle's pod get on its node. Private. */
struct bt_reserved {
	struct bt_cache *cache;	   /* init: */
	bool always;		   /* init: every pod concerns Reserve of some plugin */
	bool binder_writes_claims; /* init: and finds out what has become of them; else it is done here */
	uint32_t pod_ix, node_ix;  /* BT_NO_POD: nothing is noted */
	uint64_t storage, devices; /* versions of the stores when it was chosen */
	struct bt_volume_binding *bindings;
	struct bt_reserved_volume *volumes; /* by binding */
	struct bt_name_refs names;
	struct bt_buf why; /* what has failed in the second half */
	struct bt_reserved_choice *choices;
	struct bt_device_choice *given; /* room for as many */
	uint32_t binding_n, choice_n;
	size_t binding_cap, volume_cap, choice_cap, given_cap;
	const char *volumes_by, *choices_by; /* the names of the plugins that said so */
};

/* What comes of reserving. */
enum bt_reserve {
	BT_RESERVED = 0,
	BT_RESERVE_FAILS,  /* nothing is assumed */
	BT_PRE_BIND_FAILS, /* the pod is assumed; what would be bound has gone */
};

void bt_reserved_init(
	struct bt_reserved *reserved, struct bt_cache *cache, bool always, bool binder_writes_claims);
void bt_reserved_fini(struct bt_reserved *reserved);

/* A pod is looked at: nothing is noted for it. */
void bt_reserved_begin(struct bt_reserved *reserved);

/* Notes what the claims of a pod get on the node that was chosen for it. */
void bt_reserved_choose(
	struct bt_reserved *reserved, const struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix);

/* The same, unless it is noted already. */
void bt_reserved_choose_once(
	struct bt_reserved *reserved, const struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix);

/* Notes that they get nothing there. */
void bt_reserved_choose_nothing(struct bt_reserved *reserved, uint32_t pod_ix, uint32_t node_ix);

/*
 * Reserve and assume: the pod counts on the node, and its claims have got what was found for them; unless
 * something has become of them since then, which bt_reserved_why says.
 */
enum bt_reserve bt_reserved_assume(
	struct bt_reserved *reserved, struct bt_plan *plan, uint32_t pod_ix, uint32_t node_ix);

/*
 * Does PreBind succeed for an assumed pod? Where a binder writes its claims, the binder answers. Otherwise
 * bt_reserved_why has upstream's text. env: of the pod. Source: patchPodExtendedResourceClaimStatus,
 * v1.36.3: a pod with claims whose extended resources a device plugin provides on its node, though a
 * DeviceClass serves for them, never gets there.
 */
bool bt_reserved_prebinds(
	struct bt_reserved *reserved, const struct bt_hooks *hooks, uint32_t pod_ix, struct bt_pod_env *env);

/* A resize has room, which bt_reserved_why takes for a failure: the pod is on the node already; or, if it has
 * gone meanwhile, the first plugin that would reserve misses what it has not worked out. Source:
 * cacheImpl.AssumePod, VolumeBinding.Reserve, v1.37.2. */
void bt_reserved_fail_resize(
	struct bt_reserved *reserved, const struct bt_plan *plan, const struct bt_pod *pod);

/* What has failed in the second half of a cycle, and that it has: no text yet; a claim has gone that was to
 * be released. Valid until the next call. */
struct bt_str bt_reserved_why(const struct bt_reserved *reserved);
void bt_reserved_clear_why(struct bt_reserved *reserved);
void bt_reserved_claim_gone(struct bt_reserved *reserved, uint32_t name);
