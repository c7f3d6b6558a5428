/* SPDX-License-Identifier: Apache-2.0
 * Compiles storage objects to interned values.
 */
#include "engine/model/volume.h"

#include <stdlib.h>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/model/ebs_id.h"

#define BIND_COMPLETED	 "pv.kubernetes.io/bind-completed"
#define SELECTED_NODE	 "volume.kubernetes.io/selected-node"
#define BETA_CLASS	 "volume.beta.kubernetes.io/storage-class"
#define MIGRATED_PLUGINS "storage.alpha.kubernetes.io/migrated-plugins"
#define ZONE_DELIMITER	 "__"

struct volume_plugin {
	struct bt_str name, driver;
	struct bt_str topology_key; /* empty: zones are not translated */
};

static const struct volume_plugin plugins[BT_IN_TREE_N] = {
	[BT_IN_TREE_GCE_PD] = {BT_STR("kubernetes.io/gce-pd"), BT_STR("pd.csi.storage.gke.io"),
		BT_STR("topology.gke.io/zone")},
	[BT_IN_TREE_AWS_EBS] = {BT_STR("kubernetes.io/aws-ebs"), BT_STR("ebs.csi.aws.com"),
		BT_STR("topology.ebs.csi.aws.com/zone")},
	[BT_IN_TREE_AZURE_DISK] = {BT_STR("kubernetes.io/azure-disk"), BT_STR("disk.csi.azure.com"), {0}},
	[BT_IN_TREE_CINDER] = {BT_STR("kubernetes.io/cinder"), BT_STR("cinder.csi.openstack.org"),
		BT_STR("topology.cinder.csi.openstack.org/zone")},
	[BT_IN_TREE_PORTWORX] = {BT_STR("kubernetes.io/portworx-volume"), BT_STR("pxd.portworx.com"), {0}},
	[BT_IN_TREE_AZURE_FILE] = {BT_STR("kubernetes.io/azure-file"), BT_STR("file.csi.azure.com"), {0}},
	[BT_IN_TREE_VSPHERE] = {BT_STR("kubernetes.io/vsphere-volume"), BT_STR("csi.vsphere.vmware.com"),
		{0}},
};

static const uint32_t zone_keys[BT_VOLUME_ZONES] = {
	BT_NAME_BETA_ZONE, BT_NAME_BETA_REGION, BT_NAME_ZONE, BT_NAME_REGION};

enum bt_in_tree bt_in_tree_named(struct bt_str name)
{
	for (int i = BT_IN_TREE_NONE + 1; i < BT_IN_TREE_N; i++) {
		if (bt_str_eq(plugins[i].name, name)) {
			return (enum bt_in_tree)i;
		}
	}
	return BT_IN_TREE_NONE;
}

struct bt_str bt_in_tree_driver(enum bt_in_tree in_tree)
{
	BT_REQUIRE(in_tree < BT_IN_TREE_N);
	return plugins[in_tree].driver;
}

static enum bt_in_tree in_tree_of(enum bt_volume_type type)
{
	switch (type) {
	case BT_VOLUME_GCE_PD:
		return BT_IN_TREE_GCE_PD;
	case BT_VOLUME_AWS_EBS:
		return BT_IN_TREE_AWS_EBS;
	case BT_VOLUME_AZURE_DISK:
		return BT_IN_TREE_AZURE_DISK;
	case BT_VOLUME_CINDER:
		return BT_IN_TREE_CINDER;
	case BT_VOLUME_PORTWORX:
		return BT_IN_TREE_PORTWORX;
	case BT_VOLUME_AZURE_FILE:
		return BT_IN_TREE_AZURE_FILE;
	case BT_VOLUME_VSPHERE:
		return BT_IN_TREE_VSPHERE;
	default:
		return BT_IN_TREE_NONE;
	}
}

bool bt_volume_migrates(enum bt_volume_type type)
{
	return in_tree_of(type) != BT_IN_TREE_NONE;
}

bool bt_volume_matters(enum bt_volume_type type)
{
	return bt_volume_claims(type) || type == BT_VOLUME_ISCSI || type == BT_VOLUME_RBD ||
	       (bt_volume_migrates(type) && in_tree_of(type) < BT_IN_TREE_COUNTED_N);
}

