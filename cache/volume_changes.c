/* SPDX-License-Identifier: Apache-2.0
 * The changes in an update of a storage object that queueing hints use. Source: the hints of
 * plugins/nodevolumelimits, volumebinding and volumezone, v1.36.3.
 */
#include "cache/volumes_int.h"

static bool has_value(const struct bt_volume_zone *zone, uint32_t value)
{
	for (uint32_t i = 0; i < zone->value_n; i++) {
		if (zone->values[i] == value) {
			return true;
		}
	}
	return false;
}

static bool contains(const struct bt_volume_zone *zone, const struct bt_volume_zone *other)
{
	for (uint32_t i = 0; i < other->value_n; i++) {
		if (!has_value(zone, other->values[i])) {
			return false;
		}
	}
	return true;
}

static bool same_zones(const struct bt_pv *a, const struct bt_pv *b)
{
	if (a->zone_n != b->zone_n) {
		return false;
	}
	for (uint32_t i = 0; i < a->zone_n; i++) {
		if (a->zones[i].key != b->zones[i].key || !contains(&a->zones[i], &b->zones[i]) ||
			!contains(&b->zones[i], &a->zones[i])) {
			return false;
		}
	}
	return true;
}

/* The limit of a driver; 0 without one; the last one of several counts. */
static int64_t limit_of(const struct bt_csi_node *node, uint32_t driver)
{
	int64_t limit = 0;

	for (uint32_t i = 0; i < node->driver_n; i++) {
		if (node->drivers[i].driver == driver) {
			limit = node->drivers[i].limited ? node->drivers[i].count : 0;
		}
	}
	return limit;
}

static bool a_limit_grew(const struct bt_csi_node *old, const struct bt_csi_node *new)
{
	for (uint32_t i = 0; i < new->driver_n; i++) {
		int64_t limit = new->drivers[i].limited ? new->drivers[i].count : 0;

		if (limit > limit_of(old, new->drivers[i].driver)) {
			return true;
		}
	}
	return false;
}

/* The changes of each kind; arena is for this one comparison. Returns: is the object known? */

static bool compare_pv(const struct bt_volumes *volumes, struct bt_arena *arena, struct bt_name_refs *held,
	const struct bt_persistent_volume_object *object, struct bt_cluster_event_object *out)
{
	const struct bt_pv *old = bt_storage_pv(bt_volumes_view(volumes), out->name);
	struct bt_pv new;

	if (old) {
		bt_pv_compile(held, arena, object, &new);
		out->changes |= same_zones(old, &new) ? 0 : BT_CHANGED_ZONE_LABELS;
	}
	return old;
}

static bool compare_class(const struct bt_volumes *volumes, struct bt_arena *arena, struct bt_name_refs *held,
	const struct bt_storage_class_object *object, struct bt_cluster_event_object *out)
{
	const struct bt_storage_class *old = bt_storage_class(bt_volumes_view(volumes), out->name);
	struct bt_storage_class new;

	bt_storage_class_compile(held, arena, object, &new);
	out->changes |= new.waits ? BT_CHANGED_WAITS : 0;
	out->changes |= old && old->topology_hash != new.topology_hash ? BT_CHANGED_TOPOLOGIES : 0;
	return old;
}

static bool compare_csi_node(const struct bt_volumes *volumes, struct bt_arena *arena,
	struct bt_name_refs *held, const struct bt_csi_node_object *object,
	struct bt_cluster_event_object *out)
{
	const struct bt_csi_node *old = bt_storage_csi_node(bt_volumes_view(volumes), out->name);
	struct bt_csi_node new;

	if (old) {
		bt_csi_node_compile(held, arena, object, &new);
		out->changes |= old->migrated_list != new.migrated_list ? BT_CHANGED_MIGRATION : 0;
		out->changes |= a_limit_grew(old, &new) ? BT_CHANGED_LIMIT_GREW : 0;
	}
	return old;
}

static bool compare_driver(const struct bt_volumes *volumes, const struct bt_csi_driver_object *object,
	struct bt_cluster_event_object *out)
{
	const struct bt_csi_driver *old = bt_storage_driver(bt_volumes_view(volumes), out->name);

