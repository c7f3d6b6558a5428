/* SPDX-License-Identifier: Apache-2.0
 * Internals of the API server of histories.
 */
#pragma once

#include "tools/offline/verdict/api.h"

/* The stored object, or NULL. Valid until one is created. */
struct bt_api_object *bt_api_find(
	struct bt_api *api, struct bt_str kind, struct bt_str namespace_, struct bt_str name);

/* Applies an object's new state to the engine, with a new resource version. */
void bt_api_show(struct bt_api *api, struct bt_api_object *stored);

/* A stored ResourceClaim as a value, which does not change. */
const struct bt_resource_claim_object *bt_api_claim(struct bt_api *api, const struct bt_api_object *stored);

/* The current object, in the scratch arena: valid until the next object is built. Requires: its texts
 * have been decoded before. */
void bt_api_build(struct bt_api *api, const struct bt_api_object *stored, struct bt_object *out);

/* A copy of the text, as long-lived as the API. */
struct bt_str bt_api_keep(struct bt_api *api, struct bt_str text);

/* ---- api_node_claims.c ---- */

/* Patches status.nodeAllocatableResourceClaimStatuses of a pod: PreBind adds the claims of the signature,
 * and when the binding has failed Unreserve removes them. Nothing happens without such claims. stored:
 * NULL: the pod was deleted. */
void bt_api_write_node_claims(
	struct bt_api *api, struct bt_api_object *stored, const struct bt_signature *signature, bool bound);

/* ---- api_claims.c ---- */

/* PreBind writes the pod's claims, then bind binds it; if either fails, the claims are unreserved. Answers
 * the engine. */
void bt_api_bind_pod(struct bt_api *api, uint32_t pod_ix, bool (*bind)(struct bt_api *api, uint32_t pod_ix));

/* Removes the pod from its claims' reservations: bt_unreserver. */
void bt_api_unreserve_pod(void *context, struct bt_engine *engine, uint32_t pod_ix);

/* PostFilter deallocates a claim, or deletes one for extended resources: bt_releaser. */
void bt_api_release_claim(
	void *context, struct bt_engine *engine, const struct bt_claim_release *release, uint32_t for_ix);