bool bt_volume_noted(enum bt_volume_type type)
{
	return type == BT_VOLUME_CSI_INLINE || (bt_volume_migrates(type) && !bt_volume_matters(type));
}

/* ---- pieces of objects ---- */

static const struct bt_str *map_get(const struct bt_str_map *map, const char *key)
{
	for (uint32_t i = 0; i < map->n; i++) {
		if (bt_str_is(map->items[i].key, key)) {
			return &map->items[i].value;
		}
	}
	return NULL;
}

static uint32_t access_modes(const struct bt_str_list *modes)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < modes->n; i++) {
		bits |= bt_str_is(modes->items[i], "ReadWriteOnce")	 ? BT_READ_WRITE_ONCE
			: bt_str_is(modes->items[i], "ReadOnlyMany")	 ? BT_READ_ONLY_MANY
			: bt_str_is(modes->items[i], "ReadWriteMany")	 ? BT_READ_WRITE_MANY
			: bt_str_is(modes->items[i], "ReadWriteOncePod") ? BT_READ_WRITE_ONCE_POD
									 : BT_OTHER_ACCESS;
	}
	return bits;
}

/* The amount of storage in a list. Returns whether it is present. */
static bool storage_of(const struct bt_resource_list *list, struct bt_quantity *out)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (bt_str_is(list->items[i].name, "storage")) {
			*out = list->items[i].quantity;
			return true;
		}
	}
	return false;
}

static uint32_t class_of(struct bt_name_refs *held, const struct bt_meta_object *meta, struct bt_str class_)
{
	const struct bt_str *beta = map_get(&meta->annotations, BETA_CLASS);

	return bt_name_refs_add(held, beta ? *beta : class_);
}

/* The next part of a delimited text; false at the end. */
static bool next_zone(struct bt_str *rest, struct bt_str *out_zone)
{
	if (!rest->ptr) {
		return false;
	}
	for (size_t at = 0; at + 1 < rest->len; at++) {
		if (memcmp(rest->ptr + at, ZONE_DELIMITER, 2) == 0) {
			*out_zone = bt_str_sub(*rest, 0, at);
			*rest = bt_str_sub(*rest, at + 2, rest->len);
			BT_INVARIANT(out_zone->ptr + out_zone->len <= rest->ptr);
			return true;
		}
	}
	*out_zone = *rest;
	*rest = (struct bt_str){0};
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct bt_str trim(struct bt_str text)
{
	while (text.len && is_blank(text.ptr[0])) {
		text = bt_str_sub(text, 1, text.len);
	}
	while (text.len && is_blank(text.ptr[text.len - 1])) {
		text.len--;
	}
	return text;
}

/* A label's text that is never NULL, so that an empty one has one empty part. */
static struct bt_str label_text(struct bt_str value)
{
	return value.ptr ? value : (struct bt_str){"", 0};
}

/* ---- translation to CSI ---- */

static void join(struct bt_buf *buf, const char *kind, struct bt_str zone, struct bt_str disk)
{
	bt_buf_printf(
		buf, "projects/UNSPECIFIED/%s/%.*s/disks/%.*s", kind, BT_STR_ARG(zone), BT_STR_ARG(disk));
}

/* The region of a zone of the form place-region-zone; empty for other forms. */
static struct bt_str region_of(struct bt_str zone)
{
	size_t first = bt_str_find(zone, '-', 0), second = bt_str_find(zone, '-', first + 1);

	if (second >= zone.len || bt_str_find(zone, '-', second + 1) != zone.len) {
		return (struct bt_str){0};
	}
	return bt_str_sub(zone, 0, second);
}

static int by_text(const void *a, const void *b)
{
	return bt_str_cmp(*(const struct bt_str *)a, *(const struct bt_str *)b);
}

/* Appends the error for zones in several regions, as Go prints the set of regions. */
static void many_regions(struct bt_buf *buf, struct bt_str *regions, uint32_t n)
{
	bt_buf_text(
		buf, "failed to get region from zones: multiple or no regions gotten from zones, got: map[");
	qsort(regions, n, sizeof(*regions), by_text);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || !bt_str_eq(regions[i], regions[i - 1])) {
			bt_buf_printf(buf, "%s%.*s:{}", i ? " " : "", BT_STR_ARG(regions[i]));
		}
	}
	bt_buf_char(buf, ']');
}

