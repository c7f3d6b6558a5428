/* SPDX-License-Identifier: Apache-2.0
 * Storage objects as interned values: in-tree volumes as of their CSI drivers, zones, classes, claims.
 */
#include "object_fixture.h"

#include "engine/model/volume.h"

static struct bt_pv pv_of(struct fixture *f, const char *metadata, const char *spec)
{
	struct bt_pv pv;

	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text,
		"{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv, %s}, spec: {%s}}", metadata,
		spec);
	bt_pv_compile(&f->cache->dictionary->for_ever, &f->arena,
		&fixture_read(f, f->text.ptr)->persistent_volume, &pv);
	return pv;
}

static struct bt_claim claim_of(struct fixture *f, const char *metadata, const char *spec)
{
	struct bt_claim claim;

	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text,
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: default, name: c, %s}, "
		"spec: {%s}}",
		metadata, spec);
	bt_claim_compile(
		&f->cache->dictionary->for_ever, &f->arena, &fixture_read(f, f->text.ptr)->claim, &claim);
	return claim;
}

static void an_in_tree_disk_has_the_handle_of_its_csi_driver(void **state)
{
	static const struct {
		const char *labels, *spec, *driver, *handle;
	} rows[] = {
		{"", "gcePersistentDisk: {pdName: d}", "pd.csi.storage.gke.io",
			"projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"},
		{"topology.kubernetes.io/zone: eu-west1-b", "gcePersistentDisk: {pdName: d}",
			"pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/eu-west1-b/disks/d"},
		{"topology.kubernetes.io/zone: eu-west1-b__eu-west1-c", "gcePersistentDisk: {pdName: d}",
			"pd.csi.storage.gke.io", "projects/UNSPECIFIED/regions/eu-west1/disks/d"},
		/* The old label takes precedence, unless it is empty. */
		{"topology.kubernetes.io/zone: new, failure-domain.beta.kubernetes.io/zone: old",
			"gcePersistentDisk: {pdName: d}", "pd.csi.storage.gke.io",
			"projects/UNSPECIFIED/zones/old/disks/d"},
		{"topology.kubernetes.io/zone: new, failure-domain.beta.kubernetes.io/zone: ''",
			"gcePersistentDisk: {pdName: d}", "pd.csi.storage.gke.io",
			"projects/UNSPECIFIED/zones/new/disks/d"},
		{"", "awsElasticBlockStore: {volumeID: 'aws://eu-west-1a/vol-0123'}", "ebs.csi.aws.com",
			"vol-0123"},
		{"", "azureDisk: {diskName: n, diskURI: /u, kind: Managed}", "disk.csi.azure.com", "/u"},
		{"", "cinder: {volumeID: v}", "cinder.csi.openstack.org", "v"},
		{"", "portworxVolume: {volumeID: p}", "pxd.portworx.com", "p"},
		{"", "csi: {driver: d.example, volumeHandle: h}", "d.example", "h"},
		{"", "hostPath: {path: /x}", "", ""},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char metadata[256];

		snprintf(metadata, sizeof(metadata), "labels: {%s}", rows[i].labels);
		struct bt_pv pv = pv_of(*state, metadata, rows[i].spec);
		assert_name(*state, pv.disk.driver, rows[i].driver);
		assert_name(*state, pv.disk.handle, rows[i].handle);
		assert_int_equal(pv.disk.error, BT_NAME_NONE);
	}
}

static void a_disk_that_cannot_be_translated_has_a_reason(void **state)
{
	static const struct {
		const char *zone, *spec, *error;
	} rows[] = {
		{"nowhere__eu-west1-b", "gcePersistentDisk: {pdName: d}",
			"failed to get region from zones: zone in unexpected format, expected: "
			"{locale}-{region}-{zone}, got: nowhere"},
		{"us-b-1__eu-a-1__us-b-2", "gcePersistentDisk: {pdName: d}",
			"failed to get region from zones: multiple or no regions gotten from zones, got: "
			"map[eu-a:{} us-b:{}]"},
		{"z", "azureDisk: {diskName: n, diskURI: /u, kind: Dedicated}",
			"kind(Dedicated) is not supported in csi migration"},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char metadata[256];

		snprintf(metadata, sizeof(metadata), "labels: {topology.kubernetes.io/zone: %s}",
			rows[i].zone);
		struct bt_pv pv = pv_of(*state, metadata, rows[i].spec);
		assert_name(*state, pv.disk.error, rows[i].error);
		assert_name(*state, pv.disk.handle, "");
	}
}

