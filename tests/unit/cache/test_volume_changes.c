/* SPDX-License-Identifier: Apache-2.0
 * What an update of a storage object changes, for queueing hints; and memory after deletions.
 */
#include "engine/base/mem.h"
#include "changes.h"

#define STORAGE "{apiVersion: storage.k8s.io/v1, "
#define PV(labels)                                                                                           \
	"{apiVersion: v1, kind: PersistentVolume, metadata: {name: x, labels: {" labels "}}, spec: {}}"
#define CLASS(rest)	 STORAGE "kind: StorageClass, metadata: {name: x}, provisioner: p, " rest "}"
#define TOPOLOGY(values) "allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [" values "]}]}]"
#define MIGRATED(list)                                                                                       \
	STORAGE "kind: CSINode, metadata: {name: x, annotations: {storage.alpha.kubernetes.io/"              \
		"migrated-plugins: '" list "'}}, spec: {drivers: []}}"
#define LIMITS(drivers) STORAGE "kind: CSINode, metadata: {name: x}, spec: {drivers: [" drivers "]}}"
#define DRIVER(rest)	STORAGE "kind: CSIDriver, metadata: {name: x}, spec: {" rest "}}"
#define CAPACITY(rest)                                                                                       \
	STORAGE "kind: CSIStorageCapacity, metadata: {name: x, namespace: a}, storageClassName: c, " rest "}"
#define CLAIM "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x, namespace: a}, spec: {}}"
#define ATTACHMENT                                                                                           \
	STORAGE "kind: VolumeAttachment, metadata: {name: x}, spec: {attacher: d, nodeName: n1, source: "    \
		"{}}}"
#define ZONE "topology.kubernetes.io/zone: "

static const struct change_row rows[] = {
	{NULL, PV(ZONE "a"), 0},
	{PV(ZONE "a"), PV(ZONE "a"), 0},
	{PV(ZONE "a"), PV(ZONE "b"), BT_CHANGED_ZONE_LABELS},
	{PV(ZONE "a__b"), PV(ZONE "b__a__a"), 0},
	{PV(ZONE "a__b"), PV(ZONE "a"), BT_CHANGED_ZONE_LABELS},
	{PV(ZONE "a"), PV(""), BT_CHANGED_ZONE_LABELS},
	{PV(ZONE "a"), PV("failure-domain.beta.kubernetes.io/zone: a"), BT_CHANGED_ZONE_LABELS},
	{PV("a: b"), PV("a: c"), 0},
	{NULL, CLASS("volumeBindingMode: WaitForFirstConsumer"), BT_CHANGED_WAITS},
	{NULL, CLASS("volumeBindingMode: Immediate"), 0},
	{CLASS(TOPOLOGY("a, b")), CLASS(TOPOLOGY("a, b")), 0},
	{CLASS(TOPOLOGY("a, b")), CLASS(TOPOLOGY("b, a")), BT_CHANGED_TOPOLOGIES},
	{CLASS(TOPOLOGY("ab")), CLASS(TOPOLOGY("a, b")), BT_CHANGED_TOPOLOGIES},
	{CLASS(TOPOLOGY("a")), CLASS("allowedTopologies: []"), BT_CHANGED_TOPOLOGIES},
	{MIGRATED("a,b"), MIGRATED("a,b"), 0},
	{MIGRATED("a,b"), MIGRATED("b,a"), BT_CHANGED_MIGRATION},
	{MIGRATED(""), LIMITS(""), 0},
	{LIMITS("{name: d, allocatable: {count: 1}}"), LIMITS("{name: d, allocatable: {count: 2}}"),
		BT_CHANGED_LIMIT_GREW},
	{LIMITS("{name: d, allocatable: {count: 2}}"), LIMITS("{name: d, allocatable: {count: 1}}"), 0},
	{LIMITS("{name: d}"), LIMITS("{name: d, allocatable: {count: 1}}"), BT_CHANGED_LIMIT_GREW},
	{LIMITS(""), LIMITS("{name: d, allocatable: {count: 1}}"), BT_CHANGED_LIMIT_GREW},
	{LIMITS(""), LIMITS("{name: d}"), 0},
	{DRIVER("storageCapacity: true"), DRIVER("storageCapacity: false"), BT_CHANGED_CAPACITY_IGNORED},
	{DRIVER("storageCapacity: true"), DRIVER(""), BT_CHANGED_CAPACITY_IGNORED},
	{DRIVER("storageCapacity: false"), DRIVER("storageCapacity: true"), 0},
	{CAPACITY("capacity: 1Gi"), CAPACITY("capacity: 2Gi"), BT_CHANGED_CAPACITY_GREW},
	{CAPACITY("capacity: 1Gi"), CAPACITY("capacity: 1024Mi"), 0},
	{CAPACITY("capacity: 2Gi, maximumVolumeSize: 1Gi"), CAPACITY("capacity: 9Gi, maximumVolumeSize: 1Gi"),
		0},
	{CAPACITY("nodeTopology: {}"), CAPACITY("capacity: '0'"), BT_CHANGED_CAPACITY_GREW},
	{CAPACITY("capacity: '0'"), CAPACITY("nodeTopology: {}"), 0},
	{CLAIM, CLAIM, 0},
	{ATTACHMENT, ATTACHMENT, 0},
};