/* The disk of a volume in the zones of a label; or false, and the reason: no common region. */
static bool gce_handle(struct bt_arena *arena, struct bt_buf *buf, struct bt_str label, struct bt_str disk)
{
	struct bt_str rest = label_text(label), zone;
	struct bt_str *regions = bt_arena_alloc(arena, (label.len / 2 + 1) * sizeof(*regions), 8);
	struct bt_str bad = {0};
	uint32_t n = 0;
	bool all_good = true, common = true;

	while (next_zone(&rest, &zone)) {
		regions[n] = region_of(zone);
		if (regions[n].len == 0 && all_good) {
			bad = zone;
			all_good = false;
		}
		common &= bt_str_eq(regions[n], regions[0]);
		n++;
	}
	if (n == 1) {
		join(buf, "zones", label.len ? label : (struct bt_str)BT_STR("UNSPECIFIED"), disk);
	} else if (!all_good) {
		bt_buf_printf(buf,
			"failed to get region from zones: zone in unexpected format, expected: "
			"{locale}-{region}-{zone}, got: %.*s",
			BT_STR_ARG(bad));
	} else if (common) {
		join(buf, "regions", regions[0], disk);
	} else {
		many_regions(buf, regions, n);
	}
	return n == 1 || (all_good && common);
}

/* The disk of a volume's id; or false, and the reason. */
static bool ebs_handle(struct bt_buf *buf, struct bt_str id)
{
	struct bt_buf text = {0};
	bool good = bt_ebs_volume(id, &text);

	bt_buf_text(buf, good ? "" : "failed to translate Kubernetes ID to EBS Volume ID ");
	bt_buf_str(buf, bt_buf_view(&text));
	bt_buf_fini(&text);
	return good;
}

static bool is_managed(struct bt_str kind)
{
	static const char word[] = "managed";

	for (size_t i = 0; i < kind.len; i++) {
		if (i >= sizeof(word) - 1 || (kind.ptr[i] | 0x20) != word[i]) {
			return false;
		}
	}
	return kind.len == sizeof(word) - 1 || kind.len == 0;
}

/* The disk behind an in-tree source; zones is the zone label of a PersistentVolume. */
static struct bt_csi_disk translate(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_volume_object *source, struct bt_str zones)
{
	struct bt_csi_disk disk = {
		.in_tree = in_tree_of(source->type), .driver = BT_NAME_EMPTY, .handle = BT_NAME_EMPTY};
	struct bt_str handle = source->source;
	struct bt_buf text = {0};
	bool good = true;

	if (disk.in_tree == BT_IN_TREE_GCE_PD) {
		good = gce_handle(arena, &text, zones, source->source);
		handle = bt_buf_view(&text);
	} else if (disk.in_tree == BT_IN_TREE_AWS_EBS) {
		good = ebs_handle(&text, source->source);
		handle = bt_buf_view(&text);
	} else if (disk.in_tree == BT_IN_TREE_AZURE_DISK && !is_managed(source->kind)) {
		good = false;
		bt_buf_printf(
			&text, "kind(%.*s) is not supported in csi migration", BT_STR_ARG(source->kind));
	}
	if (good) {
		disk.driver = bt_name_refs_add(held, plugins[disk.in_tree].driver);
		disk.handle = bt_name_refs_add(held, handle);
	} else {
		disk.error = bt_name_refs_add(held, bt_buf_view(&text));
	}
	bt_buf_fini(&text);
	return disk;
}

/* ---- topology of translated volumes ---- */

static bool has_key(const struct bt_node_selector_object *affinity, struct bt_str key)
{
	for (uint32_t t = 0; t < affinity->term_n; t++) {
		for (uint32_t i = 0; i < affinity->terms[t].match_expressions.n; i++) {
			if (bt_str_eq(affinity->terms[t].match_expressions.items[i].key, key)) {
				return true;
			}
		}
	}
	return false;
}

