/* SPDX-License-Identifier: Apache-2.0
 * Claims of PodGroups.
 */
#include "plugins/dynamic_resources/group_claims.h"

#include "cache/device_view.h"
#include "engine/base/check.h"

#define UNSUPPORTED "none of the supported fields are set"

bool bt_group_claims_concern(const struct bt_view *view, const struct bt_signature *signature)
{
	return view->devices->features.group_claims && signature->pod_group != BT_NAME_NONE;
}

static void write_missing(
	const struct bt_view *view, const struct bt_signature *signature, struct bt_buf *out_text)
{
	bt_buf_printf(out_text, "podgroup.scheduling.k8s.io \"%.*s\" not found",
		BT_STR_ARG(bt_view_str(view, signature->pod_group)));
}

/* Is there an entry that names no claim, before the one that matches the pod's? */
static const struct bt_group_claim *unsupported_before(
	const struct bt_claiming_group *group, const struct bt_pod_claim *named)
{
	uint32_t stated = named->kind == BT_POD_CLAIM_NAMED ? named->claim : BT_NAME_NONE;

	for (uint32_t i = 0; i < group->claim_n; i++) {
		const struct bt_group_claim *claim = &group->claims[i];

		if (claim->kind == BT_POD_CLAIM_UNSUPPORTED) {
			return claim;
		}
		if (claim->name == named->name && claim->stated == stated &&
			claim->template_ == named->template_) {
			return NULL;
		}
	}
	return NULL;
}

const char *bt_group_claims_failure(const struct bt_view *view, const struct bt_signature *signature)
{
	const struct bt_claiming_group *group = bt_device_store_group(view->devices, signature);
	struct bt_buf text = {.len = 0};

	if (!bt_group_claims_concern(view, signature)) {
		return NULL;
	}
	if (!group) {
		write_missing(view, signature, &text);
	}
	for (uint32_t i = 0; group && i < signature->claim_n && text.len == 0; i++) {
		const struct bt_group_claim *claim = unsupported_before(group, &signature->claims[i]);

		if (claim) {
			bt_buf_printf(&text, "PodGroup %.*s/%.*s claim %.*s: " UNSUPPORTED,
				BT_STR_ARG(bt_view_str(view, group->namespace_)),
				BT_STR_ARG(bt_view_str(view, group->name)),
				BT_STR_ARG(bt_view_str(view, claim->name)));
		}
	}
	const char *why = text.len ? bt_keep_text(view, "%.*s", BT_STR_ARG(bt_buf_view(&text))) : NULL;
	bt_buf_fini(&text);
	return why;
}

/* Can the claim not be looked up? Writes the reason. Source: NameFromPodGroup, resourceclaim of
 * k8s.io/dynamic-resource-allocation, v0.36.3. */
static bool fails(const struct bt_view *view, const struct bt_claiming_group *group,
	const struct bt_group_claim *claim, const struct bt_resource_claim *made, struct bt_buf *out_text)
{
	struct bt_str space = bt_view_str(view, group->namespace_), name = bt_view_str(view, group->name);

	if (claim->kind == BT_POD_CLAIM_NOT_CREATED) {
		bt_buf_printf(out_text, "PodGroup %.*s/%.*s: ResourceClaim not created yet",
			BT_STR_ARG(space), BT_STR_ARG(name));
		return true;
	}
	if (claim->kind == BT_POD_CLAIM_UNSUPPORTED) {
		bt_buf_printf(out_text, "PodGroup %.*s/%.*s, spec.resourceClaim %.*s: " UNSUPPORTED,
			BT_STR_ARG(space), BT_STR_ARG(name), BT_STR_ARG(bt_view_str(view, claim->name)));
		return true;
	}
	if (!made) {
		bt_buf_printf(out_text, "could not find ResourceClaim \"%.*s/%.*s\"", BT_STR_ARG(space),
			BT_STR_ARG(bt_view_str(view, claim->claim)));
	}
	return !made;
}

bool bt_group_claims_unreserve(const struct bt_view *view, const struct bt_signature *signature,
	uint32_t pod_uid, struct bt_claim_release *out_release, struct bt_buf *out_text)
{
	const struct bt_claiming_group *group = bt_device_store_group(view->devices, signature);

	BT_REQUIRE(bt_group_claims_concern(view, signature));
	if (!group) {
		write_missing(view, signature, out_text);
		return false;
	}
	for (uint32_t i = 0; i < group->claim_n; i++) {
		const struct bt_group_claim *claim = &group->claims[i];
		const struct bt_resource_claim *made =
			claim->claim == BT_NAME_NONE
				? NULL
				: bt_device_store_claim(view->devices, group->namespace_, claim->claim);

		if (claim->kind == BT_POD_CLAIM_NONE) {
			continue;
		}
		if (fails(view, group, claim, made, out_text)) {
			return false;
		}
		if ((claim->kind == BT_POD_CLAIM_GENERATED && made->owner_uid != group->uid) ||
			!made->allocated ||
			!bt_device_store_reserved(view->devices, made, signature, pod_uid)) {
			continue;
		}
		*out_release = (struct bt_claim_release){BT_CLAIMS_UNRESERVE,
			(uint32_t)(made - view->devices->claims), made->name, made->uid, group->uid};
		bt_buf_text(out_text, "ResourceClaim unreserved for PodGroup");
		return true;
	}
	return true;
}