static bool describe(
	struct bt_cache *cache, const struct bt_object *object, struct bt_cluster_event_object *out)
{
	return bt_volumes_describe(cache->volumes, object, &cache->dictionary->for_ever, out);
}

static bool describe_removal(struct bt_cache *cache, enum bt_kind kind,
	const struct bt_cluster_event_object *object, struct bt_cluster_event_object *out)
{
	return bt_volumes_describe_removal(cache->volumes, kind, object->namespace_, object->name, out);
}

static void an_update_names_its_changes(void **state)
{
	const struct change_way way = {bt_ingest_storage, describe, describe_removal};

	assert_changes(*state, &way, rows, COUNT_OF(rows));
}

static void a_deleted_attachment_names_its_volume_and_node(void **state)
{
	struct fixture *f = *state;
	struct bt_cluster_event_object described;

	bt_ingest_storage(f->cache, fixture_read(f, ATTACHMENT));
	assert_true(bt_volumes_describe_removal(f->cache->volumes, BT_KIND_VOLUME_ATTACHMENT, BT_NAME_EMPTY,
		fixture_name(f, "x"), &described));
	assert_int_equal(described.other, fixture_name(f, "d"));
}

static void kinds_that_are_not_kept_are_not_known(void **state)
{
	struct fixture *f = *state;
	struct bt_cluster_event_object described;
	const struct bt_object *node =
		fixture_read(f, "{apiVersion: v1, kind: Node, metadata: {name: x}, spec: {}, status: {}}");

	assert_false(
		bt_volumes_describe(f->cache->volumes, node, &f->cache->dictionary->for_ever, &described));
	assert_false(bt_volumes_describe_removal(
		f->cache->volumes, BT_KIND_NODE, BT_NAME_EMPTY, fixture_name(f, "x"), &described));
}

/* ---- adding and removing ---- */

static const char *const numbered[] = {
	"{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-%u, labels: {key-%u: value}}, spec: "
	"{storageClassName: class-%u, csi: {driver: driver-%u, volumeHandle: handle-%u}}}",
	"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: a, name: claim-%u, uid: "
	"uid-%u}, "
	"spec: {volumeName: pv-%u, storageClassName: class-%u, selector: {matchLabels: {key-%u: value}}}}",
	"{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: attachment-%u}, spec: "
	"{attacher: driver-%u, nodeName: node-%u, source: {persistentVolumeName: pv-%u}}, x: %u}",
	"{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {namespace: a, name: "
	"capacity-%u}, storageClassName: class-%u, nodeTopology: {matchLabels: {key-%u: value-%u}}, x: %u}",
};

static const struct bt_object *read_numbered(struct fixture *f, size_t kind, uint32_t number)
{
	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text, numbered[kind], number, number, number, number, number);
	return fixture_read(f, f->text.ptr);
}

static void come(struct fixture *f, uint32_t number)
{
	for (size_t k = 0; k < COUNT_OF(numbered); k++) {
		bt_ingest_storage(f->cache, read_numbered(f, k, number));
	}
}

static void go(struct fixture *f, uint32_t number)
{
	const struct bt_intern *intern = f->cache->dictionary->intern;

	for (size_t k = 0; k < COUNT_OF(numbered); k++) {
		const struct bt_object *object = read_numbered(f, k, number);

		assert_int_equal(bt_volumes_remove(f->cache->volumes, object->kind,
					 bt_intern_find(intern, object->meta.namespace_),
					 bt_intern_find(intern, object->meta.name)),
			BT_OK);
	}
}

