/* SPDX-License-Identifier: Apache-2.0
 * What an update of a storage object changes, as queueing hints ask.
 */
#include "object_fixture.h"

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

struct row {
	const char *old, *new; /* old NULL: it is new */
	uint32_t changes;
};

static const struct row rows[] = {
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

static void an_update_says_what_it_changes(void **state)
{
	struct fixture *f = *state;
	struct bt_event_object described;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (rows[i].old) {
			bt_ingest_storage(f->cache, fixture_read(f, rows[i].old));
		}
		const struct bt_object *new = fixture_read(f, rows[i].new);
		bool known = bt_volumes_describe(f->cache->volumes, new, &described);

		if (known != (rows[i].old != NULL) || described.changes != rows[i].changes) {
			fail_msg("row %zu: known %d, changes %x", i, known, described.changes);
		}
		assert_int_equal(described.name, fixture_name(f, "x"));
		bt_ingest_storage(f->cache, new);
		assert_true(bt_volumes_describe_removal(
			f->cache->volumes, new->kind, described.namespace_, described.name, &described));
		cache_remove(f->cache, new->kind, new->meta.namespace_, new->meta.name);
		assert_false(bt_volumes_describe_removal(
			f->cache->volumes, new->kind, described.namespace_, described.name, &described));
	}
}

static void an_attachment_that_goes_says_whose_it_was(void **state)
{
	struct fixture *f = *state;
	struct bt_event_object described;

	bt_ingest_storage(f->cache, fixture_read(f, ATTACHMENT));
	assert_true(bt_volumes_describe_removal(f->cache->volumes, BT_KIND_VOLUME_ATTACHMENT, BT_NAME_EMPTY,
		fixture_name(f, "x"), &described));
	assert_int_equal(described.other, fixture_name(f, "d"));
}

static void kinds_that_are_not_kept_are_not_known(void **state)
{
	struct fixture *f = *state;
	struct bt_event_object described;
	const struct bt_object *node =
		fixture_read(f, "{apiVersion: v1, kind: Node, metadata: {name: x}, spec: {}, status: {}}");

	assert_false(bt_volumes_describe(f->cache->volumes, node, &described));
	assert_false(bt_volumes_describe_removal(
		f->cache->volumes, BT_KIND_NODE, BT_NAME_EMPTY, fixture_name(f, "x"), &described));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(an_update_says_what_it_changes),
		FIXTURE_TEST(an_attachment_that_goes_says_whose_it_was),
		FIXTURE_TEST(kinds_that_are_not_kept_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