static bool has_values(const struct bt_node_selector_object *affinity, struct bt_str key)
{
	for (uint32_t t = 0; t < affinity->term_n; t++) {
		for (uint32_t i = 0; i < affinity->terms[t].match_expressions.n; i++) {
			const struct bt_requirement_object *item =
				&affinity->terms[t].match_expressions.items[i];

			if (bt_str_eq(item->key, key) && item->values.n) {
				return true;
			}
		}
	}
	return false;
}

static void replace_key(struct bt_node_selector_object *affinity, struct bt_str from, struct bt_str to)
{
	for (uint32_t t = 0; t < affinity->term_n; t++) {
		for (uint32_t i = 0; i < affinity->terms[t].match_expressions.n; i++) {
			struct bt_requirement_object *item = &affinity->terms[t].match_expressions.items[i];

			item->key = bt_str_eq(item->key, from) ? to : item->key;
		}
	}
}

/* A copy with room for one more expression per term, and for a first term. */
static struct bt_node_selector_object copy_affinity(
	struct bt_arena *arena, const struct bt_node_selector_object *affinity)
{
	struct bt_node_selector_object copy = {.set = affinity->set, .term_n = affinity->term_n};

	copy.terms = bt_arena_zalloc(arena, (affinity->term_n + 1) * sizeof(*copy.terms));
	for (uint32_t t = 0; t <= affinity->term_n; t++) {
		struct bt_requirement_object_list *list = &copy.terms[t].match_expressions;
		uint32_t n = t < affinity->term_n ? affinity->terms[t].match_expressions.n : 0;

		if (t < affinity->term_n) {
			copy.terms[t] = affinity->terms[t];
		}
		list->items = bt_arena_zalloc(arena, (n + 1) * sizeof(*list->items));
		if (n) {
			memcpy(list->items, affinity->terms[t].match_expressions.items,
				n * sizeof(*list->items));
		}
	}
	return copy;
}

/* Adds a requirement on a label's zones to every term. */
static void add_zones(struct bt_arena *arena, struct bt_node_selector_object *affinity, struct bt_str key,
	struct bt_str label)
{
	struct bt_str rest = label_text(label), zone;
	struct bt_str_list values = {.set = true};

	values.items = bt_arena_zalloc(arena, (label.len / 2 + 1) * sizeof(*values.items));
	while (next_zone(&rest, &zone)) {
		zone = trim(zone);
		if (zone.len) {
			values.items[values.n++] = zone;
		}
	}
	if (values.n == 0) {
		return;
	}
	affinity->set = true;
	affinity->term_n = affinity->term_n ? affinity->term_n : 1;
	for (uint32_t t = 0; t < affinity->term_n; t++) {
		struct bt_requirement_object_list *list = &affinity->terms[t].match_expressions;

		list->items[list->n++] = (struct bt_requirement_object){
			.key = key, .operator_ = BT_STR("In"), .values = values};
	}
}

/* Does the volume use the beta labels? Its affinity takes precedence over its labels. */
static bool uses_old_labels(
	const struct bt_persistent_volume_object *object, struct bt_str zone, struct bt_str old_zone)
{
	if (has_key(&object->affinity, zone)) {
		return false;
	}
	if (has_key(&object->affinity, old_zone)) {
		return true;
	}
	return !map_get(&object->meta.labels, zone.ptr) && map_get(&object->meta.labels, old_zone.ptr);
}

/* Source: translateTopologyFromInTreeToCSI, v1.36.3. */
static struct bt_node_selector_object translate_affinity(
	struct bt_arena *arena, const struct bt_persistent_volume_object *object, struct bt_str topology_key)
{
	static const struct bt_str zone = BT_STR("topology.kubernetes.io/zone"),
				   region = BT_STR("topology.kubernetes.io/region"),
				   old_zone = BT_STR("failure-domain.beta.kubernetes.io/zone"),
				   old_region = BT_STR("failure-domain.beta.kubernetes.io/region");
	struct bt_node_selector_object affinity = copy_affinity(arena, &object->affinity);
	bool old = uses_old_labels(object, zone, old_zone);
	struct bt_str used = old ? old_zone : zone;
	const struct bt_str *label = map_get(&object->meta.labels, used.ptr);