static void deleted_objects_free_their_names_and_memory(void **state)
{
	struct fixture *f = *state;
	const struct bt_intern *intern = f->cache->dictionary->intern;
	const struct bt_storage *storage = bt_volumes_view(f->cache->volumes);
	size_t bytes = 0;

	come(f, 7);
	uint32_t name_n = bt_intern_count(intern), a = bt_intern_find(intern, bt_str("a"));
	for (uint32_t i = 1000; i < 4000; i++) {
		if (i == 1100) {
			bytes = bt_mem_in_use_bytes();
		}
		come(f, i);
		go(f, i);
	}
	assert_int_equal(bt_intern_count(intern), name_n);
	assert_in_range(bt_mem_in_use_bytes(), 0, bytes + 4096);
	assert_int_equal(storage->capacity_n, 2);
	/* Remaining objects are unchanged. */
	const struct bt_claim *claim =
		bt_storage_claim(storage, a, bt_intern_find(intern, bt_str("claim-7")));
	assert_non_null(claim);
	assert_int_equal(claim->volume, bt_intern_find(intern, bt_str("pv-7")));
	const struct bt_pv *pv = bt_storage_pv(storage, claim->volume);
	assert_int_equal(pv->disk.handle, bt_intern_find(intern, bt_str("handle-7")));
}

static void a_copied_record_stays_valid_while_it_is_retained(void **state)
{
	struct fixture *f = *state;
	const struct bt_intern *intern = f->cache->dictionary->intern;
	const struct bt_storage *storage = bt_volumes_view(f->cache->volumes);
	uint32_t name_n = bt_intern_count(intern);

	come(f, 7);
	const struct bt_pv copy = *bt_storage_pv(storage, bt_intern_find(intern, bt_str("pv-7")));
	bt_volumes_retain(f->cache->volumes);
	come(f, 7); /* replaced */
	go(f, 7);
	come(f, 8);
	assert_true(bt_str_is(bt_intern_str(intern, copy.disk.handle), "handle-7"));
	assert_int_equal(copy.labels.n, 1);
	assert_true(bt_str_is(bt_intern_str(intern, copy.labels.items[0].key), "key-7"));
	go(f, 8);
	assert_true(bt_intern_count(intern) > name_n);
	bt_volumes_end_retaining(f->cache->volumes);
	assert_int_equal(bt_intern_count(intern), name_n);
}

/* A deleted claim stays known by name while a pod on a node uses it, and is found when it is back. */
static void a_claim_in_use_is_restored_for_its_users(void **state)
{
	struct fixture *f = *state;
	const struct bt_signature *signature = fixture_signature(
		f, "volumes: [{name: v, persistentVolumeClaim: {claimName: mine}}], containers: [{name: c}]");
	const struct bt_storage *storage = bt_volumes_view(f->cache->volumes);
	uint32_t slot = fixture_node(f, "name: n1", "", ""), name = signature->volumes[0].source;

	for (uint32_t i = 0; i < 3; i++) {
		bt_volumes_enter(f->cache->volumes, signature, slot);
		assert_null(bt_storage_claim(storage, signature->namespace_, name));
		bt_ingest_storage(f->cache,
			fixture_read(f, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: "
					"default, name: mine}, spec: {volumeName: x}}"));
		const struct bt_claim *claim = bt_storage_claim(storage, signature->namespace_, name);
		assert_true(storage->in_use(storage->context, claim));
		assert_int_equal(bt_volumes_remove(f->cache->volumes, BT_KIND_PERSISTENT_VOLUME_CLAIM,
					 signature->namespace_, name),
			BT_OK);
		assert_int_equal(bt_volumes_remove(f->cache->volumes, BT_KIND_PERSISTENT_VOLUME_CLAIM,
					 signature->namespace_, name),
			BT_NOT_FOUND);
		bt_volumes_leave(f->cache->volumes, signature, slot);
	}
	assert_int_equal(storage->claim_ixs.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(an_update_names_its_changes),
		FIXTURE_TEST(a_deleted_attachment_names_its_volume_and_node),
		FIXTURE_TEST(kinds_that_are_not_kept_are_not_known),
		FIXTURE_TEST(deleted_objects_free_their_names_and_memory),
		FIXTURE_TEST(a_copied_record_stays_valid_while_it_is_retained),
		FIXTURE_TEST(a_claim_in_use_is_restored_for_its_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
