/* SPDX-License-Identifier: Apache-2.0
 * Source: handleVolume, pkg/controller/volume/ephemeral, v1.37.2.
 */
#include "tools/kube/objects/ephemeral.h"

#include <string.h>

#include "engine/base/check.h"
#include "tools/format/object_schema.h"

static bool read_template(
	struct bt_str text, struct bt_arena *arena, struct bt_claim_object *out, struct bt_buf *out_reason)
{
	struct bt_json *json = bt_json_create();
	struct bt_decode decode = {.json = json, .arena = arena};

	bt_json_begin(json, text, arena);
	bool ok = bt_schema_decode(&decode, &bt_claim_template_schema, out);
	if (!ok) {
		bt_buf_printf(
			out_reason, "volumeClaimTemplate.%s: %s", decode.error.path, decode.error.message);
	}
	bt_json_destroy(json);
	return ok;
}

static struct bt_str claim_name(struct bt_arena *arena, struct bt_str pod, struct bt_str volume)
{
	struct bt_str name = {NULL, pod.len + 1 + volume.len};
	char *text = bt_arena_alloc(arena, name.len + 1, 1);

	memcpy(text, pod.ptr, pod.len);
	text[pod.len] = '-';
	memcpy(text + pod.len + 1, volume.ptr, volume.len);
	text[name.len] = '\0';
	name.ptr = text;
	return name;
}

bool bt_ephemeral_claim(const struct bt_pod_object *pod, const struct bt_volume_object *volume,
	struct bt_arena *arena, struct bt_claim_object *out, struct bt_buf *out_reason)
{
	struct bt_claim_object claim = {.has_storage_class = false};
	struct bt_owner_object *owner;

	BT_REQUIRE(volume->type == BT_VOLUME_EPHEMERAL);
	if (!volume->claim_template.len || !volume->name.len) {
		bt_buf_text(out_reason, "the volume has no volumeClaimTemplate");
		return false;
	}
	if (!read_template(volume->claim_template, arena, &claim, out_reason)) {
		return false;
	}
	owner = bt_arena_zalloc(arena, sizeof(*owner));
	*owner = (struct bt_owner_object){.api_version = BT_STR("v1"),
		.kind = BT_STR("Pod"),
		.name = pod->meta.name,
		.uid = pod->meta.uid,
		.controller = true};
	claim.meta = (struct bt_meta_object){.name = claim_name(arena, pod->meta.name, volume->name),
		.namespace_ = pod->meta.namespace_,
		.creation_ns = pod->meta.creation_ns,
		.labels = claim.meta.labels,
		.annotations = claim.meta.annotations,
		.owners = owner,
		.owner_n = 1};
	*out = claim;
	return true;
}