static struct bt_labels labels_of(struct fixture *f, const char *key, const char *value)
{
	static struct bt_label item;

	item = (struct bt_label){fixture_name(f, key), fixture_name(f, value)};
	return (struct bt_labels){&item, 1};
}

static void a_translated_volume_reaches_the_nodes_of_its_zone_label(void **state)
{
	struct fixture *f = *state;
	struct bt_intern *intern = f->cache->dictionary->intern;
	struct bt_pv pv = pv_of(f, "labels: {topology.kubernetes.io/zone: 'eu-west1-b__ eu-west1-c'}",
		"gcePersistentDisk: {pdName: d}");

	assert_true(bt_pv_reaches(intern, &pv, true, labels_of(f, "topology.gke.io/zone", "eu-west1-b")));
	assert_true(bt_pv_reaches(intern, &pv, true, labels_of(f, "topology.gke.io/zone", "eu-west1-c")));
	assert_false(bt_pv_reaches(intern, &pv, true, labels_of(f, "topology.gke.io/zone", "eu-west1-d")));
	/* Without its own affinity it is usable anywhere. */
	assert_true(bt_pv_reaches(intern, &pv, false, labels_of(f, "topology.gke.io/zone", "eu-west1-d")));
}

static void a_zone_in_the_affinity_is_read_from_the_drivers_label(void **state)
{
	struct fixture *f = *state;
	struct bt_intern *intern = f->cache->dictionary->intern;
	struct bt_pv pv = pv_of(f, "labels: {}",
		"awsElasticBlockStore: {volumeID: vol-1}, nodeAffinity: {required: {nodeSelectorTerms: "
		"[{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]}]}}");

	assert_true(bt_pv_reaches(intern, &pv, false, labels_of(f, "topology.kubernetes.io/zone", "a")));
	assert_false(bt_pv_reaches(intern, &pv, true, labels_of(f, "topology.kubernetes.io/zone", "a")));
	assert_true(bt_pv_reaches(intern, &pv, true, labels_of(f, "topology.ebs.csi.aws.com/zone", "a")));
}

static void a_zone_label_with_an_empty_part_is_no_zone(void **state)
{
	struct bt_pv pv = pv_of(*state,
		"labels: {topology.kubernetes.io/zone: 'a__b', topology.kubernetes.io/region: 'r__ '}",
		"hostPath: {path: /x}");

	assert_int_equal(pv.zone_n, 1);
	assert_int_equal(pv.zones[0].key, BT_NAME_ZONE);
	assert_int_equal(pv.zones[0].value_n, 2);
	assert_name(*state, pv.zones[0].values[1], "b");
}

static void the_beta_annotation_names_the_class_before_the_spec(void **state)
{
	struct fixture *f = *state;

	assert_name(f, claim_of(f, "labels: {}", "storageClassName: new").class_, "new");
	assert_name(f,
		claim_of(f, "annotations: {volume.beta.kubernetes.io/storage-class: old}",
			"storageClassName: new")
			.class_,
		"old");
	assert_name(f,
		claim_of(f, "annotations: {volume.beta.kubernetes.io/storage-class: ''}",
			"storageClassName: new")
			.class_,
		"");
	assert_name(
		f, pv_of(f, "annotations: {volume.beta.kubernetes.io/storage-class: old}", "").class_, "old");
}

static void a_claim_knows_its_owner_node_and_request(void **state)
{
	struct fixture *f = *state;
	struct bt_claim claim = claim_of(f,
		"uid: u, annotations: {pv.kubernetes.io/bind-completed: 'no', "
		"volume.kubernetes.io/selected-node: n1}, ownerReferences: [{apiVersion: v1, kind: Pod, "
		"name: a, uid: wrong}, {apiVersion: v1, kind: Pod, name: b, uid: right, controller: true}]",
		"accessModes: [ReadWriteOnce, ReadWriteOncePod, Unheard], volumeName: pv, resources: "
		"{requests: {storage: 2Gi}}");

	assert_name(f, claim.owner_uid, "right");
	assert_true(claim.bind_completed); /* the annotation's presence counts, not its value */
	assert_name(f, bt_claim_node(&claim), "n1");
	assert_int_equal(claim.access_modes, BT_READ_WRITE_ONCE | BT_READ_WRITE_ONCE_POD | BT_OTHER_ACCESS);
	assert_true(claim.has_request);
	assert_int_equal(bt_quantity_value(claim.request), 2ll << 30);
	claim.assumed = true;
	claim.assumed_node = fixture_name(f, "n2");
	assert_name(f, bt_claim_node(&claim), "n2");
}

