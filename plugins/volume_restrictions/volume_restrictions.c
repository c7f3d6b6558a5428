/* SPDX-License-Identifier: Apache-2.0
 * VolumeRestrictions. Source: plugins/volumerestrictions, v1.36.3.
 */
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "engine/base/check.h"

#include "cache/storage_view.h"

enum volume_restrictions_reason_kind { DISK_CONFLICT = 0, ONE_POD_CONFLICT };

struct volume_restrictions_term {
	const struct bt_signature *signature;
	bool has_disks; /* disks that may conflict */
	/* In this cycle, by volume: is its claim ReadWriteOncePod? And how many of those another pod uses. */
	bool *alone;
	int64_t conflicts;
};

static bool may_conflict(enum bt_volume_type type)
{
	return type == BT_VOLUME_GCE_PD || type == BT_VOLUME_AWS_EBS || type == BT_VOLUME_RBD ||
	       type == BT_VOLUME_ISCSI;
}

static void volume_restrictions_compile(const void *settings, const struct bt_compile_env *env,
	const struct bt_signature *signature, struct bt_compiled *out_compiled)
{
	struct volume_restrictions_term *term = bt_arena_zalloc(env->arena, sizeof(*term));
	bool bind_requests = false;

	(void)settings;
	term->signature = signature;
	for (uint32_t i = 0; i < signature->volume_n; i++) {
		term->has_disks |= may_conflict(signature->volumes[i].type);
		bind_requests |= signature->volumes[i].type == BT_VOLUME_CLAIM;
	}
	term->alone = bt_arena_zalloc(env->arena, signature->volume_n * sizeof(*term->alone));
	out_compiled->term = term;
	out_compiled->state = bind_requests || term->has_disks ? term : NULL;
	out_compiled->filter_skip = !out_compiled->state;
	out_compiled->score_skip = true;
}

/* Does an earlier volume name the same claim? */
static bool repeated(const struct bt_signature *signature, uint32_t at)
{
	BT_INVARIANT(at < signature->volume_n);
	for (uint32_t i = 0; i < at; i++) {
		if (signature->volumes[i].type == BT_VOLUME_CLAIM &&
			signature->volumes[i].source == signature->volumes[at].source) {
			return true;
		}
	}
	return false;
}

static void pre_filter(void *state, const struct bt_view *view, struct bt_compiled *compiled)
{
	struct volume_restrictions_term *term = state;
	const struct bt_signature *signature = term->signature;
	const struct bt_storage *storage = view->storage;

	term->conflicts = 0;
	for (uint32_t i = 0; i < signature->volume_n; i++) {
		const struct bt_pod_volume *volume = &signature->volumes[i];

		term->alone[i] = false;
		if (volume->type != BT_VOLUME_CLAIM) {
			continue;
		}
		const struct bt_claim *claim =
			bt_storage_claim(storage, signature->namespace_, volume->source);
		if (!claim) {
			bt_refuse(compiled, bt_keep_text(view, "persistentvolumeclaim \"%.*s\" not found",
						    BT_STR_ARG(bt_view_str(view, volume->source))));
			return;
		}
		term->alone[i] = (claim->access_modes & BT_READ_WRITE_ONCE_POD) && !repeated(signature, i);
		term->conflicts += term->alone[i] && storage->in_use(storage->context, claim);
	}
	BT_INVARIANT(term->conflicts >= 0 && term->conflicts <= signature->volume_n);
	compiled->filter_skip = !term->has_disks && term->conflicts == 0;
}

/*
 * Does another pod use one of the pod's ReadWriteOncePod claims? Pods of dry runs count by the names of their
 * claims only, once per mention. Source: updateWithPod, v1.36.3.
 */
static bool claims_taken(const struct volume_restrictions_term *term, const struct bt_storage *storage)
{
	const struct bt_signature *signature = term->signature;
	int64_t conflicts = term->conflicts;

	for (uint32_t t = 0; t < storage->trial_n; t++) {
		for (uint32_t i = 0; i < signature->volume_n; i++) {
			if (term->alone[i] && signature->volumes[i].source == storage->trials[t].claim) {
				conflicts += storage->trials[t].volume_n;
			}
		}
	}
	return conflicts > 0;
}

static bool same_monitor(const struct bt_pod_volume *a, const struct bt_pod_volume *b)
{
	for (uint32_t i = 0; i < a->monitor_n; i++) {
		for (uint32_t j = 0; j < b->monitor_n; j++) {
			if (a->monitors[i] == b->monitors[j]) {
				return true;
			}
		}
	}
	return false;
}