	if (has_values(&affinity, used)) {
		replace_key(&affinity, used, topology_key);
	} else if (label) {
		add_zones(arena, &affinity, topology_key, *label);
	}
	if (old && has_values(&affinity, old_region)) {
		replace_key(&affinity, old_region, region);
	}
	return affinity;
}

/* ---- objects ---- */

/* Upstream matches a node that has only labels; then fields are ignored. */
static struct bt_node_selector compile_affinity(
	struct bt_name_refs *held, struct bt_arena *arena, const struct bt_node_selector_object *object)
{
	struct bt_node_selector selector = bt_node_selector_compile(held, arena, object);
	struct bt_node_term *terms = bt_arena_zalloc(arena, selector.term_n * sizeof(*terms));

	for (uint32_t i = 0; i < selector.term_n; i++) {
		terms[i] = selector.terms[i];
		terms[i].field_n = 0;
	}
	return (struct bt_node_selector){terms, selector.term_n};
}

static void compile_zones(struct bt_name_refs *held, struct bt_arena *arena, struct bt_pv *pv)
{
	for (uint32_t k = 0; k < BT_VOLUME_ZONES; k++) {
		uint32_t value = bt_labels_get(pv->labels, zone_keys[k]), n = 0;
		struct bt_str rest = label_text(bt_intern_str(held->intern, value)), zone;
		bool good = value != BT_NAME_NONE;
		uint32_t *values = bt_arena_zalloc(arena, (rest.len / 2 + 1) * sizeof(*values));

		while (good && next_zone(&rest, &zone)) {
			zone = trim(zone);
			good = zone.len > 0;
			if (good) {
				values[n++] = bt_name_refs_add(held, zone);
			}
		}
		if (good) {
			pv->zones[pv->zone_n++] = (struct bt_volume_zone){zone_keys[k], values, n};
		}
	}
}

static void compile_source(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_persistent_volume_object *object, struct bt_pv *pv)
{
	enum bt_in_tree in_tree = in_tree_of(object->source.type);

	pv->disk = (struct bt_csi_disk){.driver = BT_NAME_EMPTY, .handle = BT_NAME_EMPTY};
	if (object->source.type == BT_VOLUME_CSI_INLINE) {
		pv->disk.driver = bt_name_refs_add(held, object->source.source);
		pv->disk.handle = bt_name_refs_add(held, object->source.handle);
	}
	if (in_tree == BT_IN_TREE_NONE) {
		return;
	}
	const struct bt_str *zones = map_get(&object->meta.labels, "failure-domain.beta.kubernetes.io/zone");
	if (!zones || zones->len == 0) {
		zones = map_get(&object->meta.labels, "topology.kubernetes.io/zone");
	}
	pv->disk = translate(held, arena, &object->source, zones ? *zones : (struct bt_str){0});
	pv->has_csi_affinity = pv->has_affinity;
	pv->csi_affinity = pv->affinity;
	if (plugins[in_tree].topology_key.len) {
		struct bt_node_selector_object affinity =
			translate_affinity(arena, object, plugins[in_tree].topology_key);

		pv->has_csi_affinity = affinity.set;
		pv->csi_affinity = compile_affinity(held, arena, &affinity);
	}
}

void bt_pv_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_persistent_volume_object *object, struct bt_pv *out)
{
	*out = (struct bt_pv){
		.name = bt_name_refs_add(held, object->meta.name),
		.deleting = object->meta.deletion_ns != 0,
		.available = bt_str_is(object->phase, "Available"),
		.has_claim = object->has_claim,
		.has_affinity = object->affinity.set,
		.class_ = class_of(held, &object->meta, object->storage_class),
		.mode = bt_name_refs_add(held, object->volume_mode),
		.attributes_class = bt_name_refs_add(held, object->attributes_class),
		.access_modes = access_modes(&object->access_modes),
		.labels = bt_labels_intern(held, arena, &object->meta.labels),
		.affinity = compile_affinity(held, arena, &object->affinity),
		.shown = bt_resource_version(object->meta.resource_version),
		.claim = {bt_name_refs_add(held, object->claim_namespace),
			bt_name_refs_add(held, object->claim_name),
			bt_name_refs_add(held, object->claim_uid)},
	};
	storage_of(&object->capacity, &out->capacity);
	compile_zones(held, arena, out);
	compile_source(held, arena, object, out);
}