static void a_selector_that_cannot_be_parsed_is_the_claims_error(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(
		claim_of(f, "labels: {}", "selector: {matchLabels: {a: b}}").selector_error, BT_NAME_NONE);
	assert_int_not_equal(
		claim_of(f, "labels: {}", "selector: {matchExpressions: [{key: a, operator: In}]}")
			.selector_error,
		BT_NAME_NONE);
}

static struct bt_storage_class class_with(struct fixture *f, const char *rest)
{
	struct bt_storage_class class_;

	bt_buf_clear(&f->text);
	bt_buf_printf(&f->text,
		"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: c}, provisioner: p, "
		"%s}",
		rest);
	bt_storage_class_compile(&f->cache->dictionary->for_ever, &f->arena,
		&fixture_read(f, f->text.ptr)->storage_class, &class_);
	return class_;
}

static void an_empty_topology_matches_nothing_but_no_list_everything(void **state)
{
	struct bt_storage_class any = class_with(*state, "volumeBindingMode: WaitForFirstConsumer"),
				none = class_with(*state, "allowedTopologies: [{matchLabelExpressions: []}]"),
				two = class_with(*state,
					"allowedTopologies: [{matchLabelExpressions: []}, "
					"{matchLabelExpressions: [{key: z, values: [a, b]}]}]");

	assert_true(any.any_topology && any.waits && any.has_mode);
	assert_true(!none.any_topology && none.topology_n == 0);
	assert_true(!two.any_topology && two.topology_n == 1);
	assert_int_equal(two.topologies[0].items[0].value_n, 2);
}

static void topologies_that_differ_in_where_a_value_stands_have_other_hashes(void **state)
{
	static const char *const lists[] = {
		"[]",
		"[{matchLabelExpressions: [{key: z, values: [a, b]}]}]",
		"[{matchLabelExpressions: [{key: z, values: [b, a]}]}]",
		"[{matchLabelExpressions: [{key: z, values: [a]}, {key: b}]}]",
		"[{matchLabelExpressions: [{key: z, values: [a]}]}, {matchLabelExpressions: [{key: b}]}]",
	};
	uint64_t hashes[COUNT_OF(lists)];

	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		char rest[256];

		snprintf(rest, sizeof(rest), "allowedTopologies: %s", lists[i]);
		hashes[i] = class_with(*state, rest).topology_hash;
		for (size_t k = 0; k < i; k++) {
			assert_true(hashes[i] != hashes[k]);
		}
	}
}

static void a_csi_node_lists_what_its_kubelet_has_migrated(void **state)
{
	struct fixture *f = *state;
	struct bt_csi_node node;

	bt_csi_node_compile(&f->cache->dictionary->for_ever, &f->arena,
		&fixture_read(f,
			"{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1, annotations: "
			"{storage.alpha.kubernetes.io/migrated-plugins: "
			"'kubernetes.io/cinder,what,kubernetes.io/aws-ebs'}}, spec: {drivers: [{name: d, "
			"nodeID: i, allocatable: {count: 3}}, {name: e, nodeID: i}]}}")
			 ->csi_node,
		&node);
	struct bt_pv ebs = pv_of(f, "labels: {}", "awsElasticBlockStore: {volumeID: vol-1}"),
		     gce = pv_of(f, "labels: {}", "gcePersistentDisk: {pdName: d}"),
		     csi = pv_of(f, "labels: {}", "csi: {driver: d, volumeHandle: h}");

	assert_true(bt_pv_is_migrated(&ebs, node.migrated));
	assert_false(bt_pv_is_migrated(&gce, node.migrated));
	assert_false(bt_pv_is_migrated(&csi, node.migrated)); /* no plugin of that name is unmigrated */
	assert_int_equal(node.driver_n, 2);
	assert_true(node.drivers[0].limited && node.drivers[0].count == 3 && !node.drivers[1].limited);
}