static bool conflict(const struct bt_pod_volume *a, const struct bt_pod_volume *b)
{
	if (a->type != b->type || !may_conflict(a->type) || a->source != b->source) {
		return false;
	}
	BT_INVARIANT(may_conflict(b->type));
	if (a->type == BT_VOLUME_AWS_EBS) {
		return true;
	}
	if (a->type == BT_VOLUME_RBD && (a->pool != b->pool || !same_monitor(a, b))) {
		return false;
	}
	return !(a->read_only && b->read_only);
}

static bool conflicts_with(const struct bt_signature *signature, const struct bt_signature *user)
{
	for (uint32_t i = 0; i < signature->volume_n; i++) {
		for (uint32_t j = 0; j < user->volume_n; j++) {
			if (conflict(&signature->volumes[i], &user->volumes[j])) {
				return true;
			}
		}
	}
	return false;
}

static bool disks_free(
	const struct volume_restrictions_term *term, const struct bt_storage *storage, uint32_t node_ix)
{
	if (!term->has_disks || node_ix >= storage->user_slot_n) {
		return true;
	}
	for (uint32_t i = 0; i < storage->users[node_ix].n; i++) {
		if (conflicts_with(term->signature, storage->users[node_ix].items[i])) {
			return false;
		}
	}
	return true;
}

static void volume_restrictions_filter(
	const void *opaque, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	const struct volume_restrictions_term *term = opaque;
	bool taken = claims_taken(term, view->storage);

	for (uint32_t i = 0; i < n; i++) {
		pass[i] = !taken && disks_free(term, view->storage, first + i);
	}
}

static void filter_disks(
	const void *term, const struct bt_view *view, uint32_t first, uint32_t n, uint8_t *pass)
{
	for (uint32_t i = 0; i < n; i++) {
		pass[i] = disks_free(term, view->storage, first + i);
	}
}

static void volume_restrictions_reject(
	const void *opaque, const struct bt_view *view, uint32_t node_ix, struct bt_rejection *out_rejection)
{
	bool disk = !disks_free(opaque, view->storage, node_ix);

	bt_reject_with(out_rejection, BT_UNSCHEDULABLE, disk ? DISK_CONFLICT : ONE_POD_CONFLICT);
}

static const char *const reasons[] = {
	[DISK_CONFLICT] = "node(s) had no available disk",
	[ONE_POD_CONFLICT] = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod "
			     "access mode already in-use by another pod",
};

/* ---- queueing hints ---- */

static bool uses_claim(const struct bt_signature *signature, uint32_t name)
{
	for (uint32_t i = 0; i < signature->volume_n; i++) {
		if (signature->volumes[i].type == BT_VOLUME_CLAIM && signature->volumes[i].source == name) {
			return true;
		}
	}
	return false;
}

static bool after_claim_added(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	return event->object.namespace_ == env->signature->namespace_ &&
	       uses_claim(env->signature, event->object.name);
}

/* As upstream, it is not checked whether the pod was on a node. */
static bool after_pod_deleted(const struct bt_hint_env *env, const struct bt_cluster_event *event)
{
	const struct bt_signature *gone = event->pod.old.signature, *waiting = env->signature;

	if (gone->namespace_ != waiting->namespace_) {
		return false;
	}
	for (uint32_t i = 0; i < gone->volume_n; i++) {
		const struct bt_pod_volume *volume = &gone->volumes[i];

		if (volume->type == BT_VOLUME_CLAIM && uses_claim(waiting, volume->source)) {
			return true;
		}
	}
	return conflicts_with(waiting, gone);
}

static const struct bt_registration events[] = {
	{BT_CLUSTER_EVENT_ASSIGNED_POD, BT_DELETE, after_pod_deleted, 0},
	{BT_CLUSTER_EVENT_NODE, BT_ADD, NULL, 0},
	{BT_CLUSTER_EVENT_PERSISTENT_VOLUME_CLAIM, BT_ADD, after_claim_added, 0},
};

const struct bt_plugin bt_plugin_volume_restrictions = {
	.name = "VolumeRestrictions",
	.ignores_resizes = true,
	.points = BT_AT(PRE_FILTER) | BT_AT(FILTER),
	.filter_depends = BT_DEPENDS_ON_COUNTERS,
	.no_pre_filter_error = "cannot read \"PreFilterVolumeRestrictions\" from cycleState",
	.filter_first = filter_disks,
	.compile = volume_restrictions_compile,
	.filter = volume_restrictions_filter,
	.reject = volume_restrictions_reject,
	.reasons = reasons,
	.pre_filter = pre_filter,
	.events = events,
	.event_n = sizeof(events) / sizeof(events[0]),
};