bool bt_pv_reaches(
	const struct bt_intern *intern, const struct bt_pv *pv, bool translated, struct bt_labels labels)
{
	const struct bt_node_selector *affinity = translated ? &pv->csi_affinity : &pv->affinity;

	return !(translated ? pv->has_csi_affinity : pv->has_affinity) ||
	       bt_node_selector_matches(intern, affinity, labels, BT_NAME_EMPTY);
}

static uint32_t controller_uid(struct bt_name_refs *held, const struct bt_meta_object *meta)
{
	for (uint32_t i = 0; i < meta->owner_n; i++) {
		if (meta->owners[i].controller && meta->owners[i].uid.len) {
			return bt_name_refs_add(held, meta->owners[i].uid);
		}
	}
	return BT_NAME_NONE;
}

void bt_claim_compile(struct bt_name_refs *held, struct bt_arena *arena, const struct bt_claim_object *object,
	struct bt_claim *out)
{
	const struct bt_str *node = map_get(&object->meta.annotations, SELECTED_NODE);
	struct bt_buf why = {0};

	*out = (struct bt_claim){
		.namespace_ = bt_name_refs_add(held, object->meta.namespace_),
		.name = bt_name_refs_add(held, object->meta.name),
		.uid = bt_name_refs_add(held, object->meta.uid),
		.owner_uid = controller_uid(held, &object->meta),
		.deleting = object->meta.deletion_ns != 0,
		.lost = bt_str_is(object->phase, "Lost"),
		.bind_completed = map_get(&object->meta.annotations, BIND_COMPLETED) != NULL,
		.volume = bt_name_refs_add(held, object->volume_name),
		.class_ = class_of(held, &object->meta, object->storage_class),
		.mode = bt_name_refs_add(held, object->volume_mode),
		.attributes_class = bt_name_refs_add(held, object->attributes_class),
		.access_modes = access_modes(&object->access_modes),
		.has_selector = object->selector.set,
		.has_node = node != NULL,
		.node = node ? bt_name_refs_add(held, *node) : BT_NAME_NONE,
		.shown = bt_resource_version(object->meta.resource_version),
	};
	out->has_request = storage_of(&object->requests, &out->request);
	if (object->selector.set &&
		bt_selector_compile(held, arena, &object->selector, &out->selector, &why) != BT_OK) {
		out->selector_error = bt_name_refs_add(held, bt_buf_view(&why));
	}
	bt_buf_fini(&why);
}

/* Key by key and value by value, in order. */
static uint64_t hash_topologies(const struct bt_storage_class_object *object)
{
	uint64_t hash = object->topology_n;

	for (uint32_t i = 0; i < object->topology_n; i++) {
		const struct bt_requirement_object_list *list = &object->topologies[i];

		hash = bt_hash_u64(hash + list->n);
		for (uint32_t j = 0; j < list->n; j++) {
			const struct bt_requirement_object *item = &list->items[j];

			hash = bt_hash_u64(hash + bt_hash_bytes(item->key.ptr, item->key.len));
			hash = bt_hash_u64(hash + item->values.n);
			for (uint32_t k = 0; k < item->values.n; k++) {
				struct bt_str value = item->values.items[k];

				hash = bt_hash_u64(hash + bt_hash_bytes(value.ptr, value.len));
			}
		}
	}
	return hash;
}

void bt_storage_class_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_storage_class_object *object, struct bt_storage_class *out)
{
	struct bt_selector *topologies = bt_arena_zalloc(arena, object->topology_n * sizeof(*topologies));

	*out = (struct bt_storage_class){
		.name = bt_name_refs_add(held, object->meta.name),
		.provisioner = bt_name_refs_add(held, object->provisioner),
		.has_mode = object->binding_mode.len > 0,
		.waits = bt_str_is(object->binding_mode, "WaitForFirstConsumer"),
		.topologies = topologies,
		.any_topology = object->topology_n == 0,
		.topology_hash = hash_topologies(object),
	};
	for (uint32_t i = 0; i < object->topology_n; i++) {
		const struct bt_requirement_object_list *list = &object->topologies[i];
		struct bt_label_selector_object term = {.set = true, .match_expressions.n = list->n};

		term.match_expressions.items = bt_arena_zalloc(arena, list->n * sizeof(*list->items));
		for (uint32_t j = 0; j < list->n; j++) {
			term.match_expressions.items[j] =
				(struct bt_requirement_object){.key = list->items[j].key,
					.operator_ = BT_STR("In"),
					.values = list->items[j].values};
		}
		/* Empty and invalid terms match nothing. */
		out->topology_n += list->n && bt_selector_compile(held, arena, &term,
						      &topologies[out->topology_n], NULL) == BT_OK;
	}
}

