/* SPDX-License-Identifier: Apache-2.0
 * ResourceClaims of PodGroups (gate DRAWorkloadResourceClaims): the group's pods share them, and they are
 * reserved for the PodGroup. Context: the scheduling thread. Source: plugins/dynamicresources, v1.36.3 and
 * v1.37.2.
 */
#pragma once

#include "plugins/plugin.h"

/* Do claims of a PodGroup concern the pod? */
bool bt_group_claims_concern(const struct bt_view *view, const struct bt_signature *signature);

/* Why the consumers of a pod's claims cannot be determined, as a kept text (bt_keep_text); NULL: they can.
 * Source: podResourceClaimBindings. */
const char *bt_group_claims_failure(const struct bt_view *view, const struct bt_signature *signature);

/* bt_plugin_group_unreserve_fn: the first claim of the pod's group that is allocated and reserved for the
 * group or the pod. Without one, *out_release and out_text stay unchanged. Source:
 * unreservePodGroupClaims, v1.36.3. */
bool bt_group_claims_unreserve(const struct bt_view *view, const struct bt_signature *signature,
	uint32_t pod_uid, struct bt_claim_release *out_release, struct bt_buf *out_text);
