/* SPDX-License-Identifier: Apache-2.0
 * VolumeZone. Source: plugins/volumezone, v1.36.3.
 */
#include "plugins/volume_zone/volume_zone.h"
#include "engine/base/check.h"

#include "cache/node_view.h"
#include "cache/storage_view.h"

enum volume_zone_reason_kind {
	ZONE = 0,
	TEXT /* arg: a name; PreFilter's message, in a profile without PreFilter */
};

struct volume_zone_term {
	const struct bt_signature *signature;
	bool reads_each_cycle;	      /* the profile lacks PreFilter, so Filter does its lookups */
	struct bt_volume_zone *zones; /* of the volumes, in this cycle */
	uint32_t zone_n;
	const char *refusal; /* in this cycle, or NULL */
};

static void volume_zone_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	struct volume_zone_term *term = bt_arena_zalloc(env->arena, sizeof(*term));

	term->signature = signature;
	term->reads_each_cycle = *(const bool *)settings;
	for (uint32_t i = 0; i < signature->volume_n; i++) {
		out_compiled->state =
			signature->volumes[i].type == BT_VOLUME_CLAIM ? term : out_compiled->state;
	}
	term->zones =
		bt_arena_zalloc(env->arena, signature->volume_n * BT_VOLUME_ZONES * sizeof(*term->zones));
	out_compiled->term = term;
	out_compiled->filter_skip = !out_compiled->state;
	out_compiled->score_skip = true;
}

/* Why a claim without a volume refuses the pod, or NULL when it waits for its first consumer. */
static const char *unbound(const struct bt_view *view, const struct bt_claim *claim)
{
	BT_INVARIANT(claim->volume == BT_NAME_EMPTY);
	if (claim->class_ == BT_NAME_EMPTY) {
		return "PersistentVolumeClaim had no pv name and storageClass name";
	}
	const struct bt_storage_class *class_ = bt_storage_class(view->storage, claim->class_);
	if (!class_) {
		return bt_keep_text(view, "storageclass.storage.k8s.io \"%.*s\" not found",
			BT_STR_ARG(bt_view_str(view, claim->class_)));
	}
	if (!class_->has_mode) {
		return bt_keep_text(view, "VolumeBindingMode not set for StorageClass \"%.*s\"",
			BT_STR_ARG(bt_view_str(view, claim->class_)));
	}
	return class_->waits ? NULL : "PersistentVolume had no name";
}

/* Adds a volume's zones. Returns why the pod is refused, or NULL. */
static const char *add_claim(struct volume_zone_term *term, const struct bt_view *view, uint32_t name)
{
	if (name == BT_NAME_EMPTY) {
		return "PersistentVolumeClaim had no name";
	}
	const struct bt_claim *claim = bt_storage_claim(view->storage, term->signature->namespace_, name);
	if (!claim) {
		return bt_keep_text(view, "persistentvolumeclaim \"%.*s\" not found",
			BT_STR_ARG(bt_view_str(view, name)));
	}
	if (claim->volume == BT_NAME_EMPTY) {
		return unbound(view, claim);
	}
	const struct bt_pv *pv = bt_storage_pv(view->storage, claim->volume);
	if (!pv) {
		return bt_keep_text(view, "persistentvolume \"%.*s\" not found",
			BT_STR_ARG(bt_view_str(view, claim->volume)));
	}
	BT_INVARIANT(term->zone_n + pv->zone_n <= term->signature->volume_n * BT_VOLUME_ZONES);
	for (uint32_t i = 0; i < pv->zone_n; i++) {
		term->zones[term->zone_n++] = pv->zones[i];
	}
	return NULL;
}

static void pre_filter(void *state, const struct bt_view *view, struct bt_compiled *compiled)
{
	struct volume_zone_term *term = state;

	term->zone_n = 0;
	term->refusal = NULL;
	for (uint32_t i = 0; i < term->signature->volume_n && !term->refusal; i++) {
		if (term->signature->volumes[i].type == BT_VOLUME_CLAIM) {
			term->refusal = add_claim(term, view, term->signature->volumes[i].source);
		}
	}
	if (term->refusal) {
		bt_refuse(compiled, term->refusal);
	}
	compiled->filter_skip = !term->refusal && term->zone_n == 0;
}

/* Keeps PreFilter's data: copies zones, and retains what they point to (bt_volumes_retain). */
static void state_changes(
	struct bt_compiled *compiled, const struct bt_view *view, enum bt_state_change change)
{
	const struct volume_zone_term *term = compiled->state;