static void the_maximum_size_limits_before_the_capacity(void **state)
{
	static const struct {
		const char *rest;
		bool has_limit;
		int64_t limit;
	} rows[] = {{"nodeTopology: {}", false, 0}, {"capacity: 5", true, 5},
		{"capacity: 5, maximumVolumeSize: 3", true, 3}, {"maximumVolumeSize: 3", true, 3}};
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bt_csi_capacity capacity;

		bt_buf_clear(&f->text);
		bt_buf_printf(&f->text,
			"{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {namespace: "
			"default, name: c}, storageClassName: s, %s}",
			rows[i].rest);
		bt_csi_capacity_compile(&f->cache->dictionary->for_ever, &f->arena,
			&fixture_read(f, f->text.ptr)->storage_capacity, &capacity);
		assert_int_equal(capacity.has_limit, rows[i].has_limit);
		assert_int_equal(capacity.limit, rows[i].limit);
	}
}

static void an_ephemeral_volume_uses_the_claim_named_by_pod_and_volume(void **state)
{
	struct fixture *f = *state;
	const struct bt_pod_object *pod = fixture_read_pod(f,
		"containers: [], volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {}}}}, "
		"{name: w, persistentVolumeClaim: {claimName: c, readOnly: true}}, {name: x, azureFile: "
		"{secretName: s, shareName: t}}]");
	struct bt_pod_volume made[3];

	assert_int_equal(pod->spec.volume_n, 3);
	for (uint32_t i = 0; i < 3; i++) {
		bt_pod_volume_compile(&f->cache->dictionary->for_ever, &f->arena, &pod->spec.volumes[i],
			bt_str("web"), &made[i]);
	}
	assert_name(f, made[0].source, "web-v");
	assert_name(f, made[1].source, "c");
	assert_true(made[1].read_only);
	/* It never counts: only hints use its driver. */
	assert_true(bt_volume_noted(made[2].type) && !bt_volume_matters(made[2].type));
	assert_name(f, made[2].disk.driver, "file.csi.azure.com");
	assert_name(f, made[2].disk.handle, "");
}

static void every_in_tree_plugin_is_known_by_its_name_alone(void **state)
{
	(void)state;
	assert_int_equal(bt_in_tree_named(bt_str("kubernetes.io/vsphere-volume")), BT_IN_TREE_VSPHERE);
	assert_str(bt_in_tree_driver(BT_IN_TREE_VSPHERE), "csi.vsphere.vmware.com");
	assert_int_equal(bt_in_tree_named(bt_str("kubernetes.io/nfs")), BT_IN_TREE_NONE);
	assert_int_equal(bt_in_tree_named(bt_str("")), BT_IN_TREE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(an_in_tree_disk_has_the_handle_of_its_csi_driver),
		FIXTURE_TEST(a_disk_that_cannot_be_translated_has_a_reason),
		FIXTURE_TEST(a_translated_volume_reaches_the_nodes_of_its_zone_label),
		FIXTURE_TEST(a_zone_in_the_affinity_is_read_from_the_drivers_label),
		FIXTURE_TEST(a_zone_label_with_an_empty_part_is_no_zone),
		FIXTURE_TEST(the_beta_annotation_names_the_class_before_the_spec),
		FIXTURE_TEST(a_claim_knows_its_owner_node_and_request),
		FIXTURE_TEST(a_selector_that_cannot_be_parsed_is_the_claims_error),
		FIXTURE_TEST(an_empty_topology_matches_nothing_but_no_list_everything),
		FIXTURE_TEST(topologies_that_differ_in_where_a_value_stands_have_other_hashes),
		FIXTURE_TEST(a_csi_node_lists_what_its_kubelet_has_migrated),
		FIXTURE_TEST(the_maximum_size_limits_before_the_capacity),
		FIXTURE_TEST(an_ephemeral_volume_uses_the_claim_named_by_pod_and_volume),
		FIXTURE_TEST(every_in_tree_plugin_is_known_by_its_name_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