	if (old && old->tracks_capacity && !object->storage_capacity) {
		out->changes |= BT_CHANGED_CAPACITY_IGNORED;
	}
	return old;
}

static bool compare_capacity(const struct bt_volumes *volumes, struct bt_arena *arena,
	struct bt_name_refs *held, const struct bt_storage_capacity_object *object,
	struct bt_cluster_event_object *out)
{
	const struct bt_csi_capacity *old = bt_volumes_capacity(volumes, out->namespace_, out->name);
	struct bt_csi_capacity new;

	if (old) {
		bt_csi_capacity_compile(held, arena, object, &new);
		if (new.has_limit && (!old->has_limit || new.limit > old->limit)) {
			out->changes |= BT_CHANGED_CAPACITY_GREW;
		}
	}
	return old;
}

static bool compare(const struct bt_volumes *volumes, struct bt_arena *arena, struct bt_name_refs *held,
	const struct bt_object *object, struct bt_cluster_event_object *out)
{
	switch (object->kind) {
	case BT_KIND_PERSISTENT_VOLUME:
		return compare_pv(volumes, arena, held, &object->persistent_volume, out);
	case BT_KIND_PERSISTENT_VOLUME_CLAIM:
		return bt_storage_claim(bt_volumes_view(volumes), out->namespace_, out->name);
	case BT_KIND_STORAGE_CLASS:
		return compare_class(volumes, arena, held, &object->storage_class, out);
	case BT_KIND_CSI_NODE:
		return compare_csi_node(volumes, arena, held, &object->csi_node, out);
	case BT_KIND_CSI_DRIVER:
		return compare_driver(volumes, &object->csi_driver, out);
	case BT_KIND_CSI_STORAGE_CAPACITY:
		return compare_capacity(volumes, arena, held, &object->storage_capacity, out);
	case BT_KIND_VOLUME_ATTACHMENT:
		return bt_volumes_attachment(volumes, out->name);
	default:
		return false;
	}
}

bool bt_volumes_describe(const struct bt_volumes *volumes, const struct bt_object *object,
	struct bt_name_refs *held, struct bt_cluster_event_object *out)
{
	const struct bt_meta_object *meta = &object->meta;
	struct bt_arena arena = {0};

	*out = (struct bt_cluster_event_object){
		.namespace_ = bt_name_refs_add(held, meta->namespace_),
		.name = bt_name_refs_add(held, meta->name),
		.uid = meta->uid.len ? bt_name_refs_add(held, meta->uid) : BT_NAME_NONE,
	};
	if (object->kind == BT_KIND_VOLUME_ATTACHMENT) {
		out->other = bt_name_refs_add(held, object->attachment.attacher);
	}
	struct bt_name_refs compared = {.intern = held->intern};
	bool known = compare(volumes, &arena, &compared, object, out);
	bt_name_refs_release(&compared);
	bt_arena_fini(&arena);
	return known;
}

bool bt_volumes_describe_removal(const struct bt_volumes *volumes, enum bt_kind kind, uint32_t namespace_,
	uint32_t name, struct bt_cluster_event_object *out)
{
	const struct bt_storage *storage = bt_volumes_view(volumes);

	*out = (struct bt_cluster_event_object){.namespace_ = namespace_, .name = name};
	switch (kind) {
	case BT_KIND_PERSISTENT_VOLUME:
		return bt_storage_pv(storage, name);
	case BT_KIND_PERSISTENT_VOLUME_CLAIM:
		return bt_storage_claim(storage, namespace_, name);
	case BT_KIND_STORAGE_CLASS:
		return bt_storage_class(storage, name);
	case BT_KIND_CSI_NODE:
		return bt_storage_csi_node(storage, name);
	case BT_KIND_CSI_DRIVER:
		return bt_storage_driver(storage, name);
	case BT_KIND_CSI_STORAGE_CAPACITY:
		return bt_volumes_capacity(volumes, namespace_, name);
	case BT_KIND_VOLUME_ATTACHMENT: {
		const struct bt_attachment *attachment = bt_volumes_attachment(volumes, name);

		out->other = attachment ? attachment->attacher : BT_NAME_NONE;
		return attachment;
	}
	default:
		return false;
	}
}