uint32_t bt_migrated_plugins(const struct bt_csi_node_object *object)
{
	const struct bt_str *list = map_get(&object->meta.annotations, MIGRATED_PLUGINS);
	uint32_t bits = 0;

	for (size_t at = 0; list && at < list->len;) {
		size_t end = bt_str_find(*list, ',', at);

		bits |= 1u << bt_in_tree_named(bt_str_sub(*list, at, end));
		at = end + 1;
	}
	return bits;
}

void bt_csi_node_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_csi_node_object *object, struct bt_csi_node *out)
{
	struct bt_csi_limit *drivers = bt_arena_zalloc(arena, object->driver_n * sizeof(*drivers));
	const struct bt_str *migrated = map_get(&object->meta.annotations, MIGRATED_PLUGINS);

	for (uint32_t i = 0; i < object->driver_n; i++) {
		drivers[i] = (struct bt_csi_limit){bt_name_refs_add(held, object->drivers[i].name),
			object->drivers[i].has_count, object->drivers[i].count};
	}
	*out = (struct bt_csi_node){
		.name = bt_name_refs_add(held, object->meta.name),
		.drivers = drivers,
		.driver_n = object->driver_n,
		.migrated = bt_migrated_plugins(object),
		.migrated_list = migrated ? bt_name_refs_add(held, *migrated) : BT_NAME_EMPTY,
	};
}

void bt_csi_capacity_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_storage_capacity_object *object, struct bt_csi_capacity *out)
{
	*out = (struct bt_csi_capacity){
		.namespace_ = bt_name_refs_add(held, object->meta.namespace_),
		.name = bt_name_refs_add(held, object->meta.name),
		.class_ = bt_name_refs_add(held, object->storage_class),
		.has_limit = object->has_maximum_size || object->has_capacity,
		.limit =
			bt_quantity_value(object->has_maximum_size ? object->maximum_size : object->capacity),
		.capacity = bt_quantity_value(object->capacity),
	};
	out->has_topology = object->topology.set && bt_selector_compile(held, arena, &object->topology,
							    &out->topology, NULL) == BT_OK;
}

void bt_pod_volume_compile(struct bt_name_refs *held, struct bt_arena *arena,
	const struct bt_volume_object *object, struct bt_str pod_name, struct bt_pod_volume *out)
{
	uint32_t *monitors = bt_arena_zalloc(arena, object->monitors.n * sizeof(*monitors));
	struct bt_buf claim = {0};

	for (uint32_t i = 0; i < object->monitors.n; i++) {
		monitors[i] = bt_name_refs_add(held, object->monitors.items[i]);
	}
	*out = (struct bt_pod_volume){
		.type = object->type,
		.name = bt_name_refs_add(held, object->name),
		.source = bt_name_refs_add(held, object->source),
		.pool = bt_name_refs_add(held, object->pool),
		.monitors = monitors,
		.monitor_n = object->monitors.n,
		.read_only = object->read_only,
		.disk = {.driver = BT_NAME_EMPTY, .handle = BT_NAME_EMPTY},
	};
	if (object->type == BT_VOLUME_EPHEMERAL) {
		bt_buf_printf(&claim, "%.*s-%.*s", BT_STR_ARG(pod_name), BT_STR_ARG(object->name));
		out->source = bt_name_refs_add(held, bt_buf_view(&claim));
		bt_buf_fini(&claim);
	}
	if (in_tree_of(object->type) >= BT_IN_TREE_COUNTED_N) {
		out->disk.driver = bt_name_refs_add(held, plugins[in_tree_of(object->type)].driver);
	} else if (bt_volume_migrates(object->type)) {
		out->disk = translate(held, arena, object, (struct bt_str){0});
	}
}
