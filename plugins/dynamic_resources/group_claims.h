/* SPDX-License-Identifier: Apache-2.0
 * What DynamicResources asks of PodGroups that have claims (gate DRAWorkloadResourceClaims): their pods share
 * these, and they are reserved for the PodGroup. Context: the scheduling thread. Source:
 * plugins/dynamicresources, v1.36.3 and v1.37.2.
 */
#pragma once

#include "plugins/plugin.h"

/* Does it matter for a pod whether its PodGroup has claims? */
bool bt_group_claims_concern(const struct bt_view *view, const struct bt_signature *signature);

/* Why it cannot be said whom a pod's claims are to be reserved for, as a kept text (bt_keep_text); NULL: it
 * can. Source: podResourceClaimBindings. */
const char *bt_group_claims_trouble(const struct bt_view *view, const struct bt_signature *signature);

/* bt_plugin_group_unreserve_fn: the first claim of the pod's group that is allocated and reserved for the
 * group, or the pod. Nothing is said where there is none. Source: unreservePodGroupClaims, v1.36.3. */
bool bt_group_claims_unreserve(const struct bt_view *view, const struct bt_signature *signature,
	uint32_t pod_uid, struct bt_claim_release *out_release, struct bt_buf *out_text);