	if (change == BT_STATE_HAS_CHANGED && term && term->reads_each_cycle) {
		pre_filter(compiled->state, view, compiled);
	}
}

static bool in_zone(struct bt_labels labels, const struct bt_volume_zone *zone)
{
	uint32_t value = bt_labels_get(labels, zone->key);

	/* A beta label of the volume matches the node's GA label, not the other way round. */
	if (!value && zone->key == BT_NAME_BETA_ZONE) {
		value = bt_labels_get(labels, BT_NAME_ZONE);
	} else if (!value && zone->key == BT_NAME_BETA_REGION) {
		value = bt_labels_get(labels, BT_NAME_REGION);
	}
	for (uint32_t i = 0; value && i < zone->value_n; i++) {
		if (zone->values[i] == value) {
			return true;
		}
	}
	return false;
}

static bool zones_match(const struct volume_zone_term *term, struct bt_labels labels)
{
	if (!bt_labels_get(labels, BT_NAME_BETA_ZONE) && !bt_labels_get(labels, BT_NAME_BETA_REGION) &&
		!bt_labels_get(labels, BT_NAME_ZONE) && !bt_labels_get(labels, BT_NAME_REGION)) {
		return true;
	}
	for (uint32_t i = 0; i < term->zone_n; i++) {
		if (!in_zone(labels, &term->zones[i])) {
			return false;
		}
	}
	return true;
}

static void volume_zone_filter(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct volume_zone_term *term = opaque;

	BT_REQUIRE_HOT(first + n <= view->snapshot->slot_n);
	for (uint32_t i = 0; i < n; i++) {
		pass[i] = !term->refusal && zones_match(term, view->snapshot->nodes[first + i].labels);
	}
}

static void volume_zone_reject(
	const void *opaque, const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out_rejection)
{
	const struct volume_zone_term *term = opaque;

	(void)node_ix;
	bt_reject_with(out_rejection, BT_UNSCHEDULABLE_AND_UNRESOLVABLE, term->refusal ? TEXT : ZONE);
	if (term->refusal) {
		out_rejection->reasons[0].arg =
			bt_texts_keep(view->snapshot->dictionary->texts, bt_str(term->refusal));
	}
}

static void reason_text(
	const struct bt_dictionary *dictionary, const struct bt_reason *reason, struct bt_buf *out_text)
{
	if (reason->kind == TEXT) {
		bt_buf_str(out_text, bt_intern_str(dictionary->intern, reason->arg));
	} else {
		bt_buf_text(out_text, "node(s) had no available volume zone");
	}
}

/* ---- queueing hints ---- */

static bool after_class_added(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	(void)env;
	return event->object.changes & BT_CHANGED_WAITS;
}

/* As upstream, claims of ephemeral volumes are ignored. */
static bool after_claim_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct bt_signature *signature = env->signature;

	for (uint32_t i = 0; i < signature->volume_n; i++) {
		if (signature->volumes[i].type == BT_VOLUME_CLAIM &&
			signature->volumes[i].source == event->object.name) {
			return event->object.namespace_ == signature->namespace_;
		}
	}
	return false;
}

static bool after_volume_change(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	(void)env;
	return event->action == BT_ADD || (event->object.changes & BT_CHANGED_ZONE_LABELS);
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_STORAGE_CLASS, BT_ADD, after_class_added, 0},
	{BT_CLUSTER_EVENT_NODE, BT_ADD | BT_UPDATE_NODE_LABEL, NULL, 0},
	{BT_CLUSTER_EVENT_PERSISTENT_VOLUME_CLAIM, BT_ADD | BT_UPDATE, after_claim_change, 0},
	{BT_CLUSTER_EVENT_PERSISTENT_VOLUME, BT_ADD | BT_UPDATE, after_volume_change, 0},
};

static const void *settings_of(const struct bt_settings_env *env, const void *args)
{
	bool *reads_each_cycle = bt_arena_zalloc(env->arena, sizeof(*reads_each_cycle));

	(void)args;
	*reads_each_cycle = !(env->points & BT_AT(PRE_FILTER));
	return reads_each_cycle;
}

const struct bt_plugin bt_plugin_volume_zone = {
	.name = "VolumeZone",
	.ignores_resizes = true,
	.points = BT_AT(PRE_FILTER) | BT_AT(FILTER),
	.settings = settings_of,
	.filter_depends = BT_DEPENDS_ON_COUNTERS,
	.compile = volume_zone_compile,
	.filter = volume_zone_filter,
	.reject = volume_zone_reject,
	.reason = reason_text,
	.pre_filter = pre_filter,
	.state_changes = state_changes,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
